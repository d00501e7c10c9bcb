#include "views/say.h"

#include "base/number.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS = 80, COLUMNS_MIN = 20, COLUMNS_MAX = 400, SENTENCE_MAX = 1024 };

/* How broken lines continue. */
struct layout {
    const char *mark; /* starts each further line; blanks follow up to `indent` */
    size_t indent, columns;
};

/* ---- breaking lines ---- */

/* Writes a word. Glue becomes a blank. */
static void say_word(FILE *out, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        fputc(word[i] == TTS_SAY_GLUE[0] ? ' ' : word[i], out);
}

/* Writes the words of a text, beginning at `column`, and ends the last line. */
static void say_words(FILE *out, const char *text, size_t column, const struct layout *layout)
{
    bool is_first = true;
    for (const char *word = text; *word;) {
        size_t len = strcspn(word, " ");
        if (!is_first && column + 1 + len > layout->columns) {
            fprintf(out, "\n%-*s", (int)layout->indent, layout->mark);
            column = layout->indent;
        } else if (!is_first) {
            fputc(' ', out);
            column++;
        }
        say_word(out, word, len);
        column += len;
        is_first = false;
        word += len + (word[len] == ' ');
    }
    fputc('\n', out);
}

void tts_say(FILE *out, unsigned indent, const char *format, ...)
{
    char text[SENTENCE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(out, "%*s", (int)indent, "");
    say_words(out, text, indent, &(struct layout){"", indent + 2, COLUMNS});
}

/* ---- the terminal ---- */

/* Returns the columns of standard output, or 0 if it is not a terminal. The environment takes
 * precedence over the terminal, as in other programs. */
static unsigned terminal_columns(void)
{
    struct winsize size = {0};
    uint64_t wanted = 0;
    const char *text = getenv("COLUMNS");
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (!text || tts_number_parse(text, strlen(text), &wanted) != TTS_OK || wanted == 0)
        wanted = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (wanted == 0)
        return COLUMNS;
    return wanted < COLUMNS_MIN   ? COLUMNS_MIN
           : wanted > COLUMNS_MAX ? COLUMNS_MAX
                                  : (unsigned)wanted;
}

unsigned tts_say_columns(void)
{
    unsigned columns = terminal_columns();
    return columns > COLUMNS ? columns : COLUMNS;
}

void tts_say_column(FILE *out, unsigned column, const char *text)
{
    say_words(out, text, column, &(struct layout){"", column, tts_say_columns()});
}

void tts_say_sentence(FILE *out, const char *mark, const char *text)
{
    unsigned columns = terminal_columns();
    size_t indent = strlen(mark);
    fputs(mark, out);
    if (columns == 0)
        fprintf(out, "%s\n", text);
    else
        say_words(out, text, indent, &(struct layout){mark, indent + 2, columns});
}
