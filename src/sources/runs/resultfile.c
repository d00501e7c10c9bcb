#include "sources/runs/resultfile.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "sources/json_pull.h"
#include "sources/runs/runs_room.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { TTS_RESULT_KEY_MAX = 40, TTS_RESULT_WORD_MAX = 64 };

/* A run while its fields are being read. */
struct run_draft {
    struct tts_runs_room *room;
    /* An element of room->entries, or `spare` if the room is full. */
    struct tts_runs_entry *entry;
    struct tts_runs_entry spare;
    bool takes_captures;
    bool has_log;    /* the name of the run is the name of its log, which takes precedence */
    bool is_assumed; /* the source of the device memory is "assumed" */
    struct tts_amount parameter_bytes; /* bytes of the parameters on one chip */
    bool has_optimizer_source;
    bool is_whole; /* set by `analyze`: the peak is the peak of all iterations */
    char optimizer[TTS_RUN_WORD_MAX];
};

struct result_reader {
    struct tts_jsonpull *json;
    struct tts_error *err;
    /* The runs in the list "runs"; the runs of the document itself. */
    struct tts_runs_room runs, top;
    char schema[TTS_RESULT_WORD_MAX];
    bool has_version; /* `version` is valid; also true if the document has no version */
    uint64_t version;
};

/* Reads one object of a list. The '{' has been read. */
typedef enum tts_status (*result_one_fn)(struct result_reader *r, struct run_draft *draft);

static bool is_result_key(const char *key, const char *name)
{
    return strcmp(key, name) == 0;
}

/* ---- values ----
 * A null is treated as absent. A value of a wrong type is noted and treated as absent. */

static uint64_t mark_result_line(struct result_reader *r)
{
    tts_jsonpull_mark(r->json);
    return tts_jsonpull_marked_line(r->json);
}

/* Reads the next token. If the token begins an object or a list, its content is read by later
 * calls. */
static enum tts_status pull_token(struct result_reader *r, struct tts_jsonpull_token *token)
{
    return tts_jsonpull_next(r->json, token, r->err);
}

/* Notes a value of the wrong type and skips it. `token` is its first token. */
static enum tts_status note_wrong_kind(struct result_reader *r, struct run_draft *draft,
                                       const char *key, const struct tts_jsonpull_token *token,
                                       const char *wanted)
{
    tts_runs_note(&draft->entry->run, mark_result_line(r), "'%s' is not %s", key, wanted);
    return tts_jsonpull_finish(r->json, token, r->err);
}

static bool signed_number(const struct tts_jsonpull_token *token, int64_t *out)
{
    if (token->kind != TTS_JSONPULL_NUMBER)
        return false; /* only a number has a text and a value */
    uint64_t size = token->value;
    bool is_negative = token->len > 1 && token->text[0] == '-';
    if (!token->is_whole &&
        (!is_negative || tts_number_parse(token->text + 1, token->len - 1, &size) != TTS_OK))
        return false;
    if (size > (uint64_t)INT64_MAX)
        return false;
    *out = is_negative ? -(int64_t)size : (int64_t)size;
    return true;
}

static enum tts_status read_amount(struct result_reader *r, struct run_draft *draft,
                                   const char *key, struct tts_amount *out)
{
    struct tts_jsonpull_token token;
    int64_t bytes;
    enum tts_status status = pull_token(r, &token);
    if (status != TTS_OK)
        return status;
    *out = (struct tts_amount){0};
    if (token.kind == TTS_JSONPULL_NULL)
        return TTS_OK;
    if (!signed_number(&token, &bytes))
        return note_wrong_kind(r, draft, key, &token, "a number of bytes");
    *out = tts_amount_of(bytes);
    return TTS_OK;
}

static enum tts_status read_result_number(struct result_reader *r, struct run_draft *draft,
                                          const char *key, bool *is_there, uint64_t *out)
{
    struct tts_jsonpull_token token;
    enum tts_status status = pull_token(r, &token);
    if (status != TTS_OK)
        return status;
    *is_there = token.kind == TTS_JSONPULL_NUMBER && token.is_whole;
    *out = *is_there ? token.value : 0;
    if (*is_there || token.kind == TTS_JSONPULL_NULL)
        return TTS_OK;
    return note_wrong_kind(r, draft, key, &token, "a whole number");
}

/* Reads a string; a null gives "". The string is cut at a zero byte and at `capacity` - 1
 * bytes. */
