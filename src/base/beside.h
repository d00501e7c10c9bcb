/* beside.h: creates a new file with its own name in the directory of the file it will
 * replace. */
#pragma once

#include <sys/types.h>

enum { TTS_PATH_MAX = 4096 }; /* includes the terminator */

/* Creates a file beside `final` with `access` (O_WRONLY, O_RDWR). The system applies the umask.
 * Returns 0 or errno. *fd is closed on exec. */
int tts_beside_create(const char *final, int access, char temporary[TTS_PATH_MAX], int *fd);

/* Opens a new file without a name in the directory of `final`, with `access`. The file
 * disappears when it is closed. tts_beside_link() gives it the name `final` if no file has that
 * name (else EEXIST). Returns 0 or errno. EOPNOTSUPP: the file system does not support this, or
 * /proc is missing, which the link needs. */
int tts_beside_open(const char *final, int access, int *fd);
int tts_beside_link(int fd, const char *final);

/* Finds the final path of a file for `path`, with links followed, and the mode (st_mode) of the
 * writable file there. *mode is 0 if there is no file. Does not write `final` if the file is
 * not a regular file, because such a file must not be replaced. Returns 0 or errno. ENOENT also
 * means a link to nothing. */
int tts_beside_resolve(const char *path, char final[TTS_PATH_MAX], mode_t *mode);
