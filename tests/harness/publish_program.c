/* publish_program.c: a program that publishes, for tests of the live commands.
 *   publish_program DIRECTORY DEVICES BYTES [COMMAND...]
 * DIRECTORY "-": publishes only if the environment asks for it. Device d has the unique id
 * 0xa000 + d, one buffer of (d + 1) * BYTES in DRAM, and one of 2048 bytes in L1. With a "+"
 * before DEVICES, the allocator of each device reports a DRAM of 1 GiB in 12 banks. With "-"
 * before DEVICES, the program has devices without ids.
 * Prints "ready PID" and waits for lines on standard input: "alloc N" and "free" change DRAM of
 * device 0. Ends at the end of the input. */
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

static void obey_line(struct tts_tracker *tracker, const char *line)
{
    static uint64_t id = 100;
    uint64_t bytes;
    struct tts_error err = {0};
    if (sscanf(line, "alloc %" SCNu64, &bytes) == 1)
        must_publish(tts_track_alloc(tracker, 0, TTS_POOL_DRAM, ++id, bytes, 0, &err), &err);
    else if (strcmp(line, "free\n") == 0)
        must_publish(tts_track_free(tracker, 0, TTS_POOL_DRAM, id--, 0, 0, &err), &err);
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
