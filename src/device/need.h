/* need.h: a fast version of tts_request_need() for interleaved buffers, without error texts,
 * for about a million calls per second. Only for buffer.c and device.c. */
#pragma once

#include "base/compiler.h"
#include "ttscope/buffer.h"

/* The numbers of a pool in the form that the computation needs. No alignment may be above
 * TTS_NEED_ALIGNMENT_MAX. */
enum { TTS_NEED_ALIGNMENT_MAX = 1 << 20 };

struct tts_need_pool {
    uint64_t page_mask, block_mask; /* the alignment minus 1 */
    uint64_t banks;
    uint64_t banks_inverse; /* 2^64 / banks, rounded up; exact for fewer than 2^40 pages */
};

static inline struct tts_need_pool tts_need_pool(const struct tts_pool_layout *layout)
{
    return (struct tts_need_pool){.page_mask = layout->bank_page_alignment_bytes - 1,
                                  .block_mask = layout->block_alignment_bytes - 1,
                                  .banks = layout->banks,
                                  .banks_inverse = UINT64_MAX / layout->banks + 1};
}

/* Computes the bytes that each bank needs, before they are rounded up to a block. Returns false
 * for an unusual request (no bytes, too large, or pages that do not divide the size), which
 * tts_request_need() must handle. */
static TTS_FORCE_INLINE bool tts_need_interleaved(const struct tts_need_pool *pool,
                                                  uint64_t size_bytes, uint64_t page_bytes,
                                                  uint64_t *bytes_per_bank)
{
    /* A size of at most 2^40 has at most 2^40 pages. Rounding adds less than 2^20 bytes to each
     * page, so the sum fits in 64 bits. */
    if (TTS_UNLIKELY(page_bytes - 1 >= UINT32_MAX || size_bytes - 1 >= UINT64_C(1) << 40))
        return false;
    /* a 32-bit division takes half the time */
    uint64_t pages = size_bytes <= UINT32_MAX ? (uint32_t)size_bytes / (uint32_t)page_bytes
                                              : size_bytes / page_bytes;
    if (TTS_UNLIKELY(pages * page_bytes != size_bytes))
        return false;
    uint64_t of_bank = pages - 1;
    if (TTS_LIKELY(pool->banks > 1))
        of_bank = tts_mul_high(of_bank, pool->banks_inverse);
    *bytes_per_bank = (of_bank + 1) * ((page_bytes + pool->page_mask) & ~pool->page_mask);
    return true;
}
