#include "base/lines.h"

#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 * 1024 };

static int open_lines_path(const char *path)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    return fd;
}

enum tts_status tts_lines_open(struct tts_lines *lines, const char *path,
                               const struct tts_alloc *alloc, struct tts_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open_lines_path(path);
    if (fd < 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read '%s'", path);

    struct stat info;
    char *buffer = NULL;
    int reason = fstat(fd, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (reason == 0) {
        buffer = alloc->alloc(alloc->ctx, BUFFER_BYTES);
        reason = buffer ? 0 : ENOMEM;
    }
    if (reason != 0) {
        if (!is_stdin)
            close(fd);
        enum tts_status status = reason == ENOMEM ? TTS_E_NOMEM : TTS_E_IO;
        return tts_error_set_errno(err, status, reason, "cannot read '%s'", path);
    }
    *lines =
        (struct tts_lines){.alloc = alloc, .buffer = buffer, .fd = fd, .owns_fd = !is_stdin};
    return TTS_OK;
}

/* Moves the unread bytes to the front of the buffer and appends the result of one read. */
static enum tts_status fill_line_buffer(struct tts_lines *lines, struct tts_error *err)
{
    memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
    lines->end -= lines->begin;
    lines->begin = 0;
    assert(lines->end < BUFFER_BYTES);
    ssize_t got;
    do
        got = read(lines->fd, lines->buffer + lines->end, BUFFER_BYTES - lines->end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "read failed");
    lines->end += (size_t)got;
    lines->at_end = got == 0;
    return TTS_OK;
}

/* Adds the place to the error: the number of the line that was being read, and the offset of a
 * byte in this line. */
static enum tts_status fail_reading(const struct tts_lines *lines, uint64_t byte,
                                    enum tts_status status, struct tts_error *err)
{
    if (err) {
        uint64_t line = lines->line + 1;
        err->line = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
        err->offset = lines->offset + byte;
    }
    return status;
}

static enum tts_status give_line(struct tts_lines *lines, size_t len, size_t taken,
                                 const char **text, size_t *out_len, struct tts_error *err)
{
    const char *line = lines->buffer + lines->begin;
    if (len > 0 && taken > len && line[len - 1] == '\r')
        len--;
    const char *nul = memchr(line, 0, len);
    if (nul) {
        tts_error_set(err, TTS_E_SYNTAX, "not a text file: the file has a NUL byte");
        return fail_reading(lines, (uint64_t)(nul - line), TTS_E_SYNTAX, err);
    }
    if (len > TTS_LINE_MAX_BYTES) {
        tts_error_set(err, TTS_E_SYNTAX, "the line is longer than %d bytes",
                      TTS_LINE_MAX_BYTES);
        return fail_reading(lines, TTS_LINE_MAX_BYTES, TTS_E_SYNTAX, err);
    }
    *text = line;
    *out_len = len;
    lines->line++;
    lines->begin += taken;
    lines->offset += taken;
    return TTS_OK;
}

enum tts_status tts_lines_next(struct tts_lines *lines, const char **text, size_t *len,
                               struct tts_error *err)
{
    size_t searched = 0;
    for (;;) {
        const char *line = lines->buffer + lines->begin;
        size_t have = lines->end - lines->begin;
        const char *newline = memchr(line + searched, '\n', have - searched);
        if (newline) {
            size_t found = (size_t)(newline - line);
            return give_line(lines, found, found + 1, text, len, err);
        }
        /* One byte more than the longest line, because its last byte may be "\r". */
        if (have > TTS_LINE_MAX_BYTES + 1 || (lines->at_end && have > 0))
            return give_line(lines, have, have, text, len, err);
        if (lines->at_end)
            return TTS_E_NOT_FOUND;
        searched = have;
        enum tts_status status = fill_line_buffer(lines, err);
        if (status != TTS_OK)
            return fail_reading(lines, have, status, err);
    }
}

void tts_lines_close(struct tts_lines *lines)
{
    if (lines->buffer)
        lines->alloc->free(lines->alloc->ctx, lines->buffer, BUFFER_BYTES);
    if (lines->owns_fd)
        close(lines->fd);
    *lines = (struct tts_lines){0};
}
