/* chipview.h: writes the known chips as text and as JSON (docs/design/devices-json.md). Plain
 * functions of a chip. One thread at a time. */
#pragma once

#include "ttscope/chip.h"
#include "views/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One chip with its preset and, if asked for, its L1 layout. */
struct tts_chipview {
    struct tts_chip chip;
    const struct tts_preset *preset; /* NULL: the chip is from a device file */
    struct tts_l1_part parts[TTS_L1_PARTS_MAX];
    size_t part_count; /* 0: the layout was not asked for */
};

/* Writes the table of presets. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_chipview_text_list(FILE *out);
/* Writes all facts of a chip, with their sources, and its pools. */
void tts_chipview_text_one(const struct tts_chipview *view, FILE *out);
/* Draws the layout of L1. part_count must not be 0. */
void tts_chipview_text_layout(const struct tts_chipview *view, bool utf8, FILE *out);

/* Write the field "presets": all presets, or one chip with its facts. The second also writes
 * "l1" if the layout was asked for. */
void tts_chipview_json_list(struct tts_json *json);
void tts_chipview_json_one(struct tts_json *json, const struct tts_chipview *view);
