#include "sources/config/hfconfig.h"

#include "base/error.h"
#include "base/number.h"
#include "sources/json_pull.h"

#include <assert.h>
#include <string.h>

enum { QUOTE_MAX = 32, NAME_MAX_BYTES = 63 };

enum kind { NUMBER, FLAG };

static const struct name {
    const char *name;
    enum kind kind;
} names[] = {
    [TTS_HF_HIDDEN_SIZE] = {"hidden_size", NUMBER},
    [TTS_HF_LAYERS] = {"num_hidden_layers", NUMBER},
    [TTS_HF_HEADS] = {"num_attention_heads", NUMBER},
    [TTS_HF_KV_HEADS] = {"num_key_value_heads", NUMBER},
    [TTS_HF_HEAD_DIM] = {"head_dim", NUMBER},
    [TTS_HF_MLP] = {"intermediate_size", NUMBER},
    [TTS_HF_VOCABULARY] = {"vocab_size", NUMBER},
    [TTS_HF_POSITIONS] = {"max_position_embeddings", NUMBER},
    [TTS_HF_TIED] = {"tie_word_embeddings", FLAG},
    [TTS_HF_BIASES] = {"attention_bias", FLAG},
    [TTS_HF_WINDOW] = {"sliding_window", NUMBER},
    [TTS_HF_USE_WINDOW] = {"use_sliding_window", FLAG},
};
static_assert(sizeof names / sizeof names[0] == TTS_HF_KEYS, "each key has its name");

/* Keys that show a special kind of model. A key does not count if its value is null, false, or
 * a number of at most `usual`. */
static const struct sign {
    const char *name;
    enum tts_hf_kind kind;
    uint64_t usual;
} signs[] = {
    {"num_experts", TTS_HF_EXPERTS, 1},
    {"num_local_experts", TTS_HF_EXPERTS, 1},
    {"n_routed_experts", TTS_HF_EXPERTS, 1},
    {"moe_intermediate_size", TTS_HF_EXPERTS, 0},
    {"kv_lora_rank", TTS_HF_LATENT, 0},
    {"q_lora_rank", TTS_HF_LATENT, 0},
    {"mlp_bias", TTS_HF_MLP_BIAS, 0},
    {"n_embd", TTS_HF_GPT2, 0},
    {"n_layer", TTS_HF_GPT2, 0},
};
enum { SIGNS = sizeof signs / sizeof signs[0] };

/* The values of one JSON object: the whole file, or the object `text_config` in it. */
struct level {
    struct tts_hf_value values[TTS_HF_KEYS];
    char model_type[TTS_HFCONFIG_TEXT_MAX];
    uint32_t sign_lines[SIGNS]; /* line of each key of `signs`; 0 if the key is absent */
    uint32_t quantization_line;
    char quantization[TTS_HFCONFIG_TEXT_MAX];
};

struct reader {
    struct tts_jsonpull *json;
    struct tts_error *err;
    struct level top, text;
    struct level *level; /* the object that is being read */
};

const char *tts_hf_key_name(enum tts_hf_key key)
{
    assert((unsigned)key < TTS_HF_KEYS);
    return names[key].name;
}

/* ---- values ---- */

static const char *token_word(enum tts_jsonpull_kind kind)
{
    switch (kind) {
    case TTS_JSONPULL_OBJECT:
        return "an object";
    case TTS_JSONPULL_ARRAY:
        return "a list";
    case TTS_JSONPULL_STRING:
        return "a text";
    case TTS_JSONPULL_TRUE:
        return "true";
    case TTS_JSONPULL_FALSE:
        return "false";
    case TTS_JSONPULL_NULL:
    case TTS_JSONPULL_NUMBER:
    case TTS_JSONPULL_KEY:
    case TTS_JSONPULL_END:
    case TTS_JSONPULL_OBJECT_END:
    case TTS_JSONPULL_ARRAY_END:
        break;
    }
    return "nothing";
}

