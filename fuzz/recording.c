/* Reads bytes as a recording. Parts that the reader would refuse at once are corrected first:
 * magic numbers, kinds, sizes, checksums, and the order of blocks. Whatever the blocks contain,
 * each item is valid, events count up by one, and the live buffers are those that were
 * allocated and not freed. */
#include "base/bytes.h"
#include "base/checksum.h"
#include "fuzz/reuse.h"
#include "model/follow.h"
#include "model/recording/recdec.h"
#include "model/recording/recfile.h"
#include "model/recording/resync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum {
    FILE_BYTES = 1 << 17,
    PLACES_MAX = 4, /* maximum size of a place in pages, and number of places of a black box */
    BLOCKS_MAX = 64,
    DEVICES_MAX = 8,
    /* one in this many runs checks the whole fold, which takes longer than a run */
    WALK_RUNS = 16,
    HEADER = TTS_REC_HEADER_BYTES,
    HEAD = TTS_REC_BLOCK_HEADER_BYTES,
};

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* --- correcting the input --------------------------------------------------------------- */

struct file {
    unsigned char bytes[FILE_BYTES];
    size_t len;
    bool is_packed;
    uint64_t place_bytes, places;
    uint64_t blocks, index_off;
    struct tts_recdec dec;
};

static uint32_t check_of(const unsigned char *bytes, size_t len, uint64_t seed)
{
    struct tts_checksum check;
    tts_checksum_begin(&check, seed);
    return tts_checksum_update(&check, bytes, len);
}

static void fix_header(struct file *file)
{
    unsigned char *at = file->bytes;
    file->is_packed = tts_get32(at + 12) % 2 == 0;
    file->place_bytes =
        file->is_packed ? 0 : 4096 * (1 + tts_get64(at + 16) / 4096 % PLACES_MAX);
    file->places = file->is_packed ? 0 : tts_get64(at + 24) % (PLACES_MAX + 1);
    memcpy(at, TTS_REC_MAGIC, 8);
    tts_put32(at + 8, 1);
    tts_put32(at + 12, file->is_packed ? TTS_REC_PACKED : TTS_REC_LIVE);
    tts_put64(at + 16, file->place_bytes);
    tts_put64(at + 24, file->places);
    at[64 + TTS_REC_PROGRAM_MAX - 1] = at[64 + TTS_REC_PROGRAM_MAX + TTS_REC_WRITER_MAX - 1] =
        0;
    memset(at + TTS_REC_STATE_OFF + 2 * TTS_REC_STATE_BYTES, 0,
           TTS_REC_CHECK_OFF - TTS_REC_STATE_OFF - 2 * TTS_REC_STATE_BYTES);
    tts_put64(at + TTS_REC_CHECK_OFF, check_of(at, TTS_REC_STATE_OFF, 0));
}

/* Corrects one copy of the state. A copy whose reserved word is not 0 stays unchanged, so that
 * the reader mostly treats it as damaged. */
static void fix_state(struct file *file, int copy)
{
    unsigned char *at = file->bytes + TTS_REC_STATE_OFF + copy * TTS_REC_STATE_BYTES;
    if (tts_get64(at + 48) != 0)
        return;
    uint64_t generation = (tts_get64(at) & UINT64_C(0xffff)) / 2 * 2 + (copy == 0 ? 1 : 2);
    tts_put64(at, generation);
    tts_put32(at + 8, 1 + tts_get32(at + 8) % 3);
    /* In three of four cases, makes the description of the file in the state true. */
    if (tts_get32(at + 12) % 4 != 3) {
        tts_put64(at + 16, file->blocks);
        tts_put64(at + 40, file->index_off);
    }
    tts_put64(at + 56, check_of(at, 56, 0));
}

/* Returns the number of events in the payload, as far as it can be read. */
static uint64_t count_events(struct file *file, const struct tts_rec_block *block,
                             const unsigned char *payload, size_t len)
{
    struct tts_item item = {0};
    uint64_t tick, seq = block->seq;
    if (block->packing != TTS_REC_PLAIN)
        return 0;
    tts_recdec_begin(&file->dec, block, payload, len);
    while (tts_recdec_next(&file->dec, &item, &tick, NULL) == TTS_OK)
        seq = item.seq;
    return seq - block->seq;
}

