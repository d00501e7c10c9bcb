/* optimizer.h: the state that an optimizer holds for each parameter, and the memory of a
 * step. */
#pragma once

#include "runtime/model.h"

enum { TTS_OPTIMIZER_STATES = 4 };

struct tts_optimizer {
    struct tts_optimizer_config config;
    const struct tts_model *model;                    /* borrowed */
    struct tts_tensor (*state)[TTS_OPTIMIZER_STATES]; /* state of each parameter; [0] is the
                                                         master weights, if there are any */
};

void tts_optimizer_build(struct tts_optimizer *optimizer, struct tts_autograd *ag,
                         const struct tts_model *model);
void tts_optimizer_release(struct tts_optimizer *optimizer, struct tts_autograd *ag);

void tts_optimizer_step(struct tts_optimizer *optimizer, struct tts_autograd *ag);
/* Drops the gradients. With SGD, full precision and NONE, replaces them by zeros instead. */
void tts_optimizer_zero_gradients(struct tts_optimizer *optimizer, struct tts_autograd *ag);

/* Scales all gradients in place by their norm. */
void tts_gradients_clip(const struct tts_model *model, struct tts_autograd *ag);
/* Sums and scales each gradient over the data-parallel chips, one after the other. */
void tts_gradients_synchronize(const struct tts_model *model, struct tts_autograd *ag);
