/* baseline.h: an allocator built like the runtime's, for comparison. It follows the same rules
 * as ttscope's space but has the data structures of the reference: all blocks in parallel
 * arrays with links to their neighbours, free blocks in one array per size class, sorted by
 * address, taken blocks in a hash of 512 buckets. It has only the functions that the streams
 * use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct baseline;

struct baseline *baseline_new(uint64_t size, uint64_t offset, uint64_t alignment, bool best);
void baseline_free(struct baseline *b);
/* Returns the absolute address, or UINT64_MAX if the request does not fit. */
uint64_t baseline_take(struct baseline *b, uint64_t bytes, bool up);
void baseline_give(struct baseline *b, uint64_t address);
/* Returns the largest free size. Like the reference, walks over all blocks. */
uint64_t baseline_largest_free(const struct baseline *b);
size_t baseline_memory(const struct baseline *b);
