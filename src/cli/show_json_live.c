/* show_json_live.c: what lived at a moment, the fullest core, refused requests, what the
 * runtime says itself, and health; for programs. */
#include "cli/show_parts.h"

/* ---- buffers ---- */

void tts_show_json_op(const struct tts_show *show, const char *op, struct tts_json *json)
{
    char path[TTS_SUMMARY_PATH_BYTES];
    tts_json_text_or_null(json, "op", op);
    tts_json_text_or_null(json, "op_path",
                          op && op[0] ? tts_eventsummary_path(&show->sum, op, path) : NULL);
}

static void put_live(const struct tts_show *show, const struct tts_live *live,
                     struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_json_number(json, "id", live->id);
    tts_json_number(json, "device", live->device);
    tts_json_number(json, "bytes", tts_live_bytes(live));
    tts_json_number(json, "event", live->seq);
    tts_show_json_op(show, live->op, json);
    tts_json_object_end(json);
}

static void put_by_op(const struct tts_show *show, const struct tts_op_row *row,
                      struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_show_json_op(show, row->op, json);
    tts_json_number(json, "bytes", row->moment_bytes);
    tts_json_number(json, "buffers", row->moment_buffers);
    tts_json_object_end(json);
}

void tts_show_json_unknown(enum tts_pool pool, struct tts_json *json)
{
    static const char *const nulls[] = {"device",           "bytes", "buffers", "buffers_bytes",
                                        "not_listed_bytes", "by_op", "live"};
    tts_json_text(json, "pool", tts_pool_name(pool));
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        tts_json_null(json, nulls[i]);
}

void tts_show_json_moment(const struct tts_show *show, const struct tts_summary_moment *moment,
                          struct tts_json *json)
{
    const struct tts_level *level = &moment->level;
    const struct tts_live *live = moment->largest.items;
    const struct tts_op_row *rows = moment->by_op.items;
    tts_json_text(json, "pool", tts_pool_name(moment->pool));
    if (level->has_device)
        tts_json_number(json, "device", level->device);
    else
        tts_json_null(json, "device");
    tts_json_signed(json, "bytes", level->bytes);
    tts_json_number(json, "buffers", moment->buffers);
    tts_json_number(json, "buffers_bytes", moment->bytes);
    tts_json_signed(json, "not_listed_bytes", level->loose_bytes);
    tts_json_array(json, "by_op");
    for (size_t i = 0; i < moment->by_op.count; i++)
        put_by_op(show, &rows[i], json);
    tts_json_array_end(json);
    tts_json_number(json, "by_op_not_listed", moment->op_count - moment->by_op.count);
    tts_json_array(json, "live");
    for (size_t i = 0; i < moment->largest.count; i++)
        put_live(show, &live[i], json);
    tts_json_array_end(json);
    tts_json_number(json, "live_not_listed", moment->buffers - moment->largest.count);
}

/* ---- the fullest core ---- */

static void put_part(const struct tts_show *show, const struct tts_core_part *part,
                     struct tts_json *json)
{
    bool is_buffer = part->kind == TTS_EVENT_ALLOC;
    tts_json_object(json, NULL);
    tts_json_text(json, "kind", is_buffer ? "buffer" : tts_event_kind_name(part->kind));
    tts_json_number(json, "bytes", part->bytes);
    if (is_buffer) {
        tts_json_text(json, "pool", tts_pool_name(part->pool));
        tts_json_number(json, "id", part->id);
    }
    tts_show_json_op(show, part->op, json);
    tts_json_object_end(json);
}

void tts_show_json_core(const struct tts_show *show, const struct tts_core_peak *core,
                        struct tts_json *json)
{
    bool is_unknown = tts_show_is_unknown(show, TTS_POOL_L1);
    if (!core->known || is_unknown) {
        tts_json_null(json, "core");
        tts_json_text(json, "core_reason",
                      is_unknown ? TTS_SHOW_L1_REASON : "nothing was on a core");
        return;
    }
    tts_json_object(json, "core");
    tts_json_number(json, "device", core->device);
    tts_json_number(json, "x", core->core.x);
    tts_json_number(json, "y", core->core.y);
    tts_json_number(json, "bytes", core->bytes);
    tts_json_bool(json, "at_least", core->at_least);
    tts_json_number(json, "cb_bytes", core->cb_bytes);
    tts_json_number(json, "dfb_bytes", core->dfb_bytes);
    tts_json_number(json, "scratchpad_bytes", core->scratchpad_bytes);
    tts_json_number(json, "l1_bytes", core->l1_bytes);
    tts_json_number(json, "l1_small_bytes", core->l1_small_bytes);
    tts_json_number(json, "event", core->seq);
    tts_show_json_op(show, core->op, json);
    tts_json_array(json, "parts");
    for (size_t i = 0; i < core->part_count; i++)
        put_part(show, &core->parts[i], json);
    tts_json_array_end(json);
    tts_json_number(json, "parts_not_listed", core->unlisted);
    tts_json_number(json, "parts_not_listed_bytes", core->unlisted_bytes);
    tts_json_object_end(json);
}

