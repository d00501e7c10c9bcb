/* grouped.h: numbers for people, with a comma between thousands. All functions write a
 * terminated text and return `out`. */
#pragma once

#include <stdint.h>

enum { TTS_GROUPED_MAX = 32 };

/* Formats bytes as MB of 1048576 bytes, such as "1,863.25". Returns `out`. */
const char *tts_grouped_mb(char out[TTS_GROUPED_MAX], int64_t bytes);
/* Formats a count, such as "969,369,600". Returns `out`. */
const char *tts_grouped_count(char out[TTS_GROUPED_MAX], uint64_t count);
/* Formats a share in percent, without the sign, such as "67.37". `whole` must be above 0.
 * Returns `out`. */
const char *tts_grouped_percent(char out[TTS_GROUPED_MAX], int64_t part, int64_t whole);
