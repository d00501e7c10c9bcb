#include "capture/publisher.h"

#include "base/compiler.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/mapfile.h"
#include "base/ticks.h"
#include "capture/cbholders.h"
#include "capture/slotindex.h"
#include "capture/tracker_inside.h"
#include "wire/clientwriter.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFERS_DEFAULT = 1 << 16,
    EVENTS_DEFAULT = 1 << 14,
    EXIT_TRIES = 1000, /* attempts to end the publisher at exit, one each 0.1 ms */
};
static const char default_directory[] = "/dev/shm";

/* The index in ops[] of an operation, by its hash. An empty slot has the hash 0. */
struct published_op {
    uint64_t hash;
    uint16_t op; /* as in the region: 1 + index */
};

struct tts_publisher {
    /* 1 in the process that publishes, 0 in a child. */
    const volatile uint32_t *home;
    struct tts_tracker *tracker;
    struct tts_fold *fold;
    struct tts_clientwriter out;
    struct tts_slotindex listed;  /* the buffers in the table */
    struct tts_cbholders holders; /* those in L1, and the circular buffers in them */
    /* Buffers of the fold whose event has this number or a lower one are not counted here. */
    uint64_t first_seq;
    uint64_t dropped, unlisted, unknown_frees;
    uint64_t last_hash;
    uint16_t last_op, other_op;
    struct published_op *ops; /* hash table with ops_mask + 1 slots */
    uint32_t ops_mask;
    bool by_environment;
    uint32_t buffer_slots, event_slots;
    size_t ops_bytes; /* size of `ops` */
    const struct tts_alloc *alloc, *pages;
    char directory[TTS_CLIENTWRITER_PATH_MAX];
};

/* --- operations ------------------------------------------------------------------------- */

static uint16_t add_published_op(struct tts_publisher *p, const char *text)
{
    uint32_t idx = tts_clientwriter_add_op(&p->out, text);
    return idx == UINT32_MAX ? 0 : (uint16_t)(idx + 1);
}

/* All names that the fold could not store have one entry, so the hash table never has more
 * entries than the fold has names. */
static TTS_NOINLINE uint16_t find_published_op(struct tts_publisher *p, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & p->ops_mask;
    while (p->ops[at].hash != 0 && p->ops[at].hash != hash)
        at = (at + 1) & p->ops_mask;
    if (p->ops[at].hash == 0) {
        const char *text = tts_fold_op_text(p->fold, hash);
        if (text == tts_fold_op_other()) {
            if (p->other_op == 0)
                p->other_op = add_published_op(p, text);
            return p->other_op;
        }
        p->ops[at] = (struct published_op){hash, add_published_op(p, text)};
    }
    p->last_hash = hash;
    p->last_op = p->ops[at].op;
    return p->last_op;
}

static TTS_FORCE_INLINE uint16_t published_op_of(struct tts_publisher *p, uint64_t hash)
{
    if (TTS_LIKELY(hash == 0))
        return 0;
    return hash == p->last_hash ? p->last_op : find_published_op(p, hash);
}

/* --- counters --------------------------------------------------------------------------- */

static TTS_COLD void store_unlisted(struct tts_publisher *p, uint64_t unlisted)
{
    p->unlisted = unlisted;
    __atomic_store_n(&p->out.header->unlisted, unlisted, __ATOMIC_RELAXED);
}

TTS_COLD void tts_publisher_miss(struct tts_publisher *p, uint64_t count)
{
    p->dropped += count;
    __atomic_store_n(&p->out.header->dropped, p->dropped, __ATOMIC_RELAXED);
}

static TTS_FORCE_INLINE void add_to_pool(struct tts_clientregion_device *device,
                                         enum tts_pool kind, uint64_t bytes)
{
    struct tts_clientregion_pool *pool = &device->pools[kind];
    uint64_t now = tts_clientregion_add(&pool->allocated_bytes, bytes);
    tts_clientregion_add(&pool->buffers, 1);
    tts_clientregion_add(&pool->allocs, 1);
    if (now > pool->peak_bytes)
        pool->peak_bytes = now;
}

static TTS_FORCE_INLINE void take_from_pool(struct tts_clientregion_device *device,
                                            enum tts_pool kind, uint64_t bytes)
{
    struct tts_clientregion_pool *pool = &device->pools[kind];
    tts_clientregion_add(&pool->allocated_bytes, 0 - bytes);
    tts_clientregion_add(&pool->buffers, UINT64_MAX);
    tts_clientregion_add(&pool->frees, 1);
}

/* --- buffers ---------------------------------------------------------------------------- */

static TTS_FORCE_INLINE uint16_t device_index(const struct tts_publisher *p,
                                              const struct tts_clientregion_device *device)
{
    return (uint16_t)(device - p->out.devices);
}

/* The place of a buffer in the region and in the index. */
struct published_key {
    struct tts_clientregion_device *device; /* NULL if there is no slot for the device */
    uint32_t *link;
};

/* Finds the place of a buffer. The place is valid until the next change of the index. */
static TTS_FORCE_INLINE struct published_key
find_key_at(struct tts_publisher *p, struct tts_clientregion_device *device, uint64_t id)
{
    struct published_key key = {device, NULL};
    if (TTS_UNLIKELY(!device))
        return key;
    key.link = tts_slotindex_find(&p->listed, device_index(p, device), id);
    if (*key.link != TTS_SLOTINDEX_NONE)
        __builtin_prefetch(&p->out.buffers[*key.link], 1);
    return key;
}

