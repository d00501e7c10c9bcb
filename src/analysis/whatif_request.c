/* whatif_request.c: from an allocation that was recorded to a request for another chip. */
#include "analysis/whatif.h"
#include "base/error.h"

#include <assert.h>
#include <inttypes.h>

enum { UNKNOWN_PAGE = 2048 }; /* a tile of bfloat16, which most pages are */

static enum tts_status too_large(struct tts_error *err)
{
    return tts_error_set(err, TTS_E_INVALID, "the buffer is past 64 bits");
}

static bool is_dram(enum tts_pool pool)
{
    return pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE;
}

/* The first `cores` of the grid, row by row. */
static size_t first_cores(uint32_t cores, uint32_t columns, struct tts_core_range out[2])
{
    uint32_t rows = cores / columns, rest = cores % columns;
    size_t count = 0;
    if (rows > 0)
        out[count++] =
            (struct tts_core_range){.x1 = (uint16_t)(columns - 1), .y1 = (uint16_t)(rows - 1)};
    if (rest > 0)
        out[count++] = (struct tts_core_range){
            .y0 = (uint16_t)rows, .x1 = (uint16_t)(rest - 1), .y1 = (uint16_t)rows};
    return count;
}

static enum tts_status too_many(uint32_t cores, uint64_t there, bool dram,
                                struct tts_error *err)
{
    if (dram)
        return tts_error_set(err, TTS_E_RANGE,
                             "needs %" PRIu32 " banks, the device has %" PRIu64, cores, there);
    return tts_error_set(err, TTS_E_RANGE, "needs %" PRIu32 " cores, the grid has %" PRIu64,
                         cores, there);
}

/* How many there are, and in a row. TTS_E_NOT_FOUND: nobody knows. */
static enum tts_status count_cores(const struct tts_chip *chip, bool dram, uint32_t *columns,
                                   uint64_t *there, struct tts_error *err)
{
    enum tts_fact_key key = dram ? TTS_FACT_DRAM_BANKS : TTS_FACT_GRID;
    const struct tts_fact *fact = &chip->fact[key];
    if (fact->origin == TTS_ORIGIN_UNKNOWN)
        return tts_error_set(err, TTS_E_NOT_FOUND, "'%s' is not known, set it",
                             tts_fact_name(key));
    *columns = dram ? (uint32_t)fact->value : TTS_GRID_COLUMNS(fact->value);
    *there = dram ? fact->value : (uint64_t)*columns * TTS_GRID_ROWS(fact->value);
    return TTS_OK;
}

/* One page of `bytes` on each of the first `cores`. */
static enum tts_status shard_over(uint32_t cores, uint64_t bytes, const struct tts_chip *chip,
                                  struct tts_whatif_request *out, struct tts_error *err)
{
    uint32_t columns = 0; /* gcc -O1 does not see that they are set where they are used */
    uint64_t there = 0;
    bool dram = is_dram(out->request.pool);
    enum tts_status status = count_cores(chip, dram, &columns, &there, err);
    if (status != TTS_OK)
        return status;
    if (cores > there)
        return too_many(cores, there, dram, err);
    if (__builtin_mul_overflow(bytes, (uint64_t)cores, &out->request.size_bytes))
        return too_large(err);
    assert(cores > 0 && columns > 0);
    out->request.page_bytes = bytes;
    out->shard = (struct tts_shard){
        .shard_height = 1,
        .shard_width = 1,
        .page_height = 1,
        .page_width = 1,
        .cores = {.ranges = out->ranges, .count = first_cores(cores, columns, out->ranges)}};
    out->request.shard = &out->shard;
    return TTS_OK;
}

static enum tts_status interleave(const struct tts_event *event, struct tts_whatif_request *out,
                                  struct tts_error *err)
{
    uint64_t page = event->page_bytes, size = event->size_bytes;
    out->page_is_unknown = page == 0;
    if (page == 0)
        page = size < UNKNOWN_PAGE ? size : UNKNOWN_PAGE;
    uint64_t over = size % page;
    if (over > 0 && __builtin_add_overflow(size, page - over, &size))
        return too_large(err);
    out->is_padded = over > 0;
    out->request.size_bytes = size;
    out->request.page_bytes = page;
    return TTS_OK;
}

enum tts_status tts_whatif_map(const struct tts_event *event, const struct tts_chip *chip,
                               struct tts_whatif_request *out, struct tts_error *err)
{
    assert(event->kind == TTS_EVENT_ALLOC && event->size_bytes > 0);
    assert(event->range_count == 0);
    uint64_t size = event->size_bytes, bytes = event->bytes_per_bank;
    uint32_t cores = event->cores;
    *out = (struct tts_whatif_request){
        .request = {.pool = event->pool, .placement = event->placement}};
    if (out->request.placement == TTS_PLACE_AT)
        out->request.placement = TTS_PLACE_DEFAULT;
    /* L1_SMALL has only sharded ones; on how many cores is the same to every bank. */
    if (event->pool == TTS_POOL_L1_SMALL && cores == 0)
        cores = 1;
    if (cores == 0)
        return interleave(event, out, err);
    if (bytes == 0)
        bytes = size / cores + (size % cores > 0);
    return shard_over(cores, bytes, chip, out, err);
}
