#include "serve/serverrings.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/ticks.h"
#include "serve/serverpeer.h"
#include "serve/serverphases.h"
#include "sources/live/clientring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { EVENTS = 2048, STEP_EVENTS = 4 * EVENTS, LAST_READS = 64, MS_NS = 1000 * 1000 };

/* The circular buffers of a program on a device: now, and in the last read of the host. */
struct ring_cbs {
    uint32_t device;
    bool has_event; /* `now_bytes` comes from an event */
    uint64_t now_bytes, read_bytes;
};

/* A program that is followed. */
struct followed {
    struct tts_serverprocess process;
    struct tts_clientring *ring;
    int pidfd; /* -1: none */
    char file[sizeof((struct tts_seenclient){0}.file)];
    uint64_t due_ns;
    uint32_t pause_ms;
    uint64_t live_bytes, live_buffers; /* at the last update */
    struct tts_serverphases phases;
    struct ring_cbs *cbs; /* by device, in no order */
    size_t cbs_count, cbs_capacity;
    bool is_seen;
    /* The phases are read from the counters: the program is older than the server, or events
     * were lost. */
    bool reads_phases;
};

struct tts_serverrings {
    const struct tts_alloc *alloc;
    const char *directory;
    struct tts_serversink sink;
    struct followed *list;
    size_t count, capacity;
    size_t turn; /* the ring that comes first in the next step */
    uint64_t instances;
    uint64_t begin_ns; /* since 1970 */
    int epoll_fd, inotify_fd;
    struct tts_clientregion_event events[EVENTS];
};

enum tts_status tts_serverrings_open(const char *directory, const struct tts_serversink *sink,
                                     const struct tts_alloc *alloc,
                                     struct tts_serverrings **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_serverrings *rings = alloc->alloc(alloc->ctx, sizeof *rings);
    if (!rings)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the rings");
    memset(rings, 0, offsetof(struct tts_serverrings, events));
    rings->alloc = alloc;
    rings->directory = directory;
    rings->sink = *sink;
    rings->begin_ns = tts_clock_realtime_ns();
    rings->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    rings->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (rings->epoll_fd < 0) {
        int reason = errno;
        tts_serverrings_close(rings);
        return tts_error_set_errno(err, TTS_E_IO, reason, "cannot watch programs");
    }
    /* Without notifications, new regions are found at the next read of the host. */
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = rings->inotify_fd};
    if (rings->inotify_fd >= 0 &&
        inotify_add_watch(rings->inotify_fd, directory, IN_CREATE | IN_MOVED_TO) >= 0)
        epoll_ctl(rings->epoll_fd, EPOLL_CTL_ADD, rings->inotify_fd, &event);
    *out = rings;
    return TTS_OK;
}

static void close_followed_ring(const struct tts_serverrings *rings, struct followed *followed)
{
    if (followed->cbs)
        rings->alloc->free(rings->alloc->ctx, followed->cbs,
                           followed->cbs_capacity * sizeof *followed->cbs);
    tts_serverphases_release(&followed->phases);
    tts_clientring_close(followed->ring);
    if (followed->pidfd >= 0)
        close(followed->pidfd);
}

void tts_serverrings_close(struct tts_serverrings *rings)
{
    if (!rings)
        return;
    for (size_t i = 0; i < rings->count; i++)
        close_followed_ring(rings, &rings->list[i]);
    if (rings->list)
        rings->alloc->free(rings->alloc->ctx, rings->list,
                           rings->capacity * sizeof *rings->list);
    if (rings->inotify_fd >= 0)
        close(rings->inotify_fd);
    if (rings->epoll_fd >= 0)
        close(rings->epoll_fd);
    rings->alloc->free(rings->alloc->ctx, rings, sizeof *rings);
}

int tts_serverrings_fd(const struct tts_serverrings *rings)
{
    return rings->epoll_fd;
}

size_t tts_serverrings_count(const struct tts_serverrings *rings)
{
    return rings->count;
}

/* --- circular buffers ------------------------------------------------------------------- */

/* Returns the place of a device, or NULL without memory or with too many devices. */
static struct ring_cbs *find_ring_cbs(const struct tts_serverrings *rings,
                                      struct followed *followed, uint32_t device)
{
    for (size_t i = 0; i < followed->cbs_count; i++)
        if (followed->cbs[i].device == device)
            return &followed->cbs[i];
    if (followed->cbs_count == TTS_CLIENTREGION_DEVICES_MAX)
        return NULL;
    struct ring_cbs *list = tts_alloc_grow(rings->alloc, followed->cbs, &followed->cbs_capacity,
                                           followed->cbs_count + 1, sizeof *list);
    if (!list)
        return NULL;
    followed->cbs = list;
    list[followed->cbs_count] = (struct ring_cbs){.device = device};
    return &list[followed->cbs_count++];
}

