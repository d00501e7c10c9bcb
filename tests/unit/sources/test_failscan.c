#include "sources/failure/failscan.h"

#include "base/heap.h"
#include "harness/t.h"
#include "sources/failure/failtemplate.h"
#include "torture/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES_MAX = 64 };

static struct tts_failmsg messages[MESSAGES_MAX];
static size_t message_count;
static struct tts_logtext_facts facts;

static void scan_bytes(const char *text, size_t len)
{
    struct tts_input *in;
    struct tts_failscan *scan;
    struct tts_error err;
    message_count = 0;
    T_EQ(tts_input_open(t_file("log", text, len), NULL, &in, NULL), TTS_OK);
    T_EQ(tts_failscan_new(in, NULL, &scan, NULL), TTS_OK);
    while (tts_failscan_next(scan, &messages[message_count], &err) == TTS_OK) {
        message_count++;
        T_TRUE(message_count < MESSAGES_MAX);
    }
    facts = tts_failscan_facts(scan);
    tts_failscan_free(scan);
    tts_input_close(in);
}

static void scan(const char *text)
{
    scan_bytes(text, strlen(text));
}

static uint64_t value(size_t idx, enum tts_failmsg_field field)
{
    T_TRUE(tts_failmsg_has(&messages[idx], field));
    return messages[idx].value[field];
}

#define V1                                                                                     \
    "Out of Memory: Not enough space to allocate 58720256 B DRAM buffer across 12 banks, "     \
    "where each bank needs to store 4894720 B"
#define FIGURES                                                                                \
    "bank size is 1071821792 B (allocated: 888424448 B, free: 183397344 B, largest free "      \
    "block: 3382944 B)"
#define V3 V1 ", but " FIGURES
#define CB                                                                                     \
    "Statically allocated circular buffers in program 41 clash with L1 buffers on core range " \
    "[(x=0,y=0) - (x=7,y=6)]. L1 buffer allocated at 556928 and static circular buffer "       \
    "region "                                                                                  \
    "ends at 1143360"

static void check_v3(size_t idx)
{
    T_EQ(messages[idx].family, TTS_FAILMSG_V3);
    T_TRUE(!messages[idx].is_cut && messages[idx].has_pool);
    T_EQ(messages[idx].pool, TTS_POOL_DRAM);
    T_EQ(value(idx, TTS_FAILMSG_REQUESTED), 58720256);
    T_EQ(value(idx, TTS_FAILMSG_BANKS), 12);
    T_EQ(value(idx, TTS_FAILMSG_NEED), 4894720);
    T_EQ(value(idx, TTS_FAILMSG_BANK), 1071821792);
    T_EQ(value(idx, TTS_FAILMSG_ALLOCATED), 888424448);
    T_EQ(value(idx, TTS_FAILMSG_FREE), 183397344);
    T_EQ(value(idx, TTS_FAILMSG_LARGEST), 3382944);
}

static void check_cb(size_t idx)
{
    T_EQ(messages[idx].family, TTS_FAILMSG_CB);
    T_TRUE(!messages[idx].is_cut);
    T_EQ(value(idx, TTS_FAILMSG_PROGRAM), 41);
    T_EQ(value(idx, TTS_FAILMSG_ADDRESS), 556928);
    T_EQ(value(idx, TTS_FAILMSG_END), 1143360);
    T_STR_EQ(messages[idx].range, "[(x=0,y=0) - (x=7,y=6)]");
}

/* ---- families ---- */

