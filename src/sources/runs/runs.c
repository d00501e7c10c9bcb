#include "sources/runs/runs.h"

#include "base/error.h"
#include "base/heap.h"
#include "model/follow.h"
#include "sources/eventpass.h"
#include "sources/failure/failscan.h"
#include "sources/graph/graph.h"
#include "sources/input.h"
#include "sources/json_pull.h"
#include "sources/runs/resultfile.h"
#include "sources/runs/runs_room.h"
#include "sources/trainlog/trainlog.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define WHOLE_FILE "(whole file)"

#define AFTER_PHASES "(after the last phase)"

struct event_reader {
    struct tts_eventfile *file;
    struct tts_follow *follow;
    struct tts_eventpass pass;
    struct tts_runs_room *room;
    enum tts_status kept; /* the first failure to keep a phase, or TTS_OK */
    bool has_events;
    bool is_whole;          /* a capture began while no buffer was live */
    int64_t restored_bytes; /* bytes of DRAM and TRACE that were live before the first event */
    uint64_t missed, refused, samples;
    bool l1_is_unknown; /* the bytes of L1 buffers on each core are unknown */
    /* Number of the event whose refused request stopped the program; 0 if there is none. */
    uint64_t stop_seq;
    struct tts_error refusal;
};

/* ---- phases ---- */

static struct tts_run_phase make_run_phase(const struct event_reader *r,
                                           const struct tts_phase *phase)
{
    const struct tts_usage *usage = &phase->usage;
    struct tts_run_phase out = {0};
    /* With TRACE, because the figures of a log include TRACE. */
    tts_run_figures_dram(out.figures, &usage->dram_with_trace);
    tts_runs_put_name(out.name, phase->name, strlen(phase->name));
    if (r->l1_is_unknown)
        return out;
    out.figures[TTS_RUN_L1_CB] = tts_amount_of(usage->peak_cb_bytes);
    out.figures[TTS_RUN_L1_BUFFER] = tts_amount_of(usage->l1_with_small.peak_bytes);
    out.figures[TTS_RUN_L1_TOTAL] = tts_amount_of(usage->peak_total_bytes);
    if (usage->core.known && usage->core.bytes <= INT64_MAX)
        out.figures[TTS_RUN_L1_CORE] = tts_amount_of((int64_t)usage->core.bytes);
    return out;
}

/* Notes a core that uses more bytes than its L1 has. The cause is a free that is missing, or an
 * allocation that is counted twice. */
static void note_core_peak(const struct event_reader *r, struct tts_run *run,
                           const struct tts_phase *phase)
{
    const struct tts_core_peak *core = &phase->usage.core;
    if (!core->known || r->l1_is_unknown ||
        core->bytes <= tts_eventfile_core_bytes(r->file, core->device))
        return;
    run->is_at_least = true;
    tts_runs_note(run, 0,
                  "a core uses %" PRIu64 " B in phase '%.32s', more than the L1 of a core has: "
                  "the file lacks frees or is inconsistent",
                  core->bytes, phase->name);
}

static void keep_followed_phase(void *ctx, uint32_t capture, const struct tts_phase *phase,
                                bool is_partial)
{
    struct event_reader *r = ctx;
    struct tts_runs_entry *entry;
    struct tts_run_phase kept = make_run_phase(r, phase);
    if (r->kept != TTS_OK || capture == 0)
        return;
    r->kept = tts_runs_capture(r->room, capture, &entry);
    if (r->kept != TTS_OK || !entry)
        return;
    entry->run.is_exact = true;
    tts_runs_note_phase(entry, phase->name, is_partial);
    note_core_peak(r, &entry->run, phase);
    entry->run.is_at_least |= phase->usage.core.at_least;
    if (phase->usage.core.at_least)
        tts_runs_note(&entry->run, 0,
                      "the peak of a core in phase '%.40s' may be higher than shown",
                      phase->name);
    r->kept = tts_runs_add_phase(r->room, entry, &kept);
}

/* ---- items ---- */

