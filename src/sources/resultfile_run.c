#include "base/error.h"
#include "sources/resultfile_inside.h"

#include <assert.h>

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

/* `object` is "dram" or "l1". */
static enum tts_status read_figures(struct tts_result_reader *r, struct tts_result_draft *draft,
                                    const char *object, struct phase_draft *out)
{
    bool is_l1 = tts_result_is_key(object, "l1");
    int first = is_l1 ? TTS_RUN_L1_CB : 0, end = is_l1 ? TTS_RUN_FIGURES : TTS_RUN_L1_CB;
    bool is_in;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = tts_result_enter(r, draft, object, TTS_JSONPULL_OBJECT, &is_in);
    while (is_in && status == TTS_OK) {
        status = tts_result_key(r, key);
        if (status != TTS_OK || key[0] == '\0')
            return status;
        int at = first;
        while (at < end && !tts_result_is_key(key, figure_names[at]))
            at++;
        if (at < end)
            status = tts_result_amount(r, draft, key, &out->phase.figures[at]);
        else if (tts_result_is_key(key, "true_core_peak_at_least"))
            status = tts_result_flag(r, draft, key, &out->core_at_least);
        else
            status = tts_jsonpull_skip(r->json, r->err);
    }
    return status;
}

static enum tts_status read_phase_field(struct tts_result_reader *r,
                                        struct tts_result_draft *draft, const char *key,
                                        struct phase_draft *out)
{
    bool is_there;
    if (tts_result_is_key(key, "name"))
        return tts_result_text(r, draft, key, out->phase.name, sizeof out->phase.name);
    if (tts_result_is_key(key, "line"))
        return tts_result_number(r, draft, key, &is_there, &out->phase.line);
    if (tts_result_is_key(key, "capture"))
        return tts_result_number(r, draft, key, &out->has_capture, &out->capture);
    if (tts_result_is_key(key, "partial"))
        return tts_result_flag(r, draft, key, &out->is_partial);
    if (tts_result_is_key(key, "dram") || tts_result_is_key(key, "l1"))
        return read_figures(r, draft, key, out);
    return tts_jsonpull_skip(r->json, r->err);
}

/* A phase goes to the run of its capture, where it names one. */
static enum tts_status keep_phase(struct tts_result_draft *draft,
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
        draft->entry = &room->entries[own]; /* they may have moved */
    }
    if (!entry || entry == &draft->spare)
        return TTS_OK;
    if (of_capture)
        tts_runs_note_phase(entry, phase->phase.name, phase->is_partial);
    entry->run.is_at_least |= phase->is_partial || phase->core_at_least;
    return tts_runs_add_phase(room, entry, &phase->phase);
}

enum tts_status tts_result_phase(struct tts_result_reader *r, struct tts_result_draft *draft)
{
    struct phase_draft phase = {0};
    char key[TTS_RESULT_KEY_MAX];
    for (;;) {
        enum tts_status status = tts_result_key(r, key);
        if (status != TTS_OK)
            return status;
        if (key[0] == '\0')
            break;
        status = read_phase_field(r, draft, key, &phase);
        if (status != TTS_OK)
            return status;
    }
    enum tts_status status = keep_phase(draft, &phase);
    return status == TTS_OK ? TTS_OK : tts_error_set(r->err, status, "out of memory");
}

/* ---- a run ---- */

/* Of "notes" and of "missing". */
static enum tts_status read_note(struct tts_result_reader *r, struct tts_result_draft *draft)
{
    char key[TTS_RESULT_KEY_MAX], text[TTS_RUN_NOTE_BYTES] = "";
    uint64_t line = 0;
    bool is_there;
    for (;;) {
        enum tts_status status = tts_result_key(r, key);
        if (status != TTS_OK)
            return status;
        if (key[0] == '\0')
            break;
        if (tts_result_is_key(key, "line"))
            status = tts_result_number(r, draft, key, &is_there, &line);
        else if (tts_result_is_key(key, "text"))
            status = tts_result_text(r, draft, key, text, sizeof text);
        else
            status = tts_jsonpull_skip(r->json, r->err);
        if (status != TTS_OK)
            return status;
    }
    tts_runs_note(&draft->entry->run, line, "%s", text);
    return TTS_OK;
}

