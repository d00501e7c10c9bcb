#include "harness/chart_check.h"
#include "harness/chart_rig.h"
#include "torture/heap.h"
#include "views/chart/chartparts.h"

#include <stdlib.h>

static struct chart_run store[TTS_CHART_PHASE_RUNS_MAX];
static struct tts_named_run runs[TTS_CHART_PHASE_RUNS_MAX];
static struct tts_run_phase many[TTS_CHART_PHASE_RUNS_MAX][CHART_PHASES_MAX];

static void set(size_t at, const char *name)
{
    runs[at] = (struct tts_named_run){name, NULL, &store[at].run, &store[at].mem};
}

static void draw(size_t count, const char *title, struct tts_drawing *d)
{
    T_EQ(tts_phasechart(runs, count, title, NULL, d), TTS_OK);
    chart_check(d);
}

static void two_tinyllamas(void)
{
    chart_tinyllama(&store[0], true);
    chart_tinyllama(&store[1], false);
    set(0, "TinyLlama memory efficient");
    set(1, "TinyLlama default");
}

static size_t count_steps(const struct tts_drawing *d, const char *name,
                          const struct tts_drawn **first)
{
    size_t count = 0;
    for (size_t i = 0; i < d->shape_count; i++)
        if (d->shapes[i].kind == TTS_SHAPE_STEPS && d->shapes[i].name &&
            strcmp(d->shapes[i].name, name) == 0) {
            *first = count++ == 0 ? &d->shapes[i] : *first;
        }
    return count;
}

