#include "analysis/live/liveowners.h"

#include "analysis/live/livereports.h"
#include "analysis/live/regionplace.h"
#include "analysis/live/slotowner.h"
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Capacities of a board, kept because many chips are of one kind. */
struct nominal_shape {
    const char *preset; /* NULL: nothing is kept */
    struct tts_livepool pools[TTS_POOL_L1 + 1];
    bool is_known, grid_known, channels_known;
    uint32_t grid_columns, grid_rows, dram_channels;
};

struct judge {
    const struct tts_hostview *view;
    struct tts_liveframe *frame;
    struct nominal_shape shape;
    bool largest_known;                      /* `largest_bytes` is filled */
    uint64_t largest_bytes[TTS_POOL_L1 + 1]; /* the largest pools of the catalogue */
};

/* ---- one device ---- */

/* Reads the capacities of a board from the catalogue. Programs choose the sizes of L1_SMALL and
 * TRACE when they open a device, so these are unknown. */
static void read_nominal_shape(struct nominal_shape *shape, const char *preset)
{
    struct tts_chip chip;
    struct tts_pool_layout layout;
    *shape = (struct nominal_shape){.preset = preset};
    shape->is_known = tts_chip_preset(preset, &chip, NULL) == TTS_OK;
    if (!shape->is_known)
        return;
    for (int pool = TTS_POOL_DRAM; pool <= TTS_POOL_L1; pool++)
        if (tts_chip_pool(&chip, (enum tts_pool)pool, &layout, NULL) == TTS_OK)
            shape->pools[pool] =
                (struct tts_livepool){.banks_known = true,
                                      .total_known = true,
                                      .banks = layout.banks,
                                      .total_bytes = layout.banks * layout.bank_bytes,
                                      .total_source = TTS_LIVETOTAL_NOMINAL};
    const struct tts_fact *grid = &chip.fact[TTS_FACT_GRID];
    const struct tts_fact *channel_banks = &chip.fact[TTS_FACT_DRAM_CHANNEL_BANKS];
    const struct tts_fact *banks = &chip.fact[TTS_FACT_DRAM_BANKS];
    shape->grid_known = grid->origin != TTS_ORIGIN_UNKNOWN && grid->value != 0;
    shape->grid_columns = TTS_GRID_COLUMNS(grid->value);
    shape->grid_rows = TTS_GRID_ROWS(grid->value);
    shape->channels_known = banks->origin != TTS_ORIGIN_UNKNOWN &&
                            channel_banks->origin != TTS_ORIGIN_UNKNOWN &&
                            channel_banks->value > 0;
    if (shape->channels_known)
        shape->dram_channels = (uint32_t)(banks->value / channel_banks->value);
}

static void set_nominal_pools(struct judge *judge, struct tts_livedevice *device,
                              const char *preset)
{
    struct nominal_shape *shape = &judge->shape;
    if (!preset)
        return;
    if (!shape->preset || strcmp(shape->preset, preset) != 0)
        read_nominal_shape(shape, preset);
    if (!shape->is_known)
        return;
    for (int pool = TTS_POOL_DRAM; pool <= TTS_POOL_L1; pool++) {
        device->pools[pool] = shape->pools[pool];
        if (shape->pools[pool].total_known)
            device->caveats |= TTS_CAVEAT_NOMINAL;
    }
    device->is_shape_nominal = true;
    device->grid_known = shape->grid_known;
    device->grid_columns = shape->grid_columns;
    device->grid_rows = shape->grid_rows;
    device->channels_known = shape->channels_known;
    device->dram_channels = shape->dram_channels;
}

static int compare_processes(const void *a, const void *b)
{
    const struct tts_liveprocess *x = a, *y = b;
    uint64_t p = tts_counters_sum(&x->counters), q = tts_counters_sum(&y->counters);
    if (p != q)
        return p > q ? -1 : 1;
    if (x->pid_known != y->pid_known)
        return x->pid_known ? -1 : 1;
    uint32_t m = x->pid_known ? x->pid : x->container_pid;
    uint32_t n = y->pid_known ? y->pid : y->container_pid;
    return m < n ? -1 : m > n;
}

