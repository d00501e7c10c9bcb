/* hostfile.h: opens and reads files that the kernel or other processes write: below /proc, /sys
 * and /dev/shm. Only regular files are opened, so no device node is opened and no pipe is
 * waited for.
 *
 * Directories are descriptors that the caller owns and closes; they can only be used as the
 * start of a path. Any thread. Allocates nothing. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stat;

/* Opens a directory as the start of later paths. Follows links. Returns the descriptor, or -1
 * with errno set. tts_hostfile_open_root() opens the path `root` followed by `path`. */
int tts_hostfile_open_dir(int dir, const char *name);
int tts_hostfile_open_root(const char *root, const char *path);

/* Opens a regular file to read. The last part of `name` must not be a link. Returns the
 * descriptor, or -1 with errno set. */
int tts_hostfile_open(int dir, const char *name);

/* Opens a regular file through links, such as those of /proc/N/fd, and fills *info. The file is
 * pinned and checked before it is opened. Returns the descriptor, or -1 with errno set. */
int tts_hostfile_open_linked(int dir, const char *name, struct stat *info);

/* Like tts_hostfile_open_linked(), for a path that another user may have made: no part of the
 * path, links included, leads out of `dir`. An absolute path begins at `dir`. */
int tts_hostfile_open_beneath(int dir, const char *path, struct stat *info);

/* Reads the first `size` bytes of an open file, from its beginning. Returns their number, or -1
 * with errno set. */
ssize_t tts_hostfile_reread(int fd, char *out, size_t size);

/* Opens a file with tts_hostfile_open(), reads its first `size` bytes and closes it. Returns
 * the number of bytes, or -1 with errno set. */
ssize_t tts_hostfile_read(int dir, const char *name, char *out, size_t size);

/* A file that stays open between reads. Zeroed: not open. */
struct tts_keptfile {
    int fd_1; /* the descriptor + 1; 0: not open */
};

/* Like tts_hostfile_read(), but keeps the file open and opens it again only if it lost its name
 * or cannot be read. Costs three system calls if the file is open. */
ssize_t tts_keptfile_read(struct tts_keptfile *file, int dir, const char *name, char *out,
                          size_t size);
void tts_keptfile_close(struct tts_keptfile *file);
