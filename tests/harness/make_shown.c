/* make_shown.c: a program that writes a packed recording for the tests of show:
 *     make_shown KIND OUT.tts
 * KIND is run (two phases, a mesh, a refused request, a free from before), killed, stopped,
 * missed, box (begins behind event 1000) or phases (60 of them). */
#include "model/opnames.h"
#include "model/recpack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_NS UINT64_C(5000000000)

struct story {
    struct tts_recpack *pack;
    uint64_t seq;
    const char *op;
};

static void die(const char *why)
{
    fprintf(stderr, "make_shown: %s\n", why);
    exit(3);
}

static void tell(struct story *story, struct tts_item item)
{
    struct tts_error err = {0};
    item.has_time = true;
    item.seq = story->seq;
    item.time_ns = START_NS + 1500000 * story->seq;
    if (story->op)
        item.op = (struct tts_item_op){tts_opnames_hash(story->op, strlen(story->op)),
                                       story->op, strlen(story->op)};
    if (tts_recpack_item(story->pack, &item, &err) != TTS_OK)
        die(err.text);
}

static void tell_event(struct story *story, struct tts_event event)
{
    story->seq++;
    tell(story, (struct tts_item){.kind = TTS_ITEM_EVENT, .event = event, .thread = 1});
}

static void chip(struct story *story, uint32_t device, uint32_t mesh)
{
    tell(story, (struct tts_item){.kind = TTS_ITEM_CHIP, .device = device, .mesh = mesh});
}

static void begin(struct story *story)
{
    tell(story, (struct tts_item){.kind = TTS_ITEM_BEGIN, .capture = 1});
}

static void cut(struct story *story, const char *name)
{
    tell(story,
         (struct tts_item){
             .kind = TTS_ITEM_CUT, .capture = 1, .name = name, .name_len = strlen(name)});
}

static void end(struct story *story)
{
    tell(story, (struct tts_item){.kind = TTS_ITEM_END, .capture = 1});
}

static void op_begin(struct story *story, const char *name)
{
    struct tts_event event = tts_event_of(TTS_EVENT_OP_BEGIN, 0);
    event.name = name;
    event.name_len = strlen(name);
    story->op = name;
    tell_event(story, event);
}

static void op_end(struct story *story)
{
    tell_event(story, tts_event_of(TTS_EVENT_OP_END, 0));
    story->op = NULL;
}

static void buffer(struct story *story, enum tts_event_kind kind, enum tts_pool pool,
                   uint64_t id, uint64_t bytes)
{
    struct tts_event event = tts_event_of(kind, pool == TTS_POOL_L1 ? 0 : 4);
    event.pool = pool;
    event.id = id;
    event.size_bytes = bytes;
    event.bytes_per_bank = pool == TTS_POOL_L1 ? bytes / 64 : 0;
    tell_event(story, event);
}

static void alloc(struct story *story, enum tts_pool pool, uint64_t id, uint64_t bytes)
{
    buffer(story, TTS_EVENT_ALLOC, pool, id, bytes);
}

static void give(struct story *story, enum tts_pool pool, uint64_t id, uint64_t bytes)
{
    buffer(story, TTS_EVENT_FREE, pool, id, bytes);
}

static void program(struct story *story)
{
    static const struct tts_core_range cores = {0, 0, 7, 7};
    struct tts_event event = tts_event_of(TTS_EVENT_CB, 0);
    event.size_bytes = 65536;
    event.ranges = &cores;
    event.range_count = 1;
    tell_event(story, tts_event_of(TTS_EVENT_PROGRAM, 0));
    tell_event(story, event);
}

static void refuse(struct story *story, uint64_t requested)
{
    struct tts_failure failure = {.kind = TTS_FAILURE_SPACE,
                                  .pool = TTS_POOL_DRAM,
                                  .requested_bytes = requested,
                                  .need_bytes = requested / 8,
                                  .block_bytes = requested / 8,
                                  .banks = 8,
                                  .bank_bytes = 1 << 30,
                                  .taken_bytes = 1000 << 20,
                                  .free_bytes = 24 << 20,
                                  .largest_free_bytes = 20 << 20};
    struct tts_event event = tts_event_of(TTS_EVENT_FAILURE, 0);
    event.failure = &failure;
    tell_event(story, event);
}

