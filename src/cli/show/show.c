/* show_read.c: one pass over a file of events, or its stored figures, and questions about the
 * file. */
#include "cli/show/show.h"
#include "analysis/eventfigures.h"
#include "base/heap.h"

enum tts_status tts_show_init(struct tts_show *show, const struct tts_show_options *options,
                              struct tts_error *err)
{
    struct tts_eventscan_config config = {
        .at = options->at, .top = options->top, .pool = options->pool};
    *show = (struct tts_show){.options = *options, .alloc = tts_alloc_libc()};
    return tts_eventscan_init(&show->scan, &config, show->alloc, &show->sum, err);
}

void tts_show_release(struct tts_show *show)
{
    tts_eventpass_release(&show->pass);
    tts_eventscan_release(&show->scan);
    tts_eventsummary_release(&show->sum);
    tts_eventfile_close(show->file);
}

/* ---- reading ---- */

/* An event that cannot be leaves a gap that all behind it would fall into: it is the end. What
 * is wrong with a capture is its own affair. */
static enum tts_status follow_show_item(struct tts_show *show, const struct tts_item *item,
                                        struct tts_error *err)
{
    tts_partial_item(&show->partial, item);
    enum tts_status status = tts_eventscan_item(&show->scan, item, err);
    if (status == TTS_OK || status == TTS_E_NOMEM || item->kind == TTS_ITEM_EVENT)
        return status;
    if (show->partial.refused++ == 0)
        show->partial.refusal = *err;
    return TTS_OK;
}

/* An item of the pass, which ends with the event that was asked for. */
static enum tts_status take_read(void *ctx, const struct tts_item *item, struct tts_error *err)
{
    struct tts_show *show = ctx;
    uint64_t last = show->options.at > 0 ? show->options.at : UINT64_MAX;
    bool is_event = item->kind == TTS_ITEM_EVENT;
    show->pass.is_done = is_event && item->seq >= last;
    return is_event && item->seq > last ? TTS_OK : follow_show_item(show, item, err);
}

enum tts_status tts_show_read(struct tts_show *show, struct tts_error *err)
{
    struct tts_eventpass *pass = &show->pass;
    pass->file = show->file;
    pass->follow = show->options.at == 0 ? show->scan.follow : NULL;
    pass->take = take_read;
    pass->ctx = show;
    pass->alloc = show->alloc;
    enum tts_status status = tts_eventpass_run(pass, err);
    if (pass->gap_seq > show->sum.event.seq)
        show->sum.event.seq = pass->gap_seq;
    if (pass->passed_ns > show->sum.last_ns)
        show->sum.last_ns = pass->passed_ns;
    show->sum.input.events = pass->events;
    return status;
}

bool tts_show_load(struct tts_show *show)
{
    struct tts_recfile *recording = tts_eventfile_recording(show->file);
    struct tts_summary_input *input = &show->sum.input;
    const unsigned char *bytes;
    size_t len;
    uint64_t seq;
    if (show->options.at > 0 || !recording ||
        !tts_recfile_figures(recording, &bytes, &len, &seq) || len == 0 ||
        !tts_eventfigures_load(&show->sum, bytes, len, seq, &show->scan.config))
        return false;
    show->partial.has_items = input->has_items;
    show->partial.lacks_start = input->lacks_start;
    show->partial.missed = input->missed;
    show->partial.left_buffers = input->left_buffers;
    show->partial.left_bytes = input->left_bytes;
    return true;
}

/* ---- questions ---- */

uint64_t tts_show_since_start(const struct tts_show *show, uint64_t time_ns)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    uint64_t start = recording ? tts_recfile_info(recording)->header.start_ns : 0;
    return time_ns > start ? time_ns - start : 0;
}

bool tts_show_is_at_least(const struct tts_show *show)
{
    return show->partial.left_buffers > 0 || tts_eventfile_gaps(show->file)->count > 0;
}

bool tts_show_is_unknown(const struct tts_show *show, enum tts_pool pool)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    return (pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL) && recording &&
           tts_recfile_info(recording)->header.flags & TTS_REC_DRAM_ONLY;
}

enum tts_show_state tts_show_state(const struct tts_show *show)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    if (!recording)
        return TTS_SHOW_COMPLETE;
    const struct tts_recfile_info *info = tts_recfile_info(recording);
    if (!info->state_is_known)
        return TTS_SHOW_STATE_UNKNOWN;
    if (info->state.kind == TTS_REC_STOPPED)
        return TTS_SHOW_STOPPED;
    return info->state.kind == TTS_REC_ENDED ? TTS_SHOW_COMPLETE : TTS_SHOW_NOT_ENDED;
}

bool tts_show_is_damaged(const struct tts_show *show)
{
    return show->partial.damage.status != TTS_OK || tts_eventfile_gaps(show->file)->count > 0;
}

const char *tts_show_damage(const struct tts_show *show)
{
    if (show->partial.damage.status != TTS_OK)
        return show->partial.damage.text;
    const struct tts_eventfile_gaps *gaps = tts_eventfile_gaps(show->file);
    return gaps->count > 0 ? gaps->first.text : NULL;
}
