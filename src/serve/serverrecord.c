#include "serve/serverrecord.h"

#include "base/error.h"
#include "base/heap.h"
#include "serve/processfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOSSES_MAX = 64, CLOSE_POLL_NS = 1000000 };

/* An event in the queue. `event.process` is not valid; `process` is. */
struct queued_event {
    struct tts_serverevent event;
    struct tts_serverprocess process;
};

/* Events of a process that were dropped, and that its recording does not mention yet. */
struct queue_loss {
    struct tts_serverprocess process;
    uint64_t events;
};

/* A process whose recording is open, or could not be made. */
struct recorded_process {
    uint64_t instance;
    struct tts_processfile *file; /* NULL: it could not be made, or has stopped */
    uint64_t bytes;               /* of the file, as counted so far */
};

struct tts_serverrecord {
    const struct tts_alloc *alloc;
    int dir_fd;
    uint64_t counter_period_ns;
    /* The queue: the sink writes at tail, the thread reads at head. Both only grow. */
    struct queued_event *queue;
    uint64_t queue_max; /* a power of two */
    _Atomic uint64_t head, tail;
    _Atomic bool is_sleeping, is_closing;
    sem_t wake;
    pthread_t thread;
    /* Used by the thread that calls the sink. */
    struct queue_loss losses[LOSSES_MAX];
    size_t loss_count;
    /* Used by the writing thread. */
    struct recorded_process *processes;
    size_t process_count, files_max;
    size_t last; /* index of the process of the last event */
    /* Read by both. */
    pthread_mutex_t counts_lock;
    struct tts_serverrecord_counts counts;
    _Atomic uint64_t events, dropped_events, bytes;
};

/* ---- the queue ---- */

/* Puts an event into the queue. Returns false if the queue is full. */
static bool queue_push(struct tts_serverrecord *record, const struct tts_serverevent *event,
                       const struct tts_serverprocess *process)
{
    uint64_t tail = atomic_load_explicit(&record->tail, memory_order_relaxed);
    /* Pairs with the release in queue_pop(): the slot was read before it is used again. */
    if (tail - atomic_load_explicit(&record->head, memory_order_acquire) >= record->queue_max)
        return false;
    struct queued_event *slot = &record->queue[tail & (record->queue_max - 1)];
    slot->event = *event;
    slot->process = *process;
    /* Both this store and the load after it are sequentially consistent, as in wait_queue():
     * either the thread sees the new tail, or this thread sees that it sleeps. */
    atomic_store(&record->tail, tail + 1);
    if (atomic_load(&record->is_sleeping) && atomic_exchange(&record->is_sleeping, false))
        sem_post(&record->wake);
    return true;
}

/* Returns the oldest event, or NULL. The event is valid until queue_pop(). */
static struct queued_event *queue_first(struct tts_serverrecord *record)
{
    uint64_t head = atomic_load_explicit(&record->head, memory_order_relaxed);
    return head == atomic_load(&record->tail) ? NULL
                                              : &record->queue[head & (record->queue_max - 1)];
}

static void queue_pop(struct tts_serverrecord *record)
{
    uint64_t head = atomic_load_explicit(&record->head, memory_order_relaxed);
    atomic_store_explicit(&record->head, head + 1, memory_order_release);
}

/* Sleeps until the queue has an event or the recordings end. */
static void wait_queue(struct tts_serverrecord *record)
{
    atomic_store(&record->is_sleeping, true);
    if (queue_first(record) || atomic_load(&record->is_closing)) {
        /* If the other thread was faster, its post ends the next wait at once. */
        atomic_store(&record->is_sleeping, false);
        return;
    }
    while (sem_wait(&record->wake) != 0 && errno == EINTR)
        continue;
}

/* ---- the sink ---- */

static struct tts_serverevent lost_event(uint64_t events)
{
    return (struct tts_serverevent){.kind = TTS_SERVEREVENT_LOST, .buffers = events};
}

/* Queues what the recordings do not know about dropped events. Returns whether all of it is
 * queued. */
static bool push_losses(struct tts_serverrecord *record)
{
    while (record->loss_count > 0) {
        const struct queue_loss *loss = &record->losses[record->loss_count - 1];
        struct tts_serverevent event = lost_event(loss->events);
        if (!queue_push(record, &event, &loss->process))
            return false;
        record->loss_count--;
    }
    return true;
}

/* Notes an event that the queue had no room for. */
static void note_loss(struct tts_serverrecord *record, const struct tts_serverprocess *process,
                      uint64_t events)
{
    size_t i = 0;
    while (i < record->loss_count && record->losses[i].process.instance != process->instance)
        i++;
    if (i == LOSSES_MAX)
        return; /* dropped_events has it */
    if (i == record->loss_count)
        record->losses[record->loss_count++] = (struct queue_loss){.process = *process};
    record->losses[i].events += events;
}

