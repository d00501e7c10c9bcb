/* options.h: GNU style options from a table of typed rows.
 *
 * A row says what an option is called, what its value may be, where the value is stored and
 * what the option does, in one line. tts_options_read() stores all values; `-h`, and later
 * shell completions and schemas, come from the same rows.
 *
 * Operands may come anywhere, "--" ends the options, "-" is an operand. In long names dashes
 * and underscores are the same. -h and --help are built in: -h prints the rows, --help the
 * manual page. Every string is borrowed from argv, whose order changes: the operands move to
 * its front. One thread. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tts_command;

enum tts_option_type {
    TTS_OPTION_FLAG,   /* takes no value; the target is a bool and becomes true */
    TTS_OPTION_TEXT,   /* const char * */
    TTS_OPTION_NUMBER, /* uint64_t, `min` to `max` */
    TTS_OPTION_WORD,   /* int, the index of one of `words` */
    TTS_OPTION_OTHER,  /* whatever `take` stores */
    /* The value is one more operand, at its place among the other operands. Such an option may
     * be given again, and has no target. */
    TTS_OPTION_OPERAND,
};

struct tts_option {
    const char *name; /* long name, with dashes; NULL ends the table */
    char letter;      /* short name, or 0 */
    enum tts_option_type type;
    size_t at;                /* offset of the target in the options of the command */
    const char *value;        /* what -h calls the value: "FILE"; a WORD lists its words */
    const char *help;         /* one line, lower case, no full stop */
    uint64_t min, max;        /* NUMBER; max 0: no limit */
    const char *const *words; /* WORD; the last is NULL */
    const char *needs;    /* another option that must be given too, without dashes; or NULL */
    const char *excludes; /* an option that must not be given too; or NULL */
    bool is_once;         /* giving it twice is a mistake */
    bool is_off;          /* FLAG: the target becomes false instead */
    /* FLAG: the command that runs instead if the flag is given. It takes the same options, and
     * its work() gets the same values. */
    const struct tts_command *mode;
    /* OTHER: stores `text` at `target`. On failure err->text continues the sentence
     * "invalid value 'x' for '--name': ". */
    enum tts_status (*take)(void *target, const char *text, struct tts_error *err);
};

enum { TTS_OPTIONS_END = -1, TTS_OPTIONS_STOP = -2, TTS_OPTIONS_MAX = 64 };

struct tts_options {
    char **operands; /* complete at END */
    int operand_count;
    const char *value;               /* of the option last returned; NULL when it takes none */
    int exit_code;                   /* at STOP */
    uint64_t given;                  /* bit i: row i of the table was given */
    const struct tts_command *about; /* for -h; NULL: -h prints the page */
    /* How far it came: */
    const char *command;
    const struct tts_option *table;
    char **next;
    const char *letters; /* what is left of "-abc" */
    bool ended;          /* after "--" */
};

/* argv[0] is the command's name and is skipped; argv ends with NULL, as main's does. */
struct tts_options tts_options_begin(const char *command, const struct tts_option *table,
                                     char **argv);

/* Reads all options and stores their values in `target`, the options of the command, which
 * holds the defaults. Returns TTS_OPTIONS_END, or TTS_OPTIONS_STOP with an exit code: then the
 * problem or the help is printed, and `target` is half filled. */
int tts_options_read(struct tts_options *options, void *target);

/* Returns whether the option of that name, which is in the table, was given. */
bool tts_options_has(const struct tts_options *options, const char *name);

/* Prints the rows of a table, as -h does. */
void tts_options_list(const struct tts_option *table, FILE *out);
