#include "serve/server.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/ticks.h"
#include "serve/serverhost.h"
#include "serve/serveringest.h"
#include "serve/serverprint.h"
#include "serve/serverregion.h"
#include "serve/serverreport.h"
#include "serve/serverrings.h"
#include "serve/serversocket.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_HOST_MS = 1000, /* the first read is waited for so long, before clients can connect */
    EVENTS = 64,
    ACCEPTS = 64, /* new connections before the others come */
    SWEEP = 4096, /* entries of ended processes in a turn */
    SMALL_TURN_BYTES = 1 << 16,
};
enum { EVENT_LISTEN, EVENT_SIGNAL, EVENT_RINGS, EVENT_HOST };
static_assert((uint64_t)EVENT_HOST < TTS_SERVERINGEST_EVENT, "numbers of the server");

#define MS_NS (UINT64_C(1000) * 1000)
#define SECOND_NS (1000 * MS_NS)
#define STATISTICS_NS (10 * SECOND_NS)
/* A query reads the host again if the last read is older than this. A query waits so long for
 * the read, and then gets what the last read found. */
#define HOST_OLD_NS (100 * MS_NS)
#define HOST_WAIT_NS (5 * MS_NS)
#define PUBLISH_NS (20 * MS_NS)
/* After a turn with few bytes the server sleeps so long, to take more frames with one call. A
 * client that sends back to back fills its socket in about a millisecond. */
#define PAUSE_NS (UINT64_C(100) * 1000)

struct tts_server {
    const struct tts_alloc *alloc;
    struct tts_server_config config;
    struct tts_clientidentity own;
    struct tts_serversocket socket;
    struct tts_serverregistry *registry;
    struct tts_serverhost *host;
    struct tts_serveringest *ingest;
    struct tts_serverrings *rings; /* NULL: nobody wants their events */
    struct tts_serverreport *report;
    struct tts_serverprint *print;
    struct tts_serversink printer;
    int epoll_fd, signal_fd;
    bool has_signals, is_stopping, is_listening, has_warned;
    bool has_waited; /* for the read of the host that is under way */
    sigset_t mask_before;
    struct sigaction pipe_before;
    uint64_t begin_ns, other_events;
    uint64_t ends_at_pause; /* tts_serveringest_ends() when the listening was paused */
    uint64_t host_read_ns, host_due_ns, statistics_due_ns, publish_due_ns; /* monotonic */
    char directory[TTS_CLIENTWRITER_PATH_MAX];
};

/* --- events and statistics -------------------------------------------------------------- */

/* Returns the bytes of the circular buffers or kernels of all processes on the device. */
static uint64_t sum_code_bytes(const struct tts_server *server,
                               const struct tts_serverevent *event, bool is_cb)
{
    const struct tts_serverdevice *frames =
        tts_serverregistry_device(server->registry, event->device);
    const struct tts_serverdevice *host = tts_serverhost_device(server->host, event->device);
    /* The rings know more than the last read of the host, unless the event comes from it. */
    bool has_news = is_cb && server->rings && event->source != TTS_SERVERSOURCE_COUNTERS;
    if (!is_cb)
        return frames->kernel_bytes + host->kernel_bytes;
    return frames->cb_bytes +
           (has_news ? tts_serverrings_cb_bytes(server->rings, event->device, host->cb_bytes)
                     : host->cb_bytes);
}

/* Hands an event to the printer and to the recorder. */
static void spread_event(void *ctx, const struct tts_serverevent *from)
{
    struct tts_server *server = ctx;
    struct tts_serverevent all = *from;
    const struct tts_serverevent *event = &all;
    bool is_cb =
        from->kind == TTS_SERVEREVENT_CB_ALLOC || from->kind == TTS_SERVEREVENT_CB_FREE;
    bool is_kernel = from->kind == TTS_SERVEREVENT_KERNEL_LOAD ||
                     from->kind == TTS_SERVEREVENT_KERNEL_UNLOAD;
    if ((is_cb || is_kernel) && from->device < TTS_FRAME_DEVICES_MAX)
        all.live_bytes = sum_code_bytes(server, from, is_cb);
    server->other_events += event->source != TTS_SERVERSOURCE_FRAMES;
    if (!server->config.is_quiet)
        server->printer.event(server->printer.ctx, event);
    if (server->config.recorder.event)
        server->config.recorder.event(server->config.recorder.ctx, event);
}

