#include "analysis/failure/failverdict.h"

#include "analysis/failure/failadvice.h"
#include "harness/t.h"

#include <string.h>

static struct tts_failmsg msg;
static struct tts_failverdict verdict;
static struct tts_failadvice advice;

static void begin(enum tts_failmsg_family family)
{
    msg = (struct tts_failmsg){.family = family, .line = 1};
}

static void set(enum tts_failmsg_field field, uint64_t value)
{
    msg.value[field] = value;
    msg.known |= UINT32_C(1) << field;
}

static void judge(void)
{
    tts_failverdict_make(&msg, &verdict);
    tts_failadvice_make(&msg, &verdict, &advice);
}

static void begin_space(enum tts_failmsg_family family, enum tts_pool pool, uint64_t size,
                        uint64_t banks, uint64_t need)
{
    begin(family);
    msg.has_pool = true;
    msg.pool = pool;
    set(TTS_FAILMSG_REQUESTED, size);
    set(TTS_FAILMSG_BANKS, banks);
    set(TTS_FAILMSG_NEED, need);
}

static void judge_v3(uint64_t need, uint64_t bank, uint64_t allocated, uint64_t free_bytes,
                     uint64_t largest)
{
    begin_space(TTS_FAILMSG_V3, TTS_POOL_DRAM, need * 12, 12, need);
    set(TTS_FAILMSG_BANK, bank);
    set(TTS_FAILMSG_ALLOCATED, allocated);
    set(TTS_FAILMSG_FREE, free_bytes);
    set(TTS_FAILMSG_LARGEST, largest);
    judge();
}

static void check_cause(enum tts_failcause cause, uint64_t deficit)
{
    T_EQ(verdict.cause, cause);
    T_EQ(verdict.has_deficit, deficit > 0);
    T_EQ(verdict.deficit_bytes, deficit);
    T_EQ(verdict.reason[0] == '\0', cause != TTS_FAILCAUSE_UNKNOWN);
    T_TRUE(!verdict.is_contradictory);
}

T_TEST(a_bank_is_judged_by_its_figures)
{
    judge_v3(2000, 1000, 400, 600, 600);
    check_cause(TTS_FAILCAUSE_NEVER_FITS, 1000);
    judge_v3(700, 1000, 400, 600, 600);
    check_cause(TTS_FAILCAUSE_CAPACITY, 100);
    judge_v3(601, 1000, 400, 600, 600);
    check_cause(TTS_FAILCAUSE_CAPACITY, 1);
    judge_v3(600, 1000, 400, 600, 599);
    check_cause(TTS_FAILCAUSE_FRAGMENTATION, 1);
    judge_v3(16, 0, 0, 0, 0);
    check_cause(TTS_FAILCAUSE_NEVER_FITS, 16);
    judge_v3(600, 1000, 400, 600, 600);
    check_cause(TTS_FAILCAUSE_UNKNOWN, 0);
    T_TRUE(strstr(verdict.reason, "do not explain") != NULL);
    msg.family = TTS_FAILMSG_D2;
    judge();
    T_TRUE(strstr(verdict.reason, "other allocators") != NULL);
}

T_TEST(a_message_without_the_figures_has_no_cause)
{
    begin_space(TTS_FAILMSG_V1, TTS_POOL_DRAM, 1048576, 12, 88064);
    judge();
    check_cause(TTS_FAILCAUSE_UNKNOWN, 0);
    T_TRUE(verdict.decides != NULL);
    begin_space(TTS_FAILMSG_V2, TTS_POOL_L1, 16777216, 8, 2097152);
    set(TTS_FAILMSG_BANK, 1364928);
    judge();
    check_cause(TTS_FAILCAUSE_NEVER_FITS, 732224);
    set(TTS_FAILMSG_BANK, 2097152);
    judge();
    check_cause(TTS_FAILCAUSE_UNKNOWN, 0);
}

