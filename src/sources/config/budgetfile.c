#include "sources/config/budgetfile.h"

#include "base/bytesize.h"
#include "base/error.h"
#include "base/share.h"
#include "base/span.h"
#include "sources/config/yamlmap.h"
#include "sources/textfile.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SECTION_OVERALL = TTS_YAMLMAP_TOP + 1, SECTION_PHASES, SECTION_PHASE };

/* The keys of the top level, then KEY_LIMIT. The table has one row for each key of the top
 * level, and after them one row for each rule; all these rows have the type KEY_LIMIT. */
enum { KEY_DEVICE, KEY_DEVICE_MEMORY, KEY_BASELINE, KEY_OVERALL, KEY_PHASES, KEY_LIMIT };

enum { ROWS = KEY_LIMIT + TTS_BUDGET_RULES };

struct budget_reader {
    struct tts_budget *out;
    char section[TTS_YAMLMAP_QUOTE_MAX + 1]; /* name of the map of limits that is being read */
    size_t section_begin;                    /* value of limit_count when this map began */
    uint32_t key_lines[KEY_LIMIT];           /* line of each key; 0 if the key was not seen */
};

static struct budget_reader *budget_reader_of(struct tts_yamlmap *map)
{
    return map->ctx;
}

/* Fails with "<what> is <kind of the token>: write <wanted>". */
static enum tts_status refuse_budget_token(struct tts_yamlmap *map,
                                           const struct tts_yaml_token *token, const char *what,
                                           const char *wanted)
{
    const char *is = "a list";
    if (token->kind == TTS_YAML_ALIAS)
        is = "an alias (put text that begins with '*' in quotes)";
    else if (token->dressed)
        is = "marked with '&' or '!'";
    else if (token->kind == TTS_YAML_MAP)
        is = "a map";
    else if (token->kind == TTS_YAML_SCALAR)
        is = token->text[0] == '\0' ? "empty" : "plain text";
    return tts_yamlmap_fail(map, TTS_E_SYNTAX, token->line, "%s is %s: write %s", what, is,
                            wanted);
}

static bool is_budget_text(const struct tts_yaml_token *token)
{
    return tts_yamlmap_is_plain(token) && token->text[0] != '\0';
}

/* Copies a name in quotes to `out`, cut to TTS_YAMLMAP_QUOTE_MAX bytes. Returns `out`. */
static const char *quote_budget_name(const char *name, char out[TTS_YAMLMAP_QUOTE_MAX + 3])
{
    snprintf(out, TTS_YAMLMAP_QUOTE_MAX + 3, "'%.*s'", TTS_YAMLMAP_QUOTE_MAX, name);
    return out;
}

/* --- values ----------------------------------------------------------------------------- */

/* Reads the value of `device` (the name of a device or the path of its file) or of `baseline`
 * (the path of a run). */
static enum tts_status read_device_path(struct tts_yamlmap *map,
                                        const struct tts_yamlmap_row *row,
                                        const struct tts_yaml_token *token)
{
    struct tts_budget *out = budget_reader_of(map)->out;
    bool is_device = row->type == KEY_DEVICE;
    char what[TTS_YAMLMAP_QUOTE_MAX + 3];
    quote_budget_name(row->key, what);
    if (!is_budget_text(token))
        return refuse_budget_token(map, token, what,
                                   is_device ? "the name of a device" : "the path of a run");
    bool is_long = token->too_long || strlen(token->bytes) >= TTS_BUDGET_PATH_MAX;
    if (is_long || token->control || strcmp(token->bytes, "-") == 0)
        return tts_yamlmap_fail(map, TTS_E_INVALID, token->line, "%s %s", what,
                                is_long          ? "is longer than 511 bytes"
                                : token->control ? "has control characters"
                                                 : "cannot be standard input: name a file");
    memcpy(is_device ? out->device : out->baseline, token->bytes, strlen(token->bytes) + 1);
    *(is_device ? &out->device_line : &out->baseline_line) = token->line;
    return TTS_OK;
}

