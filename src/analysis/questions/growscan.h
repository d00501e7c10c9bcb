/* growscan.h: finds pools that grow (growth.h) in a file of events or samples. The bytes of
 * each pool of each device are sampled by the times of the file. Samples count for a device
 * without events about buffers: with the first such event, its growths are dropped. A file
 * without times has no answer.
 *
 * Plain data that begins as zeros and a rule. One thread at a time. Cost: constant for each
 * item, and a search among the devices. The first TTS_GROWSCAN_DEVICES devices are followed. */
#pragma once

#include "analysis/questions/growth.h"
#include "model/fold.h"
#include "model/item.h"

enum {
    TTS_GROWSCAN_DEVICES = 32,
    TTS_GROWSCAN_LEFT_OUT_MAX = 1024, /* devices that are counted beyond these */
    TTS_GROWSCAN_FOUND_MAX = 64,
};

/* A time in which a pool grew. */
struct tts_growfound {
    uint32_t device;
    enum tts_pool pool;
    struct tts_growth growth; /* at the last sample at which the pool grew */
    bool total_known;
    uint64_t total_bytes;  /* of the pool, if a sample tells */
    bool is_withdrawn;     /* the pool no longer grew after this */
    uint64_t withdrawn_ns; /* time of the sample that showed it */
};

struct tts_growfounds {
    struct tts_growfound list[TTS_GROWSCAN_FOUND_MAX]; /* in the order of their begin */
    size_t count;
    uint64_t unlisted;
    size_t devices_left_out; /* TTS_GROWSCAN_LEFT_OUT_MAX: or more */
    bool has_times;
};

struct tts_growpool {
    struct tts_growth growth;
    uint64_t bytes;
    bool total_known;
    uint64_t total_bytes;
    size_t found; /* 1 + index of the present growth in the list; 0: none is listed */
};

struct tts_growscan {
    struct tts_growth_rule rule; /* set by the caller */
    struct {
        uint32_t id;
        bool has_events;
        uint64_t unlisted; /* its share of found.unlisted */
        struct tts_growpool pools[TTS_POOLS];
    } devices[TTS_GROWSCAN_DEVICES];
    size_t device_count, last;
    uint32_t left_out[TTS_GROWSCAN_LEFT_OUT_MAX]; /* ids of found.devices_left_out devices */
    struct tts_growfounds found;
};

/* Takes the next item, and its effect on the live buffers. */
void tts_growscan_item(struct tts_growscan *scan, const struct tts_item *item,
                       const struct tts_change *change);
/* Goes on to the end of the file, when nothing has changed since the last item. */
void tts_growscan_end(struct tts_growscan *scan, uint64_t time_ns);