static enum tts_status read_result_text(struct result_reader *r, struct run_draft *draft,
                                        const char *key, char *out, size_t capacity)
{
    struct tts_jsonpull_token token;
    enum tts_status status = pull_token(r, &token);
    if (status != TTS_OK)
        return status;
    memset(out, 0, capacity);
    if (token.kind == TTS_JSONPULL_STRING)
        tts_jsonpull_text(&token, out, capacity - 1);
    else if (token.kind != TTS_JSONPULL_NULL)
        return note_wrong_kind(r, draft, key, &token, "a text");
    return TTS_OK;
}

/* Reads true or false. Sets *is_there to false if the value is a null or has another type. */
static enum tts_status read_answer(struct result_reader *r, struct run_draft *draft,
                                   const char *key, bool *is_there, bool *out)
{
    struct tts_jsonpull_token token;
    enum tts_status status = pull_token(r, &token);
    if (status != TTS_OK)
        return status;
    *out = token.kind == TTS_JSONPULL_TRUE;
    *is_there = *out || token.kind == TTS_JSONPULL_FALSE;
    if (*is_there || token.kind == TTS_JSONPULL_NULL)
        return TTS_OK;
    return note_wrong_kind(r, draft, key, &token, "true or false");
}

static enum tts_status read_flag(struct result_reader *r, struct run_draft *draft,
                                 const char *key, bool *out)
{
    return read_answer(r, draft, key, &(bool){0}, out);
}

/* Enters an object or a list. Any other value is skipped, and *is_in is set to false. */
static enum tts_status enter_result_level(struct result_reader *r, struct run_draft *draft,
                                          const char *key, enum tts_jsonpull_kind kind,
                                          bool *is_in)
{
    struct tts_jsonpull_token token;
    enum tts_status status = pull_token(r, &token);
    *is_in = status == TTS_OK && token.kind == kind;
    if (status != TTS_OK || *is_in || token.kind == TTS_JSONPULL_NULL)
        return status;
    return note_wrong_kind(r, draft, key, &token,
                           kind == TTS_JSONPULL_ARRAY ? "a list" : "an object");
}

/* Reads the next key of the current object. `key` is "" at the end of the object, and "?" for a
 * key that cannot be a known one. */
static enum tts_status read_result_key(struct result_reader *r, char key[TTS_RESULT_KEY_MAX])
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_key(r->json, &token, r->err);
    memset(key, 0, TTS_RESULT_KEY_MAX);
    if (status != TTS_OK || token.kind == TTS_JSONPULL_OBJECT_END)
        return status;
    size_t len = tts_jsonpull_text(&token, key, TTS_RESULT_KEY_MAX - 1);
    /* A known key is not empty, has no zero byte, and is not longer than the buffer. */
    if (len == 0 || strlen(key) < len || token.len >= TTS_RESULT_KEY_MAX)
        memcpy(key, "?", 2);
    return TTS_OK;
}

static enum tts_status read_object_list(struct result_reader *r, struct run_draft *draft,
                                        const char *key, result_one_fn read_one)
{
    bool is_in;
    enum tts_status status = enter_result_level(r, draft, key, TTS_JSONPULL_ARRAY, &is_in);
    while (is_in && status == TTS_OK) {
        struct tts_jsonpull_token token;
        status = pull_token(r, &token);
        if (status != TTS_OK || token.kind == TTS_JSONPULL_ARRAY_END)
            return status;
        status = token.kind == TTS_JSONPULL_OBJECT
                     ? read_one(r, draft)
                     : note_wrong_kind(r, draft, key, &token, "a list of objects");
    }
    return status;
}

enum { PATH_TEXT_MAX = 4096 };

/* ---- phases ---- */

struct phase_draft {
    struct tts_run_phase phase;
    bool has_capture, is_partial, core_at_least;
    uint64_t capture;
};

static const char *const figure_names[] = {
#define X(name, key) key "_bytes",
    TTS_RUN_FIGURE_MAP(X)
#undef X
};

/* Reads the figures in one object of a phase. `object` is the key of the object, "dram" or
 * "l1". */
