#include "views/timeline.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "model/devicename.h"
#include "model/fold.h"
#include "views/timeline_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- life ---- */

static void *take(const struct tts_alloc *alloc, size_t bytes)
{
    return alloc->alloc(alloc->ctx, bytes);
}

enum tts_status tts_timeline_new(const struct tts_timeline_config *config,
                                 const struct tts_alloc *alloc, struct tts_timeline **out,
                                 struct tts_error *err)
{
    assert(config->put && config->slots_max <= TTS_TIMELINE_SLOTS_MAX);
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_timeline *t = take(alloc, sizeof *t);
    if (!t)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    *t = (struct tts_timeline){.config = *config, .alloc = alloc, .tracks = 1};
    tts_liveset_init(&t->live, alloc);
    if (tts_opnames_new(TTS_TIMELINE_NAMES_MAX, alloc, &t->ops) != TTS_OK) {
        tts_timeline_free(t);
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    }
    *out = t;
    return TTS_OK;
}

void tts_timeline_free(struct tts_timeline *t)
{
    if (!t)
        return;
    const struct tts_alloc *alloc = t->alloc;
    tts_timeline_free_devices(t);
    tts_liveset_release(&t->live);
    tts_opnames_free(t->ops);
    for (size_t i = 0; i < t->thread_count; i++)
        if (t->threads[i].ops)
            alloc->free(alloc->ctx, t->threads[i].ops,
                        t->threads[i].op_capacity * sizeof *t->threads[i].ops);
    if (t->threads)
        alloc->free(alloc->ctx, t->threads, t->thread_capacity * sizeof *t->threads);
    alloc->free(alloc->ctx, t, sizeof *t);
}

struct tts_timeline_counts tts_timeline_counts(const struct tts_timeline *t)
{
    return t->counts;
}

/* ---- marks and tracks ---- */

void tts_timeline_put(struct tts_timeline *t, const struct tts_mark *mark)
{
    assert(mark->track.number > 0 && mark->track.number <= t->tracks);
    assert(mark->kind == TTS_MARK_SPAN || mark->time_ns == t->now_ns ||
           (mark->kind == TTS_MARK_INSTANT && mark->track.kind == TTS_TRACK_DEVICE));
    t->config.put(t->config.ctx, mark);
}

struct tts_track tts_timeline_track(struct tts_timeline *t, struct tts_track track,
                                    uint32_t *number)
{
    if (track.kind != TTS_TRACK_DEVICE && track.parent == 0)
        track.parent = 1;
    bool is_new = *number == 0;
    if (is_new)
        *number = ++t->tracks;
    track.number = *number;
    if (is_new) {
        struct tts_mark mark = {.kind = TTS_MARK_TRACK, .track = track, .time_ns = t->now_ns};
        tts_timeline_put(t, &mark);
    }
    return track;
}

struct tts_track tts_timeline_device_track(struct tts_timeline *t,
                                           struct tts_device_line *device,
                                           struct tts_track track, uint32_t *number)
{
    tts_timeline_track(t, (struct tts_track){.kind = TTS_TRACK_DEVICE, .device = device->id},
                       &device->track);
    track.group = device->track;
    track.parent = track.parent ? track.parent : device->track;
    track.device = device->id;
    return tts_timeline_track(t, track, number);
}

const char *tts_timeline_sized(const char *name, uint64_t bytes,
                               char out[TTS_TIMELINE_TEXT_MAX])
{
    char size[TTS_NUMBER_BYTES_MAX];
    if (bytes == 0)
        return name;
    tts_number_format_bytes(size, bytes);
    int room = TTS_TIMELINE_TEXT_MAX - TTS_NUMBER_BYTES_MAX - 2;
    snprintf(out, TTS_TIMELINE_TEXT_MAX, "%.*s %s", room, name, size);
    return out;
}

/* By hand: counters have their names in every mark of some formats. */
static char *append(char *to, const char *text)
{
    size_t len = strlen(text);
    memcpy(to, text, len + 1);
    return to + len;
}

static char *append_number(char *to, uint32_t value)
{
    to += tts_number_format(to, value);
    *to = '\0';
    return to;
}

