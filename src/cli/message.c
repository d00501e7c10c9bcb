#include "cli/message.h"

#include "cli/command.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 5120 }; /* room for the longest path and the text */

void tts_message(const char *command, const char *format, ...)
{
    char text[MESSAGE_BYTES], safe[MESSAGE_BYTES], line[MESSAGE_BYTES + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tts_safe_text(safe, sizeof safe, text, sizeof text);
    fflush(stdout); /* Earlier output appears first. main checks stdout for errors. */
    snprintf(line, sizeof line, "ttscope%s%s: %s", command ? " " : "", command ? command : "",
             safe);
    tts_say_line(stderr, line);
}

const char *tts_message_path(const char *path)
{
    return tts_shown_path(path);
}

/* Returns true if the text already names the file: "cannot read 'x.txt': ...", "cannot write to
 * standard output: ...". */
static bool names_its_file(const struct tts_error *err)
{
    return err->status == TTS_E_IO &&
           (strchr(err->text, '\'') || strstr(err->text, "standard "));
}

void tts_message_at(const char *command, const char *path, uint64_t line, const char *text)
{
    if (line > 0)
        tts_message(command, "%s:%" PRIu64 ": %s", tts_shown_path(path), line, text);
    else
        tts_message(command, "%s: %s", tts_shown_path(path), text);
}

void tts_message_error(const char *command, const char *path, const struct tts_error *err)
{
    if (names_its_file(err))
        tts_message(command, "%s", err->text);
    else
        tts_message_at(command, path, err->line, err->text);
}

int tts_message_partial(const struct tts_partial_notes *notes, const char *command,
                        const char *path)
{
    for (size_t i = 0; i < notes->count; i++)
        tts_message_at(command, path, notes->note[i].line, notes->note[i].text);
    return notes->count > 0 ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}
