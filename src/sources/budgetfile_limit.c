/* budgetfile_limit.c: the value of a limit, or a list of them. */
#include "base/bytesize.h"
#include "base/error.h"
#include "base/share.h"
#include "sources/budgetfile.h"
#include "sources/budgetfile_inside.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* --- a text ----------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

enum tts_status tts_budget_limit_parse(const char *text, struct tts_budget_limit *out)
{
    bool is_growth = text[0] == '+';
    const char *number = text + is_growth;
    size_t len = strlen(number);
    uint64_t amount;
    enum tts_status status;
    if (is_growth && !is_digit(number[0])) /* no second sign */
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
    out->is_bare = !is_share && is_digit(number[len - 1]);
    return TTS_OK;
}

/* --- tokens ----------------------------------------------------------------------------- */

static const char one_limit[] = "a limit as 11GiB, 95% or +2%, or [95%, +2%]";

static const char *wanted_of(enum tts_budget_rule rule, const char *text)
{
    if (rule != TTS_BUDGET_DRAM_HEADROOM)
        return "expected bytes as 11GiB, a share as 95%, or growth as +2% or +50MiB";
    return text[0] == '+' ? "headroom cannot be growth: give bytes as 500MiB or a share as 5%"
                          : "expected bytes as 500MiB or a share of the device as 5%";
}

static const char *why_of(enum tts_status status)
{
    switch ((int)status) {
    case TTS_E_INVALID:
        return " is below 0";
    case TTS_E_RANGE:
        return " is too large";
    default:
        return "";
    }
}

static enum tts_status check_limit(const struct tts_budget_limit *limit)
{
    enum { ALL = 100 * 100 };
    if (limit->rule != TTS_BUDGET_DRAM_HEADROOM || limit->unit == TTS_BUDGET_BYTES)
        return TTS_OK;
    if (limit->unit != TTS_BUDGET_SHARE)
        return TTS_E_SYNTAX;
    return limit->amount <= ALL ? TTS_OK : TTS_E_RANGE;
}

static enum tts_status take_limit(struct tts_budget_reader *r,
                                  const struct tts_yaml_token *token,
                                  struct tts_budget_limit *limit)
{
    char what[TTS_BUDGET_WHAT_MAX];
    snprintf(what, sizeof what, "'%s'", tts_budget_rule_key(limit->rule));
    if (!tts_budget_is_plain(token) || token->text[0] == '\0')
        return tts_budget_refuse(r, token, what, one_limit);
    enum tts_status status =
        token->too_long ? TTS_E_SYNTAX : tts_budget_limit_parse(token->text, limit);
    if (status == TTS_OK)
        status = check_limit(limit);
    if (status != TTS_OK) {
        tts_error_set(r->err, status, "%s: '%.24s'%s, %s", what, token->text, why_of(status),
                      wanted_of(limit->rule, token->text));
        return tts_yaml_at_line(r->err, token->line, status);
    }
    limit->line = token->line;
    assert(r->out->limit_count < TTS_BUDGET_LIMITS_MAX); /* no key or unit comes twice */
    r->out->limits[r->out->limit_count++] = *limit;
    return TTS_OK;
}

/* Of a list that has begun: each of another unit, as two of one are one too many. */
static enum tts_status take_list(struct tts_budget_reader *r, struct tts_budget_limit *limit)
{
    const char *key = tts_budget_rule_key(limit->rule);
    size_t before = r->out->limit_count;
    for (;;) {
        struct tts_yaml_token token;
        const char *why = NULL;
        enum tts_status status = tts_budget_next(r, &token);
        if (status == TTS_OK && token.kind == TTS_YAML_LIST_END) {
            if (r->out->limit_count > before)
                return TTS_OK;
            why = "has no limit";
        } else if (status == TTS_OK) {
            status = take_limit(r, &token, limit);
        }
        if (status != TTS_OK)
            return status;
        for (size_t i = before; i + 1 < r->out->limit_count; i++)
            if (r->out->limits[i].unit == limit->unit)
                why = "has two limits of one kind, keep one of them";
        if (!why)
            continue;
        tts_error_set(r->err, TTS_E_SYNTAX, "'%s' %s", key, why);
        return tts_yaml_at_line(r->err, token.line, TTS_E_SYNTAX);
    }
}

enum tts_status tts_budget_take_limit(struct tts_budget_reader *r,
                                      struct tts_budget_limit *limit)
{
    struct tts_yaml_token token;
    enum tts_status status = tts_budget_next(r, &token);
    if (status != TTS_OK)
        return status;
    return token.kind == TTS_YAML_LIST && !token.dressed ? take_list(r, limit)
                                                         : take_limit(r, &token, limit);
}
