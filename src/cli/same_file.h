/* same_file.h: would an output replace an input, and is it standard output? */
#pragma once

#include <stdbool.h>

/* Are both the same regular file, under whatever names? "-" is standard input for the input and
 * standard output for the output. */
bool tts_same_file(const char *input, const char *output);

/* "-" for a path that is where standard output goes, and no regular file (/dev/stdout, a named
 * pipe); else the path itself. */
const char *tts_stdout_path(const char *output);
