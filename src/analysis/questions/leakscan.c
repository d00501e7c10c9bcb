#include "analysis/questions/leakscan.h"

#include "analysis/questions/leak.h"
#include "base/hashtable.h"
#include "base/heap.h"
#include "base/seed.h"

struct leak_kind {
    const char *op;
    uint64_t size_bytes;
    enum tts_pool pool;
    uint32_t count; /* live buffers now */
    uint32_t freed; /* since the history got the number */
    bool is_changed;
};

/* A device with its kinds; the place of a kind is its key in the history. */
struct leak_device {
    uint32_t id;
    struct tts_leak history;
    struct leak_kind *kinds;
    struct tts_hashtable by_kind;
    uint32_t *changed; /* kinds that changed since the last look */
    size_t changed_count;
    uint64_t allocs, frees;
    bool has_freed; /* after the last allocation */
};

struct tts_leakscan {
    const struct tts_alloc *alloc;
    uint64_t seed, kinds_left_out;
    struct leak_device *devices[TTS_LEAKSCAN_DEVICES];
    size_t device_count, last;
};

/* ---- creation ---- */

enum tts_status tts_leakscan_new(const struct tts_alloc *alloc, struct tts_leakscan **out)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_leakscan *scan = alloc->alloc(alloc->ctx, sizeof *scan);
    if (!scan)
        return TTS_E_NOMEM;
    *scan = (struct tts_leakscan){.alloc = alloc, .seed = tts_seed()};
    *out = scan;
    return TTS_OK;
}

static void free_leak_device(const struct tts_alloc *alloc, struct leak_device *device)
{
    if (device->kinds)
        alloc->free(alloc->ctx, device->kinds, TTS_LEAKSCAN_KINDS * sizeof *device->kinds);
    if (device->changed)
        alloc->free(alloc->ctx, device->changed, TTS_LEAKSCAN_KINDS * sizeof *device->changed);
    tts_hashtable_release(&device->by_kind);
    tts_leak_release(&device->history);
    alloc->free(alloc->ctx, device, sizeof *device);
}

void tts_leakscan_free(struct tts_leakscan *scan)
{
    if (!scan)
        return;
    for (size_t i = 0; i < scan->device_count; i++)
        free_leak_device(scan->alloc, scan->devices[i]);
    scan->alloc->free(scan->alloc->ctx, scan, sizeof *scan);
}

static struct leak_device *new_leak_device(const struct tts_alloc *alloc, uint32_t id)
{
    struct leak_device *device = alloc->alloc(alloc->ctx, sizeof *device);
    if (!device)
        return NULL;
    *device = (struct leak_device){.id = id, .by_kind.alloc = alloc};
    device->kinds = alloc->alloc(alloc->ctx, TTS_LEAKSCAN_KINDS * sizeof *device->kinds);
    device->changed = alloc->alloc(alloc->ctx, TTS_LEAKSCAN_KINDS * sizeof *device->changed);
    if (device->kinds && device->changed &&
        tts_leak_init(&device->history, TTS_LEAKSCAN_KINDS, alloc) == TTS_OK)
        return device;
    free_leak_device(alloc, device);
    return NULL;
}

/* ---- finding ---- */

/* Finds or adds a device. Sets *out to NULL if there are too many. */
static enum tts_status find_leak_device(struct tts_leakscan *scan, uint32_t id,
                                        struct leak_device **out)
{
    *out = NULL;
    for (size_t i = 0; i < scan->device_count; i++) {
        size_t at = (scan->last + i) % scan->device_count;
        if (scan->devices[at]->id != id)
            continue;
        scan->last = at;
        *out = scan->devices[at];
        return TTS_OK;
    }
    if (scan->device_count == TTS_LEAKSCAN_DEVICES) {
        scan->kinds_left_out++;
        return TTS_OK;
    }
    *out = new_leak_device(scan->alloc, id);
    if (!*out)
        return TTS_E_NOMEM;
    scan->devices[scan->device_count++] = *out;
    return TTS_OK;
}

static bool is_same_leak_kind(const void *ctx, uint32_t place, const void *key)
{
    const struct leak_kind *a = (const struct leak_kind *)ctx + place, *b = key;
    return a->op == b->op && a->size_bytes == b->size_bytes && a->pool == b->pool;
}

