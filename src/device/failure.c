#include "ttscope/failure.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* TTS_FAILURE_TEXT_MAX is enough for the longest message with the largest numbers. This is the
 * end of two messages. */
#define BANK_FORMAT                                                                            \
    "bank size is %" PRIu64 " B (allocated: %" PRIu64 " B, free: %" PRIu64                     \
    " B, largest free block: %" PRIu64 " B)"

static int space_text(const struct tts_failure *f, char *out)
{
    if (f->banks == 0) /* nobody knows more; the runtime has at least one bank */
        return snprintf(out, TTS_FAILURE_TEXT_MAX,
                        "Out of Memory: Not enough space to allocate %" PRIu64
                        " B %s buffer (details unknown)",
                        f->requested_bytes, tts_pool_name(f->pool));
    return snprintf(out, TTS_FAILURE_TEXT_MAX,
                    "Out of Memory: Not enough space to allocate %" PRIu64
                    " B %s buffer across %" PRIu32
                    " banks, where each bank needs to store %" PRIu64 " B, but " BANK_FORMAT,
                    f->requested_bytes, tts_pool_name(f->pool), f->banks, f->need_bytes,
                    f->bank_bytes, f->taken_bytes, f->free_bytes, f->largest_free_bytes);
}

static int dependency_text(const struct tts_failure *f, char *out)
{
    return snprintf(out, TTS_FAILURE_TEXT_MAX,
                    "Out of Memory: Not enough space after considering dependencies to "
                    "allocate %" PRIu64 " B %s across %" PRIu32 " banks (%" PRIu64
                    " B per bank), " BANK_FORMAT,
                    f->requested_bytes, tts_pool_name(f->pool), f->banks, f->need_bytes,
                    f->bank_bytes, f->taken_bytes, f->free_bytes, f->largest_free_bytes);
}

static int limit_text(const struct tts_failure *f, char *out)
{
    return snprintf(out, TTS_FAILURE_TEXT_MAX,
                    "Out of Memory: Cannot allocate at an address below %" PRIu64
                    ". Allocation at %" PRIu64,
                    f->limit, f->address);
}

static int beyond_text(const struct tts_failure *f, char *out)
{
    return snprintf(out, TTS_FAILURE_TEXT_MAX,
                    "Statically allocated circular buffers on core range [%u-%u - %u-%u] grow "
                    "to %" PRIu64 " B which is beyond max L1 size of %" PRIu64 " B",
                    f->range.x0, f->range.y0, f->range.x1, f->range.y1, f->region_end,
                    f->l1_bytes);
}

static int clash_text(const struct tts_failure *f, char *out)
{
    return snprintf(out, TTS_FAILURE_TEXT_MAX,
                    "Statically allocated circular buffers in program %" PRIu64
                    " clash with L1 buffers on core range [%u-%u - %u-%u]. L1 buffer allocated "
                    "at %" PRIu64 " and static circular buffer region ends at %" PRIu64,
                    f->program_id, f->range.x0, f->range.y0, f->range.x1, f->range.y1,
                    f->l1_address, f->region_end);
}

static int trace_text(const struct tts_failure *f, char *out)
{
    return snprintf(out, TTS_FAILURE_TEXT_MAX,
                    "Creating trace buffers of size %" PRIu64 "B on MeshDevice %" PRIu64
                    ", but only %" PRIu64 "B is allocated for trace region.",
                    f->requested_bytes, f->mesh_id, f->trace_bytes);
}

static bool is_below(uint64_t address, uint64_t mark)
{
    return mark > 0 && address < mark;
}

