/* block.h: a block of a space in two words.
 * Offsets and sizes have 46 bits, so each word has room for half of the block's 32-bit id below
 * it, and words order as the numbers in them do. A block is this pair wherever it is kept: in a
 * leaf of the free tree or in a bucket of the live map.
 *   key   = offset << 16 | id >> 16
 *   value = size << 16 | id & 0xffff */
#pragma once

#include "base/pairs.h"

#include <stdint.h>

static inline struct tts_pair tts_block_pack(uint64_t off, uint64_t size, uint32_t id)
{
    return (struct tts_pair){off << 16 | id >> 16, size << 16 | (id & 0xffff)};
}

static inline uint64_t tts_block_off(struct tts_pair b)
{
    return b.key >> 16;
}

static inline uint64_t tts_block_size(struct tts_pair b)
{
    return b.value >> 16;
}

static inline uint64_t tts_block_end(struct tts_pair b)
{
    return (b.key >> 16) + (b.value >> 16);
}

static inline uint32_t tts_block_id(struct tts_pair b)
{
    return (uint32_t)(b.key & 0xffff) << 16 | (uint32_t)(b.value & 0xffff);
}

/* The block with `bytes` more, or with its first `bytes` left out, or only as long; same id. */
static inline struct tts_pair tts_block_longer(struct tts_pair b, uint64_t bytes)
{
    return (struct tts_pair){b.key, b.value + (bytes << 16)};
}

static inline struct tts_pair tts_block_part(struct tts_pair b, uint64_t skip, uint64_t size)
{
    return (struct tts_pair){b.key + (skip << 16), size << 16 | (b.value & 0xffff)};
}
