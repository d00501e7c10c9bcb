#include "analysis/failure/failadvice.h"

#include <assert.h>
#include <string.h>

enum { TYPES_MAX = 2 }; /* types of a buffer that advice is given for */

/* What the rules need to know. */
struct advice_work {
    const struct tts_failmsg *msg;
    const struct tts_failverdict *verdict;
    struct tts_failadvice *out;
    /* Of a bank: the bytes asked for, and the largest free piece. If the message does not have
     * the largest piece, `room` is a size that the piece does not exceed; 0 is unknown. */
    uint64_t need, room;
    bool is_room_known;
};

static bool has_field(const struct advice_work *work, enum tts_failmsg_field field)
{
    return tts_failmsg_has(work->msg, field);
}

static uint64_t field_value(const struct advice_work *work, enum tts_failmsg_field field)
{
    return work->msg->value[field];
}

static struct tts_failadvice_item *add_item(struct advice_work *work,
                                            enum tts_failadvice_kind kind)
{
    assert(work->out->count < TTS_FAILADVICE_MAX);
    struct tts_failadvice_item *item = &work->out->items[work->out->count++];
    *item = (struct tts_failadvice_item){.kind = kind};
    return item;
}

static struct tts_failadvice_item *add_saving(struct advice_work *work,
                                              enum tts_failadvice_kind kind, uint64_t bytes)
{
    struct tts_failadvice_item *item = add_item(work, kind);
    item->bytes = item->saves_bytes = bytes;
    item->has_saves = true;
    return item;
}

/* Takes the largest free piece as room, else `bound`, a field that it does not exceed. With
 * dependencies, the largest piece of one allocator is a bound only. */
static void set_room(struct advice_work *work, enum tts_failmsg_field bound)
{
    bool has_largest = has_field(work, TTS_FAILMSG_LARGEST);
    uint64_t largest = field_value(work, TTS_FAILMSG_LARGEST);
    work->room = field_value(work, bound);
    if (has_largest && largest < work->room)
        work->room = largest;
    work->is_room_known = has_largest && work->msg->family == TTS_FAILMSG_V3;
}

/* Returns whether all free bytes of a bank are one piece. */
static bool is_free_one_piece(const struct advice_work *work)
{
    return work->is_room_known && !work->verdict->is_contradictory &&
           work->room == field_value(work, TTS_FAILMSG_FREE);
}

/* Adds an item that makes the need smaller. */
static struct tts_failadvice_item *add_smaller(struct advice_work *work,
                                               enum tts_failadvice_kind kind, uint64_t need)
{
    struct tts_failadvice_item *item = add_item(work, kind);
    item->bytes = need;
    item->has_saves = true;
    item->saves_bytes = work->need > need ? work->need - need : 0;
    item->is_enough = work->is_room_known && need <= work->room;
    item->has_enough = work->is_room_known || (work->room > 0 && need > work->room);
    return item;
}

/* ---- out of memory ---- */

/* Returns the next smaller type of a tile, or NULL. */
static const struct tts_failpage *smaller_page(uint64_t bytes)
{
    static const struct tts_failpage pages[] = {{2048, "bf16"}, {1088, "bfp8"}, {576, "bfp4"}};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (pages[i].bytes < bytes)
            return &pages[i];
    }
    return NULL;
}

/* Computes the need with the next smaller type, for each page size that explains the
 * message. */
static void advise_dtype(struct advice_work *work)
{
    const struct tts_failverdict *v = work->verdict;
    for (size_t i = 0; i < v->page_count && i < TYPES_MAX; i++) {
        const struct tts_failpage *from = &v->pages[i], *to = smaller_page(from->bytes);
        if (!to || from->bytes == 1024) /* an integer tile has no smaller type */
            continue;
        uint64_t tiles = field_value(work, TTS_FAILMSG_REQUESTED) / from->bytes;
        uint64_t need = tts_failverdict_need(tiles * to->bytes, to->bytes,
                                             field_value(work, TTS_FAILMSG_BANKS), 32);
        struct tts_failadvice_item *item = add_smaller(work, TTS_FAILADVICE_DTYPE, need);
        item->dtype = to->dtype;
        item->from_dtype = from->dtype;
        item->count = v->page_count;
    }
}

