/* optimizer.h: what an optimizer holds for each parameter, and what a step takes. */
#pragma once

#include "runtime/model.h"

enum { TTS_OPTIMIZER_STATES = 4 };

struct tts_optimizer {
    struct tts_optimizer_config config;
    const struct tts_model *model;                    /* borrowed */
    struct tts_tensor (*state)[TTS_OPTIMIZER_STATES]; /* of each parameter; [0] master weights
                                                       * where there are any */
};

void tts_optimizer_build(struct tts_optimizer *optimizer, struct tts_autograd *ag,
                         const struct tts_model *model);
void tts_optimizer_release(struct tts_optimizer *optimizer, struct tts_autograd *ag);

void tts_optimizer_step(struct tts_optimizer *optimizer, struct tts_autograd *ag);
/* Gradients are dropped, or, with SGD, full precision and none, replaced by zeros. */
void tts_optimizer_zero_gradients(struct tts_optimizer *optimizer, struct tts_autograd *ag);

/* Scales all gradients in place, by their norm. */
void tts_gradients_clip(const struct tts_model *model, struct tts_autograd *ag);
/* Over the chips of data parallel: each gradient is summed and scaled, one after the other. */
void tts_gradients_synchronize(const struct tts_model *model, struct tts_autograd *ag);