const char *tts_track_name(const struct tts_track *track, char out[TTS_TRACK_NAME_MAX])
{
    static const char *const words[] = {
        [TTS_TRACK_DEVICE] = "",
        [TTS_TRACK_POOL] = "",
        [TTS_TRACK_CAPACITY] = " capacity",
        [TTS_TRACK_CORES] = " CBs on the fullest core",
        [TTS_TRACK_BUFFERS] = " buffers",
        [TTS_TRACK_SLOT] = " buffers",
        [TTS_TRACK_TRACES] = " traces",
        [TTS_TRACK_FAILURES] = " refused",
    };
    enum tts_track_kind kind = track->kind;
    out[0] = '\0';
    if (kind == TTS_TRACK_PROCESS)
        return out;
    if (kind == TTS_TRACK_THREAD || kind == TTS_TRACK_CAPTURE) {
        bool is_known = kind == TTS_TRACK_CAPTURE || track->index > 0;
        char *to = append(out, kind == TTS_TRACK_CAPTURE ? "capture "
                               : is_known                ? "thread "
                                                         : "operations");
        if (is_known)
            append_number(to, track->index);
        return out;
    }
    char *to = append(out, tts_mesh_is_one(track->device) ? "mesh " : "device ");
    to = append_number(to, tts_device_number(track->device));
    if (kind == TTS_TRACK_POOL || kind == TTS_TRACK_CAPACITY || kind == TTS_TRACK_BUFFERS ||
        kind == TTS_TRACK_SLOT)
        to = append(append(to, " "), tts_pool_name(track->pool));
    append(to, words[kind]);
    return out;
}

const char *tts_timeline_op(struct tts_timeline *t, const struct tts_item_op *op, uint32_t *idx)
{
    uint32_t found = tts_opnames_find(t->ops, op->hash);
    if (found == TTS_OPNAMES_OTHER) {
        tts_opnames_add(t->ops, op->hash, op->name, op->name_len);
        found = tts_opnames_find(t->ops, op->hash);
        t->counts.unnamed += found == TTS_OPNAMES_OTHER;
    }
    *idx = found;
    return tts_opnames_text(t->ops, found);
}

/* ---- operations ---- */

/* NULL: TTS_TIMELINE_THREADS_MAX are known, or *status is TTS_E_NOMEM. */
static struct tts_thread_line *thread_of(struct tts_timeline *t, uint32_t thread,
                                         enum tts_status *status)
{
    if (t->last_thread < t->thread_count && t->threads[t->last_thread].thread == thread)
        return &t->threads[t->last_thread];
    for (size_t i = 0; i < t->thread_count; i++) {
        if (t->threads[i].thread != thread)
            continue;
        t->last_thread = i;
        return &t->threads[i];
    }
    if (t->thread_count == TTS_TIMELINE_THREADS_MAX)
        return NULL;
    void *grown = tts_alloc_grow(t->alloc, t->threads, &t->thread_capacity, t->thread_count + 1,
                                 sizeof *t->threads);
    if (!grown) {
        *status = TTS_E_NOMEM;
        return NULL;
    }
    t->threads = grown;
    t->last_thread = t->thread_count++;
    t->threads[t->last_thread] = (struct tts_thread_line){.thread = thread};
    return &t->threads[t->last_thread];
}

/* The innermost operation of the thread that has an entry, or NULL. */
static struct tts_op_line *top_op(struct tts_thread_line *line)
{
    if (line->depth == 0)
        return NULL;
    uint32_t kept = line->depth < TTS_TIMELINE_OPS_MAX ? line->depth : TTS_TIMELINE_OPS_MAX;
    return &line->ops[kept - 1];
}

static struct tts_mark op_mark(struct tts_timeline *t, struct tts_thread_line *line,
                               enum tts_mark_kind kind)
{
    struct tts_mark mark = {.kind = kind, .time_ns = t->now_ns};
    mark.track = tts_timeline_track(
        t, (struct tts_track){.kind = TTS_TRACK_THREAD, .index = line->thread}, &line->track);
    return mark;
}

