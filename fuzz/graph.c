/* Reads bytes as a graph trace, at once and in pieces, which must give the same items and the
 * same end. Every item can be followed. The live buffers are those that were allocated and not
 * freed. If nothing is noted, the runtime's own DRAM figures are equal to those of the fold. */
#include "sources/graph/graph.h"
#include "fuzz/reuse.h"
#include "model/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* The slow checks are made in one of WALK_RUNS and one of PIECE_RUNS runs. The input decides in
 * which. */
enum { WALK_RUNS = 64, PIECE_RUNS = 8 };

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* ---- the result of a reading ---- */

struct outcome {
    enum tts_status status;
    struct tts_error err;
    uint64_t items, hash;
    struct tts_graph_figures figures;
    struct tts_graph_note notes[TTS_GRAPH_NOTES];
};

static void mix_number(struct outcome *out, uint64_t number)
{
    out->hash = (out->hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    out->hash ^= out->hash >> 29;
}

static void mix(struct outcome *out, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    for (uint64_t word; len >= sizeof word; at += sizeof word, len -= sizeof word) {
        memcpy(&word, at, sizeof word);
        mix_number(out, word);
    }
    for (; len > 0; at++, len--)
        mix_number(out, *at);
}

static void mix_item(struct outcome *out, const struct tts_graph *graph,
                     const struct tts_item *item)
{
    const struct tts_event *event = &item->event;
    uint64_t numbers[] = {item->kind,
                          item->seq,
                          item->op.hash,
                          item->thread,
                          item->device,
                          item->mesh,
                          event->kind,
                          event->device,
                          event->pool,
                          event->borrowed,
                          event->id,
                          event->size_bytes,
                          event->bytes_per_bank,
                          event->range_count,
                          event->has_address,
                          event->address,
                          event->page_bytes,
                          event->cores,
                          tts_graph_node(graph),
                          tts_graph_line(graph),
                          tts_graph_tell(graph)};
    mix(out, numbers, sizeof numbers);
    if (item->op.name_len > 0)
        mix(out, item->op.name, item->op.name_len);
    if (event->range_count > 0)
        mix(out, event->ranges, event->range_count * sizeof event->ranges[0]);
    out->items++;
}

static void finish(struct outcome *out, const struct tts_graph *graph)
{
    out->figures = tts_graph_figures(graph);
    for (int kind = 0; kind < TTS_GRAPH_NOTES; kind++) {
        out->notes[kind] = *tts_graph_note(graph, (enum tts_graph_note_kind)kind);
        mix_number(out, out->notes[kind].count);
        mix_number(out, out->notes[kind].line);
        mix(out, out->notes[kind].text, strlen(out->notes[kind].text));
    }
    for (const char *c = out->err.text; out->status != TTS_E_NOT_FOUND && *c; c++)
        if (*c < ' ' || *c > '~')
            stop("an error that cannot be shown", out->err.text);
}

static struct tts_graph *open_graph(const uint8_t *bytes, size_t len, size_t piece)
{
    struct tts_graph *graph = NULL;
    struct tts_jsonpull_source source = {.before = bytes,
                                         .before_len = len,
                                         .fd = -1,
                                         .window_bytes = TTS_JSONPULL_WINDOW_MIN,
                                         .piece_bytes = piece};
    if (tts_graph_open_source(&source, &reuse_alloc, &graph, NULL) != TTS_OK)
        stop("no memory", "open");
    return graph;
}

/* Follows an item. Returns false if there is no room for the item; the caller then stops
 * following. */
static bool follow_item(struct tts_follow *follow, const struct tts_item *item)
{
    struct tts_error err = {0};
    if (tts_follow_item(follow, item, &err) == TTS_OK)
        return true;
    if (!strstr(err.text, "more devices") && !strstr(err.text, "no room"))
        stop("an item cannot be followed", err.text);
    return false;
}

/* Reads a trace. `follow` may be NULL. Returns true if all items could be followed. */
static bool read_in_pieces(const uint8_t *bytes, size_t len, size_t piece,
                           struct tts_follow *follow, struct outcome *out)
{
    struct tts_graph *graph = open_graph(bytes, len, piece);
    struct tts_item item;
    bool is_followed = follow != NULL;
    *out = (struct outcome){0};
    while ((out->status = tts_graph_next(graph, &item, &out->err)) == TTS_OK) {
        mix_item(out, graph, &item);
        is_followed = is_followed && follow_item(follow, &item);
    }
    finish(out, graph);
    tts_graph_close(graph);
    return is_followed;
}

/* ---- sums ---- */

static int64_t live_bytes(const struct tts_fold *fold, enum tts_pool pool)
{
    size_t count = tts_fold_collect(fold, NULL, 0);
    struct tts_live *live = calloc(count + 1, sizeof *live);
    if (!live)
        stop("no memory", "live");
    tts_fold_collect(fold, live, count);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += live[i].pool == pool ? live[i].size_bytes : 0;
    free(live);
    return (int64_t)bytes;
}

static void check_totals(const struct tts_follow *follow, const struct tts_phase *all)
{
    struct tts_tracker_health health;
    const struct tts_fold *fold = tts_follow_fold(follow);
    tts_fold_health(fold, &health);
    if (health.unseen_frees + health.unlisted + health.unknown_frees > 0)
        return;
    static const enum tts_pool pools[] = {TTS_POOL_DRAM, TTS_POOL_TRACE};
    for (size_t i = 0; i < 2; i++) {
        const struct tts_pool_usage *usage = &all->usage.pools[pools[i]];
        if (usage->allocated_bytes - usage->freed_bytes != live_bytes(fold, pools[i]))
            stop("what lives is not what was allocated and not freed", "");
    }
}

static void check_figures(const struct outcome *read, const struct tts_phase *all)
{
    const struct tts_pool_usage *dram = &all->usage.pools[TTS_POOL_DRAM];
    const struct tts_pool_usage *trace = &all->usage.pools[TTS_POOL_TRACE];
    for (int kind = 0; kind < TTS_GRAPH_NOTES; kind++)
        if (kind != TTS_GRAPH_UNCLOSED && kind != TTS_GRAPH_NO_BANKS &&
            kind != TTS_GRAPH_WHICH_MESH && read->notes[kind].count > 0)
            return;
    if (read->figures.dram_allocated_bytes != dram->allocated_bytes + trace->allocated_bytes ||
        read->figures.dram_freed_bytes != dram->freed_bytes + trace->freed_bytes)
        stop("DRAM was allocated or freed by one count only", "");
    bool has_trace = trace->allocations + trace->frees > 0;
    if (!has_trace && read->figures.dram_peak_bytes != dram->peak_bytes)
        stop("DRAM has two peaks", "");
}

static void read_whole(const uint8_t *bytes, size_t len, struct outcome *out)
{
    struct tts_follow *follow = NULL;
    struct tts_follow_config config = {
        .limits = {.live_max = 256, .devices_max = 6, .ops_max = 8}};
    struct tts_error err = {0};
    const struct tts_phase *all = NULL;
    if (tts_follow_new(&config, &reuse_alloc, &follow, &err) != TTS_OK)
        stop("no memory", "follow");
    bool is_followed = read_in_pieces(bytes, len, 0, follow, out);
    if (len % WALK_RUNS == 0 && !tts_fold_is_valid(tts_follow_fold(follow)))
        stop("what is followed does not hold together", "");
    if (is_followed && tts_follow_end(follow, &all, &err) == TTS_OK) {
        check_totals(follow, all);
        check_figures(out, all);
    }
    tts_follow_free(follow);
}

static bool is_same(const struct outcome *a, const struct outcome *b)
{
    if (a->status != b->status || a->items != b->items || a->hash != b->hash)
        return false;
    return a->status == TTS_E_NOT_FOUND ||
           (a->err.offset == b->err.offset && a->err.line == b->err.line &&
            strcmp(a->err.text, b->err.text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const size_t pieces[] = {1, 2, 3, 13, 16, 61, 64, 67};
    struct outcome whole, parts;
    read_whole(bytes, len, &whole);
    if (whole.status != TTS_E_NOT_FOUND &&
        (whole.err.status != whole.status || whole.err.text[0] == '\0' || whole.err.line == 0 ||
         whole.err.offset > len))
        stop("an error without words or place", whole.err.text);
    if (whole.hash % PIECE_RUNS != 0)
        return 0;
    read_in_pieces(bytes, len, pieces[len % 8], NULL, &parts);
    if (!is_same(&whole, &parts))
        stop("pieces read differently", parts.err.text);
    return 0;
}
