#include "sources/log/logtext.h"

#include "base/heap.h"
#include "harness/t.h"
#include "sources/log/logkey.h"
#include "torture/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* FIRST_READ bytes fill the window. */
enum { LINES_MAX = 64, FIRST_READ = (256 + 4 + 5) * 1024 };

/* The lines of the text that was read last. Their texts are copied to `texts`. */
static struct tts_logtext_line lines[LINES_MAX];
static char texts[LINES_MAX][4][TTS_LOGLINE_MAX + 1];
static size_t line_count;
static struct tts_logtext_facts facts;

static void keep_span(struct tts_span span, char out[TTS_LOGLINE_MAX + 1])
{
    T_TRUE(span.len <= TTS_LOGLINE_MAX);
    memcpy(out, span.at, span.len);
    out[span.len] = '\0';
}

static void keep_line(const struct tts_logtext_line *line)
{
    T_TRUE(line_count < LINES_MAX);
    lines[line_count] = *line;
    keep_span(line->raw, texts[line_count][0]);
    keep_span(line->prefix, texts[line_count][1]);
    keep_span(line->rank, texts[line_count][2]);
    keep_span(line->text, texts[line_count][3]);
    line_count++;
}

static enum tts_status read_path(const char *path, struct tts_error *err)
{
    struct tts_input *in = NULL;
    struct tts_logtext text;
    struct tts_logtext_line line;
    line_count = 0;
    T_EQ(tts_input_open(path, NULL, &in, NULL), TTS_OK);
    T_EQ(tts_logtext_open(&text, in, tts_alloc_libc(), NULL), TTS_OK);
    while (tts_logtext_next(&text, &line))
        keep_line(&line);
    T_TRUE(!tts_logtext_next(&text, &line));
    enum tts_status status = tts_logtext_finish(&text, err);
    facts = tts_logtext_facts(&text);
    tts_logtext_close(&text);
    tts_logtext_close(&text);
    tts_input_close(in);
    return status;
}

static void read_bytes(const char *text, size_t len)
{
    T_EQ(read_path(t_file("log", text, len), NULL), TTS_OK);
    T_EQ(facts.bytes, len);
}

static void read_text(const char *text)
{
    read_bytes(text, strlen(text));
}

static void expect_line(size_t at, uint64_t number, uint64_t offset, const char *text)
{
    T_TRUE(at < line_count);
    T_STR_EQ(texts[at][3], text);
    T_EQ(lines[at].number, number);
    T_EQ(lines[at].offset, offset);
}

/* ---- lines ---- */

T_TEST(a_line_has_its_number_and_its_offset)
{
    read_text("one\n\nthree\nlast");
    T_EQ(line_count, 4);
    expect_line(0, 1, 0, "one");
    expect_line(1, 2, 4, "");
    expect_line(2, 3, 5, "three");
    expect_line(3, 4, 11, "last");
    T_EQ(facts.lines, 4);
    read_text("");
    T_EQ(line_count, 0);
    T_EQ(facts.lines, 0);
}

T_TEST(line_ends_may_be_mixed)
{
    read_text("a\r\nb\rc\n\rd\r\r\ne\r");
    static const char *const wanted[] = {"a", "b", "c", "", "d", "", "e"};
    static const uint64_t numbers[] = {1, 2, 2, 3, 3, 3, 4};
    static const uint64_t offsets[] = {0, 3, 5, 7, 8, 10, 12};
    T_EQ(line_count, sizeof wanted / sizeof wanted[0]);
    for (size_t i = 0; i < line_count; i++)
        expect_line(i, numbers[i], offsets[i], wanted[i]);
}

/* A line ends in "\r\r\n" if two programs one after the other turn "\n" into "\r\n". */
T_TEST(only_a_lone_cr_before_text_overwrites)
{
    static const bool wanted[] = {false, true, false, true, false, false, false};
    read_text("a\r\nb\rc\n\rd\r\r\ne\r");
    for (size_t i = 0; i < line_count; i++)
        T_EQ(lines[i].is_overwritten, wanted[i]);
    read_text(" 10%\r 20%\r 30%\n");
    T_TRUE(lines[0].is_overwritten && lines[1].is_overwritten && !lines[2].is_overwritten);
}

T_TEST(a_long_line_is_cut)
{
    static char text[3 * FIRST_READ];
    for (size_t len = TTS_LOGLINE_MAX - 1; len < 2 * FIRST_READ; len = 3 * len + 1) {
        memset(text, 'x', len);
        memcpy(text + len, "\r\nnext\n", 8);
        read_bytes(text, len + 7);
        T_EQ(line_count, 2);
        T_EQ(lines[0].raw.len, len < TTS_LOGLINE_MAX ? len : TTS_LOGLINE_MAX);
        T_EQ(lines[0].is_cut, len > TTS_LOGLINE_MAX);
        expect_line(1, 2, len + 2, "next");
        T_TRUE(!lines[1].is_cut);
    }
}

/* Reads `len` bytes, which end in "\r\nab\rcd". Returns the number of lines. */
static size_t count_lines(const char *text, size_t len, uint64_t number)
{
    struct tts_input *in = NULL;
    struct tts_logtext log;
    struct tts_logtext_line line = {0};
    size_t count = 0;
    T_EQ(tts_input_open(t_file("log", text, len), NULL, &in, NULL), TTS_OK);
    T_EQ(tts_logtext_open(&log, in, tts_alloc_libc(), NULL), TTS_OK);
    while (tts_logtext_next(&log, &line))
        count++;
    T_EQ(line.offset, len - 2);
    T_EQ(line.number, number);
    tts_logtext_close(&log);
    tts_input_close(in);
    return count;
}

