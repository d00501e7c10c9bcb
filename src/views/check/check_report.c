/* check_report.c: writes findings for build servers: JUnit, SARIF and annotations. */
#include "base/hash.h"
#include "base/number.h"
#include "views/check/check_view.h"
#include "views/finding/annotation.h"
#include "views/safe_text.h"

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
        .rule = tts_budget_rule_id(run->answer->plan.budget.limits[finding->limit_idx].rule),
        .severity = severity_of(finding->status),
        .subject = run->input.run.name,
        .label = tts_check_label(words->label, run, finding->limit_idx, finding),
        .message = tts_check_text(words->text, run, finding),
        .path = report_path(run->input.run.path),
        .line = tts_check_line(run, finding),
        .part = finding->has_phase ? run->input.run.run->phases[finding->phase].name : NULL,
    };
}

void tts_check_report_limit(struct tts_check_reports *reports, const struct tts_check_run *run,
                            size_t limit_idx, const struct tts_budget_verdict *verdict)
{
    if (!reports->has_junit)
        return;
    struct words words;
    char name[TTS_CHECK_LABEL_MAX];
    struct tts_finding finding = describe_limit(run, &verdict->worst, &words);
    size_t len = strlen(words.text);
    size_t same = verdict->status == TTS_BUDGET_OVER ? verdict->over : verdict->unknown;
    finding.severity = severity_of(verdict->status);
    if (verdict->status != TTS_BUDGET_PASS && same > 1)
        snprintf(words.text + len, sizeof words.text - len, " (the worst of %zu phases)", same);
    tts_junit_case(&reports->junit, run->class_name,
                   tts_check_label(name, run, limit_idx, NULL), &finding);
}

static const struct tts_rule rules[TTS_BUDGET_RULES] = {
#define X(name, id, place, key, what)                                                          \
    [TTS_BUDGET_##                                                                             \
        name] = {id, "Memory budget: " what,                                                   \
                 "The limit '" key "' of the budget file applies to this figure: " what        \
                 ". Either the run uses too much memory, or the limit in the "                 \
                 "budget file is too low. 'ttscope analyze' shows the parts of the memory. "   \
                 "'ttscope help check' explains each limit."},
    TTS_BUDGET_RULE_MAP(X)
#undef X
};

/* Hashes the rule, the run and the phase, but no lines or figures. The same problem in the next
 * log therefore gets the same fingerprint. */
static uint64_t fingerprint_of(const struct tts_check_run *run,
                               const struct tts_budget_finding *finding)
{
    const struct tts_budget *budget = &run->answer->plan.budget;
    const struct tts_budget_limit *limit = &budget->limits[finding->limit_idx];
    uint64_t hash = tts_sarif_mix(TTS_FNV1A64_INIT, tts_budget_rule_id(limit->rule));
    hash = tts_fnv1a64_u64(hash, (uint64_t)limit->unit);
    hash = tts_fnv1a64_u64(hash, run->number);
    if (tts_budget_rule_place(limit->rule) == TTS_BUDGET_OVERALL)
        return hash;
    hash = tts_sarif_mix(hash, budget->patterns[limit->pattern].text);
    if (!finding->has_phase)
        return hash;
    hash = tts_sarif_mix(hash, run->input.run.run->phases[finding->phase].name);
    return tts_fnv1a64_u64(hash, run->ordinals[finding->phase]);
}

