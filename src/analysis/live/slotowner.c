#include "analysis/live/slotowner.h"

#include "analysis/live/chipid.h"

#include <string.h>

/* The holders that fit an entry. */
struct slot_match {
    unsigned place; /* of the first that fits, if `count` is not 0 */
    uint32_t count;
    bool is_newer;   /* a holder fits, but uses a newer region of the chip */
    bool is_foreign; /* a holder fits, but the region belongs to another user */
};

void tts_slotroom_find(const struct tts_hostview *view, const struct tts_seenchip *chip,
                       uint64_t id, struct tts_slotroom *out)
{
    *out =
        (struct tts_slotroom){.nodes = UINT64_MAX, .is_simulated = tts_chipid_is_simulated(id)};
    if (out->is_simulated)
        return;
    if (chip)
        out->nodes = chip->node < 64 ? UINT64_C(1) << chip->node : UINT64_MAX;
    tts_chipholders_find(view, chip, &out->holders);
}

enum tts_livereason tts_slotroom_reason(const struct tts_hostview *view,
                                        const struct tts_slotroom *room)
{
    if (!room->holders.is_listed && view->chips_errno != 0 && !room->is_simulated)
        return TTS_LIVEREASON_NO_CHIPS;
    if (!room->holders.is_listed)
        return view->chip_count > 0 && !room->is_simulated ? TTS_LIVEREASON_NO_LIST
                                                           : TTS_LIVEREASON_NO_BOARD;
    if (room->holders.nested_pid)
        return TTS_LIVEREASON_NAMESPACE;
    if (room->holders.has_outside)
        return TTS_LIVEREASON_HIDDEN;
    if (room->holders.has_hidden || room->holders.is_cut)
        return TTS_LIVEREASON_TOO_MANY;
    if (room->holders.has_ended)
        return TTS_LIVEREASON_ENDED;
    return room->holders.unclear_pid ? TTS_LIVEREASON_UNREAD : TTS_LIVEREASON_NONE;
}

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
        !tts_seenslot_is_after_start(view, region, slot, process))
        return false;
    return !keeper || !keeper->namespace_known || !process->namespace_known ||
           keeper->namespace_id == process->namespace_id;
}

/* Returns whether the process can open the region for writing. Only the user of the file and
 * root can. Anybody can create a file with a free name and put the number of any process into
 * the file. */
static bool can_open_region(const struct tts_seenregion *region,
                            const struct tts_seenprocess *process)
{
    return !process->uid_known || process->uid == 0 || region->owner_uid == 0 ||
           process->uid == region->owner_uid;
}

/* Returns whether the region proves that the process uses the region: root or the user of the
 * process wrote the file. */
static bool is_proof_of_use(const struct tts_seenregion *region,
                            const struct tts_seenprocess *process)
{
    return region->owner_uid == 0 || (process->uid_known && process->uid == region->owner_uid);
}

/* Returns whether the process certainly existed at the last change of the slot. Otherwise the
 * number of the slot may be used again. */
static bool is_number_sure(const struct tts_hostview *view, const struct tts_seenregion *region,
                           const struct tts_seenslot *slot,
                           const struct tts_seenprocess *process)
{
    return process->start_known && tts_seenslot_has_time(view, region, slot);
}

enum holder_fit { FIT_NO, FIT_FOREIGN, FIT_NEWER, FIT_YES };

/* Returns how the holder at `place` fits the slot. */
static inline enum holder_fit fit_holder(const struct tts_hostview *view,
                                         const struct tts_seenregion *region,
                                         const struct tts_seenslot *slot,
                                         const struct tts_slotroom *room, unsigned place)
{
    const struct tts_seenprocess *process = room->holders.processes[place];
    if (!is_slot_of(view, region, slot, process))
        return FIT_NO;
    if (!can_open_region(region, process))
        return FIT_FOREIGN;
    return room->newer >> place & 1 && !is_number_sure(view, region, slot, process) ? FIT_NEWER
                                                                                    : FIT_YES;
}

