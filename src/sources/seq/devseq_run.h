/* devseq_run.h: runs the lines of a device sequence and says what each of them did.
 * Caller's memory: init, then one line after the other, release in any case. A run borrows its
 * device and owns a table of the buffers that have names. One thread. */
#pragma once

#include "sources/seq/devseq.h"
#include "sources/seq/devseq_names.h"
#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

/* What has happened so far. */
struct tts_devseq_counts {
    uint64_t operations; /* every line but comments and blank lines */
    uint64_t buffers_ok, buffers_failed, buffers_below_limit, buffers_not_placed;
    uint64_t fragmented; /* those of buffers_failed for which enough was free, in pieces */
    uint64_t frees_ok, frees_ignored;
    uint64_t programs, cbs, runs_ok, runs_failed;
    uint64_t captures, queries;
    uint64_t first_failure_line;   /* 0: nothing failed */
    uint64_t peak_line[TTS_POOLS]; /* where the peak was first reached; 0: nothing was taken */
    uint64_t peak_bytes[TTS_POOLS];
};

/* The least room that any core had when a program was run. */
struct tts_devseq_tight {
    uint64_t line; /* 0: no program was run */
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

/* One line, run. */
struct tts_devseq_step {
    struct tts_devseq_line line; /* the same, with the result it had */
    bool has_buffer;
    struct tts_buffer buffer; /* that was placed, counted or given back */
    bool failed;
    struct tts_failure failure;
    size_t
        overlaps; /* of a circular buffer: how many earlier ones it lies over, on some core */
};

/* `alloc` NULL means the C library's. */
void tts_devseq_run_init(struct tts_devseq_run *run, struct tts_device *device,
                         const struct tts_alloc *alloc);
void tts_devseq_run_release(struct tts_devseq_run *run);

/* To be asked after the last line. TTS_E_SYNTAX: there was no statement. */
TTS_NODISCARD enum tts_status tts_devseq_run_finish(const struct tts_devseq_run *run,
                                                    struct tts_error *err);

/* Runs one line that is not blank; `line_no` is where it stands. Any status but TTS_OK is the
 * file's fault (or TTS_E_NOMEM), said in err; the run can then only be released. */
TTS_NODISCARD enum tts_status tts_devseq_run_line(struct tts_devseq_run *run,
                                                  const struct tts_devseq_line *line,
                                                  uint64_t line_no, struct tts_devseq_step *out,
                                                  struct tts_error *err);
