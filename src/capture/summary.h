/* summary.h: writes the texts of a capture. The length of a text is limited as in
 * snprintf(). */
#pragma once

#include "ttscope/capture.h"

#include <stddef.h>

/* A text with a limited buffer. Characters that do not fit are not stored, but `len` counts
 * them. */
struct tts_text {
    char *out;
    size_t capacity, len;
};

void tts_text_put(struct tts_text *text, const char *words);
/* Appends a name. Control characters become '?'. */
void tts_text_put_name(struct tts_text *text, const char *name);
void tts_text_number(struct tts_text *text, uint64_t number, int width);
/* Terminates the text and returns its length. */
size_t tts_text_end(struct tts_text *text);
