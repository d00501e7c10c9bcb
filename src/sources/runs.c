#include "sources/runs.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/peek.h"
#include "sources/eventfile.h"
#include "sources/inflow.h"
#include "sources/json_pull.h"
#include "sources/resultfile.h"
#include "sources/runs_inside.h"
#include "sources/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that was opened to see what it is; each reader opens it anew. */
struct input {
    const char *given, *path; /* the second as the readers are to open it */
    int fd;
    bool owns_fd;
    off_t start; /* of what is to be read */
    size_t len;
    unsigned char head[TTS_EVENTFILE_HEAD];
    char name[sizeof "/proc/self/fd/" + 12];
};

static enum tts_status cannot_read(struct tts_error *err, const char *path)
{
    if (strcmp(path, "-") == 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read standard input");
    return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read '%s'", path);
}

/* A pipe cannot be read twice: it becomes a file without a name. */
static enum tts_status keep_pipe(struct input *in, struct tts_error *err)
{
    const struct tts_eventfile_watch nobody = {0};
    int copy = tts_spool(in->fd, in->head, in->len, &nobody);
    if (copy < 0)
        return tts_error_set_errno(err, TTS_E_IO, errno,
                                   "cannot keep a pipe in a temporary file");
    if (in->owns_fd)
        close(in->fd);
    in->fd = copy;
    in->owns_fd = true;
    in->start = 0;
    snprintf(in->name, sizeof in->name, "/proc/self/fd/%d", copy);
    in->path = in->name;
    return TTS_OK;
}

static enum tts_status rewind_input(struct input *in, struct tts_error *err)
{
    if (lseek(in->fd, in->start, SEEK_SET) < 0)
        return cannot_read(err, in->path);
    return TTS_OK;
}

static enum tts_status look_at(struct input *in, struct tts_error *err)
{
    struct stat st;
    if (fstat(in->fd, &st) != 0)
        return cannot_read(err, in->path);
    in->start = S_ISREG(st.st_mode) ? lseek(in->fd, 0, SEEK_CUR) : -1;
    ssize_t len = tts_spool_read(in->fd, in->head, sizeof in->head);
    if (len < 0)
        return cannot_read(err, in->path);
    if (len == 0)
        return tts_error_set(err, TTS_E_NOT_FOUND, "is empty");
    in->len = (size_t)len;
    return in->start < 0 ? keep_pipe(in, err) : TTS_OK;
}

/* ---- results ---- */

/* From its start; the caller frees it. */
static enum tts_status pull_json(struct input *in, const struct tts_alloc *alloc,
                                 struct tts_jsonpull **out, struct tts_error *err)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf}; /* of UTF-8, by some editors */
    bool is_marked = in->len >= sizeof mark && memcmp(in->head, mark, sizeof mark) == 0;
    enum tts_status status = rewind_input(in, err);
    if (status != TTS_OK)
        return status;
    if (is_marked && lseek(in->fd, (off_t)sizeof mark, SEEK_CUR) < 0)
        return cannot_read(err, in->path);
    const struct tts_jsonpull_source source = {.fd = in->fd,
                                               .before_off = is_marked ? sizeof mark : 0};
    return tts_jsonpull_new(&source, alloc, out, err);
}

static enum tts_status is_result(struct input *in, const struct tts_alloc *alloc, bool *out,
                                 struct tts_error *err)
{
    struct tts_jsonpull *json;
    enum tts_status status = pull_json(in, alloc, &json, err);
    if (status != TTS_OK)
        return status;
    *out = tts_result_is_one(json);
    tts_jsonpull_free(json);
    return TTS_OK;
}

static enum tts_status load_result(struct input *in, const struct tts_alloc *alloc,
                                   struct tts_runs *out, struct tts_error *err)
{
    struct tts_jsonpull *json;
    enum tts_status status = pull_json(in, alloc, &json, err);
    if (status != TTS_OK)
        return status;
    status = tts_result_read(json, alloc, out, err);
    tts_jsonpull_free(json);
    return status;
}

/* ---- is it worth a try? ---- */

static ssize_t peek_stdin(void *out, size_t size)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) != 0)
        return -1;
    if (S_ISFIFO(st.st_mode))
        return tts_peek_pipe(STDIN_FILENO, out, size);
    return S_ISREG(st.st_mode)
               ? pread(STDIN_FILENO, out, size, lseek(STDIN_FILENO, 0, SEEK_CUR))
               : -1;
}

/* Only regular files are opened: a named pipe that is opened and closed loses its writer. */
static ssize_t peek_file(const char *path, void *out, size_t size)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    ssize_t len = pread(fd, out, size, 0);
    close(fd);
    return len;
}

bool tts_runs_may_be_saved(const char *path)
{
    unsigned char head[64];
    ssize_t len = strcmp(path, "-") == 0 ? peek_stdin(head, sizeof head)
                                         : peek_file(path, head, sizeof head);
    return len > 0 && (head[0] == '{' || tts_recfile_is_one(head, (size_t)len));
}

/* ---- all kinds ---- */

