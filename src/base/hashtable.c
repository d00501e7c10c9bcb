#include "base/hashtable.h"

#include <assert.h>
#include <string.h>

enum { WIDTH_MIN = 64 };

void tts_hashtable_release(struct tts_hashtable *table)
{
    if (table->slots)
        table->alloc->free(table->alloc->ctx, table->slots,
                           table->width * sizeof *table->slots);
    *table = (struct tts_hashtable){.alloc = table->alloc};
}

/* Copies an entry to the first empty slot at or after the slot of its hash. */
static void put_slot(struct tts_hashtable *table, struct tts_hashtable_slot slot)
{
    size_t at = slot.hash & (table->width - 1);
    while (table->slots[at].place_1 != 0)
        at = (at + 1) & (table->width - 1);
    table->slots[at] = slot;
    table->count++;
}

static bool widen_table(struct tts_hashtable *table)
{
    struct tts_hashtable wide = {.alloc = table->alloc,
                                 .width = table->width ? 2 * table->width : WIDTH_MIN};
    size_t bytes = wide.width * sizeof *wide.slots;
    wide.slots = table->alloc->alloc(table->alloc->ctx, bytes);
    if (!wide.slots)
        return false;
    memset(wide.slots, 0, bytes);
    for (size_t i = 0; i < table->width; i++)
        if (table->slots[i].place_1 != 0)
            put_slot(&wide, table->slots[i]);
    assert(wide.count == table->count);
    tts_hashtable_release(table);
    *table = wide;
    return true;
}

enum tts_status tts_hashtable_reserve(struct tts_hashtable *table, size_t count)
{
    while (count > table->width / 2)
        if (!widen_table(table))
            return TTS_E_NOMEM;
    return TTS_OK;
}

enum tts_status tts_hashtable_add(struct tts_hashtable *table, uint32_t hash, uint32_t place)
{
    assert(place < TTS_HASHTABLE_NONE);
    if (tts_hashtable_reserve(table, table->count + 1) != TTS_OK)
        return TTS_E_NOMEM;
    put_slot(table, (struct tts_hashtable_slot){hash, place + 1});
    return TTS_OK;
}

static size_t slot_of_place(const struct tts_hashtable *table, uint32_t hash, uint32_t place)
{
    size_t at = hash & (table->width - 1);
    assert(table->count > 0);
    while (table->slots[at].place_1 != place + 1) {
        assert(table->slots[at].place_1 != 0); /* otherwise the table does not have the entry */
        at = (at + 1) & (table->width - 1);
    }
    return at;
}

void tts_hashtable_remove(struct tts_hashtable *table, uint32_t hash, uint32_t place)
{
    size_t mask = table->width - 1, hole = slot_of_place(table, hash, place);
    /* Move later entries of the chain into the hole: a search ends at an empty slot and would
     * not find them. */
    for (size_t at = (hole + 1) & mask; table->slots[at].place_1 != 0; at = (at + 1) & mask) {
        if (((at - table->slots[at].hash) & mask) < ((at - hole) & mask))
            continue;
        table->slots[hole] = table->slots[at];
        hole = at;
    }
    table->slots[hole] = (struct tts_hashtable_slot){0};
    table->count--;
}

void tts_hashtable_move(struct tts_hashtable *table, uint32_t hash, uint32_t from, uint32_t to)
{
    table->slots[slot_of_place(table, hash, from)].place_1 = to + 1;
}