static void tell_run(struct story *story)
{
    chip(story, 0, 4);
    chip(story, 1, 4);
    begin(story);
    op_begin(story, "create_weights");
    for (uint64_t i = 1; i <= 12; i++)
        alloc(story, TTS_POOL_DRAM, i, i << 20);
    op_end(story);
    cut(story, "MODEL_CREATION");
    op_begin(story, "matmul\x1b[31m");
    give(story, TTS_POOL_DRAM, 900, 3 << 20); /* from before */
    alloc(story, TTS_POOL_DRAM, 20, 50 << 20);
    alloc(story, TTS_POOL_L1, 21, 64 * 20480);
    program(story);
    refuse(story, UINT64_C(400) << 20);
    op_end(story);
    give(story, TTS_POOL_DRAM, 20, 0);
    op_begin(story, "softmax");
    alloc(story, TTS_POOL_TRACE, 30, 4096);
    alloc(story, TTS_POOL_DRAM, 31, 2 << 20);
    refuse(story, UINT64_C(800) << 20);
    op_end(story);
    cut(story, "FORWARD\x1b[31m_PASS");
    end(story);
}

static void live(struct story *story, uint64_t id, uint64_t bytes)
{
    struct tts_item item = {.kind = TTS_ITEM_LIVE};
    item.live = (struct tts_live){
        .id = id, .size_bytes = bytes, .seq = id, .device = 4, .pool = TTS_POOL_DRAM};
    story->op = "create_weights";
    tell(story, item);
    story->op = NULL;
}

static void tell_box(struct story *story)
{
    story->seq = 1000;
    tell(story, (struct tts_item){.kind = TTS_ITEM_KEYFRAME, .count = 2});
    chip(story, 0, 4);
    live(story, 7, 8 << 20);
    live(story, 9, 1 << 20);
    tell(story, (struct tts_item){.kind = TTS_ITEM_ACTIVE, .capture = 1});
    tell(story, (struct tts_item){.kind = TTS_ITEM_KEYFRAME_END});
    op_begin(story, "add");
    alloc(story, TTS_POOL_DRAM, 1001, 2 << 20);
    give(story, TTS_POOL_DRAM, 7, 0);
    op_end(story);
    cut(story, "STEP");
    alloc(story, TTS_POOL_DRAM, 1002, 1 << 20);
}

static void tell_phases(struct story *story)
{
    char name[32];
    begin(story);
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "iteration_%d", i);
        alloc(story, TTS_POOL_DRAM, (uint64_t)i, 1 << 20);
        cut(story, name);
    }
    end(story);
}

static void tell_kind(struct story *story, const char *kind, struct tts_rec_state *state)
{
    if (strcmp(kind, "box") == 0)
        tell_box(story);
    else if (strcmp(kind, "phases") == 0)
        tell_phases(story);
    else
        tell_run(story);
    if (strcmp(kind, "missed") == 0)
        tell(story, (struct tts_item){.kind = TTS_ITEM_MISSED, .count = 5});
    state->kind = TTS_REC_ENDED;
    if (strcmp(kind, "killed") == 0) {
        state->kind = TTS_REC_RECORDING;
    } else if (strcmp(kind, "stopped") == 0) {
        state->kind = TTS_REC_STOPPED;
        state->sys_errno = ENOSPC;
        state->dropped = 17;
    }
}

int main(int argc, char **argv)
{
    struct story story = {0};
    struct tts_error err = {0};
    struct tts_rec_state state = {.generation = 1};
    struct tts_rec_header header = {.kind = TTS_REC_PACKED,
                                    .start_ns = START_NS,
                                    .start_realtime_ns = UINT64_C(1700000000000000000),
                                    .unit_scale = UINT64_C(1) << 32,
                                    .pid = 4711,
                                    .program = "train\x1b[2J.py",
                                    .writer = "0.1.0"};
    FILE *out = argc == 3 ? fopen(argv[2], "wb+") : NULL;
    if (!out)
        die("give a kind and a file to write");
    if (tts_recpack_new(out, &header, NULL, &story.pack, &err) != TTS_OK)
        die(err.text);
    tell_kind(&story, argv[1], &state);
    state.events = strcmp(argv[1], "box") == 0 ? story.seq - 1000 : story.seq;
    if (tts_recpack_end(story.pack, &state, &err) != TTS_OK)
        die(err.text);
    tts_recpack_free(story.pack);
    return fclose(out) == 0 ? 0 : 3;
}
