#include "analysis/live/regionplace.h"

#include "analysis/live/chipid.h"
#include "analysis/live/slotowner.h"

#include <stdlib.h>
#include <string.h>

/* ---- regions whose ids name no chip ---- */

/* The search for the chips of such regions. */
struct owner_join {
    const struct tts_hostview *view;
    struct tts_placedregion *places;
    bool has_all;            /* `all` is filled */
    struct tts_slotroom all; /* the holders of all chips */
};

/* Returns whether no process of this host can be the owner of the slot. */
static bool is_slot_dead(struct owner_join *join, const struct tts_seenregion *region,
                         const struct tts_seenslot *slot)
{
    struct tts_liveprocess process = {.shared_by = 1};
    if (!join->has_all)
        tts_slotroom_find(join->view, NULL, region->id, &join->all);
    join->has_all = true;
    tts_slotroom_judge(join->view, region, slot, &join->all, &process);
    return process.state == TTS_LIVEPROCESS_DEAD;
}

/* Returns whether every live process of the region, at least one, is a holder of the chip,
 * whose holders `room` has. The slot of a process that was killed stays for ever. */
static bool is_region_of_holders(struct owner_join *join, const struct tts_seenregion *region,
                                 const struct tts_slotroom *room)
{
    size_t live = 0;
    if (region->state != TTS_SEENREGION_READ)
        return false;
    for (size_t i = 0; i < region->slot_count; i++) {
        const struct tts_seenslot *slot = &region->slots[i];
        uint32_t count = tts_slotroom_count(join->view, region, slot, room);
        if (count > 1 || (count == 0 && !is_slot_dead(join, region, slot)))
            return false;
        live += count;
    }
    return live > 0;
}

/* Returns whether the board may have another chip that has no node. */
static bool may_have_remote(const struct tts_seenchip *chip)
{
    return !chip->preset || strcmp(chip->preset, "n300") == 0;
}

static bool has_region(const struct owner_join *join, const struct tts_seenchip *chip)
{
    size_t i = 0;
    while (i < join->view->region_count && join->places[i].chip != chip)
        i++;
    return i < join->view->region_count;
}

/* Returns the only region without a chip that fits a chip without a region, or NULL. */
static struct tts_placedregion *find_region_of_chip(struct owner_join *join,
                                                    const struct tts_seenchip *chip)
{
    struct tts_placedregion *found = NULL;
    struct tts_slotroom room;
    if (!chip->holders_known || may_have_remote(chip) || has_region(join, chip))
        return NULL;
    tts_slotroom_find(join->view, chip, chip->asic_id, &room);
    for (size_t i = 0; i < join->view->region_count; i++) {
        struct tts_placedregion *at = &join->places[i];
        if (at->chip || tts_chipid_is_simulated(at->region->id) ||
            !is_region_of_holders(join, at->region, &room))
            continue;
        if (found)
            return NULL;
        found = at;
    }
    return found;
}

/* Finds the chips of regions whose ids name no chip: the only chip without a region, whose
 * holders are the processes of the only such region. A remote chip has no node, so two regions
 * that fit one chip fit none. */
static void place_by_owners(const struct tts_hostview *view, struct tts_placedregion *places)
{
    struct owner_join join;
    join.view = view;
    join.places = places;
    join.has_all = false;
    for (size_t k = 0; k < view->chip_count; k++) {
        struct tts_placedregion *found = find_region_of_chip(&join, &view->chips[k]);
        size_t chips = 0;
        for (size_t other = 0; found && other < view->chip_count; other++) {
            struct tts_slotroom room;
            tts_slotroom_find(view, &view->chips[other], found->region->id, &room);
            chips += is_region_of_holders(&join, found->region, &room);
        }
        if (chips != 1)
            continue;
        found->chip = &view->chips[k];
        found->is_by_owner = true;
    }
}

/* ---- the present region of a chip ---- */

