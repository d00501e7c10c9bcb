#include "model/recording/recfile.h"

#include "base/compiler.h"
#include "base/error.h"
#include "base/heap.h"
#include "model/fold.h"
#include "model/recording/recfile_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = sizeof TTS_REC_MAGIC - 1 };

bool tts_recfile_is_one(const unsigned char *bytes, size_t len)
{
    return len >= MAGIC_BYTES && memcmp(bytes, TTS_REC_MAGIC, MAGIC_BYTES) == 0;
}

/* ---- open ---- */

static enum tts_status open_path(const char *path, int *fd, struct stat *info,
                                 struct tts_error *err)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, info) != 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read '%s'", path);
    if (S_ISDIR(info->st_mode))
        return tts_error_set_errno(err, TTS_E_IO, EISDIR, "cannot read '%s'", path);
    if (!S_ISREG(info->st_mode))
        return tts_error_set(err, TTS_E_IO, "'%s' is not a regular file", path);
    return TTS_OK;
}

static enum tts_status read_header(struct tts_recfile *file, struct tts_error *err)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES] = {0};
    struct tts_recfile_info *info = &file->info;
    size_t got;
    bool is_damaged;
    enum tts_status status = tts_recfile_pread(file, 0, bytes, sizeof bytes, &got, err);
    if (status != TTS_OK && status != TTS_E_NOT_FOUND)
        return status;
    if (!tts_recfile_is_one(bytes, got))
        return tts_error_set(err, TTS_E_SYNTAX, "is not a recording");
    if (status == TTS_E_NOT_FOUND) {
        tts_error_set(err, TTS_E_SYNTAX,
                      "the file ends at byte %zu, inside the header of %d bytes", got,
                      TTS_REC_HEADER_BYTES);
        if (err)
            err->offset = got;
        return TTS_E_SYNTAX;
    }
    status = tts_rec_header_get(bytes, &info->header, err);
    if (status != TTS_OK)
        return status;
    info->state_is_known = tts_rec_state_get(bytes, &info->state, &is_damaged, NULL) == TTS_OK;
    if (!info->state_is_known)
        info->state = (struct tts_rec_state){0};
    file->was_ended = info->state.kind == TTS_REC_ENDED;
    return TTS_OK;
}

enum tts_status tts_recfile_open(const char *path, const struct tts_alloc *alloc,
                                 struct tts_recfile **out, struct tts_error *err)
{
    struct stat info;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_recfile *file = alloc->alloc(alloc->ctx, sizeof *file);
    if (!file)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for '%s'", path);
    /* Do not clear the decoder: it is large, and each block initializes it. */
    memset(file, 0, offsetof(struct tts_recfile, dec));
    file->alloc = alloc;
    enum tts_status status = open_path(path, &file->fd, &info, err);
    if (status == TTS_OK) {
        file->info.file_bytes = (uint64_t)info.st_size;
        status = read_header(file, err);
    }
    if (status == TTS_OK)
        status = tts_recfile_locate(file, err);
    if (status != TTS_OK) {
        tts_recfile_close(file);
        return status;
    }
    file->spot = file->first;
    file->seq = file->info.first_seq;
    *out = file;
    return TTS_OK;
}

static void give_bytes(const struct tts_recfile *file, struct tts_recbytes *room)
{
    if (room->bytes)
        file->alloc->free(file->alloc->ctx, room->bytes, room->capacity);
}

void tts_recfile_close(struct tts_recfile *file)
{
    if (!file)
        return;
    ZSTD_freeDCtx(file->zstd);
    give_bytes(file, &file->raw);
    give_bytes(file, &file->plain);
    if (file->entries)
        file->alloc->free(file->alloc->ctx, file->entries,
                          file->entry_capacity * sizeof *file->entries);
    if (file->fd >= 0)
        close(file->fd);
    file->alloc->free(file->alloc->ctx, file, sizeof *file);
}

const struct tts_recfile_info *tts_recfile_info(const struct tts_recfile *file)
{
    return &file->info;
}

/* ---- blocks ---- */

