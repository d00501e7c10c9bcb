/* rowout.h: bytes of long outputs, row after row, into a stream.
 * One call of the stream for many small pieces; the caller asks the stream for errors. Caller's
 * memory, one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TTS_ROWOUT_BUFFER = 16 * 1024 };

struct tts_rowout {
    FILE *out;
    size_t used;
    char buffer[TTS_ROWOUT_BUFFER];
};

void tts_rowout_init(struct tts_rowout *rows, FILE *out);
/* To be called last; nothing reaches the stream for certain before. */
void tts_rowout_flush(struct tts_rowout *rows);

void tts_rowout_put(struct tts_rowout *rows, const char *bytes, size_t len);
void tts_rowout_text(struct tts_rowout *rows, const char *text); /* our own: as it is */
void tts_rowout_number(struct tts_rowout *rows, uint64_t value);
void tts_rowout_hex(struct tts_rowout *rows, uint64_t value); /* "0x2a" */
/* Nanoseconds as microseconds with three decimals: 1234567 is "1234.567". */
void tts_rowout_micros(struct tts_rowout *rows, uint64_t ns);

/* Foreign text as a JSON string, quotes and all: control characters are escaped, what is not
 * UTF-8 becomes U+FFFD. */
void tts_rowout_json(struct tts_rowout *rows, const char *text, size_t len);
/* Foreign text as a field of RFC 4180: in quotes where it must be. What is not UTF-8, and
 * control characters but tab and line ends, become U+FFFD. A text that a spreadsheet would take
 * for a formula (it begins with = + - @ tab or return) has an apostrophe before it. */
void tts_rowout_csv(struct tts_rowout *rows, const char *text, size_t len);
