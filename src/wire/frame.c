#include "wire/frame.h"

#include "base/bytes.h"
#include "base/compiler.h"

#include <assert.h>

/* Offsets in the header of P1 to P4, and in CBK. */
enum {
    TYPE_OFF = 0,
    DEVICE_OFF = 4,
    SIZE_OFF = 8,
    BUFFER_TYPE_OFF = 16,
    PID_OFF = 20,
    ID_OFF = 24,
    TIME_OFF = 32,
    CBK_ID_OFF = 16,
    CBK_PID_OFF = 24,
    CBK_PADDING_OFF = 28,
    BUFFER_TYPES = 5,
    KERNEL_TYPES = 3,
};

#define TYPE_BIT(type) (1U << (type))
/* No client sends the types 4 and 7: they are replies. */
#define TYPES_P1                                                                               \
    (TYPE_BIT(TTS_FRAMETYPE_ALLOC) | TYPE_BIT(TTS_FRAMETYPE_FREE) |                            \
     TYPE_BIT(TTS_FRAMETYPE_QUERY) | TYPE_BIT(TTS_FRAMETYPE_DUMP))
#define TYPES_P2 (TYPES_P1 | TYPE_BIT(TTS_FRAMETYPE_INFO_QUERY))
#define TYPES_KERNEL                                                                           \
    (TYPE_BIT(TTS_FRAMETYPE_KERNEL_LOAD) | TYPE_BIT(TTS_FRAMETYPE_KERNEL_UNLOAD))
#define TYPES_CBK                                                                              \
    (TYPE_BIT(TTS_FRAMETYPE_CB_ALLOC) | TYPE_BIT(TTS_FRAMETYPE_CB_FREE) | TYPES_KERNEL)
#define TYPES_P4 (TYPES_P2 | TYPES_CBK | TYPE_BIT(TTS_FRAMETYPE_DUMP_KERNELS))
/* Events; the others are requests. */
#define TYPES_EVENT (TYPE_BIT(TTS_FRAMETYPE_ALLOC) | TYPE_BIT(TTS_FRAMETYPE_FREE) | TYPES_CBK)
#define TYPES_ADDING                                                                           \
    (TYPE_BIT(TTS_FRAMETYPE_ALLOC) | TYPE_BIT(TTS_FRAMETYPE_CB_ALLOC) |                        \
     TYPE_BIT(TTS_FRAMETYPE_KERNEL_LOAD))

static const struct {
    uint8_t bytes;
    uint16_t types;
} frame_kinds[TTS_FRAMEKINDS] = {
    [TTS_FRAMEKIND_STATS] = {24, TYPE_BIT(TTS_FRAMETYPE_FREE)},
    [TTS_FRAMEKIND_CBK] = {32, TYPES_CBK},
    [TTS_FRAMEKIND_P1] = {72, TYPES_P1},
    [TTS_FRAMEKIND_P2] = {112, TYPES_P2},
    [TTS_FRAMEKIND_P3] = {128, TYPES_P4},
    [TTS_FRAMEKIND_P4] = {TTS_FRAME_BYTES_MAX, TYPES_P4},
};

/* The fields after the header: where they are in P1 to P4. 0: the generation has no such
 * field. */
#define TAIL_FIELD(name, p1, p2, p3, p4)                                                       \
    {                                                                                          \
        offsetof(struct tts_frame, name), sizeof((struct tts_frame){0}.name),                  \
        {                                                                                      \
            p1, p2, p3, p4                                                                     \
        }                                                                                      \
    }
