#include "ttscope/device.h"
#include "device/devicepools.h"
#include "device/space.h"

#include "base/error.h"
#include "device/banks_inside.h"
#include "device/device_inside.h"

#include <assert.h>

/* --- refusals --------------------------------------------------------------------------- */

TTS_COLD void tts_device_tell(struct tts_device *d, const struct tts_device_event *event)
{
    d->observer.event(d->observer.ctx, event);
}

TTS_COLD void tts_device_refuse(struct tts_device *d, const struct tts_failure *failure)
{
    d->last = *failure;
    d->failures++;
    if (d->first.kind == TTS_FAILURE_NONE)
        d->first = *failure;
    d->pools[failure->pool].failures++;
    if (tts_device_watched(d))
        tts_device_tell(
            d, &(struct tts_device_event){.kind = TTS_DEVICE_FAILURE, .failure = &d->last});
}

TTS_COLD struct tts_failure tts_device_circumstances(const struct tts_device *d,
                                                     enum tts_pool pool,
                                                     const struct tts_need *need,
                                                     uint32_t allocator)
{
    struct tts_space_stats stats;
    size_t neighbours;
    const struct tts_banks *banks = d->pools[pool].banks;
    tts_space_get_stats(tts_banks_space(banks, allocator), &stats);
    tts_banks_neighbours(banks, allocator, &neighbours);
    return (struct tts_failure){
        .kind = neighbours > 0 ? TTS_FAILURE_DEPENDENCY : TTS_FAILURE_SPACE,
        .pool = pool,
        .requested_bytes = need->total_bytes,
        .need_bytes = need->bytes_per_bank,
        .block_bytes = need->block_bytes,
        .banks = need->banks,
        .bank_bytes = stats.total_bytes,
        .taken_bytes = stats.taken_bytes,
        .free_bytes = stats.free_bytes,
        .largest_free_bytes = stats.largest_free_bytes,
    };
}

/* --- buffers ---------------------------------------------------------------------------- */

static void told_of_free(struct tts_device *d, const struct tts_buffer *buffer)
{
    if (tts_device_watched(d))
        tts_device_tell(d,
                        &(struct tts_device_event){.kind = TTS_DEVICE_FREE, .buffer = buffer});
}

static void told_of_alloc(struct tts_device *d, const struct tts_request *request,
                          const struct tts_buffer *buffer)
{
    if (tts_device_watched(d))
        tts_device_tell(d, &(struct tts_device_event){
                               .kind = TTS_DEVICE_ALLOC, .buffer = buffer, .request = request});
}

TTS_COLD enum tts_status tts_device_take_error(enum tts_status status, enum tts_pool pool,
                                               struct tts_error *err)
{
    if (status == TTS_E_INVALID)
        return tts_error_set(err, status,
                             "the address in %s is not aligned, and the runtime refuses such "
                             "an address: give a multiple of the alignment of the pool",
                             tts_pool_name(pool));
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, TTS_TEXT_NOMEM);
    return status;
}

TTS_COLD enum tts_status tts_device_countable(const struct tts_device_pool *pool,
                                              uint64_t bytes, struct tts_error *err)
{
    /* The check leaves half of the range for the placed blocks, which is more than their sum
     * can be. */
    if (bytes > UINT64_MAX / 2 - pool->unplaced_bytes)
        return tts_error_set(err, TTS_E_RANGE,
                             "the size of all buffers together does not fit in 64 bits");
    return TTS_OK;
}

/* Handles a block that could not be taken. In OVERCOMMIT mode counts the buffer and returns
 * TTS_OK; otherwise records the refusal. */
static TTS_COLD enum tts_status take_failed(struct tts_device *d, const struct tts_need *need,
                                            enum tts_status status, struct tts_buffer *buffer,
                                            struct tts_error *err)
{
    const struct tts_device_pool *pool = &d->pools[buffer->pool];
    if (status != TTS_E_FULL && status != TTS_E_BELOW_LIMIT)
        return tts_device_take_error(status, buffer->pool, err);
    /* A block could not be taken, so the device is not held and its mode is config.mode. */
    bool counted = d->config.mode == TTS_MODE_OVERCOMMIT;
    if (counted && tts_device_countable(pool, need->block_bytes, err) != TTS_OK)
        return TTS_E_RANGE;
    struct tts_failure failure = {.kind = TTS_FAILURE_BELOW_LIMIT,
                                  .pool = buffer->pool,
                                  .address = buffer->address,
                                  .limit = pool->layout.limit};
    if (status == TTS_E_FULL)
        failure = tts_device_circumstances(d, buffer->pool, need, 0);
    tts_device_refuse(d, &failure);
    if (!counted)
        return status;
    buffer->address = 0;
    buffer->placed = false;
    return TTS_OK;
}

