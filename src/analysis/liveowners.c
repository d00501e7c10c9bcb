#include "analysis/liveowners.h"

#include "analysis/chipholders.h"
#include "analysis/chipid.h"
#include "analysis/livereports.h"
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The processes that may own memory of one device. */
struct owner_room {
    struct tts_chipholders holders;
    bool is_owner[TTS_HOSTVIEW_HOLDERS_MAX]; /* this holder owns a slot of the device */
    /* This holder owns a slot of a newer region of the chip, so it owns none of this region. */
    bool is_newer[TTS_HOSTVIEW_HOLDERS_MAX];
    bool is_older;     /* the chip has a newer region with another id */
    bool is_simulated; /* no list names the processes of a simulated chip */
    uint64_t nodes;    /* the device nodes that an owner has open, one of them at least */
};

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
};

/* Finds the processes that may own memory of a region. */
static void find_owners(const struct tts_hostview *view, const struct tts_seenchip *chip,
                        uint64_t id, struct owner_room *room)
{
    *room =
        (struct owner_room){.nodes = UINT64_MAX, .is_simulated = tts_chipid_is_simulated(id)};
    if (room->is_simulated)
        return;
    if (chip)
        room->nodes = chip->node < 64 ? UINT64_C(1) << chip->node : UINT64_MAX;
    tts_chipholders_find(view, chip, &room->holders);
}

/* A region in the order of the screen: by node, then by id. Regions without a chip come last.
 */
struct placed_region {
    const struct tts_seenregion *region;
    const struct tts_seenchip *chip; /* NULL: the region matches no chip of this host */
    bool is_by_owner;                /* the chip was found by a process that uses both */
    bool is_older;                   /* the chip has a newer region with another id */
    const struct placed_region *newest, *last; /* if is_older: that region, and the last one */
};

/* ---- slots ---- */

/* The slot names only the first 15 bytes of a process name. */
static bool is_same_name(const struct tts_seenslot *slot, const struct tts_seenprocess *process)
{
    return strncmp(slot->name, process->comm, sizeof slot->name) == 0;
}

/* Returns whether the slot can belong to the process. A region in a private /dev/shm has only
 * processes of the pid namespace of the process that showed the region. */
static bool is_slot_of(const struct tts_hostview *view, const struct tts_seenregion *region,
                       const struct tts_seenslot *slot, const struct tts_seenprocess *process)
{
    const struct tts_seenprocess *keeper =
        region->private_of ? tts_hostview_process(view, region->private_of) : NULL;
    if (tts_seenprocess_inside(process) != (uint32_t)slot->pid ||
        !tts_seenslot_is_after_start(slot, region, process))
        return false;
    return !keeper || !keeper->namespace_known || !process->namespace_known ||
           keeper->namespace_id == process->namespace_id;
}

/* How sure it is that a process which is not a listed holder owns a slot. */
enum owner_evidence { OWNER_NO, OWNER_PERHAPS, OWNER_LIKELY, OWNER_YES };

/* Judges the process that has the number of the slot in our pid namespace. The process can own
 * the slot although the driver does not list the process: the list names the process that
 * opened the device, not a child that inherited the open device; an old driver has no list; and
 * a simulated chip has no driver. */
static enum owner_evidence judge_namesake(const struct tts_hostview *view,
                                          const struct tts_seenregion *region,
                                          const struct tts_seenslot *slot,
                                          const struct owner_room *room,
                                          const struct tts_seenprocess *process)
{
    if (!process || !process->is_alive || process->pid_levels != 1 || region->private_of ||
        !tts_seenslot_is_after_start(slot, region, process) ||
        (room->holders.is_listed && !room->holders.is_open)) /* nobody has the chip open */
        return OWNER_NO;
    bool is_node_read = !room->is_simulated && view->chip_count > 0 && process->nodes_known;
    if (is_node_read && (process->nodes & room->nodes) == 0)
        return OWNER_NO;
    if (!process->start_known)
        return OWNER_PERHAPS;
    if (is_node_read)
        return OWNER_YES;
    return is_same_name(slot, process) ? OWNER_LIKELY : OWNER_PERHAPS;
}