static TTS_FORCE_INLINE struct published_key find_key(struct tts_publisher *p, uint32_t device,
                                                      uint64_t id)
{
    return find_key_at(p, tts_clientwriter_device(&p->out, device), id);
}

/* Like find_key(), before the event is folded, so that the caches load while the fold works.
 * Adds no device, because the fold may drop the event. */
static TTS_FORCE_INLINE struct published_key find_early(struct tts_publisher *p,
                                                        uint32_t device, uint64_t id)
{
    return find_key_at(p, tts_clientwriter_last(&p->out, device), id);
}

/* Removes a buffer from the table and the counters. */
static TTS_FORCE_INLINE void leave_table(struct tts_publisher *p,
                                         struct tts_clientregion_device *device, uint32_t *link)
{
    const struct tts_slotnode *node = &p->listed.nodes[*link];
    tts_clientwriter_drop_buffer(&p->out, *link);
    if (node->pool == TTS_POOL_L1)
        tts_cbholders_remove(&p->holders, *link);
    take_from_pool(device, (enum tts_pool)node->pool, node->size_bytes);
    tts_slotindex_remove(&p->listed, link);
}

/* Counts a buffer that leaves although it is not in the table. */
static TTS_COLD void leave_unlisted(struct tts_publisher *p,
                                    struct tts_clientregion_device *device,
                                    const struct tts_live *left)
{
    assert(p->unlisted > 0);
    store_unlisted(p, p->unlisted - 1);
    take_from_pool(device, left->pool, left->size_bytes);
}

static TTS_FORCE_INLINE void list_published_buffer(struct tts_publisher *p,
                                                   const struct tts_clientregion_device *device,
                                                   uint32_t slot,
                                                   const struct tts_clientregion_buffer *buffer)
{
    tts_clientwriter_put_buffer(&p->out, slot, buffer);
    if (buffer->pool == TTS_POOL_L1)
        tts_cbholders_add(&p->holders, slot, device_index(p, device), buffer->address,
                          buffer->bank_bytes);
}

/* Counts and lists a buffer that came. buffer->stamp is set here. `left` is a buffer with the
 * same key that was not in the table, or NULL. */
static TTS_FORCE_INLINE void publish_alloc(struct tts_publisher *p, struct published_key key,
                                           struct tts_clientregion_buffer *buffer,
                                           const struct tts_live *left)
{
    struct tts_clientregion_device *device = key.device;
    if (TTS_UNLIKELY(!device)) {
        tts_publisher_miss(p, 1);
        return;
    }
    enum tts_pool pool = (enum tts_pool)buffer->pool;
    buffer->stamp = p->out.event_count + 1;
    buffer->time_ns = tts_clock_coarse_ns();
    tts_clientdevice_lock(device);
    uint32_t *old = key.link;
    if (TTS_UNLIKELY(*old != TTS_SLOTINDEX_NONE)) /* the program forgot to free this id */
        leave_table(p, device, old);
    else if (TTS_UNLIKELY(left != NULL))
        leave_unlisted(p, device, left);
    uint32_t slot = tts_slotindex_add(&p->listed, device_index(p, device), pool, buffer->id,
                                      buffer->size_bytes);
    if (TTS_LIKELY(slot != TTS_SLOTINDEX_NONE))
        list_published_buffer(p, device, slot, buffer);
    else
        store_unlisted(p, p->unlisted + 1);
    add_to_pool(device, pool, buffer->size_bytes);
    tts_clientdevice_unlock(device);
    tts_clientwriter_put_event(&p->out, &(struct tts_clientregion_event){
                                            .time_ns = buffer->time_ns,
                                            .id = buffer->id,
                                            .address = buffer->address,
                                            .size_bytes = buffer->size_bytes,
                                            .bank_bytes = buffer->bank_bytes,
                                            .live_bytes = device->pools[pool].allocated_bytes,
                                            .device = buffer->device,
                                            .op = buffer->op,
                                            .kind = TTS_CLIENTEVENT_ALLOC,
                                            .pool = buffer->pool});
}

static TTS_COLD void count_unknown_free(struct tts_publisher *p)
{
    p->unknown_frees++;
    __atomic_store_n(&p->out.header->unknown_frees, p->unknown_frees, __ATOMIC_RELAXED);
}

/* Publishes that a buffer left. `pool` is the pool of the event, for a buffer that is unknown.
 * `left` is the buffer if it was not in the table, or NULL. */
static TTS_FORCE_INLINE void publish_free(struct tts_publisher *p, struct published_key key,
                                          enum tts_pool pool, uint64_t id, uint16_t op,
                                          const struct tts_live *left)
{
    struct tts_clientregion_device *device = key.device;
    if (TTS_UNLIKELY(!device)) {
        tts_publisher_miss(p, 1);
        return;
    }
    struct tts_clientregion_event event = {.time_ns = tts_clock_coarse_ns(),
                                           .id = id,
                                           .address = TTS_CLIENTREGION_NO_ADDRESS,
                                           .device = device->id,
                                           .op = op,
                                           .kind = TTS_CLIENTEVENT_FREE};
    uint32_t *link = key.link;
    if (TTS_LIKELY(*link != TTS_SLOTINDEX_NONE)) {
        const struct tts_slotnode *node = &p->listed.nodes[*link];
        const struct tts_clientregion_buffer *shown = &p->out.buffers[*link];
        /* These two are copied from the region, because they are only shown. */
        event.address = shown->address;
        event.bank_bytes = shown->bank_bytes;
        event.size_bytes = node->size_bytes;
        pool = (enum tts_pool)node->pool;
        tts_clientdevice_lock(device);
        leave_table(p, device, link);
        tts_clientdevice_unlock(device);
    } else if (left) {
        event.size_bytes = left->size_bytes;
        pool = left->pool;
        tts_clientdevice_lock(device);
        leave_unlisted(p, device, left);
        tts_clientdevice_unlock(device);
    } else {
        count_unknown_free(p);
    }
    event.pool = (uint8_t)pool;
    event.live_bytes = device->pools[pool].allocated_bytes;
    tts_clientwriter_put_event(&p->out, &event);
}

