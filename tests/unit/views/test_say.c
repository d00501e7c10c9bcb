#include "harness/t.h"
#include "views/say.h"

#include <stdio.h>
#include <string.h>

enum { LINE = 80 };

/* Prints letters up to a column, and then `text`. Returns the output. */
static const char *said(size_t column, const char *text)
{
    static char out[512];
    char letters[LINE];
    memset(letters, 'x', sizeof letters);
    FILE *stream = fmemopen(out, sizeof out, "w");
    T_TRUE(stream != NULL && column < LINE);
    tts_say(stream, 0, "%.*s %s", (int)column, letters, text);
    T_EQ(fclose(stream), 0);
    return strchr(out, ' ') < strchr(out, '\n') ? strchr(out, ' ') + 1 : strchr(out, '\n');
}

T_TEST(what_is_glued_stays_on_one_line)
{
    T_STR_EQ(said(73, "12.50" TTS_SAY_GLUE "MB, more"), "\n  12.50 MB, more\n");
    T_STR_EQ(said(70, "12.50" TTS_SAY_GLUE "MB, more"), "12.50 MB,\n  more\n");
}

T_TEST(words_part_at_the_last_column)
{
    T_STR_EQ(said(73, "12.50 more"), "12.50\n  more\n");
    T_STR_EQ(said(74, "12.50 more"), "12.50\n  more\n");
    T_STR_EQ(said(75, "12.50 more"), "\n  12.50 more\n");
}
