#include "views/trace/itemcheck.h"

#include "base/error.h"
#include "model/fold.h"

#include <inttypes.h>

static enum tts_status check_item_event(const struct tts_itemcheck *check,
                                        const struct tts_item *item, struct tts_error *err)
{
    enum tts_status status = tts_event_check(&item->event, err);
    if (status != TTS_OK)
        return status;
    if (item->seq == 0 || item->seq >= TTS_FOLD_SEQ_MAX ||
        (check->seq > 0 && item->seq != check->seq + 1))
        return tts_error_set(err, TTS_E_INVALID,
                             "the events are out of order: event %" PRIu64
                             " comes directly after event %" PRIu64,
                             item->seq, check->seq);
    if (item->event.kind == TTS_EVENT_OP_BEGIN && item->op.hash == 0)
        return tts_error_set(err, TTS_E_INVALID, "an operation begins without a name");
    return TTS_OK;
}

static enum tts_status check_item_live(const struct tts_item *item, struct tts_error *err)
{
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, item->live.device);
    event.pool = item->live.pool;
    event.size_bytes = item->live.size_bytes;
    event.bytes_per_bank = item->live.bytes_per_bank;
    event.block_bytes = item->live.block_bytes;
    event.ranges = item->event.ranges;
    event.range_count = item->event.range_count;
    return tts_event_check(&event, err);
}

static enum tts_status check_item_part(const struct tts_item *item, struct tts_error *err)
{
    enum tts_event_kind kind = item->event.kind;
    if (kind < TTS_EVENT_CB || kind > TTS_EVENT_SCRATCHPAD)
        return tts_error_set(err, TTS_E_INVALID,
                             "an entry of a list of live buffers has an impossible kind");
    return tts_event_check(&item->event, err);
}

static enum tts_status check_item_kind(const struct tts_itemcheck *check,
                                       const struct tts_item *item, struct tts_error *err)
{
    switch (item->kind) {
    case TTS_ITEM_EVENT:
        return check_item_event(check, item, err);
    case TTS_ITEM_LIVE:
        return check_item_live(item, err);
    case TTS_ITEM_PART:
        return check_item_part(item, err);
    case TTS_ITEM_CHIP:
        if (item->device == item->mesh)
            return tts_error_set(err, TTS_E_INVALID,
                                 "device %" PRIu32 " cannot be its own mesh", item->device);
        return TTS_OK;
    case TTS_ITEM_BEGIN:
    case TTS_ITEM_CUT:
    case TTS_ITEM_END:
    case TTS_ITEM_ACTIVE:
        if (item->capture == 0 || item->name_len > TTS_PHASE_NAME_MAX)
            return tts_error_set(
                err, TTS_E_INVALID,
                "a capture has number 0, or a phase of a capture has a name that is too long");
        return TTS_OK;
    case TTS_ITEM_NAME:
    case TTS_ITEM_MISSED:
    case TTS_ITEM_SAMPLE:
    case TTS_ITEM_KEYFRAME:
    case TTS_ITEM_TRACING:
    case TTS_ITEM_KEYFRAME_END:
        return TTS_OK;
    }
    return tts_error_set(err, TTS_E_INVALID, "the recording has an item of the unknown kind %d",
                         (int)item->kind);
}

/* Checks the order: parts of keyframes are inside a keyframe; events, phases and keyframes are
 * outside. */
static enum tts_status check_item_place(const struct tts_itemcheck *check,
                                        const struct tts_item *item, struct tts_error *err)
{
    bool anywhere = item->kind == TTS_ITEM_NAME || item->kind == TTS_ITEM_CHIP ||
                    item->kind == TTS_ITEM_MISSED;
    bool inside = item->kind >= TTS_ITEM_LIVE;
    if (anywhere || inside == check->in_keyframe)
        return TTS_OK;
    return tts_error_set(
        err, TTS_E_INVALID,
        inside ? "an entry of a list of live buffers is outside such a list"
               : "an event, a phase or another list is inside a list of live buffers");
}

enum tts_status tts_itemcheck_pass(struct tts_itemcheck *check, const struct tts_item *item,
                                   struct tts_error *err)
{
    enum tts_status status = check_item_place(check, item, err);
    if (status == TTS_OK)
        status = check_item_kind(check, item, err);
    if (status != TTS_OK)
        return status;
    if (item->kind == TTS_ITEM_EVENT)
        check->seq = item->seq;
    else if (item->kind == TTS_ITEM_KEYFRAME || item->kind == TTS_ITEM_KEYFRAME_END)
        check->in_keyframe = item->kind == TTS_ITEM_KEYFRAME;
    return TTS_OK;
}
