/* external.h: commands that are separate programs in ../libexec/ttscope, relative to the
 * directory of this program. A build tree and an installation therefore each find their own. */
#pragma once

/* Executes the program of the command `argv[0]` in place of this process. Returns only on
 * failure: -1 if there is no such program, or an exit code, after printing a message, if the
 * program does not start. */
int tts_external_exec(char **argv);
