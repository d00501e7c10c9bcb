/* recorder_write.c: writes events, marks and keyframes into one block after the other.
 *
 * Before an event is folded, the current block has room for one item. So a new block always
 * begins between two events: its keyframe contains the effects of all earlier events, and
 * nothing of the next event. */
#include "base/compiler.h"
#include "base/ticks.h"
#include "capture/recorder_inside.h"

#include <assert.h>
#include <errno.h>

static TTS_FORCE_INLINE uint64_t now(void)
{
    return tts_ticks_now() >> TTS_RECORDER_UNIT_SHIFT;
}

static bool is_box(const struct tts_recorder *r)
{
    return r->places.box_places > 0;
}

/* --- state ------------------------------------------------------------------------------ */

void tts_recorder_put_state(struct tts_recorder *r, enum tts_rec_state_kind kind)
{
    r->state.generation++;
    r->state.kind = kind;
    r->state.blocks = r->blocks;
    tts_rec_state_put(&r->state, r->places.header.bytes);
}

/* Removes the recorder from its tracker. The tracker continues without it. */
static void leave_tracker(struct tts_recorder *r, enum tts_recorder_stopped why)
{
    assert(!r->stopped);
    r->stopped = why;
    r->end_seq = tts_fold_seq(r->fold);
    if (r->tracker->recorder == r)
        tts_tracker_set_recorder(r->tracker, NULL);
}

/* Stops the recording permanently. */
static void stop(struct tts_recorder *r, int sys_errno)
{
    leave_tracker(r, TTS_RECORDER_REFUSED);
    r->state.sys_errno = (uint32_t)sys_errno;
    r->state.events = r->end_seq - r->start_seq;
    tts_recorder_put_state(r, TTS_REC_STOPPED);
}

/* --- blocks ----------------------------------------------------------------------------- */

static uint64_t *commit_of(unsigned char *place)
{
    return (uint64_t *)(void *)(place + TTS_REC_COMMIT_OFF);
}

/* Returns whether the next block begins with a keyframe. A reader can resume at a keyframe
 * after a damaged part. This is only for recordings without a limit of places, and only if the
 * keyframe is small. */
static bool is_keyframe_due(const struct tts_recorder *r)
{
    return !is_box(r) && r->blocks > 0 && !r->in_keyframe &&
           tts_fold_collect(r->fold, NULL, 0) <= TTS_RECORDER_KEYFRAME_LIVE;
}

static void put_block(struct tts_recorder *r, bool has_keyframe)
{
    r->block.has_keyframe = has_keyframe;
    tts_rec_block_put(&r->block, r->place);
}

/* Begins a block. Returns false if the recording has stopped. If `is_hidden` is true, readers
 * do not see the contents of the block before show_hidden(). */
static bool begin_block(struct tts_recorder *r, bool is_hidden)
{
    /* Errno must not change for the program, which only posted an event. */
    int kept_errno = errno;
    int reason = tts_places_take(&r->places, r->blocks, &r->place);
    errno = kept_errno;
    if (reason != 0) {
        stop(r, reason);
        return false;
    }
    uint64_t *commit = commit_of(r->place);
    r->block = (struct tts_rec_block){.kind = TTS_REC_ITEMS,
                                      .in_keyframe = r->in_keyframe,
                                      .number = r->blocks,
                                      .seq = tts_fold_seq(r->fold),
                                      .tick = now(),
                                      .time_ns = tts_clock_ns(),
                                      .place_bytes = r->places.place_bytes};
    /* Readers must find an empty block here, not a mixture of the old and the new block. */
    __atomic_exchange_n(commit, 0, __ATOMIC_SEQ_CST);
    put_block(r, is_hidden || r->blocks == 0);
    tts_recenc_begin(&r->enc, r->place + TTS_REC_BLOCK_HEADER_BYTES,
                     r->places.place_bytes - TTS_REC_BLOCK_HEADER_BYTES,
                     is_hidden ? &r->hidden_commit : commit, r->block.number, r->block.tick);
    r->blocks++;
    return true;
}

static bool next_block(struct tts_recorder *r);

/* --- keyframes -------------------------------------------------------------------------- */

struct teller {
    struct tts_recorder *r;
    bool in_one_block; /* whether the keyframe must fit in its first block */
    size_t limit;      /* largest size of the payload */
    uint64_t buffers;  /* number of buffers written so far */
};

static bool tell(void *ctx, const struct tts_item *item)
{
    struct teller *teller = ctx;
    struct tts_recorder *r = teller->r;
    teller->buffers += item->kind == TTS_ITEM_LIVE;
    if (item->kind == TTS_ITEM_KEYFRAME_END && !tts_tracker_tell_active(r->tracker, tell, ctx))
        return false;
    if (TTS_LIKELY(tts_recenc_item(&r->enc, item, false, now())))
        return tts_recenc_used(&r->enc) <= teller->limit;
    if (teller->in_one_block || !next_block(r))
        return false;
    bool fits = tts_recenc_item(&r->enc, item, false, now());
    assert(fits); /* a new block has room for any item */
    return fits;
}

