/* Tests that every event of a tracker is in the file, in order, together with the marks around
 * them. */
#include "base/ticks.h"
#include "harness/chip_tools.h"
#include "harness/recorder_rig.h"

#include <sys/stat.h>
#include <time.h>

/* --- contents --------------------------------------------------------------------------- */

static const struct tts_core_range some[] = {{0, 0, 3, 0}, {5, 1, 5, 2}};

static void post_every_kind(struct tts_tracker *t)
{
    static const struct tts_failure failure = {
        .kind = TTS_FAILURE_SPACE, .pool = TTS_POOL_L1, .requested_bytes = 12345};
    alloc_dram(t, 1, 100);
    op_begin(t, "matmul");
    post(t, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                               .device = 3,
                               .pool = TTS_POOL_L1,
                               .id = 7,
                               .size_bytes = 640,
                               .bytes_per_bank = 64,
                               .block_bytes = 96,
                               .has_address = true,
                               .address = 4096,
                               .page_bytes = 32,
                               .cores = 10,
                               .placement = TTS_PLACE_UP});
    post(t, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                               .pool = TTS_POOL_L1,
                               .id = 8,
                               .size_bytes = 64,
                               .bytes_per_bank = 8,
                               .ranges = some,
                               .range_count = 2});
    /* An allocation of 0 bytes */
    post(t, (struct tts_event){.kind = TTS_EVENT_ALLOC, .id = 9});
    T_EQ(tts_track_program(t, 3, NULL), TTS_OK);
    T_EQ(tts_track_cb(t, 3, TTS_EVENT_CB, some, 2, 2048, NULL), TTS_OK);
    post(t, (struct tts_event){.kind = TTS_EVENT_DFB,
                               .device = 3,
                               .borrowed = true,
                               .size_bytes = 512,
                               .ranges = some,
                               .range_count = 1});
    T_EQ(tts_track_cb(t, 3, TTS_EVENT_SCRATCHPAD, some, 1, 16, NULL), TTS_OK);
    op_end(t);
    T_EQ(tts_track_trace_begin(t, 0, NULL), TTS_OK);
    T_EQ(tts_track_trace_end(t, 0, NULL), TTS_OK);
    free_dram(t, 1);
    /* The allocation of this buffer was not seen. */
    T_EQ(tts_track_free(t, 0, TTS_POOL_L1, 77, 128, 16, NULL), TTS_OK);
    free_dram(t, 78); /* a free of an unknown id */
    T_EQ(tts_track_failure(t, 3, &failure, NULL), TTS_OK);
}

#define EVERY_KIND                                                                             \
    "1 alloc d0 DRAM #1 100\n"                                                                 \
    "2 op_begin of a thread in matmul\n"                                                       \
    "3 alloc d3 L1 #7 640/64/96 at 4096 pages 32 on 10 placed 1 in matmul\n"                   \
    "4 alloc d0 L1 #8 64/8/0 0-0:3-0 5-1:5-2 in matmul\n"                                      \
    "5 alloc d0 DRAM #0 0\n"                                                                   \
    "6 program d3\n"                                                                           \
    "7 cb d3 2048 0-0:3-0 5-1:5-2 in matmul\n"                                                 \
    "8 dfb d3 512 borrowed 0-0:3-0 in matmul\n"                                                \
    "9 scratchpad d3 16 0-0:3-0 in matmul\n"                                                   \
    "10 op_end of a thread\n"                                                                  \
    "11 trace_begin d0\n"                                                                      \
    "12 trace_end d0\n"                                                                        \
    "13 free d0 DRAM #1 0\n"                                                                   \
    "14 free d0 L1 #77 128/16/0\n"                                                             \
    "15 free d0 DRAM #78 0\n"                                                                  \
    "16 failure d3 1 L1 wanted 12345\n"

#define LIVE_THEN                                                                              \
    "keyframe 16: 2\n"                                                                         \
    "live d0 L1 #8 64/8/8 since 4 0-0:3-0 5-1:5-2 in matmul\n"                                 \
    "live d3 L1 #7 640/64/96 since 3 in matmul\n"                                              \
    "part d3 cb 2048 since 7 0-0:3-0 5-1:5-2\n"                                                \
    "part d3 scratchpad 16 since 9 0-0:3-0\n"                                                  \
    "keyframe end\n"

