/* peak.h: finds in one pass when a pool was fullest (the peak) and which buffers were live
 * then.
 *
 * The buffers of the peak are the buffers that came before it and are still live, and the
 * buffers that were freed after it. Only the freed buffers are stored, 40 bytes each, and a new
 * peak clears them. So the number of stored buffers is never larger than the number of buffers
 * at the peak. One thread at a time. */
#pragma once

#include "analysis/questions/levels.h"
#include "model/follow.h"

struct tts_peak;

/* Creates a struct tts_peak for one pool. If `alloc` is NULL, the C library allocates. Returns
 * TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_peak_new(enum tts_pool pool, const struct tts_alloc *alloc,
                                           struct tts_peak **out);
void tts_peak_free(struct tts_peak *peak); /* `peak` may be NULL */

/* Applies a change that `item` made. `levels` already include the change. Returns TTS_OK or
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_peak_change(struct tts_peak *peak,
                                              const struct tts_item *item,
                                              const struct tts_change *change,
                                              const struct tts_levels *levels);

struct tts_peak_info {
    enum tts_pool pool;
    /* Level at the peak. level.bytes is the maximum, and at least 0: the bytes of the live
     * buffers plus the loose bytes. If the maximum was reached several times, the peak is the
     * first time. */
    struct tts_level level;
    bool is_start; /* the peak was reached before the first event */
    uint64_t seq;  /* event of the peak; with is_start, the last event before the file */
    bool has_time;
    uint64_t time_ns;
    const char *op; /* operation of the event `seq`; NULL if there is none or it is unknown */
};
struct tts_peak_info tts_peak_info(const struct tts_peak *peak);

/* Calls `fn` for each buffer that was live at the peak, in any order. Call after `follow` has
 * processed all items. If `fn` returns another status than TTS_OK, stops and returns this
 * status. */
typedef enum tts_status (*tts_live_fn)(void *ctx, const struct tts_live *live);
TTS_NODISCARD enum tts_status tts_peak_each(const struct tts_peak *peak,
                                            const struct tts_follow *follow, tts_live_fn fn,
                                            void *ctx);
