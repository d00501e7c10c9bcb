#include "sources/graph/graph.h"

#include "base/compiler.h"
#include "base/error.h"
#include "base/heap.h"
#include "model/devicename.h"
#include "model/fold.h"
#include "model/ophelper.h"
#include "model/opnames.h"
#include "sources/graph/graph_devices.h"
#include "sources/graph/graph_node.h"
#include "sources/graph/graph_table.h"
#include "sources/json_pull.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The running sums behind the figures. Each node changes them as the runtime's own functions
 * would. All fields are zero at the start. */
struct tts_graph_sums {
    struct tts_graph_figures figures;
    int64_t dram_bytes;
    int64_t cb_bytes, dfb_bytes, scratchpad_bytes, l1_bytes, total_bytes;
    int64_t legacy_program_bytes, legacy_buffer_bytes;
    uint64_t depth; /* number of open functions */
    /* True from a top-level function_start until the first node that is not an L1 buffer or a
     * tensor: the nodes in between are the inputs of the function. */
    bool takes_inputs;
};

enum { LOOK_FIRST_BYTES = 128 * 1024 };

struct tts_graph_frame {
    uint64_t hash;
    uint64_t start_ns;
    /* Index of the frame that the events in this function are attributed to. For a helper
     * function this is the frame around it (model/ophelper.h). */
    uint16_t owner;
    uint8_t len;
    char name[TTS_OP_NAME_MAX];
};

enum tts_graph_state {
    TTS_GRAPH_STARTS,
    TTS_GRAPH_NODES, /* reading the array of nodes */
    TTS_GRAPH_CUTS,
    TTS_GRAPH_ENDS,
    TTS_GRAPH_TAIL, /* reading the rest of the report, after the array */
    TTS_GRAPH_DONE,
};

struct tts_graph {
    struct tts_jsonpull *json;
    struct tts_jsonpull_source source;
    unsigned char *ahead; /* the first bytes of the input; NULL if the caller keeps them */
    size_t ahead_bytes;   /* capacity of `ahead` */
    tts_jsonpull_fn on_read;
    void *on_read_ctx;
    enum tts_graph_state state;
    bool is_report;
    bool has_node;  /* `node` was read and is not yet applied */
    bool has_event; /* `item` holds an event, which is returned after the chips that are due */
    bool is_broken; /* a call failed: every later call returns `broken` */
    struct tts_error broken;
    bool has_times;
    /* Time since the capture began: the sum of the durations that are known. */
    uint64_t clock_ns;
    uint64_t node_idx; /* index of `node` */
    uint64_t seq;
    struct tts_graph_node node;
    struct tts_item item;
    struct tts_graph_sums sums;
    struct tts_graph_table table;
    struct tts_graph_devices devices;
    struct tts_graph_note notes[TTS_GRAPH_NOTES];
    /* The open functions, outermost first. Functions deeper than TTS_GRAPH_DEPTH have no
     * frame. */
    struct tts_graph_frame frames[TTS_GRAPH_DEPTH];
    const struct tts_alloc *alloc;
};

/* ---- figures ---- */

/* Adds to a sum. The result is limited to INT64_MAX; no device has that much memory. */
static void add_bytes(int64_t *sum, uint64_t bytes)
{
    assert(bytes <= INT64_MAX);
    if (__builtin_add_overflow(*sum, (int64_t)bytes, sum))
        *sum = INT64_MAX;
}

/* Subtracts from a sum; the result is at least 0. Returns the amount that was subtracted. */
static uint64_t take_bytes(int64_t *sum, uint64_t bytes)
{
    assert(*sum >= 0);
    uint64_t taken = bytes < (uint64_t)*sum ? bytes : (uint64_t)*sum;
    *sum -= (int64_t)taken;
    return taken;
}

static void raise_peak(int64_t *peak, int64_t value)
{
    if (*peak < value)
        *peak = value;
}

static void raise_legacy_peak(struct tts_graph_sums *sums)
{
    uint64_t bytes = (uint64_t)sums->legacy_program_bytes + (uint64_t)sums->legacy_buffer_bytes;
    if (sums->figures.legacy_l1_peak_bytes < bytes)
        sums->figures.legacy_l1_peak_bytes = bytes;
}

static void sum_program_end(struct tts_graph_sums *sums)
{
    take_bytes(&sums->total_bytes, (uint64_t)sums->cb_bytes);
    take_bytes(&sums->total_bytes, (uint64_t)sums->dfb_bytes);
    take_bytes(&sums->total_bytes, (uint64_t)sums->scratchpad_bytes);
    sums->cb_bytes = sums->dfb_bytes = sums->scratchpad_bytes = 0;
    sums->legacy_program_bytes = 0;
}

/* Counts a node of any type. Called before the function that counts the details of the node. */
static void sum_node(struct tts_graph_sums *sums, enum tts_node_type type)
{
    sums->figures.nodes++;
    /* The inputs are L1 buffers and tensors. The first node of another type ends them. */
    if (type != TTS_NODE_BUFFER && type != TTS_NODE_TENSOR)
        sums->takes_inputs = false;
    if (type == TTS_NODE_TENSOR) {
        sums->figures.tensors++;
    } else if (type == TTS_NODE_FUNCTION_START) {
        sums->figures.functions++;
        sums->takes_inputs = sums->depth == 0;
        sums->depth++;
    } else if (type == TTS_NODE_FUNCTION_END) {
        sums->depth -= sums->depth > 0;
    } else if (type == TTS_NODE_CB_DEALLOCATE_ALL) {
        sum_program_end(sums);
    }
}

/* Counts a `buffer` node. Only the L1 inputs of a top-level function change a sum. */
static void sum_buffer(struct tts_graph_sums *sums, enum tts_node_memory memory,
                       uint64_t size_bytes)
{
    sums->takes_inputs = sums->takes_inputs && memory == TTS_NODE_L1;
    if (!sums->takes_inputs)
        return;
    add_bytes(&sums->legacy_buffer_bytes, size_bytes);
    raise_legacy_peak(sums);
}

/* Counts an allocation. All values come from its own node; `per_bank_bytes` is the size of the
 * buffer on one core. */
