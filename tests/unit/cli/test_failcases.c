/* Reported failures in the wrappings in which logs have them: the reader, the verdict and the
 * missing bytes. The cases are rows of a table; a larger table comes with the corpus
 * ($TTSCOPE_CORPUS, or ../shared/data beside the source). */
#include "analysis/failure/failverdict.h"
#include "harness/t.h"
#include "sources/failure/failscan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MAX = 128, COLUMNS = 17, SENTENCE_MAX = 512, TEXT_MAX = 1 << 18 };

enum column {
    COLUMN_ID,
    COLUMN_FAMILY,
    COLUMN_POOL,
    COLUMN_SIZE,
    COLUMN_BANKS,
    COLUMN_NEED,
    COLUMN_BANK,
    COLUMN_ALLOCATED,
    COLUMN_FREE,
    COLUMN_LARGEST,
    COLUMN_PROGRAM,
    COLUMN_CORES,
    COLUMN_L1,
    COLUMN_END,
    COLUMN_GROW,
    COLUMN_MAX,
};

struct fail_case {
    char row[512];
    char *cell[COLUMNS];
    char sentence[SENTENCE_MAX];
};

static struct fail_case cases[CASES_MAX];
static size_t case_count;

/* Rows of the kinds that the corpus has. */
static const char own_cases[] =
    "x01\tV1\tDRAM\t2097152\t12\t176128\t\t\t\t\t\t\t\t\t\t\town\n"
    "x02\tV2\tL1\t33554432\t8\t4194304\t1364928\t\t\t\t\t\t\t\t\t\town\n"
    "x03\tV2\tL1\t8388608\t8\t1048576\t1364928\t\t\t\t\t\t\t\t\t\town\n"
    "x04\tV3\tDRAM\t1207959552\t12\t100663296\t1070773184\t1003628544\t67144640\t67140352\t\t\t"
    "\t\t\t\town\n"
    "x05\tV3\tDRAM\t503316480\t12\t41943040\t1070773184\t994357248\t76415936\t37030336\t\t\t\t"
    "\t"
    "\t\town\n"
    "x06\tV3\tL1_SMALL\t2048\t64\t32\t0\t0\t0\t0\t\t\t\t\t\t\town\n"
    "x07\tCB\t\t\t\t\t\t\t\t\t7\t[0-0 - 7-7]\t819200\t891680\t\t\town\n"
    "x08\tCB\t\t\t\t\t\t\t\t\t41\t[(x=0,y=0) - (x=7,y=6)]\t556930\t1143360\t\t\town\n"
    "x09\tCBMAX\t\t\t\t\t\t\t\t\t\t[0-0 - 10-9]\t\t\t1723520\t1499136\town\n";

/* ---- the table ---- */

static const char *cell_of(const struct fail_case *c, enum column column)
{
    return c->cell[column];
}

static uint64_t number_of(const struct fail_case *c, enum column column)
{
    return strtoull(c->cell[column], NULL, 10);
}

static bool has_family(const struct fail_case *c, const char *family)
{
    return strcmp(c->cell[COLUMN_FAMILY], family) == 0;
}

static void write_sentence(struct fail_case *c)
{
    char *out = c->sentence;
    int len = 0;
    if (has_family(c, "CB"))
        len =
            snprintf(out, SENTENCE_MAX,
                     "Statically allocated circular buffers in program %s clash with L1 "
                     "buffers on core range %s. L1 buffer allocated at %s and static circular "
                     "buffer region ends at %s",
                     cell_of(c, COLUMN_PROGRAM), cell_of(c, COLUMN_CORES),
                     cell_of(c, COLUMN_L1), cell_of(c, COLUMN_END));
    else if (has_family(c, "CBMAX"))
        len =
            snprintf(out, SENTENCE_MAX,
                     "Statically allocated circular buffers on core range %s grow to %s B "
                     "which is beyond max L1 size of %s B",
                     cell_of(c, COLUMN_CORES), cell_of(c, COLUMN_GROW), cell_of(c, COLUMN_MAX));
    else
        len = snprintf(out, SENTENCE_MAX,
                       "Out of Memory: Not enough space to allocate %s B %s buffer across %s "
                       "banks, where each bank needs to store %s B",
                       cell_of(c, COLUMN_SIZE), cell_of(c, COLUMN_POOL),
                       cell_of(c, COLUMN_BANKS), cell_of(c, COLUMN_NEED));
    if (has_family(c, "V2"))
        len += snprintf(out + len, SENTENCE_MAX - (size_t)len, ", but bank size is only %s B",
                        cell_of(c, COLUMN_BANK));
    if (has_family(c, "V3"))
        len += snprintf(out + len, SENTENCE_MAX - (size_t)len,
                        ", but bank size is %s B (allocated: %s B, free: %s B, largest free "
                        "block: %s B)",
                        cell_of(c, COLUMN_BANK), cell_of(c, COLUMN_ALLOCATED),
                        cell_of(c, COLUMN_FREE), cell_of(c, COLUMN_LARGEST));
    T_TRUE(len < SENTENCE_MAX);
}

