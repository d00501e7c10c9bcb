#include "views/trace/eventrows.h"

#include "base/error.h"
#include "views/samplewords.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define NAME_OF(name, text, type) text,
#define TYPE_OF(name, text, type) TTS_ROW_IS_##type,
const char *const tts_eventrow_names[] = {TTS_EVENTROW_MAP(NAME_OF)};
const enum tts_eventrow_type tts_eventrow_types[] = {TTS_EVENTROW_MAP(TYPE_OF)};
_Static_assert(TTS_ROW_FIELDS <= 32, "a bit for each");

static void set_row_number(struct tts_eventrow *row, enum tts_eventrow_field field,
                           uint64_t value)
{
    row->known |= UINT32_C(1) << field;
    row->numbers[field] = value;
}

/* Sets a number unless it is 0, which means unknown. */
static void set_row_known(struct tts_eventrow *row, enum tts_eventrow_field field,
                          uint64_t value)
{
    if (value > 0)
        set_row_number(row, field, value);
}

static void set_row_text(struct tts_eventrow *row, enum tts_eventrow_field field,
                         const char *text, size_t len)
{
    if (!text)
        return;
    row->known |= UINT32_C(1) << field;
    row->texts[field] = text;
    row->text_lens[field] = len;
}

static void set_row_word(struct tts_eventrow *row, enum tts_eventrow_field field,
                         const char *word)
{
    set_row_text(row, field, word, strlen(word));
}

static void set_row_ranges(struct tts_eventrow *row, const struct tts_event *event)
{
    if (event->range_count == 0)
        return;
    row->known |= UINT32_C(1) << TTS_ROW_RANGES;
    row->ranges = event->ranges;
    row->range_count = event->range_count;
}

/* ---- events ---- */

static void set_row_buffer(struct tts_eventrow *row, const struct tts_event *event)
{
    set_row_word(row, TTS_ROW_POOL, tts_pool_name(event->pool));
    set_row_number(row, TTS_ROW_ID, event->id);
    if (event->kind == TTS_EVENT_ALLOC || event->size_bytes > 0)
        set_row_number(row, TTS_ROW_SIZE, event->size_bytes);
    set_row_known(row, TTS_ROW_PER_BANK, event->bytes_per_bank);
    set_row_known(row, TTS_ROW_BLOCK, event->block_bytes);
}

static void set_row_device(struct tts_eventrow *row, uint32_t device)
{
    set_row_number(row, TTS_ROW_DEVICE, device);
    set_row_word(row, TTS_ROW_DEVICE_NAME, tts_devicename(device, row->device_name));
}

static void set_row_placing(struct tts_eventrow *row, const struct tts_event *event)
{
    static const char *const placements[] = {[TTS_PLACE_DEFAULT] = "default",
                                             [TTS_PLACE_UP] = "up",
                                             [TTS_PLACE_DOWN] = "down",
                                             [TTS_PLACE_AT] = "at"};
    if (event->has_address)
        set_row_number(row, TTS_ROW_ADDRESS, event->address);
    if (event->page_bytes > 0) {
        set_row_number(row, TTS_ROW_PAGE, event->page_bytes);
        set_row_number(row, TTS_ROW_CORES, event->cores);
        set_row_word(row, TTS_ROW_PLACEMENT, placements[event->placement]);
    }
    set_row_ranges(row, event);
}

static void set_row_part(struct tts_eventrow *row, const struct tts_event *event)
{
    set_row_device(row, event->device);
    set_row_number(row, TTS_ROW_SIZE, event->size_bytes);
    if (event->borrowed)
        set_row_number(row, TTS_ROW_BORROWED, 1);
    set_row_ranges(row, event);
}

static void set_row_failure(struct tts_eventrow *row, const struct tts_failure *failure)
{
    set_row_word(row, TTS_ROW_FAILURE, tts_failure_kind_name(failure->kind));
    set_row_word(row, TTS_ROW_POOL, tts_pool_name(failure->pool));
    set_row_known(row, TTS_ROW_SIZE, failure->requested_bytes);
    if (tts_failure_deficit_is_known(failure))
        set_row_number(row, TTS_ROW_MISSING, tts_failure_deficit(failure));
    set_row_word(row, TTS_ROW_MESSAGE, tts_failure_text(failure, row->message));
}