static enum tts_status read_source(struct tts_result_reader *r, struct tts_result_draft *draft,
                                   const char *key, bool *is_assumed)
{
    char word[TTS_RESULT_WORD_MAX];
    enum tts_status status = tts_result_text(r, draft, key, word, sizeof word);
    *is_assumed = tts_result_is_key(word, "assumed") || word[0] == '\0';
    return status;
}

/* By the name of its log, else by what it is called. */
static enum tts_status read_name(struct tts_result_reader *r, struct tts_result_draft *draft,
                                 const char *key)
{
    struct tts_run *run = &draft->entry->run;
    char text[PATH_TEXT_MAX];
    bool is_log = tts_result_is_key(key, "log");
    enum tts_status status = tts_result_text(r, draft, key, text, sizeof text);
    if (status != TTS_OK || (draft->has_log && !is_log))
        return status;
    draft->has_log |= is_log;
    tts_runs_put_file(run, text);
    return TTS_OK;
}

/* Of one device: divided already where it comes from a log. */
static enum tts_status read_device_memory(struct tts_result_reader *r,
                                          struct tts_result_draft *draft, const char *key)
{
    struct tts_run *run = &draft->entry->run;
    run->device_memory_is_one = true;
    return tts_result_amount(r, draft, key, &run->device_memory);
}

/* Several fields may say it. */
static enum tts_status read_at_least(struct tts_result_reader *r,
                                     struct tts_result_draft *draft, const char *key)
{
    bool is_so = false;
    enum tts_status status = tts_result_flag(r, draft, key, &is_so);
    draft->entry->run.is_at_least |= is_so;
    return status;
}

/* One of the "parts" of the peak. */
static enum tts_status read_part(struct tts_result_reader *r, struct tts_result_draft *draft)
{
    char key[TTS_RESULT_KEY_MAX], name[TTS_RESULT_WORD_MAX] = "";
    struct tts_amount bytes = {0};
    for (;;) {
        enum tts_status status = tts_result_key(r, key);
        if (status != TTS_OK)
            return status;
        if (key[0] == '\0')
            break;
        if (tts_result_is_key(key, "name"))
            status = tts_result_text(r, draft, key, name, sizeof name);
        else if (tts_result_is_key(key, "bytes"))
            status = tts_result_amount(r, draft, key, &bytes);
        else
            status = tts_jsonpull_skip(r->json, r->err);
        if (status != TTS_OK)
            return status;
    }
    if (bytes.is_known && !tts_run_whole_add(&draft->entry->run.whole, name, bytes.bytes))
        tts_runs_note(&draft->entry->run, 0,
                      "the size of part '%.40s' of the peak is not possible", name);
    return TTS_OK;
}

/* The "peak" of `fit`: its phase and its parts. */
static enum tts_status read_peak(struct tts_result_reader *r, struct tts_result_draft *draft,
                                 const char *object)
{
    struct tts_run_whole *whole = &draft->entry->run.whole;
    bool is_in;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = tts_result_enter(r, draft, object, TTS_JSONPULL_OBJECT, &is_in);
    while (is_in && status == TTS_OK) {
        status = tts_result_key(r, key);
        if (status != TTS_OK || key[0] == '\0')
            return status;
        if (tts_result_is_key(key, "phase"))
            status = tts_result_text(r, draft, key, whole->phase, sizeof whole->phase);
        else if (tts_result_is_key(key, "parts"))
            status = tts_result_list(r, draft, key, read_part);
        else
            status = tts_jsonpull_skip(r->json, r->err);
    }
    return status;
}

