/* graph_devices.h: the devices of a graph trace: which numbers are meshes, which are chips, and
 * which chip belongs to which mesh.
 *
 * The runtime numbers meshes and chips separately, both from 0. Buffers and program starts
 * carry the number of a mesh, circular buffers the number of a chip. The number alone does not
 * tell them apart. So the reader looks at the first TTS_GRAPH_LOOK_BYTES of a trace before it
 * gives the first item. Plain data. One thread. */
#pragma once

#include "sources/graph/graph_node.h"

enum {
    TTS_GRAPH_DEVICES = 256,
    TTS_GRAPH_LOOK_BYTES = 4 << 20,
    TTS_GRAPH_NO_DEVICE = UINT16_MAX,
};

/* One device number, as a mesh, a chip or both. */
struct tts_graph_number {
    uint32_t number;
    uint32_t mesh; /* if is_chip: the first mesh that a tensor names for the chip */
    bool has_buffers, has_parts, has_programs;
    bool is_chip, is_mesh; /* a tensor says so */
    bool has_more_meshes;  /* tensors name other meshes besides `mesh` */
};

struct tts_graph_look {
    struct tts_graph_number numbers[TTS_GRAPH_DEVICES];
    uint16_t count;
    bool has_pairs; /* a tensor names chips */
    /* A tensor names a chip whose number differs from the number of its mesh. */
    bool has_spread;
    /* An allocated buffer has an address above 0, or has address 0 because the runtime does not
     * dispatch. */
    bool has_address, has_zero_address;
    bool has_durations;
};

/* Adds the facts of one node. Numbers after the first TTS_GRAPH_DEVICES are ignored. */
void tts_graph_look_node(struct tts_graph_look *look, const struct tts_graph_node *node);

struct tts_graph_device {
    uint32_t id;       /* the id in items: in a split trace a mesh has a TTS_MESH_ID() */
    uint32_t l1_banks; /* 0 if unknown */
    uint32_t l1_bytes; /* of one core; 0 if unknown */
    uint16_t mesh; /* index of the mesh that items name for this chip, or TTS_GRAPH_NO_DEVICE */
    /* Index of the mesh that tensors name for this chip, or TTS_GRAPH_NO_DEVICE. */
    uint16_t named;
    bool is_mesh; /* known in a split trace, or from a tensor */
    bool has_buffers, has_parts;
    /* gets_buffers: the look ahead found buffers of the device; never set in a split trace.
     * gets_parts: the look ahead found parts (circular buffers and the like) of the device. */
    bool gets_buffers, gets_parts;
    bool has_programs;    /* has programs of its own */
    bool has_more_meshes; /* tensors name several meshes for it */
    bool is_running;      /* had parts since its last program ended */
    bool is_due;          /* an item must say that this chip belongs to `mesh` */
    bool is_ending;       /* an event must end the program of this chip */
};

struct tts_graph_devices {
    struct tts_graph_device device[TTS_GRAPH_DEVICES];
    uint16_t count, last;
    uint16_t due, ending; /* number of devices that are due, that are ending */
    bool is_split; /* meshes and chips are numbered separately, and a number is used for both */
};

/* The role of the device that a node names. */
enum tts_graph_role { TTS_GRAPH_BUFFER, TTS_GRAPH_PROGRAM, TTS_GRAPH_PART };

/* Enters the devices that the look found. `devices` is empty before. */
void tts_graph_devices_start(struct tts_graph_devices *devices,
                             const struct tts_graph_look *look);
/* Returns the index of the device with this id, which is entered if it is new. Returns
 * TTS_GRAPH_NO_DEVICE if there are TTS_GRAPH_DEVICES already. */
uint16_t tts_graph_device(struct tts_graph_devices *devices, uint32_t id);
/* Returns the id of the device that a node means by `number`. */
uint32_t tts_graph_device_id(const struct tts_graph_devices *devices, uint32_t number,
                             enum tts_graph_role role);
/* Record that the device has a buffer, has a part, or ends its program. Chips whose mesh is
 * known now become due. A program of a mesh also ends the programs of chips whose mesh is
 * unknown. Returns false if the mesh of the chip cannot be told. */
void tts_graph_devices_buffer(struct tts_graph_devices *devices, uint16_t idx);
bool tts_graph_devices_part(struct tts_graph_devices *devices, uint16_t idx);
void tts_graph_devices_program(struct tts_graph_devices *devices, uint16_t idx);
/* Records that a tensor names a chip and its mesh. Returns false if an earlier tensor named
 * another mesh. */
bool tts_graph_devices_pair(struct tts_graph_devices *devices,
                            const struct tts_node_pair *pair);