static void print_server_state(struct tts_server *server, enum tts_serverprint_kind kind)
{
    static const enum tts_serverreport_list lists[] = {
        [TTS_SERVERPRINT_START] = TTS_SERVERREPORT_SUMS,
        [TTS_SERVERPRINT_STATISTICS] = TTS_SERVERREPORT_SUMS,
        [TTS_SERVERPRINT_BUFFERS] = TTS_SERVERREPORT_BUFFERS,
        [TTS_SERVERPRINT_KERNELS] = TTS_SERVERREPORT_KERNELS,
    };
    struct tts_serverstate state = {.begin_ns = server->begin_ns,
                                    .time_ns = tts_clock_realtime_ns(),
                                    .lines_left_out = tts_serverprint_left_out(server->print)};
    tts_serverreport_fill(server->report, lists[kind], &state);
    state.clients = tts_serveringest_counts(server->ingest, &state.skipped_bytes);
    state.events += server->other_events;
    state.processes += server->rings ? tts_serverrings_count(server->rings) : 0;
    (void)tts_serverprint_state(server->print, kind, &state); /* counted if left out */
}

/* Begins to read the host, unless a read is under way. */
static void begin_host(struct tts_server *server)
{
    if (!tts_serverhost_begin(server->host))
        return;
    server->host_due_ns = tts_clock_ns() + SECOND_NS;
    server->has_waited = false;
}

/* Takes what a read of the host found that has ended, or that ends in the next `wait_ns`. */
static void take_host(struct tts_server *server, uint64_t wait_ns)
{
    /* Without memory the last state stays. */
    if (tts_serverhost_take(server->host, wait_ns) && server->rings)
        tts_serverrings_update(server->rings, tts_serverhost_view(server->host),
                               tts_serveringest_is_sender, server->ingest);
    if (!tts_serverhost_is_busy(server->host))
        server->host_read_ns = tts_clock_ns();
}

/* Reads the host for an answer. No read is waited for twice, so that many requests do not keep
 * the server from its clients. */
static void refresh_host(struct tts_server *server)
{
    if (tts_clock_ns() - server->host_read_ns < HOST_OLD_NS)
        return;
    begin_host(server);
    take_host(server, server->has_waited ? 0 : HOST_WAIT_NS);
    server->has_waited = true;
}

static void pass_note(void *ctx, const char *text)
{
    const struct tts_server *server = ctx;
    server->config.note(server->config.ctx, text);
}

static void serve_request(void *ctx, struct tts_serverclient *client,
                          const struct tts_frame *frame)
{
    struct tts_server *server = ctx;
    refresh_host(server);
    if (tts_serverreport_reply(server->report, client, frame))
        return;
    if (frame->type == TTS_FRAMETYPE_DUMP)
        print_server_state(server, TTS_SERVERPRINT_BUFFERS);
    else if (frame->type == TTS_FRAMETYPE_DUMP_KERNELS)
        print_server_state(server, TTS_SERVERPRINT_KERNELS);
}

/* --- open and close --------------------------------------------------------------------- */

/* Takes the signals of the server. Signals that the process ignores, as in the background of a
 * shell or under nohup, stay ignored. */
static enum tts_status take_signals(struct tts_server *server, struct tts_error *err)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    struct sigaction action = {.sa_handler = SIG_IGN}, now;
    sigset_t wanted;
    sigemptyset(&wanted);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&wanted, numbers[i]);
    sigaction(SIGPIPE, &action, &server->pipe_before);
    pthread_sigmask(SIG_BLOCK, &wanted, &server->mask_before);
    server->has_signals = true;
    server->signal_fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (server->signal_fd < 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot wait for signals");
    return TTS_OK;
}

