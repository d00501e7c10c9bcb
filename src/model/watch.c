/* watch.c: the watches of a fold. A watch counts the figures of a phase and, at the end of the
 * phase, converts them to a struct tts_phase. */

#include "base/heap.h"
#include "model/fold_inside.h"

#include <assert.h>
#include <string.h>

static size_t watch_parts_bytes(uint16_t devices)
{
    return (size_t)devices * TTS_CORE_PARTS_MAX * sizeof(struct tts_held_part);
}

enum tts_status tts_watch_new(const struct tts_fold *fold, const struct tts_alloc *alloc,
                              struct tts_watch **out)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_watch *watch = alloc->alloc(alloc->ctx, sizeof *watch);
    if (!watch)
        return TTS_E_NOMEM;
    uint16_t max = (uint16_t)fold->limits.devices_max;
    *watch = (struct tts_watch){.devices_max = max, .alloc = alloc};
    watch->devices = alloc->alloc(alloc->ctx, max * sizeof *watch->devices);
    watch->listed = alloc->alloc(alloc->ctx, max * sizeof *watch->listed);
    watch->parts = alloc->alloc(alloc->ctx, watch_parts_bytes(max));
    if (!watch->devices || !watch->listed || !watch->parts) {
        tts_watch_free(watch);
        return TTS_E_NOMEM;
    }
    *out = watch;
    return TTS_OK;
}

void tts_watch_free(struct tts_watch *watch)
{
    if (!watch)
        return;
    assert(!watch->is_attached);
    const struct tts_alloc *alloc = watch->alloc;
    uint16_t max = watch->devices_max;
    if (watch->parts)
        alloc->free(alloc->ctx, watch->parts, watch_parts_bytes(max));
    if (watch->listed)
        alloc->free(alloc->ctx, watch->listed, max * sizeof *watch->listed);
    if (watch->devices)
        alloc->free(alloc->ctx, watch->devices, max * sizeof *watch->devices);
    alloc->free(alloc->ctx, watch, sizeof *watch);
}

void tts_watch_settle(struct tts_watch *watch, const struct tts_fold *fold)
{
    if (fold->device_count != 1 || watch->devices[0].phase != watch->phase)
        return;
    const struct tts_tally *run = &watch->devices[0].run;
    memcpy(watch->whole.pools, run->pools, sizeof run->pools);
    memcpy(watch->whole.pairs, run->pairs, sizeof run->pairs);
}

void tts_watch_enter(struct tts_watch *watch, const struct tts_fold *fold)
{
    assert(fold->device_count <= watch->devices_max);
    for (; watch->known_count < fold->device_count; watch->known_count++) {
        size_t idx = watch->known_count;
        watch->devices[idx] = (struct tts_watch_device){0};
        watch->devices[idx].peak.part = &watch->parts[idx * TTS_CORE_PARTS_MAX];
    }
}

TTS_COLD void tts_watch_renew(struct tts_watch *watch, const struct tts_fold_device *device)
{
    assert(watch->phase > 0);
    struct tts_watch_device *seen = &watch->devices[device->idx];
    memset(&seen->run, 0, sizeof seen->run);
    tts_corepeak_start(&seen->peak, &device->cores, watch->start_seq);
    seen->phase = watch->phase;
    if (seen->is_listed)
        return;
    assert(watch->listed_count < watch->known_count);
    seen->is_listed = true;
    watch->listed[watch->listed_count++] = device->idx;
}

static void watch_begin(struct tts_watch *watch, const struct tts_fold *fold)
{
    watch->phase++;
    watch->start_seq = fold->seq;
    watch->ops = 0;
    memset(&watch->whole, 0, sizeof watch->whole);
}

void tts_watch_attach(struct tts_fold *fold, struct tts_watch *watch)
{
    assert(!watch->is_attached && watch->devices_max == fold->limits.devices_max);
    watch->is_attached = true;
    watch->next = fold->watches;
    fold->watches = watch;
    tts_watch_enter(watch, fold);
    watch_begin(watch, fold);
}

