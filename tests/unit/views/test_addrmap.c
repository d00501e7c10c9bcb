#include "device/space.h"
#include "harness/t.h"
#include "torture/heap.h"
#include "views/map/addrmap.h"

#include <stdlib.h>
#include <string.h>

/* The pool is small, so that the tests can keep the state of every byte after every
 * operation. */
enum { SIZE = 1003, OFFSET = 77, OPS_MAX = 6000, BLOCKS_MAX = 64, ROW_BYTES = 6, ROWS = 168 };

struct past {
    size_t count;
    uint8_t row_taken[OPS_MAX][ROWS];
    uint64_t free_bytes[OPS_MAX], largest[OPS_MAX], cut[OPS_MAX];
    /* The size of the request + 1; 0 if there was none. */
    uint64_t fragmented[OPS_MAX], exhausted[OPS_MAX];
    uint64_t refused[OPS_MAX]; /* the row + 1; 0 if there was none */
    bool blocked[OPS_MAX]; /* a request was refused, or a cut failed; also outside the space */
};

struct world {
    uint64_t rng, cut;
    bool taken[SIZE];
    size_t block_count;
    struct tts_range blocks[BLOCKS_MAX];
    struct past *past;
    struct tts_addrmap *map;
};

static struct tts_space_stats stats_of(const struct world *world)
{
    struct tts_space_stats stats = {.total_bytes = SIZE - world->cut};
    uint64_t run = 0;
    for (size_t i = world->cut; i < SIZE; i++) {
        run = world->taken[i] ? 0 : run + 1;
        stats.free_bytes += !world->taken[i];
        stats.largest_free_bytes =
            run > stats.largest_free_bytes ? run : stats.largest_free_bytes;
    }
    stats.taken_bytes = stats.total_bytes - stats.free_bytes;
    return stats;
}

/* Returns the line of operation `at` in a file that has three lines for each statement. */
static uint64_t line_of(size_t at)
{
    return 3 * at + 10;
}

static bool is_blocked(const struct tts_addrmap_event *event)
{
    return event->change == TTS_ADDRMAP_REFUSED || event->change == TTS_ADDRMAP_NOT_CUT;
}

static void remember(struct world *world, struct tts_addrmap_event *event)
{
    struct past *past = world->past;
    size_t at = past->count++;
    struct tts_space_stats after = stats_of(world);
    for (size_t i = 0; i < SIZE; i++)
        past->row_taken[at][i / ROW_BYTES] += world->taken[i];
    past->free_bytes[at] = after.free_bytes;
    past->largest[at] = after.largest_free_bytes;
    past->cut[at] = world->cut;
    bool in_pieces = event->bytes > 0 && event->bytes <= after.free_bytes;
    if (event->change == TTS_ADDRMAP_FAILED)
        (in_pieces ? past->fragmented : past->exhausted)[at] = event->bytes + 1;
    past->blocked[at] = is_blocked(event);
    if (is_blocked(event) && event->address >= OFFSET && event->address < OFFSET + SIZE)
        past->refused[at] = (event->address - OFFSET) / ROW_BYTES + 1;
    event->line = line_of(at);
    tts_addrmap_add(world->map, event, &after);
}

static void set(struct world *world, struct tts_range block, bool taken)
{
    for (uint64_t i = block.start; i < block.end; i++)
        world->taken[i] = taken;
}

static bool is_free(const struct world *world, struct tts_range block)
{
    if (block.start < world->cut || block.end > SIZE || block.start >= block.end)
        return false;
    for (uint64_t i = block.start; i < block.end; i++)
        if (world->taken[i])
            return false;
    return true;
}

static void take(struct world *world)
{
    uint64_t start = t_random(&world->rng) % SIZE, bytes = t_random(&world->rng) % 120;
    struct tts_range block = {start, start + bytes};
    struct tts_addrmap_event event = {TTS_ADDRMAP_REFUSED, OFFSET + start, bytes, 0};
    if (t_random(&world->rng) % 8 == 0) {
        event.address = t_random(&world->rng) % 3000; /* the address may be outside the space */
        event.change = bytes % 3 ? TTS_ADDRMAP_REFUSED : TTS_ADDRMAP_NOT_CUT;
    } else if (world->block_count < BLOCKS_MAX && is_free(world, block)) {
        set(world, block, true);
        world->blocks[world->block_count++] = block;
        event.change = bytes % 5 ? TTS_ADDRMAP_TAKEN : TTS_ADDRMAP_LEAKED;
    } else {
        event = (struct tts_addrmap_event){TTS_ADDRMAP_FAILED, 0,
                                           t_random(&world->rng) % (2 * SIZE), 0};
    }
    remember(world, &event);
}

