/* command.h: the table of commands. A command is a row: its name, its operands, its options and
 * the function that does the work. main checks stdout for errors after the function returns.
 * CONTRIBUTING.md shows how to add a command. */
#pragma once

#include <stddef.h>

struct tts_job;
struct tts_option;

/* The exit codes of all commands. A program that a signal ends has 128 + the signal number. */
enum tts_exit {
    TTS_EXIT_DONE = 0,
    TTS_EXIT_BAD_NEWS = 1, /* done, and the answer is bad: a difference, no fit, a leak */
    TTS_EXIT_USAGE = 2,
    TTS_EXIT_INPUT = 3,   /* an input cannot be read, or an output cannot be written */
    TTS_EXIT_DEVICE = 4,  /* no device, or no permission to read it */
    TTS_EXIT_PARTIAL = 5, /* the answer is based on partial data */
};

struct tts_command {
    const char *name;
    const char *operands; /* as the list of commands shows them; "" for none */
    const char *summary;
    /* Does the work of the command and returns its exit code (job.h). `values` is a struct of
     * `values_bytes` bytes with the values of the options. The struct starts as a copy of
     * `defaults`, or as zeroes if that is NULL. */
    int (*work)(struct tts_job *job, void *values);
    const struct tts_option *options;
    const void *defaults;
    size_t values_bytes;
    int operands_min, operands_max;
};

/* The commands in the order of the list. The last is NULL. A command without work() is a
 * program of its own (external.h). */
extern const struct tts_command *const tts_commands[];

/* Returns NULL if no command has this name. */
const struct tts_command *tts_command_find(const char *name);