/* Makes the hidden contents of the block visible to readers. */
static void show_hidden(struct tts_recorder *r)
{
    r->enc.commit = commit_of(r->place);
    __atomic_store_n(r->enc.commit, r->hidden_commit, __ATOMIC_RELEASE);
}

/* Writes a keyframe that becomes visible as a whole or not at all: a keyframe that does not fit
 * is taken back, and a reader must never lose items that it saw. Until the end of the keyframe,
 * the encoder writes its commits to hidden_commit. Writes at most *most buffers, then sets
 * *most to the number of buffers written. Returns whether the keyframe fits. */
static bool tell_hidden(struct tts_recorder *r, size_t limit, uint64_t *most)
{
    struct teller teller = {r, true, limit, 0};
    r->enc.commit = &r->hidden_commit;
    bool is_told = tts_fold_tell_largest(r->fold, *most, tell, &teller);
    *most = teller.buffers;
    if (is_told)
        show_hidden(r);
    return is_told;
}

/* Writes a keyframe that has only the active captures, as many as fit. */
static void tell_nothing(struct tts_recorder *r)
{
    struct teller teller = {r, true, (size_t)r->places.place_bytes / 2, 0};
    struct tts_item item = {.kind = TTS_ITEM_KEYFRAME};
    tell(&teller, &item);
    item = (struct tts_item){.kind = TTS_ITEM_MISSED};
    tell(&teller, &item);
    tts_tracker_tell_active(r->tracker, tell, &teller);
    item.kind = TTS_ITEM_KEYFRAME_END;
    tts_recenc_item(&r->enc, &item, false, now());
    show_hidden(r);
}

/* Writes the keyframe of a block of a black box. The keyframe leaves half of the block to
 * events. If it would be too long, the keyframe has only the largest buffers and says so,
 * because the newest events are more important than the buffers that were live before them. */
static void tell_box(struct tts_recorder *r)
{
    size_t limit = (size_t)r->places.place_bytes / 2;
    uint64_t most = UINT64_MAX;
    r->kept_enc = r->enc;
    if (tell_hidden(r, limit, &most))
        return;
    most -= most / 8; /* the largest buffers may take more bytes each */
    for (;; most /= 2) {
        uint64_t told = most;
        r->enc = r->kept_enc;
        if (tell_hidden(r, limit, &told))
            return;
        if (most == 0)
            break;
    }
    r->enc = r->kept_enc;
    tell_nothing(r);
}

/* Writes the keyframe of a block if the keyframe takes little room. Otherwise the block has no
 * keyframe. */
static void tell_small(struct tts_recorder *r)
{
    uint64_t most = UINT64_MAX;
    r->kept_enc = r->enc;
    if (tell_hidden(r, (size_t)r->places.place_bytes / 16, &most))
        return;
    r->enc = r->kept_enc;
    r->enc.commit = commit_of(r->place); /* this word is still 0, so readers see no keyframe */
    put_block(r, false);
}

/* Begins the next block. Returns false if the recording has stopped. */
static bool next_block(struct tts_recorder *r)
{
    bool is_due = is_keyframe_due(r);
    if (!begin_block(r, is_box(r) || is_due))
        return false;
    if (is_box(r))
        tell_box(r);
    else if (is_due)
        tell_small(r);
    tts_recorder_put_state(r, TTS_REC_RECORDING);
    return true;
}

/* Writes a whole keyframe, over several blocks if necessary. Only for a recording without a
 * limit of places. First makes room for one item, so that the keyframe does not begin in a
 * block that is marked as continuing a keyframe. */
static bool tell_all(struct tts_recorder *r)
{
    struct teller teller = {r, false, SIZE_MAX, 0};
    if (!tts_recorder_ready(r))
        return false;
    r->in_keyframe = true;
    bool is_told = tts_fold_tell(r->fold, tell, &teller);
    r->in_keyframe = false;
    return is_told;
}

bool tts_recorder_start(struct tts_recorder *r)
{
    return next_block(r) && (is_box(r) || tell_all(r));
}

/* Writes the live buffers after a refused request. In a black box, nothing is written if the
 * keyframe does not fit in the current block, which already has a keyframe. */
static TTS_COLD void follow_failure(struct tts_recorder *r)
{
    if (r->keyframes_left == 0)
        return;
    r->keyframes_left--;
    if (!is_box(r)) {
        tell_all(r);
        return;
    }
    uint64_t most = UINT64_MAX;
    r->kept_enc = r->enc;
    if (!tell_hidden(r, SIZE_MAX, &most))
        r->enc = r->kept_enc;
}

