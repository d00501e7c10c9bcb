/* Tests files that are not a budget, and the messages about them. */
#include "harness/budgetfile_rig.h"

/* --- refused files ---------------------------------------------------------------------- */

T_TEST(a_budget_without_a_limit_is_refused)
{
    static const char empty[] = "the file is empty: an empty check would always pass";
    refused("", TTS_E_SYNTAX, 1, empty);
    refused("# dram_peak: 95%\n", TTS_E_SYNTAX, 1, empty);
    refused("---\n", TTS_E_SYNTAX, 1, empty);
    refused("device: n150\n", TTS_E_SYNTAX, 1,
            "no limits: give 'overall' or 'phases', because an empty check would always pass");
    refused("{}", TTS_E_SYNTAX, 1,
            "no limits: give 'overall' or 'phases', because an empty check would always pass");
    refused("phases: {}", TTS_E_SYNTAX, 1,
            "no limits: give 'overall' or 'phases', because an empty check would always pass");
    refused("overall:\n  {}\n", TTS_E_SYNTAX, 2, "'overall' has no limit");
    refused("overall:\n", TTS_E_SYNTAX, 1,
            "'overall' is empty: write 'dram_peak: 95%' or another limit below");
    refused("overall:\n  cb: 1\nphases:\n  A: {}\n", TTS_E_SYNTAX, 4, "'A' has no limit");
    refused("overall:\n  cb: 1\nphases:\n  A:\n", TTS_E_SYNTAX, 4,
            "'A' is empty: write 'segment_peak: 8GiB' or another limit below");
    refused("overall:\n  cb:\n", TTS_E_SYNTAX, 2,
            "'cb' is empty: write a limit such as 11GiB, 95% or +2%, or [95%, +2%]");
}

T_TEST(an_unknown_key_is_told_with_the_nearest_or_all)
{
    refused("overal:\n  cb: 1\n", TTS_E_NOT_FOUND, 1,
            "unknown key 'overal', did you mean 'overall'?");
    refused("limits:\n  cb: 1\n", TTS_E_NOT_FOUND, 1,
            "unknown key 'limits', expected one of: device, device_memory, baseline, overall, "
            "phases");
    refused("overall:\n  cb: 1\n  dram_peek: 1\n", TTS_E_NOT_FOUND, 3,
            "unknown key 'dram_peek', did you mean 'dram_peak'?");
    refused("overall:\n  segment_peak: 1\n", TTS_E_NOT_FOUND, 2,
            "unknown key 'segment_peak', expected one of: dram_peak, headroom, final_dram, "
            "l1_core, cb");
    refused("phases:\n  A:\n    dram_peak: 1\n", TTS_E_NOT_FOUND, 3,
            "unknown key 'dram_peak', expected one of: segment_peak, change, cumulative_peak, "
            "l1_core, cb");
    refused("overall:\n  \"\\e[2Jpeak\": 1\n", TTS_E_NOT_FOUND, 2,
            "unknown key '?[2Jpeak', expected one of: dram_peak, headroom, final_dram, "
            "l1_core, cb");
}

T_TEST(a_key_that_stands_twice_is_told_with_both_lines)
{
    refused("overall:\n  cb: 1\n\n  CB: 2\n", TTS_E_SYNTAX, 4,
            "'cb' appears twice, first in line 2");
    refused("overall:\n  cb: 1\noverall:\n  l1_core: 1\n", TTS_E_SYNTAX, 3,
            "'overall' appears twice, first in line 1");
    refused("phases:\n  A:\n    cb: 1\n  B:\n    cb: 1\n  A:\n    l1_core: 1\n", TTS_E_SYNTAX,
            6, "'A' appears twice, first in line 2");
    refused("phases:\n  A:\n    cb: 1\n    cb: 1\n", TTS_E_SYNTAX, 4,
            "'cb' appears twice, first in line 3");
    refused("device: n150\ndevice: p150\n", TTS_E_SYNTAX, 2,
            "'device' appears twice, first in line 1");
}

