/* message.h: what the commands say on stderr, all in one form:
 *     ttscope replay: cannot read 'x.txt': no such file or directory
 *     ttscope show: x.json:12: expected a comma or the end of an object
 * What a terminal would obey, or hides, is shown as '?' (safe_text.h), so a file name cannot
 * drive it. */
#pragma once

#include "base/compiler.h"
#include "model/partialnotes.h"
#include "ttscope/status.h"

/* `command` may be NULL, for ttscope itself. No newline in the format. */
void tts_message(const char *command, const char *format, ...) TTS_PRINTF(2, 3);

/* As messages name an operand: "-" is "<stdin>". */
const char *tts_message_path(const char *path);

/* An error in an input: `FILE:LINE: <text>`, `FILE: <text>` where no line is known; texts about
 * recordings name the byte themselves. What the system refused (TTS_E_IO) and has a name in it
 * stands alone. */
void tts_message_error(const char *command, const char *path, const struct tts_error *err);

/* Prints the reasons why an answer is partial. Returns TTS_EXIT_PARTIAL, or TTS_EXIT_DONE if
 * there are none. */
int tts_message_partial(const struct tts_partial_notes *notes, const char *command,
                        const char *path);
