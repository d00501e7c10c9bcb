#include "serve/processfile.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/mapfile.h"
#include "base/number.h"
#include "base/ticks.h"
#include "model/fold.h"
#include "model/recording/recenc.h"
#include "model/recording/recformat.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PLACE_BYTES = 64 << 10,
    UNIT_SHIFT = 10, /* a time unit is 1024 ns */
    COPIES_MAX = 1000,
    NAME_BYTES = 40,  /* of the name of the process in the name of the file */
    DEVICES_MAX = 64, /* with counters */
};
/* Largest age of the first event: a time from a client can be anything. */
#define AGE_MAX_NS UINT64_C(10000000000)
#define SLACK_NS UINT64_C(10000000)

/* The counters of a device: what the events add up to. */
struct counted_device {
    uint32_t device;
    struct tts_sample sample;
};

struct tts_processfile {
    struct tts_recenc enc;
    const struct tts_alloc *alloc;
    int fd;
    int sys_errno; /* why the file stopped; 0: it goes on */
    bool is_left;  /* the program goes on without the file */
    struct tts_mapped header, place;
    struct tts_rec_state state;
    uint64_t blocks, events, missed;
    uint64_t start_ns, start_realtime_ns;
    uint64_t last_ns; /* time of the last item, on the monotonic clock */
    uint64_t period_ns;
    struct counted_device devices[DEVICES_MAX];
    size_t device_count;
};

/* ---- the name ---- */

const char *tts_processfile_name(char out[TTS_PROCESSFILE_NAME_MAX],
                                 const struct tts_serverprocess *process, unsigned copy)
{
    char name[NAME_BYTES + 1], suffix[16] = "";
    size_t len = 0;
    for (; len < NAME_BYTES && process->name[len]; len++) {
        char c = process->name[len];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
        /* A name must not look like an option, and must not be hidden. */
        bool is_first = len == 0 && (c == '-' || c == '.');
        name[len] = is_plain && !is_first ? c : '_';
    }
    name[len] = '\0';
    if (copy > 1)
        snprintf(suffix, sizeof suffix, "-%u", copy);
    snprintf(out, TTS_PROCESSFILE_NAME_MAX, "%s-%u-%llu%s.tts", len > 0 ? name : "process",
             process->pid ? process->pid : process->pid_inside,
             (unsigned long long)process->start_ticks, suffix);
    return out;
}

/* ---- blocks ---- */

static void put_process_state(struct tts_processfile *file, enum tts_rec_state_kind kind)
{
    file->state.generation++;
    file->state.kind = kind;
    bool is_left = kind == TTS_REC_STOPPED && file->sys_errno == 0;
    file->state.sys_errno = is_left ? ECANCELED : (uint32_t)file->sys_errno;
    file->state.blocks = file->blocks;
    file->state.events = kind == TTS_REC_RECORDING ? 0 : file->events;
    file->state.dropped = file->sys_errno != 0 ? file->missed : 0;
    tts_rec_state_put(&file->state, file->header.bytes);
}

static uint64_t place_off(uint64_t number)
{
    return TTS_REC_HEADER_BYTES + number * PLACE_BYTES;
}

static void stop_process_file(struct tts_processfile *file, int sys_errno)
{
    assert(sys_errno != 0 && file->sys_errno == 0);
    file->sys_errno = sys_errno;
    put_process_state(file, TTS_REC_STOPPED);
}

static uint64_t tick_of(const struct tts_processfile *file)
{
    return (file->last_ns - file->start_ns) >> UNIT_SHIFT;
}

/* Begins the next block. Returns false if the file has stopped. */
static bool begin_process_block(struct tts_processfile *file)
{
    struct tts_mapped next = {0};
    uint64_t off = place_off(file->blocks);
    int reason = tts_file_reserve(file->fd, off, PLACE_BYTES);
    if (reason == 0)
        reason = tts_file_map(file->fd, off, PLACE_BYTES, &next);
    if (reason != 0) {
        stop_process_file(file, reason);
        return false;
    }
    struct tts_rec_block block = {.kind = TTS_REC_ITEMS,
                                  .has_keyframe = file->blocks == 0,
                                  .number = file->blocks,
                                  .seq = file->events,
                                  .tick = tick_of(file),
                                  .time_ns = file->last_ns,
                                  .place_bytes = PLACE_BYTES};
    tts_mapped_release(&file->place);
    file->place = next;
    tts_rec_block_put(&block, next.bytes);
    tts_recenc_begin(&file->enc, next.bytes + TTS_REC_BLOCK_HEADER_BYTES,
                     PLACE_BYTES - TTS_REC_BLOCK_HEADER_BYTES,
                     (uint64_t *)(void *)(next.bytes + TTS_REC_COMMIT_OFF), block.number,
                     block.tick);
    file->blocks++;
    put_process_state(file, TTS_REC_RECORDING);
    return true;
}

