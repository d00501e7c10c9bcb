/* charset.h: may output have more than ASCII? */
#pragma once

#include <stdbool.h>

/* As LC_ALL, LC_CTYPE or LANG say, the first of them that is set and not empty. */
bool tts_charset_is_utf8(void);
