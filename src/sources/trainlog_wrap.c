/* Lines that a terminal or a build server has wrapped. A piece is joined only if all that was
 * joined is the beginning of a line as programs print it, so no other line can be taken for
 * one. */
#include "sources/trainlog_inside.h"

#include <assert.h>
#include <string.h>

/* What is printed: ' ' is one blank or more, '#' a size with its unit, '@' the name of a phase.
 */
static const char *const forms[] = {
    "DRAM: Segment Peak #, Allocations #, Deallocations #, Segment Change #",
    "DRAM: Cumulative Peak #, Cumulative Current #",
    "L1: Peak CB #, Peak Buffer #, Peak Total #",
    "Overall DRAM Peak: #, Final DRAM Usage: #",
    "Available Device Memory: #",
    "=== Memory Usage Summary ===",
    "=== Final Totals ===",
    "--- @ ---",
};

/* ---- does a text begin a form? ---- */

/* Each of these functions matches from `*at` on and moves `*at` past the match.
 * TTS_LOGWRAP_PART: the text ends in it. */

static enum tts_logwrap_match match_size(struct tts_span text, size_t *at)
{
    size_t i = *at, digits;
    i += text.at[i] == '+' || text.at[i] == '-';
    for (digits = i; i < text.len; i++) {
        bool is_group = text.at[i] == ',' && i > digits &&
                        (i + 1 == text.len || tts_is_digit(text.at[i + 1]));
        if (!tts_is_digit(text.at[i]) && !is_group)
            break;
    }
    if (i == text.len)
        return TTS_LOGWRAP_PART;
    if (i == digits)
        return TTS_LOGWRAP_NONE;
    if (text.at[i] == '.')
        for (i++; i < text.len && tts_is_digit(text.at[i]);)
            i++;
    while (i < text.len && tts_is_blank(text.at[i]))
        i++;
    struct tts_span unit = {text.at + i, text.len - i};
    if (unit.len < 2)
        return unit.len == 0 || unit.at[0] == 'M' ? TTS_LOGWRAP_PART : TTS_LOGWRAP_NONE;
    *at = i + 2;
    return tts_span_begins(unit, "MB") ? TTS_LOGWRAP_WHOLE : TTS_LOGWRAP_NONE;
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* "FORWARD_PASS_micro_0": others print "--- Epoch 1 ---". */
static enum tts_logwrap_match match_name(struct tts_span text, size_t *at)
{
    size_t i = *at;
    if (!is_capital(text.at[i]) ||
        (i + 1 < text.len && !is_capital(text.at[i + 1]) && text.at[i + 1] != '_'))
        return TTS_LOGWRAP_NONE;
    while (i < text.len &&
           (tts_is_letter(text.at[i]) || tts_is_digit(text.at[i]) || text.at[i] == '_'))
        i++;
    *at = i;
    return i == text.len ? TTS_LOGWRAP_PART : TTS_LOGWRAP_WHOLE;
}

static enum tts_logwrap_match match_form(const char *form, struct tts_span text)
{
    size_t at = 0;
    for (; *form; form++) {
        enum tts_logwrap_match match = TTS_LOGWRAP_WHOLE;
        if (at == text.len)
            return TTS_LOGWRAP_PART;
        if (*form == '#')
            match = match_size(text, &at);
        else if (*form == '@')
            match = match_name(text, &at);
        else if (*form == ' ' ? !tts_is_blank(text.at[at]) : text.at[at] != *form)
            match = TTS_LOGWRAP_NONE;
        else
            at++;
        if (match != TTS_LOGWRAP_WHOLE)
            return match;
        while (*form == ' ' && at < text.len && tts_is_blank(text.at[at]))
            at++;
    }
    return at == text.len ? TTS_LOGWRAP_WHOLE : TTS_LOGWRAP_NONE;
}

static enum tts_logwrap_match match_any(struct tts_span text)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        enum tts_logwrap_match match = match_form(forms[i], text);
        if (match != TTS_LOGWRAP_NONE)
            return match;
    }
    return TTS_LOGWRAP_NONE;
}

/* ---- the first piece ---- */

/* Whether the last size of the line is there: nearly all lines are whole. */
static bool has_last_size(const struct tts_logline *line)
{
    static const char *const last[] = {
        [TTS_LOGLINE_SEGMENT] = "Segment Change",
        [TTS_LOGLINE_CUMULATIVE] = "Cumulative Current",
        [TTS_LOGLINE_L1] = "Peak Total",
        [TTS_LOGLINE_OVERALL] = "Final DRAM Usage",
        [TTS_LOGLINE_MEMORY] = "",
    };
    size_t at = line->value.len;
    if (!tts_span_ends(line->value, "MB"))
        return false;
    while (at > 0 && line->value.at[at - 1] != ',')
        at--;
    while (at < line->value.len && tts_is_blank(line->value.at[at]))
        at++;
    return tts_span_begins((struct tts_span){line->value.at + at, line->value.len - at},
                           last[line->kind]);
}

