/* livedelta.h: how the memory of a device changed between two live frames.
 *
 * Plain data: no allocation, no I/O. Threads: any; the frames are only read. */
#pragma once

#include "model/live/liveframe.h"

/* Differences, positive if the device uses more than before. A difference is known if both
 * numbers are known. */
struct tts_livedelta {
    bool allocated_known[TTS_POOLS], sum_known, buffers_known;
    int64_t allocated_bytes[TTS_POOLS];
    int64_t sum_bytes; /* of the four pools */
    int64_t buffers;
};

/* Adds up the allocated bytes of the four pools. Returns false if the bytes of a pool are
 * unknown or the sum exceeds 64 bits; *out is unchanged then. */
bool tts_livedevice_sum(const struct tts_livedevice *device, uint64_t *out);
/* Adds up the buffers of the four pools, like tts_livedevice_sum(). */
bool tts_livedevice_buffers(const struct tts_livedevice *device, uint64_t *out);

/* Returns the device of `before` that is the same as `device`: it has the same unique id, or,
 * if one of the two has no unique id, the same logical id and the same source. If several
 * devices match in the second way, the one with a process of `device` is the same. A device
 * that only a program names must have the same program, which may have been killed meanwhile.
 * Returns NULL if no device matches, or more than one. Cost: linear in devices and their
 * processes. */
const struct tts_livedevice *tts_livedelta_match(const struct tts_liveframe *before,
                                                 const struct tts_livedevice *device);

/* Writes the differences between `device` and the same device of `before`. Nothing is known if
 * `before` is NULL or does not have the device. */
void tts_livedelta_of(const struct tts_liveframe *before, const struct tts_livedevice *device,
                      struct tts_livedelta *out);
