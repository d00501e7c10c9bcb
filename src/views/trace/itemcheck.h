/* itemcheck.h: checks whether the items of a file are valid, for callers that do not fold them:
 * folding costs more than exporting. It refuses the same items as model/follow.h. Plain value;
 * starts as all zeros. */
#pragma once

#include "model/item.h"

struct tts_itemcheck {
    bool in_keyframe;
    uint64_t seq; /* number of the last event */
};

/* Checks the next item of a pass (sources/eventpass.h). Call it once for each item, in order.
 * TTS_E_INVALID, TTS_E_RANGE: the item is invalid and does not count; `err` says why. */
TTS_NODISCARD enum tts_status tts_itemcheck_pass(struct tts_itemcheck *check,
                                                 const struct tts_item *item,
                                                 struct tts_error *err);
