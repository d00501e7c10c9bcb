/* opbytes.h: bytes of a pool by operation: allocated, alive now, and alive at one chosen
 * moment. Operations are told apart by the name that the follower keeps; operations without
 * room for a name share the row "(other)". Heap object. One thread. */
#pragma once

#include "analysis/levels.h"
#include "model/follow.h"

struct tts_op_row {
    const char *op; /* borrowed from the follower; NULL: outside any operation */
    uint64_t allocations, allocated_bytes;
    uint64_t live_bytes, live_buffers;     /* alive now */
    uint64_t moment_bytes, moment_buffers; /* alive at the moment, from tts_ops_moment() */
};

struct tts_ops;

/* Makes an empty table for one pool. `alloc` NULL is the C library's. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_ops_new(enum tts_pool pool, const struct tts_alloc *alloc,
                                          struct tts_ops **out);
void tts_ops_free(struct tts_ops *ops); /* NULL is fine */

/* Applies a change. TTS_E_NOMEM. Buffers from before the file count as alive, not as allocated.
 * Buffers that were not listed (model/fold.h) count as allocated by tts_ops_unlisted, and not
 * as alive. */
TTS_NODISCARD enum tts_status tts_ops_change(struct tts_ops *ops,
                                             const struct tts_change *change);
extern const char tts_ops_unlisted[];

/* Counts a buffer that lived at the chosen moment. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_ops_moment(struct tts_ops *ops, const struct tts_live *live);

enum tts_pool tts_ops_pool(const struct tts_ops *ops);
size_t tts_ops_count(const struct tts_ops *ops);
/* Returns a row, or NULL after the last. Rows are in the order of their first event; operations
 * from before the file come in any order. */
const struct tts_op_row *tts_ops_at(const struct tts_ops *ops, size_t idx);

/* Orders rows with equal bytes by name, then path, then counts, so that the order depends on
 * the file only. Returns true if `a` comes before `b`. Rows that look equal to a reader have no
 * order. */
bool tts_op_row_precedes(const struct tts_follow *follow, const struct tts_op_row *a,
                         const struct tts_op_row *b);
