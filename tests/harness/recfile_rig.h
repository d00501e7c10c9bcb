/* recfile_rig.h: writes recordings block by block without a recorder, reads them back, and
 * compares the items. */
#pragma once

#include "base/bytes.h"
#include "harness/story.h"
#include "model/follow.h"
#include "model/recording/recenc.h"
#include "model/recording/recfile.h"
#include "model/recording/recpack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- memory ---- */

/* Most of a large block is never touched, and a sanitizer would need much time for it. So large
 * blocks come from mmap(), and the block freed last is used again. Small blocks come from
 * malloc(). */
enum { THRIFT_LARGE = 1 << 17, THRIFT_KEPT = 1 << 20 };

static struct {
    void *memory;
    size_t bytes;
} thrift_kept;

static inline void *thrift_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    if (bytes < THRIFT_LARGE)
        return malloc(bytes);
    void *memory = thrift_kept.memory;
    if (memory && thrift_kept.bytes == bytes) {
        thrift_kept.memory = NULL;
        return memory;
    }
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static inline void thrift_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    if (bytes < THRIFT_LARGE) {
        free(memory);
    } else if (!thrift_kept.memory && bytes < THRIFT_KEPT) {
        thrift_kept.memory = memory;
        thrift_kept.bytes = bytes;
    } else {
        munmap(memory, bytes);
    }
}

static inline void *thrift_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    void *moved = thrift_alloc(ctx, bytes);
    if (!moved)
        return NULL;
    memcpy(moved, memory, old_bytes < bytes ? old_bytes : bytes);
    thrift_free(ctx, memory, old_bytes);
    return moved;
}

static const struct tts_alloc thrift = {thrift_alloc, thrift_resize, thrift_free, NULL};

/* ---- writing ---- */

enum { IMAGE_UNIT_NS = 100 };

/* The bytes of a recording in its live form. */
struct image {
    unsigned char *bytes;
    size_t capacity;
    struct tts_rec_header header;
    struct tts_rec_state state;
    struct tts_recenc enc;
    uint64_t seq, first_seq;
};

static inline uint64_t image_tick(const struct image *image, uint64_t time_ns)
{
    return (time_ns - image->header.start_ns) / IMAGE_UNIT_NS;
}

static inline void image_state(struct image *image, enum tts_rec_state_kind kind)
{
    image->state.kind = kind;
    image->state.generation++;
    tts_rec_state_put(&image->state, image->bytes);
}

static inline void image_begin(struct image *image, uint64_t place_bytes, uint64_t places,
                               size_t blocks_max)
{
    memset(image, 0, sizeof *image);
    image->capacity = TTS_REC_HEADER_BYTES + blocks_max * place_bytes;
    image->bytes = calloc(1, image->capacity);
    T_TRUE(image->bytes != NULL);
    image->header = (struct tts_rec_header){.kind = TTS_REC_LIVE,
                                            .place_bytes = place_bytes,
                                            .places = places,
                                            .start_ns = 1000000,
                                            .start_realtime_ns = 1700000000000000000,
                                            .unit_scale = (uint64_t)IMAGE_UNIT_NS << 32,
                                            .pid = 4711,
                                            .program = "story",
                                            .writer = "0.0.1"};
    tts_rec_header_put(&image->header, image->bytes);
    image_state(image, TTS_REC_RECORDING);
}

static inline void image_done(struct image *image)
{
    free(image->bytes);
}

static inline size_t image_off(const struct image *image, uint64_t number)
{
    uint64_t place = image->header.places ? number % image->header.places : number;
    return TTS_REC_HEADER_BYTES + place * image->header.place_bytes;
}

static inline uint64_t *image_commit(struct image *image, uint64_t number)
{
    return (void *)(image->bytes + image_off(image, number) + TTS_REC_COMMIT_OFF);
}

