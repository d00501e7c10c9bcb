/* usage_cut.c: calculates the figures of a phase from the stored events. */
#include "oracle/usage_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- the beginning of a phase, and events that are no longer needed ---- */

static uint64_t oldest_start(const struct usage_model *model)
{
    uint64_t oldest = model->seq;
    for (int w = 0; w < USAGE_WATCHES; w++) {
        const struct usage_watch *watch = &model->watches[w];
        if (watch->is_attached && watch->start < oldest)
            oldest = watch->start;
    }
    return oldest;
}

static void drop_old(struct usage_model *model)
{
    uint64_t oldest = oldest_start(model);
    size_t first = 0;
    while (model->records[first].seq < oldest)
        first++;
    model->record_count -= first;
    memmove(model->records, model->records + first,
            model->record_count * sizeof *model->records);
    for (int d = 0; d < model->device_count; d++) {
        struct usage_device *device = &model->devices[d];
        size_t kept = 0;
        for (size_t i = 0; i < device->thing_count; i++) {
            if (device->things[i].gone > oldest)
                device->things[kept++] = device->things[i];
        }
        device->thing_count = kept;
    }
}

void usage_model_attach(struct usage_model *model, int watch)
{
    assert(!model->watches[watch].is_attached);
    model->watches[watch].is_attached = true;
    model->watches[watch].start = model->seq;
    drop_old(model);
}

void usage_model_detach(struct usage_model *model, int watch)
{
    assert(model->watches[watch].is_attached);
    model->watches[watch].is_attached = false;
}

void usage_model_forget(struct usage_model *model, int watch)
{
    assert(!model->watches[watch].is_attached);
    model->watches[watch] = (struct usage_watch){0};
}

/* ---- sums ---- */

/* Returns whether the event counts for device `d`. -1 stands for all devices together. */
static bool concerns(const struct usage_model *model, const struct usage_record *record, int d)
{
    return d < 0 || (record->device >= 0 &&
                     (record->device == d || model->devices[d].mesh == record->device));
}

enum { DRAM_WITH_TRACE = TTS_POOLS, L1_WITH_SMALL, POOLS };

static unsigned pools_of(int pool)
{
    if (pool == DRAM_WITH_TRACE)
        return 1u << TTS_POOL_DRAM | 1u << TTS_POOL_TRACE;
    return pool == L1_WITH_SMALL ? 1u << TTS_POOL_L1 | 1u << TTS_POOL_L1_SMALL : 1u << pool;
}

static struct tts_pool_usage *pool_in(struct tts_usage *usage, int pool)
{
    if (pool == DRAM_WITH_TRACE)
        return &usage->dram_with_trace;
    return pool == L1_WITH_SMALL ? &usage->l1_with_small : &usage->pools[pool];
}

/* Sums the figures of the pools whose bits are set. */
static void sum_pool(const struct usage_model *model, uint64_t start, int d, unsigned pools,
                     struct tts_pool_usage *out)
{
    int64_t current = 0;
    *out = (struct tts_pool_usage){0};
    for (size_t i = 0; i < model->record_count; i++) {
        const struct usage_record *record = &model->records[i];
        if (record->seq <= start || !concerns(model, record, d))
            continue;
        for (size_t k = 0; k < 2; k++) {
            const struct usage_step *step = &record->steps[k];
            if (!step->happens || !(pools >> step->pool & 1))
                continue;
            current += step->is_free ? -(int64_t)step->bytes : (int64_t)step->bytes;
            out->allocated_bytes += step->is_free ? 0 : (int64_t)step->bytes;
            out->freed_bytes += step->is_free ? (int64_t)step->bytes : 0;
            out->allocations += !step->is_free;
            out->frees += step->is_free;
            out->peak_bytes = larger(out->peak_bytes, current);
        }
    }
}

/* Adds the phase to the cumulative figures and stores them in *pool. */
static void add_up(struct usage_total *total, struct tts_pool_usage *pool)
{
    total->peak = larger(total->peak, total->current + pool->peak_bytes);
    total->current += pool->allocated_bytes - pool->freed_bytes;
    pool->cumulative_peak_bytes = total->peak;
    pool->cumulative_current_bytes = total->current;
}