static void sum_alloc(struct tts_graph_sums *sums, enum tts_node_memory memory,
                      uint64_t size_bytes, uint64_t per_bank_bytes)
{
    struct tts_graph_figures *figures = &sums->figures;
    if (memory == TTS_NODE_L1) {
        add_bytes(&sums->legacy_buffer_bytes, size_bytes);
        raise_legacy_peak(sums);
    }
    if (memory == TTS_NODE_DRAM) {
        add_bytes(&sums->dram_bytes, size_bytes);
        add_bytes(&figures->dram_allocated_bytes, size_bytes);
        raise_peak(&figures->dram_peak_bytes, sums->dram_bytes);
        return;
    }
    add_bytes(&sums->l1_bytes, per_bank_bytes);
    add_bytes(&sums->total_bytes, per_bank_bytes);
    raise_peak(&figures->peak_l1_bytes, sums->l1_bytes);
    raise_peak(&figures->peak_total_bytes, sums->total_bytes);
}

/* Counts a free. `memory` and `size_bytes` come from the freed buffer; `own_memory` and
 * `per_bank_bytes` come from the node of the free. */
static void sum_free(struct tts_graph_sums *sums, enum tts_node_memory memory,
                     uint64_t size_bytes, enum tts_node_memory own_memory,
                     uint64_t per_bank_bytes)
{
    if (memory == TTS_NODE_DRAM) {
        add_bytes(&sums->figures.dram_freed_bytes, size_bytes);
        if (__builtin_sub_overflow(sums->dram_bytes, (int64_t)size_bytes, &sums->dram_bytes))
            sums->dram_bytes = INT64_MIN;
    }
    if (memory == TTS_NODE_L1)
        take_bytes(&sums->legacy_buffer_bytes, size_bytes);
    /* A buffer that was allocated before the capture is not in the sums, so a sum may be
     * smaller than the freed size. */
    if (own_memory != TTS_NODE_DRAM)
        take_bytes(&sums->total_bytes, take_bytes(&sums->l1_bytes, per_bank_bytes));
}

/* Counts a circular buffer, a dataflow buffer or a scratchpad. */
static void sum_part(struct tts_graph_sums *sums, enum tts_node_type type, uint64_t size_bytes,
                     bool is_borrowed)
{
    struct tts_graph_figures *figures = &sums->figures;
    if (!is_borrowed || type == TTS_NODE_CB_ALLOCATE) {
        add_bytes(&sums->legacy_program_bytes, size_bytes);
        raise_legacy_peak(sums);
    }
    if (is_borrowed && type != TTS_NODE_SCRATCHPAD_ALLOCATE)
        return;
    if (type == TTS_NODE_CB_ALLOCATE) {
        add_bytes(&sums->cb_bytes, size_bytes);
        raise_peak(&figures->peak_cb_bytes, sums->cb_bytes);
    } else if (type == TTS_NODE_DFB_ALLOCATE) {
        add_bytes(&sums->dfb_bytes, size_bytes);
        raise_peak(&figures->peak_dfb_bytes, sums->dfb_bytes);
    } else {
        assert(type == TTS_NODE_SCRATCHPAD_ALLOCATE);
        add_bytes(&sums->scratchpad_bytes, size_bytes);
        raise_peak(&figures->peak_scratchpad_bytes, sums->scratchpad_bytes);
    }
    add_bytes(&sums->total_bytes, size_bytes);
    raise_peak(&figures->peak_total_bytes, sums->total_bytes);
}

uint64_t tts_graph_line(const struct tts_graph *graph)
{
    return graph->json ? tts_jsonpull_marked_line(graph->json) : 0;
}

/* Adds a note. Only the first note of each kind keeps its text and place; later ones are
 * counted. */
TTS_PRINTF(3, 4)

static void add_graph_note(struct tts_graph *graph, enum tts_graph_note_kind kind,
                           const char *format, ...)
{
    struct tts_graph_note *note = &graph->notes[kind];
    if (note->count++ > 0)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(note->text, sizeof note->text, format, args);
    va_end(args);
    note->node = graph->node_idx;
    note->line = tts_graph_line(graph);
}

/* ---- operations ---- */

static const struct tts_graph_frame *innermost_frame(const struct tts_graph *graph)
{
    uint64_t depth = graph->sums.depth < TTS_GRAPH_DEPTH ? graph->sums.depth : TTS_GRAPH_DEPTH;
    return depth > 0 ? &graph->frames[depth - 1] : NULL;
}

/* Begins an event of the current operation in graph->item. Returns the event; the caller fills
 * in its other fields. */
static struct tts_event *new_graph_event(struct tts_graph *graph, enum tts_event_kind kind,
                                         uint32_t device)
{
    const struct tts_graph_frame *frame = innermost_frame(graph);
    assert(!graph->has_event);
    if (frame && kind != TTS_EVENT_OP_END)
        frame = &graph->frames[frame->owner];
    graph->has_event = true;
    graph->item =
        (struct tts_item){.kind = TTS_ITEM_EVENT, .event = tts_event_of(kind, device)};
    if (frame)
        graph->item.op = (struct tts_item_op){
            .hash = frame->hash, .name = frame->name, .name_len = frame->len};
    return &graph->item.event;
}

/* Drops the event in graph->item, because the event is invalid, and notes the reason. */
static void drop_graph_event(struct tts_graph *graph, const char *why)
{
    graph->has_event = false;
    add_graph_note(graph, TTS_GRAPH_BAD_NODE, "%s", why);
}

/* Finds the index of the device that the node names; a node without a device means device 0. If
 * the device is invalid, adds a note and returns false. */
static bool find_node_device(struct tts_graph *graph, enum tts_graph_role role, uint16_t *out)
{
    const struct tts_graph_node *node = &graph->node;
    uint64_t number = tts_node_has(node, TTS_NODE_DEVICE) ? node->value[TTS_NODE_DEVICE] : 0;
    uint64_t most = graph->devices.is_split ? INT32_MAX : UINT32_MAX;
    if (tts_node_is_bad(node, TTS_NODE_DEVICE) || number > most) {
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "a node has an invalid 'device_id'");
        return false;
    }
    *out = tts_graph_device(&graph->devices,
                            tts_graph_device_id(&graph->devices, (uint32_t)number, role));
    if (*out == TTS_GRAPH_NO_DEVICE)
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "the trace has more than %d devices",
                       TTS_GRAPH_DEVICES);
    return *out != TTS_GRAPH_NO_DEVICE;
}

/* Advances the clock to the end of the current function. Nodes have a duration but no time, so
 * a function is assumed to start when the previous function ended, or together with the
 * function around it. The clock never goes back. */
static void advance_graph_clock(struct tts_graph *graph, uint64_t start_ns)
{
    uint64_t end_ns;
    const struct tts_graph_node *node = &graph->node;
    if (tts_node_has(node, TTS_NODE_DURATION) &&
        !__builtin_add_overflow(start_ns, node->value[TTS_NODE_DURATION], &end_ns) &&
        end_ns <= INT64_MAX && end_ns > graph->clock_ns)
        graph->clock_ns = end_ns;
}