T_TEST(contradicting_figures_leave_what_still_holds)
{
    /* 400 + 500 bytes are not 1000, so the figures contradict each other. */
    judge_v3(2000, 1000, 400, 500, 500);
    T_TRUE(verdict.is_contradictory && verdict.reason[0] != '\0');
    T_EQ(verdict.cause, TTS_FAILCAUSE_NEVER_FITS);
    judge_v3(950, 1000, 400, 500, 500); /* the bank has either 1000 or 900 bytes */
    T_TRUE(verdict.is_contradictory);
    T_EQ(verdict.cause, TTS_FAILCAUSE_UNKNOWN);
    judge_v3(700, 1000, 400, 500, 500); /* either 500 or 600 bytes are free */
    T_EQ(verdict.cause, TTS_FAILCAUSE_CAPACITY);
    judge_v3(550, 1000, 400, 500, 500);
    T_EQ(verdict.cause, TTS_FAILCAUSE_UNKNOWN);
    judge_v3(450, 1000, 400, 500, 300);
    T_EQ(verdict.cause, TTS_FAILCAUSE_FRAGMENTATION);
    T_TRUE(!verdict.has_deficit);
    judge_v3(700, 1000, 400, 600, 650); /* the largest block is larger than all free bytes */
    T_TRUE(verdict.is_contradictory);
    judge_v3(10, UINT64_MAX, UINT64_MAX, UINT64_MAX, 5);
    T_TRUE(verdict.is_contradictory);
}

T_TEST(a_number_above_64_bits_leaves_no_cause)
{
    judge_v3(2000, 1000, 400, 600, 600);
    msg.too_large = 1u << TTS_FAILMSG_REQUESTED;
    judge();
    check_cause(TTS_FAILCAUSE_UNKNOWN, 0);
}

static void check_page(uint64_t size, uint64_t banks, uint64_t need, size_t count,
                       uint64_t first)
{
    begin_space(TTS_FAILMSG_V1, TTS_POOL_DRAM, size, banks, need);
    judge();
    T_EQ(verdict.page_count, count);
    if (count > 0)
        T_EQ(verdict.pages[0].bytes, first);
}

T_TEST(the_page_follows_from_the_size_and_the_need)
{
    check_page(499122176, 12, 41594240, 1, 1088);
    check_page(1048576, 12, 88064, 1, 2048);
    check_page(75497472, 12, 6291456, 2, 4096);
    check_page(1000, 12, 96, 0, 0);
}

static void judge_end(enum tts_failmsg_family family, uint64_t end, uint64_t limit)
{
    begin(family);
    set(TTS_FAILMSG_END, end);
    set(family == TTS_FAILMSG_CB ? TTS_FAILMSG_ADDRESS : TTS_FAILMSG_LIMIT, limit);
    judge();
}

static void check_base(uint64_t base, enum tts_arch arch)
{
    T_TRUE(verdict.has_base && verdict.has_arch);
    T_EQ(verdict.l1_base, base);
    T_EQ(verdict.arch, arch);
}

T_TEST(the_base_of_circular_buffers_is_decoded)
{
    judge_end(TTS_FAILMSG_CBMAX, 1721472, 1499136);
    check_base(103552, TTS_ARCH_WORMHOLE);
    judge_end(TTS_FAILMSG_CBMAX, 1683968, 1572864);
    check_base(111104, TTS_ARCH_BLACKHOLE);
    judge_end(TTS_FAILMSG_CBMAX, 1661920, 1499136);
    check_base(97248, TTS_ARCH_WORMHOLE);
    judge_end(TTS_FAILMSG_CBMAX, 2587616, 1499136);
    check_base(97248, TTS_ARCH_WORMHOLE);
    judge_end(TTS_FAILMSG_CB, 890144, 800000);
    check_base(103712, TTS_ARCH_WORMHOLE);
    judge_end(TTS_FAILMSG_CB, 1250432, 1200000);
    check_base(103552, TTS_ARCH_WORMHOLE);
    judge_end(TTS_FAILMSG_CB, 107936, 104448);
    check_base(103840, TTS_ARCH_WORMHOLE);
    T_EQ(verdict.deficit_bytes, 3488);
    judge_end(TTS_FAILMSG_CB, 414208, 401408); /* several known bases could explain the end */
    T_TRUE(!verdict.has_base && verdict.base_count > 1);
    msg.l1_base = 105664; /* the log states the base */
    judge();
    T_TRUE(verdict.has_base && verdict.l1_base == 105664);
}