static void set_chip_facts(struct judge *judge, struct tts_livedevice *device,
                           const struct tts_seenchip *chip)
{
    device->node_known = true;
    device->node = chip->node;
    device->arch_known = chip->arch_known;
    device->arch = chip->arch;
    memcpy(device->card_type, chip->card_type, sizeof device->card_type);
    if (chip->asic_id_known) {
        device->unique_id_known = true;
        device->unique_id = chip->asic_id;
    }
    set_nominal_pools(judge, device, chip->preset);
}

/* Adds the holders that own no slot: their bytes are unknown. `elsewhere` are the holders that
 * own a slot of another region of the chip. */
static enum tts_status add_untracked_holders(struct tts_liveframe *frame,
                                             struct tts_livedevice *device,
                                             const struct tts_slotroom *room,
                                             uint64_t elsewhere)
{
    for (size_t i = 0; i < room->holders.count; i++) {
        if ((room->owners | elsewhere) >> i & 1)
            continue;
        struct tts_liveprocess *process = tts_livedevice_add_process(frame, device);
        if (!process)
            return TTS_E_NOMEM;
        device->caveats |= TTS_CAVEAT_NOT_TRACKED;
        tts_liveprocess_set_facts(process, room->holders.processes[i]);
    }
    return TTS_OK;
}

/* Adds what is not known about the holders of a device. */
static void set_holder_caveats(struct tts_livedevice *device, const struct tts_slotroom *room)
{
    for (size_t i = 0; i < room->holders.count; i++) {
        if (room->holders.processes[i]->has_unsure_log)
            device->caveats |= TTS_CAVEAT_UNSURE_LOG;
        /* A process without a /dev/shm has no regions there. */
        int reason = room->holders.processes[i]->shm_errno;
        if (reason == EACCES || reason == EPERM)
            device->caveats |= TTS_CAVEAT_SHM_HIDDEN;
    }
}

static const char damaged_text[] =
    "the memory region is damaged: the counters exceed the memory of any device";

/* Says why a region cannot be read. */
static void set_unreadable(struct tts_livedevice *device, const struct tts_seenregion *region)
{
    char *out = device->reason;
    size_t size = sizeof device->reason;
    device->state = TTS_LIVE_UNREADABLE;
    switch (region->state) {
    case TTS_SEENREGION_NO_ACCESS:
        snprintf(out, size,
                 "the region belongs to user %" PRIu32 ": run ttscope as root or as that user",
                 region->owner_uid);
        return;
    case TTS_SEENREGION_EMPTY:
    case TTS_SEENREGION_INITIALISING:
        snprintf(out, size,
                 "a process has created the region but has not initialised the region yet");
        return;
    case TTS_SEENREGION_UNKNOWN_VERSION:
        snprintf(out, size,
                 "the file has an unknown layout (version %" PRIu32 ", %" PRIu64
                 " bytes): a newer ttscope may know this layout",
                 region->version, region->file_bytes);
        return;
    case TTS_SEENREGION_CORRUPT:
        snprintf(out, size, "%s", damaged_text);
        return;
    case TTS_SEENREGION_CHANGING:
        snprintf(out, size,
                 "cannot read the region: a process initialised the region again during each "
                 "attempt");
        return;
    case TTS_SEENREGION_FAILED:
        snprintf(out, size, "cannot read the region: %s", strerror(region->sys_errno));
        return;
    case TTS_SEENREGION_READ:
        break;
    }
    assert(!"the region can be read");
}

