/* Tests black boxes: files with a fixed number of places, which keep the last blocks. */
#include "harness/recfile_rig.h"

enum { PLACE = 4096, PLACES = 4, PER_BLOCK = 25 };

/* The items of each block. Each block begins with an empty keyframe. */
struct box {
    struct image image;
    struct gist blocks[32]; /* the items of each block, and the status after them (NOT_FOUND) */
    uint64_t starts[32];
};

static struct story story;

static void box_block(struct box *box)
{
    struct tts_item item;
    uint64_t number = box->image.state.blocks;
    image_block(&box->image, story.time_ns, true, false);
    box->starts[number] = box->image.seq;
    struct tts_item mark = {.seq = box->image.seq, .time_ns = story.time_ns};
    mark.kind = TTS_ITEM_KEYFRAME;
    T_TRUE(image_fits(&box->image, &mark));
    mark.kind = TTS_ITEM_KEYFRAME_END;
    T_TRUE(image_fits(&box->image, &mark));
    for (int i = 0; i < PER_BLOCK; i++) {
        story_next(&story, &item);
        T_TRUE(image_fits(&box->image, &item));
        gist_add(&box->blocks[number], &item);
    }
}

static void box_begin(struct box *box, int blocks)
{
    memset(box, 0, sizeof *box);
    image_begin(&box->image, PLACE, PLACES, PLACES);
    story_begin(&story, 77, 16);
    for (int i = 0; i < blocks; i++)
        box_block(box);
}

static void box_done(struct box *box)
{
    for (int i = 0; i < 32; i++)
        gist_done(&box->blocks[i]);
    image_done(&box->image);
}

static const char *written(struct box *box)
{
    const char *path = t_scratch("box.tts");
    write_file(path, box->image.bytes, box->image.capacity);
    return path;
}

/* Checks that reading the file returns the blocks `first` to `last`, both included, and then
 * this status. */
static void check_blocks(struct box *box, int first, int last, enum tts_status status)
{
    struct gist got = gist_of_file(written(box));
    size_t at = 0;
    for (int number = first; number <= last; number++) {
        const struct gist *block = &box->blocks[number];
        T_TRUE(at + block->count <= got.count);
        for (size_t i = 0; i < block->count; i++)
            T_EQ(got.sums[at++], block->sums[i]);
    }
    T_EQ(at, got.count);
    T_EQ(got.status, status);
    gist_done(&got);
}

static void check_first(struct box *box, uint64_t seq)
{
    struct tts_recfile *file;
    T_EQ(tts_recfile_open(written(box), NULL, &file, NULL), TTS_OK);
    T_EQ(tts_recfile_info(file)->first_seq, seq);
    tts_recfile_close(file);
}

T_TEST(the_last_blocks_are_read_in_their_order_however_often_it_went_round)
{
    for (int blocks = 1; blocks <= 3 * PLACES + 1; blocks++) {
        struct box box;
        int first = blocks > PLACES ? blocks - PLACES : 0;
        box_begin(&box, blocks);
        check_blocks(&box, first, blocks - 1, TTS_E_NOT_FOUND);
        check_first(&box, box.starts[first]);
        image_end(&box.image);
        check_blocks(&box, first, blocks - 1, TTS_E_NOT_FOUND);
        box_done(&box);
    }
}

T_TEST(a_place_that_is_begun_again_has_lost_its_block)
{
    struct box box;
    box_begin(&box, 6); /* the box has blocks 2 to 5 */
    /* The program was killed just after it had reset the commit. */
    *image_commit(&box.image, 6) = 0;
    check_blocks(&box, 3, 5, TTS_E_NOT_FOUND);
    check_first(&box, box.starts[3]);
    /* The program was killed when half of the new header was written. */
    memset(box.image.bytes + image_off(&box.image, 6) + 8, 0x3c, 20);
    check_blocks(&box, 3, 5, TTS_E_NOT_FOUND);
    box_done(&box);
    /* The new header is written, but no item, and the state does not count the block yet. */
    box_begin(&box, 6);
    image_block(&box.image, story.time_ns, true, false);
    *image_commit(&box.image, 6) = 0;
    box.image.state.blocks = 6;
    image_state(&box.image, TTS_REC_RECORDING);
    check_blocks(&box, 3, 5, TTS_E_NOT_FOUND);
    box_done(&box);
}

T_TEST(the_newest_block_is_found_without_the_state)
{
    struct box box;
    box_begin(&box, 7);
    memset(box.image.bytes + TTS_REC_STATE_OFF, 0x11, 2 * TTS_REC_STATE_BYTES);
    check_blocks(&box, 3, 6, TTS_E_NOT_FOUND);
    box_done(&box);
}

