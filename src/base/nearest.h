/* nearest.h: the known word nearest to a mistyped one. Offer each candidate, then read `best`.
 * Start from {.word = ...}, of any length; a candidate above 40 letters is passed over. */
#pragma once

struct tts_nearest {
    const char *word;
    const char *best; /* NULL: nothing is near enough to suggest; borrowed from the offer */
    unsigned distance;
};

void tts_nearest_offer(struct tts_nearest *nearest, const char *candidate);