/* Begins a function. Functions deeper than TTS_GRAPH_DEPTH get an event but no frame. */
static void begin_function(struct tts_graph *graph)
{
    static const char no_name[] = "(no name)";
    const struct tts_graph_node *node = &graph->node;
    const char *name = node->has_name ? node->name : no_name;
    uint8_t len = node->has_name ? node->name_len : sizeof no_name - 1;
    struct tts_item_op op = {
        .hash = tts_opnames_hash(name, len), .name = name, .name_len = len};
    uint64_t depth = graph->sums.depth;
    assert(depth > 0);
    if (!node->has_name)
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "a function has no name");
    if (depth <= TTS_GRAPH_DEPTH) {
        struct tts_graph_frame *frame = &graph->frames[depth - 1];
        *frame = (struct tts_graph_frame){.hash = op.hash,
                                          .start_ns = graph->clock_ns,
                                          .owner = (uint16_t)(depth - 1),
                                          .len = len};
        if (depth > 1 && tts_op_is_helper(name, len))
            frame->owner = graph->frames[depth - 2].owner;
        memcpy(frame->name, name, len);
        op.name = frame->name;
    }
    struct tts_event *event = new_graph_event(graph, TTS_EVENT_OP_BEGIN, 0);
    event->name = op.name;
    event->name_len = op.name_len;
    graph->item.op = op;
    graph->item.thread = 1;
}

static void end_function(struct tts_graph *graph)
{
    if (graph->sums.depth == 0) {
        add_graph_note(graph, TTS_GRAPH_UNCLOSED,
                       "the trace has the end of a function but not its beginning");
        return;
    }
    const struct tts_graph_frame *frame = innermost_frame(graph);
    advance_graph_clock(graph, graph->sums.depth <= TTS_GRAPH_DEPTH ? frame->start_ns
                                                                    : graph->clock_ns);
    new_graph_event(graph, TTS_EVENT_OP_END, 0);
    graph->item.thread = 1;
}

/* ---- programs ---- */

static void note_which_mesh(struct tts_graph *graph, uint32_t chip)
{
    add_graph_note(graph, TTS_GRAPH_WHICH_MESH,
                   "device %" PRIu32 " has circular buffers, but its mesh is unknown", chip);
}

static void apply_pairs(struct tts_graph *graph)
{
    const struct tts_graph_node *node = &graph->node;
    for (uint32_t i = 0; i < node->pair_count; i++)
        if (!tts_graph_devices_pair(&graph->devices, &node->pairs[i]))
            note_which_mesh(graph, node->pairs[i].chip);
}

static void apply_program(struct tts_graph *graph)
{
    uint16_t device;
    if (!find_node_device(graph, TTS_GRAPH_PROGRAM, &device))
        return;
    tts_graph_devices_program(&graph->devices, device);
    new_graph_event(graph, TTS_EVENT_PROGRAM, graph->devices.device[device].id);
}

static inline bool is_size_good(const struct tts_graph_node *node)
{
    return tts_node_has(node, TTS_NODE_SIZE) &&
           node->value[TTS_NODE_SIZE] <= TTS_GRAPH_SIZE_MAX;
}

static bool is_part_borrowed(struct tts_graph *graph)
{
    const struct tts_graph_node *node = &graph->node;
    uint64_t flag = tts_node_has(node, TTS_NODE_BORROWED) ? node->value[TTS_NODE_BORROWED] : 0;
    if (tts_node_is_bad(node, TTS_NODE_BORROWED) || flag > 1)
        add_graph_note(
            graph, TTS_GRAPH_BAD_NODE,
            "a node has an invalid 'borrows_memory' or 'globally_allocated', expected 0 or 1");
    return flag == 1 && node->type != TTS_NODE_SCRATCHPAD_ALLOCATE;
}

static void apply_part(struct tts_graph *graph, enum tts_event_kind kind)
{
    const struct tts_graph_node *node = &graph->node;
    struct tts_error why;
    uint16_t device;
    if (!is_size_good(node)) {
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "a node of type '%s' has an invalid size",
                       tts_event_kind_name(kind));
        return;
    }
    bool borrowed = is_part_borrowed(graph);
    sum_part(&graph->sums, node->type, node->value[TTS_NODE_SIZE], borrowed);
    if (!find_node_device(graph, TTS_GRAPH_PART, &device))
        return;
    struct tts_event *event = new_graph_event(graph, kind, graph->devices.device[device].id);
    event->size_bytes = node->value[TTS_NODE_SIZE];
    event->borrowed = borrowed;
    event->ranges = node->ranges;
    event->range_count = node->range_count;
    if (node->has_bad_ranges)
        drop_graph_event(graph, "'core_range_set' is invalid or too long");
    else if (tts_event_check(event, &why) != TTS_OK)
        drop_graph_event(graph, why.text);
    else if (!tts_graph_devices_part(&graph->devices, device))
        note_which_mesh(graph, graph->devices.device[device].id);
}

/* ---- buffers ---- */

/* Returns the pool of the node's buffer, TTS_POOLS if the buffer is in host memory, or
 * TTS_POOLS + 1 if the pool is unknown. */
static uint8_t node_pool(const struct tts_graph_node *node)
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

/* Returns the memory that the key "type" names. If the key is absent, the pool determines the
 * memory. */
static enum tts_node_memory node_memory(const struct tts_graph_node *node, uint8_t pool)
{
    if (node->memory != TTS_NODE_NO_MEMORY)
        return node->memory;
    return pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE ? TTS_NODE_DRAM : TTS_NODE_L1;
}

/* Reads the buffer that the node describes, without its id. If the node is invalid, adds a note
 * and returns false. */
static bool read_buffer(struct tts_graph *graph, struct tts_graph_buffer *out)
{
    const struct tts_graph_node *node = &graph->node;
    uint16_t device;
    if (!is_size_good(node)) {
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "a buffer %s",
                       tts_node_has(node, TTS_NODE_SIZE) || tts_node_is_bad(node, TTS_NODE_SIZE)
                           ? "has an invalid size"
                           : "has no size");
        return false;
    }
    uint8_t pool = node_pool(node);
    if (pool > TTS_POOLS) {
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "a buffer has no pool");
        return false;
    }
    if (!find_node_device(graph, TTS_GRAPH_BUFFER, &device))
        return false;
    *out = (struct tts_graph_buffer){.size_bytes = node->value[TTS_NODE_SIZE],
                                     .device = (uint8_t)device,
                                     .pool = pool,
                                     .memory = (uint8_t)node_memory(node, pool)};
    enum tts_node_memory by_pool =
        pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE ? TTS_NODE_DRAM : TTS_NODE_L1;
    if (out->memory != by_pool)
        add_graph_note(graph, TTS_GRAPH_BAD_NODE,
                       "'type' and 'buffer_type' of a buffer disagree");
    return true;
}

