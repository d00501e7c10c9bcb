/* graph_look.h: what the beginning of a graph trace says about its device numbers.
 *
 * The runtime numbers meshes and chips separately, both from 0. Buffers and program starts
 * carry the number of a mesh, circular buffers that of a chip. The number alone does not say
 * which it is. So the reader looks at the first TTS_GRAPH_LOOK_BYTES of a trace before it makes
 * the first item. Plain data. One thread. */
#pragma once

#include "sources/graph_node.h"

enum {
    TTS_GRAPH_DEVICES = 256,
    TTS_GRAPH_LOOK_BYTES = 4 << 20,
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

/* Returns true if meshes and chips are numbered separately and a number is used for both. */
bool tts_graph_look_is_split(const struct tts_graph_look *look);

/* Returns the one number with buffers and without parts, which is a mesh; NULL if there is no
 * such number or more than one. For a trace that is not split. */
const struct tts_graph_number *tts_graph_look_mesh(const struct tts_graph_look *look);

/* Returns true if a tensor names the number as a chip and none as a mesh. */
static inline bool tts_graph_number_is_chip_only(const struct tts_graph_number *number)
{
    return number->is_chip && !number->is_mesh;
}
