#include "model/ledger.h"

#include "base/compiler.h"
#include "base/heap.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* RUN consecutive ids have their best places side by side, in one cache line. */
enum { RUN = 4, LINE_BYTES = 64, FIRST_BITS = 10, MOST_BITS = 31 };
/* Tables up to this width are at most a quarter full, because they are mostly in the caches,
 * and there a second probe costs more (a mispredicted branch) than the larger table. Wider
 * tables are at most half full. */
static const uint32_t ROOMY_WIDTH = UINT32_C(1) << 17;

static const uint64_t GOLDEN = UINT64_C(0x9e3779b97f4a7c15); /* golden ratio of 2^64 */
static const uint64_t SECRET = (UINT64_C(1) << 36) - 1; /* bits of the step that are secret */
static const uint64_t DEVICE_STEP =
    UINT64_C(0xd1342543de82ef95); /* puts the ids of different devices far apart */

struct slot {
    uint64_t id;
    /* 0 if the slot is empty. Otherwise, from the highest bits: size, device, 1 + pool. */
    uint64_t word;
};

/* The second table has a note for each buffer, at the same place as the slot. A note has seq
 * and op. If IN_L1 is set, the note has the index of the L1 part instead, and the L1 part has
 * seq and op. */
#define IN_L1 (UINT64_C(1) << 63)

enum { POOL_BITS = 3, DEVICE_BITS = 8, OP_BITS = 16 };
_Static_assert(sizeof(struct slot) * RUN == LINE_BYTES, "a run is a cache line");
_Static_assert(TTS_POOLS < 1 << POOL_BITS && TTS_LEDGER_DEVICES == 1 << DEVICE_BITS, "fits");
_Static_assert(TTS_LEDGER_SIZE_MAX == UINT64_MAX >> (POOL_BITS + DEVICE_BITS), "fits");

/* tts_ledger_new() allocates tables of growing width, one after the other in memory, up to the
 * width for live_max. Wider tables, and room for more than live_max L1 parts, are allocated
 * when needed. */
struct tts_ledger {
    struct slot *slots;
    uint64_t *notes;
    uint32_t mask, shift; /* width of the table - 1, and shift from a hash to a place */
    uint32_t count, full; /* number of entries; the table grows when it reaches `full` */
    uint32_t live_max;
    uint32_t l1_max; /* number of L1 parts for which there is memory */
    /* Heads of the lists of used and free L1 parts, and number of L1 parts that were ever
     * used. */
    uint32_t l1_head, l1_free, l1_used;
    uint64_t step; /* multiplier of the hash */
    struct tts_l1_entry *l1;
    struct slot *first_slots;
    uint64_t *first_notes;
    struct tts_l1_entry *first_l1;
    void *slot_memory; /* allocation that contains the aligned first_slots */
    void *more;        /* table that is wider than the tables of tts_ledger_new(), or NULL */
    const struct tts_alloc *alloc;
    /* Allocator for memory that is allocated during an event. */
    const struct tts_alloc *more_alloc;
};

/* ---- words of slots ---- */

static inline uint64_t entry_word(struct tts_entry entry)
{
    assert(entry.size_bytes <= TTS_LEDGER_SIZE_MAX && entry.pool < TTS_POOLS);
    return entry.size_bytes << (DEVICE_BITS + POOL_BITS) | (uint64_t)entry.device << POOL_BITS |
           (entry.pool + 1u);
}

static inline uint8_t device_in_word(uint64_t word)
{
    return (uint8_t)(word >> POOL_BITS);
}

/* ---- creation and release ---- */

static uint32_t full_count_at(uint64_t width)
{
    return (uint32_t)(width <= ROOMY_WIDTH ? width / 4 : width / 2);
}

static uint64_t last_table_width(uint32_t live_max)
{
    uint64_t width = UINT64_C(1) << FIRST_BITS;
    while (full_count_at(width) < live_max)
        width *= 2;
    return width;
}

/* Returns the number of slots of all first tables together. The sum does not overflow, because
 * live_max is limited. */
static size_t all_table_slots(uint32_t live_max)
{
    return (size_t)(2 * last_table_width(live_max) - (UINT64_C(1) << FIRST_BITS));
}

static size_t slot_bytes(uint32_t live_max)
{
    return all_table_slots(live_max) * sizeof(struct slot) + LINE_BYTES - 1;
}

static size_t notes_bytes(uint32_t live_max)
{
    return all_table_slots(live_max) * sizeof(uint64_t);
}

static size_t l1_bytes(uint32_t live_max)
{
    return (size_t)live_max * sizeof(struct tts_l1_entry);
}

