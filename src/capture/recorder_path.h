/* recorder_path.h: the path of a recording, with placeholders for the process. */
#pragma once

#include "base/beside.h"
#include "ttscope/status.h"

/* Copies `path` to `out`. "%p" becomes the process id, "%r" the rank of the process that the
 * launcher of a parallel run sets in the environment, "%%" a percent sign. Returns
 * TTS_E_INVALID if another character follows a percent sign or if no variable has the rank;
 * `err` says what to do. Returns TTS_E_RANGE if the result is too long. */
TTS_NODISCARD enum tts_status tts_recorder_path_expand(const char *path, char out[TTS_PATH_MAX],
                                                       struct tts_error *err);
