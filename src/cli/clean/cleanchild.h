/* cleanchild.h: cleans a memory region in a child process. A file that another process
 * truncates meanwhile ends only the child. The process must have only one thread. */
#pragma once

#include "sources/live/regionclean.h"

/* Like tts_regionclean_run(). TTS_E_BUSY: also if the file was truncated; then nothing is left
 * in the region. TTS_E_NOMEM: no child can be made. */
TTS_NODISCARD enum tts_status tts_cleanchild_run(struct tts_regionclean *clean,
                                                 const char *root, struct tts_error *err);
