/* Tests live recordings: complete ones, recordings of killed programs, damaged ones and
 * truncated ones. test_recfile_box.c tests black boxes, test_recfile_tail.c files that grow. */
#include "harness/recfile_rig.h"
#include "torture/heap.h"

enum { PLACE = 4096, ITEMS = 900 };

static const char *written(const struct image *image)
{
    const char *path = t_scratch("live.tts");
    image_write(image, path);
    return path;
}

static struct tts_recfile *opened(const char *path)
{
    struct tts_recfile *file = NULL;
    T_EQ(tts_recfile_open(path, NULL, &file, NULL), TTS_OK);
    return file;
}

static void check_file(const char *path, const struct gist *all)
{
    struct gist got = gist_of_file(path);
    check_same(&got, all);
    gist_done(&got);
}

/* Checks that the file cannot be opened and that the error has these words. */
static void check_refused(const char *path, enum tts_status status, const char *words)
{
    struct tts_recfile *file = NULL;
    struct tts_error err = {0};
    T_EQ(tts_recfile_open(path, NULL, &file, &err), status);
    T_TRUE(file == NULL);
    check_error(&err, status);
    T_TRUE(strstr(err.text, words));
    T_EQ(tts_recfile_open(path, NULL, &file, NULL), status);
}

/* Checks that reading the file returns `count` items and then fails with TTS_E_SYNTAX and these
 * words. */
static void check_ends(const char *path, const struct gist *all, size_t count,
                       const char *words)
{
    struct gist got = gist_of_file(path);
    check_prefix(&got, all);
    T_EQ(got.count, count);
    T_EQ(got.status, TTS_E_SYNTAX);
    T_TRUE(strstr(got.err.text, words));
    gist_done(&got);
}

/* Returns the number of items of a story in the blocks before block `number` of its image. */
static size_t items_before(const struct image *image, uint64_t number, uint64_t seed)
{
    struct tts_rec_block head;
    static struct story story;
    struct tts_item item;
    T_EQ(tts_rec_block_get(image->bytes + image_off(image, number), &head, NULL), TTS_OK);
    story_begin(&story, seed, 64);
    size_t count = 0;
    for (; story.seq < head.seq; count++)
        story_next(&story, &item);
    return count; /* marks that follow the last event of a block may be in either block */
}

/* ---- whole ones ---- */

T_TEST(what_is_written_is_read_in_blocks_of_any_size)
{
    struct gist all = gist_of_story(7, ITEMS);
    static const uint64_t places[] = {PLACE, 2 * PLACE, 1 << 20};
    for (int i = 0; i < 3; i++) {
        struct image image;
        image_of(&image, 7, ITEMS, places[i]);
        image_end(&image);
        check_file(written(&image), &all);
        image_done(&image);
    }
    gist_done(&all);
}

T_TEST(a_file_says_what_it_is)
{
    struct image image;
    image_of(&image, 3, ITEMS, PLACE);
    image_end(&image);
    struct tts_recfile *file = opened(written(&image));
    const struct tts_recfile_info *info = tts_recfile_info(file);
    T_EQ(info->header.pid, 4711);
    T_STR_EQ(info->header.program, "story");
    T_TRUE(info->state_is_known && !info->has_index);
    T_EQ(info->state.kind, TTS_REC_ENDED);
    T_EQ(info->state.events, image.seq);
    T_EQ(info->file_bytes, image_used(&image));
    T_EQ(info->first_seq, 0);
    tts_recfile_close(file);
    tts_recfile_close(NULL);
    image_done(&image);
}

T_TEST(how_far_it_is_grows_to_the_end)
{
    struct image image;
    struct tts_item item;
    image_of(&image, 3, ITEMS, PLACE);
    image_end(&image);
    struct tts_recfile *file = opened(written(&image));
    uint64_t before = tts_recfile_tell(file);
    while (tts_recfile_next(file, &item, NULL) == TTS_OK) {
        T_TRUE(tts_recfile_tell(file) >= before);
        before = tts_recfile_tell(file);
    }
    T_TRUE(before <= image_used(&image) && before > image_used(&image) - PLACE);
    tts_recfile_close(file);
    image_done(&image);
}

