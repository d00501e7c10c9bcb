#include "ttscope/buffer.h"

#include "base/compiler.h"
#include "base/error.h"
#include "device/shards.h"

#include <assert.h>
#include <inttypes.h>

/* Rounds up to a multiple of `to`, a power of two. Returns false if the result exceeds 64
 * bits. */
static bool round_up(uint64_t bytes, uint64_t to, uint64_t *out)
{
    *out = (bytes + to - 1) & (0 - to);
    return *out >= bytes;
}

static TTS_COLD enum tts_status too_large(struct tts_error *err)
{
    return tts_error_set(err, TTS_E_RANGE, "the size of the buffer does not fit in 64 bits");
}

static TTS_COLD enum tts_status bad_page(const struct tts_request *request,
                                         struct tts_error *err)
{
    return tts_error_set(err, TTS_E_INVALID,
                         "the size of %" PRIu64
                         " B is not a multiple of the page size, %" PRIu64 " B",
                         request->size_bytes, request->page_bytes);
}

static enum tts_status need_sharded(const struct tts_request *request,
                                    const struct tts_pool_layout *pool, uint64_t grid,
                                    struct tts_need *need, struct tts_error *err)
{
    struct tts_shards_size size;
    struct tts_shards_place place = {pool->banks, grid};
    uint64_t bank_page;
    if (!round_up(need->page_bytes, pool->bank_page_alignment_bytes, &bank_page))
        return too_large(err);
    enum tts_status status = tts_shards_measure(request, need->pages, &place, &size, err);
    if (status != TTS_OK)
        return status;
    need->banks = size.cores_used;
    if (__builtin_mul_overflow(size.pages_per_core, (uint64_t)need->banks, &need->pages) ||
        __builtin_mul_overflow(size.pages_per_core, bank_page, &need->bytes_per_bank))
        return too_large(err);
    return TTS_OK;
}

enum tts_status tts_request_need(const struct tts_request *request,
                                 const struct tts_pool_layout *pool, uint64_t grid,
                                 struct tts_need *out, struct tts_error *err)
{
    assert(pool->page_alignment_bytes > 0 && pool->bank_page_alignment_bytes > 0);
    if (TTS_UNLIKELY(pool->banks == 0))
        return tts_error_set(err, TTS_E_NOT_FOUND, "the size of the pool is 0 bytes");
    if (TTS_UNLIKELY(request->size_bytes == 0)) {
        *out = (struct tts_need){.banks = pool->banks};
        return TTS_OK;
    }
    uint64_t pages = request->page_bytes ? request->size_bytes / request->page_bytes : 0;
    if (TTS_UNLIKELY(pages * request->page_bytes != request->size_bytes))
        return bad_page(request, err);
    struct tts_need need = {.banks = pool->banks, .pages = pages};
    if (TTS_UNLIKELY(
            !round_up(request->page_bytes, pool->page_alignment_bytes, &need.page_bytes)))
        return too_large(err);
    if (TTS_UNLIKELY(request->shard || request->distribution)) {
        enum tts_status status = need_sharded(request, pool, grid, &need, err);
        if (status != TTS_OK)
            return status;
    } else {
        if (TTS_UNLIKELY(request->pool == TTS_POOL_L1_SMALL))
            return tts_error_set(err, TTS_E_INVALID,
                                 "L1_SMALL accepts only sharded buffers: shard the buffer");
        uint64_t of_bank = (pages - 1) / pool->banks + 1, bank_page;
        if (TTS_UNLIKELY(
                !round_up(need.page_bytes, pool->bank_page_alignment_bytes, &bank_page) ||
                __builtin_mul_overflow(of_bank, bank_page, &need.bytes_per_bank)))
            return too_large(err);
    }
    if (TTS_UNLIKELY(
            __builtin_mul_overflow(need.pages, need.page_bytes, &need.total_bytes) ||
            !round_up(need.bytes_per_bank, pool->block_alignment_bytes, &need.block_bytes)))
        return too_large(err);
    *out = need;
    return TTS_OK;
}
