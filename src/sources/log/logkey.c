/* The key of a rank is the prefix of its lines without the parts that change from line to
 * line. */
#include "sources/log/logkey.h"

#include "base/hash.h"

#include <string.h>
#include <strings.h>

static size_t count_key_digits(struct tts_span text, size_t at)
{
    size_t begin = at;
    while (at < text.len && tts_is_digit(text.at[at]))
        at++;
    return at - begin;
}

static bool is_char_at(struct tts_span text, size_t at, char c)
{
    return at < text.len && text.at[at] == c;
}

static bool is_word_at(struct tts_span text, size_t at)
{
    return at < text.len &&
           (tts_is_digit(text.at[at]) || tts_is_letter(text.at[at]) || text.at[at] == '_');
}

/* Each function below that is named skip_... looks at position `at` for one form of text. It
 * returns the position after that text, or `at` if the text is not there. */

/* Skips a date like "02/27/2026", "02/27/26" or "27.02.2026". */
static size_t skip_short_date(struct tts_span text, size_t at)
{
    char between = is_char_at(text, at + 2, '/') ? '/' : '.';
    if (count_key_digits(text, at) != 2 || !is_char_at(text, at + 2, between) ||
        count_key_digits(text, at + 3) != 2 || !is_char_at(text, at + 5, between))
        return at;
    size_t year = count_key_digits(text, at + 6), end = at + 6 + year;
    bool is_year = year == 4 || (year == 2 && between == '/');
    return is_year && !is_char_at(text, end, between) && !is_word_at(text, end) ? end : at;
}

static size_t skip_date(struct tts_span text, size_t at)
{
    if (count_key_digits(text, at) != 4 || at + 10 > text.len)
        return skip_short_date(text, at);
    char between = text.at[at + 4];
    if ((between != '-' && between != '/') || count_key_digits(text, at + 5) != 2 ||
        text.at[at + 7] != between || count_key_digits(text, at + 8) != 2)
        return at;
    bool is_joined = is_char_at(text, at + 10, 'T') || is_char_at(text, at + 10, '_');
    return at + 10 + (is_joined && count_key_digits(text, at + 11) > 0);
}

static size_t skip_zone(struct tts_span text, size_t at)
{
    if (is_char_at(text, at, 'Z'))
        return at + 1;
    if (!is_char_at(text, at, '+') && !is_char_at(text, at, '-'))
        return at;
    if (count_key_digits(text, at + 1) == 4)
        return at + 5;
    bool is_zone = count_key_digits(text, at + 1) == 2 && is_char_at(text, at + 3, ':') &&
                   count_key_digits(text, at + 4) == 2;
    return is_zone ? at + 6 : at;
}

static size_t skip_clock(struct tts_span text, size_t at)
{
    size_t hours = count_key_digits(text, at), end = at + hours;
    if (hours < 1 || hours > 2 || !is_char_at(text, end, ':') ||
        count_key_digits(text, end + 1) != 2 || !is_char_at(text, end + 3, ':') ||
        count_key_digits(text, end + 4) != 2)
        return at;
    end += 6;
    if ((is_char_at(text, end, '.') || is_char_at(text, end, ',')) &&
        count_key_digits(text, end + 1) > 0)
        end += 1 + count_key_digits(text, end + 1);
    return skip_zone(text, end);
}

/* Skips the unit "s", "ms" or " ms" that follows a number. The unit must be a whole word. */
static size_t skip_time_unit(struct tts_span text, size_t at)
{
    size_t unit = at + (is_char_at(text, at, ' ') && is_char_at(text, at + 1, 'm'));
    unit += is_char_at(text, unit, 'm');
    return is_char_at(text, unit, 's') && !is_word_at(text, unit + 1) ? unit + 1 : at;
}

/* Skips seconds. A number counts as seconds if a unit follows, if it has three or more
 * decimals, or if it has as many digits as the seconds or milliseconds since 1970. Four numbers
 * with points between them are an IP address and do not count. */
