#include "harness/chip_tools.h"
#include "harness/t.h"

static struct tts_pool_layout pool_of(const struct tts_chip *chip, enum tts_pool pool)
{
    struct tts_pool_layout layout;
    struct tts_error err;
    T_EQ(tts_chip_pool(chip, pool, &layout, &err), TTS_OK);
    return layout;
}

static void same(struct tts_pool_layout a, struct tts_pool_layout b)
{
    T_EQ(a.banks, b.banks);
    T_EQ(a.bank_bytes, b.bank_bytes);
    T_EQ(a.offset_bytes, b.offset_bytes);
    T_EQ(a.nominal_bytes, b.nominal_bytes);
    T_EQ(a.page_alignment_bytes, b.page_alignment_bytes);
    T_EQ(a.bank_page_alignment_bytes, b.bank_page_alignment_bytes);
    T_EQ(a.block_alignment_bytes, b.block_alignment_bytes);
    T_EQ(a.limit, b.limit);
    T_EQ(a.direction, b.direction);
}

/* The values are banks, bank bytes, offset, nominal bytes, three alignments (of a page, of a
 * page in a bank, of a block), limit and direction. */
static const struct tts_pool_layout wormhole_dram = {
    12, 1070773184, 2968640, 1073741824, 32, 32, 32, 0, TTS_DIRECTION_UP};
static const struct tts_pool_layout wormhole_l1 = {64, 1393472, 105664, 1499136,           16,
                                                   16, 32,      105664, TTS_DIRECTION_DOWN};
static const struct tts_pool_layout blackhole_dram = {
    8, 4272341376, 5848704, 4278190080, 64, 64, 64, 0, TTS_DIRECTION_UP};
static const struct tts_pool_layout blackhole_l1 = {130, 1461248, 111616, 1572864,           16,
                                                    16,  64,      111616, TTS_DIRECTION_DOWN};

T_TEST(every_preset_has_the_pools_of_its_architecture)
{
    static const struct {
        const char *name;
        bool wormhole;
        uint32_t dram_banks, l1_banks;
    } presets[] = {
        {"n150", true, 12, 64},   {"n300", true, 12, 56},       {"t3k", true, 12, 56},
        {"galaxy", true, 12, 72}, {"tg-gateway", true, 12, 16}, {"p100", false, 7, 110},
        {"p150", false, 8, 110},  {"p150-12", false, 8, 120},   {"p150-13", false, 8, 130},
        {"p300", false, 8, 110},  {"blackhole", false, 8, 130},
    };
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        struct tts_chip chip = chip_of(presets[i].name);
        struct tts_pool_layout dram = presets[i].wormhole ? wormhole_dram : blackhole_dram;
        struct tts_pool_layout l1 = presets[i].wormhole ? wormhole_l1 : blackhole_l1;
        dram.banks = presets[i].dram_banks;
        l1.banks = presets[i].l1_banks;
        same(pool_of(&chip, TTS_POOL_DRAM), dram);
        same(pool_of(&chip, TTS_POOL_L1), l1);
    }
}

T_TEST(the_usable_dram_of_a_chip_is_that_of_the_table)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } totals[] = {{"n150", UINT64_C(12849278208)},
                  {"p150", UINT64_C(34178731008)},
                  {"p100", UINT64_C(29906389632)}};
    for (size_t i = 0; i < 3; i++) {
        struct tts_chip chip = chip_of(totals[i].name);
        struct tts_pool_layout dram = pool_of(&chip, TTS_POOL_DRAM);
        T_EQ(dram.banks * dram.bank_bytes, totals[i].bytes);
    }
}

T_TEST(a_pool_of_no_bytes_has_no_banks)
{
    struct tts_chip chip = chip_of("n150");
    same(pool_of(&chip, TTS_POOL_TRACE),
         (struct tts_pool_layout){0, 0, 1073741824, 0, 32, 32, 32, 0, TTS_DIRECTION_UP});
    same(pool_of(&chip, TTS_POOL_L1_SMALL),
         (struct tts_pool_layout){0, 0, 1499136, 0, 16, 16, 32, 0, TTS_DIRECTION_DOWN});
}

