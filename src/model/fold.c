#include "model/fold.h"

#include "base/compiler.h"
#include "base/error.h"
#include "base/heap.h"
#include "model/fold_inside.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- life ---- */

_Static_assert(TTS_FOLD_OPS_MAX + TTS_OPNAMES_OTHER < UINT16_MAX,
               "an entry keeps 16 bits of it");

static bool are_limits_valid(const struct tts_tracker_config *limits)
{
    return limits->live_max > 0 && limits->live_max <= TTS_FOLD_LIVE_MAX &&
           limits->devices_max > 0 && limits->devices_max <= TTS_FOLD_DEVICES_MAX &&
           limits->ops_max > 0 && limits->ops_max <= TTS_FOLD_OPS_MAX;
}

static void *take_per_device(const struct tts_fold *fold, size_t bytes)
{
    return fold->alloc->alloc(fold->alloc->ctx, fold->limits.devices_max * bytes);
}

static void give_per_device(const struct tts_fold *fold, void *memory, size_t bytes)
{
    if (memory)
        fold->alloc->free(fold->alloc->ctx, memory, fold->limits.devices_max * bytes);
}

static enum tts_status take_fold_memory(struct tts_fold *fold)
{
    fold->ids = take_per_device(fold, sizeof *fold->ids);
    fold->devices = take_per_device(fold, sizeof *fold->devices);
    fold->grids = take_per_device(fold, sizeof *fold->grids);
    if (!fold->ids || !fold->devices || !fold->grids)
        return TTS_E_NOMEM;
    /* The seed is made of addresses, because addresses are hard to predict. */
    uint64_t seed = (uintptr_t)fold ^ (uint64_t)(uintptr_t)fold->grids << 16;
    enum tts_status status =
        tts_ledger_new(fold->limits.live_max, seed, fold->alloc, &fold->ledger);
    if (status == TTS_OK)
        status = tts_opnames_new(fold->limits.ops_max, fold->alloc, &fold->names);
    if (status == TTS_OK)
        status = tts_coresets_new(fold->alloc, &fold->sets);
    return status;
}

enum tts_status tts_fold_new(const struct tts_tracker_config *limits,
                             const struct tts_alloc *alloc, struct tts_fold **out)
{
    if (!are_limits_valid(limits))
        return TTS_E_INVALID;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_fold *fold = alloc->alloc(alloc->ctx, sizeof *fold);
    if (!fold)
        return TTS_E_NOMEM;
    *fold = (struct tts_fold){.limits = *limits, .alloc = alloc};
    memset(fold->by_id, 0xff, sizeof fold->by_id);
    enum tts_status status = take_fold_memory(fold);
    if (status != TTS_OK) {
        tts_fold_free(fold);
        return status;
    }
    *out = fold;
    return TTS_OK;
}

void tts_fold_free(struct tts_fold *fold)
{
    if (!fold)
        return;
    assert(!fold->watches);
    tts_coresets_free(fold->sets);
    tts_opnames_free(fold->names);
    tts_ledger_free(fold->ledger);
    give_per_device(fold, fold->grids, sizeof *fold->grids);
    give_per_device(fold, fold->devices, sizeof *fold->devices);
    give_per_device(fold, fold->ids, sizeof *fold->ids);
    fold->alloc->free(fold->alloc->ctx, fold, sizeof *fold);
}

void tts_fold_reset(struct tts_fold *fold)
{
    assert(!fold->watches);
    tts_ledger_reset(fold->ledger);
    tts_coresets_reset(fold->sets);
    fold->health = (struct tts_tracker_health){0};
    fold->seq = fold->trace_depth = 0;
    fold->is_lost = false;
    for (uint16_t i = 0; i < fold->device_count; i++) {
        fold->devices[i].trace_depth = 0;
        tts_cores_init(&fold->devices[i].cores, &fold->grids[i]);
    }
}

void tts_fold_health(const struct tts_fold *fold, struct tts_tracker_health *out)
{
    *out = fold->health;
    out->events = fold->seq;
}

/* ---- devices ---- */

TTS_COLD static struct tts_fold_device *enter_device(struct tts_fold *fold, uint32_t id)
{
    uint16_t idx = fold->device_count;
    if (idx == fold->limits.devices_max)
        return NULL;
    struct tts_fold_device *device = &fold->devices[idx];
    *device = (struct tts_fold_device){.id = id,
                                       .idx = idx,
                                       .mesh = TTS_FOLD_NO_DEVICE,
                                       .first_chip = TTS_FOLD_NO_DEVICE,
                                       .last_chip = TTS_FOLD_NO_DEVICE,
                                       .next_chip = TTS_FOLD_NO_DEVICE};
    tts_cores_init(&device->cores, &fold->grids[idx]);
    fold->by_id[tts_fold_device_slot(fold, id)] = idx;
    fold->ids[idx] = id;
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        tts_watch_settle(watch, fold);
    fold->device_count++;
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        tts_watch_enter(watch, fold);
    return device;
}

static TTS_NOINLINE struct tts_fold_device *search_device(struct tts_fold *fold, uint32_t id)
{
    struct tts_fold_device *device = tts_fold_find(fold, id);
    if (TTS_UNLIKELY(!device))
        device = enter_device(fold, id);
    if (device) {
        fold->last_id = id;
        fold->last_idx = device->idx;
    }
    return device;
}

static struct tts_fold_device *device_of_id(struct tts_fold *fold, uint32_t id)
{
    if (TTS_LIKELY(fold->last_id == id && fold->last_idx < fold->device_count))
        return &fold->devices[fold->last_idx];
    return search_device(fold, id);
}

/* Marks the cores of `device` and of its chips as incomplete, because a part could not be put
 * on them. */
TTS_COLD static void lose_cores(struct tts_fold *fold, struct tts_fold_device *device)
{
    fold->is_lost = true;
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at))
        at->cores.is_lost = true;
}

TTS_COLD void tts_fold_miss(struct tts_fold *fold)
{
    fold->is_lost = true;
    for (uint16_t i = 0; i < fold->device_count; i++)
        fold->devices[i].cores.is_lost = true;
}

bool tts_fold_know(struct tts_fold *fold, uint32_t device)
{
    return device_of_id(fold, device) != NULL;
}

/* ---- peaks of cores ---- */

static struct tts_watch_device *watched_device(const struct tts_watch *watch,
                                               const struct tts_fold_device *device)
{
    struct tts_watch_device *seen = &watch->devices[device->idx];
    assert(seen->phase == watch->phase && seen->is_listed);
    return seen;
}

