/* percent.h: a share of a whole for people. */
#pragma once

#include <stdint.h>

enum { TTS_PERCENT_MAX = 24 };

/* "12.3 %", rounded; only nothing is "0.0 %" and only all is "100.0 %". A share of 0 is
 * nothing. part <= whole < 2^53. Writes a terminated text and returns `out`. */
const char *tts_percent_format(char out[TTS_PERCENT_MAX], uint64_t part, uint64_t whole);
