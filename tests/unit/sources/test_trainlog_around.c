/* Tests the facts that a program prints before a block. */
#include "harness/trainlog_rig.h"

/* ---- parameters ---- */

static void expect_parameters(const char *line, uint64_t wanted)
{
    char text[1000];
    snprintf(text, sizeof text, "[MODEL] ---\n%s\n" BLOCK("A"), line);
    read_log(text);
    T_EQ(runs[0].has_parameters, wanted > 0);
    T_EQ(runs[0].parameters, wanted);
    T_EQ(runs[0].parameters_line, wanted > 0 ? 2 : 0);
    T_EQ(runs[0].notes_in_all, 0);
}

T_TEST(the_number_of_parameters_is_found)
{
    expect_parameters("Number of parameters: 969369600", 969369600);
    expect_parameters("Model number of parameters: 5", 5);
    expect_parameters("   - Total parameters: 969,369,600", 969369600);
    expect_parameters("Total parameters: 7 (0.00B)", 7);
    expect_parameters("Total parameters: 1,234, trainable: 3", 1234);
    expect_parameters("[1,0]<stdout>:Number of parameters: 5", 5);
    expect_parameters("     params  1,100,048,384", 1100048384);
    expect_parameters("  params  12", 12);
    expect_parameters(" params  12", 0);
    expect_parameters("  params 12", 0);
    expect_parameters("  nparams  12", 0);
    expect_parameters("number of parameters: 12", 0);
    expect_parameters("trainable parameters: 12", 0);
}

T_TEST(what_cannot_be_read_is_a_note_of_the_block)
{
    read_log("Number of parameters: 5\nNumber of parameters: 12..5\nAvailable Device Memory: "
             "lots\n" BLOCK("A"));
    T_TRUE(!runs[0].has_parameters && !runs[0].device_memory.is_known);
    T_EQ(runs[0].parameters, 0);
    T_EQ(runs[0].device_memory.bytes, 0);
    T_EQ(runs[0].notes_in_all, 2);
    expect_note(0, 0, 2, "cannot read the number of parameters: '12..5'");
    expect_note(0, 1, 3, "cannot read the size of the device memory: 'lots'");
    read_log("Total parameters: 99999999999999999999\n" BLOCK("A"));
    T_TRUE(!runs[0].has_parameters && runs[0].notes_in_all == 1);
}

T_TEST(each_block_has_the_figures_before_it)
{
    read_log(BLOCK("A") "Number of parameters: 5\n" BLOCK("B") BLOCK(
        "C") "Number of parameters: 6\nAvailable Device Memory: 7 MB\n" BLOCK("D"));
    T_EQ(run_count, 4);
    T_TRUE(!runs[0].has_parameters);
    T_EQ(runs[1].parameters, 5);
    T_EQ(runs[1].parameters_line, 10);
    T_EQ(runs[2].parameters, 5);
    T_EQ(runs[2].parameters_line, 10);
    T_EQ(runs[3].parameters, 6);
    T_TRUE(!runs[2].device_memory.is_known && runs[3].device_memory.is_known);
}

T_TEST(a_rank_without_figures_of_its_own_has_the_last_of_any)
{
    char *a = with_prefix("a: ", "Number of parameters: 5\n" BLOCK("A"));
    char *b = with_prefix("b: ", "Number of parameters: 6\n" BLOCK("B"));
    char *again = with_prefix("a: ", BLOCK("C")), *c = with_prefix("c: ", BLOCK("D"));
    char text[4000];
    snprintf(text, sizeof text, "%s%s%s%s", a, b, again, c);
    read_log(text);
    free(a);
    free(b);
    free(again);
    free(c);
    T_EQ(run_count, 4);
    T_EQ(runs[0].parameters, 5);
    T_EQ(runs[1].parameters, 6);
    T_EQ(runs[2].parameters, 5);
    T_EQ(runs[3].parameters, 6);
}

/* ---- the device ---- */

