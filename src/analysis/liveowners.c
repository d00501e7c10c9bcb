#include "analysis/liveowners.h"

#include "analysis/chipid.h"
#include "base/error.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The start time of a process has the resolution of the clock ticks of the kernel, and the boot
 * time has the resolution of a second. */
#define START_SLACK_NS UINT64_C(2000000000)

/* The processes that may own memory of one device. */
struct owner_room {
    const struct tts_seenprocess *holders[TTS_HOSTVIEW_HOLDERS_MAX];
    size_t count;
    bool is_listed;    /* the driver lists the holders of the chip */
    bool is_open;      /* the list is not empty, even if the listed processes have ended */
    bool has_hidden;   /* a holder is not visible from here */
    bool has_nested;   /* a holder lives in another pid namespace */
    bool is_cut;       /* there are more holders than `holders` has */
    bool is_simulated; /* no list names the processes of a simulated chip */
    bool is_unclear;   /* a holder has ended, or its pid namespace cannot be read */
    uint64_t nodes;    /* the device nodes that an owner has open, one of them at least */
};

/* ---- holders ---- */

static bool is_nested(const struct tts_hostview *view, const struct tts_seenprocess *process)
{
    return process->pid_levels > 1 || (process->namespace_known && view->own_namespace_known &&
                                       process->namespace_id != view->own_namespace_id);
}

static void add_holder(const struct tts_hostview *view, uint32_t pid, struct owner_room *room)
{
    const struct tts_seenprocess *process = pid ? tts_hostview_process(view, pid) : NULL;
    if (pid == view->own_pid)
        return;
    room->is_open = true;
    if (!process) {
        room->has_hidden = true;
        return;
    }
    /* A child of a process that has ended may still have the chip open. */
    room->is_unclear |= !process->is_alive || process->pid_levels == 0;
    if (!process->is_alive)
        return;
    for (size_t i = 0; i < room->count; i++)
        if (room->holders[i] == process)
            return;
    room->has_nested |= is_nested(view, process);
    if (room->count == TTS_HOSTVIEW_HOLDERS_MAX)
        room->is_cut = true;
    else
        room->holders[room->count++] = process;
}

static void add_chip_holders(const struct tts_hostview *view, const struct tts_seenchip *chip,
                             struct owner_room *room)
{
    size_t kept = chip->holder_count < TTS_HOSTVIEW_HOLDERS_MAX ? chip->holder_count
                                                                : TTS_HOSTVIEW_HOLDERS_MAX;
    room->is_listed |= chip->holders_known;
    room->is_cut |= chip->holder_count > kept;
    for (size_t i = 0; i < kept; i++)
        add_holder(view, chip->holders[i], room);
}

/* Finds the processes that may own memory of a region. A process that uses a remote chip has a
 * local chip open, so the holders of all chips are those of a chip that matches no board. No
 * list names the processes of a simulated chip. */
static void find_owners(const struct tts_hostview *view, const struct tts_seenchip *chip,
                        uint64_t id, struct owner_room *room)
{
    *room = (struct owner_room){.nodes = UINT64_MAX};
    room->is_simulated = tts_chipid_is_simulated(id);
    if (room->is_simulated)
        return;
    if (chip) {
        room->nodes = chip->node < 64 ? UINT64_C(1) << chip->node : UINT64_MAX;
        add_chip_holders(view, chip, room);
        return;
    }
    bool is_listed = view->chip_count > 0;
    for (size_t i = 0; i < view->chip_count; i++) {
        add_chip_holders(view, &view->chips[i], room);
        is_listed &= view->chips[i].holders_known;
    }
    room->is_listed = is_listed;
}

/* ---- slots ---- */

/* The slot names only the first 15 bytes of a process name. */
static bool is_same_name(const struct tts_seenslot *slot, const struct tts_seenprocess *process)
{
    return strncmp(slot->name, process->comm, sizeof slot->name) == 0;
}

