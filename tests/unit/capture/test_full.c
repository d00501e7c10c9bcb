/* Tests a full inbox. The test thread holds `folding` while it posts, so all events go to the
 * inbox. */
#include "capture/tracker_inside.h"
#include "harness/capture_rig.h"

static enum tts_status post_l1(struct tts_tracker *tracker, uint64_t id)
{
    return tts_track_alloc(tracker, 0, TTS_POOL_L1, id, 64, 1, NULL);
}

/* Returns a tracker with 4,096 waiting events and two dropped events. */
static struct tts_tracker *filled(struct tts_capture **capture)
{
    struct tts_tracker_config limits = {.live_max = 8192, .devices_max = 4, .ops_max = 16};
    struct tts_tracker *tracker = NULL;
    struct tts_error err = {0};
    T_EQ(tts_tracker_new(&limits, NULL, &tracker, NULL), TTS_OK);
    *capture = begun(tracker);
    tts_tracker_enter(tracker);
    for (uint64_t id = 1; id <= TTS_INBOX_EVENTS; id++)
        T_EQ(post_l1(tracker, id), TTS_OK);
    T_EQ(tts_track_alloc(tracker, 0, TTS_POOL_L1, 9001, 64, 1, &err), TTS_E_FULL);
    T_STR_EQ(err.text, "event dropped: 4096 events are waiting already, which is the maximum");
    T_TRUE(atomic_load(&tracker->is_stuck));
    T_EQ(post_l1(tracker, 9002), TTS_E_FULL); /* the post returns without waiting */
    tts_tracker_leave(tracker);
    return tracker;
}

T_TEST(what_waited_is_folded_in_order_and_what_was_dropped_is_said)
{
    struct tts_capture *capture;
    struct tts_tracker *tracker = filled(&capture);
    T_EQ(post_l1(tracker, 5000), TTS_OK); /* the post folds all waiting events first */
    T_TRUE(!atomic_load(&tracker->is_stuck) && tts_inbox_is_empty(&tracker->inbox));
    struct tts_tracker_health health = health_of(tracker);
    T_EQ(health.events, TTS_INBOX_EVENTS + 1);
    T_EQ(health.dropped, 2);
    static struct tts_live live[TTS_INBOX_EVENTS + 1];
    T_EQ(tts_tracker_live(tracker, live, TTS_INBOX_EVENTS + 1), TTS_INBOX_EVENTS + 1);
    for (uint64_t i = 0; i < TTS_INBOX_EVENTS; i++)
        T_EQ(live[i].id, i + 1);
    T_EQ(live[TTS_INBOX_EVENTS].id, 5000);
    end(capture, NULL);
    const struct tts_core_peak *core = &phase(capture, 0)->usage.core;
    T_EQ(core->bytes, TTS_INBOX_EVENTS + 1);
    T_TRUE(core->at_least); /* two events are missing */
    done(capture, tracker);
}

T_TEST(a_cut_folds_what_waits_first)
{
    struct tts_capture *capture;
    struct tts_tracker *tracker = filled(&capture);
    snapshot(capture, "one");
    end(capture, "two");
    T_EQ(phase(capture, 0)->events, TTS_INBOX_EVENTS);
    T_EQ(phase(capture, 1)->events, 0);
    T_TRUE(phase(capture, 0)->usage.core.at_least);
    done(capture, tracker);
}

/* A place is reserved and never written, because its thread was stopped. */
T_TEST(behind_a_letter_that_is_never_written_only_one_event_waits)
{
    struct tts_capture *capture;
    struct tts_tracker *tracker = filled(&capture);
    struct tts_tracker_health health = health_of(tracker);
    T_EQ(health.events, TTS_INBOX_EVENTS);
    atomic_fetch_add(&tracker->inbox.tail, 1);
    /* No event passes the unwritten letter. */
    for (uint64_t id = 1; id < TTS_INBOX_EVENTS; id++)
        T_EQ(post_l1(tracker, 10000 + id), TTS_OK);
    T_EQ(post_l1(tracker, 20000), TTS_E_FULL);
    T_TRUE(atomic_load(&tracker->is_stuck));
    T_EQ(post_l1(tracker, 20001), TTS_E_FULL);
    T_TRUE(atomic_load(&tracker->is_stuck)); /* no event was folded since */
    struct tts_event late = {.kind = TTS_EVENT_PROGRAM};
    uint64_t place = tracker->inbox.head;
    tracker->inbox.letters[place % TTS_INBOX_EVENTS] = (struct tts_letter){.event = late};
    atomic_store(&tracker->inbox.turns[place % TTS_INBOX_EVENTS], place + 1);
    end(capture, NULL);
    T_EQ(phase(capture, 0)->events, 2 * TTS_INBOX_EVENTS);
    done(capture, tracker);
}
