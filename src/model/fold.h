/* fold.h: folds events, in one order, into the ledger of live buffers, the bytes in use on each
 * core, and the figures of phases.
 *
 * The fold has the live buffers and the use of the cores. Each watch has the figures of its own
 * phase. tts_fold_new() allocates all memory; an event allocates only if more than live_max
 * buffers live (ledger.h). The time of an event depends on the cores it names, the number of
 * watches and the chips of its mesh. docs/design/phases.md has the rules. One thread at a
 * time. */
#pragma once

#include "model/item.h"
#include "model/ledger.h"
#include "ttscope/alloc.h"
#include "ttscope/capture.h"
#include "ttscope/event.h"
#include "ttscope/status.h"
#include "ttscope/usage.h"

struct tts_fold;

enum {
    TTS_FOLD_LIVE_MAX = TTS_LEDGER_LIVE_MAX,
    TTS_FOLD_DEVICES_MAX = TTS_LEDGER_DEVICES,
    TTS_FOLD_OPS_MAX = 65000,
};
#define TTS_FOLD_SEQ_MAX (UINT64_C(1) << 47) /* event numbers are below this value */

/* Creates a fold. Each limit is at least 1 and at most the maximum above. TTS_E_INVALID: a
 * limit is out of range. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_fold_new(const struct tts_tracker_config *limits,
                                           const struct tts_alloc *alloc,
                                           struct tts_fold **out);
void tts_fold_free(struct tts_fold *fold); /* `fold` may be NULL. Free its watches first */
/* Removes all buffers, all use of cores and all counts. Keeps devices, meshes and names of
 * operations. No watch may be attached. */
void tts_fold_reset(struct tts_fold *fold);

/* Largest number of bytes in an event. Sums of sizes are signed: with this limit they do not
 * overflow in any realistic time. */
#define TTS_EVENT_BYTES_MAX (UINT64_C(1) << 62)
#define TTS_EVENT_SIZE_MAX (UINT64_C(1) << 52) /* largest size of a buffer */

/* Checks an event. TTS_E_INVALID, TTS_E_RANGE: the event is impossible, err says why. Pure
 * function. */
TTS_NODISCARD enum tts_status tts_event_check(const struct tts_event *event,
                                              struct tts_error *err);

/* The outcome of an event. */
enum tts_fold_outcome {
    TTS_FOLD_DROPPED, /* too many devices: the event was dropped and has no number */
    TTS_FOLD_COUNTED,
    TTS_FOLD_UNSEEN, /* counted, but the event frees a buffer that is not in the ledger */
};

/* Folds an event that tts_event_check() accepts. `op_hash` (opnames.h) is the operation in
 * progress where the event happened, 0 if there is none. For OP_BEGIN it is the operation that
 * begins. */
enum tts_fold_outcome tts_fold_event(struct tts_fold *fold, const struct tts_event *event,
                                     uint64_t op_hash);

/* The effect of an event, or of an item of a keyframe, on the live buffers. If an event
 * allocates an id that is in use, one buffer leaves and another comes. A plain value in the
 * caller's memory. Fields whose flag is false are undefined. Names of operations are borrowed
 * for the life of the fold. */
struct tts_change {
    bool has_come;    /* a buffer came; `came` is valid */
    bool is_restored; /* the buffer that came existed before the first event */
    bool is_unlisted; /* there was no memory to list the buffer that came; its free will be
                         unseen */
    bool has_left;    /* a buffer left: it was freed, or its id was allocated again; `left` is
                         valid */
    bool has_unseen;  /* an unlisted buffer was freed; `left` has the device, pool and sizes of
                         the event */
    bool has_chip;    /* `chip` became a chip of `mesh` */
    uint32_t chip, mesh;
    uint64_t seq; /* number of the event. Item of a keyframe: number of events before */
    struct tts_live came, left;
};

/* Like tts_fold_event(), for readers of recordings. *out is the effect of the event. */
enum tts_fold_outcome tts_fold_change(struct tts_fold *fold, const struct tts_event *event,
                                      uint64_t op_hash, struct tts_change *out);

/* Returns the bytes that a pool counts for a buffer: the bytes in its fullest bank for L1 and
 * L1_SMALL, else the size. */
uint64_t tts_live_bytes(const struct tts_live *live);

/* Like tts_fold_event(), for the common case and without an event: a buffer in DRAM or TRACE of
 * at most TTS_EVENT_SIZE_MAX. An allocation has a size above 0. */
enum tts_fold_outcome tts_fold_alloc(struct tts_fold *fold, uint32_t device, enum tts_pool pool,
                                     uint64_t id, uint64_t size_bytes, uint64_t op_hash);
enum tts_fold_outcome tts_fold_free_buffer(struct tts_fold *fold, uint32_t device,
                                           enum tts_pool pool, uint64_t id,
                                           uint64_t size_bytes);

/* Like tts_fold_alloc() and tts_fold_free_buffer() for DRAM, but outside any operation and
 * without a result. Each has one caller, so that the compiler can inline it. */
void tts_fold_alloc_dram(struct tts_fold *fold, uint32_t device, uint64_t id,
                         uint64_t size_bytes);
void tts_fold_free_dram(struct tts_fold *fold, uint32_t device, uint64_t id,
                        uint64_t size_bytes);

/* Stores the name of an operation. Call before its hash is used. */
void tts_fold_name(struct tts_fold *fold, uint64_t op_hash, const char *name, size_t len);
/* Returns the name of an operation, "(other)" if the fold could not store it, NULL for hash 0.
 * Valid for the life of the fold. */
const char *tts_fold_op_text(struct tts_fold *fold, uint64_t op_hash);

