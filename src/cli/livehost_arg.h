/* livehost_arg.h: opens this host for the live commands. The environment variable TTSCOPE_ROOT
 * names a directory that is put before /dev, /proc and /sys. */
#pragma once

#include "sources/live/livehost.h"

/* Returns the value of TTSCOPE_ROOT, or "". */
const char *tts_livehost_root(void);

/* Opens the host. Returns TTS_EXIT_DONE, or another exit code after printing a message. The
 * caller closes *out. */
int tts_livehost_arg_open(const char *command, struct tts_livehost **out);
