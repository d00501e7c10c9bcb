#include "views/show/show_view.h"

#include "analysis/questions/pressure.h"
#include "base/number.h"
#include "model/devicename.h"
#include "views/live/phases_view.h"
#include "views/percent.h"
#include "views/safe_text.h"
#include "views/say.h"
#include "views/show/show_growing.h"
#include "views/show/show_samples.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

enum {
    LABEL = 10,
    DEVICES_SHOWN = 16,
    CHIPS_SHOWN = 8,
    PHASES_WHOLE = 40,
    PHASES_EACH = 20,
    NAME_COLUMNS = 80,
    NAME_BYTES = 320,
    HEADLINE_BYTES = 2048,
};

/* ---- names and times ---- */

/* Prints a foreign name with at most `columns` columns. With `pad`, adds blanks up to
 * `columns`. */
static void put_show_name(FILE *out, const char *name, int columns, bool pad)
{
    char text[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    assert(columns > 0 && columns <= NAME_COLUMNS);
    int taken = (int)tts_safe_text(text, sizeof text, name, (size_t)columns);
    fprintf(out, "%s%*s", text, pad ? columns - taken : 0, "");
}

/* Prints the path of an operation. Of a path that is too long, prints the end. NULL means
 * outside any operation. */
static void put_show_op(const struct tts_show_facts *show, FILE *out, const char *op,
                        int columns)
{
    char path[TTS_SUMMARY_PATH_BYTES], text[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    assert(columns > 0 && columns <= NAME_COLUMNS);
    tts_safe_text_end(text, sizeof text,
                      op ? tts_eventsummary_path(show->sum, op, path)
                         : "(outside any operation)",
                      (size_t)columns);
    fputs(text, out);
}

/* Prints ", 1.234567 s, in matmul": the time if it is known, the operation if there is one. */
static void put_when(const struct tts_show_facts *show, bool has_time, uint64_t time_ns,
                     const char *op, FILE *out)
{
    uint64_t ns = tts_show_since_start(show, time_ns);
    if (has_time)
        fprintf(out, ", %" PRIu64 ".%06" PRIu64 " s", ns / 1000000000, ns / 1000 % 1000000);
    if (op && op[0]) {
        fputs(", in ", out);
        put_show_op(show, out, op, TTS_OP_NAME_MAX);
    }
}

/* ---- buffers ---- */

static void print_amount(FILE *out, int64_t bytes)
{
    char mb[TTS_NUMBER_MB_MAX];
    fprintf(out, "  %14" PRId64 " %11s", bytes, tts_number_format_mb(mb, bytes, false));
}

/* Prints a share in percent, or "-" if the sums are too large for tts_percent_format(). Foreign
 * sizes can be arbitrarily large. */
static void put_share(FILE *out, uint64_t part, uint64_t whole)
{
    char text[TTS_PERCENT_MAX];
    bool can = part <= whole && whole < UINT64_C(1) << 53;
    fprintf(out, " %8s", can ? tts_percent_format(text, part, whole) : "-");
}

static void print_by_op(const struct tts_show_facts *show,
                        const struct tts_summary_moment *moment, FILE *out)
{
    const struct tts_op_row *rows = moment->by_op.items;
    uint64_t bytes = moment->bytes, buffers = moment->buffers;
    fprintf(out, "  %14s %11s %8s %9s  operation\n", "bytes", "MB", "share", "buffers");
    for (size_t i = 0; i < moment->by_op.count; i++) {
        print_amount(out, (int64_t)rows[i].moment_bytes);
        put_share(out, rows[i].moment_bytes, moment->bytes);
        fprintf(out, " %9" PRIu64 "  ", rows[i].moment_buffers);
        put_show_op(show, out, rows[i].op, 30);
        fputc('\n', out);
        bytes -= rows[i].moment_bytes;
        buffers -= rows[i].moment_buffers;
    }
    if (moment->op_count > moment->by_op.count) {
        print_amount(out, (int64_t)bytes);
        put_share(out, bytes, moment->bytes);
        fprintf(out, " %9" PRIu64 "  (%zu more)\n", buffers,
                moment->op_count - moment->by_op.count);
    }
    if (moment->level.loose_bytes != 0) {
        print_amount(out, moment->level.loose_bytes);
        fprintf(out, "%20s(%s)\n", "",
                moment->level.loose_bytes < 0 ? "frees of older buffers" : "not listed");
    }
}

static void print_show_largest(const struct tts_show_facts *show,
                               const struct tts_summary_moment *moment, FILE *out)
{
    const struct tts_live *live = moment->largest.items;
    uint64_t bytes = moment->bytes;
    fprintf(out, "  %14s %18s %6s %10s  allocated by\n", "largest, bytes", "buffer", "device",
            "at event");
    for (size_t i = 0; i < moment->largest.count; i++) {
        char name[TTS_DEVICENAME_MAX];
        fprintf(out, "  %14" PRIu64 " %18" PRIu64 " %6s %10" PRIu64 "  ",
                tts_live_bytes(&live[i]), live[i].id,
                tts_devicename_short(live[i].device, name), live[i].seq);
        put_show_op(show, out, live[i].op, 25);
        fputc('\n', out);
        bytes -= tts_live_bytes(&live[i]);
    }
    if (moment->buffers > moment->largest.count)
        fprintf(out, "  %14" PRIu64 " %18s (%" PRIu64 " more, --top 0 shows them)\n", bytes, "",
                moment->buffers - moment->largest.count);
}

static void show_text_moment(const struct tts_show_facts *show,
                             const struct tts_summary_moment *moment, FILE *out)
{
    if (moment->buffers > 0 || moment->level.loose_bytes != 0)
        print_by_op(show, moment, out);
    if (moment->buffers > 0)
        print_show_largest(show, moment, out);
}

/* ---- the fullest core ---- */

static const char *show_part_name(const struct tts_core_part *part)
{
    switch ((int)part->kind) {
    case TTS_EVENT_CB:
        return "circular buffer";
    case TTS_EVENT_DFB:
        return "dataflow buffer";
    case TTS_EVENT_SCRATCHPAD:
        return "scratchpad";
    default:
        return part->pool == TTS_POOL_L1_SMALL ? "L1_SMALL buffer" : "L1 buffer";
    }
}

static void print_show_part(const struct tts_show_facts *show, const struct tts_core_part *part,
                            FILE *out)
{
    fprintf(out, "  %14" PRIu64 "  %s", part->bytes, show_part_name(part));
    if (part->kind == TTS_EVENT_ALLOC)
        fprintf(out, " %" PRIu64, part->id);
    if (part->op) {
        fputs(" of ", out);
        put_show_op(show, out, part->op, 30);
    }
    fputc('\n', out);
}

static void show_text_core(const struct tts_show_facts *show, const struct tts_core_peak *core,
                           FILE *out)
{
    const char *reason = tts_show_cores_reason(show);
    if (reason) {
        fprintf(out, "fullest core: unknown (%s)\n\n", reason);
        return;
    }
    if (!core->known) {
        fputs("fullest core: none (no buffers were on a core)\n\n", out);
        return;
    }
    char name[TTS_DEVICENAME_MAX];
    fprintf(out, "fullest core: %s%" PRIu64 " B on core (%u, %u) of %s\n",
            core->at_least ? "at least " : "", core->bytes, core->core.x, core->core.y,
            tts_devicename(core->device, name));
    fprintf(out, "  at event %" PRIu64, core->seq);
    if (core->op) {
        fputs(", in ", out);
        put_show_op(show, out, core->op, TTS_OP_NAME_MAX);
    }
    fprintf(out,
            "\n  circular buffers %" PRIu64 ", dataflow buffers %" PRIu64
            ", scratchpads %" PRIu64 ",\n  L1 buffers %" PRIu64 ", L1_SMALL buffers %" PRIu64
            "\n",
            core->cb_bytes, core->dfb_bytes, core->scratchpad_bytes, core->l1_bytes,
            core->l1_small_bytes);
    for (size_t i = 0; i < core->part_count; i++)
        print_show_part(show, &core->parts[i], out);
    if (core->unlisted > 0)
        fprintf(out, "  %14" PRIu64 "  in %" PRIu64 " more\n", core->unlisted_bytes,
                core->unlisted);
    fputc('\n', out);
}

/* ---- failures ---- */

static void print_show_failure(const struct tts_show_facts *show,
                               const struct tts_summary_failure *failure, FILE *out)
{
    char text[TTS_FAILURE_TEXT_MAX], bytes[TTS_NUMBER_BYTES_MAX];
    uint64_t live = (uint64_t)failure->level.bytes;
    fprintf(out, "  event %" PRIu64, failure->seq);
    put_when(show, failure->has_time, failure->time_ns, tts_summary_op_name(&failure->op), out);
    char name[TTS_DEVICENAME_MAX];
    fprintf(out, ", %s\n", tts_devicename(failure->device, name));
    tts_say_sentence(out, "    ", tts_failure_text(&failure->failure, text));
    if (tts_failure_deficit_is_known(&failure->failure))
        fprintf(out, "    missing: %" PRIu64 " B%s\n", tts_failure_deficit(&failure->failure),
                failure->failure.kind == TTS_FAILURE_SPACE ? " in each bank" : "");
    else
        fputs("    missing: unknown\n", out);
    fprintf(out, "    in use in %s of the device: %" PRIu64 " buffer%s, %" PRIu64 " B (%s)\n",
            tts_pool_name(failure->failure.pool), failure->level.buffers,
            failure->level.buffers == 1 ? "" : "s", live, tts_number_format_bytes(bytes, live));
}

static void show_text_failures(const struct tts_show_facts *show, FILE *out)
{
    uint64_t count = show->sum->failure_count + show->sum->failures_unlisted;
    size_t shown = show->sum->failure_count;
    if (count == 0)
        return;
    if (show->top > 0 && shown > show->top)
        shown = show->top;
    fprintf(out, "refused requests: %" PRIu64 "\n", count);
    for (size_t i = 0; i < shown; i++) {
        print_show_failure(show, &show->sum->failures[i], out);
        if (i == 0)
            show_text_moment(show, &show->sum->failure_moment, out);
    }
    if (count > shown)
        fprintf(out, "  %" PRIu64 " more\n", count - shown);
    fputc('\n', out);
}

static void put_label(FILE *out, const char *label)
{
    fprintf(out, "  %-*s ", LABEL, label);
}

/* ---- devices ---- */

/* Prints the chips of a mesh: " (a mesh, chips: 0, 1)". A mesh that has a name is not called a
 * mesh again: " (chips: 0, 1)". */
static void print_chips(const struct tts_show_facts *show, uint32_t id, FILE *out)
{
    uint32_t mesh, count = 0;
    for (uint32_t i = 0; i < show->sum->levels.device_count; i++) {
        uint32_t chip = show->sum->levels.devices[i].id;
        if (!tts_eventsummary_mesh_of(show->sum, chip, &mesh) || mesh != id)
            continue;
        if (count < CHIPS_SHOWN)
            fprintf(out, "%s%" PRIu32,
                    count > 0             ? ", "
                    : tts_mesh_is_one(id) ? " (chips: "
                                          : " (a mesh, chips: ",
                    chip);
        count++;
    }
    if (count > CHIPS_SHOWN)
        fprintf(out, ", %" PRIu32 " more", count - CHIPS_SHOWN);
    if (count > 0)
        fputc(')', out);
}

static void print_devices(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_phase *whole = show->sum->whole;
    uint32_t mesh;
    size_t shown = 0, count = 0, meshes = 0;
    for (size_t i = 0; i < whole->device_count; i++) {
        count += !tts_eventsummary_mesh_of(show->sum, whole->devices[i].device, &mesh);
        meshes += tts_mesh_is_one(whole->devices[i].device);
    }
    put_label(out, "devices");
    if (count == 0) {
        fputs("none\n", out);
        return;
    }
    fprintf(out, "%zu device%s%s%s ", count, tts_say_plural(count), meshes > 0 ? ":" : ", id",
            meshes > 0 ? "" : tts_say_plural(count));
    for (size_t i = 0; i < whole->device_count && shown < DEVICES_SHOWN; i++) {
        uint32_t id = whole->devices[i].device;
        if (tts_eventsummary_mesh_of(show->sum, id, &mesh))
            continue; /* a chip is listed with its mesh */
        char name[TTS_DEVICENAME_MAX];
        fprintf(out, "%s%s", shown++ > 0 ? ", " : "",
                meshes > 0 ? tts_devicename(id, name) : tts_devicename_short(id, name));
        print_chips(show, id, out);
    }
    if (count > shown)
        fprintf(out, ", %zu more", count - shown);
    fputc('\n', out);
}

/* ---- the file ---- */

static void put_events(const struct tts_show_facts *show, FILE *out)
{
    uint64_t ns = tts_show_since_start(show, show->sum->last_ns);
    if (show->sum->first_seq > 0)
        ns -= tts_show_since_start(show, show->sum->first_ns);
    put_label(out, "events");
    fprintf(out, "%" PRIu64, show->sum->input.events);
    if (show->sum->last_ns > 0)
        fprintf(out, " in %" PRIu64 ".%06" PRIu64 " s", ns / 1000000000, ns / 1000 % 1000000);
    if (show->sum->first_seq > 0)
        fprintf(out, ", from event %" PRIu64 " on", show->sum->first_seq + 1);
    fputc('\n', out);
    if (show->sum->event.seq == 0) {
        put_label(out, "");
        fputs("the program reported no events\n", out);
    }
    if (show->sum->restored_buffers == 0 && show->sum->first_seq == 0)
        return;
    put_label(out, "");
    fprintf(out,
            "the recording begins in the middle of the run, with %" PRIu64 " live buffer%s\n",
            show->sum->restored_buffers, tts_say_plural(show->sum->restored_buffers));
    if (show->left_buffers == 0)
        return;
    put_label(out, "");
    fprintf(out, "%" PRIu64 " more live buffer%s (%" PRIu64 " bytes) %s missing:\n",
            show->left_buffers, tts_say_plural(show->left_buffers), show->left_bytes,
            show->left_buffers == 1 ? "is" : "are");
    put_label(out, "");
    fputs("the black box had no room for all of them\n", out);
}

static void put_start(uint64_t realtime_ns, FILE *out)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    struct tm when;
    char text[40];
    if (!gmtime_r(&seconds, &when) ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &when) == 0)
        return;
    put_label(out, "started");
    fprintf(out, "%s UTC\n", text);
}

