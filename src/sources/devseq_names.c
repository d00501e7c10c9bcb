#include "sources/devseq_names.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

enum { CAPACITY_MIN = 16 };

/* What the two tables are about. */
enum key { BY_NAME, BY_PLACE };

static uint32_t *table_of(const struct tts_devseq_names *names, enum key key)
{
    return key == BY_NAME ? names->slots : names->slots + 2 * names->capacity;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static size_t home_of(const struct tts_devseq_names *names, enum key key,
                      const struct tts_devseq_held *held)
{
    uint64_t hash = TTS_FNV1A64_INIT ^ names->seed;
    if (key == BY_PLACE)
        hash = mix(mix(hash, held->buffer.pool), held->buffer.address);
    for (size_t i = 0; key == BY_NAME && i < sizeof held->name.text; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, held->name.text + i, sizeof word);
        hash = mix(hash, word);
    }
    return (size_t)hash & (2 * names->capacity - 1);
}

static bool are_same(enum key key, const struct tts_devseq_held *a,
                     const struct tts_devseq_held *b)
{
    if (key == BY_PLACE)
        return a->buffer.pool == b->buffer.pool && a->buffer.address == b->buffer.address;
    return memcmp(&a->name, &b->name, sizeof a->name) == 0;
}

static bool is_in(enum key key, const struct tts_devseq_held *held)
{
    return key == BY_NAME || (held->live && held->buffer.placed);
}

static size_t next_slot(const struct tts_devseq_names *names, size_t slot)
{
    return (slot + 1) & (2 * names->capacity - 1);
}

/* The slot of an entry like this, or the empty one where it would be. */
static size_t slot_of(const struct tts_devseq_names *names, enum key key,
                      const struct tts_devseq_held *held)
{
    const uint32_t *slots = table_of(names, key);
    size_t slot = home_of(names, key, held);
    while (slots[slot] != 0 && !are_same(key, &names->held[slots[slot] - 1], held))
        slot = next_slot(names, slot);
    return slot;
}

static void fill_slot(struct tts_devseq_names *names, enum key key, size_t idx)
{
    const struct tts_devseq_held *held = &names->held[idx];
    if (is_in(key, held))
        table_of(names, key)[slot_of(names, key, held)] = (uint32_t)idx + 1;
}

static bool grow(struct tts_devseq_names *names)
{
    const struct tts_alloc *alloc = names->alloc;
    size_t capacity = names->capacity ? 2 * names->capacity : CAPACITY_MIN;
    if (capacity > TTS_DEVSEQ_NAMES_MAX)
        return false;
    size_t slots_bytes = 4 * capacity * sizeof *names->slots;
    uint32_t *slots = alloc->alloc(alloc->ctx, slots_bytes);
    if (!slots)
        return false;
    size_t held_bytes = capacity * sizeof *names->held;
    struct tts_devseq_held *held =
        names->held ? alloc->resize(alloc->ctx, names->held,
                                    names->capacity * sizeof *names->held, held_bytes)
                    : alloc->alloc(alloc->ctx, held_bytes);
    if (!held) {
        alloc->free(alloc->ctx, slots, slots_bytes);
        return false;
    }
    if (names->slots)
        alloc->free(alloc->ctx, names->slots, 4 * names->capacity * sizeof *names->slots);
    memset(slots, 0, slots_bytes);
    names->held = held;
    names->slots = slots;
    names->capacity = capacity;
    for (size_t i = 0; i < names->count; i++) {
        fill_slot(names, BY_NAME, i);
        fill_slot(names, BY_PLACE, i);
    }
    return true;
}

static struct tts_devseq_held *find(struct tts_devseq_names *names, enum key key,
                                    const struct tts_devseq_held *like)
{
    if (names->count == 0)
        return NULL;
    uint32_t found = table_of(names, key)[slot_of(names, key, like)];
    return found ? &names->held[found - 1] : NULL;
}

struct tts_devseq_held *tts_devseq_names_find(struct tts_devseq_names *names,
                                              const struct tts_devseq_name *name)
{
    return find(names, BY_NAME, &(struct tts_devseq_held){.name = *name});
}

struct tts_devseq_held *tts_devseq_names_at(struct tts_devseq_names *names, enum tts_pool pool,
                                            uint64_t address)
{
    return find(names, BY_PLACE,
                &(struct tts_devseq_held){.buffer = {.pool = pool, .address = address}});
}

struct tts_devseq_held *tts_devseq_names_add(struct tts_devseq_names *names,
                                             const struct tts_devseq_name *name)
{
    if (names->count == names->capacity && !grow(names))
        return NULL;
    struct tts_devseq_held *held = &names->held[names->count];
    *held = (struct tts_devseq_held){.name = *name};
    assert(names->slots[slot_of(names, BY_NAME, held)] == 0);
    fill_slot(names, BY_NAME, names->count++);
    return held;
}

void tts_devseq_names_bind(struct tts_devseq_names *names, struct tts_devseq_held *held,
                           const struct tts_buffer *buffer)
{
    assert(!held->live);
    held->live = true;
    held->buffer = *buffer;
    assert(!buffer->placed || !tts_devseq_names_at(names, buffer->pool, buffer->address));
    fill_slot(names, BY_PLACE, (size_t)(held - names->held));
}

static void free_sharding(struct tts_devseq_names *names, struct tts_devseq_held *held)
{
    if (held->sharding)
        names->alloc->free(names->alloc->ctx, held->sharding, sizeof *held->sharding);
    held->sharding = NULL;
}

/* Closes the hole: what stands behind it and came from before it moves in. */
static void empty_slot(struct tts_devseq_names *names, enum key key, size_t hole)
{
    uint32_t *slots = table_of(names, key);
    size_t mask = 2 * names->capacity - 1;
    slots[hole] = 0;
    for (size_t at = next_slot(names, hole); slots[at] != 0; at = next_slot(names, at)) {
        size_t home = home_of(names, key, &names->held[slots[at] - 1]);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* its home lies behind the hole */
        slots[hole] = slots[at];
        slots[at] = 0;
        hole = at;
    }
}

/* Takes entry `idx` out of a table; the last entry will stand in its place. */
static void unlist(struct tts_devseq_names *names, enum key key, size_t idx)
{
    const struct tts_devseq_held *held = &names->held[idx], *last;
    last = &names->held[names->count - 1];
    if (is_in(key, held))
        empty_slot(names, key, slot_of(names, key, held));
    if (last != held && is_in(key, last))
        table_of(names, key)[slot_of(names, key, last)] = (uint32_t)idx + 1;
}

void tts_devseq_names_remove(struct tts_devseq_names *names, struct tts_devseq_held *held)
{
    size_t idx = (size_t)(held - names->held);
    assert(idx < names->count);
    free_sharding(names, held);
    unlist(names, BY_NAME, idx);
    unlist(names, BY_PLACE, idx);
    *held = names->held[--names->count];
}

void tts_devseq_names_release(struct tts_devseq_names *names)
{
    const struct tts_alloc *alloc = names->alloc;
    for (size_t i = 0; i < names->count; i++)
        free_sharding(names, &names->held[i]);
    if (names->held)
        alloc->free(alloc->ctx, names->held, names->capacity * sizeof *names->held);
    if (names->slots)
        alloc->free(alloc->ctx, names->slots, 4 * names->capacity * sizeof *names->slots);
    *names = (struct tts_devseq_names){.alloc = alloc};
}
