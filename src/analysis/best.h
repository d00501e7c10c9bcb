/* best.h: the first few of many by some order, in memory for those few.
 * Caller's memory; begin with tts_best_init. One thread. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { TTS_BEST_ITEM_MAX = 96 };

/* a comes before b. Which of two equals comes first, or is kept, is open. */
typedef bool (*tts_best_fn)(const void *ctx, const void *a, const void *b);

struct tts_best {
    void *items; /* sorted behind tts_best_sort() */
    size_t count, capacity;
    size_t limit; /* 0: all are kept */
    size_t item_bytes;
    tts_best_fn before;
    const void *ctx;
    const struct tts_alloc *alloc;
};

/* `item_bytes` is at most TTS_BEST_ITEM_MAX. `ctx` is for `before`. */
void tts_best_init(struct tts_best *best, size_t limit, size_t item_bytes, tts_best_fn before,
                   const void *ctx, const struct tts_alloc *alloc);
void tts_best_release(struct tts_best *best); /* harmless on a zeroed one */

/* TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_best_add(struct tts_best *best, const void *item);
/* The best first. Nothing is added after. */
void tts_best_sort(struct tts_best *best);
