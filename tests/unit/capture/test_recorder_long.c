/* Tests recordings with many places, with many threads, and black boxes; and that folding a
 * file gives the figures of the program. tests/e2e/tsan.sh runs some of these tests under
 * ThreadSanitizer. */
#include "base/bytes.h"
#include "capture/recorder_inside.h"
#include "harness/recorder_rig.h"
#include "model/follow.h"

#include <pthread.h>
#include <sys/stat.h>

static const struct tts_core_range some[] = {{0, 0, 3, 0}, {5, 1, 5, 2}};

/* --- places ----------------------------------------------------------------------------- */

T_TEST(a_long_recording_goes_from_place_to_place)
{
    const char *path = t_scratch("long.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    struct tts_recorder_state at;
    struct sums sums = {0};
    churn(tracker, FEW_PLACES_EVENTS / 2);
    tts_recorder_get_state(recorder, &at);
    T_EQ(at.events, FEW_PLACES_EVENTS - 100);
    T_TRUE(at.bytes > 2 * (4 << 20));
    T_EQ(ended(recorder).bytes, at.bytes);
    struct recording rec = recording_open(path);
    T_TRUE(rec.blocks >= 3 && rec.state.blocks == rec.blocks && rec.len == at.bytes);
    recording_each(&rec, add_up, &sums);
    T_EQ(rec.last_seq, FEW_PLACES_EVENTS - 100);
    T_EQ(sums.allocs, FEW_PLACES_EVENTS / 2);
    T_EQ(sums.frees, FEW_PLACES_EVENTS / 2 - 100);
    T_EQ(sums.bytes, UINT64_C(1001) * 500 * (FEW_PLACES_EVENTS / 2 / 1000));
    recording_close(&rec);
    tts_tracker_free(tracker);
}

T_TEST(a_black_box_has_the_last_events_and_what_lived_before_them)
{
    const char *path = t_scratch("box.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = capture_of(tracker);
    T_EQ(tts_tracker_chip(tracker, 0, 9, NULL), TTS_OK);
    struct tts_recorder *recorder = recording(tracker, path, BOX);
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    churn(tracker, FEW_PLACES_EVENTS / 2);
    struct stat info;
    T_EQ(stat(path, &info), 0);
    T_EQ(info.st_size, BOX + TTS_REC_HEADER_BYTES);
    end(capture, "the only");
    struct tts_recorder_state at = ended(recorder);
    T_EQ(at.events, FEW_PLACES_EVENTS - 100);
    T_TRUE(at.bytes <= BOX + TTS_REC_HEADER_BYTES);
    struct recording rec = recording_open(path);
    T_TRUE(rec.blocks > 8 && rec.first_block == rec.blocks - 8);
    struct sums sums = {0};
    recording_each(&rec, add_up, &sums);
    T_EQ(rec.last_seq, FEW_PLACES_EVENTS - 100);
    T_EQ(sums.keyframes, 8);
    T_TRUE(sums.lives >= 8 * 100 && sums.lives <= 8 * 101);
    T_TRUE(sums.allocs > 200 * 1000);
    recording_close(&rec);
    char *text = text_of_recording(path);
    T_TRUE(strncmp(text, "keyframe ", 9) == 0);
    const char *first = strchr(text, '\n') + 1, *last = text + strlen(text);
    T_TRUE(strncmp(first, "chip 0 of 9\nlive d0 DRAM", 24) == 0);
    T_TRUE(strstr(text, "active 1\nkeyframe end\n"));
    T_STR_EQ(last - strlen("cut 1 the only\nend 1\n"), "cut 1 the only\nend 1\n");
    free(text);
    done(capture, tracker);
}

/* The file is valid wherever the end of a block falls among failures and their keyframes. */
T_TEST(failures_at_the_end_of_a_block_do_no_harm)
{
    static const struct tts_failure failure = {.kind = TTS_FAILURE_SPACE};
    enum { BLOCK_END = (4 << 20) + TTS_REC_HEADER_BYTES - 2048 };
    const char *path = t_scratch("failures_at_end.tts");
    for (uint64_t before = 0; before <= 30; before += 15) {
        struct tts_tracker *tracker = tracker_on(NULL);
        struct tts_recorder *recorder = recording(tracker, path, 0);
        struct tts_recorder_state at = {0};
        churn(tracker, 360000);
        for (uint64_t id = 1 << 30; at.bytes < BLOCK_END - before; id++) {
            T_EQ(tts_track_alloc(tracker, 0, TTS_POOL_DRAM, id, 8, 0, NULL), TTS_OK);
            T_EQ(tts_track_free(tracker, 0, TTS_POOL_DRAM, id, 0, 0, NULL), TTS_OK);
            tts_recorder_get_state(recorder, &at);
        }
        for (int i = 0; i < 4; i++)
            T_EQ(tts_track_failure(tracker, 0, &failure, NULL), TTS_OK);
        at = ended(recorder);
        struct recording rec = recording_open(path);
        struct sums sums = {0};
        recording_each(&rec, add_up, &sums);
        T_TRUE(rec.blocks == 2 && rec.last_seq == at.events);
        /* The second block has a keyframe of its own, unless it continues one. */
        T_TRUE(sums.keyframes == 1 + 4 || sums.keyframes == 2 + 4);
        recording_close(&rec);
        tts_tracker_free(tracker);
    }
}

/* Near the end of a block the keyframe after a failure does not fit. It is left out as a
 * whole. */
T_TEST(a_failure_does_not_cost_a_black_box_its_past)
{
    enum { MANY = 8000, PLACE = BOX / 8, LEFT = 20000 };
    static const struct tts_failure failure = {.kind = TTS_FAILURE_SPACE};
    const char *path = t_scratch("failure_box.tts");
    struct tts_tracker *tracker = NULL;
    struct tts_tracker_config limits = {.live_max = 1 << 16};
    T_EQ(tts_tracker_new(&limits, NULL, &tracker, NULL), TTS_OK);
    struct tts_recorder *recorder = recording(tracker, path, BOX);
    struct tts_recorder_state at;
    for (uint64_t i = 1; i <= MANY; i++)
        alloc_dram(tracker, i * 1000003, i);
    /* The keyframe after this failure fits */
    T_EQ(tts_track_failure(tracker, 0, &failure, NULL), TTS_OK);
    do {
        alloc_dram(tracker, 1, 1);
        free_dram(tracker, 1);
        tts_recorder_get_state(recorder, &at);
    } while (at.bytes < TTS_REC_HEADER_BYTES + PLACE - LEFT);
    /* The keyframe after this failure does not fit. */
    T_EQ(tts_track_failure(tracker, 0, &failure, NULL), TTS_OK);
    struct recording rec = recording_open(path);
    struct sums sums = {0};
    recording_each(&rec, add_up, &sums);
    T_EQ(sums.keyframes, 2);
    recording_close(&rec);
    alloc_dram(tracker, 2, 1);
    T_EQ(ended(recorder).events, at.events + 2);
    rec = recording_open(path);
    memset(&sums, 0, sizeof sums);
    recording_each(&rec, add_up, &sums);
    T_EQ(rec.blocks, 1);
    T_EQ(rec.last_seq, at.events + 2);
    T_EQ(sums.keyframes, 2); /* one keyframe at the beginning, one after the first failure */
    T_EQ(sums.lives, MANY);
    recording_close(&rec);
    tts_tracker_free(tracker);
}

T_TEST(what_lives_leaves_half_of_a_place_to_events)
{
    enum { PLACE = BOX / 8 };
    const char *path = t_scratch("half.tts");
    struct tts_tracker *tracker = NULL;
    struct tts_tracker_config limits = {.live_max = 1 << 16};
    T_EQ(tts_tracker_new(&limits, NULL, &tracker, NULL), TTS_OK);
    struct tts_capture *capture = begun(tracker);
    struct tts_recorder_state at;
    struct tts_recorder_config config = {.path = path, .keep_bytes = BOX};
    struct tts_recorder *recorder = NULL;
    uint64_t live = 0;
    do {
        for (int i = 0; i < 1000; i++, live++)
            alloc_dram(tracker, live * 1000003, 1 + live);
        T_EQ(tts_recorder_begin(tracker, &config, &recorder, NULL), TTS_OK);
        at = ended(recorder);
    } while (live < limits.live_max);
    /* The order of the ledger is random, so the size of a keyframe with an eighth fewer buffers
     * varies: 216,000 to 240,000 of 266,240 bytes in 150 runs. */
    T_TRUE(at.bytes > TTS_REC_HEADER_BYTES + PLACE / 2 - PLACE / 6);
    T_TRUE(at.bytes <= TTS_REC_HEADER_BYTES + PLACE / 2 + 100);
    done(capture, tracker);
}

/* A reader that looks between the beginning of a block and its first event does not see half of
 * a keyframe. */
T_TEST(a_keyframe_that_takes_too_much_room_leaves_nothing_in_its_block)
{
    enum { LIVE = 5000, NAME = 200 };
    const char *path = t_scratch("too_much.tts");
    struct tts_tracker_config limits = {.live_max = 2 * LIVE, .ops_max = LIVE};
    struct tts_tracker *tracker = NULL;
    T_EQ(tts_tracker_new(&limits, NULL, &tracker, NULL), TTS_OK);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    char name[NAME + 1];
    for (int i = 0; i < LIVE; i++) {
        snprintf(name, sizeof name, "%0*d", NAME, i);
        op_begin(tracker, name);
        alloc_dram(tracker, (uint64_t)i, 1);
        op_end(tracker);
    }
    tts_tracker_enter(tracker);
    recorder->enc.at = recorder->enc.end + 1; /* the block is full */
    T_TRUE(tts_recorder_ready(recorder) == recorder);
    T_EQ(recorder->block.number, 1);
    T_EQ(tts_get64(recorder->place + TTS_REC_COMMIT_OFF), 0);
    tts_tracker_leave(tracker);
    alloc_dram(tracker, LIVE, 1);
    ended(recorder);
    struct recording rec = recording_open(path);
    struct sums sums = {0};
    recording_each(&rec, add_up, &sums);
    T_TRUE(rec.blocks == 2 && rec.last_seq == 3 * LIVE + 1);
    T_TRUE(sums.keyframes == 1 && sums.lives == 0);
    recording_close(&rec);
    tts_tracker_free(tracker);
}

/* Figures of the keyframes of a file that the tests use. */
struct frames {
    uint64_t lives, live_bytes, smallest, left_buffers, left_bytes;
    uint64_t complete, incomplete; /* number of keyframes */
    bool in_keyframe, last_is_complete;
};

static void look_at_frames(void *ctx, const struct tts_item *item, uint64_t time_ns)
{
    struct frames *frames = ctx;
    (void)time_ns;
    if (item->kind == TTS_ITEM_KEYFRAME) {
        *frames = (struct frames){.complete = frames->complete,
                                  .incomplete = frames->incomplete,
                                  .smallest = UINT64_MAX,
                                  .in_keyframe = true};
    } else if (item->kind == TTS_ITEM_LIVE) {
        uint64_t size = item->live.size_bytes;
        frames->lives++;
        frames->live_bytes += size;
        frames->smallest = size < frames->smallest ? size : frames->smallest;
    } else if (item->kind == TTS_ITEM_MISSED && frames->in_keyframe) {
        T_TRUE(item->count == 0 && item->left_buffers > 0);
        frames->left_buffers = item->left_buffers;
        frames->left_bytes = item->left_bytes;
    } else if (item->kind == TTS_ITEM_KEYFRAME_END) {
        frames->in_keyframe = false;
        frames->last_is_complete = frames->left_buffers == 0;
        frames->complete += frames->last_is_complete;
        frames->incomplete += !frames->last_is_complete;
    }
}

static struct frames frames_of(const char *path, uint64_t last_seq)
{
    struct recording rec = recording_open(path);
    struct frames frames = {0};
    recording_each(&rec, look_at_frames, &frames);
    T_EQ(rec.last_seq, last_seq);
    T_EQ(rec.state.kind, TTS_REC_ENDED);
    recording_close(&rec);
    return frames;
}

/* The live buffers take more bytes than the whole black box. */
T_TEST(a_black_box_that_cannot_hold_what_lives_keeps_the_newest_events)
{
    enum { MANY = 300 * 1000, LARGE = 1000 };
    const char *path = t_scratch("tight.tts");
    struct tts_tracker_config limits = {.live_max = 1 << 20};
    struct tts_tracker *tracker = NULL;
    uint64_t bytes = 0;
    T_EQ(tts_tracker_new(&limits, NULL, &tracker, NULL), TTS_OK);
    struct tts_recorder *recorder = recording(tracker, path, BOX);
    for (uint64_t i = 1; i <= MANY; i++) {
        uint64_t size = i % (MANY / LARGE) == 0 ? 1 << 20 : 1 + i % 4096;
        alloc_dram(tracker, i * 1000003, size);
        bytes += size;
    }
    T_EQ(ended(recorder).events, MANY);
    struct frames frames = frames_of(path, MANY);
    T_TRUE(frames.complete == 0 && frames.incomplete == 8);
    T_TRUE(frames.lives > 10 * 1000 && frames.lives + frames.left_buffers < MANY);
    T_TRUE(frames.lives + frames.left_buffers > MANY / 2);
    T_TRUE(frames.live_bytes + frames.left_bytes < bytes);
    T_TRUE(frames.smallest >= 2048); /* the file has the largest buffers */
    T_TRUE(frames.live_bytes > 900 * (UINT64_C(1) << 20));
    /* A black box can also begin with so many live buffers. */
    struct tts_capture *capture = begun(tracker);
    for (uint64_t i = 1; i <= MANY; i++)
        alloc_dram(tracker, i * 1000003, i);
    recorder = recording(tracker, path, BOX);
    ended(recorder);
    frames = frames_of(path, MANY);
    T_EQ(frames.lives + frames.left_buffers, MANY);
    T_EQ(frames.live_bytes + frames.left_bytes, (uint64_t)MANY * (MANY + 1) / 2);
    /* In a recording without a limit of places, a keyframe takes several blocks. */
    recorder = recording(tracker, path, 0);
    ended(recorder);
    struct recording rec = recording_open(path);
    T_TRUE(rec.blocks > 1);
    recording_close(&rec);
    frames = frames_of(path, MANY);
    T_TRUE(frames.lives == MANY && frames.last_is_complete);
    done(capture, tracker);
}

T_TEST(keyframes_of_a_black_box_are_whole_again_when_less_lives)
{
    enum { MANY = 60 * 1000 };
    const char *path = t_scratch("shrinks.tts");
    struct tts_tracker_config limits = {.live_max = 1 << 20};
    struct tts_tracker *tracker = NULL;
    T_EQ(tts_tracker_new(&limits, NULL, &tracker, NULL), TTS_OK);
    struct tts_recorder *recorder = recording(tracker, path, BOX);
    for (uint64_t i = 1; i <= MANY; i++)
        alloc_dram(tracker, i * 1000003, i);
    for (uint64_t i = 1; i <= MANY; i++)
        free_dram(tracker, i * 1000003);
    churn(tracker, 80 * 1000);
    ended(recorder);
    struct frames frames = frames_of(path, 2 * MANY + 160 * 1000 - 100);
    T_TRUE(frames.incomplete > 0 && frames.complete > 0);
    T_TRUE(frames.last_is_complete && frames.lives <= 101);
    tts_tracker_free(tracker);
}

/* --- the same figures from the file ----------------------------------------------------- */

static void post_random(struct tts_tracker *t, uint64_t *rng)
{
    uint64_t draw = t_random(rng), id = t_random(rng) % 100;
    uint32_t device = (uint32_t)(t_random(rng) % 3);
    uint64_t bytes = 1 + t_random(rng) % 50 * 32;
    enum tts_pool pool = (enum tts_pool)(id % TTS_POOLS);
    switch (draw % 12) {
    case 0:
        op_begin(t, id % 2 ? "odd" : "even");
        break;
    case 1:
        op_end(t);
        break;
    case 2:
        T_EQ(tts_track_program(t, device, NULL), TTS_OK);
        break;
    case 3:
        T_EQ(tts_track_cb(t, device, TTS_EVENT_CB + id % 3, some, 1 + id % 2, bytes, NULL),
             TTS_OK);
        break;
    case 4:
        T_EQ(id % 2 ? tts_track_trace_begin(t, device, NULL)
                    : tts_track_trace_end(t, device, NULL),
             TTS_OK);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        T_EQ(tts_track_free(t, device, pool, id, id % 3 ? 0 : bytes, 16, NULL), TTS_OK);
        break;
    default:
        T_EQ(tts_track_alloc(t, device, pool, id, bytes, 16, NULL), TTS_OK);
    }
}

enum { WATCHED = 2, CUTS = 40 };

struct refolded {
    struct tts_follow *follow;
    struct tts_capture *captures[WATCHED];
    size_t next[WATCHED];
};

static void same_usage(const struct tts_usage *a, const struct tts_usage *b)
{
    T_MEM_EQ(a->pools, b->pools, sizeof a->pools);
    T_TRUE(a->peak_cb_bytes == b->peak_cb_bytes && a->peak_total_bytes == b->peak_total_bytes);
    T_TRUE(a->programs == b->programs && a->ops == b->ops && a->traces == b->traces);
    T_EQ(a->traced_bytes, b->traced_bytes);
    T_TRUE(a->core.bytes == b->core.bytes && a->core.seq == b->core.seq);
    T_EQ(a->core.part_count, b->core.part_count);
    for (size_t i = 0; i < a->core.part_count; i++) {
        T_EQ(a->core.parts[i].bytes, b->core.parts[i].bytes);
        T_EQ(a->core.parts[i].op != NULL, b->core.parts[i].op != NULL);
    }
}

static void same_phase(void *ctx, uint32_t number, const struct tts_phase *got, bool is_partial)
{
    struct refolded *r = ctx;
    T_TRUE(number >= 1 && number <= WATCHED && !is_partial);
    const struct tts_phase *wanted = phase(r->captures[number - 1], r->next[number - 1]++);
    T_STR_EQ(got->name, wanted->name);
    T_EQ(got->events, wanted->events);
    same_usage(&got->usage, &wanted->usage);
    T_EQ(got->device_count, wanted->device_count);
    for (size_t i = 0; i < got->device_count; i++) {
        T_EQ(got->devices[i].device, wanted->devices[i].device);
        same_usage(&got->devices[i].usage, &wanted->devices[i].usage);
    }
}

static void refold(void *ctx, const struct tts_item *item, uint64_t time_ns)
{
    struct refolded *r = ctx;
    struct tts_error err = {0};
    (void)time_ns;
    if (tts_follow_item(r->follow, item, &err) != TTS_OK)
        fail_msg("%s", err.text);
}

T_TEST(phases_of_the_file_are_those_of_the_program)
{
    const char *path = t_scratch("phases_again.tts");
    uint64_t rng = 5;
    struct tts_tracker *tracker = tracker_on(NULL);
    struct refolded r = {.captures = {capture_of(tracker), capture_of(tracker)}};
    T_EQ(tts_tracker_chip(tracker, 1, 0, NULL), TTS_OK);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    for (int i = 0; i < WATCHED; i++)
        T_EQ(tts_capture_begin(r.captures[i], TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    for (int i = 0; i < CUTS * 100; i++) {
        post_random(tracker, &rng);
        if (t_random(&rng) % 100 == 0)
            snapshot(r.captures[t_random(&rng) % WATCHED], "cut");
    }
    for (int i = 0; i < WATCHED; i++)
        end(r.captures[i], NULL);
    ended(recorder);
    struct tts_follow_config config = {
        .limits = small_limits, .on_phase = same_phase, .ctx = &r};
    T_EQ(tts_follow_new(&config, NULL, &r.follow, NULL), TTS_OK);
    struct recording rec = recording_open(path);
    recording_each(&rec, refold, &r);
    for (int i = 0; i < WATCHED; i++)
        T_TRUE(r.next[i] > 5 && r.next[i] == tts_capture_count(r.captures[i]));
    recording_close(&rec);
    tts_follow_free(r.follow);
    tts_capture_free(r.captures[0]);
    done(r.captures[1], tracker);
}

/* --- threads ---------------------------------------------------------------------------- */

enum { THREADS = 4, EACH = 20000 };

struct worker {
    pthread_t thread;
    struct tts_tracker *tracker;
    uint32_t idx;
    int failed;
};

static void *work(void *ctx)
{
    struct worker *w = ctx;
    char name[32];
    int len = snprintf(name, sizeof name, "op of %u", w->idx);
    for (uint64_t i = 0; i < EACH; i++) {
        uint64_t id = (uint64_t)w->idx << 32 | i;
        w->failed += tts_track_op_begin(w->tracker, name, (size_t)len, NULL) != TTS_OK;
        w->failed +=
            tts_track_alloc(w->tracker, w->idx, TTS_POOL_DRAM, id, 64, 0, NULL) != TTS_OK;
        w->failed += tts_track_op_end(w->tracker, NULL) != TTS_OK;
        w->failed +=
            tts_track_free(w->tracker, w->idx, TTS_POOL_DRAM, id, 0, 0, NULL) != TTS_OK;
    }
    return NULL;
}

/* The events of each thread as they are in the file. */
struct told {
    uint32_t thread[THREADS]; /* thread number of each device */
    uint64_t next[THREADS], events;
};

static void follow_thread(void *ctx, const struct tts_item *item, uint64_t time_ns)
{
    struct told *told = ctx;
    (void)time_ns;
    if (item->kind != TTS_ITEM_EVENT)
        return;
    told->events++;
    if (item->event.kind == TTS_EVENT_OP_BEGIN) {
        T_EQ(item->op.name_len, strlen("op of 0"));
        uint32_t idx = (uint32_t)(item->op.name[6] - '0');
        T_TRUE(idx < THREADS && item->thread > 0);
        if (told->thread[idx] == 0)
            told->thread[idx] = item->thread;
        T_EQ(told->thread[idx], item->thread);
    }
    if (item->event.kind == TTS_EVENT_ALLOC) {
        uint32_t idx = item->event.device;
        T_EQ(item->event.id, (uint64_t)idx << 32 | told->next[idx]++);
        T_EQ(item->op.name[6], '0' + (int)idx);
    }
}

T_TEST(events_of_many_threads_are_each_there_once_and_in_order)
{
    const char *path = t_scratch("threads.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = capture_of(tracker);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    struct tts_recorder_state at;
    struct worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.tracker = tracker, .idx = i};
        T_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
        snapshot(capture, "while they run");
        tts_recorder_get_state(recorder, &at);
        end(capture, NULL);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        T_EQ(pthread_join(workers[i].thread, NULL), 0);
        T_EQ(workers[i].failed, 0);
    }
    at = ended(recorder);
    T_EQ(health_of(tracker).dropped, 0);
    T_EQ(at.events, THREADS * EACH * 4);
    struct recording rec = recording_open(path);
    struct told told = {0};
    recording_each(&rec, follow_thread, &told);
    T_EQ(told.events, at.events);
    for (uint32_t i = 0; i < THREADS; i++) {
        T_EQ(told.next[i], EACH);
        for (uint32_t k = 0; k < i; k++)
            T_TRUE(told.thread[i] != told.thread[k]);
    }
    recording_close(&rec);
    done(capture, tracker);
}

static void first_seq(void *ctx, const struct tts_item *item, uint64_t time_ns)
{
    uint64_t *first = ctx;
    (void)time_ns;
    if (item->kind == TTS_ITEM_KEYFRAME && *first == UINT64_MAX)
        *first = item->seq;
}

T_TEST(recordings_may_come_and_go_while_threads_run)
{
    const char *path = t_scratch("come_and_go.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    struct worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.tracker = tracker, .idx = i};
        T_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        struct tts_recorder *recorder = recording(tracker, path, i % 2 ? BOX : 0);
        snapshot(capture, "while it records");
        struct tts_recorder_state at = ended(recorder);
        struct recording rec = recording_open(path);
        uint64_t first = UINT64_MAX;
        recording_each(&rec, first_seq, &first);
        T_EQ(rec.first_block, 0);
        T_EQ(rec.last_seq - first, at.events);
        recording_close(&rec);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        T_EQ(pthread_join(workers[i].thread, NULL), 0);
        T_EQ(workers[i].failed, 0);
    }
    T_EQ(health_of(tracker).events, THREADS * EACH * 4);
    done(capture, tracker);
}
