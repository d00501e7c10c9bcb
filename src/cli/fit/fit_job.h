/* fit_job.h: what the commands `ttscope fit` and `ttscope fit --inference` share: the values of
 * their options, which one table describes, and the notes on a configuration. */
#pragma once

#include "cli/device_arg.h"
#include "cli/job.h"
#include "plan/note.h"
#include "plan/settings.h"

/* Strings are borrowed from argv. -1 and 0 mean that an option was not given. */
struct tts_fit_values {
    struct tts_device_arg device;
    bool json, is_inference;
    /* `given` has all numbers of the table that are settings, also for inference. is_given is
     * set by work(). */
    struct tts_overrides overrides;

    /* Only of training. */
    bool clip;
    int max; /* enum tts_largest_kind */
    const char *record_path;

    /* Only of inference. The dtypes are of enum tts_weight_dtype. */
    uint64_t block, prefill;
    int weights, attention_weights, mlp_weights, head_weights, embedding_weights, cache;
    const char *trace_region; /* NULL: as the device has it */
    bool separate_head;
};

/* Prints the notes of a configuration and, unless `status` is TTS_OK, its error. Returns the
 * exit code: TTS_EXIT_USAGE if the command line is wrong or asks for a run that is not
 * modelled. */
int tts_fit_print_notes(const struct tts_job *job, const struct tts_notes *notes,
                        enum tts_status status);

/* The mode of the flag `--inference` (cmd_fit_inference.c). */
extern const struct tts_command tts_fit_inference_command;
