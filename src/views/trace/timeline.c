#include "views/trace/timeline.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "model/devicename.h"
#include "model/fold.h"
#include "model/ledger.h"
#include "model/opnames.h"
#include "views/samplewords.h"
#include "views/trace/liveset.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_NONE UINT32_MAX

/* A pool of a device. Tracks are stored by number; 0: not sent yet. */
struct pool_line {
    uint64_t bytes;               /* live bytes of this device */
    uint64_t peak_bytes, peak_ns; /* peak of the counter of this pool, and its time */
    uint32_t counter, buffers, capacity;
    /* Slots. Both arrays are NULL until the first buffer. */
    uint64_t *taken; /* one bit for each slot */
    uint32_t *slot_tracks;
    size_t low_word; /* all words below are full */
};

/* Bytes of the current program on each core. They only grow until the next program. */
struct core_line {
    uint64_t *bytes; /* [y * TTS_GRID_SIDE_MAX + x]; NULL until the first part */
    uint64_t top_bytes;
    struct tts_core_range box; /* encloses all cores that are not 0; valid if top_bytes > 0 */
    uint32_t counter;
};

struct device_line {
    uint32_t id;
    uint32_t track;
    uint32_t mesh;  /* index of the mesh, or LINE_NONE */
    uint32_t chips; /* number of chips, if this is a mesh */
    struct pool_line pools[TTS_POOLS];
    struct core_line cores;
    uint32_t traces, failures, trace_depth;
    uint32_t sampled[TTS_SAMPLE_VALUES]; /* tracks */
};

/* An operation that has begun. */
struct op_line {
    uint64_t begin_ns, seq;
    uint64_t bytes; /* allocated by this operation and by finished operations inside it */
    uint32_t op;    /* index in opnames.h */
    bool is_told;   /* a BEGIN was sent, so an END follows; otherwise a SPAN is sent */
};

struct thread_line {
    uint32_t thread, track, depth;
    struct op_line *ops; /* the outermost TTS_TIMELINE_OPS_MAX of `depth`, outermost first */
    size_t op_capacity;
};

struct capture_line {
    bool is_active;
    uint32_t capture, track; /* number and track of the last capture on this lane */
    uint64_t start_ns;
};

struct tts_timeline {
    struct tts_timeline_config config;
    const struct tts_alloc *alloc;
    struct tts_opnames *ops;
    struct tts_liveset live;
    struct device_line *devices;
    size_t device_count, device_capacity;
    uint32_t last_device; /* index of the last device, which is often also the next one */
    struct thread_line *threads;
    size_t thread_count, thread_capacity, last_thread;
    size_t open_threads; /* number of threads inside operations */
    struct capture_line captures[TTS_TIMELINE_LANES];
    uint64_t first_ns, now_ns;
    bool has_begun;
    uint32_t tracks; /* number of tracks */
    uint64_t buffers;
    struct tts_timeline_counts counts;
};

enum { MARK_TEXT_MAX = 512, WORD_BITS = 64 };

/* ---- marks and tracks ---- */

/* Appends without printf, for speed: some formats repeat the name in every counter mark. */
static char *append_text(char *to, const char *text)
{
    size_t len = strlen(text);
    memcpy(to, text, len + 1);
    return to + len;
}

static char *append_number(char *to, uint32_t value)
{
    to += tts_number_format(to, value);
    *to = '\0';
    return to;
}

/* Appends the name of a sampled value: " DRAM allocated (sampled)". */
static void append_sampled(char *to, unsigned number)
{
    const char *pool = tts_sampleword_pool(number);
    to = append_text(to, " ");
    if (pool)
        to = append_text(append_text(to, pool), " ");
    append_text(append_text(to, tts_sampleword_text(number)), " (sampled)");
}

const char *tts_track_name(const struct tts_track *track, char out[TTS_TRACK_NAME_MAX])
{
    static const char *const words[] = {
        [TTS_TRACK_DEVICE] = "",
        [TTS_TRACK_POOL] = "",
        [TTS_TRACK_CAPACITY] = " capacity",
        [TTS_TRACK_CORES] = " CBs on the fullest core",
        [TTS_TRACK_BUFFERS] = " buffers",
        [TTS_TRACK_SLOT] = " buffers",
        [TTS_TRACK_TRACES] = " traces",
        [TTS_TRACK_FAILURES] = " refused",
    };
    enum tts_track_kind kind = track->kind;
    out[0] = '\0';
    if (kind == TTS_TRACK_PROCESS)
        return out;
    if (kind == TTS_TRACK_THREAD || kind == TTS_TRACK_CAPTURE) {
        bool is_known = kind == TTS_TRACK_CAPTURE || track->index > 0;
        char *to = append_text(out, kind == TTS_TRACK_CAPTURE ? "capture "
                                    : is_known                ? "thread "
                                                              : "operations");
        if (is_known)
            append_number(to, track->index);
        return out;
    }
    char *to = append_text(out, tts_mesh_is_one(track->device) ? "mesh " : "device ");
    to = append_number(to, tts_device_number(track->device));
    if (kind == TTS_TRACK_SAMPLE) {
        append_sampled(to, track->index);
        return out;
    }
    if (kind == TTS_TRACK_POOL || kind == TTS_TRACK_CAPACITY || kind == TTS_TRACK_BUFFERS ||
        kind == TTS_TRACK_SLOT)
        to = append_text(append_text(to, " "), tts_pool_name(track->pool));
    append_text(to, words[kind]);
    return out;
}