/* Returns true if nothing is missing. A refused request that ended the program does not count.
 */
static bool is_whole(const struct tts_show_facts *show)
{
    return show->missing->count == (show->missing->is_stopped ? 1 : 0);
}

/* Prints the state of a recording that the program ended, and what is missing in it. A black
 * box that lacks its first events is not complete; the line of the events says so. */
static void put_normal_end(const struct tts_show_facts *show, FILE *out)
{
    bool is_complete = is_whole(show) && show->sum->first_seq == 0;
    fputs(is_complete ? "complete" : "ended normally", out);
    if (show->damage)
        fputs(", but the file is damaged", out);
    else if (show->missed > 0)
        fprintf(out, ", but %" PRIu64 " event%s dropped", show->missed,
                show->missed == 1 ? " was" : "s were");
    fputc('\n', out);
}

static void print_state(const struct tts_show_facts *show, FILE *out)
{
    uint64_t dropped = show->recording->state.dropped;
    put_label(out, "state");
    switch (show->state) {
    case TTS_SHOW_COMPLETE:
        put_normal_end(show, out);
        break;
    case TTS_SHOW_NOT_ENDED:
        fputs("not ended: the program still runs, was killed,\n"
              "             or did not end the recording\n",
              out);
        if (show->at > 0 || !is_whole(show) || show->sum->event.seq == 0)
            break;
        put_label(out, "");
        fprintf(out, "all events from %" PRIu64 " to %" PRIu64 " are in the file\n",
                show->sum->first_seq + 1, show->sum->event.seq);
        break;
    case TTS_SHOW_STOPPED:
        fputs(show->stop_reason, out);
        if (dropped > 0)
            fprintf(out, "; %" PRIu64 " later event%s missing", dropped,
                    dropped == 1 ? " is" : "s are");
        fputc('\n', out);
        break;
    case TTS_SHOW_STATE_UNKNOWN:
        fputs("unknown: both stored copies of the state are damaged\n", out);
        break;
    }
}

