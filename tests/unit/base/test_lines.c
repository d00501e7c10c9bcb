#include "base/heap.h"
#include "base/lines.h"
#include "harness/t.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct tts_lines open_bytes(const char *bytes, size_t len)
{
    struct tts_lines lines;
    struct tts_error err;
    T_EQ(tts_lines_open(&lines, t_file("in.txt", bytes, len), tts_alloc_libc(), &err), TTS_OK);
    return lines;
}

static void expect_line(struct tts_lines *lines, const char *wanted, size_t wanted_len)
{
    const char *text;
    size_t len;
    struct tts_error err;
    T_EQ(tts_lines_next(lines, &text, &len, &err), TTS_OK);
    T_EQ(len, wanted_len);
    T_MEM_EQ(text, wanted, len);
}

static void expect_end(struct tts_lines *lines)
{
    const char *text = "kept";
    size_t len = 99;
    struct tts_error err;
    T_EQ(tts_lines_next(lines, &text, &len, &err), TTS_E_NOT_FOUND);
    T_EQ(tts_lines_next(lines, &text, &len, &err), TTS_E_NOT_FOUND);
    T_TRUE(strcmp(text, "kept") == 0 && len == 99);
    int fd = lines->fd, ours = lines->owns_fd;
    tts_lines_close(lines);
    T_TRUE(lines->buffer == NULL && !lines->owns_fd);
    T_EQ(fcntl(fd, F_GETFD) < 0, ours);
    tts_lines_close(lines);
}

T_TEST(lines_lose_their_end_and_the_last_needs_none)
{
    static const char text[] = "one\n\r\n\ntwo\r\n\rth\rree\r\r\nlast\r";
    struct tts_lines lines = open_bytes(text, sizeof text - 1);
    expect_line(&lines, "one", 3);
    T_TRUE(lines.line == 1 && lines.offset == 4);
    expect_line(&lines, "", 0);
    expect_line(&lines, "", 0);
    expect_line(&lines, "two", 3);
    expect_line(&lines, "\rth\rree\r", 8);
    T_EQ(lines.line, 5);
    expect_line(&lines, "last\r", 5);
    T_EQ(lines.offset, sizeof text - 1);
    expect_end(&lines);
}

T_TEST(an_empty_file_has_no_line)
{
    struct tts_lines lines = open_bytes("", 0);
    T_TRUE(lines.owns_fd);
    expect_end(&lines);
}

T_TEST(an_empty_first_line_is_a_line)
{
    struct tts_lines lines = open_bytes("\n", 1);
    expect_line(&lines, "", 0);
    expect_end(&lines);
}

static void expect_error(const char *bytes, size_t bytes_len, uint32_t line, uint64_t offset,
                         const char *said)
{
    struct tts_lines lines = open_bytes(bytes, bytes_len);
    struct tts_error err = {0};
    const char *text = NULL;
    size_t len = 0;
    for (uint32_t i = 1; i < line; i++)
        T_EQ(tts_lines_next(&lines, &text, &len, &err), TTS_OK);
    text = "kept";
    for (int i = 0; i < 2; i++) { /* a second call gives the same answer */
        T_EQ(tts_lines_next(&lines, &text, &len, &err), TTS_E_SYNTAX);
        T_STR_EQ(err.text, said);
        T_TRUE(err.line == line && err.offset == offset && err.status == TTS_E_SYNTAX);
        T_STR_EQ(text, "kept");
    }
    T_EQ(tts_lines_next(&lines, &text, &len, NULL), TTS_E_SYNTAX);
    tts_lines_close(&lines);
}

T_TEST(a_nul_byte_is_no_text_wherever_it_stands)
{
    static const char said[] = "not a text file: the file has a NUL byte";
    expect_error("ab\0\n", 4, 1, 2, said);
    expect_error("ok\n\0", 4, 2, 3, said);
    expect_error("ok\nx\0\r\n", 7, 2, 4, said);
    /* A binary file without line ends is not reported as a long line. */
    static char many[200000];
    many[0] = 'x';
    expect_error(many, sizeof many, 1, 1, said);
}

T_TEST(the_longest_line_is_given_and_one_byte_more_is_refused)
{
    static const char *const ends[] = {"\n", "\r\n", ""};
    static char text[TTS_LINE_MAX_BYTES + 8];
    for (size_t i = 0; i < 3; i++) {
        memset(text, 'x', sizeof text);
        strcpy(text + TTS_LINE_MAX_BYTES, ends[i]);
        struct tts_lines lines = open_bytes(text, strlen(text));
        char wanted[TTS_LINE_MAX_BYTES];
        memset(wanted, 'x', sizeof wanted);
        expect_line(&lines, wanted, sizeof wanted);
        expect_end(&lines);

        memcpy(text, "a\n", 2);
        memset(text + TTS_LINE_MAX_BYTES, 'x', 3);
        strcpy(text + TTS_LINE_MAX_BYTES + 3, ends[i]);
        expect_error(text, strlen(text), 2, 2 + TTS_LINE_MAX_BYTES,
                     "the line is longer than 4096 bytes");
    }
}

