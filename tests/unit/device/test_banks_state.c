/* Tests the state of banks: blocks left behind, high-water marks, extracted state. test_banks.c
 * tests the placement. */
#include "device/banks.h"
#include "device/space.h"
#include "harness/t.h"
#include "torture/heap.h"

static const uint64_t K = 1024;

static const struct tts_banks_config pool = {.size_bytes = 64 * 1024,
                                             .page_alignment_bytes = 16,
                                             .block_alignment_bytes = 32,
                                             .banks = 4,
                                             .limit = 4096};

static const struct tts_dependency on_zero[] = {
    {.of = 0, .on = (uint32_t[]){1, 2}, .count = 2}};

static struct tts_banks *banks_of(struct tts_banks_config config)
{
    struct tts_banks *banks = NULL;
    T_EQ(tts_banks_new(&config, NULL, &banks, NULL), TTS_OK);
    return banks;
}

static struct tts_banks_config linked(struct tts_banks_config config)
{
    config.dependencies = on_zero;
    config.dependency_count = 1;
    return config;
}

static void done(struct tts_banks *banks)
{
    T_TRUE(tts_banks_is_valid(banks));
    tts_banks_free(banks);
}

static enum tts_status take_up(struct tts_banks *banks, uint32_t allocator, uint64_t bytes,
                               uint64_t limit, uint64_t *address)
{
    struct tts_banks_wish take = {
        .allocator = allocator, .direction = TTS_DIRECTION_UP, .bytes = bytes, .limit = limit};
    return tts_banks_take(banks, &take, address);
}

static uint64_t up(struct tts_banks *banks, uint32_t allocator, uint64_t bytes)
{
    uint64_t address = 77;
    T_EQ(take_up(banks, allocator, bytes, 0, &address), TTS_OK);
    return address;
}

/* Takes a block below the limit, so that the block is left behind: it stays taken, and the
 * runtime does not know it. */
static uint64_t leave(struct tts_banks *banks, uint64_t bytes)
{
    uint64_t address = 77;
    T_EQ(take_up(banks, 0, bytes, UINT64_MAX, &address), TTS_E_BELOW_LIMIT);
    return address;
}

static void give(struct tts_banks *banks, uint32_t allocator, uint64_t address)
{
    T_EQ(tts_banks_give(banks, allocator, address), TTS_OK);
}

static uint64_t taken_blocks(const struct tts_banks *banks, uint32_t allocator)
{
    struct tts_space_stats stats;
    tts_space_get_stats(tts_banks_space(banks, allocator), &stats);
    return stats.taken_blocks;
}

/* --- blocks left behind ----------------------------------------------------------------- */

T_TEST(a_block_below_the_limit_stays_and_giving_all_does_not_reach_it)
{
    struct tts_banks *banks = banks_of(pool);
    uint64_t lowest = 77;
    T_EQ(up(banks, 0, K), 0);
    T_EQ(leave(banks, K), K);
    T_EQ(up(banks, 0, K), 2 * K);
    T_EQ(leave(banks, K), 3 * K);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_TRUE(tts_banks_is_valid(banks));
    T_EQ(taken_blocks(banks, 0), 2);
    T_EQ(up(banks, 0, 2 * K), 4 * K);
    T_EQ(up(banks, 0, K), 0);
    T_TRUE(tts_banks_lowest(banks, 0, &lowest));
    T_EQ(lowest, 0);
    done(banks);
}

T_TEST(a_block_that_was_left_behind_can_be_given_and_is_then_like_any_other)
{
    struct tts_banks *banks = banks_of(pool);
    uint64_t lowest = 77;
    T_EQ(leave(banks, K), 0);
    T_TRUE(!tts_banks_lowest(banks, 0, &lowest));
    T_EQ(leave(banks, K), K);
    T_EQ(leave(banks, K), 2 * K);
    give(banks, 0, K);
    T_EQ(tts_banks_give(banks, 0, K), TTS_E_NOT_FOUND);
    T_TRUE(tts_banks_is_valid(banks));
    T_EQ(up(banks, 0, K), K); /* this block is above the limit, so it is not left behind */
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_EQ(up(banks, 0, K), K);
    T_EQ(taken_blocks(banks, 0), 3);
    give(banks, 0, 0);
    give(banks, 0, 2 * K);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_EQ(taken_blocks(banks, 0), 0);
    done(banks);
}