T_TEST(an_instant_past_the_end_of_time_is_the_end_of_time)
{
    struct image image;
    struct tts_item item;
    image_of(&image, 3, 20, PLACE);
    item = (struct tts_item){
        .kind = TTS_ITEM_MISSED, .seq = image.seq, .time_ns = UINT64_MAX / 2, .count = 1};
    T_TRUE(image_fits(&image, &item));
    image.header.unit_scale = UINT64_MAX;
    unsigned char kept[2 * TTS_REC_STATE_BYTES];
    memcpy(kept, image.bytes + TTS_REC_STATE_OFF, sizeof kept);
    tts_rec_header_put(&image.header, image.bytes);
    memcpy(image.bytes + TTS_REC_STATE_OFF, kept, sizeof kept);
    struct tts_recfile *file = opened(written(&image));
    uint64_t before = 0;
    while (tts_recfile_next(file, &item, NULL) == TTS_OK) {
        T_TRUE(item.time_ns >= before);
        before = item.time_ns;
    }
    T_EQ(before, UINT64_MAX);
    tts_recfile_close(file);
    image_done(&image);
}

/* ---- not ended ---- */

T_TEST(a_killed_program_leaves_all_up_to_its_last_commit)
{
    struct gist all = gist_of_story(9, ITEMS);
    struct image image;
    image_of(&image, 9, ITEMS, PLACE);
    /* The file ends with half of an item that is not committed. */
    memset(image.enc.at, 0xa5, 16);
    check_file(written(&image), &all);
    image_done(&image);
    gist_done(&all);
}

T_TEST(a_file_with_nothing_in_it_is_empty)
{
    struct gist none = {.status = TTS_E_NOT_FOUND};
    struct image image;
    image_begin(&image, PLACE, 0, 2);
    check_file(written(&image), &none); /* no block was begun */
    image_block(&image, image.header.start_ns, false, false);
    check_file(written(&image), &none);
    image_end(&image);
    check_file(written(&image), &none);
    image_done(&image);
}

T_TEST(a_block_whose_commit_is_not_set_was_not_begun)
{
    struct gist all = gist_of_story(9, 20);
    struct image image;
    image_of(&image, 9, 20, PLACE);
    uint64_t blocks = image.state.blocks;
    image_block(&image, image.header.start_ns + 900000000, false, false);
    *image_commit(&image, blocks) = 0;
    image.state.blocks = blocks;
    image_state(&image, TTS_REC_RECORDING);
    check_file(written(&image), &all);
    image_done(&image);
    gist_done(&all);
}

/* ---- damage ---- */

T_TEST(every_byte_changed_is_found_or_does_not_matter)
{
    struct image image;
    image_of(&image, 11, 190, PLACE);
    T_TRUE(image.state.blocks >= 2);
    check_flips(written(&image)); /* the file of a program that was killed */
    image_end(&image);
    check_flips(written(&image));
    image_done(&image);
}

T_TEST(every_cut_is_found_or_does_not_matter)
{
    struct image image;
    image_of(&image, 11, 190, PLACE);
    check_cuts(written(&image));
    image_end(&image);
    check_cuts(written(&image));
    image_done(&image);
}

T_TEST(damage_is_told_with_its_block_and_byte)
{
    struct image image;
    char words[80];
    image_of(&image, 11, ITEMS, PLACE);
    image_end(&image);
    T_TRUE(image.state.blocks > 4);
    const char *path = written(&image);
    image.bytes[image_off(&image, 3) + 500] ^= 4;
    write_file(path, image.bytes, image_used(&image));
    struct gist got = gist_of_file(path);
    snprintf(words, sizeof words, "block 3 at byte %zu is damaged: its checksum is wrong",
             image_off(&image, 3));
    T_EQ(got.status, TTS_E_SYNTAX);
    T_STR_EQ(got.err.text, words);
    T_EQ(got.err.offset, image_off(&image, 3));
    gist_done(&got);
    image_done(&image);
}