/* The "breakdown" of `analyze`. */
static enum tts_status read_breakdown(struct tts_result_reader *r,
                                      struct tts_result_draft *draft, const char *object)
{
    static const char *const names[] = {"other", "model", "gradients_overhead", "optimizer",
                                        "activations"};
    static_assert(sizeof names / sizeof names[0] == TTS_RUN_PARTS, "each");
    struct tts_run_whole *whole = &draft->entry->run.whole;
    struct tts_amount bytes = {0};
    bool is_in;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = tts_result_enter(r, draft, object, TTS_JSONPULL_OBJECT, &is_in);
    while (is_in && status == TTS_OK) {
        status = tts_result_key(r, key);
        if (status != TTS_OK || key[0] == '\0')
            return status;
        int part = 0;
        while (part < TTS_RUN_PARTS && !tts_result_is_key(key, names[part]))
            part++;
        if (part == TTS_RUN_PARTS) {
            status = tts_jsonpull_skip(r->json, r->err);
            continue;
        }
        status = tts_result_amount(r, draft, key, &bytes);
        whole->parts[part] = bytes.is_known && bytes.bytes > 0 ? bytes.bytes : 0;
    }
    return status;
}

/* A field about the whole run. Sets *is_one to false if the key is none of these. */
static enum tts_status read_whole(struct tts_result_reader *r, struct tts_result_draft *draft,
                                  const char *key, bool *is_one)
{
    struct tts_run_whole *whole = &draft->entry->run.whole;
    *is_one = true;
    if (tts_result_is_key(key, "peak_bytes"))
        return tts_result_amount(r, draft, key, &whole->peak);
    if (tts_result_is_key(key, "fits"))
        return tts_result_answer(r, draft, key, &whole->has_fits, &whole->fits);
    if (tts_result_is_key(key, "device"))
        return tts_result_text(r, draft, key, whole->device, sizeof whole->device);
    if (tts_result_is_key(key, "fits_reason")) {
        char word[TTS_RESULT_WORD_MAX];
        enum tts_status status = tts_result_text(r, draft, key, word, sizeof word);
        whole->never_runs = tts_result_is_key(word, "refused");
        return status;
    }
    if (tts_result_is_key(key, "peak"))
        return read_peak(r, draft, key);
    if (tts_result_is_key(key, "peak_phase"))
        return tts_result_text(r, draft, key, whole->phase, sizeof whole->phase);
    if (tts_result_is_key(key, "breakdown"))
        return read_breakdown(r, draft, key);
    if (tts_result_is_key(key, "breakdown_sizes")) {
        char word[TTS_RESULT_WORD_MAX];
        enum tts_status status = tts_result_text(r, draft, key, word, sizeof word);
        whole->has_parts = tts_result_is_key(word, "predicted");
        return status;
    }
    if (tts_result_is_key(key, "peak_of_all_iterations"))
        return tts_result_flag(r, draft, key, &draft->is_whole);
    *is_one = false;
    return TTS_OK;
}