static enum tts_status read_phase_figures(struct result_reader *r, struct run_draft *draft,
                                          const char *object, struct phase_draft *out)
{
    bool is_l1 = is_result_key(object, "l1");
    int first = is_l1 ? TTS_RUN_L1_CB : 0, end = is_l1 ? TTS_RUN_FIGURES : TTS_RUN_L1_CB;
    bool is_in;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = enter_result_level(r, draft, object, TTS_JSONPULL_OBJECT, &is_in);
    while (is_in && status == TTS_OK) {
        status = read_result_key(r, key);
        if (status != TTS_OK || key[0] == '\0')
            return status;
        int at = first;
        while (at < end && !is_result_key(key, figure_names[at]))
            at++;
        if (at < end)
            status = read_amount(r, draft, key, &out->phase.figures[at]);
        else if (is_result_key(key, "true_core_peak_at_least"))
            status = read_flag(r, draft, key, &out->core_at_least);
        else
            status = tts_jsonpull_skip(r->json, r->err);
    }
    return status;
}

static enum tts_status read_phase_field(struct result_reader *r, struct run_draft *draft,
                                        const char *key, struct phase_draft *out)
{
    bool is_there;
    if (is_result_key(key, "name"))
        return read_result_text(r, draft, key, out->phase.name, sizeof out->phase.name);
    if (is_result_key(key, "line"))
        return read_result_number(r, draft, key, &is_there, &out->phase.line);
    if (is_result_key(key, "capture"))
        return read_result_number(r, draft, key, &out->has_capture, &out->capture);
    if (is_result_key(key, "partial"))
        return read_flag(r, draft, key, &out->is_partial);
    if (is_result_key(key, "dram") || is_result_key(key, "l1"))
        return read_phase_figures(r, draft, key, out);
    return tts_jsonpull_skip(r->json, r->err);
}

/* Adds the phase to the run of the capture that the phase names. A phase that names no capture
 * is added to the current run. */
static enum tts_status keep_result_phase(struct run_draft *draft,
                                         const struct phase_draft *phase)
{
    struct tts_runs_room *room = draft->room;
    struct tts_runs_entry *entry = draft->entry;
    bool of_capture = draft->takes_captures && phase->has_capture && phase->capture > 0 &&
                      phase->capture <= UINT32_MAX;
    if (of_capture) {
        size_t own = (size_t)(entry - room->entries);
        enum tts_status status = tts_runs_capture(room, (uint32_t)phase->capture, &entry);
        if (status != TTS_OK)
            return status;
        draft->entry = &room->entries[own]; /* adding an entry may have moved the array */
    }
    if (!entry || entry == &draft->spare)
        return TTS_OK;
    if (of_capture)
        tts_runs_note_phase(entry, phase->phase.name, phase->is_partial);
    entry->run.is_at_least |= phase->is_partial || phase->core_at_least;
    return tts_runs_add_phase(room, entry, &phase->phase);
}

/* Reads one object of "phases", whose '{' has been read, and keeps the phase. */
static enum tts_status read_result_phase(struct result_reader *r, struct run_draft *draft)
{
    struct phase_draft phase = {0};
    char key[TTS_RESULT_KEY_MAX];
    for (;;) {
        enum tts_status status = read_result_key(r, key);
        if (status != TTS_OK)
            return status;
        if (key[0] == '\0')
            break;
        status = read_phase_field(r, draft, key, &phase);
        if (status != TTS_OK)
            return status;
    }
    enum tts_status status = keep_result_phase(draft, &phase);
    return status == TTS_OK ? TTS_OK : tts_error_set(r->err, status, TTS_TEXT_NOMEM);
}

/* ---- a run ---- */

/* Reads one object of "notes" or "missing" and adds its text as a note. */
static enum tts_status read_result_note(struct result_reader *r, struct run_draft *draft)
{
    char key[TTS_RESULT_KEY_MAX], text[TTS_RUN_NOTE_BYTES] = "";
    uint64_t line = 0;
    bool is_there;
    for (;;) {
        enum tts_status status = read_result_key(r, key);
        if (status != TTS_OK)
            return status;
        if (key[0] == '\0')
            break;
        if (is_result_key(key, "line"))
            status = read_result_number(r, draft, key, &is_there, &line);
        else if (is_result_key(key, "text"))
            status = read_result_text(r, draft, key, text, sizeof text);
        else
            status = tts_jsonpull_skip(r->json, r->err);
        if (status != TTS_OK)
            return status;
    }
    tts_runs_note(&draft->entry->run, line, "%s", text);
    return TTS_OK;
}