const char *tts_fold_op_other(void); /* returns "(other)" */

uint64_t tts_fold_seq(const struct tts_fold *fold); /* returns the number of folded events */

/* See tts_tracker_chip(). */
TTS_NODISCARD enum tts_status tts_fold_chip(struct tts_fold *fold, uint32_t chip, uint32_t mesh,
                                            struct tts_error *err);

/* Copies the counters. `dropped` counts only events that the fold dropped. `refused` is 0. */
void tts_fold_health(const struct tts_fold *fold, struct tts_tracker_health *out);
/* Notes that events were dropped before they reached the fold: the use of the cores is
 * incomplete. */
void tts_fold_miss(struct tts_fold *fold);
/* Adds a device. Returns false if there are devices_max devices already. */
TTS_NODISCARD bool tts_fold_know(struct tts_fold *fold, uint32_t device);

bool tts_fold_is_valid(const struct tts_fold *fold); /* slow: walks everything */

/* ---- now ---- */

/* These functions walk the ledger. Do not call them for every event. */

/* Returns the live buffers one by one, in no order. *cursor starts at 0. Returns false after
 * the last buffer. No event may come between two calls. */
bool tts_fold_next_live(const struct tts_fold *fold, uint32_t *cursor, struct tts_live *out);
/* Like tts_tracker_live(), but in no order. tts_fold_sort() sorts the result. */
size_t tts_fold_collect(const struct tts_fold *fold, struct tts_live *out, size_t capacity);
void tts_fold_sort(struct tts_live *live, size_t count);

/* The live buffers of a pool, and their bytes by tts_live_bytes(). */
struct tts_pool_now {
    uint64_t buffers, bytes;
};
/* Sums the pools of one device, including its mesh. An unknown device has nothing. */
void tts_fold_pools_of(const struct tts_fold *fold, uint32_t device,
                       struct tts_pool_now out[TTS_POOLS]);
/* Sums the pools of all devices. DRAM and TRACE are totals in which a mesh counts once. L1 and
 * L1_SMALL are the figures of the device that has the most. */
void tts_fold_pools(const struct tts_fold *fold, struct tts_pool_now out[TTS_POOLS]);

/* Fill *out with the use of one core, or of the fullest core of all devices, and its largest
 * parts. out->parts is `parts`, out->seq is the last event. out->known is false if nothing is
 * on the core. */
void tts_fold_core(const struct tts_fold *fold, uint32_t device, struct tts_core core,
                   struct tts_core_peak *out, struct tts_core_part parts[TTS_CORE_PARTS_MAX]);
void tts_fold_fullest_core(const struct tts_fold *fold, struct tts_core_peak *out,
                           struct tts_core_part parts[TTS_CORE_PARTS_MAX]);

/* ---- keyframes ---- */

/* Passes the current state to `fn` as the items of a keyframe (item.h): KEYFRAME; meshes; the
 * buffers in no order; program parts and traces of each device; MISSED with a count of 0 if the
 * state may be incomplete; KEYFRAME_END. Leaves out TTS_ITEM_ACTIVE, because only the owner of
 * the captures knows them. Returns false if `fn` returned false; the remaining items are not
 * passed then. Allocates nothing. */
typedef bool (*tts_fold_item_fn)(void *ctx, const struct tts_item *item);
bool tts_fold_tell(const struct tts_fold *fold, tts_fold_item_fn fn, void *ctx);
/* Like tts_fold_tell(), but with at most `most` buffers. Chooses the largest; sizes within a
 * power of two count as equal. MISSED has the number of buffers left out. Takes two passes over
 * the ledger if buffers are left out. */
bool tts_fold_tell_largest(const struct tts_fold *fold, uint64_t most, tts_fold_item_fn fn,
                           void *ctx);

/* Restores one item of a keyframe (KEYFRAME, CHIP, MISSED, LIVE, PART, TRACING; ignores other
 * kinds). The fold has no watch and had no event since new or reset. `out` may be NULL;
 * otherwise it receives the buffer that came. TTS_E_INVALID, TTS_E_RANGE: the item is
 * impossible or exceeds a limit. TTS_E_NOMEM: out of memory. After a failure the fold is
 * unchanged. */
TTS_NODISCARD enum tts_status tts_fold_restore(struct tts_fold *fold,
                                               const struct tts_item *item,
                                               struct tts_change *out, struct tts_error *err);

/* ---- phases ---- */

struct tts_watch;

TTS_NODISCARD enum tts_status tts_watch_new(const struct tts_fold *fold,
                                            const struct tts_alloc *alloc,
                                            struct tts_watch **out);
void tts_watch_free(struct tts_watch *watch); /* `watch` may be NULL. Detach it first */

/* Attaches a watch and starts a phase. Cumulative figures continue. */
void tts_watch_attach(struct tts_fold *fold, struct tts_watch *watch);
void tts_watch_detach(struct tts_fold *fold, struct tts_watch *watch);
/* Resets a detached watch, including its cumulative figures. */
void tts_watch_reset(struct tts_watch *watch);

/* The number of devices and core parts that a phase needs if it ends now. */
struct tts_watch_size {
    size_t devices, parts;
};
struct tts_watch_size tts_watch_measure(const struct tts_fold *fold,
                                        const struct tts_watch *watch);
/* Ends the phase, writes it to *out without a name, and starts the next phase. `devices` and
 * `parts` have the sizes that tts_watch_measure() returned, with no event in between. *out
 * points into them. */
void tts_watch_cut(struct tts_fold *fold, struct tts_watch *watch, struct tts_phase *out,
                   struct tts_device_usage *devices, struct tts_core_part *parts);
