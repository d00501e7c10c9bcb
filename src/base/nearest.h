/* nearest.h: finds the known word nearest to a mistyped word. Initialize with {.word = ...}, a
 * word of any length. Offer each candidate, then read `best`. Candidates with more than 40
 * letters are ignored. */
#pragma once

struct tts_nearest {
    const char *word;
    const char *best; /* the nearest candidate, borrowed; NULL if no candidate is near enough */
    unsigned distance;
};

void tts_nearest_offer(struct tts_nearest *nearest, const char *candidate);
