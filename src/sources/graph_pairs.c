#include "sources/graph_node.h"

#include <string.h>

struct pair_cursor {
    const char *at, *end;
};

static bool take_pair_char(struct pair_cursor *text, char c)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n'))
        text->at++;
    if (text->at == text->end || *text->at != c)
        return false;
    text->at++;
    return true;
}

static bool take_pair_number(struct pair_cursor *text, uint64_t *out)
{
    const char *begin = text->at;
    uint64_t value = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text->at - '0'), &value))
            return false;
    *out = value;
    return text->at > begin;
}

/* "key": number */
static bool take_pair_member(struct pair_cursor *text, const char **key, size_t *len,
                             uint64_t *value)
{
    if (!take_pair_char(text, '"'))
        return false;
    *key = text->at;
    const char *quote = memchr(text->at, '"', (size_t)(text->end - text->at));
    if (!quote)
        return false;
    *len = (size_t)(quote - text->at);
    text->at = quote + 1;
    if (!take_pair_char(text, ':'))
        return false;
    while (text->at < text->end && *text->at == ' ')
        text->at++;
    return take_pair_number(text, value);
}

static bool is_pair_key(const char *key, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(key, word, len) == 0;
}

/* One object of the list. */
static bool take_pair(struct pair_cursor *text, struct tts_node_pair *out)
{
    uint64_t chip = UINT64_MAX, mesh = UINT64_MAX;
    if (!take_pair_char(text, '{'))
        return false;
    do {
        const char *key;
        size_t len;
        uint64_t value;
        if (!take_pair_member(text, &key, &len, &value))
            return false;
        if (is_pair_key(key, len, "device_id"))
            chip = value;
        else if (is_pair_key(key, len, "mesh_device_id"))
            mesh = value;
    } while (take_pair_char(text, ','));
    if (!take_pair_char(text, '}') || chip > INT32_MAX || mesh > INT32_MAX)
        return false;
    *out = (struct tts_node_pair){.chip = (uint32_t)chip, .mesh = (uint32_t)mesh};
    return true;
}

uint32_t tts_node_parse_pairs(const char *text, size_t len, struct tts_node_pair *out)
{
    struct pair_cursor cursor = {text, text + len};
    uint32_t count = 0;
    if (!take_pair_char(&cursor, '['))
        return 0;
    do {
        if (count == TTS_NODE_PAIRS_MAX || !take_pair(&cursor, &out[count]))
            break;
        count++;
    } while (take_pair_char(&cursor, ','));
    return count;
}
