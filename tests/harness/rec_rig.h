/* rec_rig.h: writes one block of a recording, reads it back, and compares the items. */
#pragma once

#include "base/bytes.h"
#include "harness/item_draw.h"
#include "harness/same_item.h"
#include "model/recording/recdec.h"
#include "model/recording/recenc.h"

#include <stdlib.h>

enum { CAPACITY = 9000, NUMBER = 42, BEGIN = 1000 };

/* A block that is being written, and the items written to it. */
struct rig {
    struct tts_recenc enc;
    struct tts_recdec dec;
    struct item_draw draw;
    struct tts_rec_block block;
    uint64_t commit;
    unsigned char payload[CAPACITY];
    struct tts_item items[DRAW_ITEMS];
    uint64_t ticks[DRAW_ITEMS];
    size_t count;
};

static struct rig rig;

static inline const char *text_of(void *ctx, uint64_t hash)
{
    const struct item_draw *draw = ctx;
    for (size_t i = 0; i < DRAW_OPS; i++)
        if (draw->ops[i].hash == hash)
            return draw->texts[i];
    return "no such operation";
}

static inline void begin(uint64_t seq, uint64_t tick, bool in_keyframe)
{
    rig.block = (struct tts_rec_block){
        .kind = TTS_REC_ITEMS, .number = NUMBER, .seq = seq, .tick = tick};
    rig.block.in_keyframe = in_keyframe;
    rig.enc.op = text_of;
    rig.enc.ctx = &rig.draw;
    rig.count = 0;
    tts_recenc_begin(&rig.enc, rig.payload, CAPACITY, &rig.commit, NUMBER, tick);
}

static inline void commit_holds(void)
{
    struct tts_checksum check;
    size_t used = tts_recenc_used(&rig.enc);
    tts_checksum_begin(&check, NUMBER);
    uint64_t value = tts_checksum_update(&check, rig.payload, used);
    T_EQ(tts_le64(rig.commit), value << 32 | used);
}

static inline void begin_plain(void)
{
    draw_init(&rig.draw, 1);
    begin(0, BEGIN, false);
}

static inline struct tts_item event_item(enum tts_event_kind kind)
{
    return (struct tts_item){.kind = TTS_ITEM_EVENT, .event = tts_event_of(kind, 0)};
}

static inline void put(struct tts_item item, uint64_t tick)
{
    T_TRUE(tts_recenc_item(&rig.enc, &item, false, tick));
}

static inline bool is_known(const uint64_t *hashes, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++)
        if (hashes[i] == hash)
            return true;
    return hash == 0;
}

/* Checks that the block has exactly the items that were written, each with its time, and each
 * name before the first item that uses it. */
static inline void block_holds(void)
{
    static uint64_t names[DRAW_ITEMS];
    size_t at = 0, name_count = 0, used = tts_recenc_used(&rig.enc);
    /* The copy has the exact size, so that a sanitizer detects a read after its end. */
    unsigned char *exact = malloc(used + (used == 0));
    struct tts_item item;
    struct tts_error err;
    uint64_t tick;
    memcpy(exact, rig.payload, used);
    commit_holds();
    tts_recdec_begin(&rig.dec, &rig.block, exact, used);
    enum tts_status status;
    while ((status = tts_recdec_next(&rig.dec, &item, &tick, &err)) == TTS_OK) {
        if (item.kind == TTS_ITEM_NAME) {
            T_EQ(item.op.hash, tts_opnames_hash(item.op.name, item.op.name_len));
            names[name_count++] = item.op.hash;
            continue;
        }
        while (at < rig.count && rig.items[at].kind == TTS_ITEM_NAME)
            T_TRUE(is_known(names, name_count, rig.items[at++].op.hash));
        T_TRUE(at < rig.count);
        T_TRUE(is_known(names, name_count, item.op.hash));
        T_TRUE(same_item(&item, &rig.items[at]));
        T_EQ(tick, rig.ticks[at++]);
    }
    T_EQ(status, TTS_E_NOT_FOUND);
    while (at < rig.count && rig.items[at].kind == TTS_ITEM_NAME)
        at++;
    T_EQ(at, rig.count);
    free(exact);
}