static void count_read_item(struct event_reader *r, const struct tts_item *item)
{
    if (item->kind == TTS_ITEM_MISSED && !r->pass.gate.in_keyframe)
        r->missed += item->count;
    else if (item->kind == TTS_ITEM_LIVE && !tts_pool_is_l1(item->live.pool))
        r->restored_bytes =
            (int64_t)((uint64_t)r->restored_bytes + (uint64_t)item->live.size_bytes);
    if (item->kind == TTS_ITEM_BEGIN && !r->has_events && r->restored_bytes == 0)
        r->is_whole = true;
    r->samples += item->kind == TTS_ITEM_SAMPLE;
    r->has_events |= item->kind == TTS_ITEM_EVENT;
    tts_item_follow_stop(item, &r->stop_seq);
}

/* Follows an item. An item about captures that is invalid is skipped and counted. An invalid
 * event is an error, because all later figures would be wrong. */
static enum tts_status follow_read_item(void *ctx, const struct tts_item *item,
                                        struct tts_error *err)
{
    struct event_reader *r = ctx;
    enum tts_status status = tts_follow_item(r->follow, item, err);
    if (status == TTS_OK)
        count_read_item(r, item);
    else if (status != TTS_E_NOMEM && item->kind != TTS_ITEM_EVENT) {
        if (r->refused++ == 0)
            r->refusal = *err;
        status = TTS_OK;
    }
    return r->kept == TTS_OK ? status : r->kept;
}

/* Reads all items. Returns TTS_OK at the end of the file, otherwise the error that ended the
 * reading. */
static enum tts_status read_event_items(struct event_reader *r, struct tts_error *err)
{
    r->pass = (struct tts_eventpass){.file = r->file,
                                     .follow = r->follow,
                                     .take = follow_read_item,
                                     .ctx = r,
                                     .alloc = r->room->alloc};
    enum tts_status status = tts_eventpass_run(&r->pass, err);
    tts_eventpass_release(&r->pass);
    return status;
}

/* ---- the end ---- */

/* If the file has events but no capture, makes one run with one phase of the whole file. */
static enum tts_status add_whole_phase(struct event_reader *r, const struct tts_phase *whole)
{
    struct tts_runs_entry *entry;
    struct tts_run_phase phase = make_run_phase(r, whole);
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
        tts_runs_note(&entry->run, 0, "not all buffers from before the first event are known");
    note_core_peak(r, &entry->run, whole);
    return tts_runs_add_phase(r->room, entry, &phase);
}

/* Stores the peak of the whole file if it lies after the last phase. The only capture of a file
 * can end before the file: `ttscope fit --record` captures only the first iteration. */
static void take_whole_file(struct event_reader *r, const struct tts_phase *all)
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

static void note_recording_damage(struct tts_run *run, const struct tts_recfile_info *info)
{
    if (info->state_is_known && tts_rec_state_is_left(&info->state))
        return;
    run->is_at_least |= !info->state_is_known || info->state.kind == TTS_REC_STOPPED;
    if (!info->state_is_known)
        tts_runs_note(run, 0, "the recorded end state is damaged; events may be missing");
    else if (info->state.kind == TTS_REC_STOPPED)
        tts_runs_note(run, 0, "the recording stopped early; later events are missing");
}

/* Notes the events that are lost because of damage. The run they belong to is unknown, so all
 * runs are marked. */
static void note_event_gaps(struct event_reader *r, struct tts_run *last)
{
    const struct tts_eventfile_gaps *gaps = tts_eventfile_gaps(r->file);
    for (size_t i = 0; i < r->room->count && gaps->count > 0; i++)
        r->room->entries[i].run.is_at_least = true;
    if (gaps->count > 0)
        tts_runs_note(last, 0, "%.80s; %" PRIu64 " event%s missing because of damage",
                      gaps->first.text, gaps->events, gaps->events == 1 ? " is" : "s are");
}

/* Adds notes about the whole file to its last run. */
static void note_event_file(struct event_reader *r, const struct tts_error *damage)
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
    /* The run of the missing events is unknown, so every run is marked. */
    for (size_t i = 0; i < r->room->count && (r->missed > 0 || r->refused > 0); i++)
        r->room->entries[i].run.is_at_least = true;
    if (r->missed > 0)
        tts_runs_note(last, 0, "%" PRIu64 " event%s before %s recorded", r->missed,
                      r->missed == 1 ? " was dropped" : "s were dropped",
                      r->missed == 1 ? "it was" : "they were");
    if (r->stop_seq > 0) {
        last->is_at_least = true;
        tts_runs_note(last, 0,
                      "the last recorded request was refused (event %" PRIu64
                      "); the memory use after this request is unknown",
                      r->stop_seq);
    }
    if (r->refused > 0)
        tts_runs_note(last, r->refusal.line, "%.100s; ignored", r->refusal.text);
    if (tts_eventfile_recording(r->file))
        note_recording_damage(last, tts_recfile_info(tts_eventfile_recording(r->file)));
    note_event_gaps(r, last);
    last->is_at_least |= damage->status != TTS_OK;
    if (damage->status != TTS_OK)
        tts_runs_note(last, damage->line, "%.80s; only the part before the damage was read",
                      damage->text);
}