static size_t skip_seconds(struct tts_span text, size_t at)
{
    size_t digits = count_key_digits(text, at), end = at + digits, decimals = 0;
    bool is_whole = !is_char_at(text, end, '.');
    if (!is_whole) {
        decimals = count_key_digits(text, end + 1);
        end += 1 + decimals;
    }
    size_t unit = skip_time_unit(text, end);
    if (digits > 0 && (is_whole || decimals > 0) && unit > end)
        return unit;
    bool is_long = is_whole ? (digits == 10 || digits == 13) && text.at[at] == '1'
                            : digits > 0 && decimals >= 3;
    return !is_long || is_char_at(text, end, '.') || is_word_at(text, end) ? at : end;
}

static size_t skip_time(struct tts_span text, size_t at)
{
    size_t end = skip_date(text, at);
    end = end > at ? end : skip_clock(text, at);
    return end > at ? end : skip_seconds(text, at);
}

/* Skips one of the three-letter names in `all`, and the blanks after the name. */
static size_t skip_short_name(struct tts_span text, size_t at, const char *all)
{
    if (at + 4 > text.len || text.at[at + 3] != ' ')
        return at;
    for (; *all; all += 3) {
        if (memcmp(text.at + at, all, 3) != 0)
            continue;
        for (at += 4; is_char_at(text, at, ' ');)
            at++;
        break;
    }
    return at;
}

/* Skips "Feb 27" or "Fri Feb 27 10:00:00 2026". Also skips "I0227" (a level and a date) if a
 * time follows. */
static size_t skip_named_date(struct tts_span text, size_t at)
{
    if (memchr("IWEF", text.at[at], 4) && count_key_digits(text, at + 1) == 4 &&
        is_char_at(text, at + 5, ' ') && skip_clock(text, at + 6) > at + 6)
        return at + 5;
    size_t month = skip_short_name(text, at, "MonTueWedThuFriSatSun");
    size_t day = skip_short_name(text, month, "JanFebMarAprMayJunJulAugSepOctNovDec");
    size_t digits = count_key_digits(text, day), end = day + digits;
    if (day == month || digits < 1 || digits > 2 || is_word_at(text, end))
        return at;
    size_t clock = end + is_char_at(text, end, ' '), behind = skip_clock(text, clock);
    if (behind == clock)
        return end;
    bool has_year = is_char_at(text, behind, ' ') && count_key_digits(text, behind + 1) == 4 &&
                    !is_word_at(text, behind + 5);
    return has_year ? behind + 5 : behind;
}

static bool begins_log_word(struct tts_span text, size_t at)
{
    return at == 0 || (!is_word_at(text, at - 1) && text.at[at - 1] != '.');
}

/* Skips a date, a time, or a date with a time. */
static size_t skip_any_time(struct tts_span text, size_t at)
{
    if (at == text.len || !begins_log_word(text, at))
        return at;
    if (tts_is_letter(text.at[at]))
        return skip_named_date(text, at);
    if (!tts_is_digit(text.at[at]))
        return at;
    size_t end = skip_time(text, at);
    return end > at ? skip_clock(text, end)
                    : at; /* a time may follow its date without a blank */
}

/* Returns the beginning of the name that ends before `at`, or `at` if no name ends there. A
 * name consists of letters, digits, '_' and '.'. */
static size_t find_name_begin(struct tts_span text, size_t at)
{
    size_t begin = at;
    while (begin > 0 && (is_word_at(text, begin - 1) || text.at[begin - 1] == '.'))
        begin--;
    return begin < at && tts_is_digit(text.at[begin]) ? at : begin;
}

/* Returns true if "module:function" ends at `at` and " - " or " | " begins at `behind`, after
 * the line number. */
static bool is_function_name(struct tts_span text, size_t at, size_t behind)
{
    if (!is_char_at(text, behind, ' ') ||
        (!is_char_at(text, behind + 1, '-') && !is_char_at(text, behind + 1, '|')))
        return false;
    size_t function = find_name_begin(text, at);
    if (function == at || function == 0 || text.at[function - 1] != ':')
        return false;
    size_t module = find_name_begin(text, function - 1);
    return module < function - 1 && (module == 0 || tts_is_blank(text.at[module - 1]));
}

