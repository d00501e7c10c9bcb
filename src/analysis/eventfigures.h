/* eventfigures.h: encodes a summary of events as bytes, which a packed recording stores
 * (docs/design/recording.md), and decodes it. */
#pragma once

#include "analysis/eventsummary.h"

enum { TTS_EVENTFIGURES_TOP = 1000 }; /* rows of each stored list; the scan uses it as `top` */

/* Encodes the summary of a scan with keeps_all. The caller fills in sum->input before the call,
 * and frees *bytes with scan->alloc after it. *len is 0 if nothing should be stored: a request
 * was refused, or the bytes are too many. Replaces tts_eventscan_finish(). TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventfigures_store(struct tts_eventscan *scan,
                                                     unsigned char **bytes, size_t *len,
                                                     struct tts_error *err);

/* Decodes the summary of the pool in `config`, with `top` rows in each list, and replaces *sum.
 * The bytes are copied. Returns false, and changes nothing, if there is no memory or the bytes
 * cannot be used: another version, invalid data, too few rows, or a file whose last event is
 * not `seq`. */
bool tts_eventfigures_load(struct tts_eventsummary *sum, const unsigned char *bytes, size_t len,
                           uint64_t seq, const struct tts_eventscan_config *config);

/* ---- for eventsummary.c ---- */

struct tts_eventfigures; /* owns the data that a loaded summary borrows */
void tts_eventfigures_free(struct tts_eventfigures *stored, const struct tts_alloc *alloc);
/* Writes the path of a loaded operation. */
void tts_eventfigures_path(const struct tts_eventfigures *stored, const char *op,
                           char out[TTS_SUMMARY_PATH_BYTES]);