static void print_recording(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_recfile_info *info = show->recording;
    char bytes[TTS_NUMBER_BYTES_MAX];
    fprintf(out, "recording (%s%s), %s\n",
            info->header.kind == TTS_REC_PACKED ? "packed" : "not packed",
            info->header.places > 0 ? ", black box" : "",
            tts_number_format_bytes(bytes, info->file_bytes));
    put_label(out, "program");
    put_show_name(out, info->header.program, 40, false);
    fprintf(out, ", pid %" PRIu64 ", by ttscope ", info->header.pid);
    put_show_name(out, info->header.writer, 12, false);
    fputc('\n', out);
    put_start(info->header.start_realtime_ns, out);
    print_state(show, out);
}

static void print_graph(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_graph_figures *graph = &show->graph;
    fputs("graph trace\n", out);
    if (show->at > 0)
        return; /* only a part of the trace was read */
    put_label(out, "nodes");
    fprintf(out, "%" PRIu64 " (function calls: %" PRIu64 ", tensors: %" PRIu64 ")\n",
            graph->nodes, graph->functions, graph->tensors);
}

static void put_damage(const struct tts_show_facts *show, FILE *out)
{
    put_label(out, "damaged");
    if (show->gaps > 0)
        fprintf(out, "%" PRIu64 " event%s missing; the first gap is after event %" PRIu64 "\n",
                show->gap_events, show->gap_events == 1 ? " is" : "s are",
                show->first_gap_after);
    if (show->gaps > 0 && show->is_cut)
        put_label(out, "");
    if (show->is_cut)
        fputs("only the events before the damage are shown\n", out);
}

static void show_text_file(const struct tts_show_facts *show, FILE *out)
{
    put_show_name(out, show->name, 60, false);
    fputs(": ", out);
    if (show->recording)
        print_recording(show, out);
    else
        print_graph(show, out);
    if (show->damage)
        put_damage(show, out);
    if (show->at == 0)
        put_events(show, out);
    print_devices(show, out);
    fputc('\n', out);
}

