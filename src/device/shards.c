#include "device/shards.h"

#include "base/error.h"

#include <assert.h>
#include <inttypes.h>

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b > 0);
}

static uint32_t range_cores(const struct tts_core_range *range)
{
    return (uint32_t)(range->x1 - range->x0 + 1) * (uint32_t)(range->y1 - range->y0 + 1);
}

uint32_t tts_shard_core_count(const struct tts_shard_cores *cores)
{
    uint32_t count = 0;
    for (size_t i = 0; i < cores->count; i++)
        count += range_cores(&cores->ranges[i]);
    return count;
}

static bool ranges_meet(const struct tts_core_range *a, const struct tts_core_range *b)
{
    return a->x0 <= b->x1 && b->x0 <= a->x1 && a->y0 <= b->y1 && b->y0 <= a->y1;
}

/* Checks that all cores exist and that no core is named twice. */
static enum tts_status check_cores(enum tts_pool pool, const struct tts_shard_cores *cores,
                                   const struct tts_shards_place *place, struct tts_error *err)
{
    bool dram = pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE;
    uint32_t columns = dram ? place->banks : TTS_GRID_COLUMNS(place->grid);
    uint32_t rows = dram ? 1 : TTS_GRID_ROWS(place->grid);
    if (cores->count == 0 || cores->count > TTS_RANGES_MAX)
        return tts_error_set(err, TTS_E_INVALID,
                             "a sharding needs 1 to %d core ranges, got %zu", TTS_RANGES_MAX,
                             cores->count);
    for (size_t i = 0; i < cores->count; i++) {
        const struct tts_core_range *range = &cores->ranges[i];
        if (range->x0 > range->x1 || range->y0 > range->y1)
            return tts_error_set(err, TTS_E_INVALID,
                                 "core range %u-%u..%u-%u is backwards: give the corner with "
                                 "the smaller coordinates first",
                                 range->x0, range->y0, range->x1, range->y1);
        if (range->x1 >= columns || range->y1 >= rows)
            return tts_error_set(err, TTS_E_INVALID,
                                 "core range %u-%u..%u-%u is outside the %s of %ux%u",
                                 range->x0, range->y0, range->x1, range->y1,
                                 dram ? "banks" : "grid", columns, rows);
        for (size_t j = 0; j < i; j++)
            if (ranges_meet(range, &cores->ranges[j]))
                return tts_error_set(
                    err, TTS_E_INVALID, "core %u-%u is in two core ranges",
                    range->x0 > cores->ranges[j].x0 ? range->x0 : cores->ranges[j].x0,
                    range->y0 > cores->ranges[j].y0 ? range->y0 : cores->ranges[j].y0);
    }
    return TTS_OK;
}

/* --- the classic sharding --------------------------------------------------------------- */

static void classic_shape(struct tts_shards *out, const struct tts_shard *shard)
{
    out->rank = 2;
    out->cores = &shard->cores;
    out->tensor[0] = shard->tensor_height_pages;
    out->tensor[1] = shard->tensor_width_pages;
    out->shard[0] = shard->shard_height / shard->page_height;
    out->shard[1] = shard->shard_width / shard->page_width;
    for (int i = 0; i < 2; i++)
        out->across[i] = ceil_div(out->tensor[i], out->shard[i]);
    out->volume = out->shard[0] * out->shard[1];
    out->pages_per_core = out->dealt_per_core = out->volume;
    out->core_count = out->cores_used = tts_shard_core_count(&shard->cores);
}

/* Checks that the shards have room for the whole tensor. */
static enum tts_status check_tensor(const struct tts_shard *shard, uint64_t pages,
                                    uint32_t cores, struct tts_error *err)
{
    uint64_t tensor;
    if (__builtin_mul_overflow(shard->tensor_height_pages, shard->tensor_width_pages,
                               &tensor) ||
        tensor != pages)
        return tts_error_set(err, TTS_E_INVALID,
                             "the buffer has %" PRIu64 " pages, but the tensor has %" PRIu64
                             "x%" PRIu64 " pages",
                             pages, shard->tensor_height_pages, shard->tensor_width_pages);
    uint64_t shards =
        ceil_div(shard->tensor_height_pages, shard->shard_height / shard->page_height) *
        ceil_div(shard->tensor_width_pages, shard->shard_width / shard->page_width);
    if (shards > cores)
        return tts_error_set(err, TTS_E_INVALID,
                             "the buffer has %" PRIu64 " shards, but only %" PRIu32 " cores",
                             shards, cores);
    return TTS_OK;
}