T_TEST(every_kind_of_event_is_in_the_file_and_what_lived_behind_a_failure)
{
    const char *path = t_scratch("every.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    T_TRUE(!tts_tracker_is_on(tracker));
    struct tts_recorder *recorder = recording(tracker, path, 0);
    T_TRUE(tts_tracker_is_on(tracker));
    post_every_kind(tracker);
    T_EQ(health_of(tracker).events, 16);
    struct tts_recorder_state at = ended(recorder);
    T_TRUE(!tts_tracker_is_on(tracker));
    T_EQ(at.events, 16);
    struct stat info;
    T_EQ(stat(path, &info), 0);
    T_EQ(info.st_size, (off_t)at.bytes);
    has_text(path, "keyframe 0: 0\nkeyframe end\n" EVERY_KIND LIVE_THEN);
    struct recording rec = recording_open(path);
    T_TRUE(rec.state.kind == TTS_REC_ENDED && rec.state.events == 16 && rec.state.blocks == 1);
    T_TRUE(rec.header.kind == TTS_REC_LIVE && rec.header.pid == (uint64_t)getpid());
    T_STR_EQ(rec.header.program, "test_recorder");
    T_STR_EQ(rec.header.writer, tts_version());
    recording_close(&rec);
    tts_tracker_free(tracker);
}

T_TEST(a_black_box_has_the_same)
{
    const char *path = t_scratch("every_box.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, BOX);
    post_every_kind(tracker);
    ended(recorder);
    has_text(path, "keyframe 0: 0\nkeyframe end\n" EVERY_KIND LIVE_THEN);
    tts_tracker_free(tracker);
}

T_TEST(what_is_known_of_a_buffer_is_kept_wherever_it_is)
{
    const char *path = t_scratch("known.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    struct tts_event event = {
        .kind = TTS_EVENT_ALLOC, .id = 5, .size_bytes = 64, .has_address = true, .address = 9};
    post(tracker, event);
    event.id = 6;
    event.has_address = false;
    event.page_bytes = 32;
    post(tracker, event);
    event.id = 7;
    event.page_bytes = 0;
    event.bytes_per_bank = 16;
    post(tracker, event);
    /* The allocation of this buffer was not seen. */
    T_EQ(tts_track_free(tracker, 0, TTS_POOL_TRACE, 8, 64, 0, NULL), TTS_OK);
    ended(recorder);
    has_text(path, "keyframe 0: 0\nkeyframe end\n1 alloc d0 DRAM #5 64 at 9\n"
                   "2 alloc d0 DRAM #6 64 pages 32 on 0 placed 0\n"
                   "3 alloc d0 DRAM #7 64/16/0\n4 free d0 TRACE #8 64\n");
    tts_tracker_free(tracker);
}

T_TEST(phases_of_captures_are_in_it)
{
    const char *path = t_scratch("phases.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *before = capture_of(tracker), *first = capture_of(tracker);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    T_EQ(tts_capture_begin(first, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    alloc_dram(tracker, 1, 10);
    T_EQ(tts_capture_begin(before, TTS_CAPTURE_NO_DISPATCH, NULL), TTS_OK);
    snapshot(first, "a phase");
    alloc_dram(tracker, 2, 10);
    end(first, "the last");
    T_EQ(tts_capture_begin(first, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    tts_capture_clear(first);
    /* The figures of the capture count from zero again. */
    T_EQ(tts_capture_begin(first, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    tts_capture_free(first);
    end(before, NULL);
    ended(recorder);
    has_text(path, "keyframe 0: 0\nkeyframe end\n"
                   "begin 1\n1 alloc d0 DRAM #1 10\nbegin 2\ncut 1 a phase\n"
                   "2 alloc d0 DRAM #2 10\ncut 1 the last\nend 1\n"
                   "begin 1\nend 1\nbegin 3\nend 3\ncut 2 END_TRACE\nend 2\n");
    is_dram(before, 0, 10, 10, 0); /* the figures are the same as without a recording */
    done(before, tracker);
}

T_TEST(a_recording_that_begins_in_the_middle_starts_with_what_there_is)
{
    const char *path = t_scratch("middle.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    T_EQ(tts_tracker_chip(tracker, 0, 9, NULL), TTS_OK);
    struct tts_capture *capture = begun(tracker), *idle = capture_of(tracker);
    alloc_dram(tracker, 1, 100);
    op_begin(tracker, "outer");
    alloc_l1(tracker, 2, 32);
    program(tracker);
    add_cb(tracker, some[0], 64);
    T_EQ(tts_track_trace_begin(tracker, 0, NULL), TTS_OK);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    alloc_dram(tracker, 3, 100);
    T_EQ(tts_tracker_chip(tracker, 1, 9, NULL), TTS_OK);
    end(capture, NULL);
    T_EQ(health_of(tracker).events, 7); /* the recording itself adds no events */
    T_EQ(ended(recorder).events, 1);
    has_text(path, "keyframe 6: 2\nchip 0 of 9\n"
                   "live d0 DRAM #1 100 since 1\n"
                   "live d0 L1 #2 2048/32/32 since 3 in outer\n"
                   "part d0 cb 64 since 5 0-0:3-0\n"
                   "tracing d0 1\nactive 1\nkeyframe end\n"
                   "7 alloc d0 DRAM #3 100 in outer\nchip 1 of 9\ncut 1 END_TRACE\nend 1\n");
    tts_capture_free(idle);
    done(capture, tracker);
}

T_TEST(a_capture_that_begins_inside_knows_what_the_recording_saw)
{
    const char *path = t_scratch("inside.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    alloc_dram(tracker, 1, 100);
    end(capture, NULL);
    T_EQ(tts_tracker_live(tracker, NULL, 0), 1);
    /* The recorder is the first listener of the tracker. */
    struct tts_recorder *recorder = recording(tracker, path, 0);
    T_EQ(tts_tracker_live(tracker, NULL, 0), 0);
    alloc_dram(tracker, 2, 100);
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    free_dram(tracker, 2);
    end(capture, NULL);
    is_dram(capture, 1, 0, 0, 100);
    T_EQ(health_of(tracker).unknown_frees, 0);
    T_TRUE(tts_tracker_is_on(tracker));
    ended(recorder);
    done(capture, tracker);
}

T_TEST(a_recording_may_be_made_again)
{
    const char *path = t_scratch("again.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0), *other = NULL;
    struct tts_error err;
    struct tts_recorder_config config = {.path = path, .keep_bytes = 0};
    T_EQ(tts_recorder_begin(tracker, &config, &other, &err), TTS_E_BUSY);
    T_TRUE(strstr(err.text, "end that recorder first") && !other);
    alloc_dram(tracker, 1, 1);
    ended(recorder);
    recorder = recording(tracker, path, BOX);
    alloc_dram(tracker, 2, 2);
    ended(recorder);
    has_text(path, "keyframe 0: 0\nkeyframe end\n1 alloc d0 DRAM #2 2\n");
    tts_tracker_free(tracker);
}

T_TEST(attached_devices_tell_where_buffers_lie_and_what_they_refuse)
{
    const char *path = t_scratch("device.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_chip chip = chip_of("n150");
    struct tts_device *device = NULL;
    T_EQ(tts_device_new(&chip, NULL, NULL, &device, NULL), TTS_OK);
    T_EQ(tts_tracker_attach(tracker, device, 5, NULL), TTS_OK);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    struct tts_core_range two = {0, 0, 1, 0};
    struct tts_shard shard = {.shard_height = 32,
                              .shard_width = 32,
                              .page_height = 32,
                              .page_width = 32,
                              .cores = {.ranges = &two, .count = 1}};
    struct tts_request plain = {.size_bytes = 4096,
                                .page_bytes = 2048,
                                .placement = TTS_PLACE_DOWN},
                       sharded = {.pool = TTS_POOL_L1,
                                  .size_bytes = 4096,
                                  .page_bytes = 2048,
                                  .shard = &shard},
                       huge = {.size_bytes = UINT64_C(1) << 45, .page_bytes = 2048};
    struct tts_buffer buffer[2];
    T_EQ(tts_device_alloc(device, &plain, &buffer[0], NULL), TTS_OK);
    T_EQ(tts_device_alloc(device, &sharded, &buffer[1], NULL), TTS_OK);
    T_EQ(tts_device_release(device, &buffer[0]), TTS_OK);
    T_EQ(tts_device_alloc(device, &huge, &buffer[0], NULL), TTS_E_FULL);
    ended(recorder);
    char wanted[512];
    snprintf(wanted, sizeof wanted,
             "keyframe 0: 0\nkeyframe end\n"
             "1 alloc d5 DRAM #1 4096/2048/2048 at %llu pages 2048 on 0 placed 2\n"
             "2 alloc d5 L1 #2 4096/2048/2048 at %llu pages 2048 on 2 placed 0\n"
             "3 free d5 DRAM #1 0\n4 failure d5 1 DRAM wanted %llu\n"
             "keyframe 4: 1\nlive d5 L1 #2 4096/2048/2048 since 2\nkeyframe end\n",
             (unsigned long long)buffer[0].address, (unsigned long long)buffer[1].address,
             1ULL << 45);
    has_text(path, wanted);
    T_EQ(tts_tracker_detach(tracker, device, NULL), TTS_OK);
    tts_device_free(device);
    tts_tracker_free(tracker);
}

T_TEST(only_the_first_failures_have_what_lived_behind_them)
{
    static const struct tts_failure failure = {.kind = TTS_FAILURE_SPACE};
    const char *path = t_scratch("failures.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    for (int i = 0; i < 20; i++)
        T_EQ(tts_track_failure(tracker, 0, &failure, NULL), TTS_OK);
    ended(recorder);
    char *text = text_of_recording(path);
    size_t keyframes = 0, failures = 0;
    for (const char *at = text; (at = strstr(at, "keyframe ")); at++)
        keyframes += strncmp(at, "keyframe end", 12) != 0;
    for (const char *at = text; (at = strstr(at, "failure")); at++)
        failures++;
    T_EQ(failures, 20);
    T_EQ(keyframes, 1 + 16);
    free(text);
    tts_tracker_free(tracker);
}

/* --- time ------------------------------------------------------------------------------- */

struct times {
    uint64_t first, last, events;
};

static void note_time(void *ctx, const struct tts_item *item, uint64_t time_ns)
{
    struct times *times = ctx;
    if (item->kind != TTS_ITEM_EVENT)
        return;
    times->first = times->events == 0 ? time_ns : times->first;
    T_TRUE(time_ns >= times->last);
    times->last = time_ns;
    times->events++;
}

T_TEST(times_are_those_of_the_monotonic_clock)
{
    enum { SLACK_NS = 300 * 1000 };
    const char *path = t_scratch("times.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    struct times times = {0};
    uint64_t before = tts_clock_ns();
    alloc_dram(tracker, 1, 1);
    uint64_t between = tts_clock_ns();
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    uint64_t later = tts_clock_ns();
    alloc_dram(tracker, 2, 1);
    uint64_t after = tts_clock_ns();
    ended(recorder);
    struct recording rec = recording_open(path);
    recording_each(&rec, note_time, &times);
    T_EQ(times.events, 2);
    T_TRUE(times.first + SLACK_NS >= before && times.first <= between + SLACK_NS);
    T_TRUE(times.last + SLACK_NS >= later && times.last <= after + SLACK_NS);
    T_TRUE(rec.header.start_ns <= before && rec.header.start_realtime_ns > 0);
    recording_close(&rec);
    tts_tracker_free(tracker);
}

/* --- missed events ---------------------------------------------------------------------- */

T_TEST(events_that_got_no_number_are_said_to_be_missed)
{
    const char *path = t_scratch("missed.tts");
    struct tts_tracker *tracker = tracker_on(NULL); /* at most four devices */
    struct tts_recorder *recorder = recording(tracker, path, 0);
    for (uint32_t device = 0; device < 5; device++)
        T_EQ(tts_track_alloc(tracker, device, TTS_POOL_DRAM, 1, 8, 0, NULL), TTS_OK);
    T_EQ(tts_track_free(tracker, 4, TTS_POOL_DRAM, 1, 8, 0, NULL), TTS_OK);
    T_EQ(tts_track_program(tracker, 4, NULL), TTS_OK);
    T_EQ(ended(recorder).events, 4);
    has_text(path,
             "keyframe 0: 0\nkeyframe end\n1 alloc d0 DRAM #1 8\n2 alloc d1 DRAM #1 8\n"
             "3 alloc d2 DRAM #1 8\n4 alloc d3 DRAM #1 8\nmissed 1\nmissed 1\nmissed 1\n");
    tts_tracker_free(tracker);
}
