#include "model/recording/recformat.h"

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum {
    PAGE = 4096,
    PLACE_MAX = 64 << 20,
    /* Offsets in the header. */
    VERSION_OFF = 8,
    KIND_OFF = 12,
    PLACE_OFF = 16,
    PLACES_OFF = 24,
    START_OFF = 32,
    REALTIME_OFF = 40,
    SCALE_OFF = 48,
    PID_OFF = 56,
    PROGRAM_OFF = 64,
    WRITER_OFF = PROGRAM_OFF + TTS_REC_PROGRAM_MAX,
    FLAGS_OFF = WRITER_OFF + TTS_REC_WRITER_MAX,
    STATE_END = TTS_REC_STATE_OFF + 2 * TTS_REC_STATE_BYTES,
    /* Offsets in a state. */
    STATE_CHECK_OFF = 56,
    /* Offsets in a block. */
    BLOCK_CHECK_OFF = 48,
};

static uint64_t check_of(const unsigned char *bytes, size_t len)
{
    struct tts_checksum check;
    tts_checksum_begin(&check, 0);
    return tts_checksum_update(&check, bytes, len);
}

static bool is_zero(const unsigned char *bytes, size_t len)
{
    unsigned char any = 0;
    for (size_t i = 0; i < len; i++)
        any |= bytes[i];
    return any == 0;
}

static enum tts_status damaged(struct tts_error *err, uint64_t offset, const char *what)
{
    tts_error_set(err, TTS_E_SYNTAX, "%s", what);
    if (err)
        err->offset = offset;
    return TTS_E_SYNTAX;
}

/* --- the header ------------------------------------------------------------------------- */

/* Copies at most `size` - 1 bytes. The rest of `out` is already zero. */
static void put_text(unsigned char *out, const char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size && text[i]; i++)
        out[i] = (unsigned char)text[i];
}

void tts_rec_header_put(const struct tts_rec_header *header,
                        unsigned char out[TTS_REC_HEADER_BYTES])
{
    assert(header->kind == TTS_REC_LIVE || header->kind == TTS_REC_PACKED);
    memset(out, 0, TTS_REC_HEADER_BYTES);
    memcpy(out, TTS_REC_MAGIC, sizeof TTS_REC_MAGIC - 1);
    bool is_plain = !(header->flags & (TTS_REC_SAMPLES | TTS_REC_L1_REQUESTED));
    tts_put32(out + VERSION_OFF, is_plain ? 1 : TTS_REC_VERSION);
    tts_put32(out + KIND_OFF, header->kind);
    tts_put64(out + PLACE_OFF, header->place_bytes);
    tts_put64(out + PLACES_OFF, header->places);
    tts_put64(out + START_OFF, header->start_ns);
    tts_put64(out + REALTIME_OFF, header->start_realtime_ns);
    tts_put64(out + SCALE_OFF, header->unit_scale);
    tts_put64(out + PID_OFF, header->pid);
    tts_put64(out + FLAGS_OFF, header->flags);
    put_text(out + PROGRAM_OFF, header->program, TTS_REC_PROGRAM_MAX);
    put_text(out + WRITER_OFF, header->writer, TTS_REC_WRITER_MAX);
    tts_put64(out + TTS_REC_CHECK_OFF, check_of(out, TTS_REC_STATE_OFF));
}

/* Checks the magic, the version and the checksum of the header. */
static enum tts_status check_header(const unsigned char *in, struct tts_error *err)
{
    if (memcmp(in, TTS_REC_MAGIC, sizeof TTS_REC_MAGIC - 1) != 0)
        return damaged(err, 0, "not a recording: the first bytes are not those of a recording");
    if (tts_get64(in + TTS_REC_CHECK_OFF) != check_of(in, TTS_REC_STATE_OFF))
        return damaged(err, 0, "the header is damaged: the checksum of the header is wrong");
    uint32_t version = tts_get32(in + VERSION_OFF);
    if (version > TTS_REC_VERSION) {
        tts_error_set(err, TTS_E_RANGE,
                      "the recording has format version %" PRIu32
                      ", but this ttscope reads versions up to %d: use a newer ttscope",
                      version, TTS_REC_VERSION);
        if (err)
            err->offset = VERSION_OFF;
        return TTS_E_RANGE;
    }
    if (version == 0)
        return damaged(err, VERSION_OFF, "the header is damaged: the format version is 0");
    if (!is_zero(in + STATE_END, TTS_REC_CHECK_OFF - STATE_END))
        return damaged(err, STATE_END, "the header is damaged: unused bytes are not zero");
    return TTS_OK;
}

