#include "harness/chart_check.h"
#include "harness/chart_rig.h"
#include "torture/heap.h"

static struct chart_run store[TTS_CHART_RUNS_MAX];
static struct tts_named_run runs[TTS_CHART_RUNS_MAX];

static const char *hostile_name(size_t i)
{
    static char unbroken[201];
    static const char cjk[] =
        "\xe6\xa8\xa1\xe5\x9e\x8b\xe8\xae\xad\xe7\xbb\x83\xe5\x86\x85\xe5\xad\x98\xe5\x88\x86"
        "\xe6\x9e\x90\xe6\xa8\xa1\xe5\x9e\x8b\xe8\xae\xad\xe7\xbb\x83\xe5\x86\x85\xe5\xad\x98";
    static const char *const names[] = {
        "TinyLlama memory efficient",
        cjk,
        "a\x01\x1b[31mred\x7f\n\xff\xfe </text><script>",
        "",
        "llama_8b-lora_rank16-seq2048-batch4-gradient_accumulation_8 and then some more words",
        "W W W W W W W W W W W W W W W W W W W W W W W W W W W W W W W W"};
    memset(unbroken, 'M', sizeof unbroken - 1);
    return i % 7 == 6 ? unbroken : names[i % 7];
}

static void set(size_t at, const char *name)
{
    runs[at] = (struct tts_named_run){name, NULL, &store[at].run, &store[at].mem};
}

static void draw(size_t count, const char *title, struct tts_drawing *d)
{
    T_EQ(tts_peakchart(runs, count, title, NULL, d), TTS_OK);
    chart_check(d);
}

static void two_tinyllamas(void)
{
    chart_tinyllama(&store[0], true);
    chart_tinyllama(&store[1], false);
    set(0, "TinyLlama memory efficient");
    set(1, "TinyLlama default");
}

/* ---- what is shown ---- */

T_TEST(the_published_runs_show_their_parts_totals_and_verdicts)
{
    struct tts_drawing d;
    two_tinyllamas();
    draw(2, "Two runs", &d);
    static const char *const once[] = {"Two runs",
                                       "Total: 8279 MB",
                                       "Total: 15667 MB",
                                       "2514 MB",
                                       "193 MB",
                                       "459 MB",
                                       "9636 MB",
                                       "12288 MB",
                                       "67.4 % of 12288 MB",
                                       "127.5 % of 12288 MB",
                                       "fits",
                                       "does not fit",
                                       "Other",
                                       "Model Parameters",
                                       "Gradients Overhead",
                                       "Optimizer State",
                                       "Activations",
                                       "Device Memory Limit",
                                       "Memory (MB)",
                                       "TinyLlama default"};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (chart_count_text(&d, once[i]) != 1)
            fail_msg("not once: %s", once[i]);
    T_EQ(chart_count_text(&d, "1849 MB"), 2);
    T_EQ(chart_count_text(&d, "3698 MB"), 2);
    T_EQ(chart_count_text(&d, "25 MB"), 2);
    T_STR_EQ(tts_drawing_text(&d, d.title), "Two runs");
    T_TRUE(strstr(tts_drawing_text(&d, d.description),
                  "TinyLlama default. Total: 15667 MB, Other 25 MB, Model Parameters 1849 MB"));
    T_STR_EQ(tts_drawing_text(&d, chart_find_box(&d, "model")->hint),
             "Model Parameters: 1848.93 MB of 8278.65 MB");
    T_EQ(chart_find_text(&d, "does not fit")->fill.rgb, 0xc80000);
    tts_drawing_release(&d);
}

T_TEST(parts_are_stacked_in_order_colour_and_proportion)
{
    static const char *const words[] = {"other", "model", "gradients", "optimizer",
                                        "activations"};
    static const uint32_t colors[] = {0xcccccc, 0x4da6b8, 0xe789ab, 0xcec0fa, 0xe38a42};
    struct tts_drawing d;
    two_tinyllamas();
    draw(2, NULL, &d);
    int64_t below = -1;
    const struct tts_drawn *optimizer = chart_find_box(&d, "optimizer");
    for (int i = 0; i < TTS_RUN_PARTS; i++) {
        const struct tts_drawn *box = chart_find_box(&d, words[i]);
        T_EQ(box->fill.rgb, colors[i]);
        T_TRUE(below < 0 || box->box.y + box->box.height == below);
        below = box->box.y;
        double share = (double)store[0].mem.parts[i] / (double)store[0].mem.parts[3];
        double drawn = (double)box->box.height / (double)optimizer->box.height;
        T_TRUE(drawn > share - 0.001 && drawn < share + 0.001);
    }
    tts_drawing_release(&d);
}

