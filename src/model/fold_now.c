/* fold_now.c: queries on the current state of a fold: live buffers, pools, cores; and the state
 * as the items of a keyframe. */

#include "model/fold_inside.h"

#include <assert.h>
#include <string.h>

/* Moves an entry of a heap down to its place. The youngest buffer is at the top and is replaced
 * first, so the heap keeps the oldest buffers. */
static void sink_live(struct tts_live *heap, size_t count, size_t at)
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

static void heapify_live(struct tts_live *heap, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sink_live(heap, count, i);
}

void tts_fold_sort(struct tts_live *heap, size_t count)
{
    heapify_live(heap, count);
    for (; count > 1; count--) {
        struct tts_live youngest = heap[0];
        heap[0] = heap[count - 1];
        heap[count - 1] = youngest;
        sink_live(heap, count - 1, 0);
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
                heapify_live(out, count);
        } else if (tts_ledger_read(fold->ledger, place).seq < out[0].seq) {
            out[0] = tts_fold_live_at(fold, place);
            sink_live(out, count, 0);
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

/* The pools of each device, by the index of the device. Buffers of a mesh are counted for the
 * mesh only. */
struct pool_sums {
    struct tts_pool_now of[TTS_FOLD_DEVICES_MAX][TTS_POOLS];
};

static void add_pool_now(struct tts_pool_now *now, const struct tts_pool_now *other)
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
        add_pool_now(&out->of[tts_ledger_read(fold->ledger, place).device][live.pool], &one);
    }
}

/* Returns a pool of a device, including the buffers of its mesh. */
static struct tts_pool_now device_pool(const struct tts_fold *fold,
                                       const struct pool_sums *sums, uint16_t idx, int pool)
{
    struct tts_pool_now now = sums->of[idx][pool];
    uint16_t mesh = fold->devices[idx].mesh;
    if (mesh != TTS_FOLD_NO_DEVICE)
        add_pool_now(&now, &sums->of[mesh][pool]);
    return now;
}

void tts_fold_pools_of(const struct tts_fold *fold, uint32_t device,
                       struct tts_pool_now out[TTS_POOLS])
{
    struct pool_sums sums;
    const struct tts_fold_device *known = tts_fold_find(fold, device);
    sum_pools(fold, &sums);
    for (int pool = 0; pool < TTS_POOLS; pool++)
        out[pool] =
            known ? device_pool(fold, &sums, known->idx, pool) : (struct tts_pool_now){0};
}

void tts_fold_pools(const struct tts_fold *fold, struct tts_pool_now out[TTS_POOLS])
{
    struct pool_sums sums;
    memset(out, 0, TTS_POOLS * sizeof *out);
    sum_pools(fold, &sums);
    for (uint16_t idx = 0; idx < fold->device_count; idx++)
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            struct tts_pool_now now = device_pool(fold, &sums, idx, pool);
            if (!tts_pool_is_l1((enum tts_pool)pool))
                add_pool_now(&out[pool], &sums.of[idx][pool]);
            else if (now.bytes > out[pool].bytes)
                out[pool] = now;
        }
}

/* ---- cores ---- */

static void fill_core_parts(const struct tts_fold *fold, const struct tts_corepeak *peak,
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
    fill_core_parts(fold, peak, out, parts);
}

static void keep_core_part(const struct tts_fold *fold, struct tts_corepeak *peak, uint32_t set,
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
        keep_core_part(fold, peak, cores->grid->program[i].set, &part);
    }
}

void tts_fold_keep_buffer(const struct tts_fold *fold, const struct tts_l1_entry *entry,
                          struct tts_corepeak *peak)
{
    struct tts_held_part part = {entry->block_bytes, entry->seq,      entry->id,
                                 entry->op,          TTS_EVENT_ALLOC, entry->pool};
    keep_core_part(fold, peak, entry->cores, &part);
}

