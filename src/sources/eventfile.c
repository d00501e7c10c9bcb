#include "sources/eventfile.h"

#include "base/error.h"
#include "base/heap.h"
#include "sources/inflow.h"
#include "sources/spool.h"
#include "ttscope/chip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tts_eventfile {
    int fd;
    bool owns_fd;
    uint64_t size;
    struct tts_recfile *recording;
    struct tts_graph *graph;
    bool has_items;
    uint64_t last_seq; /* of the last item */
    struct tts_eventfile_gaps gaps;
    struct tts_inflow *inflow;        /* of a compressed trace */
    struct tts_eventfile_watch watch; /* fn NULL: nobody watches */
    const struct tts_alloc *alloc;
};

static enum tts_status cannot_read(struct tts_error *err, const char *path)
{
    if (strcmp(path, "-") == 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read standard input");
    return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read '%s'", path);
}

/* A recording is read at any place, so it has to be a file: by the name that the system has for
 * a descriptor. */
static enum tts_status open_recording(struct tts_eventfile *file, const unsigned char *head,
                                      size_t len, struct tts_error *err)
{
    if (file->size == 0) {
        int copy = tts_spool(file->fd, head, len, &file->watch);
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

static enum tts_status open_graph(struct tts_eventfile *file,
                                  const struct tts_jsonpull_source *source,
                                  struct tts_error *err)
{
    enum tts_status status = tts_graph_open_from(source, file->alloc, &file->graph, err);
    if (status == TTS_OK)
        tts_graph_watch(file->graph, file->watch.fn, file->watch.ctx);
    return status;
}

static enum tts_status read_inflow(void *ctx, void *out, size_t room, size_t *got,
                                   struct tts_error *err)
{
    return tts_inflow_read(ctx, out, room, got, err);
}

/* A graph trace, compressed: `head` are the first bytes of the file. */
static enum tts_status open_compressed(struct tts_eventfile *file, const unsigned char *head,
                                       size_t len, struct tts_error *err)
{
    unsigned char first[TTS_EVENTFILE_HEAD];
    struct tts_jsonpull_source source = {.before = first, .fd = -1, .read = read_inflow};
    enum tts_status status =
        tts_inflow_adopt(file->fd, head, len, file->alloc, &file->inflow, err);
    size_t got = 1;
    file->size = 0; /* of what comes out it is not known */
    source.ctx = file->inflow;
    while (status == TTS_OK && got > 0 && source.before_len < sizeof first) {
        status = tts_inflow_read(file->inflow, first + source.before_len,
                                 sizeof first - source.before_len, &got, err);
        source.before_len += status == TTS_OK ? got : 0;
    }
    if (status != TTS_OK && source.before_len == 0)
        return status;
    if (tts_recfile_is_one(first, source.before_len))
        return tts_error_set(err, TTS_E_SYNTAX,
                             "is a compressed recording: decompress it first ('ttscope pack' "
                             "makes recordings small)");
    if (tts_graph_may_be(first, source.before_len))
        return open_graph(file, &source, err);
    return tts_error_set(err, TTS_E_SYNTAX, "is compressed, and not a graph trace (JSON)");
}

static enum tts_status open_content(struct tts_eventfile *file, const char *path,
                                    struct tts_error *err)
{
    unsigned char head[TTS_EVENTFILE_HEAD];
    struct stat st;
    if (fstat(file->fd, &st) != 0)
        return cannot_read(err, path);
    file->size = S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    ssize_t len = tts_spool_read(file->fd, head, sizeof head);
    if (len < 0)
        return cannot_read(err, path);
    if (len == 0)
        return tts_error_set(err, TTS_E_SYNTAX, "is empty");
    if (tts_recfile_is_one(head, (size_t)len))
        return open_recording(file, head, (size_t)len, err);
    if (tts_graph_may_be(head, (size_t)len))
        return open_graph(file,
                          &(struct tts_jsonpull_source){
                              .before = head, .before_len = (size_t)len, .fd = file->fd},
                          err);
    if (tts_inflow_is_compressed(head, (size_t)len))
        return open_compressed(file, head, (size_t)len, err);
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

enum tts_status tts_eventfile_open_recording(const char *path,
                                             const struct tts_eventfile_watch *watch,
                                             const struct tts_alloc *alloc,
                                             struct tts_eventfile **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_eventfile *file = alloc->alloc(alloc->ctx, sizeof *file);
    if (!file)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    *file = (struct tts_eventfile){.fd = -1, .watch = *watch, .alloc = alloc};
    enum tts_status status = tts_recfile_open(path, alloc, &file->recording, err);
    if (status != TTS_OK) {
        tts_eventfile_close(file);
        return status;
    }
    file->size = tts_recfile_info(file->recording)->file_bytes;
    *out = file;
    return TTS_OK;
}

void tts_eventfile_close(struct tts_eventfile *file)
{
    if (!file)
        return;
    tts_recfile_close(file->recording);
    tts_graph_close(file->graph);
    tts_inflow_close(file->inflow);
    if (file->owns_fd && file->fd >= 0)
        close(file->fd);
    file->alloc->free(file->alloc->ctx, file, sizeof *file);
}

enum tts_status tts_eventfile_resume(struct tts_eventfile *file, const struct tts_error *damage)
{
    uint64_t missing;
    struct tts_eventfile_gaps *gaps = &file->gaps;
    if (!file->recording || tts_recfile_resume(file->recording, &missing) != TTS_OK)
        return TTS_E_NOT_FOUND;
    if (gaps->count++ == 0) {
        gaps->first = *damage;
        gaps->first_after =
            file->has_items ? file->last_seq : tts_recfile_info(file->recording)->first_seq;
        gaps->first_events = missing;
    }
    gaps->events += missing;
    return TTS_OK;
}

const struct tts_eventfile_gaps *tts_eventfile_gaps(const struct tts_eventfile *file)
{
    return &file->gaps;
}

static enum tts_status next_recorded(struct tts_eventfile *file, struct tts_item *out,
                                     struct tts_error *err)
{
    struct tts_error damage;
    enum tts_status status = tts_recfile_next(file->recording, out, &damage);
    while (status == TTS_E_SYNTAX && !file->has_items &&
           tts_eventfile_resume(file, &damage) == TTS_OK)
        status = tts_recfile_next(file->recording, out, &damage);
    if (status == TTS_OK) {
        file->has_items = true;
        file->last_seq = out->seq;
    } else if (err && status != TTS_E_NOT_FOUND) {
        *err = damage;
    }
    return status;
}

enum tts_status tts_eventfile_next(struct tts_eventfile *file, struct tts_item *out,
                                   struct tts_error *err)
{
    return file->recording ? next_recorded(file, out, err)
                           : tts_graph_next(file->graph, out, err);
}

uint64_t tts_eventfile_tell(const struct tts_eventfile *file)
{
    return file->recording ? tts_recfile_tell(file->recording) : tts_graph_tell(file->graph);
}

void tts_eventfile_report(const struct tts_eventfile *file)
{
    if (file->watch.fn)
        file->watch.fn(file->watch.ctx, tts_eventfile_tell(file));
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

/* A chip without known DRAM is on no board yet. */
static uint64_t largest_core_bytes(void)
{
    const struct tts_preset *preset;
    uint64_t most = 0;
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        struct tts_chip chip;
        if (tts_chip_preset(preset->name, &chip, NULL) != TTS_OK)
            continue;
        const struct tts_fact *l1 = &chip.fact[TTS_FACT_L1_SIZE];
        const struct tts_fact *dram = &chip.fact[TTS_FACT_DRAM_BANKS];
        if (l1->origin != TTS_ORIGIN_UNKNOWN && dram->origin != TTS_ORIGIN_UNKNOWN &&
            l1->value > most)
            most = l1->value;
    }
    return most;
}

uint64_t tts_eventfile_core_bytes(const struct tts_eventfile *file, uint32_t device)
{
    uint64_t own = file->graph ? tts_graph_core_bytes(file->graph, device) : 0;
    return own > 0 ? own : largest_core_bytes();
}
