#include "capture/recorder_hook.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/ticks.h"
#include "capture/recorder_inside.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PLACE_BYTES = 4 << 20,
    BOX_PLACES = 8,
    BOX_PLACE_MIN = 512 << 10,
    BOX_PLACE_MAX = TTS_REC_PAYLOAD_MAX,
};
#define KEEP_MAX (UINT64_C(1) << 40)

static_assert(TTS_RECORDER_KEEP_MIN == BOX_PLACES * BOX_PLACE_MIN, "the smallest black box");

/* --- checking --------------------------------------------------------------------------- */

static enum tts_status check(const struct tts_tracker *t,
                             const struct tts_recorder_config *config,
                             struct tts_recorder *const *out, struct tts_error *err)
{
    if (!t || !config || !out)
        return tts_error_set(err, TTS_E_INVALID, "%s is NULL",
                             !t        ? "the tracker"
                             : !config ? "the configuration"
                                       : "'out'");
    if (!config->path || !config->path[0])
        return tts_error_set(err, TTS_E_INVALID,
                             "the path of the recording is missing: give 'path'");
    static const struct tts_recorder_config nothing;
    if (memcmp(config->reserved, nothing.reserved, sizeof nothing.reserved) != 0)
        return tts_error_set(
            err, TTS_E_INVALID,
            "a reserved field of the configuration is not 0: set all reserved fields to 0");
    uint64_t keep = config->keep_bytes;
    if (keep != 0 && (keep < TTS_RECORDER_KEEP_MIN || keep > KEEP_MAX))
        return tts_error_set(err, TTS_E_RANGE,
                             "keep_bytes is %" PRIu64 ": give 0, or %" PRIu64 " to %" PRIu64,
                             keep, TTS_RECORDER_KEEP_MIN, KEEP_MAX);
    return TTS_OK;
}

/* Reserves the tracker for this recorder while the file is made, because a tracker has one
 * recorder at a time. */
static enum tts_status claim(struct tts_tracker *t, struct tts_error *err)
{
    tts_tracker_enter(t);
    bool is_free = !t->has_recorder;
    t->has_recorder = true;
    tts_tracker_leave(t);
    return is_free
               ? TTS_OK
               : tts_error_set(err, TTS_E_BUSY,
                               "the tracker already has a recorder: end that recorder first");
}

static void unclaim(struct tts_tracker *t)
{
    tts_tracker_enter(t);
    t->has_recorder = false;
    tts_tracker_leave(t);
}

/* --- creation --------------------------------------------------------------------------- */

static const char *op_text(void *ctx, uint64_t op_hash)
{
    const char *text = tts_fold_op_text(ctx, op_hash);
    return text ? text : "";
}

static void put_header(const struct tts_recorder *r)
{
    struct tts_rec_header header = {
        .kind = TTS_REC_LIVE,
        .place_bytes = r->places.place_bytes,
        .places = r->places.box_places,
        .start_ns = tts_clock_ns(),
        .start_realtime_ns = tts_clock_realtime_ns(),
        .unit_scale = tts_ticks_scale() << TTS_RECORDER_UNIT_SHIFT,
        .pid = (uint64_t)getpid(),
        .flags = r->flags,
    };
    snprintf(header.program, sizeof header.program, "%s", program_invocation_short_name);
    snprintf(header.writer, sizeof header.writer, "%s", tts_version());
    tts_rec_header_put(&header, r->places.header.bytes);
}

/* Computes the number and the size of places. The file of a black box has about keep_bytes.
 * Each place has one block. */
static void place_sizes(uint64_t keep_bytes, uint64_t *bytes, uint64_t *places)
{
    *bytes = PLACE_BYTES;
    *places = 0;
    if (keep_bytes == 0)
        return;
    uint64_t share = keep_bytes / BOX_PLACES / TTS_REC_HEADER_BYTES * TTS_REC_HEADER_BYTES;
    *bytes = share < BOX_PLACE_MAX ? share : BOX_PLACE_MAX;
    *places = keep_bytes / *bytes;
}

/* Creates the file with its first places. The file does not have its name yet. */
static enum tts_status make_file(struct tts_recorder *r, const char *path,
                                 struct tts_error *err)
{
    uint64_t place_bytes, places;
    enum tts_status status = tts_recorder_file_make(&r->file, path, err);
    if (status != TTS_OK)
        return status;
    place_sizes(r->keep_bytes, &place_bytes, &places);
    int reason = tts_places_open(&r->places, r->file.fd, place_bytes, places);
    if (reason != 0) {
        tts_recorder_file_close(&r->file, false);
        return tts_recorder_file_error(err, reason, path, false);
    }
    put_header(r);
    return TTS_OK;
}

