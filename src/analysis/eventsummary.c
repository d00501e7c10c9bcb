#include "analysis/eventsummary.h"

#include "analysis/eventfigures.h"
#include "base/error.h"
#include "base/heap.h"
#include "model/opnames.h"

#include <string.h>

/* ---- the answers ---- */

void tts_summary_moment_release(struct tts_summary_moment *moment)
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
    tts_summary_moment_release(&sum->peak_moment);
    tts_summary_moment_release(&sum->failure_moment);
    tts_summary_moment_release(&sum->at_moment);
    tts_best_release(&sum->top_ops);
    tts_eventfigures_free(sum->stored, sum->alloc);
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

bool tts_eventsummary_add_phase(struct tts_eventsummary *sum,
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
        tts_eventfigures_path(sum->stored, op, out);
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
    if (!tts_eventsummary_add_phase(sum, &kept, phase->name))
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
    *scan = (struct tts_eventscan){.config = *config, .sum = sum, .alloc = alloc};
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
    sum->follow = scan->follow;
    return status == TTS_OK ? TTS_OK : tts_error_set(err, status, "out of memory");
}

void tts_eventscan_release(struct tts_eventscan *scan)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        tts_peak_free(scan->peaks[i]);
        tts_ops_free(scan->ops[i]);
    }
    tts_ops_free(scan->failure_ops);
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
               ? tts_error_set(err, TTS_E_NOMEM, "out of memory")
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

enum tts_status tts_eventscan_finish_pool(struct tts_eventscan *scan, enum tts_pool pool)
{
    struct tts_eventsummary *sum = scan->sum;
    tts_summary_moment_release(&sum->peak_moment);
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

enum tts_status tts_eventscan_finish_whole(struct tts_eventscan *scan, struct tts_error *err)
{
    enum tts_status status = tts_follow_end(scan->follow, &scan->sum->whole, err);
    tts_fold_health(tts_follow_fold(scan->follow), &scan->sum->health);
    return status == TTS_OK && !scan->is_out_of_memory
               ? TTS_OK
               : tts_error_set(err, TTS_E_NOMEM, "out of memory");
}

enum tts_status tts_eventscan_finish(struct tts_eventscan *scan, struct tts_error *err)
{
    enum tts_status status = scan->config.at > 0
                                 ? finish_at_moment(scan)
                                 : tts_eventscan_finish_pool(scan, scan->config.pool);
    return status == TTS_OK ? tts_eventscan_finish_whole(scan, err)
                            : tts_error_set(err, TTS_E_NOMEM, "out of memory");
}
