/* show_text_file.c: what a file is, what its own producer says, and what is wrong with it; for
 * people. */
#include "base/number.h"
#include "cli/message.h"
#include "cli/show_parts.h"
#include "model/devicename.h"
#include "views/say.h"

#include <inttypes.h>
#include <time.h>

enum { DEVICES_SHOWN = 16, CHIPS_SHOWN = 8, LABEL = 10 };

static void put_label(FILE *out, const char *label)
{
    fprintf(out, "  %-*s ", LABEL, label);
}

/* ---- devices ---- */

/* " [mesh of 0, 1, 2]"; of a mesh by name " [of 0, 1, 2]" */
static void put_chips(const struct tts_show *show, uint32_t id, FILE *out)
{
    uint32_t mesh, count = 0;
    for (uint32_t i = 0; i < show->sum.levels.device_count; i++) {
        uint32_t chip = show->sum.levels.devices[i].id;
        if (!tts_eventsummary_mesh_of(&show->sum, chip, &mesh) || mesh != id)
            continue;
        if (count < CHIPS_SHOWN)
            fprintf(out, "%s%" PRIu32,
                    count > 0             ? ", "
                    : tts_mesh_is_one(id) ? " [of "
                                          : " [mesh of ",
                    chip);
        count++;
    }
    if (count > CHIPS_SHOWN)
        fprintf(out, ", %" PRIu32 " more", count - CHIPS_SHOWN);
    if (count > 0)
        fputc(']', out);
}

static void put_devices(const struct tts_show *show, FILE *out)
{
    const struct tts_phase *whole = show->sum.whole;
    uint32_t mesh;
    size_t shown = 0, count = 0, meshes = 0;
    for (size_t i = 0; i < whole->device_count; i++) {
        count += !tts_eventsummary_mesh_of(&show->sum, whole->devices[i].device, &mesh);
        meshes += tts_mesh_is_one(whole->devices[i].device);
    }
    put_label(out, "devices");
    if (count == 0) {
        fputs("none\n", out);
        return;
    }
    fprintf(out, "%zu device%s (", count, tts_say_plural(count));
    if (meshes == 0)
        fprintf(out, "id%s ", tts_say_plural(count));
    for (size_t i = 0; i < whole->device_count && shown < DEVICES_SHOWN; i++) {
        uint32_t id = whole->devices[i].device;
        if (tts_eventsummary_mesh_of(&show->sum, id, &mesh))
            continue; /* it stands with its mesh */
        char name[TTS_DEVICENAME_MAX];
        fprintf(out, "%s%s", shown++ > 0 ? ", " : "",
                meshes > 0 ? tts_devicename(id, name) : tts_devicename_short(id, name));
        put_chips(show, id, out);
    }
    if (count > shown)
        fprintf(out, ", %zu more", count - shown);
    fputs(")\n", out);
}

/* ---- what it is ---- */