T_TEST(a_trace_region_is_taken_off_the_top_of_every_dram_bank)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "trace_region", "95693824");
    struct tts_pool_layout dram = wormhole_dram;
    dram.bank_bytes = 1062794176;
    same(pool_of(&chip, TTS_POOL_DRAM), dram);
    same(pool_of(&chip, TTS_POOL_TRACE),
         (struct tts_pool_layout){12, 7979008, 1073741824 - 7979008, 7979008, 32, 32, 32, 0,
                                  TTS_DIRECTION_UP});
    T_EQ(chip.fact[TTS_FACT_TRACE_REGION].value, 95693824);
}

/* The size of the trace region is rounded up to the alignment and divided by the number of
 * banks. Then the part of a bank is rounded up to 8192. */
T_TEST(the_trace_part_of_a_bank_is_rounded_twice)
{
    static const struct {
        const char *preset, *region;
        uint64_t of_bank;
    } cases[] = {
        {"n150", "1", 8192},      {"n150", "98304", 8192},  {"n150", "98305", 16384},
        {"p150", "65536", 8192},  {"p150", "65537", 16384}, {"p100", "57344", 8192},
        {"p100", "57345", 16384}, {"p100", "57280", 8192},  {"n150", "196608", 16384},
        {"n150", "12G", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tts_chip chip = chip_of(cases[i].preset);
        set(&chip, "trace_region", cases[i].region);
        struct tts_pool_layout trace, dram;
        if (cases[i].of_bank == 0) {
            T_EQ(tts_chip_pool(&chip, TTS_POOL_TRACE, &trace, NULL), TTS_E_INVALID);
            continue;
        }
        trace = pool_of(&chip, TTS_POOL_TRACE);
        dram = pool_of(&chip, TTS_POOL_DRAM);
        T_EQ(trace.bank_bytes, cases[i].of_bank);
        T_EQ(trace.offset_bytes, dram.offset_bytes + dram.bank_bytes);
        T_EQ(trace.offset_bytes + trace.bank_bytes, dram.nominal_bytes);
    }
    /* With a single bank and a large alignment only the first rounding matters. */
    struct tts_chip chip = chip_of("n150");
    set(&chip, "dram_alignment", "1M");
    set(&chip, "dram_banks", "1");
    set(&chip, "l1_base", "105664");
    set(&chip, "trace_region", "1");
    T_EQ(pool_of(&chip, TTS_POOL_TRACE).bank_bytes, 1 << 20);
    /* With a small alignment the part is not a whole number of bytes, and is rounded up. */
    set(&chip, "dram_alignment", "1");
    set(&chip, "dram_banks", "12");
    set(&chip, "trace_region", "98305");
    T_EQ(pool_of(&chip, TTS_POOL_TRACE).bank_bytes, 16384);
}

T_TEST(l1_small_is_at_the_top_of_l1_and_rounded_to_the_dram_alignment)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "l1_small", "30800");
    T_EQ(chip.fact[TTS_FACT_L1_SMALL].value, 30800);
    same(pool_of(&chip, TTS_POOL_L1_SMALL),
         (struct tts_pool_layout){64, 30816, 1499136 - 30816, 30816, 16, 16, 32, 0,
                                  TTS_DIRECTION_DOWN});
    struct tts_pool_layout l1 = wormhole_l1;
    l1.bank_bytes -= 30816;
    same(pool_of(&chip, TTS_POOL_L1), l1);
}

T_TEST(l1_asked_for_at_open_is_what_the_pool_has)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "worker_l1", "1344544");
    struct tts_pool_layout l1 = pool_of(&chip, TTS_POOL_L1);
    T_EQ(l1.offset_bytes, 154592);
    T_EQ(l1.limit, 154592);
    T_EQ(l1.bank_bytes, 1344544);
}

/* The sizes of L1 banks from messages of the runtime, with the base and the L1_SMALL of the
 * version that printed them. */