static bool is_started_before(const struct tts_seenprocess *process,
                              const struct tts_seenregion *region,
                              const struct tts_seenslot *slot)
{
    if (!process->start_known || !region->is_unix_time || slot->last_update_ns == 0)
        return true;
    return process->start_ns <= slot->last_update_ns ||
           process->start_ns - slot->last_update_ns <= START_SLACK_NS;
}

/* Returns whether the slot can belong to the process. A region in a private /dev/shm has only
 * processes of the pid namespace of the process that showed the region. */
static bool is_slot_of(const struct tts_hostview *view, const struct tts_seenregion *region,
                       const struct tts_seenslot *slot, const struct tts_seenprocess *process)
{
    uint32_t inside = process->pid_inside ? process->pid_inside : process->pid;
    const struct tts_seenprocess *keeper =
        region->private_of ? tts_hostview_process(view, region->private_of) : NULL;
    if (inside != (uint32_t)slot->pid || !is_started_before(process, region, slot))
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
        !is_started_before(process, region, slot) ||
        (room->is_listed && !room->is_open)) /* nobody has the chip open */
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
    if (!room->is_listed)
        return view->chip_count > 0 && !room->is_simulated ? TTS_LIVEREASON_NO_LIST
                                                           : TTS_LIVEREASON_NO_BOARD;
    if (room->has_nested)
        return TTS_LIVEREASON_NAMESPACE;
    return room->has_hidden || room->is_cut || room->is_unclear ? TTS_LIVEREASON_HIDDEN
                                                                : TTS_LIVEREASON_NONE;
}

static void set_process_facts(struct tts_liveprocess *out,
                              const struct tts_seenprocess *process)
{
    out->state = TTS_LIVEPROCESS_LIVE;
    out->pid_known = true;
    out->pid = process->pid;
    out->container_pid_known = process->pid_levels > 1 && process->pid_inside > 0;
    out->container_pid = process->pid_inside;
    out->start_known = process->start_known;
    out->start_ns = process->start_ns;
    out->uid_known = process->uid_known;
    out->uid = process->uid;
    memcpy(out->user, process->user, sizeof out->user);
    memcpy(out->name, process->comm, sizeof out->name);
    memcpy(out->command, process->command, sizeof out->command);
}

/* Finds the owner of a slot among the holders. Returns NULL if no holder fits; *count is the
 * number of holders that fit. */
