#include "analysis/run/rundiff.h"

#include "harness/t.h"
#include "torture/heap.h"

#include <stdio.h>
#include <string.h>

/* ---- runs ---- */

enum { PHASES = 12 };

struct built {
    struct tts_run run;
    struct tts_run_phase phases[PHASES];
    struct tts_trainmem mem;
};

static int64_t mb(double value)
{
    double bytes = value * 1048576;
    return (int64_t)(bytes < 0 ? bytes - 0.5 : bytes + 0.5);
}

/* Adds a phase. Sizes are in bytes. The cumulative figures are computed from them. */
static struct tts_run_phase *add(struct built *built, const char *name, int64_t peak,
                                 int64_t change)
{
    T_TRUE(built->run.phase_count < PHASES);
    struct tts_run_phase *phase = &built->phases[built->run.phase_count++];
    int64_t current = built->run.final.bytes, most = built->run.overall_peak.bytes;
    *phase = (struct tts_run_phase){0};
    snprintf(phase->name, sizeof phase->name, "%s", name);
    most = current + peak > most ? current + peak : most;
    phase->figures[TTS_RUN_SEGMENT_PEAK] = tts_amount_of(peak);
    phase->figures[TTS_RUN_CHANGE] = tts_amount_of(change);
    phase->figures[TTS_RUN_CUMULATIVE_PEAK] = tts_amount_of(most);
    phase->figures[TTS_RUN_CUMULATIVE_CURRENT] = tts_amount_of(current + change);
    built->run.phases = built->phases;
    built->run.overall_peak = tts_amount_of(most);
    built->run.final = tts_amount_of(current + change);
    return phase;
}

/* Sets the totals at the end of a log. */
static void print(struct built *built, double peak, double current)
{
    struct tts_run_phase *phase = &built->phases[built->run.phase_count - 1];
    phase->figures[TTS_RUN_CUMULATIVE_PEAK] = tts_amount_of(mb(peak));
    phase->figures[TTS_RUN_CUMULATIVE_CURRENT] = tts_amount_of(mb(current));
    built->run.overall_peak = tts_amount_of(mb(peak));
    built->run.final = tts_amount_of(mb(current));
}

static void tinyllama(struct built *out, bool is_efficient)
{
    *out = (struct built){0};
    if (is_efficient) {
        add(out, "MODEL_CREATION", mb(1907.25), mb(1863.25));
        add(out, "OPTIMIZER_CREATION", mb(3708.76), mb(3708.76));
        add(out, "FORWARD_PASS", mb(996.35), mb(192.95));
        add(out, "BACKWARD_PASS", mb(2513.69), mb(1663.07));
        print(out, 8278.65, 7428.04);
    } else {
        add(out, "MODEL_CREATION", mb(1907.13), mb(1863.13));
        add(out, "OPTIMIZER_CREATION", mb(3708.75), mb(3708.75));
        add(out, "FORWARD_PASS", mb(10019.39), mb(9636.02));
        print(out, 15591.27, 15207.89);
        add(out, "BACKWARD_PASS", mb(458.75), mb(-7780.87));
        print(out, 15666.65, 7427.02);
    }
}

static struct tts_rundiff compare_by(struct built *a, struct built *b,
                                     const struct tts_alloc *alloc, enum tts_status *status)
{
    const struct tts_trainmem_options actual = {.use_actual_sizes = true};
    struct tts_rundiff diff = {0};
    tts_trainmem_of(&a->run, &actual, &a->mem);
    tts_trainmem_of(&b->run, &actual, &b->mem);
    const struct tts_named_run of_a = {"a", "a", &a->run, &a->mem},
                               of_b = {"b", "b", &b->run, &b->mem};
    *status = tts_rundiff_new(&of_a, &of_b, alloc, &diff);
    return diff;
}

static struct tts_rundiff compare(struct built *a, struct built *b)
{
    enum tts_status status;
    struct tts_rundiff diff = compare_by(a, b, NULL, &status);
    T_EQ(status, TTS_OK);
    return diff;
}

/* Checks that the parts of the cause add up to the change of the peak. */
static void assert_adds_up(const struct tts_rundiff *diff)
{
    int64_t sum = diff->cause.not_peak + diff->cause.rounding;
    T_EQ(diff->cause.reason, TTS_RUNDIFF_TOLD);
    for (size_t i = 0; i < diff->phase_count; i++) {
        T_TRUE(diff->phases[i].contribution.is_known);
        sum += diff->phases[i].contribution.bytes;
    }
    T_EQ(sum, diff->peak.change.bytes);
}

