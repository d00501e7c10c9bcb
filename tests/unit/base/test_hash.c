#include "base/hash.h"
#include "harness/t.h"

T_TEST(eight_bytes_hash_as_fnv1a_does)
{
    uint64_t allocate = UINT64_C(0x657461636f6c6c61); /* "allocate", little-endian */
    T_EQ(tts_fnv1a64_u64(TTS_FNV1A64_INIT, allocate), UINT64_C(0xeb0e9ed12f553762));
}

T_TEST(a_sequence_hashes_as_its_bytes_in_a_row)
{
    uint64_t hash = tts_fnv1a64_u64(TTS_FNV1A64_INIT, 1);
    T_EQ(tts_fnv1a64_u64(hash, UINT64_MAX), UINT64_C(0xc4777a6e69ba809c));
}
