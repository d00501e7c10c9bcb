/* fit_loop.c: the training loop of a workload: batch, runner, optimizer. */
#include "cli/command.h"
#include "cli/fit_parts.h"
#include "cli/message.h"

#include <inttypes.h>

static const char command[] = TTS_FIT_COMMAND;

static bool has_training_file(const struct tts_fit_setup *setup)
{
    return setup->file.paths[TTS_TRAINFILE_TRAINING][0] != '\0';
}

static bool is_file_set(const struct tts_fit_setup *setup, enum tts_trainfile_key key)
{
    return setup->file.values[key].is_set;
}

/* Of a file of January: without these keys it was the one of single operations. */
static void take_v1_optimizer(struct tts_fit_setup *setup)
{
    struct tts_fit_value *value = &setup->values[TTS_FIT_OPTIMIZER];
    if (!setup->options->is_given[TTS_FIT_OPTIMIZER] &&
        setup->file.values[TTS_TRAINFILE_NO_OP].number != 0) {
        tts_fit_take_or(setup, TTS_FIT_OPTIMIZER, TTS_TRAINFILE_NO_OP, 0);
        value->number = TTS_OPTIMIZER_NONE;
        value->why = "use_no_op";
        return;
    }
    tts_fit_take_or(setup, TTS_FIT_OPTIMIZER, TTS_TRAINFILE_MOREH_ADAMW, 0);
    if (value->origin == TTS_FIT_OPTION)
        return;
    value->number = value->number ? TTS_OPTIMIZER_MOREH_ADAMW : TTS_OPTIMIZER_ADAMW_COMPOSITE;
    if (value->origin == TTS_FIT_FILE)
        value->why = "use_moreh_adamw";
}

static bool has_amsgrad(const struct tts_fit_setup *setup, uint64_t kind)
{
    return !tts_fit_is_v1(setup) &&
           (kind == TTS_OPTIMIZER_ADAMW || kind == TTS_OPTIMIZER_ADAMW_COMPOSITE ||
            kind == TTS_OPTIMIZER_ADAMW_FULL_PRECISION);
}

/* AdamW was of single operations in January; Python could not ask for these sums then. */
static bool has_kahan(const struct tts_fit_setup *setup, uint64_t kind)
{
    return setup->options->recipe != TTS_RECIPE_V1_PYTHON &&
           (kind == TTS_OPTIMIZER_ADAMW_COMPOSITE ||
            (kind == TTS_OPTIMIZER_ADAMW && tts_fit_is_v1(setup)));
}

/* Of the optimizer, or left unused; that is told where the file asks for it. */
static void take_flag(struct tts_fit_setup *setup, enum tts_fit_setting setting,
                      enum tts_trainfile_key key, bool is_there)
{
    const struct tts_trainfile_value *value = &setup->file.values[key];
    if (is_there)
        tts_fit_take_or(setup, setting, key, 0);
    else if (value->is_set && value->number != 0)
        tts_message(command,
                    "note: %s:%" PRIu32 ": '%s' is passed over, %s of recipe %s has none",
                    tts_fit_path(setup, value->file), value->line, tts_trainfile_key_name(key),
                    tts_fit_value_word(setup, TTS_FIT_OPTIMIZER),
                    tts_fit_recipes.names[setup->options->recipe]);
}

static int take_optimizer_flags(struct tts_fit_setup *setup)
{
    uint64_t kind = setup->values[TTS_FIT_OPTIMIZER].number;
    bool is_sgd = kind == TTS_OPTIMIZER_SGD;
    if (setup->options->is_given[TTS_FIT_MOMENTUM] && !is_sgd) {
        tts_message(command, "option '--momentum' goes with SGD only, the optimizer is %s",
                    tts_fit_value_word(setup, TTS_FIT_OPTIMIZER));
        return TTS_EXIT_USAGE;
    }
    if (is_sgd)
        tts_fit_take_or(setup, TTS_FIT_MOMENTUM, TTS_TRAINFILE_MOMENTUM, 0);
    take_flag(setup, TTS_FIT_AMSGRAD, TTS_TRAINFILE_AMSGRAD, has_amsgrad(setup, kind));
    if (!tts_fit_stops_at_kahan(setup))
        take_flag(setup, TTS_FIT_KAHAN,
                  is_file_set(setup, TTS_TRAINFILE_OPTIMIZER_KAHAN)
                      ? TTS_TRAINFILE_OPTIMIZER_KAHAN
                      : TTS_TRAINFILE_KAHAN,
                  has_kahan(setup, kind));
    return TTS_EXIT_DONE;
}

static int take_optimizer(struct tts_fit_setup *setup)
{
    bool is_of_v1 = tts_fit_is_v1(setup) && (is_file_set(setup, TTS_TRAINFILE_MOREH_ADAMW) ||
                                             is_file_set(setup, TTS_TRAINFILE_NO_OP) ||
                                             !is_file_set(setup, TTS_TRAINFILE_OPTIMIZER_TYPE));
    int code = TTS_EXIT_DONE;
    if (is_of_v1)
        take_v1_optimizer(setup);
    else
        code = tts_fit_take_word(setup, TTS_FIT_OPTIMIZER, TTS_TRAINFILE_OPTIMIZER_TYPE,
                                 &tts_fit_optimizers);
    return code == TTS_EXIT_DONE ? take_optimizer_flags(setup) : code;
}

/* A model file alone has nothing to say of it. */
static int take_batch(struct tts_fit_setup *setup)
{
    bool has_training = has_training_file(setup);
    tts_fit_take_or(setup, TTS_FIT_BATCH, TTS_TRAINFILE_BATCH_SIZE, has_training ? 64 : 1);
    bool is_default = setup->values[TTS_FIT_BATCH].origin == TTS_FIT_DEFAULT;
    if (is_default && has_training && !tts_fit_is_python(setup))
        return tts_fit_missing(setup, TTS_TRAINFILE_TRAINING, TTS_TRAINFILE_BATCH_SIZE,
                               "put it there or give '--batch'");
    return TTS_EXIT_DONE;
}

int tts_fit_loop(struct tts_fit_setup *setup)
{
    int code = take_batch(setup);
    if (code != TTS_EXIT_DONE)
        return code;
    tts_fit_take_or(setup, TTS_FIT_ACCUMULATE, TTS_TRAINFILE_ACCUMULATION, 1);
    tts_fit_take_or(setup, TTS_FIT_CLIP, TTS_TRAINFILE_CLIP, 0);
    code = tts_fit_take_word(setup, TTS_FIT_RUNNER, TTS_TRAINFILE_RUNNER, &tts_fit_runners);
    return code == TTS_EXIT_DONE ? take_optimizer(setup) : code;
}