static void set_region_caveats(struct tts_livedevice *device,
                               const struct tts_seenregion *region)
{
    device->caveats |= TTS_CAVEAT_LOGICAL;
    if (region->version == 2 || region->version == 3)
        device->caveats |= TTS_CAVEAT_ONE_THREAD;
    if (!region->is_unix_time)
        device->caveats |= TTS_CAVEAT_CLOCK;
    if (region->version < 4 && region->total.known >> TTS_COUNTER_CB & 1 &&
        region->total.bytes[TTS_COUNTER_CB] > 0)
        device->caveats |= TTS_CAVEAT_CB_CACHED;
    if (region->private_of)
        device->caveats |= TTS_CAVEAT_PRIVATE;
    if (!region->is_id_confirmed)
        device->caveats |= TTS_CAVEAT_ID_DIFFERS;
}

/* The sums over the regions of one device. */
struct region_sum {
    struct tts_counters total, owned, dead;
    uint64_t references;
    size_t live, not_visible, readable, unreadable;
    bool is_older; /* the chip has a newer region with another id */
};

/* A slot and its sum of bytes. */
struct slot_rank {
    uint64_t bytes;
    uint32_t place;
    int32_t pid;
};

static bool is_rank_before(const struct slot_rank *x, const struct slot_rank *y)
{
    return x->bytes != y->bytes ? x->bytes > y->bytes : x->pid < y->pid;
}

/* Puts the slots into the order of the processes of a device, because a slot is cheaper to move
 * than a process. Returns their number. Sorts by Shell's method: qsort() would call a function
 * for each comparison, in a place where every refresh passes for every slot. */
static size_t rank_slots(const struct tts_seenregion *region,
                         struct slot_rank ranks[TTS_HOSTVIEW_SLOTS])
{
    static const size_t gaps[] = {23, 10, 4, 1};
    size_t count =
        region->slot_count < TTS_HOSTVIEW_SLOTS ? region->slot_count : TTS_HOSTVIEW_SLOTS;
    for (size_t i = 0; i < count; i++)
        ranks[i] = (struct slot_rank){tts_counters_sum(&region->slots[i].counters), (uint32_t)i,
                                      region->slots[i].pid};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
        for (size_t i = gaps[g]; i < count; i++) {
            struct slot_rank rank = ranks[i];
            size_t at = i;
            for (; at >= gaps[g] && is_rank_before(&rank, &ranks[at - gaps[g]]); at -= gaps[g])
                ranks[at] = ranks[at - gaps[g]];
            ranks[at] = rank;
        }
    return count;
}

static enum tts_status add_region_slots(struct judge *judge,
                                        const struct tts_seenregion *region,
                                        struct tts_slotroom *room,
                                        struct tts_livedevice *device, struct region_sum *sum)
{
    struct slot_rank ranks[TTS_HOSTVIEW_SLOTS];
    size_t count = rank_slots(region, ranks);
    for (size_t i = 0; i < count; i++) {
        const struct tts_seenslot *slot = &region->slots[ranks[i].place];
        struct tts_liveprocess *process = tts_livedevice_add_process(judge->frame, device);
        if (!process)
            return TTS_E_NOMEM;
        tts_slotroom_judge(judge->view, region, slot, room, process);
        sum->live += process->state == TTS_LIVEPROCESS_LIVE;
        sum->not_visible += process->state == TTS_LIVEPROCESS_NOT_VISIBLE;
        if (process->state == TTS_LIVEPROCESS_DEAD && ranks[i].bytes > 0)
            device->caveats |= TTS_CAVEAT_LEFT_OVER;
        if (process->shared_by > 1)
            device->caveats |= TTS_CAVEAT_SHARED_SLOT;
        tts_counters_add(&sum->owned, &slot->counters);
        if (process->state == TTS_LIVEPROCESS_DEAD)
            tts_counters_add(&sum->dead, &slot->counters);
    }
    return TTS_OK;
}

