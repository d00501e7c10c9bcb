#include "harness/chip_tools.h"
#include "harness/t.h"

#include <stdio.h>

static const struct {
    const char *preset;
    const char *sets[6]; /* pairs of a key and a value */
    const char *names;   /* the key in the message; NULL if the check passes */
} checks[] = {
    {"n150", {"dram_alignment", "48"}, "'dram_alignment'"},
    {"n150", {"dram_alignment", "0"}, "'dram_alignment'"},
    {"n150", {"l1_alignment", "17"}, "'l1_alignment'"},
    {"n150", {"pcie_alignment", "0"}, "'pcie_alignment'"},
    {"n150", {"dram_alignment", "65536G"}, "'dram_base'"},
    {"n150", {"l1_alignment", "1"}, NULL},
    {"n150", {"chips", "0"}, "'chips'"},
    {"n150", {"dram_channel_banks", "0"}, "'dram_channel_banks'"},
    {"n150", {"max_cbs", "65"}, "'max_cbs'"},
    {"n150", {"max_cbs", "64"}, NULL},
    {"n150", {"dram_banks", "0"}, "'dram_banks'"},
    {"n150", {"dram_banks", "6"}, "'dram_banks'"},
    {"n150", {"dram_banks", "141"}, "'dram_banks'"},
    {"n150", {"dram_banks", "1"}, NULL},
    {"n150", {"dram_banks", "256"}, NULL},
    {"n150", {"grid", "5x5"}, "'grid'"},
    {"n150", {"grid", "64x64"}, NULL},
    {"n150", {"tensix_grid", "8x1"}, "'grid'"},
    {"p150", {"tensix_grid", "1x8"}, "'grid'"},
    {"tg-gateway", {"dispatch", "ethernet"}, "'dispatch'"},
    {"n150", {"dram_base", "1G"}, "'dram_base'"},
    {"n150", {"dram_base", "1073741823"}, NULL},
    {"n150", {"dram_bank_size", "2968640"}, "'dram_bank_size'"},
    {"n150", {"dram_bank_size", "2968641"}, NULL},
    {"n150", {"trace_region", "65536G"}, "'trace_region'"},
    {"n150", {"dram_base", "1073733632", "trace_region", "1"}, "'trace_region'"},
    {"n150", {"dram_base", "1073733631", "trace_region", "1"}, NULL},
    {"n150", {"l1_base", "35007"}, "'l1_map_end'"},
    {"n150", {"l1_base", "35008"}, NULL},
    {"n150", {"l1_base", "1499137"}, "'l1_base'"},
    {"n150", {"l1_base", "1499136"}, "'l1_small'"},
    {"n150", {"l1_base", "1499135"}, NULL},
    {"n150", {"l1_small", "1393472"}, "'l1_small'"},
    /* Rounding makes it as large as the whole L1. */
    {"n150", {"l1_small", "1393441"}, "'l1_small'"},
    {"n150", {"l1_small", "1393440"}, NULL},
    {"n150", {"l1_small", "65536G"}, "'l1_small'"},
    {"n150", {"l1_size", "0"}, "'l1_size'"},
    {"n150", {"l1_map_end", "65536G"}, "'l1_base'"},
    {"n150", {"l1_size", "1K", "worker_l1", "2K"}, "'worker_l1'"},
    {"n150", {"l1_map_end", "65536G", "l1_size", "65536G", "l1_base", "65536G"}, "'l1_small'"},
    {"quasar", {"dram_banks", "12"}, NULL},
};

T_TEST(the_check_finds_what_cannot_be_and_names_the_key)
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        struct tts_chip chip = chip_of(checks[i].preset);
        for (size_t k = 0; k < 6 && checks[i].sets[k]; k += 2)
            set(&chip, checks[i].sets[k], checks[i].sets[k + 1]);
        struct tts_error err = {0};
        T_EQ(tts_chip_check(&chip, &err), checks[i].names ? TTS_E_INVALID : TTS_OK);
        T_EQ(tts_chip_check(&chip, NULL), checks[i].names ? TTS_E_INVALID : TTS_OK);
        T_TRUE(!checks[i].names || says(&err, checks[i].names));
        T_TRUE(strlen(err.text) < sizeof err.text - 1); /* the text was not cut off */
    }
}

