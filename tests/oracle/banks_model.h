/* banks_model.h: the rules of banks in the simplest possible form.
 *
 * The reference for tests of banks. Each allocator has a map of every byte, and every query
 * scans the map. The functions can be compared with docs/design/banks.md by reading both. The
 * model shares only the plain structs of the interface with the banks. It is plain data in the
 * caller's memory; copy it by assignment. It keeps the same promises as banks.h. */
#pragma once

#include "device/banks.h"
#include "device/space.h"

enum { BANKS_MODEL_BYTES = 1024, BANKS_MODEL_ALLOCATORS = 141, BANKS_MODEL_RANGES = 64 };

/* The bytes of one allocator. */
struct banks_map {
    /* 0 if the byte is free. All bytes of a block have the same number, and adjacent blocks
     * have different numbers. */
    uint16_t block[BANKS_MODEL_BYTES];
    bool left[BANKS_MODEL_BYTES]; /* the block is leaked: its take returned TTS_E_BELOW_LIMIT */
    uint16_t next;
    bool has_lowest;
    uint64_t lowest; /* relative address */
};

struct banks_model {
    /* at most BANKS_MODEL_BYTES in size; without dependencies */
    struct tts_banks_config config;
    uint32_t count;
    uint64_t shrunk_bytes;
    bool is_linked[BANKS_MODEL_ALLOCATORS][BANKS_MODEL_ALLOCATORS];
    bool is_watched;
    struct tts_water water;
    struct banks_map maps[BANKS_MODEL_ALLOCATORS];
};

/* A zeroed model with config, count and is_linked set is equal to newly created banks. */

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

/* Returns the start of the first block at or after the relative address `from`, or the size of
 * the pool if there is none. */
uint64_t banks_model_next(const struct banks_model *model, uint32_t allocator, uint64_t from);
/* Returns the end of the block or of the free bytes that contain the relative address `at`. */
uint64_t banks_model_end(const struct banks_model *model, uint32_t allocator, uint64_t at);
