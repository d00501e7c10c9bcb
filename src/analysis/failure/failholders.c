#include "analysis/failure/failholders.h"

#include "analysis/failure/failverdict.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/seed.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 32 }; /* of blocks, if the chip is unknown */

static bool has_field(const struct tts_failholders *holders, enum tts_failmsg_field field)
{
    return tts_failmsg_has(&holders->msg, field);
}

static uint64_t field_value(const struct tts_failholders *holders, enum tts_failmsg_field field)
{
    return holders->msg.value[field];
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t round_block(const struct tts_failholders *holders, uint64_t bytes)
{
    uint64_t rest = bytes % holders->alignment_bytes;
    return rest > 0 ? add_saturated(bytes, holders->alignment_bytes - rest) : bytes;
}

/* ---- the bank ---- */

/* Takes the bank of a preset if the message can be about this bank. A bank of the exact size is
 * best. DRAM may be smaller by a trace region, which lies at the end of the bank. */
static bool take_bank(struct tts_failholders *holders, const struct tts_pool_layout *layout)
{
    uint64_t bank = field_value(holders, TTS_FAILMSG_BANK);
    bool is_exact = layout->bank_bytes == bank;
    bool has_banks = layout->banks == field_value(holders, TTS_FAILMSG_BANKS);
    bool is_cut = holders->pool == TTS_POOL_DRAM && layout->bank_bytes > bank && has_banks;
    if (layout->banks == 0 || (!is_exact && (!is_cut || holders->has_bank)))
        return false;
    holders->has_bank = true;
    holders->bank_start = layout->offset_bytes;
    holders->bank_end = layout->offset_bytes + bank;
    holders->banks = layout->banks;
    holders->alignment_bytes = layout->block_alignment_bytes;
    return is_exact && has_banks;
}

static void find_bank(struct tts_failholders *holders)
{
    const struct tts_preset *preset;
    struct tts_chip chip;
    struct tts_pool_layout layout;
    struct tts_error err;
    holders->alignment_bytes = ALIGNMENT;
    /* A sharded buffer of L1 names fewer banks than there are. */
    if (holders->pool == TTS_POOL_DRAM && field_value(holders, TTS_FAILMSG_BANKS) <= UINT32_MAX)
        holders->banks = (uint32_t)field_value(holders, TTS_FAILMSG_BANKS);
    for (size_t i = 0;
         has_field(holders, TTS_FAILMSG_BANK) && (preset = tts_preset_at(i)) != NULL; i++) {
        if (tts_chip_preset(preset->name, &chip, &err) == TTS_OK &&
            tts_chip_pool(&chip, holders->pool, &layout, &err) == TTS_OK &&
            take_bank(holders, &layout))
            return;
    }
}

/* ---- creation ---- */

static bool is_larger_op(const void *ctx, const void *a, const void *b)
{
    const struct tts_failholder_op *x = a, *y = b;
    (void)ctx;
    if (x->block_bytes != y->block_bytes)
        return x->block_bytes > y->block_bytes;
    if (x->buffers != y->buffers)
        return x->buffers > y->buffers;
    return strcmp(x->op ? x->op : "", y->op ? y->op : "") < 0;
}

bool tts_failholders_fits(const struct tts_failmsg *msg)
{
    bool is_space = msg->family <= TTS_FAILMSG_D2;
    bool is_l1 = msg->family == TTS_FAILMSG_ADDR || msg->family == TTS_FAILMSG_CB ||
                 msg->family == TTS_FAILMSG_DFB;
    return is_l1 || (is_space && msg->has_pool);
}

enum tts_status tts_failholders_new(const struct tts_failmsg *msg,
                                    const struct tts_alloc *alloc, struct tts_failholders **out,
                                    struct tts_error *err)
{
    const struct tts_follow_config config = {0};
    if (!tts_failholders_fits(msg))
        return tts_error_set(err, TTS_E_NOT_FOUND, "no buffers belong to this failure");
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_failholders *holders = alloc->alloc(alloc->ctx, sizeof *holders);
    if (!holders)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    *holders = (struct tts_failholders){
        .pool = msg->family <= TTS_FAILMSG_D2 ? msg->pool : TTS_POOL_L1,
        .is_clash = msg->family == TTS_FAILMSG_CB || msg->family == TTS_FAILMSG_DFB,
        .msg = *msg,
        .alloc = alloc,
        .by_id.alloc = alloc,
    };
    tts_best_init(&holders->ops, TTS_FAILHOLDERS_TOP, sizeof(struct tts_failholder_op),
                  is_larger_op, NULL, alloc);
    find_bank(holders);
    enum tts_status status = tts_follow_new(&config, alloc, &holders->follow, err);
    if (status != TTS_OK) {
        tts_failholders_free(holders);
        return status;
    }
    *out = holders;
    return TTS_OK;
}

void tts_failholders_free(struct tts_failholders *holders)
{
    if (!holders)
        return;
    const struct tts_alloc *alloc = holders->alloc;
    tts_best_release(&holders->ops);
    tts_hashtable_release(&holders->by_id);
    tts_follow_free(holders->follow);
    if (holders->items)
        alloc->free(alloc->ctx, holders->items, holders->capacity * sizeof *holders->items);
    if (holders->gone)
        alloc->free(alloc->ctx, holders->gone, holders->gone_capacity * sizeof *holders->gone);
    alloc->free(alloc->ctx, holders, sizeof *holders);
}

/* ---- live buffers ---- */

/* Returns the entry of a device. The fold has at most as many devices as there are entries. */
static struct tts_failholder_device *device_entry(struct tts_failholders *holders,
                                                  uint32_t device)
{
    size_t i = 0;
    while (i < holders->device_count && holders->devices[i].device != device)
        i++;
    if (i == TTS_LEDGER_DEVICES)
        return &holders->devices[i - 1];
    if (i == holders->device_count)
        holders->devices[holders->device_count++] =
            (struct tts_failholder_device){.device = device, .mesh = device};
    return &holders->devices[i];
}

static uint32_t hash_holder(uint32_t device, uint64_t id)
{
    return tts_hashtable_mix(tts_seed(), id, device);
}

static bool is_holder_of(const void *items, uint32_t place, const void *key)
{
    const struct tts_failholder *item = &((const struct tts_failholder *)items)[place];
    const struct tts_live *live = key;
    return item->id == live->id && item->device == live->device;
}

/* Sets the bytes that a buffer takes in each bank. `event` is the allocation, NULL if the
 * allocation is not in the file. */
static void set_block(const struct tts_failholders *holders, struct tts_failholder *holder,
                      const struct tts_live *live, const struct tts_event *event)
{
    uint64_t block = live->block_bytes, of_bank = live->bytes_per_bank, page = 0, shares = 0;
    if (event) {
        block = event->block_bytes > 0 ? event->block_bytes : block;
        of_bank = event->bytes_per_bank > 0 ? event->bytes_per_bank : of_bank;
        page = event->page_bytes;
        shares = event->cores > 0 ? event->cores : holders->banks;
    }
    /* Some writers give the bytes of the whole buffer if they do not know the banks. */
    bool is_known = of_bank > 0 && (of_bank < live->size_bytes || page == 0 || shares == 0);
    if (block == 0 && is_known)
        block = of_bank;
    else if (block == 0 && page > 0 && shares > 0)
        block = tts_failverdict_need(live->size_bytes, page, shares, holders->alignment_bytes);
    holder->is_estimate = block == 0 || block > TTS_EVENT_BYTES_MAX;
    if (holder->is_estimate)
        block = holders->banks > 0 ? live->size_bytes / holders->banks : live->size_bytes;
    holder->block_bytes = round_block(holders, block);
}

static enum tts_status add_holder(struct tts_failholders *holders, const struct tts_item *item,
                                  const struct tts_live *live)
{
    bool is_alloc = item->kind == TTS_ITEM_EVENT && item->event.kind == TTS_EVENT_ALLOC;
    struct tts_failholder holder = {.id = live->id,
                                    .seq = live->seq,
                                    .op = live->op,
                                    .bytes = tts_live_bytes(live),
                                    .device = live->device};
    void *items = tts_alloc_grow(holders->alloc, holders->items, &holders->capacity,
                                 holders->count + 1, sizeof holder);
    if (!items)
        return TTS_E_NOMEM;
    holders->items = items;
    set_block(holders, &holder, live, is_alloc ? &item->event : NULL);
    holder.has_address = is_alloc && item->event.has_address;
    holder.address = holder.has_address ? item->event.address : 0;
    enum tts_status status = tts_hashtable_add(
        &holders->by_id, hash_holder(live->device, live->id), (uint32_t)holders->count);
    if (status != TTS_OK)
        return status;
    holders->items[holders->count++] = holder;
    device_entry(holders, live->device)->block_bytes += holder.block_bytes;
    return TTS_OK;
}

/* Keeps a buffer that is freed after the moment. */
static enum tts_status keep_gone(struct tts_failholders *holders,
                                 const struct tts_failholder *holder)
{
    if (holders->moment == TTS_FAILMOMENT_NONE || holder->seq > holders->seq)
        return TTS_OK;
    void *gone = tts_alloc_grow(holders->alloc, holders->gone, &holders->gone_capacity,
                                holders->gone_count + 1, sizeof *holder);
    if (!gone)
        return TTS_E_NOMEM;
    holders->gone = gone;
    holders->gone[holders->gone_count++] = *holder;
    return TTS_OK;
}

static enum tts_status drop_holder(struct tts_failholders *holders, const struct tts_live *live)
{
    uint32_t hash = hash_holder(live->device, live->id);
    uint32_t place =
        tts_hashtable_find(&holders->by_id, hash, is_holder_of, holders->items, live);
    if (place == TTS_HASHTABLE_NONE)
        return TTS_OK;
    struct tts_failholder *item = &holders->items[place];
    enum tts_status status = keep_gone(holders, item);
    if (status != TTS_OK)
        return status;
    device_entry(holders, live->device)->block_bytes -= item->block_bytes;
    tts_hashtable_remove(&holders->by_id, hash, place);
    uint32_t last = (uint32_t)--holders->count;
    if (place != last) {
        *item = holders->items[last];
        tts_hashtable_move(&holders->by_id, hash_holder(item->device, item->id), last, place);
    }
    return TTS_OK;
}

/* ---- the moment ---- */

/* Returns whether a number of the message, if the message has it, is `value`. */
static bool is_number_same(const struct tts_failholders *holders, enum tts_failmsg_field field,
                           uint64_t value)
{
    return !has_field(holders, field) || field_value(holders, field) == value;
}

static bool is_refusal_same(const struct tts_failholders *holders,
                            const struct tts_failure *failure)
{
    bool is_space =
        failure->kind == TTS_FAILURE_SPACE || failure->kind == TTS_FAILURE_DEPENDENCY;
    if (holders->is_clash)
        return failure->kind == TTS_FAILURE_CB_CLASH &&
               is_number_same(holders, TTS_FAILMSG_END, failure->region_end) &&
               is_number_same(holders, TTS_FAILMSG_ADDRESS, failure->l1_address);
    if (holders->msg.family == TTS_FAILMSG_ADDR)
        return failure->kind == TTS_FAILURE_BELOW_LIMIT &&
               is_number_same(holders, TTS_FAILMSG_LIMIT, failure->limit) &&
               is_number_same(holders, TTS_FAILMSG_ADDRESS, failure->address);
    return is_space && failure->pool == holders->pool &&
           is_number_same(holders, TTS_FAILMSG_REQUESTED, failure->requested_bytes) &&
           is_number_same(holders, TTS_FAILMSG_BANKS, failure->banks) &&
           is_number_same(holders, TTS_FAILMSG_NEED, failure->need_bytes) &&
           is_number_same(holders, TTS_FAILMSG_BANK, failure->bank_bytes) &&
           is_number_same(holders, TTS_FAILMSG_ALLOCATED, failure->taken_bytes) &&
           is_number_same(holders, TTS_FAILMSG_FREE, failure->free_bytes) &&
           is_number_same(holders, TTS_FAILMSG_LARGEST, failure->largest_free_bytes);
}

/* Adds the numbers that a message of an older runtime lacks. They are taken from the refusal in
 * the file. */
static void add_numbers(struct tts_failholders *holders, const struct tts_failure *failure)
{
    const struct {
        enum tts_failmsg_field field;
        uint64_t value;
    } numbers[] = {{TTS_FAILMSG_BANKS, failure->banks},
                   {TTS_FAILMSG_NEED, failure->need_bytes},
                   {TTS_FAILMSG_BANK, failure->bank_bytes},
                   {TTS_FAILMSG_ALLOCATED, failure->taken_bytes},
                   {TTS_FAILMSG_FREE, failure->free_bytes},
                   {TTS_FAILMSG_LARGEST, failure->largest_free_bytes}};
    if (holders->msg.family > TTS_FAILMSG_D2 || failure->bank_bytes == 0)
        return;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (has_field(holders, numbers[i].field))
            continue;
        holders->has_added = true;
        holders->msg.known |= UINT32_C(1) << numbers[i].field;
        holders->msg.value[numbers[i].field] = numbers[i].value;
    }
    find_bank(holders);
}

