/* beside.h: a new file under a name of its own, in the directory of the one it will replace. */
#pragma once

#include <sys/types.h>

enum { TTS_PATH_MAX = 4096 }; /* with the terminator */

/* Opens it with `access` (O_WRONLY, O_RDWR); the system applies the umask. Returns errno, 0
 * when done; *fd is closed on exec. */
int tts_beside_create(const char *final, int access, char temporary[TTS_PATH_MAX], int *fd);

/* Opens a new file without a name in the directory of `final`, with `access`; it is gone when
 * it is closed. tts_beside_link() gives it the name `final`, if no file has that name (EEXIST).
 * Returns errno, 0 when done; EOPNOTSUPP: the file system cannot do it, or /proc is not there
 * to link the file by. */
int tts_beside_open(const char *final, int access, int *fd);
int tts_beside_link(int fd, const char *final);

/* Where a file for `path` will stand, links followed, and the mode (st_mode) of what is there
 * and may be written, 0: nothing. `final` is not written where that is no regular file, which
 * is not to be replaced. Returns errno, 0 when done; ENOENT also for a link to nothing. */
int tts_beside_resolve(const char *path, char final[TTS_PATH_MAX], mode_t *mode);
