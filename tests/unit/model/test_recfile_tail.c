/* Tests recordings that are read while they are written. At any time, the items read must be
 * items of the finished file. */
#include "harness/recfile_rig.h"

#include <sys/wait.h>

enum { PLACE = 4096, ITEMS = 900 };

static struct story story;

/* A file, the items that were written to it, and its reader. */
struct tail {
    struct image image;
    int fd;
    char path[512];
    /* Number of blocks of the image in the file; the last one may be incomplete. */
    uint64_t blocks;
    struct tts_recfile *file;
    struct gist got, told; /* the items that were read, and the items that were written */
    uint64_t rng;
    uint32_t patience; /* the reader reads once in this number of calls */
};

static void gist_every(struct gist *gist, struct tts_recfile *file, uint64_t most)
{
    struct tts_item item;
    gist->status = TTS_OK;
    for (uint64_t i = 0; i < most && gist->status == TTS_OK; i++) {
        gist->status = tts_recfile_next(file, &item, &gist->err);
        if (gist->status == TTS_OK)
            gist_add(gist, &item);
    }
}

static void tail_begin(struct tail *tail, uint64_t seed, uint64_t places)
{
    memset(tail, 0, sizeof *tail);
    tail->rng = seed;
    tail->patience = 1 + (uint32_t)(t_random(&tail->rng) % 40);
    image_begin(&tail->image, PLACE, places, places ? places : 64);
    story_begin(&story, seed, 64);
    snprintf(tail->path, sizeof tail->path, "%s", t_scratch("tail.tts"));
    write_file(tail->path, tail->image.bytes, image_off(&tail->image, places ? places : 1));
    tail->fd = open(tail->path, O_RDWR);
    T_TRUE(tail->fd >= 0);
    T_EQ(tts_recfile_open(tail->path, NULL, &tail->file, NULL), TTS_OK);
}

static void tail_done(struct tail *tail)
{
    tts_recfile_close(tail->file);
    close(tail->fd);
    gist_done(&tail->got);
    gist_done(&tail->told);
    image_done(&tail->image);
}

/* Reads all items, some of them, or none. */
static void tail_read(struct tail *tail)
{
    if (t_random(&tail->rng) % tail->patience == 0)
        gist_every(&tail->got, tail->file,
                   t_random(&tail->rng) % 2 ? UINT64_MAX : t_random(&tail->rng) % 30);
}

/* Reads all items that are in the file now, even if an earlier call reached the end of the
 * file. */
static void tail_catch_up(struct tail *tail)
{
    gist_every(&tail->got, tail->file, UINT64_MAX);
    if (tail->got.status == TTS_E_NOT_FOUND)
        gist_every(&tail->got, tail->file, UINT64_MAX);
}

static void put_bytes(struct tail *tail, size_t off, size_t len)
{
    T_EQ(pwrite(tail->fd, tail->image.bytes + off, len, (off_t)off), len);
    tail_read(tail);
}

/* Writes one block as a recorder does: first the header, then one item after another. The
 * reader may see half an item. */
static void put_block(struct tail *tail, uint64_t number, bool is_new)
{
    static const uint64_t none;
    size_t off = image_off(&tail->image, number), half = t_random(&tail->rng) % PLACE;
    if (is_new) {
        T_EQ(pwrite(tail->fd, &none, 8, (off_t)off + TTS_REC_COMMIT_OFF), 8);
        tail_read(tail);
        put_bytes(tail, off, half % TTS_REC_COMMIT_OFF);
        put_bytes(tail, off, TTS_REC_COMMIT_OFF);
    }
    off_t end = (off_t)(tail->image.header.places ? image_off(&tail->image, number) + PLACE
                                                  : image_off(&tail->image, number + 2));
    T_EQ(posix_fallocate(tail->fd, 0, end), 0);
    size_t from = TTS_REC_BLOCK_HEADER_BYTES;
    put_bytes(tail, off + from, half > from ? half - from : 1);
    put_bytes(tail, off + from, PLACE - from);
    put_bytes(tail, off + TTS_REC_COMMIT_OFF, 8);
}

