/* poollimit.h: limits for the use of pools: --fail-above L1=80%.
 *
 * Plain data. The caller owns the struct. One thread at a time. */
#pragma once

#include "model/live/liveframe.h"

enum { TTS_POOLLIMITS_MAX = 16, TTS_POOLLIMIT_TEXT_MAX = 640 };

struct tts_poollimits {
    struct tts_poollimit {
        enum tts_pool pool;
        uint32_t millionths;
        bool is_reported; /* the user was told that the pool of a device cannot be judged */
    } limits[TTS_POOLLIMITS_MAX];
    size_t count;
};

/* Stores "POOL=PERCENT%"; see tts_option.take. `target` is a struct tts_poollimits. */
enum tts_status tts_poollimits_take(void *target, const char *text, struct tts_error *err);

/* Returns whether a pool of the frame is above its limit. Bytes that dead processes left behind
 * do not count. The first such pool is described in
 * `out`: pool, device and the process that holds most of the pool. */
bool tts_poollimits_passed(const struct tts_poollimits *limits,
                           const struct tts_liveframe *frame, char out[TTS_POOLLIMIT_TEXT_MAX]);

/* Finds the first pool with a limit whose use cannot be judged because its size or its use is
 * unknown, and that was not reported. A device that no process uses
 * needs no judgement. Marks
 * the limit as reported. Returns false if there is none. */
bool tts_poollimits_unknown(struct tts_poollimits *limits, const struct tts_liveframe *frame,
                            char out[TTS_POOLLIMIT_TEXT_MAX]);

/* Reads a decimal number such as "0.5" in millionths. Returns false if the text is no such
 * number or the number is above `max`. */
bool tts_millionths_parse(const char *text, size_t len, uint64_t max, uint64_t *out);
