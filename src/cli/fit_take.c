/* fit_take.c: one value of a workload, out of the options or the files. */
#include "cli/command.h"
#include "cli/fit_parts.h"
#include "cli/message.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_FIT_COMMAND;

const char *tts_fit_path(const struct tts_fit_setup *setup, unsigned file)
{
    const char *path = file < TTS_TRAINFILE_FILES ? setup->file.paths[file] : "";
    return tts_message_path(path[0] ? path : setup->options->path);
}

bool tts_fit_ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

const char *tts_fit_value_word(const struct tts_fit_setup *setup, enum tts_fit_setting setting)
{
    static const struct tts_fit_words *const words[TTS_FIT_SETTING_COUNT] = {
        [TTS_FIT_FAMILY] = &tts_fit_families,      [TTS_FIT_TIED] = &tts_fit_tying,
        [TTS_FIT_POSITIONS] = &tts_fit_positions,  [TTS_FIT_RUNNER] = &tts_fit_runners,
        [TTS_FIT_OPTIMIZER] = &tts_fit_optimizers,
    };
    uint64_t number = setup->values[setting].number;
    assert(words[setting] && number < words[setting]->count);
    return words[setting]->names[number];
}

bool tts_fit_is_v1(const struct tts_fit_setup *setup)
{
    return tts_recipe_is_v1(setup->options->recipe);
}

bool tts_fit_is_python(const struct tts_fit_setup *setup)
{
    return !tts_recipe_is_cpp(setup->options->recipe);
}

bool tts_fit_is_llama(const struct tts_fit_setup *setup)
{
    return setup->values[TTS_FIT_FAMILY].number == TTS_FAMILY_LLAMA;
}

bool tts_fit_take(struct tts_fit_setup *setup, enum tts_fit_setting setting,
                  enum tts_trainfile_key key)
{
    const struct tts_trainfile_value *in_file = &setup->file.values[key];
    struct tts_fit_value *value = &setup->values[setting];
    if (setup->options->is_given[setting])
        *value = (struct tts_fit_value){.number = setup->options->given[setting],
                                        .origin = TTS_FIT_OPTION};
    else if (in_file->is_set)
        *value = (struct tts_fit_value){.number = in_file->number,
                                        .origin = TTS_FIT_FILE,
                                        .file = in_file->file,
                                        .line = in_file->line};
    else
        return false;
    return true;
}

void tts_fit_take_or(struct tts_fit_setup *setup, enum tts_fit_setting setting,
                     enum tts_trainfile_key key, uint64_t number)
{
    if (!tts_fit_take(setup, setting, key))
        setup->values[setting] =
            (struct tts_fit_value){.number = number, .origin = TTS_FIT_DEFAULT};
}

void tts_fit_put_rule(struct tts_fit_setup *setup, enum tts_fit_setting setting,
                      uint64_t number, const char *why)
{
    setup->values[setting] =
        (struct tts_fit_value){.number = number, .origin = TTS_FIT_RULE, .why = why};
}

int tts_fit_take_word(struct tts_fit_setup *setup, enum tts_fit_setting setting,
                      enum tts_trainfile_key key, const struct tts_fit_words *words)
{
    const struct tts_trainfile_value *in_file = &setup->file.values[key];
    char error[TTS_FIT_WORD_ERROR_MAX];
    tts_fit_take_or(setup, setting, key, 0);
    struct tts_fit_value *value = &setup->values[setting];
    if (value->origin != TTS_FIT_FILE ||
        tts_fit_word_find_exact(words, in_file->text, &value->number))
        return TTS_EXIT_DONE;
    tts_message(command, "%s:%" PRIu32 ": %s", tts_fit_path(setup, value->file), value->line,
                tts_fit_word_error(words, in_file->text, error));
    return TTS_EXIT_INPUT;
}

int tts_fit_missing(const struct tts_fit_setup *setup, unsigned file,
                    enum tts_trainfile_key key, const char *why)
{
    tts_message(command, "%s: '%s' is missing, %s", tts_fit_path(setup, file),
                tts_trainfile_key_name(key), why);
    return TTS_EXIT_INPUT;
}
