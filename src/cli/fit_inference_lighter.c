/* fit_inference_lighter.c: remedies for a model that does not fit. */
#include "cli/fit_inference_parts.h"

#include <assert.h>
#include <inttypes.h>
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

/* Plans with `config` and adds the result to the answer. */
static enum tts_status offer(struct tts_inference_answer *answer,
                             const struct tts_inference_config *config, const char *options,
                             struct tts_error *err)
{
    struct tts_inference plan;
    assert(answer->lighter_count < TTS_INFERENCE_LIGHTER_MAX);
    enum tts_status status = tts_inference_plan(config, answer->chip, NULL, &plan, err);
    if (status != TTS_OK)
        return status;
    struct tts_inference_lighter *lighter = &answer->lighter[answer->lighter_count++];
    snprintf(lighter->options, sizeof lighter->options, "%s", options);
    lighter->total_bytes = plan.total_bytes;
    lighter->fits = plan.fits;
    return TTS_OK;
}

/* ---- a shorter chunk of prefill ---- */

/* Finds the longest power of two with which it fits; if none does, the shortest chunk stays if
 * it saves 1 % or more. Comes first: the result of the program stays the same. */
static enum tts_status find_prefill(struct tts_inference_answer *answer, struct tts_error *err)
{
    enum { SHORTEST = 128 };
    struct tts_inference_config config = answer->ask->config;
    uint64_t now = tts_inference_prefill(&config), chunk = SHORTEST;
    char options[TTS_INFERENCE_OPTIONS_MAX];
    enum tts_status status = TTS_OK;
    while (chunk <= now / 4)
        chunk *= 2;
    for (; chunk >= SHORTEST && chunk < now && status == TTS_OK; chunk /= 2) {
        config.prefill = chunk;
        answer->lighter_count = 0;
        snprintf(options, sizeof options, "--prefill %" PRIu64, chunk);
        status = offer(answer, &config, options, err);
        if (status == TTS_OK && answer->lighter[0].fits)
            return TTS_OK;
    }
    if (status == TTS_OK && answer->lighter_count > 0 &&
        answer->lighter[0].total_bytes > answer->plan.total_bytes / 100 * 99)
        answer->lighter_count = 0;
    return status;
}

/* ---- lighter dtypes ---- */

/* Moves the remedies that are enough before the others; the order is otherwise kept. */
static void put_enough_first(struct tts_inference_answer *answer)
{
    struct tts_inference_lighter sorted[TTS_INFERENCE_LIGHTER_MAX];
    size_t count = 0;
    for (int fits = 1; fits >= 0; fits--)
        for (size_t i = 0; i < answer->lighter_count; i++)
            if (answer->lighter[i].fits == fits)
                sorted[count++] = answer->lighter[i];
    memcpy(answer->lighter, sorted, count * sizeof sorted[0]);
}

enum tts_status tts_inference_lighter_find(struct tts_inference_answer *answer,
                                           struct tts_error *err)
{
    static const struct {
        enum tts_weight_dtype weights, cache;
    } steps[] = {{TTS_WEIGHT_BFP8, TTS_WEIGHT_BF16},
                 {TTS_WEIGHT_BFP8, TTS_WEIGHT_BFP8},
                 {TTS_WEIGHT_BFP4, TTS_WEIGHT_BFP8}};
    const char *last = "";
    assert(!answer->plan.fits);
    enum tts_status status = find_prefill(answer, err);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == TTS_OK; i++) {
        char options[TTS_INFERENCE_OPTIONS_MAX] = "";
        struct tts_inference_config config = answer->ask->config;
        lighten_weights(answer->ask, steps[i].weights, &config, options);
        if (lighten(&config.cache, steps[i].cache))
            add(options, "--cache", steps[i].cache);
        if (strcmp(options, last) == 0)
            continue;
        status = offer(answer, &config, options, err);
        last = answer->lighter[answer->lighter_count - 1].options;
    }
    put_enough_first(answer);
    return status;
}