/* Corrects the block at `off`, which has `room` bytes. *seq is the number of the event before
 * the block on entry, and the number of its last event on return. */
static void fix_block(struct file *file, size_t off, size_t room, uint64_t number,
                      uint64_t *seq)
{
    unsigned char *at = file->bytes + off;
    uint32_t used = tts_get32(at + TTS_REC_COMMIT_OFF);
    struct tts_rec_block block = {.kind = file->is_packed && at[4] == 2 ? 2 : 1,
                                  .packing = file->is_packed ? at[5] % 2 : 0,
                                  .has_keyframe = at[6] % 3 == 1,
                                  .in_keyframe = at[6] % 3 == 2,
                                  .number = number,
                                  .seq =
                                      number > 0 ? *seq : tts_get64(at + 16) % TTS_FOLD_SEQ_MAX,
                                  .tick = tts_get64(at + 24),
                                  .time_ns = tts_get64(at + 32),
                                  .place_bytes = file->is_packed ? room : file->place_bytes};
    if (used > room - HEAD)
        used = (uint32_t)(room - HEAD);
    tts_rec_block_put(&block, at);
    tts_put64(at + TTS_REC_COMMIT_OFF,
              (uint64_t)check_of(at + HEAD, used, number) << 32 | used);
    if (block.kind == TTS_REC_INDEX)
        file->index_off = off;
    else
        *seq = block.seq + count_events(file, &block, at + HEAD, used);
}

static bool is_empty(const unsigned char *at)
{
    static const unsigned char zeros[HEAD];
    return memcmp(at, zeros, HEAD) == 0;
}

/* Corrects one block after another; in a black box in the order of their places. */
static void fix_live(struct file *file)
{
    uint64_t seq = 0, first = file->places ? tts_get64(file->bytes + HEADER + 8) % 8 : 0;
    for (uint64_t i = 0; i < (file->places ? file->places : BLOCKS_MAX); i++) {
        uint64_t number = first + i, place = file->places ? number % file->places : number;
        size_t off = HEADER + place * file->place_bytes;
        if (off + HEAD > file->len || is_empty(file->bytes + off))
            break;
        size_t left = file->len - off;
        fix_block(file, off, left < file->place_bytes ? left : file->place_bytes, number, &seq);
        file->blocks = number + 1;
    }
}

static void fix_packed(struct file *file)
{
    uint64_t seq = 0, number = 0;
    for (size_t off = HEADER; off + HEAD <= file->len && number < BLOCKS_MAX; number++) {
        size_t room = tts_get64(file->bytes + off + 40) % FILE_BYTES, left = file->len - off;
        room = room < HEAD || room > left ? left : room;
        fix_block(file, off, room, number, &seq);
        if (file->index_off)
            break;
        file->blocks = number + 1;
        off += room;
    }
}

static void fix(struct file *file)
{
    file->blocks = file->index_off = 0;
    fix_header(file);
    if (file->is_packed)
        fix_packed(file);
    else
        fix_live(file);
    fix_state(file, 0);
    fix_state(file, 1);
}

/* --- checks ----------------------------------------------------------------------------- */

struct sums {
    uint32_t ids[DEVICES_MAX];
    uint64_t bytes[DEVICES_MAX][TTS_POOLS]; /* sums modulo 2^64 */
    size_t count;
};

static uint64_t *sum_of(struct sums *sums, uint32_t device, enum tts_pool pool)
{
    size_t i = 0;
    while (i < sums->count && sums->ids[i] != device)
        i++;
    if (i == DEVICES_MAX)
        stop("there are more devices than ttscope can follow were", "");
    if (i == sums->count)
        sums->ids[sums->count++] = device;
    return &sums->bytes[i][pool];
}

static uint64_t bytes_of(enum tts_pool pool, uint64_t size_bytes, uint64_t bytes_per_bank)
{
    return tts_pool_is_l1(pool) ? bytes_per_bank : size_bytes;
}