static void take_server_event(void *ctx, const struct tts_serverevent *event)
{
    struct tts_serverrecord *record = ctx;
    if (!event->process || event->kind == TTS_SERVEREVENT_PHASE)
        return;
    if ((record->loss_count == 0 || push_losses(record)) &&
        queue_push(record, event, event->process))
        return;
    bool is_loss = event->kind == TTS_SERVEREVENT_LOST;
    bool is_mark = event->kind == TTS_SERVEREVENT_BEGIN;
    if (is_mark)
        return; /* a recording begins with the first event */
    note_loss(record, event->process, is_loss ? event->buffers : 1);
    atomic_fetch_add_explicit(&record->dropped_events, 1, memory_order_relaxed);
}

/* ---- the recordings ---- */

static void note_file_failure(struct tts_serverrecord *record, const struct tts_error *err)
{
    pthread_mutex_lock(&record->counts_lock);
    if (record->counts.failed_files++ == 0)
        record->counts.failure = *err;
    pthread_mutex_unlock(&record->counts_lock);
}

/* Makes the recording of a process. After a failure, the process has no file. */
static void open_process(struct tts_serverrecord *record, const struct queued_event *queued)
{
    const struct tts_serverprocess *process = &queued->process;
    struct recorded_process *at = &record->processes[record->process_count];
    struct tts_error err = {0};
    *at = (struct recorded_process){.instance = process->instance};
    record->last = record->process_count++;
    const struct tts_processfile_config config = {.dir_fd = record->dir_fd,
                                                  .process = process,
                                                  .begin_ns = queued->event.time_ns,
                                                  .period_ns = record->counter_period_ns};
    if (tts_processfile_new(&config, record->alloc, &at->file, &err) != TTS_OK) {
        note_file_failure(record, &err);
        return;
    }
    pthread_mutex_lock(&record->counts_lock);
    record->counts.files++;
    pthread_mutex_unlock(&record->counts_lock);
}

/* Finds the process of an event, or makes its recording. Returns NULL if there are too many
 * processes. */
static struct recorded_process *find_recorded(struct tts_serverrecord *record,
                                              const struct queued_event *queued)
{
    const struct tts_serverprocess *process = &queued->process;
    if (record->last < record->process_count &&
        record->processes[record->last].instance == process->instance)
        return &record->processes[record->last];
    for (size_t i = 0; i < record->process_count; i++)
        if (record->processes[i].instance == process->instance)
            return &record->processes[record->last = i];
    if (record->process_count == record->files_max)
        return NULL;
    open_process(record, queued);
    return &record->processes[record->last];
}

static void count_file_bytes(struct tts_serverrecord *record, struct recorded_process *at)
{
    uint64_t bytes = tts_processfile_bytes(at->file);
    atomic_fetch_add_explicit(&record->bytes, bytes - at->bytes, memory_order_relaxed);
    at->bytes = bytes;
}

/* Ends the recording of a process that keeps its place in the list. */
static void end_recording(struct tts_serverrecord *record, struct recorded_process *at)
{
    if (!at->file)
        return;
    count_file_bytes(record, at);
    tts_processfile_free(at->file);
    at->file = NULL;
}

static void forget_process(struct tts_serverrecord *record,
                           const struct tts_serverprocess *process)
{
    for (size_t i = 0; i < record->process_count; i++) {
        if (record->processes[i].instance != process->instance)
            continue;
        end_recording(record, &record->processes[i]);
        record->processes[i] = record->processes[--record->process_count];
        return;
    }
}

/* Ends a recording that cannot be written. */
static void stop_recording(struct tts_serverrecord *record, struct recorded_process *at)
{
    struct tts_error err;
    tts_error_set_errno(&err, TTS_E_IO, tts_processfile_stopped(at->file),
                        "cannot continue a recording");
    note_file_failure(record, &err);
    end_recording(record, at);
}

static void note_too_many(struct tts_serverrecord *record)
{
    struct tts_error err;
    tts_error_set(&err, TTS_E_RANGE,
                  "cannot record another process: %zu processes are recorded already, which is "
                  "the maximum",
                  record->files_max);
    note_file_failure(record, &err);
}

static void write_queued(struct tts_serverrecord *record, struct queued_event *queued)
{
    struct tts_serverevent *event = &queued->event;
    event->process = &queued->process;
    if (event->kind == TTS_SERVEREVENT_DEATH) {
        forget_process(record, &queued->process);
        return;
    }
    if (event->kind == TTS_SERVEREVENT_BEGIN)
        return;
    struct recorded_process *at = find_recorded(record, queued);
    bool is_put = at && at->file && tts_processfile_event(at->file, event);
    atomic_fetch_add_explicit(is_put ? &record->events : &record->dropped_events, 1,
                              memory_order_relaxed);
    if (!at)
        note_too_many(record);
    else if (at->file && tts_processfile_stopped(at->file) != 0)
        stop_recording(record, at);
    else if (at->file)
        count_file_bytes(record, at);
}