static enum tts_status fail_config_value(struct reader *r, enum tts_status status,
                                         const struct name *name,
                                         const struct tts_jsonpull_token *token)
{
    const char *what =
        name->kind == FLAG ? "true or false" : "a whole number below 2^64, without a sign";
    if (token->kind == TTS_JSONPULL_NUMBER) {
        int shown = token->len > QUOTE_MAX ? QUOTE_MAX : (int)token->len;
        tts_error_set(r->err, status, "'%s' must be %s, but is %.*s%s", name->name, what, shown,
                      token->text, token->len > QUOTE_MAX ? "..." : "");
    } else {
        tts_error_set(r->err, status, "'%s' must be %s, but is %s", name->name, what,
                      token_word(token->kind));
    }
    return tts_jsonpull_at(r->json, r->err, status);
}

/* Returns the length of the number without a fraction of zeros, because some programs write
 * 4096 as 4096.0. */
static size_t without_zero_fraction(const char *text, size_t len)
{
    const char *point = memchr(text, '.', len);
    if (!point)
        return len;
    size_t whole = (size_t)(point - text);
    for (size_t i = whole + 1; i < len; i++)
        if (text[i] != '0')
            return len;
    return whole;
}

static enum tts_status config_number(const struct tts_jsonpull_token *token, uint64_t *out)
{
    uint64_t ignored;
    if (token->kind != TTS_JSONPULL_NUMBER)
        return TTS_E_SYNTAX;
    if (token->is_whole) {
        *out = token->value;
        return TTS_OK;
    }
    size_t len = without_zero_fraction(token->text, token->len);
    if (token->text[0] == '-' &&
        tts_number_parse(token->text + 1, len - 1, &ignored) != TTS_E_SYNTAX)
        return TTS_E_RANGE;
    return tts_number_parse(token->text, len, out);
}

static uint32_t config_line(struct reader *r)
{
    tts_jsonpull_mark(r->json);
    uint64_t line = tts_jsonpull_marked_line(r->json);
    return line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
}

/* Reads the value of a known key. If a key occurs twice, the last value counts. */
static enum tts_status read_named_number(struct reader *r, const struct name *name)
{
    struct tts_jsonpull_token token;
    struct tts_hf_value *value = &r->level->values[name - names];
    enum tts_status status = tts_jsonpull_next(r->json, &token, r->err);
    if (status != TTS_OK)
        return status;
    if (token.kind == TTS_JSONPULL_NULL) {
        *value = (struct tts_hf_value){0};
        return TTS_OK;
    }
    uint64_t number = token.kind == TTS_JSONPULL_TRUE;
    bool is_flag = token.kind == TTS_JSONPULL_TRUE || token.kind == TTS_JSONPULL_FALSE;
    if (name->kind == FLAG)
        status = is_flag ? TTS_OK : TTS_E_SYNTAX;
    else
        status = config_number(&token, &number);
    if (status != TTS_OK && name >= &names[TTS_HF_WINDOW]) {
        *value = (struct tts_hf_value){0};
        return tts_jsonpull_finish(r->json, &token, r->err);
    }
    if (status != TTS_OK)
        return fail_config_value(r, status, name, &token);
    *value = (struct tts_hf_value){.is_set = true, .line = config_line(r), .number = number};
    return TTS_OK;
}

static enum tts_status read_sign_key(struct reader *r, const struct sign *sign)
{
    struct tts_jsonpull_token token;
    uint64_t number = 0;
    enum tts_status status = tts_jsonpull_next(r->json, &token, r->err);
    if (status != TTS_OK)
        return status;
    bool is_usual = token.kind == TTS_JSONPULL_NULL || token.kind == TTS_JSONPULL_FALSE ||
                    (config_number(&token, &number) == TTS_OK && number <= sign->usual);
    r->level->sign_lines[sign - signs] = is_usual ? 0 : config_line(r);
    return tts_jsonpull_finish(r->json, &token, r->err);
}

