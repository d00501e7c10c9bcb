/* device_program.c: what the runtime allocates on its own (kernel binaries, traces), buffers of
 * one core, and the circular buffers of programs. */
#include "base/error.h"
#include "device/banks_inside.h"
#include "device/device_inside.h"
#include "device/shards.h"
#include "device/space_state.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { KERNEL_PAGE = 2048, TRACE_PAGE_MIN = 1024, TRACE_PAGE_MAX = 8192 };

/* False: past 64 bits. */
static bool pad(uint64_t bytes, uint64_t to, uint64_t *out)
{
    uint64_t over = bytes % to;
    *out = bytes + (over ? to - over : 0);
    return *out >= bytes;
}

enum tts_status tts_device_alloc_kernel(struct tts_device *d, uint64_t bytes,
                                        struct tts_buffer *out, struct tts_error *err)
{
    struct tts_request request = {
        .pool = TTS_POOL_DRAM, .page_bytes = KERNEL_PAGE, .placement = TTS_PLACE_DOWN};
    if (!pad(bytes, KERNEL_PAGE, &request.size_bytes))
        return tts_error_set(err, TTS_E_RANGE, "the kernel binary is past 64 bits");
    return tts_device_alloc(d, &request, out, err);
}

/* --- traces ----------------------------------------------------------------------------- */

uint64_t tts_trace_page(uint64_t bytes, uint32_t banks)
{
    uint64_t page = TRACE_PAGE_MIN, least = UINT64_MAX;
    assert(banks > 0);
    for (uint64_t candidate = TRACE_PAGE_MIN; candidate <= TRACE_PAGE_MAX; candidate *= 2) {
        uint64_t row = candidate * banks, waste = (row - bytes % row) % row;
        if (waste > least && bytes / row < 2)
            continue;
        page = candidate;
        least = waste < least ? waste : least;
    }
    return page;
}

void tts_device_trace_begin(struct tts_device *d)
{
    if (d->pools[TTS_POOL_DRAM].banks) {
        tts_banks_water_begin(d->pools[TTS_POOL_DRAM].banks);
        d->capturing = true;
    }
}

/* The end of the capture: how far DRAM was in use; 0 when there was none. */
static uint64_t end_capture(struct tts_device *d)
{
    if (!d->capturing)
        return 0;
    d->capturing = false;
    struct tts_water water = tts_banks_water_end(d->pools[TTS_POOL_DRAM].banks);
    return water.taken_end > water.given_end ? water.taken_end : water.given_end;
}

static enum tts_status reserve_trace(struct tts_device *d, struct tts_error *err)
{
    if (d->trace_count < d->trace_capacity)
        return TTS_OK;
    size_t capacity = d->trace_capacity ? 2 * d->trace_capacity : 8;
    size_t old_bytes = d->trace_capacity * sizeof *d->traces;
    const struct tts_alloc *alloc = d->alloc;
    void *grown = d->traces ? alloc->resize(alloc->ctx, d->traces, old_bytes,
                                            capacity * sizeof *d->traces)
                            : alloc->alloc(alloc->ctx, capacity * sizeof *d->traces);
    if (!grown)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    d->traces = grown;
    d->trace_capacity = capacity;
    return TTS_OK;
}

/* All traces must fit the budget of the region. In OVERCOMMIT mode *place says so instead. */
static enum tts_status check_budget(struct tts_device *d, uint64_t bytes, bool *place,
                                    struct tts_error *err)
{
    uint64_t budget, sum = 0;
    const struct tts_fact *fact = d->chip.fact;
    if (!pad(fact[TTS_FACT_TRACE_REGION].value, fact[TTS_FACT_DRAM_ALIGNMENT].value, &budget))
        return tts_error_set(err, TTS_E_RANGE, "the trace region is past 64 bits");
    for (size_t i = 0; i < d->trace_count; i++)
        sum += d->traces[i].bytes;
    assert(sum <= budget);
    if (bytes <= budget - sum)
        return TTS_OK;
    if (__builtin_add_overflow(sum, bytes, &sum))
        return tts_error_set(err, TTS_E_RANGE, "the traces are past 64 bits");
    tts_device_refuse(d, &(struct tts_failure){.kind = TTS_FAILURE_TRACE,
                                               .pool = TTS_POOL_TRACE,
                                               .requested_bytes = sum,
                                               .mesh_id = d->config.mesh_id,
                                               .trace_bytes = budget});
    *place = false;
    return d->mode == TTS_MODE_PLACE ? TTS_E_FULL : TTS_OK;
}

