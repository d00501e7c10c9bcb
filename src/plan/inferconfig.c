#include "plan/inferconfig.h"

#include "base/error.h"
#include "base/nearest.h"
#include "sources/config/hfconfig.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Sets an error of the file that was asked for. */
#define FAIL_FILE(config, status, line, ...)                                                   \
    tts_notes_fail(&(config)->train.notes, status, (config)->path, line, __VA_ARGS__)

/* --- types of models --------------------------------------------------------------------- */

enum biases { BIASES_NONE, BIASES_BY_KEY /* q, k, v and output */, BIASES_QKV };

/* The properties of a model type that config.json does not contain. */
static const struct model_type {
    const char *name;
    enum biases biases;
    bool is_tied; /* value of tie_word_embeddings if the key is absent */
    bool has_head_norms;
    /* If the key is absent, the model has a fixed number that other keys do not give: the key
     * is required. */
    bool needs_kv_heads, needs_head_dim;
} types[] = {
    {"llama", BIASES_BY_KEY, false, false, false, false},
    {"mistral", BIASES_NONE, false, false, true, false},
    {"qwen2", BIASES_QKV, false, false, true, false},
    {"qwen3", BIASES_BY_KEY, false, true, true, true},
    {"phi3", BIASES_NONE, false, false, false, false},
    {"gemma", BIASES_BY_KEY, true, false, true, true},
};

enum { TYPES = sizeof types / sizeof types[0] };

static const struct {
    const char *prefix, *nearest;
} refusals[] = {
    {"deepseek", "the latent attention of this type uses another cache; the nearest modelled "
                 "type is 'llama'"},
    {"gpt2", "the config.json of this type uses other keys; give a tt-train model file with "
             "model_type gpt2"},
    {"gemma", "this type has more norms, and layers with a window; the nearest modelled type "
              "is 'gemma'"},
    {"mixtral", "this type is a mixture of experts; the nearest modelled type is 'mistral'"},
    {"falcon", "this type uses other blocks; the nearest modelled type is 'llama'"},
    {"mllama",
     "the cross attention of this type is not modelled; the nearest modelled type is 'llama'"},
};

static enum tts_status refuse_unknown_type(struct tts_inferconfig *config)
{
    const char *type = config->model_type;
    struct tts_nearest nearest = {.word = type};
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (strncmp(type, refusals[i].prefix, strlen(refusals[i].prefix)) == 0)
            return FAIL_FILE(config, TTS_E_INVALID, 0, "model_type '%s' is not modelled: %s",
                             type, refusals[i].nearest);
    for (size_t i = 0; i < TYPES; i++)
        tts_nearest_offer(&nearest, types[i].name);
    for (size_t i = 0; i < TYPES;
         i++) /* the name of a derived type begins with the name of its base type */
        if (strncmp(type, types[i].name, strlen(types[i].name)) == 0)
            nearest.best = types[i].name;
    if (nearest.best)
        return FAIL_FILE(config, TTS_E_INVALID, 0,
                         "model_type '%s' is not modelled; the nearest modelled type is '%s'",
                         type, nearest.best);
    return FAIL_FILE(
        config, TTS_E_INVALID, 0,
        "model_type '%s' is not modelled; the modelled types are llama, mistral, qwen2, "
        "qwen3, phi3 and gemma",
        type);
}

static enum tts_status find_model_type(struct tts_inferconfig *config,
                                       const struct model_type **out)
{
    config->type_is_assumed = config->model_type[0] == '\0';
    if (config->type_is_assumed)
        snprintf(config->model_type, sizeof config->model_type, "%s", types[0].name);
    for (size_t i = 0; i < TYPES; i++) {
        if (strcmp(types[i].name, config->model_type) != 0)
            continue;
        *out = &types[i];
        return TTS_OK;
    }
    return refuse_unknown_type(config);
}

/* --- config.json ------------------------------------------------------------------------- */

