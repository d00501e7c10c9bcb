/* Tests blocks: their lines, their figures and their end. */
#include "harness/trainlog_rig.h"

#include <unistd.h>

/* ---- the usual form ---- */

T_TEST(a_block_is_read_as_it_is_printed)
{
    read_log("hello\n" BLOCK("FORWARD_PASS") "bye\n");
    T_EQ(run_count, 1);
    expect_whole(0, "", "FORWARD_PASS");
    T_EQ(runs[0].line, 2);
    T_EQ(runs[0].phases[0].line, 4);
    T_EQ(runs[0].end_line, 10);
    T_STR_EQ(runs[0].title, "hello");
    T_TRUE(!runs[0].has_parameters && !runs[0].device_memory.is_known &&
           runs[0].mesh_devices == 0 && runs[0].chip[0] == '\0' &&
           runs[0].optimizer[0] == '\0' && !runs[0].has_kahan);
    T_EQ(facts.lines, 11);
    T_EQ(facts.bytes, strlen("hello\n" BLOCK("FORWARD_PASS") "bye\n"));
    T_TRUE(!facts.has_nul && !facts.is_utf16 && facts.stray_lines == 0);
}

T_TEST(every_label_is_a_phase)
{
    static const char long_name[] = "a name of 64 bytes, which is one too many, for its p"
                                    "lac\xc3\xa9 end";
    char text[2000];
    snprintf(text, sizeof text,
             HEADING PHASE("FORWARD_PASS_micro_0") PHASE("FORWARD_PASS_micro_0")
                 PHASE("X__000042") PHASE("after  eval: 3 --- a, b") PHASE("\xe4\xb8\x80")
                     PHASE("") PHASE("%s%s") OVERALL("3.00", "2.00"),
             "1234", long_name);
    read_log(text);
    T_EQ(runs[0].phase_count, 7);
    T_STR_EQ(runs[0].phases[0].name, "FORWARD_PASS_micro_0");
    T_STR_EQ(runs[0].phases[1].name, "FORWARD_PASS_micro_0");
    T_STR_EQ(runs[0].phases[2].name, "X__000042");
    T_STR_EQ(runs[0].phases[3].name, "after  eval: 3 --- a, b");
    T_STR_EQ(runs[0].phases[4].name, "\xe4\xb8\x80");
    T_STR_EQ(runs[0].phases[5].name, "");
    /* Byte 60 is the second byte of a letter. */
    T_STR_EQ(runs[0].phases[6].name,
             "1234a name of 64 bytes, which is one too many, for its plac...");
    T_EQ(strlen(runs[0].phases[6].name), 62);
}

T_TEST(rules_are_no_labels)
{
    read_log(HEADING "-----\n--- ---\n---- x ----\n---x---\nx ---\n---- x ---\n" BODY("A"));
    expect_whole(0, "", "A");
}

T_TEST(figures_may_come_in_any_order_and_between_other_lines)
{
    read_log(HEADING "Step 1\n--- A ---\nprogress\n" L1(
        "0.25", "0.50",
        "0.75") "\n"
                "more memory\n" CUMULATIVE(
                    "3.00", "2.00") "DRAM is fine\n"
                                    "  DRAM: Segment Peak 3.00 MB, Segment Change +2.00 MB, "
                                    "Deallocations "
                                    "2.00 MB, Allocations 4.00 MB\n" OVERALL("3.00", "2.00"));
    expect_whole(0, "", "A");
}

T_TEST(a_phase_says_what_it_lacks)
{
    read_log(HEADING "--- A_A ---\n--- B_B ---\n" CUMULATIVE("3.00", "2.00") PHASE("C")
                 OVERALL("3.00", "2.00"));
    T_EQ(runs[0].phase_count, 3);
    T_EQ(runs[0].notes_in_all, 3);
    expect_note(0, 0, 2, "the figures of A_A are missing");
    expect_note(0, 1, 3, "'Segment Peak' of B_B is missing");
    expect_note(0, 2, 5, "'Cumulative Peak' of C is missing");
    for (int i = 0; i < TTS_RUN_FIGURES; i++) {
        const struct tts_amount *amount = &runs[0].phases[0].figures[i];
        T_TRUE(!amount->is_known && amount->bytes == 0);
    }
    expect_figure(0, 1, TTS_RUN_CUMULATIVE_PEAK, 3);
    expect_figure(0, 2, TTS_RUN_ALLOCATIONS, 4);
    T_TRUE(!runs[0].phases[2].figures[TTS_RUN_L1_CB].is_known);
}

