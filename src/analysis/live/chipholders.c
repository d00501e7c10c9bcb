#include "analysis/live/chipholders.h"

#define START_SLACK_NS UINT64_C(2000000000)

static_assert((int)TTS_HOSTVIEW_HOLDERS_MAX < 255, "a place + 1 fits into a byte");

static bool is_in_other_namespace(const struct tts_hostview *view,
                                  const struct tts_seenprocess *process)
{
    return process->pid_levels > 1 || (process->namespace_known && view->own_namespace_known &&
                                       process->namespace_id != view->own_namespace_id);
}

/* Adds a live process, unless it is there already. */
static void keep_holder(struct tts_chipholders *holders, const struct tts_seenprocess *process)
{
    uint32_t inside = tts_seenprocess_inside(process);
    unsigned last = 0;
    for (unsigned at = tts_chipholders_first(holders, inside); at != 0;
         at = holders->next[at - 1]) {
        if (holders->processes[at - 1] == process)
            return;
        last = at;
    }
    if (holders->count == TTS_HOSTVIEW_HOLDERS_MAX) {
        holders->is_cut = true;
        return;
    }
    holders->processes[holders->count++] = process;
    /* At the end of the chain, so that the chain has the order of the list. */
    uint8_t *link =
        last ? &holders->next[last - 1] : &holders->heads[inside % TTS_CHIPHOLDERS_HEADS];
    *link = (uint8_t)holders->count;
}

static void add_holder(const struct tts_hostview *view, uint32_t pid,
                       struct tts_chipholders *holders)
{
    const struct tts_seenprocess *process = pid ? tts_hostview_process(view, pid) : NULL;
    if (pid != 0 && pid == view->own_pid)
        return;
    holders->is_open = true;
    if (!process) {
        holders->has_hidden = true;
        holders->has_outside |= pid == 0;
        holders->is_cut |= pid != 0;
        return;
    }
    holders->has_ended |= !process->is_alive;
    if (!process->is_alive || process->pid_levels == 0)
        holders->unclear_pid = pid;
    if (!process->is_alive)
        return;
    if (is_in_other_namespace(view, process))
        holders->nested_pid = pid;
    keep_holder(holders, process);
}

static void add_chip_holders(const struct tts_hostview *view, const struct tts_seenchip *chip,
                             struct tts_chipholders *holders)
{
    bool is_cut = chip->holder_count > TTS_HOSTVIEW_HOLDERS_MAX;
    size_t kept = is_cut ? (size_t)TTS_HOSTVIEW_HOLDERS_MAX : chip->holder_count;
    holders->is_listed = holders->is_listed && chip->holders_known;
    holders->is_cut |= is_cut;
    holders->has_hidden |= is_cut;
    for (size_t i = 0; i < kept; i++)
        add_holder(view, chip->holders[i], holders);
}

void tts_chipholders_find(const struct tts_hostview *view, const struct tts_seenchip *chip,
                          struct tts_chipholders *out)
{
    *out = (struct tts_chipholders){.is_listed = chip || view->chip_count > 0};
    if (chip)
        add_chip_holders(view, chip, out);
    for (size_t i = 0; !chip && i < view->chip_count; i++)
        add_chip_holders(view, &view->chips[i], out);
    /* A chip that was left out may have holders of its own. */
    out->is_listed = out->is_listed && (chip || view->chips_left_out == 0);
}

bool tts_seenslot_has_time(const struct tts_hostview *view, const struct tts_seenregion *region,
                           const struct tts_seenslot *slot)
{
    if (!region->is_unix_time || slot->last_update_ns == 0)
        return false;
    return !region->is_of_this_boot || !view->clock_known ||
           view->clock_since_ns <= slot->last_update_ns ||
           view->clock_since_ns - slot->last_update_ns <= START_SLACK_NS;
}

bool tts_seenslot_is_after_start(const struct tts_hostview *view,
                                 const struct tts_seenregion *region,
                                 const struct tts_seenslot *slot,
                                 const struct tts_seenprocess *process)
{
    if (!process->start_known || !tts_seenslot_has_time(view, region, slot))
        return true;
    return process->start_ns <= slot->last_update_ns ||
           process->start_ns - slot->last_update_ns <= START_SLACK_NS;
}
