#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/heap.h"
#include "model/recording/recpack_inside.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- time ---- */

__extension__ typedef unsigned __int128 wide;

/* A time unit is as long as in the source. Rounds to the nearest unit if a unit has 2 ns or
 * more, otherwise up, so that reading gives the same instant as in the source. */
uint64_t tts_recpack_units(const struct tts_recpack *pack, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t scale = pack->header.unit_scale;
    if (scale == 0 || to_ns <= from_ns)
        return 0;
    uint64_t slack = scale >> 33 > 0 ? scale / 2 : scale - 1;
    wide units = (((wide)(to_ns - from_ns) << 32) + slack) / scale;
    const uint64_t most = UINT64_MAX / 4; /* so that the sum of two values does not overflow */
    return units < most ? (uint64_t)units : most;
}

/* ---- bytes ---- */

enum tts_status tts_recpack_write(struct tts_recpack *pack, const void *bytes, size_t len,
                                  struct tts_error *err)
{
    errno = 0;
    if (fwrite(bytes, 1, len, pack->out) == len)
        return TTS_OK;
    return tts_error_set_errno(err, TTS_E_IO, errno ? errno : EIO,
                               "cannot write the packed recording");
}

/* Writes a block with an uncompressed payload. */
static enum tts_status write_block(struct tts_recpack *pack, struct tts_rec_block block,
                                   const unsigned char *bytes, size_t len,
                                   struct tts_error *err)
{
    unsigned char head[TTS_REC_BLOCK_HEADER_BYTES];
    struct tts_checksum check;
    assert(len <= TTS_REC_PAYLOAD_MAX);
    block.place_bytes = sizeof head + len;
    tts_rec_block_put(&block, head);
    tts_checksum_begin(&check, block.number);
    uint64_t commit = (uint64_t)tts_checksum_update(&check, bytes, len) << 32 | len;
    tts_put64(head + TTS_REC_COMMIT_OFF, commit);
    enum tts_status status = tts_recpack_write(pack, head, sizeof head, err);
    if (status == TTS_OK)
        status = tts_recpack_write(pack, bytes, len, err);
    if (status == TTS_OK)
        pack->off += block.place_bytes;
    return status;
}

/* ---- blocks ---- */

static enum tts_status no_memory(struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the packed recording");
}

static bool note(struct tts_recpack *pack)
{
    if (pack->entry_count == pack->entry_capacity) {
        struct tts_recindex_entry *grown =
            tts_alloc_grow(pack->alloc, pack->entries, &pack->entry_capacity,
                           pack->entry_count + 1, sizeof *grown);
        if (!grown)
            return false;
        pack->entries = grown;
    }
    pack->entries[pack->entry_count++] = (struct tts_recindex_entry){
        .off = pack->off,
        .seq = pack->block.seq,
        .time_ns = pack->block.time_ns,
        .flags = pack->block.has_keyframe ? TTS_RECINDEX_HAS_KEYFRAME : 0};
    return true;
}

enum tts_status tts_recpack_flush(struct tts_recpack *pack, struct tts_error *err)
{
    size_t used = pack->is_open ? tts_recenc_used(&pack->enc) : 0;
    assert(used <= TTS_RECPACK_PAYLOAD && pack->block.number <= pack->entry_count);
    pack->is_open = false;
    if (used == 0)
        return TTS_OK;
    size_t len =
        ZSTD_compress2(pack->zstd, pack->packed, pack->packed_bytes, pack->payload, used);
    if (ZSTD_isError(len) ||
        !note(pack)) /* the only possible cause is that there is no memory */
        return no_memory(err);
    return write_block(pack, pack->block, pack->packed, len, err);
}

