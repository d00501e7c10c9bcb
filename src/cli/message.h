/* message.h: what the commands say on stderr, all in one form:
 *     ttscope replay: cannot read 'x.txt': no such file or directory
 * Control characters are shown as '?', so a file name cannot drive the terminal. */
#pragma once

#include "base/compiler.h"
#include "ttscope/status.h"

/* `command` may be NULL, for ttscope itself. No newline in the format. */
void tts_message(const char *command, const char *format, ...) TTS_PRINTF(2, 3);

/* An error in an input: `ttscope replay: x.txt:12: <text>`, without the place where none is
 * known. */
void tts_message_error(const char *command, const char *path, const struct tts_error *err);
