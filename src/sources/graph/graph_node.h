/* graph_node.h: one node of a graph trace, read from JSON. Plain data. */
#pragma once

#include "sources/json_pull.h"
#include "ttscope/buffer.h"
#include "ttscope/event.h"

enum tts_node_type {
    TTS_NODE_UNKNOWN,
    TTS_NODE_CAPTURE_START,
    TTS_NODE_CAPTURE_END,
    TTS_NODE_FUNCTION_START,
    TTS_NODE_FUNCTION_END,
    TTS_NODE_TENSOR,
    TTS_NODE_BUFFER,
    TTS_NODE_BUFFER_ALLOCATE,
    TTS_NODE_BUFFER_DEALLOCATE,
    TTS_NODE_CB_ALLOCATE,
    TTS_NODE_DFB_ALLOCATE,
    TTS_NODE_SCRATCHPAD_ALLOCATE,
    TTS_NODE_CB_DEALLOCATE_ALL,
};

/* Numeric fields, written as a number or as digits in a string. Flags are 0 or 1. */
enum tts_node_field {
    TTS_NODE_COUNTER,
    TTS_NODE_LINK, /* the first element of the key connections */
    TTS_NODE_SIZE,
    TTS_NODE_ADDRESS,
    TTS_NODE_DEVICE,
    TTS_NODE_BUFFER_TYPE,
    TTS_NODE_PAGE_SIZE,
    TTS_NODE_CORES,
    TTS_NODE_PER_BANK,
    TTS_NODE_BORROWED, /* the key globally_allocated or borrows_memory */
    TTS_NODE_DURATION, /* of function_end and capture_end, in nanoseconds */
    TTS_NODE_FIELDS,
};

/* The memory that the key "type" names. */
enum tts_node_memory {
    TTS_NODE_NO_MEMORY,
    TTS_NODE_DRAM,
    TTS_NODE_L1,
    TTS_NODE_OTHER_MEMORY,
};

enum { TTS_NODE_TEXT_MAX = 40, TTS_NODE_PAIRS_MAX = 64 };

/* The numbers of a chip and of its mesh: one element of the device_tensors of a tensor. */
struct tts_node_pair {
    uint32_t chip, mesh; /* at most INT32_MAX */
};

struct tts_graph_node {
    bool wants_pairs; /* set by the caller: read the device_tensors of tensors */
    enum tts_node_type type;
    bool has_type;
    bool is_doubled;     /* some key occurs twice; its last value is used */
    uint32_t seen;       /* one bit for each key that occurs, whatever its value */
    bool has_bad_ranges; /* the set of cores is invalid or has too many ranges */
    /* One bit for each field: given with a valid value; given with an invalid value. */
    uint32_t given, bad;
    enum tts_node_memory memory;
    uint64_t value[TTS_NODE_FIELDS]; /* valid for the fields in `given` only */
    uint8_t name_len;
    bool has_name;
    char name[TTS_OP_NAME_MAX];
    /* The name of an unknown type (only if the type is UNKNOWN), safe for a message. */
    char type_text[TTS_NODE_TEXT_MAX];
    uint32_t range_count;
    struct tts_core_range ranges[TTS_RANGES_MAX];
    uint32_t pair_count; /* set for a TENSOR, if wants_pairs */
    struct tts_node_pair pairs[TTS_NODE_PAIRS_MAX];
};

static inline bool tts_node_has(const struct tts_graph_node *node, enum tts_node_field field)
{
    return node->given >> field & 1;
}

static inline bool tts_node_is_bad(const struct tts_graph_node *node, enum tts_node_field field)
{
    return node->bad >> field & 1;
}

/* Reads a node. The '{' has been read; the '}' is read too. Keeps out->wants_pairs. Fails like
 * tts_jsonpull_next(). */
TTS_NODISCARD enum tts_status tts_node_read(struct tts_jsonpull *json,
                                            struct tts_graph_node *out, struct tts_error *err);

/* Reads the next value as a number. A number, digits in a string, true and false are valid.
 * Sets *is_given if the value is not null, and *is_good if it is valid. Fails like
 * tts_jsonpull_next(). */
TTS_NODISCARD enum tts_status tts_node_read_number(struct tts_jsonpull *json, uint64_t *out,
                                                   bool *is_given, bool *is_good,
                                                   struct tts_error *err);
