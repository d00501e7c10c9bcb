/* say.h: text in lines that fit. Sentences and tables have 80 columns; tables use what a wider
 * terminal has. */
#pragma once

#include "base/compiler.h"

#include <stdint.h>
#include <stdio.h>

/* A blank where a line is not broken, as between a number and its unit. */
#define TTS_SAY_GLUE "\037"

/* A line behind `indent` spaces, broken between words; what follows has two more. */
void tts_say(FILE *out, unsigned indent, const char *format, ...) TTS_PRINTF(3, 4);

/* Returns the columns of a table: those of the terminal that standard output is, at least 80;
 * 80 if standard output is no terminal. */
unsigned tts_say_columns(void);

/* Writes the rest of a line that has `column` columns so far. Breaks the text between words at
 * tts_say_columns() and goes on below its begin. */
void tts_say_column(FILE *out, unsigned column, const char *text);

/* Writes a sentence of the runtime after `mark`. On a terminal it is broken between words, and
 * what follows has `mark` and two spaces before it. Otherwise it is one line, so that it can be
 * searched for. `out` is for standard output. */
void tts_say_sentence(FILE *out, const char *mark, const char *text);

/* Returns the ending of a noun that is counted: "" for 1, else "s". */
static inline const char *tts_say_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