static enum tts_status read_memory_size(struct tts_yamlmap *map,
                                        const struct tts_yaml_token *token)
{
    struct tts_budget *out = budget_reader_of(map)->out;
    uint64_t bytes = 0;
    if (!is_budget_text(token))
        return refuse_budget_token(map, token, "'device_memory'",
                                   "a number of bytes such as 12GiB");
    enum tts_status status = tts_bytesize_parse(token->text, &bytes);
    if (token->too_long || status != TTS_OK || bytes == 0)
        return tts_yamlmap_fail(map, TTS_E_SYNTAX, token->line,
                                "invalid value '%.*s' for 'device_memory': expected a number "
                                "of bytes such as 12884901888 or 12GiB",
                                TTS_YAMLMAP_QUOTE_MAX, token->text);
    out->device_memory = tts_amount_of((int64_t)bytes);
    out->device_line = token->line;
    return TTS_OK;
}

/* --- limits ----------------------------------------------------------------------------- */

enum tts_status tts_budget_limit_parse(const char *text, struct tts_budget_limit *out)
{
    bool is_growth = text[0] == '+';
    const char *number = text + is_growth;
    size_t len = strlen(number);
    uint64_t amount;
    enum tts_status status;
    if (is_growth && !tts_is_digit(number[0])) /* a second sign is not allowed */
        return TTS_E_SYNTAX;
    bool is_share = len > 0 && number[len - 1] == '%';
    if (is_share) {
        len -= len > 1 && number[len - 2] == ' ' ? 2 : 1;
        if (number[0] == '-' &&
            tts_share_parse(number + 1, len - 1, TTS_BUDGET_SHARE_MAX, &amount) != TTS_E_SYNTAX)
            return TTS_E_INVALID;
        status = tts_share_parse(number, len, TTS_BUDGET_SHARE_MAX, &amount);
    } else {
        status = tts_bytesize_parse(number, &amount);
    }
    if (status != TTS_OK)
        return status;
    if (is_share)
        out->unit = is_growth ? TTS_BUDGET_GROWTH_SHARE : TTS_BUDGET_SHARE;
    else
        out->unit = is_growth ? TTS_BUDGET_GROWTH_BYTES : TTS_BUDGET_BYTES;
    out->amount = amount;
    out->is_bare = !is_share && tts_is_digit(number[len - 1]);
    return TTS_OK;
}

static const char one_limit[] = "a limit such as 11GiB, 95% or +2%, or [95%, +2%]";

static const char *wanted_limit(enum tts_budget_rule rule, const char *text)
{
    if (rule != TTS_BUDGET_DRAM_HEADROOM)
        return "bytes such as 11GiB, a share such as 95%, or growth such as +2% or +50MiB";
    return text[0] == '+' ? "bytes such as 500MiB or a share such as 5%, not growth"
                          : "bytes such as 500MiB or a share of the device such as 5%";
}

static const char *limit_error(enum tts_status status)
{
    switch ((int)status) {
    case TTS_E_INVALID:
        return " (below 0)";
    case TTS_E_RANGE:
        return " (too large)";
    default:
        return "";
    }
}

static enum tts_status check_limit_text(const struct tts_budget_limit *limit)
{
    enum { ALL = 100 * 100 };
    if (limit->rule != TTS_BUDGET_DRAM_HEADROOM || limit->unit == TTS_BUDGET_BYTES)
        return TTS_OK;
    if (limit->unit != TTS_BUDGET_SHARE)
        return TTS_E_SYNTAX;
    return limit->amount <= ALL ? TTS_OK : TTS_E_RANGE;
}

