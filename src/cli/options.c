#include "cli/options.h"

#include "base/nearest.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/page.h"

#include <assert.h>
#include <inttypes.h>
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
        if (name[i] != c) /* also true if `name` is shorter */
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

/* The built-in option comes after the table. */
static const struct tts_option help_option = {.name = "help", .letter = 'h'};

/* Prints the usage line and the options of a command. */
static void print_usage_list(const struct tts_command *command, FILE *out)
{
    fprintf(out, "usage: ttscope %s [options]%s%s\n%s\n\noptions:\n", command->name,
            command->operands[0] ? " " : "", command->operands, command->summary);
    tts_options_list(command->options, out);
    fprintf(out, "  -h                        print this list\n"
                 "      --help                print the manual page\n");
}

static int print_help(struct tts_options *options, bool is_short)
{
    if (is_short && options->about)
        print_usage_list(options->about, stdout);
    else
        tts_help_page_print(options->command);
    return stop(options, TTS_EXIT_DONE);
}

static int found_option(struct tts_options *options, const struct tts_option *option,
                        bool is_short)
{
    if (option == &help_option)
        return print_help(options, is_short);
    int row = (int)(option - options->table);
    assert(row < TTS_OPTIONS_MAX);
    options->given |= UINT64_C(1) << row;
    return row;
}

/* `text` is the argument after its "--". */
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
    if (option->type != TTS_OPTION_FLAG) {
        options->value = equals ? equals + 1 : *options->next;
        if (!options->value)
            return missing_value(options, "--", text, len);
        options->next += equals ? 0 : 1;
    } else if (equals) {
        tts_message(options->command, "option '--%.*s' takes no value (see 'ttscope help %s')",
                    (int)len, text, options->command);
        return stop(options, TTS_EXIT_USAGE);
    }
    return found_option(options, option, false);
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
    if (option->type != TTS_OPTION_FLAG) {
        options->value = *options->letters ? options->letters : *options->next;
        if (!options->value)
            return missing_value(options, "-", letter, 1);
        options->next += *options->letters ? 0 : 1;
        options->letters = NULL;
    }
    return found_option(options, option, true);
}

/* Returns the index in the table of the next option, TTS_OPTIONS_END or TTS_OPTIONS_STOP. */
static int next_option(struct tts_options *options)
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

/* ---- typed rows ---- */

enum { WORDS_MAX = 300, EXPECTED_MAX = WORDS_MAX + 100 };

/* Joins the words as in "a, b or c". */
static void list_words(const char *const *words, char out[WORDS_MAX])
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; words[i] && len < WORDS_MAX; i++) {
        const char *before = i == 0 ? "" : words[i + 1] ? ", " : " or ";
        len += (size_t)snprintf(out + len, WORDS_MAX - len, "%s%s", before, words[i]);
    }
}

static bool store_number(const struct tts_option *option, const char *text, uint64_t *out)
{
    uint64_t value;
    if (tts_number_parse(text, strlen(text), &value) != TTS_OK || value < option->min ||
        (option->max > 0 && value > option->max))
        return false;
    *out = value;
    return true;
}

static bool store_word(const struct tts_option *option, const char *text, int *out)
{
    for (int i = 0; option->words[i]; i++) {
        if (strcmp(option->words[i], text) != 0)
            continue;
        *out = i;
        return true;
    }
    return false;
}

/* Describes the values that a row takes. */
static void describe_values(const struct tts_option *option, char out[EXPECTED_MAX])
{
    char words[WORDS_MAX];
    if (option->type == TTS_OPTION_WORD) {
        list_words(option->words, words);
        snprintf(out, EXPECTED_MAX, "expected %s", words);
    } else if (option->max > 0) {
        snprintf(out, EXPECTED_MAX, "expected a whole number from %" PRIu64 " to %" PRIu64,
                 option->min, option->max);
    } else {
        snprintf(out, EXPECTED_MAX, "expected a whole number, %" PRIu64 " or more",
                 option->min);
    }
}