/* One sentence of each family. Its numbers are 11, 12, 13 and so on, in their order. */
static const struct {
    enum tts_failmsg_family family;
    const char *text;
    enum tts_failmsg_field fields[7];
    int count;
} sentences[] = {
    {TTS_FAILMSG_V1,
     "Out of Memory: Not enough space to allocate 11 B L1 buffer across 12 banks, where each "
     "bank needs to store 13 B",
     {TTS_FAILMSG_REQUESTED, TTS_FAILMSG_BANKS, TTS_FAILMSG_NEED},
     3},
    {TTS_FAILMSG_V2,
     "Out of Memory: Not enough space to allocate 11 B L1_SMALL buffer across 12 banks, where "
     "each bank needs to store 13 B, but bank size is only 14 B",
     {TTS_FAILMSG_REQUESTED, TTS_FAILMSG_BANKS, TTS_FAILMSG_NEED, TTS_FAILMSG_BANK},
     4},
    {TTS_FAILMSG_D1,
     "Out of Memory: Not enough space after considering dependencies to allocate 11 B DRAM "
     "across 12 banks (13 B per bank)",
     {TTS_FAILMSG_REQUESTED, TTS_FAILMSG_BANKS, TTS_FAILMSG_NEED},
     3},
    {TTS_FAILMSG_D2,
     "Out of Memory: Not enough space after considering dependencies to allocate 11 B TRACE "
     "across 12 banks (13 B per bank), bank size is 14 B (allocated: 15 B, free: 16 B, largest "
     "free block: 17 B)",
     {TTS_FAILMSG_REQUESTED, TTS_FAILMSG_BANKS, TTS_FAILMSG_NEED, TTS_FAILMSG_BANK,
      TTS_FAILMSG_ALLOCATED, TTS_FAILMSG_FREE, TTS_FAILMSG_LARGEST},
     7},
    {TTS_FAILMSG_ADDR,
     "Out of Memory: Cannot allocate at an address below 11",
     {TTS_FAILMSG_LIMIT},
     1},
    {TTS_FAILMSG_ADDR,
     "Out of Memory: Cannot allocate at an address below 11. Allocation at 12",
     {TTS_FAILMSG_LIMIT, TTS_FAILMSG_ADDRESS},
     2},
    {TTS_FAILMSG_CB,
     "Statically allocated circular buffers in program 11 clash with L1 buffers on core range "
     "[0-0 - 7-7]. L1 buffer allocated at 12 and static circular buffer region ends at 13",
     {TTS_FAILMSG_PROGRAM, TTS_FAILMSG_ADDRESS, TTS_FAILMSG_END},
     3},
    {TTS_FAILMSG_DFB,
     "Statically allocated dataflow buffers in program 11 clash with L1 buffers on core range "
     "[0-0 - 7-7]. L1 buffer allocated at 12 and static dataflow buffer region ends at 13",
     {TTS_FAILMSG_PROGRAM, TTS_FAILMSG_ADDRESS, TTS_FAILMSG_END},
     3},
    {TTS_FAILMSG_SVC,
     "Circular buffers on service-core range [0-0 - 0-0] in program 11 clash with "
     "ServiceCoreManager-allocated L1 (lowest service allocation at 12, CB region ends at 13)",
     {TTS_FAILMSG_PROGRAM, TTS_FAILMSG_ADDRESS, TTS_FAILMSG_END},
     3},
    {TTS_FAILMSG_CBMAX,
     "Statically allocated circular buffers on core range {[0-0 - 7-7], [0-8 - 3-8]} grow to "
     "11 B which is beyond max L1 size of 12 B",
     {TTS_FAILMSG_END, TTS_FAILMSG_LIMIT},
     2},
    {TTS_FAILMSG_DFBMAX,
     "Statically allocated dataflow buffers on core range [0-0 - 7-7] grow to 11 B which is "
     "beyond max L1 size of 12 B",
     {TTS_FAILMSG_END, TTS_FAILMSG_LIMIT},
     2},
    {TTS_FAILMSG_DFBRING,
     "DFB 11: ring size (12 bytes) exceeds Tensix unreserved L1 size (13 bytes); reduce "
     "capacity, stride, or entry_size",
     {TTS_FAILMSG_INDEX, TTS_FAILMSG_SIZE, TTS_FAILMSG_LIMIT},
     3},
    {TTS_FAILMSG_TRACE,
     "Creating trace buffers of size 11B on MeshDevice 12, but only 13B is allocated for trace "
     "region.",
     {TTS_FAILMSG_REQUESTED, TTS_FAILMSG_MESH, TTS_FAILMSG_LIMIT},
     3},
    {TTS_FAILMSG_TOVER_BOTH,
     "Trace buffer at address 11 overlaps with DRAM activity during trace capture. Allocation "
     "high water mark: 12, Deletion high water mark: 13. Reduce allocations",
     {TTS_FAILMSG_ADDRESS, TTS_FAILMSG_ALLOC_END, TTS_FAILMSG_FREE_END},
     3},
    {TTS_FAILMSG_TOVER_FREED,
     "Trace buffer at address 11 overlaps with buffers deallocated during trace capture "
     "(deletion high water mark: 12).",
     {TTS_FAILMSG_ADDRESS, TTS_FAILMSG_FREE_END},
     2},
    {TTS_FAILMSG_TOVER_ALLOCATED,
     "Trace buffer at address 11 overlaps with buffers allocated during trace capture "
     "(allocation high water mark: 12).",
     {TTS_FAILMSG_ADDRESS, TTS_FAILMSG_ALLOC_END},
     2},
    {TTS_FAILMSG_TOVER_LIVE,
     "Trace buffer at address 11 overlaps with DRAM activity captured by another live trace "
     "(maximum live trace high water mark: 12).",
     {TTS_FAILMSG_ADDRESS, TTS_FAILMSG_LIVE_END},
     2},
    {TTS_FAILMSG_TRACKER,
     "Found 11 device buffer(s) still alive before trace replay. These will be corrupted",
     {TTS_FAILMSG_COUNT},
     1},
    {TTS_FAILMSG_UNSAFE,
     "Allocating device buffers is unsafe due to the existence of an active trace. These",
     {0},
     0},
    {TTS_FAILMSG_UNSAFE,
     "Allocating device buffers is potentially unsafe due to the existence of an active trace.",
     {0},
     0},
    {TTS_FAILMSG_RING,
     "Program size (11) too large for kernel config buffer (12) on TENSIX",
     {TTS_FAILMSG_SIZE, TTS_FAILMSG_LIMIT},
     2},
    {TTS_FAILMSG_CBSIZE,
     "Total circular buffer size 11 B must be divisible by page size 12 B",
     {TTS_FAILMSG_SIZE, TTS_FAILMSG_LIMIT},
     2},
    {TTS_FAILMSG_CBINDEX,
     "Buffer index (11) exceeds max number of circular buffers per core (12)",
     {TTS_FAILMSG_INDEX, TTS_FAILMSG_LIMIT},
     2},
    {TTS_FAILMSG_CBSLOTS,
     "Only 11 circular buffer slots are available but data formats are specified for 12 "
     "indices",
     {TTS_FAILMSG_LIMIT, TTS_FAILMSG_COUNT},
     2},
    {TTS_FAILMSG_CBTWICE,
     "Invalid circular buffer index: Cannot add circular buffer at index 11, another circular "
     "buffer already exists",
     {TTS_FAILMSG_INDEX},
     1},
    {TTS_FAILMSG_CBPAGES,
     "For buffer index 11, number of CB pages 12 is greater than 13. This",
     {TTS_FAILMSG_INDEX, TTS_FAILMSG_COUNT, TTS_FAILMSG_LIMIT},
     3},
    {TTS_FAILMSG_CBFORMAT,
     "Expected both data format and page size to be set for buffer index 11. Data format is "
     "set",
     {TTS_FAILMSG_INDEX},
     1},
    {TTS_FAILMSG_CBGLOBAL,
     "Cannot set circular buffer size to 11. This is larger than the associated dynamically "
     "allocated L1 buffer bank size of 12 B",
     {TTS_FAILMSG_SIZE, TTS_FAILMSG_LIMIT},
     2},
    {TTS_FAILMSG_CBGLOBAL,
     "Circular buffer size 11 B exceeds allocated L1 buffer bank size of 12 B",
     {TTS_FAILMSG_SIZE, TTS_FAILMSG_LIMIT},
     2},
    {TTS_FAILMSG_CBGRID,
     "Circular buffer core range [0-0 - 9-9] in program 11 exceeds device compute grid (8x8)",
     {TTS_FAILMSG_PROGRAM},
     1},
    {TTS_FAILMSG_DFBRULE,
     "DFB 11: ring size (12 bytes) must be a multiple of L1 alignment (16 bytes)",
     {TTS_FAILMSG_INDEX, TTS_FAILMSG_SIZE},
     2},
    {TTS_FAILMSG_DFBRULE,
     "Cannot create DFB 11: every one of the 12 slots this arch supports per core is taken",
     {TTS_FAILMSG_INDEX, TTS_FAILMSG_LIMIT},
     2},
};