static void put_events(const struct tts_show *show, FILE *out)
{
    uint64_t ns = tts_show_since_start(show, show->sum.last_ns);
    if (show->sum.first_seq > 0)
        ns -= tts_show_since_start(show, show->sum.first_ns);
    put_label(out, "events");
    fprintf(out, "%" PRIu64, show->sum.input.events);
    if (show->sum.last_ns > 0)
        fprintf(out, " in %" PRIu64 ".%06" PRIu64 " s", ns / 1000000000, ns / 1000 % 1000000);
    if (show->sum.first_seq > 0)
        fprintf(out, ", from event %" PRIu64 " on", show->sum.first_seq + 1);
    fputc('\n', out);
    if (show->sum.event.seq == 0) {
        put_label(out, "");
        fputs("nothing was told to the tracker while it was recorded\n", out);
    }
    if (show->sum.restored_buffers == 0 && show->sum.first_seq == 0)
        return;
    put_label(out, "");
    fprintf(out, "begins in the middle, with %" PRIu64 " buffers that lived then\n",
            show->sum.restored_buffers);
    if (show->partial.left_buffers == 0)
        return;
    put_label(out, "");
    fprintf(out, "%" PRIu64 " more (%" PRIu64 " bytes) are left out: the black box\n",
            show->partial.left_buffers, show->partial.left_bytes);
    put_label(out, "");
    fputs("has no room for them\n", out);
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

static void put_state(const struct tts_show *show, const struct tts_recfile_info *info,
                      FILE *out)
{
    char reason[TTS_PARTIAL_REASON_MAX];
    put_label(out, "state");
    switch (tts_show_state(show)) {
    case TTS_SHOW_COMPLETE:
        fputs(tts_show_is_damaged(show) ? "ended, and damaged since\n" : "complete\n", out);
        break;
    case TTS_SHOW_NOT_ENDED:
        fputs("not ended: the program was killed, left without ending it, or runs;\n", out);
        put_label(out, "");
        fputs("complete up to its last event\n", out);
        break;
    case TTS_SHOW_STOPPED:
        fputs(tts_partial_stop_text(&info->state, reason), out);
        if (info->state.dropped > 0)
            fprintf(out, "; %" PRIu64 " event%s missing", info->state.dropped,
                    info->state.dropped == 1 ? "" : "s");
        fputc('\n', out);
        break;
    case TTS_SHOW_STATE_UNKNOWN:
        fputs("unknown: both copies of it are damaged\n", out);
        break;
    }
}

static void put_recording(const struct tts_show *show, const struct tts_recfile_info *info,
                          FILE *out)
{
    char bytes[TTS_NUMBER_BYTES_MAX];
    fprintf(out, "recording (%s%s), %s\n",
            info->header.kind == TTS_REC_PACKED ? "packed" : "as it was written",
            info->header.places > 0 ? ", black box" : "",
            tts_number_format_bytes(bytes, info->file_bytes));
    put_label(out, "program");
    tts_show_text_name(out, info->header.program, 40, false);
    fprintf(out, ", pid %" PRIu64 ", by ttscope ", info->header.pid);
    tts_show_text_name(out, info->header.writer, 12, false);
    fputc('\n', out);
    put_start(info->header.start_realtime_ns, out);
    put_state(show, info, out);
}

static void put_graph(const struct tts_show *show, FILE *out)
{
    struct tts_graph_figures figures = tts_graph_figures(tts_eventfile_graph(show->file));
    fputs("graph trace\n", out);
    if (show->options.at > 0)
        return; /* not all of it was read */
    put_label(out, "nodes");
    fprintf(out, "%" PRIu64 " (function calls: %" PRIu64 ", tensors: %" PRIu64 ")\n",
            figures.nodes, figures.functions, figures.tensors);
}

static void put_damage(const struct tts_show *show, FILE *out)
{
    const struct tts_eventfile_gaps *gaps = tts_eventfile_gaps(show->file);
    put_label(out, "damaged");
    if (gaps->count > 0)
        fprintf(out, "%" PRIu64 " event%s missing, the first of them after event %" PRIu64 "\n",
                gaps->events, gaps->events == 1 ? " is" : "s are", gaps->first_after);
    if (gaps->count > 0 && show->partial.damage.status != TTS_OK)
        put_label(out, "");
    if (show->partial.damage.status != TTS_OK)
        fputs("only what stands before the damage is shown\n", out);
}

void tts_show_text_file(const struct tts_show *show, FILE *out)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    const char *path = show->options.path;
    tts_show_text_name(out, tts_message_path(path), 60, false);
    fputs(": ", out);
    if (recording)
        put_recording(show, tts_recfile_info(recording), out);
    else
        put_graph(show, out);
    if (tts_show_is_damaged(show))
        put_damage(show, out);
    if (show->options.at == 0)
        put_events(show, out);
    put_devices(show, out);
    fputc('\n', out);
}

/* ---- what the runtime says itself ---- */

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
                "where the runtime's own functions say something else\n  %-16s %13s %13s\n",
                "bytes", "here", "there");
    *is_first = false;
    fprintf(out, "  %-16s %13" PRId64 " %13" PRId64 "  %s\n", figure->name, figure->ours,
            figure->theirs, figure->why);
}