/* ---- the figures of the runtime ---- */

struct figure {
    const char *name;
    int64_t ours, theirs;
    const char *why;
};

static void put_figure(const struct figure *figure, bool *is_first, FILE *out)
{
    if (figure->ours == figure->theirs)
        return;
    if (*is_first)
        fprintf(out,
                "figures that differ from those of the runtime's own functions\n  %-16s %13s "
                "%13s\n",
                "bytes", "ttscope", "runtime");
    *is_first = false;
    fprintf(out, "  %-16s %13" PRId64 " %13" PRId64 "  %s\n", figure->name, figure->ours,
            figure->theirs, figure->why);
}

static void print_show_notes(const struct tts_show_facts *show, FILE *out)
{
    for (int kind = 0; kind < TTS_GRAPH_NOTES; kind++) {
        const struct tts_graph_note *note = show->notes[kind];
        if (note->count == 0)
            continue;
        fputs("note: ", out);
        put_show_name(out, note->text, NAME_COLUMNS - 6, false);
        if (note->count == 1)
            fprintf(out, "\n  at line %" PRIu64 "\n", note->line);
        else
            fprintf(out, "\n  %" PRIu64 " times, first at line %" PRIu64 "\n", note->count,
                    note->line);
    }
}

/* Returns the most likely reason why the runtime has a different figure. `also` is a pool that
 * the runtime adds to another pool. */
static const char *reason_of(const struct tts_show_facts *show, enum tts_pool also,
                             bool is_of_cores)
{
    if (show->sum->whole->usage.pools[also].allocations > 0)
        return also == TTS_POOL_TRACE ? "the runtime counts traces as DRAM"
                                      : "the runtime counts L1_SMALL as L1";
    if (is_of_cores && show->sum->whole->device_count > 1)
        return "the runtime adds up all devices";
    return "ttscope skips invalid nodes";
}

static void show_text_figures(const struct tts_show_facts *show, FILE *out)
{
    if (show->recording)
        return;
    const struct tts_graph_figures *theirs = &show->graph;
    const struct tts_usage *ours = &show->sum->whole->usage;
    const struct tts_pool_usage *dram = &ours->pools[TTS_POOL_DRAM];
    const char *traces = reason_of(show, TTS_POOL_TRACE, false);
    const char *small = reason_of(show, TTS_POOL_L1_SMALL, true);
    const char *chips = show->sum->whole->device_count > 1 ? "the runtime adds up all devices"
                                                           : "ttscope skips invalid nodes";
    const struct figure figures[] = {
        {"DRAM peak", dram->peak_bytes, theirs->dram_peak_bytes, traces},
        {"DRAM allocated", dram->allocated_bytes, theirs->dram_allocated_bytes, traces},
        {"DRAM freed", dram->freed_bytes, theirs->dram_freed_bytes, traces},
        {"peak CB", ours->peak_cb_bytes, theirs->peak_cb_bytes, chips},
        {"peak DFB", ours->peak_dfb_bytes, theirs->peak_dfb_bytes, chips},
        {"peak scratchpad", ours->peak_scratchpad_bytes, theirs->peak_scratchpad_bytes, chips},
        {"peak L1", ours->pools[TTS_POOL_L1].peak_bytes, theirs->peak_l1_bytes, small},
        {"peak total", ours->peak_total_bytes, theirs->peak_total_bytes, chips},
    };
    bool is_first = true;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        put_figure(&figures[i], &is_first, out);
    if (is_first)
        tts_say(out, 0,
                "the functions extract_dram_usage and extract_resource_usage_per_core of the "
                "runtime report the same DRAM and L1 figures");
    print_show_notes(show, out);
    fputc('\n', out);
}

/* ---- health ---- */

static void print_count(FILE *out, const char *what, uint64_t count, const char *means)
{
    if (count > 0)
        fprintf(out, "%s: %" PRIu64 "\n  %s\n", what, count, means);
}

static void show_text_health(const struct tts_show_facts *show, FILE *out)
{
    struct tts_tracker_health health = show->sum->health;
    print_count(
        out, "frees of buffers that were allocated before the recording began",
        health.unseen_frees,
        "their sizes are subtracted from the memory in use, which did not include them;\n"
        "  so the peaks may be too low");
    print_count(out, "frees of unknown buffers whose size is not recorded",
                health.unknown_frees, "these frees are not counted");
    print_count(out, "allocations of a buffer id that was still in use", health.doubled,
                "the earlier buffer with this id counts as freed");
    print_count(out, "buffers that could not be listed (the host had too little memory)",
                health.unlisted,
                "frees of these buffers may not be counted: the totals may be too high");
    print_count(out, "events dropped before they were recorded", show->missed,
                "the figures do not include these events; the real peaks may be higher");
    print_count(out, "records of captures and phases that contradict earlier records",
                show->refused, "these records were ignored; phases may be missing");
}

/* ---- phases ---- */

static void put_phase_name(const struct tts_show_facts *show,
                           const struct tts_summary_phase *phase, int columns, FILE *out)
{
    char name[NAME_BYTES];
    const char *own = tts_eventsummary_phase_name(show->sum, phase);
    if (show->sum->has_captures)
        snprintf(name, sizeof name, "%" PRIu32 ": %s", phase->capture, own);
    else
        snprintf(name, sizeof name, "%s", own);
    fputs(phase->is_partial ? "*" : " ", out);
    put_show_name(out, name, columns - 1, true);
}

static void print_mb(FILE *out, int64_t bytes, bool plus)
{
    char text[TTS_NUMBER_MB_MAX];
    fprintf(out, " %9s", tts_number_format_mb(text, bytes, plus));
}

static void put_dram(const struct tts_show_facts *show, const struct tts_summary_phase *phase,
                     FILE *out)
{
    const struct tts_pool_usage *dram = &phase->dram;
    uint64_t change = (uint64_t)dram->allocated_bytes - (uint64_t)dram->freed_bytes;
    put_phase_name(show, phase, 20, out);
    print_mb(out, dram->peak_bytes, false);
    print_mb(out, dram->allocated_bytes, false);
    print_mb(out, dram->freed_bytes, false);
    print_mb(out, (int64_t)change, true);
    print_mb(out, dram->cumulative_peak_bytes, false);
    print_mb(out, dram->cumulative_current_bytes, false);
    fputc('\n', out);
}