static void assert_mb(struct tts_amount amount, double expected)
{
    int64_t away = amount.bytes - mb(expected);
    T_TRUE(amount.is_known);
    if (away < -2 || away > 2)
        fail_msg("%.3f MB is not %.2f MB", (double)amount.bytes / 1048576, expected);
}

/* ---- the published pair ---- */

T_TEST(the_forward_pass_explains_the_default_runner)
{
    struct built a, b;
    int64_t share;
    tinyllama(&a, true);
    tinyllama(&b, false);
    struct tts_rundiff diff = compare(&a, &b);
    assert_mb(diff.peak.a, 8278.65);
    assert_mb(diff.peak.b, 15666.65);
    assert_mb(diff.peak.change, 7388.00);
    T_TRUE(tts_delta_share(&diff.peak, &share));
    T_EQ(share, 8924);
    assert_adds_up(&diff);
    T_EQ(diff.cause.peak_phase, 3);
    T_EQ(diff.cause.phase, 2);
    T_TRUE(!diff.cause.is_peak);
    assert_mb(diff.phases[2].contribution, 9443.07);
    assert_mb(diff.phases[3].contribution, 458.75 - 2513.69);
    T_EQ(diff.cause.not_peak, 0);
    assert_mb(diff.sizes[TTS_RUN_PART_ACTIVATIONS].change, 9443.07);
    assert_mb(diff.sizes[TTS_RUN_PART_GRADIENTS].change, 1855.14 - 1856.03);
    assert_mb(diff.parts[TTS_RUN_PART_GRADIENTS].a, 2513.69);
    T_TRUE(diff.differs && diff.is_rounded && !diff.is_equal);
    tts_rundiff_release(&diff);
}

T_TEST(the_way_back_is_explained_by_the_same_phase)
{
    struct built a, b;
    tinyllama(&a, false);
    tinyllama(&b, true);
    struct tts_rundiff diff = compare(&a, &b);
    assert_adds_up(&diff);
    T_EQ(diff.cause.phase, 2);
    assert_mb(diff.phases[2].contribution, -9443.07);
    tts_rundiff_release(&diff);
}

/* ---- no difference ---- */

T_TEST(a_run_does_not_differ_from_itself)
{
    struct built a, b;
    tinyllama(&a, true);
    tinyllama(&b, true);
    struct tts_rundiff diff = compare(&a, &b);
    T_TRUE(!diff.differs && diff.is_equal);
    T_EQ(diff.differing, 0);
    T_EQ(diff.compared, 4 * 4 + 2);
    T_EQ(diff.cause.reason, TTS_RUNDIFF_SAME);
    tts_rundiff_release(&diff);
}

T_TEST(what_a_log_rounds_is_no_difference)
{
    struct built a = {0}, b = {0};
    add(&a, "FORWARD_PASS", 1000000, 500000);
    add(&b, "FORWARD_PASS", 1010486, 500000);
    struct tts_rundiff diff = compare(&a, &b);
    T_TRUE(!diff.differs && !diff.is_equal && diff.is_rounded);
    tts_rundiff_release(&diff);

    a.run.is_exact = true; /* it is enough if one of the two runs is rounded */
    diff = compare(&a, &b);
    T_TRUE(!diff.differs);
    tts_rundiff_release(&diff);

    b.phases[0].figures[TTS_RUN_SEGMENT_PEAK].bytes++;
    diff = compare(&a, &b);
    T_TRUE(diff.differs && diff.phases[0].figures[TTS_RUN_SEGMENT_PEAK].differs);
    T_TRUE(!diff.phases[0].figures[TTS_RUN_CUMULATIVE_PEAK].differs);
    tts_rundiff_release(&diff);
}

T_TEST(between_runs_in_bytes_a_byte_is_a_difference)
{
    struct built a = {.run = {.is_exact = true}}, b = {.run = {.is_exact = true}};
    add(&a, "FORWARD_PASS", 1000, 500);
    add(&b, "FORWARD_PASS", 1001, 500);
    struct tts_rundiff diff = compare(&a, &b);
    T_TRUE(diff.differs && !diff.is_rounded);
    assert_adds_up(&diff);
    T_TRUE(diff.cause.is_peak);
    T_EQ(diff.cause.rounding, 0);
    tts_rundiff_release(&diff);
}

