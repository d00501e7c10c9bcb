/* server_sizes.h: sizes in the texts of the allocation server. Plain functions; any thread. */
#pragma once

#include "views/textroom.h"

/* Writes bytes in units of 2^shift bytes: "8" if they are a whole number of units, otherwise
 * two decimals, "12.50", or six if they are less than one unit, "0.023438". So a small kernel
 * is not shown as 0. The decimals are rounded down. `shift` is 10, 20 or 30. */
static inline void tts_serversize_put(struct tts_textroom *room, uint64_t bytes, unsigned shift)
{
    uint64_t whole = bytes >> shift, rest = bytes & ((UINT64_C(1) << shift) - 1);
    tts_textroom_number(room, whole);
    if (rest == 0)
        return;
    uint64_t decimals = (rest * (whole ? 100 : 1000000)) >> shift;
    tts_textroom_put(room, ".");
    for (uint64_t place = whole ? 10 : 100000; place > 1 && decimals < place; place /= 10)
        tts_textroom_put(room, "0");
    tts_textroom_number(room, decimals);
}
