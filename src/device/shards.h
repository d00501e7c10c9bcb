/* shards.h: one form for both kinds of sharding: a tensor in pages, cut into shards, dealt to
 * cores. Only for buffer.c and pages.c. */
#pragma once

#include "ttscope/buffer.h"
#include "ttscope/status.h"

struct tts_shards {
    uint32_t rank;
    const struct tts_shard_cores *cores;
    uint64_t tensor[TTS_RANK_MAX], shard[TTS_RANK_MAX]; /* in pages; tensor 0: unknown */
    uint64_t across[TTS_RANK_MAX]; /* number of shards along each dimension */
    uint64_t volume;               /* pages in a shard */
    uint64_t pages_per_core;       /* including padding */
    uint64_t dealt_per_core;       /* how many of these the dealing can reach */
    uint32_t core_count;           /* cores in the ranges */
    uint32_t cores_used;           /* cores with a shard, as the runtime counts them */
    bool grid;
};

/* The place for the shards. */
struct tts_shards_place {
    uint32_t banks; /* banks of the pool */
    uint64_t grid;  /* compute grid */
};

struct tts_shards_size {
    uint64_t pages_per_core;
    uint32_t cores_used;
};

/* Computes the sharding of a request of `pages` pages. Returns TTS_E_INVALID and TTS_E_RANGE
 * like tts_request_need(). */
TTS_NODISCARD enum tts_status tts_shards_measure(const struct tts_request *request,
                                                 uint64_t pages,
                                                 const struct tts_shards_place *place,
                                                 struct tts_shards_size *out,
                                                 struct tts_error *err);

/* Computes the sharding of a request that tts_shards_measure() has accepted. */
void tts_shards_again(struct tts_shards *out, const struct tts_request *request);

/* Returns the number of cores in all ranges. */
uint32_t tts_shard_core_count(const struct tts_shard_cores *cores);

/* Returns the idx-th core of a sharding, in its order. idx must be below the number of
 * cores. */
struct tts_core tts_shard_core(const struct tts_shard_cores *cores, uint32_t idx);
