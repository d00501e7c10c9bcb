/* Tests lines that a terminal or a build server broke into pieces, and figures that are derived
 * because the rest of a line is lost. */
#include "harness/trainlog_rig.h"

#define WRAPPED                                                                                \
    "Available Device Memory: 12288.00 MB\nmine\n" BLOCK("FORWARD_PASS_micro_0") BLOCK("ENTR"  \
                                                                                       "Y")

/* A way to break lines into pieces. */
struct style {
    const char *first, *others; /* prefix of the first piece of a line, prefix of the others */
    const char *end;
    bool is_soft; /* breaks only between words, and drops the blank there */
};

static size_t piece_of(const char *line, size_t len, size_t width, const struct style *style)
{
    if (len <= width)
        return len;
    size_t cut = width;
    while (style->is_soft && cut > 1 && line[cut] != ' ')
        cut--;
    return style->is_soft && line[cut] != ' ' ? width : cut;
}

/* Breaks each line into pieces of at most `width` letters. */
static const char *wrap(const char *text, size_t width, const struct style *style)
{
    static char out[60000];
    char *at = out;
    for (; *text; text++) {
        size_t len = strcspn(text, "\n");
        const char *before = style->first;
        do {
            size_t piece = piece_of(text, len, width, style);
            at += sprintf(at, "%s%.*s%s", before, (int)piece, text, style->end);
            before = style->others;
            text += piece;
            len -= piece;
            bool is_blank = style->is_soft && len > 0 && *text == ' ';
            text += is_blank;
            len -= is_blank;
        } while (len > 0);
    }
    return out;
}

static void expect_wrapped(const struct style *style, const char *rank)
{
    for (size_t width = 12; width < 120; width += width < 36 ? 1 : 7) {
        read_log(wrap(WRAPPED, width, style));
        T_EQ(run_count, 2);
        expect_whole(0, rank, "FORWARD_PASS_micro_0");
        expect_whole(1, rank, "ENTRY");
        T_STR_EQ(runs[0].title, "mine");
        T_STR_EQ(runs[1].title, "");
        T_TRUE(width < 24 ||
               (runs[0].device_memory.is_known && runs[0].device_memory.bytes == MB(12288)));
        T_EQ(facts.stray_lines, 0);
    }
}

T_TEST(lines_may_be_wrapped_anywhere)
{
    expect_wrapped(&(struct style){"", "", "\n", false}, "");
    expect_wrapped(&(struct style){"", "", "\r\n", false}, "");
    expect_wrapped(&(struct style){"", "", "  \n", false}, "");
    expect_wrapped(&(struct style){"\x1b[32m", "", "\x1b[0m\n", false}, "");
}

T_TEST(lines_may_be_wrapped_between_words)
{
    expect_wrapped(&(struct style){"", "", "\n", true}, "");
    expect_wrapped(&(struct style){"[10:00:00] INFO     ", "                    ", "\n", true},
                   "");
    expect_wrapped(&(struct style){"", "    ", "   train.py:106\n", true}, "");
}

T_TEST(the_other_pieces_have_the_prefix_or_none)
{
    expect_wrapped(&(struct style){"[1,0]<stdout>:", "", "\n", false}, "1,0");
    expect_wrapped(&(struct style){"[1,0]<stdout>:", "[1,0]<stdout>:", "\n", false}, "1,0");
    expect_wrapped(
        &(struct style){"2026-08-01 10:11:12.123 ", "2026-08-01 10:11:13.5 ", "\n", false}, "");
    expect_wrapped(&(struct style){"10:11:12 [rank0]: ", "10:11:13 ", "\r\n", false}, "rank0");
    expect_wrapped(&(struct style){"10:11:12 [rank0]: ", "10:11:13 [rank0]: ", "\n", true},
                   "rank0");
    expect_wrapped(&(struct style){"I0818 10:22:33.1 4711 f.cc:12] ",
                                   "I0818 10:22:33.2 4711 f.cc:12] ", "\n", false},
                   "");
    expect_wrapped(&(struct style){"(W pid=7) \x1b[1m", "(W pid=7) ", "\x1b[0m\n", false}, "W");
}

