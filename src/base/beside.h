/* beside.h: creates a temporary file in the directory of the file that it will replace. */
#pragma once

#include <sys/types.h>

enum { TTS_PATH_MAX = 4096 }; /* maximum length of a path, including the terminator */

/* Creates a new file in the directory of `final` and opens it with `access` (O_WRONLY or
 * O_RDWR). Writes the path of the new file to `temporary` and its descriptor to *fd. The file
 * has `mode`, to which the umask applies, from the first moment. The descriptor is closed on
 * exec. Returns 0 or an errno value. */
int tts_beside_create(const char *final, int access, mode_t mode, char temporary[TTS_PATH_MAX],
                      int *fd);

/* tts_beside_open() opens a new file without a name in the directory of `final`, with `access`.
 * The file disappears when it is closed. tts_beside_link() gives such a file the name `final`.
 * Both functions return 0 or an errno value. tts_beside_open() returns EOPNOTSUPP if the file
 * system has no files without names, or if /proc is missing, because tts_beside_link() needs
 * /proc. tts_beside_link() returns EEXIST if a file has the name `final` already. */
int tts_beside_open(const char *final, int access, int *fd);
int tts_beside_link(int fd, const char *final);

/* Follows the symbolic links of `path`. Writes the path of the file to `final` and the mode of
 * the file (st_mode) to *mode. *mode is 0 if there is no file. Does not write `final` if the
 * file is not a regular file, because such a file must not be replaced. Returns 0 or an errno
 * value, for example EACCES if the file cannot be written and ENOENT if a link points to no
 * file. */
int tts_beside_resolve(const char *path, char final[TTS_PATH_MAX], mode_t *mode);
