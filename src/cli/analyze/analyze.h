/* analyze.h: the options of the command `analyze`. The program that draws PNG and PDF and the
 * tests need them. The command itself is declared in cli/commands.h. */
#pragma once

#include "analysis/run/trainmem.h"
#include "cli/device_arg.h"

#include <stdio.h>

struct tts_drawing;

enum tts_picture { TTS_PICTURE_PEAK, TTS_PICTURE_PHASES, TTS_PICTURES };

enum tts_picture_format { TTS_PICTURE_PNG, TTS_PICTURE_SVG, TTS_PICTURE_PDF };

/* Strings are borrowed from argv. */
struct tts_analyze_options {
    /* Writes a drawing as PNG or PDF. Returns TTS_E_IO or TTS_E_NOMEM. NULL: this process
     * cannot draw PNG and PDF; it executes libexec/ttscope/ttscope-analyze for them. */
    enum tts_status (*draw)(const struct tts_drawing *drawing, enum tts_picture_format format,
                            FILE *out, struct tts_error *err);
    struct tts_trainmem_options mem;
    struct tts_device_arg device; /* name is NULL if no device was given */
    uint32_t limit;               /* --fail-above, in hundredths of a percent; 0 if not given */
    bool json, csv;
    const char *junit_path;
    bool has_picture[TTS_PICTURES];
    const char *title, *output;
    enum tts_picture_format format; /* format of the pictures; default PNG */
};
