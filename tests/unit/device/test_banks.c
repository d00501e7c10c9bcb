/* Tests where banks with one or several allocators place blocks. test_banks_state.c tests their
 * state. */
#include "device/banks.h"
#include "device/space.h"
#include "harness/t.h"

#include <string.h>

static const uint64_t K = 1024, T = 1024 * 1024;

static const struct tts_banks_config pool = {.size_bytes = 1024 * 1024,
                                             .page_alignment_bytes = 1024,
                                             .block_alignment_bytes = 32,
                                             .banks = 1};

/* Allocators 0 and 1 have allocator 2 as their only neighbour. */
static const struct tts_dependency on_two[] = {{.of = 2, .on = (uint32_t[]){0, 1}, .count = 2}};

static struct tts_banks *banks_of(struct tts_banks_config config)
{
    struct tts_banks *banks = NULL;
    struct tts_error err = {0};
    T_EQ(tts_banks_new(&config, NULL, &banks, &err), TTS_OK);
    T_TRUE(tts_banks_is_valid(banks));
    return banks;
}

static void done(struct tts_banks *banks)
{
    T_TRUE(tts_banks_is_valid(banks));
    tts_banks_free(banks);
}

static enum tts_status try_take(struct tts_banks *banks, struct tts_banks_wish take,
                                uint64_t *address)
{
    *address = 77;
    enum tts_status status = tts_banks_take(banks, &take, address);
    T_TRUE(status == TTS_OK || status == TTS_E_BELOW_LIMIT || *address == 77);
    return status;
}

static uint64_t take(struct tts_banks *banks, struct tts_banks_wish take)
{
    uint64_t address;
    T_EQ(try_take(banks, take, &address), TTS_OK);
    return address;
}

static void refused(struct tts_banks *banks, struct tts_banks_wish take, enum tts_status status)
{
    uint64_t address;
    T_EQ(try_take(banks, take, &address), status);
}

static struct tts_banks_wish upward(uint32_t allocator, uint64_t bytes)
{
    return (struct tts_banks_wish){
        .allocator = allocator, .direction = TTS_DIRECTION_UP, .bytes = bytes};
}

static struct tts_banks_wish downward(uint32_t allocator, uint64_t bytes)
{
    return (struct tts_banks_wish){
        .allocator = allocator, .direction = TTS_DIRECTION_DOWN, .bytes = bytes};
}

static uint64_t up(struct tts_banks *banks, uint32_t allocator, uint64_t bytes)
{
    return take(banks, upward(allocator, bytes));
}

static uint64_t down(struct tts_banks *banks, uint32_t allocator, uint64_t bytes)
{
    return take(banks, downward(allocator, bytes));
}

static void give(struct tts_banks *banks, uint32_t allocator, uint64_t address)
{
    T_EQ(tts_banks_give(banks, allocator, address), TTS_OK);
}

static uint64_t lowest(const struct tts_banks *banks, uint32_t allocator)
{
    uint64_t address = 77;
    T_TRUE(tts_banks_lowest(banks, allocator, &address));
    return address;
}

static bool holds_none(const struct tts_banks *banks, uint32_t allocator)
{
    uint64_t address = 77;
    return !tts_banks_lowest(banks, allocator, &address) && address == 77;
}

/* Runs a script on new banks, once with a block alignment of 32 bytes (Wormhole) and once with
 * 64 bytes (Blackhole). */
static void with_both(struct tts_banks_config config, void (*script)(struct tts_banks *))
{
    for (uint64_t alignment = 32; alignment <= 64; alignment += 32) {
        config.block_alignment_bytes = alignment;
        struct tts_banks *banks = banks_of(config);
        script(banks);
        done(banks);
    }
}

static struct tts_banks_config linked(struct tts_banks_config config)
{
    config.dependencies = on_two;
    config.dependency_count = 1;
    return config;
}

/* --- test cases of the runtime's allocator ---------------------------------------------- */

static void independent_up(struct tts_banks *b)
{
    T_EQ(up(b, 0, K), 0);
    T_EQ(up(b, 1, 2 * K), 0);
    T_EQ(up(b, 0, K), K);
    T_EQ(up(b, 1, 2 * K), 2 * K);
    give(b, 1, 0);
    T_EQ(lowest(b, 1), 2 * K);
    T_EQ(up(b, 1, K), 0);
    give(b, 0, 0);
    T_EQ(lowest(b, 0), K);
}

