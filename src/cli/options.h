/* options.h: GNU style options from a table of typed rows.
 *
 * A row has the name of an option, the allowed values, the place where the value is stored, and
 * one line of help. tts_options_read() stores all values. `-h` prints the same rows.
 *
 * Operands may come before, between and after options. "--" ends the options, and "-" is an
 * operand. In long names, dashes and underscores are the same. -h and --help are built in: -h
 * prints the rows, --help prints the manual page. All strings are borrowed from argv. Reading
 * changes the order of argv: the operands move to its front. One thread at a time. */
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
    TTS_OPTION_OTHER,  /* the function `take` stores the value */
    /* The value becomes an operand, in the order of the command line. The option has no target
     * and may be given several times. */
    TTS_OPTION_OPERAND,
};

struct tts_option {
    const char *name; /* long name, with dashes; NULL ends the table */
    char letter;      /* short name, or 0 */
    enum tts_option_type type;
    size_t at; /* offset of the target in the options of the command */
    const char
        *value; /* name of the value in -h, such as "FILE"; -h lists the words of a WORD */
    const char *help;         /* one line, lower case, no full stop */
    uint64_t min, max;        /* NUMBER; max 0: no limit */
    const char *const *words; /* WORD; the last is NULL */
    const char *needs;    /* another option that must be given too, without dashes; or NULL */
    const char *excludes; /* an option that must not be given too; or NULL */
    bool is_once;         /* the option may be given only once */
    bool is_off;          /* FLAG: the target becomes false instead */
    /* FLAG: the command that runs if the flag is given, in place of the command of the table.
     * It has the same options, and its work() gets the same values. */
    const struct tts_command *mode;
    /* OTHER: stores `text` at `target`. On failure err->text continues the sentence
     * "invalid value 'x' for '--name': ". */
    enum tts_status (*take)(void *target, const char *text, struct tts_error *err);
};

enum { TTS_OPTIONS_END = -1, TTS_OPTIONS_STOP = -2, TTS_OPTIONS_MAX = 64 };

struct tts_options {
    char **operands; /* complete after TTS_OPTIONS_END */
    int operand_count;
    const char *value; /* value of the last option; NULL if it takes none */
    int exit_code;     /* set with TTS_OPTIONS_STOP */
    uint64_t given;    /* bit i: row i of the table was given */
    const struct tts_command
        *about; /* the command that -h describes; NULL: -h prints the page */
    /* The state of reading. */
    const char *command;
    const struct tts_option *table;
    char **next;
    const char *letters; /* the rest of a group of letters such as "-abc" */
    bool ended;          /* "--" was read */
};

/* Starts reading. argv[0] is the name of the command and is skipped. argv ends with NULL. */
struct tts_options tts_options_begin(const char *command, const struct tts_option *table,
                                     char **argv);

/* Reads all options and stores their values in `target`, which holds the defaults. Returns
 * TTS_OPTIONS_END, or TTS_OPTIONS_STOP after printing a message or the help. Then
 * options->exit_code is set, and `target` may have only some of the values. */
int tts_options_read(struct tts_options *options, void *target);

/* Returns whether the option was given. The table must have an option of this name. */
bool tts_options_has(const struct tts_options *options, const char *name);

/* Prints the rows of a table, as -h does. */
void tts_options_list(const struct tts_option *table, FILE *out);
