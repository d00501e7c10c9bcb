/* eventfigures.c: one function for each struct both encodes and decodes the struct.
 *
 * Raise VERSION if the stored data changes, or if an answer is computed in another way. Readers
 * of another version then read the events instead. */
#include "analysis/eventfigures.h"

#include "base/error.h"
#include "base/heap.h"
#include "model/recording/recpack.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 2 };

/* Data decoded from a file. */
struct tts_eventfigures {
    unsigned char *bytes; /* a copy of the encoded bytes, which contains the texts */
    size_t len;
    struct tts_phase whole;
    struct tts_device_usage *devices;
    size_t device_count;
    struct tts_core_part parts[TTS_CORE_PARTS_MAX];
};

/* ---- values ---- */

struct coder {
    const struct tts_alloc *alloc;
    const struct tts_eventsummary *sum; /* for the encoder: has the paths of operations */
    bool writes;
    bool is_bad; /* the encoder has no memory, or the bytes for the decoder are invalid */
    unsigned char *bytes;
    /* `len` is the number of bytes that the encoder wrote, or that the decoder can read. */
    size_t len, capacity;
    size_t at; /* position of the decoder */
};

static void put_coder_byte(struct coder *c, unsigned byte)
{
    unsigned char *grown =
        c->is_bad ? NULL : tts_alloc_grow(c->alloc, c->bytes, &c->capacity, c->len + 1, 1);
    if (!grown) {
        c->is_bad = true;
        return;
    }
    c->bytes = grown;
    c->bytes[c->len++] = (unsigned char)byte;
}

static unsigned get_coder_byte(struct coder *c)
{
    if (c->is_bad || c->at == c->len) {
        c->is_bad = true;
        return 0;
    }
    return c->bytes[c->at++];
}

static void code_u64(struct coder *c, uint64_t *value)
{
    if (c->writes) {
        uint64_t rest = *value;
        for (; rest > 127; rest >>= 7)
            put_coder_byte(c, (unsigned)(rest & 127) | 128);
        put_coder_byte(c, (unsigned)rest);
        return;
    }
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned byte = get_coder_byte(c);
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return;
    }
    c->is_bad = true;
}

/* Encodes or decodes a number. The decoder rejects numbers above `most`. */
static void code_up_to(struct coder *c, uint64_t *value, uint64_t most)
{
    code_u64(c, value);
    if (*value > most) {
        assert(!c->writes);
        c->is_bad = true;
        *value = 0;
    }
}

static void code_i64(struct coder *c, int64_t *value)
{
    uint64_t bits = (uint64_t)*value;
    bits = bits << 1 ^ (bits >> 63 ? UINT64_MAX : 0);
    code_u64(c, &bits);
    *value = (int64_t)(bits >> 1 ^ (bits & 1 ? UINT64_MAX : 0));
}

static void code_u32(struct coder *c, uint32_t *value)
{
    uint64_t number = *value;
    code_up_to(c, &number, UINT32_MAX);
    *value = (uint32_t)number;
}

static void code_bool(struct coder *c, bool *value)
{
    uint64_t number = *value;
    code_up_to(c, &number, 1);
    *value = number == 1;
}

static void code_pool(struct coder *c, enum tts_pool *pool)
{
    uint64_t number = (uint64_t)*pool;
    code_up_to(c, &number, TTS_POOLS - 1);
    *pool = (enum tts_pool)number;
}

static void code_count(struct coder *c, size_t *count, size_t most)
{
    uint64_t number = *count;
    code_up_to(c, &number, most);
    *count = (size_t)number;
    /* A count above the number of bytes is invalid: each element takes at least one byte. */
    if (!c->writes && *count > c->len - c->at) {
        c->is_bad = true;
        *count = 0;
    }
}

/* Encodes or decodes the number of all elements of a list of which not all are stored. */
static void code_size(struct coder *c, size_t *size)
{
    uint64_t number = *size;
    code_up_to(c, &number, SIZE_MAX);
    *size = (size_t)number;
}

/* Encodes or decodes a text: its length + 1, its bytes and a terminator. NULL is stored as the
 * length 0 alone. */
