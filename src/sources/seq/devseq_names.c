#include "sources/seq/devseq_names.h"

#include "base/hash.h"
#include "base/heap.h"

#include <assert.h>
#include <string.h>

/* The two hash tables: entries by name, and placed buffers by pool and address. */
enum { BY_NAME = TTS_DEVSEQ_BY_NAME, BY_PLACE = TTS_DEVSEQ_BY_PLACE };

static uint32_t hash_name(const struct tts_devseq_names *names,
                          const struct tts_devseq_name *name)
{
    return (uint32_t)tts_fnv1a64_text(TTS_FNV1A64_INIT ^ names->seed, name->text,
                                      sizeof name->text);
}

static uint32_t hash_held(const struct tts_devseq_names *names, int key,
                          const struct tts_devseq_held *held)
{
    return key == BY_NAME ? hash_name(names, &held->name)
                          : tts_hashtable_mix(names->seed, held->buffer.address,
                                              (uint64_t)held->buffer.pool);
}

static bool is_entry_named(const void *held, uint32_t place, const void *name)
{
    return memcmp(&((const struct tts_devseq_held *)held)[place].name, name,
                  sizeof(struct tts_devseq_name)) == 0;
}

static bool is_entry_at(const void *held, uint32_t place, const void *like)
{
    const struct tts_buffer *buffer = &((const struct tts_devseq_held *)held)[place].buffer;
    const struct tts_buffer *wanted = like;
    return buffer->pool == wanted->pool && buffer->address == wanted->address;
}

static bool is_listed(int key, const struct tts_devseq_held *held)
{
    return key == BY_NAME || (held->live && held->buffer.placed);
}

static struct tts_devseq_held *held_at(struct tts_devseq_names *names, uint32_t place)
{
    return place == TTS_HASHTABLE_NONE ? NULL : &names->held[place];
}

static struct tts_hashtable *place_table(struct tts_devseq_names *names, int key)
{
    names->tables[key].alloc = names->alloc;
    return &names->tables[key];
}

struct tts_devseq_held *tts_devseq_names_find(struct tts_devseq_names *names,
                                              const struct tts_devseq_name *name)
{
    return held_at(names,
                   tts_hashtable_find(place_table(names, BY_NAME), hash_name(names, name),
                                      is_entry_named, names->held, name));
}

struct tts_devseq_held *tts_devseq_names_at(struct tts_devseq_names *names, enum tts_pool pool,
                                            uint64_t address)
{
    const struct tts_devseq_held like = {.buffer = {.pool = pool, .address = address}};
    return held_at(names, tts_hashtable_find(place_table(names, BY_PLACE),
                                             hash_held(names, BY_PLACE, &like), is_entry_at,
                                             names->held, &like.buffer));
}

struct tts_devseq_held *tts_devseq_names_add(struct tts_devseq_names *names,
                                             const struct tts_devseq_name *name)
{
    assert(!tts_devseq_names_find(names, name));
    if (names->count == TTS_DEVSEQ_NAMES_MAX)
        return NULL;
    struct tts_devseq_held *held = tts_alloc_grow(names->alloc, names->held, &names->capacity,
                                                  names->count + 1, sizeof *held);
    if (!held)
        return NULL;
    names->held = held;
    held += names->count;
    *held = (struct tts_devseq_held){.name = *name};
    if (tts_hashtable_reserve(place_table(names, BY_PLACE), names->count + 1) != TTS_OK ||
        tts_hashtable_add(place_table(names, BY_NAME), hash_name(names, name),
                          (uint32_t)names->count) != TTS_OK)
        return NULL;
    names->count++;
    return held;
}

void tts_devseq_names_bind(struct tts_devseq_names *names, struct tts_devseq_held *held,
                           const struct tts_buffer *buffer)
{
    assert(!held->live);
    assert(!buffer->placed || !tts_devseq_names_at(names, buffer->pool, buffer->address));
    held->live = true;
    held->buffer = *buffer;
    if (!is_listed(BY_PLACE, held))
        return;
    enum tts_status status =
        tts_hashtable_add(place_table(names, BY_PLACE), hash_held(names, BY_PLACE, held),
                          (uint32_t)(held - names->held));
    assert(status == TTS_OK); /* cannot fail: tts_devseq_names_add() reserved the room */
    (void)status;
}

static void free_sharding(struct tts_devseq_names *names, struct tts_devseq_held *held)
{
    if (held->sharding)
        names->alloc->free(names->alloc->ctx, held->sharding, sizeof *held->sharding);
    held->sharding = NULL;
}

/* Removes entry `idx` from a table. The caller then moves the last entry to `idx`, so the table
 * is told the new index of that entry. */
static void unlist_entry(struct tts_devseq_names *names, int key, uint32_t idx)
{
    const struct tts_devseq_held *held = &names->held[idx];
    uint32_t last_idx = (uint32_t)names->count - 1;
    const struct tts_devseq_held *last = &names->held[last_idx];
    if (is_listed(key, held))
        tts_hashtable_remove(place_table(names, key), hash_held(names, key, held), idx);
    if (last != held && is_listed(key, last))
        tts_hashtable_move(place_table(names, key), hash_held(names, key, last), last_idx, idx);
}

void tts_devseq_names_remove(struct tts_devseq_names *names, struct tts_devseq_held *held)
{
    uint32_t idx = (uint32_t)(held - names->held);
    assert(idx < names->count);
    free_sharding(names, held);
    unlist_entry(names, BY_NAME, idx);
    unlist_entry(names, BY_PLACE, idx);
    *held = names->held[--names->count];
}

void tts_devseq_names_release(struct tts_devseq_names *names)
{
    const struct tts_alloc *alloc = names->alloc;
    for (size_t i = 0; i < names->count; i++)
        free_sharding(names, &names->held[i]);
    if (names->held)
        alloc->free(alloc->ctx, names->held, names->capacity * sizeof *names->held);
    tts_hashtable_release(&names->tables[BY_NAME]);
    tts_hashtable_release(&names->tables[BY_PLACE]);
    *names = (struct tts_devseq_names){.alloc = alloc};
}
