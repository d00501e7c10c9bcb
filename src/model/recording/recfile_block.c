#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/heap.h"
#include "model/fold.h"
#include "model/recording/recfile_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum tts_status tts_recfile_pread(const struct tts_recfile *file, uint64_t off,
                                  unsigned char *out, size_t len, size_t *got,
                                  struct tts_error *err)
{
    *got = 0;
    while (*got < len && off <= INT64_MAX - *got) {
        ssize_t done = pread(file->fd, out + *got, len - *got, (off_t)(off + *got));
        if (done == 0)
            break;
        if (done > 0)
            *got += (size_t)done;
        else if (errno != EINTR)
            return tts_error_set_errno(err, TTS_E_IO, errno, "the file cannot be read");
    }
    return *got == len ? TTS_OK : TTS_E_NOT_FOUND;
}

enum tts_status tts_recblock_damaged(uint64_t number, uint64_t off, const char *why,
                                     struct tts_error *err)
{
    tts_error_set(err, TTS_E_SYNTAX, "block %" PRIu64 " at byte %" PRIu64 " is damaged: %s",
                  number, off, why);
    if (err)
        err->offset = off;
    return TTS_E_SYNTAX;
}

enum tts_status tts_recblock_missing(struct tts_recspot spot, struct tts_error *err)
{
    tts_error_set(err, TTS_E_SYNTAX, "block %" PRIu64 " at byte %" PRIu64 " is missing",
                  spot.number, spot.off);
    if (err)
        err->offset = spot.off;
    return TTS_E_SYNTAX;
}

enum tts_status tts_recblock_overwritten(struct tts_recspot spot, struct tts_error *err)
{
    tts_error_set(err, TTS_E_IO, "block %" PRIu64 " was overwritten while it was read",
                  spot.number);
    if (err)
        err->offset = spot.off;
    return TTS_E_IO;
}

uint64_t tts_recblock_off(const struct tts_recfile *file, uint64_t number)
{
    const struct tts_rec_header *header = &file->info.header;
    assert(header->kind == TTS_REC_LIVE && header->place_bytes > 0);
    uint64_t place = header->places > 0 ? number % header->places : number, off;
    /* After an overflow, return an offset that is after the end of any file. */
    if (__builtin_mul_overflow(place, header->place_bytes, &off) ||
        __builtin_add_overflow(off, (uint64_t)TTS_REC_HEADER_BYTES, &off))
        return UINT64_MAX;
    return off;
}

/* ---- headers ---- */

/* Checks the header of a block. Returns NULL if the header can belong to a block of this file,
 * otherwise the reason why not. */
static const char *what_is_wrong(const struct tts_recfile *file,
                                 const struct tts_recblock *block)
{
    const struct tts_rec_header *header = &file->info.header;
    const struct tts_rec_block *head = &block->head;
    bool is_live = header->kind == TTS_REC_LIVE;
    if (head->place_bytes < TTS_REC_BLOCK_HEADER_BYTES ||
        head->place_bytes - TTS_REC_BLOCK_HEADER_BYTES > TTS_REC_PAYLOAD_MAX ||
        (is_live && head->place_bytes != header->place_bytes))
        return "the size of the block is impossible";
    if (block->used > head->place_bytes - TTS_REC_BLOCK_HEADER_BYTES)
        return "the content is larger than the block";
    if (head->seq >= TTS_FOLD_SEQ_MAX)
        return "the number of events before the block is too large";
    bool is_last = !is_live && (head->kind == TTS_REC_INDEX || head->kind == TTS_REC_FIGURES);
    if (head->kind != TTS_REC_ITEMS && !is_last)
        return "the kind of the block is unknown";
    if (head->packing != TTS_REC_PLAIN && (is_live || head->packing != TTS_REC_ZSTD))
        return "the compression method of the block is unknown";
    return NULL;
}

static enum tts_status fail_other_number(struct tts_recspot spot, uint64_t found,
                                         struct tts_error *err)
{
    char why[96];
    snprintf(why, sizeof why, "the block has number %" PRIu64 ", expected %" PRIu64, found,
             spot.number);
    return tts_recblock_damaged(spot.number, spot.off, why, err);
}

/* Explains why a place has another block than expected. In a black box, the expected block was
 * not begun yet, or was overwritten in a later round. */
static enum tts_status other_number(const struct tts_recfile *file, struct tts_recspot spot,
                                    uint64_t found, struct tts_error *err)
{
    bool is_box = file->info.header.places > 0;
    if (is_box && found < spot.number)
        return TTS_E_NOT_FOUND;
    if (!is_box || file->was_ended)
        return fail_other_number(spot, found, err);
    return tts_recblock_overwritten(spot, err);
}

