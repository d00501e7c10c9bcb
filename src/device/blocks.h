/* blocks.h: the blocks of a space, in units.
 * A unit is a power of two of which everything in the space is a multiple
 * (docs/design/space.md), so that starts and sizes are small numbers: 16 bits in an L1 bank, 32
 * in a DRAM bank. The same code (blocks.c) is compiled for words of 16 and 32 bits, with AVX2
 * and without; this is what all of them have in common. Starts are relative to the
 * space. Caller's memory; one thread. */
#pragma once

#include "device/idstack.h"
#include "device/space.h"
#include "ttscope/alloc.h"

#include <stdbool.h>
#include <stdint.h>

struct tts_blocks {
    const struct tts_blocks_ops *ops;
    const struct tts_alloc *alloc;
    uint64_t units; /* of the whole space */
    uint32_t unit_shift;
    uint32_t classes;     /* of sizes */
    uint64_t taken_units; /* in taken blocks */
    uint64_t free_count;
    struct tts_idstack ids;
};

struct tts_unit_block {
    uint64_t start, size;
    uint32_t id;
};

/* Every id below the next one is a block's, or retired. */
static inline uint64_t tts_blocks_taken_count(const struct tts_blocks *b)
{
    return b->ids.next - b->ids.count - b->free_count;
}

/* Where memory may run out, it does before anything has changed. */
struct tts_blocks_ops {
    size_t bytes; /* of the struct that begins with a struct tts_blocks */
    enum tts_status (*init)(struct tts_blocks *b, enum tts_policy policy);
    void (*release)(struct tts_blocks *b);
    void (*clear)(struct tts_blocks *b); /* no blocks at all */

    /* tts_space_take() and tts_space_give() themselves. */
    enum tts_status (*take)(struct tts_space *s, uint64_t bytes, enum tts_direction direction,
                            uint64_t limit, uint64_t *address);
    enum tts_status (*give)(struct tts_space *s, uint64_t address);

    /* Whether [start, start + need) lies in one free block. */
    bool (*is_free)(const struct tts_blocks *b, uint64_t start, uint64_t need);
    /* TTS_E_FULL, TTS_E_NOMEM. */
    enum tts_status (*take_at)(struct tts_blocks *b, uint64_t start, uint64_t need);
    /* A block as it is, behind all others of its kind. */
    enum tts_status (*add_free)(struct tts_blocks *b, struct tts_unit_block block);
    enum tts_status (*add_taken)(struct tts_blocks *b, struct tts_unit_block block);
    /* The free block that starts at `from` now starts at `to`; its id stays. At `to` where it
     * ends, it is gone and its id retires. There is such a block. */
    enum tts_status (*move_start)(struct tts_blocks *b, uint64_t from, uint64_t to);

    bool (*find_taken)(const struct tts_blocks *b, uint64_t start, struct tts_unit_block *out);
    /* The first free block at or behind `start`. */
    bool (*next_free)(const struct tts_blocks *b, uint64_t start, struct tts_unit_block *out);
    uint64_t (*largest_free)(const struct tts_blocks *b);
    size_t (*memory)(const struct tts_blocks *b);
    bool (*is_valid)(const struct tts_blocks *b);
};

/* New blocks of the narrowest width that holds the space: none of them yet. NULL: out of
 * memory. */
struct tts_blocks *tts_blocks_new(const struct tts_space_config *config, uint32_t unit_shift,
                                  const struct tts_alloc *alloc);
void tts_blocks_free(struct tts_blocks *b); /* NULL is fine */

/* For tests and benchmarks, and for all threads: new blocks leave what only this processor has
 * unused. */
void tts_blocks_set_portable(bool portable);
