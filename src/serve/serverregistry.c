#include "serve/serverregistry.h"

#include "base/chunks.h"
#include "base/compiler.h"
#include "base/error.h"
#include "base/hashtable.h"
#include "base/heap.h"
#include "base/seed.h"

#include <assert.h>
#include <string.h>

enum {
    ROWS_IN_CHUNK = 64,
    ENTRIES_IN_CHUNK = 1024,
    /* Each part of the index grows on its own, so that the server never pauses for long. */
    INDEX_PARTS = 64,
    INDEX_SHIFT = 26,
};
#define NONE TTS_SERVERREGISTRY_NONE
/* Times of clients are believed if they are at most this old. */
#define TIME_OLD_NS (UINT64_C(10) * 1000 * 1000 * 1000)

/* A live buffer or kernel. The row stands for process and device. */
struct entry {
    uint64_t id, size_bytes, time_ns;
    uint32_t row;
    uint32_t references;
    uint32_t next,
        previous; /* in the list of the row; `next` also in the list of free places */
    uint8_t list;
    uint8_t kernel_type;
};

struct registered {
    struct tts_serverprocess facts;
    uint32_t *rows; /* by device: place + 1 of the row */
    size_t rows_capacity;
    uint32_t first_row;
    uint32_t next; /* in the list of ended processes */
    bool is_live;
};

struct tts_serverregistry {
    const struct tts_alloc *alloc;
    struct tts_serversink sink;
    size_t processes_max, rows_max, buffers_max;
    struct registered **processes;
    size_t process_count, process_capacity;
    uint32_t *free_processes; /* as large as `processes` */
    size_t free_process_count, free_capacity;
    struct tts_chunks rows, entries;
    uint32_t row_count, entry_count;               /* places that were ever used */
    uint32_t free_row, free_entry, ended, changed; /* heads of lists */
    struct tts_hashtable index[INDEX_PARTS];
    struct tts_serverdevice devices[TTS_FRAME_DEVICES_MAX];
    bool is_used[TTS_FRAME_DEVICES_MAX];
    struct tts_servercounts counts;
    uint64_t instances, seed;
};

static_assert(ROWS_IN_CHUNK * sizeof(struct tts_serverrow) % TTS_CACHE_LINE_BYTES == 0, "rows");
static_assert(ENTRIES_IN_CHUNK * sizeof(struct entry) % TTS_CACHE_LINE_BYTES == 0, "entries");

/* --- memory ----------------------------------------------------------------------------- */

static struct tts_serverrow *row_at(const struct tts_serverregistry *registry, uint32_t place)
{
    struct tts_serverrow *chunk = (void *)registry->rows.chunk[place / ROWS_IN_CHUNK];
    return &chunk[place % ROWS_IN_CHUNK];
}

static inline struct entry *entry_at(const struct tts_serverregistry *registry, uint32_t place)
{
    struct entry *chunk = (void *)registry->entries.chunk[place / ENTRIES_IN_CHUNK];
    return &chunk[place % ENTRIES_IN_CHUNK];
}

/* Returns a free place for a row, or NONE. */
static uint32_t new_row_place(struct tts_serverregistry *registry)
{
    uint32_t place = registry->free_row;
    if (place != NONE) {
        registry->free_row = row_at(registry, place)->next;
        return place;
    }
    if (registry->row_count >= registry->rows_max)
        return NONE;
    if (registry->row_count == registry->rows.count * ROWS_IN_CHUNK &&
        !tts_chunks_add(&registry->rows))
        return NONE;
    return registry->row_count++;
}

static uint32_t new_live_place(struct tts_serverregistry *registry)
{
    uint32_t place = registry->free_entry;
    if (place != NONE) {
        registry->free_entry = entry_at(registry, place)->next;
        return place;
    }
    if (registry->entry_count >= registry->buffers_max)
        return NONE;
    if (registry->entry_count == registry->entries.count * ENTRIES_IN_CHUNK &&
        !tts_chunks_add(&registry->entries))
        return NONE;
    return registry->entry_count++;
}

