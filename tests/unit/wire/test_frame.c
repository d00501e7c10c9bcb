#include "harness/t.h"
#include "wire/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 64, TEXT_MAX = 16 << 10 };

static const enum tts_framekind generations[] = {TTS_FRAMEKIND_P1, TTS_FRAMEKIND_P2,
                                                 TTS_FRAMEKIND_P3, TTS_FRAMEKIND_P4};
static const size_t generation_bytes[] = {72, 112, 128, 144};
enum { GENERATIONS = 4 };

/* A header as it is published: ALLOC, device 0, 1 MiB, L1, pid 4242, address 0x18B00. */
static const unsigned char alloc_header[40] = {
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x92, 0x10, 0x00, 0x00, 0x00, 0x8b, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
static const unsigned char count_query_header[40] = {0x06, 0x00, 0x00, 0x00,
                                                     0xff, 0xff, 0xff, 0xff};

/* --- helpers ---------------------------------------------------------------------------- */

/* A text of frames that a sender sends. */
struct sent_text {
    unsigned char bytes[TEXT_MAX];
    size_t len;
};

static void put_sent(struct sent_text *text, const unsigned char *bytes, size_t len)
{
    assert_true(text->len + len <= TEXT_MAX);
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
}

static void put_frame(struct sent_text *text, const struct tts_frame *frame)
{
    unsigned char bytes[TTS_FRAME_BYTES_MAX];
    put_sent(text, bytes, tts_frame_encode(frame, bytes));
}

/* The fields of a CBK frame are written out here. */
static void put_cbk(struct sent_text *text, uint8_t type, uint8_t device, uint16_t size,
                    uint64_t id, uint16_t pid)
{
    unsigned char bytes[32] = {[0] = type,
                               [4] = device,
                               [8] = (unsigned char)size,
                               [9] = (unsigned char)(size >> 8),
                               [24] = (unsigned char)pid,
                               [25] = (unsigned char)(pid >> 8)};
    for (int i = 0; i < 8; i++)
        bytes[16 + i] = (unsigned char)(id >> 8 * i);
    put_sent(text, bytes, sizeof bytes);
}

/* Returns event or request number `i` of a client. Its fields follow from `i`. */
static struct tts_frame nth_frame(enum tts_framekind kind, uint32_t i)
{
    static const uint8_t types[] = {
        TTS_FRAMETYPE_ALLOC, TTS_FRAMETYPE_ALLOC,    TTS_FRAMETYPE_FREE,
        TTS_FRAMETYPE_QUERY, TTS_FRAMETYPE_DUMP,     TTS_FRAMETYPE_INFO_QUERY,
        TTS_FRAMETYPE_ALLOC, TTS_FRAMETYPE_CB_ALLOC, TTS_FRAMETYPE_KERNEL_LOAD,
        TTS_FRAMETYPE_FREE,  TTS_FRAMETYPE_CB_FREE,  TTS_FRAMETYPE_KERNEL_UNLOAD,
    };
    uint32_t count = kind == TTS_FRAMEKIND_P1 ? 5 : kind == TTS_FRAMEKIND_P2 ? 7 : 12;
    struct tts_frame frame = {.kind = kind, .type = types[i % count]};
    bool is_request = frame.type == TTS_FRAMETYPE_QUERY || frame.type == TTS_FRAMETYPE_DUMP ||
                      frame.type == TTS_FRAMETYPE_INFO_QUERY;
    frame.device = is_request && i % 2 ? -1 : (int32_t)(i % 32);
    if (is_request)
        return frame;
    frame.pid = 4242;
    frame.id = UINT64_C(0x18b00) + 64 * i;
    if (frame.type != TTS_FRAMETYPE_FREE)
        frame.size_bytes = UINT64_C(1) << (10 + i % 20);
    if (frame.type == TTS_FRAMETYPE_ALLOC || frame.type == TTS_FRAMETYPE_CB_ALLOC ||
        frame.type == TTS_FRAMETYPE_KERNEL_LOAD)
        frame.time_ns = UINT64_C(1760000000123456789) + i;
    if (frame.type == TTS_FRAMETYPE_ALLOC)
        frame.buffer_type = (uint8_t)(i % 5);
    if (frame.type == TTS_FRAMETYPE_KERNEL_LOAD)
        frame.buffer_type = (uint8_t)(i % 3);
    return frame;
}

static void put_frames(struct sent_text *text, enum tts_framekind kind, uint32_t first,
                       uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        struct tts_frame frame = nth_frame(kind, i);
        put_frame(text, &frame);
    }
}

