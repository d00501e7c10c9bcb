/* show_samples.h: writes the sampled counters of a recording for `ttscope show`: peak and last
 * value of each counter. The functions only read the peaks and may run at the same time for
 * different streams. */
#pragma once

#include "analysis/samplepeaks.h"
#include "views/json.h"

#include <stdio.h>

/* Writes the answer in one line, without a line end: the highest sampled value of a pool. */
void tts_showsamples_headline(const struct tts_samplepeaks *peaks, enum tts_pool pool,
                              uint64_t start_ns, FILE *out);
/* Writes a table with a row for each counter, and an empty line. Times are since `start_ns`,
 * the start of the recording. */
void tts_showsamples_text(const struct tts_samplepeaks *peaks, uint64_t start_ns, FILE *out);
/* Writes the field "samples": null if there are none (docs/design/show-json.md). */
void tts_showsamples_json(const struct tts_samplepeaks *peaks, uint64_t start_ns,
                          struct tts_json *json);
