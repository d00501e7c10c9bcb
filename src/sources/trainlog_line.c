#include "sources/trainlog_inside.h"

#include <assert.h>

static struct tts_span between(const char *begin, const char *end)
{
    assert(begin <= end);
    return (struct tts_span){begin, (size_t)(end - begin)};
}

/* ---- "--- NAME ---" ---- */

static bool tell_label(struct tts_span text, struct tts_logline *out)
{
    if (!tts_span_ends(text, " ---"))
        return false;
    const char *end = text.at + text.len - 4;
    const char *at = tts_span_find(text, "--- ");
    if (!at || at + 4 > end || (at > text.at && at[-1] == '-'))
        return false;
    *out = (struct tts_logline){.kind = TTS_LOGLINE_LABEL,
                                .prefix = between(text.at, at),
                                .name = tts_span_trim(between(at + 4, end))};
    return true;
}

/* ---- "[NAME] ------" ---- */

static bool tell_section(struct tts_span text, struct tts_logline *out)
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
    *out = (struct tts_logline){.kind = TTS_LOGLINE_SECTION,
                                .prefix = between(text.at, open - 1),
                                .name = between(open, close)};
    return true;
}

/* ---- words with a colon ---- */

struct words {
    enum tts_logline_kind kind;
    size_t len; /* of what stands before the colon; 0: it is nothing */
};

static struct words tell_dram(struct tts_span behind)
{
    if (tts_span_begins(behind, " Segment Peak"))
        return (struct words){TTS_LOGLINE_SEGMENT, strlen("DRAM")};
    if (tts_span_begins(behind, " Cumulative Peak"))
        return (struct words){TTS_LOGLINE_CUMULATIVE, strlen("DRAM")};
    return (struct words){0};
}

/* Of words that end in "s". */
static struct words tell_parameters(struct tts_span before)
{
    static const char *const all[] = {"Model number of parameters", "Number of parameters",
                                      "Total parameters"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (tts_span_ends(before, all[i]))
            return (struct words){TTS_LOGLINE_PARAMETERS, strlen(all[i])};
    if (tts_span_ends(before, "Predicted DRAM parts"))
        return (struct words){TTS_LOGLINE_PREDICTED_PARTS, strlen("Predicted DRAM parts")};
    return (struct words){0};
}

static struct words tell_device(struct tts_span before)
{
    if (tts_span_ends(before, "Available Device Memory"))
        return (struct words){TTS_LOGLINE_MEMORY, strlen("Available Device Memory")};
    if (tts_span_ends(before, "Use Kahan summation"))
        return (struct words){TTS_LOGLINE_KAHAN, strlen("Use Kahan summation")};
    return (struct words){0};
}

/* By the letter before the colon. */
static struct words tell_at_colon(struct tts_span before, struct tts_span behind)
{
    switch (before.len > 0 ? before.at[before.len - 1] : 0) {
    case 'M':
        return tts_span_ends(before, "DRAM") ? tell_dram(behind) : (struct words){0};
    case '1':
        if (tts_span_ends(before, "L1") && tts_span_begins(behind, " Peak CB"))
            return (struct words){TTS_LOGLINE_L1, strlen("L1")};
        return (struct words){0};
    case 'k':
        if (tts_span_ends(before, "Overall DRAM Peak"))
            return (struct words){TTS_LOGLINE_OVERALL, strlen("Overall DRAM Peak")};
        if (tts_span_ends(before, "Predicted DRAM peak"))
            return (struct words){TTS_LOGLINE_PREDICTED_PEAK, strlen("Predicted DRAM peak")};
        return (struct words){0};
    case 's':
        return tell_parameters(before);
    case 'y':
    case 'n':
        return tell_device(before);
    default:
        return (struct words){0};
    }
}

static bool tell_words(struct tts_span text, struct tts_logline *out)
{
    const char *end = text.at + text.len, *at = text.at;
    for (; (at = memchr(at, ':', (size_t)(end - at))) != NULL; at++) {
        struct tts_span before = between(text.at, at), behind = between(at + 1, end);
        struct words words = tell_at_colon(before, behind);
        if (words.len == 0)
            continue;
        before.len -= words.len;
        *out = (struct tts_logline){.kind = words.kind, .prefix = before, .value = behind};
        return true;
    }
    return false;
}

/* ---- words between equal signs, and one without anything ---- */

static bool tell_rule(struct tts_span text, struct tts_logline *out)
{
    const char *end = text.at + text.len, *at = text.at;
    for (; (at = memchr(at, '=', (size_t)(end - at))) != NULL; at++) {
        struct tts_span rest = between(at, end);
        if (!tts_span_begins(rest, "=== "))
            continue;
        bool is_heading = tts_span_begins(rest, "=== Memory Usage Summary ===");
        if (!is_heading && !tts_span_begins(rest, "=== Final Totals ==="))
            continue;
        *out =
            (struct tts_logline){.kind = is_heading ? TTS_LOGLINE_HEADING : TTS_LOGLINE_TOTALS,
                                 .prefix = between(text.at, at)};
        return true;
    }
    return false;
}

static bool tell_no_optimizer(struct tts_span text, struct tts_logline *out)
{
    const char *at = tts_span_find(text, "Using NoOp optimizer");
    if (!at)
        return false;
    struct tts_span prefix = between(text.at, at);
    if (tts_span_ends(prefix, "WARNING: "))
        prefix.len -= strlen("WARNING: ");
    *out = (struct tts_logline){.kind = TTS_LOGLINE_NO_OPTIMIZER, .prefix = prefix};
    return true;
}

/* ---- rows of a header: "    params  1,100,048,384" ---- */

/* The part of `text` behind the last two blanks, which becomes what is before them. */
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

static bool tell_row(struct tts_span text, struct tts_logline *out)
{
    static const char *const names[] = {"params", "memory", "mesh", "chip", "name"};
    const char *end = text.at + text.len;
    struct tts_span value = take_column(&text);
    if (tts_span_is(value, "MB"))
        value = between(take_column(&text).at, end);
    /* Behind the prefix there are two blanks or more. */
    const char *before = text.at + text.len;
    while (before > text.at && !tts_is_blank(before[-1]))
        before--;
    struct tts_span name = between(before, text.at + text.len),
                    prefix = between(text.at, before);
    if (value.len == 0 || prefix.len < 2 || !tts_is_blank(prefix.at[prefix.len - 2]))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!tts_span_is(name, names[i]))
            continue;
        *out = (struct tts_logline){
            .kind = TTS_LOGLINE_ROW, .prefix = prefix, .name = name, .value = value};
        return true;
    }
    return false;
}

void tts_logline_tell(struct tts_span text, struct tts_logline *out)
{
    while (text.len > 0 && tts_is_blank(text.at[text.len - 1]))
        text.len--;
    text = tts_logline_without_source(text);
    if (tell_label(text, out) || tell_words(text, out) || tell_rule(text, out) ||
        tell_row(text, out) || tell_section(text, out) || tell_no_optimizer(text, out))
        return;
    *out = (struct tts_logline){.kind = TTS_LOGLINE_OTHER};
}
