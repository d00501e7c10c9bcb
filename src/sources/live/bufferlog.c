#include "sources/live/bufferlog.h"

#include "base/error.h"
#include "base/hashtable.h"
#include "base/heap.h"
#include "base/seed.h"
#include "sources/live/inspecttext.h"

#include <assert.h>
#include <string.h>

/* A larger buffer is taken for damage. The sum of all live buffers is below 2^63. */
#define SIZE_LIMIT_BYTES (UINT64_C(1) << 46)

/* At least the number of banks of each pool, on any chip. A buffer takes the same range of
 * addresses in each bank, and at least its bytes divided by the number of banks. */
static const uint64_t banks_max[TTS_POOLS] = {[TTS_POOL_DRAM] = 32,
                                              [TTS_POOL_L1] = 256,
                                              [TTS_POOL_L1_SMALL] = 256,
                                              [TTS_POOL_TRACE] = 32};

/* The numbers of an event. EVENT_TYPE is a pool, or TTS_POOLS for memory of the host. */
enum event_field {
    EVENT_ID,
    EVENT_ADDRESS,
    EVENT_LOCAL_SIZE,
    EVENT_TYPE,
    EVENT_TIME,
    EVENT_FIELDS
};

enum { CHUNK_RANGES = 512, CHUNK_HALF = CHUNK_RANGES / 2 };

enum event_kind { EVENT_NONE, EVENT_ALLOCATE, EVENT_FREE, EVENT_OTHER };

enum {
    ALLOCATE_NEEDS =
        1 << EVENT_ID | 1 << EVENT_ADDRESS | 1 << EVENT_LOCAL_SIZE | 1 << EVENT_TYPE,
    FREE_NEEDS = 1 << EVENT_ID | 1 << EVENT_ADDRESS,
};

struct log_event {
    enum event_kind kind;
    unsigned known;  /* bit i: values[i] is known */
    bool is_done;    /* the event is applied */
    bool is_damaged; /* the event must not be applied */
    uint64_t values[EVENT_FIELDS];
};

/* A live buffer. Only an owner counts. */
struct log_buffer {
    uint64_t id, address, size_bytes;
    enum tts_pool pool; /* TTS_POOLS: memory of the host */
    bool is_owner;      /* false: a view of another buffer, or no memory of a device */
};

/* The range of addresses that an owner surely takes in each bank. */
struct log_range {
    uint64_t address, len;
};

/* Ranges by address. Two neighbours have more ranges together than half a chunk, so that few
 * chunks are nearly empty. */
struct range_chunk {
    size_t count;
    struct log_range ranges[CHUNK_RANGES];
};

/* The owners of a pool. The ranges are in chunks, so that a range is added and removed without
 * moving thousands of others. */
struct log_pool {
    struct range_chunk **chunks; /* by address; owners without an address are not here */
    size_t chunk_count, chunk_capacity;
    struct range_chunk *spare; /* for the next range; NULL: not reserved */
    uint64_t bytes, buffers, largest_bytes;
};

struct tts_bufferlog {
    const struct tts_alloc *alloc;
    struct tts_inspecttext text;
    struct log_event event;
    struct log_buffer *buffers;
    size_t count, capacity;
    struct tts_hashtable by_id;
    uint64_t seed; /* of the hashes */
    struct log_pool pools[TTS_POOLS];
    bool is_largest_known;
    uint64_t events, bad_lines, unknown_frees, left_out;
    bool is_damaged; /* an event was lost */
    bool time_known;
    uint64_t time_ns;
};

enum tts_status tts_bufferlog_new(const struct tts_alloc *alloc, struct tts_bufferlog **out,
                                  struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_bufferlog *log = alloc->alloc(alloc->ctx, sizeof *log);
    if (!log)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for a log of buffers");
    memset(log, 0, sizeof *log);
    log->alloc = alloc;
    log->by_id.alloc = alloc;
    log->seed = tts_seed();
    *out = log;
    return TTS_OK;
}

static void free_chunk(const struct tts_alloc *alloc, struct range_chunk *chunk)
{
    if (chunk)
        alloc->free(alloc->ctx, chunk, sizeof *chunk);
}

