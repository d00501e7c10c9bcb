/* cbs.h: the circular buffers of one program in the L1 of its cores, laid out as the runtime
 * does it.
 *
 * Buffers are placed in the order they are added, each at the highest end of the core ranges it
 * names, rounded up to the DRAM alignment. The runtime keeps that end for each range that some
 * buffer names, not for each core; so does this. Where ranges overlap and differ, the runtime
 * can lay one buffer over another on a core: that is shown, not corrected (docs/design/cbs.md).
 * A call that fails leaves the buffers as they were.
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
    uint64_t base;            /* first byte */
    uint64_t l1_bytes;        /* of a core */
    uint64_t l1_small_bytes;  /* at its top */
    uint64_t alignment_bytes; /* of DRAM */
    uint32_t columns, rows;   /* of the compute grid */
    uint32_t max_indices;     /* of a core: at most 64 */
};

enum { TTS_CBS_MAX = 4096 };

struct tts_cbs;

/* `alloc` NULL means the C library's. TTS_E_INVALID, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_cbs_new(const struct tts_cbs_config *config,
                                          const struct tts_alloc *alloc, struct tts_cbs **out,
                                          struct tts_error *err);
void tts_cbs_free(struct tts_cbs *cbs); /* NULL is fine */

/* The next program: nothing is placed. Keeps its memory. */
void tts_cbs_reset(struct tts_cbs *cbs, uint64_t program_id);

/* Places one. TTS_E_INVALID (err says why, as the runtime would refuse it): outside the grid,
 * overlapping ranges, a page that does not divide the total, more than 65535 pages, an index
 * too high or used on one of the cores already. TTS_E_RANGE: past 64 bits, or one more than
 * TTS_CBS_MAX. TTS_E_NOMEM. A total of 0 is placed and takes no bytes. */
TTS_NODISCARD enum tts_status tts_cbs_add(struct tts_cbs *cbs, const struct tts_cb *cb,
                                          uint64_t *address, struct tts_error *err);

/* Where the L1 buffers begin. */
struct tts_cbs_floor {
    bool known;       /* there are L1 buffers */
    uint64_t address; /* the lowest, on every core */
    const uint64_t
        *by_core; /* NULL, or the lowest of each [y * columns + x]; UINT64_MAX: none */
};

/* What the runtime checks when the program is run: TTS_OK, or TTS_E_FULL and *out (CB_BEYOND or
 * CB_CLASH) for the first range that fails, in the order they came up. */
TTS_NODISCARD enum tts_status tts_cbs_check(const struct tts_cbs *cbs,
                                            const struct tts_cbs_floor *floor,
                                            struct tts_failure *out);

/* One core: the end of its circular buffers (the base when it has none) and what is really free
 * there, up to the lowest L1 buffer or the end of L1 below L1_SMALL.
 * TTS_E_RANGE: there is no such core. */
struct tts_core_room {
    uint64_t cb_bytes;     /* of its circular buffers, what two share counted once */
    uint64_t region_end;   /* as it is; the runtime's, by range, may be higher */
    uint64_t ceiling;      /* the lowest L1 buffer, or where L1_SMALL begins */
    uint64_t free_bytes;   /* ceiling - region_end, 0 when they cross */
    uint64_t excess_bytes; /* region_end - ceiling when they cross */
};
TTS_NODISCARD enum tts_status tts_cbs_core(const struct tts_cbs *cbs,
                                           const struct tts_cbs_floor *floor,
                                           struct tts_core core, struct tts_core_room *out);

/* The core with the least room; the first in row-major order among equals. */
struct tts_core tts_cbs_tightest(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor,
                                 struct tts_core_room *out);

/* The placed buffers in order; NULL behind the last. Borrowed until the next add or reset. */
const struct tts_cb_placed *tts_cbs_at(const struct tts_cbs *cbs, size_t idx);
size_t tts_cbs_count(const struct tts_cbs *cbs);
struct tts_core_range tts_cbs_range(const struct tts_cbs *cbs, size_t idx);

uint64_t tts_cbs_program(const struct tts_cbs *cbs);