/* Allocates in an L1_SMALL that has no bytes. The runtime has an allocator for such a pool, and
 * no buffer fits in it. */
static enum tts_status alloc_in_nothing(struct tts_device *d, const struct tts_request *request,
                                        bool place, struct tts_buffer *out,
                                        struct tts_error *err)
{
    struct tts_device_pool *pool = &d->pools[request->pool];
    struct tts_pool_layout layout = pool->layout;
    struct tts_need need;
    layout.banks = TTS_GRID_COLUMNS(d->grid) * TTS_GRID_ROWS(d->grid);
    enum tts_status status = tts_request_need(request, &layout, d->grid, &need, err);
    if (status != TTS_OK)
        return status;
    struct tts_buffer buffer = {.pool = request->pool,
                                .banks = need.banks,
                                .size_bytes = request->size_bytes,
                                .bytes_per_bank = need.bytes_per_bank};
    if (request->placement == TTS_PLACE_AT) {
        buffer.address = request->address;
    } else if (need.block_bytes > 0) {
        if (tts_device_countable(pool, need.block_bytes, err) != TTS_OK)
            return TTS_E_RANGE;
        if (place)
            tts_device_refuse(d, &(struct tts_failure){.kind = TTS_FAILURE_SPACE,
                                                       .pool = request->pool,
                                                       .requested_bytes = need.total_bytes,
                                                       .need_bytes = need.bytes_per_bank,
                                                       .block_bytes = need.block_bytes,
                                                       .banks = need.banks});
        if (place && d->config.mode == TTS_MODE_PLACE)
            return TTS_E_FULL;
        buffer.block_bytes = need.block_bytes;
        tts_device_count(pool, need.block_bytes, false);
    }
    buffer.id = ++d->last_id;
    *out = buffer;
    told_of_alloc(d, request, out);
    return TTS_OK;
}

static TTS_COLD enum tts_status alloc_nowhere(struct tts_device *d,
                                              const struct tts_request *request, bool place,
                                              struct tts_buffer *out, struct tts_error *err)
{
    struct tts_pool_layout layout;
    if ((unsigned)request->pool >= TTS_POOLS)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "the pool is unknown: give one of enum tts_pool");
    enum tts_status status = tts_chip_pool(&d->chip, request->pool, &layout, err);
    if (status != TTS_OK)
        return status;
    if (request->pool == TTS_POOL_L1_SMALL)
        return alloc_in_nothing(d, request, place, out, err);
    return tts_error_set(err, TTS_E_NOT_FOUND,
                         "'%.31s' has no %s: set 'trace_region' to more than 0", d->chip.name,
                         tts_pool_name(request->pool));
}

static inline enum tts_direction direction_of(const struct tts_request *request,
                                              const struct tts_pool_layout *layout)
{
    if (request->placement == TTS_PLACE_DEFAULT)
        return layout->direction;
    return request->placement == TTS_PLACE_UP ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN;
}

static inline enum tts_status take_block(struct tts_device *d,
                                         const struct tts_request *request,
                                         const struct tts_need *need, struct tts_buffer *buffer,
                                         struct tts_error *err)
{
    const struct tts_device_pool *pool = &d->pools[request->pool];
    bool interleaved = !request->shard && !request->distribution;
    struct tts_banks_wish take = {.direction = direction_of(request, &pool->layout),
                                  .bytes = need->bytes_per_bank,
                                  .limit = interleaved ? pool->layout.limit : 0};
    enum tts_status status = tts_banks_take(pool->banks, &take, &buffer->address);
    buffer->placed = true;
    if (TTS_UNLIKELY(status != TTS_OK))
        status = take_failed(d, need, status, buffer, err);
    return status;
}

enum tts_status tts_device_alloc_as(struct tts_device *d, const struct tts_request *request,
                                    bool place, struct tts_buffer *out, struct tts_error *err)
{
    if (TTS_UNLIKELY((unsigned)request->pool >= TTS_POOLS || !d->pools[request->pool].banks))
        return alloc_nowhere(d, request, place, out, err);
    struct tts_device_pool *pool = &d->pools[request->pool];
    struct tts_need need;
    enum tts_status status = tts_request_need(request, &pool->layout, d->grid, &need, err);
    if (TTS_UNLIKELY(status != TTS_OK))
        return status;
    struct tts_buffer buffer = {
        .pool = request->pool,
        .banks = need.banks,
        .size_bytes = request->size_bytes,
        .bytes_per_bank = need.bytes_per_bank,
        .block_bytes = need.block_bytes,
    };
    if (TTS_UNLIKELY(request->placement == TTS_PLACE_AT)) {
        buffer.address = request->address;
        buffer.block_bytes = 0;
    } else if (TTS_LIKELY(need.block_bytes > 0)) {
        status = TTS_LIKELY(place) ? take_block(d, request, &need, &buffer, err)
                                   : tts_device_countable(pool, need.block_bytes, err);
        if (TTS_UNLIKELY(status != TTS_OK))
            return status;
        tts_device_count(pool, need.block_bytes, buffer.placed);
    }
    buffer.id = ++d->last_id;
    *out = buffer;
    told_of_alloc(d, request, out);
    return TTS_OK;
}

