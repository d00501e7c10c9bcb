/* fit_job.h: the code that `ttscope fit` and `ttscope fit --inference` share: the values of
 * their options, which are in one table, and the messages about a configuration. */
#pragma once

#include "cli/device_arg.h"
#include "cli/job.h"
#include "plan/note.h"
#include "plan/settings.h"

/* The values of all options. Strings are borrowed from argv. An int of -1, a number of 0 and a
 * string of NULL mean that the option was not given. */
struct tts_fit_values {
    struct tts_device_arg device;
    bool json, is_inference;
    /* The rows store numbers in `given`, also for inference. The training command sets
     * `is_given` afterwards. */
    struct tts_overrides overrides;

    /* For training only. */
    bool clip;
    int max; /* enum tts_largest_kind */
    const char *record_path;

    /* For inference only. */
    uint64_t block, prefill;
    /* enum tts_weight_dtype */
    int weights, attention_weights, mlp_weights, head_weights, embedding_weights, cache;
    const char *trace_region; /* NULL: the trace region of the device */
    bool separate_head;
};

/* Prints the notes of a configuration and, unless `status` is TTS_OK, its error. Returns the
 * exit code: TTS_EXIT_USAGE if the command line is wrong or asks for a run that is not
 * modelled. */
int tts_fit_print_notes(const struct tts_job *job, const struct tts_notes *notes,
                        enum tts_status status);

/* The command that the flag `--inference` chooses (cmd_fit_inference.c). */
extern const struct tts_command tts_fit_inference_command;
