/* Tests the decoder: wrong bytes are refused with their offset, and every input has an end. */
#include "harness/item_draw.h"
#include "harness/same_item.h"
#include "model/recording/recdec.h"
#include "model/recording/recenc.h"

#include <stdlib.h>

enum { PAYLOAD_MAX = 6000 };

static struct tts_recdec dec;

static const struct tts_rec_block plain = {.kind = TTS_REC_ITEMS, .seq = 10, .tick = 100};

/* Begins to decode a copy of exact size, so that a sanitizer detects a read after the bytes. */
static unsigned char *begin(const struct tts_rec_block *block, const unsigned char *bytes,
                            size_t len)
{
    unsigned char *exact = malloc(len + (len == 0));
    memcpy(exact, bytes, len);
    tts_recdec_begin(&dec, block, exact, len);
    return exact;
}

/* Reads all items up to the end or the damage. An error must have a text, and an offset inside
 * the bytes. */
static enum tts_status read_all(const struct tts_rec_block *block, const unsigned char *bytes,
                                size_t len, struct tts_error *err)
{
    unsigned char *exact = begin(block, bytes, len);
    struct tts_item item;
    uint64_t tick, last = block->tick, seq = block->seq;
    size_t count = 0;
    enum tts_status status;
    while ((status = tts_recdec_next(&dec, &item, &tick, err)) == TTS_OK) {
        T_TRUE(++count <= len && tick >= last);
        last = tick;
        T_EQ(item.seq, item.kind == TTS_ITEM_EVENT ? ++seq : seq);
        if (item.kind == TTS_ITEM_EVENT || item.kind == TTS_ITEM_PART)
            T_EQ(tts_event_check(&item.event, NULL), TTS_OK);
    }
    if (status != TTS_E_NOT_FOUND) {
        struct tts_error again;
        T_EQ(status, TTS_E_SYNTAX);
        T_EQ(err->status, TTS_E_SYNTAX);
        T_TRUE(err->offset <= len && strncmp(err->text, "damaged record: ", 16) == 0);
        /* Each further call returns the same error. */
        T_EQ(tts_recdec_next(&dec, &item, &tick, &again), TTS_E_SYNTAX);
        T_EQ(again.offset, err->offset);
        T_STR_EQ(again.text, err->text);
        T_EQ(tts_recdec_next(&dec, &item, &tick, NULL), TTS_E_SYNTAX);
    }
    free(exact);
    return status;
}

/* --- refusals --------------------------------------------------------------------------- */

#define SHAPE 0x09, 1, 7, 0, 0, 16  /* defines shape 7: 16 bytes of DRAM */
#define NOTHING 0x09, 1, 8, 0, 0, 0 /* defines shape 8: a buffer without bytes */
/* Defines shape 9: a circular buffer on a core. */
#define CB 0x09, 3, 5, 1, 0, 0, 0, 0, 0x09, 1, 9, 0x40 | 32, 0, 16, 5
#define AT 0x09, 1, 6, 1, 0, 16 /* defines shape 6: 16 bytes with an address */
#define KEYFRAME 0x0a, 8, 1
#define ONES 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff /* nine bytes of ones */
#define FIELDS 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20

struct bad {
    const char *part; /* words that the message must have */
    uint64_t offset;
    size_t len;
    unsigned char bytes[64];
};

