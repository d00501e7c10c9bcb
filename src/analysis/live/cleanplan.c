#include "analysis/live/cleanplan.h"

#include "analysis/live/chipholders.h"
#include "analysis/live/chipid.h"
#include "base/error.h"
#include "base/heap.h"

#include <assert.h>
#include <string.h>

void tts_cleanplan_init(struct tts_cleanplan *plan, const struct tts_alloc *alloc)
{
    *plan = (struct tts_cleanplan){.alloc = alloc ? alloc : tts_alloc_libc()};
}

void tts_cleanplan_release(struct tts_cleanplan *plan)
{
    if (plan->regions)
        plan->alloc->free(plan->alloc->ctx, plan->regions,
                          plan->capacity * sizeof *plan->regions);
    if (plan->programs)
        plan->alloc->free(plan->alloc->ctx, plan->programs,
                          plan->program_capacity * sizeof *plan->programs);
    if (plan->alloc)
        tts_cleanplan_init(plan, plan->alloc);
}

/* --- entries ---------------------------------------------------------------------------- */

static const struct tts_livedevice *find_region_device(const struct tts_liveframe *frame,
                                                       uint64_t id)
{
    for (size_t i = 0; i < frame->device_count; i++)
        if (frame->devices[i].unique_id_known && frame->devices[i].unique_id == id &&
            frame->devices[i].layout)
            return &frame->devices[i];
    return NULL;
}

/* Returns the state of the processes with the number of the entry. If they differ, no process
 * is dead. */
static enum tts_liveprocess_state state_of_slot(const struct tts_livedevice *device,
                                                const struct tts_seenslot *slot)
{
    enum tts_liveprocess_state state = TTS_LIVEPROCESS_NOT_VISIBLE;
    bool found = false;
    for (size_t i = 0; device && i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        bool is_inside = process->container_pid_known;
        uint32_t number = is_inside ? process->container_pid : process->pid;
        if ((!is_inside && !process->pid_known) || number != (uint32_t)slot->pid)
            continue;
        if (!found || state == TTS_LIVEPROCESS_DEAD)
            state = process->state;
        found = true;
    }
    return state;
}

/* Returns whether a holder of any chip numbers itself as the slot does. Its start time does not
 * matter: the clock of the host may have been set since then. */
static bool is_number_of_holder(const struct tts_hostview *view,
                                const struct tts_seenslot *slot)
{
    for (size_t i = 0; i < view->chip_count; i++) {
        const struct tts_seenchip *chip = &view->chips[i];
        for (size_t k = 0; k < chip->holder_count && k < TTS_HOSTVIEW_HOLDERS_MAX; k++) {
            const struct tts_seenprocess *process =
                tts_hostview_process(view, chip->holders[k]);
            if (process && process->is_alive &&
                tts_seenprocess_inside(process) == (uint32_t)slot->pid)
                return true;
        }
    }
    return false;
}

/* Returns whether a process that has the number of the entry may be its owner although the
 * driver does not name the process: a child that inherited the device from a parent is not
 * listed. */
static bool may_be_owner(const struct tts_hostview *view, const struct tts_seenregion *region,
                         const struct tts_seenslot *slot)
{
    const struct tts_seenprocess *process = tts_hostview_process(view, (uint32_t)slot->pid);
    if (!process)
        return true; /* was not examined */
    if (!process->is_alive)
        return false;
    if (!tts_seenslot_is_after_start(view, region, slot, process))
        return false; /* the number is used again */
    return !process->nodes_known || process->nodes != 0;
}

static bool has_left_over(const struct tts_seenregion *region)
{
    bool found = region->reference_count > 0;
    for (int i = 0; i < TTS_COUNTERS; i++)
        found |= (region->total.known >> i & 1) && region->total.bytes[i] > 0;
    return found;
}

/* --- one region ------------------------------------------------------------------------- */