void tts_watch_detach(struct tts_fold *fold, struct tts_watch *watch)
{
    assert(watch->is_attached);
    struct tts_watch **link = &fold->watches;
    while (*link != watch) {
        assert(*link);
        link = &(*link)->next;
    }
    *link = watch->next;
    watch->next = NULL;
    watch->is_attached = false;
}

void tts_watch_reset(struct tts_watch *watch)
{
    assert(!watch->is_attached);
    watch->known_count = watch->listed_count = 0;
    watch->phase = 0;
    memset(watch->totals, 0, sizeof watch->totals);
    memset(watch->pair_totals, 0, sizeof watch->pair_totals);
}

static size_t listed_parts(uint64_t parts)
{
    return parts < TTS_CORE_PARTS_MAX ? (size_t)parts : TTS_CORE_PARTS_MAX;
}

/* Copies the peak of a device in the current phase to *out. If the device had no event in the
 * phase, the peak is its current use. */
static void phase_peak_sum(const struct tts_fold *fold, const struct tts_watch *watch,
                           uint16_t idx, struct tts_core_sum *out)
{
    const struct tts_watch_device *seen = &watch->devices[idx];
    if (seen->phase == watch->phase)
        *out = seen->peak.sum;
    else
        tts_cores_sum(&fold->devices[idx].cores, out);
}

/* Returns the device with the fullest core. Among equals, listed devices come first, in the
 * order of the list, then the devices in the order of the fold. */
static uint16_t fullest_device(const struct tts_fold *fold, const struct tts_watch *watch)
{
    uint16_t best = TTS_FOLD_NO_DEVICE;
    uint64_t most = 0;
    for (int i = 0; i < watch->listed_count + fold->device_count; i++) {
        bool by_list = i < watch->listed_count;
        uint16_t idx = by_list ? watch->listed[i] : (uint16_t)(i - watch->listed_count);
        struct tts_core_sum sum;
        phase_peak_sum(fold, watch, idx, &sum);
        if (sum.bytes > most) {
            most = sum.bytes;
            best = idx;
        }
    }
    return best;
}

struct tts_watch_size tts_watch_measure(const struct tts_fold *fold,
                                        const struct tts_watch *watch)
{
    assert(watch->is_attached);
    struct tts_watch_size size = {watch->listed_count, 0};
    struct tts_core_sum sum;
    for (uint16_t i = 0; i < watch->listed_count; i++) {
        phase_peak_sum(fold, watch, watch->listed[i], &sum);
        size.parts += listed_parts(sum.parts);
    }
    uint16_t best = fullest_device(fold, watch);
    if (best != TTS_FOLD_NO_DEVICE && !watch->devices[best].is_listed) {
        phase_peak_sum(fold, watch, best, &sum);
        size.parts += listed_parts(sum.parts);
    }
    return size;
}

/* ---- parts of the peaks ---- */

static void keep_peak_buffers(const struct tts_fold *fold, struct tts_watch *watch)
{
    uint32_t cursor = tts_ledger_l1_head(fold->ledger);
    for (const struct tts_l1_entry *entry;
         (entry = tts_ledger_l1_next(fold->ledger, &cursor));) {
        const struct tts_fold_device *first = &fold->devices[entry->device], *at = first;
        for (; at; at = tts_fold_next(fold, first, at))
            tts_fold_keep_buffer(fold, entry, &watch->devices[at->idx].peak);
    }
}

/* Adds the parts that are still on the cores to the peaks, and sorts the parts. For a device
 * without an event in the phase, first starts the phase. */
static void finish_peaks(const struct tts_fold *fold, struct tts_watch *watch)
{
    for (uint16_t idx = 0; idx < fold->device_count; idx++) {
        const struct tts_fold_device *device = &fold->devices[idx];
        struct tts_watch_device *seen = &watch->devices[idx];
        if (seen->is_listed)
            tts_watch_touch(watch, device);
        else
            tts_corepeak_start(&seen->peak, &device->cores, watch->start_seq);
        tts_fold_keep_program(fold, idx, &watch->devices[idx].peak);
    }
    keep_peak_buffers(fold, watch);
    for (uint16_t idx = 0; idx < fold->device_count; idx++)
        tts_corepeak_sort(&watch->devices[idx].peak);
}