static void send_mark(struct tts_timeline *t, const struct tts_mark *mark)
{
    assert(mark->track.number > 0 && mark->track.number <= t->tracks);
    assert(mark->kind == TTS_MARK_SPAN || mark->time_ns == t->now_ns ||
           (mark->kind == TTS_MARK_INSTANT && mark->track.kind == TTS_TRACK_DEVICE));
    t->config.put(t->config.ctx, mark);
}

/* Sends a track if *number is 0, and sets *number. Returns the track. */
static struct tts_track tell_track(struct tts_timeline *t, struct tts_track track,
                                   uint32_t *number)
{
    if (track.kind != TTS_TRACK_DEVICE && track.parent == 0)
        track.parent = 1;
    bool is_new = *number == 0;
    if (is_new)
        *number = ++t->tracks;
    track.number = *number;
    if (is_new) {
        struct tts_mark mark = {.kind = TTS_MARK_TRACK, .track = track, .time_ns = t->now_ns};
        send_mark(t, &mark);
    }
    return track;
}

/* Like tell_track(), but for a track of a device. Sends the track of the device first. */
static struct tts_track tell_device_track(struct tts_timeline *t, struct device_line *device,
                                          struct tts_track track, uint32_t *number)
{
    tell_track(t, (struct tts_track){.kind = TTS_TRACK_DEVICE, .device = device->id},
               &device->track);
    track.group = device->track;
    track.parent = track.parent ? track.parent : device->track;
    track.device = device->id;
    return tell_track(t, track, number);
}

/* Writes "matmul 6.00 MiB". For 0 bytes, returns the name alone. */
static const char *name_with_size(const char *name, uint64_t bytes, char out[MARK_TEXT_MAX])
{
    char size[TTS_NUMBER_BYTES_MAX];
    if (bytes == 0)
        return name;
    tts_number_format_bytes(size, bytes);
    int room = MARK_TEXT_MAX - TTS_NUMBER_BYTES_MAX - 2;
    snprintf(out, MARK_TEXT_MAX, "%.*s %s", room, name, size);
    return out;
}

/* Returns the name of an operation, or NULL. Valid as long as the timeline. */
static const char *op_line_text(struct tts_timeline *t, const struct tts_item_op *op,
                                uint32_t *idx)
{
    uint32_t found = tts_opnames_find(t->ops, op->hash);
    if (found == TTS_OPNAMES_OTHER) {
        tts_opnames_add(t->ops, op->hash, op->name, op->name_len);
        found = tts_opnames_find(t->ops, op->hash);
        t->counts.unnamed += found == TTS_OPNAMES_OTHER;
    }
    *idx = found;
    return tts_opnames_text(t->ops, found);
}

/* ---- devices ---- */

static uint32_t find_device_line(struct tts_timeline *t, uint32_t id)
{
    if (t->last_device < t->device_count && t->devices[t->last_device].id == id)
        return t->last_device;
    for (uint32_t i = 0; i < t->device_count; i++)
        if (t->devices[i].id == id)
            return t->last_device = i;
    return LINE_NONE;
}

static uint32_t device_line_index(struct tts_timeline *t, uint32_t id, enum tts_status *status)
{
    uint32_t idx = find_device_line(t, id);
    if (idx != LINE_NONE)
        return idx;
    *status = TTS_E_RANGE;
    if (t->device_count == TTS_TIMELINE_DEVICES_MAX)
        return LINE_NONE;
    *status = TTS_E_NOMEM;
    void *grown = tts_alloc_grow(t->alloc, t->devices, &t->device_capacity, t->device_count + 1,
                                 sizeof *t->devices);
    if (!grown)
        return LINE_NONE;
    *status = TTS_OK;
    t->devices = grown;
    idx = (uint32_t)t->device_count++;
    t->devices[idx] = (struct device_line){.id = id, .mesh = LINE_NONE};
    return t->last_device = idx;
}

/* Finds or adds a device. The result is valid until the next call. After a failure, returns
 * NULL and sets *status to TTS_E_RANGE (there are TTS_TIMELINE_DEVICES_MAX devices already) or
 * TTS_E_NOMEM. */
static struct device_line *device_line_of(struct tts_timeline *t, uint32_t id,
                                          enum tts_status *status)
{
    uint32_t idx = device_line_index(t, id, status);
    return idx == LINE_NONE ? NULL : &t->devices[idx];
}

static size_t slot_words(const struct tts_timeline *t)
{
    return (t->config.slots_max + WORD_BITS - 1) / WORD_BITS;
}

static void free_slots(struct tts_timeline *t, struct pool_line *pool)
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

static void free_device_lines(struct tts_timeline *t)
{
    const struct tts_alloc *alloc = t->alloc;
    for (size_t i = 0; i < t->device_count; i++) {
        struct device_line *device = &t->devices[i];
        for (int pool = 0; pool < TTS_POOLS; pool++)
            free_slots(t, &device->pools[pool]);
        if (device->cores.bytes)
            alloc->free(alloc->ctx, device->cores.bytes,
                        TTS_CORES_MAX * sizeof *device->cores.bytes);
    }
    if (t->devices)
        alloc->free(alloc->ctx, t->devices, t->device_capacity * sizeof *t->devices);
}

