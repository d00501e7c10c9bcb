/* history.h: a random but reproducible life of one space.
 * A seed decides everything: the pool, its length in operations, and through the model's state
 * the operations. Lives pass through phases (fill, churn, drain, ...) because a uniform mix of
 * operations settles at one level and never visits the edges. Plain data, no allocation. */
#pragma once

#include "device/space.h"
#include "oracle/twin.h"

enum { HISTORY_MAX_OPS = 32768 };

struct history {
    uint64_t rng;
    struct tts_space_config config;
    uint64_t length_ops;  /* at most HISTORY_MAX_OPS */
    size_t target_blocks; /* about how many blocks fill the pool */
    uint64_t typical_bytes;
    unsigned size_law;
    /* Of the phase at hand: */
    unsigned phase, up_percent;
    uint64_t phase_ops_left;
    size_t sweep_idx; /* how far a phase that goes up the pool has come */
};

void history_init(struct history *history, uint64_t seed);

/* The next operation for a space in the state of `model`. It keeps the model within its
 * arrays. */
void history_next(struct history *history, const struct model *model, struct twin_op *op);

/* A draw below `n` > 0, and a request as the history likes them. */
uint64_t history_below(struct history *history, uint64_t n);
uint64_t history_request(struct history *history, const struct model *model);