/* Where a block of `bytes` goes from the top; false: nowhere. */
static bool top_place(const struct tts_space *space, uint64_t bytes, uint64_t *address)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    bool found = false;
    while (tts_space_next(space, &cursor, &block)) {
        if (block.taken || block.size_bytes < bytes)
            continue;
        *address = block.address + block.size_bytes - bytes;
        found = true;
    }
    return found;
}

/* A trace in DRAM must not lie below what this or a live one was captured with. */
static enum tts_status check_water(const struct tts_device *d,
                                   const struct tts_request *request, uint64_t water,
                                   struct tts_error *err)
{
    const struct tts_device_pool *pool = &d->pools[TTS_POOL_DRAM];
    struct tts_need need;
    enum tts_status status = tts_request_need(request, &pool->layout, d->grid, &need, err);
    if (status != TTS_OK || need.block_bytes == 0)
        return status;
    for (size_t i = 0; i < d->trace_count; i++)
        water = d->traces[i].water > water ? d->traces[i].water : water;
    uint64_t address;
    if (!top_place(tts_banks_space(pool->banks, 0), need.block_bytes, &address) ||
        address >= water)
        return TTS_OK;
    return tts_error_set(err, TTS_E_BELOW_LIMIT,
                         "a trace buffer at %" PRIu64 " would lie below %" PRIu64
                         ", used during a capture: set 'trace_region'",
                         address, water);
}

enum tts_status tts_device_alloc_trace(struct tts_device *d, uint64_t bytes,
                                       struct tts_buffer *out, struct tts_error *err)
{
    enum tts_pool kind = tts_device_trace_pool(d);
    const struct tts_device_pool *pool = &d->pools[kind];
    bool in_region = kind == TTS_POOL_TRACE, place = d->mode != TTS_MODE_NO_DISPATCH;
    struct tts_request request = {.pool = kind,
                                  .placement = in_region ? TTS_PLACE_DEFAULT : TTS_PLACE_DOWN};
    uint64_t water = end_capture(d);
    if (!pool->banks)
        return tts_device_alloc(d, &request, out, err); /* says what is missing */
    request.page_bytes = tts_trace_page(bytes, pool->layout.banks);
    if (!pad(bytes, request.page_bytes, &request.size_bytes))
        return tts_error_set(err, TTS_E_RANGE, "the trace is past 64 bits");
    enum tts_status status = reserve_trace(d, err);
    if (status == TTS_OK && place)
        status = in_region ? check_budget(d, request.size_bytes, &place, err)
                           : check_water(d, &request, water, err);
    if (status == TTS_OK)
        status = tts_device_alloc_as(d, &request, place, out, err);
    if (status == TTS_OK && out->placed)
        d->traces[d->trace_count++] = (struct tts_device_trace){
            .address = out->address, .bytes = request.size_bytes, .water = water};
    return status;
}

/* --- buffers of one core ---------------------------------------------------------------- */

/* The cores with a shard, in their order; a grid of shards is in a corner of its range. */
static struct tts_shard_cores cores_of(const struct tts_request *request,
                                       struct tts_core_range *corner)
{
    const struct tts_distribution *spread = request->distribution;
    if (!spread)
        return request->shard->cores;
    if (!spread->grid)
        return spread->cores;
    uint64_t down = (spread->tensor[0] - 1) / spread->shard[0];
    uint64_t across = (spread->tensor[1] - 1) / spread->shard[1];
    bool column_major = spread->cores.column_major;
    *corner = spread->cores.ranges[0];
    corner->x1 = (uint16_t)(corner->x0 + (column_major ? down : across));
    corner->y1 = (uint16_t)(corner->y0 + (column_major ? across : down));
    return (struct tts_shard_cores){.ranges = corner, .count = 1, .column_major = column_major};
}

