/* graph_inside.h: what the files of the graph reader know of each other. */
#pragma once

#include "base/compiler.h"
#include "sources/graph.h"
#include "sources/graph_look.h"
#include "sources/graph_node.h"
#include "sources/graph_sums.h"
#include "sources/graph_table.h"
#include "sources/json_pull.h"

#include <assert.h>

enum {
    TTS_GRAPH_DEPTH = 1024, /* functions inside each other that have a name */
    TTS_GRAPH_NO_DEVICE = UINT16_MAX,
};

struct tts_graph_device {
    uint32_t id;       /* as items name it: in a split trace a mesh has a TTS_MESH_ID() */
    uint32_t l1_banks; /* 0: not known */
    uint32_t l1_bytes; /* of a core; 0: not known */
    uint16_t mesh;     /* that it was told to be a chip of; TTS_GRAPH_NO_DEVICE */
    uint16_t named;    /* the mesh that tensors name for it; TTS_GRAPH_NO_DEVICE */
    bool is_mesh;      /* in a split trace; or a tensor says so */
    bool has_buffers, has_parts;
    bool gets_buffers, gets_parts; /* the look found some; buffers: not in a split trace */
    bool has_programs;             /* of its own */
    bool has_more_meshes;          /* tensors name several meshes for it */
    bool is_running;               /* it had parts since its program was last ended */
    bool is_due;                   /* as a chip of `mesh`, to be told */
    bool is_ending;                /* an end of its program is to be told */
};

struct tts_graph_devices {
    struct tts_graph_device device[TTS_GRAPH_DEVICES];
    uint16_t count, last;
    uint16_t due, ending; /* devices that are_due, are ending */
    bool is_split;        /* meshes and chips are numbered separately, and numbers collide */
};

/* The roles in which a node names a device. */
enum tts_graph_role { TTS_GRAPH_BUFFER, TTS_GRAPH_PROGRAM, TTS_GRAPH_PART };

/* Takes what the look found. The devices are empty before. */
void tts_graph_devices_start(struct tts_graph_devices *devices,
                             const struct tts_graph_look *look);
/* Returns the index of a device by its id and enters it if it is new; TTS_GRAPH_NO_DEVICE if
 * TTS_GRAPH_DEVICES are known already. */
uint16_t tts_graph_device(struct tts_graph_devices *devices, uint32_t id);
/* Returns the id of the device that a node means by `number`. */
uint32_t tts_graph_device_id(const struct tts_graph_devices *devices, uint32_t number,
                             enum tts_graph_role role);
/* The device has a buffer; or a part; or its program ends. Chips that follow from it are due.
 * A program of a mesh also ends those of chips whose mesh is not known. False: of which mesh
 * the chip is cannot be told. */
void tts_graph_devices_buffer(struct tts_graph_devices *devices, uint16_t idx);
bool tts_graph_devices_part(struct tts_graph_devices *devices, uint16_t idx);
void tts_graph_devices_program(struct tts_graph_devices *devices, uint16_t idx);
/* A tensor names a chip and its mesh. False: it names another mesh than an earlier one. */
bool tts_graph_devices_pair(struct tts_graph_devices *devices,
                            const struct tts_node_pair *pair);

struct tts_graph_frame {
    uint64_t hash;
    uint64_t start_ns;
    uint16_t owner; /* index of the frame that its events belong to (model/ophelper.h) */
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
    struct tts_jsonpull_source source;
    unsigned char *ahead; /* bytes that come first; NULL: they are the caller's */
    size_t ahead_bytes;   /* of memory */
    tts_jsonpull_fn on_read;
    void *on_read_ctx;
    enum tts_graph_state state;
    bool is_report;
    bool has_node;  /* that was read, and is still to be made items of */
    bool has_event; /* in `item`, to be told behind the chips that are due */
    bool is_broken; /* `broken` is what every call returns */
    struct tts_error broken;
    bool has_times;
    uint64_t clock_ns; /* since the capture began, as far as durations tell */
    uint64_t node_idx; /* of `node` */
    uint64_t seq;
    struct tts_graph_node node;
    struct tts_item item;
    struct tts_graph_sums sums;
    struct tts_graph_table table;
    struct tts_graph_devices devices;
    struct tts_graph_note notes[TTS_GRAPH_NOTES];
    struct tts_graph_frame frames[TTS_GRAPH_DEPTH]; /* of sums.depth, the outermost ones */
    const struct tts_alloc *alloc;
};

/* For tests: with a window and pieces of any size. source->before is borrowed for life. */
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
bool tts_graph_find_device(struct tts_graph *graph, enum tts_graph_role role, uint16_t *out);

static inline bool tts_graph_is_size_good(const struct tts_graph_node *node)
{
    return tts_node_has(node, TTS_NODE_SIZE) &&
           node->value[TTS_NODE_SIZE] <= TTS_GRAPH_SIZE_MAX;
}

/* A buffer is known from now on, allocated or not; is allocated; is freed. */
TTS_NODISCARD enum tts_status tts_graph_know(struct tts_graph *graph, struct tts_error *err);
TTS_NODISCARD enum tts_status tts_graph_allocate(struct tts_graph *graph,
                                                 struct tts_error *err);
void tts_graph_deallocate(struct tts_graph *graph);
