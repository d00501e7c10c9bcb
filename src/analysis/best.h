/* best.h: the first few of many items by some order. Uses memory for those few only. The caller
 * owns the struct; start with tts_best_init(). One thread. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { TTS_BEST_ITEM_MAX = 96 };

/* Returns true if `a` comes before `b`. For equal items, it is undefined which one comes first
 * or is kept. */
typedef bool (*tts_best_fn)(const void *ctx, const void *a, const void *b);

struct tts_best {
    void *items; /* sorted after tts_best_sort() */
    size_t count, capacity;
    size_t limit; /* 0: keep all items */
    size_t item_bytes;
    tts_best_fn before;
    const void *ctx;
    const struct tts_alloc *alloc;
};

/* `item_bytes` is at most TTS_BEST_ITEM_MAX. `ctx` is passed to `before`. */
void tts_best_init(struct tts_best *best, size_t limit, size_t item_bytes, tts_best_fn before,
                   const void *ctx, const struct tts_alloc *alloc);
void tts_best_release(struct tts_best *best); /* a zeroed struct is fine */

/* Copies the item if it is among the best. TTS_E_NOMEM: the list is unchanged. */
TTS_NODISCARD enum tts_status tts_best_add(struct tts_best *best, const void *item);
/* Sorts the items, best first. No item may be added afterwards. */
void tts_best_sort(struct tts_best *best);