T_TEST(a_range_of_more_than_eight_columns_is_not_wormhole)
{
    judge_end(TTS_FAILMSG_CB, 553088, 524288);
    T_TRUE(!verdict.has_arch);
    strcpy(msg.range, "[0-0 - 10-9]");
    judge();
    T_TRUE(verdict.has_arch && verdict.arch == TTS_ARCH_BLACKHOLE);
    strcpy(msg.range, "[(x=0,y=0) - (x=7,y=9)]");
    judge();
    T_TRUE(!verdict.has_arch);
    strcpy(msg.range, "[(x=0,y=0) - (x=12,y=9)]");
    judge();
    T_TRUE(verdict.has_arch);
}

T_TEST(other_families_have_their_cause)
{
    judge_end(TTS_FAILMSG_CB, 100, 200);
    T_EQ(verdict.cause, TTS_FAILCAUSE_UNKNOWN);
    T_TRUE(verdict.is_contradictory);
    begin(TTS_FAILMSG_TOVER_BOTH);
    set(TTS_FAILMSG_ADDRESS, 1000);
    set(TTS_FAILMSG_ALLOC_END, 1500);
    set(TTS_FAILMSG_FREE_END, 1700);
    judge();
    check_cause(TTS_FAILCAUSE_TRACE_OVERLAP, 700);
    begin(TTS_FAILMSG_TRACE);
    set(TTS_FAILMSG_REQUESTED, 5000);
    set(TTS_FAILMSG_LIMIT, 4096);
    judge();
    check_cause(TTS_FAILCAUSE_TRACE_REGION, 904);
    T_EQ(verdict.scope, TTS_FAILSCOPE_CHIP);
    begin(TTS_FAILMSG_RING);
    set(TTS_FAILMSG_SIZE, 80000);
    set(TTS_FAILMSG_LIMIT, 70656);
    judge();
    check_cause(TTS_FAILCAUSE_CONFIG_RING, 9344);
    begin(TTS_FAILMSG_ADDR);
    set(TTS_FAILMSG_LIMIT, 500);
    set(TTS_FAILMSG_ADDRESS, 400);
    judge();
    check_cause(TTS_FAILCAUSE_BELOW_LIMIT, 100);
    begin(TTS_FAILMSG_TRACKER);
    set(TTS_FAILMSG_COUNT, 3);
    judge();
    check_cause(TTS_FAILCAUSE_TRACE_OVERLAP, 0);
    begin(TTS_FAILMSG_UNSAFE);
    judge();
    check_cause(TTS_FAILCAUSE_UNKNOWN, 0);
    T_TRUE(verdict.is_warning);
    begin(TTS_FAILMSG_CBPAGES);
    judge();
    check_cause(TTS_FAILCAUSE_OTHER, 0);
}

static const struct tts_failadvice_item *find_advice(enum tts_failadvice_kind kind)
{
    for (size_t i = 0; i < advice.count; i++)
        if (advice.items[i].kind == kind)
            return &advice.items[i];
    return NULL;
}

T_TEST(advice_has_the_numbers_of_the_failure)
{
    judge_v3(11796480, 1070773184, 1058111680, 12661504, 6266880);
    const struct tts_failadvice_item *item = find_advice(TTS_FAILADVICE_NEIGHBOUR);
    T_TRUE(item && item->saves_bytes == 5529600);
    item = find_advice(TTS_FAILADVICE_HALF);
    T_TRUE(item && item->bytes == 5898240 && item->is_enough);
    item = find_advice(TTS_FAILADVICE_DTYPE);
    T_TRUE(item && item->is_enough && item->bytes < 6266880);
    item = find_advice(TTS_FAILADVICE_DEVICE);
    T_TRUE(item && item->preset && item->bytes > 12 * UINT64_C(1070773184));
    T_TRUE(!find_advice(TTS_FAILADVICE_TO_DRAM));

    begin_space(TTS_FAILMSG_V3, TTS_POOL_L1_SMALL, 1760, 110, 16);
    set(TTS_FAILMSG_BANK, 0);
    set(TTS_FAILMSG_ALLOCATED, 0);
    set(TTS_FAILMSG_FREE, 0);
    set(TTS_FAILMSG_LARGEST, 0);
    judge();
    item = find_advice(TTS_FAILADVICE_L1_SMALL);
    T_TRUE(item && item->bytes == 64);

    judge_end(TTS_FAILMSG_CB, 1143360, 1140000);
    item = find_advice(TTS_FAILADVICE_CB_TILES);
    T_TRUE(item && item->count == 2 && item->bytes == 2048);
}