static enum tts_status read_value_source(struct result_reader *r, struct run_draft *draft,
                                         const char *key, bool *is_assumed)
{
    char word[TTS_RESULT_WORD_MAX];
    enum tts_status status = read_result_text(r, draft, key, word, sizeof word);
    *is_assumed = is_result_key(word, "assumed") || word[0] == '\0';
    return status;
}

/* Reads the name of the run. The name of its log takes precedence over its own name. */
static enum tts_status read_run_name(struct result_reader *r, struct run_draft *draft,
                                     const char *key)
{
    struct tts_run *run = &draft->entry->run;
    char text[PATH_TEXT_MAX];
    bool is_log = is_result_key(key, "log");
    enum tts_status status = read_result_text(r, draft, key, text, sizeof text);
    if (status != TTS_OK || (draft->has_log && !is_log))
        return status;
    draft->has_log |= is_log;
    tts_runs_put_file(run, text);
    return TTS_OK;
}

/* Reads the memory of one device. The document never has the sum of several devices, as a log
 * may have. */
static enum tts_status read_device_memory(struct result_reader *r, struct run_draft *draft,
                                          const char *key)
{
    struct tts_run *run = &draft->entry->run;
    run->device_memory_is_one = true;
    return read_amount(r, draft, key, &run->device_memory);
}

/* Reads a flag. If the flag is true, the figures of the run are lower limits; several keys mean
 * this. */
static enum tts_status read_at_least(struct result_reader *r, struct run_draft *draft,
                                     const char *key)
{
    bool is_so = false;
    enum tts_status status = read_flag(r, draft, key, &is_so);
    draft->entry->run.is_at_least |= is_so;
    return status;
}

/* Reads one object of "parts" and adds the part to the peak of the run. */
static enum tts_status read_peak_part(struct result_reader *r, struct run_draft *draft)
{
    char key[TTS_RESULT_KEY_MAX], name[TTS_RESULT_WORD_MAX] = "";
    struct tts_amount bytes = {0};
    for (;;) {
        enum tts_status status = read_result_key(r, key);
        if (status != TTS_OK)
            return status;
        if (key[0] == '\0')
            break;
        if (is_result_key(key, "name"))
            status = read_result_text(r, draft, key, name, sizeof name);
        else if (is_result_key(key, "bytes"))
            status = read_amount(r, draft, key, &bytes);
        else
            status = tts_jsonpull_skip(r->json, r->err);
        if (status != TTS_OK)
            return status;
    }
    if (bytes.is_known && !tts_run_whole_add(&draft->entry->run.whole, name, bytes.bytes))
        tts_runs_note(&draft->entry->run, 0, "part '%.40s' of the peak has an invalid size",
                      name);
    return TTS_OK;
}

/* Reads the object "peak" of `fit`, which has the phase and the parts of the peak. */
static enum tts_status read_run_peak(struct result_reader *r, struct run_draft *draft,
                                     const char *object)
{
    struct tts_run_whole *whole = &draft->entry->run.whole;
    bool is_in;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = enter_result_level(r, draft, object, TTS_JSONPULL_OBJECT, &is_in);
    while (is_in && status == TTS_OK) {
        status = read_result_key(r, key);
        if (status != TTS_OK || key[0] == '\0')
            return status;
        if (is_result_key(key, "phase"))
            status = read_result_text(r, draft, key, whole->phase, sizeof whole->phase);
        else if (is_result_key(key, "parts"))
            status = read_object_list(r, draft, key, read_peak_part);
        else
            status = tts_jsonpull_skip(r->json, r->err);
    }
    return status;
}

/* Reads the object "breakdown" of `analyze`, which has the sizes of the parts of the peak. */
static enum tts_status read_peak_breakdown(struct result_reader *r, struct run_draft *draft,
                                           const char *object)
{
    static const char *const names[] = {"other", "model", "gradients_overhead", "optimizer",
                                        "activations"};
    static_assert(sizeof names / sizeof names[0] == TTS_RUN_PARTS, "each");
    struct tts_run_whole *whole = &draft->entry->run.whole;
    struct tts_amount bytes = {0};
    bool is_in;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = enter_result_level(r, draft, object, TTS_JSONPULL_OBJECT, &is_in);
    while (is_in && status == TTS_OK) {
        status = read_result_key(r, key);
        if (status != TTS_OK || key[0] == '\0')
            return status;
        int part = 0;
        while (part < TTS_RUN_PARTS && !is_result_key(key, names[part]))
            part++;
        if (part == TTS_RUN_PARTS) {
            status = tts_jsonpull_skip(r->json, r->err);
            continue;
        }
        status = read_amount(r, draft, key, &bytes);
        whole->parts[part] = bytes.is_known && bytes.bytes > 0 ? bytes.bytes : 0;
    }
    return status;
}