/* No block follows. Returns TTS_E_NOT_FOUND if this is the regular end of the file. */
static enum tts_status finish(const struct tts_recfile *file, bool has_index,
                              struct tts_error *err)
{
    const struct tts_recfile_info *info = &file->info;
    struct tts_recspot spot = file->spot;
    bool is_cut = info->header.kind == TTS_REC_PACKED && !info->state_is_known && !has_index;
    if (spot.number < file->blocks || spot.given > 0 || is_cut)
        return tts_recfile_lacks(file, spot, err);
    if (!file->has_end || file->seq == file->end_seq)
        return TTS_E_NOT_FOUND;
    tts_error_set(err, TTS_E_SYNTAX,
                  "the recording ends at byte %" PRIu64 " with event %" PRIu64
                  ", but the last event should be event %" PRIu64,
                  spot.off, file->seq, file->end_seq);
    if (err)
        err->offset = spot.off;
    return TTS_E_SYNTAX;
}

static enum tts_status skip_given(struct tts_recfile *file, struct tts_error *err)
{
    struct tts_item item;
    uint64_t tick;
    for (uint64_t i = 0; i < file->spot.given; i++)
        if (tts_recdec_next(&file->dec, &item, &tick, NULL) != TTS_OK)
            return tts_recblock_damaged(file->spot.number, file->spot.off,
                                        "the block changed while it was read", err);
    return TTS_OK;
}

/* Starts the decoder with a block and skips the items that were returned before. */
static enum tts_status open_block(struct tts_recfile *file, const struct tts_recblock *block,
                                  struct tts_error *err)
{
    const struct tts_rec_block *head = &block->head;
    const unsigned char *payload;
    size_t len;
    bool is_cut = file->spot.given == 0 && tts_recblock_read_cut(file, block, &payload, &len);
    enum tts_status status =
        is_cut ? TTS_OK : tts_recblock_read(file, block, &payload, &len, err);
    if (status != TTS_OK)
        return status;
    if (head->seq >= TTS_FOLD_SEQ_MAX - len) /* the block has at most `len` events, because each
                                                event takes at least one byte */
        return tts_recblock_damaged(head->number, block->off,
                                    "the number of events of the block is too large", err);
    if (file->spot.given > 0 && !tts_recblock_goes_on(file, block, &file->block))
        return tts_recblock_damaged(head->number, block->off,
                                    "the block changed while it was read", err);
    tts_recdec_begin(&file->dec, head, payload, len);
    status = skip_given(file, err);
    if (status != TTS_OK)
        return status;
    if (!file->follows && file->spot.given == 0)
        file->seq = head->seq;
    file->block = *block;
    file->is_cut = is_cut;
    file->is_open = true;
    file->is_stale = false;
    return TTS_OK;
}

enum tts_status tts_recfile_enter(struct tts_recfile *file, struct tts_error *err)
{
    struct tts_recblock block;
    assert(!file->is_open);
    if (tts_recfile_is_index(file, file->spot))
        return finish(file, true, err);
    if (file->spot.number >= file->limit)
        return TTS_E_NOT_FOUND;
    enum tts_status status = tts_recblock_look(file, file->spot, &block, err);
    if (status == TTS_E_NOT_FOUND)
        return finish(file, false, err);
    if (status != TTS_OK)
        return status;
    if (block.head.kind == TTS_REC_INDEX) {
        file->has_end = true; /* the index is the only place that has the last event */
        file->end_seq = block.head.seq;
        return finish(file, true, err);
    }
    if (block.head.kind != TTS_REC_ITEMS)
        return tts_recblock_damaged(file->spot.number, file->spot.off,
                                    "the kind of the block is unknown", err);
    if (file->follows && file->spot.given == 0 && block.head.seq != file->seq)
        return tts_recblock_damaged(file->spot.number, file->spot.off,
                                    "events before the block are missing", err);
    return open_block(file, &block, err);
}

/* Returns whether nothing was written to the open block since it was read. */
static bool is_same(const struct tts_recfile *file)
{
    struct tts_recblock block;
    return tts_recblock_look(file, file->spot, &block, NULL) == TTS_OK &&
           block.used == file->block.used && block.check == file->block.check;
}

/* Moves to the next block after all items of the block were returned. Returns TTS_E_NOT_FOUND
 * if the file has no more items for now. */