T_TEST(a_phase_that_is_equal_only_within_the_rounding_is_counted)
{
    struct built a = {0}, b = {0};
    add(&a, "SAME", mb(1), mb(1));
    add(&a, "NEAR", 1000000, 500000);
    add(&a, "FAR", mb(1), 0);
    add(&b, "SAME", mb(1), mb(1));
    add(&b, "NEAR", 1010000, 500000);
    add(&b, "FAR", mb(2), 0);
    struct tts_rundiff diff = compare(&a, &b);
    T_TRUE(diff.differing_itself == 1 && diff.within_rounding == 1);
    tts_rundiff_release(&diff);
    diff = compare(&a, &a);
    T_EQ(diff.within_rounding, 0);
    tts_rundiff_release(&diff);
}

T_TEST(a_change_below_a_thousandth_is_slight)
{
    struct tts_delta delta = {.a = tts_amount_of(1000000), .change = tts_amount_of(999)};
    T_TRUE(tts_delta_is_slight(&delta));
    delta.change.bytes = -999;
    T_TRUE(tts_delta_is_slight(&delta));
    delta.change.bytes = 1000;
    T_TRUE(!tts_delta_is_slight(&delta));
    delta.change.bytes = -1000;
    T_TRUE(!tts_delta_is_slight(&delta));
}

/* ---- which phase is which ---- */

T_TEST(the_nth_of_a_name_is_the_nth_of_it)
{
    struct built a = {0}, b = {0};
    add(&a, "X", mb(1), mb(1));
    add(&a, "X", mb(2), mb(2));
    add(&a, "OLD", mb(1), 0);
    add(&b, "NEW", mb(1), 0);
    add(&b, "X", mb(1), mb(1));
    add(&b, "X", mb(4), mb(2));
    add(&b, "X", mb(1), 0);
    struct tts_rundiff diff = compare(&a, &b);
    static const enum tts_rundiff_where where[] = {TTS_ONLY_B, TTS_IN_BOTH, TTS_IN_BOTH,
                                                   TTS_ONLY_A, TTS_ONLY_B};
    static const size_t in_a[] = {0, 0, 1, 2, 0}, in_b[] = {0, 1, 2, 0, 3};
    T_EQ(diff.phase_count, 5);
    for (size_t i = 0; i < 5; i++) {
        T_EQ(diff.phases[i].where, where[i]);
        T_EQ(diff.phases[i].a, in_a[i]);
        T_EQ(diff.phases[i].b, in_b[i]);
    }
    T_EQ(diff.only_a, 1);
    T_EQ(diff.only_b, 2);
    T_EQ(diff.differing, 4);
    T_TRUE(!diff.phases[1].differs && diff.phases[2].differs);
    T_TRUE(diff.phases[2].figures[TTS_RUN_SEGMENT_PEAK].change.bytes == mb(2));
    T_TRUE(!diff.phases[3].figures[TTS_RUN_SEGMENT_PEAK].change.is_known);
    T_TRUE(diff.phases[3].figures[TTS_RUN_SEGMENT_PEAK].a.is_known);
    tts_rundiff_release(&diff);
}

/* ---- the cause ---- */

T_TEST(a_phase_that_only_one_has_may_explain_it)
{
    struct built a = {.run = {.is_exact = true}}, b = {.run = {.is_exact = true}};
    add(&a, "MODEL_CREATION", 100, 100);
    add(&a, "FORWARD_PASS", 50, 40);
    add(&b, "MODEL_CREATION", 110, 110);
    add(&b, "CACHE", 70, 70);
    add(&b, "FORWARD_PASS", 50, 40);
    struct tts_rundiff diff = compare(&a, &b);
    assert_adds_up(&diff);
    T_EQ(diff.peak.change.bytes, 80);
    T_EQ(diff.phases[diff.cause.phase].where, TTS_ONLY_B);
    T_EQ(diff.phases[diff.cause.phase].contribution.bytes, 70);
    T_EQ(diff.sizes[TTS_RUN_PART_OTHER].a.bytes, 0);
    T_EQ(diff.sizes[TTS_RUN_PART_OTHER].b.bytes, 70);
    tts_rundiff_release(&diff);
}

/* The smaller run lacks the phase. It counts with the level that its earlier phases left, and a
 * Segment Peak of 0. */
