#include "analysis/eventsummary.h"

#include "base/error.h"
#include "base/heap.h"
#include "model/opnames.h"
#include "model/recording/recpack.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- the data of a loaded summary ---- */

/* Data decoded from a file. */
struct tts_summary_stored {
    unsigned char *bytes; /* a copy of the encoded bytes, which contains the texts */
    size_t len;
    struct tts_phase whole;
    struct tts_device_usage *devices;
    size_t device_count;
    struct tts_core_part parts[TTS_CORE_PARTS_MAX];
};

static void free_stored(struct tts_summary_stored *stored, const struct tts_alloc *alloc)
{
    if (!stored)
        return;
    alloc->free(alloc->ctx, stored->bytes, stored->len);
    if (stored->devices)
        alloc->free(alloc->ctx, stored->devices,
                    stored->device_count * sizeof *stored->devices);
    alloc->free(alloc->ctx, stored, sizeof *stored);
}

static void copy_stored_path(const struct tts_summary_stored *stored, const char *op,
                             char out[TTS_SUMMARY_PATH_BYTES])
{
    uintptr_t from = (uintptr_t)stored->bytes, at = (uintptr_t)op;
    bool is_stored = at >= from && at < from + stored->len;
    snprintf(out, TTS_SUMMARY_PATH_BYTES, "%s", is_stored ? op + strlen(op) + 1 : op);
}

/* ---- the answers ---- */

static void release_summary_moment(struct tts_summary_moment *moment)
{
    tts_best_release(&moment->largest);
    tts_best_release(&moment->by_op);
}

static void free_array(const struct tts_eventsummary *sum, void *items, size_t bytes)
{
    if (items)
        sum->alloc->free(sum->alloc->ctx, items, bytes);
}

void tts_eventsummary_release(struct tts_eventsummary *sum)
{
    free_array(sum, sum->phases, sum->phase_capacity * sizeof *sum->phases);
    free_array(sum, sum->names, sum->names_capacity);
    free_array(sum, sum->failures, sum->failure_capacity * sizeof *sum->failures);
    release_summary_moment(&sum->peak_moment);
    release_summary_moment(&sum->failure_moment);
    release_summary_moment(&sum->at_moment);
    tts_best_release(&sum->top_ops);
    free_stored(sum->stored, sum->alloc);
    *sum = (struct tts_eventsummary){.alloc = sum->alloc};
}

static bool keep_name(struct tts_eventsummary *sum, const char *name)
{
    size_t bytes = strlen(name) + 1;
    char *names =
        tts_alloc_grow(sum->alloc, sum->names, &sum->names_capacity, sum->names_len + bytes, 1);
    if (!names)
        return false;
    sum->names = names;
    memcpy(names + sum->names_len, name, bytes);
    sum->names_len += bytes;
    return true;
}

static bool add_summary_phase(struct tts_eventsummary *sum,
                              const struct tts_summary_phase *phase, const char *name)
{
    size_t name_at = sum->names_len;
    struct tts_summary_phase *phases = tts_alloc_grow(
        sum->alloc, sum->phases, &sum->phase_capacity, sum->phase_count + 1, sizeof *phases);
    if (phases)
        sum->phases = phases;
    if (!phases || !keep_name(sum, name))
        return false;
    phases[sum->phase_count] = *phase;
    phases[sum->phase_count++].name_at = name_at;
    return true;
}

/* ---- queries ---- */

const char *tts_eventsummary_phase_name(const struct tts_eventsummary *sum,
                                        const struct tts_summary_phase *phase)
{
    return sum->names + phase->name_at;
}

const struct tts_summary_phase *tts_eventsummary_phase_of(const struct tts_eventsummary *sum,
                                                          uint64_t seq)
{
    const struct tts_summary_phase *best = NULL;
    for (size_t i = 0; i < sum->phase_count; i++) {
        const struct tts_summary_phase *at = &sum->phases[i];
        if (seq <= at->first_seq || seq > at->last_seq)
            continue;
        if (!best || at->last_seq - at->first_seq < best->last_seq - best->first_seq)
            best = at;
    }
    return best;
}

