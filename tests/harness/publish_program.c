/* publish_program.c: a program that publishes, for tests of the live commands.
 *   publish_program DIRECTORY DEVICES BYTES [COMMAND...]
 * DIRECTORY "-": publishes only if the environment asks for it. Device d has the unique id
 * 0xa000 + d, one buffer of (d + 1) * BYTES in DRAM, and one of 2048 bytes in L1. With a "+"
 * before DEVICES, the allocator of each device reports a DRAM of 1 GiB in 12 banks. With "-"
 * before DEVICES, the program has devices without ids. With "=" the program has one device with
 * the numbers of the published block, and with "#" with those of the published table: "grow"
 * then makes the published changes.
 * Prints "ready PID" and waits for lines on standard input: "alloc N" and "free" change DRAM of
 * device 0; "churn N" allocates N buffers of 1 to 1000 bytes there and frees all but the last
 * 50, "l1 N" allocates in L1 there, "full N" says that N bytes are all of its L1, "work N
 * KEPT" allocates and frees N buffers of DRAM and keeps KEPT others, "begin" and "end" capture
 * a trace, "place N ADDRESS" allocates in L1 there, "cb ADDRESS" begins a circular buffer in
 * the memory of an L1 buffer there, "own N" begins one of N bytes in memory of its own,
 * "program" begins a program there. Ends at the end of the input. */
#include "ttscope/publish.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must_publish(enum tts_status status, const struct tts_error *err)
{
    if (status == TTS_OK)
        return;
    fprintf(stderr, "publish_program: %s\n", err->text);
    exit(1);
}

static void begin_device(struct tts_tracker *tracker, uint32_t device, uint64_t bytes,
                         char kind)
{
    struct tts_error err = {0};
    struct tts_publish_facts facts = {.unique_id_known = true, .unique_id = 0xa000 + device};
    struct tts_publish_report report = {.banks = 12,
                                        .total_bytes = 1 << 30,
                                        .allocated_bytes = bytes + 4096,
                                        .free_bytes = (1 << 30) - bytes - 4096,
                                        .largest_free_bytes = 1 << 20};
    must_publish(
        tts_track_alloc(tracker, device, TTS_POOL_DRAM, 1, (device + 1) * bytes, 0, &err),
        &err);
    must_publish(tts_track_alloc(tracker, device, TTS_POOL_L1, 2, 2048, 64, &err), &err);
    if (kind != '-')
        must_publish(tts_publish_device(tracker, device, &facts, &err), &err);
    if (kind == '+')
        must_publish(tts_publish_pool(tracker, device, TTS_POOL_DRAM, &report, 0, &err), &err);
}

#define MEGABYTES(number) ((uint64_t)((number)*1048576.0))

/* The device of the published block. */
static void begin_block(struct tts_tracker *tracker)
{
    static const struct tts_publish_report reports[TTS_POOLS] = {
        {6, 0, MEGABYTES(2304), MEGABYTES(1483.8), MEGABYTES(817.89), MEGABYTES(512)},
        {64, 0, MEGABYTES(76), MEGABYTES(52.31), MEGABYTES(23.69), MEGABYTES(8)},
        {64, 0, MEGABYTES(4), MEGABYTES(2.8499), MEGABYTES(1.15), 512 << 10},
        {1, 0, MEGABYTES(16), 0, MEGABYTES(16), MEGABYTES(16)}};
    struct tts_publish_facts facts = {.arch_known = true,
                                      .arch = TTS_ARCH_WORMHOLE,
                                      .hardware_queues = 1,
                                      .dram_channels = 6,
                                      .grid_columns = 8,
                                      .grid_rows = 8};
    struct tts_error err = {0};
    must_publish(tts_publish_device(tracker, 0, &facts, &err), &err);
    for (int pool = 0; pool < TTS_POOLS; pool++)
        must_publish(tts_publish_pool(tracker, 0, (enum tts_pool)pool, &reports[pool], 0, &err),
                     &err);
}

