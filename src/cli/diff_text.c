/* diff_text.c: what changed, for people. */
#include "base/number.h"
#include "cli/diff_parts.h"
#include "cli/message.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS = 60, PATH_COLUMNS = 160 };

struct name {
    char text[PATH_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
};

static const char *safe(struct name *out, const char *text, size_t columns)
{
    tts_safe_text(out->text, sizeof out->text, text, columns);
    return out->text;
}

/* ---- the head ---- */

static const char *kind_name(enum tts_runs_kind kind)
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

static void put_run_name(const struct tts_run *run, FILE *out)
{
    struct name name;
    if (run->title[0] != '\0')
        fprintf(out, " '%s'", safe(&name, run->title, NAME_COLUMNS));
    if (run->rank[0] != '\0')
        fprintf(out, " [%s]", safe(&name, run->rank, NAME_COLUMNS));
}

static void put_side(const struct tts_diff_job *job, const struct tts_diff_pair *pair, int side,
                     FILE *out)
{
    const struct tts_diff_input *input = &job->inputs[side];
    const struct tts_run *run = tts_diff_run(job, pair, side);
    struct name path;
    fprintf(out, "%c: %s (%s)\n", side == TTS_DIFF_A ? 'A' : 'B',
            safe(&path, tts_message_path(input->path), PATH_COLUMNS),
            kind_name(input->runs.kind));
    if (input->runs.count == 1 && run->title[0] == '\0' && run->rank[0] == '\0')
        return;
    fputs("   run", out);
    if (input->runs.count > 1)
        fprintf(out, " %zu of %zu", pair->runs[side] + 1, input->runs.count);
    put_run_name(run, out);
    fputc('\n', out);
}

/* ---- rows ---- */

static const char *mb(char out[TTS_NUMBER_MB_MAX], struct tts_amount amount, bool plus)
{
    if (!amount.is_known)
        return "-";
    return tts_number_format_mb(out, amount.bytes, plus);
}

/* What would be +0.00 MB, and is a difference, in bytes. */
static const char *change_of(char out[TTS_NUMBER_MB_MAX], const struct tts_delta *delta)
{
    if (!delta->differs || !tts_diff_is_small(delta->change.bytes))
        return mb(out, delta->change, true);
    snprintf(out, TTS_NUMBER_MB_MAX, "%+" PRId64 " B", delta->change.bytes);
    return out;
}

const char *tts_diff_percent(char out[TTS_DIFF_PERCENT_MAX], const struct tts_delta *delta)
{
    int64_t share;
    out[0] = '\0';
    if (!tts_delta_share(delta, &share) || share == 0)
        return out;
    uint64_t size = share < 0 ? 0 - (uint64_t)share : (uint64_t)share;
    snprintf(out, TTS_DIFF_PERCENT_MAX, "%c%" PRIu64 ".%02" PRIu64 " %%",
             delta->change.bytes < 0 ? '-' : '+', size / 100, size % 100);
    return out;
}

static void put_heading(const char *heading, FILE *out)
{
    fprintf(out, "\n%-27s%12s%12s%13s\n", heading, "A", "B", "change");
}

static void put_row(const char *label, const struct tts_delta *delta, FILE *out)
{
    char a[TTS_NUMBER_MB_MAX], b[TTS_NUMBER_MB_MAX], change[TTS_NUMBER_MB_MAX];
    char share[TTS_DIFF_PERCENT_MAX];
    fprintf(out, "  %-25s%12s%12s%13s", label, mb(a, delta->a, false), mb(b, delta->b, false),
            change_of(change, delta));
    if (tts_diff_percent(share, delta)[0] != '\0')
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

/* What differs; of a phase that only one has, those that the summary is read for. */
static bool is_row(const struct tts_rundiff_phase *phase, int figure)
{
    if (phase->where == TTS_IN_BOTH)
        return phase->figures[figure].differs;
    return figure == TTS_RUN_SEGMENT_PEAK || figure == TTS_RUN_CHANGE ||
           figure == TTS_RUN_CUMULATIVE_PEAK;
}

static void put_phase(const struct tts_diff_job *job, const struct tts_diff_pair *pair,
                      size_t at, FILE *out)
{
    static const char *const where[] = {
        [TTS_IN_BOTH] = "", [TTS_ONLY_A] = " (only in A)", [TTS_ONLY_B] = " (only in B)"};
    const struct tts_rundiff_phase *phase = &pair->diff.phases[at];
    struct name name;
    fprintf(out, "%s%s\n", safe(&name, tts_diff_phase_name(job, pair, at), NAME_COLUMNS),
            where[phase->where]);
    for (int i = 0; i < TTS_RUN_FIGURES; i++) {
        const struct tts_delta *delta = &phase->figures[i];
        if (is_seen(delta) && (is_row(phase, i) || job->options.all))
            put_row(figure_labels[i], delta, out);
    }
}

static void put_others(const struct tts_rundiff *diff, FILE *out)
{
    size_t others = diff->phase_count - diff->differing_itself;
    if (others > 0)
        fprintf(out, "%zu %s%s: no difference%s\n", others,
                diff->differing_itself > 0 ? "other" : "phase", others == 1 ? "" : "s",
                diff->differing == diff->differing_itself ? ""
                : others == 1                             ? " of its own"
                                                          : " of their own");
}

static void put_phases(const struct tts_diff_job *job, const struct tts_diff_pair *pair,
                       FILE *out)
{
    const struct tts_rundiff *diff = &pair->diff;
    bool is_all = job->options.all;
    if (diff->phase_count == 0)
        return;
    if (is_all || diff->differing_itself > 0)
        put_heading(is_all ? "phases, MB" : "phases that differ, MB", out);
    else
        fputc('\n', out);
    for (size_t i = 0; i < diff->phase_count; i++)
        if (is_all || diff->phases[i].differs_itself)
            put_phase(job, pair, i, out);
    if (!is_all)
        put_others(diff, out);
}

/* ---- parts and totals ---- */

const char *tts_diff_part_label(enum tts_run_part part)
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

static bool has_parts(const struct tts_delta *parts)
{
    for (size_t i = 0; i < TTS_RUN_PARTS; i++)
        if (is_seen(&parts[i]))
            return true;
    return false;
}

/* `gradients` is what they are called here. */
static void put_parts(const struct tts_delta *parts, const char *gradients, FILE *out)
{
    static const enum tts_run_part order[] = {TTS_RUN_PART_MODEL, TTS_RUN_PART_OPTIMIZER,
                                              TTS_RUN_PART_GRADIENTS, TTS_RUN_PART_ACTIVATIONS,
                                              TTS_RUN_PART_OTHER};
    static_assert(sizeof order / sizeof order[0] == TTS_RUN_PARTS, "each");
    for (size_t i = 0; i < TTS_RUN_PARTS; i++)
        if (is_seen(&parts[order[i]]))
            put_row(order[i] == TTS_RUN_PART_GRADIENTS ? gradients
                                                       : tts_diff_part_label(order[i]),
                    &parts[order[i]], out);
}

/* What the parts of the peak are of the runs that do not state them. */
static void say_parts(const struct tts_diff_pair *pair, FILE *out)
{
    bool a = pair->mem[TTS_DIFF_A].has_parts && !pair->mem[TTS_DIFF_A].parts_are_stated;
    bool b = pair->mem[TTS_DIFF_B].has_parts && !pair->mem[TTS_DIFF_B].parts_are_stated;
    if (!a && !b)
        return;
    tts_say(out, 2,
            "%s: activations are what the forward pass kept, gradients overhead is what the "
            "backward pass added%s",
            !b   ? "A"
            : !a ? "B"
                 : "A and B",
            a != b ? "; the other run has the parts themselves, so they are not compared" : "");
}

/* Of several forward passes the sum is not what was there. */
static void say_activations(const struct tts_diff_pair *pair, FILE *out)
{
    const struct tts_delta *sum = &pair->diff.activations_sum;
    char a[TTS_NUMBER_MB_MAX], b[TTS_NUMBER_MB_MAX];
    if (pair->mem[TTS_DIFF_A].forward_passes < 2 && pair->mem[TTS_DIFF_B].forward_passes < 2)
        return;
    tts_say(out, 2,
            "activations are the most at once; all forward passes together kept A %s, B %s MB",
            mb(a, sum->a, false), mb(b, sum->b, false));
}

static void put_sizes(const struct tts_diff_pair *pair, FILE *out)
{
    const struct tts_rundiff *diff = &pair->diff;
    bool are_stated =
        pair->mem[TTS_DIFF_A].parts_are_stated && pair->mem[TTS_DIFF_B].parts_are_stated;
    if (has_parts(diff->sizes)) {
        put_heading("sizes as measured, MB", out);
        put_parts(diff->sizes, "gradients", out);
        say_activations(pair, out);
    }
    if (has_parts(diff->parts)) {
        put_heading("of the peak, MB", out);
        put_parts(diff->parts,
                  are_stated ? "gradients" : tts_diff_part_label(TTS_RUN_PART_GRADIENTS), out);
        say_parts(pair, out);
    }
}

static void put_totals(const struct tts_rundiff *diff, FILE *out)
{
    put_heading("in all, MB", out);
    put_row("peak", &diff->peak, out);
    put_row("final", &diff->final, out);
}

/* ---- all of it ---- */

/* Returns true if two of several runs go together though their names contradict each other. */
static bool is_guess(const struct tts_diff_job *job, const struct tts_diff_pair *pair)
{
    return pair->by == TTS_RUNPAIR_ORDER && job->inputs[TTS_DIFF_A].runs.count > 1 &&
           !tts_runpair_is_named(tts_diff_run(job, pair, TTS_DIFF_A),
                                 tts_diff_run(job, pair, TTS_DIFF_B));
}

static void put_pair(const struct tts_diff_job *job, const struct tts_diff_pair *pair,
                     FILE *out)
{
    const struct tts_rundiff *diff = &pair->diff;
    put_side(job, pair, TTS_DIFF_A, out);
    put_side(job, pair, TTS_DIFF_B, out);
    if (is_guess(job, pair))
        fputs("paired by order: the names do not match\n", out);
    fputc('\n', out);
    tts_diff_text_verdict(job, pair, out);
    if (!diff->differs && !job->options.all)
        return;
    put_phases(job, pair, out);
    put_sizes(pair, out);
    put_totals(diff, out);
}

/* True: there is one. */
static bool put_unpaired(const struct tts_diff_job *job, int side, FILE *out)
{
    const struct tts_diff_input *input = &job->inputs[side];
    bool is_chosen = job->options.run[TTS_DIFF_A] || job->options.run[TTS_DIFF_B];
    bool is_any = false;
    for (size_t i = 0; i < input->runs.count && !is_chosen; i++) {
        if (input->is_paired[i])
            continue;
        fprintf(out, "only in %c, not compared: run %zu", side == TTS_DIFF_A ? 'A' : 'B',
                i + 1);
        put_run_name(&input->runs.runs[i], out);
        fputc('\n', out);
        is_any = true;
    }
    return is_any;
}

void tts_diff_text(const struct tts_diff_job *job, FILE *out)
{
    bool is_any = put_unpaired(job, TTS_DIFF_A, out);
    is_any |= put_unpaired(job, TTS_DIFF_B, out);
    for (size_t i = 0; i < job->pair_count; i++) {
        if (i > 0 || is_any)
            fputc('\n', out);
        put_pair(job, &job->pairs[i], out);
    }
}
