/* livenodes.h: lists the device nodes /dev/tenstorrent/N and whether this user may open them.
 * The nodes are not opened: an open raises the power of a chip and makes this process one of
 * its holders. */
#pragma once

#include "model/live/hostview.h"

/* Adds the nodes below `root` to *view, by number. A directory that does not exist adds
 * nothing. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_livenodes_read(const char *root, struct tts_hostview *view,
                                                 struct tts_error *err);
