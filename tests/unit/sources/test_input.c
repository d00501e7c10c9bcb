#include "sources/input.h"

#include "harness/t.h"
#include "torture/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { TEXT_BYTES = 700001, PACKED_MAX = 800000 };

static unsigned char text[TEXT_BYTES], packed[PACKED_MAX], got[2 * TEXT_BYTES + 16];

static void make_text(void)
{
    uint64_t state = 5;
    for (size_t i = 0; i < TEXT_BYTES; i++)
        text[i] = (unsigned char)('a' + t_random(&state) % 17);
}

static size_t pack_gzip(unsigned char *out, size_t begin, size_t len)
{
    z_stream z = {.next_in = text + begin,
                  .avail_in = (unsigned)len,
                  .next_out = out,
                  .avail_out = (unsigned)(packed + PACKED_MAX - out)};
    T_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    T_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = (size_t)(z.next_out - out);
    deflateEnd(&z);
    return made;
}

static size_t pack_zstd(unsigned char *out, size_t begin, size_t len)
{
    size_t made = ZSTD_compress(out, (size_t)(packed + PACKED_MAX - out), text + begin, len, 3);
    T_TRUE(!ZSTD_isError(made));
    return made;
}

static const char *write_packed(size_t len)
{
    const char *path = t_scratch("packed");
    FILE *file = fopen(path, "w");
    T_TRUE(file != NULL);
    T_EQ(fwrite(packed, 1, len, file), len);
    T_EQ(fclose(file), 0);
    return path;
}

/* Reads the content to its end, with at most `step` bytes in each read. Returns the status of
 * the last read. */
static enum tts_status read_all(const char *path, size_t step, size_t *len,
                                struct tts_error *err)
{
    struct tts_input *in = NULL;
    enum tts_status status = tts_input_open(path, NULL, &in, err);
    *len = 0;
    if (status != TTS_OK)
        return status;
    T_EQ(tts_input_taken(in), 0);
    for (;;) {
        size_t count = 99;
        status = tts_input_read(in, got + *len, step, &count, err);
        if (status != TTS_OK) {
            T_EQ(count, 99);
            T_EQ(tts_input_read(in, got, step, &count, NULL), status);
            break;
        }
        T_TRUE(count <= step);
        if (count == 0)
            break;
        *len += count;
        T_TRUE(*len <= sizeof got - step);
    }
    if (status == TTS_OK && tts_input_total(in) > 0)
        T_EQ(tts_input_taken(in), tts_input_total(in));
    tts_input_close(in);
    return status;
}

static void expect_text(const char *path, size_t step, size_t wanted)
{
    size_t len;
    struct tts_error err = {0};
    enum tts_status status = read_all(path, step, &len, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    T_EQ(len, wanted);
    T_MEM_EQ(got, text, wanted);
}

/* Checks that reading fails with these words, and that the content before the failure is
 * correct. */
static void expect_failure(size_t packed_len, const char *words)
{
    size_t len;
    struct tts_error err = {0};
    T_EQ(read_all(write_packed(packed_len), 100000, &len, &err), TTS_E_SYNTAX);
    T_TRUE(strstr(err.text, words) != NULL);
    T_TRUE(len <= TEXT_BYTES);
    T_MEM_EQ(got, text, len);
}

T_TEST(a_plain_file_is_given_as_it_is)
{
    make_text();
    for (size_t len = 0; len < 12; len++) {
        memcpy(packed, text, len);
        for (size_t step = 1; step < 6; step++)
            expect_text(write_packed(len), step, len);
    }
    memcpy(packed, text, TEXT_BYTES);
    expect_text(write_packed(TEXT_BYTES), 65536, TEXT_BYTES);
    expect_text(write_packed(TEXT_BYTES), 7, TEXT_BYTES);
}

T_TEST(the_first_bytes_tell_what_it_is)
{
    static const unsigned char plain[][4] = {{0x1f, 0x8c, 8, 0},
                                             {0x28, 0xb5, 0x2f, 0xfc},
                                             {0x60, 0x2a, 0x4d, 0x18},
                                             {0x50, 0x2a, 0x4d, 0x19}};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        size_t len;
        memcpy(packed, plain[i], 4);
        T_EQ(read_all(write_packed(4), 100, &len, NULL), TTS_OK);
        T_EQ(len, 4);
        T_MEM_EQ(got, plain[i], 4);
    }
}