static enum tts_status open_ingest(struct tts_server *server, struct tts_error *err)
{
    const struct tts_server_config *config = &server->config;
    bool wants_events = !config->is_quiet || config->recorder.event;
    struct tts_serversink sink = {wants_events ? spread_event : NULL, server};
    const struct tts_serverregistry_config registry = {.sink = sink};
    enum tts_status status =
        tts_serverregistry_new(&registry, server->alloc, &server->registry, err);
    const struct tts_serveringest_config ingest = {.epoll_fd = server->epoll_fd,
                                                   .registry = server->registry,
                                                   .directory = server->directory,
                                                   .server = &server->own,
                                                   .uids = config->uids,
                                                   .uid_count = config->uid_count,
                                                   .request = serve_request,
                                                   .note = pass_note,
                                                   .ctx = server};
    if (status == TTS_OK)
        status = tts_serveringest_open(&ingest, server->alloc, &server->ingest, err);
    const struct tts_serverhost_config host = {.root = config->root,
                                               .sink = sink,
                                               .is_sender = tts_serveringest_is_sender,
                                               .ctx = server->ingest};
    if (status == TTS_OK)
        status = tts_serverhost_open(&host, server->alloc, &server->host, err);
    if (status == TTS_OK && wants_events)
        status =
            tts_serverrings_open(server->directory, &sink, server->alloc, &server->rings, err);
    return status;
}

static enum tts_status open_print(struct tts_server *server, struct tts_error *err)
{
    const struct tts_serverprint_config config = {.fd = server->config.output_fd,
                                                  .is_json = server->config.is_json,
                                                  .is_utf8 = server->config.is_utf8,
                                                  .socket_path = server->config.socket_path};
    enum tts_status status = tts_serverreport_new(server->registry, server->host, server->alloc,
                                                  &server->report, err);
    if (status == TTS_OK)
        status = tts_serverprint_open(&config, server->alloc, &server->print, err);
    if (status == TTS_OK)
        server->printer = tts_serverprint_sink(server->print);
    return status;
}

static enum tts_status watch_fd(struct tts_server *server, int fd, uint64_t number,
                                struct tts_error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = number};
    if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
        return TTS_OK;
    return tts_error_set_errno(err, TTS_E_IO, errno, "cannot wait for events");
}

/* The first message has the devices of the host. What the read found is taken later: without
 * the socket, this server prints and records nothing. */
static void wait_for_first_host(struct tts_server *server)
{
    struct pollfd end = {.fd = tts_serverhost_fd(server->host), .events = POLLIN};
    begin_host(server);
    poll(&end, 1, FIRST_HOST_MS);
}

static enum tts_status open_parts(struct tts_server *server, struct tts_error *err)
{
    const struct tts_server_config *config = &server->config;
    /* A path that is in use is refused at once, without a wait for the host. */
    enum tts_status status = tts_serversocket_check(config->socket_path, err);
    if (status == TTS_OK)
        status = tts_clientidentity_own(&server->own, err);
    if (status == TTS_OK)
        status = take_signals(server, err);
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (status == TTS_OK && server->epoll_fd < 0)
        status = tts_error_set_errno(err, TTS_E_IO, errno, "cannot wait for events");
    if (status == TTS_OK)
        status = open_ingest(server, err);
    if (status == TTS_OK)
        status = open_print(server, err);
    if (status == TTS_OK)
        status = watch_fd(server, server->signal_fd, EVENT_SIGNAL, err);
    if (status == TTS_OK && server->rings)
        status = watch_fd(server, tts_serverrings_fd(server->rings), EVENT_RINGS, err);
    if (status == TTS_OK)
        status = watch_fd(server, tts_serverhost_fd(server->host), EVENT_HOST, err);
    if (status != TTS_OK)
        return status;
    wait_for_first_host(server);
    return tts_serversocket_open(config->socket_path, config->uid_count > 0, &server->socket,
                                 err);
}

