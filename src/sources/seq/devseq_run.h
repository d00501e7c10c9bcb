/* devseq_run.h: runs the lines of a device sequence and returns the result of each line. The
 * caller owns the struct: call init, then run the lines in order, and call release in any case.
 * A run borrows its device and owns a table of the named buffers. One thread at a time. */
#pragma once

#include "sources/seq/devseq.h"
#include "sources/seq/devseq_names.h"
#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

struct tts_devseq_run {
    struct tts_device *device;
    struct tts_devseq_names names;
    struct tts_devseq_counts counts;
    struct tts_devseq_tight tight;
};

/* Begins a run on `device`, which must outlive the run. `alloc` may be NULL; then the C library
 * allocates. */
void tts_devseq_run_init(struct tts_devseq_run *run, struct tts_device *device,
                         const struct tts_alloc *alloc);
void tts_devseq_run_release(struct tts_devseq_run *run);

/* Checks the sequence after its last line. TTS_E_SYNTAX: the sequence has no statement. */
TTS_NODISCARD enum tts_status tts_devseq_run_finish(const struct tts_devseq_run *run,
                                                    struct tts_error *err);

/* Runs one line, which must not be blank. `line_no` is its number. TTS_OK: *out has the result;
 * an allocation that failed is a result too. TTS_E_NOMEM: memory ran out. Any other status is
 * an error in the file, which err describes. After an error only tts_devseq_run_release() is
 * allowed. */
TTS_NODISCARD enum tts_status tts_devseq_run_line(struct tts_devseq_run *run,
                                                  const struct tts_devseq_line *line,
                                                  uint64_t line_no, struct tts_devseq_step *out,
                                                  struct tts_error *err);
