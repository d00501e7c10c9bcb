#include "serve/serveringest.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/ticks.h"
#include "serve/serverregion.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    RECEIVES = 4,        /* of one connection before the others come */
    DRAIN_RECEIVES = 64, /* of an ended process: more than its socket can hold */
};
#define EVENT_CONNECTION TTS_SERVERINGEST_EVENT
#define EVENT_SENDER (TTS_SERVERINGEST_EVENT << 1)
#define NONE TTS_SERVERREGISTRY_NONE
#define REGION_RETRY_NS (UINT64_C(2000) * 1000 * 1000)

/* A process that sends frames. Its place is that in the registry. */
struct sender {
    bool is_live;
    bool has_tried; /* there is a region, or there must be none, or it is lacking */
    bool has_region, lacks_region; /* the region is open; or could not be made so far */
    uint32_t connections;
    uint32_t pid, claimed; /* with start_ticks and serial: the identity */
    uint64_t start_ticks;
    uint64_t serial; /* of the connection, if the process is not known; otherwise 0 */
    struct tts_clientidentity identity;
    int pidfd;
    struct tts_clientwriter region;
};

struct connection {
    struct tts_serverclient client;
    struct tts_serverpeer peer;
    uint64_t serial;
    bool is_unwatched;                /* epoll could not take the connection so far */
    bool is_writing;                  /* epoll reports when the peer reads */
    uint32_t last_claim, last_sender; /* last_sender: NONE if there is none */
    uint32_t *senders;
    size_t sender_count, sender_capacity;
};

struct tts_serveringest {
    const struct tts_alloc *alloc;
    struct tts_serveringest_config config;
    struct connection **connections;
    size_t connection_count, connection_capacity; /* places; some are NULL */
    size_t open_count, unwatched_count;
    struct connection *spare; /* of the next connection; NULL: none */
    struct sender **senders;  /* by place in the registry */
    size_t sender_count, sender_capacity;
    struct connection *current; /* whose frames are taken */
    uint64_t serials, skipped_bytes;
    uint64_t ends; /* of connections and processes */
    uint64_t now_ns;
    uint64_t regions_due_ns; /* when lacking regions are tried again; 0: none is lacking */
    bool has_noted;          /* that regions are lacking */
    struct tts_serverroom room;
};

enum tts_status tts_serveringest_open(const struct tts_serveringest_config *config,
                                      const struct tts_alloc *alloc,
                                      struct tts_serveringest **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_serveringest *ingest = alloc->alloc(alloc->ctx, sizeof *ingest);
    if (!ingest)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the connections");
    memset(ingest, 0, offsetof(struct tts_serveringest, room));
    ingest->alloc = alloc;
    ingest->config = *config;
    *out = ingest;
    return TTS_OK;
}

/* --- senders ---------------------------------------------------------------------------- */

static void release_sender(struct tts_serveringest *ingest, uint32_t place)
{
    struct sender *sender = ingest->senders[place];
    /* Without EPOLL_CTL_DEL, epoll would report the end of the process as long as a connection
     * has a copy of the descriptor. */
    if (sender->pidfd >= 0) {
        epoll_ctl(ingest->config.epoll_fd, EPOLL_CTL_DEL, sender->pidfd, NULL);
        close(sender->pidfd);
    }
    if (sender->has_region)
        tts_clientwriter_close(&sender->region, true, false);
    ingest->alloc->free(ingest->alloc->ctx, sender, sizeof *sender);
    ingest->senders[place] = NULL;
    ingest->ends++;
}

static void forget_sender(struct connection *connection, uint32_t place)
{
    if (connection->last_sender == place)
        connection->last_sender = NONE;
    for (size_t i = connection->sender_count; i-- > 0;)
        if (connection->senders[i] == place)
            connection->senders[i] = connection->senders[--connection->sender_count];
}

static void end_sender(struct tts_serveringest *ingest, uint32_t place)
{
    for (size_t i = 0; i < ingest->connection_count; i++)
        if (ingest->connections[i])
            forget_sender(ingest->connections[i], place);
    tts_serverregistry_end(ingest->config.registry, place, tts_clock_coarse_ns());
    release_sender(ingest, place);
}