/* An operation as a whole: its size is known only now. */
static void put_op_span(struct tts_timeline *t, struct tts_thread_line *line,
                        const struct tts_op_line *op, bool is_open)
{
    char text[TTS_TIMELINE_TEXT_MAX];
    struct tts_mark mark = op_mark(t, line, TTS_MARK_SPAN);
    mark.time_ns = op->begin_ns;
    mark.end_ns = t->now_ns;
    mark.is_open = is_open;
    mark.name = tts_timeline_sized(tts_opnames_text(t->ops, op->op), op->bytes, text);
    mark.args = (struct tts_mark_args){.bytes = op->bytes, .seq = op->seq};
    tts_timeline_put(t, &mark);
}

static void put_op_begin(struct tts_timeline *t, struct tts_thread_line *line,
                         const struct tts_op_line *op)
{
    struct tts_mark mark = op_mark(t, line, TTS_MARK_BEGIN);
    mark.name = tts_opnames_text(t->ops, op->op);
    mark.args.seq = op->seq;
    tts_timeline_put(t, &mark);
}

static void put_op_end(struct tts_timeline *t, struct tts_thread_line *line)
{
    struct tts_op_line *op = top_op(line);
    assert(op);
    bool is_kept = line->depth <= TTS_TIMELINE_OPS_MAX;
    if (is_kept && !op->is_told) {
        put_op_span(t, line, op, false);
    } else {
        struct tts_mark mark = op_mark(t, line, TTS_MARK_END);
        mark.args.bytes = is_kept ? op->bytes : 0;
        tts_timeline_put(t, &mark);
    }
    line->depth--;
    t->open_threads -= line->depth == 0;
    if (is_kept && line->depth > 0)
        op[-1].bytes += op->bytes;
}

/* Readers sort by time, and what has one time stays as it was written. So the outer one of two
 * operations that begin at one time is told before the inner one, with no size in its name. */
static enum tts_status put_op_inside(struct tts_timeline *t, struct tts_thread_line *line,
                                     const struct tts_item *item)
{
    struct tts_op_line next = {.begin_ns = t->now_ns, .seq = item->seq};
    struct tts_op_line *outer = top_op(line);
    tts_timeline_op(t, &item->op, &next.op);
    if (line->depth < TTS_TIMELINE_OPS_MAX) {
        void *grown = tts_alloc_grow(t->alloc, line->ops, &line->op_capacity,
                                     (size_t)line->depth + 1, sizeof *line->ops);
        if (!grown)
            return TTS_E_NOMEM;
        line->ops = grown;
        outer = top_op(line);
        line->ops[line->depth] = next;
    }
    if (outer && !outer->is_told && outer->begin_ns == t->now_ns) {
        put_op_begin(t, line, outer);
        outer->is_told = true;
    }
    if (line->depth >= TTS_TIMELINE_OPS_MAX)
        put_op_begin(t, line, &next);
    t->open_threads += line->depth == 0;
    line->depth++;
    return TTS_OK;
}

static enum tts_status put_op(struct tts_timeline *t, const struct tts_item *item)
{
    enum tts_status status = TTS_OK;
    struct tts_thread_line *line = thread_of(t, item->thread, &status);
    if (!line) {
        t->counts.other_ops += status == TTS_OK;
        return status;
    }
    if (item->event.kind == TTS_EVENT_OP_BEGIN)
        return put_op_inside(t, line, item);
    if (line->depth > 0)
        put_op_end(t, line);
    else
        t->counts.unseen_ends++;
    return TTS_OK;
}

static bool has_open_op(const struct tts_thread_line *line, uint32_t op)
{
    for (uint32_t i = 0; i < line->depth && i < TTS_TIMELINE_OPS_MAX; i++)
        if (line->ops[i].op == op)
            return true;
    return false;
}

/* Counts an allocation for the innermost operation of its thread. An allocation names its
 * operation, not its thread: that is the only one with operations under way, or else one that
 * is in an operation of that name. */