static enum tts_status read_limit(struct tts_yamlmap *map, const struct tts_yaml_token *token,
                                  struct tts_budget_limit *limit)
{
    struct tts_budget *out = budget_reader_of(map)->out;
    char what[TTS_YAMLMAP_QUOTE_MAX + 3];
    quote_budget_name(tts_budget_rule_key(limit->rule), what);
    if (!is_budget_text(token))
        return refuse_budget_token(map, token, what, one_limit);
    enum tts_status status =
        token->too_long ? TTS_E_SYNTAX : tts_budget_limit_parse(token->text, limit);
    if (status == TTS_OK)
        status = check_limit_text(limit);
    if (status != TTS_OK)
        return tts_yamlmap_fail(
            map, status, token->line, "invalid value '%.24s' for %s%s: expected %s",
            token->text, what, limit_error(status), wanted_limit(limit->rule, token->text));
    limit->line = token->line;
    /* A key occurs at most once, and a list has each unit at most once, so the array cannot
     * overflow. */
    assert(out->limit_count < TTS_BUDGET_LIMITS_MAX);
    out->limits[out->limit_count++] = *limit;
    return TTS_OK;
}

/* Reads the limits of a list up to its end. Refuses a list without limits and a list with two
 * limits of the same unit. */
static enum tts_status read_limits(struct tts_yamlmap *map, struct tts_budget_limit *limit)
{
    const struct tts_budget *out = budget_reader_of(map)->out;
    size_t before = out->limit_count;
    for (;;) {
        struct tts_yaml_token token;
        const char *why = NULL;
        enum tts_status status = tts_yamlmap_next(map, &token);
        if (status == TTS_OK && token.kind == TTS_YAML_LIST_END) {
            if (out->limit_count > before)
                return TTS_OK;
            why = "has no limit";
        } else if (status == TTS_OK) {
            status = read_limit(map, &token, limit);
        }
        if (status != TTS_OK)
            return status;
        for (size_t i = before; i + 1 < out->limit_count; i++)
            if (out->limits[i].unit == limit->unit)
                why = "has two limits of the same kind: keep one";
        if (why)
            return tts_yamlmap_fail(map, TTS_E_SYNTAX, token.line, "'%s' %s",
                                    tts_budget_rule_key(limit->rule), why);
    }
}

/* --- sections --------------------------------------------------------------------------- */

/* Enters the map that is the value of the key `name`. Refuses a value that is not a map;
 * `wanted` names the expected content. */
static enum tts_status enter_budget_section(struct tts_yamlmap *map, uint8_t section,
                                            const char *name,
                                            const struct tts_yaml_token *token,
                                            const char *wanted)
{
    struct budget_reader *reader = budget_reader_of(map);
    char what[TTS_YAMLMAP_QUOTE_MAX + 3];
    if (token->kind != TTS_YAML_MAP || token->dressed)
        return refuse_budget_token(map, token, quote_budget_name(name, what), wanted);
    snprintf(reader->section, sizeof reader->section, "%.*s", TTS_YAMLMAP_QUOTE_MAX, name);
    reader->section_begin = reader->out->limit_count;
    tts_yamlmap_enter(map, section);
    return TTS_OK;
}

static enum tts_status end_budget_section(struct tts_yamlmap *map,
                                          const struct tts_yaml_token *token)
{
    const struct budget_reader *reader = map->ctx;
    if (tts_yamlmap_section(map) == SECTION_PHASES ||
        reader->out->limit_count > reader->section_begin)
        return TTS_OK;
    return tts_yamlmap_fail(map, TTS_E_SYNTAX, token->line, "'%s' has no limit",
                            reader->section);
}

/* Handles a key in `phases`: stores the key as the label of a phase, and enters the map of
 * limits that follows. */
static enum tts_status read_phase_limits(struct tts_yamlmap *map,
                                         const struct tts_yaml_token *key)
{
    struct tts_budget *out = budget_reader_of(map)->out;
    const char *why = NULL;
    if (key->text[0] == '\0')
        why = "the label of a phase is empty";
    else if (key->too_long || strlen(key->bytes) >= TTS_RUN_NAME_MAX)
        why = "the label of a phase is longer than 63 bytes";
    else if (key->control)
        why = "the label of a phase has control characters";
    else if (out->pattern_count == TTS_BUDGET_PATTERNS_MAX)
        why = "there are more than 64 labels of phases";
    if (why)
        return tts_yamlmap_fail(map, TTS_E_RANGE, key->line, "%s", why);
    for (size_t i = 0; i < out->pattern_count; i++)
        if (strcmp(out->patterns[i].text, key->bytes) == 0)
            return tts_yamlmap_check_once(map, key->text, out->patterns[i].line, key->line);
    struct tts_budget_pattern *pattern = &out->patterns[out->pattern_count++];
    pattern->line = key->line;
    memcpy(pattern->text, key->bytes, strlen(key->bytes) + 1);
    struct tts_yaml_token token;
    enum tts_status status = tts_yamlmap_next(map, &token);
    return status == TTS_OK
               ? enter_budget_section(map, SECTION_PHASE, key->text, &token,
                                      "'segment_peak: 8GiB' or another limit below")
               : status;
}

