/* Tests figures that contradict each other, and lines that resemble lines of a block. */
#include "harness/trainlog_rig.h"

#define FOLLOW                                                                                 \
    "the figures do not follow from the previous phase; the log may mix lines of several "     \
    "programs"
#define FIRST                                                                                  \
    "the figures of the first phase do not start at 0; the log may mix lines of several "      \
    "programs"
#define TOTALS                                                                                 \
    "the final totals differ from the last phase; the log may mix lines of several programs"
#define CHANGE(name) "'Segment Change' of " name " is not allocations minus deallocations"
#define PEAK(name) "'Cumulative Peak' of " name " does not follow from 'Segment Peak'"

/* Returns the line of the note with this text, which must be the only one; 0 if there is
 * none. */
static uint64_t line_of(const char *text)
{
    uint64_t line = 0;
    for (size_t i = 0; i < runs[0].note_count; i++) {
        if (strcmp(runs[0].notes[i].text, text) != 0)
            continue;
        T_EQ(line, 0);
        line = runs[0].notes[i].line;
    }
    return line;
}

static void read_phases(const char *first, const char *second)
{
    char text[1000];
    snprintf(text, sizeof text, HEADING "--- A ---\n%s--- B ---\n%s", first, second);
    read_log(text);
    T_EQ(run_count, 1);
}

static const char a[] = SEGMENT("3.00", "4.00", "2.00", "+2.00") CUMULATIVE("3.00", "2.00");

