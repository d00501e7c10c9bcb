/* Tests the title of a block. */
#include "harness/trainlog_rig.h"

#include <time.h>

static void expect_title(const char *before, const char *title)
{
    char text[4000];
    snprintf(text, sizeof text, "%s" BLOCK("A"), before);
    read_log(text);
    T_STR_EQ(runs[run_count - 1].title, title);
}

T_TEST(the_nearest_line_that_names_something_is_the_title)
{
    expect_title("old\nTinyLlama default\nNumber of parameters: 969369600\n",
                 "TinyLlama default");
    expect_title("A run \n\n \n# comment\n   # too\n=====\n-- * --\n\xe2\x94\x80\xe2\x95\x90\n"
                 "Step: 1, Loss: 10.4\nlr=3e-4\nx = -1\nd: +1\n     seed  5489\n[DATA] ---\n"
                 "2026-02-27 INFO starting\n[WARN] slow\nsome ERROR\n"
                 "Available Device Memory: 5 MB\n    Use Kahan summation: true\n"
                 "\x1b[1m\x1b[0m\n",
                 "A run");
    expect_title("\x1b[1mBold\x1b[0m name\r\n", "Bold name");
    expect_title("INFORMATION\n", "INFORMATION");
    expect_title("mine\n2026-08-01 10:11:12.123 | info     |     Device | Opening\n", "mine");
    expect_title("mine\n[warning] slow\n", "mine");
    expect_title("more info\n", "more info");
    expect_title("note: this one\n", "note: this one");
    expect_title("\xe6\xa8\xa1\xe5\x9e\x8b\n", "\xe6\xa8\xa1\xe5\x9e\x8b");
    expect_title("name\rStep: 5\r\n", "name");
    expect_title("", "");
    expect_title("\xef\xbb\xbfmarked\n", "marked");
}

T_TEST(a_title_is_cut_at_a_letter)
{
    char text[300], wanted[300];
    memset(text, 'x', sizeof text);
    memcpy(text + 255, "\n", 2);
    memcpy(wanted, text, sizeof text);
    wanted[255] = '\0';
    expect_title(text, wanted);
    memcpy(text + 251, "\xc3\xa9yz1\n", 7);
    memcpy(wanted + 251, "...", 4);
    expect_title(text, wanted);
}

T_TEST(a_title_is_near_and_not_of_another_block)
{
    char text[2000] = "far\n";
    while (strlen(text) < 995)
        strcat(text, ".\n");
    expect_title(text, "far");
    strcat(text, "...\n...\n...\n");
    expect_title(text, "");
    expect_title("first\n" BLOCK("B"), "");
    T_STR_EQ(runs[0].title, "first");
}

T_TEST(a_title_is_of_the_same_rank)
{
    expect_title("r1: other\n", "r1: other");
    char *block = with_prefix("10:00:00 r2: ", "mine\n" BLOCK("A")), text[2000];
    snprintf(text, sizeof text, "%.*sr1: other\nr22: other\nalso\n" BLOCK("X") "%s",
             (int)(strchr(block, '\n') + 1 - block), block, strchr(block, '\n') + 1);
    read_log(text);
    free(block);
    T_EQ(run_count, 2);
    T_STR_EQ(runs[1].title, "mine");
    T_STR_EQ(runs[1].rank, "r2:");
}

T_TEST(text_of_a_header_is_no_title)
{
    expect_title("mine\r\n\r\n[BATCH] ---\r\n  size 2 and more\r\n", "mine");
    expect_title("mine\n\n[BATCH] ---\n  size 2 and more\n  and more\n", "mine");
    expect_title("[BATCH] ---\n  size 2 and more\n\nmine\nor this\n", "or this");
}

T_TEST(a_title_is_found_in_one_pass)
{
    size_t unit = strlen("[S] ---\n") + 480 * 2 + strlen(HEADING), count = 2000;
    char *text = malloc(unit * count + 1), *at = text;
    T_TRUE(text != NULL);
    for (size_t i = 0; i < count; i++) {
        at += sprintf(at, "[S] ---\n");
        for (int k = 0; k < 480; k++)
            at += sprintf(at, "a\n");
        at += sprintf(at, HEADING);
    }
    const char *path = write_log("log", text, (size_t)(at - text));
    free(text);
    struct tts_trainlog *log = NULL;
    const struct tts_run *run;
    size_t found = 0;
    T_EQ(tts_trainlog_open(path, NULL, &log, NULL), TTS_OK);
    clock_t begin = clock();
    while (tts_trainlog_next(log, &run, NULL) == TTS_OK) {
        T_STR_EQ(run->title, "");
        found++;
    }
    T_TRUE((clock() - begin) / CLOCKS_PER_SEC <
           10); /* the test needs about half a second; a slow search would need minutes */
    T_EQ(found, count);
    tts_trainlog_close(log);
}

T_TEST(a_title_is_without_times_and_sources)
{
    char *text = with_prefix("2026-02-27T10:00:00.123Z ", "My run\n" BLOCK("A"));
    read_log(text);
    free(text);
    T_STR_EQ(runs[0].title, "My run");
    text = with_prefix("[10:00:00] ", "My run\n" BLOCK("A"));
    read_log(text);
    free(text);
    T_STR_EQ(runs[0].title, "My run");
    /* If the heading has no time, a date in the line before is part of the title. */
    expect_title("2026-02-27 evening\n", "2026-02-27 evening");
    expect_title("My run (trainer.cpp:23)\n", "My run");
    expect_title("My run      train.py:106\n", "My run");
    expect_title("My run  5%|##  | 5/100\n", "");
}
