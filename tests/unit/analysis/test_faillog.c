#include "analysis/failure/faillog.h"

#include "harness/t.h"

static struct tts_faillog failures;

static void add(enum tts_failmsg_family family, uint64_t number, uint64_t line)
{
    struct tts_failmsg msg = {.family = family, .known = 1, .line = line};
    msg.value[0] = number;
    T_EQ(tts_faillog_add(&failures, &msg, NULL), TTS_OK);
}

T_TEST(the_end_of_a_log_is_the_first_failure_after_a_line)
{
    struct tts_failending ending;
    tts_faillog_init(&failures, NULL);
    T_TRUE(!tts_faillog_ending(&failures, 0, &ending));
    add(TTS_FAILMSG_UNSAFE, 0, 2);
    T_TRUE(!tts_faillog_ending(&failures, 0, &ending)); /* a warning */
    add(TTS_FAILMSG_V3, 1, 5);
    add(TTS_FAILMSG_CB, 1, 8);
    add(TTS_FAILMSG_V3, 1, 9); /* printed again */
    T_TRUE(tts_faillog_ending(&failures, 0, &ending));
    T_TRUE(ending.line == 5 && ending.is_first && ending.others == 1);
    T_EQ(ending.entry->count, 2);
    T_TRUE(tts_faillog_ending(&failures, 6, &ending));
    T_TRUE(ending.line == 9 && ending.is_first); /* the first that was printed after line 6 */
    add(TTS_FAILMSG_CB, 2, 20);
    T_TRUE(tts_faillog_ending(&failures, 9, &ending));
    T_TRUE(ending.line == 20 && !ending.is_first && ending.others == 2);
    T_TRUE(!tts_faillog_ending(&failures, 20, &ending));
    tts_faillog_release(&failures);
}

T_TEST(failures_beyond_the_limit_are_counted)
{
    tts_faillog_init(&failures, NULL);
    for (uint64_t i = 0; i < TTS_FAILLOG_MAX + 3; i++)
        add(TTS_FAILMSG_V3, i + 1, i + 1);
    T_EQ(failures.count, TTS_FAILLOG_MAX);
    T_EQ(failures.left_out, 3);
    T_EQ(failures.families[TTS_FAILMSG_V3].count, TTS_FAILLOG_MAX + 3);
    tts_faillog_release(&failures);
}