T_TEST(a_clear_forgets_what_was_left_behind)
{
    struct tts_banks *banks = banks_of(pool);
    for (int i = 0; i < 40; i++)
        leave(banks, 1);
    tts_banks_clear(banks);
    T_TRUE(tts_banks_is_valid(banks));
    T_EQ(up(banks, 0, 64 * K), 0);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_EQ(taken_blocks(banks, 0), 0);
    done(banks);
}

T_TEST(a_limit_at_the_offset_or_below_is_none)
{
    struct tts_banks_config config = pool;
    config.offset_bytes = 8192;
    struct tts_banks *banks = banks_of(config);
    uint64_t address = 77;
    T_EQ(take_up(banks, 0, K, 8193, &address), TTS_E_BELOW_LIMIT);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_EQ(taken_blocks(banks, 0), 1);
    give(banks, 0, 8192);
    T_EQ(take_up(banks, 0, K, 8192, &address), TTS_OK);
    T_EQ(address, 8192);
    T_EQ(take_up(banks, 0, K, 8192 + K + 1, &address), TTS_E_BELOW_LIMIT);
    T_EQ(address, 8192 + K);
    T_EQ(take_up(banks, 0, K, 8192 + 2 * K, &address), TTS_OK);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_EQ(taken_blocks(banks, 0), 1);
    done(banks);
}

T_TEST(in_a_graph_each_allocator_leaves_its_own_blocks_behind)
{
    const struct tts_dependency pair[] = {{.of = 3, .on = (uint32_t[]){2}, .count = 1}};
    struct tts_banks_config config = pool;
    config.dependencies = pair;
    config.dependency_count = 1;
    struct tts_banks *banks = banks_of(config);
    uint64_t address = 77;
    T_EQ(take_up(banks, 1, K, 9 * K, &address), TTS_E_BELOW_LIMIT);
    T_EQ(leave(banks, K), 0);
    T_EQ(take_up(banks, 3, K, 9 * K, &address), TTS_OK);
    T_EQ(address, 9 * K);
    T_EQ(up(banks, 1, K), K);
    give(banks, 0, 0);
    T_EQ(up(banks, 0, K), 0);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_EQ(taken_blocks(banks, 0), 0);
    T_EQ(taken_blocks(banks, 1), 1);
    T_EQ(taken_blocks(banks, 3), 0);
    done(banks);
}

/* --- giving all back -------------------------------------------------------------------- */

T_TEST(giving_all_keeps_shrinks_and_the_spaces_where_they_are)
{
    struct tts_banks *banks = banks_of(pool);
    const struct tts_space *space = tts_banks_space(banks, 0);
    uint64_t lowest = 77;
    T_EQ(tts_banks_shrink(banks, 8 * K), TTS_OK);
    for (int i = 0; i < 100; i++)
        up(banks, 0, 1);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_TRUE(tts_banks_space(banks, 0) == space);
    T_TRUE(!tts_banks_lowest(banks, 0, &lowest));
    T_EQ(up(banks, 0, K), 8 * K);
    done(banks);
}

T_TEST(a_shrink_is_for_one_allocator_only)
{
    struct tts_banks *banks = banks_of(pool);
    T_EQ(tts_banks_shrink(banks, 64 * K + 1), TTS_E_RANGE);
    T_EQ(tts_banks_shrink(banks, K), TTS_OK);
    T_EQ(up(banks, 0, 1), K);
    T_EQ(tts_banks_shrink(banks, 1), TTS_E_BUSY);
    T_EQ(tts_banks_unshrink(banks), TTS_OK);
    T_EQ(up(banks, 0, 1), 0);
    done(banks);
    banks = banks_of(linked(pool));
    T_EQ(tts_banks_shrink(banks, K), TTS_E_INVALID);
    T_EQ(tts_banks_unshrink(banks), TTS_E_INVALID);
    T_EQ(up(banks, 1, 1), 0);
    done(banks);
}

