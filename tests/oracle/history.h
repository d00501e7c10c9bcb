/* history.h: a random but reproducible history of one space. The seed determines everything:
 * the pool, the number of operations and, through the model's state, the operations. A history
 * passes through phases (fill, churn, drain, ...), because a uniform mix of operations settles
 * at one level and never reaches the extremes. Plain data, no allocation. */
#pragma once

#include "device/space.h"
#include "oracle/twin.h"

enum { HISTORY_MAX_OPS = 32768 };

struct history {
    uint64_t rng;
    struct tts_space_config config;
    uint64_t length_ops;  /* at most HISTORY_MAX_OPS */
    size_t target_blocks; /* approximate number of blocks that fill the pool */
    uint64_t typical_bytes;
    unsigned size_law;
    /* State of the current phase: */
    unsigned phase, up_percent;
    uint64_t phase_ops_left;
    size_t sweep_idx; /* progress of a phase that walks up the pool */
};

void history_init(struct history *history, uint64_t seed);

/* Draws the next operation for a space in the state of `model`. The operation never overflows
 * the arrays of the model. */
void history_next(struct history *history, const struct model *model, struct twin_op *op);

/* Draw a number below `n` > 0, and the size of a request. */
uint64_t history_below(struct history *history, uint64_t n);
uint64_t history_request(struct history *history, const struct model *model);
