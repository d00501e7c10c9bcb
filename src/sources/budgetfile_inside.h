/* budgetfile_inside.h: what the parts of the reader of budgets share. For budgetfile*.c only.
 */
#pragma once

#include "model/budget.h"
#include "sources/yaml.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TTS_BUDGET_QUOTE_MAX = 40,                       /* bytes of a foreign text in a message */
    TTS_BUDGET_WHAT_MAX = TTS_BUDGET_QUOTE_MAX + 24, /* that in quotes, or a key */
};

enum tts_budget_key {
    TTS_BUDGET_KEY_DEVICE,
    TTS_BUDGET_KEY_DEVICE_MEMORY,
    TTS_BUDGET_KEY_BASELINE,
    TTS_BUDGET_KEY_OVERALL,
    TTS_BUDGET_KEY_PHASES,
    TTS_BUDGET_KEYS
};
extern const char *const tts_budget_key_names[TTS_BUDGET_KEYS];

struct tts_budget_reader {
    struct tts_yaml yaml;
    struct tts_error *err;
    struct tts_budget *out;
    uint32_t key_lines[TTS_BUDGET_KEYS]; /* 0: not seen */
};

TTS_NODISCARD enum tts_status tts_budget_next(struct tts_budget_reader *r,
                                              struct tts_yaml_token *out);

/* A scalar without anchor and tag. */
bool tts_budget_is_plain(const struct tts_yaml_token *token);

/* A token that cannot stand where it does: `what` is the place, `wanted` what it is to be. */
enum tts_status tts_budget_refuse(const struct tts_budget_reader *r,
                                  const struct tts_yaml_token *token, const char *what,
                                  const char *wanted);

/* The beginning of a map under `name`. */
TTS_NODISCARD enum tts_status tts_budget_open_map(struct tts_budget_reader *r, const char *name,
                                                  const char *wanted);

/* `seen` is the line where it stood before, 0: nowhere. */
TTS_NODISCARD enum tts_status tts_budget_check_once(const struct tts_budget_reader *r,
                                                    const struct tts_yaml_token *token,
                                                    const char *name, uint32_t seen);

/* A key of the top, once; a key of a limit there. */
TTS_NODISCARD enum tts_status tts_budget_take_key(struct tts_budget_reader *r,
                                                  const struct tts_yaml_token *token,
                                                  enum tts_budget_key *out);
TTS_NODISCARD enum tts_status tts_budget_find_rule(const struct tts_budget_reader *r,
                                                   const struct tts_yaml_token *token,
                                                   enum tts_budget_place place,
                                                   enum tts_budget_rule *out);

/* The value behind a key, or a list of them, put into the budget. `limit` has the rule and the
 * pattern. */
TTS_NODISCARD enum tts_status tts_budget_take_limit(struct tts_budget_reader *r,
                                                    struct tts_budget_limit *limit);