static void code_text(struct coder *c, const char **text)
{
    size_t len = *text ? strlen(*text) + 1 : 0;
    code_count(c, &len, SIZE_MAX);
    if (c->writes) {
        for (size_t i = 0; i < len; i++)
            put_coder_byte(c, (unsigned char)(*text)[i]);
        return;
    }
    *text = len > 0 ? (const char *)c->bytes + c->at : NULL;
    c->at += len;
    if (len > 0 && memchr(*text, '\0', len) != *text + len - 1) {
        c->is_bad = true;
        *text = NULL;
    }
}

/* Encodes or decodes the name of an operation, then its path, each with a terminator. So in a
 * loaded summary the path of an operation follows its name in memory. */
static void code_op(struct coder *c, const char **op)
{
    size_t len = 0, name_bytes = 0, path_bytes = 0;
    char path[TTS_SUMMARY_PATH_BYTES];
    if (c->writes && *op) {
        name_bytes = strlen(*op) + 1;
        path_bytes = strlen(tts_eventsummary_path(c->sum, *op, path)) + 1;
        len = name_bytes + path_bytes;
    }
    code_count(c, &len, TTS_SUMMARY_OP_BYTES + TTS_SUMMARY_PATH_BYTES);
    if (c->writes) {
        for (size_t i = 0; i < name_bytes; i++)
            put_coder_byte(c, (unsigned char)(*op)[i]);
        for (size_t i = 0; i < path_bytes; i++)
            put_coder_byte(c, (unsigned char)path[i]);
        return;
    }
    const char *name = (const char *)c->bytes + c->at;
    const char *end = len > 0 ? memchr(name, '\0', len) : NULL;
    const char *rest = end ? end + 1 : NULL;
    *op = len > 0 ? name : NULL;
    c->at += len;
    if (len > 0 && (!end || end - name >= TTS_SUMMARY_OP_BYTES || rest == name + len ||
                    name + len - rest > TTS_SUMMARY_PATH_BYTES ||
                    memchr(rest, '\0', (size_t)(name + len - rest)) != name + len - 1)) {
        c->is_bad = true;
        *op = NULL;
    }
}

/* ---- structs ---- */

static void code_usage(struct coder *c, struct tts_pool_usage *usage)
{
    code_i64(c, &usage->peak_bytes);
    code_i64(c, &usage->allocated_bytes);
    code_i64(c, &usage->freed_bytes);
    code_i64(c, &usage->cumulative_peak_bytes);
    code_i64(c, &usage->cumulative_current_bytes);
    code_u64(c, &usage->allocations);
    code_u64(c, &usage->frees);
}

static void code_part(struct coder *c, struct tts_core_part *part)
{
    uint64_t kind = (uint64_t)part->kind;
    code_up_to(c, &kind, TTS_EVENT_SCRATCHPAD);
    part->kind = (enum tts_event_kind)kind;
    code_pool(c, &part->pool);
    code_u64(c, &part->id);
    code_u64(c, &part->bytes);
    code_op(c, &part->op);
}

static void code_core(struct coder *c, struct tts_core_peak *core,
                      struct tts_core_part parts[TTS_CORE_PARTS_MAX])
{
    uint64_t *const sums[] = {&core->bytes,    &core->cb_bytes,       &core->dfb_bytes,
                              &core->l1_bytes, &core->l1_small_bytes, &core->scratchpad_bytes,
                              &core->seq,      &core->unlisted,       &core->unlisted_bytes};
    uint64_t x = core->core.x, y = core->core.y;
    code_bool(c, &core->known);
    code_bool(c, &core->at_least);
    code_u32(c, &core->device);
    code_up_to(c, &x, UINT16_MAX);
    code_up_to(c, &y, UINT16_MAX);
    core->core = (struct tts_core){(uint16_t)x, (uint16_t)y};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        code_u64(c, sums[i]);
    code_op(c, &core->op);
    code_count(c, &core->part_count, TTS_CORE_PARTS_MAX);
    for (size_t i = 0; i < core->part_count; i++) {
        if (c->writes)
            parts[i] = core->parts[i];
        code_part(c, &parts[i]);
    }
    core->parts = parts;
}

