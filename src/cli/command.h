/* command.h: the words after `ttscope`. A command takes its own argv (argv[0] is its name) and
 * returns an exit code; what it prints to stdout is checked for errors after it returns. */
#pragma once

#include <stddef.h>

/* The exit codes of every command; after a signal it is 128 + its number. */
enum tts_exit {
    TTS_EXIT_DONE = 0,
    TTS_EXIT_BAD_NEWS = 1, /* done, and the answer is no: a difference, no fit, a leak */
    TTS_EXIT_USAGE = 2,
    TTS_EXIT_INPUT = 3,   /* input, or input and output */
    TTS_EXIT_DEVICE = 4,  /* no device, or no permission */
    TTS_EXIT_PARTIAL = 5, /* answered from partial data */
};

struct tts_command {
    const char *name;
    const char *operands; /* as the list of commands shows them; "" when there are none */
    const char *summary;
    int (*run)(int argc, char **argv); /* NULL: a program of its own, see external.h */
};

/* The commands in the order of the list; the last has no name. */
extern const struct tts_command tts_commands[];

/* NULL when there is none of that name. */
const struct tts_command *tts_command_find(const char *name);