static void note_core_peaks(const struct tts_fold *fold, const struct tts_fold_device *device,
                            uint32_t op)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        tts_corepeak_note(&watched_device(watch, device)->peak, &device->cores, fold->seq, op);
}

/* Keeps a part that leaves the cores of `device` in each peak during which the part was on the
 * core. */
static void keep_at_peaks(const struct tts_fold *fold, const struct tts_fold_device *device,
                          uint32_t set, const struct tts_held_part *part)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next) {
        struct tts_corepeak *peak = &watched_device(watch, device)->peak;
        if (tts_corepeak_had(peak, part->seq) &&
            tts_coresets_have(fold->sets, set, peak->sum.core))
            tts_corepeak_keep(peak, part);
    }
}

/* ---- buffers on cores ---- */

static bool have_core_room(const struct tts_fold *fold, const struct tts_fold_device *device,
                           bool on_all, uint64_t bytes)
{
    for (const struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at))
        if (on_all ? !tts_cores_have_room_on_all(&at->cores, bytes)
                   : !tts_cores_have_room(&at->cores, bytes))
            return false;
    return true;
}

/* Returns the set of the event's cores and adds a holder to the set. Returns
 * TTS_CORESETS_NOWHERE if the buffer cannot be put on cores. */
static uint32_t hold_cores(struct tts_fold *fold, const struct tts_fold_device *device,
                           const struct tts_event *event, uint64_t bytes)
{
    bool on_all = event->range_count == 0;
    if (!have_core_room(fold, device, on_all, bytes))
        return TTS_CORESETS_NOWHERE;
    if (on_all)
        return TTS_CORESETS_EVERY;
    struct tts_boxes boxes;
    tts_boxes_pack(&boxes, event->ranges, event->range_count);
    return tts_coresets_hold(fold->sets, &boxes);
}

static void add_to_cores(const struct tts_fold *fold, struct tts_cores *cores,
                         const struct tts_l1_entry *part)
{
    enum tts_core_kind kind = tts_pool_core_kind((enum tts_pool)part->pool);
    if (part->cores == TTS_CORESETS_EVERY) {
        tts_cores_add_all(cores, kind, part->block_bytes);
        return;
    }
    size_t count;
    const struct tts_box *box = tts_coresets_boxes(fold->sets, part->cores, &count);
    tts_cores_add(cores, kind, box, count, part->block_bytes);
}

static void remove_from_cores(const struct tts_fold *fold, struct tts_cores *cores,
                              const struct tts_l1_entry *part)
{
    enum tts_core_kind kind = tts_pool_core_kind((enum tts_pool)part->pool);
    if (part->cores == TTS_CORESETS_EVERY) {
        tts_cores_remove_all(cores, kind, part->block_bytes);
        return;
    }
    size_t count;
    const struct tts_box *box = tts_coresets_boxes(fold->sets, part->cores, &count);
    tts_cores_remove(cores, kind, box, count, part->block_bytes);
}

/* Puts a buffer on the cores of a device and of its chips. The caller has called
 * tts_watch_touch() for these devices. `part` is NULL if the ledger had no room for the
 * buffer. */
static void place_on_cores(struct tts_fold *fold, struct tts_fold_device *device,
                           const struct tts_event *event, struct tts_l1_entry *part,
                           uint32_t op)
{
    assert(tts_pool_is_l1(event->pool));
    uint64_t bytes = event->block_bytes ? event->block_bytes : event->bytes_per_bank;
    assert(bytes > 0);
    uint32_t set = part ? hold_cores(fold, device, event, bytes) : TTS_CORESETS_NOWHERE;
    if (part) {
        part->bytes_per_bank = event->bytes_per_bank;
        part->block_bytes = bytes;
        part->cores = set;
    }
    if (set == TTS_CORESETS_NOWHERE) {
        lose_cores(fold, device);
        return;
    }
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at)) {
        add_to_cores(fold, &at->cores, part);
        note_core_peaks(fold, at, op);
    }
}

static void take_off_cores(struct tts_fold *fold, struct tts_fold_device *device,
                           const struct tts_l1_entry *part)
{
    assert(part->seq <= fold->seq);
    if (part->cores == TTS_CORESETS_NOWHERE)
        return;
    struct tts_held_part gone = {part->block_bytes, part->seq,       part->id,
                                 part->op,          TTS_EVENT_ALLOC, part->pool};
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at)) {
        keep_at_peaks(fold, at, part->cores, &gone);
        remove_from_cores(fold, &at->cores, part);
    }
    if (part->cores != TTS_CORESETS_EVERY)
        tts_coresets_drop(fold->sets, part->cores);
}

/* ---- programs on cores ---- */

static void end_device_program(struct tts_fold *fold, struct tts_fold_device *device)
{
    struct tts_cores *cores = &device->cores;
    for (uint32_t i = 0; i < cores->program_count; i++) {
        struct tts_held_part part = tts_program_part_of(&cores->grid->program[i]);
        keep_at_peaks(fold, device, cores->grid->program[i].set, &part);
        tts_coresets_drop(fold->sets, cores->grid->program[i].set);
    }
    tts_cores_end_program(cores);
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        tts_tally_begin_program(&watched_device(watch, device)->run);
}

static void begin_program(struct tts_fold *fold, struct tts_fold_device *device)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        watch->whole.programs++;
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at))
        end_device_program(fold, at);
}

static void add_program_part(struct tts_fold *fold, struct tts_fold_device *device,
                             const struct tts_boxes *boxes, const struct tts_program_part *part)
{
    struct tts_cores *cores = &device->cores;
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        tts_tally_add_program(&watched_device(watch, device)->run, part->kind, part->bytes);
    if (!tts_cores_have_room(cores, part->bytes)) {
        cores->is_lost = fold->is_lost = true;
        return;
    }
    tts_cores_add(cores, part->kind, boxes->box, boxes->count, part->bytes);
    if (tts_cores_list(cores, part))
        tts_coresets_hold_again(fold->sets, part->set);
    note_core_peaks(fold, device, part->op);
}

/* Puts a part of a program on the cores of a device and, if `has_chips` is true, on the cores
 * of its chips. */
static TTS_NOINLINE void place_program_part(struct tts_fold *fold,
                                            struct tts_fold_device *device,
                                            const struct tts_event *event, bool has_chips,
                                            uint64_t seq, uint32_t op)
{
    bool may_borrow = event->kind != TTS_EVENT_SCRATCHPAD;
    if ((may_borrow && event->borrowed) || event->size_bytes == 0)
        return; /* the part takes no memory */
    struct tts_boxes boxes;
    tts_boxes_pack(&boxes, event->ranges, event->range_count);
    struct tts_program_part part = {
        .bytes = event->size_bytes,
        .seq = seq,
        .op = op,
        .set = tts_coresets_hold(fold->sets, &boxes),
        .kind = (enum tts_core_kind)(event->kind - TTS_EVENT_CB),
    };
    add_program_part(fold, device, &boxes, &part);
    if (has_chips)
        for (struct tts_fold_device *at = device; (at = tts_fold_next(fold, device, at));)
            add_program_part(fold, at, &boxes, &part);
    if (part.set != TTS_CORESETS_NOWHERE)
        tts_coresets_drop(fold->sets, part.set);
}

