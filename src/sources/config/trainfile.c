#include "sources/config/trainfile.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "base/span.h"
#include "sources/config/yamlmap.h"
#include "sources/textfile.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- keys ---- */

enum train_section {
    SECTION_TOP = TTS_YAMLMAP_TOP,
    SECTION_TRAINING,
    SECTION_OPTIMIZER,
    SECTION_DEVICE,
    SECTION_MULTIHOST,
    SECTION_MODEL,
    SECTION_EXPERIMENTAL,
    SECTION_EVAL,
    SECTION_SCHEDULER,
    SECTION_ROPE,
};

enum train_type {
    TYPE_NUMBER, /* this and the next three: a value that is kept; the target is its offset in
                    struct tts_trainfile */
    TYPE_BOOL,
    TYPE_REAL,
    TYPE_TEXT,
    TYPE_PASS,  /* a key without effect on the memory; its value is skipped */
    TYPE_ENTER, /* a section; the target is the number of the section */
    TYPE_MESH,  /* a list of two numbers */
    TYPE_LORA, /* This type and the following types mark keys that show a special kind of run if
                  their value is set: */
    TYPE_PIPELINE, /* any value except null and false */
    TYPE_EXPERTS,
    TYPE_EXPERT_AXIS, /* any value except null, false and -1 */
    TYPE_GRPO,
    TYPE_MLP, /* the section of a model that is neither GPT2 nor Llama */
};

