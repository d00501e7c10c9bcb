#include "sources/graph_node.h"

#include <string.h>

struct cursor {
    const char *at, *end;
};

static void pass_blanks(struct cursor *text)
{
    while (text->at < text->end && *text->at == ' ')
        text->at++;
}

/* Blanks and then this character. */
static bool take(struct cursor *text, char c)
{
    pass_blanks(text);
    if (text->at == text->end || *text->at != c)
        return false;
    text->at++;
    return true;
}

static bool take_number(struct cursor *text, uint16_t *out)
{
    uint32_t value = 0;
    const char *begin = text->at;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        value = value * 10 + (uint32_t)(*text->at - '0');
        if (value > UINT16_MAX)
            return false;
    }
    *out = (uint16_t)value;
    return text->at > begin;
}

/* "(x=1,y=2)" */
static bool take_core(struct cursor *text, uint16_t *x, uint16_t *y)
{
    return take(text, '(') && take(text, 'x') && take(text, '=') && take_number(text, x) &&
           take(text, ',') && take(text, 'y') && take(text, '=') && take_number(text, y) &&
           take(text, ')');
}

/* "[(x=1,y=2) - (x=3,y=4)]" */
static bool take_range(struct cursor *text, struct tts_core_range *out)
{
    return take(text, '[') && take_core(text, &out->x0, &out->y0) && take(text, '-') &&
           take_core(text, &out->x1, &out->y1) && take(text, ']');
}

bool tts_node_parse_ranges(const char *text, size_t len, struct tts_core_range *out,
                           uint32_t *count)
{
    struct cursor cursor = {text, text + len};
    uint32_t ranges = 0;
    if (!take(&cursor, '{'))
        return false;
    if (!take(&cursor, '}')) {
        do {
            if (ranges == TTS_RANGES_MAX || !take_range(&cursor, &out[ranges]))
                return false;
            ranges++;
        } while (take(&cursor, ','));
        if (!take(&cursor, '}'))
            return false;
    }
    pass_blanks(&cursor);
    *count = ranges;
    return cursor.at == cursor.end;
}