static void free_pool_ranges(const struct tts_alloc *alloc, struct log_pool *pool)
{
    for (size_t i = 0; i < pool->chunk_count; i++)
        free_chunk(alloc, pool->chunks[i]);
    free_chunk(alloc, pool->spare);
    if (pool->chunks)
        alloc->free(alloc->ctx, pool->chunks, pool->chunk_capacity * sizeof *pool->chunks);
    pool->chunks = NULL;
    pool->spare = NULL;
    pool->chunk_count = pool->chunk_capacity = 0;
}

void tts_bufferlog_free(struct tts_bufferlog *log)
{
    if (!log)
        return;
    const struct tts_alloc *alloc = log->alloc;
    for (int i = 0; i < TTS_POOLS; i++)
        free_pool_ranges(alloc, &log->pools[i]);
    if (log->buffers)
        alloc->free(alloc->ctx, log->buffers, log->capacity * sizeof *log->buffers);
    tts_hashtable_release(&log->by_id);
    alloc->free(alloc->ctx, log, sizeof *log);
}

void tts_bufferlog_reset(struct tts_bufferlog *log)
{
    struct tts_bufferlog old = *log;
    tts_hashtable_release(&old.by_id);
    memset(log, 0, sizeof *log);
    log->alloc = old.alloc;
    log->by_id.alloc = old.alloc;
    log->seed = old.seed;
    log->buffers = old.buffers;
    log->capacity = old.capacity;
    for (int i = 0; i < TTS_POOLS; i++)
        free_pool_ranges(old.alloc, &old.pools[i]);
}

/* --- ranges ----------------------------------------------------------------------------- */

/* Returns the place of the last chunk that begins at or below `address`, or 0. */
static size_t find_chunk(const struct log_pool *pool, uint64_t address)
{
    size_t at = 0, end = pool->chunk_count;
    while (at < end) {
        size_t middle = at + (end - at) / 2;
        if (pool->chunks[middle]->ranges[0].address <= address)
            at = middle + 1;
        else
            end = middle;
    }
    return at > 0 ? at - 1 : 0;
}

