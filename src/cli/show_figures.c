/* show_figures.c: the answers of show as bytes, stored after the index of a packed recording
 * (docs/design/recording.md), and back. One description of each struct serves both ways.
 *
 * Raise VERSION with every change of what is stored or of how an answer is computed: a reader
 * of another version reads the events. */
#include "base/error.h"
#include "base/heap.h"
#include "cli/show_parts.h"
#include "model/recpack.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 2 };

/* What was taken from a file. */
struct tts_show_stored {
    unsigned char *bytes; /* texts lie in them */
    size_t len;
    struct tts_phase whole;
    struct tts_device_usage *devices;
    size_t device_count;
    struct tts_core_part parts[TTS_CORE_PARTS_MAX];
};

/* ---- values ---- */

struct coder {
    const struct tts_alloc *alloc;
    const struct tts_show *show; /* writing: has the paths of operations */
    bool writes;
    bool is_bad; /* writing: no memory; reading: the bytes cannot be */
    unsigned char *bytes;
    size_t len, capacity; /* of what is written; what there is to read */
    size_t at;            /* reading */
};

static void put_byte(struct coder *c, unsigned byte)
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

static unsigned get_byte(struct coder *c)
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
            put_byte(c, (unsigned)(rest & 127) | 128);
        put_byte(c, (unsigned)rest);
        return;
    }
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned byte = get_byte(c);
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return;
    }
    c->is_bad = true;
}

/* A number of at most `most`. */
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
    if (!c->writes && *count > c->len - c->at) { /* each takes a byte at least */
        c->is_bad = true;
        *count = 0;
    }
}

/* A number of things that are not all stored. */
static void code_size(struct coder *c, size_t *size)
{
    uint64_t number = *size;
    code_up_to(c, &number, SIZE_MAX);
    *size = (size_t)number;
}

/* NULL has the length 0, others one more than they have; a terminator follows. */
static void code_text(struct coder *c, const char **text)
{
    size_t len = *text ? strlen(*text) + 1 : 0;
    code_count(c, &len, SIZE_MAX);
    if (c->writes) {
        for (size_t i = 0; i < len; i++)
            put_byte(c, (unsigned char)(*text)[i]);
        return;
    }
    *text = len > 0 ? (const char *)c->bytes + c->at : NULL;
    c->at += len;
    if (len > 0 && memchr(*text, '\0', len) != *text + len - 1) {
        c->is_bad = true;
        *text = NULL;
    }
}

/* An operation and its path. Two texts in one, each with its terminator: the path of an
 * operation that was loaded stands after its name. */