static void code_whole(struct coder *c, struct tts_phase *whole,
                       struct tts_core_part parts[TTS_CORE_PARTS_MAX])
{
    struct tts_usage *usage = &whole->usage;
    code_u64(c, &whole->events);
    for (int i = 0; i < TTS_POOLS; i++)
        code_usage(c, &usage->pools[i]);
    code_i64(c, &usage->peak_cb_bytes);
    code_i64(c, &usage->peak_dfb_bytes);
    code_i64(c, &usage->peak_scratchpad_bytes);
    code_i64(c, &usage->peak_total_bytes);
    code_u64(c, &usage->programs);
    code_u64(c, &usage->ops);
    code_u64(c, &usage->traces);
    code_u64(c, &usage->traced_bytes);
    code_core(c, &usage->core, parts);
}

static void code_level(struct coder *c, struct tts_level *level)
{
    code_i64(c, &level->bytes);
    code_i64(c, &level->loose_bytes);
    code_u64(c, &level->buffers);
    code_bool(c, &level->has_device);
    code_bool(c, &level->has_mesh);
    code_u32(c, &level->device);
    code_u32(c, &level->mesh);
}

static void code_live(struct coder *c, void *item)
{
    struct tts_live *live = item;
    code_u64(c, &live->id);
    code_u64(c, &live->size_bytes);
    code_u64(c, &live->bytes_per_bank);
    code_u64(c, &live->block_bytes);
    code_u64(c, &live->seq);
    code_u32(c, &live->device);
    code_pool(c, &live->pool);
    code_op(c, &live->op);
}

static void code_row(struct coder *c, void *item)
{
    struct tts_op_row *row = item;
    code_op(c, &row->op);
    code_u64(c, &row->allocations);
    code_u64(c, &row->allocated_bytes);
    code_u64(c, &row->live_bytes);
    code_u64(c, &row->live_buffers);
    code_u64(c, &row->moment_bytes);
    code_u64(c, &row->moment_buffers);
}

/* Encodes or decodes the rows of a sorted list. */
static void code_best(struct coder *c, struct tts_best *best, size_t item_bytes,
                      void (*code)(struct coder *c, void *item))
{
    size_t count = best->count;
    code_count(c, &count, TTS_EVENTFIGURES_TOP);
    if (!c->writes) {
        tts_best_init(best, 0, item_bytes, NULL, NULL, c->alloc);
        best->items = count > 0
                          ? tts_alloc_grow(c->alloc, NULL, &best->capacity, count, item_bytes)
                          : NULL;
        c->is_bad |= count > 0 && !best->items;
        if (c->is_bad)
            return;
        if (count > 0)
            memset(best->items, 0, count * item_bytes);
        best->count = count;
    }
    for (size_t i = 0; i < count; i++)
        code(c, (char *)best->items + i * item_bytes);
}

/* ---- answers ---- */

/* Returns true if no list has more rows than its total, and each buffer belongs to the pool of
 * its list. */
static bool has_good_lists(const struct tts_eventsummary *sum)
{
    const struct tts_summary_moment *moment = &sum->peak_moment;
    const struct tts_live *largest = moment->largest.items;
    for (size_t i = 0; i < moment->largest.count; i++)
        if (largest[i].pool != moment->pool)
            return false;
    return moment->largest.count <= moment->buffers &&
           moment->by_op.count <= moment->op_count && sum->top_ops.count <= sum->op_count;
}

static void code_peak(struct coder *c, struct tts_eventsummary *sum)
{
    struct tts_peak_info *info = &sum->peak_info;
    struct tts_summary_moment *moment = &sum->peak_moment;
    code_pool(c, &info->pool);
    code_level(c, &info->level);
    code_bool(c, &info->is_start);
    code_u64(c, &info->seq);
    code_bool(c, &info->has_time);
    code_u64(c, &info->time_ns);
    code_op(c, &info->op);
    code_u64(c, &moment->buffers);
    code_u64(c, &moment->bytes);
    code_size(c, &moment->op_count);
    code_best(c, &moment->largest, sizeof(struct tts_live), code_live);
    code_best(c, &moment->by_op, sizeof(struct tts_op_row), code_row);
    code_size(c, &sum->op_count);
    code_best(c, &sum->top_ops, sizeof(struct tts_op_row), code_row);
    moment->pool = info->pool;
    moment->level = info->level;
    if (!c->writes)
        c->is_bad |= !has_good_lists(sum);
}