static const struct {
    uint8_t off; /* in struct tts_frame */
    uint8_t bytes;
    uint8_t wire_off[TTS_FRAMEKINDS - TTS_FRAMEKIND_P1];
} tail_fields[] = {
    TAIL_FIELD(dram_bytes, 40, 40, 40, 40),
    TAIL_FIELD(l1_bytes, 48, 48, 48, 48),
    TAIL_FIELD(l1_small_bytes, 56, 56, 56, 56),
    TAIL_FIELD(trace_bytes, 64, 64, 64, 64),
    TAIL_FIELD(cb_bytes, 0, 0, 72, 72),
    TAIL_FIELD(kernel_bytes, 0, 0, 80, 80),
    TAIL_FIELD(dram_total_bytes, 0, 72, 88, 88),
    TAIL_FIELD(l1_total_bytes, 0, 80, 96, 96),
    TAIL_FIELD(arch, 0, 88, 104, 104),
    TAIL_FIELD(dram_channels, 0, 92, 108, 108),
    TAIL_FIELD(dram_channel_bytes, 0, 96, 112, 112),
    TAIL_FIELD(l1_core_bytes, 0, 100, 116, 116),
    TAIL_FIELD(is_available, 0, 104, 120, 120),
    TAIL_FIELD(device_count, 0, 108, 124, 124),
    TAIL_FIELD(ring_total_bytes, 0, 0, 0, 128),
    TAIL_FIELD(ring_used_bytes, 0, 0, 0, 132),
    TAIL_FIELD(program_count, 0, 0, 0, 136),
};
enum { TAIL_FIELDS = sizeof tail_fields / sizeof *tail_fields };

size_t tts_frame_bytes(enum tts_framekind kind)
{
    return frame_kinds[kind].bytes;
}

/* --- reading and writing one frame ------------------------------------------------------- */

/* Reads all fields but those of the tail, which become 0. */
static void decode_header(enum tts_framekind kind, const unsigned char *bytes,
                          struct tts_frame *out)
{
    *out = (struct tts_frame){.kind = kind, .type = bytes[TYPE_OFF]};
    out->device = (int32_t)tts_get32(bytes + DEVICE_OFF);
    out->size_bytes = tts_get64(bytes + SIZE_OFF);
    if (kind == TTS_FRAMEKIND_STATS)
        return;
    if (kind == TTS_FRAMEKIND_CBK) {
        out->id = tts_get64(bytes + CBK_ID_OFF);
        out->pid = (int32_t)tts_get32(bytes + CBK_PID_OFF);
        return;
    }
    out->buffer_type = bytes[BUFFER_TYPE_OFF];
    out->pid = (int32_t)tts_get32(bytes + PID_OFF);
    out->id = tts_get64(bytes + ID_OFF);
    out->time_ns = tts_get64(bytes + TIME_OFF);
}

void tts_frame_decode(enum tts_framekind kind, const unsigned char *bytes,
                      struct tts_frame *out)
{
    assert(kind > TTS_FRAMEKIND_UNKNOWN && kind < TTS_FRAMEKINDS);
    decode_header(kind, bytes, out);
    for (size_t i = 0; kind >= TTS_FRAMEKIND_P1 && i < TAIL_FIELDS; i++) {
        unsigned char *field = (unsigned char *)out + tail_fields[i].off;
        size_t at = tail_fields[i].wire_off[kind - TTS_FRAMEKIND_P1];
        uint32_t word = 0;
        uint64_t words = 0;
        if (at > 0 && tail_fields[i].bytes == sizeof words) {
            words = tts_get64(bytes + at);
            memcpy(field, &words, sizeof words);
        } else if (at > 0) {
            word = tts_get32(bytes + at);
            memcpy(field, &word, sizeof word);
        }
    }
}

size_t tts_frame_encode(const struct tts_frame *frame, unsigned char bytes[TTS_FRAME_BYTES_MAX])
{
    assert(frame->kind >= TTS_FRAMEKIND_P1 && frame->kind < TTS_FRAMEKINDS);
    size_t len = tts_frame_bytes(frame->kind);
    memset(bytes, 0, len);
    bytes[TYPE_OFF] = frame->type;
    tts_put32(bytes + DEVICE_OFF, (uint32_t)frame->device);
    tts_put64(bytes + SIZE_OFF, frame->size_bytes);
    bytes[BUFFER_TYPE_OFF] = frame->buffer_type;
    tts_put32(bytes + PID_OFF, (uint32_t)frame->pid);
    tts_put64(bytes + ID_OFF, frame->id);
    tts_put64(bytes + TIME_OFF, frame->time_ns);
    for (size_t i = 0; i < TAIL_FIELDS; i++) {
        const unsigned char *field = (const unsigned char *)frame + tail_fields[i].off;
        size_t at = tail_fields[i].wire_off[frame->kind - TTS_FRAMEKIND_P1];
        uint32_t word;
        uint64_t words;
        if (at > 0 && tail_fields[i].bytes == sizeof words) {
            memcpy(&words, field, sizeof words);
            tts_put64(bytes + at, words);
        } else if (at > 0) {
            memcpy(&word, field, sizeof word);
            tts_put32(bytes + at, word);
        }
    }
    return len;
}

