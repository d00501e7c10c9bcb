#include "analysis/rundiff.h"

#include "analysis/rundiff_inside.h"
#include "analysis/trainmem_inside.h"
#include "base/heap.h"

#include <assert.h>

bool tts_delta_has_share(const struct tts_delta *delta)
{
    int64_t a = delta->a.bytes, b = delta->b.bytes;
    return delta->change.is_known && (a >= TTS_RUN_STEP_BYTES || a <= -TTS_RUN_STEP_BYTES) &&
           (a > 0 ? b >= 0 : b <= 0);
}

bool tts_delta_share(const struct tts_delta *delta, int64_t *out)
{
    if (!tts_delta_has_share(delta))
        return false;
    double whole = (double)delta->a.bytes;
    double share = (double)delta->change.bytes / (whole < 0 ? -whole : whole) * 10000;
    share = share > 9e15 ? 9e15 : share < -9e15 ? -9e15 : share;
    *out = (int64_t)(share < 0 ? share - 0.5 : share + 0.5);
    return true;
}

/* `slack`: up to so much is no difference. */
static struct tts_delta delta_of(struct tts_amount a, struct tts_amount b, int64_t slack)
{
    struct tts_delta delta = {.a = a, .b = b, .change = tts_amount_subtract(b, a)};
    delta.differs =
        delta.change.is_known && (delta.change.bytes > slack || delta.change.bytes < -slack);
    return delta;
}

/* ---- phases ---- */

/* A cumulative figure also differs by what was before. */
static bool is_own(int figure)
{
    return figure != TTS_RUN_CUMULATIVE_PEAK && figure != TTS_RUN_CUMULATIVE_CURRENT;
}

/* What it says of one; of L1 only if that was tracked. */
static struct tts_amount figure_of(const struct tts_run *run, bool is_there, size_t at,
                                   int figure)
{
    assert(!is_there || at < run->phase_count);
    return is_there ? run->phases[at].figures[figure] : (struct tts_amount){0};
}

static void fill_phase(const struct tts_run *a, const struct tts_run *b,
                       struct tts_rundiff *diff, struct tts_rundiff_phase *phase)
{
    bool in_a = phase->where != TTS_ONLY_B, in_b = phase->where != TTS_ONLY_A;
    int64_t slack = diff->is_rounded ? TTS_RUN_STEP_BYTES : 0;
    phase->differs = phase->differs_itself = phase->where != TTS_IN_BOTH;
    for (int k = 0; k < TTS_RUN_FIGURES; k++) {
        bool is_l1 = k >= TTS_RUN_L1_CB;
        phase->figures[k] =
            delta_of(figure_of(a, in_a && !(is_l1 && diff->no_l1_a), phase->a, k),
                     figure_of(b, in_b && !(is_l1 && diff->no_l1_b), phase->b, k), slack);
        phase->differs |= phase->figures[k].differs;
        phase->differs_itself |= phase->figures[k].differs && is_own(k);
        diff->compared += phase->figures[k].change.is_known;
    }
    diff->differing += phase->differs;
    diff->differing_itself += phase->differs_itself;
}

static void fill_phases(const struct tts_run *a, const struct tts_run *b,
                        struct tts_rundiff *diff)
{
    diff->no_l1_a = !tts_run_tracks_l1(a);
    diff->no_l1_b = !tts_run_tracks_l1(b);
    for (size_t i = 0; i < diff->phase_count; i++)
        fill_phase(a, b, diff, &diff->phases[i]);
}

/* ---- parts ---- */

/* What phases that are about no part did. */
static struct tts_amount others_of(const struct tts_run *run)
{
    struct tts_amount sum = tts_amount_of(0);
    for (size_t i = 0; i < run->phase_count; i++)
        if (tts_train_part_of(run->phases[i].name) == TTS_RUN_PART_OTHER)
            sum = tts_amount_add(sum, run->phases[i].figures[TTS_RUN_CHANGE]);
    return sum;
}

