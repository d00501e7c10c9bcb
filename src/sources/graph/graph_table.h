/* graph_table.h: the buffers of a graph trace that are known and not yet freed, by the counter
 * of their node. A slot has 16 bytes. At most seven of eight slots are in use, and nearly half
 * of them after the table grew. One thread. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTS_GRAPH_ID_MAX ((UINT64_C(1) << 48) - 2)
#define TTS_GRAPH_SIZE_MAX (UINT64_C(1) << 40) /* no device has more; sums do not wrap */
enum { TTS_GRAPH_BUFFERS_MAX = 1 << 26 };

struct tts_graph_buffer {
    uint64_t id;         /* at most TTS_GRAPH_ID_MAX */
    uint64_t size_bytes; /* at most TTS_GRAPH_SIZE_MAX */
    uint8_t device;      /* index of the device */
    uint8_t pool;        /* enum tts_pool, or TTS_POOLS for the host */
    uint8_t memory;      /* enum tts_node_memory: the value of "type" */
    bool is_allocated;
};

/* An empty table is all zero except `alloc`. */
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
/* Adds a buffer, or replaces the buffer with the same id. TTS_E_NOMEM. TTS_E_RANGE: there are
 * TTS_GRAPH_BUFFERS_MAX buffers. */
TTS_NODISCARD enum tts_status tts_graph_table_put(struct tts_graph_table *table,
                                                  const struct tts_graph_buffer *buffer);
void tts_graph_table_remove(struct tts_graph_table *table,
                            uint64_t id); /* `id` must be in the table */
bool tts_graph_table_is_valid(const struct tts_graph_table *table); /* visits every slot */