/* Begins the next block with the given time. */
static inline void image_block(struct image *image, uint64_t time_ns, bool has_keyframe,
                               bool in_keyframe)
{
    uint64_t number = image->state.blocks, tick = image_tick(image, time_ns);
    unsigned char *at = image->bytes + image_off(image, number);
    struct tts_rec_block block = {.kind = TTS_REC_ITEMS,
                                  .has_keyframe = has_keyframe,
                                  .in_keyframe = in_keyframe,
                                  .number = number,
                                  .seq = image->seq,
                                  .tick = tick,
                                  .time_ns = image->header.start_ns + tick * IMAGE_UNIT_NS,
                                  .place_bytes = image->header.place_bytes};
    T_TRUE(image_off(image, number) + image->header.place_bytes <= image->capacity);
    *image_commit(image, number) = 0;
    tts_rec_block_put(&block, at);
    tts_recenc_begin(&image->enc, at + TTS_REC_BLOCK_HEADER_BYTES,
                     image->header.place_bytes - TTS_REC_BLOCK_HEADER_BYTES,
                     image_commit(image, number), number, tick);
    image->state.blocks++;
    image_state(image, TTS_REC_RECORDING);
}

static inline bool image_fits(struct image *image, const struct tts_item *item)
{
    bool is_unseen = item->kind == TTS_ITEM_EVENT && item->event.kind == TTS_EVENT_FREE &&
                     item->event.size_bytes > 0;
    if (!tts_recenc_item(&image->enc, item, is_unseen, image_tick(image, item->time_ns)))
        return false;
    image->seq = item->seq;
    return true;
}

/* Writes an item to the current block. If the item does not fit, begins the next block
 * first. */
static inline void image_item(struct image *image, const struct tts_item *item)
{
    if (image->state.blocks == 0)
        image_block(image, item->time_ns, false, false);
    if (image_fits(image, item))
        return;
    image_block(image, item->time_ns, false, false);
    T_TRUE(image_fits(image, item));
}

static inline size_t image_used(const struct image *image)
{
    uint64_t number = image->state.blocks;
    if (image->header.places || number == 0)
        return image->capacity;
    return image_off(image, number - 1) + TTS_REC_BLOCK_HEADER_BYTES +
           tts_recenc_used(&image->enc);
}

static inline void image_end(struct image *image)
{
    image->state.events = image->seq - image->first_seq;
    image_state(image, TTS_REC_ENDED);
}

static inline void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *out = fopen(path, "wb");
    T_TRUE(out != NULL);
    T_EQ(fwrite(bytes, 1, len, out), len);
    T_EQ(fclose(out), 0);
}

/* Writes the image to a file. The file of a recording that was not ended has one place more
 * than the recording needs, because a recorder reserves places before it needs them. */
static inline void image_write(const struct image *image, const char *path)
{
    size_t reserved = image_off(image, image->state.blocks + 1);
    bool is_cut = image->state.kind == TTS_REC_ENDED;
    write_file(path, image->bytes,
               is_cut                                               ? image_used(image)
               : image->header.places || reserved > image->capacity ? image->capacity
                                                                    : reserved);
}

/* Makes an image with `count` items of a story. */
static inline void image_of(struct image *image, uint64_t seed, uint32_t count,
                            uint64_t place_bytes)
{
    static struct story story;
    struct tts_item item;
    image_begin(image, place_bytes, 0, 8 + (size_t)count * 64 / place_bytes);
    story_begin(&story, seed, 64);
    for (uint32_t i = 0; i < count; i++) {
        story_next(&story, &item);
        image_item(image, &item);
    }
}

/* ---- items as checksums ---- */

