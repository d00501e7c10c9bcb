#include "sources/graph/graph_table.h"

#include "base/heap.h"
#include "harness/t.h"
#include "torture/heap.h"

#include <stdlib.h>

static struct tts_graph_buffer buffer_of(uint64_t id)
{
    return (struct tts_graph_buffer){.id = id,
                                     .size_bytes = (id * 977) % (TTS_GRAPH_SIZE_MAX + 1),
                                     .device = (uint8_t)(id * 3),
                                     .pool = (uint8_t)(id % (TTS_POOLS + 1)),
                                     .memory = (uint8_t)(id % 4),
                                     .is_allocated = id % 5 == 0};
}

static void check(const struct tts_graph_table *table, uint64_t id)
{
    struct tts_graph_buffer found, made = buffer_of(id);
    T_TRUE(tts_graph_table_find(table, id, &found));
    T_EQ(found.id, made.id);
    T_EQ(found.size_bytes, made.size_bytes);
    T_EQ(found.device, made.device);
    T_EQ(found.pool, made.pool);
    T_EQ(found.memory, made.memory);
    T_EQ(found.is_allocated, made.is_allocated);
}

T_TEST(a_buffer_is_found_with_all_it_has)
{
    struct tts_graph_table table = {.alloc = tts_alloc_libc()};
    static const uint64_t ids[] = {0, 1, 2, 1000, TTS_GRAPH_ID_MAX};
    struct tts_graph_buffer found;
    T_TRUE(!tts_graph_table_find(&table, 0, &found));
    for (size_t i = 0; i < 5; i++) {
        struct tts_graph_buffer buffer = buffer_of(ids[i]);
        T_EQ(tts_graph_table_put(&table, &buffer), TTS_OK);
    }
    for (size_t i = 0; i < 5; i++)
        check(&table, ids[i]);
    T_TRUE(!tts_graph_table_find(&table, 3, &found));
    T_TRUE(!tts_graph_table_find(&table, UINT64_MAX, &found));
    struct tts_graph_buffer most = {.id = 2,
                                    .size_bytes = TTS_GRAPH_SIZE_MAX,
                                    .device = 255,
                                    .pool = TTS_POOLS,
                                    .memory = 3,
                                    .is_allocated = true};
    T_EQ(tts_graph_table_put(&table, &most), TTS_OK);
    T_TRUE(tts_graph_table_find(&table, 2, &found));
    T_TRUE(found.size_bytes == TTS_GRAPH_SIZE_MAX && found.device == 255);
    T_TRUE(found.pool == TTS_POOLS && found.memory == 3 && found.is_allocated);
    T_EQ(table.count, 5);
    tts_graph_table_release(&table);
}

T_TEST(it_agrees_with_a_plain_array_over_any_history)
{
    enum { IDS = 6000 };
    static bool is_there[IDS];
    struct tts_graph_table table = {.alloc = tts_alloc_libc()};
    uint64_t rng = 5;
    size_t count = 0;
    for (int i = 0; i < 200000; i++) {
        uint64_t id = t_random(&rng) % IDS;
        /* At first most steps add a buffer, so the table grows. Later most steps remove one. */
        bool puts = t_random(&rng) % 100 < (i < 100000 ? 80 : 20);
        if (puts) {
            struct tts_graph_buffer buffer = buffer_of(id);
            T_EQ(tts_graph_table_put(&table, &buffer), TTS_OK);
            count += !is_there[id];
            is_there[id] = true;
        } else if (is_there[id]) {
            tts_graph_table_remove(&table, id);
            count--;
            is_there[id] = false;
        }
        T_EQ(table.count, count);
        if (i % 10000 == 0)
            T_TRUE(tts_graph_table_is_valid(&table));
    }
    for (uint64_t id = 0; id < IDS; id++) {
        struct tts_graph_buffer found;
        T_EQ(tts_graph_table_find(&table, id, &found), is_there[id]);
        if (is_there[id])
            check(&table, id);
    }
    tts_graph_table_release(&table);
}

T_TEST(it_takes_no_more_than_64_bytes_for_each)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_graph_table table = {.alloc = &heap.alloc};
    uint64_t bytes_before = 0;
    for (uint64_t id = 0; id < 200000; id++) {
        struct tts_graph_buffer buffer = buffer_of(id * 7);
        T_EQ(tts_graph_table_put(&table, &buffer), TTS_OK);
        /* While the table grows, the old array still exists. */
        if (heap.live_bytes != bytes_before && id >= 1024)
            T_TRUE(heap.live_bytes + bytes_before <= 64 * (id + 1));
        bytes_before = heap.live_bytes;
    }
    tts_graph_table_release(&table);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(without_memory_it_stays_as_it_was)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_graph_table table = {.alloc = &heap.alloc};
    struct tts_graph_buffer buffer = buffer_of(0);
    heap.fail_at = 1;
    T_EQ(tts_graph_table_put(&table, &buffer), TTS_E_NOMEM);
    T_EQ(table.count, 0);
    heap.calls = heap.fail_at = 0;
    uint64_t id = 0;
    enum tts_status status;
    for (;; id++) {
        /* The first buffer must be added without a failure. */
        heap.fail_at = heap.calls + (table.count > 0);
        buffer = buffer_of(id);
        status = tts_graph_table_put(&table, &buffer);
        if (status != TTS_OK)
            break;
    }
    T_EQ(status, TTS_E_NOMEM);
    T_EQ(table.count, id);
    T_TRUE(tts_graph_table_is_valid(&table));
    for (uint64_t i = 0; i < id; i++)
        check(&table, i);
    tts_graph_table_release(&table);
    T_TRUE(heap_is_settled(&heap));
}