static void expect_device(const char *line, int64_t bytes)
{
    char text[1000];
    snprintf(text, sizeof text, "[HARDWARE] ---\n%s\n" BLOCK("A"), line);
    read_log(text);
    T_EQ(runs[0].device_memory.is_known, bytes > 0);
    T_EQ(runs[0].device_memory.bytes, bytes);
    T_EQ(runs[0].device_memory_line, bytes > 0 ? 2 : 0);
    T_EQ(runs[0].notes_in_all, 0);
}

T_TEST(the_memory_of_the_device_is_found)
{
    expect_device("Available Device Memory: 12288 MB", MB(12288));
    expect_device("- Available Device Memory: 28,520.96 MB", MB(28520.96));
    expect_device("Available Device Memory: 12288 MB (n150)", MB(12288));
    T_STR_EQ(runs[0].chip, "n150");
    expect_device("   memory  98,304 MB", MB(98304));
    expect_device("   memory  98,304  MB", MB(98304));
    expect_device("   memory 98,304 MB", 0);
    expect_device("memory  5 MB", 0);
}

static const char header[] =
    "======================================================================\n"
    "  llama - training\n"
    "======================================================================\n"
    "\n[CONFIG] -------------------------------------------------------------\n"
    "  configs/training.yaml\n"
    "\n[TRAINING] -----------------------------------------------------------\n"
    "      steps  5,000\n       name  wrong\n"
    "\n[MODEL] --------------------------------------------------------------\n"
    "       arch  22 layers ; 2048 dim ; 32 heads ; seq 2048\n"
    "     params  1,100,048,384\n"
    "  grad ckpt  off\n"
    "\n[OPTIMIZER] ----------------------------------------------------------\n"
    "       name  AdamW\n         lr  3.00e-04\n"
    "\n[BATCH] --------------------------------------------------------------\n"
    "  size 2 ; accum 4 ; global 8 ; dropout 0.0\n       name  wrong\n"
    "\n[HARDWARE] -----------------------------------------------------------\n"
    "       chip  wormhole_b0\n       mesh  1x8\n       peak  512.0 TFLOPS bf16\n"
    "     memory  98,304 MB\n"
    "\n======================================================================\n\n";

static void expect_header(size_t run)
{
    T_EQ(runs[run].parameters, UINT64_C(1100048384));
    T_EQ(runs[run].parameters_line, 14);
    T_EQ(runs[run].device_memory.bytes, MB(98304));
    T_EQ(runs[run].device_memory_line, 29);
    T_EQ(runs[run].mesh_devices, 8);
    T_STR_EQ(runs[run].chip, "wormhole_b0");
    T_STR_EQ(runs[run].optimizer, "AdamW");
    T_TRUE(!runs[run].has_kahan);
}

T_TEST(a_header_is_read_row_by_row)
{
    char text[4000];
    snprintf(text, sizeof text, "%s%s", header, "Step: 1, Loss: 10.4\n" BLOCK("A"));
    read_log(text);
    expect_whole(0, "", "A");
    expect_header(0);
    T_STR_EQ(runs[0].title, "llama - training");
    char *prefixed = with_prefix("[1,3]<stdout>:", text);
    read_log(prefixed);
    free(prefixed);
    expect_whole(0, "1,3", "A");
    expect_header(0);
    prefixed = with_ends(text, "\r\n");
    read_log(prefixed);
    free(prefixed);
    expect_header(0);
}

T_TEST(rows_before_the_first_that_is_found_are_read_too)
{
    read_log("[OPTIMIZER] ---\n   name  SGD\n\n[HARDWARE] ---\n  chip  blackhole\n"
             "  mesh  2x4x2\n  memory  5 MB\n" BLOCK("A"));
    T_STR_EQ(runs[0].optimizer, "SGD");
    T_STR_EQ(runs[0].chip, "blackhole");
    T_EQ(runs[0].mesh_devices, 16);
    read_log("[MODEL] ---\n  params  5\n  flops  7G per token\n  grad ckpt  "
             "off\n\n\n\n\n[OPTIMIZER] ---\n"
             "  name  SGD\n" BLOCK("A"));
    T_STR_EQ(runs[0].optimizer, "SGD");
    /* Without the row of the memory, the other rows of the device are not used. */
    read_log("[HARDWARE] ---\n  chip  blackhole\n  mesh  2x4\n" BLOCK("A"));
    T_STR_EQ(runs[0].chip, "");
    T_EQ(runs[0].mesh_devices, 0);
}

