/* run.h: the memory figures that a training program printed, phase by phase: one block of the
 * published summary, and the facts about the program that the log prints around it. Plain
 * values, made by a reader. A figure that the log does not print or that cannot be read is
 * unknown, never 0. */
#pragma once

#include "ttscope/usage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A size that may be unknown. */
struct tts_amount {
    bool is_known;
    int64_t bytes; /* the size; 0 if unknown */
};

static inline struct tts_amount tts_amount_of(int64_t bytes)
{
    return (struct tts_amount){true, bytes};
}

/* Returns a + b. The sum is unknown if `a` or `b` is unknown or the sum does not fit in 64
 * bits. */
static inline struct tts_amount tts_amount_add(struct tts_amount a, struct tts_amount b)
{
    int64_t sum;
    if (!a.is_known || !b.is_known || __builtin_add_overflow(a.bytes, b.bytes, &sum))
        return (struct tts_amount){0};
    return tts_amount_of(sum);
}

static inline struct tts_amount tts_amount_subtract(struct tts_amount a, struct tts_amount b)
{
    int64_t rest;
    if (!a.is_known || !b.is_known || __builtin_sub_overflow(a.bytes, b.bytes, &rest))
        return (struct tts_amount){0};
    return tts_amount_of(rest);
}

/* A log prints MB with two decimals, so a step is 0.01 MB. A figure is exact to half a step,
 * the difference of two figures to a whole step. */
enum { TTS_RUN_STEP_BYTES = 10486, TTS_RUN_HALF_STEP_BYTES = 5243 };

/* The figures of a phase, X(NAME, key), in the order of their lines in a log. Results in JSON
 * name them "key_bytes". No log prints the last figure, which is the highest use of any core at
 * one instant. */
#define TTS_RUN_FIGURE_MAP(X)                                                                  \
    X(SEGMENT_PEAK, "segment_peak")                                                            \
    X(ALLOCATIONS, "allocations")                                                              \
    X(DEALLOCATIONS, "deallocations")                                                          \
    X(CHANGE, "change")                                                                        \
    X(CUMULATIVE_PEAK, "cumulative_peak")                                                      \
    X(CUMULATIVE_CURRENT, "cumulative_current")                                                \
    X(L1_CB, "peak_cb")                                                                        \
    X(L1_BUFFER, "peak_buffer")                                                                \
    X(L1_TOTAL, "peak_total")                                                                  \
    X(L1_CORE, "true_core_peak")

#define TTS_RUN_FIGURE_ENUM(name, key) TTS_RUN_##name,
enum tts_run_figure { TTS_RUN_FIGURE_MAP(TTS_RUN_FIGURE_ENUM) TTS_RUN_FIGURES };
#undef TTS_RUN_FIGURE_ENUM

enum {
    /* Sizes of texts with the terminator, and the maximum number of notes. A longer text is cut
     * and ends in "...". */
    TTS_RUN_NAME_MAX = 64,
    TTS_RUN_TITLE_MAX = 256,
    TTS_RUN_NOTES_MAX = 8,
    TTS_RUN_NOTE_BYTES = 128,
    TTS_RUN_WORD_MAX = 32,
};

struct tts_run_phase {
    uint64_t line; /* line of "--- NAME ---" */
    struct tts_amount figures[TTS_RUN_FIGURES];
    char name[TTS_RUN_NAME_MAX]; /* name of the phase as the log prints it */
};

/* Sets the six figures of DRAM from the usage of a phase. The figures of L1 stay as they are.
 */
void tts_run_figures_dram(struct tts_amount figures[TTS_RUN_FIGURES],
                          const struct tts_pool_usage *dram);

/* A remark about missing or impossible text in a log. */
struct tts_run_note {
    uint64_t line;
    char text[TTS_RUN_NOTE_BYTES]; /* text of the note, in lower case without a full stop */
};

/* A part of the memory of a training run. */
enum tts_run_part {
    TTS_RUN_PART_OTHER,
    TTS_RUN_PART_MODEL,
    TTS_RUN_PART_GRADIENTS,
    TTS_RUN_PART_OPTIMIZER,
    TTS_RUN_PART_ACTIVATIONS,
    TTS_RUN_PARTS
};

/* Facts about the whole run that its phases do not show. `ttscope fit` prints them, because its
 * phases cover only the first iteration and a later iteration can need more memory. */
