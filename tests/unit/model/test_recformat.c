/* Tests the header, the state and the block header of a recording: reading returns what was
 * written, and damage is detected. */
#include "harness/t.h"
#include "model/recording/recformat.h"

#include "base/bytes.h"
#include "base/checksum.h"

#include <string.h>

static struct tts_rec_header a_header(void)
{
    return (struct tts_rec_header){
        .kind = TTS_REC_LIVE,
        .place_bytes = 1 << 20,
        .places = 16,
        .start_ns = UINT64_C(0x0102030405060708),
        .start_realtime_ns = UINT64_C(1700000000000000000),
        .unit_scale = UINT64_C(0x900000001),
        .pid = 4711,
        .flags = TTS_REC_DRAM_ONLY | UINT64_C(1) << 63, /* the second flag is not defined yet */
        .program = "train",
        .writer = "0.1.0",
    };
}

static struct tts_rec_state a_state(uint64_t generation)
{
    return (struct tts_rec_state){
        .generation = generation,
        .kind = TTS_REC_STOPPED,
        .sys_errno = 28,
        .blocks = 3 + generation,
        .events = UINT64_C(1) << 40,
        .dropped = 5,
        .index_off = 1 << 30,
    };
}

static struct tts_rec_block a_block(void)
{
    return (struct tts_rec_block){
        .kind = TTS_REC_ITEMS,
        .packing = TTS_REC_ZSTD,
        .has_keyframe = true,
        .number = 9,
        .seq = UINT64_C(0x1122334455667788),
        .tick = 77,
        .time_ns = 88,
        .place_bytes = 1 << 20,
    };
}

/* Makes the checksum of a header valid again. */
static void seal(unsigned char *bytes, size_t len, size_t check_off)
{
    struct tts_checksum check;
    tts_checksum_begin(&check, 0);
    tts_put64(bytes + check_off, tts_checksum_update(&check, bytes, len));
}

/* --- the header ------------------------------------------------------------------------- */

static void header_refused(const unsigned char *bytes, enum tts_status status, uint64_t offset,
                           const char *part)
{
    struct tts_rec_header out, before;
    struct tts_error err;
    memset(&out, 0xee, sizeof out);
    memcpy(&before, &out, sizeof out);
    T_EQ(tts_rec_header_get(bytes, &out, &err), status);
    T_EQ(err.status, status);
    T_EQ(err.offset, offset);
    T_TRUE(strstr(err.text, part) != NULL);
    T_MEM_EQ(&out, &before, sizeof out);
    T_EQ(tts_rec_header_get(bytes, &out, NULL), status);
}

T_TEST(a_header_is_read_as_it_was_written)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES];
    struct tts_rec_header header = a_header(), back;
    struct tts_error err;
    memset(bytes, 0xff, sizeof bytes);
    tts_rec_header_put(&header, bytes);
    T_EQ(tts_rec_header_get(bytes, &back, &err), TTS_OK);
    T_MEM_EQ(&back, &header, sizeof back);
    header.kind = TTS_REC_PACKED;
    header.place_bytes = header.places = 0;
    memset(header.program, 'p', sizeof header.program); /* a name without a terminator is cut */
    memset(header.writer, 'w', sizeof header.writer);
    tts_rec_header_put(&header, bytes);
    T_EQ(tts_rec_header_get(bytes, &back, &err), TTS_OK);
    T_EQ(back.kind, TTS_REC_PACKED);
    T_EQ(strlen(back.program), TTS_REC_PROGRAM_MAX - 1);
    T_EQ(strlen(back.writer), TTS_REC_WRITER_MAX - 1);
}

