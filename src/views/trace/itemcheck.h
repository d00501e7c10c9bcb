/* itemcheck.h: whether the items of a file can be, for those who do not fold them: to fold them
 * costs more than to export them. What a file may not say is refused as model/follow.h does.
 * Plain value; all zero is how it begins. */
#pragma once

#include "model/item.h"

struct tts_itemcheck {
    bool in_keyframe;
    uint64_t seq; /* of the last event */
};

/* To be asked once for every item of a pass (sources/eventpass.h), in their order.
 * TTS_E_INVALID, TTS_E_RANGE: it cannot be; err says why, and the item does not count. */
TTS_NODISCARD enum tts_status tts_itemcheck_pass(struct tts_itemcheck *check,
                                                 const struct tts_item *item,
                                                 struct tts_error *err);
