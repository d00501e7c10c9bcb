/* recorded_rig.h: reads a recording in the simplest way: it holds the whole file in memory
 * and passes every item, block by block, to a function. For tests of code that writes
 * recordings. */
#pragma once

#include "base/bytes.h"
#include "base/checksum.h"
#include "harness/t.h"
#include "model/recording/recdec.h"
#include "model/recording/recformat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recording {
    unsigned char *bytes;
    size_t len;
    struct tts_rec_header header;
    struct tts_rec_state state;
    /* The blocks that can be read. Only a black box has a first_block above 0. */
    uint64_t first_block, blocks;
    uint64_t last_seq, last_tick;
};

typedef void (*recording_fn)(void *ctx, const struct tts_item *item, uint64_t time_ns);

static inline unsigned char *recording_block(const struct recording *rec, uint64_t number)
{
    uint64_t place = rec->header.places ? number % rec->header.places : number;
    uint64_t off = TTS_REC_HEADER_BYTES + place * rec->header.place_bytes;
    return off + TTS_REC_BLOCK_HEADER_BYTES <= rec->len ? rec->bytes + off : NULL;
}

/* Returns the header of the block. Returns NULL if the block was not begun, or if another block
 * is in its place. */
static inline const unsigned char *recording_look(const struct recording *rec, uint64_t number,
                                                  struct tts_rec_block *block)
{
    const unsigned char *at = recording_block(rec, number);
    if (!at || tts_get64(at + TTS_REC_COMMIT_OFF) == 0)
        return NULL;
    T_EQ(tts_rec_block_get(at, block, NULL), TTS_OK);
    T_EQ(block->place_bytes, rec->header.place_bytes);
    return block->number == number ? at : NULL;
}

static inline struct recording recording_open(const char *path)
{
    struct recording rec = {0};
    bool is_damaged;
    FILE *file = fopen(path, "rb");
    T_TRUE(file != NULL);
    fseek(file, 0, SEEK_END);
    rec.len = (size_t)ftell(file);
    rewind(file);
    T_TRUE(rec.len >= TTS_REC_HEADER_BYTES);
    rec.bytes = malloc(rec.len);
    T_EQ(fread(rec.bytes, 1, rec.len, file), rec.len);
    fclose(file);
    T_EQ(tts_rec_header_get(rec.bytes, &rec.header, NULL), TTS_OK);
    T_EQ(tts_rec_state_get(rec.bytes, &rec.state, &is_damaged, NULL), TTS_OK);
    struct tts_rec_block block;
    rec.blocks = rec.state.blocks;
    while (recording_look(&rec, rec.blocks, &block))
        /* The block was begun, but the program was killed before the state counted it. */
        rec.blocks++;
    if (rec.header.places > 0 && rec.blocks > rec.header.places)
        rec.first_block = rec.blocks - rec.header.places;
    if (rec.first_block < rec.blocks && !recording_look(&rec, rec.first_block, &block))
        rec.first_block++;
    return rec;
}

static inline void recording_close(struct recording *rec)
{
    free(rec->bytes);
}

/* Passes every item to `fn`. Checks that every block is complete and continues after the
 * previous block. */