static uint64_t mixed_seed(uint64_t seed)
{
    seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
    return seed ^ seed >> 31;
}

static struct slot *aligned_bytes(void *memory)
{
    size_t astray = (uintptr_t)memory % LINE_BYTES;
    char *first = (char *)memory + (astray ? LINE_BYTES - astray : 0);
    return (struct slot *)(void *)first;
}

enum tts_status tts_ledger_new(uint32_t live_max, uint64_t seed, const struct tts_alloc *alloc,
                               struct tts_ledger **out)
{
    if (live_max == 0 || live_max > TTS_LEDGER_LIVE_MAX)
        return TTS_E_INVALID;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_ledger *ledger = alloc->alloc(alloc->ctx, sizeof(*ledger));
    if (!ledger)
        return TTS_E_NOMEM;
    *ledger = (struct tts_ledger){
        .live_max = live_max,
        .alloc = alloc,
        .more_alloc = alloc == tts_alloc_libc() ? tts_alloc_pages() : alloc,
    };
    ledger->slot_memory = alloc->alloc(alloc->ctx, slot_bytes(live_max));
    ledger->first_notes = alloc->alloc(alloc->ctx, notes_bytes(live_max));
    ledger->first_l1 = alloc->alloc(alloc->ctx, l1_bytes(live_max));
    if (!ledger->slot_memory || !ledger->first_notes || !ledger->first_l1) {
        tts_ledger_free(ledger);
        return TTS_E_NOMEM;
    }
    ledger->first_slots = aligned_bytes(ledger->slot_memory);
    ledger->step = (GOLDEN & ~SECRET) | (mixed_seed(seed) & SECRET) | 1;
    tts_ledger_reset(ledger);
    *out = ledger;
    return TTS_OK;
}

static uint64_t table_width_of(const struct tts_ledger *ledger)
{
    return (uint64_t)ledger->mask + 1;
}

/* Returns the size of a table with its slots and notes. */
static size_t table_bytes(uint64_t width)
{
    return (size_t)width * (sizeof(struct slot) + sizeof(uint64_t)) + LINE_BYTES - 1;
}

/* Frees the memory that was allocated after tts_ledger_new(). */
static void give_more_memory(struct tts_ledger *ledger)
{
    const struct tts_alloc *alloc = ledger->more_alloc;
    if (ledger->more)
        alloc->free(alloc->ctx, ledger->more, table_bytes(table_width_of(ledger)));
    if (ledger->l1 && ledger->l1 != ledger->first_l1)
        alloc->free(alloc->ctx, ledger->l1, l1_bytes(ledger->l1_max));
    ledger->more = NULL;
    ledger->l1 = ledger->first_l1;
    ledger->l1_max = ledger->live_max;
}

void tts_ledger_free(struct tts_ledger *ledger)
{
    if (!ledger)
        return;
    const struct tts_alloc *alloc = ledger->alloc;
    give_more_memory(ledger);
    if (ledger->slot_memory)
        alloc->free(alloc->ctx, ledger->slot_memory, slot_bytes(ledger->live_max));
    if (ledger->first_notes)
        alloc->free(alloc->ctx, ledger->first_notes, notes_bytes(ledger->live_max));
    if (ledger->first_l1)
        alloc->free(alloc->ctx, ledger->first_l1, l1_bytes(ledger->live_max));
    alloc->free(alloc->ctx, ledger, sizeof(*ledger));
}

static void set_full(struct tts_ledger *ledger)
{
    uint32_t full = full_count_at(table_width_of(ledger));
    ledger->full = full < ledger->l1_max ? full : ledger->l1_max;
}

static void set_table(struct tts_ledger *ledger, struct slot *slots, uint64_t *notes,
                      uint32_t bits)
{
    assert(bits >= FIRST_BITS && bits <= MOST_BITS);
    ledger->slots = slots;
    ledger->notes = notes;
    ledger->mask = (UINT32_C(1) << bits) - 1;
    ledger->shift = 64 - bits;
    set_full(ledger);
}

/* Makes one of the tables of tts_ledger_new() the current table. */
static void set_first_table(struct tts_ledger *ledger, size_t first, uint32_t bits)
{
    struct slot *slots = ledger->first_slots + first;
    set_table(ledger, slots, ledger->first_notes + first, bits);
    memset(slots, 0, sizeof(*slots) << bits);
}

/* Allocates a table that is wider than the tables of tts_ledger_new(). Returns false if there
 * is no memory. */