static enum tts_livereason reason_of_room(const struct tts_hostview *view,
                                          const struct owner_room *room)
{
    if (!room->holders.is_listed)
        return view->chip_count > 0 && !room->is_simulated ? TTS_LIVEREASON_NO_LIST
                                                           : TTS_LIVEREASON_NO_BOARD;
    if (room->holders.nested_pid)
        return TTS_LIVEREASON_NAMESPACE;
    return room->holders.has_hidden || room->holders.is_cut || room->holders.unclear_pid
               ? TTS_LIVEREASON_HIDDEN
               : TTS_LIVEREASON_NONE;
}

/* Finds the owner of a slot among the holders. Returns NULL if no holder fits; *count is the
 * number of holders that fit. Sets *is_newer if one fits that uses a newer region. */
static const struct tts_seenprocess *find_slot_owner(const struct tts_hostview *view,
                                                     const struct tts_seenregion *region,
                                                     const struct tts_seenslot *slot,
                                                     struct owner_room *room, uint32_t *count,
                                                     bool *is_newer)
{
    const struct tts_seenprocess *owner = NULL;
    *count = 0;
    *is_newer = false;
    for (unsigned at = tts_chipholders_first(&room->holders, (uint32_t)slot->pid); at != 0;
         at = room->holders.next[at - 1]) {
        const struct tts_seenprocess *process = room->holders.processes[at - 1];
        if (!is_slot_of(view, region, slot, process))
            continue;
        *is_newer |= room->is_newer[at - 1];
        if (room->is_newer[at - 1])
            continue;
        if (!owner)
            room->is_owner[at - 1] = true;
        owner = owner ? owner : process;
        ++*count;
    }
    return owner;
}

/* Sets the state of a slot that no holder owns. */
static void set_namesake(const struct tts_hostview *view, const struct tts_seenregion *region,
                         const struct tts_seenslot *slot, const struct owner_room *room,
                         struct tts_liveprocess *out)
{
    const struct tts_seenprocess *process = tts_hostview_process(view, (uint32_t)slot->pid);
    enum owner_evidence evidence = judge_namesake(view, region, slot, room, process);
    if (evidence == OWNER_YES || (evidence == OWNER_LIKELY && !room->holders.is_listed)) {
        tts_liveprocess_set_facts(out, process);
        out->is_name_changed = slot->name[0] != '\0' && !is_same_name(slot, process);
        return;
    }
    out->container_pid_known = true;
    out->container_pid = (uint32_t)slot->pid;
    out->reason = reason_of_room(view, room);
    if (out->reason == TTS_LIVEREASON_NONE && evidence != OWNER_NO)
        out->reason = TTS_LIVEREASON_HIDDEN;
    out->state =
        out->reason == TTS_LIVEREASON_NONE ? TTS_LIVEPROCESS_DEAD : TTS_LIVEPROCESS_NOT_VISIBLE;
}

static void set_slot_process(const struct tts_hostview *view,
                             const struct tts_seenregion *region,
                             const struct tts_seenslot *slot, struct owner_room *room,
                             struct tts_liveprocess *out)
{
    uint32_t count;
    bool is_newer;
    const struct tts_seenprocess *owner =
        find_slot_owner(view, region, slot, room, &count, &is_newer);
    memccpy(out->name, slot->name, '\0', sizeof out->name);
    if (owner) {
        tts_liveprocess_set_facts(out, owner);
        out->is_name_changed = slot->name[0] != '\0' && !is_same_name(slot, owner);
        out->shared_by = count;
    } else if (is_newer) {
        out->state = TTS_LIVEPROCESS_DEAD;
        out->container_pid_known = true;
        out->container_pid = (uint32_t)slot->pid;
    } else {
        set_namesake(view, region, slot, room, out);
    }
    out->counters = slot->counters;
    out->source = TTS_LIVESOURCE_REGION;
}

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

