#include "base/outfile.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_TRIED = 100 };

static enum tts_status fail(const char *path, int sys_errno, struct tts_error *err)
{
    enum tts_status status = sys_errno == ENOMEM ? TTS_E_NOMEM : TTS_E_IO;
    if (strcmp(path, "-") == 0)
        return tts_error_set_errno(err, status, sys_errno, "cannot write to standard output");
    return tts_error_set_errno(err, status, sys_errno, "cannot write '%s'", path);
}

static char *copy_text(const char *text)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t bytes = strlen(text) + 1;
    char *copy = alloc->alloc(alloc->ctx, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static void free_text(char *text)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    if (text)
        alloc->free(alloc->ctx, text, strlen(text) + 1);
}

/* Opens a new file beside `final`; the system applies the umask. Returns errno, 0 when done. */
static int create_beside(const char *final, char temporary[PATH_MAX], int *fd)
{
    for (int i = 0; i < NAMES_TRIED; i++) {
        int len = snprintf(temporary, PATH_MAX, "%s.tmp-%ld-%d", final, (long)getpid(), i);
        if (len < 0 || len >= PATH_MAX)
            return ENAMETOOLONG;
        *fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

static int open_beside(struct tts_outfile *out, const char *final, const struct stat *replaced)
{
    char temporary[PATH_MAX];
    int fd;
    int reason = create_beside(final, temporary, &fd);
    if (reason != 0)
        return reason;
    if (replaced && fchmod(fd, replaced->st_mode & 07777) != 0) {
        reason = errno;
        goto out;
    }
    out->final_path = copy_text(final);
    out->temporary_path = copy_text(temporary);
    out->stream = out->final_path && out->temporary_path ? fdopen(fd, "w") : NULL;
    if (out->stream)
        return 0;
    reason = ENOMEM;
    free_text(out->final_path);
    free_text(out->temporary_path);
out:
    close(fd);
    unlink(temporary);
    return reason;
}

static int open_spool(struct tts_outfile *out, const char *path)
{
    bool is_stdout = strcmp(path, "-") == 0;
    out->spool_fd = is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                              : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (out->spool_fd < 0)
        return errno;
    out->stream = tmpfile();
    if (out->stream)
        return 0;
    int reason = errno;
    close(out->spool_fd);
    return reason;
}

enum tts_status tts_outfile_open(struct tts_outfile *out, const char *path,
                                 struct tts_error *err)
{
    struct tts_outfile opened = {.path = path};
    char resolved[PATH_MAX];
    struct stat info;
    int reason;
    if (strcmp(path, "-") == 0)
        reason = open_spool(&opened, path);
    else if (stat(path, &info) != 0)
        reason = errno == ENOENT && path[0] ? open_beside(&opened, path, NULL) : errno;
    else if (!S_ISREG(info.st_mode))
        reason = open_spool(&opened, path);
    else if (access(path, W_OK) != 0 || !realpath(path, resolved))
        reason = errno;
    else
        reason = open_beside(&opened, resolved, &info);
    if (reason != 0)
        return fail(path, reason, err);
    *out = opened;
    return TTS_OK;
}

/* Returns errno, 0 when all is written. */
static int write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t done = write(fd, bytes, len);
        if (done < 0 && errno != EINTR)
            return errno;
        if (done > 0) {
            bytes += done;
            len -= (size_t)done;
        }
    }
    return 0;
}

static int copy_spool(FILE *spool, int fd)
{
    char buffer[16 * 1024];
    fflush(stdout); /* what was said before comes before */
    rewind(spool);
    for (;;) {
        size_t got = fread(buffer, 1, sizeof buffer, spool);
        if (got == 0)
            return ferror(spool) ? EIO : 0;
        int reason = write_all(fd, buffer, got);
        if (reason != 0)
            return reason;
    }
}

enum tts_status tts_outfile_commit(struct tts_outfile *out, struct tts_error *err)
{
    /* A write that failed earlier has left its mark on the stream, but its errno is gone. */
    int reason = ferror(out->stream) ? EIO : 0;
    if (fflush(out->stream) != 0)
        reason = errno;
    if (reason == 0 && !out->temporary_path)
        reason = copy_spool(out->stream, out->spool_fd);
    if (fclose(out->stream) != 0 && reason == 0)
        reason = errno;
    out->stream = NULL;
    if (reason == 0 && out->temporary_path && rename(out->temporary_path, out->final_path) != 0)
        reason = errno;
    if (reason == 0) {
        free_text(out->temporary_path);
        out->temporary_path = NULL;
    }
    const char *path = out->path;
    tts_outfile_abandon(out);
    return reason == 0 ? TTS_OK : fail(path, reason, err);
}

void tts_outfile_abandon(struct tts_outfile *out)
{
    bool spooled = out->path && !out->final_path;
    if (out->stream)
        fclose(out->stream);
    if (spooled)
        close(out->spool_fd);
    if (out->temporary_path)
        unlink(out->temporary_path);
    free_text(out->temporary_path);
    free_text(out->final_path);
    *out = (struct tts_outfile){0};
}
