/* check_load.c: the files of runs and the baseline, what is wrong with them, and which runs go
 * together. */
#include "base/error.h"
#include "base/heap.h"
#include "cli/check_parts.h"
#include "cli/message.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_CHECK_COMMAND;

enum {
    NOTES_SAID_MAX = 20, /* of a file */
};

/* ---- names ---- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0)
        return "stdin";
    return slash && slash[1] ? slash + 1 : path;
}

static const char *label_of(const struct tts_check_job *job, const struct tts_check_file *file)
{
    size_t idx = (size_t)(file - job->files);
    return tts_run_label((const char *const *)job->options.paths, job->options.path_count, idx);
}

/* Would two runs have one name? Those without a title are called as their files. */
static bool is_namesake(const struct tts_check_run *run, const struct tts_check_job *job,
                        const struct tts_check_file *file, size_t idx)
{
    const struct tts_run *other = &job->runs[idx];
    return strcmp(run->run->title, other->title) == 0 &&
           strcmp(run->run->rank, other->rank) == 0 &&
           (other->title[0] || strcmp(run->file->path, file->path) == 0);
}

static void name_run(const struct tts_check_job *job, size_t idx, struct tts_check_run *run)
{
    const char *label = label_of(job, run->file);
    uint64_t number = 0, in_file = 0, all = 0;
    char again[32] = "";
    for (size_t i = 0, at = 0; i < job->options.path_count; i++) {
        for (size_t j = 0; j < job->files[i].runs.count; j++, at++) {
            bool is = is_namesake(run, job, &job->files[i], at);
            all += is;
            number += is && at <= idx;
            in_file += is && at <= idx && &job->files[i] == run->file;
        }
    }
    tts_run_name(run->name, run->run, label, number);
    if (all > 1 && run->run->title[0]) { /* the order of files may change, files do not */
        char plain[TTS_RUN_LABEL_MAX];
        if (in_file > 1)
            snprintf(again, sizeof again, ", %" PRIu64, in_file);
        snprintf(run->class_name, sizeof run->class_name, "%s (%s%s)",
                 tts_run_name(plain, run->run, label, 1), label, again);
    } else {
        memcpy(run->class_name, run->name, sizeof run->name);
    }
}

/* ---- notes ---- */

bool tts_check_is_partial(const struct tts_run *run)
{
    return run->notes_in_all > 0 || run->is_cut || run->is_at_least;
}

size_t tts_check_notes(const struct tts_run *run)
{
    return run->note_count == 0 && tts_check_is_partial(run) ? 1 : run->note_count;
}

struct tts_run_note tts_check_note(const struct tts_run *run, size_t idx)
{
    struct tts_run_note note = {.line = run->line};
    assert(idx < tts_check_notes(run));
    if (idx < run->note_count)
        return run->notes[idx];
    if (run->is_cut && run->end_line > 0)
        snprintf(note.text, sizeof note.text, "the summary is cut off behind line %" PRIu64,
                 run->end_line);
    else
        snprintf(note.text, sizeof note.text, "not all of the run is there");
    return note;
}

uint64_t tts_check_first_note(char out[TTS_CHECK_NOTE_MAX], const struct tts_run *run)
{
    struct tts_run_note note = tts_check_note(run, 0);
    char more[40] = "";
    if (run->notes_in_all > 1)
        snprintf(more, sizeof more, " (and %" PRIu64 " more)", run->notes_in_all - 1);
    snprintf(out, TTS_CHECK_NOTE_MAX, "%s%s", note.text, more);
    return note.line;
}

static void say_note(const char *path, const struct tts_run_note *note)
{
    if (note->line > 0)
        tts_message(command, "%s:%" PRIu64 ": %s", path, note->line, note->text);
    else
        tts_message(command, "%s: %s", path, note->text);
}

static void say_notes(struct tts_check_job *job, const struct tts_check_file *file)
{
    const char *path = tts_message_path(file->path);
    uint64_t said = 0, all = 0;
    for (size_t i = 0; i < file->runs.count; i++) {
        const struct tts_run *run = &file->runs.runs[i];
        size_t count = tts_check_notes(run);
        all += run->notes_in_all > count ? run->notes_in_all : count;
        for (size_t n = 0; n < count && said < NOTES_SAID_MAX; n++, said++) {
            struct tts_run_note note = tts_check_note(run, n);
            say_note(path, &note);
        }
        job->counts.is_partial |= tts_check_is_partial(run);
    }
    if (all > said)
        tts_message(command, "%s: %" PRIu64 " more of these", path, all - said);
}

/* ---- files ---- */

/* Runs that do not know what they are from are from here. */
static void name_origin(struct tts_check_file *file)
{
    for (size_t i = 0; i < file->runs.count; i++) {
        struct tts_run *run = &file->runs.runs[i];
        if (run->name[0] == '\0')
            snprintf(run->name, sizeof run->name, "%.*s", TTS_RUN_NAME_MAX - 1,
                     base_of(file->path));
    }
}

