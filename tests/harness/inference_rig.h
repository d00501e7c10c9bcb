/* inference_rig.h: models for tests of inference plans. */
#pragma once

#include "harness/t.h"
#include "plan/inference.h"

static inline struct tts_inference_config llama_8b(void)
{
    return (struct tts_inference_config){
        .model = {.layers = 32,
                  .hidden = 4096,
                  .heads = 32,
                  .kv_heads = 8,
                  .head_dim = 128,
                  .mlp_width = 14336,
                  .vocabulary = 128256,
                  .positions = 131072},
        .batch = 1,
        .length = 8192,
        .block = 32,
        .tensor_parallel = 1,
    };
}

static inline struct tts_inference_config tiny_llama(void)
{
    struct tts_inference_config config = llama_8b();
    config.model = (struct tts_inference_model){.layers = 22,
                                                .hidden = 2048,
                                                .heads = 32,
                                                .kv_heads = 4,
                                                .head_dim = 64,
                                                .mlp_width = 5632,
                                                .vocabulary = 32000,
                                                .positions = 2048};
    config.length = 2048;
    return config;
}

/* Returns a model with one layer whose sizes are not multiples of a tile. */
static inline struct tts_inference_config odd_sizes(void)
{
    struct tts_inference_config config = llama_8b();
    config.model = (struct tts_inference_model){.layers = 1,
                                                .hidden = 100,
                                                .heads = 3,
                                                .kv_heads = 3,
                                                .head_dim = 40,
                                                .mlp_width = 33,
                                                .vocabulary = 65};
    config.length = 33;
    return config;
}

static inline struct tts_inference plan_on(const struct tts_inference_config *config,
                                           const char *name)
{
    struct tts_chip chip;
    struct tts_inference plan;
    struct tts_error err = {0};
    T_EQ(tts_chip_preset(name, &chip, &err), TTS_OK);
    T_EQ(tts_inference_plan(config, &chip, NULL, &plan, &err), TTS_OK);
    return plan;
}
