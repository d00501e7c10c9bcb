#include "analysis/questions/livequestions.h"
#include "analysis/questions/tracephase.h"
#include "harness/liveview_rig.h"
#include "views/live/answers_view.h"
#include "views/live/phases_view.h"
#include "views/say.h"

#define MB UINT64_C(1048576)
#define SECOND UINT64_C(1000000000)

static const struct tts_liveowner owner = {.pid_known = true, .pid = 7, .name = "python3"};

/* Returns sentence `number` about the device, with plain blanks. */
static const char *answer_of(const struct tts_livedevice *device, size_t number)
{
    static char text[TTS_LIVEANSWER_MAX];
    if (!tts_liveanswers_text(text, device, number))
        return NULL;
    for (char *at = text; (at = strchr(at, TTS_SAY_GLUE[0])) != NULL;)
        *at = ' ';
    return text;
}

static struct tts_livedevice *add_asked(struct tts_liveframe *frame)
{
    struct tts_livedevice *device = live_add_published(frame);
    device->answers.is_asked = true;
    device->answers.time_ns = frame->time_ns;
    return device;
}

T_TEST(nothing_is_said_without_an_answer)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = add_asked(&frame);
    T_TRUE(answer_of(device, 0) == NULL);
    device->answers.is_asked = false;
    device->answers.leak_count = 1;
    T_TRUE(answer_of(device, 0) == NULL);
    tts_liveframe_release(&frame);
}

static void add_answers(struct tts_livedevice *device)
{
    struct tts_liveanswers *answers = &device->answers;
    answers->growing_known = answers->leaks_known = answers->pressure_known = true;
    answers->growing[answers->growing_count++] =
        (struct tts_livegrowing){.pool = TTS_POOL_DRAM,
                                 .owner = owner,
                                 .since_ns = LIVE_BLOCK_NS - 10 * SECOND,
                                 .grown_bytes = 20 * MB,
                                 .bytes_per_second = 2 * MB,
                                 .full_known = true,
                                 .full_seconds = 123};
    answers->leaks[answers->leak_count++] =
        (struct tts_liveleak){.pool = TTS_POOL_L1,
                              .owner = owner,
                              .since_ns = LIVE_BLOCK_NS - 40 * SECOND,
                              .classes = 1 << 9 | 1 << 12,
                              .buffers = 80,
                              .bytes_at_least = 100 * 1024,
                              .period_ns = 5 * SECOND,
                              .periods = 8,
                              .is_after_steady = true};
    struct tts_livepressure *pressure = &answers->pressure[answers->pressure_count++];
    *pressure = (struct tts_livepressure){.pool = TTS_POOL_L1,
                                          .millionths = 951234,
                                          .owners = {{owner, 60 * MB}},
                                          .owner_count = 1,
                                          .dram_has_room = true,
                                          .moves_known = true,
                                          .moves = {{owner, true, 3, 0x1000, 8 * MB}},
                                          .move_count = 1,
                                          .moves_unlisted = 2,
                                          .moves_bytes = 12 * MB};
}

T_TEST(each_answer_is_a_sentence)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = add_asked(&frame);
    device->pools[TTS_POOL_DRAM] = live_pool(6, 2000 * MB, 900 * MB, 1100 * MB, 1);
    add_answers(device);
    T_STR_EQ(answer_of(device, 0),
             "Leak detected! L1 of process 7 python3: 80 buffers more in 40s, at least 100.00 "
             "KB, in each of 8 periods after a steady time; sizes from 512.00 B, 4.00 KB to "
             "twice that");
    T_STR_EQ(answer_of(device, 1),
             "L1 Memory: 95% full - critical, reduce buffer sizes; largest: process 7 python3 "
             "60.00 MB; DRAM Memory: 45% full - has room for buffers that are now in L1; 3 "
             "buffers could "
             "move to DRAM, which frees 12.00 MB, the largest 8.00 MB of process 7 python3 at "
             "0x0000000000001000");
    T_STR_EQ(answer_of(device, 2), "DRAM of process 7 python3 is growing: +20.00 MB in 10s, "
                                   "2.00 MB/s, full in 2m03s");
    T_TRUE(answer_of(device, 3) == NULL);
    device->answers.pressure[0].moves[0].address_known = false;
    T_TRUE(
        live_has(answer_of(device, 1), "the largest 8.00 MB of process 7 python3 (buffer 3)"));
    device->answers.pressure[0].moves_known = false;
    T_TRUE(live_has(answer_of(device, 1), "it is unknown which could move"));
    device->answers.growing_unlisted = 2;
    T_STR_EQ(answer_of(device, 3), "2 more pools are growing or leak");
    tts_liveframe_release(&frame);
}

