/* largest.c: the largest batch or sequence that fits. */
#include "plan/change.h"
#include "plan/change_ladder.h"
#include "runtime/tensor.h"

#include <assert.h>

/* 256 tries of a run that stops where it fails stay well below a second. */
enum { TRIES = 256 };

static void set_batch(const void *ctx, uint64_t idx, struct tts_workload *workload)
{
    workload->batch = (idx + 1) * *(const uint64_t *)ctx;
}

enum tts_status tts_largest_find(const struct tts_workload *workload,
                                 const struct tts_chip *chip, enum tts_largest_kind kind,
                                 const struct tts_alloc *alloc, struct tts_largest *out,
                                 struct tts_error *err)
{
    assert(kind == TTS_LARGEST_BATCH || kind == TTS_LARGEST_SEQUENCE);
    uint64_t chips = workload->data_parallel > 1 ? workload->data_parallel : 1;
    uint64_t step = kind == TTS_LARGEST_BATCH ? chips : TTS_TILE_SIDE;
    uint64_t count = step < TTS_LARGEST_MAX ? TTS_LARGEST_MAX / step : 1;
    struct tts_ladder ladder = {.base = *workload,
                                .chip = chip,
                                .alloc = alloc,
                                .step =
                                    kind == TTS_LARGEST_BATCH ? set_batch : tts_ladder_sequence,
                                .ctx = &step,
                                .count = count,
                                .tries = TRIES,
                                .is_far = true};
    struct tts_workload smallest = tts_ladder_rung(&ladder, 0);
    enum tts_workload_field field;
    enum tts_status status = tts_workload_check(&smallest, &field, err);
    if (status == TTS_OK)
        status = tts_ladder_search(&ladder, err);
    struct tts_trial next = {0};
    bool has_next = ladder.fits < count;
    if (status == TTS_OK && has_next)
        status = tts_ladder_run(&ladder, ladder.fits, &next, err);
    if (status != TTS_OK)
        return status;
    *out = (struct tts_largest){
        .value = ladder.fits * step,
        .peak_bytes = ladder.fits > 0 ? ladder.last.peak_bytes : next.peak_bytes,
        .next = has_next ? (ladder.fits + 1) * step : 0,
        .next_peak_bytes = next.peak_bytes,
    };
    return TTS_OK;
}