/* Reads the value of `key` if the key is about the whole run. Sets *is_one to false for any
 * other key. */
static enum tts_status read_whole_run(struct result_reader *r, struct run_draft *draft,
                                      const char *key, bool *is_one)
{
    struct tts_run_whole *whole = &draft->entry->run.whole;
    *is_one = true;
    if (is_result_key(key, "peak_bytes"))
        return read_amount(r, draft, key, &whole->peak);
    if (is_result_key(key, "fits"))
        return read_answer(r, draft, key, &whole->has_fits, &whole->fits);
    if (is_result_key(key, "device"))
        return read_result_text(r, draft, key, whole->device, sizeof whole->device);
    if (is_result_key(key, "fits_reason")) {
        char word[TTS_RESULT_WORD_MAX];
        enum tts_status status = read_result_text(r, draft, key, word, sizeof word);
        whole->never_runs = is_result_key(word, "refused");
        return status;
    }
    if (is_result_key(key, "peak"))
        return read_run_peak(r, draft, key);
    if (is_result_key(key, "peak_phase"))
        return read_result_text(r, draft, key, whole->phase, sizeof whole->phase);
    if (is_result_key(key, "breakdown"))
        return read_peak_breakdown(r, draft, key);
    if (is_result_key(key, "breakdown_sizes")) {
        char word[TTS_RESULT_WORD_MAX];
        enum tts_status status = read_result_text(r, draft, key, word, sizeof word);
        whole->has_parts = is_result_key(word, "predicted");
        return status;
    }
    if (is_result_key(key, "peak_of_all_iterations"))
        return read_flag(r, draft, key, &draft->is_whole);
    *is_one = false;
    return TTS_OK;
}

static enum tts_status read_run_field(struct result_reader *r, struct run_draft *draft,
                                      const char *key)
{
    struct tts_run *run = &draft->entry->run;
    bool is_one;
    enum tts_status whole = read_whole_run(r, draft, key, &is_one);
    if (is_one)
        return whole;
    if (is_result_key(key, "phases"))
        return read_object_list(r, draft, key, read_result_phase);
    if (is_result_key(key, "name") || is_result_key(key, "log"))
        return read_run_name(r, draft, key);
    if (is_result_key(key, "title"))
        return read_result_text(r, draft, key, run->title, sizeof run->title);
    if (is_result_key(key, "rank"))
        return read_result_text(r, draft, key, run->rank, sizeof run->rank);
    if (is_result_key(key, "line"))
        return read_result_number(r, draft, key, &(bool){0}, &run->line);
    if (is_result_key(key, "overall_dram_peak_bytes"))
        return read_amount(r, draft, key, &run->overall_peak);
    if (is_result_key(key, "final_dram_bytes"))
        return read_amount(r, draft, key, &run->final);
    if (is_result_key(key, "parameters"))
        return read_result_number(r, draft, key, &run->has_parameters, &run->parameters);
    if (is_result_key(key, "parameter_bytes"))
        return read_amount(r, draft, key, &draft->parameter_bytes);
    if (is_result_key(key, "device_memory_bytes") || is_result_key(key, "capacity_bytes"))
        return read_device_memory(r, draft, key);
    if (is_result_key(key, "device_memory_source"))
        return read_value_source(r, draft, key, &draft->is_assumed);
    if (is_result_key(key, "optimizer_name"))
        return read_result_text(r, draft, key, draft->optimizer, sizeof draft->optimizer);
    if (is_result_key(key, "optimizer_source")) {
        bool is_assumed = true;
        enum tts_status status = read_value_source(r, draft, key, &is_assumed);
        draft->has_optimizer_source = !is_assumed;
        return status;
    }
    if (is_result_key(key, "overwritten"))
        return read_flag(r, draft, key, &run->is_overwritten);
    if (is_result_key(key, "missing_bytes"))
        return read_amount(r, draft, key, &run->missing);
    if (is_result_key(key, "cut"))
        return read_flag(r, draft, key, &run->is_cut);
    if (is_result_key(key, "partial") || is_result_key(key, "peak_at_least"))
        return read_at_least(r, draft, key);
    if (is_result_key(key, "notes") || is_result_key(key, "missing"))
        return read_object_list(r, draft, key, read_result_note);
    return tts_jsonpull_skip(r->json, r->err);
}

