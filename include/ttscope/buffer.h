/* buffer.h: from what a program asks for to what every bank gives up, and where each page lies.
 * Plain values; pointers inside a request are borrowed for the call.
 * The rules are in docs/design/buffers.md.
 *
 * Threads: any thread may call any function here at any time, also in the child of a fork.
 * Signals: not in a signal handler, because error texts are written with snprintf().
 *
 * Example:
 *     struct tts_request request = {.size_bytes = 10240, .page_bytes = 2048}; // DRAM
 *     struct tts_pool_layout dram;
 *     struct tts_need need;
 *     struct tts_chip chip;
 *     struct tts_error err;
 *     if (tts_chip_preset("n150", &chip, &err) != TTS_OK ||
 *         tts_chip_pool(&chip, TTS_POOL_DRAM, &dram, &err) != TTS_OK ||
 *         tts_request_need(&request, &dram, 0, &need, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     printf("%llu bytes of each bank\n", (unsigned long long)need.block_bytes); */
#pragma once

#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cores [x0, x1] x [y0, y1], both ends included. */
struct tts_core_range {
    uint16_t x0, y0, x1, y1;
};

struct tts_core {
    uint16_t x, y;
};

enum {
    TTS_CORES_MAX = TTS_GRID_SIDE_MAX * TTS_GRID_SIDE_MAX,
    TTS_RANK_MAX = 8,
    TTS_RANGES_MAX = 64,
};

/* Where shards go: the cores of the ranges one after the other, row by row (x fastest) or
 * column by column. For DRAM a core's x is its bank and y is 0. Ranges do not overlap. */
struct tts_shard_cores {
    const struct tts_core_range *ranges;
    size_t count;
    bool column_major;
};

/* The classic sharding, in elements. Of the tensor only the page map needs to know. */
struct tts_shard {
    uint64_t shard_height, shard_width, page_height, page_width;
    uint64_t tensor_height_pages, tensor_width_pages; /* 0: not known, pages have no place */
    struct tts_shard_cores cores;
};

/* Sharding over any number of dimensions, in pages, last dimension innermost. Shards go round
 * the cores; with `grid` shard (row, column) of two dimensions goes to core (column, row) of
 * the one range, which is trimmed to the shards there are. */
struct tts_distribution {
    uint32_t rank; /* 1 .. TTS_RANK_MAX, with grid 2 */
    uint64_t tensor[TTS_RANK_MAX], shard[TTS_RANK_MAX];
    bool grid;
    struct tts_shard_cores cores;
};

enum tts_placement {
    TTS_PLACE_DEFAULT, /* the direction of the pool */
    TTS_PLACE_UP,
    TTS_PLACE_DOWN,
    TTS_PLACE_AT, /* at `address`: no allocator is asked, as in the runtime */
};

/* Interleaved when neither sharding is there. With both, the classic one says how many pages a
 * core has, the other how many cores. */
struct tts_request {
    enum tts_pool pool;
    uint64_t size_bytes, page_bytes; /* the page divides the size; size 0 takes nothing */
    const struct tts_shard *shard;
    const struct tts_distribution *distribution;
    enum tts_placement placement;
    uint64_t address; /* TTS_PLACE_AT */
};

/* What a request comes to, in a pool of a chip. */
struct tts_need {
    uint64_t page_bytes;     /* rounded up to the page alignment */
    uint64_t pages;          /* on the device, padding of shards included */
    uint64_t total_bytes;    /* pages x page_bytes: what the runtime says was requested */
    uint64_t bytes_per_bank; /* before the block is rounded */
    uint64_t block_bytes;    /* what every bank of the pool gives up */
    uint32_t banks;          /* among which it is divided: all, or cores with a shard */
};

/* TTS_E_NOT_FOUND: the pool has no bytes, or the grid (0) is not known to a sharding.
 * TTS_E_INVALID (err says why): the page does not divide the size, a sharding that cannot be,
 * interleaved in L1_SMALL, more shards than compute cores. TTS_E_RANGE: past 64 bits. */
TTS_API TTS_NODISCARD enum tts_status tts_request_need(const struct tts_request *request,
                                                       const struct tts_pool_layout *pool,
                                                       uint64_t grid, struct tts_need *out,
                                                       struct tts_error *err);