T_TEST(bank_sizes_of_real_messages_come_out)
{
    static const struct {
        const char *issue, *base, *small;
        uint64_t bank_bytes;
    } messages[] = {{"tt-mlir#8044", "103712", "65536", 1329888},
                    {"tt-metal#35431", "102656", "65536", 1330944},
                    {"tt-xla#2659", "102208", "65536", 1331392},
                    {"tt-xla#1722", "101440", "32768", 1364928}};
    for (size_t i = 0; i < 4; i++) {
        struct tts_chip chip = chip_of("n300");
        set(&chip, "l1_base", messages[i].base);
        set(&chip, "l1_small", messages[i].small);
        T_EQ(pool_of(&chip, TTS_POOL_L1).bank_bytes, messages[i].bank_bytes);
    }
}

T_TEST(an_unknown_fact_is_named_and_nothing_is_written)
{
    static const struct {
        const char *preset;
        enum tts_pool pool;
        const char *key;
    } cases[] = {
        {"galaxy-blackhole", TTS_POOL_L1, "'grid'"},
        {"quasar", TTS_POOL_L1, "'grid'"},
        {"grayskull", TTS_POOL_L1, "'grid'"},
        {"quasar", TTS_POOL_DRAM, "'dram_banks'"},
        {"grayskull", TTS_POOL_TRACE, "'dram_banks'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tts_chip chip = chip_of(cases[i].preset);
        struct tts_pool_layout layout, before;
        memset(&layout, 0x5a, sizeof layout);
        memcpy(&before, &layout, sizeof layout);
        struct tts_error err;
        T_EQ(tts_chip_pool(&chip, cases[i].pool, &layout, &err), TTS_E_NOT_FOUND);
        T_TRUE(strstr(err.text, cases[i].key) && strstr(err.text, cases[i].preset));
        T_MEM_EQ(&layout, &before, sizeof layout);
    }
    struct tts_chip galaxy = chip_of("galaxy-blackhole");
    same(pool_of(&galaxy, TTS_POOL_DRAM), blackhole_dram);
    T_EQ(pool_of(&galaxy, TTS_POOL_L1_SMALL).banks, 0);
    set(&galaxy, "l1_small", "64");
    struct tts_pool_layout layout;
    T_EQ(tts_chip_pool(&galaxy, TTS_POOL_L1_SMALL, &layout, NULL), TTS_E_NOT_FOUND);
}

T_TEST(each_fact_that_a_pool_needs_is_asked_for)
{
    static const struct {
        enum tts_pool pool;
        enum tts_fact_key keys[6];
        size_t count;
    } needs[] = {
        {TTS_POOL_DRAM,
         {TTS_FACT_DRAM_BANKS, TTS_FACT_DRAM_BANK_SIZE, TTS_FACT_DRAM_BASE,
          TTS_FACT_DRAM_ALIGNMENT, TTS_FACT_TRACE_REGION},
         5},
        {TTS_POOL_TRACE,
         {TTS_FACT_DRAM_BANKS, TTS_FACT_DRAM_BANK_SIZE, TTS_FACT_DRAM_ALIGNMENT,
          TTS_FACT_TRACE_REGION},
         4},
        {TTS_POOL_L1,
         {TTS_FACT_GRID, TTS_FACT_L1_SIZE, TTS_FACT_L1_BASE, TTS_FACT_L1_SMALL,
          TTS_FACT_L1_ALIGNMENT, TTS_FACT_DRAM_ALIGNMENT},
         6},
        {TTS_POOL_L1_SMALL,
         {TTS_FACT_GRID, TTS_FACT_L1_SIZE, TTS_FACT_L1_SMALL, TTS_FACT_L1_ALIGNMENT,
          TTS_FACT_DRAM_ALIGNMENT},
         5},
    };
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        for (size_t k = 0; k < needs[i].count; k++) {
            struct tts_chip chip = chip_of("n150");
            set(&chip, "l1_small", "64");
            chip.fact[needs[i].keys[k]].origin = TTS_ORIGIN_UNKNOWN;
            struct tts_pool_layout layout;
            struct tts_error err;
            T_EQ(tts_chip_pool(&chip, needs[i].pool, &layout, &err), TTS_E_NOT_FOUND);
            T_TRUE(strstr(err.text, tts_fact_name(needs[i].keys[k])) != NULL);
        }
    }
}

