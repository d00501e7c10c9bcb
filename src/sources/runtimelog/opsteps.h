/* opsteps.h: the operations of a runtime log in their order, each with the memory before and
 * after it. A memory block of the log states the memory before its operation; the change of an
 * operation is therefore known when the next block of its rank was read. A log without blocks
 * gives computed figures, one without operations only the blocks.
 * docs/design/runtime-log.md has the rules.
 *
 * Ownership: the caller owns the steps and the input, and keeps the input open until
 * tts_opsteps_close(). A returned step is valid until the next call.
 * Threads: one thread at a time.
 * Cost: one pass. Memory grows with live tensors and ranks, not with the log.
 * Returns: see the functions. */
#pragma once

#include "sources/runtimelog/oplog.h"
#include "sources/runtimelog/opsigs.h"
#include "sources/runtimelog/optensors.h"
#include "sources/runtimelog/optext.h"

struct tts_opsteps_config {
    const struct tts_alloc *alloc;
    struct tts_opbanks banks[TTS_POOLS]; /* for logs without memory blocks */
};

struct tts_opsteps; /* opaque; heap */

TTS_NODISCARD enum tts_status tts_opsteps_open(struct tts_input *in,
                                               const struct tts_opsteps_config *config,
                                               struct tts_opsteps **out, struct tts_error *err);
void tts_opsteps_close(struct tts_opsteps *steps); /* NULL is allowed */

/* Reads the next step. The steps of one rank are in order. Returns TTS_E_NOT_FOUND after the
 * last step; like tts_oplog_next() otherwise. After damage the steps before the damage have
 * all been returned. */
TTS_NODISCARD enum tts_status tts_opsteps_next(struct tts_opsteps *steps,
                                               const struct tts_opstep **out,
                                               struct tts_error *err);

/* Returns the reader of the log, for its facts. Borrowed. */
struct tts_oplog *tts_opsteps_log(struct tts_opsteps *steps);
/* Returns the tensors of a rank; NULL if no record of the rank was read. */
const struct tts_optensors *tts_opsteps_tensors(const struct tts_opsteps *steps, uint32_t rank);
/* Sets the final figures of the pools of a rank. Valid after TTS_E_NOT_FOUND. */
void tts_opsteps_finals(const struct tts_opsteps *steps, uint32_t rank,
                        struct tts_opfinal out[TTS_POOLS]);