/* --- is it a frame? ---------------------------------------------------------------------- */

/* Returns whether 4 bytes with the type and its padding may begin a frame with one of the
 * types. */
static inline bool is_type_word(uint32_t word, uint32_t types)
{
    return word <= TTS_FRAMETYPE_MAX && (types >> word & 1);
}

static inline bool is_device(uint32_t device, uint32_t type)
{
    bool is_event = TYPES_EVENT >> type & 1;
    return device < TTS_FRAME_DEVICES_MAX || (device == UINT32_MAX && !is_event);
}

/* Returns whether the process may send this type. The published demos leave themselves out of
 * FREE and of requests. */
static inline bool is_sender(uint32_t pid, uint32_t type)
{
    bool may_be_missing = !((TYPE_BIT(TTS_FRAMETYPE_ALLOC) | TYPES_CBK) >> type & 1);
    return pid <= TTS_FRAME_PID_MAX && (pid > 0 || may_be_missing);
}

static inline uint32_t buffer_types_of(uint32_t type)
{
    return TYPES_KERNEL >> type & 1 ? KERNEL_TYPES : BUFFER_TYPES;
}

/* Returns whether the header of 40 bytes is within the limits. `types` are the types that the
 * kind has. */
static inline bool is_header(const unsigned char *bytes, uint32_t types)
{
    uint64_t begin = tts_get64(bytes + TYPE_OFF), owner = tts_get64(bytes + BUFFER_TYPE_OFF);
    uint32_t type = (uint32_t)begin;
    if (!is_type_word(type, types))
        return false;
    return is_device((uint32_t)(begin >> 32), type) &&
           (uint32_t)owner < buffer_types_of(type) &&
           is_sender((uint32_t)(owner >> 32), type) &&
           tts_get64(bytes + SIZE_OFF) <= TTS_FRAME_SIZE_BYTES_MAX &&
           tts_get64(bytes + TIME_OFF) <= INT64_MAX;
}

static inline bool is_cbk(const unsigned char *bytes)
{
    uint64_t begin = tts_get64(bytes + TYPE_OFF);
    return is_type_word((uint32_t)begin, TYPES_CBK) &&
           is_device((uint32_t)(begin >> 32), (uint32_t)begin) &&
           tts_get64(bytes + SIZE_OFF) <= TTS_FRAME_SIZE_BYTES_MAX &&
           is_sender(tts_get32(bytes + CBK_PID_OFF), (uint32_t)begin) &&
           tts_get32(bytes + CBK_PADDING_OFF) == 0;
}

/* Returns whether the bytes of a frame after its header are 0, as in every event and request.
 */
static inline bool is_tail_zero(const unsigned char *bytes, size_t len)
{
    uint64_t any = 0;
    for (size_t at = TTS_FRAME_HEADER_BYTES; at < len; at += sizeof any)
        any |= tts_get64(bytes + at);
    return any == 0;
}

/* Returns whether the bytes are a frame of the kind, which is known. */
static bool is_frame(enum tts_framekind kind, const unsigned char *bytes)
{
    if (kind == TTS_FRAMEKIND_CBK)
        return is_cbk(bytes);
    return is_header(bytes, frame_kinds[kind].types) &&
           is_tail_zero(bytes, frame_kinds[kind].bytes);
}

/* --- which size has it? ------------------------------------------------------------------ */

/* What the bytes at a place are if the size of the frames is not known. */
enum guess {
    GUESS_NO,   /* no frame begins here */
    GUESS_MORE, /* more bytes are necessary */
    GUESS_FRAME
};

/* A place where a frame may begin. */
struct framebegin {
    const unsigned char *bytes;
    size_t len;
    bool is_drained; /* no more bytes so far */
    bool is_first;   /* the connection begins here: garbage may follow the frame. Elsewhere only
                        another frame may follow */
};

