/* fold.h: events in one order, folded into the ledger of live buffers, the bytes in use on
 * every core, and the figures of the phases that watch.
 *
 * What is live and what is on the cores is one for all (the fold's); what a phase did is each
 * watch's own. Memory is taken by new; an event allocates nothing, unless more than live_max
 * buffers live (ledger.h), and takes time for the cores it names, the watches there are and the
 * chips of its mesh. The relations are in
 * docs/design/phases.md. One thread at a time. */
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
#define TTS_FOLD_SEQ_MAX (UINT64_C(1) << 47) /* event numbers are below */

/* The limits are 1 .. the most of each. TTS_E_INVALID, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_fold_new(const struct tts_tracker_config *limits,
                                           const struct tts_alloc *alloc,
                                           struct tts_fold **out);
void tts_fold_free(struct tts_fold *fold); /* NULL is fine; watches first */
/* Nothing is live, on a core or counted. Devices, meshes and names of operations stay. No watch
 * may be attached. */
void tts_fold_reset(struct tts_fold *fold);

/* Sums of sizes are signed; with no more than this many bytes at once one has to lose count of
 * time to overflow them. */
#define TTS_EVENT_BYTES_MAX (UINT64_C(1) << 62)
#define TTS_EVENT_SIZE_MAX (UINT64_C(1) << 52) /* of buffers */

/* TTS_OK, or TTS_E_INVALID, TTS_E_RANGE and why: what cannot be. Pure. */
TTS_NODISCARD enum tts_status tts_event_check(const struct tts_event *event,
                                              struct tts_error *err);

/* What became of an event. */
enum tts_fold_outcome {
    TTS_FOLD_DROPPED, /* one device too many: it got no number */
    TTS_FOLD_COUNTED,
    TTS_FOLD_UNSEEN, /* counted: a free of a buffer that is not in the ledger */
};

/* Folds an event that tts_event_check() passes; `op_hash` (opnames.h) is that of the operation
 * under way where it happened, 0: none; for OP_BEGIN that of the operation itself. */
enum tts_fold_outcome tts_fold_event(struct tts_fold *fold, const struct tts_event *event,
                                     uint64_t op_hash);

/* What an event, or an item of a keyframe, did to the buffers that live. An event that
 * allocates an id again makes one buffer leave and one come. A plain value in the caller's
 * memory; what is false has no value. Names of operations are borrowed for the life of the
 * fold. */
struct tts_change {
    bool has_come;    /* came */
    bool is_restored; /* came: it lived before the first event */
    bool is_unlisted; /* came: there was no memory for it; it leaves as one that was not seen */
    bool has_left;    /* left: it was freed, or its id was given again */
    bool
        has_unseen; /* left: it was freed but never seen; device, pool and sizes of the event */
    bool has_chip;  /* chip is one of mesh */
    uint32_t chip, mesh;
    uint64_t seq; /* of the event; of an item of a keyframe: the events before */
    struct tts_live came, left;
};

/* As tts_fold_event(), for readers: *out is what the event did. */
enum tts_fold_outcome tts_fold_change(struct tts_fold *fold, const struct tts_event *event,
                                      uint64_t op_hash, struct tts_change *out);

/* How a pool counts a buffer: what its fullest bank holds in L1 and L1_SMALL, else its size. */
uint64_t tts_live_bytes(const struct tts_live *live);

/* As tts_fold_event() for the common case, without the event: a buffer in DRAM or TRACE of at
 * most TTS_EVENT_SIZE_MAX, with a size if it is allocated. */
enum tts_fold_outcome tts_fold_alloc(struct tts_fold *fold, uint32_t device, enum tts_pool pool,
                                     uint64_t id, uint64_t size_bytes, uint64_t op_hash);
enum tts_fold_outcome tts_fold_free_buffer(struct tts_fold *fold, uint32_t device,
                                           enum tts_pool pool, uint64_t id,
                                           uint64_t size_bytes);

/* The same for DRAM in no operation, and without a result: one caller, so that the compiler can
 * put them there. */
void tts_fold_alloc_dram(struct tts_fold *fold, uint32_t device, uint64_t id,
                         uint64_t size_bytes);
void tts_fold_free_dram(struct tts_fold *fold, uint32_t device, uint64_t id,
                        uint64_t size_bytes);

/* Makes the name of an operation known before its hash is used. */
void tts_fold_name(struct tts_fold *fold, uint64_t op_hash, const char *name, size_t len);
/* Of what it knows; "(other)" for what it could not keep, NULL for 0. Borrowed for life. */
const char *tts_fold_op_text(struct tts_fold *fold, uint64_t op_hash);

const char *tts_fold_op_other(void); /* that "(other)" */

uint64_t tts_fold_seq(const struct tts_fold *fold); /* events folded */

/* As tts_tracker_chip(). */
TTS_NODISCARD enum tts_status tts_fold_chip(struct tts_fold *fold, uint32_t chip, uint32_t mesh,
                                            struct tts_error *err);

