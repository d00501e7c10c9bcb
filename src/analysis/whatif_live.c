/* whatif_live.c: the buffers that live, by device and id. */
#include "analysis/whatif_inside.h"
#include "base/error.h"
#include "base/heap.h"

#include <assert.h>

void tts_whatif_table_release(struct tts_whatif_table *table)
{
    const struct tts_alloc *alloc = table->alloc;
    if (table->entries)
        alloc->free(alloc->ctx, table->entries, table->capacity * sizeof *table->entries);
    tts_hashtable_release(&table->by_key);
    *table = (struct tts_whatif_table){
        .alloc = alloc, .seed = table->seed, .by_key = {.alloc = alloc}};
}

struct key {
    uint64_t id;
    uint32_t device;
};

static bool has_key(const void *entries, uint32_t place, const void *key)
{
    const struct tts_whatif_entry *entry = (const struct tts_whatif_entry *)entries + place;
    const struct key *wanted = key;
    return entry->id == wanted->id && entry->device == wanted->device;
}

static uint32_t hash_key(const struct tts_whatif_table *table, uint32_t device, uint64_t id)
{
    return tts_hashtable_mix(table->seed, id, device);
}

uint32_t tts_whatif_table_find(const struct tts_whatif_table *table, uint32_t device,
                               uint64_t id)
{
    return tts_hashtable_find(&table->by_key, hash_key(table, device, id), has_key,
                              table->entries, &(struct key){id, device});
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

static void free_place(struct tts_whatif_table *table, uint32_t place)
{
    table->entries[place].is_used = false;
    table->entries[place].next = table->first_free;
    table->first_free = place + 1;
}

enum tts_status tts_whatif_table_add(struct tts_whatif_table *table, uint32_t device,
                                     uint64_t id, uint32_t *place, struct tts_error *err)
{
    uint32_t at;
    if (table->used >= TTS_WHATIF_LIVE_MAX)
        return tts_error_set(err, TTS_E_RANGE, "more than %d buffers live at once",
                             TTS_WHATIF_LIVE_MAX);
    assert(tts_whatif_table_find(table, device, id) == TTS_WHATIF_NONE);
    if (!new_place(table, &at))
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    if (tts_hashtable_add(&table->by_key, hash_key(table, device, id), at) != TTS_OK) {
        free_place(table, at);
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    }
    table->entries[at] = (struct tts_whatif_entry){.id = id, .device = device, .is_used = true};
    table->used++;
    *place = at;
    return TTS_OK;
}

void tts_whatif_table_remove(struct tts_whatif_table *table, uint32_t place)
{
    const struct tts_whatif_entry *entry = &table->entries[place];
    assert(place < table->count && entry->is_used && table->used > 0);
    tts_hashtable_remove(&table->by_key, hash_key(table, entry->device, entry->id), place);
    table->used--;
    free_place(table, place);
}
