#include "sources/trainlog/trainline.h"

#include <assert.h>
#include <string.h>

/* ---- values ---- */

enum {
    MB_BITS = 20,
    QUICK_DIGITS = 12, /* a number of 12 digits, multiplied by 2^21, fits in 64 bits */
    /* Half a byte is 2^-21 MB, which has 21 decimals. Digits after them do not change the
     * rounding. */
    EXACT_DIGITS = 24,
};

#define MB_MAX (INT64_MAX >> MB_BITS)

/* Reads a whole number at *at and moves *at past it. If the number has commas, they must
 * separate groups of three digits. */
static bool read_digit_groups(struct tts_span text, size_t *at, uint64_t *out)
{
    uint64_t value = 0;
    size_t digits = 0, commas = 0, i = *at;
    for (; i < text.len; i++) {
        char c = text.at[i];
        if (tts_is_digit(c)) {
            if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
                __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
                return false;
            digits++;
        } else if (c == ',') {
            if (commas > 0 ? digits != 3 : digits == 0 || digits > 3)
                return false;
            commas++;
            digits = 0;
        } else {
            break;
        }
    }
    if (commas > 0 ? digits != 3 : digits == 0)
        return false;
    *at = i;
    *out = value;
    return true;
}

/* Returns the fraction 0.digits times 2^21, rounded down. Doubles the decimal digits 21 times;
 * each carry is one bit of the result. */
static uint64_t scale_fraction_slowly(const char *text, size_t count)
{
    unsigned char digits[EXACT_DIGITS];
    uint64_t bits = 0;
    assert(count <= EXACT_DIGITS);
    for (size_t i = 0; i < count; i++)
        digits[i] = (unsigned char)(text[i] - '0');
    for (int bit = 0; bit <= MB_BITS; bit++) {
        unsigned carry = 0;
        for (size_t i = count; i-- > 0;) {
            unsigned twice = digits[i] * 2u + carry;
            carry = twice >= 10;
            digits[i] = (unsigned char)(twice - 10 * carry);
        }
        bits = bits * 2 + carry;
    }
    return bits;
}

static uint64_t scale_fraction(const char *text, size_t count)
{
    uint64_t value = 0, unit = 1;
    if (count > QUICK_DIGITS)
        return scale_fraction_slowly(text, count < EXACT_DIGITS ? count : EXACT_DIGITS);
    for (size_t i = 0; i < count; i++) {
        value = value * 10 + (uint64_t)(text[i] - '0');
        unit *= 10;
    }
    return (value << (MB_BITS + 1)) / unit;
}

/* Reads the fraction of a number of MB at *at and sets *out to its bytes, rounded to the
 * nearest. If there is no point at *at, the fraction is 0. */
static bool read_mb_fraction(struct tts_span text, size_t *at, uint64_t *out)
{
    *out = 0;
    if (*at == text.len || text.at[*at] != '.')
        return true;
    size_t begin = *at + 1, end = begin;
    while (end < text.len && tts_is_digit(text.at[end]))
        end++;
    if (end == begin)
        return false;
    *out = (scale_fraction(text.at + begin, end - begin) + 1) / 2;
    *at = end;
    return true;
}

bool tts_trainline_mb(struct tts_span text, int64_t *bytes)
{
    text = tts_span_trim(text);
    bool is_negative = text.len > 0 && text.at[0] == '-';
    size_t at = text.len > 0 && (text.at[0] == '-' || text.at[0] == '+');
    uint64_t whole, fraction;
    if (!read_digit_groups(text, &at, &whole) || !read_mb_fraction(text, &at, &fraction) ||
        whole >= MB_MAX)
        return false;
    while (at < text.len && tts_is_blank(text.at[at]))
        at++;
    if (text.len - at != 2 || memcmp(text.at + at, "MB", 2) != 0)
        return false;
    int64_t value = (int64_t)((whole << MB_BITS) + fraction);
    assert(value >= 0);
    *bytes = is_negative ? -value : value;
    return true;
}

