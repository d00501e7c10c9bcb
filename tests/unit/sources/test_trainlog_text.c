/* Tests the text itself: line ends, long lines, escape sequences, the borders of the window,
 * and failures. */
#include "harness/trainlog_rig.h"
#include "torture/heap.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 256 * 1024, FIRST_READ = CHUNK + 3 * 4096 };

T_TEST(lines_end_in_three_ways_and_are_counted_by_one)
{
    char *text = with_ends("x\n" BLOCK("A"), "\r\n");
    read_log(text);
    free(text);
    expect_whole(0, "", "A");
    T_EQ(runs[0].line, 2);
    T_EQ(runs[0].end_line, 10);
    T_EQ(facts.lines, 10);
    text = with_ends("x\n" BLOCK("A"), "\r");
    read_log(text);
    free(text);
    expect_whole(0, "", "A");
    T_EQ(runs[0].line, 1);
    T_EQ(facts.lines, 1);
    read_log("  5%|#   | 1/20\r 10%|##  | 2/20\r" BLOCK("A"));
    expect_whole(0, "", "A");
    T_EQ(runs[0].line, 1);
    T_STR_EQ(runs[0].title, "");
}

T_TEST(escape_sequences_are_taken_out)
{
    read_log("\x1b[0m\x1b[1;38;5;208m=== Memory Usage Summary ===\x1b[0m\n"
             "\x1b]0;window title\a--- \x1b[1mA\x1b[m ---\x1b[K\n"
             "\x1b]8;;http://x\x1b\\  DRAM: Segment Peak \x1b[32m3.00\x1b[0m MB, Allocations "
             "4.00 MB, Deallocations 2.00 MB, Segment Change +2.00 MB\x1b(B\n"
             "\x1b[?25l" CUMULATIVE("3.00", "2.00") "\x1b" L1(
                 "0.25", "0.50", "0.75") "\x1b]unfinished" OVERALL("3.00", "2.00") "\x1b[12;");
    T_EQ(run_count, 1);
    T_STR_EQ(runs[0].rank, "");
    T_STR_EQ(runs[0].phases[0].name, "A");
    expect_figure(0, 0, TTS_RUN_SEGMENT_PEAK, 3);
    expect_figure(0, 0, TTS_RUN_CUMULATIVE_CURRENT, 2);
    expect_figure(0, 0, TTS_RUN_L1_TOTAL, 0.75);
    T_EQ(facts.stray_lines, 1); /* the stray line has the prefix "unfinished" */
}

T_TEST(nul_bytes_are_bytes_like_others)
{
    static const char text[] =
        "\0\0\0\n" HEADING "--- A\0B ---\n" SEGMENT("3.00", "4.00", "2.00", "+2.00")
            CUMULATIVE("3.00", "2.00") OVERALL("3.00", "2.00");
    read_bytes(text, sizeof text - 1);
    T_TRUE(facts.has_nul);
    T_STR_EQ(runs[0].phases[0].name, "A?B");
    T_EQ(runs[0].line, 2);
    T_TRUE(!runs[0].is_cut && runs[0].notes_in_all == 0);
    /* A NUL byte is found at the very end too, where fewer than 16 bytes are left. */
    read_bytes("abc\0", 4);
    T_TRUE(facts.has_nul);
    read_bytes("abc", 3);
    T_TRUE(!facts.has_nul);
    /* A NUL byte is found at each place among the bytes that are examined together. */
    for (size_t i = 0; i < 70; i++) {
        char many[1000];
        memset(many, 'a', sizeof many);
        many[400 + i] = '\0';
        read_bytes(many, sizeof many);
        T_TRUE(facts.has_nul);
    }
}

T_TEST(marks_at_the_beginning_are_known)
{
    read_log("\xef\xbb\xbf" BLOCK("A"));
    expect_whole(0, "", "A");
    T_TRUE(!facts.is_utf16);
    read_bytes("\xff\xfe=\0=\0=\0 \0M\0", 12);
    T_TRUE(facts.is_utf16 && run_count == 0);
    read_bytes("\xfe\xff\0=\0=\0=\0 \0M", 12);
    T_TRUE(facts.is_utf16 && facts.has_nul);
    read_log("");
    T_TRUE(run_count == 0 && facts.lines == 0 && facts.bytes == 0);
    read_log("\n");
    T_TRUE(run_count == 0 && facts.lines == 1);
    read_log("a\nb");
    T_EQ(facts.lines, 2);
}

/* ---- long lines ---- */

/* Returns `text` after `before` bytes of `filler` on the same line. The caller frees the
 * result. */
static char *behind(size_t before, char filler, const char *text, size_t *len)
{
    *len = before + strlen(text);
    char *out = malloc(*len + 1);
    T_TRUE(out != NULL);
    memset(out, filler, before);
    memcpy(out + before, text, strlen(text) + 1);
    return out;
}