static void independent_down(struct tts_banks *b)
{
    T_EQ(down(b, 0, K), T - K);
    T_EQ(down(b, 1, 2 * K), T - 2 * K);
    T_EQ(down(b, 0, K), T - 2 * K);
    T_EQ(down(b, 1, 2 * K), T - 4 * K);
    give(b, 1, T - 2 * K);
    T_EQ(down(b, 1, K), T - K);
    give(b, 0, T - K);
    T_EQ(lowest(b, 0), T - 2 * K);
}

T_TEST(allocators_that_are_no_neighbours_share_addresses)
{
    with_both(linked(pool), independent_up);
    with_both(linked(pool), independent_down);
}

static void overlapped_up(struct tts_banks *b)
{
    T_EQ(up(b, 0, K), 0);
    T_EQ(up(b, 1, 2 * K), 0);
    T_EQ(up(b, 1, K), 2 * K);
    T_EQ(up(b, 2, K), 3 * K);
    T_EQ(up(b, 0, K), K);
    T_EQ(up(b, 1, K), 4 * K);
    give(b, 2, 3 * K);
    T_TRUE(holds_none(b, 2));
    T_EQ(up(b, 0, 2 * K), 2 * K);
    T_EQ(up(b, 1, K), 3 * K);
    give(b, 0, K);
    give(b, 1, 0);
    T_EQ(up(b, 2, K), K);
}

static void overlapped_down(struct tts_banks *b)
{
    T_EQ(down(b, 0, K), T - K);
    T_EQ(down(b, 1, 2 * K), T - 2 * K);
    T_EQ(down(b, 1, K), T - 3 * K);
    T_EQ(down(b, 2, K), T - 4 * K);
    T_EQ(down(b, 0, K), T - 2 * K);
    T_EQ(down(b, 1, K), T - 5 * K);
    give(b, 2, T - 4 * K);
    T_EQ(down(b, 0, 2 * K), T - 4 * K);
    T_EQ(down(b, 1, K), T - 4 * K);
    give(b, 0, T - 2 * K);
    give(b, 1, T - 2 * K);
    T_EQ(down(b, 2, K), T - 2 * K);
}

T_TEST(neighbours_do_not_overlap)
{
    with_both(linked(pool), overlapped_up);
    with_both(linked(pool), overlapped_down);
}

/* Returns the size of a page of 512 bytes after rounding up to the page alignment. */
static uint64_t page_of_512(void)
{
    return (512 + pool.page_alignment_bytes - 1) / pool.page_alignment_bytes *
           pool.page_alignment_bytes;
}

static void small_pages_up(struct tts_banks *b)
{
    T_EQ(up(b, 0, page_of_512()), 0);
    T_EQ(up(b, 2, page_of_512()), K);
    T_EQ(up(b, 1, page_of_512()), 0);
    T_EQ(up(b, 1, page_of_512()), 2 * K);
    T_EQ(up(b, 0, 2 * K), 2 * K);
}

static void small_pages_down(struct tts_banks *b)
{
    T_EQ(down(b, 0, page_of_512()), T - K);
    T_EQ(down(b, 2, page_of_512()), T - 2 * K);
    T_EQ(down(b, 1, page_of_512()), T - K);
    T_EQ(down(b, 1, page_of_512()), T - 3 * K);
    T_EQ(down(b, 0, 2 * K), T - 4 * K);
}

T_TEST(a_page_that_is_rounded_up_takes_its_room)
{
    with_both(linked(pool), small_pages_up);
    with_both(linked(pool), small_pages_down);
}

static void both_sides(struct tts_banks *b)
{
    T_EQ(up(b, 0, 512 * K), 0);
    T_EQ(up(b, 0, K), 512 * K);
    T_EQ(down(b, 1, 2 * K), T - 2 * K);
    T_EQ(down(b, 1, 512 * K), 510 * K);
    refused(b, upward(2, K), TTS_E_FULL);
    give(b, 1, 510 * K);
    T_EQ(up(b, 2, K), 513 * K);
    T_EQ(down(b, 2, K), T - 3 * K);
    give(b, 0, 0);
    T_EQ(down(b, 2, 512 * K), 0);
    T_EQ(up(b, 2, 256 * K), 514 * K);
}

T_TEST(both_ends_can_be_taken_from)
{
    with_both(linked(pool), both_sides);
}