T_TEST(the_numbers_of_a_header_are_where_the_page_says)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES];
    struct tts_rec_header header = a_header();
    tts_rec_header_put(&header, bytes);
    static const unsigned char begin[40] = {
        0x89, 't', 't', 's', '\r', '\n', 0x1a, '\n',
        1,    0,   0,   0,   1,    0,    0,    0, /* live */
        0,    0,   16,  0,   0,    0,    0,    0,
        16,   0,   0,   0,   0,    0,    0,    0, /* size and number of places */
        8,    7,   6,   5,   4,    3,    2,    1};
    T_MEM_EQ(bytes, begin, sizeof begin);
    T_EQ(tts_get64(bytes + 48), UINT64_C(0x900000001));
    T_EQ(tts_get64(bytes + 56), 4711);
    T_STR_EQ((const char *)bytes + 64, "train");
    T_STR_EQ((const char *)bytes + 320, "0.1.0");
    T_EQ(tts_get64(bytes + 352), UINT64_C(0x8000000000000001));
}

T_TEST(every_damaged_byte_of_a_header_but_the_state_is_noticed)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES];
    struct tts_rec_header header = a_header(), back;
    tts_rec_header_put(&header, bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bool is_state = i >= TTS_REC_STATE_OFF && i < TTS_REC_STATE_OFF + 128;
        for (unsigned bit = 0; bit < 8; bit++) {
            struct tts_error err;
            bytes[i] ^= (unsigned char)(1u << bit);
            T_EQ(tts_rec_header_get(bytes, &back, &err), is_state ? TTS_OK : TTS_E_SYNTAX);
            bytes[i] ^= (unsigned char)(1u << bit);
        }
    }
}

T_TEST(a_header_that_cannot_be_is_refused_whatever_its_check)
{
    unsigned char good[TTS_REC_HEADER_BYTES], bytes[TTS_REC_HEADER_BYTES];
    struct tts_rec_header header = a_header();
    tts_rec_header_put(&header, good);
    static const struct {
        size_t at;
        unsigned char byte;
        enum tts_status status;
        uint64_t offset;
        const char *part;
    } cases[] = {
        {0, 'x', TTS_E_SYNTAX, 0, "not a recording"},
        {8, 3, TTS_E_RANGE, 8, "version 3"},
        {8, 0, TTS_E_SYNTAX, 8, "version is 0"},
        {12, 3, TTS_E_SYNTAX, 12, "kind"},
        {12, 0, TTS_E_SYNTAX, 12, "kind"},
        {12, 2, TTS_E_SYNTAX, 16, "blocks"}, /* a packed file cannot have places */
        {16, 1, TTS_E_SYNTAX, 16, "blocks"}, /* a place must consist of whole pages */
        {18, 0, TTS_E_SYNTAX, 16, "blocks"}, /* a place must have bytes */
        {19, 4, TTS_E_SYNTAX, 16, "blocks"}, /* a place is at most 64 MiB */
        {319, 'x', TTS_E_SYNTAX, 64, "name"},
        {351, 'x', TTS_E_SYNTAX, 64, "name"},
        {2176, 1, TTS_E_SYNTAX, 2176, "unused bytes"},
        {4087, 1, TTS_E_SYNTAX, 2176, "unused bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(bytes, good, sizeof bytes);
        bytes[cases[i].at] = cases[i].byte;
        seal(bytes, TTS_REC_STATE_OFF, TTS_REC_CHECK_OFF);
        header_refused(bytes, cases[i].status, cases[i].offset, cases[i].part);
    }
    bytes[40] ^= 1;
    header_refused(bytes, TTS_E_SYNTAX, 0, "check");
}

T_TEST(the_largest_place_is_64_mebibytes)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES];
    struct tts_rec_header header = a_header(), back;
    header.place_bytes = 64 << 20;
    tts_rec_header_put(&header, bytes);
    T_EQ(tts_rec_header_get(bytes, &back, NULL), TTS_OK);
    header.place_bytes += 4096;
    tts_rec_header_put(&header, bytes);
    T_EQ(tts_rec_header_get(bytes, &back, NULL), TTS_E_SYNTAX);
}

/* --- the state -------------------------------------------------------------------------- */