/* ---- figures ---- */

static void expect_segment_peak(const char *text, int64_t bytes)
{
    char log[400];
    snprintf(log, sizeof log,
             HEADING "--- A ---\n  DRAM: Segment Peak %s, Allocations 4.00 MB, "
                     "Deallocations 2.00 MB, Segment Change +2.00 MB\n",
             text);
    read_log(log);
    T_TRUE(runs[0].phases[0].figures[TTS_RUN_SEGMENT_PEAK].is_known);
    T_EQ(runs[0].phases[0].figures[TTS_RUN_SEGMENT_PEAK].bytes, bytes);
    expect_figure(0, 0, TTS_RUN_ALLOCATIONS, 4);
    expect_figure(0, 0, TTS_RUN_CHANGE, 2);
    T_EQ(runs[0].notes_in_all, 0);
}

T_TEST(figures_are_exact_in_bytes)
{
    expect_segment_peak("0.00 MB", 0);
    expect_segment_peak("-0.00 MB", 0);
    expect_segment_peak("7 MB", 7 << 20);
    expect_segment_peak("+7.5 MB", (7 << 20) + (1 << 19));
    expect_segment_peak("0.01 MB", 10486); /* the exact value is 10485.76 */
    expect_segment_peak("1863.25MB", INT64_C(1953759232));
    expect_segment_peak("1863.25  MB ", INT64_C(1953759232));
    expect_segment_peak("1,863.25 MB", INT64_C(1953759232));
    expect_segment_peak("12,001,863.25 MB", INT64_C(12001863) * 1048576 + (1 << 18));
    expect_segment_peak("8796093022206.99 MB", INT64_C(8796093022206) * 1048576 + 1038090);
    /* Half a byte is rounded up, a slightly smaller value is rounded down. */
    expect_segment_peak("0.000000476837158203125 MB", 1);
    expect_segment_peak("0.00000047683715820312499999999999999999 MB", 0);
    expect_segment_peak("0.000000476837158203125000000000000001 MB", 1);
    expect_segment_peak("0.999999999999999999999999999 MB", 1 << 20);
    expect_segment_peak("0.1234567890123 MB", 129454); /* the exact value is 129453.83 */
}

static void expect_unreadable(const char *text, const char *excerpt)
{
    char log[400], note[200];
    snprintf(log, sizeof log,
             "x\n" HEADING "--- A ---\n  DRAM: Segment Peak 3.00 MB, Allocations %s, "
             "Deallocations 2.00 MB, Segment Change +2.00 MB\n",
             text);
    snprintf(note, sizeof note, "cannot read 'Allocations' of A: '%s'", excerpt);
    read_log(log);
    T_TRUE(!runs[0].phases[0].figures[TTS_RUN_ALLOCATIONS].is_known);
    T_EQ(runs[0].phases[0].figures[TTS_RUN_ALLOCATIONS].bytes, 0);
    T_EQ(runs[0].notes_in_all, 1);
    expect_note(0, 0, 4, note);
    expect_figure(0, 0, TTS_RUN_SEGMENT_PEAK, 3);
    expect_figure(0, 0, TTS_RUN_DEALLOCATIONS, 2);
    expect_figure(0, 0, TTS_RUN_CHANGE, 2);
}

