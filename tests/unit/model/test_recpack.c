/* Tests packed recordings: they have the same items and figures, and can be read quickly from
 * any moment on. */
#include "harness/item_rig.h"
#include "harness/once.h"
#include "harness/recfile_rig.h"
#include "model/recording/recpack_inside.h"
#include "torture/heap.h"

enum { PLACE = 4096, ITEMS = 900, LONG = 160000, LONG_LIVE = 600 };

/* ---- folded ---- */

/* A checksum of everything that a follower reports about a file. */
struct folded {
    uint64_t sum, phases;
};

static uint64_t sum_pool(uint64_t sum, const struct tts_pool_usage *pool)
{
    const int64_t fields[] = {pool->peak_bytes, pool->allocated_bytes, pool->freed_bytes,
                              pool->cumulative_peak_bytes, pool->cumulative_current_bytes};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        sum = sum_u64(sum, (uint64_t)fields[i]);
    return sum_u64(sum_u64(sum, pool->allocations), pool->frees);
}

static uint64_t sum_usage(uint64_t sum, const struct tts_usage *usage)
{
    for (int pool = 0; pool < TTS_POOLS; pool++)
        sum = sum_pool(sum, &usage->pools[pool]);
    sum = sum_u64(sum_u64(sum, usage->programs), usage->ops);
    sum = sum_u64(sum_u64(sum, usage->traces), usage->traced_bytes);
    sum = sum_u64(sum_u64(sum, usage->core.bytes), usage->core.seq);
    sum = sum_u64(sum_u64(sum, usage->core.known), usage->core.at_least);
    sum = sum_u64(sum, (uint64_t)usage->peak_total_bytes);
    for (size_t i = 0; i < usage->core.part_count; i++) {
        const struct tts_core_part *part = &usage->core.parts[i];
        sum = sum_u64(sum_u64(sum, part->id), part->bytes);
        if (part->op)
            sum = sum_text(sum, part->op, strlen(part->op));
    }
    return sum;
}

static uint64_t sum_phase(uint64_t sum, const struct tts_phase *phase)
{
    sum = sum_text(sum, phase->name, strlen(phase->name));
    sum = sum_usage(sum_u64(sum, phase->events), &phase->usage);
    for (size_t i = 0; i < phase->device_count; i++)
        sum = sum_usage(sum_u64(sum, phase->devices[i].device), &phase->devices[i].usage);
    return sum;
}

static void on_phase(void *ctx, uint32_t capture, const struct tts_phase *phase,
                     bool is_partial)
{
    struct folded *folded = ctx;
    folded->phases++;
    folded->sum = sum_u64(sum_u64(folded->sum, capture), is_partial);
    folded->sum = sum_phase(folded->sum, phase);
}

static uint64_t sum_ranges(uint64_t sum, const struct tts_event *event)
{
    for (size_t i = 0; i < event->range_count; i++) {
        struct tts_core_range r = event->ranges[i];
        sum = sum_u64(sum_u64(sum, r.x0 * 256u + r.y0), r.x1 * 256u + r.y1);
    }
    return sum;
}

/* The buffers come in no particular order, so their hashes are added up. */
static bool add_item(void *ctx, const struct tts_item *item)
{
    const struct tts_live *live = &item->live;
    uint64_t *total = ctx, sum = sum_u64(1, item->kind);
    const uint64_t fields[] = {
        item->seq,          item->count,           item->device,         item->mesh,
        live->id,           live->size_bytes,      live->bytes_per_bank, live->block_bytes,
        live->seq,          live->device,          live->pool,           item->event.kind,
        item->event.device, item->event.size_bytes};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        sum = sum_u64(sum, fields[i]);
    *total += sum_op(sum_ranges(sum, &item->event), &item->op);
    return true;
}

/* Returns a checksum of the state at a moment. */
static uint64_t sum_moment(const struct tts_follow *follow)
{
    uint64_t total = 0;
    T_TRUE(tts_fold_tell(tts_follow_fold(follow), add_item, &total));
    return total;
}

static struct tts_follow *new_follow(struct folded *folded)
{
    struct tts_follow *follow = NULL;
    struct tts_follow_config config = {
        .limits = {.live_max = 1 << 19}, .on_phase = on_phase, .ctx = folded};
    T_EQ(tts_follow_new(&config, &thrift, &follow, NULL), TTS_OK);
    return follow;
}

