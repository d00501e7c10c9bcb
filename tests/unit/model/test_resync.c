/* Tests recordings with damage in the middle: the items after the damage are correct, and the
 * gap is reported. */
#include "harness/item_rig.h"
#include "harness/recfile_rig.h"
#include "model/recording/resync.h"

enum { PLACE = 8192, EVENTS = 9000, LIVE = 150, MANY_EVENTS = 150 * 1000 };

/* ---- a history ---- */

struct history {
    struct image image;
    struct item_rig rig;
    struct tts_follow *follow;
    uint64_t rng;
};

static const struct tts_core_range some[] = {{0, 0, 3, 1}};

static bool put_keyframe_item(void *ctx, const struct tts_item *item)
{
    struct history *h = ctx;
    struct tts_item told = *item;
    told.time_ns = h->rig.time_ns;
    if (item->kind == TTS_ITEM_KEYFRAME_END) {
        uint32_t active[TTS_FOLLOW_CAPTURES_MAX];
        size_t count = tts_follow_active(h->follow, active);
        for (size_t i = 0; i < count; i++) {
            struct tts_item mark = told;
            mark.kind = TTS_ITEM_ACTIVE;
            mark.capture = active[i];
            T_TRUE(image_fits(&h->image, &mark));
        }
    }
    T_TRUE(image_fits(&h->image, &told));
    return true;
}

static void begin_block(struct history *h)
{
    image_block(&h->image, h->rig.time_ns, true, false);
    tts_fold_tell(tts_follow_fold(h->follow), put_keyframe_item, h);
}

static void put(struct history *h, struct tts_item item)
{
    struct tts_error err;
    h->rig.time_ns += 1000;
    item.time_ns = h->rig.time_ns;
    if (h->image.enc.at > h->image.enc.end)
        begin_block(h);
    if (tts_follow_item(h->follow, &item, &err) != TTS_OK)
        fail_msg("%s", err.text);
    if (!image_fits(&h->image, &item))
        fail_msg("no room");
}

static void put_some(struct history *h, uint64_t id)
{
    uint64_t draw = t_random(&h->rng);
    if (id > LIVE)
        put(h, item_free(&h->rig, 0, TTS_POOL_DRAM, id - LIVE));
    put(h, item_alloc(&h->rig, 0, TTS_POOL_DRAM, id, 1 + draw % 5000));
    if (draw % 40 == 0) {
        put(h, item_event(&h->rig, TTS_EVENT_PROGRAM, 0));
        struct tts_item part = item_part(&h->rig, TTS_EVENT_CB, 1024 + draw % 4096, some, 1);
        put(h, part);
    }
    if (draw % 400 == 1)
        put(h, item_capture(&h->rig, TTS_ITEM_CUT, 1, "phase"));
}

static void make_history(struct history *h, uint64_t events, uint64_t place)
{
    memset(h, 0, sizeof *h);
    h->rng = 5;
    h->rig.time_ns = 2000000;
    h->rig.has_time = true;
    T_EQ(tts_follow_new(NULL, &thrift, &h->follow, NULL), TTS_OK);
    image_begin(&h->image, place, 0, 16 + (size_t)events * 16 / place);
    begin_block(h);
    put(h, item_capture(&h->rig, TTS_ITEM_BEGIN, 1, NULL));
    for (uint64_t id = 1; h->rig.seq < events; id++)
        put_some(h, id);
    image_end(&h->image);
    T_TRUE(h->image.state.blocks > 3);
}

static void history_done(struct history *h)
{
    tts_follow_free(h->follow);
    image_done(&h->image);
}

/* ---- reading on after damage ---- */

struct reading {
    struct tts_recfile *file;
    struct tts_follow *follow;
    struct tts_resync *resync;
    bool in_gap;
    uint64_t events, gaps, missing, inferred;
    uint64_t last_seq;
    uint64_t *sums; /* one checksum for each event; NULL if not needed */
    const uint64_t *wanted;
    enum tts_status status;
};

