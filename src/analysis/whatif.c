#include "analysis/whatif.h"

#include "base/error.h"
#include "base/hashtable.h"
#include "base/heap.h"
#include "base/seed.h"
#include "device/devicepools.h"
#include "model/fold.h"
#include "model/opnames.h"
#include "ttscope/alloc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct whatif_entry {
    uint64_t id, seq;
    struct tts_buffer buffer;
    uint32_t device; /* id of the device in the recording */
    uint32_t next;   /* place of the next free entry, if this entry is free */
    uint32_t op;     /* index of the operation in `names` */
    uint16_t model;
    bool is_used;
    bool is_step;  /* the allocation of the buffer is among the kept steps */
    bool is_trace; /* the buffer is a trace, in the trace region or in DRAM */
};

/* The live buffers. An entry keeps its place until its buffer is freed. */
struct whatif_table {
    const struct tts_alloc *alloc;
    struct whatif_entry *entries;
    size_t count, capacity; /* number of entries, used and free */
    uint32_t first_free;    /* place of the first free entry + 1; 0 if there is none */
    size_t used;
    struct tts_hashtable by_key; /* finds an entry by device and id */
    uint64_t seed;
};

enum whatif_step_kind {
    STEP_TAKE,
    STEP_GIVE,
    STEP_SMALL, /* allocation in L1_SMALL, with the size and the page of one core */
    STEP_TRACE, /* allocation of a trace, in the trace region or, if there is none, in DRAM */
    STEP_CAPTURE,
};

struct whatif_step {
    uint64_t size_bytes, page_bytes;
    uint32_t place; /* place of the entry; not used for STEP_CAPTURE */
    uint16_t cores; /* number of banks of a sharded buffer; 0 for an interleaved buffer */
    uint8_t model;
    uint8_t kind : 4;      /* enum whatif_step_kind */
    uint8_t placement : 4; /* enum tts_placement, but never TTS_PLACE_AT */
};

enum { RECENT_REQUESTS = 4096 }; /* must be a power of 2 */

/* Recent requests, each at an index that is computed from its hash. Most requests are equal to
 * a recent request, and then a step stores only the index. The code that writes steps and the
 * code that reads steps each have such a table, and change it in the same way. */
struct whatif_recent {
    struct whatif_step requests[RECENT_REQUESTS]; /* `place` of each request is 0 */
};

struct whatif_steps {
    unsigned char *bytes;
    size_t used, capacity;
    struct whatif_recent *recent; /* NULL before the first step */
    /* False if the steps are not needed, or if there are too many. */
    bool is_kept;
};

struct whatif_model {
    struct tts_device *device;
    uint32_t id;
    /* A device of the recording with this model has a program that is not checked yet. */
    bool is_pending;
    struct whatif_fill {
        /* Bytes of all blocks, including blocks that were counted but not placed. */
        uint64_t bytes, peak_bytes, peak_seq;
        uint64_t failures, deficit_bytes, deficit_seq;
    } fill[TTS_POOLS];
    /* Bytes of traces, in the trace region or in DRAM, and number of failures that a larger
     * trace region would prevent. */
    uint64_t trace_bytes, trace_peak_bytes, trace_failures;
};

/* When and where an event happened. */
struct whatif_moment {
    uint64_t seq, time_ns;
    bool has_time;
    uint32_t device; /* id of the device in the recording */
    uint32_t op;     /* index of the operation in `names` */
};

/* A circular buffer of the current program. Its ranges are in the arrays of the source. */
struct whatif_cb {
    uint64_t bytes;
    size_t first_range, range_count;
};

/* A device of the recording: a chip of a mesh, a mesh, or a single device. */
struct whatif_source {
    uint32_t id;
    /* Index of the source of its mesh; its own index if the device is not a chip of a mesh. */
    uint16_t mesh;
    /* Index of the modelled device, or TTS_WHATIF_DEVICES_MAX if there is none yet. A chip uses
     * the model of its mesh instead. */
    uint16_t model;
    bool is_pending;   /* the program has circular buffers that are not checked yet */
    bool is_unchecked; /* the program has circular buffers that cannot be laid out */
    /* Whether the current program is counted, and whether it has failed. */
    bool is_counted, has_failed;
    struct whatif_cb *cbs;
    size_t cb_count, cb_capacity;
    struct tts_core_range *ranges;
    size_t range_count, range_capacity;
    struct whatif_moment last; /* event of the last circular buffer */
};

/* A buffer that was live before the first event. A keyframe describes it. */
struct whatif_before {
    struct tts_live live;
    uint32_t op;
    bool is_single; /* the buffer is on single cores */
};

struct tts_whatif {
    const struct tts_alloc *alloc;
    struct tts_chip chip;
    bool dram_only;
    /* Refused request after which only frees and ends follow; 0 if there is none. */
    uint64_t stop_seq;
    struct tts_whatif_counts counts;
    struct whatif_source sources[TTS_WHATIF_DEVICES_MAX];
    size_t source_count;
    struct whatif_model models[TTS_WHATIF_DEVICES_MAX];
    size_t model_count, pending_count;
    struct whatif_table table;
    struct whatif_steps steps;
    struct tts_opnames *names;
    struct tts_whatif_failure first;
    bool has_failed;
    struct whatif_before *before; /* buffers of the current keyframe */
    size_t before_count, before_capacity;
};

/* ---- entries: the live buffers ---- */

static void release_entries(struct whatif_table *table)
{
    const struct tts_alloc *alloc = table->alloc;
    if (table->entries)
        alloc->free(alloc->ctx, table->entries, table->capacity * sizeof *table->entries);
    tts_hashtable_release(&table->by_key);
}

struct key {
    uint64_t id;
    uint32_t device;
};

static bool is_entry_of(const void *entries, uint32_t place, const void *key)
{
    const struct whatif_entry *entry = (const struct whatif_entry *)entries + place;
    const struct key *wanted = key;
    return entry->id == wanted->id && entry->device == wanted->device;
}

static uint32_t hash_entry_key(const struct whatif_table *table, uint32_t device, uint64_t id)
{
    return tts_hashtable_mix(table->seed, id, device);
}

/* Returns the place of the entry of a buffer, or TTS_HASHTABLE_NONE if there is none. */
static uint32_t find_entry(const struct whatif_table *table, uint32_t device, uint64_t id)
{
    return tts_hashtable_find(&table->by_key, hash_entry_key(table, device, id), is_entry_of,
                              table->entries, &(struct key){id, device});
}

static bool new_entry_place(struct whatif_table *table, uint32_t *place)
{
    if (table->first_free > 0) {
        *place = table->first_free - 1;
        table->first_free = table->entries[*place].next;
        return true;
    }
    void *grown = tts_alloc_grow(table->alloc, table->entries, &table->capacity,
                                 table->count + 1, sizeof *table->entries);
    if (!grown)
        return false;
    table->entries = grown;
    *place = (uint32_t)table->count++;
    return true;
}

static void free_entry_place(struct whatif_table *table, uint32_t place)
{
    table->entries[place].is_used = false;
    table->entries[place].next = table->first_free;
    table->first_free = place + 1;
}

/* Adds an entry with a new key and sets *place. Returns TTS_E_RANGE if there are too many
 * entries, TTS_E_NOMEM if there is no memory. */
static enum tts_status add_entry(struct whatif_table *table, uint32_t device, uint64_t id,
                                 uint32_t *place, struct tts_error *err)
{
    uint32_t at;
    if (table->used >= TTS_WHATIF_LIVE_MAX)
        return tts_error_set(err, TTS_E_RANGE,
                             "the file has too many live buffers at once: the maximum is %d",
                             TTS_WHATIF_LIVE_MAX);
    assert(find_entry(table, device, id) == TTS_HASHTABLE_NONE);
    if (!new_entry_place(table, &at))
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    if (tts_hashtable_add(&table->by_key, hash_entry_key(table, device, id), at) != TTS_OK) {
        free_entry_place(table, at);
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    }
    table->entries[at] = (struct whatif_entry){.id = id, .device = device, .is_used = true};
    table->used++;
    *place = at;
    return TTS_OK;
}

