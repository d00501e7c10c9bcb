#include "cli/replay/replay_publish.h"

#include "analysis/whatif.h"
#include "base/error.h"
#include "base/ticks.h"
#include "cli/message.h"
#include "ttscope/capture.h"
#include "ttscope/publish.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const char command[] = "replay";

enum { DEVICES_MAX = 256, MS_NS = 1000000, MODELLED_ID_BITS = 26 };

/* The unique id of device 0 of process 0. The runtime gives simulated chips such ids, so that
 * no board of the host has one. */
#define MODELLED_ID UINT64_C(0x5aa5000000000000)

/* --- begin ------------------------------------------------------------------------------ */

/* The signals that end a replay, and SIGPIPE: a write fails instead, so that the region is
 * removed. */
static const int held_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { HELD_SIGNALS = sizeof held_signals / sizeof held_signals[0] };

static enum tts_status block_signals(struct tts_replay_publish *publish, struct tts_error *err)
{
    sigset_t stops, before;
    sigemptyset(&stops);
    for (int i = 0; i < HELD_SIGNALS; i++)
        sigaddset(&stops, held_signals[i]);
    sigprocmask(SIG_BLOCK, &stops, &before);
    for (int i = 0; i < HELD_SIGNALS; i++)
        if (sigismember(&before, held_signals[i]) == 0)
            publish->unblocked |= 1u << i;
    sigdelset(&stops, SIGPIPE);
    publish->signals = signalfd(-1, &stops, SFD_CLOEXEC);
    return publish->signals >= 0
               ? TTS_OK
               : tts_error_set_errno(err, TTS_E_IO, errno, "cannot wait for signals");
}