static void set_moment(struct tts_failholders *holders, enum tts_failmoment moment,
                       const struct tts_item *item)
{
    holders->moment = moment;
    holders->seq = item->seq;
    holders->device = item->event.device;
    holders->gone_count = 0;
}

static void look_at_event(struct tts_failholders *holders, const struct tts_item *item)
{
    const struct tts_event *event = &item->event;
    bool is_alloc = event->kind == TTS_EVENT_ALLOC;
    if (event->kind == TTS_EVENT_FAILURE) {
        if (is_refusal_same(holders, event->failure)) {
            set_moment(holders, TTS_FAILMOMENT_REFUSAL, item);
            add_numbers(holders, event->failure);
        } else if (holders->other_refusals++ == 0) {
            holders->other_refusal_seq = item->seq;
        }
        return;
    }
    if ((!is_alloc && event->kind != TTS_EVENT_FREE) || event->pool != holders->pool)
        return;
    if (field_value(holders, TTS_FAILMSG_ALLOCATED) > 0 &&
        device_entry(holders, event->device)->block_bytes ==
            field_value(holders, TTS_FAILMSG_ALLOCATED))
        set_moment(holders, TTS_FAILMOMENT_SAME_BYTES, item);
    else if (is_alloc && holders->moment != TTS_FAILMOMENT_SAME_BYTES)
        set_moment(holders, TTS_FAILMOMENT_LAST, item);
}

