/* graph_gen.h: a graph trace as the runtime writes it, of a transformer in training, of any
 * length; the same bytes for the same arguments. */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { GRAPH_GEN_LIVE = 100000 }; /* buffers that live at the end of every forward pass */

struct graph_gen_result {
    uint64_t bytes, nodes;
    uint64_t live_max; /* buffers known and not freed, at most */
    int64_t dram_peak, dram_allocated, dram_freed;
};

/* Writes at least `bytes` bytes, and ends behind the step that it is in. `indent` 0: without a
 * blank, as json.dump() does; 2: as in a report file. Returns 0, or -1: it could not be
 * written. */
int graph_gen(FILE *out, uint64_t bytes, int indent, struct graph_gen_result *result);
