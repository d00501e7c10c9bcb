/* opbytes.h: the bytes of a pool by operation: bytes allocated, bytes live now, and bytes live
 * at one chosen moment. Each operation has a row. An operation is identified by its text in the
 * follower; operations for whose name the follower has no room share the row "(other)". One
 * thread at a time. */
#pragma once

#include "analysis/questions/levels.h"
#include "model/follow.h"

struct tts_op_row {
    const char *op; /* text of the follower; NULL for the row "outside any operation" */
    uint64_t allocations, allocated_bytes;
    uint64_t live_bytes, live_buffers;     /* buffers that are live now */
    uint64_t moment_bytes, moment_buffers; /* buffers that were passed to tts_ops_moment() */
};

struct tts_ops;

/* Creates an empty table for one pool. If `alloc` is NULL, the C library allocates. Returns
 * TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_ops_new(enum tts_pool pool, const struct tts_alloc *alloc,
                                          struct tts_ops **out);
void tts_ops_free(struct tts_ops *ops); /* `ops` may be NULL */

/* Applies a change (model/fold.h). Buffers that are older than the file count as live, but not
 * as allocated. Buffers for which the ledger had no memory count as allocated in the row
 * tts_ops_unlisted, but not as live. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_ops_change(struct tts_ops *ops,
                                             const struct tts_change *change);
extern const char tts_ops_unlisted[];

/* Counts a buffer that was live at the chosen moment. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_ops_moment(struct tts_ops *ops, const struct tts_live *live);

enum tts_pool tts_ops_pool(const struct tts_ops *ops);
size_t tts_ops_count(const struct tts_ops *ops);
/* Returns a row, or NULL after the last row. Rows are in the order of their first event;
 * operations that are older than the file have no order. */
const struct tts_op_row *tts_ops_at(const struct tts_ops *ops, size_t idx);

/* Returns true if `a` comes before `b`, for two rows with equal bytes. The order is by name,
 * then by path, then by counts, so that the order depends only on the file. If name, path and
 * counts are equal, neither row comes first. */
bool tts_op_row_precedes(const struct tts_follow *follow, const struct tts_op_row *a,
                         const struct tts_op_row *b);
