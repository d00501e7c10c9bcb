/* same_file.h: would an output replace an input? */
#pragma once

#include <stdbool.h>

/* Are both the same regular file, under whatever names? "-" is standard input for the input and
 * standard output for the output. */
bool tts_same_file(const char *input, const char *output);
