/* note.h: messages about a configuration: notes, and the error that ended the work. The caller
 * shows them; nothing here prints. Plain data: start from {0}. */
#pragma once

#include "base/compiler.h"
#include "ttscope/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    TTS_NOTES_MAX = 8,
    TTS_NOTE_TEXT_MAX = 2816, /* room for a path and a list of files */
};

struct tts_note {
    const char *path; /* path of the file, "-" for standard input. NULL: no file, or the text
                         names the file */
    uint32_t line;    /* 0: no line */
    char text[TTS_NOTE_TEXT_MAX];
};

struct tts_notes {
    struct tts_note list[TTS_NOTES_MAX];
    size_t count;
    struct tts_note error; /* set after a failure */
};

/* Adds a note. `path` is borrowed for the life of the notes. A note past TTS_NOTES_MAX is
 * dropped. */
void tts_notes_add(struct tts_notes *notes, const char *path, uint32_t line, const char *format,
                   ...) TTS_PRINTF(4, 5);

/* Sets the error and returns `status`. `path` is borrowed as above. By agreement
 * TTS_E_INVALID means that the caller asks for something impossible or not modelled; every
 * other status means that an input is wrong. */
enum tts_status tts_notes_fail(struct tts_notes *notes, enum tts_status status,
                               const char *path, uint32_t line, const char *format, ...)
    TTS_PRINTF(5, 6);

/* Sets the error that a reader of `path` returned. */
enum tts_status tts_notes_fail_read(struct tts_notes *notes, const char *path,
                                    const struct tts_error *err);
