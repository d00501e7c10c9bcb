#include "views/show/show_view.h"

#include "analysis/questions/pressure.h"
#include "model/devicename.h"
#include "views/live/phases_view.h"
#include "views/partial_json.h"
#include "views/phase_json.h"
#include "views/show/show_growing.h"
#include "views/show/show_samples.h"

/* ---- operations and events ---- */

/* Writes the fields "op" and "op_path". Both are null if `op` is NULL or "". */
static void put_op_fields(const struct tts_show_facts *show, const char *op,
                          struct tts_json *json)
{
    char path[TTS_SUMMARY_PATH_BYTES];
    tts_json_text_or_null(json, "op", op);
    tts_json_text_or_null(json, "op_path",
                          op && op[0] ? tts_eventsummary_path(show->sum, op, path) : NULL);
}

static void put_seconds(struct tts_json *json, const char *key, uint64_t ns)
{
    tts_json_ratio(json, key, ns, 1000000000);
}

/* Writes the fields "event" and "seconds". */
static void put_event_fields(const struct tts_show_facts *show, uint64_t seq, bool has_time,
                             uint64_t time_ns, struct tts_json *json)
{
    tts_json_number(json, "event", seq);
    if (has_time)
        put_seconds(json, "seconds", tts_show_since_start(show, time_ns));
    else
        tts_json_null(json, "seconds");
}

/* ---- buffers ---- */

static void put_show_live(const struct tts_show_facts *show, const struct tts_live *live,
                          struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_json_number(json, "id", live->id);
    tts_json_number(json, "device", live->device);
    tts_json_number(json, "bytes", tts_live_bytes(live));
    tts_json_number(json, "event", live->seq);
    put_op_fields(show, live->op, json);
    tts_json_object_end(json);
}

static void put_by_op(const struct tts_show_facts *show, const char *op, uint64_t bytes,
                      uint64_t buffers, struct tts_json *json)
{
    tts_json_object(json, NULL);
    put_op_fields(show, op, json);
    tts_json_number(json, "bytes", bytes);
    tts_json_number(json, "buffers", buffers);
    tts_json_object_end(json);
}

/* Writes the fields of show_json_moment() as null, for a pool that is unknown. */
static void show_json_unknown(enum tts_pool pool, struct tts_json *json)
{
    static const char *const nulls[] = {"device",           "bytes", "buffers", "buffers_bytes",
                                        "not_listed_bytes", "by_op", "live"};
    tts_json_text(json, "pool", tts_pool_name(pool));
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        tts_json_null(json, nulls[i]);
}

static void show_json_moment(const struct tts_show_facts *show,
                             const struct tts_summary_moment *moment, struct tts_json *json)
{
    const struct tts_level *level = &moment->level;
    const struct tts_live *live = moment->largest.items;
    const struct tts_op_row *rows = moment->by_op.items;
    tts_json_text(json, "pool", tts_pool_name(moment->pool));
    tts_json_number_or_null(json, "device", level->has_device, level->device);
    tts_json_signed(json, "bytes", level->bytes);
    tts_json_number(json, "buffers", moment->buffers);
    tts_json_number(json, "buffers_bytes", moment->bytes);
    tts_json_signed(json, "not_listed_bytes", level->loose_bytes);
    tts_json_array(json, "by_op");
    for (size_t i = 0; i < moment->by_op.count; i++)
        put_by_op(show, rows[i].op, rows[i].moment_bytes, rows[i].moment_buffers, json);
    tts_json_array_end(json);
    tts_json_number(json, "by_op_not_listed", moment->op_count - moment->by_op.count);
    tts_json_array(json, "live");
    for (size_t i = 0; i < moment->largest.count; i++)
        put_show_live(show, &live[i], json);
    tts_json_array_end(json);
    tts_json_number(json, "live_not_listed", moment->buffers - moment->largest.count);
}

/* ---- the fullest core ---- */

static void put_show_part(const struct tts_show_facts *show, const struct tts_core_part *part,
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
    put_op_fields(show, part->op, json);
    tts_json_object_end(json);
}

