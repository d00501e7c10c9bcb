/* say.h: sentences in lines of 80 columns. */
#pragma once

#include "base/compiler.h"

#include <stdio.h>

/* A blank where a line is not broken, as between a number and its unit. */
#define TTS_SAY_GLUE "\037"

/* A line behind `indent` spaces, broken between words; what follows has two more. */
void tts_say(FILE *out, unsigned indent, const char *format, ...) TTS_PRINTF(3, 4);