static void add_case(const char *row, size_t len)
{
    struct fail_case *c = &cases[case_count++];
    T_TRUE(case_count <= CASES_MAX && len < sizeof c->row);
    memcpy(c->row, row, len);
    c->row[len] = '\0';
    char *at = c->row;
    for (size_t i = 0; i < COLUMNS; i++) {
        T_TRUE(at != NULL);
        c->cell[i] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = '\0';
    }
    write_sentence(c);
}

static void add_cases(const char *table)
{
    case_count = 0;
    while (*table != '\0') {
        size_t len = strcspn(table, "\n");
        if (*table != '#' && strncmp(table, "id\t", 3) != 0)
            add_case(table, len);
        table += len + (table[len] == '\n');
    }
}

/* ---- wrappings ---- */

/* A wrapping is the text before and after a sentence, and how the sentence is broken. */
static const struct wrapping {
    const char *before, *after, *prefix;
    size_t width; /* 0: one line */
    const char *line_end;
} wrappings[] = {
    {"", "", "", 0, "\n"},
    {"2026-08-12 10:11:12.123 | critical |           Always | TT_FATAL: ", " (assert.hpp:104)",
     "", 0, "\n"},
    {"\x1b[38;5;1m2026-08-12 10:11:12.123\x1b[0m | \x1b[31mFATAL\x1b[0m | \x1b[1m", "\x1b[0m",
     "", 0, "\n"},
    {"TT_THROW @ /src/bank_manager.cpp:155: tt::exception\ninfo:\n",
     "\nbacktrace:\n --- ttnn::prim::MatmulDeviceOperation::launch()", "", 0, "\n"},
    {"E       RuntimeError: TT_FATAL @ /src/a.cpp:12: false\nE       info:\n",
     "\nE       backtrace:", "E       ", 0, "\n"},
    {"(EngineCore_DP0 pid=230) ERROR 08-12 10:11:12 [core.py:390] RuntimeError: ", "", "", 0,
     "\n"},
    {"{\"level\": \"error\", \"message\": \"TT_FATAL @ a.cpp:1: false\\ninfo:\\n",
     "\\nbacktrace:\\n --- x\"}", "", 0, "\n"},
    {"\"{\\\"message\\\": \\\"info:\\\\n", "\\\\nbacktrace:\\\"}\"", "", 0, "\n"},
    {"2026-08-12T10:11:12.1234567Z ##[error]RuntimeError: ", "", "", 0, "\n"},
    {"::error file=test_a.py,line=33::info:%0A", "%0Abacktrace:", "", 0, "\n"},
    {"", "", "E   ", 79, "\n"},
    {"", "", "[rank3]: ", 100, "\r\n"},
    {"", "", "(EngineCore_DP0 pid=230) ", 64, "\n"},
    {"", "", "> ", 72, "\n"},
};

enum { WRAPPINGS = sizeof wrappings / sizeof wrappings[0] };

static size_t wrap_sentence(char *out, const struct wrapping *w, const char *sentence)
{
    char *at = out + sprintf(out, "%s", w->before);
    size_t width = w->width > 0 ? w->width : strlen(sentence);
    for (size_t left = strlen(sentence); left > 0;) {
        size_t len = left < width ? left : width;
        at += sprintf(at, "%s%.*s%s", w->prefix, (int)len, sentence,
                      len < left ? w->line_end : "");
        sentence += len;
        left -= len;
    }
    return (size_t)(at - out) + (size_t)sprintf(at, "%s%s", w->after, w->line_end);
}

/* ---- what follows from a row ---- */

static void check_number(const struct tts_failmsg *msg, enum tts_failmsg_field field,
                         const char *cell)
{
    T_EQ(tts_failmsg_has(msg, field), cell[0] != '\0');
    if (cell[0] != '\0')
        T_EQ(msg->value[field], strtoull(cell, NULL, 10));
}

static void check_numbers(const struct fail_case *c, const struct tts_failmsg *msg)
{
    bool is_max = has_family(c, "CBMAX");
    T_STR_EQ(tts_failmsg_name(msg->family), cell_of(c, COLUMN_FAMILY));
    T_TRUE(!msg->is_cut);
    check_number(msg, TTS_FAILMSG_REQUESTED, cell_of(c, COLUMN_SIZE));
    check_number(msg, TTS_FAILMSG_BANKS, cell_of(c, COLUMN_BANKS));
    check_number(msg, TTS_FAILMSG_NEED, cell_of(c, COLUMN_NEED));
    check_number(msg, TTS_FAILMSG_BANK, cell_of(c, COLUMN_BANK));
    check_number(msg, TTS_FAILMSG_ALLOCATED, cell_of(c, COLUMN_ALLOCATED));
    check_number(msg, TTS_FAILMSG_FREE, cell_of(c, COLUMN_FREE));
    check_number(msg, TTS_FAILMSG_LARGEST, cell_of(c, COLUMN_LARGEST));
    check_number(msg, TTS_FAILMSG_PROGRAM, cell_of(c, COLUMN_PROGRAM));
    check_number(msg, TTS_FAILMSG_ADDRESS, cell_of(c, COLUMN_L1));
    check_number(msg, TTS_FAILMSG_END, cell_of(c, is_max ? COLUMN_GROW : COLUMN_END));
    check_number(msg, TTS_FAILMSG_LIMIT, cell_of(c, COLUMN_MAX));
    T_STR_EQ(msg->range, cell_of(c, COLUMN_CORES));
    T_STR_EQ(msg->has_pool ? tts_pool_name(msg->pool) : "", cell_of(c, COLUMN_POOL));
}