int64_t tts_eventsummary_dram_peak(const struct tts_eventsummary *sum)
{
    uint64_t peak = (uint64_t)sum->whole->usage.pools[TTS_POOL_DRAM].peak_bytes;
    return (int64_t)(peak + sum->restored_dram);
}

int64_t tts_eventsummary_dram_final(const struct tts_eventsummary *sum)
{
    uint64_t current =
        (uint64_t)sum->whole->usage.pools[TTS_POOL_DRAM].cumulative_current_bytes;
    return (int64_t)(current + sum->restored_dram);
}

const char *tts_eventsummary_path(const struct tts_eventsummary *sum, const char *op,
                                  char out[TTS_SUMMARY_PATH_BYTES])
{
    if (sum->stored)
        copy_stored_path(sum->stored, op, out);
    else
        tts_follow_path(sum->follow, op, out, TTS_SUMMARY_PATH_BYTES);
    return out;
}

const char *tts_summary_op_name(const struct tts_summary_op *op)
{
    return op->copy[0] != '\0' ? op->copy : op->known;
}

bool tts_eventsummary_mesh_of(const struct tts_eventsummary *sum, uint32_t device,
                              uint32_t *mesh)
{
    const struct tts_levels *levels = &sum->levels;
    for (uint32_t i = 0; i < levels->device_count; i++) {
        const struct tts_device_level *at = &levels->devices[i];
        if (at->id != device || at->mesh == 0)
            continue;
        *mesh = levels->devices[at->mesh - 1].id;
        return true;
    }
    return false;
}

/* ---- the phases of a scan ---- */

static struct tts_eventscan_capture *scan_capture_of(struct tts_eventscan *scan,
                                                     uint32_t number)
{
    for (int i = 0; i < TTS_FOLLOW_CAPTURES_MAX; i++)
        if (scan->captures[i].number == number)
            return &scan->captures[i];
    return NULL;
}

/* Begins a capture. Reuses the entry of a capture that has ended, because only active captures
 * are needed. */
static void begin_scan_capture(struct tts_eventscan *scan, const struct tts_item *item)
{
    struct tts_eventscan_capture *capture = scan_capture_of(scan, item->capture);
    if (!capture)
        capture = scan_capture_of(scan, 0);
    if (capture)
        *capture = (struct tts_eventscan_capture){item->capture, item->seq};
}

static void end_scan_capture(struct tts_eventscan *scan, const struct tts_item *item)
{
    struct tts_eventscan_capture *capture = scan_capture_of(scan, item->capture);
    if (capture)
        capture->number = 0;
}

static struct tts_summary_phase summarize_phase(const struct tts_phase *phase)
{
    const struct tts_usage *usage = &phase->usage;
    return (struct tts_summary_phase){
        .dram = usage->pools[TTS_POOL_DRAM],
        .peak_cb_bytes = usage->peak_cb_bytes,
        .peak_buffer_bytes = usage->pools[TTS_POOL_L1].peak_bytes,
        .peak_total_bytes = usage->peak_total_bytes,
        .core_is_known = usage->core.known,
        .core_is_at_least = usage->core.at_least,
        .core_bytes = usage->core.bytes,
    };
}

static void add_scan_phase(void *ctx, uint32_t number, const struct tts_phase *phase,
                           bool is_partial)
{
    struct tts_eventscan *scan = ctx;
    struct tts_eventsummary *sum = scan->sum;
    struct tts_summary_phase kept = summarize_phase(phase);
    struct tts_eventscan_capture *capture = scan_capture_of(scan, number);
    kept.capture = number;
    kept.is_partial = is_partial;
    kept.first_seq = capture ? capture->since : sum->first_seq;
    kept.last_seq = scan->item_seq;
    if (capture)
        capture->since = scan->item_seq;
    if (sum->phase_count == TTS_SUMMARY_PHASES_MAX) {
        sum->phases_unlisted++;
        return;
    }
    if (!add_summary_phase(sum, &kept, phase->name))
        scan->is_out_of_memory = true;
    sum->has_captures |= sum->phase_count > 0 && sum->phases[0].capture != number;
}

