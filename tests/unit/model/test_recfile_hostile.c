/* Tests malicious files: all checksums are valid, but the content is arbitrary. Reading must
 * return valid items, or an error with a text. */
#include "harness/recfile_rig.h"

enum {
    PLACE = 4096,
    BLOCKS_MAX = 16,
    BYTES_MAX = 1 << 17,
    HEADER = TTS_REC_HEADER_BYTES,
    HEAD = TTS_REC_BLOCK_HEADER_BYTES,
    NAME_OFF = 64, /* offset of the program name in the header: 256 bytes with any values */
};

static unsigned char bytes[BYTES_MAX]; /* content of the file */
static size_t len;
static size_t offs[BLOCKS_MAX]; /* offsets of the blocks */
static size_t off_count;

/* ---- putting right ---- */

static uint32_t check_of(const unsigned char *at, size_t count, uint64_t seed)
{
    struct tts_checksum check;
    tts_checksum_begin(&check, seed);
    return tts_checksum_update(&check, at, count);
}

static void fix_header(void)
{
    tts_put64(bytes + TTS_REC_CHECK_OFF, check_of(bytes, TTS_REC_STATE_OFF, 0));
    for (int copy = 0; copy < 2; copy++) {
        unsigned char *at = bytes + TTS_REC_STATE_OFF + copy * TTS_REC_STATE_BYTES;
        tts_put64(at + 56, check_of(at, 56, 0));
    }
}

static void fix_block(size_t off)
{
    unsigned char *at = bytes + off;
    uint32_t used = tts_get32(at + TTS_REC_COMMIT_OFF);
    size_t room = len - off - HEAD;
    tts_put64(at + 48, check_of(at, 48, 0));
    if (used <= room)
        tts_put32(at + TTS_REC_COMMIT_OFF + 4, check_of(at + HEAD, used, tts_get64(at + 8)));
}

static const char *written(void)
{
    const char *path = t_scratch("hostile.tts");
    write_file(path, bytes, len);
    return path;
}

/* ---- reading ---- */

static void check_status(enum tts_status status, const struct tts_error *err)
{
    if (status == TTS_E_NOT_FOUND)
        return;
    T_TRUE(status == TTS_E_SYNTAX || status == TTS_E_RANGE || status == TTS_E_IO);
    check_error(err, status);
}

/* Reads the file with a follower, up to the first item that the follower refuses. */
static uint64_t read_on(struct tts_recfile *file)
{
    const struct tts_follow_config config = {
        .limits = {.live_max = 256, .devices_max = 8, .ops_max = 16}};
    struct tts_follow *follow = NULL;
    struct tts_item item;
    struct tts_error err = {0};
    uint64_t seq = 0, time_ns = 0, count = 0;
    bool is_followed = true;
    enum tts_status status;
    T_EQ(tts_follow_new(&config, &thrift, &follow, NULL), TTS_OK);
    for (; (status = tts_recfile_next(file, &item, &err)) == TTS_OK; count++) {
        T_TRUE(item.has_time && item.time_ns >= time_ns && count < BYTES_MAX);
        T_TRUE(item.seq < TTS_FOLD_SEQ_MAX);
        T_TRUE(count == 0 || item.seq == seq + (item.kind == TTS_ITEM_EVENT));
        seq = item.seq;
        time_ns = item.time_ns;
        is_followed = is_followed && tts_follow_item(follow, &item, &err) == TTS_OK;
        T_TRUE(tts_recfile_tell(file) > 0);
    }
    check_status(status, &err);
    tts_follow_free(follow);
    return count;
}

static void check_file(const char *path, const uint64_t *seqs, size_t seq_count)
{
    struct tts_recfile *file = NULL;
    struct tts_item item;
    struct tts_error err = {0};
    enum tts_status status = tts_recfile_open(path, &thrift, &file, &err);
    if (status != TTS_OK) {
        check_status(status, &err);
        return;
    }
    read_on(file);
    for (size_t i = 0; i < seq_count; i++) {
        status = tts_recfile_seek(file, seqs[i], &err);
        if (status == TTS_OK)
            status = tts_recfile_next(file, &item, &err);
        if (status != TTS_OK)
            check_status(status, &err);
    }
    tts_recfile_close(file);
}

