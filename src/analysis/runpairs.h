/* runpairs.h: which runs of two lists go together. A pure function, by one rule:
 *   1. title and rank are the same, and unique in both lists (a title may be empty); of several
 *      such, those that are from a log of the same name, if that is unique;
 *   2. of the others, those whose rank is the same and unique among them, if it is not empty;
 *   3. of the others, in their order: but never two whose ranks, or whose titles, are both not
 *      empty and different;
 *   4. if both lists have the same number of runs, the rest in their order, whatever they are
 *      called. tts_runpair_is_named() tells these pairs from the others. */
#pragma once

#include "model/run.h"

enum tts_runpair_by {
    TTS_RUNPAIR_NONE, /* it goes with none */
    TTS_RUNPAIR_TITLE,
    TTS_RUNPAIR_RANK,
    TTS_RUNPAIR_ORDER
};

struct tts_runpair {
    enum tts_runpair_by by;
    size_t b; /* its number in the other list; 0 if there is none */
};

/* Returns true if neither titles nor ranks contradict each other. An empty one contradicts
 * nothing. */
bool tts_runpair_is_named(const struct tts_run *a, const struct tts_run *b);

/* Returns why a run and its partner go together: "title", "rank", "file" or "order". Static. */
const char *tts_runpair_by_name(enum tts_runpair_by by, const struct tts_run *a,
                                const struct tts_run *b);

/* `out` has room for a_count. No run of B is in two pairs. */
void tts_runpairs(const struct tts_run *a, size_t a_count, const struct tts_run *b,
                  size_t b_count, struct tts_runpair *out);
