/* Tests to which rank a line belongs: prefixes, and blocks of several ranks at the same
 * time. */
#include "harness/trainlog_rig.h"

static void expect_prefixed(const char *prefix, const char *rank)
{
    char *text = with_prefix(prefix, "x = 1\n" BLOCK("A"));
    read_log(text);
    free(text);
    T_EQ(run_count, 1);
    expect_whole(0, rank, "A");
    T_EQ(facts.stray_lines, 0);
}

T_TEST(anything_may_stand_before_each_line)
{
    expect_prefixed("[1,0]<stdout>:", "1,0");
    expect_prefixed("[rank0]: ", "rank0");
    expect_prefixed("[rank 0] ", "rank 0");
    expect_prefixed("[a] [b] ", "[a] [b]");
    expect_prefixed("[1,2]<stderr>: ", "1,2");
    expect_prefixed("0: ", "0:");
    expect_prefixed("  7: ", "7:");
    expect_prefixed(" - ", "");
    expect_prefixed("2026-02-27 10:00:00.123 | INFO | train.py:87 | rank 1 | ", "rank 1");
    expect_prefixed("2026-02-27T10:00:00Z host-3 ", "host-3");
    expect_prefixed("2026/02/27 1:00:00,5+02:00 a", "a");
    expect_prefixed("[ 123.456789] dev: ", "dev:");
    expect_prefixed("1700000000.123 n1 ", "n1");
    expect_prefixed("(src/main.cpp:12) 10.0.0.123 ", "10.0.0.123");
    expect_prefixed("192.168.1.5: ", "192.168.1.5:");
    expect_prefixed("node:5000 v1.5 ", "node:5000 v1.5");
    expect_prefixed("host.cn:8080 ", "host.cn:8080");
    expect_prefixed("02/27/2026 10:00:00 - INFO - ", "");
    expect_prefixed("[02/27/26 10:00:00] INFO  ", "");
    expect_prefixed("27.02.2026 10:00:00 ", "");
    expect_prefixed("Feb 27 10:00:00 host1 train[12]: ", "host1 train[12]:");
    expect_prefixed("Feb  7 host1 ", "host1");
    expect_prefixed("[1,0]<stdout>: Tue Feb 27 10:00:00 2026 ", "1,0");
    expect_prefixed("I0227 10:00:00.123456 4242 train.cpp:100] ", "");
    expect_prefixed("[   13.000s] ", "");
    expect_prefixed("13.5s r1 ", "r1");
    expect_prefixed("[1000 ms] ", "");
    expect_prefixed("1700000000 a ", "a");
    expect_prefixed("[1700000000123] ", "");
    expect_prefixed("INFO | __main__:main:82 - ", "");
    expect_prefixed("  5%|## | 5/100 [00:01<00:10]", "");
    /* These texts look like a time but are none. */
    expect_prefixed("job:worker:3 ", "job:worker:3");
    expect_prefixed("Feb x27 ", "Feb x27");
    expect_prefixed("I0227 a 1234567890 12 m 5 sx ", "I0227 a 12 m 5 sx");
    expect_prefixed("2234567890a 10.12.2026.5 ", "2234567890a 10.12.2026.5");
    expect_prefixed("2026-02 1:2:3 2026-02/27 x1.234 1.23 ",
                    "2026-02 1:2:3 2026-02/27 x1.234 1.23");
}

T_TEST(a_process_number_is_no_rank)
{
    expect_prefixed("(EngineCore_DP0 pid=230) ", "EngineCore_DP0");
    expect_prefixed("(Worker pid=123) ", "Worker");
    expect_prefixed("(train_fn pid=1234, ip=10.0.0.7) ", "train_fn ip=10.0.0.7");
    expect_prefixed("(pid=123) ", "");
    expect_prefixed("[pid 4711] ", "");
    expect_prefixed("pid 4711: ", "");
    expect_prefixed("PID: 4711 TID: 12 ", "");
    expect_prefixed("rank 3 [PID#17] ", "rank 3");
    expect_prefixed("[rank0 pid=5] [x1] ", "[rank0] [x1]");
    expect_prefixed("[12345] ", "");
    expect_prefixed("[256] ", "");
    expect_prefixed("12345 ", "");
    expect_prefixed("[rank1] [12345]: ", "rank1");
    expect_prefixed("140234567890123456789012 ", "");
    expect_prefixed("I0818 10:22:33.123456 12345 file.cc:12] ", "");
    expect_prefixed("I0818 10:22:33.123456 12345 file.cc:12] [rank2] ", "rank2");
    expect_prefixed("Feb 27 10:00:00 host1 train[4242]: ", "host1 train:");
    expect_prefixed("[host7:4242] ", "host7");
    expect_prefixed("[prterun-host7-4242@1,3]<stdout>: ", "1,3");
    /* These numbers distinguish ranks. */
    expect_prefixed("[255] ", "255");
    expect_prefixed("12: ", "12:");
    expect_prefixed("rank 4711 ", "rank 4711");
    expect_prefixed("[1024,3]<stdout>:", "1024,3");
    expect_prefixed("[1,4711]<stdout>:", "1,4711");
    expect_prefixed("worker[3]: ", "worker[3]:");
    expect_prefixed("node:5000 ", "node:5000");
    expect_prefixed("n4711 rapid 7 pid=x pid 4x ", "n4711 rapid 7 pid=x pid 4x");
}

