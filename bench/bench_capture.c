/* bench_capture: measures the cost of an event for a program that is tracked.
 *
 *   bench_capture [PART]...   off, 1k, 32k, 1M, socket, op, program, cases; default: all
 *
 * A loop replaces random DRAM buffers: it frees one and allocates one. The row states the
 * number of live buffers. The loop runs without a capture, with a capture that counts, and for
 * comparison, alternating in the same run, with a mutex and a hash map and with one socket
 * write per event. Each thread has its own core. For one thread the best of several rounds
 * counts. For two threads the median of the rounds counts in which both really ran at the same
 * time, and their number is printed. The time is elapsed time per event of one thread. Times
 * include the loop that draws the buffers, which has a row of its own. Only 'off' excludes it.
 * Targets are printed next to the results and marked if missed. The counted figures must be
 * equal to the events fed, otherwise the exit code is 1. */
#include "cases.h"
#include "churn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TURNS = 8, /* one more turn comes first, which touches all memory and is not counted */
    ROUNDS = 20,
    EVENTS = 20000, /* number of events per thread and round */
    SOCKET_EVENTS = 2000,
    FEW = 1000,
    MANY = 32000,
    MILLION = 1000000,
    PROGRAMS = 1000,
    CBS = 4,
    CB_BYTES = 8192,
    L1_BYTES = 4096,
    /* One program, its circular buffers, and an L1 buffer's allocation and free. */
    PROGRAM_EVENTS = 1 + CBS + 2,
};

#define OFF_AIM_NS 1.0
#define COUNTING_AIM_NS 25.0

static bool is_wrong;
static struct tts_tracker_health health; /* sum over all rows */

static void ok(enum tts_status status, const struct tts_error *err)
{
    if (status != TTS_OK)
        churn_die(err->text);
}

static const char *short_count(uint32_t n)
{
    return n == FEW ? "1k" : n == MANY ? "32k" : "1M";
}

static void row(const char *name, uint32_t live, uint32_t threads, double ns)
{
    char text[64];
    snprintf(text, sizeof text, "%s, %s live, %u thread%s", name, short_count(live), threads,
             threads > 1 ? "s" : "");
    if (ns > 0)
        printf("%-46s %8.1f ns/event", text, ns);
    else
        printf("%-46s %8s ns/event", text, "-");
    if (threads > 1 && ns > 0)
        printf("  %7.1f Mevents/s", 1e3 * threads / ns);
}

/* Prints the ratio of both times, or nothing if either time was not measured. */
static void ratio_text(double ns, double tracked_ns)
{
    if (ns > 0 && tracked_ns > 0)
        printf("   %.1f times as long", ns / tracked_ns);
}

/* Returns the best round of one thread, or the median of the rounds in which several threads
 * ran at the same time. */
static double time_of(struct team *team)
{
    return team->threads == 1 ? team->best_ns : team_met_ns(team);
}

static void met_text(const struct team *team)
{
    if (team->threads > 1)
        printf("   met in %zu of %zu rounds", team->met_count, team->round_count);
}

static void aim_text(double ns, double aim)
{
    printf("   aim %.1f%s", aim, ns > aim ? "  MISSED" : "");
}

/* --- checking the counted figures ------------------------------------------------------- */

static void compare(const char *what, int64_t got, int64_t wanted)
{
    if (got == wanted)
        return;
    printf("%s: counted %lld, fed %lld  WRONG\n", what, (long long)got, (long long)wanted);
    is_wrong = true;
}

struct session {
    struct tts_tracker *tracker;
    struct tts_capture *capture;
};

static struct session session_begin(void)
{
    struct session session;
    struct tts_error err;
    ok(tts_tracker_new(NULL, NULL, &session.tracker, &err), &err);
    ok(tts_capture_new(session.tracker, &session.capture, &err), &err);
    ok(tts_capture_begin(session.capture, TTS_CAPTURE_NORMAL, &err), &err);
    return session;
}