#define BAD(part, offset, ...)                                                                 \
    {                                                                                          \
        part, offset, sizeof((unsigned char[]){__VA_ARGS__}),                                  \
        {                                                                                      \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }

static const struct bad bads[] = {
    BAD("unknown kind of record 0", 0, 0x00),
    BAD("unknown kind of record 13", 0, 0x0d),
    BAD("unknown kind of record 14", 0, 0x0e),
    BAD("unknown kind of record 15", 2, 0x0a, 6, 0x0f),
    BAD("unknown kind of mark 0", 1, 0x0a, 0),
    BAD("unknown kind of mark 17", 1, 0x0a, 17),
    BAD("a count of omitted buffers is outside a keyframe", 0, 0x0a, 15, 1, 1),
    BAD("unknown kind of definition 0", 1, 0x09, 0),
    BAD("unknown kind of definition 5", 1, 0x09, 5),
    /* A record names a slot that is not defined. */
    BAD("shape 7 is used but not defined", 1, 0x01, 7),
    BAD("shape 7 is used but not defined", 1, 0x02, 7, 0),
    BAD("shape 3 is used but not defined", 1, 0x04, 3, 0),
    BAD("shape 3 is used but not defined", 1, 0x06, 3),
    BAD("shape 3 is used but not defined", 4, KEYFRAME, 0x0c, 3, 0, 0),
    BAD("shape 3 is used but not defined", 5, KEYFRAME, 0x0a, 10, 3, 0),
    BAD("name 4 is used but not defined", 1, 0x07, 4, 1),
    BAD("name 4 is used but not defined", 1, 0x0b, 5, 1, 0),
    BAD("name 4 is used but not defined", 6, 0x09, 1, 7, 4, 0, 16, 4),
    BAD("ranges 4 is used but not defined", 6, 0x09, 1, 7, 32 | 0x40, 0, 16, 4),
    BAD("ranges 64 is used but not defined", 6, 0x09, 1, 7, 32 | 0x40, 0, 16, 64),
    /* A number is too large. */
    BAD("a number does not fit in 64 bits", 7, SHAPE, 0x03, ONES, 2),
    BAD("a number does not fit in 64 bits", 7, SHAPE, 0x03, ONES, 0x80, 0),
    BAD("a number does not fit in 64 bits", 1, 0xf3, ONES, 2, 0),
    BAD("the time of the record does not fit", 1, 0xf3, ONES, 1, 0),
    BAD("thread number is 4294967296", 1, 0x08, 0x80, 0x80, 0x80, 0x80, 0x10),
    BAD("device number is 4294967296", 2, 0x09, 4, 0x80, 0x80, 0x80, 0x80, 0x10),
    BAD("capture number is 4294967296", 2, 0x0a, 1, 0x80, 0x80, 0x80, 0x80, 0x10),
    BAD("mesh number is 4294967296", 3, 0x0a, 4, 1, 0x80, 0x80, 0x80, 0x80, 0x10),
    BAD("name number is 257", 1, 0x0b, 0x81, 2),
    BAD("set of known values is 4194304", 3, 0x0a, 16, 0, 0x80, 0x80, 0x80, 2),
    BAD("value of a sample is 4611686018427387905", 5, 0x0a, 16, 0, 3, 7, 0x81, 0x80, 0x80,
        0x80, 0x80, 0x80, 0x80, 0x80, 0x40),
    /* A value is impossible for this kind of record. */
    BAD("event shape 9, which is not for buffers", 16, CB, 0x01, 9),
    BAD("event shape 9, which is not for buffers", 16, CB, 0x04, 9, 0),
    BAD("event shape 7, which is for buffers", 7, SHAPE, 0x06, 7),
    BAD("the size of a buffer is 0 bytes", 7, NOTHING, 0x01, 8),
    BAD("the size of a buffer is 0 bytes", 10, NOTHING, KEYFRAME, 0x0c, 8, 0, 0),
    BAD("has the address 18446744073709551615, but the maximum is 2^62", 7, AT, 0x01, 6, 1),
    BAD("a name has 64 bytes", 3, 0x09, 2, 1, 64),
    BAD("core-range set 1 has 0 ranges", 2, 0x09, 3, 1, 0),
    BAD("core-range set 1 has 65 ranges", 2, 0x09, 3, 1, 65),
    BAD("core-range set 64 has 1 ranges", 2, 0x09, 3, 64, 1, 0, 0, 0, 0),
    BAD("unknown pool 4", 2, 0x09, 1, 7, 0, 4, 16),
    BAD("placement", 2, 0x09, 1, 7, 16, 0x30, 16, 1, 1),
    BAD("kind of event does not have", 2, 0x09, 1, 7, 0, 0x10,
        16), /* a placement without a page */
    BAD("kind of event does not have", 2, 0x09, 1, 7, 16, 0, 16, 0,
        1), /* cores without a page */
    /* A plain buffer has the mark of a borrowed one. */
    BAD("kind of event does not have", 2, 0x09, 1, 7, 2, 0, 16),
    /* A circular buffer that has a pool. */
    BAD("kind of event does not have", 2, 0x09, 1, 7, 0x40, 1, 16),
    /* A circular buffer has an address. */
    BAD("kind of event does not have", 2, 0x09, 1, 7, 0x41, 0, 16),
    /* A circular buffer has the size of a block. */
    BAD("kind of event does not have", 2, 0x09, 1, 7, 0x48, 0, 16, 0, 1),
    BAD("kind of event does not have", 2, 0x09, 1, 7, 0xc2, 0,
        16),                                           /* a scratchpad that is borrowed */
    BAD("no core ranges", 2, 0x09, 1, 7, 0x40, 0, 16), /**/
    BAD("bytes_per_bank", 2, 0x09, 1, 7, 0, 1, 16),    /* an L1 buffer without bytes_per_bank */
    BAD("less than bytes_per_bank 5", 2, 0x09, 1, 7, 8, 0, 16, 5, 4), /**/
    BAD("bytes, but the maximum is 2^52", 2, 0x09, 1, 7, 0, 0, 0x81, 0x80, 0x80, 0x80, 0x80,
        0x80, 0x80, 8),
    BAD("number of cores is 4097", 7, 0x09, 1, 7, 16, 0, 16, 1, 0x81, 0x20),
    BAD("overlap", 14, 0x09, 3, 5, 2, 0, 0, 1, 1, 1, 1, 2, 2, 0x09, 1, 9, 0x60, 0, 16, 5),
    BAD("backwards", 10, 0x09, 3, 5, 1, 1, 0, 0, 0, 0x09, 1, 9, 0x60, 0, 16, 5),
    BAD("outside the largest grid", 10, 0x09, 3, 5, 1, 0, 0, 64, 0, 0x09, 1, 9, 0x60, 0, 16, 5),
    BAD("unknown kind 0 or the unknown pool", 1, 0x0b, 0, 0, 0, 1, 2, FIELDS),
    BAD("unknown kind 8 or the unknown pool", 1, 0x0b, 0, 8, 0, 1, 2, FIELDS),
    BAD("or the unknown pool 4", 1, 0x0b, 0, 1, 4, 1, 2, FIELDS),
    BAD("a field of a failure is 65536", 18, 0x0b, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
        12, 13, 14, 0x80, 0x80, 4),
    /* A keyframe begins where none may be. */
    BAD("the beginning of a keyframe is inside a keyframe", 3, KEYFRAME, KEYFRAME),
    BAD("an event is inside", 9, SHAPE, KEYFRAME, 0x01, 7),
    BAD("an event is inside", 3, KEYFRAME, 0x03, 0),
    BAD("an event is inside", 3, KEYFRAME, 0x05),
    BAD("an event or a phase is inside", 3, KEYFRAME, 0x0a, 6),
    BAD("an event or a phase is inside", 3, KEYFRAME, 0x0a, 1, 1),
    BAD("an event or a phase is inside", 3, KEYFRAME, 0x0a, 16, 0, 0),
    BAD("a live buffer is outside", 6, SHAPE, 0x0c, 7, 0, 0),
    BAD("an entry of a keyframe is outside", 15, CB, 0x0a, 10, 9, 0),
    BAD("a trace count of a keyframe is outside", 0, 0x0a, 11, 1),
    BAD("an active capture of a keyframe is outside", 0, 0x0a, 12, 1),
    BAD("the end of a keyframe is outside", 5, KEYFRAME, 0x0a, 9, 0x0a, 9),
    BAD("a buffer of a later event", 12, SHAPE, KEYFRAME, 0x0c, 7, 0,
        22), /* claims to be event 11, but 10 events precede it */
    BAD("a buffer of a later event", 21, CB, KEYFRAME, 0x0a, 10, 9, 22),
};

T_TEST(what_cannot_be_is_refused_where_it_stands)
{
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct tts_error err;
        enum tts_status status = read_all(&plain, bads[i].bytes, bads[i].len, &err);
        if (status != TTS_E_SYNTAX || err.offset != bads[i].offset ||
            !strstr(err.text, bads[i].part))
            print_error("%s: status %d at %u: %s\n", bads[i].part, status, (unsigned)err.offset,
                        err.text);
        T_EQ(status, TTS_E_SYNTAX);
        T_EQ(err.offset, bads[i].offset);
        T_TRUE(strstr(err.text, bads[i].part) != NULL);
    }
}