static inline void recording_each(struct recording *rec, recording_fn fn, void *ctx)
{
    static struct tts_recdec dec;
    bool is_first = true;
    for (uint64_t number = rec->first_block; number < rec->blocks; number++) {
        struct tts_rec_block block;
        struct tts_checksum check;
        struct tts_item item;
        struct tts_error err = {0};
        enum tts_status status;
        uint64_t tick;
        const unsigned char *at = recording_look(rec, number, &block);
        T_TRUE(at != NULL);
        uint64_t commit = tts_get64(at + TTS_REC_COMMIT_OFF), used = commit & UINT32_MAX;
        at += TTS_REC_BLOCK_HEADER_BYTES;
        T_TRUE(used <= rec->len - (size_t)(at - rec->bytes));
        tts_checksum_begin(&check, number);
        T_EQ(tts_checksum_update(&check, at, used), commit >> 32);
        T_TRUE(is_first || block.seq == rec->last_seq);
        T_TRUE(!is_first || block.has_keyframe);
        is_first = false;
        rec->last_seq = block.seq;
        tts_recdec_begin(&dec, &block, at, used);
        while ((status = tts_recdec_next(&dec, &item, &tick, &err)) == TTS_OK) {
            rec->last_seq = item.seq;
            rec->last_tick = tick;
            uint64_t since = (uint64_t)((__extension__(unsigned __int128)(tick - block.tick) *
                                         rec->header.unit_scale) >>
                                        32);
            if (fn)
                fn(ctx, &item, block.time_ns + since);
        }
        if (status != TTS_E_NOT_FOUND)
            fail_msg("block %llu: %s", (unsigned long long)number, err.text);
    }
}

/* ---- as text: one line for each item, without names ---- */

struct recording_text {
    char *text;
    size_t len, capacity;
};

