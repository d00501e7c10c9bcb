/* print_host.c: prints what the live sources read on a host, one line for each chip, region,
 * process and log, for tests of the sources with real processes.
 *
 *     print_host ROOT [READS]
 *
 * Reads the host READS times (1) and prints the last result. If READS is more than 1, also
 * prints the mean time of a read, without the first read. Exit codes: 0 printed, 2 usage, 3 the
 * host cannot be read. */
#include "sources/live/livehost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EXIT_USAGE = 2, EXIT_HOST = 3 };

static uint64_t read_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void print_chips_and_regions(const struct tts_hostview *view)
{
    for (size_t i = 0; i < view->chip_count; i++) {
        const struct tts_seenchip *chip = &view->chips[i];
        printf("chip %" PRIu32 " holders", chip->node);
        for (size_t k = 0; k < chip->holder_count && k < TTS_HOSTVIEW_HOLDERS_MAX; k++)
            printf(" %" PRIu32, chip->holders[k]);
        printf(chip->lock_known ? " lock %" PRId32 "\n" : "\n", chip->lock_pid);
    }
    for (size_t i = 0; i < view->region_count; i++) {
        const struct tts_seenregion *region = &view->regions[i];
        printf("region %" PRIu64 " state %d private %" PRIu32 " slots", region->id,
               (int)region->state, region->private_of);
        for (size_t k = 0; k < region->slot_count; k++)
            printf(" %" PRId32, region->slots[k].pid);
        printf("\n");
    }
}

static void print_processes_and_logs(const struct tts_hostview *view)
{
    for (size_t i = 0; i < view->process_count; i++) {
        const struct tts_seenprocess *process = &view->processes[i];
        const char *namespace = "unknown";
        if (process->namespace_known && view->own_namespace_known)
        namespace = process->namespace_id == view->own_namespace_id ? "own" : "other";
        printf("process %" PRIu32 " alive %d inside %" PRIu32 " levels %" PRIu32
               " namespace %s uid %" PRIu32 " comm %s command %s\n",
               process->pid, process->is_alive, process->pid_inside, process->pid_levels,
               namespace, process->uid, process->comm, process->command);
    }
    for (size_t i = 0; i < view->buffers_count; i++)
        printf("log %" PRIu32 " L1 %" PRIu64 "\n", view->buffers[i].pid,
               view->buffers[i].bytes[TTS_POOL_L1]);
}

int main(int argc, char **argv)
{
    struct tts_livehost *host;
    struct tts_hostview view;
    struct tts_error err = {0};
    long reads = argc == 3 ? strtol(argv[2], NULL, 10) : 1;
    if (argc < 2 || argc > 3 || reads < 1)
        return EXIT_USAGE;
    tts_hostview_init(&view, NULL);
    enum tts_status status = tts_livehost_open(argv[1], NULL, &host, &err);
    if (status != TTS_OK) {
        fprintf(stderr, "print_host: %s\n", err.text);
        return EXIT_HOST;
    }
    uint64_t start = 0;
    for (long i = 0; i < reads && status == TTS_OK; i++) {
        start = i == 1 ? read_clock() : start;
        status = tts_livehost_read(host, &view, &err);
    }
    uint64_t end = read_clock();
    if (status == TTS_OK) {
        print_chips_and_regions(&view);
        print_processes_and_logs(&view);
    }
    if (reads > 1)
        printf("%" PRIu64 " ns for a read\n", (end - start) / (uint64_t)(reads - 1));
    tts_livehost_close(host);
    tts_hostview_release(&view);
    return status == TTS_OK ? EXIT_SUCCESS : EXIT_HOST;
}