/* Allocates `count` buffers of L1, `bytes` together. */
static void alloc_l1(struct tts_tracker *tracker, uint64_t first_id, uint64_t count,
                     uint64_t bytes)
{
    struct tts_error err = {0};
    for (uint64_t i = 0; i < count; i++) {
        uint64_t size = i + 1 < count ? bytes / count : bytes - bytes / count * (count - 1);
        must_publish(tts_track_alloc(tracker, 0, TTS_POOL_L1, first_id + i, size, 64, &err),
                     &err);
    }
}

enum { TABLE_BUFFERS = 334, TABLE_GROWTH = 12, TABLE_FIRST_ID = 1000 };

/* The device of the published table, before the published changes. */
static void begin_table(struct tts_tracker *tracker)
{
    struct tts_error err = {0};
    must_publish(tts_track_alloc(tracker, 0, TTS_POOL_L1_SMALL, 1, MEGABYTES(0.5), 64, &err),
                 &err);
    must_publish(tts_track_alloc(tracker, 0, TTS_POOL_TRACE, 2, MEGABYTES(128), 0, &err), &err);
    alloc_l1(tracker, TABLE_FIRST_ID, TABLE_BUFFERS - 2, MEGABYTES(8.68));
}

static void churn_buffers(struct tts_tracker *tracker, uint64_t count)
{
    enum { FIRST_ID = 1000000, KEPT = 50 };
    struct tts_error err = {0};
    for (uint64_t i = 0; i < count; i++) {
        must_publish(
            tts_track_alloc(tracker, 0, TTS_POOL_DRAM, FIRST_ID + i, 1 + i % 1000, 0, &err),
            &err);
        if (i >= KEPT)
            must_publish(
                tts_track_free(tracker, 0, TTS_POOL_DRAM, FIRST_ID + i - KEPT, 0, 0, &err),
                &err);
    }
}

static void do_work(struct tts_tracker *tracker, uint64_t count, uint64_t kept)
{
    static uint64_t id = 1000;
    struct tts_error err = {0};
    for (uint64_t i = 0; i < count; i++)
        must_publish(tts_track_alloc(tracker, 0, TTS_POOL_DRAM, id + i, 65536, 0, &err), &err);
    for (uint64_t i = 0; i < count; i++)
        must_publish(tts_track_free(tracker, 0, TTS_POOL_DRAM, id + i, 0, 0, &err), &err);
    id += count;
    for (uint64_t i = 0; i < kept; i++)
        must_publish(tts_track_alloc(tracker, 0, TTS_POOL_DRAM, id++, 4096, 0, &err), &err);
}

static void report_full_l1(struct tts_tracker *tracker, uint64_t bytes)
{
    struct tts_error err = {0};
    struct tts_publish_report report = {
        .banks = 64, .total_bytes = bytes, .allocated_bytes = bytes};
    must_publish(tts_publish_pool(tracker, 0, TTS_POOL_L1, &report, 0, &err), &err);
}

static void post_trace(struct tts_tracker *tracker, enum tts_event_kind kind)
{
    struct tts_error err = {0};
    struct tts_event event = tts_event_of(kind, 0);
    must_publish(tts_tracker_post(tracker, &event, &err), &err);
}

static void place_l1_buffer(struct tts_tracker *tracker, uint64_t id, uint64_t bytes,
                            uint64_t address)
{
    struct tts_error err = {0};
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, 0);
    event.pool = TTS_POOL_L1;
    event.id = id;
    event.size_bytes = bytes;
    event.bytes_per_bank = bytes / 64;
    event.has_address = true;
    event.address = address;
    must_publish(tts_tracker_post(tracker, &event, &err), &err);
}

