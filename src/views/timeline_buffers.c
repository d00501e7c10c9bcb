/* Devices, their pools, and the buffers in them. */
#include "base/heap.h"
#include "base/number.h"
#include "model/ledger.h"
#include "views/timeline_inside.h"

#include <stdio.h>
#include <string.h>

enum { WORD_BITS = 64 };

/* ---- devices ---- */

static uint32_t find_device(struct tts_timeline *t, uint32_t id)
{
    if (t->last_device < t->device_count && t->devices[t->last_device].id == id)
        return t->last_device;
    for (uint32_t i = 0; i < t->device_count; i++)
        if (t->devices[i].id == id)
            return t->last_device = i;
    return TTS_LINE_NONE;
}

static uint32_t know_device(struct tts_timeline *t, uint32_t id, enum tts_status *status)
{
    uint32_t idx = find_device(t, id);
    if (idx != TTS_LINE_NONE)
        return idx;
    *status = TTS_E_RANGE;
    if (t->device_count == TTS_TIMELINE_DEVICES_MAX)
        return TTS_LINE_NONE;
    *status = TTS_E_NOMEM;
    void *grown = tts_alloc_grow(t->alloc, t->devices, &t->device_capacity, t->device_count + 1,
                                 sizeof *t->devices);
    if (!grown)
        return TTS_LINE_NONE;
    *status = TTS_OK;
    t->devices = grown;
    idx = (uint32_t)t->device_count++;
    t->devices[idx] = (struct tts_device_line){.id = id, .mesh = TTS_LINE_NONE};
    return t->last_device = idx;
}

struct tts_device_line *tts_timeline_device(struct tts_timeline *t, uint32_t id,
                                            enum tts_status *status)
{
    uint32_t idx = know_device(t, id, status);
    return idx == TTS_LINE_NONE ? NULL : &t->devices[idx];
}

static size_t slot_words(const struct tts_timeline *t)
{
    return (t->config.slots_max + WORD_BITS - 1) / WORD_BITS;
}

static void free_slots(struct tts_timeline *t, struct tts_pool_line *pool)
{
    const struct tts_alloc *alloc = t->alloc;
    if (pool->taken)
        alloc->free(alloc->ctx, pool->taken, slot_words(t) * sizeof *pool->taken);
    if (pool->slot_tracks)
        alloc->free(alloc->ctx, pool->slot_tracks,
                    t->config.slots_max * sizeof *pool->slot_tracks);
    pool->taken = NULL;
    pool->slot_tracks = NULL;
}

void tts_timeline_free_devices(struct tts_timeline *t)
{
    const struct tts_alloc *alloc = t->alloc;
    for (size_t i = 0; i < t->device_count; i++) {
        struct tts_device_line *device = &t->devices[i];
        for (int pool = 0; pool < TTS_POOLS; pool++)
            free_slots(t, &device->pools[pool]);
        if (device->cores.bytes)
            alloc->free(alloc->ctx, device->cores.bytes,
                        TTS_CORES_MAX * sizeof *device->cores.bytes);
    }
    if (t->devices)
        alloc->free(alloc->ctx, t->devices, t->device_capacity * sizeof *t->devices);
}

enum tts_status tts_timeline_chip(struct tts_timeline *t, uint32_t chip, uint32_t mesh)
{
    enum tts_status status = TTS_OK;
    uint32_t mesh_idx = know_device(t, mesh, &status);
    uint32_t idx = status == TTS_OK ? know_device(t, chip, &status) : TTS_LINE_NONE;
    if (status != TTS_OK)
        return status;
    assert(idx != mesh_idx);
    uint32_t before = t->devices[idx].mesh;
    if (before != TTS_LINE_NONE)
        t->devices[before].chips--;
    t->devices[idx].mesh = mesh_idx;
    t->devices[mesh_idx].chips++;
    return TTS_OK;
}

/* ---- counters ---- */

static void put_capacity(struct tts_timeline *t, struct tts_device_line *device,
                         enum tts_pool pool)
{
    struct tts_mark mark = {.kind = TTS_MARK_COUNTER, .time_ns = t->now_ns};
    mark.value = t->config.capacity_bytes[pool];
    if (mark.value == 0)
        return;
    mark.track = tts_timeline_device_track(
        t, device, (struct tts_track){.kind = TTS_TRACK_CAPACITY, .pool = pool},
        &device->pools[pool].capacity);
    tts_timeline_put(t, &mark);
}