/* Reads at most `max` digits. Returns how many were read. */
static inline size_t read_quick_digits(struct tts_span text, size_t at, size_t max,
                                       uint64_t *out)
{
    uint64_t value = 0;
    size_t count = 0;
    while (count < max && at < text.len && tts_is_digit(text.at[at])) {
        value = value * 10 + (uint64_t)(text.at[at++] - '0');
        count++;
    }
    *out = value;
    return count;
}

bool tts_trainline_quick_mb(struct tts_span text, size_t *at, int64_t *bytes)
{
    size_t i = *at, digits;
    uint64_t whole, hundredths;
    while (i < text.len && text.at[i] == ' ')
        i++;
    bool is_negative = i < text.len && text.at[i] == '-';
    i += is_negative || (i < text.len && text.at[i] == '+');
    digits = read_quick_digits(text, i, QUICK_DIGITS, &whole);
    i += digits + 1;
    if (digits == 0 || i > text.len || text.at[i - 1] != '.' ||
        read_quick_digits(text, i, 2, &hundredths) != 2)
        return false;
    struct tts_span rest = {text.at + i + 2, text.len - i - 2};
    if (!tts_span_begins(rest, " MB") ||
        (rest.len > 3 && (rest.at[3] != ',' || (rest.len > 4 && !tts_is_blank(rest.at[4])))))
        return false;
    int64_t value = (int64_t)((whole << MB_BITS) + (((hundredths << 21) / 100 + 1) >> 1));
    *bytes = is_negative ? -value : value;
    *at = i + 5;
    return true;
}

bool tts_trainline_count(struct tts_span text, uint64_t *out)
{
    size_t at = 0;
    uint64_t value;
    if (!read_digit_groups(text, &at, &value) || at != text.len)
        return false;
    *out = value;
    return true;
}

bool tts_trainline_shape(struct tts_span text, uint32_t *out)
{
    uint32_t product = 1;
    for (size_t begin = 0; begin <= text.len;) {
        size_t end = begin;
        uint64_t side;
        while (end < text.len && tts_is_digit(text.at[end]))
            end++;
        if (!tts_trainline_count((struct tts_span){text.at + begin, end - begin}, &side) ||
            side == 0 || __builtin_mul_overflow(product, side, &product) ||
            (end < text.len && text.at[end] != 'x'))
            return false;
        begin = end + 1;
    }
    *out = product;
    return true;
}

void tts_trainline_excerpt(char out[TTS_TRAINLINE_EXCERPT], struct tts_span text)
{
    text = tts_span_trim(text);
    size_t len = text.len < TTS_TRAINLINE_EXCERPT ? text.len : TTS_TRAINLINE_EXCERPT - 1;
    for (size_t i = 0; i < len; i++)
        out[i] = text.at[i] >= ' ' && text.at[i] <= '~' ? text.at[i] : '?';
    out[len] = '\0';
}

/* ---- kinds of lines ---- */

static struct tts_span span_between(const char *begin, const char *end)
{
    assert(begin <= end);
    return (struct tts_span){begin, (size_t)(end - begin)};
}

/* Recognizes a label: "--- NAME ---". */

static bool tell_label(struct tts_span text, struct tts_trainline *out)
{
    if (!tts_span_ends(text, " ---"))
        return false;
    const char *end = text.at + text.len - 4;
    const char *at = tts_span_find(text, "--- ");
    if (!at || at + 4 > end || (at > text.at && at[-1] == '-'))
        return false;
    *out = (struct tts_trainline){.kind = TTS_TRAINLINE_LABEL,
                                  .prefix = span_between(text.at, at),
                                  .name = tts_span_trim(span_between(at + 4, end))};
    return true;
}

/* Recognizes the heading of a section: "[NAME] ------". */

static bool tell_section(struct tts_span text, struct tts_trainline *out)
{
    const char *close = tts_span_ends(text, "---") ? tts_span_find(text, "] ---") : NULL;
    if (!close)
        return false;
    for (const char *c = close + 2; c < text.at + text.len; c++)
        if (*c != '-')
            return false;
    const char *open = close;
    while (open > text.at && open[-1] != '[')
        open--;
    if (open == text.at)
        return false;
    *out = (struct tts_trainline){.kind = TTS_TRAINLINE_SECTION,
                                  .prefix = span_between(text.at, open - 1),
                                  .name = span_between(open, close)};
    return true;
}