static bool set_more_table(struct tts_ledger *ledger, uint32_t bits)
{
    const struct tts_alloc *alloc = ledger->more_alloc;
    uint64_t width = UINT64_C(1) << bits;
    void *memory = bits <= MOST_BITS ? alloc->alloc(alloc->ctx, table_bytes(width)) : NULL;
    if (!memory)
        return false;
    struct slot *slots = aligned_bytes(memory);
    /* New pages contain zeros already. Not clearing them leaves them untouched until they are
     * used. */
    if (alloc != tts_alloc_pages())
        memset(slots, 0, sizeof(*slots) << bits);
    ledger->more = memory;
    set_table(ledger, slots, (uint64_t *)(void *)(slots + width), bits);
    return true;
}

void tts_ledger_reset(struct tts_ledger *ledger)
{
    give_more_memory(ledger);
    set_first_table(ledger, 0, FIRST_BITS);
    ledger->count = ledger->l1_used = 0;
    ledger->l1_head = ledger->l1_free = TTS_LEDGER_NONE;
}

/* ---- the table ---- */

/* Returns the place where the search for an id starts. Ids are mostly consecutive, and a step
 * near the golden ratio spreads them evenly. The lower bits of the step are secret, so that
 * nobody can choose ids that all have the same place. */
static TTS_FORCE_INLINE uint32_t best_entry_place(const struct tts_ledger *ledger,
                                                  uint8_t device, uint64_t id)
{
    uint64_t hash = (id / RUN + device * DEVICE_STEP) * ledger->step;
    return ((uint32_t)(hash >> ledger->shift) & ~(uint32_t)(RUN - 1)) | (uint32_t)(id % RUN);
}

/* Returns the place of the key, or of the empty slot where the key would be entered. */
static TTS_FORCE_INLINE uint32_t look_up_place(const struct tts_ledger *ledger, uint8_t device,
                                               uint64_t id)
{
    for (uint32_t i = best_entry_place(ledger, device, id);; i = (i + 1) & ledger->mask) {
        const struct slot *slot = &ledger->slots[i];
        if (!slot->word || (slot->id == id && device_in_word(slot->word) == device))
            return i;
    }
}

/* Doubles the width of the table. Returns false if there is no memory; nothing changes then. */
TTS_COLD static bool widen_ledger_table(struct tts_ledger *ledger)
{
    const struct slot *slots = ledger->slots;
    const uint64_t *notes = ledger->notes;
    uint64_t width = table_width_of(ledger);
    uint32_t bits = 64 + 1 - ledger->shift;
    void *before = ledger->more;
    if (width < last_table_width(ledger->live_max))
        set_first_table(ledger, (size_t)(slots - ledger->first_slots + (ptrdiff_t)width), bits);
    else if (!set_more_table(ledger, bits))
        return false;
    for (uint64_t i = 0; i < width; i++) {
        if (!slots[i].word)
            continue;
        uint32_t place = look_up_place(ledger, device_in_word(slots[i].word), slots[i].id);
        ledger->slots[place] = slots[i];
        ledger->notes[place] = notes[i];
    }
    if (before)
        ledger->more_alloc->free(ledger->more_alloc->ctx, before, table_bytes(width));
    return true;
}

/* Doubles the room for L1 parts. Returns false if there is no memory; nothing changes then. */
TTS_COLD static bool make_l1_room(struct tts_ledger *ledger)
{
    const struct tts_alloc *alloc = ledger->more_alloc;
    if (ledger->l1_max > UINT32_C(1) << (MOST_BITS - 2))
        return false;
    struct tts_l1_entry *l1 = alloc->alloc(alloc->ctx, l1_bytes(2 * ledger->l1_max));
    if (!l1)
        return false;
    memcpy(l1, ledger->l1, ledger->l1_used * sizeof(*l1));
    if (ledger->l1 != ledger->first_l1)
        alloc->free(alloc->ctx, ledger->l1, l1_bytes(ledger->l1_max));
    ledger->l1 = l1;
    ledger->l1_max *= 2;
    return true;
}

/* Makes room for one more entry. Returns false if there is no memory. */
TTS_COLD static bool make_table_room(struct tts_ledger *ledger)
{
    assert(ledger->count == ledger->full);
    if ((ledger->count == ledger->l1_max && !make_l1_room(ledger)) ||
        (ledger->count == full_count_at(table_width_of(ledger)) && !widen_ledger_table(ledger)))
        return false;
    set_full(ledger);
    tts_assert_expensive(tts_ledger_is_valid(ledger));
    return true;
}