enum tts_status tts_failholders_item(struct tts_failholders *holders,
                                     const struct tts_item *item, struct tts_error *err)
{
    struct tts_change change;
    if (holders->moment == TTS_FAILMOMENT_REFUSAL)
        return TTS_OK;
    enum tts_status status = tts_follow_change(holders->follow, item, &change, err);
    if (status != TTS_OK)
        return status;
    if (change.has_chip)
        device_entry(holders, change.chip)->mesh = change.mesh;
    if (change.has_left && change.left.pool == holders->pool)
        status = drop_holder(holders, &change.left);
    if (status == TTS_OK && change.has_come && !change.is_unlisted &&
        change.came.pool == holders->pool)
        status = add_holder(holders, item, &change.came);
    if (status != TTS_OK)
        return tts_error_set(err, status, TTS_TEXT_NOMEM);
    if (item->kind == TTS_ITEM_EVENT)
        look_at_event(holders, item);
    return TTS_OK;
}

/* ---- the answer ---- */

static int compare_holder_ops(const void *a, const void *b)
{
    const struct tts_failholder *x = a, *y = b;
    uintptr_t x_op = (uintptr_t)x->op, y_op = (uintptr_t)y->op;
    return x_op < y_op ? -1 : x_op > y_op;
}

static int compare_holder_places(const void *a, const void *b)
{
    const struct tts_failholder *x = a, *y = b;
    if (x->has_address != y->has_address)
        return x->has_address ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void sort_holders(struct tts_failholders *holders,
                         int (*compare)(const void *a, const void *b))
{
    if (holders->count > 0)
        qsort(holders->items, holders->count, sizeof *holders->items, compare);
}

/* Keeps the buffers of the moment. */
static enum tts_status choose_holders(struct tts_failholders *holders)
{
    uint32_t mesh = device_entry(holders, holders->device)->mesh;
    size_t live = holders->count, all = live + holders->gone_count;
    struct tts_failholder *items = tts_alloc_grow(
        holders->alloc, holders->items, &holders->capacity, all + (all == 0), sizeof *items);
    if (!items)
        return TTS_E_NOMEM;
    if (holders->gone_count > 0)
        memcpy(items + live, holders->gone, holders->gone_count * sizeof *items);
    holders->items = items;
    holders->count = 0;
    for (size_t i = 0; i < all; i++) {
        bool is_here = items[i].device == holders->device || items[i].device == mesh;
        if (is_here && items[i].seq <= holders->seq)
            items[holders->count++] = items[i];
    }
    return TTS_OK;
}

/* Counts the buffers, and lists the operations. */
static enum tts_status list_holder_ops(struct tts_failholders *holders)
{
    struct tts_failholder_op row = {0};
    enum tts_status status = TTS_OK;
    sort_holders(holders, compare_holder_ops);
    for (size_t i = 0; i < holders->count && status == TTS_OK; i++) {
        const struct tts_failholder *item = &holders->items[i];
        holders->bytes = add_saturated(holders->bytes, item->bytes);
        holders->block_bytes = add_saturated(holders->block_bytes, item->block_bytes);
        holders->has_estimate |= item->is_estimate;
        holders->without_address += !item->has_address;
        row.op = item->op;
        row.buffers++;
        row.bytes = add_saturated(row.bytes, item->bytes);
        row.block_bytes = add_saturated(row.block_bytes, item->block_bytes);
        if (i + 1 < holders->count && item[1].op == item->op)
            continue;
        holders->op_count++;
        status = tts_best_add(&holders->ops, &row);
        row = (struct tts_failholder_op){0};
    }
    tts_best_sort(&holders->ops);
    return status;
}

static uint64_t holder_end(const struct tts_failholder *holder)
{
    return add_saturated(holder->address, holder->block_bytes);
}

/* Without a known bank, or if buffers lie outside it, the bank is from the lowest to the
 * highest buffer. */
static void fit_bank(struct tts_failholders *holders)
{
    uint64_t low = holders->items[0].address, high = 0;
    for (size_t i = 0; i < holders->count; i++)
        high = holder_end(&holders->items[i]) > high ? holder_end(&holders->items[i]) : high;
    if (holders->has_bank && low >= holders->bank_start && high <= holders->bank_end)
        return;
    holders->has_bank = false;
    holders->bank_start = low;
    holders->bank_end = high;
}

/* Sets the free piece around each buffer, and finds the largest free piece. Damaged files have
 * buffers that overlap, so `reach` is the highest end so far, of the buffer `below`. */
static void set_rooms(struct tts_failholders *holders)
{
    size_t below = holders->count;
    uint64_t reach = holders->bank_start;
    for (size_t i = 0; i <= holders->count; i++) {
        bool is_end = i == holders->count;
        uint64_t start = is_end ? holders->bank_end : holders->items[i].address;
        if (start > reach && start - reach > holders->hole_bytes) {
            holders->has_hole = true;
            holders->hole_bytes = start - reach;
            holders->hole_address = reach;
            holders->hole_below = below;
            holders->hole_above = i;
        }
        if (is_end)
            return;
        struct tts_failholder *item = &holders->items[i];
        uint64_t next = i + 1 < holders->count ? item[1].address : holders->bank_end;
        item->has_room = true;
        item->room_bytes = next > reach ? next - reach : 0;
        item->is_enough = holders->has_need && item->room_bytes >= holders->need_bytes;
        if (item->is_enough &&
            (holders->enough_count++ == 0 ||
             item->block_bytes < holders->items[holders->enough].block_bytes))
            holders->enough = i;
        if (holder_end(item) > reach) {
            reach = holder_end(item);
            below = i;
        }
    }
}

/* Sets the largest free piece without the buffers of an operation. */
static void set_op_room(const struct tts_failholders *holders, struct tts_failholder_op *row)
{
    uint64_t reach = holders->bank_start;
    for (size_t i = 0; i <= holders->count; i++) {
        const struct tts_failholder *item = i < holders->count ? &holders->items[i] : NULL;
        uint64_t start = item ? item->address : holders->bank_end;
        if (item && item->op == row->op)
            continue;
        if (start > reach && start - reach > row->room_bytes)
            row->room_bytes = start - reach;
        if (item && holder_end(item) > reach)
            reach = holder_end(item);
    }
    row->has_room = true;
    row->is_enough = holders->has_need && row->room_bytes >= holders->need_bytes;
}

/* Sets the lowest address that remains without each buffer and all lower ones. */
static void set_clash_rooms(struct tts_failholders *holders)
{
    uint64_t end = field_value(holders, TTS_FAILMSG_END);
    for (size_t i = 0; i < holders->count; i++) {
        struct tts_failholder *item = &holders->items[i];
        item->has_room = i + 1 < holders->count;
        item->room_bytes = item->has_room ? item[1].address : 0;
        item->is_enough = holders->has_need && (!item->has_room || item->room_bytes >= end);
        holders->below_count += holders->has_need && item->address < end;
    }
}

/* Sorts the buffers by address, and compares them with the message. The addresses are unknown
 * if a buffer has no address, or if all addresses are equal: then the program ran without a
 * device. */
static void compare_with_message(struct tts_failholders *holders)
{
    enum tts_failmsg_field proof =
        holders->is_clash ? TTS_FAILMSG_ADDRESS : TTS_FAILMSG_ALLOCATED;
    size_t count = holders->count;
    uint64_t here = holders->block_bytes;
    sort_holders(holders, compare_holder_places);
    if (count > 1 && holders->items[count - 1].address == holders->items[0].address)
        holders->without_address = count;
    if (holders->is_clash)
        here = count > 0 && holders->without_address == 0 ? holders->items[0].address : 0;
    holders->is_complete = count > 0 && is_number_same(holders, proof, here);
    holders->is_same_run = holders->moment == TTS_FAILMOMENT_REFUSAL ||
                           (holders->is_complete && has_field(holders, proof));
}

/* Computes the free pieces, and whether the request fits into them. */
static void compute_rooms(struct tts_failholders *holders)
{
    struct tts_failholder_op *rows = holders->ops.items;
    if (holders->without_address > 0 || holders->count == 0)
        return;
    holders->has_need =
        holders->is_complete &&
        has_field(holders, holders->is_clash ? TTS_FAILMSG_END : TTS_FAILMSG_NEED);
    if (holders->is_clash) {
        set_clash_rooms(holders);
        return;
    }
    holders->need_bytes = round_block(holders, field_value(holders, TTS_FAILMSG_NEED));
    fit_bank(holders);
    set_rooms(holders);
    for (size_t i = 0; i < holders->ops.count; i++)
        set_op_room(holders, &rows[i]);
}

enum tts_status tts_failholders_finish(struct tts_failholders *holders, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    if (holders->moment == TTS_FAILMOMENT_NONE)
        holders->count = 0;
    else
        status = choose_holders(holders);
    tts_hashtable_release(&holders->by_id);
    if (status == TTS_OK)
        status = list_holder_ops(holders);
    if (status != TTS_OK)
        return tts_error_set(err, status, TTS_TEXT_NOMEM);
    compare_with_message(holders);
    compute_rooms(holders);
    return TTS_OK;
}