/* Ends the session. Returns its only phase, which is valid until the session is freed. Returns
 * NULL if events were dropped, because the figures are then incomplete. */
static const struct tts_usage *session_end(struct session *session)
{
    struct tts_tracker_health now;
    struct tts_error err;
    tts_tracker_get_health(session->tracker, &now);
    ok(tts_capture_end(session->capture, NULL, &err), &err);
    health.events += now.events;
    health.dropped += now.dropped;
    health.unlisted += now.unlisted;
    health.unseen_frees += now.unseen_frees;
    health.unknown_frees += now.unknown_frees;
    health.doubled += now.doubled;
    if (now.dropped > 0)
        printf("%llu events were dropped: figures are not compared\n",
               (unsigned long long)now.dropped);
    return now.dropped > 0 ? NULL : &tts_capture_at(session->capture, 0)->usage;
}

static void session_free(struct session *session)
{
    tts_capture_free(session->capture);
    tts_tracker_free(session->tracker);
}

/* Feeds the same events again to plain sums and compares the figures. The order of the threads
 * affects only the peak. */
static void compare_dram(const struct tts_usage *usage, const struct figures *map,
                         uint32_t live, uint32_t threads)
{
    struct figures all[CHURN_THREADS_MAX] = {0};
    struct sink sink = {.figures = all};
    struct team team;
    team_init(&team, WAY_FIGURES, threads, live, &sink);
    for (int i = 0; i <= TURNS; i++)
        team_turn(&team, ROUNDS, EVENTS);
    team_release(&team);
    struct figures fed = all[0];
    for (uint32_t i = 1; i < threads; i++) {
        fed.allocated += all[i].allocated;
        fed.freed += all[i].freed;
        fed.allocations += all[i].allocations;
        fed.frees += all[i].frees;
    }
    if (map && threads == 1)
        compare("peak of the map", map->peak, fed.peak);
    if (map)
        compare("current of the map", map->current, fed.allocated - fed.freed);
    if (!usage)
        return;
    const struct tts_pool_usage *dram = &usage->pools[TTS_POOL_DRAM];
    compare("allocated", dram->allocated_bytes, fed.allocated);
    compare("freed", dram->freed_bytes, fed.freed);
    compare("allocations", (int64_t)dram->allocations, (int64_t)fed.allocations);
    compare("frees", (int64_t)dram->frees, (int64_t)fed.frees);
    compare("current", dram->cumulative_current_bytes, fed.allocated - fed.freed);
    if (threads == 1)
        compare("peak", dram->peak_bytes, fed.peak);
}

/* --- rows ------------------------------------------------------------------------------- */

static void off(void)
{
    struct sink sink = {0};
    struct team loop, idle;
    struct tts_error err;
    ok(tts_tracker_new(NULL, NULL, &sink.tracker, &err), &err);
    team_init(&loop, WAY_NOWHERE, 1, FEW, &sink);
    team_init(&idle, WAY_TRACKER, 1, FEW, &sink);
    for (int i = 0; i < 4 * TURNS; i++) {
        team_turn(&loop, ROUNDS, EVENTS);
        team_turn(&idle, ROUNDS, EVENTS);
    }
    double ns = idle.best_ns - loop.best_ns;
    printf("%-46s %8.2f ns/event", "off, without the loop", ns > 0 ? ns : 0);
    aim_text(ns, OFF_AIM_NS);
    printf("\n%-46s %8.2f ns/event\n", "  the loop", loop.best_ns);
    team_release(&loop);
    team_release(&idle);
    tts_tracker_free(sink.tracker);
}

