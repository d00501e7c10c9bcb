/* need.h: what an interleaved buffer comes to, for those who ask a million times a second.
 * The same as tts_request_need(), without its words. For buffer.c and device.c only. */
#pragma once

#include "base/compiler.h"
#include "ttscope/buffer.h"

/* A pool as the arithmetic wants it; only for alignments up to TTS_NEED_ALIGNMENT_MAX. */
enum { TTS_NEED_ALIGNMENT_MAX = 1 << 20 };

struct tts_need_pool {
    uint64_t page_mask, block_mask; /* alignments, less 1 */
    uint64_t banks;
    uint64_t banks_inverse; /* 2^64 / banks, rounded up; for fewer than 2^40 pages */
};

static inline struct tts_need_pool tts_need_pool(const struct tts_pool_layout *layout)
{
    return (struct tts_need_pool){.page_mask = layout->bank_page_alignment_bytes - 1,
                                  .block_mask = layout->block_alignment_bytes - 1,
                                  .banks = layout->banks,
                                  .banks_inverse = UINT64_MAX / layout->banks + 1};
}

/* Bytes of each bank, before the block is rounded. False: an odd request (nothing, too large,
 * pages that do not divide), about which tts_request_need() has more to say. */
static TTS_FORCE_INLINE bool tts_need_interleaved(const struct tts_need_pool *pool,
                                                  uint64_t size_bytes, uint64_t page_bytes,
                                                  uint64_t *bytes_per_bank)
{
    /* A size of up to 2^40, and so at most 2^40 pages, each rounded up by less than 2^20. */
    if (TTS_UNLIKELY(page_bytes - 1 >= UINT32_MAX || size_bytes - 1 >= UINT64_C(1) << 40))
        return false;
    uint64_t pages = size_bytes <= UINT32_MAX
                         ? (uint32_t)size_bytes / (uint32_t)page_bytes /* twice as quick */
                         : size_bytes / page_bytes;
    if (TTS_UNLIKELY(pages * page_bytes != size_bytes))
        return false;
    uint64_t of_bank = pages - 1;
    if (TTS_LIKELY(pool->banks > 1))
        of_bank = tts_mul_high(of_bank, pool->banks_inverse);
    *bytes_per_bank = (of_bank + 1) * ((page_bytes + pool->page_mask) & ~pool->page_mask);
    return true;
}