T_TEST(a_word_of_a_logger_is_no_rank)
{
    expect_prefixed("2026-08-01 10:11:12.123 | info     |          Always | ", "");
    expect_prefixed("                 Always | INFO     | ", "");
    expect_prefixed("[info     | Always] ", "");
    expect_prefixed("[1,2]<stdout>: 2026-08-01 10:11:12.123 | warning |  Metal | ", "1,2");
    expect_prefixed("2026-08-01 10:11:12.123 | info | LLRuntime | rank 1 | ", "rank 1");
    expect_prefixed("host-3 | Error | Op | r1 | ", "host-3 | r1");
    expect_prefixed("INFO:root:", "");
    expect_prefixed("INFO:tt.train:[rank0]: ", "rank0");
    expect_prefixed("2026-02-27 10:00:00,123 - my_trainer - DEBUG - ", "");
    expect_prefixed("[DEBUG] [rank0] ", "rank0");
    expect_prefixed("[rank 0][trace][src/a-b/train.py:12] ", "rank 0");
    expect_prefixed("CRITICAL: notice, fatal ", "");
    /* These words look like a level but are none. */
    expect_prefixed("information ", "information");
    expect_prefixed("info-7 ", "info-7");
    expect_prefixed("Always | x9 | ", "Always | x9");
    expect_prefixed("my host INFO ", "my host");
}

T_TEST(a_long_prefix_is_shown_in_part_and_compared_whole)
{
    char first[300], second[300], shown[TTS_RUN_TITLE_MAX];
    memset(first, 'p', sizeof first);
    memset(shown, 'p', sizeof shown);
    first[298] = ' ';
    first[299] = '\0';
    memcpy(shown + sizeof shown - sizeof "...", "...", sizeof "...");
    memcpy(second, first, sizeof first);
    second[297] = 'q';
    char *a = with_prefix(first, HEADING "--- A_A ---\n"), *b = with_prefix(second, BLOCK("B"));
    char text[8000];
    snprintf(text, sizeof text, "%s%s", a, b);
    read_log(text);
    free(a);
    free(b);
    T_EQ(run_count, 2);
    expect_whole(0, shown, "B");
    T_TRUE(runs[1].is_cut);
    T_STR_EQ(runs[1].phases[0].name, "A_A");
}

/* Writes one line of each text in turn, each with the prefix of its text. */
static void interleave(char *out, const char *const *prefixes, const char *const *texts,
                       size_t count)
{
    const char *at[RUNS_MAX];
    bool is_more = true;
    for (size_t i = 0; i < count; i++)
        at[i] = texts[i];
    while (is_more) {
        is_more = false;
        for (size_t i = 0; i < count; i++) {
            size_t len = strcspn(at[i], "\n");
            if (*at[i] == '\0')
                continue;
            out += sprintf(out, "%s%.*s\n", prefixes[i], (int)len, at[i]);
            at[i] += len + 1;
            is_more = true;
        }
    }
}

T_TEST(lines_of_several_ranks_may_be_mixed)
{
    static const char *const prefixes[] = {"[1,0]<stdout>:", "", "[1,10]<stdout>:"};
    static const char *const texts[] = {"Number of parameters: 7\n" BLOCK("A"), BLOCK("B"),
                                        "Total parameters: 9\nx\n" BLOCK("C")};
    static char out[8000];
    interleave(out, prefixes, texts, 3);
    read_log(out);
    T_EQ(run_count, 3);
    expect_whole(0, "", "B");
    expect_whole(1, "1,0", "A");
    expect_whole(2, "1,10", "C");
    T_EQ(runs[1].parameters, 7);
    T_EQ(runs[2].parameters, 9);
    T_EQ(facts.stray_lines, 0);
}

