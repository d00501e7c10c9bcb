/* same_step.h: compares two lines of a device sequence, for tests that write a line and read it
 * back. */
#pragma once

#include "sources/seq/devseq.h"

#include <stdbool.h>
#include <string.h>

static inline bool same_operands(const struct tts_devseq_line *a,
                                 const struct tts_devseq_line *b)
{
    return a->kind == b->kind && a->pool == b->pool &&
           memcmp(&a->name, &b->name, sizeof a->name) == 0 &&
           a->has_address == b->has_address && a->address == b->address &&
           a->bytes == b->bytes && a->page_bytes == b->page_bytes && a->number == b->number &&
           a->placement == b->placement && a->core.x == b->core.x && a->core.y == b->core.y;
}

static inline bool same_ranges(const struct tts_devseq_line *a, const struct tts_devseq_line *b)
{
    if (a->range_count != b->range_count)
        return false;
    for (size_t i = 0; i < a->range_count; i++)
        if (a->ranges[i].x0 != b->ranges[i].x0 || a->ranges[i].y0 != b->ranges[i].y0 ||
            a->ranges[i].x1 != b->ranges[i].x1 || a->ranges[i].y1 != b->ranges[i].y1)
            return false;
    return true;
}

static inline bool same_step(const struct tts_devseq_line *a, const struct tts_devseq_line *b)
{
    return same_operands(a, b) && same_ranges(a, b) && a->sharding == b->sharding &&
           a->rank == b->rank && a->has_tensor == b->has_tensor &&
           a->column_major == b->column_major && a->index_count == b->index_count &&
           memcmp(a->indices, b->indices, a->index_count) == 0 &&
           memcmp(a->tensor, b->tensor, sizeof a->tensor) == 0 &&
           memcmp(a->shard, b->shard, sizeof a->shard) == 0 && a->has_result == b->has_result &&
           tts_devseq_result_equal(&a->result, &b->result);
}
