/* Reads bytes as a text with failure messages. The reader must come to an end. Each message is
 * in the text, its strings are terminated, and its explanation can be written as text and as
 * JSON. After other lines, when the bytes lie across two reads, and in pieces that another
 * reader passes on, the messages are the same: failscan.h promises this. */
#include "sources/failure/failscan.h"
#include "analysis/failure/failadvice.h"
#include "analysis/failure/faillog.h"
#include "fuzz/reuse.h"
#include "views/failure/failview.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MESSAGES_MAX = 64,
    FIRST_READ = (256 + 4 + 65) * 1024,
    TEXT_MAX = 64 * 1024,
    PIECES_MAX = 32,
    LINES_MAX =
        6 * 1024, /* bytes of other lines before a text, unless it is read in two reads */
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static char text[FIRST_READ + TEXT_MAX];

struct reading {
    struct tts_failmsg messages[MESSAGES_MAX];
    size_t count;
};

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void explain(const struct tts_failmsg *msg)
{
    static char sink[1 << 16];
    static FILE *out;
    struct tts_failverdict verdict;
    struct tts_failadvice advice;
    struct tts_json json;
    out = out ? out : fmemopen(sink, sizeof sink, "w");
    check(out != NULL, "no stream");
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

/* Checks a message of a text of `lines` lines. */
static void check_message(const struct tts_failmsg *msg, uint64_t lines)
{
    check(memchr(msg->range, 0, sizeof msg->range) && memchr(msg->op, 0, sizeof msg->op) &&
              memchr(msg->core_type, 0, sizeof msg->core_type),
          "a text without an end");
    check((msg->known & msg->too_large) == 0, "a number both known and too large");
    for (int i = 0; i < TTS_FAILMSG_FIELDS; i++)
        check((msg->known >> i & 1) != 0 || msg->value[i] == 0, "an unknown value");
    check(msg->line <= lines && msg->op_line <= lines, "a line outside the text");
    check(msg->line > 0 && msg->family < TTS_FAILMSG_FAMILIES, "no place");
    check((msg->op[0] != '\0') == (msg->op_line > 0), "an operation without a line");
}

/* Takes all messages that the scan can return now. */
static void take_messages(struct tts_failscan *scan, struct reading *out)
{
    struct tts_failmsg msg;
    while (tts_failscan_next(scan, &msg, NULL) == TTS_OK)
        if (out->count < MESSAGES_MAX)
            out->messages[out->count++] = msg;
}

static uint64_t count_text_lines(size_t from, size_t to)
{
    uint64_t count = 0;
    for (const char *at = text + from; (at = memchr(at, '\n', (size_t)(text + to - at))); at++)
        count++;
    return count;
}

static void check_reading(const struct reading *reading, size_t len)
{
    uint64_t lines = count_text_lines(0, len) + 1;
    for (size_t i = 0; i < reading->count; i++) {
        check_message(&reading->messages[i], lines);
        check(i == 0 || reading->messages[i - 1].line <= reading->messages[i].line,
              "a line before the last one");
    }
}

/* Reads the text from a file. */
static void read_file(size_t len, struct reading *out)
{
    static int fd = -1;
    char path[64];
    struct tts_input *in = NULL;
    struct tts_failscan *scan;
    fd = fd >= 0 ? fd : memfd_create("log", MFD_CLOEXEC);
    check(ftruncate(fd, 0) == 0 && pwrite(fd, text, len, 0) == (ssize_t)len, "no file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    out->count = 0;
    check(tts_input_open(path, &reuse_alloc, &in, NULL) == TTS_OK, "not opened");
    check(tts_failscan_new(in, &reuse_alloc, &scan, NULL) == TTS_OK, "not scanned");
    take_messages(scan, out);
    uint64_t lines = count_text_lines(0, len) + (len > 0 && text[len - 1] != '\n');
    check(tts_failscan_facts(scan).lines == lines, "another number of lines");
    check_reading(out, len);
    tts_failscan_free(scan);
    tts_input_close(in);
}

/* Returns the length of piece `idx` of a text, of which `rest` bytes are left. `cuts` decides:
 * the first piece may have any length, the next ones are short, the last one is the rest. */
static size_t piece_len(uint64_t cuts, int idx, size_t rest)
{
    if (rest == 0 || cuts == 0 || idx == PIECES_MAX)
        return rest;
    size_t len = idx == 0 ? (size_t)(cuts >> 32) : (size_t)(cuts >> idx) % (1 + cuts % 97);
    return 1 + len % rest;
}

/* Reads the text in one piece if `cuts` is 0, else in at most PIECES_MAX + 1 pieces. */
static void read_pieces(size_t len, uint64_t cuts, struct reading *out)
{
    struct tts_failscan *scan;
    struct tts_logpiece piece = {0};
    size_t at = 0;
    out->count = 0;
    check(tts_failscan_new_fed("log", &reuse_alloc, &scan, NULL) == TTS_OK, "not scanned");
    for (int idx = 0; idx == 0 || piece.len > 0; idx++) {
        piece.bytes = text + at;
        piece.len = piece_len(cuts, idx, len - at);
        tts_failscan_feed(scan, &piece);
        take_messages(scan, out);
        piece.line_ends += count_text_lines(at, at + piece.len);
        at += piece.len;
    }
    tts_failscan_free(scan);
    check_reading(out, len);
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

/* Puts `pad` bytes of other lines before the `len` bytes of the text. The lines are empty,
 * short or long. */
static void put_lines_before(size_t pad, size_t len)
{
    static const size_t steps[] = {1, 2, 7, 1000};
    size_t step = steps[pad % 4];
    memmove(text + pad, text, len);
    memset(text, '-', pad);
    for (size_t at = 0; at < pad; at += step)
        text[at] = pad % 3 == 0 && step < 1000 ? '\r' : '\n';
    text[pad - 1] = '\n';
}

static uint64_t hash_input(const uint8_t *bytes, size_t len)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return (hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

/* Each text is read in one piece. The first two bytes choose a second way: the text is read in
 * several pieces, after some other lines, or its messages are explained (verdicts have a target
 * of their own). The two slow ways are chosen by a hash of the whole input, so that each input
 * repeats its own way, and no input makes its descendants slow: one text of 32 is read
 * from a file, and one of 256 lies across two reads of a file. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct reading first, second;
    if (len < 3 || len - 2 > TEXT_MAX || is_compressed(bytes + 2, len - 2))
        return 0;
    uint64_t hash = hash_input(bytes, len);
    size_t place = (size_t)(bytes[0] << 8 | bytes[1]);
    len -= 2;
    memcpy(text, bytes + 2, len);
    read_pieces(len, 0, &first);
    if (place % 4 == 1 || hash % 32 == 0) {
        if (hash % 32 == 0)
            read_file(len, &second);
        else
            read_pieces(len, hash | 1, &second);
        check_same(&first, &second);
        check(first.count == 0 || first.messages[0].line == second.messages[0].line,
              "another line");
    }
    for (size_t i = 0; place % 4 == 2 && i < first.count; i++)
        explain(&first.messages[i]);
    bool is_far = hash % 256 == 1;
    if (place % 4 != 0 && !is_far)
        return 0;
    size_t pad = is_far ? FIRST_READ - place % (len + 1) : 1 + (place / 4 + hash) % LINES_MAX;
    put_lines_before(pad, len);
    if (is_far)
        read_file(pad + len, &second);
    else
        read_pieces(pad + len, 0, &second);
    check_same(&first, &second);
    return 0;
}