static inline uint64_t sum_u64(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

static inline uint64_t sum_text(uint64_t sum, const char *text, size_t len)
{
    sum = sum_u64(sum, len);
    for (size_t i = 0; i < len; i++)
        sum = sum_u64(sum, (unsigned char)text[i]);
    return sum;
}

static inline uint64_t sum_failure(uint64_t sum, const struct tts_failure *f)
{
    const uint64_t fields[] = {f->kind,       f->pool,  f->requested_bytes,
                               f->need_bytes, f->banks, f->largest_free_bytes};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        sum = sum_u64(sum, fields[i]);
    return sum;
}

static inline uint64_t sum_event(uint64_t sum, const struct tts_event *e)
{
    const uint64_t fields[] = {
        e->kind,       e->device,         e->pool,        e->borrowed,    e->id,
        e->size_bytes, e->bytes_per_bank, e->block_bytes, e->range_count, e->has_address,
        e->address,    e->page_bytes,     e->cores,       e->placement};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        sum = sum_u64(sum, fields[i]);
    for (size_t i = 0; i < e->range_count; i++)
        sum =
            sum_u64(sum, e->ranges[i].x0 | (uint64_t)e->ranges[i].y0 << 16 |
                             (uint64_t)e->ranges[i].x1 << 32 | (uint64_t)e->ranges[i].y1 << 48);
    if (e->kind == TTS_EVENT_OP_BEGIN)
        sum = sum_text(sum, e->name, e->name_len);
    return e->kind == TTS_EVENT_FAILURE ? sum_failure(sum, e->failure) : sum;
}

static inline uint64_t sum_op(uint64_t sum, const struct tts_item_op *op)
{
    sum = sum_u64(sum, op->hash);
    return op->hash ? sum_text(sum, op->name, op->name_len) : sum;
}

/* Returns a checksum of all fields that an item of its kind has, without the time. */
static inline uint64_t sum_item(const struct tts_item *item)
{
    uint64_t sum = sum_u64(sum_u64(1, item->kind), item->seq);
    switch ((int)item->kind) {
    case TTS_ITEM_EVENT:
        if (item->event.kind == TTS_EVENT_OP_BEGIN || item->event.kind == TTS_EVENT_OP_END)
            sum = sum_u64(sum, item->thread);
        return sum_event(sum_op(sum, &item->op), &item->event);
    case TTS_ITEM_NAME:
        return sum_op(sum, &item->op);
    case TTS_ITEM_CHIP:
        return sum_u64(sum_u64(sum, item->device), item->mesh);
    case TTS_ITEM_CUT:
        return sum_text(sum_u64(sum, item->capture), item->name, item->name_len);
    case TTS_ITEM_BEGIN:
    case TTS_ITEM_END:
        return sum_u64(sum, item->capture);
    default:
        return sum_u64(sum, item->count);
    }
}

/* ---- reading ---- */

/* The items that were read from a file, as checksums and times. */
struct gist {
    uint64_t *sums, *times;
    size_t count, capacity;
    enum tts_status status; /* the status that ended the reading */
    struct tts_error err;
};

static inline void gist_add(struct gist *gist, const struct tts_item *item)
{
    if (gist->count == gist->capacity) {
        gist->capacity = gist->capacity * 2 + 256;
        gist->sums = realloc(gist->sums, gist->capacity * sizeof *gist->sums);
        gist->times = realloc(gist->times, gist->capacity * sizeof *gist->times);
        T_TRUE(gist->sums && gist->times);
    }
    gist->sums[gist->count] = sum_item(item);
    gist->times[gist->count++] = item->time_ns;
}

static inline void gist_done(struct gist *gist)
{
    free(gist->sums);
    free(gist->times);
}

/* Returns true if the item is compared. Names and items of keyframes are not, because a writer
 * may put them anywhere. */
static inline bool is_told(const struct tts_item *item, bool *in_keyframe)
{
    bool was_in = *in_keyframe;
    if (item->kind == TTS_ITEM_KEYFRAME)
        *in_keyframe = true;
    if (item->kind == TTS_ITEM_KEYFRAME_END)
        *in_keyframe = false;
    return !was_in && item->kind != TTS_ITEM_KEYFRAME && item->kind != TTS_ITEM_NAME;
}

/* Reads from the current position to the end of the file. */
static inline void gist_rest(struct gist *gist, struct tts_recfile *file)
{
    struct tts_item item;
    bool in_keyframe = false;
    while ((gist->status = tts_recfile_next(file, &item, &gist->err)) == TTS_OK)
        if (is_told(&item, &in_keyframe))
            gist_add(gist, &item);
}

static inline struct gist gist_of_file(const char *path)
{
    struct gist gist = {0};
    struct tts_recfile *file;
    gist.status = tts_recfile_open(path, &thrift, &file, &gist.err);
    if (gist.status != TTS_OK)
        return gist;
    gist_rest(&gist, file);
    tts_recfile_close(file);
    return gist;
}

static inline struct gist gist_of_story(uint64_t seed, uint32_t count)
{
    static struct story story;
    struct tts_item item;
    struct gist gist = {.status = TTS_E_NOT_FOUND};
    story_begin(&story, seed, 64);
    for (uint32_t i = 0; i < count; i++) {
        story_next(&story, &item);
        gist_add(&gist, &item);
    }
    return gist;
}

/* Checks that the items of `got` are the first items of `all`. A time may differ by one
 * unit. */
static inline void check_prefix(const struct gist *got, const struct gist *all)
{
    T_TRUE(got->count <= all->count);
    for (size_t i = 0; i < got->count; i++) {
        T_EQ(got->sums[i], all->sums[i]);
        uint64_t a = got->times[i], b = all->times[i];
        T_TRUE((a > b ? a - b : b - a) <= IMAGE_UNIT_NS);
        T_TRUE(i == 0 || a >= got->times[i - 1]);
    }
}

static inline void check_same(const struct gist *got, const struct gist *all)
{
    T_EQ(got->status, all->status);
    T_EQ(got->count, all->count);
    check_prefix(got, all);
}

static inline void check_error(const struct tts_error *err, enum tts_status status)
{
    T_EQ(err->status, status);
    T_TRUE(err->text[0] != '\0');
}

/* Checks that reading a damaged file returns all items, or the first ones and then an error
 * with a place. */
static inline void check_damaged(const char *path, const struct gist *all)
{
    struct gist got = gist_of_file(path);
    check_prefix(&got, all);
    if (got.status == TTS_E_NOT_FOUND) {
        T_EQ(got.count, all->count);
    } else {
        T_TRUE(got.status == TTS_E_SYNTAX || got.status == TTS_E_RANGE);
        check_error(&got.err, got.status);
        const char *text = got.err.text; /* must name the block and its byte, or the header */
        T_TRUE(strstr(text, "at byte") || strstr(text, "header") || strstr(text, "recording"));
    }
    gist_done(&got);
}

/* Checks all files that differ from the file at `path` in one byte. */
static inline void check_flips(const char *path)
{
    struct stat info;
    struct gist all = gist_of_file(path);
    T_EQ(stat(path, &info), 0);
    int fd = open(path, O_RDWR);
    T_TRUE(fd >= 0 && all.status == TTS_E_NOT_FOUND);
    for (off_t i = 0; i < info.st_size; i++) {
        unsigned char was, is;
        T_EQ(pread(fd, &was, 1, i), 1);
        is = (unsigned char)(was ^ (1 + i * 7 % 255));
        T_EQ(pwrite(fd, &is, 1, i), 1);
        check_damaged(path, &all);
        T_EQ(pwrite(fd, &was, 1, i), 1);
    }
    close(fd);
    gist_done(&all);
}

/* Checks the file at `path` truncated to every possible length. The file is empty afterwards.
 */
static inline void check_cuts(const char *path)
{
    struct stat info;
    struct gist all = gist_of_file(path);
    T_EQ(stat(path, &info), 0);
    T_TRUE(all.status == TTS_E_NOT_FOUND);
    for (off_t len = info.st_size - 1; len >= 0; len--) {
        T_EQ(truncate(path, len), 0);
        check_damaged(path, &all);
    }
    gist_done(&all);
}

/* ---- packing ---- */

static inline enum tts_status pack_file(const char *from, const char *to,
                                        const struct tts_alloc *alloc, struct tts_error *err)
{
    struct tts_recfile *file = NULL;
    struct tts_recpack *pack = NULL;
    struct tts_item item;
    FILE *out = fopen(to, "w+b");
    T_TRUE(out != NULL);
    alloc = alloc ? alloc : &thrift;
    enum tts_status status = tts_recfile_open(from, alloc, &file, err);
    if (status == TTS_OK)
        status = tts_recpack_new(out, &tts_recfile_info(file)->header, alloc, &pack, err);
    while (status == TTS_OK && (status = tts_recfile_next(file, &item, err)) == TTS_OK)
        status = tts_recpack_item(pack, &item, err);
    if (status == TTS_E_NOT_FOUND)
        status = tts_recpack_end(pack, &tts_recfile_info(file)->state, err);
    tts_recpack_free(pack);
    tts_recfile_close(file);
    fclose(out);
    return status;
}
