#include "base/bytes.h"
#include "base/error.h"
#include "base/heap.h"
#include "model/recording/recfile_inside.h"

#include <inttypes.h>
#include <sys/stat.h>

struct tts_recspot tts_recfile_behind(const struct tts_recfile *file,
                                      const struct tts_recblock *block)
{
    struct tts_recspot spot = {.number = block->head.number + 1};
    spot.off = file->info.header.kind == TTS_REC_LIVE ? tts_recblock_off(file, spot.number)
                                                      : block->off + block->head.place_bytes;
    return spot;
}

bool tts_recfile_is_index(const struct tts_recfile *file, struct tts_recspot spot)
{
    return file->info.header.kind == TTS_REC_PACKED && file->info.state_is_known &&
           spot.off == file->info.state.index_off;
}

static struct tts_recspot spot_of(const struct tts_recfile *file, uint64_t number)
{
    return (struct tts_recspot){.number = number, .off = tts_recblock_off(file, number)};
}

/* ---- black boxes ---- */

/* Finds how many blocks were begun, as the number of the newest block that is in its own
 * place. */
static enum tts_status scan_places(const struct tts_recfile *file, uint64_t *blocks,
                                   struct tts_error *err)
{
    const struct tts_rec_header *header = &file->info.header;
    assert(header->places > 0 && header->place_bytes > 0);
    for (uint64_t place = 0; place < header->places; place++) {
        unsigned char bytes[TTS_REC_BLOCK_HEADER_BYTES];
        struct tts_rec_block head;
        size_t got;
        enum tts_status status = tts_recfile_pread(file, tts_recblock_off(file, place), bytes,
                                                   sizeof bytes, &got, err);
        if (status == TTS_E_NOT_FOUND)
            break;
        if (status != TTS_OK)
            return status;
        if (tts_rec_block_get(bytes, &head, NULL) == TTS_OK &&
            tts_get64(bytes + TTS_REC_COMMIT_OFF) != 0 &&
            head.number % header->places == place && head.number >= *blocks &&
            head.number < UINT64_MAX)
            *blocks = head.number + 1;
    }
    return TTS_OK;
}

/* Returns the number of the first block with a keyframe. Older blocks cannot be decoded without
 * the blocks before them. */
static uint64_t first_keyframe(const struct tts_recfile *file, uint64_t oldest)
{
    struct tts_recblock block;
    for (uint64_t number = oldest; number < file->blocks; number++) {
        if (tts_recblock_look(file, spot_of(file, number), &block, NULL) != TTS_OK)
            break; /* stop and start with the oldest block: reading it reports the error */
        if (block.head.has_keyframe)
            return number;
    }
    return oldest;
}

static enum tts_status locate_box(struct tts_recfile *file, struct tts_error *err)
{
    uint64_t places = file->info.header.places, oldest = 0;
    enum tts_status status = scan_places(file, &file->blocks, err);
    if (status != TTS_OK)
        return status;
    if (file->blocks >= places) {
        /* Leave out the oldest block if its place is being reused. */
        struct tts_recblock block;
        oldest = file->blocks - places;
        if (tts_recblock_look(file, spot_of(file, oldest), &block, NULL) == TTS_E_NOT_FOUND &&
            places > 1)
            oldest++;
    }
    file->first = spot_of(file, oldest > 0 ? first_keyframe(file, oldest) : 0);
    return TTS_OK;
}

enum tts_status tts_recfile_lacks(const struct tts_recfile *file, struct tts_recspot spot,
                                  struct tts_error *err)
{
    uint64_t places = file->info.header.places, blocks = 0;
    bool may_be_used =
        places > 0 && !file->was_ended && scan_places(file, &blocks, NULL) == TTS_OK;
    return may_be_used && blocks >= places && blocks - places >= spot.number
               ? tts_recblock_overwritten(spot, err)
               : tts_recblock_missing(spot, err);
}

/* ---- the index ---- */

static bool read_entries(struct tts_recfile *file, const unsigned char *bytes, size_t count)
{
    struct tts_recindex_entry before = {.off = TTS_REC_HEADER_BYTES - 1};
    assert(count <= file->entry_capacity && count <= TTS_RECINDEX_MAX);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = bytes + i * TTS_RECINDEX_ENTRY_BYTES;
        struct tts_recindex_entry entry = {tts_get64(at), tts_get64(at + 8), tts_get64(at + 16),
                                           tts_get64(at + 24)};
        if (entry.off <= before.off || entry.seq < before.seq)
            return false;
        file->entries[i] = before = entry;
    }
    file->entry_count = count;
    return true;
}

/* Finds the index of a packed file. If there is no valid index, a seek reads the headers of the
 * blocks one by one. */
