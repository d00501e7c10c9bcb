#include "oracle/usage_draw.h"

enum { THINGS = 200 }; /* maximum number of buffers and parts on a device */

/* ---- draws ---- */

uint64_t usage_below(struct usage_draw *draw, uint64_t n)
{
    uint64_t x = draw->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    draw->random = x;
    return (x * UINT64_C(2685821657736338717) >> 16) % n;
}

bool usage_chance(struct usage_draw *draw, uint64_t one_in)
{
    return usage_below(draw, one_in) == 0;
}

static size_t by_weight(struct usage_draw *draw, const uint64_t *weights, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    uint64_t at = usage_below(draw, sum);
    size_t i = 0;
    for (; at >= weights[i]; i++)
        at -= weights[i];
    return i;
}

/* ---- parameters of a history ---- */

static void draw_places(struct usage_draw *draw)
{
    bool is_wide = usage_chance(draw, 3);
    for (uint16_t i = 1; i < USAGE_COLUMNS; i++)
        draw->places.columns[i] =
            (uint16_t)(draw->places.columns[i - 1] + 1 + (is_wide ? usage_below(draw, 15) : 0));
    for (uint16_t i = 1; i < USAGE_ROWS; i++)
        draw->places.rows[i] =
            (uint16_t)(draw->places.rows[i - 1] + 1 + (is_wide ? usage_below(draw, 20) : 0));
}

static void draw_devices(struct usage_draw *draw)
{
    static const uint32_t odd[] = {0, UINT32_MAX, 1u << 31, 4, 1, 1024, 77, 64};
    draw->device_count = usage_chance(draw, 3) ? 1 : 1 + usage_below(draw, USAGE_DEVICES);
    size_t mesh = SIZE_MAX;
    for (size_t d = 0; d < draw->device_count; d++) {
        draw->ids[d] = odd[d];
        draw->roles[d] = mesh != SIZE_MAX && !usage_chance(draw, 3) ? USAGE_CHIP
                         : usage_chance(draw, 2)                    ? USAGE_MESH
                                                                    : USAGE_SINGLE;
        draw->meshes[d] = mesh;
        if (draw->roles[d] == USAGE_MESH)
            mesh = d;
    }
}

static void draw_weights(struct usage_draw *draw)
{
    static const uint64_t usual[TTS_EVENT_KINDS] = {40, 30, 4, 12, 4, 4, 4, 4, 1, 1};
    for (size_t i = 0; i < TTS_EVENT_KINDS; i++)
        draw->weights[i] = usage_chance(draw, 6)   ? 0
                           : usage_chance(draw, 4) ? 3 * usual[i]
                                                   : usual[i];
    draw->weights[TTS_EVENT_ALLOC] += 1;
    for (size_t i = 0; i < TTS_POOLS; i++)
        draw->pool_weights[i] = usage_below(draw, 4);
    draw->pool_weights[usage_below(draw, TTS_POOLS)] += 3;
    draw->buffer_ids = usage_chance(draw, 4) ? 150 : 1 + usage_below(draw, 40);
}

void usage_draw_init(struct usage_draw *draw, uint64_t seed)
{
    *draw = (struct usage_draw){.random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1};
    for (int i = 0; i < 8; i++)
        usage_below(draw, 2);
    draw_places(draw);
    draw_devices(draw);
    draw_weights(draw);
    draw->limits = (struct tts_tracker_config){
        .live_max = usage_chance(draw, 4) ? 1 + (uint32_t)usage_below(draw, 20) : 1000,
        .devices_max = usage_chance(draw, 4) ? 1 + (uint32_t)usage_below(draw, 8) : 64,
        .ops_max = usage_chance(draw, 3) ? 1 + (uint32_t)usage_below(draw, 4) : 64};
}

/* ---- events ---- */