T_TEST(gzip_members_are_given_as_one)
{
    make_text();
    size_t len = pack_gzip(packed, 0, TEXT_BYTES);
    expect_text(write_packed(len), 262144, TEXT_BYTES);
    expect_text(write_packed(len), 13, TEXT_BYTES);
    len = pack_gzip(packed, 0, 300000);
    len += pack_gzip(packed + len, 300000, 0);
    len += pack_gzip(packed + len, 300000, 5);
    expect_text(write_packed(len), 262144, 300005);
    memset(packed + len, 0, 1000); /* zero bytes, as at the end of a tape */
    expect_text(write_packed(len + 1000), 262144, 300005);
    expect_text(write_packed(len + 1), 262144, 300005);
    packed[len + 999] = 'x';
    expect_failure(len + 1000, "other data follows the gzip data");
    len = pack_gzip(packed, 0, 0);
    expect_text(write_packed(len), 100, 0);
}

T_TEST(zstd_frames_are_given_as_one)
{
    static const unsigned char skipped[] = {0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'};
    make_text();
    size_t len = pack_zstd(packed, 0, TEXT_BYTES);
    expect_text(write_packed(len), 262144, TEXT_BYTES);
    expect_text(write_packed(len), 13, TEXT_BYTES);
    memcpy(packed, skipped, sizeof skipped);
    len = sizeof skipped;
    len += pack_zstd(packed + len, 0, 300000);
    len += pack_zstd(packed + len, 300000, 0);
    memcpy(packed + len, skipped, sizeof skipped);
    len += sizeof skipped;
    len += pack_zstd(packed + len, 300000, 5);
    expect_text(write_packed(len), 262144, 300005);
    len = pack_zstd(packed, 0, 0);
    expect_text(write_packed(len), 100, 0);
}

T_TEST(compressed_bytes_that_are_cut_off_say_so)
{
    make_text();
    size_t len = pack_gzip(packed, 0, 5000);
    for (size_t cut = 2; cut < len; cut += cut < 40 || cut + 40 > len ? 1 : 97)
        expect_failure(cut, "the gzip data is cut off");
    len = pack_gzip(packed, 0, TEXT_BYTES);
    size_t given;
    T_EQ(read_all(write_packed(len - 1), 65536, &given, NULL), TTS_E_SYNTAX);
    T_EQ(given, TEXT_BYTES);
    len = pack_zstd(packed, 0, 5000);
    for (size_t cut = 4; cut < len; cut += cut < 40 || cut + 40 > len ? 1 : 97)
        expect_failure(cut, "the zstd data is cut off");
    len += pack_zstd(packed + len, 5000, 5000);
    expect_failure(len - 1, "the zstd data is cut off");
}

/* Compresses the content with a checksum at its end. Returns the number of bytes. */
static size_t pack_checked(size_t len)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    T_TRUE(zstd != NULL);
    T_TRUE(!ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1)));
    size_t made = ZSTD_compress2(zstd, packed, PACKED_MAX, text, len);
    T_TRUE(!ZSTD_isError(made));
    ZSTD_freeCCtx(zstd);
    return made;
}

T_TEST(damaged_bytes_say_so)
{
    make_text();
    size_t len = pack_gzip(packed, 0, 200000);
    packed[len - 8] ^= 1; /* makes the checksum wrong */
    expect_failure(len, "damaged gzip data: incorrect data check");
    len = pack_gzip(packed, 0, 200000);
    memset(packed + 20, 0xff, 100);
    expect_failure(len, "damaged gzip data: ");
    packed[2] = 77;
    expect_failure(len, "damaged gzip data: unknown compression method");
    len = pack_checked(200000);
    packed[len - 1] ^= 1;
    expect_failure(len, "damaged zstd data: ");
    len = pack_checked(200000);
    packed[4] = 0xff; /* sets a bit of the header that must be 0 */
    expect_failure(len, "damaged zstd data: ");
    len = pack_zstd(packed, 0, 200000);
    memset(packed + len, 'x', 20);
    expect_failure(len + 20, "damaged zstd data: ");
}

static size_t pack_window(int log)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    ZSTD_inBuffer from = {text, TEXT_BYTES, 0};
    ZSTD_outBuffer to = {packed, PACKED_MAX, 0};
    T_TRUE(zstd != NULL);
    T_TRUE(!ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, log)));
    /* Compress in two steps, because a single step would make the window as small as the
     * text. */
    T_TRUE(!ZSTD_isError(ZSTD_compressStream2(zstd, &to, &from, ZSTD_e_continue)));
    T_EQ(ZSTD_compressStream2(zstd, &to, &from, ZSTD_e_end), 0);
    ZSTD_freeCCtx(zstd);
    return to.pos;
}

T_TEST(a_window_that_takes_too_much_memory_says_what_to_do)
{
    make_text();
    expect_text(write_packed(pack_window(23)), 262144, TEXT_BYTES);
    size_t len;
    struct tts_error err = {0};
    T_EQ(read_all(write_packed(pack_window(24)), 100000, &len, &err), TTS_E_SYNTAX);
    T_STR_EQ(err.text, "compressed with a window of more than 8 MiB ('--long'): use 'zstd -dc "
                       "--long=31 FILE | ...' and standard input");
    T_EQ(len, 0);
}

