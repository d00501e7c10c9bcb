#include "sources/json_pull.h"

#include "base/error.h"
#include "base/number.h"
#include "sources/json_inside.h"

#include <assert.h>
#include <string.h>

/* ---- between tokens ---- */

/* The next token begins at the next byte that is no blank, or the end of the input. */
static TTS_FORCE_INLINE enum tts_status look(struct tts_jsonpull *json, struct tts_error *err)
{
    const unsigned char *p = json->at;
    json->gap = 0;
    for (;;) {
        p = tts_jsonpull_pass_blanks(p);
        json->token = json->at = p;
        if (TTS_LIKELY(p < json->end) || json->at_eof)
            return TTS_OK;
        enum tts_status status = tts_jsonpull_fill(json, &p, err);
        if (status != TTS_OK)
            return status;
    }
}

/* Whether it is at this character. What ends the window is none. */
static TTS_FORCE_INLINE bool is_at(const struct tts_jsonpull *json, unsigned char c)
{
    return *json->at == c && (c != '"' || json->at < json->end);
}

static TTS_FORCE_INLINE bool in_object(const struct tts_jsonpull *json)
{
    assert(json->depth > 0);
    uint32_t top = json->depth - 1;
    return json->is_object[top / 64] >> top % 64 & 1;
}

/* To the next key, value or end; a comma before it is passed over. */
static TTS_FORCE_INLINE enum tts_status step(struct tts_jsonpull *json, struct tts_error *err)
{
    enum tts_status status = look(json, err);
    if (status != TTS_OK || json->expect != TTS_JSONPULL_COMMA || json->depth == 0 ||
        !is_at(json, ','))
        return status;
    json->at++;
    json->expect = in_object(json) ? TTS_JSONPULL_NEXT_KEY : TTS_JSONPULL_VALUE;
    return look(json, err);
}

