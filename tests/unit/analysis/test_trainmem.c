#include "harness/trainmem_rig.h"

/* ---- the published figures ---- */

T_TEST(the_published_runs_give_the_published_figures)
{
    struct built built;
    tinyllama(&built, true);
    struct tts_trainmem mem = analyse(&built);
    assert_amount(mem.model.actual, 1863.25);
    assert_amount(mem.model.expected, 1848.93);
    assert_difference(&mem.model, 77);
    assert_amount(mem.optimizer.actual, 3708.76);
    assert_amount(mem.optimizer.expected, 3697.85);
    assert_difference(&mem.optimizer, 29);
    assert_amount(mem.activations, 192.95);
    assert_amount(mem.activations_sum, 192.95);
    assert_amount(mem.gradients.actual, 1856.03);
    assert_difference(&mem.gradients, 38);
    assert_amount(mem.peak, 8278.65);
    assert_amount(mem.device_memory, 12288.00);
    T_TRUE(mem.has_verdict && mem.fits);

    tinyllama(&built, false);
    mem = analyse(&built);
    assert_amount(mem.model.actual, 1863.13);
    assert_difference(&mem.model, 77);
    assert_difference(&mem.optimizer, 29);
    assert_amount(mem.activations, 9636.02);
    assert_amount(mem.gradients.actual, 1855.14);
    assert_difference(&mem.gradients, 34);
    assert_amount(mem.peak, 15666.65);
    T_TRUE(mem.has_verdict && !mem.fits);
}

T_TEST(the_breakdown_is_as_published_when_the_peak_lies_in_the_backward_pass)
{
    struct tts_trainmem_options actual = {.use_actual_sizes = true};
    struct tts_trainmem mem;
    struct built built;
    tinyllama(&built, true);
    mem = analyse(&built);
    T_EQ(mem.peak_phase, 3);
    assert_parts(&mem, (double[]){25.23, 1848.93, 2513.69, 3697.85, 192.95});
    T_TRUE(!(mem.parts_are_actual));
    tts_trainmem_of(&built.run, &actual, &mem);
    assert_parts(&mem, (double[]){0, 1863.25, 2513.69, 3708.76, 192.95});
    T_TRUE(mem.parts_are_actual && !mem.parts_forced);

    tinyllama(&built, false);
    mem = analyse(&built);
    assert_parts(&mem, (double[]){25.10, 1848.93, 458.75, 3697.85, 9636.02});
    tts_trainmem_of(&built.run, &actual, &mem);
    assert_parts(&mem, (double[]){0, 1863.13, 458.75, 3708.75, 9636.02});
}

/* ---- micro-steps ---- */

static void micro_steps(struct built *out)
{
    *out = (struct built){0};
    add_phase(out, "ENTRY", 0, 0);
    add_phase(out, "MODEL_CREATION", 2112.40, 2104.53);
    add_phase(out, "OPTIMIZER_CREATION", 4207.27, 4207.27);
    add_phase(out, "FORWARD_PASS_micro_0", 7642.46, 7641.99);
    add_phase(out, "BACKWARD_PASS_micro_0", 500.09, -5537.07);
    add_phase(out, "FORWARD_PASS_micro_1", 7641.76, 7641.25);
    add_phase(out, "BACKWARD_PASS_micro_1", 516.00, -7641.25);
    add_phase(out, "FORWARD_PASS_micro_2", 7641.76, 7641.25);
    add_phase(out, "BACKWARD_PASS_micro_2", 516.00, -7641.25);
    add_phase(out, "FORWARD_PASS_micro_3", 7641.76, 7641.25);
    add_phase(out, "BACKWARD_PASS_micro_3", 516.00, -7641.25);
    add_phase(out, "FIRST_ITERATION_COMPLETE", 0.18, 0.18);
}