T_TEST(the_longest_line_may_be_cut_anywhere_by_a_buffer)
{
    enum { BUFFER = 64 * 1024, LEN = TTS_LINE_MAX_BYTES };
    static char text[BUFFER + LEN];
    for (size_t cut = LEN - 2; cut < LEN + 4;
         cut++) { /* bytes of the line in the first buffer */
        size_t begin = BUFFER - cut;
        memset(text, 'x', sizeof text);
        for (size_t at = 99; at < begin; at += 100)
            text[at] = '\n';
        text[begin - 1] = '\n';
        memcpy(text + begin + LEN, "\r\n", 2);
        struct tts_lines lines = open_bytes(text, begin + LEN + 2);
        const char *line = NULL;
        size_t len = 0;
        while (lines.offset < begin)
            T_EQ(tts_lines_next(&lines, &line, &len, NULL), TTS_OK);
        expect_line(&lines, text + begin, LEN);
        expect_end(&lines);
    }
}

T_TEST(a_line_without_end_is_refused_in_bounded_memory)
{
    enum { BYTES = 1 << 20 };
    char *text = test_malloc(BYTES);
    memset(text, 'x', BYTES);
    expect_error(text, BYTES, 1, TTS_LINE_MAX_BYTES, "the line is longer than 4096 bytes");
    test_free(text);
}

/* A text that fills several buffers must give the same lines as a plain split at each "\n". */
T_TEST(agrees_with_a_plain_split_across_buffers)
{
    enum { BYTES = 400000 };
    char *text = test_malloc(BYTES);
    uint64_t rng = 11;
    for (size_t at = 0; at < BYTES; at++) {
        uint64_t run = at < BYTES / 2 ? 30 : 2000;
        text[at] = t_random(&rng) % run == 0 ? '\n' : (char)('a' + t_random(&rng) % 26);
    }
    struct tts_lines lines = open_bytes(text, BYTES);
    size_t begin = 0;
    uint64_t count = 0;
    while (begin < BYTES) {
        const char *end = memchr(text + begin, '\n', BYTES - begin);
        size_t len = (end ? (size_t)(end - text) : BYTES) - begin;
        if (len > TTS_LINE_MAX_BYTES)
            break;
        expect_line(&lines, text + begin, len);
        begin += len + 1;
        count++;
        T_EQ(lines.line, count);
    }
    T_TRUE(count > 1000);
    tts_lines_close(&lines);
    test_free(text);
}

static void on_alarm(int signal)
{
    (void)signal;
}

/* Writes `text` to fd in pieces of three bytes, slowly enough that signals interrupt the reader
 * between them. */
static void write_slowly(int fd, const char *text)
{
    for (size_t i = 0; i < strlen(text); i += 3) {
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        if (write(fd, text + i, strnlen(text + i, 3)) < 0)
            _exit(1);
    }
    _exit(0);
}

T_TEST(standard_input_may_come_in_pieces_with_signals_between)
{
    int ends[2], keep = dup(STDIN_FILENO);
    T_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_slowly(ends[1], "first line\r\nsecond\nthird");
    }
    close(ends[1]);
    T_TRUE(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    close(ends[0]);
    /* Without SA_RESTART, so that a signal interrupts read(). */
    struct sigaction act = {.sa_handler = on_alarm}, old;
    sigaction(SIGALRM, &act, &old);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);

    struct tts_lines lines;
    struct tts_error err;
    T_EQ(tts_lines_open(&lines, "-", tts_alloc_libc(), &err), TTS_OK);
    expect_line(&lines, "first line", 10);
    expect_line(&lines, "second", 6);
    expect_line(&lines, "third", 5);
    expect_end(&lines);
    T_EQ(fcntl(STDIN_FILENO, F_GETFD), 0); /* standard input must stay open */

    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    sigaction(SIGALRM, &old, NULL);
    dup2(keep, STDIN_FILENO);
    close(keep);
    int status;
    T_TRUE(waitpid(child, &status, 0) == child && status == 0);
}

static void expect_no_open(const char *path, const struct tts_alloc *alloc,
                           enum tts_status status, int sys_errno, const char *reason)
{
    struct tts_lines lines = {.line = 42};
    struct tts_error err = {0};
    char said[400];
    snprintf(said, sizeof said, "cannot read '%s': %s", path, reason);
    T_EQ(tts_lines_open(&lines, path, alloc, &err), status);
    T_EQ(err.sys_errno, sys_errno);
    T_STR_EQ(err.text, said);
    T_TRUE(lines.line == 42 && !lines.buffer);
    T_EQ(tts_lines_open(&lines, path, alloc, NULL), status);
}

static void *no_memory(void *ctx, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    return NULL;
}

T_TEST(what_cannot_be_opened_says_why)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    struct tts_alloc none = *libc;
    none.alloc = no_memory;
    int unused = dup(STDIN_FILENO);
    close(unused);
    expect_no_open("/no/such/file", libc, TTS_E_IO, ENOENT, "no such file or directory");
    expect_no_open("/", libc, TTS_E_IO, EISDIR, "is a directory");
    expect_no_open("/dev/null", &none, TTS_E_NOMEM, ENOMEM, "the host has too little memory");
    int next = dup(STDIN_FILENO); /* no file was left open */
    T_EQ(next, unused);
    close(next);
}

T_TEST(a_read_that_fails_says_where)
{
    struct tts_lines lines = open_bytes("a\nb", 3);
    expect_line(&lines, "a", 1);
    int fd = lines.fd;
    lines.fd = -1;
    struct tts_error err;
    const char *text;
    size_t len;
    T_EQ(tts_lines_next(&lines, &text, &len, &err), TTS_E_IO);
    T_STR_EQ(err.text, "read failed: bad file descriptor");
    T_TRUE(err.line == 2 && err.offset == 3);
    lines.fd = fd;
    expect_line(&lines, "b", 1);
    expect_end(&lines);
}