T_TEST(a_block_in_a_place_that_is_not_its_own_is_not_the_newest)
{
    struct box box;
    box_begin(&box, 6); /* the box has blocks 2 to 5 */
    memset(box.image.bytes + TTS_REC_STATE_OFF, 0x11, 2 * TTS_REC_STATE_BYTES);
    unsigned char *at = box.image.bytes + image_off(&box.image, 4);
    struct tts_rec_block head;
    uint64_t commit = *image_commit(&box.image, 4);
    T_EQ(tts_rec_block_get(at, &head, NULL), TTS_OK);
    head.number = 9; /* block 9 belongs in the place of block 5 */
    tts_rec_block_put(&head, at);
    *image_commit(&box.image, 4) = commit;
    /* The same status as for a block that was overwritten. */
    check_blocks(&box, 2, 3, TTS_E_IO);
    image_end(&box.image);
    image_end(&box.image);
    check_blocks(&box, 2, 3, TTS_E_SYNTAX);
    box_done(&box);
}

T_TEST(what_is_older_than_the_first_keyframe_is_left_out)
{
    struct box box;
    box_begin(&box, 6); /* the box has blocks 2 to 5 */
    unsigned char *at = box.image.bytes + image_off(&box.image, 2);
    struct tts_rec_block head;
    uint64_t commit = *image_commit(&box.image, 2);
    T_EQ(tts_rec_block_get(at, &head, NULL), TTS_OK);
    head.has_keyframe = false;
    tts_rec_block_put(&head, at);
    *image_commit(&box.image, 2) = commit;
    check_blocks(&box, 3, 5, TTS_E_NOT_FOUND);
    check_first(&box, box.starts[3]);
    box_done(&box);
}

T_TEST(damage_anywhere_is_told_after_what_is_before_it)
{
    for (int number = 2; number <= 5; number++) {
        struct box box;
        box_begin(&box, 6);
        size_t off = image_off(&box.image, (uint64_t)number);
        box.image.bytes[off + 300] ^= 1; /* damages the payload */
        check_blocks(&box, 2, number - 1, TTS_E_SYNTAX);
        box.image.bytes[off + 300] ^= 1;
        box.image.bytes[off + 9] ^= 1; /* damages the header */
        check_blocks(&box, 2, number - 1, TTS_E_SYNTAX);
        box_done(&box);
    }
}

T_TEST(every_byte_of_a_box_changed_is_found_or_does_not_matter)
{
    struct box box;
    box_begin(&box, PLACES + 1);
    check_flips(written(&box));
    box_done(&box);
}

T_TEST(cuts_of_a_box_are_found_or_do_not_matter)
{
    struct box box;
    box_begin(&box, 6);
    struct gist all = gist_of_file(written(&box));
    const char *path = t_scratch("box.tts");
    for (off_t len = (off_t)box.image.capacity - 1; len >= 0; len -= 5) {
        T_EQ(truncate(path, len), 0);
        struct gist got = gist_of_file(path);
        T_TRUE(got.status == TTS_E_NOT_FOUND ? got.count == all.count
                                             : got.err.text[0] != '\0');
        check_prefix(&got, &all);
        gist_done(&got);
    }
    gist_done(&all);
    box_done(&box);
}

T_TEST(a_block_that_is_written_over_while_it_is_read_is_told)
{
    struct box box;
    struct tts_recfile *file;
    struct tts_item item;
    struct tts_error err = {0};
    box_begin(&box, 6); /* the box has blocks 2 to 5 */
    const char *path = written(&box);
    T_EQ(tts_recfile_open(path, NULL, &file, NULL), TTS_OK);
    T_EQ(tts_recfile_next(file, &item, NULL), TTS_OK);
    box_block(&box); /* overwrites block 2, which the reader has in memory */
    box_block(&box); /* overwrites block 3 */
    write_file(path, box.image.bytes, box.image.capacity);
    enum tts_status status;
    uint64_t seq = 0;
    while ((status = tts_recfile_next(file, &item, &err)) == TTS_OK)
        seq = item.seq;
    T_EQ(status, TTS_E_IO);
    T_EQ(seq, box.starts[3]);
    T_TRUE(strstr(err.text, "block 3 was overwritten"));
    tts_recfile_close(file);
    box_done(&box);
}

T_TEST(a_seek_in_a_box_finds_the_block_of_the_event)
{
    struct box box;
    struct tts_recfile *file;
    struct tts_item item;
    box_begin(&box, 7); /* the box has blocks 3 to 6 */
    T_EQ(tts_recfile_open(written(&box), NULL, &file, NULL), TTS_OK);
    for (uint64_t seq = box.starts[3]; seq <= box.image.seq; seq++) {
        int block = 6;
        while (box.starts[block] > seq)
            block--;
        T_EQ(tts_recfile_seek(file, seq, NULL), TTS_OK);
        T_EQ(tts_recfile_next(file, &item, NULL), TTS_OK);
        T_EQ(item.kind, TTS_ITEM_KEYFRAME);
        T_EQ(item.seq, box.starts[block]);
    }
    T_EQ(tts_recfile_seek(file, box.starts[3] - 1, NULL), TTS_E_NOT_FOUND);
    T_EQ(tts_recfile_seek(file, box.image.seq + 1, NULL), TTS_E_NOT_FOUND);
    tts_recfile_close(file);
    box_done(&box);
}
