#include "harness/t.h"
#include "model/coresets.h"
#include "torture/heap.h"

static struct tts_coresets *sets_new(void)
{
    struct tts_coresets *sets = NULL;
    T_EQ(tts_coresets_new(NULL, &sets), TTS_OK);
    return sets;
}

/* Returns box number `n` of many boxes of one or two cores. */
static struct tts_box box_at(uint32_t n)
{
    uint8_t x = (uint8_t)(n % 63), y = (uint8_t)(n / 63 % 64);
    return (struct tts_box){x, y, (uint8_t)(x + n / 63 / 64), y};
}

static uint32_t hold(struct tts_coresets *sets, uint32_t n)
{
    struct tts_boxes boxes = {1, {box_at(n)}};
    return tts_coresets_hold(sets, &boxes);
}

T_TEST(a_set_is_kept_once_until_the_last_holder_drops_it)
{
    struct tts_coresets *sets = sets_new();
    uint32_t a = hold(sets, 0), b = hold(sets, 1);
    T_TRUE(a != b);
    T_EQ(hold(sets, 0), a);
    tts_coresets_hold_again(sets, a);
    T_EQ(tts_coresets_count(sets), 2);
    for (int i = 0; i < 3; i++) {
        T_TRUE(tts_coresets_have(sets, a, tts_core_idx(0, 0)));
        tts_coresets_drop(sets, a);
    }
    T_EQ(tts_coresets_count(sets), 1);
    T_TRUE(tts_coresets_have(sets, b, tts_core_idx(1, 0)));
    tts_coresets_free(sets);
}

T_TEST(every_and_nowhere_are_no_sets)
{
    struct tts_coresets *sets = sets_new();
    T_TRUE(tts_coresets_have(sets, TTS_CORESETS_EVERY, tts_core_idx(63, 63)));
    T_TRUE(!tts_coresets_have(sets, TTS_CORESETS_NOWHERE, 0));
    tts_coresets_free(sets);
}

T_TEST(a_set_that_begins_like_another_is_not_the_same)
{
    struct tts_coresets *sets = sets_new();
    for (uint32_t n = 1; n < TTS_CORESETS_MAX; n++) { /* fills every bucket of the table */
        struct tts_boxes two = {2, {box_at(0), box_at(n)}};
        T_TRUE(tts_coresets_hold(sets, &two) != TTS_CORESETS_NOWHERE);
    }
    uint32_t first = hold(sets, 0);
    size_t count = 0;
    tts_coresets_boxes(sets, first, &count);
    T_EQ(count, 1);
    T_EQ(tts_coresets_count(sets), TTS_CORESETS_MAX);
    tts_coresets_free(sets);
}

T_TEST(full_is_said_and_what_is_there_is_still_found)
{
    struct tts_coresets *sets = sets_new();
    uint32_t held[TTS_CORESETS_MAX];
    for (int round = 0; round < 2; round++) {
        for (uint32_t n = 0; n < TTS_CORESETS_MAX; n++)
            held[n] = hold(sets, n);
        T_EQ(hold(sets, TTS_CORESETS_MAX), TTS_CORESETS_NOWHERE);
        for (uint32_t n = 0; n < TTS_CORESETS_MAX; n++) {
            T_EQ(hold(sets, n), held[n]);
            size_t count;
            struct tts_box box = box_at(n);
            T_MEM_EQ(tts_coresets_boxes(sets, held[n], &count), &box, sizeof box);
        }
        /* Looks the boxes up in another order. */
        for (uint32_t n = 0; n < 2 * TTS_CORESETS_MAX; n++)
            tts_coresets_drop(sets, held[n * 5 % TTS_CORESETS_MAX]);
        T_EQ(tts_coresets_count(sets), 0);
    }
    hold(sets, 1);
    tts_coresets_reset(sets);
    T_EQ(tts_coresets_count(sets), 0);
    T_EQ(hold(sets, 2), 0);
    tts_coresets_free(sets);
}

T_TEST(ranges_are_packed_as_they_are)
{
    const struct tts_core_range ranges[] = {{1, 2, 3, 4}, {63, 0, 63, 63}};
    struct tts_boxes boxes;
    tts_boxes_pack(&boxes, ranges, 2);
    T_EQ(boxes.count, 2);
    static const uint8_t inside[][2] = {{1, 2}, {3, 4}, {2, 3}, {63, 0}, {63, 63}};
    static const uint8_t outside[][2] = {{0, 2}, {4, 4}, {3, 5}, {1, 1}, {62, 5}};
    for (int i = 0; i < 5; i++) {
        T_TRUE(tts_boxes_have(boxes.box, 2, tts_core_idx(inside[i][0], inside[i][1])));
        T_TRUE(!tts_boxes_have(boxes.box, 2, tts_core_idx(outside[i][0], outside[i][1])));
    }
}

T_TEST(without_memory_there_are_no_sets)
{
    struct heap heap;
    heap_init(&heap);
    heap.fail_at = 1;
    struct tts_coresets *sets = NULL;
    T_EQ(tts_coresets_new(&heap.alloc, &sets), TTS_E_NOMEM);
    T_TRUE(sets == NULL);
    T_EQ(tts_coresets_new(&heap.alloc, &sets), TTS_OK);
    tts_coresets_free(sets);
    tts_coresets_free(NULL);
    T_TRUE(heap_is_settled(&heap));
}
