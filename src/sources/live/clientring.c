#include "sources/live/clientring.h"

#include "base/error.h"
#include "base/heap.h"
#include "sources/live/clientfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { COPY_EVENTS = 16384, PASSES_MAX = 4 };

struct tts_clientring {
    const struct tts_alloc *alloc;
    struct tts_clientfile file;           /* its header has the counts of the last call */
    struct tts_clientregion_header first; /* as it was opened */
    uint64_t next; /* number of the next event to read; at most file.header.events */
};

/* --- open and close --------------------------------------------------------------------- */

static enum tts_status refuse_ring(enum tts_seenregion_state state, int sys_errno,
                                   const char *path, struct tts_error *err)
{
    if (state == TTS_SEENREGION_INITIALISING || state == TTS_SEENREGION_EMPTY)
        return tts_error_set(
            err, TTS_E_BUSY,
            "region '%s' is not complete yet: a program is creating the region", path);
    if (state == TTS_SEENREGION_UNKNOWN_VERSION)
        return tts_error_set(err, TTS_E_SYNTAX,
                             "region '%s' has an unknown version: use the same version of "
                             "ttscope and of its library",
                             path);
    if (state == TTS_SEENREGION_FAILED && sys_errno == ENOENT)
        return tts_error_set(err, TTS_E_NOT_FOUND, "there is no region '%s'", path);
    if (state == TTS_SEENREGION_NO_ACCESS ||
        (state == TTS_SEENREGION_FAILED && sys_errno != EINVAL && sys_errno != ELOOP))
        return tts_error_set_errno(err, TTS_E_IO, sys_errno, "cannot read region '%s'", path);
    return tts_error_set(err, TTS_E_SYNTAX, "'%s' is not a region of a program", path);
}

enum tts_status tts_clientring_open(const char *path, const struct tts_alloc *alloc,
                                    struct tts_clientring **out, struct tts_error *err)
{
    struct tts_clientfile file;
    int sys_errno;
    enum tts_seenregion_state state = tts_clientfile_open(&file, AT_FDCWD, path, &sys_errno);
    if (state != TTS_SEENREGION_READ)
        return refuse_ring(state, sys_errno, path, err);
    alloc = alloc ? alloc : tts_alloc_libc();
    enum tts_status status = TTS_OK;
    struct tts_clientring *ring = NULL;
    if (file.header.event_slots == 0)
        status = tts_error_set(
            err, TTS_E_SYNTAX,
            "region '%s' has no events: the program does not publish its events", path);
    else if (!(ring = alloc->alloc(alloc->ctx, sizeof *ring)))
        status = tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the events of a program");
    if (status != TTS_OK) {
        tts_clientfile_close(&file);
        return status;
    }
    *ring = (struct tts_clientring){
        .alloc = alloc, .file = file, .first = file.header, .next = file.header.events};
    *out = ring;
    return TTS_OK;
}

void tts_clientring_close(struct tts_clientring *ring)
{
    if (!ring)
        return;
    tts_clientfile_close(&ring->file);
    ring->alloc->free(ring->alloc->ctx, ring, sizeof *ring);
}

void tts_clientring_rewind(struct tts_clientring *ring)
{
    ring->next = 0;
}

const struct tts_clientregion_header *tts_clientring_header(const struct tts_clientring *ring)
{
    return &ring->first;
}

uint64_t tts_clientring_passed(const struct tts_clientring *ring)
{
    return ring->next;
}

void tts_clientring_op(struct tts_clientring *ring, uint16_t op,
                       char name[TTS_CLIENTREGION_NAME_BYTES])
{
    tts_clientfile_op(&ring->file, op, name);
}

/* --- events ----------------------------------------------------------------------------- */

static enum tts_status fail_ring(enum tts_status status, int sys_errno, struct tts_error *err)
{
    if (status == TTS_E_IO)
        return tts_error_set_errno(err, status, sys_errno, "cannot read a region of a program");
    return tts_error_set(err, status, "a region of a program was truncated or damaged");
}

static void count_lost(uint64_t *lost, uint64_t count)
{
    if (__builtin_add_overflow(*lost, count, lost))
        *lost = UINT64_MAX;
}

/* Goes on to a later event. */
static void skip_lost(struct tts_clientring *ring, uint64_t number, uint64_t *lost)
{
    count_lost(lost, number - ring->next);
    ring->next = number;
}