/* Writes an item at the time of the last event. Returns false if the file has stopped. */
static bool put_process_item(struct tts_processfile *file, const struct tts_item *item)
{
    if (file->sys_errno != 0)
        return false;
    if (tts_recenc_item(&file->enc, item, false, tick_of(file)))
        return true;
    return begin_process_block(file) && tts_recenc_item(&file->enc, item, false, tick_of(file));
}

/* ---- life ---- */

/* The server has no names of operations. */
static const char *no_op(void *ctx, uint64_t op_hash)
{
    (void)ctx;
    (void)op_hash;
    return "";
}

/* Makes the file under the first name that is free. Returns 0 or an errno value. */
static int create_process_file(int dir_fd, const struct tts_serverprocess *process, int *fd)
{
    for (unsigned copy = 1; copy <= COPIES_MAX; copy++) {
        char name[TTS_PROCESSFILE_NAME_MAX];
        *fd = openat(dir_fd, tts_processfile_name(name, process, copy),
                     O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (*fd >= 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

/* Writes the header and an empty keyframe. Returns 0 or an errno value. */
static int begin_process_file(struct tts_processfile *file,
                              const struct tts_serverprocess *process)
{
    struct tts_rec_header header = {
        .kind = TTS_REC_LIVE,
        .place_bytes = PLACE_BYTES,
        .start_ns = file->start_ns,
        .start_realtime_ns = file->start_realtime_ns,
        .unit_scale = UINT64_C(1) << (32 + UNIT_SHIFT),
        .pid = process->pid ? process->pid : process->pid_inside,
        .flags = TTS_REC_SAMPLES | TTS_REC_L1_REQUESTED,
    };
    snprintf(header.program, sizeof header.program, "%.*s", TTS_HOSTVIEW_NAME_MAX - 1,
             process->name);
    snprintf(header.writer, sizeof header.writer, "%s", tts_version());
    int reason = tts_file_reserve(file->fd, 0, TTS_REC_HEADER_BYTES);
    if (reason == 0)
        reason = tts_file_map(file->fd, 0, TTS_REC_HEADER_BYTES, &file->header);
    if (reason != 0)
        return reason;
    tts_rec_header_put(&header, file->header.bytes);
    struct tts_item item = {.kind = TTS_ITEM_KEYFRAME};
    if (begin_process_block(file) && put_process_item(file, &item)) {
        item.kind = TTS_ITEM_KEYFRAME_END;
        put_process_item(file, &item);
    }
    return file->sys_errno;
}

/* Closes the file. Keeps its bytes up to the last one in use. */
static void close_process_file(struct tts_processfile *file)
{
    uint64_t bytes = tts_processfile_bytes(file);
    tts_mapped_release(&file->place);
    tts_mapped_release(&file->header);
    if (file->fd >= 0) {
        /* Space that cannot be given back does no harm: a reader ignores it. */
        int ignored = ftruncate(file->fd, (off_t)bytes);
        (void)ignored;
        close(file->fd);
    }
}

/* Sets the start of the recording to its first event, which is a little older than now. */
static void set_process_start(struct tts_processfile *file, uint64_t begin_ns)
{
    uint64_t realtime_ns = tts_clock_realtime_ns(), age_ns = 0;
    file->start_ns = tts_clock_ns();
    if (begin_ns > 0 && begin_ns < realtime_ns)
        age_ns = realtime_ns - begin_ns < AGE_MAX_NS ? realtime_ns - begin_ns : AGE_MAX_NS;
    age_ns = age_ns < file->start_ns ? age_ns : file->start_ns;
    file->start_ns -= age_ns;
    file->start_realtime_ns = realtime_ns - age_ns;
    file->last_ns = file->start_ns;
}

enum tts_status tts_processfile_new(const struct tts_processfile_config *config,
                                    const struct tts_alloc *alloc, struct tts_processfile **out,
                                    struct tts_error *err)
{
    char name[TTS_PROCESSFILE_NAME_MAX];
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_processfile *file = alloc->alloc(alloc->ctx, sizeof *file);
    if (!file)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for a recording");
    memset(file, 0, sizeof *file);
    file->alloc = alloc;
    file->enc.op = no_op;
    file->period_ns = config->period_ns;
    set_process_start(file, config->begin_ns);
    int reason = create_process_file(config->dir_fd, config->process, &file->fd);
    if (reason == 0)
        reason = begin_process_file(file, config->process);
    if (reason == 0) {
        *out = file;
        return TTS_OK;
    }
    close_process_file(file);
    alloc->free(alloc->ctx, file, sizeof *file);
    return tts_error_set_errno(err, TTS_E_IO, reason, "cannot write the recording '%s'",
                               tts_processfile_name(name, config->process, 1));
}

void tts_processfile_free(struct tts_processfile *file)
{
    if (!file)
        return;
    if (file->sys_errno == 0 && !file->is_left)
        put_process_state(file, TTS_REC_ENDED);
    else
        put_process_state(file, TTS_REC_STOPPED);
    close_process_file(file);
    file->alloc->free(file->alloc->ctx, file, sizeof *file);
}

void tts_processfile_leave(struct tts_processfile *file)
{
    file->is_left = true;
}

int tts_processfile_stopped(const struct tts_processfile *file)
{
    return file->sys_errno;
}

uint64_t tts_processfile_bytes(const struct tts_processfile *file)
{
    if (file->blocks == 0)
        return 0;
    return place_off(file->blocks - 1) + TTS_REC_BLOCK_HEADER_BYTES +
           tts_recenc_used(&file->enc);
}

/* ---- samples ---- */

static struct counted_device *find_counted(struct tts_processfile *file, uint32_t device)
{
    for (size_t i = 0; i < file->device_count; i++)
        if (file->devices[i].device == device)
            return &file->devices[i];
    if (file->device_count == DEVICES_MAX)
        return NULL;
    struct counted_device *added = &file->devices[file->device_count++];
    *added =
        (struct counted_device){.device = device, .sample = {.period_ns = file->period_ns}};
    return added;
}

/* Changes one counter of the device of the event, and writes all counters of the device. */
static bool put_counted(struct tts_processfile *file, const struct tts_serverevent *event,
                        unsigned number, bool comes)
{
    struct counted_device *counted = find_counted(file, event->device);
    if (!counted)
        return false;
    uint64_t before = counted->sample.values[number], after;
    if (!comes)
        after = before > event->size_bytes ? before - event->size_bytes : 0;
    else if (__builtin_add_overflow(before, event->size_bytes, &after))
        after = UINT64_MAX;
    tts_sample_set(&counted->sample, number, after);
    /* Only counters are read from time to time. Other sources report each change. */
    counted->sample.period_ns =
        event->source == TTS_SERVERSOURCE_COUNTERS ? file->period_ns : 0;
    struct tts_item item = {
        .kind = TTS_ITEM_SAMPLE, .device = event->device, .sample = &counted->sample};
    return put_process_item(file, &item);
}

/* ---- events ---- */

/* Writes an event if a recording can have it. */
static bool put_checked(struct tts_processfile *file, const struct tts_event *event)
{
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .event = *event};
    if (tts_event_check(event, NULL) != TTS_OK || file->events + 1 >= TTS_FOLD_SEQ_MAX ||
        !put_process_item(file, &item))
        return false;
    file->events++;
    return true;
}

static bool put_process_buffer(struct tts_processfile *file,
                               const struct tts_serverevent *event)
{
    bool comes = event->kind == TTS_SERVEREVENT_ALLOC;
    if (!event->id_known)
        return put_counted(file, event, tts_sample_number(TTS_SAMPLE_ALLOCATED, event->pool),
                           comes);
    /* More references to a live buffer take no memory. */
    if (comes ? event->references > 1 : event->references > 0)
        return true;
    struct tts_event buffer =
        tts_event_of(comes ? TTS_EVENT_ALLOC : TTS_EVENT_FREE, event->device);
    buffer.pool = event->pool;
    buffer.id = event->id;
    buffer.size_bytes = event->size_bytes;
    if (tts_pool_is_l1(event->pool))
        buffer.bytes_per_bank = event->size_bytes; /* see TTS_REC_L1_REQUESTED */
    return put_checked(file, &buffer);
}

static bool put_unknown_free(struct tts_processfile *file, const struct tts_serverevent *event)
{
    struct tts_event buffer = tts_event_of(TTS_EVENT_FREE, event->device);
    buffer.id = event->id;
    return put_checked(file, &buffer);
}

static bool put_refused(struct tts_processfile *file, const struct tts_serverevent *event)
{
    struct tts_failure failure = {
        .kind = TTS_FAILURE_SPACE, .pool = event->pool, .requested_bytes = event->size_bytes};
    struct tts_event refused = tts_event_of(TTS_EVENT_FAILURE, event->device);
    refused.failure = &failure;
    return put_checked(file, &refused);
}

static bool put_trace(struct tts_processfile *file, const struct tts_serverevent *event)
{
    bool begins = event->kind == TTS_SERVEREVENT_TRACE_BEGIN;
    struct tts_event trace =
        tts_event_of(begins ? TTS_EVENT_TRACE_BEGIN : TTS_EVENT_TRACE_END, event->device);
    return put_checked(file, &trace);
}

static bool put_process_event(struct tts_processfile *file, const struct tts_serverevent *event)
{
    switch (event->kind) {
    case TTS_SERVEREVENT_ALLOC:
    case TTS_SERVEREVENT_FREE:
        return put_process_buffer(file, event);
    case TTS_SERVEREVENT_UNKNOWN_FREE:
        return put_unknown_free(file, event);
    case TTS_SERVEREVENT_CB_ALLOC:
    case TTS_SERVEREVENT_CB_FREE:
        return put_counted(file, event, TTS_SAMPLE_CB, event->kind == TTS_SERVEREVENT_CB_ALLOC);
    case TTS_SERVEREVENT_KERNEL_LOAD:
    case TTS_SERVEREVENT_KERNEL_UNLOAD:
        return put_counted(file, event, TTS_SAMPLE_KERNEL,
                           event->kind == TTS_SERVEREVENT_KERNEL_LOAD);
    case TTS_SERVEREVENT_TRACE_BEGIN:
    case TTS_SERVEREVENT_TRACE_END:
        return put_trace(file, event);
    case TTS_SERVEREVENT_REFUSED:
        return put_refused(file, event);
    case TTS_SERVEREVENT_LOST:
        tts_processfile_missed(file, event->buffers);
        return true;
    case TTS_SERVEREVENT_BEGIN:
    case TTS_SERVEREVENT_DEATH:
    case TTS_SERVEREVENT_PHASE: /* a reader finds the phases */
    case TTS_SERVEREVENTS:
        break;
    }
    return true;
}

/* Returns an instant since 1970 on the monotonic clock, not before the start of the file. */
static uint64_t process_time(const struct tts_processfile *file, uint64_t realtime_ns)
{
    return realtime_ns > file->start_realtime_ns
               ? file->start_ns + (realtime_ns - file->start_realtime_ns)
               : file->start_ns;
}

/* Moves the time of the file to that of an event: never back, and never after now, because
 * times of clients can be anything. A clock that is read for each event must be cheap, so now
 * is up to SLACK_NS too late. */
static void move_process_time(struct tts_processfile *file, uint64_t realtime_ns)
{
    uint64_t coarse_ns = tts_clock_coarse_ns();
    uint64_t latest_ns = process_time(file, coarse_ns + SLACK_NS);
    uint64_t event_ns = process_time(file, realtime_ns > 0 ? realtime_ns : coarse_ns);
    event_ns = event_ns < latest_ns ? event_ns : latest_ns;
    file->last_ns = event_ns > file->last_ns ? event_ns : file->last_ns;
}

bool tts_processfile_event(struct tts_processfile *file, const struct tts_serverevent *event)
{
    move_process_time(file, event->time_ns);
    bool is_put = put_process_event(file, event);
    if (!is_put)
        tts_processfile_missed(file, 1);
    return is_put;
}

void tts_processfile_missed(struct tts_processfile *file, uint64_t events)
{
    struct tts_item item = {.kind = TTS_ITEM_MISSED, .count = events};
    if (__builtin_add_overflow(file->missed, events, &file->missed))
        file->missed = UINT64_MAX;
    put_process_item(file, &item);
}
