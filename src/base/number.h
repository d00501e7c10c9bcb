/* number.h: converts numbers from and to text, independent of the locale. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* tts_number_parse() reads all of text[0..len) as decimal digits, without sign and spaces.
 * tts_number_parse_hex() reads hexadecimal digits in upper or lower case, without a prefix.
 * Both return TTS_E_SYNTAX if the text is empty or has another character, TTS_E_RANGE if the
 * number has more than 64 bits. */
TTS_NODISCARD enum tts_status tts_number_parse(const char *text, size_t len, uint64_t *out);
TTS_NODISCARD enum tts_status tts_number_parse_hex(const char *text, size_t len, uint64_t *out);

/* Reads a decimal number such as "0.5" in millionths. Returns false if the text is no such
 * number or the number is above `max`. */
TTS_NODISCARD bool tts_number_parse_millionths(const char *text, size_t len, uint64_t max,
                                               uint64_t *out);

enum { TTS_NUMBER_MAX = 20, TTS_NUMBER_BYTES_MAX = 40, TTS_NUMBER_MB_MAX = 28 };

/* tts_number_format() writes `value` in decimal and returns the number of digits.
 * tts_number_format_hex() writes the last `digits` (1 to 16) hexadecimal digits of `value`, in
 * lower case. Both write no terminator. They do not use printf(), which would take most of the
 * time of an output with millions of numbers. */
size_t tts_number_format(char out[TTS_NUMBER_MAX], uint64_t value);
void tts_number_format_hex(char *out, uint64_t value, int digits);

/* Writes bytes for people, with at least three significant digits: "0 B", "1023 B", "1.50 KiB",
 * "12.8 GiB". Writes a terminated text and returns `out`. */
const char *tts_number_format_bytes(char out[TTS_NUMBER_BYTES_MAX], uint64_t bytes);

/* Returns the bytes in hundredths of 2^20 bytes, rounded like tts_number_format_mb(). */
uint64_t tts_number_mb_hundredths(uint64_t bytes);
/* Writes bytes / 1048576 with two decimals, rounded half to even like printf("%.2f"), but in
 * any locale. If `plus` is true, a number that is not negative gets a plus sign, like "%+.2f".
 * Values slightly below zero give "-0.00". Writes a terminated text and returns `out`. */
const char *tts_number_format_mb(char out[TTS_NUMBER_MB_MAX], int64_t bytes, bool plus);

/* Writes bytes / 2^shift with two decimals, rounded half up: "12.35". shift is 10 to 60. Writes
 * a terminated text and returns `out`. */
const char *tts_number_format_shifted(char out[TTS_NUMBER_BYTES_MAX], uint64_t bytes,
                                      unsigned shift);
