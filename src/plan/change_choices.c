/* change_choices.c: what there is to choose from. */
#include "plan/change_inside.h"

#include <assert.h>

enum { ROOT_MAX = 1024 }; /* of the largest batch whose divisors are all looked for */

void tts_batches_init(struct tts_batches *batches, const struct tts_workload *workload)
{
    uint64_t chips = workload->data_parallel > 1 ? workload->data_parallel : 1;
    uint64_t samples = workload->batch / chips;
    size_t count = 0;
    assert(samples > 0);
    for (uint64_t d = 1; d <= ROOT_MAX && d <= samples / d && count < TTS_BATCHES_MAX / 2; d++)
        if (samples % d == 0)
            batches->batch[count++] = d;
    for (size_t i = count; i-- > 0;)
        if (samples / batches->batch[i] != batches->batch[count - 1])
            batches->batch[count++] = samples / batches->batch[i];
    for (size_t i = 0; i < count; i++)
        batches->batch[i] *= chips;
    batches->count = count;
    assert(count <= TTS_BATCHES_MAX);
}

/* Each gives up one thing more than the one before. */
size_t tts_optimizer_lighter(struct tts_optimizer_config from,
                             struct tts_optimizer_config out[TTS_LIGHTER_MAX])
{
    struct tts_optimizer_config now = from;
    bool is_adamw = from.kind != TTS_OPTIMIZER_SGD && from.kind != TTS_OPTIMIZER_NONE;
    size_t count = 0;
    if (is_adamw && now.amsgrad) {
        now.amsgrad = false;
        out[count++] = now;
    }
    if (now.kind == TTS_OPTIMIZER_ADAMW_COMPOSITE && now.kahan) {
        now.kahan = false;
        out[count++] = now;
    }
    if (now.kind == TTS_OPTIMIZER_ADAMW_FULL_PRECISION) {
        now = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_ADAMW};
        out[count++] = now;
    }
    if (is_adamw)
        out[count++] =
            (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD, .momentum = true};
    if (is_adamw || (from.kind == TTS_OPTIMIZER_SGD && from.momentum))
        out[count++] = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD};
    assert(count <= TTS_LIGHTER_MAX);
    return count;
}