static void code_facts(struct coder *c, struct tts_eventsummary *sum)
{
    uint64_t *const numbers[] = {&sum->input.events,
                                 &sum->first_seq,
                                 &sum->restored_buffers,
                                 &sum->restored_dram,
                                 &sum->first_ns,
                                 &sum->last_ns,
                                 &sum->phases_unlisted,
                                 &sum->health.events,
                                 &sum->health.dropped,
                                 &sum->health.unlisted,
                                 &sum->health.unseen_frees,
                                 &sum->health.unknown_frees,
                                 &sum->health.doubled,
                                 &sum->health.refused,
                                 &sum->input.missed,
                                 &sum->input.left_buffers,
                                 &sum->input.left_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        code_u64(c, numbers[i]);
    code_bool(c, &sum->has_captures);
    code_bool(c, &sum->input.has_items);
    code_bool(c, &sum->input.lacks_start);
    if (!c->writes)
        c->is_bad |= sum->first_ns > sum->last_ns;
}

/* Returns the number of devices with a smaller id. Devices are stored by this rank, because a
 * black box has them in no fixed order. */
static size_t rank_of_device(const struct tts_levels *levels, size_t idx)
{
    size_t rank = 0;
    for (uint32_t i = 0; i < levels->device_count; i++)
        rank += levels->devices[i].id < levels->devices[idx].id;
    return rank;
}

static void store_levels(struct coder *c, const struct tts_levels *levels)
{
    uint32_t by_rank[TTS_FOLD_DEVICES_MAX];
    size_t count = levels->device_count;
    code_count(c, &count, TTS_FOLD_DEVICES_MAX);
    for (uint32_t i = 0; i < count; i++)
        by_rank[rank_of_device(levels, i)] = i;
    for (size_t i = 0; i < count; i++) {
        struct tts_device_level device = levels->devices[by_rank[i]];
        uint64_t mesh = device.mesh > 0 ? rank_of_device(levels, device.mesh - 1U) + 1 : 0;
        code_u32(c, &device.id);
        code_u64(c, &mesh);
    }
}

static void load_levels(struct coder *c, struct tts_levels *levels)
{
    size_t count = 0;
    code_count(c, &count, TTS_FOLD_DEVICES_MAX);
    levels->device_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        uint64_t mesh = 0;
        code_u32(c, &levels->devices[i].id);
        code_up_to(c, &mesh, count);
        levels->devices[i].mesh = (uint16_t)mesh;
    }
}

static void code_phase(struct coder *c, struct tts_summary_phase *phase, const char **name)
{
    code_text(c, name);
    code_u32(c, &phase->capture);
    code_bool(c, &phase->is_partial);
    code_bool(c, &phase->core_is_known);
    code_bool(c, &phase->core_is_at_least);
    code_u64(c, &phase->first_seq);
    code_u64(c, &phase->last_seq);
    code_usage(c, &phase->dram);
    code_i64(c, &phase->peak_cb_bytes);
    code_i64(c, &phase->peak_buffer_bytes);
    code_i64(c, &phase->peak_total_bytes);
    code_u64(c, &phase->core_bytes);
}

/* ---- storing ---- */

static void store_phases(struct coder *c, struct tts_eventsummary *sum)
{
    code_count(c, &sum->phase_count, TTS_SUMMARY_PHASES_MAX);
    for (size_t i = 0; i < sum->phase_count; i++) {
        const char *name = tts_eventsummary_phase_name(sum, &sum->phases[i]);
        code_phase(c, &sum->phases[i], &name);
    }
}

static void store_devices(struct coder *c, const struct tts_phase *whole)
{
    size_t count = whole->device_count;
    code_count(c, &count, TTS_FOLD_DEVICES_MAX);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = whole->devices[i].device;
        code_u32(c, &id);
    }
}

