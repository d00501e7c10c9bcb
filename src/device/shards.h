/* shards.h: both kinds of sharding as one: a tensor in pages, cut into shards, dealt to cores.
 * For buffer.c and pages.c only. */
#pragma once

#include "ttscope/buffer.h"
#include "ttscope/status.h"

struct tts_shards {
    uint32_t rank;
    const struct tts_shard_cores *cores;
    uint64_t tensor[TTS_RANK_MAX], shard[TTS_RANK_MAX]; /* in pages; tensor 0: not known */
    uint64_t across[TTS_RANK_MAX];                      /* shards along each dimension */
    uint64_t volume;                                    /* pages of a shard */
    uint64_t pages_per_core;                            /* padding included */
    uint64_t dealt_per_core; /* of those that the dealing can reach */
    uint32_t core_count;     /* of the ranges */
    uint32_t cores_used;     /* with a shard, as the runtime counts */
    bool grid;
};

/* Where shards can go. */
struct tts_shards_place {
    uint32_t banks; /* of the pool */
    uint64_t grid;  /* of compute cores */
};

struct tts_shards_size {
    uint64_t pages_per_core;
    uint32_t cores_used;
};

/* A request of `pages` pages. TTS_E_INVALID, TTS_E_RANGE: as tts_request_need() says. */
TTS_NODISCARD enum tts_status tts_shards_measure(const struct tts_request *request,
                                                 uint64_t pages,
                                                 const struct tts_shards_place *place,
                                                 struct tts_shards_size *out,
                                                 struct tts_error *err);

/* The sharding of a request that tts_shards_measure() took. */
void tts_shards_again(struct tts_shards *out, const struct tts_request *request);

/* Of all ranges. */
uint32_t tts_shard_core_count(const struct tts_shard_cores *cores);

/* The idx-th core of a sharding, in its order; there are more than idx. */
struct tts_core tts_shard_core(const struct tts_shard_cores *cores, uint32_t idx);