void tts_check_report_finding(struct tts_check_reports *reports,
                              const struct tts_check_run *run,
                              const struct tts_budget_finding *found)
{
    struct words words;
    char evidence[TTS_PATH_MAX + 16];
    if (!reports->github && !reports->has_sarif)
        return;
    struct tts_finding finding = describe_limit(run, found, &words);
    snprintf(evidence, sizeof evidence, "%s:%" PRIu32, tts_shown_path(run->answer->budget.path),
             run->answer->plan.budget.limits[found->limit_idx].line);
    finding.evidence = evidence;
    if (reports->github)
        tts_annotation_put(reports->github, &finding);
    if (!reports->has_sarif)
        return;
    finding.fingerprint = fingerprint_of(run, found);
    tts_sarif_result(&reports->sarif, &finding);
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

enum { CHECK_NOTE_MAX = TTS_RUN_NOTE_BYTES + 48 };

/* Writes the first note and the number of further notes to `out`. Returns the line of the first
 * note. */
static uint64_t put_first_note(char out[CHECK_NOTE_MAX], const struct tts_run *run)
{
    struct tts_run_note note = tts_check_note(run, 0);
    char more[40] = "";
    if (run->notes_in_all > 1)
        snprintf(more, sizeof more, " (and %" PRIu64 " more)", run->notes_in_all - 1);
    snprintf(out, CHECK_NOTE_MAX, "%s%s", note.text, more);
    return note.line;
}

/* Returns the `idx`-th file that could not be read completely, or NULL after the last. */
static const struct tts_check_file *problem_at(const struct tts_check_answer *answer,
                                               size_t idx)
{
    const struct tts_check_file *const first[] = {&answer->budget, &answer->baseline};
    for (size_t i = 0; i < 2 + answer->file_count; i++) {
        const struct tts_check_file *file = i < 2 ? first[i] : &answer->files[i - 2];
        if (file->problem[0] != '\0' && idx-- == 0)
            return file;
    }
    return NULL;
}

/* Writes a test case with the name "read" and an error. */
static void put_read(struct tts_junit *junit, const char *class_name, const char *path,
                     uint64_t line, const char *text)
{
    struct tts_finding finding = describe_input(TTS_SEVERITY_WARNING, path, line, text);
    tts_junit_case(junit, class_name, "read", &finding);
}

void tts_check_report_partial(struct tts_check_reports *reports,
                              const struct tts_check_run *run)
{
    char text[CHECK_NOTE_MAX];
    uint64_t line = put_first_note(text, run->input.run.run);
    struct tts_finding finding =
        describe_input(TTS_SEVERITY_WARNING, run->input.run.path, line, text);
    if (reports->has_junit)
        tts_junit_case(&reports->junit, run->class_name, "read", &finding);
    finding.subject = run->input.run.name;
    if (reports->github)
        tts_annotation_put(reports->github, &finding);
}

/* Describes a run of the baseline that matches no run that is checked. The caller owns
 * `text`. */
static struct tts_finding describe_unpaired(const struct tts_check_answer *answer, size_t idx,
                                            char text[TTS_CHECK_TEXT_MAX + 64])
{
    return (struct tts_finding){.rule = "pair",
                                .severity = TTS_SEVERITY_WARNING,
                                .is_about_work = true,
                                .message = tts_check_unpaired(text, &answer->baseline, idx)};
}

static enum tts_status end_check_junit(struct tts_junit *junit,
                                       const struct tts_check_answer *answer,
                                       struct tts_error *err)
{
    const struct tts_runs *bases = &answer->baseline.runs;
    for (size_t i = 0; i < bases->count; i++) {
        const struct tts_run *base = &bases->runs[i];
        char name[TTS_CHECK_TEXT_MAX], text[CHECK_NOTE_MAX];
        char class_name[sizeof name + 16], why[TTS_CHECK_TEXT_MAX + 64];
        snprintf(class_name, sizeof class_name, "baseline %s",
                 tts_check_base_name(name, &answer->baseline, i));
        if (tts_check_is_partial(base)) {
            uint64_t line = put_first_note(text, base);
            put_read(junit, class_name, answer->baseline.path, line, text);
        }
        struct tts_finding unpaired = describe_unpaired(answer, i, why);
        if (!answer->is_paired[i])
            tts_junit_case(junit, class_name, "pair", &unpaired);
    }
    const struct tts_check_file *file;
    for (size_t i = 0; (file = problem_at(answer, i)); i++)
        put_read(junit, tts_shown_path(file->path), file->path, file->problem_line,
                 file->problem);
    return tts_junit_end(junit, err);
}

/* ---- SARIF ---- */

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

static void end_check_sarif(struct tts_sarif *sarif, const struct tts_check_answer *answer)
{
    const struct tts_check_file *file;
    tts_sarif_notices(sarif, !problem_at(answer, 0));
    for (size_t i = 0; (file = problem_at(answer, i)); i++) {
        struct tts_finding finding =
            describe_input(TTS_SEVERITY_ERROR, file->path, file->problem_line, file->problem);
        tts_sarif_notice(sarif, &finding);
    }
    for (size_t i = 0; i < answer->file_count; i++)
        put_notices(sarif, answer->files[i].path, &answer->files[i].runs);
    put_notices(sarif, answer->baseline.path, &answer->baseline.runs);
    for (size_t i = 0; i < answer->baseline.runs.count; i++) {
        char text[TTS_CHECK_TEXT_MAX + 64];
        struct tts_finding finding = describe_unpaired(answer, i, text);
        if (!answer->is_paired[i])
            tts_sarif_notice(sarif, &finding);
    }
    tts_sarif_end(sarif);
}

/* ---- annotations ---- */

static void annotate_baseline(FILE *out, const struct tts_check_answer *answer)
{
    const struct tts_runs *bases = &answer->baseline.runs;
    for (size_t i = 0; i < bases->count; i++) {
        char note[CHECK_NOTE_MAX], text[TTS_CHECK_TEXT_MAX + 64];
        if (tts_check_is_partial(&bases->runs[i])) {
            uint64_t line = put_first_note(note, &bases->runs[i]);
            struct tts_finding finding =
                describe_input(TTS_SEVERITY_WARNING, answer->baseline.path, line, note);
            tts_annotation_put(out, &finding);
        }
        struct tts_finding finding = describe_unpaired(answer, i, text);
        if (!answer->is_paired[i])
            tts_annotation_put(out, &finding);
    }
}

static void end_check_github(FILE *out, const struct tts_check_answer *answer)
{
    const struct tts_check_file *file;
    char mb[TTS_NUMBER_MB_MAX];
    annotate_baseline(out, answer);
    for (size_t i = 0; (file = problem_at(answer, i)); i++) {
        struct tts_finding finding =
            describe_input(TTS_SEVERITY_ERROR, file->path, file->problem_line, file->problem);
        tts_annotation_put(out, &finding);
    }
    if (answer->assumed.is_known)
        fprintf(out,
                "::notice title=device memory::%s MB is assumed, because nothing states the "
                "size; name a device in the budget\n",
                tts_number_format_mb(mb, answer->assumed.bytes, false));
    if (tts_budget_status_of(&answer->counts) != TTS_BUDGET_PASS)
        return;
    fputs("::notice title=ttscope check::", out);
    tts_check_text_verdict(out, &answer->counts);
}

/* ---- all reports ---- */

enum tts_status tts_check_report_begin(struct tts_check_reports *reports, FILE *junit,
                                       FILE *sarif, FILE *github, struct tts_error *err)
{
    *reports =
        (struct tts_check_reports){.has_junit = junit, .has_sarif = sarif, .github = github};
    if (sarif)
        tts_sarif_begin(&reports->sarif, sarif, rules, TTS_BUDGET_RULES);
    return junit ? tts_junit_begin(&reports->junit, junit, "ttscope check", err) : TTS_OK;
}

enum tts_status tts_check_report_end(struct tts_check_reports *reports,
                                     const struct tts_check_answer *answer,
                                     struct tts_error *err)
{
    if (reports->has_sarif)
        end_check_sarif(&reports->sarif, answer);
    if (reports->github)
        end_check_github(reports->github, answer);
    return reports->has_junit ? end_check_junit(&reports->junit, answer, err) : TTS_OK;
}
