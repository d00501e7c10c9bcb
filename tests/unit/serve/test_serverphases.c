/* Tests the phases of traces that the server tells, by the events of a ring. */
#include "harness/t.h"
#include "serve/serverphases.h"

#include "base/heap.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define MB (UINT64_C(1) << 20)

/* A program on device 5, and the words of the phases that were told. */
struct phase_rig {
    struct tts_serverphases phases;
    uint64_t now_ns, live[TTS_POOLS];
    char told[256];
};

static void tell_phase(void *ctx, struct tts_serverevent *event)
{
    struct phase_rig *rig = ctx;
    size_t len = strlen(rig->told);
    T_TRUE(event->kind == TTS_SERVEREVENT_PHASE && event->device == 5);
    T_EQ(event->trace_bytes, rig->live[TTS_POOL_TRACE]);
    T_EQ(event->l1_bytes, rig->live[TTS_POOL_L1]);
    snprintf(rig->told + len, sizeof rig->told - len, "%s ", tts_tracephase_word(event->phase));
}

static struct phase_rig begin_phases(void)
{
    return (struct phase_rig){.phases.alloc = tts_alloc_libc(), .now_ns = 1000 * MS};
}

static void put_phase_event(struct phase_rig *rig, uint8_t kind, enum tts_pool pool,
                            uint64_t bytes)
{
    if (kind == TTS_CLIENTEVENT_ALLOC)
        rig->live[pool] += bytes;
    else if (kind == TTS_CLIENTEVENT_FREE)
        rig->live[pool] -= bytes;
    tts_serverphases_event(&rig->phases,
                           &(struct tts_clientregion_event){.device = 5,
                                                            .kind = kind,
                                                            .pool = (uint8_t)pool,
                                                            .size_bytes = bytes,
                                                            .live_bytes = rig->live[pool]},
                           rig->now_ns, tell_phase, rig);
    tts_serverphases_settle(&rig->phases, rig->now_ns, tell_phase, rig);
}

static void alloc_l1_bytes(struct phase_rig *rig, uint64_t bytes)
{
    put_phase_event(rig, TTS_CLIENTEVENT_ALLOC, TTS_POOL_L1, bytes);
}

/* Looks as often as the server does. */
static void pause_for(struct phase_rig *rig, uint64_t ms)
{
    for (uint64_t i = 0; i < ms; i += 25) {
        rig->now_ns += 25 * MS;
        tts_serverphases_settle(&rig->phases, rig->now_ns, tell_phase, rig);
    }
}

static void has_told(struct phase_rig *rig, const char *words)
{
    T_STR_EQ(rig->told, words);
    rig->told[0] = '\0';
}

static void begin_phase_capture(struct phase_rig *rig)
{
    put_phase_event(rig, TTS_CLIENTEVENT_TRACE_BEGIN, TTS_POOL_TRACE, 0);
}

static void end_phase_capture(struct phase_rig *rig)
{
    put_phase_event(rig, TTS_CLIENTEVENT_TRACE_END, TTS_POOL_TRACE, 0);
}

T_TEST(a_program_with_pauses_tells_all_phases)
{
    struct phase_rig rig = begin_phases();
    begin_phase_capture(&rig);
    has_told(&rig, "init ");
    put_phase_event(&rig, TTS_CLIENTEVENT_ALLOC, TTS_POOL_TRACE, 128 * MB);
    alloc_l1_bytes(&rig, 5 * MB);
    pause_for(&rig, 100);
    has_told(&rig, "capture_start ");
    alloc_l1_bytes(&rig, 40 * MB);
    pause_for(&rig, 100);
    has_told(&rig, "capture_data ");
    alloc_l1_bytes(&rig, 24576);
    pause_for(&rig, 100);
    has_told(&rig, "capture_kernels ");
    end_phase_capture(&rig);
    has_told(&rig, "capture_end ");
    pause_for(&rig, 900);
    has_told(&rig, "");
    pause_for(&rig, 200);
    has_told(&rig, "execution ");
    pause_for(&rig, 5000);
    has_told(&rig, "");
    put_phase_event(&rig, TTS_CLIENTEVENT_FREE, TTS_POOL_TRACE, 128 * MB);
    put_phase_event(&rig, TTS_CLIENTEVENT_FREE, TTS_POOL_L1, rig.live[TTS_POOL_L1]);
    pause_for(&rig, 1100);
    has_told(&rig, "idle ");
    tts_serverphases_release(&rig.phases);
}

T_TEST(a_capture_tells_each_of_its_phases_once)
{
    struct phase_rig rig = begin_phases();
    for (int capture = 0; capture < 2; capture++) {
        begin_phase_capture(&rig);
        for (int i = 0; i < 50; i++) {
            pause_for(&rig, 100);
            alloc_l1_bytes(&rig, MB);
            pause_for(&rig, 100);
            alloc_l1_bytes(&rig, 2048);
        }
        end_phase_capture(&rig);
        has_told(&rig, capture == 0
                           ? "init capture_start capture_data capture_kernels capture_end "
                           : "capture_start capture_data capture_kernels capture_end ");
    }
    tts_serverphases_release(&rig.phases);
}

T_TEST(a_capture_without_a_pause_has_a_start_and_an_end)
{
    struct phase_rig rig = begin_phases();
    put_phase_event(&rig, TTS_CLIENTEVENT_ALLOC, TTS_POOL_DRAM, MB);
    pause_for(&rig, 100);
    has_told(&rig, "init ");
    begin_phase_capture(&rig);
    for (int i = 0; i < 100; i++)
        alloc_l1_bytes(&rig, MB);
    end_phase_capture(&rig);
    has_told(&rig, "capture_start capture_end ");
    /* The runtime places the trace buffer at the end. */
    rig.now_ns += 10 * MS;
    put_phase_event(&rig, TTS_CLIENTEVENT_ALLOC, TTS_POOL_TRACE, 128 * MB);
    pause_for(&rig, 1100);
    has_told(&rig, "execution ");
    tts_serverphases_release(&rig.phases);
}

T_TEST(a_look_with_an_older_time_than_the_events_is_no_pause)
{
    struct phase_rig rig = begin_phases();
    begin_phase_capture(&rig);
    has_told(&rig, "init ");
    alloc_l1_bytes(&rig, MB);
    tts_serverphases_settle(&rig.phases, rig.now_ns - 1, tell_phase, &rig);
    has_told(&rig, "");
    tts_serverphases_release(&rig.phases);
}

T_TEST(a_program_that_is_older_than_the_server_tells_its_present_phase)
{
    struct phase_rig rig = begin_phases();
    struct tts_seenview view = {
        .logical_id = 5, .counted_known = true, .trace_known = true, .traces = 1};
    view.counted_bytes[TTS_POOL_TRACE] = rig.live[TTS_POOL_TRACE] = 128 * MB;
    view.counted_bytes[TTS_POOL_L1] = rig.live[TTS_POOL_L1] = 48 * MB;
    tts_serverphases_see(&rig.phases, &view, rig.now_ns);
    pause_for(&rig, 100);
    has_told(&rig, "execution ");
    begin_phase_capture(&rig);
    pause_for(&rig, 100);
    has_told(&rig, "capture_start ");
    tts_serverphases_release(&rig.phases);
}
