/* cbholders.h: the L1 buffers of a table (slotindex.h), and in which of them circular buffers
 * lie. A circular buffer belongs to the program of a device, and ends
 * with the next program of this device.
 *
 * All memory is allocated by tts_cbholders_init(). One thread at a time.
 * Cost: to add or remove a buffer takes constant time. To begin a circular buffer or a program
 * is linear in the L1 buffers; a program costs nothing if no buffer holds a circular buffer. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_CBHOLDERS_DEVICES = 256, TTS_CBHOLDERS_WORDS = TTS_CBHOLDERS_DEVICES / 64 };

/* A set of devices, by their index in the table of devices. */
struct tts_deviceset {
    uint64_t words[TTS_CBHOLDERS_WORDS];
};

static inline void tts_deviceset_add(struct tts_deviceset *set, uint32_t device)
{
    set->words[device / 64] |= UINT64_C(1) << device % 64;
}

struct tts_cbholder {
    uint64_t begin, end; /* addresses in each bank; equal if they are unknown */
    uint32_t slot;
    uint32_t device;
    struct tts_deviceset with_cbs; /* devices with a circular buffer in this buffer */
    bool is_holding;               /* with_cbs is not empty */
};

struct tts_cbholders {
    struct tts_cbholder *list;
    uint32_t *places; /* [slots]: index in list[]; undefined for other slots */
    uint32_t count, slots;
    uint32_t holding; /* entries with is_holding */
    const struct tts_alloc *alloc;
};

/* Tells that the first circular buffer began in the buffer of a slot, or the last one ended. */
typedef void (*tts_cbholders_fn)(void *ctx, uint32_t slot, bool is_holding);

/* Makes an empty list for buffers in `slots` slots. `alloc` is borrowed until the release.
 * Returns TTS_E_NOMEM if there is no memory; then nothing is left to release. */
TTS_NODISCARD enum tts_status tts_cbholders_init(struct tts_cbholders *holders, uint32_t slots,
                                                 const struct tts_alloc *alloc);
void tts_cbholders_release(struct tts_cbholders *holders); /* a struct of zeros is allowed */
void tts_cbholders_reset(struct tts_cbholders *holders);

/* Adds the buffer of a slot, which is not in the list. The buffer takes `bytes` from `address`
 * on, or has the address TTS_CLIENTREGION_NO_ADDRESS. */
void tts_cbholders_add(struct tts_cbholders *holders, uint32_t slot, uint32_t device,
                       uint64_t address, uint64_t bytes);
/* Removes the buffer of a slot, which is in the list. */
void tts_cbholders_remove(struct tts_cbholders *holders, uint32_t slot);

/* A circular buffer of `device` begins at an address, in a buffer of one of `owners`. */
void tts_cbholders_begin_cb(struct tts_cbholders *holders, uint32_t device,
                            const struct tts_deviceset *owners, uint64_t address,
                            tts_cbholders_fn fn, void *ctx);
/* The circular buffers of `devices` end. */
void tts_cbholders_end_cbs(struct tts_cbholders *holders, const struct tts_deviceset *devices,
                           tts_cbholders_fn fn, void *ctx);