static size_t limit_of(size_t wanted, size_t most)
{
    return wanted > 0 && wanted < most ? wanted : most;
}

enum tts_status tts_serverregistry_new(const struct tts_serverregistry_config *config,
                                       const struct tts_alloc *alloc,
                                       struct tts_serverregistry **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_serverregistry *registry = alloc->alloc(alloc->ctx, sizeof *registry);
    if (!registry)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the processes");
    *registry = (struct tts_serverregistry){
        .alloc = alloc,
        .sink = config->sink,
        .processes_max = limit_of(config->processes_max, TTS_SERVERREGISTRY_PROCESSES_MAX),
        .rows_max = limit_of(config->rows_max, TTS_SERVERREGISTRY_ROWS_MAX),
        .buffers_max = limit_of(config->buffers_max, TTS_SERVERREGISTRY_BUFFERS_MAX),
        .free_row = NONE,
        .free_entry = NONE,
        .ended = NONE,
        .changed = NONE,
        .seed = tts_seed(),
    };
    tts_chunks_init(&registry->rows, alloc, ROWS_IN_CHUNK * sizeof(struct tts_serverrow));
    tts_chunks_init(&registry->entries, alloc, ENTRIES_IN_CHUNK * sizeof(struct entry));
    for (int i = 0; i < INDEX_PARTS; i++)
        registry->index[i].alloc = alloc;
    for (uint32_t i = 0; i < TTS_FRAME_DEVICES_MAX; i++)
        registry->devices[i].device = i;
    *out = registry;
    return TTS_OK;
}

static void free_registered(struct tts_serverregistry *registry, uint32_t place)
{
    const struct tts_alloc *alloc = registry->alloc;
    struct registered *process = registry->processes[place];
    if (!process)
        return;
    if (process->rows)
        alloc->free(alloc->ctx, process->rows, process->rows_capacity * sizeof *process->rows);
    alloc->free(alloc->ctx, process, sizeof *process);
    registry->processes[place] = NULL;
}

void tts_serverregistry_free(struct tts_serverregistry *registry)
{
    if (!registry)
        return;
    const struct tts_alloc *alloc = registry->alloc;
    for (uint32_t i = 0; i < registry->process_count; i++)
        free_registered(registry, i);
    if (registry->processes)
        alloc->free(alloc->ctx, registry->processes,
                    registry->process_capacity * sizeof *registry->processes);
    if (registry->free_processes)
        alloc->free(alloc->ctx, registry->free_processes,
                    registry->free_capacity * sizeof *registry->free_processes);
    for (int i = 0; i < INDEX_PARTS; i++)
        tts_hashtable_release(&registry->index[i]);
    tts_chunks_release(&registry->rows);
    tts_chunks_release(&registry->entries);
    alloc->free(alloc->ctx, registry, sizeof *registry);
}

/* --- events ----------------------------------------------------------------------------- */

static void send_event(struct tts_serverregistry *registry, const struct tts_serverrow *row,
                       struct tts_serverevent *event)
{
    if (!registry->sink.event)
        return;
    event->source = TTS_SERVERSOURCE_FRAMES;
    event->process = &registry->processes[row->process]->facts;
    event->device = row->device;
    registry->sink.event(registry->sink.ctx, event);
}

static void send_process_event(struct tts_serverregistry *registry, uint32_t place,
                               struct tts_serverevent *event)
{
    if (!registry->sink.event)
        return;
    event->source = TTS_SERVERSOURCE_FRAMES;
    event->process = &registry->processes[place]->facts;
    registry->sink.event(registry->sink.ctx, event);
}

static void mark_changed(struct tts_serverregistry *registry, uint32_t place,
                         struct tts_serverrow *row)
{
    if (row->is_dirty)
        return;
    row->is_dirty = true;
    row->dirty = registry->changed;
    registry->changed = place;
}

/* --- processes -------------------------------------------------------------------------- */

/* Finds a place for a process. Room for the place in the list of free places is made now, so
 * that ending a process cannot fail. */