enum tts_status tts_server_open(const struct tts_server_config *config,
                                const struct tts_alloc *alloc, struct tts_server **out,
                                struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_server *server = alloc->alloc(alloc->ctx, sizeof *server);
    if (!server)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the server");
    *server = (struct tts_server){.alloc = alloc,
                                  .config = *config,
                                  .socket = {.fd = -1},
                                  .epoll_fd = -1,
                                  .signal_fd = -1,
                                  .begin_ns = tts_clock_realtime_ns()};
    snprintf(server->directory, sizeof server->directory, "%s/dev/shm", config->root);
    enum tts_status status = open_parts(server, err);
    if (status == TTS_OK)
        *out = server;
    else
        tts_server_close(server);
    return status;
}

void tts_server_close(struct tts_server *server)
{
    if (!server)
        return;
    tts_serversocket_close(&server->socket);
    tts_serveringest_close(server->ingest);
    tts_serverrings_close(server->rings);
    tts_serverreport_free(server->report);
    tts_serverhost_close(server->host);
    tts_serverregistry_free(server->registry);
    tts_serverprint_close(server->print);
    if (server->epoll_fd >= 0)
        close(server->epoll_fd);
    if (server->signal_fd >= 0)
        close(server->signal_fd);
    if (server->has_signals) {
        pthread_sigmask(SIG_SETMASK, &server->mask_before, NULL);
        sigaction(SIGPIPE, &server->pipe_before, NULL);
    }
    server->alloc->free(server->alloc->ctx, server, sizeof *server);
}

/* --- the loop --------------------------------------------------------------------------- */

static void take_signal(struct tts_server *server)
{
    struct signalfd_siginfo info;
    while (read(server->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGUSR1) {
            server->is_stopping = true;
            continue;
        }
        refresh_host(server);
        print_server_state(server, TTS_SERVERPRINT_STATISTICS);
    }
}

static void set_listening(struct tts_server *server, bool is_listening)
{
    struct epoll_event event = {.events = is_listening ? EPOLLIN : 0, .data.u64 = EVENT_LISTEN};
    if (server->is_listening == is_listening)
        return;
    server->is_listening = is_listening;
    epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD, server->socket.fd, &event);
}

/* Without room for another connection, new clients wait in the queue of the kernel. */
static void pause_listening(struct tts_server *server, int reason)
{
    struct tts_error err;
    set_listening(server, false);
    server->ends_at_pause = tts_serveringest_ends(server->ingest);
    if (server->has_warned)
        return;
    server->has_warned = true;
    tts_error_set_errno(&err, TTS_E_IO, reason,
                        "no room for another connection, so new clients wait");
    server->config.note(server->config.ctx, err.text);
}

static void accept_clients(struct tts_server *server)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int reason = tts_serveringest_reserve(server->ingest);
        if (reason != 0) {
            pause_listening(server, reason);
            return;
        }
        int fd = tts_serversocket_accept(&server->socket);
        if (fd >= 0) {
            tts_serveringest_add(server->ingest, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_listening(server, errno);
        if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

/* Handles the events of one turn. Returns the number of bytes received. */
static size_t serve_events(struct tts_server *server, const struct epoll_event *events,
                           int count)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        uint64_t number = events[i].data.u64;
        if (number >= TTS_SERVERINGEST_EVENT) {
            bytes += tts_serveringest_event(server->ingest, number, events[i].events);
        } else if (number == EVENT_LISTEN) {
            accept_clients(server);
        } else if (number == EVENT_SIGNAL) {
            take_signal(server);
        } else if (number == EVENT_HOST) {
            take_host(server, 0);
        } else {
            tts_serverrings_clear(server->rings);
            server->host_due_ns = 0;
        }
    }
    if (tts_serveringest_ends(server->ingest) != server->ends_at_pause)
        set_listening(server, true); /* there is room again */
    return bytes;
}

