/* svgmap.h: draws an address map (addrmap.h) as one self-contained SVG.
 *
 * Above, addresses go up and operations go to the right: taken memory, free memory, failed
 * requests. Below, on the same axis, are the free memory and its largest piece, with each
 * failed request at its size. A sentence states the result.
 *
 * The SVG has no scripts, no fonts and nothing to load. The same map gives the same bytes. */
#pragma once

#include "views/map/addrmap.h"

#include <stdio.h>

/* Draws a finished map. `name` is the path of the sequence and may contain any bytes; only its
 * last component is shown. The caller checks the stream for errors. */
void tts_svgmap_write(const struct tts_addrmap *map, const char *name, FILE *out);