/* --- events ----------------------------------------------------------------------------- */

TTS_COLD void tts_recorder_leave_to_parent(struct tts_recorder *r)
{
    leave_tracker(r, TTS_RECORDER_LEFT);
}

static TTS_COLD struct tts_recorder *make_room(struct tts_recorder *r)
{
    if (tts_recorder_is_child(r)) {
        tts_recorder_leave_to_parent(r);
        return NULL;
    }
    return next_block(r) ? r : NULL;
}

struct tts_recorder *tts_recorder_ready(struct tts_recorder *r)
{
    return TTS_LIKELY(r->enc.at <= r->enc.end && !tts_recorder_is_child(r)) ? r : make_room(r);
}

static void put(struct tts_recorder *r, const struct tts_item *item)
{
    bool fits = tts_recenc_item(&r->enc, item, false, now());
    assert(fits);
    (void)fits;
}

/* Writes that the fold dropped an event, because there are more than devices_max devices. The
 * event has no number. */
static TTS_COLD void put_missed(struct tts_recorder *r)
{
    put(r, &(struct tts_item){.kind = TTS_ITEM_MISSED, .count = 1});
}

static TTS_NOINLINE bool put_event(struct tts_recorder *r, const struct tts_event *event,
                                   uint64_t op_hash, uint32_t thread, bool is_unseen)
{
    r->item.kind = TTS_ITEM_EVENT;
    r->item.event = *event;
    r->item.op.hash = op_hash;
    r->item.thread = thread;
    return tts_recenc_item(&r->enc, &r->item, is_unseen, now());
}

/* Returns whether the short encoding of an allocation contains everything about the event. */
static TTS_FORCE_INLINE bool is_plain(const struct tts_event *event)
{
    return event->kind == TTS_EVENT_ALLOC &&
           (event->pool == TTS_POOL_DRAM || event->pool == TTS_POOL_TRACE) &&
           !event->has_address && event->page_bytes == 0 && event->size_bytes > 0 &&
           event->bytes_per_bank == 0 && event->block_bytes == 0;
}

void tts_recorder_event(struct tts_recorder *r, const struct tts_event *event, uint64_t op_hash,
                        uint32_t thread, enum tts_fold_outcome outcome)
{
    bool fits = true;
    if (TTS_UNLIKELY(outcome == TTS_FOLD_DROPPED))
        put_missed(r);
    else if (is_plain(event))
        fits = tts_recenc_alloc(&r->enc, event->device, event->pool, event->id,
                                event->size_bytes, op_hash, now());
    else if (event->kind == TTS_EVENT_FREE && outcome == TTS_FOLD_COUNTED)
        fits = tts_recenc_free(&r->enc, event->device, event->id, now());
    else
        fits = put_event(r, event, op_hash, thread, outcome == TTS_FOLD_UNSEEN);
    assert(fits);
    (void)fits;
    if (TTS_UNLIKELY(event->kind == TTS_EVENT_FAILURE) && outcome == TTS_FOLD_COUNTED)
        follow_failure(r);
}

void tts_recorder_alloc(struct tts_recorder *r, uint32_t device, enum tts_pool pool,
                        uint64_t id, uint64_t size_bytes, enum tts_fold_outcome outcome)
{
    if (TTS_UNLIKELY(outcome == TTS_FOLD_DROPPED)) {
        put_missed(r);
        return;
    }
    bool fits = tts_recenc_alloc(&r->enc, device, pool, id, size_bytes, 0, now());
    assert(fits);
    (void)fits;
}

static TTS_COLD void put_unseen(struct tts_recorder *r, uint32_t device, enum tts_pool pool,
                                uint64_t id, uint64_t size_bytes)
{
    struct tts_event event = tts_event_of(TTS_EVENT_FREE, device);
    event.pool = pool;
    event.id = id;
    event.size_bytes = size_bytes;
    bool fits = put_event(r, &event, 0, 0, true);
    assert(fits);
    (void)fits;
}

void tts_recorder_free(struct tts_recorder *r, uint32_t device, enum tts_pool pool, uint64_t id,
                       uint64_t size_bytes, enum tts_fold_outcome outcome)
{
    if (TTS_LIKELY(outcome == TTS_FOLD_COUNTED)) {
        bool fits = tts_recenc_free(&r->enc, device, id, now());
        assert(fits);
        (void)fits;
    } else if (outcome == TTS_FOLD_UNSEEN) {
        put_unseen(r, device, pool, id, size_bytes);
    } else {
        put_missed(r);
    }
}

void tts_recorder_mark(struct tts_recorder *r, const struct tts_item *item)
{
    assert(item->kind >= TTS_ITEM_CHIP && item->kind <= TTS_ITEM_MISSED);
    if (tts_recorder_ready(r))
        put(r, item);
}
