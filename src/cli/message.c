#include "cli/message.h"

#include "views/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024 };

/* Foreign bytes that a terminal would obey, or cannot show, become '?'. */
static void make_safe(char *text)
{
    size_t len = strlen(text), to = 0;
    for (size_t from = 0; from < len;) {
        uint32_t code;
        size_t used = tts_utf8_next(text + from, len - from, &code);
        bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        if (control || code == TTS_UTF8_REPLACEMENT) {
            text[to++] = '?';
        } else {
            memmove(text + to, text + from, used);
            to += used;
        }
        from += used;
    }
    text[to] = '\0';
}

void tts_message(const char *command, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    make_safe(text);
    fflush(stdout); /* what came before is seen before; main asks for its errors */
    fprintf(stderr, "ttscope%s%s: %s\n", command ? " " : "", command ? command : "", text);
}

void tts_message_error(const char *command, const char *path, const struct tts_error *err)
{
    if (err->line > 0)
        tts_message(command, "%s:%" PRIu32 ": %s", path, err->line, err->text);
    else
        tts_message(command, "%s", err->text);
}