static enum tts_status no_event(const struct event_reader *r, struct tts_error *err)
{
    if (r->samples > 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "has samples of counters only and no events: 'ttscope show' and "
                             "'ttscope export' read samples");
    return tts_error_set(err, TTS_E_NOT_FOUND, "has no event");
}

static enum tts_status read_event_file(struct event_reader *r, struct tts_error *err)
{
    const struct tts_phase *whole;
    struct tts_error damage = {0};
    struct tts_recfile *recording = tts_eventfile_recording(r->file);
    r->l1_is_unknown =
        recording && tts_recfile_info(recording)->header.flags & TTS_REC_L1_REQUESTED;
    enum tts_status status = read_event_items(r, &damage);
    if (status == TTS_E_NOMEM || (status != TTS_OK && !r->has_events)) {
        *err = damage;
        return status;
    }
    damage.status = status;
    status = tts_follow_end(r->follow, &whole, err);
    if (status == TTS_OK)
        status = r->kept;
    if (status == TTS_OK)
        status = add_whole_phase(r, whole);
    if (status != TTS_OK)
        return status;
    if (!r->has_events)
        return no_event(r, err);
    assert(r->room->count > 0);
    tts_runs_total(r->room);
    take_whole_file(r, whole);
    tts_runs_name_captures(r->room);
    note_event_file(r, &damage);
    return TTS_OK;
}

static enum tts_status gather_event_runs(const char *path, struct tts_runs_room *room,
                                         struct tts_error *err)
{
    struct event_reader r = {.room = room};
    struct tts_error why = {0};
    struct tts_follow_config config = {.on_phase = keep_followed_phase, .ctx = &r};
    enum tts_status status = tts_eventfile_open(path, NULL, room->alloc, &r.file, &why);
    if (status == TTS_OK)
        status = tts_follow_new(&config, room->alloc, &r.follow, &why);
    if (status == TTS_OK)
        status = read_event_file(&r, &why);
    if (status == TTS_E_NOMEM)
        tts_error_set(&why, status, TTS_TEXT_NOMEM);
    if (status != TTS_OK && err)
        *err = why;
    tts_follow_free(r.follow);
    tts_eventfile_close(r.file);
    return status;
}

struct tts_runs_reader {
    const struct tts_alloc *alloc;
    struct tts_input *in;
    enum tts_input_kind input_kind;
    enum tts_runs_kind kind; /* valid after the first call of tts_runs_next() */
    bool is_started;
    /* The following fields are for a log. */
    struct tts_trainlog *log;
    struct tts_error refusal; /* reason why an input that begins like JSON is not a trace */
    void (*tick)(void *ctx, uint64_t taken);
    void *tick_ctx;
    void (*take_failure)(void *ctx, const struct tts_failmsg *msg); /* NULL: not searched */
    void *failure_ctx;
    struct tts_failscan *failures;
    /* Any other input, which is read completely at the start. */
    struct tts_runs whole;
    size_t next;
};

static enum tts_status settle_runs(struct tts_runs_room *room, enum tts_runs_kind kind,
                                   struct tts_runs *out, struct tts_error *err)
{
    struct tts_runs runs;
    enum tts_status status = tts_runs_settle(room, kind, &runs);
    if (status != TTS_OK)
        return tts_error_set(err, status, TTS_TEXT_NOMEM);
    if (runs.count == 0) {
        tts_runs_release(&runs);
        return tts_error_set(err, TTS_E_NOT_FOUND, "the memory summary has no phase");
    }
    *out = runs;
    return TTS_OK;
}

/* ---- results ---- */

/* Opens the content of the input from its beginning, after a byte order mark. The caller frees
 * *out. */
