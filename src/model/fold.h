/* fold.h: folds events, one after the other, into the current state of all devices.
 *
 * A fold has the live buffers (ledger.h) and the bytes in use on each core (cores.h). A watch
 * has the figures of its current phase. Several watches can be attached to one fold, each with
 * its own phases. tts_fold_new() allocates all memory; an event allocates memory only if there
 * are more than live_max live buffers. The time of an event depends on the number of its cores,
 * the number of watches and the number of chips of its mesh. docs/design/phases.md has the
 * rules. One thread at a time. */
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
#define TTS_FOLD_SEQ_MAX (UINT64_C(1) << 47) /* the number of an event is below this value */

/* Creates a fold. Each limit is at least 1 and at most the maximum above. Returns TTS_E_INVALID
 * if a limit is out of range, TTS_E_NOMEM if there is no memory. */
TTS_NODISCARD enum tts_status tts_fold_new(const struct tts_tracker_config *limits,
                                           const struct tts_alloc *alloc,
                                           struct tts_fold **out);
void tts_fold_free(
    struct tts_fold *fold); /* `fold` may be NULL. Free the watches of the fold first */
/* Removes all buffers, all use of cores and all counts. Keeps devices, meshes and names of
 * operations. No watch may be attached. */
void tts_fold_reset(struct tts_fold *fold);

/* Largest number of bytes in an event. Sums of sizes are signed: with this limit they do not
 * overflow in any realistic time. */
#define TTS_EVENT_BYTES_MAX (UINT64_C(1) << 62)
#define TTS_EVENT_SIZE_MAX (UINT64_C(1) << 52) /* largest size of a buffer in an event */

/* Checks an event without a fold. Returns TTS_E_INVALID or TTS_E_RANGE if the event is
 * impossible; err says why. */
TTS_NODISCARD enum tts_status tts_event_check(const struct tts_event *event,
                                              struct tts_error *err);

/* The result of folding an event. */
enum tts_fold_outcome {
    TTS_FOLD_DROPPED, /* there are too many devices: the event was dropped and has no number */
    TTS_FOLD_COUNTED,
    /* The event was counted, but it frees a buffer that is not in the ledger. */
    TTS_FOLD_UNSEEN,
};

/* Folds an event that tts_event_check() accepts. `op_hash` (opnames.h) is the hash of the
 * operation that was in progress when the event happened, or 0 if there was none. For OP_BEGIN,
 * `op_hash` is the hash of the operation that begins. */
enum tts_fold_outcome tts_fold_event(struct tts_fold *fold, const struct tts_event *event,
                                     uint64_t op_hash);

/* The effect of one event on the live buffers, or of one item of a keyframe (a stored state,
 * item.h). If an event allocates an id that is in use, one buffer leaves and another comes. A
 * plain value. Fields whose flag is false are undefined. Names of operations are borrowed for
 * the life of the fold. */
struct tts_change {
    bool has_come;    /* a buffer came; `came` is valid */
    bool is_restored; /* the buffer that came existed before the first event */
    /* The ledger had no memory for the buffer that came; the event that frees it will be
     * TTS_FOLD_UNSEEN. */
    bool is_unlisted;
    bool has_left; /* a buffer left: it was freed, or its id was allocated again; `left` is
                      valid */
    /* A buffer was freed that is not in the ledger; `left` has the device, pool and sizes of
     * the event. */
    bool has_unseen;
    bool has_chip; /* `chip` became a chip of `mesh` */
    uint32_t chip, mesh;
    /* Number of the event; for an item of a keyframe, the number of events before the
     * keyframe. */
    uint64_t seq;
    struct tts_live came, left;
};

/* Like tts_fold_event(), and stores the effect of the event in *out. Used by readers of
 * recordings. */
enum tts_fold_outcome tts_fold_change(struct tts_fold *fold, const struct tts_event *event,
                                      uint64_t op_hash, struct tts_change *out);

