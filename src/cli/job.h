/* job.h: one run of a command: its operands, its outputs and its exit code.
 *
 * tts_job_main() has the steps that all commands share. It reads the options into a copy of the
 * defaults, checks the number of operands and calls command->work(). Then it commits all
 * outputs that work() opened. If work() returns TTS_EXIT_USAGE, TTS_EXIT_INPUT or
 * TTS_EXIT_DEVICE, there is no answer, and no output is written. One thread at a time. */
#pragma once

#include "base/compiler.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/options.h"

enum { TTS_JOB_OUTPUTS_MAX = 8 };

struct tts_job {
    const char *command;
    char **argv;     /* unchanged, for a program that replaces this one */
    char **operands; /* the texts are borrowed from argv */
    int operand_count;
    struct tts_options options; /* says which options were given */
    struct tts_outfile outputs[TTS_JOB_OUTPUTS_MAX];
    size_t output_count;
};

/* Runs a command that has work(). Returns its exit code. */
int tts_job_main(const struct tts_command *command, char **argv);

/* Opens an output. "-" is standard output. The job owns the stream and commits it at the end of
 * the job. Returns NULL after printing a message: the caller then returns TTS_EXIT_INPUT. */
FILE *tts_job_open(struct tts_job *job, const char *path);

/* Closes an output of tts_job_open() without writing it. `stream` may be NULL. */
void tts_job_drop(struct tts_job *job, FILE *stream);

/* Commits the outputs now, for a command that has an answer although `code` means no answer.
 * Returns `code`, or TTS_EXIT_INPUT if an output cannot be written. */
int tts_job_commit(struct tts_job *job, int code);

/* Prints an error. `path` is the input with the error, or NULL if the error is not about an
 * input. Returns TTS_EXIT_INPUT. */
int tts_job_fail(const struct tts_job *job, const char *path, const struct tts_error *err);

/* Prints an error in the command line and names the help page. Returns TTS_EXIT_USAGE. */
int tts_job_usage(const struct tts_job *job, const char *format, ...) TTS_PRINTF(2, 3);