T_TEST(behind_damage_nothing_is_read)
{
    struct image image;
    struct tts_item item;
    struct tts_error err, again;
    struct gist all = gist_of_story(11, ITEMS);
    image_of(&image, 11, ITEMS, PLACE);
    image.bytes[image_off(&image, 1) + 20] ^= 4;
    const char *path = written(&image);
    size_t before = items_before(&image, 2, 11);
    struct tts_recfile *file = opened(path);
    size_t count = 0;
    enum tts_status status;
    while ((status = tts_recfile_next(file, &item, &err)) == TTS_OK)
        count += item.kind != TTS_ITEM_NAME;
    T_TRUE(count > 0 && count < before);
    T_EQ(status, TTS_E_SYNTAX);
    T_TRUE(strstr(err.text,
                  "block 1 at byte 8192 is damaged: the checksum of its header is wrong"));
    T_EQ(tts_recfile_next(file, &item, &again), TTS_E_SYNTAX);
    T_STR_EQ(err.text, again.text);
    tts_recfile_close(file);
    gist_done(&all);
    image_done(&image);
}

T_TEST(blocks_that_are_missing_or_out_of_order_are_noticed)
{
    struct image image;
    struct gist all = gist_of_story(13, ITEMS);
    image_of(&image, 13, ITEMS, PLACE);
    const char *path = t_scratch("order.tts");
    size_t second = image_off(&image, 1), third = image_off(&image, 2);
    uint64_t last = image.state.blocks - 1;
    unsigned char kept[PLACE];

    /* The last block of the file is missing. */
    memcpy(kept, image.bytes + image_off(&image, last), PLACE);
    memset(image.bytes + image_off(&image, last), 0, PLACE);
    image_write(&image, path);
    struct gist got = gist_of_file(path);
    T_EQ(got.status, TTS_E_SYNTAX);
    T_TRUE(strstr(got.err.text, "is missing"));
    T_TRUE(got.count > 0);
    gist_done(&got);
    memcpy(image.bytes + image_off(&image, last), kept, PLACE);

    /* A block is in the place of another one. */
    memcpy(kept, image.bytes + second, PLACE);
    memcpy(image.bytes + second, image.bytes + third, PLACE);
    image_write(&image, path);
    got = gist_of_file(path);
    T_TRUE(got.status == TTS_E_SYNTAX && got.count > 0);
    T_TRUE(strstr(got.err.text, "block 1 at byte 8192 is damaged: the block number"));
    gist_done(&got);
    memcpy(image.bytes + second, image.bytes + image_off(&image, 0), PLACE);
    image_write(&image, path);
    got = gist_of_file(path);
    T_TRUE(got.status == TTS_E_SYNTAX && got.count > 0);
    T_TRUE(strstr(got.err.text, "block 1 at byte 8192 is damaged: the block number"));
    gist_done(&got);
    memcpy(image.bytes + second, kept, PLACE);
    image_write(&image, path);
    check_file(path, &all);
    image_done(&image);
    gist_done(&all);
}

T_TEST(events_that_are_missing_at_the_end_are_noticed)
{
    struct image image;
    struct gist all = gist_of_story(17, ITEMS);
    image_of(&image, 17, ITEMS, PLACE);
    image_end(&image);
    image.state.events++;
    image_state(&image, TTS_REC_ENDED);
    check_ends(written(&image), &all, ITEMS, "but its last event should be");
    /* A file that was not ended does not hold its number of blocks. */
    image_state(&image, TTS_REC_RECORDING);
    check_file(written(&image), &all);
    image_done(&image);
    gist_done(&all);
}

/* Makes a block with a valid checksum but fewer events than the next block expects. */
T_TEST(events_that_are_missing_between_blocks_are_noticed)
{
    struct image image;
    struct tts_item item;
    static struct story story;
    image_begin(&image, PLACE, 0, 8);
    story_begin(&story, 5, 8);
    for (int i = 0; i < 30; i++) {
        story_next(&story, &item);
        image_item(&image, &item);
    }
    image.seq += 3;
    image_block(&image, item.time_ns, false, false);
    struct gist all = gist_of_story(5, 30);
    check_ends(written(&image), &all, 30, "events before the block are missing");
    image_done(&image);
    gist_done(&all);
}

T_TEST(more_events_than_can_be_are_damage)
{
    struct image image;
    image_begin(&image, PLACE, 0, 2);
    image.seq = UINT64_MAX - 1;
    image_block(&image, image.header.start_ns, false, false);
    struct gist none = {0};
    check_ends(written(&image), &none, 0, "the number of events before the block is too large");
    image_done(&image);
}

