/* devseq_run.h: runs the lines of a device sequence and gives the result of each. Caller's
 * memory: init, then one line after the other, release in any case. A run borrows its device
 * and owns a table of the named buffers. One thread. */
#pragma once

#include "sources/seq/devseq.h"
#include "sources/seq/devseq_names.h"
#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

/* Counts of the run so far. */
struct tts_devseq_counts {
    uint64_t operations; /* all lines except comments and blank lines */
    uint64_t buffers_ok, buffers_failed, buffers_below_limit, buffers_not_placed;
    /* The part of buffers_failed for which enough was free, but in pieces. */
    uint64_t fragmented;
    uint64_t frees_ok, frees_ignored;
    uint64_t programs, cbs, runs_ok, runs_failed;
    uint64_t captures, queries;
    uint64_t first_failure_line; /* 0 if nothing failed */
    /* Line that first reached the peak; 0 if nothing was allocated. */
    uint64_t peak_line[TTS_POOLS];
    uint64_t peak_bytes[TTS_POOLS];
};

/* The core with the least room at the start of any program. */
struct tts_devseq_tight {
    uint64_t line; /* 0 if no program was run */
    uint64_t program_id;
    struct tts_core core;
    struct tts_core_room room;
};

struct tts_devseq_run {
    struct tts_device *device;
    struct tts_devseq_names names;
    struct tts_devseq_counts counts;
    struct tts_devseq_tight tight;
};

/* The result of one line. */
struct tts_devseq_step {
    struct tts_devseq_line line; /* the line with its actual result */
    bool has_buffer;
    struct tts_buffer buffer; /* the buffer that was placed, counted or freed */
    bool failed;
    struct tts_failure failure;
    /* Of a circular buffer: the number of earlier ones that it overlaps on some core. */
    size_t overlaps;
};

/* `alloc` may be NULL for the C library's. */
void tts_devseq_run_init(struct tts_devseq_run *run, struct tts_device *device,
                         const struct tts_alloc *alloc);
void tts_devseq_run_release(struct tts_devseq_run *run);

/* Checks the sequence after its last line. TTS_E_SYNTAX: it has no statement. */
TTS_NODISCARD enum tts_status tts_devseq_run_finish(const struct tts_devseq_run *run,
                                                    struct tts_error *err);

/* Runs one line that is not blank. `line_no` is its number. Any status except TTS_OK and
 * TTS_E_NOMEM is an error in the file, described in err. After an error the run can only be
 * released. */
TTS_NODISCARD enum tts_status tts_devseq_run_line(struct tts_devseq_run *run,
                                                  const struct tts_devseq_line *line,
                                                  uint64_t line_no, struct tts_devseq_step *out,
                                                  struct tts_error *err);
