/* Recordings and graph traces: the phases of each capture are a run. */
#include "base/error.h"
#include "model/follow.h"
#include "sources/eventpass.h"
#include "sources/runs_inside.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define WHOLE_FILE "(whole file)"
#define AFTER_PHASES "(after the last phase)"

struct reader {
    struct tts_eventfile *file;
    struct tts_follow *follow;
    struct tts_eventpass pass;
    struct tts_runs_room *room;
    enum tts_status kept; /* of what on_phase had to keep */
    bool has_events;
    bool is_whole;          /* a capture began before anything lived */
    int64_t restored_bytes; /* DRAM and TRACE that lived before the first event */
    uint64_t missed, refused;
    uint64_t stop_seq; /* of a refused request at which the program stopped; 0: none */
    struct tts_error refusal;
};

/* ---- phases ---- */

static struct tts_run_phase phase_of(const struct tts_phase *phase)
{
    const struct tts_usage *usage = &phase->usage;
    const struct tts_pool_usage *dram = &usage->dram_with_trace; /* as a log has it */
    const int64_t values[] = {
        [TTS_RUN_SEGMENT_PEAK] = dram->peak_bytes,
        [TTS_RUN_ALLOCATIONS] = dram->allocated_bytes,
        [TTS_RUN_DEALLOCATIONS] = dram->freed_bytes,
        [TTS_RUN_CHANGE] =
            (int64_t)((uint64_t)dram->allocated_bytes - (uint64_t)dram->freed_bytes),
        [TTS_RUN_CUMULATIVE_PEAK] = dram->cumulative_peak_bytes,
        [TTS_RUN_CUMULATIVE_CURRENT] = dram->cumulative_current_bytes,
        [TTS_RUN_L1_CB] = usage->peak_cb_bytes,
        [TTS_RUN_L1_BUFFER] = usage->l1_with_small.peak_bytes,
        [TTS_RUN_L1_TOTAL] = usage->peak_total_bytes,
    };
    static_assert(sizeof values / sizeof values[0] == TTS_RUN_L1_CORE, "all but the last");
    struct tts_run_phase out = {0};
    for (int i = 0; i < TTS_RUN_L1_CORE; i++)
        out.figures[i] = tts_amount_of(values[i]);
    if (usage->core.known && usage->core.bytes <= INT64_MAX)
        out.figures[TTS_RUN_L1_CORE] = tts_amount_of((int64_t)usage->core.bytes);
    tts_runs_put_name(out.name, phase->name, strlen(phase->name));
    return out;
}

/* More bytes on a core than it has: an end is missing, or something is counted twice. */
static void note_core(const struct reader *r, struct tts_run *run,
                      const struct tts_phase *phase)
{
    const struct tts_core_peak *core = &phase->usage.core;
    if (!core->known || core->bytes <= tts_eventfile_core_bytes(r->file, core->device))
        return;
    run->is_at_least = true;
    tts_runs_note(run, 0,
                  "%" PRIu64 " B on a core in phase '%.40s': more than its L1 has, so the file "
                  "lacks ends or contradicts itself",
                  core->bytes, phase->name);
}

static void on_phase(void *ctx, uint32_t capture, const struct tts_phase *phase,
                     bool is_partial)
{
    struct reader *r = ctx;
    struct tts_runs_entry *entry;
    struct tts_run_phase kept = phase_of(phase);
    if (r->kept != TTS_OK || capture == 0)
        return;
    r->kept = tts_runs_capture(r->room, capture, &entry);
    if (r->kept != TTS_OK || !entry)
        return;
    entry->run.is_exact = true;
    tts_runs_note_phase(entry, phase->name, is_partial);
    note_core(r, &entry->run, phase);
    entry->run.is_at_least |= phase->usage.core.at_least;
    if (phase->usage.core.at_least)
        tts_runs_note(&entry->run, 0, "the most on a core in phase '%.40s' is at least that",
                      phase->name);
    r->kept = tts_runs_add_phase(r->room, entry, &kept);
}

/* ---- items ---- */

