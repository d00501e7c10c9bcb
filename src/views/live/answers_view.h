/* answers_view.h: the answers of a live frame (model/live/liveanswer.h) as sentences, as JSON
 * and as the published table of phases.
 *
 * The caller owns everything. Threads: any. */
#pragma once

#include "views/json.h"
#include "views/live/live_view.h"

enum { TTS_LIVEANSWER_MAX = 512 };

/* Writes sentence `number`, from 0, about a device: leaks first, then pressure, growth, and the
 * phase. Returns false after the last one. A blank that must not become a line end is
 * TTS_SAY_GLUE. */
bool tts_liveanswers_text(char out[TTS_LIVEANSWER_MAX], const struct tts_livedevice *device,
                          size_t number);

/* Writes one sentence about a pool that grows, or grew until `time_ns` if it has ended. */
void tts_liveanswers_growing(char out[TTS_LIVEANSWER_MAX],
                             const struct tts_livegrowing *growing, uint64_t time_ns,
                             bool has_ended);

/* Writes the line of the published table for a device whose program uses traces: "Update #1:
 * TRACE: 128 MB,  L1: 5 MB    <- Trace buffer allocated!". Writes nothing for other devices. */
void tts_liveanswers_update(const struct tts_liveview *view,
                            const struct tts_livedevice *device, FILE *out);

/* Writes the fields "phase", "steady_seconds", "phases", "growing", "leak" and "pressure" of a
 * device. */
void tts_liveanswers_json(const struct tts_livedevice *device, struct tts_json *json);
