#include "ttscope/chip.h"

#include <assert.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The known bases of circular buffers, the latest first for each architecture. A month names
 * the version in which the base was found. Between these versions there were other bases; they
 * are listed only if a message showed them. */
static const struct tts_l1_base history[] = {
    {TTS_ARCH_GRAYSKULL, "2025-04 (last release for grayskull)", 100384, 0},
    {TTS_ARCH_WORMHOLE, "2026-08-22", 105664, 0},
    {TTS_ARCH_WORMHOLE, "2026-07", 105536, 0},
    {TTS_ARCH_WORMHOLE, "seen in tt-xla#5206", 103840, 0},
    {TTS_ARCH_WORMHOLE, "2026-05", 103744, 0},
    {TTS_ARCH_WORMHOLE, "2026-03", 103712, 0},
    {TTS_ARCH_WORMHOLE, "2026-01 (highest base)", 103552, 0},
    {TTS_ARCH_WORMHOLE, "2026-01 (lowest base)", 102656, 0},
    {TTS_ARCH_WORMHOLE, "seen in tt-xla#2659", 102208, 0},
    {TTS_ARCH_WORMHOLE, "2025-11", 101952, 0},
    {TTS_ARCH_WORMHOLE, "seen in tt-xla#1722", 101440, 0},
    {TTS_ARCH_WORMHOLE, "2025-09", 100352, 0},
    {TTS_ARCH_WORMHOLE, "2025-05", 97248, 0},
    {TTS_ARCH_WORMHOLE, "2025-01", 99104, 0},
    {TTS_ARCH_WORMHOLE, "2024-11", 98816, 0},
    {TTS_ARCH_BLACKHOLE, "2026-08-22", 111616, 0},
    {TTS_ARCH_BLACKHOLE, "2026-07", 111360, 0},
    {TTS_ARCH_BLACKHOLE, "2026-03 to 2026-05", 111104, 0},
    {TTS_ARCH_BLACKHOLE, "2026-01 (highest base)", 105280, 0},
    {TTS_ARCH_BLACKHOLE, "2026-01 (lowest base)", 104128, 0},
    {TTS_ARCH_BLACKHOLE, "2025-11", 103168, 0},
    {TTS_ARCH_BLACKHOLE, "2025-09", 101952, 0},
    {TTS_ARCH_BLACKHOLE, "2025-05", 98304, 0},
    {TTS_ARCH_BLACKHOLE, "2025-01 (computed)", 94848, 0},
    {TTS_ARCH_BLACKHOLE, "2024-11 (computed)", 94720, 0},
    {TTS_ARCH_QUASAR, "2026-08-22", 313856, 0},
};

/* The sizes of a tile in Float32, Float16, Bfp8 and Bfp4. A base is a multiple of 32, so with a
 * wrong base a size is a multiple of the tile only by chance, in 1 of 128, 64, 34 or 18 cases.
 * The largest tile is tried first. */
static const uint64_t tiles[] = {4096, 2048, 1088, 576};

/* Returns the largest tile size that divides `bytes`, or 0 if none does. */
static uint64_t tile_of(uint64_t bytes)
{
    assert(bytes > 0);
    for (size_t i = 0; i < COUNT_OF(tiles); i++) {
        if (bytes % tiles[i] == 0)
            return tiles[i];
    }
    return 0;
}

static void keep(struct tts_l1_base base, struct tts_l1_base *out, size_t capacity,
                 size_t *count)
{
    if (*count < capacity)
        out[*count] = base;
    ++*count;
}

size_t tts_l1_base_decode(enum tts_arch arch, uint64_t region_end, struct tts_l1_base *out,
                          size_t capacity)
{
    size_t count = 0;
    for (size_t t = 0; t < COUNT_OF(tiles); t++) {
        for (size_t i = 0; i < COUNT_OF(history); i++) {
            struct tts_l1_base base = history[i];
            if (base.arch != arch || region_end <= base.base)
                continue;
            base.tile_bytes = tile_of(region_end - base.base);
            if (base.tile_bytes == tiles[t])
                keep(base, out, capacity, &count);
        }
    }
    return count;
}

size_t tts_l1_base_list(enum tts_arch arch, struct tts_l1_base *out, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(history); i++) {
        if (history[i].arch == arch)
            keep(history[i], out, capacity, &count);
    }
    return count;
}