static void count_item(struct reader *r, const struct tts_item *item)
{
    if (item->kind == TTS_ITEM_MISSED && !r->pass.gate.in_keyframe)
        r->missed += item->count;
    else if (item->kind == TTS_ITEM_LIVE && !tts_pool_is_l1(item->live.pool))
        r->restored_bytes =
            (int64_t)((uint64_t)r->restored_bytes + (uint64_t)item->live.size_bytes);
    if (item->kind == TTS_ITEM_BEGIN && !r->has_events && r->restored_bytes == 0)
        r->is_whole = true;
    r->has_events |= item->kind == TTS_ITEM_EVENT;
    tts_item_follow_stop(item, &r->stop_seq);
}

/* Statements about captures that cannot be are passed over; behind an event that cannot be all
 * figures would be wrong. */
static enum tts_status take_item(void *ctx, const struct tts_item *item, struct tts_error *err)
{
    struct reader *r = ctx;
    enum tts_status status = tts_follow_item(r->follow, item, err);
    if (status == TTS_OK)
        count_item(r, item);
    else if (status != TTS_E_NOMEM && item->kind != TTS_ITEM_EVENT) {
        if (r->refused++ == 0)
            r->refusal = *err;
        status = TTS_OK;
    }
    return r->kept == TTS_OK ? status : r->kept;
}

/* TTS_OK: to its end, or what ended it. */
static enum tts_status read_items(struct reader *r, struct tts_error *err)
{
    r->pass = (struct tts_eventpass){.file = r->file,
                                     .follow = r->follow,
                                     .take = take_item,
                                     .ctx = r,
                                     .alloc = r->room->alloc};
    enum tts_status status = tts_eventpass_run(&r->pass, err);
    tts_eventpass_release(&r->pass);
    return status;
}

/* ---- the end ---- */

/* Without a capture all of it is one phase. */
static enum tts_status add_whole(struct reader *r, const struct tts_phase *whole)
{
    struct tts_runs_entry *entry;
    struct tts_run_phase phase = phase_of(whole);
    if (r->room->count > 0 || !r->has_events)
        return TTS_OK;
    enum tts_status status = tts_runs_add(r->room, &entry);
    if (status != TTS_OK)
        return status;
    assert(entry);
    static const enum tts_run_figure cumulative[] = {TTS_RUN_CUMULATIVE_PEAK,
                                                     TTS_RUN_CUMULATIVE_CURRENT};
    for (int i = 0; i < 2; i++) {
        struct tts_amount *amount = &phase.figures[cumulative[i]];
        if (__builtin_add_overflow(amount->bytes, r->restored_bytes, &amount->bytes))
            *amount = (struct tts_amount){0};
    }
    entry->run.overall_peak = phase.figures[TTS_RUN_CUMULATIVE_PEAK];
    entry->run.final = phase.figures[TTS_RUN_CUMULATIVE_CURRENT];
    entry->run.is_exact = true;
    tts_runs_put_name(entry->run.title, "whole file", strlen("whole file"));
    tts_runs_put_name(phase.name, WHOLE_FILE, strlen(WHOLE_FILE));
    entry->run.is_at_least = tts_follow_is_partial(r->follow);
    if (entry->run.is_at_least)
        tts_runs_note(&entry->run, 0, "what lived before its first event is not all known");
    note_core(r, &entry->run, whole);
    return tts_runs_add_phase(r->room, entry, &phase);
}

/* The only capture of a file can end before the file does, as the first iteration of
 * `ttscope fit --record` does. Then the run can reach its peak after the last phase. */
static void take_whole(struct reader *r, const struct tts_phase *all)
{
    struct tts_run *run = &r->room->entries[0].run;
    int64_t peak = all->usage.dram_with_trace.cumulative_peak_bytes;
    if (!r->is_whole || r->room->count != 1 || r->missed > 0 ||
        tts_eventfile_gaps(r->file)->count > 0 || !run->overall_peak.is_known ||
        peak <= run->overall_peak.bytes)
        return;
    run->whole.peak = tts_amount_of(peak);
    tts_runs_put_name(run->whole.phase, AFTER_PHASES, strlen(AFTER_PHASES));
}

static void note_recording(struct tts_run *run, const struct tts_recfile_info *info)
{
    run->is_at_least |= !info->state_is_known || info->state.kind == TTS_REC_STOPPED;
    if (!info->state_is_known)
        tts_runs_note(run, 0, "its state is damaged, whether it is complete is not known");
    else if (info->state.kind == TTS_REC_STOPPED)
        tts_runs_note(run, 0, "the recording stopped, what came after that is missing");
}