#define KEPT(field, section, name, type)                                                       \
    {name, SECTION_##section, TYPE_##type, offsetof(struct tts_trainfile, field)},
#define ENTER(section, name, inner)                                                            \
    {                                                                                          \
        name, SECTION_##section, TYPE_ENTER, SECTION_##inner                                   \
    }
#define OF(section, name, type)                                                                \
    {                                                                                          \
        name, SECTION_##section, TYPE_##type, 0                                                \
    }

/* The keys that the parsers of tt-train read, and the keys in its configuration files, in the
 * versions of January and August 2026. */
static const struct tts_yamlmap_row rows[] = {
    ENTER(TOP, "training_config", TRAINING),
    ENTER(TOP, "device_config", DEVICE),
    ENTER(TOP, "multihost_config", MULTIHOST),
    ENTER(TOP, "transformer_config", MODEL),
    ENTER(TOP, "eval_config", EVAL),
    ENTER(TOP, "scheduler_config", SCHEDULER),
    OF(TOP, "mlp_config", MLP),
    OF(TOP, "remote_rollout_config", PASS),
    OF(TOP, "lora_config", LORA),
    OF(TOP, "lora", LORA),
    OF(TOP, "pipeline_parallel_config", PIPELINE),

    ENTER(TRAINING, "optimizer", OPTIMIZER),
    OF(TRAINING, "project_name", PASS),
    OF(TRAINING, "seed", PASS),
    OF(TRAINING, "model_save_interval", PASS),
    OF(TRAINING, "num_epochs", PASS),
    OF(TRAINING, "max_steps", PASS),
    OF(TRAINING, "total_steps", PASS),
    OF(TRAINING, "learning_rate", PASS),
    OF(TRAINING, "lr", PASS),
    OF(TRAINING, "weight_decay", PASS),
    OF(TRAINING, "momentum", PASS), /* only the MNIST example uses this key */
    OF(TRAINING, "beta1", PASS),
    OF(TRAINING, "beta2", PASS),
    OF(TRAINING, "eps", PASS),
    OF(TRAINING, "clip_grad_norm_max_norm", PASS),
    OF(TRAINING, "scheduler_type", PASS),
    OF(TRAINING, "warmup_steps", PASS),
    OF(TRAINING, "warmup_ratio", PASS),
    OF(TRAINING, "min_lr_ratio", PASS),
    OF(TRAINING, "lr_schedule_steps", PASS),
    OF(TRAINING, "tokenizer_path", PASS),
    OF(TRAINING, "model_path", PASS),
    OF(TRAINING, "model_type", PASS), /* no parser reads this key in this section */
    OF(TRAINING, "model_id", PASS),
    OF(TRAINING, "checkpoint_dir", PASS),
    OF(TRAINING, "eval_every", PASS),
    OF(TRAINING, "is_eval", PASS),
    OF(TRAINING, "lazy_parameter_init", PASS),
    OF(TRAINING, "logging_interval", PASS),
    OF(TRAINING, "validation_batch_size", PASS),
    OF(TRAINING, "weight_sync_every", PASS),
    OF(TRAINING, "grpo_config", GRPO),
    OF(TRAINING, "multihost_config", PIPELINE), /* the path of a file with this section */
    OF(TRAINING, "lora_config", LORA),
    OF(TRAINING, "lora", LORA),
    OF(TRAINING, "use_lora", LORA),

    OF(OPTIMIZER, "lr", PASS),
    OF(OPTIMIZER, "beta1", PASS),
    OF(OPTIMIZER, "beta2", PASS),
    OF(OPTIMIZER, "epsilon", PASS),
    OF(OPTIMIZER, "weight_decay", PASS),
    OF(OPTIMIZER, "weight_decay_skip_1d", PASS),
    OF(OPTIMIZER, "stochastic_rounding", PASS),
    OF(OPTIMIZER, "dampening", PASS),
    OF(OPTIMIZER, "nesterov", PASS),
    OF(OPTIMIZER, "ns_steps", PASS),
    OF(OPTIMIZER, "muon", PASS),
    OF(OPTIMIZER, "adamw", PASS),
    OF(OPTIMIZER, "adamw_modules", PASS),

    OF(DEVICE, "mesh_shape", MESH),
    OF(DEVICE, "device_ids", PASS),
    OF(DEVICE, "lazy_parameter_init", PASS),
    OF(DEVICE, "moe_axis", EXPERT_AXIS),

    OF(MULTIHOST, "num_workers", PASS),
    OF(MULTIHOST, "socket_type", PASS),
    OF(MULTIHOST, "pipeline_parallel_config", PIPELINE),

    ENTER(MODEL, "experimental", EXPERIMENTAL),
    ENTER(MODEL, "rope_scaling", ROPE),
    OF(MODEL, "theta", PASS),
    OF(MODEL, "model_path", PASS),
    OF(MODEL, "attention_bias",
       PASS), /* this one is for Qwen3; the following, up to the experts, are for DeepSeek */
    OF(MODEL, "inter_dim", PASS),
    OF(MODEL, "n_dense_layers", PASS),
    OF(MODEL, "q_lora_rank", PASS), /* a form of attention, not an adapter */
    OF(MODEL, "kv_lora_rank", PASS),
    OF(MODEL, "qk_nope_head_dim", PASS),
    OF(MODEL, "qk_rope_head_dim", PASS),
    OF(MODEL, "v_head_dim", PASS),
    OF(MODEL, "moe_type", EXPERTS),
    OF(MODEL, "moe_hyperparam", EXPERTS),
    OF(MODEL, "moe_inter_dim", EXPERTS),
    OF(MODEL, "n_routed_experts", EXPERTS),
    OF(MODEL, "n_shared_experts", EXPERTS),
    OF(MODEL, "n_activated_experts", EXPERTS),
    OF(MODEL, "n_expert_groups", EXPERTS),
    OF(MODEL, "n_limited_groups", EXPERTS),
    OF(MODEL, "score_func", EXPERTS),
    OF(MODEL, "route_scale", EXPERTS),
    OF(MODEL, "lora_config", LORA),
    OF(MODEL, "lora", LORA),
    OF(MODEL, "use_lora", LORA),

    OF(EVAL, "repetition_penalty", PASS),
    OF(EVAL, "temperature", PASS),
    OF(EVAL, "top_k", PASS),
    OF(EVAL, "top_p", PASS),

    OF(SCHEDULER, "max_lr", PASS),
    OF(SCHEDULER, "min_lr", PASS),
    OF(SCHEDULER, "warmup_steps", PASS),
    OF(SCHEDULER, "hold_steps", PASS),
    OF(SCHEDULER, "beta1_start", PASS),
    OF(SCHEDULER, "beta1_end", PASS),
    OF(SCHEDULER, "beta1_warmup_steps", PASS),

    OF(ROPE, "scaling_factor", PASS),
    OF(ROPE, "high_freq_factor", PASS),
    OF(ROPE, "low_freq_factor", PASS),
    OF(ROPE, "original_context_length", PASS),

    TTS_TRAINFILE_KEYS(KEPT)};

enum { ROWS = sizeof rows / sizeof rows[0] };
static_assert((int)ROWS <= TTS_YAMLMAP_ROWS_MAX, "the reader keeps a line of each");

/* Returns the value of `file` that a row fills, or NULL if the row fills no value. */
static struct tts_trainfile_value *row_field(struct tts_trainfile *file,
                                             const struct tts_yamlmap_row *row)
{
    return row->type > TYPE_TEXT ? NULL : (void *)((char *)file + row->target);
}

/* ---- a value ---- */

enum { DIGITS_MAX = 64 };

static bool is_any_word(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool is_true_word(const char *text)
{
    static const char *const words[] = {"true", "yes", "on"};
    return is_any_word(text, words, sizeof words / sizeof words[0]);
}

static bool is_false_word(const char *text)
{
    static const char *const words[] = {"false", "no", "off"};
    return is_any_word(text, words, sizeof words / sizeof words[0]);
}

static bool is_null_token(const struct tts_yaml_token *token)
{
    static const char *const words[] = {"null", "~"};
    return token->kind == TTS_YAML_SCALAR && !token->quoted &&
           is_any_word(token->text, words, sizeof words / sizeof words[0]);
}

/* Returns true if the token sets a value, that is, if the token is not null, false, 0 or
 * empty. */
static bool is_meant_token(const struct tts_yaml_token *token)
{
    if (token->kind != TTS_YAML_SCALAR)
        return true;
    return !is_null_token(token) && !is_false_word(token->text) && token->text[0] != '\0' &&
           strcmp(token->text, "0") != 0;
}

/* Fails with "'<name>' must be <what>, but is <the token>". */
static enum tts_status refuse_train_value(struct tts_yamlmap *map, enum tts_status status,
                                          const char *name, const char *what,
                                          const struct tts_yaml_token *token)
{
    const char *is = token->kind == TTS_YAML_LIST ? "a list" : "a map";
    bool cut = strlen(token->text) > TTS_YAMLMAP_QUOTE_MAX;
    if (token->kind != TTS_YAML_SCALAR)
        return tts_yamlmap_fail(map, status, token->line, "'%s' must be %s, but is %s", name,
                                what, is);
    return tts_yamlmap_fail(map, status, token->line, "'%s' must be %s, but is '%.*s%s'", name,
                            what, TTS_YAMLMAP_QUOTE_MAX, token->text, cut ? "..." : "");
}

/* Copies a number without the underscores that YAML allows between digits. Returns false if the
 * number has more than DIGITS_MAX other characters. */
static bool without_underscores(const char *text, char out[DIGITS_MAX + 1])
{
    size_t len = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '_' && c > text && tts_is_digit(c[-1]) && tts_is_digit(c[1]))
            continue;
        if (len == DIGITS_MAX)
            return false;
        out[len++] = *c;
    }
    out[len] = '\0';
    return true;
}