/* ---- creation and release of a scan ---- */

/* Passes a change to the pools that the scan follows. */
static enum tts_status take_scan_change(struct tts_eventscan *scan, const struct tts_item *item,
                                        const struct tts_change *change)
{
    struct tts_eventsummary *sum = scan->sum;
    enum tts_status status = TTS_OK;
    tts_levels_change(&sum->levels, change);
    if (change->has_come && change->is_restored) {
        sum->restored_buffers++;
        if (change->came.pool == TTS_POOL_DRAM)
            sum->restored_dram += change->came.size_bytes;
    }
    if (scan->config.follows_traces)
        tts_tracescan_item(&scan->traces, item, change);
    if (scan->growing.rule.interval_ns > 0)
        tts_growscan_item(&scan->growing, item, change);
    if (scan->leaks)
        status = tts_leakscan_change(scan->leaks, change, item->has_time ? item->time_ns : 0);
    for (int i = 0; status == TTS_OK && scan->config.at == 0 && i < TTS_POOLS; i++) {
        if (!scan->peaks[i])
            continue;
        status = tts_peak_change(scan->peaks[i], item, change, &sum->levels);
        if (status == TTS_OK)
            status = tts_ops_change(scan->ops[i], change);
    }
    return status;
}

enum tts_status tts_eventscan_init(struct tts_eventscan *scan,
                                   const struct tts_eventscan_config *config,
                                   const struct tts_alloc *alloc, struct tts_eventsummary *sum,
                                   struct tts_error *err)
{
    struct tts_follow_config follow = {
        .on_phase = add_scan_phase, .keeps_paths = true, .ctx = scan};
    alloc = alloc ? alloc : tts_alloc_libc();
    *scan = (struct tts_eventscan){
        .config = *config, .sum = sum, .alloc = alloc, .growing.rule = config->growing};
    *sum = (struct tts_eventsummary){.alloc = alloc};
    enum tts_status status = tts_follow_new(&follow, alloc, &scan->follow, err);
    for (int i = 0; status == TTS_OK && i < TTS_POOLS; i++) {
        enum tts_pool pool = (enum tts_pool)i;
        if (!config->keeps_all && pool != config->pool)
            continue;
        status = tts_peak_new(pool, alloc, &scan->peaks[i]);
        if (status == TTS_OK)
            status = tts_ops_new(pool, alloc, &scan->ops[i]);
    }
    if (status == TTS_OK && config->finds_leaks)
        status = tts_leakscan_new(alloc, &scan->leaks);
    sum->follow = scan->follow;
    return status == TTS_OK ? TTS_OK : tts_error_set(err, status, TTS_TEXT_NOMEM);
}

void tts_eventscan_release(struct tts_eventscan *scan)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        tts_peak_free(scan->peaks[i]);
        tts_ops_free(scan->ops[i]);
    }
    tts_ops_free(scan->failure_ops);
    tts_leakscan_free(scan->leaks);
    tts_follow_free(scan->follow);
    *scan = (struct tts_eventscan){0};
}

/* ---- moments ---- */

static bool is_larger_live(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct tts_live *x = a, *y = b;
    uint64_t bytes = tts_live_bytes(x), other = tts_live_bytes(y);
    if (bytes != other)
        return bytes > other;
    if (x->seq != y->seq)
        return x->seq < y->seq;
    return x->id != y->id ? x->id < y->id : x->device < y->device;
}

static bool op_had_more(const void *ctx, const void *a, const void *b)
{
    const struct tts_op_row *x = a, *y = b;
    return x->moment_bytes != y->moment_bytes ? x->moment_bytes > y->moment_bytes
                                              : tts_op_row_precedes(ctx, x, y);
}

