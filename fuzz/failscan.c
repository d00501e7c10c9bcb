/* Reads bytes as a text with failure messages. The reader must come to an end. Each message is
 * in the text, its strings are terminated, and its explanation can be written as text and as
 * JSON. After many other lines, when the bytes lie across two reads, and in pieces that another
 * reader passes on, the messages are the same. */
#include "sources/failure/failscan.h"
#include "analysis/failadvice.h"
#include "analysis/faillog.h"
#include "fuzz/reuse.h"
#include "views/failure/failview.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MESSAGES_MAX = 64, FIRST_READ = (256 + 4 + 65) * 1024, TEXT_MAX = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static char text[FIRST_READ + TEXT_MAX];

struct reading {
    struct tts_failmsg messages[MESSAGES_MAX];
    size_t count;
    uint64_t lines;
};

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void explain(const struct tts_failmsg *msg, FILE *out)
{
    struct tts_failverdict verdict;
    struct tts_failadvice advice;
    struct tts_json json;
    tts_failverdict_make(msg, &verdict);
    tts_failadvice_make(msg, &verdict, &advice);
    check((verdict.cause == TTS_FAILCAUSE_UNKNOWN) <= (verdict.reason[0] != '\0'),
          "no cause and no reason");
    check(verdict.has_deficit == (verdict.deficit_bytes > 0), "a deficit of 0");
    struct tts_failview view = {.msg = msg,
                                .verdict = &verdict,
                                .advice = &advice,
                                .count = 1,
                                .last_line = msg->line,
                                .path = "log"};
    tts_failview_text(&view, out);
    tts_json_init(&json, out);
    tts_failview_json(&view, &json);
    rewind(out);
}

static void check_message(const struct tts_failmsg *msg)
{
    check(memchr(msg->range, 0, sizeof msg->range) && memchr(msg->op, 0, sizeof msg->op) &&
              memchr(msg->core_type, 0, sizeof msg->core_type),
          "a text without an end");
    check((msg->known & msg->too_large) == 0, "a number both known and too large");
    for (int i = 0; i < TTS_FAILMSG_FIELDS; i++)
        check((msg->known >> i & 1) != 0 || msg->value[i] == 0, "an unknown value");
    check(msg->line > 0 && msg->family < TTS_FAILMSG_FAMILIES, "no place");
    check((msg->op[0] != '\0') == (msg->op_line > 0), "an operation without a line");
}

static void read_text(int fd, size_t len, bool is_explained, struct reading *out)
{
    static char sink[1 << 16];
    char path[64];
    struct tts_input *in = NULL;
    struct tts_failscan *scan;
    struct tts_failmsg msg;
    FILE *stream = fmemopen(sink, sizeof sink, "w");
    check(ftruncate(fd, 0) == 0 && pwrite(fd, text, len, 0) == (ssize_t)len, "no file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    out->count = 0;
    check(tts_input_open(path, NULL, &in, NULL) == TTS_OK, "not opened");
    check(tts_failscan_new(in, &reuse_alloc, &scan, NULL) == TTS_OK, "not scanned");
    while (tts_failscan_next(scan, &msg, NULL) == TTS_OK) {
        check_message(&msg);
        if (is_explained)
            explain(&msg, stream);
        if (out->count < MESSAGES_MAX)
            out->messages[out->count++] = msg;
    }
    out->lines = tts_failscan_facts(scan).lines;
    for (size_t i = 0; i < out->count; i++)
        check(out->messages[i].line <= out->lines && out->messages[i].op_line <= out->lines &&
                  (i == 0 || out->messages[i - 1].line <= out->messages[i].line),
              "a line outside the text");
    tts_failscan_free(scan);
    tts_input_close(in);
    fclose(stream);
}

/* Reads the text in pieces of `step` bytes. */
static void read_pieces(size_t len, size_t step, struct reading *out)
{
    struct tts_failscan *scan;
    struct tts_failmsg msg;
    struct tts_logpiece piece = {0};
    bool is_end = false;
    out->count = 0;
    check(tts_failscan_new_fed("log", &reuse_alloc, &scan, NULL) == TTS_OK, "not scanned");
    for (size_t at = 0; !is_end; at += piece.len) {
        is_end = at == len;
        piece.bytes = text + at;
        piece.len = len - at < step ? len - at : step;
        tts_failscan_feed(scan, &piece);
        while (tts_failscan_next(scan, &msg, NULL) == TTS_OK)
            if (out->count < MESSAGES_MAX)
                out->messages[out->count++] = msg;
        for (size_t i = 0; i < piece.len; i++)
            piece.line_ends += text[at + i] == '\n';
    }
    tts_failscan_free(scan);
}

static void check_same(const struct reading *a, const struct reading *b)
{
    check(a->count == b->count, "another number of messages");
    for (size_t i = 0; i < a->count; i++)
        check(tts_failmsg_is_same(&a->messages[i], &b->messages[i]) &&
                  strcmp(a->messages[i].op, b->messages[i].op) == 0 &&
                  b->messages[i].line - a->messages[i].line ==
                      b->messages[0].line - a->messages[0].line,
              "another message");
}

static bool is_compressed(const uint8_t *bytes, size_t len)
{
    return (len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) ||
           (len >= 4 && (memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0 ||
                         memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0));
}

/* The first two bytes choose how the text is read a second time: one text of four in pieces,
 * one of sixteen after many other lines, which takes most of the time. Verdicts have a target
 * of their own, so the messages of one text of eight are explained. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct reading first, second;
    if (len < 3 || len - 2 > TEXT_MAX || is_compressed(bytes + 2, len - 2))
        return 0;
    size_t place = (size_t)(bytes[0] << 8 | bytes[1]);
    static int fd = -1;
    fd = fd >= 0 ? fd : memfd_create("log", MFD_CLOEXEC);
    check(fd >= 0, "no file");
    memcpy(text, bytes + 2, len - 2);
    read_text(fd, len - 2, place % 8 == 2, &first);
    if (place % 4 == 1) {
        read_pieces(len - 2, 1 + place / 4 % (len - 1), &second);
        check_same(&first, &second);
        check(first.count == 0 || first.messages[0].line == second.messages[0].line,
              "another line");
    }
    if (place % 16 != 0)
        return 0;
    size_t pad = FIRST_READ - place % (len - 1);
    memset(text, '-', pad);
    for (size_t at = 0; at < pad; at += 1000)
        text[at] = '\n';
    text[pad - 1] = '\n';
    memcpy(text + pad, bytes + 2, len - 2);
    read_text(fd, pad + len - 2, false, &second);
    check_same(&first, &second);
    return 0;
}
