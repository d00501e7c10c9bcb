#include "model/fold_inside.h"

#include <assert.h>

/* What the ledger says is on the cores of a device. */
struct expected {
    uint64_t all[TTS_CORE_KINDS], all_parts, some_parts;
    uint64_t some[TTS_CORE_KINDS]; /* bytes times cores */
};

static uint64_t area(const struct tts_fold *fold, uint32_t set)
{
    size_t count;
    const struct tts_box *box = tts_coresets_boxes(fold->sets, set, &count);
    uint64_t cores = 0;
    for (size_t i = 0; i < count; i++)
        cores += (uint64_t)(box[i].x1 - box[i].x0 + 1) * (uint64_t)(box[i].y1 - box[i].y0 + 1);
    return cores;
}

static void expect(const struct tts_fold *fold, const struct tts_fold_device *device,
                   struct expected *out)
{
    *out = (struct expected){0};
    uint32_t cursor = tts_ledger_l1_head(fold->ledger);
    for (const struct tts_l1_entry *entry;
         (entry = tts_ledger_l1_next(fold->ledger, &cursor));) {
        if (entry->device != device->idx && entry->device != device->mesh)
            continue;
        enum tts_core_kind kind = tts_pool_core_kind((enum tts_pool)entry->pool);
        if (entry->cores == TTS_CORESETS_EVERY) {
            out->all[kind] += entry->block_bytes;
            out->all_parts++;
        } else if (entry->cores != TTS_CORESETS_NOWHERE) {
            out->some[kind] += entry->block_bytes * area(fold, entry->cores);
            out->some_parts++;
        }
    }
    for (uint32_t i = 0; i < device->cores.program_count; i++) {
        const struct tts_program_part *part = &device->cores.grid->program[i];
        out->some[part->kind] += part->bytes * area(fold, part->set);
    }
}

static bool is_device_valid(const struct tts_fold *fold, const struct tts_fold_device *device)
{
    const struct tts_cores *cores = &device->cores;
    if (!tts_cores_are_valid(cores))
        return false;
    struct expected expected;
    expect(fold, device, &expected);
    if (expected.all_parts != cores->all_parts || expected.some_parts != cores->some_parts)
        return false;
    for (int kind = 0; kind < TTS_CORE_KINDS; kind++) {
        if (expected.all[kind] != cores->all[kind])
            return false;
        uint64_t some = 0;
        for (int core = 0; cores->has_grid && core < TTS_CORES_MAX; core++)
            some += cores->grid->by[kind][core];
        bool is_whole = kind >= TTS_PROGRAM_KINDS || !cores->has_unlisted;
        if (is_whole && some != expected.some[kind])
            return false;
    }
    return !cores->is_lost || fold->is_lost;
}

static bool are_links_valid(const struct tts_fold *fold, const struct tts_fold_device *device)
{
    uint16_t last = TTS_FOLD_NO_DEVICE;
    const struct tts_fold_device *at = tts_fold_next(fold, device, device);
    for (; at; at = tts_fold_next(fold, device, at)) {
        if (at->mesh != device->idx || at->first_chip != TTS_FOLD_NO_DEVICE)
            return false;
        last = at->idx;
    }
    return last == device->last_chip && tts_fold_find(fold, device->id) == device &&
           device == &fold->devices[device->idx];
}

static bool is_watch_valid(const struct tts_fold *fold, const struct tts_watch *watch)
{
    if (!watch->is_attached || watch->known_count != fold->device_count ||
        watch->start_seq > fold->seq)
        return false;
    uint16_t listed = 0;
    for (uint16_t i = 0; i < watch->known_count; i++) {
        const struct tts_watch_device *seen = &watch->devices[i];
        listed = (uint16_t)(listed + seen->is_listed);
        if (seen->phase == watch->phase && !seen->is_listed)
            return false;
        if (seen->phase != watch->phase)
            continue;
        if (seen->peak.sum.bytes < tts_cores_bytes(&fold->devices[i].cores) ||
            seen->peak.seq < watch->start_seq || seen->peak.seq > fold->seq)
            return false;
    }
    return listed == watch->listed_count;
}

bool tts_fold_is_valid(const struct tts_fold *fold)
{
    uint64_t depth = 0;
    if (!tts_ledger_is_valid(fold->ledger) || fold->device_count > fold->limits.devices_max)
        return false;
    for (uint16_t i = 0; i < fold->device_count; i++) {
        const struct tts_fold_device *device = &fold->devices[i];
        depth += device->trace_depth;
        if (!are_links_valid(fold, device) || !is_device_valid(fold, device))
            return false;
    }
    for (const struct tts_watch *watch = fold->watches; watch; watch = watch->next)
        if (!is_watch_valid(fold, watch))
            return false;
    return depth == fold->trace_depth;
}
