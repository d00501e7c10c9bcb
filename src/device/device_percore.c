/* device_percore.c: buffers with a separate block in each core, which only HYBRID mode has. */
#include "base/error.h"
#include "device/banks_inside.h"
#include "device/device_inside.h"
#include "device/devicepools.h"
#include "device/shards.h"
#include "device/space_state.h"

#include <assert.h>
#include <string.h>

/* Returns the allocator of core number `idx` of a sharding: the number of the core's bank plus
 * 1. */
static uint32_t allocator_at(const struct tts_device *d, const struct tts_request *request,
                             uint32_t idx)
{
    struct tts_core core = tts_shard_core(&request->shard->cores, idx);
    return 1 + (uint32_t)d->map->bank_of_core[core.y * d->map->columns + core.x];
}

static enum tts_status check_per_core(const struct tts_device *d,
                                      const struct tts_request *request, struct tts_need *need,
                                      struct tts_error *err)
{
    if (!d->floor || !d->map)
        return tts_error_set(err, TTS_E_INVALID,
                             "buffers on single cores need the HYBRID mode%s",
                             d->floor ? " and a device whose DRAM properties are known" : "");
    if (request->pool != TTS_POOL_L1 || !request->shard)
        return tts_error_set(
            err, TTS_E_INVALID,
            "a buffer on one core must be in L1 and have a 'classic' sharding");
    if (request->placement == TTS_PLACE_AT || request->size_bytes == 0)
        return tts_error_set(
            err, TTS_E_INVALID,
            "a buffer on one core must have a size and must not have a given address");
    /* Without the distribution, cores without pages count too. */
    struct tts_request classic = *request;
    classic.distribution = NULL;
    return tts_request_need(&classic, &d->pools[TTS_POOL_L1].layout, d->grid, need, err);
}

/* Gives back the blocks of the first `count` cores. */
static void give_cores(struct tts_device *d, const struct tts_request *request, uint32_t count)
{
    struct tts_banks *banks = d->pools[TTS_POOL_L1].banks;
    for (uint32_t i = 0; i < count; i++) {
        enum tts_status status =
            tts_banks_give(banks, allocator_at(d, request, i), d->floor[i]);
        assert(status == TTS_OK); /* cannot fail: the block was just taken, and room for its id
                                     is reserved */
        (void)status;
    }
}

/* Takes one block in each core and writes the addresses to d->floor. After a failure no block
 * is taken, and *failed is the allocator that failed. */
static enum tts_status take_cores(struct tts_device *d, const struct tts_request *request,
                                  const struct tts_need *need, uint32_t *failed)
{
    struct tts_banks *banks = d->pools[TTS_POOL_L1].banks;
    for (uint32_t i = 0; i < need->banks; i++) {
        struct tts_banks_wish take = {.allocator = allocator_at(d, request, i),
                                      .direction = request->placement == TTS_PLACE_UP
                                                       ? TTS_DIRECTION_UP
                                                       : TTS_DIRECTION_DOWN,
                                      .bytes = need->bytes_per_bank};
        /* Giving the block back later needs room for a retired id, so reserve this room
         * first. */
        enum tts_status status =
            tts_idstack_reserve(&banks->spaces[take.allocator]->blocks->ids);
        if (status == TTS_OK)
            status = tts_banks_take(banks, &take, &d->floor[i]);
        if (status == TTS_OK)
            continue;
        give_cores(d, request, i);
        *failed = take.allocator;
        return status;
    }
    return TTS_OK;
}

/* Places the blocks, or only counts them, as tts_device_alloc() does with a single block. Sets
 * *placed. */
static enum tts_status place_cores(struct tts_device *d, const struct tts_request *request,
                                   const struct tts_need *need, bool *placed,
                                   struct tts_error *err)
{
    const struct tts_device_pool *pool = &d->pools[TTS_POOL_L1];
    uint32_t failed = 0;
    *placed = false;
    if (!tts_device_is_placing(d))
        return tts_device_countable(pool, need->block_bytes, err);
    enum tts_status status = take_cores(d, request, need, &failed);
    if (status == TTS_OK)
        *placed = true;
    if (status != TTS_E_FULL)
        return tts_device_take_error(status, TTS_POOL_L1, err);
    if (d->config.mode == TTS_MODE_OVERCOMMIT &&
        tts_device_countable(pool, need->block_bytes, err) != TTS_OK)
        return TTS_E_RANGE;
    struct tts_failure failure = tts_device_circumstances(d, TTS_POOL_L1, need, failed);
    failure.requested_bytes = need->bytes_per_bank; /* each core makes a request of its own */
    failure.banks = 1;
    tts_device_refuse(d, &failure);
    return d->config.mode == TTS_MODE_PLACE ? TTS_E_FULL : TTS_OK;
}

