/* rowout.h: buffers long outputs of many small pieces on their way to a stream. The caller
 * checks the stream for errors and owns the struct. One thread at a time. */
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
/* Writes the rest of the buffer. Call it last. */
void tts_rowout_flush(struct tts_rowout *rows);

void tts_rowout_put(struct tts_rowout *rows, const char *bytes, size_t len);
void tts_rowout_text(struct tts_rowout *rows,
                     const char *text); /* writes our own text unchanged */
void tts_rowout_number(struct tts_rowout *rows, uint64_t value);
void tts_rowout_hex(struct tts_rowout *rows, uint64_t value); /* "0x2a" */
/* Writes nanoseconds as microseconds with three decimals: 1234567 becomes "1234.567". */
void tts_rowout_micros(struct tts_rowout *rows, uint64_t ns);

/* Writes foreign text as a JSON string with quotes. Control characters are escaped, invalid
 * UTF-8 becomes U+FFFD. */
void tts_rowout_json(struct tts_rowout *rows, const char *text, size_t len);
/* Writes foreign text as a field of RFC 4180, quoted if necessary. Invalid UTF-8, and control
 * characters except tab and line ends, become U+FFFD. A text that a spreadsheet would take for
 * a formula (it begins with = + - @, tab or return) gets an apostrophe in front. */
void tts_rowout_csv(struct tts_rowout *rows, const char *text, size_t len);
