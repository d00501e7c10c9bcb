/* same_line.h: compares two lines of an allocation sequence, for tests that write a line and
 * read it back. */
#pragma once

#include "sources/seq/opseq.h"

#include <stdbool.h>

static inline bool same_line(const struct tts_opseq_line *a, const struct tts_opseq_line *b)
{
    return a->kind == b->kind && a->direction == b->direction && a->bytes == b->bytes &&
           a->address == b->address && a->limit == b->limit && a->has_result == b->has_result &&
           tts_opseq_result_equal(&a->result, &b->result) &&
           a->pool.size_bytes == b->pool.size_bytes &&
           a->pool.offset_bytes == b->pool.offset_bytes &&
           a->pool.min_bytes == b->pool.min_bytes &&
           a->pool.alignment_bytes == b->pool.alignment_bytes &&
           a->pool.policy == b->pool.policy;
}