/* Returns the place of the first range of a chunk whose address is above `address`. */
static size_t find_range_after(const struct range_chunk *chunk, uint64_t address)
{
    size_t at = 0, end = chunk->count;
    while (at < end) {
        size_t middle = at + (end - at) / 2;
        if (chunk->ranges[middle].address <= address)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

/* Returns whether an address lies in the next owner at or below it. */
static bool is_address_owned(const struct log_pool *pool, uint64_t address)
{
    if (pool->chunk_count == 0)
        return false;
    const struct range_chunk *chunk = pool->chunks[find_chunk(pool, address)];
    size_t after = find_range_after(chunk, address);
    return after > 0 &&
           address - chunk->ranges[after - 1].address < chunk->ranges[after - 1].len;
}

static uint64_t measure_range(enum tts_pool pool, uint64_t size_bytes)
{
    return size_bytes / banks_max[pool] + (size_bytes % banks_max[pool] != 0);
}

/* Makes room for one more range. */
static bool reserve_range(const struct tts_alloc *alloc, struct log_pool *pool)
{
    struct range_chunk **chunks = tts_alloc_grow(alloc, pool->chunks, &pool->chunk_capacity,
                                                 pool->chunk_count + 1, sizeof(*chunks));
    if (!chunks)
        return false;
    pool->chunks = chunks;
    if (!pool->spare)
        pool->spare = alloc->alloc(alloc->ctx, sizeof *pool->spare);
    return pool->spare != NULL;
}

/* Inserts the spare chunk at a place. */
static struct range_chunk *insert_chunk(struct log_pool *pool, size_t at)
{
    struct range_chunk *chunk = pool->spare;
    assert(chunk && pool->chunk_count < pool->chunk_capacity);
    memmove(&pool->chunks[at + 1], &pool->chunks[at],
            (pool->chunk_count - at) * sizeof(pool->chunks[0]));
    pool->chunks[at] = chunk;
    pool->chunk_count++;
    pool->spare = NULL;
    chunk->count = 0;
    return chunk;
}

/* A chunk without ranges has no first address, so it goes away in any case. */
static bool can_merge(const struct range_chunk *a, const struct range_chunk *b)
{
    return a->count == 0 || b->count == 0 || a->count + b->count <= CHUNK_HALF;
}

/* Moves the ranges of the next chunk to a chunk, and frees the next chunk. */
static void merge_next_chunk(const struct tts_alloc *alloc, struct log_pool *pool, size_t at)
{
    struct range_chunk *chunk = pool->chunks[at], *next = pool->chunks[at + 1];
    memcpy(&chunk->ranges[chunk->count], next->ranges, next->count * sizeof next->ranges[0]);
    chunk->count += next->count;
    free_chunk(alloc, next);
    pool->chunk_count--;
    memmove(&pool->chunks[at + 1], &pool->chunks[at + 2],
            (pool->chunk_count - (at + 1)) * sizeof(pool->chunks[0]));
}

/* Adds the range of an owner. The caller has made room for the range. */
static void insert_owner_range(struct log_pool *pool, struct log_range range)
{
    size_t place = find_chunk(pool, range.address);
    struct range_chunk *chunk =
        pool->chunk_count > 0 ? pool->chunks[place] : insert_chunk(pool, 0);
    if (chunk->count == CHUNK_RANGES) {
        struct range_chunk *next = insert_chunk(pool, place + 1);
        next->count = CHUNK_RANGES - CHUNK_HALF;
        memcpy(next->ranges, &chunk->ranges[CHUNK_HALF], next->count * sizeof next->ranges[0]);
        chunk->count = CHUNK_HALF;
        chunk = range.address < next->ranges[0].address ? chunk : next;
    }
    size_t at = find_range_after(chunk, range.address);
    memmove(&chunk->ranges[at + 1], &chunk->ranges[at],
            (chunk->count - at) * sizeof chunk->ranges[0]);
    chunk->ranges[at] = range;
    chunk->count++;
}

static void remove_owner_range(const struct tts_alloc *alloc, struct log_pool *pool,
                               uint64_t address)
{
    size_t place = find_chunk(pool, address);
    struct range_chunk *chunk = pool->chunks[place];
    size_t after = find_range_after(chunk, address);
    assert(after > 0 && chunk->ranges[after - 1].address == address);
    chunk->count--;
    memmove(&chunk->ranges[after - 1], &chunk->ranges[after],
            (chunk->count - (after - 1)) * sizeof chunk->ranges[0]);
    if (place + 1 < pool->chunk_count && can_merge(chunk, pool->chunks[place + 1]))
        merge_next_chunk(alloc, pool, place);
    if (place > 0 && can_merge(chunk, pool->chunks[place - 1]))
        merge_next_chunk(alloc, pool, place - 1);
    else if (pool->chunk_count == 1 && chunk->count == 0) {
        free_chunk(alloc, chunk);
        pool->chunk_count = 0;
    }
}

/* --- buffers ---------------------------------------------------------------------------- */

static uint32_t hash_buffer_id(const struct tts_bufferlog *log, uint64_t id)
{
    return tts_hashtable_mix(log->seed, id, 0);
}

static bool is_buffer_id(const void *ctx, uint32_t place, const void *key)
{
    const struct tts_bufferlog *log = ctx;
    return log->buffers[place].id == *(const uint64_t *)key;
}

/* Removes the live buffer with this id. Returns false if there is none. */
static bool remove_log_buffer(struct tts_bufferlog *log, uint64_t id)
{
    uint32_t place =
        tts_hashtable_find(&log->by_id, hash_buffer_id(log, id), is_buffer_id, log, &id);
    if (place == TTS_HASHTABLE_NONE)
        return false;
    struct log_buffer *buffer = &log->buffers[place];
    if (buffer->is_owner) {
        struct log_pool *pool = &log->pools[buffer->pool];
        assert(pool->buffers > 0 && pool->bytes >= buffer->size_bytes);
        pool->bytes -= buffer->size_bytes;
        pool->buffers--;
        log->is_largest_known = false;
        if (buffer->address != 0)
            remove_owner_range(log->alloc, pool, buffer->address);
    }
    tts_hashtable_remove(&log->by_id, hash_buffer_id(log, id), place);
    uint32_t last = (uint32_t)--log->count;
    if (place != last) {
        *buffer = log->buffers[last];
        tts_hashtable_move(&log->by_id, hash_buffer_id(log, buffer->id), last, place);
    }
    return true;
}

/* Makes room for one more buffer of `pool`, which is NULL if the buffer needs no range. */
static bool reserve_log_buffer(struct tts_bufferlog *log, struct log_pool *pool)
{
    struct log_buffer *buffers = tts_alloc_grow(log->alloc, log->buffers, &log->capacity,
                                                log->count + 1, sizeof *buffers);
    if (!buffers)
        return false;
    log->buffers = buffers;
    if (pool && !reserve_range(log->alloc, pool))
        return false;
    return tts_hashtable_reserve(&log->by_id, log->count + 1) == TTS_OK;
}

static void add_log_buffer(struct tts_bufferlog *log, struct log_buffer buffer)
{
    struct log_pool *pool = buffer.pool < TTS_POOLS ? &log->pools[buffer.pool] : NULL;
    /* A mesh without devices on this host has size 0. Address 0 stands for a buffer that has
     * another address on each core; no range begins there. */
    buffer.is_owner = pool && buffer.size_bytes > 0 && !is_address_owned(pool, buffer.address);
    struct log_pool *ranged = buffer.is_owner && buffer.address != 0 ? pool : NULL;
    if (log->count == TTS_BUFFERLOG_LIVE_MAX || !reserve_log_buffer(log, ranged)) {
        log->left_out++;
        return;
    }
    if (tts_hashtable_add(&log->by_id, hash_buffer_id(log, buffer.id), (uint32_t)log->count) !=
        TTS_OK) {
        log->left_out++;
        return;
    }
    log->buffers[log->count++] = buffer;
    if (!buffer.is_owner)
        return;
    pool->bytes += buffer.size_bytes;
    pool->buffers++;
    if (buffer.size_bytes > pool->largest_bytes)
        pool->largest_bytes = buffer.size_bytes;
    if (ranged)
        insert_owner_range(
            pool,
            (struct log_range){buffer.address, measure_range(buffer.pool, buffer.size_bytes)});
}

/* --- events ----------------------------------------------------------------------------- */

static void apply_log_event(struct tts_bufferlog *log)
{
    struct log_event *event = &log->event;
    const uint64_t *values = event->values;
    event->is_done = true;
    log->events++;
    bool is_known = remove_log_buffer(log, values[EVENT_ID]);
    if (event->kind == EVENT_FREE) {
        log->unknown_frees += !is_known;
        return;
    }
    if (is_known)
        log->is_damaged = true; /* an id comes back only after a free */
    add_log_buffer(log, (struct log_buffer){.id = values[EVENT_ID],
                                            .address = values[EVENT_ADDRESS],
                                            .size_bytes = values[EVENT_LOCAL_SIZE],
                                            .pool = (enum tts_pool)values[EVENT_TYPE]});
}

static void begin_log_event(struct tts_bufferlog *log, struct tts_span name)
{
    struct log_event *event = &log->event;
    bool is_buffer_event = event->kind == EVENT_ALLOCATE || event->kind == EVENT_FREE;
    if (is_buffer_event && !event->is_done)
        log->is_damaged = true;
    *event = (struct log_event){.kind = EVENT_OTHER};
    if (tts_span_is(name, "mesh_buffer_allocated"))
        event->kind = EVENT_ALLOCATE;
    else if (tts_span_is(name, "mesh_buffer_deallocated"))
        event->kind = EVENT_FREE;
}

static bool parse_buffer_type(struct tts_span value, uint64_t *out)
{
    static const char *const names[TTS_POOLS + 1] = {
        [TTS_POOL_DRAM] = "DRAM",         [TTS_POOL_L1] = "L1",
        [TTS_POOL_L1_SMALL] = "L1_SMALL", [TTS_POOL_TRACE] = "TRACE",
        [TTS_POOLS] = "SYSTEM_MEMORY",
    };
    for (uint64_t i = 0; i <= TTS_POOLS; i++) {
        if (tts_span_is(value, names[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* Returns the field with this name, or EVENT_FIELDS if the name means nothing here. */
static enum event_field find_event_field(struct tts_span name)
{
    static const char *const names[EVENT_FIELDS] = {
        [EVENT_ID] = "id",
        [EVENT_ADDRESS] = "address",
        [EVENT_LOCAL_SIZE] = "device_local_size",
        [EVENT_TYPE] = "buffer_type",
        [EVENT_TIME] = "timestamp_ns",
    };
    int field = 0;
    while (field < EVENT_FIELDS && !tts_span_is(name, names[field]))
        field++;
    return (enum event_field)field;
}

static bool parse_event_field(enum event_field field, struct tts_span value, uint64_t *out)
{
    if (field == EVENT_TYPE)
        return parse_buffer_type(value, out);
    return tts_inspectline_number(
        value, field == EVENT_LOCAL_SIZE ? SIZE_LIMIT_BYTES : UINT64_MAX, out);
}

/* Reads a field of the present event. Returns false if the line is bad. */
static bool read_event_field(struct tts_bufferlog *log, const struct tts_inspectline *line)
{
    struct log_event *event = &log->event;
    if (event->kind == EVENT_NONE)
        return false;
    enum event_field field = find_event_field(line->name);
    if (event->kind == EVENT_OTHER || field == EVENT_FIELDS)
        return true;
    /* A field that comes twice belongs to an event of another thread. */
    if ((event->known >> field & 1) != 0 ||
        !parse_event_field(field, line->value, &event->values[field])) {
        event->is_damaged = true;
        return false;
    }
    event->known |= 1U << field;
    if (field == EVENT_TIME) {
        log->time_known = true;
        log->time_ns = event->values[EVENT_TIME];
    }
    unsigned needs = event->kind == EVENT_FREE ? FREE_NEEDS : ALLOCATE_NEEDS;
    if (!event->is_done && !event->is_damaged && (event->known & needs) == needs)
        apply_log_event(log);
    return true;
}

static void read_buffer_line(void *ctx, const struct tts_inspectline *line)
{
    struct tts_bufferlog *log = ctx;
    bool is_good = line->kind != TTS_INSPECTLINE_BAD;
    if (line->kind == TTS_INSPECTLINE_EVENT)
        begin_log_event(log, line->name);
    else if (line->kind == TTS_INSPECTLINE_FIELD)
        is_good = read_event_field(log, line);
    log->bad_lines += !is_good;
}

void tts_bufferlog_feed(struct tts_bufferlog *log, const char *bytes, size_t len)
{
    tts_inspecttext_feed(&log->text, bytes, len, read_buffer_line, log);
}

/* --- figures ---------------------------------------------------------------------------- */

static void find_largest_buffers(struct tts_bufferlog *log)
{
    for (int i = 0; i < TTS_POOLS; i++)
        log->pools[i].largest_bytes = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct log_buffer *buffer = &log->buffers[i];
        if (buffer->is_owner && buffer->size_bytes > log->pools[buffer->pool].largest_bytes)
            log->pools[buffer->pool].largest_bytes = buffer->size_bytes;
    }
    log->is_largest_known = true;
}

void tts_bufferlog_fill(struct tts_bufferlog *log, struct tts_seenbuffers *out)
{
    if (!log->is_largest_known)
        find_largest_buffers(log);
    for (int i = 0; i < TTS_POOLS; i++) {
        out->bytes[i] = log->pools[i].bytes;
        out->buffers[i] = log->pools[i].buffers;
        out->largest_bytes[i] = log->pools[i].largest_bytes;
    }
    out->events = log->events;
    out->bad_lines = log->bad_lines;
    out->unknown_frees = log->unknown_frees;
    out->left_out = log->left_out;
    out->is_complete = !log->is_damaged && log->bad_lines == 0 && log->unknown_frees == 0 &&
                       log->left_out == 0;
}

bool tts_bufferlog_last_event(const struct tts_bufferlog *log, uint64_t *out_ns)
{
    if (log->time_known)
        *out_ns = log->time_ns;
    return log->time_known;
}