static enum tts_status join_chip_line(struct tts_timeline *t, uint32_t chip, uint32_t mesh)
{
    enum tts_status status = TTS_OK;
    uint32_t mesh_idx = device_line_index(t, mesh, &status);
    uint32_t idx = status == TTS_OK ? device_line_index(t, chip, &status) : LINE_NONE;
    if (status != TTS_OK)
        return status;
    assert(idx != mesh_idx);
    uint32_t before = t->devices[idx].mesh;
    if (before != LINE_NONE)
        t->devices[before].chips--;
    t->devices[idx].mesh = mesh_idx;
    t->devices[mesh_idx].chips++;
    return TTS_OK;
}

/* ---- counters ---- */

static void put_pool_capacity(struct tts_timeline *t, struct device_line *device,
                              enum tts_pool pool)
{
    struct tts_mark mark = {.kind = TTS_MARK_COUNTER, .time_ns = t->now_ns};
    mark.value = t->config.capacity_bytes[pool];
    if (mark.value == 0)
        return;
    mark.track = tell_device_track(t, device,
                                   (struct tts_track){.kind = TTS_TRACK_CAPACITY, .pool = pool},
                                   &device->pools[pool].capacity);
    send_mark(t, &mark);
}

static void put_pool_counter(struct tts_timeline *t, struct device_line *device,
                             enum tts_pool pool)
{
    struct pool_line *line = &device->pools[pool];
    struct tts_mark mark = {.kind = TTS_MARK_COUNTER, .time_ns = t->now_ns};
    if (line->counter == 0)
        put_pool_capacity(t, device, pool);
    mark.track = tell_device_track(
        t, device, (struct tts_track){.kind = TTS_TRACK_POOL, .pool = pool}, &line->counter);
    mark.value = line->bytes;
    if (device->mesh != LINE_NONE)
        mark.value += t->devices[device->mesh].pools[pool].bytes;
    if (mark.value > line->peak_bytes) {
        line->peak_bytes = mark.value;
        line->peak_ns = t->now_ns;
    }
    send_mark(t, &mark);
}

/* Sends the counter of a device. A buffer of a mesh is on each of its chips, so their counters
 * are sent too, except those of chips that never had a buffer. */
static void put_pool_counters(struct tts_timeline *t, uint32_t idx, enum tts_pool pool)
{
    put_pool_counter(t, &t->devices[idx], pool);
    if (t->devices[idx].chips == 0)
        return;
    for (size_t i = 0; i < t->device_count; i++)
        if (t->devices[i].mesh == idx && t->devices[i].pools[pool].counter)
            put_pool_counter(t, &t->devices[i], pool);
}

/* ---- slots ---- */

static enum tts_status make_slots(struct tts_timeline *t, struct pool_line *pool)
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

/* Takes the lowest free slot, or TTS_LIVESET_NO_SLOT if all are taken. */
static enum tts_status take_slot(struct tts_timeline *t, struct pool_line *pool, uint32_t *out)
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

static void give_slot(struct pool_line *pool, uint32_t slot)
{
    size_t word = slot / WORD_BITS;
    assert(pool->taken[word] >> slot % WORD_BITS & 1);
    pool->taken[word] &= ~(UINT64_C(1) << slot % WORD_BITS);
    pool->low_word = word < pool->low_word ? word : pool->low_word;
}

static struct tts_track slot_track(struct tts_timeline *t, struct device_line *device,
                                   enum tts_pool pool, uint32_t slot)
{
    struct tts_track parent = {.kind = TTS_TRACK_BUFFERS, .pool = pool};
    parent = tell_device_track(t, device, parent, &device->pools[pool].buffers);
    struct tts_track track = {
        .kind = TTS_TRACK_SLOT, .parent = parent.number, .pool = pool, .index = slot};
    return tell_device_track(t, device, track, &device->pools[pool].slot_tracks[slot]);
}

/* ---- buffers ---- */

/* Returns the bytes that a buffer adds to the counter of its pool. */
static uint64_t counted_bytes(const struct tts_timeline *t,
                              const struct tts_liveset_entry *entry)
{
    bool is_bank = tts_pool_is_l1((enum tts_pool)entry->pool) && !t->config.l1_is_requested;
    return is_bank ? entry->bytes_per_bank : entry->bytes;
}

static void put_buffer_slice(struct tts_timeline *t, const struct tts_liveset_entry *entry,
                             struct tts_mark *mark)
{
    struct device_line *device = &t->devices[entry->device];
    const char *op = tts_opnames_text(t->ops, entry->op);
    char text[MARK_TEXT_MAX];
    if (entry->slot == TTS_LIVESET_NO_SLOT)
        return;
    mark->time_ns = t->now_ns;
    mark->track = slot_track(t, device, (enum tts_pool)entry->pool, entry->slot);
    mark->name = name_with_size(op ? op : "buffer", entry->bytes, text);
    mark->buffer_no = entry->number;
    mark->args.op = op;
    send_mark(t, mark);
}

static void end_buffer(struct tts_timeline *t, struct tts_liveset_entry *entry)
{
    struct tts_mark mark = {.kind = TTS_MARK_END};
    uint32_t device = entry->device;
    enum tts_pool pool = (enum tts_pool)entry->pool;
    struct pool_line *line = &t->devices[device].pools[pool];
    put_buffer_slice(t, entry, &mark);
    if (entry->slot != TTS_LIVESET_NO_SLOT)
        give_slot(line, entry->slot);
    line->bytes -= counted_bytes(t, entry);
    tts_liveset_remove(&t->live, entry);
    put_pool_counters(t, device, pool);
}

