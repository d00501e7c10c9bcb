#include "cli/options.h"

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/page.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct tts_options tts_options_begin(const char *command, const struct tts_option *table,
                                     char **argv)
{
    return (struct tts_options){
        .operands = argv + 1, .command = command, .table = table, .next = argv + 1};
}

static int stop(struct tts_options *options, int exit_code)
{
    options->exit_code = exit_code;
    return TTS_OPTIONS_STOP;
}

static bool same_name(const char *name, const char *given, size_t given_len)
{
    for (size_t i = 0; i < given_len; i++) {
        char c = given[i] == '_' ? '-' : given[i];
        if (name[i] != c) /* also where `name` ends first */
            return false;
    }
    return name[given_len] == '\0';
}

static int unknown_long(struct tts_options *options, const char *name, size_t len)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word), name);
    for (char *c = word; *c; c++)
        *c = *c == '_' ? '-' : *c;
    struct tts_nearest nearest = {.word = word};
    for (const struct tts_option *option = options->table; option->name; option++)
        tts_nearest_offer(&nearest, option->name);
    tts_nearest_offer(&nearest, "help");
    const char *known = nearest.best;
    tts_message(options->command, "unknown option '--%.*s'%s%s%s (see 'ttscope help %s')",
                (int)len, name, known ? ", did you mean '--" : "", known ? known : "",
                known ? "'?" : "", options->command);
    return stop(options, TTS_EXIT_USAGE);
}

static int missing_value(struct tts_options *options, const char *dashes, const char *name,
                         size_t len)
{
    tts_message(options->command, "option '%s%.*s' needs a value (see 'ttscope help %s')",
                dashes, (int)len, name, options->command);
    return stop(options, TTS_EXIT_USAGE);
}

/* The built-in option stands behind the table. */
static const struct tts_option help_option = {"help", 'h', false};

static int found(struct tts_options *options, const struct tts_option *option)
{
    if (option != &help_option)
        return (int)(option - options->table);
    tts_help_page_print(options->command);
    return stop(options, TTS_EXIT_DONE);
}

/* `text` is the argument behind its "--". */
static int long_option(struct tts_options *options, const char *text)
{
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : strlen(text);
    const struct tts_option *option = options->table;
    while (option->name && !same_name(option->name, text, len))
        option++;
    if (!option->name) {
        if (!same_name(help_option.name, text, len))
            return unknown_long(options, text, len);
        option = &help_option;
    }
    if (option->takes_value) {
        options->value = equals ? equals + 1 : *options->next;
        if (!options->value)
            return missing_value(options, "--", text, len);
        options->next += equals ? 0 : 1;
    } else if (equals) {
        tts_message(options->command, "option '--%.*s' takes no value (see 'ttscope help %s')",
                    (int)len, text, options->command);
        return stop(options, TTS_EXIT_USAGE);
    }
    return found(options, option);
}

static int short_option(struct tts_options *options)
{
    const char *letter = options->letters++;
    const struct tts_option *option = options->table;
    while (option->name && option->letter != *letter)
        option++;
    if (!option->name) {
        if (*letter != help_option.letter) {
            tts_message(options->command, "unknown option '-%c' (see 'ttscope help %s')",
                        *letter, options->command);
            return stop(options, TTS_EXIT_USAGE);
        }
        option = &help_option;
    }
    if (option->takes_value) {
        options->value = *options->letters ? options->letters : *options->next;
        if (!options->value)
            return missing_value(options, "-", letter, 1);
        options->next += *options->letters ? 0 : 1;
        options->letters = NULL;
    }
    return found(options, option);
}

int tts_options_next(struct tts_options *options)
{
    options->value = NULL;
    while (!options->letters || !*options->letters) {
        char *argument = *options->next;
        if (!argument)
            return TTS_OPTIONS_END;
        options->next++;
        if (options->ended || argument[0] != '-' || argument[1] == '\0')
            options->operands[options->operand_count++] = argument;
        else if (strcmp(argument, "--") == 0)
            options->ended = true;
        else if (argument[1] == '-')
            return long_option(options, argument + 2);
        else
            options->letters = argument + 1;
    }
    return short_option(options);
}

int tts_options_bad_operands(const struct tts_options *options, const char *what)
{
    if (what)
        tts_message(options->command, "missing operand '%s' (see 'ttscope help %s')", what,
                    options->command);
    else
        tts_message(options->command, "one operand too many: '%s' (see 'ttscope help %s')",
                    options->operands[options->operand_count - 1], options->command);
    return TTS_EXIT_USAGE;
}
