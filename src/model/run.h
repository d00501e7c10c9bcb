/* run.h: what a training program printed of its memory, phase by phase: one block of the
 * published summary, with what the log says about the program around it. Plain values, made by
 * a reader. What was not printed, or could not be read, is not known; it is never 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A size that may not be known. */
struct tts_amount {
    bool is_known;
    int64_t bytes; /* 0 unless it is known */
};

static inline struct tts_amount tts_amount_of(int64_t bytes)
{
    return (struct tts_amount){true, bytes};
}

/* Not known if one of them is not, or the result is not of 64 bits. */
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

/* A log prints MB with two decimals: a figure is right to half a step, a difference of two to a
 * whole one. */
enum { TTS_RUN_STEP_BYTES = 10486, TTS_RUN_HALF_STEP_BYTES = 5243 };

/* X(NAME, key), in the order of their lines; results have them as "key_bytes". No log prints
 * the last, the most on any core at one instant. */
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
    /* Bytes, the terminator among them; what is longer is cut and ends in "...". */
    TTS_RUN_NAME_MAX = 64,
    TTS_RUN_TITLE_MAX = 256,
    TTS_RUN_NOTES_MAX = 8,
    TTS_RUN_NOTE_BYTES = 128,
    TTS_RUN_WORD_MAX = 32,
};

struct tts_run_phase {
    uint64_t line; /* of its "--- NAME ---" */
    struct tts_amount figures[TTS_RUN_FIGURES];
    char name[TTS_RUN_NAME_MAX]; /* as printed */
};

/* Something of a log that is missing, or cannot be. */
struct tts_run_note {
    uint64_t line;
    char text[TTS_RUN_NOTE_BYTES]; /* lower case, no full stop */
};

/* A part of the memory. */
enum tts_run_part {
    TTS_RUN_PART_OTHER,
    TTS_RUN_PART_MODEL,
    TTS_RUN_PART_GRADIENTS,
    TTS_RUN_PART_OPTIMIZER,
    TTS_RUN_PART_ACTIVATIONS,
    TTS_RUN_PARTS
};

/* A statement about the whole run, not only about its phases. `ttscope fit` makes it: its
 * phases cover the first iteration, and a later iteration can need more memory. */
struct tts_run_whole {
    struct tts_amount peak;        /* over all iterations; not known: there is no statement */
    char phase[TTS_RUN_NAME_MAX];  /* of that peak: "BACKWARD_PASS", "ITERATION_2" */
    bool has_fits, fits;           /* whether the run fits a device of `device_memory` bytes */
    char device[TTS_RUN_WORD_MAX]; /* the name of that device; "": not said */
    bool never_runs;               /* the training program refuses the run on any device */
    /* What was there at that peak. In a log each is rounded, so they add up only nearly. */
    bool has_parts;
    int64_t parts[TTS_RUN_PARTS];
};

/* Adds what `ttscope fit` says about one of its parts: "optimizer_state", "temporaries". Parts
 * without a counterpart here are other. Returns false, with *whole unchanged, if that is no
 * size or the sum is past 64 bits. */
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
    uint64_t line, end_line;       /* of the heading, and of the last line that belongs to it */
    char title[TTS_RUN_TITLE_MAX]; /* the line before that names it; "": none does */
    /* What stands before each line, without times, process numbers and words of loggers; "":
     * nothing. */
    char rank[TTS_RUN_TITLE_MAX];
    char name[TTS_RUN_NAME_MAX]; /* of the log or file it is from, no path; "": not known */
    const struct tts_run_phase *phases; /* borrowed */
    size_t phase_count;
    struct tts_amount overall_peak, final; /* as printed below "Final Totals" */
    struct tts_run_whole whole;
    bool is_at_least; /* events or phases are missing: peaks may have been higher */
    /* The program overwrote phases of earlier micro-steps: each phase of a name has the figures
     * of the last. At least `missing` was in memory besides, where that is known. */
    bool is_overwritten;
    struct tts_amount missing;
    bool is_cut;   /* that line is missing */
    bool is_exact; /* its figures are bytes; else as printed, right to 0.005 MB */
    /* What the log said before the block, and where. */
    bool has_parameters;
    uint64_t parameters, parameters_line;
    struct tts_amount device_memory; /* as printed: of all devices of the host */
    uint64_t device_memory_line;
    bool device_memory_is_one;        /* of one device instead */
    uint32_t mesh_devices;            /* 0: not said */
    char chip[TTS_RUN_WORD_MAX];      /* "wormhole_b0"; "": not said */
    char optimizer[TTS_RUN_WORD_MAX]; /* "AdamW", "SGD"; "": not said */
    bool has_kahan, is_kahan;         /* "Use Kahan summation" */
    /* What is wrong with it: the first of them, and how many in all. */
    size_t note_count;
    uint64_t notes_in_all;
    struct tts_run_note notes[TTS_RUN_NOTES_MAX];
};

/* A run that did not track L1 prints 0 for all of it: that is no figure. */
static inline bool tts_run_tracks_l1(const struct tts_run *run)
{
    for (size_t i = 0; i < run->phase_count; i++)
        for (int f = TTS_RUN_L1_CB; f <= TTS_RUN_L1_CORE; f++)
            if (run->phases[i].figures[f].bytes != 0)
                return true;
    return false;
}