static struct tts_banks_wish above(struct tts_banks_wish take, uint64_t limit)
{
    take.limit = limit;
    return take;
}

static void limited(struct tts_banks *b)
{
    uint64_t limit = 256 * K;
    T_EQ(take(b, above(upward(0, K), limit)), 256 * K);
    T_EQ(take(b, above(upward(1, 513 * K), limit)), 256 * K);
    refused(b, above(downward(2, 256 * K), limit), TTS_E_FULL);
    T_EQ(take(b, above(upward(2, K), limit)), 769 * K);
    T_EQ(tts_banks_give_all(b), TTS_OK);
    T_EQ(take(b, above(upward(0, K), limit)), 256 * K);
}

T_TEST(with_neighbours_the_limit_steers)
{
    with_both(linked(pool), limited);
}

static void at_an_offset(struct tts_banks *b)
{
    uint64_t limit = 100432;
    T_EQ(take(b, above(downward(0, 4 * K), limit)), 1495040);
    T_EQ(take(b, above(downward(0, 4 * K), limit)), 1490944);
    T_EQ(take(b, above(upward(0, 4 * K), limit)), 100432);
    T_EQ(take(b, above(upward(0, 4 * K), limit)), 104528);
}

T_TEST(an_offset_and_an_uneven_limit_are_kept)
{
    struct tts_banks_config config = linked(pool);
    config.size_bytes = 1398720;
    config.offset_bytes = 100416;
    config.limit = 100432;
    config.page_alignment_bytes = 16;
    with_both(config, at_an_offset);
}

static void cleared(struct tts_banks *b)
{
    for (int again = 0; again < 2; again++) {
        T_EQ(up(b, 0, K), 0);
        T_EQ(up(b, 1, 2 * K), 0);
        T_EQ(up(b, 2, K), 2 * K);
        T_EQ(tts_banks_give_all(b), TTS_OK);
        tts_banks_clear(b);
        for (uint32_t i = 0; i < 3; i++)
            T_TRUE(holds_none(b, i));
    }
}

T_TEST(after_a_clear_all_is_as_at_first)
{
    with_both(linked(pool), cleared);
}

/* Makes a graph in which allocator 0 serves all banks, and each other allocator serves one bank
 * and depends on allocator 0. */
static struct tts_banks_config star(uint32_t *on, uint32_t banks,
                                    struct tts_dependency *dependency)
{
    struct tts_banks_config config = pool;
    for (uint32_t i = 0; i < banks; i++)
        on[i] = i + 1;
    *dependency = (struct tts_dependency){.of = 0, .on = on, .count = banks};
    config.banks = banks;
    config.dependencies = dependency;
    config.dependency_count = 1;
    return config;
}

static void per_core(struct tts_banks *b)
{
    T_EQ(up(b, 1, K), 0);
    T_EQ(up(b, 2, 8 * K), 0);
    T_EQ(up(b, 1, K), K);
    T_EQ(up(b, 2, K), 8 * K);
}

static void cores_first(struct tts_banks *b)
{
    T_EQ(up(b, 1, 4 * K), 0);
    T_EQ(up(b, 2, 2 * K), 0);
    T_EQ(up(b, 0, K), 4 * K);
}

static void lockstep_first(struct tts_banks *b)
{
    T_EQ(up(b, 0, 4 * K), 0);
    T_EQ(up(b, 1, K), 4 * K);
    T_EQ(up(b, 2, K), 4 * K);
}

static void lockstep_reuses(struct tts_banks *b)
{
    T_EQ(up(b, 1, 4 * K), 0);
    T_EQ(up(b, 2, 4 * K), 0);
    T_EQ(up(b, 0, K), 4 * K);
    give(b, 1, 0);
    give(b, 2, 0);
    T_EQ(up(b, 0, K), 0);
}

T_TEST(cores_are_apart_from_each_other_but_not_from_lockstep)
{
    uint32_t on[2];
    struct tts_dependency dependency;
    struct tts_banks_config config = star(on, 2, &dependency);
    with_both(config, per_core);
    with_both(config, cores_first);
    with_both(config, lockstep_first);
    with_both(config, lockstep_reuses);
}

static void many_cores(struct tts_banks *b)
{
    for (uint32_t i = 0; i < 110; i++)
        T_EQ(up(b, i + 1, (i + 1) * K), 0);
    T_EQ(up(b, 0, K), 110 * K);
}

