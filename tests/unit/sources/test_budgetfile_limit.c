/* Tests the values that a limit can have. */
#include "harness/budgetfile_rig.h"

/* --- limits ----------------------------------------------------------------------------- */

T_TEST(a_limit_is_bytes_a_share_or_growth)
{
    static const struct {
        const char *text;
        enum tts_budget_unit unit;
        uint64_t amount;
    } cases[] = {
        {"0", TTS_BUDGET_BYTES, 0},
        {"11811160064", TTS_BUDGET_BYTES, 11 * GIB},
        {"11GiB", TTS_BUDGET_BYTES, 11 * GIB},
        {"1.5 MiB", TTS_BUDGET_BYTES, 3 * MIB / 2},
        {"1.2e9", TTS_BUDGET_BYTES, 1200000000},
        {"95%", TTS_BUDGET_SHARE, 9500},
        {"95 %", TTS_BUDGET_SHARE, 9500},
        {"97.5%", TTS_BUDGET_SHARE, 9750},
        {"0.25%", TTS_BUDGET_SHARE, 25},
        {"0%", TTS_BUDGET_SHARE, 0},
        {"1000%", TTS_BUDGET_SHARE, 100000},
        {"+2%", TTS_BUDGET_GROWTH_SHARE, 200},
        {"+0%", TTS_BUDGET_GROWTH_SHARE, 0},
        {"+50MiB", TTS_BUDGET_GROWTH_BYTES, 50 * MIB},
        {"+0", TTS_BUDGET_GROWTH_BYTES, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tts_budget_limit limit = {0};
        T_EQ(tts_budget_limit_parse(cases[i].text, &limit), TTS_OK);
        T_EQ(limit.unit, cases[i].unit);
        T_EQ(limit.amount, cases[i].amount);
    }
}

T_TEST(what_is_no_limit_is_refused_and_changes_nothing)
{
    static const struct {
        const char *text;
        enum tts_status status;
    } cases[] = {
        {"", TTS_E_SYNTAX},
        {"%", TTS_E_SYNTAX},
        {" %", TTS_E_SYNTAX},
        {"+", TTS_E_SYNTAX},
        {"+%", TTS_E_SYNTAX},
        {"++2%", TTS_E_SYNTAX},
        {"+-2%", TTS_E_SYNTAX},
        {"+ 2%", TTS_E_SYNTAX},
        {"95%%", TTS_E_SYNTAX},
        {"9.%", TTS_E_SYNTAX},
        {".5%", TTS_E_SYNTAX},
        {"1.234%", TTS_E_SYNTAX},
        {"1e2%", TTS_E_SYNTAX},
        {"x", TTS_E_SYNTAX},
        {"11 GiB free", TTS_E_SYNTAX},
        {"9GiB,", TTS_E_SYNTAX},
        {"-1", TTS_E_INVALID},
        {"-2%", TTS_E_INVALID},
        {"-x%", TTS_E_SYNTAX},
        {"-%", TTS_E_SYNTAX},
        {"1000.01%", TTS_E_RANGE},
        {"1001%", TTS_E_RANGE},
        {"1e30", TTS_E_RANGE},
        {"+1e30", TTS_E_RANGE},
        {"+1001%", TTS_E_RANGE},
        {"4294967396%", TTS_E_RANGE},
        {"18446744073709551716%", TTS_E_RANGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tts_budget_limit limit = {.unit = TTS_BUDGET_SHARE, .amount = 7};
        T_EQ(tts_budget_limit_parse(cases[i].text, &limit), cases[i].status);
        T_TRUE(limit.unit == TTS_BUDGET_SHARE && limit.amount == 7);
    }
}

T_TEST(a_value_that_is_no_limit_says_what_one_is)
{
    refused("overall:\n  dram_peak: lots\n", TTS_E_SYNTAX, 2,
            "invalid value 'lots' for 'dram_peak': expected bytes such as 11GiB, a share such "
            "as 95%, or growth such as +2% or +50MiB");
    refused("overall:\n  dram_peak: -5%\n", TTS_E_INVALID, 2,
            "invalid value '-5%' for 'dram_peak' (below 0): expected bytes such as 11GiB, a "
            "share such as 95%, or growth such as +2% or +50MiB");
    refused(
        "phases:\n  A:\n    cumulative_peak: 99999999999999999999999999\n", TTS_E_RANGE, 3,
        "invalid value '999999999999999999999999' for 'cumulative_peak' (too large): expected "
        "bytes such as 11GiB, a share such as 95%, or growth such as +2% or +50MiB");
    refused("overall:\n  headroom: +2%\n", TTS_E_SYNTAX, 2,
            "invalid value '+2%' for 'headroom': expected bytes such as 500MiB or a share such "
            "as 5%, not growth");
    refused("overall:\n  headroom: +2MiB\n", TTS_E_SYNTAX, 2,
            "invalid value '+2MiB' for 'headroom': expected bytes such as 500MiB or a share "
            "such as 5%, not growth");
    refused("overall:\n  headroom: lots\n", TTS_E_SYNTAX, 2,
            "invalid value 'lots' for 'headroom': expected bytes such as 500MiB or a share of "
            "the device such as 5%");
    refused("overall:\n  headroom: 101%\n", TTS_E_RANGE, 2,
            "invalid value '101%' for 'headroom' (too large): expected bytes such as 500MiB or "
            "a share of the device such as 5%");
    load("overall:\n  headroom: 100%\n");
}

T_TEST(bytes_without_a_unit_are_known_as_such)
{
    load("overall: {dram_peak: 8000, final_dram: 8000KiB, cb: 8000B, l1_core: 80%}");
    T_TRUE(budget.limits[0].is_bare);
    for (size_t i = 1; i < 4; i++)
        T_TRUE(!budget.limits[i].is_bare);
    load("overall: {dram_peak: +50}");
    T_TRUE(budget.limits[0].is_bare);
}

/* --- lists ------------------------------------------------------------------------------ */

T_TEST(one_figure_can_have_several_limits)
{
    load("overall:\n  dram_peak: [95%, +2%]\n  cb: 1\nphases:\n  A:\n    change:\n      - 1\n"
         "      - +3\n");
    T_EQ(budget.limit_count, 5);
    expect_limit(0, TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_SHARE, 9500, 2);
    expect_limit(1, TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_GROWTH_SHARE, 200, 2);
    expect_limit(2, TTS_BUDGET_CB, TTS_BUDGET_BYTES, 1, 3);
    expect_limit(3, TTS_BUDGET_PHASE_CHANGE, TTS_BUDGET_BYTES, 1, 7);
    expect_limit(4, TTS_BUDGET_PHASE_CHANGE, TTS_BUDGET_GROWTH_BYTES, 3, 8);
}

T_TEST(a_list_has_limits_each_of_another_kind)
{
    refused("overall:\n  cb: []\n", TTS_E_SYNTAX, 2, "'cb' has no limit");
    refused("overall:\n  cb:\n    - 1\n    - +1\n    - 2\n", TTS_E_SYNTAX, 5,
            "'cb' has two limits of the same kind: keep one");
    refused("overall:\n  cb: [1, much]\n", TTS_E_SYNTAX, 2,
            "invalid value 'much' for 'cb': expected bytes such as 11GiB, a share such as 95%, "
            "or growth such as +2% or +50MiB");
    refused("overall:\n  headroom: [5%, +1%]\n", TTS_E_SYNTAX, 2,
            "invalid value '+1%' for 'headroom': expected bytes such as 500MiB or a share such "
            "as 5%, not growth");
    refused("overall:\n  cb: &x [1]\n", TTS_E_SYNTAX, 2,
            "'cb' is marked with '&' or '!': write a limit such as 11GiB, 95% or +2%, or [95%, "
            "+2%]");
}
