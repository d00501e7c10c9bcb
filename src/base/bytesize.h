/* bytesize.h: reads a number of bytes as people type one: "12884901888", "1.2e9", "12G", "1.5
 * GiB". */
#pragma once

#include "ttscope/status.h"

#include <stdint.h>

#define TTS_BYTESIZE_MAX (UINT64_C(1) << 60)

/* Reads all of `text`: digits with an optional fraction and exponent, then an optional suffix.
 * The suffix is K, M, G or T in any case, with or without "iB" or "B", and multiplies by a
 * power of 1024. "B" alone is allowed too. One space may precede the suffix. A fraction of a
 * byte is rounded. Returns TTS_E_SYNTAX if the text has another form, TTS_E_INVALID if the
 * number is negative, TTS_E_RANGE if the number is above TTS_BYTESIZE_MAX. */
TTS_NODISCARD enum tts_status tts_bytesize_parse(const char *text, uint64_t *out);