/* ---- figures of watches ---- */

static TTS_FORCE_INLINE void count_alloc(struct tts_fold *fold,
                                         const struct tts_fold_device *device,
                                         enum tts_pool pool, uint64_t bytes)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next) {
        if (TTS_UNLIKELY(fold->device_count > 1))
            tts_tally_alloc(&watch->whole, pool, bytes);
        for (const struct tts_fold_device *at = device; at;
             at = tts_fold_next(fold, device, at))
            tts_tally_alloc(&tts_watch_touch(watch, at)->run, pool, bytes);
    }
}

static TTS_FORCE_INLINE void count_free(struct tts_fold *fold,
                                        const struct tts_fold_device *device,
                                        enum tts_pool pool, uint64_t bytes)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next) {
        if (TTS_UNLIKELY(fold->device_count > 1))
            tts_tally_free(&watch->whole, pool, bytes);
        for (const struct tts_fold_device *at = device; at;
             at = tts_fold_next(fold, device, at))
            tts_tally_free(&tts_watch_touch(watch, at)->run, pool, bytes);
    }
}

/* count_any_alloc() and count_any_free() count an event of any pool. Other callers pass the
 * most frequent pools, DRAM and L1, as constants to the inlined functions. */
static TTS_NOINLINE void count_any_alloc(struct tts_fold *fold,
                                         const struct tts_fold_device *device,
                                         enum tts_pool pool, uint64_t bytes)
{
    count_alloc(fold, device, pool, bytes);
}

static TTS_NOINLINE void count_any_free(struct tts_fold *fold,
                                        const struct tts_fold_device *device,
                                        enum tts_pool pool, uint64_t bytes)
{
    count_free(fold, device, pool, bytes);
}

TTS_COLD static void count_traced(struct tts_fold *fold, const struct tts_fold_device *device,
                                  uint64_t bytes)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next) {
        if (device->trace_depth > 0)
            watch->whole.traced_bytes += bytes;
        for (const struct tts_fold_device *at = device; at;
             at = tts_fold_next(fold, device, at))
            if (at->trace_depth > 0)
                tts_watch_touch(watch, at)->run.traced_bytes += bytes;
    }
}

/* Takes a freed L1 buffer off its cores. The L1 part of its ledger entry stays. */
static void release_l1(struct tts_fold *fold, struct tts_fold_device *device, uint32_t place)
{
    const struct tts_l1_entry *part = tts_ledger_l1(fold->ledger, place);
    assert(part && part->device == device->idx);
    if (TTS_LIKELY(part->pool == TTS_POOL_L1))
        count_free(fold, device, TTS_POOL_L1, part->bytes_per_bank);
    else
        count_any_free(fold, device, (enum tts_pool)part->pool, part->bytes_per_bank);
    take_off_cores(fold, device, part);
}

static TTS_FORCE_INLINE void release_buffer(struct tts_fold *fold,
                                            struct tts_fold_device *device, uint32_t place)
{
    enum tts_pool pool = tts_ledger_pool(fold->ledger, place);
    if (TTS_LIKELY(pool == TTS_POOL_DRAM))
        count_free(fold, device, TTS_POOL_DRAM, tts_ledger_size(fold->ledger, place));
    else if (tts_pool_is_l1(pool))
        release_l1(fold, device, place);
    else
        count_any_free(fold, device, pool, tts_ledger_size(fold->ledger, place));
}

/* ---- effects of events: on the capture path `change` is the constant NULL, and the code
 * disappears ---- */

static TTS_FORCE_INLINE void tell_left(const struct tts_fold *fold, uint32_t place,
                                       struct tts_change *change)
{
    if (!change)
        return;
    change->has_left = true;
    change->left = tts_fold_live_at(fold, place);
}

static TTS_FORCE_INLINE void tell_come(const struct tts_fold *fold, uint32_t place,
                                       struct tts_change *change)
{
    if (!change || place == TTS_LEDGER_NONE)
        return;
    change->has_come = true;
    change->came = tts_fold_live_at(fold, place);
}

/* ---- allocations and frees ---- */

TTS_COLD static void replace_buffer(struct tts_fold *fold, struct tts_fold_device *device,
                                    uint32_t place, struct tts_entry entry,
                                    struct tts_change *change)
{
    fold->health.doubled++;
    tell_left(fold, place, change);
    release_buffer(fold, device, place);
    tts_ledger_drop_l1(fold->ledger, place);
    tts_ledger_replace(fold->ledger, place, entry);
}

/* Enters a buffer. Returns its place, or TTS_LEDGER_NONE if there is no memory for it. */
static TTS_FORCE_INLINE uint32_t record_buffer(struct tts_fold *fold,
                                               struct tts_fold_device *device,
                                               struct tts_entry entry,
                                               struct tts_change *change)
{
    bool is_new;
    entry.device = (uint8_t)device->idx;
    entry.seq = fold->seq;
    uint32_t place = tts_ledger_enter(fold->ledger, entry, &is_new);
    if (TTS_UNLIKELY(place == TTS_LEDGER_NONE))
        fold->health.unlisted++;
    else if (TTS_UNLIKELY(!is_new))
        replace_buffer(fold, device, place, entry, change);
    return place;
}

static TTS_FORCE_INLINE uint32_t op_of_hash(struct tts_fold *fold, uint64_t op_hash)
{
    return op_hash ? tts_opnames_find(fold->names, op_hash) : TTS_OPNAMES_NONE;
}

static TTS_FORCE_INLINE void alloc_plain(struct tts_fold *fold, struct tts_fold_device *device,
                                         struct tts_entry entry, struct tts_change *change)
{
    enum tts_pool pool = (enum tts_pool)entry.pool;
    assert(entry.size_bytes > 0 && !tts_pool_is_l1(pool));
    tell_come(fold, record_buffer(fold, device, entry, change), change);
    if (TTS_UNLIKELY(pool != TTS_POOL_DRAM)) {
        count_any_alloc(fold, device, pool, entry.size_bytes);
        return;
    }
    count_alloc(fold, device, TTS_POOL_DRAM, entry.size_bytes);
    if (TTS_UNLIKELY(fold->trace_depth > 0))
        count_traced(fold, device, entry.size_bytes);
}