static enum tts_status enter(struct tts_jsonpull *json, bool is_object, struct tts_error *err)
{
    if (json->depth == TTS_JSONPULL_DEPTH_MAX) {
        tts_error_set(err, TTS_E_RANGE, "JSON is nested deeper than %d",
                      TTS_JSONPULL_DEPTH_MAX);
        return tts_jsonpull_fail(json, json->at, err, TTS_E_RANGE);
    }
    uint64_t bit = UINT64_C(1) << json->depth % 64, *word = &json->is_object[json->depth / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    json->depth++;
    json->expect = is_object ? TTS_JSONPULL_FIRST_KEY : TTS_JSONPULL_FIRST;
    json->at++;
    return TTS_OK;
}

static void leave_one(struct tts_jsonpull *json)
{
    assert(json->depth > 0);
    json->depth--;
    json->expect = TTS_JSONPULL_COMMA;
    json->at++;
}

/* ---- strings ---- */

/* Where the string whose bytes begin at p ends, or p where the input does: what is before p
 * goes, the first TTS_JSONPULL_TEXT_MAX bytes apart if `keeps`. */
static enum tts_status read_on(struct tts_jsonpull *json, bool keeps, const unsigned char **p,
                               struct tts_error *err)
{
    if (json->at_eof) {
        tts_error_set(err, TTS_E_SYNTAX, "JSON is cut off in a string");
        return tts_jsonpull_fail(json, json->end, err, TTS_E_SYNTAX);
    }
    if (!keeps) {
        json->token = json->at = *p;
    } else if (tts_jsonpull_is_full(json)) {
        const unsigned char *from = json->token + 1 + TTS_JSONPULL_TEXT_MAX;
        assert(from < *p);
        tts_jsonpull_drop(json, from, *p);
        *p = from;
    }
    return tts_jsonpull_fill(json, p, err);
}

/* *p is behind the opening quote, and then at the closing one. */
static TTS_FORCE_INLINE enum tts_status find_end(struct tts_jsonpull *json, bool keeps,
                                                 const unsigned char **p, struct tts_error *err)
{
    for (;;) {
        *p = tts_jsonpull_find_quote(*p);
        if (TTS_LIKELY(**p == '"' && *p < json->end))
            return TTS_OK;
        if (**p == '\\' && *p + 1 < json->end) {
            *p += 2;
            continue;
        }
        enum tts_status status = read_on(json, keeps, p, err);
        if (status != TTS_OK)
            return status;
    }
}

static TTS_FORCE_INLINE enum tts_status
read_string(struct tts_jsonpull *json, struct tts_jsonpull_token *out, struct tts_error *err)
{
    assert(json->at == json->token);
    const unsigned char *p = json->token + 1;
    enum tts_status status = find_end(json, true, &p, err);
    if (status != TTS_OK)
        return status;
    uint64_t len = (uint64_t)(p - json->token - 1) + json->gap;
    out->is_cut = len > TTS_JSONPULL_TEXT_MAX;
    out->len = out->is_cut ? TTS_JSONPULL_TEXT_MAX : (size_t)len;
    json->at = p + 1;
    return TTS_OK;
}

static enum tts_status skip_string(struct tts_jsonpull *json, struct tts_error *err)
{
    const unsigned char *p = json->at + 1;
    enum tts_status status = find_end(json, false, &p, err);
    if (status == TTS_OK)
        json->at = p + 1;
    return status;
}

/* Blanks and the colon behind a key; the key stays where it is, so blanks go. */
static enum tts_status read_colon(struct tts_jsonpull *json, struct tts_error *err)
{
    const unsigned char *p = json->at;
    for (;;) {
        p = tts_jsonpull_pass_blanks(p);
        if (*p == ':') {
            json->at = p + 1;
            return TTS_OK;
        }
        if (p < json->end || json->at_eof)
            return tts_jsonpull_unexpected(json, p, "':' behind a key", err);
        uint64_t gap = json->gap;
        p = json->at;
        tts_jsonpull_drop(json, p, json->end);
        json->gap = gap;
        /* A long key is told by its beginning. */
        const unsigned char *text_end = json->token + 1 + TTS_JSONPULL_TEXT_MAX;
        if (p > text_end) {
            tts_jsonpull_drop(json, text_end, p);
            p = text_end;
            json->at = p;
        }
        enum tts_status status = tts_jsonpull_fill(json, &p, err);
        if (status != TTS_OK)
            return status;
    }
}

static TTS_FORCE_INLINE enum tts_status
read_key(struct tts_jsonpull *json, struct tts_jsonpull_token *out, struct tts_error *err)
{
    out->kind = TTS_JSONPULL_KEY;
    enum tts_status status = read_string(json, out, err);
    if (status == TTS_OK && TTS_LIKELY(*json->at == ':'))
        json->at++;
    else if (status == TTS_OK)
        status = read_colon(json, err);
    out->text = (const char *)json->token + 1;
    json->expect = TTS_JSONPULL_VALUE;
    return status;
}

/* ---- numbers and words ---- */

/* Whole numbers that surely fit are most of them. */
static TTS_FORCE_INLINE enum tts_status
read_number(struct tts_jsonpull *json, struct tts_jsonpull_token *out, struct tts_error *err)
{
    enum { SURE_DIGITS = 19 };
    const unsigned char *p = json->token;
    uint64_t value = 0;
    out->kind = TTS_JSONPULL_NUMBER;
    json->expect = TTS_JSONPULL_COMMA;
    for (; tts_jsonpull_is_digit(*p) && p - json->token < SURE_DIGITS; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    bool is_sure = p < json->end && !tts_jsonpull_is_digit(*p) && *p != '.' && *p != 'e' &&
                   *p != 'E' && p > json->token &&
                   (*json->token != '0' || p == json->token + 1);
    if (TTS_UNLIKELY(!is_sure))
        return tts_jsonpull_read_number(json, out, err);
    out->text = (const char *)json->token;
    out->len = (size_t)(p - json->token);
    out->is_whole = true;
    out->value = value;
    json->at = p;
    return TTS_OK;
}

/* ---- values ---- */

static TTS_FORCE_INLINE enum tts_status
read_value(struct tts_jsonpull *json, struct tts_jsonpull_token *out, struct tts_error *err)
{
    unsigned char c = *json->at;
    enum tts_status status;
    if (is_at(json, '"')) {
        out->kind = TTS_JSONPULL_STRING;
        status = read_string(json, out, err);
        out->text = (const char *)json->token + 1;
        json->expect = TTS_JSONPULL_COMMA;
        return status;
    }
    if (tts_jsonpull_is_digit(c) || c == '-')
        return read_number(json, out, err);
    if (c == '{' || c == '[') {
        out->kind = c == '{' ? TTS_JSONPULL_OBJECT : TTS_JSONPULL_ARRAY;
        return enter(json, c == '{', err);
    }
    if (c == ']' && json->expect == TTS_JSONPULL_FIRST) {
        out->kind = TTS_JSONPULL_ARRAY_END;
        leave_one(json);
        return TTS_OK;
    }
    return tts_jsonpull_read_word(json, out, err);
}

static enum tts_status read_end(struct tts_jsonpull *json, struct tts_jsonpull_token *out,
                                struct tts_error *err)
{
    if (json->depth == 0 && json->at == json->end) {
        out->kind = TTS_JSONPULL_END;
        return TTS_OK;
    }
    if (json->depth == 0 || !is_at(json, in_object(json) ? '}' : ']'))
        return tts_jsonpull_unexpected(json, json->at, tts_jsonpull_expected(json), err);
    out->kind = in_object(json) ? TTS_JSONPULL_OBJECT_END : TTS_JSONPULL_ARRAY_END;
    leave_one(json);
    return TTS_OK;
}

enum tts_status tts_jsonpull_next(struct tts_jsonpull *json, struct tts_jsonpull_token *out,
                                  struct tts_error *err)
{
    enum tts_status status = step(json, err);
    if (status != TTS_OK)
        return status;
    switch (json->expect) {
    case TTS_JSONPULL_FIRST_KEY:
        if (is_at(json, '}')) {
            out->kind = TTS_JSONPULL_OBJECT_END;
            leave_one(json);
            return TTS_OK;
        }
        __attribute__((fallthrough));
    case TTS_JSONPULL_NEXT_KEY:
        if (!is_at(json, '"'))
            return tts_jsonpull_unexpected(json, json->at, tts_jsonpull_expected(json), err);
        return read_key(json, out, err);
    case TTS_JSONPULL_VALUE:
    case TTS_JSONPULL_FIRST:
        return read_value(json, out, err);
    case TTS_JSONPULL_COMMA:
        break;
    }
    return read_end(json, out, err);
}

/* The way most keys are: a comma, some blanks, no escape, the colon at once. Everything else
 * goes the long way. */
enum tts_status tts_jsonpull_key(struct tts_jsonpull *json, struct tts_jsonpull_token *out,
                                 struct tts_error *err)
{
    assert(in_object(json));
    const unsigned char *p = json->at;
    bool is_first = json->expect == TTS_JSONPULL_FIRST_KEY;
    if (TTS_UNLIKELY(!is_first && *p != ','))
        return tts_jsonpull_next(json, out, err);
    p = tts_jsonpull_pass_blanks(p + !is_first);
    if (TTS_UNLIKELY(*p != '"' || p >= json->end))
        return tts_jsonpull_next(json, out, err);
    const unsigned char *end = tts_jsonpull_find_quote(p + 1);
    if (TTS_UNLIKELY(end >= json->end || end[0] != '"' || end[1] != ':' ||
                     end - p > TTS_JSONPULL_TEXT_MAX))
        return tts_jsonpull_next(json, out, err);
    json->token = p;
    json->gap = 0;
    json->at = end + 2;
    json->expect = TTS_JSONPULL_VALUE;
    out->kind = TTS_JSONPULL_KEY;
    out->text = (const char *)p + 1;
    out->len = (size_t)(end - p - 1);
    out->is_cut = false;
    return TTS_OK;
}

/* ---- skipping ---- */

/* At a bracket, out of or into a level; or at what cannot stand outside of strings. */
static TTS_FORCE_INLINE enum tts_status pass_bracket(struct tts_jsonpull *json,
                                                     struct tts_error *err)
{
    unsigned char c = *json->at;
    if (c == '{' || c == '[')
        return enter(json, c == '{', err);
    if (c != (in_object(json) ? '}' : ']'))
        return tts_jsonpull_unexpected(json, json->at, in_object(json) ? "'}'" : "']'", err);
    leave_one(json);
    return TTS_OK;
}

/* Without the quotes that an escape before them makes part of a string. *carries: the first
 * byte is escaped, and then whether the one behind the last is. */
static TTS_FORCE_INLINE uint64_t real_quotes(struct tts_jsonpull_block block, bool *carries)
{
    if (TTS_LIKELY(block.escapes == 0 && !*carries))
        return block.quotes;
    uint64_t quotes = block.quotes, escapes = block.escapes;
    if (*carries) {
        quotes &= ~UINT64_C(1);
        escapes &= ~UINT64_C(1);
    }
    *carries = false;
    while (escapes) {
        uint64_t next = (escapes & -escapes) << 1; /* the byte behind the first of them */
        *carries = next == 0;
        quotes &= ~next;
        escapes &= (escapes - 1) & ~next;
    }
    return quotes;
}

/* Brackets in the order of `hits`, bits of the 64 bytes at `p`, until `outside` is reached. */
static enum tts_status pass_brackets(struct tts_jsonpull *json, const unsigned char *p,
                                     uint64_t hits, uint32_t outside, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    for (; hits && json->depth > outside && status == TTS_OK; hits &= hits - 1) {
        json->token = json->at = p + __builtin_ctzll(hits);
        status = pass_bracket(json, err);
    }
    return status;
}

/* From the quote of a string on, 64 bytes at a time, as far as whole ones are in the window or
 * to the end of the level. */
static enum tts_status leave_blocks(struct tts_jsonpull *json, uint32_t outside,
                                    struct tts_error *err)
{
    const unsigned char *p = json->at;
    uint64_t in_string = 0; /* all bits: the block begins in a string */
    bool carries = false;
    for (; json->end - p >= 64; p += 64) {
        struct tts_jsonpull_block block = tts_jsonpull_look_at(p);
        uint64_t inside = tts_jsonpull_parity(real_quotes(block, &carries)) ^ in_string;
        uint64_t hits = block.brackets & ~inside;
        in_string = (uint64_t)0 - (inside >> 63);
        if (TTS_LIKELY(hits == 0))
            continue;
        enum tts_status status = pass_brackets(json, p, hits, outside, err);
        if (status != TTS_OK || json->depth == outside)
            return status;
    }
    json->token = json->at = p;
    if (!in_string)
        return TTS_OK;
    p -= carries;
    enum tts_status status = find_end(json, false, &p, err);
    json->at = p + (status == TTS_OK);
    return status;
}

enum tts_status tts_jsonpull_leave(struct tts_jsonpull *json, struct tts_error *err)
{
    assert(json->depth > 0);
    uint32_t outside = json->depth - 1;
    enum tts_status status = TTS_OK;
    json->gap = 0;
    while (status == TTS_OK && json->depth > outside) {
        const unsigned char *p = tts_jsonpull_find_bracket(json->at);
        json->token = json->at = p;
        if (TTS_LIKELY(*p != '"'))
            status = pass_bracket(json, err);
        else if (TTS_LIKELY(json->end - p >= 64))
            status = leave_blocks(json, outside, err);
        else if (p < json->end)
            status = skip_string(json, err);
        else if (json->at_eof)
            status = tts_jsonpull_unexpected(json, p, in_object(json) ? "'}'" : "']'", err);
        else
            status = tts_jsonpull_fill(json, &p, err);
    }
    return status;
}

/* The way most values are that are skipped: an empty array or a number, all in the window. */
static TTS_FORCE_INLINE bool skip_short(struct tts_jsonpull *json)
{
    const unsigned char *p = tts_jsonpull_pass_blanks(json->at);
    if (p[0] == '[' && p[1] == ']') {
        p += 2;
    } else {
        const unsigned char *digits = p;
        while (tts_jsonpull_is_digit(*p))
            p++;
        if (p == digits || (*digits == '0' && p > digits + 1) || (*p != ',' && *p != '}'))
            return false;
    }
    json->token = json->at = p;
    json->expect = TTS_JSONPULL_COMMA;
    return true;
}

enum tts_status tts_jsonpull_skip(struct tts_jsonpull *json, struct tts_error *err)
{
    if (TTS_LIKELY(json->expect == TTS_JSONPULL_VALUE) && skip_short(json))
        return TTS_OK;
    enum tts_status status = step(json, err);
    if (status != TTS_OK)
        return status;
    if (json->expect != TTS_JSONPULL_VALUE && json->expect != TTS_JSONPULL_FIRST)
        return tts_jsonpull_unexpected(json, json->at, "a value", err);
    if (is_at(json, '"')) {
        json->expect = TTS_JSONPULL_COMMA;
        return skip_string(json, err);
    }
    struct tts_jsonpull_token token;
    status = read_value(json, &token, err);
    if (status != TTS_OK)
        return status;
    if (token.kind == TTS_JSONPULL_ARRAY_END)
        return tts_jsonpull_unexpected(json, json->token, "a value", err);
    bool is_open = token.kind == TTS_JSONPULL_OBJECT || token.kind == TTS_JSONPULL_ARRAY;
    return is_open ? tts_jsonpull_leave(json, err) : TTS_OK;
}
