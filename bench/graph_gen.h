/* graph_gen.h: writes a graph trace in the form of the runtime, for a transformer in training,
 * of any length. The same arguments give the same bytes. */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { GRAPH_GEN_LIVE = 100000 }; /* live buffers at the end of every forward pass */

struct graph_gen_result {
    uint64_t bytes, nodes;
    uint64_t live_max; /* largest number of buffers that were allocated and not yet freed */
    int64_t dram_peak, dram_allocated, dram_freed;
};

/* Writes at least `bytes` bytes and stops at the end of a step. `indent` 0: without blanks,
 * like json.dump(); 2: like a report file. Returns 0, or -1 if it cannot write. */
int graph_gen(FILE *out, uint64_t bytes, int indent, struct graph_gen_result *result);
