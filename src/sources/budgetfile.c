#include "sources/budgetfile.h"

#include "base/bytesize.h"
#include "base/error.h"
#include "sources/budgetfile_inside.h"
#include "sources/textfile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- values ----------------------------------------------------------------------------- */

/* A text that is a path, or the name of a device. */
static enum tts_status take_path(struct tts_budget_reader *r, enum tts_budget_key key,
                                 char out[TTS_BUDGET_PATH_MAX], uint32_t *line)
{
    struct tts_yaml_token token;
    char what[TTS_BUDGET_WHAT_MAX];
    enum tts_status status = tts_budget_next(r, &token);
    if (status != TTS_OK)
        return status;
    snprintf(what, sizeof what, "'%s'", tts_budget_key_names[key]);
    if (!tts_budget_is_plain(&token) || token.text[0] == '\0')
        return tts_budget_refuse(r, &token, what,
                                 key == TTS_BUDGET_KEY_DEVICE ? "the name of a device"
                                                              : "the path of a run");
    bool is_long = token.too_long || strlen(token.bytes) >= TTS_BUDGET_PATH_MAX;
    if (is_long || token.control || strcmp(token.bytes, "-") == 0) {
        tts_error_set(r->err, TTS_E_INVALID, "%s cannot be %s", what,
                      is_long         ? "so long"
                      : token.control ? "with control characters in it"
                                      : "standard input, name a file");
        return tts_yaml_at_line(r->err, token.line, TTS_E_INVALID);
    }
    memcpy(out, token.bytes, strlen(token.bytes) + 1);
    *line = token.line;
    return TTS_OK;
}

static enum tts_status take_memory(struct tts_budget_reader *r)
{
    struct tts_yaml_token token;
    uint64_t bytes = 0;
    enum tts_status status = tts_budget_next(r, &token);
    if (status != TTS_OK)
        return status;
    if (!tts_budget_is_plain(&token) || token.text[0] == '\0')
        return tts_budget_refuse(r, &token, "'device_memory'", "bytes as 12GiB");
    status = tts_bytesize_parse(token.text, &bytes);
    if (token.too_long || status != TTS_OK || bytes == 0) {
        tts_error_set(r->err, TTS_E_SYNTAX,
                      "'device_memory' is '%.*s': expected bytes as 12884901888 or 12GiB",
                      TTS_BUDGET_QUOTE_MAX, token.text);
        return tts_yaml_at_line(r->err, token.line, TTS_E_SYNTAX);
    }
    r->out->device_memory = tts_amount_of((int64_t)bytes);
    r->out->device_line = token.line;
    return TTS_OK;
}

/* --- limits ----------------------------------------------------------------------------- */

/* The limits of a map that has begun. `name` is for messages. */
static enum tts_status take_limits(struct tts_budget_reader *r, enum tts_budget_place place,
                                   uint32_t pattern, const char *name)
{
    uint32_t seen[TTS_BUDGET_RULES] = {0};
    size_t before = r->out->limit_count;
    for (;;) {
        struct tts_yaml_token token;
        struct tts_budget_limit limit = {.pattern = pattern};
        enum tts_status status = tts_budget_next(r, &token);
        if (status == TTS_OK && token.kind == TTS_YAML_MAP_END) {
            if (r->out->limit_count > before)
                return TTS_OK;
            tts_error_set(r->err, TTS_E_SYNTAX, "'%.*s' has no limit", TTS_BUDGET_QUOTE_MAX,
                          name);
            return tts_yaml_at_line(r->err, token.line, TTS_E_SYNTAX);
        }
        if (status != TTS_OK ||
            (status = tts_budget_find_rule(r, &token, place, &limit.rule)) != TTS_OK ||
            (status = tts_budget_check_once(r, &token, tts_budget_rule_key(limit.rule),
                                            seen[limit.rule])) != TTS_OK)
            return status;
        seen[limit.rule] = token.line;
        status = tts_budget_take_limit(r, &limit);
        if (status != TTS_OK)
            return status;
    }
}

/* --- phases ----------------------------------------------------------------------------- */

