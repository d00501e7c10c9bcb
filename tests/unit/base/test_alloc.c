#include "base/heap.h"
#include "harness/t.h"

#include <stdalign.h>
#include <string.h>

T_TEST(memory_is_aligned_and_keeps_what_it_held_when_resized)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    unsigned char *memory = alloc->alloc(alloc->ctx, 100);
    T_TRUE(memory != NULL);
    T_EQ((uintptr_t)memory % alignof(max_align_t), 0);
    memset(memory, 0x5a, 100);
    memory = alloc->resize(alloc->ctx, memory, 100, 100000);
    T_TRUE(memory != NULL);
    memset(memory + 100, 0xa5, 100000 - 100);
    for (int i = 0; i < 100; i++)
        T_EQ(memory[i], 0x5a);
    memory = alloc->resize(alloc->ctx, memory, 100000, 10);
    T_TRUE(memory && memory[9] == 0x5a);
    alloc->free(alloc->ctx, memory, 10);
}

T_TEST(free_takes_null)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    alloc->free(alloc->ctx, NULL, 0);
}

T_TEST(an_array_grows_by_half_at_least_and_keeps_its_items)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t capacity = 0;
    uint32_t *items = tts_alloc_grow(alloc, NULL, &capacity, 1, sizeof *items);
    T_TRUE(items && capacity >= 1);
    for (uint32_t i = 0; i < 10000; i++) {
        size_t before = capacity;
        items = tts_alloc_grow(alloc, items, &capacity, i + 1, sizeof *items);
        T_TRUE(items && capacity > i &&
               (capacity == before || capacity >= before + before / 2));
        items[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        T_EQ(items[i], i);
    size_t same = capacity;
    T_TRUE(tts_alloc_grow(alloc, items, &capacity, SIZE_MAX / 2, sizeof *items) == NULL);
    T_EQ(capacity, same); /* unchanged, because the request is larger than any memory */
    alloc->free(alloc->ctx, items, capacity * sizeof *items);
}
