#include "views/map/addrmap.h"

#include "base/heap.h"
#include "device/space.h"

#include <assert.h>
#include <string.h>

/* Rows are summed in at most 2^24 units and series in at most 2^32 units. With 2^32 operations
 * per column, more than anyone can read, no sum exceeds 64 bits. */
enum { ROW_UNITS_MAX = 1 << 24, VALUE_BITS = 32 };

enum tts_status tts_addrmap_new(const struct tts_space_config *config,
                                const struct tts_alloc *alloc, struct tts_addrmap **out)
{
    if (!alloc)
        alloc = tts_alloc_libc();
    struct tts_addrmap *map = alloc->alloc(alloc->ctx, sizeof *map);
    if (!map)
        return TTS_E_NOMEM;
    memset(map, 0, sizeof *map);
    map->alloc = *alloc;
    map->config = *config;
    map->last.total_bytes = map->last.free_bytes = config->size_bytes;
    map->last.largest_free_bytes = config->size_bytes;
    map->span = 1;
    map->has_detail = true;
    map->row_bytes = (config->size_bytes + TTS_ADDRMAP_ROWS - 1) / TTS_ADDRMAP_ROWS;
    map->row_count = (size_t)((config->size_bytes + map->row_bytes - 1) / map->row_bytes);
    map->row_unit_bytes = (map->row_bytes + ROW_UNITS_MAX - 1) / ROW_UNITS_MAX;
    while (config->size_bytes >> map->value_shift >> VALUE_BITS)
        map->value_shift++;
    *out = map;
    return TTS_OK;
}

void tts_addrmap_free(struct tts_addrmap *map)
{
    if (!map)
        return;
    struct tts_alloc alloc = map->alloc;
    alloc.free(alloc.ctx, map, sizeof *map);
}

uint64_t tts_addrmap_row_size(const struct tts_addrmap *map, size_t row)
{
    uint64_t start = row * map->row_bytes, left = map->config.size_bytes - start;
    return left < map->row_bytes ? left : map->row_bytes;
}

/* ---- columns ---- */

/* Converts bytes of a row to units. Only 0 bytes become 0 units, and only a full row becomes
 * all units. */
static uint64_t row_units(const struct tts_addrmap *map, size_t row, uint64_t bytes)
{
    uint64_t unit = map->row_unit_bytes, all = tts_addrmap_row_size(map, row);
    if (bytes == all)
        return (all + unit - 1) / unit;
    return bytes > 0 && bytes < unit ? 1 : bytes / unit;
}

static uint16_t row_cover(const struct tts_addrmap *map, size_t row)
{
    uint64_t all = row_units(map, row, tts_addrmap_row_size(map, row)) * map->filled;
    uint64_t sum = map->row_sum[row];
    if (sum == 0 || sum == all)
        return sum == 0 ? 0 : TTS_ADDRMAP_FULL;
    while (all >> 48) {
        all /= 2;
        sum /= 2;
    }
    uint64_t cover = sum * TTS_ADDRMAP_FULL / all;
    if (cover == 0)
        return 1;
    return (uint16_t)(cover < TTS_ADDRMAP_FULL ? cover : TTS_ADDRMAP_FULL - 1);
}

/* Returns the mean of two cells. Only two empty cells give 0, and only two full cells give
 * FULL. */
static uint16_t mean_cover(uint16_t a, uint16_t b)
{
    uint32_t sum = (uint32_t)a + b;
    return (uint16_t)(sum < TTS_ADDRMAP_FULL ? (sum + 1) / 2 : sum / 2);
}

static uint64_t mean_of_bytes(uint64_t a, uint64_t b)
{
    return a / 2 + b / 2 + (a & b & 1);
}

static void merge_two_columns(struct tts_addrmap_column *to, const struct tts_addrmap_column *a,
                              const struct tts_addrmap_column *b)
{
    for (size_t row = 0; row < TTS_ADDRMAP_ROWS; row++)
        to->cover[row] = mean_cover(a->cover[row], b->cover[row]);
    for (size_t i = 0; i < TTS_ADDRMAP_ROW_WORDS; i++)
        to->blocked_rows[i] = a->blocked_rows[i] | b->blocked_rows[i];
    to->free_bytes = mean_of_bytes(a->free_bytes, b->free_bytes);
    to->largest_bytes = mean_of_bytes(a->largest_bytes, b->largest_bytes);
    to->cut_bytes = mean_of_bytes(a->cut_bytes, b->cut_bytes);
    to->fragmented = a->fragmented + b->fragmented;
    to->exhausted = a->exhausted + b->exhausted;
    to->blocked = a->blocked + b->blocked;
    to->fragmented_sizes = a->fragmented_sizes | b->fragmented_sizes;
    to->exhausted_sizes = a->exhausted_sizes | b->exhausted_sizes;
}

