#include "sources/eventfile.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The head tells which of the two it is, behind as many blanks. */
enum { COPY_BYTES = 1 << 16 };

struct tts_eventfile {
    int fd;
    bool owns_fd;
    uint64_t size;
    struct tts_recfile *recording;
    struct tts_graph *graph;
    struct tts_eventfile_watch watch; /* fn NULL: nobody watches */
    const struct tts_alloc *alloc;
};

static enum tts_status cannot_read(struct tts_error *err, const char *path)
{
    if (strcmp(path, "-") == 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read standard input");
    return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read '%s'", path);
}

/* What there is, 0 behind the last. Negative: errno says why. */
static ssize_t read_some(int fd, unsigned char *out, size_t len)
{
    ssize_t n;
    do
        n = read(fd, out, len);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Reads until `len` bytes are there or no more come. */
static ssize_t read_all(int fd, unsigned char *out, size_t len)
{
    size_t have = 0;
    while (have < len) {
        ssize_t n = read_some(fd, out + have, len - have);
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

static bool write_all(int fd, const unsigned char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static int unnamed_file(void)
{
    const char *dir = getenv("TMPDIR");
    return open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* The rest of a pipe, behind what was read of it, into a file without a name. -1: errno. */
static int spool(const struct tts_eventfile *file, const unsigned char *head, size_t len)
{
    unsigned char bytes[COPY_BYTES];
    uint64_t done = len;
    int copy = unnamed_file();
    if (copy < 0)
        return -1;
    bool ok = write_all(copy, head, len);
    ssize_t n = 0;
    while (ok && (n = read_some(file->fd, bytes, sizeof bytes)) > 0) {
        ok = write_all(copy, bytes, (size_t)n);
        done += (uint64_t)n;
        if (file->watch.fn)
            file->watch.fn(file->watch.ctx, done);
    }
    if (ok && n == 0)
        return copy;
    int sys_errno = errno;
    close(copy);
    errno = sys_errno;
    return -1;
}

/* A recording is read at any place, so it has to be a file: by the name that the system has for
 * a descriptor. */
static enum tts_status open_recording(struct tts_eventfile *file, const unsigned char *head,
                                      size_t len, struct tts_error *err)
{
    if (file->size == 0) {
        int copy = spool(file, head, len);
        if (copy < 0)
            return tts_error_set_errno(err, TTS_E_IO, errno,
                                       "cannot keep the recording in a temporary file");
        if (file->owns_fd)
            close(file->fd);
        file->fd = copy;
        file->owns_fd = true;
    }
    char name[sizeof "/proc/self/fd/" + 12];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file->fd);
    enum tts_status status = tts_recfile_open(name, file->alloc, &file->recording, err);
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, "out of memory"); /* without that name */
    if (status == TTS_OK)
        file->size = tts_recfile_info(file->recording)->file_bytes;
    return status;
}

static enum tts_status open_graph(struct tts_eventfile *file, const unsigned char *head,
                                  size_t len, struct tts_error *err)
{
    enum tts_status status =
        tts_graph_open(file->fd, head, len, file->alloc, &file->graph, err);
    if (status == TTS_OK)
        tts_graph_watch(file->graph, file->watch.fn, file->watch.ctx);
    return status;
}

static enum tts_status open_content(struct tts_eventfile *file, const char *path,
                                    struct tts_error *err)
{
    unsigned char head[TTS_EVENTFILE_HEAD];
    struct stat st;
    if (fstat(file->fd, &st) != 0)
        return cannot_read(err, path);
    file->size = S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    ssize_t len = read_all(file->fd, head, sizeof head);
    if (len < 0)
        return cannot_read(err, path);
    if (len == 0)
        return tts_error_set(err, TTS_E_SYNTAX, "is empty");
    if (tts_recfile_is_one(head, (size_t)len))
        return open_recording(file, head, (size_t)len, err);
    if (tts_graph_may_be(head, (size_t)len))
        return open_graph(file, head, (size_t)len, err);
    return tts_error_set(err, TTS_E_SYNTAX,
                         "is neither a recording (.tts) nor a graph trace (JSON)");
}

enum tts_status tts_eventfile_open(const char *path, const struct tts_eventfile_watch *watch,
                                   const struct tts_alloc *alloc, struct tts_eventfile **out,
                                   struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_eventfile *file = alloc->alloc(alloc->ctx, sizeof *file);
    if (!file)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    bool is_stdin = strcmp(path, "-") == 0;
    *file = (struct tts_eventfile){
        .fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
        .owns_fd = !is_stdin,
        .alloc = alloc,
    };
    if (watch)
        file->watch = *watch;
    enum tts_status status =
        file->fd < 0 ? cannot_read(err, path) : open_content(file, path, err);
    if (status != TTS_OK) {
        tts_eventfile_close(file);
        return status;
    }
    *out = file;
    return TTS_OK;
}

void tts_eventfile_close(struct tts_eventfile *file)
{
    if (!file)
        return;
    tts_recfile_close(file->recording);
    tts_graph_close(file->graph);
    if (file->owns_fd && file->fd >= 0)
        close(file->fd);
    file->alloc->free(file->alloc->ctx, file, sizeof *file);
}

enum tts_status tts_eventfile_next(struct tts_eventfile *file, struct tts_item *out,
                                   struct tts_error *err)
{
    return file->recording ? tts_recfile_next(file->recording, out, err)
                           : tts_graph_next(file->graph, out, err);
}

uint64_t tts_eventfile_tell(const struct tts_eventfile *file)
{
    return file->recording ? tts_recfile_tell(file->recording) : tts_graph_tell(file->graph);
}

uint64_t tts_eventfile_size(const struct tts_eventfile *file)
{
    return file->size;
}

struct tts_recfile *tts_eventfile_recording(struct tts_eventfile *file)
{
    return file->recording;
}

const struct tts_graph *tts_eventfile_graph(const struct tts_eventfile *file)
{
    return file->graph;
}