static void put_counter(struct tts_timeline *t, struct tts_device_line *device,
                        enum tts_pool pool)
{
    struct tts_pool_line *line = &device->pools[pool];
    struct tts_mark mark = {.kind = TTS_MARK_COUNTER, .time_ns = t->now_ns};
    if (line->counter == 0)
        put_capacity(t, device, pool);
    mark.track = tts_timeline_device_track(
        t, device, (struct tts_track){.kind = TTS_TRACK_POOL, .pool = pool}, &line->counter);
    mark.value = line->bytes;
    if (device->mesh != TTS_LINE_NONE)
        mark.value += t->devices[device->mesh].pools[pool].bytes;
    if (mark.value > line->peak_bytes) {
        line->peak_bytes = mark.value;
        line->peak_ns = t->now_ns;
    }
    tts_timeline_put(t, &mark);
}

/* What a mesh has is on each of its chips; a chip that has nothing of its own needs no counter
 * of its own. */
static void put_counters(struct tts_timeline *t, uint32_t idx, enum tts_pool pool)
{
    put_counter(t, &t->devices[idx], pool);
    if (t->devices[idx].chips == 0)
        return;
    for (size_t i = 0; i < t->device_count; i++)
        if (t->devices[i].mesh == idx && t->devices[i].pools[pool].counter)
            put_counter(t, &t->devices[i], pool);
}

/* ---- slots ---- */

static enum tts_status make_slots(struct tts_timeline *t, struct tts_pool_line *pool)
{
    const struct tts_alloc *alloc = t->alloc;
    size_t words = slot_words(t), slots = t->config.slots_max;
    pool->taken = alloc->alloc(alloc->ctx, words * sizeof *pool->taken);
    pool->slot_tracks = alloc->alloc(alloc->ctx, slots * sizeof *pool->slot_tracks);
    if (!pool->taken || !pool->slot_tracks) {
        free_slots(t, pool);
        return TTS_E_NOMEM;
    }
    memset(pool->taken, 0, words * sizeof *pool->taken);
    memset(pool->slot_tracks, 0, slots * sizeof *pool->slot_tracks);
    return TTS_OK;
}

/* The smallest that is free, or TTS_LIVESET_NO_SLOT. */
static enum tts_status take_slot(struct tts_timeline *t, struct tts_pool_line *pool,
                                 uint32_t *out)
{
    *out = TTS_LIVESET_NO_SLOT;
    if (t->config.slots_max == 0)
        return TTS_OK;
    if (!pool->taken) {
        enum tts_status status = make_slots(t, pool);
        if (status != TTS_OK)
            return status;
    }
    size_t words = slot_words(t);
    while (pool->low_word < words && pool->taken[pool->low_word] == UINT64_MAX)
        pool->low_word++;
    if (pool->low_word == words)
        return TTS_OK;
    uint64_t *word = &pool->taken[pool->low_word];
    uint32_t slot = (uint32_t)(pool->low_word * WORD_BITS) + (uint32_t)__builtin_ctzll(~*word);
    if (slot >= t->config.slots_max)
        return TTS_OK;
    *word |= UINT64_C(1) << slot % WORD_BITS;
    *out = slot;
    return TTS_OK;
}

static void give_slot(struct tts_pool_line *pool, uint32_t slot)
{
    size_t word = slot / WORD_BITS;
    assert(pool->taken[word] >> slot % WORD_BITS & 1);
    pool->taken[word] &= ~(UINT64_C(1) << slot % WORD_BITS);
    pool->low_word = word < pool->low_word ? word : pool->low_word;
}

static struct tts_track slot_track(struct tts_timeline *t, struct tts_device_line *device,
                                   enum tts_pool pool, uint32_t slot)
{
    struct tts_track parent = {.kind = TTS_TRACK_BUFFERS, .pool = pool};
    parent = tts_timeline_device_track(t, device, parent, &device->pools[pool].buffers);
    struct tts_track track = {
        .kind = TTS_TRACK_SLOT, .parent = parent.number, .pool = pool, .index = slot};
    return tts_timeline_device_track(t, device, track, &device->pools[pool].slot_tracks[slot]);
}

/* ---- buffers ---- */

/* What a buffer adds to the counter of its pool. */
static uint64_t counted_bytes(const struct tts_liveset_entry *entry)
{
    return tts_pool_is_l1((enum tts_pool)entry->pool) ? entry->bytes_per_bank : entry->bytes;
}

static void put_slice(struct tts_timeline *t, const struct tts_liveset_entry *entry,
                      struct tts_mark *mark)
{
    struct tts_device_line *device = &t->devices[entry->device];
    const char *op = tts_opnames_text(t->ops, entry->op);
    char text[TTS_TIMELINE_TEXT_MAX];
    if (entry->slot == TTS_LIVESET_NO_SLOT)
        return;
    mark->time_ns = t->now_ns;
    mark->track = slot_track(t, device, (enum tts_pool)entry->pool, entry->slot);
    mark->name = tts_timeline_sized(op ? op : "buffer", entry->bytes, text);
    mark->buffer_no = entry->number;
    mark->args.op = op;
    tts_timeline_put(t, mark);
}

