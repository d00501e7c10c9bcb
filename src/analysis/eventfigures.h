/* eventfigures.h: encodes the summary of a file of events as bytes, and decodes these bytes. A
 * packed recording stores them (docs/design/recording.md). */
#pragma once

#include "analysis/eventsummary.h"

enum {
    TTS_EVENTFIGURES_TOP = 1000
}; /* rows of each stored list; the scan that is stored has this `top` */

/* Finishes a scan with keeps_all and encodes its summary. Call instead of
 * tts_eventscan_finish(). The caller fills in sum->input before the call, and frees *bytes with
 * scan->alloc after the call. *len is 0 if nothing should be stored, because a request was
 * refused or there are too many bytes. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventfigures_store(struct tts_eventscan *scan,
                                                     unsigned char **bytes, size_t *len,
                                                     struct tts_error *err);

/* Decodes the summary of the pool config->pool, with config->top rows in each list, and
 * replaces *sum. The bytes are copied. Returns false, and changes nothing, if there is no
 * memory or the bytes cannot be used: they have another version, are invalid, have too few
 * rows, or belong to a file whose last event is not `seq`. */
bool tts_eventfigures_load(struct tts_eventsummary *sum, const unsigned char *bytes, size_t len,
                           uint64_t seq, const struct tts_eventscan_config *config);

/* ---- for eventsummary.c ---- */

struct tts_eventfigures; /* the data that a loaded summary points to */
void tts_eventfigures_free(struct tts_eventfigures *stored, const struct tts_alloc *alloc);
/* Writes the path of an operation of a loaded summary. */
void tts_eventfigures_path(const struct tts_eventfigures *stored, const char *op,
                           char out[TTS_SUMMARY_PATH_BYTES]);