static void remove_entry(struct whatif_table *table, uint32_t place)
{
    const struct whatif_entry *entry = &table->entries[place];
    assert(place < table->count && entry->is_used && table->used > 0);
    tts_hashtable_remove(&table->by_key, hash_entry_key(table, entry->device, entry->id),
                         place);
    table->used--;
    free_entry_place(table, place);
}

/* ---- requests ---- */

enum { UNKNOWN_PAGE = 2048 }; /* size of a bfloat16 tile, the most common page */

static enum tts_status fail_past_64_bits(struct tts_error *err)
{
    return tts_error_set(err, TTS_E_INVALID, "the size of the buffer does not fit in 64 bits");
}

static bool is_dram_pool(enum tts_pool pool)
{
    return pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE;
}

/* Returns ranges for the first `cores` cores of the grid, row by row. */
static size_t first_cores_of_grid(uint32_t cores, uint32_t columns,
                                  struct tts_core_range out[2])
{
    uint32_t rows = cores / columns, rest = cores % columns;
    size_t count = 0;
    if (rows > 0)
        out[count++] =
            (struct tts_core_range){.x1 = (uint16_t)(columns - 1), .y1 = (uint16_t)(rows - 1)};
    if (rest > 0)
        out[count++] = (struct tts_core_range){
            .y0 = (uint16_t)rows, .x1 = (uint16_t)(rest - 1), .y1 = (uint16_t)rows};
    return count;
}

static enum tts_status fail_too_many_cores(uint32_t cores, uint64_t there, bool dram,
                                           struct tts_error *err)
{
    if (dram)
        return tts_error_set(err, TTS_E_RANGE,
                             "the buffer needs %" PRIu32 " banks, but the device has %" PRIu64,
                             cores, there);
    return tts_error_set(err, TTS_E_RANGE,
                         "the buffer needs %" PRIu32 " cores, but the grid has %" PRIu64, cores,
                         there);
}

/* Counts the cores of the chip and the columns of its grid, or its DRAM banks if `dram` is
 * true. Returns TTS_E_NOT_FOUND if the chip does not have these facts. */
static enum tts_status count_chip_cores(const struct tts_chip *chip, bool dram,
                                        uint32_t *columns, uint64_t *there,
                                        struct tts_error *err)
{
    enum tts_fact_key key = dram ? TTS_FACT_DRAM_BANKS : TTS_FACT_GRID;
    const struct tts_fact *fact = &chip->fact[key];
    if (fact->origin == TTS_ORIGIN_UNKNOWN)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "'%s' is unknown: set this property of the device",
                             tts_fact_name(key));
    *columns = dram ? (uint32_t)fact->value : TTS_GRID_COLUMNS(fact->value);
    *there = dram ? fact->value : (uint64_t)*columns * TTS_GRID_ROWS(fact->value);
    return TTS_OK;
}

/* Makes a request with one page of `bytes` on each of the first `cores` cores. */
static enum tts_status shard_request(uint32_t cores, uint64_t bytes,
                                     const struct tts_chip *chip,
                                     struct tts_whatif_request *out, struct tts_error *err)
{
    /* Initialized because gcc -O1 does not see that both are always set before use. */
    uint32_t columns = 0;
    uint64_t there = 0;
    bool dram = is_dram_pool(out->request.pool);
    enum tts_status status = count_chip_cores(chip, dram, &columns, &there, err);
    if (status != TTS_OK)
        return status;
    if (cores > there)
        return fail_too_many_cores(cores, there, dram, err);
    if (__builtin_mul_overflow(bytes, (uint64_t)cores, &out->request.size_bytes))
        return fail_past_64_bits(err);
    assert(cores > 0 && columns > 0);
    out->request.page_bytes = bytes;
    out->shard = (struct tts_shard){
        .shard_height = 1,
        .shard_width = 1,
        .page_height = 1,
        .page_width = 1,
        .cores = {.ranges = out->ranges,
                  .count = first_cores_of_grid(cores, columns, out->ranges)}};
    out->request.shard = &out->shard;
    return TTS_OK;
}

static enum tts_status interleave_request(const struct tts_event *event,
                                          struct tts_whatif_request *out, struct tts_error *err)
{
    uint64_t page = event->page_bytes, size = event->size_bytes;
    out->page_is_unknown = page == 0;
    if (page == 0)
        page = size < UNKNOWN_PAGE ? size : UNKNOWN_PAGE;
    uint64_t over = size % page;
    if (over > 0 && __builtin_add_overflow(size, page - over, &size))
        return fail_past_64_bits(err);
    out->is_padded = over > 0;
    out->request.size_bytes = size;
    out->request.page_bytes = page;
    return TTS_OK;
}

enum tts_status tts_whatif_map(const struct tts_event *event, const struct tts_chip *chip,
                               struct tts_whatif_request *out, struct tts_error *err)
{
    assert(event->kind == TTS_EVENT_ALLOC && event->size_bytes > 0);
    assert(event->range_count == 0);
    uint64_t size = event->size_bytes, bytes = event->bytes_per_bank;
    uint32_t cores = event->cores;
    *out = (struct tts_whatif_request){
        .request = {.pool = event->pool, .placement = event->placement}};
    if (out->request.placement == TTS_PLACE_AT)
        out->request.placement = TTS_PLACE_DEFAULT;
    /* L1_SMALL has sharded buffers only. Use one core, because the layout in a bank does not
     * depend on the number of cores. */
    if (event->pool == TTS_POOL_L1_SMALL && cores == 0)
        cores = 1;
    if (cores == 0)
        return interleave_request(event, out, err);
    if (bytes == 0)
        bytes = size / cores + (size % cores > 0);
    return shard_request(cores, bytes, chip, out, err);
}

_Static_assert(sizeof(struct whatif_step) == 24, "a step has padding, and is compared");

_Static_assert(TTS_WHATIF_DEVICES_MAX <= 256, "a model has one byte");

/* The encoding of steps. A step begins with a number of 1 to 5 bytes. Each byte has seven bits
 * of the number, the lowest bits first. The two lowest bits of the number are a code. The other
 * bits are a value, and some codes are followed by more data:
 *     code      value                             followed by
 *     GIVE      place of the buffer
 *     AGAIN     index in the recent requests      place
 *     REQUEST   index in the recent requests      request, place
 *     CAPTURE   number of the model */

enum { CODE_GIVE, CODE_AGAIN, CODE_REQUEST, CODE_CAPTURE, CODE_BITS = 2 };

enum { NUMBER_MAX = 5, STEP_MAX = 2 * NUMBER_MAX + sizeof(struct whatif_step) };

_Static_assert((uint64_t)TTS_WHATIF_LIVE_MAX << CODE_BITS <= UINT32_MAX, "a place has 30 bits");

static unsigned char *put_step_number(unsigned char *to, uint32_t value)
{
    for (; value > 0x7f; value >>= 7)
        *to++ = (unsigned char)(value | 0x80);
    *to++ = (unsigned char)value;
    return to;
}

/* Reads a number of a step. Needs no bounds check, because this file wrote the bytes and they
 * are complete. */
static const unsigned char *get_step_number(const unsigned char *from, uint32_t *out)
{
    uint32_t value = 0;
    unsigned shift = 0;
    for (; *from & 0x80; shift += 7)
        value |= (uint32_t)(*from++ & 0x7f) << shift;
    *out = value | (uint32_t)*from++ << shift;
    return from;
}

static uint32_t recent_place(const struct whatif_step *request)
{
    uint64_t words[3];
    memcpy(words, request, sizeof words);
    uint64_t hash = words[0] * UINT64_C(0x9e3779b97f4a7c15) ^ words[1];
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) ^ words[2];
    hash *= UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(hash >> 40) % RECENT_REQUESTS;
}