T_TEST(a_peak_in_a_phase_that_only_the_larger_has_is_explained)
{
    struct built a = {.run = {.is_exact = true}}, b = {.run = {.is_exact = true}};
    add(&a, "MODEL_CREATION", 100, 100);
    add(&a, "FORWARD_PASS", 50, 40);
    add(&b, "MODEL_CREATION", 105, 105);
    add(&b, "EVALUATION", 90, 0);
    add(&b, "FORWARD_PASS", 50, 40);
    struct tts_rundiff diff = compare(&a, &b);
    assert_adds_up(&diff);
    T_EQ(diff.peak.change.bytes, 45);
    T_EQ(diff.cause.phase, 1);
    T_TRUE(diff.cause.is_peak);
    T_EQ(diff.phases[0].contribution.bytes, 5);
    T_EQ(diff.phases[1].contribution.bytes, 90);
    T_EQ(diff.cause.not_peak, -50);
    T_EQ(diff.cause.other_phase, 2);
    tts_rundiff_release(&diff);
    diff = compare(&b, &a);
    assert_adds_up(&diff);
    T_EQ(diff.phases[diff.cause.phase].contribution.bytes, -90);
    T_EQ(diff.cause.not_peak, 50);
    tts_rundiff_release(&diff);
}

T_TEST(the_place_of_such_a_phase_is_behind_the_nearest_before_it)
{
    struct built a = {.run = {.is_exact = true}}, b = {.run = {.is_exact = true}};
    add(&a, "X", 10, 10);
    add(&a, "Y", 20, 20);
    add(&a, "Z", 40, 40);
    add(&b, "Y", 20, 20);
    add(&b, "X", 10, 10);
    add(&b, "PEAK", 500, 0);
    add(&b, "Z", 40, 40);
    struct tts_rundiff diff = compare(&a, &b);
    assert_adds_up(&diff);
    T_EQ(diff.cause.not_peak, -60); /* A is at 10 after X and has its peak at 70 */
    T_EQ(diff.phases[diff.cause.phase].contribution.bytes, 500);
    tts_rundiff_release(&diff);
}

T_TEST(where_phases_have_other_names_a_part_is_told)
{
    struct built a, b;
    tinyllama(&a, true);
    tinyllama(&b, false);
    snprintf(b.phases[2].name, sizeof b.phases[2].name, "FORWARD_PASS_micro_0");
    snprintf(b.phases[3].name, sizeof b.phases[3].name, "BACKWARD_PASS_micro_0");
    struct tts_rundiff diff = compare(&a, &b);
    T_EQ(diff.cause.reason, TTS_RUNDIFF_NO_PHASE);
    T_TRUE(diff.cause.has_part);
    T_EQ(diff.cause.part, TTS_RUN_PART_ACTIVATIONS);
    tts_rundiff_release(&diff);
    diff = compare(&b, &a); /* in the other direction, the activations shrink */
    T_TRUE(diff.cause.has_part);
    T_EQ(diff.cause.part, TTS_RUN_PART_ACTIVATIONS);
    tts_rundiff_release(&diff);
    b.run.is_cut = true;
    diff = compare(&a, &b);
    T_TRUE(!diff.cause.has_part);
    tts_rundiff_release(&diff);
}

T_TEST(what_is_carried_on_from_before_is_no_difference_of_a_phase)
{
    struct built a = {.run = {.is_exact = true}}, b = {.run = {.is_exact = true}};
    add(&a, "X", 100, 100);
    add(&a, "Y", 50, 40);
    add(&b, "X", 110, 110);
    add(&b, "Y", 50, 40);
    struct tts_rundiff diff = compare(&a, &b);
    T_TRUE(diff.phases[0].differs_itself && diff.phases[1].differs);
    T_TRUE(!diff.phases[1].differs_itself);
    T_EQ(diff.differing, 2);
    T_EQ(diff.differing_itself, 1);
    tts_rundiff_release(&diff);
}

T_TEST(l1_of_a_run_that_did_not_track_it_is_not_compared)
{
    struct built a = {.run = {.is_exact = true}}, b = {.run = {.is_exact = true}};
    add(&a, "X", 100, 100)->figures[TTS_RUN_L1_TOTAL] = tts_amount_of(0);
    add(&b, "X", 100, 100)->figures[TTS_RUN_L1_TOTAL] = tts_amount_of(5);
    struct tts_rundiff diff = compare(&a, &b);
    T_TRUE(!diff.differs);
    T_TRUE(!diff.phases[0].figures[TTS_RUN_L1_TOTAL].a.is_known);
    T_EQ(diff.phases[0].figures[TTS_RUN_L1_TOTAL].b.bytes, 5);
    tts_rundiff_release(&diff);
    a.phases[0].figures[TTS_RUN_L1_CB] = tts_amount_of(1);
    diff = compare(&a, &b);
    T_TRUE(diff.differs);
    tts_rundiff_release(&diff);
}