static enum tts_status store_summary(struct coder *c, struct tts_eventscan *scan,
                                     struct tts_error *err)
{
    struct tts_eventsummary *sum = scan->sum;
    struct tts_core_part parts[TTS_CORE_PARTS_MAX];
    uint64_t version = VERSION;
    enum tts_status status = TTS_OK;
    code_u64(c, &version);
    code_u64(c, &sum->event.seq);
    for (int i = 0; status == TTS_OK && i < TTS_POOLS; i++) {
        status = tts_eventscan_finish_pool(scan, (enum tts_pool)i);
        if (status == TTS_OK)
            code_peak(c, sum);
    }
    if (status == TTS_OK)
        status = tts_eventscan_finish_whole(scan, err);
    if (status != TTS_OK)
        return status;
    struct tts_phase whole = *sum->whole;
    code_facts(c, sum);
    store_levels(c, &sum->levels);
    code_whole(c, &whole, parts);
    store_devices(c, &whole);
    store_phases(c, sum);
    return c->is_bad ? TTS_E_NOMEM : TTS_OK;
}

enum tts_status tts_eventfigures_store(struct tts_eventscan *scan, unsigned char **bytes,
                                       size_t *len, struct tts_error *err)
{
    const struct tts_alloc *alloc = scan->alloc;
    struct coder c = {.alloc = alloc, .sum = scan->sum, .writes = true};
    unsigned char *kept = NULL;
    *len = 0;
    if (scan->sum->failure_count > 0)
        return TTS_OK; /* not stored, because a refused request is rare and its data long:
                          `show` reads the events instead */
    enum tts_status status = store_summary(&c, scan, err);
    bool is_wanted = status == TTS_OK && c.len <= TTS_RECPACK_FIGURES_MAX;
    if (is_wanted)
        kept = alloc->resize(alloc->ctx, c.bytes, c.capacity, c.len);
    if (c.bytes && !kept)
        alloc->free(alloc->ctx, c.bytes, c.capacity);
    if (status != TTS_OK || (is_wanted && !kept))
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    if (is_wanted) {
        *bytes = kept;
        *len = c.len;
    }
    return TTS_OK;
}

/* ---- loading ---- */

static void load_devices(struct coder *c, struct tts_eventfigures *stored)
{
    size_t count = 0, capacity = 0;
    code_count(c, &count, TTS_FOLD_DEVICES_MAX);
    if (count == 0 || c->is_bad)
        return;
    stored->devices = tts_alloc_grow(c->alloc, NULL, &capacity, count, sizeof *stored->devices);
    stored->device_count = stored->devices ? capacity : 0;
    c->is_bad |= !stored->devices;
    for (size_t i = 0; !c->is_bad && i < count; i++) {
        memset(&stored->devices[i], 0, sizeof stored->devices[i]);
        code_u32(c, &stored->devices[i].device);
    }
    stored->whole.devices = stored->devices;
    stored->whole.device_count = count;
}

static void load_phases(struct coder *c, struct tts_eventsummary *sum)
{
    size_t count = 0;
    code_count(c, &count, TTS_SUMMARY_PHASES_MAX);
    for (size_t i = 0; !c->is_bad && i < count; i++) {
        const char *name = NULL;
        struct tts_summary_phase phase = {0};
        code_phase(c, &phase, &name);
        if (c->is_bad || !name || !tts_eventsummary_add_phase(sum, &phase, name))
            c->is_bad = true;
    }
}

/* Loads the summary of `pool` and skips the other pools. */
static void load_pools(struct coder *c, struct tts_eventsummary *sum, enum tts_pool pool)
{
    struct tts_eventsummary *other = c->alloc->alloc(c->alloc->ctx, sizeof *other);
    c->is_bad |= !other;
    for (int i = 0; !c->is_bad && i < TTS_POOLS; i++) {
        struct tts_eventsummary *to = i == (int)pool ? sum : other;
        *other = (struct tts_eventsummary){.alloc = c->alloc};
        code_peak(c, to);
        c->is_bad |= to->peak_info.pool != (enum tts_pool)i;
        tts_eventsummary_release(other);
    }
    if (other)
        c->alloc->free(c->alloc->ctx, other, sizeof *other);
}