/* Reads the id of the buffer that the node refers to, which is the first of its connections. If
 * there is none, adds a note and returns false. */
static bool find_linked_buffer(struct tts_graph *graph, uint64_t *id)
{
    const struct tts_graph_node *node = &graph->node;
    *id = node->value[TTS_NODE_LINK];
    if (tts_node_has(node, TTS_NODE_LINK) && *id <= TTS_GRAPH_ID_MAX)
        return true;
    add_graph_note(graph, TTS_GRAPH_BAD_NODE,
                   "a node has 'connections' that do not name a buffer");
    return false;
}

static uint64_t divide_pages_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* Returns the bytes that the fullest of `banks` banks holds of a buffer of `size` bytes. Counts
 * whole pages, as the runtime did before it wrote max_size_per_bank, and does not round up to
 * the alignment. */
static uint64_t bank_share(uint64_t size, uint64_t page, uint64_t banks)
{
    assert(page > 0 && banks > 0);
    uint64_t bytes;
    if (__builtin_mul_overflow(divide_pages_up(divide_pages_up(size, page), banks), page,
                               &bytes))
        return size;
    return bytes < TTS_EVENT_BYTES_MAX ? bytes : size;
}

/* Returns the bytes that the node's buffer occupies on the fullest core. `size` is the size of
 * the whole buffer; it is returned, with a note, if the node tells no more. */
static uint64_t core_bytes(struct tts_graph *graph, uint64_t size, uint16_t device)
{
    const struct tts_graph_node *node = &graph->node;
    uint64_t own = node->value[TTS_NODE_PER_BANK];
    if (TTS_LIKELY(tts_node_has(node, TTS_NODE_PER_BANK) && own > 0 &&
                   own <= TTS_EVENT_BYTES_MAX))
        return own;
    if (tts_node_is_bad(node, TTS_NODE_PER_BANK) ||
        (tts_node_has(node, TTS_NODE_PER_BANK) && own > TTS_EVENT_BYTES_MAX))
        add_graph_note(graph, TTS_GRAPH_BAD_NODE,
                       "a buffer has an invalid 'max_size_per_bank'");
    bool has_page =
        tts_node_has(node, TTS_NODE_PAGE_SIZE) && node->value[TTS_NODE_PAGE_SIZE] > 0;
    uint64_t cores = tts_node_has(node, TTS_NODE_CORES) ? node->value[TTS_NODE_CORES] : 0;
    uint64_t banks = cores > 0 ? cores : graph->devices.device[device].l1_banks;
    if (has_page && banks > 0)
        return bank_share(size, node->value[TTS_NODE_PAGE_SIZE], banks);
    graph->sums.figures.l1_is_whole_buffers = true;
    add_graph_note(graph, TTS_GRAPH_NO_BANKS,
                   "an L1 buffer has no 'max_size_per_bank'; the full size is counted");
    return size;
}

/* Copies the address, page size and number of cores of the request to the event. Invalid values
 * are left out and noted. */
static void set_event_request(struct tts_graph *graph, struct tts_event *event)
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
        add_graph_note(graph, TTS_GRAPH_BAD_NODE,
                       "a buffer has an invalid 'address', 'page_size' or 'num_cores'");
}

static enum tts_status put_known_buffer(struct tts_graph *graph,
                                        const struct tts_graph_buffer *buffer,
                                        struct tts_error *err)
{
    enum tts_status status = tts_graph_table_put(&graph->table, buffer);
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, TTS_TEXT_NOMEM " for %zu buffers",
                             graph->table.count + 1);
    if (status == TTS_E_RANGE)
        return tts_error_set(err, status, "the trace has more than %d live buffers",
                             TTS_GRAPH_BUFFERS_MAX);
    return status;
}

/* Handles a `buffer` node: enters its buffer into the table. A later node may allocate the
 * buffer, or none. */
static enum tts_status know_buffer(struct tts_graph *graph, struct tts_error *err)
{
    const struct tts_graph_node *node = &graph->node;
    struct tts_graph_buffer buffer, before;
    bool is_good = read_buffer(graph, &buffer);
    sum_buffer(&graph->sums, is_good ? (enum tts_node_memory)buffer.memory : node->memory,
               is_good ? buffer.size_bytes : 0);
    if (!is_good)
        return TTS_OK;
    buffer.id =
        tts_node_has(node, TTS_NODE_COUNTER) ? node->value[TTS_NODE_COUNTER] : graph->node_idx;
    if (buffer.id > TTS_GRAPH_ID_MAX) {
        add_graph_note(graph, TTS_GRAPH_BAD_NODE,
                       "the 'counter' of a buffer is too large; the buffer is left out");
        return TTS_OK;
    }
    if (tts_graph_table_find(&graph->table, buffer.id, &before)) {
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "two buffers have the same 'counter'");
        return TTS_OK;
    }
    if (buffer.pool < TTS_POOLS)
        tts_graph_devices_buffer(&graph->devices, buffer.device);
    return put_known_buffer(graph, &buffer, err);
}

static void make_alloc_event(struct tts_graph *graph, const struct tts_graph_buffer *buffer,
                             uint64_t bytes_per_bank)
{
    struct tts_error why;
    if (buffer->pool >= TTS_POOLS)
        return;
    struct tts_event *event =
        new_graph_event(graph, TTS_EVENT_ALLOC, graph->devices.device[buffer->device].id);
    event->pool = (enum tts_pool)buffer->pool;
    event->id = buffer->id;
    event->size_bytes = buffer->size_bytes;
    event->bytes_per_bank = bytes_per_bank;
    set_event_request(graph, event);
    tts_graph_devices_buffer(&graph->devices, buffer->device);
    if (TTS_UNLIKELY(tts_event_check(event, &why) != TTS_OK))
        drop_graph_event(graph, why.text);
}

/* Adds a note if the allocation of a buffer contradicts its `buffer` node. The figures and the
 * events then disagree. */
static void compare_buffers(struct tts_graph *graph, const struct tts_graph_buffer *own,
                            const struct tts_graph_buffer *known)
{
    if (known->is_allocated)
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "buffer %" PRIu64 " is allocated twice",
                       own->id);
    else if (own->size_bytes != known->size_bytes || own->pool != known->pool ||
             own->memory != known->memory || own->device != known->device)
        add_graph_note(graph, TTS_GRAPH_BAD_NODE,
                       "the allocation of buffer %" PRIu64
                       " differs from the 'buffer' node with the same number",
                       own->id);
}