T_TEST(bank_counts_are_those_of_the_runtime)
{
    static const unsigned odd_ones[] = {7,  12,  20,  48,  56,  63,  70,  72,  80,
                                        94, 108, 110, 117, 120, 124, 126, 130, 140};
    struct tts_chip chip = chip_of("n150");
    for (unsigned n = 0; n <= 300; n++) {
        bool expected = n != 0 && (n & (n - 1)) == 0;
        for (size_t i = 0; i < sizeof(odd_ones) / sizeof(odd_ones[0]); i++)
            expected = expected || n == odd_ones[i];
        char text[8];
        snprintf(text, sizeof text, "%u", n);
        set(&chip, "dram_banks", text);
        T_EQ(tts_chip_check(&chip, NULL) == TTS_OK, expected);
    }
}

T_TEST(a_grid_without_cores_or_of_too_many_on_a_side_cannot_be)
{
    static const uint64_t grids[] = {TTS_GRID(65, 1), TTS_GRID(1, 128), TTS_GRID(128, 1),
                                     TTS_GRID(0, 8), TTS_GRID(8, 0)};
    static const enum tts_fact_key keys[] = {TTS_FACT_GRID, TTS_FACT_TENSIX_GRID};
    for (size_t i = 0; i < 10; i++) {
        struct tts_chip chip = chip_of("n150");
        struct tts_error err;
        chip.fact[keys[i % 2]].value = grids[i / 2];
        T_EQ(tts_chip_check(&chip, &err), TTS_E_INVALID);
        T_TRUE(says(&err, tts_fact_name(keys[i % 2])) && !says(&err, "power of two"));
    }
}

T_TEST(a_chip_filled_by_others_is_judged_without_harm)
{
    uint64_t rng = 3;
    struct tts_error err;
    for (unsigned k = 0; k < TTS_FACTS; k++) {
        struct tts_chip chip = chip_of("n150");
        chip.fact[k].value = UINT64_MAX;
        T_EQ(tts_chip_check(&chip, &err), TTS_E_INVALID);
        T_TRUE(says(&err, tts_fact_name((enum tts_fact_key)k)));
    }
    for (int i = 0; i < 100000; i++) {
        struct tts_chip chip = chip_of("n150");
        for (int n = 0; n < 3; n++) {
            struct tts_fact *fact = &chip.fact[t_random(&rng) % TTS_FACTS];
            fact->value = t_random(&rng) >> t_random(&rng) % 64;
            fact->origin = (enum tts_origin)(t_random(&rng) % 5);
        }
        enum tts_status status = tts_chip_check(&chip, &err);
        T_TRUE(status == TTS_OK || status == TTS_E_INVALID);
        struct tts_pool_layout layout;
        for (unsigned p = 0; p < TTS_POOLS; p++) {
            enum tts_status pool = tts_chip_pool(&chip, (enum tts_pool)p, &layout, &err);
            T_TRUE(status != TTS_OK ? pool == status
                                    : pool == TTS_OK || pool == TTS_E_NOT_FOUND);
        }
    }
}

T_TEST(all_of_dram_can_be_counted)
{
    struct tts_chip chip;
    struct tts_error err = {0};
    T_EQ(tts_chip_preset("n150", &chip, NULL), TTS_OK);
    /* This is 2^46. */
    T_EQ(tts_chip_set(&chip, "dram_bank_size", "70368744177664", NULL), TTS_OK);
    T_EQ(tts_chip_set(&chip, "dram_banks", "131072", NULL), TTS_OK);
    T_EQ(tts_chip_check(&chip, NULL), TTS_OK); /* the product is 2^63 */
    T_EQ(tts_chip_set(&chip, "dram_banks", "262144", NULL), TTS_OK);
    T_EQ(tts_chip_check(&chip, &err), TTS_E_INVALID);
    T_STR_EQ(err.text, "'dram_banks' times 'dram_bank_size' does not fit in 64 bits");
}
