/* diff_text.c: writes the differences between two runs as text. */
#include "base/number.h"
#include "views/diff/diff_view.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS = 60, PATH_COLUMNS = 160, CHANGE_MAX = 160, DIFF_PERCENT_MAX = 24 };

struct name {
    char text[PATH_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
};

/* Returns true if the change is less than half of 0.01 MB. Such a change is printed in
 * bytes. */
static bool diff_is_small(int64_t bytes)
{
    return bytes < TTS_RUN_HALF_STEP_BYTES && bytes > -TTS_RUN_HALF_STEP_BYTES;
}

static const char *mb(char out[TTS_NUMBER_MB_MAX], struct tts_amount amount, bool plus)
{
    if (!amount.is_known)
        return "-";
    return tts_number_format_mb(out, amount.bytes, plus);
}

/* Writes a percentage, such as "+89.24 %", or "" if it is unknown or would round to 0. Returns
 * `out`. */
static const char *diff_percent(char out[DIFF_PERCENT_MAX], const struct tts_delta *delta)
{
    int64_t share;
    out[0] = '\0';
    if (!tts_delta_share(delta, &share) || share == 0)
        return out;
    uint64_t size = share < 0 ? 0 - (uint64_t)share : (uint64_t)share;
    snprintf(out, DIFF_PERCENT_MAX, "%c%" PRIu64 ".%02" PRIu64 " %%",
             delta->change.bytes < 0 ? '-' : '+', size / 100, size % 100);
    return out;
}

/* Returns the label of a part of the peak, such as "gradients overhead". */
static const char *diff_part_label(enum tts_run_part part)
{
    static const char *const labels[] = {
        [TTS_RUN_PART_OTHER] = "other",
        [TTS_RUN_PART_MODEL] = "model",
        [TTS_RUN_PART_GRADIENTS] = "gradients overhead",
        [TTS_RUN_PART_OPTIMIZER] = "optimizer",
        [TTS_RUN_PART_ACTIVATIONS] = "activations",
    };
    static_assert(sizeof labels / sizeof labels[0] == TTS_RUN_PARTS, "each");
    return labels[part];
}

static const char *phase_name(struct name *out, const struct tts_rundiff *diff, size_t phase)
{
    tts_safe_text(out->text, sizeof out->text, diff->phases[phase].name, NAME_COLUMNS);
    return out->text;
}

struct size {
    char text[TTS_NUMBER_MB_MAX + 4];
};

/* Writes a change without its sign, such as "7388.00 MB". A change that would round to 0.00 MB
 * is written in bytes, such as "1024 B". */
static const char *size_of_change(struct size *out, int64_t bytes)
{
    char mb[TTS_NUMBER_MB_MAX];
    if (bytes < 0)
        bytes = bytes == INT64_MIN ? INT64_MAX : -bytes;
    if (diff_is_small(bytes))
        snprintf(out->text, sizeof out->text, "%" PRId64 " B", bytes);
    else
        snprintf(out->text, sizeof out->text, "%s MB", tts_number_format_mb(mb, bytes, false));
    return out->text;
}

/* Writes the old and the new value, such as "192.95 to 9636.02 MB". Values that would look the
 * same are written in bytes. */
static void describe_way(char out[CHANGE_MAX], int64_t from, int64_t to)
{
    char a[TTS_NUMBER_MB_MAX], b[TTS_NUMBER_MB_MAX];
    tts_number_format_mb(a, from, false);
    tts_number_format_mb(b, to, false);
    if (strcmp(a, b) == 0)
        snprintf(out, CHANGE_MAX, "%" PRId64 " to %" PRId64 " B", from, to);
    else
        snprintf(out, CHANGE_MAX, "%s to %s MB", a, b);
}

/* Writes the change of the peak, such as "peak grew by 7388.00 MB (+89.24 %)". */
static void describe_change(const struct tts_delta *peak, char out[CHANGE_MAX])
{
    struct size size;
    char share[DIFF_PERCENT_MAX];
    int len =
        snprintf(out, CHANGE_MAX, "peak %s by %s", peak->change.bytes > 0 ? "grew" : "shrank",
                 size_of_change(&size, peak->change.bytes));
    assert(len > 0 && len < CHANGE_MAX);
    if (diff_percent(share, peak)[0] != '\0')
        snprintf(out + len, CHANGE_MAX - (size_t)len, " (%s)", share);
}

/* ---- the phase that changed the peak ---- */

static void describe_cause(const struct tts_rundiff *diff, char out[CHANGE_MAX])
{
    const struct tts_rundiff_cause *cause = &diff->cause;
    const struct tts_rundiff_phase *phase = &diff->phases[cause->phase];
    const struct tts_delta *figure =
        &phase->figures[cause->is_peak ? TTS_RUN_SEGMENT_PEAK : TTS_RUN_CHANGE];
    const char *name = cause->is_peak ? "Peak" : "Change";
    char way[CHANGE_MAX], mb[TTS_NUMBER_MB_MAX];
    if (phase->where == TTS_IN_BOTH) {
        describe_way(way, figure->a.bytes, figure->b.bytes);
        snprintf(out, CHANGE_MAX, "the Segment %s %s from %.80s", name,
                 figure->change.bytes > 0 ? "rose" : "fell", way);
        return;
    }
    bool of_a = phase->where == TTS_ONLY_A;
    snprintf(
        out, CHANGE_MAX, "only %c has this phase, with a Segment %s of %s MB", of_a ? 'A' : 'B',
        name,
        tts_number_format_mb(mb, of_a ? figure->a.bytes : figure->b.bytes, !cause->is_peak));
}

/* Describes effects in the other direction: changes of other phases, and a peak of the smaller
 * run in another phase. */
static void describe_against(const struct tts_rundiff *diff, char *out, size_t capacity)
{
    const struct tts_rundiff_cause *cause = &diff->cause;
    bool grew = diff->peak.change.bytes > 0;
    struct tts_amount rest =
        tts_amount_subtract(diff->peak.change, diff->phases[cause->phase].contribution);
    rest = tts_amount_subtract(rest, tts_amount_of(cause->not_peak));
    rest = tts_amount_subtract(rest, tts_amount_of(cause->rounding));
    const char smaller = grew ? 'A' : 'B';
    struct size size;
    struct name other;
    int len = 0;
    out[0] = '\0';
    if (grew ? rest.bytes < 0 : rest.bytes > 0)
        len = snprintf(out, capacity, "; other changes %s %s", grew ? "save" : "add",
                       size_of_change(&size, rest.bytes));
    if (cause->not_peak == 0 || !cause->has_other || cause->other_phase == cause->peak_phase)
        return;
    assert(len >= 0 && (size_t)len < capacity);
    snprintf(out + len, capacity - (size_t)len,
             "; the peak of %c is in another phase (%s), %s above the memory that %c uses in "
             "the phase where %c peaks",
             smaller, phase_name(&other, diff, cause->other_phase),
             size_of_change(&size, cause->not_peak), smaller, grew ? 'B' : 'A');
}

static void say_cause(const struct tts_rundiff *diff, const char *change, FILE *out)
{
    int64_t part = diff->phases[diff->cause.phase].contribution.bytes;
    int64_t whole = diff->peak.change.bytes;
    bool is_more = whole > 0 ? part > whole : part < whole;
    const char *adds = whole > 0 ? "adds" : "saves";
    char how[CHANGE_MAX], against[sizeof(struct name) * 2 + CHANGE_MAX] = "";
    struct size size;
    struct name name;
    phase_name(&name, diff, diff->cause.phase);
    describe_cause(diff, how);
    if (is_more && tts_delta_is_slight(&diff->peak)) {
        tts_say(out, 0, "%s: larger changes cancel each other; phase %s alone %s %s (%s)",
                change, name.text, adds, size_of_change(&size, part), how);
        return;
    }
    if (is_more)
        describe_against(diff, against, sizeof against);
    if (part == whole)
        tts_say(out, 0, "%s, all of it in %s: %s", change, name.text, how);
    else if (is_more)
        tts_say(out, 0, "%s; %s alone %s %s: %s%s", change, name.text, adds,
                size_of_change(&size, part), how, against);
    else
        tts_say(out, 0, "%s, %s of it in %s: %s", change, size_of_change(&size, part),
                name.text, how);
}

/* ---- the part that changed the peak, if no phase can be named ---- */

static void describe_part(const struct tts_rundiff *diff, char out[CHANGE_MAX])
{
    const struct tts_delta *part = &diff->parts[diff->cause.part];
    int64_t whole = diff->peak.change.bytes, bytes = part->change.bytes;
    const char *label = diff_part_label(diff->cause.part);
    struct size size;
    char way[CHANGE_MAX];
    bool is_more = whole > 0 ? bytes > whole : bytes < whole;
    bool is_most = whole > 0 ? bytes >= whole / 2 : bytes <= whole / 2;
    describe_way(way, part->a.bytes, part->b.bytes);
    if (is_more)
        snprintf(out, CHANGE_MAX, "; the part '%s' alone %s %s (from %.60s)", label,
                 whole > 0 ? "adds" : "saves", size_of_change(&size, bytes), way);
    else if (is_most)
        snprintf(out, CHANGE_MAX, ", most of it %s (from %.60s)", label, way);
    else
        snprintf(out, CHANGE_MAX, ", %s of it %s (from %.60s)", size_of_change(&size, bytes),
                 label, way);
}

static void say_unexplained(const struct tts_diff_pair *pair, const char *change, FILE *out)
{
    const struct tts_rundiff *diff = &pair->diff;
    bool a_is_cut = pair->runs[TTS_DIFF_A].mem->peak_at_least;
    bool b_is_cut = pair->runs[TTS_DIFF_B].mem->peak_at_least;
    const char *cut = !b_is_cut ? "A" : !a_is_cut ? "B" : "A and B";
    const struct tts_rundiff_cause *cause = &diff->cause;
    static const char *const why[] = {
        [TTS_RUNDIFF_NO_PEAK] = "the phase of the peak is unknown",
        [TTS_RUNDIFF_LATER] =
            "a peak is in a later iteration, but the phases cover only the first iteration",
        [TTS_RUNDIFF_UNKNOWN] = "a figure of an earlier phase is unknown",
        [TTS_RUNDIFF_CONTRADICTION] = "the figures of the phases do not add up to the peak",
    };
    char part[CHANGE_MAX] = "";
    struct name name;
    if (cause->has_part)
        describe_part(diff, part);
    if (cause->reason == TTS_RUNDIFF_NO_PHASE)
        tts_say(out, 0,
                "%s%s; the phase that causes the change is unknown: the peak is in %s, a phase "
                "that only %c has",
                change, part, phase_name(&name, diff, cause->peak_phase),
                diff->phases[cause->peak_phase].where == TTS_ONLY_A ? 'A' : 'B');
    else if (cause->reason == TTS_RUNDIFF_CUT)
        tts_say(out, 0,
                "%s%s; the phase that causes the change is unknown: part of %s is missing, so "
                "the real peak of %s may be higher",
                change, part, cut, cut);
    else
        tts_say(out, 0, "%s%s; the phase that causes the change is unknown: %s", change, part,
                why[cause->reason]);
}

static void say_same(const struct tts_rundiff *diff, FILE *out)
{
    if (diff->compared == 0) {
        tts_say(out, 0, "nothing can be compared: no figure is known for both runs");
        return;
    }
    tts_say(out, 0, "no difference%s",
            diff->is_rounded && !diff->is_equal ? " larger than 0.01 MB, the precision of logs"
                                                : "");
}

/* Prints the sentence about the peak. */
static void diff_text_verdict(const struct tts_diff_pair *pair, FILE *out)
{
    const struct tts_rundiff *diff = &pair->diff;
    char change[CHANGE_MAX];
    if (!diff->differs) {
        say_same(diff, out);
        return;
    }
    if (!diff->peak.change.is_known) {
        tts_say(out, 0, "change of the peak: unknown, because the peak of %s is unknown",
                diff->peak.a.is_known   ? "B"
                : diff->peak.b.is_known ? "A"
                                        : "A and B");
        return;
    }
    if (!diff->peak.differs) {
        tts_say(out, 0, "the peak did not change");
        return;
    }
    describe_change(&diff->peak, change);
    if (diff->cause.reason == TTS_RUNDIFF_TOLD)
        say_cause(diff, change, out);
    else
        say_unexplained(pair, change, out);
}

static const char *safe_name(struct name *out, const char *text, size_t columns)
{
    tts_safe_text(out->text, sizeof out->text, text, columns);
    return out->text;
}

/* ---- the header ---- */

static const char *input_kind_name(enum tts_runs_kind kind)
{
    switch (kind) {
    case TTS_RUNS_LOG:
        return "training log";
    case TTS_RUNS_EVENTS:
        return "recording or trace";
    case TTS_RUNS_RESULT:
        return "saved result";
    }
    return "";
}

static void print_run_name(const struct tts_run *run, FILE *out)
{
    struct name name;
    if (run->title[0] != '\0')
        fprintf(out, " '%s'", safe_name(&name, run->title, NAME_COLUMNS));
    if (run->rank[0] != '\0')
        fprintf(out, " [%s]", safe_name(&name, run->rank, NAME_COLUMNS));
}

static void put_side(const struct tts_diff_answer *answer, const struct tts_diff_pair *pair,
                     int side, FILE *out)
{
    const struct tts_diff_input *input = &answer->inputs[side];
    const struct tts_run *run = pair->runs[side].run;
    struct name path;
    fprintf(out, "%c: %s (%s)\n", side == TTS_DIFF_A ? 'A' : 'B',
            safe_name(&path, tts_shown_path(input->path), PATH_COLUMNS),
            input_kind_name(input->runs.kind));
    if (input->runs.count == 1 && run->title[0] == '\0' && run->rank[0] == '\0')
        return;
    fputs("   run", out);
    if (input->runs.count > 1)
        fprintf(out, " %zu of %zu", pair->numbers[side], input->runs.count);
    print_run_name(run, out);
    fputc('\n', out);
}

/* ---- rows ---- */

/* Writes a change with its sign. A difference that would be written as +0.00 MB is written in
 * bytes. Returns `out`. */
static const char *signed_change(char out[TTS_NUMBER_MB_MAX], const struct tts_delta *delta)
{
    if (!delta->differs || !diff_is_small(delta->change.bytes))
        return mb(out, delta->change, true);
    snprintf(out, TTS_NUMBER_MB_MAX, "%+" PRId64 " B", delta->change.bytes);
    return out;
}

static void put_heading(const char *heading, FILE *out)
{
    fprintf(out, "\n%-27s%12s%12s%13s\n", heading, "A", "B", "change");
}

static void print_row(const char *label, const struct tts_delta *delta, FILE *out)
{
    char a[TTS_NUMBER_MB_MAX], b[TTS_NUMBER_MB_MAX], change[TTS_NUMBER_MB_MAX];
    char share[DIFF_PERCENT_MAX];
    fprintf(out, "  %-25s%12s%12s%13s", label, mb(a, delta->a, false), mb(b, delta->b, false),
            signed_change(change, delta));
    if (diff_percent(share, delta)[0] != '\0')
        fprintf(out, "%14s", share);
    fputc('\n', out);
}

static bool is_seen(const struct tts_delta *delta)
{
    return delta->a.is_known || delta->b.is_known;
}

/* ---- phases ---- */

static const char *const figure_labels[] = {
    [TTS_RUN_SEGMENT_PEAK] = "segment peak",
    [TTS_RUN_ALLOCATIONS] = "allocations",
    [TTS_RUN_DEALLOCATIONS] = "deallocations",
    [TTS_RUN_CHANGE] = "segment change",
    [TTS_RUN_CUMULATIVE_PEAK] = "cumulative peak",
    [TTS_RUN_CUMULATIVE_CURRENT] = "cumulative current",
    [TTS_RUN_L1_CB] = "L1 circular buffers",
    [TTS_RUN_L1_BUFFER] = "L1 buffers",
    [TTS_RUN_L1_TOTAL] = "L1 total",
    [TTS_RUN_L1_CORE] = "L1 of one core",
};

static_assert(sizeof figure_labels / sizeof figure_labels[0] == TTS_RUN_FIGURES, "each");

/* Returns true if the row of a figure is printed. A phase of both runs has rows for the figures
 * that differ. A phase of one run has rows for the main figures. */
static bool is_diff_row(const struct tts_rundiff_phase *phase, int figure)
{
    if (phase->where == TTS_IN_BOTH)
        return phase->figures[figure].differs;
    return figure == TTS_RUN_SEGMENT_PEAK || figure == TTS_RUN_CHANGE ||
           figure == TTS_RUN_CUMULATIVE_PEAK;
}

static void print_phase(const struct tts_rundiff_phase *phase, bool is_all, FILE *out)
{
    static const char *const where[] = {
        [TTS_IN_BOTH] = "", [TTS_ONLY_A] = " (only in A)", [TTS_ONLY_B] = " (only in B)"};
    struct name name;
    fprintf(out, "%s%s\n", safe_name(&name, phase->name, NAME_COLUMNS), where[phase->where]);
    for (int i = 0; i < TTS_RUN_FIGURES; i++) {
        const struct tts_delta *delta = &phase->figures[i];
        if (is_seen(delta) && (is_diff_row(phase, i) || is_all))
            print_row(figure_labels[i], delta, out);
    }
}

static void put_others(const struct tts_rundiff *diff, FILE *out)
{
    size_t others = diff->phase_count - diff->differing_itself;
    if (others > 0)
        fprintf(out, "%zu %sphase%s: no difference%s%s\n", others,
                diff->differing_itself > 0 ? "other " : "", others == 1 ? "" : "s",
                diff->within_rounding > 0 ? " above 0.01 MB" : "",
                diff->differing > diff->differing_itself ? " except in cumulative figures"
                                                         : "");
}

static void print_diff_phases(const struct tts_rundiff *diff, bool is_all, FILE *out)
{
    if (diff->phase_count == 0)
        return;
    if (is_all || diff->differing_itself > 0)
        put_heading(is_all ? "phases, MB" : "phases that differ, MB", out);
    else
        fputc('\n', out);
    for (size_t i = 0; i < diff->phase_count; i++)
        if (is_all || diff->phases[i].differs_itself)
            print_phase(&diff->phases[i], is_all, out);
    if (!is_all)
        put_others(diff, out);
}

/* ---- parts and totals ---- */

static bool has_parts(const struct tts_delta *parts)
{
    for (size_t i = 0; i < TTS_RUN_PARTS; i++)
        if (is_seen(&parts[i]))
            return true;
    return false;
}

/* Prints the parts. `gradients` is the label of the gradients in this table. */
static void print_diff_parts(const struct tts_delta *parts, const char *gradients, FILE *out)
{
    static const enum tts_run_part order[] = {TTS_RUN_PART_MODEL, TTS_RUN_PART_OPTIMIZER,
                                              TTS_RUN_PART_GRADIENTS, TTS_RUN_PART_ACTIVATIONS,
                                              TTS_RUN_PART_OTHER};
    static_assert(sizeof order / sizeof order[0] == TTS_RUN_PARTS, "each");
    for (size_t i = 0; i < TTS_RUN_PARTS; i++)
        if (is_seen(&parts[order[i]]))
            print_row(order[i] == TTS_RUN_PART_GRADIENTS ? gradients
                                                         : diff_part_label(order[i]),
                      &parts[order[i]], out);
}

/* Returns true if the parts of the peak are computed from the phases, and the peak is in a
 * phase of `part` during or after a forward pass. */
static bool is_peak_in(const struct tts_named_run *run, enum tts_run_part part)
{
    const struct tts_trainmem *mem = run->mem;
    return mem->has_parts && !mem->parts_are_stated && mem->forward_passes > 0 &&
           tts_train_part_of(run->run->phases[mem->peak_phase].name) == part;
}

/* Prints `text` after the names of the runs whose peak is in a phase of `part`. */
static void say_computed_parts(const struct tts_diff_pair *pair, enum tts_run_part part,
                               const char *text, FILE *out)
{
    bool a = is_peak_in(&pair->runs[TTS_DIFF_A], part);
    bool b = is_peak_in(&pair->runs[TTS_DIFF_B], part);
    if (a || b)
        tts_say(out, 2, "%s: %s", !b ? "A" : !a ? "B" : "A and B", text);
}

static void say_parts(const struct tts_diff_pair *pair, FILE *out)
{
    const struct tts_trainmem *a = pair->runs[TTS_DIFF_A].mem, *b = pair->runs[TTS_DIFF_B].mem;
    say_computed_parts(pair, TTS_RUN_PART_GRADIENTS,
                       "the peak is in a backward pass; 'activations' is the memory that the "
                       "last forward pass before the peak kept, 'gradients overhead' is the "
                       "memory that backward passes added, including temporary buffers",
                       out);
    say_computed_parts(pair, TTS_RUN_PART_ACTIVATIONS,
                       "the peak is in a forward pass; 'activations' includes the temporary "
                       "buffers of this pass",
                       out);
    if (a->has_parts && b->has_parts && a->parts_are_stated != b->parts_are_stated)
        tts_say(out, 2,
                "the parts are not compared: the parts of %c are exact, the parts of %c are "
                "computed from the phases",
                a->parts_are_stated ? 'A' : 'B', a->parts_are_stated ? 'B' : 'A');
}

/* Prints the sum over several forward passes. This memory was never in use at one time. */
static void say_activations(const struct tts_diff_pair *pair, FILE *out)
{
    const struct tts_delta *sum = &pair->diff.activations_sum;
    char a[TTS_NUMBER_MB_MAX], b[TTS_NUMBER_MB_MAX];
    if (pair->mem[TTS_DIFF_A].forward_passes < 2 && pair->mem[TTS_DIFF_B].forward_passes < 2)
        return;
    tts_say(out, 2,
            "'activations' is the memory that the largest forward pass kept; all forward "
            "passes together kept %s MB in A and %s MB in B",
            mb(a, sum->a, false), mb(b, sum->b, false));
}

static void print_sizes(const struct tts_diff_pair *pair, FILE *out)
{
    const struct tts_rundiff *diff = &pair->diff;
    bool are_stated =
        pair->mem[TTS_DIFF_A].parts_are_stated && pair->mem[TTS_DIFF_B].parts_are_stated;
    if (has_parts(diff->sizes)) {
        put_heading("measured sizes, MB", out);
        print_diff_parts(diff->sizes, "gradients", out);
        say_activations(pair, out);
    }
    if (has_parts(diff->parts)) {
        put_heading("parts of the peak, MB", out);
        print_diff_parts(diff->parts,
                         are_stated ? "gradients" : diff_part_label(TTS_RUN_PART_GRADIENTS),
                         out);
        say_parts(pair, out);
    }
}

static void put_totals(const struct tts_rundiff *diff, FILE *out)
{
    put_heading("whole run, MB", out);
    print_row("peak", &diff->peak, out);
    print_row("final", &diff->final, out);
}

/* ---- the whole text ---- */

/* Returns true if two of several runs are paired although their names contradict each other. */
static bool is_guess(const struct tts_diff_answer *answer, const struct tts_diff_pair *pair)
{
    return pair->by == TTS_RUNPAIR_ORDER && answer->inputs[TTS_DIFF_A].runs.count > 1 &&
           !tts_runpair_is_named(pair->runs[TTS_DIFF_A].run, pair->runs[TTS_DIFF_B].run);
}

static void print_pair(const struct tts_diff_answer *answer, const struct tts_diff_pair *pair,
                       bool all, FILE *out)
{
    const struct tts_rundiff *diff = &pair->diff;
    put_side(answer, pair, TTS_DIFF_A, out);
    put_side(answer, pair, TTS_DIFF_B, out);
    if (is_guess(answer, pair))
        fputs("these runs are paired by position in the file, although their names differ\n",
              out);
    fputc('\n', out);
    diff_text_verdict(pair, out);
    if (!diff->differs && !all)
        return;
    print_diff_phases(diff, all, out);
    print_sizes(pair, out);
    put_totals(diff, out);
}

/* Prints the runs of one side without a partner. Returns true if there is at least one. */
static bool print_unpaired(const struct tts_diff_answer *answer, int side, FILE *out)
{
    const struct tts_diff_input *input = &answer->inputs[side];
    bool is_any = false;
    for (size_t i = 0; i < input->runs.count && !answer->is_chosen; i++) {
        if (input->is_paired[i])
            continue;
        fprintf(out, "not compared: run %zu", i + 1);
        print_run_name(&input->runs.runs[i], out);
        fprintf(out, " is only in %c\n", side == TTS_DIFF_A ? 'A' : 'B');
        is_any = true;
    }
    return is_any;
}

void tts_diff_text(const struct tts_diff_answer *answer, bool all, FILE *out)
{
    bool is_any = print_unpaired(answer, TTS_DIFF_A, out);
    is_any |= print_unpaired(answer, TTS_DIFF_B, out);
    for (size_t i = 0; i < answer->pair_count; i++) {
        if (i > 0 || is_any)
            fputc('\n', out);
        print_pair(answer, &answer->pairs[i], all, out);
    }
}
