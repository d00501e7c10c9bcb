/* Tests of the checksum: it detects all damage, and the split of the bytes does not matter. */
#include "base/checksum.h"
#include "harness/t.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 67 };

static uint32_t value_of(const unsigned char *bytes, size_t len, uint64_t seed)
{
    struct tts_checksum check;
    tts_checksum_begin(&check, seed);
    return tts_checksum_update(&check, bytes, len);
}

static void fill(unsigned char *bytes, size_t len, uint64_t *rng)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)(t_random(rng) >> 32);
}

T_TEST(the_value_is_the_same_for_ever)
{
    const unsigned char bytes[] = "123456789";
    T_EQ(value_of(bytes, 0, 0), 0x2d0041f8u);
    T_EQ(value_of(bytes, 9, 0), 0x004cd975u);
    T_EQ(value_of(bytes, 8, 7), 0x2b8ea866u);
}

T_TEST(it_does_not_matter_in_how_many_steps_the_bytes_came)
{
    uint64_t rng = 1;
    unsigned char bytes[LONGEST];
    for (int round = 0; round < 2000; round++) {
        struct tts_checksum check;
        uint64_t seed = t_random(&rng);
        size_t len = 0;
        fill(bytes, sizeof bytes, &rng);
        tts_checksum_begin(&check, seed);
        while (len < sizeof bytes) {
            size_t more = t_random(&rng) % 12;
            len = more < sizeof bytes - len ? len + more : sizeof bytes;
            uint32_t value = tts_checksum_update(&check, bytes, len);
            T_EQ(value, value_of(bytes, len, seed));
            T_EQ(value, tts_checksum_update(&check, bytes, len));
            T_EQ(check.words, len / 8);
        }
    }
}

T_TEST(every_flipped_bit_every_other_length_and_seed_is_seen)
{
    uint64_t rng = 2;
    unsigned char bytes[LONGEST + 1];
    for (size_t len = 0; len <= LONGEST; len++) {
        fill(bytes, sizeof bytes, &rng);
        uint32_t value = value_of(bytes, len, len);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            T_TRUE(value_of(bytes, len, len) != value);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        for (unsigned bit = 0; bit < 64; bit++)
            T_TRUE(value_of(bytes, len, len ^ UINT64_C(1) << bit) != value);
        for (size_t other = 0; other <= LONGEST; other++)
            T_TRUE(other == len || value_of(bytes, other, len) != value);
        T_EQ(value_of(bytes, len, len), value);
    }
}

T_TEST(zeros_are_told_apart_by_how_many_there_are)
{
    const unsigned char zeros[LONGEST] = {0};
    for (size_t len = 0; len < LONGEST; len++)
        for (size_t other = 0; other < len; other++)
            T_TRUE(value_of(zeros, len, 0) != value_of(zeros, other, 0));
}

T_TEST(bytes_past_the_length_are_not_read)
{
    for (size_t len = 0; len <= LONGEST; len++) {
        /* A sanitizer guards the end of the buffer. */
        unsigned char *bytes = malloc(len + (len == 0));
        unsigned char wide[LONGEST + 8];
        memset(bytes, 0xa5, len);
        memset(wide, 0xa5, sizeof wide);
        uint32_t value = value_of(bytes, len, 3);
        T_EQ(value_of(wide, len, 3), value);
        memset(wide + len, 0x5a, sizeof wide - len);
        T_EQ(value_of(wide, len, 3), value);
        free(bytes);
    }
}

T_TEST(two_damages_in_a_row_are_seen_too)
{
    uint64_t rng = 3;
    unsigned char bytes[64];
    fill(bytes, sizeof bytes, &rng);
    uint32_t value = value_of(bytes, sizeof bytes, 0);
    for (size_t first = 0; first < 8 * sizeof bytes; first++) {
        for (size_t second = 0; second < first; second++) {
            bytes[first / 8] ^= (unsigned char)(1u << first % 8);
            bytes[second / 8] ^= (unsigned char)(1u << second % 8);
            T_TRUE(value_of(bytes, sizeof bytes, 0) != value);
            bytes[first / 8] ^= (unsigned char)(1u << first % 8);
            bytes[second / 8] ^= (unsigned char)(1u << second % 8);
        }
    }
}

/* The bytes were found by a search: without the special rule their checksum would be 0. */
T_TEST(the_value_is_never_0)
{
    struct tts_checksum check;
    tts_checksum_begin(&check, UINT64_C(5981739528));
    T_EQ(tts_checksum_update(&check, NULL, 0), 1);
}
