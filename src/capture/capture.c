#include "base/error.h"
#include "base/heap.h"
#include "capture/recorder_hook.h"
#include "capture/summary.h"
#include "capture/tracker_inside.h"

#include <assert.h>
#include <string.h>

/* A finished phase in one block of memory: the phase, its devices, parts and name. */
struct kept {
    struct tts_phase phase;
    size_t bytes;
};

struct tts_capture {
    struct tts_tracker *tracker; /* NULL if the tracker was freed */
    const struct tts_alloc *alloc;
    struct tts_watch *watch;
    struct tts_capture *next, **link; /* links of the list of captures of the tracker */
    bool is_active, is_held;          /* is_held: the mode is NO_DISPATCH */
    /* Number of the capture in recordings; 0 if the capture has not begun since it was made or
     * cleared. */
    uint32_t number;
    struct kept **kept;
    size_t count, capacity;
};

/* --- life ------------------------------------------------------------------------------- */

enum tts_status tts_capture_new(struct tts_tracker *t, struct tts_capture **out,
                                struct tts_error *err)
{
    if (!t || !out)
        return tts_error_set(err, TTS_E_INVALID, "%s is NULL", t ? "'out'" : "the tracker");
    struct tts_capture *c = t->alloc->alloc(t->alloc->ctx, sizeof *c);
    if (!c)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    *c = (struct tts_capture){.tracker = t, .alloc = t->alloc};
    tts_tracker_enter(t);
    enum tts_status status = tts_watch_new(t->fold, t->alloc, &c->watch);
    if (status == TTS_OK) {
        c->next = t->captures;
        c->link = &t->captures;
        if (c->next)
            c->next->link = &c->next;
        t->captures = c;
    }
    tts_tracker_leave(t);
    if (status != TTS_OK) {
        t->alloc->free(t->alloc->ctx, c, sizeof *c);
        return tts_error_set(err, status, TTS_TEXT_NOMEM);
    }
    *out = c;
    return TTS_OK;
}

/* Writes a mark to the recording, if there is one. Call it between tts_tracker_enter() and
 * tts_tracker_leave(). */
static void mark(const struct tts_capture *c, enum tts_item_kind kind, const char *name,
                 size_t name_len)
{
    if (c->tracker->recorder)
        tts_recorder_mark(c->tracker->recorder, &(struct tts_item){.kind = kind,
                                                                   .capture = c->number,
                                                                   .name = name,
                                                                   .name_len = name_len});
}

/* Ends the active capture. Call it between tts_tracker_enter() and tts_tracker_leave(). */
static void stop(struct tts_capture *c)
{
    if (!c->is_active)
        return;
    mark(c, TTS_ITEM_END, NULL, 0);
    tts_watch_detach(c->tracker->fold, c->watch);
    if (c->is_held)
        tts_tracker_unhold(c->tracker);
    tts_tracker_unlisten(c->tracker);
    c->is_active = false;
}

bool tts_tracker_tell_active(const struct tts_tracker *t, tts_fold_item_fn fn, void *ctx)
{
    for (const struct tts_capture *c = t->captures; c; c = c->next)
        if (c->is_active &&
            !fn(ctx, &(struct tts_item){.kind = TTS_ITEM_ACTIVE, .capture = c->number}))
            return false;
    return true;
}

/* Removes the capture from the list of its tracker. Call it between tts_tracker_enter() and
 * tts_tracker_leave(). */
static void part(struct tts_capture *c)
{
    stop(c);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    tts_watch_free(c->watch);
    c->watch = NULL;
    c->tracker = NULL;
}

/* Removes the names of operations from a peak, because they belong to the tracker. */
static void forget_ops(struct tts_core_peak *peak)
{
    struct tts_core_part *parts = (struct tts_core_part *)peak->parts;
    peak->op = NULL;
    for (size_t i = 0; i < peak->part_count; i++)
        parts[i].op = NULL;
}

static void forget_names(struct tts_capture *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct tts_phase *phase = &c->kept[i]->phase;
        struct tts_device_usage *devices = (struct tts_device_usage *)phase->devices;
        forget_ops(&phase->usage.core);
        for (size_t d = 0; d < phase->device_count; d++)
            forget_ops(&devices[d].usage.core);
    }
}

void tts_tracker_orphan_all(struct tts_tracker *t)
{
    while (t->captures) {
        forget_names(t->captures);
        part(t->captures);
    }
}