/* ---- the header ---- */

T_TEST(the_newer_whole_copy_of_the_state_counts)
{
    struct image image;
    struct gist all = gist_of_story(19, ITEMS);
    image_of(&image, 19, ITEMS, PLACE);
    image_end(&image);
    size_t newer = TTS_REC_STATE_OFF + (image.state.generation % 2 ? 0 : TTS_REC_STATE_BYTES);
    struct tts_recfile *file = opened(written(&image));
    T_EQ(tts_recfile_info(file)->state.generation, image.state.generation);
    tts_recfile_close(file);

    image.bytes[newer + 20] ^= 1;
    const char *path = written(&image);
    file = opened(path);
    const struct tts_recfile_info *info = tts_recfile_info(file);
    T_TRUE(info->state_is_known);
    T_EQ(info->state.generation, image.state.generation - 1);
    T_EQ(info->state.kind, TTS_REC_RECORDING);
    tts_recfile_close(file);
    check_file(path, &all);

    image.bytes[(newer ^ TTS_REC_STATE_BYTES) + 20] ^= 1;
    path = written(&image);
    file = opened(path);
    info = tts_recfile_info(file);
    T_TRUE(!info->state_is_known);
    T_EQ(info->state.events, 0);
    tts_recfile_close(file);
    check_file(path, &all);
    image_done(&image);
    gist_done(&all);
}

T_TEST(what_is_no_recording_is_refused_with_words)
{
    const char *path = t_scratch("other");
    write_file(path, "P size=4096\n", 12);
    check_refused(path, TTS_E_SYNTAX, "not a recording");
    write_file(path, "", 0);
    check_refused(path, TTS_E_SYNTAX, "not a recording");
    write_file(path, TTS_REC_MAGIC "more", 12);
    check_refused(path, TTS_E_SYNTAX, "inside its header of 4096 bytes");
    check_refused(t_scratch("nothing"), TTS_E_IO, "no such file");
    check_refused("/", TTS_E_IO, "is a directory");
    check_refused("/dev/null", TTS_E_IO, "not a regular file");
    T_EQ(mkfifo(t_scratch("pipe"), 0600), 0);
    check_refused(t_scratch("pipe"), TTS_E_IO, "not a regular file");
}

T_TEST(a_newer_version_is_refused_as_such)
{
    struct image image;
    struct tts_checksum check;
    image_of(&image, 3, 20, PLACE);
    tts_put32(image.bytes + 8, TTS_REC_VERSION + 1);
    tts_checksum_begin(&check, 0);
    tts_put64(image.bytes + TTS_REC_CHECK_OFF,
              tts_checksum_update(&check, image.bytes, TTS_REC_STATE_OFF));
    check_refused(written(&image), TTS_E_RANGE, "newer");
    image_done(&image);
}

T_TEST(the_first_bytes_tell_a_recording)
{
    const unsigned char *magic = (const unsigned char *)TTS_REC_MAGIC;
    T_TRUE(tts_recfile_is_one(magic, 8));
    T_TRUE(!tts_recfile_is_one(magic, 7));
    T_TRUE(!tts_recfile_is_one((const unsigned char *)"89tts\r\n\x1a\n", 9));
}

/* ---- seek ---- */

/* Returns the number of the next event. */
static uint64_t next_event(struct tts_recfile *file)
{
    struct tts_item item;
    do
        T_EQ(tts_recfile_next(file, &item, NULL), TTS_OK);
    while (item.kind != TTS_ITEM_EVENT);
    return item.seq;
}