T_TEST(micro_steps_add_up)
{
    struct built built;
    micro_steps(&built);
    struct tts_trainmem mem = analyse(&built);
    T_EQ(mem.forward_passes, 4);
    T_EQ(mem.backward_passes, 4);
    assert_amount(mem.activations_sum, 30565.74);
    assert_amount(mem.activations, 7641.99);
    assert_amount(mem.gradients.actual, 2104.92);
    assert_amount(mem.peak, 16573.97);
    T_EQ(mem.peak_phase, 6);
}

T_TEST(gradients_of_earlier_micro_steps_are_in_the_stack)
{
    struct built built;
    micro_steps(&built);
    struct tts_trainmem mem = analyse(&built);
    T_EQ(mem.parts_forced, TTS_TRAIN_FORCE_UNKNOWN); /* the log has no number of parameters */
    assert_parts(&mem, (double[]){0, 2104.53, 2104.92 + 516.00, 4207.27, 7641.25});
}

T_TEST(labels_are_told_by_their_beginnings)
{
    T_EQ(tts_train_part_of("MODEL_CREATION"), TTS_RUN_PART_MODEL);
    T_EQ(tts_train_part_of("OPTIMIZER_CREATION__000042"), TTS_RUN_PART_OPTIMIZER);
    T_EQ(tts_train_part_of("FORWARD_PASS_micro_12"), TTS_RUN_PART_ACTIVATIONS);
    T_EQ(tts_train_part_of("BACKWARD_PASS_micro_3__000007"), TTS_RUN_PART_GRADIENTS);
    T_EQ(tts_train_part_of("BACKWARD_PASS__000007_micro_3"), TTS_RUN_PART_GRADIENTS);
    static const char *const others[] = {
        "",         "FORWARD",       "FORWARD_PASSES",        "MY_FORWARD_PASS",
        "__000042", "FORWARD_PASS_", "FORWARD_PASS_micro_",   "FORWARD_PASS__",
        "_micro_1", "forward_pass",  "FORWARD_PASS_micro_1a",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        T_EQ(tts_train_part_of(others[i]), TTS_RUN_PART_OTHER);
}

/* ---- the stack ---- */

T_TEST(a_peak_in_the_forward_pass_is_activations)
{
    struct built built = {.run = {.has_parameters = true, .parameters = 50 << 20}};
    add_phase(&built, "MODEL_CREATION", 110, 100);
    add_phase(&built, "OPTIMIZER_CREATION", 200, 200);
    add_phase(&built, "FORWARD_PASS", 900, 300);
    add_phase(&built, "BACKWARD_PASS", 50, -200);
    struct tts_trainmem mem = analyse(&built);
    assert_parts(&mem, (double[]){0, 100, 0, 200, 900});
    T_TRUE(!(mem.parts_are_actual));
}

T_TEST(a_peak_while_the_model_is_made_is_all_model)
{
    struct built built = {.run = {.has_parameters = true, .parameters = 50 << 20}};
    add_phase(&built, "MODEL_CREATION", 1000, 100);
    add_phase(&built, "OPTIMIZER_CREATION", 200, 200);
    struct tts_trainmem mem = analyse(&built);
    assert_parts(&mem, (double[]){0, 1000, 0, 0, 0});
    T_EQ(mem.parts_forced, TTS_TRAIN_FORCE_MAKING);
}

T_TEST(a_stack_of_expected_sizes_that_exceeds_the_peak_is_one_of_measured_ones)
{
    struct built built;
    tinyllama(&built, true);
    struct tts_trainmem_options options = {.model = tts_amount_of(mb(2000))};
    struct tts_trainmem mem;
    tts_trainmem_of(&built.run, &options, &mem);
    T_EQ(mem.parts_forced, TTS_TRAIN_FORCE_TOO_MUCH);
    assert_parts(&mem, (double[]){0, 1863.25, 2513.69, 3708.76, 192.95});
}

T_TEST(phases_of_other_names_are_other)
{
    struct built built = {0};
    add_phase(&built, "LOAD_DATA", 500, 400);
    add_phase(&built, "MODEL_CREATION", 100, 100);
    add_phase(&built, "OPTIMIZER_CREATION", 200, 200);
    add_phase(&built, "EVAL", 70, 70);
    add_phase(&built, "FORWARD_PASS", 300, 300);
    add_phase(&built, "BACKWARD_PASS", 50, -200);
    struct tts_trainmem mem = analyse(&built);
    assert_amount(mem.gradients.actual, 100); /* does not include the 70 MB of EVAL */
    assert_parts(&mem, (double[]){470, 100, 50, 200, 300});
}

/* Builds two iterations; a phase of its own between them frees the gradients. */
static void two_iterations(struct built *out, double second_forward_peak)
{
    *out = (struct built){0};
    add_phase(out, "MODEL_CREATION", 100, 100);
    add_phase(out, "OPTIMIZER_CREATION", 200, 200);
    add_phase(out, "FORWARD_PASS", 300, 300);
    add_phase(out, "BACKWARD_PASS", 50, -190);
    add_phase(out, "OPTIMIZER_STEP", 5, 0);
    add_phase(out, "ZERO_GRAD", 0, -110);
    add_phase(out, "FORWARD_PASS", second_forward_peak, 300);
    add_phase(out, "BACKWARD_PASS", 50, -190);
}

T_TEST(gradients_that_another_phase_dropped_are_gone)
{
    struct built built;
    two_iterations(&built, 300);
    struct tts_trainmem mem = analyse(&built);
    assert_amount(mem.gradients.actual, 110);
    T_EQ(mem.peak_phase, 3);
    two_iterations(&built, 900);
    mem = analyse(&built);
    T_EQ(mem.peak_phase, 6);
    assert_parts(&mem, (double[]){0, 100, 0, 200, 900});
}

T_TEST(what_another_phase_frees_beyond_gradients_were_activations)
{
    struct built built = {0};
    add_phase(&built, "FORWARD_PASS", 300, 300);
    add_phase(&built, "BACKWARD_PASS", 0, -250);
    add_phase(&built, "FORWARD_PASS", 300, 300);
    add_phase(&built, "DROP", 0, -200);
    add_phase(&built, "BACKWARD_PASS", 700, 0);
    struct tts_trainmem mem = analyse(&built);
    assert_parts(&mem, (double[]){0, 0, 700, 0, 150});
    add_phase(&built, "DROP", 0,
              -1000); /* the phase frees more than there is: no part becomes negative */
    add_phase(&built, "LOAD", 2000, 10);
    mem = analyse(&built);
    T_EQ(mem.peak.bytes, mem.parts[TTS_RUN_PART_OTHER]);
}

T_TEST(negative_sizes_are_never_in_the_stack)
{
    struct built built = {0};
    add_phase(&built, "MODEL_CREATION", 1000, 900);
    add_phase(&built, "FORWARD_PASS", 50, -100);
    add_phase(&built, "BACKWARD_PASS", 600, 10);
    struct tts_trainmem mem = analyse(&built);
    assert_amount(mem.activations, -100);
    assert_amount(mem.peak, 1400);
    assert_parts(&mem, (double[]){0, 900, 500, 0, 0});
}

/* ---- later iterations ---- */

T_TEST(a_stated_peak_of_a_later_iteration_is_the_peak)
{
    struct built built;
    tinyllama(&built, true);
    built.run.whole =
        (struct tts_run_whole){.peak = tts_amount_of(mb(13000)), .phase = "ITERATION_2"};
    struct tts_trainmem mem = analyse(&built);
    assert_amount(mem.peak, 13000);
    T_TRUE(mem.peak_is_whole && mem.peak_is_later && !mem.has_peak_phase);
    T_TRUE(mem.has_verdict && !mem.fits);
    /* A peak that a phase reached belongs to that phase. */
    built.run.whole.peak = built.run.overall_peak;
    mem = analyse(&built);
    T_TRUE(mem.peak_is_whole && !mem.peak_is_later && mem.has_peak_phase);
    /* A stated peak below the peak of a phase does not belong to that phase. */
    built.run.whole.peak = tts_amount_of(mb(8000));
    mem = analyse(&built);
    assert_amount(mem.peak, 8278.65);
    T_TRUE(!mem.peak_is_whole && mem.fits);
}

T_TEST(a_stated_verdict_counts_for_the_same_memory_alone)
{
    struct built built;
    tinyllama(&built, true);
    built.run.whole = (struct tts_run_whole){.peak = built.run.overall_peak, .has_fits = true};
    built.run.device_memory = tts_amount_of(mb(9000));
    built.run.device_memory_is_one = true;
    struct tts_trainmem mem = analyse(&built);
    T_TRUE(mem.has_verdict && !mem.fits && mem.is_refused);
    struct tts_trainmem_options options = {.device_memory = tts_amount_of(mb(9000) + 5000)};
    tts_trainmem_of(&built.run, &options, &mem);
    T_TRUE(mem.is_refused);
    options.device_memory = tts_amount_of(mb(9001));
    tts_trainmem_of(&built.run, &options, &mem);
    T_TRUE(mem.has_verdict && mem.fits && !mem.is_refused);
    /* If a peak is too large, no statement of the log makes it fit. */
    built.run.whole.fits = true;
    built.run.device_memory = tts_amount_of(mb(8000));
    mem = analyse(&built);
    T_TRUE(mem.has_verdict && !mem.fits && !mem.is_refused);
}

T_TEST(a_log_of_the_first_iteration_does_not_know_what_later_ones_need)
{
    static const struct {
        const char *name;
        bool leaves;
    } cases[] = {{"SGD", true},    {"AdamWFullPrecision", true}, {"NoOp", true},
                 {"AdamW", false}, {"MuonComposite", false},     {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct built built;
        tinyllama(&built, true);
        strcpy(built.run.optimizer, cases[i].name);
        built.run.device_memory = tts_amount_of(mb(9000));
        built.run.device_memory_is_one = true;
        struct tts_trainmem mem = analyse(&built);
        T_EQ(mem.covers_first, cases[i].leaves);
        T_EQ(mem.has_verdict, !cases[i].leaves);
        if (cases[i].leaves)
            assert_amount(mem.later_more, 2 * 1856.03);
        built.run.device_memory = tts_amount_of(mb(12000));
        mem = analyse(&built);
        T_TRUE(mem.has_verdict && mem.fits);
        built.run.device_memory = tts_amount_of(mb(8000));
        mem = analyse(&built);
        T_TRUE(mem.has_verdict && !mem.fits);
        /* The log has a second iteration. */
        add_phase(&built, "FIRST_ITERATION_COMPLETE", 0, 0);
        T_EQ(analyse(&built).covers_first, cases[i].leaves);
        add_phase(&built, "FORWARD_PASS", 996.35, 192.95);
        T_TRUE(!analyse(&built).covers_first);
    }
}

T_TEST(stated_parts_are_the_parts_if_they_add_up)
{
    struct built built;
    tinyllama(&built, true);
    struct tts_run_whole *whole = &built.run.whole;
    whole->peak = built.run.overall_peak;
    whole->has_parts = true;
    static const double stated[] = {100, 1000, 2000, 5000, 178.66};
    for (int i = 0; i < TTS_RUN_PARTS; i++)
        whole->parts[i] = mb(stated[i]);
    struct tts_trainmem mem = analyse(&built);
    T_TRUE(mem.parts_are_stated && mem.parts_are_actual);
    assert_parts(&mem, (double[]){100, 1000, 2000, 5000, 178.65});
    whole->parts[0] = mb(90);
    T_TRUE(!analyse(&built).parts_are_stated);
    whole->parts[0] = mb(110);
    T_TRUE(!analyse(&built).parts_are_stated);
    assert_parts(&mem, (double[]){100, 1000, 2000, 5000, 178.65});
    whole->parts[0] = INT64_MAX;
    T_TRUE(!analyse(&built).parts_are_stated);
}