T_TEST(a_clear_keeps_the_lowest_address_as_the_runtime_does)
{
    struct tts_banks *banks = banks_of(pool);
    uint64_t lowest = 77;
    T_EQ(tts_banks_shrink(banks, K), TTS_OK);
    T_EQ(up(banks, 0, K), K);
    tts_banks_clear(banks);
    T_TRUE(tts_banks_lowest(banks, 0, &lowest));
    T_EQ(lowest, K);
    T_EQ(up(banks, 0, 64 * K), 0);
    done(banks);
}

/* --- the high-water mark ---------------------------------------------------------------- */

static void water_is(struct tts_banks *banks, uint64_t taken_end, uint64_t given_end)
{
    struct tts_water water = tts_banks_water_end(banks);
    T_EQ(water.taken_end, taken_end);
    T_EQ(water.given_end, given_end);
    T_TRUE(tts_banks_is_valid(banks));
}

T_TEST(the_mark_is_not_rounded_for_what_is_taken_and_is_for_what_is_given)
{
    struct tts_banks *banks = banks_of(pool);
    up(banks, 0, 10 * K);
    tts_banks_water_begin(banks);
    T_EQ(up(banks, 0, 33), 10 * K);
    T_EQ(up(banks, 0, 1), 10 * K + 64);
    give(banks, 0, 10 * K + 64);
    T_EQ(tts_banks_give(banks, 0, 10 * K + 64), TTS_E_NOT_FOUND);
    T_EQ(up(banks, 0, 1), 10 * K + 64);
    give(banks, 0, 10 * K);
    up(banks, 0, 33);
    water_is(banks, 10 * K + 65, 10 * K + 96);
    up(banks, 0, K);
    tts_banks_water_begin(banks);
    water_is(banks, 0, 0);
    done(banks);
}

T_TEST(beginning_again_starts_over)
{
    struct tts_banks *banks = banks_of(pool);
    tts_banks_water_begin(banks);
    up(banks, 0, 8 * K);
    give(banks, 0, 0);
    tts_banks_water_begin(banks);
    up(banks, 0, K);
    water_is(banks, K, 0);
    up(banks, 0, K);
    give(banks, 0, 0);
    water_is(banks, K, 0); /* no mark was begun, so the mark is unchanged */
    done(banks);
}

T_TEST(the_mark_is_that_of_all_allocators_and_leaves_out_what_failed)
{
    struct tts_banks *banks = banks_of(linked(pool));
    uint64_t address = 77;
    tts_banks_water_begin(banks);
    T_EQ(up(banks, 1, 40), 0);
    T_EQ(up(banks, 0, 40), 64);
    T_EQ(take_up(banks, 0, 65 * K, 0, &address), TTS_E_FULL);
    water_is(banks, 104, 0);
    tts_banks_water_begin(banks);
    T_EQ(tts_banks_take_at(banks, 2, K, 40), TTS_OK);
    T_EQ(tts_banks_take_at(banks, 2, K, 400), TTS_E_FULL);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    water_is(banks, K + 40, 0);
    done(banks);

    banks = banks_of(pool);
    tts_banks_water_begin(banks);
    leave(banks, K);
    water_is(banks, 0, 0);
    tts_banks_water_begin(banks);
    give(banks, 0, 0);
    water_is(banks, 0, K);
    done(banks);
}

/* --- state ------------------------------------------------------------------------------ */

static void state_is(const struct tts_banks_state *state, const struct tts_range *ranges,
                     size_t count)
{
    T_EQ(state->count, count);
    T_TRUE(state->count <= state->capacity);
    for (size_t i = 0; i < count; i++) {
        T_EQ(state->ranges[i].start, ranges[i].start);
        T_EQ(state->ranges[i].end, ranges[i].end);
    }
}

#define STATE_IS(state, ...)                                                                   \
    state_is(state, (struct tts_range[]){__VA_ARGS__},                                         \
             sizeof((struct tts_range[]){__VA_ARGS__}) / sizeof(struct tts_range))

