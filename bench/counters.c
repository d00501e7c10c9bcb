#include "counters.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_SLOTS = 1024, READ_BYTES = 65536 };

bool locked_map_init(struct locked_map *map)
{
    *map = (struct locked_map){.mask = FIRST_SLOTS - 1};
    map->slots = calloc(FIRST_SLOTS, sizeof *map->slots);
    return map->slots && pthread_mutex_init(&map->mutex, NULL) == 0;
}

void locked_map_release(struct locked_map *map)
{
    pthread_mutex_destroy(&map->mutex);
    free(map->slots);
}

static size_t home_of(const struct locked_map *map, uint64_t id)
{
    uint64_t x = id * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(x ^ x >> 32) & map->mask;
}

/* Returns the slot of the id, or the empty slot for it. */
static size_t slot_of(const struct locked_map *map, uint64_t id)
{
    size_t at = home_of(map, id);
    while (map->slots[at].id != 0 && map->slots[at].id != id)
        at = (at + 1) & map->mask;
    return at;
}

static bool widen(struct locked_map *map)
{
    struct locked_map wide = {.mask = map->mask * 2 + 1};
    wide.slots = calloc(wide.mask + 1, sizeof *wide.slots);
    if (!wide.slots)
        return false;
    for (size_t i = 0; i <= map->mask; i++)
        if (map->slots[i].id != 0)
            wide.slots[slot_of(&wide, map->slots[i].id)] = map->slots[i];
    free(map->slots);
    map->slots = wide.slots;
    map->mask = wide.mask;
    return true;
}

bool locked_map_alloc(struct locked_map *map, uint64_t id, uint64_t bytes)
{
    pthread_mutex_lock(&map->mutex);
    bool ok = map->count * 2 <= map->mask || widen(map);
    if (ok) {
        map->slots[slot_of(map, id)] = (struct locked_slot){id, bytes};
        map->count++;
        figures_alloc(&map->figures, bytes);
    }
    pthread_mutex_unlock(&map->mutex);
    return ok;
}

/* Closes the gap of a removed slot, so that no tombstones are needed. Moves later slots into
 * the gap, unless that would move a slot before its home slot. */
static void close_gap(struct locked_map *map, size_t gap)
{
    size_t at = gap;
    for (;;) {
        at = (at + 1) & map->mask;
        if (map->slots[at].id == 0)
            break;
        size_t home = home_of(map, map->slots[at].id);
        if (((at - home) & map->mask) >= ((at - gap) & map->mask)) {
            map->slots[gap] = map->slots[at];
            gap = at;
        }
    }
    map->slots[gap] = (struct locked_slot){0};
}

void locked_map_free(struct locked_map *map, uint64_t id)
{
    pthread_mutex_lock(&map->mutex);
    size_t at = slot_of(map, id);
    if (map->slots[at].id == id) {
        figures_free(&map->figures, map->slots[at].bytes);
        map->count--;
        close_gap(map, at);
    }
    pthread_mutex_unlock(&map->mutex);
}

static void *read_all(void *arg)
{
    struct socket_sink *sink = arg;
    static _Thread_local char into[READ_BYTES];
    for (;;) {
        ssize_t n = read(sink->fds[1], into, sizeof into);
        if (n == 0 || (n < 0 && errno != EINTR))
            return NULL;
        if (n > 0)
            sink->bytes_read += (uint64_t)n;
    }
}

bool socket_sink_open(struct socket_sink *sink)
{
    *sink = (struct socket_sink){.fds = {-1, -1}};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sink->fds) != 0)
        return false;
    return pthread_create(&sink->reader, NULL, read_all, sink) == 0;
}

bool socket_sink_write(struct socket_sink *sink, const struct socket_record *record)
{
    return write(sink->fds[0], record, sizeof *record) == (ssize_t)sizeof *record;
}

void socket_sink_close(struct socket_sink *sink)
{
    close(sink->fds[0]);
    pthread_join(sink->reader, NULL);
    close(sink->fds[1]);
}