/* Counts the dashed red lines that are as thick as a limit. Sets *last to the last one. */
static size_t find_limits(const struct tts_drawing *d, const struct tts_drawn **last)
{
    size_t count = 0;
    for (size_t i = 0; i < d->shape_count; i++)
        if (d->shapes[i].kind == TTS_SHAPE_LINE && d->shapes[i].stroke.rgb == 0xff0000) {
            count++;
            *last = &d->shapes[i];
        }
    return count;
}

T_TEST(one_limit_is_one_line_at_its_height)
{
    struct tts_drawing d;
    const struct tts_drawn *line = NULL;
    two_tinyllamas();
    draw(2, NULL, &d);
    T_EQ(find_limits(&d, &line), 2); /* one of the lines is in the legend */
    T_EQ(line->stroke_width, 200);
    T_TRUE(line->dash > 0);
    const struct tts_drawn *model = chart_find_box(&d, "model");
    const struct tts_drawn *other = chart_find_box(&d, "other");
    double bottom = (double)(other->box.y + other->box.height);
    double a_byte = (double)model->box.height / (double)store[0].mem.parts[1];
    double height = a_byte * (double)store[0].mem.device_memory.bytes;
    T_TRUE(height > bottom - (double)line->box.y - 100 &&
           height < bottom - (double)line->box.y + 100);
    tts_drawing_release(&d);
}

/* Returns the total length of the lines of a limit, except the line in the legend. */
static int64_t limit_length(const struct tts_drawing *d)
{
    int64_t length = 0;
    size_t seen = 0;
    for (size_t i = 0; i < d->shape_count; i++) {
        const struct tts_drawn *shape = &d->shapes[i];
        if (shape->kind == TTS_SHAPE_LINE && shape->stroke.rgb == 0xff0000 && seen++ > 0)
            length += shape->to.x - shape->box.x;
    }
    return length;
}

/* Tries a limit at every height: inside each part, on each label, and just above the bar.
 * chart_check() fails if a line crosses a text. */
T_TEST(a_limit_at_any_height_crosses_no_label_and_is_seen)
{
    for (int64_t limit = 5000; limit < 1800000; limit += 7919)
        for (int has_two_limits = 0; has_two_limits < 2; has_two_limits++) {
            struct tts_drawing d;
            two_tinyllamas();
            chart_limit(&store[0].mem, limit);
            chart_limit(&store[1].mem, limit + has_two_limits * 100);
            draw(2, NULL, &d);
            T_TRUE(limit_length(&d) > d.width / 2);
            tts_drawing_release(&d);
        }
}

T_TEST(a_label_that_a_limit_would_cross_moves_within_its_part)
{
    struct tts_drawing d;
    const struct tts_drawn *line = NULL, *label, *part;
    two_tinyllamas();
    chart_limit(&store[1].mem, 2510 + 184893 + 45875 + 369785 + 963602 / 2);
    runs[0] = runs[1];
    draw(1, NULL, &d);
    T_EQ(find_limits(&d, &line), 2); /* one line without gaps, and the line in the legend */
    label = chart_find_text(&d, "9636 MB");
    part = chart_find_box(&d, "activations");
    T_TRUE(line->box.y > part->box.y && line->box.y < part->box.y + part->box.height);
    T_TRUE(label->box.y < line->box.y);
    tts_drawing_release(&d);
}

T_TEST(a_total_that_a_limit_would_cross_stands_above_the_line)
{
    struct tts_drawing d;
    const struct tts_drawn *line = NULL;
    two_tinyllamas();
    chart_limit(&store[0].mem, 840000); /* the run uses 8279 MB */
    draw(1, NULL, &d);
    T_EQ(find_limits(&d, &line), 2);
    T_TRUE(chart_find_text(&d, "Total: 8279 MB")->box.y < line->box.y);
    tts_drawing_release(&d);
}

T_TEST(below_a_bar_stand_the_phase_of_the_peak_and_the_kind_of_its_sizes)
{
    struct tts_drawing d;
    two_tinyllamas();
    store[1].mem.parts_are_actual = true;
    draw(2, NULL, &d);
    T_EQ(chart_count_text(&d, "peak in BACKWARD_PASS"), 2);
    T_EQ(chart_count_text(&d, "sizes: expected"), 1);
    T_EQ(chart_count_text(&d, "sizes: measured"), 1);
    T_TRUE(
        strstr(tts_drawing_text(&d, d.description), "peak in BACKWARD_PASS, sizes: expected"));
    tts_drawing_release(&d);
    store[0].mem.has_peak_phase = false;
    draw(1, NULL, &d);
    T_EQ(chart_count_text(&d, "phase: unknown"), 1);
    tts_drawing_release(&d);
}