static void put_json_origins(struct tts_inferconfig *config, const struct tts_hfconfig *file)
{
    static const enum tts_hf_key keys[TTS_INFERENCE_FIELDS] = {
        [TTS_INFERENCE_FIELD_LAYERS] = TTS_HF_LAYERS,
        [TTS_INFERENCE_FIELD_HIDDEN] = TTS_HF_HIDDEN_SIZE,
        [TTS_INFERENCE_FIELD_HEADS] = TTS_HF_HEADS,
        [TTS_INFERENCE_FIELD_KV_HEADS] = TTS_HF_KV_HEADS,
        [TTS_INFERENCE_FIELD_HEAD_DIM] = TTS_HF_HEAD_DIM,
        [TTS_INFERENCE_FIELD_MLP] = TTS_HF_MLP,
        [TTS_INFERENCE_FIELD_VOCABULARY] = TTS_HF_VOCABULARY,
        [TTS_INFERENCE_FIELD_LENGTH] = TTS_HF_POSITIONS,
    };
    for (int i = TTS_INFERENCE_FIELD_LAYERS; i <= TTS_INFERENCE_FIELD_LENGTH; i++) {
        bool is_of_file = i != TTS_INFERENCE_FIELD_BATCH && !config->origins[i].option;
        if (is_of_file)
            config->origins[i] = (struct tts_inference_origin){
                .key = tts_hf_key_name(keys[i]), .line = file->values[keys[i]].line};
    }
}

static void put_json_model(struct tts_inferconfig *config, const struct tts_hfconfig *file,
                           const struct model_type *type)
{
    const struct tts_hf_value *values = file->values;
    bool has_biases = values[TTS_HF_BIASES].is_set && values[TTS_HF_BIASES].number != 0;
    bool by_key = type->biases == BIASES_BY_KEY && has_biases;
    config->config.model = (struct tts_inference_model){
        .layers = values[TTS_HF_LAYERS].number,
        .hidden = values[TTS_HF_HIDDEN_SIZE].number,
        .heads = values[TTS_HF_HEADS].number,
        .kv_heads =
            values[values[TTS_HF_KV_HEADS].is_set ? TTS_HF_KV_HEADS : TTS_HF_HEADS].number,
        .head_dim = values[TTS_HF_HEAD_DIM].number,
        .mlp_width = values[TTS_HF_MLP].number,
        .vocabulary =
            config->vocabulary ? config->vocabulary : values[TTS_HF_VOCABULARY].number,
        .positions = values[TTS_HF_POSITIONS].number,
        .tied = values[TTS_HF_TIED].is_set ? values[TTS_HF_TIED].number != 0 : type->is_tied,
        .biases = by_key || type->biases == BIASES_QKV,
        .output_bias = by_key,
        .head_norms = type->has_head_norms,
    };
}

/* Stores the keys that the plan does not use. A window counts only if use_sliding_window does
 * not turn it off. */
static void put_unused_keys(struct tts_inferconfig *config, const struct tts_hfconfig *file)
{
    const struct tts_hf_value *window = &file->values[TTS_HF_WINDOW];
    const struct tts_hf_value *use = &file->values[TTS_HF_USE_WINDOW];
    bool is_off = use->is_set && use->number == 0;
    config->window = window->is_set && !is_off ? window->number : 0;
    config->is_quantized = file->quantization_line > 0;
    snprintf(config->quantization, sizeof config->quantization, "%s", file->quantization);
}

static enum tts_status refuse_kind(struct tts_inferconfig *config,
                                   const struct tts_hfconfig *file)
{
    static const char *const kinds[TTS_HF_KINDS] = {
        [TTS_HF_EXPERTS] = "belongs to a mixture of experts, which is not modelled; only "
                           "dense models are",
        [TTS_HF_LATENT] = "belongs to latent attention, which is not modelled",
        [TTS_HF_MLP_BIAS] = "is not modelled; only an MLP without biases is",
        [TTS_HF_GPT2] = "belongs to GPT2, whose config.json is not supported; use a tt-train "
                        "YAML with model_type gpt2",
    };
    return FAIL_FILE(config, TTS_E_INVALID, file->kind_line, "'%s' %s", file->kind_key,
                     kinds[file->kind]);
}