static bool is_same_event(const struct tts_frame *a, const struct tts_frame *b)
{
    return a->type == b->type && a->buffer_type == b->buffer_type && a->device == b->device &&
           a->pid == b->pid && a->size_bytes == b->size_bytes && a->id == b->id &&
           a->time_ns == b->time_ns;
}

/* What was read from a text. */
struct read_text {
    struct tts_framestream stream;
    struct tts_frame frames[FRAMES_MAX];
    uint32_t count;
    size_t left; /* bytes that wait for more */
};

/* Reads a text that arrives in chunks. The sender is drained after the last chunk, or after
 * each. The bytes are in a block of their own, so that a sanitizer sees a read after them. */
static void read_sent(struct read_text *read, const struct sent_text *text, size_t chunk,
                      bool is_each_drained)
{
    size_t done = 0;
    *read = (struct read_text){0};
    for (size_t given = 0; given < text->len;) {
        given = text->len - given < chunk ? text->len : given + chunk;
        bool is_drained = is_each_drained || given == text->len;
        for (size_t used = 1; used > 0 && done < given; done += used) {
            struct tts_frame frame;
            bool has_frame;
            unsigned char *block = malloc(given - done);
            assert_non_null(block);
            memcpy(block, text->bytes + done, given - done);
            used = tts_framestream_next(&read->stream, block, given - done, is_drained, &frame,
                                        &has_frame);
            free(block);
            T_TRUE(used <= given - done);
            T_TRUE(used > 0 || given - done < 2 * TTS_FRAME_BYTES_MAX);
            if (!has_frame)
                continue;
            T_EQ(used, tts_frame_bytes(frame.kind));
            T_EQ(frame.kind, read->stream.kind);
            T_TRUE(read->count < FRAMES_MAX);
            read->frames[read->count++] = frame;
        }
    }
    read->left = text->len - done;
    T_EQ(read->stream.frames, read->count);
}

static void check_frames(const struct read_text *read, uint32_t at, enum tts_framekind kind,
                         uint32_t first, uint32_t count)
{
    T_TRUE(at + count <= read->count);
    for (uint32_t i = 0; i < count; i++) {
        struct tts_frame frame = nth_frame(kind, first + i);
        T_TRUE(is_same_event(&read->frames[at + i], &frame));
    }
}

/* --- one frame -------------------------------------------------------------------------- */

T_TEST(kinds_have_the_published_sizes)
{
    T_EQ(tts_frame_bytes(TTS_FRAMEKIND_UNKNOWN), 0);
    T_EQ(tts_frame_bytes(TTS_FRAMEKIND_STATS), 24);
    T_EQ(tts_frame_bytes(TTS_FRAMEKIND_CBK), 32);
    for (int i = 0; i < GENERATIONS; i++)
        T_EQ(tts_frame_bytes(generations[i]), generation_bytes[i]);
}

T_TEST(published_event_is_read_and_written_in_each_generation)
{
    for (int i = 0; i < GENERATIONS; i++) {
        unsigned char bytes[TTS_FRAME_BYTES_MAX] = {0}, written[TTS_FRAME_BYTES_MAX];
        struct tts_frame frame;
        memcpy(bytes, alloc_header, sizeof alloc_header);
        memset(&frame, 0x5a, sizeof frame);
        tts_frame_decode(generations[i], bytes, &frame);
        T_EQ(frame.kind, generations[i]);
        T_EQ(frame.type, TTS_FRAMETYPE_ALLOC);
        T_EQ(frame.device, 0);
        T_EQ(frame.size_bytes, 1 << 20);
        T_EQ(frame.buffer_type, 1);
        T_EQ(frame.pid, 4242);
        T_EQ(frame.id, 0x18b00);
        T_EQ(frame.time_ns, 0);
        T_EQ(frame.dram_bytes, 0);
        T_EQ(frame.program_count, 0);
        T_EQ(tts_frame_encode(&frame, written), generation_bytes[i]);
        T_MEM_EQ(written, bytes, generation_bytes[i]);
    }
}

