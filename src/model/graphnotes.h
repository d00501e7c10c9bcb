/* graphnotes.h: the figures and notes that a reader of graph traces collects
 * (sources/graph/graph.h). Views print them. Plain values. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The figures that the runtime's own functions compute for the nodes so far
 * (docs/design/graph.md). They count some memory twice, as those functions do. Sums never fall
 * below 0. */
struct tts_graph_figures {
    /* From extract_dram_usage(). */
    int64_t dram_peak_bytes, dram_allocated_bytes, dram_freed_bytes;
    /* From extract_resource_usage_per_core(). */
    int64_t peak_cb_bytes, peak_dfb_bytes, peak_scratchpad_bytes, peak_l1_bytes,
        peak_total_bytes;
    uint64_t legacy_l1_peak_bytes; /* from extract_peak_L1_memory_usage(), but in 64 bits */
    /* Nodes lack max_size_per_bank, so interleaved buffers count with their full size. */
    bool l1_is_whole_buffers;
    uint64_t nodes, functions, tensors;
};

/* The kinds of notes about nodes that were skipped or corrected. For each kind the place of the
 * first note is stored. */
enum tts_graph_note_kind {
    TTS_GRAPH_UNKNOWN_NODE,    /* an unknown node type */
    TTS_GRAPH_OUT_OF_ORDER,    /* the counter of a node differs from its index */
    TTS_GRAPH_BAD_NODE,        /* a field is missing or not valid */
    TTS_GRAPH_FREE_OF_NOTHING, /* a free of an unknown buffer */
    TTS_GRAPH_UNCLOSED,        /* a function that did not end, or an end without a beginning */
    TTS_GRAPH_NO_BANKS,        /* an L1 buffer whose size in a bank is missing */
    /* A chip that several meshes could own, or a mesh that is also a chip. */
    TTS_GRAPH_WHICH_MESH,
    TTS_GRAPH_NOTES,
};
struct tts_graph_note {
    uint64_t count, node, line; /* number of notes; node and line of the first note */
    char text[120];             /* "" if count is 0 */
};

/* Returns true if notes of this kind make the result incomplete. */
static inline bool tts_graph_note_is_bad(enum tts_graph_note_kind kind)
{
    return kind != TTS_GRAPH_UNCLOSED && kind != TTS_GRAPH_NO_BANKS;
}
