#include "model/recording/recpack.h"

#include "base/error.h"
#include "base/heap.h"
#include "model/recording/recpack_inside.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- life ---- */

static enum tts_status prepare(struct tts_recpack *pack, struct tts_error *err)
{
    const struct tts_alloc *alloc = pack->alloc;
    const struct tts_follow_config config = {.limits.ops_max = TTS_FOLD_OPS_MAX};
    static const unsigned char nothing[TTS_REC_HEADER_BYTES];
    pack->payload = alloc->alloc(alloc->ctx, TTS_RECPACK_PAYLOAD);
    pack->packed = alloc->alloc(alloc->ctx, pack->packed_bytes);
    pack->zstd = ZSTD_createCCtx();
    if (!pack->payload || !pack->packed || !pack->zstd ||
        ZSTD_isError(
            ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_compressionLevel, TTS_RECPACK_LEVEL)))
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the packed recording");
    enum tts_status status = tts_follow_new(&config, alloc, &pack->follow, err);
    if (status != TTS_OK)
        return status;
    if (fseeko(pack->out, 0, SEEK_SET) != 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot write the packed recording");
    pack->off = sizeof nothing;
    return tts_recpack_write(pack, nothing, sizeof nothing,
                             err); /* leaves room for the header, which is written last */
}

enum tts_status tts_recpack_new(FILE *out, const struct tts_rec_header *header,
                                const struct tts_alloc *alloc, struct tts_recpack **result,
                                struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_recpack *pack = alloc->alloc(alloc->ctx, sizeof *pack);
    if (!pack)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the packed recording");
    memset(pack, 0, sizeof *pack);
    pack->alloc = alloc;
    pack->out = out;
    pack->header = *header;
    pack->header.kind = TTS_REC_PACKED;
    pack->header.place_bytes = pack->header.places = 0;
    pack->packed_bytes = ZSTD_compressBound(TTS_RECPACK_PAYLOAD);
    enum tts_status status = prepare(pack, err);
    if (status == TTS_OK)
        *result = pack;
    else
        tts_recpack_free(pack);
    return status;
}

static void give(const struct tts_recpack *pack, void *memory, size_t bytes)
{
    if (memory)
        pack->alloc->free(pack->alloc->ctx, memory, bytes);
}

void tts_recpack_free(struct tts_recpack *pack)
{
    if (!pack)
        return;
    tts_follow_free(pack->follow);
    tts_recpack_free_keyframe(pack);
    ZSTD_freeCCtx(pack->zstd);
    give(pack, pack->entries, pack->entry_capacity * sizeof *pack->entries);
    give(pack, pack->packed, pack->packed_bytes);
    give(pack, pack->payload, TTS_RECPACK_PAYLOAD);
    give(pack, pack, sizeof *pack);
}

/* ---- items ---- */

/* Returns whether a FREE has sizes. A FREE without sizes is written with its id alone, in fewer
 * bytes. */
static bool has_sizes(const struct tts_event *event)
{
    return event->pool != 0 || event->size_bytes != 0 || event->bytes_per_bank != 0 ||
           event->block_bytes != 0;
}

bool tts_recpack_has_room(const struct tts_recpack *pack)
{
    return pack->enc.at <= pack->enc.end && pack->block_events < TTS_RECPACK_EVENTS;
}

void tts_recpack_put(struct tts_recpack *pack, const struct tts_item *item)
{
    bool is_event = item->kind == TTS_ITEM_EVENT;
    bool is_unseen = is_event && item->event.kind == TTS_EVENT_FREE && has_sizes(&item->event);
    uint64_t tick =
        pack->block.tick + tts_recpack_units(pack, pack->block.time_ns, pack->time_ns);
    assert(pack->is_open && tts_recpack_has_room(pack));
    assert(pack->time_ns >= pack->block.time_ns && tick >= pack->block.tick);
    size_t used = tts_recenc_used(&pack->enc);
    bool fits = tts_recenc_item(&pack->enc, item, is_unseen, tick);
    assert(fits);
    (void)fits;
    used = tts_recenc_used(&pack->enc) - used;
    pack->event_bytes += pack->is_telling ? 0 : used;
    pack->block_events += is_event;
}

/* Makes room for an item, in this block or the next. */
static enum tts_status make_room(struct tts_recpack *pack, const struct tts_item *item,
                                 struct tts_error *err)
{
    if (pack->is_open && tts_recpack_has_room(pack))
        return TTS_OK;
    enum tts_status status = tts_recpack_flush(pack, err);
    if (status != TTS_OK)
        return status;
    if (pack->has_items && !pack->in_keyframe && tts_recpack_is_due(pack))
        return tts_recpack_keyframe(pack, err);
    bool is_first = !pack->has_items && item->kind == TTS_ITEM_KEYFRAME;
    return tts_recpack_begin(pack, is_first, pack->in_keyframe, err);
}

