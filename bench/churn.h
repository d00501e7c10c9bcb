/* churn.h: threads that replace buffers at random, and where they tell of it.
 * A lane is a thread's buffers; a team is one way to be told and the lanes that feed it. Two
 * teams with the same numbers are fed the same. */
#pragma once

#include "counters.h"

#include "ttscope/capture.h"

enum { CHURN_THREADS_MAX = 2, CHURN_ROUNDS_MAX = 32, CHURN_MET_MAX = 512, CHURN_DEVICE = 0 };

enum way {
    WAY_NOWHERE, /* the loop alone */
    WAY_TRACKER,
    WAY_TRACKER_OPS, /* an operation around each event */
    WAY_MAP,
    WAY_SOCKET,
    WAY_FIGURES, /* what the others must come to */
    WAY_OTHER,   /* whoever the sink names */
    WAYS
};

typedef bool (*churn_other_fn)(void *ctx, uint64_t id, uint64_t bytes, bool is_free);

/* The one that the way names is used; sockets and figures are arrays, one for each thread. */
struct sink {
    struct tts_tracker *tracker;
    struct locked_map *map;
    struct socket_sink *socket;
    struct figures *figures;
    churn_other_fn other; /* false: not taken */
    void *ctx;
    uint64_t refused;
};

/* The buffers of one thread. Its ids grow, by turns with those of the other threads. */
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
    double best_ns; /* an event of a thread; 0: not yet */
    /* The same of the rounds in which all threads ran at once: each had its processor for nine
     * tenths of its time at least, and they ran together for three quarters of the round. */
    double met_ns[CHURN_MET_MAX];
    size_t met_count, round_count;
};

/* Allocates `live` buffers, of all threads together. Exits with a message when memory runs
 * out, as the others do. */
void team_init(struct team *team, enum way way, uint32_t threads, uint32_t live,
               const struct sink *sink);
/* Rounds, in each of which every thread, on a core of its own, feeds `events`. The best is
 * kept: from the first thread that starts to the last that ends, for an event of one. */
void team_turn(struct team *team, size_t rounds, size_t events);
/* Forgets the rounds so far. */
void team_restart(struct team *team);
/* The median of those in which the threads met; 0: they never did. */
double team_met_ns(struct team *team);
/* Events that were not taken. */
uint64_t team_release(struct team *team);

void churn_die(const char *what);
double churn_now_ns(void);
void churn_pin(uint32_t idx);