/* --- other events ----------------------------------------------------------------------- */

/* Returns the bytes of a circular buffer on all its cores, or the highest number if the product
 * is higher. */
static uint64_t bytes_on_cores(uint64_t bytes, const struct tts_core_range *ranges,
                               size_t count)
{
    uint64_t cores = 0, product;
    for (size_t i = 0; i < count; i++)
        cores += (uint64_t)(ranges[i].x1 - ranges[i].x0 + 1) *
                 (uint64_t)(ranges[i].y1 - ranges[i].y0 + 1);
    return __builtin_mul_overflow(bytes, cores, &product) ? UINT64_MAX : product;
}

static void add_cb_bytes(struct tts_clientregion_device *device, uint64_t bytes)
{
    tts_clientdevice_lock(device);
    device->known |= TTS_CLIENTDEVICE_CB;
    if (__builtin_add_overflow(device->cb_bytes, bytes, &device->cb_bytes))
        device->cb_bytes = UINT64_MAX;
    tts_clientdevice_unlock(device);
}

static void show_cb_holder(void *ctx, uint32_t slot, bool is_holding)
{
    struct tts_publisher *p = ctx;
    tts_clientwriter_flag_buffer(&p->out, slot, TTS_CLIENTBUFFER_HAS_CB, is_holding);
}

/* Marks the buffer in whose memory a circular buffer begins. The buffer may be one of the mesh
 * of the device. */
static void begin_borrowed_cb(struct tts_publisher *p,
                              const struct tts_clientregion_device *device, uint64_t address)
{
    struct tts_deviceset owners = {{0}};
    tts_deviceset_add(&owners, device_index(p, device));
    for (uint32_t i = 0; i < p->out.device_count; i++)
        if ((device->known & TTS_CLIENTDEVICE_MESH) && p->out.devices[i].id == device->mesh)
            tts_deviceset_add(&owners, i);
    tts_cbholders_begin_cb(&p->holders, device_index(p, device), &owners, address,
                           show_cb_holder, p);
}

/* Ends the circular buffers of a device. A program of a mesh ends those of its chips, too. */
static void begin_device_program(struct tts_publisher *p,
                                 struct tts_clientregion_device *device)
{
    struct tts_deviceset ended = {{0}};
    tts_deviceset_add(&ended, device_index(p, device));
    for (uint32_t i = 0; p->holders.holding > 0 && i < p->out.device_count; i++)
        if ((p->out.devices[i].known & TTS_CLIENTDEVICE_MESH) &&
            p->out.devices[i].mesh == device->id)
            tts_deviceset_add(&ended, i);
    tts_cbholders_end_cbs(&p->holders, &ended, show_cb_holder, p);
    tts_clientdevice_lock(device);
    device->known |= TTS_CLIENTDEVICE_CB;
    device->cb_bytes = 0;
    tts_clientdevice_unlock(device);
}

static void change_trace_depth(struct tts_clientregion_device *device, bool begins)
{
    tts_clientdevice_lock(device);
    if (begins) {
        device->trace_depth++;
    } else if (device->trace_depth > 0) {
        device->trace_depth--;
        device->traces++;
    }
    tts_clientdevice_unlock(device);
}

/* Publishes an event that changes no buffer. */
static TTS_NOINLINE void publish_rare(struct tts_publisher *p, const struct tts_event *event,
                                      uint16_t op)
{
    struct tts_clientregion_device *device = tts_clientwriter_device(&p->out, event->device);
    struct tts_clientregion_event out = {.time_ns = tts_clock_coarse_ns(),
                                         .address = TTS_CLIENTREGION_NO_ADDRESS,
                                         .device = event->device,
                                         .op = op};
    if (!device) {
        tts_publisher_miss(p, 1);
        return;
    }
    switch (event->kind) {
    case TTS_EVENT_PROGRAM:
        begin_device_program(p, device);
        out.kind = TTS_CLIENTEVENT_PROGRAM;
        break;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
        if (event->borrowed) { /* it lies in a buffer that is counted */
            if (event->has_address)
                begin_borrowed_cb(p, device, event->address);
            return;
        }
        out.size_bytes = bytes_on_cores(event->size_bytes, event->ranges, event->range_count);
        add_cb_bytes(device, out.size_bytes);
        out.kind = TTS_CLIENTEVENT_CB;
        out.pool = TTS_POOL_L1;
        out.live_bytes = device->cb_bytes;
        break;
    case TTS_EVENT_TRACE_BEGIN:
    case TTS_EVENT_TRACE_END:
        change_trace_depth(device, event->kind == TTS_EVENT_TRACE_BEGIN);
        out.kind = event->kind == TTS_EVENT_TRACE_BEGIN ? TTS_CLIENTEVENT_TRACE_BEGIN
                                                        : TTS_CLIENTEVENT_TRACE_END;
        out.pool = TTS_POOL_TRACE;
        out.live_bytes = device->pools[TTS_POOL_TRACE].allocated_bytes;
        break;
    case TTS_EVENT_FAILURE:
        out.kind = TTS_CLIENTEVENT_REFUSED;
        out.pool = (uint8_t)event->failure->pool;
        out.size_bytes = event->failure->requested_bytes;
        out.live_bytes = device->pools[event->failure->pool].allocated_bytes;
        break;
    case TTS_EVENT_SCRATCHPAD:
    case TTS_EVENT_ALLOC:
    case TTS_EVENT_FREE:
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_OP_END:
        return;
    }
    tts_clientwriter_put_event(&p->out, &out);
}