/* A frame whose fields after the header are numbers of their own. */
static struct tts_frame full_reply(enum tts_framekind kind)
{
    return (struct tts_frame){.kind = kind,
                              .type = TTS_FRAMETYPE_INFO_RESPONSE,
                              .device = -1,
                              .dram_bytes = UINT64_C(0x1111111111111111),
                              .l1_bytes = UINT64_C(0x2222222222222222),
                              .l1_small_bytes = UINT64_C(0x3333333333333333),
                              .trace_bytes = UINT64_C(0x4444444444444444),
                              .cb_bytes = UINT64_C(0x5555555555555555),
                              .kernel_bytes = UINT64_C(0x6666666666666666),
                              .dram_total_bytes = UINT64_C(0x7777777777777777),
                              .l1_total_bytes = UINT64_C(0x8888888888888888),
                              .arch = 0x99999999,
                              .dram_channels = 0xaaaaaaaa,
                              .dram_channel_bytes = 0xbbbbbbbb,
                              .l1_core_bytes = 0xcccccccc,
                              .is_available = 0xdddddddd,
                              .device_count = 0xeeeeeeee,
                              .ring_total_bytes = 0x12121212,
                              .ring_used_bytes = 0x34343434,
                              .program_count = 0x56565656};
}

T_TEST(fields_of_a_reply_are_at_the_published_offsets)
{
    /* Offset and byte of each field, by generation; fields end where the next begins. */
    static const unsigned char layouts[GENERATIONS][18][2] = {
        {{40, 0x11}, {48, 0x22}, {56, 0x33}, {64, 0x44}, {72, 0}},
        {{40, 0x11},
         {48, 0x22},
         {56, 0x33},
         {64, 0x44},
         {72, 0x77},
         {80, 0x88},
         {88, 0x99},
         {92, 0xaa},
         {96, 0xbb},
         {100, 0xcc},
         {104, 0xdd},
         {108, 0xee},
         {112, 0}},
        {{40, 0x11},
         {48, 0x22},
         {56, 0x33},
         {64, 0x44},
         {72, 0x55},
         {80, 0x66},
         {88, 0x77},
         {96, 0x88},
         {104, 0x99},
         {108, 0xaa},
         {112, 0xbb},
         {116, 0xcc},
         {120, 0xdd},
         {124, 0xee},
         {128, 0}},
        {{40, 0x11},
         {48, 0x22},
         {56, 0x33},
         {64, 0x44},
         {72, 0x55},
         {80, 0x66},
         {88, 0x77},
         {96, 0x88},
         {104, 0x99},
         {108, 0xaa},
         {112, 0xbb},
         {116, 0xcc},
         {120, 0xdd},
         {124, 0xee},
         {128, 0x12},
         {132, 0x34},
         {136, 0x56},
         {140, 0}},
    };
    for (int i = 0; i < GENERATIONS; i++) {
        unsigned char expected[TTS_FRAME_BYTES_MAX] = {TTS_FRAMETYPE_INFO_RESPONSE};
        unsigned char bytes[TTS_FRAME_BYTES_MAX], again[TTS_FRAME_BYTES_MAX];
        struct tts_frame frame = full_reply(generations[i]), read;
        memset(expected + 4, 0xff, 4);
        for (int field = 0; layouts[i][field][1] != 0; field++)
            memset(expected + layouts[i][field][0], layouts[i][field][1],
                   layouts[i][field + 1][0] - layouts[i][field][0]);
        T_EQ(tts_frame_encode(&frame, bytes), generation_bytes[i]);
        T_MEM_EQ(bytes, expected, generation_bytes[i]);
        tts_frame_decode(generations[i], bytes, &read);
        T_EQ(tts_frame_encode(&read, again), generation_bytes[i]);
        T_MEM_EQ(again, bytes, generation_bytes[i]);
        T_EQ(read.cb_bytes, i < 2 ? 0 : frame.cb_bytes);
        T_EQ(read.device_count, i < 1 ? 0 : frame.device_count);
        T_EQ(read.ring_used_bytes, i < 3 ? 0 : frame.ring_used_bytes);
    }
}

/* --- the size of the frames of a connection --------------------------------------------- */