T_TEST(a_mesh_that_is_none_is_left_out)
{
    static const char *const bad[] = {"0x8", "x8", "8x", "1xx8", "65536x65536", "1X8", "a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[600];
        snprintf(text, sizeof text, "[MODEL] ---\n  params  5\n  mesh  %s\n" BLOCK("A"),
                 bad[i]);
        read_log(text);
        T_TRUE(runs[0].has_parameters);
        T_EQ(runs[0].mesh_devices, 0);
    }
}

T_TEST(settings_of_the_older_program_stand_before_the_parameters)
{
    read_log("AdamW configuration:\n    Learning rate: 0.0003\n    Use Kahan summation: true\n"
             "Number of parameters: 5\n" BLOCK(
                 "A") "WARNING: Using NoOp optimizer - parameters will NOT be updated.\n"
                      "Number of parameters: 5\n" BLOCK(
                          "B") "    Use Kahan summation: false\nNumber of parameters: "
                               "5\n" BLOCK("C"));
    T_EQ(run_count, 3);
    T_TRUE(runs[0].has_kahan && runs[0].is_kahan);
    T_STR_EQ(runs[0].optimizer, "AdamW");
    T_TRUE(!runs[1].has_kahan && !runs[1].is_kahan);
    T_STR_EQ(runs[1].optimizer, "NoOp");
    T_TRUE(runs[2].has_kahan && !runs[2].is_kahan);
    T_STR_EQ(runs[2].optimizer, "AdamW");
}

T_TEST(a_new_statement_of_memory_forgets_mesh_and_chip)
{
    char text[4000];
    snprintf(text, sizeof text, "%s" BLOCK("A") "Available Device Memory: 7 MB\n" BLOCK("B"),
             header);
    read_log(text);
    T_EQ(runs[0].mesh_devices, 8);
    T_EQ(runs[1].device_memory.bytes, MB(7));
    T_EQ(runs[1].mesh_devices, 0);
    T_STR_EQ(runs[1].chip, "");
    /* Another header replaces all facts of the device, even if it has fewer rows. */
    snprintf(text, sizeof text, "%s" BLOCK("A") "[HARDWARE] ---\n  memory  7 MB\n\n" BLOCK("B"),
             header);
    read_log(text);
    T_EQ(runs[1].device_memory.bytes, MB(7));
    T_EQ(runs[1].mesh_devices, 0);
    T_STR_EQ(runs[1].chip, "");
}

T_TEST(the_memory_of_a_rank_is_not_of_the_mesh_of_another)
{
    read_log(
        "a: [HARDWARE] ---\na:   chip  x\na:   mesh  1x8\na:   memory  80 MB\n"
        "b: Available Device Memory: 7 MB\nb: " BLOCK("B") "c: " BLOCK("C") "a: " BLOCK("A"));
    T_EQ(run_count, 3);
    T_EQ(runs[0].device_memory.bytes, MB(7));
    T_EQ(runs[0].mesh_devices, 0);
    T_STR_EQ(runs[0].chip, "");
    T_EQ(runs[1].device_memory.bytes, MB(7));
    T_EQ(runs[1].mesh_devices, 0);
    T_EQ(runs[2].device_memory.bytes, MB(80));
    T_EQ(runs[2].mesh_devices, 8);
    T_STR_EQ(runs[2].chip, "x");
}

T_TEST(the_optimizer_of_a_program_is_not_of_the_next)
{
    read_log("    Use Kahan summation: true\nNumber of parameters: 5\n" BLOCK("A")
                 BLOCK("A") "Number of parameters: 6\n" BLOCK("B"));
    T_STR_EQ(runs[1].optimizer, "AdamW");
    T_TRUE(runs[1].has_kahan && runs[1].is_kahan);
    T_STR_EQ(runs[2].optimizer, "");
    T_TRUE(!runs[2].has_kahan && !runs[2].is_kahan);
}

