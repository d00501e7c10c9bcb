/* same_file.h: checks whether an output would replace an input or another output, and whether a
 * path is standard output. */
#pragma once

#include <stdbool.h>

/* Returns true if both paths lead to the same regular file. "-" is standard input as `input`
 * and standard output as `output`. */
bool tts_same_file(const char *input, const char *output);

/* Returns "-" if the path leads to standard output and standard output is no regular file
 * (/dev/stdout, a named pipe). Otherwise returns the path itself. */
const char *tts_stdout_path(const char *output);

/* Returns true if both outputs would go to the same file or pipe. Files that do not exist yet
 * are compared by directory and name. "-" is standard output. */
bool tts_same_output(const char *a, const char *b);

/* Returns true if the path ends in `end` and has at least one more character before it. */
bool tts_path_ends_in(const char *path, const char *end);
