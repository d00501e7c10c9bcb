#include "model/live/hostview.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

uint64_t tts_counters_sum(const struct tts_counters *counters)
{
    uint64_t sum = 0;
    for (int i = 0; i < TTS_COUNTERS; i++)
        if (counters->known >> i & 1 && __builtin_add_overflow(sum, counters->bytes[i], &sum))
            return UINT64_MAX;
    return sum;
}

void tts_counters_add(struct tts_counters *sum, const struct tts_counters *more)
{
    for (int i = 0; i < TTS_COUNTERS; i++) {
        if (!(more->known >> i & 1))
            continue;
        sum->known |= 1u << i;
        if (__builtin_add_overflow(sum->bytes[i], more->bytes[i], &sum->bytes[i]))
            sum->bytes[i] = UINT64_MAX;
    }
}

void tts_hostview_init(struct tts_hostview *view, const struct tts_alloc *alloc)
{
    *view = (struct tts_hostview){.alloc = alloc ? alloc : tts_alloc_libc()};
}

static void free_list(const struct tts_alloc *alloc, void *items, size_t bytes)
{
    if (items)
        alloc->free(alloc->ctx, items, bytes);
}

void tts_hostview_release(struct tts_hostview *view)
{
    const struct tts_alloc *alloc = view->alloc;
    if (!alloc)
        return;
    free_list(alloc, view->chips, view->chip_capacity * sizeof *view->chips);
    free_list(alloc, view->nodes, view->node_capacity * sizeof *view->nodes);
    free_list(alloc, view->regions, view->region_capacity * sizeof *view->regions);
    free_list(alloc, view->buffers, view->buffers_capacity * sizeof *view->buffers);
    free_list(alloc, view->clients, view->client_capacity * sizeof *view->clients);
    free_list(alloc, view->views, view->view_capacity * sizeof *view->views);
    free_list(alloc, view->processes, view->process_capacity * sizeof *view->processes);
    tts_hostview_init(view, alloc);
}

void tts_hostview_reset(struct tts_hostview *view)
{
    struct tts_hostview old = *view;
    tts_hostview_init(view, old.alloc);
    view->chips = old.chips;
    view->chip_capacity = old.chip_capacity;
    view->nodes = old.nodes;
    view->node_capacity = old.node_capacity;
    view->regions = old.regions;
    view->region_capacity = old.region_capacity;
    view->buffers = old.buffers;
    view->buffers_capacity = old.buffers_capacity;
    view->clients = old.clients;
    view->client_capacity = old.client_capacity;
    view->views = old.views;
    view->view_capacity = old.view_capacity;
    view->processes = old.processes;
    view->process_capacity = old.process_capacity;
}

/* Appends a zeroed item to a list. Returns NULL if there is no memory. */
static void *append_item(const struct tts_alloc *alloc, void **items, size_t *count,
                         size_t *capacity, size_t item_bytes)
{
    void *grown = *items;
    if (*count == *capacity)
        grown = tts_alloc_grow(alloc, *items, capacity, *count + 1, item_bytes);
    if (!grown)
        return NULL;
    *items = grown;
    void *item = (unsigned char *)grown + *count * item_bytes;
    memset(item, 0, item_bytes);
    (*count)++;
    return item;
}

struct tts_seenchip *tts_hostview_add_chip(struct tts_hostview *view)
{
    void *items = view->chips;
    void *item = append_item(view->alloc, &items, &view->chip_count, &view->chip_capacity,
                             sizeof *view->chips);
    view->chips = items;
    return item;
}

struct tts_seennode *tts_hostview_add_node(struct tts_hostview *view)
{
    void *items = view->nodes;
    void *item = append_item(view->alloc, &items, &view->node_count, &view->node_capacity,
                             sizeof *view->nodes);
    view->nodes = items;
    return item;
}

struct tts_seenregion *tts_hostview_add_region(struct tts_hostview *view)
{
    void *items = view->regions;
    void *item = append_item(view->alloc, &items, &view->region_count, &view->region_capacity,
                             sizeof *view->regions);
    view->regions = items;
    return item;
}

struct tts_seenbuffers *tts_hostview_add_buffers(struct tts_hostview *view)
{
    void *items = view->buffers;
    void *item = append_item(view->alloc, &items, &view->buffers_count, &view->buffers_capacity,
                             sizeof *view->buffers);
    view->buffers = items;
    return item;
}

struct tts_seenclient *tts_hostview_add_client(struct tts_hostview *view)
{
    void *items = view->clients;
    void *item = append_item(view->alloc, &items, &view->client_count, &view->client_capacity,
                             sizeof *view->clients);
    view->clients = items;
    return item;
}

struct tts_seenview *tts_hostview_add_view(struct tts_hostview *view)
{
    void *items = view->views;
    void *item = append_item(view->alloc, &items, &view->view_count, &view->view_capacity,
                             sizeof *view->views);
    view->views = items;
    return item;
}

struct tts_seenprocess *tts_hostview_add_process(struct tts_hostview *view)
{
    void *items = view->processes;
    void *item = append_item(view->alloc, &items, &view->process_count, &view->process_capacity,
                             sizeof *view->processes);
    view->processes = items;
    view->is_sorted = false;
    return item;
}

static int compare_seen_pids(const void *a, const void *b)
{
    const struct tts_seenprocess *left = a, *right = b;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

void tts_hostview_sort_processes(struct tts_hostview *view)
{
    bool is_sorted = true;
    for (size_t i = 1; i < view->process_count && is_sorted; i++)
        is_sorted = view->processes[i - 1].pid < view->processes[i].pid;
    if (!is_sorted)
        qsort(view->processes, view->process_count, sizeof *view->processes, compare_seen_pids);
    view->is_sorted = true;
}

const struct tts_seenprocess *tts_hostview_process(const struct tts_hostview *view,
                                                   uint32_t pid)
{
    size_t at = 0, end = view->process_count;
    while (!view->is_sorted && at < end && view->processes[at].pid != pid)
        at++;
    while (view->is_sorted && at < end) {
        size_t middle = at + (end - at) / 2;
        if (view->processes[middle].pid < pid)
            at = middle + 1;
        else
            end = middle;
    }
    return at < view->process_count && view->processes[at].pid == pid ? &view->processes[at]
                                                                      : NULL;
}
