#include "base/error.h"
#include "device/cbs_state.h"

enum { PAGES_MAX = 65535 };

static enum tts_status index_check(const struct tts_cbs *cbs, const struct tts_cb_adding *add,
                                   const struct tts_cb_index *i, struct tts_error *err)
{
    if (i->index >= cbs->config.max_indices)
        return tts_error_set(err, TTS_E_INVALID,
                             "buffer index %u is too high: a core has only %u indices",
                             i->index, cbs->config.max_indices);
    if (add->indices >> i->index & 1)
        return tts_error_set(err, TTS_E_INVALID, "buffer index %u is named twice", i->index);
    if (i->page_bytes == 0)
        return TTS_OK;
    uint64_t total = add->cb->total_bytes;
    if (total % i->page_bytes != 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "total size %llu of buffer index %u is not a multiple of its page "
                             "size %llu",
                             (unsigned long long)total, i->index,
                             (unsigned long long)i->page_bytes);
    if (total / i->page_bytes > PAGES_MAX)
        return tts_error_set(err, TTS_E_INVALID,
                             "buffer index %u has %llu pages, expected at most %d", i->index,
                             (unsigned long long)(total / i->page_bytes), PAGES_MAX);
    return TTS_OK;
}

static enum tts_status range_check(const struct tts_cbs *cbs, const struct tts_cb_adding *add,
                                   const struct tts_core_range *r, struct tts_error *err)
{
    const char *wrong = NULL;
    if (r->x0 > r->x1 || r->y0 > r->y1)
        wrong = "ends before it begins";
    else if (r->x1 >= cbs->config.columns || r->y1 >= cbs->config.rows)
        wrong = "is not inside the compute grid";
    else if (tts_range_touches(add->rows, r))
        wrong = "overlaps another range of the same circular buffer";
    if (!wrong)
        return TTS_OK;
    return tts_error_set(err, TTS_E_INVALID, "core range %u-%u..%u-%u %s (grid %ux%u)", r->x0,
                         r->y0, r->x1, r->y1, wrong, cbs->config.columns, cbs->config.rows);
}

/* Checks that no index of the circular buffer is in use on any of its cores. */
static enum tts_status unused_check(const struct tts_cbs *cbs, const struct tts_cb_adding *add,
                                    struct tts_error *err)
{
    for (uint32_t y = 0; y < cbs->config.rows; y++) {
        for (uint64_t rest = add->rows[y]; rest; rest &= rest - 1) {
            uint32_t x = (uint32_t)__builtin_ctzll(rest);
            uint64_t taken = cbs->cores[tts_cbs_core_idx(cbs, x, y)].indices & add->indices;
            if (taken)
                return tts_error_set(err, TTS_E_INVALID,
                                     "buffer index %d is already in use on core %u-%u",
                                     __builtin_ctzll(taken), x, y);
        }
    }
    return TTS_OK;
}

/* Also fills in the indices and the cores of `add`. */
enum tts_status tts_cb_adding_check(const struct tts_cbs *cbs, struct tts_cb_adding *add,
                                    struct tts_error *err)
{
    const struct tts_cb *cb = add->cb;
    if (cbs->count == TTS_CBS_MAX)
        return tts_error_set(
            err, TTS_E_RANGE,
            "the program already has %d circular buffers, which is the maximum", TTS_CBS_MAX);
    if (cb->range_count == 0 || cb->range_count > TTS_RANGES_MAX)
        return tts_error_set(err, TTS_E_INVALID,
                             "circular buffer has %zu core ranges, expected 1 to %d",
                             cb->range_count, TTS_RANGES_MAX);
    assert(cb->ranges && (cb->indices || cb->index_count == 0));
    for (size_t i = 0; i < cb->index_count; i++) {
        enum tts_status status = index_check(cbs, add, &cb->indices[i], err);
        if (status != TTS_OK)
            return status;
        add->indices |= UINT64_C(1) << cb->indices[i].index;
    }
    for (size_t i = 0; i < cb->range_count; i++) {
        const struct tts_core_range *r = &cb->ranges[i];
        enum tts_status status = range_check(cbs, add, r, err);
        if (status != TTS_OK)
            return status;
        for (uint32_t y = r->y0; y <= r->y1; y++)
            add->rows[y] |= tts_range_columns(r);
        add->corners[r->y0] |= UINT64_C(1) << r->x0;
    }
    return unused_check(cbs, add, err);
}