static void count_for_op(struct tts_timeline *t, const struct tts_item *item)
{
    uint32_t op = tts_opnames_find(t->ops, item->op.hash);
    if (op == TTS_OPNAMES_NONE)
        return;
    for (size_t i = 0; i < t->thread_count; i++) {
        struct tts_thread_line *line = &t->threads[(t->last_thread + i) % t->thread_count];
        if (line->depth == 0 || (t->open_threads > 1 && !has_open_op(line, op)))
            continue;
        struct tts_op_line *top = top_op(line);
        if (item->event.size_bytes <= UINT64_MAX / 2 - top->bytes)
            top->bytes += item->event.size_bytes;
        return;
    }
}

/* Operations under way at the end of the file, the outermost first. */
static void put_open_ops(struct tts_timeline *t, struct tts_thread_line *line)
{
    uint32_t kept = line->depth < TTS_TIMELINE_OPS_MAX ? line->depth : TTS_TIMELINE_OPS_MAX;
    for (uint32_t i = kept; i-- > 1;)
        line->ops[i - 1].bytes += line->ops[i].bytes;
    for (uint32_t i = 0; i < kept; i++)
        if (!line->ops[i].is_told)
            put_op_span(t, line, &line->ops[i], true);
}

/* ---- traces and failures ---- */

static void put_trace(struct tts_timeline *t, struct tts_device_line *device, bool begins)
{
    if (!begins && device->trace_depth == 0) {
        t->counts.unseen_ends++;
        return;
    }
    struct tts_mark mark = {.kind = begins ? TTS_MARK_BEGIN : TTS_MARK_END,
                            .time_ns = t->now_ns,
                            .name = begins ? "trace capture" : NULL};
    mark.track = tts_timeline_device_track(
        t, device, (struct tts_track){.kind = TTS_TRACK_TRACES}, &device->traces);
    if (begins)
        device->trace_depth++;
    else
        device->trace_depth--;
    tts_timeline_put(t, &mark);
}

static void put_failure(struct tts_timeline *t, struct tts_device_line *device,
                        const struct tts_item *item)
{
    char text[TTS_FAILURE_TEXT_MAX];
    uint32_t idx;
    struct tts_mark mark = {.kind = TTS_MARK_INSTANT, .time_ns = t->now_ns};
    mark.name = tts_failure_text(item->event.failure, text);
    mark.args = (struct tts_mark_args){.failure = item->event.failure,
                                       .op = tts_timeline_op(t, &item->op, &idx),
                                       .seq = item->seq};
    mark.track = tts_timeline_device_track(
        t, device, (struct tts_track){.kind = TTS_TRACK_FAILURES}, &device->failures);
    tts_timeline_put(t, &mark);
}

void tts_timeline_note(struct tts_timeline *t, const char *text)
{
    struct tts_mark mark = {.kind = TTS_MARK_INSTANT, .time_ns = t->now_ns, .name = text};
    mark.track = (struct tts_track){.kind = TTS_TRACK_PROCESS, .number = 1};
    tts_timeline_put(t, &mark);
}

static void put_missed(struct tts_timeline *t, uint64_t count)
{
    char text[64];
    if (count == 0)
        return;
    snprintf(text, sizeof text, "%" PRIu64 " events were not recorded here", count);
    tts_timeline_note(t, text);
}

/* ---- items ---- */

static enum tts_status put_event(struct tts_timeline *t, const struct tts_item *item)
{
    const struct tts_event *event = &item->event;
    enum tts_status status = TTS_OK;
    if (event->kind == TTS_EVENT_ALLOC) {
        count_for_op(t, item);
        return tts_timeline_alloc(t, event, &item->op, item->seq);
    }
    if (event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END)
        return put_op(t, item);
    if (event->kind >= TTS_EVENT_CB && event->kind <= TTS_EVENT_SCRATCHPAD)
        return tts_timeline_part(t, event);
    if (event->kind == TTS_EVENT_FREE) {
        tts_timeline_give(t, event);
        return TTS_OK;
    }
    struct tts_device_line *device = tts_timeline_device(t, event->device, &status);
    if (!device)
        return status;
    if (event->kind == TTS_EVENT_PROGRAM)
        tts_timeline_program(t, device);
    else if (event->kind == TTS_EVENT_FAILURE)
        put_failure(t, device, item);
    else
        put_trace(t, device, event->kind == TTS_EVENT_TRACE_BEGIN);
    return TTS_OK;
}

