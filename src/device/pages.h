/* pages.h: the bank, core and address of each page of a buffer, distributed as the runtime does
 * it. The functions keep no state, and any thread may call them. */
#pragma once

#include "ttscope/buffer.h"

/* The bank of each core, and the offset of each DRAM bank in its channel. Computed once from a
 * chip; about 16 KiB. */
struct tts_banks_map {
    uint32_t columns, rows, dram_banks, dram_channel_banks;
    uint64_t dram_bank_size;
    uint16_t bank_of_core[TTS_CORES_MAX]; /* index: y * columns + x */
    uint16_t core_of_bank[TTS_CORES_MAX];
};

/* Computes the map of a chip. TTS_E_NOT_FOUND: the grid or a fact of DRAM is unknown.
 * TTS_E_INVALID: tts_chip_check() rejects the chip. */
TTS_NODISCARD enum tts_status tts_banks_map_init(struct tts_banks_map *map,
                                                 const struct tts_chip *chip,
                                                 struct tts_error *err);

/* Writes the L1 bank id of each of `count` cores, in row-major order. The ids are a fixed
 * permutation of 0 to count - 1. `count` is at most TTS_CORES_MAX. */
void tts_bank_permutation(uint32_t count, uint16_t *out);

struct tts_page {
    uint32_t bank;
    bool has_core;        /* true in L1 and L1_SMALL */
    struct tts_core core; /* the core that has the bank */
    uint64_t address;     /* address in the DRAM channel or in the L1 of the core; includes the
                             offset of the bank */
};

/* Locates page number `page` of a buffer at `address`. TTS_E_RANGE: the buffer has no such
 * page. TTS_E_NOT_FOUND: the request has a classic sharding without the size of the tensor. */
TTS_NODISCARD enum tts_status tts_request_page(const struct tts_request *request,
                                               const struct tts_need *need,
                                               const struct tts_banks_map *map,
                                               uint64_t address, uint64_t page,
                                               struct tts_page *out);

/* Finds the page that begins at `at` in `bank`. TTS_E_NOT_FOUND: no page begins there, or the
 * place is padding. */
TTS_NODISCARD enum tts_status tts_request_page_at(const struct tts_request *request,
                                                  const struct tts_need *need,
                                                  const struct tts_banks_map *map,
                                                  uint64_t address, uint32_t bank, uint64_t at,
                                                  uint64_t *page);
