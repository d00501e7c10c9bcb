#include "churn.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void churn_die(const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(3);
}

double churn_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- the events ------------------------------------------------------------------------- */

typedef void feed_fn(struct sink *sink, uint64_t id, uint64_t bytes, bool is_free);

static uint64_t bytes_of(uint64_t id)
{
    return 2048 * (1 + (id * UINT64_C(0x9e3779b97f4a7c15) >> 58));
}

/* Forces the compiler to calculate both values, even if no code uses them. */
static inline void work_out(uint64_t id, uint64_t bytes)
{
    __asm__ volatile("" : : "r"(id), "r"(bytes) : "memory");
}

static inline void feed_nowhere(struct sink *sink, uint64_t id, uint64_t bytes, bool is_free)
{
    (void)sink;
    (void)is_free;
    work_out(id, bytes);
}

static inline void feed_tracker(struct sink *sink, uint64_t id, uint64_t bytes, bool is_free)
{
    work_out(id, bytes);
    struct tts_tracker *tracker = sink->tracker;
    enum tts_status status =
        is_free ? tts_track_free(tracker, CHURN_DEVICE, TTS_POOL_DRAM, id, bytes, 0, NULL)
                : tts_track_alloc(tracker, CHURN_DEVICE, TTS_POOL_DRAM, id, bytes, 0, NULL);
    if (__builtin_expect(status != TTS_OK, 0))
        sink->refused++;
}

static inline void feed_tracker_ops(struct sink *sink, uint64_t id, uint64_t bytes,
                                    bool is_free)
{
    static const char name[] = "ttnn::matmul";
    if (tts_track_op_begin(sink->tracker, name, sizeof name - 1, NULL) != TTS_OK)
        sink->refused++;
    feed_tracker(sink, id, bytes, is_free);
    if (tts_track_op_end(sink->tracker, NULL) != TTS_OK)
        sink->refused++;
}

static inline void feed_map(struct sink *sink, uint64_t id, uint64_t bytes, bool is_free)
{
    work_out(id, bytes);
    if (is_free)
        locked_map_free(sink->map, id);
    else if (!locked_map_alloc(sink->map, id, bytes))
        sink->refused++;
}

static inline void feed_socket(struct sink *sink, uint64_t id, uint64_t bytes, bool is_free)
{
    struct socket_record record = {{is_free, CHURN_DEVICE, TTS_POOL_DRAM, id, bytes}};
    if (!socket_sink_write(sink->socket, &record))
        sink->refused++;
}

static inline void feed_figures(struct sink *sink, uint64_t id, uint64_t bytes, bool is_free)
{
    (void)id;
    if (is_free)
        figures_free(sink->figures, bytes);
    else
        figures_alloc(sink->figures, bytes);
}

static inline void feed_other(struct sink *sink, uint64_t id, uint64_t bytes, bool is_free)
{
    if (!sink->other(sink->ctx, id, bytes, is_free))
        sink->refused++;
}

/* Frees a live buffer and allocates the next one in its place: two events. Compiled once for
 * each kind of sink (`way`), so that no kind pays for a call through a pointer. */
static inline __attribute__((always_inline)) void churn(struct lane *lane, struct sink *sink,
                                                        size_t events, feed_fn *feed)
{
    for (size_t i = 0; i < events; i += 2) {
        uint64_t s = lane->random;
        s ^= s >> 12;
        s ^= s << 25;
        s ^= s >> 27;
        lane->random = s;
        uint64_t *id = &lane->ids[(s >> 32) * lane->live >> 32];
        feed(sink, *id, bytes_of(*id), true);
        *id = lane->next_id;
        lane->next_id += lane->stride;
        feed(sink, *id, bytes_of(*id), false);
    }
}

static void run_churn(enum way way, struct lane *lane, struct sink *sink, size_t events)
{
    switch (way) {
    case WAY_NOWHERE:
        churn(lane, sink, events, feed_nowhere);
        break;
    case WAY_TRACKER:
        churn(lane, sink, events, feed_tracker);
        break;
    case WAY_TRACKER_OPS:
        churn(lane, sink, events, feed_tracker_ops);
        break;
    case WAY_MAP:
        churn(lane, sink, events, feed_map);
        break;
    case WAY_SOCKET:
        churn(lane, sink, events, feed_socket);
        break;
    case WAY_FIGURES:
        churn(lane, sink, events, feed_figures);
        break;
    case WAY_OTHER:
        churn(lane, sink, events, feed_other);
        break;
    case WAYS:
        break;
    }
}

static void fill(struct lane *lane, struct sink *sink, feed_fn *feed)
{
    for (uint32_t i = 0; i < lane->live; i++) {
        lane->ids[i] = lane->next_id;
        lane->next_id += lane->stride;
        feed(sink, lane->ids[i], bytes_of(lane->ids[i]), false);
    }
}

static feed_fn *const feeds[WAYS] = {[WAY_NOWHERE] = feed_nowhere,
                                     [WAY_TRACKER] = feed_tracker,
                                     [WAY_TRACKER_OPS] = feed_tracker_ops,
                                     [WAY_MAP] = feed_map,
                                     [WAY_SOCKET] = feed_socket,
                                     [WAY_FIGURES] = feed_figures,
                                     [WAY_OTHER] = feed_other};

