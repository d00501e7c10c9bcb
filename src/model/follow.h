/* follow.h: items of a file, folded: what lives, what is on the cores, the phases of every
 * capture in it, and one phase for the whole.
 * Heap object. One thread. */
#pragma once

#include "model/fold.h"
#include "model/item.h"

enum { TTS_FOLLOW_CAPTURES_MAX = 64 }; /* that are active at once */

/* A phase that ended, borrowed for the call; `is_partial`: its beginning, or something in it,
 * was not in the file, and its figures leave that out. */
typedef void (*tts_follow_phase_fn)(void *ctx, uint32_t capture, const struct tts_phase *phase,
                                    bool is_partial);

struct tts_follow_config {
    /* What is 0: 2^22 live buffers (for more, memory is taken as they come), 256 devices, 16384
     * names of operations. */
    struct tts_tracker_config limits;
    tts_follow_phase_fn on_phase; /* NULL: nobody wants them */
    void *ctx;
    bool keeps_paths; /* operations are told apart by what is around them (oppath.h) */
};

struct tts_follow;

/* TTS_E_RANGE, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_follow_new(const struct tts_follow_config *config,
                                             const struct tts_alloc *alloc,
                                             struct tts_follow **out, struct tts_error *err);
void tts_follow_free(struct tts_follow *follow); /* NULL is fine */

/* TTS_E_INVALID, TTS_E_RANGE: an event that cannot be (err says why), a phase of a capture that
 * did not begin, one capture too many; nothing changes then. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status
tts_follow_item(struct tts_follow *follow, const struct tts_item *item, struct tts_error *err);

/* As tts_follow_item(), for those who ask what the item did to the buffers that live: *out, on
 * success. */
TTS_NODISCARD enum tts_status tts_follow_change(struct tts_follow *follow,
                                                const struct tts_item *item,
                                                struct tts_change *out, struct tts_error *err);

/* Events up to number `seq` are missing in the file. Until skip_end the follower takes events
 * of any number up to that one: those of the missing ones that are known (resync.h). Phases
 * under way, and those that begin meanwhile, are partial. Not inside a keyframe. */
void tts_follow_skip(struct tts_follow *follow, uint64_t seq);
void tts_follow_skip_end(struct tts_follow *follow);
/* The captures that are active. Returns how many. */
size_t tts_follow_active(const struct tts_follow *follow,
                         uint32_t out[TTS_FOLLOW_CAPTURES_MAX]);

/* Ends the whole, and what is active with it: phases that were under way are told as partial
 * under the name TTS_FOLLOW_UNFINISHED. The whole is *out, named TTS_FOLLOW_WHOLE, borrowed
 * until free. Once, behind the last item. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status
tts_follow_end(struct tts_follow *follow, const struct tts_phase **out, struct tts_error *err);
#define TTS_FOLLOW_WHOLE "(all)"
#define TTS_FOLLOW_UNFINISHED "(unfinished)"

/* As it is now; borrowed for life. For questions: what lives, health, names. */
const struct tts_fold *tts_follow_fold(const struct tts_follow *follow);
/* It started in the middle: with a keyframe, or events are missing before the first. */
bool tts_follow_is_partial(const struct tts_follow *follow);
/* The buffer of an id, as it is now; its op is borrowed for life. False: it does not live. */
bool tts_follow_find(const struct tts_follow *follow, uint32_t device, uint64_t id,
                     struct tts_live *out);

/* Returns the operation of an event, which must be the last item that was followed, as the fold
 * has it: "(other)" if it could not be kept, NULL outside any. Borrowed for life. */
const char *tts_follow_op(const struct tts_follow *follow, const struct tts_item *item);

/* Writes the path of an operation, as tts_oppath_text() does; without keeps_paths its name. */
size_t tts_follow_path(const struct tts_follow *follow, const char *op, char *out, size_t size);
