/* twin.h: a space and its model side by side. Each call runs on both, and every result is
 * compared.
 *
 * A difference is described in a struct twin_note, so that the random histories and the fuzzer
 * can each stop in their own way. The caller owns the space and the model. */
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
    enum tts_direction direction; /* used by a take */
    uint64_t bytes;               /* used by a take or a shrink */
    uint64_t address;             /* used by a give or a take at an address */
    uint64_t limit;               /* used by a take */
};

struct twin_result {
    enum tts_status status;
    uint64_t address; /* address of a take; a fixed odd number if nothing was written */
};

struct twin {
    struct tts_space *space;
    struct model *model;
};

/* Room for the tables of a comparison. It is too large for the stack. */
struct twin_scratch {
    struct tts_block seen[2 * MODEL_MAX_BLOCKS], expected[MODEL_MAX_BLOCKS];
    struct tts_range seen_ranges[MODEL_MAX_BLOCKS], expected_ranges[MODEL_MAX_BLOCKS];
};

struct twin_note {
    char text[200]; /* the difference: value of the space, then value of the model */
};

/* Prints the operation as a line for `ttscope replay`, without its result. */
void twin_op_print(FILE *out, const struct twin_op *op);

struct twin_result twin_op_on_space(struct tts_space *space, const struct twin_op *op);
struct twin_result twin_op_on_model(struct model *model, const struct twin_op *op);

/* Runs `op` on both. Returns false if the results differ. */
bool twin_step(struct twin *twin, const struct twin_op *op, struct twin_note *note);

/* Compares the result of every query of the space with the model. `request` is the size for the
 * list of available ranges. O(n log n). */
bool twin_same(const struct twin *twin, uint64_t request, struct twin_scratch *scratch,
               struct twin_note *note);