/* Finds the process that a connection means by the number in its frames. The caller closes
 * out->pidfd. */
static void identify_claim(const struct connection *connection, uint32_t claimed,
                           struct sender *out)
{
    const struct tts_serverpeer *peer = &connection->peer;
    struct tts_serverpeer found = *peer;
    bool is_peer = claimed == peer->identity.pid || claimed == peer->pid;
    found.pidfd = -1;
    if (is_peer && peer->pidfd >= 0)
        found.pidfd = dup(peer->pidfd);
    *out = (struct sender){.is_live = true, .claimed = claimed};
    if (!is_peer && peer->is_known && tts_serverpeer_descends(claimed, peer->pid)) {
        tts_serverpeer_look(claimed, &found);
        is_peer = found.is_known;
    }
    out->pid = found.pid;
    out->pidfd = found.pidfd;
    out->identity = found.identity;
    out->start_ticks = found.identity.start_ticks;
    out->serial = is_peer && found.is_known ? 0 : connection->serial;
    out->has_tried = out->serial != 0; /* nobody could judge such a region */
}

static uint32_t find_sender(const struct tts_serveringest *ingest, const struct sender *key)
{
    for (uint32_t i = 0; i < ingest->sender_count; i++) {
        const struct sender *sender = ingest->senders[i];
        if (sender && sender->pid == key->pid && sender->claimed == key->claimed &&
            sender->start_ticks == key->start_ticks && sender->serial == key->serial)
            return i;
    }
    return NONE;
}

static void watch_sender(struct tts_serveringest *ingest, uint32_t place, int pidfd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = EVENT_SENDER | place};
    if (pidfd >= 0)
        epoll_ctl(ingest->config.epoll_fd, EPOLL_CTL_ADD, pidfd, &event);
}

/* Adds a process to the registry and to the senders. Returns NONE if there is no room. */
static uint32_t add_sender(struct tts_serveringest *ingest, const struct sender *key)
{
    const struct tts_alloc *alloc = ingest->alloc;
    struct tts_serverprocess facts = {
        .pid = key->pid, .pid_inside = key->claimed, .start_ticks = key->start_ticks};
    uint32_t place;
    memcpy(facts.name, key->identity.comm, sizeof facts.name);
    struct sender *sender = alloc->alloc(alloc->ctx, sizeof *sender);
    if (!sender)
        return NONE;
    *sender = *key;
    if (tts_serverregistry_begin(ingest->config.registry, &facts, ingest->now_ns, &place) !=
        TTS_OK) {
        alloc->free(alloc->ctx, sender, sizeof *sender);
        return NONE;
    }
    struct sender **senders = tts_alloc_grow(alloc, ingest->senders, &ingest->sender_capacity,
                                             (size_t)place + 1, sizeof *senders);
    if (!senders) {
        tts_serverregistry_end(ingest->config.registry, place, ingest->now_ns);
        alloc->free(alloc->ctx, sender, sizeof *sender);
        return NONE;
    }
    ingest->senders = senders;
    while (ingest->sender_count <= place)
        senders[ingest->sender_count++] = NULL;
    senders[place] = sender;
    watch_sender(ingest, place, sender->pidfd);
    return place;
}

/* Notes that a connection speaks for a process. */
static bool join_sender(struct tts_serveringest *ingest, struct connection *connection,
                        uint32_t place)
{
    for (size_t i = 0; i < connection->sender_count; i++)
        if (connection->senders[i] == place)
            return true; /* under another number */
    uint32_t *senders =
        tts_alloc_grow(ingest->alloc, connection->senders, &connection->sender_capacity,
                       connection->sender_count + 1, sizeof *senders);
    if (!senders)
        return false;
    connection->senders = senders;
    senders[connection->sender_count++] = place;
    ingest->senders[place]->connections++;
    return true;
}