T_TEST(all_views_show_the_answers_and_json_has_them)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = add_asked(&frame);
    add_answers(device);
    struct tts_liveview view = live_view(&frame);
    T_TRUE(live_has(live_written(&view, 'b'), "\n  Leak detected! L1 of process 7 python3: "));
    T_TRUE(live_has(live_written(&view, 't'), "\n   - Device 0: Leak detected! L1 of "));
    T_TRUE(live_has(live_written(&view, 'p'), "\n   - Device 0: Leak detected! L1 of "));
    T_TRUE(live_has(live_written(&view, 'f'), "\n   - Device 0: Leak detected! L1 of "));
    const char *text = live_written(&view, 'j');
    T_TRUE(live_has(text, "\"phase\": null, \"steady_seconds\": null, \"phases\": [], "
                          "\"growing\": [{\"pool\": \"DRAM\", \"pid\": 7, \"container_pid\": "
                          "null, \"name\": \"python3\", \"since\": 1759761035.000000, "
                          "\"grown_bytes\": 20971520, \"bytes_per_second\": 2097152, "
                          "\"full_seconds\": 123}]"));
    T_TRUE(live_has(text, "\"class_sizes\": [512, 4096], \"buffers\": 80, \"bytes_at_least\": "
                          "102400, \"periods\": 8, \"period_seconds\": 5.000000, "
                          "\"bytes_per_period_at_least\": 12800, \"after_steady\": true}]"));
    T_TRUE(live_has(text, "\"pressure\": [{\"pool\": \"L1\", \"usage_ratio\": 0.951234, "
                          "\"owners\": [{\"pid\": 7, \"container_pid\": null, \"name\": "
                          "\"python3\", \"bytes\": 62914560}], \"dram_has_room\": true, "
                          "\"moves\": [{\"pid\": 7"));
    T_TRUE(live_has(text, "\"moves_bytes\": 12582912, \"moves_not_listed\": 2}]"));
    tts_liveframe_release(&frame);
}

T_TEST(names_of_processes_are_escaped)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = add_asked(&frame);
    add_answers(device);
    strcpy(device->answers.leaks[0].owner.name, "a\033[2J\nb");
    struct tts_liveview view = live_view(&frame);
    T_TRUE(strchr(live_written(&view, 'b'), '\033') == NULL);
    T_TRUE(live_has(live_written(&view, 'b'), "process 7 a?[2J?b"));
    tts_liveframe_release(&frame);
}

/* ---- the published scenario ---- */

/* A program that captures a trace, under a monitor. */
struct scene {
    struct tts_livequestions *questions;
    struct tts_liveframe frames[2];
    struct tts_seenview view;
    uint64_t update;
};

static void init_scene(struct scene *scene)
{
    struct tts_growth_rule rule = {TTS_GROWTH_INTERVAL_NS, TTS_GROWTH_RISES};
    *scene = (struct scene){.view.trace_known = true};
    live_init(&scene->frames[0], LIVE_TABLE_NS);
    live_init(&scene->frames[1], LIVE_TABLE_NS);
    T_EQ(tts_livequestions_new(&rule, NULL, &scene->questions), TTS_OK);
}

static void release_scene(struct scene *scene)
{
    tts_livequestions_free(scene->questions);
    tts_liveframe_release(&scene->frames[0]);
    tts_liveframe_release(&scene->frames[1]);
}

