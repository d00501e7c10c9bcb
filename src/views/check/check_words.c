/* check_words.c: the wording of findings, which text, JSON and reports share. */
#include "base/number.h"
#include "base/share.h"
#include "views/check/check_view.h"
#include "views/safe_text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { PHASE_COLUMNS = 40, BASE_COLUMNS = 100, PART_MAX = 160 };

static const struct tts_budget_limit *limit_at(const struct tts_check_run *run, size_t idx)
{
    return &run->answer->plan.budget.limits[idx];
}

/* ---- missing data ---- */

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
        snprintf(
            note.text, sizeof note.text,
            "the memory summary that begins here is incomplete: it ends after line %" PRIu64,
            run->end_line);
    else
        snprintf(note.text, sizeof note.text, "part of the run is missing");
    return note;
}

/* ---- labels ---- */

static void put_safe(char *out, size_t capacity, const char *text)
{
    tts_safe_text_build(out, capacity, text, PHASE_COLUMNS);
}

/* Returns the kind of the limit, such as " (share)", if another limit applies to the same
 * figure. Returns "" otherwise. */
static const char *size_kind_of(const struct tts_budget *budget, size_t limit_idx)
{
    static const char *const kinds[] = {[TTS_BUDGET_BYTES] = " (bytes)",
                                        [TTS_BUDGET_SHARE] = " (share)",
                                        [TTS_BUDGET_GROWTH_BYTES] = " (growth in bytes)",
                                        [TTS_BUDGET_GROWTH_SHARE] = " (growth)"};
    const struct tts_budget_limit *limit = &budget->limits[limit_idx];
    for (size_t i = 0; i < budget->limit_count; i++)
        if (i != limit_idx && budget->limits[i].rule == limit->rule &&
            budget->limits[i].pattern == limit->pattern)
            return kinds[limit->unit];
    return "";
}

const char *tts_check_label(char out[TTS_CHECK_LABEL_MAX], const struct tts_check_run *run,
                            size_t limit_idx, const struct tts_budget_finding *finding)
{
    const struct tts_budget *budget = &run->answer->plan.budget;
    const struct tts_budget_limit *limit = &budget->limits[limit_idx];
    char phase[PHASE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1] = "";
    bool is_phase = tts_budget_rule_place(limit->rule) == TTS_BUDGET_PHASE;
    if (is_phase)
        put_safe(phase, sizeof phase,
                 finding && finding->has_phase ? run->input.run.run->phases[finding->phase].name
                                               : budget->patterns[limit->pattern].text);
    snprintf(out, TTS_CHECK_LABEL_MAX, "%s%s%s%s", tts_budget_rule_id(limit->rule),
             is_phase ? " " : "", phase, size_kind_of(budget, limit_idx));
    return out;
}

