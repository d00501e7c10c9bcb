#include "capture/recorder_places.h"

#include "model/recording/recformat.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <time.h>

/* The states of the next place. WANTED means that any thread may begin to make the place.
 * WORKING means that the thread that set WORKING owns the place. READY and FAILED mean that the
 * thread that takes the place owns it. */
enum { WANTED, WORKING, READY, FAILED };

enum { NAP_NS = 100 * 1000 };

uint64_t tts_places_offset(const struct tts_places *p, uint64_t number)
{
    uint64_t place = p->box_places ? number % p->box_places : number;
    return TTS_REC_HEADER_BYTES + place * p->place_bytes;
}

/* --- making a place --------------------------------------------------------------------- */

static int get(struct tts_places *p, bool populates)
{
    uint64_t off = tts_places_offset(p, p->next_number);
    tts_mapped_release(&p->spent);
    int reason = tts_file_reserve(p->fd, off, p->place_bytes);
    if (reason == 0)
        reason = tts_file_map(p->fd, off, p->place_bytes, &p->next);
    if (reason == 0 && populates) {
        reason = tts_mapped_populate(&p->next);
        if (reason != 0)
            tts_mapped_release(&p->next);
    }
    return reason;
}

/* Makes the next place. Returns false if another thread is making the place or has made it. */
static bool get_ready(struct tts_places *p, bool populates)
{
    int step = WANTED;
    /* Pairs with the release in tts_places_take(). */
    if (!atomic_compare_exchange_strong_explicit(&p->step, &step, WORKING, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    p->reason = get(p, populates);
    /* Pairs with the acquire in await(), so that the place is complete. */
    atomic_store_explicit(&p->step, p->reason ? FAILED : READY, memory_order_release);
    return true;
}

static void *help(void *ctx)
{
    struct tts_places *p = ctx;
    for (;;) {
        while (sem_wait(&p->wake) != 0)
            assert(errno == EINTR);
        if (atomic_load_explicit(&p->is_over, memory_order_acquire))
            return NULL;
        get_ready(p, true);
    }
}

/* Starts the helper thread. If this fails, the threads that need places make them, which is
 * only slower. */
static void start_helper(struct tts_places *p)
{
    sigset_t all, before;
    if (sem_init(&p->wake, 0, 0) != 0)
        return;
    sigfillset(&all);
    /* Block all signals in the helper thread: they are for the threads of the program. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->has_helper = pthread_create(&p->helper, NULL, help, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (p->has_helper)
        pthread_setname_np(p->helper, "ttscope-record");
    else
        sem_destroy(&p->wake);
}

static void stop_helper(struct tts_places *p)
{
    if (!p->has_helper)
        return;
    atomic_store_explicit(&p->is_over, true, memory_order_release);
    sem_post(&p->wake);
    pthread_join(p->helper, NULL);
    sem_destroy(&p->wake);
    p->has_helper = false;
}

/* --- life ------------------------------------------------------------------------------- */

static int open_box(struct tts_places *p)
{
    uint64_t bytes = p->box_places * p->place_bytes;
    int reason = tts_file_reserve(p->fd, TTS_REC_HEADER_BYTES, bytes);
    return reason ? reason : tts_file_map(p->fd, TTS_REC_HEADER_BYTES, bytes, &p->now);
}

int tts_places_open(struct tts_places *p, int fd, uint64_t place_bytes, uint64_t box_places)
{
    assert(place_bytes % TTS_REC_HEADER_BYTES == 0 && place_bytes > 0);
    *p = (struct tts_places){.fd = fd, .place_bytes = place_bytes, .box_places = box_places};
    int reason = tts_file_reserve(fd, 0, TTS_REC_HEADER_BYTES);
    if (reason == 0)
        reason = tts_file_map(fd, 0, TTS_REC_HEADER_BYTES, &p->header);
    if (reason == 0 && box_places > 0)
        reason = open_box(p);
    if (reason == 0 && box_places == 0 && get_ready(p, true))
        reason = p->reason;
    if (reason != 0)
        tts_places_close(p, false);
    else if (box_places == 0)
        start_helper(p);
    return reason;
}

void tts_places_close(struct tts_places *p, bool is_child)
{
    if (!is_child) { /* not in a child, because the helper may have been changing these fields
                        at the fork */
        stop_helper(p);
        tts_mapped_release(&p->spent);
        tts_mapped_release(&p->next);
    }
    tts_mapped_release(&p->now);
    tts_mapped_release(&p->header);
}

/* --- taking ----------------------------------------------------------------------------- */

static int await(struct tts_places *p)
{
    for (;;) {
        int step = atomic_load_explicit(&p->step, memory_order_acquire);
        if (step == READY)
            return 0;
        if (step == FAILED)
            return p->reason;
        if (step == WANTED && get_ready(p, false))
            continue;
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

int tts_places_take(struct tts_places *p, uint64_t number, unsigned char **out)
{
    if (p->box_places > 0) {
        *out = p->now.bytes + tts_places_offset(p, number) - TTS_REC_HEADER_BYTES;
        return 0;
    }
    int reason = await(p);
    if (reason != 0)
        return reason;
    assert(number == p->next_number && !p->spent.base);
    p->spent = p->now;
    p->now = p->next;
    p->next = (struct tts_mapped){0};
    p->next_number++;
    atomic_store_explicit(&p->step, WANTED, memory_order_release);
    if (p->has_helper)
        sem_post(&p->wake);
    *out = p->now.bytes;
    return 0;
}