static enum tts_status begin_buffer(struct tts_timeline *t, const struct tts_event *event,
                                    const struct tts_item_op *op, uint64_t seq)
{
    if (event->size_bytes == 0)
        return TTS_OK;
    enum tts_status status = TTS_OK;
    uint32_t device = device_line_index(t, event->device, &status);
    if (device == LINE_NONE)
        return status;
    struct tts_liveset_entry *before = tts_liveset_find(&t->live, device, event->id);
    if (before)
        end_buffer(t, before);
    struct pool_line *line = &t->devices[device].pools[event->pool];
    struct tts_liveset_entry entry = {.id = event->id,
                                      .device = device,
                                      .pool = event->pool,
                                      .number = t->buffers + 1,
                                      .bytes = event->size_bytes,
                                      .bytes_per_bank = event->bytes_per_bank};
    op_line_text(t, op, &entry.op);
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
    line->bytes += counted_bytes(t, &entry);
    struct tts_mark mark = {.kind = TTS_MARK_BEGIN, .args = {.buffer = event, .seq = seq}};
    put_buffer_slice(t, &entry, &mark);
    put_pool_counters(t, device, event->pool);
    return TTS_OK;
}

static void free_line_buffer(struct tts_timeline *t, const struct tts_event *event)
{
    uint32_t device = find_device_line(t, event->device);
    struct tts_liveset_entry *entry =
        device == LINE_NONE ? NULL : tts_liveset_find(&t->live, device, event->id);
    if (entry)
        end_buffer(t, entry);
    else
        t->counts.unseen_frees++;
}

/* Ends the slices of live buffers. The counters keep their bytes. */
static void close_buffers(struct tts_timeline *t)
{
    size_t cursor = 0;
    const struct tts_liveset_entry *entry;
    while ((entry = tts_liveset_next(&t->live, &cursor))) {
        struct tts_mark mark = {.kind = TTS_MARK_END};
        put_buffer_slice(t, entry, &mark);
    }
}

/* ---- peaks ---- */

static void put_pool_peak(struct tts_timeline *t, struct device_line *device,
                          enum tts_pool pool)
{
    char size[TTS_NUMBER_BYTES_MAX], text[MARK_TEXT_MAX];
    const struct pool_line *line = &device->pools[pool];
    struct tts_mark mark = {.kind = TTS_MARK_INSTANT, .time_ns = line->peak_ns};
    mark.track = tell_track(
        t, (struct tts_track){.kind = TTS_TRACK_DEVICE, .device = device->id}, &device->track);
    snprintf(text, sizeof text, "peak of %s %s%s", tts_pool_name(pool),
             tts_number_format_bytes(size, line->peak_bytes),
             tts_pool_is_l1(pool) && !t->config.l1_is_requested ? " per bank" : "");
    mark.name = text;
    mark.args.bytes = line->peak_bytes;
    send_mark(t, &mark);
}

/* Sends the peaks of all pools, and their capacities again, at the end of the file. */
static void close_pools(struct tts_timeline *t)
{
    for (size_t i = 0; i < t->device_count; i++)
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            const struct pool_line *line = &t->devices[i].pools[pool];
            if (line->capacity > 0)
                put_pool_capacity(t, &t->devices[i], (enum tts_pool)pool);
            if (line->peak_bytes > 0)
                put_pool_peak(t, &t->devices[i], (enum tts_pool)pool);
        }
}

/* ---- cores of the program under way ---- */

static void put_cores_counter(struct tts_timeline *t, struct device_line *device)
{
    struct tts_mark mark = {.kind = TTS_MARK_COUNTER, .time_ns = t->now_ns};
    mark.track = tell_device_track(t, device, (struct tts_track){.kind = TTS_TRACK_CORES},
                                   &device->cores.counter);
    mark.value = device->cores.top_bytes;
    send_mark(t, &mark);
}

static void clear_core_row(struct core_line *cores, uint32_t y)
{
    memset(&cores->bytes[y * TTS_GRID_SIDE_MAX + cores->box.x0], 0,
           (cores->box.x1 - cores->box.x0 + 1u) * sizeof *cores->bytes);
}

/* Clears the cores of a device, as its program is over. */
static void end_device_program(struct tts_timeline *t, struct device_line *device)
{
    struct core_line *cores = &device->cores;
    if (cores->top_bytes == 0)
        return;
    for (uint32_t y = cores->box.y0; y <= cores->box.y1; y++)
        clear_core_row(cores, y);
    cores->top_bytes = 0;
    put_cores_counter(t, device);
}

/* Ends the program of a device. A program of a mesh is a program of each chip. */
static void end_device_programs(struct tts_timeline *t, struct device_line *device)
{
    end_device_program(t, device);
    for (size_t i = 0; device->chips > 0 && i < t->device_count; i++)
        if (t->devices[i].mesh == (uint32_t)(device - t->devices))
            end_device_program(t, &t->devices[i]);
}

static void add_on_core(struct core_line *cores, uint32_t core, uint64_t bytes)
{
    uint64_t *at = &cores->bytes[core];
    *at = bytes > UINT64_MAX - *at ? UINT64_MAX : *at + bytes;
    cores->top_bytes = *at > cores->top_bytes ? *at : cores->top_bytes;
}