static void print_l1(const struct tts_show_facts *show, const struct tts_summary_phase *phase,
                     FILE *out)
{
    put_phase_name(show, phase, 36, out);
    fprintf(out, " %10" PRId64 " %10" PRId64 " %10" PRId64, phase->peak_cb_bytes,
            phase->peak_buffer_bytes, phase->peak_total_bytes);
    if (phase->core_is_known)
        fprintf(out, " %10" PRIu64 "%s\n", phase->core_bytes,
                phase->core_is_at_least ? "+" : "");
    else
        fprintf(out, " %10s\n", "-");
}

typedef void (*phase_fn)(const struct tts_show_facts *show,
                         const struct tts_summary_phase *phase, FILE *out);

/* Returns false for the phases in the middle of a long list, unless all are requested. */
static bool is_phase_shown(const struct tts_show_facts *show, size_t idx)
{
    size_t count = show->sum->phase_count;
    return count <= PHASES_WHOLE || show->lists_all_phases || idx < PHASES_EACH ||
           idx >= count - PHASES_EACH;
}

static void put_rows(const struct tts_show_facts *show, phase_fn put, FILE *out)
{
    size_t count = show->sum->phase_count;
    for (size_t i = 0; i < count; i++) {
        if (!is_phase_shown(show, i)) {
            i = count - PHASES_EACH;
            fprintf(out, " ... %zu more phases, --all shows them\n", count - 2 * PHASES_EACH);
        }
        put(show, &show->sum->phases[i], out);
    }
}

static void put_l1_rows(const struct tts_show_facts *show, FILE *out)
{
    if (tts_show_cores_reason(show)) {
        fprintf(out, "\nphases: L1 of a core: unknown (%s)\n", tts_show_cores_reason(show));
        return;
    }
    fprintf(out, "\n%-36s %10s %10s %10s %10s\n", "phases: L1 of a core, bytes", "peak CB",
            "buffer", "total", "true core");
    put_rows(show, print_l1, out);
}

static void put_marks(const struct tts_show_facts *show, FILE *out)
{
    bool has_partial = false, has_least = false;
    for (size_t i = 0; i < show->sum->phase_count; i++) {
        const struct tts_summary_phase *phase = &show->sum->phases[i];
        has_partial |= is_phase_shown(show, i) && phase->is_partial;
        has_least |= is_phase_shown(show, i) && phase->core_is_known && phase->core_is_at_least;
    }
    has_least &= !tts_show_cores_reason(show);
    if (has_partial)
        fputs("* partial: the phase began before the recording, or its end is not recorded\n",
              out);
    if (has_least)
        fputs("+ lower bound: the real value may be higher, because some buffers are unknown\n",
              out);
    if (show->sum->phases_unlisted > 0)
        fprintf(out, "%" PRIu64 " phases after the first %d are not listed\n",
                show->sum->phases_unlisted, TTS_SUMMARY_PHASES_MAX);
}

static void print_phases(const struct tts_show_facts *show, FILE *out)
{
    char mb[TTS_NUMBER_MB_MAX];
    int64_t peak_bytes = tts_eventsummary_dram_peak(show->sum),
            final_bytes = tts_eventsummary_dram_final(show->sum);
    if (show->sum->phase_count > 0) {
        fprintf(out, "%-20s %9s %9s %9s %9s %9s %9s\n", "phases: DRAM, MB", "peak", "allocated",
                "freed", "change", "cum. peak", "current");
        put_rows(show, put_dram, out);
        put_l1_rows(show, out);
        put_marks(show, out);
        fputc('\n', out);
    }
    const char *least = show->is_at_least ? "at least " : "";
    fprintf(out, "DRAM of the whole file: peak %s%s MB (%" PRId64 " B),\n", least,
            tts_number_format_mb(mb, peak_bytes, false), peak_bytes);
    /* The live buffers after a gap are known: only buffers that came and went are missing. */
    fprintf(out, "  at the end %s%s MB (%" PRId64 " B)\n\n",
            show->left_buffers > 0 ? least : "", tts_number_format_mb(mb, final_bytes, false),
            final_bytes);
}

/* ---- the peak ---- */

/* Prints the peaks of the other pools. The requested pool had no peak. */
static void put_other_peaks(const struct tts_show_facts *show, FILE *out)
{
    if (show->sum->whole->usage.pools[show->pool].allocations == 0)
        fputs("  no buffer was allocated in this pool\n", out);
    else
        fputs("  the memory in use was never higher than at the start\n", out);
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        int64_t bytes = show->sum->whole->usage.pools[pool].peak_bytes;
        if (bytes > 0)
            fprintf(out, "  peak of %s: %" PRId64 " B ('--pool' selects the pool to show)\n",
                    tts_pool_name((enum tts_pool)pool), bytes);
    }
    fputc('\n', out);
}

/* Prints when the peak was, without a line end: "at event 17 of 28, 0.025500 s, in matmul". */
static void put_peak_when(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_peak_info *info = &show->sum->peak_info;
    if (info->is_start) {
        fputs("before the first recorded event", out);
        return;
    }
    fprintf(out, "at event %" PRIu64 " of %" PRIu64, info->seq, show->sum->event.seq);
    put_when(show, info->has_time, info->time_ns, info->op, out);
}

/* Returns the words between the bytes of an L1 pool and the name of the device. */
static const char *on_core_words(const struct tts_show_facts *show)
{
    return show->l1_is_requested ? "requested on" : "on a core of";
}

/* Prints the size of the peak, without a line end: "peak of DRAM: 131072000 B, 125.00 MB". */
static void put_peak_size(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_peak_info *info = &show->sum->peak_info;
    char mb[TTS_NUMBER_MB_MAX], name[TTS_DEVICENAME_MAX];
    if (tts_show_is_unknown(show, info->pool)) {
        fprintf(out, "peak of %s: unknown (" TTS_SHOW_L1_REASON ")", tts_pool_name(info->pool));
        return;
    }
    fprintf(out, "peak of %s: %s%" PRId64 " B, %s MB", tts_pool_name(info->pool),
            show->is_at_least ? "at least " : "", info->level.bytes,
            tts_number_format_mb(mb, info->level.bytes, false));
    if (info->level.has_device)
        fprintf(out, ", %s %s", on_core_words(show), tts_devicename(info->level.device, name));
}