static enum tts_status locate_index(struct tts_recfile *file, struct tts_error *err)
{
    const struct tts_rec_state *state = &file->info.state;
    struct tts_recspot spot = {.number = state->blocks, .off = state->index_off};
    struct tts_recblock block;
    const unsigned char *bytes;
    size_t len;
    if (!file->info.state_is_known || state->index_off < TTS_REC_HEADER_BYTES ||
        tts_recblock_look(file, spot, &block, NULL) != TTS_OK ||
        block.head.kind != TTS_REC_INDEX)
        return TTS_OK;
    file->has_end = true;
    file->end_seq = block.head.seq;
    if (state->blocks == 0 || block.head.packing != TTS_REC_PLAIN ||
        block.used % TTS_RECINDEX_ENTRY_BYTES != 0 ||
        block.used / TTS_RECINDEX_ENTRY_BYTES != state->blocks)
        return TTS_OK;
    enum tts_status status = tts_recblock_read(file, &block, &bytes, &len, err);
    if (status == TTS_E_NOMEM)
        return status;
    if (status != TTS_OK)
        return TTS_OK;
    size_t count = len / TTS_RECINDEX_ENTRY_BYTES;
    struct tts_recindex_entry *entries =
        tts_alloc_grow(file->alloc, NULL, &file->entry_capacity, count, sizeof *entries);
    if (!entries)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the index");
    file->entries = entries;
    file->info.has_index = read_entries(file, bytes, count);
    return TTS_OK;
}

/* Returns whether each block of items has a correct checksum and follows the previous block, up
 * to the index. Unpacks nothing: about 2 GB per second from memory. */
static bool has_whole_blocks(struct tts_recfile *file)
{
    struct tts_recspot spot = file->first;
    struct tts_recblock block;
    for (; !tts_recfile_is_index(file, spot); spot = tts_recfile_behind(file, &block))
        if (spot.number >= file->entry_count ||
            tts_recblock_look(file, spot, &block, NULL) != TTS_OK ||
            block.head.kind != TTS_REC_ITEMS ||
            block.head.seq != file->entries[spot.number].seq ||
            tts_recblock_check(file, &block, NULL) != TTS_OK)
            return false;
    return spot.number == file->entry_count;
}

bool tts_recfile_figures(struct tts_recfile *file, const unsigned char **bytes, size_t *len,
                         uint64_t *seq)
{
    const struct tts_rec_state *state = &file->info.state;
    struct tts_recspot spot = {.number = state->blocks, .off = state->index_off};
    struct tts_recblock block;
    if (!file->info.has_index || tts_recblock_look(file, spot, &block, NULL) != TTS_OK)
        return false;
    spot = tts_recfile_behind(file, &block);
    if (tts_recblock_look(file, spot, &block, NULL) != TTS_OK ||
        block.head.kind != TTS_REC_FIGURES || block.head.seq != file->end_seq)
        return false;
    *seq = file->end_seq;
    /* The figures that were returned occupy the buffer of the open block. */
    file->is_open = false;
    return has_whole_blocks(file) &&
           tts_recblock_read(file, &block, bytes, len, NULL) == TTS_OK;
}

/* Takes the number of the last event from the state of a finished live file that still has its
 * first block. */
static void locate_end(struct tts_recfile *file)
{
    const struct tts_rec_state *state = &file->info.state;
    file->has_end =
        file->info.state_is_known && state->kind != TTS_REC_RECORDING &&
        file->first.number == 0 &&
        !__builtin_add_overflow(file->info.first_seq, state->events, &file->end_seq);
}

/* Sets the limit after the last block that was begun. */
static void set_limit(struct tts_recfile *file)
{
    struct tts_recblock block;
    bool is_begun = file->is_open || file->spot.given > 0;
    uint64_t number = file->spot.number + is_begun;
    enum tts_status status = TTS_OK;
    for (number = number > file->blocks ? number : file->blocks; number < UINT64_MAX;
         number++) {
        status = tts_recblock_look(file, spot_of(file, number), &block, NULL);
        if (status != TTS_OK)
            break;
    }
    bool is_damaged = status != TTS_OK && status != TTS_E_NOT_FOUND;
    /* Include the damaged block, so that reading reports the damage. */
    file->limit = number + is_damaged;
}

/* Finds the blocks that exist now. Reads the state before the blocks, so that the blocks
 * contain everything that the state describes. */
static void settle(struct tts_recfile *file)
{
    struct tts_recblock block;
    if (tts_recblock_look(file, file->first, &block, NULL) == TTS_OK)
        file->info.first_seq = block.head.seq;
    file->limit = UINT64_MAX;
    file->is_stale = file->is_open;
    if (file->info.header.kind == TTS_REC_PACKED)
        return;
    locate_end(file);
    if (!file->has_end)
        set_limit(file);
}