static bool store_value(const struct tts_options *options, const struct tts_option *option,
                        void *target)
{
    const char *text = options->value;
    char *at = (char *)target + option->at;
    char why[EXPECTED_MAX];
    struct tts_error err = {0};
    bool is_stored = true;
    if (option->type == TTS_OPTION_FLAG)
        *(bool *)(void *)at = !option->is_off;
    else if (option->type == TTS_OPTION_TEXT)
        *(const char **)(void *)at = text;
    else if (option->type == TTS_OPTION_NUMBER)
        is_stored = store_number(option, text, (uint64_t *)(void *)at);
    else if (option->type == TTS_OPTION_WORD)
        is_stored = store_word(option, text, (int *)(void *)at);
    else
        is_stored = option->take(at, text, &err) == TTS_OK;
    if (is_stored)
        return true;
    if (option->type != TTS_OPTION_OTHER)
        describe_values(option, why);
    tts_message(options->command, "invalid value '%.200s' for '--%s': %s", text, option->name,
                option->type == TTS_OPTION_OTHER ? err.text : why);
    return false;
}

static int row_of_name(const struct tts_options *options, const char *name)
{
    int row = 0;
    while (strcmp(options->table[row].name, name) != 0)
        row++;
    return row;
}

bool tts_options_has(const struct tts_options *options, const char *name)
{
    return options->given >> row_of_name(options, name) & 1;
}

static void say_needs(const struct tts_options *options, const struct tts_option *option)
{
    const char *value = options->table[row_of_name(options, option->needs)].value;
    tts_message(options->command, "'--%s' needs '--%s%s%s' (see 'ttscope help %s')",
                option->name, option->needs, value ? " " : "", value ? value : "",
                options->command);
}

static bool check_together(const struct tts_options *options)
{
    for (int i = 0; options->table[i].name; i++) {
        const struct tts_option *option = &options->table[i];
        if (!(options->given >> i & 1))
            continue;
        if (option->needs && !tts_options_has(options, option->needs)) {
            say_needs(options, option);
            return false;
        }
        if (option->excludes && tts_options_has(options, option->excludes)) {
            tts_message(options->command,
                        "'--%s' and '--%s' cannot be combined (see 'ttscope help %s')",
                        option->name, option->excludes, options->command);
            return false;
        }
    }
    return true;
}

int tts_options_read(struct tts_options *options, void *target)
{
    int row;
    uint64_t before = 0;
    while ((row = next_option(options)) >= 0) {
        if (options->table[row].is_once && before >> row & 1) {
            tts_message(options->command, "'--%s' is given twice", options->table[row].name);
            return stop(options, TTS_EXIT_USAGE);
        }
        before = options->given;
        if (options->table[row].type == TTS_OPTION_OPERAND)
            options->operands[options->operand_count++] = (char *)options->value;
        else if (!store_value(options, &options->table[row], target))
            return stop(options, TTS_EXIT_USAGE);
    }
    if (row == TTS_OPTIONS_END && !check_together(options))
        return stop(options, TTS_EXIT_USAGE);
    return row;
}

void tts_options_list(const struct tts_option *table, FILE *out)
{
    enum { HELP_COLUMN = 28 };
    for (const struct tts_option *option = table; option->name; option++) {
        char letter[8] = "", words[WORDS_MAX] = "", usage[EXPECTED_MAX];
        if (option->letter)
            snprintf(letter, sizeof letter, "-%c, ", option->letter);
        for (size_t i = 0, len = 0; option->type == TTS_OPTION_WORD && option->words[i]; i++)
            len += (size_t)snprintf(words + len, sizeof words - len, "%s%s", i ? "|" : "",
                                    option->words[i]);
        const char *value = option->type == TTS_OPTION_WORD ? words : option->value;
        snprintf(usage, sizeof usage, "  %4s--%s%s%s", letter, option->name, value ? " " : "",
                 value ? value : "");
        if (strlen(usage) > HELP_COLUMN - 2)
            fprintf(out, "%s\n%*s%s\n", usage, HELP_COLUMN, "", option->help);
        else
            fprintf(out, "%-*s%s\n", HELP_COLUMN, usage, option->help);
    }
}