T_TEST(the_edges_of_what_can_be_are_taken)
{
    static const struct bad good[] = {
        BAD("", 0, SHAPE, 0x03, ONES, 1), /* a number of 64 bits */
        /* A number with more bytes than it needs. */
        BAD("", 0, SHAPE, 0x03, 0x80, 0x80, 0x80, 0),
        BAD("", 0, 0x08, 0xff, 0xff, 0xff, 0xff, 0x0f), /* thread number 2^32 - 1 */
        BAD("", 0, NOTHING, 0x04, 8, 0),                /* a free whose sizes are unknown */
        BAD("", 0, 0x0a, 16, 0, 0),                     /* a sample without values */
        BAD("", 0, 0x09, 2, 255, 0, 0x07, 255, 0),      /* a name without characters */
        BAD("", 0, CB, 0x06, 9),
        BAD("", 0, SHAPE, KEYFRAME, 0x0c, 7, 0, 20, 0x0a, 9, 0x01, 7),
        BAD("", 0, KEYFRAME, 0x09, 2, 1, 1, 'x', 0x0a, 4, 1, 2),
        /* A number of 2^52. */
        BAD("", 0, 0x09, 1, 7, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 8),
        BAD("", 0, 0x0b, 0, 7, 3, 1, 2, FIELDS),
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct tts_error err;
        T_EQ(read_all(&plain, good[i].bytes, good[i].len, &err), TTS_E_NOT_FOUND);
    }
}

