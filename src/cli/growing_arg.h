/* growing_arg.h: the options of the commands that find growing pools
 * (analysis/questions/growth.h). */
#pragma once

#include "ttscope/status.h"

struct tts_error;

enum { TTS_GROWING_ARG_RISES_MAX = 1000 };

/* Takes the seconds of --growing-interval; `target` is a uint64_t of nanoseconds. */
TTS_NODISCARD enum tts_status tts_growing_arg_take_interval(void *target, const char *text,
                                                            struct tts_error *err);