/* ---- usages ---- */

static void fill_device_core(const struct tts_fold *fold, const struct tts_watch *watch,
                             uint16_t idx, struct tts_core_peak *out,
                             struct tts_core_part *parts)
{
    tts_fold_fill_core(fold, idx, &watch->devices[idx].peak, out, parts);
    assert(out->part_count <= listed_parts(watch->devices[idx].peak.sum.parts));
}

/* Fills the usage of a pool. `run` has the peak of the whole phase. */
static void fill_pool_usage(struct tts_pool_usage *out, const struct tts_pool_tally *run,
                            struct tts_pool_total *total)
{
    int64_t reached = (int64_t)(total->current_bytes + (uint64_t)run->peak_bytes);
    total->peak_bytes = reached > total->peak_bytes ? reached : total->peak_bytes;
    total->current_bytes += (uint64_t)tts_pool_tally_change(run);
    *out = (struct tts_pool_usage){.peak_bytes = run->peak_bytes,
                                   .allocated_bytes = (int64_t)run->allocated_bytes,
                                   .freed_bytes = (int64_t)run->freed_bytes,
                                   .cumulative_peak_bytes = total->peak_bytes,
                                   .cumulative_current_bytes = (int64_t)total->current_bytes,
                                   .allocations = run->allocations,
                                   .frees = run->frees};
}

static void fill_pair_usage(struct tts_pool_usage *out, const struct tts_tally *run,
                            enum tts_pool_pair pair, struct tts_pool_total *total)
{
    struct tts_pool_tally sum = run->pools[tts_pair_first(pair)];
    const struct tts_pool_tally *second = &run->pools[tts_pair_second(pair)];
    sum.allocated_bytes += second->allocated_bytes;
    sum.freed_bytes += second->freed_bytes;
    sum.allocations += second->allocations;
    sum.frees += second->frees;
    sum.peak_bytes = tts_tally_pair_peak(run, pair);
    fill_pool_usage(out, &sum, total);
}

static void fill_usage(struct tts_usage *out, const struct tts_tally *run,
                       struct tts_pool_total *totals, struct tts_pool_total *pair_totals)
{
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        struct tts_pool_tally one = run->pools[pool];
        one.peak_bytes = tts_tally_peak(run, (enum tts_pool)pool);
        fill_pool_usage(&out->pools[pool], &one, &totals[pool]);
    }
    fill_pair_usage(&out->dram_with_trace, run, TTS_PAIR_DRAM, &pair_totals[TTS_PAIR_DRAM]);
    fill_pair_usage(&out->l1_with_small, run, TTS_PAIR_L1, &pair_totals[TTS_PAIR_L1]);
    out->peak_cb_bytes = run->program_peak_bytes[TTS_CORE_CB];
    out->peak_dfb_bytes = run->program_peak_bytes[TTS_CORE_DFB];
    out->peak_scratchpad_bytes = run->program_peak_bytes[TTS_CORE_SCRATCHPAD];
    out->peak_total_bytes = run->total_peak_bytes;
    out->programs = run->programs;
    out->traces = run->traces;
    out->traced_bytes = run->traced_bytes;
}

static bool is_more_used(const struct tts_pool_usage *a, const struct tts_pool_usage *b)
{
    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes > b->peak_bytes;
    if (a->allocated_bytes != b->allocated_bytes)
        return a->allocated_bytes > b->allocated_bytes;
    return a->freed_bytes > b->freed_bytes;
}

enum { L1_WITH_SMALL = TTS_POOLS };

static const struct tts_pool_usage *pool_in_usage(const struct tts_usage *usage, int pool)
{
    return pool == L1_WITH_SMALL ? &usage->l1_with_small : &usage->pools[pool];
}

/* Takes the figures of the phase from the device that used the pool most in the phase, and the
 * cumulative figures from the device with the highest cumulative peak. These may be different
 * devices. */