static void code_op(struct coder *c, const char **op)
{
    size_t len = 0, name_bytes = 0, path_bytes = 0;
    char path[TTS_SHOW_PATH_BYTES];
    if (c->writes && *op) {
        name_bytes = strlen(*op) + 1;
        path_bytes = strlen(tts_show_path(c->show, *op, path)) + 1;
        len = name_bytes + path_bytes;
    }
    code_count(c, &len, TTS_SHOW_OP_BYTES + TTS_SHOW_PATH_BYTES);
    if (c->writes) {
        for (size_t i = 0; i < name_bytes; i++)
            put_byte(c, (unsigned char)(*op)[i]);
        for (size_t i = 0; i < path_bytes; i++)
            put_byte(c, (unsigned char)path[i]);
        return;
    }
    const char *name = (const char *)c->bytes + c->at;
    const char *end = len > 0 ? memchr(name, '\0', len) : NULL;
    const char *rest = end ? end + 1 : NULL;
    *op = len > 0 ? name : NULL;
    c->at += len;
    if (len > 0 && (!end || end - name >= TTS_SHOW_OP_BYTES || rest == name + len ||
                    name + len - rest > TTS_SHOW_PATH_BYTES ||
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

/* Rows of a list, sorted already. */
static void code_best(struct coder *c, struct tts_best *best, size_t item_bytes,
                      void (*code)(struct coder *c, void *item))
{
    size_t count = best->count;
    code_count(c, &count, TTS_SHOW_STORED_TOP);
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

/* Returns true if no list is longer than what it is a part of, and each buffer is of the pool
 * of its list. */
static bool has_good_lists(const struct tts_show *show)
{
    const struct tts_show_moment *moment = &show->peak_moment;
    const struct tts_live *largest = moment->largest.items;
    for (size_t i = 0; i < moment->largest.count; i++)
        if (largest[i].pool != moment->pool)
            return false;
    return moment->largest.count <= moment->buffers &&
           moment->by_op.count <= moment->op_count && show->top_ops.count <= show->op_count;
}

static void code_peak(struct coder *c, struct tts_show *show)
{
    struct tts_peak_info *info = &show->peak_info;
    struct tts_show_moment *moment = &show->peak_moment;
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
    code_size(c, &show->op_count);
    code_best(c, &show->top_ops, sizeof(struct tts_op_row), code_row);
    moment->pool = info->pool;
    moment->level = info->level;
    if (!c->writes)
        c->is_bad |= !has_good_lists(show);
}

static void code_facts(struct coder *c, struct tts_show *show)
{
    uint64_t *const numbers[] = {&show->event.seq,
                                 &show->pass.events,
                                 &show->first_seq,
                                 &show->restored_buffers,
                                 &show->restored_dram,
                                 &show->first_ns,
                                 &show->last_ns,
                                 &show->phases_unlisted,
                                 &show->health.events,
                                 &show->health.dropped,
                                 &show->health.unlisted,
                                 &show->health.unseen_frees,
                                 &show->health.unknown_frees,
                                 &show->health.doubled,
                                 &show->health.refused,
                                 &show->partial.missed,
                                 &show->partial.left_buffers,
                                 &show->partial.left_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        code_u64(c, numbers[i]);
    code_bool(c, &show->has_captures);
    code_bool(c, &show->partial.has_items);
    code_bool(c, &show->partial.lacks_start);
    if (!c->writes)
        c->is_bad |= show->first_ns > show->last_ns;
}

/* How many devices have a smaller id. Devices of a black box come in no order. */
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

static void code_phase(struct coder *c, struct tts_show_phase *phase, const char **name)
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

static void store_phases(struct coder *c, struct tts_show *show)
{
    code_count(c, &show->phase_count, TTS_SHOW_PHASES_MAX);
    for (size_t i = 0; i < show->phase_count; i++) {
        const char *name = tts_show_phase_name(show, &show->phases[i]);
        code_phase(c, &show->phases[i], &name);
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

static void release_pool(struct tts_show *show)
{
    tts_show_moment_release(&show->peak_moment);
    tts_best_release(&show->top_ops);
}

/* Each pool in turn as if it had been asked for. */
static enum tts_status store_pools(struct coder *c, struct tts_show *show)
{
    enum tts_pool asked = show->options.pool;
    enum tts_status status = TTS_OK;
    for (int i = 0; status == TTS_OK && i < TTS_POOLS; i++) {
        show->options.pool = (enum tts_pool)i;
        show->peak = show->peaks[i];
        show->ops = show->ops_of[i];
        release_pool(show);
        status = tts_show_finish_pool(show);
        if (status == TTS_OK)
            code_peak(c, show);
    }
    show->options.pool = asked;
    show->peak = show->peaks[asked];
    show->ops = show->ops_of[asked];
    return status;
}

enum tts_status tts_show_store(struct tts_show *show, unsigned char **bytes, size_t *len,
                               struct tts_error *err)
{
    struct coder c = {.alloc = show->alloc, .show = show, .writes = true};
    struct tts_core_part parts[TTS_CORE_PARTS_MAX];
    uint64_t version = VERSION;
    *len = 0;
    *bytes = NULL;
    if (show->failure_count > 0 || show->partial.refused > 0 || tts_show_is_damaged(show))
        return TTS_OK; /* rare and long: show reads the events */
    code_u64(&c, &version);
    enum tts_status status = store_pools(&c, show);
    if (status == TTS_OK)
        status = tts_follow_end(show->follow, &show->whole, err);
    if (status != TTS_OK || show->is_out_of_memory)
        c.is_bad = true;
    if (!c.is_bad) {
        struct tts_phase whole = *show->whole;
        tts_fold_health(tts_follow_fold(show->follow), &show->health);
        code_facts(&c, show);
        store_levels(&c, &show->levels);
        code_whole(&c, &whole, parts);
        store_devices(&c, &whole);
        store_phases(&c, show);
    }
    bool is_wanted = !c.is_bad && c.len <= TTS_RECPACK_FIGURES_MAX;
    if (!is_wanted && c.bytes)
        c.alloc->free(c.alloc->ctx, c.bytes, c.capacity);
    if (c.is_bad)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    if (!is_wanted)
        return TTS_OK;
    *bytes = c.alloc->resize(c.alloc->ctx, c.bytes, c.capacity, c.len);
    if (!*bytes) {
        c.alloc->free(c.alloc->ctx, c.bytes, c.capacity);
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    }
    *len = c.len;
    return TTS_OK;
}

/* ---- loading ---- */

static void load_devices(struct coder *c, struct tts_show_stored *stored)
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

static void load_phases(struct coder *c, struct tts_show *show)
{
    size_t count = 0;
    code_count(c, &count, TTS_SHOW_PHASES_MAX);
    for (size_t i = 0; !c->is_bad && i < count; i++) {
        const char *name = NULL;
        struct tts_show_phase phase = {0};
        code_phase(c, &phase, &name);
        if (c->is_bad || !name || !tts_show_add_phase(show, &phase, name))
            c->is_bad = true;
    }
}

/* The pool that was asked for; the others are passed over. */
static void load_pools(struct coder *c, struct tts_show *show)
{
    struct tts_show *other = c->alloc->alloc(c->alloc->ctx, sizeof *other);
    c->is_bad |= !other;
    for (int i = 0; !c->is_bad && i < TTS_POOLS; i++) {
        bool is_asked = i == (int)show->options.pool;
        memset(other, 0, sizeof *other);
        code_peak(c, is_asked ? show : other);
        c->is_bad |= (is_asked ? show : other)->peak_info.pool != (enum tts_pool)i;
        release_pool(other);
    }
    if (other)
        c->alloc->free(c->alloc->ctx, other, sizeof *other);
}

/* The first rows that were asked for. Returns false if there are too few. */
static bool cut_best(struct tts_best *best, uint64_t all, size_t top)
{
    if (best->count < all && (top == 0 || top > best->count))
        return false;
    if (top > 0 && top < best->count)
        best->count = top;
    return true;
}

static bool load_all(struct tts_show *show, struct tts_show_stored *stored)
{
    struct coder c = {.alloc = show->alloc, .bytes = stored->bytes, .len = stored->len};
    struct tts_show_moment *moment = &show->peak_moment;
    uint64_t version = 0;
    size_t top = show->options.top;
    code_u64(&c, &version);
    if (c.is_bad || version != VERSION)
        return false;
    load_pools(&c, show);
    code_facts(&c, show);
    load_levels(&c, &show->levels);
    code_whole(&c, &stored->whole, stored->parts);
    load_devices(&c, stored);
    load_phases(&c, show);
    return !c.is_bad && c.at == c.len && cut_best(&moment->largest, moment->buffers, top) &&
           cut_best(&moment->by_op, moment->op_count, top) &&
           cut_best(&show->top_ops, show->op_count, top);
}

/* Nothing stays of what was loaded. */
static void forget_answers(struct tts_show *show)
{
    release_pool(show);
    show->phase_count = show->names_len = 0;
    show->phases_unlisted = 0;
    show->has_captures = false;
    show->event.seq = show->pass.events = show->first_seq = 0;
    show->restored_buffers = show->restored_dram = 0;
    show->first_ns = show->last_ns = 0;
    show->partial = (struct tts_partial){0};
    show->whole = NULL;
    show->has_event = false;
    memset(&show->levels, 0, sizeof show->levels);
}

static struct tts_show_stored *copy_bytes(struct tts_show *show, const unsigned char *bytes,
                                          size_t len)
{
    const struct tts_alloc *alloc = show->alloc;
    struct tts_show_stored *stored = alloc->alloc(alloc->ctx, sizeof *stored);
    if (!stored)
        return NULL;
    memset(stored, 0, sizeof *stored);
    show->stored = stored;
    stored->bytes = alloc->alloc(alloc->ctx, len);
    if (!stored->bytes) {
        tts_show_unload(show);
        return NULL;
    }
    stored->len = len;
    memcpy(stored->bytes, bytes, len);
    return stored;
}

bool tts_show_load_bytes(struct tts_show *show, const unsigned char *bytes, size_t len)
{
    struct tts_show_stored *stored = copy_bytes(show, bytes, len);
    if (!stored)
        return false;
    if (!load_all(show, stored)) {
        tts_show_unload(show);
        return false;
    }
    stored->whole.name = TTS_FOLLOW_WHOLE;
    show->whole = &stored->whole;
    show->has_event = true;
    return true;
}

bool tts_show_load(struct tts_show *show)
{
    struct tts_recfile *recording = tts_eventfile_recording(show->file);
    const unsigned char *bytes;
    size_t len;
    uint64_t seq;
    if (show->options.at > 0 || !recording ||
        !tts_recfile_figures(recording, &bytes, &len, &seq) || len == 0 ||
        !tts_show_load_bytes(show, bytes, len))
        return false;
    if (show->event.seq == seq)
        return true;
    tts_show_unload(show);
    return false;
}

void tts_show_stored_path(const struct tts_show *show, const char *op,
                          char out[TTS_SHOW_PATH_BYTES])
{
    const struct tts_show_stored *stored = show->stored;
    uintptr_t from = (uintptr_t)stored->bytes, at = (uintptr_t)op;
    bool is_stored = at >= from && at < from + stored->len;
    snprintf(out, TTS_SHOW_PATH_BYTES, "%s", is_stored ? op + strlen(op) + 1 : op);
}

void tts_show_unload(struct tts_show *show)
{
    struct tts_show_stored *stored = show->stored;
    if (!stored)
        return;
    forget_answers(show);
    if (stored->bytes)
        show->alloc->free(show->alloc->ctx, stored->bytes, stored->len);
    if (stored->devices)
        show->alloc->free(show->alloc->ctx, stored->devices,
                          stored->device_count * sizeof *stored->devices);
    show->alloc->free(show->alloc->ctx, stored, sizeof *stored);
    show->stored = NULL;
}
