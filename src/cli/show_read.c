/* show_read.c: one pass over a file of events, with every question that show asks. */
#include "base/error.h"
#include "base/heap.h"
#include "cli/show_parts.h"
#include "model/opnames.h"

#include <assert.h>
#include <string.h>

/* ---- phases ---- */

static struct tts_show_capture *capture_of(struct tts_show *show, uint32_t number)
{
    for (int i = 0; i < TTS_FOLLOW_CAPTURES_MAX; i++)
        if (show->captures[i].number == number)
            return &show->captures[i];
    return NULL;
}

/* Of captures that begin again and again only those that are active matter. */
static void begin_capture(struct tts_show *show, const struct tts_item *item)
{
    struct tts_show_capture *capture = capture_of(show, item->capture);
    if (!capture)
        capture = capture_of(show, 0);
    if (capture)
        *capture = (struct tts_show_capture){item->capture, item->seq};
}

static void end_capture(struct tts_show *show, const struct tts_item *item)
{
    struct tts_show_capture *capture = capture_of(show, item->capture);
    if (capture)
        capture->number = 0;
}

static bool keep_name(struct tts_show *show, const char *name)
{
    size_t bytes = strlen(name) + 1;
    char *names = tts_alloc_grow(show->alloc, show->names, &show->names_capacity,
                                 show->names_len + bytes, 1);
    if (!names)
        return false;
    show->names = names;
    memcpy(names + show->names_len, name, bytes);
    show->names_len += bytes;
    return true;
}

bool tts_show_add_phase(struct tts_show *show, const struct tts_show_phase *phase,
                        const char *name)
{
    size_t name_at = show->names_len;
    struct tts_show_phase *phases =
        tts_alloc_grow(show->alloc, show->phases, &show->phase_capacity, show->phase_count + 1,
                       sizeof *phases);
    if (phases)
        show->phases = phases;
    if (!phases || !keep_name(show, name))
        return false;
    phases[show->phase_count] = *phase;
    phases[show->phase_count++].name_at = name_at;
    return true;
}

static void keep_now(struct tts_show *show, const struct tts_core_peak *core)
{
    assert(core->part_count <= TTS_CORE_PARTS_MAX);
    show->at_core = *core;
    if (core->part_count > 0)
        memcpy(show->at_parts, core->parts, core->part_count * sizeof show->at_parts[0]);
    show->at_core.parts = show->at_parts;
}

static struct tts_show_phase phase_of(const struct tts_phase *phase)
{
    const struct tts_usage *usage = &phase->usage;
    return (struct tts_show_phase){
        .dram = usage->pools[TTS_POOL_DRAM],
        .peak_cb_bytes = usage->peak_cb_bytes,
        .peak_buffer_bytes = usage->pools[TTS_POOL_L1].peak_bytes,
        .peak_total_bytes = usage->peak_total_bytes,
        .core_is_known = usage->core.known,
        .core_is_at_least = usage->core.at_least,
        .core_bytes = usage->core.bytes,
    };
}

static void on_phase(void *ctx, uint32_t number, const struct tts_phase *phase, bool is_partial)
{
    struct tts_show *show = ctx;
    struct tts_show_phase kept = phase_of(phase);
    struct tts_show_capture *capture = capture_of(show, number);
    if (number == TTS_SHOW_NOW) {
        keep_now(show, &phase->usage.core);
        return;
    }
    kept.capture = number;
    kept.is_partial = is_partial;
    kept.first_seq = capture ? capture->since : show->first_seq;
    kept.last_seq = show->item_seq;
    if (capture)
        capture->since = show->item_seq;
    if (show->phase_count == TTS_SHOW_PHASES_MAX) {
        show->phases_unlisted++;
        return;
    }
    if (!tts_show_add_phase(show, &kept, phase->name))
        show->is_out_of_memory = true;
    show->has_captures |= show->phase_count > 0 && show->phases[0].capture != number;
}

/* ---- life ---- */

