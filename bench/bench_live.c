/* bench_live: measures the live monitoring of programs.
 *
 *   bench_live [PROGRAM] [PART]...   client, server, regions; default: all
 *
 * PROGRAM has a slash; default: build/bench/bin/ttscope.
 *
 * client: the time of an event at a program that publishes, beside the published design in the
 * same run: one blocking send() of a 112-byte frame per event, under a mutex, to a server with
 * a thread for each connection (plain_server.h). A loop replaces random DRAM buffers. In the
 * rows with a number of live buffers the events come back to back; the best of several rounds
 * counts, without the loop; the server never sleeps. In the rows "spaced" a program works for
 * 20 us between two events, as programs do, and the median counts; the send also wakes the
 * server.
 *
 * server: the processor time and the rate of frames of `ttscope serve`, beside a process that
 * only receives the same bytes and beside the published design, in the same run. Frames come
 * from four connections, glued in sends of some 64 KiB or one by one; the best of several
 * rounds counts. Then a server with 64 processes on 32 devices: its memory, and its share of a
 * core if nothing happens.
 *
 * regions: the rate at which a monitor follows the ring of a program, beside memcpy() of the
 * same bytes; each event is looked at in both. Then 64 programs with 32 devices each: the time
 * to read all regions first, unchanged, and after one event of each program; the time to make a
 * frame; and the memory of both. Medians.
 *
 * Each line is a name, a value and a unit, separated by tabs. */
#include "churn.h"
#include "live_regions.h"
#include "live_server.h"
#include "plain_server.h"
#include "ttscope/publish.h"

#include "base/ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_value(const char *name, double value, const char *unit)
{
    printf("%s\t%.2f\t%s\n", name, value, unit);
}

/* --- client ----------------------------------------------------------------------------- */

enum {
    TURNS = 8, /* one more turn comes first, which touches all memory and is not counted */
    ROUNDS = 20,
    EVENTS = 20000,
    SENDS = 2000,
    FEW = 1000,
    MANY = 32000,
    SPACED = 5001,
    SPACE_NS = 20000,
};
#define CLIENT_AIM 40.0

/* Makes a tracker that publishes in a directory of its own, so that no monitor sees it. */
static struct tts_tracker *new_published(const char *directory)
{
    struct tts_tracker *tracker;
    struct tts_error err;
    struct tts_publish_config config = {.directory = directory};
    if (tts_tracker_new(NULL, NULL, &tracker, &err) != TTS_OK ||
        tts_publish_begin(tracker, &config, &err) != TTS_OK)
        churn_die(err.text);
    return tracker;
}

static bool send_event(void *ctx, uint64_t id, uint64_t bytes, bool is_free)
{
    struct plain_client *client = ctx;
    struct plain_frame frame = {.type = is_free ? 2 : 1,
                                .size = is_free ? 0 : bytes,
                                .pid = client->pid,
                                .id = id,
                                .time_ns = is_free ? 0 : tts_clock_realtime_ns()};
    return plain_client_send(client, &frame);
}

/* Compares the published counters with the number of events. */
static void check_published(struct tts_tracker *tracker, uint64_t events)
{
    struct tts_publish_state state;
    tts_publish_get_state(tracker, &state);
    if (state.events != events || state.unlisted != 0)
        churn_die("the published events are not the events fed");
}

static double measure_published(const char *directory, uint32_t live, struct plain_client *to,
                                double *send_ns)
{
    struct sink sink = {.tracker = new_published(directory)};
    struct sink sent_to = {.other = send_event, .ctx = to};
    struct team loop, published, sent;
    team_init(&loop, WAY_NOWHERE, 1, live, &sink);
    team_init(&published, WAY_TRACKER, 1, live, &sink);
    team_init(&sent, WAY_OTHER, 1, live, &sent_to);
    for (int i = 0; i <= TURNS; i++) {
        team_turn(&loop, ROUNDS, EVENTS);
        team_turn(&published, ROUNDS, EVENTS);
        team_turn(&sent, ROUNDS, SENDS);
        if (i == 0) {
            team_restart(&loop);
            team_restart(&published);
            team_restart(&sent);
        }
    }
    check_published(sink.tracker, live + (uint64_t)(TURNS + 1) * ROUNDS * EVENTS);
    double ns = published.best_ns - loop.best_ns;
    *send_ns = sent.best_ns - loop.best_ns;
    team_release(&loop);
    team_release(&published);
    if (team_release(&sent) > 0)
        churn_die("a frame could not be sent");
    tts_tracker_free(sink.tracker);
    return ns;
}