struct tts_run_whole {
    /* Peak over all iterations; unknown if the run states no such facts. */
    struct tts_amount peak;
    char phase[TTS_RUN_NAME_MAX];  /* phase of `peak`: "BACKWARD_PASS", "ITERATION_2" */
    bool has_fits, fits;           /* whether the run fits a device of `device_memory` bytes */
    char device[TTS_RUN_WORD_MAX]; /* name of the device; "" if not given */
    bool never_runs;               /* the training program refuses the run on any device */
    /* The parts of `peak`. A log rounds each part, so the sum of the parts is not exact. */
    bool has_parts;
    int64_t parts[TTS_RUN_PARTS];
};

/* Adds a part that `ttscope fit` prints under `name`: "optimizer_state", "temporaries". A part
 * that is not in enum tts_run_part counts as TTS_RUN_PART_OTHER. Returns false, with *whole
 * unchanged, if the size is not valid or the sum does not fit in 64 bits. */
static inline bool tts_run_whole_add(struct tts_run_whole *whole, const char *name,
                                     int64_t bytes)
{
    enum tts_run_part part = strcmp(name, "parameters") == 0        ? TTS_RUN_PART_MODEL
                             : strcmp(name, "optimizer_state") == 0 ? TTS_RUN_PART_OPTIMIZER
                             : strcmp(name, "gradients") == 0       ? TTS_RUN_PART_GRADIENTS
                             : strcmp(name, "activations") == 0     ? TTS_RUN_PART_ACTIVATIONS
                                                                    : TTS_RUN_PART_OTHER;
    int64_t sum;
    if (bytes < 0 || __builtin_add_overflow(whole->parts[part], bytes, &sum))
        return false;
    whole->parts[part] = sum;
    whole->has_parts = true;
    return true;
}

struct tts_run {
    uint64_t line, end_line; /* line of the heading, and last line of the block */
    /* Line before the block that names the block; "" if there is none. */
    char title[TTS_RUN_TITLE_MAX];
    /* Prefix that the lines of the block have in common, such as the rank of the process.
     * Times, process numbers and words of loggers are removed. "" if there is none. */
    char rank[TTS_RUN_TITLE_MAX];
    char name[TTS_RUN_NAME_MAX]; /* name of the log or file, without folders; "" if unknown */
    const struct tts_run_phase *phases; /* array of phase_count phases, borrowed */
    size_t phase_count;
    struct tts_amount overall_peak, final; /* as the log prints them after "Final Totals" */
    struct tts_run_whole whole;
    bool is_at_least; /* events or phases are missing: the real peaks may be higher */
    /* The program stored the phases of each micro-step over the phases of the step before, so a
     * phase has the figures of the last micro-step. At least `missing` more bytes were in
     * memory, if `missing` is known. */
    bool is_overwritten;
    struct tts_amount missing;
    bool is_cut;   /* the end of the block is missing */
    bool is_exact; /* figures are exact bytes; otherwise they are rounded to 0.01 MB */
    /* Facts that the log printed before the block, and their lines. */
    bool has_parameters;
    uint64_t parameters, parameters_line;
    /* As the log prints it: memory of all devices of the host together. */
    struct tts_amount device_memory;
    uint64_t device_memory_line;
    bool device_memory_is_one;        /* device_memory is the memory of one device */
    uint32_t mesh_devices;            /* number of devices in the mesh; 0 if not given */
    char chip[TTS_RUN_WORD_MAX];      /* for example "wormhole_b0"; "" if not given */
    char optimizer[TTS_RUN_WORD_MAX]; /* for example "AdamW", "SGD"; "" if not given */
    bool has_kahan, is_kahan;         /* value of "Use Kahan summation" */
    /* The first notes about the block, and the number of all notes. */
    size_t note_count;
    uint64_t notes_in_all;
    struct tts_run_note notes[TTS_RUN_NOTES_MAX];
};

/* Returns whether the run tracked L1. A run that did not track L1 prints 0 for all L1
 * figures. */
static inline bool tts_run_tracks_l1(const struct tts_run *run)
{
    for (size_t i = 0; i < run->phase_count; i++)
        for (int f = TTS_RUN_L1_CB; f <= TTS_RUN_L1_CORE; f++)
            if (run->phases[i].figures[f].bytes != 0)
                return true;
    return false;
}