/* Ranks places[0 .. count), which have one id. */
static struct tts_regionrank rank_regions(const struct tts_hostview *view,
                                          const struct tts_placedregion *places, size_t count)
{
    struct tts_regionrank rank = {0};
    struct tts_slotroom room;
    bool has_dead = false;
    uint64_t references = 0;
    tts_slotroom_find(view, places->chip, places->region->id, &room);
    for (size_t i = 0; i < count; i++) {
        const struct tts_seenregion *region = places[i].region;
        if (region->state != TTS_SEENREGION_READ)
            continue;
        for (size_t k = 0; k < region->slot_count; k++) {
            struct tts_liveprocess process = {.shared_by = 1};
            tts_slotroom_judge(view, region, &region->slots[k], &room, &process);
            has_dead |= process.state == TTS_LIVEPROCESS_DEAD;
        }
        references += region->reference_count;
        /* A time in the future is damaged, or forged to look present. */
        if (!region->is_unix_time || region->last_update_ns > view->time_ns ||
            region->last_update_ns < rank.time_ns)
            continue;
        rank.time_known = true;
        rank.time_ns = region->last_update_ns;
    }
    rank.owners = room.owners;
    rank.sure = room.sure;
    rank.is_owned = room.sure != 0;
    rank.is_referenced = references > 0 && !has_dead;
    return rank;
}

/* Returns whether the regions of rank `a` are certainly newer than those of rank `b`. A program
 * that only opens a device does not touch the time of its region, so the time comes last. */
static bool is_rank_newer(const struct tts_regionrank *a, const struct tts_regionrank *b)
{
    if (a->is_owned != b->is_owned)
        return a->is_owned;
    if (a->is_referenced != b->is_referenced)
        return a->is_referenced;
    return a->time_known && b->time_known && a->time_ns > b->time_ns;
}

/* Compares the regions at `own`, `own_count` with one id, with those of the other ids of their
 * chip. Regions are compared only if all of them can be read. */
static void mark_regions(struct tts_placedregion *places, size_t count, size_t own,
                         size_t own_count, bool can_compare)
{
    uint64_t newer = 0, elsewhere = 0;
    bool is_older = false;
    for (size_t at = 0; at < count; at += tts_regionplace_count(places + at, count - at)) {
        const struct tts_regionrank *rank = &places[at].rank;
        if (at == own)
            continue;
        elsewhere |= rank->owners;
        if (!can_compare || !is_rank_newer(rank, &places[own].rank))
            continue;
        is_older = true;
        newer |= rank->sure;
    }
    for (size_t i = own; i < own + own_count; i++) {
        places[i].is_older = is_older;
        places[i].newer = newer;
        places[i].elsewhere = elsewhere;
    }
}

/* Marks the regions of one chip that are older than another region of the chip with another id.
 * A runtime uses one id for a chip; another version of the runtime, or other Ethernet links,
 * may have used another. */
static void mark_regions_of_chip(const struct tts_hostview *view,
                                 struct tts_placedregion *places, size_t count)
{
    bool can_compare = true;
    size_t same;
    if (!places->chip || tts_regionplace_count(places, count) == count)
        return;
    for (size_t at = 0; at < count; at += same) {
        same = tts_regionplace_count(places + at, count - at);
        places[at].rank = rank_regions(view, places + at, same);
        for (size_t i = at; i < at + same; i++)
            can_compare = can_compare && places[i].region->state == TTS_SEENREGION_READ;
    }
    for (size_t at = 0; at < count; at += same) {
        same = tts_regionplace_count(places + at, count - at);
        mark_regions(places, count, at, same, can_compare);
    }
}

/* ---- all regions ---- */

static int compare_placed_regions(const void *a, const void *b)
{
    const struct tts_placedregion *x = a, *y = b;
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

size_t tts_regionplace_count(const struct tts_placedregion *places, size_t left)
{
    size_t count = 1;
    while (count < left && places[count].chip == places->chip &&
           places[count].region->id == places->region->id)
        count++;
    return count;
}

void tts_regionplace_all(const struct tts_hostview *view, struct tts_placedregion *places)
{
    size_t count = view->region_count;
    for (size_t i = 0; i < count; i++)
        places[i] = (struct tts_placedregion){
            .region = &view->regions[i], .chip = tts_chipid_find(view, view->regions[i].id)};
    if (count == 0)
        return;
    place_by_owners(view, places);
    qsort(places, count, sizeof *places, compare_placed_regions);
    for (size_t at = 0, end; at < count; at = end) {
        for (end = at + 1; end < count && places[end].chip == places[at].chip;)
            end++;
        mark_regions_of_chip(view, places + at, end - at);
    }
}
