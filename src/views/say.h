/* say.h: writes text in lines that fit. Sentences have 80 columns, or those of a narrower
 * terminal; tables use the columns of a wider terminal. */
#pragma once

#include "base/compiler.h"

#include <stdint.h>
#include <stdio.h>

/* A blank at which no line is broken, for example between a number and its unit. */
#define TTS_SAY_GLUE "\037"

/* Writes a text after `indent` spaces and breaks lines between words. Further lines are
 * indented by two more spaces. */
void tts_say(FILE *out, unsigned indent, const char *format, ...) TTS_PRINTF(3, 4);
/* Like tts_say(), for a text that is complete. */
void tts_say_text(FILE *out, unsigned indent, const char *text);

/* Returns the columns for a table: the width of the terminal on standard output, at least 80.
 * Without a terminal: 80. */
unsigned tts_say_columns(void);

/* Returns the columns of the terminal on standard output, also below 80. Without a terminal:
 * UINT_MAX, because the lines of files and pipes need not be broken. */
unsigned tts_say_row_columns(void);

/* Writes one line. If `out` is a terminal, breaks the line between words at its columns;
 * further lines are indented by two spaces. */
void tts_say_line(FILE *out, const char *text);

/* Writes the rest of a line that has `column` columns so far. Breaks the text between words at
 * `columns`; further lines begin below the start of the text. */
void tts_say_within(FILE *out, unsigned column, unsigned columns, const char *text);

/* Writes the rest of a line that has `column` columns so far. Breaks the text between words at
 * tts_say_columns(); further lines begin below the start of the text. */
void tts_say_column(FILE *out, unsigned column, const char *text);

/* Writes a sentence of the runtime after `mark`. On a terminal the sentence is broken between
 * words, and further lines begin with `mark` and two spaces. Otherwise the sentence is one
 * line, so that it can be searched for. `out` goes to standard output. */
void tts_say_sentence(FILE *out, const char *mark, const char *text);

/* Returns the plural ending for a count: "" for 1, else "s". */
static inline const char *tts_say_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
