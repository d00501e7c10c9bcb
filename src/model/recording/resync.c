#include "model/recording/resync.h"

#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACES_MAX = 64
}; /* largest number of traces that are reported as begun or ended; a damaged file may claim any
      number */

/* An item of a keyframe. The core ranges of all items are in one array. */
struct told {
    enum tts_item_kind kind;
    enum tts_event_kind part; /* kind of a PART */
    uint32_t device, mesh, capture;
    uint64_t count, op_hash;
    struct tts_live live;
    size_t order, first_range, range_count;
};

/* The state at one moment. */
struct moment {
    struct told *told;
    size_t count, capacity;
    struct tts_core_range *ranges;
    size_t range_count, range_capacity;
    const struct tts_alloc *alloc;
    bool is_out_of_memory;
};

struct tts_resync {
    struct moment before, after;
    /* Follow, last, fn and ctx are valid while events are reported. */
    struct tts_follow *follow;
    uint64_t last; /* last event before the gap */
    tts_resync_fn fn;
    void *ctx;
    const struct tts_alloc *alloc;
};

/* ---- moments ---- */

static void release_moment(struct moment *m)
{
    if (m->told)
        m->alloc->free(m->alloc->ctx, m->told, m->capacity * sizeof *m->told);
    if (m->ranges)
        m->alloc->free(m->alloc->ctx, m->ranges, m->range_capacity * sizeof *m->ranges);
}

static bool make_room(struct moment *m, size_t ranges)
{
    void *told = tts_alloc_grow(m->alloc, m->told, &m->capacity, m->count + 1, sizeof *m->told);
    if (!told)
        return false;
    m->told = told;
    if (ranges == 0)
        return true;
    void *grown = tts_alloc_grow(m->alloc, m->ranges, &m->range_capacity,
                                 m->range_count + ranges, sizeof *m->ranges);
    if (grown)
        m->ranges = grown;
    return grown != NULL;
}

static bool keep_item(void *ctx, const struct tts_item *item)
{
    struct moment *m = ctx;
    size_t ranges = item->kind == TTS_ITEM_LIVE || item->kind == TTS_ITEM_PART
                        ? item->event.range_count
                        : 0;
    if (!make_room(m, ranges)) {
        m->is_out_of_memory = true;
        return false;
    }
    struct told *told = &m->told[m->count];
    *told = (struct told){.kind = item->kind,
                          .device = item->device,
                          .mesh = item->mesh,
                          .capture = item->capture,
                          .count = item->count,
                          .op_hash = item->op.hash,
                          .live = item->live,
                          .order = m->count,
                          .first_range = m->range_count,
                          .range_count = ranges};
    if (item->kind == TTS_ITEM_LIVE)
        told->device = item->live.device;
    if (item->kind == TTS_ITEM_PART) {
        told->part = item->event.kind;
        told->device = item->event.device;
        told->live.size_bytes = item->event.size_bytes;
    }
    if (ranges > 0)
        memcpy(&m->ranges[m->range_count], item->event.ranges, ranges * sizeof *m->ranges);
    m->range_count += ranges;
    m->count++;
    return true;
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Compares by kind, then by device. Buffers are then compared by id. */
static int by_key(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    if (x->kind != y->kind)
        return compare(x->kind, y->kind);
    if (x->device != y->device)
        return compare(x->device, y->device);
    if (x->kind == TTS_ITEM_LIVE && x->live.id != y->live.id)
        return compare(x->live.id, y->live.id);
    return compare(x->order, y->order);
}

static int by_age(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    bool x_lives = x->kind == TTS_ITEM_LIVE, y_lives = y->kind == TTS_ITEM_LIVE;
    if (x_lives != y_lives)
        return x_lives ? -1 : 1;
    if (x->live.seq != y->live.seq)
        return compare(x->live.seq, y->live.seq);
    return compare(x->order, y->order);
}

static void sort_moment(struct moment *m, int (*order)(const void *, const void *))
{
    if (m->count > 1)
        qsort(m->told, m->count, sizeof *m->told, order);
}

/* Finds the same buffer, from the same allocation. Returns NULL if there is none. The moment is
 * sorted by key. */
static const struct told *find_live(const struct moment *m, const struct told *wanted)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct told *at = &m->told[middle];
        struct told key = *wanted;
        key.order = at->order;
        int order = by_key(at, &key);
        if (order == 0)
            return at->live.seq == wanted->live.seq ? at : NULL;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- life ---- */

enum tts_status tts_resync_new(const struct tts_alloc *alloc, struct tts_resync **out)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_resync *r = alloc->alloc(alloc->ctx, sizeof *r);
    if (!r)
        return TTS_E_NOMEM;
    *r = (struct tts_resync){.alloc = alloc, .before.alloc = alloc, .after.alloc = alloc};
    *out = r;
    return TTS_OK;
}

