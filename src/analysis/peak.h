/* peak.h: finds when a pool was fullest, and which buffers lived then, in one pass.
 *
 * The buffers of the peak are those that still live and are old enough, and those that were
 * freed since. Only the latter are stored, 40 bytes each, and a new peak clears them. So there
 * are never more stored buffers than lived at the peak. Heap object. One thread. */
#pragma once

#include "analysis/levels.h"
#include "model/follow.h"

struct tts_peak;

/* `alloc` NULL is the C library's. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_peak_new(enum tts_pool pool, const struct tts_alloc *alloc,
                                           struct tts_peak **out);
void tts_peak_free(struct tts_peak *peak); /* NULL is fine */

/* Applies a change. `item` made the change; `levels` already include it. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_peak_change(struct tts_peak *peak,
                                              const struct tts_item *item,
                                              const struct tts_change *change,
                                              const struct tts_levels *levels);

struct tts_peak_info {
    enum tts_pool pool;
    /* Its bytes are the maximum, at least 0: the bytes of the buffers that lived then plus the
     * loose bytes. Of equal maxima, the first. */
    struct tts_level level;
    bool is_start; /* the maximum was reached before the first event */
    uint64_t seq;  /* event of the peak; with is_start, the last event before the file */
    bool has_time;
    uint64_t time_ns;
    const char *op; /* operation of that event; NULL: none, or not known */
};
struct tts_peak_info tts_peak_info(const struct tts_peak *peak);

/* Calls `fn` for each buffer that lived at the peak, in any order. `follow` must have taken all
 * items. Stops and returns the status of `fn` if that is not TTS_OK. */
typedef enum tts_status (*tts_live_fn)(void *ctx, const struct tts_live *live);
TTS_NODISCARD enum tts_status tts_peak_each(const struct tts_peak *peak,
                                            const struct tts_follow *follow, tts_live_fn fn,
                                            void *ctx);