static void widen_box(struct core_line *cores, const struct tts_core_range *range)
{
    struct tts_core_range *box = &cores->box;
    if (cores->top_bytes == 0)
        *box = *range;
    box->x0 = range->x0 < box->x0 ? range->x0 : box->x0;
    box->y0 = range->y0 < box->y0 ? range->y0 : box->y0;
    box->x1 = range->x1 > box->x1 ? range->x1 : box->x1;
    box->y1 = range->y1 > box->y1 ? range->y1 : box->y1;
}

static void add_core_range(struct core_line *cores, const struct tts_core_range *range,
                           uint64_t bytes)
{
    assert(range->x0 <= range->x1 && range->x1 < TTS_GRID_SIDE_MAX);
    assert(range->y0 <= range->y1 && range->y1 < TTS_GRID_SIDE_MAX);
    widen_box(cores, range);
    for (uint32_t y = range->y0; y <= range->y1; y++)
        for (uint32_t x = range->x0; x <= range->x1; x++)
            add_on_core(cores, y * TTS_GRID_SIDE_MAX + x, bytes);
}

/* Adds a part of the current program to its cores. Fails like device_line_of(). */
static enum tts_status add_program_part_line(struct tts_timeline *t,
                                             const struct tts_event *event)
{
    enum tts_status status = TTS_OK;
    if (event->borrowed || event->size_bytes == 0)
        return TTS_OK;
    struct device_line *device = device_line_of(t, event->device, &status);
    if (!device)
        return status;
    struct core_line *cores = &device->cores;
    size_t bytes = TTS_CORES_MAX * sizeof *cores->bytes;
    if (!cores->bytes) {
        cores->bytes = t->alloc->alloc(t->alloc->ctx, bytes);
        if (!cores->bytes)
            return TTS_E_NOMEM;
        memset(cores->bytes, 0, bytes);
    }
    for (size_t i = 0; i < event->range_count; i++)
        add_core_range(cores, &event->ranges[i], event->size_bytes);
    put_cores_counter(t, device);
    return TTS_OK;
}

/* ---- captures, each on a lane while it is active ---- */

/* Returns the lane of an active capture, or NULL. */
static struct capture_line *lane_of(struct tts_timeline *t, uint32_t capture)
{
    for (int i = 0; i < TTS_TIMELINE_LANES; i++)
        if (t->captures[i].is_active && t->captures[i].capture == capture)
            return &t->captures[i];
    return NULL;
}

/* Gives a capture a lane. TTS_E_RANGE: TTS_TIMELINE_LANES captures are active. */
static enum tts_status begin_lane(struct tts_timeline *t, uint32_t capture)
{
    struct capture_line *found = NULL;
    for (int i = 0; i < TTS_TIMELINE_LANES; i++) {
        struct capture_line *lane = &t->captures[i];
        /* Prefer the former lane of the capture, else take the first free lane. */
        if (!lane->is_active && (!found || lane->capture == capture))
            found = lane;
    }
    if (!found)
        return TTS_E_RANGE;
    if (found->capture != capture)
        found->track = 0;
    found->capture = capture;
    found->is_active = true;
    found->start_ns = t->now_ns;
    return TTS_OK;
}

static void put_lane_phase(struct tts_timeline *t, struct capture_line *lane, const char *name,
                           bool is_open)
{
    struct tts_mark mark = {.kind = TTS_MARK_SPAN,
                            .time_ns = lane->start_ns,
                            .end_ns = t->now_ns,
                            .is_open = is_open,
                            .name = name};
    mark.track = tell_track(t,
                            (struct tts_track){.kind = TTS_TRACK_CAPTURE,
                                               .index = lane->capture,
                                               .lane = (uint32_t)(lane - t->captures)},
                            &lane->track);
    assert(lane->start_ns <= t->now_ns);
    send_mark(t, &mark);
    lane->start_ns = t->now_ns;
}

static void cut_lane(struct tts_timeline *t, const struct tts_item *item)
{
    struct capture_line *lane = lane_of(t, item->capture);
    char name[TTS_PHASE_NAME_MAX + 1];
    size_t len = item->name_len < sizeof name ? item->name_len : sizeof name - 1;
    if (!lane)
        return;
    if (len > 0)
        memcpy(name, item->name, len);
    name[len] = '\0';
    put_lane_phase(t, lane, name, false);
}

static void end_lane(struct tts_timeline *t, uint32_t capture)
{
    struct capture_line *lane = lane_of(t, capture);
    if (lane)
        lane->is_active = false;
}

static void close_lanes(struct tts_timeline *t)
{
    for (int i = 0; i < TTS_TIMELINE_LANES; i++)
        if (t->captures[i].is_active)
            put_lane_phase(t, &t->captures[i], "(unfinished)", true);
}

/* ---- life ---- */

enum tts_status tts_timeline_new(const struct tts_timeline_config *config,
                                 const struct tts_alloc *alloc, struct tts_timeline **out,
                                 struct tts_error *err)
{
    assert(config->put && config->slots_max <= TTS_TIMELINE_SLOTS_MAX);
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_timeline *t = alloc->alloc(alloc->ctx, sizeof *t);
    if (!t)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    *t = (struct tts_timeline){.config = *config, .alloc = alloc, .tracks = 1};
    tts_liveset_init(&t->live, alloc);
    if (tts_opnames_new(TTS_TIMELINE_NAMES_MAX, alloc, &t->ops) != TTS_OK) {
        tts_timeline_free(t);
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    }
    *out = t;
    return TTS_OK;
}

