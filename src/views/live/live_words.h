/* live_words.h: the words for live frames: stable words for programs, sentences for people, and
 * sizes, times and ages in the form of the published monitors.
 *
 * Texts that are returned as a pointer alone are constant. Threads: any. */
#pragma once

#include "model/live/liveframe.h"

enum {
    TTS_LIVETEXT_SIZE_MAX = 40,
    TTS_LIVETEXT_TIME_MAX = 32,
    TTS_LIVETEXT_AGE_MAX = 24,
    TTS_LIVETEXT_PERCENT_MAX = 16,
    TTS_LIVETEXT_MAX = 1000,
};

/* These functions return a word that scripts can compare: "live", "not_visible", "region",
 * "nominal", "one_thread", "namespace". tts_livesource_word() returns NULL for "no source",
 * tts_livetotal_word() for "unknown", and tts_livereason_word() for "no reason". */
const char *tts_livestate_word(enum tts_livestate state);
const char *tts_livesource_word(enum tts_livesource source);
const char *tts_livetotal_word(enum tts_livetotal total);
const char *tts_livecaveat_word(enum tts_livecaveat caveat);
const char *tts_liveprocess_word(enum tts_liveprocess_state state);
const char *tts_livereason_word(enum tts_livereason reason);

/* These functions return a sentence for people, in lower case and without a full stop. */
const char *tts_livestate_text(enum tts_livestate state);
const char *tts_livesource_text(enum tts_livesource source);
const char *tts_livecaveat_text(enum tts_livecaveat caveat);
const char *tts_livereason_text(enum tts_livereason reason); /* "" for no reason */

/* Returns why a screen of zeros is normal. */
const char *tts_livezero_text(void);
/* Returns whether there is a device, and all numbers of allocated bytes are known and 0. */
bool tts_livezero_is(const struct tts_liveframe *frame);

/* Each of the following writes a terminated text and returns `out`. */

/* Writes "52.31 MB": two decimals, by powers of 1024, "0.00 B" for zero. */
const char *tts_livesize_text(char out[TTS_LIVETEXT_SIZE_MAX], uint64_t bytes);
/* Writes "128 MB", or "4.50 MB" if the number of megabytes is not whole. */
const char *tts_livemb_text(char out[TTS_LIVETEXT_SIZE_MAX], uint64_t bytes);
/* Writes at most five characters below 10000 TB: "52.3M", "1023M", "0". */
const char *tts_livesize_short(char out[TTS_LIVETEXT_SIZE_MAX], uint64_t bytes);
/* Writes millionths as "68.8%". */
const char *tts_livepercent_text(char out[TTS_LIVETEXT_PERCENT_MAX], uint32_t millionths);
/* Returns the percents before the point of this text: 84 for "84.6%". */
uint32_t tts_livepercent_whole(uint32_t millionths);
/* Writes "2025-10-06 14:30:45", in local time. */
const char *tts_livetime_text(char out[TTS_LIVETEXT_TIME_MAX], uint64_t time_ns);
/* Writes "45s", "2m03s", "5h07m" or "3d04h". */
const char *tts_liveage_text(char out[TTS_LIVETEXT_AGE_MAX], uint64_t age_ns);
/* Writes the state of a device and the reason: "unreadable: the file belongs to uid 1001". */
const char *tts_livedevice_text(char out[TTS_LIVETEXT_MAX],
                                const struct tts_livedevice *device);
