/* grouped.h: numbers for people, with a comma between thousands. All functions write a
 * terminated text and return `out`. */
#pragma once

#include <stdint.h>

enum { TTS_GROUPED_MAX = 32 };

/* "1,863.25": MB of 1048576 bytes. */
const char *tts_grouped_mb(char out[TTS_GROUPED_MAX], int64_t bytes);
/* "969,369,600" */
const char *tts_grouped_count(char out[TTS_GROUPED_MAX], uint64_t count);
/* "67.37", without the sign. `whole` is above 0. */
const char *tts_grouped_percent(char out[TTS_GROUPED_MAX], int64_t part, int64_t whole);
