/* svgmap.h: an address map (addrmap.h) as one self-contained SVG drawing.
 *
 * Above, addresses go up and operations to the right: what was taken, what was free, where a
 * request failed. Below, on the same axis, the free memory and its largest piece, with each
 * failed request at the size it asked for. The page says in a sentence what there is to see.
 *
 * No script, no font, nothing to load; the same map gives the same bytes. */
#pragma once

#include "views/map/addrmap.h"

#include <stdio.h>

/* `name` is what the sequence is called, any bytes; only its last path component is shown.
 * The map must be finished. Errors are the stream's. */
void tts_svgmap_write(const struct tts_addrmap *map, const char *name, FILE *out);
