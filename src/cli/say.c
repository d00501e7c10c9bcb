#include "cli/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { COLUMNS = 80, SENTENCE_MAX = 1024 };

/* The glue in it is seen as a blank. */
static void put_word(FILE *out, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        fputc(word[i] == TTS_SAY_GLUE[0] ? ' ' : word[i], out);
}

void tts_say(FILE *out, unsigned indent, const char *format, ...)
{
    char text[SENTENCE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t column = indent;
    bool is_first = true;
    fprintf(out, "%*s", (int)indent, "");
    for (const char *word = text; *word;) {
        size_t len = strcspn(word, " ");
        if (!is_first && column + 1 + len > COLUMNS) {
            fprintf(out, "\n%*s", (int)indent + 2, "");
            column = indent + 2;
        } else if (!is_first) {
            fputc(' ', out);
            column++;
        }
        put_word(out, word, len);
        column += len;
        is_first = false;
        word += len + (word[len] == ' ');
    }
    fputc('\n', out);
}