static enum tts_status follow_inferred(void *ctx, const struct tts_item *item)
{
    struct reading *r = ctx;
    struct tts_error err;
    r->inferred++;
    if (tts_follow_item(r->follow, item, &err) != TTS_OK)
        fail_msg("%s", err.text);
    return TTS_OK;
}

static void take_item(struct reading *r, const struct tts_item *item)
{
    struct tts_error err = {0};
    if (r->in_gap && item->kind != TTS_ITEM_NAME) {
        if (item->kind == TTS_ITEM_KEYFRAME_END) {
            r->in_gap = false;
            T_EQ(tts_resync_tell(r->resync, r->follow, item->seq, follow_inferred, r), TTS_OK);
        } else {
            T_EQ(tts_resync_take(r->resync, item), TTS_OK);
        }
        return;
    }
    if (tts_follow_item(r->follow, item, &err) != TTS_OK)
        fail_msg("%s", err.text);
    if (item->kind != TTS_ITEM_EVENT)
        return;
    r->events++;
    r->last_seq = item->seq;
    if (r->sums)
        r->sums[item->seq] = sum_item(item);
    if (r->wanted)
        T_EQ(sum_item(item), r->wanted[item->seq]);
}

/* Reads the file and continues after each damage. */
static void read_all(struct reading *r, const char *path)
{
    struct tts_item item;
    struct tts_error err;
    uint64_t missing;
    T_EQ(tts_follow_new(NULL, &thrift, &r->follow, NULL), TTS_OK);
    T_EQ(tts_resync_new(&thrift, &r->resync), TTS_OK);
    r->status = tts_recfile_open(path, &thrift, &r->file, &err);
    bool is_open = r->status == TTS_OK;
    while (r->status == TTS_OK) {
        r->status = tts_recfile_next(r->file, &item, &err);
        if (r->status == TTS_OK) {
            take_item(r, &item);
        } else if (r->status == TTS_E_SYNTAX &&
                   tts_recfile_resume(r->file, &missing) == TTS_OK) {
            r->status = TTS_OK;
            r->gaps++;
            r->missing += missing;
            r->in_gap = true;
        }
    }
    if (is_open)
        tts_recfile_close(r->file);
}

static void reading_done(struct reading *r)
{
    tts_resync_free(r->resync);
    tts_follow_free(r->follow);
}

/* ---- the same in the end ---- */

static void same_live(const struct tts_follow *a, const struct tts_follow *b)
{
    static struct tts_live lives[2][2 * LIVE];
    const struct tts_follow *both[] = {a, b};
    size_t count[2];
    for (int i = 0; i < 2; i++) {
        count[i] = tts_fold_collect(tts_follow_fold(both[i]), lives[i], 2 * LIVE);
        T_TRUE(count[i] <= 2 * LIVE);
        tts_fold_sort(lives[i], count[i]);
    }
    T_EQ(count[0], count[1]);
    for (size_t i = 0; i < count[0]; i++)
        T_TRUE(lives[0][i].id == lives[1][i].id && lives[0][i].seq == lives[1][i].seq &&
               lives[0][i].size_bytes == lives[1][i].size_bytes);
}

/* Checks that the figures of `read` are not higher than the true ones. */
static void at_most(struct tts_follow *read, struct tts_follow *truth)
{
    const struct tts_phase *got, *real;
    T_EQ(tts_follow_end(read, &got, NULL), TTS_OK);
    T_EQ(tts_follow_end(truth, &real, NULL), TTS_OK);
    const struct tts_pool_usage *a = &got->usage.pools[TTS_POOL_DRAM];
    const struct tts_pool_usage *b = &real->usage.pools[TTS_POOL_DRAM];
    T_TRUE(a->peak_bytes <= b->peak_bytes && a->allocated_bytes <= b->allocated_bytes);
    T_TRUE(a->freed_bytes <= b->freed_bytes);
    T_EQ(a->allocated_bytes - a->freed_bytes, b->allocated_bytes - b->freed_bytes);
    T_TRUE(got->usage.core.bytes <= real->usage.core.bytes);
}

