/* show_json.c: all that was read, for programs (docs/design/show-json.md). */
#include "cli/show_parts.h"
#include "model/devicename.h"
#include "views/phase_json.h"

static void put_seconds(struct tts_json *json, const char *key, uint64_t ns)
{
    tts_json_ratio(json, key, ns, 1000000000);
}

void tts_show_json_event(const struct tts_show *show, uint64_t seq, bool has_time,
                         uint64_t time_ns, struct tts_json *json)
{
    tts_json_number(json, "event", seq);
    if (has_time)
        put_seconds(json, "seconds", tts_show_since_start(show, time_ns));
    else
        tts_json_null(json, "seconds");
}

/* ---- the file ---- */

static void put_time(const struct tts_show *show, const char *key, uint64_t time_ns,
                     struct tts_json *json)
{
    if (show->sum.last_ns > 0)
        put_seconds(json, key, tts_show_since_start(show, time_ns));
    else
        tts_json_null(json, key);
}

static void put_state(const struct tts_show *show, const struct tts_recfile_info *info,
                      struct tts_json *json)
{
    static const char *const states[] = {[TTS_SHOW_COMPLETE] = "complete",
                                         [TTS_SHOW_NOT_ENDED] = "not_ended",
                                         [TTS_SHOW_STOPPED] = "stopped",
                                         [TTS_SHOW_STATE_UNKNOWN] = NULL};
    enum tts_show_state state = tts_show_state(show);
    char reason[TTS_PARTIAL_REASON_MAX];
    const char *why = NULL;
    if (state == TTS_SHOW_STOPPED)
        why = tts_partial_stop_text(&info->state, reason);
    else if (state == TTS_SHOW_STATE_UNKNOWN)
        why = "both copies of it are damaged";
    bool is_damaged = tts_show_is_damaged(show) && state == TTS_SHOW_COMPLETE;
    tts_json_text_or_null(json, "state", is_damaged ? "damaged" : states[state]);
    tts_json_text_or_null(json, "state_reason", why);
}

static void put_recording(const struct tts_show *show, const struct tts_recfile_info *info,
                          struct tts_json *json)
{
    const struct tts_rec_header *header = &info->header;
    tts_json_text(json, "kind", "recording");
    tts_json_bool(json, "packed", header->kind == TTS_REC_PACKED);
    tts_json_bool(json, "black_box", header->places > 0);
    put_state(show, info, json);
    tts_json_number(json, "dropped_events", info->state_is_known ? info->state.dropped : 0);
    tts_json_number(json, "bytes", info->file_bytes);
    tts_json_text(json, "program", header->program);
    tts_json_number(json, "pid", header->pid);
    tts_json_text(json, "writer", header->writer);
    put_seconds(json, "start_unix_seconds", header->start_realtime_ns);
    if (show->options.at == 0) {
        put_time(show, "seconds", show->sum.last_ns, json);
        put_time(show, "first_seconds", show->sum.first_ns, json);
    }
}

static void put_graph(const struct tts_show *show, struct tts_json *json)
{
    struct tts_graph_figures figures = tts_graph_figures(tts_eventfile_graph(show->file));
    tts_json_text(json, "kind", "graph_trace");
    bool is_read = show->options.at == 0;
    if (is_read || tts_show_is_damaged(show))
        tts_json_text(json, "state", tts_show_is_damaged(show) ? "damaged" : "complete");
    if (!is_read)
        return;
    tts_json_null(json, "seconds");
    tts_json_text(json, "seconds_reason", "a graph trace has no times");
    tts_json_number(json, "nodes", figures.nodes);
    tts_json_number(json, "functions", figures.functions);
    tts_json_number(json, "tensors", figures.tensors);
}

