#include "analysis/run/named_run.h"
#include "harness/t.h"

static enum tts_verdict judge(int64_t peak, int64_t memory, uint32_t share, bool at_least)
{
    struct tts_trainmem mem = {.peak = tts_amount_of(peak),
                               .device_memory = tts_amount_of(memory),
                               .peak_at_least = at_least};
    return tts_named_run_judge(&(struct tts_named_run){.mem = &mem}, share);
}

T_TEST(a_limit_is_exact_to_the_byte)
{
    T_EQ(judge(9500, 10000, 9500, false), TTS_VERDICT_GOOD);
    T_EQ(judge(9501, 10000, 9500, false), TTS_VERDICT_BAD);
    T_EQ(judge(2, 3, 6667, false), TTS_VERDICT_GOOD);
    T_EQ(judge(2, 3, 6666, false), TTS_VERDICT_BAD);
    T_EQ(judge(12884901888, 12884901888, 10000, false), TTS_VERDICT_GOOD);
    T_EQ(judge(12884901889, 12884901888, 10000, false), TTS_VERDICT_BAD);
    T_EQ(judge(INT64_MAX, INT64_MAX, 100000, false), TTS_VERDICT_GOOD);
}

T_TEST(no_device_memory_is_no_answer)
{
    T_EQ(judge(0, 0, 9500, false), TTS_VERDICT_UNKNOWN);
    T_EQ(judge(5, 0, 9500, false), TTS_VERDICT_UNKNOWN);
}

T_TEST(what_is_at_least_so_much_is_bad_or_unknown)
{
    T_EQ(judge(9501, 10000, 9500, true), TTS_VERDICT_BAD);
    T_EQ(judge(100, 10000, 9500, true), TTS_VERDICT_UNKNOWN);
}

T_TEST(without_a_limit_the_verdict_counts)
{
    struct tts_trainmem mem = {0};
    const struct tts_named_run run = {.mem = &mem};
    T_EQ(tts_named_run_judge(&run, 0), TTS_VERDICT_UNKNOWN);
    mem.has_verdict = true;
    T_EQ(tts_named_run_judge(&run, 0), TTS_VERDICT_BAD);
    mem.fits = true;
    T_EQ(tts_named_run_judge(&run, 0), TTS_VERDICT_GOOD);
    T_EQ(tts_named_run_judge(&run, 1), TTS_VERDICT_UNKNOWN);
}

T_TEST(the_phase_of_a_later_peak_is_named_by_the_run)
{
    const struct tts_run_phase phases[] = {{.name = "A"}, {.name = "B"}};
    struct tts_run what = {.phases = phases, .phase_count = 2, .whole.phase = "ITERATION_2"};
    struct tts_trainmem mem = {0};
    const struct tts_named_run run = {.run = &what, .mem = &mem};
    T_TRUE(tts_named_run_peak_phase(&run) == NULL);
    mem.has_peak_phase = true;
    mem.peak_phase = 1;
    T_STR_EQ(tts_named_run_peak_phase(&run), "B");
    mem.peak_is_later = true;
    T_STR_EQ(tts_named_run_peak_phase(&run), "ITERATION_2");
}