/* Returns the number of bytes that a pool counts for a buffer: in L1 and L1_SMALL, the bytes of
 * the buffer in the bank that has most of them; in the other pools, the size of the buffer. */
uint64_t tts_live_bytes(const struct tts_live *live);

/* Like tts_fold_event(), but without a struct tts_event, for the most frequent events:
 * tts_fold_alloc() allocates and tts_fold_free_buffer() frees a buffer in DRAM or TRACE. The
 * size is at most TTS_EVENT_SIZE_MAX. The size of an allocation is above 0. */
enum tts_fold_outcome tts_fold_alloc(struct tts_fold *fold, uint32_t device, enum tts_pool pool,
                                     uint64_t id, uint64_t size_bytes, uint64_t op_hash);
enum tts_fold_outcome tts_fold_free_buffer(struct tts_fold *fold, uint32_t device,
                                           enum tts_pool pool, uint64_t id,
                                           uint64_t size_bytes);

/* Like tts_fold_alloc() and tts_fold_free_buffer() for DRAM, but outside any operation and
 * without a result. Each of them has one caller, so that the compiler can inline it there. */
void tts_fold_alloc_dram(struct tts_fold *fold, uint32_t device, uint64_t id,
                         uint64_t size_bytes);
void tts_fold_free_dram(struct tts_fold *fold, uint32_t device, uint64_t id,
                        uint64_t size_bytes);

/* Stores the name of an operation. Call before `op_hash` is used for an event. */
void tts_fold_name(struct tts_fold *fold, uint64_t op_hash, const char *name, size_t len);
/* Returns the name of an operation, "(other)" if the fold could not store it, NULL for hash 0.
 * Valid for the life of the fold. */
const char *tts_fold_op_text(struct tts_fold *fold, uint64_t op_hash);

const char *tts_fold_op_other(void); /* returns "(other)" */

uint64_t tts_fold_seq(const struct tts_fold *fold); /* returns the number of folded events */

/* Makes `chip` a part of `mesh`, like tts_tracker_chip(). */
TTS_NODISCARD enum tts_status tts_fold_chip(struct tts_fold *fold, uint32_t chip, uint32_t mesh,
                                            struct tts_error *err);

/* Copies the counters of the fold to *out. `dropped` counts only events that the fold dropped.
 * `refused` is 0. */
void tts_fold_health(const struct tts_fold *fold, struct tts_tracker_health *out);
/* Tells the fold that events were dropped before they reached it, so the use of the cores is
 * incomplete. */
void tts_fold_miss(struct tts_fold *fold);
/* Adds a device. Returns false if there are devices_max devices already. */
TTS_NODISCARD bool tts_fold_know(struct tts_fold *fold, uint32_t device);

bool tts_fold_is_valid(
    const struct tts_fold *fold); /* slow: checks every buffer and every core */

/* ---- the current state ---- */

/* The functions of this section read the whole ledger. Do not call them for every event. */

/* Returns the live buffers one by one, in no order. *cursor starts at 0. Returns false after
 * the last buffer. No event may come between two calls. */
bool tts_fold_next_live(const struct tts_fold *fold, uint32_t *cursor, struct tts_live *out);
/* Like tts_tracker_live(), but in no order. tts_fold_sort() sorts the result. */
size_t tts_fold_collect(const struct tts_fold *fold, struct tts_live *out, size_t capacity);
void tts_fold_sort(struct tts_live *live, size_t count);

/* The number of live buffers of a pool, and the sum of their tts_live_bytes(). */
struct tts_pool_now {
    uint64_t buffers, bytes;
};
/* Sums the live buffers of one device by pool, including the buffers of its mesh. All sums are
 * 0 for an unknown device. */
void tts_fold_pools_of(const struct tts_fold *fold, uint32_t device,
                       struct tts_pool_now out[TTS_POOLS]);
/* Sums the live buffers of all devices by pool. DRAM and TRACE are totals in which a mesh
 * counts once. L1 and L1_SMALL are the figures of the device that has the most. */