T_TEST(the_phase_of_the_peak_is_whole_beside_many_runs)
{
    static const char *const names[] = {"OPTIMIZER_CREATION", "FORWARD_PASS_micro_15",
                                        "BACKWARD_PASS_micro_127", "FIRST_ITERATION_COMPLETE"};
    for (size_t count = 1; count <= TTS_CHART_RUNS_MAX; count += 11) {
        struct tts_drawing d;
        for (size_t i = 0; i < count; i++) {
            chart_tinyllama(&store[i], false);
            snprintf(store[i].phases[3].name, sizeof store[i].phases[3].name, "%s",
                     names[i % 4]);
            set(i, "run");
        }
        draw(count, NULL, &d);
        for (size_t i = 0; i < 4 && i < count; i++) {
            char whole[TTS_RUN_NAME_MAX + 16];
            snprintf(whole, sizeof whole, "peak in %s", names[i]);
            T_TRUE(chart_count_text(&d, count > 4 ? names[i] : whole) > 0);
        }
        tts_drawing_release(&d);
    }
}

T_TEST(long_names_keep_the_word_in_which_runs_differ)
{
    struct tts_drawing d;
    char names[2][160];
    static const char *const words[] = {"composite", "fused"};
    size_t found[2] = {0};
    for (size_t i = 0; i < 2; i++) {
        chart_tinyllama(&store[i], i == 0);
        snprintf(names[i], sizeof names[i],
                 "nightly training of TinyLlama 1.1B on the characters of all of Shakespeare, "
                 "batch 1, %s attention, sequence 2048, AdamW, August 2026",
                 words[i]);
        set(i, names[i]);
    }
    draw(2, NULL, &d);
    for (size_t i = 0; i < d.shape_count; i++)
        for (size_t word = 0; word < 2 && d.shapes[i].kind == TTS_SHAPE_TEXT; word++)
            found[word] += strstr(tts_drawing_text(&d, d.shapes[i].text), words[word]) != NULL;
    T_TRUE(found[0] == 1 && found[1] == 1);
    tts_drawing_release(&d);
}

T_TEST(different_limits_are_a_piece_each)
{
    struct tts_drawing d;
    const struct tts_drawn *line;
    two_tinyllamas();
    chart_limit(&store[1].mem, 3276800);
    draw(2, NULL, &d);
    T_EQ(find_limits(&d, &line), 3);
    T_EQ(chart_count_text(&d, "limit 12288 MB"), 1);
    T_EQ(chart_count_text(&d, "limit 32768 MB"), 1);
    tts_drawing_release(&d);
    store[1].mem.device_memory = (struct tts_amount){0};
    store[1].mem.has_verdict = false;
    draw(2, NULL, &d);
    T_EQ(find_limits(&d, &line), 2);
    T_EQ(chart_count_text(&d, "device: unknown"), 1);
    tts_drawing_release(&d);
}

T_TEST(the_highest_leaves_a_tenth_above)
{
    struct tts_drawing d;
    two_tinyllamas();
    draw(1, NULL, &d); /* the limit is the highest figure of the chart */
    const struct tts_drawn *line = NULL;
    find_limits(&d, &line);
    const struct tts_drawn *other = chart_find_box(&d, "other");
    int64_t limit = other->box.y + other->box.height - line->box.y;
    T_TRUE(limit * 11 / 10 > 42000 - 100 && limit * 11 / 10 < 42000 + 100);
    tts_drawing_release(&d);
}

T_TEST(what_is_not_known_is_said)
{
    struct tts_drawing d;
    two_tinyllamas();
    store[0].mem.has_parts = false;
    store[1].mem = (struct tts_trainmem){.device_memory = store[0].mem.device_memory};
    draw(2, NULL, &d);
    T_EQ(chart_count_text(&d, "parts: unknown"), 1);
    T_EQ(chart_count_text(&d, "peak: unknown"), 1);
    T_EQ(chart_count_text(&d, "Total: 8279 MB"), 1);
    T_EQ(chart_count_text(&d, "Other"), 0);
    T_EQ(chart_count_boxes(&d, "whole"), 1);
    T_EQ(chart_count_boxes(&d, "model"), 0);
    tts_drawing_release(&d);
    two_tinyllamas();
    store[0].mem.peak_at_least = true;
    store[0].mem.has_verdict = false;
    draw(1, NULL, &d);
    T_EQ(chart_count_text(&d, "Total: \xe2\x89\xa5 8279 MB"), 1);
    T_EQ(chart_count_text(&d, "fits: unknown"), 1);
    tts_drawing_release(&d);
}

