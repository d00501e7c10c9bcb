/* make_random.c: makes recordings of random histories. Only the seed determines a history. */
#include "harness/make_recording.h"

#include <stdio.h>

enum { LIVE_MAX = 6000, DEVICES = 5, THREADS = 3, CAPTURES = 2 };

static const char *const ops[] = {
    "ttnn::add", "ttnn::matmul", "=SUM(A1)",           "-minus, comma", "quo\"te",
    "new\nline", "bad\xff",      "gr\xc3\xbc\xc3\x9f", "ttnn::conv2d"};

static struct make *make;
static uint64_t rng;
static struct {
    uint64_t id;
    uint32_t device;
    enum tts_pool pool;
} live[LIVE_MAX];
static size_t live_count;
static uint64_t next_id = 1;
static uint32_t depth[THREADS + 1], traces[DEVICES], phases;
static const char *op_now;

static uint64_t below(uint64_t bound)
{
    rng ^= rng >> 12;
    rng ^= rng << 25;
    rng ^= rng >> 27;
    return rng * UINT64_C(0x2545f4914f6cdd1d) % bound;
}

static void put(struct tts_item item)
{
    make_put(make, item);
}

/* Sets the fields that depend on the pool of the buffer, and some optional fields at random. */
static void fill(struct tts_event *event)
{
    static const struct tts_core_range some[] = {{0, 0, 3, 3}, {4, 0, 4, 0}};
    if (event->pool == TTS_POOL_L1 || event->pool == TTS_POOL_L1_SMALL)
        event->bytes_per_bank = event->size_bytes / 512 + 8;
    if (event->pool == TTS_POOL_L1 && below(8) == 0) {
        event->ranges = some;
        event->range_count = 1 + below(2);
    }
    if (below(2)) {
        event->has_address = true;
        event->address = below(1 << 20) * 32;
    }
    if (below(4) == 0) {
        event->page_bytes = 2048;
        event->cores = (uint32_t)below(3) * 8;
        event->placement = (enum tts_placement)below(3);
    }
}

static void put_alloc(void)
{
    uint32_t device = (uint32_t)below(DEVICES);
    enum tts_pool pool = (enum tts_pool)below(TTS_POOLS);
    struct tts_item item =
        item_alloc(&make->rig, device, pool, next_id++, 32 * (1 + below(1 << 14)));
    fill(&item.event);
    if (op_now)
        item_set_op(&item, op_now);
    live[live_count].id = item.event.id;
    live[live_count].device = device;
    live[live_count++].pool = pool;
    put(item);
}

static void put_free(void)
{
    size_t at = below(live_count);
    struct tts_item item = item_free(&make->rig, live[at].device, live[at].pool, live[at].id);
    live[at] = live[--live_count];
    put(item);
}

static void put_unseen(void)
{
    struct tts_item item = item_free(&make->rig, 0, TTS_POOL_DRAM, UINT64_C(1) << 60);
    item.event.size_bytes = below(2) * 4096;
    put(item);
}

static void put_op(void)
{
    uint32_t thread = 1 + (uint32_t)below(THREADS);
    bool begins = depth[thread] == 0 || (depth[thread] < 4 && below(2));
    op_now = begins ? ops[below(sizeof ops / sizeof *ops)] : NULL;
    struct tts_item item = item_op(&make->rig, thread, op_now);
    depth[thread] += begins ? 1 : UINT32_MAX;
    put(item);
}

static void put_part(void)
{
    static const struct tts_core_range ranges[] = {{0, 0, 7, 7}, {8, 0, 9, 1}};
    struct tts_item item =
        below(4) == 0 ? item_event(&make->rig, TTS_EVENT_PROGRAM, 0)
                      : item_part(&make->rig, (enum tts_event_kind)(TTS_EVENT_CB + below(3)),
                                  32 * (1 + below(64)), ranges, 1 + below(2));
    item.event.device = (uint32_t)below(DEVICES);
    item.event.borrowed = item.event.kind == TTS_EVENT_CB && below(8) == 0;
    put(item);
}

