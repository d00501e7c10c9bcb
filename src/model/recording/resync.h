/* resync.h: reconstructs the events in a gap of a file, as far as the keyframe after the gap
 * allows.
 *
 * Buffers that the follower has and the keyframe lacks were freed in the gap. Buffers that only
 * the keyframe has were allocated in the gap. They are reported as events, frees first, so that
 * each figure of the follower is a lower bound of the real one. Buffers that came and left
 * inside the gap are unknown. A struct tts_resync takes about 120 bytes for each buffer. One
 * thread at a time. */
#pragma once

#include "model/follow.h"

struct tts_resync;

/* Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_resync_new(const struct tts_alloc *alloc,
                                             struct tts_resync **out);
void tts_resync_free(struct tts_resync *resync); /* `resync` may be NULL */

/* Stores one item of the keyframe, except KEYFRAME_END. The item KEYFRAME discards an
 * unfinished keyframe. Pass items of kind NAME to the follower instead. Returns TTS_OK or
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_resync_take(struct tts_resync *resync,
                                              const struct tts_item *item);

/* Ends the keyframe, which is the state after event `seq`. Call after the last item of the
 * keyframe. Reports the gap to the follower and passes the reconstructed events to `fn`, which
 * passes them to the follower. Discards the keyframe. If `fn` does not return TTS_OK, stops and
 * returns its status. Returns TTS_E_NOMEM if there is no memory. */
typedef enum tts_status (*tts_resync_fn)(void *ctx, const struct tts_item *item);
TTS_NODISCARD enum tts_status tts_resync_tell(struct tts_resync *resync,
                                              struct tts_follow *follow, uint64_t seq,
                                              tts_resync_fn fn, void *ctx);