T_TEST(single_frame_of_each_generation_has_its_size)
{
    for (int i = 0; i < GENERATIONS; i++) {
        struct sent_text text = {.len = generation_bytes[i]};
        struct read_text read;
        memcpy(text.bytes, alloc_header, sizeof alloc_header);
        read_sent(&read, &text, TEXT_MAX, true);
        T_EQ(read.count, 1);
        T_EQ(read.frames[0].kind, generations[i]);
        T_EQ(read.frames[0].id, 0x18b00);
        T_EQ(read.left, 0);
        T_TRUE(!read.stream.is_certain);
        memcpy(text.bytes, count_query_header, sizeof count_query_header);
        read_sent(&read, &text, TEXT_MAX, true);
        /* The first generation has no query of the number of devices. */
        T_EQ(read.count, i > 0);
        T_EQ(read.left, i > 0 ? 0 : 72);
        T_TRUE(i == 0 || (read.frames[0].kind == generations[i] &&
                          read.frames[0].type == TTS_FRAMETYPE_INFO_QUERY &&
                          read.frames[0].device == -1));
    }
}

T_TEST(glued_frames_of_each_generation_are_found_in_chunks_of_any_size)
{
    enum { COUNT = 24 };
    for (int i = 0; i < GENERATIONS; i++) {
        struct sent_text text = {.len = 0};
        put_frames(&text, generations[i], 0, COUNT);
        for (size_t chunk = 1; chunk <= 2 * TTS_FRAME_BYTES_MAX + 2; chunk++) {
            struct read_text read;
            read_sent(&read, &text, chunk, false);
            T_EQ(read.count, COUNT);
            check_frames(&read, 0, generations[i], 0, COUNT);
            for (uint32_t j = 0; j < COUNT; j++)
                T_EQ(read.frames[j].kind, generations[i]);
            T_TRUE(read.stream.is_certain);
            T_EQ(read.stream.skipped_bytes + read.stream.losses + read.stream.late_bytes, 0);
            T_EQ(read.left, 0);
        }
    }
}

T_TEST(frames_are_right_if_the_sender_stops_after_any_number_of_bytes)
{
    enum { COUNT = 24 };
    for (int i = 0; i < GENERATIONS; i++) {
        struct sent_text text = {.len = 0};
        put_frames(&text, generations[i], 0, COUNT);
        for (size_t chunk = 1; chunk <= 2 * TTS_FRAME_BYTES_MAX + 2; chunk++) {
            struct read_text read;
            read_sent(&read, &text, chunk, true);
            T_EQ(read.count, COUNT);
            check_frames(&read, 0, generations[i], 0, COUNT);
            T_EQ(read.stream.kind, generations[i]);
            T_TRUE(read.stream.is_certain);
            T_EQ(read.stream.skipped_bytes + read.stream.losses, 0);
            T_EQ(read.left, 0);
            /* A frame that seems to end early is completed by zeros. */
            size_t seen = 0;
            for (uint32_t j = 0; j < COUNT; j++)
                seen += tts_frame_bytes(read.frames[j].kind);
            T_EQ(seen + read.stream.late_bytes, text.len);
        }
    }
}

T_TEST(two_short_frames_are_not_one_long_frame)
{
    struct sent_text text = {.len = 0};
    struct read_text read;
    put_frames(&text, TTS_FRAMEKIND_P1, 0, 2);
    T_EQ(text.len, 144);
    read_sent(&read, &text, TEXT_MAX, true);
    T_EQ(read.count, 2);
    T_EQ(read.stream.kind, TTS_FRAMEKIND_P1);
    text.len = 0;
    put_frames(&text, TTS_FRAMEKIND_P4, 0, 1);
    T_EQ(text.len, 144);
    read_sent(&read, &text, TEXT_MAX, true);
    T_EQ(read.count, 1);
    T_EQ(read.stream.kind, TTS_FRAMEKIND_P4);
}