static int overlap_text(const struct tts_failure *f, char *out)
{
    bool taken = is_below(f->address, f->taken_end), given = is_below(f->address, f->given_end);
    static const char less[] = "Reduce allocations during trace capture";
    if (taken && given)
        return snprintf(out, TTS_FAILURE_TEXT_MAX,
                        "Trace buffer at address %" PRIu64
                        " overlaps with DRAM activity during trace capture. Allocation high "
                        "water mark: %" PRIu64 ", Deletion high water mark: %" PRIu64
                        ". %s or set a non-zero trace_region_size.",
                        f->address, f->taken_end, f->given_end, less);
    if (!taken && !given)
        return snprintf(out, TTS_FAILURE_TEXT_MAX,
                        "Trace buffer at address %" PRIu64
                        " overlaps with DRAM activity captured by another live trace (maximum "
                        "live trace high water mark: %" PRIu64
                        "). Release the existing trace before capturing this trace or set a "
                        "non-zero trace_region_size.",
                        f->address, f->limit);
    return snprintf(
        out, TTS_FAILURE_TEXT_MAX,
        "Trace buffer at address %" PRIu64
        " overlaps with buffers %s during trace capture (%s high water mark: %" PRIu64
        "). %s or set a non-zero trace_region_size.",
        f->address, taken ? "allocated" : "deallocated", taken ? "allocation" : "deletion",
        taken ? f->taken_end : f->given_end,
        taken ? less : "Avoid deallocating DRAM buffers during trace capture");
}

static int text_of(const struct tts_failure *f, char *out)
{
    switch (f->kind) {
    case TTS_FAILURE_SPACE:
        return space_text(f, out);
    case TTS_FAILURE_DEPENDENCY:
        return dependency_text(f, out);
    case TTS_FAILURE_BELOW_LIMIT:
        return limit_text(f, out);
    case TTS_FAILURE_CB_BEYOND:
        return beyond_text(f, out);
    case TTS_FAILURE_CB_CLASH:
        return clash_text(f, out);
    case TTS_FAILURE_TRACE:
        return trace_text(f, out);
    case TTS_FAILURE_TRACE_OVERLAP:
        return overlap_text(f, out);
    case TTS_FAILURE_NONE:
        break;
    }
    out[0] = '\0';
    return 0;
}

const char *tts_failure_kind_name(enum tts_failure_kind kind)
{
    static const char *const names[] = {
        [TTS_FAILURE_NONE] = "none",
        [TTS_FAILURE_SPACE] = "space",
        [TTS_FAILURE_DEPENDENCY] = "dependency",
        [TTS_FAILURE_BELOW_LIMIT] = "below_limit",
        [TTS_FAILURE_CB_BEYOND] = "beyond_l1",
        [TTS_FAILURE_CB_CLASH] = "clash",
        [TTS_FAILURE_TRACE] = "trace_region",
        [TTS_FAILURE_TRACE_OVERLAP] = "trace_overlap",
    };
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "other";
}

const char *tts_failure_text(const struct tts_failure *failure, char out[TTS_FAILURE_TEXT_MAX])
{
    int length = text_of(failure, out);
    assert(length >= 0 && length < TTS_FAILURE_TEXT_MAX);
    (void)length;
    return out;
}

static uint64_t above(uint64_t value, uint64_t bound)
{
    return value > bound ? value - bound : 0;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t tts_failure_deficit(const struct tts_failure *failure)
{
    const struct tts_failure *f = failure;
    switch (f->kind) {
    case TTS_FAILURE_SPACE:
        return above(f->block_bytes, f->largest_free_bytes);
    case TTS_FAILURE_BELOW_LIMIT:
        return above(f->limit, f->address);
    case TTS_FAILURE_CB_BEYOND:
        return above(f->region_end, f->l1_bytes);
    case TTS_FAILURE_CB_CLASH:
        return above(f->region_end, f->l1_address);
    case TTS_FAILURE_TRACE:
        return above(f->requested_bytes, f->trace_bytes);
    case TTS_FAILURE_TRACE_OVERLAP:
        return above(higher(f->limit, higher(f->taken_end, f->given_end)), f->address);
    case TTS_FAILURE_DEPENDENCY:
    case TTS_FAILURE_NONE:
        break;
    }
    return 0;
}

bool tts_failure_deficit_is_known(const struct tts_failure *failure)
{
    /* Numbers of which nothing is missing, as a foreign file may state, explain no failure. */
    return tts_failure_deficit(failure) > 0;
}
