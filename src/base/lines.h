/* lines.h: reads a foreign text file line by line, in bounded memory. Caller's memory: open,
 * next until TTS_E_NOT_FOUND, close. One thread. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stddef.h>
#include <stdint.h>

enum { TTS_LINE_MAX_BYTES = 4096 };

struct tts_lines {
    const struct tts_alloc *alloc;
    char *buffer; /* has a fixed size */
    size_t begin, end;
    uint64_t line;   /* number of the last returned line, from 1 */
    uint64_t offset; /* byte offset of buffer[begin] in the file */
    int fd;
    int owns_fd;
    int at_end;
};

/* Opens a file. "-" is standard input. TTS_E_IO: missing, a directory, or no permission.
 * TTS_E_NOMEM: out of memory. The error text names the path and what to do. */
TTS_NODISCARD enum tts_status tts_lines_open(struct tts_lines *lines, const char *path,
                                             const struct tts_alloc *alloc,
                                             struct tts_error *err);

/* Returns the next line without its "\n" or "\r\n", borrowed until the next call. A last line
 * without "\n" counts. TTS_E_NOT_FOUND: there are no more lines. TTS_E_SYNTAX: the line is
 * longer than TTS_LINE_MAX_BYTES or contains a NUL byte (not a text file). TTS_E_IO: the read
 * failed. err has the line and the offset. */
TTS_NODISCARD enum tts_status tts_lines_next(struct tts_lines *lines, const char **text,
                                             size_t *len, struct tts_error *err);

void tts_lines_close(struct tts_lines *lines);
