#include "harness/once.h"
#include "harness/t.h"
#include "model/ledger.h"
#include "torture/heap.h"

#include <string.h>

static struct tts_ledger *ledger_of(uint32_t live_max, uint64_t seed)
{
    struct tts_ledger *ledger = NULL;
    T_EQ(tts_ledger_new(live_max, seed, NULL, &ledger), TTS_OK);
    T_TRUE(tts_ledger_is_valid(ledger));
    return ledger;
}

static void done(struct tts_ledger *ledger)
{
    T_TRUE(tts_ledger_is_valid(ledger));
    tts_ledger_free(ledger);
}

static struct tts_entry entry_of(uint8_t device, uint64_t id, enum tts_pool pool)
{
    return (struct tts_entry){.id = id, .device = device, .pool = (uint8_t)pool};
}

/* Adds a new buffer, and its L1 part if its pool has one. Returns false if the ledger is
 * full. */
static bool add(struct tts_ledger *ledger, struct tts_entry entry)
{
    bool is_new = false;
    uint32_t place = tts_ledger_enter(ledger, entry, &is_new);
    if (place == TTS_LEDGER_NONE)
        return false;
    T_TRUE(is_new);
    if (entry.pool == TTS_POOL_L1 || entry.pool == TTS_POOL_L1_SMALL)
        tts_ledger_add_l1(ledger, place);
    return true;
}

static bool has(const struct tts_ledger *ledger, uint8_t device, uint64_t id)
{
    return tts_ledger_find(ledger, device, id) != TTS_LEDGER_NONE;
}

static uint64_t size_of(const struct tts_ledger *ledger, uint8_t device, uint64_t id)
{
    uint32_t place = tts_ledger_find(ledger, device, id);
    T_TRUE(place != TTS_LEDGER_NONE);
    return tts_ledger_size(ledger, place);
}

static void take_away(struct tts_ledger *ledger, uint8_t device, uint64_t id)
{
    T_TRUE(has(ledger, device, id));
    tts_ledger_remove(ledger, tts_ledger_find(ledger, device, id));
}

static uint32_t l1_count(const struct tts_ledger *ledger)
{
    uint32_t count = 0, cursor = tts_ledger_l1_head(ledger);
    for (const struct tts_l1_entry *e; (e = tts_ledger_l1_next(ledger, &cursor)); count++)
        T_TRUE(e->pool == TTS_POOL_L1 || e->pool == TTS_POOL_L1_SMALL);
    return count;
}

T_TEST(only_sizes_that_can_be_are_taken)
{
    struct tts_ledger *ledger = NULL;
    T_EQ(tts_ledger_new(0, 1, NULL, &ledger), TTS_E_INVALID);
    T_EQ(tts_ledger_new((1u << 26) + 1, 1, NULL, &ledger), TTS_E_INVALID);
    T_TRUE(ledger == NULL);
    tts_ledger_free(NULL);
}

T_TEST(an_entry_is_read_as_it_was_entered)
{
    struct tts_ledger *ledger = ledger_of(4, 1);
    bool is_new;
    struct tts_entry entry = {.id = UINT64_MAX,
                              .size_bytes = TTS_LEDGER_SIZE_MAX,
                              .seq = 5,
                              .op = 9,
                              .device = 255,
                              .pool = TTS_POOL_TRACE};
    uint32_t place = tts_ledger_enter(ledger, entry, &is_new);
    struct tts_entry read = tts_ledger_read(ledger, place);
    T_TRUE(is_new && read.id == UINT64_MAX && read.size_bytes == TTS_LEDGER_SIZE_MAX);
    T_TRUE(read.seq == 5 && read.op == 9 && read.device == 255 && read.pool == TTS_POOL_TRACE);
    T_EQ(tts_ledger_pool(ledger, place), TTS_POOL_TRACE);
    entry.size_bytes = 7;
    entry.pool = TTS_POOL_L1;
    T_TRUE(tts_ledger_enter(ledger, entry, &is_new) == place && !is_new);
    /* The failed call has written nothing. */
    T_EQ(tts_ledger_size(ledger, place), TTS_LEDGER_SIZE_MAX);
    tts_ledger_replace(ledger, place, entry);
    T_TRUE(tts_ledger_size(ledger, place) == 7);
    T_EQ(tts_ledger_pool(ledger, place), TTS_POOL_L1);
    T_EQ(tts_ledger_count(ledger), 1);
    done(ledger);
}