static bool is_l1_pool(enum tts_pool pool)
{
    return pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL;
}

/* Calculates the L1 figures of the printed summary. */
static void sum_l1(const struct usage_model *model, uint64_t start, int d,
                   struct tts_usage *out)
{
    int64_t now[3] = {0, 0, 0}, peaks[3] = {0, 0, 0}, total = 0, total_peak = 0;
    for (size_t i = 0; i < model->record_count; i++) {
        const struct usage_record *record = &model->records[i];
        if (record->seq <= start || !concerns(model, record, d))
            continue;
        if (record->kind == TTS_EVENT_PROGRAM) {
            total -= now[0] + now[1] + now[2];
            now[0] = now[1] = now[2] = 0;
        }
        if (record->program_bytes > 0) {
            int kind = (int)record->kind - (int)TTS_EVENT_CB;
            now[kind] += (int64_t)record->program_bytes;
            total += (int64_t)record->program_bytes;
            peaks[kind] = larger(peaks[kind], now[kind]);
        }
        for (size_t k = 0; k < 2; k++) {
            const struct usage_step *step = &record->steps[k];
            if (step->happens && is_l1_pool(step->pool))
                total += step->is_free ? -(int64_t)step->bytes : (int64_t)step->bytes;
        }
        total_peak = larger(total_peak, total);
    }
    out->peak_cb_bytes = peaks[0];
    out->peak_dfb_bytes = peaks[1];
    out->peak_scratchpad_bytes = peaks[2];
    out->peak_total_bytes = total_peak;
}

static void count(const struct usage_model *model, uint64_t start, int d, struct tts_usage *out)
{
    for (size_t i = 0; i < model->record_count; i++) {
        const struct usage_record *record = &model->records[i];
        if (record->seq <= start || !concerns(model, record, d))
            continue;
        out->programs += record->kind == TTS_EVENT_PROGRAM;
        out->ops += record->kind == TTS_EVENT_OP_BEGIN;
        /* For all devices together, the device that the event names counts. */
        int of = d < 0 ? record->device : d;
        if (of < 0)
            continue;
        out->traces += record->is_trace[of];
        out->traced_bytes += record->is_traced[of] ? record->traced_bytes : 0;
    }
}

/* ---- the fullest core ---- */

static int by_size_then_age(const void *a, const void *b)
{
    const struct usage_thing *x = a, *y = b;
    if (x->part.bytes != y->part.bytes)
        return x->part.bytes > y->part.bytes ? -1 : 1;
    return x->born < y->born ? -1 : x->born > y->born;
}

static uint64_t *sum_of_kind(struct tts_core_peak *peak, const struct tts_core_part *part)
{
    if (part->kind == TTS_EVENT_CB)
        return &peak->cb_bytes;
    if (part->kind == TTS_EVENT_DFB)
        return &peak->dfb_bytes;
    if (part->kind == TTS_EVENT_SCRATCHPAD)
        return &peak->scratchpad_bytes;
    return part->pool == TTS_POOL_L1 ? &peak->l1_bytes : &peak->l1_small_bytes;
}

/* Lists the parts on the place after the event of the peak. */
static void list_parts(const struct usage_device *device, uint32_t place,
                       struct tts_core_peak *peak, struct tts_core_part *parts)
{
    static struct usage_thing there[USAGE_THINGS];
    size_t count = 0;
    for (size_t i = 0; i < device->thing_count; i++) {
        const struct usage_thing *thing = &device->things[i];
        if (thing->born <= peak->seq && thing->gone > peak->seq && thing->part.bytes > 0 &&
            thing->places >> place & 1)
            there[count++] = *thing;
    }
    qsort(there, count, sizeof *there, by_size_then_age);
    for (size_t i = 0; i < count; i++) {
        *sum_of_kind(peak, &there[i].part) += there[i].part.bytes;
        if (i < TTS_CORE_PARTS_MAX) {
            parts[peak->part_count++] = there[i].part;
        } else {
            peak->unlisted++;
            peak->unlisted_bytes += there[i].part.bytes;
        }
    }
    peak->parts = parts;
}