__attribute__((format(printf, 2, 3))) static inline void say(struct recording_text *out,
                                                             const char *format, ...)
{
    char piece[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    T_TRUE(len >= 0 && (size_t)len < sizeof piece);
    if (out->len + (size_t)len + 1 > out->capacity) {
        out->capacity = 2 * out->capacity + 4096;
        out->text = realloc(out->text, out->capacity);
        T_TRUE(out->text != NULL);
    }
    memcpy(out->text + out->len, piece, (size_t)len + 1);
    out->len += (size_t)len;
}

static inline void say_op(struct recording_text *out, const struct tts_item *item)
{
    if (item->op.hash)
        say(out, " in %.*s", (int)item->op.name_len, item->op.name);
}

static inline void say_ranges(struct recording_text *out, const struct tts_event *event)
{
    for (size_t i = 0; i < event->range_count; i++)
        say(out, " %u-%u:%u-%u", event->ranges[i].x0, event->ranges[i].y0, event->ranges[i].x1,
            event->ranges[i].y1);
}

static inline void say_sizes(struct recording_text *out, uint64_t size, uint64_t bank,
                             uint64_t block)
{
    say(out, " %llu", (unsigned long long)size);
    if (bank || block)
        say(out, "/%llu/%llu", (unsigned long long)bank, (unsigned long long)block);
}

static inline void say_event(struct recording_text *out, const struct tts_item *item)
{
    const struct tts_event *e = &item->event;
    bool is_op = e->kind == TTS_EVENT_OP_BEGIN || e->kind == TTS_EVENT_OP_END;
    say(out, "%llu %s", (unsigned long long)item->seq, tts_event_kind_name(e->kind));
    if (is_op)
        say(out, " %s", item->thread ? "of a thread" : "?");
    else
        say(out, " d%u", e->device);
    if (e->kind == TTS_EVENT_ALLOC || e->kind == TTS_EVENT_FREE) {
        say(out, " %s #%llu", tts_pool_name(e->pool), (unsigned long long)e->id);
        say_sizes(out, e->size_bytes, e->bytes_per_bank, e->block_bytes);
    }
    if (e->kind >= TTS_EVENT_CB && e->kind <= TTS_EVENT_SCRATCHPAD)
        say(out, " %llu%s", (unsigned long long)e->size_bytes, e->borrowed ? " borrowed" : "");
    if (e->kind == TTS_EVENT_ALLOC && e->has_address)
        say(out, " at %llu", (unsigned long long)e->address);
    if (e->kind == TTS_EVENT_ALLOC && e->page_bytes)
        say(out, " pages %llu on %u placed %d", (unsigned long long)e->page_bytes, e->cores,
            (int)e->placement);
    if (e->kind == TTS_EVENT_FAILURE)
        say(out, " %d %s wanted %llu", (int)e->failure->kind, tts_pool_name(e->failure->pool),
            (unsigned long long)e->failure->requested_bytes);
    say_ranges(out, e);
    say_op(out, item);
    say(out, "\n");
}

static inline void say_item(void *ctx, const struct tts_item *item, uint64_t time_ns)
{
    struct recording_text *out = ctx;
    (void)time_ns;
    switch (item->kind) {
    case TTS_ITEM_EVENT:
        say_event(out, item);
        break;
    case TTS_ITEM_NAME:
        break;
    case TTS_ITEM_CHIP:
        say(out, "chip %u of %u\n", item->device, item->mesh);
        break;
    case TTS_ITEM_BEGIN:
        say(out, "begin %u\n", item->capture);
        break;
    case TTS_ITEM_CUT:
        say(out, "cut %u %.*s\n", item->capture, (int)item->name_len, item->name);
        break;
    case TTS_ITEM_END:
        say(out, "end %u\n", item->capture);
        break;
    case TTS_ITEM_MISSED:
        if (item->left_buffers > 0)
            say(out, "left out %llu of %llu bytes\n", (unsigned long long)item->left_buffers,
                (unsigned long long)item->left_bytes);
        else
            say(out, "missed %llu\n", (unsigned long long)item->count);
        break;
    case TTS_ITEM_SAMPLE:
        say(out, "sample d%u\n", item->device);
        break;
    case TTS_ITEM_KEYFRAME:
        say(out, "keyframe %llu: %llu\n", (unsigned long long)item->seq,
            (unsigned long long)item->count);
        break;
    case TTS_ITEM_LIVE:
        say(out, "live d%u %s #%llu", item->live.device, tts_pool_name(item->live.pool),
            (unsigned long long)item->live.id);
        say_sizes(out, item->live.size_bytes, item->live.bytes_per_bank,
                  item->live.block_bytes);
        say(out, " since %llu", (unsigned long long)item->live.seq);
        say_ranges(out, &item->event);
        say_op(out, item);
        say(out, "\n");
        break;
    case TTS_ITEM_PART:
        say(out, "part d%u %s %llu since %llu", item->event.device,
            tts_event_kind_name(item->event.kind), (unsigned long long)item->event.size_bytes,
            (unsigned long long)item->live.seq);
        say_ranges(out, &item->event);
        say(out, "\n");
        break;
    case TTS_ITEM_TRACING:
        say(out, "tracing d%u %llu\n", item->device, (unsigned long long)item->count);
        break;
    case TTS_ITEM_ACTIVE:
        say(out, "active %u\n", item->capture);
        break;
    case TTS_ITEM_KEYFRAME_END:
        say(out, "keyframe end\n");
        break;
    }
}

/* Returns the place after the line that begins at `at`, and after its newline. */
static inline char *line_end(char *at)
{
    return strchr(at, '\n') + 1;
}

/* Sorts the lines of the buffers in a keyframe, because the buffers have no defined order. */
static inline void sort_lives(char *text)
{
    bool is_sorted = false;
    while (!is_sorted) {
        is_sorted = true;
        for (char *a = text, *b; *a && *(b = line_end(a)); a = b) {
            size_t a_len = (size_t)(b - a), b_len = (size_t)(line_end(b) - b);
            char kept[512];
            if (strncmp(a, "live ", 5) != 0 || strncmp(b, "live ", 5) != 0 || strcmp(a, b) <= 0)
                continue;
            memcpy(kept, a, a_len);
            memmove(a, b, b_len);
            memcpy(a + b_len, kept, a_len);
            b = a + b_len;
            is_sorted = false;
        }
    }
}

/* Returns the recording as text. The caller frees the text. */
static inline char *text_of_recording(const char *path)
{
    struct recording rec = recording_open(path);
    struct recording_text out = {0};
    recording_each(&rec, say_item, &out);
    recording_close(&rec);
    if (out.len < 4096)
        sort_lives(out.text);
    return out.text;
}