static void give(struct world *world)
{
    size_t i = t_random(&world->rng) % world->block_count;
    struct tts_range block = world->blocks[i];
    struct tts_addrmap_event event = {TTS_ADDRMAP_GIVEN, OFFSET + block.start,
                                      block.end - block.start, 0};
    set(world, block, false);
    world->blocks[i] = world->blocks[--world->block_count];
    remember(world, &event);
}

static void step(struct world *world)
{
    uint64_t pick = t_random(&world->rng) % 100;
    struct tts_addrmap_event event = {TTS_ADDRMAP_NOTHING, 0, 0, 0};
    if (pick < 45) {
        take(world);
    } else if (pick < 85 && world->block_count > 0) {
        give(world);
    } else {
        if (pick >= 99) {
            event.change = TTS_ADDRMAP_CLEARED;
            memset(world->taken, 0, sizeof world->taken);
            world->block_count = 0;
            world->cut = 0;
        } else if (pick >= 96) {
            struct tts_range low = {world->cut, world->cut + 40};
            world->cut = is_free(world, low) && low.end < SIZE ? low.end : 0;
        }
        remember(world, &event);
    }
}

static struct world *play(size_t operations, uint64_t seed)
{
    static struct past past;
    static struct world world;
    memset(&past, 0, sizeof past);
    memset(&world, 0, sizeof world);
    world.rng = seed;
    world.past = &past;
    struct tts_space_config config = {SIZE, OFFSET, 1, 1, TTS_POLICY_FIRST};
    T_EQ(tts_addrmap_new(&config, NULL, &world.map), TTS_OK);
    T_EQ(world.map->row_bytes, ROW_BYTES);
    T_EQ(world.map->row_count, ROWS);
    for (size_t i = 0; i < operations; i++)
        step(&world);
    tts_addrmap_finish(world.map);
    tts_addrmap_finish(world.map); /* a second call has no effect */
    return &world;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t mean_of(const uint64_t *values, size_t first, size_t end)
{
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++)
        sum += values[i];
    return sum / (end - first);
}

static void check_cover(const struct world *world, size_t column, size_t first, size_t end)
{
    const struct tts_addrmap *map = world->map;
    for (size_t row = 0; row < ROWS; row++) {
        uint64_t sum = 0, all = tts_addrmap_row_size(map, row) * (end - first);
        for (size_t i = first; i < end; i++)
            sum += world->past->row_taken[i][row];
        uint16_t cover = map->columns[column].cover[row];
        T_EQ(cover == 0, sum == 0);
        T_EQ(cover == TTS_ADDRMAP_FULL, sum == all);
        /* The value is cut to an integer once, and rounded in each of up to four merges. */
        T_TRUE(distance(cover, sum * TTS_ADDRMAP_FULL / all) <= 5);
        if (map->span == 1)
            T_EQ(cover, sum * TTS_ADDRMAP_FULL / all);
    }
}

static uint64_t step_bit(uint64_t size)
{
    uint64_t step = size / (SIZE / 64 + 1);
    return UINT64_C(1) << (step < 64 ? step : 63);
}

static void check_failures(const struct world *world, size_t column, size_t first, size_t end)
{
    const struct tts_addrmap_column *got = &world->map->columns[column];
    const struct past *past = world->past;
    uint64_t fragmented = 0, exhausted = 0, fragmented_sizes = 0, exhausted_sizes = 0;
    uint64_t blocked = 0;
    uint64_t rows[TTS_ADDRMAP_ROW_WORDS] = {0};
    for (size_t i = first; i < end; i++) {
        fragmented += past->fragmented[i] > 0;
        exhausted += past->exhausted[i] > 0;
        blocked += past->blocked[i];
        fragmented_sizes |= past->fragmented[i] ? step_bit(past->fragmented[i] - 1) : 0;
        exhausted_sizes |= past->exhausted[i] ? step_bit(past->exhausted[i] - 1) : 0;
        if (past->refused[i])
            rows[(past->refused[i] - 1) / 64] |= UINT64_C(1) << (past->refused[i] - 1) % 64;
    }
    T_TRUE(got->fragmented == fragmented && got->exhausted == exhausted);
    T_EQ(got->blocked, blocked);
    T_TRUE(got->fragmented_sizes == fragmented_sizes);
    T_TRUE(got->exhausted_sizes == exhausted_sizes);
    T_MEM_EQ(got->blocked_rows, rows, sizeof rows);
}

