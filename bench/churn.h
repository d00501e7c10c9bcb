/* churn.h: threads that replace random buffers and report each event to a sink. A lane holds
 * the buffers of one thread. A team is one kind of sink and the lanes that feed it. Two teams
 * with the same numbers are fed the same events. */
#pragma once

#include "counters.h"

#include "ttscope/capture.h"

enum { CHURN_THREADS_MAX = 2, CHURN_ROUNDS_MAX = 32, CHURN_MET_MAX = 512, CHURN_DEVICE = 0 };

enum way {
    WAY_NOWHERE, /* runs only the loop, without a sink */
    WAY_TRACKER,
    WAY_TRACKER_OPS, /* like WAY_TRACKER, with an operation around each event */
    WAY_MAP,
    WAY_SOCKET,
    WAY_FIGURES, /* plain sums, which give the expected figures */
    WAY_OTHER,   /* calls the function in the sink */
    WAYS
};

typedef bool (*churn_other_fn)(void *ctx, uint64_t id, uint64_t bytes, bool is_free);

/* The targets of the events. Only the member for the team's `way` is used. `socket` and
 * `figures` are arrays with one element for each thread. */
struct sink {
    struct tts_tracker *tracker;
    struct locked_map *map;
    struct socket_sink *socket;
    struct figures *figures;
    churn_other_fn other; /* called for WAY_OTHER; returns false if the event was refused */
    void *ctx;
    uint64_t refused;
};

/* The buffers of one thread. Its ids increase and alternate with those of the other threads. */
struct lane {
    uint64_t *ids;
    uint32_t live;
    uint64_t next_id, stride;
    uint64_t random;
};

struct team {
    enum way way;
    uint32_t threads;
    struct lane lanes[CHURN_THREADS_MAX];
    struct sink sinks[CHURN_THREADS_MAX];
    double best_ns; /* time per event of a thread; 0: not measured yet */
    /* The time per event in each round in which all threads ran at the same time: each thread
     * had a processor for at least nine tenths of its time, and the threads overlapped for
     * three quarters of the round. */
    double met_ns[CHURN_MET_MAX];
    size_t met_count, round_count;
};

/* Allocates `live` buffers, distributed over all threads. Exits with a message if memory runs
 * out, like the other functions of this file. */
void team_init(struct team *team, enum way way, uint32_t threads, uint32_t live,
               const struct sink *sink);
/* Runs several rounds. In each round, every thread feeds `events` events on its own core. Keeps
 * the best time per event of one thread. A round lasts from the first thread's start to the
 * last thread's end. */
void team_turn(struct team *team, size_t rounds, size_t events);
/* Discards the times of all rounds so far. */
void team_restart(struct team *team);
/* Returns the median of the rounds in which the threads ran at the same time, or 0 if there
 * were none. */
double team_met_ns(struct team *team);
/* Frees the team. Returns the number of refused events. */
uint64_t team_release(struct team *team);

void churn_die(const char *what);
double churn_now_ns(void);
void churn_pin(uint32_t idx);