static enum tts_status check_classic(const struct tts_shard *shard, uint64_t pages,
                                     struct tts_shards_size *out, struct tts_error *err)
{
    uint64_t held;
    if (shard->page_height == 0 || shard->page_width == 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "a page has %" PRIu64 "x%" PRIu64
                             " elements, expected at least 1x1",
                             shard->page_height, shard->page_width);
    uint64_t height = shard->shard_height / shard->page_height;
    uint64_t width = shard->shard_width / shard->page_width;
    if (height == 0 || width == 0)
        return tts_error_set(
            err, TTS_E_INVALID,
            "the shard is smaller than a page: a shard has at least one whole page");
    out->cores_used = tts_shard_core_count(&shard->cores);
    if (__builtin_mul_overflow(height, width, &out->pages_per_core) ||
        __builtin_mul_overflow(out->pages_per_core, (uint64_t)out->cores_used, &held))
        return tts_error_set(err, TTS_E_RANGE,
                             "the size of the shards does not fit in 64 bits");
    if (pages > held)
        return tts_error_set(err, TTS_E_INVALID,
                             "the buffer has %" PRIu64 " pages, but the shards hold %" PRIu64
                             " pages",
                             pages, held);
    bool known = shard->tensor_height_pages > 0 || shard->tensor_width_pages > 0;
    return known ? check_tensor(shard, pages, out->cores_used, err) : TTS_OK;
}

/* --- sharding over any number of dimensions --------------------------------------------- */

static uint64_t shard_count(const struct tts_shards *shards)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < shards->rank; i++)
        count *= shards->across[i];
    return count;
}

static void distribution_shape(struct tts_shards *out, const struct tts_distribution *spread)
{
    out->rank = spread->rank;
    out->cores = &spread->cores;
    out->grid = spread->grid;
    out->volume = 1;
    for (uint32_t i = 0; i < spread->rank; i++) {
        out->tensor[i] = spread->tensor[i];
        out->shard[i] = spread->shard[i];
        out->across[i] = ceil_div(spread->tensor[i], spread->shard[i]);
        out->volume *= spread->shard[i];
    }
    uint64_t shards = shard_count(out);
    out->core_count = tts_shard_core_count(&spread->cores);
    out->cores_used = shards < out->core_count ? (uint32_t)shards : out->core_count;
    out->dealt_per_core = ceil_div(shards, out->core_count) * out->volume;
    out->pages_per_core = out->dealt_per_core;
}

static enum tts_status check_shape(const struct tts_distribution *spread, uint64_t pages,
                                   struct tts_error *err)
{
    uint64_t tensor = 1, padded = 1;
    if (spread->rank < 1 || spread->rank > TTS_RANK_MAX)
        return tts_error_set(err, TTS_E_INVALID, "a tensor has 1 to %d dimensions, not %u",
                             TTS_RANK_MAX, spread->rank);
    for (uint32_t i = 0; i < spread->rank; i++) {
        uint64_t across;
        if (spread->shard[i] == 0 || spread->tensor[i] == 0)
            return tts_error_set(err, TTS_E_INVALID,
                                 "dimension %u of the tensor or of the shard has 0 pages",
                                 i + 1);
        across = ceil_div(spread->tensor[i], spread->shard[i]);
        if (__builtin_mul_overflow(tensor, spread->tensor[i], &tensor) ||
            __builtin_mul_overflow(across, spread->shard[i], &across) ||
            __builtin_mul_overflow(padded, across, &padded))
            return tts_error_set(err, TTS_E_RANGE,
                                 "the size of the shards does not fit in 64 bits");
    }
    if (tensor != pages)
        return tts_error_set(err, TTS_E_INVALID,
                             "the buffer has %" PRIu64 " pages, but the tensor has %" PRIu64
                             " pages",
                             pages, tensor);
    return TTS_OK;
}