/* Like sender_of(), for another process than that of the last frame. */
static uint32_t look_up_sender(struct tts_serveringest *ingest, struct connection *connection,
                               uint32_t claimed)
{
    struct sender key;
    for (size_t i = 0; i < connection->sender_count; i++)
        if (ingest->senders[connection->senders[i]]->claimed == claimed)
            return connection->senders[i];
    /* A connection with too many claims speaks for its first process. */
    if (connection->sender_count == TTS_SERVERINGEST_CLAIMS_MAX)
        return connection->senders[0];
    identify_claim(connection, claimed, &key);
    uint32_t place = find_sender(ingest, &key);
    if (place != NONE && key.pidfd >= 0)
        close(key.pidfd);
    if (place == NONE)
        place = add_sender(ingest, &key);
    if (place == NONE) {
        if (key.pidfd >= 0)
            close(key.pidfd);
        return NONE;
    }
    if (!join_sender(ingest, connection, place)) {
        if (ingest->senders[place]->connections == 0)
            end_sender(ingest, place);
        return NONE;
    }
    return place;
}

/* Returns the process of a frame; NONE if there is no room. Some clients leave themselves out
 * of frames that free: such a frame is of the last process, or of the peer. */
static inline uint32_t sender_of(struct tts_serveringest *ingest, struct connection *connection,
                                 int32_t pid)
{
    uint32_t claimed = pid > 0 ? (uint32_t)pid : connection->last_claim;
    if (claimed == connection->last_claim && connection->last_sender != NONE)
        return connection->last_sender;
    claimed = claimed > 0 ? claimed : connection->peer.identity.pid;
    uint32_t place = look_up_sender(ingest, connection, claimed);
    connection->last_claim = claimed;
    connection->last_sender = place;
    return place;
}

/* --- connections ------------------------------------------------------------------------ */

static void take_frame_of_connection(void *ctx, const struct tts_frame *frame)
{
    struct tts_serveringest *ingest = ctx;
    struct connection *connection = ingest->current;
    bool is_event =
        frame->type == TTS_FRAMETYPE_ALLOC || frame->type == TTS_FRAMETYPE_FREE ||
        (frame->type >= TTS_FRAMETYPE_CB_ALLOC && frame->type <= TTS_FRAMETYPE_KERNEL_UNLOAD);
    if (!is_event || frame->kind == TTS_FRAMEKIND_STATS) {
        ingest->config.request(ingest->config.ctx, &connection->client, frame);
        return;
    }
    uint32_t place = sender_of(ingest, connection, frame->pid);
    if (place != NONE)
        tts_serverregistry_take(ingest->config.registry, place, frame, ingest->now_ns);
    else
        tts_serverregistry_lose(ingest->config.registry);
}

static void free_connection(struct tts_serveringest *ingest, uint32_t idx)
{
    const struct tts_alloc *alloc = ingest->alloc;
    struct connection *connection = ingest->connections[idx];
    ingest->skipped_bytes += connection->client.stream.skipped_bytes;
    tts_serverclient_release(&connection->client);
    if (connection->peer.pidfd >= 0)
        close(connection->peer.pidfd);
    if (connection->senders)
        alloc->free(alloc->ctx, connection->senders,
                    connection->sender_capacity * sizeof *connection->senders);
    ingest->unwatched_count -= connection->is_unwatched;
    alloc->free(alloc->ctx, connection, sizeof *connection);
    ingest->connections[idx] = NULL;
    ingest->open_count--;
    ingest->ends++;
}

/* Closes a connection after its peer has, and ends the processes that have no other. */
static void end_connection(struct tts_serveringest *ingest, uint32_t idx)
{
    struct connection *connection = ingest->connections[idx];
    while (connection->sender_count > 0) {
        uint32_t place = connection->senders[connection->sender_count - 1];
        if (--ingest->senders[place]->connections == 0)
            end_sender(ingest, place);
        else
            forget_sender(connection, place);
    }
    free_connection(ingest, idx);
}

