/* best.h: the first `limit` of many items, by an order that the caller defines. Only these
 * items are in memory. The caller owns the struct and starts with tts_best_init(). One thread
 * at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { TTS_BEST_ITEM_MAX = 96 };

/* Returns true if `a` comes before `b`. If two items are equal, it is undefined which of them
 * comes first or is kept. */
typedef bool (*tts_best_fn)(const void *ctx, const void *a, const void *b);

struct tts_best {
    void *items; /* the kept items; sorted after tts_best_sort() */
    size_t count, capacity;
    size_t limit; /* number of items to keep; 0 to keep all */
    size_t item_bytes;
    tts_best_fn before;
    const void *ctx;
    const struct tts_alloc *alloc;
};

/* Initializes an empty list. `item_bytes` is at most TTS_BEST_ITEM_MAX. `ctx` is passed to
 * `before`. */
void tts_best_init(struct tts_best *best, size_t limit, size_t item_bytes, tts_best_fn before,
                   const void *ctx, const struct tts_alloc *alloc);
void tts_best_release(struct tts_best *best); /* a struct of zeros is allowed */

/* Copies the item into the list if the item is among the first `limit` items so far. Returns
 * TTS_E_NOMEM if there is no memory; the list is unchanged then. */
TTS_NODISCARD enum tts_status tts_best_add(struct tts_best *best, const void *item);
/* Sorts the items in their order. Do not add items after this call. */
void tts_best_sort(struct tts_best *best);
