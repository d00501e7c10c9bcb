/* recorder_file.h: the file of a recording, from its birth without a name on. It is locked
 * until it is closed, so that no other recorder takes its path. */
#pragma once

#include "base/beside.h"
#include "ttscope/status.h"

#include <stdbool.h>

struct tts_recorder_file {
    int fd;
    int before_fd;                /* of the file that it will replace, locked; -1: none */
    bool is_named;                /* it has its own name */
    char path[TTS_PATH_MAX];      /* links resolved */
    char temporary[TTS_PATH_MAX]; /* until it is named; "": it has no name before that */
};

/* Makes a new file in the directory of `path` (recorder_path.h says what may stand in it),
 * which must be one that can be replaced: not there, or a regular file that may be written.
 * TTS_E_IO: err has why, and what to do. TTS_E_BUSY: another recorder has it. TTS_E_INVALID,
 * TTS_E_RANGE: the path. */
TTS_NODISCARD enum tts_status tts_recorder_file_make(struct tts_recorder_file *file,
                                                     const char *path, struct tts_error *err);
/* Takes the place of what was at its path. TTS_E_IO; TTS_E_BUSY: another recorder was quicker.
 */
TTS_NODISCARD enum tts_status tts_recorder_file_name(struct tts_recorder_file *file,
                                                     struct tts_error *err);
/* Closes the file; one that was not named is gone. `is_child`: the file and its lock are
 * another process's. Returns errno, 0 when done. */
int tts_recorder_file_close(struct tts_recorder_file *file, bool is_child);

/* TTS_E_IO, or TTS_E_NOMEM for ENOMEM: why nothing (more) can be recorded, and what to do. */
enum tts_status tts_recorder_file_error(struct tts_error *err, int sys_errno, const char *path,
                                        bool has_begun);