static unsigned char *put_request(struct whatif_recent *recent, unsigned char *to,
                                  const struct whatif_step *step)
{
    struct whatif_step request = *step;
    request.place = 0;
    uint32_t at = recent_place(&request);
    bool is_known = memcmp(&recent->requests[at], &request, sizeof request) == 0;
    to = put_step_number(to, at << CODE_BITS | (is_known ? CODE_AGAIN : CODE_REQUEST));
    if (!is_known) {
        recent->requests[at] = request;
        memcpy(to, &request, sizeof request);
        to += sizeof request;
    }
    return put_step_number(to, step->place);
}

static const unsigned char *get_step(struct whatif_recent *recent, const unsigned char *from,
                                     struct whatif_step *out)
{
    uint32_t number;
    from = get_step_number(from, &number);
    uint32_t code = number % (1u << CODE_BITS), value = number >> CODE_BITS;
    if (code == CODE_GIVE) {
        *out = (struct whatif_step){.kind = STEP_GIVE, .place = value};
        return from;
    }
    if (code == CODE_CAPTURE) {
        *out = (struct whatif_step){.kind = STEP_CAPTURE, .model = (uint8_t)value};
        return from;
    }
    if (code == CODE_REQUEST) {
        memcpy(&recent->requests[value], from, sizeof recent->requests[value]);
        from += sizeof recent->requests[value];
    }
    *out = recent->requests[value];
    return get_step_number(from, &out->place);
}

/* ---- devices ---- */

static enum tts_status new_modelled_device(const struct tts_whatif *whatif,
                                           const struct tts_chip *chip, enum tts_mode mode,
                                           struct tts_device **out, struct tts_error *err)
{
    struct tts_device_config config = {.mode = mode};
    return tts_device_new(chip, &config, whatif->alloc, out, err);
}

/* Finds the source (device of the recording) with a device id, or adds one. */
static enum tts_status find_source(struct tts_whatif *whatif, uint32_t id, size_t *out,
                                   struct tts_error *err)
{
    size_t count = whatif->source_count;
    for (size_t i = 0; i < count; i++)
        if (whatif->sources[i].id == id) {
            *out = i;
            return TTS_OK;
        }
    if (count == TTS_WHATIF_DEVICES_MAX)
        return tts_error_set(err, TTS_E_RANGE,
                             "the file has too many devices: the maximum is %d",
                             TTS_WHATIF_DEVICES_MAX);
    whatif->sources[count] = (struct whatif_source){
        .id = id, .mesh = (uint16_t)count, .model = TTS_WHATIF_DEVICES_MAX};
    *out = count;
    whatif->source_count++;
    return TTS_OK;
}

/* Finds the modelled device of a source, or makes one. */
static enum tts_status model_of_source(struct tts_whatif *whatif, size_t source, size_t *model,
                                       struct tts_error *err)
{
    struct whatif_source *mesh = &whatif->sources[whatif->sources[source].mesh];
    if (mesh->model < TTS_WHATIF_DEVICES_MAX) {
        *model = mesh->model;
        return TTS_OK;
    }
    assert(whatif->model_count < TTS_WHATIF_DEVICES_MAX);
    struct whatif_model *next = &whatif->models[whatif->model_count];
    enum tts_status status =
        new_modelled_device(whatif, &whatif->chip, TTS_MODE_OVERCOMMIT, &next->device, err);
    if (status != TTS_OK)
        return status;
    next->id = mesh->id;
    mesh->model = (uint16_t)whatif->model_count;
    *model = whatif->model_count++;
    return TTS_OK;
}

static bool is_mesh_source(const struct tts_whatif *whatif, size_t source)
{
    for (size_t i = 0; i < whatif->source_count; i++)
        if (i != source && whatif->sources[i].mesh == source)
            return true;
    return false;
}

/* Returns true if the replay needs the event. A replay of DRAM alone skips most events. */
static bool event_matters(const struct tts_whatif *whatif, const struct tts_event *event)
{
    if (!whatif->dram_only)
        return true;
    if (event->kind == TTS_EVENT_ALLOC)
        return event->pool == TTS_POOL_DRAM || event->pool == TTS_POOL_TRACE;
    return event->kind == TTS_EVENT_FREE || event->kind == TTS_EVENT_TRACE_BEGIN ||
           event->kind == TTS_EVENT_FAILURE;
}

/* Returns the index of the operation's name in `names`. */
static uint32_t op_name_of(struct tts_whatif *whatif, const struct tts_item *item)
{
    uint32_t op = tts_opnames_find(whatif->names, item->op.hash);
    if (op != TTS_OPNAMES_OTHER || !item->op.name)
        return op;
    tts_opnames_add(whatif->names, item->op.hash, item->op.name, item->op.name_len);
    return tts_opnames_find(whatif->names, item->op.hash);
}

static struct whatif_moment moment_of(struct tts_whatif *whatif, const struct tts_item *item,
                                      uint32_t device)
{
    struct whatif_moment when = {
        .seq = item->seq, .device = device, .op = op_name_of(whatif, item)};
    when.has_time = item->has_time;
    when.time_ns = item->has_time ? item->time_ns : 0;
    return when;
}

/* ---- steps ---- */

static void drop_steps(struct tts_whatif *whatif)
{
    struct whatif_steps *steps = &whatif->steps;
    const struct tts_alloc *alloc = whatif->alloc;
    if (steps->bytes)
        alloc->free(alloc->ctx, steps->bytes, steps->capacity);
    if (steps->recent)
        alloc->free(alloc->ctx, steps->recent, sizeof *steps->recent);
    *steps = (struct whatif_steps){0};
}

static struct whatif_recent *new_recent(const struct tts_alloc *alloc)
{
    struct whatif_recent *recent = alloc->alloc(alloc->ctx, sizeof *recent);
    if (recent)
        memset(recent, 0, sizeof *recent);
    return recent;
}

/* Makes room for one more step. Returns false if there is no room. */
static bool widen_steps(struct tts_whatif *whatif)
{
    struct whatif_steps *steps = &whatif->steps;
    if (!steps->recent)
        steps->recent = new_recent(whatif->alloc);
    if (!steps->recent || steps->used > TTS_WHATIF_STEPS_BYTES - STEP_MAX)
        return false;
    void *grown = tts_alloc_grow(whatif->alloc, steps->bytes, &steps->capacity,
                                 steps->used + STEP_MAX, 1);
    if (grown)
        steps->bytes = grown;
    return grown != NULL;
}

/* Stores a step. If there is no room, drops all steps. */
static void keep_step(struct tts_whatif *whatif, const struct whatif_step *step)
{
    struct whatif_steps *steps = &whatif->steps;
    if (!steps->is_kept)
        return;
    if (!widen_steps(whatif)) {
        drop_steps(whatif); /* the caller can read the file again for each trial */
        return;
    }
    unsigned char *to = steps->bytes + steps->used;
    if (step->kind == STEP_GIVE)
        to = put_step_number(to, step->place << CODE_BITS | CODE_GIVE);
    else if (step->kind == STEP_CAPTURE)
        to = put_step_number(to, (uint32_t)step->model << CODE_BITS | CODE_CAPTURE);
    else
        to = put_request(steps->recent, to, step);
    steps->used = (size_t)(to - steps->bytes);
}

bool tts_whatif_has_steps(const struct tts_whatif *whatif)
{
    return whatif->steps.is_kept;
}

