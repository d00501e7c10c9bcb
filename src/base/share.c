#include "base/share.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

static bool is_share_digit(char c)
{
    return c >= '0' && c <= '9';
}

enum tts_status tts_share_parse(const char *text, size_t len, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    size_t at = 0, behind = 0;
    assert(max <= UINT32_MAX);
    if (len == 0 || !is_share_digit(text[0]))
        return TTS_E_SYNTAX;
    for (; at < len && is_share_digit(text[at]); at++)
        value = value > max ? value : value * 10 + (uint64_t)(text[at] - '0');
    if (at < len && text[at] == '.') {
        for (at++; at < len && is_share_digit(text[at]); at++, behind++)
            value =
                behind < 2 && value <= max ? value * 10 + (uint64_t)(text[at] - '0') : value;
        if (behind == 0 || behind > 2)
            return TTS_E_SYNTAX;
    }
    if (at < len)
        return TTS_E_SYNTAX;
    for (; behind < 2; behind++)
        value *= 10;
    if (value > max)
        return TTS_E_RANGE;
    *out = value;
    return TTS_OK;
}

const char *tts_share_format(char out[TTS_SHARE_TEXT_MAX], uint64_t share)
{
    int len =
        snprintf(out, TTS_SHARE_TEXT_MAX, "%" PRIu64 ".%02" PRIu64, share / 100, share % 100);
    assert(len > 0 && len < TTS_SHARE_TEXT_MAX);
    while (out[len - 1] == '0')
        out[--len] = '\0';
    if (out[len - 1] == '.')
        out[--len] = '\0';
    return out;
}

int64_t tts_share_of(int64_t bytes, uint64_t share, bool up)
{
    assert(bytes >= 0 && share <= UINT32_MAX);
    int64_t out, rest = bytes % TTS_SHARE_ALL * (int64_t)share;
    rest = rest / TTS_SHARE_ALL + (up && rest % TTS_SHARE_ALL > 0);
    if (__builtin_mul_overflow(bytes / TTS_SHARE_ALL, (int64_t)share, &out) ||
        __builtin_add_overflow(out, rest, &out))
        return INT64_MAX;
    return out;
}
