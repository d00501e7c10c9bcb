/* regionplace.h: the chip of each region, and which region of a chip is the present one.
 * docs/design/live.md has the rules. Pure functions on borrowed facts; one thread at a time. */
#pragma once

#include "model/live/hostview.h"

/* How far the regions of one id are in use. */
struct tts_regionrank {
    bool is_owned; /* root or the user of a live holder proves that the holder owns an entry */
    /* References are counted, and no entry belongs to a process that has ended. */
    bool is_referenced;
    bool time_known;
    uint64_t time_ns;      /* of the last change, since 1970, and not in the future */
    uint64_t owners, sure; /* sets of holders, as in struct tts_slotroom */
};

struct tts_placedregion {
    const struct tts_seenregion *region;
    const struct tts_seenchip *chip; /* NULL: the region matches no chip of this host */
    bool is_by_owner;                /* the chip was found by a process that uses both */
    bool is_older;                   /* the chip has a newer region with another id */
    uint64_t newer;             /* holders that own an entry of a newer region of the chip */
    uint64_t elsewhere;         /* holders that own an entry of a region with another id */
    struct tts_regionrank rank; /* in the first region of each id of a chip with several ids */
};

/* Fills places[0 .. view->region_count). Sorts them in the order of the screen: by node of the
 * chip, then by id; regions without a chip come last. */
void tts_regionplace_all(const struct tts_hostview *view, struct tts_placedregion *places);

/* Returns how many of the places from the first on have its chip and its id. `left` is above 0.
 */
size_t tts_regionplace_count(const struct tts_placedregion *places, size_t left);