/* Returns when the next read of the host begins. */
static uint64_t next_host_ns(const struct tts_server *server)
{
    uint64_t pause_end_ns = server->host_read_ns + HOST_OLD_NS;
    if (tts_serverhost_is_busy(server->host))
        return UINT64_MAX; /* its end is an event */
    return server->host_due_ns > pause_end_ns ? server->host_due_ns : pause_end_ns;
}

/* Does what is due. Returns in how many milliseconds the next task is due, at least 0. */
static int serve_timers(struct tts_server *server)
{
    uint64_t now_ns = tts_clock_ns();
    if (now_ns >= next_host_ns(server)) {
        begin_host(server);
        set_listening(server, true); /* other programs may have made room */
    }
    if (now_ns >= server->statistics_due_ns) {
        print_server_state(server, TTS_SERVERPRINT_STATISTICS);
        server->statistics_due_ns = now_ns + STATISTICS_NS;
    }
    if (now_ns >= server->publish_due_ns) {
        bool has_unwatched = tts_serveringest_poll(server->ingest);
        bool is_due = tts_serveringest_publish(server->ingest) || has_unwatched;
        server->publish_due_ns = is_due ? now_ns + PUBLISH_NS : 0;
    }
    uint64_t due_ns = next_host_ns(server);
    if (server->statistics_due_ns < due_ns)
        due_ns = server->statistics_due_ns;
    if (server->publish_due_ns > now_ns && server->publish_due_ns < due_ns)
        due_ns = server->publish_due_ns;
    return due_ns > now_ns ? (int)((due_ns - now_ns) / MS_NS) + 1 : 0;
}

/* Says once why the output takes no text. */
static void check_server_output(struct tts_server *server, int *reason)
{
    struct tts_error err;
    int now = tts_serverprint_flush(server->print);
    if (now == 0 || now == *reason)
        return;
    *reason = now;
    tts_error_set_errno(&err, TTS_E_IO, now,
                        "the server goes on, but cannot write to standard output");
    server->config.note(server->config.ctx, err.text);
}

static void run_turns(struct tts_server *server, int *output_failure)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct epoll_event events[EVENTS];
    while (!server->is_stopping) {
        int wait_ms = serve_timers(server);
        int ring_ms = server->rings ? tts_serverrings_step(server->rings, tts_clock_ns()) : -1;
        if (ring_ms >= 0 && ring_ms < wait_ms)
            wait_ms = ring_ms;
        if (tts_serverregistry_sweep(server->registry, SWEEP))
            wait_ms = 0;
        check_server_output(server, output_failure);
        int count = epoll_wait(server->epoll_fd, events, EVENTS, wait_ms);
        size_t bytes = serve_events(server, events, count);
        if (bytes > 0 && bytes < SMALL_TURN_BYTES)
            nanosleep(&pause, NULL);
    }
}

enum tts_status tts_server_run(struct tts_server *server, struct tts_error *err)
{
    int failure = 0;
    tts_serverregion_clean(server->directory, &server->own);
    take_host(server, 0);
    print_server_state(server, TTS_SERVERPRINT_START);
    server->statistics_due_ns = tts_clock_ns() + STATISTICS_NS;
    enum tts_status status = watch_fd(server, server->socket.fd, EVENT_LISTEN, err);
    if (status != TTS_OK)
        return status;
    server->is_listening = true;
    run_turns(server, &failure);
    refresh_host(server);
    print_server_state(server, TTS_SERVERPRINT_STATISTICS);
    check_server_output(server, &failure);
    if (failure == 0 || failure == EPIPE)
        return TTS_OK;
    return tts_error_set_errno(err, TTS_E_IO, failure, "cannot write to standard output");
}

uint64_t tts_server_peers(const struct tts_server *server)
{
    uint64_t skipped = 0;
    return tts_serveringest_counts(server->ingest, &skipped);
}

void tts_server_drain(struct tts_server *server)
{
    /* The next server would see a server at the path. The path is not ours any more. */
    server->socket.file_inode = 0;
    tts_serversocket_close(&server->socket);
    tts_serveringest_drain(server->ingest);
}