static enum tts_status add_region(struct judge *judge, const struct tts_seenregion *region,
                                  struct tts_slotroom *room, struct tts_livedevice *device,
                                  struct region_sum *sum)
{
    device->unique_id_known = true;
    device->unique_id = region->id;
    if (region->state != TTS_SEENREGION_READ) {
        sum->unreadable++;
        if (sum->readable > 0)
            return TTS_OK;
        device->layout = region->layout;
        set_unreadable(device, region);
        return TTS_OK;
    }
    device->layout = region->layout;
    sum->readable++;
    sum->references += region->reference_count;
    tts_counters_add(&sum->total, &region->total);
    device->reason[0] = '\0';
    device->source = TTS_LIVESOURCE_REGION;
    device->logical_id_known = true;
    device->logical_id = region->logical_id;
    if (region->is_unix_time && region->last_update_ns > device->update_ns) {
        device->update_known = true;
        device->update_ns = region->last_update_ns;
    }
    set_region_caveats(device, region);
    return add_region_slots(judge, region, room, device, sum);
}

/* Circular buffers are left out: each process overwrites their total. */
static bool is_sum_different(const struct region_sum *sum)
{
    for (int i = 0; i < TTS_POOLS; i++)
        if (sum->total.known >> i & 1 &&
            sum->total.bytes[i] != (sum->owned.known >> i & 1 ? sum->owned.bytes[i] : 0))
            return true;
    return false;
}

/* Decides the state of a device whose regions could be read. */
static void set_region_state(const struct tts_hostview *view, const struct tts_slotroom *room,
                             const struct region_sum *sum, struct tts_livedevice *device)
{
    enum tts_livereason reason = tts_slotroom_reason(view, room);
    bool has_bytes = tts_counters_sum(&sum->total) > 0;
    if (is_sum_different(sum))
        device->caveats |= TTS_CAVEAT_SUM_DIFFERS;
    if (sum->live > 0) {
        device->state = TTS_LIVE_LIVE;
    } else if (sum->not_visible > 0) {
        device->state = TTS_LIVE_LIVE;
    } else if (sum->references > 0 && sum->is_older) {
        device->state = TTS_LIVE_PHANTOM;
        device->caveats |= has_bytes ? TTS_CAVEAT_LEFT_OVER : 0u;
        snprintf(device->reason, sizeof device->reason,
                 "the board has a newer memory region with another id");
    } else if (sum->references == 0 &&
               (sum->is_older || !(device->node_known && room->holders.is_open))) {
        device->state = TTS_LIVE_IDLE;
        device->caveats |= has_bytes ? TTS_CAVEAT_LEFT_OVER : 0u;
    } else if (sum->references > 0 && reason != TTS_LIVEREASON_NONE) {
        device->state = TTS_LIVE_LIVE;
    } else if (room->holders.is_open) {
        device->state = TTS_LIVE_LIVE;
        device->caveats |= TTS_CAVEAT_NOT_TRACKED;
        snprintf(
            device->reason, sizeof device->reason,
            "a process has the chip open, but the buffers of this process are not tracked");
    } else {
        device->state = TTS_LIVE_PHANTOM;
        device->caveats |= has_bytes ? TTS_CAVEAT_LEFT_OVER : 0u;
        snprintf(device->reason, sizeof device->reason,
                 "no process has the chip open: the bytes are left over from processes that "
                 "were killed, and 'ttscope clean' removes them");
    }
}

/* ---- damaged counters ---- */

/* Finds the largest pools of the catalogue. */
static void find_largest_pools(struct judge *judge)
{
    const struct tts_preset *preset;
    struct nominal_shape shape;
    uint64_t *largest = judge->largest_bytes;
    for (size_t i = 0; !judge->largest_known && (preset = tts_preset_at(i)); i++) {
        read_nominal_shape(&shape, preset->name);
        for (int pool = TTS_POOL_DRAM; pool <= TTS_POOL_L1; pool++)
            if (shape.pools[pool].total_bytes > largest[pool])
                largest[pool] = shape.pools[pool].total_bytes;
    }
    judge->largest_known = true;
}

/* Returns the pools, as bits, in which the counters exceed those of the largest device.
 * Programs take L1_SMALL from L1, and TRACE from DRAM. Looks at the catalogue only if the board
 * of `device` does not hold so much. */