static enum tts_status check_header(const struct tts_recfile *file, struct tts_recspot spot,
                                    const unsigned char *bytes, struct tts_recblock *out,
                                    struct tts_error *err)
{
    uint64_t commit = tts_get64(bytes + TTS_REC_COMMIT_OFF);
    struct tts_recblock block = {
        .off = spot.off, .used = (uint32_t)commit, .check = (uint32_t)(commit >> 32)};
    enum tts_status status = tts_rec_block_get(bytes, &block.head, NULL);
    if (status == TTS_E_NOT_FOUND || commit == 0)
        return TTS_E_NOT_FOUND; /* the place is reserved, or its block has no content yet */
    if (status != TTS_OK)
        return tts_recblock_damaged(spot.number, spot.off,
                                    "the checksum of the block header is wrong", err);
    if (block.head.number != spot.number)
        return other_number(file, spot, block.head.number, err);
    const char *why = what_is_wrong(file, &block);
    if (why)
        return tts_recblock_damaged(spot.number, spot.off, why, err);
    *out = block;
    return TTS_OK;
}

static enum tts_status look_once(const struct tts_recfile *file, struct tts_recspot spot,
                                 struct tts_recblock *out, struct tts_error *err)
{
    unsigned char bytes[TTS_REC_BLOCK_HEADER_BYTES];
    size_t got;
    enum tts_status status = tts_recfile_pread(file, spot.off, bytes, sizeof bytes, &got, err);
    if (status == TTS_E_NOT_FOUND && got > 0)
        return tts_recblock_damaged(spot.number, spot.off,
                                    "the file ends inside the block header", err);
    return status == TTS_OK ? check_header(file, spot, bytes, out, err) : status;
}

/* Reads the header a second time if the first read gives a damaged header. If the writer begins
 * the block during the first read, this read may see a part of the new header. The writer sets
 * the commit only after the header is complete, so the second read sees a complete header. */
enum tts_status tts_recblock_look(const struct tts_recfile *file, struct tts_recspot spot,
                                  struct tts_recblock *out, struct tts_error *err)
{
    enum tts_status status = look_once(file, spot, out, err);
    bool may_be_new = status == TTS_E_SYNTAX && file->info.header.kind == TTS_REC_LIVE;
    return may_be_new ? look_once(file, spot, out, err) : status;
}

/* ---- payload ---- */

static bool make_room(const struct tts_recfile *file, struct tts_recbytes *room, size_t needed)
{
    assert(needed <= TTS_REC_PAYLOAD_MAX);
    needed = needed > 0 ? needed : 1;
    if (needed <= room->capacity)
        return true;
    void *grown = tts_alloc_grow(file->alloc, room->bytes, &room->capacity, needed, 1);
    room->bytes = grown ? grown : room->bytes;
    return grown != NULL;
}

static enum tts_status no_memory(const struct tts_recblock *block, struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for block %" PRIu64,
                         block->head.number);
}

/* Checks the size before memory is allocated: a damaged header may claim any size. */
static bool is_there(const struct tts_recfile *file, const struct tts_recblock *block)
{
    struct stat info;
    assert(block->off >= TTS_REC_HEADER_BYTES && block->used <= TTS_REC_PAYLOAD_MAX);
    return fstat(file->fd, &info) == 0 && info.st_size >= 0 &&
           block->off + TTS_REC_BLOCK_HEADER_BYTES <= (uint64_t)info.st_size &&
           block->used <= (uint64_t)info.st_size - block->off - TTS_REC_BLOCK_HEADER_BYTES;
}

enum tts_status tts_recblock_cut(const struct tts_recblock *block, struct tts_error *err)
{
    return tts_recblock_damaged(block->head.number, block->off,
                                "the file ends inside the block", err);
}

static enum tts_status read_raw(struct tts_recfile *file, const struct tts_recblock *block,
                                struct tts_error *err)
{
    size_t got;
    if (!is_there(file, block))
        return tts_recblock_cut(block, err);
    if (!make_room(file, &file->raw, block->used))
        return no_memory(block, err);
    enum tts_status status = tts_recfile_pread(file, block->off + TTS_REC_BLOCK_HEADER_BYTES,
                                               file->raw.bytes, block->used, &got, err);
    return status == TTS_E_NOT_FOUND ? tts_recblock_cut(block, err) : status;
}

static bool is_checked(const struct tts_recfile *file, const struct tts_recblock *block)
{
    struct tts_checksum check;
    tts_checksum_begin(&check, block->head.number);
    return tts_checksum_update(&check, file->raw.bytes, block->used) == block->check;
}

static bool is_same_head(const struct tts_rec_block *a, const struct tts_rec_block *b)
{
    return a->kind == b->kind && a->packing == b->packing &&
           a->has_keyframe == b->has_keyframe && a->in_keyframe == b->in_keyframe &&
           a->number == b->number && a->seq == b->seq && a->tick == b->tick &&
           a->time_ns == b->time_ns && a->place_bytes == b->place_bytes;
}