/* Parses a whole number. Refuses a leading 0: programs that read YAML 1.1 take "010" as 8, but
 * its author probably means 10. */
static enum tts_status parse_train_number(const char *text, uint64_t *out)
{
    char digits[DIGITS_MAX + 1];
    uint64_t ignored;
    if (!without_underscores(text, digits))
        return TTS_E_SYNTAX;
    size_t len = strlen(digits);
    if (digits[0] == '-' && tts_number_parse(digits + 1, len - 1, &ignored) != TTS_E_SYNTAX)
        return TTS_E_RANGE;
    if (digits[0] == '0' && len > 1)
        return TTS_E_SYNTAX;
    return tts_number_parse(digits, len, out);
}

enum {
    EXPONENT_MAX = 1000
}; /* a larger exponent decides the result, however many digits the scalar has */

/* Returns the number of digits at `text`. Sets *first to the index of the first digit that is
 * not 0; leaves *first unchanged if there is no such digit. */
static size_t count_real_digits(const char *text, size_t *first)
{
    size_t count = 0;
    bool is_found = false;
    for (; tts_is_digit(text[count]); count++)
        if (text[count] != '0' && !is_found) {
            *first = count;
            is_found = true;
        }
    return count;
}

/* Parses an exponent such as "e-3", if there is one, and moves *text past it. Stops adding
 * digits at EXPONENT_MAX, so that *out cannot overflow. */
static enum tts_status parse_exponent(const char **text, int *out)
{
    const char *at = *text;
    *out = 0;
    if (*at != 'e' && *at != 'E')
        return TTS_OK;
    bool is_negative = at[1] == '-';
    at += at[1] == '+' || is_negative ? 2 : 1;
    if (!tts_is_digit(*at))
        return TTS_E_SYNTAX;
    for (; tts_is_digit(*at); at++)
        *out = *out < EXPONENT_MAX ? *out * 10 + (*at - '0') : *out;
    *out = is_negative ? -*out : *out;
    *text = at;
    return TTS_OK;
}

/* Parses a decimal number of at least 0 and below 1, with an optional exponent. Sets *out to 0
 * if the number is 0, else to 1: the memory depends on nothing else. */
static enum tts_status parse_real(const char *text, uint64_t *out)
{
    bool is_negative = text[0] == '-';
    size_t first = SIZE_MAX, first_part = SIZE_MAX, part = 0;
    int exponent;
    text += is_negative;
    size_t whole = count_real_digits(text, &first);
    text += whole;
    if (*text == '.') {
        part = count_real_digits(text + 1, &first_part);
        text += 1 + part;
    }
    if (whole + part == 0 || parse_exponent(&text, &exponent) != TTS_OK || *text != '\0')
        return TTS_E_SYNTAX;
    bool is_any = first != SIZE_MAX || first_part != SIZE_MAX;
    /* The power of ten if the number is written as 0.d with a first digit that is not 0. The
     * number is below 1 only if this power is at most 0. */
    int power = exponent + (first != SIZE_MAX        ? (int)(whole - first)
                            : first_part != SIZE_MAX ? -(int)first_part
                                                     : 0);
    if (is_negative || (is_any && power > 0))
        return TTS_E_RANGE;
    *out = is_any;
    return TTS_OK;
}

static enum tts_status read_train_number(struct tts_yamlmap *map, const char *name,
                                         const struct tts_yaml_token *token, uint64_t *out)
{
    enum tts_status status = token->kind != TTS_YAML_SCALAR || token->too_long
                                 ? TTS_E_SYNTAX
                                 : parse_train_number(token->text, out);
    return status == TTS_OK
               ? TTS_OK
               : refuse_train_value(map, status, name,
                                    "a whole number below 2^64, in decimal digits", token);
}

static enum tts_status read_train_bool(struct tts_yamlmap *map, const char *name,
                                       const struct tts_yaml_token *token, uint64_t *out)
{
    *out = token->kind == TTS_YAML_SCALAR && is_true_word(token->text);
    if (!*out && (token->kind != TTS_YAML_SCALAR || !is_false_word(token->text)))
        return refuse_train_value(map, TTS_E_SYNTAX, name, "true or false", token);
    return TTS_OK;
}

static enum tts_status read_train_real(struct tts_yamlmap *map, const char *name,
                                       const struct tts_yaml_token *token, uint64_t *out)
{
    enum tts_status status = token->kind != TTS_YAML_SCALAR || token->too_long
                                 ? TTS_E_SYNTAX
                                 : parse_real(token->text, out);
    return status == TTS_OK
               ? TTS_OK
               : refuse_train_value(map, status, name,
                                    "a decimal number of at least 0 and less than 1", token);
}

static enum tts_status read_train_text(struct tts_yamlmap *map, const char *name,
                                       const struct tts_yaml_token *token,
                                       char out[TTS_TRAINFILE_TEXT_MAX])
{
    static_assert(TTS_YAML_SCALAR_MAX + 1 == TTS_TRAINFILE_TEXT_MAX, "one holds the other");
    if (token->kind != TTS_YAML_SCALAR || token->control)
        return refuse_train_value(map, TTS_E_SYNTAX, name, "one line of text", token);
    if (token->too_long)
        return refuse_train_value(map, TTS_E_RANGE, name, "text of at most 511 bytes", token);
    memcpy(out, token->bytes, TTS_TRAINFILE_TEXT_MAX);
    return TTS_OK;
}

