#include "harness/trainmem_rig.h"

/* ---- what is expected ---- */

static struct tts_amount expected_state(enum tts_train_optimizer kind,
                                        enum tts_train_dtype dtype)
{
    struct built built = {.run = {.has_parameters = true, .parameters = 1000}};
    struct tts_trainmem_options options = {
        .has_dtype = true, .dtype = dtype, .has_optimizer = true, .optimizer_kind = kind};
    struct tts_trainmem mem;
    tts_trainmem_of(&built.run, &options, &mem);
    return mem.optimizer.expected;
}

T_TEST(theory_knows_optimizers_and_dtypes)
{
    static const int64_t bytes[TTS_TRAIN_OPTIMIZERS][TTS_TRAIN_DTYPES] = {
        [TTS_TRAIN_ADAMW] = {4000, 8000},
        [TTS_TRAIN_MOREH_ADAMW] = {4000, 8000},
        [TTS_TRAIN_ADAMW_COMPOSITE] = {4000, 8000},
        [TTS_TRAIN_ADAMW_KAHAN] = {6000, 12000},
        [TTS_TRAIN_ADAMW_FULL_PRECISION] = {12000, 12000},
        [TTS_TRAIN_SGD] = {0, 0},
        [TTS_TRAIN_SGD_MOMENTUM] = {2000, 4000},
        [TTS_TRAIN_SGD_COMPOSITE] = {2000, 4000},
        [TTS_TRAIN_MUON] = {2000, 4000},
        [TTS_TRAIN_NO_OP] = {0, 0},
    };
    for (int kind = 0; kind < TTS_TRAIN_OPTIMIZERS; kind++)
        for (int dtype = 0; dtype < TTS_TRAIN_DTYPES; dtype++) {
            struct tts_amount kept =
                expected_state((enum tts_train_optimizer)kind, (enum tts_train_dtype)dtype);
            T_TRUE(kept.is_known);
            T_EQ(kept.bytes, bytes[kind][dtype]);
        }
}

static struct tts_trainmem with_optimizer(const char *name, bool is_kahan)
{
    struct built built = {.run = {.has_parameters = true, .parameters = 1000}};
    strncpy(built.run.optimizer, name, sizeof built.run.optimizer - 1);
    built.run.has_kahan = built.run.is_kahan = is_kahan;
    return analyse(&built);
}

T_TEST(the_log_may_name_the_optimizer)
{
    struct tts_trainmem mem = with_optimizer("AdamWFullPrecision", false);
    T_EQ(mem.optimizer.expected.bytes, 12000);
    T_EQ(mem.optimizer.source, TTS_TRAIN_FROM_LOG);
    T_EQ(with_optimizer("", true).optimizer.expected.bytes, 6000);
    mem = with_optimizer("", false);
    T_EQ(mem.optimizer.expected.bytes, 4000);
    T_EQ(mem.optimizer.source, TTS_TRAIN_ASSUMED);
    /* The log does not say whether SGD has momentum. The state of an unknown optimizer is
     * unknown. */
    T_TRUE(!(with_optimizer("SGD", false).optimizer.expected.is_known));
    mem = with_optimizer("RemoteOptimizer", false);
    T_TRUE(!(mem.optimizer.expected.is_known));
    T_EQ(mem.optimizer.source, TTS_TRAIN_FROM_NOWHERE);
}

T_TEST(optimizers_are_found_in_any_spelling)
{
    enum tts_train_optimizer kind;
    T_TRUE(tts_train_optimizer_find("adamw-full-precision", &kind));
    T_EQ(kind, TTS_TRAIN_ADAMW_FULL_PRECISION);
    T_TRUE(tts_train_optimizer_find("sgd_momentum", &kind));
    T_EQ(kind, TTS_TRAIN_SGD_MOMENTUM);
    T_TRUE(!(tts_train_optimizer_find("adam", &kind)));
    T_TRUE(!(tts_train_optimizer_find("adamwx", &kind)));
}

T_TEST(options_count_more_than_the_log)
{
    struct built built;
    tinyllama(&built, true);
    built.run.device_memory = tts_amount_of(mb(28520.96));
    struct tts_trainmem_options options = {.device_memory = tts_amount_of(mb(8000)),
                                           .device_memory_source = TTS_TRAIN_FROM_OPTION,
                                           .model = tts_amount_of(mb(1000)),
                                           .gradients = tts_amount_of(mb(700))};
    struct tts_trainmem mem;
    tts_trainmem_of(&built.run, &options, &mem);
    assert_amount(mem.model.expected, 1000);
    assert_amount(mem.optimizer.expected, 2000);
    assert_amount(mem.gradients.expected, 700);
    assert_amount(mem.device_memory, 8000);
    T_TRUE(mem.has_verdict && !mem.fits);
}