/* Receives from a connection until it is empty, at most `most` times. */
static size_t receive_frames(struct tts_serveringest *ingest, struct connection *connection,
                             int most)
{
    const struct tts_serverframes frames = {take_frame_of_connection, ingest};
    size_t all = 0, len = TTS_SERVERCLIENT_RECEIVE_BYTES;
    ingest->current = connection;
    ingest->now_ns = tts_clock_coarse_ns();
    for (int i = 0; i < most && len == TTS_SERVERCLIENT_RECEIVE_BYTES; i++) {
        len = tts_serverclient_receive(&connection->client, &ingest->room, &frames);
        all += len;
    }
    return all;
}

static bool is_heard(const struct tts_serveringest *ingest, uint32_t uid)
{
    if (uid == 0 || uid == ingest->config.server->uid)
        return true;
    for (size_t i = 0; i < ingest->config.uid_count; i++)
        if (ingest->config.uids[i] == uid)
            return true;
    return false;
}

/* Returns a free place for a connection, or SIZE_MAX. */
static size_t new_connection_place(struct tts_serveringest *ingest)
{
    if (ingest->open_count < ingest->connection_count)
        for (size_t i = 0; i < ingest->connection_count; i++)
            if (!ingest->connections[i])
                return i;
    struct connection **connections =
        tts_alloc_grow(ingest->alloc, ingest->connections, &ingest->connection_capacity,
                       ingest->connection_count + 1, sizeof *connections);
    if (!connections)
        return SIZE_MAX;
    ingest->connections = connections;
    connections[ingest->connection_count] = NULL;
    return ingest->connection_count++;
}

int tts_serveringest_reserve(struct tts_serveringest *ingest)
{
    if (ingest->open_count == TTS_SERVERINGEST_CONNECTIONS_MAX)
        return EUSERS;
    if (!ingest->spare)
        ingest->spare = ingest->alloc->alloc(ingest->alloc->ctx, sizeof *ingest->spare);
    return ingest->spare && new_connection_place(ingest) != SIZE_MAX ? 0 : ENOMEM;
}

static bool watch_connection(struct tts_serveringest *ingest, size_t idx)
{
    const struct connection *connection = ingest->connections[idx];
    struct epoll_event event = {.events = EPOLLIN | (connection->is_writing ? EPOLLOUT : 0),
                                .data.u64 = EVENT_CONNECTION | idx};
    return epoll_ctl(ingest->config.epoll_fd, EPOLL_CTL_ADD, connection->client.fd, &event) ==
           0;
}

void tts_serveringest_add(struct tts_serveringest *ingest, int fd)
{
    size_t idx = new_connection_place(ingest); /* cannot fail after the reservation */
    struct connection *connection = ingest->spare;
    uint32_t uid;
    assert(connection && idx != SIZE_MAX);
    ingest->spare = NULL;
    *connection = (struct connection){.serial = ++ingest->serials, .last_sender = NONE};
    tts_serverclient_init(&connection->client, fd, ingest->alloc);
    tts_serverpeer_of_socket(fd, &connection->peer, &uid);
    connection->client.is_ignored = !is_heard(ingest, uid);
    ingest->connections[idx] = connection;
    ingest->open_count++;
    connection->is_unwatched = !watch_connection(ingest, idx);
    ingest->unwatched_count += connection->is_unwatched;
}

/* Lets epoll report when the peer reads, as long as replies wait. */
static void watch_replies(struct tts_serveringest *ingest, uint32_t idx)
{
    struct connection *connection = ingest->connections[idx];
    bool is_waiting = tts_serverclient_is_waiting(&connection->client);
    struct epoll_event event = {.events = EPOLLIN | (is_waiting ? EPOLLOUT : 0),
                                .data.u64 = EVENT_CONNECTION | idx};
    if (is_waiting == connection->is_writing)
        return;
    connection->is_writing = is_waiting;
    epoll_ctl(ingest->config.epoll_fd, EPOLL_CTL_MOD, connection->client.fd, &event);
}