T_TEST(without_a_prefix_the_later_statement_counts)
{
    read_log("Number of parameters: 5\n" BLOCK("A") "INFO: Number of parameters: 6\n" BLOCK(
        "B") "Number of parameters: 7\nINFO: Number of parameters: 8\n" BLOCK("C"));
    T_EQ(runs[0].parameters, 5);
    T_EQ(runs[1].parameters, 6);
    T_EQ(runs[1].parameters_line, 11);
    T_EQ(runs[2].parameters, 7);
}

/* ---- sections ---- */

T_TEST(a_row_of_a_section_that_cannot_be_read_is_a_note)
{
    static const struct {
        const char *row, *note;
    } cases[] = {{"params  1.1B", "cannot read the number of parameters: '1.1B'"},
                 {"params  12 x", "cannot read the number of parameters: '12 x'"},
                 {"params  1,2", "cannot read the number of parameters: '1,2'"},
                 {"memory  28.5 GB", "cannot read the size of the device memory: '28.5 GB'"},
                 {"memory  98,304", "cannot read the size of the device memory: '98,304'"},
                 {"memory  leak MB", "cannot read the size of the device memory: 'leak MB'"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "Available Device Memory: 5 MB\nNumber of parameters: 5\n[X] ---\n   %s\n\n" BLOCK(
                "A"),
            cases[i].row);
        read_log(text);
        T_EQ(runs[0].notes_in_all, 1);
        expect_note(0, 0, 4, cases[i].note);
        bool is_memory = cases[i].row[0] == 'm';
        T_EQ(runs[0].has_parameters, is_memory);
        T_EQ(runs[0].device_memory.is_known, !is_memory);
    }
}

T_TEST(rows_without_a_section_say_nothing)
{
    read_log("Number of parameters: 5\nstep 10   loss 2.10   memory   812 MB\n"
             "   params  12\n  memory  812 MB\n" BLOCK("A"));
    T_TRUE(!runs[0].device_memory.is_known && runs[0].parameters == 5);
    T_EQ(runs[0].notes_in_all, 0);
    /* An empty line ends the section of its rank. Lines of another rank do not end it. */
    read_log("a: [MODEL] ---\n\nb:\na:   params  5\na:\na:   params  6\n"
             "a:   memory  7 MB\na: " BLOCK("A"));
    T_EQ(runs[0].parameters, 5);
    T_TRUE(!runs[0].device_memory.is_known);
    read_log(
        "[OPTIMIZER] ---\n   name  AdamW\n   params  5\n\nData\n   name  other\n" BLOCK("A"));
    T_STR_EQ(runs[0].optimizer, "AdamW");
    /* Lines that were not examined end a section too. */
    char far[8000] = "[MODEL] ---\n  params  5\n";
    for (int i = 0; i < 100; i++)
        strcat(far, "a line that says nothing\n");
    strcat(far, "  params  6\n" BLOCK("A"));
    read_log(far);
    T_EQ(runs[0].parameters, 5);
}

T_TEST(a_word_between_does_not_hide_what_stands_before)
{
    read_log("[OPTIMIZER] ---\n  name  SGD\n\n[HARDWARE] ---\n  chip  x\n  mesh  1x3\n"
             "memory tracking is on\n  memory  30 MB\n" BLOCK("A"));
    T_STR_EQ(runs[0].optimizer, "SGD");
    T_STR_EQ(runs[0].chip, "x");
    T_EQ(runs[0].mesh_devices, 3);
    T_EQ(runs[0].device_memory.bytes, MB(30));
    /* Facts before an earlier block are not read again for the next block. */
    read_log("    Use Kahan summation: true\nNumber of parameters: 5\n" HEADING
             "Number of parameters: 6\n" BLOCK("A"));
    T_STR_EQ(runs[0].optimizer, "AdamW");
    T_STR_EQ(runs[1].optimizer, "");
}

/* ---- predictions ---- */