static enum tts_status check_needed(struct tts_inferconfig *config,
                                    const struct tts_hfconfig *file,
                                    const struct model_type *type)
{
    const struct {
        enum tts_hf_key key;
        bool is_needed;
    } keys[] = {{TTS_HF_KV_HEADS, type->needs_kv_heads},
                {TTS_HF_HEAD_DIM, type->needs_head_dim}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].is_needed && !file->values[keys[i].key].is_set)
            return FAIL_FILE(config, TTS_E_NOT_FOUND, 0,
                             "'%s' is missing: a model of type %s needs this key",
                             tts_hf_key_name(keys[i].key), type->name);
    return TTS_OK;
}

static enum tts_status load_json(struct tts_inferconfig *config,
                                 const struct tts_textfile *text)
{
    struct tts_hfconfig file = {0};
    struct tts_error err = {0};
    const struct model_type *type = NULL;
    if (tts_hfconfig_parse(text->text, text->len, &file, &err) != TTS_OK)
        return tts_notes_fail_read(&config->train.notes, config->path, &err);
    snprintf(config->model_type, sizeof config->model_type, "%s", file.model_type);
    enum tts_status status = find_model_type(config, &type);
    if (status != TTS_OK)
        return status;
    if (file.kind != TTS_HF_PLAIN)
        return refuse_kind(config, &file);
    if (tts_hfconfig_check(&file, &err) != TTS_OK)
        return tts_notes_fail_read(&config->train.notes, config->path, &err);
    status = check_needed(config, &file, type);
    if (status != TTS_OK)
        return status;
    put_json_model(config, &file, type);
    put_json_origins(config, &file);
    put_unused_keys(config, &file);
    return TTS_OK;
}

/* --- YAML of tt-train, as recipe head reads it -------------------------------------------- */

static void put_yaml_origins(struct tts_inferconfig *config)
{
    const struct tts_trainconfig *train = &config->train;
    const struct {
        enum tts_inference_field field;
        enum tts_workload_field setting;
    } origins[] = {
        {TTS_INFERENCE_FIELD_LAYERS, TTS_FIELD_BLOCKS},
        {TTS_INFERENCE_FIELD_HIDDEN, TTS_FIELD_WIDTH},
        {TTS_INFERENCE_FIELD_HEADS, TTS_FIELD_HEADS},
        {TTS_INFERENCE_FIELD_KV_HEADS,
         tts_trainconfig_is_llama(train) ? TTS_FIELD_GROUPS : TTS_FIELD_HEADS},
        {TTS_INFERENCE_FIELD_MLP, TTS_FIELD_MLP_WIDTH},
        {TTS_INFERENCE_FIELD_VOCABULARY, TTS_FIELD_VOCABULARY},
        {TTS_INFERENCE_FIELD_LENGTH, TTS_FIELD_SEQUENCE},
    };
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
        struct tts_inference_origin *origin = &config->origins[origins[i].field];
        if (!origin->option)
            *origin = (struct tts_inference_origin){
                .key = tts_setting_of(origins[i].setting)->key,
                .path = tts_trainconfig_path(train, TTS_TRAINFILE_MODEL),
                .line = train->values[origins[i].setting].line};
    }
}

static void put_yaml_model(struct tts_inferconfig *config)
{
    const struct tts_model_config *model = &config->train.workload.model;
    struct tts_model_config of_mlp = *model;
    bool is_gpt2 = model->family == TTS_FAMILY_GPT2;
    if (of_mlp.width >= UINT64_C(1) << 60) /* more than 2^63 bytes under every rule */
        of_mlp.width = 1;
    config->config.model = (struct tts_inference_model){
        .layers = model->blocks,
        .hidden = model->width,
        .heads = model->heads,
        .kv_heads = model->groups,
        .mlp_width = tts_model_mlp_width(&of_mlp),
        .vocabulary = model->vocabulary,
        .positions = model->sequence,
        .tied = model->tied,
        .mlp = is_gpt2 ? TTS_MLP_PLAIN : TTS_MLP_GATED,
        .biases = is_gpt2,
        .output_bias = is_gpt2,
        .learned_positions = is_gpt2,
        .fixed_positions = model->fixed_positions,
    };
}