T_TEST(extracted_ranges_are_rounded_sorted_and_fused)
{
    struct tts_banks *banks = banks_of(linked(pool));
    struct tts_banks_state held = {0};
    T_EQ(tts_banks_extract(banks, &held), TTS_OK);
    T_EQ(held.count, 0);
    T_EQ(tts_banks_take_at(banks, 0, 20 * K, K), TTS_OK);
    T_EQ(tts_banks_take_at(banks, 0, 2 * K, K), TTS_OK);
    T_EQ(tts_banks_take_at(banks, 0, K, K), TTS_OK);
    T_EQ(tts_banks_take_at(banks, 0, 3 * K, 1), TTS_OK);
    /* This block belongs to another allocator. */
    T_EQ(tts_banks_take_at(banks, 1, 40 * K, K), TTS_OK);
    T_EQ(tts_banks_extract(banks, &held), TTS_OK);
    STATE_IS(&held, {K, 3 * K + 32}, {20 * K, 21 * K});
    T_EQ(held.config.banks, 4);
    T_EQ(held.config.limit, 4096);
    T_EQ(held.config.size_bytes, 64 * K);
    T_EQ(held.config.page_alignment_bytes, 16);
    T_EQ(held.config.block_alignment_bytes, 32);
    T_TRUE(held.config.dependencies == NULL && held.config.dependency_count == 0);
    T_EQ(tts_banks_give_all(banks), TTS_OK);
    T_EQ(tts_banks_extract(banks, &held), TTS_OK);
    T_EQ(held.count, 0);
    tts_banks_state_release(&held);
    T_TRUE(held.ranges == NULL && held.capacity == 0);
    tts_banks_state_release(&held);
    done(banks);
}

static void add(struct tts_banks_state *state, uint64_t start, uint64_t end)
{
    T_EQ(tts_banks_state_add(state, (struct tts_range){start, end}), TTS_OK);
}

T_TEST(a_range_that_is_added_joins_all_that_it_touches)
{
    struct tts_banks_state held = {.config = pool};
    add(&held, 50, 60);
    add(&held, 10, 20);
    add(&held, 30, 40);
    STATE_IS(&held, {10, 20}, {30, 40}, {50, 60});
    add(&held, 20, 25);
    add(&held, 45, 50);
    add(&held, 33, 33);
    STATE_IS(&held, {10, 25}, {30, 40}, {45, 60});
    add(&held, 31, 39);
    add(&held, 62, 70);
    add(&held, 27, 28);
    STATE_IS(&held, {10, 25}, {27, 28}, {30, 40}, {45, 60}, {62, 70});
    add(&held, 24, 61);
    STATE_IS(&held, {10, 61}, {62, 70});
    add(&held, 0, UINT64_MAX);
    STATE_IS(&held, {0, UINT64_MAX});
    T_EQ(tts_banks_state_add(&held, (struct tts_range){2, 1}), TTS_E_INVALID);
    STATE_IS(&held, {0, UINT64_MAX});
    tts_banks_state_release(&held);
}

T_TEST(a_merge_is_the_union)
{
    struct tts_banks_state a = {.config = pool}, b = {.config = pool}, none = {.config = pool};
    add(&a, 10, 20);
    add(&a, 40, 50);
    add(&a, 80, 90);
    add(&b, 0, 5);
    add(&b, 20, 30);
    add(&b, 45, 46);
    add(&b, 95, 99);
    T_EQ(tts_banks_state_merge(&a, &b), TTS_OK);
    STATE_IS(&a, {0, 5}, {10, 30}, {40, 50}, {80, 90}, {95, 99});
    STATE_IS(&b, {0, 5}, {20, 30}, {45, 46}, {95, 99});
    T_EQ(tts_banks_state_merge(&a, &a), TTS_OK);
    T_EQ(tts_banks_state_merge(&a, &none), TTS_OK);
    T_EQ(a.count, 5);
    T_EQ(tts_banks_state_merge(&none, &a), TTS_OK);
    STATE_IS(&none, {0, 5}, {10, 30}, {40, 50}, {80, 90}, {95, 99});
    tts_banks_state_release(&a);
    tts_banks_state_release(&b);
    tts_banks_state_release(&none);
}