/* Ends the effect of block_signals(). A signal that waits now has its usual effect. */
static void unblock_signals(struct tts_replay_publish *publish)
{
    sigset_t set;
    if (publish->signals >= 0)
        close(publish->signals);
    sigemptyset(&set);
    for (int i = 0; i < HELD_SIGNALS; i++)
        if (publish->unblocked >> i & 1)
            sigaddset(&set, held_signals[i]);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

enum tts_status tts_replay_publish_begin(struct tts_replay_publish *publish,
                                         const struct tts_replay_options *options,
                                         struct tts_error *err)
{
    struct tts_tracker_config config = {.devices_max = DEVICES_MAX};
    struct tts_tracker *tracker;
    if (!options->publish)
        return TTS_OK;
    enum tts_status status = block_signals(publish, err);
    if (status == TTS_OK)
        status = tts_tracker_new(&config, NULL, &tracker, err);
    if (status == TTS_OK) {
        status = tts_publish_begin(tracker, NULL, err);
        if (status != TTS_OK)
            tts_tracker_free(tracker);
    }
    if (status != TTS_OK) {
        unblock_signals(publish);
        *publish = (struct tts_replay_publish){0};
        return status;
    }
    publish->tracker = tracker;
    publish->options = options;
    tts_message(command,
                "process %ld publishes this replay: see 'ttscope top' and "
                "'ttscope serve'",
                (long)getpid());
    return TTS_OK;
}

/* --- devices ---------------------------------------------------------------------------- */

static uint64_t modelled_id_of(uint32_t device)
{
    uint32_t low = device & ((UINT32_C(1) << MODELLED_ID_BITS) - 1);
    return MODELLED_ID + ((uint64_t)getpid() << MODELLED_ID_BITS) + low;
}

/* Says that a device is none of the boards of the host, and what its chip is. */
static enum tts_status publish_modelled_facts(struct tts_replay_publish *publish, uint32_t id,
                                              const struct tts_chip *chip,
                                              struct tts_error *err)
{
    const struct tts_fact *grid = &chip->fact[TTS_FACT_GRID];
    bool has_grid = grid->origin != TTS_ORIGIN_UNKNOWN;
    struct tts_publish_facts facts = {.unique_id_known = true,
                                      .unique_id = modelled_id_of(id),
                                      .arch_known = true,
                                      .arch = chip->arch,
                                      .grid_columns =
                                          has_grid ? TTS_GRID_COLUMNS(grid->value) : 0,
                                      .grid_rows = has_grid ? TTS_GRID_ROWS(grid->value) : 0};
    return tts_publish_device(publish->tracker, id, &facts, err);
}

enum tts_status tts_replay_publish_device(struct tts_replay_publish *publish,
                                          struct tts_device *device, struct tts_error *err)
{
    if (!publish->tracker)
        return TTS_OK;
    enum tts_status status = tts_tracker_attach(publish->tracker, device, 0, err);
    if (status == TTS_OK)
        status = publish_modelled_facts(publish, 0, tts_device_chip(device), err);
    return status;
}

static enum tts_status publish_modelled_pools(struct tts_replay_publish *publish, uint32_t id,
                                              const struct tts_device *device,
                                              struct tts_error *err)
{
    enum tts_status status = publish_modelled_facts(publish, id, tts_device_chip(device), err);
    for (int pool = 0; pool < TTS_POOLS && status == TTS_OK; pool++) {
        struct tts_pool_stats stats;
        const struct tts_pool_layout *layout = tts_device_layout(device, (enum tts_pool)pool);
        if (!layout || !tts_device_stats(device, (enum tts_pool)pool, &stats))
            continue;
        struct tts_publish_report report = {
            .banks = layout->banks,
            .total_bytes = stats.space.total_bytes * layout->banks,
            .allocated_bytes = stats.space.taken_bytes * layout->banks,
            .free_bytes = stats.space.free_bytes * layout->banks,
            .largest_free_bytes = stats.space.largest_free_bytes * layout->banks};
        status = tts_publish_pool(publish->tracker, id, (enum tts_pool)pool, &report, 0, err);
    }
    return status;
}

/* --- recordings ------------------------------------------------------------------------- */

/* Posts an event inside its operation. The tracker counts the events that it refuses. */
static void post_recorded(struct tts_tracker *tracker, const struct tts_item *item,
                          const struct tts_event *event)
{
    bool has_op = item->op.hash != 0 && item->op.name;
    if (has_op)
        tts_track_op_begin(tracker, item->op.name, item->op.name_len, NULL);
    tts_tracker_post(tracker, event, NULL);
    if (has_op)
        tts_track_op_end(tracker, NULL);
}

/* Posts a buffer that was live before the first event of the file. */
static void post_earlier_buffer(struct tts_tracker *tracker, const struct tts_item *item)
{
    const struct tts_live *live = &item->live;
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, live->device);
    event.pool = live->pool;
    event.id = live->id;
    event.size_bytes = live->size_bytes;
    event.bytes_per_bank = live->bytes_per_bank;
    event.block_bytes = live->block_bytes;
    event.ranges = item->event.ranges;
    event.range_count = item->event.range_count;
    post_recorded(tracker, item, &event);
}

/* Publishes the pools that the last item may have changed: those of its device, or of all
 * devices if the device is a chip of a mesh. */
static enum tts_status publish_changed_pools(struct tts_replay_publish *publish,
                                             uint32_t changed, const struct tts_whatif *after,
                                             struct tts_error *err)
{
    size_t count = tts_whatif_devices(after), own = 0;
    enum tts_status status = TTS_OK;
    while (own < count && tts_whatif_device_id(after, own) != changed)
        own++;
    for (size_t i = 0; i < count && status == TTS_OK; i++)
        if (own == count || own == i)
            status = publish_modelled_pools(publish, tts_whatif_device_id(after, i),
                                            tts_whatif_device(after, i), err);
    return status;
}