static void halve_columns(struct tts_addrmap *map)
{
    assert(map->column_count == TTS_ADDRMAP_COLUMNS);
    for (size_t i = 0; i < TTS_ADDRMAP_COLUMNS / 2; i++)
        merge_two_columns(&map->columns[i], &map->columns[2 * i], &map->columns[2 * i + 1]);
    memset(&map->columns[TTS_ADDRMAP_COLUMNS / 2], 0, sizeof map->columns / 2);
    map->column_count = TTS_ADDRMAP_COLUMNS / 2;
    map->span *= 2;
    map->has_detail = false;
}

static void close_column(struct tts_addrmap *map)
{
    struct tts_addrmap_column *column = &map->columns[map->column_count++];
    for (size_t row = 0; row < map->row_count; row++) {
        uint64_t units = row_units(map, row, map->row_taken_bytes[row]);
        map->row_sum[row] += units * (map->filled - map->row_since[row]);
        column->cover[row] = row_cover(map, row);
        map->row_sum[row] = map->row_since[row] = 0;
    }
    column->free_bytes = map->free_sum / map->filled << map->value_shift;
    column->largest_bytes = map->largest_sum / map->filled << map->value_shift;
    column->cut_bytes = map->cut_sum / map->filled << map->value_shift;
    map->free_sum = map->largest_sum = map->cut_sum = 0;
    map->last_span = map->filled;
    map->filled = 0;
}

/* ---- events ---- */

/* Adds a block to its rows, or removes it. First adds the current state of these rows to their
 * sums. */
static void change_rows(struct tts_addrmap *map, uint64_t start, uint64_t bytes, bool taken)
{
    uint64_t end = start + bytes;
    assert(start < end && end <= map->config.size_bytes);
    size_t row = (size_t)(start / map->row_bytes);
    for (uint64_t at = start; at < end; row++) {
        uint64_t row_end = (row + 1) * map->row_bytes;
        uint64_t part = (end < row_end ? end : row_end) - at;
        uint64_t *held = &map->row_taken_bytes[row];
        map->row_sum[row] += row_units(map, row, *held) * (map->filled - map->row_since[row]);
        map->row_since[row] = map->filled;
        *held = taken ? *held + part : *held - part;
        at += part;
    }
}

static void clear_rows(struct tts_addrmap *map)
{
    for (size_t row = 0; row < map->row_count; row++) {
        uint64_t units = row_units(map, row, map->row_taken_bytes[row]);
        map->row_sum[row] += units * (map->filled - map->row_since[row]);
        map->row_since[row] = map->filled;
        map->row_taken_bytes[row] = 0;
    }
}

static void end_blocks(struct tts_addrmap *map, bool all, uint64_t start)
{
    for (size_t i = map->block_count; i-- > 0;) {
        struct tts_addrmap_block *block = &map->blocks[i];
        if (block->end_seq != UINT64_MAX || (!all && block->start != start))
            continue;
        block->end_seq = map->operations;
        if (!all)
            return;
    }
}

/* Keeps the event for a picture without merged columns. Each event adds at most one entry. */
static void keep_detail(struct tts_addrmap *map, const struct tts_addrmap_event *event,
                        bool fragmented)
{
    uint64_t start = event->address - map->config.offset_bytes;
    map->lines[map->operations - 1] = event->line;
    switch (event->change) {
    case TTS_ADDRMAP_NOTHING:
        break;
    case TTS_ADDRMAP_TAKEN:
    case TTS_ADDRMAP_LEAKED:
        map->blocks[map->block_count++] =
            (struct tts_addrmap_block){map->operations, UINT64_MAX, start, event->bytes,
                                       event->change == TTS_ADDRMAP_LEAKED};
        break;
    case TTS_ADDRMAP_GIVEN:
        end_blocks(map, false, start);
        break;
    case TTS_ADDRMAP_CLEARED:
        end_blocks(map, true, 0);
        break;
    case TTS_ADDRMAP_FAILED:
        map->marks[map->mark_count++] =
            (struct tts_addrmap_mark){map->operations, event->bytes, fragmented};
        break;
    case TTS_ADDRMAP_REFUSED:
    case TTS_ADDRMAP_NOT_CUT:
        break; /* the column already stores the row of the event */
    }
}

