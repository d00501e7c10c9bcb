/* help.h: messages about unknown commands, and the short list of commands and topics. */
#pragma once

#include <stdio.h>

void tts_help_list(FILE *out);

/* Prints on stderr that the command does not exist and suggests the nearest one, or says that
 * the word is a help topic. */
void tts_help_unknown(const char *word);