T_TEST(types_of_later_generations_exclude_the_earlier_ones)
{
    /* The number of frames after each number of bytes of a P4 frame, if the sender stops. */
    for (uint8_t type = 1; type <= TTS_FRAMETYPE_MAX; type++) {
        bool is_reply = type == TTS_FRAMETYPE_RESPONSE || type == TTS_FRAMETYPE_INFO_RESPONSE;
        size_t earliest = type >= TTS_FRAMETYPE_CB_ALLOC     ? 128
                          : type == TTS_FRAMETYPE_INFO_QUERY ? 112
                                                             : 72;
        bool has_size = type == TTS_FRAMETYPE_ALLOC || (type >= 8 && type <= 11);
        struct tts_frame frame = {.kind = TTS_FRAMEKIND_P4, .type = type, .pid = 4242};
        frame.size_bytes = has_size ? 4096 : 0;
        for (size_t len = 40; len <= 144; len++) {
            struct sent_text text = {.len = 0};
            struct read_text read;
            put_frame(&text, &frame);
            text.len = len;
            read_sent(&read, &text, TEXT_MAX, true);
            bool is_size = len == 72 || len == 112 || len == 128 || len == 144;
            T_EQ(read.count, !is_reply && is_size && len >= earliest);
            T_EQ(read.stream.skipped_bytes > 0, is_reply);
        }
    }
}

T_TEST(frames_of_circular_buffers_and_kernels_have_fields_of_their_own)
{
    static const uint64_t ids[] = {0, 7, 8, UINT64_C(0xfffffff0), UINT64_C(0x900000123)};
    for (size_t chunk = 1; chunk < 70; chunk++) {
        struct sent_text text = {.len = 0};
        struct read_text read;
        for (uint8_t i = 0; i < 20; i++)
            put_cbk(&text, (uint8_t)(8 + i % 4), i, (uint16_t)(51200 + i), ids[i % 5], 4242);
        read_sent(&read, &text, chunk, chunk % 2 == 0);
        T_EQ(read.count, 20);
        T_EQ(read.stream.skipped_bytes, 0);
        for (uint32_t i = 0; i < 20; i++) {
            T_EQ(read.frames[i].kind, TTS_FRAMEKIND_CBK);
            T_EQ(read.frames[i].type, 8 + i % 4);
            T_EQ(read.frames[i].device, i);
            T_EQ(read.frames[i].size_bytes, 51200 + i);
            T_EQ(read.frames[i].id, ids[i % 5]);
            T_EQ(read.frames[i].pid, 4242);
            T_EQ(read.frames[i].time_ns + read.frames[i].buffer_type, 0);
        }
    }
}

T_TEST(monitor_request_is_24_bytes_and_nothing_after_them)
{
    static const unsigned char request[24] = {2};
    struct sent_text text = {.len = 0};
    struct read_text read;
    put_sent(&text, request, sizeof request);
    for (size_t chunk = 1; chunk <= 24; chunk++) {
        read_sent(&read, &text, chunk, true);
        T_EQ(read.count, 1);
        T_EQ(read.stream.kind, TTS_FRAMEKIND_STATS);
        T_EQ(read.frames[0].type, TTS_FRAMETYPE_FREE);
    }
    /* Whether a 25th byte follows is not known before the sender is drained. */
    struct tts_framestream stream = {0};
    struct tts_frame frame;
    bool has_frame;
    T_EQ(tts_framestream_next(&stream, request, 24, false, &frame, &has_frame), 0);
    T_EQ(tts_framestream_next(&stream, request, 24, true, &frame, &has_frame), 24);
    T_TRUE(has_frame);
    T_EQ(tts_framestream_next(&stream, request, 24, true, &frame, &has_frame), 24);
    T_TRUE(has_frame && stream.frames == 2);
    /* A FREE of device 0 from process 0 begins with the same bytes. */
    struct tts_frame free_frame = {
        .kind = TTS_FRAMEKIND_P1, .type = TTS_FRAMETYPE_FREE, .id = 5};
    text.len = 0;
    put_frame(&text, &free_frame);
    read_sent(&read, &text, TEXT_MAX, true);
    T_EQ(read.count, 1);
    T_EQ(read.frames[0].kind, TTS_FRAMEKIND_P1);
    T_EQ(read.frames[0].id, 5);
    /* Not after frames of another kind. */
    put_sent(&text, request, sizeof request);
    read_sent(&read, &text, TEXT_MAX, true);
    T_EQ(read.count, 1);
    T_EQ(read.left, 24);
    text.len = 0;
    put_cbk(&text, TTS_FRAMETYPE_CB_ALLOC, 0, 4096, 0, 4242);
    put_sent(&text, request, sizeof request);
    read_sent(&read, &text, TEXT_MAX, true);
    T_EQ(read.count, 1);
    T_EQ(read.stream.kind, TTS_FRAMEKIND_UNKNOWN);
}