/* Shows the next update in megabytes. Returns what the view writes. */
static const char *update_scene(struct scene *scene, const uint64_t mb[3], char kind)
{
    static const size_t counters[3] = {TTS_COUNTER_TRACE, TTS_COUNTER_L1, TTS_COUNTER_KERNEL};
    struct tts_liveframe *frame = &scene->frames[scene->update % 2];
    tts_liveframe_reset(frame);
    frame->time_ns = LIVE_TABLE_NS + scene->update * SECOND;
    struct tts_livedevice *device = live_add_published(frame);
    struct tts_liveprocess *process = live_add_process(frame, device, 7);
    process->counters = (struct tts_counters){.known = (1u << TTS_COUNTERS) - 1};
    process->start_ns = LIVE_TABLE_NS;
    process->view = &scene->view;
    for (size_t i = 0; i < 3; i++) {
        process->counters.bytes[counters[i]] = mb[i] * MB;
        if (counters[i] < TTS_POOLS)
            device->pools[counters[i]].allocated_bytes = mb[i] * MB;
    }
    device->pools[TTS_POOL_DRAM].allocated_bytes = 0;
    device->pools[TTS_POOL_L1_SMALL].allocated_bytes = 0;
    tts_livequestions_feed(scene->questions, frame, NULL);
    struct tts_liveview view = live_view(frame);
    view.before = scene->update > 0 ? &scene->frames[(scene->update + 1) % 2] : NULL;
    view.update = scene->update++;
    return live_written(&view, kind);
}

T_TEST(the_published_updates_have_their_remarks)
{
    struct scene scene;
    init_scene(&scene);
    T_TRUE(live_has(update_scene(&scene, (uint64_t[]){0, 0, 0}, 't'),
                    "\nUpdate #0:   TRACE: 0 MB,    L1: 0 MB\n"));
    scene.view.trace_depth = 1;
    T_TRUE(live_has(update_scene(&scene, (uint64_t[]){128, 0, 5}, 't'),
                    "\nUpdate #1:   TRACE: 128 MB,  L1: 5 MB    \u2190 Trace buffer "
                    "allocated!\n"));
    T_TRUE(live_has(update_scene(&scene, (uint64_t[]){128, 40, 5}, 't'),
                    "\nUpdate #2:   TRACE: 128 MB,  L1: 45 MB   \u2190 Data buffers "
                    "allocated!\n"));
    T_TRUE(live_has(update_scene(&scene, (uint64_t[]){128, 40, 8}, 't'),
                    "\nUpdate #3:   TRACE: 128 MB,  L1: 48 MB   \u2190 Kernels loaded!\n"));
    scene.view.trace_depth = 0;
    scene.view.traces = 1;
    T_TRUE(live_has(update_scene(&scene, (uint64_t[]){128, 40, 8}, 't'),
                    "\nUpdate #4:   TRACE: 128 MB,  L1: 48 MB   \u2190 Steady state "
                    "(execution)\n"));
    for (int i = 0; i < 5; i++)
        (void)update_scene(&scene, (uint64_t[]){128, 40, 8}, 't');
    T_TRUE(
        live_has(update_scene(&scene, (uint64_t[]){128, 40, 8}, 't'),
                 "   - Device 0: Phase: Execution; steady: nothing allocated for 6 s, as "
                 "during a\n     trace replay. This is normal: a replay allocates nothing\n"));
    release_scene(&scene);
}

T_TEST(an_update_names_its_device_if_another_device_is_in_use)
{
    static const char plain[] = "\nUpdate #0:   TRACE: 128 MB,  L1: 48 MB ";
    struct scene scene;
    init_scene(&scene);
    scene.view.traces = 1;
    (void)update_scene(&scene, (uint64_t[]){128, 48, 0}, 't');
    struct tts_liveframe *frame = &scene.frames[0];
    struct tts_liveview view = live_view(frame);
    T_TRUE(live_has(live_written(&view, 't'), plain));
    struct tts_livedevice *other = live_add_unknown(frame);
    other->state = TTS_LIVE_PHANTOM; /* left over from a program that was killed */
    T_TRUE(live_has(live_written(&view, 't'), plain));
    other->state = TTS_LIVE_LIVE;
    T_TRUE(live_has(live_written(&view, 't'),
                    "\nUpdate #0 (device 0):   TRACE: 128 MB,  L1: 48 MB "));
    release_scene(&scene);
}

