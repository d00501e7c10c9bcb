/* blocks_leaf.h: a leaf, which is a few free blocks in the order of their addresses. Part of
 * blocks.c. A leaf has three rows: starts, sizes and ids. Every take and give reads and changes
 * a leaf. */
#pragma once

#include "base/row.h"
#include "device/blocks.h"

/* A leaf. The places after its last block have the start TTS_WORD_NONE and the size 0. */
struct leaf {
    tts_word start[TTS_ROW], size[TTS_ROW], id[TTS_ROW];
};

/* ---- queries ---- */

/* Returns the index of the lowest set bit, TTS_ROW if no bit is set. */
static inline uint32_t bits_first(uint32_t bits)
{
    return (uint32_t)__builtin_ctzll(bits | UINT64_C(1) << TTS_ROW);
}

static uint32_t leaf_count(const struct leaf *leaf)
{
    return bits_first(
        tts_row_bits(tts_row_same(tts_row_load(leaf->start), tts_row_all(TTS_WORD_NONE))));
}

/* Returns a bit for each block whose size is at least `low` and below `high`. If `high` is
 * TTS_WORD_NONE, there is no upper bound. */
static inline uint32_t leaf_fits(const struct leaf *leaf, tts_word low, tts_word high)
{
    tts_row size = tts_row_load(leaf->size);
    uint32_t fits = tts_row_bits(tts_row_at_least(size, tts_row_all(low)));
    if (high != TTS_WORD_NONE)
        fits &= ~tts_row_bits(tts_row_at_least(size, tts_row_all(high)));
    return fits;
}

/* Returns the largest size in [low, high), 0 if there is none. */
static inline tts_word leaf_largest_in(const struct leaf *leaf, tts_word low, tts_word high)
{
    tts_row size = tts_row_load(leaf->size);
    tts_row in = tts_row_but(tts_row_at_least(size, tts_row_all(low)),
                             tts_row_at_least(size, tts_row_all(high)));
    return tts_row_largest(tts_row_and(size, in));
}

/* ---- changing whole rows; no branches ---- */

/* Takes `need` units of the block in `slot`. If `exact` is 1, the whole block is taken and
 * removed. Otherwise the rest of the block starts `skip` units later and gets the id
 * `rest_id`. */
static inline void leaf_take(struct leaf *leaf, uint32_t slot, tts_word need, tts_word skip,
                             uint64_t exact, tts_word rest_id)
{
    tts_row start = tts_row_load(leaf->start), size = tts_row_load(leaf->size);
    tts_row id = tts_row_load(leaf->id);
    const uint64_t count = TTS_ROW - slot;
    tts_row close = tts_row_mask_last(count & (0 - exact));
    tts_row spot = tts_row_mask_spot(count & (exact - 1));
    tts_row off = tts_row_and(spot, tts_row_all(skip));
    tts_row less = tts_row_and(spot, tts_row_all((tts_word)(0 - need)));
    start = tts_row_mix(start, tts_row_down(start, TTS_WORD_NONE), close);
    size = tts_row_mix(size, tts_row_down(size, 0), close);
    id = tts_row_mix(id, tts_row_down(id, 0), close);
    tts_row_store(leaf->start, tts_row_sum(start, off));
    tts_row_store(leaf->size, tts_row_sum(size, less));
    tts_row_store(leaf->id, tts_row_mix(id, tts_row_all(rest_id), spot));
}

/* Gives a block back that begins at `at`. If `next` is 1, joins it with the block in `slot`; if
 * `prev` is 1, joins it with the block before `slot`; if both are 0, inserts it before `slot`.
 * The block has `whole` units afterwards. */
static inline void leaf_give(struct leaf *leaf, uint32_t slot, uint64_t prev, uint64_t next,
                             tts_word at, tts_word whole, tts_word new_id)
{
    tts_row start = tts_row_load(leaf->start), size = tts_row_load(leaf->size);
    tts_row id = tts_row_load(leaf->id);
    const uint64_t count = TTS_ROW - slot;
    tts_row open = tts_row_mask_last(count & ((prev | next) - 1));
    tts_row close = tts_row_mask_last(count & (0 - (prev & next)));
    /* If the block is not joined with the previous block, it has its own start and id. */
    tts_row own = tts_row_mask_spot(count & (prev - 1));
    tts_row spot = tts_row_mask_spot(count + prev);
    tts_row start_down = tts_row_down(start, TTS_WORD_NONE);
    tts_row size_down = tts_row_down(size, 0);
    tts_row id_down = tts_row_down(id, 0);
    start = tts_row_mix(tts_row_mix(start, tts_row_up(start), open), start_down, close);
    size = tts_row_mix(tts_row_mix(size, tts_row_up(size), open), size_down, close);
    id = tts_row_mix(tts_row_mix(id, tts_row_up(id), open), id_down, close);
    tts_row_store(leaf->start, tts_row_mix(start, tts_row_all(at), own));
    tts_row_store(leaf->size, tts_row_mix(size, tts_row_all(whole), spot));
    tts_row_store(leaf->id, tts_row_mix(id, tts_row_all(new_id), own));
}

/* ---- changing one block ---- */

static void leaf_set(struct leaf *leaf, uint32_t slot, struct tts_unit_block block)
{
    leaf->start[slot] = (tts_word)block.start;
    leaf->size[slot] = (tts_word)block.size;
    leaf->id[slot] = (tts_word)block.id;
}

static struct tts_unit_block leaf_get(const struct leaf *leaf, uint32_t slot)
{
    return (struct tts_unit_block){leaf->start[slot], leaf->size[slot],
                                   (uint32_t)leaf->id[slot]};
}

static void leaf_insert(struct leaf *leaf, uint32_t slot, struct tts_unit_block block)
{
    for (uint32_t i = TTS_ROW - 1; i > slot; i--)
        leaf_set(leaf, i, leaf_get(leaf, i - 1));
    leaf_set(leaf, slot, block);
}

static void leaf_remove(struct leaf *leaf, uint32_t slot)
{
    for (uint32_t i = slot; i + 1 < TTS_ROW; i++)
        leaf_set(leaf, i, leaf_get(leaf, i + 1));
    leaf_set(leaf, TTS_ROW - 1, (struct tts_unit_block){TTS_WORD_NONE, 0, 0});
}

static void leaf_empty(struct leaf *leaf, uint32_t from)
{
    for (uint32_t i = from; i < TTS_ROW; i++) {
        leaf->start[i] = TTS_WORD_NONE;
        leaf->size[i] = leaf->id[i] = 0;
    }
}