enum { SENTENCES = sizeof sentences / sizeof sentences[0] };

static void check_sentence(size_t idx, const struct tts_failmsg *msg)
{
    T_EQ(msg->family, sentences[idx].family);
    T_TRUE(!msg->is_cut);
    uint32_t known = 0;
    for (int i = 0; i < sentences[idx].count; i++) {
        T_EQ(msg->value[sentences[idx].fields[i]], 11 + i);
        known |= UINT32_C(1) << sentences[idx].fields[i];
    }
    T_EQ(msg->known, known);
}

T_TEST(every_family_is_found)
{
    bool is_found[TTS_FAILMSG_FAMILIES] = {[TTS_FAILMSG_V3] = true};
    for (size_t i = 0; i < SENTENCES; i++) {
        scan(sentences[i].text);
        T_EQ(message_count, 1);
        check_sentence(i, &messages[0]);
        is_found[messages[0].family] = true;
    }
    for (int i = 0; i < TTS_FAILMSG_FAMILIES; i++)
        T_TRUE(is_found[i]);
    scan(V3 "\n" CB "\n");
    T_EQ(message_count, 2);
    check_v3(0);
    check_cb(1);
    T_EQ(messages[1].line, 2);
}

T_TEST(families_are_told_apart_in_one_line)
{
    char text[16384] = "";
    for (size_t i = 0; i < SENTENCES; i++) {
        strcat(text, sentences[i].text);
        strcat(text, " | ");
    }
    scan(text);
    T_EQ(message_count, SENTENCES);
    for (size_t i = 0; i < SENTENCES; i++)
        check_sentence(i, &messages[i]);
}

