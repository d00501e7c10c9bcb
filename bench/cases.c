#include "cases.h"

#include "churn.h"

#include "ttscope/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LIVE = 1000,
    ROUNDS = 61,
    PAIRS = 2000, /* pairs of a free and an allocation, per round */
    DEVICES = 256,
    GRID_COLUMNS = 8,
    GRID_ROWS = 7,
    BYTES = 4096,
};

/* A kind of event pair. */
struct kind {
    const char *name;
    enum tts_pool pool;
    bool in_op; /* events happen inside a named operation */
    /* Events state an address and a page size, as an attached device reports them. */
    bool has_address;
    /* Each buffer is on one core, and the cores take turns; otherwise each buffer is on all
     * cores. */
    bool is_on_core;
    bool is_recorded; /* measured in a second row with a recorder */
    uint32_t devices;
};

static const struct kind kinds[] = {
    {.name = "DRAM", .is_recorded = true, .devices = 1},
    {.name = "DRAM, after an operation was named",
     .in_op = true,
     .is_recorded = true,
     .devices = 1},
    {.name = "DRAM, with address and page",
     .has_address = true,
     .is_recorded = true,
     .devices = 1},
    {.name = "L1", .pool = TTS_POOL_L1, .is_recorded = true, .devices = 1},
    {.name = "L1, on a core of its own", .pool = TTS_POOL_L1, .is_on_core = true, .devices = 1},
    {.name = "DRAM, 256 devices in turn", .devices = DEVICES},
};

struct case_run {
    const struct kind *kind;
    struct tts_tracker *tracker;
    uint64_t ids[LIVE], next_id, random;
};

static void case_ok(enum tts_status status, const struct tts_error *err)
{
    if (status != TTS_OK)
        churn_die(err->text);
}

/* --- events ----------------------------------------------------------------------------- */

static uint32_t device_of(const struct case_run *run, uint64_t id)
{
    return (uint32_t)(id % run->kind->devices);
}

/* Posts the allocation as a complete event. */
static void post_alloc(struct case_run *run, uint64_t id, struct tts_error *err)
{
    const struct kind *kind = run->kind;
    uint16_t x = (uint16_t)(id % GRID_COLUMNS), y = (uint16_t)(id / GRID_COLUMNS % GRID_ROWS);
    struct tts_core_range core = {x, y, x, y};
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, device_of(run, id));
    event.pool = kind->pool;
    event.id = id;
    event.size_bytes = BYTES;
    event.bytes_per_bank = kind->pool == TTS_POOL_L1 ? BYTES : 0;
    event.has_address = kind->has_address;
    event.address = kind->has_address ? id % LIVE * BYTES : 0;
    event.page_bytes = kind->has_address ? 2048 : 0;
    event.ranges = kind->is_on_core ? &core : NULL;
    event.range_count = kind->is_on_core;
    case_ok(tts_tracker_post(run->tracker, &event, err), err);
}

static void tell_alloc(struct case_run *run, uint64_t id)
{
    struct tts_error err;
    const struct kind *kind = run->kind;
    if (kind->is_on_core || kind->has_address)
        post_alloc(run, id, &err);
    else
        case_ok(tts_track_alloc(run->tracker, device_of(run, id), kind->pool, id, BYTES,
                                kind->pool == TTS_POOL_L1 ? BYTES : 0, &err),
                &err);
}

static void tell_free(struct case_run *run, uint64_t id)
{
    struct tts_error err;
    case_ok(tts_track_free(run->tracker, device_of(run, id), run->kind->pool, id, 0, 0, &err),
            &err);
}

