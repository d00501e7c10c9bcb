/* program.h: the first and the last step of every ttscope program. */
#pragma once

/* Fills closed standard descriptors (0 to 2), so that no file opened later becomes one of
 * them. */
void tts_program_begin(void);

/* Flushes standard output. Returns `code`, or TTS_EXIT_INPUT after printing a message if any
 * output was lost. `name` is the command's name or NULL. */
int tts_program_end(int code, const char *name);