void tts_timeline_free(struct tts_timeline *t)
{
    if (!t)
        return;
    const struct tts_alloc *alloc = t->alloc;
    free_device_lines(t);
    tts_liveset_release(&t->live);
    tts_opnames_free(t->ops);
    for (size_t i = 0; i < t->thread_count; i++)
        if (t->threads[i].ops)
            alloc->free(alloc->ctx, t->threads[i].ops,
                        t->threads[i].op_capacity * sizeof *t->threads[i].ops);
    if (t->threads)
        alloc->free(alloc->ctx, t->threads, t->thread_capacity * sizeof *t->threads);
    alloc->free(alloc->ctx, t, sizeof *t);
}

struct tts_timeline_counts tts_timeline_counts(const struct tts_timeline *t)
{
    return t->counts;
}

/* ---- operations ---- */

/* Finds or adds a thread. Returns NULL if there are TTS_TIMELINE_THREADS_MAX threads already,
 * or sets *status to TTS_E_NOMEM and returns NULL. */
static struct thread_line *thread_of(struct tts_timeline *t, uint32_t thread,
                                     enum tts_status *status)
{
    if (t->last_thread < t->thread_count && t->threads[t->last_thread].thread == thread)
        return &t->threads[t->last_thread];
    for (size_t i = 0; i < t->thread_count; i++) {
        if (t->threads[i].thread != thread)
            continue;
        t->last_thread = i;
        return &t->threads[i];
    }
    if (t->thread_count == TTS_TIMELINE_THREADS_MAX)
        return NULL;
    void *grown = tts_alloc_grow(t->alloc, t->threads, &t->thread_capacity, t->thread_count + 1,
                                 sizeof *t->threads);
    if (!grown) {
        *status = TTS_E_NOMEM;
        return NULL;
    }
    t->threads = grown;
    t->last_thread = t->thread_count++;
    t->threads[t->last_thread] = (struct thread_line){.thread = thread};
    return &t->threads[t->last_thread];
}

/* Returns the innermost stored operation of the thread, or NULL. */
static struct op_line *top_op(struct thread_line *line)
{
    if (line->depth == 0)
        return NULL;
    uint32_t kept = line->depth < TTS_TIMELINE_OPS_MAX ? line->depth : TTS_TIMELINE_OPS_MAX;
    return &line->ops[kept - 1];
}

static struct tts_mark op_mark(struct tts_timeline *t, struct thread_line *line,
                               enum tts_mark_kind kind)
{
    struct tts_mark mark = {.kind = kind, .time_ns = t->now_ns};
    mark.track = tell_track(
        t, (struct tts_track){.kind = TTS_TRACK_THREAD, .index = line->thread}, &line->track);
    return mark;
}

/* Sends a finished operation as one span, as its size is known only now. */
static void send_op_span(struct tts_timeline *t, struct thread_line *line,
                         const struct op_line *op, bool is_open)
{
    char text[MARK_TEXT_MAX];
    struct tts_mark mark = op_mark(t, line, TTS_MARK_SPAN);
    mark.time_ns = op->begin_ns;
    mark.end_ns = t->now_ns;
    mark.is_open = is_open;
    mark.name = name_with_size(tts_opnames_text(t->ops, op->op), op->bytes, text);
    mark.args = (struct tts_mark_args){.bytes = op->bytes, .seq = op->seq};
    send_mark(t, &mark);
}

static void send_op_begin(struct tts_timeline *t, struct thread_line *line,
                          const struct op_line *op)
{
    struct tts_mark mark = op_mark(t, line, TTS_MARK_BEGIN);
    mark.name = tts_opnames_text(t->ops, op->op);
    mark.args.seq = op->seq;
    send_mark(t, &mark);
}

static void send_op_end(struct tts_timeline *t, struct thread_line *line)
{
    struct op_line *op = top_op(line);
    assert(op);
    bool is_kept = line->depth <= TTS_TIMELINE_OPS_MAX;
    if (is_kept && !op->is_told) {
        send_op_span(t, line, op, false);
    } else {
        struct tts_mark mark = op_mark(t, line, TTS_MARK_END);
        mark.args.bytes = is_kept ? op->bytes : 0;
        send_mark(t, &mark);
    }
    line->depth--;
    t->open_threads -= line->depth == 0;
    if (is_kept && line->depth > 0)
        op[-1].bytes += op->bytes;
}

/* Begins an operation. Readers sort by time and keep the written order for equal times. So if
 * two operations begin at the same time, the outer one is sent before the inner one, without a
 * size in its name. */
static enum tts_status put_op_inside(struct tts_timeline *t, struct thread_line *line,
                                     const struct tts_item *item)
{
    struct op_line next = {.begin_ns = t->now_ns, .seq = item->seq};
    struct op_line *outer = top_op(line);
    op_line_text(t, &item->op, &next.op);
    if (line->depth < TTS_TIMELINE_OPS_MAX) {
        void *grown = tts_alloc_grow(t->alloc, line->ops, &line->op_capacity,
                                     (size_t)line->depth + 1, sizeof *line->ops);
        if (!grown)
            return TTS_E_NOMEM;
        line->ops = grown;
        outer = top_op(line);
        line->ops[line->depth] = next;
    }
    if (outer && !outer->is_told && outer->begin_ns == t->now_ns) {
        send_op_begin(t, line, outer);
        outer->is_told = true;
    }
    if (line->depth >= TTS_TIMELINE_OPS_MAX)
        send_op_begin(t, line, &next);
    t->open_threads += line->depth == 0;
    line->depth++;
    return TTS_OK;
}