/* Compares the items of a file, which may be damaged, with its history. */
static uint64_t check_reading(const struct history *h, const char *path, const uint64_t *wanted)
{
    struct reading r = {.wanted = wanted};
    read_all(&r, path);
    uint64_t gaps = r.gaps, all = h->rig.seq;
    bool is_whole = r.status == TTS_E_NOT_FOUND;
    T_TRUE(is_whole || r.status == TTS_E_SYNTAX);
    if (is_whole && gaps == 0)
        T_EQ(r.events, all);
    if (gaps > 0 && !r.in_gap) {
        T_EQ(r.events + r.missing, tts_fold_seq(tts_follow_fold(r.follow)));
        T_TRUE(tts_follow_is_partial(r.follow));
    }
    if (is_whole && gaps > 0) {
        T_EQ(r.events + r.missing, all);
        same_live(r.follow, h->follow);
    }
    reading_done(&r);
    return gaps;
}

static uint64_t *sums_of(const struct history *h, const char *path)
{
    struct reading r = {.sums = calloc(h->rig.seq + 1, sizeof *r.sums)};
    read_all(&r, path);
    T_EQ(r.status, TTS_E_NOT_FOUND);
    T_EQ(r.events, h->rig.seq);
    T_EQ(r.gaps, 0);
    uint64_t *sums = r.sums;
    reading_done(&r);
    return sums;
}

/* ---- tests ---- */

T_TEST(a_flipped_bit_in_the_first_block_costs_that_block)
{
    static struct history h;
    const char *path = t_scratch("first.tts");
    make_history(&h, EVENTS, PLACE);
    h.image.bytes[image_off(&h.image, 0) + 100] ^= 1;
    image_write(&h.image, path);
    struct reading r = {0};
    read_all(&r, path);
    T_EQ(r.status, TTS_E_NOT_FOUND);
    T_EQ(r.gaps, 1);
    T_TRUE(r.missing > 0 && r.missing < EVENTS / 2);
    T_EQ(r.events, h.rig.seq - r.missing);
    same_live(r.follow, h.follow);
    reading_done(&r);
    history_done(&h);
}

T_TEST(behind_a_gap_figures_are_at_least_so_high)
{
    static struct history h;
    const char *path = t_scratch("middle.tts");
    make_history(&h, EVENTS, PLACE);
    h.image.bytes[image_off(&h.image, 2) + 20] ^= 1; /* damages a byte of a header */
    image_write(&h.image, path);
    struct reading r = {0};
    read_all(&r, path);
    T_EQ(r.gaps, 1);
    T_TRUE(r.inferred > LIVE && r.inferred <= r.missing + 2);
    same_live(r.follow, h.follow);
    at_most(r.follow, h.follow);
    reading_done(&r);
    history_done(&h);
}

T_TEST(a_file_cut_in_its_first_block_gives_the_events_before_the_cut)
{
    static struct history h;
    const char *path = t_scratch("cut.tts");
    make_history(&h, EVENTS, PLACE);
    image_write(&h.image, path);
    uint64_t *sums = sums_of(&h, path);
    uint64_t before = 0;
    for (off_t len = TTS_REC_HEADER_BYTES + PLACE; len > TTS_REC_HEADER_BYTES + 64; len -= 97) {
        T_EQ(truncate(path, len), 0);
        struct reading r = {.wanted = sums};
        read_all(&r, path);
        T_EQ(r.status, TTS_E_SYNTAX);
        T_EQ(r.events, r.last_seq);
        T_TRUE(before == 0 || r.events <= before);
        before = r.events;
        T_TRUE(r.events > 0 || len < TTS_REC_HEADER_BYTES + 200);
        reading_done(&r);
    }
    free(sums);
    history_done(&h);
}