static enum tts_status allocate_buffer(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_graph_buffer own, known;
    uint64_t id, bytes_per_bank = 0;
    if (!read_buffer(graph, &own))
        return TTS_OK;
    if (own.memory != TTS_NODE_DRAM || own.pool == TTS_POOL_L1 || own.pool == TTS_POOL_L1_SMALL)
        bytes_per_bank = core_bytes(graph, own.size_bytes, own.device);
    sum_alloc(&graph->sums, (enum tts_node_memory)own.memory, own.size_bytes, bytes_per_bank);
    if (!find_linked_buffer(graph, &id))
        return TTS_OK;
    own.id = id;
    if (tts_graph_table_find(&graph->table, id, &known)) {
        compare_buffers(graph, &own, &known);
    } else {
        add_graph_note(graph, TTS_GRAPH_BAD_NODE,
                       "buffer %" PRIu64
                       " is allocated, but has no 'buffer' node before the allocation",
                       id);
        known = own;
    }
    /* The free will be counted with the size of the `buffer` node, but with the device and the
     * pool of the allocation. */
    known.device = own.device;
    known.pool = own.pool;
    known.is_allocated = true;
    enum tts_status status = put_known_buffer(graph, &known, err);
    if (status == TTS_OK)
        make_alloc_event(graph, &own, bytes_per_bank);
    return status;
}

static void free_known_buffer(struct tts_graph *graph)
{
    const struct tts_graph_node *node = &graph->node;
    struct tts_graph_buffer known;
    struct tts_error why;
    uint64_t id, bytes_per_bank = 0;
    if (!find_linked_buffer(graph, &id))
        return;
    if (!tts_graph_table_find(&graph->table, id, &known)) {
        add_graph_note(
            graph, TTS_GRAPH_FREE_OF_NOTHING,
            "buffer %" PRIu64 " is freed, but this buffer is unknown or already freed", id);
        return;
    }
    tts_graph_table_remove(&graph->table, id);
    enum tts_node_memory own =
        node_memory(node, node_pool(node) > TTS_POOLS ? known.pool : node_pool(node));
    if (own != TTS_NODE_DRAM || known.pool == TTS_POOL_L1 || known.pool == TTS_POOL_L1_SMALL)
        bytes_per_bank = core_bytes(graph, known.size_bytes, known.device);
    sum_free(&graph->sums, (enum tts_node_memory)known.memory, known.size_bytes, own,
             bytes_per_bank);
    if (known.pool >= TTS_POOLS)
        return;
    struct tts_event *event =
        new_graph_event(graph, TTS_EVENT_FREE, graph->devices.device[known.device].id);
    event->pool = (enum tts_pool)known.pool;
    event->id = id;
    event->size_bytes = known.size_bytes;
    event->bytes_per_bank = bytes_per_bank;
    if (TTS_UNLIKELY(tts_event_check(event, &why) != TTS_OK))
        drop_graph_event(graph, why.text);
}

/* ---- nodes ---- */

static void check_node(struct tts_graph *graph)
{
    const struct tts_graph_node *node = &graph->node;
    if (TTS_UNLIKELY(!tts_node_has(node, TTS_NODE_COUNTER) ||
                     node->value[TTS_NODE_COUNTER] != graph->node_idx))
        add_graph_note(graph, TTS_GRAPH_OUT_OF_ORDER,
                       "the 'counter' of a node differs from the position of the node");
    if (TTS_UNLIKELY(node->is_doubled))
        add_graph_note(graph, TTS_GRAPH_BAD_NODE,
                       "a key of a node appears twice: the last value is used");
    if (TTS_UNLIKELY(!node->has_type))
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "a node has no 'node_type'");
    else if (TTS_UNLIKELY(node->type == TTS_NODE_UNKNOWN))
        add_graph_note(graph, TTS_GRAPH_UNKNOWN_NODE, "unknown node_type '%s'",
                       node->type_text);
}

/* Applies graph->node: counts the figures, adds notes, may put an event into graph->item, and
 * marks the chips that are due. TTS_E_NOMEM: memory ran out. TTS_E_RANGE: too many buffers. */
static enum tts_status apply_node(struct tts_graph *graph, struct tts_error *err)
{
    enum tts_node_type type = graph->node.type;
    check_node(graph);
    /* Must precede sum_node(): the event belongs to the function that ends here. */
    if (type == TTS_NODE_FUNCTION_END)
        end_function(graph);
    sum_node(&graph->sums, type);
    switch (type) {
    case TTS_NODE_FUNCTION_START:
        begin_function(graph);
        break;
    case TTS_NODE_BUFFER:
        return know_buffer(graph, err);
    case TTS_NODE_BUFFER_ALLOCATE:
        return allocate_buffer(graph, err);
    case TTS_NODE_BUFFER_DEALLOCATE:
        free_known_buffer(graph);
        break;
    case TTS_NODE_CB_ALLOCATE:
        apply_part(graph, TTS_EVENT_CB);
        break;
    case TTS_NODE_DFB_ALLOCATE:
        apply_part(graph, TTS_EVENT_DFB);
        break;
    case TTS_NODE_SCRATCHPAD_ALLOCATE:
        apply_part(graph, TTS_EVENT_SCRATCHPAD);
        break;
    case TTS_NODE_CB_DEALLOCATE_ALL:
        apply_program(graph);
        break;
    case TTS_NODE_TENSOR:
        apply_pairs(graph);
        break;
    case TTS_NODE_CAPTURE_END:
        advance_graph_clock(graph, 0);
        break;
    case TTS_NODE_UNKNOWN:
    case TTS_NODE_CAPTURE_START:
    case TTS_NODE_FUNCTION_END:
        break;
    }
    return TTS_OK;
}

