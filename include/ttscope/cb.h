/* cb.h: a circular buffer: a region of L1 at the same address on each of its cores. Plain
 * values for tts_device_add_cb() and for observers of a device; docs/design/cbs.md has the
 * rules. The header declares no functions, so it has no thread, signal or fork rules.
 *
 * Example:
 *     struct tts_core_range cores = {0, 0, 7, 7};
 *     struct tts_cb cb = {.ranges = &cores, .range_count = 1, .total_bytes = 65536};
 *     struct tts_chip chip;
 *     struct tts_device *device;
 *     struct tts_error err;
 *     uint64_t address;
 *     if (tts_chip_preset("n150", &chip, &err) != TTS_OK ||
 *         tts_device_new(&chip, NULL, NULL, &device, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     tts_device_program(device, 1);
 *     if (tts_device_add_cb(device, &cb, &address, &err) == TTS_OK)
 *         printf("at %llu on each of 64 cores\n", (unsigned long long)address);
 *     tts_device_free(device); */
#pragma once

#include "ttscope/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_CB_INDICES_MAX = 64 };

struct tts_cb_index {
    uint32_t index;
    uint64_t page_bytes; /* divides the total; 0: not said */
};

struct tts_cb {
    const struct tts_core_range *ranges; /* 1 .. TTS_RANGES_MAX, none overlaps another; as
                                          * the runtime has merged them, if it did */
    size_t range_count;
    uint64_t total_bytes;
    const struct tts_cb_index *indices; /* several share the bytes (aliasing); may be none */
    size_t index_count;
    bool global;             /* lies on an L1 buffer and takes nothing of the region */
    uint64_t global_address; /* then */
};

/* A circular buffer that has its address. */
struct tts_cb_placed {
    uint64_t address, total_bytes; /* [address, address + total_bytes) on all cores of it */
    bool global;
    size_t overlaps; /* how many earlier ones it lies over, in part, on some core */
    size_t first_range, range_count; /* among the ranges of all of the program */
    uint64_t indices;                /* a bit for each */
};