/* --- garbage ---------------------------------------------------------------------------- */

/* Bytes that begin no frame: their type, padding or fields are wrong. */
static void put_garbage(struct sent_text *text, size_t len, uint64_t *random)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)t_random(random);
        put_sent(text, &byte, 1);
    }
}

T_TEST(frames_before_and_after_garbage_are_found)
{
    enum { BEFORE = 5, AFTER = 6 };
    uint64_t random = 42;
    for (int i = 0; i < GENERATIONS; i++)
        for (size_t len = 0; len <= 300; len++) {
            struct sent_text text = {.len = 0};
            struct read_text read;
            size_t chunk = 1 + len % 7 * 50;
            put_garbage(&text, len, &random);
            put_frames(&text, generations[i], 0, BEFORE);
            put_garbage(&text, len, &random);
            put_frames(&text, generations[i], BEFORE, AFTER);
            read_sent(&read, &text, chunk, false);
            T_EQ(read.count, BEFORE + AFTER);
            check_frames(&read, 0, generations[i], 0, BEFORE + AFTER);
            T_EQ(read.stream.kind, generations[i]);
            T_EQ(read.stream.skipped_bytes, 2 * len);
            T_EQ(read.stream.losses, len > 0 ? 2 : 0);
            T_EQ(read.left, 0);
        }
}

T_TEST(zeros_between_frames_do_not_hide_the_next_frames)
{
    for (int i = 0; i < GENERATIONS; i++)
        for (size_t len = 1; len <= 200; len++) {
            static const unsigned char zeros[200];
            struct sent_text text = {.len = 0};
            struct read_text read;
            put_frames(&text, generations[i], 0, 3);
            put_sent(&text, zeros, len);
            put_frames(&text, generations[i], 3, 6);
            read_sent(&read, &text, 1 + len, len % 2 == 0);
            T_EQ(read.count, 9);
            check_frames(&read, 0, generations[i], 0, 9);
            T_EQ(read.stream.kind, generations[i]);
        }
}

/* Checks a stream in which one of the frames is cut: those before and, but for one, those after
 * it are as they were sent. */
static void check_cut(const struct sent_text *text, enum tts_framekind kind, uint32_t before,
                      uint32_t after, size_t chunk)
{
    struct read_text read;
    read_sent(&read, text, chunk, false);
    T_TRUE(read.count >= before + after - 1 && read.count <= before + after + 1);
    check_frames(&read, 0, kind, 0, before);
    check_frames(&read, read.count - (after - 1), kind, before + 2, after - 1);
    T_EQ(read.stream.kind, kind);
    T_TRUE(read.stream.is_certain);
    T_EQ(read.left, 0);
}

T_TEST(stream_is_right_again_after_a_frame_is_cut_anywhere)
{
    enum { AFTER = 5 };
    for (int i = 0; i < GENERATIONS; i++)
        for (uint32_t before = 0; before < 12; before++)
            for (size_t cut = 1; cut < generation_bytes[i]; cut++) {
                struct sent_text text = {.len = 0};
                put_frames(&text, generations[i], 0, before + 1);
                text.len -= cut;
                put_frames(&text, generations[i], before + 1, AFTER);
                check_cut(&text, generations[i], before, AFTER, 1 + cut);

                struct sent_text begin = {.len = 0};
                put_frames(&begin, generations[i], before, 1);
                text.len = 0;
                put_frames(&text, generations[i], 0, before);
                put_sent(&text, begin.bytes + cut, begin.len - cut);
                put_frames(&text, generations[i], before + 1, AFTER);
                check_cut(&text, generations[i], before, AFTER, 1 + cut);
            }
}