enum tts_status tts_whatif_resize(const struct tts_chip *chip, uint64_t bank_bytes,
                                  struct tts_chip *out, struct tts_error *err)
{
    struct tts_pool_layout now;
    struct tts_chip other = *chip;
    char text[32];
    uint64_t size;
    enum tts_status status = tts_chip_pool(chip, TTS_POOL_DRAM, &now, err);
    if (status != TTS_OK)
        return status;
    if (__builtin_add_overflow(now.nominal_bytes - now.bank_bytes, bank_bytes, &size))
        return tts_error_set(err, TTS_E_RANGE, "the size of a bank does not fit in 64 bits");
    snprintf(text, sizeof text, "%" PRIu64, size);
    status = tts_chip_set(&other, tts_fact_name(TTS_FACT_DRAM_BANK_SIZE), text, err);
    if (status == TTS_OK)
        status = tts_chip_pool(&other, TTS_POOL_DRAM, &now, err);
    if (status != TTS_OK)
        return status;
    if (now.bank_bytes != bank_bytes)
        return tts_error_set(err, TTS_E_INVALID, "the base of DRAM depends on its size");
    *out = other;
    return TTS_OK;
}

/* ---- trials: the steps again, with another size ---- */

struct trial {
    const struct tts_whatif *whatif;
    enum tts_pool pool; /* only steps of this pool are run */
    struct tts_device *devices[TTS_WHATIF_DEVICES_MAX];
    struct held {
        struct tts_buffer buffer; /* its id is 0 if there is no buffer */
        uint8_t model;
    } * held; /* the buffers of the trial, by place in the table of entries */
    size_t held_count;
    struct whatif_recent *recent;
};

static void end_trial(struct trial *trial)
{
    const struct tts_alloc *alloc = trial->whatif->alloc;
    for (size_t i = 0; i < trial->whatif->model_count; i++)
        tts_device_free(trial->devices[i]);
    if (trial->held)
        alloc->free(alloc->ctx, trial->held, trial->held_count * sizeof *trial->held);
    if (trial->recent)
        alloc->free(alloc->ctx, trial->recent, sizeof *trial->recent);
}

static enum tts_status begin_trial(struct trial *trial, const struct tts_chip *chip,
                                   struct tts_error *err)
{
    const struct tts_whatif *whatif = trial->whatif;
    const struct tts_alloc *alloc = whatif->alloc;
    enum tts_status status = TTS_OK;
    trial->held_count = whatif->table.count;
    trial->recent = new_recent(alloc);
    if (trial->held_count > 0)
        trial->held = alloc->alloc(alloc->ctx, trial->held_count * sizeof *trial->held);
    if (!trial->recent || (trial->held_count > 0 && !trial->held))
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    if (trial->held)
        memset(trial->held, 0, trial->held_count * sizeof *trial->held);
    for (size_t i = 0; i < whatif->model_count && status == TTS_OK; i++)
        status = new_modelled_device(whatif, chip, TTS_MODE_PLACE, &trial->devices[i], err);
    return status;
}

static enum tts_status take_step(struct tts_device *device, const struct whatif_step *step,
                                 struct tts_buffer *out)
{
    struct tts_core_range range = {.x1 = (uint16_t)(step->cores - (step->cores > 0))};
    struct tts_shard shard = {.shard_height = 1,
                              .shard_width = 1,
                              .page_height = 1,
                              .page_width = 1,
                              .cores = {.ranges = &range, .count = 1}};
    struct tts_request request = {.pool = step->kind == STEP_SMALL ? TTS_POOL_L1_SMALL
                                                                   : TTS_POOL_DRAM,
                                  .size_bytes = step->size_bytes,
                                  .page_bytes = step->page_bytes,
                                  .shard = step->cores > 0 ? &shard : NULL,
                                  .placement = (enum tts_placement)step->placement};
    return tts_device_alloc(device, &request, out, NULL);
}

/* Returns true if the step allocates in the pool of the trial. */
static bool is_tried(const struct trial *trial, const struct whatif_step *step,
                     const struct tts_device *device)
{
    if (step->kind == STEP_SMALL)
        return trial->pool == TTS_POOL_L1_SMALL;
    if (step->kind == STEP_TRACE && tts_device_pool(device, TTS_POOL_TRACE))
        return trial->pool == TTS_POOL_TRACE;
    return trial->pool == TTS_POOL_DRAM;
}

static enum tts_status give_held(struct trial *trial, struct held *held)
{
    if (held->buffer.id == 0)
        return TTS_OK; /* the buffer is in another pool, which the trial does not run */
    enum tts_status status = tts_device_release(trial->devices[held->model], &held->buffer);
    held->buffer.id = 0;
    return status;
}

static enum tts_status run_step(struct trial *trial, const struct whatif_step *step)
{
    struct tts_device *device = trial->devices[step->model];
    if (step->kind == STEP_CAPTURE) {
        tts_device_trace_begin(device);
        return TTS_OK;
    }
    assert(step->place < trial->held_count);
    struct held *held = &trial->held[step->place];
    if (step->kind == STEP_GIVE)
        return give_held(trial, held);
    assert(step->model < trial->whatif->model_count);
    if (!is_tried(trial, step, device))
        return TTS_OK;
    held->model = step->model;
    if (step->kind == STEP_TRACE)
        return tts_device_alloc_trace(device, step->size_bytes, &held->buffer, NULL);
    return take_step(device, step, &held->buffer);
}

/* Runs the steps of a pool on devices of `chip` until one fails. */
static enum tts_status try_steps_on(const struct tts_whatif *whatif, enum tts_pool pool,
                                    const struct tts_chip *chip, bool *passes,
                                    struct tts_error *err)
{
    struct trial trial = {.whatif = whatif, .pool = pool};
    assert(whatif->steps.is_kept);
    enum tts_status status = begin_trial(&trial, chip, err);
    if (status != TTS_OK) {
        end_trial(&trial);
        return status;
    }
    const unsigned char *at = whatif->steps.bytes, *end = at ? at + whatif->steps.used : at;
    while (status == TTS_OK && at < end) {
        struct whatif_step step;
        at = get_step(trial.recent, at, &step);
        status = run_step(&trial, &step);
        if (status == TTS_E_NOMEM)
            tts_error_set(err, status, "out of memory");
    }
    end_trial(&trial);
    if (status == TTS_E_NOMEM)
        return status;
    assert(status == TTS_OK ||
           /* Other errors are impossible, because the replay accepted the requests. */
           status == TTS_E_FULL);
    *passes = status == TTS_OK;
    return TTS_OK;
}

enum tts_status tts_whatif_try(const struct tts_whatif *whatif, uint64_t bank_bytes,
                               bool *passes, struct tts_error *err)
{
    struct tts_chip chip;
    enum tts_status status = tts_whatif_resize(&whatif->chip, bank_bytes, &chip, err);
    return status == TTS_OK ? try_steps_on(whatif, TTS_POOL_DRAM, &chip, passes, err) : status;
}

enum tts_status tts_whatif_try_region(const struct tts_whatif *whatif, enum tts_pool pool,
                                      uint64_t bytes, bool *passes, struct tts_error *err)
{
    struct tts_chip chip = whatif->chip;
    char text[32];
    assert(pool == TTS_POOL_L1_SMALL || pool == TTS_POOL_TRACE);
    enum tts_fact_key key = pool == TTS_POOL_TRACE ? TTS_FACT_TRACE_REGION : TTS_FACT_L1_SMALL;
    snprintf(text, sizeof text, "%" PRIu64, bytes);
    if (tts_chip_set(&chip, tts_fact_name(key), text, NULL) != TTS_OK ||
        tts_chip_check(&chip, NULL) != TTS_OK) {
        *passes = false;
        return TTS_OK;
    }
    return try_steps_on(whatif, pool, &chip, passes, err);
}

/* ---- failures ---- */

/* Orders by size, largest first, then by age, oldest first. */
static bool comes_first_in_top(const struct tts_whatif_live *a, const struct tts_whatif_live *b)
{
    return a->block_bytes != b->block_bytes ? a->block_bytes > b->block_bytes : a->seq < b->seq;
}

static void add_to_top(struct tts_whatif_failure *failure, const struct tts_whatif_live *live)
{
    size_t at = failure->top_count;
    while (at > 0 && comes_first_in_top(live, &failure->top[at - 1]))
        at--;
    if (at == TTS_WHATIF_TOP)
        return;
    failure->top_count += failure->top_count < TTS_WHATIF_TOP;
    size_t behind = failure->top_count - 1 - at;
    memmove(&failure->top[at + 1], &failure->top[at], behind * sizeof failure->top[0]);
    failure->top[at] = *live;
}