/* A graph trace is JSON too, so that question comes behind the other two. */
static enum tts_status kind_of(struct input *in, const struct tts_alloc *alloc,
                               enum tts_runs_kind *out, struct tts_error *err)
{
    bool is_ours = false;
    *out = TTS_RUNS_EVENTS;
    if (tts_recfile_is_one(in->head, in->len))
        return TTS_OK;
    if (!tts_graph_may_be(in->head, in->len)) {
        *out = TTS_RUNS_LOG;
        return TTS_OK;
    }
    enum tts_status status = is_result(in, alloc, &is_ours, err);
    if (is_ours)
        *out = TTS_RUNS_RESULT;
    return status;
}

static enum tts_status settle(struct tts_runs_room *room, enum tts_runs_kind kind,
                              struct tts_runs *out, struct tts_error *err)
{
    struct tts_runs runs;
    enum tts_status status = tts_runs_settle(room, kind, &runs);
    if (status != TTS_OK)
        return tts_error_set(err, status, "out of memory");
    if (runs.count == 0) {
        tts_runs_release(&runs);
        return tts_error_set(err, TTS_E_NOT_FOUND, "its memory summary has no phase");
    }
    *out = runs;
    return TTS_OK;
}

static enum tts_status load_log(struct input *in, const struct tts_alloc *alloc,
                                struct tts_runs *out, struct tts_error *err)
{
    struct tts_runs_room room = {.alloc = alloc};
    enum tts_status status = rewind_input(in, err);
    if (status == TTS_OK)
        status = tts_runs_of_log(in->path, &room, err);
    if (status == TTS_E_NOT_FOUND && tts_inflow_is_compressed(in->head, in->len))
        tts_error_set(err, status,
                      "no memory summary in it; of compressed files only logs and graph "
                      "traces are read");
    for (size_t i = 0; i < room.count; i++)
        tts_runs_put_file(&room.entries[i].run, in->given);
    if (status == TTS_OK)
        status = settle(&room, TTS_RUNS_LOG, out, err);
    tts_runs_room_release(&room);
    return status;
}

static enum tts_status load_events(struct input *in, const struct tts_alloc *alloc,
                                   struct tts_runs *out, struct tts_error *err)
{
    struct tts_runs_room room = {.alloc = alloc};
    enum tts_status status = rewind_input(in, err);
    if (status == TTS_OK)
        status = tts_runs_of_events(in->path, &room, err);
    if (status == TTS_OK)
        status = settle(&room, TTS_RUNS_EVENTS, out, err);
    tts_runs_room_release(&room);
    return status;
}

/* Launchers put "[rank0]: " before each line, and some logs begin with a line of JSON: what is
 * no graph trace may be a log. If it is none either, it is a trace that is broken. */
static enum tts_status load_trace(struct input *in, const struct tts_alloc *alloc,
                                  struct tts_runs *out, struct tts_error *err)
{
    struct tts_error why = {0}, ignored = {0};
    enum tts_status status = load_events(in, alloc, out, &why);
    if (status == TTS_OK)
        return TTS_OK;
    bool is_known = status == TTS_E_NOMEM || status == TTS_E_IO;
    enum tts_status again = is_known ? status : load_log(in, alloc, out, &ignored);
    if (again == TTS_OK)
        return TTS_OK;
    if (err)
        *err = again == TTS_E_NOMEM && !is_known ? ignored : why;
    return again == TTS_E_NOMEM ? again : status;
}

/* A compressed file is a log, or a graph trace. */
static enum tts_status load_compressed(struct input *in, const struct tts_alloc *alloc,
                                       struct tts_runs *out, struct tts_error *err)
{
    struct tts_error ignored = {0};
    enum tts_status status = load_log(in, alloc, out, err);
    if (status != TTS_E_NOT_FOUND)
        return status;
    enum tts_status again = load_events(in, alloc, out, &ignored);
    return again == TTS_OK ? again : status;
}

static enum tts_status load(struct input *in, const struct tts_alloc *alloc,
                            struct tts_runs *out, struct tts_error *err)
{
    enum tts_runs_kind kind;
    enum tts_status status = look_at(in, err);
    if (status == TTS_OK)
        status = kind_of(in, alloc, &kind, err);
    if (status != TTS_OK)
        return status;
    if (kind == TTS_RUNS_RESULT)
        return load_result(in, alloc, out, err);
    if (tts_inflow_is_compressed(in->head, in->len))
        return load_compressed(in, alloc, out, err);
    if (kind == TTS_RUNS_LOG)
        return load_log(in, alloc, out, err);
    return tts_recfile_is_one(in->head, in->len) ? load_events(in, alloc, out, err)
                                                 : load_trace(in, alloc, out, err);
}

enum tts_status tts_runs_load(const char *path, const struct tts_alloc *alloc,
                              struct tts_runs *out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct input *in = alloc->alloc(alloc->ctx, sizeof *in);
    if (!in)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    bool is_stdin = strcmp(path, "-") == 0;
    in->given = in->path = path;
    in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    in->owns_fd = !is_stdin;
    enum tts_status status = in->fd < 0 ? cannot_read(err, path) : load(in, alloc, out, err);
    if (in->owns_fd && in->fd >= 0)
        close(in->fd);
    alloc->free(alloc->ctx, in, sizeof *in);
    return status;
}