T_TEST(what_is_nested_marked_or_an_alias_is_refused)
{
    refused("overall:\n  cb: [[1], 2]\n", TTS_E_SYNTAX, 2,
            "'cb' is a list: write a limit such as 11GiB, 95% or +2%, or [95%, +2%]");
    refused("overall:\n  cb: {max: 1}\n", TTS_E_SYNTAX, 2,
            "'cb' is a map: write a limit such as 11GiB, 95% or +2%, or [95%, +2%]");
    refused(
        "overall: &all\n  cb: 1\n", TTS_E_SYNTAX, 1,
        "'overall' is marked with '&' or '!': write 'dram_peak: 95%' or another limit below");
    refused("overall:\n  cb: &x 1\n  l1_core: *x\n", TTS_E_SYNTAX, 2,
            "'cb' is marked with '&' or '!': write a limit such as 11GiB, 95% or +2%, or [95%, "
            "+2%]");
    refused("overall:\n  cb: *x\n", TTS_E_SYNTAX, 2,
            "'cb' is an alias (put text that begins with '*' in quotes): write a limit such as "
            "11GiB, 95% or +2%, or [95%, +2%]");
    refused("overall:\n  cb: !int 1\n", TTS_E_SYNTAX, 2,
            "'cb' is marked with '&' or '!': write a limit such as 11GiB, 95% or +2%, or [95%, "
            "+2%]");
    refused("phases:\n  *x :\n    cb: 1\n", TTS_E_SYNTAX, 2,
            "the label of a phase is an alias (put text that begins with '*' in quotes): write "
            "'LABEL:' and its limits below");
    refused("- cb\n", TTS_E_SYNTAX, 1,
            "the document is a list: write 'overall:' or 'phases:' and limits below");
    refused("dram_peak\n", TTS_E_SYNTAX, 1,
            "the document is plain text: write 'overall:' or 'phases:' and limits below");
    refused("phases:\n  A: 8GiB\n", TTS_E_SYNTAX, 2,
            "'A' is plain text: write 'segment_peak: 8GiB' or another limit below");
    refused("? [a]\n: 1\n", TTS_E_SYNTAX, 1, "a key is a list: write 'key: value' lines");
    refused("overall:\n  ? {a: b}\n  : 1\n", TTS_E_SYNTAX, 2,
            "a key is a map: write 'key: limit' lines");
    refused("overall:\n  cb: 1\n---\noverall:\n  cb: 1\n", TTS_E_SYNTAX, 3,
            "a second document begins: a budget has only one");
}

T_TEST(depth_costs_nothing)
{
    static char text[60 * 1024];
    memset(text, '[', sizeof text);
    memcpy(text, "overall:\n  cb: ", strlen("overall:\n  cb: "));
    refused_bytes(text, sizeof text, TTS_E_SYNTAX, 2,
                  "'cb' is a list: write a limit such as 11GiB, 95% or +2%, or [95%, +2%]");
}

T_TEST(device_and_baseline_are_texts_of_a_line)
{
    refused("overall:\n  cb: 1\ndevice: n150\ndevice_memory: 12GiB\n", TTS_E_INVALID, 4,
            "'device' and 'device_memory' both set the memory: give only one");
    refused("device_memory: 12GiB\ndevice: n150\noverall:\n  cb: 1\n", TTS_E_INVALID, 2,
            "'device' and 'device_memory' both set the memory: give only one");
    refused("device:\n", TTS_E_SYNTAX, 1, "'device' is empty: write the name of a device");
    refused("baseline: [a, b]\n", TTS_E_SYNTAX, 1,
            "'baseline' is a list: write the path of a run");
    refused("baseline: '-'\n", TTS_E_INVALID, 1,
            "'baseline' cannot be standard input: name a file");
    refused("device: '-'\n", TTS_E_INVALID, 1,
            "'device' cannot be standard input: name a file");
    refused("baseline: \"a\\nb\"\n", TTS_E_INVALID, 1, "'baseline' has control characters");
    refused("device_memory: 0\n", TTS_E_SYNTAX, 1,
            "invalid value '0' for 'device_memory': expected a number of bytes such as "
            "12884901888 or 12GiB");
    refused("device_memory: 95%\n", TTS_E_SYNTAX, 1,
            "invalid value '95%' for 'device_memory': expected a number of bytes such as "
            "12884901888 or 12GiB");
    char text[1024];
    snprintf(text, sizeof text, "baseline: %0600d\n", 1);
    refused(text, TTS_E_INVALID, 1, "'baseline' is longer than 511 bytes");
}

T_TEST(labels_have_a_length_and_no_control_characters)
{
    char text[256];
    snprintf(text, sizeof text, "phases:\n  %063d:\n    cb: 1\n", 1);
    load(text);
    T_EQ(strlen(budget.patterns[0].text), 63);
    snprintf(text, sizeof text, "phases:\n  %064d:\n    cb: 1\n", 1);
    refused(text, TTS_E_RANGE, 2, "the label of a phase is longer than 63 bytes");
    refused("phases:\n  '':\n    cb: 1\n", TTS_E_RANGE, 2, "the label of a phase is empty");
    refused("phases:\n  \"a\\tb\":\n    cb: 1\n", TTS_E_RANGE, 2,
            "the label of a phase has control characters");
}

T_TEST(what_is_not_yaml_or_too_large_has_a_line)
{
    static char text[TTS_BUDGETFILE_MAX_BYTES + 1];
    refused("overall:\n  cb: 1\n  l1_core 2\n", TTS_E_SYNTAX, 3,
            "not YAML: could not find expected ':' while scanning a simple key");
    refused("overall:\n\tcb: 1\n", TTS_E_SYNTAX, 2,
            "not YAML: the line is indented with a tab; indent with spaces");
    refused("overall:\n  cb: 1\n \tl1_core: 1\n", TTS_E_SYNTAX, 3,
            "not YAML: the line is indented with a tab; indent with spaces");
    refused_bytes("overall:\n  cb: 1\n\0", 19, TTS_E_SYNTAX, 3,
                  "not a text file: the file has a NUL byte");
    memset(text, '#', sizeof text);
    text[10] = '\n';
    refused_bytes(text, sizeof text, TTS_E_SYNTAX, 2,
                  "the file is larger than the limit for a budget (64 KiB)");
}
