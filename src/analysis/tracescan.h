/* tracescan.h: finds the phases of traces (tracephase.h) in a file of events. The memory of
 * all devices is added up. A file has no events about the code of kernels, so the size of the
 * code in L1 is unknown.
 *
 * Plain data that begins as zeros. One thread at a time. Cost: constant for each item. */
#pragma once

#include "analysis/tracephase.h"
#include "model/fold.h"
#include "model/item.h"

struct tts_tracescan {
    uint64_t bytes[TTS_POOLS];
    uint32_t depth;
    uint64_t begun, ended, changes;
    struct tts_tracephases phases;
};

/* Takes the next item, and its effect on the live buffers. */
void tts_tracescan_item(struct tts_tracescan *scan, const struct tts_item *item,
                        const struct tts_change *change);
