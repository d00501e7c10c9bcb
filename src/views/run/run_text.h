/* run_text.h: runs as text: the sections, labels and number formats of the published script
 * analyze_memory.py. Lines that the script does not have follow its rows. The caller checks the
 * stream for errors. */
#pragma once

#include "analysis/run/worst_runs.h"
#include "ttscope/chip.h"

#include <stdio.h>

/* Options of the command that the text mentions. All zero: no options. Strings are borrowed. */
struct tts_run_text_options {
    uint32_t limit;             /* --fail-above, in hundredths of a percent; 0: none */
    bool has_optimizer_size;    /* --optimizer_size */
    const char *device;         /* --device and --set, as a shell takes them; NULL: none */
    const char *changed_preset; /* the device, if it is a preset with --set; NULL: none */
};

/* Facts that all runs have in common, for the lines at the top. All zero if there is no run
 * yet. */
struct tts_run_text_top {
    uint64_t runs;
    /* All runs have the same model, or device memory, from their logs. */
    bool has_model, has_device;
    uint64_t parameters;
    int64_t model_bytes, device_bytes;
    enum tts_train_dtype dtype;
};
void tts_run_text_top_add(struct tts_run_text_top *top, const struct tts_named_run *run);
void tts_run_text_top(const struct tts_run_text_top *top, FILE *out);

/* Writes the section of one run. */
void tts_run_text(const struct tts_named_run *run, const struct tts_run_text_options *options,
                  FILE *out);

/* Writes the table of all runs, if there are several, and the closing lines. */
void tts_run_text_end(const struct tts_worst_runs *worst, FILE *out);

/* Formats "1 does not fit, 50 fit, 2 unknown". Verdicts without a run are left out. Returns
 * `out`. */
enum { TTS_RUN_TALLY_MAX = 128 };
const char *tts_run_tally_words(char out[TTS_RUN_TALLY_MAX], const struct tts_run_tally *tally);

/* Returns the DRAM of a chip that can be allocated; 0: not known. */
uint64_t tts_chip_dram_bytes(const struct tts_chip *chip);
