/* graph.h: the runtime's graph-capture JSON, of every generation, as items (model/item.h).
 * A bare array of nodes or a report with a "graph". Read once, from a file or a pipe; memory
 * grows only with the buffers that are known and not yet freed. Names are as in the file,
 * escapes resolved; bytes that are not UTF-8 are passed on. One thread. */
#pragma once

#include "model/item.h"
#include "sources/json_pull.h"
#include "ttscope/alloc.h"

enum { TTS_GRAPH_DEPTH = 1024 }; /* functions inside each other that have a name */

struct tts_graph;

/* Can these first bytes be a graph trace? '[' or '{' behind blanks, and before them what some
 * editors put there to say that it is UTF-8. */
bool tts_graph_may_be(const unsigned char *bytes, size_t len);

/* Reads from `fd`, which it does not close; `before`[0..len) are bytes already read from it,
 * and are copied. A mark of UTF-8 is passed over if all of it is there. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_graph_open(int fd, const unsigned char *before, size_t len,
                                             const struct tts_alloc *alloc,
                                             struct tts_graph **out, struct tts_error *err);
/* The same for any source: source->before is copied, its windows are not used. */
TTS_NODISCARD enum tts_status tts_graph_open_from(const struct tts_jsonpull_source *source,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_graph **out,
                                                  struct tts_error *err);
/* For tests: source->before is borrowed for life, and the sizes of windows and pieces are used.
 */
TTS_NODISCARD enum tts_status tts_graph_open_source(const struct tts_jsonpull_source *source,
                                                    const struct tts_alloc *alloc,
                                                    struct tts_graph **out,
                                                    struct tts_error *err);
void tts_graph_close(struct tts_graph *graph); /* NULL is fine */

/* From now on `fn` is told after every read how many bytes there were so far: also where no
 * item comes for long. */
void tts_graph_watch(struct tts_graph *graph, void (*fn)(void *ctx, uint64_t bytes), void *ctx);

/* As item.h says. The whole capture is one phase, TTS_GRAPH_PHASE, of capture 1. item->seq
 * counts the items that are events; tts_graph_node() says which node it was. TTS_E_SYNTAX: not
 * JSON, cut off, or not a trace; err->line and err->offset. TTS_E_RANGE: a bound of ours.
 * TTS_E_IO. */
TTS_NODISCARD enum tts_status tts_graph_next(struct tts_graph *graph, struct tts_item *out,
                                             struct tts_error *err);
#define TTS_GRAPH_PHASE "capture"

/* Of the item last read. */
uint64_t tts_graph_node(const struct tts_graph *graph);
uint64_t tts_graph_line(const struct tts_graph *graph);
uint64_t tts_graph_tell(const struct tts_graph *graph); /* bytes read so far */

/* Returns the bytes of L1 of a core of the device, as the report says; 0: it does not say. */
uint64_t tts_graph_core_bytes(const struct tts_graph *graph, uint32_t device);

/* What the runtime's own functions say of the nodes so far (docs/design/graph.md): as they
 * count, multiplicities and all; but nothing wraps below 0. */
struct tts_graph_figures {
    int64_t dram_peak_bytes, dram_allocated_bytes, dram_freed_bytes; /* extract_dram_usage */
    /* extract_resource_usage_per_core */
    int64_t peak_cb_bytes, peak_dfb_bytes, peak_scratchpad_bytes, peak_l1_bytes,
        peak_total_bytes;
    uint64_t legacy_l1_peak_bytes; /* extract_peak_L1_memory_usage, without its 32 bits */
    bool l1_is_whole_buffers;      /* no max_size_per_bank: interleaved ones count whole */
    uint64_t nodes, functions, tensors;
};
struct tts_graph_figures tts_graph_figures(const struct tts_graph *graph);

/* Something that was passed over or put right, the first of its kind with where. */
enum tts_graph_note_kind {
    TTS_GRAPH_UNKNOWN_NODE,    /* a node type that we do not know */
    TTS_GRAPH_OUT_OF_ORDER,    /* counter is not the index */
    TTS_GRAPH_BAD_NODE,        /* a field is missing or cannot be */
    TTS_GRAPH_FREE_OF_NOTHING, /* a free of a buffer that is not known */
    TTS_GRAPH_UNCLOSED,        /* functions that did not end, or ends without a begin */
    TTS_GRAPH_NO_BANKS,        /* an L1 buffer that does not say what a bank holds */
    TTS_GRAPH_WHICH_MESH, /* a chip that could be of several meshes, or a mesh that is a chip */
    TTS_GRAPH_NOTES,
};
struct tts_graph_note {
    uint64_t count, node, line; /* of the first */
    char text[120];             /* "" when count is 0 */
};
const struct tts_graph_note *tts_graph_note(const struct tts_graph *graph,
                                            enum tts_graph_note_kind kind);
/* Does that kind make the answer a partial one? */
bool tts_graph_note_is_bad(enum tts_graph_note_kind kind);

/* Walks every known buffer; for tests. */
bool tts_graph_is_valid(const struct tts_graph *graph);