static bool op_allocated_more(const void *ctx, const void *a, const void *b)
{
    const struct tts_op_row *x = a, *y = b;
    return x->allocated_bytes != y->allocated_bytes ? x->allocated_bytes > y->allocated_bytes
                                                    : tts_op_row_precedes(ctx, x, y);
}

struct filling {
    struct tts_summary_moment *moment;
    struct tts_ops *ops;
};

static enum tts_status add_moment_live(void *ctx, const struct tts_live *live)
{
    struct filling *filling = ctx;
    struct tts_summary_moment *moment = filling->moment;
    enum tts_status status = tts_ops_moment(filling->ops, live);
    moment->buffers++;
    moment->bytes += tts_live_bytes(live);
    return status == TTS_OK ? tts_best_add(&moment->largest, live) : status;
}

static void begin_moment(struct tts_summary_moment *moment, const struct tts_eventscan *scan,
                         enum tts_pool pool, struct tts_level level)
{
    size_t top = scan->config.top;
    *moment = (struct tts_summary_moment){.pool = pool, .level = level};
    tts_best_init(&moment->largest, top, sizeof(struct tts_live), is_larger_live, NULL,
                  scan->alloc);
    tts_best_init(&moment->by_op, top, sizeof(struct tts_op_row), op_had_more, scan->follow,
                  scan->alloc);
}

static enum tts_status end_moment(struct tts_summary_moment *moment, const struct tts_ops *ops)
{
    const struct tts_op_row *row;
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && (row = tts_ops_at(ops, i)) != NULL; i++) {
        if (row->moment_buffers == 0)
            continue;
        moment->op_count++;
        status = tts_best_add(&moment->by_op, row);
    }
    tts_best_sort(&moment->by_op);
    tts_best_sort(&moment->largest);
    return status;
}

/* Lists the live buffers of the pool of `ops`. The caller has not called tts_ops_moment() for
 * `ops` before. */
static enum tts_status list_moment_now(const struct tts_eventscan *scan,
                                       struct tts_summary_moment *moment, struct tts_ops *ops,
                                       struct tts_level level)
{
    begin_moment(moment, scan, tts_ops_pool(ops), level);
    struct filling filling = {.moment = moment, .ops = ops};
    enum tts_status status = TTS_OK;
    struct tts_live live;
    uint32_t cursor = 0;
    while (status == TTS_OK &&
           tts_fold_next_live(tts_follow_fold(scan->follow), &cursor, &live))
        if (live.pool == moment->pool && tts_level_has(&moment->level, &live))
            status = add_moment_live(&filling, &live);
    return status == TTS_OK ? end_moment(moment, ops) : status;
}

/* ---- items ---- */

/* Returns the operation of an item. The event that begins an operation belongs to that
 * operation, although the fold counts it for the operation around it. If the fold has no room
 * for the name, the name of the item is copied. */
static struct tts_summary_op summary_op_of(const struct tts_eventscan *scan,
                                           const struct tts_item *item)
{
    struct tts_summary_op op = {.known = tts_follow_op(scan->follow, item)};
    bool is_begin = item->kind == TTS_ITEM_EVENT && item->event.kind == TTS_EVENT_OP_BEGIN;
    if (!op.known || (op.known != tts_fold_op_other() && !is_begin) || item->op.name_len == 0)
        return op;
    op.copy[tts_opnames_copy(op.copy, item->op.name, item->op.name_len)] = '\0';
    if (strcmp(op.copy, op.known) == 0)
        /* Not needed, because the fold has the name, and its text also identifies the path. */
        op.copy[0] = '\0';
    else
        op.known = NULL;
    return op;
}

