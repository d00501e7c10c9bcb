/* drawing_svg.h: writes a drawing as an SVG document of its own, with real text. The same
 * drawing gives the same bytes. The caller checks the stream for errors. */
#pragma once

#include "views/chart/drawing.h"

#include <stdio.h>

void tts_drawing_write_svg(const struct tts_drawing *d, FILE *out);
