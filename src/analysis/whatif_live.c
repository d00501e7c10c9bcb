/* whatif_live.c: the buffers that live, by device and id. */
#include "analysis/whatif_inside.h"
#include "base/error.h"
#include "base/heap.h"

#include <assert.h>
#include <string.h>

enum { BUCKETS_MIN = 1024 };

void tts_whatif_table_release(struct tts_whatif_table *table)
{
    const struct tts_alloc *alloc = table->alloc;
    if (table->entries)
        alloc->free(alloc->ctx, table->entries, table->capacity * sizeof *table->entries);
    if (table->buckets)
        alloc->free(alloc->ctx, table->buckets, table->bucket_count * sizeof *table->buckets);
    *table = (struct tts_whatif_table){.alloc = alloc, .seed = table->seed};
}

static size_t home_of(const struct tts_whatif_table *table, uint32_t device, uint64_t id)
{
    uint64_t x = (id ^ table->seed) * UINT64_C(0x9e3779b97f4a7c15) + device;
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(x ^ (x >> 32)) & (table->bucket_count - 1);
}

static size_t home_of_place(const struct tts_whatif_table *table, uint32_t place)
{
    const struct tts_whatif_entry *entry = &table->entries[place];
    return home_of(table, entry->device, entry->id);
}

/* The bucket of a key, or the empty one where it would be. */
static size_t probe(const struct tts_whatif_table *table, uint32_t device, uint64_t id)
{
    size_t at = home_of(table, device, id);
    for (uint32_t value; (value = table->buckets[at]) != 0;) {
        const struct tts_whatif_entry *entry = &table->entries[value - 1];
        if (entry->id == id && entry->device == device)
            break;
        at = (at + 1) & (table->bucket_count - 1);
    }
    return at;
}

uint32_t tts_whatif_table_find(const struct tts_whatif_table *table, uint32_t device,
                               uint64_t id)
{
    if (table->bucket_count == 0)
        return TTS_WHATIF_NONE;
    uint32_t value = table->buckets[probe(table, device, id)];
    return value == 0 ? TTS_WHATIF_NONE : value - 1;
}

/* Room for one more, at most half of the buckets in use. */
static bool widen(struct tts_whatif_table *table)
{
    if (table->bucket_count > 0 && table->used < table->bucket_count / 2)
        return true;
    size_t old_count = table->bucket_count, count = old_count ? old_count * 2 : BUCKETS_MIN;
    uint32_t *old = table->buckets;
    uint32_t *wider = table->alloc->alloc(table->alloc->ctx, count * sizeof *wider);
    if (!wider)
        return false;
    memset(wider, 0, count * sizeof *wider);
    table->buckets = wider;
    table->bucket_count = count;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] == 0)
            continue;
        size_t at = home_of_place(table, old[i] - 1);
        while (wider[at] != 0)
            at = (at + 1) & (count - 1);
        wider[at] = old[i];
    }
    if (old)
        table->alloc->free(table->alloc->ctx, old, old_count * sizeof *old);
    return true;
}

static bool new_place(struct tts_whatif_table *table, uint32_t *place)
{
    if (table->first_free > 0) {
        *place = table->first_free - 1;
        table->first_free = table->entries[*place].next;
        return true;
    }
    void *grown = tts_alloc_grow(table->alloc, table->entries, &table->capacity,
                                 table->count + 1, sizeof *table->entries);
    if (!grown)
        return false;
    table->entries = grown;
    *place = (uint32_t)table->count++;
    return true;
}

enum tts_status tts_whatif_table_add(struct tts_whatif_table *table, uint32_t device,
                                     uint64_t id, uint32_t *place, struct tts_error *err)
{
    uint32_t at;
    if (table->used >= TTS_WHATIF_LIVE_MAX)
        return tts_error_set(err, TTS_E_RANGE, "more than %d buffers live at once",
                             TTS_WHATIF_LIVE_MAX);
    if (!widen(table) || !new_place(table, &at))
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    size_t bucket = probe(table, device, id);
    assert(table->buckets[bucket] == 0);
    table->entries[at] = (struct tts_whatif_entry){.id = id, .device = device, .is_used = true};
    table->buckets[bucket] = at + 1;
    table->used++;
    *place = at;
    return TTS_OK;
}

void tts_whatif_table_remove(struct tts_whatif_table *table, uint32_t place)
{
    assert(place < table->count && table->entries[place].is_used && table->used > 0);
    size_t mask = table->bucket_count - 1;
    size_t hole = probe(table, table->entries[place].device, table->entries[place].id);
    assert(table->buckets[hole] == place + 1);
    /* What was pushed past the hole moves into it. */
    for (size_t at = (hole + 1) & mask; table->buckets[at] != 0; at = (at + 1) & mask) {
        size_t home = home_of_place(table, table->buckets[at] - 1);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        table->buckets[hole] = table->buckets[at];
        hole = at;
    }
    table->buckets[hole] = 0;
    table->used--;
    table->entries[place].is_used = false;
    table->entries[place].next = table->first_free;
    table->first_free = place + 1;
}
