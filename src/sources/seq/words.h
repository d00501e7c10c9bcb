/* words.h: the words of one line of text, for readers and writers of line languages.
 * Words are separated by blanks and tabs and borrowed from the line. Nothing is allocated. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_word {
    const char *text;
    size_t len; /* 0 at the end of the line */
};

/* Start from {line, line, line + len, err}; err may be NULL. */
struct tts_scan {
    const char *begin, *at, *end;
    struct tts_error *err;
};

struct tts_word tts_scan_word(struct tts_scan *scan);
bool tts_word_is(struct tts_word word, const char *text);

/* Splits "name=value" at the first '='. False: there is none. */
bool tts_word_split(struct tts_word word, struct tts_word *name, struct tts_word *value);

enum { TTS_QUOTE_MAX = 24 };

/* A foreign word as a message can hold it: short, and nothing that a terminal would obey. */
struct tts_quote {
    char text[TTS_QUOTE_MAX + sizeof "..."];
};
struct tts_quote tts_word_quote(struct tts_word word);

/* Adds where it was to an error that has been set; returns `status`. */
enum tts_status tts_scan_at(struct tts_scan *scan, struct tts_word word,
                            enum tts_status status);

/* A decimal number. TTS_E_SYNTAX, TTS_E_RANGE: err names `name`, what was there, and where. */
TTS_NODISCARD enum tts_status tts_scan_number(struct tts_scan *scan, struct tts_word word,
                                              const char *name, uint64_t *out);

/* Write at `at`, without a NUL, and return the place after the last byte: a text, a decimal
 * number, a blank and a decimal number. */
char *tts_put_text(char *at, const char *text);
char *tts_put_number(char *at, uint64_t value);
char *tts_put_operand(char *at, uint64_t value);