T_TEST(a_keyframe_may_go_on_in_the_next_block)
{
    static const unsigned char bytes[] = {SHAPE, 0x0c, 7, 2, 20, 0x0a, 9, 0x01, 7};
    struct tts_rec_block block = plain;
    struct tts_error err;
    T_EQ(read_all(&block, bytes, sizeof bytes, &err), TTS_E_SYNTAX);
    block.in_keyframe = true;
    T_EQ(read_all(&block, bytes, sizeof bytes, &err), TTS_E_NOT_FOUND);
}

T_TEST(a_refusal_changes_nothing)
{
    static const unsigned char bytes[] = {SHAPE, 0x11, 7, 0x41, 8};
    struct tts_item item, before;
    struct tts_error err;
    uint64_t tick;
    unsigned char *exact = begin(&plain, bytes, sizeof bytes);
    T_EQ(tts_recdec_next(&dec, &item, &tick, &err), TTS_OK);
    T_EQ(tick, 101);
    memset(&item, 0xee, sizeof item);
    memcpy(&before, &item, sizeof item);
    T_EQ(tts_recdec_next(&dec, &item, &tick, &err), TTS_E_SYNTAX);
    T_MEM_EQ(&item, &before, sizeof item);
    T_EQ(tick, 101);
    free(exact);
}

T_TEST(a_shape_keeps_the_name_and_the_ranges_it_was_defined_with)
{
    static const unsigned char bytes[] = {
        0x09, 2, 3, 1,    'a', 0x09, 3, 5,   1,    1, 1, 2, 2, 0x09, 1, 9, 0x40 | 32 | 4, 0,
        16,   5, 3, 0x09, 2,   3,    1, 'b', 0x09, 3, 5, 1, 0, 0,    0, 0, 0x06,          9};
    unsigned char *exact = begin(&plain, bytes, sizeof bytes);
    struct tts_item item;
    uint64_t tick;
    for (const char *name = "ab"; *name; name++) {
        T_EQ(tts_recdec_next(&dec, &item, &tick, NULL), TTS_OK);
        T_EQ(item.kind, TTS_ITEM_NAME);
        T_TRUE(item.op.name_len == 1 && item.op.name[0] == *name);
        T_EQ(item.op.hash, tts_opnames_hash(name, 1));
        T_EQ(item.seq, 10);
    }
    T_EQ(tts_recdec_next(&dec, &item, &tick, NULL), TTS_OK);
    T_EQ(item.event.kind, TTS_EVENT_CB);
    T_EQ(item.op.hash, tts_opnames_hash("a", 1));
    T_TRUE(item.event.range_count == 1 && item.event.ranges[0].x1 == 2);
    T_EQ(tts_recdec_next(&dec, &item, &tick, NULL), TTS_E_NOT_FOUND);
    T_EQ(tts_recdec_next(&dec, &item, &tick, NULL), TTS_E_NOT_FOUND);
    free(exact);
}

