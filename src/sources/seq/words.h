/* words.h: splits one line of text into words, for the readers and writers of line languages.
 * Blanks and tabs separate words. A word points into the line. Nothing is allocated. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_word {
    const char *text;
    size_t len; /* 0 if the line has no more words */
};

/* A position in a line. Initialize with {line, line, line + len, err}; err may be NULL. */
struct tts_scan {
    const char *begin, *at, *end;
    struct tts_error *err;
};

struct tts_word tts_scan_word(struct tts_scan *scan);
bool tts_word_is(struct tts_word word, const char *text);

/* Splits "name=value" at the first '='. Returns false if there is no '='. */
bool tts_word_split(struct tts_word word, struct tts_word *name, struct tts_word *value);

enum { TTS_QUOTE_MAX = 24 };

/* A word from a file, ready for a message: short, and without characters that could control a
 * terminal. */
struct tts_quote {
    char text[TTS_QUOTE_MAX + sizeof "..."];
};
struct tts_quote tts_word_quote(struct tts_word word);

/* Sets the offset of an error, which has been set, to the beginning of the word. Returns
 * `status`. */
enum tts_status tts_scan_at(struct tts_scan *scan, struct tts_word word,
                            enum tts_status status);

/* Parses a decimal number. TTS_E_SYNTAX: the word is not a number. TTS_E_RANGE: it does not fit
 * in 64 bits. err names `name` and the word, and has the offset of the word. */
TTS_NODISCARD enum tts_status tts_scan_number(struct tts_scan *scan, struct tts_word word,
                                              const char *name, uint64_t *out);

/* Write to `at`: a text, a decimal number, or a blank and a decimal number. They write no
 * terminating NUL. Return the place after the last byte. */
char *tts_put_text(char *at, const char *text);
char *tts_put_number(char *at, uint64_t value);
char *tts_put_operand(char *at, uint64_t value);
