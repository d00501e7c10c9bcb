#include "analysis/run/phasepairs.h"

#include "harness/t.h"
#include "torture/heap.h"

#include <stdio.h>

enum { PHASES = 8 };

struct built {
    struct tts_run run;
    struct tts_run_phase phases[PHASES];
};

/* Each letter of `names` is the name of a phase. */
static void build(struct built *out, const char *names)
{
    *out = (struct built){.run = {.phases = out->phases}};
    for (size_t i = 0; names[i] != '\0'; i++) {
        T_TRUE(i < PHASES);
        snprintf(out->phases[i].name, sizeof out->phases[i].name, "%c", names[i]);
        out->run.phase_count++;
    }
}

static void check(const char *names, const char *others, const char *wanted)
{
    struct built run, other;
    uint32_t *pairs = NULL;
    build(&run, names);
    build(&other, others);
    T_EQ(tts_phasepairs_new(&run.run, &other.run, NULL, &pairs), TTS_OK);
    for (size_t i = 0; i < run.run.phase_count; i++)
        T_EQ(pairs[i], wanted[i] == '-' ? TTS_PHASEPAIR_NONE : (uint32_t)(wanted[i] - '0'));
    tts_phasepairs_free(pairs, &run.run, NULL);
}

T_TEST(phases_of_a_name_are_numbered_in_their_order)
{
    static const uint32_t wanted[] = {0, 0, 1, 0, 2, 1};
    struct built run;
    enum tts_status status = TTS_E_NOMEM;
    build(&run, "BABCBA");
    for (uint64_t at = 1; status != TTS_OK; at++) {
        struct heap heap;
        uint32_t *ordinals = NULL;
        heap_init(&heap);
        heap.fail_at = at;
        status = tts_phase_ordinals_new(&run.run, &heap.alloc, &ordinals);
        T_EQ(status, at < 3 ? TTS_E_NOMEM : TTS_OK);
        for (size_t i = 0; ordinals && i < 6; i++)
            T_EQ(ordinals[i], wanted[i]);
        tts_phasepairs_free(ordinals, &run.run, &heap.alloc);
        T_TRUE(heap_is_settled(&heap));
    }
}

T_TEST(the_nth_of_a_name_goes_with_the_nth)
{
    check("MFB", "MFB", "012");
    check("MFB", "BMF", "120");
    check("FBFB", "FBFBFB", "0123");
    check("FBFBFB", "FBFB", "0123--");
    check("AFF", "FXF", "-02");
    check("AB", "", "--");
    check("", "AB", "");
    check("BAB", "AAB", "20-");
}

T_TEST(out_of_memory_leaves_nothing)
{
    struct built run, other;
    struct heap heap;
    build(&run, "AB");
    build(&other, "BA");
    for (uint64_t at = 1; at <= 2; at++) {
        uint32_t *pairs = NULL;
        heap_init(&heap);
        heap.fail_at = at;
        T_EQ(tts_phasepairs_new(&run.run, &other.run, &heap.alloc, &pairs), TTS_E_NOMEM);
        T_TRUE(!pairs && heap_is_settled(&heap));
    }
}
