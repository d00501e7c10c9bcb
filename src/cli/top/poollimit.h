/* poollimit.h: limits for the use of pools: --fail-above L1=80%.
 *
 * Plain data. The caller owns the struct. One thread at a time. */
#pragma once

#include "model/live/liveframe.h"

enum {
    TTS_POOLLIMITS_MAX = 16,
    TTS_POOLLIMIT_TEXT_MAX = 640,
    TTS_LIMITWATCH_WORDS = 32, /* for 2048 devices; later ones share the last bit */
};

struct tts_poollimits {
    struct tts_poollimit {
        enum tts_pool pool;
        uint32_t millionths;
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

/* The pools with a limit that cannot be judged, because their size or use is unknown. Sets of
 * devices, by index. Zeroed: none. */
struct tts_limitwatch {
    uint64_t open[TTS_POOLS][TTS_LIMITWATCH_WORDS]; /* at the last look */
    uint64_t told[TTS_POOLS][TTS_LIMITWATCH_WORDS]; /* the user knows */
};

/* Looks at a frame. A device that no process uses needs no judgement: what was said about the
 * device stays. */
void tts_limitwatch_look(struct tts_limitwatch *watch, const struct tts_poollimits *limits,
                         const struct tts_liveframe *frame);
/* Says of the next pool of the frame that it cannot be judged: of each pool of each device
 * once. Returns false if there is none. */
bool tts_limitwatch_tell(struct tts_limitwatch *watch, const struct tts_liveframe *frame,
                         char out[TTS_POOLLIMIT_TEXT_MAX]);
/* Forgets what was told. */
void tts_limitwatch_forget(struct tts_limitwatch *watch);
/* Returns whether a pool could not be judged, also in the last frame that used its device. */
bool tts_limitwatch_is_open(const struct tts_limitwatch *watch);