enum tts_status tts_recfile_locate(struct tts_recfile *file, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    file->blocks = file->info.state_is_known ? file->info.state.blocks : 0;
    file->first = (struct tts_recspot){.off = TTS_REC_HEADER_BYTES};
    if (file->info.header.kind == TTS_REC_PACKED)
        status = locate_index(file, err);
    else if (file->info.header.places > 0)
        status = locate_box(file, err);
    if (status == TTS_OK)
        settle(file);
    return status;
}

/* Reads the state again. If one copy is invalid because it is being written, the other copy is
 * used. */
static void renew_state(struct tts_recfile *file)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES];
    struct tts_recfile_info *info = &file->info;
    struct tts_rec_state state;
    struct stat now;
    bool is_damaged;
    size_t got;
    if (tts_recfile_pread(file, 0, bytes, sizeof bytes, &got, NULL) != TTS_OK ||
        tts_rec_state_get(bytes, &state, &is_damaged, NULL) != TTS_OK ||
        state.generation <= info->state.generation)
        return;
    info->state = state;
    info->state_is_known = true;
    if (fstat(file->fd, &now) == 0)
        info->file_bytes = (uint64_t)now.st_size;
    file->blocks = state.blocks > file->blocks ? state.blocks : file->blocks;
}

void tts_recfile_renew(struct tts_recfile *file)
{
    file->is_due = false;
    renew_state(file);
    if (file->limit !=
        UINT64_MAX) /* otherwise the file is finished and no more blocks are added */
        settle(file);
}

/* ---- after damage ---- */

/* Returns the spot after a block that may be damaged. Returns false if the spot is unknown or
 * there is no block. */
static bool spot_after(const struct tts_recfile *file, struct tts_recspot at,
                       struct tts_recspot *out)
{
    struct tts_recblock block;
    uint64_t next = at.number + 1, places = file->info.header.places;
    if (file->info.header.kind == TTS_REC_LIVE) {
        /* The number of blocks is not trusted. Blocks after the end of the file do not exist,
         * and a black box has at most as many blocks as places. */
        if (places > 0 && file->blocks > places && next < file->blocks - places)
            next = file->blocks - places;
        *out = spot_of(file, next);
        return out->off < file->info.file_bytes && (places == 0 || next < file->blocks);
    }
    if (file->info.has_index) {
        if (next >= file->entry_count)
            return false;
        *out = (struct tts_recspot){.number = next, .off = file->entries[next].off};
        return true;
    }
    if (tts_recblock_look(file, at, &block, NULL) != TTS_OK || block.head.kind == TTS_REC_INDEX)
        return false;
    *out = tts_recfile_behind(file, &block);
    return true;
}

enum tts_status tts_recfile_resume(struct tts_recfile *file, uint64_t *missing)
{
    struct tts_recspot spot = file->spot;
    struct tts_recblock block;
    const unsigned char *payload;
    size_t len;
    if (file->failure.status != TTS_E_SYNTAX || file->was_sought)
        return TTS_E_NOT_FOUND;
    while (spot_after(file, spot, &spot)) {
        if (tts_recblock_look(file, spot, &block, NULL) != TTS_OK ||
            block.head.kind != TTS_REC_ITEMS || !block.head.has_keyframe ||
            block.head.seq < file->seq ||
            tts_recblock_read(file, &block, &payload, &len, NULL) != TTS_OK)
            continue;
        *missing = block.head.seq - file->seq;
        file->spot = spot;
        file->is_open = file->follows = file->is_cut = false;
        file->failure = (struct tts_error){0};
        return TTS_OK;
    }
    return TTS_E_NOT_FOUND;
}

/* ---- seek ---- */

static enum tts_status not_there(uint64_t seq, const char *where, struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOT_FOUND, "event %" PRIu64 " is %s event of the recording",
                         seq, where);
}

static enum tts_status find_by_index(const struct tts_recfile *file, uint64_t seq,
                                     struct tts_recspot *out, struct tts_error *err)
{
    size_t low = 0, high = file->entry_count; /* the wanted entry is in [low, high) */
    struct tts_recblock block;
    assert(file->entry_count > 0);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (file->entries[middle].seq <= seq)
            low = middle;
        else
            high = middle;
    }
    assert(low == 0 || file->entries[low].seq <= seq);
    while (low > 0 && !(file->entries[low].flags & TTS_RECINDEX_HAS_KEYFRAME))
        low--;
    const struct tts_recindex_entry *entry = &file->entries[low];
    struct tts_recspot spot = {.number = low, .off = entry->off};
    enum tts_status status = tts_recblock_look(file, spot, &block, err);
    bool has_keyframe = entry->flags & TTS_RECINDEX_HAS_KEYFRAME;
    if (status == TTS_E_NOT_FOUND ||
        (status == TTS_OK &&
         (block.head.seq != entry->seq || block.head.has_keyframe != has_keyframe)))
        return tts_recblock_damaged(spot.number, spot.off,
                                    "the block differs from its entry in the index", err);
    if (status == TTS_OK)
        *out = spot;
    return status;
}

