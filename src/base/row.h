/* row.h: reads and changes a row of words at once, without branches. A row is one cache line:
 * 32 words of 16 bits or 16 words of 32 bits, as TTS_WORD_BITS says. The files that include
 * this header are compiled once for each width, and again with AVX2. A row occupies two vector
 * registers with AVX2, otherwise four. A part is the content of one register. Rows are loaded
 * and stored part by part: a load that overlaps two recent stores has to wait for both. */
#pragma once

#include <stdint.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#ifndef TTS_WORD_BITS
#define TTS_WORD_BITS 32
#endif

/* TTS_PARTS(of) makes a row. Each part of the row is the macro `of`, applied to the name of the
 * part. */
#ifdef __AVX2__
#define TTS_PART_BYTES 32
#define TTS_PARTS(of) ((tts_row){of(a), of(b)})
#else
#define TTS_PART_BYTES 16
#define TTS_PARTS(of) ((tts_row){of(a), of(b), of(c), of(d)})
#endif

enum {
    TTS_ROW = 512 / TTS_WORD_BITS, /* number of words in a row */
    TTS_HALF = TTS_ROW / 2,
    TTS_PART = TTS_PART_BYTES * 8 / TTS_WORD_BITS,
};

#if TTS_WORD_BITS == 16
typedef uint16_t tts_word;
#else
typedef uint32_t tts_word;
#endif

/* Marks an unused word. Larger than every word that is used. */
#define TTS_WORD_NONE ((tts_word)UINT32_MAX)

/* The build uses -Wno-psabi: no function with a part as argument or result is called from
 * another file. */
typedef tts_word tts_part __attribute__((vector_size(TTS_PART_BYTES), may_alias));

/* A row is a typedef, because code uses a row like a number. may_alias: code reads arrays of
 * words as rows. */
typedef struct {
    tts_part a, b;
#ifndef __AVX2__
    tts_part c, d;
#endif
} __attribute__((may_alias)) tts_row;

/* Loads a row part by part. An assignment of the whole struct could load other pieces. */
static inline tts_row tts_row_load(const tts_word *w)
{
    const tts_row *row = (const tts_row *)(const void *)w;
#define OF(part) row->part
    return TTS_PARTS(OF);
#undef OF
}

static inline void tts_row_store(tts_word *w, tts_row r)
{
    tts_row *row = (tts_row *)(void *)w;
    row->a = r.a;
    row->b = r.b;
#ifndef __AVX2__
    row->c = r.c;
    row->d = r.d;
#endif
}

static inline tts_part tts_part_all(tts_word x)
{
    return (tts_part){0} + x;
}

static inline tts_row tts_row_all(tts_word x)
{
#define OF(part) tts_part_all(x)
    return TTS_PARTS(OF);
#undef OF
}

static inline tts_row tts_row_sum(tts_row x, tts_row y)
{
#define OF(part) (x.part + y.part)
    return TTS_PARTS(OF);
#undef OF
}

/* Indices for two functions. tts_row_up() moves each word one place up; the first word becomes
 * 0. tts_row_down() moves each word one place down; the last word becomes `fill`. */
#if TTS_PART_BYTES * 8 / TTS_WORD_BITS == 16
#define TTS_DOWN 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define TTS_UP 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#elif TTS_PART_BYTES * 8 / TTS_WORD_BITS == 8
#define TTS_DOWN 1, 2, 3, 4, 5, 6, 7, 8
#define TTS_UP 7, 8, 9, 10, 11, 12, 13, 14
#else
#define TTS_DOWN 1, 2, 3, 4
#define TTS_UP 3, 4, 5, 6
#endif

/* Takes words of `x` and `y` by their indices. The words of `y` come after those of `x`. Only
 * GCC 12 and later has __builtin_shufflevector(). */
#if defined(__clang__) || __GNUC__ >= 12
#define TTS_SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define TTS_SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (tts_part){__VA_ARGS__})
#endif

static inline tts_row tts_row_up(tts_row r)
{
    tts_row up = {.a = TTS_SHUFFLE((tts_part){0}, r.a, TTS_UP),
                  .b = TTS_SHUFFLE(r.a, r.b, TTS_UP)};
#ifndef __AVX2__
    up.c = TTS_SHUFFLE(r.b, r.c, TTS_UP);
    up.d = TTS_SHUFFLE(r.c, r.d, TTS_UP);
#endif
    return up;
}

static inline tts_row tts_row_down(tts_row r, tts_word fill)
{
    tts_part behind = tts_part_all(fill);
    tts_row down = {.a = TTS_SHUFFLE(r.a, r.b, TTS_DOWN)};
#ifdef __AVX2__
    down.b = TTS_SHUFFLE(r.b, behind, TTS_DOWN);
#else
    down.b = TTS_SHUFFLE(r.b, r.c, TTS_DOWN);
    down.c = TTS_SHUFFLE(r.c, r.d, TTS_DOWN);
    down.d = TTS_SHUFFLE(r.d, behind, TTS_DOWN);
#endif
    return down;
}

/* ---- masks: each word has all bits set, or none ---- */

static inline tts_row tts_row_at_least(tts_row r, tts_row x)
{
#define OF(part) ((tts_part)(r.part >= x.part))
    return TTS_PARTS(OF);
#undef OF
}

static inline tts_row tts_row_same(tts_row r, tts_row x)
{
#define OF(part) ((tts_part)(r.part == x.part))
    return TTS_PARTS(OF);
#undef OF
}

static inline tts_row tts_row_and(tts_row x, tts_row y)
{
#define OF(part) (x.part & y.part)
    return TTS_PARTS(OF);
#undef OF
}

static inline tts_row tts_row_but(tts_row x, tts_row mask)
{
#define OF(part) (x.part & ~mask.part)
    return TTS_PARTS(OF);
#undef OF
}

