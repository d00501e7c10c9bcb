/* percent.h: formats a share of a whole for people. */
#pragma once

#include <stdint.h>

enum { TTS_PERCENT_MAX = 24 };

/* Writes "12.3 %", rounded. "0.0 %" means exactly nothing and "100.0 %" exactly everything. If
 * whole is 0, the share is 0. part <= whole < 2^53. The text is terminated. Returns `out`. */
const char *tts_percent_format(char out[TTS_PERCENT_MAX], uint64_t part, uint64_t whole);