static void state_is(const unsigned char *bytes, uint64_t generation, bool want_damaged)
{
    struct tts_rec_state state, want = a_state(generation);
    struct tts_error err;
    bool is_damaged = !want_damaged;
    T_EQ(tts_rec_state_get(bytes, &state, &is_damaged, &err), TTS_OK);
    T_EQ(is_damaged, want_damaged);
    T_EQ(state.generation, want.generation);
    T_EQ(state.kind, want.kind);
    T_EQ(state.sys_errno, want.sys_errno);
    T_EQ(state.blocks, want.blocks);
    T_EQ(state.events, want.events);
    T_EQ(state.dropped, want.dropped);
    T_EQ(state.index_off, want.index_off);
}

static void put_state(unsigned char *bytes, uint64_t generation)
{
    struct tts_rec_state state = a_state(generation);
    tts_rec_state_put(&state, bytes);
}

T_TEST(the_newer_copy_counts_and_the_older_stays)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES] = {0};
    struct tts_rec_state got;
    struct tts_error err;
    bool is_damaged;
    T_EQ(tts_rec_state_get(bytes, &got, &is_damaged, &err), TTS_E_SYNTAX);
    T_EQ(err.offset, TTS_REC_STATE_OFF);
    for (uint64_t generation = 1; generation < 10; generation++) {
        put_state(bytes, generation);
        state_is(bytes, generation, false);
        T_EQ(tts_get64(bytes + 2048 + (generation % 2 ? 0 : 64)), generation);
    }
    T_EQ(tts_get64(bytes + 2048), 9);
    T_EQ(tts_get64(bytes + 2112), 8);
}

T_TEST(every_damaged_byte_of_a_copy_is_noticed_and_the_other_counts)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES] = {0};
    put_state(bytes, 1);
    put_state(bytes, 2);
    for (size_t i = 0; i < 128; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[2048 + i] ^= (unsigned char)(1u << bit);
            state_is(bytes, i < 64 ? 2 : 1, true);
            bytes[2048 + i] ^= (unsigned char)(1u << bit);
        }
    }
    memset(bytes + 2112, 0, 64); /* as if the state had never been written */
    state_is(bytes, 1, false);
    bytes[2112 + 60] = 1;
    state_is(bytes, 1, true);
    bytes[2048] ^= 1;
    struct tts_rec_state got = a_state(5);
    bool is_damaged = true;
    T_EQ(tts_rec_state_get(bytes, &got, &is_damaged, NULL), TTS_E_SYNTAX);
    T_TRUE(got.generation == 5 && is_damaged);
}

T_TEST(a_copy_in_the_others_place_or_of_no_kind_is_not_one)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES] = {0};
    put_state(bytes, 2);
    put_state(bytes, 3);
    memcpy(bytes + 2112, bytes + 2048, 64);
    state_is(bytes, 3, true);
    memset(bytes + 2048, 0, 64);
    struct tts_rec_state got;
    bool is_damaged;
    T_EQ(tts_rec_state_get(bytes, &got, &is_damaged, NULL), TTS_E_SYNTAX);
    for (unsigned kind = 0; kind < 5; kind++) {
        put_state(bytes, 3);
        tts_put32(bytes + 2048 + 8, kind);
        seal(bytes + 2048, 56, 56);
        T_EQ(tts_rec_state_get(bytes, &got, &is_damaged, NULL),
             kind >= 1 && kind <= 3 ? TTS_OK : TTS_E_SYNTAX);
    }
}

/* --- blocks ----------------------------------------------------------------------------- */

static bool same_block(const struct tts_rec_block *a, const struct tts_rec_block *b)
{
    return a->kind == b->kind && a->packing == b->packing &&
           a->has_keyframe == b->has_keyframe && a->in_keyframe == b->in_keyframe &&
           a->number == b->number && a->seq == b->seq && a->tick == b->tick &&
           a->time_ns == b->time_ns && a->place_bytes == b->place_bytes;
}