static enum tts_status pull_json_input(struct tts_runs_reader *reader,
                                       struct tts_jsonpull **out, struct tts_error *err)
{
    static const unsigned char mark[] = {
        0xef, 0xbb, 0xbf}; /* some editors write this UTF-8 byte order mark */
    struct tts_jsonpull_source source;
    enum tts_status status = tts_input_rewind(reader->in, err);
    if (status == TTS_OK)
        status = tts_input_json(reader->in, &source, err);
    if (status != TTS_OK)
        return status;
    if (source.before_len >= sizeof mark && memcmp(source.before, mark, sizeof mark) == 0) {
        source.before += sizeof mark;
        source.before_len -= sizeof mark;
        source.before_off = sizeof mark;
    }
    return tts_jsonpull_new(&source, reader->alloc, out, err);
}

static enum tts_status is_result_input(struct tts_runs_reader *reader, bool *out,
                                       struct tts_error *err)
{
    struct tts_jsonpull *json;
    enum tts_status status = pull_json_input(reader, &json, err);
    if (status != TTS_OK)
        return status;
    *out = tts_result_is_one(json);
    tts_jsonpull_free(json);
    return TTS_OK;
}

static enum tts_status read_result_runs(struct tts_runs_reader *reader, struct tts_error *err)
{
    struct tts_jsonpull *json;
    enum tts_status status = pull_json_input(reader, &json, err);
    if (status != TTS_OK)
        return status;
    status = tts_result_read(json, reader->alloc, &reader->whole, err);
    tts_jsonpull_free(json);
    return status;
}

/* ---- events and logs ---- */

static enum tts_status read_event_runs(struct tts_runs_reader *reader, struct tts_error *err)
{
    struct tts_runs_room room = {.alloc = reader->alloc};
    enum tts_status status = tts_input_rewind(reader->in, err);
    if (status == TTS_OK)
        status = gather_event_runs(tts_input_path(reader->in), &room, err);
    if (status == TTS_OK)
        status = settle_runs(&room, TTS_RUNS_EVENTS, &reader->whole, err);
    tts_runs_room_release(&room);
    return status;
}

/* Searches the bytes that the reader of the log has just read. */
static void search_failures(void *ctx, const struct tts_logpiece *piece)
{
    struct tts_runs_reader *reader = ctx;
    struct tts_failmsg msg;
    tts_failscan_feed(reader->failures, piece);
    while (tts_failscan_next(reader->failures, &msg, NULL) == TTS_OK)
        reader->take_failure(reader->failure_ctx, &msg);
}

static enum tts_status begin_failures(struct tts_runs_reader *reader, struct tts_error *err)
{
    if (!reader->take_failure)
        return TTS_OK;
    enum tts_status status =
        tts_failscan_new_fed(tts_input_path(reader->in), reader->alloc, &reader->failures, err);
    if (status == TTS_OK)
        tts_trainlog_on_read(reader->log, search_failures, reader);
    return status;
}

static enum tts_status begin_log_runs(struct tts_runs_reader *reader, struct tts_error *err)
{
    enum tts_status status = tts_input_rewind(reader->in, err);
    if (status == TTS_OK)
        status = tts_trainlog_new(reader->in, reader->alloc, &reader->log, err);
    if (status == TTS_OK)
        status = begin_failures(reader, err);
    if (status != TTS_OK)
        return status;
    reader->kind = TTS_RUNS_LOG;
    tts_trainlog_on_tick(reader->log, reader->tick, reader->tick_ctx);
    return TTS_OK;
}

/* Begins an input whose first line is JSON. The input is a result of ttscope, a graph trace, or
 * a log: some logs begin with a line of JSON. */
static enum tts_status begin_json_runs(struct tts_runs_reader *reader, struct tts_error *err)
{
    bool is_ours = false;
    enum tts_status status = tts_input_spool(reader->in, "a pipe", NULL, NULL, err);
    if (status == TTS_OK && !tts_input_is_compressed(reader->in))
        status = is_result_input(reader, &is_ours, err);
    if (status != TTS_OK)
        return status;
    if (is_ours) {
        reader->kind = TTS_RUNS_RESULT;
        return read_result_runs(reader, err);
    }
    status = read_event_runs(reader, &reader->refusal);
    if (status == TTS_OK)
        return status;
    reader->refusal.status = status;
    if (status != TTS_E_NOMEM && status != TTS_E_IO)
        return begin_log_runs(reader, err);
    if (err)
        *err = reader->refusal;
    return status;
}