static TTS_FORCE_INLINE void change_l1(struct tts_fold *fold, struct tts_fold_device *device,
                                       const struct tts_event *event, uint64_t op_hash,
                                       struct tts_change *change)
{
    assert(event->size_bytes > 0 && tts_pool_is_l1(event->pool));
    uint32_t op = op_of_hash(fold, op_hash);
    uint32_t place = record_buffer(fold, device,
                                   (struct tts_entry){.id = event->id,
                                                      .size_bytes = event->size_bytes,
                                                      .op = (uint16_t)op,
                                                      .pool = (uint8_t)event->pool},
                                   change);
    struct tts_l1_entry *part =
        place == TTS_LEDGER_NONE ? NULL : tts_ledger_add_l1(fold->ledger, place);
    if (TTS_LIKELY(event->pool == TTS_POOL_L1))
        count_alloc(fold, device, TTS_POOL_L1, event->bytes_per_bank);
    else
        count_any_alloc(fold, device, event->pool, event->bytes_per_bank);
    place_on_cores(fold, device, event, part, op);
    tell_come(fold, place, change);
    if (fold->trace_depth > 0 && event->pool == TTS_POOL_L1)
        count_traced(fold, device, event->bytes_per_bank);
}

/* Allocates a buffer in L1. Not inlined, so that other events do not reserve stack space for
 * this case. */
static TTS_NOINLINE void alloc_l1(struct tts_fold *fold, struct tts_fold_device *device,
                                  const struct tts_event *event, uint64_t op_hash)
{
    change_l1(fold, device, event, op_hash, NULL);
}

/* Lists the device in the current phase of each watch, without changing its figures. */
static void touch_device(struct tts_fold *fold, const struct tts_fold_device *device)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        for (const struct tts_fold_device *at = device; at;
             at = tts_fold_next(fold, device, at))
            tts_watch_touch(watch, at);
}

/* Counts an event that frees a buffer that is not in the ledger. */
TTS_COLD static void free_unknown(struct tts_fold *fold, const struct tts_fold_device *device,
                                  enum tts_pool pool, uint64_t bytes)
{
    if (bytes == 0) {
        fold->health.unknown_frees++;
        touch_device(fold, device);
        return;
    }
    fold->health.unseen_frees++;
    count_any_free(fold, device, pool, bytes);
}

/* Frees a buffer. `bytes` is the number of bytes that the pool counts. It is used only if the
 * buffer is not in the ledger. */
static TTS_FORCE_INLINE enum tts_fold_outcome
free_buffer(struct tts_fold *fold, struct tts_fold_device *device, uint64_t id,
            enum tts_pool pool, uint64_t bytes, struct tts_change *change)
{
    uint32_t place = tts_ledger_find(fold->ledger, (uint8_t)device->idx, id);
    if (TTS_UNLIKELY(place == TTS_LEDGER_NONE)) {
        free_unknown(fold, device, pool, bytes);
        return TTS_FOLD_UNSEEN;
    }
    tell_left(fold, place, change);
    release_buffer(fold, device, place);
    tts_ledger_remove(fold->ledger, place);
    return TTS_FOLD_COUNTED;
}

/* ---- operations and traces ---- */

static void count_op(struct tts_fold *fold, const struct tts_event *event, uint64_t op_hash)
{
    tts_opnames_add(fold->names, op_hash, event->name, event->name_len);
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        watch->ops++;
}

static void begin_trace(struct tts_fold *fold, struct tts_fold_device *device)
{
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at)) {
        at->trace_depth++;
        fold->trace_depth++;
    }
}

static void count_device_trace(struct tts_fold *fold, const struct tts_fold_device *device)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        tts_watch_touch(watch, device)->run.traces++;
}

static void end_trace(struct tts_fold *fold, struct tts_fold_device *device)
{
    if (device->trace_depth > 0)
        for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
            watch->whole.traces++;
    for (struct tts_fold_device *at = device; at; at = tts_fold_next(fold, device, at)) {
        if (at->trace_depth == 0)
            continue;
        count_device_trace(fold, at);
        at->trace_depth--;
        assert(fold->trace_depth > 0);
        fold->trace_depth--;
    }
}

/* ---- events ---- */

static void fold_rare(struct tts_fold *fold, struct tts_fold_device *device,
                      const struct tts_event *event, uint64_t op_hash)
{
    touch_device(fold, device);
    switch (event->kind) {
    case TTS_EVENT_PROGRAM:
        begin_program(fold, device);
        break;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        place_program_part(fold, device, event, true, fold->seq,
                           tts_opnames_find(fold->names, op_hash));
        break;
    case TTS_EVENT_TRACE_BEGIN:
        begin_trace(fold, device);
        break;
    case TTS_EVENT_TRACE_END:
        end_trace(fold, device);
        break;
    case TTS_EVENT_FAILURE:
        break; /* a refused request changes no memory */
    case TTS_EVENT_ALLOC:
    case TTS_EVENT_FREE:
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_OP_END:
        assert(!"not of a device, or not rare");
    }
}

/* Counts a dropped event. Returns NULL. */
TTS_COLD static struct tts_fold_device *drop_event(struct tts_fold *fold)
{
    fold->health.dropped++;
    fold->is_lost = true;
    return NULL;
}

static TTS_FORCE_INLINE struct tts_fold_device *begin_device_event(struct tts_fold *fold,
                                                                   uint32_t id)
{
    struct tts_fold_device *device = device_of_id(fold, id);
    if (TTS_UNLIKELY(!device))
        return drop_event(fold);
    fold->seq++;
    return device;
}

static TTS_FORCE_INLINE enum tts_fold_outcome
fold_alloc(struct tts_fold *fold, uint32_t device_id, enum tts_pool pool, uint64_t id,
           uint64_t size_bytes, uint64_t op_hash, struct tts_change *change)
{
    struct tts_fold_device *device = begin_device_event(fold, device_id);
    if (TTS_UNLIKELY(!device))
        return TTS_FOLD_DROPPED;
    alloc_plain(fold, device,
                (struct tts_entry){.id = id,
                                   .size_bytes = size_bytes,
                                   .op = (uint16_t)op_of_hash(fold, op_hash),
                                   .pool = (uint8_t)pool},
                change);
    return TTS_FOLD_COUNTED;
}