/* Returns true if the value counts as absent: a null, or an empty string for a key that expects
 * text. */
static bool is_absent_value(const struct tts_yamlmap_row *row,
                            const struct tts_yaml_token *token)
{
    return is_null_token(token) || (row->type == TYPE_TEXT && !token->control &&
                                    token->kind == TTS_YAML_SCALAR && !token->text[0]);
}

/* ---- skipped values ---- */

enum { DEPTH_MAX = 64 }; /* maximum depth of a skipped value */

/* Returns true if the letters at `at` begin a word, as "lora" does in "use_lora", "useLora" and
 * "qlora", but not in "exploration". */
static bool begins_lora_word(const char *name, const char *at)
{
    if (at == name || !tts_is_letter(at[-1]) || at[-1] == 'q' || at[-1] == 'Q')
        return true;
    return *at >= 'A' && *at <= 'Z' && at[-1] >= 'a' && at[-1] <= 'z';
}

/* Returns true if a key is about adapters, such as "lora_rank" or "use_peft". The ranks of the
 * attention of DeepSeek are not about adapters. */
static bool is_lora_key(const char *name)
{
    if (strcmp(name, "q_lora_rank") == 0 || strcmp(name, "kv_lora_rank") == 0)
        return false;
    for (const char *at = name; *at; at++)
        if ((strncasecmp(at, "lora", 4) == 0 || strncasecmp(at, "peft", 4) == 0) &&
            begins_lora_word(name, at))
            return true;
    return false;
}

/* Tells keys from values in a stream of tokens: one bit for each open map or list, the
 * innermost in the lowest bit. */
struct nest {
    uint64_t is_map, is_value_next;
    unsigned depth;
};

static bool opens_nest(const struct tts_yaml_token *token)
{
    return token->kind == TTS_YAML_MAP || token->kind == TTS_YAML_LIST;
}

/* Advances by one token; must see every token in order. Returns true if the token is a key. */
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
    if (opens_nest(token)) {
        nest->is_map = nest->is_map << 1 | (token->kind == TTS_YAML_MAP);
        nest->is_value_next <<= 1;
        nest->depth++;
    }
    return is_key && token->kind == TTS_YAML_SCALAR;
}

/* Skips the rest of a value whose first token is `first`. Sets *lora_line to the line of the
 * first adapter key in the value that sets something, or to 0. Does not follow an alias,
 * because the value of the alias was examined at its anchor. */
static enum tts_status find_lora_key(struct tts_yamlmap *map,
                                     const struct tts_yaml_token *first, uint32_t *lora_line)
{
    struct nest nest = {0};
    /* Line of the adapter key whose value is the next token; 0 if there is none. */
    uint32_t key_line = 0;
    *lora_line = 0;
    nest_next(&nest, first);
    while (nest.depth > 0) {
        struct tts_yaml_token token;
        /* The value of an adapter key may be an alias, so follow the alias here. */
        enum tts_status status =
            key_line > 0 ? tts_yamlmap_next(map, &token) : tts_yamlmap_raw(map, &token);
        if (status != TTS_OK)
            return status;
        if (key_line > 0 && *lora_line == 0 && is_meant_token(&token))
            *lora_line = key_line;
        bool is_key = nest_next(&nest, &token);
        key_line = is_key && is_lora_key(token.text) ? token.line : 0;
        if (nest.depth > DEPTH_MAX)
            return tts_yamlmap_fail(map, TTS_E_RANGE, token.line,
                                    "sections are nested deeper than %d levels", DEPTH_MAX);
    }
    return TTS_OK;
}

/* ---- a file ---- */

/* Reads one file into two results: `all` gets all values, `rest` all values except those of
 * transformer_config. `rest` is used if the file names a model file, because the model file
 * then replaces transformer_config. */
struct train_reader {
    unsigned file;
    bool only_model; /* read a model file: skip all sections except transformer_config and
                        multihost_config */
    struct tts_trainfile *all, *rest;
    uint32_t training_line, model_line, mlp_line; /* line of each section name; 0 if absent */
};

/* Iterates over the results that take a value of the current section. Returns result number
 * `i`, or NULL after the last one. */
static struct tts_trainfile *section_result(const struct tts_yamlmap *map, int i)
{
    const struct train_reader *reader = map->ctx;
    if (i == 0)
        return reader->all;
    return i == 1 && !tts_yamlmap_is_in(map, SECTION_MODEL) ? reader->rest : NULL;
}

/* Stores a line and the current file, unless an earlier line is already stored. */
static void put_train_place(const struct tts_yamlmap *map, uint32_t *where, uint8_t *file,
                            uint32_t line)
{
    const struct train_reader *reader = map->ctx;
    if (*where == 0) {
        *where = line;
        *file = (uint8_t)reader->file;
    }
}

/* Records the line of an adapter key. Both results get the line, because adapter keys count in
 * every section. */
static void flag_lora(const struct tts_yamlmap *map, uint32_t line)
{
    const struct train_reader *reader = map->ctx;
    put_train_place(map, &reader->all->lora_line, &reader->all->lora_file, line);
    put_train_place(map, &reader->rest->lora_line, &reader->rest->lora_file, line);
}

/* Records the line of a key that shows a special kind of run. `type` is the type of the key's
 * row. */