static void find_peak(const struct usage_model *model, uint64_t start, int d,
                      struct tts_core_peak *out, struct tts_core_part *parts)
{
    *out = (struct tts_core_peak){.device = model->devices[d].id};
    uint32_t at = 0;
    for (size_t i = 0; i < model->record_count; i++) {
        const struct usage_record *record = &model->records[i];
        if (record->seq < start)
            continue;
        for (uint32_t place = 0; place < USAGE_PLACES; place++) {
            if (record->filled[d][place] <= out->bytes)
                continue;
            out->bytes = record->filled[d][place];
            out->seq = record->seq;
            out->op = record->seq == start ? NULL : record->op;
            at = place;
        }
    }
    if (out->bytes == 0)
        return;
    out->known = true;
    out->core = (struct tts_core){model->places.columns[at % USAGE_COLUMNS],
                                  model->places.rows[at / USAGE_COLUMNS]};
    list_parts(&model->devices[d], at, out, parts);
}

/* ---- the current state ---- */

size_t usage_model_device_count(const struct usage_model *model)
{
    return (size_t)model->device_count;
}

uint32_t usage_model_device(const struct usage_model *model, int d)
{
    return model->devices[d].id;
}

/* Returns whether a buffer of the device with that id lies on device `d`. */
static bool lies_on(const struct usage_model *model, int d, uint32_t id)
{
    int mesh = model->devices[d].mesh;
    return model->devices[d].id == id || (mesh >= 0 && model->devices[mesh].id == id);
}

static uint64_t sum_live(const struct usage_model *model, int d, int pool, uint64_t *buffers)
{
    uint64_t bytes = 0;
    *buffers = 0;
    for (size_t i = 0; i < model->live_count; i++) {
        const struct tts_live *live = &model->live[i];
        if ((int)live->pool != pool || (d >= 0 && !lies_on(model, d, live->device)))
            continue;
        bytes += is_l1_pool(live->pool) ? live->bytes_per_bank : live->size_bytes;
        ++*buffers;
    }
    return bytes;
}

void usage_model_pools(const struct usage_model *model, int d, uint64_t buffers[TTS_POOLS],
                       uint64_t bytes[TTS_POOLS])
{
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        if (d >= 0 || !is_l1_pool((enum tts_pool)pool)) {
            bytes[pool] = sum_live(model, d, pool, &buffers[pool]);
            continue;
        }
        bytes[pool] = buffers[pool] = 0;
        for (int one = 0; one < model->device_count; one++) {
            uint64_t count, most = sum_live(model, one, pool, &count);
            buffers[pool] = most > bytes[pool] ? count : buffers[pool];
            bytes[pool] = most > bytes[pool] ? most : bytes[pool];
        }
    }
}

void usage_model_core(const struct usage_model *model, int d, uint32_t place,
                      struct tts_core_peak *out, struct tts_core_part parts[TTS_CORE_PARTS_MAX])
{
    const struct usage_record *last = &model->records[model->record_count - 1];
    bool is_fullest = d < 0;
    for (int one = 0; is_fullest && one < model->device_count; one++) {
        for (uint32_t at = 0; at < USAGE_PLACES; at++) {
            if (last->filled[one][at] == 0 ||
                (d >= 0 && last->filled[one][at] <= last->filled[d][place]))
                continue;
            d = one;
            place = at;
        }
    }
    *out = (struct tts_core_peak){.seq = model->seq, .at_least = is_fullest && model->is_lost};
    if (d < 0)
        return;
    out->device = model->devices[d].id;
    out->core = (struct tts_core){model->places.columns[place % USAGE_COLUMNS],
                                  model->places.rows[place / USAGE_COLUMNS]};
    out->bytes = last->filled[d][place];
    out->known = out->bytes > 0;
    list_parts(&model->devices[d], place, out, parts);
}

/* ---- all devices ---- */

static bool is_fuller(const struct tts_pool_usage *a, const struct tts_pool_usage *b)
{
    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes > b->peak_bytes;
    if (a->allocated_bytes != b->allocated_bytes)
        return a->allocated_bytes > b->allocated_bytes;
    return a->freed_bytes > b->freed_bytes;
}

/* Takes the phase figures from the device with the largest phase peak, and the cumulative
 * figures from the device with the largest cumulative peak. */