static enum tts_status new_process_place(struct tts_serverregistry *registry, uint32_t *place)
{
    if (registry->free_process_count > 0) {
        *place = registry->free_processes[--registry->free_process_count];
        return TTS_OK;
    }
    size_t needed = registry->process_count + 1;
    if (needed > registry->processes_max)
        return TTS_E_FULL;
    uint32_t *free_places =
        tts_alloc_grow(registry->alloc, registry->free_processes, &registry->free_capacity,
                       needed, sizeof *registry->free_processes);
    if (!free_places)
        return TTS_E_NOMEM;
    registry->free_processes = free_places;
    struct registered **processes =
        tts_alloc_grow(registry->alloc, registry->processes, &registry->process_capacity,
                       needed, sizeof *registry->processes);
    if (!processes)
        return TTS_E_NOMEM;
    registry->processes = processes;
    *place = (uint32_t)registry->process_count++;
    registry->processes[*place] = NULL;
    return TTS_OK;
}

enum tts_status tts_serverregistry_begin(struct tts_serverregistry *registry,
                                         const struct tts_serverprocess *facts, uint64_t now_ns,
                                         uint32_t *place)
{
    const struct tts_alloc *alloc = registry->alloc;
    enum tts_status status = new_process_place(registry, place);
    if (status != TTS_OK)
        return status;
    struct registered *process = alloc->alloc(alloc->ctx, sizeof *process);
    if (!process) {
        registry->free_processes[registry->free_process_count++] = *place;
        return TTS_E_NOMEM;
    }
    *process =
        (struct registered){.facts = *facts, .first_row = NONE, .next = NONE, .is_live = true};
    process->facts.instance = ++registry->instances;
    registry->processes[*place] = process;
    registry->counts.live_processes++;
    send_process_event(
        registry, *place,
        &(struct tts_serverevent){.kind = TTS_SERVEREVENT_BEGIN, .time_ns = now_ns});
    return TTS_OK;
}

/* Takes what a row holds out of the sums of its device. The entries stay. */
static void leave_device(struct tts_serverregistry *registry, const struct tts_serverrow *row,
                         struct tts_serverevent *death)
{
    struct tts_serverdevice *device = &registry->devices[row->device];
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        assert(device->bytes[pool] >= row->bytes[pool]);
        device->bytes[pool] -= row->bytes[pool];
        device->buffers[pool] -= row->buffers[pool];
        death->size_bytes += row->bytes[pool];
        death->buffers += row->buffers[pool];
    }
    device->cb_bytes -= row->cb_bytes;
    device->kernel_bytes -= row->kernel_bytes;
}

void tts_serverregistry_end(struct tts_serverregistry *registry, uint32_t place,
                            uint64_t now_ns)
{
    struct registered *process = registry->processes[place];
    struct tts_serverevent death = {.kind = TTS_SERVEREVENT_DEATH, .time_ns = now_ns};
    assert(process && process->is_live);
    for (uint32_t at = process->first_row; at != NONE; at = row_at(registry, at)->next)
        leave_device(registry, row_at(registry, at), &death);
    registry->counts.live_buffers -= death.buffers;
    registry->counts.live_processes--;
    process->is_live = false;
    process->next = registry->ended;
    registry->ended = place;
    send_process_event(registry, place, &death);
}

/* --- rows ------------------------------------------------------------------------------- */

static bool reserve_row_map(struct tts_serverregistry *registry, struct registered *process,
                            uint32_t device)
{
    size_t before = process->rows_capacity;
    if (device < before)
        return true;
    uint32_t *rows = tts_alloc_grow(registry->alloc, process->rows, &process->rows_capacity,
                                    (size_t)device + 1, sizeof *rows);
    if (!rows)
        return false;
    process->rows = rows;
    memset(rows + before, 0, (process->rows_capacity - before) * sizeof *rows);
    return true;
}