enum tts_status tts_result_run_field(struct tts_result_reader *r,
                                     struct tts_result_draft *draft, const char *key)
{
    struct tts_run *run = &draft->entry->run;
    bool is_one;
    enum tts_status whole = read_whole(r, draft, key, &is_one);
    if (is_one)
        return whole;
    if (tts_result_is_key(key, "phases"))
        return tts_result_list(r, draft, key, tts_result_phase);
    if (tts_result_is_key(key, "name") || tts_result_is_key(key, "log"))
        return read_name(r, draft, key);
    if (tts_result_is_key(key, "title"))
        return tts_result_text(r, draft, key, run->title, sizeof run->title);
    if (tts_result_is_key(key, "rank"))
        return tts_result_text(r, draft, key, run->rank, sizeof run->rank);
    if (tts_result_is_key(key, "line"))
        return tts_result_number(r, draft, key, &(bool){0}, &run->line);
    if (tts_result_is_key(key, "overall_dram_peak_bytes"))
        return tts_result_amount(r, draft, key, &run->overall_peak);
    if (tts_result_is_key(key, "final_dram_bytes"))
        return tts_result_amount(r, draft, key, &run->final);
    if (tts_result_is_key(key, "parameters"))
        return tts_result_number(r, draft, key, &run->has_parameters, &run->parameters);
    if (tts_result_is_key(key, "parameter_bytes"))
        return tts_result_amount(r, draft, key, &draft->parameter_bytes);
    if (tts_result_is_key(key, "device_memory_bytes") ||
        tts_result_is_key(key, "capacity_bytes"))
        return read_device_memory(r, draft, key);
    if (tts_result_is_key(key, "device_memory_source"))
        return read_source(r, draft, key, &draft->is_assumed);
    if (tts_result_is_key(key, "optimizer_name"))
        return tts_result_text(r, draft, key, draft->optimizer, sizeof draft->optimizer);
    if (tts_result_is_key(key, "optimizer_source")) {
        bool is_assumed = true;
        enum tts_status status = read_source(r, draft, key, &is_assumed);
        draft->has_optimizer_source = !is_assumed;
        return status;
    }
    if (tts_result_is_key(key, "overwritten"))
        return tts_result_flag(r, draft, key, &run->is_overwritten);
    if (tts_result_is_key(key, "missing_bytes"))
        return tts_result_amount(r, draft, key, &run->missing);
    if (tts_result_is_key(key, "cut"))
        return tts_result_flag(r, draft, key, &run->is_cut);
    if (tts_result_is_key(key, "partial") || tts_result_is_key(key, "peak_at_least"))
        return read_at_least(r, draft, key);
    if (tts_result_is_key(key, "notes") || tts_result_is_key(key, "missing"))
        return tts_result_list(r, draft, key, read_note);
    return tts_jsonpull_skip(r->json, r->err);
}

/* What was assumed will be again; what was known is as if the log had said it. */
void tts_result_run_end(const struct tts_result_reader *r, struct tts_result_draft *draft)
{
    struct tts_run *run = &draft->entry->run;
    bool is_fit = tts_result_is_key(r->schema, "ttscope.fit");
    if (draft->is_assumed)
        run->device_memory = (struct tts_amount){0};
    if (!is_fit && !draft->is_whole)
        run->whole = (struct tts_run_whole){0};
    run->whole.has_fits &= run->device_memory.is_known;
    /* A chip of several has a part of the model: the count of the whole says nothing of it. */
    if (draft->parameter_bytes.is_known && run->has_parameters &&
        run->parameters > (uint64_t)draft->parameter_bytes.bytes / 2)
        run->has_parameters = false;
    run->is_at_least |= run->is_overwritten;
    if (run->missing.bytes < 0)
        run->missing = (struct tts_amount){0};
    if (draft->has_optimizer_source)
        memcpy(run->optimizer, draft->optimizer, sizeof run->optimizer);
}

enum tts_status tts_result_run_begin(struct tts_result_reader *r, struct tts_runs_room *room,
                                     struct tts_result_draft *draft)
{
    *draft = (struct tts_result_draft){.room = room};
    enum tts_status status = tts_runs_add(room, &draft->entry);
    if (status != TTS_OK)
        return tts_error_set(r->err, status, "out of memory");
    if (!draft->entry)
        draft->entry = &draft->spare;
    return TTS_OK;
}

enum tts_status tts_result_run(struct tts_result_reader *r, struct tts_result_draft *document)
{
    (void)document;
    struct tts_result_draft draft;
    char key[TTS_RESULT_KEY_MAX];
    enum tts_status status = tts_result_run_begin(r, &r->runs, &draft);
    while (status == TTS_OK) {
        status = tts_result_key(r, key);
        if (status == TTS_OK && key[0] == '\0') {
            tts_result_run_end(r, &draft);
            return TTS_OK;
        }
        if (status == TTS_OK)
            status = tts_result_run_field(r, &draft, key);
    }
    return status;
}