enum tts_status tts_replay_publish_item(struct tts_replay_publish *publish,
                                        const struct tts_item *item,
                                        const struct tts_whatif *after, struct tts_error *err)
{
    struct tts_tracker *tracker = publish->tracker;
    enum tts_event_kind kind = item->event.kind;
    if (!tracker)
        return TTS_OK;
    if (item->kind == TTS_ITEM_CHIP)
        return tts_tracker_chip(tracker, item->device, item->mesh, err);
    if (item->kind == TTS_ITEM_LIVE)
        post_earlier_buffer(tracker, item);
    else if (item->kind == TTS_ITEM_PART)
        post_recorded(tracker, item, &item->event);
    else if (item->kind == TTS_ITEM_KEYFRAME_END)
        return publish_changed_pools(publish, UINT32_MAX, after, err);
    if (item->kind != TTS_ITEM_EVENT || kind == TTS_EVENT_OP_BEGIN || kind == TTS_EVENT_OP_END)
        return TTS_OK;
    post_recorded(tracker, item, &item->event);
    if (kind != TTS_EVENT_ALLOC && kind != TTS_EVENT_FREE)
        return TTS_OK;
    return publish_changed_pools(publish, item->event.device, after, err);
}

/* --- waiting ---------------------------------------------------------------------------- */

/* Waits until the time of the monotonic clock, or until a signal asks to stop. */
static void wait_until(struct tts_replay_publish *publish, uint64_t end_ns)
{
    enum { LONGEST_MS = 1000 * 1000 };
    struct pollfd at = {.fd = publish->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    for (;;) {
        uint64_t now = tts_clock_ns();
        uint64_t left_ms = end_ns > now ? (end_ns - now + MS_NS - 1) / MS_NS : 0;
        int ready = poll(&at, 1, left_ms > LONGEST_MS ? LONGEST_MS : (int)left_ms);
        if (ready > 0 && read(publish->signals, &info, sizeof info) == (ssize_t)sizeof info) {
            publish->stop_signal = (int)info.ssi_signo;
            return;
        }
        if (left_ms == 0)
            return;
    }
}

/* Returns the time after so many milliseconds, or the highest number. */
static uint64_t time_after(uint64_t ms, uint64_t times)
{
    uint64_t ns;
    if (__builtin_mul_overflow(ms, times, &ns) ||
        __builtin_mul_overflow(ns, (uint64_t)MS_NS, &ns) ||
        __builtin_add_overflow(ns, tts_clock_ns(), &ns))
        return UINT64_MAX;
    return ns;
}

bool tts_replay_publish_wait(struct tts_replay_publish *publish, uint64_t steps)
{
    if (!publish->tracker)
        return true;
    uint64_t step_ms = publish->options->step_ms;
    if (steps > 0 && step_ms > 0)
        fflush(stdout);
    wait_until(publish, time_after(step_ms, steps));
    return publish->stop_signal == 0;
}

bool tts_replay_publish_line(struct tts_replay_publish *publish, uint64_t idle_steps)
{
    return tts_replay_publish_wait(publish,
                                   publish->is_by_line && idle_steps == 0 ? 1 : idle_steps);
}

/* --- end -------------------------------------------------------------------------------- */

void tts_replay_publish_hold(struct tts_replay_publish *publish)
{
    if (!publish->tracker || publish->stop_signal != 0)
        return;
    bool is_bounded = publish->options->has_hold;
    fflush(stdout);
    if (!is_bounded)
        tts_message(command, "the replay has ended; its memory stays published until Ctrl-C");
    wait_until(publish, is_bounded ? time_after(1000, publish->options->hold_s) : UINT64_MAX);
    publish->stop_signal = 0;
}

int tts_replay_publish_end(struct tts_replay_publish *publish, int code)
{
    if (!publish->tracker)
        return code;
    if (publish->stop_signal != 0)
        code = 128 + publish->stop_signal;
    tts_publish_end(publish->tracker);
    tts_tracker_free(publish->tracker);
    unblock_signals(publish);
    *publish = (struct tts_replay_publish){0};
    return code;
}
