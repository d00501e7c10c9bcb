/* fold_now.c: what there is now: live buffers, pools, cores. */
#include "model/fold_inside.h"

#include <assert.h>
#include <string.h>

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

bool tts_fold_next_live(const struct tts_fold *fold, uint32_t *cursor, struct tts_live *out)
{
    uint32_t place = tts_ledger_next(fold->ledger, cursor);
    if (place == TTS_LEDGER_NONE)
        return false;
    *out = tts_fold_live_at(fold, place);
    return true;
}

/* ---- pools ---- */

/* By index of devices: what each has of its own. */
struct pool_sums {
    struct tts_pool_now of[TTS_FOLD_DEVICES_MAX][TTS_POOLS];
};

static void add_now(struct tts_pool_now *now, const struct tts_pool_now *other)
{
    now->buffers += other->buffers;
    now->bytes += other->bytes;
}

static void sum_pools(const struct tts_fold *fold, struct pool_sums *out)
{
    uint32_t cursor = 0, place;
    for (uint16_t idx = 0; idx < fold->device_count; idx++)
        memset(out->of[idx], 0, sizeof out->of[idx]);
    while ((place = tts_ledger_next(fold->ledger, &cursor)) != TTS_LEDGER_NONE) {
        struct tts_live live = tts_fold_live_at(fold, place);
        struct tts_pool_now one = {1, tts_live_bytes(&live)};
        add_now(&out->of[tts_ledger_read(fold->ledger, place).device][live.pool], &one);
    }
}

/* A device has what its mesh has, too. */
static struct tts_pool_now pool_of(const struct tts_fold *fold, const struct pool_sums *sums,
                                   uint16_t idx, int pool)
{
    struct tts_pool_now now = sums->of[idx][pool];
    uint16_t mesh = fold->devices[idx].mesh;
    if (mesh != TTS_FOLD_NO_DEVICE)
        add_now(&now, &sums->of[mesh][pool]);
    return now;
}

void tts_fold_pools_of(const struct tts_fold *fold, uint32_t device,
                       struct tts_pool_now out[TTS_POOLS])
{
    struct pool_sums sums;
    const struct tts_fold_device *known = tts_fold_find(fold, device);
    sum_pools(fold, &sums);
    for (int pool = 0; pool < TTS_POOLS; pool++)
        out[pool] = known ? pool_of(fold, &sums, known->idx, pool) : (struct tts_pool_now){0};
}

void tts_fold_pools(const struct tts_fold *fold, struct tts_pool_now out[TTS_POOLS])
{
    struct pool_sums sums;
    memset(out, 0, TTS_POOLS * sizeof *out);
    sum_pools(fold, &sums);
    for (uint16_t idx = 0; idx < fold->device_count; idx++)
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            struct tts_pool_now now = pool_of(fold, &sums, idx, pool);
            if (!tts_pool_is_l1((enum tts_pool)pool))
                add_now(&out[pool], &sums.of[idx][pool]);
            else if (now.bytes > out[pool].bytes)
                out[pool] = now;
        }
}

/* ---- cores ---- */

static void fill_parts(const struct tts_fold *fold, const struct tts_corepeak *peak,
                       struct tts_core_peak *out, struct tts_core_part *parts)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < peak->count; i++) {
        const struct tts_held_part *part = &peak->part[i];
        parts[i] = (struct tts_core_part){(enum tts_event_kind)part->kind,
                                          (enum tts_pool)part->pool, part->id, part->bytes,
                                          tts_opnames_text(fold->names, part->op)};
        bytes += part->bytes;
    }
    assert(peak->count <= peak->sum.parts && bytes <= peak->sum.bytes);
    out->parts = parts;
    out->part_count = peak->count;
    out->unlisted = peak->sum.parts - peak->count;
    out->unlisted_bytes = peak->sum.bytes - bytes;
}