static void set_row_event(struct tts_eventrow *row, const struct tts_item *item)
{
    const struct tts_event *event = &item->event;
    set_row_word(row, TTS_ROW_KIND, tts_event_kind_name(event->kind));
    if (item->op.hash)
        set_row_text(row, TTS_ROW_OP, item->op.name, item->op.name_len);
    switch (event->kind) {
    case TTS_EVENT_ALLOC:
        set_row_placing(row, event);
        set_row_buffer(row, event);
        break;
    case TTS_EVENT_FREE:
        set_row_buffer(row, event);
        break;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        set_row_part(row, event);
        break;
    case TTS_EVENT_FAILURE:
        set_row_failure(row, event->failure);
        break;
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_OP_END:
        set_row_known(row, TTS_ROW_THREAD, item->thread);
        return;
    case TTS_EVENT_PROGRAM:
    case TTS_EVENT_TRACE_BEGIN:
    case TTS_EVENT_TRACE_END:
        break;
    }
    set_row_device(row, event->device);
}

static void set_row_live(struct tts_eventrow *row, const struct tts_item *item)
{
    struct tts_event event = item->event;
    event.kind = TTS_EVENT_ALLOC;
    event.pool = item->live.pool;
    event.id = item->live.id;
    event.size_bytes = item->live.size_bytes;
    event.bytes_per_bank = item->live.bytes_per_bank;
    event.block_bytes = item->live.block_bytes;
    set_row_placing(row, &event);
    set_row_buffer(row, &event);
    set_row_device(row, item->live.device);
}

/* Names of the kinds that are not events. */
static const char *const kind_names[] = {
    [TTS_ITEM_NAME] = "op_name",
    [TTS_ITEM_CHIP] = "chip",
    [TTS_ITEM_BEGIN] = "capture_begin",
    [TTS_ITEM_CUT] = "phase_end",
    [TTS_ITEM_END] = "capture_end",
    [TTS_ITEM_MISSED] = "missed",
    [TTS_ITEM_SAMPLE] = "sample",
    [TTS_ITEM_KEYFRAME] = "keyframe",
    [TTS_ITEM_LIVE] = "live",
    [TTS_ITEM_TRACING] = "live_traces",
    [TTS_ITEM_ACTIVE] = "capture_active",
    [TTS_ITEM_KEYFRAME_END] = "keyframe_end",
};

/* Sets the fields of a buffer, or of a part of a program, that existed before the recording
 * began. The row has the number of the event that created it. */
static void set_row_before(struct tts_eventrow *row, const struct tts_item *item)
{
    static const char *const parts[] = {"live_cb", "live_dfb", "live_scratchpad"};
    set_row_number(row, TTS_ROW_SEQ, item->live.seq);
    if (item->op.hash)
        set_row_text(row, TTS_ROW_OP, item->op.name, item->op.name_len);
    if (item->kind == TTS_ITEM_LIVE) {
        set_row_live(row, item);
        return;
    }
    assert(item->event.kind >= TTS_EVENT_CB && item->event.kind <= TTS_EVENT_SCRATCHPAD);
    set_row_word(row, TTS_ROW_KIND, parts[item->event.kind - TTS_EVENT_CB]);
    set_row_part(row, &item->event);
}

static void set_row_mark(struct tts_eventrow *row, const struct tts_item *item)
{
    enum tts_item_kind kind = item->kind;
    if (kind == TTS_ITEM_LIVE || kind == TTS_ITEM_PART)
        set_row_before(row, item);
    if (kind == TTS_ITEM_CHIP || kind == TTS_ITEM_TRACING)
        set_row_device(row, item->device);
    if (kind == TTS_ITEM_CHIP)
        set_row_number(row, TTS_ROW_MESH, item->mesh);
    if (kind == TTS_ITEM_BEGIN || kind == TTS_ITEM_CUT || kind == TTS_ITEM_END ||
        kind == TTS_ITEM_ACTIVE)
        set_row_number(row, TTS_ROW_CAPTURE, item->capture);
    if (kind == TTS_ITEM_CUT)
        set_row_text(row, TTS_ROW_NAME, item->name, item->name_len);
    if (kind == TTS_ITEM_MISSED || kind == TTS_ITEM_KEYFRAME || kind == TTS_ITEM_TRACING)
        set_row_number(row, TTS_ROW_COUNT, item->count);
}

void tts_eventrow_of(struct tts_eventrow *row, const struct tts_item *item)
{
    row->known = 0;
    set_row_number(row, TTS_ROW_SEQ, item->seq);
    if (item->has_time)
        set_row_number(row, TTS_ROW_TIME, item->time_ns);
    if (item->kind == TTS_ITEM_EVENT) {
        set_row_event(row, item);
        return;
    }
    if (item->kind != TTS_ITEM_PART)
        set_row_word(row, TTS_ROW_KIND, kind_names[item->kind]);
    set_row_mark(row, item);
}