static uint32_t find_damaged_pools(struct judge *judge, const struct tts_livedevice *device,
                                   const uint64_t bytes[TTS_POOLS])
{
    static const enum tts_pool parents[TTS_POOLS] = {TTS_POOL_DRAM, TTS_POOL_L1, TTS_POOL_L1,
                                                     TTS_POOL_DRAM};
    uint32_t damaged = 0;
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_livepool *pool = &device->pools[parents[i]];
        if (bytes[i] <= (pool->total_known ? pool->total_bytes : 0))
            continue;
        find_largest_pools(judge);
        damaged |= (uint32_t)(bytes[i] > judge->largest_bytes[parents[i]]) << i;
    }
    return damaged;
}

/* Looks for counters that no device can hold. Bytes of several processes that were killed may
 * add up to more than a device, so left-overs count only within their own entry. Returns false
 * if the region is damaged: its numbers are unknown then. */
static bool check_region_counters(struct judge *judge, const struct region_sum *sum,
                                  struct tts_livedevice *device)
{
    /* The catalogue does not know the pools of other architectures. */
    if (device->arch_known && device->arch != TTS_ARCH_WORMHOLE &&
        device->arch != TTS_ARCH_BLACKHOLE)
        return true;
    bool is_left = device->state == TTS_LIVE_PHANTOM || device->state == TTS_LIVE_IDLE;
    uint64_t live[TTS_POOLS];
    for (int i = 0; i < TTS_POOLS; i++) {
        uint64_t total = sum->total.bytes[i], dead = sum->dead.bytes[i];
        live[i] = is_left || dead > total ? 0 : total - dead;
    }
    bool is_damaged = find_damaged_pools(judge, device, live) != 0;
    /* No entry has more than all together. */
    size_t suspects =
        find_damaged_pools(judge, device, sum->owned.bytes) ? device->process_count : 0;
    for (size_t i = 0; i < suspects; i++) {
        struct tts_counters *counters = &device->processes[i].counters;
        uint32_t damaged = find_damaged_pools(judge, device, counters->bytes);
        counters->known &= ~damaged;
        is_damaged |= damaged != 0;
    }
    if (!is_damaged)
        return true;
    device->state = TTS_LIVE_UNREADABLE;
    device->source = TTS_LIVESOURCE_NONE;
    snprintf(device->reason, sizeof device->reason, "%s", damaged_text);
    return false;
}

/* ---- one device with regions ---- */

/* A region that no process uses says nothing about a process that has the chip open. */
static void forget_zeros(struct tts_livedevice *device)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_livepool *pool = &device->pools[i];
        if (pool->allocated_bytes == 0)
            pool->allocated_known = pool->free_known = pool->free_is_limit = false;
    }
    device->cb_known = device->cb_known && device->cb_bytes > 0;
}

static void set_region_pools(const struct region_sum *sum, struct tts_livedevice *device)
{
    /* Without a process, also the bytes that belong to no entry are left over. */
    tts_livedevice_set_allocated(device, &sum->total,
                                 device->state == TTS_LIVE_LIVE ? &sum->dead : &sum->total);
    if (sum->references == 0 && device->state == TTS_LIVE_LIVE && sum->live == 0)
        forget_zeros(device);
}

/* Returns the process that the lock of a chip names, or NULL. The number is that of the process
 * in its own pid namespace, and stays in the file after a crash, so the process must be able to
 * have the chip open. Sets *is_sure if the process has the chip open. */
static const struct tts_seenprocess *
find_lock_owner(const struct tts_hostview *view, const struct tts_seenchip *chip, bool *is_sure)
{
    const struct tts_seenprocess *process = NULL;
    if (chip->lock_known && chip->lock_pid > 0 && (uint32_t)chip->lock_pid != view->own_pid)
        process = tts_hostview_process(view, (uint32_t)chip->lock_pid);
    if (!process || !process->is_alive || process->pid_levels > 1)
        return NULL;
    *is_sure = process->nodes_known && chip->node < 64 && process->nodes >> chip->node & 1;
    return *is_sure || !process->nodes_known || chip->node >= 64 ? process : NULL;
}