static bool is_source_file(struct tts_span name)
{
    static const char *const sources[] = {".py",  ".cpp", ".cc", ".c",  ".cxx",
                                          ".hpp", ".h",   ".rs", ".go", ".pyx"};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (tts_span_ends(name, sources[i]))
            return true;
    return false;
}

/* Skips the line number of a reference to source code: ":87" in "train.py:87". */
static size_t skip_source_line(struct tts_span text, size_t at)
{
    size_t digits = text.at[at] == ':' ? count_key_digits(text, at + 1) : 0;
    size_t end = at + 1 + digits;
    if (digits == 0 || is_word_at(text, end))
        return at;
    bool is_line =
        is_source_file((struct tts_span){text.at, at}) || is_function_name(text, at, end);
    return is_line ? end : at;
}

struct tts_span tts_logline_without_source(struct tts_span text)
{
    size_t end = text.len;
    while (end > 0 && tts_is_blank(text.at[end - 1]))
        end--;
    bool is_inside = end > 0 && text.at[end - 1] == ')';
    size_t digit = end - is_inside, begin = digit;
    while (begin > 0 && tts_is_digit(text.at[begin - 1]))
        begin--;
    if (begin == digit || begin == 0 || text.at[begin - 1] != ':' ||
        !is_source_file((struct tts_span){text.at, begin - 1}))
        return text;
    while (begin > 0 && !tts_is_blank(text.at[begin - 1]))
        begin--;
    if (begin == 0 || (text.at[begin] == '(') != is_inside)
        return text;
    while (begin > 0 && tts_is_blank(text.at[begin - 1]))
        begin--;
    return (struct tts_span){text.at, begin};
}

/* ---- the key ---- */

static bool is_edge_char(char c)
{
    return tts_is_blank(c) || c == '-' || c == '*' || c == '|';
}

static struct tts_span trim_edges(struct tts_span text)
{
    while (text.len > 0 && is_edge_char(text.at[text.len - 1]))
        text.len--;
    while (text.len > 0 && is_edge_char(text.at[0])) {
        text.at++;
        text.len--;
    }
    return text;
}

/* Adds a character to the key. Repeated blanks become one blank, and a pair of brackets left
 * empty by the removal of a time is removed. */
static void add_key_char(struct tts_logkey *key, char c)
{
    size_t len = key->len;
    bool has_blank = len > 0 && key->text[len - 1] == ' ';
    char before = len > has_blank ? key->text[len - 1 - has_blank] : 0;
    if (tts_is_blank(c)) {
        if (!has_blank)
            key->text[key->len++] = ' ';
    } else if ((c == ']' && before == '[') || (c == ')' && before == '(')) {
        key->len -= 1 + has_blank;
    } else {
        key->text[key->len++] = c;
    }
}

/* Removes the progress bar that a program may print before its output: "  5%|##   | 5/100
 * [00:01<00:10]". */
static struct tts_span key_before_bar(struct tts_span prefix)
{
    const char *bar = tts_span_find(prefix, "%|");
    if (!bar)
        return prefix;
    prefix.len = (size_t)(bar - prefix.at);
    while (prefix.len > 0 && tts_is_digit(prefix.at[prefix.len - 1]))
        prefix.len--;
    return prefix;
}

/* Removes the brackets of "[rank 0]:" and of "[1,0]<stdout>:". Returns other texts
 * unchanged. */
static struct tts_span key_without_brackets(struct tts_span text)
{
    struct tts_span inside = text;
    inside.len -= tts_span_ends(inside, ":");
    if (tts_span_ends(inside, "]<stdout>") || tts_span_ends(inside, "]<stderr>"))
        inside.len -= strlen("<stdout>");
    if (inside.len < 3 || inside.at[0] != '[' ||
        memchr(inside.at, ']', inside.len) != inside.at + inside.len - 1)
        return text;
    return (struct tts_span){inside.at + 1, inside.len - 2};
}

