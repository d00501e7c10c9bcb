/* make_scene.c: the recordings that tests know by name. */
#include "harness/make_recording.h"

#include <errno.h>
#include <stdio.h>

static const char *op_now;

static void put(struct make *make, struct tts_item item)
{
    if (op_now)
        item_set_op(&item, op_now);
    make_put(make, item);
}

static void chip(struct make *make, uint32_t device, uint32_t mesh)
{
    struct tts_item item = item_mark(&make->rig, TTS_ITEM_CHIP);
    item.device = device;
    item.mesh = mesh;
    put(make, item);
}

static void capture(struct make *make, enum tts_item_kind kind, const char *name)
{
    put(make, item_capture(&make->rig, kind, 1, name));
}

static void op(struct make *make, const char *name)
{
    struct tts_item item = item_op(&make->rig, 1, name);
    if (name) {
        item.event.name = name;
        item.event.name_len = strlen(name);
        op_now = name;
    }
    put(make, item);
    op_now = name;
}

static void alloc(struct make *make, enum tts_pool pool, uint64_t id, uint64_t bytes)
{
    struct tts_item item = item_alloc(&make->rig, pool == TTS_POOL_L1 ? 0 : 4, pool, id, bytes);
    item.event.bytes_per_bank = pool == TTS_POOL_L1 ? bytes / 64 : 0;
    put(make, item);
}

static void give(struct make *make, enum tts_pool pool, uint64_t id, uint64_t bytes)
{
    struct tts_item item = item_free(&make->rig, 4, pool, id);
    item.event.size_bytes = bytes;
    put(make, item);
}

static void program(struct make *make)
{
    static const struct tts_core_range cores = {0, 0, 7, 7};
    put(make, item_event(&make->rig, TTS_EVENT_PROGRAM, 0));
    put(make, item_part(&make->rig, TTS_EVENT_CB, 65536, &cores, 1));
}

static void refuse(struct make *make, uint64_t requested)
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
    struct tts_item item = item_event(&make->rig, TTS_EVENT_FAILURE, 0);
    item.event.failure = &failure;
    put(make, item);
}

static void make_run(struct make *make)
{
    chip(make, 0, 4);
    chip(make, 1, 4);
    capture(make, TTS_ITEM_BEGIN, NULL);
    op(make, "create_weights");
    for (uint64_t i = 1; i <= 12; i++)
        alloc(make, TTS_POOL_DRAM, i, i << 20);
    op(make, NULL);
    capture(make, TTS_ITEM_CUT, "MODEL_CREATION");
    op(make, "matmul\x1b[31m");
    /* This buffer was allocated before the recording began. */
    give(make, TTS_POOL_DRAM, 900, 3 << 20);
    alloc(make, TTS_POOL_DRAM, 20, 50 << 20);
    alloc(make, TTS_POOL_L1, 21, 64 * 20480);
    program(make);
    refuse(make, UINT64_C(400) << 20);
    op(make, NULL);
    give(make, TTS_POOL_DRAM, 20, 0);
    op(make, "softmax");
    alloc(make, TTS_POOL_TRACE, 30, 4096);
    alloc(make, TTS_POOL_DRAM, 31, 2 << 20);
    refuse(make, UINT64_C(800) << 20);
    op(make, NULL);
    capture(make, TTS_ITEM_CUT, "FORWARD\x1b[31m_PASS");
    capture(make, TTS_ITEM_END, NULL);
}

static void make_killed(struct make *make)
{
    make_run(make);
    make->state.kind = TTS_REC_RECORDING;
}

static void make_stopped(struct make *make)
{
    make_run(make);
    make->state.kind = TTS_REC_STOPPED;
    make->state.sys_errno = ENOSPC;
    make->state.dropped = 17;
}

static void make_missed(struct make *make)
{
    make_run(make);
    struct tts_item item = item_mark(&make->rig, TTS_ITEM_MISSED);
    item.count = 5;
    put(make, item);
}

static void live(struct make *make, uint64_t id, uint64_t bytes)
{
    struct tts_item item = item_live(&make->rig, 4, TTS_POOL_DRAM, id, bytes);
    item.live.seq = id;
    item_set_op(&item, "create_weights");
    make_put(make, item);
}

/* Makes a black box whose keyframe lists all live buffers except seven. These seven have
 * `left_bytes` bytes together. */
static void make_box_without(struct make *make, uint64_t left_bytes)
{
    make->rig.seq = make->state.events = 1000;
    struct tts_item item = item_mark(&make->rig, TTS_ITEM_KEYFRAME);
    item.count = 2;
    put(make, item);
    chip(make, 0, 4);
    live(make, 7, 8 << 20);
    live(make, 9, 1 << 20);
    if (left_bytes > 0) {
        item = item_mark(&make->rig, TTS_ITEM_MISSED);
        item.left_buffers = 7;
        item.left_bytes = left_bytes;
        put(make, item);
    }
    capture(make, TTS_ITEM_ACTIVE, NULL);
    put(make, item_mark(&make->rig, TTS_ITEM_KEYFRAME_END));
    op(make, "add");
    alloc(make, TTS_POOL_DRAM, 1001, 2 << 20);
    give(make, TTS_POOL_DRAM, 7, 0);
    op(make, NULL);
    capture(make, TTS_ITEM_CUT, "STEP");
    alloc(make, TTS_POOL_DRAM, 1002, 1 << 20);
}

static void make_box(struct make *make)
{
    make_box_without(make, 0);
}

static void make_tight(struct make *make)
{
    make_box_without(make, 4096);
}

static void make_phases(struct make *make)
{
    char name[32];
    capture(make, TTS_ITEM_BEGIN, NULL);
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "iteration_%d", i);
        alloc(make, TTS_POOL_DRAM, (uint64_t)i, 1 << 20);
        capture(make, TTS_ITEM_CUT, name);
    }
    capture(make, TTS_ITEM_END, NULL);
}

static void make_names(struct make *make)
{
    char name[32];
    for (int i = 0; i < 66000; i++) {
        snprintf(name, sizeof name, "operation_%d", i);
        op(make, name);
        op(make, NULL);
    }
}

bool make_scene(struct make *make, const char *name)
{
    static const struct {
        const char *name;
        void (*make)(struct make *make);
    } scenes[] = {{"run", make_run},       {"killed", make_killed}, {"stopped", make_stopped},
                  {"missed", make_missed}, {"box", make_box},       {"phases", make_phases},
                  {"names", make_names},   {"tight", make_tight}};
    make->step_ns = 1500000;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (strcmp(name, scenes[i].name) != 0)
            continue;
        scenes[i].make(make);
        return true;
    }
    return false;
}