void tts_publisher_chip(struct tts_publisher *p, uint32_t chip, uint32_t mesh)
{
    struct tts_clientregion_device *part = NULL;
    if (tts_clientwriter_device(&p->out, mesh))
        part = tts_clientwriter_device(&p->out, chip);
    if (!part) {
        tts_publisher_miss(p, 1);
        return;
    }
    tts_clientdevice_lock(part);
    part->known |= TTS_CLIENTDEVICE_MESH;
    part->mesh = mesh;
    tts_clientdevice_unlock(part);
}

/* --- events ----------------------------------------------------------------------------- */

/* Returns the buffer that left according to the fold, if the publisher has counted it. */
static const struct tts_live *counted_left(const struct tts_publisher *p,
                                           const struct tts_change *change)
{
    return change->has_left && change->left.seq > p->first_seq && p->unlisted > 0
               ? &change->left
               : NULL;
}

static TTS_FORCE_INLINE uint64_t address_in(const struct tts_event *event)
{
    return event->has_address ? event->address : TTS_CLIENTREGION_NO_ADDRESS;
}

static struct tts_clientregion_buffer buffer_in(const struct tts_event *event, uint16_t op)
{
    bool is_sharded = event->range_count > 0 || (event->page_bytes > 0 && event->cores > 0);
    return (struct tts_clientregion_buffer){
        .id = event->id,
        .address = address_in(event),
        .size_bytes = event->size_bytes,
        .bank_bytes = event->bytes_per_bank,
        .device = event->device,
        .op = op,
        .pool = (uint8_t)event->pool,
        .flags = is_sharded ? TTS_CLIENTBUFFER_SHARDED : 0,
    };
}

enum tts_fold_outcome tts_publisher_fold(struct tts_publisher *p, const struct tts_event *event,
                                         uint64_t op_hash)
{
    struct tts_change change;
    const struct tts_live *left = NULL;
    enum tts_fold_outcome outcome;
    if (event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END)
        return tts_fold_event(p->fold, event, op_hash);
    /* Only the fold knows a buffer that is not in the table. */
    if (TTS_UNLIKELY(p->unlisted > 0)) {
        outcome = tts_fold_change(p->fold, event, op_hash, &change);
        left = counted_left(p, &change);
    } else {
        outcome = tts_fold_event(p->fold, event, op_hash);
    }
    if (TTS_UNLIKELY(outcome == TTS_FOLD_DROPPED)) {
        tts_publisher_miss(p, 1);
        return outcome;
    }
    uint16_t op = published_op_of(p, op_hash);
    if (event->kind == TTS_EVENT_ALLOC) {
        struct tts_clientregion_buffer buffer = buffer_in(event, op);
        if (event->size_bytes > 0)
            publish_alloc(p, find_key(p, event->device, event->id), &buffer, left);
    } else if (event->kind == TTS_EVENT_FREE) {
        publish_free(p, find_key(p, event->device, event->id), event->pool, event->id, op,
                     left);
    } else {
        publish_rare(p, event, op);
    }
    return outcome;
}

enum tts_fold_outcome tts_publisher_alloc(struct tts_publisher *p, uint32_t device, uint64_t id,
                                          uint64_t size_bytes, uint64_t bytes_per_bank)
{
    if (TTS_UNLIKELY(p->unlisted > 0)) {
        struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, device);
        event.id = id;
        event.size_bytes = size_bytes;
        event.bytes_per_bank = bytes_per_bank;
        return tts_publisher_fold(p, &event, 0);
    }
    struct published_key key = find_early(p, device, id);
    enum tts_fold_outcome outcome =
        tts_fold_alloc(p->fold, device, TTS_POOL_DRAM, id, size_bytes, 0);
    struct tts_clientregion_buffer buffer = {.id = id,
                                             .address = TTS_CLIENTREGION_NO_ADDRESS,
                                             .size_bytes = size_bytes,
                                             .bank_bytes = bytes_per_bank,
                                             .device = device};
    if (TTS_UNLIKELY(!key.device) && outcome != TTS_FOLD_DROPPED)
        key = find_key(p, device, id);
    if (TTS_LIKELY(outcome != TTS_FOLD_DROPPED))
        publish_alloc(p, key, &buffer, NULL);
    else
        tts_publisher_miss(p, 1);
    return outcome;
}

enum tts_fold_outcome tts_publisher_free(struct tts_publisher *p, uint32_t device, uint64_t id,
                                         uint64_t size_bytes)
{
    if (TTS_UNLIKELY(p->unlisted > 0)) {
        struct tts_event event = tts_event_of(TTS_EVENT_FREE, device);
        event.id = id;
        event.size_bytes = size_bytes;
        return tts_publisher_fold(p, &event, 0);
    }
    struct published_key key = find_early(p, device, id);
    enum tts_fold_outcome outcome =
        tts_fold_free_buffer(p->fold, device, TTS_POOL_DRAM, id, size_bytes);
    if (TTS_UNLIKELY(!key.device) && outcome != TTS_FOLD_DROPPED)
        key = find_key(p, device, id);
    if (TTS_LIKELY(outcome != TTS_FOLD_DROPPED))
        publish_free(p, key, TTS_POOL_DRAM, id, 0, NULL);
    else
        tts_publisher_miss(p, 1);
    return outcome;
}