static void count_ring_cbs(const struct tts_serverrings *rings, struct followed *followed,
                           const struct tts_clientregion_event *event)
{
    bool is_program = event->kind == TTS_CLIENTEVENT_PROGRAM; /* the ones before have ended */
    if (!is_program && event->kind != TTS_CLIENTEVENT_CB)
        return;
    struct ring_cbs *cbs = find_ring_cbs(rings, followed, event->device);
    if (!cbs)
        return;
    cbs->has_event = true;
    cbs->now_bytes = is_program ? 0 : event->live_bytes;
}

/* Takes the bytes that a read of the host found. */
static void read_ring_cbs(const struct tts_serverrings *rings, struct followed *followed,
                          const struct tts_seenview *view)
{
    struct ring_cbs *cbs =
        view->cb_known ? find_ring_cbs(rings, followed, view->logical_id) : NULL;
    if (!cbs)
        return;
    cbs->read_bytes = view->cb_bytes;
    if (!cbs->has_event || followed->reads_phases)
        cbs->now_bytes = view->cb_bytes;
}

uint64_t tts_serverrings_cb_bytes(const struct tts_serverrings *rings, uint32_t device,
                                  uint64_t read_bytes)
{
    uint64_t more = 0, less = 0;
    for (size_t i = 0; i < rings->count; i++)
        for (size_t j = 0; j < rings->list[i].cbs_count; j++) {
            const struct ring_cbs *cbs = &rings->list[i].cbs[j];
            if (cbs->device != device)
                continue;
            more += cbs->now_bytes;
            less += cbs->read_bytes;
        }
    uint64_t sum = read_bytes + more;
    return sum > less ? sum - less : 0;
}

/* --- events ----------------------------------------------------------------------------- */

static void send_ring_event(const struct tts_serverrings *rings,
                            const struct followed *followed, struct tts_serverevent *event)
{
    event->source = TTS_SERVERSOURCE_RING;
    event->process = &followed->process;
    event->time_ns = event->time_ns > 0 ? event->time_ns : tts_clock_coarse_ns();
    rings->sink.event(rings->sink.ctx, event);
}

static void send_region_event(const struct tts_serverrings *rings,
                              const struct followed *followed,
                              const struct tts_clientregion_event *from)
{
    static const enum tts_serverevent_kind kinds[] = {
        [TTS_CLIENTEVENT_ALLOC] = TTS_SERVEREVENT_ALLOC,
        [TTS_CLIENTEVENT_FREE] = TTS_SERVEREVENT_FREE,
        [TTS_CLIENTEVENT_PROGRAM] = TTS_SERVEREVENTS,
        [TTS_CLIENTEVENT_CB] = TTS_SERVEREVENT_CB_ALLOC,
        [TTS_CLIENTEVENT_TRACE_BEGIN] = TTS_SERVEREVENT_TRACE_BEGIN,
        [TTS_CLIENTEVENT_TRACE_END] = TTS_SERVEREVENT_TRACE_END,
        [TTS_CLIENTEVENT_REFUSED] = TTS_SERVEREVENT_REFUSED,
        [TTS_CLIENTEVENT_KERNEL] = TTS_SERVEREVENT_KERNEL_LOAD,
    };
    if (from->kind == 0 || from->kind >= sizeof kinds / sizeof *kinds ||
        kinds[from->kind] == TTS_SERVEREVENTS)
        return;
    struct tts_serverevent event = {
        .kind = kinds[from->kind],
        .device = from->device,
        .pool = from->pool < TTS_POOLS ? (enum tts_pool)from->pool : TTS_POOL_DRAM,
        .id_known = true,
        /* Not the address: buffers of two pools can have one address, and the address of a
         * buffer that is not in the table is unknown when the buffer is freed. */
        .id = from->id,
        .size_bytes = from->size_bytes,
        .time_ns = from->time_ns,
        .references = from->kind == TTS_CLIENTEVENT_ALLOC,
        .live_bytes = from->live_bytes};
    /* A program that frees a buffer which was allocated before it published has no size. */
    if (event.kind == TTS_SERVEREVENT_FREE && event.size_bytes == 0)
        event.kind = TTS_SERVEREVENT_UNKNOWN_FREE;
    send_ring_event(rings, followed, &event);
}

/* Where the phases of a program go. */
struct phase_target {
    const struct tts_serverrings *rings;
    const struct followed *followed;
};