void tts_fold_pools(const struct tts_fold *fold, struct tts_pool_now out[TTS_POOLS]);

/* tts_fold_core() fills *out with the use of one core and its largest parts.
 * tts_fold_fullest_core() does the same for the fullest core of all devices. In both,
 * out->parts is `parts`, out->seq is the last event, and out->known is false if nothing is on
 * the core. */
void tts_fold_core(const struct tts_fold *fold, uint32_t device, struct tts_core core,
                   struct tts_core_peak *out, struct tts_core_part parts[TTS_CORE_PARTS_MAX]);
void tts_fold_fullest_core(const struct tts_fold *fold, struct tts_core_peak *out,
                           struct tts_core_part parts[TTS_CORE_PARTS_MAX]);

/* ---- keyframes ---- */

/* Passes the current state to `fn` as the items of a keyframe (item.h), in this order:
 * KEYFRAME; the meshes; the buffers, in no order; the program parts and traces of each device;
 * MISSED with a count of 0 if the state may be incomplete; KEYFRAME_END. Does not pass
 * TTS_ITEM_ACTIVE items, because only the owner of the captures knows the active captures.
 * Returns false if `fn` returned false; the remaining items are not passed then. Allocates
 * nothing. */
typedef bool (*tts_fold_item_fn)(void *ctx, const struct tts_item *item);
bool tts_fold_tell(const struct tts_fold *fold, tts_fold_item_fn fn, void *ctx);
/* Like tts_fold_tell(), but with at most `most` buffers. Chooses the largest buffers; two sizes
 * with the same binary logarithm, rounded down, count as equal. The item MISSED has the number
 * of buffers that were left out. Reads the ledger twice if buffers are left out. */
bool tts_fold_tell_largest(const struct tts_fold *fold, uint64_t most, tts_fold_item_fn fn,
                           void *ctx);

/* Adds one item of a keyframe to the state of the fold. Items of the kinds KEYFRAME, CHIP,
 * MISSED, LIVE, PART and TRACING have an effect; other kinds are ignored. Call before the first
 * watch and before the first event since tts_fold_new() or tts_fold_reset(). `out` may be NULL;
 * otherwise *out receives the buffer that came. Returns TTS_E_INVALID or TTS_E_RANGE if the
 * item is impossible or exceeds a limit, TTS_E_NOMEM if there is no memory. After a failure the
 * fold is unchanged. */
TTS_NODISCARD enum tts_status tts_fold_restore(struct tts_fold *fold,
                                               const struct tts_item *item,
                                               struct tts_change *out, struct tts_error *err);

/* ---- phases ---- */

struct tts_watch;

TTS_NODISCARD enum tts_status tts_watch_new(const struct tts_fold *fold,
                                            const struct tts_alloc *alloc,
                                            struct tts_watch **out);
void tts_watch_free(struct tts_watch *watch); /* `watch` may be NULL. Detach the watch first */

/* tts_watch_attach() attaches a watch and starts a phase; cumulative figures of earlier phases
 * continue. tts_watch_detach() detaches the watch. */
void tts_watch_attach(struct tts_fold *fold, struct tts_watch *watch);
void tts_watch_detach(struct tts_fold *fold, struct tts_watch *watch);
/* Resets a detached watch, including its cumulative figures. */
void tts_watch_reset(struct tts_watch *watch);

/* The lengths of the arrays that tts_watch_cut() needs if it is called now. */
struct tts_watch_size {
    size_t devices, parts;
};
struct tts_watch_size tts_watch_measure(const struct tts_fold *fold,
                                        const struct tts_watch *watch);
/* Ends the phase, writes the phase to *out without a name, and starts the next phase. The
 * arrays `devices` and `parts` have the lengths that tts_watch_measure() returned, and no event
 * came since. *out points into these arrays. */
void tts_watch_cut(struct tts_fold *fold, struct tts_watch *watch, struct tts_phase *out,
                   struct tts_device_usage *devices, struct tts_core_part *parts);