/* Writes everything that the image has but the file does not. */
static void tail_sync(struct tail *tail)
{
    uint64_t blocks = tail->image.state.blocks;
    for (uint64_t n = tail->blocks ? tail->blocks - 1 : 0; n < blocks; n++)
        put_block(tail, n, n >= tail->blocks);
    tail->blocks = blocks;
    put_bytes(tail, TTS_REC_STATE_OFF, 2 * TTS_REC_STATE_BYTES);
}

static void tail_end(struct tail *tail)
{
    image_end(&tail->image);
    tail_sync(tail);
    T_EQ(ftruncate(tail->fd, (off_t)image_used(&tail->image)), 0);
    tail_catch_up(tail);
    T_EQ(tail->got.status, TTS_E_NOT_FOUND);
    T_EQ(tts_recfile_info(tail->file)->state.kind, TTS_REC_ENDED);
}

/* Checks that both have the same items. */
static void check_alike(const struct gist *got, const struct gist *all)
{
    T_EQ(got->status, all->status);
    T_EQ(got->count, all->count);
    T_MEM_EQ(got->sums, all->sums, got->count * sizeof *got->sums);
    T_MEM_EQ(got->times, all->times, got->count * sizeof *got->times);
}

static void check_finished(const struct tail *tail)
{
    struct gist all = {0};
    struct tts_recfile *file;
    T_EQ(tts_recfile_open(tail->path, NULL, &file, NULL), TTS_OK);
    gist_every(&all, file, UINT64_MAX);
    check_alike(&tail->got, &all);
    tts_recfile_close(file);
    gist_done(&all);
}

static void tell(struct tail *tail)
{
    struct tts_item item;
    story_next(&story, &item);
    image_item(&tail->image, &item);
}

/* ---- any number of places ---- */

T_TEST(what_was_read_as_it_grew_is_what_is_in_the_finished_file)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct tail tail;
        tail_begin(&tail, seed, 0);
        uint64_t each = 1 + t_random(&tail.rng) % 40;
        for (uint32_t i = 0; i < ITEMS / 2; i++) {
            tell(&tail);
            if (t_random(&tail.rng) % each == 0)
                tail_sync(&tail);
        }
        tail_end(&tail);
        T_TRUE(tail.image.state.blocks > 1);
        check_finished(&tail);
        tail_done(&tail);
    }
}

T_TEST(every_item_comes_as_soon_as_it_is_committed)
{
    struct tail tail;
    struct tts_item item;
    tail_begin(&tail, 5, 0);
    tail.patience = UINT32_MAX;
    for (uint32_t i = 0; i < ITEMS / 2; i++) {
        T_EQ(tts_recfile_next(tail.file, &item, NULL), TTS_E_NOT_FOUND);
        tell(&tail);
        tail_sync(&tail);
        T_EQ(tts_recfile_next(tail.file, &item, NULL), TTS_OK);
        gist_add(&tail.got, &item);
        while (item.kind == TTS_ITEM_NAME) {
            T_EQ(tts_recfile_next(tail.file, &item, NULL), TTS_OK);
            gist_add(&tail.got, &item);
        }
        T_EQ(item.seq, tail.image.seq);
    }
    tail_end(&tail);
    check_finished(&tail);
    tail_done(&tail);
}

/* Marks have no number, so the number of the next block does not show that marks are
 * missing. */
T_TEST(marks_behind_the_last_event_of_a_block_are_not_lost)
{
    struct tail tail;
    tail_begin(&tail, 5, 0);
    tail.patience = UINT32_MAX;
    for (int i = 0; i < 30; i++)
        tell(&tail);
    tail_sync(&tail);
    tail_catch_up(&tail);
    size_t before = tail.got.count;
    struct tts_item mark = {
        .kind = TTS_ITEM_MISSED, .seq = story.seq, .time_ns = story.time_ns, .count = 7};
    T_TRUE(image_fits(&tail.image, &mark));
    image_block(&tail.image, story.time_ns, false, false);
    for (int i = 0; i < 30; i++)
        tell(&tail);
    tail_sync(&tail);
    tail_catch_up(&tail);
    T_TRUE(tail.got.count > before + 30);
    T_EQ(tail.got.sums[before], sum_item(&mark));
    tail_end(&tail);
    check_finished(&tail);
    tail_done(&tail);
}

/* However fast the file grows, a reading ends after the items that were committed when it
 * began. */