static void end_buffer(struct tts_timeline *t, struct tts_liveset_entry *entry)
{
    struct tts_mark mark = {.kind = TTS_MARK_END};
    uint32_t device = entry->device;
    enum tts_pool pool = (enum tts_pool)entry->pool;
    struct tts_pool_line *line = &t->devices[device].pools[pool];
    put_slice(t, entry, &mark);
    if (entry->slot != TTS_LIVESET_NO_SLOT)
        give_slot(line, entry->slot);
    line->bytes -= counted_bytes(entry);
    tts_liveset_remove(&t->live, entry);
    put_counters(t, device, pool);
}

enum tts_status tts_timeline_alloc(struct tts_timeline *t, const struct tts_event *event,
                                   const struct tts_item_op *op, uint64_t seq)
{
    if (event->size_bytes == 0)
        return TTS_OK;
    enum tts_status status = TTS_OK;
    uint32_t device = know_device(t, event->device, &status);
    if (device == TTS_LINE_NONE)
        return status;
    struct tts_liveset_entry *before = tts_liveset_find(&t->live, device, event->id);
    if (before)
        end_buffer(t, before);
    struct tts_pool_line *line = &t->devices[device].pools[event->pool];
    struct tts_liveset_entry entry = {.id = event->id,
                                      .device = device,
                                      .pool = event->pool,
                                      .number = t->buffers + 1,
                                      .bytes = event->size_bytes,
                                      .bytes_per_bank = event->bytes_per_bank};
    tts_timeline_op(t, op, &entry.op);
    status = take_slot(t, line, &entry.slot);
    if (status != TTS_OK)
        return status;
    status = tts_liveset_add(&t->live, &entry);
    if (status != TTS_OK) {
        if (entry.slot != TTS_LIVESET_NO_SLOT)
            give_slot(line, entry.slot);
        return status;
    }
    t->buffers++;
    t->counts.undrawn += entry.slot == TTS_LIVESET_NO_SLOT;
    line->bytes += counted_bytes(&entry);
    struct tts_mark mark = {.kind = TTS_MARK_BEGIN, .args = {.buffer = event, .seq = seq}};
    put_slice(t, &entry, &mark);
    put_counters(t, device, event->pool);
    return TTS_OK;
}

void tts_timeline_give(struct tts_timeline *t, const struct tts_event *event)
{
    uint32_t device = find_device(t, event->device);
    struct tts_liveset_entry *entry =
        device == TTS_LINE_NONE ? NULL : tts_liveset_find(&t->live, device, event->id);
    if (entry)
        end_buffer(t, entry);
    else
        t->counts.unseen_frees++;
}

/* Their bytes stay: they live. */
void tts_timeline_close_buffers(struct tts_timeline *t)
{
    size_t cursor = 0;
    const struct tts_liveset_entry *entry;
    while ((entry = tts_liveset_next(&t->live, &cursor))) {
        struct tts_mark mark = {.kind = TTS_MARK_END};
        put_slice(t, entry, &mark);
    }
}

/* ---- peaks ---- */

static void put_peak(struct tts_timeline *t, struct tts_device_line *device, enum tts_pool pool)
{
    char size[TTS_NUMBER_BYTES_MAX], text[TTS_TIMELINE_TEXT_MAX];
    const struct tts_pool_line *line = &device->pools[pool];
    struct tts_mark mark = {.kind = TTS_MARK_INSTANT, .time_ns = line->peak_ns};
    mark.track = tts_timeline_track(
        t, (struct tts_track){.kind = TTS_TRACK_DEVICE, .device = device->id}, &device->track);
    snprintf(text, sizeof text, "peak of %s %s%s", tts_pool_name(pool),
             tts_number_format_bytes(size, line->peak_bytes),
             tts_pool_is_l1(pool) ? " per bank" : "");
    mark.name = text;
    mark.args.bytes = line->peak_bytes;
    tts_timeline_put(t, &mark);
}

void tts_timeline_close_pools(struct tts_timeline *t)
{
    for (size_t i = 0; i < t->device_count; i++)
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            const struct tts_pool_line *line = &t->devices[i].pools[pool];
            if (line->capacity > 0)
                put_capacity(t, &t->devices[i], (enum tts_pool)pool);
            if (line->peak_bytes > 0)
                put_peak(t, &t->devices[i], (enum tts_pool)pool);
        }
}
