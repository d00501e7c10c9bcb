/* same_file.h: would an output replace an input or another output, and is it standard output?
 */
#pragma once

#include <stdbool.h>

/* Are both the same regular file, under whatever names? "-" is standard input for the input and
 * standard output for the output. */
bool tts_same_file(const char *input, const char *output);

/* "-" for a path that is where standard output goes, and no regular file (/dev/stdout, a named
 * pipe); else the path itself. */
const char *tts_stdout_path(const char *output);

/* Would both outputs be written to the same file or pipe, under whatever names? Of files that
 * are not there yet, the directory and the name in it count. "-" is standard output. */
bool tts_same_output(const char *a, const char *b);

/* A name of nothing but the ending has none. */
bool tts_path_ends_in(const char *path, const char *end);