static bool is_report_key(const struct tts_jsonpull_token *token, const char *word)
{
    char text[32];
    size_t len = tts_jsonpull_text(token, text, sizeof text);
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* ---- the devices of a report ---- */

struct report_device {
    uint64_t id, banks, l1_bytes;
    bool has_id, has_banks, has_l1;
};

/* Stores the values of an entry of "devices". In a split trace the entry's number may mean a
 * mesh, a chip or both, so both get the values. */
static void keep_report_device(struct tts_graph *graph, const struct report_device *told)
{
    if (!told->has_id || told->id > UINT32_MAX)
        return;
    const uint32_t ids[] = {(uint32_t)told->id, TTS_MESH_ID(told->id)};
    for (int i = 0; i < (graph->devices.is_split ? 2 : 1); i++) {
        uint16_t idx = tts_graph_device(&graph->devices, ids[i]);
        if (idx == TTS_GRAPH_NO_DEVICE)
            return;
        struct tts_graph_device *device = &graph->devices.device[idx];
        if (told->has_banks && told->banks <= UINT32_MAX)
            device->l1_banks = (uint32_t)told->banks;
        if (told->has_l1 && told->l1_bytes <= UINT32_MAX)
            device->l1_bytes = (uint32_t)told->l1_bytes;
    }
}

/* Reads one object of "devices": its number of L1 banks and the L1 size of one core. */
static enum tts_status read_report_device(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    struct report_device told = {0};
    for (;;) {
        enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
        if (status != TTS_OK)
            return status;
        if (token.kind == TTS_JSONPULL_OBJECT_END)
            break;
        bool is_given;
        if (is_report_key(&token, "device_id"))
            status = tts_node_read_number(graph->json, &told.id, &is_given, &told.has_id, err);
        else if (is_report_key(&token, "l1_num_banks"))
            status =
                tts_node_read_number(graph->json, &told.banks, &is_given, &told.has_banks, err);
        else if (is_report_key(&token, "worker_l1_size"))
            status =
                tts_node_read_number(graph->json, &told.l1_bytes, &is_given, &told.has_l1, err);
        else
            status = tts_jsonpull_skip(graph->json, err);
        if (status != TTS_OK)
            return status;
    }
    keep_report_device(graph, &told);
    return TTS_OK;
}

static enum tts_status read_report_devices(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
    if (status != TTS_OK)
        return status;
    if (token.kind != TTS_JSONPULL_ARRAY)
        return tts_jsonpull_finish(graph->json, &token, err);
    for (;;) {
        status = tts_jsonpull_next(graph->json, &token, err);
        if (status != TTS_OK || token.kind == TTS_JSONPULL_ARRAY_END)
            return status;
        status = token.kind == TTS_JSONPULL_OBJECT
                     ? read_report_device(graph, err)
                     : tts_jsonpull_finish(graph->json, &token, err);
        if (status != TTS_OK)
            return status;
    }
}

/* ---- the report ---- */

static enum tts_status refuse_graph(struct tts_graph *graph, const char *why,
                                    struct tts_error *err)
{
    tts_error_set(err, TTS_E_SYNTAX, "not a graph trace: %s", why);
    return tts_jsonpull_at(graph->json, err, TTS_E_SYNTAX);
}

static enum tts_status open_node_array(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
    if (status == TTS_OK && token.kind != TTS_JSONPULL_ARRAY)
        return refuse_graph(graph, "the key 'graph' of the report is not an array", err);
    return status;
}

/* Reads the report up to the beginning of the array of nodes. */
static enum tts_status read_report_head(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
    if (status != TTS_OK || token.kind == TTS_JSONPULL_ARRAY)
        return status;
    if (token.kind != TTS_JSONPULL_OBJECT)
        return refuse_graph(graph, "the JSON is neither an array of nodes nor a report", err);
    graph->is_report = true;
    for (;;) {
        status = tts_jsonpull_next(graph->json, &token, err);
        if (status != TTS_OK)
            return status;
        if (token.kind == TTS_JSONPULL_OBJECT_END)
            return refuse_graph(graph, "the report has no key 'graph'", err);
        if (is_report_key(&token, "graph"))
            return open_node_array(graph, err);
        status = is_report_key(&token, "devices") ? read_report_devices(graph, err)
                                                  : tts_jsonpull_skip(graph->json, err);
        if (status != TTS_OK)
            return status;
    }
}

static enum tts_status read_report_tail(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = TTS_OK;
    while (graph->is_report && status == TTS_OK) {
        status = tts_jsonpull_next(graph->json, &token, err);
        if (status != TTS_OK || token.kind == TTS_JSONPULL_OBJECT_END)
            break;
        if (is_report_key(&token, "graph"))
            add_graph_note(graph, TTS_GRAPH_BAD_NODE,
                           "a second \"graph\" in the report is ignored");
        status = tts_jsonpull_skip(graph->json, err);
    }
    if (status == TTS_OK)
        status = tts_jsonpull_next(graph->json, &token, err);
    assert(status != TTS_OK || token.kind == TTS_JSONPULL_END);
    return status;
}

static enum tts_status read_node(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
    if (TTS_UNLIKELY(status != TTS_OK))
        return status;
    bool is_first = graph->state == TTS_GRAPH_STARTS;
    if (token.kind == TTS_JSONPULL_ARRAY_END) {
        graph->state = TTS_GRAPH_CUTS;
        return TTS_OK;
    }
    tts_jsonpull_mark(graph->json);
    graph->node_idx = graph->sums.figures.nodes;
    if (TTS_UNLIKELY(token.kind != TTS_JSONPULL_OBJECT)) {
        if (is_first) {
            tts_error_set(err, TTS_E_SYNTAX,
                          "not a graph trace: the first element is not a node");
            return tts_jsonpull_at(graph->json, err, TTS_E_SYNTAX);
        }
        add_graph_note(graph, TTS_GRAPH_BAD_NODE, "an element of the graph is not a node");
        sum_node(&graph->sums, TTS_NODE_UNKNOWN);
        return tts_jsonpull_finish(graph->json, &token, err);
    }
    status = tts_node_read(graph->json, &graph->node, err);
    if (status != TTS_OK)
        return status;
    graph->has_node = true;
    return TTS_OK;
}

/* ---- life ---- */

/* Reads until source.before has TTS_GRAPH_LOOK_BYTES or the whole input. Ignores a failed read,
 * because the reader repeats the read later and reports the failure then. */
static enum tts_status read_ahead(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_source *source = &graph->source;
    size_t len = source->before_len, room = LOOK_FIRST_BYTES;
    while ((source->fd >= 0 || source->read) && len < TTS_GRAPH_LOOK_BYTES) {
        while (len >= room)
            room = 2 * room;
        unsigned char *bytes =
            tts_alloc_grow(graph->alloc, graph->ahead, &graph->ahead_bytes, room, 1);
        if (!bytes)
            return tts_error_set(err, TTS_E_NOMEM,
                                 TTS_TEXT_NOMEM " for reading the graph trace");
        if (!graph->ahead && len > 0)
            memcpy(bytes, source->before, len);
        graph->ahead = bytes;
        source->before = bytes;
        size_t got = 0;
        struct tts_error ignored;
        if (tts_jsonpull_read(source, bytes + len, graph->ahead_bytes - len, &got, &ignored) !=
                TTS_OK ||
            got == 0)
            break;
        len += got;
        if (graph->on_read)
            graph->on_read(graph->on_read_ctx, source->before_off + len);
    }
    source->before_len = len;
    return TTS_OK;
}

/* Examines the nodes in source.before. Ignores errors, because the reader finds them again. */
static enum tts_status look_ahead(struct tts_graph *graph, struct tts_graph_look *look,
                                  struct tts_error *err)
{
    size_t len = graph->source.before_len;
    len = len < TTS_GRAPH_LOOK_BYTES ? len : TTS_GRAPH_LOOK_BYTES;
    const struct tts_jsonpull_source first = {.before = graph->source.before,
                                              .before_len = len,
                                              .fd = -1,
                                              .window_bytes = len < TTS_JSONPULL_WINDOW_MIN
                                                                  ? TTS_JSONPULL_WINDOW_MIN
                                                                  : TTS_JSONPULL_WINDOW};
    enum tts_status status = tts_jsonpull_new(&first, graph->alloc, &graph->json, err);
    if (status != TTS_OK)
        return status;
    struct tts_error ignored;
    graph->node.wants_pairs = true;
    graph->state = TTS_GRAPH_NODES;
    status = read_report_head(graph, &ignored);
    while (status == TTS_OK && graph->state == TTS_GRAPH_NODES) {
        status = read_node(graph, &ignored);
        if (status == TTS_OK && graph->has_node)
            tts_graph_look_node(look, &graph->node);
        graph->has_node = false;
    }
    tts_jsonpull_free(graph->json);
    graph->json = NULL;
    return TTS_OK;
}

/* Resets everything except the result of the look ahead. */
static void forget_look(struct tts_graph *graph, const struct tts_graph_look *look)
{
    graph->state = TTS_GRAPH_STARTS;
    graph->is_report = false;
    graph->node_idx = 0;
    memset(&graph->sums, 0, sizeof graph->sums);
    memset(&graph->devices, 0, sizeof graph->devices);
    memset(graph->notes, 0, sizeof graph->notes);
    tts_graph_devices_start(&graph->devices, look);
    graph->has_times = look->has_durations;
    /* Skip the pairs of tensors if they add no information (a single chip) or are not used (the
     * runtime does not dispatch). */
    bool is_undispatched = look->has_zero_address && !look->has_address;
    bool is_single = look->has_pairs && !look->has_spread;
    graph->node.wants_pairs = graph->devices.is_split || (!is_single && !is_undispatched);
}

/* Looks ahead, then prepares to read the input from its beginning. */
static enum tts_status begin_reading(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_graph_look look = {0};
    enum tts_status status = read_ahead(graph, err);
    if (status == TTS_OK)
        status = look_ahead(graph, &look, err);
    if (status != TTS_OK)
        return status;
    forget_look(graph, &look);
    status = tts_jsonpull_new(&graph->source, graph->alloc, &graph->json, err);
    if (status == TTS_OK)
        tts_jsonpull_watch(graph->json, graph->on_read, graph->on_read_ctx);
    return status;
}

/* Returns the size of the UTF-8 byte order mark (U+FEFF) at the start of `bytes`; 0 if there is
 * none. */
static size_t mark_bytes(const unsigned char *bytes, size_t len)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    return len >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0 ? sizeof mark : 0;
}