/* Returns true if a number in this text probably is the number of a rank. */
static bool is_rank_word(struct tts_span text)
{
    return key_without_brackets(text).len != text.len || tts_span_find(text, "rank") ||
           tts_span_find(text, "Rank") || tts_span_find(text, "RANK");
}

static uint64_t hash_folded(struct tts_span text)
{
    uint64_t hash = TTS_FNV1A64_INIT;
    for (size_t i = 0; i < text.len; i++) {
        char c = tts_is_digit(text.at[i]) ? '0' : text.at[i];
        bool is_more = c == '0' && i > 0 && tts_is_digit(text.at[i - 1]);
        if (!is_more && !tts_is_blank(c))
            hash = tts_fnv1a64_text(hash, &c, 1);
    }
    return hash;
}

void tts_logkey_make(struct tts_logkey *key, struct tts_span prefix)
{
    key->len = 0;
    key->has_time = false;
    key->hash = key->folded = TTS_FNV1A64_INIT;
    prefix = key_before_bar(prefix);
    if (trim_edges(prefix).len == 0)
        return;
    for (size_t at = 0; at < prefix.len;) {
        size_t end = skip_any_time(prefix, at);
        end = end > at ? end : skip_source_line(prefix, at);
        key->has_time = key->has_time || end > at;
        if (end == at)
            add_key_char(key, prefix.at[end++]);
        at = end;
    }
    struct tts_span left = trim_edges((struct tts_span){key->text, key->len});
    memmove(key->text, left.at, left.len);
    key->len = left.len;
    left.at = key->text;
    key->hash = tts_fnv1a64_text(key->hash, left.at, left.len);
    key->folded = is_rank_word(left) ? key->hash : hash_folded(left);
}

bool tts_logkey_strip(struct tts_logkey *work, struct tts_span prefix, struct tts_span text,
                      struct tts_span *rest)
{
    char wanted[TTS_LOGKEY_STRIP_MAX];
    tts_logkey_make(work, prefix);
    size_t len = work->len;
    if (len == 0 || len > sizeof wanted)
        return false;
    memcpy(wanted, work->text, len);
    work->len = 0;
    for (size_t at = 0; at < text.len;) {
        size_t end = skip_any_time(text, at);
        end = end > at ? end : skip_source_line(text, at);
        if (end == at)
            add_key_char(work, text.at[end++]);
        at = end;
        struct tts_span left = trim_edges((struct tts_span){work->text, work->len});
        bool is_inside = is_word_at(text, at) && is_word_at(text, at - 1);
        if (left.len != len || is_inside || memcmp(left.at, wanted, len) != 0)
            continue;
        *rest = (struct tts_span){text.at + at, text.len - at};
        return true;
    }
    return false;
}

/* ---- parts that name no rank: processes, and words of loggers ---- */

/* Returns true if a word can begin after the byte at `at`, or end before it: a blank, a
 * bracket, '|', a character of `more`, or the end of the text. */
static bool is_border_char(struct tts_span text, size_t at, const char *more)
{
    return at >= text.len || tts_is_blank(text.at[at]) || strchr("[]()|", text.at[at]) ||
           (text.at[at] != '\0' && strchr(more, text.at[at]));
}

static bool begins_key_token(struct tts_span text, size_t at)
{
    return at == 0 || is_border_char(text, at - 1, "<,");
}

/* Returns true if a number at `at` is TTS_LOGKEY_RANKS or more: it is a process id, not a
 * rank. */
static bool is_process_number(struct tts_span text, size_t at)
{
    uint32_t number = 0;
    size_t digits = count_key_digits(text, at);
    for (size_t i = 0; i < digits && number < TTS_LOGKEY_RANKS; i++)
        number = number * 10 + (uint32_t)(text.at[at + i] - '0');
    return number >= TTS_LOGKEY_RANKS;
}

static bool is_key_word(struct tts_span text, size_t at, const char *word)
{
    size_t len = strlen(word);
    return at + len <= text.len && strncasecmp(text.at + at, word, len) == 0;
}