static bool is_config_key(const char *key, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(key, name, len) == 0;
}

/* Reads a string into `out`. A value of another type is skipped and leaves `out` unchanged. */
static enum tts_status read_config_text(struct reader *r, char out[TTS_HFCONFIG_TEXT_MAX])
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(r->json, &token, r->err);
    if (status != TTS_OK)
        return status;
    if (token.kind == TTS_JSONPULL_STRING) {
        memset(out, 0, TTS_HFCONFIG_TEXT_MAX);
        tts_jsonpull_text(&token, out, NAME_MAX_BYTES);
    }
    return tts_jsonpull_finish(r->json, &token, r->err);
}

static enum tts_status read_quantization(struct reader *r)
{
    struct level *level = r->level;
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(r->json, &token, r->err);
    if (status != TTS_OK)
        return status;
    bool is_there = token.kind != TTS_JSONPULL_NULL && token.kind != TTS_JSONPULL_FALSE;
    level->quantization_line = is_there ? config_line(r) : 0;
    memset(level->quantization, 0, sizeof level->quantization);
    if (token.kind != TTS_JSONPULL_OBJECT)
        return tts_jsonpull_finish(r->json, &token, r->err);
    for (;;) {
        char key[NAME_MAX_BYTES + 1];
        status = tts_jsonpull_key(r->json, &token, r->err);
        if (status != TTS_OK || token.kind == TTS_JSONPULL_OBJECT_END)
            return status;
        size_t len = tts_jsonpull_text(&token, key, sizeof key);
        status = is_config_key(key, len, "quant_method")
                     ? read_config_text(r, level->quantization)
                     : tts_jsonpull_skip(r->json, r->err);
        if (status != TTS_OK)
            return status;
    }
}

/* ---- objects ---- */

/* Enters the object `text_config`. Until its end, all keys belong to r->text. */
static enum tts_status enter_text_config(struct reader *r)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(r->json, &token, r->err);
    if (status == TTS_OK && token.kind == TTS_JSONPULL_OBJECT)
        r->level = &r->text;
    if (status == TTS_OK && token.kind == TTS_JSONPULL_ARRAY)
        return tts_jsonpull_leave(r->json, r->err);
    return status;
}

static enum tts_status read_config_pair(struct reader *r, const char *key, size_t len)
{
    for (size_t i = 0; i < TTS_HF_KEYS; i++)
        if (is_config_key(key, len, names[i].name))
            return read_named_number(r, &names[i]);
    for (size_t i = 0; i < SIGNS; i++)
        if (is_config_key(key, len, signs[i].name))
            return read_sign_key(r, &signs[i]);
    if (is_config_key(key, len, "model_type"))
        return read_config_text(r, r->level->model_type);
    if (is_config_key(key, len, "quantization_config"))
        return read_quantization(r);
    if (r->level == &r->top && is_config_key(key, len, "text_config"))
        return enter_text_config(r);
    return tts_jsonpull_skip(r->json, r->err);
}

/* Reads the pairs of the object whose beginning has been read, up to its end. */
static enum tts_status read_config_object(struct reader *r)
{
    r->level = &r->top;
    for (;;) {
        struct tts_jsonpull_token token;
        char key[NAME_MAX_BYTES + 1];
        enum tts_status status = tts_jsonpull_key(r->json, &token, r->err);
        if (status != TTS_OK)
            return status;
        if (token.kind == TTS_JSONPULL_OBJECT_END) {
            if (r->level == &r->top)
                return TTS_OK;
            r->level = &r->top;
            continue;
        }
        size_t len = tts_jsonpull_text(&token, key, sizeof key);
        status = read_config_pair(r, key, len);
        if (status != TTS_OK)
            return status;
    }
}