static const struct tts_seenprocess *
find_slot_owner(const struct tts_hostview *view, const struct tts_seenregion *region,
                const struct tts_seenslot *slot, const struct owner_room *room, uint32_t *count)
{
    const struct tts_seenprocess *owner = NULL;
    *count = 0;
    for (size_t i = 0; i < room->count; i++) {
        if (!is_slot_of(view, region, slot, room->holders[i]))
            continue;
        owner = owner ? owner : room->holders[i];
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
    if (evidence == OWNER_YES || (evidence == OWNER_LIKELY && !room->is_listed)) {
        set_process_facts(out, process);
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
                             const struct tts_seenslot *slot, const struct owner_room *room,
                             struct tts_liveprocess *out)
{
    uint32_t count;
    const struct tts_seenprocess *owner = find_slot_owner(view, region, slot, room, &count);
    memcpy(out->name, slot->name, sizeof out->name);
    if (owner) {
        set_process_facts(out, owner);
        out->is_name_changed = slot->name[0] != '\0' && !is_same_name(slot, owner);
        out->shared_by = count;
    } else {
        set_namesake(view, region, slot, room, out);
    }
    out->counters = slot->counters;
    out->source = TTS_LIVESOURCE_REGION;
}

/* ---- one device ---- */

static uint64_t sum_of_counters(const struct tts_counters *counters)
{
    uint64_t sum = 0;
    for (int i = 0; i < TTS_COUNTERS; i++)
        if (counters->known >> i & 1 && __builtin_add_overflow(sum, counters->bytes[i], &sum))
            return UINT64_MAX;
    return sum;
}

/* Adds counters. A sum that does not fit stays at the largest number. */
static void add_counters(struct tts_counters *sum, const struct tts_counters *more)
{
    for (int i = 0; i < TTS_COUNTERS; i++) {
        if (!(more->known >> i & 1))
            continue;
        sum->known |= 1u << i;
        if (__builtin_add_overflow(sum->bytes[i], more->bytes[i], &sum->bytes[i]))
            sum->bytes[i] = UINT64_MAX;
    }
}

/* Sets capacities from the catalogue. Programs choose the sizes of L1_SMALL and TRACE when they
 * open a device, so these are unknown. */
static void set_nominal_pools(struct tts_livedevice *device, const char *preset)
{
    struct tts_chip chip;
    struct tts_pool_layout layout;
    if (!preset || tts_chip_preset(preset, &chip, NULL) != TTS_OK)
        return;
    for (int pool = TTS_POOL_DRAM; pool <= TTS_POOL_L1; pool++) {
        struct tts_livepool *out = &device->pools[pool];
        if (tts_chip_pool(&chip, (enum tts_pool)pool, &layout, NULL) != TTS_OK)
            continue;
        out->banks_known = out->total_known = true;
        out->banks = layout.banks;
        out->total_bytes = layout.banks * layout.bank_bytes;
        out->total_source = TTS_LIVETOTAL_NOMINAL;
        device->caveats |= TTS_CAVEAT_NOMINAL;
    }
    const struct tts_fact *grid = &chip.fact[TTS_FACT_GRID];
    const struct tts_fact *channel_banks = &chip.fact[TTS_FACT_DRAM_CHANNEL_BANKS];
    const struct tts_fact *banks = &chip.fact[TTS_FACT_DRAM_BANKS];
    device->is_shape_nominal = true;
    device->grid_known = grid->origin != TTS_ORIGIN_UNKNOWN && grid->value != 0;
    device->grid_columns = TTS_GRID_COLUMNS(grid->value);
    device->grid_rows = TTS_GRID_ROWS(grid->value);
    device->channels_known = banks->origin != TTS_ORIGIN_UNKNOWN &&
                             channel_banks->origin != TTS_ORIGIN_UNKNOWN &&
                             channel_banks->value > 0;
    if (device->channels_known)
        device->dram_channels = (uint32_t)(banks->value / channel_banks->value);
}

/* `left` are the bytes among `counters` that dead processes left behind: they are not taken. */
static void set_allocated(struct tts_livedevice *device, const struct tts_counters *counters,
                          const struct tts_counters *left)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_livepool *pool = &device->pools[i];
        pool->allocated_known = counters->known >> i & 1;
        pool->allocated_bytes = counters->bytes[i];
        uint64_t left_bytes = left->known >> i & 1 ? left->bytes[i] : 0;
        pool->left_over_bytes =
            left_bytes < pool->allocated_bytes ? left_bytes : pool->allocated_bytes;
        uint64_t taken = pool->allocated_bytes - pool->left_over_bytes;
        pool->free_known =
            pool->allocated_known && pool->total_known && taken <= pool->total_bytes;
        pool->free_is_limit = pool->free_known;
        pool->free_bytes = pool->free_known ? pool->total_bytes - taken : 0;
        if (pool->allocated_known && pool->total_known && !pool->free_known)
            device->caveats |= TTS_CAVEAT_OVER_NOMINAL;
    }
    device->cb_known = counters->known >> TTS_COUNTER_CB & 1;
    device->cb_bytes = counters->bytes[TTS_COUNTER_CB];
}

static int compare_processes(const void *a, const void *b)
{
    const struct tts_liveprocess *x = a, *y = b;
    uint64_t p = sum_of_counters(&x->counters), q = sum_of_counters(&y->counters);
    if (p != q)
        return p > q ? -1 : 1;
    if (x->pid_known != y->pid_known)
        return x->pid_known ? -1 : 1;
    uint32_t m = x->pid_known ? x->pid : x->container_pid;
    uint32_t n = y->pid_known ? y->pid : y->container_pid;
    return m < n ? -1 : m > n;
}