static struct slot_match match_slot(const struct tts_hostview *view,
                                    const struct tts_seenregion *region,
                                    const struct tts_seenslot *slot,
                                    const struct tts_slotroom *room)
{
    struct slot_match match = {.count = 0};
    for (unsigned at = tts_chipholders_first(&room->holders, (uint32_t)slot->pid); at != 0;
         at = room->holders.next[at - 1]) {
        enum holder_fit fit = fit_holder(view, region, slot, room, at - 1);
        match.is_foreign |= fit == FIT_FOREIGN;
        match.is_newer |= fit == FIT_NEWER;
        if (fit != FIT_YES)
            continue;
        if (match.count++ == 0)
            match.place = at - 1;
    }
    return match;
}

uint32_t tts_slotroom_count(const struct tts_hostview *view,
                            const struct tts_seenregion *region,
                            const struct tts_seenslot *slot, const struct tts_slotroom *room)
{
    uint32_t count = 0;
    for (unsigned at = tts_chipholders_first(&room->holders, (uint32_t)slot->pid); at != 0;
         at = room->holders.next[at - 1])
        count += fit_holder(view, region, slot, room, at - 1) == FIT_YES;
    return count;
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
                                          const struct tts_slotroom *room,
                                          const struct tts_seenprocess *process)
{
    if (!process || !process->is_alive || process->pid_levels != 1 || region->private_of ||
        !tts_seenslot_is_after_start(view, region, slot, process) ||
        (room->holders.is_listed && !room->holders.is_open)) /* nobody has the chip open */
        return OWNER_NO;
    bool is_node_read = !room->is_simulated && view->chip_count > 0 && process->nodes_known;
    if (is_node_read && (process->nodes & room->nodes) == 0)
        return OWNER_NO;
    if (!process->start_known || !can_open_region(region, process))
        return OWNER_PERHAPS;
    if (is_node_read)
        return OWNER_YES;
    return is_same_name(slot, process) ? OWNER_LIKELY : OWNER_PERHAPS;
}

/* Sets the state of a slot that no holder owns. */
static void set_namesake(const struct tts_hostview *view, const struct tts_seenregion *region,
                         const struct tts_seenslot *slot, const struct tts_slotroom *room,
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
    out->reason = tts_slotroom_reason(view, room);
    if (out->reason == TTS_LIVEREASON_NONE && evidence != OWNER_NO)
        out->reason = can_open_region(region, process) ? TTS_LIVEREASON_UNSURE
                                                       : TTS_LIVEREASON_OTHER_USER;
    out->state =
        out->reason == TTS_LIVEREASON_NONE ? TTS_LIVEPROCESS_DEAD : TTS_LIVEPROCESS_NOT_VISIBLE;
}

void tts_slotroom_judge(const struct tts_hostview *view, const struct tts_seenregion *region,
                        const struct tts_seenslot *slot, struct tts_slotroom *room,
                        struct tts_liveprocess *out)
{
    struct slot_match match = match_slot(view, region, slot, room);
    memccpy(out->name, slot->name, '\0', sizeof out->name);
    if (match.count > 0) {
        const struct tts_seenprocess *owner = room->holders.processes[match.place];
        tts_liveprocess_set_facts(out, owner);
        out->is_name_changed = slot->name[0] != '\0' && !is_same_name(slot, owner);
        out->shared_by = match.count;
        room->owners |= UINT64_C(1) << match.place;
        if (is_proof_of_use(region, owner))
            room->sure |= UINT64_C(1) << match.place;
    } else if (match.is_foreign) {
        /* A live process may not look dead because of a file of another user. */
        out->state = TTS_LIVEPROCESS_NOT_VISIBLE;
        out->reason = TTS_LIVEREASON_OTHER_USER;
        out->container_pid_known = true;
        out->container_pid = (uint32_t)slot->pid;
    } else if (match.is_newer) {
        out->state = TTS_LIVEPROCESS_DEAD;
        out->container_pid_known = true;
        out->container_pid = (uint32_t)slot->pid;
    } else {
        set_namesake(view, region, slot, room, out);
    }
    out->counters = slot->counters;
    out->source = TTS_LIVESOURCE_REGION;
}
