/* growth.h: whether a pool grows: the published rule for live monitors. The pool is sampled
 * every `interval_ns`. The pool grows from the sample with the `rises`-th rise since its last
 * fall: with two rises, 10, 20, 30 MB is found at the third sample. A growing pool no longer
 * grows after a fall, or after two samples in a row without a rise.
 *
 * A growing pool is no leak: loading weights is growth too (leak.h).
 *
 * A growth is plain data that begins as zeros. Nothing is allocated, and no clock is read. One
 * thread at a time. Cost: constant. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { TTS_GROWTH_RISES = 2 };
#define TTS_GROWTH_INTERVAL_NS UINT64_C(5000000000)

struct tts_growth_rule {
    uint64_t interval_ns; /* at least 1 */
    uint64_t rises;       /* at least 1 */
};

struct tts_growth {
    bool has_sample, is_growing;
    uint32_t rises; /* since the last fall, and since two samples without a rise */
    uint32_t flats; /* samples in a row without a rise */
    uint64_t due_ns;
    uint64_t last_ns, last_bytes; /* the last sample */
    uint64_t from_ns, from_bytes; /* the sample before the first rise */
};

/* Looks at the bytes of the pool. Takes a sample if one is due; a thirty-second of the interval
 * before its time is good enough. A time before the last sample begins again. Returns whether
 * the pool grows. */
bool tts_growth_feed(struct tts_growth *growth, const struct tts_growth_rule *rule,
                     uint64_t time_ns, uint64_t bytes);

/* Returns the mean growth in bytes per second since the sample before the first rise; 0 if the
 * pool does not grow. */
uint64_t tts_growth_slope(const struct tts_growth *growth);
/* Sets *seconds to the time after which the growth fills `free_bytes`, and returns true.
 * Returns false if the pool does not grow. */
bool tts_growth_full(const struct tts_growth *growth, uint64_t free_bytes, uint64_t *seconds);
