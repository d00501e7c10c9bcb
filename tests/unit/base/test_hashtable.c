#include "base/hashtable.h"
#include "harness/t.h"
#include "torture/heap.h"

enum { KEYS = 2000 };

static bool is_key(const void *ctx, uint32_t place, const void *key)
{
    return ((const uint64_t *)ctx)[place] == *(const uint64_t *)key;
}

static uint32_t hash_of(uint64_t key, unsigned bits)
{
    return tts_hashtable_mix(7, key, 1) >> (32 - bits);
}

/* Adds and removes at random, with few different hashes, and compares with a plain array. */
static void run_history(unsigned bits, uint64_t rng)
{
    struct heap heap;
    static uint64_t keys[KEYS];
    bool lives[KEYS] = {0};
    size_t count = 0;
    heap_init(&heap);
    struct tts_hashtable table = {.alloc = &heap.alloc};
    for (int turn = 0; turn < 20000; turn++) {
        uint32_t place = (uint32_t)(t_random(&rng) % KEYS);
        uint64_t key = place * UINT64_C(0x100000001);
        uint32_t hash = hash_of(key, bits);
        T_EQ(tts_hashtable_find(&table, hash, is_key, keys, &key),
             lives[place] ? place : TTS_HASHTABLE_NONE);
        if (lives[place]) {
            tts_hashtable_remove(&table, hash, place);
        } else {
            keys[place] = key;
            T_EQ(tts_hashtable_add(&table, hash, place), TTS_OK);
        }
        lives[place] = !lives[place];
        count += lives[place] ? 1 : (size_t)-1;
        T_EQ(table.count, count);
    }
    tts_hashtable_release(&table);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(it_agrees_with_a_plain_array_over_any_history)
{
    run_history(32, 1);
    run_history(4, 2); /* long chains that merge and wrap around */
}

T_TEST(an_entry_that_moved_is_found_at_its_new_place)
{
    struct tts_hashtable table = {.alloc = NULL};
    struct heap heap;
    heap_init(&heap);
    table.alloc = &heap.alloc;
    uint64_t keys[] = {10, 20, 0}, key = 20;
    T_EQ(tts_hashtable_add(&table, 5, 0), TTS_OK);
    T_EQ(tts_hashtable_add(&table, 5, 1), TTS_OK);
    keys[2] = keys[1];
    keys[1] = 0;
    tts_hashtable_move(&table, 5, 1, 2);
    T_EQ(tts_hashtable_find(&table, 5, is_key, keys, &key), 2);
    tts_hashtable_release(&table);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(without_memory_nothing_changes)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_hashtable table = {.alloc = &heap.alloc};
    uint64_t keys[64], key;
    for (uint32_t i = 0; i < 32; i++) {
        keys[i] = i;
        T_EQ(tts_hashtable_add(&table, i, i), TTS_OK);
    }
    heap.fail_at = heap.calls + 1;
    T_EQ(tts_hashtable_add(&table, 32, 32), TTS_E_NOMEM);
    T_EQ(table.count, 32);
    for (key = 0; key < 32; key++)
        T_EQ(tts_hashtable_find(&table, (uint32_t)key, is_key, keys, &key), key);
    tts_hashtable_release(&table);
    T_TRUE(heap_is_settled(&heap));
}