static void send_phase_event(void *ctx, struct tts_serverevent *event)
{
    const struct phase_target *target = ctx;
    send_ring_event(target->rings, target->followed, event);
}

/* Hands over some events. Returns their number. Sets *has_ended if no more will come. */
static size_t read_ring(struct tts_serverrings *rings, struct followed *followed,
                        bool *has_ended)
{
    size_t count = 0;
    uint64_t lost = 0;
    enum tts_status status =
        tts_clientring_next(followed->ring, rings->events, EVENTS, &count, &lost, NULL);
    *has_ended = status != TTS_OK && status != TTS_E_BUSY;
    if (lost > 0) {
        followed->reads_phases = true;
        send_ring_event(
            rings, followed,
            &(struct tts_serverevent){.kind = TTS_SERVEREVENT_LOST, .buffers = lost});
    }
    struct phase_target target = {rings, followed};
    uint64_t now_ns = tts_clock_ns();
    for (size_t i = 0; status == TTS_OK && i < count; i++) {
        tts_serverphases_event(&followed->phases, &rings->events[i], now_ns, send_phase_event,
                               &target);
        count_ring_cbs(rings, followed, &rings->events[i]);
        send_region_event(rings, followed, &rings->events[i]);
    }
    return status == TTS_OK ? count : 0;
}

/* Hands over the news of a ring, about `most` events. Returns their number. */
static size_t follow_ring(struct tts_serverrings *rings, struct followed *followed,
                          uint64_t now_ns, size_t most)
{
    bool has_ended = false;
    size_t all = 0, count = 1;
    for (; count > 0 && all < most; all += count)
        count = read_ring(rings, followed, &has_ended);
    tts_serverphases_settle(&followed->phases, now_ns, send_phase_event,
                            &(struct phase_target){rings, followed});
    uint32_t pause_ms = all > 0 ? TTS_SERVERRINGS_BUSY_MS : followed->pause_ms * 2;
    followed->pause_ms =
        pause_ms < TTS_SERVERRINGS_IDLE_MS ? pause_ms : TTS_SERVERRINGS_IDLE_MS;
    followed->due_ns = has_ended ? UINT64_MAX : now_ns + followed->pause_ms * (uint64_t)MS_NS;
    if (count > 0)
        followed->due_ns = now_ns; /* there are more */
    return all;
}

int tts_serverrings_step(struct tts_serverrings *rings, uint64_t now_ns)
{
    uint64_t first_ns = UINT64_MAX;
    size_t events = 0;
    for (size_t i = 0; i < rings->count; i++) {
        size_t at = (rings->turn + i) % rings->count;
        struct followed *followed = &rings->list[at];
        if (followed->due_ns <= now_ns)
            events += follow_ring(rings, followed, now_ns, STEP_EVENTS / 2);
        first_ns = followed->due_ns < first_ns ? followed->due_ns : first_ns;
        if (events >= STEP_EVENTS) {
            rings->turn = at + 1; /* the sockets come first, then the other rings */
            return 0;
        }
    }
    if (first_ns == UINT64_MAX)
        return -1;
    return first_ns > now_ns ? (int)((first_ns - now_ns) / MS_NS) + 1 : 0;
}

/* --- programs that come and go ---------------------------------------------------------- */

static void measure_client(const struct tts_serverrings *rings, struct followed *followed,
                           const struct tts_hostview *view, const struct tts_seenclient *client)
{
    for (size_t i = client->first_view; i < client->first_view + client->view_count; i++)
        if (i < view->view_count)
            read_ring_cbs(rings, followed, &view->views[i]);
    for (size_t i = client->first_view; i < client->first_view + client->view_count; i++)
        for (int pool = 0; i < view->view_count && pool < TTS_POOLS; pool++) {
            followed->live_bytes += view->views[i].counted_bytes[pool];
            followed->live_buffers += view->views[i].counted_buffers[pool];
        }
}

/* Takes the phases from the counters if that is wanted. The host is read while the events are
 * followed: counters that are older than the last event wait for the next read. */
static void see_client_phases(struct followed *followed, const struct tts_hostview *view,
                              const struct tts_seenclient *client)
{
    if (!followed->reads_phases || client->events < tts_clientring_passed(followed->ring))
        return;
    for (size_t i = client->first_view; i < client->first_view + client->view_count; i++)
        if (i < view->view_count)
            tts_serverphases_see(&followed->phases, &view->views[i], tts_clock_ns());
    followed->reads_phases = false;
}

static struct followed *find_followed(struct tts_serverrings *rings, const char *file)
{
    for (size_t i = 0; i < rings->count; i++)
        if (strcmp(rings->list[i].file, file) == 0)
            return &rings->list[i];
    return NULL;
}

