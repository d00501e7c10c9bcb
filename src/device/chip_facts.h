/* chip_facts.h: the catalogue of chips. It has three layers of facts: of all chips, of an
 * architecture, of a board. chip.c combines the layers. All data is constant. */
#pragma once

#include "device/space.h"
#include "ttscope/chip.h"

#include <assert.h>
#include <stdbool.h>

/* The largest value of a fact in bytes. Sums of a few facts cannot overflow. */
#define TTS_FACT_BYTES_MAX TTS_SPACE_MAX_BYTES

struct tts_fact_row {
    enum tts_fact_key key;
    struct tts_fact fact;
};

struct tts_fact_layer {
    const struct tts_fact_row *rows;
    size_t count;
};

/* The Tensix cores left after harvesting, and the compute grid for each kind of dispatch. */
struct tts_core_counts {
    uint64_t tensix;
    uint64_t grids[TTS_DISPATCHES]; /* 0 if the runtime does not list the kind of dispatch */
};

struct tts_board {
    struct tts_preset preset;
    uint32_t chips;
    enum tts_origin cores_origin;        /* how the cores of this board are known */
    const char *cores_source;            /* "" if UNKNOWN */
    const struct tts_core_counts *cores; /* NULL if the cores are unknown */
    struct tts_fact_layer own;
};

/* Returns board number `idx`, or NULL after the last one. */
const struct tts_board *tts_board_at(size_t idx);
/* Return the facts of every chip, and the facts of an architecture. */
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

/* Rounds up to a multiple of `alignment`, which must be a power of two. With any other value
 * the result is meaningless, but the call is safe. */
static inline uint64_t tts_chip_round_up(uint64_t value, uint64_t alignment)
{
    return ((value - 1) | (alignment - 1)) + 1;
}
