/* follow.h: folds the items of a file of events (item.h). A follower has the live buffers, the
 * use of the cores, the phases of each capture in the file, and one phase for the whole file.
 * One thread at a time. */
#pragma once

#include "model/fold.h"
#include "model/item.h"

enum { TTS_FOLLOW_CAPTURES_MAX = 64 }; /* maximum of captures that are active at once */

/* Called for each finished phase. The phase is borrowed for the call. `is_partial` is true if
 * the beginning of the phase, or events in the phase, are not in the file; the figures do not
 * include these events. */
typedef void (*tts_follow_phase_fn)(void *ctx, uint32_t capture, const struct tts_phase *phase,
                                    bool is_partial);

struct tts_follow_config {
    /* A 0 selects the default: 2^17 live buffers (memory for more is allocated when needed),
     * 256 devices, 16384 names of operations. */
    struct tts_tracker_config limits;
    tts_follow_phase_fn on_phase; /* NULL if phases are not reported */
    void *ctx;
    bool keeps_paths; /* distinguish operations by the operations around them (oppath.h) */
};

struct tts_follow;

/* Creates a follower. Returns TTS_E_RANGE if a limit is out of range, TTS_E_NOMEM if there is
 * no memory. */
TTS_NODISCARD enum tts_status tts_follow_new(const struct tts_follow_config *config,
                                             const struct tts_alloc *alloc,
                                             struct tts_follow **out, struct tts_error *err);
void tts_follow_free(struct tts_follow *follow); /* `follow` may be NULL */

/* Folds one item. Returns TTS_E_INVALID or TTS_E_RANGE if the event is impossible (err says
 * why), if a phase belongs to a capture that did not begin, or if too many captures are active.
 * Returns TTS_E_NOMEM if there is no memory. After a failure nothing has changed. */
TTS_NODISCARD enum tts_status
tts_follow_item(struct tts_follow *follow, const struct tts_item *item, struct tts_error *err);

/* Like tts_follow_item(). On success *out is the effect of the item on the live buffers. */
TTS_NODISCARD enum tts_status tts_follow_change(struct tts_follow *follow,
                                                const struct tts_item *item,
                                                struct tts_change *out, struct tts_error *err);

/* tts_follow_skip() tells the follower that events up to number `seq` are missing in the file:
 * there is a gap. Then the follower accepts events of any number up to `seq`, which resync.h
 * reconstructs, until tts_follow_skip_end(). The current phases, and phases that begin in the
 * gap, are partial. Do not call inside a keyframe. */
void tts_follow_skip(struct tts_follow *follow, uint64_t seq);
void tts_follow_skip_end(struct tts_follow *follow);
/* Writes the numbers of the active captures to `out`. Returns the number of active captures. */
size_t tts_follow_active(const struct tts_follow *follow,
                         uint32_t out[TTS_FOLLOW_CAPTURES_MAX]);

/* Ends the phase of the whole file and all active captures. Reports their current phases as
 * partial, with the name TTS_FOLLOW_UNFINISHED. *out is the phase of the whole file, named
 * TTS_FOLLOW_WHOLE, and is valid until tts_follow_free(). Call once, after the last item.
 * Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status
tts_follow_end(struct tts_follow *follow, const struct tts_phase **out, struct tts_error *err);
#define TTS_FOLLOW_WHOLE "(all)"
#define TTS_FOLLOW_UNFINISHED "(unfinished)"

/* Returns the fold, for queries: live buffers, health, names. Valid for the life of the
 * follower. */
const struct tts_fold *tts_follow_fold(const struct tts_follow *follow);
/* Returns whether the file starts in the middle: with a keyframe, or without the first
 * events. */
bool tts_follow_is_partial(const struct tts_follow *follow);
/* Finds a live buffer by its id and copies it to *out. Returns false if no live buffer has this
 * id. out->op is valid for the life of the follower. */
bool tts_follow_find(const struct tts_follow *follow, uint32_t device, uint64_t id,
                     struct tts_live *out);

/* Returns the name of the operation of an event. The event must be the last item that was
 * folded. Returns "(other)" if the name could not be kept, NULL outside any operation. Valid
 * for the life of the follower. */
const char *tts_follow_op(const struct tts_follow *follow, const struct tts_item *item);

/* Writes the path of an operation like tts_oppath_text(). Writes only the name of the operation
 * if config.keeps_paths is false. */
size_t tts_follow_path(const struct tts_follow *follow, const char *op, char *out, size_t size);