/* Adds the holders that own no slot: their bytes are unknown. */
static enum tts_status add_untracked_holders(struct tts_liveframe *frame,
                                             struct tts_livedevice *device,
                                             const struct owner_room *room)
{
    for (size_t i = 0; i < room->holders.count; i++) {
        if (room->is_owner[i])
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
static void set_holder_caveats(struct tts_livedevice *device, const struct owner_room *room)
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
                 "no known runtime writes a region of version %" PRIu32 " with %" PRIu64
                 " bytes",
                 region->version, region->file_bytes);
        return;
    case TTS_SEENREGION_CORRUPT:
        snprintf(out, size,
                 "the memory region is damaged: its counters exceed the memory of any device");
        return;
    case TTS_SEENREGION_CHANGING:
        snprintf(out, size,
                 "a process re-initialised the region during each attempt to read the region");
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
                                        struct owner_room *room, struct tts_livedevice *device,
                                        struct region_sum *sum)
{
    struct slot_rank ranks[TTS_HOSTVIEW_SLOTS];
    size_t count = rank_slots(region, ranks);
    for (size_t i = 0; i < count; i++) {
        const struct tts_seenslot *slot = &region->slots[ranks[i].place];
        struct tts_liveprocess *process = tts_livedevice_add_process(judge->frame, device);
        if (!process)
            return TTS_E_NOMEM;
        set_slot_process(judge->view, region, slot, room, process);
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
                                  struct owner_room *room, struct tts_livedevice *device,
                                  struct region_sum *sum)
{
    device->unique_id_known = true;
    device->unique_id = region->id;
    device->layout = region->layout;
    if (region->state != TTS_SEENREGION_READ) {
        sum->unreadable++;
        if (sum->readable == 0)
            set_unreadable(device, region);
        return TTS_OK;
    }
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
static void set_region_state(const struct tts_hostview *view, const struct owner_room *room,
                             const struct region_sum *sum, struct tts_livedevice *device)
{
    enum tts_livereason reason = reason_of_room(view, room);
    bool has_bytes = tts_counters_sum(&sum->total) > 0;
    if (is_sum_different(sum))
        device->caveats |= TTS_CAVEAT_SUM_DIFFERS;
    if (sum->live > 0) {
        device->state = TTS_LIVE_LIVE;
    } else if (sum->not_visible > 0) {
        device->state = TTS_LIVE_LIVE;
    } else if (sum->references > 0 && room->is_older) {
        device->state = TTS_LIVE_PHANTOM;
        device->caveats |= has_bytes ? TTS_CAVEAT_LEFT_OVER : 0u;
        snprintf(device->reason, sizeof device->reason,
                 "the board has a newer memory region with another id");
    } else if (sum->references == 0 &&
               (room->is_older || !(device->node_known && room->holders.is_open))) {
        device->state = TTS_LIVE_IDLE;
        device->caveats |= has_bytes ? TTS_CAVEAT_LEFT_OVER : 0u;
    } else if (sum->references > 0 && reason != TTS_LIVEREASON_NONE) {
        device->state = TTS_LIVE_LIVE;
    } else if (room->holders.is_open) {
        device->state = TTS_LIVE_LIVE;
        device->caveats |= TTS_CAVEAT_NOT_TRACKED;
        snprintf(device->reason, sizeof device->reason,
                 "a process has the chip open, but its buffers are not tracked");
    } else {
        device->state = TTS_LIVE_PHANTOM;
        device->caveats |= has_bytes ? TTS_CAVEAT_LEFT_OVER : 0u;
        snprintf(device->reason, sizeof device->reason,
                 "no process has the chip open: the bytes are left over from processes that "
                 "were killed, and 'ttscope clean' removes them");
    }
}

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

/* Finds the holders that own a slot of the newest region of the chip. The holders of
 * `room` have the same order, because the chip is the same. */
static void set_newer_owners(const struct tts_hostview *view,
                             const struct placed_region *regions, struct owner_room *room)
{
    struct owner_room newest;
    uint32_t count;
    bool is_newer;
    room->is_older = true;
    find_owners(view, regions[0].chip, regions[0].region->id, &newest);
    for (const struct placed_region *at = regions[0].newest;
         at->chip == regions[0].chip && at->region->id == regions[0].newest->region->id; at++) {
        for (size_t k = 0; k < at->region->slot_count; k++)
            find_slot_owner(view, at->region, &at->region->slots[k], &newest, &count,
                            &is_newer);
        if (at == regions[0].last)
            break;
    }
    memcpy(room->is_newer, newest.is_owner, sizeof room->is_newer);
}

/* Makes the device of regions[0..count), which have the same id and the same chip. */
static enum tts_status judge_regions(struct judge *judge, const struct placed_region *regions,
                                     size_t count)
{
    const struct tts_seenchip *chip = regions[0].chip;
    struct tts_livedevice *device = tts_liveframe_add_device(judge->frame);
    struct owner_room room;
    struct region_sum sum = {0};
    if (!device)
        return TTS_E_NOMEM;
    if (chip)
        set_chip_facts(judge, device, chip);
    find_owners(judge->view, chip, regions[0].region->id, &room);
    if (regions[0].is_older)
        set_newer_owners(judge->view, regions, &room);
    for (size_t i = 0; i < count; i++)
        if (add_region(judge, regions[i].region, &room, device, &sum) != TTS_OK)
            return TTS_E_NOMEM;
    if (sum.readable > 0 && sum.unreadable > 0)
        device->caveats |= TTS_CAVEAT_PART_REGION;
    if (sum.readable > 0) {
        set_region_state(judge->view, &room, &sum, device);
        /* Without a process, also the bytes that belong to no entry are left over. */
        tts_livedevice_set_allocated(device, &sum.total,
                                     device->state == TTS_LIVE_LIVE ? &sum.dead : &sum.total);
        if (sum.references == 0 && device->state == TTS_LIVE_LIVE && sum.live == 0)
            forget_zeros(device);
    }
    if (!chip) {
        device->caveats |= TTS_CAVEAT_NO_BOARD;
        return TTS_OK;
    }
    if (regions[0].is_older) {
        device->caveats |= TTS_CAVEAT_OLDER_ID;
        return TTS_OK;
    }
    if (regions[0].is_by_owner)
        device->caveats |= TTS_CAVEAT_BY_OWNER;
    set_holder_caveats(device, &room);
    return add_untracked_holders(judge->frame, device, &room);
}

/* Makes the device of a chip that has no region. */
static enum tts_status judge_bare_chip(struct judge *judge, const struct tts_seenchip *chip)
{
    struct owner_room room;
    struct tts_livedevice *device = tts_liveframe_add_device(judge->frame);
    if (!device)
        return TTS_E_NOMEM;
    set_chip_facts(judge, device, chip);
    find_owners(judge->view, chip, chip->asic_id, &room);
    set_holder_caveats(device, &room);
    bool is_held = room.holders.is_open;
    device->state = is_held ? TTS_LIVE_LIVE : TTS_LIVE_IDLE;
    if (is_held) {
        device->caveats |= TTS_CAVEAT_NOT_TRACKED;
        snprintf(device->reason, sizeof device->reason,
                 "a process has the chip open, but no program reports the memory of the chip");
    }
    return add_untracked_holders(judge->frame, device, &room);
}

/* ---- the devices of the host ---- */

static int compare_placed_regions(const void *a, const void *b)
{
    const struct placed_region *x = a, *y = b;
    uint64_t p = x->chip ? x->chip->node : UINT64_MAX;
    uint64_t q = y->chip ? y->chip->node : UINT64_MAX;
    if (p != q)
        return p < q ? -1 : 1;
    if (x->region->id != y->region->id)
        return x->region->id < y->region->id ? -1 : 1;
    return x->region->private_of < y->region->private_of
               ? -1
               : x->region->private_of > y->region->private_of;
}

/* Returns whether region `a` was used later than `b`. Old versions have no times of day. */
static bool is_region_newer(const struct tts_seenregion *a, const struct tts_seenregion *b)
{
    if (a->is_unix_time != b->is_unix_time)
        return a->is_unix_time;
    if (a->is_unix_time && a->last_update_ns != b->last_update_ns)
        return a->last_update_ns > b->last_update_ns;
    return a->version > b->version;
}

/* Marks the regions of one chip that are older than another region of the chip with another id.
 * A runtime uses one id for a chip; another version of the runtime, or other Ethernet links,
 * may have used another. `regions` are in the order of the screen. */
static void mark_older_regions(struct placed_region *regions, size_t count)
{
    for (size_t at = 0, end; at < count; at = end) {
        size_t newest = at;
        bool can_compare = regions[at].chip && regions[at].region->state == TTS_SEENREGION_READ;
        for (end = at + 1; end < count && regions[end].chip == regions[at].chip; end++) {
            can_compare = can_compare && regions[end].region->state == TTS_SEENREGION_READ;
            if (is_region_newer(regions[end].region, regions[newest].region))
                newest = end;
        }
        /* The first of its id, because several private regions can have one id. */
        while (newest > at && regions[newest - 1].region->id == regions[newest].region->id)
            newest--;
        for (size_t i = at; can_compare && i < end; i++) {
            regions[i].is_older = regions[i].region->id != regions[newest].region->id;
            regions[i].newest = &regions[newest];
            regions[i].last = &regions[count - 1];
        }
    }
}

/* Returns whether every process of the region is a holder of the chip. */
static bool is_region_of_holders(const struct tts_hostview *view,
                                 const struct tts_seenregion *region,
                                 const struct tts_seenchip *chip)
{
    struct owner_room room;
    uint32_t count;
    bool is_newer, fits = region->state == TTS_SEENREGION_READ && region->slot_count > 0;
    find_owners(view, chip, region->id, &room);
    for (size_t i = 0; fits && i < region->slot_count; i++)
        fits = find_slot_owner(view, region, &region->slots[i], &room, &count, &is_newer) &&
               count == 1;
    return fits;
}

/* Returns whether the board may have another chip that has no node. */
static bool may_have_remote(const struct tts_seenchip *chip)
{
    return !chip->preset || strcmp(chip->preset, "n300") == 0;
}

/* Finds the chips of regions whose ids name no chip: the only chip without a region, whose
 * holders are the processes of the only such region. A remote chip has no node, so two regions
 * that fit one chip fit none. */
static void place_by_owners(const struct tts_hostview *view, struct placed_region *regions)
{
    for (size_t k = 0; k < view->chip_count; k++) {
        const struct tts_seenchip *chip = &view->chips[k];
        struct placed_region *found = NULL;
        size_t fitting = 0;
        bool is_bare = chip->holders_known && !may_have_remote(chip);
        for (size_t i = 0; is_bare && i < view->region_count; i++) {
            is_bare = regions[i].chip != chip;
            if (regions[i].chip || tts_chipid_is_simulated(regions[i].region->id) ||
                !is_region_of_holders(view, regions[i].region, chip))
                continue;
            found = &regions[i];
            fitting++;
        }
        if (!is_bare || fitting != 1)
            continue;
        size_t chips = 0;
        for (size_t other = 0; other < view->chip_count; other++)
            chips += is_region_of_holders(view, found->region, &view->chips[other]);
        if (chips != 1)
            continue;
        found->chip = chip;
        found->is_by_owner = true;
    }
}

/* Makes the devices of all regions of one chip, or of all regions without a chip. Returns the
 * number of regions through *count; 0 if the first region belongs to another chip. */
static enum tts_status judge_chip_regions(struct judge *judge,
                                          const struct placed_region *regions, size_t left,
                                          const struct tts_seenchip *chip, size_t *count)
{
    size_t done = 0;
    while (done < left && regions[done].chip == chip) {
        size_t same = 1;
        while (done + same < left && regions[done + same].chip == chip &&
               regions[done + same].region->id == regions[done].region->id)
            same++;
        if (judge_regions(judge, regions + done, same) != TTS_OK)
            return TTS_E_NOMEM;
        done += same;
    }
    *count = done;
    return TTS_OK;
}

static enum tts_status judge_devices(struct judge *judge, const struct placed_region *regions)
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
    struct placed_region *regions = NULL;
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
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    for (size_t i = 0; i < view->region_count; i++)
        regions[i] = (struct placed_region){.region = &view->regions[i],
                                            .chip = tts_chipid_find(view, view->regions[i].id)};
    if (regions) {
        place_by_owners(view, regions);
        qsort(regions, view->region_count, sizeof *regions, compare_placed_regions);
        mark_older_regions(regions, view->region_count);
    }
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
    return tts_error_set(err, status, "out of memory");
}