static void counting(uint32_t live, uint32_t threads)
{
    struct session session = session_begin();
    struct locked_map map;
    if (!locked_map_init(&map))
        churn_die("out of memory");
    struct sink sink = {.tracker = session.tracker, .map = &map};
    struct team loop, tracked, mapped;
    team_init(&loop, WAY_NOWHERE, threads, live, &sink);
    team_init(&tracked, WAY_TRACKER, threads, live, &sink);
    team_init(&mapped, WAY_MAP, threads, live, &sink);
    for (int i = 0; i <= TURNS; i++) {
        team_turn(&loop, ROUNDS, EVENTS);
        team_turn(&tracked, ROUNDS, EVENTS);
        team_turn(&mapped, ROUNDS, EVENTS);
        if (i == 0) {
            team_restart(&loop);
            team_restart(&tracked);
            team_restart(&mapped);
        }
    }
    double tracked_ns = time_of(&tracked), mapped_ns = time_of(&mapped);
    row("counting", live, threads, tracked_ns);
    if (live <= MANY && threads == 1)
        aim_text(tracked_ns, COUNTING_AIM_NS);
    met_text(&tracked);
    putchar('\n');
    row("  a mutex and a hash map", live, threads, mapped_ns);
    ratio_text(mapped_ns, tracked_ns);
    met_text(&mapped);
    putchar('\n');
    row("  the loop", live, threads, time_of(&loop));
    met_text(&loop);
    putchar('\n');
    compare_dram(session_end(&session), &map.figures, live, threads);
    if (team_release(&loop) + team_release(&mapped) > 0)
        churn_die("the map ran out of memory");
    team_release(&tracked);
    locked_map_release(&map);
    session_free(&session);
}

/* Measures socket writes. Does not vary the number of live buffers, because it matters only to
 * the tracker. */
static void sockets(uint32_t threads)
{
    struct socket_sink both[CHURN_THREADS_MAX];
    struct session session = session_begin();
    struct sink to_socket = {.socket = both}, to_tracker = {.tracker = session.tracker};
    struct team written, tracked;
    for (uint32_t i = 0; i < threads; i++)
        if (!socket_sink_open(&both[i]))
            churn_die("cannot make a socket");
    team_init(&written, WAY_SOCKET, threads, FEW, &to_socket);
    team_init(&tracked, WAY_TRACKER, threads, FEW, &to_tracker);
    for (int i = 0; i < TURNS; i++) {
        team_turn(&written, ROUNDS, SOCKET_EVENTS);
        team_turn(&tracked, ROUNDS, EVENTS);
    }
    row("one socket write per event", FEW, threads, time_of(&written));
    ratio_text(time_of(&written), time_of(&tracked));
    met_text(&written);
    putchar('\n');
    uint64_t events = 0, bytes = 0;
    for (uint32_t i = 0; i < threads; i++) {
        socket_sink_close(&both[i]);
        events += written.lanes[i].live + (uint64_t)TURNS * ROUNDS * SOCKET_EVENTS;
        bytes += both[i].bytes_read;
    }
    compare("bytes through the socket", (int64_t)bytes,
            (int64_t)(events * sizeof(struct socket_record)));
    team_release(&written);
    team_release(&tracked);
    session_end(&session);
    session_free(&session);
}

static void operations(void)
{
    struct session session = session_begin();
    struct sink sink = {.tracker = session.tracker};
    struct team team;
    team_init(&team, WAY_TRACKER_OPS, 1, MANY, &sink);
    for (int i = 0; i <= TURNS; i++)
        team_turn(&team, ROUNDS, EVENTS);
    row("operation begin, event, end", MANY, 1, team.best_ns / 3);
    printf("   %.1f ns for the three\n", team.best_ns);
    const struct tts_usage *usage = session_end(&session);
    compare_dram(usage, NULL, MANY, 1);
    if (usage)
        compare("operations", (int64_t)usage->ops,
                MANY + (TURNS + 1) * ROUNDS * (int64_t)EVENTS);
    team_release(&team);
    session_free(&session);
}

static uint64_t refused;

static void post(enum tts_status status)
{
    if (status != TTS_OK)
        refused++;
}

