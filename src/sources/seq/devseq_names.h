/* devseq_names.h: the named buffers of a device sequence, found by name or by address. The
 * caller owns the struct and initializes it with zeros and `alloc`. One thread at a time. Only
 * devseq_run.c uses this header. */
#pragma once

#include "base/hashtable.h"
#include "sources/seq/devseq.h"
#include "ttscope/alloc.h"
#include "ttscope/device.h"

enum { TTS_DEVSEQ_NAMES_MAX = 1 << 24 };
enum { TTS_DEVSEQ_BY_NAME, TTS_DEVSEQ_BY_PLACE, TTS_DEVSEQ_TABLES };

struct tts_devseq_names {
    const struct tts_alloc *alloc;
    /* Random seed of the hash, so that no file can choose names that all collide. */
    uint64_t seed;
    /* Array of `capacity` entries; the first `count` are in use. */
    struct tts_devseq_held *held;
    size_t count, capacity;
    struct tts_hashtable tables[TTS_DEVSEQ_TABLES];
};

void tts_devseq_names_release(struct tts_devseq_names *names);

/* Returns the entry with this name, or NULL. The pointer is valid until the next add or
 * remove. */
struct tts_devseq_held *tts_devseq_names_find(struct tts_devseq_names *names,
                                              const struct tts_devseq_name *name);

/* Returns the entry whose buffer begins at the address, or NULL. Valid like the result of
 * tts_devseq_names_find(). */
struct tts_devseq_held *tts_devseq_names_at(struct tts_devseq_names *names, enum tts_pool pool,
                                            uint64_t address);

/* Adds an entry for a new name and returns it. All its other fields are zero. Returns NULL if
 * there is no memory or if there are TTS_DEVSEQ_NAMES_MAX entries. Valid like the result of
 * tts_devseq_names_find(). */
struct tts_devseq_held *tts_devseq_names_add(struct tts_devseq_names *names,
                                             const struct tts_devseq_name *name);
/* Stores a buffer in an entry that is not live and marks the entry live. No other entry may
 * have a buffer at the same address. */
void tts_devseq_names_bind(struct tts_devseq_names *names, struct tts_devseq_held *held,
                           const struct tts_buffer *buffer);
void tts_devseq_names_remove(struct tts_devseq_names *names, struct tts_devseq_held *held);