/* The allocator of the idx-th core of a sharding: banks have their own from 1 on. */
static uint32_t allocator_at(const struct tts_device *d, const struct tts_request *request,
                             uint32_t idx)
{
    struct tts_core_range corner;
    struct tts_shard_cores cores = cores_of(request, &corner);
    struct tts_core core = tts_shard_core(&cores, idx);
    return 1 + (uint32_t)d->map->bank_of_core[core.y * d->map->columns + core.x];
}

static enum tts_status check_per_core(const struct tts_device *d,
                                      const struct tts_request *request, struct tts_need *need,
                                      struct tts_error *err)
{
    if (!d->floor || !d->map)
        return tts_error_set(err, TTS_E_INVALID, "buffers of one core need the HYBRID mode%s",
                             d->floor ? ", and the facts of DRAM" : "");
    if (request->pool != TTS_POOL_L1 || (!request->shard && !request->distribution))
        return tts_error_set(err, TTS_E_INVALID, "buffers of one core are sharded, in L1");
    if (request->placement == TTS_PLACE_AT || request->size_bytes == 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "buffers of one core have a size and no place");
    return tts_request_need(request, &d->pools[TTS_POOL_L1].layout, d->grid, need, err);
}

/* Of the first `count` cores. */
static void give_cores(struct tts_device *d, const struct tts_request *request, uint32_t count)
{
    struct tts_banks *banks = d->pools[TTS_POOL_L1].banks;
    for (uint32_t i = 0; i < count; i++) {
        enum tts_status status =
            tts_banks_give(banks, allocator_at(d, request, i), d->floor[i]);
        assert(status == TTS_OK); /* it was just taken, and has room for its id */
        (void)status;
    }
}

