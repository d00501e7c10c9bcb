#include "analysis/questions/growscan.h"

#include <string.h>

/* Samples without a change after which a pool does not grow any more. */
enum { QUIET_SAMPLES = 3 };

/* Counts a device that is not followed, once. */
static void leave_out_device(struct tts_growscan *scan, uint32_t id)
{
    size_t *count = &scan->found.devices_left_out;
    for (size_t i = *count; i-- > 0;)
        if (scan->left_out[i] == id)
            return;
    if (*count < TTS_GROWSCAN_LEFT_OUT_MAX)
        scan->left_out[(*count)++] = id;
}

/* Returns the place of a device, which is added if it is new, or TTS_GROWSCAN_DEVICES if there
 * are too many. */
static size_t find_grow_device(struct tts_growscan *scan, uint32_t id)
{
    if (scan->last < scan->device_count && scan->devices[scan->last].id == id)
        return scan->last;
    size_t at = 0;
    while (at < scan->device_count && scan->devices[at].id != id)
        at++;
    if (at == TTS_GROWSCAN_DEVICES) {
        leave_out_device(scan, id);
        return at;
    }
    if (at == scan->device_count)
        scan->devices[scan->device_count++].id = id;
    scan->last = at;
    return at;
}

/* Lists the growth of a pool, or notes its end, after a sample. */
static void note_pool_growth(struct tts_growscan *scan, size_t device, enum tts_pool pool)
{
    struct tts_growfounds *found = &scan->found;
    struct tts_growpool *at = &scan->devices[device].pools[pool];
    if (!at->growth.is_growing) {
        if (at->found > 0) {
            found->list[at->found - 1].is_withdrawn = true;
            found->list[at->found - 1].withdrawn_ns = at->growth.last_ns;
        }
        at->found = 0;
        return;
    }
    if (at->found == 0) {
        if (found->count == TTS_GROWSCAN_FOUND_MAX) {
            /* The sample after this rise may be one without a rise. */
            bool is_new = at->growth.rises == scan->rule.rises && at->growth.flats == 0;
            found->unlisted += is_new;
            scan->devices[device].unlisted += is_new;
            return;
        }
        at->found = ++found->count;
    }
    found->list[at->found - 1] = (struct tts_growfound){.device = scan->devices[device].id,
                                                        .pool = pool,
                                                        .growth = at->growth,
                                                        .total_known = at->total_known,
                                                        .total_bytes = at->total_bytes};
}

/* Takes the samples that are due up to a time. The bytes did not change since the last call. */
static void sample_grow_pool(struct tts_growscan *scan, size_t device, enum tts_pool pool,
                             uint64_t time_ns)
{
    struct tts_growpool *at = &scan->devices[device].pools[pool];
    struct tts_growth *growth = &at->growth;
    uint64_t interval = scan->rule.interval_ns;
    for (int i = 0; i < QUIET_SAMPLES && growth->has_sample && growth->due_ns <= time_ns; i++) {
        (void)tts_growth_feed(growth, &scan->rule, growth->due_ns, at->bytes);
        note_pool_growth(scan, device, pool);
    }
    if (!growth->has_sample || growth->due_ns > time_ns)
        return;
    uint64_t last_ns = growth->due_ns + (time_ns - growth->due_ns) / interval * interval;
    (void)tts_growth_feed(growth, &scan->rule, last_ns, at->bytes);
    note_pool_growth(scan, device, pool);
}

/* Returns whether the item happened at a time. A buffer that lived before the file did not. */
static bool has_grow_time(const struct tts_item *item)
{
    return item->has_time && (item->kind == TTS_ITEM_EVENT || item->kind == TTS_ITEM_SAMPLE);
}

/* Changes the bytes of a pool at the time of the item. The first change is the first sample. A
 * buffer that lived before the file is no change. */
