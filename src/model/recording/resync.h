/* resync.h: what happened in a gap of a file, as far as the keyframe behind the gap tells it.
 *
 * The buffers that a follower has and the keyframe has not were freed in the gap; those that
 * only the keyframe has were allocated in it. These are told as events, frees first: so every
 * figure that a follower makes of them is at least what it really was. What came and went
 * inside the gap is not known. Heap object; takes some 120 bytes for each buffer. One thread.
 */
#pragma once

#include "model/follow.h"

struct tts_resync;

/* TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_resync_new(const struct tts_alloc *alloc,
                                             struct tts_resync **out);
void tts_resync_free(struct tts_resync *resync); /* NULL is fine */

/* Takes one item of the keyframe, without its end. KEYFRAME forgets a keyframe that has no end;
 * NAME is for the follower.
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_resync_take(struct tts_resync *resync,
                                              const struct tts_item *item);

/* Behind the last item of the keyframe, which is of event `seq`: tells the follower that events
 * are missing, and `fn` what happened, as items that are for the follower. Forgets the
 * keyframe. A status of `fn` that is not TTS_OK ends it. TTS_E_NOMEM. */
typedef enum tts_status (*tts_resync_fn)(void *ctx, const struct tts_item *item);
TTS_NODISCARD enum tts_status tts_resync_tell(struct tts_resync *resync,
                                              struct tts_follow *follow, uint64_t seq,
                                              tts_resync_fn fn, void *ctx);