T_TEST(only_the_first_bytes_of_a_line_are_looked_at)
{
    static const struct {
        size_t before;
        bool is_found;
    } cases[] = {{4096 - 28, true}, {4096 - 27, false}, {4096, false},
                 {8192, false},     {300000, false},    {1000000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len;
        char *text = behind(cases[i].before, ' ', BLOCK("A"), &len);
        read_bytes(text, len);
        T_EQ(run_count, cases[i].is_found);
        T_EQ(facts.stray_lines, cases[i].is_found ? 0 : 3);
        T_EQ(facts.lines, 9);
        free(text);
        /* Inside a block every line is examined. */
        text = behind(cases[i].before, ' ', BODY("A"), &len);
        memcpy(text, HEADING, strlen(HEADING));
        read_bytes(text, len);
        T_EQ(run_count, 1);
        expect_whole(0, "", "A");
        free(text);
    }
}

T_TEST(a_long_line_of_words_of_interest_is_passed_over)
{
    size_t unit = strlen("memory DRAM param "), count = 50000;
    char *text = malloc(count * unit + 1000), *at = text;
    at += sprintf(at, HEADING);
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "memory DRAM param ");
    sprintf(at, "\r%s", BODY("A"));
    read_log(text);
    free(text);
    expect_whole(0, "", "A");
    T_EQ(facts.lines, 9);
}

/* ---- borders ---- */

T_TEST(a_block_may_stand_at_any_place_of_what_is_read_at_once)
{
    static const char text[] = "Title\nNumber of parameters: 5\n" BLOCK("A") "rest\n";
    static char log[FIRST_READ + CHUNK];
    /* The lines have 7 bytes, so that a border can be inside a line. */
    for (size_t pad = FIRST_READ - 500; pad < FIRST_READ + 100; pad++) {
        for (size_t i = 0; i < pad; i++)
            log[i] = i % 7 == 6 || i + 1 == pad ? '\n' : '.';
        memcpy(log + pad, text, sizeof text - 1);
        read_bytes(log, pad + sizeof text - 1);
        T_EQ(run_count, 1);
        expect_whole(0, "", "A");
        T_EQ(runs[0].line, pad / 7 + (pad % 7 != 0) + 3);
        T_EQ(runs[0].parameters, 5);
        T_STR_EQ(runs[0].title, "Title");
        T_EQ(facts.lines, pad / 7 + (pad % 7 != 0) + 12);
        T_EQ(facts.bytes, pad + sizeof text - 1);
    }
}

struct feed {
    int fd;
    const char *text;
    size_t len, step;
};

static void *feed(void *ctx)
{
    struct feed *feed = ctx;
    for (size_t at = 0; at < feed->len; at += feed->step) {
        size_t left = feed->len - at, count = left < feed->step ? left : feed->step;
        if (write(feed->fd, feed->text + at, count) != (ssize_t)count)
            break;
    }
    close(feed->fd);
    return NULL;
}

T_TEST(standard_input_may_come_in_small_pieces)
{
    static const char text[] = "Title\n" BLOCK("A") BLOCK("B");
    for (size_t step = 1; step < 40; step += 6) {
        int ends[2], saved = dup(STDIN_FILENO);
        pthread_t thread;
        T_EQ(pipe(ends), 0);
        struct feed source = {ends[1], text, sizeof text - 1, step};
        T_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        T_EQ(pthread_create(&thread, NULL, feed, &source), 0);
        T_EQ(read_path("-"), TTS_E_NOT_FOUND);
        T_EQ(pthread_join(thread, NULL), 0);
        T_EQ(dup2(saved, STDIN_FILENO), STDIN_FILENO);
        close(saved);
        close(ends[0]);
        T_EQ(run_count, 2);
        expect_whole(0, "", "A");
        expect_whole(1, "", "B");
    }
}

/* A log is read in two ways: the reader searches for words, or reads line by line after a line
 * of a block. */
T_TEST(a_block_goes_on_behind_any_number_of_other_lines)
{
    static char text[200000];
    for (int lines = 0; lines < 2000; lines += lines < 40 ? 1 : 379) {
        char other[200 + 1] = "", *at = text;
        memset(other, '.', sizeof other - 1);
        static const char *const parts[] = {HEADING,
                                            "--- A ---\n",
                                            SEGMENT("3.00", "4.00", "2.00", "+2.00"),
                                            CUMULATIVE("3.00", "2.00"),
                                            L1("0.25", "0.50", "0.75"),
                                            OVERALL("3.00", "2.00")};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            at += sprintf(at, "%s", parts[i]);
            for (int line = 0; line < lines; line++)
                at += sprintf(at, "%.*s\n", line % 17, other);
        }
        read_log(text);
        T_EQ(run_count, 1);
        expect_whole(0, "", "A");
        T_EQ(runs[0].end_line, (uint64_t)(6 + 5 * lines));
    }
}

