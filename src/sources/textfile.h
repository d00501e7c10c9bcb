/* textfile.h: a small file, whole, in memory. Caller's struct; start from a zeroed one. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stddef.h>

struct tts_textfile {
    char *text; /* not terminated; NULL with len 0 where there is nothing */
    size_t len;
    /* inside */
    size_t capacity;
    const struct tts_alloc *alloc;
};

/* "-" is standard input. At most max_bytes + 1 bytes are read, so that a reader sees that there
 * are too many. `alloc` NULL is the C library's. TTS_E_IO, TTS_E_NOMEM: err names the path, and
 * *out is as it was. */
TTS_NODISCARD enum tts_status tts_textfile_read(const char *path, size_t max_bytes,
                                                const struct tts_alloc *alloc,
                                                struct tts_textfile *out,
                                                struct tts_error *err);
void tts_textfile_release(struct tts_textfile *file); /* a zeroed one is fine */
