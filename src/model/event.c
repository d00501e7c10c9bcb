#include "ttscope/event.h"

#include "base/compiler.h"
#include "base/error.h"
#include "model/fold.h"

#include <inttypes.h>

const char *tts_event_kind_name(enum tts_event_kind kind)
{
    switch (kind) {
    case TTS_EVENT_ALLOC:
        return "alloc";
    case TTS_EVENT_FREE:
        return "free";
    case TTS_EVENT_PROGRAM:
        return "program";
    case TTS_EVENT_CB:
        return "cb";
    case TTS_EVENT_DFB:
        return "dfb";
    case TTS_EVENT_SCRATCHPAD:
        return "scratchpad";
    case TTS_EVENT_OP_BEGIN:
        return "op_begin";
    case TTS_EVENT_OP_END:
        return "op_end";
    case TTS_EVENT_TRACE_BEGIN:
        return "trace_begin";
    case TTS_EVENT_TRACE_END:
        return "trace_end";
    case TTS_EVENT_FAILURE:
        return "failure";
    }
    return "unknown";
}

/* ---- ranges ---- */

static enum tts_status check_core_range(struct tts_core_range r, struct tts_error *err)
{
    if (TTS_LIKELY(r.x0 <= r.x1 && r.y0 <= r.y1 && r.x1 < TTS_GRID_SIDE_MAX &&
                   r.y1 < TTS_GRID_SIDE_MAX))
        return TTS_OK;
    if (r.x0 > r.x1 || r.y0 > r.y1)
        return tts_error_set(err, TTS_E_INVALID,
                             "core range %u-%u..%u-%u is backwards: give the corner with the "
                             "smaller coordinates first",
                             r.x0, r.y0, r.x1, r.y1);
    return tts_error_set(err, TTS_E_INVALID,
                         "core range %u-%u..%u-%u is outside the largest grid: coordinates "
                         "are 0 to %d",
                         r.x0, r.y0, r.x1, r.y1, TTS_GRID_SIDE_MAX - 1);
}

static bool do_ranges_overlap(struct tts_core_range a, struct tts_core_range b)
{
    return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

static enum tts_status check_range_overlaps(const struct tts_event *event,
                                            struct tts_error *err)
{
    const struct tts_core_range *r = event->ranges;
    for (size_t i = 1; i < event->range_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (do_ranges_overlap(r[i], r[k]))
                return tts_error_set(err, TTS_E_INVALID,
                                     "core ranges %u-%u..%u-%u and %u-%u..%u-%u overlap: "
                                     "give every core once",
                                     r[k].x0, r[k].y0, r[k].x1, r[k].y1, r[i].x0, r[i].y0,
                                     r[i].x1, r[i].y1);
        }
    }
    return TTS_OK;
}

static enum tts_status check_core_ranges(const struct tts_event *event, struct tts_error *err)
{
    if (!event->ranges)
        return tts_error_set(
            err, TTS_E_INVALID,
            "the '%s' event with %zu core ranges has ranges NULL: give the ranges",
            tts_event_kind_name(event->kind), event->range_count);
    if (event->range_count > TTS_RANGES_MAX)
        return tts_error_set(
            err, TTS_E_INVALID, "the '%s' event has %zu core ranges: give at most %d",
            tts_event_kind_name(event->kind), event->range_count, TTS_RANGES_MAX);
    for (size_t i = 0; i < event->range_count; i++) {
        enum tts_status status = check_core_range(event->ranges[i], err);
        if (status != TTS_OK)
            return status;
    }
    return event->range_count > 1 ? check_range_overlaps(event, err) : TTS_OK;
}

/* ---- kinds ---- */

TTS_COLD static enum tts_status is_too_large(const struct tts_event *event,
                                             struct tts_error *err)
{
    bool is_buffer = event->kind <= TTS_EVENT_FREE;
    if (is_buffer ? event->size_bytes > TTS_EVENT_SIZE_MAX
                  : event->size_bytes > TTS_EVENT_BYTES_MAX)
        return tts_error_set(
            err, TTS_E_RANGE,
            "the '%s' event has a size of %" PRIu64 " bytes, but the maximum is 2^%d",
            tts_event_kind_name(event->kind), event->size_bytes, is_buffer ? 52 : 62);
    bool is_block = event->bytes_per_bank <= TTS_EVENT_BYTES_MAX;
    return tts_error_set(
        err, TTS_E_RANGE, "the '%s' event has a %s of %" PRIu64 ", but the maximum is 2^62",
        tts_event_kind_name(event->kind), is_block ? "block_bytes" : "bytes_per_bank",
        is_block ? event->block_bytes : event->bytes_per_bank);
}

