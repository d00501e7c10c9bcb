/* baseline.h: the allocator the way the runtime builds it, as a yardstick.
 * Written from the same rules as ttscope's space, with the reference's data structures: every
 * block in parallel arrays with neighbour links, free blocks in one address-sorted array per
 * size class, taken blocks in a hash of 512 buckets. Only what the streams use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct baseline;

struct baseline *baseline_new(uint64_t size, uint64_t offset, uint64_t alignment, bool best);
void baseline_free(struct baseline *b);
/* The absolute address, or UINT64_MAX. */
uint64_t baseline_take(struct baseline *b, uint64_t bytes, bool up);
void baseline_give(struct baseline *b, uint64_t address);
/* Totals by a walk over all blocks, as the reference does it. */
uint64_t baseline_largest_free(const struct baseline *b);
size_t baseline_memory(const struct baseline *b);
