#include "sources/graph.h"

#include "base/alloc.h"
#include "base/error.h"
#include "sources/graph_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* ---- life ---- */

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
    enum tts_status status = tts_jsonpull_new(source, alloc, &graph->json, err);
    if (status != TTS_OK) {
        alloc->free(alloc->ctx, graph, sizeof *graph);
        return status;
    }
    *out = graph;
    return TTS_OK;
}

enum tts_status tts_graph_open(int fd, const unsigned char *before, size_t len,
                               const struct tts_alloc *alloc, struct tts_graph **out,
                               struct tts_error *err)
{
    size_t mark = mark_bytes(before, len);
    struct tts_jsonpull_source source = {.before_off = mark, .fd = fd};
    if (len > mark) {
        source.before = before + mark;
        source.before_len = len - mark;
    }
    source.window_bytes = len > TTS_JSONPULL_WINDOW ? len : TTS_JSONPULL_WINDOW;
    return tts_graph_open_source(&source, alloc, out, err);
}

void tts_graph_close(struct tts_graph *graph)
{
    if (!graph)
        return;
    const struct tts_alloc *alloc = graph->alloc;
    tts_graph_table_release(&graph->table);
    tts_jsonpull_free(graph->json);
    alloc->free(alloc->ctx, graph, sizeof *graph);
}

void tts_graph_watch(struct tts_graph *graph, void (*fn)(void *ctx, uint64_t bytes), void *ctx)
{
    tts_jsonpull_watch(graph->json, fn, ctx);
}

/* ---- questions ---- */

uint64_t tts_graph_node(const struct tts_graph *graph)
{
    return graph->node_idx;
}

uint64_t tts_graph_line(const struct tts_graph *graph)
{
    return tts_jsonpull_marked_line(graph->json);
}

uint64_t tts_graph_tell(const struct tts_graph *graph)
{
    return tts_jsonpull_offset(graph->json);
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

static void give(struct tts_graph *graph, enum tts_item_kind kind, struct tts_item *out)
{
    *out = (struct tts_item){.kind = kind, .seq = graph->seq, .capture = 1};
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
}

/* What the last node came to. False: no more. */
static bool give_pending(struct tts_graph *graph, struct tts_item *out)
{
    if (graph->devices.due > 0) {
        give_chip(graph, out);
        return true;
    }
    if (!graph->has_event)
        return false;
    graph->has_event = false;
    graph->item.seq = ++graph->seq;
    *out = graph->item;
    return true;
}

/* ---- nodes ---- */

/* The next of the array into graph->node; state becomes TTS_GRAPH_CUTS behind the last. */
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
    enum tts_status status = tts_graph_read_head(graph, err);
    if (status == TTS_OK)
        status = read_node(graph, err);
    if (status != TTS_OK)
        return status;
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