T_TEST(what_is_committed_while_it_is_read_is_behind_its_end)
{
    struct tail tail;
    tail_begin(&tail, 5, 0);
    tail.patience = UINT32_MAX;
    for (int i = 0; i < 30; i++)
        tell(&tail);
    T_EQ(tts_recfile_seek(tail.file, 0, NULL), TTS_OK);
    tail_sync(&tail);
    gist_every(&tail.got, tail.file, 10);
    for (int i = 0; i < ITEMS; i++)
        tell(&tail);
    T_TRUE(tail.image.state.blocks > 3);
    tail_sync(&tail);
    gist_every(&tail.got, tail.file, UINT64_MAX);
    T_EQ(tail.got.status, TTS_E_NOT_FOUND);
    T_TRUE(tail.got.count >= 30 && tail.got.count < ITEMS / 2);
    tail_end(&tail);
    check_finished(&tail);
    tail_done(&tail);
}

T_TEST(events_that_are_missing_when_it_has_ended_are_noticed)
{
    struct tail tail;
    tail_begin(&tail, 5, 0);
    for (int i = 0; i < 30; i++)
        tell(&tail);
    tail_sync(&tail);
    tail_catch_up(&tail);
    T_EQ(tail.got.status, TTS_E_NOT_FOUND);
    T_EQ(tts_recfile_info(tail.file)->state.kind, TTS_REC_RECORDING);
    tail.image.seq++;
    image_end(&tail.image);
    tail_sync(&tail);
    tail_catch_up(&tail);
    T_EQ(tail.got.status, TTS_E_SYNTAX);
    T_TRUE(strstr(tail.got.err.text, "but the last event should be"));
    tail_done(&tail);
}

T_TEST(a_seek_goes_to_what_has_grown_and_one_that_fails_loses_nothing)
{
    struct tail tail;
    struct tts_item item;
    tail_begin(&tail, 5, 0);
    tail.patience = UINT32_MAX;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 90; i++)
            tell(&tail);
        T_EQ(tts_recfile_seek(tail.file, tail.image.seq, NULL), TTS_E_NOT_FOUND);
        tail_sync(&tail);
        if (round % 2)
            T_EQ(tts_recfile_seek(tail.file, tail.image.seq + 1, NULL), TTS_E_NOT_FOUND);
        tail_catch_up(&tail);
        T_EQ(tail.got.status, TTS_E_NOT_FOUND);
        T_EQ(tts_recfile_seek(tail.file, tail.image.seq + 1, NULL), TTS_E_NOT_FOUND);
    }
    tail_end(&tail);
    check_finished(&tail);
    tail_done(&tail);

    /* The keyframe is in a block that begins after all earlier items were read. */
    tail_begin(&tail, 5, 0);
    tail.patience = UINT32_MAX;
    for (int i = 0; i < 30; i++)
        tell(&tail);
    tail_sync(&tail);
    tail_catch_up(&tail);
    image_block(&tail.image, story.time_ns, true, false);
    struct tts_item mark = {.seq = story.seq, .time_ns = story.time_ns};
    for (mark.kind = TTS_ITEM_KEYFRAME; mark.kind <= TTS_ITEM_KEYFRAME_END;
         mark.kind += TTS_ITEM_KEYFRAME_END - TTS_ITEM_KEYFRAME)
        T_TRUE(image_fits(&tail.image, &mark));
    for (int i = 0; i < 30; i++)
        tell(&tail);
    tail_sync(&tail);
    T_EQ(tts_recfile_seek(tail.file, tail.image.seq, NULL), TTS_OK);
    T_EQ(tts_recfile_next(tail.file, &item, NULL), TTS_OK);
    T_EQ(item.kind, TTS_ITEM_KEYFRAME);
    tail_done(&tail);
}

