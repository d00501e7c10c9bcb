/* help.h: the short list of commands. */
#pragma once

#include <stdio.h>

void tts_help_list(FILE *out);

/* Says on stderr that there is no such command, with the nearest that is. */
void tts_help_unknown(const char *word);