T_TEST(without_a_parameter_count_nothing_is_expected)
{
    struct built built;
    tinyllama(&built, true);
    built.run.has_parameters = false;
    struct tts_trainmem mem = analyse(&built);
    int64_t difference;
    T_TRUE(!(mem.model.expected.is_known || mem.optimizer.expected.is_known ||
             mem.gradients.expected.is_known));
    T_EQ(mem.model.source, TTS_TRAIN_FROM_NOWHERE);
    T_TRUE(!(tts_train_difference(&mem.model, &difference)));
}

T_TEST(too_many_parameters_are_not_known)
{
    struct built built = {.run = {.has_parameters = true, .parameters = UINT64_MAX}};
    T_TRUE(!(analyse(&built).model.expected.is_known));
    built.run.parameters = INT64_MAX;
    T_TRUE(!(analyse(&built).model.expected.is_known));
    built.run.parameters = INT64_MAX / 2;
    struct tts_trainmem mem = analyse(&built);
    T_TRUE(mem.model.expected.is_known);
    T_TRUE(!(mem.optimizer.expected.is_known));
}

/* ---- the device ---- */

static struct tts_trainmem with_memory(double printed_mb, uint32_t mesh, const char *chip)
{
    struct built built = {.run = {.mesh_devices = mesh}};
    built.run.device_memory = tts_amount_of(mb(printed_mb));
    strncpy(built.run.chip, chip, sizeof built.run.chip - 1);
    return analyse(&built);
}

T_TEST(the_memory_in_a_log_is_that_of_all_devices_of_the_host)
{
    struct tts_trainmem mem = with_memory(28520.96, 0, "");
    T_EQ(mem.log_devices, 1);
    assert_amount(mem.device_memory, 28520.96);
    T_EQ(mem.device_memory_source, TTS_TRAIN_FROM_LOG);
    mem = with_memory(98032, 2, "wormhole_b0"); /* a mesh of 2 devices on a host with 8 */
    T_EQ(mem.log_devices, 8);
    /* Memory of a wormhole_b0 chip in the catalogue. */
    assert_amount(mem.device_memory, 12254.03);
    T_EQ(with_memory(24508, 0, "").log_devices, 2);
    T_EQ(with_memory(12254, 8, "wormhole_b0").log_devices, 1);
    T_EQ(with_memory(32594, 1, "blackhole").log_devices, 1);
    T_EQ(with_memory(114083.84, 0, "Blackhole").log_devices, 4);
    /* The memory is not a multiple of any chip: only the mesh gives the number of devices. */
    T_EQ(with_memory(40000, 4, "").log_devices, 4);
    T_EQ(with_memory(40000, 0, "").log_devices, 1);
}