static enum tts_status put_op_event(struct tts_timeline *t, const struct tts_item *item)
{
    enum tts_status status = TTS_OK;
    struct thread_line *line = thread_of(t, item->thread, &status);
    if (!line) {
        t->counts.other_ops += status == TTS_OK;
        return status;
    }
    if (item->event.kind == TTS_EVENT_OP_BEGIN)
        return put_op_inside(t, line, item);
    if (line->depth > 0)
        send_op_end(t, line);
    else
        t->counts.unseen_ends++;
    return TTS_OK;
}

static bool has_open_op(const struct thread_line *line, uint32_t op)
{
    for (uint32_t i = 0; i < line->depth && i < TTS_TIMELINE_OPS_MAX; i++)
        if (line->ops[i].op == op)
            return true;
    return false;
}

/* Counts an allocation for the innermost operation of its thread. An allocation names its
 * operation but not its thread. If only one thread is inside operations, it is that thread.
 * Otherwise it is a thread inside an operation of that name. */
static void count_for_op(struct tts_timeline *t, const struct tts_item *item)
{
    uint32_t op = tts_opnames_find(t->ops, item->op.hash);
    if (op == TTS_OPNAMES_NONE)
        return;
    for (size_t i = 0; i < t->thread_count; i++) {
        struct thread_line *line = &t->threads[(t->last_thread + i) % t->thread_count];
        if (line->depth == 0 || (t->open_threads > 1 && !has_open_op(line, op)))
            continue;
        struct op_line *top = top_op(line);
        if (item->event.size_bytes <= UINT64_MAX / 2 - top->bytes)
            top->bytes += item->event.size_bytes;
        return;
    }
}

/* Sends the operations that are unfinished at the end of the file, outermost first. */
static void put_open_ops(struct tts_timeline *t, struct thread_line *line)
{
    uint32_t kept = line->depth < TTS_TIMELINE_OPS_MAX ? line->depth : TTS_TIMELINE_OPS_MAX;
    for (uint32_t i = kept; i-- > 1;)
        line->ops[i - 1].bytes += line->ops[i].bytes;
    for (uint32_t i = 0; i < kept; i++)
        if (!line->ops[i].is_told)
            send_op_span(t, line, &line->ops[i], true);
}

/* ---- traces and failures ---- */

static void put_trace_mark(struct tts_timeline *t, struct device_line *device, bool begins)
{
    if (!begins && device->trace_depth == 0) {
        t->counts.unseen_ends++;
        return;
    }
    struct tts_mark mark = {.kind = begins ? TTS_MARK_BEGIN : TTS_MARK_END,
                            .time_ns = t->now_ns,
                            .name = begins ? "trace capture" : NULL};
    mark.track = tell_device_track(t, device, (struct tts_track){.kind = TTS_TRACK_TRACES},
                                   &device->traces);
    if (begins)
        device->trace_depth++;
    else
        device->trace_depth--;
    send_mark(t, &mark);
}

static void put_failure_mark(struct tts_timeline *t, struct device_line *device,
                             const struct tts_item *item)
{
    char text[TTS_FAILURE_TEXT_MAX];
    uint32_t idx;
    struct tts_mark mark = {.kind = TTS_MARK_INSTANT, .time_ns = t->now_ns};
    mark.name = tts_failure_text(item->event.failure, text);
    mark.args = (struct tts_mark_args){.failure = item->event.failure,
                                       .op = op_line_text(t, &item->op, &idx),
                                       .seq = item->seq};
    mark.track = tell_device_track(t, device, (struct tts_track){.kind = TTS_TRACK_FAILURES},
                                   &device->failures);
    send_mark(t, &mark);
}

void tts_timeline_note(struct tts_timeline *t, const char *text)
{
    struct tts_mark mark = {.kind = TTS_MARK_INSTANT, .time_ns = t->now_ns, .name = text};
    mark.track = (struct tts_track){.kind = TTS_TRACK_PROCESS, .number = 1};
    send_mark(t, &mark);
}

static void put_missed_mark(struct tts_timeline *t, uint64_t count)
{
    char text[64];
    if (count == 0)
        return;
    snprintf(text, sizeof text, "%" PRIu64 " events were not recorded here", count);
    tts_timeline_note(t, text);
}

/* ---- items ---- */

static enum tts_status put_timeline_event(struct tts_timeline *t, const struct tts_item *item)
{
    const struct tts_event *event = &item->event;
    enum tts_status status = TTS_OK;
    if (event->kind == TTS_EVENT_ALLOC) {
        count_for_op(t, item);
        return begin_buffer(t, event, &item->op, item->seq);
    }
    if (event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END)
        return put_op_event(t, item);
    if (event->kind >= TTS_EVENT_CB && event->kind <= TTS_EVENT_SCRATCHPAD)
        return add_program_part_line(t, event);
    if (event->kind == TTS_EVENT_FREE) {
        free_line_buffer(t, event);
        return TTS_OK;
    }
    struct device_line *device = device_line_of(t, event->device, &status);
    if (!device)
        return status;
    if (event->kind == TTS_EVENT_PROGRAM)
        end_device_programs(t, device);
    else if (event->kind == TTS_EVENT_FAILURE)
        put_failure_mark(t, device, item);
    else
        put_trace_mark(t, device, event->kind == TTS_EVENT_TRACE_BEGIN);
    return TTS_OK;
}

