#include "views/eventrow.h"

#include <assert.h>
#include <string.h>

#define NAME_OF(name, text, type) text,
#define TYPE_OF(name, text, type) TTS_ROW_IS_##type,
const char *const tts_eventrow_names[] = {TTS_EVENTROW_MAP(NAME_OF)};
const enum tts_eventrow_type tts_eventrow_types[] = {TTS_EVENTROW_MAP(TYPE_OF)};
_Static_assert(TTS_ROW_FIELDS <= 32, "a bit for each");

static void set_number(struct tts_eventrow *row, enum tts_eventrow_field field, uint64_t value)
{
    row->known |= UINT32_C(1) << field;
    row->numbers[field] = value;
}

/* 0: it is not known. */
static void set_known(struct tts_eventrow *row, enum tts_eventrow_field field, uint64_t value)
{
    if (value > 0)
        set_number(row, field, value);
}

static void set_text(struct tts_eventrow *row, enum tts_eventrow_field field, const char *text,
                     size_t len)
{
    if (!text)
        return;
    row->known |= UINT32_C(1) << field;
    row->texts[field] = text;
    row->text_lens[field] = len;
}

static void set_word(struct tts_eventrow *row, enum tts_eventrow_field field, const char *word)
{
    set_text(row, field, word, strlen(word));
}

static void set_ranges(struct tts_eventrow *row, const struct tts_event *event)
{
    if (event->range_count == 0)
        return;
    row->known |= UINT32_C(1) << TTS_ROW_RANGES;
    row->ranges = event->ranges;
    row->range_count = event->range_count;
}

/* ---- events ---- */

static void set_buffer(struct tts_eventrow *row, const struct tts_event *event)
{
    set_word(row, TTS_ROW_POOL, tts_pool_name(event->pool));
    set_number(row, TTS_ROW_ID, event->id);
    if (event->kind == TTS_EVENT_ALLOC || event->size_bytes > 0)
        set_number(row, TTS_ROW_SIZE, event->size_bytes);
    set_known(row, TTS_ROW_PER_BANK, event->bytes_per_bank);
    set_known(row, TTS_ROW_BLOCK, event->block_bytes);
}

static void set_device(struct tts_eventrow *row, uint32_t device)
{
    set_number(row, TTS_ROW_DEVICE, device);
    set_word(row, TTS_ROW_DEVICE_NAME, tts_devicename(device, row->device_name));
}

static void set_placing(struct tts_eventrow *row, const struct tts_event *event)
{
    static const char *const placements[] = {[TTS_PLACE_DEFAULT] = "default",
                                             [TTS_PLACE_UP] = "up",
                                             [TTS_PLACE_DOWN] = "down",
                                             [TTS_PLACE_AT] = "at"};
    if (event->has_address)
        set_number(row, TTS_ROW_ADDRESS, event->address);
    if (event->page_bytes > 0) {
        set_number(row, TTS_ROW_PAGE, event->page_bytes);
        set_number(row, TTS_ROW_CORES, event->cores);
        set_word(row, TTS_ROW_PLACEMENT, placements[event->placement]);
    }
    set_ranges(row, event);
}

static void set_part(struct tts_eventrow *row, const struct tts_event *event)
{
    set_device(row, event->device);
    set_number(row, TTS_ROW_SIZE, event->size_bytes);
    if (event->borrowed)
        set_number(row, TTS_ROW_BORROWED, 1);
    set_ranges(row, event);
}

static void set_failure(struct tts_eventrow *row, const struct tts_failure *failure)
{
    set_word(row, TTS_ROW_FAILURE, tts_failure_kind_name(failure->kind));
    set_word(row, TTS_ROW_POOL, tts_pool_name(failure->pool));
    set_known(row, TTS_ROW_SIZE, failure->requested_bytes);
    if (tts_failure_deficit_is_known(failure))
        set_number(row, TTS_ROW_MISSING, tts_failure_deficit(failure));
    set_word(row, TTS_ROW_MESSAGE, tts_failure_text(failure, row->message));
}

