/* buffer.h: a request for a buffer, and how many bytes of every bank the buffer takes. Plain
 * values. Pointers inside a request are borrowed for the call. The rules are in
 * docs/design/buffers.md.
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

/* The cores of columns x0 .. x1 and rows y0 .. y1, both ends included. */
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

/* The cores that get the shards: range after range, and in each range row by row or column by
 * column. In DRAM the x of a core is its bank and y is 0. Ranges do not overlap. */
struct tts_shard_cores {
    const struct tts_core_range *ranges;
    size_t count;
    bool column_major;
};

/* Sharding in two dimensions. Sizes are in elements. The size of the tensor is needed only to
 * locate pages. */
struct tts_shard {
    uint64_t shard_height, shard_width, page_height, page_width;
    /* 0 if unknown; then pages cannot be located. */
    uint64_t tensor_height_pages, tensor_width_pages;
    struct tts_shard_cores cores;
};

/* Sharding over any number of dimensions, in pages; the last dimension is innermost. Shard i
 * goes to core i modulo the number of cores. If `grid` is true, there must be two dimensions
 * and one range of cores; then shard (row, column) goes to core (column, row) of the range, and
 * cores without a shard are not used. */
struct tts_distribution {
    uint32_t rank; /* number of dimensions: 1 .. TTS_RANK_MAX, or 2 if `grid` is true */
    uint64_t tensor[TTS_RANK_MAX], shard[TTS_RANK_MAX];
    bool grid;
    struct tts_shard_cores cores;
};

enum tts_placement {
    TTS_PLACE_DEFAULT, /* default direction of the pool */
    TTS_PLACE_UP,
    TTS_PLACE_DOWN,
    TTS_PLACE_AT, /* at `address`, without an allocator, as in the runtime */
};

/* A request for a buffer. If both `shard` and `distribution` are NULL, the buffer is
 * interleaved. If both are set, `shard` decides the number of pages on a core and
 * `distribution` the number of cores. */
struct tts_request {
    enum tts_pool pool;
    /* size_bytes is a multiple of page_bytes. A size of 0 takes no memory. */
    uint64_t size_bytes, page_bytes;
    const struct tts_shard *shard;
    const struct tts_distribution *distribution;
    enum tts_placement placement;
    uint64_t address; /* if placement is TTS_PLACE_AT */
};

/* The memory that a request needs in a pool of a chip. */
struct tts_need {
    uint64_t page_bytes; /* rounded up to the page alignment */
    /* Number of pages on the device, including the padding of shards. */
    uint64_t pages;
    uint64_t
        total_bytes; /* pages x page_bytes; the runtime reports this as the requested size */
    uint64_t bytes_per_bank; /* bytes in the fullest bank, before rounding to a block */
    uint64_t block_bytes;    /* bytes that the buffer takes in every bank of the pool */
    /* Number of banks that share the buffer: all banks, or the cores with a shard. */
    uint32_t banks;
};

/* Computes the memory that a request needs in a pool. `grid` is the compute grid of the chip
 * (TTS_GRID), 0 if unknown. Allocates nothing.
 *
 * Returns TTS_E_NOT_FOUND if the pool has no bytes, or the request is sharded and the grid is
 * unknown. Returns TTS_E_INVALID if the page does not divide the size, the sharding is
 * impossible, the buffer is interleaved in L1_SMALL, or there are more shards than compute
 * cores. `err` says which. Returns TTS_E_RANGE if a size exceeds 64 bits. After a failure *out
 * is unchanged. */
TTS_API TTS_NODISCARD enum tts_status tts_request_need(const struct tts_request *request,
                                                       const struct tts_pool_layout *pool,
                                                       uint64_t grid, struct tts_need *out,
                                                       struct tts_error *err);