static void advise_half(struct advice_work *work)
{
    if (work->need > 1)
        add_smaller(work, TTS_FAILADVICE_HALF, work->need / 2 + work->need % 2);
}

/* Returns whether an empty pool of the preset holds the request besides all bytes that were
 * allocated. */
static bool has_preset_room(const struct advice_work *work, const struct tts_preset *preset,
                            uint64_t wanted, uint64_t *capacity)
{
    struct tts_chip chip;
    struct tts_pool_layout layout;
    struct tts_error err;
    const struct tts_failverdict *v = work->verdict;
    uint64_t page = v->page_count > 0 ? v->pages[0].bytes : 4096;
    if (tts_chip_preset(preset->name, &chip, &err) != TTS_OK ||
        chip.fact[TTS_FACT_CHIPS].value > 1 ||
        tts_chip_pool(&chip, TTS_POOL_DRAM, &layout, &err) != TTS_OK || layout.banks == 0)
        return false;
    *capacity = layout.banks * layout.bank_bytes;
    uint64_t need = tts_failverdict_need(field_value(work, TTS_FAILMSG_REQUESTED), page,
                                         layout.banks, layout.page_alignment_bytes);
    return need <= layout.bank_bytes && wanted <= *capacity;
}

/* Finds the smallest device of the catalogue that has room in DRAM. */
static void advise_device(struct advice_work *work)
{
    uint64_t banks = field_value(work, TTS_FAILMSG_BANKS), wanted, here, capacity, least = 0;
    const struct tts_preset *preset, *best = NULL;
    if (!has_field(work, TTS_FAILMSG_ALLOCATED) || work->msg->pool != TTS_POOL_DRAM ||
        __builtin_mul_overflow(banks, field_value(work, TTS_FAILMSG_ALLOCATED), &wanted) ||
        __builtin_add_overflow(wanted, field_value(work, TTS_FAILMSG_REQUESTED), &wanted) ||
        __builtin_mul_overflow(banks, field_value(work, TTS_FAILMSG_BANK), &here))
        return;
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        if (has_preset_room(work, preset, wanted, &capacity) && capacity > here &&
            (!best || capacity < least)) {
            best = preset;
            least = capacity;
        }
    }
    if (best) {
        struct tts_failadvice_item *item = add_item(work, TTS_FAILADVICE_DEVICE);
        item->preset = best;
        item->bytes = least;
        item->has_enough = item->is_enough = is_free_one_piece(work);
    }
}

static void advise_chips(struct advice_work *work)
{
    uint64_t bank = field_value(work, TTS_FAILMSG_BANK);
    if (work->msg->pool == TTS_POOL_DRAM && bank > 0) {
        struct tts_failadvice_item *item = add_item(work, TTS_FAILADVICE_CHIPS);
        item->count = work->need / bank + (work->need % bank > 0);
    }
}

static void advise_l1_small(struct advice_work *work)
{
    enum { ALIGN = 64 }; /* of all chips */
    uint64_t bytes = field_value(work, TTS_FAILMSG_ALLOCATED) + work->need;
    struct tts_failadvice_item *item = add_item(work, TTS_FAILADVICE_L1_SMALL);
    item->bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    item->has_enough = item->is_enough = is_free_one_piece(work);
}

/* L1 buffers: DRAM, and more cores if the buffer is sharded. */
static void advise_l1(struct advice_work *work)
{
    uint64_t requested = field_value(work, TTS_FAILMSG_REQUESTED);
    if (work->msg->pool == TTS_POOL_DRAM)
        return;
    if (work->verdict->is_sharded && work->msg->pool == TTS_POOL_L1 && work->room > 0) {
        struct tts_failadvice_item *item = add_item(work, TTS_FAILADVICE_MORE_CORES);
        item->count = requested / work->room + (requested % work->room > 0);
    }
    if (work->msg->pool == TTS_POOL_L1)
        add_item(work, TTS_FAILADVICE_TO_DRAM);
}

/* The cause is unknown. A smaller buffer helps whatever the cause is, but the message does not
 * tell whether it fits. */
