/* graph_inside.h: what the files of the graph reader know of each other. */
#pragma once

#include "base/compiler.h"
#include "sources/graph.h"
#include "sources/graph_node.h"
#include "sources/graph_sums.h"
#include "sources/graph_table.h"
#include "sources/json_pull.h"

#include <assert.h>

enum {
    TTS_GRAPH_DEVICES = 256,
    TTS_GRAPH_DEPTH = 1024, /* functions inside each other that have a name */
    TTS_GRAPH_NO_DEVICE = UINT16_MAX,
};

struct tts_graph_device {
    uint32_t id;
    uint32_t l1_banks; /* 0: not known */
    uint16_t mesh;     /* that it was told to be a chip of; TTS_GRAPH_NO_DEVICE */
    bool has_buffers, has_parts;
    bool is_due; /* as a chip of `mesh`, to be told */
};

struct tts_graph_devices {
    struct tts_graph_device device[TTS_GRAPH_DEVICES];
    uint16_t count, last, due;
};

/* The index of a device, made known if need be; TTS_GRAPH_NO_DEVICE: one too many. */
uint16_t tts_graph_device(struct tts_graph_devices *devices, uint32_t id);
/* The device has a buffer; or a part of a program, or a program. Chips that follow from it are
 * due. False: a chip that could be of several meshes. */
void tts_graph_devices_buffer(struct tts_graph_devices *devices, uint16_t idx);
bool tts_graph_devices_part(struct tts_graph_devices *devices, uint16_t idx, bool is_program);

struct tts_graph_frame {
    uint64_t hash;
    uint8_t len;
    char name[TTS_OP_NAME_MAX];
};

enum tts_graph_state {
    TTS_GRAPH_STARTS,
    TTS_GRAPH_NODES, /* in the array */
    TTS_GRAPH_CUTS,
    TTS_GRAPH_ENDS,
    TTS_GRAPH_TAIL, /* behind the array */
    TTS_GRAPH_DONE,
};

struct tts_graph {
    struct tts_jsonpull *json;
    enum tts_graph_state state;
    bool is_report;
    bool has_node;  /* that was read, and is still to be made items of */
    bool has_event; /* in `item`, to be told behind the chips that are due */
    bool is_broken; /* `broken` is what every call returns */
    struct tts_error broken;
    uint64_t node_idx; /* of `node` */
    uint64_t seq;
    struct tts_node node;
    struct tts_item item;
    struct tts_graph_sums sums;
    struct tts_graph_table table;
    struct tts_graph_devices devices;
    struct tts_graph_note notes[TTS_GRAPH_NOTES];
    struct tts_graph_frame frames[TTS_GRAPH_DEPTH]; /* of sums.depth, the outermost ones */
    const struct tts_alloc *alloc;
};

/* For tests: with a window and pieces of any size. */
TTS_NODISCARD enum tts_status tts_graph_open_source(const struct tts_jsonpull_source *source,
                                                    const struct tts_alloc *alloc,
                                                    struct tts_graph **out,
                                                    struct tts_error *err);

/* Counts a note; the first of its kind keeps its text and place. */
void tts_graph_add_note(struct tts_graph *graph, enum tts_graph_note_kind kind,
                        const char *format, ...) TTS_PRINTF(3, 4);

/* Up to the array of nodes, and from behind it to the end of the input. */
TTS_NODISCARD enum tts_status tts_graph_read_head(struct tts_graph *graph,
                                                  struct tts_error *err);
TTS_NODISCARD enum tts_status tts_graph_read_tail(struct tts_graph *graph,
                                                  struct tts_error *err);

/* Makes of graph->node what it tells: an event in graph->item, chips that are due, figures,
 * notes. TTS_E_NOMEM, TTS_E_RANGE: too many buffers. */
TTS_NODISCARD enum tts_status tts_graph_apply(struct tts_graph *graph, struct tts_error *err);

/* ---- for tts_graph_apply() ---- */

/* An event of this kind, in the operation that is under way; all else is to be filled in. */
struct tts_event *tts_graph_new_event(struct tts_graph *graph, enum tts_event_kind kind,
                                      uint32_t device);
/* Takes it back: it cannot be. */
void tts_graph_drop_event(struct tts_graph *graph, const char *why);
/* The index of the node's device, 0 where it names none. False: noted. */
bool tts_graph_find_device(struct tts_graph *graph, uint16_t *out);

static inline bool tts_graph_is_size_good(const struct tts_node *node)
{
    return tts_node_has(node, TTS_NODE_SIZE) &&
           node->value[TTS_NODE_SIZE] <= TTS_GRAPH_SIZE_MAX;
}

/* A buffer is known from now on, allocated or not; is allocated; is freed. */
TTS_NODISCARD enum tts_status tts_graph_know(struct tts_graph *graph, struct tts_error *err);
TTS_NODISCARD enum tts_status tts_graph_allocate(struct tts_graph *graph,
                                                 struct tts_error *err);
void tts_graph_deallocate(struct tts_graph *graph);