T_TEST(what_the_smaller_run_had_elsewhere_goes_against_the_change)
{
    struct built a = {.run = {.is_exact = true}}, b = {.run = {.is_exact = true}};
    add(&a, "X", 100, 10);
    add(&a, "Y", 20, 0); /* reaches 30, which is below 100 */
    add(&b, "X", 100, 10);
    add(&b, "Y", 140, 0);
    struct tts_rundiff grown = compare(&a, &b);
    assert_adds_up(&grown);
    T_EQ(grown.peak.change.bytes, 50);
    T_EQ(grown.phases[grown.cause.phase].contribution.bytes, 120);
    T_EQ(grown.cause.not_peak, -70);
    T_TRUE(grown.cause.has_other);
    T_EQ(grown.cause.other_phase, 0);
    T_EQ(grown.cause.peak_phase, 1);
    tts_rundiff_release(&grown);

    struct tts_rundiff shrunk = compare(&b, &a);
    assert_adds_up(&shrunk);
    T_EQ(shrunk.phases[shrunk.cause.phase].contribution.bytes, -120);
    T_EQ(shrunk.cause.not_peak, 70);
    T_EQ(shrunk.cause.other_phase, 0);
    tts_rundiff_release(&shrunk);
}

/* Phases after the peak do not change it. */
T_TEST(phases_behind_the_peak_contribute_nothing)
{
    struct built a = {.run = {.is_exact = true}}, b = {.run = {.is_exact = true}};
    add(&a, "X", 100, -10);
    add(&a, "Y", 1, 1);
    add(&b, "X", 150, -10);
    add(&b, "Y", 2, 2);
    struct tts_rundiff diff = compare(&a, &b);
    assert_adds_up(&diff);
    T_EQ(diff.phases[1].contribution.bytes, 0);
    tts_rundiff_release(&diff);
}

static void expect_reason(struct built *a, struct built *b, enum tts_rundiff_reason reason)
{
    struct tts_rundiff diff = compare(a, b);
    T_EQ(diff.cause.reason, reason);
    for (size_t i = 0; i < diff.phase_count; i++)
        T_TRUE(!diff.phases[i].contribution.is_known);
    tts_rundiff_release(&diff);
}

T_TEST(what_cannot_be_told_is_not_told)
{
    struct built a, b;
    tinyllama(&a, true);
    tinyllama(&b, false);
    b.run.is_cut = true;
    expect_reason(&a, &b, TTS_RUNDIFF_CUT);

    tinyllama(&b, false);
    a.phases[2].figures[TTS_RUN_CHANGE] = (struct tts_amount){0};
    expect_reason(&a, &b, TTS_RUNDIFF_UNKNOWN);

    tinyllama(&a, true);
    a.phases[3].name[0] = 'b';
    expect_reason(&a, &b, TTS_RUNDIFF_NO_PHASE);

    tinyllama(&a, true);
    b.phases[1].figures[TTS_RUN_CHANGE].bytes += mb(1);
    expect_reason(&a, &b, TTS_RUNDIFF_CONTRADICTION);

    tinyllama(&b, false); /* a phase of A is above the peak of A */
    a.phases[1].figures[TTS_RUN_CHANGE].bytes += mb(1);
    expect_reason(&a, &b, TTS_RUNDIFF_CONTRADICTION);

    tinyllama(&a, true);
    b.phases[2].figures[TTS_RUN_CUMULATIVE_PEAK] = (struct tts_amount){0};
    expect_reason(&a, &b, TTS_RUNDIFF_NO_PEAK);
}

T_TEST(runs_without_phases_are_compared_by_their_peaks)
{
    struct built a = {.run = {.overall_peak = {true, 100}, .is_exact = true}};
    struct built b = {.run = {.overall_peak = {true, 120}, .is_exact = true}};
    struct tts_rundiff diff = compare(&a, &b);
    T_TRUE(diff.differs);
    T_EQ(diff.peak.change.bytes, 20);
    T_EQ(diff.compared, 1);
    T_EQ(diff.cause.reason, TTS_RUNDIFF_NO_PEAK);
    tts_rundiff_release(&diff);

    struct built c = {.run = {.is_exact = true}};
    add(&c, "X", 200, 200); /* the phases of the other run are unknown */
    expect_reason(&a, &c, TTS_RUNDIFF_NO_PHASE);

    b.run.overall_peak = (struct tts_amount){0};
    diff = compare(&a, &b);
    T_EQ(diff.compared, 0);
    T_TRUE(!diff.differs);
    tts_rundiff_release(&diff);
}

