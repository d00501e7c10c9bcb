/* devseq_run.h: runs the lines of a device sequence and gives the result of each. Caller's
 * memory: init, then one line after the other, release in any case. A run borrows its device
 * and owns a table of the named buffers. One thread. */
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