static void measured(const struct tts_rundiff_side *side, struct tts_amount out[TTS_RUN_PARTS])
{
    out[TTS_RUN_PART_OTHER] = others_of(side->run);
    out[TTS_RUN_PART_MODEL] = side->mem->model.actual;
    out[TTS_RUN_PART_GRADIENTS] = side->mem->gradients.actual;
    out[TTS_RUN_PART_OPTIMIZER] = side->mem->optimizer.actual;
    out[TTS_RUN_PART_ACTIVATIONS] = side->mem->activations;
}

static struct tts_amount part_of_peak(const struct tts_trainmem *mem, int part)
{
    assert(!mem->has_parts || mem->parts_are_actual);
    return mem->has_parts ? tts_amount_of(mem->parts[part]) : (struct tts_amount){0};
}

/* Sums of as many figures as there are phases, each of them rounded. */
static int64_t slack_of_sums(const struct tts_rundiff *diff)
{
    return diff->is_rounded ? (int64_t)(diff->phase_count + 1) * TTS_RUN_STEP_BYTES : 0;
}

static void fill_parts(const struct tts_rundiff_side *a, const struct tts_rundiff_side *b,
                       struct tts_rundiff *diff)
{
    struct tts_amount of_a[TTS_RUN_PARTS], of_b[TTS_RUN_PARTS];
    int64_t slack = slack_of_sums(diff);
    /* Parts that a run states are not those that follow from the phases of another. */
    bool is_alike = a->mem->parts_are_stated == b->mem->parts_are_stated;
    measured(a, of_a);
    measured(b, of_b);
    diff->activations_sum = delta_of(a->mem->activations_sum, b->mem->activations_sum, slack);
    for (int part = 0; part < TTS_RUN_PARTS; part++) {
        diff->sizes[part] = delta_of(of_a[part], of_b[part], slack);
        diff->parts[part] =
            delta_of(part_of_peak(a->mem, part), part_of_peak(b->mem, part), slack);
        if (!is_alike) {
            diff->parts[part].change = (struct tts_amount){0};
            diff->parts[part].differs = false;
        }
        diff->differs |= diff->sizes[part].differs || diff->parts[part].differs;
    }
}

/* ---- all of it ---- */

static bool is_off(const struct tts_delta *delta)
{
    return delta->change.is_known && delta->change.bytes != 0;
}

static bool is_equal(const struct tts_rundiff *diff)
{
    bool is_any = diff->differs || is_off(&diff->peak) || is_off(&diff->final);
    for (size_t i = 0; i < diff->phase_count && !is_any; i++)
        for (int k = 0; k < TTS_RUN_FIGURES; k++)
            is_any |= is_off(&diff->phases[i].figures[k]);
    return !is_any;
}

enum tts_status tts_rundiff_new(const struct tts_rundiff_side *a,
                                const struct tts_rundiff_side *b, const struct tts_alloc *alloc,
                                struct tts_rundiff *out)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_rundiff diff = {.alloc = alloc,
                               .is_rounded = !a->run->is_exact || !b->run->is_exact};
    int64_t slack = diff.is_rounded ? TTS_RUN_STEP_BYTES : 0;
    enum tts_status status = tts_rundiff_match(a->run, b->run, alloc, &diff);
    if (status != TTS_OK)
        return status;
    fill_phases(a->run, b->run, &diff);
    diff.peak = delta_of(a->mem->peak, b->mem->peak, slack);
    diff.final = delta_of(a->mem->final, b->mem->final, slack);
    diff.compared += diff.peak.change.is_known + diff.final.change.is_known;
    diff.differs = diff.differing > 0 || diff.peak.differs || diff.final.differs;
    fill_parts(a, b, &diff);
    diff.is_equal = is_equal(&diff);
    tts_rundiff_explain(a, b, &diff);
    *out = diff;
    return TTS_OK;
}

void tts_rundiff_release(struct tts_rundiff *diff)
{
    size_t most = 0; /* asked for: a phase of both is one line, but had the room of two */
    for (size_t i = 0; i < diff->phase_count; i++)
        most += diff->phases[i].where == TTS_IN_BOTH ? 2 : 1;
    if (diff->phases)
        diff->alloc->free(diff->alloc->ctx, diff->phases, most * sizeof *diff->phases);
    *diff = (struct tts_rundiff){0};
}
