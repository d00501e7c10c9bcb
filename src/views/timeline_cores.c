/* What the program under way has on the cores of a device. */
#include "views/timeline_inside.h"

#include <string.h>

static void put_counter(struct tts_timeline *t, struct tts_device_line *device)
{
    struct tts_mark mark = {.kind = TTS_MARK_COUNTER, .time_ns = t->now_ns};
    mark.track = tts_timeline_device_track(
        t, device, (struct tts_track){.kind = TTS_TRACK_CORES}, &device->cores.counter);
    mark.value = device->cores.top_bytes;
    tts_timeline_put(t, &mark);
}

static void clear_row(struct tts_core_line *cores, uint32_t y)
{
    memset(&cores->bytes[y * TTS_GRID_SIDE_MAX + cores->box.x0], 0,
           (cores->box.x1 - cores->box.x0 + 1u) * sizeof *cores->bytes);
}

/* The program of `device` has nothing any more. */
static void end_program(struct tts_timeline *t, struct tts_device_line *device)
{
    struct tts_core_line *cores = &device->cores;
    if (cores->top_bytes == 0)
        return;
    for (uint32_t y = cores->box.y0; y <= cores->box.y1; y++)
        clear_row(cores, y);
    cores->top_bytes = 0;
    put_counter(t, device);
}

/* That of a mesh is one of each of its chips. */
void tts_timeline_program(struct tts_timeline *t, struct tts_device_line *device)
{
    end_program(t, device);
    for (size_t i = 0; device->chips > 0 && i < t->device_count; i++)
        if (t->devices[i].mesh == (uint32_t)(device - t->devices))
            end_program(t, &t->devices[i]);
}

static void add_on_core(struct tts_core_line *cores, uint32_t core, uint64_t bytes)
{
    uint64_t *at = &cores->bytes[core];
    *at = bytes > UINT64_MAX - *at ? UINT64_MAX : *at + bytes;
    cores->top_bytes = *at > cores->top_bytes ? *at : cores->top_bytes;
}

static void widen_box(struct tts_core_line *cores, const struct tts_core_range *range)
{
    struct tts_core_range *box = &cores->box;
    if (cores->top_bytes == 0)
        *box = *range;
    box->x0 = range->x0 < box->x0 ? range->x0 : box->x0;
    box->y0 = range->y0 < box->y0 ? range->y0 : box->y0;
    box->x1 = range->x1 > box->x1 ? range->x1 : box->x1;
    box->y1 = range->y1 > box->y1 ? range->y1 : box->y1;
}

static void add_range(struct tts_core_line *cores, const struct tts_core_range *range,
                      uint64_t bytes)
{
    assert(range->x0 <= range->x1 && range->x1 < TTS_GRID_SIDE_MAX);
    assert(range->y0 <= range->y1 && range->y1 < TTS_GRID_SIDE_MAX);
    widen_box(cores, range);
    for (uint32_t y = range->y0; y <= range->y1; y++)
        for (uint32_t x = range->x0; x <= range->x1; x++)
            add_on_core(cores, y * TTS_GRID_SIDE_MAX + x, bytes);
}

enum tts_status tts_timeline_part(struct tts_timeline *t, const struct tts_event *event)
{
    enum tts_status status = TTS_OK;
    if (event->borrowed || event->size_bytes == 0)
        return TTS_OK;
    struct tts_device_line *device = tts_timeline_device(t, event->device, &status);
    if (!device)
        return status;
    struct tts_core_line *cores = &device->cores;
    size_t bytes = TTS_CORES_MAX * sizeof *cores->bytes;
    if (!cores->bytes) {
        cores->bytes = t->alloc->alloc(t->alloc->ctx, bytes);
        if (!cores->bytes)
            return TTS_E_NOMEM;
        memset(cores->bytes, 0, bytes);
    }
    for (size_t i = 0; i < event->range_count; i++)
        add_range(cores, &event->ranges[i], event->size_bytes);
    put_counter(t, device);
    return TTS_OK;
}
