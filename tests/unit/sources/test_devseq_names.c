#include "harness/t.h"
#include "sources/seq/devseq_names.h"
#include "torture/heap.h"

#include <stdio.h>
#include <string.h>

enum { NAMES = 4000, ROUNDS = 60000 };

/* What the table must have for one name. The array has an element for each name. */
struct model {
    bool there, live;
    struct tts_buffer buffer;
};

static struct tts_devseq_name name_of(unsigned idx)
{
    struct tts_devseq_name name = {0};
    /* The names begin alike, end alike, and have all lengths. */
    snprintf(name.text, sizeof name.text, "%.*s%u%s", (int)(idx % 30),
             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", idx, idx % 3 ? ".weight" : "");
    return name;
}

/* Returns the buffer of a name. There are two thousand places in each of two pools, so two
 * names can have the same place, but never at the same time. */
static struct tts_buffer buffer_of(unsigned idx)
{
    return (struct tts_buffer){.pool = idx % 2 ? TTS_POOL_L1 : TTS_POOL_DRAM,
                               .placed = true,
                               .address = idx / 2 * 1024,
                               .block_bytes = 1 + idx};
}

static bool same_buffer(const struct tts_buffer *a, const struct tts_buffer *b)
{
    return a->pool == b->pool && a->placed == b->placed && a->address == b->address &&
           a->block_bytes == b->block_bytes;
}

static void check_one(struct tts_devseq_names *names, const struct model *model, unsigned idx)
{
    struct tts_devseq_name name = name_of(idx);
    struct tts_devseq_held *held = tts_devseq_names_find(names, &name);
    T_EQ(held != NULL, model->there);
    if (!held)
        return;
    T_STR_EQ(held->name.text, name.text);
    T_EQ(held->live, model->live);
    if (!model->live)
        return;
    T_TRUE(same_buffer(&held->buffer, &model->buffer));
    struct tts_devseq_held *at =
        tts_devseq_names_at(names, model->buffer.pool, model->buffer.address);
    T_TRUE(!model->buffer.placed || at == held);
}

static void check_places(struct tts_devseq_names *names, const bool *taken)
{
    for (unsigned place = 0; place < NAMES; place++) {
        struct tts_buffer buffer = buffer_of(place);
        struct tts_devseq_held *held = tts_devseq_names_at(names, buffer.pool, buffer.address);
        T_EQ(held != NULL, taken[place]);
        T_TRUE(!held || (held->live && same_buffer(&held->buffer, &buffer)));
    }
}

T_TEST(names_and_places_agree_with_a_plain_list_over_any_history)
{
    static struct model models[NAMES];
    static bool taken[NAMES]; /* tells whether the place of a buffer is in use */
    struct heap heap;
    heap_init(&heap);
    struct tts_devseq_names names = {.alloc = &heap.alloc};
    uint64_t rng = 3;
    size_t count = 0;
    memset(models, 0, sizeof models);
    memset(taken, 0, sizeof taken);
    for (int round = 0; round < ROUNDS; round++) {
        /* The table grows, then almost all entries are removed, then it grows again. */
        bool filling = round / (ROUNDS / 4) % 2 == 0;
        unsigned idx = (unsigned)(t_random(&rng) % NAMES);
        unsigned place = (unsigned)(t_random(&rng) % NAMES);
        struct model *model = &models[idx];
        struct tts_devseq_name name = name_of(idx);
        check_one(&names, model, idx);
        if (!model->there && (filling || t_random(&rng) % 8 == 0)) {
            struct tts_devseq_held *held = tts_devseq_names_add(&names, &name);
            T_TRUE(held && !held->live && !held->sharding);
            T_STR_EQ(held->name.text, name.text);
            *model = (struct model){.there = true};
            count++;
        } else if (model->there && !model->live) {
            model->live = true;
            model->buffer = buffer_of(place);
            model->buffer.placed = !taken[place];
            taken[place] = true;
            tts_devseq_names_bind(&names, tts_devseq_names_find(&names, &name), &model->buffer);
        } else if (model->there && (!filling || t_random(&rng) % 8 == 0)) {
            for (unsigned i = 0; model->live && model->buffer.placed && i < NAMES; i++) {
                struct tts_buffer there = buffer_of(i);
                if (same_buffer(&there, &model->buffer))
                    taken[i] = false;
            }
            tts_devseq_names_remove(&names, tts_devseq_names_find(&names, &name));
            *model = (struct model){0};
            count--;
        }
        check_one(&names, model, idx);
        T_EQ(names.count, count);
        if (round % 5000 == 0) {
            for (unsigned i = 0; i < NAMES; i++)
                check_one(&names, &models[i], i);
            check_places(&names, taken);
        }
    }
    T_TRUE(names.capacity >= 2048);
    tts_devseq_names_release(&names);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(an_empty_table_has_nothing)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_devseq_names names = {.alloc = &heap.alloc};
    struct tts_devseq_name name = name_of(1);
    T_TRUE(!tts_devseq_names_find(&names, &name));
    T_TRUE(!tts_devseq_names_at(&names, TTS_POOL_DRAM, 0));
    tts_devseq_names_release(&names);
    T_TRUE(heap.calls == 0 && heap_is_settled(&heap));
    T_TRUE(tts_devseq_names_add(&names, &name) != NULL);
    tts_devseq_names_remove(&names, tts_devseq_names_find(&names, &name));
    T_TRUE(!tts_devseq_names_find(&names, &name) && names.count == 0);
    tts_devseq_names_release(&names);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(what_was_not_placed_has_no_place)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_devseq_names names = {.alloc = &heap.alloc};
    struct tts_buffer counted = {.pool = TTS_POOL_L1, .block_bytes = 64}, placed = counted;
    placed.placed = true;
    for (unsigned i = 0; i < 3; i++) {
        struct tts_devseq_name name = name_of(i);
        struct tts_devseq_held *held = tts_devseq_names_add(&names, &name);
        T_TRUE(!tts_devseq_names_at(&names, TTS_POOL_L1, 0));
        tts_devseq_names_bind(&names, held, i == 2 ? &placed : &counted);
    }
    T_STR_EQ(tts_devseq_names_at(&names, TTS_POOL_L1, 0)->name.text, name_of(2).text);
    T_TRUE(!tts_devseq_names_at(&names, TTS_POOL_DRAM, 0));
    T_TRUE(!tts_devseq_names_at(&names, TTS_POOL_L1, 64));
    tts_devseq_names_release(&names);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(the_same_address_in_another_pool_is_another_place)
{
    struct heap heap;
    heap_init(&heap);
    for (unsigned set = 0; set < 100; set++) { /* each set of names fills the smallest table */
        struct tts_devseq_names names = {.alloc = &heap.alloc};
        for (unsigned i = 0; i < 16; i++) {
            struct tts_devseq_name name = name_of(i);
            struct tts_buffer buffer = {
                .pool = TTS_POOL_L1, .placed = true, .address = (16 * set + i) * 32};
            tts_devseq_names_bind(&names, tts_devseq_names_add(&names, &name), &buffer);
        }
        for (unsigned i = 0; i < 16; i++) {
            uint64_t address = (16 * set + i) * 32;
            T_TRUE(tts_devseq_names_at(&names, TTS_POOL_L1, address) != NULL);
            T_TRUE(!tts_devseq_names_at(&names, TTS_POOL_DRAM, address));
        }
        tts_devseq_names_release(&names);
    }
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(shardings_go_with_their_entries)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_devseq_names names = {.alloc = &heap.alloc};
    for (unsigned i = 0; i < 5; i++) {
        struct tts_devseq_name name = name_of(i);
        struct tts_devseq_held *held = tts_devseq_names_add(&names, &name);
        held->sharding = heap.alloc.alloc(heap.alloc.ctx, sizeof *held->sharding);
        held->sharding->number = i;
    }
    struct tts_devseq_name gone = name_of(1);
    tts_devseq_names_remove(&names, tts_devseq_names_find(&names, &gone));
    for (unsigned i = 0; i < 5; i++) {
        struct tts_devseq_name name = name_of(i);
        struct tts_devseq_held *held = tts_devseq_names_find(&names, &name);
        T_EQ(held != NULL, i != 1);
        T_TRUE(!held || held->sharding->number == i);
    }
    tts_devseq_names_release(&names);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(memory_that_runs_out_leaves_the_table_as_it_was)
{
    struct heap heap;
    for (uint64_t fail_at = 1; fail_at <= 8; fail_at++) {
        heap_init(&heap);
        heap.fail_at = fail_at;
        struct tts_devseq_names names = {.alloc = &heap.alloc};
        unsigned refused = 0;
        for (unsigned i = 0; i < 100; i++) {
            struct tts_devseq_name name = name_of(i);
            struct tts_devseq_held *held = tts_devseq_names_add(&names, &name);
            if (!held) {
                refused++;
                T_TRUE(!tts_devseq_names_find(&names, &name));
                held = tts_devseq_names_add(&names, &name);
            }
            T_TRUE(held && names.count == i + 1);
            struct tts_buffer buffer = buffer_of(i);
            tts_devseq_names_bind(&names, held, &buffer);
        }
        /* The table grows to 16, 32, 64 and 128 entries, with two allocations each time. */
        T_EQ(refused, 1);
        for (unsigned i = 0; i < 100; i++)
            check_one(&names, &(struct model){true, true, buffer_of(i)}, i);
        tts_devseq_names_release(&names);
        T_TRUE(heap_is_settled(&heap));
    }
}
