/* Reads bytes as a log. The lines must be the same as those of a simple loop over the whole
 * text: number, offset, bytes and flags. Prefix and rest make up the line, and the rank is in
 * the prefix. The lines are also the same after many other lines, when the bytes lie across two
 * reads. The first two bytes of the input choose the number of those lines. */
#include "sources/log/logtext.h"

#include "base/heap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_READ = (256 + 4 + 5) * 1024, TEXT_MAX = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static char text[FIRST_READ + TEXT_MAX];

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Returns the line that a simple loop finds at `at`. *next is the beginning of the next
 * line. */
static struct tts_logtext_line plain_line(size_t at, size_t len, size_t *next)
{
    size_t end = at;
    while (end < len && text[end] != '\n' && text[end] != '\r')
        end++;
    bool is_lone = end < len && text[end] == '\r' && end + 1 < len && text[end + 1] != '\n';
    *next = end + (end < len) + (end + 1 < len && text[end] == '\r' && text[end + 1] == '\n');
    size_t line_len = end - at < TTS_LOGLINE_MAX ? end - at : TTS_LOGLINE_MAX;
    return (struct tts_logtext_line){
        .offset = at,
        .raw = {text + at, line_len},
        .is_cut = end - at > TTS_LOGLINE_MAX,
        .is_overwritten = is_lone && text[end + 1] != '\r' && end - at <= TTS_LOGLINE_MAX,
    };
}

static void check_slices(const struct tts_logtext_line *line)
{
    check(line->text.at == line->prefix.at + line->prefix.len, "a gap after the prefix");
    check(line->prefix.len + line->text.len <= line->raw.len, "more text than there is");
    check(line->rank.len == 0 || (line->rank.at >= line->prefix.at &&
                                  line->rank.at + line->rank.len <= line->text.at),
          "a rank outside the prefix");
    check(!memchr(line->text.at, 0x1b, line->text.len), "an escape sequence");
}

static void read_text(int fd, size_t len)
{
    char path[64];
    struct tts_input *in = NULL;
    struct tts_logtext log;
    struct tts_logtext_line line;
    check(ftruncate(fd, 0) == 0 && pwrite(fd, text, len, 0) == (ssize_t)len, "no file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (tts_input_open(path, NULL, &in, NULL) != TTS_OK)
        return;
    check(tts_logtext_open(&log, in, tts_alloc_libc(), NULL) == TTS_OK, "not opened");
    size_t at = 0;
    uint64_t number = 1;
    while (tts_logtext_next(&log, &line)) {
        size_t next;
        check(at < len, "a line too many");
        struct tts_logtext_line wanted = plain_line(at, len, &next);
        check(line.number == number && line.offset == wanted.offset, "another place");
        check(line.raw.len == wanted.raw.len &&
                  memcmp(line.raw.at, wanted.raw.at, line.raw.len) == 0,
              "another line");
        check(line.is_cut == wanted.is_cut && line.is_overwritten == wanted.is_overwritten,
              "another flag");
        check_slices(&line);
        number += text[next - 1] == '\n';
        at = next;
    }
    check(at == len, "a line too few");
    check(tts_logtext_finish(&log, NULL) == TTS_OK, "not to the end");
    check(tts_logtext_facts(&log).bytes == len, "another length");
    tts_logtext_close(&log);
    tts_input_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2 || len - 2 > TEXT_MAX)
        return 0;
    size_t back = (size_t)(bytes[0] << 8 | bytes[1]), pad = FIRST_READ - back % (len - 1);
    int fd = memfd_create("log", MFD_CLOEXEC);
    check(fd >= 0, "no file");
    bool is_compressed = (len >= 4 && bytes[2] == 0x1f && bytes[3] == 0x8b) ||
                         (len >= 6 && (memcmp(bytes + 2, "\x28\xb5\x2f\xfd", 4) == 0 ||
                                       memcmp(bytes + 3, "\x2a\x4d\x18", 3) == 0));
    memcpy(text, bytes + 2, len - 2);
    if (!is_compressed)
        read_text(fd, len - 2);
    memset(text, '-', pad);
    for (size_t at = 0; at < pad; at += 1000)
        text[at] = '\n';
    text[pad - 1] = '\n';
    memcpy(text + pad, bytes + 2, len - 2);
    read_text(fd, pad + len - 2);
    close(fd);
    return 0;
}