T_TEST(lockstep_goes_above_the_fullest_of_110_cores)
{
    uint32_t on[110];
    struct tts_dependency dependency;
    with_both(star(on, 110, &dependency), many_cores);
}

/* --- the graph -------------------------------------------------------------------------- */

static void neighbours_are(const struct tts_banks *banks, uint32_t allocator,
                           const uint32_t *expected, size_t count)
{
    size_t seen = 77;
    const uint32_t *neighbours = tts_banks_neighbours(banks, allocator, &seen);
    T_EQ(seen, count);
    for (size_t i = 0; i < count; i++)
        T_EQ(neighbours[i], expected[i]);
}

static struct tts_banks_config graph(const struct tts_dependency *dependencies, size_t count)
{
    struct tts_banks_config config = pool;
    config.dependencies = dependencies;
    config.dependency_count = count;
    return config;
}

T_TEST(dependencies_go_both_ways_and_ids_up_to_the_largest_exist)
{
    const struct tts_dependency lists[] = {{.of = 3, .on = (uint32_t[]){1, 0}, .count = 2}};
    struct tts_banks *banks = banks_of(graph(lists, 1));
    T_EQ(tts_banks_allocators(banks), 4);
    neighbours_are(banks, 0, (uint32_t[]){3}, 1);
    neighbours_are(banks, 1, (uint32_t[]){3}, 1);
    neighbours_are(banks, 2, NULL, 0);
    neighbours_are(banks, 3, (uint32_t[]){0, 1}, 2);
    T_TRUE(tts_banks_space(banks, 3) != NULL && tts_banks_space(banks, 4) == NULL);
    neighbours_are(banks, 4, NULL, 0);
    done(banks);
}

T_TEST(a_chain_and_a_cycle_are_symmetric)
{
    const struct tts_dependency chain[] = {{.of = 0, .on = (uint32_t[]){1}, .count = 1},
                                           {.of = 2, .on = (uint32_t[]){1, 3}, .count = 2}};
    struct tts_banks *banks = banks_of(graph(chain, 2));
    neighbours_are(banks, 0, (uint32_t[]){1}, 1);
    neighbours_are(banks, 1, (uint32_t[]){0, 2}, 2);
    neighbours_are(banks, 2, (uint32_t[]){1, 3}, 2);
    neighbours_are(banks, 3, (uint32_t[]){2}, 1);
    done(banks);

    const struct tts_dependency cycle[] = {{.of = 0, .on = (uint32_t[]){1}, .count = 1},
                                           {.of = 1, .on = (uint32_t[]){2, 0}, .count = 2},
                                           {.of = 2, .on = (uint32_t[]){0}, .count = 1}};
    banks = banks_of(graph(cycle, 3));
    neighbours_are(banks, 0, (uint32_t[]){1, 2}, 2);
    neighbours_are(banks, 1, (uint32_t[]){0, 2}, 2);
    neighbours_are(banks, 2, (uint32_t[]){0, 1}, 2);
    done(banks);
}

T_TEST(no_dependencies_are_one_allocator_that_is_alone)
{
    struct tts_banks *banks = banks_of(pool);
    T_EQ(tts_banks_allocators(banks), 1);
    neighbours_are(banks, 0, NULL, 0);
    done(banks);
    const struct tts_dependency empty[] = {{.of = 70, .on = NULL, .count = 0}};
    banks = banks_of(graph(empty, 1));
    T_EQ(tts_banks_allocators(banks), 71);
    neighbours_are(banks, 70, NULL, 0);
    done(banks);
}

static void not_made(struct tts_banks_config config, enum tts_status status, const char *word)
{
    struct tts_banks *banks = NULL;
    struct tts_error err = {0};
    T_EQ(tts_banks_new(&config, NULL, &banks, &err), status);
    T_TRUE(banks == NULL && err.status == status && strstr(err.text, word) != NULL);
    T_EQ(tts_banks_new(&config, NULL, &banks, NULL), status);
}

