/* devseq_names.h: the buffers of a device sequence, by name and by address. Start from {.alloc
 * = ...}. Caller's memory. One thread. Only for devseq_run.c. */
#pragma once

#include "base/hashtable.h"
#include "sources/seq/devseq.h"
#include "ttscope/alloc.h"
#include "ttscope/device.h"

enum { TTS_DEVSEQ_NAMES_MAX = 1 << 24 };
enum { TTS_DEVSEQ_BY_NAME, TTS_DEVSEQ_BY_PLACE, TTS_DEVSEQ_TABLES };

struct tts_devseq_names {
    const struct tts_alloc *alloc;
    uint64_t seed; /* of the hash, so that no file can choose names that all collide */
    struct tts_devseq_held *held; /* [capacity], the first `count` are in use */
    size_t count, capacity;
    struct tts_hashtable tables[TTS_DEVSEQ_TABLES];
};

void tts_devseq_names_release(struct tts_devseq_names *names);

/* Returns the buffer with this name, or NULL. Borrowed until the next add or remove. */
struct tts_devseq_held *tts_devseq_names_find(struct tts_devseq_names *names,
                                              const struct tts_devseq_name *name);

/* Returns the buffer whose block begins at the address, or NULL. */
struct tts_devseq_held *tts_devseq_names_at(struct tts_devseq_names *names, enum tts_pool pool,
                                            uint64_t address);

/* Adds an entry for a new name. All other fields are zero. Returns NULL if there is no memory
 * or if there are TTS_DEVSEQ_NAMES_MAX entries. */
struct tts_devseq_held *tts_devseq_names_add(struct tts_devseq_names *names,
                                             const struct tts_devseq_name *name);
/* Gives a buffer to an entry that is not live. No other entry has the block of the buffer. */
void tts_devseq_names_bind(struct tts_devseq_names *names, struct tts_devseq_held *held,
                           const struct tts_buffer *buffer);
void tts_devseq_names_remove(struct tts_devseq_names *names, struct tts_devseq_held *held);