static void set_chip_facts(struct tts_livedevice *device, const struct tts_seenchip *chip)
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
    set_nominal_pools(device, chip->preset);
}

/* Adds the holders that own no slot: their bytes are unknown. */
static enum tts_status add_untracked_holders(struct tts_liveframe *frame,
                                             struct tts_livedevice *device,
                                             const struct owner_room *room)
{
    size_t tracked = device->process_count;
    for (size_t i = 0; i < room->count; i++) {
        bool is_tracked = false;
        for (size_t j = 0; j < tracked; j++)
            is_tracked |= device->processes[j].pid_known &&
                          device->processes[j].pid == room->holders[i]->pid;
        if (is_tracked)
            continue;
        struct tts_liveprocess *process = tts_livedevice_add_process(frame, device);
        if (!process)
            return TTS_E_NOMEM;
        device->caveats |= TTS_CAVEAT_NOT_TRACKED;
        set_process_facts(process, room->holders[i]);
    }
    return TTS_OK;
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
        snprintf(out, size, "a process has created the region and not yet initialised it");
        return;
    case TTS_SEENREGION_UNKNOWN_VERSION:
        snprintf(out, size,
                 "no known runtime writes a region of version %" PRIu32 " with %" PRIu64
                 " bytes",
                 region->version, region->file_bytes);
        return;
    case TTS_SEENREGION_CORRUPT:
        snprintf(out, size, "the region has numbers that no device can hold");
        return;
    case TTS_SEENREGION_CHANGING:
        snprintf(out, size, "the region was re-initialised during every try to read it");
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
}

/* The sums over the regions of one device. */
struct region_sum {
    struct tts_counters total, owned, dead;
    uint64_t references;
    size_t slots, live, not_visible, readable;
};

static enum tts_status add_region_slots(const struct tts_hostview *view,
                                        const struct tts_seenregion *region,
                                        const struct owner_room *room,
                                        struct tts_liveframe *frame,
                                        struct tts_livedevice *device, struct region_sum *sum)
{
    size_t count =
        region->slot_count < TTS_HOSTVIEW_SLOTS ? region->slot_count : TTS_HOSTVIEW_SLOTS;
    for (size_t i = 0; i < count; i++) {
        struct tts_liveprocess *process = tts_livedevice_add_process(frame, device);
        if (!process)
            return TTS_E_NOMEM;
        set_slot_process(view, region, &region->slots[i], room, process);
        sum->live += process->state == TTS_LIVEPROCESS_LIVE;
        sum->not_visible += process->state == TTS_LIVEPROCESS_NOT_VISIBLE;
        if (process->state == TTS_LIVEPROCESS_DEAD && sum_of_counters(&process->counters) > 0)
            device->caveats |= TTS_CAVEAT_LEFT_OVER;
        if (process->shared_by > 1)
            device->caveats |= TTS_CAVEAT_SHARED_SLOT;
        add_counters(&sum->owned, &region->slots[i].counters);
        if (process->state == TTS_LIVEPROCESS_DEAD)
            add_counters(&sum->dead, &region->slots[i].counters);
        sum->slots++;
    }
    return TTS_OK;
}

