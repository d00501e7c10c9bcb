/* cbs.h: the circular buffers of one program in the L1 of its cores, placed as the runtime
 * places them.
 *
 * Buffers are placed in the order they are added, each at the highest end of its core ranges,
 * rounded up to the DRAM alignment. Like the runtime, this code keeps one end for each
 * different range that a buffer names, not one for each core. If ranges overlap and differ, the
 * runtime can place one buffer over another on a core. This is reproduced and reported, not
 * corrected (docs/design/cbs.md). A call that fails leaves the buffers unchanged.
 *
 * Threads: one thread at a time for each tts_cbs. Two threads may use two of them at once.
 * Signals: no function here may be called in a signal handler, because each can allocate.
 * Fork: the child has its own copy of every tts_cbs and may use and free the copy.
 *
 * Example:
 *     struct tts_cbs_config conf = {.base = 98304, .l1_bytes = 1499136, .alignment_bytes = 32,
 *                                   .columns = 8, .rows = 8, .max_indices = 32};
 *     struct tts_core_range cores = {0, 0, 7, 7};
 *     struct tts_cb cb = {.ranges = &cores, .range_count = 1, .total_bytes = 65536};
 *     struct tts_cbs *cbs;
 *     struct tts_error err;
 *     uint64_t address;
 *     if (tts_cbs_new(&conf, NULL, &cbs, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     if (tts_cbs_add(cbs, &cb, &address, &err) == TTS_OK)
 *         printf("at %llu on each of 64 cores\n", (unsigned long long)address);
 *     tts_cbs_free(cbs); */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/cb.h"
#include "ttscope/failure.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_cbs_config {
    uint64_t base;            /* first address for circular buffers */
    uint64_t l1_bytes;        /* L1 size of a core */
    uint64_t l1_small_bytes;  /* size of L1_SMALL, at the top of L1 */
    uint64_t alignment_bytes; /* DRAM alignment */
    uint32_t columns, rows;   /* compute grid */
    uint32_t max_indices;     /* number of indices that a core has; at most 64 */
};

enum { TTS_CBS_MAX = 4096 };

struct tts_cbs;

/* Makes an empty set of circular buffers. The caller frees it. If `alloc` is NULL, the C
 * library's allocator is used. TTS_E_INVALID: the configuration is impossible. TTS_E_NOMEM: out
 * of memory. */
TTS_NODISCARD enum tts_status tts_cbs_new(const struct tts_cbs_config *config,
                                          const struct tts_alloc *alloc, struct tts_cbs **out,
                                          struct tts_error *err);
void tts_cbs_free(struct tts_cbs *cbs); /* NULL is allowed */

/* Removes all circular buffers, so that the circular buffers of program `program_id` can be
 * added. Keeps the memory. */
void tts_cbs_reset(struct tts_cbs *cbs, uint64_t program_id);

/* Places a circular buffer and sets *address. A circular buffer with a total of 0 bytes is
 * placed too, and needs no bytes.
 *
 * TTS_E_INVALID: the runtime would refuse the circular buffer; `err` says why: cores outside
 * the grid, overlapping ranges, a page that does not divide the total, more than 65535 pages,
 * or an index that is too high or already used on one of the cores.
 * TTS_E_RANGE: an address exceeds 64 bits, or there are already TTS_CBS_MAX circular buffers.
 * TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_cbs_add(struct tts_cbs *cbs, const struct tts_cb *cb,
                                          uint64_t *address, struct tts_error *err);

/* The lowest addresses of L1 buffers. Circular buffers must stay below these addresses. */
struct tts_cbs_floor {
    bool known;       /* there are L1 buffers */
    uint64_t address; /* lowest address on any core */
    /* The lowest address on each core, at index y * columns + x; UINT64_MAX if the core has no
     * L1 buffer. NULL if the cores are not distinguished. */
    const uint64_t *by_core;
};

/* Checks the circular buffers as the runtime does when the program runs. Returns TTS_OK, or
 * TTS_E_FULL if a range fails. Then *out describes the first such range (CB_BEYOND or
 * CB_CLASH), in the order in which the ranges were first named. */
TTS_NODISCARD enum tts_status tts_cbs_check(const struct tts_cbs *cbs,
                                            const struct tts_cbs_floor *floor,
                                            struct tts_failure *out);

/* The room for circular buffers on one core. tts_cbs_core() returns TTS_E_RANGE if there is no
 * such core. */
struct tts_core_room {
    uint64_t cb_bytes;     /* bytes in the core's circular buffers; bytes that two of them share
                              count once */
    uint64_t region_end;   /* true end of the core's circular buffers (the base if there are
                              none); the runtime's end of a range may be higher */
    uint64_t ceiling;      /* start of the lowest L1 buffer, or of L1_SMALL if there is none */
    uint64_t free_bytes;   /* ceiling - region_end, or 0 if region_end is higher */
    uint64_t excess_bytes; /* region_end - ceiling, or 0 if region_end is not higher */
};
TTS_NODISCARD enum tts_status tts_cbs_core(const struct tts_cbs *cbs,
                                           const struct tts_cbs_floor *floor,
                                           struct tts_core core, struct tts_core_room *out);

/* Returns the core with the least room, and its room. If several cores have the same room,
 * returns the first of them, row by row. */
struct tts_core tts_cbs_tightest(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor,
                                 struct tts_core_room *out);

/* Return circular buffer number `idx` in the order of placement (NULL after the last one), the
 * number of circular buffers, and range number `idx` of all their ranges. The pointer is valid
 * until the next add or reset. */
const struct tts_cb_placed *tts_cbs_at(const struct tts_cbs *cbs, size_t idx);
size_t tts_cbs_count(const struct tts_cbs *cbs);
struct tts_core_range tts_cbs_range(const struct tts_cbs *cbs, size_t idx);

uint64_t tts_cbs_program(const struct tts_cbs *cbs);