/* Skips a named process or thread: "pid=230", "pid 4711" or "tid:1", and a comma after it. */
static size_t skip_named_process(struct tts_span text, size_t at)
{
    if (!begins_key_token(text, at) ||
        (!is_key_word(text, at, "pid") && !is_key_word(text, at, "tid")))
        return at;
    size_t number = at + 3;
    while (number < text.len && strchr(" =:#", text.at[number]) && text.at[number] != '\0')
        number++;
    size_t end = number + count_key_digits(text, number);
    if (number == at + 3 || end == number || is_word_at(text, end))
        return at;
    return end + is_char_at(text, end, ',');
}

/* Skips a process id: "12345" alone, or the number in "train[12345]" or "[host:12345]".
 * `before` is the last character kept before the number, 0 if there is none. */
static size_t skip_process_number(struct tts_span text, size_t at, char before)
{
    bool is_index = at > 0 && text.at[at] == '[' && is_word_at(text, at - 1);
    bool is_port = at > 0 && text.at[at] == ':' && is_word_at(text, at - 1);
    size_t number = at + (is_index || is_port), end = number + count_key_digits(text, number);
    if (!is_process_number(text, number))
        return at;
    if (is_index || is_port)
        return is_char_at(text, end, ']') ? end + is_index : at;
    bool is_alone = begins_key_token(text, at) && is_border_char(text, end, ":") &&
                    (before == 0 || strchr("[(|", before));
    return is_alone ? end : at;
}

/* Skips "prterun-HOST-12345@", which newer versions of mpirun print before "1,0". */
static size_t skip_launcher(struct tts_span text, size_t at)
{
    if (!begins_key_token(text, at) || !is_key_word(text, at, "prterun-"))
        return at;
    size_t end = at;
    while (!is_border_char(text, end, "@,"))
        end++;
    return is_char_at(text, end, '@') ? end + 1 : at;
}

size_t tts_logline_level(struct tts_span text)
{
    static const char *const levels[] = {"info",  "debug",    "warning", "warn",   "error",
                                         "trace", "critical", "fatal",   "notice", NULL};
    for (size_t i = 0; levels[i]; i++) {
        size_t len = strlen(levels[i]);
        if (is_key_word(text, 0, levels[i]) && is_border_char(text, len, ":,"))
            return len;
    }
    return 0;
}

/* Skips a level, such as "INFO", or a level and the name of a logger, such as "INFO:root:". */
static size_t skip_level(struct tts_span text, size_t at)
{
    struct tts_span rest = {text.at + at, text.len - at};
    size_t end = begins_key_token(text, at) ? at + tts_logline_level(rest) : at;
    if (end == at || !is_char_at(text, end, ':'))
        return end;
    size_t name = end + 1;
    while (name < text.len &&
           (tts_is_letter(text.at[name]) || text.at[name] == '_' || text.at[name] == '.'))
        name++;
    return name > end + 1 && is_char_at(text, name, ':') ? name + 1 : end;
}

static size_t skip_source_name(struct tts_span text, size_t at)
{
    size_t end = at;
    if (!begins_key_token(text, at))
        return at;
    while (!is_border_char(text, end, ":,"))
        end++;
    return end > at && is_source_file((struct tts_span){text.at + at, end - at}) ? end : at;
}

/* Returns true if the character at `at` separates two fields: '|', or '-' between blanks. */
static bool is_field_end(struct tts_span text, size_t at)
{
    bool is_dash = is_char_at(text, at, '-') && (at == 0 || tts_is_blank(text.at[at - 1])) &&
                   (at + 1 == text.len || tts_is_blank(text.at[at + 1]));
    return is_char_at(text, at, '|') || is_dash;
}

/* Skips the name of a logger, which is a whole field without digits: "Always" in "info |
 * Always", "train" in "train - INFO". The name of a rank would have a number. */