static int by_time(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Returns the median time of one event, if there is other work between two events. Includes the
 * time to read the clock. */
static double median_spaced(struct tts_tracker *tracker, struct plain_client *to)
{
    static double times[SPACED];
    for (uint64_t i = 0; i < SPACED; i++) {
        double start = churn_now_ns();
        while (churn_now_ns() - start < SPACE_NS)
            continue;
        start = churn_now_ns();
        if (tracker && tts_track_alloc(tracker, CHURN_DEVICE, TTS_POOL_DRAM, 1 + i, 2048, 0,
                                       NULL) != TTS_OK)
            churn_die("an event was refused");
        if (to && !send_event(to, 1 + i, 2048, false))
            churn_die("a frame could not be sent");
        times[i] = churn_now_ns() - start;
    }
    qsort(times, SPACED, sizeof times[0], by_time);
    return times[SPACED / 2];
}

static void print_client(const char *kind, double ns, double send_ns)
{
    char name[64];
    double ratio = send_ns / ns;
    snprintf(name, sizeof name, "client_publish_%s", kind);
    print_value(name, ns, "ns/event");
    snprintf(name, sizeof name, "client_send_%s", kind);
    print_value(name, send_ns, "ns/event");
    snprintf(name, sizeof name, "client_ratio_%s", kind);
    print_value(name, ratio, ratio < CLIENT_AIM ? "times  below the aim of 40" : "times");
}

static void measure_spaced(const char *directory, struct plain_client *to)
{
    struct tts_tracker *tracker = new_published(directory);
    double clock_ns = median_spaced(NULL, NULL);
    double ns = median_spaced(tracker, NULL) - clock_ns;
    print_client("spaced", ns, median_spaced(NULL, to) - clock_ns);
    tts_tracker_free(tracker);
}

static void measure_client(void)
{
    static const uint32_t lives[] = {FEW, MANY};
    static const char *const names[] = {"1k", "32k"};
    char directory[64];
    /* In memory, as /dev/shm is. */
    snprintf(directory, sizeof directory, "/dev/shm/bench_live-XXXXXX");
    if (!mkdtemp(directory))
        churn_die("cannot make a directory in /dev/shm");
    struct plain_server server;
    struct plain_client client;
    if (!plain_server_open(&server) || !plain_client_open(&client, &server))
        churn_die("cannot make a server");
    for (int i = 0; i < 2; i++) {
        double send_ns, ns = measure_published(directory, lives[i], &client, &send_ns);
        print_client(names[i], ns, send_ns);
    }
    measure_spaced(directory, &client);
    plain_client_close(&client);
    plain_server_close(&server);
    rmdir(directory);
}

/* --- parts ------------------------------------------------------------------------------ */

static const char *ttscope = "build/bench/bin/ttscope";

static void measure_server(void)
{
    measure_live_server(ttscope);
}

static const struct {
    const char *name;
    void (*measure)(void);
} live_parts[] = {
    {"client", measure_client},
    {"server", measure_server},
    {"regions", measure_live_regions},
};
enum { LIVE_PARTS = sizeof live_parts / sizeof *live_parts };

int main(int argc, char **argv)
{
    int first = 1;
    if (argc > 1 && strchr(argv[1], '/'))
        ttscope = argv[first++];
    for (int i = first; i < argc; i++) {
        size_t part = 0;
        while (part < LIVE_PARTS && strcmp(argv[i], live_parts[part].name) != 0)
            part++;
        if (part == LIVE_PARTS)
            churn_die("unknown part: give client, server or regions");
        live_parts[part].measure();
    }
    for (size_t part = 0; argc == first && part < LIVE_PARTS; part++)
        live_parts[part].measure();
    return EXIT_SUCCESS;
}
