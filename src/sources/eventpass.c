#include "sources/eventpass.h"

#include "base/error.h"

enum { REPORT_ITEMS = 1024 }; /* number of items between two reports of the progress */

void tts_eventpass_release(struct tts_eventpass *pass)
{
    tts_resync_free(pass->resync);
    pass->resync = NULL;
}

static enum tts_status take_pass_item(struct tts_eventpass *pass, const struct tts_item *item,
                                      struct tts_error *err)
{
    pass->seq = item->seq;
    return pass->take(pass->ctx, item, err);
}

static enum tts_status offer_pass_item(struct tts_eventpass *pass, const struct tts_item *item,
                                       struct tts_error *err)
{
    if (tts_itemgate_takes(&pass->gate, item->kind))
        return take_pass_item(pass, item, err);
    if (item->has_time)
        pass->passed_ns = item->time_ns;
    return TTS_OK;
}

/* Continues after damage if a good keyframe follows. Otherwise returns the status of the
 * damage. */
static enum tts_status resume_pass(struct tts_eventpass *pass, struct tts_error *err)
{
    if (err->status != TTS_E_SYNTAX || !pass->follow ||
        tts_eventfile_resume(pass->file, err) != TTS_OK)
        return err->status;
    if (!pass->resync && tts_resync_new(pass->alloc, &pass->resync) != TTS_OK)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    pass->in_gap = true;
    struct tts_item end = {.kind = TTS_ITEM_KEYFRAME_END, .seq = pass->seq};
    return pass->gate.in_keyframe ? offer_pass_item(pass, &end, err) : TTS_OK;
}

struct eventpass_telling {
    struct tts_eventpass *pass;
    struct tts_error *err;
};

static enum tts_status tell_resynced(void *ctx, const struct tts_item *item)
{
    struct eventpass_telling *telling = ctx;
    return take_pass_item(telling->pass, item, telling->err);
}

/* Handles an item of the keyframe that follows a gap. */
static enum tts_status cross_gap(struct tts_eventpass *pass, const struct tts_item *item,
                                 struct tts_error *err)
{
    struct eventpass_telling telling = {pass, err};
    enum tts_status status = TTS_OK;
    if (item->kind == TTS_ITEM_NAME)
        return take_pass_item(pass, item, err);
    if (item->kind == TTS_ITEM_KEYFRAME_END) {
        pass->in_gap = false;
        status =
            tts_resync_tell(pass->resync, pass->follow, item->seq, tell_resynced, &telling);
        pass->gap_seq = item->seq;
    } else {
        status = tts_resync_take(pass->resync, item);
    }
    return status == TTS_E_NOMEM ? tts_error_set(err, status, TTS_TEXT_NOMEM) : status;
}

static enum tts_status step_pass(struct tts_eventpass *pass, struct tts_error *err)
{
    struct tts_item item;
    enum tts_status status = tts_eventfile_next(pass->file, &item, err);
    pass->is_at_end = status == TTS_E_NOT_FOUND;
    if (pass->is_at_end)
        return TTS_OK;
    if (status != TTS_OK)
        return resume_pass(pass, err);
    if (tts_eventfile_graph(pass->file) && !pass->keeps_graph_times)
        item.has_time = false;
    if (pass->in_gap)
        return cross_gap(pass, &item, err);
    status = offer_pass_item(pass, &item, err);
    pass->events += status == TTS_OK && item.kind == TTS_ITEM_EVENT;
    return status;
}

enum tts_status tts_eventpass_run(struct tts_eventpass *pass, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    pass->is_at_end = false;
    for (uint32_t i = 1; status == TTS_OK && !pass->is_at_end && !pass->is_done; i++) {
        status = step_pass(pass, err);
        if (i % REPORT_ITEMS == 0)
            tts_eventfile_report(pass->file);
    }
    return status;
}
