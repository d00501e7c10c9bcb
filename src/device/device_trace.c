/* device_trace.c: buffers that the runtime allocates without a request of the program: kernel
 * binaries and traces. */
#include "base/error.h"
#include "base/heap.h"
#include "device/banks_inside.h"
#include "device/device_inside.h"
#include "device/devicepools.h"
#include "device/space.h"

#include <assert.h>
#include <inttypes.h>

enum { KERNEL_PAGE = 2048, TRACE_PAGE_MIN = 1024, TRACE_PAGE_MAX = 8192 };

/* Rounds up to a multiple of `to`. Returns false if the result exceeds 64 bits. */
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
        return tts_error_set(err, TTS_E_RANGE,
                             "the size of the kernel binary does not fit in 64 bits");
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
        least = waste; /* may have grown: a page is taken in any case if the buffer fills two
                          rows of it */
    }
    return page;
}

static void told_of_capture(struct tts_device *d, enum tts_device_event_kind kind)
{
    if (tts_device_watched(d))
        tts_device_tell(d, &(struct tts_device_event){.kind = kind});
}

void tts_device_trace_begin(struct tts_device *d)
{
    if (d->pools[TTS_POOL_DRAM].banks) {
        /* A second capture ends the first one. */
        if (d->capturing)
            told_of_capture(d, TTS_DEVICE_TRACE_END);
        tts_banks_water_begin(d->pools[TTS_POOL_DRAM].banks);
        d->capturing = true;
        told_of_capture(d, TTS_DEVICE_TRACE_BEGIN);
    }
}

/* Returns the high-water mark of DRAM in the current capture; zeros if there is no capture. */
static struct tts_water capture_water(const struct tts_device *d)
{
    return d->capturing ? d->pools[TTS_POOL_DRAM].banks->water : (struct tts_water){0};
}

static void end_capture(struct tts_device *d)
{
    if (!d->capturing)
        return;
    tts_banks_water_end(d->pools[TTS_POOL_DRAM].banks);
    d->capturing = false;
    told_of_capture(d, TTS_DEVICE_TRACE_END);
}

static enum tts_status reserve_trace(struct tts_device *d, struct tts_error *err)
{
    void *grown = tts_alloc_grow(d->alloc, d->traces, &d->trace_capacity, d->trace_count + 1,
                                 sizeof *d->traces);
    if (!grown)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    d->traces = grown;
    return TTS_OK;
}

/* Checks that all traces together fit in the trace region. If they do not, sets *place to
 * false; in OVERCOMMIT mode the function still returns TTS_OK. */
static enum tts_status check_budget(struct tts_device *d, uint64_t bytes, bool *place,
                                    struct tts_error *err)
{
    uint64_t budget, sum = 0;
    const struct tts_fact *fact = d->chip.fact;
    if (!pad(fact[TTS_FACT_TRACE_REGION].value, fact[TTS_FACT_DRAM_ALIGNMENT].value, &budget))
        return tts_error_set(err, TTS_E_RANGE,
                             "the size of the trace region does not fit in 64 bits");
    for (size_t i = 0; i < d->trace_count; i++)
        sum += d->traces[i].bytes;
    assert(sum <= budget);
    if (bytes <= budget - sum)
        return TTS_OK;
    if (__builtin_add_overflow(sum, bytes, &sum))
        return tts_error_set(err, TTS_E_RANGE,
                             "the size of all traces together does not fit in 64 bits");
    tts_device_refuse(d, &(struct tts_failure){.kind = TTS_FAILURE_TRACE,
                                               .pool = TTS_POOL_TRACE,
                                               .requested_bytes = sum,
                                               .mesh_id = d->config.mesh_id,
                                               .trace_bytes = budget});
    *place = false;
    return d->config.mode == TTS_MODE_PLACE ? TTS_E_FULL : TTS_OK;
}

/* Finds the highest address of a free block of `bytes`. Returns false if no free block is large
 * enough. */
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

static uint64_t higher(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Checks that a trace in DRAM does not lie below memory that was in use during its own capture
 * or during the capture of a live trace. */
static enum tts_status check_water(struct tts_device *d, const struct tts_request *request,
                                   struct tts_water water, bool *place, struct tts_error *err)
{
    const struct tts_device_pool *pool = &d->pools[TTS_POOL_DRAM];
    struct tts_failure failure = {.kind = TTS_FAILURE_TRACE_OVERLAP,
                                  .pool = TTS_POOL_DRAM,
                                  .taken_end = water.taken_end,
                                  .given_end = water.given_end};
    struct tts_need need;
    enum tts_status status = tts_request_need(request, &pool->layout, d->grid, &need, err);
    if (status != TTS_OK || need.block_bytes == 0)
        return status;
    for (size_t i = 0; i < d->trace_count; i++)
        failure.limit = higher(failure.limit, d->traces[i].water);
    uint64_t mark = higher(failure.limit, higher(water.taken_end, water.given_end));
    if (!top_place(tts_banks_space(pool->banks, 0), need.block_bytes, &failure.address) ||
        failure.address >= mark)
        return TTS_OK;
    tts_device_refuse(d, &failure);
    *place = false;
    return d->config.mode == TTS_MODE_PLACE ? TTS_E_FULL : TTS_OK;
}

enum tts_status tts_device_alloc_trace(struct tts_device *d, uint64_t bytes,
                                       struct tts_buffer *out, struct tts_error *err)
{
    enum tts_pool kind = tts_device_trace_pool(d);
    const struct tts_device_pool *pool = &d->pools[kind];
    bool in_region = kind == TTS_POOL_TRACE, place = tts_device_is_placing(d);
    struct tts_request request = {.pool = kind,
                                  .placement = in_region ? TTS_PLACE_DEFAULT : TTS_PLACE_DOWN};
    struct tts_water water = capture_water(d);
    if (!pool->banks)
        return tts_device_alloc(d, &request, out, err); /* fails and says what is missing */
    request.page_bytes = tts_trace_page(bytes, pool->layout.banks);
    if (!pad(bytes, request.page_bytes, &request.size_bytes))
        return tts_error_set(err, TTS_E_RANGE, "the size of the trace does not fit in 64 bits");
    enum tts_status status = reserve_trace(d, err);
    if (status == TTS_OK && place)
        status = in_region ? check_budget(d, request.size_bytes, &place, err)
                           : check_water(d, &request, water, &place, err);
    if (status == TTS_OK)
        status = tts_device_alloc_as(d, &request, place, out, err);
    if (status == TTS_OK && out->placed)
        d->traces[d->trace_count++] =
            (struct tts_device_trace){.address = out->address,
                                      .bytes = request.size_bytes,
                                      .water = higher(water.taken_end, water.given_end)};
    /* After any other failure the capture continues, so that the caller can try again. */
    if (status == TTS_OK || status == TTS_E_FULL)
        end_capture(d);
    return status;
}