/* --- the state at the beginning --------------------------------------------------------- */

static void show_live_item(struct tts_publisher *p, const struct tts_item *item)
{
    struct tts_clientregion_buffer buffer = {
        .id = item->live.id,
        .address = TTS_CLIENTREGION_NO_ADDRESS,
        .size_bytes = item->live.size_bytes,
        .bank_bytes = item->live.bytes_per_bank,
        .device = item->live.device,
        .op = published_op_of(p, item->op.hash),
        .pool = (uint8_t)item->live.pool,
        .flags = item->event.range_count > 0 ? TTS_CLIENTBUFFER_SHARDED : 0,
    };
    publish_alloc(p, find_key(p, buffer.device, buffer.id), &buffer, NULL);
}

/* Publishes an item of the state of the fold. The parts and the traces of a mesh are items of
 * its chips too; they are published for the mesh only. */
static bool show_item(void *ctx, const struct tts_item *item)
{
    struct tts_publisher *p = ctx;
    uint32_t id = item->kind == TTS_ITEM_PART ? item->event.device : item->device;
    struct tts_clientregion_device *device = NULL;
    if (item->kind == TTS_ITEM_PART || item->kind == TTS_ITEM_TRACING)
        device = tts_clientwriter_device(&p->out, id);
    if (item->kind == TTS_ITEM_LIVE)
        show_live_item(p, item);
    else if (item->kind == TTS_ITEM_CHIP)
        tts_publisher_chip(p, item->device, item->mesh);
    if (!device || (device->known & TTS_CLIENTDEVICE_MESH))
        return true;
    if (item->kind == TTS_ITEM_TRACING) {
        tts_clientdevice_lock(device);
        device->trace_depth = (uint32_t)item->count;
        tts_clientdevice_unlock(device);
    } else if (item->event.kind != TTS_EVENT_SCRATCHPAD) {
        add_cb_bytes(device, bytes_on_cores(item->event.size_bytes, item->event.ranges,
                                            item->event.range_count));
    }
    return true;
}

/* --- creation --------------------------------------------------------------------------- */

static uint32_t power_of_two(uint32_t at_least)
{
    uint32_t power = 1;
    while (power < at_least)
        power *= 2;
    return power;
}

static enum tts_status out_of_publish_memory(struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM ": list fewer buffers");
}

static void free_publisher(struct tts_publisher *p)
{
    const struct tts_alloc *alloc = p->alloc, *pages = p->pages;
    tts_forkmark_free(p->home);
    tts_slotindex_release(&p->listed);
    tts_cbholders_release(&p->holders);
    if (p->ops)
        pages->free(pages->ctx, p->ops, p->ops_bytes);
    alloc->free(alloc->ctx, p, sizeof *p);
}

static enum tts_status take_publish_memory(struct tts_publisher *p, struct tts_error *err)
{
    const struct tts_alloc *pages = p->pages;
    enum tts_status status = tts_slotindex_init(&p->listed, p->buffer_slots, pages);
    if (status == TTS_OK)
        status = tts_cbholders_init(&p->holders, p->buffer_slots, pages);
    p->ops = pages->alloc(pages->ctx, p->ops_bytes);
    if (status != TTS_OK || !p->ops)
        return out_of_publish_memory(err);
    int reason = tts_forkmark_new(&p->home);
    if (reason == ENOMEM)
        return out_of_publish_memory(err);
    return reason == 0
               ? TTS_OK
               : tts_error_set_errno(err, TTS_E_IO, reason,
                                     "cannot publish: on this kernel a child process would "
                                     "write to the same file; use Linux 4.14 or later");
}

static enum tts_status new_publisher(struct tts_tracker *t,
                                     const struct tts_publish_config *config,
                                     struct tts_publisher **out, struct tts_error *err)
{
    const struct tts_alloc *alloc = t->alloc;
    struct tts_publisher *p = alloc->alloc(alloc->ctx, sizeof *p);
    if (!p)
        return out_of_publish_memory(err);
    *p = (struct tts_publisher){
        .tracker = t,
        .fold = t->fold,
        .buffer_slots = config->buffers_max ? config->buffers_max : BUFFERS_DEFAULT,
        .event_slots = power_of_two(config->events_max ? config->events_max : EVENTS_DEFAULT),
        .ops_mask = power_of_two(2 * (t->limits.ops_max + 1)) - 1,
        .alloc = alloc,
        .pages = alloc == tts_alloc_libc() ? tts_alloc_pages() : alloc,
    };
    p->ops_bytes = ((size_t)p->ops_mask + 1) * sizeof *p->ops;
    snprintf(p->directory, sizeof p->directory, "%s",
             config->directory ? config->directory : default_directory);
    enum tts_status status = take_publish_memory(p, err);
    if (status != TTS_OK) {
        free_publisher(p);
        return status;
    }
    *out = p;
    return TTS_OK;
}

