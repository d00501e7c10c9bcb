/* phases_view.h: the published table of the phases of a trace.
 *
 * The caller owns everything and checks the stream for errors. Threads: any. */
#pragma once

#include "model/live/liveanswer.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"
#include "views/json.h"

#include <stdio.h>

struct tts_phasestable {
    const struct tts_livephases *phases;
    const struct tts_alloc *alloc;
    unsigned columns;
    bool is_utf8;
    uint64_t start_ns; /* with has_times, the time 0 */
    bool has_times;    /* add the column "Begin" */
};

/* Writes the columns Phase, TRACE, L1 (Data), L1 (Code), Total and Changes, a row for each
 * phase. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_phasestable_put(const struct tts_phasestable *table,
                                                  FILE *out);

/* Writes the elements of an array that the caller began: the fields "phase", `time_key`
 * (seconds since `start_ns`), "trace_bytes", "l1_data_bytes", "l1_code_bytes" and
 * "change_bytes". */
void tts_phases_json(const struct tts_livephases *phases, const char *time_key,
                     uint64_t start_ns, struct tts_json *json);