/* Returns a checksum of all figures of the file. */
static struct folded fold_file(const char *path)
{
    struct folded folded = {.sum = 1};
    struct tts_recfile *file;
    struct tts_item item;
    const struct tts_phase *whole;
    struct tts_follow *follow = new_follow(&folded);
    T_EQ(tts_recfile_open(path, NULL, &file, NULL), TTS_OK);
    while (tts_recfile_next(file, &item, NULL) == TTS_OK)
        T_EQ(tts_follow_item(follow, &item, NULL), TTS_OK);
    folded.sum = sum_u64(folded.sum, sum_moment(follow));
    T_EQ(tts_follow_end(follow, &whole, NULL), TTS_OK);
    folded.sum = sum_phase(folded.sum, whole);
    tts_follow_free(follow);
    tts_recfile_close(file);
    return folded;
}

/* ---- files ---- */

static const char *packed(const char *from)
{
    const char *path = t_scratch("packed.tts");
    T_EQ(pack_file(from, path, NULL, NULL), TTS_OK);
    return path;
}

static const char *live_file(uint64_t seed, uint32_t count)
{
    const char *path = t_scratch("live.tts");
    struct image image;
    image_of(&image, seed, count, PLACE);
    image_end(&image);
    image_write(&image, path);
    image_done(&image);
    return path;
}

/* Writes a long file, either of plain buffers or of items of all kinds. */
static const char *long_file(uint64_t seed, uint32_t count, bool only_plain)
{
    static struct story story;
    const char *path = t_scratch("long.tts");
    struct image image;
    struct tts_item item;
    image_begin(&image, 1 << 20, 0, 16);
    story_begin(&story, seed, LONG_LIVE);
    story.only_plain = only_plain;
    for (uint32_t i = 0; i < count; i++) {
        story_next(&story, &item);
        image_item(&image, &item);
    }
    image_end(&image);
    image_write(&image, path);
    image_done(&image);
    return path;
}

static size_t read_file(const char *path, unsigned char **out)
{
    struct stat info;
    T_EQ(stat(path, &info), 0);
    size_t len = (size_t)info.st_size;
    *out = malloc(len + 1);
    FILE *in = fopen(path, "rb");
    T_TRUE(*out && in);
    T_EQ(fread(*out, 1, len, in), len);
    fclose(in);
    return len;
}

/* ---- the same ---- */

T_TEST(a_packed_recording_has_the_same_items_and_figures)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const char *live = live_file(seed, ITEMS), *small = packed(live);
        struct gist all = gist_of_file(live), got = gist_of_file(small);
        T_EQ(all.status, TTS_E_NOT_FOUND);
        check_same(&got, &all);
        struct folded before = fold_file(live), after = fold_file(small);
        T_TRUE(before.phases > 3);
        T_EQ(before.phases, after.phases);
        T_EQ(before.sum, after.sum);
        gist_done(&all);
        gist_done(&got);
    }
}

T_TEST(a_packed_recording_is_smaller_and_says_what_it_was)
{
    struct tts_recfile *live, *small;
    const char *path = live_file(3, ITEMS);
    T_EQ(tts_recfile_open(path, NULL, &live, NULL), TTS_OK);
    T_EQ(tts_recfile_open(packed(path), NULL, &small, NULL), TTS_OK);
    const struct tts_recfile_info *was = tts_recfile_info(live), *is = tts_recfile_info(small);
    T_TRUE(is->file_bytes - TTS_REC_HEADER_BYTES <
           (was->file_bytes - TTS_REC_HEADER_BYTES) / 2);
    T_EQ(is->header.kind, TTS_REC_PACKED);
    T_EQ(is->header.start_ns, was->header.start_ns);
    T_EQ(is->header.unit_scale, was->header.unit_scale);
    T_STR_EQ(is->header.program, was->header.program);
    T_EQ(is->state.kind, TTS_REC_ENDED);
    T_EQ(is->state.events, was->state.events);
    T_TRUE(is->state_is_known && is->has_index);
    tts_recfile_close(live);
    tts_recfile_close(small);
}

static void check_repacked(const char *small, const char *again)
{
    unsigned char *once, *twice;
    T_EQ(pack_file(small, again, NULL, NULL), TTS_OK);
    size_t len = read_file(small, &once);
    T_EQ(read_file(again, &twice), len);
    T_MEM_EQ(once, twice, len);
    free(once);
    free(twice);
}