/* --- the form --------------------------------------------------------------------------- */

static enum tts_status refuse_budget_place(struct tts_yamlmap *map,
                                           const struct tts_yaml_token *token,
                                           enum tts_yamlmap_place place)
{
    if (place == TTS_YAMLMAP_EMPTY)
        return tts_yamlmap_fail(map, TTS_E_SYNTAX, 1,
                                "the file is empty: an empty check would always pass");
    if (place == TTS_YAMLMAP_DOCUMENT)
        return refuse_budget_token(map, token, "the document",
                                   "'overall:' or 'phases:' and limits below");
    if (tts_yamlmap_section(map) == SECTION_PHASES)
        return refuse_budget_token(map, token, "the label of a phase",
                                   "'LABEL:' and its limits below");
    return refuse_budget_token(map, token, "a key",
                               tts_yamlmap_section(map) == TTS_YAMLMAP_TOP
                                   ? "'key: value' lines"
                                   : "'key: limit' lines");
}

static enum tts_status read_budget_key(struct tts_yamlmap *map,
                                       const struct tts_yaml_token *key, const char *best)
{
    char all[sizeof map->err->text] = "";
    size_t len = 0;
    if (tts_yamlmap_section(map) == SECTION_PHASES)
        return read_phase_limits(map, key);
    if (best)
        return tts_yamlmap_fail(map, TTS_E_NOT_FOUND, key->line,
                                "unknown key '%.*s', did you mean '%s'?", TTS_YAMLMAP_QUOTE_MAX,
                                key->text, best);
    for (size_t i = 0; i < map->form->row_count && len < sizeof all; i++)
        if (map->form->rows[i].section == tts_yamlmap_section(map))
            len += (size_t)snprintf(all + len, sizeof all - len, "%s%s", len > 0 ? ", " : "",
                                    map->form->rows[i].key);
    return tts_yamlmap_fail(map, TTS_E_NOT_FOUND, key->line,
                            "unknown key '%.*s', expected one of: %s", TTS_YAMLMAP_QUOTE_MAX,
                            key->text, all);
}

static enum tts_status read_budget_value(struct tts_yamlmap *map,
                                         const struct tts_yamlmap_row *row,
                                         const struct tts_yaml_token *token)
{
    struct budget_reader *reader = budget_reader_of(map);
    struct tts_budget_limit limit = {.rule = (enum tts_budget_rule)row->target};
    if (row->type != KEY_LIMIT)
        reader->key_lines[row->type] = tts_yamlmap_line(map, row);
    else if (row->section == SECTION_PHASE)
        limit.pattern = (uint32_t)reader->out->pattern_count - 1;
    switch (row->type) {
    case KEY_DEVICE:
    case KEY_BASELINE:
        return read_device_path(map, row, token);
    case KEY_DEVICE_MEMORY:
        return read_memory_size(map, token);
    case KEY_OVERALL:
        return enter_budget_section(map, SECTION_OVERALL, row->key, token,
                                    "'dram_peak: 95%' or another limit below");
    case KEY_PHASES:
        return enter_budget_section(map, SECTION_PHASES, row->key, token,
                                    "labels below, each with limits");
    default:
        return token->kind == TTS_YAML_LIST && !token->dressed ? read_limits(map, &limit)
                                                               : read_limit(map, token, &limit);
    }
}

