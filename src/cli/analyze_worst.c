/* analyze_worst.c: which runs a table or a picture shows if there are too many for it. */
#include "cli/analyze_parts.h"

#include <inttypes.h>
#include <stdlib.h>

struct tts_analyze_worth tts_analyze_worth_of(const struct tts_trainmem *mem, uint64_t number)
{
    struct tts_analyze_worth worth = {.verdict = !mem->has_verdict ? TTS_ANALYZE_UNKNOWN
                                                 : mem->fits       ? TTS_ANALYZE_GOOD
                                                                   : TTS_ANALYZE_BAD,
                                      .has_usage = tts_analyze_has_usage(mem),
                                      .number = number};
    if (worth.has_usage)
        worth.usage = (double)mem->peak.bytes / (double)mem->device_memory.bytes;
    return worth;
}

bool tts_analyze_is_worse(const struct tts_analyze_worth *a, const struct tts_analyze_worth *b)
{
    bool a_is_bad = a->verdict == TTS_ANALYZE_BAD, b_is_bad = b->verdict == TTS_ANALYZE_BAD;
    if (a_is_bad != b_is_bad)
        return a_is_bad;
    if (a->has_usage != b->has_usage)
        return a->has_usage;
    if (a->usage != b->usage)
        return a->usage > b->usage;
    return a->number < b->number;
}

/* ---- counts ---- */

void tts_analyze_tally_add(struct tts_analyze_tally *tally, enum tts_analyze_answer verdict)
{
    tally->runs++;
    tally->by_verdict[verdict]++;
}

struct tts_analyze_tally tts_analyze_tally_rest(const struct tts_analyze_tally *all,
                                                const struct tts_analyze_tally *shown)
{
    struct tts_analyze_tally rest = *all;
    rest.runs -= shown->runs;
    for (int i = 0; i < TTS_ANALYZE_ANSWERS; i++)
        rest.by_verdict[i] -= shown->by_verdict[i];
    return rest;
}

const char *tts_analyze_tally_words(char out[TTS_ANALYZE_TALLY_MAX],
                                    const struct tts_analyze_tally *tally)
{
    static const struct {
        enum tts_analyze_answer verdict;
        const char *one, *many;
    } words[] = {{TTS_ANALYZE_BAD, "does not fit", "do not fit"},
                 {TTS_ANALYZE_GOOD, "fits", "fit"},
                 {TTS_ANALYZE_UNKNOWN, "unknown", "unknown"}};
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        uint64_t count = tally->by_verdict[words[i].verdict];
        if (count > 0)
            len += (size_t)snprintf(out + len, TTS_ANALYZE_TALLY_MAX - len, "%s%" PRIu64 " %s",
                                    len > 0 ? ", " : "", count,
                                    count == 1 ? words[i].one : words[i].many);
    }
    return out;
}
