#include "sources/textfile.h"

#include "base/error.h"
#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 16 * 1024 };

static int open_text_path(const char *path)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Makes one read call. Returns 0 or an errno value. Sets *is_end at the end of the file. */
static int read_text_piece(int fd, struct tts_textfile *file, size_t limit, bool *is_end)
{
    assert(file->len < limit);
    size_t room = limit - file->len < PIECE_BYTES ? limit - file->len : PIECE_BYTES;
    char *text = tts_alloc_grow(file->alloc, file->text, &file->capacity, file->len + room,
                                sizeof *text);
    if (!text)
        return ENOMEM;
    file->text = text;
    ssize_t got = read(fd, text + file->len, room);
    if (got < 0)
        return errno == EINTR ? 0 : errno;
    *is_end = got == 0;
    file->len += (size_t)got;
    return 0;
}

enum tts_status tts_textfile_read(const char *path, size_t max_bytes,
                                  const struct tts_alloc *alloc, struct tts_textfile *out,
                                  struct tts_error *err)
{
    struct tts_textfile file = {.alloc = alloc ? alloc : tts_alloc_libc()};
    bool is_stdin = strcmp(path, "-") == 0, is_end = false;
    int fd = is_stdin ? STDIN_FILENO : open_text_path(path);
    int failed = fd < 0 ? errno : 0;
    while (failed == 0 && !is_end && file.len <= max_bytes)
        failed = read_text_piece(fd, &file, max_bytes + 1, &is_end);
    if (fd >= 0 && !is_stdin)
        close(fd);
    if (failed == 0) {
        *out = file;
        return TTS_OK;
    }
    tts_textfile_release(&file);
    return tts_error_set_errno(err, failed == ENOMEM ? TTS_E_NOMEM : TTS_E_IO, failed,
                               "cannot read '%s'", path);
}

void tts_textfile_release(struct tts_textfile *file)
{
    if (file->text)
        file->alloc->free(file->alloc->ctx, file->text, file->capacity);
    *file = (struct tts_textfile){0};
}
