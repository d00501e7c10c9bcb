#include "model/budget.h"

#include <assert.h>

static const struct {
    const char *id, *key, *what;
    enum tts_budget_place place;
} rules[TTS_BUDGET_RULES] = {
#define X(name, id, place, key, what) [TTS_BUDGET_##name] = {id, key, what, TTS_BUDGET_##place},
    TTS_BUDGET_RULE_MAP(X)
#undef X
};

const char *tts_budget_rule_id(enum tts_budget_rule rule)
{
    assert(rule < TTS_BUDGET_RULES);
    return rules[rule].id;
}

const char *tts_budget_rule_key(enum tts_budget_rule rule)
{
    assert(rule < TTS_BUDGET_RULES);
    return rules[rule].key;
}

const char *tts_budget_rule_what(enum tts_budget_rule rule)
{
    assert(rule < TTS_BUDGET_RULES);
    return rules[rule].what;
}

enum tts_budget_place tts_budget_rule_place(enum tts_budget_rule rule)
{
    assert(rule < TTS_BUDGET_RULES);
    return rules[rule].place;
}
