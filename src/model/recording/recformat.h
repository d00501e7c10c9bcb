/* recformat.h: the constants and structures of docs/design/recording.md. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

#define TTS_REC_MAGIC "\x89tts\r\n\x1a\n" /* the first 8 bytes of a recording */
#define TTS_REC_BLOCK_MAGIC UINT32_C(0x42535454)
enum {
    TTS_REC_VERSION = 2, /* the highest; a file has the lowest that its flags allow */
    TTS_REC_HEADER_BYTES = 4096,
    TTS_REC_STATE_OFF = 2048, /* there are two copies of the state */
    TTS_REC_STATE_BYTES = 64,
    TTS_REC_CHECK_OFF = 4088,
    TTS_REC_PROGRAM_MAX = 256,
    TTS_REC_WRITER_MAX = 32,
    TTS_REC_BLOCK_HEADER_BYTES = 64,
    TTS_REC_COMMIT_OFF = 56,
    TTS_REC_PAYLOAD_MAX = 64 << 20,
};

enum tts_rec_kind { TTS_REC_LIVE = 1, TTS_REC_PACKED = 2 };
enum tts_rec_block_kind { TTS_REC_ITEMS = 1, TTS_REC_INDEX = 2, TTS_REC_FIGURES = 3 };
enum tts_rec_packing { TTS_REC_PLAIN = 0, TTS_REC_ZSTD = 1 };
/* Flags of the header. The last two need version 2. */
enum {
    TTS_REC_DRAM_ONLY = 1, /* the recording does not describe L1 */
    TTS_REC_SAMPLES = 2,   /* the recording may have samples */
    TTS_REC_L1_REQUESTED =
        4, /* bytes_per_bank and block_bytes of L1 buffers are their requested
              bytes on the whole device: the bytes per bank are unknown */
};
enum tts_rec_state_kind {
    TTS_REC_RECORDING = 1,
    TTS_REC_ENDED = 2,
    TTS_REC_STOPPED = 3,
};

struct tts_rec_state {
    uint64_t generation;
    enum tts_rec_state_kind kind;
    uint32_t sys_errno;
    uint64_t blocks, events, dropped, index_off;
};

/* Returns whether the recording ended before its program. Nothing before its end is missing. */
bool tts_rec_state_is_left(const struct tts_rec_state *state);

struct tts_rec_header {
    enum tts_rec_kind kind;
    uint64_t place_bytes, places;
    uint64_t start_ns, start_realtime_ns;
    uint64_t unit_scale; /* nanoseconds in 2^32 time units */
    uint64_t pid;
    uint64_t flags;                    /* TTS_REC_DRAM_ONLY, ...; a packer copies all bits */
    char program[TTS_REC_PROGRAM_MAX]; /* terminated */
    char writer[TTS_REC_WRITER_MAX];   /* terminated */
};

struct tts_rec_block {
    uint8_t kind, packing; /* enum tts_rec_block_kind, enum tts_rec_packing */
    bool has_keyframe;     /* begins with a keyframe */
    bool in_keyframe;      /* continues the keyframe of the previous block */
    uint64_t number, seq, tick, time_ns, place_bytes;
};

/* tts_rec_header_put() converts a header to bytes, tts_rec_header_get() converts bytes to a
 * header. The second returns TTS_E_SYNTAX if the bytes are not a recording or are damaged (err
 * names the part, and err->offset is its offset), TTS_E_RANGE if the version is newer. */
void tts_rec_header_put(const struct tts_rec_header *header,
                        unsigned char out[TTS_REC_HEADER_BYTES]);
TTS_NODISCARD enum tts_status tts_rec_header_get(const unsigned char in[TTS_REC_HEADER_BYTES],
                                                 struct tts_rec_header *out,
                                                 struct tts_error *err);

/* Writes one copy of the state: the first copy if the generation is odd, the second if it is
 * even. */
void tts_rec_state_put(const struct tts_rec_state *state,
                       unsigned char header[TTS_REC_HEADER_BYTES]);
/* Reads the newer valid copy. *is_damaged is set if the other copy is neither valid nor all
 * zeros. Returns TTS_E_SYNTAX if no copy is valid. */
TTS_NODISCARD enum tts_status tts_rec_state_get(const unsigned char in[TTS_REC_HEADER_BYTES],
                                                struct tts_rec_state *out, bool *is_damaged,
                                                struct tts_error *err);

/* Writes the header of a block, except the commit word, which the encoder writes. */
void tts_rec_block_put(const struct tts_rec_block *block,
                       unsigned char out[TTS_REC_BLOCK_HEADER_BYTES]);
/* Reads the header of a block. Returns TTS_E_NOT_FOUND if all bytes are 0, including the commit
 * word, because the block was never begun. */
TTS_NODISCARD enum tts_status
tts_rec_block_get(const unsigned char in[TTS_REC_BLOCK_HEADER_BYTES], struct tts_rec_block *out,
                  struct tts_error *err);
