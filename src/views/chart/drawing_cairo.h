/* drawing_cairo.h: writes a drawing as PNG and as PDF, with cairo and pango. This is a library
 * of its own (tts_drawing_cairo), so that other programs do not link them. The same drawing
 * gives the same bytes on the same machine: no date is written. A text that the fonts of the
 * machine make wider than the layout estimated is drawn smaller. */
#pragma once

#include "ttscope/status.h"
#include "views/chart/drawing.h"

#include <stdio.h>

/* Writes two pixels for each pixel of the drawing, or fewer if cairo cannot hold that many.
 * TTS_E_IO: the stream failed. TTS_E_NOMEM: memory ran out. TTS_E_NOT_FOUND: no font is
 * installed, and nothing is written. */
TTS_NODISCARD enum tts_status tts_drawing_write_png(const struct tts_drawing *d, FILE *out,
                                                    struct tts_error *err);

/* Writes one page with 96 pixels per inch. Fails as above. */
TTS_NODISCARD enum tts_status tts_drawing_write_pdf(const struct tts_drawing *d, FILE *out,
                                                    struct tts_error *err);