/* False: it could not be read; *err has why, and it is to be said. */
static bool load(struct tts_check_job *job, struct tts_check_file *file, struct tts_error *err)
{
    if (tts_runs_load(file->path, NULL, &file->runs, err) != TTS_OK) {
        snprintf(file->problem, sizeof file->problem, "%s", err->text);
        file->problem_line = err->line;
        job->counts.is_partial = true;
        return false;
    }
    name_origin(file);
    say_notes(job, file);
    if (file->runs.unlisted == 0)
        return true;
    snprintf(file->problem, sizeof file->problem,
             "%" PRIu64 " more than can be held are not checked", file->runs.unlisted);
    tts_message(command, "%s: %s", tts_message_path(file->path), file->problem);
    job->counts.is_partial = true;
    return true;
}

static void load_baseline(struct tts_check_job *job)
{
    const struct tts_check_plan *plan = &job->plan;
    struct tts_error err = {0};
    char who[TTS_PATH_MAX + 48] = "baseline", where[TTS_PATH_MAX + 16] = "";
    job->baseline.path = plan->baseline;
    if (load(job, &job->baseline, &err))
        return;
    if (plan->baseline == plan->baseline_path)
        snprintf(who, sizeof who, "baseline of %s:%" PRIu32,
                 tts_message_path(job->options.budget_path), plan->budget.baseline_line);
    if (err.status != TTS_E_IO && err.line > 0)
        snprintf(where, sizeof where, "%s:%" PRIu32 ": ", tts_message_path(plan->baseline),
                 err.line);
    else if (err.status != TTS_E_IO)
        snprintf(where, sizeof where, "%s: ", tts_message_path(plan->baseline));
    tts_message(command, "%s: %s%s", who, where, err.text);
}

const struct tts_check_file *tts_check_problem(const struct tts_check_job *job, size_t idx)
{
    const struct tts_check_file *const first[] = {&job->budget, &job->baseline};
    for (size_t i = 0; i < 2 + job->options.path_count; i++) {
        const struct tts_check_file *file = i < 2 ? first[i] : &job->files[i - 2];
        if (file->problem[0] != '\0' && idx-- == 0)
            return file;
    }
    return NULL;
}

/* ---- pairs ---- */

/* One block: a copy of the runs of all files, their pairs, and who of the baseline has one. */
static bool make_room(struct tts_check_job *job)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t count = job->run_count;
    size_t pairs_at = count * sizeof *job->runs;
    size_t paired_at = pairs_at + count * sizeof *job->pairs;
    job->memory_bytes = paired_at + job->baseline.runs.count + 1;
    job->runs = alloc->alloc(alloc->ctx, job->memory_bytes);
    if (!job->runs)
        return false;
    memset(job->runs, 0, job->memory_bytes);
    void *pairs = (char *)job->runs + pairs_at, *is_paired = (char *)job->runs + paired_at;
    job->pairs = pairs;
    job->is_paired = is_paired;
    return true;
}

static void pair_up(struct tts_check_job *job)
{
    const struct tts_runs *bases = &job->baseline.runs;
    tts_runpairs(job->runs, job->run_count, bases->runs, bases->count, job->pairs);
    for (size_t i = 0; i < job->run_count; i++)
        if (job->pairs[i].by != TTS_RUNPAIR_NONE)
            job->is_paired[job->pairs[i].b] = true;
    for (size_t i = 0; i < bases->count && job->run_count > 0; i++) {
        char name[TTS_CHECK_TEXT_MAX];
        if (job->is_paired[i])
            continue;
        job->counts.is_partial = true;
        tts_message(command, "note: no run here goes with the baseline's: %s",
                    tts_check_base_name(name, job->baseline.path, &bases->runs[i], i));
    }
}

enum tts_status tts_check_load(struct tts_check_job *job, struct tts_error *err)
{
    if (job->plan.needs_baseline)
        load_baseline(job);
    for (size_t i = 0; i < job->options.path_count; i++) {
        struct tts_error problem = {0};
        job->files[i].path = job->options.paths[i];
        if (!load(job, &job->files[i], &problem))
            tts_message_error(command, job->files[i].path, &problem);
        job->run_count += job->files[i].runs.count;
    }
    if (!make_room(job))
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    for (size_t i = 0, at = 0; i < job->options.path_count; i++) {
        const struct tts_runs *runs = &job->files[i].runs;
        if (runs->count > 0)
            memcpy(job->runs + at, runs->runs, runs->count * sizeof *runs->runs);
        at += runs->count;
    }
    pair_up(job);
    return TTS_OK;
}

void tts_check_release(struct tts_check_job *job)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    for (size_t i = 0; i < job->options.path_count; i++)
        tts_runs_release(&job->files[i].runs);
    tts_runs_release(&job->baseline.runs);
    if (job->runs)
        alloc->free(alloc->ctx, job->runs, job->memory_bytes);
}

void tts_check_run_at(const struct tts_check_job *job, size_t idx, struct tts_check_run *out)
{
    size_t file = 0, first = 0;
    assert(idx < job->run_count);
    while (idx - first >= job->files[file].runs.count)
        first += job->files[file++].runs.count;
    *out = (struct tts_check_run){.file = &job->files[file],
                                  .run = &job->runs[idx],
                                  .pair = job->pairs[idx],
                                  .baseline_count = job->baseline.runs.count,
                                  .plan = &job->plan,
                                  .number = idx - first + 1};
    if (out->pair.by != TTS_RUNPAIR_NONE)
        out->baseline = &job->baseline.runs.runs[out->pair.b];
    name_run(job, idx, out);
}
