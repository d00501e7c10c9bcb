/* Reads bytes as a budget. A refused budget has a message and a line of the text, and changes
 * nothing. An accepted budget has a limit and lines of the text, and is the same when it is
 * written and read back. */
#include "sources/config/budgetfile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { TEXT_BYTES = 256 * 1024 };

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* Returns an upper bound for the number of lines: the largest result of any way to count line
 * ends. */
static uint32_t lines_at_most(const uint8_t *bytes, size_t len)
{
    uint32_t lines = 1;
    for (size_t i = 0; i < len; i++)
        lines += bytes[i] == '\n' || bytes[i] == '\r';
    return lines;
}

static void check_error(const struct tts_error *err, enum tts_status status, uint32_t lines)
{
    if (status != TTS_E_SYNTAX && status != TTS_E_NOT_FOUND && status != TTS_E_RANGE &&
        status != TTS_E_INVALID)
        stop("a status of another kind", err->text);
    if (err->status != status || err->text[0] == '\0' || err->line == 0 || err->line > lines)
        stop("an error without words or place", err->text);
    for (const char *c = err->text; *c; c++)
        if (*c < ' ' || *c > '~')
            stop("an error that cannot be shown", err->text);
}

static void check_limit(const struct tts_budget *budget, const struct tts_budget_limit *limit,
                        uint32_t lines)
{
    bool is_share = limit->unit == TTS_BUDGET_SHARE || limit->unit == TTS_BUDGET_GROWTH_SHARE;
    if (limit->rule >= TTS_BUDGET_RULES || limit->line == 0 || limit->line > lines)
        stop("a limit from nowhere", "");
    if (tts_budget_rule_place(limit->rule) == TTS_BUDGET_PHASE
            ? limit->pattern >= budget->pattern_count
            : limit->pattern != 0)
        stop("a limit of no phase", tts_budget_rule_id(limit->rule));
    if (limit->amount > (is_share ? (uint64_t)TTS_BUDGET_SHARE_MAX : UINT64_C(1) << 60))
        stop("a limit that is too large", tts_budget_rule_id(limit->rule));
    if (limit->rule == TTS_BUDGET_DRAM_HEADROOM && limit->unit > TTS_BUDGET_SHARE)
        stop("headroom that grows", "");
}

static void check(const struct tts_budget *budget, uint32_t lines)
{
    if (budget->limit_count == 0 || budget->limit_count > TTS_BUDGET_LIMITS_MAX ||
        budget->pattern_count > TTS_BUDGET_PATTERNS_MAX)
        stop("no limit, or too many", "");
    for (size_t i = 0; i < budget->limit_count; i++)
        check_limit(budget, &budget->limits[i], lines);
    for (size_t i = 0; i < budget->pattern_count; i++) {
        const struct tts_budget_pattern *pattern = &budget->patterns[i];
        if (!memchr(pattern->text, 0, sizeof pattern->text) || pattern->text[0] == '\0' ||
            pattern->line == 0 || pattern->line > lines)
            stop("a label from nowhere", "");
    }
    if (budget->device[0] && budget->device_memory.is_known)
        stop("two devices", budget->device);
}

/* ---- written out ---- */

struct writer {
    char *text;
    size_t at;
};

static void put(struct writer *w, const char *text)
{
    size_t len = strlen(text);
    if (len >= TEXT_BYTES - w->at)
        stop("a budget is a long text", "");
    memcpy(w->text + w->at, text, len);
    w->at += len;
}

/* Line ends that a label may only hold as escapes. */
static const struct {
    const char *bytes, *name;
} line_ends[] = {{"\xc2\x85", "\\N"}, {"\xe2\x80\xa8", "\\L"}, {"\xe2\x80\xa9", "\\P"}};

/* Writes a line end as an escape. Returns the number of bytes of `text` it stands for. */
static size_t put_line_end(struct writer *w, const char *text)
{
    for (size_t i = 0; i < sizeof line_ends / sizeof line_ends[0]; i++) {
        size_t len = strlen(line_ends[i].bytes);
        if (strncmp(text, line_ends[i].bytes, len) != 0)
            continue;
        put(w, line_ends[i].name);
        return len;
    }
    return 0;
}

/* Writes a text in double quotes. */
static void put_quoted(struct writer *w, const char *text)
{
    put(w, "\"");
    while (*text) {
        char one[3] = {*text, 0, 0};
        size_t len = put_line_end(w, text);
        if (len == 0 && (*text == '"' || *text == '\\')) {
            one[0] = '\\';
            one[1] = *text;
        }
        if (len == 0)
            put(w, one);
        text += len > 0 ? len : 1;
    }
    put(w, "\"");
}

