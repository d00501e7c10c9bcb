#include "harness/t.h"
#include "harness/chip_tools.h"

#include <stdio.h>

T_TEST(a_fact_that_is_set_reads_back_as_it_was_written_for_every_key)
{
    for (size_t i = 0; tts_preset_at(i); i++) {
        for (unsigned k = 0; k < TTS_FACTS; k++) {
            enum tts_fact_key key = (enum tts_fact_key)k;
            struct tts_chip chip = chip_of(tts_preset_at(i)->name);
            struct tts_fact before = chip.fact[k];
            char text[TTS_FACT_TEXT_MAX], again[TTS_FACT_TEXT_MAX];
            T_TRUE(tts_fact_text(key, &before, text) == text);
            if (before.origin == TTS_ORIGIN_UNKNOWN) {
                T_STR_EQ(text, "unknown");
                T_EQ(tts_chip_set(&chip, tts_fact_name(key), text, NULL), TTS_E_SYNTAX);
                continue;
            }
            set(&chip, tts_fact_name(key), text);
            T_EQ(chip.fact[k].value, before.value);
            T_EQ(chip.fact[k].origin, TTS_ORIGIN_SET);
            T_STR_EQ(tts_fact_text(key, &chip.fact[k], again), text);
        }
    }
}

T_TEST(setting_one_fact_leaves_the_others_unless_they_follow_from_it)
{
    for (unsigned k = 0; k < TTS_FACTS; k++) {
        struct tts_chip before = chip_of("p150"), chip = before;
        const char *value = k == TTS_FACT_DISPATCH                                 ? "slow"
                            : tts_fact_unit((enum tts_fact_key)k) == TTS_UNIT_GRID ? "7x9"
                                                                                   : "64";
        set(&chip, tts_fact_name((enum tts_fact_key)k), value);
        for (unsigned other = 0; other < TTS_FACTS; other++) {
            bool derived = other == TTS_FACT_DRAM_BASE || other == TTS_FACT_L1_BASE ||
                           other == TTS_FACT_GRID || other == TTS_FACT_KERNEL_CONFIG;
            if (other != k && !derived)
                same_fact(&chip.fact[other], &before.fact[other]);
        }
        for (unsigned d = 0; d < TTS_DISPATCHES; d++)
            same_fact(&chip.grids[d], &before.grids[d]);
    }
}

T_TEST(values_of_every_unit_are_read_in_all_their_forms)
{
    static const struct {
        const char *key, *value;
        enum tts_fact_key fact;
        uint64_t expected;
    } forms[] = {
        {"l1_small", "32768", TTS_FACT_L1_SMALL, 32768},
        {"l1-small", "32K", TTS_FACT_L1_SMALL, 32768},
        {"L1_Small", "32KiB", TTS_FACT_L1_SMALL, 32768},
        {"trace-region", "3M", TTS_FACT_TRACE_REGION, 3 << 20},
        {"trace_region", "3MiB", TTS_FACT_TRACE_REGION, 3 << 20},
        {"dram_bank_size", "2G", TTS_FACT_DRAM_BANK_SIZE, UINT64_C(2) << 30},
        {"dram_bank_size", "2GiB", TTS_FACT_DRAM_BANK_SIZE, UINT64_C(2) << 30},
        {"dram_bank_size", "65536G", TTS_FACT_DRAM_BANK_SIZE, UINT64_C(1) << 46},
        {"dram_bank_size", "70368744177664", TTS_FACT_DRAM_BANK_SIZE, UINT64_C(1) << 46},
        {"dram_bank_size", "0", TTS_FACT_DRAM_BANK_SIZE, 0},
        {"chips", "4294967295", TTS_FACT_CHIPS, UINT32_MAX},
        {"chips", "007", TTS_FACT_CHIPS, 7},
        {"grid", "13x10", TTS_FACT_GRID, TTS_GRID(13, 10)},
        {"tensix_grid", "64x1", TTS_FACT_TENSIX_GRID, TTS_GRID(64, 1)},
        {"dispatch", "ethernet", TTS_FACT_DISPATCH, TTS_DISPATCH_ETHERNET},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct tts_chip chip = chip_of("n150");
        set(&chip, forms[i].key, forms[i].value);
        T_EQ(chip.fact[forms[i].fact].value, forms[i].expected);
        T_EQ(chip.fact[forms[i].fact].origin, TTS_ORIGIN_SET);
    }
}

