/* samplepeaks.h: the peaks and the last values of sampled counters, for each device. A peak is
 * the highest value that a sample has: the real peak can be higher, between two samples.
 *
 * The caller owns the struct; initialize it with zeros. Allocates nothing. One thread at a
 * time. */
#pragma once

#include "model/item.h"

enum { TTS_SAMPLEPEAKS_DEVICES_MAX = 64 };

/* One value of a device. */
struct tts_samplepeak {
    bool is_known; /* a sample has the value */
    bool has_time; /* the times are valid */
    uint64_t peak, last;
    uint64_t peak_ns, last_ns; /* on the clock of the items */
};

struct tts_sampledevice {
    uint32_t device;
    uint64_t samples;
    struct tts_samplepeak values[TTS_SAMPLE_VALUES]; /* by number (sample.h) */
};

struct tts_samplepeaks {
    struct tts_sampledevice devices[TTS_SAMPLEPEAKS_DEVICES_MAX]; /* in order of appearance */
    size_t device_count;
    uint64_t samples;     /* of all devices */
    uint64_t left_out;    /* samples of further devices, for which there is no room */
    bool period_is_known; /* every sample says the same period */
    uint64_t period_ns;
};

/* Takes an item of a file. Items that are no samples change nothing. */
void tts_samplepeaks_item(struct tts_samplepeaks *peaks, const struct tts_item *item);
