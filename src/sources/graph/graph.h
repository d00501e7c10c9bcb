/* graph.h: reads the runtime's graph-capture JSON of every generation as items (model/item.h).
 * The input is an array of nodes, or a report with a "graph". It is read once, from a file or a
 * pipe. Memory grows only with the buffers that are known and not yet freed. Names are as in
 * the file, with escapes resolved; bytes that are not UTF-8 are passed on. One thread. */
#pragma once

#include "model/graphnotes.h"
#include "model/item.h"
#include "sources/json_pull.h"
#include "ttscope/alloc.h"

enum { TTS_GRAPH_DEPTH = 1024 }; /* deeper functions have no name */

struct tts_graph;

/* Returns true if the first bytes can be a graph trace: '[' or '{' after blanks and perhaps a
 * UTF-8 byte order mark. */
bool tts_graph_may_be(const unsigned char *bytes, size_t len);

/* Opens a trace in `fd`, which the caller closes. `before`[0..len) are bytes that were already
 * read from `fd`; they are copied. A complete UTF-8 byte order mark is skipped. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_graph_open(int fd, const unsigned char *before, size_t len,
                                             const struct tts_alloc *alloc,
                                             struct tts_graph **out, struct tts_error *err);
/* Like tts_graph_open(), but for any source. source->before is copied. The sizes of window and
 * pieces are ignored. */
TTS_NODISCARD enum tts_status tts_graph_open_from(const struct tts_jsonpull_source *source,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_graph **out,
                                                  struct tts_error *err);
/* Like tts_graph_open_from(), for tests: source->before is borrowed until close, and the sizes
 * of window and pieces are used. */
TTS_NODISCARD enum tts_status tts_graph_open_source(const struct tts_jsonpull_source *source,
                                                    const struct tts_alloc *alloc,
                                                    struct tts_graph **out,
                                                    struct tts_error *err);
void tts_graph_close(struct tts_graph *graph); /* NULL is allowed */

/* Calls `fn` after each following read with the number of bytes read so far, also while no item
 * is produced. */
void tts_graph_watch(struct tts_graph *graph, void (*fn)(void *ctx, uint64_t bytes), void *ctx);

/* Reads the next item (item.h). The whole capture is one phase, TTS_GRAPH_PHASE, of capture 1.
 * item->seq counts the items that are events. TTS_E_SYNTAX: not JSON, cut off, or not a trace;
 * err has the line and offset. TTS_E_RANGE: a limit of this reader. TTS_E_IO. */
TTS_NODISCARD enum tts_status tts_graph_next(struct tts_graph *graph, struct tts_item *out,
                                             struct tts_error *err);
#define TTS_GRAPH_PHASE "capture"

/* Return the node and the line of the last item. */
uint64_t tts_graph_node(const struct tts_graph *graph);
uint64_t tts_graph_line(const struct tts_graph *graph);
/* Returns the number of bytes read so far. */
uint64_t tts_graph_tell(const struct tts_graph *graph);

/* Returns the L1 bytes of one core of the device, from the report; 0 if the report does not
 * say. */
uint64_t tts_graph_core_bytes(const struct tts_graph *graph, uint32_t device);

/* Return the figures and the notes so far. A note is borrowed. */
struct tts_graph_figures tts_graph_figures(const struct tts_graph *graph);
const struct tts_graph_note *tts_graph_note(const struct tts_graph *graph,
                                            enum tts_graph_note_kind kind);

/* Checks the table of known buffers, for tests. The time grows with the table. */
bool tts_graph_is_valid(const struct tts_graph *graph);