/* Sets the expected missing bytes. Returns the expected verdict; NULL: unknown. */
static const char *expect_verdict(const struct fail_case *c, uint64_t *deficit)
{
    uint64_t need = number_of(c, COLUMN_NEED), bank = number_of(c, COLUMN_BANK);
    uint64_t left = number_of(c, COLUMN_FREE), largest = number_of(c, COLUMN_LARGEST);
    bool has_bank = cell_of(c, COLUMN_BANK)[0] != '\0';
    *deficit = 0;
    if (has_family(c, "CB")) {
        *deficit = number_of(c, COLUMN_END) - number_of(c, COLUMN_L1);
        return "clash";
    }
    if (has_family(c, "CBMAX")) {
        *deficit = number_of(c, COLUMN_GROW) - number_of(c, COLUMN_MAX);
        return "beyond_l1";
    }
    if (has_bank && need > bank) {
        *deficit = need - bank;
        return "never_fits";
    }
    if (!has_family(c, "V3"))
        return NULL;
    *deficit = need > left ? need - left : need - largest;
    return need > left ? "capacity" : "fragmentation";
}

static void check_case(const struct fail_case *c, const struct tts_failmsg *msg)
{
    struct tts_failverdict verdict;
    uint64_t deficit;
    const char *expected = expect_verdict(c, &deficit);
    check_numbers(c, msg);
    tts_failverdict_make(msg, &verdict);
    const char *name = tts_failcause_name(verdict.cause);
    T_STR_EQ(name ? name : "", expected ? expected : "");
    T_EQ(verdict.has_deficit, expected != NULL);
    T_EQ(verdict.deficit_bytes, deficit);
    T_EQ(verdict.reason[0] != '\0', expected == NULL);
    T_TRUE(!verdict.is_contradictory);
}

/* Scans a text that has the sentence of each case, in order. */
static void check_cases(const char *text, size_t len)
{
    struct tts_failscan *scan;
    struct tts_failmsg msg;
    struct tts_logpiece piece = {.bytes = text, .len = len};
    size_t count = 0;
    T_EQ(tts_failscan_new_fed("cases", NULL, &scan, NULL), TTS_OK);
    for (int i = 0; i < 2; i++) {
        tts_failscan_feed(scan, &piece);
        while (tts_failscan_next(scan, &msg, NULL) == TTS_OK) {
            T_TRUE(count < case_count);
            check_case(&cases[count++], &msg);
        }
        piece.len = 0;
    }
    T_EQ(count, case_count);
    tts_failscan_free(scan);
}

static void check_wrappings(void)
{
    static char text[TEXT_MAX];
    for (size_t w = 0; w < WRAPPINGS; w++) {
        size_t len = 0;
        for (size_t i = 0; i < case_count; i++) {
            len += (size_t)sprintf(text + len, "step %zu, loss 2.5\n", i);
            len += wrap_sentence(text + len, &wrappings[w], cases[i].sentence);
            T_TRUE(len + 4096 < TEXT_MAX);
        }
        check_cases(text, len);
    }
}

static size_t count_verdicts(const char *name)
{
    size_t count = 0;
    uint64_t deficit;
    for (size_t i = 0; i < case_count; i++) {
        const char *expected = expect_verdict(&cases[i], &deficit);
        count += strcmp(expected ? expected : "", name) == 0;
    }
    return count;
}

T_TEST(own_cases_are_right_in_every_wrapping)
{
    add_cases(own_cases);
    T_EQ(case_count, 9);
    check_wrappings();
    T_EQ(count_verdicts(""), 2);
}

T_TEST(reported_cases_are_right_in_every_wrapping)
{
    static char table[1 << 16];
    const char *corpus = getenv("TTSCOPE_CORPUS");
    char path[4096];
    snprintf(path, sizeof path, "%s/oom_cases.tsv", corpus ? corpus : TTS_DATA_DIR);
    FILE *file = fopen(path, "r");
    if (!file) {
        print_message("skipped: no corpus (TTSCOPE_CORPUS, or %s)\n", TTS_DATA_DIR);
        skip();
    }
    size_t len = fread(table, 1, sizeof table - 1, file);
    fclose(file);
    T_TRUE(len < sizeof table - 1);
    table[len] = '\0';
    add_cases(table);
    T_EQ(case_count, 90);
    check_wrappings();
    T_EQ(count_verdicts("capacity"), 11);
    T_EQ(count_verdicts("fragmentation"), 23);
    T_EQ(count_verdicts("never_fits"), 6);
    T_EQ(count_verdicts("clash"), 25);
    T_EQ(count_verdicts("beyond_l1"), 17);
    T_EQ(count_verdicts(""), 8);
}
