/* story.h: what happens on a device, event by event, to be recorded: two streams that are the
 * same anywhere.
 *   loop    a fit-like training loop: parameters and optimizer state once, then steps of
 *           forward activations, backward frees in reverse with gradients, and temporaries of
 *           the optimizer; operations named, addresses and pages as a p150 gives them
 *   random  pow-1k-first-bu of stream.h: sizes by a power law, frees at random */
#pragma once

#include "counters.h"
#include "stream.h"

#include "ttscope/event.h"

struct told {
    struct tts_event event;
    const char *op; /* under way; NULL: none */
    uint64_t op_hash;
    uint32_t gap_ns; /* since the one before: log-uniform, 1 to 30 microseconds */
};

struct story {
    const char *name;
    struct told *told;
    size_t count, capacity;
    struct figures dram, l1; /* what must come out; of L1 the bytes of a bank */
    uint64_t ops, programs, live_most;
    uint64_t live; /* now */
};

/* They exit with a message when something goes wrong. */
void story_loop(struct story *story, size_t events);
void story_random(struct story *story);
void story_release(struct story *story);

/* The gap before an event, of a sequence that `random` alone decides. */
uint32_t story_gap_ns(struct stream_random *random);