/* Known words that precede a colon. */

struct words {
    enum tts_trainline_kind kind;
    size_t len; /* length of the words before the colon; 0 if they are not known */
};

static struct words tell_dram_words(struct tts_span behind)
{
    if (tts_span_begins(behind, " Segment Peak"))
        return (struct words){TTS_TRAINLINE_SEGMENT, strlen("DRAM")};
    if (tts_span_begins(behind, " Cumulative Peak"))
        return (struct words){TTS_TRAINLINE_CUMULATIVE, strlen("DRAM")};
    return (struct words){0};
}

/* Recognizes known words that end in "s". */
static struct words tell_parameter_words(struct tts_span before)
{
    static const char *const all[] = {"Model number of parameters", "Number of parameters",
                                      "Total parameters"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (tts_span_ends(before, all[i]))
            return (struct words){TTS_TRAINLINE_PARAMETERS, strlen(all[i])};
    if (tts_span_ends(before, "Predicted DRAM parts"))
        return (struct words){TTS_TRAINLINE_PREDICTED_PARTS, strlen("Predicted DRAM parts")};
    return (struct words){0};
}

static struct words tell_device_words(struct tts_span before)
{
    if (tts_span_ends(before, "Available Device Memory"))
        return (struct words){TTS_TRAINLINE_MEMORY, strlen("Available Device Memory")};
    if (tts_span_ends(before, "Use Kahan summation"))
        return (struct words){TTS_TRAINLINE_KAHAN, strlen("Use Kahan summation")};
    return (struct words){0};
}

/* Recognizes known words before a colon. Their last letter selects the candidates. */
static struct words tell_at_colon(struct tts_span before, struct tts_span behind)
{
    switch (before.len > 0 ? before.at[before.len - 1] : 0) {
    case 'M':
        return tts_span_ends(before, "DRAM") ? tell_dram_words(behind) : (struct words){0};
    case '1':
        if (tts_span_ends(before, "L1") && tts_span_begins(behind, " Peak CB"))
            return (struct words){TTS_TRAINLINE_L1, strlen("L1")};
        return (struct words){0};
    case 'k':
        if (tts_span_ends(before, "Overall DRAM Peak"))
            return (struct words){TTS_TRAINLINE_OVERALL, strlen("Overall DRAM Peak")};
        if (tts_span_ends(before, "Predicted DRAM peak"))
            return (struct words){TTS_TRAINLINE_PREDICTED_PEAK, strlen("Predicted DRAM peak")};
        return (struct words){0};
    case 's':
        return tell_parameter_words(before);
    case 'y':
    case 'n':
        return tell_device_words(before);
    default:
        return (struct words){0};
    }
}

static bool tell_words_with_colon(struct tts_span text, struct tts_trainline *out)
{
    const char *end = text.at + text.len, *at = text.at;
    for (; (at = memchr(at, ':', (size_t)(end - at))) != NULL; at++) {
        struct tts_span before = span_between(text.at, at), behind = span_between(at + 1, end);
        struct words words = tell_at_colon(before, behind);
        if (words.len == 0)
            continue;
        before.len -= words.len;
        *out = (struct tts_trainline){.kind = words.kind, .prefix = before, .value = behind};
        return true;
    }
    return false;
}

/* Recognizes the headings that are written between equal signs. */

static bool tell_rule(struct tts_span text, struct tts_trainline *out)
{
    const char *end = text.at + text.len, *at = text.at;
    for (; (at = memchr(at, '=', (size_t)(end - at))) != NULL; at++) {
        struct tts_span rest = span_between(at, end);
        if (!tts_span_begins(rest, "=== "))
            continue;
        bool is_heading = tts_span_begins(rest, "=== Memory Usage Summary ===");
        if (!is_heading && !tts_span_begins(rest, "=== Final Totals ==="))
            continue;
        *out = (struct tts_trainline){.kind = is_heading ? TTS_TRAINLINE_HEADING
                                                         : TTS_TRAINLINE_TOTALS,
                                      .prefix = span_between(text.at, at)};
        return true;
    }
    return false;
}

static bool tell_no_optimizer(struct tts_span text, struct tts_trainline *out)
{
    const char *at = tts_span_find(text, "Using NoOp optimizer");
    if (!at)
        return false;
    struct tts_span prefix = span_between(text.at, at);
    if (tts_span_ends(prefix, "WARNING: "))
        prefix.len -= strlen("WARNING: ");
    *out = (struct tts_trainline){.kind = TTS_TRAINLINE_NO_OPTIMIZER, .prefix = prefix};
    return true;
}

/* Recognizes the rows of a header, such as "    params  1,100,048,384". */

/* Removes the last column from *text and returns it. Columns are separated by at least two
 * blanks. */
static struct tts_span take_column(struct tts_span *text)
{
    size_t end = text->len, begin = end;
    while (begin > 1 &&
           !(tts_is_blank(text->at[begin - 1]) && tts_is_blank(text->at[begin - 2])))
        begin--;
    if (begin < 2) {
        text->len = 0;
        return (struct tts_span){text->at, end};
    }
    text->len = begin;
    while (text->len > 0 && tts_is_blank(text->at[text->len - 1]))
        text->len--;
    return (struct tts_span){text->at + begin, end - begin};
}

static bool tell_row(struct tts_span text, struct tts_trainline *out)
{
    static const char *const names[] = {"params", "memory", "mesh", "chip", "name"};
    const char *end = text.at + text.len;
    struct tts_span value = take_column(&text);
    if (tts_span_is(value, "MB"))
        value = span_between(take_column(&text).at, end);
    /* At least two blanks separate the prefix from the name. */
    const char *before = text.at + text.len;
    while (before > text.at && !tts_is_blank(before[-1]))
        before--;
    struct tts_span name = span_between(before, text.at + text.len),
                    prefix = span_between(text.at, before);
    if (value.len == 0 || prefix.len < 2 || !tts_is_blank(prefix.at[prefix.len - 2]))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!tts_span_is(name, names[i]))
            continue;
        *out = (struct tts_trainline){
            .kind = TTS_TRAINLINE_ROW, .prefix = prefix, .name = name, .value = value};
        return true;
    }
    return false;
}