T_TEST(processes_that_only_their_numbers_tell_apart_are_told_apart)
{
    static const char *const prefixes[] = {"(Worker pid=4711) ", "(Worker pid=4712) ",
                                           "[4713] "};
    static const char *const texts[] = {"Number of parameters: 7\nx\n" BLOCK("A"),
                                        "Number of parameters: 8\ny\n" BLOCK("B"),
                                        "Number of parameters: 9\nz\n" BLOCK("C")};
    static char out[8000];
    interleave(out, prefixes, texts, 3);
    read_log(out);
    T_EQ(run_count, 3);
    expect_whole(0, "Worker", "A");
    expect_whole(1, "Worker", "B");
    expect_whole(2, "", "C");
    for (size_t i = 0; i < 3; i++)
        T_EQ(runs[i].parameters, 7 + i);
    T_STR_EQ(runs[0].title, "x");
    T_STR_EQ(runs[1].title, "y");
    T_STR_EQ(runs[2].title, "z");
}

T_TEST(times_between_the_lines_of_a_rank_do_not_part_it)
{
    char text[4000] = "";
    const char *block = BLOCK("A");
    for (int i = 0; *block; i++) {
        size_t len = strcspn(block, "\n") + 1;
        char line[300];
        snprintf(line, sizeof line, "2026-02-%02d %02d:%02d:59.%d [%5d.%06d] t.py:%d r%d: %.*s",
                 10 + i, i, i, i, i * i, i * 1000, i, i % 2, (int)len, block);
        strcat(text, line);
        block += i % 2 ? len : 0; /* each line is printed by both ranks */
    }
    read_log(text);
    T_EQ(run_count, 2);
    expect_whole(0, "r0:", "A");
    expect_whole(1, "r1:", "A");
}

T_TEST(a_prefix_before_the_heading_only_is_enough)
{
    read_log("node1: " BLOCK("A") "[1]: " BLOCK("B"));
    T_EQ(run_count, 2);
    expect_whole(0, "node1:", "A");
    expect_whole(1, "1", "B");
    /* A line without a prefix does not belong to the block after a line of the block had its
     * own prefix. */
    read_log("[1]: " HEADING "[1]: --- A_A ---\n" SEGMENT("3.00", "4.00", "2.00", "+2.00"));
    T_EQ(facts.stray_lines, 1);
    T_TRUE(!runs[0].phases[0].figures[TTS_RUN_CHANGE].is_known);
    /* Neither does a line with another prefix, nor a line after the end of the block. */
    read_log("[1]: " HEADING "[2]: --- A ---\n");
    T_TRUE(run_count == 1 && runs[0].phase_count == 0);
    read_log("INFO: " BLOCK("A") PHASE("B"));
    T_TRUE(run_count == 1 && facts.stray_lines == 1);
}

/* Reads a block in which the prefix of each line has another number, between `before` and
 * `behind`. */
static void read_numbered(const char *before, const char *behind, const char *block)
{
    char text[4000] = "", *at = text;
    for (int i = 0; *block; i++) {
        size_t len = strcspn(block, "\n") + 1;
        at += sprintf(at, "%s%d%s%.*s", before, 98 + i, behind, (int)len, block);
        block += len;
    }
    read_log(text);
}

T_TEST(numbers_of_a_prefix_may_change_from_line_to_line)
{
    read_numbered("  ", "\t", "x\n" BLOCK("A"));
    T_EQ(run_count, 1);
    expect_whole(0, "", "A");
    T_EQ(facts.stray_lines, 0);
    read_numbered("run.log:", ":", BLOCK("A") BLOCK("B"));
    T_EQ(run_count, 2);
    expect_whole(0, "run.log", "A");
    expect_whole(1, "run.log", "B");
    read_numbered("4711 ", " step ", HEADING "--- A_A ---\n" BLOCK("B"));
    T_EQ(run_count, 2);
    T_TRUE(runs[0].is_cut && runs[0].phase_count == 1);
    expect_whole(1, "step", "B");
    /* The numbers do not count as changing if they are numbers of ranks, if a line of the block
     * had exactly the prefix of the heading, or if two blocks are open. */
    read_numbered("[rank", "] ", BLOCK("A"));
    T_TRUE(run_count == 1 && runs[0].phase_count == 0 && facts.stray_lines == 3);
    read_log("r1 " HEADING "r1 --- A_A ---\nr2 " SEGMENT("3.00", "4.00", "2.00", "+2.00"));
    T_EQ(facts.stray_lines, 1);
    read_log("r1 " HEADING "r2 " HEADING "r3 --- A_A ---\n");
    T_TRUE(run_count == 2 && runs[0].phase_count == 0 && runs[1].phase_count == 0);
}

T_TEST(a_source_may_stand_behind_each_line)
{
    char *text = with_ends("x = 1\n" BLOCK("A"), " (trainer.cpp:23)\n");
    read_log(text);
    free(text);
    expect_whole(0, "", "A");
    text = with_ends("x = 1\n" BLOCK("A"), "      train.py:106\n");
    read_log(text);
    free(text);
    expect_whole(0, "", "A");
    read_log(HEADING "--- A --- (x:1)\n--- B ---train.py:1\n");
    T_EQ(runs[0].phase_count, 0);
}

