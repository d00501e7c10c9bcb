#include "serve/serverphases.h"

#include "base/heap.h"

void tts_serverphases_release(struct tts_serverphases *phases)
{
    if (phases->list)
        phases->alloc->free(phases->alloc->ctx, phases->list,
                            phases->capacity * sizeof *phases->list);
    *phases = (struct tts_serverphases){.alloc = phases->alloc};
}

static struct tts_serverphase *find_server_phase(struct tts_serverphases *phases,
                                                 uint32_t device)
{
    size_t at = 0;
    while (at < phases->count && phases->list[at].device != device)
        at++;
    if (at < phases->count)
        return &phases->list[at];
    if (at == TTS_SERVERPHASES_DEVICES)
        return NULL;
    struct tts_serverphase *list =
        tts_alloc_grow(phases->alloc, phases->list, &phases->capacity, at + 1, sizeof *list);
    if (!list)
        return NULL;
    phases->list = list;
    list[at] = (struct tts_serverphase){.device = device,
                                        .now = {.trace_known = true, .large_known = true}};
    phases->count++;
    return &list[at];
}

/* Takes a sample, and tells the phase that begins with it. */
static void sample_server_phase(struct tts_serverphase *at, uint64_t now_ns,
                                tts_serverphases_fn fn, void *ctx)
{
    enum tts_tracephase phase =
        tts_tracephase_after(at->phase, at->has_sample ? &at->last : NULL, &at->now);
    bool is_new = phase != at->phase;
    at->last = at->now;
    at->has_sample = true;
    at->phase = phase;
    at->sample_ns = now_ns;
    at->is_changed = false;
    if (phase == TTS_TRACEPHASE_CAPTURE_START && is_new)
        at->told = 0;
    bool is_capture =
        phase == TTS_TRACEPHASE_CAPTURE_DATA || phase == TTS_TRACEPHASE_CAPTURE_KERNELS;
    if (!is_new || (is_capture && at->told >> phase & 1))
        return;
    at->told |= 1u << phase;
    fn(ctx, &(struct tts_serverevent){.kind = TTS_SERVEREVENT_PHASE,
                                      .device = at->device,
                                      .phase = phase,
                                      .trace_bytes = at->now.trace_bytes,
                                      .l1_bytes = at->now.data_bytes});
}

/* Counts a buffer that came or left. */
static void count_phase_buffer(struct tts_serverphase *at,
                               const struct tts_clientregion_event *event)
{
    struct tts_tracesample *now = &at->now;
    bool is_large = event->size_bytes >> TTS_TRACEPHASE_LARGE_CLASS > 0;
    now->changes++;
    if (event->pool == TTS_POOL_TRACE)
        now->trace_bytes = event->live_bytes;
    else if (event->pool == TTS_POOL_L1)
        now->data_bytes = event->live_bytes;
    else
        at->other_bytes[event->pool] = event->live_bytes;
    now->other_bytes = at->other_bytes[TTS_POOL_DRAM] + at->other_bytes[TTS_POOL_L1_SMALL];
    if (event->pool != TTS_POOL_L1 || !is_large)
        return;
    if (event->kind == TTS_CLIENTEVENT_ALLOC)
        now->large_buffers++;
    else
        now->large_buffers -= now->large_buffers > 0;
}

void tts_serverphases_event(struct tts_serverphases *phases,
                            const struct tts_clientregion_event *event, uint64_t now_ns,
                            tts_serverphases_fn fn, void *ctx)
{
    bool begins = event->kind == TTS_CLIENTEVENT_TRACE_BEGIN;
    bool ends = event->kind == TTS_CLIENTEVENT_TRACE_END;
    bool is_buffer =
        event->kind == TTS_CLIENTEVENT_ALLOC || event->kind == TTS_CLIENTEVENT_FREE;
    if ((!begins && !ends && !is_buffer) || event->pool >= TTS_POOLS)
        return;
    struct tts_serverphase *at = find_server_phase(phases, event->device);
    if (!at)
        return;
    /* A capture begins after the phase before, and shows its phases before it ends. */
    if ((begins && !at->has_sample) || (ends && at->is_changed))
        sample_server_phase(at, now_ns, fn, ctx);
    if (is_buffer)
        count_phase_buffer(at, event);
    if (begins)
        at->now.depth = 1;
    if (ends) {
        at->now.depth = 0;
        at->now.traces++;
        at->now.is_event = true;
        sample_server_phase(at, now_ns, fn, ctx);
        at->now.is_event = false;
    }
    at->is_changed = !ends;
    at->is_settled = false;
    at->news_ns = now_ns;
}

void tts_serverphases_see(struct tts_serverphases *phases, const struct tts_seenview *view,
                          uint64_t now_ns)
{
    struct tts_serverphase *at = NULL;
    if (view->counted_known && view->trace_known)
        at = find_server_phase(phases, view->logical_id);
    if (!at)
        return;
    for (int pool = 0; pool < TTS_POOLS; pool++)
        at->other_bytes[pool] = view->counted_bytes[pool];
    at->now.depth = view->trace_depth > 0;
    at->now.traces = view->traces;
    at->now.trace_bytes = view->counted_bytes[TTS_POOL_TRACE];
    at->now.data_bytes = view->counted_bytes[TTS_POOL_L1];
    at->now.other_bytes =
        view->counted_bytes[TTS_POOL_DRAM] + view->counted_bytes[TTS_POOL_L1_SMALL];
    at->now.large_buffers = 0;
    for (int c = TTS_TRACEPHASE_LARGE_CLASS; view->classes_known && c < TTS_SIZECLASSES; c++)
        at->now.large_buffers += view->class_buffers[TTS_POOL_L1][c];
    at->is_changed = true;
    at->is_settled = false;
    at->news_ns = now_ns;
}

/* The events of a turn can be newer than its time. */
static uint64_t phase_age(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

void tts_serverphases_settle(struct tts_serverphases *phases, uint64_t now_ns,
                             tts_serverphases_fn fn, void *ctx)
{
    for (size_t i = 0; i < phases->count; i++) {
        struct tts_serverphase *at = &phases->list[i];
        bool is_pause = phase_age(now_ns, at->news_ns) >= TTS_TRACEPHASE_PAUSE_NS ||
                        phase_age(now_ns, at->sample_ns) >= TTS_TRACEPHASE_STILL_NS;
        bool is_open = at->now.depth > 0 || !at->has_sample;
        if (at->is_changed && is_pause && is_open)
            sample_server_phase(at, now_ns, fn, ctx);
        if (at->is_settled || phase_age(now_ns, at->news_ns) < TTS_TRACEPHASE_STILL_NS)
            continue;
        /* The first sample has the change. The second sample shows that nothing changes. */
        sample_server_phase(at, now_ns, fn, ctx);
        sample_server_phase(at, now_ns, fn, ctx);
        at->is_settled = true;
    }
}