/* Adds a note if the training file sets a batch or a mesh that the plan does not use. */
static void note_training(struct tts_inferconfig *config)
{
    const struct tts_trainfile *file = &config->train.file;
    const struct tts_trainfile_value *batch = &file->batch_size;
    bool has_batch = batch->is_set && !config->origins[TTS_INFERENCE_FIELD_BATCH].option &&
                     batch->number != config->config.batch;
    bool has_mesh = (file->mesh_shape[0] > 1 || file->mesh_shape[1] > 1) &&
                    !config->origins[TTS_INFERENCE_FIELD_TENSOR_PARALLEL].option;
    if (!has_batch && !has_mesh)
        return;
    tts_notes_add(
        &config->train.notes, tts_trainconfig_path(&config->train, TTS_TRAINFILE_TRAINING),
        has_batch ? batch->line : file->mesh_line, "%s%s%s not used for inference: give %s%s%s",
        has_batch ? "'batch_size'" : "", has_batch && has_mesh ? " and " : "",
        has_mesh ? has_batch ? "'mesh_shape' are" : "'mesh_shape' is" : " is",
        has_batch ? "'--batch'" : "", has_batch && has_mesh ? ", " : "",
        has_mesh ? "'--tensor-parallel'" : "");
}

static enum tts_status load_yaml(struct tts_inferconfig *config,
                                 const struct tts_textfile *text)
{
    struct tts_trainconfig *train = &config->train;
    const struct tts_setting_value *vocabulary = &train->values[TTS_FIELD_VOCABULARY];
    config->overrides = (struct tts_overrides){.recipe = TTS_RECIPE_HEAD};
    if (config->vocabulary > 0)
        tts_overrides_give(&config->overrides, TTS_FIELD_VOCABULARY, config->vocabulary);
    enum tts_status status =
        tts_trainconfig_model(train, config->path, &config->overrides, text);
    if (status != TTS_OK)
        return status;
    snprintf(config->model_type, sizeof config->model_type, "%s",
             tts_trainconfig_word(train, TTS_FIELD_FAMILY));
    config->type_is_assumed = train->values[TTS_FIELD_FAMILY].origin == TTS_ORIGIN_DEFAULT;
    if (vocabulary->origin == TTS_ORIGIN_RULE)
        config->vocabulary_why = vocabulary->why;
    put_yaml_model(config);
    put_yaml_origins(config);
    note_training(config);
    return TTS_OK;
}

/* --- either form ------------------------------------------------------------------------- */

/* If the text has no clear format, the file name decides, so that the right reader reports the
 * error. */
static bool is_json_config(const char *path, const struct tts_textfile *text)
{
    size_t at = 0;
    while (at < text->len && memchr(" \t\r\n", text->text[at], 4))
        at++;
    return (at < text->len && text->text[at] == '{') || tts_ends_in(path, ".json");
}

static const char *config_origin_path(const struct tts_inferconfig *config,
                                      const struct tts_inference_origin *origin)
{
    return origin->path ? origin->path : config->path;
}

/* Sets the width of a head to the model's width divided by the number of heads, if the file
 * does not give it. */
static enum tts_status put_head_dim(struct tts_inferconfig *config)
{
    struct tts_inference_model *model = &config->config.model;
    const struct tts_inference_origin *heads = &config->origins[TTS_INFERENCE_FIELD_HEADS];
    if (config->origins[TTS_INFERENCE_FIELD_HEAD_DIM].line > 0)
        return TTS_OK;
    if (model->heads > 0 && model->hidden % model->heads == 0) {
        model->head_dim = model->hidden / model->heads;
        return TTS_OK;
    }
    return tts_notes_fail(&config->train.notes, TTS_E_RANGE, config_origin_path(config, heads),
                          heads->line, "'%s' must divide '%s' (%" PRIu64 "), but is %" PRIu64,
                          heads->key, config->origins[TTS_INFERENCE_FIELD_HIDDEN].key,
                          model->hidden, model->heads);
}

