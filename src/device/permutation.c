/* permutation.c: computes the L1 bank id of each compute core. The runtime shuffles the numbers
 * 0 to n - 1 with the default engine of the C++ library and the seed 0. The C++ library fixes
 * both algorithms, so they are repeated here. */
#include "device/pages.h"
#include "ttscope/buffer.h"

#include <assert.h>

/* The generator of Lehmer with the multiplier 16807. The seed 0 is replaced by 1. */
enum { ENGINE_FACTOR = 16807, ENGINE_MODULUS = 2147483647 };

static uint32_t draw(uint32_t *engine)
{
    *engine = (uint32_t)((uint64_t)*engine * ENGINE_FACTOR % ENGINE_MODULUS);
    return *engine - 1; /* a number from 0 to ENGINE_MODULUS - 2 */
}

/* Returns a random number below `count`. The range of the engine is cut into `count` equal
 * parts, so that all results are equally likely. A number above the last part is drawn
 * again. */
static uint32_t draw_below(uint32_t *engine, uint32_t count)
{
    uint32_t part = (ENGINE_MODULUS - 2) / count, drawn;
    do
        drawn = draw(engine);
    while (drawn >= part * count);
    return drawn / part;
}

static void swap(uint16_t *a, uint16_t *b)
{
    uint16_t kept = *a;
    *a = *b;
    *b = kept;
}

void tts_bank_permutation(uint32_t count, uint16_t *out)
{
    assert(count <= TTS_CORES_MAX); /* makes one random number enough for two places */
    uint32_t engine = 1;
    for (uint32_t i = 0; i < count; i++)
        out[i] = (uint16_t)i;
    if (count < 2)
        return;
    uint32_t i = 1;
    if (count % 2 == 0) {
        swap(&out[1], &out[draw_below(&engine, 2)]);
        i = 2;
    }
    for (; i < count; i += 2) {
        uint32_t both = draw_below(&engine, (i + 1) * (i + 2));
        swap(&out[i], &out[both / (i + 2)]);
        swap(&out[i + 1], &out[both % (i + 2)]);
    }
}
