/* model.h: the rules of a space in the simplest possible form.
 *
 * The reference for tests of the fast space. The blocks are in one array in address order and
 * every query walks the array. The functions can be compared with the rules of
 * docs/design/space.md by reading both. The model is slow on purpose and shares only the plain
 * structs of the interface with the space.
 *
 * A model is plain data in the caller's memory: no allocation, nothing to release. Copy it with
 * model_copy(), which copies only the used part. Addresses are absolute at the interface and
 * relative to the pool's first byte inside.
 *
 * A failed call leaves the model unchanged, except for TTS_E_BELOW_LIMIT. Outputs are written
 * only on success, except for a leaked address. The space makes the same promises. */
#pragma once

#include "device/space.h"

/* The maximum number of blocks. Exceeding it is a bug of the test and aborts; call
 * model_has_room() first. */
enum { MODEL_MAX_BLOCKS = 16384 };

struct model_block {
    uint64_t start, size_bytes; /* `start` is relative to the first byte of the pool */
    uint32_t id;
    bool taken;
};

struct model {
    struct tts_space_config config;
    uint64_t shrunk_bytes;
    bool has_lowest;
    uint64_t lowest; /* relative address, as the runtime would report it */
    uint32_t next_id;
    size_t count, retired_count;
    struct model_block blocks[MODEL_MAX_BLOCKS]; /* in address order, without gaps */
    uint32_t retired[MODEL_MAX_BLOCKS];          /* ids for reuse, the last one first */
};

/* `config` must be valid for tts_space_new(). */
void model_init(struct model *model, const struct tts_space_config *config);
void model_copy(struct model *to, const struct model *from);
/* Returns true if every later call would have the same results on both models. */
bool model_equal(const struct model *a, const struct model *b);
/* Returns true if any one call still fits in the arrays. */
bool model_has_room(const struct model *model);

/* Calculates the bytes that a request of `bytes` takes. Returns false and leaves *need
 * unchanged if the result exceeds 64 bits. */
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

/* Each function writes to an array of at least MODEL_MAX_BLOCKS entries and returns the number
 * of entries written. */
size_t model_available(const struct model *model, uint64_t bytes, struct tts_range *out);
size_t model_walk(const struct model *model, struct tts_block *out);   /* by address */
size_t model_blocks(const struct model *model, struct tts_block *out); /* by block id */