static enum tts_status take_pattern(struct tts_budget_reader *r,
                                    const struct tts_yaml_token *token)
{
    struct tts_budget *out = r->out;
    if (!tts_budget_is_plain(token))
        return tts_budget_refuse(r, token, "the label of a phase",
                                 "'LABEL:' and its limits below");
    const char *why = NULL;
    if (token->text[0] == '\0')
        why = "the label of a phase is empty";
    else if (token->too_long || strlen(token->bytes) >= TTS_RUN_NAME_MAX)
        why = "the label of a phase is longer than 63 bytes";
    else if (token->control)
        why = "the label of a phase has control characters in it";
    else if (out->pattern_count == TTS_BUDGET_PATTERNS_MAX)
        why = "there are more than 64 labels of phases";
    if (why) {
        tts_error_set(r->err, TTS_E_RANGE, "%s", why);
        return tts_yaml_at_line(r->err, token->line, TTS_E_RANGE);
    }
    for (size_t i = 0; i < out->pattern_count; i++)
        if (strcmp(out->patterns[i].text, token->bytes) == 0)
            return tts_budget_check_once(r, token, token->text, out->patterns[i].line);
    struct tts_budget_pattern *pattern = &out->patterns[out->pattern_count++];
    pattern->line = token->line;
    memcpy(pattern->text, token->bytes, strlen(token->bytes) + 1);
    return TTS_OK;
}

static enum tts_status take_phases(struct tts_budget_reader *r)
{
    enum tts_status status = tts_budget_open_map(r, tts_budget_key_names[TTS_BUDGET_KEY_PHASES],
                                                 "labels below, each with limits");
    while (status == TTS_OK) {
        struct tts_yaml_token token;
        status = tts_budget_next(r, &token);
        if (status == TTS_OK && token.kind == TTS_YAML_MAP_END)
            return TTS_OK;
        if (status == TTS_OK)
            status = take_pattern(r, &token);
        if (status == TTS_OK)
            status = tts_budget_open_map(r, token.text,
                                         "'segment_peak: 8GiB' or another limit below");
        if (status == TTS_OK)
            status = take_limits(r, TTS_BUDGET_PHASE, (uint32_t)r->out->pattern_count - 1,
                                 token.text);
    }
    return status;
}

static enum tts_status take_overall(struct tts_budget_reader *r)
{
    enum tts_status status =
        tts_budget_open_map(r, tts_budget_key_names[TTS_BUDGET_KEY_OVERALL],
                            "'dram_peak: 95%' or another limit below");
    return status == TTS_OK ? take_limits(r, TTS_BUDGET_OVERALL, 0,
                                          tts_budget_key_names[TTS_BUDGET_KEY_OVERALL])
                            : status;
}

/* --- the document ----------------------------------------------------------------------- */

static enum tts_status take_value(struct tts_budget_reader *r, enum tts_budget_key key)
{
    switch (key) {
    case TTS_BUDGET_KEY_DEVICE:
        return take_path(r, key, r->out->device, &r->out->device_line);
    case TTS_BUDGET_KEY_DEVICE_MEMORY:
        return take_memory(r);
    case TTS_BUDGET_KEY_BASELINE:
        return take_path(r, key, r->out->baseline, &r->out->baseline_line);
    case TTS_BUDGET_KEY_OVERALL:
        return take_overall(r);
    case TTS_BUDGET_KEY_PHASES:
        return take_phases(r);
    case TTS_BUDGET_KEYS:
        break;
    }
    assert(!"a key of the table");
    return TTS_E_INVALID;
}

static enum tts_status read_map(struct tts_budget_reader *r)
{
    for (;;) {
        struct tts_yaml_token token;
        enum tts_budget_key key = TTS_BUDGET_KEY_DEVICE;
        enum tts_status status = tts_budget_next(r, &token);
        if (status != TTS_OK || token.kind == TTS_YAML_MAP_END)
            return status;
        if ((status = tts_budget_take_key(r, &token, &key)) != TTS_OK ||
            (status = take_value(r, key)) != TTS_OK)
            return status;
    }
}