/* Where a line begins that is not told from others yet. NULL: nowhere. */
static const char *find_begin(struct tts_span text, bool is_block)
{
    static const char *const words[] = {
        "=== Memory", "=== Final", "DRAM:", "L1:", "Overall DRAM", "---"};
    size_t count = is_block ? sizeof words / sizeof words[0] : 1;
    for (size_t i = 0; i < count; i++) {
        const char *at = tts_span_find(text, words[i]);
        if (at && match_any((struct tts_span){at, text.len - (size_t)(at - text.at)}) ==
                      TTS_LOGWRAP_PART)
            return at;
    }
    return NULL;
}

bool tts_logwrap_begin(struct tts_logwrap *wrap, struct tts_span text,
                       const struct tts_logline *line, bool is_block)
{
    const char *begin = NULL;
    bool has_sizes = line->kind == TTS_LOGLINE_SEGMENT ||
                     line->kind == TTS_LOGLINE_CUMULATIVE || line->kind == TTS_LOGLINE_L1 ||
                     line->kind == TTS_LOGLINE_OVERALL || line->kind == TTS_LOGLINE_MEMORY;
    if (has_sizes) {
        if (has_last_size(line))
            return false;
        text.len = (size_t)(line->value.at + line->value.len - text.at);
        begin = line->prefix.at + line->prefix.len;
    } else if (line->kind == TTS_LOGLINE_OTHER || line->kind == TTS_LOGLINE_SECTION) {
        while (text.len > 0 && tts_is_blank(text.at[text.len - 1]))
            text.len--;
        text = tts_logline_without_source(text);
        begin = find_begin(text, is_block);
    }
    if (!begin)
        return false;
    size_t prefix = (size_t)(begin - text.at);
    struct tts_span content = {begin, text.len - prefix};
    if (prefix > TTS_LOGWRAP_PREFIX || content.len > TTS_LOGWRAP_CONTENT ||
        match_any(content) != TTS_LOGWRAP_PART)
        return false;
    *wrap = (struct tts_logwrap){.prefix_len = prefix, .len = text.len};
    wrap->is_told = !has_sizes || line->kind == TTS_LOGLINE_MEMORY;
    memcpy(wrap->text, text.at, text.len);
    return true;
}

/* ---- the pieces that follow ---- */

/* Where a blank was the end of a line, it may be gone. */
static enum tts_logwrap_match add_piece(struct tts_logwrap *wrap, struct tts_span piece)
{
    char text[TTS_LOGWRAP_CONTENT];
    size_t len = wrap->len - wrap->prefix_len;
    if (piece.len == 0 || len + 1 + piece.len > sizeof text)
        return TTS_LOGWRAP_NONE;
    memcpy(text, wrap->text + wrap->prefix_len, len);
    for (size_t blanks = 0; blanks < 2; blanks++) {
        text[len] = ' ';
        memcpy(text + len + blanks, piece.at, piece.len);
        struct tts_span all = {text, len + blanks + piece.len};
        enum tts_logwrap_match match = match_any(all);
        if (match == TTS_LOGWRAP_NONE)
            continue;
        memcpy(wrap->text + wrap->prefix_len, text, all.len);
        wrap->len = wrap->prefix_len + all.len;
        assert(wrap->len <= sizeof wrap->text);
        return match;
    }
    return TTS_LOGWRAP_NONE;
}

static enum tts_logwrap_match add_rest(struct tts_logwrap *wrap, struct tts_span rest)
{
    enum tts_logwrap_match match = add_piece(wrap, tts_span_trim(rest));
    if (match != TTS_LOGWRAP_NONE)
        return match;
    struct tts_span piece = tts_logkey_skip_times(rest);
    match = add_piece(wrap, tts_span_trim(piece));
    if (match != TTS_LOGWRAP_NONE)
        return match;
    /* A '-' may be of the line, and not before it. */
    while (piece.at > rest.at && piece.at[-1] == '-')
        piece = (struct tts_span){piece.at - 1, piece.len + 1};
    return add_piece(wrap, tts_span_trim(piece));
}

enum tts_logwrap_match tts_logwrap_join(struct tts_logwrap *wrap, struct tts_span text,
                                        bool is_next, struct tts_logkey *work)
{
    struct tts_span rest;
    if (text.len > TTS_LOGWRAP_PREFIX + TTS_LOGWRAP_CONTENT)
        return TTS_LOGWRAP_NONE;
    text = tts_logline_without_source(text);
    if (tts_logkey_strip(work, (struct tts_span){wrap->text, wrap->prefix_len}, text, &rest)) {
        enum tts_logwrap_match match = add_rest(wrap, rest);
        if (match != TTS_LOGWRAP_NONE)
            return match;
    }
    return is_next ? add_rest(wrap, text) : TTS_LOGWRAP_NONE;
}
