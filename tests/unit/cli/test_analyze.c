#include "cli/analyze/analyze.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "harness/t.h"

/* Reads `analyze --fail-above=TEXT`. Returns TTS_OPTIONS_END, or TTS_OPTIONS_STOP after
 * printing a message. */
static int read_limit(const char *text, uint32_t *out)
{
    char name[] = "analyze", option[64], *argv[] = {name, option, NULL};
    struct tts_analyze_options values = {0};
    snprintf(option, sizeof option, "--fail-above=%s", text);
    struct tts_options options =
        tts_options_begin("analyze", tts_analyze_command.options, argv);
    int end = tts_options_read(&options, &values);
    *out = values.limit;
    return end;
}

static bool limit(const char *text, uint32_t wanted)
{
    uint32_t value;
    return read_limit(text, &value) == TTS_OPTIONS_END && value == wanted;
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
    uint32_t value = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        T_TRUE(read_limit(bad[i], &value) == TTS_OPTIONS_STOP);
    T_EQ(value, 0);
}
