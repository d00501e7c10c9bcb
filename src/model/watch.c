#include "base/heap.h"
#include "model/fold_inside.h"

#include <assert.h>
#include <string.h>

static size_t parts_bytes(uint16_t devices)
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
    watch->parts = alloc->alloc(alloc->ctx, parts_bytes(max));
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
        alloc->free(alloc->ctx, watch->parts, parts_bytes(max));
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
        tts_corepeak_init(&watch->devices[idx].peak, &watch->parts[idx * TTS_CORE_PARTS_MAX]);
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

void tts_watch_begin(struct tts_watch *watch, const struct tts_fold *fold)
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
    tts_watch_begin(watch, fold);
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
