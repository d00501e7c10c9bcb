/* budgetfile_token.c: tokens and keys of a budget, and what is said of those that are wrong. */
#include "base/error.h"
#include "base/nearest.h"
#include "sources/budgetfile_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const tts_budget_key_names[TTS_BUDGET_KEYS] = {
    [TTS_BUDGET_KEY_DEVICE] = "device",     [TTS_BUDGET_KEY_DEVICE_MEMORY] = "device_memory",
    [TTS_BUDGET_KEY_BASELINE] = "baseline", [TTS_BUDGET_KEY_OVERALL] = "overall",
    [TTS_BUDGET_KEY_PHASES] = "phases",
};

/* --- tokens ----------------------------------------------------------------------------- */

bool tts_budget_is_plain(const struct tts_yaml_token *token)
{
    return token->kind == TTS_YAML_SCALAR && !token->dressed;
}

enum tts_status tts_budget_refuse(const struct tts_budget_reader *r,
                                  const struct tts_yaml_token *token, const char *what,
                                  const char *wanted)
{
    const char *is = "a list";
    if (token->kind == TTS_YAML_ALIAS)
        is = "an alias (what begins with '*' needs quotes)";
    else if (token->dressed)
        is = "marked with '&' or '!'";
    else if (token->kind == TTS_YAML_MAP)
        is = "a map";
    else if (token->kind == TTS_YAML_SCALAR)
        is = token->text[0] == '\0' ? "empty" : "plain text";
    tts_error_set(r->err, TTS_E_SYNTAX, "%s is %s: write %s", what, is, wanted);
    return tts_yaml_at_line(r->err, token->line, TTS_E_SYNTAX);
}

enum tts_status tts_budget_next(struct tts_budget_reader *r, struct tts_yaml_token *out)
{
    return tts_yaml_next(&r->yaml, out, r->err);
}

enum tts_status tts_budget_open_map(struct tts_budget_reader *r, const char *name,
                                    const char *wanted)
{
    struct tts_yaml_token token;
    char what[TTS_BUDGET_WHAT_MAX];
    enum tts_status status = tts_budget_next(r, &token);
    snprintf(what, sizeof what, "'%.*s'", TTS_BUDGET_QUOTE_MAX, name);
    if (status == TTS_OK && (token.kind != TTS_YAML_MAP || token.dressed))
        status = tts_budget_refuse(r, &token, what, wanted);
    return status;
}

/* --- keys ------------------------------------------------------------------------------- */

/* One way to write a key: "DRAM-peak" is "dram_peak". */
static void make_plain(char *key)
{
    for (; *key; key++) {
        if (*key == '-')
            *key = '_';
        else if (*key >= 'A' && *key <= 'Z')
            *key = (char)(*key - 'A' + 'a');
    }
}

static enum tts_status unknown_key(const struct tts_budget_reader *r,
                                   const struct tts_yaml_token *token, const char *best,
                                   const char *all)
{
    if (best)
        tts_error_set(r->err, TTS_E_NOT_FOUND, "unknown key '%.*s', did you mean '%s'?",
                      TTS_BUDGET_QUOTE_MAX, token->text, best);
    else
        tts_error_set(r->err, TTS_E_NOT_FOUND, "unknown key '%.*s', known here: %s",
                      TTS_BUDGET_QUOTE_MAX, token->text, all);
    return tts_yaml_at_line(r->err, token->line, TTS_E_NOT_FOUND);
}

enum tts_status tts_budget_check_once(const struct tts_budget_reader *r,
                                      const struct tts_yaml_token *token, const char *name,
                                      uint32_t seen)
{
    if (seen == 0)
        return TTS_OK;
    tts_error_set(r->err, TTS_E_SYNTAX, "'%.*s' stands twice, first in line %" PRIu32,
                  TTS_BUDGET_QUOTE_MAX, name, seen);
    return tts_yaml_at_line(r->err, token->line, TTS_E_SYNTAX);
}

enum tts_status tts_budget_take_key(struct tts_budget_reader *r,
                                    const struct tts_yaml_token *token,
                                    enum tts_budget_key *out)
{
    char word[TTS_YAML_SCALAR_MAX + 1];
    if (!tts_budget_is_plain(token))
        return tts_budget_refuse(r, token, "a key", "'key: value' lines");
    memcpy(word, token->text, sizeof word);
    make_plain(word);
    struct tts_nearest nearest = {.word = word};
    for (int key = 0; key < TTS_BUDGET_KEYS; key++) {
        if (strcmp(word, tts_budget_key_names[key]) == 0) {
            uint32_t seen = r->key_lines[key];
            r->key_lines[key] = token->line;
            *out = (enum tts_budget_key)key;
            return tts_budget_check_once(r, token, tts_budget_key_names[key], seen);
        }
        tts_nearest_offer(&nearest, tts_budget_key_names[key]);
    }
    return unknown_key(r, token, nearest.best,
                       "device, device_memory, baseline, overall, phases");
}

enum tts_status tts_budget_find_rule(const struct tts_budget_reader *r,
                                     const struct tts_yaml_token *token,
                                     enum tts_budget_place place, enum tts_budget_rule *out)
{
    char word[TTS_YAML_SCALAR_MAX + 1];
    if (!tts_budget_is_plain(token))
        return tts_budget_refuse(r, token, "a key", "'key: limit' lines");
    memcpy(word, token->text, sizeof word);
    make_plain(word);
    struct tts_nearest nearest = {.word = word};
    for (int i = 0; i < TTS_BUDGET_RULES; i++) {
        enum tts_budget_rule rule = (enum tts_budget_rule)i;
        if (tts_budget_rule_place(rule) != place)
            continue;
        if (strcmp(word, tts_budget_rule_key(rule)) == 0) {
            *out = rule;
            return TTS_OK;
        }
        tts_nearest_offer(&nearest, tts_budget_rule_key(rule));
    }
    return unknown_key(r, token, nearest.best,
                       place == TTS_BUDGET_OVERALL
                           ? "dram_peak, headroom, final_dram, l1_core, cb"
                           : "segment_peak, change, cumulative_peak, l1_core, cb");
}