bool tts_recblock_goes_on(const struct tts_recfile *file, const struct tts_recblock *block,
                          const struct tts_recblock *was)
{
    return is_same_head(&block->head, &was->head) && was->used <= block->used &&
           is_checked(file, was);
}

/* Sets the error of a block with a wrong checksum. The block may have been overwritten after
 * its header was read. */
static enum tts_status not_checked(const struct tts_recfile *file,
                                   const struct tts_recblock *block, struct tts_error *err)
{
    struct tts_recblock again;
    struct tts_recspot spot = {.number = block->head.number, .off = block->off};
    enum tts_status status = tts_recblock_look(file, spot, &again, NULL);
    bool is_gone = status == TTS_E_IO || status == TTS_E_NOT_FOUND;
    return file->info.header.places > 0 && is_gone
               ? tts_recblock_overwritten(spot, err)
               : tts_recblock_damaged(spot.number, spot.off,
                                      "the checksum of the content is wrong", err);
}

static enum tts_status unpack(struct tts_recfile *file, const struct tts_recblock *block,
                              size_t *len, struct tts_error *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(file->raw.bytes, block->used);
    /* The values that ZSTD_getFrameContentSize() returns for "unknown" and "not a frame" are
     * larger too. */
    if (size > TTS_REC_PAYLOAD_MAX)
        return tts_recblock_damaged(block->head.number, block->off,
                                    "the content cannot be decompressed", err);
    if (!file->zstd)
        file->zstd = ZSTD_createDCtx();
    if (!file->zstd || !make_room(file, &file->plain, (size_t)size))
        return no_memory(block, err);
    size_t done = ZSTD_decompressDCtx(file->zstd, file->plain.bytes, (size_t)size,
                                      file->raw.bytes, block->used);
    if (done != size)
        return tts_recblock_damaged(block->head.number, block->off,
                                    "the content cannot be decompressed", err);
    *len = done;
    return TTS_OK;
}

enum tts_status tts_recblock_check(struct tts_recfile *file, const struct tts_recblock *block,
                                   struct tts_error *err)
{
    enum tts_status status = read_raw(file, block, err);
    return status == TTS_OK && !is_checked(file, block) ? not_checked(file, block, err)
                                                        : status;
}

enum tts_status tts_recblock_read(struct tts_recfile *file, const struct tts_recblock *block,
                                  const unsigned char **payload, size_t *len,
                                  struct tts_error *err)
{
    enum tts_status status = tts_recblock_check(file, block, err);
    assert(block->head.place_bytes >= TTS_REC_BLOCK_HEADER_BYTES);
    if (status != TTS_OK)
        return status;
    if (block->head.packing == TTS_REC_ZSTD) {
        status = unpack(file, block, len, err);
        if (status == TTS_OK)
            *payload = file->plain.bytes;
        return status;
    }
    *payload = file->raw.bytes;
    *len = block->used;
    return TTS_OK;
}

/* ---- a block that the end of the file cuts ---- */

/* Unpacks the first `got` bytes. Returns the number of unpacked bytes. */
static size_t unpack_cut(struct tts_recfile *file, size_t got)
{
    unsigned long long size = ZSTD_getFrameContentSize(file->raw.bytes, got);
    if (size > TTS_REC_PAYLOAD_MAX)
        return 0;
    if (!file->zstd)
        file->zstd = ZSTD_createDCtx();
    if (!file->zstd || !make_room(file, &file->plain, (size_t)size))
        return 0;
    ZSTD_inBuffer in = {file->raw.bytes, got, 0};
    ZSTD_outBuffer out = {file->plain.bytes, (size_t)size, 0};
    ZSTD_DCtx_reset(file->zstd, ZSTD_reset_session_only);
    size_t before;
    do {
        before = in.pos + out.pos;
        if (ZSTD_isError(ZSTD_decompressStream(file->zstd, &out, &in)))
            break;
    } while (in.pos + out.pos > before);
    ZSTD_DCtx_reset(file->zstd, ZSTD_reset_session_only);
    return out.pos;
}

bool tts_recblock_read_cut(struct tts_recfile *file, const struct tts_recblock *block,
                           const unsigned char **payload, size_t *len)
{
    struct stat info;
    uint64_t begin = block->off + TTS_REC_BLOCK_HEADER_BYTES;
    size_t got = 0;
    if (is_there(file, block) || fstat(file->fd, &info) != 0 || info.st_size < 0 ||
        (uint64_t)info.st_size <= begin)
        return false;
    size_t there = (size_t)((uint64_t)info.st_size - begin); /* less than `used` bytes */
    if (!make_room(file, &file->raw, there) ||
        tts_recfile_pread(file, begin, file->raw.bytes, there, &got, NULL) != TTS_OK)
        return false;
    bool is_packed = block->head.packing == TTS_REC_ZSTD;
    *len = is_packed ? unpack_cut(file, got) : got;
    *payload = is_packed ? file->plain.bytes : file->raw.bytes;
    return *len > 0;
}
