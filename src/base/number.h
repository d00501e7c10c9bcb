/* number.h: numbers from and to text, without locale. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole of text[0..len) as decimal digits (no sign, no space), or as lower or upper case
 * hex without prefix. TTS_E_SYNTAX: empty or another character; TTS_E_RANGE: past 64 bits. */
TTS_NODISCARD enum tts_status tts_number_parse(const char *text, size_t len, uint64_t *out);
TTS_NODISCARD enum tts_status tts_number_parse_hex(const char *text, size_t len, uint64_t *out);

enum { TTS_NUMBER_MAX = 20, TTS_NUMBER_BYTES_MAX = 40, TTS_NUMBER_MB_MAX = 20 };

/* Decimal digits, or the last `digits` lower case hex digits (1 to 16), without a terminator;
 * the first returns how many. By hand: printf would take most of the time of what prints
 * millions. */
size_t tts_number_format(char out[TTS_NUMBER_MAX], uint64_t value);
void tts_number_format_hex(char *out, uint64_t value, int digits);

/* Bytes for people, three significant digits at least: "0 B", "1023 B", "1.50 KiB", "12.8 GiB".
 * Writes a terminated text and returns `out`. */
const char *tts_number_format_bytes(char out[TTS_NUMBER_BYTES_MAX], uint64_t bytes);

/* bytes / 1048576 with two decimals, as printf("%.2f") does it (half to even) but for any
 * locale; `plus` shows the sign of what is not negative, as "%+.2f" does. A little below zero
 * is "-0.00". Writes a terminated text and returns `out`. */
const char *tts_number_format_mb(char out[TTS_NUMBER_MB_MAX], int64_t bytes, bool plus);

/* bytes / 2^shift with two decimals, rounded half up: "12.35". shift is 10 to 60. Writes a
 * terminated text and returns `out`. */
const char *tts_number_format_shifted(char out[TTS_NUMBER_BYTES_MAX], uint64_t bytes,
                                      unsigned shift);