T_TEST(a_heading_ends_the_block_of_its_own_rank_only)
{
    read_log("a: " HEADING "a: --- A_A ---\nb: " HEADING "b: --- B_B ---\nb: " HEADING
             "b: --- C_C ---\na:" SEGMENT("3.00", "4.00", "2.00", "+2.00"));
    T_EQ(run_count, 3);
    T_STR_EQ(runs[0].phases[0].name, "B_B");
    T_STR_EQ(runs[1].phases[0].name, "A_A");
    expect_figure(1, 0, TTS_RUN_CHANGE, 2);
    T_STR_EQ(runs[2].phases[0].name, "C_C");
    T_TRUE(runs[0].is_cut && runs[1].is_cut && runs[2].is_cut);
}

T_TEST(of_very_many_ranks_the_one_untouched_for_longest_is_cut_off)
{
    char *text = malloc(300 * 200), *at = text;
    for (int i = 0; i < 256; i++)
        at += sprintf(at, "r%d: %sr%d: --- PP_%d ---\n", i, HEADING, i, i);
    at += sprintf(at, "r0: --- Q_Q ---\nnew: %s", HEADING);
    /* A line that does not belong to the block does not end it. */
    at += sprintf(at, "other: Number of parameters: 5\nr2: %s", OVERALL("3.00", "2.00"));
    read_log(text);
    free(text);
    T_EQ(run_count, 257);
    T_STR_EQ(runs[0].rank, "r1:");
    T_TRUE(runs[0].is_cut);
    T_STR_EQ(runs[0].phases[0].name, "PP_1");
    T_STR_EQ(runs[1].rank, "r2:");
    T_TRUE(!runs[1].is_cut);
    T_STR_EQ(runs[2].rank, "r0:");
    T_EQ(runs[2].phase_count, 2);
    T_STR_EQ(runs[256].rank, "new:");
}

/* ---- number of phases ---- */

static size_t count_phases(const char *path, size_t *cut, uint64_t *notes)
{
    struct tts_trainlog *log = NULL;
    const struct tts_run *run;
    size_t most = 0;
    *cut = *notes = 0;
    T_EQ(tts_trainlog_open(path, NULL, &log, NULL), TTS_OK);
    while (tts_trainlog_next(log, &run, NULL) == TTS_OK) {
        most = run->phase_count > most ? run->phase_count : most;
        *cut += run->is_cut;
        *notes += run->notes_in_all;
        char note[96];
        snprintf(note, sizeof note,
                 "too many phases: only the first %zu phases of the run are read",
                 run->phase_count);
        if (run->is_cut && run->notes_in_all > 0)
            T_STR_EQ(run->notes[0].text, note);
    }
    tts_trainlog_close(log);
    return most;
}

static void write_blocks(FILE *file, int ranks, int phases)
{
    for (int r = 0; r < ranks; r++)
        fprintf(file, "r%d: %s", r, HEADING);
    for (int i = 0; i < phases; i++)
        for (int r = 0; r < ranks; r++)
            fprintf(file,
                    "r%d: --- P%d ---\nr%d: DRAM: Segment Peak 1.00 MB, Allocations 0.00 MB, "
                    "Deallocations 0.00 MB, Segment Change 0.00 MB\nr%d: DRAM: Cumulative Peak "
                    "1.00 MB, Cumulative Current 0.00 MB\n",
                    r, i, r, r);
    for (int r = 0; r < ranks; r++)
        fprintf(file, "r%d: " OVERALL("1.00", "0.00"), r);
}

static const char *write_many(int times, int ranks, int phases)
{
    const char *path = t_scratch("many");
    FILE *file = fopen(path, "w");
    T_TRUE(file != NULL);
    for (int i = 0; i < times; i++)
        write_blocks(file, ranks, phases);
    T_EQ(fclose(file), 0);
    return path;
}

T_TEST(phases_are_bounded_in_a_block_and_in_all)
{
    size_t cut;
    uint64_t notes;
    T_EQ(count_phases(write_many(1, 1, 16384), &cut, &notes), 16384);
    T_TRUE(cut == 0 && notes == 0);
    T_EQ(count_phases(write_many(1, 1, 16400), &cut, &notes), 16384);
    T_TRUE(cut == 1 && notes == 1);
    T_EQ(count_phases(write_many(1, 4, 8192), &cut, &notes), 8192);
    T_TRUE(cut == 0 && notes == 0);
    T_EQ(count_phases(write_many(5, 1, 8192), &cut, &notes), 8192);
    T_TRUE(cut == 0 && notes == 0);
    T_EQ(count_phases(write_many(1, 4, 8193), &cut, &notes), 8192);
    T_TRUE(cut == 4 && notes == 4);
}