/* Prints a share in percent, if it can be formatted. Returns false otherwise. */
static bool format_show_share(char text[TTS_PERCENT_MAX], uint64_t part, uint64_t whole)
{
    if (part > whole || whole == 0 || whole >= UINT64_C(1) << 53)
        return false;
    (void)tts_percent_format(text, part, whole);
    return true;
}

/* Says that the pool was nearly full at its peak. Nothing is said if its capacity is unknown.
 */
static void print_pressure(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_peak_info *info = &show->sum->peak_info;
    uint64_t capacity = tts_show_capacity(show, info->pool);
    uint64_t dram = tts_show_capacity(show, TTS_POOL_DRAM);
    int64_t dram_peak = tts_eventsummary_dram_peak(show->sum);
    char share[TTS_PERCENT_MAX];
    if (info->level.bytes <= 0 ||
        !tts_pressure_is_critical((uint64_t)info->level.bytes, capacity))
        return;
    if (format_show_share(share, (uint64_t)info->level.bytes, capacity))
        fprintf(out, "  critical: %s of %" PRIu64 " B; reduce buffer sizes\n", share, capacity);
    else
        fprintf(out, "  critical: more than the %" PRIu64 " B of the pool\n", capacity);
    if (tts_pool_is_l1(info->pool) && dram_peak >= 0 &&
        (uint64_t)dram_peak < dram / 100 * TTS_PRESSURE_DRAM_PERCENT &&
        format_show_share(share, (uint64_t)dram_peak, dram))
        fprintf(out,
                "  DRAM was never above %s: DRAM has room for buffers that are now in L1\n",
                share);
}

static void print_peak(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_peak_info *info = &show->sum->peak_info;
    const struct tts_summary_moment *moment = &show->sum->peak_moment;
    const struct tts_summary_phase *phase = tts_eventsummary_phase_of(show->sum, info->seq);
    put_peak_size(show, out);
    fputc('\n', out);
    if (tts_show_is_unknown(show, info->pool)) {
        fputc('\n', out);
        return;
    }
    if (info->level.bytes == 0) {
        put_other_peaks(show, out);
        return;
    }
    fputs("  ", out);
    put_peak_when(show, out);
    if (phase && !info->is_start) {
        fputs("\n  in phase ", out);
        put_show_name(out, tts_eventsummary_phase_name(show->sum, phase), 60, false);
    }
    fprintf(out, "\n  %" PRIu64 " live buffer%s\n", moment->buffers,
            moment->buffers == 1 ? "" : "s");
    print_pressure(show, out);
    show_text_moment(show, moment, out);
    fputc('\n', out);
}

/* ---- operations ---- */

static void put_op_row(const struct tts_show_facts *show, const struct tts_op_row *row,
                       FILE *out)
{
    fprintf(out, "  %9" PRIu64 " %13" PRIu64 " %13" PRIu64 " %13" PRIu64 "  ", row->allocations,
            row->allocated_bytes, row->live_bytes, row->moment_bytes);
    put_show_op(show, out, row->op, 25);
    fputc('\n', out);
}

static void print_ops(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_op_row *rows = show->sum->top_ops.items;
    size_t count = show->sum->top_ops.count, all = show->sum->op_count;
    if (count == 0)
        return;
    fprintf(out, "operations by bytes allocated in %s\n", tts_pool_name(show->pool));
    fprintf(out, "  %9s %13s %13s %13s  operation\n", "buffers", "allocated", "at the end",
            "at the peak");
    for (size_t i = 0; i < count; i++)
        put_op_row(show, &rows[i], out);
    if (all > count)
        fprintf(out, "  %zu more, --top 0 shows them\n", all - count);
    fputc('\n', out);
}

/* ---- one moment ---- */

static void print_level(const struct tts_show_facts *show, enum tts_pool pool, FILE *out)
{
    char mb[TTS_NUMBER_MB_MAX], name[TTS_DEVICENAME_MAX];
    struct tts_level level = tts_level_listed(tts_levels_of(&show->sum->levels, pool));
    if (tts_show_is_unknown(show, pool)) {
        fprintf(out, "  %-9s %14s\n", tts_pool_name(pool), "unknown");
        return;
    }
    fprintf(out, "  %-9s %14" PRId64 " %11s %9" PRIu64, tts_pool_name(pool), level.bytes,
            tts_number_format_mb(mb, level.bytes, false), level.buffers);
    if (level.has_device && level.buffers > 0)
        fprintf(out, "  %s %s", on_core_words(show), tts_devicename(level.device, name));
    fputc('\n', out);
}

static void print_at(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_summary_event *event = &show->sum->event;
    fprintf(out, "after event %" PRIu64 " (%s)", event->seq, tts_event_kind_name(event->kind));
    put_when(show, event->has_time, event->time_ns, tts_summary_op_name(&event->op), out);
    fprintf(out, "\n  %-9s %14s %11s %9s\n", "pool", "bytes", "MB", "buffers");
    for (int pool = 0; pool < TTS_POOLS; pool++)
        print_level(show, (enum tts_pool)pool, out);
    if (tts_show_is_unknown(show, show->pool)) {
        fprintf(out, "\n%s: unknown (" TTS_SHOW_L1_REASON ")\n", tts_pool_name(show->pool));
    } else {
        fprintf(out, "\n%s, bytes%s\n", tts_pool_name(show->pool),
                !show->sum->at_moment.level.has_device ? ""
                : show->l1_is_requested                ? " of a device"
                                                       : " on a core");
        show_text_moment(show, &show->sum->at_moment, out);
    }
    fputc('\n', out);
    show_text_core(show, &show->sum->at_core, out);
}

/* ---- leaks ---- */