struct run {
    struct tts_recfile *file;
    struct tts_follow *follow;
    struct sums sums; /* live bytes, minus those of the first keyframe, minus unknown frees */
    uint64_t seq;
    bool has_seq, has_chips, in_keyframe;
    bool crosses_gaps;
};

/* Subtracts the bytes that a free of an unknown buffer removes. */
static void note_free(struct run *run, const struct tts_event *event)
{
    struct tts_live live;
    if (event->kind == TTS_EVENT_FREE && event->size_bytes > 0 &&
        !tts_follow_find(run->follow, event->device, event->id, &live))
        *sum_of(&run->sums, event->device, event->pool) -=
            bytes_of(event->pool, event->size_bytes, event->bytes_per_bank);
}

/* Adds or subtracts the live buffers. Buffers of the first keyframe belong to no phase. */
static void note_live(struct run *run, int64_t sign)
{
    static struct tts_live live[256];
    size_t count = tts_fold_collect(tts_follow_fold(run->follow), live, 256);
    for (size_t i = 0; i < count; i++)
        *sum_of(&run->sums, live[i].device, live[i].pool) +=
            (uint64_t)sign * bytes_of(live[i].pool, live[i].size_bytes, live[i].bytes_per_bank);
}

static void check_item(struct run *run, const struct tts_item *item)
{
    bool is_event = item->kind == TTS_ITEM_EVENT;
    if (run->has_seq && item->seq != run->seq + is_event)
        stop("events do not count up by one", "");
    run->seq = item->seq;
    run->has_seq = true;
    run->has_chips |= item->kind == TTS_ITEM_CHIP;
    if (is_event && tts_event_check(&item->event, NULL) != TTS_OK)
        stop("an event that cannot be", "");
    if (!item->has_time)
        stop("an item without a time", "");
}

/* Checks for each device that the live buffers are those that were allocated and not freed. */
static void check_whole(struct run *run)
{
    const struct tts_phase *whole;
    struct tts_tracker_health health;
    tts_fold_health(tts_follow_fold(run->follow), &health);
    note_live(run, 1);
    if (tts_follow_end(run->follow, &whole, NULL) != TTS_OK)
        stop("the whole has no end", "");
    for (size_t i = 0; i < whole->device_count && !run->has_chips && !health.unlisted; i++)
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            const struct tts_pool_usage *usage = &whole->devices[i].usage.pools[pool];
            uint64_t change = (uint64_t)usage->allocated_bytes - (uint64_t)usage->freed_bytes;
            if (change != *sum_of(&run->sums, whole->devices[i].device, (enum tts_pool)pool))
                stop("what was allocated and not freed is not what lives", "");
        }
}

static void check_error(const struct tts_error *err, enum tts_status status)
{
    if (err->status != status || err->text[0] == '\0')
        stop("an error without words", err->text);
    for (const char *c = err->text; *c; c++)
        if (*c < ' ' || *c > '~')
            stop("an error that cannot be shown", err->text);
}

static enum tts_status take_known(void *ctx, const struct tts_item *item)
{
    struct tts_follow *follow = ctx;
    return tts_follow_item(follow, item, NULL);
}

/* Continues after damage as long as a keyframe follows. */
static void cross_gaps(struct run *run)
{
    struct tts_resync *resync = NULL;
    struct tts_item item;
    uint64_t missing, seq = tts_fold_seq(tts_follow_fold(run->follow));
    enum tts_status status = tts_resync_new(NULL, &resync);
    item = (struct tts_item){.kind = TTS_ITEM_KEYFRAME_END, .seq = seq};
    if (status == TTS_OK && run->in_keyframe)
        status = tts_follow_item(run->follow, &item, NULL);
    while (status == TTS_OK && tts_recfile_resume(run->file, &missing) == TTS_OK) {
        bool in_gap = true;
        while (status == TTS_OK && tts_recfile_next(run->file, &item, NULL) == TTS_OK) {
            if (item.seq < seq)
                stop("events go back behind a gap", "");
            seq = item.seq;
            if (!in_gap || item.kind == TTS_ITEM_NAME) {
                status = tts_follow_item(run->follow, &item, NULL);
            } else if (item.kind == TTS_ITEM_KEYFRAME_END) {
                in_gap = false;
                status =
                    tts_resync_tell(resync, run->follow, item.seq, take_known, run->follow);
            } else if (item.kind != TTS_ITEM_KEYFRAME) {
                status = tts_resync_take(resync, &item);
            }
        }
    }
    tts_resync_free(resync);
}