static TTS_FORCE_INLINE enum tts_fold_outcome fold_free(struct tts_fold *fold,
                                                        uint32_t device_id, enum tts_pool pool,
                                                        uint64_t id, uint64_t size_bytes,
                                                        struct tts_change *change)
{
    assert(!tts_pool_is_l1(pool));
    struct tts_fold_device *device = begin_device_event(fold, device_id);
    if (TTS_UNLIKELY(!device))
        return TTS_FOLD_DROPPED;
    return free_buffer(fold, device, id, pool, size_bytes, change);
}

enum tts_fold_outcome tts_fold_alloc(struct tts_fold *fold, uint32_t device, enum tts_pool pool,
                                     uint64_t id, uint64_t size_bytes, uint64_t op_hash)
{
    return fold_alloc(fold, device, pool, id, size_bytes, op_hash, NULL);
}

enum tts_fold_outcome tts_fold_free_buffer(struct tts_fold *fold, uint32_t device,
                                           enum tts_pool pool, uint64_t id, uint64_t size_bytes)
{
    return fold_free(fold, device, pool, id, size_bytes, NULL);
}

void tts_fold_alloc_dram(struct tts_fold *fold, uint32_t device, uint64_t id,
                         uint64_t size_bytes)
{
    fold_alloc(fold, device, TTS_POOL_DRAM, id, size_bytes, 0, NULL);
}

void tts_fold_free_dram(struct tts_fold *fold, uint32_t device, uint64_t id,
                        uint64_t size_bytes)
{
    fold_free(fold, device, TTS_POOL_DRAM, id, size_bytes, NULL);
}

static TTS_FORCE_INLINE enum tts_fold_outcome fold_l1(struct tts_fold *fold,
                                                      const struct tts_event *event,
                                                      uint64_t op_hash,
                                                      struct tts_change *change)
{
    struct tts_fold_device *device = begin_device_event(fold, event->device);
    if (!device)
        return TTS_FOLD_DROPPED;
    if (event->kind == TTS_EVENT_FREE)
        return free_buffer(fold, device, event->id, event->pool,
                           event->size_bytes ? event->bytes_per_bank : 0, change);
    if (change)
        change_l1(fold, device, event, op_hash, change);
    else
        alloc_l1(fold, device, event, op_hash);
    return TTS_FOLD_COUNTED;
}

static enum tts_fold_outcome fold_other(struct tts_fold *fold, const struct tts_event *event,
                                        uint64_t op_hash)
{
    if (event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END) {
        fold->seq++;
        if (event->kind == TTS_EVENT_OP_BEGIN)
            count_op(fold, event, op_hash);
        return TTS_FOLD_COUNTED;
    }
    struct tts_fold_device *device = begin_device_event(fold, event->device);
    if (!device)
        return TTS_FOLD_DROPPED;
    fold_rare(fold, device, event, op_hash);
    return TTS_FOLD_COUNTED;
}

static TTS_FORCE_INLINE enum tts_fold_outcome fold_event(struct tts_fold *fold,
                                                         const struct tts_event *event,
                                                         uint64_t op_hash,
                                                         struct tts_change *change)
{
    tts_assert_expensive(tts_event_check(event, NULL) == TTS_OK);
    enum tts_fold_outcome outcome = TTS_FOLD_COUNTED;
    if (event->kind > TTS_EVENT_FREE)
        outcome = fold_other(fold, event, op_hash);
    else if (event->kind == TTS_EVENT_ALLOC && event->size_bytes == 0)
        fold->seq++; /* the buffer takes no memory */
    else if (tts_pool_is_l1(event->pool))
        outcome = fold_l1(fold, event, op_hash, change);
    else if (event->kind == TTS_EVENT_ALLOC)
        outcome = fold_alloc(fold, event->device, event->pool, event->id, event->size_bytes,
                             op_hash, change);
    else if (change)
        outcome =
            fold_free(fold, event->device, event->pool, event->id, event->size_bytes, change);
    else
        outcome = tts_fold_free_buffer(fold, event->device, event->pool, event->id,
                                       event->size_bytes);
    return outcome;
}

enum tts_fold_outcome tts_fold_event(struct tts_fold *fold, const struct tts_event *event,
                                     uint64_t op_hash)
{
    return fold_event(fold, event, op_hash, NULL);
}

/* Describes a buffer that is not in the ledger by the values of the event. */
static struct tts_live unlisted_live(const struct tts_event *event, uint64_t seq)
{
    return (struct tts_live){.id = event->id,
                             .size_bytes = event->size_bytes,
                             .bytes_per_bank = event->bytes_per_bank,
                             .block_bytes = event->block_bytes,
                             .seq = seq,
                             .device = event->device,
                             .pool = event->pool};
}

enum tts_fold_outcome tts_fold_change(struct tts_fold *fold, const struct tts_event *event,
                                      uint64_t op_hash, struct tts_change *out)
{
    tts_change_clear(out);
    enum tts_fold_outcome outcome = fold_event(fold, event, op_hash, out);
    out->seq = fold->seq;
    if (outcome == TTS_FOLD_UNSEEN && event->size_bytes > 0) {
        out->has_unseen = true;
        out->left = unlisted_live(event, 0);
    }
    if (event->kind == TTS_EVENT_ALLOC && event->size_bytes > 0 && !out->has_come &&
        outcome == TTS_FOLD_COUNTED) {
        out->has_come = out->is_unlisted = true;
        out->came = unlisted_live(event, fold->seq);
    }
    return outcome;
}

/* ---- names ---- */

void tts_fold_name(struct tts_fold *fold, uint64_t op_hash, const char *name, size_t len)
{
    tts_opnames_add(fold->names, op_hash, name, len);
}

const char *tts_fold_op_text(struct tts_fold *fold, uint64_t op_hash)
{
    return tts_opnames_text(fold->names, tts_opnames_find(fold->names, op_hash));
}

const char *tts_fold_op_other(void)
{
    return tts_opnames_text(NULL, TTS_OPNAMES_OTHER);
}

uint64_t tts_fold_seq(const struct tts_fold *fold)
{
    return fold->seq;
}

/* ---- chips of a mesh ---- */

/* Returns whether the mesh has nothing on its chips. */
static bool is_mesh_idle(const struct tts_fold_device *mesh)
{
    return mesh->cores.all_bytes == 0 && mesh->cores.top_bytes == 0 && mesh->trace_depth == 0;
}