/* Returns the bit of a size in steps of 1 / SIZES of the space. The last bit also covers all
 * larger sizes. */
static uint64_t size_bit(const struct tts_addrmap *map, uint64_t bytes)
{
    uint64_t step_bytes = map->config.size_bytes / TTS_ADDRMAP_SIZES + 1;
    uint64_t step = bytes / step_bytes;
    return UINT64_C(1) << (step < TTS_ADDRMAP_SIZES ? step : TTS_ADDRMAP_SIZES - 1);
}

static void count_failed(struct tts_addrmap *map, uint64_t bytes, bool fragmented)
{
    struct tts_addrmap_column *column = &map->columns[map->column_count];
    if (fragmented) {
        map->counts.fragmented++;
        column->fragmented++;
        column->fragmented_sizes |= size_bit(map, bytes);
    } else {
        map->counts.exhausted++;
        column->exhausted++;
        column->exhausted_sizes |= size_bit(map, bytes);
    }
}

static void count_blocked(struct tts_addrmap *map, uint64_t address)
{
    struct tts_addrmap_column *column = &map->columns[map->column_count];
    uint64_t start = address - map->config.offset_bytes;
    column->blocked++;
    if (start >= map->config.size_bytes)
        return; /* outside the space there is no row; a start below the space has wrapped */
    size_t row = (size_t)(start / map->row_bytes);
    column->blocked_rows[row / 64] |= UINT64_C(1) << (row % 64);
}

static void keep_worst(struct tts_addrmap *map, const struct tts_addrmap_event *event,
                       const struct tts_space_stats *after)
{
    struct tts_addrmap_worst *worst = &map->worst;
    uint64_t spare = after->free_bytes - event->bytes;
    if (worst->seq == 0 || spare > worst->free_bytes - worst->need_bytes)
        *worst = (struct tts_addrmap_worst){map->operations, event->line, event->bytes,
                                            after->free_bytes, after->largest_free_bytes};
}

static void apply_operation(struct tts_addrmap *map, const struct tts_addrmap_event *event,
                            bool fragmented)
{
    uint64_t start = event->address - map->config.offset_bytes;
    switch (event->change) {
    case TTS_ADDRMAP_NOTHING:
        break;
    case TTS_ADDRMAP_TAKEN:
    case TTS_ADDRMAP_LEAKED:
        map->counts.taken++;
        map->counts.leaked += event->change == TTS_ADDRMAP_LEAKED;
        change_rows(map, start, event->bytes, true);
        break;
    case TTS_ADDRMAP_GIVEN:
        change_rows(map, start, event->bytes, false);
        break;
    case TTS_ADDRMAP_CLEARED:
        clear_rows(map);
        break;
    case TTS_ADDRMAP_FAILED:
        count_failed(map, event->bytes, fragmented);
        break;
    case TTS_ADDRMAP_REFUSED:
    case TTS_ADDRMAP_NOT_CUT:
        map->counts.refused += event->change == TTS_ADDRMAP_REFUSED;
        map->counts.not_cut += event->change == TTS_ADDRMAP_NOT_CUT;
        count_blocked(map, event->address);
        break;
    }
}

void tts_addrmap_add(struct tts_addrmap *map, const struct tts_addrmap_event *event,
                     const struct tts_space_stats *after)
{
    if (map->column_count == TTS_ADDRMAP_COLUMNS)
        halve_columns(map);
    /* A failed request changes nothing: the free memory is the same before and after it. */
    bool fragmented = event->bytes > 0 && event->bytes <= after->free_bytes;
    map->operations++;
    if (map->has_detail)
        keep_detail(map, event, fragmented);
    if (event->change == TTS_ADDRMAP_FAILED && fragmented)
        keep_worst(map, event, after);
    apply_operation(map, event, fragmented);
    map->last = *after;
    map->filled++;
    map->free_sum += after->free_bytes >> map->value_shift;
    map->largest_sum += after->largest_free_bytes >> map->value_shift;
    map->cut_sum += (map->config.size_bytes - after->total_bytes) >> map->value_shift;
    if (map->filled == map->span)
        close_column(map);
}

void tts_addrmap_finish(struct tts_addrmap *map)
{
    if (map->filled > 0)
        close_column(map);
}