T_TEST(pools_have_names)
{
    T_STR_EQ(tts_pool_name(TTS_POOL_DRAM), "DRAM");
    T_STR_EQ(tts_pool_name(TTS_POOL_L1), "L1");
    T_STR_EQ(tts_pool_name(TTS_POOL_L1_SMALL), "L1_SMALL");
    T_STR_EQ(tts_pool_name(TTS_POOL_TRACE), "TRACE");
    T_STR_EQ(tts_pool_name(TTS_POOLS), "unknown");
}

/* ---- parts of L1 ---- */

#define GROWS "circular buffers up, L1 buffers down"

struct expected_part {
    const char *name;
    uint64_t end;
};

static void parts_are(const struct tts_chip *chip, const struct expected_part *expected,
                      size_t count)
{
    struct tts_l1_part parts[TTS_L1_PARTS_MAX];
    struct tts_error err;
    T_EQ(tts_chip_l1_parts(chip, parts, &err), count);
    uint64_t start = 0;
    for (size_t i = 0; i < count; i++) {
        T_STR_EQ(parts[i].name, expected[i].name);
        T_EQ(parts[i].start, start);
        T_EQ(parts[i].end, expected[i].end);
        T_EQ(parts[i].grows, strcmp(expected[i].name, GROWS) == 0);
        start = parts[i].end;
    }
}

#define PARTS_ARE(chip, ...)                                                                   \
    parts_are(chip, (const struct expected_part[]){__VA_ARGS__},                               \
              sizeof((const struct expected_part[]){__VA_ARGS__}) /                            \
                  sizeof(struct expected_part))

T_TEST(the_l1_of_every_architecture_is_laid_out_as_the_table_says)
{
    struct tts_chip chip = chip_of("n150");
    PARTS_ARE(&chip, {"boot", 16}, {"mailboxes", 13312}, {"zeros", 13824}, {"LLK debug", 14848},
              {"firmware", 29216}, {"NoC counters", 29472}, {"fabric routing table", 32704},
              {"packet headers", 35008}, {"kernel-config ring", 105664}, {GROWS, 1499136});
    chip = chip_of("p150");
    PARTS_ARE(&chip, {"boot", 96}, {"mailboxes", 13520}, {"reserved", 13536}, {"zeros", 14048},
              {"LLK debug", 15072}, {"firmware", 34016}, {"NoC counters", 34272},
              {"fabric routing table", 37504}, {"packet headers", 40960},
              {"kernel-config ring", 111616}, {GROWS, 1572864});
    chip = chip_of("grayskull");
    PARTS_ARE(&chip, {"boot", 16}, {"mailboxes", 12656}, {"reserved", 12672}, {"zeros", 13184},
              {"firmware", 29712}, {"NoC counters", 29728}, {"kernel-config ring", 100384},
              {GROWS, 1048576});
    chip = chip_of("quasar");
    PARTS_ARE(&chip, {"boot", 16}, {"mailboxes", 59648}, {"LLK debug", 60672},
              {"reserved", 194048}, {"NoC counters", 194384}, {"fabric routing table", 197616},
              {"packet headers", 211440}, {"kernel-config ring", 313856}, {GROWS, 4194304});
}

T_TEST(what_was_set_moves_the_parts)
{
    struct tts_chip chip = chip_of("quasar");
    set(&chip, "l1_small", "1");
    /* The mailboxes begin at l1_map_end, so they are not part of the map. */
    set(&chip, "mailbox_base", "211440");
    set(&chip, "llk_debug_size", "151793");
    set(&chip, "noc_counters_base", "0");
    set(&chip, "packet_pool_size", "13825");
    set(&chip, "l1_base", "211440");
    PARTS_ARE(&chip, {"NoC counters", 194384}, {"fabric routing table", 211440},
              {GROWS, 4194304 - 64}, {"L1_SMALL", 4194304});
}