/* A block can be decoded without the blocks before it. */
T_TEST(every_block_starts_from_nothing)
{
    static const unsigned char first[] = {0x09, 4, 5, SHAPE, 0x09, 2,    3, 0, 0x09, 3, 5,
                                          1,    0, 0, 0,     0,    0x02, 7, 4, 0x0a, 8, 0};
    static const unsigned char uses[][7] = {
        {0x01, 7}, {0x07, 3, 0}, {0x09, 1, 9, 0x60, 0, 16, 5}, {0x03, 0}};
    struct tts_error err;
    for (size_t i = 0; i < 4; i++) {
        struct tts_item item;
        uint64_t tick;
        T_EQ(read_all(&plain, first, sizeof first, &err), TTS_E_NOT_FOUND);
        T_TRUE(dec.device == 5 && dec.id == 2 && dec.in_keyframe);
        unsigned char *exact = begin(&plain, uses[i], sizeof uses[i]);
        T_EQ(tts_recdec_next(&dec, &item, &tick, &err), i < 3 ? TTS_E_SYNTAX : TTS_OK);
        if (i == 3)
            T_TRUE(item.event.device == 0 && item.event.id == 0 && item.seq == 11);
        free(exact);
    }
}

/* --- damage by chance ------------------------------------------------------------------- */

/* Makes a payload with items of every kind and returns its length. */
static size_t make_payload(unsigned char *payload, uint64_t seed, size_t items)
{
    static struct item_draw draw;
    static struct tts_recenc enc;
    uint64_t commit, tick = 100;
    draw_init(&draw, seed);
    draw.seq = 10;
    tts_recenc_begin(&enc, payload, PAYLOAD_MAX, &commit, 1, tick);
    for (size_t i = 0; i < items; i++) {
        bool is_unseen;
        struct tts_item item = draw_item(&draw, &is_unseen);
        tick += draw_below(&draw, 400);
        if (!tts_recenc_item(&enc, &item, is_unseen, tick))
            break;
    }
    return tts_recenc_used(&enc);
}

T_TEST(every_flipped_bit_gives_an_error_or_other_items)
{
    static unsigned char payload[PAYLOAD_MAX];
    size_t refused = 0;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct tts_error err;
        size_t len = make_payload(payload, seed, 30);
        T_EQ(read_all(&plain, payload, len, &err), TTS_E_NOT_FOUND);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            payload[bit / 8] ^= (unsigned char)(1u << bit % 8);
            refused += read_all(&plain, payload, len, &err) == TTS_E_SYNTAX;
            payload[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
    T_TRUE(refused > 500);
}

T_TEST(a_cut_payload_gives_its_items_and_says_where_it_ends)
{
    static unsigned char payload[PAYLOAD_MAX];
    size_t len = make_payload(payload, 5, 200), ends = 0;
    for (size_t cut = 0; cut < len; cut++) {
        struct tts_error err;
        enum tts_status status = read_all(&plain, payload, cut, &err);
        ends += status == TTS_E_NOT_FOUND;
        if (status == TTS_E_SYNTAX)
            T_TRUE(strstr(err.text, "longer than the rest of the block") != NULL);
    }
    T_TRUE(ends > 200 && ends < len / 2); /* a block can end only between two records */
}

T_TEST(whatever_the_bytes_are_it_ends)
{
    unsigned char bytes[200];
    uint64_t rng = 7;
    for (int round = 0; round < 5000; round++) {
        struct tts_error err;
        size_t len = t_random(&rng) % sizeof bytes;
        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)(t_random(&rng) >> 20 & (round & 1 ? 0xff : 0x0f));
        (void)read_all(&plain, bytes, len, &err);
    }
}
