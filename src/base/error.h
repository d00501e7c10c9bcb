/* error.h: fills a caller's struct tts_error. */
#pragma once

#include "base/compiler.h"
#include "ttscope/status.h"

/* The text of TTS_E_NOMEM in messages. It names the host, because a reader of "out of memory"
 * takes the words for an answer about the device. */
#define TTS_TEXT_NOMEM "the host has too little memory"

/* Returns the constant text of a status for a message: TTS_TEXT_NOMEM, or tts_status_text(). */
const char *tts_error_cause(enum tts_status status);

/* Fills *err and returns `status`. `err` may be NULL. Sets offset, line and sys_errno of *err
 * to 0. */
enum tts_status tts_error_set(struct tts_error *err, enum tts_status status, const char *format,
                              ...) TTS_PRINTF(3, 4);

/* Like tts_error_set(), for a failed system call. Appends ": " and the system's text for
 * `sys_errno`. */
enum tts_status tts_error_set_errno(struct tts_error *err, enum tts_status status,
                                    int sys_errno, const char *format, ...) TTS_PRINTF(4, 5);
