#include "serve/hostreader.h"

#include "analysis/live/liveowners.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/ticks.h"
#include "sources/live/livehost.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS (UINT64_C(1000) * 1000 * 1000)

struct tts_hostreader {
    const struct tts_alloc *alloc;
    struct tts_livehost *live; /* only the thread uses it; the caller stops it */
    struct tts_hostreading readings[2];
    int front;    /* the reading of the caller; the thread fills the other. Changes only while
                   * the thread waits */
    bool is_busy; /* a read was begun and not taken; only the caller uses it */
    int event_fd;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    bool is_wanted, is_done, must_end;
    enum tts_status status; /* of the last read */
};

/* --- the thread ------------------------------------------------------------------------- */

/* Waits until a read is wanted. Returns false if the thread must end. */
static bool wait_for_wish(struct tts_hostreader *reader)
{
    pthread_mutex_lock(&reader->lock);
    while (!reader->is_wanted && !reader->must_end)
        pthread_cond_wait(&reader->changed, &reader->lock);
    reader->is_wanted = false;
    bool goes_on = !reader->must_end;
    pthread_mutex_unlock(&reader->lock);
    return goes_on;
}

static void *read_hosts(void *ctx)
{
    const uint64_t one = 1;
    struct tts_hostreader *reader = ctx;
    while (wait_for_wish(reader)) {
        struct tts_hostreading *back = &reader->readings[1 - reader->front];
        enum tts_status status = tts_livehost_read(reader->live, &back->view, NULL);
        if (status == TTS_OK)
            status = tts_liveowners_judge(&back->view, &back->frame, NULL);
        pthread_mutex_lock(&reader->lock);
        reader->status = status;
        reader->is_done = true;
        pthread_cond_broadcast(&reader->changed);
        (void)!write(reader->event_fd, &one, sizeof one); /* cannot fail: the count is small */
        pthread_mutex_unlock(&reader->lock);
    }
    return NULL;
}

/* --- the caller ------------------------------------------------------------------------- */

/* Returns 0 or an errno value. */
static int start_reader(struct tts_hostreader *reader)
{
    pthread_condattr_t clock;
    reader->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (reader->event_fd < 0)
        return errno;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&reader->lock, NULL);
    pthread_cond_init(&reader->changed, &clock);
    pthread_condattr_destroy(&clock);
    int reason = pthread_create(&reader->thread, NULL, read_hosts, reader);
    if (reason == 0)
        return 0;
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->lock);
    close(reader->event_fd);
    return reason;
}

static void free_reader(struct tts_hostreader *reader)
{
    for (int i = 0; i < 2; i++) {
        tts_liveframe_release(&reader->readings[i].frame);
        tts_hostview_release(&reader->readings[i].view);
    }
    tts_livehost_close(reader->live);
    reader->alloc->free(reader->alloc->ctx, reader, sizeof *reader);
}

enum tts_status tts_hostreader_open(const char *root, const struct tts_alloc *alloc,
                                    struct tts_hostreader **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_hostreader *reader = alloc->alloc(alloc->ctx, sizeof *reader);
    if (!reader)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the host");
    memset(reader, 0, sizeof *reader);
    reader->alloc = alloc;
    enum tts_status status = tts_livehost_open(root, alloc, &reader->live, err);
    if (status != TTS_OK) {
        alloc->free(alloc->ctx, reader, sizeof *reader);
        return status;
    }
    /* The server shows no names of users. */
    tts_livehost_defer_users(reader->live);
    tts_livehost_leave_out_served(reader->live);
    for (int i = 0; i < 2; i++) {
        tts_hostview_init(&reader->readings[i].view, alloc);
        tts_liveframe_init(&reader->readings[i].frame, alloc);
    }
    int reason = start_reader(reader);
    if (reason != 0) {
        free_reader(reader);
        return tts_error_set_errno(err, TTS_E_IO, reason, "cannot start a thread");
    }
    *out = reader;
    return TTS_OK;
}

void tts_hostreader_close(struct tts_hostreader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->lock);
    tts_livehost_stop(reader->live);
    reader->must_end = true;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
    pthread_join(reader->thread, NULL);
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->lock);
    close(reader->event_fd);
    free_reader(reader);
}

bool tts_hostreader_begin(struct tts_hostreader *reader)
{
    if (reader->is_busy)
        return false;
    reader->is_busy = true;
    pthread_mutex_lock(&reader->lock);
    reader->is_wanted = true;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
    return true;
}

bool tts_hostreader_is_busy(const struct tts_hostreader *reader)
{
    return reader->is_busy;
}

int tts_hostreader_fd(const struct tts_hostreader *reader)
{
    return reader->event_fd;
}

/* Waits until a read has ended, for at most `wait_ns`. Call this with the lock. */
static void wait_for_reading(struct tts_hostreader *reader, uint64_t wait_ns)
{
    uint64_t until_ns = tts_clock_ns() + wait_ns;
    struct timespec until = {.tv_sec = (time_t)(until_ns / SECOND_NS),
                             .tv_nsec = (long)(until_ns % SECOND_NS)};
    int reason = 0;
    while (wait_ns > 0 && reason == 0 && !reader->is_done)
        reason = pthread_cond_timedwait(&reader->changed, &reader->lock, &until);
}

const struct tts_hostreading *tts_hostreader_take(struct tts_hostreader *reader,
                                                  uint64_t wait_ns)
{
    uint64_t count;
    if (!reader->is_busy)
        return NULL;
    pthread_mutex_lock(&reader->lock);
    wait_for_reading(reader, wait_ns);
    bool is_done = reader->is_done;
    bool is_good = is_done && reader->status == TTS_OK;
    reader->is_done = false;
    if (is_done)
        (void)!read(reader->event_fd, &count, sizeof count); /* makes it unreadable */
    pthread_mutex_unlock(&reader->lock);
    reader->is_busy = !is_done;
    if (!is_good)
        return NULL;
    reader->front = 1 - reader->front;
    return &reader->readings[reader->front];
}
