/* mark_rig.h: the marks of a timeline as text, one per line:
 *     2000 + 3 op #1       a slice of buffer 1 begins on track 3
 *     3000 - 3             the slice ends
 *     3000 = 2 4096        the value of the counter of track 2
 *     3000 ! 5 sentence    an instant
 *     1000..3000 7 name    a span; "1000..?" if it is open
 *     1000 track 2 < 1 device 0 DRAM */
#pragma once

#include "harness/t.h"
#include "views/trace/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct mark_rig {
    FILE *out;
    char *text;
    size_t len;
};

static inline void mark_put(void *ctx, const struct tts_mark *mark)
{
    struct mark_rig *rig = ctx;
    char name[TTS_TRACK_NAME_MAX];
    const struct tts_track *track = &mark->track;
    if (mark->kind == TTS_MARK_SPAN) {
        fprintf(rig->out, mark->is_open ? "%" PRIu64 "..?" : "%" PRIu64 "..%" PRIu64,
                mark->time_ns, mark->end_ns);
        fprintf(rig->out, " %" PRIu32 " %s\n", track->number, mark->name);
        return;
    }
    static const char *const signs[] = {[TTS_MARK_TRACK] = "track",
                                        [TTS_MARK_BEGIN] = "+",
                                        [TTS_MARK_END] = "-",
                                        [TTS_MARK_INSTANT] = "!",
                                        [TTS_MARK_COUNTER] = "="};
    fprintf(rig->out, "%" PRIu64 " %s %" PRIu32, mark->time_ns, signs[mark->kind],
            track->number);
    if (mark->kind == TTS_MARK_TRACK && track->number > 1)
        fprintf(rig->out, " < %" PRIu32 " %s", track->parent, tts_track_name(track, name));
    if (mark->kind == TTS_MARK_COUNTER)
        fprintf(rig->out, " %" PRIu64, mark->value);
    if (mark->name)
        fprintf(rig->out, " %s", mark->name);
    if (mark->buffer_no)
        fprintf(rig->out, " #%" PRIu64, mark->buffer_no);
    fputc('\n', rig->out);
}

static inline void mark_begin(struct mark_rig *rig)
{
    rig->out = open_memstream(&rig->text, &rig->len);
    T_TRUE(rig->out != NULL);
}

static inline void mark_expect(struct mark_rig *rig, const char *wanted)
{
    T_EQ(fclose(rig->out), 0);
    T_STR_EQ(rig->text, wanted);
    free(rig->text);
}