static enum tts_status on_change(void *ctx, const struct tts_change *change)
{
    struct tts_show *show = ctx;
    tts_levels_change(&show->levels, change);
    if (change->kind == TTS_CHANGE_CAME && change->is_restored) {
        show->restored_buffers++;
        if (change->live.pool == TTS_POOL_DRAM)
            show->restored_dram += change->live.size_bytes;
    }
    if (show->options.at > 0)
        return TTS_OK;
    enum tts_pool pool = change->live.pool;
    if (!show->keeps_all || change->kind != TTS_CHANGE_CHIP) {
        struct tts_peak *peak = show->keeps_all ? show->peaks[pool] : show->peak;
        struct tts_ops *ops = show->keeps_all ? show->ops_of[pool] : show->ops;
        enum tts_status status = tts_peak_change(peak, change, &show->levels);
        return status == TTS_OK ? tts_ops_change(ops, change) : status;
    }
    enum tts_status status = TTS_OK;
    for (int i = 0; status == TTS_OK && i < TTS_POOLS; i++)
        status = tts_peak_change(show->peaks[i], change, &show->levels);
    return status;
}

enum tts_status tts_show_keep_all(struct tts_show *show)
{
    enum tts_status status = TTS_OK;
    show->keeps_all = true;
    for (int i = 0; status == TTS_OK && i < TTS_POOLS; i++) {
        enum tts_pool pool = (enum tts_pool)i;
        bool is_own = pool == show->options.pool;
        show->peaks[i] = is_own ? show->peak : NULL;
        show->ops_of[i] = is_own ? show->ops : NULL;
        if (!is_own)
            status = tts_peak_new(pool, show->alloc, &show->peaks[i]);
        if (!is_own && status == TTS_OK)
            status = tts_ops_new(pool, show->alloc, &show->ops_of[i]);
    }
    return status;
}

static void release_pools(struct tts_show *show)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        if (show->peaks[i] != show->peak)
            tts_peak_free(show->peaks[i]);
        if (show->ops_of[i] != show->ops)
            tts_ops_free(show->ops_of[i]);
    }
}

enum tts_status tts_show_init(struct tts_show *show, const struct tts_show_options *options,
                              struct tts_error *err)
{
    struct tts_follow_config config = {.on_phase = on_phase, .keeps_paths = true, .ctx = show};
    *show = (struct tts_show){.options = *options, .alloc = tts_alloc_libc()};
    enum tts_status status = tts_follow_new(&config, show->alloc, &show->follow, err);
    if (status == TTS_OK)
        status = tts_peak_new(options->pool, show->alloc, &show->peak);
    if (status == TTS_OK)
        status = tts_ops_new(options->pool, show->alloc, &show->ops);
    show->changes = (struct tts_changes){.follow = show->follow, .fn = on_change, .ctx = show};
    return status == TTS_OK ? TTS_OK : tts_error_set(err, status, "out of memory");
}

static void release_array(const struct tts_show *show, void *items, size_t bytes)
{
    if (items)
        show->alloc->free(show->alloc->ctx, items, bytes);
}

void tts_show_release(struct tts_show *show)
{
    release_array(show, show->phases, show->phase_capacity * sizeof *show->phases);
    release_array(show, show->names, show->names_capacity);
    release_array(show, show->failures, show->failure_capacity * sizeof *show->failures);
    tts_show_moment_release(&show->peak_moment);
    tts_show_moment_release(&show->failure_moment);
    tts_show_moment_release(&show->at_moment);
    tts_best_release(&show->top_ops);
    tts_eventpass_release(&show->pass);
    tts_ops_free(show->failure_ops);
    release_pools(show);
    tts_show_unload(show);
    tts_ops_free(show->ops);
    tts_peak_free(show->peak);
    tts_follow_free(show->follow);
    tts_eventfile_close(show->file);
}

/* ---- items ---- */

/* An operation that begins is the operation itself, also where the fold counts by the operation
 * around it; of more operations than the fold keeps, the item has the name. */
static struct tts_show_op op_of_item(const struct tts_show *show, const struct tts_item *item)
{
    struct tts_show_op op = {.known = tts_follow_op(show->follow, item)};
    bool is_begin = item->kind == TTS_ITEM_EVENT && item->event.kind == TTS_EVENT_OP_BEGIN;
    if (!op.known || (op.known != tts_fold_op_other() && !is_begin) || item->op.name_len == 0)
        return op;
    op.copy[tts_opnames_copy(op.copy, item->op.name, item->op.name_len)] = '\0';
    if (strcmp(op.copy, op.known) == 0)
        op.copy[0] = '\0'; /* the text of the fold has a path */
    else
        op.known = NULL;
    return op;
}

