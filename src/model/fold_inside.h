/* fold_inside.h: the state of a fold and of a watch. Only for fold.c, fold_now.c, watch.c and
 * follow.c. */
#pragma once

#include "base/compiler.h"
#include "model/corepeak.h"
#include "model/cores.h"
#include "model/coresets.h"
#include "model/figures.h"
#include "model/fold.h"
#include "model/ledger.h"
#include "model/opnames.h"

#include <assert.h>

/* At most half of the slots in the table of devices are used. */
enum { TTS_FOLD_NO_DEVICE = UINT16_MAX, TTS_FOLD_DEVICE_SLOTS = 2 * TTS_FOLD_DEVICES_MAX };

struct tts_fold_device {
    uint32_t id;
    uint16_t idx;
    uint16_t mesh; /* index of the mesh that has this chip */
    /* First and last chip of this mesh, in the order of the calls of tts_fold_chip(). */
    uint16_t first_chip, last_chip;
    uint16_t next_chip; /* next chip of the same mesh */
    uint64_t trace_depth;
    struct tts_cores cores;
};

struct tts_fold {
    struct tts_watch *watches; /* first attached watch */
    struct tts_ledger *ledger;
    uint64_t seq;         /* number of folded events */
    uint64_t trace_depth; /* sum of the nested traces of all devices */
    uint32_t last_id;     /* id of the device that was used last; valid if there are devices */
    uint16_t last_idx;
    uint16_t device_count;
    /* Ids of the devices, in an array of their own for a fast search: [devices_max]. */
    uint32_t *ids;
    /* Hash table from device ids to indices of devices. */
    uint16_t by_id[TTS_FOLD_DEVICE_SLOTS];
    struct tts_fold_device *devices;
    struct tts_core_grid *grids; /* [devices_max] each */
    struct tts_opnames *names;
    struct tts_coresets *sets;
    struct tts_tracker_health health; /* counters, except `events`, which is `seq` */
    /* The use of some cores is incomplete, or an event was dropped. */
    bool is_lost;
    struct tts_tracker_config limits;
    const struct tts_alloc *alloc;
};

/* The figures of one device in a watch. `phase` is the number of the phase that the figures
 * belong to. If this is an older phase, the next event of the device first restarts the figures
 * for the current phase. `phase` is 0 if the device had no event since the watch was reset. */
struct tts_watch_device {
    uint64_t phase;
    struct tts_tally run;
    struct tts_corepeak peak;
    struct tts_pool_total totals[TTS_POOLS], pair_totals[TTS_PAIRS];
    bool is_listed; /* the device had an event since the watch was reset */
};

struct tts_watch {
    struct tts_watch *next; /* next watch of the same fold */
    struct tts_watch_device *devices;
    uint64_t phase; /* number of the phase, from 1; 0 if no phase has begun */
    uint64_t start_seq;
    /* Figures of all devices together, without the L1 pools and the printed L1. Valid after
     * tts_watch_settle(). */
    struct tts_tally whole;
    uint64_t ops;
    struct tts_pool_total totals[TTS_POOLS], pair_totals[TTS_PAIRS];
    uint16_t *listed; /* indices of devices, in the order of their first event */
    struct tts_held_part *parts;
    uint16_t listed_count;
    uint16_t known_count; /* number of devices of the fold that this watch has initialized */
    uint16_t devices_max;
    bool is_attached;
    const struct tts_alloc *alloc;
};

/* Copies the figures of the only device to `whole`. While the fold has one device, events count
 * only for that device. Call before `whole` is read, and before a second device comes. */
void tts_watch_settle(struct tts_watch *watch, const struct tts_fold *fold);
/* Initializes the devices that are new to the fold. */
void tts_watch_enter(struct tts_watch *watch, const struct tts_fold *fold);
/* Restarts the figures of a device for the current phase, with the current use of its cores as
 * the peak, and lists the device. */
void tts_watch_renew(struct tts_watch *watch, const struct tts_fold_device *device);

/* Returns the figures of a device, restarted if they belong to an older phase. Call before an
 * event changes the device. */
static inline struct tts_watch_device *tts_watch_touch(struct tts_watch *watch,
                                                       const struct tts_fold_device *device)
{
    assert(device->idx < watch->known_count);
    struct tts_watch_device *seen = &watch->devices[device->idx];
    if (TTS_UNLIKELY(seen->phase != watch->phase))
        tts_watch_renew(watch, device);
    return seen;
}

/* Iterates over a device and its chips. Returns NULL after the last chip. */
static inline struct tts_fold_device *tts_fold_next(const struct tts_fold *fold,
                                                    const struct tts_fold_device *first,
                                                    const struct tts_fold_device *at)
{
    uint16_t next = at == first ? first->first_chip : at->next_chip;
    return TTS_LIKELY(next == TTS_FOLD_NO_DEVICE) ? NULL : &fold->devices[next];
}

static inline enum tts_core_kind tts_pool_core_kind(enum tts_pool pool)
{
    assert(tts_pool_is_l1(pool));
    return pool == TTS_POOL_L1 ? TTS_CORE_L1 : TTS_CORE_L1_SMALL;
}

/* Returns the slot of by_id that has the device, or the empty slot for it. */
static inline uint32_t tts_fold_device_slot(const struct tts_fold *fold, uint32_t id)
{
    uint32_t slot = (id * UINT32_C(0x9e3779b1)) >> 23;
    _Static_assert(TTS_FOLD_DEVICE_SLOTS == 1 << (32 - 23), "a hash is a slot");
    while (fold->by_id[slot] != TTS_FOLD_NO_DEVICE && fold->ids[fold->by_id[slot]] != id)
        slot = (slot + 1) % TTS_FOLD_DEVICE_SLOTS;
    return slot;
}
/* Finds a device by its id. Returns NULL if the device is unknown. */
static inline struct tts_fold_device *tts_fold_find(const struct tts_fold *fold, uint32_t id)
{
    uint16_t idx = fold->by_id[tts_fold_device_slot(fold, id)];
    return idx == TTS_FOLD_NO_DEVICE ? NULL : &fold->devices[idx];
}

/* Resets a change: no buffer came or left. */
static inline void tts_change_clear(struct tts_change *change)
{
    change->has_come = change->is_restored = change->is_unlisted = false;
    change->has_left = change->has_unseen = change->has_chip = false;
}

/* Returns the buffer at a place of the ledger. */
struct tts_live tts_fold_live_at(const struct tts_fold *fold, uint32_t place);
/* Keeps in `peak` the parts of a device's program that were on the core of the peak. */
void tts_fold_keep_program(const struct tts_fold *fold, uint16_t idx,
                           struct tts_corepeak *peak);
/* Keeps one buffer in `peak` if the buffer was on the core of the peak. */
void tts_fold_keep_buffer(const struct tts_fold *fold, const struct tts_l1_entry *entry,
                          struct tts_corepeak *peak);
/* Converts a peak of the device, with its kept parts, to struct tts_core_peak. */
void tts_fold_fill_core(const struct tts_fold *fold, uint16_t idx,
                        const struct tts_corepeak *peak, struct tts_core_peak *out,
                        struct tts_core_part *parts);
