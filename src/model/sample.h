/* sample.h: counters of one device, read at one moment. A sample comes from a source that has
 * no events, or that lacks some of them: the bytes between two samples are unknown. A plain
 * value. */
#pragma once

#include "ttscope/chip.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* What a value of a pool says. Bytes are bytes of the whole device. */
enum tts_sample_field {
    TTS_SAMPLE_ALLOCATED, /* requested bytes of the live buffers */
    TTS_SAMPLE_BUFFERS,   /* number of live buffers */
    TTS_SAMPLE_TOTAL,
    TTS_SAMPLE_FREE,
    TTS_SAMPLE_LARGEST_FREE,
    TTS_SAMPLE_FIELDS
};

/* The values of a sample by number: each field of each pool, then two of the device. */
enum {
    TTS_SAMPLE_CB = (int)TTS_SAMPLE_FIELDS * (int)TTS_POOLS, /* bytes of circular buffers */
    TTS_SAMPLE_KERNEL,                                       /* bytes of kernel binaries */
    TTS_SAMPLE_VALUES
};
#define TTS_SAMPLE_VALUE_MAX (UINT64_C(1) << 62)

struct tts_sample {
    uint64_t period_ns; /* time between two samples; 0: unknown */
    uint32_t known;     /* bit 1 << number: the value is known */
    uint64_t values[TTS_SAMPLE_VALUES];
};

/* Returns the number of a value of a pool. */
static inline unsigned tts_sample_number(enum tts_sample_field field, enum tts_pool pool)
{
    return (unsigned)field * TTS_POOLS + (unsigned)pool;
}

static inline bool tts_sample_has(const struct tts_sample *sample, unsigned number)
{
    return sample->known >> number & 1;
}

static inline void tts_sample_set(struct tts_sample *sample, unsigned number, uint64_t value)
{
    assert(number < TTS_SAMPLE_VALUES);
    sample->known |= 1u << number;
    sample->values[number] = value < TTS_SAMPLE_VALUE_MAX ? value : TTS_SAMPLE_VALUE_MAX;
}