static void set_event(struct tts_eventrow *row, const struct tts_item *item)
{
    const struct tts_event *event = &item->event;
    set_word(row, TTS_ROW_KIND, tts_event_kind_name(event->kind));
    if (item->op.hash)
        set_text(row, TTS_ROW_OP, item->op.name, item->op.name_len);
    switch (event->kind) {
    case TTS_EVENT_ALLOC:
        set_placing(row, event);
        set_buffer(row, event);
        break;
    case TTS_EVENT_FREE:
        set_buffer(row, event);
        break;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        set_part(row, event);
        break;
    case TTS_EVENT_FAILURE:
        set_failure(row, event->failure);
        break;
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_OP_END:
        set_known(row, TTS_ROW_THREAD, item->thread);
        return;
    case TTS_EVENT_PROGRAM:
    case TTS_EVENT_TRACE_BEGIN:
    case TTS_EVENT_TRACE_END:
        break;
    }
    set_device(row, event->device);
}

/* ---- the rest ---- */

static void set_live(struct tts_eventrow *row, const struct tts_item *item)
{
    struct tts_event event = item->event;
    event.kind = TTS_EVENT_ALLOC;
    event.pool = item->live.pool;
    event.id = item->live.id;
    event.size_bytes = item->live.size_bytes;
    event.bytes_per_bank = item->live.bytes_per_bank;
    event.block_bytes = item->live.block_bytes;
    set_placing(row, &event);
    set_buffer(row, &event);
    set_device(row, item->live.device);
}

/* How the kinds that are no events are called. */
static const char *const kind_names[] = {
    [TTS_ITEM_NAME] = "op_name",
    [TTS_ITEM_CHIP] = "chip",
    [TTS_ITEM_BEGIN] = "capture_begin",
    [TTS_ITEM_CUT] = "phase_end",
    [TTS_ITEM_END] = "capture_end",
    [TTS_ITEM_MISSED] = "missed",
    [TTS_ITEM_KEYFRAME] = "keyframe",
    [TTS_ITEM_LIVE] = "live",
    [TTS_ITEM_TRACING] = "live_traces",
    [TTS_ITEM_ACTIVE] = "capture_active",
    [TTS_ITEM_KEYFRAME_END] = "keyframe_end",
};

/* Of what was there before the file: the number is that of its own event. */
static void set_before(struct tts_eventrow *row, const struct tts_item *item)
{
    static const char *const parts[] = {"live_cb", "live_dfb", "live_scratchpad"};
    set_number(row, TTS_ROW_SEQ, item->live.seq);
    if (item->op.hash)
        set_text(row, TTS_ROW_OP, item->op.name, item->op.name_len);
    if (item->kind == TTS_ITEM_LIVE) {
        set_live(row, item);
        return;
    }
    assert(item->event.kind >= TTS_EVENT_CB && item->event.kind <= TTS_EVENT_SCRATCHPAD);
    set_word(row, TTS_ROW_KIND, parts[item->event.kind - TTS_EVENT_CB]);
    set_part(row, &item->event);
}

static void set_mark(struct tts_eventrow *row, const struct tts_item *item)
{
    enum tts_item_kind kind = item->kind;
    if (kind == TTS_ITEM_LIVE || kind == TTS_ITEM_PART)
        set_before(row, item);
    if (kind == TTS_ITEM_CHIP || kind == TTS_ITEM_TRACING)
        set_device(row, item->device);
    if (kind == TTS_ITEM_CHIP)
        set_number(row, TTS_ROW_MESH, item->mesh);
    if (kind == TTS_ITEM_BEGIN || kind == TTS_ITEM_CUT || kind == TTS_ITEM_END ||
        kind == TTS_ITEM_ACTIVE)
        set_number(row, TTS_ROW_CAPTURE, item->capture);
    if (kind == TTS_ITEM_CUT)
        set_text(row, TTS_ROW_NAME, item->name, item->name_len);
    if (kind == TTS_ITEM_MISSED || kind == TTS_ITEM_KEYFRAME || kind == TTS_ITEM_TRACING)
        set_number(row, TTS_ROW_COUNT, item->count);
}

void tts_eventrow_of(struct tts_eventrow *row, const struct tts_item *item)
{
    row->known = 0;
    set_number(row, TTS_ROW_SEQ, item->seq);
    if (item->has_time)
        set_number(row, TTS_ROW_TIME, item->time_ns);
    if (item->kind == TTS_ITEM_EVENT) {
        set_event(row, item);
        return;
    }
    if (item->kind != TTS_ITEM_PART)
        set_word(row, TTS_ROW_KIND, kind_names[item->kind]);
    set_mark(row, item);
}

void tts_eventrow_note(struct tts_eventrow *row, const char *kind, const char *message)
{
    row->known = 0;
    set_word(row, TTS_ROW_KIND, kind);
    set_word(row, TTS_ROW_MESSAGE, message);
}
