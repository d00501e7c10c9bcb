/* Tests logs of programs that kept only one phase for each name. */
#include "harness/trainlog_rig.h"

#define TOTAL CUMULATIVE("155.00", "100.00") /* the totals do not matter in these tests */
#define MODEL "--- MODEL_CREATION ---\n" SEGMENT("100.00", "100.00", "0.00", "+100.00")
#define FORWARD(change)                                                                        \
    "--- FORWARD_PASS ---\n" SEGMENT("50.00", "60.00", "10.00", change) TOTAL
#define BACKWARD(freed, change)                                                                \
    "--- BACKWARD_PASS ---\n" SEGMENT("5.00", "70.00", freed, change) TOTAL
#define STEP FORWARD("+50.00") BACKWARD("120.00", "-50.00")
#define END "=== Final Totals ===\n" OVERALL("155.00", "100.00")
#define WARNING "WARNING: Snapshot 'FORWARD_PASS' already exists, overwriting\n"

/* Returns true if a note has these words. Other notes, about figures that do not follow from
 * each other, do not matter. */
static bool is_noted(const char *words)
{
    for (size_t i = 0; i < runs[0].note_count; i++)
        if (strstr(runs[0].notes[i].text, words))
            return true;
    return false;
}

static void expect_overwritten(const char *text, int64_t missing)
{
    read_log(text);
    T_TRUE(runs[0].is_overwritten && runs[0].is_at_least);
    T_EQ(runs[0].missing.is_known, missing > 0);
    T_EQ(runs[0].missing.bytes, missing);
    T_TRUE(is_noted("the program overwrote phases of earlier micro-steps: "));
}

static void expect_kept(const char *text)
{
    read_log(text);
    T_TRUE(!runs[0].is_overwritten && !runs[0].is_at_least && !runs[0].missing.is_known);
    T_TRUE(!is_noted("overwrote"));
}

T_TEST(repeated_steps_that_leave_nothing_were_overwritten)
{
    expect_overwritten(HEADING MODEL STEP STEP END, MB(100));
    T_TRUE(is_noted("at least 100.00 MB too low (one set of gradients)"));
    expect_overwritten(HEADING MODEL STEP STEP STEP STEP END, MB(100));
    /* If there are several chips, the log counts the parameters of all of them. */
    expect_overwritten("Number of parameters: 50000000\n" HEADING MODEL STEP STEP END,
                       100000000);
    expect_overwritten("Number of parameters: 90000000000\n" HEADING MODEL STEP STEP END,
                       MB(100));
    expect_overwritten(HEADING MODEL "--- LORA_INJECTION ---\n" SEGMENT("1.00", "1.00", "0.00",
                                                                        "+1.00") STEP STEP END,
                       0);
}

T_TEST(steps_that_leave_gradients_were_kept)
{
    expect_kept(HEADING MODEL STEP END);
    /* The gradients stay after the first backward pass, so nothing was overwritten. */
    expect_kept(HEADING MODEL FORWARD("+50.00") BACKWARD("20.00", "+50.00") STEP STEP END);
    expect_kept(HEADING MODEL FORWARD("+50.00") BACKWARD("119.00", "-49.00") FORWARD("+50.00")
                    BACKWARD("119.00", "-49.00") END);
    /* The log is of later iterations, where the gradients already exist. */
    expect_kept(HEADING STEP STEP END);
    /* A program keeps all phases if their names differ. */
    expect_kept(HEADING MODEL "--- FORWARD_PASS_micro_0 ---\n" SEGMENT(
        "50.00", "60.00", "10.00",
        "+50.00") "--- BACKWARD_PASS_micro_0 ---\n" SEGMENT("5.00", "70.00", "120.00", "-50.00")
                    STEP END);
}

T_TEST(a_warning_tells_it_too)
{
    expect_overwritten(WARNING HEADING STEP STEP END, 0);
    expect_overwritten(WARNING "Step: 1, Loss: 10.4\n" HEADING MODEL FORWARD("+50.00")
                           BACKWARD("119.00", "-49.00") FORWARD("+50.00")
                               BACKWARD("119.00", "-49.00") END,
                       MB(100));
    expect_kept(WARNING HEADING MODEL STEP END);
    /* A warning before an earlier summary is not about this summary. */
    read_log(WARNING HEADING STEP STEP END HEADING STEP STEP END);
    T_EQ(run_count, 2);
    T_TRUE(runs[0].is_overwritten && !runs[1].is_overwritten);
}