/* Checks that the number and the size of the places are possible. */
static enum tts_status check_places(const unsigned char *in, struct tts_error *err)
{
    uint32_t kind = tts_get32(in + KIND_OFF);
    uint64_t place = tts_get64(in + PLACE_OFF), places = tts_get64(in + PLACES_OFF);
    if (kind != TTS_REC_LIVE && kind != TTS_REC_PACKED)
        return damaged(err, KIND_OFF,
                       "the header is damaged: the kind of recording is unknown");
    bool can_be = kind == TTS_REC_PACKED ? place == 0 && places == 0
                                         : place > 0 && place % PAGE == 0 && place <= PLACE_MAX;
    return can_be
               ? TTS_OK
               : damaged(err, PLACE_OFF,
                         "the header is damaged: the size or number of blocks is impossible");
}

enum tts_status tts_rec_header_get(const unsigned char in[TTS_REC_HEADER_BYTES],
                                   struct tts_rec_header *out, struct tts_error *err)
{
    enum tts_status status = check_header(in, err);
    if (status == TTS_OK)
        status = check_places(in, err);
    if (status != TTS_OK)
        return status;
    if (in[WRITER_OFF - 1] != 0 || in[WRITER_OFF + TTS_REC_WRITER_MAX - 1] != 0)
        return damaged(err, PROGRAM_OFF, "the header is damaged: a name has no end");
    *out = (struct tts_rec_header){
        .kind = (enum tts_rec_kind)tts_get32(in + KIND_OFF),
        .place_bytes = tts_get64(in + PLACE_OFF),
        .places = tts_get64(in + PLACES_OFF),
        .start_ns = tts_get64(in + START_OFF),
        .start_realtime_ns = tts_get64(in + REALTIME_OFF),
        .unit_scale = tts_get64(in + SCALE_OFF),
        .pid = tts_get64(in + PID_OFF),
        .flags = tts_get64(in + FLAGS_OFF),
    };
    memcpy(out->program, in + PROGRAM_OFF, TTS_REC_PROGRAM_MAX);
    memcpy(out->writer, in + WRITER_OFF, TTS_REC_WRITER_MAX);
    return TTS_OK;
}

/* --- the state -------------------------------------------------------------------------- */

static size_t copy_off(uint64_t generation)
{
    return TTS_REC_STATE_OFF + (generation % 2 ? 0 : TTS_REC_STATE_BYTES);
}

bool tts_rec_state_is_left(const struct tts_rec_state *state)
{
    return state->kind == TTS_REC_STOPPED && state->sys_errno == ECANCELED;
}

void tts_rec_state_put(const struct tts_rec_state *state,
                       unsigned char header[TTS_REC_HEADER_BYTES])
{
    assert(state->generation > 0);
    assert(state->kind >= TTS_REC_RECORDING && state->kind <= TTS_REC_STOPPED);
    unsigned char *out = header + copy_off(state->generation);
    tts_put64(out, state->generation);
    tts_put32(out + 8, state->kind);
    tts_put32(out + 12, state->sys_errno);
    tts_put64(out + 16, state->blocks);
    tts_put64(out + 24, state->events);
    tts_put64(out + 32, state->dropped);
    tts_put64(out + 40, state->index_off);
    tts_put64(out + 48, 0);
    tts_put64(out + STATE_CHECK_OFF, check_of(out, STATE_CHECK_OFF));
}

/* Reads the copy of the state at `offset`. Returns false if the copy is invalid or its
 * generation belongs to the other copy. */