T_TEST(categories_that_are_nothing_everywhere_are_left_out)
{
    static const int64_t parts[TTS_RUN_PARTS] = {0, 100000, 0, 200000, 0};
    struct tts_drawing d;
    two_tinyllamas();
    chart_parts(&store[0].mem, parts);
    draw(1, NULL, &d);
    T_EQ(chart_count_text(&d, "Other"), 0);
    T_EQ(chart_count_text(&d, "Activations"), 0);
    T_EQ(chart_count_text(&d, "Model Parameters"), 1);
    T_EQ(chart_count_boxes(&d, "other") + chart_count_boxes(&d, "key"), 0);
    T_EQ(chart_count_text(&d, "0 MB"), 0);
    tts_drawing_release(&d);
}

T_TEST(little_memory_has_decimals)
{
    static const int64_t parts[TTS_RUN_PARTS] = {5, 120, 33, 240, 41};
    struct tts_drawing d;
    two_tinyllamas();
    chart_parts(&store[0].mem, parts);
    chart_limit(&store[0].mem, 600);
    draw(1, NULL, &d);
    T_EQ(chart_count_text(&d, "Total: 4.39 MB"), 1);
    T_EQ(chart_count_text(&d, "73.2 % of 6.00 MB"), 1);
    tts_drawing_release(&d);
}

T_TEST(decimals_are_for_small_runs_and_small_limits_alone)
{
    static const int64_t parts[TTS_RUN_PARTS] = {5, 120, 33, 240, 41};
    struct tts_drawing d;
    two_tinyllamas();
    chart_parts(&store[0].mem, parts); /* 12 GiB, as in the other run */
    draw(2, NULL, &d);
    T_EQ(chart_count_text(&d, "Total: 4.39 MB"), 1);
    T_EQ(chart_count_text(&d, "0.05 MB"), 1);
    T_EQ(chart_count_text(&d, "2.40 MB"), 1);
    T_EQ(chart_count_text(&d, "0 MB"), 0);
    T_EQ(chart_count_text(&d, "< 0.1 % of 12288 MB"), 1);
    T_EQ(chart_count_text(&d, "12288 MB"), 1);
    T_EQ(chart_count_text(&d, "25 MB"), 1); /* only the large run has this label */
    T_TRUE(strstr(tts_drawing_text(&d, d.description), "Total: 4.39 MB, Other 0.05 MB"));
    tts_drawing_release(&d);
}

/* Returns the index of a shape in the drawing. */
static size_t place_of(const struct tts_drawing *d, const struct tts_drawn *shape)
{
    return (size_t)(shape - d->shapes);
}

T_TEST(limits_lie_on_the_grounds_of_letters_and_below_the_letters)
{
    struct tts_drawing d;
    const struct tts_drawn *line = NULL;
    two_tinyllamas();
    draw(2, NULL, &d);
    find_limits(&d, &line);
    /* Keys are opaque, backgrounds are translucent. */
    for (size_t i = place_of(&d, line); i < d.shape_count; i++)
        T_TRUE(d.shapes[i].kind != TTS_SHAPE_BOX || d.shapes[i].fill.alpha == 255);
    T_TRUE(place_of(&d, chart_find_text(&d, "9636 MB")) > place_of(&d, line));
    T_TRUE(place_of(&d, chart_find_text(&d, "Total: 8279 MB")) > place_of(&d, line));
    tts_drawing_release(&d);
}

T_TEST(counts_out_of_range_are_refused_and_nothing_is_written)
{
    struct tts_drawing d = {.width = 7};
    T_EQ(tts_peakchart(runs, 0, NULL, NULL, &d), TTS_E_RANGE);
    T_EQ(tts_peakchart(runs, TTS_CHART_RUNS_MAX + 1, NULL, NULL, &d), TTS_E_RANGE);
    T_EQ(d.width, 7);
}

