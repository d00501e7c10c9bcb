/* recorder_file.h: the file of a recording. It is created without a name and named later. It is
 * locked until it is closed, so that no other recorder takes its path. */
#pragma once

#include "base/beside.h"
#include "ttscope/status.h"

#include <stdbool.h>

struct tts_recorder_file {
    int fd;
    int before_fd;                /* the file to be replaced, locked; -1: none */
    bool is_named;                /* the file has its final name */
    char path[TTS_PATH_MAX];      /* with links resolved */
    char temporary[TTS_PATH_MAX]; /* name until the file is named; "": no name until then */
};

/* Makes a new file in the directory of `path`. recorder_path.h describes the placeholders of
 * `path`. A file at `path` must be replaceable: a regular file that may be written. TTS_E_IO:
 * `err` says why, and what to do. TTS_E_BUSY: another recorder has the file. TTS_E_INVALID,
 * TTS_E_RANGE: the path is not valid. */
TTS_NODISCARD enum tts_status tts_recorder_file_make(struct tts_recorder_file *file,
                                                     const char *path, struct tts_error *err);
/* Gives the file its name and replaces a file of that name. TTS_E_IO: `err` says why.
 * TTS_E_BUSY: another recorder was faster. */
TTS_NODISCARD enum tts_status tts_recorder_file_name(struct tts_recorder_file *file,
                                                     struct tts_error *err);
/* Closes the file; removes a file that was not named. `is_child`: the file and its lock belong
 * to the parent process. Returns 0 or an errno value. */
int tts_recorder_file_close(struct tts_recorder_file *file, bool is_child);

/* Sets `err`: why nothing more can be recorded, and what to do. Returns TTS_E_IO, or
 * TTS_E_NOMEM for ENOMEM. */
enum tts_status tts_recorder_file_error(struct tts_error *err, int sys_errno, const char *path,
                                        bool has_begun);