static void flag_model_kind(const struct tts_yamlmap *map, enum train_type type, uint32_t line)
{
    struct tts_trainfile *out;
    if (type == TYPE_LORA) {
        flag_lora(map, line);
        return;
    }
    for (int i = 0; (out = section_result(map, i)) != NULL; i++) {
        if (type == TYPE_GRPO)
            put_train_place(map, &out->grpo_line, &out->grpo_file, line);
        else if (type == TYPE_PIPELINE)
            put_train_place(map, &out->pipeline_line, &out->pipeline_file, line);
        else
            put_train_place(map, &out->moe_line, &out->moe_file, line);
    }
}

static enum tts_status skip_train_value(struct tts_yamlmap *map,
                                        const struct tts_yaml_token *first)
{
    uint32_t lora_line;
    enum tts_status status = find_lora_key(map, first, &lora_line);
    if (status == TTS_OK && lora_line > 0)
        flag_lora(map, lora_line);
    return status;
}

static const char *section_name(unsigned section)
{
    const struct tts_yamlmap_row *row = rows;
    while (row->type != TYPE_ENTER || row->target != section)
        row++;
    assert(row < rows + ROWS);
    return row->key;
}

static void count_unknown_key(const struct tts_yamlmap *map, const struct tts_yaml_token *key)
{
    struct tts_trainfile *out;
    for (int i = 0; (out = section_result(map, i)) != NULL; i++) {
        if (out->unknown_keys < TTS_TRAINFILE_UNKNOWN)
            memcpy(out->unknown_names[out->unknown_keys], key->text,
                   sizeof out->unknown_names[0] - 1);
        out->unknown_keys++;
        put_train_place(map, &out->unknown_line, &out->unknown_file, key->line);
    }
}

/* Handles an unknown key. A key that resembles a known key is refused: a misspelled key would
 * change the result. Any other key belongs to a program that is not known here and is counted.
 * A key whose value has an anchor only holds a value for other keys and is not counted. */
static enum tts_status read_train_unknown(struct tts_yamlmap *map,
                                          const struct tts_yaml_token *key, const char *best)
{
    unsigned section = tts_yamlmap_section(map);
    bool is_adapter = is_lora_key(key->text);
    struct tts_yaml_token value;
    if (best && !is_adapter && section == SECTION_TOP)
        return tts_yamlmap_fail(map, TTS_E_NOT_FOUND, key->line,
                                "unknown section '%.*s', did you mean '%s'?",
                                TTS_YAMLMAP_QUOTE_MAX, key->text, best);
    if (best && !is_adapter)
        return tts_yamlmap_fail(map, TTS_E_NOT_FOUND, key->line,
                                "unknown key '%.*s' in section '%s', did you mean '%s'?",
                                TTS_YAMLMAP_QUOTE_MAX, key->text, section_name(section), best);
    enum tts_status status =
        is_adapter ? tts_yamlmap_next(map, &value) : tts_yamlmap_raw(map, &value);
    if (status != TTS_OK)
        return status;
    if (is_adapter && is_meant_token(&value))
        flag_lora(map, key->line);
    bool is_holder = value.kind != TTS_YAML_ALIAS && value.anchor[0] != '\0';
    if (!is_adapter && !is_holder)
        count_unknown_key(map, key);
    return skip_train_value(map, &value);
}

static enum tts_status enter_train_section(struct tts_yamlmap *map,
                                           const struct tts_yamlmap_row *row,
                                           const struct tts_yaml_token *token)
{
    struct train_reader *reader = map->ctx;
    bool is_wanted = row->section != SECTION_TOP || row->target == SECTION_MODEL ||
                     row->target == SECTION_MULTIHOST || !reader->only_model;
    bool is_empty = token->kind == TTS_YAML_SCALAR && !token->quoted && !token->text[0];
    if (!is_wanted)
        return skip_train_value(map, token);
    if (row->target == SECTION_TRAINING)
        reader->training_line = tts_yamlmap_line(map, row);
    else if (row->target == SECTION_MODEL)
        reader->model_line = tts_yamlmap_line(map, row);
    if (is_empty || is_null_token(token))
        return TTS_OK;
    if (token->kind != TTS_YAML_MAP)
        return refuse_train_value(map, TTS_E_SYNTAX, row->key, "a section of 'key: value'",
                                  token);
    tts_yamlmap_enter(map, (uint8_t)row->target);
    return TTS_OK;
}

static enum tts_status read_mesh_shape(struct tts_yamlmap *map, const char *name,
                                       const struct tts_yaml_token *first)
{
    static const char what[] = "two numbers of at least 1, such as [1, 8]";
    enum { SHAPE_MAX = 2 };
    uint64_t shape[SHAPE_MAX];
    struct tts_trainfile *out;
    if (is_null_token(first))
        return TTS_OK;
    if (first->kind != TTS_YAML_LIST)
        return refuse_train_value(map, TTS_E_SYNTAX, name, what, first);
    for (size_t count = 0;; count++) {
        struct tts_yaml_token token;
        enum tts_status status = tts_yamlmap_next(map, &token);
        if (status != TTS_OK)
            return status;
        bool is_end = token.kind == TTS_YAML_LIST_END;
        if (is_end && count == SHAPE_MAX)
            break;
        if (is_end || count == SHAPE_MAX)
            return tts_yamlmap_fail(map, TTS_E_SYNTAX, token.line,
                                    "'%s' must be %s, but has %s", name, what,
                                    is_end ? "fewer" : "more");
        status = read_train_number(map, name, &token, &shape[count]);
        if (status != TTS_OK)
            return status;
        if (shape[count] == 0)
            return refuse_train_value(map, TTS_E_RANGE, name, what, &token);
    }
    for (int i = 0; (out = section_result(map, i)) != NULL; i++) {
        memcpy(out->mesh_shape, shape, sizeof shape);
        out->mesh_line = first->line;
    }
    return TTS_OK;
}