/* Prints one kind of buffers that leak. */
static void put_leak_row(const struct tts_show_facts *show, const struct tts_leakowner *owner,
                         FILE *out)
{
    char name[TTS_DEVICENAME_MAX], mb[TTS_NUMBER_MB_MAX];
    bool is_large = owner->buffers > (uint64_t)INT64_MAX / (owner->size_bytes + 1);
    int64_t bytes = is_large ? INT64_MAX : (int64_t)(owner->buffers * owner->size_bytes);
    uint64_t hundredths =
        owner->periods > 0 ? (uint64_t)owner->buffers * 100 / owner->periods : 0;
    fprintf(out, "  %9" PRIu32 " %14" PRIu64 " %11s", owner->buffers, owner->size_bytes,
            tts_number_format_mb(mb, bytes, false));
    if (owner->periods > 0)
        fprintf(out, " %7" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
    else
        fprintf(out, " %10s", "-");
    fprintf(out, " %-8s %6s  ", tts_pool_name(owner->pool),
            tts_devicename_short(owner->device, name));
    put_show_op(show, out, owner->op, 25);
    fputc('\n', out);
}

/* Prints "from 1.000000 s to 5.000000 s, 60 periods, after a steady time". */
static void put_leak_time(const struct tts_show_facts *show, const struct tts_leakowner *owner,
                          FILE *out)
{
    uint64_t from = tts_show_since_start(show, owner->since_ns);
    uint64_t to = tts_show_since_start(show, owner->until_ns);
    char text[160] = "  while the same work was repeated";
    size_t len = strlen(text);
    if (owner->periods > 0)
        len += (size_t)snprintf(text + len, sizeof text - len, " %" PRIu64 " times",
                                owner->periods);
    if (owner->until_ns > owner->since_ns)
        snprintf(text + len, sizeof text - len,
                 ", from about %" PRIu64 ".%06" PRIu64 " s to %" PRIu64 ".%06" PRIu64 " s",
                 from / 1000000000, from / 1000 % 1000000, to / 1000000000,
                 to / 1000 % 1000000);
    fprintf(out, "%s%s\n", text,
            owner->is_after_steady ? ",\n  after a time in which it did not grow" : "");
}

static void show_text_leaks(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_leakowners *leaks = &show->sum->leaks;
    if (leaks->count > 0)
        fprintf(out, "buffers that leak\n  %9s %14s %11s %10s %-8s %6s  allocated by\n",
                "buffers", "bytes of each", "MB", "per period", "pool", "device");
    for (size_t i = 0; i < leaks->count; i++) {
        put_leak_row(show, &leaks->owners[i], out);
        bool is_last =
            i + 1 == leaks->count || leaks->owners[i + 1].device != leaks->owners[i].device;
        if (is_last)
            put_leak_time(show, &leaks->owners[i], out);
    }
    if (leaks->count > 0)
        fputs("  per period: buffers for each repetition; numbers and times are those of "
              "windows,\n  so they are rounded\n",
              out);
    if (leaks->unlisted > 0)
        fprintf(out, "  and %zu more kinds of buffers\n", leaks->unlisted);
    if (leaks->kinds_left_out > 0)
        fprintf(out, "  leaks of some buffers may be missing, because there are too many kinds "
                     "of\n  buffers or too many devices\n");
    if (leaks->count > 0 || leaks->kinds_left_out > 0)
        fputc('\n', out);
}

static void put_headline_leaks(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_leakowners *leaks = &show->sum->leaks;
    uint64_t buffers = 0, kinds = leaks->count + leaks->unlisted;
    if (leaks->count == 0) {
        fputs("no leak found", out);
        return;
    }
    for (size_t i = 0; i < leaks->count; i++)
        buffers += leaks->owners[i].buffers;
    fprintf(out,
            "Leak detected! %" PRIu64 " buffers of %" PRIu64
            " kind%s were added one after the other and not freed, most by ",
            buffers, kinds, tts_say_plural(kinds));
    put_show_op(show, out, leaks->owners[0].op, TTS_OP_NAME_MAX);
}

/* ---- the phases of traces ---- */

static void show_text_trace_phases(const struct tts_show_facts *show, FILE *out)
{
    struct tts_phasestable table = {.phases = &show->sum->trace_phases,
                                    .alloc = show->sum->alloc,
                                    .columns = tts_say_columns(),
                                    .is_utf8 = tts_charset_is_utf8(),
                                    .start_ns = show->start_ns,
                                    .has_times = show->sum->last_ns > 0};
    if (show->sum->traces == 0) {
        fputs("phases of traces: no trace was captured\n\n", out);
        return;
    }
    fputs("phases of traces, all devices\n", out);
    if (tts_phasestable_put(&table, out) != TTS_OK)
        fputs("  out of memory\n", out);
    fputs("A trace replay allocates nothing, so it is normal that nothing changes.\n\n", out);
}

/* ---- the answer in one line ---- */

static void put_headline_at(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_summary_event *event = &show->sum->event;
    enum tts_pool pool = show->pool;
    struct tts_level level = tts_level_listed(tts_levels_of(&show->sum->levels, pool));
    char mb[TTS_NUMBER_MB_MAX];
    fprintf(out, "after event %" PRIu64 " (%s): ", event->seq,
            tts_event_kind_name(event->kind));
    if (tts_show_is_unknown(show, pool))
        fprintf(out, "%s unknown (" TTS_SHOW_L1_REASON ")", tts_pool_name(pool));
    else
        fprintf(out, "%" PRId64 " B, %s MB in %" PRIu64 " %s buffer%s", level.bytes,
                tts_number_format_mb(mb, level.bytes, false), level.buffers,
                tts_pool_name(pool), tts_say_plural(level.buffers));
}

static void put_headline_peak(const struct tts_show_facts *show, FILE *out)
{
    uint64_t refused = show->sum->failure_count + show->sum->failures_unlisted;
    put_peak_size(show, out);
    if (!tts_show_is_unknown(show, show->sum->peak_info.pool) &&
        show->sum->peak_info.level.bytes > 0) {
        fputs(", ", out);
        put_peak_when(show, out);
    }
    if (refused > 0)
        fprintf(out, "; %" PRIu64 " request%s refused", refused,
                refused == 1 ? " was" : "s were");
}

/* Prints the answer in one line, and an empty line. The line is broken only on a terminal. */
static void print_headline(const struct tts_show_facts *show, FILE *out)
{
    char text[HEADLINE_BYTES] = "";
    FILE *line = fmemopen(text, sizeof text, "w");
    if (!line)
        return;
    if (show->at > 0)
        put_headline_at(show, line);
    else if (tts_show_has_samples_only(show))
        tts_showsamples_headline(show->samples, show->pool, show->start_ns, line);
    else if (show->has_leaks)
        put_headline_leaks(show, line);
    else if (show->has_growing)
        tts_showgrowing_headline(show, line);
    else
        put_headline_peak(show, line);
    if (!is_whole(show))
        fputs("; based on partial data", line);
    fclose(line);
    tts_say_sentence(out, "", text);
    fputc('\n', out);
}

void tts_show_text(const struct tts_show_facts *show, FILE *out)
{
    print_headline(show, out);
    show_text_file(show, out);
    if (show->at > 0) {
        print_at(show, out);
        return;
    }
    tts_showsamples_text(show->samples, show->start_ns, out);
    if (show->has_growing)
        tts_showgrowing_text(show, out);
    if (tts_show_has_samples_only(show)) {
        fputs("events: none (the source reports only counters, so buffers and operations are "
              "unknown)\n",
              out);
        return;
    }
    if (show->has_leaks)
        show_text_leaks(show, out);
    if (show->has_trace_phases)
        show_text_trace_phases(show, out);
    if (show->has_leaks || show->has_trace_phases || show->has_growing)
        return;
    print_phases(show, out);
    print_peak(show, out);
    print_ops(show, out);
    show_text_core(show, &show->sum->whole->usage.core, out);
    show_text_failures(show, out);
    show_text_figures(show, out);
    show_text_health(show, out);
}

/* ---- a recording that is still being written ---- */

static void put_level(const struct tts_show_facts *show, enum tts_pool pool, FILE *out)
{
    char bytes[TTS_NUMBER_BYTES_MAX];
    struct tts_level level = tts_levels_of(&show->sum->levels, pool);
    if (tts_show_is_unknown(show, pool)) {
        fprintf(out, "%s unknown", tts_pool_name(pool));
        return;
    }
    fprintf(out, "%s %s%s in %" PRIu64 " buffer%s", tts_pool_name(pool),
            level.bytes < 0 ? "-" : "",
            tts_number_format_bytes(bytes, level.bytes < 0 ? -(uint64_t)level.bytes
                                                           : (uint64_t)level.bytes),
            level.buffers, tts_say_plural(level.buffers));
}

static void put_now_peak(const struct tts_show_facts *show, const struct tts_peak_info *peak,
                         FILE *out)
{
    char bytes[TTS_NUMBER_BYTES_MAX];
    if (tts_show_has_samples_only(show)) {
        tts_showsamples_headline(show->samples, peak->pool, show->start_ns, out);
        return;
    }
    fprintf(out, "%s %s at event %" PRIu64, tts_pool_name(peak->pool),
            tts_number_format_bytes(bytes, (uint64_t)peak->level.bytes), peak->seq);
}

static void put_now_head(const struct tts_show_facts *show, const struct tts_peak_info *peak,
                         FILE *out)
{
    uint64_t ns = tts_show_since_start(show, show->sum->last_ns);
    fprintf(out,
            "%s: recording, pid %" PRIu64 ", %" PRIu64 ".%06" PRIu64 " s, %" PRIu64
            " event%s\n",
            show->name, show->recording->header.pid, ns / 1000000000, ns / 1000 % 1000000,
            show->sum->event.seq, tts_say_plural(show->sum->event.seq));
    for (int i = 0; i < TTS_POOLS; i++) {
        enum tts_pool pool = (enum tts_pool)i;
        if (i > 0 && tts_levels_of(&show->sum->levels, pool).buffers == 0)
            continue;
        fputs(i == 0 ? "now   " : "      ", out);
        put_level(show, pool, out);
        fputc('\n', out);
    }
    fputs(tts_show_has_samples_only(show) ? "" : "peak  ", out);
    put_now_peak(show, peak, out);
    if (!tts_show_has_samples_only(show))
        put_when(show, peak->has_time, peak->time_ns, peak->op, out);
    fputc('\n', out);
    if (show->sum->phase_count > 0) {
        fprintf(out,
                "phases %" PRIu64 ", %s: ", show->sum->phase_count + show->sum->phases_unlisted,
                show->sum->phases_unlisted > 0 ? "last listed" : "last");
        put_show_name(out,
                      tts_eventsummary_phase_name(
                          show->sum, &show->sum->phases[show->sum->phase_count - 1]),
                      40, false);
        fputc('\n', out);
    }
    if (show->sum->failure_count > 0)
        fprintf(out, "refused requests: %" PRIu64 "\n",
                show->sum->failure_count + show->sum->failures_unlisted);
}

void tts_show_now_text(const struct tts_show_facts *show, const struct tts_show_now *now,
                       FILE *out)
{
    put_now_head(show, &now->peak, out);
    if (now->op_count > 0)
        fprintf(out, "%15s %10s  %s\n", "bytes now", "buffers", "operation");
    for (size_t i = 0; i < now->op_count; i++) {
        const struct tts_op_row *row = &now->ops[i];
        fprintf(out, "%15" PRIu64 " %10" PRIu64 "  ", row->live_bytes, row->live_buffers);
        put_show_op(show, out, row->op, 48);
        fputc('\n', out);
    }
}

void tts_show_now_line(const struct tts_show_facts *show, const struct tts_show_now *now,
                       FILE *out)
{
    uint64_t ns = tts_show_since_start(show, show->sum->last_ns);
    fprintf(out, "%" PRIu64 ".%06" PRIu64 " s, event %" PRIu64 ": ", ns / 1000000000,
            ns / 1000 % 1000000, show->sum->event.seq);
    put_level(show, show->pool, out);
    fputs(tts_show_has_samples_only(show) ? ", " : ", peak ", out);
    put_now_peak(show, &now->peak, out);
    if (show->sum->failure_count > 0)
        fprintf(out, ", refused requests: %" PRIu64,
                show->sum->failure_count + show->sum->failures_unlisted);
    fputc('\n', out);
}