static void put_devices(const struct tts_show *show, struct tts_json *json)
{
    tts_json_array(json, "devices");
    for (size_t i = 0; i < show->sum.whole->device_count; i++) {
        uint32_t id = show->sum.whole->devices[i].device, mesh;
        char name[TTS_DEVICENAME_MAX];
        tts_json_object(json, NULL);
        tts_json_number(json, "id", id);
        tts_json_text(json, "name", tts_devicename(id, name));
        if (tts_eventsummary_mesh_of(&show->sum, id, &mesh))
            tts_json_number(json, "mesh", mesh);
        else
            tts_json_null(json, "mesh");
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_source(const struct tts_show *show, struct tts_json *json)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    tts_json_text(json, "file", show->options.path);
    tts_json_object(json, "source");
    if (recording)
        put_recording(show, tts_recfile_info(recording), json);
    else
        put_graph(show, json);
    if (show->options.at == 0) { /* else it was not read from its begin to its end */
        tts_json_number(json, "events", show->sum.input.events);
        tts_json_number(json, "missing_events", tts_eventfile_gaps(show->file)->events);
        tts_json_number(json, "first_event", show->sum.first_seq + 1);
        tts_json_number(json, "buffers_before", show->sum.restored_buffers);
        tts_json_number(json, "buffers_left_out", show->partial.left_buffers);
        tts_json_number(json, "bytes_left_out", show->partial.left_bytes);
    }
    tts_json_text_or_null(json, "damage", tts_show_damage(show));
    tts_json_object_end(json);
    tts_partial_json(&show->missing, json);
    tts_json_bool(json, "at_least", tts_show_is_at_least(show));
    put_devices(show, json);
}

/* ---- phases ---- */

static void put_core_bytes(struct tts_json *json, const struct tts_summary_phase *phase)
{
    if (phase->core_is_known) {
        tts_json_number(json, "true_core_peak_bytes", phase->core_bytes);
        tts_json_bool(json, "true_core_peak_at_least", phase->core_is_at_least);
        return;
    }
    tts_json_null(json, "true_core_peak_bytes");
    tts_json_text(json, "true_core_peak_reason", "nothing was on a core");
}

static void put_l1(struct tts_json *json, const struct tts_summary_phase *phase)
{
    tts_json_object(json, "l1");
    tts_json_signed(json, "peak_cb_bytes", phase->peak_cb_bytes);
    tts_json_signed(json, "peak_buffer_bytes", phase->peak_buffer_bytes);
    tts_json_signed(json, "peak_total_bytes", phase->peak_total_bytes);
    put_core_bytes(json, phase);
    tts_json_object_end(json);
}

static void put_phase(const struct tts_show *show, const struct tts_summary_phase *phase,
                      struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_json_text(json, "name", tts_eventsummary_phase_name(&show->sum, phase));
    tts_json_number(json, "capture", phase->capture);
    tts_json_bool(json, "partial", phase->is_partial);
    tts_json_number(json, "first_event", phase->first_seq + 1);
    tts_json_number(json, "last_event", phase->last_seq);
    tts_phase_json_dram(json, &phase->dram);
    if (tts_show_is_unknown(show, TTS_POOL_L1))
        tts_json_null(json, "l1");
    else
        put_l1(json, phase);
    tts_json_object_end(json);
}

static void put_phases(const struct tts_show *show, struct tts_json *json)
{
    tts_json_array(json, "phases");
    for (size_t i = 0; i < show->sum.phase_count; i++)
        put_phase(show, &show->sum.phases[i], json);
    tts_json_array_end(json);
    tts_json_number(json, "phases_not_listed", show->sum.phases_unlisted);
    tts_json_text_or_null(json, "l1_reason",
                          tts_show_is_unknown(show, TTS_POOL_L1) ? TTS_SHOW_L1_REASON : NULL);
    tts_json_signed(json, "overall_dram_peak_bytes", tts_eventsummary_dram_peak(&show->sum));
    tts_json_signed(json, "final_dram_bytes", tts_eventsummary_dram_final(&show->sum));
}

/* ---- the peak, operations ---- */

static void put_peak(const struct tts_show *show, struct tts_json *json)
{
    struct tts_peak_info info = show->sum.peak_info;
    const struct tts_summary_phase *phase =
        info.is_start ? NULL : tts_eventsummary_phase_of(&show->sum, info.seq);
    tts_json_object(json, "peak");
    if (tts_show_is_unknown(show, info.pool)) {
        tts_json_null(json, "event");
        tts_show_json_unknown(info.pool, json);
        tts_json_object_end(json);
        return;
    }
    tts_show_json_event(show, info.seq, info.has_time, info.time_ns, json);
    tts_json_bool(json, "before_first_event", info.is_start || info.level.bytes == 0);
    tts_show_json_op(show, info.op, json);
    tts_json_text_or_null(json, "phase",
                          phase ? tts_eventsummary_phase_name(&show->sum, phase) : NULL);
    tts_show_json_moment(show, &show->sum.peak_moment, json);
    tts_json_object_end(json);
}

static void put_ops(const struct tts_show *show, struct tts_json *json)
{
    const struct tts_op_row *rows = show->sum.top_ops.items;
    tts_json_array(json, "ops");
    for (size_t i = 0; i < show->sum.top_ops.count; i++) {
        tts_json_object(json, NULL);
        tts_show_json_op(show, rows[i].op, json);
        tts_json_number(json, "allocations", rows[i].allocations);
        tts_json_number(json, "allocated_bytes", rows[i].allocated_bytes);
        tts_json_number(json, "final_bytes", rows[i].live_bytes);
        tts_json_number(json, "final_buffers", rows[i].live_buffers);
        tts_json_number(json, "peak_bytes", rows[i].moment_bytes);
        tts_json_number(json, "peak_buffers", rows[i].moment_buffers);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_number(json, "ops_not_listed", show->sum.op_count - show->sum.top_ops.count);
}

/* ---- one moment ---- */

static void put_level(const struct tts_show *show, enum tts_pool pool, struct tts_json *json)
{
    struct tts_level level = tts_level_listed(tts_levels_of(&show->sum.levels, pool));
    tts_json_object(json, tts_pool_name(pool));
    if (tts_show_is_unknown(show, pool)) {
        tts_json_null(json, "bytes");
        tts_json_null(json, "buffers");
    } else {
        tts_json_signed(json, "bytes", level.bytes);
        tts_json_number(json, "buffers", level.buffers);
    }
    if (level.has_device && level.buffers > 0)
        tts_json_number(json, "device", level.device);
    else
        tts_json_null(json, "device");
    tts_json_object_end(json);
}

static void put_at(const struct tts_show *show, struct tts_json *json)
{
    const struct tts_summary_event *event = &show->sum.event;
    tts_json_object(json, "at");
    tts_show_json_event(show, event->seq, event->has_time, event->time_ns, json);
    tts_json_text(json, "kind", tts_event_kind_name(event->kind));
    tts_show_json_op(show, tts_summary_op_name(&event->op), json);
    tts_json_object(json, "pools");
    for (int pool = 0; pool < TTS_POOLS; pool++)
        put_level(show, (enum tts_pool)pool, json);
    tts_json_object_end(json);
    if (tts_show_is_unknown(show, show->options.pool))
        tts_show_json_unknown(show->options.pool, json);
    else
        tts_show_json_moment(show, &show->sum.at_moment, json);
    tts_json_object_end(json);
    tts_show_json_core(show, &show->sum.at_core, json);
}

void tts_show_json(const struct tts_show *show, struct tts_json *json)
{
    bool is_at = show->options.at > 0;
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", is_at ? "ttscope.show.at" : "ttscope.show");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    put_source(show, json);
    if (is_at) {
        put_at(show, json);
    } else {
        put_phases(show, json);
        put_peak(show, json);
        put_ops(show, json);
        tts_show_json_core(show, &show->sum.whole->usage.core, json);
        tts_show_json_failures(show, json);
        tts_show_json_graph(show, json);
    }
    tts_show_json_health(show, json);
    tts_json_object_end(json);
}