T_TEST(the_published_runs_show_phases_lines_limit_and_peak)
{
    struct tts_drawing d;
    const struct tts_drawn *line;
    two_tinyllamas();
    draw(2, "Over the phases", &d);
    static const struct {
        const char *text;
        size_t count;
    } expected[] = {{"Over the phases", 1},
                    {"Cumulative Current", 1},
                    {"Cumulative Peak", 1},
                    {"Segment Peak", 1},
                    {"Device Memory Limit", 1},
                    {"MODEL_CREATION", 2},
                    {"FORWARD_PASS", 2},
                    {"BACKWARD_PASS", 2},
                    {"limit 12288 MB", 2},
                    {"8279 MB", 1},
                    {"15667 MB", 1},
                    {"peak 15667 MB in BACKWARD_PASS", 1},
                    {"fits", 1},
                    {"does not fit", 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (chart_count_text(&d, expected[i].text) != expected[i].count)
            fail_msg("'%s' is there %zu times", expected[i].text,
                     chart_count_text(&d, expected[i].text));
    T_EQ(count_steps(&d, "current", &line), 2);
    T_EQ(count_steps(&d, "segment", &line), 2);
    T_EQ(count_steps(&d, "peak", &line), 2);
    T_EQ(line->point_count, 8);
    tts_drawing_release(&d);
}

/* Sets the phases of a run with micro steps, with the names that the training program
 * prints. */
static void micro_steps(size_t at)
{
    static const char *const names[] = {
        "ENTRY",
        "MODEL_CREATION",
        "OPTIMIZER_CREATION",
        "FORWARD_PASS_micro_0",
        "BACKWARD_PASS_micro_0",
        "FORWARD_PASS_micro_1",
        "BACKWARD_PASS_micro_1",
        "FIRST_ITERATION_COMPLETE",
    };
    chart_tinyllama(&store[at], false);
    for (size_t i = 0; i < 8; i++)
        chart_phase(&store[at].phases[i], names[i], 100, 1566665, 100);
    store[at].run.phase_count = 8;
    store[at].mem.peak_phase = 7;
    set(at, "a run");
}

T_TEST(standard_names_of_phases_are_not_cut)
{
    for (size_t count = 1; count <= TTS_CHART_PHASE_RUNS_MAX; count++) {
        struct tts_drawing d;
        for (size_t i = 0; i < count; i++)
            micro_steps(i);
        draw(count, NULL, &d);
        for (size_t i = 0; i < 8; i++)
            T_EQ(chart_count_text(&d, store[0].phases[i].name), count);
        T_EQ(chart_count_text(&d, "peak 15667 MB in FIRST_ITERATION_COMPLETE"), count);
        tts_drawing_release(&d);
    }
}

T_TEST(a_limit_at_any_height_crosses_no_label)
{
    for (int64_t limit = 5000; limit < 1800000; limit += 7919) {
        struct tts_drawing d;
        two_tinyllamas();
        chart_limit(&store[0].mem, limit);
        chart_limit(&store[1].mem, limit + 100);
        draw(2, NULL, &d);
        tts_drawing_release(&d);
    }
}

T_TEST(long_names_keep_the_word_in_which_runs_differ)
{
    struct tts_drawing d;
    two_tinyllamas();
    set(0, "nightly training of TinyLlama on all of Shakespeare, composite attention, 2048");
    set(1, "nightly training of TinyLlama on all of Shakespeare, fused attention, 2048");
    draw(2, NULL, &d);
    T_EQ(chart_count_text(&d, runs[0].name), 0);
    size_t composite = 0, fused = 0;
    for (size_t i = 0; i < d.shape_count; i++) {
        const char *text =
            d.shapes[i].kind == TTS_SHAPE_TEXT ? tts_drawing_text(&d, d.shapes[i].text) : "";
        composite += strstr(text, "composite") != NULL;
        fused += strstr(text, "fused") != NULL;
    }
    T_TRUE(composite == 1 && fused == 1);
    tts_drawing_release(&d);
}

T_TEST(a_step_is_as_high_as_its_figure)
{
    struct tts_drawing d;
    const struct tts_drawn *line;
    two_tinyllamas();
    draw(1, NULL, &d);
    T_EQ(count_steps(&d, "current", &line), 1);
    const struct tts_svg_point *points = d.points + line->points;
    for (size_t i = 0; i < 4; i++)
        T_TRUE(points[2 * i].y == points[2 * i + 1].y && points[2 * i].x < points[2 * i + 1].x);
    /* The values are 1863.25, 5572.01, 5764.96 and 7428.04. The differences must be to
     * scale. */
    double a = (double)(points[0].y - points[2].y), b = (double)(points[0].y - points[6].y);
    T_TRUE(a / b > (5572.01 - 1863.25) / (7428.04 - 1863.25) - 0.001);
    T_TRUE(a / b < (5572.01 - 1863.25) / (7428.04 - 1863.25) + 0.001);
    const struct tts_drawn *mark = chart_find_box(&d, "peak-mark");
    T_EQ(count_steps(&d, "peak", &line), 1);
    points = d.points + line->points;
    int64_t middle = (points[6].x + points[7].x) / 2, y = points[6].y;
    T_TRUE(labs((long)(mark->box.x + mark->box.width / 2 - middle)) <= 50);
    T_TRUE(labs((long)(mark->box.y + mark->box.height / 2 - y)) <= 50);
    tts_drawing_release(&d);
}

T_TEST(what_is_not_known_leaves_a_gap)
{
    struct tts_drawing d;
    const struct tts_drawn *line;
    two_tinyllamas();
    store[0].phases[1].figures[TTS_RUN_CUMULATIVE_CURRENT] = (struct tts_amount){0};
    store[0].phases[3].figures[TTS_RUN_SEGMENT_PEAK] = (struct tts_amount){0};
    draw(1, NULL, &d);
    T_EQ(count_steps(&d, "current", &line), 2);
    T_EQ(line->point_count, 2);
    T_EQ(count_steps(&d, "segment", &line), 1);
    T_EQ(line->point_count, 6);
    T_EQ(count_steps(&d, "peak", &line), 1);
    tts_drawing_release(&d);
}

T_TEST(unknown_peak_limit_and_phases_are_said)
{
    struct tts_drawing d;
    two_tinyllamas();
    store[0].mem = (struct tts_trainmem){0};
    store[0].run.phase_count = 0;
    draw(1, NULL, &d);
    T_EQ(chart_count_text(&d, "no phases"), 1);
    T_EQ(chart_count_text(&d, "peak: unknown"), 1);
    T_EQ(chart_count_text(&d, "limit: unknown"), 1);
    T_EQ(chart_count_text(&d, "Device Memory Limit"), 0);
    tts_drawing_release(&d);
}

T_TEST(a_verdict_that_is_not_known_is_said)
{
    struct tts_drawing d;
    two_tinyllamas();
    draw(2, NULL, &d);
    T_EQ(chart_count_text(&d, "fits: unknown"), 0);
    tts_drawing_release(&d);
    store[0].mem.peak_at_least = true;
    store[0].mem.has_verdict = false;
    draw(1, NULL, &d);
    T_EQ(chart_count_text(&d, "fits: unknown"), 1);
    tts_drawing_release(&d);
}

T_TEST(a_small_run_has_decimals_and_a_large_limit_none)
{
    struct tts_drawing d;
    two_tinyllamas();
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < TTS_RUN_FIGURES; k++)
            store[0].phases[i].figures[k].bytes /= 1000;
    store[0].mem.peak.bytes /= 1000;
    draw(1, NULL, &d);
    T_EQ(chart_count_text(&d, "8.28 MB"), 1);
    T_EQ(chart_count_text(&d, "limit 12288 MB, not shown"), 1);
    T_TRUE(strstr(tts_drawing_text(&d, d.description), "peak 8.28 MB"));
    tts_drawing_release(&d);
}

T_TEST(the_limit_lies_on_the_ground_of_the_value)
{
    struct tts_drawing d;
    const struct tts_drawn *veil = NULL, *line = NULL;
    two_tinyllamas();
    draw(1, NULL, &d);
    for (size_t i = 0; i < d.shape_count; i++) {
        const struct tts_drawn *shape = &d.shapes[i];
        if (shape->kind == TTS_SHAPE_BOX && shape->fill.alpha == TTS_INK_VEIL.alpha)
            veil = shape;
        if (shape->kind == TTS_SHAPE_LINE && shape->stroke.rgb == TTS_INK_LIMIT.rgb)
            line = shape;
    }
    T_TRUE(veil && line > veil && line < chart_find_text(&d, "8279 MB"));
    tts_drawing_release(&d);
}

T_TEST(a_limit_far_above_is_named_and_not_drawn)
{
    struct tts_drawing d;
    two_tinyllamas();
    chart_limit(&store[0].mem, 4000000);
    draw(1, NULL, &d);
    T_EQ(chart_count_text(&d, "limit 40000 MB, not shown"), 1);
    T_EQ(chart_count_text(&d, "Device Memory Limit"), 0);
    tts_drawing_release(&d);
}

T_TEST(the_axis_goes_below_zero_where_memory_does)
{
    struct tts_drawing d;
    const struct tts_drawn *line;
    two_tinyllamas();
    store[0].phases[3].figures[TTS_RUN_CUMULATIVE_CURRENT] = tts_amount_of(chart_mb(-600000));
    draw(1, NULL, &d);
    T_EQ(chart_count_text(&d, "-5000"), 1);
    T_EQ(count_steps(&d, "current", &line), 1);
    T_TRUE(d.points[line->points + 6].y > chart_find_text(&d, "0")->box.y);
    tts_drawing_release(&d);
}

T_TEST(runs_of_very_different_size_get_scales_of_their_own)
{
    struct tts_drawing d;
    two_tinyllamas();
    draw(2, NULL, &d);
    T_EQ(chart_count_text(&d, "each run has its own scale"), 0);
    tts_drawing_release(&d);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < TTS_RUN_FIGURES; k++)
            store[0].phases[i].figures[k].bytes /= 100;
    store[0].mem.peak.bytes /= 100;
    draw(2, NULL, &d);
    T_EQ(chart_count_text(&d, "each run has its own scale"), 1);
    tts_drawing_release(&d);
}