static enum tts_status leave(struct tts_recfile *file)
{
    assert(file->is_open && file->spot.number < file->limit);
    if (file->is_stale && !is_same(file)) {
        file->is_open = false; /* so that the block is read again */
        return TTS_OK;
    }
    file->is_stale = false;
    if (file->spot.number == file->limit - 1)
        return TTS_E_NOT_FOUND;
    file->spot = tts_recfile_behind(file, &file->block);
    file->follows = true;
    file->is_open = false;
    return TTS_OK;
}

/* ---- items ---- */

/* Returns the time of a tick, limited to UINT64_MAX. */
static uint64_t time_of(const struct tts_recfile *file, uint64_t tick)
{
    const struct tts_rec_block *head = &file->block.head;
    uint64_t units = tick > head->tick ? tick - head->tick : 0;
    uint64_t scale = file->info.header.unit_scale, time_ns;
    uint64_t high = tts_mul_high(units, scale), low = units * scale;
    if (high >> 32 != 0 ||
        __builtin_add_overflow(head->time_ns, high << 32 | low >> 32, &time_ns))
        return UINT64_MAX;
    return time_ns;
}

static void complete(struct tts_recfile *file, struct tts_item *item, uint64_t tick)
{
    uint64_t time_ns = time_of(file, tick);
    assert(file->is_open && item->seq >= file->seq);
    item->has_time = true;
    item->time_ns = time_ns > file->time_ns ? time_ns : file->time_ns;
    file->time_ns = item->time_ns;
    file->seq = item->seq;
    file->spot.given++;
}

/* Returns the error of the decoder, with the offset in the file instead of the offset in the
 * payload. */
static struct tts_error in_block(const struct tts_recfile *file, const struct tts_error *why)
{
    const struct tts_recblock *block = &file->block;
    struct tts_error failure;
    tts_recblock_damaged(block->head.number, block->off, why->text, &failure);
    if (block->head.packing == TTS_REC_PLAIN)
        failure.offset += TTS_REC_BLOCK_HEADER_BYTES + why->offset;
    return failure;
}

static enum tts_status fail(struct tts_recfile *file, const struct tts_error *failure,
                            struct tts_error *err)
{
    assert(failure->status != TTS_OK && failure->text[0] != '\0');
    file->failure = *failure;
    if (err)
        *err = *failure;
    return failure->status;
}

/* Reads the next item of the open block. Returns TTS_E_NOT_FOUND if the block has no more
 * items. */
static enum tts_status next_in_block(struct tts_recfile *file, struct tts_item *out,
                                     struct tts_error *failure)
{
    uint64_t tick;
    enum tts_status status = tts_recdec_next(&file->dec, out, &tick, failure);
    if (status == TTS_OK)
        complete(file, out, tick);
    else if (file->is_cut)
        status = tts_recblock_cut(&file->block, failure);
    else if (status != TTS_E_NOT_FOUND)
        *failure = in_block(file, failure);
    return status;
}

enum tts_status tts_recfile_next(struct tts_recfile *file, struct tts_item *out,
                                 struct tts_error *err)
{
    struct tts_error failure;
    enum tts_status status = TTS_OK;
    if (file->failure.status != TTS_OK)
        return fail(file, &file->failure, err);
    if (file->is_due)
        tts_recfile_renew(file);
    while (status == TTS_OK) {
        if (!file->is_open)
            status = tts_recfile_enter(file, &failure);
        if (status != TTS_OK)
            break;
        status = next_in_block(file, out, &failure);
        if (status == TTS_OK)
            return TTS_OK;
        if (status == TTS_E_NOT_FOUND)
            status = leave(file);
    }
    file->is_due = status == TTS_E_NOT_FOUND;
    return file->is_due ? status : fail(file, &failure, err);
}

uint64_t tts_recfile_tell(const struct tts_recfile *file)
{
    const struct tts_rec_header *header = &file->info.header;
    uint64_t off = header->places > 0
                       ? TTS_REC_HEADER_BYTES +
                             (file->spot.number - file->first.number) * header->place_bytes
                       : file->spot.off;
    if (!file->is_open)
        return off;
    uint64_t len = (uint64_t)(file->dec.end - file->dec.payload);
    uint64_t at = (uint64_t)(file->dec.at - file->dec.payload);
    return off + (len > 0 ? at * file->block.used / len : 0);
}