T_TEST(a_reader_that_comes_later_has_the_published_remarks)
{
    struct scene scene;
    init_scene(&scene);
    scene.view.traces = 1;
    T_TRUE(live_has(update_scene(&scene, (uint64_t[]){128, 48, 0}, 't'),
                    "Update #0:   TRACE: 128 MB,  L1: 48 MB   \u2190 Already allocated\n"));
    T_TRUE(live_has(update_scene(&scene, (uint64_t[]){128, 48, 0}, 't'),
                    "Update #1:   TRACE: 128 MB,  L1: 48 MB   \u2190 No changes (replay)\n"));
    release_scene(&scene);
}

T_TEST(counters_alone_claim_no_replay)
{
    struct scene scene;
    init_scene(&scene);
    scene.view.trace_known = false;
    (void)update_scene(&scene, (uint64_t[]){0, 1, 0}, 't');
    T_TRUE(live_has(update_scene(&scene, (uint64_t[]){128, 1, 0}, 't'),
                    "\u2190 Trace buffer allocated!\n"));
    for (int i = 0; i < 9; i++)
        (void)update_scene(&scene, (uint64_t[]){128, 1, 0}, 't');
    const char *text = update_scene(&scene, (uint64_t[]){128, 1, 0}, 't');
    T_TRUE(strstr(text, "\u2190") == NULL && strstr(text, "execution)") == NULL);
    T_TRUE(live_has(text, "- Device 0: Steady: nothing allocated for 10 s, as during a"));
    release_scene(&scene);
}

T_TEST(the_table_of_phases_is_the_published_table)
{
    struct scene scene;
    init_scene(&scene);
    (void)update_scene(&scene, (uint64_t[]){0, 0, 0}, 'f');
    scene.view.trace_depth = 1;
    (void)update_scene(&scene, (uint64_t[]){128, 0, 5}, 'f');
    (void)update_scene(&scene, (uint64_t[]){128, 80, 5}, 'f');
    (void)update_scene(&scene, (uint64_t[]){128, 80, 12}, 'f');
    scene.view.trace_depth = 0;
    scene.view.traces = 1;
    const char *text = update_scene(&scene, (uint64_t[]){128, 80, 12}, 'f');
    T_TRUE(live_has(text, "\nPhase"));
    live_check_published(strstr(text, "\nPhase") + 1,
                         TTS_GOLDEN_DIR "/live/published_phases.txt");
    text = update_scene(&scene, (uint64_t[]){128, 80, 12}, 'j');
    T_TRUE(live_has(text, "\"phase\": \"execution\", \"steady_seconds\": 1.000000, \"phases\": "
                          "[{\"phase\": \"init\", \"since\": 1761143445.000000, "
                          "\"trace_bytes\": 0, \"l1_data_bytes\": 0, \"l1_code_bytes\": 0, "
                          "\"change_bytes\": null}, {\"phase\": \"capture_start\""));
    T_TRUE(live_has(text, "\"phase\": \"execution\", \"pools\": {"));
    release_scene(&scene);
}

T_TEST(unknown_code_is_unknown_in_the_table)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_TABLE_NS);
    struct tts_livedevice *device = add_asked(&frame);
    struct tts_liveview view = live_view(&frame);
    T_TRUE(live_has(live_written(&view, 'f'), "Device 0\nunknown: nothing reports"));
    device->answers.phases = (struct tts_livephases){
        .rows = {{.phase = TTS_TRACEPHASE_UNKNOWN, .data_bytes = 3 * MB / 2},
                 {.phase = TTS_TRACEPHASE_CAPTURE_START, .change_known = true}},
        .row_count = 2,
        .rows_left_out = 1};
    const char *text = live_written(&view, 'f');
    T_TRUE(live_has(text, "unknown         0 MB    1.50 MB          -  1.50 MB  -\n"));
    T_TRUE(live_has(text, "Capture Start   0 MB       0 MB          -     0 MB  0 MB\n"));
    T_TRUE(live_has(text, "1 phase after the first phase is not shown\n"));
    T_TRUE(live_has(text, "-: the code in L1 is unknown and is not in the total\n"));
    tts_liveframe_release(&frame);
}