static bool read_copy(const unsigned char *header, size_t offset, struct tts_rec_state *out)
{
    const unsigned char *in = header + offset;
    *out = (struct tts_rec_state){
        .generation = tts_get64(in),
        .kind = (enum tts_rec_state_kind)tts_get32(in + 8),
        .sys_errno = tts_get32(in + 12),
        .blocks = tts_get64(in + 16),
        .events = tts_get64(in + 24),
        .dropped = tts_get64(in + 32),
        .index_off = tts_get64(in + 40),
    };
    return tts_get64(in + STATE_CHECK_OFF) == check_of(in, STATE_CHECK_OFF) &&
           out->generation > 0 && copy_off(out->generation) == offset &&
           out->kind >= TTS_REC_RECORDING && out->kind <= TTS_REC_STOPPED;
}

enum tts_status tts_rec_state_get(const unsigned char in[TTS_REC_HEADER_BYTES],
                                  struct tts_rec_state *out, bool *is_damaged,
                                  struct tts_error *err)
{
    const size_t first = TTS_REC_STATE_OFF, second = first + TTS_REC_STATE_BYTES;
    struct tts_rec_state states[2];
    bool has_first = read_copy(in, first, &states[0]);
    bool has_second = read_copy(in, second, &states[1]);
    if (!has_first && !has_second)
        return damaged(err, first, "both copies of the recording's state are damaged");
    bool newer = !has_first || (has_second && states[1].generation > states[0].generation);
    *out = states[newer];
    *is_damaged = (!has_first && !is_zero(in + first, TTS_REC_STATE_BYTES)) ||
                  (!has_second && !is_zero(in + second, TTS_REC_STATE_BYTES));
    return TTS_OK;
}

/* --- blocks ----------------------------------------------------------------------------- */

void tts_rec_block_put(const struct tts_rec_block *block,
                       unsigned char out[TTS_REC_BLOCK_HEADER_BYTES])
{
    assert(block->kind >= TTS_REC_ITEMS && block->kind <= TTS_REC_FIGURES);
    assert(block->packing <= TTS_REC_ZSTD && !(block->has_keyframe && block->in_keyframe));
    assert(block->place_bytes >= TTS_REC_BLOCK_HEADER_BYTES);
    tts_put32(out, TTS_REC_BLOCK_MAGIC);
    out[4] = block->kind;
    out[5] = block->packing;
    out[6] = block->has_keyframe ? 1 : block->in_keyframe ? 2 : 0;
    out[7] = 0;
    tts_put64(out + 8, block->number);
    tts_put64(out + 16, block->seq);
    tts_put64(out + 24, block->tick);
    tts_put64(out + 32, block->time_ns);
    tts_put64(out + 40, block->place_bytes);
    tts_put64(out + BLOCK_CHECK_OFF, check_of(out, BLOCK_CHECK_OFF));
}

enum tts_status tts_rec_block_get(const unsigned char in[TTS_REC_BLOCK_HEADER_BYTES],
                                  struct tts_rec_block *out, struct tts_error *err)
{
    if (is_zero(in, TTS_REC_BLOCK_HEADER_BYTES))
        return tts_error_set(err, TTS_E_NOT_FOUND, "there is no block at this position");
    if (tts_get32(in) != TTS_REC_BLOCK_MAGIC)
        return damaged(err, 0, "the block is damaged: the first bytes are wrong");
    if (tts_get64(in + BLOCK_CHECK_OFF) != check_of(in, BLOCK_CHECK_OFF))
        return damaged(err, 0,
                       "the block is damaged: the checksum of the block header is wrong");
    if (in[4] < TTS_REC_ITEMS || in[4] > TTS_REC_FIGURES || in[5] > TTS_REC_ZSTD || in[6] > 2 ||
        in[7] != 0)
        return damaged(err, 4, "the block is damaged: the kind of the block is unknown");
    if (tts_get64(in + 40) < TTS_REC_BLOCK_HEADER_BYTES)
        return damaged(err, 40,
                       "the block is damaged: the block is shorter than a block header");
    *out = (struct tts_rec_block){
        .kind = in[4],
        .packing = in[5],
        .has_keyframe = in[6] == 1,
        .in_keyframe = in[6] == 2,
        .number = tts_get64(in + 8),
        .seq = tts_get64(in + 16),
        .tick = tts_get64(in + 24),
        .time_ns = tts_get64(in + 32),
        .place_bytes = tts_get64(in + 40),
    };
    return TTS_OK;
}
