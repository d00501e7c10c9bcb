#include "plan/change_ladder.h"

#include "runtime/tensor.h"

#include <assert.h>

void tts_ladder_sequence(const void *ctx, uint64_t idx, struct tts_workload *workload)
{
    (void)ctx;
    workload->model.sequence = (idx + 1) * TTS_TILE_SIDE;
}

struct tts_workload tts_ladder_rung(const struct tts_ladder *l, uint64_t idx)
{
    struct tts_workload workload = l->base;
    l->step(l->ctx, idx, &workload);
    return workload;
}

enum tts_status tts_ladder_run(const struct tts_ladder *l, uint64_t idx, struct tts_trial *out,
                               struct tts_error *err)
{
    struct tts_workload workload = tts_ladder_rung(l, idx);
    struct tts_trial_of of = {&workload, l->chip, l->alloc};
    return tts_trial_run(&of, out, err);
}

/* Rungs [0, good) are known to be good, those from `bad` on to be not. */
struct border {
    uint64_t good, bad;
};

/* Is rung `idx` good? *border follows. */
typedef enum tts_status (*judge_fn)(struct tts_ladder *l, uint64_t idx, struct border *border,
                                    struct tts_error *err);

static enum tts_status judge_room(struct tts_ladder *l, uint64_t idx, struct border *border,
                                  struct tts_error *err)
{
    bool has_room = false;
    struct tts_workload workload = tts_ladder_rung(l, idx);
    struct tts_trial_of of = {&workload, l->chip, l->alloc};
    enum tts_status status = tts_trial_has_room(&of, &has_room, err);
    if (status == TTS_OK && has_room)
        border->good = idx + 1;
    else
        border->bad = idx;
    return status;
}

static enum tts_status judge_fit(struct tts_ladder *l, uint64_t idx, struct border *border,
                                 struct tts_error *err)
{
    struct tts_trial trial = {0};
    struct tts_workload workload = tts_ladder_rung(l, idx);
    struct tts_trial_of of = {&workload, l->chip, l->alloc};
    enum tts_status status = tts_trial_fits(&of, &trial, err);
    if (status == TTS_OK && trial.fits) {
        border->good = l->fits = idx + 1;
        l->last = trial;
    } else {
        border->bad = idx;
    }
    return status;
}

static enum tts_status halve(struct tts_ladder *l, judge_fn judge, struct border *border,
                             struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    while (status == TTS_OK && border->good < border->bad)
        status = judge(l, border->good + (border->bad - border->good) / 2, border, err);
    return status;
}

/* 0, 1, 3, 7: each is one below the double of what is good. */
static enum tts_status climb(struct tts_ladder *l, judge_fn judge, struct border *border,
                             struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    uint64_t end = border->bad;
    while (status == TTS_OK && border->bad == end && border->good <= end / 2)
        status = judge(l, border->good == 0 ? 0 : 2 * border->good - 1, border, err);
    return status;
}

enum tts_status tts_ladder_search(struct tts_ladder *l, struct tts_error *err)
{
    struct border room = {0, l->count}, fit;
    enum tts_status status = TTS_OK;
    assert(l->count > 0 && l->fits == 0);
    if (l->is_far)
        status = climb(l, judge_room, &room, err);
    if (status == TTS_OK)
        status = halve(l, judge_room, &room, err);
    fit = (struct border){0, room.good};
    for (uint64_t i = 0; i < l->tries && fit.good < fit.bad && status == TTS_OK; i++)
        status = judge_fit(l, fit.bad - 1, &fit, err);
    return status == TTS_OK ? halve(l, judge_fit, &fit, err) : status;
}