T_TEST(what_lies_below_an_unknown_piece_is_reserved)
{
    struct tts_chip chip = chip_of("n150");
    chip.fact[TTS_FACT_MAILBOX_BASE].origin = TTS_ORIGIN_UNKNOWN;
    chip.fact[TTS_FACT_LLK_DEBUG_SIZE].origin = TTS_ORIGIN_UNKNOWN;
    chip.fact[TTS_FACT_FABRIC_TABLE_BASE].origin = TTS_ORIGIN_UNKNOWN;
    PARTS_ARE(&chip, {"reserved", 13312}, {"zeros", 13824}, {"reserved", 14848},
              {"firmware", 29216}, {"NoC counters", 32704}, {"packet headers", 35008},
              {"kernel-config ring", 105664}, {GROWS, 1499136});
}

T_TEST(no_parts_without_their_facts)
{
    static const enum tts_fact_key keys[] = {TTS_FACT_L1_SIZE, TTS_FACT_L1_MAP_END,
                                             TTS_FACT_L1_BASE, TTS_FACT_L1_SMALL,
                                             TTS_FACT_DRAM_ALIGNMENT};
    struct tts_l1_part parts[TTS_L1_PARTS_MAX];
    struct tts_error err;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct tts_chip chip = chip_of("n150");
        chip.fact[keys[i]].origin = TTS_ORIGIN_UNKNOWN;
        T_EQ(tts_chip_l1_parts(&chip, parts, &err), 0);
        T_EQ(err.status, TTS_E_NOT_FOUND);
        T_TRUE(strstr(err.text, tts_fact_name(keys[i])) != NULL);
    }
    struct tts_chip chip = chip_of("n150");
    set(&chip, "l1_base", "1");
    T_EQ(tts_chip_l1_parts(&chip, parts, &err), 0);
    T_EQ(err.status, TTS_E_INVALID);
}

/* The values are near the edges of the map, so that regions overlap in all ways. */
T_TEST(parts_tile_l1_whatever_is_set)
{
    static const char *const presets[] = {"n150", "p150", "grayskull", "quasar"};
    static const enum tts_fact_key keys[] = {
        TTS_FACT_MAILBOX_BASE,     TTS_FACT_MAILBOX_SIZE,      TTS_FACT_ZEROS_BASE,
        TTS_FACT_ZEROS_SIZE,       TTS_FACT_LLK_DEBUG_BASE,    TTS_FACT_LLK_DEBUG_SIZE,
        TTS_FACT_FIRMWARE_BASE,    TTS_FACT_NOC_COUNTERS_BASE, TTS_FACT_FABRIC_TABLE_BASE,
        TTS_FACT_PACKET_POOL_BASE, TTS_FACT_PACKET_POOL_SIZE,  TTS_FACT_L1_MAP_END,
        TTS_FACT_L1_BASE,          TTS_FACT_L1_SMALL,          TTS_FACT_KERNEL_CONFIG};
    uint64_t rng = 11;
    size_t most = 0, good = 0;
    for (int i = 0; i < 100000; i++) {
        struct tts_chip chip = chip_of(presets[t_random(&rng) % 4]);
        for (size_t n = t_random(&rng) % 12; n > 0; n--) {
            struct tts_fact *fact = &chip.fact[keys[t_random(&rng) % 15]];
            fact->value = t_random(&rng) >> (64 - t_random(&rng) % 20 - 1);
            fact->origin = t_random(&rng) % 4 ? TTS_ORIGIN_SET : TTS_ORIGIN_UNKNOWN;
        }
        struct tts_l1_part parts[TTS_L1_PARTS_MAX];
        struct tts_error err;
        size_t count = tts_chip_l1_parts(&chip, parts, &err);
        if (count == 0)
            continue;
        good++;
        most = count > most ? count : most;
        T_TRUE(count <= TTS_L1_PARTS_MAX && parts[0].start == 0);
        for (size_t p = 0; p < count; p++) {
            T_TRUE(parts[p].end > parts[p].start);
            T_TRUE(p == 0 || parts[p].start == parts[p - 1].end);
        }
        T_EQ(parts[count - 1].end, chip.fact[TTS_FACT_L1_SIZE].value);
    }
    T_TRUE(good > 10000 && most > 11);
}
