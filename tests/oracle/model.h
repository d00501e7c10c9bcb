/* model.h: the rules of a space, written as plainly as they can be.
 *
 * What the fast space is measured against. The blocks stand in one array in address order and
 * every question is a walk over it, so that each function can be checked against the rules of
 * docs/design/space.md by reading both. It is slow on purpose and shares nothing with the space
 * but the plain structs of its interface.
 *
 * A model is plain data in the caller's memory: no allocation, nothing to release. Copy one
 * with model_copy(), which moves only what is used. Addresses are absolute at the interface and
 * relative to the pool's first byte inside.
 *
 * Each call that fails leaves the model as it was, TTS_E_BELOW_LIMIT excepted, and outputs are
 * written on success only, a leaked address excepted: the same promises as the space makes. */
#pragma once

#include "device/space.h"

/* The most blocks a model holds. Going past it is a mistake of the test and stops it; ask
 * model_has_room() first. */
enum { MODEL_MAX_BLOCKS = 16384 };

struct model_block {
    uint64_t start, size_bytes; /* relative */
    uint32_t id;
    bool taken;
};

struct model {
    struct tts_space_config config;
    uint64_t shrunk_bytes;
    bool has_lowest;
    uint64_t lowest; /* relative, as the runtime would report it */
    uint32_t next_id;
    size_t count, retired_count;
    struct model_block blocks[MODEL_MAX_BLOCKS]; /* by ascending address, without a hole */
    uint32_t retired[MODEL_MAX_BLOCKS];          /* ids to use again, the last one first */
};

/* `config` must be one that tts_space_new() accepts. */
void model_init(struct model *model, const struct tts_space_config *config);
void model_copy(struct model *to, const struct model *from);
/* Would every later call have the same results in both? */
bool model_equal(const struct model *a, const struct model *b);
/* True while any one call still fits in the arrays. */
bool model_has_room(const struct model *model);

/* What a request of `bytes` takes. False: more than 64 bits can say; *need is then left alone.
 */
bool model_need(const struct model *model, uint64_t bytes, uint64_t *need);

enum tts_status model_take(struct model *model, uint64_t bytes, enum tts_direction direction,
                           uint64_t limit, uint64_t *address);
enum tts_status model_take_at(struct model *model, uint64_t address, uint64_t bytes);
enum tts_status model_give(struct model *model, uint64_t address);
enum tts_status model_shrink(struct model *model, uint64_t bytes);
void model_unshrink(struct model *model);
void model_clear(struct model *model);

void model_stats(const struct model *model, struct tts_space_stats *out);
bool model_lowest_reported(const struct model *model, uint64_t *address);
bool model_lowest(const struct model *model, uint64_t *address);
enum tts_status model_size_at(const struct model *model, uint64_t address, uint64_t *bytes);

/* Each writes to an array of at least MODEL_MAX_BLOCKS and returns how many it wrote. */
size_t model_available(const struct model *model, uint64_t bytes, struct tts_range *out);
size_t model_walk(const struct model *model, struct tts_block *out);   /* by address */
size_t model_blocks(const struct model *model, struct tts_block *out); /* by block id */
