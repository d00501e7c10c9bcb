/* Measures `ttscope replay RECORDING --device` per event. Recordings of 1 to 16 million events
 * are replayed on an n150, including the search for the smallest DRAM, which tries several
 * sizes. The time per million events must not grow with the file. Usage: bench_replay
 * [TTSCOPE]. The recordings are written to $TMPDIR (/tmp) and removed. Times are the smallest
 * of three runs, in processor time, because other processes may run at the same time. The exit
 * code is 1 if a command fails. */
#include "base/number.h"
#include "ttscope/recorder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 3, LIVE = 1000 };
#define MILLION UINT64_C(1000000)
/* Maximum time per event in the largest recording, relative to the smallest recording. */
#define GROWTH_AIM 1.2

extern char **environ;

static void stop(const char *what)
{
    fprintf(stderr, "bench_replay: %s\n", what);
    exit(EXIT_FAILURE);
}

static uint64_t draw(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

/* Writes a recording. Some thousand buffers of 1 to 512 pages in each of 12 banks are allocated
 * and freed at random. */
static void record(const char *path, uint64_t events)
{
    static uint64_t ids[LIVE];
    struct tts_tracker *tracker;
    struct tts_recorder *recorder;
    struct tts_recorder_config config = {.path = path};
    struct tts_error err = {0};
    uint64_t random = 1, last_id = 0, live = 0;
    if (tts_tracker_new(NULL, NULL, &tracker, &err) != TTS_OK ||
        tts_recorder_begin(tracker, &config, &recorder, &err) != TTS_OK)
        stop(err.text);
    for (uint64_t i = 0; i < events; i++) {
        bool is_free = live == LIVE || (live > LIVE / 2 && draw(&random) % 2 == 0);
        struct tts_event event = tts_event_of(is_free ? TTS_EVENT_FREE : TTS_EVENT_ALLOC, 0);
        if (is_free) {
            uint64_t at = draw(&random) % live;
            event.id = ids[at];
            ids[at] = ids[--live];
        } else {
            event.id = ids[live++] = ++last_id;
            event.page_bytes = 2048;
            event.size_bytes = UINT64_C(2048) * 12 << draw(&random) % 10;
        }
        event.pool = TTS_POOL_DRAM;
        if (tts_tracker_post(tracker, &event, NULL) != TTS_OK)
            stop("an event was refused");
    }
    if (tts_recorder_end(recorder, NULL, &err) != TTS_OK)
        stop(err.text);
    tts_tracker_free(tracker);
}

static void replay(char *ttscope, char *path, double *seconds, double *mib)
{
    static char verb[] = "replay", option[] = "--device", device[] = "n150";
    char *argv[] = {ttscope, verb, path, option, device, NULL};
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t pid = 0;
    int state = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0 ||
        wait4(pid, &state, 0, &usage) != pid)
        stop("cannot run ttscope");
    posix_spawn_file_actions_destroy(&actions);
    if (!WIFEXITED(state) || WEXITSTATUS(state) > 1)
        stop("ttscope failed");
    *seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    *mib = (double)usage.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
    static const uint64_t millions[] = {1, 4, 8, 16};
    char beside[PATH_MAX + 32] = "build/bench/bin/ttscope", path[PATH_MAX];
    const char *dir = getenv("TMPDIR");
    double first = 0;
    snprintf(path, sizeof path, "%s/bench_replay.%ld.tts", dir ? dir : "/tmp", (long)getpid());
    printf("%10s %12s %14s %10s %10s\n", "events", "seconds", "s per million", "growth", "MiB");
    for (size_t i = 0; i < sizeof millions / sizeof millions[0]; i++) {
        double best = 1e9, seconds, mib = 0;
        record(path, millions[i] * MILLION);
        for (int run = 0; run < RUNS; run++) {
            replay(argc > 1 ? argv[1] : beside, path, &seconds, &mib);
            best = seconds < best ? seconds : best;
        }
        unlink(path);
        double each = best / (double)millions[i];
        first = i == 0 ? each : first;
        printf("%8" PRIu64 " M %12.3f %14.3f %9.2fx %10.1f%s\n", millions[i], best, each,
               each / first, mib, each / first > GROWTH_AIM ? "  (aim: 1.20x, missed)" : "");
        fflush(stdout);
    }
    return 0;
}