/* ---- wrappers ---- */

/* Breaks the text into lines of `width` columns, and writes `prefix` before each line. */
static void wrap(char *out, const char *text, size_t width, const char *prefix,
                 const char *line_end)
{
    *out = '\0';
    for (; *text != '\0'; text += strlen(text) < width ? strlen(text) : width)
        sprintf(out + strlen(out), "%s%.*s%s", prefix, (int)width, text, line_end);
}

T_TEST(a_sentence_may_be_broken_anywhere)
{
    static const char *const prefixes[] = {"",
                                           "E       ",
                                           "(EngineCore_DP0 pid=230) ",
                                           "[rank3]: ",
                                           "2026-08-12T10:11:12.1234567Z E   ",
                                           "2026-08-12T10:11:12.1234567Z ##[error]",
                                           "> ",
                                           "mpi host7> "};
    char text[8192];
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        for (size_t width = 45; width < 300; width++) {
            wrap(text, V3, width, prefixes[i], width % 2 == 0 ? "\n" : "\r\n");
            scan(text);
            T_EQ(message_count, 1);
            check_v3(0);
            T_EQ(messages[0].line, 1);
        }
    }
    for (size_t width = 62; width < 260; width++) {
        wrap(text, CB, width, "E   ", "\n");
        scan(text);
        T_EQ(message_count, 1);
        check_cb(0);
    }
}

T_TEST(colours_escapes_and_annotations_are_removed)
{
    scan("\x1b[32m   Always\x1b[0m | \x1b[31mFATAL\x1b[0m | \x1b[1m" V3 "\x1b[0m\n"
         "{\"message\": \"TT_FATAL @ a.cpp:1: false\\ninfo:\\n" V3 "\\nbacktrace:\"}\n"
         "\"{\\\"message\\\": \\\"info:\\\\n" V3 "\\\\nbacktrace:\\\"}\"\n"
         "::error file=a.py,line=3::info:%0A" V3 "%0Abacktrace:\n"
         "\\u001b[31m" V3 "\\u001b[0m\n");
    T_EQ(message_count, 5);
    for (size_t i = 0; i < 5; i++) {
        check_v3(i);
        T_EQ(messages[i].line, i + 1);
    }
}

