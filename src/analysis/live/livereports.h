/* livereports.h: adds to a frame what processes say about themselves: their buffer logs, and
 * the reports of their allocators. Both are better than the counters of a region, so they
 * replace these. docs/design/live.md has the rules. Pure functions. */
#pragma once

#include "model/live/liveframe.h"

/* Adds the logs and reports of `view`. `frame` has the devices and the owners of the regions.
 * Returns TTS_OK, or TTS_E_NOMEM with a part of the reports. */
TTS_NODISCARD enum tts_status tts_livereports_add(const struct tts_hostview *view,
                                                  struct tts_liveframe *frame);