T_TEST(a_part_in_l1_has_what_its_entry_has)
{
    struct tts_ledger *ledger = ledger_of(4, 1);
    bool is_new;
    struct tts_entry entry = {.id = 7, .seq = 11, .op = 12, .device = 3, .pool = TTS_POOL_L1};
    uint32_t place = tts_ledger_enter(ledger, entry, &is_new);
    T_TRUE(tts_ledger_l1(ledger, place) == NULL);
    struct tts_l1_entry *part = tts_ledger_add_l1(ledger, place);
    T_TRUE(part->id == 7 && part->device == 3 && part->seq == 11 && part->op == 12);
    T_TRUE(part->pool == TTS_POOL_L1 && part->block_bytes == 0);
    T_TRUE(tts_ledger_l1(ledger, place) == part);
    tts_ledger_drop_l1(ledger, place);
    tts_ledger_drop_l1(ledger, place); /* the buffer has no L1 part, so this has no effect */
    T_TRUE(tts_ledger_l1(ledger, place) == NULL && l1_count(ledger) == 0);
    done(ledger);
}

T_TEST(devices_and_ids_are_told_apart)
{
    struct tts_ledger *ledger = ledger_of(100, 5);
    const uint64_t ids[] = {0, 1, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
    const uint8_t devices[] = {0, 1, 2, 128, 255};
    for (size_t i = 0; i < 25; i++) {
        struct tts_entry entry = entry_of(devices[i / 5], ids[i % 5], TTS_POOL_DRAM);
        entry.size_bytes = i;
        T_TRUE(!has(ledger, entry.device, entry.id) && add(ledger, entry));
    }
    for (size_t i = 0; i < 25; i++)
        T_EQ(size_of(ledger, devices[i / 5], ids[i % 5]), i);
    T_EQ(tts_ledger_count(ledger), 25);
    done(ledger);
}

T_TEST(without_memory_for_more_it_takes_none_until_one_leaves)
{
    struct tts_ledger *ledger = NULL;
    struct once memory;
    bool is_new;
    once_init(&memory);
    T_EQ(tts_ledger_new(3, 5, &memory.alloc, &ledger), TTS_OK);
    memory.is_refused = true;
    for (uint64_t id = 0; id < 3; id++)
        T_TRUE(add(ledger, entry_of(0, id, TTS_POOL_L1)));
    T_TRUE(!add(ledger, entry_of(0, 3, TTS_POOL_L1)));
    tts_ledger_enter(ledger, entry_of(0, 2, TTS_POOL_L1), &is_new);
    T_TRUE(!is_new); /* the buffer is known, and its entry keeps its values */
    T_TRUE(!has(ledger, 0, 3));
    T_EQ(tts_ledger_count(ledger), 3);
    T_TRUE(tts_ledger_is_valid(ledger));
    take_away(ledger, 0, 1);
    T_TRUE(add(ledger, entry_of(0, 3, TTS_POOL_L1)));
    T_EQ(l1_count(ledger), 3);
    done(ledger);
}

T_TEST(reset_forgets_everything_at_any_width)
{
    struct tts_ledger *ledger = ledger_of(5000, 5);
    for (int round = 0; round < 3; round++) {
        T_EQ(l1_count(ledger), 0);
        for (uint64_t id = 0; id < 5000; id++) {
            T_TRUE(!has(ledger, 0, id));
            T_TRUE(add(ledger, entry_of(0, id, id % TTS_POOLS)));
        }
        T_EQ(l1_count(ledger), 2500);
        for (uint64_t id = 4000; id < 5000; id++)
            take_away(ledger, 0, id);
        T_TRUE(tts_ledger_is_valid(ledger));
        tts_ledger_reset(ledger);
        uint32_t cursor = 0;
        T_EQ(tts_ledger_next(ledger, &cursor), TTS_LEDGER_NONE);
        T_EQ(tts_ledger_count(ledger), 0);
        T_TRUE(tts_ledger_is_valid(ledger));
    }
    done(ledger);
}

T_TEST(a_hundred_thousand_are_found)
{
    enum { MANY = 100 * 1000 };
    struct tts_ledger *ledger = ledger_of(MANY, 99);
    for (uint64_t id = 0; id < MANY; id++)
        T_TRUE(add(ledger, (struct tts_entry){.id = id << 12, .size_bytes = id, .device = 1}));
    T_TRUE(tts_ledger_is_valid(ledger));
    T_EQ(tts_ledger_count(ledger), MANY);
    for (uint64_t id = 0; id < MANY; id++)
        T_EQ(size_of(ledger, 1, id << 12), id);
    uint64_t seen = 0, sum = 0;
    uint32_t cursor = 0;
    for (uint32_t at; (at = tts_ledger_next(ledger, &cursor)) != TTS_LEDGER_NONE; seen++)
        sum += tts_ledger_size(ledger, at);
    T_EQ(seen, MANY);
    T_EQ(sum, (uint64_t)MANY * (MANY - 1) / 2);
    done(ledger);
}

/* The ledger outgrows its first memory several times, once with pages of the system, and once
 * with a heap that checks each size and does not zero memory. */
T_TEST(it_grows_beyond_live_max_and_gives_back_what_it_took)
{
    enum { MANY = 20 * 1000 };
    for (int turn = 0; turn < 4; turn++) {
        struct heap heap;
        heap_init(&heap);
        struct tts_ledger *ledger = NULL;
        const struct tts_alloc *alloc = turn % 2 ? &heap.alloc : NULL;
        T_EQ(tts_ledger_new(turn < 2 ? 1 : 700, 5, alloc, &ledger), TTS_OK);
        uint64_t blocks = heap.live_blocks;
        for (uint64_t id = 0; id < MANY; id++)
            T_TRUE(add(ledger,
                       (struct tts_entry){.id = id * 3, .size_bytes = id, .pool = id % 4}));
        T_EQ(tts_ledger_count(ledger), MANY);
        T_EQ(l1_count(ledger), MANY / 2);
        T_TRUE(tts_ledger_is_valid(ledger));
        for (uint64_t id = 0; id < MANY; id++) {
            T_EQ(size_of(ledger, 0, id * 3), id);
            take_away(ledger, 0, id * 3);
        }
        T_EQ(tts_ledger_count(ledger), 0);
        tts_ledger_reset(ledger);
        T_EQ(heap.live_blocks, blocks);
        T_TRUE(add(ledger, entry_of(0, 1, TTS_POOL_L1)));
        done(ledger);
        T_TRUE(heap_is_settled(&heap));
    }
}

/* Doubling needs two allocations. Each of them fails in turn. */
T_TEST(a_doubling_that_fails_changes_nothing_and_is_tried_again)
{
    for (uint64_t n = 1; n <= 2; n++) {
        struct heap heap;
        heap_init(&heap);
        struct tts_ledger *ledger = NULL;
        T_EQ(tts_ledger_new(256, 5, &heap.alloc, &ledger), TTS_OK);
        for (uint64_t id = 0; id < 256; id++)
            T_TRUE(add(ledger, entry_of(0, id, TTS_POOL_L1)));
        heap.fail_at = heap.calls + n;
        T_TRUE(!add(ledger, entry_of(0, 256, TTS_POOL_L1)));
        T_EQ(heap.failed, 1);
        T_TRUE(tts_ledger_is_valid(ledger) && tts_ledger_count(ledger) == 256);
        T_TRUE(add(ledger, entry_of(0, 256, TTS_POOL_L1)));
        for (uint64_t id = 0; id <= 256; id++)
            T_TRUE(has(ledger, 0, id));
        done(ledger);
        T_TRUE(heap_is_settled(&heap));
    }
}

T_TEST(the_list_of_l1_is_what_lives_there)
{
    struct tts_ledger *ledger = ledger_of(10, 1);
    for (uint64_t id = 0; id < 6; id++)
        T_TRUE(add(ledger, entry_of(0, id, id % 2 ? TTS_POOL_DRAM : TTS_POOL_L1)));
    T_EQ(l1_count(ledger), 3);
    take_away(ledger, 0, 2); /* removes the entry in the middle of the list */
    T_EQ(l1_count(ledger), 2);
    T_TRUE(tts_ledger_is_valid(ledger));
    take_away(ledger, 0, 4);
    T_EQ(l1_count(ledger), 1);
    take_away(ledger, 0, 1);
    uint32_t cursor = tts_ledger_l1_head(ledger);
    T_EQ(tts_ledger_l1_next(ledger, &cursor)->id, 0);
    T_TRUE(tts_ledger_l1_next(ledger, &cursor) == NULL);
    take_away(ledger, 0, 0);
    T_EQ(tts_ledger_l1_head(ledger), TTS_LEDGER_NONE);
    done(ledger);
}

/* A keyframe may claim any number of buffers, so the number must not determine the memory. */
T_TEST(what_is_expected_takes_no_memory_beyond_that_of_birth)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_ledger *ledger = NULL;
    T_EQ(tts_ledger_new(3000, 1, &heap.alloc, &ledger), TTS_OK);
    uint64_t calls = heap.calls;
    heap.fail_at = calls + 1;
    tts_ledger_expect(ledger, UINT64_MAX);
    T_EQ(heap.calls, calls);
    for (uint64_t id = 0; id < 3000; id++)
        T_TRUE(add(ledger, entry_of(0, id, TTS_POOL_L1)));
    T_EQ(heap.calls, calls);
    done(ledger);
    T_TRUE(heap_is_settled(&heap));
}