/* The live set of the first is kept with it. */
static enum tts_status take_failure(struct tts_show *show, const struct tts_item *item)
{
    enum tts_pool pool = item->event.failure->pool;
    if (show->failure_count == TTS_SHOW_FAILURES_MAX) {
        show->failures_unlisted++;
        return TTS_OK;
    }
    struct tts_show_failure *failures =
        tts_alloc_grow(show->alloc, show->failures, &show->failure_capacity,
                       show->failure_count + 1, sizeof *failures);
    if (!failures)
        return TTS_E_NOMEM;
    show->failures = failures;
    struct tts_show_failure *failure = &failures[show->failure_count++];
    *failure = (struct tts_show_failure){
        .seq = item->seq,
        .has_time = item->has_time,
        .time_ns = item->time_ns,
        .device = item->event.device,
        .op = op_of_item(show, item),
        .failure = *item->event.failure,
        .level =
            tts_level_listed(tts_levels_of_device(&show->levels, item->event.device, pool)),
    };
    if (show->failure_count > 1)
        return TTS_OK;
    enum tts_status status = tts_ops_new(pool, show->alloc, &show->failure_ops);
    if (status != TTS_OK)
        return status;
    return tts_show_moment_now(show, &show->failure_moment, show->failure_ops, failure->level);
}

static enum tts_status take_event(struct tts_show *show, const struct tts_item *item)
{
    if (!show->has_event)
        show->first_seq = item->seq - 1;
    show->has_event = true;
    show->event.seq = item->seq;
    if (item->seq == show->options.at) {
        show->event.is_known = true;
        show->event.kind = item->event.kind;
        show->event.has_time = item->has_time;
        show->event.time_ns = item->time_ns;
        show->event.op = op_of_item(show, item);
    }
    return item->event.kind == TTS_EVENT_FAILURE && show->options.at == 0
               ? take_failure(show, item)
               : TTS_OK;
}

/* Behind the fold. */
static enum tts_status take_item(struct tts_show *show, const struct tts_item *item)
{
    if (item->has_time) {
        show->first_ns = show->last_ns > 0 ? show->first_ns : item->time_ns;
        show->last_ns = item->time_ns;
    }
    if (item->kind == TTS_ITEM_EVENT)
        return take_event(show, item);
    /* Only the keyframe that the file starts with says something new. */
    bool is_active = item->kind == TTS_ITEM_ACTIVE && !show->changes.has_begun;
    if (item->kind == TTS_ITEM_BEGIN || is_active)
        begin_capture(show, item);
    else if (item->kind == TTS_ITEM_END)
        end_capture(show, item);
    return TTS_OK;
}

static enum tts_status out_of_memory(struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOMEM, "out of memory");
}

/* An event that cannot be leaves a gap that all behind it would fall into: it is the end. What
 * is wrong with a capture is its own affair. */
static enum tts_status follow_item(struct tts_show *show, const struct tts_item *item,
                                   struct tts_error *err)
{
    show->item_seq = item->seq;
    show->items++;
    tts_partial_item(&show->partial, item);
    enum tts_status status = tts_changes_item(&show->changes, item, err);
    if (status != TTS_OK && status != TTS_E_NOMEM && item->kind != TTS_ITEM_EVENT) {
        if (show->partial.refused++ == 0)
            show->partial.refusal = *err;
        return TTS_OK;
    }
    if (status == TTS_OK)
        status = take_item(show, item);
    return status == TTS_E_NOMEM || show->is_out_of_memory ? out_of_memory(err) : status;
}

/* An item of the pass, which ends with the event that was asked for. */
static enum tts_status take_read(void *ctx, const struct tts_item *item, struct tts_error *err)
{
    struct tts_show *show = ctx;
    uint64_t last = show->options.at > 0 ? show->options.at : UINT64_MAX;
    bool is_event = item->kind == TTS_ITEM_EVENT;
    show->is_read = is_event && item->seq >= last;
    return is_event && item->seq > last ? TTS_OK : follow_item(show, item, err);
}

enum tts_status tts_show_read(struct tts_show *show, struct tts_error *err)
{
    struct tts_eventpass *pass = &show->pass;
    enum tts_status status = TTS_OK;
    pass->file = show->file;
    pass->follow = show->options.at == 0 ? show->follow : NULL;
    pass->take = take_read;
    pass->ctx = show;
    pass->alloc = show->alloc;
    while (status == TTS_OK && !show->is_read) {
        status = tts_eventpass_step(pass, err);
        if (pass->gap_seq > show->event.seq)
            show->event.seq = pass->gap_seq;
        if (tts_progress_is_due(&show->progress))
            tts_progress_show(&show->progress, tts_eventfile_tell(show->file));
    }
    return status == TTS_E_NOT_FOUND ? TTS_OK : status;
}