bool tts_graph_may_be(const unsigned char *bytes, size_t len)
{
    size_t mark = mark_bytes(bytes, len);
    bytes += mark;
    len -= mark;
    while (len > 0 && (*bytes == ' ' || *bytes == '\n' || *bytes == '\r' || *bytes == '\t')) {
        bytes++;
        len--;
    }
    return len > 0 && (*bytes == '[' || *bytes == '{');
}

enum tts_status tts_graph_open_source(const struct tts_jsonpull_source *source,
                                      const struct tts_alloc *alloc, struct tts_graph **out,
                                      struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_graph *graph = alloc->alloc(alloc->ctx, sizeof *graph);
    if (!graph)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for reading the graph trace");
    memset(graph, 0, sizeof *graph);
    graph->alloc = graph->table.alloc = alloc;
    graph->source = *source;
    *out = graph;
    return TTS_OK;
}

enum tts_status tts_graph_open_from(const struct tts_jsonpull_source *source,
                                    const struct tts_alloc *alloc, struct tts_graph **out,
                                    struct tts_error *err)
{
    struct tts_graph *graph;
    size_t mark = mark_bytes(source->before, source->before_len);
    size_t len = source->before_len - mark;
    struct tts_jsonpull_source own = {
        .before_off = mark, .fd = source->fd, .read = source->read, .ctx = source->ctx};
    enum tts_status status = tts_graph_open_source(&own, alloc, &graph, err);
    if (status != TTS_OK)
        return status;
    if (len > 0) {
        graph->ahead = tts_alloc_grow(graph->alloc, NULL, &graph->ahead_bytes, len, 1);
        if (!graph->ahead) {
            tts_graph_close(graph);
            return tts_error_set(err, TTS_E_NOMEM,
                                 TTS_TEXT_NOMEM " for reading the graph trace");
        }
        memcpy(graph->ahead, source->before + mark, len);
        graph->source.before = graph->ahead;
        graph->source.before_len = len;
    }
    *out = graph;
    return TTS_OK;
}

enum tts_status tts_graph_open(int fd, const unsigned char *before, size_t len,
                               const struct tts_alloc *alloc, struct tts_graph **out,
                               struct tts_error *err)
{
    const struct tts_jsonpull_source source = {.before = before, .before_len = len, .fd = fd};
    return tts_graph_open_from(&source, alloc, out, err);
}

void tts_graph_close(struct tts_graph *graph)
{
    if (!graph)
        return;
    const struct tts_alloc *alloc = graph->alloc;
    tts_graph_table_release(&graph->table);
    tts_jsonpull_free(graph->json);
    if (graph->ahead)
        alloc->free(alloc->ctx, graph->ahead, graph->ahead_bytes);
    alloc->free(alloc->ctx, graph, sizeof *graph);
}

void tts_graph_watch(struct tts_graph *graph, void (*fn)(void *ctx, uint64_t bytes), void *ctx)
{
    graph->on_read = fn;
    graph->on_read_ctx = ctx;
    if (graph->json)
        tts_jsonpull_watch(graph->json, fn, ctx);
}

/* ---- questions ---- */

uint64_t tts_graph_node(const struct tts_graph *graph)
{
    return graph->node_idx;
}

uint64_t tts_graph_tell(const struct tts_graph *graph)
{
    return graph->json ? tts_jsonpull_offset(graph->json) : 0;
}