static size_t skip_logger_name(struct tts_span text, size_t at)
{
    size_t begin = at, end = at;
    while (begin > 0 && tts_is_blank(text.at[begin - 1]))
        begin--;
    bool is_behind = begin > 0 && is_field_end(text, begin - 1);
    if (!is_behind && begin > 0 && text.at[begin - 1] != '[')
        return at;
    while (end < text.len && (tts_is_letter(text.at[end]) || memchr("_.:", text.at[end], 3)))
        end++;
    size_t after = end;
    while (after < text.len && tts_is_blank(text.at[after]))
        after++;
    bool is_before = is_field_end(text, after);
    bool is_whole = is_before || after == text.len || text.at[after] == ']';
    return is_whole && (is_before || is_behind) ? end : at;
}

static bool has_key_level(struct tts_span text)
{
    for (size_t at = 0; at < text.len; at++)
        if (skip_level(text, at) > at)
            return true;
    return false;
}

/* ---- the name of a rank for the user ---- */

/* Skips a part that cannot name a rank. `left` holds the characters kept so far. */
static size_t skip_no_rank(struct tts_span text, size_t at, const struct tts_logkey *left,
                           bool is_logger)
{
    struct tts_span kept = tts_span_trim((struct tts_span){left->text, left->len});
    char before = kept.len > 0 ? kept.at[kept.len - 1] : 0;
    size_t end = skip_named_process(text, at);
    end = end > at ? end : skip_process_number(text, at, before);
    end = end > at ? end : skip_launcher(text, at);
    end = end > at ? end : skip_level(text, at);
    end = end > at ? end : skip_source_name(text, at);
    return end > at || !is_logger ? end : skip_logger_name(text, at);
}

/* Adds a character to the name. `is_gap` is true if a part before the character was removed.
 * Then a '|' that directly follows another '|', and the blanks before a closing bracket, are
 * dropped. */
static void add_shown_char(struct tts_logkey *left, char c, bool is_gap)
{
    struct tts_span kept = tts_span_trim((struct tts_span){left->text, left->len});
    if (is_gap && c == '|' && tts_span_ends(kept, "|"))
        return;
    if (is_gap && (c == ']' || c == ')'))
        left->len = (size_t)(kept.at + kept.len - left->text);
    add_key_char(left, c);
}

/* Removes punctuation around the name, as in "| rank 0, |" or "(Worker)". */
static struct tts_span tidy_shown_name(struct tts_span text)
{
    for (size_t len = text.len + 1; text.len < len;) {
        len = text.len;
        text = trim_edges(text);
        if (tts_span_begins(text, "]"))
            text = (struct tts_span){text.at + 1, text.len - 1};
        text.len -= tts_span_ends(text, ",") || tts_span_ends(text, " :");
        text.len -= tts_span_ends(text, "]") && !memchr(text.at, '[', text.len);
        if (text.len > 2 && text.at[0] == '(' &&
            memchr(text.at, ')', text.len) == text.at + text.len - 1)
            text = (struct tts_span){text.at + 1, text.len - 2};
        text = key_without_brackets(text);
    }
    return text;
}

void tts_logkey_show(const struct tts_logkey *key, bool is_folded, char *out, size_t capacity)
{
    struct tts_logkey left = {.len = 0};
    struct tts_span all = {key->text, key->len};
    bool has_word = false, is_less = is_folded, is_gap = false, is_logger = has_key_level(all);
    for (size_t at = 0; at < all.len;) {
        char c = all.at[at];
        size_t end = skip_no_rank(all, at, &left, is_logger);
        if (end > at || (is_folded && tts_is_digit(c))) {
            is_gap = is_less = true;
            at = end > at ? end : at + 1;
            continue;
        }
        add_shown_char(&left, c, is_gap);
        is_gap = is_gap && (tts_is_blank(c) || c == '|');
        has_word = has_word || is_word_at(all, at) || (unsigned char)c >= 0x80;
        at++;
    }
    struct tts_span text = tidy_shown_name((struct tts_span){left.text, left.len});
    if (is_less && !has_word)
        text.len = 0;
    while (is_folded && text.len > 0 && text.at[text.len - 1] == ':')
        text.len--;
    tts_span_copy(out, capacity, text);
}