T_TEST(twelve_runs_are_a_landscape_page_and_more_are_rows)
{
    struct tts_drawing twelve, all;
    for (size_t i = 0; i < TTS_CHART_RUNS_MAX; i++) {
        chart_tinyllama(&store[i], i % 2);
        set(i, "run");
    }
    draw(12, NULL, &twelve);
    draw(TTS_CHART_RUNS_MAX, NULL, &all);
    T_TRUE(twelve.width > twelve.height && twelve.width < 200000);
    T_EQ(all.width, twelve.width);
    T_EQ(chart_count_text(&all, "Memory (MB)"), 4);
    T_EQ(chart_count_boxes(&all, "model"), TTS_CHART_RUNS_MAX);
    tts_drawing_release(&twelve);
    tts_drawing_release(&all);
}

/* ---- nothing overlaps, nothing is clipped ---- */

static int64_t random_size(uint64_t *rng)
{
    static const int64_t most[] = {1, 100, 10000, 400000, 1000000, 10000000};
    return (int64_t)(t_random(rng) % (uint64_t)most[t_random(rng) % 6]);
}

static void random_run(struct tts_trainmem *mem, uint64_t *rng, int64_t shared_limit)
{
    int64_t parts[TTS_RUN_PARTS];
    *mem = (struct tts_trainmem){0};
    for (int i = 0; i < TTS_RUN_PARTS; i++)
        parts[i] = t_random(rng) % 5 == 0 ? 0 : random_size(rng);
    chart_parts(mem, parts);
    uint64_t kind = t_random(rng) % 12;
    mem->has_parts = kind != 0;
    if (kind == 1)
        *mem = (struct tts_trainmem){0};
    mem->peak_at_least = kind == 2;
    if (shared_limit > 0)
        chart_limit(mem, shared_limit);
    else if (kind != 3)
        chart_limit(mem, random_size(rng) + 1);
    mem->has_verdict &= kind != 4;
}

static void try_random(size_t count, uint64_t *rng)
{
    struct tts_drawing d;
    int64_t shared = t_random(rng) % 2 ? random_size(rng) + 1 : 0;
    for (size_t i = 0; i < count; i++) {
        random_run(&store[i].mem, rng, shared);
        set(i, hostile_name(t_random(rng)));
    }
    draw(count, t_random(rng) % 2 ? hostile_name(t_random(rng)) : NULL, &d);
    tts_drawing_release(&d);
}

T_TEST(whatever_the_runs_are_labels_stay_apart_and_inside)
{
    uint64_t rng = 7;
    for (size_t count = 1; count <= 12; count++)
        for (int i = 0; i < 40; i++)
            try_random(count, &rng);
    for (int i = 0; i < 4; i++) {
        try_random(13 + t_random(&rng) % 35, &rng);
        try_random(TTS_CHART_RUNS_MAX, &rng);
    }
}

T_TEST(bars_far_above_and_far_below_the_limit_keep_their_labels)
{
    static const int64_t parts[TTS_RUN_PARTS] = {2510, 184893, 45875, 369785, 963602};
    struct tts_drawing d;
    for (int64_t factor = 1; factor <= 10000; factor *= 10) {
        chart_tinyllama(&store[0], false);
        chart_parts(&store[0].mem, parts);
        chart_limit(&store[0].mem, 1566665 / factor);
        set(0, "above");
        store[1] = store[0];
        chart_limit(&store[1].mem, 1566665 * factor);
        runs[1] = (struct tts_named_run){"below", NULL, &store[1].run, &store[1].mem};
        draw(1, NULL, &d);
        T_EQ(chart_count_text(&d, "9636 MB"), 1);
        tts_drawing_release(&d);
        T_EQ(tts_peakchart(runs + 1, 1, NULL, NULL, &d), TTS_OK);
        chart_check(&d);
        T_EQ(chart_count_text(&d, "9636 MB"), 1);
        T_EQ(chart_count_text(&d, "25 MB"), 1);
        tts_drawing_release(&d);
    }
}

T_TEST(sizes_past_any_memory_are_drawn)
{
    struct tts_drawing d;
    two_tinyllamas();
    store[0].mem.parts[0] = INT64_MAX / 2;
    store[0].mem.parts[1] = INT64_MAX / 2;
    store[0].mem.peak.bytes = INT64_MAX;
    store[1].mem.device_memory.bytes = INT64_MAX;
    draw(2, NULL, &d);
    tts_drawing_release(&d);
    store[1].mem.peak.bytes = -1048576;
    store[1].mem.has_parts = false;
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
        enum tts_status status = tts_peakchart(runs, 2, "title", &heap.alloc, &d);
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
