/* recorder_file.h: the file of a recording. The file is created without a name and named later.
 * The recorder locks the file until it is closed, so that no other recorder uses the same
 * path. */
#pragma once

#include "base/beside.h"
#include "ttscope/status.h"

#include <stdbool.h>

struct tts_recorder_file {
    int fd;
    /* The file that will be replaced, locked; -1 if there is none. */
    int before_fd;
    bool is_named;           /* the file has its final name */
    char path[TTS_PATH_MAX]; /* final path, with links resolved */
    /* Temporary path before the file has its final name; "" if it has none. */
    char temporary[TTS_PATH_MAX];
};

/* Makes a new file in the directory of `path`. recorder_path.h describes the placeholders of
 * `path`. If there is a file at `path`, it must be a regular file that may be written, because
 * it will be replaced. Returns TTS_E_IO if the file cannot be made; `err` says why, and what to
 * do. Returns TTS_E_BUSY if another recorder uses the file, TTS_E_INVALID or TTS_E_RANGE if the
 * path is not valid. */
TTS_NODISCARD enum tts_status tts_recorder_file_make(struct tts_recorder_file *file,
                                                     const char *path, struct tts_error *err);
/* Gives the file its final name and replaces a file of that name. Returns TTS_E_IO if this
 * fails; `err` says why. Returns TTS_E_BUSY if another recorder was faster. */
TTS_NODISCARD enum tts_status tts_recorder_file_name(struct tts_recorder_file *file,
                                                     struct tts_error *err);
/* Closes the file, and removes the file if it has no final name. `is_child` is true in the
 * child of a fork: then the file and its lock belong to the parent process and stay. Returns 0
 * or an errno value. */
int tts_recorder_file_close(struct tts_recorder_file *file, bool is_child);

/* Writes to *err why the recording cannot begin or continue, and what to do. Returns TTS_E_IO,
 * or TTS_E_NOMEM for ENOMEM. */
enum tts_status tts_recorder_file_error(struct tts_error *err, int sys_errno, const char *path,
                                        bool has_begun);