/* Says why the processes of a region cannot be judged. */
static enum tts_cleanwhy why_not_judged(const struct tts_hostview *view,
                                        const struct tts_chipholders *holders,
                                        struct tts_cleanregion *out)
{
    if (out->region->private_of != 0) {
        out->pid = out->region->private_of;
        return TTS_CLEANWHY_PRIVATE;
    }
    if (view->chip_count == 0 || tts_chipid_is_simulated(out->region->id))
        return TTS_CLEANWHY_NO_BOARD;
    if (!holders->is_listed || view->chips_left_out > 0)
        return TTS_CLEANWHY_NO_LIST;
    if (holders->has_hidden)
        return TTS_CLEANWHY_HIDDEN;
    out->pid = holders->nested_pid ? holders->nested_pid : holders->unclear_pid;
    if (holders->nested_pid)
        return TTS_CLEANWHY_NAMESPACE;
    return holders->unclear_pid ? TTS_CLEANWHY_HOLDER : TTS_CLEANWHY_NONE;
}

/* Plans one region. Returns false if nothing is left over in the region. */
static bool plan_region(const struct tts_hostview *view, const struct tts_liveframe *frame,
                        struct tts_cleanregion *out)
{
    const struct tts_seenregion *region = out->region;
    if (region->state == TTS_SEENREGION_EMPTY || region->state == TTS_SEENREGION_INITIALISING)
        return false;
    out->why = TTS_CLEANWHY_UNREADABLE;
    if (region->state != TTS_SEENREGION_READ)
        return true;
    const struct tts_livedevice *device = find_region_device(frame, region->id);
    const struct tts_seenchip *chip = tts_chipid_find(view, region->id);
    struct tts_chipholders holders;
    bool is_dead[TTS_HOSTVIEW_SLOTS] = {false};
    size_t live = 0;
    tts_chipholders_find(view, chip, &holders);
    for (size_t i = 0; i < region->slot_count; i++) {
        enum tts_liveprocess_state state = state_of_slot(device, &region->slots[i]);
        is_dead[i] = state == TTS_LIVEPROCESS_DEAD;
        live += state == TTS_LIVEPROCESS_LIVE;
        if (state != TTS_LIVEPROCESS_LIVE)
            out->slots[out->slot_count++] = i;
    }
    out->is_unheld = !holders.is_open && live == 0;
    out->needs_reset = out->is_unheld && has_left_over(region);
    if (out->slot_count == 0 && !out->needs_reset)
        return false;
    out->why = why_not_judged(view, &holders, out);
    for (size_t i = 0; out->why == TTS_CLEANWHY_NONE && i < out->slot_count; i++) {
        const struct tts_seenslot *slot = &region->slots[out->slots[i]];
        if (is_dead[out->slots[i]] && !is_number_of_holder(view, slot) &&
            !may_be_owner(view, region, slot))
            continue;
        out->why = TTS_CLEANWHY_OWNER;
        out->pid = (uint32_t)slot->pid;
    }
    return true;
}

/* --- regions of programs ---------------------------------------------------------------- */

/* Adds up what a program has on all devices of the frame. */
static struct tts_counters bytes_of_client(const struct tts_liveframe *frame,
                                           const struct tts_seenclient *client)
{
    struct tts_counters bytes = {0};
    for (size_t i = 0; i < frame->device_count; i++)
        for (size_t k = 0; k < frame->devices[i].process_count; k++)
            if (frame->devices[i].processes[k].client == client)
                tts_counters_add(&bytes, &frame->devices[i].processes[k].counters);
    return bytes;
}

/* Says why the region of a dead program may not be removed. A program of an older boot is dead
 * in every namespace. */
static enum tts_cleanwhy why_program_stays(const struct tts_hostview *view,
                                           const struct tts_seenclient *client)
{
    bool is_own = view->own_namespace_known && client->namespace_id == view->own_namespace_id;
    if (client->private_of != 0)
        return TTS_CLEANWHY_PROGRAM_PRIVATE;
    if (!is_own && !client->is_boot_old)
        return TTS_CLEANWHY_PROGRAM_NAMESPACE;
    if (view->own_uid != 0 && client->owner_uid != view->own_uid)
        return TTS_CLEANWHY_PROGRAM_OWNER;
    return TTS_CLEANWHY_NONE;
}

