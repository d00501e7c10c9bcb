#include "analysis/changes.h"

#include "base/error.h"

#include <assert.h>

uint64_t tts_live_bytes(const struct tts_live *live)
{
    return tts_pool_is_l1(live->pool) ? live->bytes_per_bank : live->size_bytes;
}

static enum tts_status tell(struct tts_changes *c, struct tts_change change)
{
    change.item = c->item;
    change.seq = tts_fold_seq(tts_follow_fold(c->follow));
    return c->fn(c->ctx, &change);
}

/* ---- what was there before ---- */

static bool tell_restored(void *ctx, const struct tts_item *item)
{
    struct tts_changes *c = ctx;
    if (item->kind == TTS_ITEM_LIVE)
        c->status =
            tell(c, (struct tts_change){
                        .kind = TTS_CHANGE_CAME, .is_restored = true, .live = item->live});
    else if (item->kind == TTS_ITEM_CHIP)
        c->status =
            tell(c, (struct tts_change){
                        .kind = TTS_CHANGE_CHIP, .device = item->device, .mesh = item->mesh});
    return c->status == TTS_OK;
}

static enum tts_status end_keyframe(struct tts_changes *c)
{
    c->in_keyframe = false;
    c->status = TTS_OK;
    if (!c->has_begun)
        tts_fold_tell(tts_follow_fold(c->follow), tell_restored, c);
    c->has_begun = true;
    return c->status;
}

/* ---- events ---- */

static struct tts_live live_of(const struct tts_event *event)
{
    return (struct tts_live){.id = event->id,
                             .size_bytes = event->size_bytes,
                             .bytes_per_bank = event->bytes_per_bank,
                             .block_bytes = event->block_bytes,
                             .device = event->device,
                             .pool = event->pool};
}

static enum tts_status tell_come(struct tts_changes *c, const struct tts_event *event)
{
    struct tts_change change = {.kind = TTS_CHANGE_CAME};
    struct tts_live *live = &change.live;
    bool is_listed = tts_follow_find(c->follow, event->device, event->id, live);
    if (!is_listed) {
        *live = live_of(event);
        live->seq = c->item->seq;
        change.is_unlisted = true;
    }
    assert(live->seq == c->item->seq);
    return tell(c, change);
}

static enum tts_status tell_unseen(struct tts_changes *c, const struct tts_event *event)
{
    struct tts_change change = {.kind = TTS_CHANGE_UNSEEN, .live = live_of(event)};
    if (event->size_bytes == 0)
        return TTS_OK; /* how much is not known: it counts nowhere */
    return tell(c, change);
}

/* An allocation or a free. */
static enum tts_status change_buffer(struct tts_changes *c, const struct tts_event *event,
                                     struct tts_error *err)
{
    struct tts_change left = {.kind = TTS_CHANGE_LEFT};
    bool is_alloc = event->kind == TTS_EVENT_ALLOC;
    bool takes = !is_alloc || event->size_bytes > 0;
    bool leaves = takes && tts_follow_find(c->follow, event->device, event->id, &left.live);
    enum tts_status status = tts_follow_item(c->follow, c->item, err);
    if (status != TTS_OK || !takes)
        return status;
    if (leaves)
        status = tell(c, left);
    if (status == TTS_OK && is_alloc)
        status = tell_come(c, event);
    else if (status == TTS_OK && !leaves)
        status = tell_unseen(c, event);
    return status;
}

static enum tts_status change_other(struct tts_changes *c, struct tts_error *err)
{
    enum tts_item_kind kind = c->item->kind;
    enum tts_status status = tts_follow_item(c->follow, c->item, err);
    if (status != TTS_OK)
        return status;
    if (kind == TTS_ITEM_KEYFRAME)
        c->in_keyframe = true;
    else if (kind == TTS_ITEM_KEYFRAME_END)
        return end_keyframe(c);
    else if (kind == TTS_ITEM_CHIP && !c->in_keyframe)
        return tell(c, (struct tts_change){.kind = TTS_CHANGE_CHIP,
                                           .device = c->item->device,
                                           .mesh = c->item->mesh});
    return TTS_OK;
}

enum tts_status tts_changes_item(struct tts_changes *c, const struct tts_item *item,
                                 struct tts_error *err)
{
    enum tts_status status;
    c->item = item;
    if (item->kind == TTS_ITEM_EVENT) {
        c->has_begun = true;
        status = item->event.kind <= TTS_EVENT_FREE ? change_buffer(c, &item->event, err)
                                                    : change_other(c, err);
    } else {
        status = change_other(c, err);
    }
    c->item = NULL;
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, "out of memory");
    return status;
}