/* Stores the reason why a text that begins like JSON cannot be a trace. Examines only the first
 * bytes of the input. */
static void keep_refusal(struct tts_runs_reader *reader)
{
    struct tts_graph *graph = NULL;
    struct tts_item item;
    struct tts_jsonpull_source source = {.fd = -1};
    source.before = tts_input_head(reader->in, &source.before_len);
    enum tts_status status =
        tts_graph_open_from(&source, reader->alloc, &graph, &reader->refusal);
    if (status == TTS_OK)
        status = tts_graph_next(graph, &item, &reader->refusal);
    reader->refusal.status = status;
    tts_graph_close(graph);
}

static enum tts_status begin_runs(struct tts_runs_reader *reader, struct tts_error *err)
{
    if (reader->is_started)
        return TTS_OK;
    reader->is_started = true;
    if (reader->input_kind == TTS_INPUT_JSON)
        return begin_json_runs(reader, err);
    if (tts_input_begins_as_json(reader->in))
        keep_refusal(reader);
    if (reader->input_kind != TTS_INPUT_RECORDING || tts_input_is_compressed(reader->in))
        return begin_log_runs(reader, err);
    enum tts_status status = tts_input_spool(reader->in, "a pipe", NULL, NULL, err);
    return status == TTS_OK ? read_event_runs(reader, err) : status;
}

/* ---- one after the other ---- */

enum tts_status tts_runs_open(const char *path, const struct tts_alloc *alloc,
                              struct tts_runs_reader **out, struct tts_error *err)
{
    struct tts_input *in;
    enum tts_status status = tts_input_open(path, alloc, &in, err);
    if (status != TTS_OK)
        return status;
    status = tts_runs_new(in, alloc, out, err);
    if (status != TTS_OK)
        tts_input_close(in);
    return status;
}

enum tts_status tts_runs_new(struct tts_input *in, const struct tts_alloc *alloc,
                             struct tts_runs_reader **out, struct tts_error *err)
{
    enum tts_input_kind kind;
    enum tts_status status = tts_input_kind(in, &kind, err);
    if (status != TTS_OK)
        return status;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_runs_reader *reader = alloc->alloc(alloc->ctx, sizeof *reader);
    if (!reader)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    *reader = (struct tts_runs_reader){
        .alloc = alloc, .in = in, .input_kind = kind, .kind = TTS_RUNS_EVENTS};
    *out = reader;
    return TTS_OK;
}

void tts_runs_close(struct tts_runs_reader *reader)
{
    if (!reader)
        return;
    tts_trainlog_close(reader->log);
    tts_failscan_free(reader->failures);
    tts_runs_release(&reader->whole);
    tts_input_close(reader->in);
    reader->alloc->free(reader->alloc->ctx, reader, sizeof *reader);
}

enum tts_status tts_runs_next(struct tts_runs_reader *reader, const struct tts_run **out,
                              struct tts_error *err)
{
    enum tts_status status = begin_runs(reader, err);
    if (status != TTS_OK)
        return status;
    if (reader->log)
        return tts_trainlog_next(reader->log, out, err);
    if (reader->next == reader->whole.count)
        return TTS_E_NOT_FOUND;
    *out = &reader->whole.runs[reader->next++];
    return TTS_OK;
}

void tts_runs_on_tick(struct tts_runs_reader *reader, void (*tick)(void *ctx, uint64_t taken),
                      void *ctx)
{
    assert(!reader->is_started);
    reader->tick = tick;
    reader->tick_ctx = ctx;
}

void tts_runs_on_failure(struct tts_runs_reader *reader,
                         void (*take)(void *ctx, const struct tts_failmsg *msg), void *ctx)
{
    assert(!reader->is_started);
    reader->take_failure = take;
    reader->failure_ctx = ctx;
}

uint64_t tts_runs_bytes(const struct tts_runs_reader *reader)
{
    return tts_input_total(reader->in);
}

const struct tts_trainlog *tts_runs_log(const struct tts_runs_reader *reader)
{
    return reader->log;
}

const struct tts_error *tts_runs_refusal(const struct tts_runs_reader *reader)
{
    bool is_json = reader->input_kind == TTS_INPUT_JSON;
    return is_json && reader->refusal.status != TTS_OK ? &reader->refusal : NULL;
}

/* ---- all of them ---- */