static void note_live_buffers(const struct tts_whatif *whatif,
                              struct tts_whatif_failure *failure, size_t model)
{
    for (size_t i = 0; i < whatif->table.count; i++) {
        const struct whatif_entry *entry = &whatif->table.entries[i];
        if (!entry->is_used || entry->model != model || entry->buffer.block_bytes == 0 ||
            entry->buffer.pool != failure->pool)
            continue;
        struct tts_whatif_live live = {.id = entry->id,
                                       .seq = entry->seq,
                                       .size_bytes = entry->buffer.size_bytes,
                                       .block_bytes = entry->buffer.block_bytes,
                                       .op = tts_opnames_text(whatif->names, entry->op),
                                       .is_placed = entry->buffer.placed};
        failure->live++;
        failure->live_bytes += live.block_bytes;
        add_to_top(failure, &live);
    }
}

/* Counts a failure. Stores the first failure, with the buffers that are live then. */
static void note_whatif_failure(struct tts_whatif *whatif, const struct whatif_moment *when,
                                struct tts_whatif_failure *failure, size_t model)
{
    bool is_refusal =
        failure->kind == TTS_WHATIF_REFUSED || failure->kind == TTS_WHATIF_PROGRAM;
    struct whatif_fill *fill = &whatif->models[model].fill[failure->pool];
    uint64_t deficit = is_refusal ? tts_failure_deficit(&failure->failure) : 0;
    if (is_refusal)
        fill->failures++;
    if (deficit > fill->deficit_bytes) {
        fill->deficit_bytes = deficit;
        fill->deficit_seq = when->seq;
    }
    if (whatif->has_failed)
        return;
    failure->seq = when->seq;
    failure->has_time = when->has_time;
    failure->time_ns = when->time_ns;
    failure->device = when->device;
    failure->op = tts_opnames_text(whatif->names, when->op);
    note_live_buffers(whatif, failure, model);
    whatif->first = *failure;
    whatif->has_failed = true;
}

/* ---- results ---- */

void tts_whatif_get_counts(const struct tts_whatif *whatif, struct tts_whatif_counts *out)
{
    *out = whatif->counts;
}

uint64_t tts_whatif_failures(const struct tts_whatif *whatif)
{
    const struct tts_whatif_counts *counts = &whatif->counts;
    return counts->failed_buffers + counts->failed_cores + counts->failed_requests +
           counts->failed_programs;
}

uint64_t tts_whatif_left_out(const struct tts_whatif *whatif)
{
    const struct tts_whatif_counts *counts = &whatif->counts;
    return counts->unchecked + counts->other_parts + counts->no_pool + counts->single_core +
           counts->refused - counts->retried;
}

uint64_t tts_whatif_stop(const struct tts_whatif *whatif)
{
    return whatif->stop_seq;
}

const struct tts_whatif_failure *tts_whatif_first(const struct tts_whatif *whatif)
{
    return whatif->has_failed ? &whatif->first : NULL;
}

const char *tts_whatif_failure_text(const struct tts_whatif_failure *failure,
                                    char out[TTS_FAILURE_TEXT_MAX])
{
    if (failure->kind == TTS_WHATIF_REFUSED || failure->kind == TTS_WHATIF_PROGRAM)
        return tts_failure_text(&failure->failure, out);
    snprintf(out, TTS_FAILURE_TEXT_MAX, "%s", failure->text);
    return out;
}

size_t tts_whatif_devices(const struct tts_whatif *whatif)
{
    return whatif->model_count;
}

uint32_t tts_whatif_device_id(const struct tts_whatif *whatif, size_t idx)
{
    assert(idx < whatif->model_count);
    return whatif->models[idx].id;
}

const struct tts_device *tts_whatif_device(const struct tts_whatif *whatif, size_t idx)
{
    return idx < whatif->model_count ? whatif->models[idx].device : NULL;
}

bool tts_whatif_get_pool(const struct tts_whatif *whatif, size_t idx, enum tts_pool pool,
                         struct tts_whatif_pool *out)
{
    assert(idx < whatif->model_count);
    const struct whatif_model *model = &whatif->models[idx];
    const struct whatif_fill *fill = &model->fill[pool];
    const struct tts_pool_layout *layout = tts_device_layout(model->device, pool);
    if (!layout && fill->failures == 0)
        return false;
    *out = (struct tts_whatif_pool){.peak_seq = fill->peak_seq,
                                    .failures = fill->failures,
                                    .deficit_bytes = fill->deficit_bytes,
                                    .deficit_seq = fill->deficit_seq};
    if (layout)
        out->layout = *layout;
    /* A pool of 0 bytes has no statistics, but requests may have been counted in it. */
    if (!tts_device_stats(model->device, pool, &out->stats))
        out->stats = (struct tts_pool_stats){.unplaced_bytes = fill->bytes};
    out->stats.peak_bytes = fill->peak_bytes;
    return true;
}

bool tts_whatif_get_worst(const struct tts_whatif *whatif, enum tts_pool pool,
                          struct tts_whatif_pool *out)
{
    struct tts_whatif_pool one, worst = {0};
    bool any = false;
    for (size_t i = 0; i < whatif->model_count; i++) {
        if (!tts_whatif_get_pool(whatif, i, pool, &one))
            continue;
        uint64_t failures = worst.failures + one.failures, deficit = worst.deficit_bytes,
                 deficit_seq = worst.deficit_seq;
        if (one.deficit_bytes > deficit) {
            deficit = one.deficit_bytes;
            deficit_seq = one.deficit_seq;
        }
        if (!any || one.stats.peak_bytes > worst.stats.peak_bytes)
            worst = one;
        worst.failures = failures;
        worst.deficit_bytes = deficit;
        worst.deficit_seq = deficit_seq;
        any = true;
    }
    if (any)
        *out = worst;
    return any;
}

bool tts_whatif_get_region(const struct tts_whatif *whatif, enum tts_pool pool,
                           struct tts_whatif_region *out)
{
    assert(pool == TTS_POOL_L1_SMALL || pool == TTS_POOL_TRACE);
    bool is_trace = pool == TTS_POOL_TRACE;
    struct tts_whatif_region region = {
        .key = is_trace ? TTS_FACT_TRACE_REGION : TTS_FACT_L1_SMALL,
        .step_bytes = whatif->chip.fact[TTS_FACT_DRAM_ALIGNMENT].value};
    for (size_t i = 0; i < whatif->model_count; i++) {
        const struct whatif_model *model = &whatif->models[i];
        const struct whatif_fill *fill = &model->fill[pool];
        uint64_t peak = is_trace ? model->trace_peak_bytes : fill->peak_bytes;
        region.failures += is_trace ? model->trace_failures : fill->failures;
        region.low_bytes = peak > region.low_bytes ? peak : region.low_bytes;
    }
    if (region.failures == 0)
        return false;
    *out = region;
    return true;
}

bool tts_whatif_find(const struct tts_whatif *whatif, uint32_t device, uint64_t id,
                     struct tts_buffer *out)
{
    uint32_t place = find_entry(&whatif->table, device, id);
    if (place == TTS_HASHTABLE_NONE || whatif->table.entries[place].buffer.block_bytes == 0)
        return false;
    *out = whatif->table.entries[place].buffer;
    return true;
}

/* ---- programs ---- */

/* Lays out the circular buffers of a program. Returns false if this device cannot have them. */
static bool lay_out_program(struct tts_device *device, const struct whatif_source *source,
                            uint64_t program_id)
{
    uint64_t address;
    if (source->is_unchecked)
        return false;
    tts_device_program(device, program_id);
    for (size_t i = 0; i < source->cb_count; i++) {
        const struct whatif_cb *own = &source->cbs[i];
        struct tts_cb cb = {.ranges = source->ranges + own->first_range,
                            .range_count = own->range_count,
                            .total_bytes = own->bytes};
        if (tts_device_add_cb(device, &cb, &address, NULL) != TTS_OK)
            return false;
    }
    return true;
}