/* ---- failures ---- */

static void put_failure(const struct tts_show *show, size_t idx, struct tts_json *json)
{
    char text[TTS_FAILURE_TEXT_MAX];
    const struct tts_summary_failure *failure = &show->sum.failures[idx];
    const struct tts_level *level = &failure->level;
    tts_json_object(json, NULL);
    tts_show_json_event(show, failure->seq, failure->has_time, failure->time_ns, json);
    tts_show_json_op(show, tts_summary_op_name(&failure->op), json);
    tts_json_number(json, "device", failure->device);
    tts_json_text(json, "kind", tts_failure_kind_name(failure->failure.kind));
    tts_json_text(json, "pool", tts_pool_name(failure->failure.pool));
    tts_json_text(json, "text", tts_failure_text(&failure->failure, text));
    if (tts_failure_deficit_is_known(&failure->failure))
        tts_json_number(json, "deficit_bytes", tts_failure_deficit(&failure->failure));
    else
        tts_json_null(json, "deficit_bytes");
    tts_json_number(json, "live_buffers", level->buffers);
    tts_json_number(json, "live_bytes", (uint64_t)level->bytes);
    if (idx == 0) {
        tts_json_object(json, "live_set");
        tts_show_json_moment(show, &show->sum.failure_moment, json);
        tts_json_object_end(json);
    }
    tts_json_object_end(json);
}

void tts_show_json_failures(const struct tts_show *show, struct tts_json *json)
{
    tts_json_array(json, "failures");
    for (size_t i = 0; i < show->sum.failure_count; i++)
        put_failure(show, i, json);
    tts_json_array_end(json);
    tts_json_number(json, "failures_not_listed", show->sum.failures_unlisted);
}

/* ---- what the runtime says itself ---- */

static void put_note(const struct tts_graph_note *note, bool is_bad, struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_json_text(json, "text", note->text);
    tts_json_number(json, "count", note->count);
    tts_json_number(json, "node", note->node);
    tts_json_number(json, "line", note->line);
    tts_json_bool(json, "bad", is_bad);
    tts_json_object_end(json);
}

static void put_notes(const struct tts_graph *graph, struct tts_json *json)
{
    tts_json_array(json, "notes");
    for (int i = 0; i < TTS_GRAPH_NOTES; i++) {
        enum tts_graph_note_kind kind = (enum tts_graph_note_kind)i;
        const struct tts_graph_note *note = tts_graph_note(graph, kind);
        if (note->count > 0)
            put_note(note, tts_graph_note_is_bad(kind), json);
    }
    tts_json_array_end(json);
}

void tts_show_json_graph(const struct tts_show *show, struct tts_json *json)
{
    const struct tts_graph *graph = tts_eventfile_graph(show->file);
    if (!graph) {
        tts_json_null(json, "runtime_figures");
        return;
    }
    struct tts_graph_figures figures = tts_graph_figures(graph);
    tts_json_object(json, "runtime_figures");
    tts_json_signed(json, "dram_peak_bytes", figures.dram_peak_bytes);
    tts_json_signed(json, "dram_allocated_bytes", figures.dram_allocated_bytes);
    tts_json_signed(json, "dram_freed_bytes", figures.dram_freed_bytes);
    tts_json_signed(json, "peak_cb_bytes", figures.peak_cb_bytes);
    tts_json_signed(json, "peak_dfb_bytes", figures.peak_dfb_bytes);
    tts_json_signed(json, "peak_scratchpad_bytes", figures.peak_scratchpad_bytes);
    tts_json_signed(json, "peak_l1_bytes", figures.peak_l1_bytes);
    tts_json_signed(json, "peak_total_bytes", figures.peak_total_bytes);
    tts_json_number(json, "legacy_l1_peak_bytes", figures.legacy_l1_peak_bytes);
    tts_json_bool(json, "l1_is_whole_buffers", figures.l1_is_whole_buffers);
    tts_json_object_end(json);
    put_notes(graph, json);
}

/* ---- health ---- */

void tts_show_json_health(const struct tts_show *show, struct tts_json *json)
{
    struct tts_tracker_health health = show->sum.health;
    tts_json_object(json, "health");
    tts_json_number(json, "unseen_frees", health.unseen_frees);
    tts_json_number(json, "unknown_frees", health.unknown_frees);
    tts_json_number(json, "doubled", health.doubled);
    tts_json_number(json, "not_listed", health.unlisted);
    tts_json_number(json, "missed_events", show->partial.missed);
    tts_json_number(json, "refused", show->partial.refused);
    tts_json_text_or_null(json, "refused_reason",
                          show->partial.refused > 0 ? show->partial.refusal.text : NULL);
    tts_json_object_end(json);
}