/* Returns whether an event or request of this type has a size like this. Frames in order are
 * not asked. */
static bool is_sensible_size(uint32_t type, uint64_t size_bytes)
{
    if (TYPES_ADDING >> type & 1)
        return size_bytes > 0;
    return size_bytes == 0 || TYPES_CBK >> type & 1;
}

/* Returns the shortest generation that has at least `len` bytes, or the last. */
static enum tts_framekind kind_from_length(size_t len)
{
    enum tts_framekind kind = TTS_FRAMEKIND_P1;
    while (kind < TTS_FRAMEKIND_P4 && tts_frame_bytes(kind) < len)
        kind++;
    return kind;
}

/* Guesses the kind of a frame with the common header. The next frame begins at the first byte
 * after the header that is not 0. */
static enum guess guess_by_tail(const struct framebegin *begin, enum tts_framekind *kind)
{
    const unsigned char *bytes = begin->bytes;
    uint32_t type = bytes[TYPE_OFF];
    if (!is_header(bytes, TYPES_P4) || !is_sensible_size(type, tts_get64(bytes + SIZE_OFF)))
        return GUESS_NO;
    size_t end = TTS_FRAME_HEADER_BYTES;
    while (end < begin->len && end < TTS_FRAME_BYTES_MAX && bytes[end] == 0)
        end++;
    *kind = kind_from_length(end);
    bool has_next = end < begin->len || end == TTS_FRAME_BYTES_MAX;
    if (has_next && begin->is_first && tts_frame_bytes(*kind) > end)
        *kind = *kind - 1; /* zeros of another origin follow the frame */
    bool is_whole = *kind >= TTS_FRAMEKIND_P1 && frame_kinds[*kind].types >> type & 1 &&
                    (end == tts_frame_bytes(*kind) || (has_next && begin->is_first));
    if (has_next)
        return is_whole ? GUESS_FRAME : GUESS_NO;
    return is_whole && begin->is_drained ? GUESS_FRAME : GUESS_MORE;
}

/* Returns whether the begin of an event has the buffer type and the sender of the common
 * header. CBK has an id in their place. An id that looks like both needs a small lower half and
 * an upper half in use. */
static bool has_sender(const unsigned char *bytes, uint32_t type)
{
    return tts_get32(bytes + BUFFER_TYPE_OFF) < buffer_types_of(type) &&
           is_sender(tts_get32(bytes + PID_OFF), type);
}

/* Guesses whether a frame begins. A guess other than GUESS_MORE does not change with more
 * bytes, unless `is_drained`. */
static enum guess guess_frame(const struct framebegin *begin, enum tts_framekind *kind)
{
    const unsigned char *bytes = begin->bytes;
    size_t len = begin->len;
    uint32_t word = 0;
    memcpy(&word, bytes, len < sizeof word ? len : sizeof word);
    word = tts_le32(word);
    if (!is_type_word(word, TYPES_P4))
        return GUESS_NO;
    if (TYPES_CBK >> word & 1 && len >= tts_frame_bytes(TTS_FRAMEKIND_CBK) &&
        !has_sender(bytes, word)) {
        *kind = TTS_FRAMEKIND_CBK;
        return is_cbk(bytes) && is_sensible_size(word, tts_get64(bytes + SIZE_OFF))
                   ? GUESS_FRAME
                   : GUESS_NO;
    }
    if (len < TTS_FRAME_HEADER_BYTES)
        return GUESS_MORE;
    return guess_by_tail(begin, kind);
}

/* Returns whether the bytes are the request of the published monitor script: a type, then
 * zeros, and nothing after them. */
static bool is_stats_request(const unsigned char *bytes, size_t len)
{
    return len == tts_frame_bytes(TTS_FRAMEKIND_STATS) &&
           bytes[TYPE_OFF] == TTS_FRAMETYPE_FREE && tts_get64(bytes) == TTS_FRAMETYPE_FREE &&
           tts_get64(bytes + 8) == 0 && tts_get64(bytes + 16) == 0;
}

/* --- the stream -------------------------------------------------------------------------- */