T_TEST(a_chip_that_the_log_names_has_the_memory_of_the_catalogue)
{
    static const struct {
        double printed;
        const char *chip;
        double wanted;
        uint32_t devices;
    } cases[] = {
        {12288, "wormhole_b0", 12254.03, 1}, /* the whole DRAM, nothing reserved */
        {12288, "n150", 12254.03, 1},
        {12288, "N150", 12254.03, 1},
        {24576, "n300", 12254.03, 2},
        {98304, "wormhole_b0", 12254.03, 8},
        {0, "n150", 12254.03, 1},
        {28520, "p100", 28520.96, 1},
        /* A trace region takes some memory. A log without a chip keeps the printed size. */
        {12200, "n150", 12200, 1},
        {12288, "", 12288, 1},
        {12288, "new_chip", 12288, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tts_trainmem mem = with_memory(cases[i].printed, 0, cases[i].chip);
        T_EQ(mem.device_memory_source, TTS_TRAIN_FROM_LOG);
        assert_amount(mem.device_memory, cases[i].wanted);
        T_EQ(mem.log_devices, cases[i].devices);
    }
    T_EQ(with_memory(0, 0, "wormhole_b0").device_memory_source, TTS_TRAIN_ASSUMED);
}

T_TEST(memory_that_is_of_one_device_is_not_divided)
{
    struct built built = {.run = {.mesh_devices = 4, .device_memory_is_one = true}};
    built.run.device_memory = tts_amount_of(mb(24508));
    T_EQ(analyse(&built).log_devices, 1);
    assert_amount(analyse(&built).device_memory, 24508);
}

T_TEST(nothing_and_less_are_no_device)
{
    struct tts_trainmem mem = with_memory(0, 0, "");
    T_EQ(mem.device_memory_source, TTS_TRAIN_ASSUMED);
    T_EQ(mem.device_memory.bytes, 12884901888);
}

T_TEST(a_peak_as_large_as_the_device_fits)
{
    struct built built = {0};
    add_phase(&built, "MODEL_CREATION", 12288, 100);
    T_TRUE(analyse(&built).fits);
    built.run.overall_peak.bytes++;
    T_TRUE(!(analyse(&built).fits));
}

/* ---- what is not known ---- */

T_TEST(a_block_that_is_cut_off_has_a_peak_of_at_least)
{
    struct built built;
    tinyllama(&built, false);
    built.run.phase_count = 3;
    built.run.is_cut = true;
    built.run.overall_peak.is_known = false;
    struct tts_trainmem mem = analyse(&built);
    assert_amount(mem.peak, 15591.27);
    T_TRUE(mem.peak_at_least);
    T_TRUE(mem.has_verdict && !mem.fits); /* later iterations cannot change this verdict */
    built.run.phase_count = 2;
    mem = analyse(&built);
    assert_amount(mem.peak, 5571.88);
    T_TRUE(!(mem.has_verdict));
}

T_TEST(a_figure_that_is_not_known_is_not_nothing)
{
    struct built built;
    tinyllama(&built, false);
    built.phases[2].figures[TTS_RUN_CHANGE].is_known = false;
    struct tts_trainmem mem = analyse(&built);
    T_TRUE(!(mem.activations.is_known || mem.activations_sum.is_known));
    T_TRUE(!(mem.has_parts));
    T_TRUE(mem.has_peak_phase && mem.peak.is_known && mem.gradients.actual.is_known);

    tinyllama(&built, false);
    built.phases[1].figures[TTS_RUN_CUMULATIVE_PEAK].is_known = false;
    mem = analyse(&built);
    T_TRUE(!(mem.has_peak_phase || mem.has_parts));
    T_TRUE(mem.has_verdict);

    tinyllama(&built, false);
    built.phases[3].figures[TTS_RUN_SEGMENT_PEAK].is_known = false;
    T_TRUE(!(analyse(&built).has_parts));
}

T_TEST(a_peak_is_never_below_what_a_phase_reached)
{
    struct built built;
    tinyllama(&built, false);
    built.run.overall_peak = tts_amount_of(mb(1));
    struct tts_trainmem mem = analyse(&built);
    assert_amount(mem.peak, 15666.65);
    T_TRUE(mem.has_verdict && !mem.fits);
    built = (struct built){.run = {.overall_peak = tts_amount_of(-1)}};
    T_TRUE(!analyse(&built).peak.is_known);
}

T_TEST(what_is_left_at_the_end_is_told_by_the_last_phase_too)
{
    struct built built;
    tinyllama(&built, false);
    built.run.final = (struct tts_amount){0};
    assert_amount(analyse(&built).final, 7427.02);
    built.run.is_cut = true;
    T_TRUE(!analyse(&built).final.is_known);
    built.run.final = tts_amount_of(mb(5));
    assert_amount(analyse(&built).final, 5);
}

T_TEST(a_run_that_misses_something_has_a_peak_of_at_least)
{
    struct built built;
    tinyllama(&built, true);
    built.run.is_at_least = true;
    struct tts_trainmem mem = analyse(&built);
    T_TRUE(mem.peak_at_least && !mem.has_verdict);
}

T_TEST(a_run_without_phases_says_nothing)
{
    struct built built = {0};
    struct tts_trainmem mem = analyse(&built);
    T_TRUE(!(mem.peak.is_known || mem.has_verdict || mem.has_parts || mem.has_peak_phase));
    T_TRUE(!(mem.model.actual.is_known || mem.activations.is_known ||
             mem.gradients.actual.is_known));
}

T_TEST(sums_beyond_64_bits_are_not_known)
{
    struct built built = {0};
    add_phase(&built, "FORWARD_PASS", 1, 1);
    add_phase(&built, "FORWARD_PASS", 1, 1);
    built.phases[0].figures[TTS_RUN_CHANGE].bytes = INT64_MAX;
    struct tts_trainmem mem = analyse(&built);
    T_TRUE(!(mem.activations.is_known));
}

T_TEST(a_difference_from_nothing_is_none)
{
    struct tts_train_size size = {.actual = tts_amount_of(5), .expected = tts_amount_of(0)};
    assert_difference(&size, 0);
    size.expected = tts_amount_of(10);
    assert_difference(&size, -5000);
    size = (struct tts_train_size){.actual = tts_amount_of(INT64_MAX),
                                   .expected = tts_amount_of(1)};
    assert_difference(&size, 9000000000000000);
}