T_TEST(without_keyframes_every_seek_is_to_the_begin)
{
    struct image image;
    struct gist all = gist_of_story(23, ITEMS), got = {0};
    for (int i = 0; i < 4; i++) {
        image_of(&image, 23, ITEMS, i % 2 ? PLACE : 1 << 20);
        if (i >= 2)
            image_end(&image);
        struct tts_recfile *file = opened(written(&image));
        const uint64_t seqs[] = {0, 1, 100, image.seq - 1, image.seq};
        for (int k = 0; k < 5; k++) {
            T_EQ(tts_recfile_seek(file, seqs[k], NULL), TTS_OK);
            T_EQ(next_event(file), 1);
        }
        struct tts_error err;
        T_EQ(tts_recfile_seek(file, image.seq + 1, &err), TTS_E_NOT_FOUND);
        T_TRUE(strstr(err.text, "after the last"));
        T_EQ(next_event(file), 2); /* a failed seek does not change the position */
        T_EQ(tts_recfile_seek(file, 5, NULL), TTS_OK);
        got.count = 0;
        gist_rest(&got, file);
        check_same(&got, &all);
        tts_recfile_close(file);
        image_done(&image);
    }
    gist_done(&got);
    gist_done(&all);
}

T_TEST(a_seek_goes_to_the_last_block_with_a_keyframe)
{
    struct image image;
    struct tts_item item;
    static struct story story;
    uint64_t starts[8] = {0};
    image_begin(&image, PLACE, 0, 8);
    story_begin(&story, 5, 8);
    for (int block = 0; block < 6; block++) {
        bool has_keyframe = block % 2 == 0;
        image_block(&image, story.time_ns, has_keyframe, false);
        starts[block] = image.seq;
        if (has_keyframe) {
            struct tts_item mark = {.seq = image.seq, .time_ns = story.time_ns};
            mark.kind = TTS_ITEM_KEYFRAME;
            T_TRUE(image_fits(&image, &mark));
            mark.kind = TTS_ITEM_KEYFRAME_END;
            T_TRUE(image_fits(&image, &mark));
        }
        for (int i = 0; i < 20; i++) {
            story_next(&story, &item);
            T_TRUE(image_fits(&image, &item));
        }
    }
    struct tts_recfile *file = opened(written(&image));
    for (uint64_t seq = 0; seq <= image.seq; seq++) {
        uint64_t start = seq >= starts[4] ? starts[4] : seq >= starts[2] ? starts[2] : 0;
        T_EQ(tts_recfile_seek(file, seq, NULL), TTS_OK);
        T_EQ(tts_recfile_next(file, &item, NULL), TTS_OK);
        T_EQ(item.kind, TTS_ITEM_KEYFRAME);
        T_EQ(item.seq, start);
        T_EQ(next_event(file), start + 1);
    }
    tts_recfile_close(file);
    /* Damage after the event is not noticed; damage before it is reported. */
    image.bytes[image_off(&image, 3) + 10] ^= 1;
    file = opened(written(&image));
    struct tts_error err;
    T_EQ(tts_recfile_seek(file, starts[3] + 5, &err), TTS_E_SYNTAX);
    T_TRUE(strstr(err.text, "block 3 at byte"));
    T_EQ(tts_recfile_seek(file, starts[2] - 1, NULL), TTS_OK);
    T_EQ(next_event(file), 1);
    while (tts_recfile_next(file, &item, NULL) == TTS_OK)
        ;
    T_EQ(tts_recfile_next(file, &item, &err), TTS_E_SYNTAX);
    T_EQ(tts_recfile_seek(file, 1, NULL), TTS_OK); /* a seek clears the error */
    T_EQ(next_event(file), 1);
    tts_recfile_close(file);
    image_done(&image);
}

/* ---- memory ---- */

T_TEST(without_memory_it_says_so_and_gives_all_back)
{
    struct image image;
    struct tts_item item;
    image_of(&image, 29, ITEMS, PLACE);
    const char *path = written(&image);
    bool was_done = false;
    for (uint64_t n = 1; !was_done; n++) {
        struct heap heap;
        struct tts_recfile *file = NULL;
        struct tts_error err = {0};
        heap_init(&heap);
        heap.fail_at = n;
        enum tts_status status = tts_recfile_open(path, &heap.alloc, &file, &err);
        while (status == TTS_OK)
            status = tts_recfile_next(file, &item, &err);
        was_done = heap.failed == 0;
        T_EQ(status, was_done ? TTS_E_NOT_FOUND : TTS_E_NOMEM);
        if (!was_done)
            check_error(&err, TTS_E_NOMEM);
        tts_recfile_close(file);
        T_TRUE(heap_is_settled(&heap));
    }
    image_done(&image);
}