static enum tts_status no_forkmark(int reason, struct tts_error *err)
{
    if (reason == ENOMEM)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    return tts_error_set_errno(err, TTS_E_IO, reason,
                               "cannot record: on this kernel a child process would write to "
                               "the same file; use Linux 4.14 or later");
}

static enum tts_status new_recorder(struct tts_tracker *t, uint64_t keep_bytes,
                                    struct tts_recorder **out, struct tts_error *err)
{
    struct tts_recorder *r = t->alloc->alloc(t->alloc->ctx, sizeof *r);
    if (!r)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    memset(r, 0, sizeof *r);
    r->alloc = t->alloc;
    r->tracker = t;
    r->fold = t->fold;
    r->enc.op = op_text;
    r->enc.ctx = t->fold;
    r->keep_bytes = keep_bytes;
    r->keyframes_left = TTS_RECORDER_KEYFRAMES;
    int reason = tts_forkmark_new(&r->home);
    if (reason != 0) {
        t->alloc->free(t->alloc->ctx, r, sizeof *r);
        return no_forkmark(reason, err);
    }
    *out = r;
    return TTS_OK;
}

static void free_recorder(struct tts_recorder *r)
{
    tts_forkmark_free(r->home);
    r->alloc->free(r->alloc->ctx, r, sizeof *r);
}

/* Writes to *err why the recorder stopped, and returns the status. Calls that post events do
 * not use this function, because it formats a text. */
static enum tts_status stop_reason(const struct tts_recorder *r, struct tts_error *err)
{
    assert(r->stopped);
    if (r->stopped == TTS_RECORDER_LEFT)
        return tts_error_set(err, TTS_E_INVALID,
                             "this process is a child of the recording process: begin a new "
                             "recording in this process");
    return tts_recorder_file_error(err, (int)r->state.sys_errno, r->file.path, true);
}

/* Connects the recorder to its tracker. From now on the recorder receives every event. */
static enum tts_status install(struct tts_recorder *r, struct tts_error *err)
{
    struct tts_tracker *t = r->tracker;
    tts_tracker_enter(t);
    tts_tracker_listen(t);
    r->start_seq = tts_fold_seq(t->fold);
    bool is_begun = tts_recorder_start(r);
    if (is_begun) {
        t->owned_recorder = r;
        tts_tracker_set_recorder(t, r);
    } else {
        tts_tracker_unlisten(t);
    }
    tts_tracker_leave(t);
    return is_begun ? TTS_OK : stop_reason(r, err);
}

static void uninstall(struct tts_recorder *r)
{
    struct tts_tracker *t = r->tracker;
    if (!r->stopped)
        r->end_seq = tts_fold_seq(t->fold);
    assert(t->owned_recorder == r && (!t->recorder || t->recorder == r));
    t->owned_recorder = NULL;
    tts_tracker_set_recorder(t, NULL);
    tts_tracker_unlisten(t);
}

static enum tts_status begin(struct tts_recorder *r, const char *path, struct tts_error *err)
{
    enum tts_status status = make_file(r, path, err);
    if (status != TTS_OK)
        return status;
    status = install(r, err);
    if (status == TTS_OK) {
        status = tts_recorder_file_name(&r->file, err);
        if (status == TTS_OK)
            return TTS_OK;
        tts_tracker_enter(r->tracker);
        uninstall(r);
        tts_tracker_leave(r->tracker);
    }
    tts_places_close(&r->places, false);
    tts_recorder_file_close(&r->file, false);
    return status;
}

static enum tts_status begin_with(struct tts_tracker *t,
                                  const struct tts_recorder_config *config, uint64_t flags,
                                  struct tts_recorder **out, struct tts_error *err)
{
    enum tts_status status = check(t, config, out, err);
    if (status == TTS_OK)
        status = claim(t, err);
    if (status != TTS_OK)
        return status;
    struct tts_recorder *r = NULL;
    status = new_recorder(t, config->keep_bytes, &r, err);
    if (status == TTS_OK) {
        r->flags = flags;
        status = begin(r, config->path, err);
        if (status != TTS_OK)
            free_recorder(r);
    }
    if (status != TTS_OK) {
        unclaim(t);
        return status;
    }
    *out = r;
    return TTS_OK;
}

enum tts_status tts_recorder_begin(struct tts_tracker *t,
                                   const struct tts_recorder_config *config,
                                   struct tts_recorder **out, struct tts_error *err)
{
    return begin_with(t, config, 0, out, err);
}