/* Writes one line of each text in turn, each with its prefix. */
static const char *mix(const char *a, const char *b)
{
    static char out[60000];
    char *at = out;
    while (*a || *b) {
        size_t a_len = strcspn(a, "\n"), b_len = strcspn(b, "\n");
        if (*a)
            at += sprintf(at, "[rank0] %.*s\n", (int)a_len, a);
        if (*b)
            at += sprintf(at, "[rank1] %.*s\n", (int)b_len, b);
        a += a_len + (*a != '\0');
        b += b_len + (*b != '\0');
    }
    return out;
}

T_TEST(pieces_of_several_ranks_may_be_mixed)
{
    static const struct style style = {"", "", "\n", false};
    static char one[8000];
    for (size_t width = 12; width < 120; width += 7) {
        strcpy(one, wrap(BLOCK("FORWARD_PASS"), width, &style));
        read_log(mix(one, wrap(BLOCK("BACKWARD_PASS"), width, &style)));
        T_EQ(run_count, 2);
        expect_whole(0, "rank0", "FORWARD_PASS");
        expect_whole(1, "rank1", "BACKWARD_PASS");
    }
}

/* ---- lines that are not joined ---- */

T_TEST(what_does_not_go_on_is_not_joined)
{
    /* A line without a prefix is between the two pieces. */
    read_log(HEADING "--- A_A ---\n  DRAM: Cumulative Peak 3.00 MB, Cumulative Current 2.00\n"
                     "Step: 1\nMB\n" OVERALL("3.00", "2.00"));
    expect_note(0, 0, 3, "cannot read 'Cumulative Current' of A_A: '2.00'");
    /* The next line has other words, another unit or another rank. */
    static const char *const others[] = {
        "MBytes", "GB", "of MB", "MB, Allocations 3.00 MB", "[rank1] MB", "3.00", "", "MB MB"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "%s[rank0] --- A_A ---\n[rank0]  DRAM: Cumulative Peak 3.00 MB, Cumulative "
                 "Current 2.00\n%s\n[rank0] " OVERALL("3.00", "2.00"),
                 "[rank0] " HEADING, others[i]);
        read_log(text);
        T_EQ(run_count, 1);
        T_TRUE(!runs[0].phases[0].figures[TTS_RUN_CUMULATIVE_CURRENT].is_known);
        T_EQ(runs[0].overall_peak.bytes, MB(3));
    }
    /* These are labels of other programs, and single words. */
    read_log(HEADING "--- Epoch\n1 ---\n--- A\nb ---\nDRAM:\nL1:\n" BODY("A_A"));
    T_EQ(run_count, 1);
    expect_whole(0, "", "A_A");
    T_EQ(facts.stray_lines, 0);
    /* The first piece of a heading must be long enough to be recognized; "===" is not. */
    read_log("===\n Memory Usage Summary ===\n" BODY("A"));
    T_EQ(run_count, 0);
}

T_TEST(a_line_that_waits_is_not_lost)
{
    /* A wrapped line is given up at the end of the log, before another block, and if too many
     * lines wait. */
    read_log(HEADING "--- A_A ---\n  DRAM: Cumulative Peak 3.00 MB, Cumulative Current 2.00");
    T_EQ(run_count, 1);
    expect_figure(0, 0, TTS_RUN_CUMULATIVE_PEAK, 3);
    expect_note(0, 0, 3, "cannot read 'Cumulative Current' of A_A: '2.00'");
    T_TRUE(runs[0].is_cut);
    read_log(HEADING "--- A_A ---\nOverall DRAM Peak: 3.00 MB, Final\n" BLOCK("B_B"));
    T_EQ(run_count, 2);
    T_TRUE(!runs[0].is_cut && runs[0].overall_peak.bytes == MB(3) && !runs[0].final.is_known);
    expect_whole(1, "", "B_B");
    char text[20000], *at = text;
    for (int i = 0; i < 12; i++)
        at += sprintf(at, "[rank%d] " HEADING "[rank%d] --- A_A ---\n", i, i);
    for (int i = 0; i < 12; i++)
        at += sprintf(at, "[rank%d] Overall DRAM Peak: 3.00 MB, Final DRAM Usage: 2.00\n", i);
    for (int i = 0; i < 12; i++)
        at += sprintf(at, "[rank%d] MB\n", i);
    read_log(text);
    T_EQ(run_count, 12);
    for (size_t i = 0; i < 12; i++) {
        T_TRUE(!runs[i].is_cut && runs[i].overall_peak.bytes == MB(3));
        T_EQ(runs[i].final.is_known, i >= 4); /* at most eight lines wait at the same time */
    }
}

