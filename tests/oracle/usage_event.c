/* usage_event.c: applies an event to the model. */
#include "oracle/usage_state.h"

#include <assert.h>
#include <string.h>

/* ---- bytes on cores ---- */

static void fill(struct usage_device *device, const struct usage_thing *thing, bool is_there)
{
    assert(thing->part.bytes <= USAGE_BYTES);
    for (uint32_t place = 0; place < USAGE_PLACES; place++) {
        if ((thing->places >> place & 1) == 0)
            continue;
        for (uint64_t byte = 0; byte < thing->part.bytes; byte++) {
            uint64_t at = thing->slot * (uint64_t)USAGE_BYTES + byte;
            uint64_t bit = UINT64_C(1) << at % 64;
            uint64_t *word = &device->bytes[place][at / 64];
            assert(((*word & bit) != 0) != is_there);
            *word = is_there ? *word | bit : *word & ~bit;
        }
    }
}

static void bring(struct usage_model *model, int d, struct usage_thing thing)
{
    struct usage_device *device = &model->devices[d];
    while (device->is_taken[thing.slot])
        thing.slot++;
    assert(thing.slot < USAGE_THINGS);
    device->is_taken[thing.slot] = true;
    thing.born = model->seq;
    thing.gone = UINT64_MAX;
    if (device->thing_count == device->thing_capacity)
        device->things =
            usage_grown(device->things, &device->thing_capacity, sizeof *device->things);
    device->things[device->thing_count++] = thing;
    fill(device, &thing, true);
}

static void take_away(struct usage_model *model, int d, struct usage_thing *thing)
{
    fill(&model->devices[d], thing, false);
    model->devices[d].is_taken[thing->slot] = false;
    thing->gone = model->seq;
}

static void count_filled(const struct usage_model *model, struct usage_record *record)
{
    for (int d = 0; d < model->device_count; d++) {
        const struct usage_device *device = &model->devices[d];
        size_t words = 0;
        if (!usage_is_of(model, d, record->device)) /* the event does not change this device */
            continue;
        for (size_t slot = 0; slot < USAGE_THINGS; slot++)
            words = device->is_taken[slot] ? (slot + 1) * USAGE_WORDS : words;
        for (uint32_t place = 0; place < USAGE_PLACES; place++) {
            int bits = 0;
            for (size_t i = 0; i < words; i++)
                bits += __builtin_popcountll(device->bytes[place][i]);
            record->filled[d][place] = (uint32_t)bits;
        }
    }
}

static uint32_t places_of(const struct usage_model *model, const struct tts_event *event)
{
    uint32_t places = 0;
    if (event->kind == TTS_EVENT_ALLOC && event->range_count == 0)
        return (UINT32_C(1) << USAGE_PLACES) - 1;
    for (size_t i = 0; i < event->range_count; i++) {
        struct tts_core_range r = event->ranges[i];
        for (uint32_t place = 0; place < USAGE_PLACES; place++) {
            uint16_t x = model->places.columns[place % USAGE_COLUMNS];
            uint16_t y = model->places.rows[place / USAGE_COLUMNS];
            if (x >= r.x0 && x <= r.x1 && y >= r.y0 && y <= r.y1)
                places |= UINT32_C(1) << place;
        }
    }
    return places;
}

/* ---- events ---- */

static bool is_l1(enum tts_pool pool)
{
    return pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL;
}

static struct usage_step step(enum tts_pool pool, bool is_free, uint64_t size, uint64_t bank)
{
    return (struct usage_step){true, is_free, pool, is_l1(pool) ? bank : size};
}

static const char *name_of(const struct usage_model *model, int op)
{
    static const char *const names[USAGE_OPS] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                                 "i", "j", "k", "l", "m", "n", "o", "p"};
    if (op < 0)
        return NULL;
    return model->is_named[op] ? names[op] : "(other)";
}

static void bring_to_all(struct usage_model *model, const struct tts_event *event,
                         const struct usage_record *record, uint64_t bytes)
{
    bool is_buffer = event->kind == TTS_EVENT_ALLOC;
    struct usage_thing thing = {.part = {event->kind, is_buffer ? event->pool : TTS_POOL_DRAM,
                                         is_buffer ? event->id : 0, bytes, record->op},
                                .places = places_of(model, event),
                                .owner = event->device};
    for (int d = 0; d < model->device_count; d++) {
        if (usage_is_of(model, d, record->device))
            bring(model, d, thing);
    }
}

static void take_from_all(struct usage_model *model, const struct tts_live *live)
{
    for (int d = 0; d < model->device_count; d++) {
        struct usage_device *device = &model->devices[d];
        for (size_t i = 0; i < device->thing_count; i++) {
            struct usage_thing *thing = &device->things[i];
            if (thing->gone == UINT64_MAX && thing->part.kind == TTS_EVENT_ALLOC &&
                thing->owner == live->device && thing->part.id == live->id)
                take_away(model, d, thing);
        }
    }
}

static void end_programs(struct usage_model *model, int named)
{
    for (int d = 0; d < model->device_count; d++) {
        struct usage_device *device = &model->devices[d];
        for (size_t i = 0; usage_is_of(model, d, named) && i < device->thing_count; i++) {
            if (device->things[i].gone == UINT64_MAX &&
                device->things[i].part.kind != TTS_EVENT_ALLOC)
                take_away(model, d, &device->things[i]);
        }
    }
}

static struct tts_live *find_live(struct usage_model *model, const struct tts_event *event)
{
    for (size_t i = 0; i < model->live_count; i++) {
        if (model->live[i].device == event->device && model->live[i].id == event->id)
            return &model->live[i];
    }
    return NULL;
}