static enum tts_status put_context_length(struct tts_inferconfig *config)
{
    const struct tts_inference_origin *origin = &config->origins[TTS_INFERENCE_FIELD_LENGTH];
    if (config->has_length)
        return TTS_OK;
    config->config.length = config->config.model.positions;
    if (config->config.length > 0)
        return TTS_OK;
    return tts_notes_fail(&config->train.notes, TTS_E_RANGE, config_origin_path(config, origin),
                          origin->line,
                          origin->line > 0 ? "'%s' is 0: give '--length N'"
                                           : "'%s' is missing: give '--length N'",
                          origin->key);
}

/* Checks the configuration. The error names the wrong value and its origin. */
static enum tts_status check_inference_config(struct tts_inferconfig *config)
{
    enum tts_inference_field field = TTS_INFERENCE_FIELD_NONE;
    struct tts_error err = {0};
    if (tts_inference_check(&config->config, &field, &err) == TTS_OK)
        return TTS_OK;
    const struct tts_inference_origin *origin = &config->origins[field];
    if (origin->option)
        return tts_notes_fail(&config->train.notes, TTS_E_INVALID, NULL, 0, "'%s' %s",
                              origin->option, err.text);
    return tts_notes_fail(&config->train.notes, TTS_E_RANGE, config_origin_path(config, origin),
                          origin->line, "'%s' %s",
                          origin->key ? origin->key : "the configuration", err.text);
}

enum tts_status tts_inferconfig_load(struct tts_inferconfig *config)
{
    struct tts_notes *notes = &config->train.notes;
    struct tts_textfile text = {0};
    struct tts_error err = {0};
    enum tts_status status = tts_configpath_resolve(&config->path, config->folder_path, notes);
    if (status != TTS_OK)
        return status;
    if (tts_textfile_read(config->path, TTS_HFCONFIG_MAX_BYTES, NULL, &text, &err) != TTS_OK)
        return err.sys_errno == ENOENT ? tts_configpath_fail_file(notes, config->path)
                                       : tts_notes_fail_read(notes, config->path, &err);
    status = is_json_config(config->path, &text) ? load_json(config, &text)
                                                 : load_yaml(config, &text);
    tts_textfile_release(&text);
    if (status == TTS_OK)
        status = put_head_dim(config);
    if (status == TTS_OK)
        status = put_context_length(config);
    return status == TTS_OK ? check_inference_config(config) : status;
}

bool tts_inferconfig_has_window(const struct tts_inferconfig *config)
{
    return config->window > 0 && config->window < config->config.length;
}

/* --- remedies ---------------------------------------------------------------------------- */

/* The enumerators are in the order of their size. */
static_assert(TTS_WEIGHT_BF16 < TTS_WEIGHT_BFP8 && TTS_WEIGHT_BFP8 < TTS_WEIGHT_BFP4,
              "a larger one is lighter");

static void add_remedy_option(char options[TTS_INFERENCE_OPTIONS_MAX], const char *name,
                              enum tts_weight_dtype dtype)
{
    size_t len = strlen(options);
    snprintf(options + len, TTS_INFERENCE_OPTIONS_MAX - len, "%s%s %s", len > 0 ? " " : "",
             name, tts_weight_dtype_name(dtype));
}

static bool lighten_dtype(enum tts_weight_dtype *dtype, enum tts_weight_dtype to)
{
    bool is_lighter = to > *dtype;
    if (is_lighter)
        *dtype = to;
    return is_lighter;
}

/* An option for one part overrides '--weights', so the remedy names the option of each part if
 * the caller gave one of them. */
static void lighten_weights(bool has_part_weights, enum tts_weight_dtype to,
                            struct tts_inference_config *config, char *options)
{
    const struct {
        const char *name;
        enum tts_weight_dtype *dtype;
        bool is_there;
    } parts[] = {
        {"--attention-weights", &config->attention, true},
        {"--mlp-weights", &config->mlp, true},
        {"--head-weights", &config->head, !config->model.tied || config->separate_head},
    };
    bool any = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!parts[i].is_there || !lighten_dtype(parts[i].dtype, to))
            continue;
        any = true;
        if (has_part_weights)
            add_remedy_option(options, parts[i].name, to);
    }
    if (any && !has_part_weights)
        add_remedy_option(options, "--weights", to);
}