void tts_trainline_tell(struct tts_span text, struct tts_trainline *out)
{
    while (text.len > 0 && tts_is_blank(text.at[text.len - 1]))
        text.len--;
    text = tts_logline_without_source(text);
    if (tell_label(text, out) || tell_words_with_colon(text, out) || tell_rule(text, out) ||
        tell_row(text, out) || tell_section(text, out) || tell_no_optimizer(text, out))
        return;
    *out = (struct tts_trainline){.kind = TTS_TRAINLINE_OTHER};
}

/* ---- lines that were wrapped ---- */

/* A terminal or a build server may break a long line into pieces. Pieces are joined only if the
 * result begins like one of the forms below, so no other lines are joined. */

/* The lines that training programs print. In these forms ' ' means one or more blanks, '#' a
 * size with its unit, and '@' the name of a phase. */
static const char *const wrap_forms[] = {
    "DRAM: Segment Peak #, Allocations #, Deallocations #, Segment Change #",
    "DRAM: Cumulative Peak #, Cumulative Current #",
    "L1: Peak CB #, Peak Buffer #, Peak Total #",
    "Overall DRAM Peak: #, Final DRAM Usage: #",
    "Available Device Memory: #",
    "=== Memory Usage Summary ===",
    "=== Final Totals ===",
    "--- @ ---",
};

/* ---- matching a text with a form ---- */

/* Each match_... function matches at *at and moves *at past the match. It returns
 * TTS_TRAINWRAP_PART if the text ends inside the match. */