const char *tts_check_base_name(char out[TTS_CHECK_TEXT_MAX],
                                const struct tts_check_file *baseline, size_t idx)
{
    char raw[TTS_RUN_LABEL_MAX], file[BASE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    char name[PHASE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text_build(file, sizeof file, tts_shown_path(baseline->path), BASE_COLUMNS);
    put_safe(name, sizeof name, tts_run_name(raw, &baseline->runs.runs[idx], "", 1));
    const char *shown = name + (name[0] == ' '); /* skips the space of a rank without a title */
    snprintf(out, TTS_CHECK_TEXT_MAX, "%s, run %zu%s%s%s", file, idx + 1, shown[0] ? " '" : "",
             shown, shown[0] ? "'" : "");
    return out;
}

const char *tts_check_unpaired(char out[TTS_CHECK_TEXT_MAX + 64],
                               const struct tts_check_file *baseline, size_t idx)
{
    char name[TTS_CHECK_TEXT_MAX];
    snprintf(out, TTS_CHECK_TEXT_MAX + 64, "baseline: %s matches no run that is checked",
             tts_check_base_name(name, baseline, idx));
    return out;
}

uint64_t tts_check_line(const struct tts_check_run *run,
                        const struct tts_budget_finding *finding)
{
    uint64_t line = finding->has_phase ? run->input.run.run->phases[finding->phase].line : 0;
    return line > 0 ? line : run->input.run.run->line;
}

/* ---- sizes ---- */

/* Writes a size: L1 in KiB, DRAM in MB. Returns `out`. */
static const char *put_check_size(char out[TTS_CHECK_NUMBER_MAX], enum tts_budget_rule rule,
                                  int64_t bytes)
{
    enum { KIB = 1024 };
    char number[TTS_NUMBER_MB_MAX];
    int64_t scaled;
    bool is_kib = tts_budget_is_l1(rule) && !__builtin_mul_overflow(bytes, KIB, &scaled);
    tts_number_format_mb(number, is_kib ? scaled : bytes, rule == TTS_BUDGET_PHASE_CHANGE);
    snprintf(out, TTS_CHECK_NUMBER_MAX, "%s %s", number, is_kib ? "KiB" : "MB");
    return out;
}

/* Writes an excess. An excess that would round to 0.00 is written in bytes. Returns `out`. */
static const char *put_excess(char out[TTS_CHECK_NUMBER_MAX], enum tts_budget_rule rule,
                              int64_t bytes)
{
    enum { SMALL = 10 * 1024 };
    if (bytes < (tts_budget_is_l1(rule) ? SMALL / 1024 : SMALL))
        snprintf(out, TTS_CHECK_NUMBER_MAX, "%" PRId64 " byte%s", bytes, bytes == 1 ? "" : "s");
    else
        put_check_size(
            out, rule == TTS_BUDGET_PHASE_CHANGE ? TTS_BUDGET_PHASE_SEGMENT_PEAK : rule, bytes);
    return out;
}

/* Writes the limit and how it was calculated: " (limit: at most 11641.33 MB, 95% of the
 * device)", or "" if the limit is unknown. */
static void put_check_limit(char out[PART_MAX], const struct tts_check_run *run,
                            const struct tts_budget_finding *finding)
{
    const struct tts_budget_limit *limit = limit_at(run, finding->limit_idx);
    bool is_headroom = limit->rule == TTS_BUDGET_DRAM_HEADROOM;
    char size[TTS_CHECK_NUMBER_MAX], base[TTS_CHECK_NUMBER_MAX] = "its value";
    char amount[TTS_CHECK_NUMBER_MAX], origin[PART_MAX / 2] = "";
    out[0] = '\0';
    if (!finding->limit.is_known)
        return;
    if (finding->baseline.is_known)
        put_check_size(base, limit->rule, finding->baseline.bytes);
    switch (limit->unit) {
    case TTS_BUDGET_UNITS:
    case TTS_BUDGET_BYTES:
        break;
    case TTS_BUDGET_SHARE:
        snprintf(origin, sizeof origin, ", %s%% of %s", tts_share_format(amount, limit->amount),
                 tts_budget_is_l1(limit->rule) ? "the L1 of a core" : "the device");
        break;
    case TTS_BUDGET_GROWTH_BYTES:
        snprintf(origin, sizeof origin, ", %s more than the baseline's %s",
                 put_excess(amount, limit->rule, (int64_t)limit->amount), base);
        break;
    case TTS_BUDGET_GROWTH_SHARE:
        snprintf(origin, sizeof origin, ", %s%% more than the baseline's %s",
                 tts_share_format(amount, limit->amount), base);
        break;
    }
    snprintf(out, PART_MAX, " (limit: %s %s%s%s)", is_headroom ? "at least" : "at most",
             put_check_size(size, limit->rule, finding->limit.bytes),
             is_headroom ? " free" : "", origin);
}

/* Writes the headroom, such as "500.00 MB free". If the headroom is negative, writes only its
 * size, such as "500.00 MB". */
static void put_check_free(char out[PART_MAX], const struct tts_budget_finding *finding)
{
    int64_t bytes = finding->measured.bytes;
    bool is_missing = bytes < 0;
    char size[TTS_CHECK_NUMBER_MAX];
    if (is_missing)
        bytes = bytes == INT64_MIN ? INT64_MAX : -bytes;
    snprintf(out, PART_MAX, "%s%s%s",
             !finding->at_least ? ""
             : is_missing       ? "at least "
                                : "at most ",
             put_check_size(size, TTS_BUDGET_DRAM_HEADROOM, bytes), is_missing ? "" : " free");
}

/* Writes the measured value, such as "at least 8278.65 MB" or "Peak Total 880.64 KiB". */
static void put_measured(char out[PART_MAX], const struct tts_check_run *run,
                         const struct tts_budget_finding *finding)
{
    enum tts_budget_rule rule = limit_at(run, finding->limit_idx)->rule;
    char size[TTS_CHECK_NUMBER_MAX];
    if (!finding->measured.is_known)
        snprintf(out, PART_MAX, "unknown");
    else if (rule == TTS_BUDGET_DRAM_HEADROOM)
        put_check_free(out, finding);
    else
        snprintf(out, PART_MAX, "%s%s%s%s", finding->at_least ? "at least " : "",
                 finding->figure == TTS_BUDGET_OF_TOTAL ? "Peak Total " : "",
                 put_check_size(size, rule, finding->measured.bytes),
                 finding->figure == TTS_BUDGET_OF_CORE ? " on the fullest core" : "");
}

/* Writes " (in 2 phases)" if the finding covers several phases, or else "". Returns `out`. */
static const char *put_check_phases(char out[TTS_CHECK_NUMBER_MAX],
                                    const struct tts_budget_finding *finding)
{
    out[0] = '\0';
    if (finding->phases > 1)
        snprintf(out, TTS_CHECK_NUMBER_MAX, " (in %zu phases)", finding->phases);
    return out;
}

/* Writes the end of the sentence: the reason if the result is unknown, the excess, or the
 * number of phases covered. */
static void put_check_end(char out[PART_MAX], const struct tts_check_run *run,
                          const struct tts_budget_finding *finding)
{
    enum tts_budget_rule rule = limit_at(run, finding->limit_idx)->rule;
    char excess[TTS_CHECK_NUMBER_MAX], phases[TTS_CHECK_NUMBER_MAX];
    out[0] = '\0';
    if (finding->status == TTS_BUDGET_UNKNOWN || finding->reason == TTS_BUDGET_REFUSED)
        snprintf(out, PART_MAX, ": %s%s", tts_budget_reason_text(finding->reason),
                 put_check_phases(phases, finding));
    else if (finding->status == TTS_BUDGET_OVER)
        snprintf(out, PART_MAX, ": %s %s", put_excess(excess, rule, finding->excess),
                 rule == TTS_BUDGET_DRAM_HEADROOM ? "short of the limit" : "over the limit");
    else if (finding->phases > 1)
        snprintf(out, PART_MAX, "; %zu phases pass, and this phase is nearest to the limit",
                 finding->phases);
}

/* Bytes of the text that put_where() writes. */
enum { WHERE_MAX = PHASE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 8 };

/* Writes the phase of a figure of the whole run, such as " in FORWARD_PASS". Writes "" if the
 * phase is unknown or the figure is the final value. */
static void put_where(char out[WHERE_MAX], const struct tts_check_run *run,
                      const struct tts_budget_finding *finding)
{
    enum tts_budget_rule rule = limit_at(run, finding->limit_idx)->rule;
    char phase[PHASE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1] = "";
    bool is_peak = rule == TTS_BUDGET_DRAM_PEAK || rule == TTS_BUDGET_DRAM_HEADROOM;
    if (is_peak && run->input.run.mem->peak_is_later)
        put_safe(phase, sizeof phase, run->input.run.run->whole.phase);
    else if (finding->has_phase && tts_budget_rule_place(rule) == TTS_BUDGET_OVERALL &&
             rule != TTS_BUDGET_DRAM_FINAL)
        put_safe(phase, sizeof phase, run->input.run.run->phases[finding->phase].name);
    if (phase[0] == '(') /* "(after the last phase)" */
        snprintf(out, WHERE_MAX, " %.*s", (int)strcspn(phase + 1, ")"), phase + 1);
    else
        snprintf(out, WHERE_MAX, "%s%s", phase[0] == '\0' ? "" : " in ", phase);
}

const char *tts_check_text(char out[TTS_CHECK_TEXT_MAX], const struct tts_check_run *run,
                           const struct tts_budget_finding *finding)
{
    char measured[PART_MAX], limit[PART_MAX], end[PART_MAX], where[WHERE_MAX];
    put_measured(measured, run, finding);
    put_check_limit(limit, run, finding);
    put_check_end(end, run, finding);
    put_where(where, run, finding);
    if (finding->reason == TTS_BUDGET_NO_PHASE)
        snprintf(out, TTS_CHECK_TEXT_MAX, "%s", end + 2);
    else if (finding->measured.is_known && finding->measured.bytes < 0 &&
             limit_at(run, finding->limit_idx)->rule == TTS_BUDGET_DRAM_HEADROOM)
        snprintf(out, TTS_CHECK_TEXT_MAX,
                 "nothing free: the peak%s is %s above the device memory%s%s", where, measured,
                 limit, end);
    else
        snprintf(out, TTS_CHECK_TEXT_MAX, "%s%s%s%s", measured, where, limit, end);
    return out;
}
