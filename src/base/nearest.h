/* nearest.h: finds the known word nearest to a mistyped word. Offer each candidate, then read
 * `best`. Start from {.word = ...}, of any length. Candidates with more than 40 letters are
 * ignored. */
#pragma once

struct tts_nearest {
    const char *word;
    const char *best; /* NULL: no word is near enough. Borrowed from the candidate */
    unsigned distance;
};

void tts_nearest_offer(struct tts_nearest *nearest, const char *candidate);