static TTS_NOINLINE uint32_t add_row(struct tts_serverregistry *registry, uint32_t place,
                                     uint32_t device)
{
    struct registered *process = registry->processes[place];
    if (!reserve_row_map(registry, process, device))
        return NONE;
    uint32_t row_place = new_row_place(registry);
    if (row_place == NONE)
        return NONE;
    struct tts_serverrow *row = row_at(registry, row_place);
    *row =
        (struct tts_serverrow){.device = device, .process = place, .next = process->first_row};
    for (int i = 0; i < TTS_SERVERREGISTRY_LISTS; i++)
        row->heads[i] = NONE;
    process->first_row = row_place;
    process->rows[device] = row_place + 1;
    registry->is_used[device] = true;
    return row_place;
}

/* Returns the place of the row of a process and a device, or NONE if there is no room. */
static inline uint32_t find_row(struct tts_serverregistry *registry, uint32_t place,
                                uint32_t device)
{
    const struct registered *process = registry->processes[place];
    if (TTS_LIKELY(device < process->rows_capacity && process->rows[device] > 0))
        return process->rows[device] - 1;
    return add_row(registry, place, device);
}

/* --- entries ---------------------------------------------------------------------------- */

struct entry_key {
    uint64_t id;
    uint32_t row;
    bool is_kernel;
};

static bool has_entry_key(const void *ctx, uint32_t place, const void *key_bytes)
{
    const struct entry *entry = entry_at(ctx, place);
    const struct entry_key *key = key_bytes;
    return entry->id == key->id && entry->row == key->row &&
           (entry->list == TTS_SERVERREGISTRY_KERNELS) == key->is_kernel;
}

static inline uint32_t hash_entry(const struct tts_serverregistry *registry,
                                  const struct entry_key *key)
{
    return tts_hashtable_mix(registry->seed, key->id, (uint64_t)key->row << 1 | key->is_kernel);
}

static inline uint32_t find_live_entry(const struct tts_serverregistry *registry,
                                       const struct entry_key *key, uint32_t hash)
{
    return tts_hashtable_find(&registry->index[hash >> INDEX_SHIFT], hash, has_entry_key,
                              registry, key);
}

/* Adds an entry to the index and to its list. Returns NULL if there is no room. */
static struct entry *add_live_entry(struct tts_serverregistry *registry,
                                    const struct entry_key *key, uint32_t hash, uint32_t list)
{
    uint32_t place = new_live_place(registry);
    if (place == NONE)
        return NULL;
    struct entry *entry = entry_at(registry, place);
    if (tts_hashtable_add(&registry->index[hash >> INDEX_SHIFT], hash, place) != TTS_OK) {
        entry->next = registry->free_entry;
        registry->free_entry = place;
        return NULL;
    }
    struct tts_serverrow *row = row_at(registry, key->row);
    *entry = (struct entry){.id = key->id,
                            .row = key->row,
                            .references = 1,
                            .next = row->heads[list],
                            .previous = NONE,
                            .list = (uint8_t)list};
    if (entry->next != NONE)
        entry_at(registry, entry->next)->previous = place;
    row->heads[list] = place;
    return entry;
}

static void remove_live_entry(struct tts_serverregistry *registry, uint32_t place,
                              uint32_t hash)
{
    struct entry *entry = entry_at(registry, place);
    if (entry->previous == NONE)
        row_at(registry, entry->row)->heads[entry->list] = entry->next;
    else
        entry_at(registry, entry->previous)->next = entry->next;
    if (entry->next != NONE)
        entry_at(registry, entry->next)->previous = entry->previous;
    tts_hashtable_remove(&registry->index[hash >> INDEX_SHIFT], hash, place);
    entry->next = registry->free_entry;
    registry->free_entry = place;
}

/* --- frames ----------------------------------------------------------------------------- */

/* Published servers count system memory as L1_SMALL. */
static inline enum tts_pool pool_of_frame(uint8_t buffer_type)
{
    static const uint8_t pools[] = {TTS_POOL_DRAM, TTS_POOL_L1, TTS_POOL_L1_SMALL,
                                    TTS_POOL_L1_SMALL, TTS_POOL_TRACE};
    return pools[buffer_type < sizeof pools ? buffer_type : 0];
}