static enum tts_status add_region(const struct tts_hostview *view,
                                  const struct tts_seenregion *region,
                                  const struct owner_room *room, struct tts_liveframe *frame,
                                  struct tts_livedevice *device, struct region_sum *sum)
{
    device->unique_id_known = true;
    device->unique_id = region->id;
    device->layout = region->layout;
    if (region->state != TTS_SEENREGION_READ) {
        if (sum->readable == 0)
            set_unreadable(device, region);
        return TTS_OK;
    }
    sum->readable++;
    sum->references += region->reference_count;
    add_counters(&sum->total, &region->total);
    device->reason[0] = '\0';
    device->source = TTS_LIVESOURCE_REGION;
    device->logical_id_known = true;
    device->logical_id = region->logical_id;
    if (region->is_unix_time && region->last_update_ns > device->update_ns) {
        device->update_known = true;
        device->update_ns = region->last_update_ns;
    }
    set_region_caveats(device, region);
    return add_region_slots(view, region, room, frame, device, sum);
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
    bool has_bytes = sum_of_counters(&sum->total) > 0;
    if (is_sum_different(sum))
        device->caveats |= TTS_CAVEAT_SUM_DIFFERS;
    if (sum->live > 0) {
        device->state = TTS_LIVE_LIVE;
    } else if (sum->not_visible > 0) {
        device->state = TTS_LIVE_LIVE;
    } else if (sum->references == 0 && !(device->node_known && room->is_open)) {
        device->state = TTS_LIVE_IDLE;
        device->caveats |= has_bytes ? TTS_CAVEAT_LEFT_OVER : 0u;
    } else if (sum->references > 0 && reason != TTS_LIVEREASON_NONE) {
        device->state = TTS_LIVE_LIVE;
    } else if (room->is_open) {
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

/* A region in the order of the screen: by node, then by id. Regions without a chip come last.
 */
struct placed_region {
    const struct tts_seenregion *region;
    const struct tts_seenchip *chip; /* NULL: the region matches no chip of this host */
};

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

/* Makes the device of regions[0..count), which have the same id and the same chip. */
static enum tts_status judge_regions(const struct tts_hostview *view,
                                     const struct placed_region *regions, size_t count,
                                     struct tts_liveframe *frame)
{
    const struct tts_seenchip *chip = regions[0].chip;
    struct tts_livedevice *device = tts_liveframe_add_device(frame);
    struct owner_room room;
    struct region_sum sum = {0};
    if (!device)
        return TTS_E_NOMEM;
    if (chip)
        set_chip_facts(device, chip);
    find_owners(view, chip, regions[0].region->id, &room);
    for (size_t i = 0; i < count; i++)
        if (add_region(view, regions[i].region, &room, frame, device, &sum) != TTS_OK)
            return TTS_E_NOMEM;
    if (sum.readable > 0) {
        set_region_state(view, &room, &sum, device);
        /* Without a process, also the bytes that belong to no entry are left over. */
        set_allocated(device, &sum.total,
                      device->state == TTS_LIVE_LIVE ? &sum.dead : &sum.total);
        if (sum.references == 0 && device->state == TTS_LIVE_LIVE && sum.live == 0)
            forget_zeros(device);
    }
    if (!chip) {
        device->caveats |= TTS_CAVEAT_NO_BOARD;
        return TTS_OK;
    }
    return add_untracked_holders(frame, device, &room);
}

/* Makes the device of a chip that has no region. */
static enum tts_status judge_bare_chip(const struct tts_hostview *view,
                                       const struct tts_seenchip *chip,
                                       struct tts_liveframe *frame)
{
    struct owner_room room;
    struct tts_livedevice *device = tts_liveframe_add_device(frame);
    if (!device)
        return TTS_E_NOMEM;
    set_chip_facts(device, chip);
    find_owners(view, chip, chip->asic_id, &room);
    bool is_held = room.is_open;
    device->state = is_held ? TTS_LIVE_LIVE : TTS_LIVE_IDLE;
    if (is_held) {
        device->caveats |= TTS_CAVEAT_NOT_TRACKED;
        snprintf(device->reason, sizeof device->reason,
                 "a process has the chip open, but no source reports its memory");
    }
    return add_untracked_holders(frame, device, &room);
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

/* Makes the devices of all regions of one chip, or of all regions without a chip. Returns the
 * number of regions through *count; 0 if the first region belongs to another chip. */
static enum tts_status judge_chip_regions(const struct tts_hostview *view,
                                          const struct placed_region *regions, size_t left,
                                          const struct tts_seenchip *chip,
                                          struct tts_liveframe *frame, size_t *count)
{
    size_t done = 0;
    while (done < left && regions[done].chip == chip) {
        size_t same = 1;
        while (done + same < left && regions[done + same].chip == chip &&
               regions[done + same].region->id == regions[done].region->id)
            same++;
        if (judge_regions(view, regions + done, same, frame) != TTS_OK)
            return TTS_E_NOMEM;
        done += same;
    }
    *count = done;
    return TTS_OK;
}

static enum tts_status judge_devices(const struct tts_hostview *view,
                                     const struct placed_region *regions,
                                     struct tts_liveframe *frame)
{
    size_t at = 0, count;
    for (size_t i = 0; i < view->chip_count; i++) {
        const struct tts_seenchip *chip = &view->chips[i];
        if (judge_chip_regions(view, regions + at, view->region_count - at, chip, frame,
                               &count) != TTS_OK ||
            (count == 0 && judge_bare_chip(view, chip, frame) != TTS_OK))
            return TTS_E_NOMEM;
        at += count;
    }
    return judge_chip_regions(view, regions + at, view->region_count - at, NULL, frame, &count);
}

/* ---- reports of processes ---- */

static struct tts_liveprocess *find_device_process(struct tts_livedevice *device, uint32_t pid)
{
    for (size_t i = 0; i < device->process_count; i++)
        if (device->processes[i].pid_known && device->processes[i].pid == pid)
            return &device->processes[i];
    return NULL;
}

/* Returns the entry of a process on a device. Adds the entry if there is none. */
static struct tts_liveprocess *need_device_process(const struct tts_hostview *view,
                                                   struct tts_liveframe *frame,
                                                   struct tts_livedevice *device, uint32_t pid)
{
    struct tts_liveprocess *process = find_device_process(device, pid);
    const struct tts_seenprocess *seen = tts_hostview_process(view, pid);
    if (process)
        return process;
    process = tts_livedevice_add_process(frame, device);
    if (!process)
        return NULL;
    process->pid_known = true;
    process->pid = pid;
    process->state = seen && !seen->is_alive ? TTS_LIVEPROCESS_DEAD : TTS_LIVEPROCESS_LIVE;
    if (seen && seen->is_alive)
        set_process_facts(process, seen);
    return process;
}

/* Returns the device with the logical id on which the process is registered. Logical ids differ
 * from process to process, so the id alone names no device. */
static struct tts_livedevice *find_device_of_process(struct tts_liveframe *frame, uint32_t pid,
                                                     uint32_t logical_id)
{
    for (size_t i = 0; i < frame->device_count; i++) {
        struct tts_livedevice *device = &frame->devices[i];
        if (device->logical_id_known && device->logical_id == logical_id &&
            find_device_process(device, pid))
            return device;
    }
    return NULL;
}

/* Returns the only chip that the process has open and that has no logical id yet, or NULL. */
static struct tts_livedevice *find_only_open_device(struct tts_liveframe *frame, uint32_t pid)
{
    struct tts_livedevice *found = NULL;
    for (size_t i = 0; i < frame->device_count; i++) {
        if (!find_device_process(&frame->devices[i], pid))
            continue;
        if (found)
            return NULL;
        found = &frame->devices[i];
    }
    return found && !found->logical_id_known ? found : NULL;
}

static void set_log_counters(struct tts_liveprocess *process, const struct tts_seenbuffers *log)
{
    process->source = TTS_LIVESOURCE_INSPECTOR;
    process->buffers_known = true;
    process->buffers = 0;
    for (int i = 0; i < TTS_POOLS; i++) {
        process->counters.bytes[i] = log->bytes[i];
        process->counters.known |= 1u << i;
        process->pool_buffers[i] = log->buffers[i];
        process->buffers += log->buffers[i];
    }
}

static enum tts_status add_log_stray(const struct tts_hostview *view,
                                     const struct tts_seenbuffers *log,
                                     struct tts_liveframe *frame)
{
    const struct tts_seenprocess *seen = tts_hostview_process(view, log->pid);
    struct tts_liveprocess *process = tts_liveframe_add_stray(frame);
    if (!process)
        return TTS_E_NOMEM;
    process->pid_known = true;
    process->pid = log->pid;
    if (seen && seen->is_alive)
        set_process_facts(process, seen);
    else if (seen)
        process->state = TTS_LIVEPROCESS_DEAD;
    set_log_counters(process, log);
    return TTS_OK;
}

/* Takes the buffer log of one process. Its numbers replace those of the region, which count
 * only one thread, unless the log was read only in part. */
static enum tts_status add_log(const struct tts_hostview *view,
                               const struct tts_seenbuffers *log, struct tts_liveframe *frame)
{
    bool is_placed = false;
    for (size_t i = 0; log->devices_known && i < log->device_count; i++) {
        struct tts_livedevice *device =
            find_device_of_process(frame, log->pid, log->devices[i]);
        if (!device && log->device_count == 1)
            device = find_only_open_device(frame, log->pid);
        if (!device)
            continue;
        if (!device->logical_id_known) {
            device->logical_id_known = true;
            device->logical_id = log->devices[i];
        }
        if (!log->is_complete)
            device->caveats |= TTS_CAVEAT_PART_LOG;
        else
            set_log_counters(find_device_process(device, log->pid), log);
        is_placed = true;
    }
    return is_placed ? TTS_OK : add_log_stray(view, log, frame);
}

/* Takes the numbers of buffer logs for a device if every live process on it that has memory has
 * a log. */
static void use_logs(struct tts_livedevice *device)
{
    if (device->caveats & TTS_CAVEAT_PART_LOG)
        return;
    struct tts_counters sum = {0};
    uint64_t buffers[TTS_POOLS] = {0};
    size_t logs = 0;
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        if (process->source == TTS_LIVESOURCE_INSPECTOR) {
            logs++;
            for (int pool = 0; pool < TTS_POOLS; pool++)
                buffers[pool] += process->pool_buffers[pool];
            add_counters(&sum, &process->counters);
        } else if (sum_of_counters(&process->counters) > 0) {
            return;
        }
    }
    if (logs == 0)
        return;
    bool has_cb = device->cb_known;
    uint64_t cb_bytes = device->cb_bytes;
    set_allocated(device, &sum, &(struct tts_counters){0});
    device->cb_known = has_cb;
    device->cb_bytes = cb_bytes;
    device->source = TTS_LIVESOURCE_INSPECTOR;
    device->state = TTS_LIVE_LIVE;
    device->reason[0] = '\0';
    device->caveats &=
        ~(uint32_t)(TTS_CAVEAT_ONE_THREAD | TTS_CAVEAT_SUM_DIFFERS | TTS_CAVEAT_NOT_TRACKED);
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        device->pools[pool].buffers_known = true;
        device->pools[pool].buffers = buffers[pool];
    }
}

/* Returns the device that a process reports, or NULL if the process is the first to name it. */
static struct tts_livedevice *find_view_device(struct tts_liveframe *frame,
                                               const struct tts_seenview *report)
{
    for (size_t i = 0; report->unique_id_known && i < frame->device_count; i++)
        if (frame->devices[i].unique_id_known &&
            frame->devices[i].unique_id == report->unique_id)
            return &frame->devices[i];
    struct tts_livedevice *device =
        find_device_of_process(frame, report->pid, report->logical_id);
    return device ? device : find_only_open_device(frame, report->pid);
}

static void set_view_shape(struct tts_livedevice *device, const struct tts_seenview *report)
{
    device->logical_id_known = true;
    device->logical_id = report->logical_id;
    if (report->unique_id_known) {
        device->unique_id_known = true;
        device->unique_id = report->unique_id;
    }
    if (report->arch_known) {
        device->arch_known = true;
        device->arch = report->arch;
    }
    if (report->queues_known) {
        device->queues_known = true;
        device->hardware_queues = report->hardware_queues;
    }
    if (report->channels_known) {
        device->channels_known = true;
        device->dram_channels = report->dram_channels;
    }
    if (report->grid_known) {
        device->grid_known = true;
        device->is_shape_nominal = false;
        device->grid_columns = report->grid_columns;
        device->grid_rows = report->grid_rows;
    }
}

static void set_view_pools(struct tts_livedevice *device, struct tts_liveprocess *process,
                           const struct tts_seenview *report)
{
    bool is_whole = true;
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_seenpool *seen = &report->pools[i];
        struct tts_livepool *pool = &device->pools[i];
        is_whole &= seen->is_known;
        if (!seen->is_known)
            continue;
        *pool = (struct tts_livepool){.banks_known = true,
                                      .total_known = true,
                                      .allocated_known = true,
                                      .free_known = true,
                                      .largest_known = true,
                                      .buffers_known = seen->buffers_known,
                                      .total_source = TTS_LIVETOTAL_REPORTED,
                                      .banks = seen->banks,
                                      .total_bytes = seen->total_bytes,
                                      .allocated_bytes = seen->allocated_bytes,
                                      .free_bytes = seen->free_bytes,
                                      .largest_free_bytes = seen->largest_free_bytes,
                                      .buffers = seen->buffers};
        if (process->state == TTS_LIVEPROCESS_DEAD)
            pool->left_over_bytes = pool->allocated_bytes;
        process->counters.known |= 1u << i;
        process->counters.bytes[i] = seen->allocated_bytes;
    }
    if (report->cb_known) {
        device->cb_known = true;
        device->cb_bytes = report->cb_bytes;
    }
    device->caveats = report->period_known ? TTS_CAVEAT_SAMPLED : 0;
    device->period_ns = report->period_ns;
    if (!is_whole)
        device->caveats |= TTS_CAVEAT_NOMINAL;
}