T_TEST(fields_of_a_cut_frame_are_no_request)
{
    struct sent_text text = {.len = 0}, begin = {.len = 0};
    struct read_text read;
    struct tts_frame frame = nth_frame(TTS_FRAMEKIND_P4, 2);
    T_EQ(frame.type, TTS_FRAMETYPE_FREE);
    frame.id = 0x30000; /* after 26 bytes: 3, then zeros, as in QUERY */
    put_frame(&begin, &frame);
    put_frames(&text, TTS_FRAMEKIND_P4, 0, 2);
    put_sent(&text, begin.bytes + 26, begin.len - 26);
    put_frames(&text, TTS_FRAMEKIND_P4, 3, 4);
    for (size_t chunk = 1; chunk <= text.len; chunk++) {
        read_sent(&read, &text, chunk, false);
        T_EQ(read.count, 6);
        check_frames(&read, 0, TTS_FRAMEKIND_P4, 0, 2);
        check_frames(&read, 2, TTS_FRAMEKIND_P4, 3, 4);
        T_EQ(read.stream.skipped_bytes, begin.len - 26);
        T_EQ(read.stream.losses, 1);
    }
}

T_TEST(sender_of_another_generation_is_understood_after_garbage)
{
    for (int i = 0; i < GENERATIONS; i++)
        for (int j = 0; j < GENERATIONS; j++) {
            struct sent_text text = {.len = 0};
            struct read_text read;
            put_frames(&text, generations[i], 0, 4);
            put_sent(&text, (const unsigned char *)"garbage", 7);
            put_frames(&text, generations[j], 4, 8);
            read_sent(&read, &text, 100, false);
            T_EQ(read.count, 12);
            check_frames(&read, 0, generations[i], 0, 4);
            check_frames(&read, 4, generations[j], 4, 8);
            T_EQ(read.stream.kind, generations[j]);
            T_EQ(read.stream.skipped_bytes, 7);
        }
}

T_TEST(fields_beyond_their_limits_make_no_frame)
{
    static const struct {
        size_t off;
        uint64_t good, bad;
        uint32_t bytes;
    } limits[] = {
        {0, 1, 0, 4},
        {0, 1, 4, 4},
        {0, 1, 13, 4},
        {0, 1, 0x101, 4},
        {0, 1, 0x1000001, 4},
        {4, 1023, 1024, 4},
        {4, 0, UINT32_MAX, 4}, /* in an event */
        {8, UINT64_C(1) << 50, (UINT64_C(1) << 50) + 1, 8},
        {8, 1, 0, 8},
        {16, 4, 5, 4},
        {16, 4, 0x104, 4},
        {20, 1 << 22, (1 << 22) + 1, 4},
        {20, 1, 0, 4},
        {32, INT64_MAX, (uint64_t)INT64_MAX + 1, 8},
        {40, 0, 1, 8}, /* less than the shortest generation ends with zeros */
        {64, 0, UINT64_C(1) << 63, 8},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int is_bad = 0; is_bad < 2; is_bad++) {
            struct sent_text text = {.len = 144};
            struct read_text read;
            uint64_t value = is_bad ? limits[i].bad : limits[i].good;
            memcpy(text.bytes, alloc_header, sizeof alloc_header);
            for (uint32_t byte = 0; byte < limits[i].bytes; byte++)
                text.bytes[limits[i].off + byte] = (unsigned char)(value >> 8 * byte);
            read_sent(&read, &text, TEXT_MAX, true);
            T_EQ(read.count, !is_bad);
        }
}

T_TEST(event_of_an_odd_size_is_a_frame_if_the_stream_is_in_order)
{
    for (uint32_t i = 1; i < 3; i++) { /* ALLOC of 0 bytes, FREE of 4096 bytes */
        struct sent_text text = {.len = 0};
        struct read_text read;
        struct tts_frame odd = nth_frame(TTS_FRAMEKIND_P2, i);
        odd.size_bytes = odd.type == TTS_FRAMETYPE_ALLOC ? 0 : 4096;
        put_frames(&text, TTS_FRAMEKIND_P2, 0, 1);
        put_frame(&text, &odd);
        put_frames(&text, TTS_FRAMEKIND_P2, 1, 2);
        read_sent(&read, &text, TEXT_MAX, true);
        T_EQ(read.count, 4);
        T_TRUE(is_same_event(&read.frames[1], &odd));
        text.len = 0;
        put_frame(&text, &odd);
        put_frames(&text, TTS_FRAMEKIND_P2, 1, 2);
        read_sent(&read, &text, TEXT_MAX, true);
        T_EQ(read.count, 2);
        T_EQ(read.stream.skipped_bytes, 112);
    }
}
