/* blocks.h: the blocks of a space, counted in units.
 *
 * A unit is a power of two that divides every start and size in the space
 * (docs/design/space.md). So starts and sizes are small numbers: 16 bits in an L1 bank, 32 bits
 * in a DRAM bank. The same code (blocks.c) is compiled four times: for words of 16 and of 32
 * bits, with and without AVX2. This header is the interface of all four. Starts are relative to
 * the space. One thread at a time. */
#pragma once

#include "device/idstack.h"
#include "device/space.h"
#include "ttscope/alloc.h"

#include <stdbool.h>
#include <stdint.h>

struct tts_blocks {
    const struct tts_blocks_ops *ops;
    const struct tts_alloc *alloc;
    uint64_t units; /* size of the whole space */
    uint32_t unit_shift;
    uint32_t classes;     /* number of size classes */
    uint64_t taken_units; /* units in all taken blocks */
    uint64_t free_count;
    struct tts_idstack ids;
};

struct tts_unit_block {
    uint64_t start, size;
    uint32_t id;
};

/* Returns the number of taken blocks. Every id below ids.next belongs to a free block, belongs
 * to a taken block, or is retired. */
static inline uint64_t tts_blocks_taken_count(const struct tts_blocks *b)
{
    return b->ids.next - b->ids.count - b->free_count;
}

/* The functions for one width of a word. If memory is missing, a function changes nothing and
 * returns TTS_E_NOMEM. */
struct tts_blocks_ops {
    size_t bytes; /* size of the implementing struct, which begins with a struct tts_blocks */
    enum tts_status (*init)(struct tts_blocks *b, enum tts_policy policy);
    void (*release)(struct tts_blocks *b);
    void (*clear)(struct tts_blocks *b); /* removes all blocks */

    /* These two implement tts_space_take() and tts_space_give(). */
    enum tts_status (*take)(struct tts_space *s, uint64_t bytes, enum tts_direction direction,
                            uint64_t limit, uint64_t *address);
    enum tts_status (*give)(struct tts_space *s, uint64_t address);

    /* Returns whether one free block contains [start, start + need). */
    bool (*is_free)(const struct tts_blocks *b, uint64_t start, uint64_t need);
    /* Takes the range [start, start + need). TTS_E_FULL: a part of the range is not free. */
    enum tts_status (*take_at)(struct tts_blocks *b, uint64_t start, uint64_t need);
    /* Add a block without joining it with its neighbours. It must start after all blocks of the
     * same kind. */
    enum tts_status (*add_free)(struct tts_blocks *b, struct tts_unit_block block);
    enum tts_status (*add_taken)(struct tts_blocks *b, struct tts_unit_block block);
    /* Moves the start of the free block that begins at `from` to `to`. The block keeps its id.
     * If `to` is the end of the block, the block is removed and its id is retired. The block
     * must exist. */
    enum tts_status (*move_start)(struct tts_blocks *b, uint64_t from, uint64_t to);

    bool (*find_taken)(const struct tts_blocks *b, uint64_t start, struct tts_unit_block *out);
    /* Finds the first free block that starts at `start` or later. Returns false if there is
     * none. */
    bool (*next_free)(const struct tts_blocks *b, uint64_t start, struct tts_unit_block *out);
    uint64_t (*largest_free)(const struct tts_blocks *b);
    size_t (*memory)(const struct tts_blocks *b);
    bool (*is_valid)(const struct tts_blocks *b);
};

/* Makes an empty set of blocks, with the narrowest words that can hold the space. Returns NULL
 * if memory is missing. */
struct tts_blocks *tts_blocks_new(const struct tts_space_config *config, uint32_t unit_shift,
                                  const struct tts_alloc *alloc);
void tts_blocks_free(struct tts_blocks *b); /* NULL is allowed */

/* If `portable` is true, blocks made later use only portable code, without AVX2. For tests and
 * benchmarks. Affects all threads. */
void tts_blocks_set_portable(bool portable);
