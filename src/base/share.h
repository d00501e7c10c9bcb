/* share.h: a share of a whole. It is stored exactly, in hundredths of a percent (9750), and
 * written as a percentage ("97.5"). */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_SHARE_ALL = 100 * 100, TTS_SHARE_TEXT_MAX = 24 };

/* Reads all of text[0..len) as a percentage without '%', with at most two decimals. Returns
 * TTS_E_SYNTAX if the text is not a percentage, TTS_E_RANGE if the share is above `max`. `max`
 * is below 2^32. */
TTS_NODISCARD enum tts_status tts_share_parse(const char *text, size_t len, uint64_t max,
                                              uint64_t *out);
/* Writes "95", "97.5" or "2.25", terminated, and returns `out`. */
const char *tts_share_format(char out[TTS_SHARE_TEXT_MAX], uint64_t share);

/* Returns bytes * share / TTS_SHARE_ALL, rounded down or up, at most INT64_MAX. bytes >= 0,
 * share < 2^32. */
int64_t tts_share_of(int64_t bytes, uint64_t share, bool up);
