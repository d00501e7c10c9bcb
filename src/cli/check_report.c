/* check_report.c: the answer for those who run builds: JUnit and SARIF. */
#include "base/error.h"
#include "base/hash.h"
#include "base/heap.h"
#include "cli/check_parts.h"
#include "cli/message.h"

#include <stdlib.h>
#include <string.h>

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* ---- JUnit ---- */

void tts_check_junit_limit(struct tts_junit *junit, const struct tts_check_run *run,
                           size_t limit_idx, const struct tts_budget_verdict *verdict)
{
    static const enum tts_junit_outcome outcomes[] = {[TTS_BUDGET_PASS] = TTS_JUNIT_PASSED,
                                                      [TTS_BUDGET_UNKNOWN] = TTS_JUNIT_ERROR,
                                                      [TTS_BUDGET_OVER] = TTS_JUNIT_FAILED};
    char name[TTS_CHECK_LABEL_MAX], label[TTS_CHECK_LABEL_MAX], what[TTS_CHECK_TEXT_MAX];
    char text[TTS_CHECK_LABEL_MAX + TTS_CHECK_TEXT_MAX + 64], more[64] = "";
    const struct tts_budget *budget = &run->plan->budget;
    size_t same = verdict->status == TTS_BUDGET_OVER ? verdict->over : verdict->unknown;
    if (verdict->status != TTS_BUDGET_PASS && same > 1)
        snprintf(more, sizeof more, " (the worst of %zu phases)", same);
    snprintf(text, sizeof text, "%s: %s%s", tts_check_label(label, run, &verdict->worst),
             tts_check_text(what, run, &verdict->worst), more);
    const struct tts_junit_case test = {
        .class_name = run->class_name,
        .name = tts_check_limit_label(name, budget, limit_idx),
        .file = is_standard(run->file->path) ? NULL : run->file->path,
        .line = tts_check_line(run, &verdict->worst),
        .outcome = outcomes[verdict->status],
        .text = text,
        .type = tts_check_rule_of(budget, limit_idx),
    };
    tts_junit_case(junit, &test);
}

/* There is something to be read, but not all of it could be. */
static void put_read(struct tts_junit *junit, const char *class_name, const char *path,
                     const char *text, uint64_t line)
{
    const struct tts_junit_case test = {.class_name = class_name,
                                        .name = "read",
                                        .file = is_standard(path) ? NULL : path,
                                        .line = line,
                                        .outcome = TTS_JUNIT_ERROR,
                                        .text = text,
                                        .type = "read"};
    tts_junit_case(junit, &test);
}

void tts_check_junit_run(struct tts_junit *junit, const struct tts_check_run *run)
{
    char text[TTS_CHECK_NOTE_MAX];
    uint64_t line = tts_check_first_note(text, run->run);
    put_read(junit, run->class_name, run->file->path, text, line);
}

enum tts_status tts_check_junit_end(struct tts_junit *junit, const struct tts_check_job *job,
                                    struct tts_error *err)
{
    const struct tts_runs *bases = &job->baseline.runs;
    for (size_t i = 0; i < bases->count; i++) {
        const struct tts_run *base = &bases->runs[i];
        char name[TTS_CHECK_TEXT_MAX], text[TTS_CHECK_NOTE_MAX];
        char class_name[sizeof name + 16];
        snprintf(class_name, sizeof class_name, "baseline %s",
                 tts_check_base_name(name, job->baseline.path, base, i));
        if (tts_check_is_partial(base)) {
            uint64_t line = tts_check_first_note(text, base);
            put_read(junit, class_name, job->baseline.path, text, line);
        }
        if (!job->is_paired[i]) {
            const struct tts_junit_case test = {.class_name = class_name,
                                                .name = "pair",
                                                .outcome = TTS_JUNIT_ERROR,
                                                .text = "it goes with no run here",
                                                .type = "pair"};
            tts_junit_case(junit, &test);
        }
    }
    const struct tts_check_file *file;
    for (size_t i = 0; (file = tts_check_problem(job, i)); i++)
        put_read(junit, tts_message_path(file->path), file->path, file->problem,
                 file->problem_line);
    return tts_junit_end(junit, err);
}

/* ---- SARIF ---- */

static const struct tts_sarif_rule rules[TTS_BUDGET_RULES] = {
#define X(name, id, place, key, what)                                                          \
    [TTS_BUDGET_##name] = {                                                                    \
        id, "Memory budget: " what,                                                            \
        "The limit '" key "' of the budget file is held against this figure: " what            \
        ". Either the run takes more than it should, or the limit is to be changed in the "    \
        "budget file. 'ttscope analyze' shows what the memory of a run is made of, "           \
        "'ttscope help check' what each limit means."},
    TTS_BUDGET_RULE_MAP(X)
#undef X
};

void tts_check_sarif_begin(struct tts_sarif *sarif, FILE *out)
{
    tts_sarif_begin(sarif, out, rules, TTS_BUDGET_RULES);
}