T_TEST(a_number_at_the_end_takes_no_digits_of_the_next_line)
{
    scan(CB "\n2026-08-12 next line\n" CB "\n12 more\n");
    T_EQ(message_count, 2);
    check_cb(0);
    check_cb(1);
    T_EQ(messages[1].line, 3);
}

/* ---- no failure, half a failure ---- */

T_TEST(a_number_at_the_end_takes_no_digits_of_the_same_sentence_in_the_next_line)
{
    scan(CB "\n" CB "\n" CB "\n");
    T_EQ(message_count, 3);
    for (size_t i = 0; i < 3; i++)
        check_cb(i);
    scan("host7> " CB "\nhost7> " CB "\n");
    T_EQ(message_count, 2);
    check_cb(0);
    scan("Out of Memory: Cannot allocate at an address below 1000. Allocation at 20\n"
         "Out of Memory: Cannot allocate at an address below 1000. Allocation at 30\n");
    T_EQ(message_count, 2);
    T_EQ(value(0, TTS_FAILMSG_ADDRESS), 20);
    T_EQ(value(1, TTS_FAILMSG_ADDRESS), 30);
}

T_TEST(templates_and_other_texts_are_no_failures)
{
    scan("Out of Memory: Not enough space to allocate {} B {} buffer across {} banks, where\n"
         "`Out of Memory: Not enough space to allocate N B DRAM buffer across N banks`\n"
         "Statically allocated circular buffers in program {} clash with L1 buffers on core\n"
         "Out of Memory: killed process 1234 (python)\n"
         "Found 3 device(s). Program size (bytes) is unknown. The two clash with another.\n"
         "log_warning(LogMetal, \"Allocating device buffers is unsafe due to the existence of "
         "an active trace.\");\n"
         "Creating trace buffers of size {}B on MeshDevice {}, but only {}B is allocated\n");
    T_EQ(message_count, 0);
    scan("");
    T_EQ(message_count, 0);
    T_EQ(facts.bytes, 0);
}

T_TEST(a_warning_in_json_is_found)
{
    scan("{\"message\": \"Allocating device buffers is unsafe due to the existence of an "
         "active trace.\"}");
    T_EQ(message_count, 1);
    T_EQ(messages[0].family, TTS_FAILMSG_UNSAFE);
}

T_TEST(a_cut_sentence_keeps_its_whole_numbers)
{
    scan("x " V1 ", but bank size is 10718\n");
    T_EQ(message_count, 1);
    T_EQ(messages[0].family, TTS_FAILMSG_V1);
    T_TRUE(!tts_failmsg_has(&messages[0], TTS_FAILMSG_BANK));
    scan("Statically allocated circular buffers on core range [0-0 - 3-0] grow to 1999744 B "
         "whic");
    T_EQ(messages[0].family, TTS_FAILMSG_CBMAX);
    T_TRUE(messages[0].is_cut);
    T_EQ(value(0, TTS_FAILMSG_END), 1999744);
    scan("Out of Memory: Not enough space to allocate 340787");
    T_EQ(message_count, 0);
    scan("Out of Memory: Not enough space to allocate 3407872 B L1 buffer across 4 ba");
    T_EQ(message_count, 1);
    T_TRUE(messages[0].is_cut && !tts_failmsg_has(&messages[0], TTS_FAILMSG_NEED));
}

T_TEST(a_number_above_64_bits_is_marked)
{
    scan(
        "Out of Memory: Not enough space to allocate 18446744073709551616 B DRAM buffer across "
        "12 banks, where each bank needs to store 18446744073709551615 B");
    T_EQ(message_count, 1);
    T_EQ(messages[0].too_large, 1u << TTS_FAILMSG_REQUESTED);
    T_TRUE(value(0, TTS_FAILMSG_NEED) == UINT64_MAX);
}

/* ---- the operation ---- */

