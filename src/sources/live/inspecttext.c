#include "sources/live/inspecttext.h"

#include "base/number.h"

#include <assert.h>
#include <string.h>

static bool is_inspect_name_char(char c)
{
    return tts_is_letter(c) || tts_is_digit(c) || c == '_';
}

/* Takes a name up to its colon from the beginning of *text. Returns false if the text does not
 * begin with a name and a colon. */
static bool take_inspect_name(struct tts_span *text, struct tts_span *out)
{
    size_t len = 0;
    while (len < text->len && is_inspect_name_char(text->at[len]))
        len++;
    if (len == 0 || len == text->len || text->at[len] != ':')
        return false;
    *out = (struct tts_span){text->at, len};
    *text = (struct tts_span){text->at + len + 1, text->len - len - 1};
    return true;
}

struct tts_inspectline tts_inspectline_parse(struct tts_span line)
{
    struct tts_inspectline out = {.kind = TTS_INSPECTLINE_BAD};
    if (line.len > 0 && line.at[line.len - 1] == '\r')
        line.len--;
    bool is_indented = line.len > 0 && tts_is_blank(line.at[0]);
    struct tts_span rest = tts_span_trim(line);
    if (rest.len == 0 || rest.at[0] == '#' || tts_span_is(line, "---")) {
        out.kind = TTS_INSPECTLINE_BLANK;
    } else if (is_indented) {
        if (take_inspect_name(&rest, &out.name)) {
            out.kind = TTS_INSPECTLINE_FIELD;
            out.value = tts_span_trim(rest);
        }
    } else if (tts_span_begins(rest, "- ")) {
        rest = tts_span_trim((struct tts_span){rest.at + 2, rest.len - 2});
        if (take_inspect_name(&rest, &out.name) && rest.len == 0)
            out.kind = TTS_INSPECTLINE_EVENT;
    }
    return out;
}

bool tts_inspectline_number(struct tts_span value, uint64_t max, uint64_t *out)
{
    uint64_t number;
    if (tts_number_parse(value.at, value.len, &number) != TTS_OK || number > max)
        return false;
    *out = number;
    return true;
}

/* Keeps the beginning of a line whose end has not arrived. */
static void carry_inspect_bytes(struct tts_inspecttext *text, const char *bytes, size_t len)
{
    if (text->is_too_long || len > sizeof text->carried - text->carried_len) {
        text->is_too_long = true;
        return;
    }
    memcpy(text->carried + text->carried_len, bytes, len);
    text->carried_len += len;
}

void tts_inspecttext_feed(struct tts_inspecttext *text, const char *bytes, size_t len,
                          void (*reader)(void *ctx, const struct tts_inspectline *line),
                          void *ctx)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t piece = end ? (size_t)(end - bytes) : len;
        struct tts_span whole = {bytes, piece};
        if (!end || text->carried_len > 0 || text->is_too_long ||
            piece > sizeof text->carried) {
            carry_inspect_bytes(text, bytes, piece);
            whole = (struct tts_span){text->carried, text->carried_len};
        }
        if (!end)
            return;
        struct tts_inspectline line = {.kind = TTS_INSPECTLINE_BAD};
        if (!text->is_too_long)
            line = tts_inspectline_parse(whole);
        reader(ctx, &line);
        text->carried_len = 0;
        text->is_too_long = false;
        bytes += piece + 1;
        len -= piece + 1;
    }
}
