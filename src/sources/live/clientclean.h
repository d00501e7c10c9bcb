/* clientclean.h: removes the region of a program that has ended. analysis decides which
 * programs have ended; the process is looked for once more right before the file goes. Threads:
 * any. Cost: a few system calls. */
#pragma once

#include "model/live/hostview.h"

/* Removes the file of `client` from the /dev/shm below `root`. Changes nothing on failure:
 *
 * TTS_E_NOT_FOUND: the file was removed or replaced after it was read.
 * TTS_E_BUSY: a process with this number and start time exists, or may exist.
 * TTS_E_IO: the file cannot be removed; err->sys_errno is EACCES or EPERM if this user may not
 * remove it. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_clientclean_run(const struct tts_seenclient *client,
                                                  const char *root,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_error *err);
