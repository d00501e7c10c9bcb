/* stream.h: the allocation streams of the benchmarks, the same on every machine. A stream is
 * generated once with a space, because the addresses to give back depend on where the space
 * places the blocks. The stream is stored as a list of operations, which any allocator can then
 * replay. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stream_shape { STREAM_UP, STREAM_DOWN, STREAM_MIXED, STREAM_MODEL };

struct stream_config {
    const char *name;
    bool best;
    enum stream_shape shape;
    uint32_t live; /* number of live blocks, within 2 % */
    uint64_t pool_bytes, offset_bytes, alignment_bytes;
    uint32_t kmax; /* largest octave of the size distribution */
    uint32_t operations;
    uint64_t seed;
    uint64_t checksum; /* checksum of the result of every take; 0: not published */
};

enum { STREAM_CONFIGS = 21 };
extern const struct stream_config stream_configs[STREAM_CONFIGS];

enum stream_kind { STREAM_GIVE, STREAM_TAKE_DOWN, STREAM_TAKE_UP };

struct stream_op {
    uint64_t value; /* bytes to take, or address to give */
    enum stream_kind kind;
};

struct stream {
    struct stream_op *ops;
    size_t count, capacity;
    size_t fill; /* the first `fill` operations only create the live blocks */
    uint64_t checksum;
};

/* Exits with a message if memory runs out. */
void stream_generate(struct stream *stream, const struct stream_config *config);
void stream_release(struct stream *stream);

struct stream_random {
    uint64_t state;
};
uint64_t stream_random_next(struct stream_random *random);
uint64_t stream_random_below(struct stream_random *random, uint64_t n);
/* Returns a size that follows the power law: tiles of 2 KiB, octaves 0..kmax. */
uint64_t stream_random_size(struct stream_random *random, uint32_t kmax);
