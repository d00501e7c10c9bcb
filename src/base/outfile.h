/* outfile.h: a file that appears whole or not at all.
 * Everything is spooled in an unnamed temporary file until commit, so a program that is ended
 * before leaves nothing behind. A regular file is then written beside its final path and
 * renamed over it; what cannot be replaced ("-" for standard output, a pipe, a terminal,
 * /dev/null) is written to. A symbolic link is followed, and a file that is replaced keeps its
 * permissions. Caller's memory; one thread. */
#pragma once

#include "ttscope/status.h"

#include <stdio.h>

struct tts_outfile {
    FILE *stream;     /* write here; errors are noticed by commit */
    const char *path; /* borrowed from open, for messages */
    char *final_path; /* NULL when not a regular file */
    int target_fd;    /* where it goes when not a regular file */
};

/* TTS_E_IO: cannot be written there, said before any work is done. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_outfile_open(struct tts_outfile *out, const char *path,
                                               struct tts_error *err);
/* Closes in every case; on failure nothing is left at the path that was not there before. */
TTS_NODISCARD enum tts_status tts_outfile_commit(struct tts_outfile *out,
                                                 struct tts_error *err);
/* Drop what was written. Harmless after commit and on a zeroed struct. */
void tts_outfile_abandon(struct tts_outfile *out);