T_TEST(the_operation_is_in_the_backtrace)
{
    scan(V3
         "\nbacktrace:\n --- tt::tt_metal::Buffer::create(int)\n"
         " --- ttnn::operations::binary_ng::BinaryNgDeviceOperation::create(int)\n"
         " --- lib.so(_ZN23BinaryNgDeviceOperationE)\n"
         " --- tt::runtime::ttnn::operations::eltwise::run(tt::target::ttnn::AddOp const*)\n");
    T_STR_EQ(messages[0].op, "AddOp");
    T_EQ(messages[0].op_line, 6);
    T_TRUE(!messages[0].op_is_near);
    scan("info:\n" V3
         "\nbacktrace:\n --- x\n --- ttnn::prim::MatmulDeviceOperation::launch()\n");
    T_STR_EQ(messages[0].op, "MatmulDeviceOperation");
    T_EQ(messages[0].op_line, 5);
}

T_TEST(the_operation_is_in_the_line_before)
{
    scan("Executing operation: %1 = \"ttnn.add\"(%0) : x\n"
         "Executing operation: %2 = \"ttnn.typecast\"(%1) <{dtype = \"f32\"}> : x\nx\n" V3
         "\n");
    T_STR_EQ(messages[0].op, "ttnn.typecast");
    T_EQ(messages[0].op_line, 2);
    T_TRUE(messages[0].op_is_near);
    scan("Executing operation: %0 = ttcore.load_cached(@main_const_eval_0, []) : x\n" V3);
    T_STR_EQ(messages[0].op, "ttcore.load_cached");
    scan("Launching Device Operation: \"Softmax\"\n" V3 "\n" V3 "\n");
    T_EQ(message_count, 2);
    T_STR_EQ(messages[1].op, "Softmax");
    T_EQ(messages[1].op_line, 1);
    scan("  File \"a.py\", line 7, in f\n    y = ttnn.linear(x, w)\nRuntimeError: " V3);
    T_STR_EQ(messages[0].op, "ttnn.linear");
    T_EQ(messages[0].op_line, 2);
    scan(V3);
    T_STR_EQ(messages[0].op, "");
    T_EQ(messages[0].op_line, 0);
}

T_TEST(the_log_states_the_base_of_circular_buffers)
{
    scan("Configured partition params: worker_l1_size:0x154000, l1_unreserved_base:0x19cc0, "
         "l1_small_size:0x0\n" CB);
    T_EQ(messages[0].l1_base, 105664);
}

/* ---- large texts ---- */

T_TEST(messages_are_found_at_every_place_of_the_window)
{
    enum { STEP = 997, BYTES = 900000 };
    char *text = malloc(BYTES + 4096);
    T_TRUE(text != NULL);
    for (size_t at = 250000; at < BYTES; at += 20 * STEP) {
        memset(text, 'x', BYTES);
        for (size_t i = 79; i < BYTES; i += 80)
            text[i] = '\n';
        text[at] = '\n';
        memcpy(text + at + 1, V3 "\n", strlen(V3 "\n"));
        scan_bytes(text, BYTES);
        T_EQ(message_count, 1);
        check_v3(0);
    }
    free(text);
}

T_TEST(every_phrase_is_long_enough)
{
    size_t count = 0;
    for (struct tts_span phrase; (phrase = tts_failphrase_at(count)).len > 0; count++)
        T_TRUE(phrase.len >= TTS_FAILPHRASE_MIN && phrase.len <= TTS_FAILPHRASE_MAX);
    T_TRUE(count > 20);
}

/* ---- texts in pieces ---- */

/* Gives the scan its next bytes and takes the messages. */
static void feed_piece(struct tts_failscan *fed, struct tts_logpiece *piece, const char *at,
                       size_t len)
{
    piece->bytes = at;
    piece->len = len;
    tts_failscan_feed(fed, piece);
    while (tts_failscan_next(fed, &messages[message_count], NULL) == TTS_OK)
        T_TRUE(++message_count < MESSAGES_MAX);
    for (size_t i = 0; i < len; i++)
        piece->line_ends += at[i] == '\n';
}

