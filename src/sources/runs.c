#include "sources/runs.h"

#include "base/error.h"
#include "base/heap.h"
#include "sources/graph.h"
#include "sources/input.h"
#include "sources/json_pull.h"
#include "sources/resultfile.h"
#include "sources/runs_inside.h"
#include "sources/trainlog.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

struct tts_runs_reader {
    const struct tts_alloc *alloc;
    struct tts_input *in;
    enum tts_input_kind input_kind;
    enum tts_runs_kind kind; /* known after the start */
    bool is_started;
    /* A log. */
    struct tts_trainlog *log;
    struct tts_error refusal; /* why an input that begins like JSON is no trace */
    void (*tick)(void *ctx, uint64_t taken);
    void *tick_ctx;
    /* Anything else, which is read at the start as a whole. */
    struct tts_runs whole;
    size_t next;
};

static enum tts_status settle_runs(struct tts_runs_room *room, enum tts_runs_kind kind,
                                   struct tts_runs *out, struct tts_error *err)
{
    struct tts_runs runs;
    enum tts_status status = tts_runs_settle(room, kind, &runs);
    if (status != TTS_OK)
        return tts_error_set(err, status, "out of memory");
    if (runs.count == 0) {
        tts_runs_release(&runs);
        return tts_error_set(err, TTS_E_NOT_FOUND, "its memory summary has no phase");
    }
    *out = runs;
    return TTS_OK;
}

/* ---- results ---- */

/* Reads the content from its beginning, without a byte order mark. The caller frees *out. */
static enum tts_status pull_json(struct tts_runs_reader *reader, struct tts_jsonpull **out,
                                 struct tts_error *err)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf}; /* of UTF-8, by some editors */
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

static enum tts_status is_result(struct tts_runs_reader *reader, bool *out,
                                 struct tts_error *err)
{
    struct tts_jsonpull *json;
    enum tts_status status = pull_json(reader, &json, err);
    if (status != TTS_OK)
        return status;
    *out = tts_result_is_one(json);
    tts_jsonpull_free(json);
    return TTS_OK;
}

static enum tts_status read_result(struct tts_runs_reader *reader, struct tts_error *err)
{
    struct tts_jsonpull *json;
    enum tts_status status = pull_json(reader, &json, err);
    if (status != TTS_OK)
        return status;
    status = tts_result_read(json, reader->alloc, &reader->whole, err);
    tts_jsonpull_free(json);
    return status;
}

/* ---- events and logs ---- */

static enum tts_status read_events(struct tts_runs_reader *reader, struct tts_error *err)
{
    struct tts_runs_room room = {.alloc = reader->alloc};
    enum tts_status status = tts_input_rewind(reader->in, err);
    if (status == TTS_OK)
        status = tts_runs_of_events(tts_input_path(reader->in), &room, err);
    if (status == TTS_OK)
        status = settle_runs(&room, TTS_RUNS_EVENTS, &reader->whole, err);
    tts_runs_room_release(&room);
    return status;
}

static enum tts_status begin_log(struct tts_runs_reader *reader, struct tts_error *err)
{
    enum tts_status status = tts_input_rewind(reader->in, err);
    if (status == TTS_OK)
        status = tts_trainlog_new(reader->in, reader->alloc, &reader->log, err);
    if (status != TTS_OK)
        return status;
    reader->kind = TTS_RUNS_LOG;
    tts_trainlog_on_tick(reader->log, reader->tick, reader->tick_ctx);
    return TTS_OK;
}

/* Some logs begin with a line of JSON: JSON that is no graph trace may be a log. */
static enum tts_status begin_json(struct tts_runs_reader *reader, struct tts_error *err)
{
    bool is_ours = false;
    enum tts_status status = tts_input_spool(reader->in, "a pipe", NULL, NULL, err);
    if (status == TTS_OK && !tts_input_is_compressed(reader->in))
        status = is_result(reader, &is_ours, err);
    if (status != TTS_OK)
        return status;
    if (is_ours) {
        reader->kind = TTS_RUNS_RESULT;
        return read_result(reader, err);
    }
    status = read_events(reader, &reader->refusal);
    if (status == TTS_OK)
        return status;
    reader->refusal.status = status;
    if (status != TTS_E_NOMEM && status != TTS_E_IO)
        return begin_log(reader, err);
    if (err)
        *err = reader->refusal;
    return status;
}

