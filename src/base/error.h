/* error.h: fills a caller's struct tts_error. */
#pragma once

#include "base/compiler.h"
#include "ttscope/status.h"

/* Fills *err and returns `status`. `err` may be NULL. Sets offset, line and sys_errno of *err
 * to 0. */
enum tts_status tts_error_set(struct tts_error *err, enum tts_status status, const char *format,
                              ...) TTS_PRINTF(3, 4);

/* Like tts_error_set(), for a failed system call. Appends ": " and the system's text for
 * `sys_errno`. */
enum tts_status tts_error_set_errno(struct tts_error *err, enum tts_status status,
                                    int sys_errno, const char *format, ...) TTS_PRINTF(4, 5);
