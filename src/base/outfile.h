/* outfile.h: a file that appears complete or not at all. All output goes to an unnamed
 * temporary file until commit, so a program that ends early leaves nothing behind. Commit
 * writes a regular file beside its final path and renames it. Targets that cannot be replaced
 * ("-" for standard output, a pipe, a terminal, /dev/null) are written to directly. A symbolic
 * link is followed, and a replaced file keeps its permissions. The caller owns
 * the struct. One thread at a time may use it. */
#pragma once

#include "ttscope/status.h"

#include <stdio.h>

struct tts_outfile {
    FILE *stream;     /* write here; tts_outfile_commit() reports errors */
    const char *path; /* borrowed from open, for messages */
    char *final_path; /* NULL if not a regular file */
    int target_fd;    /* target if not a regular file */
};

/* Opens an output. TTS_E_IO: the path cannot be written; this is checked before any work is
 * done. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_outfile_open(struct tts_outfile *out, const char *path,
                                               struct tts_error *err);
/* Writes the output to its path and closes it in every case. After a failure the path is as it
 * was before. */
TTS_NODISCARD enum tts_status tts_outfile_commit(struct tts_outfile *out,
                                                 struct tts_error *err);
/* Discards the output. Harmless after commit and on a zeroed struct. */
void tts_outfile_abandon(struct tts_outfile *out);