static void tell_borrowed_cb(struct tts_tracker *tracker, uint64_t address)
{
    static const struct tts_core_range one = {0, 0, 0, 0};
    struct tts_error err = {0};
    struct tts_event event = tts_event_of(TTS_EVENT_CB, 0);
    event.borrowed = true;
    event.size_bytes = 64;
    event.ranges = &one;
    event.range_count = 1;
    event.has_address = true;
    event.address = address;
    must_publish(tts_tracker_post(tracker, &event, &err), &err);
}

static void tell_own_cb(struct tts_tracker *tracker, uint64_t bytes)
{
    static const struct tts_core_range one = {0, 0, 0, 0};
    struct tts_error err = {0};
    struct tts_event event = tts_event_of(TTS_EVENT_CB, 0);
    event.size_bytes = bytes;
    event.ranges = &one;
    event.range_count = 1;
    must_publish(tts_tracker_post(tracker, &event, &err), &err);
}

static void obey_line(struct tts_tracker *tracker, const char *line)
{
    static uint64_t id = 100;
    uint64_t bytes, kept;
    struct tts_error err = {0};
    if (sscanf(line, "alloc %" SCNu64, &bytes) == 1)
        must_publish(tts_track_alloc(tracker, 0, TTS_POOL_DRAM, ++id, bytes, 0, &err), &err);
    else if (sscanf(line, "churn %" SCNu64, &bytes) == 1)
        churn_buffers(tracker, bytes);
    else if (strcmp(line, "free\n") == 0)
        must_publish(tts_track_free(tracker, 0, TTS_POOL_DRAM, id--, 0, 0, &err), &err);
    else if (sscanf(line, "l1 %" SCNu64, &bytes) == 1)
        must_publish(tts_track_alloc(tracker, 0, TTS_POOL_L1, ++id, bytes, 64, &err), &err);
    else if (strcmp(line, "grow\n") == 0)
        alloc_l1(tracker, TABLE_FIRST_ID + TABLE_BUFFERS, TABLE_GROWTH,
                 MEGABYTES(11.03) - MEGABYTES(8.68));
    else if (sscanf(line, "full %" SCNu64, &bytes) == 1)
        report_full_l1(tracker, bytes);
    else if (sscanf(line, "place %" SCNu64 " %" SCNu64, &bytes, &kept) == 2)
        place_l1_buffer(tracker, ++id, bytes, kept);
    else if (sscanf(line, "cb %" SCNu64, &bytes) == 1)
        tell_borrowed_cb(tracker, bytes);
    else if (sscanf(line, "own %" SCNu64, &bytes) == 1)
        tell_own_cb(tracker, bytes);
    else if (strcmp(line, "program\n") == 0)
        must_publish(tts_track_program(tracker, 0, &err), &err);
    else if (sscanf(line, "work %" SCNu64 " %" SCNu64, &bytes, &kept) == 2)
        do_work(tracker, bytes, kept);
    else if (strcmp(line, "begin\n") == 0 || strcmp(line, "end\n") == 0)
        post_trace(tracker, line[0] == 'b' ? TTS_EVENT_TRACE_BEGIN : TTS_EVENT_TRACE_END);
    puts("done");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[100];
    struct tts_error err = {0};
    if (argc < 4)
        return 2;
    char kind = strchr("+-=#", argv[2][0]) ? argv[2][0] : ' ';
    uint32_t devices = (uint32_t)strtoul(argv[2] + (kind != ' '), NULL, 10);
    struct tts_tracker *tracker = tts_tracker_process();
    struct tts_publish_config config = {
        .directory = argv[1], .buffers_max = 512, .events_max = 256};
    if (strcmp(argv[1], "-") != 0)
        must_publish(tts_publish_begin(tracker, &config, &err), &err);
    if (kind == '=')
        begin_block(tracker);
    if (kind == '#')
        begin_table(tracker);
    for (uint32_t d = 0; d < devices; d++)
        begin_device(tracker, d, strtoull(argv[3], NULL, 10), kind);
    printf("ready %ld\n", (long)getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        obey_line(tracker, line);
    return 0;
}