void tts_ledger_expect(struct tts_ledger *ledger, uint64_t count)
{
    /* Limit the count to live_max, because the count may come from a damaged file. Room for
     * more is made when the entries come. */
    uint64_t most = count < ledger->live_max ? count : ledger->live_max;
    while (full_count_at(table_width_of(ledger)) < most && widen_ledger_table(ledger))
        continue;
}

uint32_t tts_ledger_find(const struct tts_ledger *ledger, uint8_t device, uint64_t id)
{
    uint32_t place = look_up_place(ledger, device, id);
    return ledger->slots[place].word ? place : TTS_LEDGER_NONE;
}

static TTS_FORCE_INLINE void write_entry(struct tts_ledger *ledger, uint32_t place,
                                         struct tts_entry entry)
{
    ledger->slots[place] = (struct slot){.id = entry.id, .word = entry_word(entry)};
    assert(entry.seq < IN_L1 >> OP_BITS);
    ledger->notes[place] = entry.seq << OP_BITS | entry.op;
}

uint32_t tts_ledger_enter(struct tts_ledger *ledger, struct tts_entry entry, bool *is_new)
{
    uint32_t place = look_up_place(ledger, entry.device, entry.id);
    *is_new = !ledger->slots[place].word;
    if (TTS_UNLIKELY(!*is_new))
        return place;
    if (TTS_UNLIKELY(ledger->count == ledger->full)) {
        if (!make_table_room(ledger))
            return TTS_LEDGER_NONE;
        place = look_up_place(ledger, entry.device, entry.id);
    }
    ledger->count++;
    write_entry(ledger, place, entry);
    return place;
}

void tts_ledger_replace(struct tts_ledger *ledger, uint32_t place, struct tts_entry entry)
{
    assert(ledger->slots[place].id == entry.id && !tts_ledger_l1(ledger, place));
    write_entry(ledger, place, entry);
}

/* Fills a gap in the table: moves each entry between the gap and the next empty slot back into
 * the gap, unless the entry would then be before its best place. */
static TTS_FORCE_INLINE void close_entry_gap(struct tts_ledger *ledger, uint32_t gap)
{
    struct slot *slots = ledger->slots;
    uint32_t mask = ledger->mask;
    for (uint32_t i = (gap + 1) & mask; slots[i].word; i = (i + 1) & mask) {
        uint32_t best = best_entry_place(ledger, device_in_word(slots[i].word), slots[i].id);
        if (((i - best) & mask) < ((i - gap) & mask))
            continue;
        slots[gap] = slots[i];
        ledger->notes[gap] = ledger->notes[i];
        gap = i;
    }
    slots[gap].word = 0;
}

void tts_ledger_remove(struct tts_ledger *ledger, uint32_t place)
{
    assert(place <= ledger->mask && ledger->slots[place].word && ledger->count > 0);
    if (TTS_UNLIKELY(tts_pool_is_l1(tts_ledger_pool(ledger, place))))
        tts_ledger_drop_l1(ledger, place);
    ledger->count--;
    close_entry_gap(ledger, place);
}

struct tts_entry tts_ledger_read(const struct tts_ledger *ledger, uint32_t place)
{
    const struct slot *slot = &ledger->slots[place];
    const struct tts_l1_entry *part = tts_ledger_l1(ledger, place);
    uint64_t note = ledger->notes[place];
    assert(place <= ledger->mask && slot->word);
    return (struct tts_entry){.id = slot->id,
                              .size_bytes = tts_ledger_size(ledger, place),
                              .seq = part ? part->seq : note >> OP_BITS,
                              .op = part ? part->op : (uint16_t)note,
                              .device = device_in_word(slot->word),
                              .pool = (uint8_t)tts_ledger_pool(ledger, place)};
}

enum tts_pool tts_ledger_pool(const struct tts_ledger *ledger, uint32_t place)
{
    return (enum tts_pool)((ledger->slots[place].word & ((1u << POOL_BITS) - 1)) - 1);
}

uint64_t tts_ledger_size(const struct tts_ledger *ledger, uint32_t place)
{
    return ledger->slots[place].word >> (DEVICE_BITS + POOL_BITS);
}

uint32_t tts_ledger_count(const struct tts_ledger *ledger)
{
    return ledger->count;
}

uint32_t tts_ledger_next(const struct tts_ledger *ledger, uint32_t *cursor)
{
    while (*cursor <= ledger->mask) {
        uint32_t place = (*cursor)++;
        if (ledger->slots[place].word)
            return place;
    }
    return TTS_LEDGER_NONE;
}

