#include "sources/input.h"

#include "base/error.h"
#include "base/heap.h"
#include "model/recording/recfile.h"
#include "sources/graph/graph.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    MAGIC_BYTES = 4,
    IN_BYTES = 128 * 1024,
    WINDOW_LOG_MAX = 23, /* 8 MiB, enough for zstd levels up to 19 */
    /* 15 is the largest window; adding 16 selects the header of gzip instead of zlib's */
    GZIP_WINDOW = 15 + 16,
    /* bytes before each block given to zlib, which hold the size of the block */
    ZLIB_PIECE_HEAD = 16,
    READ_MAX = 1 << 30, /* limit of one read, because zlib counts bytes with 32 bits */
    COPY_BYTES = 1 << 16,
};

enum coding { CODING_UNKNOWN, PLAIN, GZIP, ZSTD };

struct tts_input {
    const struct tts_alloc *alloc;
    const char *path; /* the path that the caller gave */
    int fd;
    bool owns_fd, at_end;
    bool is_file; /* a regular file that is read from its first byte, so it can be read again */
    bool is_spooled; /* `fd` is a temporary file */
    bool was_coded;  /* the input is compressed, or was compressed before it was spooled */
    enum coding coding;
    /* Plain file only: bytes that were examined and must still be returned. */
    unsigned char first[MAGIC_BYTES];
    size_t first_len;
    uint64_t taken, total;
    /* The following fields are for compressed files only. */
    unsigned char *bytes; /* buffer of IN_BYTES bytes */
    size_t at, end;
    bool is_between; /* a gzip member or zstd frame has ended and no other has begun */
    bool has_z;
    z_stream z;
    ZSTD_DCtx *zstd;
    /* The first failure. Every later read returns it again. */
    enum tts_status status;
    struct tts_error err;
    char fd_path[sizeof "/proc/self/fd/" + 12];
    /* The head of the content, valid after it was examined. */
    bool has_kind, begins_as_json;
    enum tts_input_kind kind;
    bool is_past_head; /* bytes after the head were already read */
    size_t head_at, head_len;
    unsigned char head[TTS_INPUT_HEAD];
};

/* ---- the file ---- */