uint64_t tts_graph_core_bytes(const struct tts_graph *graph, uint32_t device)
{
    for (uint16_t i = 0; i < graph->devices.count; i++)
        if (graph->devices.device[i].id == device)
            return graph->devices.device[i].l1_bytes;
    return 0;
}

struct tts_graph_figures tts_graph_figures(const struct tts_graph *graph)
{
    return graph->sums.figures;
}

const struct tts_graph_note *tts_graph_note(const struct tts_graph *graph,
                                            enum tts_graph_note_kind kind)
{
    assert((unsigned)kind < TTS_GRAPH_NOTES);
    return &graph->notes[kind];
}

bool tts_graph_is_valid(const struct tts_graph *graph)
{
    return tts_graph_table_is_valid(&graph->table);
}

/* ---- items ---- */

static void set_item_time(const struct tts_graph *graph, struct tts_item *out)
{
    out->has_time = graph->has_times;
    out->time_ns = graph->clock_ns;
}

static void give_item(struct tts_graph *graph, enum tts_item_kind kind, struct tts_item *out)
{
    *out = (struct tts_item){.kind = kind, .seq = graph->seq, .capture = 1};
    set_item_time(graph, out);
}

static void give_chip(struct tts_graph *graph, struct tts_item *out)
{
    struct tts_graph_devices *devices = &graph->devices;
    uint16_t i = 0;
    while (!devices->device[i].is_due)
        i++;
    assert(i < devices->count);
    devices->device[i].is_due = false;
    devices->due--;
    *out = (struct tts_item){.kind = TTS_ITEM_CHIP,
                             .seq = graph->seq,
                             .device = devices->device[i].id,
                             .mesh = devices->device[devices->device[i].mesh].id};
    set_item_time(graph, out);
}

/* Turns graph->item into the event that ends the program of the next chip. The operation of the
 * item stays that of the current node. */
static void next_ending(struct tts_graph *graph)
{
    struct tts_graph_devices *devices = &graph->devices;
    uint16_t i = 0;
    while (!devices->device[i].is_ending)
        i++;
    assert(i < devices->count);
    devices->device[i].is_ending = false;
    devices->ending--;
    graph->item.event.device = devices->device[i].id;
}

/* Returns the next item that the last node produced. Returns false if there are no more. */
static bool give_pending(struct tts_graph *graph, struct tts_item *out)
{
    if (graph->devices.due > 0) {
        give_chip(graph, out);
        return true;
    }
    if (!graph->has_event && graph->devices.ending == 0)
        return false;
    if (!graph->has_event)
        next_ending(graph);
    graph->has_event = false;
    graph->item.seq = ++graph->seq;
    *out = graph->item;
    set_item_time(graph, out);
    return true;
}

/* ---- reading ---- */

/* Reads the first node. The input is refused if it does not begin like a trace. */
static enum tts_status start_graph(struct tts_graph *graph, struct tts_error *err)
{
    enum tts_status status = begin_reading(graph, err);
    if (status == TTS_OK)
        status = read_report_head(graph, err);
    if (status == TTS_OK)
        status = read_node(graph, err);
    if (status != TTS_OK)
        return status;
    if (graph->state == TTS_GRAPH_CUTS) {
        tts_error_set(err, TTS_E_SYNTAX, "not a graph trace: the file has no node");
        return tts_jsonpull_at(graph->json, err, TTS_E_SYNTAX);
    }
    if (graph->has_node && !graph->node.has_type) {
        tts_error_set(err, TTS_E_SYNTAX,
                      "not a graph trace: the first element has no node_type");
        if (err) {
            err->line = (uint32_t)tts_jsonpull_marked_line(graph->json);
            err->offset = tts_jsonpull_marked_offset(graph->json);
        }
        return TTS_E_SYNTAX;
    }
    if (graph->state == TTS_GRAPH_STARTS)
        graph->state = TTS_GRAPH_NODES;
    return TTS_OK;
}

static void end_nodes(struct tts_graph *graph)
{
    if (graph->sums.depth > 0) {
        add_graph_note(graph, TTS_GRAPH_UNCLOSED, "the trace lacks the end of some functions");
        graph->notes[TTS_GRAPH_UNCLOSED].count += graph->sums.depth - 1;
    }
    tts_assert_expensive(tts_graph_is_valid(graph));
}

/* Reads and applies nodes until an item can be returned or the array ends. */
static enum tts_status advance_to_item(struct tts_graph *graph, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    while (status == TTS_OK && graph->state == TTS_GRAPH_NODES && !graph->has_event &&
           graph->devices.due == 0) {
        if (!graph->has_node)
            status = read_node(graph, err);
        if (status == TTS_OK && graph->has_node) {
            graph->has_node = false;
            status = apply_node(graph, err);
            if (status != TTS_OK)
                tts_jsonpull_at(graph->json, err, status);
        }
    }
    return status;
}

static enum tts_status next_item(struct tts_graph *graph, struct tts_item *out,
                                 struct tts_error *err)
{
    enum tts_status status;
    if (graph->state == TTS_GRAPH_STARTS) {
        status = start_graph(graph, err);
        if (status == TTS_OK)
            give_item(graph, TTS_ITEM_BEGIN, out);
        return status;
    }
    if (give_pending(graph, out))
        return TTS_OK;
    status = advance_to_item(graph, err);
    if (status != TTS_OK)
        return status;
    if (give_pending(graph, out))
        return TTS_OK;
    if (graph->state == TTS_GRAPH_CUTS) {
        end_nodes(graph);
        give_item(graph, TTS_ITEM_CUT, out);
        out->name = TTS_GRAPH_PHASE;
        out->name_len = sizeof TTS_GRAPH_PHASE - 1;
        graph->state = TTS_GRAPH_ENDS;
        return TTS_OK;
    }
    if (graph->state == TTS_GRAPH_ENDS) {
        give_item(graph, TTS_ITEM_END, out);
        graph->state = TTS_GRAPH_TAIL;
        return TTS_OK;
    }
    status = graph->state == TTS_GRAPH_TAIL ? read_report_tail(graph, err) : TTS_OK;
    if (status != TTS_OK)
        return status;
    graph->state = TTS_GRAPH_DONE;
    return TTS_E_NOT_FOUND;
}

enum tts_status tts_graph_next(struct tts_graph *graph, struct tts_item *out,
                               struct tts_error *err)
{
    if (!graph->is_broken) {
        enum tts_status status = next_item(graph, out, &graph->broken);
        if (TTS_LIKELY(status == TTS_OK || status == TTS_E_NOT_FOUND))
            return status;
        graph->is_broken = true;
        graph->has_event = false;
    }
    if (err)
        *err = graph->broken;
    return graph->broken.status;
}