static void advise_unknown(struct advice_work *work)
{
    bool is_space = work->msg->family <= TTS_FAILMSG_D2 && work->msg->too_large == 0;
    bool has_room = has_field(work, TTS_FAILMSG_LARGEST) && !work->verdict->is_contradictory;
    if (work->verdict->decides)
        add_item(work, TTS_FAILADVICE_DECIDE);
    if (work->msg->family == TTS_FAILMSG_D2 && has_room && has_field(work, TTS_FAILMSG_NEED))
        add_item(work, TTS_FAILADVICE_OTHERS);
    if (!is_space || !has_field(work, TTS_FAILMSG_NEED))
        return;
    advise_dtype(work);
    advise_l1(work);
    advise_half(work);
}

static void advise_capacity(struct advice_work *work)
{
    set_room(work, TTS_FAILMSG_FREE);
    if (work->verdict->has_deficit) /* perhaps not enough: the bytes may be several pieces */
        add_saving(work, TTS_FAILADVICE_FREE, work->verdict->deficit_bytes);
    if (work->msg->pool == TTS_POOL_L1_SMALL)
        advise_l1_small(work);
    advise_dtype(work);
    advise_l1(work);
    advise_half(work);
    advise_device(work);
}

static void advise_fragmentation(struct advice_work *work)
{
    set_room(work, TTS_FAILMSG_LARGEST);
    if (work->verdict->has_deficit) {
        struct tts_failadvice_item *item =
            add_saving(work, TTS_FAILADVICE_NEIGHBOUR, work->verdict->deficit_bytes);
        item->has_enough = item->is_enough = work->is_room_known;
    }
    add_item(work, TTS_FAILADVICE_EARLIER);
    if (work->room > 0) {
        struct tts_failadvice_item *item = add_item(work, TTS_FAILADVICE_SPLIT);
        item->count = work->need / work->room + (work->need % work->room > 0);
    }
    advise_dtype(work);
    advise_l1(work);
    advise_half(work);
    advise_device(work);
}

static void advise_never_fits(struct advice_work *work)
{
    set_room(work, TTS_FAILMSG_BANK);
    if (work->msg->pool == TTS_POOL_L1_SMALL)
        advise_l1_small(work);
    advise_dtype(work);
    advise_l1(work);
    if (field_value(work, TTS_FAILMSG_BANK) > 0)
        advise_half(work);
    advise_device(work);
    advise_chips(work);
}

/* ---- circular buffers ---- */

static void advise_tiles(struct advice_work *work, uint64_t tile_bytes)
{
    uint64_t missing = work->verdict->deficit_bytes;
    struct tts_failadvice_item *item = add_item(work, TTS_FAILADVICE_CB_TILES);
    item->bytes = tile_bytes;
    item->count = missing / tile_bytes + (missing % tile_bytes > 0);
    item->has_saves = item->has_enough = item->is_enough = true;
    item->saves_bytes = item->count * tile_bytes;
}

static void advise_circular(struct advice_work *work)
{
    const struct tts_failverdict *v = work->verdict;
    if (v->cause == TTS_FAILCAUSE_CLASH && has_field(work, TTS_FAILMSG_ADDRESS))
        add_item(work, TTS_FAILADVICE_MOVE_L1)->bytes = v->deficit_bytes;
    if (v->has_deficit)
        advise_tiles(work, 2048);
}

/* ---- traces ---- */

static void advise_trace_region(struct advice_work *work)
{
    if (has_field(work, TTS_FAILMSG_REQUESTED)) {
        struct tts_failadvice_item *item = add_item(work, TTS_FAILADVICE_TRACE_SIZE);
        item->bytes = field_value(work, TTS_FAILMSG_REQUESTED);
        item->has_enough = item->is_enough = true;
    }
    add_item(work, TTS_FAILADVICE_TRACE_DRAM);
}

static void advise_trace_overlap(struct advice_work *work)
{
    if (work->msg->family == TTS_FAILMSG_TRACKER) {
        add_item(work, TTS_FAILADVICE_TRACE_FREE)->count = field_value(work, TTS_FAILMSG_COUNT);
        return;
    }
    add_item(work, work->msg->family == TTS_FAILMSG_TOVER_LIVE ? TTS_FAILADVICE_TRACE_RELEASE
                                                               : TTS_FAILADVICE_TRACE_ORDER);
    add_item(work, TTS_FAILADVICE_TRACE_SIZE);
}

