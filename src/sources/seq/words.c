#include "sources/seq/words.h"

#include "base/error.h"
#include "base/number.h"
#include "base/span.h"

#include <inttypes.h>
#include <string.h>

struct tts_word tts_scan_word(struct tts_scan *scan)
{
    const char *at = scan->at;
    while (at < scan->end && tts_is_blank(*at))
        at++;
    const char *start = at;
    while (at < scan->end && !tts_is_blank(*at))
        at++;
    scan->at = at;
    return (struct tts_word){start, (size_t)(at - start)};
}

bool tts_word_is(struct tts_word word, const char *text)
{
    return strlen(text) == word.len && memcmp(word.text, text, word.len) == 0;
}

bool tts_word_split(struct tts_word word, struct tts_word *name, struct tts_word *value)
{
    const char *equals = word.len > 0 ? memchr(word.text, '=', word.len) : NULL;
    if (!equals)
        return false;
    *name = (struct tts_word){word.text, (size_t)(equals - word.text)};
    *value = (struct tts_word){equals + 1, word.len - name->len - 1};
    return true;
}

struct tts_quote tts_word_quote(struct tts_word word)
{
    struct tts_quote out;
    bool cut = word.len > TTS_QUOTE_MAX;
    size_t len = cut ? TTS_QUOTE_MAX : word.len;
    for (size_t i = 0; i < len; i++)
        out.text[i] = word.text[i] >= ' ' && word.text[i] <= '~' ? word.text[i] : '?';
    memcpy(out.text + len, cut ? "..." : "", cut ? 4 : 1);
    return out;
}

enum tts_status tts_scan_at(struct tts_scan *scan, struct tts_word word, enum tts_status status)
{
    if (scan->err)
        scan->err->offset = (uint64_t)(word.text - scan->begin);
    return status;
}

enum tts_status tts_scan_number(struct tts_scan *scan, struct tts_word word, const char *name,
                                uint64_t *out)
{
    enum tts_status status = tts_number_parse(word.text, word.len, out);
    if (status == TTS_OK)
        return TTS_OK;
    struct tts_quote got = tts_word_quote(word);
    if (status == TTS_E_RANGE)
        tts_error_set(scan->err, status, "%s '%s' is too large: at most %" PRIu64, name,
                      got.text, UINT64_MAX);
    else if (word.len == 0)
        tts_error_set(scan->err, status, "expected a decimal number for %s, got nothing", name);
    else
        tts_error_set(scan->err, status, "expected a decimal number for %s, got '%s'", name,
                      got.text);
    return tts_scan_at(scan, word, status);
}

char *tts_put_text(char *at, const char *text)
{
    size_t len = strlen(text);
    memcpy(at, text, len);
    return at + len;
}

char *tts_put_number(char *at, uint64_t value)
{
    return at + tts_number_format(at, value);
}

char *tts_put_operand(char *at, uint64_t value)
{
    *at++ = ' ';
    return tts_put_number(at, value);
}