T_TEST(advice_is_enough_only_if_the_bytes_are_one_piece)
{
    /* 500 B are needed, and 400 B are free in pieces of at most 150 B. */
    judge_v3(500, 1000, 600, 400, 150);
    T_EQ(verdict.cause, TTS_FAILCAUSE_CAPACITY);
    T_EQ(advice.items[0].kind, TTS_FAILADVICE_FREE);
    T_TRUE(!advice.items[0].has_enough);
    const struct tts_failadvice_item *item = find_advice(TTS_FAILADVICE_HALF);
    T_TRUE(item && item->bytes == 250 && item->has_enough && !item->is_enough);
    judge_v3(500, 1000, 600, 400, 400);
    T_TRUE(!advice.items[0].has_enough); /* the freed bytes may be elsewhere */
    item = find_advice(TTS_FAILADVICE_HALF);
    T_TRUE(item && item->has_enough && item->is_enough);

    judge_v3(500, 1000, 400, 600, 450);
    T_EQ(advice.items[0].kind, TTS_FAILADVICE_NEIGHBOUR);
    T_TRUE(advice.items[0].has_enough && advice.items[0].is_enough);
    item = find_advice(TTS_FAILADVICE_EARLIER);
    T_TRUE(item && !item->has_enough);

    /* With dependencies, a piece that is free here may be taken in another allocator. */
    begin_space(TTS_FAILMSG_D2, TTS_POOL_DRAM, 6000, 12, 500);
    set(TTS_FAILMSG_BANK, 1000);
    set(TTS_FAILMSG_ALLOCATED, 600);
    set(TTS_FAILMSG_FREE, 400);
    set(TTS_FAILMSG_LARGEST, 300);
    judge();
    T_EQ(verdict.cause, TTS_FAILCAUSE_CAPACITY);
    item = find_advice(TTS_FAILADVICE_HALF);
    T_TRUE(item && !item->has_enough);
    set(TTS_FAILMSG_LARGEST, 200);
    judge();
    item = find_advice(TTS_FAILADVICE_HALF);
    T_TRUE(item && item->has_enough && !item->is_enough);
}

T_TEST(advice_without_a_cause_names_what_decides_it)
{
    begin_space(TTS_FAILMSG_D2, TTS_POOL_L1, 6291456, 64, 98304);
    set(TTS_FAILMSG_BANK, 1393472);
    set(TTS_FAILMSG_ALLOCATED, 1048576);
    set(TTS_FAILMSG_FREE, 344896);
    set(TTS_FAILMSG_LARGEST, 344896);
    judge();
    T_EQ(verdict.cause, TTS_FAILCAUSE_UNKNOWN);
    T_TRUE(strstr(verdict.decides, "HYBRID") != NULL);
    T_EQ(advice.items[0].kind, TTS_FAILADVICE_DECIDE);
    T_TRUE(find_advice(TTS_FAILADVICE_OTHERS));
    const struct tts_failadvice_item *item = find_advice(TTS_FAILADVICE_HALF);
    T_TRUE(item && item->bytes == 49152 && !item->is_enough);

    begin_space(TTS_FAILMSG_V1, TTS_POOL_DRAM, 1048576, 12, 88064);
    judge();
    T_EQ(advice.items[0].kind, TTS_FAILADVICE_DECIDE);
    item = find_advice(TTS_FAILADVICE_DTYPE);
    T_TRUE(item && item->bytes == 46784 && !item->is_enough);
    T_TRUE(!find_advice(TTS_FAILADVICE_OTHERS));

    judge_v3(600, 1000, 400, 600, 600);
    T_TRUE(verdict.decides != NULL && find_advice(TTS_FAILADVICE_DECIDE));
    judge_end(TTS_FAILMSG_CB, 100, 200);
    T_EQ(advice.count, 1);
}
