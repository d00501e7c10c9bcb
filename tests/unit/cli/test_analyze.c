#include "cli/analyze_parts.h"
#include "harness/t.h"

#include <string.h>

static bool limit(const char *text, uint32_t wanted)
{
    uint32_t value = 0;
    return tts_analyze_limit_parse(text, &value) && value == wanted;
}

T_TEST(a_limit_is_a_percentage)
{
    T_TRUE(limit("95%", 9500));
    T_TRUE(limit("97.5%", 9750));
    T_TRUE(limit("97.55%", 9755));
    T_TRUE(limit("0.01%", 1));
    T_TRUE(limit("100%", 10000));
    T_TRUE(limit("1000%", 100000));
}

T_TEST(anything_else_is_no_limit)
{
    static const char *const bad[] = {
        "",      "%",      "95",       "0.95",        "0%",
        "0.00%", ".5%",    "95.%",     "-5%",         "+5%",
        "95%%",  "95 %",   "1000.01%", "97.555%",     "1e2%",
        "nan%",  "1.2.3%", "10001%",   "4294967391%", "99999999999999999999%"};
    uint32_t value = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        T_TRUE(!tts_analyze_limit_parse(bad[i], &value));
    T_EQ(value, 7);
}

static enum tts_analyze_answer judge(int64_t peak, int64_t memory, uint32_t share,
                                     bool at_least)
{
    struct tts_analyze_options options = {.has_limit = true, .limit = share};
    struct tts_trainmem mem = {.peak = tts_amount_of(peak),
                               .device_memory = tts_amount_of(memory),
                               .peak_at_least = at_least};
    return tts_analyze_judge(&options, &mem);
}

T_TEST(a_limit_is_exact_to_the_byte)
{
    T_EQ(judge(9500, 10000, 9500, false), TTS_ANALYZE_GOOD);
    T_EQ(judge(9501, 10000, 9500, false), TTS_ANALYZE_BAD);
    T_EQ(judge(2, 3, 6667, false), TTS_ANALYZE_GOOD);
    T_EQ(judge(2, 3, 6666, false), TTS_ANALYZE_BAD);
    T_EQ(judge(12884901888, 12884901888, 10000, false), TTS_ANALYZE_GOOD);
    T_EQ(judge(12884901889, 12884901888, 10000, false), TTS_ANALYZE_BAD);
    T_EQ(judge(INT64_MAX, INT64_MAX, 100000, false), TTS_ANALYZE_GOOD);
}

T_TEST(what_is_at_least_so_much_is_bad_or_unknown)
{
    T_EQ(judge(9501, 10000, 9500, true), TTS_ANALYZE_BAD);
    T_EQ(judge(100, 10000, 9500, true), TTS_ANALYZE_UNKNOWN);
}

T_TEST(without_a_limit_the_verdict_counts)
{
    struct tts_analyze_options options = {0};
    struct tts_trainmem mem = {0};
    T_EQ(tts_analyze_judge(&options, &mem), TTS_ANALYZE_UNKNOWN);
    mem.has_verdict = true;
    T_EQ(tts_analyze_judge(&options, &mem), TTS_ANALYZE_BAD);
    mem.fits = true;
    T_EQ(tts_analyze_judge(&options, &mem), TTS_ANALYZE_GOOD);
    options.has_limit = true;
    T_EQ(tts_analyze_judge(&options, &mem), TTS_ANALYZE_UNKNOWN);
}