static int open_input_path(const char *path)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Returns the number of bytes left in a regular file, or 0 for any other file. */
static uint64_t input_size(int fd, const struct stat *info)
{
    off_t at = S_ISREG(info->st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    return at >= 0 && info->st_size > at ? (uint64_t)(info->st_size - at) : 0;
}

static enum tts_status fail_input_read(struct tts_error *err, enum tts_status status,
                                       const char *path, int sys_errno)
{
    if (strcmp(path, "-") == 0)
        return tts_error_set_errno(err, status, sys_errno, "cannot read standard input");
    return tts_error_set_errno(err, status, sys_errno, "cannot read '%s'", path);
}

enum tts_status tts_input_open(const char *path, const struct tts_alloc *alloc,
                               struct tts_input **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open_input_path(path);
    if (fd < 0)
        return fail_input_read(err, TTS_E_IO, path, errno);

    struct stat info;
    struct tts_input *in = NULL;
    int reason = fstat(fd, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (reason == 0) {
        in = alloc->alloc(alloc->ctx, sizeof *in);
        reason = in ? 0 : ENOMEM;
    }
    if (reason != 0) {
        if (!is_stdin)
            close(fd);
        return fail_input_read(err, reason == ENOMEM ? TTS_E_NOMEM : TTS_E_IO, path, reason);
    }
    memset(in, 0, offsetof(struct tts_input, head));
    in->alloc = alloc;
    in->path = path;
    in->fd = fd;
    in->owns_fd = !is_stdin;
    in->is_file = S_ISREG(info.st_mode) && lseek(fd, 0, SEEK_CUR) == 0;
    in->total = input_size(fd, &info);
    *out = in;
    return TTS_OK;
}

static void free_decoder(struct tts_input *in)
{
    if (in->has_z)
        inflateEnd(&in->z);
    ZSTD_freeDCtx(in->zstd);
    if (in->bytes)
        in->alloc->free(in->alloc->ctx, in->bytes, IN_BYTES);
    in->has_z = in->is_between = false;
    in->zstd = NULL;
    in->bytes = NULL;
    in->at = in->end = 0;
}

void tts_input_close(struct tts_input *in)
{
    if (!in)
        return;
    free_decoder(in);
    if (in->owns_fd)
        close(in->fd);
    in->alloc->free(in->alloc->ctx, in, sizeof *in);
}

uint64_t tts_input_taken(const struct tts_input *in)
{
    return in->taken;
}

uint64_t tts_input_total(const struct tts_input *in)
{
    return in->total;
}

static enum tts_status read_input_bytes(struct tts_input *in, unsigned char *out,
                                        size_t capacity, size_t *got)
{
    assert(capacity > 0 && !in->at_end);
    ssize_t count;
    do
        count = read(in->fd, out, capacity < READ_MAX ? capacity : READ_MAX);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return tts_error_set_errno(&in->err, TTS_E_IO, errno, "read failed");
    *got = (size_t)count;
    in->taken += (uint64_t)count;
    in->at_end = count == 0;
    return TTS_OK;
}

/* ---- how the input is compressed ---- */

static enum coding find_coding(const unsigned char *magic, size_t len)
{
    static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    /* Magic number of a skippable zstd frame, without its first byte, which is 0x50 to 0x5f. */
    static const unsigned char skipped[] = {0x2a, 0x4d, 0x18};
    if (len >= 2 && magic[0] == 0x1f && magic[1] == 0x8b)
        return GZIP;
    if (len < MAGIC_BYTES)
        return PLAIN;
    if (memcmp(magic, zstd, sizeof zstd) == 0 ||
        (magic[0] >> 4 == 5 && memcmp(magic + 1, skipped, sizeof skipped) == 0))
        return ZSTD;
    return PLAIN;
}

bool tts_input_is_compressed(const struct tts_input *in)
{
    return in->was_coded;
}

/* Stores the size before each block, because zlib does not say how many bytes it frees. */
static void *z_take(void *ctx, unsigned count, unsigned size)
{
    const struct tts_alloc *alloc = ctx;
    size_t bytes;
    if (__builtin_mul_overflow((size_t)count, (size_t)size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)ZLIB_PIECE_HEAD, &bytes))
        return NULL;
    unsigned char *piece = alloc->alloc(alloc->ctx, bytes);
    if (!piece)
        return NULL;
    memcpy(piece, &bytes, sizeof bytes);
    return piece + ZLIB_PIECE_HEAD;
}

static void z_give(void *ctx, void *memory)
{
    const struct tts_alloc *alloc = ctx;
    unsigned char *piece = (unsigned char *)memory - ZLIB_PIECE_HEAD;
    size_t bytes;
    memcpy(&bytes, piece, sizeof bytes);
    alloc->free(alloc->ctx, piece, bytes);
}

static bool start_gzip(struct tts_input *in)
{
    in->z = (z_stream){.zalloc = z_take, .zfree = z_give, .opaque = (void *)in->alloc};
    in->has_z = inflateInit2(&in->z, GZIP_WINDOW) == Z_OK;
    return in->has_z;
}

static bool start_zstd(struct tts_input *in)
{
    in->zstd = ZSTD_createDCtx();
    return in->zstd &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
}

/* Chooses the decoder by the first bytes of the input, and keeps these bytes for the reader,
 * because a pipe cannot be read twice. */
static enum tts_status start_decoder(struct tts_input *in)
{
    while (in->first_len < MAGIC_BYTES && !in->at_end) {
        size_t got = 0;
        enum tts_status status =
            read_input_bytes(in, in->first + in->first_len, MAGIC_BYTES - in->first_len, &got);
        if (status != TTS_OK)
            return status;
        in->first_len += got;
    }
    in->coding = find_coding(in->first, in->first_len);
    in->was_coded = in->coding != PLAIN;
    if (in->coding == PLAIN)
        return TTS_OK;
    in->bytes = in->alloc->alloc(in->alloc->ctx, IN_BYTES);
    if (!in->bytes || !(in->coding == GZIP ? start_gzip(in) : start_zstd(in)))
        return tts_error_set_errno(&in->err, TTS_E_NOMEM, ENOMEM, "cannot decompress");
    memcpy(in->bytes, in->first, in->first_len);
    in->end = in->first_len;
    in->first_len = 0;
    return TTS_OK;
}

/* ---- plain ---- */

static enum tts_status read_plain_bytes(struct tts_input *in, unsigned char *out,
                                        size_t capacity, size_t *got)
{
    size_t kept = in->first_len < capacity ? in->first_len : capacity;
    memcpy(out, in->first, kept);
    memmove(in->first, in->first + kept, in->first_len - kept);
    in->first_len -= kept;
    *got = kept;
    if (kept == capacity || in->at_end)
        return TTS_OK;
    size_t more = 0;
    enum tts_status status = read_input_bytes(in, out + kept, capacity - kept, &more);
    *got = kept + more;
    return status;
}

/* ---- compressed ---- */

static enum tts_status fill_coded(struct tts_input *in)
{
    if (in->at < in->end || in->at_end)
        return TTS_OK;
    size_t got = 0;
    enum tts_status status = read_input_bytes(in, in->bytes, IN_BYTES, &got);
    in->at = 0;
    in->end = got;
    return status;
}

static enum tts_status fail_z(struct tts_input *in, int code)
{
    if (code == Z_MEM_ERROR)
        return tts_error_set_errno(&in->err, TTS_E_NOMEM, ENOMEM, "cannot decompress");
    return tts_error_set(&in->err, TTS_E_SYNTAX, "damaged gzip data: %s",
                         in->z.msg ? in->z.msg : "the data cannot be decompressed");
}

/* Begins the next gzip member. gzip allows padding with zero bytes after the last member, as on
 * tapes. */
static enum tts_status begin_gzip_member(struct tts_input *in)
{
    while (in->at < in->end && in->bytes[in->at] == 0)
        in->at++;
    if (in->at == in->end)
        return TTS_OK;
    if (in->bytes[in->at] != 0x1f)
        return tts_error_set(&in->err, TTS_E_SYNTAX, "other data follows the gzip data");
    in->is_between = false;
    return inflateReset(&in->z) == Z_OK ? TTS_OK : fail_z(in, Z_STREAM_ERROR);
}

static enum tts_status step_gzip_decoder(struct tts_input *in, unsigned char *out,
                                         size_t capacity, size_t *made)
{
    if (in->is_between) {
        enum tts_status status = begin_gzip_member(in);
        if (status != TTS_OK || in->is_between)
            return status;
    }
    capacity = capacity < READ_MAX ? capacity : READ_MAX;
    in->z.next_in = in->bytes + in->at;
    in->z.avail_in = (unsigned)(in->end - in->at);
    in->z.next_out = out;
    in->z.avail_out = (unsigned)capacity;
    int code = inflate(&in->z, Z_NO_FLUSH);
    in->at = in->end - in->z.avail_in;
    *made = capacity - in->z.avail_out;
    in->is_between = code == Z_STREAM_END;
    return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR ? TTS_OK
                                                                       : fail_z(in, code);
}

static enum tts_status fail_zstd(struct tts_input *in, size_t code)
{
    switch ((int)ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        return tts_error_set(&in->err, TTS_E_SYNTAX,
                             "compressed with a window of more than 8 MiB ('--long'): use "
                             "'zstd -dc --long=31 FILE | ...' and standard input");
    case ZSTD_error_memory_allocation:
        return tts_error_set_errno(&in->err, TTS_E_NOMEM, ENOMEM, "cannot decompress");
    default:
        return tts_error_set(&in->err, TTS_E_SYNTAX, "damaged zstd data: %s",
                             ZSTD_getErrorName(code));
    }
}

static enum tts_status step_zstd_decoder(struct tts_input *in, unsigned char *out,
                                         size_t capacity, size_t *made)
{
    if (in->is_between && in->at == in->end)
        return TTS_OK; /* another call would wait for a frame that may never come */
    ZSTD_inBuffer from = {in->bytes, in->end, in->at};
    ZSTD_outBuffer to = {out, capacity, 0};
    size_t code = ZSTD_decompressStream(in->zstd, &to, &from);
    in->at = from.pos;
    *made = to.pos;
    if (ZSTD_isError(code))
        return fail_zstd(in, code);
    in->is_between = code == 0;
    return TTS_OK;
}

/* Decompresses until `out` is full or the content ends. Full pieces are faster for the reader
 * than many small ones. */
static enum tts_status read_compressed(struct tts_input *in, unsigned char *out,
                                       size_t capacity, size_t *got)
{
    while (*got < capacity) {
        enum tts_status status = fill_coded(in);
        if (status != TTS_OK)
            return status;
        size_t made = 0;
        bool is_last = in->at == in->end;
        status = in->coding == GZIP ? step_gzip_decoder(in, out + *got, capacity - *got, &made)
                                    : step_zstd_decoder(in, out + *got, capacity - *got, &made);
        *got += made;
        if (status != TTS_OK)
            return status;
        if (is_last && in->is_between)
            return TTS_OK;
        if (is_last && made == 0)
            return tts_error_set(&in->err, TTS_E_SYNTAX, "the %s data is cut off",
                                 in->coding == GZIP ? "gzip" : "zstd");
    }
    return TTS_OK;
}

/* ---- the content ---- */

static enum tts_status read_content_bytes(struct tts_input *in, void *out, size_t capacity,
                                          size_t *got, struct tts_error *err)
{
    assert(capacity > 0);
    size_t made = 0;
    if (in->status == TTS_OK && in->coding == CODING_UNKNOWN)
        in->status = start_decoder(in);
    if (in->status == TTS_OK)
        in->status = in->coding == PLAIN ? read_plain_bytes(in, out, capacity, &made)
                                         : read_compressed(in, out, capacity, &made);
    if (made == 0 && in->status != TTS_OK) {
        if (err)
            *err = in->err;
        return in->status;
    }
    *got = made;
    return TTS_OK;
}

enum tts_status tts_input_read(struct tts_input *in, void *out, size_t capacity, size_t *got,
                               struct tts_error *err)
{
    size_t kept = in->head_len - in->head_at;
    if (kept > 0) {
        *got = kept < capacity ? kept : capacity;
        memcpy(out, in->head + in->head_at, *got);
        in->head_at += *got;
        return TTS_OK;
    }
    in->is_past_head = true;
    return read_content_bytes(in, out, capacity, got, err);
}

/* Fills the head of the content. Bytes that cannot be decompressed end the head; the read after
 * the head reports the reason. */
static enum tts_status fill_input_head(struct tts_input *in, struct tts_error *err)
{
    struct tts_error why = {0};
    while (in->head_len < sizeof in->head) {
        size_t got = 0;
        enum tts_status status = read_content_bytes(in, in->head + in->head_len,
                                                    sizeof in->head - in->head_len, &got, &why);
        bool is_end = status == TTS_E_SYNTAX || (status != TTS_OK && in->head_len > 0);
        if (is_end || (status == TTS_OK && got == 0))
            break;
        if (status == TTS_E_IO)
            return fail_input_read(err, status, in->path, why.sys_errno);
        if (status != TTS_OK) {
            if (err)
                *err = why;
            return status;
        }
        in->head_len += got;
    }
    return TTS_OK;
}

/* ---- the kind ---- */

/* Returns true if the bytes begin a JSON object or an array of objects. A '[' alone is not
 * enough: launchers begin the lines of a log with "[rank0]: ", "[1,0]<stdout>: " or a time in
 * brackets. */
static bool is_json_head(const unsigned char *bytes, size_t len)
{
    size_t at = 0;
    /* Skip blanks and a byte order mark. */
    while (at < len && bytes[at] != '[' && bytes[at] != '{')
        at++;
    const char *inside = bytes[at] == '[' ? "{]" : "\"}";
    at++;
    while (at < len && strchr(" \t\n\r", bytes[at]) && bytes[at] != 0)
        at++;
    return at == len || (bytes[at] != 0 && strchr(inside, bytes[at]));
}

static enum tts_input_kind head_kind(const struct tts_input *in)
{
    if (in->head_len == 0)
        return in->status == TTS_OK ? TTS_INPUT_EMPTY : TTS_INPUT_UNKNOWN;
    if (tts_recfile_is_one(in->head, in->head_len))
        return TTS_INPUT_RECORDING;
    if (in->begins_as_json && is_json_head(in->head, in->head_len))
        return TTS_INPUT_JSON;
    return memchr(in->head, 0, in->head_len) ? TTS_INPUT_UNKNOWN : TTS_INPUT_TEXT;
}

enum tts_status tts_input_kind(struct tts_input *in, enum tts_input_kind *out,
                               struct tts_error *err)
{
    if (!in->has_kind) {
        assert(!in->is_past_head);
        enum tts_status status = fill_input_head(in, err);
        if (status != TTS_OK)
            return status;
        in->begins_as_json = tts_graph_may_be(in->head, in->head_len);
        in->kind = head_kind(in);
        in->has_kind = true;
    }
    *out = in->kind;
    return TTS_OK;
}

bool tts_input_begins_as_json(const struct tts_input *in)
{
    return in->begins_as_json;
}

const unsigned char *tts_input_head(const struct tts_input *in, size_t *len)
{
    *len = in->head_len;
    return in->head;
}

static enum tts_status read_json_bytes(void *ctx, void *out, size_t room, size_t *got,
                                       struct tts_error *err)
{
    return tts_input_read(ctx, out, room, got, err);
}

enum tts_status tts_input_json(struct tts_input *in, struct tts_jsonpull_source *out,
                               struct tts_error *err)
{
    assert(!in->is_past_head && in->head_at == 0);
    enum tts_status status = fill_input_head(in, err);
    if (status != TTS_OK)
        return status;
    *out = (struct tts_jsonpull_source){
        .before = in->head, .before_len = in->head_len, .fd = -1, .ctx = in};
    if (in->coding == PLAIN)
        out->fd = in->fd;
    else
        out->read = read_json_bytes;
    in->head_at = in->head_len;
    in->is_past_head = true;
    return TTS_OK;
}

/* ---- reading again ---- */

/* Discards everything that was read. The next read begins at the current position of `fd`. */
static void forget_content(struct tts_input *in, enum coding coding)
{
    free_decoder(in);
    in->coding = coding;
    in->first_len = in->head_at = in->head_len = 0;
    in->taken = 0;
    in->at_end = in->is_past_head = false;
    in->status = TTS_OK;
}

enum tts_status tts_input_rewind(struct tts_input *in, struct tts_error *err)
{
    if (!in->is_file) {
        assert(!in->is_past_head);
        in->head_at = 0;
        return TTS_OK;
    }
    if (lseek(in->fd, 0, SEEK_SET) < 0)
        return fail_input_read(err, TTS_E_IO, in->path, errno);
    forget_content(in, in->is_spooled ? PLAIN : CODING_UNKNOWN);
    return TTS_OK;
}

bool tts_input_resume(struct tts_input *in)
{
    if (tts_input_is_compressed(in))
        return false;
    in->at_end = false;
    return true;
}

const char *tts_input_path(const struct tts_input *in)
{
    return in->is_spooled ? in->fd_path : in->path;
}

const char *tts_input_fd_path(struct tts_input *in)
{
    snprintf(in->fd_path, sizeof in->fd_path, "/proc/self/fd/%d", in->fd);
    return in->fd_path;
}

/* ---- a pipe as a file ---- */

static bool write_whole(int fd, const unsigned char *bytes, size_t len)
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

/* Opens a temporary file without a name. Some file systems do not support this: there the file
 * gets a name, which is removed at once. */
static int open_unnamed_file(void)
{
    char path[PATH_MAX];
    const char *dir = getenv("TMPDIR");
    dir = dir && *dir ? dir : "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    if ((size_t)snprintf(path, sizeof path, "%s/ttscope-XXXXXX", dir) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

enum tts_status tts_input_spool(struct tts_input *in, const char *what,
                                void (*tick)(void *ctx, uint64_t bytes), void *ctx,
                                struct tts_error *err)
{
    unsigned char bytes[COPY_BYTES];
    if (in->is_file)
        return TTS_OK;
    uint64_t done = 0;
    enum tts_status status = TTS_OK;
    int copy = open_unnamed_file();
    bool is_kept = copy >= 0;
    for (size_t got = 1; is_kept && status == TTS_OK && got > 0;) {
        status = tts_input_read(in, bytes, sizeof bytes, &got, err);
        is_kept = status != TTS_OK || write_whole(copy, bytes, got);
        done += status == TTS_OK ? got : 0;
        if (tick)
            tick(ctx, done);
    }
    is_kept = is_kept && lseek(copy, 0, SEEK_SET) == 0;
    if (status == TTS_OK && !is_kept)
        status = tts_error_set_errno(err, TTS_E_IO, errno, "cannot copy %s to a temporary file",
                                     what);
    if (status != TTS_OK) {
        if (copy >= 0)
            close(copy);
        return status;
    }
    if (in->owns_fd)
        close(in->fd);
    in->fd = copy;
    in->owns_fd = in->is_file = in->is_spooled = true;
    in->total = done;
    forget_content(in, PLAIN);
    tts_input_fd_path(in);
    return TTS_OK;
}

/* ---- looking at the first bytes of a pipe ---- */

/* Copies at most `size` bytes from the front of a pipe and leaves them in the pipe. Waits for
 * the first byte. Returns the number of bytes, or -1. */
static ssize_t peek_pipe(int fd, void *out, size_t size)
{
    int copy[2];
    if (pipe2(copy, O_CLOEXEC) != 0)
        return -1;
    ssize_t len = tee(fd, copy[1], size, 0);
    if (len > 0)
        len = read(copy[0], out, size);
    close(copy[0]);
    close(copy[1]);
    return len;
}

static bool may_be_events(const unsigned char *bytes, size_t len)
{
    const size_t magic_len = sizeof TTS_REC_MAGIC - 1;
    /* A slow pipe may have delivered only a few bytes. Then only these are compared. */
    size_t some = len < magic_len ? len : magic_len;
    return memcmp(bytes, TTS_REC_MAGIC, some) == 0 || tts_graph_may_be(bytes, len) ||
           find_coding(bytes, len) != PLAIN;
}

bool tts_input_may_have_events(const char **path, bool stdin_is_free)
{
    unsigned char bytes[TTS_INPUT_HEAD];
    struct stat st;
    bool is_stdin = strcmp(*path, "-") == 0;
    if (!is_stdin && (stat(*path, &st) != 0 || (S_ISFIFO(st.st_mode) && !stdin_is_free)))
        return false;
    int fd = is_stdin ? STDIN_FILENO : open_input_path(*path);
    if (fd < 0)
        return false;
    bool is_pipe = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    ssize_t len = -1;
    if (!is_pipe) {
        len = pread(fd, bytes, sizeof bytes, is_stdin ? lseek(fd, 0, SEEK_CUR) : 0);
    } else if (is_stdin || dup2(fd, STDIN_FILENO) >= 0) {
        *path = "-";
        len = peek_pipe(STDIN_FILENO, bytes, sizeof bytes);
    }
    if (!is_stdin)
        close(fd);
    return len > 0 && may_be_events(bytes, (size_t)len);
}
