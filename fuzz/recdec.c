/* Reads bytes as the payload of a block; the first byte states how the block begins. Every
 * decoded item is valid: events are counted one by one and pass the check. Every item is the
 * same, at the same time, when it is written and read back. */
#include "model/recording/recdec.h"
#include "harness/same_item.h"
#include "model/fold.h"
#include "model/opnames.h"
#include "model/recording/recenc.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum {
    MAX_BYTES = 4096, /* maximum size of an input: short inputs are fast */
    /* Small, so that the items need more than one block. */
    CAPACITY = TTS_RECENC_ITEM_MAX + 512,
};

/* Two decoders: one reads the input, the other reads the items that were written again. */
struct rig {
    struct tts_recdec dec, again;
    struct tts_recenc enc;
    uint64_t commit;
    unsigned char payload[CAPACITY];
    struct tts_rec_block block; /* the block that is being written */
    const struct tts_item *item;
    char text[TTS_OP_NAME_MAX + 1];
};

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* Returns the name of the item that is being written, up to its first zero byte. */
static const char *text_of(void *ctx, uint64_t hash)
{
    const struct rig *rig = ctx;
    if (rig->item->op.hash != hash)
        stop("a name was asked for that the item does not have", "");
    return rig->text;
}

static void begin_block(struct rig *rig, uint64_t seq, uint64_t tick, bool in_keyframe)
{
    rig->block.seq = seq;
    rig->block.tick = tick;
    rig->block.in_keyframe = in_keyframe;
    rig->block.number++;
    tts_recenc_begin(&rig->enc, rig->payload, CAPACITY, &rig->commit, rig->block.number, tick);
    tts_recdec_begin(&rig->again, &rig->block, rig->payload, 0);
}

static void check_item(const struct tts_item *item, uint64_t seq)
{
    struct tts_error err;
    if (item->seq != seq + (item->kind == TTS_ITEM_EVENT))
        stop("events are not counted one by one", "");
    bool has_event = item->kind == TTS_ITEM_EVENT || item->kind == TTS_ITEM_PART;
    if (has_event && tts_event_check(&item->event, &err) != TTS_OK)
        stop("an event that cannot be", err.text);
    if (item->op.hash && item->op.hash != tts_opnames_hash(item->op.name, item->op.name_len))
        stop("a name is not that of its hash", "");
}

/* Returns true for a free of an unknown buffer. Only such a free has a pool or sizes. */
static bool is_unseen(const struct tts_item *item)
{
    const struct tts_event *event = &item->event;
    return item->kind == TTS_ITEM_EVENT && event->kind == TTS_EVENT_FREE &&
           (event->pool != TTS_POOL_DRAM || event->size_bytes || event->bytes_per_bank ||
            event->block_bytes);
}

/* Writes the item. Every other event uses the short function for its kind, if there is one. */
static bool write_item(struct rig *rig, const struct tts_item *item, uint64_t tick)
{
    const struct tts_event *event = &item->event;
    size_t len = item->op.hash ? item->op.name_len : 0;
    rig->item = item;
    memcpy(rig->text, item->op.name ? item->op.name : "", len);
    rig->text[len] = '\0';
    bool is_short = item->kind == TTS_ITEM_EVENT && item->seq % 2 && !is_unseen(item) &&
                    strlen(rig->text) == len;
    if (is_short && event->kind == TTS_EVENT_FREE)
        return tts_recenc_free(&rig->enc, event->device, event->id, tick);
    if (is_short && event->kind == TTS_EVENT_ALLOC && !tts_pool_is_l1(event->pool) &&
        !event->bytes_per_bank && !event->block_bytes && !event->has_address &&
        !event->page_bytes)
        return tts_recenc_alloc(&rig->enc, event->device, event->pool, event->id,
                                event->size_bytes, item->op.hash, tick);
    return tts_recenc_item(&rig->enc, item, is_unseen(item), tick);
}

/* Checks that the commit matches the written bytes, and that the bytes decode to the item. */
static void check_written(struct rig *rig, const struct tts_item *item, uint64_t tick)
{
    struct tts_checksum check;
    struct tts_error err;
    struct tts_item back;
    uint64_t back_tick;
    size_t used = tts_recenc_used(&rig->enc);
    tts_checksum_begin(&check, rig->block.number);
    uint64_t value = tts_checksum_update(&check, rig->payload, used);
    if (tts_le64(rig->commit) != (value << 32 | used))
        stop("the commit is not that of the bytes", "");
    rig->again.end = rig->payload + used;
    do {
        enum tts_status status = tts_recdec_next(&rig->again, &back, &back_tick, &err);
        if (status == TTS_E_NOT_FOUND && item->kind == TTS_ITEM_NAME)
            return; /* the block already defines the name */
        if (status != TTS_OK)
            stop("what was written cannot be read", status == TTS_E_SYNTAX ? err.text : "end");
    } while (back.kind == TTS_ITEM_NAME && item->kind != TTS_ITEM_NAME);
    if (!same_item(item, &back))
        stop("what was written reads differently", "");
    if (back_tick != tick && item->kind != TTS_ITEM_NAME)
        stop("what was written has another time", "");
    if (rig->again.at != rig->again.end)
        stop("more was written than the item", "");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct rig rig; /* keeps data of earlier runs, which does no harm */
    struct tts_item item;
    struct tts_error err;
    uint64_t tick;
    if (len == 0 || len > MAX_BYTES)
        return 0;
    rig.block = (struct tts_rec_block){.kind = TTS_REC_ITEMS, .seq = bytes[0] >> 1, .tick = 5};
    rig.block.in_keyframe = bytes[0] & 1;
    rig.enc.op = text_of;
    rig.enc.ctx = &rig;
    tts_recdec_begin(&rig.dec, &rig.block, bytes + 1, len - 1);
    uint64_t seq = rig.block.seq, last = rig.block.tick;
    bool in_keyframe = rig.block.in_keyframe;
    begin_block(&rig, seq, last, in_keyframe);
    enum tts_status status;
    while ((status = tts_recdec_next(&rig.dec, &item, &tick, &err)) == TTS_OK) {
        check_item(&item, seq);
        if (tick < last)
            stop("time falls", "");
        if (!write_item(&rig, &item, tick)) {
            begin_block(&rig, seq, last, in_keyframe);
            if (!write_item(&rig, &item, tick))
                stop("an empty block has no room", "");
        }
        check_written(&rig, &item, tick);
        seq = item.seq;
        last = item.kind == TTS_ITEM_NAME ? last : tick;
        in_keyframe = rig.dec.in_keyframe;
    }
    if (status == TTS_E_SYNTAX && (err.text[0] == '\0' || err.offset > len - 1))
        stop("an error without words or place", err.text);
    if (status != TTS_E_SYNTAX && status != TTS_E_NOT_FOUND)
        stop("another status", "");
    return 0;
}