/* ---- any field ---- */

static void take(const unsigned char *from, size_t count)
{
    T_TRUE(count <= BYTES_MAX);
    memcpy(bytes, from, count);
    len = count;
}

static void take_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    T_TRUE(in != NULL);
    len = fread(bytes, 1, sizeof bytes, in);
    T_TRUE(len > HEADER && len < sizeof bytes);
    fclose(in);
}

static void note_places(const struct image *image)
{
    uint64_t blocks = image->state.blocks, places = image->header.places;
    off_count = 0;
    for (uint64_t n = 0; n < blocks && (places == 0 || n < places); n++)
        offs[off_count++] = image_off(image, n);
}

static void note_packed(void)
{
    off_count = 0;
    for (size_t off = HEADER; off + HEAD <= len; off += tts_get64(bytes + off + 40))
        offs[off_count++] = off;
}

/* Makes a live file, a finished file, a black box or a packed file. */
static void make(int kind, uint64_t seed)
{
    static struct story story;
    struct image image;
    struct tts_item item;
    image_begin(&image, PLACE, kind == 2 ? 3 : 0, 6);
    story_begin(&story, seed, 16);
    while (image.state.blocks < 4 + (kind == 2)) {
        story_next(&story, &item);
        if (kind == 2 && item.kind == TTS_ITEM_EVENT && image.enc.at > image.enc.end)
            image_block(&image, item.time_ns, true, false);
        image_item(&image, &item);
    }
    if (kind == 1)
        image_end(&image);
    take(image.bytes, kind == 1 ? image_used(&image) : image.capacity);
    note_places(&image);
    if (kind == 3) {
        const char *live = written(), *small = t_scratch("small.tts");
        T_EQ(pack_file(live, small, NULL, NULL), TTS_OK);
        take_file(small);
        note_packed();
    }
    image_done(&image);
}

static uint64_t odd_number(uint64_t *rng)
{
    static const uint64_t numbers[] = {
        0,    1,    2,    3,    4,       63,        64,         65,
        4095, 4096, 4097, 8192, 1 << 20, 64u << 20, UINT32_MAX, TTS_FOLD_SEQ_MAX - 1};
    uint64_t choice = t_random(rng) % 24;
    if (choice < 16)
        return numbers[choice];
    if (choice < 18)
        return (UINT64_C(1) << 59) + choice - 16;
    if (choice < 20)
        return UINT64_MAX - t_random(rng) % 3;
    if (choice < 22)
        return offs[t_random(rng) % off_count] + t_random(rng) % 2;
    return TTS_FOLD_SEQ_MAX - t_random(rng) % 70;
}

static void change_header(uint64_t *rng)
{
    static const size_t words[] = {16, 24, 32, 40, 48, 56};
    size_t state = TTS_REC_STATE_OFF + t_random(rng) % 2 * TTS_REC_STATE_BYTES;
    if (t_random(rng) % 2)
        tts_put64(bytes + words[t_random(rng) % 6], odd_number(rng));
    else if (t_random(rng) % 4 == 0)
        tts_put32(bytes + state + 8 + t_random(rng) % 2 * 4, (uint32_t)(t_random(rng) % 5));
    else
        tts_put64(bytes + state + 16 + t_random(rng) % 4 * 8, odd_number(rng));
}

static void change_block(uint64_t *rng)
{
    unsigned char *at = bytes + offs[t_random(rng) % off_count];
    uint64_t choice = t_random(rng) % 8;
    if (choice < 5)
        tts_put64(at + 8 + choice * 8, odd_number(rng));
    else if (choice == 5)
        at[4 + t_random(rng) % 3] = (unsigned char)(t_random(rng) % 3);
    else if (choice == 6)
        tts_put32(at + TTS_REC_COMMIT_OFF, (uint32_t)odd_number(rng));
    else
        tts_put64(at + HEAD + t_random(rng) % 8 * 8, odd_number(rng));
}