static void advise_ring(struct advice_work *work)
{
    struct tts_failadvice_item *item =
        add_saving(work, TTS_FAILADVICE_RING, work->verdict->deficit_bytes);
    item->has_enough = item->is_enough = true;
}

void tts_failadvice_make(const struct tts_failmsg *msg, const struct tts_failverdict *verdict,
                         struct tts_failadvice *out)
{
    struct advice_work work = {
        .msg = msg, .verdict = verdict, .out = out, .need = msg->value[TTS_FAILMSG_NEED]};
    *out = (struct tts_failadvice){0};
    switch (verdict->cause) {
    case TTS_FAILCAUSE_UNKNOWN:
        if (verdict->is_warning)
            add_item(&work, TTS_FAILADVICE_TRACE_TRACKER);
        else
            advise_unknown(&work);
        break;
    case TTS_FAILCAUSE_NEVER_FITS:
        advise_never_fits(&work);
        break;
    case TTS_FAILCAUSE_CAPACITY:
        advise_capacity(&work);
        break;
    case TTS_FAILCAUSE_FRAGMENTATION:
        advise_fragmentation(&work);
        break;
    case TTS_FAILCAUSE_CLASH:
    case TTS_FAILCAUSE_BEYOND_L1:
        advise_circular(&work);
        break;
    case TTS_FAILCAUSE_BELOW_LIMIT:
        if (verdict->has_deficit)
            add_saving(&work, TTS_FAILADVICE_FREE, verdict->deficit_bytes);
        add_item(&work, TTS_FAILADVICE_TO_DRAM);
        break;
    case TTS_FAILCAUSE_TRACE_REGION:
        advise_trace_region(&work);
        break;
    case TTS_FAILCAUSE_TRACE_OVERLAP:
        advise_trace_overlap(&work);
        break;
    case TTS_FAILCAUSE_CONFIG_RING:
        if (verdict->has_deficit)
            advise_ring(&work);
        break;
    case TTS_FAILCAUSE_OTHER:
        add_item(&work, TTS_FAILADVICE_RULE);
        break;
    }
}

/* ---- the buffers of a recording ---- */

/* Returns the operation with the fewest bytes whose buffers are enough, or NULL. */
static const struct tts_failholder_op *smallest_enough_op(const struct tts_failholders *holders)
{
    const struct tts_failholder_op *rows = holders->ops.items;
    for (size_t i = holders->ops.count; i > 0; i--)
        if (rows[i - 1].is_enough && rows[i - 1].buffers > 1)
            return &rows[i - 1];
    return NULL;
}

static uint64_t sum_below(const struct tts_failholders *holders)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < holders->below_count; i++)
        sum += holders->items[i].block_bytes;
    return sum;
}

void tts_failadvice_add_holders(struct tts_failadvice *advice,
                                const struct tts_failholders *holders)
{
    struct tts_failadvice_item first = {
        .has_enough = true, .is_enough = true, .has_saves = true};
    enum tts_failadvice_kind kind = advice->items[0].kind;
    bool is_replaced =
        advice->count > 0 && (kind == TTS_FAILADVICE_FREE || kind == TTS_FAILADVICE_NEIGHBOUR ||
                              kind == TTS_FAILADVICE_MOVE_L1);
    if (!holders->is_same_run || !holders->is_complete ||
        (!is_replaced && advice->count == TTS_FAILADVICE_MAX))
        return;
    first.holder_op = smallest_enough_op(holders);
    if (holders->enough_count > 0) {
        first.kind = TTS_FAILADVICE_HOLDER;
        first.holder = &holders->items[holders->enough];
        first.saves_bytes = first.holder->block_bytes;
        first.count = holders->enough_count;
    } else if (first.holder_op) {
        first.kind = TTS_FAILADVICE_HOLDER_OP;
        first.saves_bytes = first.holder_op->block_bytes;
    } else if (holders->below_count > 0 && holders->has_need) {
        first.kind = TTS_FAILADVICE_HOLDER_LOWEST;
        first.count = holders->below_count;
        first.saves_bytes = sum_below(holders);
    } else {
        return;
    }
    if (!is_replaced)
        memmove(advice->items + 1, advice->items, advice->count++ * sizeof first);
    advice->items[0] = first;
}