static enum tts_status open_document(struct tts_budget_reader *r)
{
    struct tts_yaml_token token;
    enum tts_status status = tts_budget_next(r, &token);
    if (status == TTS_OK && token.kind == TTS_YAML_DOCUMENT)
        status = tts_budget_next(r, &token);
    if (status != TTS_OK)
        return status;
    if (token.kind == TTS_YAML_END || (tts_budget_is_plain(&token) && token.text[0] == '\0')) {
        tts_error_set(r->err, TTS_E_SYNTAX,
                      "it is empty: a check that checks nothing would always pass");
        return tts_yaml_at_line(r->err, 1, TTS_E_SYNTAX);
    }
    if (token.kind != TTS_YAML_MAP || token.dressed)
        return tts_budget_refuse(r, &token, "the document",
                                 "'overall:' or 'phases:' and limits below");
    return TTS_OK;
}

static enum tts_status close_document(struct tts_budget_reader *r)
{
    struct tts_yaml_token token;
    enum tts_status status = tts_budget_next(r, &token);
    assert(status != TTS_OK || token.kind == TTS_YAML_DOCUMENT_END);
    if (status == TTS_OK)
        status = tts_budget_next(r, &token);
    if (status != TTS_OK || token.kind == TTS_YAML_END)
        return status;
    tts_error_set(r->err, TTS_E_SYNTAX, "a second document begins, a budget has one");
    return tts_yaml_at_line(r->err, token.line, TTS_E_SYNTAX);
}

static enum tts_status check_whole(const struct tts_budget_reader *r)
{
    const uint32_t *lines = r->key_lines;
    if (r->out->limit_count == 0) {
        tts_error_set(r->err, TTS_E_SYNTAX,
                      "no limit: give 'overall' or 'phases', a check of nothing always passes");
        return tts_yaml_at_line(r->err, 1, TTS_E_SYNTAX);
    }
    if (lines[TTS_BUDGET_KEY_DEVICE] == 0 || lines[TTS_BUDGET_KEY_DEVICE_MEMORY] == 0)
        return TTS_OK;
    tts_error_set(r->err, TTS_E_INVALID,
                  "'device' and 'device_memory' both say how much memory there is, give one");
    return tts_yaml_at_line(r->err,
                            lines[TTS_BUDGET_KEY_DEVICE] > lines[TTS_BUDGET_KEY_DEVICE_MEMORY]
                                ? lines[TTS_BUDGET_KEY_DEVICE]
                                : lines[TTS_BUDGET_KEY_DEVICE_MEMORY],
                            TTS_E_INVALID);
}

static enum tts_status read_document(struct tts_budget_reader *r)
{
    enum tts_status status = open_document(r);
    if (status == TTS_OK)
        status = read_map(r);
    if (status == TTS_OK)
        status = close_document(r);
    return status == TTS_OK ? check_whole(r) : status;
}

/* Does a line begin with blanks, one of which is a tab? */
static bool is_tabbed(const char *text, size_t len, uint32_t line)
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
    if (len > TTS_BUDGETFILE_MAX_BYTES) {
        tts_error_set(err, TTS_E_SYNTAX, "larger than a budget can be (%d KiB)",
                      TTS_BUDGETFILE_MAX_BYTES / 1024);
        return tts_yaml_at_line(err, tts_yaml_line_of(text, len, TTS_BUDGETFILE_MAX_BYTES),
                                TTS_E_SYNTAX);
    }
    struct tts_budget budget = {0};
    struct tts_budget_reader reader = {.err = err, .out = &budget};
    enum tts_status status = tts_yaml_open(&reader.yaml, text, len, err);
    if (status != TTS_OK)
        return status;
    status = read_document(&reader);
    tts_yaml_close(&reader.yaml);
    /* A tab is what libyaml has no words for. */
    if (status == TTS_E_SYNTAX && err && strncmp(err->text, "not YAML", 8) == 0 &&
        is_tabbed(text, len, err->line)) {
        uint32_t line = err->line;
        tts_error_set(err, TTS_E_SYNTAX, "not YAML: a tab, indent with blanks");
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