/* Updates the list of active captures. The list has room, because the follower has accepted the
 * item. */
static void note_capture(struct tts_recpack *pack, const struct tts_item *item)
{
    if (item->kind == TTS_ITEM_BEGIN || item->kind == TTS_ITEM_ACTIVE) {
        assert(pack->active_count < TTS_FOLLOW_CAPTURES_MAX);
        pack->active[pack->active_count++] = item->capture;
    } else if (item->kind == TTS_ITEM_END) {
        size_t i = 0;
        while (i < pack->active_count && pack->active[i] != item->capture)
            i++;
        assert(i < pack->active_count);
        memmove(&pack->active[i], &pack->active[i + 1],
                (--pack->active_count - i) * sizeof pack->active[0]);
    }
}

/* Processes an item of a keyframe that repeats known facts. Only the follower gets the item. */
static enum tts_status pass_over(struct tts_recpack *pack, const struct tts_item *item,
                                 struct tts_error *err)
{
    enum tts_status status = tts_follow_item(pack->follow, item, err);
    if (status != TTS_OK)
        return status;
    pack->in_keyframe = pack->is_passed = item->kind != TTS_ITEM_KEYFRAME_END;
    return TTS_OK;
}

static void keep_time(struct tts_recpack *pack, const struct tts_item *item)
{
    if (item->has_time && item->time_ns > pack->time_ns)
        pack->time_ns = item->time_ns;
}

static void begin_seq(struct tts_recpack *pack, const struct tts_item *item)
{
    if (!pack->has_items)
        pack->seq = pack->keyframe_seq = item->seq - (item->kind == TTS_ITEM_EVENT);
}

/* Processes a NAME. It is not written, because each block defines the names that it uses. */
static enum tts_status take_name(struct tts_recpack *pack, const struct tts_item *item,
                                 struct tts_error *err)
{
    enum tts_status status = tts_follow_item(pack->follow, item, err);
    if (status != TTS_OK)
        return status;
    begin_seq(pack, item);
    pack->has_items = true;
    return TTS_OK;
}

static enum tts_status take(struct tts_recpack *pack, const struct tts_item *item,
                            struct tts_error *err)
{
    keep_time(pack, item);
    begin_seq(pack, item);
    enum tts_status status = make_room(pack, item, err);
    if (status == TTS_OK)
        status = tts_follow_item(pack->follow, item, err);
    if (status != TTS_OK)
        return status;
    note_capture(pack, item);
    tts_recpack_put(pack, item);
    pack->in_keyframe = item->kind == TTS_ITEM_KEYFRAME ||
                        (pack->in_keyframe && item->kind != TTS_ITEM_KEYFRAME_END);
    pack->has_items = true;
    pack->seq = item->seq;
    return TTS_OK;
}

enum tts_status tts_recpack_item(struct tts_recpack *pack, const struct tts_item *item,
                                 struct tts_error *err)
{
    if (item->kind == TTS_ITEM_NAME)
        return take_name(pack, item, err);
    if (pack->is_passed || (item->kind == TTS_ITEM_KEYFRAME && pack->has_items))
        return pass_over(pack, item, err);
    return take(pack, item, err);
}

/* ---- the end ---- */

enum tts_status tts_recpack_end(struct tts_recpack *pack, const struct tts_rec_state *state,
                                struct tts_error *err)
{
    unsigned char header[TTS_REC_HEADER_BYTES];
    struct tts_rec_state end = *state;
    enum tts_status status = tts_recpack_flush(pack, err);
    if (status == TTS_OK)
        status = tts_recpack_index(pack, &end.index_off, err);
    if (status != TTS_OK)
        return status;
    end.blocks = pack->entry_count;
    tts_rec_header_put(&pack->header, header);
    for (end.generation = 1; end.generation <= 2; end.generation++)
        tts_rec_state_put(&end, header);
    if (fseeko(pack->out, 0, SEEK_SET) != 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot write the packed recording");
    status = tts_recpack_write(pack, header, sizeof header, err);
    if (status == TTS_OK && fflush(pack->out) != 0)
        status = tts_error_set_errno(err, TTS_E_IO, errno, "cannot write the packed recording");
    tts_follow_free(pack->follow);
    pack->follow = NULL;
    tts_recpack_free_keyframe(pack);
    return status;
}