static enum tts_status keep_train_value(struct tts_yamlmap *map,
                                        const struct tts_yamlmap_row *row,
                                        const struct tts_yaml_token *token)
{
    const struct train_reader *reader = map->ctx;
    struct tts_trainfile_value value = {
        .is_set = true, .key = row->key, .file = (uint8_t)reader->file, .line = token->line};
    struct tts_trainfile *out;
    enum tts_status status;
    if (is_absent_value(row, token))
        return TTS_OK;
    if (row->type == TYPE_NUMBER)
        status = read_train_number(map, row->key, token, &value.number);
    else if (row->type == TYPE_BOOL)
        status = read_train_bool(map, row->key, token, &value.number);
    else if (row->type == TYPE_REAL)
        status = read_train_real(map, row->key, token, &value.number);
    else
        status = read_train_text(map, row->key, token, value.text);
    for (int i = 0; status == TTS_OK && (out = section_result(map, i)) != NULL; i++)
        *row_field(out, row) = value;
    if (status == TTS_OK && row->target == offsetof(struct tts_trainfile, multihost) &&
        value.number)
        flag_model_kind(map, TYPE_PIPELINE, token->line);
    return status;
}

static enum tts_status read_train_value(struct tts_yamlmap *map,
                                        const struct tts_yamlmap_row *row,
                                        const struct tts_yaml_token *token)
{
    struct train_reader *reader = map->ctx;
    enum train_type type = (enum train_type)row->type;
    bool is_kind = is_meant_token(token);
    if (type <= TYPE_TEXT)
        return keep_train_value(map, row, token);
    if (type == TYPE_ENTER)
        return enter_train_section(map, row, token);
    if (type == TYPE_MESH)
        return read_mesh_shape(map, row->key, token);
    if (type == TYPE_EXPERT_AXIS) /* 0 is a valid axis */
        is_kind = token->kind != TTS_YAML_SCALAR ||
                  (!is_null_token(token) && token->text[0] && strcmp(token->text, "-1") != 0);
    if (type == TYPE_MLP && is_kind)
        reader->mlp_line = tts_yamlmap_line(map, row);
    else if (type != TYPE_PASS && type != TYPE_MLP && is_kind)
        flag_model_kind(map, type, tts_yamlmap_line(map, row));
    return skip_train_value(map, token);
}

static enum tts_status expect_sections(struct tts_error *err, const char *what, uint32_t line)
{
    tts_error_set(err, TTS_E_NOT_FOUND,
                  "%s: expected the sections 'training_config' or "
                  "'transformer_config' of tt-train",
                  what);
    return tts_yaml_at_line(err, line, TTS_E_NOT_FOUND);
}

static enum tts_status refuse_train_place(struct tts_yamlmap *map,
                                          const struct tts_yaml_token *token,
                                          enum tts_yamlmap_place place)
{
    if (place == TTS_YAMLMAP_KEY)
        return tts_yamlmap_fail(map, TTS_E_SYNTAX, token->line,
                                "a key is a %s: write 'key: value'",
                                token->kind == TTS_YAML_MAP ? "map" : "list");
    if (place == TTS_YAMLMAP_EMPTY)
        return expect_sections(map->err, "the file is empty", 1);
    return expect_sections(map->err,
                           token->kind == TTS_YAML_LIST ? "the file is a list"
                                                        : "the file is plain text",
                           token->line);
}

/* Checks that the file has a model section or a training section. A file that has mlp_config
 * but no transformer_config describes a model that is not supported. */
static enum tts_status check_sections(struct train_reader *reader, struct tts_error *err)
{
    if (reader->mlp_line > 0 && reader->model_line == 0) {
        if (reader->all->mlp_line == 0) {
            reader->all->mlp_line = reader->mlp_line;
            reader->all->mlp_file = (uint8_t)reader->file;
        }
        reader->model_line = reader->mlp_line;
    }
    if (reader->only_model && reader->model_line == 0) {
        tts_error_set(err, TTS_E_NOT_FOUND,
                      "the section 'transformer_config' is missing: the model "
                      "file of a GPT2 or Llama has it");
        return tts_yaml_at_line(err, 1, TTS_E_NOT_FOUND);
    }
    bool is_neither = reader->model_line == 0 && reader->training_line == 0;
    return is_neither ? expect_sections(err, "not a configuration", 1) : TTS_OK;
}

/* Reads one file into the results of `reader`. After a failure the results may be
 * incomplete. */
static enum tts_status read_train_file(struct train_reader *reader, const char *text,
                                       size_t len, struct tts_error *err)
{
    static const struct tts_yamlmap_form form = {.what = "a configuration",
                                                 .max_bytes = TTS_TRAINFILE_MAX_BYTES,
                                                 .rows = rows,
                                                 .row_count = ROWS,
                                                 .has_refs = true,
                                                 .refuse = refuse_train_place,
                                                 .unknown = read_train_unknown,
                                                 .value = read_train_value};
    assert(reader->file < TTS_TRAINFILE_FILES);
    enum tts_status status = tts_yamlmap_read(&form, reader, text, len, err);
    return status == TTS_OK ? check_sections(reader, err) : status;
}