static size_t serve_connection(struct tts_serveringest *ingest, uint32_t idx, uint32_t events)
{
    struct connection *connection =
        idx < ingest->connection_count ? ingest->connections[idx] : NULL;
    if (!connection)
        return 0; /* closed by an earlier event of the same turn */
    if (events & EPOLLOUT)
        tts_serverclient_send(&connection->client);
    size_t len = receive_frames(ingest, connection, RECEIVES);
    if (connection->client.has_ended)
        end_connection(ingest, idx);
    else
        watch_replies(ingest, idx);
    return len;
}

bool tts_serveringest_poll(struct tts_serveringest *ingest)
{
    if (ingest->unwatched_count == 0)
        return false;
    for (uint32_t i = 0; i < ingest->connection_count; i++) {
        struct connection *connection = ingest->connections[i];
        if (!connection || !connection->is_unwatched)
            continue;
        connection->is_unwatched = !watch_connection(ingest, i);
        ingest->unwatched_count -= !connection->is_unwatched;
        serve_connection(ingest, i, EPOLLIN | EPOLLOUT);
    }
    return ingest->unwatched_count > 0;
}

/* Takes what an ended process has sent before it ended, on all its connections, and ends it. */
static size_t bury_sender(struct tts_serveringest *ingest, uint32_t place)
{
    size_t len = 0;
    for (size_t i = 0; i < ingest->connection_count; i++) {
        struct connection *connection = ingest->connections[i];
        for (size_t j = 0; connection && j < connection->sender_count; j++)
            if (connection->senders[j] == place) {
                len += receive_frames(ingest, connection, DRAIN_RECEIVES);
                break;
            }
    }
    end_sender(ingest, place);
    return len;
}

size_t tts_serveringest_event(struct tts_serveringest *ingest, uint64_t number, uint32_t events)
{
    uint32_t idx = (uint32_t)number;
    if ((number & EVENT_SENDER) == 0)
        return serve_connection(ingest, idx, events);
    const struct sender *sender = idx < ingest->sender_count ? ingest->senders[idx] : NULL;
    /* An earlier event of the same turn may have given the place to another process. */
    if (!sender || !tts_serverpeer_has_ended(sender->pidfd))
        return 0;
    return bury_sender(ingest, idx);
}

/* --- regions ---------------------------------------------------------------------------- */

static void note_lacking_regions(struct tts_serveringest *ingest, int reason)
{
    struct tts_error note;
    if (ingest->has_noted || !ingest->config.note)
        return;
    ingest->has_noted = true;
    tts_error_set_errno(&note, TTS_E_IO, reason,
                        "cannot make regions in '%.50s', so 'ttscope top' does not show all "
                        "clients",
                        ingest->config.directory);
    ingest->config.note(ingest->config.ctx, note.text);
}

/* Makes the region of a process and shows what the process holds. */
static void make_sender_region(struct tts_serveringest *ingest, uint32_t place)
{
    struct sender *sender = ingest->senders[place];
    const struct tts_serverregistry *registry = ingest->config.registry;
    struct tts_error err = {0};
    enum tts_status status =
        tts_serverregion_open(ingest->config.directory, &sender->identity,
                              ingest->config.server, &sender->region, &err);
    sender->has_region = status == TTS_OK;
    sender->lacks_region = status != TTS_OK && status != TTS_E_BUSY;
    if (sender->lacks_region) {
        ingest->regions_due_ns = tts_clock_ns() + REGION_RETRY_NS;
        note_lacking_regions(ingest, err.sys_errno);
    }
    for (const struct tts_serverrow *row = NULL;
         sender->has_region && (row = tts_serverregistry_row(registry, place, row));)
        tts_serverregion_show(&sender->region, row, tts_clock_coarse_ns());
}

/* Tries to make the regions that are lacking, up to the first failure. */
static void retry_regions(struct tts_serveringest *ingest)
{
    if (ingest->regions_due_ns == 0 || tts_clock_ns() < ingest->regions_due_ns)
        return;
    ingest->regions_due_ns = 0;
    for (uint32_t i = 0; i < ingest->sender_count && ingest->regions_due_ns == 0; i++)
        if (ingest->senders[i] && ingest->senders[i]->lacks_region)
            make_sender_region(ingest, i);
}