static enum tts_status put_live_buffer(struct tts_timeline *t, const struct tts_item *item)
{
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, item->live.device);
    event.pool = item->live.pool;
    event.id = item->live.id;
    event.size_bytes = item->live.size_bytes;
    event.bytes_per_bank = item->live.bytes_per_bank;
    event.block_bytes = item->live.block_bytes;
    event.has_address = item->event.has_address;
    event.address = item->event.address;
    return begin_buffer(t, &event, &item->op, item->live.seq);
}

static enum tts_status put_open_trace(struct tts_timeline *t, const struct tts_item *item)
{
    enum tts_status status = TTS_OK;
    struct device_line *device = device_line_of(t, item->device, &status);
    for (uint64_t i = 0; device && i < item->count && i < TTS_TIMELINE_LANES; i++)
        put_trace_mark(t, device, true);
    return status;
}

static enum tts_status put_sample_counters(struct tts_timeline *t, const struct tts_item *item)
{
    enum tts_status status = TTS_OK;
    struct device_line *device = device_line_of(t, item->device, &status);
    for (uint32_t i = 0; device && i < TTS_SAMPLE_VALUES; i++) {
        if (!tts_sample_has(item->sample, i))
            continue;
        struct tts_track track = {.kind = TTS_TRACK_SAMPLE, .index = i};
        struct tts_mark mark = {
            .kind = TTS_MARK_COUNTER, .time_ns = t->now_ns, .value = item->sample->values[i]};
        mark.track = tell_device_track(t, device, track, &device->sampled[i]);
        send_mark(t, &mark);
    }
    return status;
}

static enum tts_status put_timeline_item(struct tts_timeline *t, const struct tts_item *item)
{
    switch (item->kind) {
    case TTS_ITEM_EVENT:
        return put_timeline_event(t, item);
    case TTS_ITEM_CHIP:
        return join_chip_line(t, item->device, item->mesh);
    case TTS_ITEM_BEGIN:
    case TTS_ITEM_ACTIVE:
        return begin_lane(t, item->capture);
    case TTS_ITEM_CUT:
        cut_lane(t, item);
        break;
    case TTS_ITEM_END:
        end_lane(t, item->capture);
        break;
    case TTS_ITEM_MISSED:
        put_missed_mark(t, item->count);
        break;
    case TTS_ITEM_SAMPLE:
        return put_sample_counters(t, item);
    case TTS_ITEM_LIVE:
        return put_live_buffer(t, item);
    case TTS_ITEM_PART:
        return add_program_part_line(t, &item->event);
    case TTS_ITEM_TRACING:
        return put_open_trace(t, item);
    case TTS_ITEM_NAME:
    case TTS_ITEM_KEYFRAME:
    case TTS_ITEM_KEYFRAME_END:
        break;
    }
    return TTS_OK;
}

static void tell_process(struct tts_timeline *t)
{
    struct tts_mark mark = {.kind = TTS_MARK_TRACK, .time_ns = t->now_ns};
    mark.track = (struct tts_track){.kind = TTS_TRACK_PROCESS, .number = 1};
    t->has_begun = true;
    t->first_ns = t->now_ns;
    send_mark(t, &mark);
}

/* Puts an item without the bytes per bank, which are unknown. */
static enum tts_status put_requested_item(struct tts_timeline *t, struct tts_item item)
{
    item.event.bytes_per_bank = item.event.block_bytes = 0;
    item.live.bytes_per_bank = item.live.block_bytes = 0;
    return put_timeline_item(t, &item);
}

enum tts_status tts_timeline_item(struct tts_timeline *t, const struct tts_item *item,
                                  struct tts_error *err)
{
    uint64_t time_ns = item->has_time ? item->time_ns : item->seq * TTS_TIMELINE_EVENT_NS;
    t->now_ns = time_ns > t->now_ns ? time_ns : t->now_ns;
    if (!t->has_begun)
        tell_process(t);
    enum tts_status status =
        t->config.l1_is_requested ? put_requested_item(t, *item) : put_timeline_item(t, item);
    if (status == TTS_OK)
        return TTS_OK;
    return tts_error_set(
        err, status,
        status == TTS_E_NOMEM
            ? "out of memory"
            : "event %" PRIu64
              ": the file has more buffers or operations at once than ttscope can draw",
        item->seq);
}

void tts_timeline_end(struct tts_timeline *t)
{
    if (!t->has_begun)
        tell_process(t);
    close_lanes(t);
    close_pools(t);
    for (size_t i = 0; i < t->thread_count && !t->config.closes_at_end; i++)
        put_open_ops(t, &t->threads[i]);
    if (!t->config.closes_at_end)
        return;
    close_buffers(t);
    for (size_t i = 0; i < t->thread_count; i++)
        while (t->threads[i].depth > 0)
            send_op_end(t, &t->threads[i]);
    for (size_t i = 0; i < t->device_count; i++)
        while (t->devices[i].trace_depth > 0)
            put_trace_mark(t, &t->devices[i], false);
}