static void most_of_pool(struct usage_phase *out, int pool)
{
    const struct tts_pool_usage *most = NULL, *most_ever = NULL;
    for (size_t i = 0; i < out->phase.device_count; i++) {
        const struct tts_pool_usage *at = pool_in(&out->devices[i].usage, pool);
        if (most == NULL || is_fuller(at, most))
            most = at;
        if (most_ever == NULL || at->cumulative_peak_bytes > most_ever->cumulative_peak_bytes)
            most_ever = at;
    }
    struct tts_pool_usage *all = pool_in(&out->phase.usage, pool);
    *all = most != NULL ? *most : (struct tts_pool_usage){0};
    if (most_ever != NULL) {
        all->cumulative_peak_bytes = most_ever->cumulative_peak_bytes;
        all->cumulative_current_bytes = most_ever->cumulative_current_bytes;
    }
}

static void most_of_l1(struct usage_phase *out)
{
    struct tts_usage *all = &out->phase.usage;
    for (size_t i = 0; i < out->phase.device_count; i++) {
        const struct tts_usage *at = &out->devices[i].usage;
        all->peak_cb_bytes = larger(all->peak_cb_bytes, at->peak_cb_bytes);
        all->peak_dfb_bytes = larger(all->peak_dfb_bytes, at->peak_dfb_bytes);
        all->peak_scratchpad_bytes =
            larger(all->peak_scratchpad_bytes, at->peak_scratchpad_bytes);
        all->peak_total_bytes = larger(all->peak_total_bytes, at->peak_total_bytes);
    }
}

/* Returns the fullest core. Among equal cores, listed devices come first, in the order of the
 * list, then devices without an event. */
static const struct tts_core_peak *fullest(const struct usage_watch *watch,
                                           const struct tts_core_peak *peaks, int device_count)
{
    const struct tts_core_peak *most = NULL;
    for (size_t i = 0; i < watch->listed_count; i++) {
        const struct tts_core_peak *peak = &peaks[watch->listed[i]];
        if (peak->known && (most == NULL || peak->bytes > most->bytes))
            most = peak;
    }
    for (int d = 0; d < device_count; d++) {
        if (peaks[d].known && (most == NULL || peaks[d].bytes > most->bytes))
            most = &peaks[d];
    }
    return most;
}

void usage_model_cut(struct usage_model *model, int w, struct usage_phase *out)
{
    struct usage_watch *watch = &model->watches[w];
    uint64_t start = watch->start;
    assert(watch->is_attached);
    memset(out, 0, sizeof *out);
    out->phase.events = model->seq - start;
    out->phase.devices = out->devices;
    out->phase.device_count = watch->listed_count;
    struct tts_core_peak peaks[USAGE_DEVICES];
    for (int d = 0; d < model->device_count; d++)
        find_peak(model, start, d, &peaks[d], out->parts[d]);
    for (size_t i = 0; i < watch->listed_count; i++) {
        int d = watch->listed[i];
        struct tts_usage *usage = &out->devices[i].usage;
        out->devices[i].device = model->devices[d].id;
        count(model, start, d, usage);
        sum_l1(model, start, d, usage);
        usage->core = peaks[d];
        for (int pool = 0; pool < POOLS; pool++) {
            sum_pool(model, start, d, pools_of(pool), pool_in(usage, pool));
            add_up(&watch->totals[d][pool], pool_in(usage, pool));
        }
    }
    struct tts_usage *all = &out->phase.usage;
    count(model, start, -1, all);
    most_of_l1(out);
    static const int summed[] = {TTS_POOL_DRAM, TTS_POOL_TRACE, DRAM_WITH_TRACE};
    for (size_t i = 0; i < 3; i++) {
        sum_pool(model, start, -1, pools_of(summed[i]), pool_in(all, summed[i]));
        add_up(&watch->totals[USAGE_DEVICES][summed[i]], pool_in(all, summed[i]));
    }
    most_of_pool(out, TTS_POOL_L1);
    most_of_pool(out, TTS_POOL_L1_SMALL);
    most_of_pool(out, L1_WITH_SMALL);
    const struct tts_core_peak *most = fullest(watch, peaks, model->device_count);
    if (most != NULL)
        all->core = *most;
    all->core.at_least = model->is_lost;
    watch->start = model->seq;
    drop_old(model);
}