/* ---- numbers ---- */

T_TEST(shares_have_the_sign_of_the_change)
{
    struct tts_delta delta = {{true, -200000}, {true, -100000}, {true, 100000}, true};
    int64_t share;
    T_TRUE(tts_delta_share(&delta, &share));
    T_EQ(share, 5000);
    delta.a.bytes = 0;
    T_TRUE(!tts_delta_share(&delta, &share));
    delta = (struct tts_delta){{true, 10485}, {true, 20970}, {true, 10485}, true};
    T_TRUE(!tts_delta_share(&delta, &share)); /* a share of nearly 0 has no meaning */
    delta = (struct tts_delta){{true, 10486}, {true, 0}, {true, -10486}, true};
    T_TRUE(tts_delta_share(&delta, &share));
    T_EQ(share, -10000);
    delta = (struct tts_delta){{true, 200000}, {true, -1}, {true, -200001}, true};
    T_TRUE(!tts_delta_share(&delta, &share));
    delta = (struct tts_delta){{true, -200000}, {true, 1}, {true, 200001}, true};
    T_TRUE(!tts_delta_share(&delta, &share));
    delta = (struct tts_delta){{true, 5}, {0}, {0}, false};
    T_TRUE(!tts_delta_share(&delta, &share));
}

static int64_t wild(uint64_t *rng)
{
    static const int64_t values[] = {
        0, 1, -1, 5000, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 1LL << 62, -7, 100, 99};
    return values[t_random(rng) % (sizeof values / sizeof values[0])];
}

/* Compares runs with random figures. If a cause is found, its parts must add up to the
 * change. */
T_TEST(hostile_figures_add_up_or_are_not_told)
{
    static const char *const names[] = {"X", "Y", "FORWARD_PASS", "BACKWARD_PASS"};
    uint64_t rng = 7, told = 0;
    for (int round = 0; round < 20000; round++) {
        struct built runs[2] = {{.run = {.is_exact = round % 2}}, {.run = {.is_exact = true}}};
        for (int side = 0; side < 2; side++) {
            struct built *at = &runs[side];
            bool is_sane = t_random(&rng) % 2;
            size_t count = t_random(&rng) % 5;
            for (size_t i = 0; i < count; i++)
                add(at, names[t_random(&rng) % 4], (int64_t)(t_random(&rng) % 200),
                    (int64_t)(t_random(&rng) % 100) - 50);
            for (size_t i = 0; i < count && !is_sane; i++)
                at->phases[i].figures[t_random(&rng) % TTS_RUN_FIGURES] =
                    (struct tts_amount){t_random(&rng) % 4 > 0, wild(&rng)};
            if (t_random(&rng) % 8 == 0)
                at->run.overall_peak.bytes = wild(&rng);
        }
        struct tts_rundiff diff = compare(&runs[0], &runs[1]);
        if (diff.cause.reason == TTS_RUNDIFF_TOLD) {
            bool grew = diff.peak.change.bytes > 0;
            int64_t most = diff.phases[diff.cause.phase].contribution.bytes;
            assert_adds_up(&diff);
            T_TRUE(grew ? most > 0 : most < 0);
            T_TRUE(grew ? diff.cause.not_peak <= 0 : diff.cause.not_peak >= 0);
            told++;
        }
        tts_rundiff_release(&diff);
    }
    T_TRUE(told > 1000);
}

/* ---- memory ---- */

T_TEST(out_of_memory_leaves_nothing)
{
    struct heap heap;
    struct built a, b;
    enum tts_status status = TTS_E_NOMEM;
    tinyllama(&a, true);
    tinyllama(&b, false);
    uint64_t at = 0;
    for (; status != TTS_OK; at++) {
        heap_init(&heap);
        heap.fail_at = at + 1;
        struct tts_rundiff diff = compare_by(&a, &b, &heap.alloc, &status);
        T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
        tts_rundiff_release(&diff);
        T_TRUE(heap_is_settled(&heap));
    }
    T_EQ(at, 6);
}