/* Checks one program as the runtime does. Returns false if the program could not be checked. */
static bool check_program(struct tts_whatif *whatif, struct whatif_source *source, size_t model,
                          bool *has_failed)
{
    struct tts_device *device = whatif->models[model].device;
    uint64_t failures = tts_device_failures(device);
    if (!lay_out_program(device, source, whatif->counts.programs))
        return false;
    /* The device is in overcommit mode: it counts a program that does not fit and returns
     * TTS_OK. */
    if (tts_device_run_program(device, NULL) != TTS_OK)
        return false;
    if (tts_device_failures(device) == failures || source->has_failed)
        return true;
    struct tts_whatif_failure failure = {.kind = TTS_WHATIF_PROGRAM,
                                         .pool = TTS_POOL_L1,
                                         .failure = *tts_device_failure(device)};
    note_whatif_failure(whatif, &source->last, &failure, model);
    source->has_failed = *has_failed = true;
    return true;
}

/* Checks the programs of a modelled device that are not checked yet. Called before the memory
 * of the device changes. */
static void run_pending_programs(struct tts_whatif *whatif, size_t model)
{
    bool any = false, has_failed = false, is_new = false;
    if (!whatif->models[model].is_pending)
        return;
    for (size_t i = 0; i < whatif->source_count; i++) {
        struct whatif_source *source = &whatif->sources[i];
        bool is_its = whatif->sources[source->mesh].model == model;
        if (!source->is_pending || !is_its)
            continue;
        if (!source->is_counted && !is_new) {
            is_new = true;
            /* The count is also the number of the program in messages. */
            whatif->counts.programs++;
        }
        source->is_counted = true;
        source->is_pending = false;
        any = check_program(whatif, source, model, &has_failed) || any;
    }
    whatif->counts.unchecked += is_new && !any;
    whatif->counts.failed_programs += has_failed;
    whatif->models[model].is_pending = false;
    assert(whatif->pending_count > 0);
    whatif->pending_count--;
}

static void release_source(struct tts_whatif *whatif, struct whatif_source *source)
{
    const struct tts_alloc *alloc = whatif->alloc;
    if (source->cbs)
        alloc->free(alloc->ctx, source->cbs, source->cb_capacity * sizeof *source->cbs);
    if (source->ranges)
        alloc->free(alloc->ctx, source->ranges,
                    source->range_capacity * sizeof *source->ranges);
}

static void forget_program(struct whatif_source *source)
{
    assert(!source->is_pending);
    source->cb_count = source->range_count = 0;
    source->is_unchecked = source->is_counted = source->has_failed = false;
}

/* Begins a new program on the device and on its chips. */
static void begin_program(struct tts_whatif *whatif, size_t source)
{
    for (size_t i = 0; i < whatif->source_count; i++) {
        struct whatif_source *one = &whatif->sources[i];
        if (i != source && one->mesh != source)
            continue;
        if (one->is_pending)
            run_pending_programs(whatif, whatif->sources[one->mesh].model);
        forget_program(one);
    }
}

static enum tts_status add_cb(struct tts_whatif *whatif, struct whatif_source *source,
                              const struct tts_event *event, struct tts_error *err)
{
    void *cbs = tts_alloc_grow(whatif->alloc, source->cbs, &source->cb_capacity,
                               source->cb_count + 1, sizeof *source->cbs);
    if (!cbs)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    source->cbs = cbs;
    void *ranges =
        tts_alloc_grow(whatif->alloc, source->ranges, &source->range_capacity,
                       source->range_count + event->range_count, sizeof *source->ranges);
    if (!ranges)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    source->ranges = ranges;
    source->cbs[source->cb_count++] =
        (struct whatif_cb){event->size_bytes, source->range_count, event->range_count};
    memcpy(source->ranges + source->range_count, event->ranges,
           event->range_count * sizeof *event->ranges);
    source->range_count += event->range_count;
    return TTS_OK;
}

static enum tts_status add_program_part(struct tts_whatif *whatif,
                                        const struct tts_event *event, size_t source,
                                        const struct whatif_moment *when, struct tts_error *err)
{
    struct whatif_source *at = &whatif->sources[source];
    size_t model;
    if (event->borrowed)
        return TTS_OK; /* a circular buffer without memory of its own */
    if (event->kind != TTS_EVENT_CB) {
        whatif->counts.other_parts++;
        return TTS_OK;
    }
    enum tts_status status = model_of_source(whatif, source, &model, err);
    if (status == TTS_OK && at->cb_count == TTS_CBS_MAX)
        at->is_unchecked = true; /* a program cannot have so many circular buffers */
    else if (status == TTS_OK)
        status = add_cb(whatif, at, event, err);
    if (status != TTS_OK)
        return status;
    at->last = *when;
    at->is_pending = true;
    whatif->pending_count += !whatif->models[model].is_pending;
    whatif->models[model].is_pending = true;
    return TTS_OK;
}

static void run_all_programs(struct tts_whatif *whatif)
{
    for (size_t i = 0; i < whatif->model_count && whatif->pending_count > 0; i++)
        run_pending_programs(whatif, i);
}

/* ---- buffers ---- */

static enum tts_status give_entry(struct tts_whatif *whatif, uint32_t place,
                                  struct tts_error *err)
{
    struct whatif_entry *entry = &whatif->table.entries[place];
    if (entry->buffer.block_bytes > 0) {
        struct whatif_model *model = &whatif->models[entry->model];
        enum tts_status status = tts_device_release(model->device, &entry->buffer);
        assert(status == TTS_OK ||
               /* Other errors are impossible, because the table has only buffers that exist. */
               status == TTS_E_NOMEM);
        if (status != TTS_OK)
            return tts_error_set(err, status, "out of memory");
        model->fill[entry->buffer.pool].bytes -= entry->buffer.block_bytes;
        if (entry->is_trace)
            model->trace_bytes -= entry->buffer.size_bytes;
    }
    if (entry->is_step)
        keep_step(whatif, &(struct whatif_step){.kind = STEP_GIVE,
                                                .place = place,
                                                .model = (uint8_t)entry->model});
    remove_entry(&whatif->table, place);
    return TTS_OK;
}

static void count_taken(struct whatif_model *model, const struct tts_buffer *buffer,
                        uint64_t seq)
{
    struct whatif_fill *fill = &model->fill[buffer->pool];
    fill->bytes += buffer->block_bytes;
    if (fill->bytes > fill->peak_bytes) {
        fill->peak_bytes = fill->bytes;
        fill->peak_seq = seq;
    }
}

static void count_taken_trace(struct whatif_model *model, const struct tts_buffer *buffer)
{
    if (buffer->block_bytes == 0)
        return;
    model->trace_bytes += buffer->size_bytes;
    if (model->trace_bytes > model->trace_peak_bytes)
        model->trace_peak_bytes = model->trace_bytes;
}

/* Counts a request that this device can never serve. The entry of the buffer stays in the
 * table, with 0 bytes, so that the free of the buffer is recognized. */
static void note_impossible(struct tts_whatif *whatif, const struct tts_event *event,
                            const struct whatif_moment *when, const struct tts_error *why,
                            size_t model)
{
    bool by_cores = why->status == TTS_E_RANGE;
    if (why->status == TTS_E_NOT_FOUND) {
        whatif->counts.no_pool++;
        return;
    }
    struct tts_whatif_failure failure = {.kind =
                                             by_cores ? TTS_WHATIF_CORES : TTS_WHATIF_REQUEST,
                                         .pool = event->pool,
                                         .id = event->id,
                                         .size_bytes = event->size_bytes};
    snprintf(failure.text, sizeof failure.text, "%s", why->text);
    whatif->counts.failed_cores += by_cores;
    whatif->counts.failed_requests += !by_cores;
    note_whatif_failure(whatif, when, &failure, model);
}

