/* Tests invalid calls, failed calls and their messages. */
#include "harness/capture_rig.h"

#include <stdio.h>

static void says(enum tts_status got, enum tts_status want, const struct tts_error *err,
                 const char *text)
{
    T_EQ(got, want);
    T_STR_EQ(err->text, text);
}

T_TEST(every_misuse_of_a_capture_says_what_to_do)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = capture_of(tracker), *other = NULL;
    const struct tts_phase *found;
    struct tts_error err;
    says(tts_capture_new(NULL, &other, &err), TTS_E_INVALID, &err, "the tracker is NULL");
    says(tts_capture_new(tracker, NULL, &err), TTS_E_INVALID, &err, "'out' is NULL");
    says(tts_capture_begin(NULL, TTS_CAPTURE_NORMAL, &err), TTS_E_INVALID, &err,
         "the capture is NULL: make a capture with tts_capture_new()");
    says(tts_capture_begin(capture, (enum tts_capture_mode)7, &err), TTS_E_INVALID, &err,
         "unknown mode 7: give TTS_CAPTURE_NORMAL or TTS_CAPTURE_NO_DISPATCH");
    says(tts_capture_snapshot(capture, "x", &err), TTS_E_INVALID, &err,
         "the capture is not active: begin the capture first");
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, &err), TTS_OK);
    says(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, &err), TTS_E_BUSY, &err,
         "the capture is active: end this capture first, or make another capture");
    says(tts_capture_snapshot(capture, NULL, &err), TTS_E_INVALID, &err,
         "the name of the phase is missing");
    says(tts_capture_end(NULL, "x", &err), TTS_E_INVALID, &err,
         "the capture is NULL: make a capture with tts_capture_new()");
    says(tts_capture_get(NULL, "x", &found, &err), TTS_E_INVALID, &err, "the capture is NULL");
    says(tts_capture_get(capture, "x", NULL, &err), TTS_E_INVALID, &err, "'out' is NULL");
    says(tts_capture_print(capture, NULL, &err), TTS_E_INVALID, &err, "the file is NULL");
    says(tts_capture_print(NULL, stdout, &err), TTS_E_INVALID, &err, "the capture is NULL");
    tts_capture_clear(NULL);
    tts_capture_free(NULL);
    T_EQ(tts_capture_count(NULL), 0);
    T_TRUE(!tts_capture_is_active(NULL) && tts_capture_at(NULL, 0) == NULL);
    done(capture, tracker);
}

T_TEST(every_misuse_of_a_tracker_says_what_to_do)
{
    struct tts_tracker *tracker = tracker_on(NULL), *none = NULL;
    struct tts_error err;
    says(tts_tracker_new(NULL, NULL, NULL, &err), TTS_E_INVALID, &err,
         "'out' is NULL: give a pointer for the new tracker");
    says(tts_tracker_new(&(struct tts_tracker_config){.live_max = 1 << 30}, NULL, &none, &err),
         TTS_E_RANGE, &err, "live_max is 1073741824, but the maximum is 67108864");
    T_TRUE(none == NULL);
    says(tts_tracker_post(NULL, &(struct tts_event){0}, &err), TTS_E_INVALID, &err,
         "the tracker is NULL");
    says(tts_tracker_post(tracker, NULL, &err), TTS_E_INVALID, &err, "the event is NULL");
    says(tts_tracker_attach(tracker, NULL, 0, &err), TTS_E_INVALID, &err, "the device is NULL");
    says(tts_tracker_detach(NULL, NULL, &err), TTS_E_INVALID, &err, "the tracker is NULL");
    says(tts_tracker_chip(NULL, 0, 1, &err), TTS_E_INVALID, &err, "the tracker is NULL");
    tts_tracker_free(NULL);
    T_EQ(tts_tracker_live(NULL, NULL, 0), 0);
    struct tts_tracker_health health = {.events = 1};
    tts_tracker_get_health(NULL, &health);
    T_EQ(health.events, 0);
    tts_tracker_get_health(tracker, NULL);
    struct tts_capture *capture = begun(tracker);
    alloc_dram(tracker, 1, 1);
    T_EQ(tts_tracker_live(tracker, NULL, 4), 1);
    T_TRUE(tts_capture_text(capture, NULL, 4) > 0 &&
           tts_capture_cores_text(capture, NULL, 4) > 0);
    tts_capture_free(capture);
    tts_tracker_free(tracker);
}