/* Scans `text` in pieces of `step` bytes. */
static void scan_pieces(const char *text, size_t len, size_t step)
{
    struct tts_failscan *fed;
    struct tts_logpiece piece = {0};
    message_count = 0;
    T_EQ(tts_failscan_new_fed("log", NULL, &fed, NULL), TTS_OK);
    for (size_t at = 0; at < len; at += step)
        feed_piece(fed, &piece, text + at, len - at < step ? len - at : step);
    feed_piece(fed, &piece, text + len, 0);
    tts_failscan_free(fed);
}

T_TEST(a_text_in_pieces_has_the_same_messages)
{
    enum { BYTES = 700000, PLACES = 5 };
    static const size_t steps[] = {1000, 65536, 262144, BYTES};
    static struct tts_failmsg whole[MESSAGES_MAX];
    char *text = malloc(BYTES);
    T_TRUE(text != NULL);
    memset(text, 'x', BYTES);
    for (size_t i = 79; i < BYTES; i += 80)
        text[i] = '\n';
    for (size_t i = 0; i < PLACES; i++) {
        static const char message[] = "\nLaunching Device Operation: \"Softmax\"\n" CB
                                      "\nbacktrace:\n --- tt::runtime::ttnn::operations::";
        memcpy(text + 1 + i * 140000, message, sizeof message - 1);
        memcpy(text + 30000 + i * 140000, "::run(tt::target::ttnn::AddOp const*)\n", 38);
    }
    memcpy(text + BYTES - sizeof V3, V3, sizeof V3 - 1);
    scan_bytes(text, BYTES);
    T_EQ(message_count, PLACES + 1);
    T_STR_EQ(messages[0].op, "AddOp");
    size_t count = message_count;
    memcpy(whole, messages, sizeof messages);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        scan_pieces(text, BYTES, steps[i]);
        T_EQ(message_count, count);
        for (size_t m = 0; m < count; m++) {
            T_TRUE(tts_failmsg_is_same(&messages[m], &whole[m]));
            T_EQ(messages[m].line, whole[m].line);
            T_STR_EQ(messages[m].op, whole[m].op);
            T_EQ(messages[m].op_line, whole[m].op_line);
        }
    }
    free(text);
    scan_pieces(V3, sizeof V3 - 1, 1);
    T_EQ(message_count, 1);
    check_v3(0);
}

/* ---- growing texts ---- */

T_TEST(a_text_may_grow)
{
    static const char text[] = V3 "\n";
    const char *path = t_file("log", "", 0);
    struct tts_input *in;
    struct tts_failscan *scan_of;
    struct tts_failmsg msg;
    FILE *file = fopen(path, "a");
    T_EQ(tts_input_open(path, NULL, &in, NULL), TTS_OK);
    T_EQ(tts_failscan_new(in, NULL, &scan_of, NULL), TTS_OK);
    tts_failscan_follow(scan_of);
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        T_EQ(tts_failscan_next(scan_of, &msg, NULL), TTS_E_NOT_FOUND);
        fputc(text[i], file);
        fflush(file);
        T_TRUE(tts_failscan_resume(scan_of, true));
    }
    T_EQ(tts_failscan_next(scan_of, &msg, NULL), TTS_OK);
    messages[0] = msg;
    check_v3(0);
    fputs("Statically allocated circular buffers on core range [0-0 - 3-0] grow to 99 B", file);
    fclose(file);
    T_TRUE(tts_failscan_resume(scan_of, false));
    T_EQ(tts_failscan_next(scan_of, &msg, NULL), TTS_E_NOT_FOUND);
    T_TRUE(tts_failscan_resume(scan_of, true));
    T_EQ(tts_failscan_next(scan_of, &msg, NULL), TTS_OK);
    T_TRUE(msg.is_cut);
    tts_failscan_free(scan_of);
    tts_input_close(in);
}

T_TEST(many_empty_lines_do_not_take_the_place_of_a_sentence)
{
    char text[4096];
    for (size_t lines = 40; lines < 80; lines++) {
        memset(text, '\n', lines);
        wrap(text + lines, V3, 45, "", "\n");
        scan(text);
        T_EQ(message_count, 1);
        check_v3(0);
        T_EQ(messages[0].line, lines + 1);
    }
}

/* Scans `text` after `count` other lines. */
static void scan_after_lines(const char *text, const char *line, size_t count)
{
    static char all[16384];
    char *end = all;
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, line);
    stpcpy(end, text);
    scan(all);
}