static void *write_recordings(void *ctx)
{
    struct tts_serverrecord *record = ctx;
    for (;;) {
        /* Read before the queue: an event that was queued before the end is seen below. */
        bool is_closing = atomic_load(&record->is_closing);
        struct queued_event *queued = queue_first(record);
        if (queued) {
            write_queued(record, queued);
            queue_pop(record);
        } else if (is_closing) {
            break;
        } else {
            wait_queue(record);
        }
    }
    for (size_t i = 0; i < record->process_count; i++) {
        if (record->processes[i].file) /* no DEATH came: the program still runs */
            tts_processfile_leave(record->processes[i].file);
        end_recording(record, &record->processes[i]);
    }
    return NULL;
}

/* ---- life ---- */

static uint64_t round_queue_up(uint64_t number)
{
    uint64_t power = 1;
    while (power < number)
        power *= 2;
    return power;
}

static void release_record(struct tts_serverrecord *record)
{
    const struct tts_alloc *alloc = record->alloc;
    if (record->queue)
        alloc->free(alloc->ctx, record->queue, record->queue_max * sizeof *record->queue);
    if (record->processes)
        alloc->free(alloc->ctx, record->processes,
                    record->files_max * sizeof *record->processes);
    if (record->dir_fd >= 0)
        close(record->dir_fd);
    sem_destroy(&record->wake);
    pthread_mutex_destroy(&record->counts_lock);
    alloc->free(alloc->ctx, record, sizeof *record);
}

static enum tts_status open_record_dir(struct tts_serverrecord *record, const char *dir,
                                       struct tts_error *err)
{
    record->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (record->dir_fd < 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot open the directory '%s'", dir);
    if (faccessat(record->dir_fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot write in the directory '%s'",
                                   dir);
    return TTS_OK;
}

static enum tts_status prepare_record(struct tts_serverrecord *record,
                                      const struct tts_serverrecord_config *config,
                                      struct tts_error *err)
{
    const struct tts_alloc *alloc = record->alloc;
    enum tts_status status = open_record_dir(record, config->dir, err);
    if (status != TTS_OK)
        return status;
    record->queue = alloc->alloc(alloc->ctx, record->queue_max * sizeof *record->queue);
    record->processes = alloc->alloc(alloc->ctx, record->files_max * sizeof *record->processes);
    if (!record->queue || !record->processes)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the recordings");
    /* Signals are for the thread of the server. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int reason = pthread_create(&record->thread, NULL, write_recordings, record);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (reason != 0)
        return tts_error_set_errno(err, TTS_E_IO, reason,
                                   "cannot start the thread that writes recordings");
    return TTS_OK;
}

enum tts_status tts_serverrecord_open(const struct tts_serverrecord_config *config,
                                      const struct tts_alloc *alloc,
                                      struct tts_serverrecord **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_serverrecord *record = alloc->alloc(alloc->ctx, sizeof *record);
    if (!record)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the recordings");
    memset(record, 0, sizeof *record);
    record->alloc = alloc;
    record->dir_fd = -1;
    record->counter_period_ns = config->counter_period_ns;
    record->files_max = config->files_max ? config->files_max : TTS_SERVERRECORD_FILES;
    if (record->files_max > TTS_SERVERRECORD_FILES_MAX)
        record->files_max = TTS_SERVERRECORD_FILES_MAX;
    size_t queue_max = config->queue_max ? config->queue_max : TTS_SERVERRECORD_QUEUE;
    if (queue_max > TTS_SERVERRECORD_QUEUE_MAX)
        queue_max = TTS_SERVERRECORD_QUEUE_MAX;
    record->queue_max = round_queue_up(queue_max);
    sem_init(&record->wake, 0, 0);
    pthread_mutex_init(&record->counts_lock, NULL);
    enum tts_status status = prepare_record(record, config, err);
    if (status == TTS_OK)
        *out = record;
    else
        release_record(record);
    return status;
}

void tts_serverrecord_close(struct tts_serverrecord *record)
{
    if (!record)
        return;
    const struct timespec poll = {.tv_nsec = CLOSE_POLL_NS};
    while (!push_losses(record))
        nanosleep(&poll, NULL); /* the queue is full, and the thread empties it */
    atomic_store(&record->is_closing, true);
    sem_post(&record->wake);
    pthread_join(record->thread, NULL);
    release_record(record);
}

struct tts_serversink tts_serverrecord_sink(struct tts_serverrecord *record)
{
    return (struct tts_serversink){.event = take_server_event, .ctx = record};
}

void tts_serverrecord_counts(struct tts_serverrecord *record,
                             struct tts_serverrecord_counts *out)
{
    pthread_mutex_lock(&record->counts_lock);
    *out = record->counts;
    pthread_mutex_unlock(&record->counts_lock);
    out->events = atomic_load_explicit(&record->events, memory_order_relaxed);
    out->bytes = atomic_load_explicit(&record->bytes, memory_order_relaxed);
    out->dropped_events = atomic_load_explicit(&record->dropped_events, memory_order_relaxed);
}