/* Counts a refused request. At the first one, lists the live buffers. */
static enum tts_status take_scan_failure(struct tts_eventscan *scan,
                                         const struct tts_item *item)
{
    struct tts_eventsummary *sum = scan->sum;
    enum tts_pool pool = item->event.failure->pool;
    if (sum->failure_count == TTS_SUMMARY_FAILURES_MAX) {
        sum->failures_unlisted++;
        return TTS_OK;
    }
    struct tts_summary_failure *failures =
        tts_alloc_grow(scan->alloc, sum->failures, &sum->failure_capacity,
                       sum->failure_count + 1, sizeof *failures);
    if (!failures)
        return TTS_E_NOMEM;
    sum->failures = failures;
    struct tts_summary_failure *failure = &failures[sum->failure_count++];
    *failure = (struct tts_summary_failure){
        .seq = item->seq,
        .has_time = item->has_time,
        .time_ns = item->time_ns,
        .device = item->event.device,
        .op = summary_op_of(scan, item),
        .failure = *item->event.failure,
        .level = tts_level_listed(tts_levels_of_device(&sum->levels, item->event.device, pool)),
    };
    if (sum->failure_count > 1)
        return TTS_OK;
    enum tts_status status = tts_ops_new(pool, scan->alloc, &scan->failure_ops);
    if (status != TTS_OK)
        return status;
    return list_moment_now(scan, &sum->failure_moment, scan->failure_ops, failure->level);
}

static enum tts_status take_scan_event(struct tts_eventscan *scan, const struct tts_item *item)
{
    struct tts_eventsummary *sum = scan->sum;
    if (!sum->has_event)
        sum->first_seq = item->seq - 1;
    sum->has_event = true;
    sum->event.seq = item->seq;
    if (item->seq == scan->config.at) {
        sum->event.is_known = true;
        sum->event.kind = item->event.kind;
        sum->event.has_time = item->has_time;
        sum->event.time_ns = item->time_ns;
        sum->event.op = summary_op_of(scan, item);
    }
    return item->event.kind == TTS_EVENT_FAILURE && scan->config.at == 0
               ? take_scan_failure(scan, item)
               : TTS_OK;
}

/* Processes an item after the fold. */
static enum tts_status take_scan_item(struct tts_eventscan *scan, const struct tts_item *item)
{
    struct tts_eventsummary *sum = scan->sum;
    if (item->has_time) {
        sum->first_ns = sum->last_ns > 0 ? sum->first_ns : item->time_ns;
        sum->last_ns = item->time_ns;
    }
    if (item->kind == TTS_ITEM_EVENT)
        return take_scan_event(scan, item);
    if (item->kind == TTS_ITEM_BEGIN || item->kind == TTS_ITEM_ACTIVE)
        begin_scan_capture(scan, item);
    else if (item->kind == TTS_ITEM_END)
        end_scan_capture(scan, item);
    return TTS_OK;
}

enum tts_status tts_eventscan_item(struct tts_eventscan *scan, const struct tts_item *item,
                                   struct tts_error *err)
{
    scan->item_seq = item->seq;
    scan->items++;
    struct tts_change change;
    enum tts_status status = tts_follow_change(scan->follow, item, &change, err);
    if (status == TTS_OK)
        status = take_scan_change(scan, item, &change);
    if (status == TTS_OK)
        status = take_scan_item(scan, item);
    return status == TTS_E_NOMEM || scan->is_out_of_memory
               ? tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM)
               : status;
}

/* ---- the end of the scan ---- */

static enum tts_status finish_peak_moment(struct tts_eventscan *scan, enum tts_pool pool)
{
    struct tts_summary_moment *moment = &scan->sum->peak_moment;
    struct filling filling = {.moment = moment, .ops = scan->ops[pool]};
    begin_moment(moment, scan, pool, scan->sum->peak_info.level);
    enum tts_status status =
        tts_peak_each(scan->peaks[pool], scan->follow, add_moment_live, &filling);
    return status == TTS_OK ? end_moment(moment, scan->ops[pool]) : status;
}

