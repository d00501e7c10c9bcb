/* pairs.h: asking one question of several 16-byte pairs at once, without a branch.
 * A mask has bit i for v[i]; every number is below 2^63 but where said, so the sign of a
 * difference tells which is smaller. A pair is always loaded and stored whole: a processor
 * hands a fresh store on to the next load only when one store covers the load, and these arrays
 * are searched again a few nanoseconds after they change. */
#pragma once

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct tts_pair {
    _Alignas(16) uint64_t key;
    uint64_t value;
};

#ifdef __SSE2__
static inline __m128i tts_pairs_load(const struct tts_pair *v)
{
    return _mm_load_si128((const __m128i *)(const void *)v);
}

static inline uint32_t tts_pairs_signs(__m128i two)
{
    return (uint32_t)_mm_movemask_pd(_mm_castsi128_pd(two));
}
#endif

static inline void tts_pairs_store(struct tts_pair *to, struct tts_pair pair)
{
#ifdef __SSE2__
    __m128i both = _mm_set_epi64x((long long)pair.value, (long long)pair.key);
    _mm_store_si128((__m128i *)(void *)to, both);
#else
    *to = pair;
#endif
}

static inline void tts_pairs_copy(struct tts_pair *to, const struct tts_pair *from)
{
#ifdef __SSE2__
    _mm_store_si128((__m128i *)(void *)to, tts_pairs_load(from));
#else
    *to = *from;
#endif
}

/* v[at] leaves: what follows, v[count] included, moves down by one. */
static inline void tts_pairs_close(struct tts_pair *v, uint32_t at, uint32_t count)
{
    for (uint32_t i = at; i < count; i++)
        tts_pairs_copy(&v[i], &v[i + 1]);
}

/* v[at] and what follows, up to v[count - 1], move up by one. */
static inline void tts_pairs_open(struct tts_pair *v, uint32_t at, uint32_t count)
{
    for (uint32_t i = count; i > at; i--)
        tts_pairs_copy(&v[i], &v[i - 1]);
}

/* Of 8 pairs: v[i].key < x. */
static inline uint32_t tts_pairs_keys_below8(const struct tts_pair *v, uint64_t x)
{
    uint32_t mask = 0;
#ifdef __SSE2__
    const __m128i all_x = _mm_set1_epi64x((long long)x);
    for (uint32_t i = 0; i < 8; i += 2) {
        __m128i keys = _mm_unpacklo_epi64(tts_pairs_load(v + i), tts_pairs_load(v + i + 1));
        mask |= tts_pairs_signs(_mm_sub_epi64(keys, all_x)) << i;
    }
#else
    for (uint32_t i = 0; i < 8; i++)
        mask |= (uint32_t)((v[i].key - x) >> 63) << i;
#endif
    return mask;
}

/* Of 8 pairs: v[i].value < x. */
static inline uint32_t tts_pairs_values_below8(const struct tts_pair *v, uint64_t x)
{
    uint32_t mask = 0;
#ifdef __SSE2__
    const __m128i all_x = _mm_set1_epi64x((long long)x);
    for (uint32_t i = 0; i < 8; i += 2) {
        __m128i values = _mm_unpackhi_epi64(tts_pairs_load(v + i), tts_pairs_load(v + i + 1));
        mask |= tts_pairs_signs(_mm_sub_epi64(values, all_x)) << i;
    }
#else
    for (uint32_t i = 0; i < 8; i++)
        mask |= (uint32_t)((v[i].value - x) >> 63) << i;
#endif
    return mask;
}

/* Of 4 pairs: v[i].key has the sign bit. */
static inline uint32_t tts_pairs_negative4(const struct tts_pair *v)
{
#ifdef __SSE2__
    __m128i low = _mm_unpacklo_epi64(tts_pairs_load(v), tts_pairs_load(v + 1));
    __m128i high = _mm_unpacklo_epi64(tts_pairs_load(v + 2), tts_pairs_load(v + 3));
    return tts_pairs_signs(low) | tts_pairs_signs(high) << 2;
#else
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 4; i++)
        mask |= (uint32_t)(v[i].key >> 63) << i;
    return mask;
#endif
}

/* Of 4 pairs: the upper 48 bits of v[i].key are x. */
static inline uint32_t tts_pairs_same4(const struct tts_pair *v, uint64_t x)
{
#ifdef __SSE2__
    const __m128i all_x = _mm_set1_epi64x((long long)x);
    __m128i low = _mm_unpacklo_epi64(tts_pairs_load(v), tts_pairs_load(v + 1));
    __m128i high = _mm_unpacklo_epi64(tts_pairs_load(v + 2), tts_pairs_load(v + 3));
    __m128 a = _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_srli_epi64(low, 16), all_x));
    __m128 b = _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_srli_epi64(high, 16), all_x));
    /* SSE2 compares halves: a number is the same when both of its halves are. */
    __m128 even = _mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
    __m128 odd = _mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1));
    return (uint32_t)_mm_movemask_ps(_mm_and_ps(even, odd));
#else
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 4; i++)
        mask |= (uint32_t)(v[i].key >> 16 == x) << i;
    return mask;
#endif
}

/* Of 16 plain numbers: v[i] < x. */
static inline uint32_t tts_numbers_below16(const uint64_t *v, uint64_t x)
{
    uint32_t mask = 0;
#ifdef __SSE2__
    const __m128i all_x = _mm_set1_epi64x((long long)x);
    for (uint32_t i = 0; i < 16; i += 2) {
        __m128i two = _mm_loadu_si128((const __m128i *)(const void *)(v + i));
        mask |= tts_pairs_signs(_mm_sub_epi64(two, all_x)) << i;
    }
#else
    for (uint32_t i = 0; i < 16; i++)
        mask |= (uint32_t)((v[i] - x) >> 63) << i;
#endif
    return mask;
}

/* v[i] = x, for an array that is searched two numbers at a time. */
static inline void tts_numbers_put(uint64_t *v, uint32_t i, uint64_t x)
{
#ifdef __SSE2__
    uint64_t other = v[i ^ 1], swap = (x ^ other) & (0 - (uint64_t)(i & 1));
    __m128i two = _mm_set_epi64x((long long)(other ^ swap), (long long)(x ^ swap));
    _mm_store_si128((__m128i *)(void *)(v + (i & ~1u)), two);
#else
    v[i] = x;
#endif
}