/* --- threads ---------------------------------------------------------------------------- */

struct job {
    struct team *team;
    uint32_t idx;
    size_t rounds, events;
    pthread_barrier_t *barrier;
    double starts_ns[CHURN_ROUNDS_MAX], ends_ns[CHURN_ROUNDS_MAX], used_ns[CHURN_ROUNDS_MAX];
};

/* Pins the thread to one of the allowed cores, if there are enough. */
void churn_pin(uint32_t idx)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || idx-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

/* Returns the processor time of this thread. */
static double processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *run_job(void *arg)
{
    struct job *job = arg;
    struct team *team = job->team;
    struct lane lane = team->lanes[job->idx]; /* a copy, so that threads share no cache line */
    struct sink sink = team->sinks[job->idx];
    churn_pin(job->idx);
    for (size_t i = 0; i < job->rounds; i++) {
        pthread_barrier_wait(job->barrier);
        double used_ns = processor_ns();
        job->starts_ns[i] = churn_now_ns();
        run_churn(team->way, &lane, &sink, job->events);
        job->ends_ns[i] = churn_now_ns();
        job->used_ns[i] = processor_ns() - used_ns;
    }
    team->lanes[job->idx] = lane;
    team->sinks[job->idx] = sink;
    return NULL;
}

static double round_ns(const struct job *jobs, uint32_t threads, size_t round)
{
    double start = jobs[0].starts_ns[round], end = jobs[0].ends_ns[round];
    for (uint32_t i = 1; i < threads; i++) {
        start = jobs[i].starts_ns[round] < start ? jobs[i].starts_ns[round] : start;
        end = jobs[i].ends_ns[round] > end ? jobs[i].ends_ns[round] : end;
    }
    return (end - start) / (double)jobs[0].events;
}

static bool have_met(const struct job *jobs, uint32_t threads, size_t round)
{
    double last_start = 0, first_end = jobs[0].ends_ns[round];
    for (uint32_t i = 0; i < threads; i++) {
        double start = jobs[i].starts_ns[round], end = jobs[i].ends_ns[round];
        if (jobs[i].used_ns[round] < 0.9 * (end - start))
            return false;
        last_start = start > last_start ? start : last_start;
        first_end = end < first_end ? end : first_end;
    }
    double whole_ns = round_ns(jobs, threads, round) * (double)jobs[0].events;
    return first_end - last_start >= 0.75 * whole_ns;
}

static void keep_round(struct team *team, const struct job *jobs, size_t round)
{
    double ns = round_ns(jobs, team->threads, round);
    if (team->best_ns == 0 || ns < team->best_ns)
        team->best_ns = ns;
    team->round_count++;
    if (team->met_count < CHURN_MET_MAX && have_met(jobs, team->threads, round))
        team->met_ns[team->met_count++] = ns;
}

void team_restart(struct team *team)
{
    team->best_ns = 0;
    team->met_count = team->round_count = 0;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double team_met_ns(struct team *team)
{
    qsort(team->met_ns, team->met_count, sizeof team->met_ns[0], by_size);
    return team->met_count > 0 ? team->met_ns[team->met_count / 2] : 0;
}

void team_turn(struct team *team, size_t rounds, size_t events)
{
    struct job jobs[CHURN_THREADS_MAX];
    pthread_t threads[CHURN_THREADS_MAX];
    pthread_barrier_t barrier;
    if (rounds > CHURN_ROUNDS_MAX || pthread_barrier_init(&barrier, NULL, team->threads) != 0)
        churn_die("cannot make a barrier");
    for (uint32_t i = 0; i < team->threads; i++) {
        jobs[i] = (struct job){team, i, rounds, events, &barrier, {0}, {0}, {0}};
        if (pthread_create(&threads[i], NULL, run_job, &jobs[i]) != 0)
            churn_die("cannot start a thread");
    }
    for (uint32_t i = 0; i < team->threads; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    for (size_t i = 0; i < rounds; i++)
        keep_round(team, jobs, i);
}

void team_init(struct team *team, enum way way, uint32_t threads, uint32_t live,
               const struct sink *sink)
{
    *team = (struct team){.way = way, .threads = threads};
    for (uint32_t i = 0; i < threads; i++) {
        team->lanes[i] = (struct lane){
            .live = live / threads, .next_id = i + 1, .stride = threads, .random = 8001 + i};
        team->lanes[i].ids = malloc(team->lanes[i].live * sizeof(uint64_t));
        if (!team->lanes[i].ids)
            churn_die("out of memory");
        team->sinks[i] = *sink;
        if (sink->socket)
            team->sinks[i].socket = &sink->socket[i];
        if (sink->figures)
            team->sinks[i].figures = &sink->figures[i];
        fill(&team->lanes[i], &team->sinks[i], feeds[way]);
    }
}

uint64_t team_release(struct team *team)
{
    uint64_t refused = 0;
    for (uint32_t i = 0; i < team->threads; i++) {
        free(team->lanes[i].ids);
        refused += team->sinks[i].refused;
    }
    return refused;
}