enum tts_status tts_trainfile_parse(const char *text, size_t len, unsigned file,
                                    struct tts_trainfile *out, struct tts_error *err)
{
    struct tts_trainfile all = *out, rest = {0};
    struct train_reader reader = {.file = file, .all = &all, .rest = &rest};
    enum tts_status status = read_train_file(&reader, text, len, err);
    if (status == TTS_OK)
        *out = all;
    return status;
}

/* ---- the path of a model file ---- */

static bool is_name_char(char c, bool is_first)
{
    return tts_is_letter(c) || c == '_' || (tts_is_digit(c) && !is_first);
}

/* Returns the length of the variable "$NAME" or "${NAME}" at `text`, and copies its name.
 * Returns 0 if no variable begins there. */
static size_t find_variable(const char *text, char name[TTS_TRAINFILE_TEXT_MAX])
{
    bool in_braces = text[0] == '$' && text[1] == '{';
    size_t begin = in_braces ? 2 : 1, len = 0;
    if (text[0] != '$')
        return 0;
    while (is_name_char(text[begin + len], len == 0))
        len++;
    if (len == 0 || (in_braces && text[begin + len] != '}'))
        return 0;
    assert(len < TTS_TRAINFILE_TEXT_MAX);
    memcpy(name, text + begin, len);
    name[len] = '\0';
    return begin + len + in_braces;
}

/* Appends `text` to `out`. Returns false if the result would be too long. */
static bool append_expanded(char out[TTS_TRAINFILE_TEXT_MAX], size_t *len, const char *text,
                            size_t text_len)
{
    if (text_len >= TTS_TRAINFILE_TEXT_MAX - *len)
        return false;
    memcpy(out + *len, text, text_len);
    *len += text_len;
    out[*len] = '\0';
    return true;
}

/* Copies a path and replaces environment variables. A variable that is not set stays in the
 * text. Returns false if the result would be too long. */
static bool expand_variables(const char *text, char out[TTS_TRAINFILE_TEXT_MAX])
{
    size_t len = 0;
    out[0] = '\0';
    while (*text) {
        char name[TTS_TRAINFILE_TEXT_MAX];
        size_t taken = find_variable(text, name);
        const char *value = taken > 0 ? getenv(name) : NULL;
        taken = taken > 0 ? taken : 1;
        if (!append_expanded(out, &len, value ? value : text, value ? strlen(value) : taken))
            return false;
        text += taken;
    }
    return true;
}

/* Returns true if the concatenation of the three parts is the path of an existing file, and
 * copies that path to `out`. A path that is too long counts as not existing. */
static bool path_exists(const char *dir, const char *between, const char *path,
                        char out[TTS_TRAINFILE_TEXT_MAX])
{
    char whole[TTS_TRAINFILE_TEXT_MAX];
    int len = snprintf(whole, sizeof whole, "%s%s%s", dir, between, path);
    if (path[0] == '\0' || len < 0 || (size_t)len >= sizeof whole || access(whole, F_OK) != 0)
        return false;
    memcpy(out, whole, sizeof whole);
    return true;
}

static const char *path_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the part of a path after the last "model_configs/", or the file name if that folder
 * does not occur. Model files have folders of their own in it. */
static const char *path_below_models(const char *path)
{
    static const char models[] = "model_configs/";
    const char *below = path, *at = path;
    while ((at = strstr(at, models)) != NULL)
        below = at += sizeof models - 1;
    return below == path ? path_base_name(path) : below;
}

/* Copies the directory of a path, with its final slash; "" if the path has no directory. */
static void path_directory(const char *path, char out[TTS_TRAINFILE_TEXT_MAX])
{
    size_t len = (size_t)(path_base_name(path) - path);
    assert(len < TTS_TRAINFILE_TEXT_MAX);
    memcpy(out, path, len);
    out[len] = '\0';
}

/* Searches for a model file and copies its path. Users copy configurations out of the source
 * tree, so perhaps only the last part of `path` is right. `dir` is the directory of the
 * training file. */
static bool find_model_path(const char *path, const char *dir, char out[TTS_TRAINFILE_TEXT_MAX])
{
    static const char *const above[] = {"../", "../../"};
    bool is_relative = path[0] != '/';
    if (path_exists("", "", path, out) || (is_relative && path_exists(dir, "", path, out)) ||
        path_exists(dir, "", path_base_name(path), out))
        return true;
    for (size_t i = 0; i < sizeof above / sizeof above[0]; i++) {
        char models[sizeof "../../model_configs/"];
        snprintf(models, sizeof models, "%smodel_configs/", above[i]);
        if ((is_relative && path_exists(dir, above[i], path, out)) ||
            path_exists(dir, models, path_below_models(path), out) ||
            path_exists(dir, models, path_base_name(path), out))
            return true;
    }
    return false;
}

/* Finds the model file that the training file `beside` calls `named`, and copies its path to
 * `out`. `beside` is "-" if the training file is standard input. TTS_E_NOT_FOUND: there is no
 * such file; `missing` is its path. TTS_E_RANGE: the path is too long. err has no line. */
static enum tts_status find_named_model(const char *named, const char *beside,
                                        char out[TTS_TRAINFILE_TEXT_MAX],
                                        char missing[TTS_TRAINFILE_TEXT_MAX],
                                        struct tts_error *err)
{
    char path[TTS_TRAINFILE_TEXT_MAX], dir[TTS_TRAINFILE_TEXT_MAX];
    if (!expand_variables(named, path))
        return tts_error_set(err, TTS_E_RANGE,
                             "the path of the model file is longer than %d bytes",
                             TTS_TRAINFILE_TEXT_MAX - 1);
    path_directory(beside, dir);
    if (find_model_path(path, dir, out))
        return TTS_OK;
    memcpy(missing, path, sizeof path);
    return tts_error_set(err, TTS_E_NOT_FOUND,
                         "model file not found: searched the given path, the folder of this "
                         "file and ../model_configs");
}

