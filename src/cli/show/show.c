#include "cli/show/show.h"
#include "analysis/eventsummary.h"
#include "base/heap.h"
#include "cli/message.h"
#include "sources/input.h"

#include <string.h>

enum tts_status tts_show_init(struct tts_show *show, const struct tts_show_options *options,
                              struct tts_error *err)
{
    struct tts_eventscan_config config = {
        .at = options->at,
        .top = options->top,
        .pool = options->pool,
        .finds_leaks = options->leaks,
        .follows_traces = options->phases,
        .growing = options->growing ? options->growing_rule : (struct tts_growth_rule){0},
    };
    *show = (struct tts_show){.options = *options, .alloc = tts_alloc_libc()};
    return tts_eventscan_init(&show->scan, &config, show->alloc, &show->sum, err);
}

void tts_show_release(struct tts_show *show)
{
    tts_eventpass_release(&show->pass);
    tts_eventscan_release(&show->scan);
    tts_eventsummary_release(&show->sum);
    tts_eventfile_close(show->file);
    tts_input_close(show->log);
}

/* ---- reading ---- */

/* Takes one item. An impossible event ends the reading, because all figures after it would be
 * wrong. An impossible statement about a capture is counted and skipped. */
static enum tts_status follow_show_item(struct tts_show *show, const struct tts_item *item,
                                        struct tts_error *err)
{
    tts_partial_item(&show->partial, item);
    tts_samplepeaks_item(&show->samples, item);
    enum tts_status status = tts_eventscan_item(&show->scan, item, err);
    if (status == TTS_OK || status == TTS_E_NOMEM || item->kind == TTS_ITEM_EVENT)
        return status;
    if (show->partial.refused++ == 0)
        show->partial.refusal = *err;
    return TTS_OK;
}

/* Takes an item of the pass. Ends the pass at the requested event. */
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
    /* The stored figures answer none of the questions. */
    if (show->options.at > 0 || show->options.leaks || show->options.phases ||
        show->options.growing || !recording ||
        !tts_recfile_figures(recording, &bytes, &len, &seq) || len == 0 ||
        !tts_eventsummary_load(&show->sum, bytes, len, seq, &show->scan.config))
        return false;
    show->partial.has_items = input->has_items;
    show->partial.lacks_start = input->lacks_start;
    show->partial.missed = input->missed;
    show->partial.left_buffers = input->left_buffers;
    show->partial.left_bytes = input->left_bytes;
    return true;
}

/* ---- facts for the views ---- */

static enum tts_show_state show_state(const struct tts_recfile_info *info)
{
    if (!info->state_is_known)
        return TTS_SHOW_STATE_UNKNOWN;
    if (info->state.kind == TTS_REC_STOPPED)
        return TTS_SHOW_STOPPED;
    return info->state.kind == TTS_REC_ENDED ? TTS_SHOW_COMPLETE : TTS_SHOW_NOT_ENDED;
}

static void set_recording_facts(struct tts_show *show, const struct tts_recfile_info *info,
                                struct tts_show_facts *out)
{
    out->recording = info;
    out->state = show_state(info);
    out->stop_reason = tts_partial_stop_text(&info->state, show->stop_reason);
    out->start_ns = info->header.start_ns;
    out->l1_is_unknown = info->header.flags & TTS_REC_DRAM_ONLY;
    out->l1_is_requested = info->header.flags & TTS_REC_L1_REQUESTED;
}

static void set_graph_facts(const struct tts_graph *graph, struct tts_show_facts *out)
{
    out->graph = tts_graph_figures(graph);
    for (int kind = 0; kind < TTS_GRAPH_NOTES; kind++)
        out->notes[kind] = tts_graph_note(graph, (enum tts_graph_note_kind)kind);
}

/* Stores the capacities that the peaks are judged by: L1 of one core, or of a device if the
 * recording has requested bytes only. */
static void set_show_capacities(const struct tts_show *show, struct tts_show_facts *out)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        bool is_bank = tts_pool_is_l1((enum tts_pool)i) && !out->l1_is_requested;
        out->capacity_bytes[i] = show->bank_bytes[i] * (is_bank ? 1 : show->banks[i]);
        out->device_bytes[i] = show->bank_bytes[i] * show->banks[i];
    }
}

void tts_show_facts(struct tts_show *show, struct tts_show_facts *out)
{
    const struct tts_show_options *options = &show->options;
    const struct tts_partial *partial = &show->partial;
    const struct tts_eventfile_gaps *gaps = tts_eventfile_gaps(show->file);
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    *out = (struct tts_show_facts){
        .path = options->path,
        .name = tts_message_path(options->path),
        .at = options->at,
        .top = options->top,
        .pool = options->pool,
        .lists_all_phases = options->all,
        .has_leaks = options->leaks,
        .has_trace_phases = options->phases,
        .has_growing = options->growing,
        .sum = &show->sum,
        .samples = &show->samples,
        .missing = &show->missing,
        .is_cut = partial->damage.status != TTS_OK,
        .gaps = gaps->count,
        .gap_events = gaps->events,
        .first_gap_after = gaps->first_after,
        .missed = partial->missed,
        .left_buffers = partial->left_buffers,
        .left_bytes = partial->left_bytes,
        .refused = partial->refused,
        .refusal = partial->refused > 0 ? partial->refusal.text : NULL,
        .is_at_least = partial->left_buffers > 0 || gaps->count > 0,
    };
    if (out->is_cut)
        out->damage = partial->damage.text;
    else if (gaps->count > 0)
        out->damage = gaps->first.text;
    if (recording)
        set_recording_facts(show, tts_recfile_info(recording), out);
    else
        set_graph_facts(tts_eventfile_graph(show->file), out);
    set_show_capacities(show, out);
}