/* Decides the state of a chip that no region shows in use, and whose holders the driver does
 * not list. The lock of the chip is the only evidence. */
static enum tts_status judge_unlisted_chip(struct judge *judge, const struct tts_seenchip *chip,
                                           struct tts_livedevice *device)
{
    bool is_sure = false;
    const struct tts_seenprocess *owner = find_lock_owner(judge->view, chip, &is_sure);
    device->state = owner ? TTS_LIVE_LIVE : TTS_LIVE_IDLE;
    if (!owner) {
        snprintf(device->reason, sizeof device->reason,
                 "unknown who has the chip open, because the driver lists no processes; no "
                 "lock names a live process");
        return TTS_OK;
    }
    device->caveats |= TTS_CAVEAT_NOT_TRACKED;
    forget_zeros(device);
    snprintf(device->reason, sizeof device->reason,
             "process %" PRIu32 " %s, but no program reports the memory of the chip",
             owner->pid,
             is_sure ? "has locked the chip and has it open"
                     : "is named in the lock of the chip and may have the chip open");
    struct tts_liveprocess *process =
        is_sure ? tts_livedevice_add_process(judge->frame, device) : NULL;
    if (process)
        tts_liveprocess_set_facts(process, owner);
    return is_sure && !process ? TTS_E_NOMEM : TTS_OK;
}

/* Makes the device of regions[0..count), which have the same id and the same chip. */
static enum tts_status judge_regions(struct judge *judge,
                                     const struct tts_placedregion *regions, size_t count)
{
    const struct tts_seenchip *chip = regions[0].chip;
    struct tts_livedevice *device = tts_liveframe_add_device(judge->frame);
    struct tts_slotroom room;
    struct region_sum sum = {0};
    if (!device)
        return TTS_E_NOMEM;
    if (chip)
        set_chip_facts(judge, device, chip);
    tts_slotroom_find(judge->view, chip, regions[0].region->id, &room);
    room.newer = regions[0].newer;
    sum.is_older = regions[0].is_older;
    for (size_t i = 0; i < count; i++)
        if (add_region(judge, regions[i].region, &room, device, &sum) != TTS_OK)
            return TTS_E_NOMEM;
    if (sum.readable > 0 && sum.unreadable > 0)
        device->caveats |= TTS_CAVEAT_PART_REGION;
    if (sum.readable > 0) {
        set_region_state(judge->view, &room, &sum, device);
        if (check_region_counters(judge, &sum, device))
            set_region_pools(&sum, device);
    }
    if (!chip) {
        device->caveats |= TTS_CAVEAT_NO_BOARD;
        return TTS_OK;
    }
    if (sum.is_older) {
        /* A live process may use the older region still. */
        bool is_left = device->state == TTS_LIVE_PHANTOM || device->state == TTS_LIVE_IDLE;
        device->caveats |= is_left ? TTS_CAVEAT_OLDER_ID : 0u;
        return TTS_OK;
    }
    if (regions[0].is_by_owner)
        device->caveats |= TTS_CAVEAT_BY_OWNER;
    set_holder_caveats(device, &room);
    if (device->state == TTS_LIVE_IDLE && !room.holders.is_listed)
        return judge_unlisted_chip(judge, chip, device);
    return add_untracked_holders(judge->frame, device, &room, regions[0].elsewhere);
}

/* Makes the device of a chip that has no region. */
static enum tts_status judge_bare_chip(struct judge *judge, const struct tts_seenchip *chip)
{
    struct tts_slotroom room;
    struct tts_livedevice *device = tts_liveframe_add_device(judge->frame);
    if (!device)
        return TTS_E_NOMEM;
    set_chip_facts(judge, device, chip);
    tts_slotroom_find(judge->view, chip, chip->asic_id, &room);
    set_holder_caveats(device, &room);
    if (!room.holders.is_listed && !room.holders.is_open)
        return judge_unlisted_chip(judge, chip, device);
    bool is_held = room.holders.is_open;
    device->state = is_held ? TTS_LIVE_LIVE : TTS_LIVE_IDLE;
    int reason = judge->view->regions_errno;
    if (is_held)
        device->caveats |= TTS_CAVEAT_NOT_TRACKED;
    if (reason != 0 && reason != ENOENT) {
        struct tts_error text;
        tts_error_set_errno(&text, TTS_E_IO, reason,
                            "cannot list the memory regions in /dev/shm");
        snprintf(device->reason, sizeof device->reason, "%s", text.text);
    } else if (is_held) {
        snprintf(device->reason, sizeof device->reason,
                 "a process has the chip open, but no program reports the memory of the chip");
    }
    return add_untracked_holders(judge->frame, device, &room, 0);
}