static enum tts_status put_live(struct tts_timeline *t, const struct tts_item *item)
{
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, item->live.device);
    event.pool = item->live.pool;
    event.id = item->live.id;
    event.size_bytes = item->live.size_bytes;
    event.bytes_per_bank = item->live.bytes_per_bank;
    event.block_bytes = item->live.block_bytes;
    event.has_address = item->event.has_address;
    event.address = item->event.address;
    return tts_timeline_alloc(t, &event, &item->op, item->live.seq);
}

static enum tts_status put_tracing(struct tts_timeline *t, const struct tts_item *item)
{
    enum tts_status status = TTS_OK;
    struct tts_device_line *device = tts_timeline_device(t, item->device, &status);
    for (uint64_t i = 0; device && i < item->count && i < TTS_TIMELINE_LANES; i++)
        put_trace(t, device, true);
    return status;
}

static enum tts_status put_item(struct tts_timeline *t, const struct tts_item *item)
{
    switch (item->kind) {
    case TTS_ITEM_EVENT:
        return put_event(t, item);
    case TTS_ITEM_CHIP:
        return tts_timeline_chip(t, item->device, item->mesh);
    case TTS_ITEM_BEGIN:
    case TTS_ITEM_ACTIVE:
        return tts_timeline_begin_capture(t, item->capture);
    case TTS_ITEM_CUT:
        tts_timeline_cut(t, item);
        break;
    case TTS_ITEM_END:
        tts_timeline_end_capture(t, item->capture);
        break;
    case TTS_ITEM_MISSED:
        put_missed(t, item->count);
        break;
    case TTS_ITEM_LIVE:
        return put_live(t, item);
    case TTS_ITEM_PART:
        return tts_timeline_part(t, &item->event);
    case TTS_ITEM_TRACING:
        return put_tracing(t, item);
    case TTS_ITEM_NAME:
    case TTS_ITEM_KEYFRAME:
    case TTS_ITEM_KEYFRAME_END:
        break;
    }
    return TTS_OK;
}

static void tell_process(struct tts_timeline *t)
{
    struct tts_mark mark = {.kind = TTS_MARK_TRACK, .time_ns = t->now_ns};
    mark.track = (struct tts_track){.kind = TTS_TRACK_PROCESS, .number = 1};
    t->has_begun = true;
    t->first_ns = t->now_ns;
    tts_timeline_put(t, &mark);
}

enum tts_status tts_timeline_item(struct tts_timeline *t, const struct tts_item *item,
                                  struct tts_error *err)
{
    uint64_t time_ns = item->has_time ? item->time_ns : item->seq * TTS_TIMELINE_EVENT_NS;
    t->now_ns = time_ns > t->now_ns ? time_ns : t->now_ns;
    if (!t->has_begun)
        tell_process(t);
    enum tts_status status = put_item(t, item);
    if (status == TTS_OK)
        return TTS_OK;
    return tts_error_set(err, status,
                         status == TTS_E_NOMEM ? "out of memory"
                                               : "event %" PRIu64
                                                 ": more at once than can be drawn",
                         item->seq);
}

void tts_timeline_end(struct tts_timeline *t)
{
    if (!t->has_begun)
        tell_process(t);
    tts_timeline_close_captures(t);
    tts_timeline_close_pools(t);
    for (size_t i = 0; i < t->thread_count && !t->config.closes_at_end; i++)
        put_open_ops(t, &t->threads[i]);
    if (!t->config.closes_at_end)
        return;
    tts_timeline_close_buffers(t);
    for (size_t i = 0; i < t->thread_count; i++)
        while (t->threads[i].depth > 0)
            put_op_end(t, &t->threads[i]);
    for (size_t i = 0; i < t->device_count; i++)
        while (t->devices[i].trace_depth > 0)
            put_trace(t, &t->devices[i], false);
}