/* Returns the time of a frame, or `now_ns` if the frame has none that can be right. */
static inline uint64_t time_of_frame(const struct tts_frame *frame, uint64_t now_ns)
{
    bool is_plausible = frame->time_ns <= now_ns && now_ns - frame->time_ns < TIME_OLD_NS;
    return is_plausible ? frame->time_ns : now_ns;
}

static void add_buffer(struct tts_serverregistry *registry, const struct entry *entry)
{
    struct tts_serverrow *row = row_at(registry, entry->row);
    struct tts_serverdevice *device = &registry->devices[row->device];
    uint64_t bytes = row->bytes[entry->list] += entry->size_bytes;
    if (bytes > row->peak_bytes[entry->list])
        row->peak_bytes[entry->list] = bytes;
    row->buffers[entry->list]++;
    row->allocs[entry->list]++;
    device->bytes[entry->list] += entry->size_bytes;
    device->buffers[entry->list]++;
    registry->counts.live_buffers++;
}

static void take_alloc(struct tts_serverregistry *registry, uint32_t row_place,
                       const struct tts_frame *frame, uint64_t now_ns)
{
    struct entry_key key = {frame->id, row_place, false};
    enum tts_pool pool = pool_of_frame(frame->buffer_type);
    struct tts_serverrow *row = row_at(registry, row_place);
    uint32_t hash = hash_entry(registry, &key), place = find_live_entry(registry, &key, hash);
    struct entry *entry = place != NONE ? entry_at(registry, place) : NULL;
    if (entry) {
        registry->counts.size_changes += entry->size_bytes != frame->size_bytes;
        entry->references += entry->references < UINT32_MAX;
    } else {
        bool has_room = frame->size_bytes <= TTS_SERVERREGISTRY_BYTES_MAX -
                                                 registry->devices[row->device].bytes[pool];
        entry = has_room ? add_live_entry(registry, &key, hash, pool) : NULL;
        if (!entry) {
            tts_serverregistry_lose(registry);
            return;
        }
        entry->size_bytes = frame->size_bytes;
        entry->time_ns = time_of_frame(frame, now_ns);
        add_buffer(registry, entry);
        mark_changed(registry, row_place, row);
    }
    send_event(registry, row,
               &(struct tts_serverevent){.kind = TTS_SERVEREVENT_ALLOC,
                                         .pool = (enum tts_pool)entry->list,
                                         .id_known = true,
                                         .id = frame->id,
                                         .size_bytes = frame->size_bytes,
                                         .time_ns = time_of_frame(frame, now_ns),
                                         .references = entry->references});
}

static void drop_buffer(struct tts_serverregistry *registry, const struct entry *entry)
{
    struct tts_serverrow *row = row_at(registry, entry->row);
    struct tts_serverdevice *device = &registry->devices[row->device];
    row->bytes[entry->list] -= entry->size_bytes;
    row->buffers[entry->list]--;
    row->frees[entry->list]++;
    device->bytes[entry->list] -= entry->size_bytes;
    device->buffers[entry->list]--;
    registry->counts.live_buffers--;
}

static void take_free(struct tts_serverregistry *registry, uint32_t row_place,
                      const struct tts_frame *frame, uint64_t now_ns)
{
    struct entry_key key = {frame->id, row_place, false};
    struct tts_serverrow *row = row_at(registry, row_place);
    uint32_t hash = hash_entry(registry, &key), place = find_live_entry(registry, &key, hash);
    struct tts_serverevent event = {.kind = TTS_SERVEREVENT_UNKNOWN_FREE,
                                    .id_known = true,
                                    .id = frame->id,
                                    .time_ns = now_ns};
    if (place == NONE) {
        registry->counts.unknown_frees++;
        send_event(registry, row, &event);
        return;
    }
    struct entry *entry = entry_at(registry, place);
    event.kind = TTS_SERVEREVENT_FREE;
    event.pool = (enum tts_pool)entry->list;
    event.size_bytes = entry->size_bytes;
    event.references = --entry->references;
    if (entry->references == 0) {
        drop_buffer(registry, entry);
        remove_live_entry(registry, place, hash);
        mark_changed(registry, row_place, row);
    }
    send_event(registry, row, &event);
}

