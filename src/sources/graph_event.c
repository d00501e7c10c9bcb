#include "sources/graph_inside.h"

#include "base/compiler.h"
#include "base/error.h"
#include "model/fold.h"
#include "model/ophelper.h"
#include "model/opnames.h"

#include <inttypes.h>
#include <string.h>

/* ---- operations ---- */

static const struct tts_graph_frame *innermost(const struct tts_graph *graph)
{
    uint64_t depth = graph->sums.depth < TTS_GRAPH_DEPTH ? graph->sums.depth : TTS_GRAPH_DEPTH;
    return depth > 0 ? &graph->frames[depth - 1] : NULL;
}

struct tts_event *tts_graph_new_event(struct tts_graph *graph, enum tts_event_kind kind,
                                      uint32_t device)
{
    const struct tts_graph_frame *frame = innermost(graph);
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

void tts_graph_drop_event(struct tts_graph *graph, const char *why)
{
    graph->has_event = false;
    tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "%s", why);
}

/* Nodes have durations, but no times. A function starts when the one before it ended, or with
 * the function around it; it ends a duration later. The clock never falls. */
static void advance_clock(struct tts_graph *graph, uint64_t start_ns)
{
    uint64_t end_ns;
    const struct tts_graph_node *node = &graph->node;
    if (tts_node_has(node, TTS_NODE_DURATION) &&
        !__builtin_add_overflow(start_ns, node->value[TTS_NODE_DURATION], &end_ns) &&
        end_ns <= INT64_MAX && end_ns > graph->clock_ns)
        graph->clock_ns = end_ns;
}

/* The one that was put on the frames last, if there was room; else it is told all the same. */
static void begin_op(struct tts_graph *graph)
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
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a function without a name");
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
    struct tts_event *event = tts_graph_new_event(graph, TTS_EVENT_OP_BEGIN, 0);
    event->name = op.name;
    event->name_len = op.name_len;
    graph->item.op = op;
    graph->item.thread = 1;
}

/* ---- devices ---- */

bool tts_graph_find_device(struct tts_graph *graph, enum tts_graph_role role, uint16_t *out)
{
    const struct tts_graph_node *node = &graph->node;
    uint64_t number = tts_node_has(node, TTS_NODE_DEVICE) ? node->value[TTS_NODE_DEVICE] : 0;
    uint64_t most = graph->devices.is_split ? INT32_MAX : UINT32_MAX;
    if (tts_node_is_bad(node, TTS_NODE_DEVICE) || number > most) {
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a device_id that cannot be");
        return false;
    }
    *out = tts_graph_device(&graph->devices,
                            tts_graph_device_id(&graph->devices, (uint32_t)number, role));
    if (*out == TTS_GRAPH_NO_DEVICE)
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a device more than the %d that are kept",
                           TTS_GRAPH_DEVICES);
    return *out != TTS_GRAPH_NO_DEVICE;
}

/* ---- programs ---- */

static void note_mesh(struct tts_graph *graph, uint32_t chip)
{
    tts_graph_add_note(graph, TTS_GRAPH_WHICH_MESH,
                       "device %" PRIu32
                       " has circular buffers: of which mesh it is, or whether "
                       "it is one, cannot be told",
                       chip);
}

static void read_pairs(struct tts_graph *graph)
{
    const struct tts_graph_node *node = &graph->node;
    for (uint32_t i = 0; i < node->pair_count; i++)
        if (!tts_graph_devices_pair(&graph->devices, &node->pairs[i]))
            note_mesh(graph, node->pairs[i].chip);
}

static void start_program(struct tts_graph *graph)
{
    uint16_t device;
    if (!tts_graph_find_device(graph, TTS_GRAPH_PROGRAM, &device))
        return;
    tts_graph_devices_program(&graph->devices, device);
    tts_graph_new_event(graph, TTS_EVENT_PROGRAM, graph->devices.device[device].id);
}

static bool is_borrowed(struct tts_graph *graph)
{
    const struct tts_graph_node *node = &graph->node;
    uint64_t flag = tts_node_has(node, TTS_NODE_BORROWED) ? node->value[TTS_NODE_BORROWED] : 0;
    if (tts_node_is_bad(node, TTS_NODE_BORROWED) || flag > 1)
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a flag that is neither 0 nor 1");
    return flag == 1 && node->type != TTS_NODE_SCRATCHPAD_ALLOCATE;
}