/* Takes the report of a process about its own allocator. The numbers of the report are exact,
 * so they replace the numbers of a region. */
static enum tts_status add_view(const struct tts_hostview *view,
                                const struct tts_seenview *report, struct tts_liveframe *frame)
{
    struct tts_livedevice *device = find_view_device(frame, report);
    device = device ? device : tts_liveframe_add_device(frame);
    if (!device)
        return TTS_E_NOMEM;
    struct tts_liveprocess *process = need_device_process(view, frame, device, report->pid);
    if (!process)
        return TTS_E_NOMEM;
    process->source = device->source = TTS_LIVESOURCE_CLIENT;
    device->state = process->state == TTS_LIVEPROCESS_DEAD ? TTS_LIVE_PHANTOM : TTS_LIVE_LIVE;
    device->reason[0] = '\0';
    set_view_shape(device, report);
    set_view_pools(device, process, report);
    return TTS_OK;
}

static enum tts_status add_reports(const struct tts_hostview *view, struct tts_liveframe *frame)
{
    for (size_t i = 0; i < view->buffers_count; i++)
        if (add_log(view, &view->buffers[i], frame) != TTS_OK)
            return TTS_E_NOMEM;
    for (size_t i = 0; i < frame->device_count; i++)
        use_logs(&frame->devices[i]);
    for (size_t i = 0; i < view->view_count; i++)
        if (add_view(view, &view->views[i], frame) != TTS_OK)
            return TTS_E_NOMEM;
    return TTS_OK;
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
    if (bytes > 0 && !(regions = frame->alloc->alloc(frame->alloc->ctx, bytes)))
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    for (size_t i = 0; i < view->region_count; i++)
        regions[i] = (struct placed_region){&view->regions[i],
                                            tts_chipid_find(view, view->regions[i].id)};
    if (regions)
        qsort(regions, view->region_count, sizeof *regions, compare_placed_regions);
    status = judge_devices(view, regions, frame);
    if (status == TTS_OK)
        status = add_reports(view, frame);
    if (regions)
        frame->alloc->free(frame->alloc->ctx, regions, bytes);
    for (size_t i = 0; i < frame->device_count; i++)
        if (frame->devices[i].process_count > 0)
            qsort(frame->devices[i].processes, frame->devices[i].process_count,
                  sizeof *frame->devices[i].processes, compare_processes);
    if (status == TTS_OK)
        return TTS_OK;
    tts_liveframe_reset(frame);
    return tts_error_set(err, status, "out of memory");
}
