#include "sources/resultfile.h"

#include "base/error.h"
#include "base/heap.h"
#include "sources/resultfile_inside.h"

#define OURS "ttscope."

enum { KNOWN_VERSION = 1 };

/* ---- the document ---- */

static enum tts_status read_schema(struct tts_result_reader *r, struct tts_result_draft *draft)
{
    bool is_in;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = tts_result_enter(r, draft, "schema", TTS_JSONPULL_OBJECT, &is_in);
    while (is_in && status == TTS_OK) {
        status = tts_result_key(r, key);
        if (status != TTS_OK || key[0] == '\0')
            return status;
        if (tts_result_is_key(key, "name"))
            status = tts_result_text(r, draft, key, r->schema, sizeof r->schema);
        else if (tts_result_is_key(key, "version"))
            status = tts_result_number(r, draft, key, &r->has_version, &r->version);
        else
            status = tts_jsonpull_skip(r->json, r->err);
    }
    return status;
}

static enum tts_status read_document(struct tts_result_reader *r)
{
    struct tts_result_draft draft;
    struct tts_jsonpull_token token;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = tts_result_run_begin(r, &r->top, &draft);
    draft.takes_captures = true;
    if (status == TTS_OK)
        status = tts_result_pull(r, &token);
    if (status == TTS_OK && token.kind != TTS_JSONPULL_OBJECT)
        return tts_error_set(r->err, TTS_E_INVALID, "is not a result of ttscope (--json)");
    while (status == TTS_OK) {
        status = tts_result_key(r, key);
        if (status == TTS_OK && key[0] == '\0')
            break;
        if (status != TTS_OK)
            return status;
        if (tts_result_is_key(key, "schema"))
            status = read_schema(r, &draft);
        else if (tts_result_is_key(key, "runs"))
            status = tts_result_list(r, &draft, key, tts_result_run);
        else
            status = tts_result_run_field(r, &draft, key);
    }
    if (status != TTS_OK)
        return status;
    tts_result_run_end(r, &draft);
    return tts_result_pull(r, &token); /* nothing may come behind it */
}

static bool is_ours(const char *schema)
{
    return strncmp(schema, OURS, strlen(OURS)) == 0;
}

static enum tts_status check_schema(const struct tts_result_reader *r)
{
    if (!is_ours(r->schema))
        return tts_error_set(r->err, TTS_E_INVALID, "is not a result of ttscope (--json)");
    if (!r->has_version)
        return tts_error_set(r->err, TTS_E_INVALID,
                             "the version of its schema '%.40s' cannot be read", r->schema);
    if (r->version > KNOWN_VERSION)
        return tts_error_set(r->err, TTS_E_INVALID,
                             "is of a later version of '%.40s' than this ttscope knows",
                             r->schema);
    return TTS_OK;
}

/* The figures of a log are rounded, also when they come from analyze. */
static void mark_exact(struct tts_runs_room *room, const char *schema)
{
    for (size_t i = 0; i < room->count; i++)
        room->entries[i].run.is_exact = !tts_result_is_key(schema, OURS "analyze");
}

/* What is said of the document as a whole goes with its last run, and what is missing of it
 * may be missing of each. */
static void move_notes(const struct tts_run *from, struct tts_runs_room *room)
{
    struct tts_run *last = &room->entries[room->count - 1].run;
    for (size_t i = 0; i < from->note_count; i++)
        tts_runs_note(last, from->notes[i].line, "%s", from->notes[i].text);
    last->notes_in_all += from->notes_in_all - from->note_count;
    for (size_t i = 0; i < room->count; i++)
        room->entries[i].run.is_at_least |= from->is_at_least;
}

/* Its captures are the runs. */
static void settle_captures(struct tts_runs_room *room)
{
    struct tts_run *first = &room->entries[0].run;
    if (room->count > 1 && first->phase_count == 0) {
        move_notes(first, room);
        first->overall_peak = (struct tts_amount){0}; /* of the file, not of a capture */
    }
    tts_runs_total(room);
    tts_runs_name_captures(room);
}

static enum tts_status settle(struct tts_result_reader *r, struct tts_runs *out)
{
    struct tts_runs_room *room = r->runs.count > 0 ? &r->runs : &r->top;
    enum tts_status status = check_schema(r);
    if (status != TTS_OK)
        return status;
    if (room == &r->top)
        settle_captures(room);
    else
        move_notes(&r->top.entries[0].run, room);
    mark_exact(room, r->schema);
    status = tts_runs_settle(room, TTS_RUNS_RESULT, out);
    if (status != TTS_OK)
        return tts_error_set(r->err, status, "out of memory");
    if (out->count > 0)
        return TTS_OK;
    tts_runs_release(out);
    return tts_error_set(r->err, TTS_E_NOT_FOUND, "a result of '%.40s' without phases",
                         r->schema);
}

enum tts_status tts_result_read(struct tts_jsonpull *json, const struct tts_alloc *alloc,
                                struct tts_runs *out, struct tts_error *err)
{
    struct tts_error why = {0};
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_result_reader r = {.json = json,
                                  .err = &why,
                                  .runs = {.alloc = alloc},
                                  .top = {.alloc = alloc},
                                  .has_version = true};
    struct tts_runs runs = {0};
    enum tts_status status = read_document(&r);
    if (status == TTS_OK)
        status = settle(&r, &runs);
    tts_runs_room_release(&r.runs);
    tts_runs_room_release(&r.top);
    if (status == TTS_OK)
        *out = runs;
    else if (err)
        *err = why;
    return status;
}

enum tts_status tts_result_parse(const char *text, size_t len, const struct tts_alloc *alloc,
                                 struct tts_runs *out, struct tts_error *err)
{
    const struct tts_jsonpull_source source = {.before = (const unsigned char *)text,
                                               .before_len = len,
                                               .fd = -1,
                                               .window_bytes = TTS_JSONPULL_WINDOW_MIN};
    struct tts_jsonpull *json;
    alloc = alloc ? alloc : tts_alloc_libc();
    enum tts_status status = tts_jsonpull_new(&source, alloc, &json, err);
    if (status != TTS_OK)
        return status;
    status = tts_result_read(json, alloc, out, err);
    tts_jsonpull_free(json);
    return status;
}

/* ---- is it one? ---- */

static bool has_our_schema(struct tts_result_reader *r)
{
    struct tts_result_draft draft = {.entry = &draft.spare};
    return read_schema(r, &draft) == TTS_OK && is_ours(r->schema);
}

bool tts_result_is_one(struct tts_jsonpull *json)
{
    struct tts_error ignored;
    struct tts_jsonpull_token token;
    struct tts_result_reader r = {.json = json, .err = &ignored};
    char key[TTS_RESULT_KEY_MAX];
    if (tts_result_pull(&r, &token) != TTS_OK || token.kind != TTS_JSONPULL_OBJECT)
        return false;
    while (tts_result_key(&r, key) == TTS_OK && key[0] != '\0' &&
           !tts_result_is_key(key, "graph")) {
        if (tts_result_is_key(key, "schema"))
            return has_our_schema(&r);
        if (tts_jsonpull_skip(json, &ignored) != TTS_OK)
            break;
    }
    return false;
}