/* A writer must never do this: it may only add to a block. */
T_TEST(a_block_that_has_changed_where_it_was_read_is_damage)
{
    for (int how = 0; how < 4; how++) {
        struct tail tail;
        struct tts_rec_block head;
        tail_begin(&tail, 5, 0);
        tail.patience = UINT32_MAX;
        for (int i = 0; i < 20; i++)
            tell(&tail);
        struct tts_recenc kept = tail.image.enc;
        uint64_t seq = tail.image.seq, commit = *image_commit(&tail.image, 0);
        for (int i = 0; i < 20; i++)
            tell(&tail);
        tail_sync(&tail);
        tail_catch_up(&tail);
        T_EQ(tail.got.status, TTS_E_NOT_FOUND);
        if (how < 3) { /* resets the commit, then writes other items */
            tail.image.enc = kept;
            tail.image.seq = seq;
            *image_commit(&tail.image, 0) = commit;
        } else { /* changes the number of events before the block */
            T_EQ(tts_rec_block_get(tail.image.bytes + PLACE, &head, NULL), TTS_OK);
            head.seq += 5;
            tts_rec_block_put(&head, tail.image.bytes + PLACE);
        }
        for (int i = 0; i < how * 20; i++)
            tell(&tail);
        tail.blocks = how < 3; /* writes the header again */
        tail_sync(&tail);
        tail_catch_up(&tail);
        T_EQ(tail.got.status, TTS_E_SYNTAX);
        T_TRUE(strstr(tail.got.err.text,
                      "block 0 at byte 4096 is damaged: the block changed while it was read"));
        tail_done(&tail);
    }
}

T_TEST(a_file_that_is_cut_where_it_was_read_is_told)
{
    for (int how = 0; how < 4; how++) {
        struct tail tail;
        tail_begin(&tail, 5, 0);
        tail.patience = UINT32_MAX;
        for (int i = 0; i < 20; i++)
            tell(&tail);
        if (how % 2) /* the state in the file is older */
            put_block(&tail, 0, true);
        else
            tail_sync(&tail);
        tail_catch_up(&tail);
        T_TRUE(tail.got.status == TTS_E_NOT_FOUND && tail.got.count >= 20);
        if (how / 2) /* the reader drops the block because of this */
            T_EQ(tts_recfile_seek(tail.file, story.seq + 1, NULL), TTS_E_NOT_FOUND);
        T_EQ(ftruncate(tail.fd, TTS_REC_HEADER_BYTES), 0);
        tail_catch_up(&tail);
        T_EQ(tail.got.status, TTS_E_SYNTAX);
        T_TRUE(strstr(tail.got.err.text, "block 0 at byte 4096 is missing"));
        tail_done(&tail);
    }
}

/* ---- black boxes ---- */

/* Writes the next item. If the block has no room, begins the next block with a keyframe. */
static void tell_box(struct tail *tail)
{
    struct tts_item item, mark = {.kind = TTS_ITEM_KEYFRAME};
    bool is_full = tail->image.state.blocks == 0 || t_random(&tail->rng) % 30 == 0;
    story_next(&story, &item);
    if (is_full || !image_fits(&tail->image, &item)) {
        mark.seq = tail->image.seq;
        mark.time_ns = item.time_ns;
        image_block(&tail->image, item.time_ns, true, false);
        T_TRUE(image_fits(&tail->image, &mark));
        mark.kind = TTS_ITEM_KEYFRAME_END;
        T_TRUE(image_fits(&tail->image, &mark));
        T_TRUE(image_fits(&tail->image, &item));
    }
    gist_add(&tail->told, &item);
}

/* Compares the items that were read with the items of the story. Returns the number of
 * items. */
static size_t check_told(const struct tail *tail, const struct gist *got)
{
    T_TRUE(got->count <= tail->told.count);
    for (size_t i = 0; i < got->count; i++)
        T_EQ(got->sums[i], tail->told.sums[i]);
    return got->count;
}

T_TEST(a_black_box_is_followed_round_after_round_or_was_too_fast)
{
    int followed = 0, lost = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct tail tail;
        struct gist got = {.status = TTS_E_NOT_FOUND};
        tail_begin(&tail, seed, 3);
        tail.patience = UINT32_MAX;
        uint64_t each = 1 + t_random(&tail.rng) % 60;
        for (uint32_t i = 0; i < ITEMS / 2 && got.status == TTS_E_NOT_FOUND; i++) {
            tell_box(&tail);
            tail_sync(&tail);
            if (t_random(&tail.rng) % each == 0)
                gist_rest(&got, tail.file);
        }
        size_t count = check_told(&tail, &got);
        if (got.status == TTS_E_NOT_FOUND) {
            image_end(&tail.image);
            tail_sync(&tail);
            gist_rest(&got, tail.file);
            count = check_told(&tail, &got);
        }
        if (got.status == TTS_E_NOT_FOUND) {
            T_EQ(count, tail.told.count);
            followed += tail.image.state.blocks > 6;
        } else {
            T_EQ(got.status, TTS_E_IO);
            T_TRUE(strstr(got.err.text, "was overwritten while it was read"));
            lost++;
        }
        gist_done(&got);
        tail_done(&tail);
    }
    T_TRUE(followed > 5 && lost > 5);
}

