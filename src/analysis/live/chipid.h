/* chipid.h: which chip of a host a region of the runtime is named after. Pure functions. */
#pragma once

#include "model/live/hostview.h"

/* Returns the only chip that `id` can name, or NULL. If two chips of a board could have the id,
 * it names neither chip, unless it is the own id of one of them. The chip is borrowed from the
 * host view. */
const struct tts_seenchip *tts_chipid_find(const struct tts_hostview *view, uint64_t id);

/* Returns whether the id belongs to a simulated chip. No process opens such a chip. */
bool tts_chipid_is_simulated(uint64_t id);