static void put_trace(void)
{
    uint32_t device = (uint32_t)below(DEVICES);
    bool begins = traces[device] == 0;
    traces[device] = begins;
    put(item_event(&make->rig, begins ? TTS_EVENT_TRACE_BEGIN : TTS_EVENT_TRACE_END, device));
}

static void put_failure(void)
{
    struct tts_failure failure = {.kind = TTS_FAILURE_SPACE,
                                  .pool = TTS_POOL_L1,
                                  .requested_bytes = 1 << 20,
                                  .need_bytes = 16384,
                                  .block_bytes = 16384,
                                  .banks = 64,
                                  .bank_bytes = 1393472,
                                  .taken_bytes = 1390000,
                                  .free_bytes = 3472,
                                  .largest_free_bytes = below(3000)};
    struct tts_item item = item_event(&make->rig, TTS_EVENT_FAILURE, 1);
    item.event.failure = &failure;
    put(item);
}

static void put_phase(void)
{
    char name[32];
    snprintf(name, sizeof name, "step %u", (unsigned)++phases);
    put(item_capture(&make->rig, TTS_ITEM_CUT, 1 + phases % CAPTURES, name));
}

static void put_step(void)
{
    uint64_t choice = below(1000);
    make->rig.time_ns += below(5000);
    if (choice < 5)
        put_phase();
    else if (choice < 8)
        put_failure();
    else if (choice < 12)
        put_trace();
    else if (choice < 14)
        put_unseen();
    else if (choice < 200)
        put_op();
    else if (choice < 300)
        put_part();
    else if (live_count == LIVE_MAX || (live_count > 0 && below(100) < 49))
        put_free();
    else
        put_alloc();
}

/* Device 4 is the mesh of devices 2 and 3. */
static void put_meshes(void)
{
    for (uint32_t chip = 2; chip <= 3; chip++) {
        struct tts_item item = item_mark(&make->rig, TTS_ITEM_CHIP);
        item.device = chip;
        item.mesh = 4;
        put(item);
    }
}

/* Writes the keyframe with which a black box begins. */
static void put_keyframe(void)
{
    static const struct tts_core_range ranges[] = {{0, 0, 1, 1}};
    make->rig.seq = 1000;
    struct tts_item item = item_mark(&make->rig, TTS_ITEM_KEYFRAME);
    item.count = 3;
    put(item);
    put_meshes();
    for (uint64_t id = 1; id <= 3; id++) {
        item = item_live(&make->rig, (uint32_t)id, TTS_POOL_L1, id, 4096 * id);
        item.live.bytes_per_bank = 64 * id;
        item.live.seq = 10 * id;
        item_set_op(&item, ops[id]);
        live[live_count].id = id;
        live[live_count].device = (uint32_t)id;
        live[live_count++].pool = TTS_POOL_L1;
        put(item);
    }
    item = item_mark(&make->rig, TTS_ITEM_PART);
    item.event = tts_event_of(TTS_EVENT_CB, 1);
    item.event.size_bytes = 640;
    item.event.ranges = ranges;
    item.event.range_count = 1;
    item.live.seq = 999;
    put(item);
    item = item_mark(&make->rig, TTS_ITEM_TRACING);
    item.device = 2;
    item.count = 1;
    traces[2] = 1;
    put(item);
    for (uint32_t i = 1; i <= CAPTURES; i++)
        put(item_capture(&make->rig, TTS_ITEM_ACTIVE, i, NULL));
    put(item_mark(&make->rig, TTS_ITEM_KEYFRAME_END));
    next_id = 100;
}

void make_random(struct make *to, uint64_t events, uint64_t seed, bool is_box)
{
    make = to;
    rng = seed;
    if (seed == 0)
        make_die("a seed is not 0");
    if (is_box)
        put_keyframe();
    else
        put_meshes();
    for (uint32_t i = 1; !is_box && i <= CAPTURES; i++)
        put(item_capture(&make->rig, TTS_ITEM_BEGIN, i, NULL));
    make->state.events = make->rig.seq;
    uint64_t last = make->rig.seq + events;
    while (make->rig.seq < last)
        put_step();
    put(item_capture(&make->rig, TTS_ITEM_CUT, 1, "end"));
    put(item_capture(&make->rig, TTS_ITEM_END, 1, NULL));
}
