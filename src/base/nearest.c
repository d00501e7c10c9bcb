#include "base/nearest.h"

#include <stddef.h>
#include <string.h>

enum { CANDIDATE_MAX = 40, DISTANCE_MAX = 2 };

static unsigned min_cost(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the smallest number of insertions, deletions, replacements and swaps of neighbours
 * that turn `a` into `b`. */
static unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned rows[3][CANDIDATE_MAX +
                     1]; /* the last three rows of the distance table; row i is rows[i % 3] */
    for (size_t i = 0; i <= a_len; i++) {
        unsigned *now = rows[i % 3], *back = rows[(i + 2) % 3], *two_back = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            if (i == 0) {
                now[j] = (unsigned)j;
                continue;
            }
            now[j] = min_cost(back[j - 1] + (a[i - 1] != b[j - 1]),
                              min_cost(back[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = min_cost(now[j], two_back[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

void tts_nearest_offer(struct tts_nearest *nearest, const char *candidate)
{
    size_t word_len = strlen(nearest->word), len = strlen(candidate);
    if (len > CANDIDATE_MAX)
        return;
    /* If the candidate begins with the word, the missing end counts as one wrong letter. */
    unsigned distance = strncmp(nearest->word, candidate, word_len) == 0
                            ? 1
                            : edit_distance(nearest->word, word_len, candidate, len);
    if (distance > DISTANCE_MAX || distance >= word_len)
        return;
    if (distance > 1 && 2 * distance >= word_len)
        return; /* at least half of a short word differs: 'bad' is not near to 'max' */
    if (!nearest->best || distance < nearest->distance) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}