static void check_columns(const struct world *world)
{
    const struct tts_addrmap *map = world->map;
    for (size_t column = 0; column < map->column_count; column++) {
        size_t first = column * map->span, end = first + map->span;
        end = end < world->past->count ? end : world->past->count;
        const struct tts_addrmap_column *got = &map->columns[column];
        check_cover(world, column, first, end);
        check_failures(world, column, first, end);
        T_TRUE(distance(got->free_bytes, mean_of(world->past->free_bytes, first, end)) <= 5);
        T_TRUE(distance(got->largest_bytes, mean_of(world->past->largest, first, end)) <= 5);
        T_TRUE(distance(got->cut_bytes, mean_of(world->past->cut, first, end)) <= 5);
    }
}

T_TEST(columns_are_means_of_what_happened_at_any_length)
{
    static const size_t lengths[] = {1, 2, 639, 640, 641, 1279, 1280, 1281, 2560, 2561, 5999};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct world *world = play(lengths[i], i + 1);
        const struct tts_addrmap *map = world->map;
        size_t span = 1;
        while (span * TTS_ADDRMAP_COLUMNS < lengths[i])
            span *= 2;
        T_EQ(map->operations, lengths[i]);
        T_EQ(map->span, span);
        T_EQ(map->column_count, (lengths[i] + span - 1) / span);
        T_EQ(map->last_span, (lengths[i] - 1) % span + 1);
        T_EQ(map->has_detail, lengths[i] <= TTS_ADDRMAP_COLUMNS);
        check_columns(world);
        for (size_t row = 0; row < ROWS; row++)
            T_EQ(map->row_taken_bytes[row], world->past->row_taken[lengths[i] - 1][row]);
        tts_addrmap_free(world->map);
    }
}

T_TEST(blocks_of_a_short_history_cover_exactly_what_was_taken)
{
    struct world *world = play(TTS_ADDRMAP_COLUMNS, 99);
    const struct tts_addrmap *map = world->map;
    T_TRUE(map->has_detail && map->block_count > 100 && map->mark_count > 20);
    for (size_t at = 0; at < world->past->count; at++) {
        uint8_t rows[ROWS] = {0};
        for (size_t i = 0; i < map->block_count; i++) {
            const struct tts_addrmap_block *block = &map->blocks[i];
            bool there = block->first_seq <= at + 1 && at + 1 < block->end_seq;
            for (uint64_t b = 0; there && b < block->size_bytes; b++)
                rows[(block->start + b) / ROW_BYTES]++;
        }
        T_MEM_EQ(rows, world->past->row_taken[at], sizeof rows);
    }
    uint64_t leaked = 0;
    for (size_t i = 0; i < map->block_count; i++) {
        T_EQ(map->blocks[i].leaked, map->blocks[i].size_bytes % 5 == 0);
        leaked += map->blocks[i].leaked;
    }
    T_TRUE(leaked > 0 && map->counts.leaked == leaked);
    T_EQ(map->counts.taken, map->block_count);
    for (size_t i = 0; i < map->mark_count; i++) {
        size_t at = (size_t)map->marks[i].seq - 1;
        const uint64_t *kind =
            map->marks[i].fragmented ? world->past->fragmented : world->past->exhausted;
        T_EQ(kind[at], map->marks[i].size_bytes + 1);
    }
    for (size_t at = 0; at < world->past->count; at++)
        T_EQ(map->lines[at], line_of(at));
    T_EQ(map->mark_count, map->counts.fragmented + map->counts.exhausted);
    tts_addrmap_free(world->map);
}

T_TEST(the_worst_failure_is_the_one_with_most_to_spare)
{
    struct world *world = play(3000, 5);
    const struct past *past = world->past;
    size_t worst = OPS_MAX;
    for (size_t i = 0; i < past->count; i++) {
        if (!past->fragmented[i])
            continue;
        if (worst == OPS_MAX || past->free_bytes[i] - past->fragmented[i] >
                                    past->free_bytes[worst] - past->fragmented[worst])
            worst = i;
    }
    T_TRUE(worst < OPS_MAX);
    T_EQ(world->map->worst.seq, worst + 1);
    T_EQ(world->map->worst.line, line_of(worst));
    T_EQ(world->map->worst.need_bytes, past->fragmented[worst] - 1);
    T_EQ(world->map->worst.free_bytes, past->free_bytes[worst]);
    T_EQ(world->map->worst.largest_bytes, past->largest[worst]);
    tts_addrmap_free(world->map);
}

T_TEST(a_cut_that_is_refused_is_no_request)
{
    struct tts_space_config config = {SIZE, OFFSET, 1, 1, TTS_POLICY_FIRST};
    struct tts_space_stats after = {.total_bytes = SIZE, .free_bytes = SIZE};
    struct tts_addrmap *map;
    T_EQ(tts_addrmap_new(&config, NULL, &map), TTS_OK);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_REFUSED, 100, 1, 5}, &after);
    T_TRUE(map->counts.refused == 1 && map->counts.not_cut == 0);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_NOT_CUT, 100, 0, 6}, &after);
    T_TRUE(map->counts.refused == 1 && map->counts.not_cut == 1);
    tts_addrmap_free(map);
}