/* Returns the words of `y` where the mask is set, else the words of `x`. */
static inline tts_part tts_part_mix(tts_part x, tts_part y, tts_part mask)
{
#ifdef __AVX2__
    return (tts_part)_mm256_blendv_epi8((__m256i)x, (__m256i)y, (__m256i)mask);
#else
    return (x & ~mask) | (y & mask);
#endif
}

static inline tts_row tts_row_mix(tts_row x, tts_row y, tts_row mask)
{
#define OF(part) tts_part_mix(x.part, y.part, mask.part)
    return TTS_PARTS(OF);
#undef OF
}

/* Masks are windows into these arrays: TTS_ROW words from any index. tts_row_last has 32 words
 * of ones for every width, because a row of 16-bit words needs 32. */
#define TTS_ONE ((tts_word)UINT64_MAX)
#define TTS_ONES8 TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE, TTS_ONE
static const tts_word tts_row_spot[2 * TTS_ROW] = {[TTS_ROW] = TTS_ONE};
static const tts_word tts_row_last[2 * TTS_ROW + 24] = {
    [TTS_ROW] = TTS_ONES8, TTS_ONES8, TTS_ONES8, TTS_ONES8};

static inline tts_part tts_part_window(const tts_word *w)
{
    tts_part part;
    __builtin_memcpy(&part, w, sizeof(part));
    return part;
}

static inline tts_row tts_row_window(const tts_word *w)
{
    tts_row row = {.a = tts_part_window(w), .b = tts_part_window(w + TTS_PART)};
#ifndef __AVX2__
    row.c = tts_part_window(w + 2 * TTS_PART);
    row.d = tts_part_window(w + 3 * TTS_PART);
#endif
    return row;
}

/* Returns a mask of the last `count` words. */
static inline tts_row tts_row_mask_last(uint64_t count)
{
    return tts_row_window(&tts_row_last[count]);
}

/* Returns a mask of one word: the first of the last `count` words of a row. The mask is empty
 * if `count` is 0. */
static inline tts_row tts_row_mask_spot(uint64_t count)
{
    return tts_row_window(&tts_row_spot[count]);
}

/* Returns a number with one bit for each word of the mask. The lowest bit is the first word. */
static inline uint32_t tts_row_bits(tts_row mask)
{
#if !defined(__SSE2__)
    const tts_word *w = (const tts_word *)(const void *)&mask;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < TTS_ROW; i++)
        bits |= (uint32_t)(w[i] & 1) << i;
    return bits;
#elif !defined(__AVX2__) && TTS_WORD_BITS == 16
    __m128i low = _mm_packs_epi16((__m128i)mask.a, (__m128i)mask.b);
    __m128i high = _mm_packs_epi16((__m128i)mask.c, (__m128i)mask.d);
    return (uint32_t)_mm_movemask_epi8(low) | (uint32_t)_mm_movemask_epi8(high) << 16;
#elif !defined(__AVX2__)
    __m128i low = _mm_packs_epi32((__m128i)mask.a, (__m128i)mask.b);
    __m128i high = _mm_packs_epi32((__m128i)mask.c, (__m128i)mask.d);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#elif TTS_WORD_BITS == 16
    /* Packing interleaves the two parts: the quarters have the order a, b, a, b. To reorder the
     * bits here is faster than to reorder the vector. */
    __m256i packed = _mm256_packs_epi16((__m256i)mask.a, (__m256i)mask.b);
    uint32_t bits = (uint32_t)_mm256_movemask_epi8(packed);
    return (bits & 0xff0000ff) | (bits << 8 & 0xff0000) | (bits >> 8 & 0xff00);
#else
    return (uint32_t)_mm256_movemask_ps((__m256)mask.a) |
           (uint32_t)_mm256_movemask_ps((__m256)mask.b) << TTS_HALF;
#endif
}

/* ---- single words ---- */

static inline tts_part tts_part_larger(tts_part x, tts_part y)
{
    return tts_part_mix(x, y, (tts_part)(y > x));
}

static inline tts_word tts_row_largest(tts_row r)
{
    tts_part m = tts_part_larger(r.a, r.b);
#ifndef __AVX2__
    m = tts_part_larger(m, tts_part_larger(r.c, r.d));
#endif
#if defined(__AVX2__) && TTS_WORD_BITS == 16
    __m128i q = _mm_max_epu16(_mm256_castsi256_si128((__m256i)m),
                              _mm256_extracti128_si256((__m256i)m, 1));
    return (tts_word)~_mm_cvtsi128_si32(_mm_minpos_epu16(~q));
#elif defined(__AVX2__)
    __m128i q = _mm_max_epu32(_mm256_castsi256_si128((__m256i)m),
                              _mm256_extracti128_si256((__m256i)m, 1));
    q = _mm_max_epu32(q, _mm_shuffle_epi32(q, 0x4e));
    q = _mm_max_epu32(q, _mm_shuffle_epi32(q, 0xb1));
    return (tts_word)_mm_cvtsi128_si32(q);
#else
    tts_word largest = m[0];
    for (uint32_t i = 1; i < TTS_PART; i++)
        largest = m[i] > largest ? m[i] : largest;
    return largest;
#endif
}

/* Stores one word of a row by storing the whole part, so that a load of the part soon after has
 * to wait for one store only. */
static inline void tts_row_put(tts_word *row, uint32_t idx, tts_word x)
{
    tts_part *to = (tts_part *)(void *)row + idx / TTS_PART;
    tts_part spot = tts_part_window(&tts_row_spot[TTS_ROW - idx % TTS_PART]);
    *to = tts_part_mix(*to, tts_part_all(x), spot);
}
