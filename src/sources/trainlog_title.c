#include "sources/trainlog_inside.h"

/* ---- what names nothing ---- */

/* Box drawing is no name either: U+2500 to U+257F. */
static bool has_letter(struct tts_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == 0xe2 && i + 2 < text.len &&
            ((unsigned char)text.at[i + 1] == 0x94 || (unsigned char)text.at[i + 1] == 0x95))
            i += 2;
        else if (c >= 0x80 || tts_is_letter(text.at[i]) || tts_is_digit(text.at[i]))
            return true;
    }
    return false;
}

/* "Loss: 10.4", "lr=3e-4". */
static bool has_figure(struct tts_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] != ':' && text.at[i] != '=')
            continue;
        size_t at = i + 1;
        while (at < text.len && tts_is_blank(text.at[at]))
            at++;
        if (at < text.len && (text.at[at] == '-' || text.at[at] == '+'))
            at++;
        if (at < text.len && tts_is_digit(text.at[at]))
            return true;
    }
    return false;
}

static bool is_level(struct tts_span word)
{
    static const char *const levels[] = {"INFO", "DEBUG", "WARNING", "WARN", "ERROR", "TRACE"};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (tts_span_is(word, levels[i]))
            return true;
    return false;
}

/* A level in any case: "info     |", and "[info]" before all else. */
static bool is_field(struct tts_span text, size_t at)
{
    struct tts_span rest = {text.at + at, text.len - at};
    size_t len = tts_logline_level(rest);
    while (len > 0 && len < rest.len && tts_is_blank(rest.at[len]))
        len++;
    if (len == 0 || len == rest.len)
        return false;
    return rest.at[len] == '|' || (rest.at[len] == ']' && at == 1 && text.at[0] == '[');
}

static bool has_level(struct tts_span text)
{
    for (size_t begin = 0; begin < text.len;) {
        size_t end = begin;
        while (end < text.len && tts_is_letter(text.at[end]))
            end++;
        if (is_level((struct tts_span){text.at + begin, end - begin}) || is_field(text, begin))
            return true;
        begin = end + 1;
    }
    return false;
}

/* "      seed  5489": two blanks, a name, two blanks, a value. */
static bool is_row(struct tts_span text)
{
    struct tts_span inside = tts_span_trim(text);
    size_t indent = (size_t)(inside.at - text.at);
    return indent >= 2 && tts_span_find(inside, "  ") != NULL;
}

/* ---- whose line it is ---- */

/* The line without what stands before each line of the rank. */
static bool strip_key(struct tts_trainlog *log, struct tts_span text, struct tts_span *out)
{
    text = tts_logline_without_source(text);
    *out = text;
    if (log->key.len == 0 && log->key.has_time)
        *out = tts_logkey_skip_times(text);
    if (log->key.len == 0)
        return true;
    struct tts_logkey *line = &log->line_key;
    tts_logkey_make(line, text);
    if (line->len < log->key.len || memcmp(line->text, log->key.text, log->key.len) != 0)
        return false;
    size_t at = log->key.len;
    while (at < line->len && (tts_is_blank(line->text[at]) || line->text[at] == '-' ||
                              line->text[at] == '*' || line->text[at] == '|'))
        at++;
    *out = (struct tts_span){line->text + at, line->len - at};
    return true;
}

/* A line of a block of the same rank: what stands before is another's title. */
static bool is_of_block(struct tts_trainlog *log, const struct tts_logline *line)
{
    if (line->kind < TTS_LOGLINE_HEADING || line->kind > TTS_LOGLINE_OVERALL)
        return false;
    tts_logkey_make(&log->line_key, line->prefix);
    return log->line_key.hash == log->key.hash;
}

static bool names(struct tts_span text)
{
    struct tts_span inside = tts_span_trim(text);
    bool is_bar = tts_span_find(inside, "%|") != NULL;
    return inside.len > 0 && inside.at[0] != '#' && has_letter(inside) && !has_figure(inside) &&
           !has_level(inside) && !is_row(text) && !is_bar;
}

/* One pass: the nearest line that names something waits for what stands before it. Below a
 * "[SECTION] ---" it is text of a header, which an empty line ends. */
void tts_trainlog_title(struct tts_trainlog *log, struct tts_span raw,
                        char out[TTS_RUN_TITLE_MAX])
{
    struct tts_span all = tts_logtext_before(&log->text, raw.at, TTS_TRAINLOG_LOOK_BACK);
    struct tts_span text, rest;
    const struct tts_trainlog_rank *rank = tts_trainlog_find_rank(log, log->key.hash);
    uint64_t block_end = rank ? rank->joined_to : 0;
    out[0] = '\0';
    while (tts_logtext_last(&all, &text)) {
        struct tts_logline line;
        uint64_t offset = tts_logtext_offset(&log->text, text.at);
        if (offset < block_end)
            return;
        if (offset >= log->joined_from && offset < log->joined_to)
            continue;
        text = tts_logline_clean(text, log->clean_before);
        tts_logline_tell(text, &line);
        if (is_of_block(log, &line))
            return;
        if (!strip_key(log, text, &rest))
            continue;
        bool is_empty = tts_span_trim(rest).len == 0;
        if (is_empty && out[0] != '\0')
            return;
        if (line.kind == TTS_LOGLINE_SECTION)
            out[0] = '\0';
        else if (line.kind == TTS_LOGLINE_OTHER && out[0] == '\0' && names(rest))
            tts_span_copy(out, TTS_RUN_TITLE_MAX, tts_span_trim(rest));
    }
}
