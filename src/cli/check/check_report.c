/* check_report.c: writes findings for build servers: JUnit, SARIF and annotations. */
#include "base/hash.h"
#include "base/number.h"
#include "cli/check/check.h"
#include "cli/message.h"
#include "views/finding/annotation.h"

#include <inttypes.h>
#include <string.h>

/* Returns the path of an input for reports, or NULL for standard input. */
static const char *report_path(const char *path)
{
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

static enum tts_severity severity_of(enum tts_budget_status status)
{
    return status == TTS_BUDGET_OVER      ? TTS_SEVERITY_ERROR
           : status == TTS_BUDGET_UNKNOWN ? TTS_SEVERITY_WARNING
                                          : TTS_SEVERITY_NONE;
}

/* ---- a limit ---- */

struct words {
    char label[TTS_CHECK_LABEL_MAX], text[TTS_CHECK_TEXT_MAX + 64];
};

/* Describes the finding of a limit. The caller owns `words`, which holds the texts. */
static struct tts_finding describe_limit(const struct tts_check_run *run,
                                         const struct tts_budget_finding *finding,
                                         struct words *words)
{
    return (struct tts_finding){
        .rule = tts_check_rule_of(&run->plan->budget, finding->limit_idx),
        .severity = severity_of(finding->status),
        .subject = run->name,
        .label = tts_check_label(words->label, run, finding),
        .message = tts_check_text(words->text, run, finding),
        .path = report_path(run->file->path),
        .line = tts_check_line(run, finding),
        .part = finding->has_phase ? run->run->phases[finding->phase].name : NULL,
    };
}

void tts_check_junit_limit(struct tts_junit *junit, const struct tts_check_run *run,
                           size_t limit_idx, const struct tts_budget_verdict *verdict)
{
    struct words words;
    char name[TTS_CHECK_LABEL_MAX];
    struct tts_finding finding = describe_limit(run, &verdict->worst, &words);
    size_t len = strlen(words.text);
    size_t same = verdict->status == TTS_BUDGET_OVER ? verdict->over : verdict->unknown;
    finding.severity = severity_of(verdict->status);
    if (verdict->status != TTS_BUDGET_PASS && same > 1)
        snprintf(words.text + len, sizeof words.text - len, " (the worst of %zu phases)", same);
    tts_junit_case(junit, run->class_name,
                   tts_check_limit_label(name, &run->plan->budget, limit_idx), &finding);
}

static const struct tts_rule rules[TTS_BUDGET_RULES] = {
#define X(name, id, place, key, what)                                                          \
    [TTS_BUDGET_##                                                                             \
        name] = {id, "Memory budget: " what,                                                   \
                 "The limit '" key "' of the budget file applies to this figure: " what        \
                 ". Either the run uses too much memory, or the limit in the "                 \
                 "budget file is too low. 'ttscope analyze' shows the parts of the memory, "   \
                 "'ttscope help check' what each limit means."},
    TTS_BUDGET_RULE_MAP(X)
#undef X
};

/* Hashes the rule, the run and the phase, but no lines or figures. The same problem in the next
 * log therefore gets the same fingerprint. */
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

void tts_check_report_finding(struct tts_check_job *job, const struct tts_budget_finding *found)
{
    const struct tts_check_run *run = job->run;
    const char *budget_path = job->options.budget_path;
    struct words words;
    char evidence[TTS_PATH_MAX + 16];
    struct tts_finding finding = describe_limit(run, found, &words);
    snprintf(evidence, sizeof evidence, "%s:%" PRIu32, tts_message_path(budget_path),
             run->plan->budget.limits[found->limit_idx].line);
    finding.evidence = evidence;
    if (job->options.github)
        tts_annotation_put(job->github, &finding);
    if (!job->options.sarif_path)
        return;
    finding.fingerprint = fingerprint_of(run, found);
    tts_sarif_result(&job->sarif, &finding);
}

/* ---- inputs that could not be read, and runs without a match ---- */

/* Describes a finding about an input. */
static struct tts_finding describe_input(enum tts_severity severity, const char *path,
                                         uint64_t line, const char *text)
{
    return (struct tts_finding){.rule = "read",
                                .severity = severity,
                                .is_about_work = true,
                                .path = report_path(path),
                                .line = line,
                                .message = text};
}

/* Writes a failed test case with the name "read". */
static void put_read(struct tts_junit *junit, const char *class_name, const char *path,
                     uint64_t line, const char *text)
{
    struct tts_finding finding = describe_input(TTS_SEVERITY_WARNING, path, line, text);
    tts_junit_case(junit, class_name, "read", &finding);
}

void tts_check_report_run(struct tts_check_job *job, const struct tts_check_run *run)
{
    char text[TTS_CHECK_NOTE_MAX];
    uint64_t line = tts_check_first_note(text, run->run);
    struct tts_finding finding =
        describe_input(TTS_SEVERITY_WARNING, run->file->path, line, text);
    if (job->options.junit_path)
        tts_junit_case(&job->junit, run->class_name, "read", &finding);
    finding.subject = run->name;
    if (job->options.github)
        tts_annotation_put(job->github, &finding);
}

enum tts_status tts_check_junit_end(struct tts_junit *junit, const struct tts_check_job *job,
                                    struct tts_error *err)
{
    const struct tts_runs *bases = &job->baseline.runs;
    const struct tts_finding unpaired = {
        .rule = "pair", .severity = TTS_SEVERITY_WARNING, .message = "it matches no run here"};
    for (size_t i = 0; i < bases->count; i++) {
        const struct tts_run *base = &bases->runs[i];
        char name[TTS_CHECK_TEXT_MAX], text[TTS_CHECK_NOTE_MAX];
        char class_name[sizeof name + 16];
        snprintf(class_name, sizeof class_name, "baseline %s",
                 tts_check_base_name(name, job->baseline.path, base, i));
        if (tts_check_is_partial(base)) {
            uint64_t line = tts_check_first_note(text, base);
            put_read(junit, class_name, job->baseline.path, line, text);
        }
        if (!job->is_paired[i])
            tts_junit_case(junit, class_name, "pair", &unpaired);
    }
    const struct tts_check_file *file;
    for (size_t i = 0; (file = tts_check_problem(job, i)); i++)
        put_read(junit, tts_message_path(file->path), file->path, file->problem_line,
                 file->problem);
    return tts_junit_end(junit, err);
}

/* Describes a run of the baseline that matches no run. The caller owns the text. */
static struct tts_finding describe_unpaired(const struct tts_check_job *job, size_t idx,
                                            char text[TTS_CHECK_TEXT_MAX + 64])
{
    char name[TTS_CHECK_TEXT_MAX];
    tts_check_base_name(name, job->baseline.path, &job->baseline.runs.runs[idx], idx);
    snprintf(text, TTS_CHECK_TEXT_MAX + 64, "%s matches no run here", name);
    return (struct tts_finding){.rule = "pair",
                                .severity = TTS_SEVERITY_WARNING,
                                .is_about_work = true,
                                .message = text};
}

/* ---- SARIF ---- */

void tts_check_sarif_begin(struct tts_sarif *sarif, FILE *out)
{
    tts_sarif_begin(sarif, out, rules, TTS_BUDGET_RULES);
}

static void put_notices(struct tts_sarif *sarif, const char *path, const struct tts_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        for (size_t n = 0; n < tts_check_notes(&runs->runs[i]); n++) {
            struct tts_run_note note = tts_check_note(&runs->runs[i], n);
            struct tts_finding finding =
                describe_input(TTS_SEVERITY_WARNING, path, note.line, note.text);
            tts_sarif_notice(sarif, &finding);
        }
    }
}

