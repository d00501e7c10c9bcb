#include "cli/job.h"

#include "base/error.h"
#include "base/heap.h"
#include "cli/message.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

FILE *tts_job_open(struct tts_job *job, const char *path)
{
    struct tts_error err = {0};
    assert(job->output_count < TTS_JOB_OUTPUTS_MAX);
    struct tts_outfile *output = &job->outputs[job->output_count];
    if (tts_outfile_open(output, path, &err) != TTS_OK) {
        tts_message(job->command, "%s", err.text);
        return NULL;
    }
    job->output_count++;
    return output->stream;
}

void tts_job_drop(struct tts_job *job, FILE *stream)
{
    size_t at = 0;
    while (at < job->output_count && job->outputs[at].stream != stream)
        at++;
    if (at == job->output_count)
        return;
    tts_outfile_abandon(&job->outputs[at]);
    job->output_count--;
    memmove(&job->outputs[at], &job->outputs[at + 1],
            (job->output_count - at) * sizeof job->outputs[0]);
}

int tts_job_fail(const struct tts_job *job, const char *path, const struct tts_error *err)
{
    if (path)
        tts_message_error(job->command, path, err);
    else
        tts_message(job->command, "%s", err->text);
    return TTS_EXIT_INPUT;
}

int tts_job_usage(const struct tts_job *job, const char *format, ...)
{
    char text[sizeof(struct tts_error) + 4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tts_message(job->command, "%s (see 'ttscope help %s')", text, job->command);
    return TTS_EXIT_USAGE;
}

int tts_job_commit(struct tts_job *job, int code)
{
    bool is_written = true;
    for (size_t i = 0; i < job->output_count; i++) {
        struct tts_error err = {0};
        if (!is_written)
            tts_outfile_abandon(&job->outputs[i]);
        else if (tts_outfile_commit(&job->outputs[i], &err) != TTS_OK)
            is_written = false, code = tts_job_fail(job, NULL, &err);
    }
    job->output_count = 0;
    return code;
}

/* Commits the outputs if the exit code means that there is an answer. */
static int end_outputs(struct tts_job *job, int code)
{
    if (code == TTS_EXIT_DONE || code == TTS_EXIT_BAD_NEWS || code == TTS_EXIT_PARTIAL)
        return tts_job_commit(job, code);
    for (size_t i = 0; i < job->output_count; i++)
        tts_outfile_abandon(&job->outputs[i]);
    return code;
}

/* Copies the word of `operands` with that index, without brackets: "B" of "A B". */
static void copy_operand_name(const char *operands, int idx, char out[32])
{
    for (; idx > 0 && strchr(operands, ' '); idx--)
        operands = strchr(operands, ' ') + 1;
    operands += *operands == '[';
    snprintf(out, 32, "%.*s", (int)strcspn(operands, " ]."), operands);
}

static int check_operands(const struct tts_command *command, const struct tts_options *options)
{
    char name[32];
    if (options->operand_count > command->operands_max) {
        tts_message(command->name, "one operand too many: '%s' (see 'ttscope help %s')",
                    options->operands[options->operand_count - 1], command->name);
        return TTS_EXIT_USAGE;
    }
    if (options->operand_count >= command->operands_min)
        return TTS_EXIT_DONE;
    copy_operand_name(command->operands, options->operand_count, name);
    tts_message(command->name, "missing operand '%s' (see 'ttscope help %s')", name,
                command->name);
    return TTS_EXIT_USAGE;
}

/* Returns the command that the given options choose. */
static const struct tts_command *find_mode_command(const struct tts_command *command,
                                                   const struct tts_options *options)
{
    for (int i = 0; command->options[i].name; i++)
        if (command->options[i].mode && options->given >> i & 1)
            return command->options[i].mode;
    return command;
}

/* `scratch` is a copy of argv. Reading the options changes the copy. */
static int run_job(const struct tts_command *command, char **argv, char **scratch, void *values)
{
    struct tts_job job = {.command = command->name, .argv = argv};
    job.options = tts_options_begin(command->name, command->options, scratch);
    job.options.about = command;
    if (tts_options_read(&job.options, values) == TTS_OPTIONS_STOP)
        return job.options.exit_code;
    command = find_mode_command(command, &job.options);
    int code = check_operands(command, &job.options);
    if (code != TTS_EXIT_DONE)
        return code;
    job.operands = job.options.operands;
    job.operand_count = job.options.operand_count;
    return end_outputs(&job, command->work(&job, values));
}

int tts_job_main(const struct tts_command *command, char **argv)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t count = 1, align = sizeof(max_align_t);
    while (argv[count - 1])
        count++;
    /* One block: the values of the options, then a copy of argv. */
    size_t argv_at = (command->values_bytes + align - 1) / align * align;
    size_t bytes = argv_at + count * sizeof *argv;
    char *values = alloc->alloc(alloc->ctx, bytes);
    if (!values) {
        tts_message(command->name, TTS_TEXT_NOMEM);
        return TTS_EXIT_INPUT;
    }
    memset(values, 0, argv_at);
    if (command->defaults)
        memcpy(values, command->defaults, command->values_bytes);
    char **scratch = memcpy(values + argv_at, argv, count * sizeof *argv);
    int code = run_job(command, argv, scratch, values);
    alloc->free(alloc->ctx, values, bytes);
    return code;
}
