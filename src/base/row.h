/* row.h: asking and changing a whole row of words at once, without a branch.
 * A row is one cache line of equal words, TTS_WORD_BITS wide: 32 of 16 bits, 16 of 32 or 8 of
 * 64. The files that include this are compiled once for each width, and once more with AVX2,
 * where a row is two registers; elsewhere the compiler makes of it what it can.
 * Rows are stored in the pieces they are loaded in: a load that spans two younger stores would
 * wait for both. */
#pragma once

#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef TTS_WORD_BITS
#define TTS_WORD_BITS 32
#endif

enum {
    TTS_ROW = 512 / TTS_WORD_BITS, /* words of a row */
    TTS_HALF = TTS_ROW / 2,
};

/* The words as they are, and as they are compared; the places of a half's words when each moves
 * one place down, and up, out of two halves in a row. */
#if TTS_WORD_BITS == 16
typedef uint16_t tts_word, tts_rank;
#define TTS_DOWN 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define TTS_UP 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#elif TTS_WORD_BITS == 32
typedef uint32_t tts_word, tts_rank;
#define TTS_DOWN 1, 2, 3, 4, 5, 6, 7, 8
#define TTS_UP 7, 8, 9, 10, 11, 12, 13, 14
#else
typedef uint64_t tts_word;
typedef int64_t tts_rank; /* there is no other comparison; nothing reaches 2^63 */
#define TTS_DOWN 1, 2, 3, 4
#define TTS_UP 3, 4, 5, 6
#endif

/* Above every word that means something. */
#define TTS_WORD_NONE ((tts_word)(UINT64_MAX >> (TTS_WORD_BITS == 64)))

/* No half is passed to another file, so how it would be passed there does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef tts_word tts_half __attribute__((vector_size(32)));
typedef tts_rank tts_half_rank __attribute__((vector_size(32)));

typedef struct {
    tts_half a, b;
} tts_row;

static inline tts_row tts_row_load(const tts_word *w)
{
    const tts_half *half = (const tts_half *)(const void *)w;
    return (tts_row){half[0], half[1]};
}

static inline void tts_row_store(tts_word *w, tts_row r)
{
    tts_half *half = (tts_half *)(void *)w;
    half[0] = r.a;
    half[1] = r.b;
}

static inline tts_row tts_row_all(tts_word x)
{
    return (tts_row){(tts_half){0} + x, (tts_half){0} + x};
}

static inline tts_row tts_row_sum(tts_row x, tts_row y)
{
    return (tts_row){x.a + y.a, x.b + y.b};
}

/* Every word one place up; the first is 0. */
static inline tts_row tts_row_up(tts_row r)
{
    return (tts_row){__builtin_shufflevector((tts_half){0}, r.a, TTS_UP),
                     __builtin_shufflevector(r.a, r.b, TTS_UP)};
}

/* Every word one place down; the last is `fill`'s first. */
static inline tts_row tts_row_down(tts_row r, tts_row fill)
{
    return (tts_row){__builtin_shufflevector(r.a, r.b, TTS_DOWN),
                     __builtin_shufflevector(r.b, fill.a, TTS_DOWN)};
}

/* ---- masks: words of all ones, or 0 ---- */

static inline tts_row tts_row_at_least(tts_row r, tts_row x)
{
    return (tts_row){(tts_half)((tts_half_rank)r.a >= (tts_half_rank)x.a),
                     (tts_half)((tts_half_rank)r.b >= (tts_half_rank)x.b)};
}

static inline tts_row tts_row_same(tts_row r, tts_row x)
{
    return (tts_row){(tts_half)(r.a == x.a), (tts_half)(r.b == x.b)};
}

static inline tts_row tts_row_and(tts_row x, tts_row y)
{
    return (tts_row){x.a & y.a, x.b & y.b};
}

static inline tts_row tts_row_but(tts_row x, tts_row mask)
{
    return (tts_row){x.a & ~mask.a, x.b & ~mask.b};
}

