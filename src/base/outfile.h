/* outfile.h: a file that appears complete or not at all. All output goes to an unnamed
 * temporary file until commit, so a program that ends early leaves nothing behind. Commit
 * writes a regular file beside its final path and renames it. Outputs that cannot be replaced
 * ("-" for standard output, a pipe, a terminal, /dev/null) are written to directly. A symbolic
 * link is followed, and a replaced file keeps its permissions. The caller owns the struct. One
 * thread at a time may use it. The caller ends each output with commit or abandon. */
#pragma once

#include "ttscope/status.h"

#include <stdio.h>

struct tts_outfile {
    FILE *stream;     /* write here; tts_outfile_commit() reports errors */
    const char *path; /* borrowed from open, for messages */
    char *final_path; /* path of the regular file to write, or NULL */
    int target_fd;    /* descriptor of an output that is not a regular file */
};

/* Opens an output. Returns TTS_E_IO if the path cannot be written, so that a command can fail
 * before it does any work. Returns TTS_E_NOMEM if there is no memory. */
TTS_NODISCARD enum tts_status tts_outfile_open(struct tts_outfile *out, const char *path,
                                               struct tts_error *err);
/* Writes the output to its path and closes it in every case. After a failure the file at the
 * path is unchanged. */
TTS_NODISCARD enum tts_status tts_outfile_commit(struct tts_outfile *out,
                                                 struct tts_error *err);
/* Discards the output. Does nothing after a commit and for a struct of zeros. */
void tts_outfile_abandon(struct tts_outfile *out);