void tts_fold_fill_core(const struct tts_fold *fold, uint16_t idx,
                        const struct tts_corepeak *peak, struct tts_core_peak *out,
                        struct tts_core_part *parts)
{
    const struct tts_core_sum *sum = &peak->sum;
    *out = (struct tts_core_peak){.known = sum->bytes > 0,
                                  .at_least = fold->devices[idx].cores.is_lost,
                                  .device = fold->ids[idx],
                                  .core = tts_core_at(sum->core),
                                  .bytes = sum->bytes,
                                  .cb_bytes = sum->by[TTS_CORE_CB],
                                  .dfb_bytes = sum->by[TTS_CORE_DFB],
                                  .scratchpad_bytes = sum->by[TTS_CORE_SCRATCHPAD],
                                  .l1_bytes = sum->by[TTS_CORE_L1],
                                  .l1_small_bytes = sum->by[TTS_CORE_L1_SMALL],
                                  .seq = peak->seq,
                                  .op = tts_opnames_text(fold->names, peak->op)};
    assert(out->cb_bytes + out->dfb_bytes + out->scratchpad_bytes + out->l1_bytes +
               out->l1_small_bytes ==
           out->bytes);
    fill_parts(fold, peak, out, parts);
}

static void keep_part(const struct tts_fold *fold, struct tts_corepeak *peak, uint32_t set,
                      const struct tts_held_part *part)
{
    if (tts_corepeak_had(peak, part->seq) && tts_coresets_have(fold->sets, set, peak->sum.core))
        tts_corepeak_keep(peak, part);
}

void tts_fold_keep_program(const struct tts_fold *fold, uint16_t idx, struct tts_corepeak *peak)
{
    const struct tts_cores *cores = &fold->devices[idx].cores;
    for (uint32_t i = 0; i < cores->program_count; i++) {
        struct tts_held_part part = tts_program_part_of(&cores->grid->program[i]);
        keep_part(fold, peak, cores->grid->program[i].set, &part);
    }
}

void tts_fold_keep_buffer(const struct tts_fold *fold, const struct tts_l1_entry *entry,
                          struct tts_corepeak *peak)
{
    struct tts_held_part part = {entry->block_bytes, entry->seq,      entry->id,
                                 entry->op,          TTS_EVENT_ALLOC, entry->pool};
    keep_part(fold, peak, entry->cores, &part);
}

/* A peak that is reached now: what the core has. */
static void fill_now(const struct tts_fold *fold, uint16_t idx, uint16_t core,
                     struct tts_core_peak *out, struct tts_core_part *parts)
{
    const struct tts_fold_device *device = &fold->devices[idx];
    struct tts_held_part held[TTS_CORE_PARTS_MAX];
    struct tts_corepeak peak = {.seq = fold->seq, .op = TTS_OPNAMES_NONE, .part = held};
    uint32_t cursor = tts_ledger_l1_head(fold->ledger);
    tts_cores_sum_at(&device->cores, core, &peak.sum);
    tts_fold_keep_program(fold, idx, &peak);
    for (const struct tts_l1_entry *entry;
         (entry = tts_ledger_l1_next(fold->ledger, &cursor));) {
        if (entry->device == idx || entry->device == device->mesh)
            tts_fold_keep_buffer(fold, entry, &peak);
    }
    tts_corepeak_sort(&peak);
    tts_fold_fill_core(fold, idx, &peak, out, parts);
}

void tts_fold_core(const struct tts_fold *fold, uint32_t device, struct tts_core core,
                   struct tts_core_peak *out, struct tts_core_part parts[TTS_CORE_PARTS_MAX])
{
    const struct tts_fold_device *known = tts_fold_find(fold, device);
    *out = (struct tts_core_peak){
        .device = device, .core = core, .seq = fold->seq, .parts = parts};
    if (known && core.x < TTS_GRID_SIDE_MAX && core.y < TTS_GRID_SIDE_MAX)
        fill_now(fold, known->idx, (uint16_t)(core.y * TTS_GRID_SIDE_MAX + core.x), out, parts);
}

void tts_fold_fullest_core(const struct tts_fold *fold, struct tts_core_peak *out,
                           struct tts_core_part parts[TTS_CORE_PARTS_MAX])
{
    const struct tts_fold_device *best = NULL;
    for (uint16_t idx = 0; idx < fold->device_count; idx++) {
        const struct tts_fold_device *device = &fold->devices[idx];
        if (tts_cores_bytes(&device->cores) > (best ? tts_cores_bytes(&best->cores) : 0))
            best = device;
    }
    *out = (struct tts_core_peak){.seq = fold->seq, .parts = parts};
    if (best)
        fill_now(fold, best->idx, best->cores.top_core, out, parts);
    out->at_least = fold->is_lost;
}