static enum tts_status check_event_sizes(const struct tts_event *event, struct tts_error *err)
{
    if (TTS_UNLIKELY(event->size_bytes > TTS_EVENT_SIZE_MAX ||
                     event->bytes_per_bank > TTS_EVENT_BYTES_MAX ||
                     event->block_bytes > TTS_EVENT_BYTES_MAX))
        return is_too_large(event, err);
    if (TTS_UNLIKELY(event->block_bytes != 0 && event->block_bytes < event->bytes_per_bank))
        return tts_error_set(err, TTS_E_INVALID,
                             "block_bytes %" PRIu64 " is less than bytes_per_bank %" PRIu64
                             ": give 0 if block_bytes is unknown",
                             event->block_bytes, event->bytes_per_bank);
    if (TTS_UNLIKELY(tts_pool_is_l1(event->pool) && event->size_bytes > 0 &&
                     event->bytes_per_bank == 0))
        return tts_error_set(
            err, TTS_E_INVALID,
            "the '%s' event in %s of buffer %" PRIu64
            " has no bytes_per_bank: give the bytes in the fullest bank of the buffer",
            tts_event_kind_name(event->kind), event->pool == TTS_POOL_L1 ? "L1" : "L1_SMALL",
            event->id);
    return TTS_OK;
}

/* Explains why check_event_request() refuses an event. */
TTS_COLD static enum tts_status refuse_event_request(const struct tts_event *event,
                                                     struct tts_error *err)
{
    bool is_address = event->address > TTS_EVENT_BYTES_MAX;
    if ((unsigned)event->placement > TTS_PLACE_DOWN)
        return tts_error_set(err, TTS_E_INVALID,
                             "buffer %" PRIu64
                             " has the unknown placement %u: give one of enum tts_placement",
                             event->id, (unsigned)event->placement);
    if (event->cores > TTS_CORES_MAX)
        return tts_error_set(err, TTS_E_INVALID,
                             "buffer %" PRIu64 " has %" PRIu32 " cores, but the maximum is %d",
                             event->id, event->cores, TTS_CORES_MAX);
    return tts_error_set(err, TTS_E_INVALID,
                         "buffer %" PRIu64 " has %s %" PRIu64 ", but the maximum is 2^%d",
                         event->id, is_address ? "the address" : "a page_bytes of",
                         is_address ? event->address : event->page_bytes, is_address ? 62 : 52);
}

static enum tts_status check_event_request(const struct tts_event *event, struct tts_error *err)
{
    if (TTS_LIKELY((unsigned)event->placement <= TTS_PLACE_DOWN &&
                   event->cores <= TTS_CORES_MAX && event->page_bytes <= TTS_EVENT_SIZE_MAX &&
                   event->address <= TTS_EVENT_BYTES_MAX))
        return TTS_OK;
    return refuse_event_request(event, err);
}

static enum tts_status check_buffer_event(const struct tts_event *event, struct tts_error *err)
{
    if (TTS_UNLIKELY((unsigned)event->pool >= TTS_POOLS))
        return tts_error_set(err, TTS_E_INVALID, "unknown pool %u: give one of enum tts_pool",
                             (unsigned)event->pool);
    enum tts_status status = check_event_sizes(event, err);
    if (status == TTS_OK && event->kind == TTS_EVENT_ALLOC)
        status = check_event_request(event, err);
    if (status != TTS_OK || event->kind == TTS_EVENT_FREE ||
        TTS_LIKELY(event->range_count == 0))
        return status;
    if (!tts_pool_is_l1(event->pool))
        return tts_error_set(
            err, TTS_E_INVALID,
            "buffer %" PRIu64 " has core ranges but is not in L1: give no ranges", event->id);
    return check_core_ranges(event, err);
}

static enum tts_status check_cb_event(const struct tts_event *event, struct tts_error *err)
{
    if (event->size_bytes > TTS_EVENT_BYTES_MAX)
        return is_too_large(event, err);
    if (event->range_count == 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "the '%s' event has no core ranges: give the ranges",
                             tts_event_kind_name(event->kind));
    return check_core_ranges(event, err);
}

static enum tts_status check_failure_event(const struct tts_event *event, struct tts_error *err)
{
    const struct tts_failure *failure = event->failure;
    if (!failure)
        return tts_error_set(err, TTS_E_INVALID,
                             "the 'failure' event has no tts_failure: set 'failure'");
    if ((unsigned)failure->kind > TTS_FAILURE_TRACE_OVERLAP ||
        failure->kind == TTS_FAILURE_NONE || (unsigned)failure->pool >= TTS_POOLS)
        return tts_error_set(
            err, TTS_E_INVALID,
            "the failure has the unknown kind %u or the unknown pool %u: give one of "
            "enum tts_failure_kind and of enum tts_pool",
            (unsigned)failure->kind, (unsigned)failure->pool);
    return TTS_OK;
}

enum tts_status tts_event_check(const struct tts_event *event, struct tts_error *err)
{
    switch (event->kind) {
    case TTS_EVENT_ALLOC:
    case TTS_EVENT_FREE:
        return check_buffer_event(event, err);
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        return check_cb_event(event, err);
    case TTS_EVENT_OP_BEGIN:
        if (!event->name && event->name_len > 0)
            return tts_error_set(err, TTS_E_INVALID,
                                 "operation has name_len %zu but name NULL: give the name, or "
                                 "name_len 0",
                                 event->name_len);
        return TTS_OK;
    case TTS_EVENT_FAILURE:
        return check_failure_event(event, err);
    case TTS_EVENT_PROGRAM:
    case TTS_EVENT_OP_END:
    case TTS_EVENT_TRACE_BEGIN:
    case TTS_EVENT_TRACE_END:
        return TTS_OK;
    }
    return tts_error_set(err, TTS_E_INVALID,
                         "unknown kind of event %u: give one of enum tts_event_kind",
                         (unsigned)event->kind);
}
