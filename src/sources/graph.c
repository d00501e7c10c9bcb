#include "sources/graph.h"

#include "base/error.h"
#include "base/heap.h"
#include "sources/graph_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LOOK_FIRST_BYTES = 128 * 1024 };

/* U+FEFF, as some editors put it before UTF-8: how many bytes it has here. */
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

/* The next of the array into graph->node; state becomes TTS_GRAPH_CUTS behind the last. */
static enum tts_status read_node(struct tts_graph *graph, struct tts_error *err);

/* ---- life ---- */

/* Reads on, so that source.before has TTS_GRAPH_LOOK_BYTES or all there is. What cannot be read
 * now fails again when it is read for good. */
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
            return tts_error_set(err, TTS_E_NOMEM, "no memory to read a graph trace");
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

/* Looks at the nodes in source.before. What is wrong there is found again when the nodes are
 * read for good. */
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
    status = tts_graph_read_head(graph, &ignored);
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

/* Forgets all but what the look is for. */
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
    /* Tensors of a single chip say nothing more, and those of no dispatch have no use. */
    bool is_undispatched = look->has_zero_address && !look->has_address;
    bool is_single = look->has_pairs && !look->has_spread;
    graph->node.wants_pairs = graph->devices.is_split || (!is_single && !is_undispatched);
}

/* Looks ahead, and makes ready to read from the beginning. */
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

enum tts_status tts_graph_open_source(const struct tts_jsonpull_source *source,
                                      const struct tts_alloc *alloc, struct tts_graph **out,
                                      struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_graph *graph = alloc->alloc(alloc->ctx, sizeof *graph);
    if (!graph)
        return tts_error_set(err, TTS_E_NOMEM, "no memory to read a graph trace");
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
            return tts_error_set(err, TTS_E_NOMEM, "no memory to read a graph trace");
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

uint64_t tts_graph_line(const struct tts_graph *graph)
{
    return graph->json ? tts_jsonpull_marked_line(graph->json) : 0;
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

bool tts_graph_note_is_bad(enum tts_graph_note_kind kind)
{
    return kind != TTS_GRAPH_UNCLOSED && kind != TTS_GRAPH_NO_BANKS;
}

void tts_graph_add_note(struct tts_graph *graph, enum tts_graph_note_kind kind,
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

/* ---- items ---- */

static void set_time(const struct tts_graph *graph, struct tts_item *out)
{
    out->has_time = graph->has_times;
    out->time_ns = graph->clock_ns;
}

static void give(struct tts_graph *graph, enum tts_item_kind kind, struct tts_item *out)
{
    *out = (struct tts_item){.kind = kind, .seq = graph->seq, .capture = 1};
    set_time(graph, out);
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
    set_time(graph, out);
}

/* The program of a chip ends with that of the node, in the same operation. */
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

/* What the last node came to. False: no more. */
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
    set_time(graph, out);
    return true;
}

/* ---- nodes ---- */

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
            tts_error_set(err, TTS_E_SYNTAX, "not a graph trace: the first element is no node");
            return tts_jsonpull_at(graph->json, err, TTS_E_SYNTAX);
        }
        tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE, "an element that is no node");
        tts_graph_sums_node(&graph->sums, TTS_NODE_UNKNOWN);
        return token.kind == TTS_JSONPULL_ARRAY ? tts_jsonpull_leave(graph->json, err) : TTS_OK;
    }
    status = tts_node_read(graph->json, &graph->node, err);
    if (status != TTS_OK)
        return status;
    graph->has_node = true;
    return TTS_OK;
}

/* The first node decides whether it is a trace at all. */
static enum tts_status start(struct tts_graph *graph, struct tts_error *err)
{
    enum tts_status status = begin_reading(graph, err);
    if (status == TTS_OK)
        status = tts_graph_read_head(graph, err);
    if (status == TTS_OK)
        status = read_node(graph, err);
    if (status != TTS_OK)
        return status;
    if (graph->state == TTS_GRAPH_CUTS) {
        tts_error_set(err, TTS_E_SYNTAX, "not a graph trace: it has no node");
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
        tts_graph_add_note(graph, TTS_GRAPH_UNCLOSED, "functions begin that do not end");
        graph->notes[TTS_GRAPH_UNCLOSED].count += graph->sums.depth - 1;
    }
    tts_assert_expensive(tts_graph_table_is_valid(&graph->table));
}

/* Up to the next thing to tell. */
static enum tts_status advance(struct tts_graph *graph, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    while (status == TTS_OK && graph->state == TTS_GRAPH_NODES && !graph->has_event &&
           graph->devices.due == 0) {
        if (!graph->has_node)
            status = read_node(graph, err);
        if (status == TTS_OK && graph->has_node) {
            graph->has_node = false;
            status = tts_graph_apply(graph, err);
            if (status != TTS_OK)
                tts_jsonpull_at(graph->json, err, status);
        }
    }
    return status;
}

static enum tts_status next(struct tts_graph *graph, struct tts_item *out,
                            struct tts_error *err)
{
    enum tts_status status;
    if (graph->state == TTS_GRAPH_STARTS) {
        status = start(graph, err);
        if (status == TTS_OK)
            give(graph, TTS_ITEM_BEGIN, out);
        return status;
    }
    if (give_pending(graph, out))
        return TTS_OK;
    status = advance(graph, err);
    if (status != TTS_OK)
        return status;
    if (give_pending(graph, out))
        return TTS_OK;
    if (graph->state == TTS_GRAPH_CUTS) {
        end_nodes(graph);
        give(graph, TTS_ITEM_CUT, out);
        out->name = TTS_GRAPH_PHASE;
        out->name_len = sizeof TTS_GRAPH_PHASE - 1;
        graph->state = TTS_GRAPH_ENDS;
        return TTS_OK;
    }
    if (graph->state == TTS_GRAPH_ENDS) {
        give(graph, TTS_ITEM_END, out);
        graph->state = TTS_GRAPH_TAIL;
        return TTS_OK;
    }
    status = graph->state == TTS_GRAPH_TAIL ? tts_graph_read_tail(graph, err) : TTS_OK;
    if (status != TTS_OK)
        return status;
    graph->state = TTS_GRAPH_DONE;
    return TTS_E_NOT_FOUND;
}

enum tts_status tts_graph_next(struct tts_graph *graph, struct tts_item *out,
                               struct tts_error *err)
{
    if (!graph->is_broken) {
        enum tts_status status = next(graph, out, &graph->broken);
        if (TTS_LIKELY(status == TTS_OK || status == TTS_E_NOT_FOUND))
            return status;
        graph->is_broken = true;
        graph->has_event = false;
    }
    if (err)
        *err = graph->broken;
    return graph->broken.status;
}