static enum tts_status read_config_document(struct reader *r)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(r->json, &token, r->err);
    if (status != TTS_OK)
        return status;
    if (token.kind != TTS_JSONPULL_OBJECT) {
        tts_error_set(r->err, TTS_E_SYNTAX,
                      "not a config.json: the file begins with %s, not with {",
                      token.kind == TTS_JSONPULL_NUMBER ? "a number" : token_word(token.kind));
        return tts_jsonpull_at(r->json, r->err, TTS_E_SYNTAX);
    }
    status = read_config_object(r);
    return status == TTS_OK ? tts_jsonpull_next(r->json, &token, r->err) : status;
}

/* ---- the result ---- */

static void take_config_level(const struct level *level, struct tts_hfconfig *out)
{
    for (unsigned key = 0; key < TTS_HF_KEYS; key++)
        if (!out->values[key].is_set)
            out->values[key] = level->values[key];
}

/* Sets the kind of the model from the first special key. The key names of GPT2 (n_embd,
 * n_layer) count only if the usual name hidden_size is absent. */
static void take_config_kind(const struct level *level, struct tts_hfconfig *out)
{
    bool has_size = out->values[TTS_HF_HIDDEN_SIZE].is_set;
    for (size_t i = 0; i < SIGNS && out->kind == TTS_HF_PLAIN; i++) {
        if (level->sign_lines[i] == 0 || (signs[i].kind == TTS_HF_GPT2 && has_size))
            continue;
        out->kind = signs[i].kind;
        out->kind_line = level->sign_lines[i];
        memcpy(out->kind_key, signs[i].name, strlen(signs[i].name) + 1);
    }
}

enum tts_status tts_hfconfig_check(const struct tts_hfconfig *config, struct tts_error *err)
{
    static const enum tts_hf_key needed[] = {TTS_HF_HIDDEN_SIZE, TTS_HF_LAYERS, TTS_HF_HEADS,
                                             TTS_HF_VOCABULARY, TTS_HF_MLP};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!config->values[needed[i]].is_set)
            return tts_error_set(
                err, TTS_E_NOT_FOUND,
                "'%s' is missing: the config.json of a language model has this key",
                tts_hf_key_name(needed[i]));
    return TTS_OK;
}

/* Combines the values of the whole file and of its text_config; the whole file takes
 * precedence. The type of the model comes from text_config only if hidden_size comes from there
 * too. */
static struct tts_hfconfig combine_levels(const struct reader *r)
{
    struct tts_hfconfig config = {0};
    const struct level *quantized = r->top.quantization_line > 0 ? &r->top : &r->text;
    take_config_level(&r->top, &config);
    bool of_text = !config.values[TTS_HF_HIDDEN_SIZE].is_set && r->text.model_type[0] != '\0';
    take_config_level(&r->text, &config);
    memcpy(config.model_type, of_text ? r->text.model_type : r->top.model_type,
           sizeof config.model_type);
    take_config_kind(&r->top, &config);
    take_config_kind(&r->text, &config);
    config.quantization_line = quantized->quantization_line;
    memcpy(config.quantization, quantized->quantization, sizeof config.quantization);
    return config;
}

enum tts_status tts_hfconfig_parse(const char *text, size_t len, struct tts_hfconfig *out,
                                   struct tts_error *err)
{
    if (len > TTS_HFCONFIG_MAX_BYTES)
        return tts_error_set(err, TTS_E_SYNTAX,
                             "the file is larger than %d MiB, the limit for a config.json",
                             TTS_HFCONFIG_MAX_BYTES >> 20);
    const struct tts_jsonpull_source source = {.before = (const unsigned char *)text,
                                               .before_len = len,
                                               .fd = -1,
                                               .window_bytes = TTS_JSONPULL_WINDOW_MIN};
    struct reader r = {.err = err};
    enum tts_status status = tts_jsonpull_new(&source, NULL, &r.json, err);
    if (status != TTS_OK)
        return status;
    status = read_config_document(&r);
    if (status == TTS_OK)
        *out = combine_levels(&r);
    tts_jsonpull_free(r.json);
    return status;
}