T_TEST(what_cannot_be_opened_says_why)
{
    size_t len;
    struct tts_error err;
    const char *path = t_scratch("nothing");
    T_EQ(read_all(path, 100, &len, &err), TTS_E_IO);
    T_EQ(err.sys_errno, ENOENT);
    T_TRUE(strstr(err.text, path) != NULL);
    path = t_scratch("directory");
    T_EQ(mkdir(path, 0700), 0);
    T_EQ(read_all(path, 100, &len, &err), TTS_E_IO);
    T_EQ(err.sys_errno, EISDIR);
    T_TRUE(strstr(err.text, path) != NULL);
    tts_input_close(NULL);
}

T_TEST(standard_input_may_be_compressed_and_stays_open)
{
    make_text();
    const char *path = write_packed(pack_gzip(packed, 0, 5000));
    int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    T_TRUE(saved >= 0 && fd >= 0);
    T_EQ(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    expect_text("-", 100, 5000);
    T_TRUE(lseek(STDIN_FILENO, 0, SEEK_CUR) > 0);
    T_EQ(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
    close(fd);
}

T_TEST(every_allocation_may_fail)
{
    make_text();
    const char *path = write_packed(pack_gzip(packed, 0, TEXT_BYTES));
    uint64_t failed = 0;
    for (uint64_t at = 1;; at++) {
        struct heap heap;
        struct tts_input *in = NULL;
        size_t count = 1;
        struct tts_error err = {0};
        heap_init(&heap);
        heap.fail_at = at;
        enum tts_status status = tts_input_open(path, &heap.alloc, &in, &err);
        while (status == TTS_OK && count > 0)
            status = tts_input_read(in, got, 65536, &count, &err);
        tts_input_close(in);
        T_TRUE(heap_is_settled(&heap));
        if (heap.failed == 0) {
            T_EQ(status, TTS_OK);
            break;
        }
        T_EQ(status, TTS_E_NOMEM);
        T_EQ(err.sys_errno, ENOMEM);
        failed++;
    }
    T_TRUE(failed >= 4);
}

/* ---- kinds ---- */

/* Returns the path of the reading end of a pipe that has these bytes and no writer. Sets *fd to
 * this end, which the caller closes. */
static const char *pipe_of(const unsigned char *bytes, size_t len, int *fd)
{
    static char path[64];
    int ends[2];
    T_EQ(pipe(ends), 0);
    T_EQ(write(ends[1], bytes, len), (ssize_t)len);
    close(ends[1]);
    *fd = ends[0];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    return path;
}

static void expect_kind(struct tts_input *in, enum tts_input_kind wanted, size_t len)
{
    enum tts_input_kind kind;
    T_EQ(tts_input_kind(in, &kind, NULL), TTS_OK);
    T_EQ(kind, wanted);
    T_EQ(tts_input_kind(in, &kind, NULL), TTS_OK);
    size_t head_len;
    tts_input_head(in, &head_len);
    T_EQ(head_len, len);
}

/* Reads the content to its end. */
static size_t read_rest(struct tts_input *in)
{
    size_t len = 0;
    for (size_t count = 1; count > 0; len += count)
        T_EQ(tts_input_read(in, got + len, 77, &count, NULL), TTS_OK);
    return len;
}

T_TEST(the_content_says_the_kind)
{
    static const struct {
        const char *text;
        size_t len;
        enum tts_input_kind kind;
        bool begins_as_json;
    } all[] = {
#define CONTENT(text) text, sizeof text - 1
        {CONTENT(""), TTS_INPUT_EMPTY, false},
        {CONTENT("\x89tts\r\n\x1a\n rest"), TTS_INPUT_RECORDING, false},
        {CONTENT("{\"graph\": []}"), TTS_INPUT_JSON, true},
        {CONTENT(" \n[ {\"counter\": 0}]"), TTS_INPUT_JSON, true},
        {CONTENT("\xef\xbb\xbf{}"), TTS_INPUT_JSON, true},
        {CONTENT("["), TTS_INPUT_JSON, true},
        {CONTENT("[]"), TTS_INPUT_JSON, true},
        {CONTENT("[rank0]: hello\n"), TTS_INPUT_TEXT, true},
        {CONTENT("[1,0]<stdout>: hello\n"), TTS_INPUT_TEXT, true},
        {CONTENT("[2026-01-02 10:00:00] hello\n"), TTS_INPUT_TEXT, true},
        {CONTENT("{r0} hello\n"), TTS_INPUT_TEXT, true},
        {CONTENT("hello\n"), TTS_INPUT_TEXT, false},
        {CONTENT("\x7f"
                 "ELF\0\0"),
         TTS_INPUT_UNKNOWN, false},
        {CONTENT("[\0"), TTS_INPUT_UNKNOWN, true},
#undef CONTENT
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (int is_gzip = 0; is_gzip < 2; is_gzip++) {
            struct tts_input *in = NULL;
            memcpy(text, all[i].text, all[i].len);
            memcpy(packed, text, all[i].len);
            size_t len = is_gzip ? pack_gzip(packed, 0, all[i].len) : all[i].len;
            T_EQ(tts_input_open(write_packed(len), NULL, &in, NULL), TTS_OK);
            expect_kind(in, all[i].kind, all[i].len);
            T_EQ(tts_input_begins_as_json(in), all[i].begins_as_json);
            T_EQ(tts_input_is_compressed(in), is_gzip);
            T_EQ(read_rest(in), all[i].len);
            T_MEM_EQ(got, text, all[i].len);
            tts_input_close(in);
        }
    }
}

/* The read reports the error, so that a reader of a log can name the line. */
T_TEST(bytes_that_cannot_be_decompressed_are_of_no_kind)
{
    struct tts_input *in = NULL;
    size_t count;
    memcpy(packed, "\x1f\x8bxxxxxxxx", 10);
    T_EQ(tts_input_open(write_packed(10), NULL, &in, NULL), TTS_OK);
    expect_kind(in, TTS_INPUT_UNKNOWN, 0);
    T_EQ(tts_input_read(in, got, 10, &count, NULL), TTS_E_SYNTAX);
    tts_input_close(in);
}

T_TEST(a_file_can_be_read_again)
{
    make_text();
    for (int is_gzip = 0; is_gzip < 2; is_gzip++) {
        struct tts_input *in = NULL;
        memcpy(packed, text, TEXT_BYTES);
        size_t len = is_gzip ? pack_gzip(packed, 0, TEXT_BYTES) : TEXT_BYTES;
        const char *path = write_packed(len);
        T_EQ(tts_input_open(path, NULL, &in, NULL), TTS_OK);
        expect_kind(in, TTS_INPUT_TEXT, TTS_INPUT_HEAD);
        T_EQ(tts_input_spool(in, "a file", NULL, NULL, NULL), TTS_OK);
        T_STR_EQ(tts_input_path(in), path);
        for (int i = 0; i < 2; i++) {
            T_EQ(tts_input_rewind(in, NULL), TTS_OK);
            T_EQ(read_rest(in), TEXT_BYTES);
            T_MEM_EQ(got, text, TEXT_BYTES);
        }
        tts_input_close(in);
    }
}

static void count_spooled(void *ctx, uint64_t bytes)
{
    *(uint64_t *)ctx = bytes;
}

T_TEST(a_pipe_can_be_read_again_once_it_is_spooled)
{
    make_text();
    for (int is_gzip = 0; is_gzip < 2; is_gzip++) {
        struct tts_input *in = NULL, *again = NULL;
        enum { LEN = 60000 };
        int fd;
        uint64_t spooled = 0;
        memcpy(packed, text, LEN);
        size_t len = is_gzip ? pack_gzip(packed, 0, LEN) : LEN;
        T_EQ(tts_input_open(pipe_of(packed, len, &fd), NULL, &in, NULL), TTS_OK);
        close(fd);
        expect_kind(in, TTS_INPUT_TEXT, LEN);
        T_EQ(tts_input_rewind(in, NULL), TTS_OK); /* only the head was read so far */
        T_EQ(tts_input_spool(in, "a pipe", count_spooled, &spooled, NULL), TTS_OK);
        T_EQ(spooled, LEN);
        T_EQ(tts_input_is_compressed(in), is_gzip);
        for (int i = 0; i < 2; i++) {
            T_EQ(read_rest(in), LEN);
            T_MEM_EQ(got, text, LEN);
            T_EQ(tts_input_rewind(in, NULL), TTS_OK);
        }
        T_EQ(tts_input_open(tts_input_path(in), NULL, &again, NULL), TTS_OK);
        T_EQ(read_rest(again), LEN);
        tts_input_close(again);
        tts_input_close(in);
    }
}

T_TEST(a_pipe_that_cannot_be_kept_says_so)
{
    struct tts_input *in = NULL;
    struct tts_error err = {0};
    int fd;
    T_EQ(tts_input_open(pipe_of(text, 100, &fd), NULL, &in, NULL), TTS_OK);
    close(fd);
    T_EQ(setenv("TMPDIR", "/no/such", 1), 0);
    T_EQ(tts_input_spool(in, "a pipe", NULL, NULL, &err), TTS_E_IO);
    T_EQ(unsetenv("TMPDIR"), 0);
    T_STR_EQ(err.text, "cannot copy a pipe to a temporary file: no such file or directory");
    tts_input_close(in);
}
