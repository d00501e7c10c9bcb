#include "views/say.h"

#include "base/number.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS = 80, COLUMNS_MIN = 20, COLUMNS_MAX = 400, SENTENCE_MAX = 1024 };

/* How broken lines continue. */
struct layout {
    const char *mark;       /* starts each further line; blanks follow up to `indent` */
    size_t indent, columns; /* `indent` is at least the length of the mark */
};

/* ---- the terminal ---- */

/* Returns the columns of a file, or 0 if it is not a terminal. The environment takes
 * precedence over the terminal, as in other programs. */
static unsigned terminal_columns(int fd)
{
    struct winsize size = {0};
    uint64_t wanted = 0;
    const char *text = getenv("COLUMNS");
    if (!isatty(fd))
        return 0;
    if (!text || tts_number_parse(text, strlen(text), &wanted) != TTS_OK || wanted == 0)
        wanted = ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (wanted == 0)
        return COLUMNS;
    return wanted < COLUMNS_MIN   ? COLUMNS_MIN
           : wanted > COLUMNS_MAX ? COLUMNS_MAX
                                  : (unsigned)wanted;
}

/* ---- breaking lines ---- */

static void say_blanks(FILE *out, size_t count)
{
    while (count-- > 0)
        fputc(' ', out);
}

/* Writes a part of a text. Glue becomes a blank. */
static void say_part(FILE *out, const char *text, size_t len)
{
    while (len > 0) {
        const char *glue = memchr(text, TTS_SAY_GLUE[0], len);
        size_t plain = glue ? (size_t)(glue - text) : len;
        fwrite(text, 1, plain, out);
        if (glue)
            fputc(' ', out);
        text += plain + (glue != NULL);
        len -= plain + (glue != NULL);
    }
}

/* Writes the words of a text, beginning at `column`, and ends the last line. */
static void say_words(FILE *out, const char *text, size_t column, const struct layout *layout)
{
    const char *line = text, *end = text; /* the words of the line that is not written yet */
    for (const char *word = text; *word;) {
        const char *blank = strchrnul(word, ' ');
        size_t len = (size_t)(blank - word);
        if (word != text && column + 1 + len > layout->columns) {
            say_part(out, line, (size_t)(end - line));
            fputc('\n', out);
            fputs(layout->mark, out);
            say_blanks(out, layout->indent - strlen(layout->mark));
            column = layout->indent;
            line = word;
        } else if (word != text) {
            column++;
        }
        column += len;
        end = blank;
        word = blank + (*blank == ' ');
    }
    say_part(out, line, (size_t)(end - line));
    fputc('\n', out);
}

void tts_say_text(FILE *out, unsigned indent, const char *text)
{
    unsigned columns = terminal_columns(STDOUT_FILENO);
    say_blanks(out, indent);
    say_words(
        out, text, indent,
        &(struct layout){"", indent + 2, columns && columns < COLUMNS ? columns : COLUMNS});
}

void tts_say(FILE *out, unsigned indent, const char *format, ...)
{
    char text[SENTENCE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tts_say_text(out, indent, text);
}

/* ---- text for the terminal ---- */

unsigned tts_say_columns(void)
{
    unsigned columns = terminal_columns(STDOUT_FILENO);
    return columns > COLUMNS ? columns : COLUMNS;
}

unsigned tts_say_row_columns(void)
{
    unsigned columns = terminal_columns(STDOUT_FILENO);
    return columns ? columns : UINT_MAX;
}

void tts_say_line(FILE *out, const char *text)
{
    unsigned columns = terminal_columns(fileno(out));
    if (columns == 0)
        fprintf(out, "%s\n", text);
    else
        say_words(out, text, 0, &(struct layout){"", 2, columns});
}

void tts_say_within(FILE *out, unsigned column, unsigned columns, const char *text)
{
    say_words(out, text, column, &(struct layout){"", column, columns});
}

void tts_say_column(FILE *out, unsigned column, const char *text)
{
    tts_say_within(out, column, tts_say_columns(), text);
}

void tts_say_sentence(FILE *out, const char *mark, const char *text)
{
    unsigned columns = terminal_columns(STDOUT_FILENO);
    size_t indent = strlen(mark);
    fputs(mark, out);
    if (columns == 0)
        fprintf(out, "%s\n", text);
    else
        say_words(out, text, indent, &(struct layout){mark, indent + 2, columns});
}