static void drop_phases(struct tts_capture *c)
{
    while (c->count > 0) {
        struct kept *kept = c->kept[--c->count];
        c->alloc->free(c->alloc->ctx, kept, kept->bytes);
    }
}

void tts_capture_free(struct tts_capture *c)
{
    if (!c)
        return;
    struct tts_tracker *t = c->tracker;
    if (t) {
        tts_tracker_enter(t);
        part(c);
        tts_tracker_leave(t);
    }
    drop_phases(c);
    if (c->kept)
        c->alloc->free(c->alloc->ctx, c->kept, c->capacity * sizeof c->kept[0]);
    c->alloc->free(c->alloc->ctx, c, sizeof *c);
}

/* --- names of phases -------------------------------------------------------------------- */

static bool is_inside_letter(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t tts_phase_name_clip(const char *name, char out[TTS_PHASE_NAME_MAX + 1])
{
    static const char gap[] = "...";
    enum { GAP = sizeof gap - 1, PART = (TTS_PHASE_NAME_MAX - GAP) / 2, LETTER = 3 };
    size_t len = strlen(name);
    if (len <= TTS_PHASE_NAME_MAX) {
        memcpy(out, name, len + 1);
        return len;
    }
    size_t head = PART, tail = len - PART;
    while (head > PART - LETTER && is_inside_letter(name[head]))
        head--;
    while (tail < len - PART + LETTER && is_inside_letter(name[tail]))
        tail++;
    memcpy(out, name, head);
    memcpy(out + head, gap, GAP);
    memcpy(out + head + GAP, name + tail, len - tail + 1);
    return head + GAP + len - tail;
}

/* --- begin, snapshot, end --------------------------------------------------------------- */

static enum tts_status check(const struct tts_capture *c, struct tts_error *err)
{
    if (!c)
        return tts_error_set(err, TTS_E_INVALID,
                             "the capture is NULL: make a capture with tts_capture_new()");
    if (!c->tracker)
        return tts_error_set(
            err, TTS_E_INVALID,
            "the tracker of this capture was freed: make a new tracker and capture");
    return TTS_OK;
}

/* Makes the capture active. Call it between tts_tracker_enter() and tts_tracker_leave(). */
static void start(struct tts_capture *c, bool is_held)
{
    struct tts_tracker *t = c->tracker;
    if (c->number == 0)
        c->number = ++t->capture_numbers;
    tts_tracker_listen(t);
    mark(c, TTS_ITEM_BEGIN, NULL, 0);
    tts_watch_attach(t->fold, c->watch);
    c->is_held = is_held;
    if (is_held)
        tts_tracker_hold(t);
    c->is_active = true;
}

enum tts_status tts_capture_begin(struct tts_capture *c, enum tts_capture_mode mode,
                                  struct tts_error *err)
{
    enum tts_status status = check(c, err);
    if (status != TTS_OK)
        return status;
    if ((unsigned)mode > TTS_CAPTURE_NO_DISPATCH)
        return tts_error_set(
            err, TTS_E_INVALID,
            "unknown mode %d: give TTS_CAPTURE_NORMAL or TTS_CAPTURE_NO_DISPATCH", (int)mode);
    if (c->is_active)
        return tts_error_set(
            err, TTS_E_BUSY,
            "the capture is active: end this capture first, or make another capture");
    tts_tracker_enter(c->tracker);
    start(c, mode == TTS_CAPTURE_NO_DISPATCH);
    tts_tracker_leave(c->tracker);
    return TTS_OK;
}

/* Reserves room for one more phase and returns its memory. Returns NULL if there is no
 * memory. */
static struct kept *reserve(struct tts_capture *c, struct tts_watch_size size, size_t name_len)
{
    struct kept **grown =
        tts_alloc_grow(c->alloc, c->kept, &c->capacity, c->count + 1, sizeof c->kept[0]);
    if (!grown)
        return NULL;
    c->kept = grown;
    size_t bytes = sizeof(struct kept) + size.devices * sizeof(struct tts_device_usage) +
                   size.parts * sizeof(struct tts_core_part) + name_len + 1;
    struct kept *kept = c->alloc->alloc(c->alloc->ctx, bytes);
    if (kept)
        *kept = (struct kept){.bytes = bytes};
    return kept;
}

/* Ends the current phase, names it `name` and starts the next phase. Call it between
 * tts_tracker_enter() and tts_tracker_leave(). */
static enum tts_status cut(struct tts_capture *c, const char *name, size_t name_len)
{
    struct tts_watch_size size = tts_watch_measure(c->tracker->fold, c->watch);
    struct kept *kept = reserve(c, size, name_len);
    if (!kept)
        return TTS_E_NOMEM;
    struct tts_device_usage *devices = (void *)(kept + 1);
    struct tts_core_part *parts = (void *)(devices + size.devices);
    char *copy = (char *)(parts + size.parts);
    tts_watch_cut(c->tracker->fold, c->watch, &kept->phase, devices, parts);
    memcpy(copy, name, name_len);
    copy[name_len] = '\0';
    kept->phase.name = copy;
    c->kept[c->count++] = kept;
    return TTS_OK;
}

static enum tts_status finish_phase(struct tts_capture *c, const char *name, bool is_last,
                                    struct tts_error *err)
{
    char kept[TTS_PHASE_NAME_MAX + 1];
    size_t len = tts_phase_name_clip(name, kept);
    tts_tracker_enter(c->tracker);
    enum tts_status status = cut(c, kept, len);
    if (status == TTS_OK)
        mark(c, TTS_ITEM_CUT, kept, len);
    if (is_last)
        stop(c);
    tts_tracker_leave(c->tracker);
    return status == TTS_OK ? status : tts_error_set(err, status, TTS_TEXT_NOMEM);
}

enum tts_status tts_capture_snapshot(struct tts_capture *c, const char *name,
                                     struct tts_error *err)
{
    enum tts_status status = check(c, err);
    if (status != TTS_OK)
        return status;
    if (!c->is_active)
        return tts_error_set(err, TTS_E_INVALID,
                             "the capture is not active: begin the capture first");
    if (!name)
        return tts_error_set(err, TTS_E_INVALID, "the name of the phase is missing");
    return finish_phase(c, name, false, err);
}

enum tts_status tts_capture_end(struct tts_capture *c, const char *name, struct tts_error *err)
{
    if (!c)
        return check(c, err);
    if (!c->is_active)
        return TTS_OK;
    return finish_phase(c, name ? name : TTS_PHASE_END, true, err);
}

void tts_capture_clear(struct tts_capture *c)
{
    if (!c)
        return;
    if (c->tracker) {
        tts_tracker_enter(c->tracker);
        stop(c);
        tts_watch_reset(c->watch);
        /* The capture counts from zero again, so a recording shows it as a new capture. */
        c->number = 0;
        tts_tracker_leave(c->tracker);
    }
    drop_phases(c);
}

/* --- queries ---------------------------------------------------------------------------- */

bool tts_capture_is_active(const struct tts_capture *c)
{
    return c && c->is_active;
}

size_t tts_capture_count(const struct tts_capture *c)
{
    return c ? c->count : 0;
}

const struct tts_phase *tts_capture_at(const struct tts_capture *c, size_t idx)
{
    return idx < tts_capture_count(c) ? &c->kept[idx]->phase : NULL;
}

enum tts_status tts_capture_get(const struct tts_capture *c, const char *name,
                                const struct tts_phase **out, struct tts_error *err)
{
    const struct tts_phase *found = NULL;
    size_t matches = 0;
    if (!c || !out)
        return tts_error_set(err, TTS_E_INVALID, "%s is NULL", c ? "'out'" : "the capture");
    char kept[TTS_PHASE_NAME_MAX + 1];
    tts_phase_name_clip(name ? name : TTS_PHASE_END, kept);
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->kept[i]->phase.name, kept) != 0)
            continue;
        found = &c->kept[i]->phase;
        matches++;
    }
    if (matches == 0)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "no phase '%.60s' among the %zu finished phases", kept, c->count);
    if (matches > 1)
        return tts_error_set(err, TTS_E_AMBIGUOUS,
                             "%zu phases are called '%.60s': get each phase by its index",
                             matches, kept);
    *out = found;
    return TTS_OK;
}

enum tts_status tts_capture_print(const struct tts_capture *c, FILE *out, struct tts_error *err)
{
    if (!c || !out)
        return tts_error_set(err, TTS_E_INVALID, "%s is NULL", c ? "the file" : "the capture");
    size_t len = tts_capture_text(c, NULL, 0);
    char *text = c->alloc->alloc(c->alloc->ctx, len + 1);
    if (!text)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    tts_capture_text(c, text, len + 1);
    bool is_written = fwrite(text, 1, len, out) == len && fflush(out) == 0;
    c->alloc->free(c->alloc->ctx, text, len + 1);
    return is_written ? TTS_OK
                      : tts_error_set(err, TTS_E_IO, "cannot write the summary to the file");
}