T_TEST(whatever_bit_is_flipped_nothing_wrong_is_read)
{
    enum { FLIPS = 120 };
    static struct history h;
    const char *path = t_scratch("flips.tts");
    uint64_t rng = 3, gaps = 0;
    make_history(&h, EVENTS, PLACE);
    image_write(&h.image, path);
    uint64_t *sums = sums_of(&h, path);
    size_t len = image_used(&h.image);
    for (int i = 0; i < FLIPS; i++) {
        size_t at = TTS_REC_HEADER_BYTES + t_random(&rng) % (len - TTS_REC_HEADER_BYTES);
        unsigned char bit = (unsigned char)(1 << t_random(&rng) % 8);
        h.image.bytes[at] ^= bit;
        image_write(&h.image, path);
        gaps += check_reading(&h, path, sums);
        h.image.bytes[at] ^= bit;
    }
    T_TRUE(gaps > FLIPS / 3);
    free(sums);
    history_done(&h);
}

T_TEST(a_packed_file_is_read_on_at_its_next_keyframe)
{
    static struct history h;
    const char *path = t_scratch("plain.tts"), *packed = t_scratch("packed.tts");
    struct tts_error err = {0};
    make_history(&h, MANY_EVENTS, 1 << 17);
    image_write(&h.image, path);
    T_EQ(pack_file(path, packed, &thrift, &err), TTS_OK);
    uint64_t *sums = sums_of(&h, packed);
    FILE *file = fopen(packed, "rb");
    static unsigned char bytes[1 << 20];
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    T_TRUE(len > 100000 && len < sizeof bytes);
    for (size_t i = 0; i < 8;
         i++) { /* the first bytes are in block 0: its header and its payload */
        size_t at = i == 0 ? TTS_REC_HEADER_BYTES + 20
                           : TTS_REC_HEADER_BYTES + 100 + (i - 1) * (len - 5000) / 7;
        bytes[at] ^= 4;
        write_file(packed, bytes, len);
        uint64_t gaps = check_reading(&h, packed, sums);
        T_TRUE(i > 1 || gaps == 1);
        bytes[at] ^= 4;
    }
    /* The file is cut in its first block. */
    write_file(packed, bytes, TTS_REC_HEADER_BYTES + 60000);
    struct reading r = {.wanted = sums};
    read_all(&r, packed);
    T_EQ(r.status, TTS_E_SYNTAX);
    T_TRUE(r.events > 1000 && r.events < 65536);
    reading_done(&r);
    free(sums);
    history_done(&h);
}

/* A keyframe continues in a second block, which is damaged too, so its end cannot be read. */
T_TEST(a_keyframe_that_damage_cuts_off_is_not_mixed_with_the_next)
{
    const struct item_rig rig = {.seq = 10};
    const struct tts_item items[] = {
        item_mark(&rig, TTS_ITEM_KEYFRAME),       item_live(&rig, 0, TTS_POOL_DRAM, 1, 64),
        item_live(&rig, 0, TTS_POOL_DRAM, 2, 32), item_mark(&rig, TTS_ITEM_KEYFRAME),
        item_live(&rig, 0, TTS_POOL_DRAM, 2, 32), item_mark(&rig, TTS_ITEM_KEYFRAME_END),
    };
    struct reading r = {.in_gap = true};
    struct tts_live live[2];
    T_EQ(tts_follow_new(NULL, &thrift, &r.follow, NULL), TTS_OK);
    T_EQ(tts_resync_new(&thrift, &r.resync), TTS_OK);
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        take_item(&r, &items[i]);
    T_EQ(r.inferred, 1);
    T_EQ(tts_fold_collect(tts_follow_fold(r.follow), live, 2), 1);
    T_EQ(live[0].id, 2);
    reading_done(&r);
}