/* --- against a plain array -------------------------------------------------------------- */

enum { KEYS = 2000, HISTORY = 60 * 1000 };
static const uint64_t SEQS = UINT64_C(1) << 47;

struct key {
    uint64_t id;
    uint8_t device;
    bool is_live;
    uint64_t value;
    enum tts_pool pool;
};

/* Makes ids of all kinds: consecutive ones, aligned ones, ones that differ in the upper bits,
 * and random ones. */
static void make_keys(struct key keys[KEYS], uint64_t *rng)
{
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t n = i / 8 + 1;
        const uint64_t ids[] = {n, n << 12, n << 48, ~n, t_random(rng)};
        keys[i] = (struct key){.id = ids[i / 2 % 4 == 3 ? 3 + i % 2 : i / 2 % 4],
                               .device = (uint8_t)(i % 2)};
    }
}

static void compare(const struct tts_ledger *ledger, const struct key keys[KEYS])
{
    uint32_t count = 0, listed = 0, cursor = 0, walked = 0;
    for (size_t i = 0; i < KEYS; i++) {
        count += keys[i].is_live;
        listed += keys[i].is_live &&
                  (keys[i].pool == TTS_POOL_L1 || keys[i].pool == TTS_POOL_L1_SMALL);
    }
    while (tts_ledger_next(ledger, &cursor) != TTS_LEDGER_NONE)
        walked++;
    T_EQ(tts_ledger_count(ledger), count);
    T_EQ(walked, count);
    T_EQ(l1_count(ledger), listed);
    T_TRUE(tts_ledger_is_valid(ledger));
}