/* Returns the space for an interleaved buffer of an ordinary size, or NULL if the general path
 * is needed. A limit above the first address also needs the general path, because then a block
 * can be left behind; no chip has such a limit. */
static inline struct tts_space *quick_space(const struct tts_device *d,
                                            const struct tts_request *request, uint64_t *bytes)
{
    if (TTS_UNLIKELY((unsigned)request->pool >= TTS_POOLS))
        return NULL;
    const struct tts_device_pool *pool = &d->pools[request->pool];
    /* Each condition is marked as likely on its own. Otherwise the compiler assumes a chance of
     * 1 in 64 and moves the branch away. */
    if (TTS_LIKELY(pool->is_quick) && TTS_LIKELY(!request->shard) &&
        TTS_LIKELY(!request->distribution) && TTS_LIKELY(request->placement != TTS_PLACE_AT) &&
        TTS_LIKELY(pool->layout.limit <= pool->layout.offset_bytes) &&
        TTS_LIKELY(
            tts_need_interleaved(&pool->need, request->size_bytes, request->page_bytes, bytes)))
        return tts_banks_plain(pool->banks);
    return NULL;
}

enum tts_status tts_device_alloc(struct tts_device *d, const struct tts_request *request,
                                 struct tts_buffer *out, struct tts_error *err)
{
    uint64_t bytes, address;
    struct tts_space *space = quick_space(d, request, &bytes);
    if (TTS_UNLIKELY(!space))
        return tts_device_alloc_as(d, request, tts_device_is_placing(d), out, err);
    /* Read these before the atomic load, because the compiler reads the request again after
     * it. */
    enum tts_pool kind = request->pool;
    uint64_t size_bytes = request->size_bytes;
    struct tts_device_pool *pool = &d->pools[kind];
    enum tts_direction direction = direction_of(request, &pool->layout);
    if (TTS_UNLIKELY(!tts_device_is_placing(d)))
        return tts_device_alloc_as(d, request, false, out, err);
    /* Repeat the request on the general path, which fails in the same way and sets `err`. */
    if (TTS_UNLIKELY(tts_space_take(space, bytes, direction, 0, &address) != TTS_OK))
        return tts_device_alloc_as(d, request, true, out, err);
    uint64_t block = (bytes + pool->need.block_mask) & ~pool->need.block_mask;
    out->id = ++d->last_id;
    out->pool = kind;
    out->placed = true;
    out->banks = (uint32_t)pool->need.banks;
    out->address = address;
    out->size_bytes = size_bytes;
    out->bytes_per_bank = bytes;
    out->block_bytes = block;
    tts_device_count(pool, block, true);
    told_of_alloc(d, request, out);
    return TTS_OK;
}

/* Removes a trace from the list of live traces. */
static TTS_COLD void forget_trace(struct tts_device *d, uint64_t address)
{
    for (size_t i = 0; i < d->trace_count; i++)
        if (d->traces[i].address == address) {
            d->traces[i] = d->traces[--d->trace_count];
            return;
        }
}

/* Returns the number of bytes taken in the fullest bank. */
static uint64_t fullest(const struct tts_device_pool *pool)
{
    struct tts_space_stats stats;
    uint64_t most = 0, allocators = tts_banks_allocators(pool->banks);
    for (uint32_t i = 1; i < allocators; i++) {
        tts_space_get_stats(tts_banks_space(pool->banks, i), &stats);
        most = stats.taken_bytes > most ? stats.taken_bytes : most;
    }
    tts_space_get_stats(tts_banks_space(pool->banks, 0), &stats);
    return stats.taken_bytes + most;
}

TTS_COLD void tts_device_recount(struct tts_device_pool *pool)
{
    struct tts_space_stats stats;
    assert(pool->uneven);
    tts_space_get_stats(tts_banks_space(pool->banks, 0), &stats);
    pool->placed_bytes = fullest(pool);
    if (pool->fused)
        pool->buffers = stats.taken_blocks + pool->own_buffers + pool->unplaced_buffers;
    uint64_t now = pool->placed_bytes + pool->unplaced_bytes;
    pool->peak_bytes = now > pool->peak_bytes ? now : pool->peak_bytes;
}