/* Text that begins like JSON, but cannot be a trace: keeps why, before the text is read. */
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
        return begin_json(reader, err);
    if (tts_input_begins_as_json(reader->in))
        keep_refusal(reader);
    if (reader->input_kind != TTS_INPUT_RECORDING || tts_input_is_compressed(reader->in))
        return begin_log(reader, err);
    enum tts_status status = tts_input_spool(reader->in, "a pipe", NULL, NULL, err);
    return status == TTS_OK ? read_events(reader, err) : status;
}

/* ---- one after the other ---- */

enum tts_status tts_runs_open(const char *path, const struct tts_alloc *alloc,
                              struct tts_runs_reader **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_runs_reader *reader = alloc->alloc(alloc->ctx, sizeof *reader);
    if (!reader)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    *reader = (struct tts_runs_reader){.alloc = alloc, .kind = TTS_RUNS_EVENTS};
    enum tts_status status = tts_input_open(path, alloc, &reader->in, err);
    if (status == TTS_OK)
        status = tts_input_kind(reader->in, &reader->input_kind, err);
    if (status != TTS_OK) {
        tts_runs_close(reader);
        return status;
    }
    *out = reader;
    return TTS_OK;
}

void tts_runs_close(struct tts_runs_reader *reader)
{
    if (!reader)
        return;
    tts_trainlog_close(reader->log);
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

static enum tts_status keep_run(struct tts_runs_room *room, const struct tts_run *run)
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
                             "is UTF-16, convert it by 'iconv -f UTF-16 -t UTF-8'");
    if (facts.has_nul)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "is neither a recording, nor a graph trace, nor text");
    return tts_error_set(err, TTS_E_NOT_FOUND,
                         "no memory summary in it, and it is no recording, graph trace or "
                         "saved result (--json)");
}

/* Fails for a log without a summary. JSON is a trace that is broken. */
static enum tts_status refuse_input(const struct tts_runs_reader *reader, struct tts_error *err)
{
    if (tts_input_is_compressed(reader->in))
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "no memory summary in it; of compressed files only logs and graph "
                             "traces are read");
    if (reader->refusal.status == TTS_OK)
        return refuse_log(reader->log, err);
    *err = reader->refusal;
    return err->status;
}

/* Runs that were read before damage stay, with a note. */
static enum tts_status end_log(const struct tts_runs_reader *reader, struct tts_runs_room *room,
                               enum tts_status status, struct tts_error *err)
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
                      "memory figures outside any summary, %" PRIu64 " line%s passed over",
                      facts.stray_lines, facts.stray_lines == 1 ? "" : "s");
    return TTS_OK;
}

static enum tts_status load_log(struct tts_runs_reader *reader, const char *path,
                                struct tts_runs *out, struct tts_error *err)
{
    struct tts_runs_room room = {.alloc = reader->alloc};
    const struct tts_run *run;
    enum tts_status kept = TTS_OK, status = TTS_OK;
    while (kept == TTS_OK && (status = tts_runs_next(reader, &run, err)) == TTS_OK)
        kept = keep_run(&room, run);
    if (kept != TTS_OK || status == TTS_E_NOMEM)
        status = tts_error_set(err, TTS_E_NOMEM, "out of memory");
    else
        status = end_log(reader, &room, status, err);
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
        status = load_log(reader, path, out, &why);
    } else if (status == TTS_OK) {
        *out = reader->whole;
        reader->whole = (struct tts_runs){0};
    }
    if (status != TTS_OK && err)
        *err = why;
    tts_runs_close(reader);
    return status;
}
