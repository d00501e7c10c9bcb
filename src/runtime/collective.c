#include "runtime/collective.h"

#include "runtime/kernel.h"

#include <assert.h>

/* Returns the length of dimension `i` in the units by which a tensor can be divided: tiles in
 * the last two dimensions of a tiled tensor, else elements. */
static uint64_t divisible_units(struct tts_tensor tensor, int i)
{
    bool is_tiled = tensor.layout == TTS_LAYOUT_TILE && i >= 2;
    uint64_t unit = is_tiled ? TTS_TILE_SIDE : 1;
    return (tensor.shape.d[i] + unit - 1) / unit;
}

/* Finds the dimension along which a tensor is scattered: the last one whose units can be
 * divided evenly among the chips. Returns false if there is no such dimension, or if it has
 * padding, because then a part would end inside a tile. */
static bool find_scatter(struct tts_tensor tensor, uint64_t chips, int *dimension)
{
    for (int i = 3; i >= 0; i--) {
        if (divisible_units(tensor, i) % chips != 0)
            continue;
        *dimension = i;
        return tensor.shape.d[i] % chips == 0 && (i < 2 || tensor.layout != TTS_LAYOUT_TILE ||
                                                  tensor.shape.d[i] % TTS_TILE_SIDE == 0);
    }
    return false;
}

/* Returns the sum over the chips by a reduce-scatter and an all-gather. Assumes that the chips
 * are on a line: then the reduce-scatter needs a temporary buffer of twice the input. On a ring
 * it needs less. */
static struct tts_tensor reduce_by_scatter(struct tts_runtime *rt, struct tts_tensor tensor,
                                           uint64_t chips, int dimension)
{
    struct tts_shape twice = tensor.shape, part = tensor.shape;
    twice.d[0] *= 2;
    part.d[dimension] /= chips;
    struct tts_tensor between = tts_tensor_new(rt, twice, tensor.dtype, tensor.layout);
    struct tts_tensor scattered = tts_kernel_like(rt, TTS_KERNEL_REDUCE_SCATTER, tensor, part);
    tts_tensor_drop(rt, &between);
    struct tts_tensor sum = tts_kernel_like(rt, TTS_KERNEL_ALL_GATHER, scattered, tensor.shape);
    tts_tensor_drop(rt, &scattered);
    return sum;
}

/* Gets a copy of the tensor of each chip, and joins the copies along `dimension`. */
static struct tts_tensor gather_copies(struct tts_runtime *rt, struct tts_tensor tensor,
                                       uint64_t chips, int dimension)
{
    struct tts_tensor copies[TTS_CHIPS_MAX];
    struct tts_shape all = tensor.shape;
    assert(chips >= 1 && chips <= TTS_CHIPS_MAX);
    all.d[dimension] *= chips;
    for (uint64_t i = 0; i < chips; i++)
        copies[i] = tts_kernel_like(rt, TTS_KERNEL_ALL_BROADCAST, tensor, tensor.shape);
    struct tts_tensor joined = tts_kernel_like(rt, TTS_KERNEL_CONCAT, copies[0], all);
    for (uint64_t i = 0; i < chips; i++)
        tts_tensor_drop(rt, &copies[i]);
    return joined;
}

struct tts_tensor tts_collective_all_reduce(struct tts_runtime *rt, struct tts_tensor tensor,
                                            uint64_t chips)
{
    int dimension;
    if (!rt->reduces_whole && find_scatter(tensor, chips, &dimension))
        return reduce_by_scatter(rt, tensor, chips, dimension);
    struct tts_tensor all = gather_copies(rt, tensor, chips, 0);
    struct tts_tensor sum = tts_kernel_like(rt, TTS_KERNEL_SUM, all, tensor.shape);
    tts_tensor_drop(rt, &all);
    return sum;
}

struct tts_tensor tts_collective_gather_columns(struct tts_runtime *rt,
                                                struct tts_tensor column, uint64_t chips)
{
    return gather_copies(rt, column, chips, 3);
}
