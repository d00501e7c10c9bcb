/* peak.h: when a pool was fullest, and what lived then, in one pass over the events.
 *
 * What lived at the peak is what lives at the end and is no younger, and what has left since.
 * Only the latter is kept, 40 bytes each, and a new peak starts with none: so there are never
 * more of them than lived at the peak. Heap object. One thread. */
#pragma once

#include "analysis/levels.h"
#include "model/follow.h"

struct tts_peak;

/* TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_peak_new(enum tts_pool pool, const struct tts_alloc *alloc,
                                           struct tts_peak **out);
void tts_peak_free(struct tts_peak *peak); /* NULL is fine */

/* With the item that made the change, and the levels after it. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_peak_change(struct tts_peak *peak,
                                              const struct tts_item *item,
                                              const struct tts_change *change,
                                              const struct tts_levels *levels);

struct tts_peak_info {
    enum tts_pool pool;
    /* Its bytes are the most, 0 at least; of equals the first. They are those of the buffers
     * that lived then and its loose bytes. */
    struct tts_level level;
    bool is_start; /* it was never more than before the first event */
    uint64_t seq;  /* of the event; of the last before the file where it is the start */
    bool has_time;
    uint64_t time_ns;
    const char *op; /* that the event happened in; NULL: none, or not known */
};
struct tts_peak_info tts_peak_info(const struct tts_peak *peak);

/* Tells of each buffer that lived at the peak, in no order; `follow` is where all items went.
 * A status of `fn` that is not TTS_OK ends it. */
typedef enum tts_status (*tts_live_fn)(void *ctx, const struct tts_live *live);
TTS_NODISCARD enum tts_status tts_peak_each(const struct tts_peak *peak,
                                            const struct tts_follow *follow, tts_live_fn fn,
                                            void *ctx);
