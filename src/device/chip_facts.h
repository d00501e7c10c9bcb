/* chip_facts.h: the catalogue of chips, in layers: what is the same everywhere, what belongs to
 * an architecture, what a board adds. Constant data; chip.c puts the layers on each other. */
#pragma once

#include "device/space.h"
#include "ttscope/chip.h"

#include <assert.h>
#include <stdbool.h>

/* No fact in bytes is larger, so sums of a few never wrap. */
#define TTS_FACT_BYTES_MAX TTS_SPACE_MAX_BYTES

struct tts_fact_row {
    enum tts_fact_key key;
    struct tts_fact fact;
};

struct tts_fact_layer {
    const struct tts_fact_row *rows;
    size_t count;
};

/* Tensix cores that are left after harvesting, and what of them computes. */
struct tts_core_counts {
    uint64_t tensix;
    uint64_t grids[TTS_DISPATCHES]; /* 0: the runtime has no entry */
};

struct tts_board {
    struct tts_preset preset;
    uint32_t chips;
    enum tts_origin cores_origin;        /* of the claim that this board has these cores */
    const char *cores_source;            /* "" when UNKNOWN */
    const struct tts_core_counts *cores; /* NULL: UNKNOWN */
    struct tts_fact_layer own;
};

/* NULL behind the last. */
const struct tts_board *tts_board_at(size_t idx);
/* For every chip, and for those of an architecture. */
struct tts_fact_layer tts_facts_common(void);
struct tts_fact_layer tts_facts_of_arch(enum tts_arch arch);

static inline bool tts_chip_knows(const struct tts_chip *chip, enum tts_fact_key key)
{
    assert(key < TTS_FACTS);
    return chip->fact[key].origin != TTS_ORIGIN_UNKNOWN;
}

static inline uint64_t tts_chip_value(const struct tts_chip *chip, enum tts_fact_key key)
{
    assert(tts_chip_knows(chip, key));
    return chip->fact[key].value;
}

/* The next multiple of a power of two; 0 and its multiples stay. For another `alignment` the
 * result means nothing, but does no harm. */
static inline uint64_t tts_chip_round_up(uint64_t value, uint64_t alignment)
{
    return ((value - 1) | (alignment - 1)) + 1;
}