/* Checks that a state with this configuration can neither be merged nor used for an
 * override. */
static void does_not_fit(struct tts_banks *banks, struct tts_banks_config config)
{
    struct tts_banks_state into = {.config = pool}, from = {.config = config};
    add(&from, K, 2 * K);
    T_EQ(tts_banks_state_merge(&into, &from), TTS_E_INVALID);
    T_EQ(into.count, 0);
    T_EQ(tts_banks_override(banks, &from), TTS_E_INVALID);
    T_EQ(taken_blocks(banks, 0), 1);
    tts_banks_state_release(&from);
}

T_TEST(a_state_of_another_pool_is_refused)
{
    struct tts_banks *banks = banks_of(pool);
    up(banks, 0, K);
    struct tts_banks_config config = pool;
    config.banks++;
    does_not_fit(banks, config);
    config = pool;
    config.size_bytes += 32;
    does_not_fit(banks, config);
    config = pool;
    config.offset_bytes += 32;
    does_not_fit(banks, config);
    config = pool;
    config.limit++;
    does_not_fit(banks, config);
    config = pool;
    config.page_alignment_bytes *= 2;
    does_not_fit(banks, config);
    config = pool;
    config.block_alignment_bytes *= 2;
    does_not_fit(banks, config);
    done(banks);
}

T_TEST(a_pool_that_is_shrunk_is_another)
{
    struct tts_banks *banks = banks_of(pool);
    struct tts_banks_state whole = {0}, shrunk = {0};
    T_EQ(tts_banks_extract(banks, &whole), TTS_OK);
    T_EQ(tts_banks_shrink(banks, K), TTS_OK);
    T_EQ(tts_banks_extract(banks, &shrunk), TTS_OK);
    T_EQ(shrunk.config.size_bytes, 63 * K);
    T_EQ(tts_banks_state_merge(&whole, &shrunk), TTS_E_INVALID);
    T_EQ(tts_banks_override(banks, &whole), TTS_E_INVALID);
    T_EQ(tts_banks_override(banks, &shrunk), TTS_OK);
    tts_banks_state_release(&whole);
    tts_banks_state_release(&shrunk);
    done(banks);
}

T_TEST(after_an_override_adjacent_buffers_are_one_block)
{
    struct tts_banks *from = banks_of(pool), *to = banks_of(pool);
    const struct tts_space *space = tts_banks_space(to, 0);
    struct tts_banks_state held = {0};
    for (int i = 0; i < 4; i++)
        up(from, 0, K);
    T_EQ(tts_banks_take_at(from, 0, 10 * K, 1), TTS_OK);
    up(to, 0, 33 * K);
    T_EQ(tts_banks_extract(from, &held), TTS_OK);
    T_EQ(tts_banks_override(to, &held), TTS_OK);
    T_TRUE(tts_banks_is_valid(to) && tts_banks_space(to, 0) == space);
    T_EQ(taken_blocks(to, 0), 2);
    T_EQ(up(to, 0, K), 4 * K);
    T_EQ(tts_banks_give(to, 0, K), TTS_E_NOT_FOUND);
    T_EQ(tts_banks_give(to, 0, 3 * K), TTS_E_NOT_FOUND);
    give(to, 0, 0); /* one block has all four ranges */
    T_EQ(tts_banks_give(to, 0, 0), TTS_E_NOT_FOUND);
    T_EQ(up(to, 0, 4 * K), 0);
    give(to, 0, 10 * K);
    tts_banks_state_release(&held);
    done(from);
    done(to);
}