T_TEST(other_lines_before_a_broken_sentence_change_nothing)
{
    static const char end[] = "ers deallocated during trace capture (deletion high water mark: "
                              "499712)\n";
    static const char *const lines[] = {"\n", "a line\n", "[rank0]: a line of another rank\n"};
    char text[1024];
    for (size_t breaks = 30; breaks < 70; breaks++) {
        char *at = stpcpy(text, "Trace buffer at address 245760 overlaps with buff");
        memset(at, '\r', breaks);
        strcpy(at + breaks, end);
        scan(text);
        T_EQ(message_count, 1);
        struct tts_failmsg first = messages[0];
        T_EQ(first.is_cut, breaks > 51); /* lines of a piece after the line of the phrase */
        for (size_t i = 0; i < 3; i++) {
            for (size_t count = 1; count < 80; count += 13) {
                scan_after_lines(text, lines[i], count);
                T_EQ(message_count, 1);
                T_TRUE(tts_failmsg_is_same(&first, &messages[0]));
                T_EQ(messages[0].line, count + 1);
            }
        }
    }
}

T_TEST(a_cut_sentence_takes_nothing_of_the_lines_after_it)
{
    scan("Out of Memory: Not enough space to allocate 58720256 B DRAM buffer across 12 banks,\n"
         "\n" V3 "\n");
    T_EQ(message_count, 2);
    T_TRUE(messages[0].is_cut);
    check_v3(1);
    T_EQ(messages[1].line, 3);
    /* The breaks after the sentence are all that is left of the piece. */
    char text[1024];
    char *at = stpcpy(text, "Trace buffer at address 2334");
    memset(at, '\r', 100);
    strcpy(at + 100, "Trace buffer at address 2335 over\n");
    scan(text);
    T_EQ(message_count, 2);
    scan_after_lines(text, "a line\n", 40);
    T_EQ(message_count, 2);
}

T_TEST(a_sentence_may_begin_a_kibibyte_before_its_phrase)
{
    /* Line ends are in all phrases but the last one. */
    static const char sentence[] =
        "Statically al\nlocated circular buffers in pro\n%*sgram 41 clash with L1 buffers on "
        "co\nre range [(x=0,y=0) - (x=7,y=6)]. L1 buffer allocated at 556928 and static "
        "circular buffer region ends at 1143360\n";
    char text[2048];
    int pad = 1024;
    sprintf(text, sentence, pad, "");
    pad -= (int)(strstr(text, " buffer region ends") - text) - 1024;
    for (int less = 0; less < 3; less++) {
        sprintf(text, sentence, pad - less, "");
        scan_after_lines(text, "a line\n", 400);
        T_EQ(message_count, 1);
        check_cb(0);
        T_EQ(messages[0].line, 401);
    }
}

T_TEST(a_broken_sentence_that_grows_keeps_its_line)
{
    char text[2048];
    const char *path = t_file("log", "first\n", 6);
    struct tts_input *in;
    struct tts_failscan *scan_of;
    struct tts_failmsg msg;
    FILE *file = fopen(path, "a");
    enum tts_status status = TTS_E_NOT_FOUND;
    wrap(text, V3, 60, "E   ", "\n");
    T_EQ(tts_input_open(path, NULL, &in, NULL), TTS_OK);
    T_EQ(tts_failscan_new(in, NULL, &scan_of, NULL), TTS_OK);
    tts_failscan_follow(scan_of);
    for (size_t i = 0; text[i] != '\0' && status == TTS_E_NOT_FOUND; i++) {
        status = tts_failscan_next(scan_of, &msg, NULL);
        fputc(text[i], file);
        fflush(file);
        T_TRUE(tts_failscan_resume(scan_of, false));
    }
    status = status == TTS_OK ? status : tts_failscan_next(scan_of, &msg, NULL);
    T_EQ(status, TTS_OK);
    T_EQ(msg.line, 2);
    messages[0] = msg;
    check_v3(0);
    fclose(file);
    tts_failscan_free(scan_of);
    tts_input_close(in);
}