static enum tts_status check_chip(const struct tts_fold *fold, uint32_t chip, uint32_t mesh,
                                  struct tts_error *err)
{
    const struct tts_fold_device *part = tts_fold_find(fold, chip),
                                 *whole = tts_fold_find(fold, mesh);
    if (chip == mesh)
        return tts_error_set(err, TTS_E_INVALID,
                             "device %u cannot be a chip of itself: give the mesh its own id",
                             chip);
    if (part && part->mesh != TTS_FOLD_NO_DEVICE && !is_mesh_idle(&fold->devices[part->mesh]))
        return tts_error_set(
            err, TTS_E_BUSY,
            "chip %u is in mesh %u, which still has buffers on its cores: free "
            "these buffers first",
            chip, fold->ids[part->mesh]);
    if (part && part->first_chip != TTS_FOLD_NO_DEVICE)
        return tts_error_set(err, TTS_E_INVALID,
                             "device %u is a mesh: name its chips one by one", chip);
    if (whole && whole->mesh != TTS_FOLD_NO_DEVICE)
        return tts_error_set(err, TTS_E_INVALID,
                             "device %u is a chip of mesh %u: name that mesh instead", mesh,
                             fold->ids[whole->mesh]);
    uint32_t needed = (uint32_t)!part + (uint32_t)!whole;
    if (needed > fold->limits.devices_max - fold->device_count)
        return tts_error_set(err, TTS_E_RANGE,
                             "no room for chip %u of mesh %u: raise devices_max above %u", chip,
                             mesh, fold->limits.devices_max);
    if (part && whole &&
        (!tts_cores_have_room_on_all(&part->cores, whole->cores.all_bytes) ||
         !tts_cores_have_room(&part->cores, whole->cores.top_bytes)))
        return tts_error_set(
            err, TTS_E_RANGE,
            "chip %u and mesh %u have too many bytes together: report the mesh "
            "before its buffers",
            chip, mesh);
    return TTS_OK;
}

/* ---- merging: the earlier events of a mesh also count for a chip that joins it ---- */

static void add_pool_tally(struct tts_pool_tally *run, const struct tts_pool_tally *other)
{
    run->allocated_bytes += other->allocated_bytes;
    run->freed_bytes += other->freed_bytes;
    run->allocations += other->allocations;
    run->frees += other->frees;
}

static int64_t max_bytes(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Adds the pools of `other`. The new peak is the largest of both peaks and the current
 * bytes. */
static void merge_pools(struct tts_tally *run, const struct tts_tally *other)
{
    for (int i = 0; i < TTS_PAIRS; i++) {
        enum tts_pool_pair pair = (enum tts_pool_pair)i;
        enum tts_pool first = tts_pair_first(pair), second = tts_pair_second(pair);
        tts_tally_mark_pair(run, pair);
        struct tts_pair_tally *kept = &run->pairs[pair];
        kept->peak_bytes = max_bytes(kept->peak_bytes, tts_tally_pair_peak(other, pair));
        kept->first_peak_bytes =
            max_bytes(kept->first_peak_bytes, tts_tally_peak(other, first));
        add_pool_tally(&run->pools[first], &other->pools[first]);
        add_pool_tally(&run->pools[second], &other->pools[second]);
        run->pools[first].peak_bytes = tts_pool_tally_change(&run->pools[first]);
        int64_t peak =
            max_bytes(run->pools[second].peak_bytes, other->pools[second].peak_bytes);
        run->pools[second].peak_bytes =
            max_bytes(peak, tts_pool_tally_change(&run->pools[second]));
    }
}

static void merge_tally(struct tts_tally *run, const struct tts_tally *other)
{
    merge_pools(run, other);
    for (int kind = 0; kind < TTS_PROGRAM_KINDS; kind++) {
        run->program_bytes[kind] += other->program_bytes[kind];
        int64_t peak =
            max_bytes(run->program_peak_bytes[kind], other->program_peak_bytes[kind]);
        run->program_peak_bytes[kind] = max_bytes(peak, (int64_t)run->program_bytes[kind]);
    }
    run->core_bytes += other->core_bytes;
    run->total_peak_bytes = max_bytes(run->total_peak_bytes, other->total_peak_bytes);
    tts_tally_note_total(run);
    run->programs += other->programs;
    run->traces += other->traces;
    run->traced_bytes += other->traced_bytes;
}

static void merge_totals(struct tts_pool_total *totals, const struct tts_pool_total *other,
                         int count)
{
    for (int i = 0; i < count; i++) {
        totals[i].current_bytes += other[i].current_bytes;
        int64_t least = max_bytes((int64_t)totals[i].current_bytes, other[i].peak_bytes);
        totals[i].peak_bytes = max_bytes(totals[i].peak_bytes, least);
    }
}

static void touch_chip_and_mesh(const struct tts_fold *fold, const struct tts_fold_device *chip,
                                const struct tts_fold_device *mesh)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next) {
        bool mesh_is_listed = watch->devices[mesh->idx].is_listed;
        if (mesh_is_listed)
            tts_watch_touch(watch, mesh);
        else
            tts_corepeak_start(&watch->devices[mesh->idx].peak, &mesh->cores, watch->start_seq);
        if (mesh_is_listed || watch->devices[chip->idx].is_listed)
            tts_watch_touch(watch, chip);
    }
}

static void merge_cores(struct tts_fold *fold, struct tts_cores *cores,
                        const struct tts_cores *other)
{
    tts_cores_merge(cores, other);
    for (uint32_t i = 0; i < other->program_count; i++)
        if (tts_cores_list(cores, &other->grid->program[i]))
            tts_coresets_hold_again(fold->sets, other->grid->program[i].set);
}

/* A chip without figures takes the figures of its mesh. If both have figures, the peak restarts
 * from the current use, because the order of their events is unknown. */
static void merge_seen(struct tts_fold *fold, struct tts_fold_device *chip,
                       struct tts_watch_device *seen, const struct tts_watch_device *other)
{
    assert(seen->is_listed && seen->peak.part != other->peak.part);
    merge_tally(&seen->run, &other->run);
    merge_totals(seen->totals, other->totals, TTS_POOLS);
    merge_totals(seen->pair_totals, other->pair_totals, TTS_PAIRS);
    if (other->peak.sum.bytes == 0)
        return;
    if (seen->peak.sum.bytes == 0) {
        tts_corepeak_copy(&seen->peak, &other->peak);
        return;
    }
    tts_corepeak_start(&seen->peak, &chip->cores, fold->seq);
    lose_cores(fold, chip);
}

static void merge_mesh(struct tts_fold *fold, struct tts_fold_device *chip,
                       const struct tts_fold_device *mesh)
{
    touch_chip_and_mesh(fold, chip, mesh);
    merge_cores(fold, &chip->cores, &mesh->cores);
    chip->trace_depth += mesh->trace_depth;
    fold->trace_depth += mesh->trace_depth;
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        if (watch->devices[chip->idx].is_listed)
            merge_seen(fold, chip, &watch->devices[chip->idx], &watch->devices[mesh->idx]);
}

