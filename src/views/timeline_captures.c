/* Captures and their phases: each on a lane of its own while it is active. */
#include "views/timeline_inside.h"

#include <string.h>

/* The lane of an active capture, or NULL. */
static struct tts_capture_line *lane_of(struct tts_timeline *t, uint32_t capture)
{
    for (int i = 0; i < TTS_TIMELINE_LANES; i++)
        if (t->captures[i].is_active && t->captures[i].capture == capture)
            return &t->captures[i];
    return NULL;
}

enum tts_status tts_timeline_begin_capture(struct tts_timeline *t, uint32_t capture)
{
    struct tts_capture_line *found = NULL;
    for (int i = 0; i < TTS_TIMELINE_LANES; i++) {
        struct tts_capture_line *lane = &t->captures[i];
        /* Where it was before, it goes on; else the first that is free. */
        if (!lane->is_active && (!found || lane->capture == capture))
            found = lane;
    }
    if (!found)
        return TTS_E_RANGE;
    if (found->capture != capture)
        found->track = 0;
    found->capture = capture;
    found->is_active = true;
    found->start_ns = t->now_ns;
    return TTS_OK;
}

static void put_phase(struct tts_timeline *t, struct tts_capture_line *lane, const char *name,
                      bool is_open)
{
    struct tts_mark mark = {.kind = TTS_MARK_SPAN,
                            .time_ns = lane->start_ns,
                            .end_ns = t->now_ns,
                            .is_open = is_open,
                            .name = name};
    mark.track = tts_timeline_track(t,
                                    (struct tts_track){.kind = TTS_TRACK_CAPTURE,
                                                       .index = lane->capture,
                                                       .lane = (uint32_t)(lane - t->captures)},
                                    &lane->track);
    assert(lane->start_ns <= t->now_ns);
    tts_timeline_put(t, &mark);
    lane->start_ns = t->now_ns;
}

void tts_timeline_cut(struct tts_timeline *t, const struct tts_item *item)
{
    struct tts_capture_line *lane = lane_of(t, item->capture);
    char name[TTS_PHASE_NAME_MAX + 1];
    size_t len = item->name_len < sizeof name ? item->name_len : sizeof name - 1;
    if (!lane)
        return;
    if (len > 0)
        memcpy(name, item->name, len);
    name[len] = '\0';
    put_phase(t, lane, name, false);
}

void tts_timeline_end_capture(struct tts_timeline *t, uint32_t capture)
{
    struct tts_capture_line *lane = lane_of(t, capture);
    if (lane)
        lane->is_active = false;
}

void tts_timeline_close_captures(struct tts_timeline *t)
{
    for (int i = 0; i < TTS_TIMELINE_LANES; i++)
        if (t->captures[i].is_active)
            put_phase(t, &t->captures[i], "(unfinished)", true);
}