static enum tts_status keep_log_run(struct tts_runs_room *room, const struct tts_run *run)
{
    struct tts_runs_entry *entry;
    enum tts_status status = tts_runs_add(room, &entry);
    if (status != TTS_OK || !entry)
        return status;
    entry->run = *run;
    entry->run.phases = NULL;
    entry->run.phase_count = 0;
    for (size_t i = 0; i < run->phase_count && status == TTS_OK; i++)
        status = tts_runs_add_phase(room, entry, &run->phases[i]);
    return status;
}

static enum tts_status refuse_log(const struct tts_trainlog *log, struct tts_error *err)
{
    struct tts_trainlog_facts facts;
    tts_trainlog_facts(log, &facts);
    if (facts.bytes == 0)
        return tts_error_set(err, TTS_E_NOT_FOUND, "is empty");
    if (facts.is_utf16)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "is UTF-16; convert it with 'iconv -f UTF-16 -t UTF-8'");
    if (facts.has_nul)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "is neither a recording, nor a graph trace, nor text");
    return tts_error_set(
        err, TTS_E_NOT_FOUND,
        "the file is none of these: a log with a memory summary, a recording, a graph trace, a "
        "result saved with '--json'");
}

/* Fails because the input has no summary. If the input is JSON, it is a damaged trace, and *err
 * says why. */
static enum tts_status refuse_input(const struct tts_runs_reader *reader, struct tts_error *err)
{
    if (tts_input_is_compressed(reader->in))
        return tts_error_set(
            err, TTS_E_NOT_FOUND,
            "the compressed file is neither a log with a memory summary nor a "
            "graph trace: if the content is a recording or a result, decompress "
            "the file first");
    if (reader->refusal.status == TTS_OK)
        return refuse_log(reader->log, err);
    *err = reader->refusal;
    return err->status;
}

/* Finishes a log. If some runs were read before a failure, keeps them, with a note. */
static enum tts_status end_log_runs(const struct tts_runs_reader *reader,
                                    struct tts_runs_room *room, enum tts_status status,
                                    struct tts_error *err)
{
    if (room->count == 0)
        return status == TTS_E_NOT_FOUND ? refuse_input(reader, err) : status;
    struct tts_trainlog_facts facts;
    struct tts_run *last = &room->entries[room->count - 1].run;
    tts_trainlog_facts(reader->log, &facts);
    if (status != TTS_E_NOT_FOUND)
        tts_runs_note(last, err->line, "%.100s", err->text);
    else if (facts.stray_lines > 0)
        tts_runs_note(last, facts.stray_line,
                      "%" PRIu64 " line%s with memory figures outside any summary %s ignored",
                      facts.stray_lines, facts.stray_lines == 1 ? "" : "s",
                      facts.stray_lines == 1 ? "is" : "are");
    return TTS_OK;
}

static enum tts_status load_log_runs(struct tts_runs_reader *reader, const char *path,
                                     struct tts_runs *out, struct tts_error *err)
{
    struct tts_runs_room room = {.alloc = reader->alloc};
    const struct tts_run *run;
    enum tts_status kept = TTS_OK, status = TTS_OK;
    while (kept == TTS_OK && (status = tts_runs_next(reader, &run, err)) == TTS_OK)
        kept = keep_log_run(&room, run);
    if (kept != TTS_OK || status == TTS_E_NOMEM)
        status = tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    else
        status = end_log_runs(reader, &room, status, err);
    for (size_t i = 0; i < room.count; i++)
        tts_runs_put_file(&room.entries[i].run, path);
    if (status == TTS_OK)
        status = settle_runs(&room, TTS_RUNS_LOG, out, err);
    tts_runs_room_release(&room);
    return status;
}

enum tts_status tts_runs_load(const char *path, const struct tts_alloc *alloc,
                              struct tts_runs *out, struct tts_error *err)
{
    struct tts_runs_reader *reader = NULL;
    struct tts_error why = {0};
    enum tts_status status = tts_runs_open(path, alloc, &reader, &why);
    if (status == TTS_OK)
        status = begin_runs(reader, &why);
    if (status == TTS_OK && reader->log) {
        status = load_log_runs(reader, path, out, &why);
    } else if (status == TTS_OK) {
        *out = reader->whole;
        reader->whole = (struct tts_runs){0};
    }
    if (status != TTS_OK && err)
        *err = why;
    tts_runs_close(reader);
    return status;
}