T_TEST(packed_again_it_is_the_same_to_the_byte)
{
    check_repacked(packed(live_file(4, ITEMS)), t_scratch("again.tts"));
    check_repacked(packed(long_file(9, LONG, true)), t_scratch("again.tts"));
}

T_TEST(times_are_kept_whatever_their_unit)
{
    /* Nanoseconds per unit of time: 1/3, 1, 1.5, 3.1 and 107.4. */
    static const uint64_t scales[] = {UINT64_C(1431655765), UINT64_C(1) << 32,
                                      UINT64_C(6442450944), UINT64_C(13314398618),
                                      UINT64_C(461419875123)};
    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++) {
        struct image image;
        const char *live = t_scratch("scale.tts");
        image_of(&image, 6, ITEMS, PLACE);
        image_end(&image);
        unsigned char kept[2 * TTS_REC_STATE_BYTES];
        memcpy(kept, image.bytes + TTS_REC_STATE_OFF, sizeof kept);
        image.header.unit_scale = scales[k];
        tts_rec_header_put(&image.header, image.bytes);
        memcpy(image.bytes + TTS_REC_STATE_OFF, kept, sizeof kept);
        image_write(&image, live);
        const char *small = packed(live), *again = t_scratch("again.tts");
        struct gist all = gist_of_file(live), got = gist_of_file(small);
        T_EQ(got.count, all.count);
        check_repacked(small, again);
        /* Times are exact if a unit is not longer than a nanosecond. */
        uint64_t unit_ns = scales[k] > UINT64_C(1) << 32 ? (scales[k] >> 32) + 1 : 0;
        for (size_t i = 0; i < got.count; i++)
            T_TRUE(got.times[i] + unit_ns >= all.times[i] &&
                   got.times[i] <= all.times[i] + unit_ns);
        gist_done(&all);
        gist_done(&got);
        image_done(&image);
    }
}

T_TEST(nothing_at_all_is_packed_too)
{
    struct image image;
    struct gist none = {.status = TTS_E_NOT_FOUND};
    const char *live = t_scratch("none.tts");
    image_begin(&image, PLACE, 0, 1);
    image_write(&image, live);
    struct gist got = gist_of_file(packed(live));
    check_same(&got, &none);
    struct tts_recfile *file;
    T_EQ(tts_recfile_open(t_scratch("packed.tts"), NULL, &file, NULL), TTS_OK);
    T_EQ(tts_recfile_info(file)->state.kind, TTS_REC_RECORDING);
    T_EQ(tts_recfile_seek(file, 1, NULL), TTS_E_NOT_FOUND);
    T_EQ(tts_recfile_seek(file, 0, NULL), TTS_OK);
    tts_recfile_close(file);
    image_done(&image);
}

/* ---- keyframes ---- */

/* Follows the file from its beginning. Stores a checksum of the live buffers at each of `count`
 * events, whose numbers ascend. */
static void note_live(const char *path, const uint64_t *seqs, uint64_t *sums, size_t count)
{
    struct folded folded = {0};
    struct tts_recfile *file;
    struct tts_item item;
    struct tts_follow *follow = new_follow(&folded);
    size_t at = 0;
    T_EQ(tts_recfile_open(path, NULL, &file, NULL), TTS_OK);
    while (at < count && tts_recfile_next(file, &item, NULL) == TTS_OK) {
        T_EQ(tts_follow_item(follow, &item, NULL), TTS_OK);
        while (at < count && item.kind == TTS_ITEM_EVENT && item.seq == seqs[at])
            sums[at++] = sum_moment(follow);
    }
    T_EQ(at, count);
    tts_follow_free(follow);
    tts_recfile_close(file);
}

/* Seeks to the nearest keyframe and follows the file up to event `seq`. Sets *events to the
 * number of events that were read. */