T_TEST(an_override_is_for_allocator_0_and_does_not_reach_what_was_left_behind)
{
    struct tts_banks *banks = banks_of(linked(pool));
    struct tts_banks_state held = {.config = pool};
    up(banks, 1, K);
    up(banks, 0, K);
    add(&held, 0, 2 * K);
    T_EQ(tts_banks_override(banks, &held), TTS_OK);
    T_EQ(taken_blocks(banks, 0), 1);
    T_EQ(taken_blocks(banks, 1), 1);
    T_EQ(up(banks, 2, K), 2 * K);
    done(banks);

    banks = banks_of(pool);
    leave(banks, K);
    up(banks, 0, K);
    T_EQ(tts_banks_override(banks, &held), TTS_E_FULL);
    T_EQ(taken_blocks(banks, 0), 2); /* the refused override has changed nothing */
    T_EQ(up(banks, 0, K), 2 * K);
    give(banks, 0, 0);
    T_EQ(tts_banks_override(banks, &held), TTS_OK);
    T_EQ(taken_blocks(banks, 0), 1);
    T_EQ(tts_banks_give_all(banks), TTS_OK); /* also gives back the blocks of the override */
    T_EQ(taken_blocks(banks, 0), 0);
    add(&held, 63 * K, 65 * K);
    T_EQ(tts_banks_override(banks, &held), TTS_E_FULL);
    T_EQ(taken_blocks(banks, 0), 0);
    tts_banks_state_release(&held);
    done(banks);
}

/* --- memory ----------------------------------------------------------------------------- */

enum { SWEEP_BLOCKS = 300, SWEEP_LINKED = 90 };

struct sweep {
    struct heap heap;
    struct tts_banks *banks;
    struct tts_banks_state state;
};

/* Repeats an operation that ran out of memory, this time with enough memory. */
#define AGAIN(sweep, call)                                                                     \
    do {                                                                                       \
        enum tts_status status_ = (call);                                                      \
        if (status_ == TTS_E_NOMEM) {                                                          \
            T_TRUE((sweep)->heap.failed > 0);                                                  \
            T_TRUE((sweep)->banks == NULL || tts_banks_is_valid((sweep)->banks));              \
            (sweep)->heap.fail_at = 0;                                                         \
            status_ = (call);                                                                  \
        }                                                                                      \
        T_TRUE(status_ == TTS_OK || status_ == TTS_E_BELOW_LIMIT);                             \
    } while (0)

static void sweep_take(struct sweep *s, uint32_t allocator, uint64_t limit, uint64_t expected)
{
    const struct tts_range other = {3, 4};
    struct tts_banks_wish take = {.allocator = allocator,
                                  .direction = TTS_DIRECTION_UP,
                                  .bytes = 32,
                                  .limit = limit,
                                  .taken = &other,
                                  .taken_count = allocator == 0};
    uint64_t address = 77, before = taken_blocks(s->banks, allocator);
    enum tts_status status = tts_banks_take(s->banks, &take, &address);
    if (status == TTS_E_NOMEM) {
        T_TRUE(address == 77 && taken_blocks(s->banks, allocator) == before);
        s->heap.fail_at = 0;
        status = tts_banks_take(s->banks, &take, &address);
    }
    T_EQ(status, limit > address ? TTS_E_BELOW_LIMIT : TTS_OK);
    T_EQ(address, expected);
}

/* tts_banks_give_all() must give back all blocks or none. */
static void sweep_give_all(struct sweep *s, uint64_t stay)
{
    uint64_t before = taken_blocks(s->banks, 0);
    enum tts_status status = tts_banks_give_all(s->banks);
    if (status == TTS_E_NOMEM) {
        T_EQ(taken_blocks(s->banks, 0), before);
        T_TRUE(tts_banks_is_valid(s->banks));
        s->heap.fail_at = 0;
        status = tts_banks_give_all(s->banks);
    }
    T_EQ(status, TTS_OK);
    T_EQ(taken_blocks(s->banks, 0), stay);
}

static void sweep_new(struct sweep *s, struct tts_banks_config config)
{
    struct tts_error err = {0};
    enum tts_status status = tts_banks_new(&config, &s->heap.alloc, &s->banks, &err);
    if (status == TTS_E_NOMEM) {
        T_TRUE(s->banks == NULL && err.status == status && heap_is_settled(&s->heap));
        s->heap.fail_at = 0;
        status = tts_banks_new(&config, &s->heap.alloc, &s->banks, &err);
    }
    T_EQ(status, TTS_OK);
}