T_TEST(a_prediction_is_of_the_next_block_alone)
{
    read_log("Available Device Memory: 62.03 MB\n"
             "Predicted DRAM peak: 76.97 MB in iteration 2, does not fit n150\n\n" BLOCK("A")
                 BLOCK("B"));
    T_EQ(run_count, 2);
    const struct tts_run_whole *whole = &runs[0].whole;
    T_TRUE(whole->peak.is_known && whole->has_fits && !whole->fits);
    T_EQ(whole->peak.bytes, MB(76.97));
    T_STR_EQ(whole->phase, "ITERATION_2");
    T_TRUE(runs[0].device_memory_is_one);
    T_TRUE(!runs[1].whole.peak.is_known && !runs[1].device_memory_is_one);
    char *prefixed = with_prefix("[1,0]<stdout>:", "Predicted DRAM peak: 5.00 MB in "
                                                   "BACKWARD_PASS, fits p150\n" BLOCK("A"));
    read_log(prefixed);
    free(prefixed);
    T_TRUE(runs[0].whole.fits && runs[0].whole.peak.bytes == MB(5));
    T_STR_EQ(runs[0].whole.phase, "BACKWARD_PASS");
    T_STR_EQ(runs[0].title, "");
}

T_TEST(a_prediction_far_above_a_block_is_not_of_it)
{
    read_log("Predicted DRAM peak: 5.00 MB in BACKWARD_PASS, fits n150\n"
             "1\n2\n3\n4\n5\n6\n7\n" BLOCK("A"));
    T_TRUE(runs[0].whole.peak.is_known);
    read_log("Predicted DRAM peak: 5.00 MB in BACKWARD_PASS, fits n150\n"
             "1\n2\n3\n4\n5\n6\n7\n8\n" BLOCK("A"));
    T_TRUE(!runs[0].whole.peak.is_known && runs[0].notes_in_all == 0);
}

T_TEST(a_prediction_that_cannot_be_read_is_a_note)
{
    static const char *const bad[] = {"5.00 MB",
                                      "5.00 MB in X",
                                      "5.00 MB in , fits n150",
                                      "lots in X, fits n150",
                                      "-5.00 MB in X, fits n150",
                                      "5.00 MB in X, may fit n150",
                                      "5.00 MB in X, fits"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text, "Predicted DRAM peak: %s\n" BLOCK("A"), bad[i]);
        read_log(text);
        T_TRUE(!runs[0].whole.peak.is_known && !runs[0].whole.has_fits);
        T_EQ(runs[0].notes_in_all, 1);
        T_EQ(strncmp(runs[0].notes[0].text, "cannot read the predicted peak: '", 33), 0);
    }
}

T_TEST(the_parts_of_a_prediction_are_read)
{
#define PEAK "Predicted DRAM peak: 10.00 MB in X, fits n150\n"
    read_log(PEAK
             "Predicted DRAM parts: parameters 1.00 MB, optimizer_state 2.00 MB, gradients "
             "3.00 MB\nPredicted DRAM parts: activations 1.50 MB, temporaries 1.25 MB, inputs "
             "0.25 MB, new_part "
             "1.00 MB\n" BLOCK("A") BLOCK("B"));
    T_TRUE(runs[0].whole.has_parts && !runs[1].whole.has_parts);
    static const double parts[] = {2.5, 1, 3, 2, 1.5};
    for (int i = 0; i < TTS_RUN_PARTS; i++)
        T_EQ(runs[0].whole.parts[i], MB(parts[i]));
    static const char *const bad[] = {"",
                                      "x",
                                      "parameters",
                                      "parameters 5",
                                      "parameters 1 MB,",
                                      "parameters -1 MB",
                                      "parameters 1 MB, gradients"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text, PEAK "Predicted DRAM parts: %s\n" BLOCK("A"), bad[i]);
        read_log(text);
        T_TRUE(runs[0].whole.peak.is_known && !runs[0].whole.has_parts);
        T_EQ(runs[0].whole.parts[TTS_RUN_PART_MODEL], 0);
    }
#undef PEAK
}
