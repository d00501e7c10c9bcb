#include "sources/graph_inside.h"

#include "base/compiler.h"
#include "base/error.h"
#include "model/fold.h"

#include <inttypes.h>

/* Where the node's buffer is; TTS_POOLS: the host's, TTS_POOLS + 1: it does not say. */
static uint8_t pool_of(const struct tts_graph_node *node)
{
    static const uint8_t pools[] = {TTS_POOL_DRAM, TTS_POOL_L1, TTS_POOLS, TTS_POOL_L1_SMALL,
                                    TTS_POOL_TRACE};
    if (tts_node_has(node, TTS_NODE_BUFFER_TYPE) &&
        node->value[TTS_NODE_BUFFER_TYPE] < sizeof pools)
        return pools[node->value[TTS_NODE_BUFFER_TYPE]];
    if (node->memory == TTS_NODE_DRAM)
        return TTS_POOL_DRAM;
    return node->memory == TTS_NODE_L1 ? TTS_POOL_L1 : TTS_POOLS + 1;
}

/* "type", or what it would be. */
static enum tts_node_memory memory_of(const struct tts_graph_node *node, uint8_t pool)
{
    if (node->memory != TTS_NODE_NO_MEMORY)
        return node->memory;
    return pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE ? TTS_NODE_DRAM : TTS_NODE_L1;
}

/* What the node itself says of a buffer, its id apart. False: noted. */
static bool read_buffer(struct tts_graph *graph, struct tts_graph_buffer *out)
{
    const struct tts_graph_node *node = &graph->node;
    uint16_t device;
    if (!tts_graph_is_size_good(node)) {
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a buffer %s",
                           tts_node_has(node, TTS_NODE_SIZE) ||
                                   tts_node_is_bad(node, TTS_NODE_SIZE)
                               ? "of a size that cannot be"
                               : "without a size");
        return false;
    }
    uint8_t pool = pool_of(node);
    if (pool > TTS_POOLS) {
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a buffer of which nothing says where");
        return false;
    }
    if (!tts_graph_find_device(graph, TTS_GRAPH_BUFFER, &device))
        return false;
    *out = (struct tts_graph_buffer){.size_bytes = node->value[TTS_NODE_SIZE],
                                     .device = (uint8_t)device,
                                     .pool = pool,
                                     .memory = (uint8_t)memory_of(node, pool)};
    enum tts_node_memory by_pool =
        pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE ? TTS_NODE_DRAM : TTS_NODE_L1;
    if (out->memory != by_pool)
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE,
                           "a buffer whose type and buffer_type do not agree");
    return true;
}

/* The buffer that the node is about, by its first connection. False: noted. */
static bool find_link(struct tts_graph *graph, uint64_t *id)
{
    const struct tts_graph_node *node = &graph->node;
    *id = node->value[TTS_NODE_LINK];
    if (tts_node_has(node, TTS_NODE_LINK) && *id <= TTS_GRAPH_ID_MAX)
        return true;
    tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "no buffer in its connections");
    return false;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* What the fullest of `banks` banks holds of `size` bytes in pages; as the runtime before
 * max_size_per_bank counted it, alignment left out. */
static uint64_t share(uint64_t size, uint64_t page, uint64_t banks)
{
    assert(page > 0 && banks > 0);
    uint64_t bytes;
    if (__builtin_mul_overflow(divide_up(divide_up(size, page), banks), page, &bytes))
        return size;
    return bytes < TTS_EVENT_BYTES_MAX ? bytes : size;
}