T_TEST(whatever_a_field_says_under_a_check_that_fits_is_read_or_refused)
{
    uint64_t rng = 4711;
    for (int kind = 0; kind < 4; kind++) {
        make(kind, 3 + (uint64_t)kind);
        static unsigned char kept[BYTES_MAX];
        memcpy(kept, bytes, len);
        for (int round = 0; round < 250; round++) {
            uint64_t seqs[4];
            for (uint64_t n = 1 + t_random(&rng) % 3; n > 0; n--)
                (t_random(&rng) % 3 ? change_block : change_header)(&rng);
            fix_header();
            for (size_t i = 0; i < off_count; i++)
                fix_block(offs[i]);
            for (int i = 0; i < 4; i++)
                seqs[i] = i < 3 ? t_random(&rng) % 300 : odd_number(&rng);
            check_file(written(), seqs, 4);
            memcpy(bytes, kept, len);
        }
    }
}

/* ---- by hand ---- */

static void put_block(size_t off, struct tts_rec_block block, const unsigned char *payload,
                      size_t count)
{
    block.place_bytes = HEAD + count;
    tts_rec_block_put(&block, bytes + off);
    memcpy(bytes + off + HEAD, payload, count);
    tts_put64(bytes + off + TTS_REC_COMMIT_OFF,
              (uint64_t)check_of(payload, count, block.number) << 32 | count);
}

/* Makes a file with one block of three programs, packed without compression. Its index is at
 * `index_off` and says that the block is at `entry_off`. */
static const char *made(uint64_t index_off, uint64_t entry_off, uint64_t seq)
{
    static const unsigned char programs[] = {5, 5, 5};
    unsigned char entry[32] = {0};
    struct tts_rec_header header = {.kind = TTS_REC_PACKED, .unit_scale = UINT64_C(1) << 32};
    struct tts_rec_state state = {
        .kind = TTS_REC_ENDED, .blocks = 1, .events = 3, .index_off = index_off};
    struct tts_rec_block block = {.kind = TTS_REC_ITEMS, .seq = seq};
    struct tts_rec_block index = {.kind = TTS_REC_INDEX, .number = 1, .seq = seq + 3};
    size_t end = HEADER + HEAD + sizeof programs;
    memset(bytes, 0, sizeof bytes);
    tts_rec_header_put(&header, bytes);
    for (state.generation = 1; state.generation <= 2; state.generation++)
        tts_rec_state_put(&state, bytes);
    tts_put64(entry, entry_off);
    tts_put64(entry + 8, seq);
    put_block(HEADER, block, programs, sizeof programs);
    put_block(end, index, entry, sizeof entry);
    if (index_off == NAME_OFF)
        put_block(NAME_OFF, index, entry, sizeof entry);
    if (entry_off == NAME_OFF)
        put_block(NAME_OFF, block, programs, sizeof programs);
    fix_header();
    len = end + HEAD + sizeof entry;
    return written();
}

/* Checks that reading and seeking give the same as in a file without an index. */
static void check_without_index(const char *path, bool has_index)
{
    struct tts_recfile *file = NULL;
    T_EQ(tts_recfile_open(path, NULL, &file, NULL), TTS_OK);
    T_EQ(tts_recfile_info(file)->has_index, has_index);
    T_EQ(read_on(file), 3);
    for (uint64_t seq = 0; seq <= 3; seq++) {
        T_EQ(tts_recfile_seek(file, seq, NULL), TTS_OK);
        T_EQ(read_on(file), 3);
    }
    T_EQ(tts_recfile_seek(file, 4, NULL), TTS_E_NOT_FOUND);
    tts_recfile_close(file);
}

