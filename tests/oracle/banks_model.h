/* banks_model.h: the rules of banks, written as plainly as they can be.
 *
 * What the banks are measured against: a map of every byte for each allocator, in which every
 * question is a scan, to be checked against docs/design/banks.md by reading both. It shares
 * nothing with the banks but the plain structs of their interface. Plain data in the caller's
 * memory; copy it by assignment. The same promises as in banks.h. */
#pragma once

#include "device/banks.h"
#include "device/space.h"

enum { BANKS_MODEL_BYTES = 1024, BANKS_MODEL_ALLOCATORS = 141, BANKS_MODEL_RANGES = 64 };

/* Of one allocator. */
struct banks_map {
    /* 0: free. Else a number that all bytes of a block have, and no other beside it. */
    uint16_t block[BANKS_MODEL_BYTES];
    bool left[BANKS_MODEL_BYTES]; /* the block was left behind by a take below the limit */
    uint16_t next;
    bool has_lowest;
    uint64_t lowest; /* relative */
};

struct banks_model {
    struct tts_banks_config config; /* of at most BANKS_MODEL_BYTES; without dependencies */
    uint32_t count;
    uint64_t shrunk_bytes;
    bool is_linked[BANKS_MODEL_ALLOCATORS][BANKS_MODEL_ALLOCATORS];
    bool is_watched;
    struct tts_water water;
    struct banks_map maps[BANKS_MODEL_ALLOCATORS];
};

/* A zeroed model with config, count and is_linked set is one of banks that were just made. */

enum tts_status banks_model_take(struct banks_model *model, const struct tts_banks_wish *take,
                                 uint64_t *address);
enum tts_status banks_model_take_at(struct banks_model *model, uint32_t allocator,
                                    uint64_t address, uint64_t bytes);
enum tts_status banks_model_give(struct banks_model *model, uint32_t allocator,
                                 uint64_t address);
void banks_model_give_all(struct banks_model *model);
void banks_model_clear(struct banks_model *model);
enum tts_status banks_model_shrink(struct banks_model *model, uint64_t bytes);
enum tts_status banks_model_unshrink(struct banks_model *model);
enum tts_status banks_model_override(struct banks_model *model, const struct tts_range *ranges,
                                     size_t count);

/* The start of the first block at or behind the relative `from`; the size of the pool: none. */
uint64_t banks_model_next(const struct banks_model *model, uint32_t allocator, uint64_t from);
/* Where the block, or the free bytes, that hold relative `at` end. */
uint64_t banks_model_end(const struct banks_model *model, uint32_t allocator, uint64_t at);