T_TEST(a_place_that_is_begun_again_before_all_of_it_was_read_is_told)
{
    static const uint64_t none;
    struct tail tail;
    tail_begin(&tail, 5, 3);
    tail.patience = UINT32_MAX;
    tell_box(&tail);
    tail_sync(&tail);
    tail_catch_up(&tail);
    while (tail.image.state.blocks < 3)
        tell_box(&tail);
    tail_sync(&tail);
    T_EQ(pwrite(tail.fd, &none, 8, TTS_REC_HEADER_BYTES + TTS_REC_COMMIT_OFF), 8);
    tail_catch_up(&tail);
    T_EQ(tail.got.status, TTS_E_IO);
    T_TRUE(strstr(tail.got.err.text, "block 0 was overwritten while it was read"));
    tail_done(&tail);
}

T_TEST(a_place_that_is_begun_again_before_any_of_it_was_read_is_told)
{
    static const uint64_t none;
    struct tail tail;
    struct tts_recfile *file;
    struct gist got = {0};
    tail_begin(&tail, 5, 3);
    tail.patience = UINT32_MAX;
    while (tail.image.state.blocks < 3)
        tell_box(&tail);
    tail_sync(&tail);
    T_EQ(tts_recfile_open(tail.path, NULL, &file, NULL), TTS_OK);
    gist_every(&got, file, 1); /* reads the items of block 0, whose place block 3 gets */
    while (tail.image.state.blocks < 4)
        tell_box(&tail);
    tail_sync(&tail);
    T_EQ(pwrite(tail.fd, &none, 8, TTS_REC_HEADER_BYTES + PLACE + TTS_REC_COMMIT_OFF), 8);
    gist_every(&got, file, UINT64_MAX);
    T_EQ(got.status, TTS_E_IO);
    T_TRUE(strstr(got.err.text, "block 1 was overwritten while it was read"));
    tts_recfile_close(file);
    gist_done(&got);
    tail_done(&tail);
}

/* ---- by another process ---- */

enum { BLOCKS = 600, MANY = 24000 };

/* Writes as a recorder does, to the mapped memory of the file. */
static void write_on(struct image *image)
{
    for (uint32_t i = 0; i < MANY; i++) {
        struct tts_item item;
        story_next(&story, &item);
        image_item(image, &item);
    }
    image_end(image);
}

T_TEST(what_another_process_writes_meanwhile_comes_whole)
{
    struct image image;
    struct gist got = {0}, all = {0};
    struct tts_recfile *file;
    const char *path = t_scratch("other.tts");
    image_begin(&image, PLACE, 0, BLOCKS);
    write_file(path, image.bytes, image.capacity);
    int fd = open(path, O_RDWR);
    void *mapped = mmap(NULL, image.capacity, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    T_TRUE(fd >= 0 && mapped != MAP_FAILED);
    free(image.bytes);
    image.bytes = mapped;
    story_begin(&story, 3, 64);
    T_EQ(tts_recfile_open(path, NULL, &file, NULL), TTS_OK);
    pid_t writer = fork();
    T_TRUE(writer >= 0);
    if (writer == 0) {
        write_on(&image);
        _exit(0);
    }
    bool has_ended = false;
    do {
        has_ended = tts_recfile_info(file)->state.kind == TTS_REC_ENDED;
        gist_every(&got, file, UINT64_MAX);
        T_EQ(got.status, TTS_E_NOT_FOUND);
    } while (!has_ended);
    T_EQ(waitpid(writer, NULL, 0), writer);
    tts_recfile_close(file);
    T_EQ(tts_recfile_open(path, NULL, &file, NULL), TTS_OK);
    gist_every(&all, file, UINT64_MAX);
    T_TRUE(all.count >= MANY);
    check_alike(&got, &all);
    tts_recfile_close(file);
    munmap(mapped, image.capacity);
    close(fd);
    gist_done(&got);
    gist_done(&all);
}
