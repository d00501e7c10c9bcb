#include "harness/chip_tools.h"
#include "harness/t.h"

#include <stdio.h>

enum { NONE = -1 }; /* a value that is unknown */

/* The table of architectures: a key, and its values for Grayskull, Wormhole, Blackhole and
 * Quasar. */
static const struct {
    enum tts_fact_key key;
    int64_t values[4];
} arch_facts[] = {
    {TTS_FACT_DRAM_ALIGNMENT, {32, 32, 64, 64}},
    {TTS_FACT_L1_ALIGNMENT, {16, 16, 16, 16}},
    {TTS_FACT_PCIE_ALIGNMENT, {NONE, 32, 64, NONE}},
    {TTS_FACT_DRAM_BANKS, {NONE, 12, 8, NONE}},
    {TTS_FACT_DRAM_BANK_SIZE, {NONE, 1073741824, 4278190080, NONE}},
    {TTS_FACT_DRAM_CHANNEL_BANKS, {NONE, 2, 1, NONE}},
    {TTS_FACT_PROFILER_RECORD, {NONE, 48, 48, NONE}},
    {TTS_FACT_PROFILER_PROGRAMS, {NONE, 1000, 1000, NONE}},
    {TTS_FACT_PROFILER_RISCS, {NONE, 5, 5, NONE}},
    {TTS_FACT_PROFILER_CORES, {NONE, 8, 20, NONE}},
    {TTS_FACT_DRAM_PRINT, {NONE, 1048576, 1048576, NONE}},
    {TTS_FACT_DRAM_QUEUES, {NONE, 0, 0, NONE}},
    {TTS_FACT_DRAM_BASE, {NONE, 2968640, 5848704, NONE}},
    {TTS_FACT_TRACE_REGION, {0, 0, 0, 0}},
    {TTS_FACT_L1_SIZE, {1048576, 1499136, 1572864, 4194304}},
    {TTS_FACT_MAILBOX_BASE, {16, 16, 96, 16}},
    {TTS_FACT_MAILBOX_SIZE, {12640, 13296, 13424, 59632}},
    {TTS_FACT_ZEROS_BASE, {12672, 13312, 13536, NONE}},
    {TTS_FACT_ZEROS_SIZE, {512, 512, 512, NONE}},
    {TTS_FACT_LLK_DEBUG_BASE, {NONE, 13824, 14048, 59648}},
    {TTS_FACT_LLK_DEBUG_SIZE, {NONE, 1024, 1024, 1024}},
    {TTS_FACT_FIRMWARE_BASE, {13184, 14848, 15072, NONE}},
    {TTS_FACT_NOC_COUNTERS_BASE, {29712, 29216, 34016, 194048}},
    {TTS_FACT_FABRIC_TABLE_BASE, {NONE, 29472, 34272, 194384}},
    {TTS_FACT_PACKET_POOL_BASE, {NONE, 32704, 37504, 197616}},
    {TTS_FACT_PACKET_POOL_SIZE, {NONE, 2304, 3456, 13824}},
    {TTS_FACT_L1_MAP_END, {29728, 35008, 40960, 211440}},
    {TTS_FACT_KERNEL_CONFIG, {70656, 70656, 70656, 102400}},
    {TTS_FACT_WORKER_L1, {0, 0, 0, 0}},
    {TTS_FACT_L1_BASE, {100384, 105664, 111616, 313856}},
    {TTS_FACT_L1_SMALL, {0, 0, 0, 0}},
    {TTS_FACT_DISPATCH, {NONE, TTS_DISPATCH_ROW, TTS_DISPATCH_COLUMN, NONE}},
    {TTS_FACT_MAX_CBS, {32, 32, 64, 64}},
    {TTS_FACT_BRISC_PRIVATE, {4096, 4096, 8192, 8192}},
    {TTS_FACT_NCRISC_PRIVATE, {4096, 4096, 8192, 8192}},
    {TTS_FACT_TRISC_PRIVATE, {2048, 2048, 4096, 4096}},
};

T_TEST(every_architecture_has_the_numbers_of_the_table)
{
    static const char *const presets[] = {"grayskull", "n150", "blackhole", "quasar"};
    for (size_t a = 0; a < 4; a++) {
        struct tts_chip chip = chip_of(presets[a]);
        T_EQ(chip.arch, a);
        for (size_t i = 0; i < sizeof(arch_facts) / sizeof(arch_facts[0]); i++) {
            const struct tts_fact *fact = &chip.fact[arch_facts[i].key];
            int64_t expected = arch_facts[i].values[a];
            T_EQ(fact->origin == TTS_ORIGIN_UNKNOWN, expected == NONE);
            T_EQ(fact->value, expected == NONE ? 0 : (uint64_t)expected);
        }
    }
}

