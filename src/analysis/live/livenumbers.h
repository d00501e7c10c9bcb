/* livenumbers.h: the numbers of devices on the screen. A device keeps its number from frame to
 * frame, also after its program was killed; a number is never given to another device.
 *
 * Ownership: the caller owns the struct; release frees its memory. Threads: one at a time. */
#pragma once

#include "model/live/liveframe.h"

struct tts_numbereddevice; /* private */

struct tts_livenumbers {
    const struct tts_alloc *alloc;
    struct tts_numbereddevice *devices; /* of all frames so far */
    size_t count, capacity;
    uint32_t next; /* number of the next new device */
};

/* Makes an empty set of numbers. If `alloc` is NULL, the C library allocates. */
void tts_livenumbers_init(struct tts_livenumbers *numbers, const struct tts_alloc *alloc);
void tts_livenumbers_release(struct tts_livenumbers *numbers);

/* Sets `index` of each device, and sorts the devices by their numbers. A device is known again
 * by its unique id, else by its node, else by its program and the number that the program gives
 * to the device. New devices get the next numbers in the order of the frame. Returns TTS_OK, or
 * TTS_E_NOMEM with an unchanged frame. Cost: linear if few devices come and go. */
TTS_NODISCARD enum tts_status tts_livenumbers_assign(struct tts_livenumbers *numbers,
                                                     struct tts_liveframe *frame);
