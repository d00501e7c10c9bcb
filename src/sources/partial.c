#include "sources/partial.h"

#include "base/compiler.h"
#include "base/error.h"
#include "model/devicename.h"
#include "sources/graph/graph.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tts_partial_item(struct tts_partial *p, const struct tts_item *item)
{
    p->has_items = true;
    if (item->kind == TTS_ITEM_EVENT) {
        p->events++;
        p->lacks_start |= !p->has_start && item->seq > 1;
        p->has_start = true;
    } else if (item->kind == TTS_ITEM_KEYFRAME) {
        p->in_keyframe = p->has_start = true;
    } else if (item->kind == TTS_ITEM_KEYFRAME_END) {
        p->in_keyframe = false;
    } else if (item->kind == TTS_ITEM_MISSED && p->in_keyframe) {
        /* the keyframe at the start does not list all live buffers */
        p->lacks_start = true;
        p->left_buffers = item->left_buffers;
        p->left_bytes = item->left_bytes;
    } else if (item->kind == TTS_ITEM_MISSED &&
               __builtin_add_overflow(p->missed, item->count, &p->missed)) {
        p->missed = UINT64_MAX;
    }
}

/* ---- the list ---- */

static TTS_PRINTF(4, 5) void add(struct tts_partial_notes *notes, const char *kind,
                                 uint64_t line, const char *format, ...)
{
    assert(notes->count < TTS_PARTIAL_NOTES_MAX);
    struct tts_partial_note *note = &notes->note[notes->count++];
    va_list args;
    va_start(args, format);
    vsnprintf(note->text, sizeof note->text, format, args);
    va_end(args);
    note->kind = kind;
    note->line = line;
}

static void add_graph(struct tts_partial_notes *notes, const struct tts_graph *graph)
{
    char like[TTS_PARTIAL_FIRST_MAX];
    for (int i = 0; i < TTS_GRAPH_NOTES; i++) {
        enum tts_graph_note_kind kind = (enum tts_graph_note_kind)i;
        const struct tts_graph_note *note = tts_graph_note(graph, kind);
        if (note->count > 0 && tts_graph_note_is_bad(kind))
            add(notes, "graph", note->line, "%s%s", note->text,
                tts_partial_first_of(note->count, like));
    }
}

const char *tts_partial_first_of(uint64_t count, char out[TTS_PARTIAL_FIRST_MAX])
{
    out[0] = '\0';
    if (count > 1)
        snprintf(out, TTS_PARTIAL_FIRST_MAX, " (the first of %" PRIu64 " places)", count);
    return out;
}

const char *tts_partial_stop_text(const struct tts_rec_state *state,
                                  char out[TTS_PARTIAL_REASON_MAX])
{
    struct tts_error err;
    if (state->sys_errno == EBADMSG)
        tts_error_set(&err, TTS_E_IO, "was damaged before it was packed");
    else if (tts_rec_state_is_left(state))
        tts_error_set(&err, TTS_E_IO, "ended before the program");
    else if (state->sys_errno == ENOSPC)
        tts_error_set(&err, TTS_E_IO, "stopped because the disk was full");
    else if (state->sys_errno > 0)
        tts_error_set_errno(&err, TTS_E_IO, (int)state->sys_errno,
                            "stopped because its file could not be written");
    else
        tts_error_set(&err, TTS_E_IO, "stopped before the program ended");
    static_assert(sizeof err.text <= TTS_PARTIAL_REASON_MAX, "it is copied whole");
    return memcpy(out, err.text, sizeof err.text);
}

/* Adds a note if the recording stopped early. A recording has the number of dropped events only
 * at its regular end, so 0 may also mean that the number is unknown. */
static void add_state(struct tts_partial_notes *notes, const struct tts_recfile_info *info)
{
    char reason[TTS_PARTIAL_REASON_MAX];
    uint64_t dropped = info->state.dropped;
    if (info->state_is_known && tts_rec_state_is_left(&info->state))
        return;
    if (!info->state_is_known)
        add(notes, "state", 0,
            "the recorded end state is damaged; the recording may be incomplete");
    else if (info->state.kind == TTS_REC_STOPPED && dropped > 0)
        add(notes, "stopped", 0, "the recording %s; %" PRIu64 " later event%s %s missing",
            tts_partial_stop_text(&info->state, reason), dropped, dropped == 1 ? "" : "s",
            dropped == 1 ? "is" : "are");
    else if (info->state.kind == TTS_REC_STOPPED)
        add(notes, "stopped", 0, "the recording %s; later events are missing",
            tts_partial_stop_text(&info->state, reason));
}