enum tts_status tts_recpack_begin(struct tts_recpack *pack, bool has_keyframe, bool in_keyframe,
                                  struct tts_error *err)
{
    assert(!(has_keyframe && in_keyframe));
    enum tts_status status = tts_recpack_flush(pack, err);
    if (status != TTS_OK)
        return status;
    pack->block = (struct tts_rec_block){
        .kind = TTS_REC_ITEMS,
        .packing = TTS_REC_ZSTD,
        .has_keyframe = has_keyframe,
        .in_keyframe = in_keyframe,
        .number = pack->entry_count,
        .seq = pack->seq,
        .tick = tts_recpack_units(pack, pack->header.start_ns, pack->time_ns),
        .time_ns = pack->time_ns,
    };
    tts_recenc_begin(&pack->enc, pack->payload, TTS_RECPACK_PAYLOAD, &pack->commit,
                     pack->block.number, pack->block.tick);
    pack->block_events = 0;
    pack->is_open = true;
    return TTS_OK;
}

/* ---- the index ---- */

enum tts_status tts_recpack_index(struct tts_recpack *pack, uint64_t *index_off,
                                  struct tts_error *err)
{
    assert(!pack->is_open);
    size_t count = pack->entry_count, len = count * TTS_RECINDEX_ENTRY_BYTES;
    struct tts_rec_block block = {
        .kind = TTS_REC_INDEX, .packing = TTS_REC_PLAIN, .number = count, .seq = pack->seq};
    if (count > TTS_RECINDEX_MAX)
        return tts_error_set(
            err, TTS_E_RANGE,
            "the packed recording would have more than %d blocks, which is the maximum",
            (int)TTS_RECINDEX_MAX);
    unsigned char *bytes = pack->alloc->alloc(pack->alloc->ctx, len + 1);
    if (!bytes)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        unsigned char *at = bytes + i * TTS_RECINDEX_ENTRY_BYTES;
        tts_put64(at, pack->entries[i].off);
        tts_put64(at + 8, pack->entries[i].seq);
        tts_put64(at + 16, pack->entries[i].time_ns);
        tts_put64(at + 24, pack->entries[i].flags);
    }
    uint64_t off = pack->off;
    enum tts_status status = write_block(pack, block, bytes, len, err);
    pack->alloc->free(pack->alloc->ctx, bytes, len + 1);
    if (status == TTS_OK)
        *index_off = off;
    return status;
}

/* ---- figures ---- */

static enum tts_status write_figures(struct tts_recpack *pack, const unsigned char *bytes,
                                     size_t len, struct tts_error *err)
{
    struct tts_rec_block block = {.kind = TTS_REC_FIGURES,
                                  .packing = TTS_REC_ZSTD,
                                  .number = pack->entry_count + 1,
                                  .seq = pack->seq};
    if (fseeko(pack->out, (off_t)pack->off, SEEK_SET) != 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot write the packed recording");
    enum tts_status status = write_block(pack, block, bytes, len, err);
    if (status == TTS_OK && fflush(pack->out) != 0)
        status = tts_error_set_errno(err, TTS_E_IO, errno, "cannot write the packed recording");
    return status;
}

enum tts_status tts_recpack_figures(struct tts_recpack *pack, const unsigned char *bytes,
                                    size_t len, uint64_t room, bool *is_stored,
                                    struct tts_error *err)
{
    assert(len <= TTS_RECPACK_FIGURES_MAX);
    size_t capacity = ZSTD_compressBound(len);
    unsigned char *packed = pack->alloc->alloc(pack->alloc->ctx, capacity);
    enum tts_status status = TTS_OK;
    *is_stored = false;
    if (!packed)
        return TTS_OK;
    size_t used = ZSTD_compress2(pack->zstd, packed, capacity, bytes, len);
    if (!ZSTD_isError(used) && TTS_REC_BLOCK_HEADER_BYTES + used <= room) {
        status = write_figures(pack, packed, used, err);
        *is_stored = status == TTS_OK;
    }
    pack->alloc->free(pack->alloc->ctx, packed, capacity);
    return status;
}

uint64_t tts_recpack_room(const struct tts_recpack *pack)
{
    uint64_t share = pack->off / 10 + (64 << 10);
    uint64_t saved = pack->event_bytes > pack->off ? pack->event_bytes - pack->off : 0;
    return saved < share ? saved : share;
}