void tts_resync_free(struct tts_resync *r)
{
    if (!r)
        return;
    release_moment(&r->before);
    release_moment(&r->after);
    r->alloc->free(r->alloc->ctx, r, sizeof *r);
}

enum tts_status tts_resync_take(struct tts_resync *r, const struct tts_item *item)
{
    if (item->kind == TTS_ITEM_MISSED)
        return TTS_OK; /* not needed: the figures are lower bounds in any case */
    if (item->kind == TTS_ITEM_KEYFRAME) { /* the end of the previous keyframe is missing */
        r->after.count = r->after.range_count = 0;
        return TTS_OK;
    }
    return keep_item(&r->after, item) ? TTS_OK : TTS_E_NOMEM;
}

/* ---- reporting ---- */

static enum tts_status tell_item(struct tts_resync *r, struct tts_item item)
{
    item.seq = item.seq > r->last ? item.seq : r->last;
    return r->fn(r->ctx, &item);
}

static enum tts_status tell_event(struct tts_resync *r, struct tts_event event,
                                  const struct told *told)
{
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .seq = r->last + 1, .event = event};
    if (told) {
        item.op.hash = told->op_hash;
        if (told->live.seq > r->last)
            item.seq = told->live.seq;
        if (told->range_count > 0) {
            item.event.ranges = &r->after.ranges[told->first_range];
            item.event.range_count = told->range_count;
        }
    }
    return tell_item(r, item);
}

static bool has_capture(const struct moment *m, uint32_t capture)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->told[i].kind == TTS_ITEM_ACTIVE && m->told[i].capture == capture)
            return true;
    return false;
}

/* Ends the captures that ended in the gap. The name of their last phase is unknown. */
static enum tts_status tell_ended(struct tts_resync *r)
{
    uint32_t active[TTS_FOLLOW_CAPTURES_MAX];
    size_t count = tts_follow_active(r->follow, active);
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && i < count; i++) {
        struct tts_item item = {.kind = TTS_ITEM_CUT,
                                .capture = active[i],
                                .name = TTS_FOLLOW_UNFINISHED,
                                .name_len = strlen(TTS_FOLLOW_UNFINISHED)};
        if (has_capture(&r->after, active[i]))
            continue;
        status = tell_item(r, item);
        item.kind = TTS_ITEM_END;
        if (status == TTS_OK)
            status = tell_item(r, item);
    }
    return status;
}

static enum tts_status tell_begun(struct tts_resync *r, uint32_t capture)
{
    uint32_t active[TTS_FOLLOW_CAPTURES_MAX];
    size_t count = tts_follow_active(r->follow, active);
    for (size_t i = 0; i < count; i++)
        if (active[i] == capture)
            return TTS_OK;
    return tell_item(r, (struct tts_item){.kind = TTS_ITEM_BEGIN, .capture = capture});
}

static enum tts_status tell_frees(struct tts_resync *r)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && i < r->before.count; i++) {
        const struct told *told = &r->before.told[i];
        if (told->kind != TTS_ITEM_LIVE || find_live(&r->after, told))
            continue;
        struct tts_event event = tts_event_of(TTS_EVENT_FREE, told->device);
        event.pool = told->live.pool;
        event.id = told->live.id;
        status = tell_event(r, event, NULL);
    }
    return status;
}

static enum tts_status tell_allocs(struct tts_resync *r)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && i < r->after.count; i++) {
        const struct told *told = &r->after.told[i];
        if (told->kind != TTS_ITEM_LIVE || find_live(&r->before, told))
            continue;
        struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, told->device);
        event.pool = told->live.pool;
        event.id = told->live.id;
        event.size_bytes = told->live.size_bytes;
        event.bytes_per_bank = told->live.bytes_per_bank;
        event.block_bytes = told->live.block_bytes;
        status = tell_event(r, event, told);
    }
    return status;
}

/* Counts the program parts of a device. Sets *is_new if one of them came in the gap. */
static size_t count_parts(const struct moment *m, uint32_t device, uint64_t last, bool *is_new)
{
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct told *told = &m->told[i];
        if (told->kind != TTS_ITEM_PART || told->device != device)
            continue;
        count++;
        *is_new |= told->live.seq > last;
    }
    return count;
}