/* ---- parts in L1 ---- */

/* Returns the index of an unused L1 part: the one that was dropped last, because it is most
 * likely in the cache. */
static uint32_t take_unused_l1(struct tts_ledger *ledger)
{
    uint32_t idx = ledger->l1_free;
    if (idx == TTS_LEDGER_NONE)
        return ledger->l1_used++;
    ledger->l1_free = ledger->l1[idx].next;
    return idx;
}

struct tts_l1_entry *tts_ledger_add_l1(struct tts_ledger *ledger, uint32_t place)
{
    const struct slot *slot = &ledger->slots[place];
    uint64_t note = ledger->notes[place];
    assert(!tts_ledger_l1(ledger, place));
    assert(tts_pool_is_l1(tts_ledger_pool(ledger, place)));
    uint32_t idx = take_unused_l1(ledger);
    assert(idx < ledger->l1_max); /* there are never more parts than entries */
    struct tts_l1_entry *part = &ledger->l1[idx];
    *part = (struct tts_l1_entry){.id = slot->id,
                                  .seq = note >> OP_BITS,
                                  .next = ledger->l1_head,
                                  .prev = TTS_LEDGER_NONE,
                                  .op = (uint16_t)note,
                                  .device = device_in_word(slot->word),
                                  .pool = (uint8_t)tts_ledger_pool(ledger, place)};
    if (part->next != TTS_LEDGER_NONE)
        ledger->l1[part->next].prev = idx;
    ledger->l1_head = idx;
    ledger->notes[place] = IN_L1 | idx;
    return part;
}

struct tts_l1_entry *tts_ledger_l1(const struct tts_ledger *ledger, uint32_t place)
{
    uint64_t note = ledger->notes[place];
    assert(ledger->slots[place].word && (!(note & IN_L1) || (uint32_t)note < ledger->l1_used));
    return note & IN_L1 ? &ledger->l1[(uint32_t)note] : NULL;
}

void tts_ledger_drop_l1(struct tts_ledger *ledger, uint32_t place)
{
    struct tts_l1_entry *part = tts_ledger_l1(ledger, place);
    if (!part)
        return;
    if (part->prev != TTS_LEDGER_NONE)
        ledger->l1[part->prev].next = part->next;
    else
        ledger->l1_head = part->next;
    if (part->next != TTS_LEDGER_NONE)
        ledger->l1[part->next].prev = part->prev;
    part->next = ledger->l1_free;
    ledger->l1_free = (uint32_t)(part - ledger->l1);
    ledger->notes[place] = part->seq << OP_BITS | part->op;
}

uint32_t tts_ledger_l1_head(const struct tts_ledger *ledger)
{
    return ledger->l1_head;
}

const struct tts_l1_entry *tts_ledger_l1_next(const struct tts_ledger *ledger, uint32_t *cursor)
{
    if (*cursor == TTS_LEDGER_NONE)
        return NULL;
    assert(*cursor < ledger->l1_used);
    const struct tts_l1_entry *part = &ledger->l1[*cursor];
    *cursor = part->next;
    return part;
}

/* ---- the whole ledger ---- */

static bool is_l1_part_valid(const struct tts_ledger *ledger, const struct tts_l1_entry *part,
                             uint32_t before)
{
    uint32_t place = tts_ledger_find(ledger, part->device, part->id);
    if (place == TTS_LEDGER_NONE || tts_ledger_l1(ledger, place) != part ||
        part->prev != before)
        return false;
    struct tts_entry entry = tts_ledger_read(ledger, place);
    return entry.seq == part->seq && entry.op == part->op && entry.pool == part->pool;
}

bool tts_ledger_is_valid(const struct tts_ledger *ledger)
{
    uint32_t cursor = 0, count = 0, parts = 0, listed = 0, before = TTS_LEDGER_NONE;
    for (uint32_t at; (at = tts_ledger_next(ledger, &cursor)) != TTS_LEDGER_NONE; count++) {
        if (look_up_place(ledger, device_in_word(ledger->slots[at].word),
                          ledger->slots[at].id) != at)
            return false;
        parts += (ledger->notes[at] & IN_L1) != 0;
    }
    for (cursor = ledger->l1_head; cursor != TTS_LEDGER_NONE;) {
        uint32_t at = cursor;
        if (listed++ == parts || !is_l1_part_valid(ledger, &ledger->l1[at], before))
            return false;
        cursor = ledger->l1[at].next;
        before = at;
    }
    return count == ledger->count && count <= ledger->full && ledger->full <= ledger->l1_max &&
           listed == parts;
}
