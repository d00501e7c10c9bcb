/* fit_inference_lighter.c: what lighter dtypes would do for a model that does not fit. */
#include "cli/fit_inference_parts.h"

#include <assert.h>
#include <string.h>

/* The names are in the order of their weight. */
static_assert(TTS_WEIGHT_BF16 < TTS_WEIGHT_BFP8 && TTS_WEIGHT_BFP8 < TTS_WEIGHT_BFP4,
              "a larger one is lighter");

static void add(char options[TTS_INFERENCE_OPTIONS_MAX], const char *name,
                enum tts_weight_dtype dtype)
{
    size_t len = strlen(options);
    snprintf(options + len, TTS_INFERENCE_OPTIONS_MAX - len, "%s%s %s", len > 0 ? " " : "",
             name, tts_weight_dtype_name(dtype));
}

static bool lighten(enum tts_weight_dtype *dtype, enum tts_weight_dtype to)
{
    bool is_lighter = to > *dtype;
    if (is_lighter)
        *dtype = to;
    return is_lighter;
}

/* An option of one part goes before '--weights', so that each needs its own then. */
static void lighten_weights(const struct tts_inference_ask *ask, enum tts_weight_dtype to,
                            struct tts_inference_config *config, char *options)
{
    const struct {
        const char *name;
        enum tts_weight_dtype *dtype;
        bool is_there;
    } parts[] = {
        {"--attention-weights", &config->attention, true},
        {"--mlp-weights", &config->mlp, true},
        {"--head-weights", &config->head, !config->model.tied || config->separate_head},
    };
    bool any = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!parts[i].is_there || !lighten(parts[i].dtype, to))
            continue;
        any = true;
        if (ask->has_part_weights)
            add(options, parts[i].name, to);
    }
    if (any && !ask->has_part_weights)
        add(options, "--weights", to);
}

enum tts_status tts_inference_lighter_find(struct tts_inference_answer *answer,
                                           struct tts_error *err)
{
    static const struct {
        enum tts_weight_dtype weights, cache;
    } steps[TTS_INFERENCE_LIGHTER_MAX] = {{TTS_WEIGHT_BFP8, TTS_WEIGHT_BF16},
                                          {TTS_WEIGHT_BFP8, TTS_WEIGHT_BFP8},
                                          {TTS_WEIGHT_BFP4, TTS_WEIGHT_BFP8}};
    size_t count = 0;
    assert(!answer->plan.fits);
    for (size_t i = 0; i < TTS_INFERENCE_LIGHTER_MAX; i++) {
        struct tts_inference_lighter lighter = {.options = ""};
        struct tts_inference_config config = answer->ask->config;
        struct tts_inference plan;
        lighten_weights(answer->ask, steps[i].weights, &config, lighter.options);
        if (lighten(&config.cache, steps[i].cache))
            add(lighter.options, "--cache", steps[i].cache);
        bool is_new =
            lighter.options[0] != '\0' &&
            (count == 0 || strcmp(answer->lighter[count - 1].options, lighter.options) != 0);
        if (!is_new)
            continue;
        enum tts_status status = tts_inference_plan(&config, answer->chip, NULL, &plan, err);
        if (status != TTS_OK)
            return status;
        lighter.total_bytes = plan.total_bytes;
        lighter.fits = plan.fits;
        answer->lighter[count++] = lighter;
    }
    answer->lighter_count = count;
    return TTS_OK;
}
