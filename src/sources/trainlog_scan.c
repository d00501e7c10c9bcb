#include "sources/trainlog_inside.h"

#include "base/bytes16.h"

/* What every line of interest has: "emory", "aram" or "DRAM"; in a block also "-- " or "L1:".
 * Of each two letters are compared, one apart, capitals or not; who asks looks at the rest. */
static TTS_FORCE_INLINE tts_bytes16 hits_at(tts_bytes16 a, tts_bytes16 c, bool is_block)
{
    const tts_bytes16 fold = {32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32};
    a |= fold;
    c |= fold;
    tts_bytes16 hits = (tts_bytes16)(a == 'r') & (tts_bytes16)(c == 'm');
    hits |= (tts_bytes16)(a == 'o') & (tts_bytes16)(c == 'y');
    if (is_block) {
        hits |= (tts_bytes16)(a == '-') & (tts_bytes16)(c == ' ');
        hits |= (tts_bytes16)(a == 'l') & (tts_bytes16)(c == ':');
    }
    return hits;
}

/* The place of a hit in 32 bytes. */
static TTS_FORCE_INLINE unsigned first_of(tts_bytes16 low, tts_bytes16 high)
{
    unsigned first = tts_bytes16_first(low);
    return first < 16 ? first : 16 + tts_bytes16_first(high);
}

/* Line ends are counted on the way: the bytes are at hand. Each of 16 counts for itself, up to
 * 255 in a round of 127 times two. */
static TTS_FORCE_INLINE const unsigned char *find_words(struct tts_logcount *count,
                                                        const unsigned char *end, bool is_block)
{
    const unsigned char *at = count->at;
    tts_bytes16 low = {0}, high = {0}, nuls = {0};
    while (end - at >= 32) {
        tts_bytes16 sums = {0};
        for (int i = 0; i < 127 && end - at >= 32; i++, at += 32) {
            tts_bytes16 a = tts_bytes16_load(at), b = tts_bytes16_load(at + 16);
            low = hits_at(a, tts_bytes16_load(at + 2), is_block);
            high = hits_at(b, tts_bytes16_load(at + 18), is_block);
            if (TTS_UNLIKELY(tts_bytes16_mask(low | high) != 0))
                break;
            sums -= (tts_bytes16)(a == '\n');
            sums -= (tts_bytes16)(b == '\n');
            nuls |= (tts_bytes16)(a == 0) | (tts_bytes16)(b == 0);
        }
        count->line_ends += tts_bytes16_sum(sums);
        if (tts_bytes16_mask(low | high) != 0)
            break;
    }
    count->at = at;
    count->has_nul = count->has_nul || tts_bytes16_mask(nuls) != 0;
    if (end - at < 32) {
        low = hits_at(tts_bytes16_load(at), tts_bytes16_load(at + 2), is_block);
        high = hits_at(tts_bytes16_load(at + 16), tts_bytes16_load(at + 18), is_block);
    }
    unsigned first = first_of(low, high);
    return first < 32 && first < end - at ? at + first : end;
}

static const unsigned char *find_word(struct tts_logcount *count, const unsigned char *end)
{
    return find_words(count, end, false);
}

static const unsigned char *find_block_word(struct tts_logcount *count,
                                            const unsigned char *end)
{
    return find_words(count, end, true);
}

/* "memory", "param", " DRAM", "--- ", " L1:": the letter that was found is the last but two. */
static bool is_word(const char word[TTS_LOGSCAN_HEAD + TTS_LOGSCAN_TAIL])
{
    switch (word[TTS_LOGSCAN_HEAD]) {
    case 'o':
        return memcmp(word + 1, "emory", 5) == 0;
    case 'r':
        return memcmp(word + 2, "aram", 4) == 0;
    case 'R':
        return memcmp(word + 2, "DRAM", 4) == 0;
    case '-':
        return memcmp(word + 2, "--- ", 4) == 0;
    case 'L':
        return memcmp(word + 3, "L1:", 3) == 0;
    default:
        return false;
    }
}

const struct tts_logscan tts_trainlog_scan = {find_word, is_word};
const struct tts_logscan tts_trainlog_block_scan = {find_block_word, is_word};
