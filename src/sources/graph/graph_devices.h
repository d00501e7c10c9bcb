/* graph_devices.h: the devices of a graph trace: which numbers are meshes, which are chips, and
 * which chip belongs to which mesh.
 *
 * The runtime numbers meshes and chips separately, and both numberings begin at 0. Buffers and
 * program starts carry the number of a mesh, circular buffers the number of a chip. A number
 * alone does not show whether it means a mesh or a chip. So the reader examines the first
 * TTS_GRAPH_LOOK_BYTES of a trace (the look ahead) before it returns the first item. Plain
 * data. One thread at a time. */
#pragma once

#include "sources/graph/graph_node.h"

enum {
    TTS_GRAPH_DEVICES = 256,
    TTS_GRAPH_LOOK_BYTES = 4 << 20,
    TTS_GRAPH_NO_DEVICE = UINT16_MAX,
};

/* The facts about one device number, which may mean a mesh, a chip or both. */
struct tts_graph_number {
    uint32_t number;
    uint32_t mesh; /* valid if is_chip: the first mesh that a tensor names for the chip */
    bool has_buffers, has_parts, has_programs;
    bool is_chip, is_mesh; /* a tensor names the number as a chip, as a mesh */
    bool has_more_meshes;  /* tensors name a second mesh for the chip */
};

struct tts_graph_look {
    struct tts_graph_number numbers[TTS_GRAPH_DEVICES];
    uint16_t count;
    bool has_pairs; /* a tensor names a chip and its mesh */
    /* A tensor names a chip and a mesh that have different numbers. */
    bool has_spread;
    /* Some allocated buffer has an address above 0; some allocated buffer has the address 0,
     * which the runtime writes if it does not dispatch. */
    bool has_address, has_zero_address;
    bool has_durations;
};

/* Adds the facts of one node. A device number is ignored if TTS_GRAPH_DEVICES other numbers are
 * already known. */
void tts_graph_look_node(struct tts_graph_look *look, const struct tts_graph_node *node);

struct tts_graph_device {
    uint32_t id;       /* the id in items: a mesh of a split trace has TTS_MESH_ID(number) */
    uint32_t l1_banks; /* 0 if unknown */
    uint32_t l1_bytes; /* of one core; 0 if unknown */
    uint16_t mesh;     /* index of the chip's mesh as told to the reader of items, or
                          TTS_GRAPH_NO_DEVICE */
    /* Index of the first mesh that tensors name for this chip, or TTS_GRAPH_NO_DEVICE. */
    uint16_t named;
    bool is_mesh; /* set only in a split trace */
    bool has_buffers, has_parts;
    /* gets_buffers: the look ahead found buffers of the device; never set in a split trace.
     * gets_parts: the look ahead found parts of the device. A part is a circular buffer, a
     * dataflow buffer or a scratchpad. */
    bool gets_buffers, gets_parts;
    bool has_programs;    /* programs end under the number of this device */
    bool has_more_meshes; /* tensors name several meshes for the chip */
    bool is_running;      /* got a part after its last program ended */
    bool is_due;          /* an item must say that this chip belongs to `mesh` */
    bool is_ending;       /* an event must end the program of this chip */
};

struct tts_graph_devices {
    struct tts_graph_device device[TTS_GRAPH_DEVICES];
    uint16_t count, last;
    uint16_t due, ending; /* number of devices with is_due, with is_ending */
    bool is_split;        /* the trace uses the same number for a mesh and a chip */
};

/* The kind of node that names a device. The kind decides between mesh and chip. */
enum tts_graph_role { TTS_GRAPH_BUFFER, TTS_GRAPH_PROGRAM, TTS_GRAPH_PART };

/* Enters the devices that the look ahead found. `devices` must be empty. */
void tts_graph_devices_start(struct tts_graph_devices *devices,
                             const struct tts_graph_look *look);
/* Returns the index of the device with this id. A new id is entered. Returns
 * TTS_GRAPH_NO_DEVICE if there is no room for a new id. */
uint16_t tts_graph_device(struct tts_graph_devices *devices, uint32_t id);
/* Returns the id of the device that a node with this role means by `number`. */
uint32_t tts_graph_device_id(const struct tts_graph_devices *devices, uint32_t number,
                             enum tts_graph_role role);
/* Record that the device has a buffer, has a part, or ends its program. Chips become due if
 * their mesh is now known. The end of a program of a mesh also ends the programs of chips whose
 * mesh is unknown. tts_graph_devices_part() returns false if the mesh of the chip cannot be
 * determined. */
void tts_graph_devices_buffer(struct tts_graph_devices *devices, uint16_t idx);
bool tts_graph_devices_part(struct tts_graph_devices *devices, uint16_t idx);
void tts_graph_devices_program(struct tts_graph_devices *devices, uint16_t idx);
/* Records that a tensor names a chip and its mesh. Returns false if the chip may belong to
 * another mesh, because an earlier tensor or item said so. */
bool tts_graph_devices_pair(struct tts_graph_devices *devices,
                            const struct tts_node_pair *pair);
