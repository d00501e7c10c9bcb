/* twin.h: a space and its model side by side, one call done to both, every answer compared.
 *
 * A difference is told in words in a struct twin_note, so that the random histories and the
 * fuzzer can each stop in their own way. Both halves belong to the caller. */
#pragma once

#include "device/space.h"
#include "oracle/model.h"

#include <stdio.h>

/* Returns the size, or if a space of that size has too many units, one near the limit. */
static inline uint64_t twin_countable(uint64_t size_bytes, uint64_t alignment_bytes)
{
    uint64_t unit = (size_bytes | alignment_bytes) & (0 - (size_bytes | alignment_bytes));
    uint64_t most = TTS_SPACE_MAX_UNITS * unit;
    return size_bytes > most ? most - size_bytes % 64 * unit : size_bytes;
}

enum twin_op_kind {
    TWIN_TAKE,
    TWIN_TAKE_AT,
    TWIN_GIVE,
    TWIN_SHRINK,
    TWIN_UNSHRINK,
    TWIN_CLEAR,
    TWIN_OP_KINDS,
};

struct twin_op {
    enum twin_op_kind kind;
    enum tts_direction direction; /* of a take */
    uint64_t bytes;               /* of a take or a shrink */
    uint64_t address;             /* of a give or a take at an address */
    uint64_t limit;               /* of a take */
};

struct twin_result {
    enum tts_status status;
    uint64_t address; /* where a take went; a fixed odd number while nothing was written */
};

struct twin {
    struct tts_space *space;
    struct model *model;
};

/* Room for the tables that a comparison needs; large, so not for the stack. */
struct twin_scratch {
    struct tts_block seen[2 * MODEL_MAX_BLOCKS], expected[MODEL_MAX_BLOCKS];
    struct tts_range seen_ranges[MODEL_MAX_BLOCKS], expected_ranges[MODEL_MAX_BLOCKS];
};

struct twin_note {
    char text[200]; /* what differs: the space's value, then the model's */
};

/* One line of the language that `ttscope replay` reads, without its result. */
void twin_op_print(FILE *out, const struct twin_op *op);

struct twin_result twin_op_on_space(struct tts_space *space, const struct twin_op *op);
struct twin_result twin_op_on_model(struct model *model, const struct twin_op *op);

/* Does `op` to both. False when the results differ. */
bool twin_step(struct twin *twin, const struct twin_op *op, struct twin_note *note);

/* Every question the space answers, against the model; `request` is the size that the list of
 * available ranges is asked for. O(n log n). */
bool twin_same(const struct twin *twin, uint64_t request, struct twin_scratch *scratch,
               struct twin_note *note);