bool tts_serveringest_publish(struct tts_serveringest *ingest)
{
    const struct tts_serverrow *row;
    bool has_changed = false;
    uint64_t now_ns = tts_clock_coarse_ns();
    retry_regions(ingest);
    while ((row = tts_serverregistry_changed(ingest->config.registry))) {
        struct sender *sender = ingest->senders[row->process];
        has_changed = true;
        if (!sender->has_tried && ingest->config.directory) {
            sender->has_tried = true;
            sender->lacks_region = ingest->regions_due_ns > 0; /* waits for the next try */
            if (!sender->lacks_region)
                make_sender_region(ingest, row->process);
        }
        if (sender->has_region)
            tts_serverregion_show(&sender->region, row, now_ns);
    }
    return has_changed;
}

/* --- questions and the end -------------------------------------------------------------- */

bool tts_serveringest_is_sender(void *ctx, uint32_t pid)
{
    const struct tts_serveringest *ingest = ctx;
    for (size_t i = 0; i < ingest->sender_count; i++)
        if (ingest->senders[i] && ingest->senders[i]->pid == pid)
            return true;
    return false;
}

uint64_t tts_serveringest_counts(const struct tts_serveringest *ingest, uint64_t *skipped)
{
    *skipped += ingest->skipped_bytes;
    for (size_t i = 0; i < ingest->connection_count; i++)
        if (ingest->connections[i])
            *skipped += ingest->connections[i]->client.stream.skipped_bytes;
    return ingest->open_count;
}

uint64_t tts_serveringest_ends(const struct tts_serveringest *ingest)
{
    return ingest->ends;
}

/* Leaves everything but the connections to the process that this one was forked from. */
static void keep_connections_only(struct tts_serveringest *ingest)
{
    for (size_t i = 0; i < ingest->sender_count; i++) {
        struct sender *sender = ingest->senders[i];
        if (sender && sender->pidfd >= 0)
            close(sender->pidfd);
        if (sender && sender->has_region)
            tts_clientwriter_close(&sender->region, false, true);
    }
    for (size_t i = 0; i < ingest->connection_count; i++)
        if (ingest->connections[i])
            ingest->connections[i]->client.is_ignored = true;
}

void tts_serveringest_drain(struct tts_serveringest *ingest)
{
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    keep_connections_only(ingest);
    for (size_t i = 0; i < ingest->connection_count; i++) {
        event.data.u64 = i;
        if (ingest->connections[i])
            epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ingest->connections[i]->client.fd, &event);
    }
    while (ingest->open_count > 0) {
        int count = epoll_wait(epoll_fd, &event, 1, -1);
        if (count < 0 && errno != EINTR)
            break;
        if (count < 1)
            continue;
        receive_frames(ingest, ingest->connections[event.data.u64], RECEIVES);
        if (ingest->connections[event.data.u64]->client.has_ended)
            free_connection(ingest, (uint32_t)event.data.u64);
    }
}

void tts_serveringest_close(struct tts_serveringest *ingest)
{
    if (!ingest)
        return;
    const struct tts_alloc *alloc = ingest->alloc;
    for (uint32_t i = 0; i < ingest->sender_count; i++)
        if (ingest->senders[i])
            release_sender(ingest, i);
    for (uint32_t i = 0; i < ingest->connection_count; i++)
        if (ingest->connections[i])
            free_connection(ingest, i);
    if (ingest->senders)
        alloc->free(alloc->ctx, ingest->senders,
                    ingest->sender_capacity * sizeof *ingest->senders);
    if (ingest->spare)
        alloc->free(alloc->ctx, ingest->spare, sizeof *ingest->spare);
    if (ingest->connections)
        alloc->free(alloc->ctx, ingest->connections,
                    ingest->connection_capacity * sizeof *ingest->connections);
    alloc->free(alloc->ctx, ingest, sizeof *ingest);
}
