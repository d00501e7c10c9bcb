#include "views/liveset.h"

#include "base/heap.h"
#include "base/seed.h"

#include <assert.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024 };

void tts_liveset_init(struct tts_liveset *set, const struct tts_alloc *alloc)
{
    *set = (struct tts_liveset){.alloc = alloc ? alloc : tts_alloc_libc(), .seed = tts_seed()};
}

void tts_liveset_release(struct tts_liveset *set)
{
    if (set->entries)
        set->alloc->free(set->alloc->ctx, set->entries, set->capacity * sizeof *set->entries);
    *set = (struct tts_liveset){.alloc = set->alloc, .seed = set->seed};
}

/* Multiplied and folded, so that addresses as ids, and ids in steps, spread too. */
static size_t home_of(const struct tts_liveset *set, uint32_t device, uint64_t id)
{
    uint64_t hash = (id ^ set->seed) * UINT64_C(0x9e3779b97f4a7c15) + device;
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(hash ^ hash >> 32) & (set->capacity - 1);
}

static size_t after(const struct tts_liveset *set, size_t place)
{
    return (place + 1) & (set->capacity - 1);
}

/* Where the key is, or the free place where it would be. */
static size_t place_of(const struct tts_liveset *set, uint32_t device, uint64_t id)
{
    assert(set->count < set->capacity);
    size_t place = home_of(set, device, id);
    for (;; place = after(set, place)) {
        const struct tts_liveset_entry *at = &set->entries[place];
        if (at->number == 0 || (at->id == id && at->device == device))
            return place;
    }
}

struct tts_liveset_entry *tts_liveset_find(const struct tts_liveset *set, uint32_t device,
                                           uint64_t id)
{
    if (set->count == 0)
        return NULL;
    struct tts_liveset_entry *at = &set->entries[place_of(set, device, id)];
    return at->number ? at : NULL;
}

static enum tts_status widen(struct tts_liveset *set)
{
    size_t capacity = set->capacity ? 2 * set->capacity : FIRST_CAPACITY;
    size_t bytes = capacity * sizeof *set->entries;
    struct tts_liveset wide = {.alloc = set->alloc, .capacity = capacity};
    wide.entries = set->alloc->alloc(set->alloc->ctx, bytes);
    if (!wide.entries)
        return TTS_E_NOMEM;
    memset(wide.entries, 0, bytes);
    for (size_t i = 0; i < set->capacity; i++) {
        const struct tts_liveset_entry *from = &set->entries[i];
        if (from->number == 0)
            continue;
        wide.entries[place_of(&wide, from->device, from->id)] = *from;
        wide.count++;
    }
    assert(wide.count == set->count);
    tts_liveset_release(set);
    *set = wide;
    return TTS_OK;
}

enum tts_status tts_liveset_add(struct tts_liveset *set, const struct tts_liveset_entry *entry)
{
    assert(entry->number > 0 && !tts_liveset_find(set, entry->device, entry->id));
    if (set->count >= TTS_LIVESET_MAX)
        return TTS_E_RANGE;
    if (set->count >= set->capacity / 2) {
        enum tts_status status = widen(set);
        if (status != TTS_OK)
            return status;
    }
    set->entries[place_of(set, entry->device, entry->id)] = *entry;
    set->count++;
    return TTS_OK;
}

/* Moves what comes behind into the gap, so that no search ends too early. */
void tts_liveset_remove(struct tts_liveset *set, struct tts_liveset_entry *entry)
{
    assert(set->count > 0 && entry->number > 0);
    size_t gap = (size_t)(entry - set->entries);
    assert(gap < set->capacity);
    for (size_t at = after(set, gap); set->entries[at].number; at = after(set, at)) {
        const struct tts_liveset_entry *from = &set->entries[at];
        size_t home = home_of(set, from->device, from->id);
        size_t mask = set->capacity - 1;
        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        set->entries[gap] = *from;
        gap = at;
    }
    set->entries[gap] = (struct tts_liveset_entry){0};
    set->count--;
}

const struct tts_liveset_entry *tts_liveset_next(const struct tts_liveset *set, size_t *cursor)
{
    while (*cursor < set->capacity) {
        const struct tts_liveset_entry *at = &set->entries[(*cursor)++];
        if (at->number)
            return at;
    }
    return NULL;
}