static void run_programs(struct tts_tracker *tracker)
{
    static const struct tts_core_range cores = {0, 0, 7, 6};
    for (uint64_t i = 1; i <= PROGRAMS; i++) {
        post(tts_track_program(tracker, CHURN_DEVICE, NULL));
        for (int cb = 0; cb < CBS; cb++)
            post(tts_track_cb(tracker, CHURN_DEVICE, TTS_EVENT_CB, &cores, 1, CB_BYTES, NULL));
        post(tts_track_alloc(tracker, CHURN_DEVICE, TTS_POOL_L1, i, 56 * L1_BYTES, L1_BYTES,
                             NULL));
        post(tts_track_free(tracker, CHURN_DEVICE, TTS_POOL_L1, i, 0, 0, NULL));
    }
}

/* Measures programs with circular buffers on 8 x 7 cores and an L1 buffer on every core. */
static void programs(void)
{
    struct session session = session_begin();
    churn_pin(0);
    double best_ns = 0;
    for (int i = 0; i < TURNS * ROUNDS; i++) {
        double start = churn_now_ns();
        run_programs(session.tracker);
        double ns = (churn_now_ns() - start) / ((double)PROGRAMS * PROGRAM_EVENTS);
        best_ns = i == 0 || ns < best_ns ? ns : best_ns;
    }
    printf("%-46s %8.1f ns/event\n", "program, 4 CBs on 56 cores, L1 buffer", best_ns);
    const struct tts_usage *usage = session_end(&session);
    compare("L1 events refused", (int64_t)refused, 0);
    if (usage) {
        const int64_t cbs = CBS * CB_BYTES;
        compare("programs", (int64_t)usage->programs, (int64_t)TURNS * ROUNDS * PROGRAMS);
        compare("peak CB", usage->peak_cb_bytes, cbs);
        compare("peak buffer", usage->pools[TTS_POOL_L1].peak_bytes, L1_BYTES);
        compare("peak total", usage->peak_total_bytes, cbs + L1_BYTES);
        compare("core peak", (int64_t)usage->core.bytes, cbs + L1_BYTES);
    }
    session_free(&session);
}

static bool is_wanted(char **words, const char *part)
{
    bool is_named = !*words;
    for (; *words; words++)
        is_named |= strcmp(*words, part) == 0;
    return is_named;
}

static void check_words(char **words)
{
    static const char *const parts[] = {"off",    "1k", "32k",     "1M",
                                        "socket", "op", "program", "cases"};
    for (; *words; words++) {
        size_t i = 0;
        while (i < sizeof parts / sizeof *parts && strcmp(*words, parts[i]) != 0)
            i++;
        if (i == sizeof parts / sizeof *parts)
            churn_die("unknown part, give some of off 1k 32k 1M socket op program cases");
    }
}

static void print_health(void)
{
    printf("%-46s %8llu events   dropped %llu, unlisted %llu, unseen frees %llu, "
           "unknown frees %llu, doubled %llu\n",
           "health of all rows", (unsigned long long)health.events,
           (unsigned long long)health.dropped, (unsigned long long)health.unlisted,
           (unsigned long long)health.unseen_frees, (unsigned long long)health.unknown_frees,
           (unsigned long long)health.doubled);
}

int main(int argc, char **argv)
{
    static const uint32_t lives[] = {FEW, MANY, MILLION};
    char **words = argv + (argc > 0);
    check_words(words);
    double load = 0;
    if (getloadavg(&load, 1) == 1)
        printf("%-46s %8.1f processes\n", "load of this machine", load);
    if (is_wanted(words, "off"))
        off();
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
        for (uint32_t threads = 1; threads <= CHURN_THREADS_MAX; threads++)
            if (is_wanted(words, short_count(lives[i])))
                counting(lives[i], threads);
    for (uint32_t threads = 1; threads <= CHURN_THREADS_MAX; threads++)
        if (is_wanted(words, "socket"))
            sockets(threads);
    if (is_wanted(words, "op"))
        operations();
    if (is_wanted(words, "program"))
        programs();
    if (is_wanted(words, "cases"))
        cases_run();
    print_health();
    return is_wrong ? 1 : 0;
}
