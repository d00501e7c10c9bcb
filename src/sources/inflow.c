#include "sources/inflow.h"

#include "base/error.h"
#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    MAGIC_BYTES = 4,
    IN_BYTES = 128 * 1024,
    WINDOW_LOG_MAX = 23,   /* 8 MiB: what the levels up to 19 take */
    GZIP_WINDOW = 15 + 16, /* the largest; and gzip's own header, not zlib's */
    ZLIB_PIECE_HEAD = 16,  /* before what zlib gets: its size */
    READ_MAX = 1 << 30,    /* zlib counts with 32 bits */
};

enum kind { UNKNOWN, PLAIN, GZIP, ZSTD };

struct tts_inflow {
    const struct tts_alloc *alloc;
    int fd;
    bool owns_fd, at_end;
    enum kind kind;
    unsigned char first[MAGIC_BYTES]; /* of a plain file: looked at, and still to be given */
    size_t first_len;
    uint64_t taken, total;
    unsigned char *before; /* read by the caller; NULL: none */
    size_t before_at, before_len;
    /* compressed */
    unsigned char *bytes; /* IN_BYTES */
    size_t at, end;
    bool is_between; /* a member or frame is over and no other has begun */
    bool has_z;
    z_stream z;
    ZSTD_DCtx *zstd;
    /* Once it has failed it stays so. */
    enum tts_status status;
    struct tts_error err;
};

/* ---- the file ---- */