static bool overlap(struct tts_core_range a, struct tts_core_range b)
{
    return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

/* Returns the last column or row of a range. It may be after place `i`, but before the next
 * place. */
static uint16_t end_behind(struct usage_draw *draw, const uint16_t *at, size_t i, size_t count)
{
    uint64_t end = i + 1 < count ? at[i + 1] : TTS_GRID_SIDE_MAX, gap = end - at[i];
    return (uint16_t)(at[i] + (usage_chance(draw, 3) ? usage_below(draw, gap) : 0));
}

static struct tts_core_range draw_range(struct usage_draw *draw)
{
    size_t x0 = usage_below(draw, USAGE_COLUMNS), y0 = usage_below(draw, USAGE_ROWS);
    size_t x1 = x0 + usage_below(draw, USAGE_COLUMNS - x0),
           y1 = y0 + usage_below(draw, USAGE_ROWS - y0);
    return (struct tts_core_range){draw->places.columns[x0], draw->places.rows[y0],
                                   end_behind(draw, draw->places.columns, x1, USAGE_COLUMNS),
                                   end_behind(draw, draw->places.rows, y1, USAGE_ROWS)};
}

static void draw_ranges(struct usage_draw *draw, struct tts_event *event,
                        struct tts_core_range *ranges)
{
    size_t wanted = 1 + (usage_chance(draw, 3) ? usage_below(draw, USAGE_RANGES) : 0);
    for (size_t tries = 0; tries < 8 && event->range_count < wanted; tries++) {
        struct tts_core_range range = draw_range(draw);
        bool is_apart = true;
        for (size_t i = 0; i < event->range_count; i++)
            is_apart = is_apart && !overlap(range, ranges[i]);
        if (is_apart)
            ranges[event->range_count++] = range;
    }
    event->ranges = ranges;
}

/* Draws from few different sizes, so that cores and devices are often equal. */
static uint64_t draw_bytes(struct usage_draw *draw)
{
    static const uint64_t some[] = {1, 8, 16, 16, 32, 64, 100};
    return usage_chance(draw, 4) ? 1 + usage_below(draw, 200) : some[usage_below(draw, 7)];
}

static void draw_sizes(struct usage_draw *draw, struct tts_event *event)
{
    event->size_bytes = usage_chance(draw, 5) ? usage_below(draw, UINT64_C(1) << 40)
                                              : 1 + usage_below(draw, 5000);
    event->bytes_per_bank = draw_bytes(draw);
    if (usage_chance(draw, 3))
        event->block_bytes = event->bytes_per_bank + usage_below(draw, 40);
    if (usage_chance(draw, 30))
        event->size_bytes = 0;
    if (usage_chance(draw, 20) && event->pool != TTS_POOL_L1 &&
        event->pool != TTS_POOL_L1_SMALL)
        event->bytes_per_bank = event->block_bytes = 0;
}

static void draw_free(struct usage_draw *draw, const struct usage_model *model,
                      struct tts_event *event)
{
    static struct tts_live live[1024];
    size_t count = usage_model_live(model, live, 1024);
    event->pool = (enum tts_pool)usage_below(draw, TTS_POOLS);
    event->id = usage_below(draw, draw->buffer_ids);
    if (count > 0 && !usage_chance(draw, 6)) {
        const struct tts_live *one = &live[usage_below(draw, count)];
        event->device = one->device;
        event->id = one->id;
        event->pool = usage_chance(draw, 8) ? event->pool : one->pool;
    }
    draw_sizes(draw, event);
    if (usage_chance(draw, 2))
        event->size_bytes = 0;
}

static void draw_event(struct usage_draw *draw, const struct usage_model *model,
                       struct tts_event *event, struct tts_core_range *ranges)
{
    event->kind = (enum tts_event_kind)by_weight(draw, draw->weights, TTS_EVENT_KINDS);
    if (usage_model_things(model) >= THINGS)
        event->kind = usage_chance(draw, 2) ? TTS_EVENT_PROGRAM : TTS_EVENT_FREE;
    if (event->kind == TTS_EVENT_OP_BEGIN && draw->depth == USAGE_DEPTH)
        event->kind = TTS_EVENT_OP_END;
    if (event->kind == TTS_EVENT_OP_END && draw->depth == 0)
        event->kind = TTS_EVENT_OP_BEGIN;
    if (event->kind == TTS_EVENT_ALLOC) {
        event->pool = (enum tts_pool)by_weight(draw, draw->pool_weights, TTS_POOLS);
        event->id = usage_below(draw, draw->buffer_ids);
        draw_sizes(draw, event);
        if ((event->pool == TTS_POOL_L1 || event->pool == TTS_POOL_L1_SMALL) &&
            usage_chance(draw, 2))
            draw_ranges(draw, event, ranges);
    } else if (event->kind == TTS_EVENT_FREE) {
        draw_free(draw, model, event);
    } else if (event->kind >= TTS_EVENT_CB && event->kind <= TTS_EVENT_SCRATCHPAD) {
        event->size_bytes = usage_chance(draw, 20) ? 0 : draw_bytes(draw);
        event->borrowed = usage_chance(draw, 6);
        draw_ranges(draw, event, ranges);
    }
}

static size_t draw_device(struct usage_draw *draw)
{
    size_t d;
    do
        d = usage_below(draw, draw->device_count);
    while (draw->roles[d] == USAGE_CHIP && !draw->is_told[d]);
    return d;
}

int usage_draw_event(struct usage_draw *draw, const struct usage_model *model,
                     struct tts_event *event, struct tts_core_range ranges[USAGE_RANGES])
{
    static const char names[USAGE_OPS + 1] = "abcdefghijklmnop";
    *event = (struct tts_event){.device = draw->ids[draw_device(draw)]};
    draw_event(draw, model, event, ranges);
    if (event->kind == TTS_EVENT_OP_BEGIN)
        draw->ops[draw->depth++] = (int)usage_below(draw, USAGE_OPS);
    int op = draw->depth > 0 ? draw->ops[draw->depth - 1] : -1;
    event->name = op < 0 ? NULL : &names[op];
    event->name_len = op < 0 ? 0 : 1;
    return op;
}