enum tts_status tts_recorder_begin_dram_only(struct tts_tracker *t,
                                             const struct tts_recorder_config *config,
                                             struct tts_recorder **out, struct tts_error *err)
{
    return begin_with(t, config, TTS_REC_DRAM_ONLY, out, err);
}

/* --- state ------------------------------------------------------------------------------ */

/* Returns the number of payload bytes in the place of a block. */
static uint64_t payload_in(const struct tts_recorder *r, uint64_t number)
{
    const unsigned char *place =
        r->places.now.bytes + tts_places_offset(&r->places, number) - TTS_REC_HEADER_BYTES;
    return tts_get64(place + TTS_REC_COMMIT_OFF) & UINT32_MAX;
}

/* Returns the used size of the file. */
static uint64_t used_bytes(const struct tts_recorder *r)
{
    uint64_t last = r->blocks - 1, used = tts_recenc_used(&r->enc), box = r->places.box_places;
    if (r->blocks == 0)
        return TTS_REC_HEADER_BYTES;
    if (box > 0) {
        last = last < box ? last : box - 1; /* in a black box, the last place of the file */
        used = payload_in(r, last);
    }
    return tts_places_offset(&r->places, last) + TTS_REC_BLOCK_HEADER_BYTES + used;
}

/* Returns the current state. Call it between tts_tracker_enter() and tts_tracker_leave(). */
static struct tts_recorder_state state_of(struct tts_recorder *r)
{
    uint64_t seq = tts_fold_seq(r->fold);
    if (tts_recorder_is_child(r) && !r->stopped)
        tts_recorder_leave_to_parent(r);
    struct tts_recorder_state state = {.is_stopped = r->stopped != TTS_RECORDER_GOES_ON};
    if (state.is_stopped) {
        stop_reason(r, &state.reason);
        state.dropped = seq - r->end_seq;
        seq = r->end_seq;
    }
    state.events = seq - r->start_seq;
    state.bytes = used_bytes(r);
    return state;
}

void tts_recorder_get_state(struct tts_recorder *r, struct tts_recorder_state *out)
{
    if (!out)
        return;
    *out = (struct tts_recorder_state){0};
    if (!r)
        return;
    if (!r->tracker) {
        *out = r->finished;
        return;
    }
    tts_tracker_enter(r->tracker);
    *out = state_of(r);
    tts_tracker_leave(r->tracker);
}

/* --- end -------------------------------------------------------------------------------- */

/* Finishes the file of a recorder that has left its tracker. After this the contents do not
 * change. */
static enum tts_status finish(struct tts_recorder *r, struct tts_error *err)
{
    int reason = 0;
    const struct tts_recorder_state *end = &r->finished;
    if (!tts_recorder_is_child(r)) {
        r->state.events = end->events;
        r->state.dropped = end->dropped;
        tts_recorder_put_state(r, end->is_stopped ? TTS_REC_STOPPED : TTS_REC_ENDED);
        tts_places_close(&r->places, false);
        if (ftruncate(r->file.fd, (off_t)end->bytes) != 0)
            reason = errno;
    } else {
        tts_places_close(&r->places, true);
    }
    int closing = tts_recorder_file_close(&r->file, tts_recorder_is_child(r));
    reason = reason ? reason : closing;
    if (end->is_stopped) {
        if (err) {
            *err = end->reason;
            err->status = TTS_E_IO;
        }
        return TTS_E_IO;
    }
    return reason ? tts_recorder_file_error(err, reason, r->file.path, true) : TTS_OK;
}

/* Disconnects the recorder from its tracker. Call it between tts_tracker_enter() and
 * tts_tracker_leave(). */
static void part(struct tts_recorder *r)
{
    r->finished = state_of(r);
    uninstall(r);
    r->tracker->has_recorder = false;
    r->tracker = NULL;
}

void tts_recorder_orphan(struct tts_recorder *r)
{
    part(r);
    r->finish_status = finish(r, &r->finish_error);
}

enum tts_status tts_recorder_end(struct tts_recorder *r, struct tts_recorder_state *state,
                                 struct tts_error *err)
{
    if (state)
        *state = (struct tts_recorder_state){0};
    if (!r)
        return TTS_OK;
    enum tts_status status = r->finish_status;
    struct tts_tracker *t = r->tracker;
    if (t) {
        tts_tracker_enter(t);
        part(r);
        tts_tracker_leave(t);
        status = finish(r, err);
    } else if (status != TTS_OK && err) {
        *err = r->finish_error;
    }
    if (state)
        *state = r->finished;
    free_recorder(r);
    return status;
}