/* Makes the file of this process, with nothing in it. */
static enum tts_status open_region(struct tts_publisher *p, struct tts_error *err)
{
    uint32_t op_slots = p->tracker->limits.ops_max + 1;
    struct tts_clientwriter_config config = {
        .directory = p->directory,
        .writer = TTS_CLIENTREGION_BY_PROCESS,
        .device_slots = p->tracker->limits.devices_max,
        .op_slots = op_slots < TTS_CLIENTREGION_OPS_MAX ? op_slots : TTS_CLIENTREGION_OPS_MAX,
        .buffer_slots = p->buffer_slots,
        .event_slots = p->event_slots,
    };
    enum tts_status status = tts_clientidentity_own(&config.process, err);
    if (status != TTS_OK)
        return status;
    config.writer_pid = config.process.pid;
    config.writer_start_ticks = config.process.start_ticks;
    status = tts_clientwriter_open(&config, &p->out, err);
    if (status != TTS_OK)
        return status;
    memset(p->ops, 0, p->ops_bytes);
    tts_slotindex_reset(&p->listed);
    tts_cbholders_reset(&p->holders);
    p->dropped = p->unlisted = p->unknown_frees = 0;
    p->last_hash = 0;
    p->last_op = p->other_op = 0;
    return TTS_OK;
}

static enum tts_status check_publish(const struct tts_tracker *t,
                                     const struct tts_publish_config *config,
                                     struct tts_error *err)
{
    static const struct tts_publish_config nothing;
    if (!t)
        return tts_error_set(err, TTS_E_INVALID, "the tracker is NULL");
    if (memcmp(config->reserved, nothing.reserved, sizeof nothing.reserved) != 0)
        return tts_error_set(
            err, TTS_E_INVALID,
            "a reserved field of the configuration is not 0: set all reserved fields to 0");
    if (config->directory && strlen(config->directory) >= TTS_CLIENTWRITER_PATH_MAX)
        return tts_error_set(err, TTS_E_RANGE,
                             "the path of 'directory' has %zu bytes, but the maximum is %d",
                             strlen(config->directory), (int)TTS_CLIENTWRITER_PATH_MAX - 1);
    if (config->buffers_max > TTS_CLIENTREGION_BUFFERS_MAX)
        return tts_error_set(err, TTS_E_RANGE,
                             "buffers_max is %" PRIu32 ", but the maximum is %d",
                             config->buffers_max, (int)TTS_CLIENTREGION_BUFFERS_MAX);
    if (config->events_max > TTS_CLIENTREGION_EVENTS_MAX)
        return tts_error_set(err, TTS_E_RANGE,
                             "events_max is %" PRIu32 ", but the maximum is %d",
                             config->events_max, (int)TTS_CLIENTREGION_EVENTS_MAX);
    return TTS_OK;
}

/* --- life ------------------------------------------------------------------------------- */

static bool is_publish_child(const struct tts_publisher *p)
{
    return *p->home == 0;
}

static void install_publisher(struct tts_publisher *p)
{
    struct tts_tracker *t = p->tracker;
    tts_tracker_enter(t);
    tts_tracker_listen(t);
    t->owned_publisher = p;
    tts_tracker_set_publisher(t, p);
    tts_fold_tell(t->fold, show_item, p);
    for (const struct tts_attached *at = t->attached; at; at = at->next)
        tts_publisher_attached(t, at);
    tts_tracker_leave(t);
}

/* Removes the publisher from its tracker. Call it between tts_tracker_enter() and
 * tts_tracker_leave(). */
static void uninstall_publisher(struct tts_publisher *p)
{
    tts_tracker_set_publisher(p->tracker, NULL);
    tts_tracker_unlisten(p->tracker);
}

/* Copies the facts of the devices from the region of the parent: they hold in the child too. */
static void inherit_facts(struct tts_publisher *p, const struct tts_clientwriter *parent)
{
    enum {
        CB_OR_KERNEL = TTS_CLIENTDEVICE_CB | TTS_CLIENTDEVICE_KERNEL, /* counts, not facts */
    };
    for (uint32_t i = 0; i < parent->device_count; i++) {
        const struct tts_clientregion_device *from = &parent->devices[i];
        struct tts_clientregion_device *to = tts_clientwriter_device(&p->out, from->id);
        if (!to)
            return;
        tts_clientdevice_lock(to);
        to->known = from->known & ~(uint32_t)CB_OR_KERNEL;
        to->arch = from->arch;
        to->unique_id = from->unique_id;
        to->mesh = from->mesh;
        to->hardware_queues = from->hardware_queues;
        to->dram_channels = from->dram_channels;
        to->grid_columns = from->grid_columns;
        to->grid_rows = from->grid_rows;
        tts_clientdevice_unlock(to);
    }
}

/* Decides in a child. The buffers of the parent are not counted in the file of the child,
 * because the parent still publishes them. */
static TTS_COLD struct tts_publisher *follow_fork(struct tts_publisher *p)
{
    int kept_errno = errno; /* errno of the program, which only posted an event */
    struct tts_clientwriter parent = p->out;
    p->out = (struct tts_clientwriter){0};
    bool goes_on = p->by_environment && open_region(p, NULL) == TTS_OK;
    if (goes_on) {
        tts_forkmark_renew(p->home);
        inherit_facts(p, &parent);
        p->first_seq = tts_fold_seq(p->fold);
    } else {
        uninstall_publisher(p);
    }
    tts_clientwriter_close(&parent, false, true);
    errno = kept_errno;
    return goes_on ? p : NULL;
}

struct tts_publisher *tts_publisher_ready(struct tts_publisher *p)
{
    return TTS_LIKELY(!is_publish_child(p)) ? p : follow_fork(p);
}