/* --- rounds ----------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_size);
    return values[count / 2];
}

/* Replaces random buffers. Returns the time per event. */
static double churn_round(struct case_run *run)
{
    double start = churn_now_ns();
    for (int i = 0; i < PAIRS; i++) {
        uint64_t s = run->random;
        s ^= s >> 12;
        s ^= s << 25;
        s ^= s >> 27;
        run->random = s;
        uint64_t *id = &run->ids[(s >> 32) * LIVE >> 32];
        tell_free(run, *id);
        *id = run->next_id++;
        tell_alloc(run, *id);
    }
    return (churn_now_ns() - start) / (2.0 * PAIRS);
}

static double churn_median(struct case_run *run)
{
    double rounds[ROUNDS];
    churn_pin(0);
    for (int i = 0; i < LIVE; i++) {
        run->ids[i] = run->next_id++;
        tell_alloc(run, run->ids[i]);
    }
    churn_round(run);
    for (int i = 0; i < ROUNDS; i++)
        rounds[i] = churn_round(run);
    return median_of(rounds, ROUNDS);
}

static double run_kind(const struct kind *kind, const char *path)
{
    struct tts_error err = {0};
    struct tts_capture *capture = NULL;
    struct tts_recorder *recorder = NULL;
    static struct case_run run;
    run = (struct case_run){.kind = kind, .next_id = 1, .random = 8001};
    case_ok(tts_tracker_new(&(struct tts_tracker_config){.devices_max = DEVICES}, NULL,
                            &run.tracker, &err),
            &err);
    case_ok(tts_capture_new(run.tracker, &capture, &err), &err);
    case_ok(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, &err), &err);
    if (path)
        case_ok(tts_recorder_begin(run.tracker, &(struct tts_recorder_config){.path = path},
                                   &recorder, &err),
                &err);
    if (kind->in_op)
        case_ok(tts_track_op_begin(run.tracker, "ttnn::matmul", 12, &err), &err);
    double ns = churn_median(&run);
    if (kind->in_op)
        case_ok(tts_track_op_end(run.tracker, &err), &err);
    if (path)
        case_ok(tts_recorder_end(recorder, NULL, &err), &err);
    tts_capture_free(capture);
    tts_tracker_free(run.tracker);
    return ns;
}

/* Measures frees. Each core has one buffer, and the cores are emptied in order. So each free
 * removes a buffer from the fullest core. */
static double run_frees(void)
{
    static const struct kind kind = {.pool = TTS_POOL_L1, .is_on_core = true, .devices = 1};
    enum { CORES = GRID_COLUMNS * GRID_ROWS, TIMES = 20 };
    struct tts_error err = {0};
    struct tts_capture *capture = NULL;
    struct case_run run = {.kind = &kind, .next_id = GRID_COLUMNS * GRID_ROWS};
    double rounds[ROUNDS];
    case_ok(tts_tracker_new(NULL, NULL, &run.tracker, &err), &err);
    case_ok(tts_capture_new(run.tracker, &capture, &err), &err);
    case_ok(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, &err), &err);
    for (int i = 0; i < ROUNDS; i++) {
        rounds[i] = 0;
        for (int k = 0; k < TIMES; k++, run.next_id += CORES) {
            for (uint64_t id = 0; id < CORES; id++)
                tell_alloc(&run, run.next_id + id);
            double start = churn_now_ns();
            for (uint64_t id = 0; id < CORES; id++)
                tell_free(&run, run.next_id + id);
            rounds[i] += (churn_now_ns() - start) / (CORES * TIMES);
        }
    }
    tts_capture_free(capture);
    tts_tracker_free(run.tracker);
    return median_of(rounds, ROUNDS);
}

void cases_run(void)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/bench_capture.%ld.tts", dir ? dir : "/tmp", (long)getpid());
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        printf("%-46s %8.1f ns/event", kinds[i].name, run_kind(&kinds[i], NULL));
        if (kinds[i].is_recorded)
            printf("   recorded %.1f", run_kind(&kinds[i], path));
        putchar('\n');
        unlink(path);
    }
    printf("%-46s %8.1f ns/event\n", "L1, free on the fullest core, of 56", run_frees());
}