static void sweep_state(struct sweep *s, struct tts_banks_config config)
{
    struct tts_banks_state more = {.config = config, .alloc = &s->heap.alloc};
    more.config.dependencies = NULL;
    more.config.dependency_count = 0;
    AGAIN(s, tts_banks_extract(s->banks, &s->state));
    for (uint64_t i = 0; i < 20; i++)
        AGAIN(s, tts_banks_state_add(&more, (struct tts_range){96 * i, 96 * i + 32}));
    T_EQ(more.count, 20);
    AGAIN(s, tts_banks_state_merge(&s->state, &more));
    uint64_t before = taken_blocks(s->banks, 0);
    enum tts_status status = tts_banks_override(s->banks, &s->state);
    if (status == TTS_E_NOMEM) {
        T_EQ(taken_blocks(s->banks, 0), before);
        s->heap.fail_at = 0;
        status = tts_banks_override(s->banks, &s->state);
    }
    T_EQ(status, TTS_OK);
    T_EQ(taken_blocks(s->banks, 0), s->state.count);
    tts_banks_state_release(&more);
}

/* Tests an allocator without neighbours. Every third block is left behind, so that giving the
 * others back makes many free blocks. */
static void sweep_alone(struct sweep *s)
{
    sweep_new(s, pool);
    for (uint64_t i = 0; i < SWEEP_BLOCKS; i++)
        sweep_take(s, 0, i % 3 == 1 ? UINT64_MAX : 0, 32 * i);
    sweep_give_all(s, SWEEP_BLOCKS / 3);
    for (uint64_t i = 1; i < SWEEP_BLOCKS; i += 3)
        AGAIN(s, tts_banks_give(s->banks, 0, 32 * i));
    sweep_state(s, pool);
}

static void sweep_linked(struct sweep *s)
{
    sweep_new(s, linked(pool));
    for (uint64_t i = 0; i < SWEEP_LINKED; i++) {
        sweep_take(s, 1, 0, 64 * i);
        sweep_take(s, 0, 0, 64 * i + 32);
    }
    sweep_state(s, pool);
    sweep_give_all(s, 0);
}

static void run_sweep(void (*script)(struct sweep *), bool fail_after)
{
    for (uint64_t n = 1, failed = 1; failed > 0; n++) {
        struct sweep s = {.banks = NULL};
        heap_init(&s.heap);
        s.heap.fail_at = n;
        s.heap.fail_after = fail_after;
        script(&s);
        failed = s.heap.failed;
        T_TRUE(failed > 0 || n > 30); /* the test makes more than 30 allocations */
        tts_banks_state_release(&s.state);
        done(s.banks);
        T_TRUE(heap_is_settled(&s.heap));
    }
}

T_TEST(any_allocation_may_fail_and_nothing_has_happened)
{
    run_sweep(sweep_alone, false);
    run_sweep(sweep_linked, false);
}

T_TEST(memory_may_run_out_for_good_and_nothing_has_happened)
{
    run_sweep(sweep_alone, true);
    run_sweep(sweep_linked, true);
}

T_TEST(in_a_steady_state_nothing_is_allocated)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_banks_config configs[] = {pool, linked(pool)};
    for (int i = 0; i < 2; i++) {
        struct tts_banks *banks = NULL;
        T_EQ(tts_banks_new(&configs[i], &heap.alloc, &banks, NULL), TTS_OK);
        uint64_t calls = 0;
        for (int round = 0; round < 3; round++) {
            for (uint64_t at = 0; at < 50 * K; at += K)
                T_EQ(up(banks, 0, K), at);
            for (uint64_t at = 0; at < 50 * K; at += K)
                give(banks, 0, at);
            calls = round == 0 ? heap.calls : calls;
        }
        T_EQ(heap.calls, calls);
        done(banks);
    }
    T_TRUE(heap_is_settled(&heap));
}
