/* job.h: one run of a command: its operands, its outputs and its exit code.
 *
 * tts_job_main() does everything that is the same in all commands. It reads the options into a
 * copy of the defaults, checks the number of operands and calls command->work(). Then it
 * commits the outputs that were opened, all of them or none: work() that returns
 * TTS_EXIT_USAGE, TTS_EXIT_INPUT or TTS_EXIT_DEVICE has no answer, and nothing of it is
 * written. One thread. */
#pragma once

#include "base/compiler.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/options.h"

enum { TTS_JOB_OUTPUTS_MAX = 8 };

struct tts_job {
    const char *command;
    char **argv;     /* as given, for a program that takes over */
    char **operands; /* the texts are borrowed from argv */
    int operand_count;
    struct tts_options options; /* which of them were given */
    struct tts_outfile outputs[TTS_JOB_OUTPUTS_MAX];
    size_t output_count;
};

/* Runs a command that has work(). Returns its exit code. */
int tts_job_main(const struct tts_command *command, char **argv);

/* Opens an output, "-" for standard output. The job owns the stream, and commits it at its end.
 * Returns NULL after the problem was printed: return TTS_EXIT_INPUT then. */
FILE *tts_job_open(struct tts_job *job, const char *path);

/* Closes an output of tts_job_open() without writing it. `stream` may be NULL. */
void tts_job_drop(struct tts_job *job, FILE *stream);

/* Commits the outputs now, for a command whose answer is good although it returns `code`.
 * Returns `code`, or TTS_EXIT_INPUT after an output could not be written. */
int tts_job_commit(struct tts_job *job, int code);

/* Prints the error of an input (`path`), or of anything else (`path` NULL). Returns
 * TTS_EXIT_INPUT. */
int tts_job_fail(const struct tts_job *job, const char *path, const struct tts_error *err);

/* Prints what is wrong with the command line, and where to read on. Returns TTS_EXIT_USAGE. */
int tts_job_usage(const struct tts_job *job, const char *format, ...) TTS_PRINTF(2, 3);