T_TEST(a_text_that_is_no_value_changes_nothing_and_names_the_key)
{
    static const struct {
        const char *key, *value;
        enum tts_status status;
    } bad[] = {
        {"l1_small", "", TTS_E_SYNTAX},
        {"l1_small", "K", TTS_E_SYNTAX},
        {"l1_small", "KiB", TTS_E_SYNTAX},
        {"l1_small", "iB", TTS_E_SYNTAX},
        {"l1_small", "1iB", TTS_E_SYNTAX},
        {"l1_small", "1B", TTS_E_SYNTAX},
        {"l1_small", "1KB", TTS_E_SYNTAX},
        {"l1_small", "1KK", TTS_E_SYNTAX},
        {"l1_small", "1KiBiB", TTS_E_SYNTAX},
        {"l1_small", "-1", TTS_E_SYNTAX},
        {"l1_small", "+1", TTS_E_SYNTAX},
        {"l1_small", " 1", TTS_E_SYNTAX},
        {"l1_small", "1 ", TTS_E_SYNTAX},
        {"l1_small", "0x10", TTS_E_SYNTAX},
        {"l1_small", "1.5K", TTS_E_SYNTAX},
        {"l1_small", "unknown", TTS_E_SYNTAX},
        {"l1_small", "65537G", TTS_E_RANGE},
        {"l1_small", "70368744177665", TTS_E_RANGE},
        {"l1_small", "18446744073709551616", TTS_E_RANGE},
        {"l1_small", "18014398509481984K", TTS_E_RANGE}, /* this is 2^64 */
        {"l1_small", "17179869184G", TTS_E_RANGE},       /* this is 2^64 */
        {"chips", "4294967296", TTS_E_RANGE},
        {"chips", "1K", TTS_E_SYNTAX},
        {"grid", "13", TTS_E_SYNTAX},
        {"grid", "x", TTS_E_SYNTAX},
        {"grid", "13x", TTS_E_SYNTAX},
        {"grid", "x10", TTS_E_SYNTAX},
        {"grid", "13x10x1", TTS_E_SYNTAX},
        {"grid", "13X10", TTS_E_SYNTAX},
        {"grid", "0x10", TTS_E_RANGE},
        {"grid", "13x0", TTS_E_RANGE},
        {"grid", "65x1", TTS_E_RANGE},
        {"grid", "1x65", TTS_E_RANGE},
        {"grid", "1x99999999999999999999", TTS_E_RANGE},
        {"grid", "99999999999999999999xa", TTS_E_SYNTAX},
        {"dispatch", "", TTS_E_SYNTAX},
        {"dispatch", "rows", TTS_E_SYNTAX},
        {"dispatch", "0", TTS_E_SYNTAX},
    };
    struct tts_chip chip = chip_of("n150"), before = chip;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct tts_error err = {0};
        char quoted[64];
        T_EQ(tts_chip_set(&chip, bad[i].key, bad[i].value, &err), bad[i].status);
        T_EQ(tts_chip_set(&chip, bad[i].key, bad[i].value, NULL), bad[i].status);
        snprintf(quoted, sizeof quoted, "'%s'", bad[i].key);
        T_TRUE(err.status == bad[i].status && says(&err, quoted) && says(&err, "expected"));
        same_chip(&chip, &before);
    }
}

T_TEST(a_wrong_key_meets_the_nearest)
{
    struct tts_chip chip = chip_of("n150"), before = chip;
    struct tts_error err;
    T_EQ(tts_chip_set(&chip, "l1-smal", "1", &err), TTS_E_NOT_FOUND);
    T_TRUE(says(&err, "'l1-smal'") && says(&err, "did you mean 'l1_small'?"));
    T_EQ(tts_chip_set(&chip, "volts", "1", &err), TTS_E_NOT_FOUND);
    T_TRUE(says(&err, "'volts'") && !says(&err, "did you mean"));
    T_EQ(tts_chip_set(&chip, "", "1", &err), TTS_E_NOT_FOUND);
    same_chip(&chip, &before);
}

