/* itemgate.h: which items of a file an export tells of, and whether they can be.
 * A keyframe says what there is; who knows what was before passes it over. So only one that is
 * the first thing of a file goes through. Names of operations never do: every item has its own.
 * What a file may not say is refused as model/follow.h does, without folding it: that costs
 * more than to export it. Plain value; all zero is how it begins. */
#pragma once

#include "model/item.h"

struct tts_itemgate {
    bool has_begun, in_keyframe, takes_keyframe;
    uint64_t seq; /* of the last event */
};

/* To be asked once for every item, in their order. `takes`: it is to be told. TTS_E_INVALID,
 * TTS_E_RANGE: it cannot be; err says why. */
TTS_NODISCARD enum tts_status tts_itemgate_pass(struct tts_itemgate *gate,
                                                const struct tts_item *item, bool *takes,
                                                struct tts_error *err);