/* Cuts the list to `top` rows. Returns false if the list has fewer rows although there are
 * `all`. */
static bool cut_best(struct tts_best *best, uint64_t all, size_t top)
{
    if (best->count < all && (top == 0 || top > best->count))
        return false;
    if (top > 0 && top < best->count)
        best->count = top;
    return true;
}

static bool load_summary(struct tts_eventsummary *sum, uint64_t seq,
                         const struct tts_eventscan_config *config)
{
    struct tts_eventfigures *stored = sum->stored;
    struct coder c = {.alloc = sum->alloc, .bytes = stored->bytes, .len = stored->len};
    struct tts_summary_moment *moment = &sum->peak_moment;
    size_t top = config->top;
    uint64_t version = 0;
    code_u64(&c, &version);
    code_u64(&c, &sum->event.seq);
    if (c.is_bad || version != VERSION || sum->event.seq != seq)
        return false;
    load_pools(&c, sum, config->pool);
    code_facts(&c, sum);
    load_levels(&c, &sum->levels);
    code_whole(&c, &stored->whole, stored->parts);
    load_devices(&c, stored);
    load_phases(&c, sum);
    stored->whole.name = TTS_FOLLOW_WHOLE;
    sum->whole = &stored->whole;
    sum->has_event = true;
    return !c.is_bad && c.at == c.len && cut_best(&moment->largest, moment->buffers, top) &&
           cut_best(&moment->by_op, moment->op_count, top) &&
           cut_best(&sum->top_ops, sum->op_count, top);
}

/* Copies the bytes. Returns NULL if there is no memory. */
static struct tts_eventfigures *copy_figures(const struct tts_alloc *alloc,
                                             const unsigned char *bytes, size_t len)
{
    struct tts_eventfigures *stored = alloc->alloc(alloc->ctx, sizeof *stored);
    unsigned char *copy = stored ? alloc->alloc(alloc->ctx, len) : NULL;
    if (!copy) {
        if (stored)
            alloc->free(alloc->ctx, stored, sizeof *stored);
        return NULL;
    }
    memset(stored, 0, sizeof *stored);
    stored->bytes = memcpy(copy, bytes, len);
    stored->len = len;
    return stored;
}

bool tts_eventfigures_load(struct tts_eventsummary *sum, const unsigned char *bytes, size_t len,
                           uint64_t seq, const struct tts_eventscan_config *config)
{
    const struct tts_alloc *alloc = sum->alloc;
    struct tts_eventsummary *fresh = alloc->alloc(alloc->ctx, sizeof *fresh);
    if (!fresh)
        return false;
    *fresh = (struct tts_eventsummary){.alloc = alloc, .follow = sum->follow};
    fresh->stored = copy_figures(alloc, bytes, len);
    bool is_loaded = fresh->stored && load_summary(fresh, seq, config);
    if (is_loaded) {
        tts_eventsummary_release(sum);
        *sum = *fresh;
    } else {
        tts_eventsummary_release(fresh);
    }
    alloc->free(alloc->ctx, fresh, sizeof *fresh);
    return is_loaded;
}

void tts_eventfigures_free(struct tts_eventfigures *stored, const struct tts_alloc *alloc)
{
    if (!stored)
        return;
    alloc->free(alloc->ctx, stored->bytes, stored->len);
    if (stored->devices)
        alloc->free(alloc->ctx, stored->devices,
                    stored->device_count * sizeof *stored->devices);
    alloc->free(alloc->ctx, stored, sizeof *stored);
}

void tts_eventfigures_path(const struct tts_eventfigures *stored, const char *op,
                           char out[TTS_SUMMARY_PATH_BYTES])
{
    uintptr_t from = (uintptr_t)stored->bytes, at = (uintptr_t)op;
    bool is_stored = at >= from && at < from + stored->len;
    snprintf(out, TTS_SUMMARY_PATH_BYTES, "%s", is_stored ? op + strlen(op) + 1 : op);
}