static enum tts_trainwrap_match match_mb_size(struct tts_span text, size_t *at)
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
        return TTS_TRAINWRAP_PART;
    if (i == digits)
        return TTS_TRAINWRAP_NONE;
    if (text.at[i] == '.')
        for (i++; i < text.len && tts_is_digit(text.at[i]);)
            i++;
    while (i < text.len && tts_is_blank(text.at[i]))
        i++;
    struct tts_span unit = {text.at + i, text.len - i};
    if (unit.len < 2)
        return unit.len == 0 || unit.at[0] == 'M' ? TTS_TRAINWRAP_PART : TTS_TRAINWRAP_NONE;
    *at = i + 2;
    return tts_span_begins(unit, "MB") ? TTS_TRAINWRAP_WHOLE : TTS_TRAINWRAP_NONE;
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Matches the name of a phase, such as "FORWARD_PASS_micro_0". Other programs print lines like
 * "--- Epoch 1 ---", whose names do not match. */
static enum tts_trainwrap_match match_phase_name(struct tts_span text, size_t *at)
{
    size_t i = *at;
    if (!is_capital(text.at[i]) ||
        (i + 1 < text.len && !is_capital(text.at[i + 1]) && text.at[i + 1] != '_'))
        return TTS_TRAINWRAP_NONE;
    while (i < text.len &&
           (tts_is_letter(text.at[i]) || tts_is_digit(text.at[i]) || text.at[i] == '_'))
        i++;
    *at = i;
    return i == text.len ? TTS_TRAINWRAP_PART : TTS_TRAINWRAP_WHOLE;
}

static enum tts_trainwrap_match match_form(const char *form, struct tts_span text)
{
    size_t at = 0;
    for (; *form; form++) {
        enum tts_trainwrap_match match = TTS_TRAINWRAP_WHOLE;
        if (at == text.len)
            return TTS_TRAINWRAP_PART;
        if (*form == '#')
            match = match_mb_size(text, &at);
        else if (*form == '@')
            match = match_phase_name(text, &at);
        else if (*form == ' ' ? !tts_is_blank(text.at[at]) : text.at[at] != *form)
            match = TTS_TRAINWRAP_NONE;
        else
            at++;
        if (match != TTS_TRAINWRAP_WHOLE)
            return match;
        while (*form == ' ' && at < text.len && tts_is_blank(text.at[at]))
            at++;
    }
    return at == text.len ? TTS_TRAINWRAP_WHOLE : TTS_TRAINWRAP_NONE;
}

static enum tts_trainwrap_match match_any_form(struct tts_span text)
{
    for (size_t i = 0; i < sizeof wrap_forms / sizeof wrap_forms[0]; i++) {
        enum tts_trainwrap_match match = match_form(wrap_forms[i], text);
        if (match != TTS_TRAINWRAP_NONE)
            return match;
    }
    return TTS_TRAINWRAP_NONE;
}

/* ---- the first piece ---- */

/* Returns true if the line ends with its last size, so that no piece is missing. Most lines
 * do. */