static void fill_most_used(struct tts_pool_usage *out, const struct tts_phase *phase, int pool)
{
    *out = (struct tts_pool_usage){0};
    const struct tts_pool_usage *most = out, *total = out;
    for (size_t i = 0; i < phase->device_count; i++) {
        const struct tts_pool_usage *usage = pool_in_usage(&phase->devices[i].usage, pool);
        if (i == 0 || is_more_used(usage, most))
            most = usage;
        if (i == 0 || usage->cumulative_peak_bytes > total->cumulative_peak_bytes)
            total = usage;
    }
    struct tts_pool_usage result = *most;
    result.cumulative_peak_bytes = total->cumulative_peak_bytes;
    result.cumulative_current_bytes = total->cumulative_current_bytes;
    *out = result;
}

static int64_t more_bytes(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void fill_whole_usage(struct tts_watch *watch, struct tts_phase *phase)
{
    struct tts_usage *whole = &phase->usage;
    fill_usage(whole, &watch->whole, watch->totals, watch->pair_totals);
    whole->ops = watch->ops;
    fill_most_used(&whole->pools[TTS_POOL_L1], phase, TTS_POOL_L1);
    fill_most_used(&whole->pools[TTS_POOL_L1_SMALL], phase, TTS_POOL_L1_SMALL);
    fill_most_used(&whole->l1_with_small, phase, L1_WITH_SMALL);
    whole->peak_total_bytes = 0; /* no core has the sum of the L1 of several devices */
    for (size_t i = 0; i < phase->device_count; i++) {
        const struct tts_usage *usage = &phase->devices[i].usage;
        whole->peak_cb_bytes = more_bytes(whole->peak_cb_bytes, usage->peak_cb_bytes);
        whole->peak_dfb_bytes = more_bytes(whole->peak_dfb_bytes, usage->peak_dfb_bytes);
        whole->peak_scratchpad_bytes =
            more_bytes(whole->peak_scratchpad_bytes, usage->peak_scratchpad_bytes);
        whole->peak_total_bytes = more_bytes(whole->peak_total_bytes, usage->peak_total_bytes);
    }
}

/* Fills the core peak of the whole phase: the peak of the device with the fullest core. If this
 * device is listed, its usage has the parts already, and they are used. */
static void fill_whole_core(const struct tts_fold *fold, const struct tts_watch *watch,
                            struct tts_phase *phase, struct tts_core_part *parts)
{
    struct tts_core_peak *core = &phase->usage.core;
    *core = (struct tts_core_peak){.seq = watch->start_seq, .parts = parts};
    uint16_t best = fullest_device(fold, watch);
    for (uint16_t i = 0; i < watch->listed_count; i++)
        if (watch->listed[i] == best)
            *core = phase->devices[i].usage.core;
    if (best != TTS_FOLD_NO_DEVICE && !watch->devices[best].is_listed)
        fill_device_core(fold, watch, best, core, parts);
    core->at_least = fold->is_lost;
}

void tts_watch_cut(struct tts_fold *fold, struct tts_watch *watch, struct tts_phase *out,
                   struct tts_device_usage *devices, struct tts_core_part *parts)
{
    assert(watch->is_attached && watch->known_count == fold->device_count);
    assert(fold->seq >= watch->start_seq);
    finish_peaks(fold, watch);
    memset(out, 0, sizeof *out);
    out->events = fold->seq - watch->start_seq;
    out->devices = devices;
    out->device_count = watch->listed_count;
    for (uint16_t i = 0; i < watch->listed_count; i++) {
        uint16_t idx = watch->listed[i];
        struct tts_watch_device *seen = &watch->devices[idx];
        memset(&devices[i], 0, sizeof devices[i]);
        devices[i].device = fold->ids[idx];
        fill_usage(&devices[i].usage, &seen->run, seen->totals, seen->pair_totals);
        fill_device_core(fold, watch, idx, &devices[i].usage.core, parts);
        parts += devices[i].usage.core.part_count;
    }
    tts_watch_settle(watch, fold);
    fill_whole_usage(watch, out);
    fill_whole_core(fold, watch, out, parts);
    watch_begin(watch, fold);
}
