/* change_inside.h: the parts of a search for changes. For change*.c. */
#pragma once

#include "plan/change.h"

#include <stddef.h>
#include <stdint.h>

/* ---- the batch ---- */

enum { TTS_BATCHES_MAX = 256 };

/* The batches that divide the one of a workload, smallest first, its own at the end. */
struct tts_batches {
    uint64_t batch[TTS_BATCHES_MAX];
    size_t count;
};
void tts_batches_init(struct tts_batches *batches, const struct tts_workload *workload);

/* ---- the optimizer ---- */

enum { TTS_LIGHTER_MAX = 5 };

/* Those with less state, the least loss first; returns how many. */
size_t tts_optimizer_lighter(struct tts_optimizer_config from,
                             struct tts_optimizer_config out[TTS_LIGHTER_MAX]);

/* ---- words ---- */

/* Fills options and cost from what is different in change->workload and device. */
void tts_fit_change_describe(const struct tts_workload *from, struct tts_fit_change *change);