static void show_json_core(const struct tts_show_facts *show, const struct tts_core_peak *core,
                           struct tts_json *json)
{
    const char *reason = tts_show_cores_reason(show);
    if (!core->known || reason) {
        tts_json_null(json, "core");
        tts_json_text(json, "core_reason", reason ? reason : "nothing was on a core");
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
    put_op_fields(show, core->op, json);
    tts_json_array(json, "parts");
    for (size_t i = 0; i < core->part_count; i++)
        put_show_part(show, &core->parts[i], json);
    tts_json_array_end(json);
    tts_json_number(json, "parts_not_listed", core->unlisted);
    tts_json_number(json, "parts_not_listed_bytes", core->unlisted_bytes);
    tts_json_object_end(json);
}

/* ---- failures ---- */

static void put_show_failure(const struct tts_show_facts *show, size_t idx,
                             struct tts_json *json)
{
    char text[TTS_FAILURE_TEXT_MAX];
    const struct tts_summary_failure *failure = &show->sum->failures[idx];
    const struct tts_level *level = &failure->level;
    tts_json_object(json, NULL);
    put_event_fields(show, failure->seq, failure->has_time, failure->time_ns, json);
    put_op_fields(show, tts_summary_op_name(&failure->op), json);
    tts_json_number(json, "device", failure->device);
    tts_json_text(json, "kind", tts_failure_kind_name(failure->failure.kind));
    tts_json_text(json, "pool", tts_pool_name(failure->failure.pool));
    tts_json_text(json, "text", tts_failure_text(&failure->failure, text));
    tts_json_number_or_null(json, "deficit_bytes",
                            tts_failure_deficit_is_known(&failure->failure),
                            tts_failure_deficit(&failure->failure));
    tts_json_number(json, "live_buffers", level->buffers);
    tts_json_number(json, "live_bytes", (uint64_t)level->bytes);
    if (idx == 0) {
        tts_json_object(json, "live_set");
        show_json_moment(show, &show->sum->failure_moment, json);
        tts_json_object_end(json);
    }
    tts_json_object_end(json);
}

static void show_json_failures(const struct tts_show_facts *show, struct tts_json *json)
{
    tts_json_array(json, "failures");
    for (size_t i = 0; i < show->sum->failure_count; i++)
        put_show_failure(show, i, json);
    tts_json_array_end(json);
    tts_json_number(json, "failures_not_listed", show->sum->failures_unlisted);
}

/* ---- the figures of the runtime ---- */

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

static void put_show_notes(const struct tts_show_facts *show, struct tts_json *json)
{
    tts_json_array(json, "notes");
    for (int i = 0; i < TTS_GRAPH_NOTES; i++) {
        enum tts_graph_note_kind kind = (enum tts_graph_note_kind)i;
        if (show->notes[i]->count > 0)
            put_note(show->notes[i], tts_graph_note_is_bad(kind), json);
    }
    tts_json_array_end(json);
}

static void show_json_graph(const struct tts_show_facts *show, struct tts_json *json)
{
    const struct tts_graph_figures *figures = &show->graph;
    if (show->recording) {
        tts_json_null(json, "runtime_figures");
        return;
    }
    tts_json_object(json, "runtime_figures");
    tts_json_signed(json, "dram_peak_bytes", figures->dram_peak_bytes);
    tts_json_signed(json, "dram_allocated_bytes", figures->dram_allocated_bytes);
    tts_json_signed(json, "dram_freed_bytes", figures->dram_freed_bytes);
    tts_json_signed(json, "peak_cb_bytes", figures->peak_cb_bytes);
    tts_json_signed(json, "peak_dfb_bytes", figures->peak_dfb_bytes);
    tts_json_signed(json, "peak_scratchpad_bytes", figures->peak_scratchpad_bytes);
    tts_json_signed(json, "peak_l1_bytes", figures->peak_l1_bytes);
    tts_json_signed(json, "peak_total_bytes", figures->peak_total_bytes);
    tts_json_number(json, "legacy_l1_peak_bytes", figures->legacy_l1_peak_bytes);
    tts_json_bool(json, "l1_is_whole_buffers", figures->l1_is_whole_buffers);
    tts_json_object_end(json);
    put_show_notes(show, json);
}

/* ---- health ---- */

static void show_json_health(const struct tts_show_facts *show, struct tts_json *json)
{
    struct tts_tracker_health health = show->sum->health;
    tts_json_object(json, "health");
    tts_json_number(json, "unseen_frees", health.unseen_frees);
    tts_json_number(json, "unknown_frees", health.unknown_frees);
    tts_json_number(json, "doubled", health.doubled);
    tts_json_number(json, "not_listed", health.unlisted);
    tts_json_number(json, "missed_events", show->missed);
    tts_json_number(json, "refused", show->refused);
    tts_json_text_or_null(json, "refused_reason", show->refusal);
    tts_json_object_end(json);
}

/* ---- the file ---- */

static void put_time(const struct tts_show_facts *show, const char *key, uint64_t time_ns,
                     struct tts_json *json)
{
    if (show->sum->last_ns > 0)
        put_seconds(json, key, tts_show_since_start(show, time_ns));
    else
        tts_json_null(json, key);
}

static void put_state(const struct tts_show_facts *show, struct tts_json *json)
{
    static const char *const states[] = {[TTS_SHOW_COMPLETE] = "complete",
                                         [TTS_SHOW_NOT_ENDED] = "not_ended",
                                         [TTS_SHOW_STOPPED] = "stopped",
                                         [TTS_SHOW_STATE_UNKNOWN] = NULL};
    enum tts_show_state state = show->state;
    const char *why = NULL;
    if (state == TTS_SHOW_STOPPED)
        why = show->stop_reason;
    else if (state == TTS_SHOW_STATE_UNKNOWN)
        why = "both stored copies of the recording's state are damaged";
    bool is_damaged = show->damage && state == TTS_SHOW_COMPLETE;
    tts_json_text_or_null(json, "state", is_damaged ? "damaged" : states[state]);
    tts_json_text_or_null(json, "state_reason", why);
}

static void put_recording(const struct tts_show_facts *show, struct tts_json *json)
{
    const struct tts_recfile_info *info = show->recording;
    const struct tts_rec_header *header = &info->header;
    tts_json_text(json, "kind", "recording");
    tts_json_bool(json, "packed", header->kind == TTS_REC_PACKED);
    tts_json_bool(json, "black_box", header->places > 0);
    put_state(show, json);
    tts_json_number(json, "dropped_events", info->state_is_known ? info->state.dropped : 0);
    tts_json_number(json, "bytes", info->file_bytes);
    tts_json_text(json, "program", header->program);
    tts_json_number(json, "pid", header->pid);
    tts_json_text(json, "writer", header->writer);
    put_seconds(json, "start_unix_seconds", header->start_realtime_ns);
    if (show->at == 0) {
        put_time(show, "seconds", show->sum->last_ns, json);
        put_time(show, "first_seconds", show->sum->first_ns, json);
    }
}

static void put_graph(const struct tts_show_facts *show, struct tts_json *json)
{
    const struct tts_graph_figures *figures = &show->graph;
    tts_json_text(json, "kind", "graph_trace");
    bool is_read = show->at == 0;
    if (is_read || show->damage)
        tts_json_text(json, "state", show->damage ? "damaged" : "complete");
    if (!is_read)
        return;
    tts_json_null(json, "seconds");
    tts_json_text(json, "seconds_reason", "a graph trace has no times");
    tts_json_number(json, "nodes", figures->nodes);
    tts_json_number(json, "functions", figures->functions);
    tts_json_number(json, "tensors", figures->tensors);
}

static void put_show_devices(const struct tts_show_facts *show, struct tts_json *json)
{
    tts_json_array(json, "devices");
    for (size_t i = 0; i < show->sum->whole->device_count; i++) {
        uint32_t id = show->sum->whole->devices[i].device, mesh;
        char name[TTS_DEVICENAME_MAX];
        tts_json_object(json, NULL);
        tts_json_number(json, "id", id);
        tts_json_text(json, "name", tts_devicename(id, name));
        bool has_mesh = tts_eventsummary_mesh_of(show->sum, id, &mesh);
        tts_json_number_or_null(json, "mesh", has_mesh, has_mesh ? mesh : 0);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_source(const struct tts_show_facts *show, struct tts_json *json)
{
    tts_json_text(json, "file", show->path);
    tts_json_object(json, "source");
    if (show->recording)
        put_recording(show, json);
    else
        put_graph(show, json);
    if (show->at == 0) { /* with --at, only a part of the file was read */
        tts_json_number(json, "events", show->sum->input.events);
        tts_json_number(json, "missing_events", show->gap_events);
        tts_json_number(json, "first_event", show->sum->first_seq + 1);
        tts_json_number(json, "buffers_before", show->sum->restored_buffers);
        tts_json_number(json, "buffers_left_out", show->left_buffers);
        tts_json_number(json, "bytes_left_out", show->left_bytes);
    }
    tts_json_text_or_null(json, "damage", show->damage);
    tts_json_object_end(json);
    tts_partial_json(show->missing, json);
    tts_json_bool(json, "at_least", show->is_at_least);
    put_show_devices(show, json);
}

/* ---- phases ---- */

static void put_l1(struct tts_json *json, const struct tts_summary_phase *phase)
{
    const struct tts_amount figures[TTS_RUN_FIGURES] = {
        [TTS_RUN_L1_CB] = tts_amount_of(phase->peak_cb_bytes),
        [TTS_RUN_L1_BUFFER] = tts_amount_of(phase->peak_buffer_bytes),
        [TTS_RUN_L1_TOTAL] = tts_amount_of(phase->peak_total_bytes),
        [TTS_RUN_L1_CORE] = {phase->core_is_known, (int64_t)phase->core_bytes},
    };
    tts_phase_json_l1_begin(json, figures);
    if (phase->core_is_known)
        tts_json_bool(json, "true_core_peak_at_least", phase->core_is_at_least);
    else
        tts_json_text(json, "true_core_peak_reason", "nothing was on a core");
    tts_json_object_end(json);
}

static void put_show_phase(const struct tts_show_facts *show,
                           const struct tts_summary_phase *phase, struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_json_text(json, "name", tts_eventsummary_phase_name(show->sum, phase));
    tts_json_number(json, "capture", phase->capture);
    tts_json_bool(json, "partial", phase->is_partial);
    tts_json_number(json, "first_event", phase->first_seq + 1);
    tts_json_number(json, "last_event", phase->last_seq);
    tts_phase_json_dram(json, &phase->dram);
    if (tts_show_cores_reason(show))
        tts_json_null(json, "l1");
    else
        put_l1(json, phase);
    tts_json_object_end(json);
}

static void put_show_phases(const struct tts_show_facts *show, struct tts_json *json)
{
    tts_json_array(json, "phases");
    for (size_t i = 0; i < show->sum->phase_count; i++)
        put_show_phase(show, &show->sum->phases[i], json);
    tts_json_array_end(json);
    tts_json_number(json, "phases_not_listed", show->sum->phases_unlisted);
    tts_json_text_or_null(json, "l1_reason", tts_show_cores_reason(show));
    if (tts_show_has_samples_only(show)) {
        tts_json_null(json, "overall_dram_peak_bytes");
        tts_json_null(json, "final_dram_bytes");
        return;
    }
    tts_json_signed(json, "overall_dram_peak_bytes", tts_eventsummary_dram_peak(show->sum));
    tts_json_signed(json, "final_dram_bytes", tts_eventsummary_dram_final(show->sum));
}

/* ---- the peak, operations ---- */

static void put_show_peak(const struct tts_show_facts *show, struct tts_json *json)
{
    struct tts_peak_info info = show->sum->peak_info;
    const struct tts_summary_phase *phase =
        info.is_start ? NULL : tts_eventsummary_phase_of(show->sum, info.seq);
    if (tts_show_has_samples_only(show)) {
        tts_json_null(json, "peak");
        return;
    }
    tts_json_object(json, "peak");
    if (tts_show_is_unknown(show, info.pool)) {
        tts_json_null(json, "event");
        show_json_unknown(info.pool, json);
        tts_json_object_end(json);
        return;
    }
    put_event_fields(show, info.seq, info.has_time, info.time_ns, json);
    tts_json_bool(json, "before_first_event", info.is_start || info.level.bytes == 0);
    put_op_fields(show, info.op, json);
    tts_json_text_or_null(json, "phase",
                          phase ? tts_eventsummary_phase_name(show->sum, phase) : NULL);
    show_json_moment(show, &show->sum->peak_moment, json);
    tts_json_object_end(json);
}

static void put_show_ops(const struct tts_show_facts *show, struct tts_json *json)
{
    const struct tts_op_row *rows = show->sum->top_ops.items;
    tts_json_array(json, "ops");
    for (size_t i = 0; i < show->sum->top_ops.count; i++) {
        tts_json_object(json, NULL);
        put_op_fields(show, rows[i].op, json);
        tts_json_number(json, "allocations", rows[i].allocations);
        tts_json_number(json, "allocated_bytes", rows[i].allocated_bytes);
        tts_json_number(json, "final_bytes", rows[i].live_bytes);
        tts_json_number(json, "final_buffers", rows[i].live_buffers);
        tts_json_number(json, "peak_bytes", rows[i].moment_bytes);
        tts_json_number(json, "peak_buffers", rows[i].moment_buffers);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_number(json, "ops_not_listed", show->sum->op_count - show->sum->top_ops.count);
}

/* ---- pressure, leaks, phases of traces ---- */

static void put_show_pressure(const struct tts_show_facts *show, struct tts_json *json)
{
    const struct tts_peak_info *info = &show->sum->peak_info;
    uint64_t capacity = tts_show_capacity(show, info->pool);
    uint64_t bytes = info->level.bytes > 0 ? (uint64_t)info->level.bytes : 0;
    if (capacity == 0 || tts_show_is_unknown(show, info->pool)) {
        tts_json_null(json, "pressure");
        return;
    }
    tts_json_object(json, "pressure");
    tts_json_text(json, "pool", tts_pool_name(info->pool));
    tts_json_number(json, "capacity_bytes", capacity);
    if (bytes <= UINT64_MAX / 10 && capacity <= UINT64_MAX / 10)
        tts_json_ratio(json, "usage_ratio", bytes, capacity);
    else
        tts_json_null(json, "usage_ratio");
    tts_json_bool(json, "critical", tts_pressure_is_critical(bytes, capacity));
    tts_json_object_end(json);
}

static void put_show_leak(const struct tts_show_facts *show, const struct tts_leakowner *owner,
                          struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_json_text(json, "pool", tts_pool_name(owner->pool));
    tts_json_number(json, "device", owner->device);
    put_op_fields(show, owner->op, json);
    tts_json_number(json, "size_bytes", owner->size_bytes);
    tts_json_number(json, "buffers", owner->buffers);
    tts_json_number_or_null(json, "periods", owner->periods > 0, owner->periods);
    if (owner->periods > 0)
        tts_json_ratio(json, "buffers_per_period", owner->buffers, owner->periods);
    else
        tts_json_null(json, "buffers_per_period");
    bool has_time = owner->until_ns > 0;
    if (has_time) {
        put_seconds(json, "since_seconds", tts_show_since_start(show, owner->since_ns));
        put_seconds(json, "until_seconds", tts_show_since_start(show, owner->until_ns));
    } else {
        tts_json_null(json, "since_seconds");
        tts_json_null(json, "until_seconds");
    }
    tts_json_bool(json, "after_steady", owner->is_after_steady);
    tts_json_object_end(json);
}

static void put_show_leaks(const struct tts_show_facts *show, struct tts_json *json)
{
    const struct tts_leakowners *leaks = &show->sum->leaks;
    if (!show->has_leaks) {
        tts_json_null(json, "leaks");
        tts_json_null(json, "leaks_not_listed");
        tts_json_null(json, "kinds_not_judged");
        return;
    }
    tts_json_array(json, "leaks");
    for (size_t i = 0; i < leaks->count; i++)
        put_show_leak(show, &leaks->owners[i], json);
    tts_json_array_end(json);
    tts_json_number(json, "leaks_not_listed", leaks->unlisted);
    tts_json_number(json, "kinds_not_judged", leaks->kinds_left_out);
}

static void put_show_trace_phases(const struct tts_show_facts *show, struct tts_json *json)
{
    if (!show->has_trace_phases) {
        tts_json_null(json, "trace_phases");
        return;
    }
    tts_json_array(json, "trace_phases");
    if (show->sum->traces > 0)
        tts_phases_json(&show->sum->trace_phases, "since_seconds", show->start_ns, json);
    tts_json_array_end(json);
}

/* ---- one moment ---- */

/* Writes the fields "bytes" and "buffers". */
static void put_level_fields(const struct tts_show_facts *show, enum tts_pool pool,
                             const struct tts_level *level, struct tts_json *json)
{
    if (tts_show_is_unknown(show, pool)) {
        tts_json_null(json, "bytes");
        tts_json_null(json, "buffers");
    } else {
        tts_json_signed(json, "bytes", level->bytes);
        tts_json_number(json, "buffers", level->buffers);
    }
}

static void put_show_level(const struct tts_show_facts *show, enum tts_pool pool,
                           struct tts_json *json)
{
    struct tts_level level = tts_level_listed(tts_levels_of(&show->sum->levels, pool));
    tts_json_object(json, tts_pool_name(pool));
    put_level_fields(show, pool, &level, json);
    tts_json_number_or_null(json, "device", level.has_device && level.buffers > 0,
                            level.device);
    tts_json_object_end(json);
}

static void put_at(const struct tts_show_facts *show, struct tts_json *json)
{
    const struct tts_summary_event *event = &show->sum->event;
    tts_json_object(json, "at");
    put_event_fields(show, event->seq, event->has_time, event->time_ns, json);
    tts_json_text(json, "kind", tts_event_kind_name(event->kind));
    put_op_fields(show, tts_summary_op_name(&event->op), json);
    tts_json_object(json, "pools");
    for (int pool = 0; pool < TTS_POOLS; pool++)
        put_show_level(show, (enum tts_pool)pool, json);
    tts_json_object_end(json);
    if (tts_show_is_unknown(show, show->pool))
        show_json_unknown(show->pool, json);
    else
        show_json_moment(show, &show->sum->at_moment, json);
    tts_json_object_end(json);
    show_json_core(show, &show->sum->at_core, json);
}

void tts_show_json(const struct tts_show_facts *show, struct tts_json *json)
{
    bool is_at = show->at > 0;
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", is_at ? "ttscope.show.at" : "ttscope.show");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    put_source(show, json);
    if (is_at) {
        put_at(show, json);
    } else {
        put_show_phases(show, json);
        put_show_peak(show, json);
        put_show_pressure(show, json);
        put_show_leaks(show, json);
        put_show_trace_phases(show, json);
        tts_showgrowing_json(show, json);
        put_show_ops(show, json);
        show_json_core(show, &show->sum->whole->usage.core, json);
        show_json_failures(show, json);
        show_json_graph(show, json);
        tts_showsamples_json(show->samples, show->start_ns, json);
    }
    show_json_health(show, json);
    tts_json_object_end(json);
}

/* ---- a recording that is still being written ---- */

void tts_show_now_json(const struct tts_show_facts *show, const struct tts_show_now *now,
                       struct tts_json *json)
{
    const struct tts_peak_info *peak = &now->peak;
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.show.follow");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", show->path);
    tts_json_number(json, "pid", show->recording->header.pid);
    put_event_fields(show, show->sum->event.seq, show->sum->last_ns > 0, show->sum->last_ns,
                     json);
    tts_json_object(json, "pools");
    for (int i = 0; i < TTS_POOLS; i++) {
        enum tts_pool pool = (enum tts_pool)i;
        struct tts_level level = tts_levels_of(&show->sum->levels, pool);
        tts_json_object(json, tts_pool_name(pool));
        put_level_fields(show, pool, &level, json);
        tts_json_object_end(json);
    }
    tts_json_object_end(json);
    tts_json_object(json, "peak");
    tts_json_text(json, "pool", tts_pool_name(peak->pool));
    put_event_fields(show, peak->seq, peak->has_time, peak->time_ns, json);
    put_op_fields(show, peak->op, json);
    if (tts_show_has_samples_only(show))
        tts_json_null(json, "bytes");
    else
        tts_json_signed(json, "bytes", peak->level.bytes);
    tts_json_object_end(json);
    tts_json_number(json, "phases", show->sum->phase_count + show->sum->phases_unlisted);
    tts_json_number(json, "failures", show->sum->failure_count + show->sum->failures_unlisted);
    tts_json_array(json, "by_op");
    for (size_t i = 0; i < now->op_count; i++)
        put_by_op(show, now->ops[i].op, now->ops[i].live_bytes, now->ops[i].live_buffers, json);
    tts_json_array_end(json);
    tts_json_object_end(json);
}