/* Fills the current use of a core, as a peak that is reached now. */
static void fill_core_now(const struct tts_fold *fold, uint16_t idx, uint16_t core,
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
        fill_core_now(fold, known->idx, (uint16_t)(core.y * TTS_GRID_SIDE_MAX + core.x), out,
                      parts);
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
        fill_core_now(fold, best->idx, best->cores.top_core, out, parts);
    out->at_least = fold->is_lost;
}

/* ---- the state as items of a keyframe ---- */

struct teller {
    const struct tts_fold *fold;
    tts_fold_item_fn fn;
    void *ctx;
};

static struct tts_item new_item(const struct tts_fold *fold, enum tts_item_kind kind)
{
    struct tts_item item;
    memset(&item, 0, sizeof item);
    item.kind = kind;
    item.seq = fold->seq;
    return item;
}

static struct tts_item_op item_op_of(const struct tts_fold *fold, uint32_t op)
{
    const char *name = tts_opnames_text(fold->names, op);
    if (!name)
        return (struct tts_item_op){0};
    size_t len = strlen(name);
    return (struct tts_item_op){tts_opnames_hash(name, len), name, len};
}

static size_t unpack_ranges(const struct tts_fold *fold, uint32_t set,
                            struct tts_core_range out[TTS_RANGES_MAX])
{
    size_t count;
    const struct tts_box *box = tts_coresets_boxes(fold->sets, set, &count);
    assert(count <= TTS_RANGES_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = (struct tts_core_range){box[i].x0, box[i].y0, box[i].x1, box[i].y1};
    return count;
}

static bool is_core_set(uint32_t cores)
{
    return cores != TTS_CORESETS_EVERY && cores != TTS_CORESETS_NOWHERE;
}

static bool tell_live(const struct teller *t, uint32_t place)
{
    const struct tts_fold *fold = t->fold;
    struct tts_core_range ranges[TTS_RANGES_MAX];
    struct tts_item item = new_item(fold, TTS_ITEM_LIVE);
    struct tts_entry entry = tts_ledger_read(fold->ledger, place);
    const struct tts_l1_entry *part = tts_ledger_l1(fold->ledger, place);
    item.live = tts_fold_live_at(fold, place);
    item.op = item_op_of(fold, entry.op);
    item.live.op = item.op.name;
    if (part && is_core_set(part->cores)) {
        item.event.ranges = ranges;
        item.event.range_count = unpack_ranges(fold, part->cores, ranges);
    }
    return t->fn(t->ctx, &item);
}

/* The chosen buffers: all buffers of the classes above `last`, and `rest` buffers of the class
 * `last`. The class of a buffer is the binary logarithm of its size. */
struct choice {
    int last;
    uint64_t rest;
};

static int buffer_size_class(const struct tts_fold *fold, uint32_t place)
{
    return 63 - __builtin_clzll(tts_ledger_size(fold->ledger, place) | 1);
}

static struct choice choose_largest(const struct tts_fold *fold, uint64_t most)
{
    uint64_t counts[64] = {0};
    uint32_t cursor = 0, place;
    if (most >= tts_ledger_count(fold->ledger))
        return (struct choice){.last = -1};
    while ((place = tts_ledger_next(fold->ledger, &cursor)) != TTS_LEDGER_NONE)
        counts[buffer_size_class(fold, place)]++;
    struct choice choice = {.last = 63, .rest = most};
    while (choice.rest >= counts[choice.last])
        choice.rest -= counts[choice.last--];
    assert(choice.last >= 0);
    return choice;
}

/* Passes on the chosen buffers and counts the others in *missed. */
static bool tell_buffers(const struct teller *t, struct choice choice, struct tts_item *missed)
{
    uint32_t cursor = 0, place;
    while ((place = tts_ledger_next(t->fold->ledger, &cursor)) != TTS_LEDGER_NONE) {
        int class = choice.last < 0 ? 0 : buffer_size_class(t->fold, place);
        if (class < choice.last || (class == choice.last && choice.rest == 0)) {
            missed->left_buffers++;
            missed->left_bytes += tts_ledger_size(t->fold->ledger, place);
            continue;
        }
        choice.rest -= class == choice.last;
        if (!tell_live(t, place))
            return false;
    }
    return true;
}

static bool tell_part(const struct teller *t, const struct tts_fold_device *device,
                      const struct tts_program_part *part)
{
    struct tts_core_range ranges[TTS_RANGES_MAX];
    struct tts_item item = new_item(t->fold, TTS_ITEM_PART);
    enum tts_event_kind kind = (enum tts_event_kind)((int)TTS_EVENT_CB + (int)part->kind);
    item.event = tts_event_of(kind, device->id);
    item.event.size_bytes = part->bytes;
    item.event.ranges = ranges;
    item.event.range_count = unpack_ranges(t->fold, part->set, ranges);
    item.live.seq = part->seq;
    item.op = item_op_of(t->fold, part->op);
    return t->fn(t->ctx, &item);
}

static bool tell_device_items(const struct teller *t, const struct tts_fold_device *device)
{
    const struct tts_cores *cores = &device->cores;
    for (uint32_t i = 0; i < cores->program_count; i++)
        if (!tell_part(t, device, &cores->grid->program[i]))
            return false;
    if (device->trace_depth == 0)
        return true;
    struct tts_item item = new_item(t->fold, TTS_ITEM_TRACING);
    item.device = device->id;
    item.count = device->trace_depth;
    return t->fn(t->ctx, &item);
}

static bool tell_mesh(const struct teller *t, const struct tts_fold_device *mesh)
{
    for (uint16_t idx = mesh->first_chip; idx != TTS_FOLD_NO_DEVICE;
         idx = t->fold->devices[idx].next_chip) {
        struct tts_item item = new_item(t->fold, TTS_ITEM_CHIP);
        item.device = t->fold->ids[idx];
        item.mesh = mesh->id;
        if (!t->fn(t->ctx, &item))
            return false;
    }
    return true;
}

/* Returns whether buffers or parts on cores may exist that no item describes. */
static bool is_fold_incomplete(const struct tts_fold *fold)
{
    bool is_lost = fold->is_lost || fold->health.unlisted > 0;
    for (uint16_t i = 0; i < fold->device_count; i++)
        is_lost |= fold->devices[i].cores.has_unlisted;
    return is_lost;
}

bool tts_fold_tell_largest(const struct tts_fold *fold, uint64_t most, tts_fold_item_fn fn,
                           void *ctx)
{
    struct teller t = {fold, fn, ctx};
    uint64_t count = tts_ledger_count(fold->ledger);
    struct tts_item item = new_item(fold, TTS_ITEM_KEYFRAME);
    struct tts_item missed = new_item(fold, TTS_ITEM_MISSED);
    item.count = most < count ? most : count;
    bool ok = fn(ctx, &item);
    for (uint16_t i = 0; ok && i < fold->device_count; i++)
        ok = tell_mesh(&t, &fold->devices[i]);
    ok = ok && tell_buffers(&t, choose_largest(fold, most), &missed);
    for (uint16_t i = 0; ok && i < fold->device_count; i++)
        ok = tell_device_items(&t, &fold->devices[i]);
    /* MISSED comes last, because tts_fold_restore() marks all devices that are known then as
     * incomplete. */
    bool is_all = missed.left_buffers == 0 && !is_fold_incomplete(fold);
    ok = ok && (is_all || fn(ctx, &missed));
    item = new_item(fold, TTS_ITEM_KEYFRAME_END);
    return ok && fn(ctx, &item);
}

bool tts_fold_tell(const struct tts_fold *fold, tts_fold_item_fn fn, void *ctx)
{
    return tts_fold_tell_largest(fold, UINT64_MAX, fn, ctx);
}