/* Finishes a run after all its fields. Drops assumed values, because the caller will assume
 * them again; keeps the other values as if a log had printed them. */
static void end_result_run(const struct result_reader *r, struct run_draft *draft)
{
    struct tts_run *run = &draft->entry->run;
    bool is_fit = is_result_key(r->schema, "ttscope.fit");
    if (draft->is_assumed)
        run->device_memory = (struct tts_amount){0};
    if (!is_fit && !draft->is_whole)
        run->whole = (struct tts_run_whole){0};
    run->whole.has_fits &= run->device_memory.is_known;
    /* If there are several chips, one chip has only a part of the model. Then the number of all
     * parameters must not be used for its memory. */
    if (draft->parameter_bytes.is_known && run->has_parameters &&
        run->parameters > (uint64_t)draft->parameter_bytes.bytes / 2)
        run->has_parameters = false;
    run->is_at_least |= run->is_overwritten;
    if (run->missing.bytes < 0)
        run->missing = (struct tts_amount){0};
    if (draft->has_optimizer_source)
        memcpy(run->optimizer, draft->optimizer, sizeof run->optimizer);
}

static enum tts_status begin_result_run(struct result_reader *r, struct tts_runs_room *room,
                                        struct run_draft *draft)
{
    *draft = (struct run_draft){.room = room};
    enum tts_status status = tts_runs_add(room, &draft->entry);
    if (status != TTS_OK)
        return tts_error_set(r->err, status, TTS_TEXT_NOMEM);
    if (!draft->entry)
        draft->entry = &draft->spare;
    return TTS_OK;
}

/* Reads one object of "runs", whose '{' has been read. */
static enum tts_status read_listed_run(struct result_reader *r, struct run_draft *document)
{
    (void)document;
    struct run_draft draft;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = begin_result_run(r, &r->runs, &draft);
    while (status == TTS_OK) {
        status = read_result_key(r, key);
        if (status == TTS_OK && key[0] == '\0') {
            end_result_run(r, &draft);
            return TTS_OK;
        }
        if (status == TTS_OK)
            status = read_run_field(r, &draft, key);
    }
    return status;
}

#define OURS "ttscope."

enum { KNOWN_VERSION = 1 };

/* ---- the document ---- */

static enum tts_status read_schema_word(struct result_reader *r, struct run_draft *draft)
{
    bool is_in;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status =
        enter_result_level(r, draft, "schema", TTS_JSONPULL_OBJECT, &is_in);
    while (is_in && status == TTS_OK) {
        status = read_result_key(r, key);
        if (status != TTS_OK || key[0] == '\0')
            return status;
        if (is_result_key(key, "name"))
            status = read_result_text(r, draft, key, r->schema, sizeof r->schema);
        else if (is_result_key(key, "version"))
            status = read_result_number(r, draft, key, &r->has_version, &r->version);
        else
            status = tts_jsonpull_skip(r->json, r->err);
    }
    return status;
}

static enum tts_status read_result_document(struct result_reader *r)
{
    struct run_draft draft;
    struct tts_jsonpull_token token;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = begin_result_run(r, &r->top, &draft);
    draft.takes_captures = true;
    if (status == TTS_OK)
        status = pull_token(r, &token);
    if (status == TTS_OK && token.kind != TTS_JSONPULL_OBJECT)
        return tts_error_set(r->err, TTS_E_INVALID,
                             "is not a result that ttscope wrote with --json");
    while (status == TTS_OK) {
        status = read_result_key(r, key);
        if (status == TTS_OK && key[0] == '\0')
            break;
        if (status != TTS_OK)
            return status;
        if (is_result_key(key, "schema"))
            status = read_schema_word(r, &draft);
        else if (is_result_key(key, "runs"))
            status = read_object_list(r, &draft, key, read_listed_run);
        else
            status = read_run_field(r, &draft, key);
    }
    if (status != TTS_OK)
        return status;
    end_result_run(r, &draft);
    return pull_token(r, &token); /* fails if anything follows the document */
}

static bool is_our_schema(const char *schema)
{
    return strncmp(schema, OURS, strlen(OURS)) == 0;
}

