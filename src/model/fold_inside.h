/* fold_inside.h: what the files of the fold know of each other. */
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

/* The table of devices is half full at most. */
enum { TTS_FOLD_NO_DEVICE = UINT16_MAX, TTS_FOLD_DEVICE_SLOTS = 2 * TTS_FOLD_DEVICES_MAX };

struct tts_fold_device {
    uint32_t id;
    uint16_t idx;
    uint16_t mesh;                  /* that it is a chip of */
    uint16_t first_chip, last_chip; /* in the order they were told */
    uint16_t next_chip;             /* of the mesh that this is a chip of */
    uint64_t trace_depth;
    struct tts_cores cores;
};

struct tts_fold {
    struct tts_watch *watches; /* attached */
    struct tts_ledger *ledger;
    uint64_t seq;         /* events folded */
    uint64_t trace_depth; /* of all devices together */
    uint32_t last_id;     /* of the device asked for last; if there is any */
    uint16_t last_idx;
    uint16_t device_count;
    uint32_t *ids; /* [devices_max]: of devices, apart from the rest for a quick search */
    uint16_t by_id[TTS_FOLD_DEVICE_SLOTS]; /* indices of devices, by a hash of their ids */
    struct tts_fold_device *devices;
    struct tts_core_grid *grids; /* [devices_max] each */
    struct tts_opnames *names;
    struct tts_coresets *sets;
    struct tts_tracker_health health; /* `events` is seq */
    bool is_lost;                     /* a device is, or an event was dropped */
    struct tts_tracker_config limits;
    const struct tts_alloc *alloc;
};

/* A device as a watch sees it. It is of the phase that it says; an older one is begun anew at
 * the next event, before that changes anything. One without an event in the capture is of
 * phase 0. */
struct tts_watch_device {
    uint64_t phase;
    struct tts_tally run;
    struct tts_corepeak peak;
    struct tts_pool_total totals[TTS_POOLS], pair_totals[TTS_PAIRS];
    bool is_listed; /* had an event in the capture */
};

struct tts_watch {
    struct tts_watch *next; /* attached to the same fold */
    struct tts_watch_device *devices;
    uint64_t phase; /* from 1 on; 0: none was begun */
    uint64_t start_seq;
    struct tts_tally whole; /* of it the pools of L1, and L1 as printed, are not kept; its pools
                             * are settled */
    uint64_t ops;
    struct tts_pool_total totals[TTS_POOLS], pair_totals[TTS_PAIRS];
    uint16_t *listed; /* indices of devices, by their first event */
    struct tts_held_part *parts;
    uint16_t listed_count;
    uint16_t known_count; /* devices that are initialised here */
    uint16_t devices_max;
    bool is_attached;
    const struct tts_alloc *alloc;
};

/* While the fold has one device, what all devices did is not counted beside what that did:
 * this copies it, where it is wanted or a second device comes. */
void tts_watch_settle(struct tts_watch *watch, const struct tts_fold *fold);
/* The watch learns of devices that are new to the fold. */
void tts_watch_enter(struct tts_watch *watch, const struct tts_fold *fold);
/* Begins the phase for a device, with what is on its cores now, and lists it. */
void tts_watch_renew(struct tts_watch *watch, const struct tts_fold_device *device);

/* The device in the phase under way; to be called before an event changes the device. */
static inline struct tts_watch_device *tts_watch_touch(struct tts_watch *watch,
                                                       const struct tts_fold_device *device)
{
    assert(device->idx < watch->known_count);
    struct tts_watch_device *seen = &watch->devices[device->idx];
    if (TTS_UNLIKELY(seen->phase != watch->phase))
        tts_watch_renew(watch, device);
    return seen;
}

/* A device, then its chips: NULL behind the last. */
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

/* The slot of by_id that has the device, or the empty one where it would be. */
static inline uint32_t tts_fold_device_slot(const struct tts_fold *fold, uint32_t id)
{
    uint32_t slot = (id * UINT32_C(0x9e3779b1)) >> 23;
    _Static_assert(TTS_FOLD_DEVICE_SLOTS == 1 << (32 - 23), "a hash is a slot");
    while (fold->by_id[slot] != TTS_FOLD_NO_DEVICE && fold->ids[fold->by_id[slot]] != id)
        slot = (slot + 1) % TTS_FOLD_DEVICE_SLOTS;
    return slot;
}
/* By id. NULL: it is not known. */
static inline struct tts_fold_device *tts_fold_find(const struct tts_fold *fold, uint32_t id)
{
    uint16_t idx = fold->by_id[tts_fold_device_slot(fold, id)];
    return idx == TTS_FOLD_NO_DEVICE ? NULL : &fold->devices[idx];
}

/* Nothing came or left. */
static inline void tts_change_clear(struct tts_change *change)
{
    change->has_come = change->is_restored = change->is_unlisted = false;
    change->has_left = change->has_unseen = change->has_chip = false;
}

/* A buffer of the ledger. */
struct tts_live tts_fold_live_at(const struct tts_fold *fold, uint32_t place);
/* Keeps, of the program of a device or of one buffer, what was on the core of the peak. */
void tts_fold_keep_program(const struct tts_fold *fold, uint16_t idx,
                           struct tts_corepeak *peak);
void tts_fold_keep_buffer(const struct tts_fold *fold, const struct tts_l1_entry *entry,
                          struct tts_corepeak *peak);
/* A peak of the device as it is told, with the parts that were kept. */
void tts_fold_fill_core(const struct tts_fold *fold, uint16_t idx,
                        const struct tts_corepeak *peak, struct tts_core_peak *out,
                        struct tts_core_part *parts);