struct tts_span tts_logkey_skip_times(struct tts_span text)
{
    for (size_t at = 0;;) {
        while (at < text.len && is_edge_char(text.at[at]))
            at++;
        char open = at < text.len ? text.at[at] : '\0';
        bool is_inside = open == '[' || open == '(';
        size_t begin = at + is_inside;
        while (is_inside && is_char_at(text, begin, ' '))
            begin++;
        size_t end = skip_any_time(text, begin), clock = end + is_char_at(text, end, ' ');
        if (end > begin && skip_any_time(text, clock) > clock)
            end = skip_any_time(text, clock);
        if (end == begin || (is_inside && !is_char_at(text, end, open == '[' ? ']' : ')')))
            return (struct tts_span){text.at + at, text.len - at};
        at = end + is_inside;
    }
}

/* ---- the prefix of any line ---- */

/* The fields that a prefix has so far. */
struct fields {
    struct tts_span rank;
    bool has_time, has_level, has_logger;
};

/* Skips the name of a rank: "rank 3", "rank3" or "Rank: 3". */
static size_t skip_rank(struct tts_span text, size_t at)
{
    if (!begins_key_token(text, at) || !is_key_word(text, at, "rank"))
        return at;
    size_t number = at + strlen("rank");
    while (number < text.len && number < at + 6 && memchr(" =:#_-", text.at[number], 6))
        number++;
    size_t end = number + count_key_digits(text, number);
    return end == number || is_word_at(text, end) ? at : end;
}

/* Skips a reference to source code: "train.py:87" or "__main__:main:82". */
static size_t skip_source_reference(struct tts_span text, size_t at)
{
    size_t end = at, colon = at;
    for (; is_word_at(text, end) || is_char_at(text, end, '.') || is_char_at(text, end, ':');
         end++)
        if (text.at[end] == ':' && count_key_digits(text, end + 1) > 0)
            colon = end;
    return colon > at && skip_source_line(text, colon) > colon ? skip_source_line(text, colon)
                                                               : at;
}

/* Skips one known part inside brackets, or one separator. */
static size_t skip_known_part(struct tts_span text, size_t at, struct fields *fields)
{
    size_t end = skip_rank(text, at);
    if (end > at && fields->rank.len == 0)
        fields->rank = (struct tts_span){text.at + at, end - at};
    end = end > at ? end : skip_any_time(text, at);
    if (end == at && begins_key_token(text, at))
        end += tts_logline_level((struct tts_span){text.at + at, text.len - at});
    end = end > at ? end : skip_named_process(text, at);
    end = end > at ? end : skip_process_number(text, at, 0);
    end = end > at ? end : skip_source_reference(text, at);
    return end > at || !memchr(" ,:|-", text.at[at], 5) ? end : at + 1;
}

/* Returns true if the text consists of digits and commas. mpirun and other launchers print such
 * lists of numbers in brackets before a colon. */
static bool is_number_list(struct tts_span text)
{
    size_t at = 0;
    while (at < text.len && (tts_is_digit(text.at[at]) || text.at[at] == ','))
        at++;
    return at > 0 && at == text.len;
}

static bool has_named_process(struct tts_span text)
{
    for (size_t at = 0; at < text.len; at++)
        if (skip_named_process(text, at) > at)
            return true;
    return false;
}

/* Returns true for a host and a process id, like "host7:4242". */
static bool is_host_process(struct tts_span text)
{
    const char *colon = memchr(text.at, ':', text.len);
    size_t number = colon ? (size_t)(colon - text.at) + 1 : 0;
    return number > 1 && is_process_number(text, number) &&
           number + count_key_digits(text, number) == text.len;
}

static bool is_bracket_group(struct tts_span inside, bool is_tagged, struct fields *fields)
{
    if (is_tagged && is_number_list(inside)) {
        fields->rank = inside;
        return true;
    }
    for (size_t at = 0; at < inside.len;) {
        size_t end = skip_known_part(inside, at, fields);
        if (end == at)
            return has_named_process(inside) || is_host_process(inside);
        at = end;
    }
    return inside.len > 0;
}

