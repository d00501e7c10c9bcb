#include "harness/budgetfile_rig.h"
#include "torture/heap.h"

/* --- accepted budgets ------------------------------------------------------------------- */

T_TEST(every_key_is_read_in_the_order_of_the_file)
{
    load("device: n150\n"
         "baseline: runs/main.json\n"
         "overall:\n"
         "  dram_peak: 95%\n"
         "  headroom: 500MiB\n"
         "  final_dram: 9GiB\n"
         "  l1_core: 1200KiB\n"
         "  cb: +5%\n"
         "phases:\n"
         "  FORWARD_PASS*:\n"
         "    segment_peak: 8GiB\n"
         "    change: +2%\n"
         "    cumulative_peak: 90%\n"
         "  BACKWARD_PASS:\n"
         "    l1_core: +1MiB\n"
         "    cb: 819200\n");
    T_STR_EQ(budget.device, "n150");
    T_EQ(budget.device_line, 1);
    T_STR_EQ(budget.baseline, "runs/main.json");
    T_EQ(budget.baseline_line, 2);
    T_TRUE(!budget.device_memory.is_known);
    T_EQ(budget.limit_count, 10);
    expect_limit(0, TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_SHARE, 9500, 4);
    expect_limit(1, TTS_BUDGET_DRAM_HEADROOM, TTS_BUDGET_BYTES, 500 * MIB, 5);
    expect_limit(2, TTS_BUDGET_DRAM_FINAL, TTS_BUDGET_BYTES, 9 * GIB, 6);
    expect_limit(3, TTS_BUDGET_L1_CORE, TTS_BUDGET_BYTES, 1200 * 1024, 7);
    expect_limit(4, TTS_BUDGET_CB, TTS_BUDGET_GROWTH_SHARE, 500, 8);
    expect_limit(5, TTS_BUDGET_PHASE_SEGMENT_PEAK, TTS_BUDGET_BYTES, 8 * GIB, 11);
    expect_limit(6, TTS_BUDGET_PHASE_CHANGE, TTS_BUDGET_GROWTH_SHARE, 200, 12);
    expect_limit(7, TTS_BUDGET_PHASE_CUMULATIVE_PEAK, TTS_BUDGET_SHARE, 9000, 13);
    expect_limit(8, TTS_BUDGET_PHASE_L1_CORE, TTS_BUDGET_GROWTH_BYTES, MIB, 15);
    expect_limit(9, TTS_BUDGET_PHASE_CB, TTS_BUDGET_BYTES, 819200, 16);
    T_EQ(budget.pattern_count, 2);
    T_STR_EQ(budget.patterns[0].text, "FORWARD_PASS*");
    T_EQ(budget.patterns[0].line, 10);
    T_STR_EQ(budget.patterns[1].text, "BACKWARD_PASS");
    T_EQ(budget.limits[7].pattern, 0);
    T_EQ(budget.limits[8].pattern, 1);
    T_EQ(budget.limits[9].pattern, 1);
}

T_TEST(one_limit_is_a_budget)
{
    load("overall: {cb: 0}");
    expect_limit(0, TTS_BUDGET_CB, TTS_BUDGET_BYTES, 0, 1);
    T_TRUE(budget.device[0] == '\0' && budget.baseline[0] == '\0');
    T_EQ(budget.pattern_count, 0);
    load("{\"phases\": {\"*\": {\"change\": \"1 KiB\"}}, \"device_memory\": \"12 GiB\"}");
    expect_limit(0, TTS_BUDGET_PHASE_CHANGE, TTS_BUDGET_BYTES, 1024, 1);
    T_STR_EQ(budget.patterns[0].text, "*");
    T_TRUE(budget.device_memory.is_known);
    T_EQ(budget.device_memory.bytes, 12 * GIB);
}

T_TEST(keys_may_have_dashes_and_capitals_but_labels_are_as_they_are)
{
    load("Overall:\n  DRAM-Peak: 1\nPHASES:\n  Forward-Pass:\n    CB: 1\n  forward_pass:\n    "
         "cb: "
         "2\n");
    T_EQ(budget.limit_count, 3);
    T_STR_EQ(budget.patterns[0].text, "Forward-Pass");
    T_STR_EQ(budget.patterns[1].text, "forward_pass");
    load("phases:\n  \"\xc3\xa4?\":\n    cb: 1\n");
    T_STR_EQ(budget.patterns[0].text, "\xc3\xa4?");
}

T_TEST(as_many_labels_as_there_is_room_for_and_no_more)
{
    static char text[64 * 1024];
    int at = snprintf(text, sizeof text,
                      "overall: {cb: [1, 1%%, +1, +1%%], l1_core: [1, 1%%, +1, +1%%], "
                      "dram_peak: [1, 1%%, +1, +1%%], headroom: [1, 1%%], "
                      "final_dram: [1, 1%%, +1, +1%%]}\nphases:\n");
    for (int i = 0; i < TTS_BUDGET_PATTERNS_MAX; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "  P%d: {segment_peak: [1, 1%%, +1, +1%%], change: [1, 1%%, +1, +1%%], "
                       "cumulative_peak: [1, 1%%, +1, +1%%], l1_core: [1, 1%%, +1, +1%%], "
                       "cb: [1, 1%%, +1, +1%%]}\n",
                       i);
    load(text);
    /* A headroom cannot grow, so two limits are missing. */
    T_EQ(budget.limit_count, TTS_BUDGET_LIMITS_MAX - 2);
    T_EQ(budget.pattern_count, TTS_BUDGET_PATTERNS_MAX);
    snprintf(text + at, sizeof text - (size_t)at, "  LAST: {cb: 1}\n");
    refused(text, TTS_E_RANGE, 3 + TTS_BUDGET_PATTERNS_MAX,
            "there are more than 64 labels of phases");
}

/* --- files ------------------------------------------------------------------------------ */

static const char *written(const char *name, const char *text)
{
    const char *path = t_scratch(name);
    FILE *file = fopen(path, "w");
    T_TRUE(file != NULL);
    fputs(text, file);
    fclose(file);
    return path;
}

T_TEST(a_file_is_read_and_one_that_is_not_there_is_named)
{
    struct tts_error err = {0};
    const char *path = written("good.yaml", "overall:\n  cb: 1\n");
    T_EQ(tts_budgetfile_load(path, NULL, &budget, &err), TTS_OK);
    expect_limit(0, TTS_BUDGET_CB, TTS_BUDGET_BYTES, 1, 2);
    T_EQ(tts_budgetfile_load(written("bad.yaml", "\noveral:\n"), NULL, &budget, &err),
         TTS_E_NOT_FOUND);
    T_EQ(err.line, 2);
    T_EQ(tts_budgetfile_load("/nowhere/budget.yaml", NULL, &budget, &err), TTS_E_IO);
    T_STR_EQ(err.text, "cannot read '/nowhere/budget.yaml': no such file or directory");
}

T_TEST(without_memory_nothing_changes_and_nothing_is_kept)
{
    const char *path = written("some.yaml", "overall:\n  cb: 1\n");
    for (uint64_t at = 1;; at++) {
        struct heap heap;
        struct tts_error err = {0};
        heap_init(&heap);
        heap.fail_at = at;
        memset(&budget, 0x33, sizeof budget);
        enum tts_status status = tts_budgetfile_load(path, &heap.alloc, &budget, &err);
        T_TRUE(heap_is_settled(&heap));
        if (status == TTS_OK) {
            T_TRUE(at > 1);
            return;
        }
        T_EQ(status, TTS_E_NOMEM);
        T_EQ(((unsigned char *)&budget)[0], 0x33);
    }
}
