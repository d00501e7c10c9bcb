/* graph_devices.h: the devices of a graph trace: which numbers are meshes, which are chips, and
 * which chip belongs to which mesh.
 *
 * The runtime numbers meshes and chips separately, both from 0. Buffers and program starts
 * carry the number of a mesh, circular buffers that of a chip. The number alone does not say
 * which it is. So the reader looks at the first TTS_GRAPH_LOOK_BYTES of a trace before it makes
 * the first item. Plain data. One thread. */
#pragma once

#include "sources/graph/graph_node.h"

enum {
    TTS_GRAPH_DEVICES = 256,
    TTS_GRAPH_LOOK_BYTES = 4 << 20,
    TTS_GRAPH_NO_DEVICE = UINT16_MAX,
};

/* One device number, in either role. */
struct tts_graph_number {
    uint32_t number;
    uint32_t mesh; /* with is_chip: the first mesh that a tensor names for the chip */
    bool has_buffers, has_parts, has_programs;
    bool is_chip, is_mesh; /* a tensor says so */
    bool has_more_meshes;  /* the chip is in others beside `mesh` */
};

struct tts_graph_look {
    struct tts_graph_number numbers[TTS_GRAPH_DEVICES];
    uint16_t count;
    bool has_pairs;  /* a tensor names chips */
    bool has_spread; /* ... and one whose number differs from that of its mesh */
    bool has_address, has_zero_address; /* of allocated buffers: above 0; 0 (no dispatch) */
    bool has_durations;
};

/* Adds what one node says. Numbers after the first TTS_GRAPH_DEVICES are ignored. */
void tts_graph_look_node(struct tts_graph_look *look, const struct tts_graph_node *node);

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