/* ---- failures ---- */

T_TEST(what_cannot_be_opened_says_why)
{
    T_EQ(read_path(t_scratch("nothing")), TTS_E_IO);
    T_TRUE(strstr(failure.text, "nothing") != NULL);
    T_EQ(mkdir(t_scratch("directory"), 0700), 0);
    T_EQ(read_path(t_scratch("directory")), TTS_E_IO);
}

T_TEST(what_was_read_before_compressed_bytes_end_is_given)
{
    const char *path = t_scratch("log.gz");
    static const char text[] = BLOCK("A") HEADING "--- B_B ---\n";
    gzFile file = gzopen(path, "wb");
    T_TRUE(file != NULL);
    T_EQ(gzwrite(file, text, sizeof text - 1), sizeof text - 1);
    T_EQ(gzclose(file), Z_OK);
    T_EQ(read_path(path), TTS_E_NOT_FOUND);
    struct stat info;
    T_EQ(stat(path, &info), 0);
    T_EQ(truncate(path, info.st_size - 4), 0);
    T_EQ(read_path(path), TTS_E_SYNTAX);
    T_STR_EQ(failure.text, "the gzip data is cut off");
    T_EQ(failure.line, 12);
    T_EQ(failure.offset, sizeof text - 1);
    T_EQ(run_count, 2);
    expect_whole(0, "", "A");
    T_TRUE(runs[1].is_cut);
    T_EQ(runs[1].phase_count, 1);
    T_STR_EQ(runs[1].phases[0].name, "B_B");
}

static void count_tick(void *ctx, uint64_t taken)
{
    uint64_t *ticks = ctx;
    ticks[0]++;
    ticks[1] = taken;
}

T_TEST(progress_is_told_now_and_then)
{
    static char text[3 * CHUNK];
    struct tts_trainlog *log = NULL;
    const struct tts_run *run;
    uint64_t ticks[2] = {0};
    memset(text, '\n', sizeof text);
    T_EQ(tts_trainlog_open(write_log("log", text, sizeof text), NULL, &log, NULL), TTS_OK);
    tts_trainlog_on_tick(log, count_tick, ticks);
    T_EQ(tts_trainlog_total(log), sizeof text);
    T_EQ(tts_trainlog_taken(log), 0);
    T_EQ(tts_trainlog_next(log, &run, NULL), TTS_E_NOT_FOUND);
    T_EQ(tts_trainlog_taken(log), sizeof text);
    T_TRUE(ticks[0] >= 3 && ticks[0] < 20);
    T_EQ(ticks[1], sizeof text);
    tts_trainlog_close(log);
    tts_trainlog_close(NULL);
}

/* Reads all runs. The runs returned before memory ran out must be correct. */
static enum tts_status read_with(const struct tts_alloc *alloc, const char *path, size_t *count)
{
    struct tts_trainlog *log = NULL;
    const struct tts_run *run;
    struct tts_error err = {0};
    *count = 0;
    enum tts_status status = tts_trainlog_open(path, alloc, &log, &err);
    if (status != TTS_OK) {
        T_TRUE(strstr(err.text, "cannot read") != NULL);
        return status;
    }
    while ((status = tts_trainlog_next(log, &run, &err)) == TTS_OK) {
        T_TRUE(*count > 0 || run->phase_count == 0 || strcmp(run->phases[0].name, "PP_0") == 0);
        ++*count;
    }
    if (status != TTS_E_NOT_FOUND)
        T_TRUE(err.status == status && err.text[0] != '\0' && err.line > 0);
    tts_trainlog_close(log);
    return status;
}

T_TEST(every_allocation_may_fail)
{
    char text[12000] = HEADING, *at = text + strlen(text);
    for (int i = 0; i < 60; i++)
        at += sprintf(at, "--- PP_%d ---\n", i);
    at += sprintf(at, "%sr1: Number of parameters: 5\nr1: %sr1: --- A ---\n%s",
                  OVERALL("1.00", "1.00"), HEADING, BLOCK("B"));
    const char *path = t_scratch("log.gz");
    gzFile file = gzopen(path, "wb");
    T_TRUE(file != NULL && gzwrite(file, text, (unsigned)(at - text)) == at - text);
    T_EQ(gzclose(file), Z_OK);
    uint64_t failed = 0;
    for (uint64_t fail_at = 1;; fail_at++) {
        struct heap heap;
        size_t count;
        heap_init(&heap);
        heap.fail_at = fail_at;
        heap.fail_after = fail_at % 2;
        enum tts_status status = read_with(&heap.alloc, path, &count);
        T_TRUE(heap_is_settled(&heap));
        if (heap.failed == 0) {
            T_EQ(status, TTS_E_NOT_FOUND);
            T_EQ(count, 3);
            break;
        }
        T_EQ(status, TTS_E_NOMEM);
        failed++;
    }
    T_TRUE(failed >= 8);
}