static void step(struct tts_ledger *ledger, struct key *key, uint64_t *rng)
{
    uint32_t place = tts_ledger_find(ledger, key->device, key->id);
    T_EQ(place != TTS_LEDGER_NONE, key->is_live);
    key->is_live = !key->is_live;
    if (!key->is_live) {
        struct tts_entry read = tts_ledger_read(ledger, place);
        T_TRUE(read.size_bytes == key->value && read.seq == key->value % SEQS);
        T_TRUE(read.id == key->id && read.device == key->device && read.pool == key->pool);
        tts_ledger_remove(ledger, place);
        return;
    }
    key->pool = t_random(rng) % TTS_POOLS;
    key->value = t_random(rng) & TTS_LEDGER_SIZE_MAX;
    T_TRUE(add(ledger, (struct tts_entry){.id = key->id,
                                          .size_bytes = key->value,
                                          .seq = key->value % SEQS,
                                          .device = key->device,
                                          .pool = (uint8_t)key->pool}));
}

T_TEST(agrees_with_a_plain_array_over_any_history)
{
    static struct key keys[KEYS];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uint64_t rng = seed;
        make_keys(keys, &rng);
        struct tts_ledger *ledger = ledger_of(KEYS, seed);
        for (uint64_t i = 0; i < HISTORY; i++) {
            /* Uses few keys at first, then all, then few again. */
            uint64_t among = i < HISTORY / 3 ? 100 : i < HISTORY / 3 * 2 ? KEYS : 700;
            step(ledger, &keys[t_random(&rng) % among], &rng);
            if (i % 1000 == 0)
                compare(ledger, keys);
        }
        compare(ledger, keys);
        for (size_t i = 0; i < KEYS; i++) {
            if (keys[i].is_live)
                step(ledger, &keys[i], &rng);
        }
        compare(ledger, keys);
        tts_ledger_free(ledger);
    }
}

