#include "base/alloc.h"
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