T_TEST(numbers_have_commas)
{
    char text[TTS_ANALYZE_NUMBER_MAX];
    T_STR_EQ(tts_analyze_count(text, 0), "0");
    T_STR_EQ(tts_analyze_count(text, 999), "999");
    T_STR_EQ(tts_analyze_count(text, 1000), "1,000");
    T_STR_EQ(tts_analyze_count(text, 969369600), "969,369,600");
    T_STR_EQ(tts_analyze_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
    T_STR_EQ(tts_analyze_mb(text, 0), "0.00");
    T_STR_EQ(tts_analyze_mb(text, INT64_C(12884901888)), "12,288.00");
    T_STR_EQ(tts_analyze_mb(text, -INT64_C(1048576000)), "-1,000.00");
    T_STR_EQ(tts_analyze_mb(text, -INT64_C(104857600)), "-100.00");
    T_STR_EQ(tts_analyze_mb(text, INT64_MIN), "-8,796,093,022,208.00");
    T_STR_EQ(tts_analyze_percent(text, 8278, 12288), "67.37");
}

static struct tts_run run_of(const char *title, const char *rank)
{
    struct tts_run run = {0};
    snprintf(run.title, sizeof run.title, "%s", title);
    snprintf(run.rank, sizeof run.rank, "%s", rank);
    return run;
}

static const char *name_of(const char *title, const char *rank, const char *label,
                           uint64_t number)
{
    static char name[TTS_RUN_LABEL_MAX];
    struct tts_run run = run_of(title, rank);
    tts_run_name(name, &run, label, number);
    return name;
}

T_TEST(a_run_is_called_by_its_title_or_its_log)
{
    T_STR_EQ(name_of("TinyLlama", "", "run.log", 1), "TinyLlama");
    T_STR_EQ(name_of("TinyLlama", "1,3", "run.log", 4), "TinyLlama (4) [1,3]");
    T_STR_EQ(name_of("", "", "run.log", 1), "run.log");
    T_STR_EQ(name_of("", "", "run.log", 2), "run.log (2)");
    T_STR_EQ(name_of("", "rank 1", "run.log", 3), "run.log (3) [rank 1]");
    T_STR_EQ(name_of("", "rank 1: ", "run.log", 1), "run.log [rank 1]");
    T_STR_EQ(name_of("", ": ", "run.log", 1), "run.log");
}

T_TEST(a_log_is_called_by_what_tells_it_from_others)
{
    static const struct {
        const char *path, *label;
    } logs[] = {{"e1/train.log", "e1/train.log"},
                {"/x/e2/train.log", "e2/train.log"},
                {"/a/e3/train.log", "a/e3/train.log"},
                {"/b/e3/train.log", "b/e3/train.log"},
                {"/b/e3/train.log", "b/e3/train.log"}, /* twice the same */
                {"other.log", "other.log"},
                {"./other.log", "./other.log"},
                {"deep/down/only.log", "only.log"},
                {"mytrain.log", "mytrain.log"},
                {"-", "stdin"},
                {"a/", "a/"},
                {"", ""}};
    enum { COUNT = sizeof logs / sizeof logs[0] };
    const char *paths[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        paths[i] = logs[i].path;
    for (size_t i = 0; i < COUNT; i++)
        T_STR_EQ(tts_run_label(paths, COUNT, i), logs[i].label);
}

static struct tts_analyze_names names;

static const char *once(const char *title, const char *label, uint64_t untitled)
{
    static char name[TTS_RUN_LABEL_MAX];
    struct tts_run run = run_of(title, "");
    tts_analyze_name_once(&names, &run, label, untitled, name);
    return name;
}

T_TEST(a_name_that_comes_again_has_a_number)
{
    memset(&names, 0, sizeof names);
    T_STR_EQ(once("a", "x.log", 0), "a");
    T_STR_EQ(once("a (2)", "x.log", 0), "a (2)");
    T_STR_EQ(once("a", "x.log", 0), "a (3)"); /* the second is taken */
    T_STR_EQ(once("a", "y.log", 0), "a (4)");
    T_STR_EQ(once("", "x.log", 1), "x.log");
    T_STR_EQ(once("", "x.log", 2), "x.log (2)");
    T_STR_EQ(once("", "x.log", 1), "x.log (3)"); /* the same log, given twice */
    T_STR_EQ(once("x.log", "x.log", 1), "x.log (4)");
}

T_TEST(behind_the_first_names_only_untitled_runs_are_numbered)
{
    memset(&names, 0, sizeof names);
    for (int i = 0; i < TTS_ANALYZE_NAMES_MAX; i++) {
        char title[32];
        snprintf(title, sizeof title, "run %d", i);
        T_STR_EQ(once(title, "x.log", 0), title);
    }
    T_STR_EQ(once("run 255", "x.log", 0), "run 255 (2)");
    T_STR_EQ(once("more", "x.log", 0), "more");
    T_STR_EQ(once("more", "x.log", 0), "more");
    T_STR_EQ(once("", "x.log", 1), "x.log");
    T_STR_EQ(once("", "x.log", 2), "x.log (2)");
}

T_TEST(a_device_is_told_as_a_shell_takes_it)
{
    char out[TTS_ANALYZE_DEVICE_MAX];
    struct tts_device_arg device = {.name = "n150"};
    T_STR_EQ(tts_analyze_device_words(out, &device), "n150");
    device = (struct tts_device_arg){
        .name = "my 'own' card.yaml", .sets = {"dram_banks=4", "arch=a b"}, .set_count = 2};
    T_STR_EQ(tts_analyze_device_words(out, &device),
             "'my '\\''own'\\'' card.yaml' --set dram_banks=4 --set 'arch=a b'");
    device = (struct tts_device_arg){.name = "a\x1b[31m.yaml"};
    T_STR_EQ(tts_analyze_device_words(out, &device), "'a?[31m.yaml'");
    static char long_set[200];
    memset(long_set, 'x', sizeof long_set - 1);
    device = (struct tts_device_arg){.name = "n150", .set_count = TTS_DEVICE_SETS_MAX};
    for (size_t i = 0; i < TTS_DEVICE_SETS_MAX; i++)
        device.sets[i] = long_set;
    tts_analyze_device_words(out, &device);
    T_TRUE(strlen(out) > 500);
    T_STR_EQ(out + strlen(out) - 4, " ...");
}

T_TEST(a_kept_run_is_a_copy)
{
    struct tts_run_phase phases[2] = {{.line = 5, .name = "A"}, {.line = 9, .name = "B"}};
    struct tts_run run = {.line = 3, .phases = phases, .phase_count = 2};
    struct tts_trainmem mem = {.forward_passes = 7};
    char name[] = "first";
    const struct tts_analyze_run given = {name, "x.log", &run, &mem};
    struct tts_analyze_kept *kept = tts_analyze_keep(&given);
    T_TRUE(kept != NULL);
    memset(phases, 0, sizeof phases);
    run.line = 0;
    mem.forward_passes = 0;
    name[0] = '?';
    T_STR_EQ(kept->run.name, "first");
    T_EQ(kept->run.run->line, 3);
    T_EQ(kept->run.run->phases[1].line, 9);
    T_STR_EQ(kept->run.run->phases[0].name, "A");
    T_EQ(kept->run.mem->forward_passes, 7);
    tts_analyze_kept_free(kept);
    tts_analyze_kept_free(NULL);
}