T_TEST(the_table_of_architectures_misses_only_what_boards_say)
{
    /* The table has all facts except CHIPS, TENSIX_GRID and GRID. */
    T_EQ(sizeof(arch_facts) / sizeof(arch_facts[0]), TTS_FACTS - 3);
}

/* The table of boards: the name, the Tensix grid and the compute grid. */
static const struct {
    const char *name;
    enum tts_arch arch;
    enum tts_origin cores_origin;
    uint32_t chips, dram_banks, columns, rows; /* columns and rows: 0 if unknown */
    uint32_t cores[TTS_DISPATCHES];
} boards[] = {
    {"n150", TTS_ARCH_WORMHOLE, TTS_ORIGIN_KNOWN, 1, 12, 8, 9, {64, 63, 64, 72}},
    {"n300", TTS_ARCH_WORMHOLE, TTS_ORIGIN_KNOWN, 2, 12, 8, 8, {56, 56, 64, 64}},
    {"t3k", TTS_ARCH_WORMHOLE, TTS_ORIGIN_KNOWN, 8, 12, 8, 8, {56, 56, 64, 64}},
    {"galaxy", TTS_ARCH_WORMHOLE, TTS_ORIGIN_KNOWN, 32, 12, 8, 10, {72, 70, 80, 80}},
    {"tg-gateway", TTS_ARCH_WORMHOLE, TTS_ORIGIN_INFERRED, 1, 12, 8, 9, {16, 16, 0, 72}},
    {"p100", TTS_ARCH_BLACKHOLE, TTS_ORIGIN_INFERRED, 1, 7, 12, 10, {108, 110, 120, 120}},
    {"p150", TTS_ARCH_BLACKHOLE, TTS_ORIGIN_INFERRED, 1, 8, 12, 10, {108, 110, 120, 120}},
    {"p150-12", TTS_ARCH_BLACKHOLE, TTS_ORIGIN_INFERRED, 1, 8, 13, 10, {117, 120, 130, 130}},
    {"p150-13", TTS_ARCH_BLACKHOLE, TTS_ORIGIN_INFERRED, 1, 8, 14, 10, {126, 130, 140, 140}},
    {"p300", TTS_ARCH_BLACKHOLE, TTS_ORIGIN_INFERRED, 2, 8, 12, 10, {108, 110, 120, 120}},
    {"bh-quietbox",
     TTS_ARCH_BLACKHOLE,
     TTS_ORIGIN_INFERRED,
     4,
     8,
     12,
     10,
     {108, 110, 120, 120}},
    {"blackhole", TTS_ARCH_BLACKHOLE, TTS_ORIGIN_KNOWN, 1, 8, 14, 10, {126, 130, 140, 140}},
    {"galaxy-blackhole", TTS_ARCH_BLACKHOLE, TTS_ORIGIN_UNKNOWN, 32, 8, 0, 0, {0, 0, 0, 0}},
    {"grayskull", TTS_ARCH_GRAYSKULL, TTS_ORIGIN_UNKNOWN, 1, 0, 0, 0, {0, 0, 0, 0}},
    {"quasar", TTS_ARCH_QUASAR, TTS_ORIGIN_UNKNOWN, 1, 0, 0, 0, {0, 0, 0, 0}},
};

enum { BOARDS = sizeof(boards) / sizeof(boards[0]) };

static uint32_t cores_of(uint64_t grid)
{
    return TTS_GRID_COLUMNS(grid) * TTS_GRID_ROWS(grid);
}

T_TEST(every_preset_has_the_cores_of_the_table_under_every_dispatch)
{
    for (size_t i = 0; i < BOARDS; i++) {
        struct tts_chip chip = chip_of(boards[i].name);
        T_EQ(chip.arch, boards[i].arch);
        T_EQ(value_of(&chip, TTS_FACT_CHIPS), boards[i].chips);
        T_EQ(chip.fact[TTS_FACT_DRAM_BANKS].value, boards[i].dram_banks);
        T_EQ(chip.fact[TTS_FACT_TENSIX_GRID].origin, boards[i].cores_origin);
        T_EQ(chip.fact[TTS_FACT_TENSIX_GRID].value,
             TTS_GRID(boards[i].columns, boards[i].rows));
        for (unsigned d = 0; d < TTS_DISPATCHES; d++) {
            set(&chip, "dispatch", tts_dispatch_name((enum tts_dispatch)d));
            T_EQ(chip.fact[TTS_FACT_GRID].origin, boards[i].cores_origin);
            T_EQ(cores_of(chip.fact[TTS_FACT_GRID].value), boards[i].cores[d]);
            T_EQ(chip.grids[d].value, chip.fact[TTS_FACT_GRID].value);
        }
    }
}

