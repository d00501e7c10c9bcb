/* error.h: filling a caller's struct tts_error. */
#pragma once

#include "base/compiler.h"
#include "ttscope/status.h"

/* Fill *err when it is not NULL (offset, line and sys_errno become 0) and return `status`. */
enum tts_status tts_error_set(struct tts_error *err, enum tts_status status, const char *format,
                              ...) TTS_PRINTF(3, 4);

/* The same for a failed system call: ": <what errno means>" follows the text. */
enum tts_status tts_error_set_errno(struct tts_error *err, enum tts_status status,
                                    int sys_errno, const char *format, ...) TTS_PRINTF(4, 5);