/* Adds to or takes from the bytes of circular buffers or kernels of a row and of its device.
 * The sum of a row never falls below 0. Returns false if there is no room. */
static bool change_code(uint64_t *row_bytes, uint64_t *device_bytes, uint64_t size_bytes,
                        bool is_adding)
{
    if (!is_adding) {
        uint64_t less = size_bytes < *row_bytes ? size_bytes : *row_bytes;
        *row_bytes -= less;
        *device_bytes -= less;
        return true;
    }
    if (size_bytes > TTS_SERVERREGISTRY_BYTES_MAX - *device_bytes)
        return false;
    *row_bytes += size_bytes;
    *device_bytes += size_bytes;
    return true;
}

static void take_cb(struct tts_serverregistry *registry, uint32_t row_place,
                    const struct tts_frame *frame, uint64_t now_ns)
{
    bool is_adding = frame->type == TTS_FRAMETYPE_CB_ALLOC;
    struct tts_serverrow *row = row_at(registry, row_place);
    struct tts_serverdevice *device = &registry->devices[row->device];
    if (!change_code(&row->cb_bytes, &device->cb_bytes, frame->size_bytes, is_adding)) {
        tts_serverregistry_lose(registry);
        return;
    }
    mark_changed(registry, row_place, row);
    send_event(registry, row,
               &(struct tts_serverevent){
                   .kind = is_adding ? TTS_SERVEREVENT_CB_ALLOC : TTS_SERVEREVENT_CB_FREE,
                   .id_known = true,
                   .id = frame->id,
                   .size_bytes = frame->size_bytes,
                   .time_ns = is_adding ? time_of_frame(frame, now_ns) : now_ns,
                   .live_bytes = device->cb_bytes});
}

/* Keeps the list of kernels, which is for reports only: the sums do not depend on it. */
static void list_kernel(struct tts_serverregistry *registry, uint32_t row_place,
                        const struct tts_frame *frame, uint64_t now_ns)
{
    struct entry_key key = {frame->id, row_place, true};
    uint32_t hash = hash_entry(registry, &key), place = find_live_entry(registry, &key, hash);
    struct entry *entry = place != NONE ? entry_at(registry, place) : NULL;
    if (frame->type == TTS_FRAMETYPE_KERNEL_UNLOAD) {
        if (entry && --entry->references == 0)
            remove_live_entry(registry, place, hash);
        return;
    }
    if (entry) {
        entry->references += entry->references < UINT32_MAX;
        return;
    }
    entry = add_live_entry(registry, &key, hash, TTS_SERVERREGISTRY_KERNELS);
    if (!entry) {
        tts_serverregistry_lose(registry);
        return;
    }
    entry->size_bytes = frame->size_bytes;
    entry->time_ns = time_of_frame(frame, now_ns);
    entry->kernel_type = frame->buffer_type;
}

static void take_kernel(struct tts_serverregistry *registry, uint32_t row_place,
                        const struct tts_frame *frame, uint64_t now_ns)
{
    bool is_adding = frame->type == TTS_FRAMETYPE_KERNEL_LOAD;
    struct tts_serverrow *row = row_at(registry, row_place);
    struct tts_serverdevice *device = &registry->devices[row->device];
    if (!change_code(&row->kernel_bytes, &device->kernel_bytes, frame->size_bytes, is_adding)) {
        tts_serverregistry_lose(registry);
        return;
    }
    list_kernel(registry, row_place, frame, now_ns);
    mark_changed(registry, row_place, row);
    send_event(
        registry, row,
        &(struct tts_serverevent){.kind = is_adding ? TTS_SERVEREVENT_KERNEL_LOAD
                                                    : TTS_SERVEREVENT_KERNEL_UNLOAD,
                                  .kernel_type = frame->buffer_type,
                                  .id_known = true,
                                  .id = frame->id,
                                  .size_bytes = frame->size_bytes,
                                  .time_ns = is_adding ? time_of_frame(frame, now_ns) : now_ns,
                                  .live_bytes = device->kernel_bytes});
}

