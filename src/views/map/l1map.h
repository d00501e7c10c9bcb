/* l1map.h: the L1 of a core as one self-contained SVG drawing.
 *
 * Addresses go up, to scale. What is too low to be seen beside the rest is drawn a second time,
 * enlarged; every part has its name, size and addresses, and no label lies over another.
 *
 * No script, no font, nothing to load; the same chip gives the same bytes. */
#pragma once

#include "ttscope/chip.h"

#include <stddef.h>
#include <stdio.h>

/* `parts` are those of tts_chip_l1_parts(), 1 to TTS_L1_PARTS_MAX. The name of the chip may be
 * any bytes. Errors are the stream's. */
void tts_l1map_write(const struct tts_chip *chip, const struct tts_l1_part *parts, size_t count,
                     FILE *out);
