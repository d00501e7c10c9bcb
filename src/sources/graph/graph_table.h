/* graph_table.h: the buffers of a graph trace that are known and not yet freed, by the counter
 * of their node. 16 bytes a place, at most seven of eight taken; half of them at least after it
 * grew. One thread. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTS_GRAPH_ID_MAX ((UINT64_C(1) << 48) - 2)
#define TTS_GRAPH_SIZE_MAX (UINT64_C(1) << 40) /* no device has more: sums do not wrap */
enum { TTS_GRAPH_BUFFERS_MAX = 1 << 26 };

struct tts_graph_buffer {
    uint64_t id;         /* at most TTS_GRAPH_ID_MAX */
    uint64_t size_bytes; /* at most TTS_GRAPH_SIZE_MAX */
    uint8_t device;      /* the index of its device */
    uint8_t pool;        /* enum tts_pool, or TTS_POOLS: the host's */
    uint8_t memory;      /* enum tts_node_memory: what "type" says */
    bool is_allocated;
};

/* Zeroed, with `alloc`, it is an empty one. */
struct tts_graph_table {
    struct tts_graph_slot *slots;
    size_t width; /* 0 or a power of two */
    size_t count;
    uint64_t step; /* odd */
    const struct tts_alloc *alloc;
};

void tts_graph_table_release(struct tts_graph_table *table);
bool tts_graph_table_find(const struct tts_graph_table *table, uint64_t id,
                          struct tts_graph_buffer *out);
/* Enters it, or puts it in the place of the one that has its id. TTS_E_NOMEM; TTS_E_RANGE:
 * there are TTS_GRAPH_BUFFERS_MAX. */
TTS_NODISCARD enum tts_status tts_graph_table_put(struct tts_graph_table *table,
                                                  const struct tts_graph_buffer *buffer);
void tts_graph_table_remove(struct tts_graph_table *table, uint64_t id); /* one that is there */
bool tts_graph_table_is_valid(const struct tts_graph_table *table);      /* walks everything */