static enum tts_status give_back(struct tts_device *d, struct tts_device_pool *pool,
                                 const struct tts_buffer *buffer)
{
    if (!pool->banks)
        return TTS_E_NOT_FOUND;
    enum tts_status status = tts_banks_give(pool->banks, 0, buffer->address);
    /* tts_device_synchronize() may have removed the block of a trace that is still in the
     * list. */
    if (d->trace_count > 0 && buffer->pool == tts_device_trace_pool(d) &&
        (status == TTS_OK || (status == TTS_E_NOT_FOUND && pool->fused)))
        forget_trace(d, buffer->address);
    if (status != TTS_OK)
        return status;
    assert(pool->buffers > 0);
    pool->buffers--;
    if (pool->uneven)
        tts_device_recount(pool);
    else
        pool->placed_bytes -= buffer->block_bytes;
    return TTS_OK;
}

enum tts_status tts_device_uncount(struct tts_device_pool *pool,
                                   const struct tts_buffer *buffer)
{
    if (buffer->block_bytes == 0)
        return TTS_OK;
    if (pool->unplaced_buffers == 0 || pool->unplaced_bytes < buffer->block_bytes)
        return TTS_E_NOT_FOUND;
    pool->unplaced_bytes -= buffer->block_bytes;
    pool->unplaced_buffers--;
    pool->buffers--;
    return TTS_OK;
}

/* Returns the space if giving back the block in this space is all that a release must do; NULL
 * if the general path is needed. */
static inline struct tts_space *plain_space(const struct tts_device *d,
                                            const struct tts_buffer *buffer)
{
    const struct tts_device_pool *pool = &d->pools[buffer->pool];
    if (TTS_LIKELY(buffer->placed) && TTS_LIKELY(pool->banks != NULL) &&
        TTS_LIKELY(!pool->uneven) && TTS_LIKELY(d->trace_count == 0))
        return tts_banks_plain(pool->banks);
    return NULL;
}

enum tts_status tts_device_release(struct tts_device *d, const struct tts_buffer *buffer)
{
    if (TTS_UNLIKELY((unsigned)buffer->pool >= TTS_POOLS))
        return TTS_E_NOT_FOUND;
    struct tts_device_pool *pool = &d->pools[buffer->pool];
    struct tts_space *space = plain_space(d, buffer);
    enum tts_status status;
    if (TTS_LIKELY(space != NULL)) {
        status = tts_space_give(space, buffer->address);
        pool->buffers -= status == TTS_OK;
        pool->placed_bytes -= status == TTS_OK ? buffer->block_bytes : 0;
    } else {
        status = buffer->placed ? give_back(d, pool, buffer) : tts_device_uncount(pool, buffer);
    }
    if (TTS_LIKELY(status == TTS_OK))
        told_of_free(d, buffer);
    return status;
}

/* --- queries ---------------------------------------------------------------------------- */

const struct tts_chip *tts_device_chip(const struct tts_device *d)
{
    return &d->chip;
}

const struct tts_banks *tts_device_pool(const struct tts_device *d, enum tts_pool pool)
{
    return (unsigned)pool < TTS_POOLS ? d->pools[pool].banks : NULL;
}

const struct tts_pool_layout *tts_device_layout(const struct tts_device *d, enum tts_pool pool)
{
    return tts_device_pool(d, pool) ? &d->pools[pool].layout : NULL;
}

const struct tts_banks_map *tts_device_map(const struct tts_device *d)
{
    return d->map;
}

bool tts_device_stats(const struct tts_device *d, enum tts_pool kind,
                      struct tts_pool_stats *out)
{
    if (!tts_device_pool(d, kind))
        return false;
    const struct tts_device_pool *pool = &d->pools[kind];
    *out = (struct tts_pool_stats){
        .unplaced_bytes = pool->unplaced_bytes,
        .buffers = pool->buffers,
        .unplaced_buffers = pool->unplaced_buffers,
        .peak_bytes = pool->peak_bytes,
        .failures = pool->failures,
    };
    tts_space_get_stats(tts_banks_space(pool->banks, 0), &out->space);
    return true;
}

uint64_t tts_device_failures(const struct tts_device *d)
{
    return d->failures;
}

const struct tts_failure *tts_device_failure(const struct tts_device *d)
{
    return d->last.kind == TTS_FAILURE_NONE ? NULL : &d->last;
}

const struct tts_failure *tts_device_first_failure(const struct tts_device *d)
{
    return d->first.kind == TTS_FAILURE_NONE ? NULL : &d->first;
}