static void lose_begin(struct tts_framestream *stream)
{
    stream->losses += !stream->is_skipping;
    stream->is_skipping = true;
}

/* Skips bytes up to the next place where a frame may begin. */
static size_t skip_to_begin(struct tts_framestream *stream, const unsigned char *bytes,
                            size_t len)
{
    enum tts_framekind kind;
    size_t skipped = 1;
    for (; skipped < len; skipped++) {
        struct framebegin begin = {.bytes = bytes + skipped, .len = len - skipped};
        if (bytes[skipped] != 0 && guess_frame(&begin, &kind) != GUESS_NO)
            break;
    }
    stream->skipped_bytes += skipped;
    lose_begin(stream);
    return skipped;
}

static size_t take_frame(struct tts_framestream *stream, enum tts_framekind kind,
                         const unsigned char *bytes, struct tts_frame *out, bool *has_frame)
{
    stream->kind = kind;
    stream->is_skipping = false;
    stream->frames++;
    decode_header(kind, bytes, out);
    *has_frame = true;
    return frame_kinds[kind].bytes;
}

/* Like tts_framestream_next(), if the size of the frames is not known. */
static TTS_NOINLINE size_t take_unknown_frame(struct tts_framestream *stream,
                                              const struct framebegin *begin,
                                              struct tts_frame *out, bool *has_frame)
{
    enum tts_framekind kind;
    bool may_be_stats = begin->is_drained && stream->skipped_bytes == 0 &&
                        (stream->frames == 0 || stream->kind == TTS_FRAMEKIND_STATS);
    if (may_be_stats && is_stats_request(begin->bytes, begin->len))
        return take_frame(stream, TTS_FRAMEKIND_STATS, begin->bytes, out, has_frame);
    enum guess guess = guess_frame(begin, &kind);
    if (guess == GUESS_FRAME)
        return take_frame(stream, kind, begin->bytes, out, has_frame);
    return guess == GUESS_MORE ? 0 : skip_to_begin(stream, begin->bytes, begin->len);
}

/* Zeros after a frame that ended only because the sender was drained are the end of this frame,
 * which is longer than it seemed. Returns their number. */
static size_t take_late_tail(struct tts_framestream *stream, const unsigned char *bytes,
                             size_t len)
{
    size_t have = tts_frame_bytes(stream->kind) - stream->owed_bytes, late = 0;
    while (late < len && have + late < TTS_FRAME_BYTES_MAX && bytes[late] == 0)
        late++;
    if (late == 0)
        return 0;
    stream->kind = kind_from_length(have + late);
    stream->owed_bytes = (uint8_t)(tts_frame_bytes(stream->kind) - have - late);
    stream->late_bytes += late;
    return late;
}

static void lose_kind(struct tts_framestream *stream)
{
    stream->kind = TTS_FRAMEKIND_UNKNOWN;
    stream->is_certain = false;
    stream->owed_bytes = 0;
}

size_t tts_framestream_next(struct tts_framestream *stream, const unsigned char *bytes,
                            size_t len, bool is_drained, struct tts_frame *out, bool *has_frame)
{
    enum tts_framekind kind = stream->kind;
    *has_frame = false;
    if (len == 0)
        return 0;
    if (kind >= TTS_FRAMEKIND_P1 && !stream->is_certain) {
        size_t late = take_late_tail(stream, bytes, len);
        if (late > 0)
            return late;
        if (stream->owed_bytes > 0) {
            lose_begin(stream);
            lose_kind(stream);
        }
        kind = stream->kind;
    }
    if (kind >= TTS_FRAMEKIND_CBK) {
        if (len >= frame_kinds[kind].bytes && is_frame(kind, bytes)) {
            stream->is_certain = true;
            return take_frame(stream, kind, bytes, out, has_frame);
        }
        if (len < frame_kinds[kind].bytes && is_type_word(bytes[0], frame_kinds[kind].types))
            return 0;
        lose_kind(stream);
    }
    struct framebegin begin = {bytes, len, is_drained,
                               stream->frames == 0 && !stream->is_skipping};
    return take_unknown_frame(stream, &begin, out, has_frame);
}
