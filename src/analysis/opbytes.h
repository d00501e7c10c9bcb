/* opbytes.h: bytes of a pool by operation: allocated, alive now, and alive at one chosen
 * moment. Operations differ by the name that the follower keeps; operations without room for a
 * name share the row "(other)". Heap object. One thread. */
#pragma once

#include "analysis/levels.h"
#include "model/follow.h"

struct tts_op_row {
    const char *op; /* borrowed from the follower; NULL: outside any operation */
    uint64_t allocations, allocated_bytes;
    uint64_t live_bytes, live_buffers;     /* now */
    uint64_t moment_bytes, moment_buffers; /* as told by tts_ops_moment() */
};

struct tts_ops;

/* TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_ops_new(enum tts_pool pool, const struct tts_alloc *alloc,
                                          struct tts_ops **out);
void tts_ops_free(struct tts_ops *ops); /* NULL is fine */

/* TTS_E_NOMEM. What was there before the file lives, but was not allocated in it. What was not
 * listed (model/fold.h) is allocated, by tts_ops_unlisted, and nothing else. */
TTS_NODISCARD enum tts_status tts_ops_change(struct tts_ops *ops,
                                             const struct tts_change *change);
extern const char tts_ops_unlisted[];

/* A buffer that lived at the moment. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_ops_moment(struct tts_ops *ops, const struct tts_live *live);

enum tts_pool tts_ops_pool(const struct tts_ops *ops);
size_t tts_ops_count(const struct tts_ops *ops);
/* In the order they came; what was there before the file came in no order. */
const struct tts_op_row *tts_ops_at(const struct tts_ops *ops, size_t idx);

/* Puts rows with equal bytes in an order that the file alone decides: by name, then by path,
 * then by the counts. Returns true if `a` comes before `b`; rows that are equal to the reader
 * have no order. */
bool tts_op_row_precedes(const struct tts_follow *follow, const struct tts_op_row *a,
                         const struct tts_op_row *b);
