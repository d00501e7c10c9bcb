/* message.h: the messages of the commands on stderr. All have the same form:
 *     ttscope replay: cannot read 'x.txt': no such file or directory
 *     ttscope show: x.json:12: expected a comma or the end of an object
 * Characters that a terminal would interpret or hide are printed as '?' (safe_text.h), so that
 * a file name cannot control the terminal. */
#pragma once

#include "base/compiler.h"
#include "model/partialnotes.h"
#include "ttscope/status.h"

/* Prints one message. `command` is NULL for messages of ttscope itself. The format has no
 * newline. */
void tts_message(const char *command, const char *format, ...) TTS_PRINTF(2, 3);

/* Returns the path for messages: "<stdin>" for "-", or else the path itself. */
const char *tts_message_path(const char *path);

/* Prints a text about an input as `FILE:LINE: <text>`, or as `FILE: <text>` if the line is 0.
 */
void tts_message_at(const char *command, const char *path, uint64_t line, const char *text);

/* Prints an error in an input as `FILE:LINE: <text>`, or as `FILE: <text>` if the line is
 * unknown. Texts about recordings state the byte offset themselves. The text of a TTS_E_IO
 * error that names its file is printed alone. */
void tts_message_error(const char *command, const char *path, const struct tts_error *err);

/* Prints the reasons why an answer is partial. Returns TTS_EXIT_PARTIAL, or TTS_EXIT_DONE if
 * there are none. */
int tts_message_partial(const struct tts_partial_notes *notes, const char *command,
                        const char *path);