static void add_part(struct tts_graph *graph, enum tts_event_kind kind)
{
    const struct tts_graph_node *node = &graph->node;
    struct tts_error why;
    uint16_t device;
    if (!tts_graph_is_size_good(node)) {
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a %s of a size that cannot be",
                           tts_event_kind_name(kind));
        return;
    }
    bool borrowed = is_borrowed(graph);
    tts_graph_sums_part(&graph->sums, node->type, node->value[TTS_NODE_SIZE], borrowed);
    if (!tts_graph_find_device(graph, TTS_GRAPH_PART, &device))
        return;
    struct tts_event *event =
        tts_graph_new_event(graph, kind, graph->devices.device[device].id);
    event->size_bytes = node->value[TTS_NODE_SIZE];
    event->borrowed = borrowed;
    event->ranges = node->ranges;
    event->range_count = node->range_count;
    if (node->has_bad_ranges)
        tts_graph_drop_event(graph, "a core_range_set that cannot be read, or is too long");
    else if (tts_event_check(event, &why) != TTS_OK)
        tts_graph_drop_event(graph, why.text);
    else if (!tts_graph_devices_part(&graph->devices, device))
        note_mesh(graph, graph->devices.device[device].id);
}

/* ---- nodes ---- */

static void check_node(struct tts_graph *graph)
{
    const struct tts_graph_node *node = &graph->node;
    if (TTS_UNLIKELY(!tts_node_has(node, TTS_NODE_COUNTER) ||
                     node->value[TTS_NODE_COUNTER] != graph->node_idx))
        tts_graph_add_note(graph, TTS_GRAPH_OUT_OF_ORDER, "a counter that is not its place");
    if (TTS_UNLIKELY(node->is_doubled))
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE,
                           "a key stands twice: the last one counts");
    if (TTS_UNLIKELY(!node->has_type))
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "a node without a node_type");
    else if (TTS_UNLIKELY(node->type == TTS_NODE_UNKNOWN))
        tts_graph_add_note(graph, TTS_GRAPH_UNKNOWN_NODE, "unknown node_type '%s'",
                           node->type_text);
}

static void end_op(struct tts_graph *graph)
{
    if (graph->sums.depth == 0) {
        tts_graph_add_note(graph, TTS_GRAPH_UNCLOSED, "a function ends that did not begin");
        return;
    }
    const struct tts_graph_frame *frame = innermost(graph);
    advance_clock(graph,
                  graph->sums.depth <= TTS_GRAPH_DEPTH ? frame->start_ns : graph->clock_ns);
    tts_graph_new_event(graph, TTS_EVENT_OP_END, 0);
    graph->item.thread = 1;
}

enum tts_status tts_graph_apply(struct tts_graph *graph, struct tts_error *err)
{
    enum tts_node_type type = graph->node.type;
    check_node(graph);
    if (type == TTS_NODE_FUNCTION_END)
        end_op(graph); /* in the operation that ends */
    tts_graph_sums_node(&graph->sums, type);
    switch (type) {
    case TTS_NODE_FUNCTION_START:
        begin_op(graph);
        break;
    case TTS_NODE_BUFFER:
        return tts_graph_know(graph, err);
    case TTS_NODE_BUFFER_ALLOCATE:
        return tts_graph_allocate(graph, err);
    case TTS_NODE_BUFFER_DEALLOCATE:
        tts_graph_deallocate(graph);
        break;
    case TTS_NODE_CB_ALLOCATE:
        add_part(graph, TTS_EVENT_CB);
        break;
    case TTS_NODE_DFB_ALLOCATE:
        add_part(graph, TTS_EVENT_DFB);
        break;
    case TTS_NODE_SCRATCHPAD_ALLOCATE:
        add_part(graph, TTS_EVENT_SCRATCHPAD);
        break;
    case TTS_NODE_CB_DEALLOCATE_ALL:
        start_program(graph);
        break;
    case TTS_NODE_TENSOR:
        read_pairs(graph);
        break;
    case TTS_NODE_CAPTURE_END:
        advance_clock(graph, 0);
        break;
    case TTS_NODE_UNKNOWN:
    case TTS_NODE_CAPTURE_START:
    case TTS_NODE_FUNCTION_END:
        break;
    }
    return TTS_OK;
}