/* One block in each core, their addresses in d->floor; TTS_E_FULL: *failed cannot. */
static enum tts_status take_cores(struct tts_device *d, const struct tts_request *request,
                                  const struct tts_need *need, uint32_t *failed)
{
    struct tts_banks *banks = d->pools[TTS_POOL_L1].banks;
    for (uint32_t i = 0; i < need->banks; i++) {
        struct tts_banks_take take = {.allocator = allocator_at(d, request, i),
                                      .direction = request->placement == TTS_PLACE_UP
                                                       ? TTS_DIRECTION_UP
                                                       : TTS_DIRECTION_DOWN,
                                      .bytes = need->bytes_per_bank};
        /* To give a block back takes room for ids that retire: have it first. */
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

/* As tts_device_alloc() does with one block: *placed says whether there are any. */
static enum tts_status place_cores(struct tts_device *d, const struct tts_request *request,
                                   const struct tts_need *need, bool *placed,
                                   struct tts_error *err)
{
    const struct tts_device_pool *pool = &d->pools[TTS_POOL_L1];
    uint32_t failed = 0;
    *placed = false;
    if (d->mode == TTS_MODE_NO_DISPATCH)
        return tts_device_countable(pool, need->block_bytes, err);
    enum tts_status status = take_cores(d, request, need, &failed);
    if (status == TTS_OK)
        *placed = true;
    if (status != TTS_E_FULL)
        return tts_device_take_error(status, TTS_POOL_L1, err);
    if (d->mode == TTS_MODE_OVERCOMMIT &&
        tts_device_countable(pool, need->block_bytes, err) != TTS_OK)
        return TTS_E_RANGE;
    struct tts_failure failure = tts_device_circumstances(d, TTS_POOL_L1, need, failed);
    tts_device_refuse(d, &failure);
    return d->mode == TTS_MODE_PLACE ? TTS_E_FULL : TTS_OK;
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
        return tts_error_set(err, TTS_E_RANGE, "%u cores, room for %zu addresses", need.banks,
                             capacity);
    status = place_cores(d, request, &need, &placed, err);
    if (status != TTS_OK)
        return status;
    if (placed)
        memcpy(addresses, d->floor, need.banks * sizeof addresses[0]);
    else
        memset(addresses, 0, need.banks * sizeof addresses[0]);
    *out = (struct tts_buffer){.pool = TTS_POOL_L1,
                               .placed = placed,
                               .banks = need.banks,
                               .address = addresses[0],
                               .size_bytes = request->size_bytes,
                               .bytes_per_bank = need.bytes_per_bank,
                               .block_bytes = need.block_bytes};
    pool->own_buffers += placed;
    tts_device_count(pool, need.block_bytes, placed);
    if (tts_device_watched(d))
        tts_device_tell(d, &(struct tts_device_event){.kind = TTS_DEVICE_ALLOC, .buffer = out});
    return TTS_OK;
}

/* What is gone already is passed over, so that one that ran out of memory can go on. */
enum tts_status tts_device_release_per_core(struct tts_device *d,
                                            const struct tts_request *request,
                                            const uint64_t *addresses,
                                            const struct tts_buffer *buffer)
{
    if (!buffer->placed)
        return tts_device_release(d, buffer);
    struct tts_device_pool *pool = &d->pools[TTS_POOL_L1];
    struct tts_need need;
    if (check_per_core(d, request, &need, NULL) != TTS_OK || need.banks != buffer->banks)
        return TTS_E_INVALID;
    enum tts_status found = TTS_E_NOT_FOUND;
    for (uint32_t i = 0; i < buffer->banks; i++) {
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
    if (tts_device_watched(d))
        tts_device_tell(d,
                        &(struct tts_device_event){.kind = TTS_DEVICE_FREE, .buffer = buffer});
    return TTS_OK;
}

/* --- circular buffers ------------------------------------------------------------------- */

const struct tts_cbs *tts_device_cbs(const struct tts_device *d)
{
    return d->cbs;
}

void tts_device_program(struct tts_device *d, uint64_t program_id)
{
    if (d->cbs)
        tts_cbs_reset(d->cbs, program_id);
    if (tts_device_watched(d))
        tts_device_tell(d, &(struct tts_device_event){.kind = TTS_DEVICE_PROGRAM,
                                                      .program_id = program_id});
}

static enum tts_status no_cbs(const struct tts_device *d, struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOT_FOUND,
                         "the grid or the L1 of '%s' is not known, set 'grid'", d->chip.name);
}

enum tts_status tts_device_add_cb(struct tts_device *d, const struct tts_cb *cb,
                                  uint64_t *address, struct tts_error *err)
{
    if (!d->cbs)
        return no_cbs(d, err);
    enum tts_status status = tts_cbs_add(d->cbs, cb, address, err);
    if (status != TTS_OK || !tts_device_watched(d))
        return status;
    const struct tts_cb_placed *placed = tts_cbs_at(d->cbs, tts_cbs_count(d->cbs) - 1);
    tts_device_tell(d, &(struct tts_device_event){.kind = TTS_DEVICE_CB,
                                                  .cb = placed,
                                                  .program_id = tts_cbs_program(d->cbs)});
    return TTS_OK;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

struct tts_cbs_floor tts_device_floor(struct tts_device *d)
{
    struct tts_cbs_floor floor = {0};
    const struct tts_banks *banks = d->pools[TTS_POOL_L1].banks;
    if (!banks)
        return floor;
    floor.known = tts_banks_lowest(banks, 0, &floor.address);
    if (!d->floor || !d->map)
        return floor;
    uint32_t cores = d->map->columns * d->map->rows;
    uint64_t lockstep = floor.known ? floor.address : UINT64_MAX, lowest = lockstep;
    for (uint32_t core = 0; core < cores; core++) {
        uint64_t own = UINT64_MAX;
        tts_banks_lowest(banks, 1 + (uint32_t)d->map->bank_of_core[core], &own);
        d->floor[core] = lower(own, lockstep);
        lowest = lower(lowest, own);
    }
    floor.known = lowest < UINT64_MAX;
    floor.address = floor.known ? lowest : 0;
    floor.by_core = d->floor;
    return floor;
}

enum tts_status tts_device_run_program(struct tts_device *d, struct tts_error *err)
{
    if (!d->cbs)
        return no_cbs(d, err);
    if (d->mode == TTS_MODE_NO_DISPATCH)
        return TTS_OK;
    struct tts_cbs_floor floor = tts_device_floor(d);
    struct tts_failure failure;
    if (tts_cbs_check(d->cbs, &floor, &failure) == TTS_OK)
        return TTS_OK;
    failure.pool = TTS_POOL_L1;
    tts_device_refuse(d, &failure);
    return d->mode == TTS_MODE_PLACE ? TTS_E_FULL : TTS_OK;
}
