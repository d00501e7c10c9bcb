/* region_image.h: the bytes of a memory region of the runtime, made for tests. The offsets are
 * written out here a second time, so that a wrong offset in src/wire cannot hide. Plain data.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGION_IMAGE_MAX = 9280, REGION_IMAGE_COUNTERS = 6, REGION_IMAGE_SLOTS = 64 };

struct region_image {
    unsigned char bytes[REGION_IMAGE_MAX];
    size_t len;
    unsigned version;
    bool has_kernels; /* version 1 with a counter for kernels ("v1k") */
};

/* A process in a region. The counters are DRAM, L1, L1_SMALL, TRACE, CB and kernels. */
struct region_image_slot {
    int32_t pid;
    uint64_t bytes[REGION_IMAGE_COUNTERS];
    uint64_t time_ns;
    const char *name; /* up to 64 bytes are written, with a terminator if there is room */
};

/* Makes a complete region without processes. `kind` is "v1k", "v1", "v2", "v3" or "v4". Returns
 * false if there is no such kind. */
bool region_image_init(struct region_image *image, const char *kind, uint64_t id);
void region_image_put_slot(struct region_image *image, size_t index,
                           const struct region_image_slot *slot);
void region_image_put_totals(struct region_image *image,
                             const uint64_t bytes[REGION_IMAGE_COUNTERS]);
/* Returns the offset of a slot. */
size_t region_image_slot_off(const struct region_image *image, size_t index);
/* Write a number at an offset. */
void region_image_put32(struct region_image *image, size_t off, uint32_t value);
void region_image_put64(struct region_image *image, size_t off, uint64_t value);

/* Offsets of the fields that all kinds have. */
enum {
    REGION_IMAGE_VERSION = 0,
    REGION_IMAGE_ACTIVE = 4,
    REGION_IMAGE_TIME = 8,
    REGION_IMAGE_REFERENCES = 16,
    REGION_IMAGE_BOARD = 24,
    REGION_IMAGE_ASIC = 32,
    REGION_IMAGE_LOGICAL = 40,
    REGION_IMAGE_TOTALS = 48,
    REGION_IMAGE_INIT_STATE = 8536, /* v4 */
};
