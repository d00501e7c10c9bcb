/* story.h: the events of a device, to be recorded. There are two streams, which are the same on
 * every machine.
 *
 *   loop    a training loop like that of fit: parameters and optimizer state once, then steps
 *           of forward activations, backward frees in reverse order with gradients, and
 *           temporaries of the optimizer; named operations, addresses and pages of a p150
 *   random  pow-1k-first-bu of stream.h: sizes follow a power law, frees are random */
#pragma once

#include "counters.h"
#include "stream.h"

#include "ttscope/event.h"

struct told {
    struct tts_event event;
    const char *op; /* current operation; NULL: none */
    uint64_t op_hash;
    uint32_t gap_ns; /* time since the previous event: log-uniform, 1 to 30 microseconds */
};

struct story {
    const char *name;
    struct told *told;
    size_t count, capacity;
    struct figures dram, l1; /* the expected figures; those of L1 are in bytes of one bank */
    uint64_t ops, programs, live_most;
    uint64_t live; /* current number of live buffers */
};

/* Both functions exit with a message on failure. */
void story_loop(struct story *story, size_t events);
void story_random(struct story *story);
void story_release(struct story *story);

/* Returns the time before an event. Only `random` determines the sequence. */
uint32_t story_gap_ns(struct stream_random *random);