static enum tts_status tell_program(struct tts_resync *r, uint32_t device)
{
    bool is_new = false;
    size_t before = count_parts(&r->before, device, r->last, &is_new);
    size_t after = count_parts(&r->after, device, r->last, &is_new);
    if (before == after && !is_new)
        return TTS_OK;
    enum tts_status status = tell_event(r, tts_event_of(TTS_EVENT_PROGRAM, device), NULL);
    for (size_t i = 0; status == TTS_OK && i < r->after.count; i++) {
        const struct told *told = &r->after.told[i];
        if (told->kind != TTS_ITEM_PART || told->device != device)
            continue;
        struct tts_event event = tts_event_of(told->part, device);
        event.size_bytes = told->live.size_bytes;
        status = tell_event(r, event, told);
    }
    return status;
}

static uint64_t traces_of(const struct moment *m, uint32_t device)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->told[i].kind == TTS_ITEM_TRACING && m->told[i].device == device)
            return m->told[i].count;
    return 0;
}

static enum tts_status tell_traces(struct tts_resync *r, uint32_t device)
{
    uint64_t before = traces_of(&r->before, device), after = traces_of(&r->after, device);
    bool has_more = after > before;
    uint64_t count = has_more ? after - before : before - after;
    enum tts_status status = TTS_OK;
    for (uint64_t i = 0; status == TTS_OK && i < count && i < TRACES_MAX; i++)
        status = tell_event(
            r, tts_event_of(has_more ? TTS_EVENT_TRACE_BEGIN : TTS_EVENT_TRACE_END, device),
            NULL);
    return status;
}

/* Reports programs and traces of each device in either moment. Moments are sorted by key, so
 * that each device comes once per moment. */
static enum tts_status tell_devices(struct tts_resync *r, const struct moment *m,
                                    const struct moment *other)
{
    enum tts_status status = TTS_OK;
    const struct told *last = NULL;
    for (size_t i = 0; status == TTS_OK && i < m->count; i++) {
        const struct told *told = &m->told[i];
        bool is_part = told->kind == TTS_ITEM_PART;
        if ((!is_part && told->kind != TTS_ITEM_TRACING) ||
            (last && last->kind == told->kind && last->device == told->device))
            continue;
        last = told;
        bool ignored = false;
        if (other && is_part && count_parts(other, told->device, 0, &ignored) > 0)
            continue; /* this device is reported already */
        if (other && !is_part && traces_of(other, told->device) > 0)
            continue;
        status = is_part ? tell_program(r, told->device) : tell_traces(r, told->device);
    }
    return status;
}

static enum tts_status tell_marks(struct tts_resync *r, enum tts_item_kind kind)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && i < r->after.count; i++) {
        const struct told *told = &r->after.told[i];
        if (told->kind != kind)
            continue;
        status = kind == TTS_ITEM_ACTIVE
                     ? tell_begun(r, told->capture)
                     : tell_item(r, (struct tts_item){.kind = TTS_ITEM_CHIP,
                                                      .device = told->device,
                                                      .mesh = told->mesh});
    }
    return status;
}

static enum tts_status tell_gap(struct tts_resync *r)
{
    enum tts_status status = tell_ended(r);
    if (status == TTS_OK)
        status = tell_frees(r);
    if (status == TTS_OK)
        status = tell_marks(r, TTS_ITEM_CHIP);
    if (status == TTS_OK)
        status = tell_devices(r, &r->before, NULL);
    if (status == TTS_OK)
        status = tell_devices(r, &r->after, &r->before);
    sort_moment(&r->after, by_age);
    if (status == TTS_OK)
        status = tell_allocs(r);
    return status == TTS_OK ? tell_marks(r, TTS_ITEM_ACTIVE) : status;
}

enum tts_status tts_resync_tell(struct tts_resync *r, struct tts_follow *follow, uint64_t seq,
                                tts_resync_fn fn, void *ctx)
{
    enum tts_status status = TTS_OK;
    const struct tts_fold *fold = tts_follow_fold(follow);
    r->follow = follow;
    r->last = tts_fold_seq(fold);
    r->fn = fn;
    r->ctx = ctx;
    r->before.count = r->before.range_count = 0;
    if (seq > r->last) { /* otherwise no event is missing */
        tts_fold_tell(fold, keep_item, &r->before);
        sort_moment(&r->before, by_key);
        sort_moment(&r->after, by_key);
        tts_follow_skip(follow, seq);
        status = r->before.is_out_of_memory ? TTS_E_NOMEM : tell_gap(r);
        tts_follow_skip_end(follow);
    }
    r->after.count = r->after.range_count = 0;
    return status;
}