static void note_refused(struct tts_whatif *whatif, const struct tts_event *event,
                         const struct whatif_moment *when, size_t model)
{
    const struct tts_failure *why = tts_device_failure(whatif->models[model].device);
    struct tts_whatif_failure failure = {.kind = TTS_WHATIF_REFUSED,
                                         .pool = why->pool,
                                         .id = event->id,
                                         .size_bytes = event->size_bytes,
                                         .failure = *why};
    whatif->counts.failed_buffers++;
    whatif->models[model].trace_failures +=
        why->kind == TTS_FAILURE_TRACE_OVERLAP || why->pool == TTS_POOL_TRACE;
    whatif->counts.fragmented +=
        why->kind == TTS_FAILURE_SPACE && why->block_bytes <= why->free_bytes;
    note_whatif_failure(whatif, when, &failure, model);
}

static void keep_take_step(struct tts_whatif *whatif, const struct tts_event *event,
                           const struct tts_request *request, uint32_t place)
{
    struct whatif_entry *entry = &whatif->table.entries[place];
    struct whatif_step step = {
        .size_bytes = request->size_bytes,
        .page_bytes = request->page_bytes,
        .place = place,
        .cores = request->shard ? (uint16_t)event->cores : 0,
        .model = (uint8_t)entry->model,
        .kind = STEP_TAKE,
        .placement = request->placement & 3,
    };
    if (entry->is_trace) {
        step.kind = STEP_TRACE;
        step.size_bytes = event->size_bytes;
    } else if (entry->buffer.pool == TTS_POOL_L1_SMALL) {
        step.kind = STEP_SMALL;
        step.size_bytes = request->page_bytes;
        step.cores = 1; /* the layout in a bank does not depend on the number of cores */
    } else if (entry->buffer.pool != TTS_POOL_DRAM) {
        return;
    }
    keep_step(whatif, &step);
    entry->is_step = true;
}

/* Sends a request to the modelled device. The device chooses the region for a trace. */
static enum tts_status ask_model(struct tts_whatif *whatif, const struct tts_event *event,
                                 struct tts_whatif_request *request, size_t model,
                                 struct tts_buffer *out, struct tts_error *err)
{
    struct tts_device *device = whatif->models[model].device;
    *request = (struct tts_whatif_request){0};
    enum tts_status status = TTS_OK;
    if (event->pool != TTS_POOL_TRACE)
        status = tts_whatif_map(event, &whatif->chip, request, err);
    if (status != TTS_OK)
        return status;
    status = event->pool == TTS_POOL_TRACE
                 ? tts_device_alloc_trace(device, event->size_bytes, out, err)
                 : tts_device_alloc(device, &request->request, out, err);
    if (status == TTS_E_RANGE) /* a device returns TTS_E_RANGE if a pool exceeds 64 bits */
        status = err->status = TTS_E_INVALID;
    return status;
}

static enum tts_status take_entry(struct tts_whatif *whatif, const struct tts_event *event,
                                  const struct whatif_moment *when, uint32_t place,
                                  struct tts_error *err)
{
    struct whatif_entry *entry = &whatif->table.entries[place];
    struct tts_whatif_request request;
    struct tts_buffer buffer = {0};
    struct tts_error why = {0};
    size_t model = entry->model;
    struct tts_device *device = whatif->models[model].device;
    uint64_t failures = tts_device_failures(device);
    enum tts_status status = ask_model(whatif, event, &request, model, &buffer, &why);
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, "out of memory");
    if (status != TTS_OK) {
        note_impossible(whatif, event, when, &why, model);
        return TTS_OK;
    }
    whatif->counts.unknown_pages += request.page_is_unknown;
    whatif->counts.padded += request.is_padded && !request.page_is_unknown;
    if (tts_device_failures(device) > failures)
        /* Call before the buffer of this request counts as live. */
        note_refused(whatif, event, when, model);
    entry->buffer = buffer;
    entry->is_trace = event->pool == TTS_POOL_TRACE;
    if (entry->is_trace)
        count_taken_trace(&whatif->models[model], &buffer);
    count_taken(&whatif->models[model], &buffer, when->seq);
    keep_take_step(whatif, event, &request.request, place);
    return TTS_OK;
}

static enum tts_status run_whatif_alloc(struct tts_whatif *whatif,
                                        const struct tts_event *event, size_t source,
                                        const struct whatif_moment *when, struct tts_error *err)
{
    size_t model;
    uint32_t place = find_entry(&whatif->table, event->device, event->id);
    if (event->size_bytes == 0)
        return TTS_OK;
    enum tts_status status = model_of_source(whatif, source, &model, err);
    if (status != TTS_OK)
        return status;
    run_pending_programs(whatif, model);
    if (place !=
        TTS_HASHTABLE_NONE) /* the free of the earlier buffer is missing in the recording */
        status = give_entry(whatif, place, err);
    if (status == TTS_OK)
        status = add_entry(&whatif->table, event->device, event->id, &place, err);
    if (status != TTS_OK)
        return status;
    struct whatif_entry *entry = &whatif->table.entries[place];
    entry->seq = when->seq;
    entry->op = when->op;
    entry->model = (uint16_t)model;
    if (event->range_count > 0) {
        whatif->counts.single_core++;
        return TTS_OK;
    }
    return take_entry(whatif, event, when, place, err);
}

static enum tts_status run_whatif_free(struct tts_whatif *whatif, const struct tts_event *event,
                                       struct tts_error *err)
{
    uint32_t place = find_entry(&whatif->table, event->device, event->id);
    if (place == TTS_HASHTABLE_NONE) {
        whatif->counts.unknown_frees++;
        return TTS_OK;
    }
    run_pending_programs(whatif, whatif->table.entries[place].model);
    return give_entry(whatif, place, err);
}

/* Tries a request that failed in the original run. Frees the buffer at once, because the
 * original run had no such buffer. */
static enum tts_status retry_refused(struct tts_whatif *whatif, const struct tts_event *event,
                                     size_t source, const struct whatif_moment *when,
                                     struct tts_error *err)
{
    const struct tts_failure *was = event->failure;
    struct tts_event again = {.kind = TTS_EVENT_ALLOC,
                              .device = event->device,
                              .pool = TTS_POOL_DRAM,
                              .id = TTS_WHATIF_NO_ID,
                              .size_bytes = was->requested_bytes};
    whatif->counts.refused++;
    if (was->kind != TTS_FAILURE_SPACE || was->pool != TTS_POOL_DRAM ||
        was->requested_bytes == 0 || was->requested_bytes > TTS_EVENT_SIZE_MAX ||
        find_entry(&whatif->table, again.device, again.id) != TTS_HASHTABLE_NONE)
        return TTS_OK;
    whatif->counts.retried++;
    enum tts_status status = run_whatif_alloc(whatif, &again, source, when, err);
    return status == TTS_OK ? run_whatif_free(whatif, &again, err) : status;
}

static enum tts_status run_trace_begin(struct tts_whatif *whatif, size_t source,
                                       struct tts_error *err)
{
    size_t model;
    enum tts_status status = model_of_source(whatif, source, &model, err);
    if (status != TTS_OK)
        return status;
    tts_device_trace_begin(whatif->models[model].device);
    if (!tts_device_pool(whatif->models[model].device, TTS_POOL_TRACE))
        keep_step(whatif, &(struct whatif_step){.kind = STEP_CAPTURE, .model = (uint8_t)model});
    return TTS_OK;
}

/* ---- keyframes ---- */

static enum tts_status add_before(struct tts_whatif *whatif, const struct tts_item *item,
                                  struct tts_error *err)
{
    if (whatif->before_count == TTS_WHATIF_LIVE_MAX)
        return tts_error_set(err, TTS_E_RANGE,
                             "the file has too many live buffers at once: the maximum is %d",
                             TTS_WHATIF_LIVE_MAX);
    void *grown = tts_alloc_grow(whatif->alloc, whatif->before, &whatif->before_capacity,
                                 whatif->before_count + 1, sizeof *whatif->before);
    if (!grown)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    whatif->before = grown;
    whatif->before[whatif->before_count++] = (struct whatif_before){
        item->live, op_name_of(whatif, item), item->event.range_count > 0};
    return TTS_OK;
}