static uint64_t live_at(struct tts_recfile *file, uint64_t seq, uint64_t *events)
{
    struct folded folded = {0};
    struct tts_item item;
    struct tts_follow *follow = new_follow(&folded);
    T_EQ(tts_recfile_seek(file, seq, NULL), TTS_OK);
    *events = 0;
    while (tts_fold_seq(tts_follow_fold(follow)) < seq || *events == 0) {
        T_EQ(tts_recfile_next(file, &item, NULL), TTS_OK);
        if (item.kind == TTS_ITEM_EVENT && item.seq > seq)
            break; /* the keyframe is exactly at this event */
        T_EQ(tts_follow_item(follow, &item, NULL), TTS_OK);
        *events += item.kind == TTS_ITEM_EVENT;
    }
    uint64_t sum = sum_moment(follow);
    tts_follow_free(follow);
    return sum;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

T_TEST(a_seek_gives_what_lives_and_costs_little)
{
    enum { SEEKS = 24 };
    uint64_t seqs[SEEKS], sums[SEEKS], rng = 31, events;
    struct tts_recfile *file;
    const char *live = long_file(8, LONG, true), *small = packed(live);
    for (uint64_t i = 0; i < SEEKS; i++)
        seqs[i] = i == 5   ? 65536 /* here a block ends, and the next keyframe is due */
                  : i == 6 ? 65537
                           : 1 + i * (LONG - 20000) / SEEKS + t_random(&rng) % 1000;
    qsort(seqs, SEEKS, sizeof seqs[0], by_number);
    note_live(live, seqs, sums, SEEKS);
    T_EQ(tts_recfile_open(small, NULL, &file, NULL), TTS_OK);
    T_TRUE(tts_recfile_info(file)->has_index);
    struct tts_item item;
    T_EQ(tts_recfile_seek(file, 65536, NULL), TTS_OK);
    T_EQ(tts_recfile_next(file, &item, NULL), TTS_OK);
    T_TRUE(item.kind == TTS_ITEM_KEYFRAME && item.seq == 65536);
    for (int i = SEEKS - 1; i >= 0; i--) {
        T_EQ(live_at(file, seqs[i], &events), sums[i]);
        T_TRUE(events <= 2 * 65536);
    }
    tts_recfile_close(file);
}

/* The state after a seek includes cores, meshes and traces. */
T_TEST(a_seek_gives_all_there_is)
{
    enum { COUNT = 90000 };
    uint64_t seqs[] = {65537, 70000, 85000}, sums[3], events;
    struct tts_recfile *file;
    const char *live = long_file(12, COUNT, false), *small = packed(live);
    note_live(live, seqs, sums, 3);
    T_EQ(tts_recfile_open(small, NULL, &file, NULL), TTS_OK);
    for (int i = 0; i < 3; i++) {
        T_EQ(live_at(file, seqs[i], &events), sums[i]);
        T_EQ(events, seqs[i] - 65536);
    }
    tts_recfile_close(file);
}

/* The index is damaged, so the seek reads block by block. */
T_TEST(a_damaged_index_is_done_without)
{
    uint64_t seqs[] = {100, 70000, 131073, LONG - 20000}, sums[4], events;
    struct tts_recfile *file;
    unsigned char *bytes;
    const char *live = long_file(8, LONG, true), *small = packed(live);
    struct gist all = gist_of_file(small);
    note_live(live, seqs, sums, 4);
    size_t len = read_file(small, &bytes);
    bytes[len - 10] ^= 1;
    write_file(small, bytes, len);
    T_EQ(tts_recfile_open(small, NULL, &file, NULL), TTS_OK);
    T_TRUE(!tts_recfile_info(file)->has_index);
    for (int i = 0; i < 4; i++) {
        T_EQ(live_at(file, seqs[i], &events), sums[i]);
        T_TRUE(events <= 2 * 65536);
    }
    T_EQ(tts_recfile_seek(file, LONG + 1, NULL), TTS_E_NOT_FOUND);
    tts_recfile_close(file);
    struct gist got = gist_of_file(small);
    check_same(&got, &all);
    gist_done(&all);
    gist_done(&got);
    free(bytes);
}

T_TEST(a_capture_that_is_active_is_known_behind_a_seek)
{
    struct tts_recfile *file;
    struct tts_item item;
    uint32_t told = 0, cuts = 0;
    const char *small = packed(long_file(8, LONG, true));
    T_EQ(tts_recfile_open(small, NULL, &file, NULL), TTS_OK);
    for (uint64_t seq = 1; seq < LONG - 20000; seq += 65536) {
        struct folded folded = {0};
        struct tts_follow *follow = new_follow(&folded);
        T_EQ(tts_recfile_seek(file, seq, NULL), TTS_OK);
        while (tts_recfile_next(file, &item, NULL) == TTS_OK) {
            told += item.kind == TTS_ITEM_ACTIVE;
            cuts += item.kind == TTS_ITEM_CUT;
            T_EQ(tts_follow_item(follow, &item, NULL), TTS_OK);
        }
        tts_follow_free(follow);
    }
    T_TRUE(told > 0 && cuts > 0);
    tts_recfile_close(file);
}

/* ---- of a black box ---- */

static void put_mark(struct image *image, enum tts_item_kind kind, uint64_t count)
{
    struct tts_item item = {
        .kind = kind, .seq = image->seq, .time_ns = image->header.start_ns, .count = count};
    T_TRUE(image_fits(image, &item));
}

static struct tts_item live_item(const struct image *image, uint64_t id)
{
    struct tts_item item = {
        .kind = TTS_ITEM_LIVE, .seq = image->seq, .time_ns = image->header.start_ns};
    item.live = (struct tts_live){
        .id = id, .size_bytes = 2048 + id % 7 * 64, .seq = id, .pool = TTS_POOL_DRAM};
    return item;
}

/* Makes a file that begins with a keyframe of many buffers at event 2,000,000. The keyframe has
 * one block or several. */
static const char *keyframe_file(uint64_t buffers, int items, bool only_plain)
{
    const char *path = t_scratch("keyframe.tts");
    struct image image;
    static struct story story;
    struct tts_item item;
    image_begin(&image, 1 << 20, 0, 16);
    image.first_seq = image.seq = 2000000;
    image_block(&image, image.header.start_ns, true, false);
    put_mark(&image, TTS_ITEM_KEYFRAME, buffers);
    for (uint64_t id = 1; id <= buffers; id++) {
        item = live_item(&image, id * 3);
        if (image_fits(&image, &item))
            continue;
        image_block(&image, image.header.start_ns, false, true);
        T_TRUE(image_fits(&image, &item));
    }
    put_mark(&image, TTS_ITEM_KEYFRAME_END, 0);
    story_begin(&story, 5, 64);
    story.seq = image.seq;
    story.next_id = 10000000;
    story.only_plain = only_plain;
    for (int i = 0; i < items; i++) {
        story_next(&story, &item);
        image_item(&image, &item);
    }
    image_end(&image);
    image_write(&image, path);
    image_done(&image);
    return path;
}

T_TEST(the_keyframe_that_it_begins_with_is_kept_however_large)
{
    enum { BUFFERS = 300000 };
    struct tts_recfile *file;
    struct tts_item item;
    const char *live = keyframe_file(BUFFERS, 200, false), *small = packed(live);
    struct folded before = fold_file(live), after = fold_file(small);
    T_EQ(before.sum, after.sum);
    T_EQ(tts_recfile_open(small, NULL, &file, NULL), TTS_OK);
    T_EQ(tts_recfile_info(file)->first_seq, 2000000);
    T_TRUE(tts_recfile_info(file)->state.blocks > 1);
    T_EQ(tts_recfile_next(file, &item, NULL), TTS_OK);
    T_EQ(item.kind, TTS_ITEM_KEYFRAME);
    T_EQ(item.count, BUFFERS);
    uint64_t count = 0;
    while (tts_recfile_next(file, &item, NULL) == TTS_OK && item.kind != TTS_ITEM_KEYFRAME_END)
        count += item.kind == TTS_ITEM_LIVE;
    T_EQ(count, BUFFERS);
    T_EQ(tts_recfile_seek(file, 2000150, NULL), TTS_OK);
    T_EQ(tts_recfile_next(file, &item, NULL), TTS_OK);
    T_EQ(item.kind, TTS_ITEM_KEYFRAME);
    T_EQ(tts_recfile_seek(file, 1999999, NULL), TTS_E_NOT_FOUND);
    tts_recfile_close(file);
}

T_TEST(the_more_lives_the_fewer_keyframes_there_are)
{
    enum { BUFFERS = 150000, COUNT = BUFFERS + 2 * 65536 };
    struct tts_recfile *file;
    struct tts_item item;
    uint64_t seqs[] = {2000000 + COUNT - 20000}, sums[1], events, keyframes = 0;
    const char *live = keyframe_file(BUFFERS, COUNT, true), *small = packed(live);
    note_live(live, seqs, sums, 1);
    T_EQ(tts_recfile_open(small, NULL, &file, NULL), TTS_OK);
    T_EQ(live_at(file, seqs[0], &events), sums[0]);
    T_EQ(tts_recfile_seek(file, 2000000, NULL), TTS_OK);
    while (tts_recfile_next(file, &item, NULL) == TTS_OK)
        keyframes += item.kind == TTS_ITEM_KEYFRAME;
    T_EQ(keyframes, 1); /* this is the keyframe of the source */
    tts_recfile_close(file);
}

/* Makes a live file with random allocations and frees of `live` buffers. Ids and sizes are hard
 * to compress. */
static uint64_t churn_file(const char *path, uint64_t live, uint64_t events)
{
    static uint64_t ids[1 << 16];
    static struct image image;
    struct item_rig rig = {.has_time = true, .time_ns = 2000000};
    uint64_t rng = 9, next_id = 0;
    image_begin(&image, 4 << 20, 0, 4);
    while (rig.seq < events) {
        bool is_full = next_id >= live;
        size_t slot = is_full ? (size_t)(t_random(&rng) % live) : (size_t)next_id;
        rig.time_ns += 1000 + t_random(&rng) % 30000;
        if (is_full) {
            struct tts_item item = item_free(&rig, 0, TTS_POOL_DRAM, ids[slot]);
            image_item(&image, &item);
        }
        ids[slot] = ++next_id;
        struct tts_item item =
            item_alloc(&rig, 0, TTS_POOL_DRAM, next_id, 2048 * (1 + t_random(&rng) % 64));
        image_item(&image, &item);
    }
    image_end(&image);
    image_write(&image, path);
    uint64_t bytes = image_used(&image);
    image_done(&image);
    return bytes;
}

T_TEST(packing_makes_no_file_larger_however_much_lives)
{
    static const uint64_t lives[] = {1000, 32000, 65000};
    const char *path = t_scratch("churn.tts");
    for (size_t i = 0; i < sizeof lives / sizeof lives[0]; i++) {
        struct stat info;
        uint64_t bytes = churn_file(path, lives[i], 4 * 65536 + lives[i]);
        T_EQ(stat(packed(path), &info), 0);
        if ((uint64_t)info.st_size > bytes)
            fail_msg("%llu live: %llu bytes became %lld", (unsigned long long)lives[i],
                     (unsigned long long)bytes, (long long)info.st_size);
    }
}

/* Returns the number of keyframes in a file whose packer has memory for `live_max` buffers. */
static uint64_t keyframes_by(uint32_t live_max)
{
    static struct story story;
    const struct tts_follow_config config = {.limits.live_max = live_max};
    const struct tts_rec_header header = {.unit_scale = UINT64_C(1) << 32};
    struct tts_rec_state state_ = {.kind = TTS_REC_ENDED};
    struct tts_recpack *pack = NULL;
    struct tts_recfile *file;
    struct tts_item item;
    struct once memory;
    uint64_t count = 0;
    const char *path = t_scratch("limit.tts");
    FILE *out = fopen(path, "w+b");
    T_EQ(tts_recpack_new(out, &header, &thrift, &pack, NULL), TTS_OK);
    tts_follow_free(pack->follow);
    once_init(&memory);
    T_EQ(tts_follow_new(&config, &memory.alloc, &pack->follow, NULL), TTS_OK);
    story_begin(&story, 5, 64);
    story.only_plain = true;
    for (int i = 0; i < 70000; i++) {
        if (i == 500)
            story.live_max = 8; /* from here on few buffers are live, so memory suffices */
        story_next(&story, &item);
        memory.is_refused = item.kind == TTS_ITEM_EVENT;
        T_EQ(tts_recpack_item(pack, &item, NULL), TTS_OK);
    }
    memory.is_refused = false;
    state_.events = story.seq;
    T_EQ(tts_recpack_end(pack, &state_, NULL), TTS_OK);
    tts_recpack_free(pack);
    fclose(out);
    T_EQ(tts_recfile_open(path, NULL, &file, NULL), TTS_OK);
    while (tts_recfile_next(file, &item, NULL) == TTS_OK)
        count += item.kind == TTS_ITEM_KEYFRAME;
    tts_recfile_close(file);
    return count;
}

T_TEST(once_more_lived_than_can_be_listed_no_keyframe_is_made)
{
    T_EQ(keyframes_by(64), 1);
    T_EQ(keyframes_by(16), 0);
}

T_TEST(keyframes_that_come_later_are_left_out)
{
    struct image image;
    struct tts_item item;
    static struct story story;
    const char *live = t_scratch("later.tts");
    image_begin(&image, PLACE, 0, 64);
    story_begin(&story, 5, 64);
    for (int i = 0; i < ITEMS; i++) {
        story_next(&story, &item);
        image_item(&image, &item);
        if (i % 100 == 99) {
            /* Writes a mark that is impossible here; every reader refuses it. */
            struct tts_item mark = {
                .kind = TTS_ITEM_KEYFRAME, .seq = image.seq, .time_ns = item.time_ns};
            image_item(&image, &mark);
            mark.kind = TTS_ITEM_KEYFRAME_END;
            T_TRUE(image_fits(&image, &mark));
        }
    }
    image_end(&image);
    image_write(&image, live);
    image_done(&image);
    struct gist all = gist_of_file(live), got = gist_of_file(packed(live));
    check_same(&got, &all);
    T_EQ(fold_file(live).sum, fold_file(t_scratch("packed.tts")).sum);
    struct tts_recfile *file;
    T_EQ(tts_recfile_open(t_scratch("packed.tts"), NULL, &file, NULL), TTS_OK);
    while (tts_recfile_next(file, &item, NULL) == TTS_OK)
        T_TRUE(item.kind != TTS_ITEM_KEYFRAME);
    tts_recfile_close(file);
    gist_done(&all);
    gist_done(&got);
}

/* ---- damage ---- */

T_TEST(every_byte_changed_is_found_or_does_not_matter)
{
    check_flips(packed(live_file(11, 120)));
}

T_TEST(every_cut_is_found_or_does_not_matter)
{
    check_cuts(packed(live_file(11, 120)));
}

T_TEST(without_its_state_a_packed_file_is_read_up_to_its_index)
{
    unsigned char *bytes;
    const char *small = packed(live_file(11, ITEMS));
    struct gist all = gist_of_file(small);
    size_t len = read_file(small, &bytes);
    memset(bytes + TTS_REC_STATE_OFF, 0x22, 2 * TTS_REC_STATE_BYTES);
    write_file(small, bytes, len);
    struct gist got = gist_of_file(small);
    check_same(&got, &all);
    check_cuts(small);
    gist_done(&all);
    gist_done(&got);
    free(bytes);
}

/* ---- failures ---- */

T_TEST(what_cannot_be_is_refused_and_what_was_before_stays)
{
    static struct story story;
    struct tts_item item, bad;
    struct tts_recpack *pack = NULL;
    struct tts_error err = {0};
    struct tts_rec_header header = {.kind = TTS_REC_LIVE, .unit_scale = UINT64_C(1) << 32};
    struct tts_rec_state state_ = {.kind = TTS_REC_ENDED};
    const char *path = t_scratch("refused.tts");
    FILE *out = fopen(path, "w+b");
    T_EQ(tts_recpack_new(out, &header, NULL, &pack, NULL), TTS_OK);
    story_begin(&story, 5, 64);
    struct gist all = {.status = TTS_E_NOT_FOUND};
    for (int i = 0; i < 100; i++) {
        story_next(&story, &item);
        T_EQ(tts_recpack_item(pack, &item, NULL), TTS_OK);
        gist_add(&all, &item);
        bad = (struct tts_item){.kind = TTS_ITEM_CUT, .seq = item.seq, .capture = 99};
        T_EQ(tts_recpack_item(pack, &bad, &err), TTS_E_INVALID);
        check_error(&err, TTS_E_INVALID);
    }
    state_.events = story.seq;
    T_EQ(tts_recpack_end(pack, &state_, NULL), TTS_OK);
    tts_recpack_free(pack);
    tts_recpack_free(NULL);
    fclose(out);
    struct gist got = gist_of_file(path);
    check_same(&got, &all);
    gist_done(&got);
    gist_done(&all);
}

T_TEST(a_full_disk_is_told)
{
    struct tts_error err = {0};
    enum tts_status status = pack_file(long_file(8, 70000, true), "/dev/full", NULL, &err);
    T_EQ(status, TTS_E_IO);
    check_error(&err, TTS_E_IO);
    T_TRUE(strstr(err.text, "no space"));
}

/* A heap that checks small allocations. Large ones are not filled, because most of their memory
 * is never touched. */
struct thrifty {
    struct tts_alloc alloc;
    struct heap heap;
    uint64_t calls, fail_at;
};
enum { LARGE = 1 << 21 };

static void *thrifty_alloc(void *ctx, size_t bytes)
{
    struct thrifty *thrifty = ctx;
    if (++thrifty->calls == thrifty->fail_at)
        return NULL;
    return bytes >= LARGE ? thrift_alloc(NULL, bytes)
                          : thrifty->heap.alloc.alloc(&thrifty->heap, bytes);
}

static void thrifty_free(void *ctx, void *memory, size_t bytes)
{
    struct thrifty *thrifty = ctx;
    if (bytes >= LARGE)
        thrift_free(NULL, memory, bytes);
    else
        thrifty->heap.alloc.free(&thrifty->heap, memory, bytes);
}

static void *thrifty_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    void *moved = thrifty_alloc(ctx, bytes);
    if (!moved)
        return NULL;
    memcpy(moved, memory, old_bytes < bytes ? old_bytes : bytes);
    thrifty_free(ctx, memory, old_bytes);
    return moved;
}

