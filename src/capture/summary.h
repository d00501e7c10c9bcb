/* summary.h: the texts of a capture, bounded as snprintf bounds them. */
#pragma once

#include "ttscope/capture.h"

#include <stddef.h>

/* Writes as long as there is room; `len` goes on counting. */
struct tts_text {
    char *out;
    size_t capacity, len;
};

void tts_text_put(struct tts_text *text, const char *words);
/* Control characters become '?'. */
void tts_text_put_name(struct tts_text *text, const char *name);
void tts_text_number(struct tts_text *text, uint64_t number, int width);
/* Terminates it and returns its length. */
size_t tts_text_end(struct tts_text *text);
