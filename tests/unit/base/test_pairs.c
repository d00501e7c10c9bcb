#include "base/pairs.h"
#include "harness/t.h"

#include <string.h>

enum { COUNT = 32 };

/* Numbers that are often equal or next to each other, some of them at the far ends. */
static uint64_t number(uint64_t *rng)
{
    uint64_t kind = t_random(rng) % 4, x = t_random(rng);
    return kind == 0   ? x % 8
           : kind == 1 ? (UINT64_MAX >> 1) - x % 8
           : kind == 2 ? x >> 40
                       : x >> 1;
}

T_TEST(masks_say_what_comparing_one_by_one_says)
{
    uint64_t rng = 1;
    for (int round = 0; round < 20000; round++) {
        struct tts_pair v[8];
        uint64_t plain[16] __attribute__((aligned(16)));
        for (int i = 0; i < 8; i++)
            v[i] = (struct tts_pair){number(&rng), number(&rng)};
        for (int i = 0; i < 16; i++)
            plain[i] = number(&rng);
        uint64_t x = number(&rng);
        if (round % 2)
            x = v[t_random(&rng) % 8].key;
        uint32_t keys = 0, values = 0, numbers = 0;
        for (int i = 0; i < 8; i++) {
            keys |= (uint32_t)(v[i].key < x) << i;
            values |= (uint32_t)(v[i].value < x) << i;
        }
        for (int i = 0; i < 16; i++)
            numbers |= (uint32_t)(plain[i] < x) << i;
        T_EQ(tts_pairs_keys_below8(v, x), keys);
        T_EQ(tts_pairs_values_below8(v, x), values);
        T_EQ(tts_numbers_below16(plain, x), numbers);
    }
}

T_TEST(the_same_48_bits_and_the_sign_are_found)
{
    uint64_t rng = 2;
    for (int round = 0; round < 20000; round++) {
        struct tts_pair v[4];
        uint64_t x = t_random(&rng) >> 16;
        uint32_t same = 0, negative = 0;
        for (int i = 0; i < 4; i++) {
            uint64_t upper =
                x ^ (UINT64_C(1) << t_random(&rng) % 96 % 48) * (t_random(&rng) % 2);
            v[i] = (struct tts_pair){upper << 16 | (t_random(&rng) & 0xffff), 0};
            same |= (uint32_t)(v[i].key >> 16 == x) << i;
            negative |= (uint32_t)(v[i].key >> 63) << i;
        }
        T_EQ(tts_pairs_same4(v, x), same);
        T_EQ(tts_pairs_negative4(v), negative);
    }
}

T_TEST(opening_and_closing_a_place_moves_the_rest_by_one)
{
    const struct tts_pair empty = {77, 0};
    for (uint32_t count = 0; count < COUNT; count++) {
        for (uint32_t at = 0; at <= count; at++) {
            struct tts_pair v[COUNT + 1], start[COUNT + 1];
            for (uint32_t i = 0; i < COUNT + 1; i++)
                v[i] = i < count ? (struct tts_pair){100 + i, 200 + i} : empty;
            memcpy(start, v, sizeof(v));
            tts_pairs_open(v, at, count);
            tts_pairs_store(&v[at], (struct tts_pair){1, 2});
            T_TRUE(v[at].key == 1 && v[at].value == 2);
            T_MEM_EQ(v, start, at * sizeof(v[0]));
            T_MEM_EQ(&v[at + 1], &start[at], (count - at + 1) * sizeof(v[0]));
            tts_pairs_close(v, at, count + 1);
            T_MEM_EQ(v, start, sizeof(v));
        }
    }
}

T_TEST(putting_a_number_changes_no_other)
{
    uint64_t v[16] __attribute__((aligned(16))), expected[16];
    for (uint64_t i = 0; i < 16; i++)
        v[i] = expected[i] = i * 1000;
    for (uint32_t i = 0; i < 16; i++) {
        tts_numbers_put(v, i, 7 + i);
        expected[i] = 7 + i;
        T_MEM_EQ(v, expected, sizeof(v));
    }
}
