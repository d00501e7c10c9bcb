#include "model/fold.h"

#include "base/compiler.h"
#include "model/fold_inside.h"

#include <assert.h>

/* ---- devices ---- */

TTS_COLD static struct tts_fold_device *enter(struct tts_fold *fold, uint32_t id)
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

static TTS_NOINLINE struct tts_fold_device *search(struct tts_fold *fold, uint32_t id)
{
    struct tts_fold_device *device = tts_fold_find(fold, id);
    if (TTS_UNLIKELY(!device))
        device = enter(fold, id);
    if (device) {
        fold->last_id = id;
        fold->last_idx = device->idx;
    }
    return device;
}

struct tts_fold_device *tts_fold_device(struct tts_fold *fold, uint32_t id)
{
    if (TTS_LIKELY(fold->last_id == id && fold->last_idx < fold->device_count))
        return &fold->devices[fold->last_idx];
    return search(fold, id);
}

TTS_COLD void tts_fold_lose(struct tts_fold *fold, struct tts_fold_device *device)
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
    return tts_fold_device(fold, device) != NULL;
}

/* ---- buffers ---- */

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

/* Of any pool: apart, so that DRAM and L1, which most events are of, are constants elsewhere.
 */
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

/* Of a buffer in L1 that is freed; its part stays in the ledger. */
static void release_l1(struct tts_fold *fold, struct tts_fold_device *device, uint32_t place)
{
    const struct tts_l1_entry *part = tts_ledger_l1(fold->ledger, place);
    assert(part && part->device == device->idx);
    if (TTS_LIKELY(part->pool == TTS_POOL_L1))
        count_free(fold, device, TTS_POOL_L1, part->bytes_per_bank);
    else
        count_any_free(fold, device, (enum tts_pool)part->pool, part->bytes_per_bank);
    tts_fold_displace(fold, device, part);
}

static TTS_FORCE_INLINE void release(struct tts_fold *fold, struct tts_fold_device *device,
                                     uint32_t place)
{
    enum tts_pool pool = tts_ledger_pool(fold->ledger, place);
    if (TTS_LIKELY(pool == TTS_POOL_DRAM))
        count_free(fold, device, TTS_POOL_DRAM, tts_ledger_size(fold->ledger, place));
    else if (tts_pool_is_l1(pool))
        release_l1(fold, device, place);
    else
        count_any_free(fold, device, pool, tts_ledger_size(fold->ledger, place));
}

/* ---- what a reader is told: `change` is NULL, a constant, where nobody reads ---- */

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

TTS_COLD static void replace(struct tts_fold *fold, struct tts_fold_device *device,
                             uint32_t place, struct tts_entry entry, struct tts_change *change)
{
    fold->health.doubled++;
    tell_left(fold, place, change);
    release(fold, device, place);
    tts_ledger_drop_l1(fold->ledger, place);
    tts_ledger_replace(fold->ledger, place, entry);
}

/* Its place; TTS_LEDGER_NONE: there is no memory for it. */
static TTS_FORCE_INLINE uint32_t record(struct tts_fold *fold, struct tts_fold_device *device,
                                        struct tts_entry entry, struct tts_change *change)
{
    bool is_new;
    entry.device = (uint8_t)device->idx;
    entry.seq = fold->seq;
    uint32_t place = tts_ledger_enter(fold->ledger, entry, &is_new);
    if (TTS_UNLIKELY(place == TTS_LEDGER_NONE))
        fold->health.unlisted++;
    else if (TTS_UNLIKELY(!is_new))
        replace(fold, device, place, entry, change);
    return place;
}

static TTS_FORCE_INLINE uint32_t op_of(struct tts_fold *fold, uint64_t op_hash)
{
    return op_hash ? tts_opnames_find(fold->names, op_hash) : TTS_OPNAMES_NONE;
}

