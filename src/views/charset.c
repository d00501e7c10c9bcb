#include "views/charset.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool tts_charset_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !(value && value[0]); i++)
        value = getenv(names[i]);
    /* "de_DE.UTF-8@euro" */
    const char *charset = value ? strchr(value, '.') : NULL;
    if (!charset)
        return false;
    return strncasecmp(charset, ".UTF-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0;
}