T_TEST(what_is_there_follows_from_the_phase_before)
{
    static const struct {
        const char *figures;
        bool is_noted;
    } cases[] = {{CUMULATIVE("3.00", "3.03"), false}, {CUMULATIVE("3.00", "3.04"), true},
                 {CUMULATIVE("3.00", "2.97"), false}, {CUMULATIVE("3.00", "2.96"), true},
                 {CUMULATIVE("2.97", "3.00"), false}, {CUMULATIVE("2.96", "3.00"), true},
                 {CUMULATIVE("9.00", "3.00"), false}, {CUMULATIVE("?", "3.00"), false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char second[400];
        snprintf(second, sizeof second, "%s%s", SEGMENT("1.00", "1.00", "0.00", "+1.00"),
                 cases[i].figures);
        read_phases(a, second);
        T_EQ(line_of(FOLLOW), cases[i].is_noted ? 5 : 0);
    }
}

T_TEST(each_kind_is_noted_once_at_its_first_place)
{
    read_log(HEADING "--- A ---\n" SEGMENT("3.00", "4.00", "2.00", "+2.00") CUMULATIVE(
        "3.00", "2.00") "--- B ---\n" SEGMENT("1.00", "1.00", "0.00", "+7.00")
                 CUMULATIVE("3.00", "3.00") "--- C ---\n" SEGMENT(
                     "1.00", "1.00", "0.00", "+7.00") CUMULATIVE("3.00", "3.00"));
    T_EQ(runs[0].notes_in_all, 2);
    T_EQ(line_of(FOLLOW), 5);
    T_EQ(line_of(CHANGE("B")), 5);
}

T_TEST(the_first_phase_begins_at_0)
{
    read_phases(SEGMENT("3.00", "4.00", "2.00", "+2.00") CUMULATIVE("3.00", "2.04"), "");
    T_EQ(line_of(FIRST), 2);
}

T_TEST(a_change_is_allocations_less_deallocations)
{
    read_phases(SEGMENT("3.00", "4.00", "2.00", "+2.03") CUMULATIVE("3.00", "2.03"), a);
    T_EQ(line_of(CHANGE("A")), 0);
    read_phases(SEGMENT("3.00", "4.00", "2.00", "+2.04") CUMULATIVE("3.00", "2.04"), a);
    T_EQ(line_of(CHANGE("A")), 2);
    read_phases(SEGMENT("3.00", "4.00", "x", "+2.04") CUMULATIVE("3.00", "2.04"), a);
    T_EQ(line_of(CHANGE("A")), 0);
    /* The sums of these figures do not fit in 64 bits. */
    read_phases(SEGMENT("0.00", "0.00", "8796093022206.99", "+8796093022206.99")
                    CUMULATIVE("0.00", "8796093022206.99"),
                "");
    T_EQ(line_of(CHANGE("A")), 2);
}

T_TEST(a_peak_is_the_higher_of_the_one_before_and_the_own)
{
    static const struct {
        const char *segment, *cumulative;
        bool is_noted;
    } cases[] = {{"0.50", "3.00", false},
                 {"0.50", "3.04", true},
                 {"2.00", "4.00", false},
                 {"2.00", "3.96", true},
                 {"2.00", "4.03", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char second[400];
        snprintf(second, sizeof second,
                 "  DRAM: Segment Peak %s MB, Allocations 0.00 MB, Deallocations 0.00 MB, "
                 "Segment Change +0.00 MB\n  DRAM: Cumulative Peak %s MB, Cumulative Current "
                 "2.00 MB\n",
                 cases[i].segment, cases[i].cumulative);
        read_phases(a, second);
        T_EQ(runs[0].notes_in_all, cases[i].is_noted);
        T_EQ(line_of(PEAK("B")), cases[i].is_noted ? 5 : 0);
    }
}

T_TEST(the_totals_are_those_of_the_last_phase)
{
    read_log(HEADING PHASE("A") CUMULATIVE("3.00", "2.00") OVERALL("3.03", "1.97"));
    T_EQ(runs[0].notes_in_all, 0);
    read_log(HEADING PHASE("A") CUMULATIVE("3.00", "2.00") OVERALL("3.04", "2.00"));
    T_EQ(line_of(TOTALS), 5);
    read_log(HEADING PHASE("A") CUMULATIVE("3.00", "2.00") OVERALL("3.00", "1.96"));
    T_EQ(line_of(TOTALS), 5);
    read_log(HEADING PHASE("A") CUMULATIVE("3.00", "?") OVERALL("3.00", "1.96"));
    T_EQ(line_of(TOTALS), 0);
}

T_TEST(a_negative_peak_is_not_known)
{
    read_log(HEADING "--- A ---\n" SEGMENT("-0.01", "4.00", "2.00", "+2.00")
                 CUMULATIVE("-3.00", "2.00") OVERALL("-5.00", "2.00"));
    T_EQ(runs[0].notes_in_all, 3);
    T_EQ(line_of("'Segment Peak' of A is negative"), 3);
    T_EQ(line_of("'Cumulative Peak' of A is negative"), 4);
    T_EQ(line_of("'Overall DRAM Peak' is negative"), 5);
    T_TRUE(!runs[0].phases[0].figures[TTS_RUN_SEGMENT_PEAK].is_known &&
           !runs[0].phases[0].figures[TTS_RUN_CUMULATIVE_PEAK].is_known &&
           !runs[0].overall_peak.is_known && runs[0].overall_peak.bytes == 0);
    /* A phase may end with less memory in use than it began with. */
    read_log(HEADING "--- A ---\n" SEGMENT("0.00", "0.00", "2.00", "-2.00")
                 CUMULATIVE("0.00", "-2.00") OVERALL("0.00", "-2.00"));
    T_EQ(runs[0].notes_in_all, 0);
    expect_figure(0, 0, TTS_RUN_CUMULATIVE_CURRENT, -2);
}

T_TEST(two_lines_in_one_are_not_read)
{
    read_log(HEADING "--- A ---\n  DRAM: Segment Peak 3.00 MB,   DRAM: Segment Peak 5.00 MB, "
                     "Allocations 4.00 MB, Deallocations 2.00 MB, Segment Change +2.00 "
                     "MB\n" CUMULATIVE("3.00", "2.00") OVERALL("3.00", "2.00"));
    T_EQ(runs[0].notes_in_all, 1);
    T_EQ(line_of("two lines are merged into one: the figures of A cannot be read"), 3);
    T_TRUE(!runs[0].phases[0].figures[TTS_RUN_SEGMENT_PEAK].is_known &&
           !runs[0].phases[0].figures[TTS_RUN_ALLOCATIONS].is_known);
    expect_figure(0, 0, TTS_RUN_CUMULATIVE_PEAK, 3);
}

/* ---- labels of other programs ---- */

T_TEST(a_label_of_others_takes_no_figures)
{
    read_log(HEADING
             "--- FORWARD_PASS ---\n--- Epoch 1 ---\n" SEGMENT("3.00", "4.00", "2.00", "+2.00")
                 CUMULATIVE("3.00", "2.00") L1("0.25", "0.50", "0.75") OVERALL("3.00", "2.00"));
    expect_whole(0, "", "FORWARD_PASS");
    T_EQ(runs[0].phases[0].line, 2);
    read_log(HEADING "--- Epoch 1 ---\n" BODY("FORWARD_PASS"));
    expect_whole(0, "", "FORWARD_PASS");
    read_log(HEADING "--- Epoch 1 ---\n" BODY("after"));
    expect_whole(0, "", "after");
    T_EQ(runs[0].phases[0].line, 4);
}

T_TEST(labels_behind_a_block_that_is_cut_off_are_no_phases)
{
    read_log(HEADING PHASE("A") CUMULATIVE("3.00", "2.00") "--- Epoch 1 ---\nStep\n"
                                                           "--- Epoch 2 ---\n--- End ---\n");
    T_EQ(run_count, 1);
    T_EQ(runs[0].phase_count, 1);
    T_EQ(runs[0].end_line, 4);
    T_TRUE(runs[0].is_cut && runs[0].notes_in_all == 0);
    read_log(HEADING PHASE("A") CUMULATIVE("3.00", "2.00") "--- B_B ---\n");
    T_EQ(runs[0].phase_count, 2);
    T_EQ(runs[0].end_line, 5);
}
