#include "views/trace/liveset.h"

#include "base/heap.h"
#include "base/seed.h"

#include <assert.h>

void tts_liveset_init(struct tts_liveset *set, const struct tts_alloc *alloc)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    *set = (struct tts_liveset){.alloc = alloc, .by_key = {.alloc = alloc}, .seed = tts_seed()};
}

void tts_liveset_release(struct tts_liveset *set)
{
    if (set->entries)
        set->alloc->free(set->alloc->ctx, set->entries, set->capacity * sizeof *set->entries);
    tts_hashtable_release(&set->by_key);
    *set = (struct tts_liveset){
        .alloc = set->alloc, .by_key = {.alloc = set->alloc}, .seed = set->seed};
}

struct key {
    uint64_t id;
    uint32_t device;
};

static bool is_entry_with_key(const void *entries, uint32_t place, const void *key)
{
    const struct tts_liveset_entry *entry = (const struct tts_liveset_entry *)entries + place;
    const struct key *wanted = key;
    return entry->id == wanted->id && entry->device == wanted->device;
}

static uint32_t hash_liveset_key(const struct tts_liveset *set, uint32_t device, uint64_t id)
{
    return tts_hashtable_mix(set->seed, id, device);
}

struct tts_liveset_entry *tts_liveset_find(const struct tts_liveset *set, uint32_t device,
                                           uint64_t id)
{
    uint32_t place =
        tts_hashtable_find(&set->by_key, hash_liveset_key(set, device, id), is_entry_with_key,
                           set->entries, &(struct key){id, device});
    return place == TTS_HASHTABLE_NONE ? NULL : &set->entries[place];
}

enum tts_status tts_liveset_add(struct tts_liveset *set, const struct tts_liveset_entry *entry)
{
    assert(entry->number > 0 && !tts_liveset_find(set, entry->device, entry->id));
    if (set->count >= TTS_LIVESET_MAX)
        return TTS_E_RANGE;
    struct tts_liveset_entry *entries = tts_alloc_grow(set->alloc, set->entries, &set->capacity,
                                                       set->count + 1, sizeof *entries);
    if (!entries)
        return TTS_E_NOMEM;
    set->entries = entries;
    enum tts_status status = tts_hashtable_add(
        &set->by_key, hash_liveset_key(set, entry->device, entry->id), (uint32_t)set->count);
    if (status == TTS_OK)
        entries[set->count++] = *entry;
    return status;
}

/* The last entry moves to the place of the removed entry. */
void tts_liveset_remove(struct tts_liveset *set, struct tts_liveset_entry *entry)
{
    uint32_t place = (uint32_t)(entry - set->entries), last = (uint32_t)set->count - 1;
    assert(place < set->count);
    tts_hashtable_remove(&set->by_key, hash_liveset_key(set, entry->device, entry->id), place);
    if (place != last) {
        *entry = set->entries[last];
        tts_hashtable_move(&set->by_key, hash_liveset_key(set, entry->device, entry->id), last,
                           place);
    }
    set->count--;
}

const struct tts_liveset_entry *tts_liveset_next(const struct tts_liveset *set, size_t *cursor)
{
    return *cursor < set->count ? &set->entries[(*cursor)++] : NULL;
}
