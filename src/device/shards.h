/* shards.h: one description for both kinds of sharding: a tensor in pages is cut into shards,
 * and the shards are dealt to cores. Only for buffer.c and pages.c. */
#pragma once

#include "ttscope/buffer.h"
#include "ttscope/status.h"

struct tts_shards {
    uint32_t rank;
    const struct tts_shard_cores *cores;
    uint64_t tensor[TTS_RANK_MAX], shard[TTS_RANK_MAX]; /* in pages; tensor: 0 if unknown */
    uint64_t across[TTS_RANK_MAX]; /* number of shards along each dimension */
    uint64_t volume;               /* number of pages in a shard */
    uint64_t pages_per_core;       /* pages that each core reserves, with padding */
    uint64_t dealt_per_core; /* those of pages_per_core that can get a page of the tensor */
    uint32_t core_count;     /* number of cores in the ranges */
    uint32_t cores_used;     /* number of cores with a shard, as the runtime counts them */
    bool grid;
};

/* The pool and the grid that the shards are for. */
struct tts_shards_place {
    uint32_t banks; /* number of banks of the pool */
    uint64_t grid;  /* compute grid */
};

struct tts_shards_size {
    uint64_t pages_per_core;
    uint32_t cores_used;
};

/* Computes the sharding of a request that has `pages` pages. Fails with TTS_E_INVALID and
 * TTS_E_RANGE in the same cases as tts_request_need(). */
TTS_NODISCARD enum tts_status tts_shards_measure(const struct tts_request *request,
                                                 uint64_t pages,
                                                 const struct tts_shards_place *place,
                                                 struct tts_shards_size *out,
                                                 struct tts_error *err);

/* Computes the sharding of a request again, after tts_shards_measure() has accepted the
 * request. */
void tts_shards_again(struct tts_shards *out, const struct tts_request *request);

/* Returns the number of cores in all ranges. */
uint32_t tts_shard_core_count(const struct tts_shard_cores *cores);

/* Returns core number `idx` of a sharding, in the order of the sharding. `idx` must be below
 * the number of cores. */
struct tts_core tts_shard_core(const struct tts_shard_cores *cores, uint32_t idx);