T_TEST(presets_are_those_of_the_table_and_pass_their_own_check)
{
    for (size_t i = 0; i < BOARDS; i++) {
        const struct tts_preset *preset = tts_preset_at(i);
        T_TRUE(preset != NULL);
        T_STR_EQ(preset->name, boards[i].name);
        T_EQ(preset->arch, boards[i].arch);
        T_TRUE(strlen(preset->title) > 10);
        struct tts_chip chip = chip_of(preset->name);
        T_STR_EQ(chip.name, preset->name);
        struct tts_error err;
        T_EQ(tts_chip_check(&chip, &err), TTS_OK);
    }
    T_TRUE(tts_preset_at(BOARDS) == NULL);
    T_TRUE(tts_preset_at(SIZE_MAX) == NULL);
}

T_TEST(a_title_names_the_cores_and_banks_that_the_preset_has)
{
    for (size_t i = 0; i < BOARDS; i++) {
        struct tts_chip chip = chip_of(boards[i].name);
        char part[40];
        if (chip.fact[TTS_FACT_GRID].origin == TTS_ORIGIN_UNKNOWN) {
            T_TRUE(strstr(tts_preset_at(i)->title, "not known") != NULL);
        } else {
            snprintf(part, sizeof part, " %u ", cores_of(chip.fact[TTS_FACT_GRID].value));
            T_TRUE(strstr(tts_preset_at(i)->title, part) != NULL);
        }
        snprintf(part, sizeof part, "%u DRAM banks", boards[i].dram_banks);
        T_EQ(strstr(tts_preset_at(i)->title, part) != NULL, boards[i].dram_banks > 0);
        snprintf(part, sizeof part, "%u chip", boards[i].chips);
        T_TRUE(strstr(tts_preset_at(i)->title, part) || strstr(boards[i].name, "gateway"));
    }
}

T_TEST(a_variant_is_asked_for_as_the_text_says)
{
    T_TRUE(strstr(tts_preset_at(6)->variants, "p150-12") != NULL);
    T_TRUE(strstr(tts_preset_at(6)->variants, "p150-13") != NULL);
    static const struct {
        const char *tensix, *preset;
    } same[] = {{"12x10", "p150"}, {"13x10", "p150-12"}, {"14x10", "p150-13"}};
    for (size_t i = 0; i < 3; i++) {
        struct tts_chip asked = chip_of("p150"), named = chip_of(same[i].preset);
        set(&asked, "tensix_grid", same[i].tensix);
        T_EQ(value_of(&asked, TTS_FACT_GRID), value_of(&named, TTS_FACT_GRID));
    }
}

T_TEST(every_fact_says_where_it_is_from_and_only_unknown_ones_do_not)
{
    for (size_t i = 0; i < BOARDS; i++) {
        struct tts_chip chip = chip_of(boards[i].name);
        for (size_t k = 0; k < TTS_FACTS + TTS_DISPATCHES; k++) {
            const struct tts_fact *fact =
                k < TTS_FACTS ? &chip.fact[k] : &chip.grids[k - TTS_FACTS];
            T_TRUE(fact->source != NULL);
            T_EQ(fact->source[0] == '\0', fact->origin == TTS_ORIGIN_UNKNOWN);
            T_TRUE(fact->origin != TTS_ORIGIN_SET);
            T_TRUE(fact->origin != TTS_ORIGIN_UNKNOWN || fact->value == 0);
        }
    }
    struct tts_chip p100 = chip_of("p100"), p150 = chip_of("p150");
    T_EQ(p100.fact[TTS_FACT_DRAM_BANKS].origin, TTS_ORIGIN_INFERRED);
    T_EQ(p150.fact[TTS_FACT_DRAM_BANKS].origin, TTS_ORIGIN_KNOWN);
    T_EQ(p150.fact[TTS_FACT_DRAM_BASE].origin, TTS_ORIGIN_DERIVED);
    T_EQ(p150.fact[TTS_FACT_L1_BASE].origin, TTS_ORIGIN_DERIVED);
}