/* Bytes on the fullest core of a buffer of `size` bytes. */
static uint64_t per_bank(struct tts_graph *graph, uint64_t size, uint16_t device)
{
    const struct tts_graph_node *node = &graph->node;
    uint64_t own = node->value[TTS_NODE_PER_BANK];
    if (TTS_LIKELY(tts_node_has(node, TTS_NODE_PER_BANK) && own > 0 &&
                   own <= TTS_EVENT_BYTES_MAX))
        return own;
    if (tts_node_is_bad(node, TTS_NODE_PER_BANK) ||
        (tts_node_has(node, TTS_NODE_PER_BANK) && own > TTS_EVENT_BYTES_MAX))
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a max_size_per_bank that cannot be");
    bool has_page =
        tts_node_has(node, TTS_NODE_PAGE_SIZE) && node->value[TTS_NODE_PAGE_SIZE] > 0;
    uint64_t cores = tts_node_has(node, TTS_NODE_CORES) ? node->value[TTS_NODE_CORES] : 0;
    uint64_t banks = cores > 0 ? cores : graph->devices.device[device].l1_banks;
    if (has_page && banks > 0)
        return share(size, node->value[TTS_NODE_PAGE_SIZE], banks);
    graph->sums.figures.l1_is_whole_buffers = true;
    tts_graph_add_note(graph, TTS_GRAPH_NO_BANKS,
                       "L1 buffers do not say what a bank holds: counted whole");
    return size;
}

/* How it was asked for, as far as that can be. */
static void set_request(struct tts_graph *graph, struct tts_event *event)
{
    const struct tts_graph_node *node = &graph->node;
    uint64_t cores = node->value[TTS_NODE_CORES];
    bool is_bad = ((node->bad >> TTS_NODE_ADDRESS | node->bad >> TTS_NODE_PAGE_SIZE |
                    node->bad >> TTS_NODE_CORES) &
                   1) != 0;
    event->has_address = tts_node_has(node, TTS_NODE_ADDRESS) &&
                         node->value[TTS_NODE_ADDRESS] <= TTS_EVENT_BYTES_MAX;
    event->address = event->has_address ? node->value[TTS_NODE_ADDRESS] : 0;
    bool has_cores = tts_node_has(node, TTS_NODE_CORES) && cores <= TTS_CORES_MAX;
    if (tts_node_has(node, TTS_NODE_PAGE_SIZE) && has_cores &&
        node->value[TTS_NODE_PAGE_SIZE] <= TTS_GRAPH_SIZE_MAX) {
        event->page_bytes = node->value[TTS_NODE_PAGE_SIZE];
        event->cores = event->page_bytes > 0 ? (uint32_t)cores : 0;
    }
    is_bad |= tts_node_has(node, TTS_NODE_ADDRESS) && !event->has_address;
    is_bad |= tts_node_has(node, TTS_NODE_CORES) && !has_cores;
    if (is_bad)
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE,
                           "an address, page_size or num_cores that cannot be");
}

static enum tts_status put(struct tts_graph *graph, const struct tts_graph_buffer *buffer,
                           struct tts_error *err)
{
    enum tts_status status = tts_graph_table_put(&graph->table, buffer);
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, "no memory for %zu buffers", graph->table.count + 1);
    if (status == TTS_E_RANGE)
        return tts_error_set(err, status, "more than %d buffers that are not freed",
                             TTS_GRAPH_BUFFERS_MAX);
    return status;
}

enum tts_status tts_graph_know(struct tts_graph *graph, struct tts_error *err)
{
    const struct tts_graph_node *node = &graph->node;
    struct tts_graph_buffer buffer, before;
    bool is_good = read_buffer(graph, &buffer);
    tts_graph_sums_buffer(&graph->sums,
                          is_good ? (enum tts_node_memory)buffer.memory : node->memory,
                          is_good ? buffer.size_bytes : 0);
    if (!is_good)
        return TTS_OK;
    buffer.id =
        tts_node_has(node, TTS_NODE_COUNTER) ? node->value[TTS_NODE_COUNTER] : graph->node_idx;
    if (buffer.id > TTS_GRAPH_ID_MAX) {
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a counter that cannot be");
        return TTS_OK;
    }
    if (tts_graph_table_find(&graph->table, buffer.id, &before)) {
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a buffer of the counter of another");
        return TTS_OK;
    }
    if (buffer.pool < TTS_POOLS)
        tts_graph_devices_buffer(&graph->devices, buffer.device);
    return put(graph, &buffer, err);
}