/* Returns the publisher if the tracker publishes. Call it between tts_tracker_enter() and
 * tts_tracker_leave(). */
static struct tts_publisher *publisher_of(struct tts_tracker *t)
{
    return t->publisher ? tts_publisher_ready(t->publisher) : NULL;
}

/* Reserves the tracker for a publisher while the file is made. Returns false if the tracker
 * publishes already. Frees a publisher that a fork has stopped. */
static bool claim_publisher(struct tts_tracker *t)
{
    struct tts_publisher *gone = NULL;
    tts_tracker_enter(t);
    if (t->owned_publisher && !publisher_of(t)) {
        gone = t->owned_publisher;
        t->owned_publisher = NULL;
        t->has_publisher = false;
    }
    bool is_free = !t->has_publisher;
    t->has_publisher = true;
    tts_tracker_leave(t);
    if (gone)
        free_publisher(gone);
    return is_free;
}

static enum tts_status begin_publish(struct tts_tracker *t,
                                     const struct tts_publish_config *config,
                                     bool by_environment, struct tts_error *err)
{
    static const struct tts_publish_config nothing;
    struct tts_publisher *p = NULL;
    config = config ? config : &nothing;
    enum tts_status status = check_publish(t, config, err);
    if (status != TTS_OK)
        return status;
    if (!claim_publisher(t))
        return tts_error_set(
            err, TTS_E_BUSY,
            "the tracker already publishes its memory: end the earlier publication first");
    status = new_publisher(t, config, &p, err);
    if (status == TTS_OK) {
        p->by_environment = by_environment;
        status = open_region(p, err);
        if (status != TTS_OK)
            free_publisher(p);
    }
    if (status == TTS_OK) {
        install_publisher(p);
    } else {
        tts_tracker_enter(t);
        t->has_publisher = false;
        tts_tracker_leave(t);
    }
    return status;
}

enum tts_status tts_publish_begin(struct tts_tracker *t,
                                  const struct tts_publish_config *config,
                                  struct tts_error *err)
{
    return begin_publish(t, config, false, err);
}

/* Ends the publisher. Call it between tts_tracker_enter() and tts_tracker_leave(). */
static struct tts_publisher *part_publisher(struct tts_tracker *t)
{
    struct tts_publisher *p = t->owned_publisher;
    if (!p)
        return NULL;
    if (t->publisher)
        uninstall_publisher(p);
    t->owned_publisher = NULL;
    t->has_publisher = false;
    return p;
}

static void finish_publisher(struct tts_publisher *p)
{
    tts_clientwriter_close(&p->out, true, is_publish_child(p));
    free_publisher(p);
}

void tts_publish_end(struct tts_tracker *t)
{
    if (!t)
        return;
    tts_tracker_enter(t);
    struct tts_publisher *p = part_publisher(t);
    tts_tracker_leave(t);
    if (p)
        finish_publisher(p);
}

bool tts_publish_is_on(struct tts_tracker *t)
{
    if (!t)
        return false;
    tts_tracker_enter(t);
    bool is_on = publisher_of(t) != NULL;
    tts_tracker_leave(t);
    return is_on;
}

void tts_publish_get_state(struct tts_tracker *t, struct tts_publish_state *out)
{
    if (!out)
        return;
    *out = (struct tts_publish_state){0};
    if (!t)
        return;
    tts_tracker_enter(t);
    const struct tts_publisher *p = publisher_of(t);
    if (p) {
        static_assert(sizeof out->path >= sizeof p->out.path, "a path fits");
        memcpy(out->path, p->out.path, sizeof p->out.path);
        out->events = p->out.event_count;
        out->unlisted = p->unlisted;
    }
    tts_tracker_leave(t);
}

/* --- the environment -------------------------------------------------------------------- */

static bool is_asked_by(const char *name)
{
    const char *value = secure_getenv(name);
    return value && strcmp(value, "1") == 0;
}

void tts_publisher_begin_by_environment(struct tts_tracker *t)
{
    struct tts_error err;
    if (!is_asked_by("TTSCOPE") && !is_asked_by("TT_ALLOC_TRACKING_ENABLED"))
        return;
    int kept_errno = errno;
    if (begin_publish(t, NULL, true, &err) != TTS_OK)
        dprintf(STDERR_FILENO, "ttscope: 'ttscope top' does not show this program: %s\n",
                err.text);
    errno = kept_errno;
}

void tts_publisher_end_at_exit(struct tts_tracker *t)
{
    for (int i = 0; i < EXIT_TRIES; i++) {
        if (!tts_tracker_try_enter(t)) {
            usleep(100);
            continue;
        }
        struct tts_publisher *p = part_publisher(t);
        tts_tracker_leave(t);
        /* Other threads may still run, but none of them sees the publisher now. */
        if (p)
            finish_publisher(p);
        return;
    }
}

/* --- reports of allocators -------------------------------------------------------------- */

/* Returns the device of a report, or NULL if there is none. Sets *status. Call it between
 * tts_tracker_enter() and tts_tracker_leave(). */
static struct tts_clientregion_device *reported_device(struct tts_tracker *t, uint32_t id,
                                                       enum tts_status *status,
                                                       struct tts_error *err)
{
    struct tts_publisher *p = publisher_of(t);
    struct tts_clientregion_device *device = NULL;
    *status = TTS_OK;
    if (p && tts_fold_know(t->fold, id))
        device = tts_clientwriter_device(&p->out, id);
    if (p && !device)
        *status = tts_error_set(
            err, TTS_E_RANGE,
            "the tracker already knows %u devices, which is the maximum: raise devices_max",
            t->limits.devices_max);
    return device;
}

