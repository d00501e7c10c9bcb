#include "harness/t.h"
#include "torture/heap.h"
#include "views/trace/liveset.h"

#include <string.h>

enum { IDS = 3000, DEVICES = 3 };

/* The number that each buffer must have; 0 if the buffer is not live. */
static uint64_t wanted[DEVICES][IDS];

static uint64_t id_of(uint64_t i)
{
    return i * 4096; /* ids that look like addresses */
}

static void toggle(struct tts_liveset *set, uint32_t device, uint64_t i, uint64_t number)
{
    struct tts_liveset_entry *at = tts_liveset_find(set, device, id_of(i));
    T_EQ(at ? at->number : 0, wanted[device][i]);
    if (at) {
        T_EQ(at->bytes, i + 7);
        tts_liveset_remove(set, at);
        wanted[device][i] = 0;
        return;
    }
    struct tts_liveset_entry entry = {
        .id = id_of(i), .device = device, .bytes = i + 7, .number = number};
    T_EQ(tts_liveset_add(set, &entry), TTS_OK);
    wanted[device][i] = number;
}

static void expect_all(const struct tts_liveset *set)
{
    size_t count = 0, cursor = 0, listed = 0;
    for (uint32_t device = 0; device < DEVICES; device++) {
        for (uint64_t i = 0; i < IDS; i++) {
            const struct tts_liveset_entry *at = tts_liveset_find(set, device, id_of(i));
            T_EQ(at ? at->number : 0, wanted[device][i]);
            count += at != NULL;
        }
    }
    T_EQ(set->count, count);
    const struct tts_liveset_entry *entry;
    while ((entry = tts_liveset_next(set, &cursor))) {
        T_EQ(wanted[entry->device][entry->id / 4096], entry->number);
        listed++;
    }
    T_EQ(listed, count);
}

T_TEST(it_agrees_with_a_plain_table_over_any_history)
{
    struct heap heap;
    struct tts_liveset set;
    uint64_t rng = 7;
    heap_init(&heap);
    memset(wanted, 0, sizeof wanted);
    tts_liveset_init(&set, &heap.alloc);
    T_TRUE(tts_liveset_find(&set, 0, 0) == NULL);
    for (uint64_t step = 1; step <= 60000; step++) {
        uint64_t window = step % 20000 < 10000 ? IDS : 40;
        uint32_t device = (uint32_t)(t_random(&rng) % DEVICES);
        toggle(&set, device, t_random(&rng) % window, step);
        if (step % 10000 == 0)
            expect_all(&set);
    }
    tts_liveset_release(&set);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(without_memory_nothing_changes)
{
    struct heap heap;
    struct tts_liveset set;
    heap_init(&heap);
    tts_liveset_init(&set, &heap.alloc);
    for (uint64_t i = 0; i < 2000; i++) {
        struct tts_liveset_entry entry = {.id = i, .number = i + 1};
        heap.fail_at = heap.calls + 1;
        enum tts_status status = tts_liveset_add(&set, &entry);
        if (status != TTS_OK) {
            T_EQ(status, TTS_E_NOMEM);
            T_TRUE(tts_liveset_find(&set, 0, i) == NULL);
            T_EQ(set.count, i);
            heap.fail_at = 0;
            T_EQ(tts_liveset_add(&set, &entry), TTS_OK);
        }
    }
    for (uint64_t i = 0; i < 2000; i++)
        T_EQ(tts_liveset_find(&set, 0, i)->number, i + 1);
    T_TRUE(heap.failed > 0);
    tts_liveset_release(&set);
    T_TRUE(heap_is_settled(&heap));
}