/* Finds or adds the kind of a buffer. Sets *out to NULL if there are too many kinds. */
static enum tts_status find_leak_kind(struct tts_leakscan *scan, struct leak_device *device,
                                      const struct tts_live *live, struct leak_kind **out)
{
    struct leak_kind kind = {
        .op = live->op, .size_bytes = live->size_bytes, .pool = live->pool};
    uint32_t hash = tts_hashtable_mix(scan->seed, (uint64_t)(uintptr_t)kind.op,
                                      kind.size_bytes * TTS_POOLS + kind.pool);
    uint32_t place =
        tts_hashtable_find(&device->by_kind, hash, is_same_leak_kind, device->kinds, &kind);
    *out = NULL;
    if (place == TTS_HASHTABLE_NONE) {
        if (device->history.key_count == TTS_LEAKSCAN_KINDS) {
            scan->kinds_left_out++;
            return TTS_OK;
        }
        if (tts_hashtable_add(&device->by_kind, hash, (uint32_t)device->history.key_count) !=
            TTS_OK)
            return TTS_E_NOMEM;
        (void)!tts_leak_add(&device->history, 0, &place);
        device->kinds[place] = kind;
    }
    *out = &device->kinds[place];
    return TTS_OK;
}

/* ---- changes ---- */

/* Gives the history the numbers of all kinds that changed. */
static void commit_leak_kinds(struct leak_device *device)
{
    for (size_t i = 0; i < device->changed_count; i++) {
        struct leak_kind *kind = &device->kinds[device->changed[i]];
        tts_leak_set(&device->history, device->changed[i], kind->count, kind->freed);
        kind->freed = 0;
        kind->is_changed = false;
    }
    device->changed_count = 0;
}

static void mark_leak_kind(struct leak_device *device, struct leak_kind *kind)
{
    if (!kind->is_changed)
        device->changed[device->changed_count++] = (uint32_t)(kind - device->kinds);
    kind->is_changed = true;
}

static enum tts_status take_leak_free(struct tts_leakscan *scan, const struct tts_live *left)
{
    struct leak_device *device;
    struct leak_kind *kind = NULL;
    enum tts_status status = find_leak_device(scan, left->device, &device);
    if (status == TTS_OK && device)
        status = find_leak_kind(scan, device, left, &kind);
    if (status != TTS_OK || !kind)
        return status;
    device->frees++;
    device->has_freed = true;
    kind->freed++;
    kind->count -= kind->count > 0;
    mark_leak_kind(device, kind);
    return TTS_OK;
}

static enum tts_status take_leak_alloc(struct tts_leakscan *scan,
                                       const struct tts_change *change, uint64_t time_ns)
{
    const struct tts_live *came = &change->came;
    struct leak_device *device;
    struct leak_kind *kind = NULL;
    enum tts_status status = find_leak_device(scan, came->device, &device);
    if (status != TTS_OK || !device)
        return status;
    if (device->has_freed) {
        commit_leak_kinds(device);
        tts_leak_tick(&device->history, time_ns, device->allocs, device->frees);
        device->has_freed = false;
    }
    status = find_leak_kind(scan, device, came, &kind);
    if (status != TTS_OK || !kind)
        return status;
    device->allocs += !change->is_restored;
    kind->count++;
    mark_leak_kind(device, kind);
    return TTS_OK;
}

enum tts_status tts_leakscan_change(struct tts_leakscan *scan, const struct tts_change *change,
                                    uint64_t time_ns)
{
    enum tts_status status = TTS_OK;
    if (change->has_left)
        status = take_leak_free(scan, &change->left);
    if (status == TTS_OK && change->has_come && !change->is_unlisted)
        status = take_leak_alloc(scan, change, time_ns);
    return status;
}

/* ---- the answer ---- */

static void add_leak_owner(struct tts_leakowners *out, const struct leak_device *device,
                           const struct tts_leakfound *found,
                           const struct tts_leakgrowth *growth)
{
    const struct leak_kind *kind = &device->kinds[growth->key];
    if (out->count == TTS_LEAKSCAN_OWNERS_MAX) {
        out->unlisted++;
        return;
    }
    out->owners[out->count++] =
        (struct tts_leakowner){.device = device->id,
                               .pool = kind->pool,
                               .op = kind->op,
                               .size_bytes = kind->size_bytes,
                               .buffers = growth->gained,
                               .periods = found->periods,
                               .since_ns = found->since_ns,
                               .until_ns = found->until_ns,
                               .is_after_steady = found->is_after_steady};
}

void tts_leakscan_judge(struct tts_leakscan *scan, struct tts_leakowners *out)
{
    *out = (struct tts_leakowners){.kinds_left_out = scan->kinds_left_out};
    for (size_t i = 0; i < scan->device_count; i++) {
        struct leak_device *device = scan->devices[i];
        struct tts_leakfound found;
        if (!tts_leak_judge(&device->history, true, &found))
            continue;
        for (size_t j = 0; j < found.growth_count; j++)
            add_leak_owner(out, device, &found, &found.growths[j]);
        out->unlisted += found.unlisted;
    }
}
