/* graph_sums.h: the figures of a graph trace as the runtime's own functions count them, node by
 * node. Plain data; start from all zero. */
#pragma once

#include "sources/graph.h"
#include "sources/graph_node.h"

struct tts_graph_sums {
    struct tts_graph_figures figures;
    int64_t dram_bytes;
    int64_t cb_bytes, dfb_bytes, scratchpad_bytes, l1_bytes, total_bytes;
    int64_t legacy_program_bytes, legacy_buffer_bytes;
    uint64_t depth;    /* functions that are open */
    bool takes_inputs; /* behind a top-level function_start: its inputs count */
};

/* Before a node of this type and what it says is told: every node there is. */
void tts_graph_sums_node(struct tts_graph_sums *sums, enum tts_node_type type);
/* A `buffer` node. */
void tts_graph_sums_buffer(struct tts_graph_sums *sums, enum tts_node_memory memory,
                           uint64_t size_bytes);
/* By the node itself; `per_bank_bytes` is its amount on a core. */
void tts_graph_sums_alloc(struct tts_graph_sums *sums, enum tts_node_memory memory,
                          uint64_t size_bytes, uint64_t per_bank_bytes);
/* By the buffer that it frees, and on a core by the node itself. */
void tts_graph_sums_free(struct tts_graph_sums *sums, enum tts_node_memory memory,
                         uint64_t size_bytes, enum tts_node_memory own_memory,
                         uint64_t per_bank_bytes);
/* A circular buffer, dataflow buffer or scratchpad. */
void tts_graph_sums_part(struct tts_graph_sums *sums, enum tts_node_type type,
                         uint64_t size_bytes, bool is_borrowed);
