/* replay_publish.h: publishes the memory of a replay, as the replayed program would, so that
 * `ttscope top` and `ttscope serve` show it: with a tracker, its client region, and waits
 * between the steps. While it publishes, SIGINT, SIGTERM and SIGHUP end the replay after the
 * current line, so that the region is always removed.
 *
 * A zeroed struct is a replay that does not publish: each function below accepts it and does
 * nothing. The caller owns the struct and calls end in any case. One thread at a time. */
#pragma once

#include "cli/replay/replay.h"
#include "model/item.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

struct tts_replay_publish {
    struct tts_tracker *tracker; /* NULL: the replay does not publish */
    const struct tts_replay_options *options;
    bool is_by_line;    /* each line of the sequence is a step, not only its idle steps */
    int signals;        /* a signalfd */
    int stop_signal;    /* number of the signal that asked to stop; 0: none */
    unsigned unblocked; /* bit i: signal i of the list in the source was not blocked before */
};

/* Begins to publish if the options say so. Returns TTS_E_IO if the region cannot be made, and
 * TTS_E_NOMEM if there is no memory; `err` says why. */
TTS_NODISCARD enum tts_status tts_replay_publish_begin(struct tts_replay_publish *publish,
                                                       const struct tts_replay_options *options,
                                                       struct tts_error *err);
/* Publishes the events and pools of a device from now on, with the id 0. The device is borrowed
 * until the end. */
TTS_NODISCARD enum tts_status tts_replay_publish_device(struct tts_replay_publish *publish,
                                                        struct tts_device *device,
                                                        struct tts_error *err);
/* Publishes an item of a recording with its own operation and ids. `after` is the replay after
 * this item: its modelled devices have the state of the pools. */
struct tts_whatif;
TTS_NODISCARD enum tts_status tts_replay_publish_item(struct tts_replay_publish *publish,
                                                      const struct tts_item *item,
                                                      const struct tts_whatif *after,
                                                      struct tts_error *err);

/* Waits for so many steps, or until a signal asks to stop. tts_replay_publish_line() waits
 * after a line of a sequence; `idle_steps` is 0 for a line that is not `idle`. Flushes standard
 * output before a wait. Returns false if a signal asked to stop. */
bool tts_replay_publish_wait(struct tts_replay_publish *publish, uint64_t steps);
bool tts_replay_publish_line(struct tts_replay_publish *publish, uint64_t idle_steps);

/* Keeps the memory published after the last line, as long as the options say. */
void tts_replay_publish_hold(struct tts_replay_publish *publish);

/* Stops to publish, removes the region and detaches the device. Returns `code`, or 128 plus the
 * number of the signal that ended the replay before its last line. */
int tts_replay_publish_end(struct tts_replay_publish *publish, int code);
