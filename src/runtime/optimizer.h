/* optimizer.h: the state that an optimizer keeps for each parameter, and the buffers that a
 * step allocates. */
#pragma once

#include "runtime/model.h"

enum { TTS_OPTIMIZER_STATES = 4 };

struct tts_optimizer {
    struct tts_optimizer_config config;
    const struct tts_model *model; /* borrowed */
    /* An array with one row for each parameter. state[i][0] is the master weights if the
     * optimizer has them; with Kahan summation it is the lost bits. */
    struct tts_tensor (*state)[TTS_OPTIMIZER_STATES];
};

void tts_optimizer_build(struct tts_optimizer *optimizer, struct tts_autograd *ag,
                         const struct tts_model *model);
void tts_optimizer_release(struct tts_optimizer *optimizer, struct tts_autograd *ag);

void tts_optimizer_step(struct tts_optimizer *optimizer, struct tts_autograd *ag);
/* Drops the gradients of all parameters. With SGD, AdamW in full precision and NONE, replaces
 * them by zeros instead. */
void tts_optimizer_zero_gradients(struct tts_optimizer *optimizer, struct tts_autograd *ag);

/* Scales all gradients in place by a factor that depends on their norm. */
void tts_gradients_clip(const struct tts_model *model, struct tts_autograd *ag);
/* Sums each gradient over the data-parallel chips and scales it, one gradient after another. */
void tts_gradients_synchronize(const struct tts_model *model, struct tts_autograd *ag);