static void watch_end(struct tts_serverrings *rings, struct followed *followed)
{
    struct tts_serverpeer peer;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    tts_serverpeer_look(followed->process.pid, &peer);
    followed->pidfd = peer.pidfd;
    event.data.fd = peer.pidfd;
    if (peer.pidfd >= 0)
        epoll_ctl(rings->epoll_fd, EPOLL_CTL_ADD, peer.pidfd, &event);
}

static struct followed *follow_client(struct tts_serverrings *rings,
                                      const struct tts_seenclient *client)
{
    char path[TTS_HOSTVIEW_PATH_MAX + sizeof client->file];
    struct followed added = {
        .pidfd = -1, .pause_ms = TTS_SERVERRINGS_BUSY_MS, .phases.alloc = rings->alloc};
    if (rings->count == TTS_SERVERRINGS_MAX)
        return NULL;
    struct followed *list = tts_alloc_grow(rings->alloc, rings->list, &rings->capacity,
                                           rings->count + 1, sizeof *list);
    if (!list)
        return NULL;
    rings->list = list;
    snprintf(path, sizeof path, "%s/%s", rings->directory, client->file);
    if (tts_clientring_open(path, rings->alloc, &added.ring, NULL) != TTS_OK)
        return NULL;
    /* Programs that began after the server are followed from their first event on. */
    if (tts_clientring_header(added.ring)->begin_ns >= rings->begin_ns)
        tts_clientring_rewind(added.ring);
    else
        added.reads_phases = true;
    added.process =
        (struct tts_serverprocess){.instance = ++rings->instances | UINT64_C(1) << 62,
                                   .pid = client->pid,
                                   .pid_inside = client->pid_inside,
                                   .start_ticks = client->start_ticks};
    memcpy(added.process.name, client->comm, sizeof added.process.name);
    memcpy(added.file, client->file, sizeof added.file);
    struct followed *followed = &list[rings->count++];
    *followed = added;
    if (client->pid > 0)
        watch_end(rings, followed);
    send_ring_event(rings, followed, &(struct tts_serverevent){.kind = TTS_SERVEREVENT_BEGIN});
    return followed;
}

/* Hands over the last events of a program and forgets it. */
static void end_followed(struct tts_serverrings *rings, struct followed *followed, bool is_dead)
{
    bool has_ended = false;
    for (int i = 0; i < LAST_READS && !has_ended; i++)
        if (read_ring(rings, followed, &has_ended) == 0)
            break;
    if (is_dead)
        send_ring_event(rings, followed,
                        &(struct tts_serverevent){.kind = TTS_SERVEREVENT_DEATH,
                                                  .size_bytes = followed->live_bytes,
                                                  .buffers = followed->live_buffers});
    close_followed_ring(rings, followed);
    *followed = rings->list[--rings->count];
}

void tts_serverrings_clear(struct tts_serverrings *rings)
{
    struct epoll_event events[16];
    char notes[4096];
    for (int i = 0; i < 64 && read(rings->inotify_fd, notes, sizeof notes) > 0; i++)
        continue;
    for (int i = 0; i < 64 && epoll_wait(rings->epoll_fd, events, 16, 0) > 0; i++)
        continue;
}

void tts_serverrings_update(struct tts_serverrings *rings, const struct tts_hostview *view,
                            bool (*is_sender)(void *ctx, uint32_t pid), void *ctx)
{
    for (size_t i = 0; i < rings->count; i++) {
        rings->list[i].is_seen = false;
        /* A program that removes its region has freed its buffers, or they end with it. */
        rings->list[i].live_bytes = 0;
        rings->list[i].live_buffers = 0;
        for (size_t j = 0; j < rings->list[i].cbs_count; j++)
            rings->list[i].cbs[j].read_bytes = 0;
    }
    for (size_t i = 0; i < view->client_count; i++) {
        const struct tts_seenclient *client = &view->clients[i];
        if (client->state != TTS_SEENREGION_READ || client->by_server ||
            (client->pid > 0 && is_sender(ctx, client->pid)))
            continue;
        struct followed *followed = find_followed(rings, client->file);
        bool is_gone = client->is_judged && !client->is_alive;
        if (!followed && !is_gone)
            followed = follow_client(rings, client);
        if (!followed)
            continue;
        measure_client(rings, followed, view, client);
        see_client_phases(followed, view, client);
        followed->is_seen = !is_gone;
    }
    for (size_t i = rings->count; i-- > 0;) {
        struct followed *followed = &rings->list[i];
        uint32_t pid = followed->process.pid;
        if (!followed->is_seen)
            end_followed(rings, followed, pid == 0 || !is_sender(ctx, pid));
    }
}
