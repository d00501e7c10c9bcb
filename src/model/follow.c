#include "model/follow.h"

#include "base/error.h"
#include "base/heap.h"
#include "model/fold_inside.h"
#include "model/oppath.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    LIVE_DEFAULT = 1 << 17, /* live buffers at first; the ledger grows if there are more */
    DEVICES_DEFAULT = TTS_FOLD_DEVICES_MAX,
    OPS_DEFAULT = 16384,
};

/* A capture in the file. A capture that has ended keeps its watch, for the cumulative figures,
 * until another capture needs the place. */
struct followed {
    uint32_t number; /* number of the capture; 0 if this place is free */
    bool is_active;
    /* The current phase, or the first phase of the cumulative figures, began before the
     * file. */
    bool is_partial;
    /* Serial number of the last begin; the place with the lowest number is reused first. */
    uint64_t used;
    struct tts_watch *watch;
};

/* Memory for a phase: its devices, then the parts of cores. */
struct room {
    void *memory;
    size_t bytes;
};

struct tts_follow {
    struct tts_fold *fold;
    struct followed captures[TTS_FOLLOW_CAPTURES_MAX];
    uint64_t begins;
    struct tts_watch *whole; /* phase of the whole file; attached after the first keyframe */
    struct tts_phase whole_phase;
    struct room room, whole_room;
    struct tts_oppath *paths;
    struct tts_itemgate gate;
    bool has_begun; /* `whole` is attached */
    bool is_partial, has_ended;
    /* First and last number of the missing events; gap_to is 0 outside a gap. */
    uint64_t gap_from, gap_to;
    struct tts_follow_config config;
    const struct tts_alloc *alloc;
};

/* ---- life ---- */

