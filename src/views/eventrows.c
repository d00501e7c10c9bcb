#include "views/eventrows.h"

#include "base/error.h"

#include <inttypes.h>

void tts_eventrows_init(struct tts_eventrows *rows, const struct tts_alloc *alloc)
{
    tts_liveset_init(&rows->live, alloc);
    rows->buffers = 0;
}

void tts_eventrows_release(struct tts_eventrows *rows)
{
    tts_liveset_release(&rows->live);
}

/* One that comes again takes the place of the one before. */
static enum tts_status keep(struct tts_eventrows *rows, struct tts_liveset_entry entry)
{
    struct tts_liveset_entry *before = tts_liveset_find(&rows->live, entry.device, entry.id);
    entry.number = ++rows->buffers;
    if (!before)
        return tts_liveset_add(&rows->live, &entry);
    *before = entry;
    return TTS_OK;
}

static enum tts_status keep_alloc(struct tts_eventrows *rows, const struct tts_event *event)
{
    if (event->size_bytes == 0)
        return TTS_OK;
    return keep(rows, (struct tts_liveset_entry){.id = event->id,
                                                 .device = event->device,
                                                 .pool = event->pool,
                                                 .bytes = event->size_bytes,
                                                 .bytes_per_bank = event->bytes_per_bank,
                                                 .block_bytes = event->block_bytes});
}

static enum tts_status keep_live(struct tts_eventrows *rows, const struct tts_live *live)
{
    return keep(rows, (struct tts_liveset_entry){.id = live->id,
                                                 .device = live->device,
                                                 .pool = live->pool,
                                                 .bytes = live->size_bytes,
                                                 .bytes_per_bank = live->bytes_per_bank,
                                                 .block_bytes = live->block_bytes});
}

/* The item, or a copy in *copy that has what the buffer was allocated with. */
static const struct tts_item *complete(struct tts_eventrows *rows, const struct tts_item *item,
                                       struct tts_item *copy)
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
        status = keep_alloc(rows, &item->event);
    else if (item->kind == TTS_ITEM_LIVE)
        status = keep_live(rows, &item->live);
    else if (item->kind == TTS_ITEM_EVENT && item->event.kind == TTS_EVENT_FREE)
        item = complete(rows, item, &copy);
    if (status != TTS_OK)
        return tts_error_set(err, status,
                             status == TTS_E_NOMEM ? "out of memory"
                                                   : "event %" PRIu64
                                                     ": more lives at once than can be kept",
                             item->seq);
    tts_eventrow_of(&rows->row, item);
    return TTS_OK;
}