/* The words of `y` where the mask is, else those of `x`. */
static inline tts_half tts_half_mix(tts_half x, tts_half y, tts_half mask)
{
#ifdef __AVX2__
    return (tts_half)_mm256_blendv_epi8((__m256i)x, (__m256i)y, (__m256i)mask);
#else
    return (x & ~mask) | (y & mask);
#endif
}

static inline tts_row tts_row_mix(tts_row x, tts_row y, tts_row mask)
{
    return (tts_row){tts_half_mix(x.a, y.a, mask.a), tts_half_mix(x.b, y.b, mask.b)};
}

/* A window is slid over these to make a mask. */
#define TTS_ONE ((tts_word)UINT64_MAX)
#define TTS_ONES8 TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE
static const tts_word tts_row_spot[2 * TTS_ROW] = {[TTS_ROW] = TTS_ONE};
static const tts_word tts_row_last[2 * TTS_ROW + 24] = {
    [TTS_ROW] = TTS_ONES8, TTS_ONES8, TTS_ONES8, TTS_ONES8}; /* more than a narrow row needs */

static inline tts_half tts_half_window(const tts_word *w)
{
    tts_half half;
    __builtin_memcpy(&half, w, sizeof(half));
    return half;
}

/* The last `count` words, or only the first of those; 0 is none. */
static inline tts_row tts_row_mask_last(uint64_t count)
{
    const tts_word *w = &tts_row_last[count];
    return (tts_row){tts_half_window(w), tts_half_window(w + TTS_HALF)};
}

static inline tts_row tts_row_mask_spot(uint64_t count)
{
    const tts_word *w = &tts_row_spot[count];
    return (tts_row){tts_half_window(w), tts_half_window(w + TTS_HALF)};
}

/* One bit for each word, the first lowest. */
static inline uint32_t tts_row_bits(tts_row mask)
{
#if !defined(__AVX2__)
    uint32_t bits = 0;
    for (uint32_t i = 0; i < TTS_HALF; i++)
        bits |= (uint32_t)(mask.a[i] & 1) << i | (uint32_t)(mask.b[i] & 1) << (i + TTS_HALF);
    return bits;
#elif TTS_WORD_BITS == 16
    /* The quarters come as a, b, a, b; to put them right is quicker here than in the vector. */
    __m256i packed = _mm256_packs_epi16((__m256i)mask.a, (__m256i)mask.b);
    uint32_t bits = (uint32_t)_mm256_movemask_epi8(packed);
    return (bits & 0xff0000ff) | (bits << 8 & 0xff0000) | (bits >> 8 & 0xff00);
#elif TTS_WORD_BITS == 32
    return (uint32_t)_mm256_movemask_ps((__m256)mask.a) |
           (uint32_t)_mm256_movemask_ps((__m256)mask.b) << TTS_HALF;
#else
    return (uint32_t)_mm256_movemask_pd((__m256d)mask.a) |
           (uint32_t)_mm256_movemask_pd((__m256d)mask.b) << TTS_HALF;
#endif
}

/* ---- single words ---- */

static inline tts_word tts_row_largest(tts_row r)
{
    tts_half larger =
        tts_half_mix(r.a, r.b, (tts_half)((tts_half_rank)r.b > (tts_half_rank)r.a));
#if defined(__AVX2__) && TTS_WORD_BITS == 32
    __m128i m = _mm_max_epu32(_mm256_castsi256_si128((__m256i)larger),
                              _mm256_extracti128_si256((__m256i)larger, 1));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0xb1));
    return (tts_word)_mm_cvtsi128_si32(m);
#else
    tts_word largest = larger[0];
    for (uint32_t i = 1; i < TTS_HALF; i++)
        largest = larger[i] > largest ? larger[i] : largest;
    return largest;
#endif
}

/* Stores one word so that its aligned half can be loaded again at once. */
static inline void tts_half_put(tts_word *half, uint32_t idx, tts_word x)
{
    tts_half *to = (tts_half *)(void *)half;
    *to = tts_half_mix(*to, (tts_half){0} + x, tts_half_window(&tts_row_spot[TTS_ROW - idx]));
}