T_TEST(the_number_of_a_wrapped_line_is_that_of_its_first_piece)
{
    read_log("x\n=== Memory Usage\nSummary ===\n--- FORWARD_PA\nSS ---\n  DRAM: Segment Peak "
             "3.00 MB, Allocations x\n" OVERALL("3.00", "2.00"));
    T_EQ(runs[0].line, 3); /* a heading has the line number of its last piece */
    T_STR_EQ(runs[0].title, "x");
    T_EQ(runs[0].phases[0].line, 4);
    expect_note(0, 0, 6, "cannot read 'Allocations' of FORWARD_PASS: 'x'");
    T_EQ(runs[0].end_line, 7);
}

/* ---- derived figures ---- */

#define CUT_SHORT "  DRAM: Segment Peak 3.00 MB, Allocations 4.00 MB, Deallocations 2.00 MB, "

T_TEST(a_change_that_is_missing_is_derived)
{
    read_log(HEADING "--- A_A ---\n" CUT_SHORT "Segment Cha\n" CUMULATIVE("3.00", "2.00")
                 L1("0.25", "0.50", "0.75") OVERALL("3.00", "2.00"));
    expect_body(0, 0, "A_A");
    T_EQ(runs[0].notes_in_all, 1);
    expect_note(0, 0, 3, "'Segment Change' of A_A is derived from 'Cumulative Current'");
    /* The figure is derived from the previous phase, even if the whole line is missing or its
     * last number is cut. */
    read_log(HEADING BODY("A_A") HEADING
             "--- A_A ---\n" SEGMENT("3.00", "4.00", "2.00", "+2.00")
                 CUMULATIVE("3.00", "2.00") "--- B_B ---\n" CUMULATIVE(
                     "3.00", "0.50") "--- C_C ---\n" CUT_SHORT
                                     "Segment Change +1\n" CUMULATIVE("4.00", "1.75")
                                         OVERALL("4.00", "1.75"));
    T_EQ(run_count, 2);
    expect_figure(1, 1, TTS_RUN_CHANGE, -1.5);
    expect_figure(1, 2, TTS_RUN_CHANGE, 1.25);
    expect_note(1, 0, 14, "'Segment Change' of B_B is derived from 'Cumulative Current'");
    expect_note(1, 1, 14, "'Segment Peak' of B_B is missing");
    expect_note(1, 2, 17, "'Segment Change' of C_C is derived from 'Cumulative Current'");
}

T_TEST(a_change_that_cannot_be_derived_is_missing)
{
    /* The figure is not derived if a cumulative figure is unknown, if its value is complete but
     * unreadable, or if lines are mixed. */
    read_log(HEADING "--- A_A ---\n" CUT_SHORT "\n" OVERALL("3.00", "2.00"));
    T_TRUE(!runs[0].phases[0].figures[TTS_RUN_CHANGE].is_known);
    expect_note(0, 0, 3, "'Segment Change' of A_A is missing");
    read_log(HEADING "--- A_A ---\n" CUT_SHORT "Segment Change nope MB\n" CUMULATIVE(
        "3.00", "2.00") OVERALL("3.00", "2.00"));
    T_TRUE(!runs[0].phases[0].figures[TTS_RUN_CHANGE].is_known);
    expect_note(0, 0, 3, "cannot read 'Segment Change' of A_A: 'nope MB'");
    T_EQ(runs[0].notes_in_all, 1);
    read_log(HEADING PHASE("A_A") "--- B_B ---\n" CUT_SHORT "\n" CUMULATIVE("3.00", "2.00")
                 OVERALL("3.00", "2.00"));
    T_TRUE(!runs[0].phases[1].figures[TTS_RUN_CHANGE].is_known);
    read_log(HEADING "--- A_A ---\n" CUT_SHORT "\n" CUMULATIVE("3.00", "2.00")
                 CUMULATIVE("3.00", "1.00") OVERALL("3.00", "2.00"));
    T_TRUE(!runs[0].phases[0].figures[TTS_RUN_CHANGE].is_known);
}
