/* Makes a text of frames and garbage from the input, and reads it as the bytes of a connection:
 * at once, in chunks, and in chunks after each of which the sender stops. The bytes are always
 * in memory of their exact size.
 *
 * Reading makes progress, every byte is part of a frame, late or skipped, and frames are within
 * the limits. Chunks change nothing as long as the sender does not stop. If the text has frames
 * of one kind and nothing else, then these frames are read, whether the sender stops or not. A
 * frame that is read and written has the same bytes but for its padding. */
#include "wire/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { INPUT_MAX = 512, TEXT_MAX = 2048, FRAMES_MAX = TEXT_MAX / 24 };

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* --- the text --------------------------------------------------------------------------- */

struct made_text {
    uint8_t bytes[TEXT_MAX];
    size_t len;
    struct tts_frame frames[FRAMES_MAX];
    uint32_t count;
    enum tts_framekind kind; /* of all frames */
    bool is_pure;            /* frames of one kind and nothing else */
};

struct input {
    const uint8_t *at, *end;
};

static uint8_t next_byte(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

static void put_bytes(struct made_text *text, const uint8_t *bytes, size_t len)
{
    len = len < TEXT_MAX - text->len ? len : TEXT_MAX - text->len;
    if (bytes)
        memcpy(text->bytes + text->len, bytes, len);
    else
        memset(text->bytes + text->len, 0, len);
    text->len += len;
    text->is_pure = false;
}

/* Puts a frame that clients send. A byte of the input gives each field. */
static void put_frame(struct made_text *text, enum tts_framekind kind, struct input *input)
{
    static const uint8_t types[] = {1, 2, 3, 5, 6, 8, 9, 10, 11, 12};
    uint32_t count = kind == TTS_FRAMEKIND_P1 ? 4 : kind == TTS_FRAMEKIND_P2 ? 5 : 10;
    uint8_t bytes[TTS_FRAME_BYTES_MAX] = {0};
    struct tts_frame frame = {.kind = kind, .type = types[next_byte(input) % count]};
    size_t len = tts_frame_bytes(kind);
    if (kind == TTS_FRAMEKIND_CBK)
        frame.type = (uint8_t)(8 + next_byte(input) % 4);
    if (text->len + len > TEXT_MAX || text->count == FRAMES_MAX)
        return;
    bool is_adding = frame.type == 1 || frame.type == 8 || frame.type == 10;
    bool is_event = is_adding || frame.type == 2 || (frame.type >= 8 && frame.type <= 11);
    frame.device = next_byte(input);
    if (is_event) {
        frame.pid = 1 + next_byte(input) * 16000;
        frame.id = (uint64_t)next_byte(input) << next_byte(input) % 57;
    }
    if (is_adding)
        frame.size_bytes = (uint64_t)(1 + next_byte(input)) << next_byte(input) % 40;
    if (is_adding && kind != TTS_FRAMEKIND_CBK) {
        frame.buffer_type = (uint8_t)(next_byte(input) % 3);
        frame.time_ns = (uint64_t)next_byte(input) << next_byte(input) % 55;
    }
    if (kind == TTS_FRAMEKIND_CBK) {
        /* The fields are written out here: an id below 2^32 keeps its upper half free. */
        frame.id &= UINT32_MAX;
        bytes[0] = frame.type;
        bytes[4] = (uint8_t)frame.device;
        for (int i = 0; i < 8; i++)
            bytes[8 + i] = (uint8_t)(frame.size_bytes >> 8 * i);
        for (int i = 0; i < 4; i++)
            bytes[16 + i] = (uint8_t)(frame.id >> 8 * i);
        for (int i = 0; i < 4; i++)
            bytes[24 + i] = (uint8_t)((uint32_t)frame.pid >> 8 * i);
    } else {
        check(tts_frame_encode(&frame, bytes) == len, "another size");
    }
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->is_pure = text->is_pure && (text->count == 0 || text->kind == kind);
    text->kind = kind;
    text->frames[text->count++] = frame;
}

static void make_text(struct made_text *text, struct input input)
{
    *text = (struct made_text){.is_pure = true};
    while (input.at < input.end) {
        uint8_t what = next_byte(&input), count = next_byte(&input);
        size_t left = (size_t)(input.end - input.at);
        switch (what % 8) {
        case 0:
            put_bytes(text, input.at, count < left ? count : left);
            input.at += count < left ? count : left;
            break;
        case 1:
            put_bytes(text, NULL, count);
            break;
        case 2:
            text->len -= count < text->len ? count : text->len;
            text->is_pure = false;
            break;
        default:
            for (int i = 0; i <= count % 8; i++)
                put_frame(text, TTS_FRAMEKIND_CBK + what % 8 - 3, &input);
        }
    }
}

/* --- reading ---------------------------------------------------------------------------- */

struct read_text {
    struct tts_framestream stream;
    struct tts_frame frames[FRAMES_MAX];
    uint32_t count;
    size_t frame_bytes, left;
};

static void check_limits(const struct tts_frame *frame)
{
    check(frame->type >= 1 && frame->type <= 12 && frame->type != 4 && frame->type != 7,
          "a type that no client sends");
    check(frame->device >= -1 && frame->device < 1024, "a device beyond the limit");
    check(frame->pid >= 0 && frame->pid <= 1 << 22, "a process beyond the limit");
    check(frame->size_bytes <= UINT64_C(1) << 50, "a size beyond the limit");
    check(frame->buffer_type <= 4, "a buffer type beyond the limit");
    check(frame->time_ns <= INT64_MAX, "a time beyond the limit");
    check(frame->dram_bytes == 0 && frame->program_count == 0, "an answer in a request");
}

/* Reads the text at once if `seed` is 0, otherwise in chunks of random sizes. */
static void read_made(struct read_text *read, const struct made_text *text, uint32_t seed,
                      bool is_each_drained)
{
    size_t done = 0, given = 0;
    bool is_whole = seed == 0;
    *read = (struct read_text){0};
    while (given < text->len) {
        seed = seed * 1664525 + 1013904223;
        size_t chunk = is_whole ? text->len : 1 + (seed >> 16) % (seed >> 8 & 1 ? 8 : 300);
        given = text->len - given < chunk ? text->len : given + chunk;
        /* The memory ends where the chunk ends. */
        uint8_t *block = malloc(given - done);
        check(block != NULL, "no memory");
        memcpy(block, text->bytes + done, given - done);
        bool is_drained = is_each_drained || given == text->len;
        size_t at = 0, len = given - done;
        for (size_t used = 1; used > 0 && at < len; at += used) {
            struct tts_frame frame;
            bool has_frame;
            memset(&frame, 0, sizeof frame);
            used = tts_framestream_next(&read->stream, block + at, len - at, is_drained, &frame,
                                        &has_frame);
            check(used <= len - at, "more bytes than there are");
            check(used > 0 || (!has_frame && len - at < 2 * TTS_FRAME_BYTES_MAX),
                  "no progress");
            if (!has_frame)
                continue;
            check(used == tts_frame_bytes(frame.kind), "another size than the kind has");
            check_limits(&frame);
            read->frames[read->count++] = frame;
            read->frame_bytes += used;
        }
        done += at;
        free(block);
    }
    read->left = text->len - done;
    check(read->frame_bytes + read->stream.skipped_bytes + read->stream.late_bytes +
                  read->left ==
              text->len,
          "a byte is lost");
    check(read->stream.frames == read->count, "another number of frames");
    check((read->stream.losses > 0) >= (read->stream.skipped_bytes > 0), "an unseen loss");
}

static bool is_same_frame(const struct tts_frame *a, const struct tts_frame *b)
{
    return a->kind == b->kind && a->type == b->type && a->buffer_type == b->buffer_type &&
           a->device == b->device && a->pid == b->pid && a->size_bytes == b->size_bytes &&
           a->id == b->id && a->time_ns == b->time_ns;
}

static void check_same(const struct read_text *a, const struct read_text *b)
{
    check(a->count == b->count && a->left == b->left, "chunks change the number of frames");
    for (uint32_t i = 0; i < a->count; i++)
        check(is_same_frame(&a->frames[i], &b->frames[i]), "chunks change a frame");
    check(a->stream.kind == b->stream.kind && a->stream.is_certain == b->stream.is_certain &&
              a->stream.skipped_bytes == b->stream.skipped_bytes &&
              a->stream.losses == b->stream.losses &&
              a->stream.late_bytes == b->stream.late_bytes,
          "chunks change the stream");
}

static void check_pure(const struct read_text *read, const struct made_text *text)
{
    check(read->count == text->count && read->stream.skipped_bytes == 0, "a frame is lost");
    for (uint32_t i = 0; i < text->count; i++) {
        struct tts_frame frame = read->frames[i];
        frame.kind = text->kind; /* the first may have been taken for a shorter one */
        check(is_same_frame(&frame, &text->frames[i]), "another frame");
    }
    check(text->count < 2 || (read->stream.kind == text->kind && read->stream.is_certain),
          "another kind");
}

static void check_identity(enum tts_framekind kind, const uint8_t *bytes, size_t len)
{
    uint8_t given[TTS_FRAME_BYTES_MAX] = {0}, written[TTS_FRAME_BYTES_MAX];
    struct tts_frame frame;
    size_t frame_bytes = tts_frame_bytes(kind);
    memcpy(given, bytes, len < frame_bytes ? len : frame_bytes);
    memset(given + 1, 0, 3);
    memset(given + 17, 0, 3);
    memset(given + 140, 0, 4);
    tts_frame_decode(kind, given, &frame);
    check(tts_frame_encode(&frame, written) == frame_bytes &&
              memcmp(given, written, frame_bytes) == 0,
          "another frame after reading and writing");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct made_text text;
    static struct read_text whole, chunks, stops;
    if (len < 2 || len > INPUT_MAX)
        return 0;
    uint32_t seed = 1 + ((uint32_t)bytes[0] << 8 | bytes[1]);
    make_text(&text, (struct input){bytes + 2, bytes + len});
    check_identity(TTS_FRAMEKIND_P1 + bytes[0] % 4, bytes + 2, len - 2);
    read_made(&whole, &text, 0, false);
    read_made(&chunks, &text, seed, false);
    read_made(&stops, &text, seed, true);
    check_same(&whole, &chunks);
    if (text.is_pure) {
        check_pure(&whole, &text);
        check_pure(&stops, &text);
    }
    return 0;
}