/* Uses the smallest table and fills it as far as possible, so that runs of entries wrap around
 * its end. */
T_TEST(what_runs_over_the_end_is_found)
{
    struct tts_ledger *ledger = ledger_of(512, 3);
    uint64_t rng = 11;
    bool is_live[600] = {false};
    for (int i = 0; i < 50000; i++) {
        uint64_t id = t_random(&rng) % 600;
        if (is_live[id])
            take_away(ledger, 0, id);
        else if (!add(ledger, entry_of(0, id, TTS_POOL_DRAM)))
            continue;
        is_live[id] = !is_live[id];
        if (i % 50 == 0)
            T_TRUE(tts_ledger_is_valid(ledger));
    }
    done(ledger);
}

/* --- memory ----------------------------------------------------------------------------- */

T_TEST(no_memory_is_told_at_birth_and_nothing_is_kept)
{
    for (uint64_t n = 1;; n++) {
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = n;
        struct tts_ledger *ledger = NULL;
        enum tts_status status = tts_ledger_new(100, 1, &heap.alloc, &ledger);
        if (status == TTS_OK) {
            T_TRUE(heap.failed == 0 && n > 1);
            tts_ledger_free(ledger);
            T_TRUE(heap_is_settled(&heap));
            break;
        }
        T_EQ(status, TTS_E_NOMEM);
        T_TRUE(ledger == NULL && heap_is_settled(&heap));
    }
}

T_TEST(memory_that_is_not_zero_will_do_and_no_more_is_asked_for)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_ledger *ledger = NULL;
    T_EQ(tts_ledger_new(3000, 1, &heap.alloc, &ledger), TTS_OK);
    uint64_t calls = heap.calls;
    for (uint64_t id = 0; id < 3000; id++)
        T_TRUE(add(ledger, entry_of(0, id, TTS_POOL_L1)));
    T_TRUE(tts_ledger_is_valid(ledger));
    tts_ledger_reset(ledger);
    T_EQ(heap.calls, calls);
    tts_ledger_free(ledger);
    T_TRUE(heap_is_settled(&heap));
}
