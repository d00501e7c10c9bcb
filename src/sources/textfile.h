/* textfile.h: reads a small file into memory, as a whole. The caller owns the struct and
 * initializes it with zeros. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stddef.h>

struct tts_textfile {
    char *text; /* not terminated by a zero byte; NULL if len is 0 */
    size_t len;
    /* The following fields are private. */
    size_t capacity;
    const struct tts_alloc *alloc;
};

/* Reads a file. The path "-" means standard input. Reads at most max_bytes + 1 bytes, so that
 * the caller can detect a file that is too large. `alloc` may be NULL; then the C library
 * allocates. TTS_E_IO, TTS_E_NOMEM: err names the path, and *out is unchanged. */
TTS_NODISCARD enum tts_status tts_textfile_read(const char *path, size_t max_bytes,
                                                const struct tts_alloc *alloc,
                                                struct tts_textfile *out,
                                                struct tts_error *err);
void tts_textfile_release(struct tts_textfile *file); /* a zeroed struct is allowed */