void tts_serverregistry_take(struct tts_serverregistry *registry, uint32_t process,
                             const struct tts_frame *frame, uint64_t now_ns)
{
    static void (*const takes[])(struct tts_serverregistry *, uint32_t,
                                 const struct tts_frame *, uint64_t) = {
        [TTS_FRAMETYPE_ALLOC] = take_alloc,
        [TTS_FRAMETYPE_FREE] = take_free,
        [TTS_FRAMETYPE_CB_ALLOC] = take_cb,
        [TTS_FRAMETYPE_CB_FREE] = take_cb,
        [TTS_FRAMETYPE_KERNEL_LOAD] = take_kernel,
        [TTS_FRAMETYPE_KERNEL_UNLOAD] = take_kernel,
        [TTS_FRAMETYPE_MAX] = NULL,
    };
    assert(registry->processes[process] && registry->processes[process]->is_live);
    if (frame->type > TTS_FRAMETYPE_MAX || !takes[frame->type] || frame->device < 0 ||
        frame->device >= TTS_FRAME_DEVICES_MAX)
        return;
    registry->counts.events++;
    uint32_t row = find_row(registry, process, (uint32_t)frame->device);
    if (TTS_LIKELY(row != NONE))
        takes[frame->type](registry, row, frame, now_ns);
    else
        tts_serverregistry_lose(registry);
}

void tts_serverregistry_lose(struct tts_serverregistry *registry)
{
    registry->counts.lost_events++;
}

/* --- ended processes -------------------------------------------------------------------- */

/* Takes a row out of the list of changed rows, which is short after each turn of the server. */
static void forget_change(struct tts_serverregistry *registry, uint32_t place)
{
    uint32_t *link = &registry->changed;
    if (!row_at(registry, place)->is_dirty)
        return;
    while (*link != place)
        link = &row_at(registry, *link)->dirty;
    *link = row_at(registry, place)->dirty;
}

/* Removes entries of a row. Returns how many of `max` are left; above 0: the row is empty. */
static size_t sweep_row(struct tts_serverregistry *registry, uint32_t row_place, size_t max)
{
    struct tts_serverrow *row = row_at(registry, row_place);
    for (int list = 0; list < TTS_SERVERREGISTRY_LISTS; list++)
        while (row->heads[list] != NONE) {
            if (max == 0)
                return 0;
            uint32_t place = row->heads[list];
            struct entry_key key = {entry_at(registry, place)->id, row_place,
                                    list == TTS_SERVERREGISTRY_KERNELS};
            remove_live_entry(registry, place, hash_entry(registry, &key));
            max--;
        }
    return max;
}

bool tts_serverregistry_sweep(struct tts_serverregistry *registry, size_t max)
{
    while (registry->ended != NONE && max > 0) {
        uint32_t place = registry->ended;
        struct registered *process = registry->processes[place];
        while (process->first_row != NONE &&
               (max = sweep_row(registry, process->first_row, max)) > 0) {
            uint32_t row_place = process->first_row;
            forget_change(registry, row_place);
            process->first_row = row_at(registry, row_place)->next;
            row_at(registry, row_place)->next = registry->free_row;
            registry->free_row = row_place;
            max--;
        }
        if (process->first_row != NONE)
            return true;
        registry->ended = process->next;
        free_registered(registry, place);
        registry->free_processes[registry->free_process_count++] = place;
    }
    return registry->ended != NONE;
}

/* --- questions -------------------------------------------------------------------------- */

const struct tts_serverprocess *
tts_serverregistry_process(const struct tts_serverregistry *registry, uint32_t place)
{
    return &registry->processes[place]->facts;
}

const struct tts_servercounts *
tts_serverregistry_counts(const struct tts_serverregistry *registry)
{
    return &registry->counts;
}

const struct tts_serverdevice *
tts_serverregistry_device(const struct tts_serverregistry *registry, uint32_t device)
{
    assert(device < TTS_FRAME_DEVICES_MAX);
    return &registry->devices[device];
}

