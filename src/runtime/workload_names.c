#include "runtime/workload.h"

#include <assert.h>

const char *tts_recipe_name(enum tts_recipe recipe)
{
    static const char *const names[TTS_RECIPES] = {"v1",       "v1-python", "head",
                                                   "head-c++", "may",       "may-c++"};
    assert((unsigned)recipe < TTS_RECIPES);
    return names[recipe];
}

bool tts_recipe_is_v1(enum tts_recipe recipe)
{
    return recipe == TTS_RECIPE_V1 || recipe == TTS_RECIPE_V1_PYTHON;
}

bool tts_recipe_is_may(enum tts_recipe recipe)
{
    return recipe == TTS_RECIPE_MAY || recipe == TTS_RECIPE_MAY_CPP;
}

bool tts_recipe_is_cpp(enum tts_recipe recipe)
{
    return recipe == TTS_RECIPE_V1 || recipe == TTS_RECIPE_HEAD_CPP ||
           recipe == TTS_RECIPE_MAY_CPP;
}

const char *tts_runner_name(enum tts_runner runner)
{
    static const char *const names[] = {"default", "memory_efficient"};
    assert((unsigned)runner <= TTS_RUNNER_MEMORY_EFFICIENT);
    return names[runner];
}

const char *tts_optimizer_name(enum tts_optimizer_kind kind)
{
    static const char *const names[TTS_OPTIMIZERS] = {
        "AdamW", "MorehAdamW", "AdamWComposite", "AdamWFullPrecision", "SGD", "NoOp"};
    assert((unsigned)kind < TTS_OPTIMIZERS);
    return names[kind];
}

const char *tts_part_name(enum tts_tensor_part part)
{
    static const char *const names[TTS_PARTS] = {"parameters",  "optimizer_state", "gradients",
                                                 "activations", "temporaries",     "inputs",
                                                 "constants",   "kernel_binaries"};
    assert((unsigned)part < TTS_PARTS);
    return names[part];
}