/* ---- any number of phases ---- */

static void random_phases(size_t run, size_t count, uint64_t *rng)
{
    static const char *const heads[] = {"FORWARD_PASS_micro_", "BLOCK_ATTN_FWD__0000", "",
                                        "\x1b[1m\xff phase ",
                                        "MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM"};
    int64_t current = 0, peak = 0;
    store[run] = (struct chart_run){.run = {.phases = many[run], .phase_count = count}};
    struct tts_trainmem *mem = &store[run].mem;
    const char *head = heads[t_random(rng) % 5];
    for (size_t i = 0; i < count; i++) {
        char name[TTS_RUN_NAME_MAX];
        int64_t segment = (int64_t)(t_random(rng) % 90000);
        snprintf(name, sizeof name, "%s%zu", head, i);
        if (current + segment > peak) {
            peak = current + segment;
            mem->has_peak_phase = true;
            mem->peak_phase = i;
        }
        current += segment * ((int64_t)(t_random(rng) % 3) - 1);
        chart_phase(&many[run][i], name, segment, peak, current);
        many[run][i].figures[t_random(rng) % TTS_RUN_FIGURES] = (struct tts_amount){0};
    }
    mem->peak = tts_amount_of(chart_mb(peak));
    if (t_random(rng) % 3 > 0)
        chart_limit(mem, 1 + (int64_t)(t_random(rng) % 300000));
}