/* Adds a note if a core has more bytes in use than its L1 has. Then frees are missing, or the
 * file counts some memory twice. */
static void add_core(struct tts_partial_notes *notes, const struct tts_core_peak *core,
                     const struct tts_eventfile *file)
{
    char name[TTS_DEVICENAME_MAX];
    uint64_t most = tts_eventfile_core_bytes(file, core->device);
    if (core->known && core->bytes > most)
        add(notes, "l1", 0,
            "core (%u, %u) of %s uses %" PRIu64 " B of L1 at event %" PRIu64
            ", but the L1 of a core has %" PRIu64
            " B: frees are missing, or the file is inconsistent",
            core->core.x, core->core.y, tts_devicename(core->device, name), core->bytes,
            core->seq, most);
}

static void add_gaps(struct tts_partial_notes *notes, const struct tts_eventfile_gaps *gaps)
{
    char like[TTS_PARTIAL_FIRST_MAX];
    if (gaps->count > 0)
        add(notes, "damage", gaps->first.line,
            "%s; %" PRIu64 " event%s after event %" PRIu64 " %s missing%s", gaps->first.text,
            gaps->first_events, gaps->first_events == 1 ? "" : "s", gaps->first_after,
            gaps->first_events == 1 ? "is" : "are", tts_partial_first_of(gaps->count, like));
}

static_assert(TTS_GRAPH_NOTES + 8 <= TTS_PARTIAL_NOTES_MAX, "each note has room");

void tts_partial_list(const struct tts_partial *p, struct tts_eventfile *file,
                      struct tts_partial_notes *out)
{
    char like[TTS_PARTIAL_FIRST_MAX];
    out->count = 0;
    if (tts_eventfile_graph(file))
        add_graph(out, tts_eventfile_graph(file));
    if (p->core)
        add_core(out, p->core, file);
    add_gaps(out, tts_eventfile_gaps(file));
    /* true if frees are or may be missing */
    bool lacks_frees = out->count > 0 || p->missed > 0;
    if (p->left_buffers > 0)
        add(out, "start", 0,
            "%" PRIu64 " buffer%s (%" PRIu64
            " bytes) from before the first event %s not in the file, because the black box "
            "(a recording of fixed size) had no room for %s; the real memory use may be higher "
            "than shown",
            p->left_buffers, p->left_buffers == 1 ? "" : "s", p->left_bytes,
            p->left_buffers == 1 ? "is" : "are", p->left_buffers == 1 ? "it" : "them");
    else if (p->lacks_start)
        add(out, "start", 0,
            "buffers that were live before the first recorded event may be missing");
    if (p->missed > 0)
        add(out, "missed", 0, "%" PRIu64 " event%s dropped before %s recorded", p->missed,
            p->missed == 1 ? " was" : "s were", p->missed == 1 ? "it was" : "they were");
    if (p->refused > 0)
        add(out, "refused", p->refusal.line, "%s; ignored%s", p->refusal.text,
            tts_partial_first_of(p->refused, like));
    size_t others = out->count;
    if (tts_eventfile_recording(file))
        add_state(out, tts_recfile_info(tts_eventfile_recording(file)));
    if (p->damage.status != TTS_OK && p->events == 0)
        add(out, "damage", p->damage.line, "%s; no event could be read", p->damage.text);
    else if (p->damage.status != TTS_OK)
        add(out, "damage", p->damage.line,
            "%s; only the %" PRIu64 " event%s before the damage %s read", p->damage.text,
            p->events, p->events == 1 ? "" : "s", p->events == 1 ? "was" : "were");
    out->is_stopped = p->stop_seq > 0 && out->count == others;
    if (out->is_stopped)
        add(out, "program", 0,
            "the last recorded request was refused (event %" PRIu64
            "); the memory use after this request is unknown",
            p->stop_seq);
    out->is_beginning = out->count > others && !lacks_frees;
}
