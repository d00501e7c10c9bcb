#include "cli/message.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_BYTES = 1024 };

void tts_message(const char *command, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "ttscope%s%s: %s\n", command ? " " : "", command ? command : "", text);
}

void tts_message_error(const char *command, const char *path, const struct tts_error *err)
{
    if (err->line > 0)
        tts_message(command, "%s:%" PRIu32 ": %s", path, err->line, err->text);
    else
        tts_message(command, "%s", err->text);
}