/* Events that are missing because of damage. In which run they were is not known. */
static void note_gaps(struct reader *r, struct tts_run *last)
{
    const struct tts_eventfile_gaps *gaps = tts_eventfile_gaps(r->file);
    for (size_t i = 0; i < r->room->count && gaps->count > 0; i++)
        r->room->entries[i].run.is_at_least = true;
    if (gaps->count > 0)
        tts_runs_note(last, 0, "%.80s; %" PRIu64 " event%s missing because of damage",
                      gaps->first.text, gaps->events, gaps->events == 1 ? " is" : "s are");
}

/* What is wrong with the file stands with its last run. */
static void note_file(struct reader *r, const struct tts_error *damage)
{
    if (r->room->count == 0)
        return;
    struct tts_run *last = &r->room->entries[r->room->count - 1].run;
    const struct tts_graph *graph = tts_eventfile_graph(r->file);
    for (int i = 0; graph && i < TTS_GRAPH_NOTES; i++) {
        const struct tts_graph_note *note = tts_graph_note(graph, (enum tts_graph_note_kind)i);
        if (note->count == 0 || !tts_graph_note_is_bad((enum tts_graph_note_kind)i))
            continue;
        last->is_at_least = true;
        tts_runs_note(last, note->line, "%s", note->text);
    }
    /* In which run that was is not known. */
    for (size_t i = 0; i < r->room->count && (r->missed > 0 || r->refused > 0); i++)
        r->room->entries[i].run.is_at_least = true;
    if (r->missed > 0)
        tts_runs_note(last, 0, "%" PRIu64 " event%s before %s recorded", r->missed,
                      r->missed == 1 ? " was dropped" : "s were dropped",
                      r->missed == 1 ? "it was" : "they were");
    if (r->stop_seq > 0) {
        last->is_at_least = true;
        tts_runs_note(last, 0,
                      "the program stopped at event %" PRIu64
                      ", a refused request; what it needs after that is unknown",
                      r->stop_seq);
    }
    if (r->refused > 0)
        tts_runs_note(last, r->refusal.line, "%.100s; passed over", r->refusal.text);
    if (tts_eventfile_recording(r->file))
        note_recording(last, tts_recfile_info(tts_eventfile_recording(r->file)));
    note_gaps(r, last);
    last->is_at_least |= damage->status != TTS_OK;
    if (damage->status != TTS_OK)
        tts_runs_note(last, damage->line, "%.80s; only what is before was read", damage->text);
}

static enum tts_status read_file(struct reader *r, struct tts_error *err)
{
    const struct tts_phase *whole;
    struct tts_error damage = {0};
    enum tts_status status = read_items(r, &damage);
    if (status == TTS_E_NOMEM || (status != TTS_OK && !r->has_events)) {
        *err = damage;
        return status;
    }
    damage.status = status;
    status = tts_follow_end(r->follow, &whole, err);
    if (status == TTS_OK)
        status = r->kept;
    if (status == TTS_OK)
        status = add_whole(r, whole);
    if (status != TTS_OK)
        return status;
    if (!r->has_events)
        return tts_error_set(err, TTS_E_NOT_FOUND, "has no event");
    assert(r->room->count > 0);
    tts_runs_total(r->room);
    take_whole(r, whole);
    tts_runs_name_captures(r->room);
    note_file(r, &damage);
    return TTS_OK;
}

enum tts_status tts_runs_of_events(const char *path, struct tts_runs_room *room,
                                   struct tts_error *err)
{
    struct reader r = {.room = room};
    struct tts_error why = {0};
    struct tts_follow_config config = {.on_phase = on_phase, .ctx = &r};
    enum tts_status status = tts_eventfile_open(path, NULL, room->alloc, &r.file, &why);
    if (status == TTS_OK)
        status = tts_follow_new(&config, room->alloc, &r.follow, &why);
    if (status == TTS_OK)
        status = read_file(&r, &why);
    if (status == TTS_E_NOMEM)
        tts_error_set(&why, status, "out of memory");
    if (status != TTS_OK && err)
        *err = why;
    tts_follow_free(r.follow);
    tts_eventfile_close(r.file);
    return status;
}
