/* graph_table.h: a hash table of the buffers of a graph trace that are known and not yet freed.
 * The key is the counter of the buffer's node. A slot has 16 bytes. At most 7 of 8 slots are in
 * use; just after the table grew, nearly half of them are. One thread at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTS_GRAPH_ID_MAX ((UINT64_C(1) << 48) - 2)
/* No device has more. Sums of such sizes cannot overflow. */
#define TTS_GRAPH_SIZE_MAX (UINT64_C(1) << 40)
enum { TTS_GRAPH_BUFFERS_MAX = 1 << 26 };

struct tts_graph_buffer {
    uint64_t id;         /* at most TTS_GRAPH_ID_MAX */
    uint64_t size_bytes; /* at most TTS_GRAPH_SIZE_MAX */
    uint8_t device;      /* index of the device */
    uint8_t pool;        /* enum tts_pool, or TTS_POOLS for host memory */
    uint8_t memory;      /* enum tts_node_memory */
    bool is_allocated;
};

/* A table. Initialize with zeros and `alloc`. */
struct tts_graph_table {
    struct tts_graph_slot *slots;
    size_t width; /* 0 or a power of two */
    size_t count;
    uint64_t step; /* factor of the hash; odd */
    const struct tts_alloc *alloc;
};

void tts_graph_table_release(struct tts_graph_table *table);
bool tts_graph_table_find(const struct tts_graph_table *table, uint64_t id,
                          struct tts_graph_buffer *out);
/* Adds a buffer, or replaces the buffer with the same id. TTS_E_NOMEM: memory ran out.
 * TTS_E_RANGE: there are TTS_GRAPH_BUFFERS_MAX buffers. */
TTS_NODISCARD enum tts_status tts_graph_table_put(struct tts_graph_table *table,
                                                  const struct tts_graph_buffer *buffer);
/* Removes a buffer. `id` must be in the table. */
void tts_graph_table_remove(struct tts_graph_table *table, uint64_t id);
/* Returns true if the table is consistent. Visits every slot. */
bool tts_graph_table_is_valid(const struct tts_graph_table *table);