static uint32_t limit_or_default(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

enum tts_status tts_follow_new(const struct tts_follow_config *config,
                               const struct tts_alloc *alloc, struct tts_follow **out,
                               struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_follow *f = alloc->alloc(alloc->ctx, sizeof *f);
    if (!f)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    *f = (struct tts_follow){.alloc = alloc};
    if (config)
        f->config = *config;
    struct tts_tracker_config *limits = &f->config.limits;
    limits->live_max = limit_or_default(limits->live_max, LIVE_DEFAULT);
    limits->devices_max = limit_or_default(limits->devices_max, DEVICES_DEFAULT);
    limits->ops_max = limit_or_default(limits->ops_max, OPS_DEFAULT);
    enum tts_status status = tts_fold_new(limits, alloc, &f->fold);
    if (status == TTS_OK)
        status = tts_watch_new(f->fold, alloc, &f->whole);
    if (status == TTS_OK)
        status = tts_oppath_new(alloc, &f->paths);
    if (status != TTS_OK) {
        tts_follow_free(f);
        return tts_error_set(err, status == TTS_E_INVALID ? TTS_E_RANGE : status,
                             status == TTS_E_INVALID
                                 ? "a limit of the configuration is out of range"
                                 : "out of memory");
    }
    *out = f;
    return TTS_OK;
}

static void free_capture_watch(struct tts_follow *f, struct tts_watch *watch, bool is_attached)
{
    if (is_attached)
        tts_watch_detach(f->fold, watch);
    tts_watch_free(watch);
}

static void free_phase_room(const struct tts_follow *f, struct room *room)
{
    if (room->memory)
        f->alloc->free(f->alloc->ctx, room->memory, room->bytes);
}

void tts_follow_free(struct tts_follow *f)
{
    if (!f)
        return;
    for (int i = 0; i < TTS_FOLLOW_CAPTURES_MAX; i++)
        free_capture_watch(f, f->captures[i].watch, f->captures[i].is_active);
    free_capture_watch(f, f->whole, f->has_begun && !f->has_ended);
    tts_fold_free(f->fold);
    tts_oppath_free(f->paths);
    free_phase_room(f, &f->room);
    free_phase_room(f, &f->whole_room);
    f->alloc->free(f->alloc->ctx, f, sizeof *f);
}

/* Starts the phase of the whole file. All buffers that exist now are older than the file. */
static void begin_whole_run(struct tts_follow *f)
{
    if (!f->has_begun)
        tts_watch_attach(f->fold, f->whole);
    f->has_begun = f->gate.has_begun = true; /* later keyframes are ignored */
}

/* ---- captures ---- */

static struct followed *find_capture(struct tts_follow *f, uint32_t number)
{
    for (int i = 0; i < TTS_FOLLOW_CAPTURES_MAX; i++)
        if (f->captures[i].number == number)
            return &f->captures[i];
    return NULL;
}

/* Returns a free place for a capture, or the place of the capture that ended longest ago. */
static struct followed *vacant_capture(struct tts_follow *f)
{
    struct followed *best = NULL;
    for (int i = 0; i < TTS_FOLLOW_CAPTURES_MAX; i++) {
        struct followed *at = &f->captures[i];
        if (!at->is_active && (!best || at->used < best->used))
            best = at;
    }
    return best;
}

/* Begins a capture. The capture begins now (BEGIN) or began before the file (ACTIVE). */
static enum tts_status begin_followed_capture(struct tts_follow *f, const struct tts_item *item,
                                              struct tts_error *err)
{
    if (item->capture == 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "capture 0 begins, but captures are numbered from 1");
    struct followed *at = find_capture(f, item->capture);
    if (at && at->is_active)
        return tts_error_set(err, TTS_E_INVALID,
                             "capture %" PRIu32 " begins again before its end", item->capture);
    struct followed *place = at ? at : vacant_capture(f);
    if (!place)
        return tts_error_set(err, TTS_E_RANGE,
                             "the file has too many active captures at once: the maximum is %d",
                             TTS_FOLLOW_CAPTURES_MAX);
    if (!place->watch && tts_watch_new(f->fold, f->alloc, &place->watch) != TTS_OK)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    if (!at) {
        tts_watch_reset(place->watch);
        place->is_partial = false;
    }
    place->number = item->capture;
    place->used = ++f->begins;
    place->is_active = true;
    place->is_partial |= item->kind == TTS_ITEM_ACTIVE || f->gap_to > 0;
    begin_whole_run(f);
    tts_watch_attach(f->fold, place->watch);
    return TTS_OK;
}

static enum tts_status cut_phase(struct tts_follow *f, struct tts_watch *watch,
                                 struct room *room, struct tts_phase *out)
{
    struct tts_watch_size size = tts_watch_measure(f->fold, watch);
    size_t bytes = size.devices * sizeof(struct tts_device_usage) +
                   size.parts * sizeof(struct tts_core_part) + 1;
    if (bytes > room->bytes) {
        void *memory = f->alloc->alloc(f->alloc->ctx, bytes);
        if (!memory)
            return TTS_E_NOMEM;
        free_phase_room(f, room);
        *room = (struct room){memory, bytes};
    }
    struct tts_device_usage *devices = room->memory;
    struct tts_core_part *parts = (void *)(devices + size.devices);
    tts_watch_cut(f->fold, watch, out, devices, parts);
    return TTS_OK;
}

/* Ends the phase of `at` and reports it. */
static enum tts_status end_active_phase(struct tts_follow *f, struct followed *at,
                                        const char *name, struct tts_error *err)
{
    struct tts_phase phase;
    enum tts_status status = cut_phase(f, at->watch, &f->room, &phase);
    if (status != TTS_OK)
        return tts_error_set(err, status, "out of memory");
    phase.name = name;
    if (f->config.on_phase)
        f->config.on_phase(f->config.ctx, at->number, &phase, at->is_partial);
    return TTS_OK;
}

static enum tts_status cut_or_end_capture(struct tts_follow *f, const struct tts_item *item,
                                          struct tts_error *err)
{
    struct followed *at = find_capture(f, item->capture);
    if (item->capture == 0 || !at || !at->is_active)
        return tts_error_set(
            err, TTS_E_INVALID,
            "capture %" PRIu32
            " has a phase, but the file does not have the begin of the capture",
            item->capture);
    if (item->kind == TTS_ITEM_END) {
        tts_watch_detach(f->fold, at->watch);
        at->is_active = false;
        return TTS_OK;
    }
    if (item->name_len > TTS_PHASE_NAME_MAX || (!item->name && item->name_len > 0))
        return tts_error_set(err, TTS_E_RANGE, "the name of a phase is too long");
    char name[TTS_PHASE_NAME_MAX + 1];
    if (item->name_len > 0)
        memcpy(name, item->name, item->name_len);
    name[item->name_len] = '\0';
    return end_active_phase(f, at, name, err);
}

/* ---- items ---- */

static enum tts_status begin_keyframe(struct tts_follow *f, const struct tts_item *item,
                                      struct tts_error *err)
{
    struct tts_itemgate gate = f->gate;
    if (gate.in_keyframe)
        return tts_error_set(
            err, TTS_E_INVALID,
            "a list of live buffers begins inside another list of live buffers");
    if (tts_itemgate_takes(&gate, item->kind)) {
        enum tts_status status = tts_fold_restore(f->fold, item, NULL, err);
        if (status != TTS_OK)
            return status;
        f->is_partial = item->seq > 0 || item->count > 0;
    }
    f->gate = gate;
    return TTS_OK;
}

static void take_op_name(struct tts_follow *f, const struct tts_item *item)
{
    if (item->op.hash)
        tts_fold_name(f->fold, item->op.hash, item->op.name, item->op.name_len);
}

/* Takes an item inside a keyframe. */
static enum tts_status take_keyframe_item(struct tts_follow *f, const struct tts_item *item,
                                          struct tts_change *change, struct tts_error *err)
{
    bool takes = tts_itemgate_takes(&f->gate, item->kind);
    if (item->kind == TTS_ITEM_KEYFRAME_END)
        begin_whole_run(f);
    else if (item->kind == TTS_ITEM_NAME)
        take_op_name(f, item);
    else if (takes && item->kind == TTS_ITEM_ACTIVE)
        return begin_followed_capture(f, item, err);
    else if (takes && f->has_begun)
        return tts_error_set(err, TTS_E_INVALID,
                             "a list of live buffers has buffers after its active captures");
    else if (takes)
        return tts_fold_restore(f->fold, item, change, err);
    return TTS_OK;
}

static enum tts_status fold_event_item(struct tts_follow *f, const struct tts_item *item,
                                       struct tts_change *change, struct tts_error *err)
{
    enum tts_status status = tts_event_check(&item->event, err);
    if (status != TTS_OK)
        return status;
    if (TTS_UNLIKELY(item->seq != f->fold->seq + 1)) {
        bool is_in_gap = item->seq > f->gap_from && item->seq <= f->gap_to;
        if (!is_in_gap &&
            (f->fold->seq != 0 || item->seq == 0 || item->seq >= TTS_FOLD_SEQ_MAX))
            return tts_error_set(err, TTS_E_INVALID,
                                 "the events are out of order: event %" PRIu64
                                 " comes directly after event %" PRIu64,
                                 item->seq, f->fold->seq);
        f->fold->seq = item->seq - 1;
        f->is_partial = true;
    }
    if (item->event.kind == TTS_EVENT_OP_BEGIN && item->op.hash == 0)
        return tts_error_set(err, TTS_E_INVALID, "an operation begins without a name");
    uint64_t op_hash =
        f->config.keeps_paths ? tts_oppath_event(f->paths, f->fold, item) : item->op.hash;
    enum tts_fold_outcome outcome =
        change ? tts_fold_change(f->fold, &item->event, op_hash, change)
               : tts_fold_event(f->fold, &item->event, op_hash);
    if (outcome == TTS_FOLD_DROPPED)
        return tts_error_set(err, TTS_E_RANGE,
                             "the file has more devices than ttscope can follow");
    return TTS_OK;
}

/* Starts with an item outside a keyframe. If the item is not the first event, earlier events
 * are missing. */
static enum tts_status start_following(struct tts_follow *f, const struct tts_item *item,
                                       struct tts_error *err)
{
    uint64_t before = item->seq - (item->kind == TTS_ITEM_EVENT);
    if (before >= TTS_FOLD_SEQ_MAX)
        return tts_error_set(err, TTS_E_INVALID, "event number %" PRIu64 " is too large",
                             item->seq);
    f->fold->seq = before;
    f->is_partial = before > 0;
    begin_whole_run(f);
    return TTS_OK;
}

static enum tts_status fold_item(struct tts_follow *f, const struct tts_item *item,
                                 struct tts_change *change, struct tts_error *err)
{
    assert(!f->has_ended);
    if (TTS_UNLIKELY(item->kind == TTS_ITEM_KEYFRAME))
        return begin_keyframe(f, item, err);
    if (TTS_UNLIKELY(f->gate.in_keyframe))
        return take_keyframe_item(f, item, change, err);
    if (TTS_UNLIKELY(!f->has_begun)) {
        enum tts_status status = start_following(f, item, err);
        if (status != TTS_OK)
            return status;
    }
    switch (item->kind) {
    case TTS_ITEM_EVENT:
        return fold_event_item(f, item, change, err);
    case TTS_ITEM_NAME:
        take_op_name(f, item);
        return TTS_OK;
    case TTS_ITEM_CHIP:
        return tts_fold_chip(f->fold, item->device, item->mesh, err);
    case TTS_ITEM_BEGIN:
        return begin_followed_capture(f, item, err);
    case TTS_ITEM_CUT:
    case TTS_ITEM_END:
        return cut_or_end_capture(f, item, err);
    case TTS_ITEM_MISSED:
        tts_fold_miss(f->fold);
        tts_oppath_forget(f->paths);
        return TTS_OK;
    case TTS_ITEM_SAMPLE:
        return TTS_OK;
    case TTS_ITEM_KEYFRAME:
    case TTS_ITEM_LIVE:
    case TTS_ITEM_PART:
    case TTS_ITEM_TRACING:
    case TTS_ITEM_ACTIVE:
    case TTS_ITEM_KEYFRAME_END:
        return tts_error_set(err, TTS_E_INVALID,
                             "an entry of a list of live buffers is outside such a list");
    }
    return tts_error_set(err, TTS_E_INVALID, "the recording has an item of the unknown kind %d",
                         (int)item->kind);
}

enum tts_status tts_follow_item(struct tts_follow *f, const struct tts_item *item,
                                struct tts_error *err)
{
    return fold_item(f, item, NULL, err);
}

/* Reports no change for the items of a later keyframe, because they repeat known facts. */
enum tts_status tts_follow_change(struct tts_follow *f, const struct tts_item *item,
                                  struct tts_change *out, struct tts_error *err)
{
    bool is_passed = f->gate.in_keyframe && !f->gate.takes_keyframe;
    tts_change_clear(out);
    enum tts_status status = fold_item(f, item, out, err);
    if (item->kind == TTS_ITEM_CHIP && status == TTS_OK && !is_passed) {
        out->has_chip = true;
        out->chip = item->device;
        out->mesh = item->mesh;
    }
    out->seq = f->fold->seq;
    return status;
}

/* ---- gaps ---- */

void tts_follow_skip(struct tts_follow *f, uint64_t seq)
{
    assert(seq > f->fold->seq && seq < TTS_FOLD_SEQ_MAX && !f->gate.in_keyframe);
    f->gap_from = f->fold->seq;
    f->gap_to = seq;
    f->is_partial = true;
    begin_whole_run(f);
    tts_fold_miss(f->fold);
    tts_oppath_forget(f->paths);
    for (int i = 0; i < TTS_FOLLOW_CAPTURES_MAX; i++)
        f->captures[i].is_partial |= f->captures[i].is_active;
}

void tts_follow_skip_end(struct tts_follow *f)
{
    f->fold->seq = f->gap_to;
    f->gap_to = 0;
}

size_t tts_follow_active(const struct tts_follow *f, uint32_t out[TTS_FOLLOW_CAPTURES_MAX])
{
    size_t count = 0;
    for (int i = 0; i < TTS_FOLLOW_CAPTURES_MAX; i++)
        if (f->captures[i].is_active)
            out[count++] = f->captures[i].number;
    return count;
}

enum tts_status tts_follow_end(struct tts_follow *f, const struct tts_phase **out,
                               struct tts_error *err)
{
    assert(!f->has_ended);
    begin_whole_run(f);
    enum tts_status status = cut_phase(f, f->whole, &f->whole_room, &f->whole_phase);
    if (status != TTS_OK)
        return tts_error_set(err, status, "out of memory");
    f->whole_phase.name = TTS_FOLLOW_WHOLE;
    for (int i = 0; i < TTS_FOLLOW_CAPTURES_MAX; i++) {
        struct followed *at = &f->captures[i];
        if (!at->is_active)
            continue;
        at->is_partial = true;
        status = end_active_phase(f, at, TTS_FOLLOW_UNFINISHED, err);
        if (status != TTS_OK)
            return status;
        tts_watch_detach(f->fold, at->watch);
        at->is_active = false;
    }
    tts_watch_detach(f->fold, f->whole);
    f->has_ended = true;
    *out = &f->whole_phase;
    return TTS_OK;
}

/* ---- queries ---- */

const struct tts_fold *tts_follow_fold(const struct tts_follow *f)
{
    return f->fold;
}

bool tts_follow_is_partial(const struct tts_follow *f)
{
    return f->is_partial;
}

bool tts_follow_find(const struct tts_follow *f, uint32_t device, uint64_t id,
                     struct tts_live *out)
{
    const struct tts_fold_device *known = tts_fold_find(f->fold, device);
    uint32_t place =
        known ? tts_ledger_find(f->fold->ledger, (uint8_t)known->idx, id) : TTS_LEDGER_NONE;
    if (place == TTS_LEDGER_NONE)
        return false;
    *out = tts_fold_live_at(f->fold, place);
    return true;
}

const char *tts_follow_op(const struct tts_follow *f, const struct tts_item *item)
{
    return tts_fold_op_text(f->fold, f->config.keeps_paths
                                         ? tts_oppath_find(f->paths, item->op.hash)
                                         : item->op.hash);
}

size_t tts_follow_path(const struct tts_follow *f, const char *op, char *out, size_t size)
{
    return tts_oppath_text(f->paths, op, out, size);
}
