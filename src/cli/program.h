/* program.h: what every program of ttscope does first and last. */
#pragma once

/* A file we open must never become one of the standard three. */
void tts_program_begin(void);

/* Output that did not arrive is a failure, whatever the command thought of itself. `name` is
 * that of the command, or NULL. Returns the exit code. */
int tts_program_end(int code, const char *name);
