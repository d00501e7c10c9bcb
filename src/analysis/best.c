#include "analysis/best.h"

#include "base/heap.h"

#include <assert.h>
#include <string.h>

void tts_best_init(struct tts_best *best, size_t limit, size_t item_bytes, tts_best_fn before,
                   const void *ctx, const struct tts_alloc *alloc)
{
    assert(item_bytes > 0 && item_bytes <= TTS_BEST_ITEM_MAX);
    *best = (struct tts_best){.limit = limit,
                              .item_bytes = item_bytes,
                              .before = before,
                              .ctx = ctx,
                              .alloc = alloc ? alloc : tts_alloc_libc()};
}

void tts_best_release(struct tts_best *best)
{
    if (best->items)
        best->alloc->free(best->alloc->ctx, best->items, best->capacity * best->item_bytes);
    *best = (struct tts_best){0};
}

static char *best_at(const struct tts_best *best, size_t idx)
{
    return (char *)best->items + idx * best->item_bytes;
}

static void put_best(struct tts_best *best, size_t idx, const void *item)
{
    memcpy(best_at(best, idx), item, best->item_bytes);
}

/* The items are a heap whose root is the last item in the order. Moves `item` down from the
 * free place `idx` to its place in the heap. */
static void sink_best(struct tts_best *best, size_t count, size_t idx, const void *item)
{
    for (size_t child = 2 * idx + 1; child < count; child = 2 * idx + 1) {
        if (child + 1 < count &&
            best->before(best->ctx, best_at(best, child), best_at(best, child + 1)))
            child++;
        if (best->before(best->ctx, best_at(best, child), item))
            break;
        put_best(best, idx, best_at(best, child));
        idx = child;
    }
    put_best(best, idx, item);
}

static void raise_best(struct tts_best *best, size_t idx, const void *item)
{
    while (idx > 0 && best->before(best->ctx, best_at(best, (idx - 1) / 2), item)) {
        put_best(best, idx, best_at(best, (idx - 1) / 2));
        idx = (idx - 1) / 2;
    }
    put_best(best, idx, item);
}

enum tts_status tts_best_add(struct tts_best *best, const void *item)
{
    if (best->limit > 0 && best->count == best->limit) {
        if (best->before(best->ctx, item, best_at(best, 0)))
            sink_best(best, best->count, 0, item);
        return TTS_OK;
    }
    void *grown = tts_alloc_grow(best->alloc, best->items, &best->capacity, best->count + 1,
                                 best->item_bytes);
    if (!grown)
        return TTS_E_NOMEM;
    best->items = grown;
    raise_best(best, best->count++, item);
    return TTS_OK;
}

void tts_best_sort(struct tts_best *best)
{
    char last[TTS_BEST_ITEM_MAX];
    for (size_t count = best->count; count > 1; count--) {
        memcpy(last, best_at(best, count - 1), best->item_bytes);
        put_best(best, count - 1, best_at(best, 0));
        sink_best(best, count - 1, 0, last);
    }
}