static enum tts_status check_grid(const struct tts_distribution *spread, struct tts_error *err)
{
    if (spread->rank != 2 || spread->cores.count != 1)
        return tts_error_set(
            err, TTS_E_INVALID,
            "a 'grid' sharding needs a tensor of two dimensions and one core range");
    const struct tts_core_range *range = &spread->cores.ranges[0];
    uint64_t columns = (uint64_t)(range->x1 - range->x0 + 1);
    uint64_t rows = (uint64_t)(range->y1 - range->y0 + 1);
    uint64_t down = ceil_div(spread->tensor[0], spread->shard[0]);
    uint64_t across = ceil_div(spread->tensor[1], spread->shard[1]);
    bool fits = spread->cores.column_major ? down <= columns && across <= rows
                                           : down <= rows && across <= columns;
    if (!fits)
        return tts_error_set(err, TTS_E_INVALID,
                             "a 'grid' sharding of %" PRIu64 "x%" PRIu64
                             " shards needs as many cores, but the range has %" PRIu64
                             "x%" PRIu64 " cores",
                             across, down, columns, rows);
    return TTS_OK;
}

static enum tts_status check_distribution(const struct tts_distribution *spread, uint64_t pages,
                                          struct tts_error *err)
{
    enum tts_status status = check_shape(spread, pages, err);
    if (status == TTS_OK && spread->grid)
        status = check_grid(spread, err);
    return status;
}

/* --- both ------------------------------------------------------------------------------- */

void tts_shards_again(struct tts_shards *out, const struct tts_request *request)
{
    *out = (struct tts_shards){0};
    if (!request->distribution) {
        classic_shape(out, request->shard);
        return;
    }
    distribution_shape(out, request->distribution);
    if (request->shard) {
        struct tts_shards classic = {0};
        classic_shape(&classic, request->shard);
        out->pages_per_core = classic.pages_per_core;
    }
}

/* Computes the size of a distribution. A classic sharding may be present too. */
static enum tts_status measure_distribution(const struct tts_request *request, uint64_t pages,
                                            struct tts_shards_size *out, struct tts_error *err)
{
    struct tts_shards shards;
    enum tts_status status = check_distribution(request->distribution, pages, err);
    if (status != TTS_OK)
        return status;
    tts_shards_again(&shards, request);
    if (shards.dealt_per_core > shards.pages_per_core)
        return tts_error_set(err, TTS_E_INVALID,
                             "the shards give each core room for %" PRIu64
                             " pages, but the distribution puts %" PRIu64 " pages on a core",
                             shards.pages_per_core, shards.dealt_per_core);
    out->pages_per_core = shards.pages_per_core;
    out->cores_used = shards.cores_used;
    return TTS_OK;
}

enum tts_status tts_shards_measure(const struct tts_request *request, uint64_t pages,
                                   const struct tts_shards_place *place,
                                   struct tts_shards_size *out, struct tts_error *err)
{
    assert(request->shard || request->distribution);
    enum tts_status status = TTS_OK;
    struct tts_shards_size size = {0};
    if (request->shard) {
        status = check_cores(request->pool, &request->shard->cores, place, err);
        if (status == TTS_OK)
            status = check_classic(request->shard, pages, &size, err);
    }
    if (request->distribution && status == TTS_OK) {
        status = check_cores(request->pool, &request->distribution->cores, place, err);
        if (status == TTS_OK)
            status = measure_distribution(request, pages, &size, err);
    }
    if (status != TTS_OK)
        return status;
    uint32_t compute = TTS_GRID_COLUMNS(place->grid) * TTS_GRID_ROWS(place->grid);
    if (compute == 0)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "'grid' is unknown: set this property of the device");
    if (size.cores_used > compute)
        return tts_error_set(err, TTS_E_INVALID,
                             "the buffer has %" PRIu32
                             " shards, but the compute grid has %" PRIu32
                             " cores; the runtime refuses such a buffer",
                             size.cores_used, compute);
    *out = size;
    return TTS_OK;
}