T_TEST(a_block_is_read_as_it_was_written_and_its_commit_is_left_alone)
{
    unsigned char bytes[TTS_REC_BLOCK_HEADER_BYTES];
    struct tts_rec_block block = a_block(), back;
    for (unsigned keyframe = 0; keyframe < 3; keyframe++) {
        memset(bytes, 0xcc, sizeof bytes);
        block.has_keyframe = keyframe == 1;
        block.in_keyframe = keyframe == 2;
        tts_rec_block_put(&block, bytes);
        T_EQ(bytes[6], keyframe);
        T_EQ(tts_get64(bytes + TTS_REC_COMMIT_OFF), UINT64_C(0xcccccccccccccccc));
        T_EQ(tts_rec_block_get(bytes, &back, NULL), TTS_OK);
        T_TRUE(same_block(&back, &block));
    }
    static const unsigned char begin[24] = {'T',  'T',  'S',  'B',  1,    1,    2,    0,
                                            9,    0,    0,    0,    0,    0,    0,    0,
                                            0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    T_MEM_EQ(bytes, begin, sizeof begin);
}

T_TEST(every_damaged_byte_of_a_block_but_its_commit_is_noticed)
{
    unsigned char bytes[TTS_REC_BLOCK_HEADER_BYTES] = {0};
    struct tts_rec_block block = a_block(), back;
    tts_rec_block_put(&block, bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] ^= (unsigned char)(1u << bit);
            T_EQ(tts_rec_block_get(bytes, &back, NULL),
                 i < TTS_REC_COMMIT_OFF ? TTS_E_SYNTAX : TTS_OK);
            bytes[i] ^= (unsigned char)(1u << bit);
        }
    }
}

T_TEST(a_block_that_was_never_begun_is_all_zeros_its_commit_too)
{
    unsigned char bytes[TTS_REC_BLOCK_HEADER_BYTES] = {0};
    struct tts_rec_block back = a_block(), before = back;
    struct tts_error err;
    T_EQ(tts_rec_block_get(bytes, &back, &err), TTS_E_NOT_FOUND);
    T_TRUE(same_block(&back, &before));
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = 1;
        T_EQ(tts_rec_block_get(bytes, &back, &err), TTS_E_SYNTAX);
        bytes[i] = 0;
    }
}

T_TEST(a_block_that_cannot_be_is_refused_whatever_its_check)
{
    unsigned char bytes[TTS_REC_BLOCK_HEADER_BYTES] = {0};
    static const struct {
        size_t at;
        unsigned char byte;
        uint64_t offset;
    } cases[] = {{4, 0, 4}, {4, 4, 4}, {5, 2, 4}, {6, 3, 4}, {7, 1, 4}, {42, 0, 40}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tts_rec_block block = a_block(), back = block;
        struct tts_error err;
        tts_rec_block_put(&block, bytes);
        bytes[cases[i].at] = cases[i].byte;
        seal(bytes, 48, 48);
        T_EQ(tts_rec_block_get(bytes, &back, &err), TTS_E_SYNTAX);
        T_EQ(err.offset, cases[i].offset);
        T_TRUE(same_block(&back, &block));
    }
}

T_TEST(the_version_is_the_lowest_that_has_what_the_flags_say)
{
    static const struct {
        uint64_t flags;
        uint32_t version;
    } cases[] = {{0, 1},
                 {TTS_REC_DRAM_ONLY, 1},
                 {TTS_REC_SAMPLES, 2},
                 {TTS_REC_L1_REQUESTED, 2},
                 {UINT64_C(1) << 63, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char bytes[TTS_REC_HEADER_BYTES];
        struct tts_rec_header header = a_header(), back;
        header.flags = cases[i].flags;
        tts_rec_header_put(&header, bytes);
        T_EQ(tts_get32(bytes + 8), cases[i].version);
        T_EQ(tts_rec_header_get(bytes, &back, NULL), TTS_OK);
        T_EQ(back.flags, cases[i].flags);
    }
}
