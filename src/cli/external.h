/* external.h: commands that are programs of their own, in ../libexec/ttscope beside the
 * directory of this program; so a build tree finds its own and an installed one its own. */
#pragma once

/* Becomes the program of command `argv[0]`, with argv. Returns only when that cannot be:
 * an exit code when it is there but does not start (said on stderr), -1 when there is none. */
int tts_external_exec(char **argv);