T_TEST(without_memory_it_says_so_and_gives_all_back)
{
    const char *live = long_file(29, 70000, true), *small = t_scratch("packed.tts");
    bool was_done = false;
    for (uint64_t n = 1; !was_done; n++) {
        struct thrifty thrifty = {.alloc = {thrifty_alloc, thrifty_resize, thrifty_free, NULL}};
        struct tts_error err = {0};
        thrifty.alloc.ctx = &thrifty;
        thrifty.fail_at = n;
        heap_init(&thrifty.heap);
        enum tts_status status = pack_file(live, small, &thrifty.alloc, &err);
        was_done = thrifty.calls < n;
        T_EQ(status, was_done ? TTS_OK : TTS_E_NOMEM);
        if (!was_done)
            check_error(&err, TTS_E_NOMEM);
        T_TRUE(heap_is_settled(&thrifty.heap));
    }
    struct gist all = gist_of_file(live), got = gist_of_file(small);
    check_same(&got, &all);
    gist_done(&all);
    gist_done(&got);
}

/* Packs `from` into `to`. Memory runs out when the figures are stored. Returns the room for the
 * figures. */
static uint64_t room_for_figures(const char *from, const char *to, uint64_t *bytes)
{
    static const unsigned char figures[1000];
    struct thrifty thrifty = {.alloc = {thrifty_alloc, thrifty_resize, thrifty_free, NULL}};
    struct heap *heap = &thrifty.heap;
    struct tts_recfile *file;
    struct tts_recpack *pack;
    struct tts_item item;
    bool is_stored = true;
    FILE *out = fopen(to, "w+b");
    thrifty.alloc.ctx = &thrifty;
    heap_init(heap);
    T_EQ(tts_recfile_open(from, NULL, &file, NULL), TTS_OK);
    T_EQ(tts_recpack_new(out, &tts_recfile_info(file)->header, &thrifty.alloc, &pack, NULL),
         TTS_OK);
    while (tts_recfile_next(file, &item, NULL) == TTS_OK)
        T_EQ(tts_recpack_item(pack, &item, NULL), TTS_OK);
    T_EQ(tts_recpack_end(pack, &tts_recfile_info(file)->state, NULL), TTS_OK);
    T_TRUE(!pack->follow && !pack->live); /* the packer has stopped to keep the live buffers */
    uint64_t room = tts_recpack_room(pack);
    thrifty.fail_at = thrifty.calls + 1;
    T_EQ(tts_recpack_figures(pack, figures, sizeof figures, room, &is_stored, NULL), TTS_OK);
    T_TRUE(!is_stored && thrifty.calls == thrifty.fail_at);
    *bytes = pack->off;
    tts_recpack_free(pack);
    T_TRUE(heap_is_settled(heap));
    tts_recfile_close(file);
    fclose(out);
    return room;
}

T_TEST(the_room_for_figures_is_that_of_the_items_and_no_memory_means_none)
{
    const char *live = long_file(9, LONG, false), *once = t_scratch("once.tts");
    uint64_t bytes, again_bytes;
    struct stat info;
    T_EQ(stat(live, &info), 0);
    uint64_t room = room_for_figures(live, once, &bytes);
    T_TRUE(room > 0 && room <= bytes / 10 + 65536 && bytes + room < (uint64_t)info.st_size);
    T_EQ(room_for_figures(once, t_scratch("again.tts"), &again_bytes), room);
    T_EQ(again_bytes, bytes);
}
