/* runpairs.h: pairs the runs of two lists. A pure function with these steps:
 *   1. Runs with the same title and rank, unique in both lists. A title may be empty. If there
 *      are several, those from a log of the same name are paired if that is unique.
 *   2. Of the others, runs whose rank is the same, not empty, and unique among them.
 *   3. Of the others, in their order. Two runs are not paired if their titles, or their ranks,
 *      are both not empty and different.
 *   4. If both lists have the same number of runs, the rest in their order, whatever their
 *      names are. tts_runpair_is_named() tells these pairs from the others. */
#pragma once

#include "model/run.h"

enum tts_runpair_by {
    TTS_RUNPAIR_NONE, /* the run has no partner */
    TTS_RUNPAIR_TITLE,
    TTS_RUNPAIR_RANK,
    TTS_RUNPAIR_ORDER
};

struct tts_runpair {
    enum tts_runpair_by by;
    size_t b; /* index in the other list; 0 if there is no partner */
};

/* Returns true if neither titles nor ranks contradict each other. An empty one contradicts
 * nothing. */
bool tts_runpair_is_named(const struct tts_run *a, const struct tts_run *b);

/* Returns why a run and its partner go together: "title", "rank", "file" or "order". Static. */
const char *tts_runpair_by_name(enum tts_runpair_by by, const struct tts_run *a,
                                const struct tts_run *b);

/* Fills out[0] to out[a_count - 1]. No run of B is in two pairs. */
void tts_runpairs(const struct tts_run *a, size_t a_count, const struct tts_run *b,
                  size_t b_count, struct tts_runpair *out);
