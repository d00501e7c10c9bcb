/* graph_rig.h: reads a graph trace and follows its items at the same time. */
#pragma once

#include "harness/t.h"
#include "model/follow.h"
#include "sources/graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RIG_ITEMS = 128 };

struct rig_item {
    struct tts_item item; /* a copy of the item; its pointers are no longer valid */
    uint64_t node, line;
    char op[TTS_OP_NAME_MAX + 1];
    struct tts_core_range first_range;
};

struct rig {
    /* The status of the last read; TTS_E_NOT_FOUND if there was no error. */
    enum tts_status status;
    struct tts_error err;
    size_t count; /* number of items read; only the first RIG_ITEMS are kept */
    struct rig_item items[RIG_ITEMS];
    struct tts_graph_figures figures;
    struct tts_graph_note notes[TTS_GRAPH_NOTES];
    struct tts_tracker_health health;
    bool has_phase;
    char phase[32];
    struct tts_usage usage; /* the usage of the phase, without its pointers */
    uint64_t live;
};

static inline void rig_on_phase(void *ctx, uint32_t capture, const struct tts_phase *phase,
                                bool is_partial)
{
    struct rig *rig = ctx;
    T_EQ(capture, 1);
    rig->has_phase = !is_partial;
    snprintf(rig->phase, sizeof rig->phase, "%s", phase->name);
    rig->usage = phase->usage;
}

static inline void rig_keep(struct rig *rig, const struct tts_graph *graph,
                            const struct tts_item *item)
{
    if (rig->count++ >= RIG_ITEMS)
        return;
    struct rig_item *kept = &rig->items[rig->count - 1];
    kept->item = *item;
    kept->node = tts_graph_node(graph);
    kept->line = tts_graph_line(graph);
    T_TRUE(item->op.name_len <= TTS_OP_NAME_MAX);
    if (item->op.name_len > 0)
        memcpy(kept->op, item->op.name, item->op.name_len);
    if (item->event.range_count > 0)
        kept->first_range = item->event.ranges[0];
}

static inline void rig_read_source(struct rig *rig, const struct tts_jsonpull_source *source)
{
    struct tts_graph *graph = NULL;
    struct tts_follow *follow = NULL;
    struct tts_item item;
    struct tts_follow_config config = {
        .limits = {.live_max = 4096, .devices_max = 16, .ops_max = 64},
        .on_phase = rig_on_phase,
        .ctx = rig};
    memset(rig, 0, sizeof *rig);
    T_EQ(tts_graph_open_source(source, NULL, &graph, &rig->err), TTS_OK);
    T_EQ(tts_follow_new(&config, NULL, &follow, NULL), TTS_OK);
    while ((rig->status = tts_graph_next(graph, &item, &rig->err)) == TTS_OK) {
        struct tts_error why;
        rig_keep(rig, graph, &item);
        if (tts_follow_item(follow, &item, &why) != TTS_OK)
            fail_msg("node %" PRIu64 " cannot be followed: %s", tts_graph_node(graph),
                     why.text);
    }
    rig->figures = tts_graph_figures(graph);
    for (int kind = 0; kind < TTS_GRAPH_NOTES; kind++)
        rig->notes[kind] = *tts_graph_note(graph, (enum tts_graph_note_kind)kind);
    tts_fold_health(tts_follow_fold(follow), &rig->health);
    rig->live = tts_fold_collect(tts_follow_fold(follow), NULL, 0);
    T_TRUE(tts_graph_is_valid(graph));
    tts_follow_free(follow);
    tts_graph_close(graph);
}

static inline void rig_read_bytes(struct rig *rig, const char *text, size_t len, size_t piece)
{
    rig_read_source(rig, &(struct tts_jsonpull_source){.before = (const unsigned char *)text,
                                                       .before_len = len,
                                                       .fd = -1,
                                                       .window_bytes = TTS_JSONPULL_WINDOW_MIN,
                                                       .piece_bytes = piece});
}

static inline void rig_read(struct rig *rig, const char *text)
{
    rig_read_bytes(rig, text, strlen(text), 0);
}

/* Reads the trace to its end. Fails the test if there is an error, or a note of a kind that is
 * not in `allowed` (one bit for each kind). */
static inline void rig_read_well(struct rig *rig, const char *text, unsigned allowed)
{
    rig_read(rig, text);
    if (rig->status != TTS_E_NOT_FOUND)
        fail_msg("%s (line %u)", rig->err.text, rig->err.line);
    for (unsigned kind = 0; kind < TTS_GRAPH_NOTES; kind++)
        if (rig->notes[kind].count > 0 && !(allowed >> kind & 1))
            fail_msg("noted: %s", rig->notes[kind].text);
}

/* Returns item number `idx`, which must be an event of this kind. */
static inline const struct tts_event *rig_event(const struct rig *rig, size_t idx,
                                                enum tts_event_kind kind)
{
    T_TRUE(idx < rig->count && idx < RIG_ITEMS);
    T_EQ(rig->items[idx].item.kind, TTS_ITEM_EVENT);
    T_STR_EQ(tts_event_kind_name(rig->items[idx].item.event.kind), tts_event_kind_name(kind));
    return &rig->items[idx].item.event;
}

/* Returns one letter for each item. Items that are no events: b (begin), c (cut), e (end), m
 * (chip of a mesh). Events: A (alloc), F (free), P (program), C (circular buffer), D (dataflow
 * buffer), S (scratchpad), and ( and ) for the begin and the end of an operation. */
static inline const char *rig_letters(const struct rig *rig)
{
    static char text[RIG_ITEMS + 1];
    static const char events[] = "AFPCDS()", items[] = ".nmbce";
    size_t count = rig->count < RIG_ITEMS ? rig->count : RIG_ITEMS;
    for (size_t i = 0; i < count; i++) {
        const struct tts_item *item = &rig->items[i].item;
        text[i] = item->kind == TTS_ITEM_EVENT ? events[item->event.kind] : items[item->kind];
    }
    text[count] = '\0';
    return text;
}

static inline char *rig_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    T_TRUE(file != NULL && text != NULL);
    T_TRUE(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}
