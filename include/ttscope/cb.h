/* cb.h: a circular buffer: a region of L1 at the same address on each of its cores. Plain
 * values for tts_device_add_cb() and for observers of a device. docs/design/cbs.md has the
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
    uint64_t page_bytes; /* total_bytes is a multiple of it; 0 if unknown */
};

struct tts_cb {
    /* 1 .. TTS_RANGES_MAX ranges that do not overlap. If the runtime merges ranges, give the
     * merged ranges. */
    const struct tts_core_range *ranges;
    size_t range_count;
    uint64_t total_bytes;
    /* The indices of the circular buffer; may be NULL. Several indices share the same bytes. */
    const struct tts_cb_index *indices;
    size_t index_count;
    /* The circular buffer uses the memory of an L1 buffer and takes no memory of its own. */
    bool global;
    uint64_t global_address; /* address of that memory, if `global` is true */
};

/* A circular buffer with its address. */
struct tts_cb_placed {
    /* The circular buffer takes [address, address + total_bytes) on each of its cores. */
    uint64_t address, total_bytes;
    bool global;
    /* Number of earlier circular buffers of the program that share a byte with this one on some
     * core. */
    size_t overlaps;
    size_t first_range, range_count; /* position in the list of all ranges of the program */
    uint64_t indices;                /* set of indices: one bit for each index */
};
