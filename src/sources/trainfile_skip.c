/* trainfile_skip.c: what is passed over, but for keys that say that adapters are trained: they
 * count wherever they stand. */
#include "base/error.h"
#include "sources/trainfile_inside.h"

#include <string.h>
#include <strings.h>

enum { DEPTH_MAX = 64 }; /* of what is passed over */

/* ---- names ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "use_lora", "useLora", "qlora"; but not "exploration". */
static bool begins_word(const char *name, const char *at)
{
    if (at == name || !is_letter(at[-1]) || at[-1] == 'q' || at[-1] == 'Q')
        return true;
    return *at >= 'A' && *at <= 'Z' && at[-1] >= 'a' && at[-1] <= 'z';
}

bool tts_train_is_lora(const char *name)
{
    if (strcmp(name, "q_lora_rank") == 0 || strcmp(name, "kv_lora_rank") == 0)
        return false;
    for (const char *at = name; *at; at++)
        if ((strncasecmp(at, "lora", 4) == 0 || strncasecmp(at, "peft", 4) == 0) &&
            begins_word(name, at))
            return true;
    return false;
}

/* ---- values ---- */

/* Which scalars are keys: bits by depth, the innermost lowest. */
struct nest {
    uint64_t is_map, is_value_next;
    unsigned depth;
};

static bool opens(const struct tts_yaml_token *token)
{
    return token->kind == TTS_YAML_MAP || token->kind == TTS_YAML_LIST;
}

/* Told of every token in its order: is this one a key? */
static bool nest_next(struct nest *nest, const struct tts_yaml_token *token)
{
    if (token->kind == TTS_YAML_MAP_END || token->kind == TTS_YAML_LIST_END) {
        nest->is_map >>= 1;
        nest->is_value_next >>= 1;
        nest->depth--;
        return false;
    }
    bool is_in_map = nest->is_map & 1, is_key = is_in_map && !(nest->is_value_next & 1);
    nest->is_value_next ^= is_in_map;
    if (opens(token)) {
        nest->is_map = nest->is_map << 1 | (token->kind == TTS_YAML_MAP);
        nest->is_value_next <<= 1;
        nest->depth++;
    }
    return is_key && token->kind == TTS_YAML_SCALAR;
}

enum tts_status tts_train_skip(struct tts_yaml_refs *yaml, const struct tts_yaml_token *first,
                               uint32_t *lora_line, struct tts_error *err)
{
    struct nest nest = {0};
    uint32_t key_line = 0; /* of a key of adapters whose value comes next */
    *lora_line = 0;
    nest_next(&nest, first);
    while (nest.depth > 0) {
        struct tts_yaml_token token;
        /* Whether a key of adapters is meant depends on the value of an alias. */
        enum tts_status status = key_line > 0 ? tts_yaml_refs_next(yaml, &token, err)
                                              : tts_yaml_refs_raw(yaml, &token, err);
        if (status != TTS_OK)
            return status;
        if (key_line > 0 && *lora_line == 0 && tts_train_is_meant(&token))
            *lora_line = key_line;
        bool is_key = nest_next(&nest, &token);
        key_line = is_key && tts_train_is_lora(token.text) ? token.line : 0;
        if (nest.depth > DEPTH_MAX) {
            tts_error_set(err, TTS_E_RANGE, "nested deeper than %d", DEPTH_MAX);
            return tts_yaml_at_line(err, token.line, TTS_E_RANGE);
        }
    }
    return TTS_OK;
}