T_TEST(random_texts_are_refused_or_read_but_never_harm)
{
    static const char letters[] = "0123456789xKMGiBrow-";
    uint64_t rng = 7;
    struct tts_chip chip = chip_of("p150");
    for (int i = 0; i < 100000; i++) {
        char text[24];
        size_t len = t_random(&rng) % sizeof text;
        for (size_t c = 0; c < len; c++)
            text[c] = letters[t_random(&rng) % (sizeof letters - 1)];
        text[len < sizeof text ? len : sizeof text - 1] = '\0';
        enum tts_fact_key key = (enum tts_fact_key)(t_random(&rng) % TTS_FACTS);
        struct tts_chip before = chip;
        struct tts_error err;
        if (tts_chip_set(&chip, tts_fact_name(key), text, &err) != TTS_OK)
            same_chip(&chip, &before);
        else
            T_EQ(chip.fact[key].origin, TTS_ORIGIN_SET);
    }
}

/* ---- derived facts ---- */

T_TEST(the_dram_base_follows_the_profiler_the_print_buffer_and_the_queues)
{
    static const struct {
        const char *preset, *key, *value;
        uint64_t base;
    } cases[] = {
        {"n150", "profiler_programs", "0", 1048640},
        {"p150", "profiler_programs", "0", 1048704},
        {"n150", "profiler_record", "64", 2968640 + 16 * 1000 * 5 * 8},
        {"n150", "profiler_riscs", "6", 2968640 + 48 * 1000 * 8},
        {"p100", "profiler_cores", "21", 5848704 + 48 * 1000 * 5},
        {"n150", "dram_queues", "16M", 2968640 + (16 << 20)},
        {"n150", "dram_print", "0", 2968640 - (1 << 20)},
        {"n150", "dram_alignment", "64", 2968640 + 2 * 32},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tts_chip chip = chip_of(cases[i].preset);
        set(&chip, cases[i].key, cases[i].value);
        T_EQ(value_of(&chip, TTS_FACT_DRAM_BASE), cases[i].base);
        T_EQ(chip.fact[TTS_FACT_DRAM_BASE].origin, TTS_ORIGIN_DERIVED);
    }
}

T_TEST(the_dram_base_of_quasar_becomes_known_with_the_last_fact)
{
    static const char *const keys[] = {"profiler_record", "profiler_programs", "profiler_riscs",
                                       "profiler_cores",  "dram_print",        "dram_queues"};
    struct tts_chip chip = chip_of("quasar");
    for (size_t i = 0; i < 6; i++) {
        T_EQ(chip.fact[TTS_FACT_DRAM_BASE].origin, TTS_ORIGIN_UNKNOWN);
        set(&chip, keys[i], "2");
    }
    T_EQ(value_of(&chip, TTS_FACT_DRAM_BASE), 64 + 16 + 64 + 2 + 2);
}

T_TEST(sums_and_products_that_would_wrap_end_where_no_check_passes)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "profiler_record", "65536G");
    set(&chip, "profiler_programs", "4294967295");
    set(&chip, "profiler_riscs", "4294967295");
    set(&chip, "profiler_cores", "4294967295");
    T_EQ(value_of(&chip, TTS_FACT_DRAM_BASE), UINT64_C(1) << 46);
    /* The product with the size of a record is 2^64. */
    set(&chip, "profiler_programs", "262144");
    T_EQ(value_of(&chip, TTS_FACT_DRAM_BASE), UINT64_C(1) << 46);
    set(&chip, "dram_bank_size", "65536G");
    struct tts_error err;
    T_EQ(tts_chip_check(&chip, &err), TTS_E_INVALID);
    T_TRUE(says(&err, "'dram_base'"));
    chip = chip_of("n150");
    set(&chip, "l1_size", "65536G");
    set(&chip, "l1_map_end", "65536G");
    set(&chip, "kernel_config", "65536G");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), UINT64_C(1) << 46);
    T_EQ(tts_chip_check(&chip, &err), TTS_E_INVALID);
}

T_TEST(the_l1_base_follows_the_map_the_ring_and_the_larger_alignment)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "l1_map_end", "28432"); /* the value of January 2025 */
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 99104);
    set(&chip, "kernel_config", "1");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 28448);
    set(&chip, "l1_alignment", "4096");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 28672);
}

