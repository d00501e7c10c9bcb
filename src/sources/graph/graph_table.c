#include "sources/graph/graph_table.h"

#include "base/compiler.h"

#include <assert.h>
#include <string.h>

enum { FIRST_WIDTH = 1024, ID_BITS = 48, SIZE_BITS = 53 };
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)
#define ID_MASK ((UINT64_C(1) << ID_BITS) - 1)

/* One buffer in 16 bytes. `key` packs the id + 1 (0 means a free slot) and the device; `facts`
 * packs size, pool, memory and is_allocated. */
struct tts_graph_slot {
    uint64_t key, facts;
};

static struct tts_graph_slot pack_slot(const struct tts_graph_buffer *buffer)
{
    assert(buffer->id <= TTS_GRAPH_ID_MAX && buffer->size_bytes <= TTS_GRAPH_SIZE_MAX);
    assert(buffer->pool < 8 && buffer->memory < 4);
    return (struct tts_graph_slot){
        .key = (buffer->id + 1) | (uint64_t)buffer->device << ID_BITS,
        .facts = buffer->size_bytes | (uint64_t)buffer->pool << SIZE_BITS |
                 (uint64_t)buffer->memory << (SIZE_BITS + 3) |
                 (uint64_t)buffer->is_allocated << (SIZE_BITS + 5)};
}

static struct tts_graph_buffer unpack_slot(const struct tts_graph_slot *slot)
{
    uint64_t facts = slot->facts >> SIZE_BITS;
    return (struct tts_graph_buffer){.id = (slot->key & ID_MASK) - 1,
                                     .size_bytes =
                                         slot->facts & ((UINT64_C(1) << SIZE_BITS) - 1),
                                     .device = (uint8_t)(slot->key >> ID_BITS),
                                     .pool = facts & 7,
                                     .memory = facts >> 3 & 3,
                                     .is_allocated = facts >> 5 & 1};
}

static bool holds_id(const struct tts_graph_slot *slot, uint64_t id)
{
    return (slot->key & ID_MASK) == id + 1;
}

/* Returns the slot where the search for `id` begins. The step differs from run to run, so
 * nobody can build a file whose ids all begin at the same slot. */
static size_t home_slot(const struct tts_graph_table *table, uint64_t id)
{
    uint64_t mixed = id * table->step;
    return (size_t)(mixed >> 20 ^ mixed >> 44) & (table->width - 1);
}

/* Returns the slot of `id`, or the free slot where `id` belongs. */
static size_t find_slot(const struct tts_graph_table *table, uint64_t id)
{
    size_t at = home_slot(table, id);
    while (table->slots[at].key != 0 && !holds_id(&table->slots[at], id))
        at = (at + 1) & (table->width - 1);
    return at;
}

void tts_graph_table_release(struct tts_graph_table *table)
{
    if (table->slots)
        table->alloc->free(table->alloc->ctx, table->slots,
                           table->width * sizeof *table->slots);
    *table = (struct tts_graph_table){.alloc = table->alloc};
}

bool tts_graph_table_find(const struct tts_graph_table *table, uint64_t id,
                          struct tts_graph_buffer *out)
{
    if (table->count == 0 || id > TTS_GRAPH_ID_MAX)
        return false;
    const struct tts_graph_slot *slot = &table->slots[find_slot(table, id)];
    if (slot->key == 0)
        return false;
    *out = unpack_slot(slot);
    return true;
}

static enum tts_status grow_table(struct tts_graph_table *table)
{
    struct tts_graph_table wide = *table;
    wide.width = table->width ? 2 * table->width : FIRST_WIDTH;
    size_t bytes = wide.width * sizeof *wide.slots;
    wide.slots = table->alloc->alloc(table->alloc->ctx, bytes);
    if (!wide.slots)
        return TTS_E_NOMEM;
    memset(wide.slots, 0, bytes);
    wide.step = (GOLDEN ^ (uint64_t)(uintptr_t)wide.slots << 8) | 1;
    for (size_t i = 0; i < table->width; i++) {
        const struct tts_graph_slot *slot = &table->slots[i];
        if (slot->key != 0)
            wide.slots[find_slot(&wide, (slot->key & ID_MASK) - 1)] = *slot;
    }
    tts_graph_table_release(table);
    *table = wide;
    return TTS_OK;
}

enum tts_status tts_graph_table_put(struct tts_graph_table *table,
                                    const struct tts_graph_buffer *buffer)
{
    size_t at = table->width ? find_slot(table, buffer->id) : 0;
    if (table->width && table->slots[at].key != 0) {
        table->slots[at] = pack_slot(buffer);
        return TTS_OK;
    }
    if (table->count == TTS_GRAPH_BUFFERS_MAX)
        return TTS_E_RANGE;
    if (table->count >= table->width / 8 * 7) {
        enum tts_status status = grow_table(table);
        if (status != TTS_OK)
            return status;
        at = find_slot(table, buffer->id);
    }
    assert(table->slots[at].key == 0);
    table->slots[at] = pack_slot(buffer);
    table->count++;
    return TTS_OK;
}

void tts_graph_table_remove(struct tts_graph_table *table, uint64_t id)
{
    assert(table->count > 0);
    size_t hole = find_slot(table, id), mask = table->width - 1;
    assert(holds_id(&table->slots[hole], id));
    /* Close the gap: move later entries up, but no entry before the slot where its search
     * begins. */
    for (size_t at = (hole + 1) & mask; table->slots[at].key != 0; at = (at + 1) & mask) {
        size_t from_home = (at - home_slot(table, (table->slots[at].key & ID_MASK) - 1)) & mask;
        if (from_home >= ((at - hole) & mask)) {
            table->slots[hole] = table->slots[at];
            hole = at;
        }
    }
    table->slots[hole] = (struct tts_graph_slot){0};
    table->count--;
}

bool tts_graph_table_is_valid(const struct tts_graph_table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->width; i++) {
        const struct tts_graph_slot *slot = &table->slots[i];
        if (slot->key == 0)
            continue;
        count++;
        if (find_slot(table, (slot->key & ID_MASK) - 1) != i)
            return false;
    }
    return count == table->count && (count == 0 || count <= table->width / 8 * 7);
}
