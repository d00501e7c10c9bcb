/* share.h: a share of a whole in hundredths of a percent, exactly, as people write it: "97.5".
 */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_SHARE_ALL = 100 * 100, TTS_SHARE_TEXT_MAX = 24 };

/* The whole of text[0..len) as a percentage without its sign, two digits behind the point at
 * most. TTS_E_SYNTAX; TTS_E_RANGE: above `max`, which is below 2^32. */
TTS_NODISCARD enum tts_status tts_share_parse(const char *text, size_t len, uint64_t max,
                                              uint64_t *out);
/* "95", "97.5", "2.25". Writes a terminated text and returns `out`. */
const char *tts_share_format(char out[TTS_SHARE_TEXT_MAX], uint64_t share);

/* bytes * share / TTS_SHARE_ALL, rounded down or up, INT64_MAX where it is more. bytes >= 0,
 * share < 2^32. */
int64_t tts_share_of(int64_t bytes, uint64_t share, bool up);