/* ---- the devices of the host ---- */

/* Makes the devices of all regions of one chip, or of all regions without a chip. Returns the
 * number of regions through *count; 0 if the first region belongs to another chip. */
static enum tts_status judge_chip_regions(struct judge *judge,
                                          const struct tts_placedregion *regions, size_t left,
                                          const struct tts_seenchip *chip, size_t *count)
{
    size_t done = 0;
    while (done < left && regions[done].chip == chip) {
        size_t same = tts_regionplace_count(regions + done, left - done);
        if (judge_regions(judge, regions + done, same) != TTS_OK)
            return TTS_E_NOMEM;
        done += same;
    }
    *count = done;
    return TTS_OK;
}

static enum tts_status judge_devices(struct judge *judge,
                                     const struct tts_placedregion *regions)
{
    const struct tts_hostview *view = judge->view;
    size_t at = 0, count;
    for (size_t i = 0; i < view->chip_count; i++) {
        const struct tts_seenchip *chip = &view->chips[i];
        if (judge_chip_regions(judge, regions + at, view->region_count - at, chip, &count) !=
                TTS_OK ||
            (count == 0 && judge_bare_chip(judge, chip) != TTS_OK))
            return TTS_E_NOMEM;
        at += count;
    }
    return judge_chip_regions(judge, regions + at, view->region_count - at, NULL, &count);
}

/* Sorts the processes of a device, the largest first. Most are sorted already. */
static void sort_device_processes(struct tts_livedevice *device)
{
    struct tts_liveprocess *processes = device->processes;
    bool is_sorted = true;
    for (size_t i = 1; i < device->process_count && is_sorted; i++)
        is_sorted = compare_processes(&processes[i - 1], &processes[i]) <= 0;
    if (!is_sorted)
        qsort(processes, device->process_count, sizeof *processes, compare_processes);
}

enum tts_status tts_liveowners_judge(const struct tts_hostview *view,
                                     struct tts_liveframe *frame, struct tts_error *err)
{
    struct tts_placedregion *regions = NULL;
    size_t bytes = view->region_count * sizeof *regions;
    enum tts_status status = TTS_OK;
    tts_liveframe_reset(frame);
    frame->time_ns = view->time_ns;
    frame->driver_loaded = view->driver_loaded;
    frame->left_out = view->chips_left_out + view->regions_left_out;
    for (size_t i = 0; i < view->client_count; i++)
        frame->left_out += view->clients[i].views_left_out;
    frame->processes_left_out = view->processes_left_out + view->clients_left_out;
    frame->logs_left_out = view->buffers_left_out;
    if (bytes > 0 && !(regions = frame->alloc->alloc(frame->alloc->ctx, bytes)))
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    if (regions)
        tts_regionplace_all(view, regions);
    struct judge judge = {.view = view, .frame = frame};
    status = judge_devices(&judge, regions);
    if (status == TTS_OK)
        status = tts_livereports_add(view, frame);
    if (regions)
        frame->alloc->free(frame->alloc->ctx, regions, bytes);
    for (size_t i = 0; i < frame->device_count; i++)
        sort_device_processes(&frame->devices[i]);
    if (status == TTS_OK)
        return TTS_OK;
    tts_liveframe_reset(frame);
    return tts_error_set(err, status, TTS_TEXT_NOMEM);
}