struct remedies {
    const struct tts_inferconfig *config;
    const struct tts_chip *chip;
    struct tts_inference_lighter *list;
    size_t count;
};

/* Plans with `config` and adds the result. */
static enum tts_status offer_remedy(struct remedies *remedies,
                                    const struct tts_inference_config *config,
                                    const char *options, struct tts_error *err)
{
    struct tts_inference plan;
    assert(remedies->count < TTS_INFERENCE_LIGHTER_MAX);
    enum tts_status status = tts_inference_plan(config, remedies->chip, NULL, &plan, err);
    if (status != TTS_OK)
        return status;
    struct tts_inference_lighter *lighter = &remedies->list[remedies->count++];
    snprintf(lighter->options, sizeof lighter->options, "%s", options);
    lighter->total_bytes = plan.total_bytes;
    lighter->fits = plan.fits;
    return TTS_OK;
}

/* Finds the longest chunk, a power of two, with which the plan fits. If no chunk fits, offers
 * the shortest one if it saves 1 % or more. This remedy comes first because the output of the
 * model stays the same. */
static enum tts_status find_prefill(struct remedies *remedies, uint64_t total_bytes,
                                    struct tts_error *err)
{
    enum { SHORTEST = 128 };
    struct tts_inference_config config = remedies->config->config;
    uint64_t now = tts_inference_prefill(&config), chunk = SHORTEST;
    char options[TTS_INFERENCE_OPTIONS_MAX];
    enum tts_status status = TTS_OK;
    while (chunk <= now / 4)
        chunk *= 2;
    for (; chunk >= SHORTEST && chunk < now && status == TTS_OK; chunk /= 2) {
        config.prefill = chunk;
        remedies->count = 0;
        snprintf(options, sizeof options, "--prefill %" PRIu64, chunk);
        status = offer_remedy(remedies, &config, options, err);
        if (status == TTS_OK && remedies->list[0].fits)
            return TTS_OK;
    }
    if (status == TTS_OK && remedies->count > 0 &&
        remedies->list[0].total_bytes > total_bytes / 100 * 99)
        remedies->count = 0;
    return status;
}

/* Moves the remedies that are enough to the front. Both groups keep their order. */
static void put_enough_remedies_first(struct remedies *remedies)
{
    struct tts_inference_lighter sorted[TTS_INFERENCE_LIGHTER_MAX];
    size_t count = 0;
    for (int fits = 1; fits >= 0; fits--)
        for (size_t i = 0; i < remedies->count; i++)
            if (remedies->list[i].fits == fits)
                sorted[count++] = remedies->list[i];
    memcpy(remedies->list, sorted, count * sizeof sorted[0]);
}

enum tts_status
tts_inferconfig_lighten(const struct tts_inferconfig *config, const struct tts_chip *chip,
                        const struct tts_inference *plan,
                        struct tts_inference_lighter out[TTS_INFERENCE_LIGHTER_MAX],
                        size_t *count, struct tts_error *err)
{
    static const struct {
        enum tts_weight_dtype weights, cache;
    } steps[] = {{TTS_WEIGHT_BFP8, TTS_WEIGHT_BF16},
                 {TTS_WEIGHT_BFP8, TTS_WEIGHT_BFP8},
                 {TTS_WEIGHT_BFP4, TTS_WEIGHT_BFP8}};
    struct remedies remedies = {config, chip, out, 0};
    const char *last = "";
    assert(!plan->fits);
    enum tts_status status = find_prefill(&remedies, plan->total_bytes, err);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == TTS_OK; i++) {
        char options[TTS_INFERENCE_OPTIONS_MAX] = "";
        struct tts_inference_config lighter = config->config;
        lighten_weights(config->has_part_weights, steps[i].weights, &lighter, options);
        if (lighten_dtype(&lighter.cache, steps[i].cache))
            add_remedy_option(options, "--cache", steps[i].cache);
        if (strcmp(options, last) == 0)
            continue;
        status = offer_remedy(&remedies, &lighter, options, err);
        last = remedies.count > 0 ? out[remedies.count - 1].options : "";
    }
    put_enough_remedies_first(&remedies);
    *count = remedies.count;
    return status;
}