void tts_check_sarif_end(struct tts_sarif *sarif, const struct tts_check_job *job)
{
    const struct tts_check_file *file;
    tts_sarif_notices(sarif, !tts_check_problem(job, 0));
    for (size_t i = 0; (file = tts_check_problem(job, i)); i++) {
        struct tts_finding finding =
            describe_input(TTS_SEVERITY_ERROR, file->path, file->problem_line, file->problem);
        tts_sarif_notice(sarif, &finding);
    }
    for (size_t i = 0; i < job->options.path_count; i++)
        put_notices(sarif, job->files[i].path, &job->files[i].runs);
    put_notices(sarif, job->baseline.path, &job->baseline.runs);
    for (size_t i = 0; i < job->baseline.runs.count; i++) {
        char text[TTS_CHECK_TEXT_MAX + 64];
        struct tts_finding finding = describe_unpaired(job, i, text);
        if (!job->is_paired[i])
            tts_sarif_notice(sarif, &finding);
    }
    tts_sarif_end(sarif);
}

/* ---- annotations ---- */

static void annotate_baseline(FILE *out, const struct tts_check_job *job)
{
    const struct tts_runs *bases = &job->baseline.runs;
    for (size_t i = 0; i < bases->count; i++) {
        char note[TTS_CHECK_NOTE_MAX], text[TTS_CHECK_TEXT_MAX + 64];
        if (tts_check_is_partial(&bases->runs[i])) {
            uint64_t line = tts_check_first_note(note, &bases->runs[i]);
            struct tts_finding finding =
                describe_input(TTS_SEVERITY_WARNING, job->baseline.path, line, note);
            tts_annotation_put(out, &finding);
        }
        struct tts_finding finding = describe_unpaired(job, i, text);
        if (!job->is_paired[i])
            tts_annotation_put(out, &finding);
    }
}

void tts_check_github_end(FILE *out, const struct tts_check_job *job)
{
    const struct tts_check_file *file;
    char mb[TTS_NUMBER_MB_MAX];
    annotate_baseline(out, job);
    for (size_t i = 0; (file = tts_check_problem(job, i)); i++) {
        struct tts_finding finding =
            describe_input(TTS_SEVERITY_ERROR, file->path, file->problem_line, file->problem);
        tts_annotation_put(out, &finding);
    }
    if (job->assumed.is_known)
        fprintf(out,
                "::notice title=device memory::%s MB assumed; name a device in the budget\n",
                tts_number_format_mb(mb, job->assumed.bytes, false));
    if (tts_check_status_of(&job->counts) != TTS_BUDGET_PASS)
        return;
    fputs("::notice title=ttscope check::", out);
    tts_check_text_verdict(out, &job->counts);
}