T_TEST(whatever_the_phases_are_names_stay_apart_and_inside)
{
    static const size_t lengths[] = {1, 2, 4, 5, 9, 17, 40, 120, 300, 1500, CHART_PHASES_MAX};
    uint64_t rng = 3;
    char unbroken[201];
    memset(unbroken, 'W', sizeof unbroken - 1);
    unbroken[sizeof unbroken - 1] = '\0';
    for (size_t count = 1; count <= TTS_CHART_PHASE_RUNS_MAX; count++)
        for (size_t length = 0; length < sizeof lengths / sizeof *lengths; length++) {
            struct tts_drawing d;
            for (size_t i = 0; i < count; i++) {
                random_phases(i, i == 0 ? lengths[length] : 1 + t_random(&rng) % 60, &rng);
                set(i, i % 2 ? unbroken : "\xe6\xa8\xa1\xe5\x9e\x8b run");
            }
            draw(count, length % 2 ? unbroken : NULL, &d);
            tts_drawing_release(&d);
        }
}

T_TEST(three_hundred_phases_are_thinned_out)
{
    struct tts_drawing d;
    const struct tts_drawn *line;
    size_t names = 0;
    uint64_t rng = 5;
    random_phases(0, 300, &rng);
    for (size_t i = 0; i < 300; i++)
        chart_phase(&many[0][i], "STEP", 100, 1000 + (int64_t)i, 500);
    store[0].mem = (struct tts_trainmem){
        .peak = tts_amount_of(chart_mb(1299)), .has_peak_phase = true, .peak_phase = 299};
    set(0, "run");
    draw(1, NULL, &d);
    names = chart_count_text(&d, "STEP");
    T_TRUE(names >= 20 && names <= 60);
    T_EQ(count_steps(&d, "current", &line), 1);
    T_EQ(line->point_count, 600);
    /* The value must be inside the plot, although the line ends at the edge of the plot. */
    const struct tts_drawn *value = chart_find_text(&d, "12.99 MB");
    int64_t right = d.points[line->points + 599].x;
    T_TRUE(value->box.x + value->box.width / 2 < right);
    T_TRUE(value->box.x + value->box.width > right);
    tts_drawing_release(&d);
}

T_TEST(more_phases_than_pixels_keep_their_highest)
{
    struct tts_drawing d;
    const struct tts_drawn *line;
    uint64_t rng = 5;
    random_phases(0, CHART_PHASES_MAX, &rng);
    for (size_t i = 0; i < CHART_PHASES_MAX; i++)
        chart_phase(&many[0][i], "STEP", i == 2001 ? 90000 : 10, 100000, 50000);
    store[0].mem = (struct tts_trainmem){.peak = tts_amount_of(chart_mb(100000))};
    set(0, "run");
    draw(1, NULL, &d);
    T_EQ(count_steps(&d, "segment", &line), 1);
    T_TRUE(line->point_count < 2000);
    int64_t highest = INT64_MAX, lowest = 0;
    for (size_t i = 0; i < line->point_count; i++) {
        int64_t y = d.points[line->points + i].y;
        highest = y < highest ? y : highest;
        lowest = y > lowest ? y : lowest;
    }
    T_TRUE(lowest - highest > 20000);
    tts_drawing_release(&d);
}

T_TEST(counts_out_of_range_are_refused_and_nothing_is_written)
{
    struct tts_drawing d = {.width = 7};
    T_EQ(tts_phasechart(runs, 0, NULL, NULL, &d), TTS_E_RANGE);
    T_EQ(tts_phasechart(runs, TTS_CHART_PHASE_RUNS_MAX + 1, NULL, NULL, &d), TTS_E_RANGE);
    T_EQ(d.width, 7);
}

T_TEST(figures_past_any_memory_are_drawn)
{
    struct tts_drawing d;
    two_tinyllamas();
    for (int i = 0; i < TTS_RUN_FIGURES; i++) {
        store[0].phases[1].figures[i] = tts_amount_of(INT64_MAX);
        store[0].phases[2].figures[i] = tts_amount_of(INT64_MIN);
    }
    store[0].mem.peak = tts_amount_of(INT64_MAX);
    store[0].mem.device_memory = tts_amount_of(INT64_MAX);
    draw(2, NULL, &d);
    tts_drawing_release(&d);
}

T_TEST(every_allocation_may_fail)
{
    for (uint64_t fail_at = 1;; fail_at++) {
        struct heap heap;
        struct tts_drawing d = {.width = 7};
        heap_init(&heap);
        heap.fail_at = fail_at;
        two_tinyllamas();
        enum tts_status status = tts_phasechart(runs, 2, "title", &heap.alloc, &d);
        if (heap.failed == 0) {
            T_EQ(status, TTS_OK);
            tts_drawing_release(&d);
            T_TRUE(heap_is_settled(&heap));
            T_TRUE(fail_at > 5);
            return;
        }
        T_EQ(status, TTS_E_NOMEM);
        T_EQ(d.width, 7);
        T_TRUE(heap_is_settled(&heap));
    }
}
