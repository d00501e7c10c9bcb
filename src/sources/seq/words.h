/* words.h: the words of one line of text, for readers and writers of line languages. Words are
 * separated by blanks and tabs. They are borrowed from the line. Nothing is allocated. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_word {
    const char *text;
    size_t len; /* 0 at the end of the line */
};

/* The position in a line. Start from {line, line, line + len, err}; err may be NULL. */
struct tts_scan {
    const char *begin, *at, *end;
    struct tts_error *err;
};

struct tts_word tts_scan_word(struct tts_scan *scan);
bool tts_word_is(struct tts_word word, const char *text);

/* Splits "name=value" at the first '='. Returns false if there is no '='. */
bool tts_word_split(struct tts_word word, struct tts_word *name, struct tts_word *value);

enum { TTS_QUOTE_MAX = 24 };

/* A foreign word for a message: short, and without characters that a terminal would obey. */
struct tts_quote {
    char text[TTS_QUOTE_MAX + sizeof "..."];
};
struct tts_quote tts_word_quote(struct tts_word word);

/* Adds the place of the word to an error that has been set. Returns `status`. */
enum tts_status tts_scan_at(struct tts_scan *scan, struct tts_word word,
                            enum tts_status status);

/* Parses a decimal number. TTS_E_SYNTAX, TTS_E_RANGE: err has `name`, the word and its
 * place. */
TTS_NODISCARD enum tts_status tts_scan_number(struct tts_scan *scan, struct tts_word word,
                                              const char *name, uint64_t *out);

/* Write a text, a decimal number, or a blank and a decimal number at `at`, without a NUL.
 * Return the place after the last byte. */
char *tts_put_text(char *at, const char *text);
char *tts_put_number(char *at, uint64_t value);
char *tts_put_operand(char *at, uint64_t value);