static enum tts_status check_budget(const struct budget_reader *reader, struct tts_error *err)
{
    uint32_t device = reader->key_lines[KEY_DEVICE];
    uint32_t memory = reader->key_lines[KEY_DEVICE_MEMORY];
    if (reader->out->limit_count == 0) {
        tts_error_set(
            err, TTS_E_SYNTAX,
            "no limits: give 'overall' or 'phases', because an empty check would always pass");
        return tts_yaml_at_line(err, 1, TTS_E_SYNTAX);
    }
    if (device == 0 || memory == 0)
        return TTS_OK;
    tts_error_set(err, TTS_E_INVALID,
                  "'device' and 'device_memory' both set the memory: give only one");
    return tts_yaml_at_line(err, device > memory ? device : memory, TTS_E_INVALID);
}

/* Returns true if line number `line` has a tab directly after its leading spaces. */
static bool has_tab_indent(const char *text, size_t len, uint32_t line)
{
    size_t at = 0;
    for (uint32_t i = 1; i < line && at < len; i++) {
        const char *end = memchr(text + at, '\n', len - at);
        at = end ? (size_t)(end - text) + 1 : len;
    }
    while (at < len && text[at] == ' ')
        at++;
    return at < len && text[at] == '\t';
}

enum tts_status tts_budgetfile_parse(const char *text, size_t len, struct tts_budget *out,
                                     struct tts_error *err)
{
    struct tts_yamlmap_row rows[ROWS] = {
        {"device", TTS_YAMLMAP_TOP, KEY_DEVICE, 0},
        {"device_memory", TTS_YAMLMAP_TOP, KEY_DEVICE_MEMORY, 0},
        {"baseline", TTS_YAMLMAP_TOP, KEY_BASELINE, 0},
        {"overall", TTS_YAMLMAP_TOP, KEY_OVERALL, 0},
        {"phases", TTS_YAMLMAP_TOP, KEY_PHASES, 0}};
    const struct tts_yamlmap_form form = {.what = "a budget",
                                          .max_bytes = TTS_BUDGETFILE_MAX_BYTES,
                                          .rows = rows,
                                          .row_count = ROWS,
                                          .refuse = refuse_budget_place,
                                          .unknown = read_budget_key,
                                          .value = read_budget_value,
                                          .end = end_budget_section};
    struct tts_budget budget = {0};
    struct budget_reader reader = {.out = &budget};
    for (uint16_t i = 0; i < TTS_BUDGET_RULES; i++) {
        enum tts_budget_rule rule = (enum tts_budget_rule)i;
        bool is_phase = tts_budget_rule_place(rule) == TTS_BUDGET_PHASE;
        rows[KEY_LIMIT + i] =
            (struct tts_yamlmap_row){tts_budget_rule_key(rule),
                                     is_phase ? SECTION_PHASE : SECTION_OVERALL, KEY_LIMIT, i};
    }
    enum tts_status status = tts_yamlmap_read(&form, &reader, text, len, err);
    if (status == TTS_OK)
        status = check_budget(&reader, err);
    /* libyaml does not say in its message that the cause is a tab. */
    if (status == TTS_E_SYNTAX && err && strncmp(err->text, "not YAML", 8) == 0 &&
        has_tab_indent(text, len, err->line)) {
        uint32_t line = err->line;
        tts_error_set(err, TTS_E_SYNTAX,
                      "not YAML: the line is indented with a tab; indent with spaces");
        return tts_yaml_at_line(err, line, TTS_E_SYNTAX);
    }
    if (status == TTS_OK)
        *out = budget;
    return status;
}

enum tts_status tts_budgetfile_load(const char *path, const struct tts_alloc *alloc,
                                    struct tts_budget *out, struct tts_error *err)
{
    struct tts_textfile file = {0};
    enum tts_status status =
        tts_textfile_read(path, TTS_BUDGETFILE_MAX_BYTES, alloc, &file, err);
    if (status == TTS_OK)
        status = tts_budgetfile_parse(file.text, file.len, out, err);
    tts_textfile_release(&file);
    return status;
}