static enum tts_status check_result_schema(const struct result_reader *r)
{
    if (!is_our_schema(r->schema))
        return tts_error_set(r->err, TTS_E_INVALID,
                             "is not a result that ttscope wrote with --json");
    if (!r->has_version)
        return tts_error_set(r->err, TTS_E_INVALID,
                             "cannot read the version of the schema '%.40s'", r->schema);
    if (r->version > KNOWN_VERSION)
        return tts_error_set(r->err, TTS_E_INVALID,
                             "has version %" PRIu64
                             " of schema '%.40s', but this ttscope reads "
                             "versions up to %d",
                             r->version, r->schema, KNOWN_VERSION);
    return TTS_OK;
}

/* Marks the runs as exact, except the runs of `analyze`, whose figures come from a log and are
 * rounded. */
static void mark_runs_exact(struct tts_runs_room *room, const char *schema)
{
    for (size_t i = 0; i < room->count; i++)
        room->entries[i].run.is_exact = !is_result_key(schema, OURS "analyze");
}

/* Moves the notes about the document to the last run. If the document is incomplete, the
 * missing part may belong to any run, so all runs are marked. */
static void move_run_notes(const struct tts_run *from, struct tts_runs_room *room)
{
    struct tts_run *last = &room->entries[room->count - 1].run;
    for (size_t i = 0; i < from->note_count; i++)
        tts_runs_note(last, from->notes[i].line, "%s", from->notes[i].text);
    last->notes_in_all += from->notes_in_all - from->note_count;
    for (size_t i = 0; i < room->count; i++)
        room->entries[i].run.is_at_least |= from->is_at_least;
}

/* Finishes a document without "runs", in which each capture is a run. */
static void settle_result_captures(struct tts_runs_room *room)
{
    struct tts_run *first = &room->entries[0].run;
    if (room->count > 1 && first->phase_count == 0) {
        move_run_notes(first, room);
        /* This is the peak of the whole file, not of a capture. */
        first->overall_peak = (struct tts_amount){0};
    }
    tts_runs_total(room);
    tts_runs_name_captures(room);
}

static enum tts_status settle_result_runs(struct result_reader *r, struct tts_runs *out)
{
    struct tts_runs_room *room = r->runs.count > 0 ? &r->runs : &r->top;
    enum tts_status status = check_result_schema(r);
    if (status != TTS_OK)
        return status;
    if (room == &r->top)
        settle_result_captures(room);
    else
        move_run_notes(&r->top.entries[0].run, room);
    mark_runs_exact(room, r->schema);
    status = tts_runs_settle(room, TTS_RUNS_RESULT, out);
    if (status != TTS_OK)
        return tts_error_set(r->err, status, TTS_TEXT_NOMEM);
    if (out->count > 0)
        return TTS_OK;
    tts_runs_release(out);
    return tts_error_set(r->err, TTS_E_NOT_FOUND,
                         "a result of schema '%.40s' has no phases to compare", r->schema);
}

enum tts_status tts_result_read(struct tts_jsonpull *json, const struct tts_alloc *alloc,
                                struct tts_runs *out, struct tts_error *err)
{
    struct tts_error why = {0};
    alloc = alloc ? alloc : tts_alloc_libc();
    struct result_reader r = {.json = json,
                              .err = &why,
                              .runs = {.alloc = alloc},
                              .top = {.alloc = alloc},
                              .has_version = true};
    struct tts_runs runs = {0};
    enum tts_status status = read_result_document(&r);
    if (status == TTS_OK)
        status = settle_result_runs(&r, &runs);
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

/* ---- recognizing a result ---- */

static bool has_our_schema(struct result_reader *r)
{
    struct run_draft draft = {.entry = &draft.spare};
    return read_schema_word(r, &draft) == TTS_OK && is_our_schema(r->schema);
}

bool tts_result_is_one(struct tts_jsonpull *json)
{
    struct tts_error ignored;
    struct tts_jsonpull_token token;
    struct result_reader r = {.json = json, .err = &ignored};
    char key[TTS_RESULT_KEY_MAX];
    if (pull_token(&r, &token) != TTS_OK || token.kind != TTS_JSONPULL_OBJECT)
        return false;
    while (read_result_key(&r, key) == TTS_OK && key[0] != '\0' &&
           !is_result_key(key, "graph")) {
        if (is_result_key(key, "schema"))
            return has_our_schema(&r);
        if (tts_jsonpull_skip(json, &ignored) != TTS_OK)
            break;
    }
    return false;
}