T_TEST(l1_asked_for_moves_the_base_and_the_ring_takes_the_rest)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "worker_l1", "1344544");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 154592);
    T_EQ(value_of(&chip, TTS_FACT_KERNEL_CONFIG), 154592 - 35008);
    T_EQ(chip.fact[TTS_FACT_KERNEL_CONFIG].origin, TTS_ORIGIN_DERIVED);
    set(&chip, "worker_l1", "1344543");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 154624);
    set(&chip, "worker_l1", "0");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 105664);
    T_EQ(value_of(&chip, TTS_FACT_KERNEL_CONFIG), 70656);
    T_EQ(chip.fact[TTS_FACT_KERNEL_CONFIG].origin, TTS_ORIGIN_KNOWN);
    /* Sets the largest possible value, and then one byte more. */
    struct tts_error err;
    set(&chip, "worker_l1", "1464128");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 35008);
    T_EQ(value_of(&chip, TTS_FACT_KERNEL_CONFIG), 0);
    T_EQ(tts_chip_check(&chip, &err), TTS_OK);
    set(&chip, "worker_l1", "1464129");
    T_EQ(tts_chip_check(&chip, &err), TTS_E_INVALID);
    T_TRUE(says(&err, "'worker_l1'") && says(&err, "1464128"));
    set(&chip, "worker_l1", "65536G");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 0);
    T_EQ(value_of(&chip, TTS_FACT_KERNEL_CONFIG), 0);
    T_EQ(tts_chip_check(&chip, &err), TTS_E_INVALID);
}

T_TEST(a_derived_fact_that_was_set_stays_whatever_else_changes)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "dram_base", "4096");
    set(&chip, "profiler_programs", "0");
    T_EQ(value_of(&chip, TTS_FACT_DRAM_BASE), 4096);
    set(&chip, "l1_base", "103712");
    set(&chip, "kernel_config", "4096");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 103712);
    set(&chip, "worker_l1", "1344544");
    T_EQ(value_of(&chip, TTS_FACT_L1_BASE), 103712);
    T_EQ(value_of(&chip, TTS_FACT_KERNEL_CONFIG), 4096);
    set(&chip, "grid", "7x8");
    set(&chip, "dispatch", "slow");
    set(&chip, "tensix_grid", "8x10");
    T_EQ(value_of(&chip, TTS_FACT_GRID), TTS_GRID(7, 8));
    T_EQ(chip.fact[TTS_FACT_GRID].origin, TTS_ORIGIN_SET);
}

T_TEST(a_tensix_grid_that_was_set_gives_one_side_to_dispatch)
{
    static const struct {
        const char *dispatch;
        uint64_t grid;
    } cases[] = {{"row", TTS_GRID(8, 8)},
                 {"column", TTS_GRID(7, 9)},
                 /* With Ethernet dispatch the table has 64 cores, but only for the grid of the
                  * board. */
                 {"ethernet", TTS_GRID(8, 9)},
                 {"slow", TTS_GRID(8, 9)}};
    for (size_t i = 0; i < 4; i++) {
        struct tts_chip chip = chip_of("n150");
        set(&chip, "tensix_grid", "8x9");
        set(&chip, "dispatch", cases[i].dispatch);
        T_EQ(value_of(&chip, TTS_FACT_GRID), cases[i].grid);
        T_EQ(chip.fact[TTS_FACT_GRID].origin, TTS_ORIGIN_DERIVED);
    }
    struct tts_chip galaxy = chip_of("galaxy-blackhole");
    set(&galaxy, "tensix_grid", "12x10");
    T_EQ(value_of(&galaxy, TTS_FACT_GRID), TTS_GRID(11, 10));
    struct tts_chip quasar = chip_of("quasar");
    set(&quasar, "tensix_grid", "8x4");
    /* The kind of dispatch is unknown. */
    T_EQ(quasar.fact[TTS_FACT_GRID].origin, TTS_ORIGIN_UNKNOWN);
    set(&quasar, "dispatch", "slow");
    T_EQ(value_of(&quasar, TTS_FACT_GRID), TTS_GRID(8, 4));
}
