/* help.h: the short list of commands and topics. */
#pragma once

#include <stdio.h>

void tts_help_list(FILE *out);

/* Says on stderr that there is no such command, with the nearest that is; or that it is a
 * topic. */
void tts_help_unknown(const char *word);
