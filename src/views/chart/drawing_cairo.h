/* drawing_cairo.h: a drawing as PNG and as PDF, by cairo and pango. A library of its own
 * (tts_drawing_cairo), so that only what writes these links them.
 * The same drawing gives the same bytes on the same machine: no date is written. A text that
 * the machine's fonts make wider than the layout took it for is drawn smaller. */
#pragma once

#include "ttscope/status.h"
#include "views/chart/drawing.h"

#include <stdio.h>

/* Two pixels for each of the drawing, fewer where cairo could not hold so many. TTS_E_IO: the
 * stream refused; TTS_E_NOMEM; TTS_E_NOT_FOUND: no font is installed, and nothing is written.
 */
TTS_NODISCARD enum tts_status tts_drawing_write_png(const struct tts_drawing *d, FILE *out,
                                                    struct tts_error *err);

/* One page, 96 pixels an inch. Fails as above. */
TTS_NODISCARD enum tts_status tts_drawing_write_pdf(const struct tts_drawing *d, FILE *out,
                                                    struct tts_error *err);
