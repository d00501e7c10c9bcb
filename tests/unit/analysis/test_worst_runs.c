#include "analysis/run/worst_runs.h"
#include "harness/t.h"

#include <stdio.h>
#include <string.h>

static struct tts_worst_runs worst;
static struct tts_named_run chosen[TTS_WORST_RUNS_MAX];
static struct tts_run_tally rest;

/* Adds a run that uses `percent` of its device; 0: the peak of the run is unknown. */
static void add_run(const char *name, int64_t percent)
{
    struct tts_run run = {0};
    struct tts_trainmem mem = {.device_memory = tts_amount_of(100)};
    if (percent > 0) {
        mem.peak = tts_amount_of(percent);
        mem.has_verdict = true;
        mem.fits = percent <= 100;
    }
    T_EQ(tts_worst_runs_add(&worst, &(struct tts_named_run){name, "x.log", &run, &mem}),
         TTS_OK);
}

T_TEST(a_kept_run_is_a_copy)
{
    struct tts_run_phase phases[2] = {{.line = 5, .name = "A"}, {.line = 9, .name = "B"}};
    struct tts_run run = {.line = 3, .phases = phases, .phase_count = 2};
    struct tts_trainmem mem = {.forward_passes = 7};
    char name[] = "first";
    T_EQ(tts_worst_runs_add(&worst, &(struct tts_named_run){name, "x.log", &run, &mem}),
         TTS_OK);
    memset(phases, 0, sizeof phases);
    run.line = 0;
    mem.forward_passes = 0;
    name[0] = '?';
    T_EQ(tts_worst_runs_choose(&worst, TTS_WORST_RUNS_MAX, chosen, &rest), 1);
    T_STR_EQ(chosen[0].name, "first");
    T_STR_EQ(chosen[0].path, "x.log");
    T_EQ(chosen[0].run->line, 3);
    T_EQ(chosen[0].run->phases[1].line, 9);
    T_STR_EQ(chosen[0].run->phases[0].name, "A");
    T_EQ(chosen[0].mem->forward_passes, 7);
    tts_worst_runs_release(&worst);
    T_EQ(tts_worst_runs_choose(&worst, TTS_WORST_RUNS_MAX, chosen, &rest), 0);
    tts_worst_runs_release(&worst); /* a second release does no harm */
}

T_TEST(runs_that_can_all_be_shown_stay_in_order)
{
    add_run("a", 50);
    add_run("b", 120);
    add_run("c", 0);
    T_EQ(tts_worst_runs_choose(&worst, 3, chosen, &rest), 3);
    T_STR_EQ(chosen[0].name, "a");
    T_STR_EQ(chosen[1].name, "b");
    T_STR_EQ(chosen[2].name, "c");
    T_EQ(rest.runs, 0);
    T_EQ(tts_worst_runs_choose(&worst, 2, chosen, &rest), 2);
    T_STR_EQ(chosen[0].name, "b");
    T_STR_EQ(chosen[1].name, "a");
    T_EQ(rest.runs, 1);
    T_EQ(rest.by_verdict[TTS_VERDICT_UNKNOWN], 1);
    T_EQ(rest.by_verdict[TTS_VERDICT_GOOD], 0);
    tts_worst_runs_release(&worst);
}

T_TEST(the_worst_of_many_are_kept)
{
    enum { RUNS = 3 * TTS_WORST_RUNS_MAX };
    char name[16];
    add_run("unknown", 0);
    for (int i = 0; i < RUNS; i++) {
        snprintf(name, sizeof name, "%d", i);
        add_run(name, i % 7 == 6 ? 50 : 1 + i % 7);
    }
    add_run("bad", 101);
    T_EQ(tts_worst_runs_choose(&worst, TTS_WORST_RUNS_MAX, chosen, &rest), TTS_WORST_RUNS_MAX);
    T_STR_EQ(chosen[0].name, "bad");
    T_STR_EQ(chosen[1].name, "6"); /* equal runs stay in the order in which they were added */
    T_STR_EQ(chosen[2].name, "13");
    T_EQ(chosen[TTS_WORST_RUNS_MAX - 1].mem->peak.bytes, 5);
    T_EQ(rest.runs, RUNS + 2 - TTS_WORST_RUNS_MAX);
    T_EQ(rest.by_verdict[TTS_VERDICT_BAD], 0);
    T_EQ(rest.by_verdict[TTS_VERDICT_UNKNOWN], 1);
    tts_worst_runs_release(&worst);
}
