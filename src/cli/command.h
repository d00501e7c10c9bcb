/* command.h: the words after `ttscope`. A command is a row: its name, its operands, its options
 * and the function that does the work. What it prints to stdout is checked for errors after it
 * returns. CONTRIBUTING.md shows how to add one. */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct tts_job;
struct tts_option;

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
    /* Does the work of a command (job.h). It takes the options of the table, stored in a struct
     * of `values_bytes` bytes that starts as `defaults` (NULL: zeroes). */
    int (*work)(struct tts_job *job, void *values);
    const struct tts_option *options;
    const void *defaults;
    size_t values_bytes;
    int operands_min, operands_max;
};

/* The commands in the order of the list; the last is NULL. One that has no work()
 * is a program of its own, see external.h. */
extern const struct tts_command *const tts_commands[];

/* NULL when there is none of that name. */
const struct tts_command *tts_command_find(const char *name);

/* Prints how a command is used, with its options: a short form of its manual page. */
void tts_command_usage(const struct tts_command *command, FILE *out);