/* `dropped` is what the fold itself dropped; `refused` is 0. */
void tts_fold_health(const struct tts_fold *fold, struct tts_tracker_health *out);
/* Events were dropped before they came here: what is on the cores is no longer all known. */
void tts_fold_miss(struct tts_fold *fold);
/* Makes a device known. False: devices_max are. */
TTS_NODISCARD bool tts_fold_know(struct tts_fold *fold, uint32_t device);

bool tts_fold_is_valid(const struct tts_fold *fold); /* walks everything */

/* ---- now ---- */

/* These walk the ledger: they are for questions, not for every event. */

/* The live buffers one after the other, in no order; *cursor starts at 0. False: there are no
 * more. No event may come in between. */
bool tts_fold_next_live(const struct tts_fold *fold, uint32_t *cursor, struct tts_live *out);
/* As tts_tracker_live(), but in no order; then sort. */
size_t tts_fold_collect(const struct tts_fold *fold, struct tts_live *out, size_t capacity);
void tts_fold_sort(struct tts_live *live, size_t count);

/* The live buffers of a pool, and their bytes as tts_live_bytes() counts them. */
struct tts_pool_now {
    uint64_t buffers, bytes;
};
/* Of one device, with what its mesh has; of one that is not known nothing. */
void tts_fold_pools_of(const struct tts_fold *fold, uint32_t device,
                       struct tts_pool_now out[TTS_POOLS]);
/* Of all devices: DRAM and TRACE are sums in which a mesh counts once, L1 and L1_SMALL are
 * those of the device that has the most. */
void tts_fold_pools(const struct tts_fold *fold, struct tts_pool_now out[TTS_POOLS]);

/* What is on one core, or on the fullest core of all devices, with the largest parts;
 * out->parts is `parts`, seq the last event. Not known: nothing is on it. */
void tts_fold_core(const struct tts_fold *fold, uint32_t device, struct tts_core core,
                   struct tts_core_peak *out, struct tts_core_part parts[TTS_CORE_PARTS_MAX]);
void tts_fold_fullest_core(const struct tts_fold *fold, struct tts_core_peak *out,
                           struct tts_core_part parts[TTS_CORE_PARTS_MAX]);

/* ---- keyframes ---- */

/* Tells what there is now as the items of a keyframe (item.h), TTS_ITEM_ACTIVE apart, which
 * only who has the captures knows: KEYFRAME; meshes; the buffers in no order; parts and traces
 * of each device on its own; MISSED of nothing, when that may not be all; KEYFRAME_END. False:
 * `fn` said so, and the rest was not told. Allocates nothing. */
typedef bool (*tts_fold_item_fn)(void *ctx, const struct tts_item *item);
bool tts_fold_tell(const struct tts_fold *fold, tts_fold_item_fn fn, void *ctx);
/* Like tts_fold_tell(), but with at most `most` of the buffers: the largest, where sizes within
 * a power of two count as equal. MISSED says how many it leaves out. Takes two passes over the
 * ledger if it leaves some out. */
bool tts_fold_tell_largest(const struct tts_fold *fold, uint64_t most, tts_fold_item_fn fn,
                           void *ctx);

/* Takes one item of a keyframe (KEYFRAME, CHIP, MISSED, LIVE, PART, TRACING; others are passed
 * over) in a fold that nobody watches and that had no event since new or reset. `out`, if it is
 * not NULL, is told what came. TTS_E_INVALID, TTS_E_RANGE: it cannot be, or does not fit the
 * limits. TTS_E_NOMEM. Nothing changes then. */
TTS_NODISCARD enum tts_status tts_fold_restore(struct tts_fold *fold,
                                               const struct tts_item *item,
                                               struct tts_change *out, struct tts_error *err);

/* ---- phases ---- */

struct tts_watch;

TTS_NODISCARD enum tts_status tts_watch_new(const struct tts_fold *fold,
                                            const struct tts_alloc *alloc,
                                            struct tts_watch **out);
void tts_watch_free(struct tts_watch *watch); /* NULL is fine; detached */

/* A phase starts now; cumulative figures go on. */
void tts_watch_attach(struct tts_fold *fold, struct tts_watch *watch);
void tts_watch_detach(struct tts_fold *fold, struct tts_watch *watch);
/* Also forgets the cumulative figures. */
void tts_watch_reset(struct tts_watch *watch);

/* What a phase that ends now needs: how many devices and parts of cores. */
struct tts_watch_size {
    size_t devices, parts;
};
struct tts_watch_size tts_watch_measure(const struct tts_fold *fold,
                                        const struct tts_watch *watch);
/* Ends the phase into *out (its name apart) and starts the next. `devices` and `parts` have the
 * room that measure told, with no event in between; *out points into them. */
void tts_watch_cut(struct tts_fold *fold, struct tts_watch *watch, struct tts_phase *out,
                   struct tts_device_usage *devices, struct tts_core_part *parts);
