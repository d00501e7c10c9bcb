/* tracescan.h: finds the phases of traces (tracephase.h) in a file of events. The memory of
 * all devices is added up. A file has no events about the code of kernels, so the size of the
 * code in L1 is unknown.
 *
 * A file with times is sampled like a program that is watched (serve/serverphases.h): at the
 * begin and the end of a capture, in the pauses of a capture, and after a second without
 * events. The end of the file counts as such a second. A file without times has a sample after
 * each event.
 *
 * Plain data that begins as zeros. One thread at a time. Cost: constant for each item. */
#pragma once

#include "analysis/questions/tracephase.h"
#include "model/fold.h"
#include "model/item.h"

struct tts_tracescan {
    uint64_t bytes[TTS_POOLS];
    uint64_t large_buffers;
    uint32_t depth;
    uint64_t begun, ended, changes;
    bool is_timed, is_changed; /* is_changed: since the last sample */
    bool is_settled;           /* a sample was taken after a second without events */
    /* The last sample, the first change after this sample, and the last change. */
    uint64_t sample_ns, changed_ns, news_ns;
    struct tts_tracephases phases;
};

/* Takes the next item, and its effect on the live buffers. */
void tts_tracescan_item(struct tts_tracescan *scan, const struct tts_item *item,
                        const struct tts_change *change);

/* Takes the samples that are due at the end of the file. */
void tts_tracescan_end(struct tts_tracescan *scan);
