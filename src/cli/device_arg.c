#include "cli/device_arg.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/same_file.h"
#include "sources/config/devfile.h"
#include "views/safe_text.h"

#include <stdio.h>
#include <string.h>

enum tts_status tts_device_arg_take_set(void *target, const char *text, struct tts_error *err)
{
    struct tts_device_arg *arg = target;
    if (arg->set_count == TTS_DEVICE_SETS_MAX)
        return tts_error_set(err, TTS_E_FULL,
                             "'--set' is given more than %d times: use a device file",
                             TTS_DEVICE_SETS_MAX);
    arg->sets[arg->set_count++] = text;
    return TTS_OK;
}

bool tts_device_arg_is_file(const struct tts_device_arg *arg)
{
    const char *name = arg->name;
    return strcmp(name, "-") == 0 || strchr(name, '/') || tts_path_ends_in(name, ".yaml") ||
           tts_path_ends_in(name, ".yml");
}

static int begin_chip(const struct tts_device_arg *arg, const char *command,
                      struct tts_chip *out)
{
    const char *name = arg->name;
    struct tts_error err = {0};
    if (tts_device_arg_is_file(arg)) {
        if (tts_devfile_load(name, out, &err) == TTS_OK)
            return TTS_EXIT_DONE;
        tts_message_error(command, name, &err);
        return TTS_EXIT_INPUT;
    }
    if (tts_chip_preset(name, out, &err) == TTS_OK)
        return TTS_EXIT_DONE;
    tts_message(command, "%s (see 'ttscope devices')", err.text);
    return TTS_EXIT_USAGE;
}

/* Changes one fact of the chip, given as "key=value". Returns an exit code. */
static int change_chip(const char *text, const char *command, struct tts_chip *chip)
{
    char key[64];
    struct tts_error err = {0};
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : 0;
    if (!equals || len == 0 || len >= sizeof key) {
        tts_message(command, "invalid value '%.80s' for '--set': expected KEY=VALUE", text);
        return TTS_EXIT_USAGE;
    }
    memcpy(key, text, len);
    key[len] = '\0';
    enum tts_status status = tts_chip_set(chip, key, equals + 1, &err);
    if (status == TTS_OK)
        return TTS_EXIT_DONE;
    tts_message(command, "--set: %s%s", err.text,
                status == TTS_E_NOT_FOUND ? " (see 'ttscope devices NAME')" : "");
    return TTS_EXIT_USAGE;
}

int tts_device_arg_resolve(const struct tts_device_arg *arg, const char *command,
                           struct tts_chip *out)
{
    struct tts_chip chip;
    struct tts_error err = {0};
    int code = begin_chip(arg, command, &chip);
    for (size_t i = 0; i < arg->set_count && code == TTS_EXIT_DONE; i++)
        code = change_chip(arg->sets[i], command, &chip);
    if (code != TTS_EXIT_DONE)
        return code;
    if (tts_chip_check(&chip, &err) != TTS_OK) {
        tts_message(command, "this device is not possible: %s", err.text);
        return TTS_EXIT_USAGE;
    }
    *out = chip;
    return TTS_EXIT_DONE;
}

int tts_device_arg_banks(const struct tts_device_arg *arg, const char *command,
                         uint64_t bank_bytes[TTS_POOLS], uint64_t banks[TTS_POOLS])
{
    struct tts_chip chip;
    struct tts_pool_layout layout;
    if (!arg->name)
        return TTS_EXIT_DONE;
    int code = tts_device_arg_resolve(arg, command, &chip);
    for (int i = 0; code == TTS_EXIT_DONE && i < TTS_POOLS; i++) {
        enum tts_pool pool = (enum tts_pool)i;
        if (tts_chip_pool(&chip, pool, &layout, NULL) == TTS_OK) {
            bank_bytes[i] = layout.bank_bytes;
            banks[i] = layout.banks;
        }
    }
    return code;
}

/* Appends `text`, in single quotes if a shell would change it. Returns the new length. */
static size_t add_shell_word(char out[TTS_DEVICE_ARG_WORDS_MAX], size_t len, const char *before,
                             const char *text)
{
    enum { WORD_COLUMNS = 160 };
    char safe[WORD_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    char word[2 * sizeof safe + 64];
    size_t to = 0, room = TTS_DEVICE_ARG_WORDS_MAX - len;
    tts_safe_text(safe, sizeof safe, text, WORD_COLUMNS);
    bool is_plain = safe[strspn(safe, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_-+=./,:@%")] == '\0' &&
                    safe[0] != '\0';
    for (const char *from = safe; *from && to + 8 < sizeof word; from++) {
        if (*from == '\'' && !is_plain)
            to += (size_t)snprintf(word + to, sizeof word - to, "'\\'");
        word[to++] = *from;
    }
    word[to] = '\0';
    const char *mark = is_plain ? "" : "'";
    int need = snprintf(out + len, room, "%s%s%s%s", before, mark, word, mark);
    if (need >= 0 && (size_t)need < room)
        return len + (size_t)need;
    snprintf(out + len, room, "%s", room > 4 ? " ..." : "");
    return TTS_DEVICE_ARG_WORDS_MAX;
}

const char *tts_device_arg_words(const struct tts_device_arg *arg,
                                 char out[TTS_DEVICE_ARG_WORDS_MAX])
{
    size_t len = add_shell_word(out, 0, "", arg->name);
    for (size_t i = 0; i < arg->set_count && len < TTS_DEVICE_ARG_WORDS_MAX; i++)
        len = add_shell_word(out, len, " --set ", arg->sets[i]);
    return out;
}
