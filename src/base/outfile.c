#include "base/outfile.h"

#include "base/beside.h"
#include "base/error.h"
#include "base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum tts_status fail_output(const char *path, int sys_errno, struct tts_error *err)
{
    enum tts_status status = sys_errno == ENOMEM ? TTS_E_NOMEM : TTS_E_IO;
    if (strcmp(path, "-") == 0)
        return tts_error_set_errno(err, status, sys_errno, "cannot write to standard output");
    return tts_error_set_errno(err, status, sys_errno, "cannot write '%s'", path);
}

static char *copy_path_text(const char *text)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t bytes = strlen(text) + 1;
    char *copy = alloc->alloc(alloc->ctx, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static void free_path_text(char *text)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    if (text)
        alloc->free(alloc->ctx, text, strlen(text) + 1);
}

/* Checks whether a file can be created in the directory of the path, by creating a temporary
 * one. Returns 0 or an errno value. */
static int try_beside(const char *final)
{
    char temporary[TTS_PATH_MAX];
    int fd;
    int reason = tts_beside_create(final, O_WRONLY, 0666, temporary, &fd);
    if (reason == 0) {
        close(fd);
        unlink(temporary);
    }
    return reason;
}

static int open_regular(struct tts_outfile *out, const char *final)
{
    int reason = try_beside(final);
    if (reason != 0)
        return reason;
    out->target_fd = -1;
    out->final_path = copy_path_text(final);
    return out->final_path ? 0 : ENOMEM;
}

static int open_target(struct tts_outfile *out, const char *path)
{
    bool is_stdout = strcmp(path, "-") == 0;
    out->target_fd = is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                               : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return out->target_fd < 0 ? errno : 0;
}

/* Returns 0 or errno. */
static int open_final(struct tts_outfile *out, const char *path)
{
    char final[TTS_PATH_MAX];
    mode_t mode;
    if (strcmp(path, "-") == 0)
        return open_target(out, path);
    int reason = tts_beside_resolve(path, final, &mode);
    if (reason != 0)
        return reason;
    return mode == 0 || S_ISREG(mode) ? open_regular(out, final) : open_target(out, path);
}

enum tts_status tts_outfile_open(struct tts_outfile *out, const char *path,
                                 struct tts_error *err)
{
    struct tts_outfile opened = {.path = path, .target_fd = -1};
    int reason = open_final(&opened, path);
    if (reason == 0) {
        opened.stream = tmpfile();
        reason = opened.stream ? 0 : errno;
    }
    if (reason != 0) {
        tts_outfile_abandon(&opened);
        return fail_output(path, reason, err);
    }
    *out = opened;
    return TTS_OK;
}

/* Writes all bytes. Returns 0 or errno. */
static int write_all_bytes(int fd, const char *bytes, size_t len)
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
    fflush(stdout); /* so that earlier output of stdio comes first */
    rewind(spool);
    for (;;) {
        size_t got = fread(buffer, 1, sizeof buffer, spool);
        if (got == 0)
            return ferror(spool) ? EIO : 0;
        int reason = write_all_bytes(fd, buffer, got);
        if (reason != 0)
            return reason;
    }
}

/* Moves the file to its final path. Returns 0 or errno. */
static int replace_target(FILE *spool, const char *final)
{
    char temporary[TTS_PATH_MAX];
    struct stat old;
    int fd;
    int reason = tts_beside_create(final, O_WRONLY, 0666, temporary, &fd);
    if (reason != 0)
        return reason;
    if (stat(final, &old) == 0 && fchmod(fd, old.st_mode & 0777) != 0)
        reason = errno;
    if (reason == 0)
        reason = copy_spool(spool, fd);
    if (close(fd) != 0 && reason == 0)
        reason = errno;
    if (reason == 0 && rename(temporary, final) != 0)
        reason = errno;
    if (reason != 0)
        unlink(temporary);
    return reason;
}

enum tts_status tts_outfile_commit(struct tts_outfile *out, struct tts_error *err)
{
    /* If an earlier write failed, the error flag of the stream is set, but the errno of that
     * write is lost. */
    int reason = ferror(out->stream) ? EIO : 0;
    if (fflush(out->stream) != 0)
        reason = errno;
    if (reason == 0)
        reason = out->final_path ? replace_target(out->stream, out->final_path)
                                 : copy_spool(out->stream, out->target_fd);
    const char *path = out->path;
    tts_outfile_abandon(out);
    return reason == 0 ? TTS_OK : fail_output(path, reason, err);
}

void tts_outfile_abandon(struct tts_outfile *out)
{
    if (out->stream)
        fclose(out->stream);
    if (out->path && out->target_fd >= 0)
        close(out->target_fd);
    free_path_text(out->final_path);
    *out = (struct tts_outfile){0};
}