/* Returns whether a block has the event. Decodes the block to its end, or until the event is
 * found. */
static enum tts_status has_event(struct tts_recfile *file, const struct tts_recblock *block,
                                 uint64_t seq, struct tts_error *err)
{
    const unsigned char *payload;
    size_t len;
    struct tts_item item;
    uint64_t tick;
    /* The decoder now has another block; the number of returned items is kept. */
    file->is_open = false;
    enum tts_status status = tts_recblock_read(file, block, &payload, &len, err);
    if (status != TTS_OK)
        return status;
    tts_recdec_begin(&file->dec, &block->head, payload, len);
    do {
        status = tts_recdec_next(&file->dec, &item, &tick, NULL);
    } while (status == TTS_OK && item.seq < seq);
    if (status == TTS_OK)
        return TTS_OK;
    return status == TTS_E_NOT_FOUND
               ? not_there(seq, "after the last", err)
               : tts_recblock_damaged(block->head.number, block->off,
                                      "a record in the block is damaged", err);
}

/* A walk over the headers of blocks. */
struct walk {
    struct tts_recspot spot, best; /* best: the last block with a keyframe */
    struct tts_recblock last;
    struct tts_error damage; /* damage after `best`; its status is TTS_OK if there is none */
};

/* Checks one block. Returns TTS_E_NOT_FOUND if the walk is over. Sets *is_before if the event
 * is before this block. */
static enum tts_status walk_block(const struct tts_recfile *file, struct walk *walk,
                                  uint64_t seq, bool *is_before, struct tts_error *err)
{
    struct tts_recblock block;
    struct tts_error why = {0};
    enum tts_status status = tts_recblock_look(file, walk->spot, &block, &why);
    if (status != TTS_OK && err)
        *err = why;
    if (status == TTS_E_NOT_FOUND && walk->spot.number < file->blocks)
        return tts_recfile_lacks(file, walk->spot, err);
    if (status == TTS_E_SYNTAX) {
        walk->damage = why;
        return spot_after(file, walk->spot, &walk->spot) ? TTS_OK : status;
    }
    if (status != TTS_OK)
        return status;
    if (block.head.kind == TTS_REC_INDEX || block.head.seq > seq) {
        *is_before = block.head.kind != TTS_REC_INDEX;
        return TTS_E_NOT_FOUND;
    }
    if (block.head.has_keyframe) {
        walk->best = walk->spot;
        walk->damage = (struct tts_error){0};
    }
    walk->last = block;
    walk->spot = tts_recfile_behind(file, &block);
    return TTS_OK;
}

static enum tts_status find_by_walking(struct tts_recfile *file, uint64_t seq,
                                       struct tts_recspot *out, struct tts_error *err)
{
    struct walk walk = {.spot = file->first, .best = file->first};
    enum tts_status status = TTS_OK;
    bool is_before = false;
    while (status == TTS_OK && !tts_recfile_is_index(file, walk.spot))
        status = walk_block(file, &walk, seq, &is_before, err);
    if (status != TTS_OK && status != TTS_E_NOT_FOUND)
        return status;
    if (walk.damage.status != TTS_OK) {
        if (err)
            *err = walk.damage;
        return walk.damage.status;
    }
    status = is_before || seq == file->info.first_seq || file->has_end ? TTS_OK
             : walk.last.off > 0 ? has_event(file, &walk.last, seq, err)
                                 : not_there(seq, "after the last", err);
    if (status == TTS_OK)
        *out = walk.best;
    return status;
}

enum tts_status tts_recfile_seek(struct tts_recfile *file, uint64_t seq, struct tts_error *err)
{
    struct tts_recspot spot;
    if (seq < file->info.first_seq)
        return not_there(seq, "before the first", err);
    if (file->has_end && seq > file->end_seq)
        return not_there(seq, "after the last", err);
    enum tts_status status = file->info.has_index ? find_by_index(file, seq, &spot, err)
                                                  : find_by_walking(file, seq, &spot, err);
    if (status != TTS_OK)
        return status;
    file->spot = spot;
    file->is_open = file->follows = file->is_cut = false;
    file->was_sought = true;
    file->is_due = true; /* the file may have grown and contain the event now */
    file->seq = file->info.first_seq;
    file->time_ns = 0;
    file->failure = (struct tts_error){0};
    return TTS_OK;
}