/* Follows the file until its end, damage, or an item that the follower refuses. */
static void follow(struct run *run)
{
    struct tts_item item;
    struct tts_error err = {0};
    enum tts_status status;
    uint64_t time_ns = 0;
    bool has_begun = false;
    while ((status = tts_recfile_next(run->file, &item, &err)) == TTS_OK) {
        check_item(run, &item);
        if (item.time_ns < time_ns)
            stop("time falls", "");
        time_ns = item.time_ns;
        if (item.kind == TTS_ITEM_EVENT)
            note_free(run, &item.event);
        if (tts_follow_item(run->follow, &item, &err) != TTS_OK) {
            check_error(&err, err.status);
            return; /* the refused item may be missing in the totals */
        }
        bool is_moment = item.kind == TTS_ITEM_KEYFRAME_END && !has_begun;
        if (is_moment)
            note_live(run, -1);
        has_begun |= is_moment || (item.kind != TTS_ITEM_KEYFRAME && !run->in_keyframe);
        run->in_keyframe = item.kind == TTS_ITEM_KEYFRAME ||
                           (run->in_keyframe && item.kind != TTS_ITEM_KEYFRAME_END);
    }
    if (status != TTS_E_NOT_FOUND)
        check_error(&err, status);
    if (run->seq % WALK_RUNS == 0 && !tts_fold_is_valid(tts_follow_fold(run->follow)))
        stop("what is followed does not hold together", "");
    if (status == TTS_E_SYNTAX && run->crosses_gaps)
        cross_gaps(run);
    else if (has_begun || !run->in_keyframe)
        check_whole(run);
}

/* Seeks to an event. The position must be before the event and readable. */
static void seek(struct run *run, uint64_t seq)
{
    struct tts_item item;
    struct tts_error err = {0};
    enum tts_status status = tts_recfile_seek(run->file, seq, &err);
    if (status != TTS_OK) {
        check_error(&err, status);
        return;
    }
    for (int i = 0; i < 4; i++) {
        status = tts_recfile_next(run->file, &item, &err);
        if (i == 0 && status == TTS_OK && item.seq > seq + (item.kind == TTS_ITEM_EVENT))
            stop("a seek went too far", "");
    }
}

/* --- one input -------------------------------------------------------------------------- */

static void run_file(const char *path, uint64_t seek_seq)
{
    static const struct tts_follow_config config = {
        .limits = {.live_max = 256, .devices_max = DEVICES_MAX, .ops_max = 16}};
    struct run run = {0};
    struct tts_error err = {0};
    enum tts_status status = tts_recfile_open(path, &reuse_alloc, &run.file, &err);
    if (status != TTS_OK) {
        check_error(&err, status);
        return;
    }
    if (tts_follow_new(&config, &reuse_alloc, &run.follow, &err) != TTS_OK)
        stop("no follower", err.text);
    run.crosses_gaps = seek_seq % 2 == 1;
    follow(&run);
    seek(&run, run.seq);
    seek(&run, tts_recfile_info(run.file)->first_seq + seek_seq);
    tts_follow_free(run.follow);
    tts_recfile_close(run.file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct file file;
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("recording", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    file.len = len < FILE_BYTES ? len : FILE_BYTES;
    memcpy(file.bytes, bytes, file.len);
    if (file.len >= HEADER)
        fix(&file);
    if (fd < 0 || ftruncate(fd, (off_t)file.len) != 0 ||
        pwrite(fd, file.bytes, file.len, 0) != (ssize_t)file.len)
        stop("no file in memory", "");
    run_file(path, len > 0 ? bytes[len - 1] : 0);
    return 0;
}