static int open_path(const char *path)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* What is left of a regular file; 0: it is none. */
static uint64_t size_of(int fd, const struct stat *info)
{
    off_t at = S_ISREG(info->st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    return at >= 0 && info->st_size > at ? (uint64_t)(info->st_size - at) : 0;
}

enum tts_status tts_inflow_open(const char *path, const struct tts_alloc *alloc,
                                struct tts_inflow **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open_path(path);
    if (fd < 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read '%s'", path);

    struct stat info;
    struct tts_inflow *in = NULL;
    int reason = fstat(fd, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (reason == 0) {
        in = alloc->alloc(alloc->ctx, sizeof *in);
        reason = in ? 0 : ENOMEM;
    }
    if (reason != 0) {
        if (!is_stdin)
            close(fd);
        enum tts_status status = reason == ENOMEM ? TTS_E_NOMEM : TTS_E_IO;
        return tts_error_set_errno(err, status, reason, "cannot read '%s'", path);
    }
    *in = (struct tts_inflow){
        .alloc = alloc, .fd = fd, .owns_fd = !is_stdin, .total = size_of(fd, &info)};
    *out = in;
    return TTS_OK;
}

enum tts_status tts_inflow_adopt(int fd, const unsigned char *before, size_t len,
                                 const struct tts_alloc *alloc, struct tts_inflow **out,
                                 struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_inflow *in = alloc->alloc(alloc->ctx, sizeof *in);
    unsigned char *copy = in && len > 0 ? alloc->alloc(alloc->ctx, len) : NULL;
    if (!in || (len > 0 && !copy)) {
        if (in)
            alloc->free(alloc->ctx, in, sizeof *in);
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    }
    if (len > 0)
        memcpy(copy, before, len);
    *in = (struct tts_inflow){.alloc = alloc, .fd = fd, .before = copy, .before_len = len};
    *out = in;
    return TTS_OK;
}

void tts_inflow_close(struct tts_inflow *in)
{
    if (!in)
        return;
    const struct tts_alloc *alloc = in->alloc;
    if (in->has_z)
        inflateEnd(&in->z);
    ZSTD_freeDCtx(in->zstd);
    if (in->bytes)
        alloc->free(alloc->ctx, in->bytes, IN_BYTES);
    if (in->before)
        alloc->free(alloc->ctx, in->before, in->before_len);
    if (in->owns_fd)
        close(in->fd);
    alloc->free(alloc->ctx, in, sizeof *in);
}

uint64_t tts_inflow_taken(const struct tts_inflow *in)
{
    return in->taken;
}

uint64_t tts_inflow_total(const struct tts_inflow *in)
{
    return in->total;
}

static enum tts_status read_some(struct tts_inflow *in, unsigned char *out, size_t capacity,
                                 size_t *got)
{
    assert(capacity > 0 && !in->at_end);
    if (in->before_at < in->before_len) {
        size_t kept = in->before_len - in->before_at;
        *got = kept < capacity ? kept : capacity;
        memcpy(out, in->before + in->before_at, *got);
        in->before_at += *got;
        in->taken += *got;
        return TTS_OK;
    }
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

/* ---- what it is ---- */

static enum kind tell(const unsigned char *magic, size_t len)
{
    static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const unsigned char skipped[] = {0x2a, 0x4d, 0x18}; /* behind 50 to 5f */
    if (len >= 2 && magic[0] == 0x1f && magic[1] == 0x8b)
        return GZIP;
    if (len < MAGIC_BYTES)
        return PLAIN;
    if (memcmp(magic, zstd, sizeof zstd) == 0 ||
        (magic[0] >> 4 == 5 && memcmp(magic + 1, skipped, sizeof skipped) == 0))
        return ZSTD;
    return PLAIN;
}

bool tts_inflow_is_compressed(const unsigned char *bytes, size_t len)
{
    return tell(bytes, len) != PLAIN;
}

/* zlib does not say how much it gives back. */
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

static bool start_gzip(struct tts_inflow *in)
{
    in->z = (z_stream){.zalloc = z_take, .zfree = z_give, .opaque = (void *)in->alloc};
    in->has_z = inflateInit2(&in->z, GZIP_WINDOW) == Z_OK;
    return in->has_z;
}

static bool start_zstd(struct tts_inflow *in)
{
    in->zstd = ZSTD_createDCtx();
    return in->zstd &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
}

/* Keeps the first bytes: a pipe cannot be wound back. */
static enum tts_status start(struct tts_inflow *in)
{
    while (in->first_len < MAGIC_BYTES && !in->at_end) {
        size_t got = 0;
        enum tts_status status =
            read_some(in, in->first + in->first_len, MAGIC_BYTES - in->first_len, &got);
        if (status != TTS_OK)
            return status;
        in->first_len += got;
    }
    in->kind = tell(in->first, in->first_len);
    if (in->kind == PLAIN)
        return TTS_OK;
    in->bytes = in->alloc->alloc(in->alloc->ctx, IN_BYTES);
    if (!in->bytes || !(in->kind == GZIP ? start_gzip(in) : start_zstd(in)))
        return tts_error_set_errno(&in->err, TTS_E_NOMEM, ENOMEM, "cannot decompress");
    memcpy(in->bytes, in->first, in->first_len);
    in->end = in->first_len;
    in->first_len = 0;
    return TTS_OK;
}

/* ---- plain ---- */

static enum tts_status read_plain(struct tts_inflow *in, unsigned char *out, size_t capacity,
                                  size_t *got)
{
    size_t kept = in->first_len < capacity ? in->first_len : capacity;
    memcpy(out, in->first, kept);
    memmove(in->first, in->first + kept, in->first_len - kept);
    in->first_len -= kept;
    *got = kept;
    if (kept == capacity || in->at_end)
        return TTS_OK;
    size_t more = 0;
    enum tts_status status = read_some(in, out + kept, capacity - kept, &more);
    *got = kept + more;
    return status;
}

/* ---- compressed ---- */

static enum tts_status fill(struct tts_inflow *in)
{
    if (in->at < in->end || in->at_end)
        return TTS_OK;
    size_t got = 0;
    enum tts_status status = read_some(in, in->bytes, IN_BYTES, &got);
    in->at = 0;
    in->end = got;
    return status;
}

static enum tts_status fail_z(struct tts_inflow *in, int code)
{
    if (code == Z_MEM_ERROR)
        return tts_error_set_errno(&in->err, TTS_E_NOMEM, ENOMEM, "cannot decompress");
    return tts_error_set(&in->err, TTS_E_SYNTAX, "damaged gzip data: %s",
                         in->z.msg ? in->z.msg : "it cannot be decompressed");
}

/* Between two members. gzip lets zeros stand behind the last one, as tapes are filled up. */
static enum tts_status begin_member(struct tts_inflow *in)
{
    while (in->at < in->end && in->bytes[in->at] == 0)
        in->at++;
    if (in->at == in->end)
        return TTS_OK;
    if (in->bytes[in->at] != 0x1f)
        return tts_error_set(&in->err, TTS_E_SYNTAX,
                             "there is something else behind the gzip data");
    in->is_between = false;
    return inflateReset(&in->z) == Z_OK ? TTS_OK : fail_z(in, Z_STREAM_ERROR);
}

static enum tts_status step_gzip(struct tts_inflow *in, unsigned char *out, size_t capacity,
                                 size_t *made)
{
    if (in->is_between) {
        enum tts_status status = begin_member(in);
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

static enum tts_status fail_zstd(struct tts_inflow *in, size_t code)
{
    switch ((int)ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        return tts_error_set(&in->err, TTS_E_SYNTAX,
                             "compressed with a window of more than 8 MiB ('--long'): give it "
                             "as 'zstd -dc --long=31 FILE | ...' on standard input");
    case ZSTD_error_memory_allocation:
        return tts_error_set_errno(&in->err, TTS_E_NOMEM, ENOMEM, "cannot decompress");
    default:
        return tts_error_set(&in->err, TTS_E_SYNTAX, "damaged zstd data: %s",
                             ZSTD_getErrorName(code));
    }
}

static enum tts_status step_zstd(struct tts_inflow *in, unsigned char *out, size_t capacity,
                                 size_t *made)
{
    if (in->is_between && in->at == in->end)
        return TTS_OK; /* asked now, it would wait for a frame that may not come */
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

/* Until `out` is full: the reader behind works best with much at once. */
static enum tts_status read_compressed(struct tts_inflow *in, unsigned char *out,
                                       size_t capacity, size_t *got)
{
    while (*got < capacity) {
        enum tts_status status = fill(in);
        if (status != TTS_OK)
            return status;
        size_t made = 0;
        bool is_last = in->at == in->end;
        status = in->kind == GZIP ? step_gzip(in, out + *got, capacity - *got, &made)
                                  : step_zstd(in, out + *got, capacity - *got, &made);
        *got += made;
        if (status != TTS_OK)
            return status;
        if (is_last && in->is_between)
            return TTS_OK;
        if (is_last && made == 0)
            return tts_error_set(&in->err, TTS_E_SYNTAX, "the %s data is cut off",
                                 in->kind == GZIP ? "gzip" : "zstd");
    }
    return TTS_OK;
}

/* ---- both ---- */

enum tts_status tts_inflow_read(struct tts_inflow *in, void *out, size_t capacity, size_t *got,
                                struct tts_error *err)
{
    assert(capacity > 0);
    size_t made = 0;
    if (in->status == TTS_OK && in->kind == UNKNOWN)
        in->status = start(in);
    if (in->status == TTS_OK)
        in->status = in->kind == PLAIN ? read_plain(in, out, capacity, &made)
                                       : read_compressed(in, out, capacity, &made);
    if (made == 0 && in->status != TTS_OK) {
        if (err)
            *err = in->err;
        return in->status;
    }
    *got = made;
    return TTS_OK;
}
