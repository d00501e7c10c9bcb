/* lines.h: reads a text file of a user line by line, in bounded memory. Call open, then next
 * until it returns TTS_E_NOT_FOUND, then close. The caller owns the struct. One thread at a
 * time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stddef.h>
#include <stdint.h>

enum { TTS_LINE_MAX_BYTES = 4096 };

struct tts_lines {
    const struct tts_alloc *alloc;
    char *buffer; /* unread bytes of the file; the size of the buffer is fixed */
    size_t begin, end;
    uint64_t line;   /* number of the last returned line, from 1 */
    uint64_t offset; /* byte offset of buffer[begin] in the file */
    int fd;
    int owns_fd;
    int at_end;
};

/* Opens a file. "-" is standard input. Returns TTS_E_IO if the file does not exist, is a
 * directory or cannot be read, and TTS_E_NOMEM if there is no memory. The error text names the
 * path and says what to do. */
TTS_NODISCARD enum tts_status tts_lines_open(struct tts_lines *lines, const char *path,
                                             const struct tts_alloc *alloc,
                                             struct tts_error *err);

/* Returns the next line without its "\n" or "\r\n", borrowed until the next call. A last line
 * without "\n" counts as a line. Returns TTS_E_NOT_FOUND if there are no more lines,
 * TTS_E_SYNTAX if the line is longer than TTS_LINE_MAX_BYTES or contains a NUL byte (then the
 * file is not a text file), TTS_E_IO if reading fails. err->line and err->offset tell the place
 * of the error. */
TTS_NODISCARD enum tts_status tts_lines_next(struct tts_lines *lines, const char **text,
                                             size_t *len, struct tts_error *err);

void tts_lines_close(struct tts_lines *lines);
