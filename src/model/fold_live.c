#include "model/fold_inside.h"

#include <assert.h>

/* A heap with the youngest at the top: what is kept is the oldest of all. */
static void sink(struct tts_live *heap, size_t count, size_t at)
{
    struct tts_live live = heap[at];
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1].seq > heap[child].seq)
            child++;
        if (heap[child].seq <= live.seq)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = live;
}

static void heapify(struct tts_live *heap, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sink(heap, count, i);
}

void tts_fold_sort(struct tts_live *heap, size_t count)
{
    heapify(heap, count);
    for (; count > 1; count--) {
        struct tts_live youngest = heap[0];
        heap[0] = heap[count - 1];
        heap[count - 1] = youngest;
        sink(heap, count - 1, 0);
    }
}

uint64_t tts_live_bytes(const struct tts_live *live)
{
    return tts_pool_is_l1(live->pool) ? live->bytes_per_bank : live->size_bytes;
}

struct tts_live tts_fold_live_at(const struct tts_fold *fold, uint32_t place)
{
    struct tts_entry entry = tts_ledger_read(fold->ledger, place);
    const struct tts_l1_entry *part = tts_ledger_l1(fold->ledger, place);
    assert(entry.device < fold->device_count);
    return (struct tts_live){.id = entry.id,
                             .size_bytes = entry.size_bytes,
                             .bytes_per_bank = part ? part->bytes_per_bank : 0,
                             .block_bytes = part ? part->block_bytes : 0,
                             .seq = entry.seq,
                             .device = fold->ids[entry.device],
                             .pool = (enum tts_pool)entry.pool,
                             .op = tts_opnames_text(fold->names, entry.op)};
}

size_t tts_fold_collect(const struct tts_fold *fold, struct tts_live *out, size_t capacity)
{
    size_t total = tts_ledger_count(fold->ledger), count = 0;
    size_t wanted = total < capacity ? total : capacity;
    if (wanted == 0)
        return total;
    uint32_t cursor = 0, place;
    while ((place = tts_ledger_next(fold->ledger, &cursor)) != TTS_LEDGER_NONE) {
        if (count < wanted) {
            out[count++] = tts_fold_live_at(fold, place);
            if (count == wanted && wanted < total)
                heapify(out, count);
        } else if (tts_ledger_read(fold->ledger, place).seq < out[0].seq) {
            out[0] = tts_fold_live_at(fold, place);
            sink(out, count, 0);
        }
    }
    assert(count == wanted);
    return total;
}