/* Tells the observer about a buffer. The ranges of a classic sharding are the cores that have a
 * block. */
static void told_of_cores(struct tts_device *d, enum tts_device_event_kind kind,
                          const struct tts_request *request, const struct tts_buffer *buffer)
{
    const struct tts_shard_cores *cores = &request->shard->cores;
    assert(buffer->banks == tts_shard_core_count(cores) && cores->count <= TTS_RANGES_MAX);
    bool is_alloc = kind == TTS_DEVICE_ALLOC;
    if (tts_device_watched(d))
        tts_device_tell(d, &(struct tts_device_event){.kind = kind,
                                                      .buffer = buffer,
                                                      .request = is_alloc ? request : NULL,
                                                      .ranges = cores->ranges,
                                                      .range_count = cores->count});
}

enum tts_status tts_device_alloc_per_core(struct tts_device *d,
                                          const struct tts_request *request,
                                          uint64_t *addresses, size_t capacity,
                                          struct tts_buffer *out, struct tts_error *err)
{
    struct tts_device_pool *pool = &d->pools[TTS_POOL_L1];
    struct tts_need need;
    bool placed;
    enum tts_status status = check_per_core(d, request, &need, err);
    if (status != TTS_OK)
        return status;
    if (capacity < need.banks)
        return tts_error_set(err, TTS_E_RANGE,
                             "the buffer has %u cores, but there is room for %zu addresses",
                             need.banks, capacity);
    status = place_cores(d, request, &need, &placed, err);
    if (status != TTS_OK)
        return status;
    if (placed)
        memcpy(addresses, d->floor, need.banks * sizeof addresses[0]);
    else
        memset(addresses, 0, need.banks * sizeof addresses[0]);
    *out = (struct tts_buffer){.id = ++d->last_id,
                               .pool = TTS_POOL_L1,
                               .placed = placed,
                               .banks = need.banks,
                               .address = addresses[0],
                               .size_bytes = request->size_bytes,
                               .bytes_per_bank = need.bytes_per_bank,
                               .block_bytes = need.block_bytes};
    pool->own_buffers += placed;
    tts_device_count(pool, need.block_bytes, placed);
    told_of_cores(d, TTS_DEVICE_ALLOC, request, out);
    return TTS_OK;
}

/* Gives back the blocks of all cores. Skips blocks that have been given back, so that a release
 * that failed for lack of memory can be repeated. */
static enum tts_status give_all(struct tts_device *d, const struct tts_request *request,
                                const uint64_t *addresses, uint32_t count)
{
    struct tts_device_pool *pool = &d->pools[TTS_POOL_L1];
    enum tts_status found = TTS_E_NOT_FOUND;
    for (uint32_t i = 0; i < count; i++) {
        enum tts_status status =
            tts_banks_give(pool->banks, allocator_at(d, request, i), addresses[i]);
        if (status == TTS_OK)
            found = TTS_OK;
        else if (status != TTS_E_NOT_FOUND)
            return status;
    }
    if (found != TTS_OK)
        return found;
    assert(pool->buffers > 0 && pool->own_buffers > 0);
    pool->buffers--;
    pool->own_buffers--;
    tts_device_recount(pool);
    return TTS_OK;
}

enum tts_status tts_device_release_per_core(struct tts_device *d,
                                            const struct tts_request *request,
                                            const uint64_t *addresses,
                                            const struct tts_buffer *buffer)
{
    struct tts_need need;
    if (check_per_core(d, request, &need, NULL) != TTS_OK || need.banks != buffer->banks ||
        buffer->pool != TTS_POOL_L1)
        return TTS_E_INVALID;
    enum tts_status status = buffer->placed
                                 ? give_all(d, request, addresses, buffer->banks)
                                 : tts_device_uncount(&d->pools[TTS_POOL_L1], buffer);
    if (status == TTS_OK)
        told_of_cores(d, TTS_DEVICE_FREE, request, buffer);
    return status;
}