static enum tts_status finish_top_ops(struct tts_eventscan *scan, const struct tts_ops *ops)
{
    struct tts_best *top_ops = &scan->sum->top_ops;
    const struct tts_op_row *row;
    enum tts_status status = TTS_OK;
    tts_best_init(top_ops, scan->config.top, sizeof *row, op_allocated_more, scan->follow,
                  scan->alloc);
    for (size_t i = 0; status == TTS_OK && (row = tts_ops_at(ops, i)) != NULL; i++)
        status = tts_best_add(top_ops, row);
    tts_best_sort(top_ops);
    return status;
}

static enum tts_status finish_scan_pool(struct tts_eventscan *scan, enum tts_pool pool)
{
    struct tts_eventsummary *sum = scan->sum;
    release_summary_moment(&sum->peak_moment);
    tts_best_release(&sum->top_ops);
    sum->peak_info = tts_peak_info(scan->peaks[pool]);
    sum->op_count = tts_ops_count(scan->ops[pool]);
    enum tts_status status = finish_peak_moment(scan, pool);
    return status == TTS_OK ? finish_top_ops(scan, scan->ops[pool]) : status;
}

static enum tts_status finish_at_moment(struct tts_eventscan *scan)
{
    enum tts_pool pool = scan->config.pool;
    tts_fold_fullest_core(tts_follow_fold(scan->follow), &scan->sum->at_core,
                          scan->sum->at_parts);
    return list_moment_now(scan, &scan->sum->at_moment, scan->ops[pool],
                           tts_level_listed(tts_levels_of(&scan->sum->levels, pool)));
}

static enum tts_status finish_scan_whole(struct tts_eventscan *scan, struct tts_error *err)
{
    enum tts_status status = tts_follow_end(scan->follow, &scan->sum->whole, err);
    tts_fold_health(tts_follow_fold(scan->follow), &scan->sum->health);
    return status == TTS_OK && !scan->is_out_of_memory
               ? TTS_OK
               : tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
}

enum tts_status tts_eventscan_finish(struct tts_eventscan *scan, struct tts_error *err)
{
    enum tts_status status = scan->config.at > 0 ? finish_at_moment(scan)
                                                 : finish_scan_pool(scan, scan->config.pool);
    if (scan->leaks)
        tts_leakscan_judge(scan->leaks, &scan->sum->leaks);
    if (scan->growing.rule.interval_ns > 0)
        tts_growscan_end(&scan->growing, scan->sum->last_ns);
    scan->sum->growing = scan->growing.found;
    if (scan->config.follows_traces)
        tts_tracescan_end(&scan->traces);
    scan->sum->trace_phases = scan->traces.phases.answer;
    scan->sum->traces = scan->traces.begun + scan->traces.ended;
    return status == TTS_OK ? finish_scan_whole(scan, err)
                            : tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
}

/* ---- the stored form: one function for each struct both encodes and decodes it ---- */

/* Raise VERSION if the stored data changes, or if an answer is computed in another way. Readers
 * of another version then read the events instead. */
enum { VERSION = 2 };

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
    code_count(c, &count, TTS_SUMMARY_STORED_TOP);
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
        status = finish_scan_pool(scan, (enum tts_pool)i);
        if (status == TTS_OK)
            code_peak(c, sum);
    }
    if (status == TTS_OK)
        status = finish_scan_whole(scan, err);
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

enum tts_status tts_eventsummary_store(struct tts_eventscan *scan, unsigned char **bytes,
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
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    if (is_wanted) {
        *bytes = kept;
        *len = c.len;
    }
    return TTS_OK;
}

/* ---- loading ---- */

static void load_devices(struct coder *c, struct tts_summary_stored *stored)
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
        if (c->is_bad || !name || !add_summary_phase(sum, &phase, name))
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
    struct tts_summary_stored *stored = sum->stored;
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
static struct tts_summary_stored *copy_figures(const struct tts_alloc *alloc,
                                               const unsigned char *bytes, size_t len)
{
    struct tts_summary_stored *stored = alloc->alloc(alloc->ctx, sizeof *stored);
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

bool tts_eventsummary_load(struct tts_eventsummary *sum, const unsigned char *bytes, size_t len,
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