/* Removes a chip from its mesh. */
static void leave_mesh(struct tts_fold *fold, struct tts_fold_device *chip)
{
    struct tts_fold_device *mesh = &fold->devices[chip->mesh];
    assert(is_mesh_idle(mesh));
    uint16_t *link = &mesh->first_chip, before = TTS_FOLD_NO_DEVICE;
    while (*link != chip->idx) {
        before = *link;
        link = &fold->devices[*link].next_chip;
    }
    *link = chip->next_chip;
    if (mesh->last_chip == chip->idx)
        mesh->last_chip = before;
    chip->next_chip = chip->mesh = TTS_FOLD_NO_DEVICE;
}

static void append_chip(struct tts_fold *fold, struct tts_fold_device *chip,
                        struct tts_fold_device *mesh)
{
    assert(chip->mesh == TTS_FOLD_NO_DEVICE && chip->next_chip == TTS_FOLD_NO_DEVICE);
    assert(chip->first_chip == TTS_FOLD_NO_DEVICE && mesh->mesh == TTS_FOLD_NO_DEVICE);
    chip->mesh = mesh->idx;
    if (mesh->last_chip == TTS_FOLD_NO_DEVICE)
        mesh->first_chip = chip->idx;
    else
        fold->devices[mesh->last_chip].next_chip = chip->idx;
    mesh->last_chip = chip->idx;
}

enum tts_status tts_fold_chip(struct tts_fold *fold, uint32_t chip, uint32_t mesh,
                              struct tts_error *err)
{
    const struct tts_fold_device *known = tts_fold_find(fold, chip);
    if (known && known->mesh != TTS_FOLD_NO_DEVICE && fold->ids[known->mesh] == mesh)
        return TTS_OK;
    enum tts_status status = check_chip(fold, chip, mesh, err);
    if (status != TTS_OK)
        return status;
    struct tts_fold_device *whole = device_of_id(fold, mesh);
    struct tts_fold_device *part = device_of_id(fold, chip);
    assert(whole && part);
    if (part->mesh != TTS_FOLD_NO_DEVICE)
        leave_mesh(fold, part);
    merge_mesh(fold, part, whole);
    append_chip(fold, part, whole);
    return TTS_OK;
}

/* ---- keyframes: tts_fold_tell() is in fold_now.c ---- */

static enum tts_status no_device_left(const struct tts_fold *fold, struct tts_error *err)
{
    return tts_error_set(err, TTS_E_RANGE,
                         "the file has too many devices: the maximum is %" PRIu32,
                         fold->limits.devices_max);
}

static enum tts_status fail_later_entry(const struct tts_fold *fold,
                                        const struct tts_item *item, struct tts_error *err)
{
    return tts_error_set(err, TTS_E_INVALID,
                         "damaged recording: a keyframe after event %" PRIu64
                         " has an entry of the later event %" PRIu64,
                         fold->seq, item->live.seq);
}

static uint32_t restore_op(struct tts_fold *fold, const struct tts_item_op *op)
{
    if (op->hash && op->name)
        tts_opnames_add(fold->names, op->hash, op->name, op->name_len);
    return tts_opnames_find(fold->names, op->hash);
}

/* Returns the event that allocated the buffer of an item. */
static struct tts_event alloc_event_of(const struct tts_item *item)
{
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, item->live.device);
    event.pool = item->live.pool;
    event.id = item->live.id;
    event.size_bytes = item->live.size_bytes;
    event.bytes_per_bank = item->live.bytes_per_bank;
    event.block_bytes = item->live.block_bytes;
    event.ranges = item->event.ranges;
    event.range_count = item->event.range_count;
    return event;
}

static enum tts_status restore_live_item(struct tts_fold *fold, const struct tts_item *item,
                                         struct tts_change *change, struct tts_error *err)
{
    struct tts_event event = alloc_event_of(item);
    enum tts_status status = tts_event_check(&event, err);
    if (status != TTS_OK)
        return status;
    if (event.size_bytes == 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "damaged recording: a keyframe has buffer %" PRIu64
                             " with a size of 0 bytes",
                             event.id);
    if (item->live.seq > fold->seq)
        return fail_later_entry(fold, item, err);
    struct tts_fold_device *device = device_of_id(fold, event.device);
    if (!device)
        return no_device_left(fold, err);
    uint32_t op = restore_op(fold, &item->op);
    bool is_new;
    uint32_t place = tts_ledger_enter(fold->ledger,
                                      (struct tts_entry){.id = event.id,
                                                         .size_bytes = event.size_bytes,
                                                         .seq = item->live.seq,
                                                         .op = (uint16_t)op,
                                                         .device = (uint8_t)device->idx,
                                                         .pool = (uint8_t)event.pool},
                                      &is_new);
    if (place == TTS_LEDGER_NONE)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    if (!is_new)
        return tts_error_set(err, TTS_E_INVALID,
                             "damaged recording: a keyframe has buffer %" PRIu64 " twice",
                             event.id);
    if (tts_pool_is_l1(event.pool))
        place_on_cores(fold, device, &event, tts_ledger_add_l1(fold->ledger, place), op);
    if (change) {
        change->has_come = change->is_restored = true;
        change->came = tts_fold_live_at(fold, place);
    }
    return TTS_OK;
}

static enum tts_status restore_part_item(struct tts_fold *fold, const struct tts_item *item,
                                         struct tts_error *err)
{
    enum tts_status status = tts_event_check(&item->event, err);
    if (status != TTS_OK)
        return status;
    if (item->event.kind < TTS_EVENT_CB || item->event.kind > TTS_EVENT_SCRATCHPAD)
        return tts_error_set(
            err, TTS_E_INVALID,
            "damaged recording: a keyframe has an entry of kind %u, expected a "
            "circular buffer, dataflow buffer or scratchpad (%d to %d)",
            (unsigned)item->event.kind, TTS_EVENT_CB, TTS_EVENT_SCRATCHPAD);
    if (item->live.seq > fold->seq)
        return fail_later_entry(fold, item, err);
    struct tts_fold_device *device = device_of_id(fold, item->event.device);
    if (!device)
        return no_device_left(fold, err);
    place_program_part(fold, device, &item->event, false, item->live.seq,
                       restore_op(fold, &item->op));
    return TTS_OK;
}

static enum tts_status restore_trace_depth(struct tts_fold *fold, const struct tts_item *item,
                                           struct tts_error *err)
{
    struct tts_fold_device *device = device_of_id(fold, item->device);
    if (!device)
        return no_device_left(fold, err);
    if (item->count > UINT32_MAX)
        return tts_error_set(err, TTS_E_INVALID,
                             "damaged recording: a keyframe says that device %" PRIu32
                             " captures %" PRIu64 " traces, but the maximum is %" PRIu32,
                             item->device, item->count, UINT32_MAX);
    if (device->trace_depth > 0)
        return tts_error_set(
            err, TTS_E_INVALID,
            "damaged recording: a keyframe counts the traces of device %" PRIu32 " twice",
            item->device);
    device->trace_depth = item->count;
    fold->trace_depth += item->count;
    return TTS_OK;
}

