/* fit_stop.c: runs that the training program itself refuses. The setup is changed to the run
 * that the user probably means, and the answer says so. The rules are those of the programs
 * that docs/design/fit-json.md names. */
#include "base/compiler.h"
#include "cli/fit_parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* Adds a reason and returns it. A `line` of 0 is an option, not a place in a file. */
static struct tts_fit_stop *add_stop(struct tts_fit_setup *setup, uint8_t file, uint32_t line)
{
    assert(setup->stop_count < TTS_FIT_STOPS_MAX);
    struct tts_fit_stop *stop = &setup->stops[setup->stop_count++];
    *stop = (struct tts_fit_stop){.file = file, .line = line};
    return stop;
}

static void put_stop_text(char out[TTS_FIT_STOP_TEXT_MAX], const char *format, ...)
    TTS_PRINTF(2, 3);

static void put_stop_text(char out[TTS_FIT_STOP_TEXT_MAX], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, TTS_FIT_STOP_TEXT_MAX, format, args);
    va_end(args);
}

/* ---- the vocabulary ---- */

/* train.py reads a data_path in .yaml or .yml as tokens and everything else as text; nano_gpt
 * (C++) reads one in .txt as text and everything else as tokens. Without a data_path both read
 * the Shakespeare text. */
static bool is_token_data(const struct tts_fit_setup *setup, const char *data_path)
{
    if (tts_recipe_is_cpp(setup->options->recipe))
        return data_path[0] != '\0' && !tts_fit_ends_in(data_path, ".txt");
    return tts_fit_ends_in(data_path, ".yaml") || tts_fit_ends_in(data_path, ".yml");
}

/* Tokens need a vocab_size. With text, vocab_size must be 0; train.py also accepts the number
 * of characters. */
static void stop_at_vocabulary(struct tts_fit_setup *setup)
{
    const struct tts_trainfile_value *size = &setup->file.values[TTS_TRAINFILE_VOCAB_SIZE];
    const struct tts_trainfile_value *data = &setup->file.values[TTS_TRAINFILE_DATA_PATH];
    const char *path = data->is_set ? data->text : "";
    uint64_t number = size->is_set ? size->number : 0;
    struct tts_fit_stop *why;
    bool is_cpp = tts_recipe_is_cpp(setup->options->recipe);
    if (tts_fit_is_v1(setup) || setup->options->is_given[TTS_FIT_VOCABULARY])
        return;
    if (is_token_data(setup, path)) {
        if (number > 0)
            return;
        why = add_stop(setup, data->file, data->line);
        put_stop_text(why->reason,
                      "data_path is tokens, but 'vocab_size' is %s: the program needs it",
                      size->is_set ? "0" : "missing");
        put_stop_text(why->figures,
                      "text, with a vocabulary of %d characters; for tokens give '--vocab N'",
                      TTS_FIT_CHARACTERS);
        return;
    }
    if (number == 0 || (number == TTS_FIT_CHARACTERS && !is_cpp))
        return;
    why = add_stop(setup, size->file, size->line);
    bool is_text = tts_fit_ends_in(path, ".txt");
    put_stop_text(
        why->reason,
        "'vocab_size' is %" PRIu64 ", but %s. The program takes the characters of a text as "
        "its vocabulary (%d for Shakespeare) and accepts only 0%s",
        number,
        is_text           ? "data_path is text"
        : path[0] != '\0' ? "data_path is not .yaml and is read as text"
                          : "without data_path the program reads the Shakespeare text",
        TTS_FIT_CHARACTERS, is_cpp ? "" : " or that number");
    if (is_text)
        put_stop_text(why->figures, "'vocab_size' 0, a vocabulary of %d characters",
                      TTS_FIT_CHARACTERS);
    else
        put_stop_text(why->figures,
                      "a data_path of tokens (.yaml), with a vocabulary of %" PRIu64, number);
}

/* ---- parallel runs ---- */

/* The C++ programs have a GPT2 of several chips. */
static void stop_at_gpt2(struct tts_fit_setup *setup)
{
    const struct tts_fit_value *chips = &setup->values[TTS_FIT_TENSOR_PARALLEL];
    if (tts_recipe_is_cpp(setup->options->recipe) || tts_fit_is_llama(setup) ||
        chips->number <= 1)
        return;
    struct tts_fit_stop *why = add_stop(setup, chips->file, chips->line);
    put_stop_text(why->reason, "gpt2 has no tensor parallel in the program, llama has");
    put_stop_text(why->figures, "gpt2 without tensor parallel");
    tts_fit_put_rule(setup, TTS_FIT_TENSOR_PARALLEL, 1, "gpt2 has no tensor parallel");
}

static void stop_at_clip(struct tts_fit_setup *setup)
{
    const struct tts_fit_value *clip = &setup->values[TTS_FIT_CLIP];
    if (clip->number == 0 || setup->values[TTS_FIT_TENSOR_PARALLEL].number <= 1)
        return;
    struct tts_fit_stop *why = add_stop(setup, clip->file, clip->line);
    put_stop_text(why->reason, "the program does not clip gradients with tensor parallel");
    put_stop_text(why->figures, "the run without clipping");
    tts_fit_put_rule(setup, TTS_FIT_CLIP, 0, "not with tensor parallel");
}

/* ---- the optimizer ---- */

/* The Python program of January did not pass the key on. */
static const struct tts_trainfile_value *kahan_of(const struct tts_fit_setup *setup)
{
    return &setup->file.values[tts_fit_is_v1(setup) ? TTS_TRAINFILE_KAHAN
                                                    : TTS_TRAINFILE_OPTIMIZER_KAHAN];
}

bool tts_fit_stops_at_kahan(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile_value *kahan = kahan_of(setup);
    return setup->options->recipe != TTS_RECIPE_V1_PYTHON && kahan->is_set &&
           kahan->number != 0 &&
           setup->values[TTS_FIT_OPTIMIZER].number == TTS_OPTIMIZER_MOREH_ADAMW;
}

static void stop_at_kahan(struct tts_fit_setup *setup)
{
    const struct tts_trainfile_value *kahan = kahan_of(setup);
    if (!tts_fit_stops_at_kahan(setup))
        return;
    struct tts_fit_stop *why = add_stop(setup, kahan->file, kahan->line);
    put_stop_text(why->reason, "MorehAdamW has no Kahan summation, AdamWComposite has");
    put_stop_text(why->figures, "MorehAdamW without it");
}

void tts_fit_stops(struct tts_fit_setup *setup)
{
    if (setup->file.paths[TTS_TRAINFILE_TRAINING][0] != '\0')
        stop_at_vocabulary(setup);
    stop_at_gpt2(setup);
    stop_at_clip(setup);
    stop_at_kahan(setup);
}
