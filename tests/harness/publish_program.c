/* publish_program.c: a program that publishes, for tests of the live commands.
 *   publish_program DIRECTORY DEVICES BYTES [COMMAND...]
 * DIRECTORY "-": publishes only if the environment asks for it. Device d has the unique id
 * 0xa000 + d, one buffer of (d + 1) * BYTES in DRAM, and one of 2048 bytes in L1. With a "+"
 * before DEVICES, the allocator of each device reports a DRAM of 1 GiB in 12 banks. With "-"
 * before DEVICES, the program has devices without ids.
 * Prints "ready PID" and waits for lines on standard input: "alloc N" and "free" change DRAM of
 * device 0; "churn N" allocates N buffers of 1 to 1000 bytes there and frees all but the last
 * 50, "l1 N" allocates in L1 there, "full N" says that N bytes are all of its L1, "work N
 * KEPT" allocates and frees N buffers of DRAM and keeps KEPT others, "begin" and "end" capture
 * a trace. Ends at the end of the input. */
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
    else if (sscanf(line, "full %" SCNu64, &bytes) == 1)
        report_full_l1(tracker, bytes);
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
    char kind = argv[2][0] == '+' || argv[2][0] == '-' ? argv[2][0] : ' ';
    uint32_t devices = (uint32_t)strtoul(argv[2] + (kind != ' '), NULL, 10);
    struct tts_tracker *tracker = tts_tracker_process();
    struct tts_publish_config config = {
        .directory = argv[1], .buffers_max = 256, .events_max = 256};
    if (strcmp(argv[1], "-") != 0)
        must_publish(tts_publish_begin(tracker, &config, &err), &err);
    for (uint32_t d = 0; d < devices; d++)
        begin_device(tracker, d, strtoull(argv[3], NULL, 10), kind);
    printf("ready %ld\n", (long)getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        obey_line(tracker, line);
    return 0;
}