T_TEST(in_the_largest_space_one_byte_still_shows)
{
    struct tts_space_config config = {TTS_SPACE_MAX_BYTES, 0, 1, 1, TTS_POLICY_FIRST};
    struct tts_addrmap *map;
    T_EQ(tts_addrmap_new(&config, NULL, &map), TTS_OK);
    struct tts_space_stats after = {.total_bytes = TTS_SPACE_MAX_BYTES,
                                    .free_bytes = TTS_SPACE_MAX_BYTES - 1,
                                    .largest_free_bytes = TTS_SPACE_MAX_BYTES - 1};
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_TAKEN, 5, 1, 0}, &after);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_TAKEN, 6, map->row_bytes, 0},
                    &after);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_TAKEN, 0, 4, 0}, &after);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_TAKEN, 4, 1, 0}, &after);
    tts_addrmap_finish(map);
    T_EQ(map->columns[0].cover[0], 1);
    T_EQ(map->columns[2].cover[0], TTS_ADDRMAP_FULL - 1);
    T_EQ(map->columns[3].cover[0], TTS_ADDRMAP_FULL);
    T_EQ(map->columns[3].cover[1], 1);
    T_EQ(map->columns[3].cover[2], 0);
    T_TRUE(TTS_SPACE_MAX_BYTES - map->columns[3].free_bytes <= UINT64_C(1) << map->value_shift);
    tts_addrmap_free(map);
}

T_TEST(what_was_there_for_one_of_many_operations_still_shows)
{
    struct tts_space_config config = {TTS_SPACE_MAX_BYTES, 0, 1, 1, TTS_POLICY_FIRST};
    struct tts_addrmap *map;
    T_EQ(tts_addrmap_new(&config, NULL, &map), TTS_OK);
    struct tts_space_stats after = {.total_bytes = TTS_SPACE_MAX_BYTES};
    uint64_t row = map->row_bytes;
    /* Row 1 lacks a byte during one operation. Row 0 has a byte during another one. */
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_TAKEN, row, row, 0}, &after);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_GIVEN, row, 1, 0}, &after);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_TAKEN, row, 1, 0}, &after);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_TAKEN, 0, 1, 0}, &after);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_GIVEN, 0, 1, 0}, &after);
    for (int i = 0; i < 100000; i++)
        tts_addrmap_add(map, &(struct tts_addrmap_event){0}, &after);
    T_EQ(map->span, 256);
    T_EQ(map->columns[0].cover[0], 1);
    T_TRUE(map->columns[0].cover[1] < TTS_ADDRMAP_FULL);
    T_TRUE(map->columns[0].cover[1] > TTS_ADDRMAP_FULL - 20);
    T_EQ(map->columns[1].cover[0], 0);
    T_EQ(map->columns[1].cover[1], TTS_ADDRMAP_FULL);
    tts_addrmap_free(map);
}

T_TEST(a_pool_smaller_than_the_rows_has_a_row_a_byte)
{
    struct tts_space_config config = {3, 10, 1, 1, TTS_POLICY_FIRST};
    struct tts_addrmap *map;
    T_EQ(tts_addrmap_new(&config, NULL, &map), TTS_OK);
    struct tts_space_stats after = {.total_bytes = 3, .free_bytes = 2, .largest_free_bytes = 2};
    T_EQ(map->row_count, 3);
    tts_addrmap_add(map, &(struct tts_addrmap_event){TTS_ADDRMAP_TAKEN, 12, 1, 0}, &after);
    T_EQ(map->columns[0].cover[2], TTS_ADDRMAP_FULL);
    T_EQ(map->columns[0].cover[1], 0);
    tts_addrmap_free(map);
}

T_TEST(memory_is_one_piece_and_may_be_refused)
{
    struct tts_space_config config = {SIZE, 0, 1, 1, TTS_POLICY_FIRST};
    struct tts_addrmap *map = NULL;
    struct heap heap;
    heap_init(&heap);
    heap.fail_at = 1;
    T_EQ(tts_addrmap_new(&config, &heap.alloc, &map), TTS_E_NOMEM);
    T_TRUE(map == NULL);
    heap_init(&heap);
    T_EQ(tts_addrmap_new(&config, &heap.alloc, &map), TTS_OK);
    struct tts_space_stats after = {.total_bytes = SIZE, .free_bytes = SIZE};
    for (int i = 0; i < 100000; i++)
        tts_addrmap_add(map, &(struct tts_addrmap_event){0}, &after);
    T_EQ(heap.calls, 1);
    tts_addrmap_free(map);
    tts_addrmap_free(NULL);
    T_TRUE(heap_is_settled(&heap));
}