T_TEST(a_line_end_may_lie_across_two_reads)
{
    static char text[FIRST_READ + 16];
    for (size_t pad = FIRST_READ - 8; pad < FIRST_READ + 4; pad++) {
        memset(text, '\n', pad);
        memcpy(text + pad, "\r\nab\rcd", 8);
        T_EQ(count_lines(text, pad + 7, pad + 2), pad + 3);
        memset(text + pad - 5000, 'x',
               5000); /* the rest of a line that is cut is skipped up to its line end */
        T_EQ(count_lines(text, pad + 7, pad - 5000 + 2), pad - 5000 + 3);
    }
}

T_TEST(escape_sequences_are_taken_out)
{
    read_text("\xef\xbb\xbf\x1b[1;31mred\x1b[0m and \x1b]0;title\abold\x1b(B\n");
    expect_line(0, 1, 0, "red and bold");
    T_TRUE(strstr(texts[0][0], "\x1b[0m") != NULL);
}

T_TEST(facts_of_the_text_are_told)
{
    read_bytes("a\0b\n", 4);
    T_TRUE(facts.has_nul && !facts.is_utf16);
    T_EQ(lines[0].raw.len, 3);
    read_bytes("\xff\xfe"
               "a",
               3);
    T_TRUE(facts.is_utf16 && !facts.has_nul);
}

/* ---- prefixes ---- */

T_TEST(a_prefix_is_split_off)
{
    static const struct {
        const char *line, *rank, *text;
    } all[] = {
        {"nothing before it", "", "nothing before it"},
        {"  indented: 5", "", "  indented: 5"},
        {"[rank0]: Traceback", "rank0", "Traceback"},
        {"[rank 3]   indented", "rank 3", "  indented"},
        {"rank 2: hello", "rank 2", "hello"},
        {"Rank 1 | hello", "Rank 1", "hello"},
        {"rank 2 is done", "", "rank 2 is done"},
        {"[1,0]<stdout>: hello", "1,0", "hello"},
        {"[1,3]<stderr>:hello", "1,3", "hello"},
        {"[3]: hello", "3", "hello"},
        {"[3] hello", "", "[3] hello"},
        {"[1, 2, 3]", "", "[1, 2, 3]"},
        {"[host7:4242] hello", "", "hello"},
        {"(EngineCore_DP0 pid=230) hello", "", "hello"},
        {"[ 12.345678] usb 1-1: new", "", "usb 1-1: new"},
        {"2026-02-27 10:00:00.123 | info     |          Always | opened (main.cpp:23)", "",
         "opened (main.cpp:23)"},
        {"                 Metal | INFO     | opened", "", "opened"},
        {"2026-02-27 10:00:00,123 - my_trainer - INFO - step - 5", "", "step - 5"},
        {"2026-02-27 10:00:00.123 | INFO     | __main__:main:82 - step", "", "step"},
        {"INFO | loss | 3.2", "", "3.2"},
        {"INFO | loss | 3.2 | more | text", "", "3.2 | more | text"},
        {"INFO:root:hello", "", "hello"},
        {"WARNING: hello", "", "hello"},
        {"Error in file x", "", "Error in file x"},
        {"[INFO] [rank 7] hello", "rank 7", "hello"},
        {"[2026-02-27 10:00:00] [ERROR] (train.py:87) hello", "", "hello"},
        {"I0227 10:00:00.123456 12345 buffer.cc:87] hello", "", "hello"},
        {"2026-02-27T10:00:00Z ERROR allocation failed", "", "allocation failed"},
        {"[rank0]:", "rank0", ""},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct tts_span line = {all[i].line, strlen(all[i].line)}, prefix, rank, text;
        char out[200];
        tts_logkey_split(line, &prefix, &rank, &text);
        snprintf(out, sizeof out, "%.*s", (int)text.len, text.at);
        T_STR_EQ(out, all[i].text);
        snprintf(out, sizeof out, "%.*s", (int)rank.len, rank.at);
        T_STR_EQ(out, all[i].rank);
        T_TRUE(prefix.at == line.at && text.at == line.at + prefix.len);
        T_EQ(prefix.len + text.len, line.len);
    }
}

T_TEST(colours_hide_no_prefix)
{
    read_text("\x1b[36m[rank0]:\x1b[0m \x1b[31mERROR\x1b[0m: hello\n");
    expect_line(0, 1, 0, "hello");
    T_STR_EQ(texts[0][1], "[rank0]: ERROR: ");
    T_STR_EQ(texts[0][2], "rank0");
}

/* ---- failures ---- */

T_TEST(a_read_that_fails_ends_the_text)
{
    struct tts_error err = {0};
    const char *path = t_file("log", "\x1f\x8bnot gzip", 10);
    T_EQ(read_path(path, &err), TTS_E_SYNTAX);
    T_EQ(line_count, 0);
    T_TRUE(err.text[0] != '\0');
    T_EQ(err.line, 1);
}

T_TEST(no_memory_is_told)
{
    struct heap heap;
    struct tts_input *in = NULL;
    struct tts_logtext text = {0};
    struct tts_error err = {0};
    T_EQ(tts_input_open(t_file("log", "a\n", 2), NULL, &in, NULL), TTS_OK);
    heap_init(&heap);
    heap.fail_at = 1;
    T_EQ(tts_logtext_open(&text, in, &heap.alloc, &err), TTS_E_NOMEM);
    T_TRUE(strstr(err.text, "cannot read") != NULL);
    T_TRUE(heap_is_settled(&heap));
    tts_logtext_close(&text);
    tts_input_close(in);
}