/* ---- both files ---- */

struct train_load {
    struct tts_trainfile out, rest;
    const struct tts_textfile *text; /* the text of the requested file */
    struct tts_textfile training, model;
    struct train_reader reader;
};

static enum tts_status keep_model_path(struct train_load *load, const char *path,
                                       struct tts_error *err)
{
    size_t len = strlen(path);
    if (len >= TTS_TRAINFILE_TEXT_MAX)
        return tts_error_set_errno(err, TTS_E_IO, ENAMETOOLONG, "cannot read '%s'", path);
    memcpy(load->out.paths[TTS_TRAINFILE_TRAINING], path, len + 1);
    return TTS_OK;
}

/* Marks all values as values of the model file, because the requested file is a model file. */
static void mark_as_model_file(struct tts_trainfile *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct tts_trainfile_value *value = row_field(out, &rows[i]);
        if (value && value->is_set)
            value->file = TTS_TRAINFILE_MODEL;
    }
    out->lora_file = out->pipeline_file = out->moe_file = out->grpo_file = TTS_TRAINFILE_MODEL;
    out->mlp_file = TTS_TRAINFILE_MODEL;
    out->unknown_file = TTS_TRAINFILE_MODEL;
    memcpy(out->paths[TTS_TRAINFILE_MODEL], out->paths[TTS_TRAINFILE_TRAINING],
           TTS_TRAINFILE_TEXT_MAX);
    out->paths[TTS_TRAINFILE_TRAINING][0] = '\0';
}

static enum tts_status load_train_model(struct train_load *load, struct tts_error *err)
{
    const struct tts_trainfile_value *named = &load->out.model_config;
    char *path = load->out.paths[TTS_TRAINFILE_MODEL];
    enum tts_status status =
        find_named_model(named->text, load->out.paths[TTS_TRAINFILE_TRAINING], path,
                         load->out.missing_model, err);
    if (status != TTS_OK)
        return tts_yaml_at_line(err, named->line, status);
    load->reader = (struct train_reader){.file = TTS_TRAINFILE_MODEL,
                                         .only_model = true,
                                         .all = &load->out,
                                         .rest = &load->rest};
    status = tts_textfile_read(path, TTS_TRAINFILE_MAX_BYTES, NULL, &load->model, err);
    return status == TTS_OK
               ? read_train_file(&load->reader, load->model.text, load->model.len, err)
               : status;
}

/* Returns true if runs of this kind are not supported, whatever their model is. */
static bool is_not_modelled(const struct tts_trainfile *file)
{
    return file->lora_line != 0 || file->pipeline_line != 0 || file->moe_line != 0 ||
           file->grpo_line != 0 || file->enable_cp.number != 0 || file->enable_fsdp.number != 0;
}

static enum tts_status load_train_files(struct train_load *load, const char *path,
                                        struct tts_error *err)
{
    struct train_reader *reader = &load->reader;
    struct tts_trainfile *out = &load->out;
    *reader = (struct train_reader){.all = out, .rest = &load->rest};
    enum tts_status status = keep_model_path(load, path, err);
    if (status == TTS_OK && !load->text) {
        status = tts_textfile_read(path, TTS_TRAINFILE_MAX_BYTES, NULL, &load->training, err);
        load->text = &load->training;
    }
    if (status == TTS_OK)
        status = read_train_file(reader, load->text->text, load->text->len, err);
    if (status != TTS_OK)
        return status;
    bool has_model = reader->model_line != 0;
    if (reader->training_line == 0) {
        assert(has_model);
        mark_as_model_file(out);
        return TTS_OK;
    }
    if (out->model_config.is_set) { /* a model file takes precedence over transformer_config */
        memcpy(load->rest.paths, out->paths, sizeof out->paths);
        *out = load->rest;
        return load_train_model(load, err);
    }
    if (has_model) {
        memcpy(out->paths[TTS_TRAINFILE_MODEL], out->paths[TTS_TRAINFILE_TRAINING],
               TTS_TRAINFILE_TEXT_MAX);
        return TTS_OK;
    }
    if (is_not_modelled(out))
        return TTS_OK;
    tts_error_set(err, TTS_E_NOT_FOUND,
                  "no model: 'training_config' needs 'model_config', "
                  "the path of a model file");
    return tts_yaml_at_line(err, reader->training_line, TTS_E_NOT_FOUND);
}

enum tts_status tts_trainfile_load(const char *path, const struct tts_textfile *text,
                                   struct tts_trainfile *out, unsigned *bad_file,
                                   struct tts_error *err)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    struct train_load *load = alloc->alloc(alloc->ctx, sizeof *load);
    if (!load) {
        *bad_file = TTS_TRAINFILE_TRAINING;
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM, "cannot read '%s'", path);
    }
    *load = (struct train_load){.text = text};
    enum tts_status status = load_train_files(load, path, err);
    if (status == TTS_OK)
        *out = load->out;
    else {
        *bad_file = load->reader.file;
        memcpy(out->paths, load->out.paths, sizeof out->paths);
        memcpy(out->missing_model, load->out.missing_model, sizeof out->missing_model);
    }
    tts_textfile_release(&load->training);
    tts_textfile_release(&load->model);
    alloc->free(alloc->ctx, load, sizeof *load);
    return status;
}