static void set_pool_bytes(struct tts_growscan *scan, size_t device, enum tts_pool pool,
                           const struct tts_item *item, uint64_t bytes)
{
    struct tts_growpool *at = &scan->devices[device].pools[pool];
    bool is_change = has_grow_time(item);
    /* A sample at the time of the change comes after the change. */
    if (is_change && item->time_ns > 0)
        sample_grow_pool(scan, device, pool, item->time_ns - 1);
    at->bytes = bytes;
    if (is_change && !at->growth.has_sample)
        (void)tts_growth_feed(&at->growth, &scan->rule, item->time_ns, bytes);
}

/* Takes a growth out of the list. The growths after it move. */
static void drop_growth(struct tts_growscan *scan, size_t idx)
{
    struct tts_growfounds *found = &scan->found;
    memmove(&found->list[idx], &found->list[idx + 1],
            (found->count - idx - 1) * sizeof *found->list);
    found->count--;
    for (size_t i = 0; i < scan->device_count; i++)
        for (int pool = 0; pool < TTS_POOLS; pool++)
            scan->devices[i].pools[pool].found -= scan->devices[i].pools[pool].found > idx + 1;
}

/* Forgets what the samples of a device said, except the sizes of its pools: events are exact.
 */
static void forget_grow_samples(struct tts_growscan *scan, size_t device)
{
    struct tts_growpool *pools = scan->devices[device].pools;
    for (size_t i = scan->found.count; i-- > 0;)
        if (scan->found.list[i].device == scan->devices[device].id)
            drop_growth(scan, i);
    scan->found.unlisted -= scan->devices[device].unlisted;
    scan->devices[device].unlisted = 0;
    for (int i = 0; i < TTS_POOLS; i++)
        pools[i] = (struct tts_growpool){.total_known = pools[i].total_known,
                                         .total_bytes = pools[i].total_bytes};
}

static void take_grow_buffer(struct tts_growscan *scan, const struct tts_item *item,
                             const struct tts_live *live, bool has_come)
{
    size_t device = find_grow_device(scan, live->device);
    if (device == TTS_GROWSCAN_DEVICES)
        return;
    if (!scan->devices[device].has_events)
        forget_grow_samples(scan, device);
    scan->devices[device].has_events = true;
    uint64_t bytes = scan->devices[device].pools[live->pool].bytes, size = live->size_bytes;
    if (has_come)
        bytes = size > UINT64_MAX - bytes ? UINT64_MAX : bytes + size;
    else
        bytes -= size < bytes ? size : bytes;
    set_pool_bytes(scan, device, live->pool, item, bytes);
}

static void take_grow_sample(struct tts_growscan *scan, const struct tts_item *item)
{
    size_t device = find_grow_device(scan, item->device);
    if (device == TTS_GROWSCAN_DEVICES)
        return;
    for (int i = 0; i < TTS_POOLS; i++) {
        enum tts_pool pool = (enum tts_pool)i;
        struct tts_growpool *at = &scan->devices[device].pools[i];
        unsigned total = tts_sample_number(TTS_SAMPLE_TOTAL, pool);
        unsigned allocated = tts_sample_number(TTS_SAMPLE_ALLOCATED, pool);
        if (tts_sample_has(item->sample, total)) {
            at->total_known = true;
            at->total_bytes = item->sample->values[total];
        }
        if (!scan->devices[device].has_events && tts_sample_has(item->sample, allocated))
            set_pool_bytes(scan, device, pool, item, item->sample->values[allocated]);
    }
}

void tts_growscan_item(struct tts_growscan *scan, const struct tts_item *item,
                       const struct tts_change *change)
{
    scan->found.has_times |= has_grow_time(item);
    if (change->has_left)
        take_grow_buffer(scan, item, &change->left, false);
    if (change->has_come)
        take_grow_buffer(scan, item, &change->came, true);
    if (item->kind == TTS_ITEM_SAMPLE)
        take_grow_sample(scan, item);
}

void tts_growscan_end(struct tts_growscan *scan, uint64_t time_ns)
{
    for (size_t i = 0; i < scan->device_count; i++)
        for (int pool = 0; pool < TTS_POOLS; pool++)
            sample_grow_pool(scan, i, (enum tts_pool)pool, time_ns);
}
