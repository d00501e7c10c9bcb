#include "runtime/slab.h"

#include "harness/t.h"
#include "torture/heap.h"

#include <string.h>

enum { MANY = 3000, BYTES = 44 }; /* needs several chunks; 44 is not a multiple of 8 */

T_TEST(objects_are_zeroed_apart_and_stay_where_they_are)
{
    static unsigned char *objects[MANY];
    struct heap heap;
    struct tts_slab slab;
    heap_init(&heap);
    tts_slab_init(&slab, &heap.alloc, BYTES);
    for (int i = 0; i < MANY; i++) {
        objects[i] = tts_slab_take(&slab);
        T_EQ((uintptr_t)objects[i] % 8, 0);
        for (int k = 0; k < BYTES; k++)
            T_EQ(objects[i][k], 0);
        memset(objects[i], i % 251 + 1, BYTES);
    }
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < BYTES; k++)
            T_EQ(objects[i][k], i % 251 + 1);
    tts_slab_release(&slab);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(what_is_given_back_is_taken_again_zeroed_before_anything_new)
{
    void *objects[8];
    struct heap heap;
    struct tts_slab slab;
    heap_init(&heap);
    tts_slab_init(&slab, &heap.alloc, BYTES);
    for (int i = 0; i < 8; i++)
        objects[i] = memset(tts_slab_take(&slab), 0xff, BYTES);
    uint64_t calls = heap.calls;
    for (int i = 0; i < 8; i++)
        tts_slab_give(&slab, objects[i]);
    for (int i = 8; i-- > 0;) { /* the object that was given back last is taken first */
        unsigned char *again = tts_slab_take(&slab);
        T_TRUE(again == objects[i]);
        for (int k = 0; k < BYTES; k++)
            T_EQ(again[k], 0);
    }
    T_TRUE(slab.spare == NULL);
    for (int i = 0; i < MANY; i++) {
        void *object = tts_slab_take(&slab);
        tts_slab_give(&slab, object);
    }
    T_EQ(heap.calls, calls);
    tts_slab_release(&slab);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(a_slab_without_memory_says_so_and_goes_on_when_there_is_some)
{
    struct heap heap;
    struct tts_slab slab;
    heap_init(&heap);
    tts_slab_init(&slab, &heap.alloc, BYTES);
    heap.fail_at = 1;
    heap.fail_after = true;
    T_TRUE(tts_slab_take(&slab) == NULL);
    heap.fail_at = 0;
    unsigned char *first = tts_slab_take(&slab);
    T_TRUE(first != NULL);
    *first = 7;
    heap.fail_at = heap.calls + 1;
    int taken = 1;
    while (taken < MANY && tts_slab_take(&slab) != NULL)
        taken++;
    T_TRUE(taken < MANY && heap.failed > 1);
    heap.fail_at = 0;
    T_TRUE(tts_slab_take(&slab) != NULL);
    T_EQ(*first, 7);
    tts_slab_release(&slab);
    T_TRUE(heap_is_settled(&heap));
}