static bool has_last_size(const struct tts_trainline *line)
{
    static const char *const last[] = {
        [TTS_TRAINLINE_SEGMENT] = "Segment Change",
        [TTS_TRAINLINE_CUMULATIVE] = "Cumulative Current",
        [TTS_TRAINLINE_L1] = "Peak Total",
        [TTS_TRAINLINE_OVERALL] = "Final DRAM Usage",
        [TTS_TRAINLINE_MEMORY] = "",
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

/* Returns the place where a form begins in a line that was not recognized, or NULL. The form
 * must be incomplete. */
static const char *find_form_begin(struct tts_span text, bool is_block)
{
    static const char *const words[] = {
        "=== Memory", "=== Final", "DRAM:", "L1:", "Overall DRAM", "---"};
    size_t count = is_block ? sizeof words / sizeof words[0] : 1;
    for (size_t i = 0; i < count; i++) {
        const char *at = tts_span_find(text, words[i]);
        if (at && match_any_form((struct tts_span){at, text.len - (size_t)(at - text.at)}) ==
                      TTS_TRAINWRAP_PART)
            return at;
    }
    return NULL;
}

bool tts_trainwrap_begin(struct tts_trainwrap *wrap, struct tts_span text,
                         const struct tts_trainline *line, bool is_block)
{
    const char *begin = NULL;
    bool has_sizes = line->kind == TTS_TRAINLINE_SEGMENT ||
                     line->kind == TTS_TRAINLINE_CUMULATIVE || line->kind == TTS_TRAINLINE_L1 ||
                     line->kind == TTS_TRAINLINE_OVERALL || line->kind == TTS_TRAINLINE_MEMORY;
    if (has_sizes) {
        if (has_last_size(line))
            return false;
        text.len = (size_t)(line->value.at + line->value.len - text.at);
        begin = line->prefix.at + line->prefix.len;
    } else if (line->kind == TTS_TRAINLINE_OTHER || line->kind == TTS_TRAINLINE_SECTION) {
        while (text.len > 0 && tts_is_blank(text.at[text.len - 1]))
            text.len--;
        text = tts_logline_without_source(text);
        begin = find_form_begin(text, is_block);
    }
    if (!begin)
        return false;
    size_t prefix = (size_t)(begin - text.at);
    struct tts_span content = {begin, text.len - prefix};
    if (prefix > TTS_TRAINWRAP_PREFIX || content.len > TTS_TRAINWRAP_CONTENT ||
        match_any_form(content) != TTS_TRAINWRAP_PART)
        return false;
    *wrap = (struct tts_trainwrap){.prefix_len = prefix, .len = text.len};
    wrap->is_told = !has_sizes || line->kind == TTS_TRAINLINE_MEMORY;
    memcpy(wrap->text, text.at, text.len);
    return true;
}

/* ---- the following pieces ---- */

/* Adds a piece to the line. The blank between two pieces may be lost, so the function tries to
 * join them without a blank and with one. */
static enum tts_trainwrap_match add_wrap_piece(struct tts_trainwrap *wrap,
                                               struct tts_span piece)
{
    char text[TTS_TRAINWRAP_CONTENT];
    size_t len = wrap->len - wrap->prefix_len;
    if (piece.len == 0 || len + 1 + piece.len > sizeof text)
        return TTS_TRAINWRAP_NONE;
    memcpy(text, wrap->text + wrap->prefix_len, len);
    for (size_t blanks = 0; blanks < 2; blanks++) {
        text[len] = ' ';
        memcpy(text + len + blanks, piece.at, piece.len);
        struct tts_span all = {text, len + blanks + piece.len};
        enum tts_trainwrap_match match = match_any_form(all);
        if (match == TTS_TRAINWRAP_NONE)
            continue;
        memcpy(wrap->text + wrap->prefix_len, text, all.len);
        wrap->len = wrap->prefix_len + all.len;
        assert(wrap->len <= sizeof wrap->text);
        return match;
    }
    return TTS_TRAINWRAP_NONE;
}

static enum tts_trainwrap_match add_wrap_rest(struct tts_trainwrap *wrap, struct tts_span rest)
{
    enum tts_trainwrap_match match = add_wrap_piece(wrap, tts_span_trim(rest));
    if (match != TTS_TRAINWRAP_NONE)
        return match;
    struct tts_span piece = tts_logkey_skip_times(rest);
    match = add_wrap_piece(wrap, tts_span_trim(piece));
    if (match != TTS_TRAINWRAP_NONE)
        return match;
    /* tts_logkey_skip_times() also skips '-', which may belong to the form. */
    while (piece.at > rest.at && piece.at[-1] == '-')
        piece = (struct tts_span){piece.at - 1, piece.len + 1};
    return add_wrap_piece(wrap, tts_span_trim(piece));
}

enum tts_trainwrap_match tts_trainwrap_join(struct tts_trainwrap *wrap, struct tts_span text,
                                            bool is_next, struct tts_logkey *work)
{
    struct tts_span rest;
    if (text.len > TTS_TRAINWRAP_PREFIX + TTS_TRAINWRAP_CONTENT)
        return TTS_TRAINWRAP_NONE;
    text = tts_logline_without_source(text);
    if (tts_logkey_strip(work, (struct tts_span){wrap->text, wrap->prefix_len}, text, &rest)) {
        enum tts_trainwrap_match match = add_wrap_rest(wrap, rest);
        if (match != TTS_TRAINWRAP_NONE)
            return match;
    }
    return is_next ? add_wrap_rest(wrap, text) : TTS_TRAINWRAP_NONE;
}
