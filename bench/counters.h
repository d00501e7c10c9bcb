/* counters.h: simple ways to count the same figures, for comparison with a tracker: a map of
 * the live buffers protected by a mutex, one socket write per event, and plain sums, which give
 * the expected figures. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Figures of DRAM buffers, in bytes. */
struct figures {
    int64_t current, peak, allocated, freed;
    uint64_t allocations, frees;
};

static inline void figures_alloc(struct figures *figures, uint64_t bytes)
{
    figures->current += (int64_t)bytes;
    figures->allocated += (int64_t)bytes;
    figures->allocations++;
    if (figures->current > figures->peak)
        figures->peak = figures->current;
}

static inline void figures_free(struct figures *figures, uint64_t bytes)
{
    figures->current -= (int64_t)bytes;
    figures->freed += (int64_t)bytes;
    figures->frees++;
}

/* ---- a mutex and a hash map ---- */

/* A slot of a hash map with open addressing and linear probing, at most half full. No id is
 * 0. */
struct locked_slot {
    uint64_t id, bytes;
};

struct locked_map {
    pthread_mutex_t mutex;
    struct locked_slot *slots;
    size_t mask, count;
    struct figures figures;
};

/* Returns false if memory runs out. */
bool locked_map_init(struct locked_map *map);
void locked_map_release(struct locked_map *map);
bool locked_map_alloc(struct locked_map *map, uint64_t id, uint64_t bytes);
void locked_map_free(struct locked_map *map, uint64_t id); /* ignores an unknown id */

/* ---- one socket write per event ---- */

struct socket_record {
    uint64_t words[8];
};

/* A stream to a thread that reads and discards everything. */
struct socket_sink {
    int fds[2]; /* one end for writing, one for reading */
    pthread_t reader;
    uint64_t bytes_read; /* valid after release */
};

bool socket_sink_open(struct socket_sink *sink);
bool socket_sink_write(struct socket_sink *sink, const struct socket_record *record);
void socket_sink_close(struct socket_sink *sink);