bool tts_serverregistry_is_used(const struct tts_serverregistry *registry, uint32_t device)
{
    return registry->is_used[device];
}

const struct tts_serverrow *tts_serverregistry_row(const struct tts_serverregistry *registry,
                                                   uint32_t process,
                                                   const struct tts_serverrow *after)
{
    uint32_t place = after ? after->next : registry->processes[process]->first_row;
    return place != NONE ? row_at(registry, place) : NULL;
}

const struct tts_serverrow *tts_serverregistry_changed(struct tts_serverregistry *registry)
{
    while (registry->changed != NONE) {
        struct tts_serverrow *row = row_at(registry, registry->changed);
        registry->changed = row->dirty;
        row->is_dirty = false;
        if (registry->processes[row->process]->is_live)
            return row;
    }
    return NULL;
}

static bool visit_list(const struct tts_serverregistry *registry,
                       const struct tts_serverrow *row, uint32_t list,
                       bool (*visit)(void *ctx, const struct tts_serverbuffer *buffer),
                       void *ctx)
{
    const struct entry *entry;
    for (uint32_t at = row->heads[list]; at != NONE; at = entry->next) {
        entry = entry_at(registry, at);
        struct tts_serverbuffer buffer = {.process = &registry->processes[row->process]->facts,
                                          .device = row->device,
                                          .pool = list < TTS_POOLS ? (enum tts_pool)list
                                                                   : TTS_POOL_L1,
                                          .kernel_type = entry->kernel_type,
                                          .references = entry->references,
                                          .id = entry->id,
                                          .size_bytes = entry->size_bytes,
                                          .time_ns = entry->time_ns};
        if (!visit(ctx, &buffer))
            return false;
    }
    return true;
}

void tts_serverregistry_list(const struct tts_serverregistry *registry, uint32_t device,
                             uint32_t list,
                             bool (*visit)(void *ctx, const struct tts_serverbuffer *buffer),
                             void *ctx)
{
    for (size_t i = 0; i < registry->process_count; i++) {
        const struct registered *process = registry->processes[i];
        if (process && process->is_live && device < process->rows_capacity &&
            process->rows[device] > 0 &&
            !visit_list(registry, row_at(registry, process->rows[device] - 1), list, visit,
                        ctx))
            return;
    }
}

/* Adds up the entries of a row, and returns whether they are the sums of the row. */
static bool is_row_valid(const struct tts_serverregistry *registry,
                         const struct tts_serverrow *row)
{
    for (uint32_t list = 0; list < TTS_POOLS; list++) {
        uint64_t bytes = 0, buffers = 0;
        const struct entry *entry;
        for (uint32_t at = row->heads[list]; at != NONE; at = entry->next, buffers++) {
            entry = entry_at(registry, at);
            bytes += entry->size_bytes;
        }
        if (bytes != row->bytes[list] || buffers != row->buffers[list] ||
            row->peak_bytes[list] < bytes || row->allocs[list] - row->frees[list] != buffers)
            return false;
    }
    return true;
}

bool tts_serverregistry_is_valid(const struct tts_serverregistry *registry)
{
    uint64_t bytes = 0, buffers = 0;
    for (uint32_t i = 0; i < registry->process_count; i++) {
        const struct registered *process = registry->processes[i];
        const struct tts_serverrow *row = NULL;
        while (process && process->is_live &&
               (row = tts_serverregistry_row(registry, i, row))) {
            if (!is_row_valid(registry, row))
                return false;
            for (int pool = 0; pool < TTS_POOLS; pool++)
                bytes += row->bytes[pool], buffers += row->buffers[pool];
            bytes += row->cb_bytes + row->kernel_bytes;
        }
    }
    for (uint32_t i = 0; i < TTS_FRAME_DEVICES_MAX; i++) {
        const struct tts_serverdevice *device = &registry->devices[i];
        for (int pool = 0; pool < TTS_POOLS; pool++)
            bytes -= device->bytes[pool];
        bytes -= device->cb_bytes + device->kernel_bytes;
    }
    return bytes == 0 && buffers == registry->counts.live_buffers;
}