static void put_notes(const struct tts_graph *graph, FILE *out)
{
    for (int kind = 0; kind < TTS_GRAPH_NOTES; kind++) {
        const struct tts_graph_note *note =
            tts_graph_note(graph, (enum tts_graph_note_kind)kind);
        if (note->count == 0)
            continue;
        fputs("note: ", out);
        tts_show_text_name(out, note->text, TTS_SHOW_COLUMNS - 6, false);
        if (note->count == 1)
            fprintf(out, "\n  at line %" PRIu64 "\n", note->line);
        else
            fprintf(out, "\n  the first of %" PRIu64 ", at line %" PRIu64 "\n", note->count,
                    note->line);
    }
}

/* Why the runtime has another figure of a kind, as far as it can be told. */
static const char *reason_of(const struct tts_show *show, enum tts_pool also, bool is_of_cores)
{
    if (show->sum.whole->usage.pools[also].allocations > 0)
        return also == TTS_POOL_TRACE ? "traces count as DRAM there"
                                      : "L1_SMALL counts as L1 there";
    if (is_of_cores && show->sum.whole->device_count > 1)
        return "all devices are added up there";
    return "every node counts as it stands there";
}

void tts_show_text_figures(const struct tts_show *show, FILE *out)
{
    const struct tts_graph *graph = tts_eventfile_graph(show->file);
    if (!graph)
        return;
    struct tts_graph_figures theirs = tts_graph_figures(graph);
    const struct tts_usage *ours = &show->sum.whole->usage;
    const struct tts_pool_usage *dram = &ours->pools[TTS_POOL_DRAM];
    const char *traces = reason_of(show, TTS_POOL_TRACE, false);
    const char *small = reason_of(show, TTS_POOL_L1_SMALL, true);
    const char *chips = show->sum.whole->device_count > 1
                            ? "all devices are added up there"
                            : "every node counts as it stands there";
    const struct figure figures[] = {
        {"DRAM peak", dram->peak_bytes, theirs.dram_peak_bytes, traces},
        {"DRAM allocated", dram->allocated_bytes, theirs.dram_allocated_bytes, traces},
        {"DRAM freed", dram->freed_bytes, theirs.dram_freed_bytes, traces},
        {"peak CB", ours->peak_cb_bytes, theirs.peak_cb_bytes, chips},
        {"peak DFB", ours->peak_dfb_bytes, theirs.peak_dfb_bytes, chips},
        {"peak scratchpad", ours->peak_scratchpad_bytes, theirs.peak_scratchpad_bytes, chips},
        {"peak L1", ours->pools[TTS_POOL_L1].peak_bytes, theirs.peak_l1_bytes, small},
        {"peak total", ours->peak_total_bytes, theirs.peak_total_bytes, chips},
    };
    bool is_first = true;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        put_figure(&figures[i], &is_first, out);
    if (is_first)
        fputs("the runtime's own functions give the same figures\n", out);
    put_notes(graph, out);
    fputc('\n', out);
}

/* ---- health ---- */

static void put_count(FILE *out, const char *what, uint64_t count, const char *means)
{
    if (count > 0)
        fprintf(out, "%s: %" PRIu64 "\n  %s\n", what, count, means);
}

void tts_show_text_health(const struct tts_show *show, FILE *out)
{
    struct tts_tracker_health health = show->sum.health;
    put_count(out, "frees of buffers from before the file", health.unseen_frees,
              "they count as freed, and what they took before is in no peak");
    put_count(out, "frees of buffers that are not known, without a size", health.unknown_frees,
              "they count nowhere");
    put_count(out, "allocations of an id that was in use", health.doubled,
              "the buffer that had it before counts as freed");
    put_count(out, "buffers that could not be listed, out of memory", health.unlisted,
              "frees of them without a size are not counted: totals are too high");
    put_count(out, "events dropped before they were recorded", show->partial.missed,
              "no figure has them, and peaks may have been higher");
    put_count(out, "statements about captures that cannot be", show->partial.refused,
              "they were passed over, and phases may be missing");
}
