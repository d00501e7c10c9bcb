/* analyze.h: the options of the command `analyze` (cli/commands.h has its row), for the program
 * that draws PNG and PDF and for tests. */
#pragma once

#include "analysis/trainmem.h"
#include "cli/device_arg.h"

#include <stdio.h>

struct tts_drawing;

enum tts_picture { TTS_PICTURE_PEAK, TTS_PICTURE_PHASES, TTS_PICTURES };

enum tts_picture_format { TTS_PICTURE_PNG, TTS_PICTURE_SVG, TTS_PICTURE_PDF };

/* Strings are borrowed from argv. */
struct tts_analyze_options {
    /* Writes a drawing as PNG or PDF. TTS_E_IO, TTS_E_NOMEM. NULL: such drawings are left to
     * the program libexec/ttscope/ttscope-analyze, which this process then becomes. */
    enum tts_status (*draw)(const struct tts_drawing *drawing, enum tts_picture_format format,
                            FILE *out, struct tts_error *err);
    struct tts_trainmem_options mem;
    struct tts_device_arg device; /* name NULL: none */
    uint32_t limit;               /* --fail-above, in hundredths of a percent; 0: none */
    bool json, csv;
    const char *junit_path;
    bool has_picture[TTS_PICTURES];
    const char *title, *output;
    enum tts_picture_format format; /* of pictures; PNG unless given */
};