static void plan_programs(struct tts_cleanplan *plan, const struct tts_hostview *view,
                          const struct tts_liveframe *frame)
{
    for (size_t i = 0; i < view->client_count; i++) {
        const struct tts_seenclient *client = &view->clients[i];
        if (!client->is_alive && client->is_judged)
            plan->programs[plan->program_count++] =
                (struct tts_cleanprogram){.client = client,
                                          .why = why_program_stays(view, client),
                                          .bytes = bytes_of_client(frame, client)};
    }
}

/* --- the plan --------------------------------------------------------------------------- */

static enum tts_status make_plan_room(struct tts_cleanplan *plan, size_t regions,
                                      size_t programs)
{
    plan->count = plan->program_count = 0;
    if (regions > plan->capacity) {
        void *grown = tts_alloc_grow(plan->alloc, plan->regions, &plan->capacity, regions,
                                     sizeof *plan->regions);
        if (!grown)
            return TTS_E_NOMEM;
        plan->regions = grown;
    }
    if (programs > plan->program_capacity) {
        void *grown = tts_alloc_grow(plan->alloc, plan->programs, &plan->program_capacity,
                                     programs, sizeof *plan->programs);
        if (!grown)
            return TTS_E_NOMEM;
        plan->programs = grown;
    }
    return TTS_OK;
}

enum tts_status tts_cleanplan_make(struct tts_cleanplan *plan, const struct tts_hostview *view,
                                   const struct tts_liveframe *frame, struct tts_error *err)
{
    if (make_plan_room(plan, view->region_count, view->client_count) != TTS_OK)
        return tts_error_set(err, TTS_E_NOMEM,
                             TTS_TEXT_NOMEM " for the list of entries to remove");
    for (size_t i = 0; i < view->region_count; i++) {
        struct tts_cleanregion *out = &plan->regions[plan->count];
        *out = (struct tts_cleanregion){.region = &view->regions[i]};
        if (plan_region(view, frame, out))
            plan->count++;
    }
    plan_programs(plan, view, frame);
    return TTS_OK;
}

/* --- two plans -------------------------------------------------------------------------- */

static bool has_entry(const struct tts_cleanregion *at, const struct tts_seenslot *slot)
{
    for (size_t i = 0; i < at->slot_count; i++) {
        const struct tts_seenslot *other = &at->region->slots[at->slots[i]];
        if (other->index == slot->index && other->pid == slot->pid &&
            other->last_update_ns == slot->last_update_ns)
            return true;
    }
    return false;
}

static const struct tts_cleanregion *find_planned(const struct tts_cleanplan *plan,
                                                  const struct tts_seenregion *region)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct tts_seenregion *other = plan->regions[i].region;
        if (other->id == region->id && other->inode == region->inode &&
            other->device_no == region->device_no)
            return &plan->regions[i];
    }
    return NULL;
}

static bool has_program(const struct tts_cleanplan *plan, const struct tts_seenclient *client)
{
    for (size_t i = 0; i < plan->program_count; i++) {
        const struct tts_seenclient *other = plan->programs[i].client;
        if (strcmp(other->file, client->file) == 0 && other->inode == client->inode &&
            other->device_no == client->device_no)
            return true;
    }
    return false;
}

static void restrict_programs(struct tts_cleanplan *plan, const struct tts_cleanplan *earlier)
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->program_count; i++)
        if (has_program(earlier, plan->programs[i].client))
            plan->programs[kept++] = plan->programs[i];
    plan->program_count = kept;
}

void tts_cleanplan_restrict(struct tts_cleanplan *plan, const struct tts_cleanplan *earlier)
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->count; i++) {
        struct tts_cleanregion *at = &plan->regions[i];
        const struct tts_cleanregion *before = find_planned(earlier, at->region);
        size_t slots = 0;
        if (!before)
            continue;
        for (size_t k = 0; k < at->slot_count; k++)
            if (has_entry(before, &at->region->slots[at->slots[k]]))
                at->slots[slots++] = at->slots[k];
        at->slot_count = slots;
        at->needs_reset = at->needs_reset && before->needs_reset;
        if (slots > 0 || at->needs_reset || at->why != TTS_CLEANWHY_NONE)
            plan->regions[kept++] = *at;
    }
    plan->count = kept;
    restrict_programs(plan, earlier);
}