static TTS_FORCE_INLINE void alloc_plain(struct tts_fold *fold, struct tts_fold_device *device,
                                         struct tts_entry entry, struct tts_change *change)
{
    enum tts_pool pool = (enum tts_pool)entry.pool;
    assert(entry.size_bytes > 0 && !tts_pool_is_l1(pool));
    tell_come(fold, record(fold, device, entry, change), change);
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
    uint32_t op = op_of(fold, op_hash);
    uint32_t place = record(fold, device,
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
    tts_fold_place(fold, device, event, part, op);
    tell_come(fold, place, change);
    if (fold->trace_depth > 0 && event->pool == TTS_POOL_L1)
        count_traced(fold, device, event->bytes_per_bank);
}

/* Apart, so that the other events need no room for it. */
static TTS_NOINLINE void alloc_l1(struct tts_fold *fold, struct tts_fold_device *device,
                                  const struct tts_event *event, uint64_t op_hash)
{
    change_l1(fold, device, event, op_hash, NULL);
}

/* It changes nothing, but the device had an event. */
static void touch(struct tts_fold *fold, const struct tts_fold_device *device)
{
    for (struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        for (const struct tts_fold_device *at = device; at;
             at = tts_fold_next(fold, device, at))
            tts_watch_touch(watch, at);
}

/* It is not in the ledger. */
TTS_COLD static void free_unknown(struct tts_fold *fold, const struct tts_fold_device *device,
                                  enum tts_pool pool, uint64_t bytes)
{
    if (bytes == 0) {
        fold->health.unknown_frees++;
        touch(fold, device);
        return;
    }
    fold->health.unseen_frees++;
    count_any_free(fold, device, pool, bytes);
}

/* `bytes` are by the measure of the pool, for a buffer that was not seen. */
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
    release(fold, device, place);
    tts_ledger_remove(fold->ledger, place);
    return TTS_FOLD_COUNTED;
}

/* ---- operations and traces ---- */

static void begin_op(struct tts_fold *fold, const struct tts_event *event, uint64_t op_hash)
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

static void count_trace(struct tts_fold *fold, const struct tts_fold_device *device)
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
        count_trace(fold, at);
        at->trace_depth--;
        assert(fold->trace_depth > 0);
        fold->trace_depth--;
    }
}

/* ---- events ---- */

static void fold_rare(struct tts_fold *fold, struct tts_fold_device *device,
                      const struct tts_event *event, uint64_t op_hash)
{
    touch(fold, device);
    switch (event->kind) {
    case TTS_EVENT_PROGRAM:
        tts_fold_program(fold, device);
        break;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        tts_fold_program_part(fold, device, event, tts_opnames_find(fold->names, op_hash));
        break;
    case TTS_EVENT_TRACE_BEGIN:
        begin_trace(fold, device);
        break;
    case TTS_EVENT_TRACE_END:
        end_trace(fold, device);
        break;
    case TTS_EVENT_FAILURE:
        break; /* it took nothing */
    case TTS_EVENT_ALLOC:
    case TTS_EVENT_FREE:
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_OP_END:
        assert(!"not of a device, or not rare");
    }
}

/* NULL: it is dropped. */
TTS_COLD static struct tts_fold_device *no_device(struct tts_fold *fold)
{
    fold->health.dropped++;
    fold->is_lost = true;
    return NULL;
}

static TTS_FORCE_INLINE struct tts_fold_device *begin(struct tts_fold *fold, uint32_t id)
{
    struct tts_fold_device *device = tts_fold_device(fold, id);
    if (TTS_UNLIKELY(!device))
        return no_device(fold);
    fold->seq++;
    return device;
}

static TTS_FORCE_INLINE enum tts_fold_outcome
fold_alloc(struct tts_fold *fold, uint32_t device_id, enum tts_pool pool, uint64_t id,
           uint64_t size_bytes, uint64_t op_hash, struct tts_change *change)
{
    struct tts_fold_device *device = begin(fold, device_id);
    if (TTS_UNLIKELY(!device))
        return TTS_FOLD_DROPPED;
    alloc_plain(fold, device,
                (struct tts_entry){.id = id,
                                   .size_bytes = size_bytes,
                                   .op = (uint16_t)op_of(fold, op_hash),
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
    struct tts_fold_device *device = begin(fold, device_id);
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
    struct tts_fold_device *device = begin(fold, event->device);
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
            begin_op(fold, event, op_hash);
        return TTS_FOLD_COUNTED;
    }
    struct tts_fold_device *device = begin(fold, event->device);
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
        fold->seq++; /* it takes nothing */
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

/* A buffer that the ledger does not have, as the event tells it. */
static struct tts_live live_of(const struct tts_event *event, uint64_t seq)
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
        out->left = live_of(event, 0);
    }
    if (event->kind == TTS_EVENT_ALLOC && event->size_bytes > 0 && !out->has_come &&
        outcome == TTS_FOLD_COUNTED) {
        out->has_come = out->is_unlisted = true;
        out->came = live_of(event, fold->seq);
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
