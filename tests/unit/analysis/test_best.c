#include "harness/t.h"
#include "analysis/best.h"
#include "torture/heap.h"

#include <stdlib.h>

struct pair {
    uint64_t rank, order;
};

static bool before(const void *ctx, const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    (void)ctx;
    return x->rank != y->rank ? x->rank > y->rank : x->order < y->order;
}

static int compare(const void *a, const void *b)
{
    return before(NULL, a, b) ? -1 : 1;
}

T_TEST(has_the_first_of_all_in_their_order)
{
    uint64_t rng = 3;
    static struct pair all[600];
    for (size_t limit = 0; limit < 12; limit++)
        for (size_t count = 0; count < 600; count = count * 2 + 1) {
            struct tts_best best;
            tts_best_init(&best, limit, sizeof all[0], before, NULL, NULL);
            for (size_t i = 0; i < count; i++) {
                all[i] = (struct pair){t_random(&rng) % 50, i};
                T_EQ(tts_best_add(&best, &all[i]), TTS_OK);
            }
            tts_best_sort(&best);
            qsort(all, count, sizeof all[0], compare);
            T_EQ(best.count, limit > 0 && limit < count ? limit : count);
            if (best.count > 0)
                T_MEM_EQ(best.items, all, best.count * sizeof all[0]);
            tts_best_release(&best);
        }
}

T_TEST(out_of_memory_loses_nothing_that_was_there)
{
    struct heap heap;
    struct tts_best best;
    heap_init(&heap);
    tts_best_init(&best, 0, sizeof(struct pair), before, NULL, &heap.alloc);
    for (uint64_t i = 0; i < 100; i++) {
        struct pair pair = {i, i};
        heap.fail_at = heap.calls + 1;
        if (tts_best_add(&best, &pair) == TTS_OK)
            continue;
        heap.fail_at = 0;
        T_EQ(best.count, i);
        T_EQ(tts_best_add(&best, &pair), TTS_OK);
    }
    tts_best_sort(&best);
    for (uint64_t i = 0; i < 100; i++)
        T_EQ(((struct pair *)best.items)[i].rank, 99 - i);
    tts_best_release(&best);
    tts_best_release(&best);
    T_TRUE(heap_is_settled(&heap));
}