static int compare_before(const void *a, const void *b)
{
    const struct whatif_before *x = a, *y = b;
    if (x->live.seq != y->live.seq)
        return x->live.seq < y->live.seq ? -1 : 1;
    return (x->live.id > y->live.id) - (x->live.id < y->live.id);
}

static enum tts_status run_before(struct tts_whatif *whatif, const struct whatif_before *before,
                                  struct tts_error *err)
{
    static const struct tts_core_range nowhere;
    const struct tts_live *live = &before->live;
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, live->device);
    size_t source;
    event.pool = live->pool;
    event.id = live->id;
    event.size_bytes = live->size_bytes;
    event.bytes_per_bank = live->bytes_per_bank;
    event.ranges = &nowhere;
    event.range_count = before->is_single;
    if (!event_matters(whatif, &event))
        return TTS_OK;
    whatif->counts.earlier++;
    struct whatif_moment when = {.seq = live->seq, .device = live->device, .op = before->op};
    enum tts_status status = find_source(whatif, live->device, &source, err);
    return status == TTS_OK ? run_whatif_alloc(whatif, &event, source, &when, err) : status;
}

/* Ends a keyframe: allocates its buffers in the order of their events. */
static enum tts_status end_keyframe(struct tts_whatif *whatif, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    if (whatif->before_count > 1)
        qsort(whatif->before, whatif->before_count, sizeof *whatif->before, compare_before);
    for (size_t i = 0; i < whatif->before_count && status == TTS_OK; i++)
        status = run_before(whatif, &whatif->before[i], err);
    if (whatif->before)
        whatif->alloc->free(whatif->alloc->ctx, whatif->before,
                            whatif->before_capacity * sizeof *whatif->before);
    whatif->before = NULL;
    whatif->before_count = whatif->before_capacity = 0;
    return status;
}

enum { NAMES_MAX = 8192 };

/* ---- life ---- */

enum tts_status tts_whatif_new(const struct tts_whatif_config *config,
                               const struct tts_alloc *alloc, struct tts_whatif **out,
                               struct tts_error *err)
{
    struct tts_device *probe;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_whatif *whatif = alloc->alloc(alloc->ctx, sizeof *whatif);
    if (!whatif)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    memset(whatif, 0, sizeof *whatif);
    whatif->alloc = whatif->table.alloc = whatif->table.by_key.alloc = alloc;
    whatif->chip = *config->chip;
    whatif->dram_only = config->dram_only;
    whatif->steps.is_kept = config->keeps_steps;
    whatif->table.seed = tts_seed();
    /* Make a device now, so that an invalid chip is reported here and not at the first
     * event. */
    enum tts_status status =
        new_modelled_device(whatif, &whatif->chip, TTS_MODE_OVERCOMMIT, &probe, err);
    if (status == TTS_OK) {
        tts_device_free(probe);
        status = tts_opnames_new(NAMES_MAX, alloc, &whatif->names);
        if (status != TTS_OK)
            tts_error_set(err, status, "out of memory");
    }
    if (status != TTS_OK) {
        tts_whatif_free(whatif);
        return status;
    }
    *out = whatif;
    return TTS_OK;
}

void tts_whatif_free(struct tts_whatif *whatif)
{
    if (!whatif)
        return;
    const struct tts_alloc *alloc = whatif->alloc;
    for (size_t i = 0; i < whatif->model_count; i++)
        tts_device_free(whatif->models[i].device);
    for (size_t i = 0; i < whatif->source_count; i++)
        release_source(whatif, &whatif->sources[i]);
    release_entries(&whatif->table);
    drop_steps(whatif);
    if (whatif->before)
        alloc->free(alloc->ctx, whatif->before,
                    whatif->before_capacity * sizeof *whatif->before);
    tts_opnames_free(whatif->names);
    alloc->free(alloc->ctx, whatif, sizeof *whatif);
}

/* ---- items ---- */

/* Makes a device a chip of a mesh. A mesh of meshes is impossible and is ignored. */
static enum tts_status join_mesh(struct tts_whatif *whatif, const struct tts_item *item,
                                 struct tts_error *err)
{
    size_t chip, mesh;
    enum tts_status status = find_source(whatif, item->device, &chip, err);
    if (status == TTS_OK)
        status = find_source(whatif, item->mesh, &mesh, err);
    if (status != TTS_OK)
        return status;
    if (chip == mesh || whatif->sources[mesh].mesh != mesh || is_mesh_source(whatif, chip))
        return TTS_OK;
    /* Check programs first, because they belong to the former model of the device. */
    run_all_programs(whatif);
    whatif->sources[chip].mesh = (uint16_t)mesh;
    return TTS_OK;
}

static enum tts_status run_event(struct tts_whatif *whatif, const struct tts_item *item,
                                 struct tts_error *err)
{
    const struct tts_event *event = &item->event;
    size_t source;
    enum tts_status status = tts_event_check(event, err);
    if (status != TTS_OK)
        return status;
    whatif->counts.events++;
    tts_item_follow_stop(item, &whatif->stop_seq);
    if (!event_matters(whatif, event))
        return TTS_OK;
    if (event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END) {
        run_all_programs(whatif);
        return TTS_OK;
    }
    status = find_source(whatif, event->device, &source, err);
    if (status != TTS_OK)
        return status;
    struct whatif_moment when = moment_of(whatif, item, event->device);
    switch (event->kind) {
    case TTS_EVENT_ALLOC:
        whatif->counts.allocations++;
        return run_whatif_alloc(whatif, event, source, &when, err);
    case TTS_EVENT_FREE:
        whatif->counts.frees++;
        return run_whatif_free(whatif, event, err);
    case TTS_EVENT_PROGRAM:
        begin_program(whatif, source);
        return TTS_OK;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        return add_program_part(whatif, event, source, &when, err);
    case TTS_EVENT_TRACE_BEGIN:
        return run_trace_begin(whatif, source, err);
    case TTS_EVENT_FAILURE:
        return retry_refused(whatif, event, source, &when, err);
    case TTS_EVENT_TRACE_END: /* the model needs only the beginning of a trace */
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_OP_END:
        break;
    }
    return TTS_OK;
}

enum tts_status tts_whatif_item(struct tts_whatif *whatif, const struct tts_item *item,
                                struct tts_error *err)
{
    switch (item->kind) {
    case TTS_ITEM_EVENT:
        return run_event(whatif, item, err);
    case TTS_ITEM_NAME:
        op_name_of(whatif, item);
        return TTS_OK;
    case TTS_ITEM_CHIP:
        return join_mesh(whatif, item, err);
    case TTS_ITEM_MISSED:
        if (__builtin_add_overflow(whatif->counts.missed, item->count, &whatif->counts.missed))
            whatif->counts.missed = UINT64_MAX;
        return TTS_OK;
    case TTS_ITEM_SAMPLE:
        whatif->counts.samples++;
        return TTS_OK;
    case TTS_ITEM_LIVE:
        return add_before(whatif, item, err);
    case TTS_ITEM_KEYFRAME_END:
        return end_keyframe(whatif, err);
    case TTS_ITEM_BEGIN:
    case TTS_ITEM_CUT:
        tts_item_follow_stop(item, &whatif->stop_seq);
        return TTS_OK;
    case TTS_ITEM_KEYFRAME:
    case TTS_ITEM_PART: /* part of a program that ran before the file begins */
    case TTS_ITEM_TRACING:
    case TTS_ITEM_ACTIVE:
    case TTS_ITEM_END:
        break;
    }
    return TTS_OK;
}

void tts_whatif_end(struct tts_whatif *whatif)
{
    run_all_programs(whatif);
}
