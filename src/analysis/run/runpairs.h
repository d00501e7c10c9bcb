/* runpairs.h: pairs the runs of two lists. A pure function. Each step pairs runs that are still
 * without a partner:
 *   1. Runs with the same title, the same rank and a log of the same name, if there is one such
 *      run in each list.
 *   2. Runs with the same title and the same rank, if there is one such run in each list. The
 *      title may be empty.
 *   3. Runs with the same rank, if it is not empty and each list has one such run left.
 *   4. Other runs in their order. Two runs are not paired if their titles, or their ranks, are
 *      different and both not empty.
 *   5. If both lists have the same number of runs, all other runs in their order, whatever
 *      their names are. tts_runpair_is_named() returns false for these pairs. */
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

/* Returns true if neither the titles nor the ranks contradict each other. An empty title or
 * rank contradicts nothing. */
bool tts_runpair_is_named(const struct tts_run *a, const struct tts_run *b);

/* Returns the property that a run and its partner share: "title", "rank", "file" or "order".
 * The string is static. */
const char *tts_runpair_by_name(enum tts_runpair_by by, const struct tts_run *a,
                                const struct tts_run *b);

/* Finds a partner in B for each run of A, and fills out[0] to out[a_count - 1]. No run of B is
 * in two pairs. Needs time in proportion to a_count * a_count * b_count in the worst case. */
void tts_runpairs(const struct tts_run *a, size_t a_count, const struct tts_run *b,
                  size_t b_count, struct tts_runpair *out);