static void make_alloc(struct tts_graph *graph, const struct tts_graph_buffer *buffer,
                       uint64_t bytes_per_bank)
{
    struct tts_error why;
    if (buffer->pool >= TTS_POOLS)
        return;
    struct tts_event *event =
        tts_graph_new_event(graph, TTS_EVENT_ALLOC, graph->devices.device[buffer->device].id);
    event->pool = (enum tts_pool)buffer->pool;
    event->id = buffer->id;
    event->size_bytes = buffer->size_bytes;
    event->bytes_per_bank = bytes_per_bank;
    set_request(graph, event);
    tts_graph_devices_buffer(&graph->devices, buffer->device);
    if (TTS_UNLIKELY(tts_event_check(event, &why) != TTS_OK))
        tts_graph_drop_event(graph, why.text);
}

/* Notes what does not fit the node of the buffer: the figures and the events then count it
 * differently. */
static void compare(struct tts_graph *graph, const struct tts_graph_buffer *own,
                    const struct tts_graph_buffer *known)
{
    if (known->is_allocated)
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "buffer %" PRIu64 " is allocated twice",
                           own->id);
    else if (own->size_bytes != known->size_bytes || own->pool != known->pool ||
             own->memory != known->memory || own->device != known->device)
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE,
                           "buffer %" PRIu64 " is allocated as something else than its node",
                           own->id);
}

enum tts_status tts_graph_allocate(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_graph_buffer own, known;
    uint64_t id, bytes_per_bank = 0;
    if (!read_buffer(graph, &own))
        return TTS_OK;
    if (own.memory != TTS_NODE_DRAM || own.pool == TTS_POOL_L1 || own.pool == TTS_POOL_L1_SMALL)
        bytes_per_bank = per_bank(graph, own.size_bytes, own.device);
    tts_graph_sums_alloc(&graph->sums, (enum tts_node_memory)own.memory, own.size_bytes,
                         bytes_per_bank);
    if (!find_link(graph, &id))
        return TTS_OK;
    own.id = id;
    if (tts_graph_table_find(&graph->table, id, &known)) {
        compare(graph, &own, &known);
    } else {
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE,
                           "buffer %" PRIu64 " is allocated without a node before", id);
        known = own;
    }
    /* Frees go by the node, but by the device and the pool of what was allocated. */
    known.device = own.device;
    known.pool = own.pool;
    known.is_allocated = true;
    enum tts_status status = put(graph, &known, err);
    if (status == TTS_OK)
        make_alloc(graph, &own, bytes_per_bank);
    return status;
}

void tts_graph_deallocate(struct tts_graph *graph)
{
    const struct tts_graph_node *node = &graph->node;
    struct tts_graph_buffer known;
    struct tts_error why;
    uint64_t id, bytes_per_bank = 0;
    if (!find_link(graph, &id))
        return;
    if (!tts_graph_table_find(&graph->table, id, &known)) {
        tts_graph_add_note(graph, TTS_GRAPH_FREE_OF_NOTHING,
                           "a free of buffer %" PRIu64 ", which is not known or was freed", id);
        return;
    }
    tts_graph_table_remove(&graph->table, id);
    enum tts_node_memory own =
        memory_of(node, pool_of(node) > TTS_POOLS ? known.pool : pool_of(node));
    if (own != TTS_NODE_DRAM || known.pool == TTS_POOL_L1 || known.pool == TTS_POOL_L1_SMALL)
        bytes_per_bank = per_bank(graph, known.size_bytes, known.device);
    tts_graph_sums_free(&graph->sums, (enum tts_node_memory)known.memory, known.size_bytes, own,
                        bytes_per_bank);
    if (known.pool >= TTS_POOLS)
        return;
    struct tts_event *event =
        tts_graph_new_event(graph, TTS_EVENT_FREE, graph->devices.device[known.device].id);
    event->pool = (enum tts_pool)known.pool;
    event->id = id;
    event->size_bytes = known.size_bytes;
    event->bytes_per_bank = bytes_per_bank;
    if (TTS_UNLIKELY(tts_event_check(event, &why) != TTS_OK))
        tts_graph_drop_event(graph, why.text);
}