static void put_value(struct writer *w, const struct tts_budget_limit *limit)
{
    char value[64];
    bool is_share = limit->unit == TTS_BUDGET_SHARE || limit->unit == TTS_BUDGET_GROWTH_SHARE;
    const char *sign = limit->unit > TTS_BUDGET_SHARE ? "+" : "";
    if (is_share)
        snprintf(value, sizeof value, "%s%" PRIu64 ".%02" PRIu64 "%%", sign,
                 limit->amount / 100, limit->amount % 100);
    else
        snprintf(value, sizeof value, "%s%" PRIu64, sign, limit->amount);
    put(w, value);
}

/* Writes a limit. Limits of one key are adjacent; the first one writes all of them as a
 * list. */
static void put_limit(struct writer *w, const struct tts_budget *budget, size_t idx,
                      const char *indent)
{
    const struct tts_budget_limit *limit = &budget->limits[idx];
    bool is_first = true;
    if (idx > 0 && limit[-1].rule == limit->rule && limit[-1].pattern == limit->pattern)
        return;
    put(w, indent);
    put(w, tts_budget_rule_key(limit->rule));
    put(w, ": [");
    for (size_t i = idx; i < budget->limit_count && budget->limits[i].rule == limit->rule &&
                         budget->limits[i].pattern == limit->pattern;
         i++) {
        put(w, is_first ? "" : ", ");
        put_value(w, &budget->limits[i]);
        is_first = false;
    }
    put(w, "]\n");
}

/* Writes a budget. Overall limits come first, so the order of the limits may change. */
static size_t write_budget(const struct tts_budget *budget, char *text)
{
    struct writer w = {.text = text};
    char memory[64];
    bool has_overall = false;
    put(&w, budget->device[0] ? "device: " : "");
    if (budget->device[0])
        put_quoted(&w, budget->device);
    snprintf(memory, sizeof memory, "\ndevice_memory: %" PRId64 "\n",
             budget->device_memory.bytes);
    put(&w, budget->device_memory.is_known ? memory : "\n");
    put(&w, budget->baseline[0] ? "baseline: " : "");
    if (budget->baseline[0])
        put_quoted(&w, budget->baseline);
    for (size_t i = 0; i < budget->limit_count; i++) {
        if (tts_budget_rule_place(budget->limits[i].rule) != TTS_BUDGET_OVERALL)
            continue;
        put(&w, has_overall ? "" : "\noverall:\n");
        has_overall = true;
        put_limit(&w, budget, i, "  ");
    }
    put(&w, budget->pattern_count > 0 ? "\nphases:\n" : "");
    for (size_t p = 0; p < budget->pattern_count; p++) {
        put(&w, "  ? ");
        put_quoted(&w, budget->patterns[p].text);
        put(&w, "\n  :\n");
        for (size_t i = 0; i < budget->limit_count; i++)
            if (tts_budget_rule_place(budget->limits[i].rule) == TTS_BUDGET_PHASE &&
                budget->limits[i].pattern == p)
                put_limit(&w, budget, i, "    ");
    }
    return w.at;
}

static bool has_limit(const struct tts_budget *budget, const struct tts_budget_limit *wanted)
{
    for (size_t i = 0; i < budget->limit_count; i++) {
        const struct tts_budget_limit *limit = &budget->limits[i];
        if (limit->rule == wanted->rule && limit->pattern == wanted->pattern &&
            limit->unit == wanted->unit)
            return limit->amount == wanted->amount;
    }
    return false;
}

static bool is_same(const struct tts_budget *a, const struct tts_budget *b)
{
    bool same = strcmp(a->device, b->device) == 0 && strcmp(a->baseline, b->baseline) == 0 &&
                a->device_memory.is_known == b->device_memory.is_known &&
                a->device_memory.bytes == b->device_memory.bytes &&
                a->limit_count == b->limit_count && a->pattern_count == b->pattern_count;
    for (size_t i = 0; same && i < a->limit_count; i++)
        same = has_limit(b, &a->limits[i]);
    for (size_t i = 0; same && i < a->pattern_count; i++)
        same = strcmp(a->patterns[i].text, b->patterns[i].text) == 0;
    return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct tts_budget once, again;
    static char text[TEXT_BYTES];
    uint32_t lines = lines_at_most(bytes, len);
    struct tts_error err = {0};
    memset(&once, 0, sizeof once);
    memset(&again, 0, sizeof again);
    enum tts_status status = tts_budgetfile_parse((const char *)bytes, len, &once, &err);
    if (status != TTS_OK) {
        check_error(&err, status, lines);
        if (memcmp(&once, &again, sizeof once) != 0)
            stop("a failure that changes something", err.text);
        return 0;
    }
    check(&once, lines);
    size_t written = write_budget(&once, text);
    if (written <= TTS_BUDGETFILE_MAX_BYTES &&
        (tts_budgetfile_parse(text, written, &again, &err) != TTS_OK ||
         !is_same(&once, &again)))
        stop("what was written reads differently", err.text);
    return 0;
}
