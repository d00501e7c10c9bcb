/* graph.h: reads the JSON of the runtime's graph capture, of every generation, as items
 * (model/item.h). The input is an array of nodes, or a report with such an array under "graph".
 * A file or pipe is read once. Memory grows only with the number of buffers that are known and
 * not yet freed. Names are returned as in the file, with escapes resolved; bytes that are not
 * UTF-8 are not changed. One thread at a time per trace. */
#pragma once

#include "model/graphnotes.h"
#include "model/item.h"
#include "sources/json_pull.h"
#include "ttscope/alloc.h"

enum { TTS_GRAPH_DEPTH = 1024 }; /* functions nested more deeply have no name in the items */

struct tts_graph;

/* Returns true if the first bytes may begin a graph trace: an optional UTF-8 byte order mark,
 * blanks, then '[' or '{'. */
bool tts_graph_may_be(const unsigned char *bytes, size_t len);

/* Opens a trace in `fd`. The caller closes `fd` after tts_graph_close(). `before`[0..len) are
 * bytes that were already read from `fd`; they are copied. A complete UTF-8 byte order mark is
 * skipped. `alloc` may be NULL. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_graph_open(int fd, const unsigned char *before, size_t len,
                                             const struct tts_alloc *alloc,
                                             struct tts_graph **out, struct tts_error *err);
/* Like tts_graph_open(), but for any source. source->before is copied. The sizes of the window
 * and of pieces are ignored. */
TTS_NODISCARD enum tts_status tts_graph_open_from(const struct tts_jsonpull_source *source,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_graph **out,
                                                  struct tts_error *err);
/* Like tts_graph_open_from(), for tests: source->before is borrowed until tts_graph_close(),
 * the sizes of the window and of pieces are used, and a byte order mark is not skipped. */
TTS_NODISCARD enum tts_status tts_graph_open_source(const struct tts_jsonpull_source *source,
                                                    const struct tts_alloc *alloc,
                                                    struct tts_graph **out,
                                                    struct tts_error *err);
void tts_graph_close(struct tts_graph *graph); /* NULL is allowed */

/* Calls `fn` after each later read with the number of bytes read so far. The calls also come
 * while no item is produced. */
void tts_graph_watch(struct tts_graph *graph, void (*fn)(void *ctx, uint64_t bytes), void *ctx);

/* Reads the next item (model/item.h). The whole capture is one phase, TTS_GRAPH_PHASE, of
 * capture 1. item->seq counts the events among the items. Returns TTS_E_NOT_FOUND after the
 * last item. TTS_E_SYNTAX: not JSON, cut off, or not a trace; err has the line and the offset.
 * TTS_E_RANGE: a limit of this reader is exceeded. TTS_E_IO, TTS_E_NOMEM. After a failure every
 * later call returns the same error. */
TTS_NODISCARD enum tts_status tts_graph_next(struct tts_graph *graph, struct tts_item *out,
                                             struct tts_error *err);
#define TTS_GRAPH_PHASE "capture"

/* Return the index and the line of the node that was read last. */
uint64_t tts_graph_node(const struct tts_graph *graph);
uint64_t tts_graph_line(const struct tts_graph *graph);
/* Returns the number of bytes read so far. */
uint64_t tts_graph_tell(const struct tts_graph *graph);

/* Returns the L1 bytes of one core of the device, which the report gives; 0 if they are
 * unknown. */
uint64_t tts_graph_core_bytes(const struct tts_graph *graph, uint32_t device);

/* Return the figures and the notes so far. The note is valid until tts_graph_close(). */
struct tts_graph_figures tts_graph_figures(const struct tts_graph *graph);
const struct tts_graph_note *tts_graph_note(const struct tts_graph *graph,
                                            enum tts_graph_note_kind kind);

/* Checks the table of known buffers, for tests. Takes time proportional to the table. */
bool tts_graph_is_valid(const struct tts_graph *graph);
