/* counters.h: what a tracker is measured against: the plain ways to count the same figures.
 * A map of the buffers that live behind a mutex; one socket write per event; and the figures
 * alone, which say what the others must come to. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of buffers in DRAM, in bytes. */
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

/* Open addressing, linear probing, half full at most; ids are not 0. */
struct locked_slot {
    uint64_t id, bytes;
};

struct locked_map {
    pthread_mutex_t mutex;
    struct locked_slot *slots;
    size_t mask, count;
    struct figures figures;
};

/* False: out of memory. */
bool locked_map_init(struct locked_map *map);
void locked_map_release(struct locked_map *map);
bool locked_map_alloc(struct locked_map *map, uint64_t id, uint64_t bytes);
void locked_map_free(struct locked_map *map, uint64_t id); /* passed over when not there */

/* ---- one socket write per event ---- */

struct socket_record {
    uint64_t words[8];
};

/* A stream to a thread that reads as much as it gets and forgets it. */
struct socket_sink {
    int fds[2]; /* written, read */
    pthread_t reader;
    uint64_t bytes_read; /* after release */
};

bool socket_sink_open(struct socket_sink *sink);
bool socket_sink_write(struct socket_sink *sink, const struct socket_record *record);
void socket_sink_close(struct socket_sink *sink);
