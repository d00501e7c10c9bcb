#include "plan/note.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static TTS_PRINTF(4, 0) void fill_note(struct tts_note *note, const char *path, uint32_t line,
                                       const char *format, va_list args)
{
    note->path = path;
    note->line = line;
    vsnprintf(note->text, sizeof note->text, format, args);
}

void tts_notes_add(struct tts_notes *notes, const char *path, uint32_t line, const char *format,
                   ...)
{
    va_list args;
    if (notes->count == TTS_NOTES_MAX)
        return;
    va_start(args, format);
    fill_note(&notes->list[notes->count++], path, line, format, args);
    va_end(args);
}

enum tts_status tts_notes_fail(struct tts_notes *notes, enum tts_status status,
                               const char *path, uint32_t line, const char *format, ...)
{
    va_list args;
    assert(status != TTS_OK);
    va_start(args, format);
    fill_note(&notes->error, path, line, format, args);
    va_end(args);
    return status;
}

enum tts_status tts_notes_fail_read(struct tts_notes *notes, const char *path,
                                    const struct tts_error *err)
{
    /* Errors of the system already name the file: "cannot read 'x.yaml': no such file or
     * directory". */
    bool names_file =
        err->status == TTS_E_IO && (strchr(err->text, '\'') || strstr(err->text, "standard "));
    return tts_notes_fail(notes, err->status == TTS_E_INVALID ? TTS_E_SYNTAX : err->status,
                          names_file ? NULL : path, names_file ? 0 : err->line, "%s",
                          err->text);
}