T_TEST(an_index_in_the_header_or_of_a_block_there_is_done_without)
{
    const uint64_t end = HEADER + HEAD + 3;
    check_without_index(made(end, HEADER, 0), true);
    check_without_index(made(NAME_OFF, HEADER, 0), false);
    check_without_index(made(end, NAME_OFF, 0), false);
    check_without_index(made(end, 0, 0), false);
    check_without_index(made(0, HEADER, 0), false);
}

T_TEST(events_that_pass_the_last_number_there_is_are_damage)
{
    struct gist got = gist_of_file(made(0, 0, TTS_FOLD_SEQ_MAX - 3));
    T_EQ(got.status, TTS_E_SYNTAX);
    T_TRUE(strstr(got.err.text, "the number of events of the block is too large"));
    T_EQ(got.count, 0);
    gist_done(&got);
    got = gist_of_file(made(0, 0, TTS_FOLD_SEQ_MAX - 4));
    T_EQ(got.status, TTS_E_NOT_FOUND);
    T_EQ(got.count, 3);
    gist_done(&got);
}

/* ---- a number of blocks that cannot be ---- */

/* Continues after damage as often as possible. Returns the number of times. */
static int resume_all(struct tts_recfile *file)
{
    struct tts_item item;
    uint64_t missing;
    int count = -1;
    alarm(20); /* a wrong search would run forever */
    do {
        count++;
        while (tts_recfile_next(file, &item, NULL) == TTS_OK)
            continue;
    } while (tts_recfile_resume(file, &missing) == TTS_OK);
    T_TRUE(tts_recfile_seek(file, tts_recfile_info(file)->first_seq + 1000, NULL) != TTS_OK);
    alarm(0);
    return count;
}

static void put_state(struct image *image, uint64_t blocks)
{
    image->state.blocks = blocks;
    image_state(image, TTS_REC_RECORDING);
}

/* Makes blocks with one program each. Each block begins with an empty keyframe. */
static void image_of_programs(struct image *image, uint64_t places)
{
    struct tts_item item = {.time_ns = 2000000};
    image_begin(image, PLACE, places, 4);
    for (int i = 0; i < 4; i++) {
        image_block(image, item.time_ns, true, false);
        item.kind = TTS_ITEM_KEYFRAME;
        T_TRUE(image_fits(image, &item));
        item.kind = TTS_ITEM_KEYFRAME_END;
        T_TRUE(image_fits(image, &item));
        item.kind = TTS_ITEM_EVENT;
        item.event = tts_event_of(TTS_EVENT_PROGRAM, 0);
        item.seq++;
        T_TRUE(image_fits(image, &item));
    }
}

T_TEST(a_search_behind_damage_ends_with_the_file_whatever_the_blocks_are_said_to_be)
{
    struct tts_recfile *file;
    const char *path = t_scratch("blocks.tts");
    for (uint64_t places = 0; places <= 4; places += 4) {
        struct image image;
        image_of_programs(&image, places);
        image.bytes[image_off(&image, 1) + 20] ^= 1;
        put_state(&image, UINT64_C(1) << 60);
        write_file(path, image.bytes, image.capacity);
        T_EQ(tts_recfile_open(path, &thrift, &file, NULL), TTS_OK);
        T_EQ(resume_all(file), places == 0); /* in a black box no block is in its place */
        tts_recfile_close(file);
        image_done(&image);
    }
}

/* Like the previous test, for a black box that grows while it is read. */
T_TEST(a_search_in_a_black_box_that_grows_ends_with_its_places)
{
    struct tts_recfile *file;
    struct tts_item item;
    struct image image;
    const char *path = t_scratch("grows.tts");
    image_of_programs(&image, 4);
    write_file(path, image.bytes, image.capacity);
    T_EQ(tts_recfile_open(path, &thrift, &file, NULL), TTS_OK);
    while (tts_recfile_next(file, &item, NULL) == TTS_OK)
        continue;
    put_state(&image, UINT64_C(1) << 60);
    memset(image.bytes + image_off(&image, 0), 0x55, 4 * PLACE);
    write_file(path, image.bytes, image.capacity);
    T_EQ(resume_all(file), 0);
    tts_recfile_close(file);
    image_done(&image);
}
