#include "cli/message.h"

#include "cli/command.h"
#include "views/safe_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 5120 }; /* room for the longest path and the text */

void tts_message(const char *command, const char *format, ...)
{
    char text[MESSAGE_BYTES], safe[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tts_safe_text(safe, sizeof safe, text, sizeof text);
    fflush(stdout); /* Earlier output appears first. main checks stdout for errors. */
    fprintf(stderr, "ttscope%s%s: %s\n", command ? " " : "", command ? command : "", safe);
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

void tts_message_error(const char *command, const char *path, const struct tts_error *err)
{
    const char *shown = tts_message_path(path);
    if (names_its_file(err))
        tts_message(command, "%s", err->text);
    else if (err->line > 0)
        tts_message(command, "%s:%" PRIu32 ": %s", shown, err->line, err->text);
    else
        tts_message(command, "%s: %s", shown, err->text);
}

int tts_message_partial(const struct tts_partial_notes *notes, const char *command,
                        const char *path)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct tts_partial_note *note = &notes->note[i];
        if (note->line > 0)
            tts_message(command, "%s:%" PRIu64 ": %s", tts_message_path(path), note->line,
                        note->text);
        else
            tts_message(command, "%s: %s", tts_message_path(path), note->text);
    }
    return notes->count > 0 ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}
