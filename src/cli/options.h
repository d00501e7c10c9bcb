/* options.h: GNU style options from a table.
 *
 *     struct tts_options options = tts_options_begin("replay", table, argv);
 *     int option;
 *     while ((option = tts_options_next(&options)) >= 0) {
 *         if (option == OPTION_MAP)
 *             map_path = options.value;
 *     }
 *     if (option == TTS_OPTIONS_STOP)
 *         return options.exit_code;
 *
 * Operands may stand anywhere, "--" ends the options, "-" is an operand. In long names dashes
 * and underscores are the same. What is wrong has been said on stderr when STOP is returned;
 * -h and --help are built in and print the command's page. Every string is borrowed from
 * argv, whose order changes: the operands move to its front. One thread. */
#pragma once

#include <stdbool.h>

struct tts_option {
    const char *name; /* long name, with dashes; NULL ends the table */
    char letter;      /* short name, or 0 */
    bool takes_value; /* --name VALUE, --name=VALUE, -n VALUE, -nVALUE */
};

enum { TTS_OPTIONS_END = -1, TTS_OPTIONS_STOP = -2 };

struct tts_options {
    char **operands; /* complete at END */
    int operand_count;
    const char *value; /* of the option last returned; NULL when it takes none */
    int exit_code;     /* at STOP */
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

/* The index in the table of the next option, TTS_OPTIONS_END or TTS_OPTIONS_STOP. */
int tts_options_next(struct tts_options *options);

/* Says on stderr that the operands are not as many as the command wants: `what` is what is
 * missing ("FILE"), or NULL when there are too many. Returns TTS_EXIT_USAGE. */
int tts_options_bad_operands(const struct tts_options *options, const char *what);