static enum tts_status restore_keyframe_seq(struct tts_fold *fold, const struct tts_item *item,
                                            struct tts_error *err)
{
    if (item->seq >= TTS_FOLD_SEQ_MAX)
        return tts_error_set(err, TTS_E_RANGE,
                             "damaged recording: an event has number %" PRIu64
                             ", expected less than %" PRIu64,
                             item->seq, (uint64_t)TTS_FOLD_SEQ_MAX);
    fold->seq = item->seq;
    tts_ledger_expect(fold->ledger, item->count);
    return TTS_OK;
}

enum tts_status tts_fold_restore(struct tts_fold *fold, const struct tts_item *item,
                                 struct tts_change *out, struct tts_error *err)
{
    assert(!fold->watches);
    if (out) {
        tts_change_clear(out);
        out->seq = fold->seq;
    }
    switch ((int)item->kind) {
    case TTS_ITEM_KEYFRAME:
        return restore_keyframe_seq(fold, item, err);
    case TTS_ITEM_CHIP:
        return tts_fold_chip(fold, item->device, item->mesh, err);
    case TTS_ITEM_MISSED:
        tts_fold_miss(fold);
        return TTS_OK;
    case TTS_ITEM_LIVE:
        return restore_live_item(fold, item, out, err);
    case TTS_ITEM_PART:
        return restore_part_item(fold, item, err);
    case TTS_ITEM_TRACING:
        return restore_trace_depth(fold, item, err);
    default:
        return TTS_OK;
    }
}

/* ---- validity ---- */

/* The use of a device's cores that follows from the ledger, to compare it with the stored
 * use. */
struct expected {
    uint64_t all[TTS_CORE_KINDS], all_parts, some_parts;
    uint64_t some[TTS_CORE_KINDS]; /* sum of bytes x cores, by kind */
};

static uint64_t core_set_area(const struct tts_fold *fold, uint32_t set)
{
    size_t count;
    const struct tts_box *box = tts_coresets_boxes(fold->sets, set, &count);
    uint64_t cores = 0;
    for (size_t i = 0; i < count; i++)
        cores += (uint64_t)(box[i].x1 - box[i].x0 + 1) * (uint64_t)(box[i].y1 - box[i].y0 + 1);
    return cores;
}

static void expect_on_cores(const struct tts_fold *fold, const struct tts_fold_device *device,
                            struct expected *out)
{
    *out = (struct expected){0};
    uint32_t cursor = tts_ledger_l1_head(fold->ledger);
    for (const struct tts_l1_entry *entry;
         (entry = tts_ledger_l1_next(fold->ledger, &cursor));) {
        if (entry->device != device->idx && entry->device != device->mesh)
            continue;
        enum tts_core_kind kind = tts_pool_core_kind((enum tts_pool)entry->pool);
        if (entry->cores == TTS_CORESETS_EVERY) {
            out->all[kind] += entry->block_bytes;
            out->all_parts++;
        } else if (entry->cores != TTS_CORESETS_NOWHERE) {
            out->some[kind] += entry->block_bytes * core_set_area(fold, entry->cores);
            out->some_parts++;
        }
    }
    for (uint32_t i = 0; i < device->cores.program_count; i++) {
        const struct tts_program_part *part = &device->cores.grid->program[i];
        out->some[part->kind] += part->bytes * core_set_area(fold, part->set);
    }
}

static bool is_device_valid(const struct tts_fold *fold, const struct tts_fold_device *device)
{
    const struct tts_cores *cores = &device->cores;
    if (!tts_cores_are_valid(cores))
        return false;
    struct expected expected;
    expect_on_cores(fold, device, &expected);
    if (expected.all_parts != cores->all_parts || expected.some_parts != cores->some_parts)
        return false;
    for (int kind = 0; kind < TTS_CORE_KINDS; kind++) {
        if (expected.all[kind] != cores->all[kind])
            return false;
        uint64_t some = 0;
        for (int core = 0; cores->has_grid && core < TTS_CORES_MAX; core++)
            some += cores->grid->by[kind][core];
        bool is_whole = kind >= TTS_PROGRAM_KINDS || !cores->has_unlisted;
        if (is_whole && some != expected.some[kind])
            return false;
    }
    return !cores->is_lost || fold->is_lost;
}

static bool are_links_valid(const struct tts_fold *fold, const struct tts_fold_device *device)
{
    uint16_t last = TTS_FOLD_NO_DEVICE;
    const struct tts_fold_device *at = tts_fold_next(fold, device, device);
    for (; at; at = tts_fold_next(fold, device, at)) {
        if (at->mesh != device->idx || at->first_chip != TTS_FOLD_NO_DEVICE)
            return false;
        last = at->idx;
    }
    return last == device->last_chip && tts_fold_find(fold, device->id) == device &&
           device == &fold->devices[device->idx];
}

static bool is_watch_valid(const struct tts_fold *fold, const struct tts_watch *watch)
{
    if (!watch->is_attached || watch->known_count != fold->device_count ||
        watch->start_seq > fold->seq)
        return false;
    uint16_t listed = 0;
    for (uint16_t i = 0; i < watch->known_count; i++) {
        const struct tts_watch_device *seen = &watch->devices[i];
        listed = (uint16_t)(listed + seen->is_listed);
        if (seen->phase == watch->phase && !seen->is_listed)
            return false;
        if (seen->phase != watch->phase)
            continue;
        if (seen->peak.sum.bytes < tts_cores_bytes(&fold->devices[i].cores) ||
            seen->peak.seq < watch->start_seq || seen->peak.seq > fold->seq)
            return false;
    }
    return listed == watch->listed_count;
}

bool tts_fold_is_valid(const struct tts_fold *fold)
{
    uint64_t depth = 0;
    if (!tts_ledger_is_valid(fold->ledger) || fold->device_count > fold->limits.devices_max)
        return false;
    for (uint16_t i = 0; i < fold->device_count; i++) {
        const struct tts_fold_device *device = &fold->devices[i];
        depth += device->trace_depth;
        if (!are_links_valid(fold, device) || !is_device_valid(fold, device))
            return false;
    }
    for (const struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        if (!is_watch_valid(fold, watch))
            return false;
    return depth == fold->trace_depth;
}