bool tts_eventrow_sample(struct tts_eventrow *row, const struct tts_item *item, unsigned number)
{
    assert(item->kind == TTS_ITEM_SAMPLE && number < TTS_SAMPLE_VALUES);
    if (!tts_sample_has(item->sample, number))
        return false;
    const char *pool = tts_sampleword_pool(number);
    bool is_count = pool && number / TTS_POOLS == TTS_SAMPLE_BUFFERS;
    tts_eventrow_of(row, item);
    set_row_device(row, item->device);
    if (pool)
        set_row_word(row, TTS_ROW_POOL, pool);
    set_row_number(row, is_count ? TTS_ROW_COUNT : TTS_ROW_SIZE, item->sample->values[number]);
    set_row_word(row, TTS_ROW_NAME, tts_sampleword_name(number));
    return true;
}

void tts_eventrow_note(struct tts_eventrow *row, const char *kind, const char *message)
{
    row->known = 0;
    set_row_word(row, TTS_ROW_KIND, kind);
    set_row_word(row, TTS_ROW_MESSAGE, message);
}

void tts_eventrows_init(struct tts_eventrows *rows, const struct tts_alloc *alloc)
{
    tts_liveset_init(&rows->live, alloc);
    rows->buffers = 0;
    rows->l1_is_requested = false;
}

void tts_eventrows_release(struct tts_eventrows *rows)
{
    tts_liveset_release(&rows->live);
}

/* Keeps a live buffer. A buffer with the same key replaces the old one. */
static enum tts_status keep_live_entry(struct tts_eventrows *rows,
                                       struct tts_liveset_entry entry)
{
    struct tts_liveset_entry *before = tts_liveset_find(&rows->live, entry.device, entry.id);
    entry.number = ++rows->buffers;
    if (!before)
        return tts_liveset_add(&rows->live, &entry);
    *before = entry;
    return TTS_OK;
}

static enum tts_status keep_allocated(struct tts_eventrows *rows, const struct tts_event *event)
{
    if (event->size_bytes == 0)
        return TTS_OK;
    return keep_live_entry(rows,
                           (struct tts_liveset_entry){.id = event->id,
                                                      .device = event->device,
                                                      .pool = event->pool,
                                                      .bytes = event->size_bytes,
                                                      .bytes_per_bank = event->bytes_per_bank,
                                                      .block_bytes = event->block_bytes});
}

static enum tts_status keep_restored(struct tts_eventrows *rows, const struct tts_live *live)
{
    return keep_live_entry(rows,
                           (struct tts_liveset_entry){.id = live->id,
                                                      .device = live->device,
                                                      .pool = live->pool,
                                                      .bytes = live->size_bytes,
                                                      .bytes_per_bank = live->bytes_per_bank,
                                                      .block_bytes = live->block_bytes});
}

/* Returns the item, or *copy with the description of the freed buffer added. */
static const struct tts_item *complete_free(struct tts_eventrows *rows,
                                            const struct tts_item *item, struct tts_item *copy)
{
    const struct tts_event *event = &item->event;
    struct tts_liveset_entry *entry = tts_liveset_find(&rows->live, event->device, event->id);
    if (!entry)
        return item;
    *copy = *item;
    copy->event.pool = (enum tts_pool)entry->pool;
    copy->event.size_bytes = entry->bytes;
    copy->event.bytes_per_bank = entry->bytes_per_bank;
    copy->event.block_bytes = entry->block_bytes;
    tts_liveset_remove(&rows->live, entry);
    return copy;
}

enum tts_status tts_eventrows_item(struct tts_eventrows *rows, const struct tts_item *item,
                                   struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    struct tts_item copy;
    if (item->kind == TTS_ITEM_EVENT && item->event.kind == TTS_EVENT_ALLOC)
        status = keep_allocated(rows, &item->event);
    else if (item->kind == TTS_ITEM_LIVE)
        status = keep_restored(rows, &item->live);
    else if (item->kind == TTS_ITEM_EVENT && item->event.kind == TTS_EVENT_FREE)
        item = complete_free(rows, item, &copy);
    if (status != TTS_OK)
        return tts_error_set(
            err, status,
            status == TTS_E_NOMEM
                ? "out of memory"
                : "event %" PRIu64
                  ": the file has more live buffers at once than ttscope can follow",
            item->seq);
    tts_eventrow_of(&rows->row, item);
    if (rows->l1_is_requested)
        rows->row.known &= ~(UINT32_C(1) << TTS_ROW_PER_BANK | UINT32_C(1) << TTS_ROW_BLOCK);
    return TTS_OK;
}