static struct usage_step free_live(struct usage_model *model, struct tts_live *live)
{
    struct usage_step done = step(live->pool, true, live->size_bytes, live->bytes_per_bank);
    take_from_all(model, live);
    struct tts_live *end = model->live + model->live_count--;
    memmove(live, live + 1, (size_t)(end - live - 1) * sizeof *live);
    return done;
}

static void do_alloc(struct usage_model *model, const struct tts_event *event,
                     struct usage_record *record)
{
    struct tts_live *before = find_live(model, event);
    if (before != NULL) {
        model->health.doubled++;
        record->steps[0] = free_live(model, before);
    }
    record->steps[1] = step(event->pool, false, event->size_bytes, event->bytes_per_bank);
    if (event->pool == TTS_POOL_DRAM || event->pool == TTS_POOL_L1)
        record->traced_bytes = record->steps[1].bytes;
    if (model->live_count == model->live_capacity)
        model->live = usage_grown(model->live, &model->live_capacity, sizeof *model->live);
    uint64_t bank = is_l1(event->pool) ? event->bytes_per_bank : 0;
    uint64_t block = bank > 0 && event->block_bytes > 0 ? event->block_bytes : bank;
    model->live[model->live_count++] = (struct tts_live){.id = event->id,
                                                         .size_bytes = event->size_bytes,
                                                         .bytes_per_bank = bank,
                                                         .block_bytes = block,
                                                         .seq = model->seq,
                                                         .device = event->device,
                                                         .pool = event->pool,
                                                         .op = record->op};
    if (is_l1(event->pool))
        bring_to_all(model, event, record, block);
}

static void do_free(struct usage_model *model, const struct tts_event *event,
                    struct usage_record *record)
{
    struct tts_live *live = find_live(model, event);
    if (live != NULL) {
        record->steps[0] = free_live(model, live);
    } else if (event->size_bytes > 0) {
        model->health.unseen_frees++;
        record->steps[0] = step(event->pool, true, event->size_bytes, event->bytes_per_bank);
    } else {
        model->health.unknown_frees++;
    }
}

static void do_trace(struct usage_model *model, struct usage_record *record)
{
    for (int d = 0; d < model->device_count; d++) {
        struct usage_device *device = &model->devices[d];
        if (!usage_is_of(model, d, record->device))
            continue;
        record->is_trace[d] = record->kind == TTS_EVENT_TRACE_END && device->trace_depth > 0;
        if (record->kind == TTS_EVENT_TRACE_BEGIN)
            device->trace_depth++;
        else if (device->trace_depth > 0)
            device->trace_depth--;
    }
}

static void do_event(struct usage_model *model, const struct tts_event *event,
                     struct usage_record *record)
{
    switch (event->kind) {
    case TTS_EVENT_ALLOC:
        if (event->size_bytes > 0)
            do_alloc(model, event, record);
        break;
    case TTS_EVENT_FREE:
        do_free(model, event, record);
        break;
    case TTS_EVENT_PROGRAM:
        end_programs(model, record->device);
        break;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        if (event->borrowed && event->kind != TTS_EVENT_SCRATCHPAD)
            break;
        record->program_bytes = event->size_bytes;
        bring_to_all(model, event, record, event->size_bytes);
        break;
    case TTS_EVENT_TRACE_BEGIN:
    case TTS_EVENT_TRACE_END:
        do_trace(model, record);
        break;
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_OP_END:
    case TTS_EVENT_FAILURE:
        break;
    }
}

/* Lists the devices that the event concerns, a mesh before its chips. */
static void list_devices(struct usage_model *model, int named)
{
    for (int w = 0; w < USAGE_WATCHES; w++) {
        struct usage_watch *watch = &model->watches[w];
        if (!watch->is_attached)
            continue;
        usage_list(watch, named);
        for (int d = 0; d < model->device_count; d++) {
            if (usage_is_of(model, d, named))
                usage_list(watch, d);
        }
    }
}

/* Stores the name of the operation if there is room. */
static void begin_op(struct usage_model *model, int op)
{
    if (model->is_named[op] || model->named_count == model->limits.ops_max)
        return;
    model->is_named[op] = true;
    model->named_count++;
}

void usage_model_event(struct usage_model *model, const struct tts_event *event, int op)
{
    bool has_device = event->kind != TTS_EVENT_OP_BEGIN && event->kind != TTS_EVENT_OP_END &&
                      !(event->kind == TTS_EVENT_ALLOC && event->size_bytes == 0);
    int named = has_device ? usage_enter_device(model, event->device) : -1;
    if (has_device && named < 0) {
        model->health.dropped++;
        model->is_lost = true;
        return;
    }
    if (model->record_count == model->record_capacity)
        model->records =
            usage_grown(model->records, &model->record_capacity, sizeof *model->records);
    struct usage_record *record = &model->records[model->record_count];
    *record = record[-1];
    record->seq = ++model->seq;
    record->kind = event->kind;
    record->device = named;
    record->steps[0] = record->steps[1] = (struct usage_step){0};
    record->program_bytes = record->traced_bytes = 0;
    if (event->kind == TTS_EVENT_OP_BEGIN)
        begin_op(model, op);
    record->op = name_of(model, op);
    for (int d = 0; d < model->device_count; d++) {
        record->is_traced[d] = model->devices[d].trace_depth > 0;
        record->is_trace[d] = false;
    }
    do_event(model, event, record);
    count_filled(model, record);
    if (has_device)
        list_devices(model, named);
    model->record_count++;
}