/* Not of lines or figures: the same finding in the next log is the same. */
static uint64_t fingerprint_of(const struct tts_check_run *run,
                               const struct tts_budget_finding *finding)
{
    const struct tts_budget *budget = &run->plan->budget;
    const struct tts_budget_limit *limit = &budget->limits[finding->limit_idx];
    uint64_t hash = tts_sarif_mix(TTS_FNV1A64_INIT, tts_budget_rule_id(limit->rule));
    hash = tts_fnv1a64_u64(hash, (uint64_t)limit->unit);
    hash = tts_fnv1a64_u64(hash, run->number);
    if (tts_budget_rule_place(limit->rule) == TTS_BUDGET_OVERALL)
        return hash;
    hash = tts_sarif_mix(hash, budget->patterns[limit->pattern].text);
    if (!finding->has_phase)
        return hash;
    hash = tts_sarif_mix(hash, run->run->phases[finding->phase].name);
    return tts_fnv1a64_u64(hash, run->ordinals[finding->phase]);
}

void tts_check_sarif_finding(struct tts_sarif *sarif, const struct tts_check_run *run,
                             const struct tts_budget_finding *finding)
{
    char label[TTS_CHECK_LABEL_MAX], what[TTS_CHECK_TEXT_MAX];
    char text[TTS_RUN_LABEL_MAX + TTS_CHECK_LABEL_MAX + TTS_CHECK_TEXT_MAX + 8];
    if (finding->status == TTS_BUDGET_PASS)
        return;
    snprintf(text, sizeof text, "%s: %s: %s", run->name, tts_check_label(label, run, finding),
             tts_check_text(what, run, finding));
    const struct tts_sarif_result result = {
        .rule = (size_t)run->plan->budget.limits[finding->limit_idx].rule,
        .level = finding->status == TTS_BUDGET_OVER ? TTS_SARIF_ERROR : TTS_SARIF_WARNING,
        .message = text,
        .path = is_standard(run->file->path) ? NULL : run->file->path,
        .line = tts_check_line(run, finding),
        .logical = finding->has_phase ? run->run->phases[finding->phase].name : NULL,
        .fingerprint = fingerprint_of(run, finding),
    };
    tts_sarif_result(sarif, &result);
}

static void put_notices(struct tts_sarif *sarif, const char *path, const struct tts_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        for (size_t n = 0; n < tts_check_notes(&runs->runs[i]); n++) {
            struct tts_run_note note = tts_check_note(&runs->runs[i], n);
            const struct tts_sarif_notice notice = {TTS_SARIF_WARNING, note.text,
                                                    is_standard(path) ? NULL : path, note.line};
            tts_sarif_notice(sarif, &notice);
        }
    }
}

static void put_unpaired(struct tts_sarif *sarif, const struct tts_check_job *job)
{
    const struct tts_runs *bases = &job->baseline.runs;
    for (size_t i = 0; i < bases->count; i++) {
        char name[TTS_CHECK_TEXT_MAX], text[TTS_CHECK_TEXT_MAX + 64];
        if (job->is_paired[i])
            continue;
        snprintf(text, sizeof text, "%s goes with no run here",
                 tts_check_base_name(name, job->baseline.path, &bases->runs[i], i));
        const struct tts_sarif_notice notice = {TTS_SARIF_WARNING, text, NULL, 0};
        tts_sarif_notice(sarif, &notice);
    }
}

void tts_check_sarif_end(struct tts_sarif *sarif, const struct tts_check_job *job)
{
    const struct tts_check_file *file;
    tts_sarif_notices(sarif, !tts_check_problem(job, 0));
    for (size_t i = 0; (file = tts_check_problem(job, i)); i++) {
        const struct tts_sarif_notice notice = {TTS_SARIF_ERROR, file->problem,
                                                is_standard(file->path) ? NULL : file->path,
                                                file->problem_line};
        tts_sarif_notice(sarif, &notice);
    }
    for (size_t i = 0; i < job->options.path_count; i++)
        put_notices(sarif, job->files[i].path, &job->files[i].runs);
    put_notices(sarif, job->baseline.path, &job->baseline.runs);
    put_unpaired(sarif, job);
    tts_sarif_end(sarif);
}

/* ---- numbers of phases ---- */

struct named {
    const char *name;
    uint32_t idx;
};

static int compare(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->idx > b->idx) - (a->idx < b->idx);
}

enum tts_status tts_check_ordinals_new(const struct tts_run *run, uint32_t **out,
                                       struct tts_error *err)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t count = run->phase_count, bytes = (count + 1) * sizeof(struct named);
    struct named *names = alloc->alloc(alloc->ctx, bytes);
    uint32_t *ordinals =
        names ? alloc->alloc(alloc->ctx, (count + 1) * sizeof *ordinals) : NULL;
    for (size_t i = 0; ordinals && i < count; i++)
        names[i] = (struct named){run->phases[i].name, (uint32_t)i};
    if (ordinals && count > 1)
        qsort(names, count, sizeof *names, compare);
    for (size_t i = 0; ordinals && i < count; i++) {
        bool is_next = i > 0 && strcmp(names[i].name, names[i - 1].name) == 0;
        ordinals[names[i].idx] = is_next ? ordinals[names[i - 1].idx] + 1 : 0;
    }
    if (names)
        alloc->free(alloc->ctx, names, bytes);
    if (!ordinals)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory for the phases of a run");
    *out = ordinals;
    return TTS_OK;
}

void tts_check_ordinals_free(uint32_t *ordinals, const struct tts_run *run)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    if (ordinals)
        alloc->free(alloc->ctx, ordinals, (run->phase_count + 1) * sizeof *ordinals);
}
