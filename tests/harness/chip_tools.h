/* chip_tools.h: short functions for tests of chips. */
#pragma once

#include "harness/t.h"
#include "ttscope/chip.h"

#include <stdbool.h>
#include <string.h>

static inline struct tts_chip chip_of(const char *preset)
{
    struct tts_chip chip;
    struct tts_error err;
    T_EQ(tts_chip_preset(preset, &chip, &err), TTS_OK);
    return chip;
}

static inline void set(struct tts_chip *chip, const char *key, const char *value)
{
    struct tts_error err;
    T_EQ(tts_chip_set(chip, key, value, &err), TTS_OK);
}

static inline uint64_t value_of(const struct tts_chip *chip, enum tts_fact_key key)
{
    T_TRUE(chip->fact[key].origin != TTS_ORIGIN_UNKNOWN);
    return chip->fact[key].value;
}

static inline bool says(const struct tts_error *err, const char *part)
{
    return strstr(err->text, part) != NULL;
}

static inline void same_fact(const struct tts_fact *a, const struct tts_fact *b)
{
    T_TRUE(a->value == b->value && a->origin == b->origin && a->source == b->source);
}

static inline void same_chip(const struct tts_chip *a, const struct tts_chip *b)
{
    T_STR_EQ(a->name, b->name);
    T_EQ(a->arch, b->arch);
    for (size_t i = 0; i < TTS_FACTS; i++)
        same_fact(&a->fact[i], &b->fact[i]);
    for (size_t i = 0; i < TTS_DISPATCHES; i++)
        same_fact(&a->grids[i], &b->grids[i]);
}
