/* eventfigures.h: a summary of events as bytes, stored in a packed recording
 * (docs/design/recording.md), and back. */
#pragma once

#include "analysis/eventsummary.h"

enum { TTS_EVENTFIGURES_TOP = 1000 }; /* rows of each list; the `top` of the pass */

/* Encodes the summary of a scan with keeps_all. The caller fills in sum->input before the call,
 * and frees *bytes with scan->alloc after it. *len is 0 if nothing should be stored: a request
 * was refused, or the bytes are too many. Replaces tts_eventscan_finish(). TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventfigures_store(struct tts_eventscan *scan,
                                                     unsigned char **bytes, size_t *len,
                                                     struct tts_error *err);

/* Makes the summary of the pool of `config` from bytes, with its `top` rows in each list, in
 * the place of what `sum` has. The bytes are copied. Returns false, and changes nothing, if
 * there is no memory, or if the bytes are of another version, cannot be, have too few rows, or
 * are of a file whose last event is not `seq`. */
bool tts_eventfigures_load(struct tts_eventsummary *sum, const unsigned char *bytes, size_t len,
                           uint64_t seq, const struct tts_eventscan_config *config);

/* ---- for eventsummary.c ---- */

struct tts_eventfigures; /* what a summary that was loaded borrows from */
void tts_eventfigures_free(struct tts_eventfigures *stored, const struct tts_alloc *alloc);
/* The path of an operation that was loaded. */
void tts_eventfigures_path(const struct tts_eventfigures *stored, const char *op,
                           char out[TTS_SUMMARY_PATH_BYTES]);
