/* fold_keyframe.c: all that a fold knows at one moment, told as items and taken from them. */
#include "base/error.h"
#include "model/fold_inside.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- telling ---- */

struct teller {
    const struct tts_fold *fold;
    tts_fold_item_fn fn;
    void *ctx;
};

static struct tts_item item_of(const struct tts_fold *fold, enum tts_item_kind kind)
{
    struct tts_item item;
    memset(&item, 0, sizeof item);
    item.kind = kind;
    item.seq = fold->seq;
    return item;
}

static struct tts_item_op op_of(const struct tts_fold *fold, uint32_t op)
{
    const char *name = tts_opnames_text(fold->names, op);
    if (!name)
        return (struct tts_item_op){0};
    size_t len = strlen(name);
    return (struct tts_item_op){tts_opnames_hash(name, len), name, len};
}

static size_t unpack(const struct tts_fold *fold, uint32_t set,
                     struct tts_core_range out[TTS_RANGES_MAX])
{
    size_t count;
    const struct tts_box *box = tts_coresets_boxes(fold->sets, set, &count);
    assert(count <= TTS_RANGES_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = (struct tts_core_range){box[i].x0, box[i].y0, box[i].x1, box[i].y1};
    return count;
}

static bool is_set(uint32_t cores)
{
    return cores != TTS_CORESETS_EVERY && cores != TTS_CORESETS_NOWHERE;
}

static bool tell_live(const struct teller *t, uint32_t place)
{
    const struct tts_fold *fold = t->fold;
    struct tts_core_range ranges[TTS_RANGES_MAX];
    struct tts_item item = item_of(fold, TTS_ITEM_LIVE);
    struct tts_entry entry = tts_ledger_read(fold->ledger, place);
    const struct tts_l1_entry *part = tts_ledger_l1(fold->ledger, place);
    item.live = tts_fold_live_at(fold, place);
    item.op = op_of(fold, entry.op);
    item.live.op = item.op.name;
    if (part && is_set(part->cores)) {
        item.event.ranges = ranges;
        item.event.range_count = unpack(fold, part->cores, ranges);
    }
    return t->fn(t->ctx, &item);
}

/* Which buffers are told: those of the classes above `last`, and `rest` of that class. The
 * class of a buffer is the binary logarithm of its size. */
struct choice {
    int last;
    uint64_t rest;
};

static int size_class(const struct tts_fold *fold, uint32_t place)
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
        counts[size_class(fold, place)]++;
    struct choice choice = {.last = 63, .rest = most};
    while (choice.rest >= counts[choice.last])
        choice.rest -= counts[choice.last--];
    assert(choice.last >= 0);
    return choice;
}

/* Counts in *missed the buffers that it does not tell. */
static bool tell_buffers(const struct teller *t, struct choice choice, struct tts_item *missed)
{
    uint32_t cursor = 0, place;
    while ((place = tts_ledger_next(t->fold->ledger, &cursor)) != TTS_LEDGER_NONE) {
        int class = choice.last < 0 ? 0 : size_class(t->fold, place);
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
    struct tts_item item = item_of(t->fold, TTS_ITEM_PART);
    enum tts_event_kind kind = (enum tts_event_kind)((int)TTS_EVENT_CB + (int)part->kind);
    item.event = tts_event_of(kind, device->id);
    item.event.size_bytes = part->bytes;
    item.event.ranges = ranges;
    item.event.range_count = unpack(t->fold, part->set, ranges);
    item.live.seq = part->seq;
    item.op = op_of(t->fold, part->op);
    return t->fn(t->ctx, &item);
}

static bool tell_device(const struct teller *t, const struct tts_fold_device *device)
{
    const struct tts_cores *cores = &device->cores;
    for (uint32_t i = 0; i < cores->program_count; i++)
        if (!tell_part(t, device, &cores->grid->program[i]))
            return false;
    if (device->trace_depth == 0)
        return true;
    struct tts_item item = item_of(t->fold, TTS_ITEM_TRACING);
    item.device = device->id;
    item.count = device->trace_depth;
    return t->fn(t->ctx, &item);
}

static bool tell_mesh(const struct teller *t, const struct tts_fold_device *mesh)
{
    for (uint16_t idx = mesh->first_chip; idx != TTS_FOLD_NO_DEVICE;
         idx = t->fold->devices[idx].next_chip) {
        struct tts_item item = item_of(t->fold, TTS_ITEM_CHIP);
        item.device = t->fold->ids[idx];
        item.mesh = mesh->id;
        if (!t->fn(t->ctx, &item))
            return false;
    }
    return true;
}

/* Something lives, or is on the cores, that no item tells of; or may do so. */
static bool is_incomplete(const struct tts_fold *fold)
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
    struct tts_item item = item_of(fold, TTS_ITEM_KEYFRAME);
    struct tts_item missed = item_of(fold, TTS_ITEM_MISSED);
    item.count = most < count ? most : count;
    bool ok = fn(ctx, &item);
    for (uint16_t i = 0; ok && i < fold->device_count; i++)
        ok = tell_mesh(&t, &fold->devices[i]);
    ok = ok && tell_buffers(&t, choose_largest(fold, most), &missed);
    for (uint16_t i = 0; ok && i < fold->device_count; i++)
        ok = tell_device(&t, &fold->devices[i]);
    /* MISSED is the last: who restores it marks every device. */
    bool is_all = missed.left_buffers == 0 && !is_incomplete(fold);
    ok = ok && (is_all || fn(ctx, &missed));
    item = item_of(fold, TTS_ITEM_KEYFRAME_END);
    return ok && fn(ctx, &item);
}

