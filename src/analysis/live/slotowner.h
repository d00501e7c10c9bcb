/* slotowner.h: which process owns an entry (slot) of a region of the runtime.
 * docs/design/live.md has the rules. Pure functions on borrowed facts; one thread at a time. */
#pragma once

#include "analysis/live/chipholders.h"
#include "model/live/liveframe.h"

static_assert((int)TTS_HOSTVIEW_HOLDERS_MAX <= 64, "a set of holders is a 64-bit mask");

/* The processes that may own entries of the regions of one chip. The same chip of the same host
 * view gives the same places, so sets of holders of one chip can be compared. */
struct tts_slotroom {
    struct tts_chipholders holders;
    /* Sets of holders: bit i is holders.processes[i]. */
    uint64_t owners;   /* own an entry that tts_slotroom_judge() has judged */
    uint64_t sure;     /* are among `owners`, and the user of the region proves it */
    uint64_t newer;    /* own an entry of a newer region of the chip; set by the caller */
    uint64_t nodes;    /* the device nodes that an owner has open, one of them at least */
    bool is_simulated; /* no list names the processes of a simulated chip */
};

/* Finds the processes that may own entries of the region `id` of a chip. `chip` is NULL if the
 * region belongs to no chip of this host. Cost: grows with the number of holders. */
void tts_slotroom_find(const struct tts_hostview *view, const struct tts_seenchip *chip,
                       uint64_t id, struct tts_slotroom *out);

/* Says why the owner of an entry may be a process that cannot be seen. Returns
 * TTS_LIVEREASON_NONE if every process that can be the owner is visible. */
enum tts_livereason tts_slotroom_reason(const struct tts_hostview *view,
                                        const struct tts_slotroom *room);

/* Returns how many holders fit the entry. A holder of another user than the region does not
 * fit, because the runtime lets only its own user and root open a region. */
uint32_t tts_slotroom_count(const struct tts_hostview *view,
                            const struct tts_seenregion *region,
                            const struct tts_seenslot *slot, const struct tts_slotroom *room);

/* Fills *out, which is empty, with the process of an entry: its state, its facts and the
 * counters of the entry. Adds the owner to the sets of `room`. */
void tts_slotroom_judge(const struct tts_hostview *view, const struct tts_seenregion *region,
                        const struct tts_seenslot *slot, struct tts_slotroom *room,
                        struct tts_liveprocess *out);