static void put_pool_report(struct tts_clientregion_device *device, enum tts_pool kind,
                            const struct tts_publish_report *report, uint64_t period_ns)
{
    struct tts_clientregion_pool *pool = &device->pools[kind];
    uint64_t now = tts_clock_realtime_ns();
    tts_clientdevice_lock(device);
    device->period_ns = period_ns;
    pool->banks = report->banks;
    pool->total_bytes = report->total_bytes;
    pool->taken_bytes = report->allocated_bytes;
    pool->free_bytes = report->free_bytes;
    pool->largest_free_bytes = report->largest_free_bytes;
    pool->view_ns = now;
    tts_clientdevice_unlock(device);
}

enum tts_status tts_publish_pool(struct tts_tracker *t, uint32_t device, enum tts_pool pool,
                                 const struct tts_publish_report *report, uint64_t period_ns,
                                 struct tts_error *err)
{
    if (!t || !report || (int)pool < 0 || pool >= TTS_POOLS)
        return tts_error_set(err, TTS_E_INVALID, "%s",
                             !t        ? "the tracker is NULL"
                             : !report ? "the report is NULL"
                                       : "the pool is unknown: give one of enum tts_pool");
    enum tts_status status;
    tts_tracker_enter(t);
    struct tts_clientregion_device *at = reported_device(t, device, &status, err);
    if (at)
        put_pool_report(at, pool, report, period_ns);
    tts_tracker_leave(t);
    return status;
}

static void put_published_facts(struct tts_clientregion_device *device,
                                const struct tts_publish_facts *facts)
{
    tts_clientdevice_lock(device);
    device->known |= (facts->unique_id_known ? (uint32_t)TTS_CLIENTDEVICE_UNIQUE_ID : 0) |
                     (facts->arch_known ? (uint32_t)TTS_CLIENTDEVICE_ARCH : 0) |
                     (facts->hardware_queues > 0 ? (uint32_t)TTS_CLIENTDEVICE_QUEUES : 0) |
                     (facts->dram_channels > 0 ? (uint32_t)TTS_CLIENTDEVICE_CHANNELS : 0) |
                     (facts->grid_columns > 0 ? (uint32_t)TTS_CLIENTDEVICE_GRID : 0);
    if (facts->unique_id_known)
        device->unique_id = facts->unique_id;
    if (facts->arch_known)
        device->arch = (uint32_t)facts->arch;
    if (facts->hardware_queues > 0)
        device->hardware_queues = facts->hardware_queues;
    if (facts->dram_channels > 0)
        device->dram_channels = facts->dram_channels;
    if (facts->grid_columns > 0) {
        device->grid_columns = facts->grid_columns;
        device->grid_rows = facts->grid_rows;
    }
    tts_clientdevice_unlock(device);
}

enum tts_status tts_publish_device(struct tts_tracker *t, uint32_t device,
                                   const struct tts_publish_facts *facts, struct tts_error *err)
{
    if (!t || !facts)
        return tts_error_set(err, TTS_E_INVALID, "the %s",
                             !t ? "tracker is NULL" : "facts are NULL");
    enum tts_status status;
    tts_tracker_enter(t);
    struct tts_clientregion_device *at = reported_device(t, device, &status, err);
    if (at)
        put_published_facts(at, facts);
    tts_tracker_leave(t);
    return status;
}

/* --- attached devices ------------------------------------------------------------------- */

static uint32_t known_count(const struct tts_chip *chip, enum tts_fact_key key)
{
    const struct tts_fact *fact = &chip->fact[key];
    return fact->origin == TTS_ORIGIN_UNKNOWN ? 0 : (uint32_t)fact->value;
}

void tts_publisher_attached(struct tts_tracker *t, const struct tts_attached *at)
{
    const struct tts_chip *chip = tts_device_chip(at->device);
    const struct tts_fact *grid = &chip->fact[TTS_FACT_GRID];
    enum tts_status status;
    struct tts_clientregion_device *device = reported_device(t, at->id, &status, NULL);
    if (!device)
        return;
    struct tts_publish_facts facts = {.arch_known = true, .arch = chip->arch};
    uint32_t banks = known_count(chip, TTS_FACT_DRAM_BANKS);
    uint32_t share = known_count(chip, TTS_FACT_DRAM_CHANNEL_BANKS);
    facts.dram_channels = share > 0 ? banks / share : 0;
    if (grid->origin != TTS_ORIGIN_UNKNOWN) {
        facts.grid_columns = TTS_GRID_COLUMNS(grid->value);
        facts.grid_rows = TTS_GRID_ROWS(grid->value);
    }
    put_published_facts(device, &facts);
}

void tts_publisher_show_pool(struct tts_tracker *t, const struct tts_attached *at,
                             enum tts_pool pool)
{
    struct tts_pool_stats stats;
    const struct tts_pool_layout *layout = tts_device_layout(at->device, pool);
    if (!layout || !tts_device_stats(at->device, pool, &stats))
        return;
    struct tts_publish_report report = {
        .banks = layout->banks,
        .total_bytes = stats.space.total_bytes * layout->banks,
        .allocated_bytes = stats.space.taken_bytes * layout->banks,
        .free_bytes = stats.space.free_bytes * layout->banks,
        .largest_free_bytes = stats.space.largest_free_bytes * layout->banks,
    };
    tts_publish_pool(t, at->id, pool, &report, 0, NULL);
}