/* Skips a group in brackets: "[rank0]", "[1,0]<stdout>", "(Worker pid=230)" or "[
 * 12.345678]". */
static size_t skip_bracket_group(struct tts_span text, size_t at, struct fields *fields)
{
    const char close = is_char_at(text, at, '[') ? ']' : ')';
    if (!is_char_at(text, at, '[') && !is_char_at(text, at, '('))
        return at;
    const char *end = memchr(text.at + at, close, text.len - at);
    if (!end)
        return at;
    size_t after = (size_t)(end - text.at) + 1;
    struct tts_span rest = {end + 1, text.len - after};
    bool has_stream = tts_span_begins(rest, "<stdout>") || tts_span_begins(rest, "<stderr>");
    struct tts_span inside = {text.at + at + 1, after - at - 2};
    struct fields found = *fields;
    if (!is_bracket_group(inside, has_stream || is_char_at(text, after, ':'), &found))
        return at;
    *fields = found;
    return after + (has_stream ? strlen("<stdout>") : 0);
}

static size_t skip_key_blanks(struct tts_span text, size_t at)
{
    while (at < text.len && tts_is_blank(text.at[at]))
        at++;
    return at;
}

/* Returns true if a field of the prefix ends at `end`, because ':', ']', '|' or a '-' between
 * blanks follows. Without such a character the word may be content. */
static bool ends_field(struct tts_span text, size_t end)
{
    return is_char_at(text, end, ':') || is_char_at(text, end, ']') ||
           is_field_end(text, skip_key_blanks(text, end));
}

/* Skips the name of a logger that has a level before or after it: "Always" in "Always | INFO",
 * "my_trainer" in "my_trainer - INFO". */
static size_t skip_logger_field(struct tts_span text, size_t at, const struct fields *fields)
{
    size_t end = at;
    while (end < text.len && (tts_is_letter(text.at[end]) || memchr("_.:", text.at[end], 3)))
        end++;
    size_t bar = skip_key_blanks(text, end);
    if (end == at || fields->has_logger || !is_field_end(text, bar))
        return at;
    size_t level = skip_key_blanks(text, bar + 1);
    return fields->has_level || skip_level(text, level) > level ? end : at;
}

static size_t skip_key_field(struct tts_span text, size_t at, struct fields *fields)
{
    size_t end = skip_any_time(text, at);
    if (end > at) {
        fields->has_time = true;
        return end;
    }
    end = skip_bracket_group(text, at, fields);
    if (end > at)
        return end;
    end = skip_level(text, at);
    if (end > at && (fields->has_time || text.at[end - 1] == ':' || ends_field(text, end))) {
        fields->has_level = true;
        return end;
    }
    end = skip_rank(text, at);
    if (end > at && ends_field(text, end)) {
        fields->rank = (struct tts_span){text.at + at, end - at};
        return end;
    }
    end = fields->has_time ? skip_process_number(text, at, 0) : at;
    end = end > at ? end : skip_source_reference(text, at);
    if (end > at)
        return end;
    end = skip_logger_field(text, at, fields);
    fields->has_logger |= end > at;
    return end;
}

void tts_logkey_split(struct tts_span line, struct tts_span *prefix, struct tts_span *rank,
                      struct tts_span *rest)
{
    struct fields fields = {.rank = {line.at, 0}};
    size_t end = 0;
    for (;;) {
        size_t at = skip_key_blanks(line, end), next = at < line.len ? at : end;
        if (at < line.len)
            next = skip_key_field(line, at, &fields);
        if (next <= at)
            break;
        end = next + (is_char_at(line, next, ':') || is_char_at(line, next, ']') ||
                      is_char_at(line, next, ','));
        size_t bar = skip_key_blanks(line, end);
        if (is_field_end(line, bar))
            end = bar + 1;
    }
    end += end > 0 && end < line.len && tts_is_blank(line.at[end]);
    *prefix = (struct tts_span){line.at, end};
    *rank = fields.rank;
    *rest = (struct tts_span){line.at + end, line.len - end};
}
