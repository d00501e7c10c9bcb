/* analyze.h: the command `analyze`, with or without a hand that draws what needs cairo. */
#pragma once

#include "ttscope/status.h"

#include <stdio.h>

struct tts_drawing;

enum tts_picture_format {
    TTS_PICTURE_PNG,
    TTS_PICTURE_SVG,
    TTS_PICTURE_PDF,
    TTS_PICTURE_FORMATS
};

/* Writes a drawing as PNG or PDF. TTS_E_IO, TTS_E_NOMEM. */
struct tts_analyze_drawer {
    enum tts_status (*write)(const struct tts_drawing *drawing, enum tts_picture_format format,
                             FILE *out, struct tts_error *err);
};

/* As a command is run. `drawer` NULL: what it would draw is left to the program
 * libexec/ttscope/ttscope-analyze, which this process then becomes. */
int tts_analyze(int argc, char **argv, const struct tts_analyze_drawer *drawer);