T_TEST(a_preset_is_found_by_every_other_name_that_users_type)
{
    static const char *const names[][2] = {
        {"t3000", "t3k"}, {"n300s", "n300"}, {"p150a", "p150"}, {"P150B", "p150"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        T_STR_EQ(chip_of(names[i][0]).name, names[i][1]);
    struct tts_chip chip;
    struct tts_error err;
    T_EQ(tts_chip_preset("t30000", &chip, &err), TTS_E_NOT_FOUND);
    T_TRUE(says(&err, "did you mean 't3000'"));
}

T_TEST(a_preset_is_found_in_any_case_and_a_wrong_name_meets_the_nearest)
{
    T_STR_EQ(chip_of("N150").name, "n150");
    T_STR_EQ(chip_of("Galaxy_Blackhole").name, "galaxy-blackhole");
    struct tts_chip chip, before;
    memset(&chip, 0x5a, sizeof chip);
    memcpy(&before, &chip, sizeof chip);
    struct tts_error err;
    T_EQ(tts_chip_preset("p140", &chip, &err), TTS_E_NOT_FOUND);
    T_TRUE(says(&err, "'p140'") && says(&err, "did you mean 'p1"));
    T_EQ(tts_chip_preset("wromhole", &chip, &err), TTS_E_NOT_FOUND);
    T_TRUE(says(&err, "'wromhole'") && !says(&err, "did you mean"));
    T_EQ(tts_chip_preset("", &chip, NULL), TTS_E_NOT_FOUND);
    T_MEM_EQ(&chip, &before, sizeof chip);
}

T_TEST(a_name_of_any_length_is_no_preset)
{
    char longest[300];
    struct tts_chip chip;
    struct tts_error err;
    memset(longest, 'n', sizeof longest);
    for (size_t len = 1; len < sizeof longest; len++) {
        longest[len] = '\0';
        T_EQ(tts_chip_preset(longest, &chip, &err), TTS_E_NOT_FOUND);
        T_EQ(tts_chip_set(&chip, longest, "1", &err), TTS_E_NOT_FOUND);
        longest[len] = 'n';
    }
}

/* ---- names ---- */

T_TEST(names_are_the_words_that_the_header_promises)
{
    T_STR_EQ(tts_arch_name(TTS_ARCH_GRAYSKULL), "grayskull");
    T_STR_EQ(tts_arch_name(TTS_ARCH_WORMHOLE), "wormhole");
    T_STR_EQ(tts_arch_name(TTS_ARCH_BLACKHOLE), "blackhole");
    T_STR_EQ(tts_arch_name(TTS_ARCH_QUASAR), "quasar");
    T_STR_EQ(tts_origin_name(TTS_ORIGIN_UNKNOWN), "unknown");
    T_STR_EQ(tts_origin_name(TTS_ORIGIN_KNOWN), "known");
    T_STR_EQ(tts_origin_name(TTS_ORIGIN_INFERRED), "inferred");
    T_STR_EQ(tts_origin_name(TTS_ORIGIN_DERIVED), "derived");
    T_STR_EQ(tts_origin_name(TTS_ORIGIN_SET), "set");
    T_STR_EQ(tts_dispatch_name(TTS_DISPATCH_ROW), "row");
    T_STR_EQ(tts_dispatch_name(TTS_DISPATCH_COLUMN), "column");
    T_STR_EQ(tts_dispatch_name(TTS_DISPATCHES), "unknown");
    T_STR_EQ(tts_fact_name(TTS_FACT_L1_MAP_END), "l1_map_end");
    T_EQ(tts_fact_unit(TTS_FACT_L1_MAP_END), TTS_UNIT_BYTES);
    T_EQ(tts_fact_unit(TTS_FACT_CHIPS), TTS_UNIT_COUNT);
    T_STR_EQ(tts_fact_meaning(TTS_FACT_L1_SIZE), "size of the L1 of a core");
}

T_TEST(texts_of_the_largest_values_fit)
{
    char text[TTS_FACT_TEXT_MAX];
    struct tts_fact fact = {UINT64_MAX, TTS_ORIGIN_SET, ""};
    T_STR_EQ(tts_fact_text(TTS_FACT_L1_SIZE, &fact, text), "18446744073709551615");
    T_STR_EQ(tts_fact_text(TTS_FACT_GRID, &fact, text), "4294967295x4294967295");
    T_STR_EQ(tts_fact_text(TTS_FACT_DISPATCH, &fact, text), "unknown");
}