T_TEST(what_cannot_be_a_graph_or_a_pool_is_refused)
{
    const struct tts_dependency twice[] = {{.of = 0, .on = (uint32_t[]){1, 2, 1}, .count = 3}};
    not_made(graph(twice, 1), TTS_E_INVALID, "twice");
    const struct tts_dependency itself[] = {{.of = 5, .on = (uint32_t[]){1, 5}, .count = 2}};
    not_made(graph(itself, 1), TTS_E_INVALID, "itself");
    const struct tts_dependency far[] = {
        {.of = 0, .on = (uint32_t[]){TTS_ALLOCATORS_MAX}, .count = 1}};
    not_made(graph(far, 1), TTS_E_RANGE, "4096");
    const struct tts_dependency farthest[] = {{.of = UINT32_MAX, .on = NULL, .count = 0}};
    not_made(graph(farthest, 1), TTS_E_RANGE, "4096");

    struct tts_banks_config config = pool;
    config.page_alignment_bytes = 0;
    not_made(config, TTS_E_INVALID, "page");
    config = pool;
    config.block_alignment_bytes = 0;
    not_made(config, TTS_E_INVALID, "block");
    config = pool;
    config.banks = 0;
    not_made(config, TTS_E_INVALID, "banks");
    config = pool;
    config.size_bytes = 0;
    not_made(config, TTS_E_INVALID, "size");
    config.size_bytes = TTS_SPACE_MAX_BYTES + 1;
    not_made(config, TTS_E_RANGE, "size");
    config = pool;
    config.offset_bytes = UINT64_MAX;
    not_made(config, TTS_E_RANGE, "64 bits");
}

T_TEST(the_last_allocator_there_can_be_works)
{
    const struct tts_dependency last[] = {
        {.of = TTS_ALLOCATORS_MAX - 1, .on = (uint32_t[]){0}, .count = 1}};
    struct tts_banks *banks = banks_of(graph(last, 1));
    T_EQ(up(banks, TTS_ALLOCATORS_MAX - 1, K), 0);
    T_EQ(up(banks, 0, K), K);
    tts_banks_free(banks);
    tts_banks_free(NULL);
}

T_TEST(an_allocator_that_is_not_there_is_invalid)
{
    struct tts_banks *banks = banks_of(linked(pool));
    refused(banks, upward(3, K), TTS_E_INVALID);
    refused(banks, upward(UINT32_MAX, K), TTS_E_INVALID);
    T_EQ(tts_banks_take_at(banks, 3, 0, K), TTS_E_INVALID);
    T_EQ(tts_banks_give(banks, 3, 0), TTS_E_INVALID);
    T_TRUE(holds_none(banks, 3));
    done(banks);
}

/* --- between neighbours ----------------------------------------------------------------- */

T_TEST(ranges_of_others_are_left_out_in_any_order)
{
    struct tts_banks *banks = banks_of(linked(pool));
    const struct tts_range taken[] = {
        {8 * K, 9 * K},      {K, 3 * K},         {5 * K, 5 * K},         {0, 2 * K},
        {T - K, UINT64_MAX}, {T + K, T + 2 * K}, {4 * K + 1, 4 * K + 2}, {7 * K, 6 * K}};
    struct tts_banks_wish request = upward(0, K);
    request.taken = taken;
    request.taken_count = sizeof taken / sizeof taken[0];
    T_EQ(take(banks, request), 3 * K);
    request.bytes = 3 * K;
    refused(banks, request, TTS_E_INVALID); /* the address 4 KiB + 2 is not aligned to a page */
    request.bytes = 4 * K;
    T_EQ(take(banks, request), 9 * K);
    request.direction = TTS_DIRECTION_DOWN;
    T_EQ(take(banks, request), T - 5 * K);
    T_EQ(up(banks, 0, K), 0);
    done(banks);
}

T_TEST(an_allocator_that_is_alone_does_not_look_at_ranges_of_others)
{
    struct tts_banks *banks = banks_of(pool);
    const struct tts_range all = {0, UINT64_MAX};
    struct tts_banks_wish request = upward(0, K);
    request.taken = &all;
    request.taken_count = 1;
    T_EQ(take(banks, request), 0);
    done(banks);
}

T_TEST(a_limit_leaves_out_the_part_of_a_free_block_below_it)
{
    struct tts_banks *banks = banks_of(linked(pool));
    T_EQ(tts_banks_take_at(banks, 0, 8 * K, K), TTS_OK);
    T_EQ(take(banks, above(upward(0, 2 * K), 6 * K)), 6 * K);
    T_EQ(take(banks, above(upward(0, 2 * K), 6 * K)), 9 * K);
    T_EQ(take(banks, above(downward(2, T - 11 * K), 5 * K)), 11 * K);
    refused(banks, above(downward(2, K), 10 * K), TTS_E_FULL);
    T_EQ(take(banks, above(downward(2, K), 5 * K)), 5 * K);
    refused(banks, above(upward(2, K), UINT64_MAX), TTS_E_FULL);
    done(banks);
}

