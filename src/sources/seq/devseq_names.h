/* devseq_names.h: the buffers of a device sequence by name, and by where they lie.
 * Start from {.alloc = ...}.
 * Caller's memory; one thread. For devseq_run.c only. */
#pragma once

#include "base/hashtable.h"
#include "sources/seq/devseq.h"
#include "ttscope/alloc.h"
#include "ttscope/device.h"

enum { TTS_DEVSEQ_NAMES_MAX = 1 << 24 };
enum { TTS_DEVSEQ_BY_NAME, TTS_DEVSEQ_BY_PLACE, TTS_DEVSEQ_TABLES };

struct tts_devseq_held {
    struct tts_devseq_name name;
    bool live; /* false: it failed, and the name may be used again */
    bool has_address;
    struct tts_buffer buffer;
    uint64_t page_bytes;
    struct tts_devseq_line *sharding; /* NULL: interleaved; owned */
};

struct tts_devseq_names {
    const struct tts_alloc *alloc;
    uint64_t seed; /* of the hash: that no file can choose names that all collide */
    struct tts_devseq_held *held; /* [capacity], the first `count` are in use */
    size_t count, capacity;
    struct tts_hashtable tables[TTS_DEVSEQ_TABLES];
};

void tts_devseq_names_release(struct tts_devseq_names *names);

/* Borrowed until the next add or remove. NULL: there is none of that name. */
struct tts_devseq_held *tts_devseq_names_find(struct tts_devseq_names *names,
                                              const struct tts_devseq_name *name);

/* The one whose block begins there. */
struct tts_devseq_held *tts_devseq_names_at(struct tts_devseq_names *names, enum tts_pool pool,
                                            uint64_t address);

/* A zeroed entry, but for its name, which is not there yet. NULL: no memory, or too many. */
struct tts_devseq_held *tts_devseq_names_add(struct tts_devseq_names *names,
                                             const struct tts_devseq_name *name);
/* The entry, not live so far, has this buffer now; no other has its block. */
void tts_devseq_names_bind(struct tts_devseq_names *names, struct tts_devseq_held *held,
                           const struct tts_buffer *buffer);
void tts_devseq_names_remove(struct tts_devseq_names *names, struct tts_devseq_held *held);