T_TEST(events_that_cannot_be_are_refused_and_not_counted)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    struct tts_error err = {0};
    T_EQ(tts_track_alloc(tracker, 0, TTS_POOL_L1, 1, 100, 0, &err), TTS_E_INVALID);
    T_TRUE(strstr(err.text, "bytes_per_bank") != NULL);
    T_EQ(tts_track_cb(tracker, 0, TTS_EVENT_CB, NULL, 0, 100, &err), TTS_E_INVALID);
    T_EQ(tts_track_cb(tracker, 0, TTS_EVENT_ALLOC, NULL, 0, 100, &err), TTS_E_INVALID);
    T_EQ(tts_track_alloc(tracker, 0, TTS_POOL_DRAM, 1, UINT64_MAX, 0, &err), TTS_E_RANGE);
    T_EQ(health_of(tracker).events, 0);
    T_EQ(health_of(tracker).refused, 4);
    done(capture, tracker);
}

T_TEST(a_capture_outlives_its_tracker_with_its_phases)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    struct tts_error err;
    op_begin(tracker, "matmul");
    alloc_l1(tracker, 1, 100);
    snapshot(capture, "one");
    tts_tracker_free(tracker);
    T_TRUE(!tts_capture_is_active(capture));
    T_EQ(phase(capture, 0)->usage.core.bytes, 100);
    T_TRUE(phase(capture, 0)->usage.core.op == NULL);
    T_TRUE(phase(capture, 0)->usage.core.parts[0].op == NULL);
    says(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, &err), TTS_E_INVALID, &err,
         "the tracker of this capture was freed: make a new tracker and capture");
    tts_capture_clear(capture);
    tts_capture_free(capture);
}

/* --- memory ----------------------------------------------------------------------------- */

/* Runs a short program. Every call that runs out of memory is repeated, except the end: a
 * capture ends in any case. */
static void run(struct heap *heap)
{
    struct tts_tracker *tracker = NULL;
    struct tts_capture *capture = NULL;
    enum tts_status status;
    while ((status = tts_tracker_new(&small_limits, &heap->alloc, &tracker, NULL)) != TTS_OK)
        T_TRUE(status == TTS_E_NOMEM && tracker == NULL);
    while ((status = tts_capture_new(tracker, &capture, NULL)) != TTS_OK)
        T_TRUE(status == TTS_E_NOMEM && capture == NULL);
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    uint64_t calls = heap->calls;
    alloc_dram(tracker, 1, 100);
    alloc_l1(tracker, 2, 100);
    op_begin(tracker, "op");
    T_EQ(heap->calls, calls); /* events allocate nothing */
    while ((status = tts_capture_snapshot(capture, "one", NULL)) != TTS_OK)
        T_EQ(status, TTS_E_NOMEM);
    free_dram(tracker, 1);
    status = tts_capture_end(capture, "two", NULL);
    T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
    T_TRUE(!tts_capture_is_active(capture) && !tts_tracker_is_on(tracker));
    T_EQ(tts_capture_count(capture), status == TTS_OK ? 2 : 1);
    is_dram(capture, 0, 100, 100, 0);
    if (status == TTS_OK)
        is_dram(capture, 1, 0, 0, 100);
    FILE *file = fopen("/dev/null", "w");
    T_TRUE(file != NULL);
    while ((status = tts_capture_print(capture, file, NULL)) != TTS_OK)
        T_EQ(status, TTS_E_NOMEM);
    fclose(file);
    done(capture, tracker);
}

T_TEST(memory_may_run_out_at_every_place)
{
    uint64_t n = 0;
    struct heap heap;
    do {
        heap_init(&heap);
        heap.fail_at = ++n;
        run(&heap);
        T_TRUE(heap_is_settled(&heap));
    } while (heap.failed > 0);
    T_TRUE(n > 8);
}