static uint64_t offset_of_event(const struct tts_clientring *ring, uint64_t number)
{
    const uint64_t slot = number & (ring->file.header.event_slots - 1);
    return ring->file.header.events_off + slot * sizeof(struct tts_clientregion_event);
}

/* Returns the number of the oldest event that was in the ring during the whole copy before this
 * call. The program may be writing the next event already, over the oldest one: the stamp of
 * the oldest event tells. `from` and `count` are the events that were copied. */
static enum tts_status find_oldest_event(struct tts_clientring *ring, uint64_t from,
                                         size_t count, uint64_t *oldest, int *sys_errno)
{
    const uint64_t events = ring->file.header.events, slots = ring->file.header.event_slots;
    uint64_t stamp;
    *oldest = events < slots ? 0 : events - slots;
    if (events < slots || *oldest < from || *oldest - from >= count)
        return TTS_OK;
    enum tts_status status = tts_clientfile_copy(&ring->file, offset_of_event(ring, *oldest),
                                                 &stamp, sizeof stamp, sys_errno);
    if (status == TTS_OK && stamp != *oldest + 1)
        ++*oldest;
    return status;
}

static bool is_event_possible(const struct tts_clientregion_event *event, uint64_t number)
{
    return event->stamp == number + 1 && event->kind >= TTS_CLIENTEVENT_ALLOC &&
           event->kind <= TTS_CLIENTEVENT_KERNEL && event->pool < TTS_CLIENTREGION_POOLS;
}

/* Moves the good ones among the copied events to the front, and returns their number. */
static size_t keep_good_events(struct tts_clientring *ring,
                               struct tts_clientregion_event *events, size_t copied,
                               uint64_t oldest, uint64_t *lost)
{
    const uint64_t from = ring->next;
    size_t count = 0;
    for (size_t i = 0; i < copied; i++) {
        const uint64_t number = from + i;
        if (number < oldest || !is_event_possible(&events[i], number)) {
            count_lost(lost, 1);
            continue;
        }
        if (count != i)
            events[count] = events[i];
        count++;
    }
    ring->next = from + copied;
    return count;
}

/* Copies the next events up to the end of the ring, with at most one pass. The header is
 * copied again after the events, because it tells which of them the program has overwritten. */
static enum tts_status copy_events(struct tts_clientring *ring,
                                   struct tts_clientregion_event *events, size_t max,
                                   size_t *count, uint64_t *lost, int *sys_errno)
{
    const uint64_t slots = ring->file.header.event_slots;
    const uint64_t to_wrap = slots - (ring->next & (slots - 1));
    uint64_t oldest, want = ring->file.header.events - ring->next;
    want = want < to_wrap ? want : to_wrap;
    want = want < max ? want : max;
    want = want < COPY_EVENTS ? want : COPY_EVENTS;
    enum tts_status status =
        tts_clientfile_copy(&ring->file, offset_of_event(ring, ring->next), events,
                            (size_t)want * sizeof *events, sys_errno);
    if (status == TTS_OK)
        status = tts_clientfile_refresh(&ring->file, sys_errno);
    if (status == TTS_OK)
        status = find_oldest_event(ring, ring->next, (size_t)want, &oldest, sys_errno);
    if (status == TTS_OK)
        *count = keep_good_events(ring, events, (size_t)want, oldest, lost);
    return status;
}

enum tts_status tts_clientring_next(struct tts_clientring *ring,
                                    struct tts_clientregion_event *events, size_t max,
                                    size_t *count, uint64_t *lost, struct tts_error *err)
{
    const struct tts_clientregion_header *header = &ring->file.header;
    uint64_t lost_now = 0;
    size_t good = 0;
    int sys_errno = 0;
    enum tts_status status = TTS_OK;
    assert(max > 0);
    if (ring->next == header->events)
        status = tts_clientfile_refresh(&ring->file, &sys_errno);
    /* If all events of a pass are lost, the next pass may have some. */
    for (int i = 0; i < PASSES_MAX && status == TTS_OK && good == 0; i++) {
        if (header->events - ring->next > header->event_slots)
            skip_lost(ring, header->events - header->event_slots, &lost_now);
        if (ring->next < header->events)
            status = copy_events(ring, events, max, &good, &lost_now, &sys_errno);
    }
    if (status != TTS_OK)
        return fail_ring(status, sys_errno, err);
    count_lost(lost, lost_now);
    if (good == 0 && ring->next == header->events && header->state == TTS_CLIENTREGION_ENDED)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "the program no longer publishes its memory");
    *count = good;
    return TTS_OK;
}
