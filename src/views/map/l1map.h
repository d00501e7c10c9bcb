/* l1map.h: draws the L1 of a core as one self-contained SVG.
 *
 * Addresses go up, to scale. Parts that are too small to be seen are drawn a second time,
 * enlarged. Every part has its name, size and addresses; labels do not overlap.
 *
 * The SVG has no scripts, no fonts and nothing to load. The same chip gives the same bytes. */
#pragma once

#include "ttscope/chip.h"

#include <stddef.h>
#include <stdio.h>

/* Draws the L1. `parts` come from tts_chip_l1_parts(), 1 to TTS_L1_PARTS_MAX of them. The name
 * of the chip may contain any bytes. The caller checks the stream for errors. */
void tts_l1map_write(const struct tts_chip *chip, const struct tts_l1_part *parts, size_t count,
                     FILE *out);