T_TEST(a_figure_that_cannot_be_read_is_not_known_and_is_noted)
{
    static const char *const bad[] = {
        "12..5 MB", "nan MB",      "inf MB",           "12.5",
        "12.5 GB",  "12.5 MBx",    "1,23.5 MB",        ".5 MB",
        "5. MB",    "1234,567 MB", ",123 MB",          "--5 MB",
        "0x5 MB",   "1e3 MB",      "8796093022207 MB", "99999999999999999999 MB",
        "+ MB",     "1,234,56 MB", "1.234,567 MB",     "12 5 MB",
        "MB"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_unreadable(bad[i], bad[i]);
    expect_unreadable("", "");
    expect_unreadable("\x01\xff a very long text that is no number", "?? a very long text tha");
}

T_TEST(a_figure_that_is_missing_is_noted)
{
    read_log(HEADING "--- A ---\n  DRAM: Segment Peak 3.00 MB, Deallocations 2.00 MB\n"
                     "  DRAM: Cumulative Peak\n  L1: Peak CB 0.25 MB, Peak Total 0.75 MB\n"
                     "Overall DRAM Peak: x, Usage: 2.00 MB\n");
    T_EQ(runs[0].notes_in_all, 7);
    expect_note(0, 0, 3, "'Allocations' of A is missing");
    expect_note(0, 1, 3, "'Segment Change' of A is missing");
    expect_note(0, 2, 4, "cannot read 'Cumulative Peak' of A: ''");
    expect_note(0, 3, 4, "'Cumulative Current' of A is missing");
    expect_note(0, 4, 5, "'Peak Buffer' of A is missing");
    expect_note(0, 5, 6, "cannot read 'Overall DRAM Peak': 'x'");
    expect_note(0, 6, 6, "'Final DRAM Usage' is missing");
    T_TRUE(!runs[0].overall_peak.is_known && !runs[0].final.is_known && !runs[0].is_cut);
}

T_TEST(the_first_notes_are_kept_and_all_are_counted)
{
    char text[4000] = HEADING;
    for (int i = 0; i < 20; i++)
        strcat(text, "--- A_A ---\n");
    strcat(text, OVERALL("3.00", "2.00"));
    read_log(text);
    T_EQ(runs[0].note_count, TTS_RUN_NOTES_MAX);
    T_EQ(runs[0].notes_in_all, 20);
    expect_note(0, 7, 9, "the figures of A_A are missing");
}

T_TEST(notes_end_with_a_whole_letter)
{
    char text[600], name[80];
    /* A name of 62 bytes in letters of two bytes. The limit is in the middle of a letter. */
    for (int i = 0; i < 31; i++)
        memcpy(name + 2 * i, "\xc3\xa9", 3);
    snprintf(text, sizeof text,
             HEADING "--- %s ---\n  DRAM: Cumulative Peak 1.00 MB, Cumulative Current "
                     "this is no number at all\n",
             name);
    read_log(text);
    T_EQ(runs[0].notes_in_all, 1);
    T_TRUE(strlen(runs[0].notes[0].text) <= TTS_RUN_NOTE_BYTES - 1);
    T_TRUE(strstr(runs[0].notes[0].text, name) != NULL);
}

/* ---- several blocks ---- */

T_TEST(several_blocks_are_given_one_after_the_other)
{
    read_log(BLOCK("A") "\n" BLOCK("B") BLOCK("C"));
    T_EQ(run_count, 3);
    expect_whole(0, "", "A");
    expect_whole(1, "", "B");
    expect_whole(2, "", "C");
    T_EQ(runs[2].line, 20);
}

T_TEST(a_block_is_cut_off_by_the_next_heading_or_the_end)
{
    read_log(HEADING PHASE("A") CUMULATIVE("3.00", "2.00") "killed\n" BLOCK("B") HEADING
             "--- C_C ---\n  DRAM: Segm");
    T_EQ(run_count, 3);
    T_TRUE(runs[0].is_cut && !runs[0].overall_peak.is_known && !runs[0].final.is_known);
    T_EQ(runs[0].end_line, 4);
    T_EQ(runs[0].phase_count, 1);
    T_EQ(runs[0].notes_in_all, 0);
    expect_whole(1, "", "B");
    T_TRUE(runs[2].is_cut);
    T_EQ(runs[2].line, 15);
    T_EQ(runs[2].end_line, 16);
    T_EQ(runs[2].notes_in_all, 0);
    read_log(HEADING);
    T_TRUE(run_count == 1 && runs[0].is_cut && runs[0].phase_count == 0);
}

T_TEST(every_prefix_of_a_log_gives_an_answer)
{
    static const char text[] =
        "title\n" BLOCK("A") "next\nNumber of parameters: 5\n" BLOCK("B");
    const char *second = strstr(text, "next"), *words = "Overall DRAM Peak:";
    size_t begin[] = {strlen("title\n" HEADING) - 1,
                      (size_t)(strstr(second, HEADING) - text) + strlen(HEADING) - 1};
    size_t end[] = {(size_t)(strstr(text, words) - text) + strlen(words),
                    (size_t)(strstr(second, words) - text) + strlen(words)};
    for (size_t len = 0; len < sizeof text; len++) {
        read_bytes(text, len);
        T_EQ(facts.bytes, len);
        T_EQ(run_count, (len >= begin[0]) + (len >= begin[1]));
        for (size_t i = 0; i < run_count; i++)
            T_EQ(runs[i].is_cut, len < end[i]);
    }
    expect_whole(0, "", "A");
    expect_whole(1, "", "B");
}

T_TEST(figures_without_a_block_are_counted)
{
    read_log("x\n" PHASE("A") CUMULATIVE("1.00", "1.00") OVERALL("1.00", "1.00")
                 HEADING CUMULATIVE("1.00", "1.00") BODY("B"));
    T_EQ(run_count, 1);
    expect_whole(0, "", "B");
    T_EQ(facts.stray_lines, 4);
    T_EQ(facts.stray_line, 3);
}

T_TEST(figures_that_come_twice_are_noted_and_the_first_are_kept)
{
    read_log(HEADING PHASE("B") CUMULATIVE("3.00", "2.00") "--- A ---\n" SEGMENT(
        "3.00", "4.00", "2.00", "+2.00") SEGMENT("9.00", "9.00", "9.00", "+9.00")
                 CUMULATIVE("3.00", "2.00") CUMULATIVE("9.00", "9.00") OVERALL("3.00", "2.00"));
    expect_figure(0, 1, TTS_RUN_SEGMENT_PEAK, 3);
    expect_figure(0, 1, TTS_RUN_CUMULATIVE_CURRENT, 2);
    T_EQ(runs[0].notes_in_all, 1);
    expect_note(0, 0, 7,
                "figures of A appear twice; the log may mix lines of several programs");
}

/* ---- real logs ---- */

static bool read_real(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/logs/%s", TTS_DATA_DIR, name);
    if (access(path, R_OK) != 0)
        return false;
    T_EQ(read_path(path), TTS_E_NOT_FOUND);
    T_EQ(facts.stray_lines, 0);
    for (size_t i = 0; i < run_count; i++)
        T_TRUE(!runs[i].is_cut && runs[i].notes_in_all == 0 && runs[i].rank[0] == '\0');
    return true;
}

T_TEST(the_logs_that_were_recorded_are_read)
{
    if (!read_real("train_tinyllama_bpe_micro_steps.log"))
        skip();
    T_EQ(run_count, 1);
    T_EQ(runs[0].phase_count, 12);
    T_STR_EQ(runs[0].phases[4].name, "BACKWARD_PASS_micro_0");
    expect_figure(0, 4, TTS_RUN_CHANGE, -5537.07);
    T_EQ(runs[0].overall_peak.bytes, MB(16573.97));
    T_EQ(runs[0].final.bytes, MB(8416.90));
    T_STR_EQ(runs[0].title, "");
    T_TRUE(!runs[0].has_parameters);

    T_TRUE(read_real("train_tinyllama_char_memory_efficient.log"));
    T_EQ(run_count, 1);
    T_EQ(runs[0].phase_count, 5);
    T_EQ(runs[0].parameters, 969369600);
    T_EQ(runs[0].parameters_line, 1);
    T_STR_EQ(runs[0].title, "");

    T_TRUE(read_real("train_tinyllama_two_runs_composed.log"));
    T_EQ(run_count, 2);
    T_STR_EQ(runs[0].title, "TinyLlama memory efficient");
    T_STR_EQ(runs[1].title, "TinyLlama default");
    T_EQ(runs[1].parameters_line, 26);
    expect_figure(1, 2, TTS_RUN_CHANGE, 9636.02);
    T_EQ(runs[1].overall_peak.bytes, MB(15666.65));
}