bool tts_fold_tell(const struct tts_fold *fold, tts_fold_item_fn fn, void *ctx)
{
    return tts_fold_tell_largest(fold, UINT64_MAX, fn, ctx);
}

/* ---- taking ---- */

static enum tts_status no_device(struct tts_error *err)
{
    return tts_error_set(err, TTS_E_RANGE, "more devices than can be followed");
}

static uint32_t name_of(struct tts_fold *fold, const struct tts_item_op *op)
{
    if (op->hash && op->name)
        tts_opnames_add(fold->names, op->hash, op->name, op->name_len);
    return tts_opnames_find(fold->names, op->hash);
}

/* A buffer as the event that allocated it. */
static struct tts_event event_of(const struct tts_item *item)
{
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, item->live.device);
    event.pool = item->live.pool;
    event.id = item->live.id;
    event.size_bytes = item->live.size_bytes;
    event.bytes_per_bank = item->live.bytes_per_bank;
    event.block_bytes = item->live.block_bytes;
    event.ranges = item->event.ranges;
    event.range_count = item->event.range_count;
    return event;
}

static enum tts_status restore_live(struct tts_fold *fold, const struct tts_item *item,
                                    struct tts_change *change, struct tts_error *err)
{
    struct tts_event event = event_of(item);
    enum tts_status status = tts_event_check(&event, err);
    if (status != TTS_OK)
        return status;
    if (event.size_bytes == 0 || item->live.seq > fold->seq)
        return tts_error_set(err, TTS_E_INVALID,
                             "buffer %" PRIu64 " of a keyframe has no bytes or is younger",
                             event.id);
    struct tts_fold_device *device = tts_fold_device(fold, event.device);
    if (!device)
        return no_device(err);
    uint32_t op = name_of(fold, &item->op);
    bool is_new;
    uint32_t place = tts_ledger_enter(fold->ledger,
                                      (struct tts_entry){.id = event.id,
                                                         .size_bytes = event.size_bytes,
                                                         .seq = item->live.seq,
                                                         .op = (uint16_t)op,
                                                         .device = (uint8_t)device->idx,
                                                         .pool = (uint8_t)event.pool},
                                      &is_new);
    if (place == TTS_LEDGER_NONE)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    if (!is_new)
        return tts_error_set(err, TTS_E_INVALID, "a keyframe has buffer %" PRIu64 " twice",
                             event.id);
    if (tts_pool_is_l1(event.pool))
        tts_fold_place(fold, device, &event, tts_ledger_add_l1(fold->ledger, place), op);
    if (change) {
        change->has_come = change->is_restored = true;
        change->came = tts_fold_live_at(fold, place);
    }
    return TTS_OK;
}

static enum tts_status restore_part(struct tts_fold *fold, const struct tts_item *item,
                                    struct tts_error *err)
{
    enum tts_status status = tts_event_check(&item->event, err);
    if (status != TTS_OK)
        return status;
    if (item->event.kind < TTS_EVENT_CB || item->event.kind > TTS_EVENT_SCRATCHPAD ||
        item->live.seq > fold->seq)
        return tts_error_set(err, TTS_E_INVALID, "a part of a keyframe that is none");
    struct tts_fold_device *device = tts_fold_device(fold, item->event.device);
    if (!device)
        return no_device(err);
    tts_fold_restore_part(
        fold, device, &item->event,
        &(struct tts_program_part){.seq = item->live.seq, .op = name_of(fold, &item->op)});
    return TTS_OK;
}

static enum tts_status restore_tracing(struct tts_fold *fold, const struct tts_item *item,
                                       struct tts_error *err)
{
    struct tts_fold_device *device = tts_fold_device(fold, item->device);
    if (!device)
        return no_device(err);
    if (item->count > UINT32_MAX || device->trace_depth > 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "device %" PRIu32 " of a keyframe captures too many traces",
                             item->device);
    device->trace_depth = item->count;
    fold->trace_depth += item->count;
    return TTS_OK;
}

static enum tts_status restore_seq(struct tts_fold *fold, const struct tts_item *item,
                                   struct tts_error *err)
{
    if (item->seq >= TTS_FOLD_SEQ_MAX)
        return tts_error_set(err, TTS_E_RANGE, "event number %" PRIu64 " is none", item->seq);
    fold->seq = item->seq;
    tts_ledger_expect(fold->ledger, item->count);
    return TTS_OK;
}

enum tts_status tts_fold_restore(struct tts_fold *fold, const struct tts_item *item,
                                 struct tts_change *out, struct tts_error *err)
{
    assert(!fold->watches);
    if (out) {
        tts_change_clear(out);
        out->seq = fold->seq;
    }
    switch ((int)item->kind) {
    case TTS_ITEM_KEYFRAME:
        return restore_seq(fold, item, err);
    case TTS_ITEM_CHIP:
        return tts_fold_chip(fold, item->device, item->mesh, err);
    case TTS_ITEM_MISSED:
        tts_fold_miss(fold);
        return TTS_OK;
    case TTS_ITEM_LIVE:
        return restore_live(fold, item, out, err);
    case TTS_ITEM_PART:
        return restore_part(fold, item, err);
    case TTS_ITEM_TRACING:
        return restore_tracing(fold, item, err);
    default:
        return TTS_OK;
    }
}