T_TEST(a_busy_range_may_reach_over_several_free_blocks)
{
    struct tts_banks *banks = banks_of(linked(pool));
    /* Only the blocks 1, 3, 5, 7 and so on stay free. */
    for (uint64_t i = 0; i < 8; i += 2)
        T_EQ(tts_banks_take_at(banks, 2, i * K, K), TTS_OK);
    T_EQ(tts_banks_take_at(banks, 0, K, 5 * K - 512), TTS_OK);
    refused(banks, upward(2, 512), TTS_E_INVALID);
    T_EQ(up(banks, 2, K), 7 * K);
    T_EQ(down(banks, 2, T - 9 * K), 9 * K);
    T_EQ(down(banks, 2, K), 8 * K);
    refused(banks, downward(2, K), TTS_E_FULL);
    done(banks);
}

T_TEST(from_above_a_block_that_rounding_pushes_past_its_room_is_invalid)
{
    struct tts_banks_config config = linked(pool);
    config.page_alignment_bytes = 16;
    struct tts_banks *banks = banks_of(config);
    refused(banks, downward(0, 16), TTS_E_INVALID);
    refused(banks, downward(0, 0), TTS_E_INVALID);
    T_TRUE(holds_none(banks, 0));
    T_EQ(up(banks, 0, 16), 0);
    T_EQ(up(banks, 2, 16), 32); /* the neighbour holds [0, 32), its rounded block */
    T_EQ(up(banks, 2, 0), 64);
    T_EQ(up(banks, 2, 1), 96);
    done(banks);
}

/* A free block must have room for the rounded size. The part of the block that neighbours leave
 * needs room only for the requested bytes. */
T_TEST(rounding_counts_for_the_block_and_not_for_the_gap)
{
    struct tts_banks_config config = linked(pool);
    config.page_alignment_bytes = 16;
    struct tts_banks *banks = banks_of(config);
    T_EQ(tts_banks_take_at(banks, 0, 16, 32), TTS_OK); /* the free block [0, 16) is left */
    T_EQ(up(banks, 0, 16), 48);
    T_EQ(tts_banks_take_at(banks, 1, 16, 32), TTS_OK);
    /* The free block [0, 48) is left, and its gap [0, 16). */
    T_EQ(tts_banks_take_at(banks, 2, 48, 32), TTS_OK);
    T_EQ(up(banks, 2, 16), 0); /* the rounded block overlaps blocks of allocators 0 and 1 */
    done(banks);
}

T_TEST(no_request_is_too_large_to_be_refused)
{
    struct tts_banks *linked_banks = banks_of(linked(pool)), *alone = banks_of(pool);
    for (uint64_t less = 0; less < 70; less++) {
        refused(linked_banks, upward(0, UINT64_MAX - less), TTS_E_FULL);
        refused(linked_banks, downward(0, UINT64_MAX - less), TTS_E_FULL);
        refused(alone, downward(0, UINT64_MAX - less), TTS_E_FULL);
    }
    refused(linked_banks, upward(0, T + 1), TTS_E_FULL);
    T_EQ(up(linked_banks, 0, T), 0);
    refused(linked_banks, upward(2, 1), TTS_E_FULL);
    T_EQ(up(linked_banks, 1, T), 0);
    done(linked_banks);
    done(alone);
}

T_TEST(taking_at_an_address_does_not_ask_neighbours)
{
    struct tts_banks *banks = banks_of(linked(pool));
    T_EQ(tts_banks_take_at(banks, 2, K, K), TTS_OK);
    T_EQ(tts_banks_take_at(banks, 0, K, K), TTS_OK);
    T_EQ(tts_banks_take_at(banks, 0, K, K), TTS_E_FULL);
    T_EQ(tts_banks_take_at(banks, 0, T, K), TTS_E_FULL);
    T_EQ(tts_banks_give(banks, 0, 0), TTS_E_NOT_FOUND);
    give(banks, 0, K);
    T_EQ(tts_banks_give(banks, 0, K), TTS_E_NOT_FOUND);
    T_EQ(up(banks, 0, 2 * K), 2 * K);
    done(banks);
}
