#include "plan/trainconfig.h"

#include "base/compiler.h"
#include "plan/configpath.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef enum tts_status config_step(struct tts_trainconfig *config);

static enum tts_status run_config_steps(struct tts_trainconfig *config,
                                        config_step *const *steps, size_t count)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < count && status == TTS_OK; i++)
        status = steps[i](config);
    return status;
}
#define RUN_STEPS(config, steps)                                                               \
    run_config_steps(config, steps, sizeof(steps) / sizeof((steps)[0]))

/* ---- questions ---- */

const char *tts_trainconfig_path(const struct tts_trainconfig *config, unsigned file)
{
    const char *path = file < TTS_TRAINFILE_FILES ? config->file.paths[file] : "";
    return path[0] ? path : config->path;
}

const char *tts_trainconfig_word(const struct tts_trainconfig *config,
                                 enum tts_workload_field field)
{
    const struct tts_words *words = tts_setting_of(field)->words;
    uint64_t number = config->values[field].number;
    assert(words && number < words->count);
    return words->names[number];
}

bool tts_trainconfig_is_llama(const struct tts_trainconfig *config)
{
    return config->values[TTS_FIELD_FAMILY].number == TTS_FAMILY_LLAMA;
}

static bool is_v1_config(const struct tts_trainconfig *config)
{
    return tts_recipe_is_v1(config->overrides->recipe);
}

/* Returns true for a configuration of a C++ program. These programs have no default for some
 * keys, while the Python programs have a default for each key. */
static bool is_cpp_config(const struct tts_trainconfig *config)
{
    return tts_recipe_is_cpp(config->overrides->recipe);
}

static bool is_setting_given(const struct tts_trainconfig *config,
                             enum tts_workload_field field)
{
    return config->overrides->is_given[field];
}

static bool is_setting_default(const struct tts_trainconfig *config,
                               enum tts_workload_field field)
{
    return config->values[field].origin == TTS_ORIGIN_DEFAULT;
}

static bool is_setting_on(const struct tts_trainfile_value *value)
{
    return value->is_set && value->number != 0;
}

static bool has_training_file(const struct tts_trainconfig *config)
{
    return config->file.paths[TTS_TRAINFILE_TRAINING][0] != '\0';
}

/* ---- errors ---- */

/* Sets an error at a value of a file. */
#define FAIL_AT(config, status, value, ...)                                                    \
    tts_notes_fail(&(config)->notes, status, tts_trainconfig_path(config, (value)->file),      \
                   (value)->line, __VA_ARGS__)
/* Sets an error about an option. */
#define FAIL_OPTION(config, ...)                                                               \
    tts_notes_fail(&(config)->notes, TTS_E_INVALID, NULL, 0, __VA_ARGS__)

static enum tts_status fail_missing_setting(struct tts_trainconfig *config, unsigned file,
                                            enum tts_workload_field field, const char *why)
{
    return tts_notes_fail(&config->notes, TTS_E_NOT_FOUND, tts_trainconfig_path(config, file),
                          0, "'%s' is missing: %s", tts_setting_of(field)->key, why);
}

/* ---- one value, from the overrides, then from the files ---- */

/* Takes a value from the overrides or from the file. Returns false if neither has it. */
static bool take_setting_from(struct tts_trainconfig *config, enum tts_workload_field field,
                              const struct tts_trainfile_value *in_file)
{
    struct tts_setting_value *value = &config->values[field];
    if (is_setting_given(config, field))
        *value = (struct tts_setting_value){.number = config->overrides->given[field],
                                            .origin = TTS_ORIGIN_OPTION};
    else if (in_file->is_set)
        *value = (struct tts_setting_value){.number = in_file->number,
                                            .origin = TTS_ORIGIN_FILE,
                                            .file = in_file->file,
                                            .line = in_file->line};
    else
        return false;
    return true;
}

static void take_setting_from_or(struct tts_trainconfig *config, enum tts_workload_field field,
                                 const struct tts_trainfile_value *in_file, uint64_t number)
{
    if (!take_setting_from(config, field, in_file))
        config->values[field] =
            (struct tts_setting_value){.number = number, .origin = TTS_ORIGIN_DEFAULT};
}

static void take_setting_or(struct tts_trainconfig *config, enum tts_workload_field field,
                            uint64_t number)
{
    take_setting_from_or(config, field, tts_setting_in_file(field, &config->file), number);
}

static void put_setting_rule(struct tts_trainconfig *config, enum tts_workload_field field,
                             uint64_t number, const char *why)
{
    config->values[field] =
        (struct tts_setting_value){.number = number, .origin = TTS_ORIGIN_RULE, .why = why};
}

static enum tts_status find_file_word(struct tts_trainconfig *config,
                                      const struct tts_words *words,
                                      const struct tts_trainfile_value *in_file, uint64_t *out)
{
    struct tts_error err = {0};
    if (tts_words_find_exact(words, in_file->text, out, &err) == TTS_OK)
        return TTS_OK;
    return FAIL_AT(config, TTS_E_NOT_FOUND, in_file, "%s", err.text);
}

/* Takes a word from the overrides or from the file. If neither has one, takes the first allowed
 * word of the setting. */
static enum tts_status take_file_word(struct tts_trainconfig *config,
                                      enum tts_workload_field field)
{
    struct tts_setting_value *value = &config->values[field];
    take_setting_or(config, field, 0);
    if (value->origin != TTS_ORIGIN_FILE)
        return TTS_OK;
    return find_file_word(config, tts_setting_of(field)->words,
                          tts_setting_in_file(field, &config->file), &value->number);
}

/* ---- runs that are not modelled ---- */

static enum tts_status refuse_config_line(struct tts_trainconfig *config, unsigned file,
                                          uint32_t line, const char *what)
{
    if (line == 0)
        return TTS_OK;
    return tts_notes_fail(&config->notes, TTS_E_INVALID, tts_trainconfig_path(config, file),
                          line, "%s", what);
}

static enum tts_status refuse_config_text(struct tts_trainconfig *config,
                                          const struct tts_trainfile_value *value,
                                          const char *what, const char *nearest)
{
    return FAIL_AT(config, TTS_E_INVALID, value, "%s '%.40s' is not modelled: %s", what,
                   value->text, nearest);
}

static enum tts_status refuse_mlp(struct tts_trainconfig *config)
{
    return refuse_config_line(config, config->file.mlp_file, config->file.mlp_line,
                              "model type 'mlp' is not modelled: only gpt2 and llama are");
}

static enum tts_status refuse_model_type(struct tts_trainconfig *config)
{
    static const char *const names[] = {"deepseek", "qwen3", "mlp", "dit"};
    static const struct tts_words known = {"", names, 4};
    static const char *const nearest[] = {
        "the nearest modelled type is llama, without latent attention and without experts",
        "the nearest modelled type is llama, without norms of q and k and without head_dim",
        "only gpt2 and llama are",
        "only gpt2 and llama are",
    };
    const struct tts_trainfile_value *type = &config->file.model_type;
    uint64_t number;
    if (!type->is_set || tts_words_find_exact(tts_setting_of(TTS_FIELD_FAMILY)->words,
                                              type->text, &number, NULL) == TTS_OK)
        return TTS_OK;
    bool is_known = tts_words_find(&known, type->text, &number, NULL) == TTS_OK;
    return refuse_config_text(config, type, "model type",
                              is_known ? nearest[number] : "only gpt2 and llama are");
}

static enum tts_status refuse_experts(struct tts_trainconfig *config)
{
    return refuse_config_line(config, config->file.moe_file, config->file.moe_line,
                              "mixtures of experts are not modelled; only dense blocks are");
}

/* Refuses GPT2 without biases, except for the C++ programs, which do not read the key. */
static enum tts_status refuse_biases(struct tts_trainconfig *config)
{
    const struct tts_trainfile_value *bias = &config->file.bias;
    const struct tts_trainfile_value *type = &config->file.model_type;
    bool is_gpt2 = !type->is_set || strcmp(type->text, "gpt2") == 0;
    if (is_cpp_config(config) || !is_gpt2 || !bias->is_set || bias->number != 0)
        return TTS_OK;
    return refuse_config_line(config, bias->file, bias->line,
                              "gpt2 without biases is not modelled; only gpt2 with biases is");
}

static enum tts_status refuse_model(struct tts_trainconfig *config)
{
    static config_step *const steps[] = {refuse_mlp, refuse_model_type, refuse_experts,
                                         refuse_biases};
    return RUN_STEPS(config, steps);
}

static enum tts_status refuse_loop(struct tts_trainconfig *config)
{
    const struct tts_trainfile *file = &config->file;
    const struct tts_trainfile_value *cp = &file->enable_cp, *fsdp = &file->enable_fsdp;
    const struct tts_trainfile_value *layernorm = &file->composite_layernorm;
    const struct {
        unsigned file;
        uint32_t line; /* 0: the file does not have the key */
        const char *what;
    } kinds[] = {
        {file->pipeline_file, file->pipeline_line,
         "pipeline parallel is not modelled; to model one stage, give the model file alone and "
         "'--blocks N'"},
        {file->grpo_file, file->grpo_line,
         "GRPO is not modelled; to model training on text instead, remove this section"},
        {file->lora_file, file->lora_line,
         "LoRA is not modelled; to model the training of all parameters, which needs more "
         "memory, remove this section"},
        {cp->file, is_setting_on(cp) ? cp->line : 0,
         "context parallel is not modelled; only tensor and data parallel are"},
        {fsdp->file, is_setting_on(fsdp) ? fsdp->line : 0,
         "FSDP is not modelled; only tensor and data parallel are"},
        {layernorm->file, is_setting_on(layernorm) ? layernorm->line : 0,
         "the composite layernorm is not modelled; set this key to false for the fused "
         "layernorm"},
    };
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == TTS_OK; i++)
        status = refuse_config_line(config, kinds[i].file, kinds[i].line, kinds[i].what);
    return status;
}

static enum tts_status refuse_placement(struct tts_trainconfig *config)
{
    const struct tts_trainfile_value *placement = &config->file.embedding_placement;
    if (is_v1_config(config) || !placement->is_set ||
        strcmp(placement->text, "replicated") == 0)
        return TTS_OK;
    return refuse_config_text(config, placement, "embedding placement", "only replicated is");
}

static enum tts_status refuse_optimizer(struct tts_trainconfig *config)
{
    const struct tts_trainfile_value *type = &config->file.optimizer_type;
    const char *nearest = type->is_set && !is_setting_given(config, TTS_FIELD_OPTIMIZER)
                              ? tts_optimizer_nearest(type->text)
                              : NULL;
    return nearest ? refuse_config_text(config, type, "optimizer", nearest) : TTS_OK;
}

static enum tts_status refuse_config(struct tts_trainconfig *config)
{
    static config_step *const steps[] = {refuse_model, refuse_loop, refuse_placement,
                                         refuse_optimizer};
    return RUN_STEPS(config, steps);
}

/* ---- the model ---- */

static enum tts_status take_family(struct tts_trainconfig *config)
{
    if (!config->file.model_type.is_set && is_cpp_config(config))
        return fail_missing_setting(config, TTS_TRAINFILE_MODEL, TTS_FIELD_FAMILY,
                                    "set this key to gpt2 or llama");
    return take_file_word(config, TTS_FIELD_FAMILY);
}

static enum tts_status check_family_options(struct tts_trainconfig *config)
{
    static const enum tts_workload_field of_llama[] = {TTS_FIELD_GROUPS, TTS_FIELD_MLP_WIDTH};
    for (size_t i = 0; i < sizeof of_llama / sizeof of_llama[0]; i++)
        if (!tts_trainconfig_is_llama(config) && is_setting_given(config, of_llama[i]))
            return FAIL_OPTION(config, "option '%s' is for llama only, but the model is gpt2",
                               tts_setting_of(of_llama[i])->option);
    return TTS_OK;
}

static enum tts_status take_sizes(struct tts_trainconfig *config)
{
    const struct {
        enum tts_workload_field field;
        uint64_t number;
    } sizes[] = {
        {TTS_FIELD_BLOCKS, 6},
        {TTS_FIELD_WIDTH, 384},
        {TTS_FIELD_HEADS, 6},
        {TTS_FIELD_SEQUENCE, 256},
        {TTS_FIELD_DROPOUT,
         !is_cpp_config(config)}, /* the Python programs have a default, 0.2 */
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        take_setting_or(config, sizes[i].field, sizes[i].number);
        if (is_setting_default(config, sizes[i].field) && !tts_trainconfig_is_llama(config) &&
            is_cpp_config(config))
            return fail_missing_setting(config, TTS_TRAINFILE_MODEL, sizes[i].field,
                                        "the C++ program has no default for gpt2");
    }
    return TTS_OK;
}

static enum tts_status check_head_dim(struct tts_trainconfig *config)
{
    const struct tts_trainfile_value *head_dim = &config->file.head_dim;
    uint64_t width = config->values[TTS_FIELD_WIDTH].number;
    uint64_t heads = config->values[TTS_FIELD_HEADS].number;
    if (!head_dim->is_set || heads == 0 || head_dim->number == width / heads)
        return TTS_OK;
    return FAIL_AT(config, TTS_E_INVALID, head_dim,
                   "a head_dim of %" PRIu64
                   " is not modelled: it must be embedding_dim / num_heads, here %" PRIu64,
                   head_dim->number, width / heads);
}

static enum tts_status take_shape(struct tts_trainconfig *config)
{
    const struct tts_setting_value *mlp = &config->values[TTS_FIELD_MLP_WIDTH];
    if (!tts_trainconfig_is_llama(config)) {
        put_setting_rule(config, TTS_FIELD_MLP_WIDTH, 0, "4 times the width");
        return take_file_word(config, TTS_FIELD_POSITIONS);
    }
    take_setting_or(config, TTS_FIELD_GROUPS, 3);
    if (!take_setting_from(config, TTS_FIELD_MLP_WIDTH, &config->file.intermediate_dim))
        put_setting_rule(config, TTS_FIELD_MLP_WIDTH, 0, "8/3 of the width, rounded up to 256");
    else if (mlp->number == 0) /* an absent key selects the rule; 0 does not */
        return FAIL_AT(config, TTS_E_RANGE, mlp, "'%s' must be at least 1, but is 0",
                       tts_setting_of(TTS_FIELD_MLP_WIDTH)->key);
    return TTS_OK;
}

static enum tts_status take_file_vocabulary(struct tts_trainconfig *config, const char *why)
{
    if (!config->file.vocab_size.is_set)
        return fail_missing_setting(config, TTS_TRAINFILE_MODEL, TTS_FIELD_VOCABULARY, why);
    take_setting_or(config, TTS_FIELD_VOCABULARY, 0);
    config->values[TTS_FIELD_VOCABULARY].why = "vocab_size of the model file";
    return TTS_OK;
}

/* The tokenizer decides the vocabulary. A char tokenizer has the characters of its text. */
static enum tts_status take_v1_vocabulary(struct tts_trainconfig *config)
{
    static const char *const names[] = {"char", "bpe"};
    static const struct tts_words words = {"tokenizer", names, 2};
    const struct tts_trainfile_value *type = &config->file.tokenizer;
    uint64_t tokenizer = 0;
    enum tts_status status =
        type->is_set ? find_file_word(config, &words, type, &tokenizer) : TTS_OK;
    if (status != TTS_OK)
        return status;
    if (is_cpp_config(config) && tokenizer == 1)
        return take_file_vocabulary(
            config, "tokenizer_type bpe needs this key; add the key or give '--vocab'");
    put_setting_rule(
        config, TTS_FIELD_VOCABULARY, TTS_TRAIN_CHARACTERS,
        !is_cpp_config(config)
            ? "the characters of the Shakespeare text (v1-python has no other vocabulary)"
        : type->is_set ? "the characters of the Shakespeare text (tokenizer_type is char)"
                       : "the characters of the Shakespeare text (no tokenizer_type is set)");
    return TTS_OK;
}

/* The data decides the vocabulary. Text has a char tokenizer. Other data is probably meant as
 * tokens. stop_at_vocabulary() reports if the program disagrees. */
static enum tts_status take_vocabulary(struct tts_trainconfig *config)
{
    const struct tts_trainfile_value *data = &config->file.data_path;
    bool is_text = data->is_set && tts_ends_in(data->text, ".txt");
    if (is_setting_given(config, TTS_FIELD_VOCABULARY)) {
        take_setting_or(config, TTS_FIELD_VOCABULARY, 0);
        return TTS_OK;
    }
    if (is_v1_config(config))
        return take_v1_vocabulary(config);
    if (!is_text && is_setting_on(&config->file.vocab_size))
        return take_file_vocabulary(config, "");
    put_setting_rule(config, TTS_FIELD_VOCABULARY, TTS_TRAIN_CHARACTERS,
                     is_text
                         ? "the characters of the Shakespeare text (data_path is a text)"
                         : "the characters of the Shakespeare text (vocab_size is not set)");
    return TTS_OK;
}

static enum tts_status take_tying(struct tts_trainconfig *config)
{
    return take_file_word(config, TTS_FIELD_TIED);
}

static enum tts_status take_model(struct tts_trainconfig *config)
{
    static config_step *const steps[] = {take_family,    check_family_options, take_sizes,
                                         check_head_dim, take_shape,           take_vocabulary,
                                         take_tying};
    return RUN_STEPS(config, steps);
}

/* ---- the training loop ---- */

/* Takes the batch. A model file without a training file has none. */
static enum tts_status take_batch(struct tts_trainconfig *config)
{
    bool has_training = has_training_file(config);
    take_setting_or(config, TTS_FIELD_BATCH, has_training ? 64 : 1);
    if (is_setting_default(config, TTS_FIELD_BATCH) && has_training && is_cpp_config(config))
        return fail_missing_setting(config, TTS_TRAINFILE_TRAINING, TTS_FIELD_BATCH,
                                    "add this key to the file or give '--batch'");
    take_setting_or(config, TTS_FIELD_ACCUMULATE, 1);
    take_setting_or(config, TTS_FIELD_CLIP, 0);
    return TTS_OK;
}

static enum tts_status take_runner(struct tts_trainconfig *config)
{
    return take_file_word(config, TTS_FIELD_RUNNER);
}

/* Takes the optimizer. If its keys are absent, a file of January 2026 selects the AdamW that is
 * made of single operations. */
static void take_v1_optimizer(struct tts_trainconfig *config)
{
    struct tts_setting_value *value = &config->values[TTS_FIELD_OPTIMIZER];
    const struct tts_trainfile *file = &config->file;
    if (!is_setting_given(config, TTS_FIELD_OPTIMIZER) && is_setting_on(&file->no_op)) {
        take_setting_from_or(config, TTS_FIELD_OPTIMIZER, &file->no_op, 0);
        value->number = TTS_OPTIMIZER_NONE;
        value->why = file->no_op.key;
        return;
    }
    take_setting_from_or(config, TTS_FIELD_OPTIMIZER, &file->moreh_adamw, 0);
    if (value->origin == TTS_ORIGIN_OPTION)
        return;
    value->number = value->number ? TTS_OPTIMIZER_MOREH_ADAMW : TTS_OPTIMIZER_ADAMW_COMPOSITE;
    if (value->origin == TTS_ORIGIN_FILE)
        value->why = file->moreh_adamw.key;
}

static bool has_amsgrad(const struct tts_trainconfig *config, uint64_t kind)
{
    return !is_v1_config(config) &&
           (kind == TTS_OPTIMIZER_ADAMW || kind == TTS_OPTIMIZER_ADAMW_COMPOSITE ||
            kind == TTS_OPTIMIZER_ADAMW_FULL_PRECISION);
}

/* In the code of January 2026, AdamW consists of single operations, and the Python program has
 * no Kahan summation. */
static bool has_kahan(const struct tts_trainconfig *config, uint64_t kind)
{
    return config->overrides->recipe != TTS_RECIPE_V1_PYTHON &&
           (kind == TTS_OPTIMIZER_ADAMW_COMPOSITE ||
            (kind == TTS_OPTIMIZER_ADAMW && is_v1_config(config)));
}

/* Returns the Kahan setting that the recipe reads. */
static const struct tts_trainfile_value *kahan_of(const struct tts_trainconfig *config)
{
    return is_v1_config(config) ? &config->file.kahan : &config->file.optimizer_kahan;
}

/* Returns true if the program refuses Kahan summation with the optimizer. Call this after the
 * optimizer is known. */
static bool stops_at_kahan(const struct tts_trainconfig *config)
{
    return config->overrides->recipe != TTS_RECIPE_V1_PYTHON &&
           is_setting_on(kahan_of(config)) &&
           config->values[TTS_FIELD_OPTIMIZER].number == TTS_OPTIMIZER_MOREH_ADAMW;
}

/* Takes a flag of the optimizer. Adds a note if the file sets the flag but the optimizer does
 * not have it. */
static void take_flag(struct tts_trainconfig *config, enum tts_workload_field field,
                      const struct tts_trainfile_value *value, bool has_flag)
{
    if (has_flag)
        take_setting_from_or(config, field, value, 0);
    else if (is_setting_on(value))
        tts_notes_add(&config->notes, tts_trainconfig_path(config, value->file), value->line,
                      "'%s' is ignored: %s has no such setting in recipe %s", value->key,
                      tts_trainconfig_word(config, TTS_FIELD_OPTIMIZER),
                      tts_recipe_name(config->overrides->recipe));
}

static enum tts_status take_optimizer_flags(struct tts_trainconfig *config)
{
    const struct tts_trainfile *file = &config->file;
    uint64_t kind = config->values[TTS_FIELD_OPTIMIZER].number;
    bool is_sgd = kind == TTS_OPTIMIZER_SGD;
    if (is_setting_given(config, TTS_FIELD_MOMENTUM) && !is_sgd)
        return FAIL_OPTION(config,
                           "option '--momentum' is for SGD only, but the optimizer is %s",
                           tts_trainconfig_word(config, TTS_FIELD_OPTIMIZER));
    if (is_sgd)
        take_setting_or(config, TTS_FIELD_MOMENTUM, 0);
    take_flag(config, TTS_FIELD_AMSGRAD, &file->amsgrad, has_amsgrad(config, kind));
    if (!stops_at_kahan(config))
        take_flag(config, TTS_FIELD_KAHAN,
                  file->optimizer_kahan.is_set ? &file->optimizer_kahan : &file->kahan,
                  has_kahan(config, kind));
    return TTS_OK;
}

static enum tts_status take_optimizer(struct tts_trainconfig *config)
{
    const struct tts_trainfile *file = &config->file;
    if (!is_v1_config(config) ||
        (file->optimizer_type.is_set && !file->moreh_adamw.is_set && !file->no_op.is_set))
        return take_file_word(config, TTS_FIELD_OPTIMIZER);
    take_v1_optimizer(config);
    return TTS_OK;
}

/* ---- the mesh: the axes go to the parallelisms as the program assigns them ---- */

static enum tts_status fail_mesh(struct tts_trainconfig *config, const char *what)
{
    const struct tts_trainfile *file = &config->file;
    const char *path = tts_trainconfig_path(config, TTS_TRAINFILE_TRAINING);
    if (file->mesh_line == 0)
        return tts_notes_fail(&config->notes, TTS_E_RANGE, path, 0, "mesh_shape %s", what);
    return tts_notes_fail(&config->notes, TTS_E_RANGE, path, file->mesh_line,
                          "mesh_shape [%" PRIu64 ", %" PRIu64 "] %s", file->mesh_shape[0],
                          file->mesh_shape[1], what);
}

/* Refuses data parallel together with tensor parallel, which no program of January 2026
 * supports, whatever the mesh is. */
static enum tts_status refuse_both_axes(struct tts_trainconfig *config)
{
    return FAIL_AT(
        config, TTS_E_RANGE, &config->file.enable_tp,
        "enable_ddp and enable_tp are both true, but recipe '%s' supports only one of "
        "them: set one of them to false",
        tts_recipe_name(config->overrides->recipe));
}

/* Reads the mesh shape into chips[0] (data parallel) and chips[1] (tensor parallel). */
static enum tts_status read_mesh_shape(struct tts_trainconfig *config, uint64_t chips[2])
{
    const uint64_t *mesh = config->file.mesh_shape;
    bool is_ddp = is_setting_on(&config->file.enable_ddp),
         is_tp = is_setting_on(&config->file.enable_tp);
    uint64_t all;
    if (!is_ddp && !is_tp)
        return TTS_OK;
    if (mesh[0] == 0 || mesh[1] == 0)
        return fail_mesh(config, "is missing, but enable_ddp and enable_tp need it");
    if (__builtin_mul_overflow(mesh[0], mesh[1], &all))
        return fail_mesh(config, "has more chips than fit in 64 bits");
    bool is_line = mesh[0] == 1 || mesh[1] == 1;
    if (is_ddp && is_tp) {
        if (is_v1_config(config))
            return refuse_both_axes(config);
        if (is_line && all > 1)
            return fail_mesh(config,
                             "has one axis: set only one of enable_ddp and enable_tp to true");
        memcpy(chips, mesh, 2 * sizeof chips[0]);
        return TTS_OK;
    }
    if (!is_line && !is_v1_config(config))
        return fail_mesh(config, "has two axes: set both enable_ddp and enable_tp to true");
    chips[is_tp] = all;
    return TTS_OK;
}

static const enum tts_workload_field axes[] = {TTS_FIELD_DATA_PARALLEL,
                                               TTS_FIELD_TENSOR_PARALLEL};

/* Refuses a mesh with more than one chip for the Python program of January 2026, which opens
 * one chip whatever device_config says. */
static enum tts_status refuse_mesh(struct tts_trainconfig *config)
{
    static const char what[] =
        "recipe v1-python runs on one chip; recipes v1 and head run on several chips";
    for (size_t i = 0; i < 2; i++) {
        const struct tts_trainfile_value *value = tts_setting_in_file(axes[i], &config->file);
        if (is_setting_given(config, axes[i]) && config->overrides->given[axes[i]] > 1)
            return FAIL_OPTION(config, "option '%s': %s", tts_setting_of(axes[i])->option,
                               what);
        if (!is_setting_given(config, axes[i]) && is_setting_on(value))
            return FAIL_AT(config, TTS_E_INVALID, value, "'%s' is not modelled: %s", value->key,
                           what);
    }
    return TTS_OK;
}

static void put_mesh_chips(struct tts_trainconfig *config, enum tts_workload_field field,
                           uint64_t chips)
{
    const struct tts_trainfile_value from_mesh = {.is_set = chips > 1,
                                                  .file = TTS_TRAINFILE_TRAINING,
                                                  .line = config->file.mesh_line,
                                                  .number = chips};
    take_setting_from_or(config, field, &from_mesh, chips);
    if (config->values[field].origin == TTS_ORIGIN_FILE)
        config->values[field].why = "mesh_shape";
}

static enum tts_status take_mesh(struct tts_trainconfig *config)
{
    enum tts_recipe recipe = config->overrides->recipe;
    uint64_t chips[2] = {1, 1};
    enum tts_status status = recipe == TTS_RECIPE_V1_PYTHON ? refuse_mesh(config) : TTS_OK;
    if (status == TTS_OK &&
        !(is_setting_given(config, axes[0]) && is_setting_given(config, axes[1])))
        status = read_mesh_shape(config, chips);
    if (status != TTS_OK)
        return status;
    put_mesh_chips(config, axes[0], chips[0]);
    put_mesh_chips(config, axes[1], chips[1]);
    if (tts_recipe_is_may(recipe) && config->values[TTS_FIELD_TENSOR_PARALLEL].number <= 1)
        return FAIL_OPTION(config,
                           "option '--recipe %s' is for tensor parallel runs: give "
                           "'--tensor-parallel N', or another recipe",
                           tts_recipe_name(recipe));
    return TTS_OK;
}

/* ---- runs that the training program itself refuses ---- */

/* Adds a refusal and returns it. `line` is the line of its cause in the file, or 0 if an option
 * is the cause. */
static struct tts_train_stop *add_stop(struct tts_trainconfig *config, uint8_t file,
                                       uint32_t line)
{
    assert(config->stop_count < TTS_TRAIN_STOPS_MAX);
    struct tts_train_stop *stop = &config->stops[config->stop_count++];
    *stop = (struct tts_train_stop){.file = file, .line = line};
    return stop;
}

static void put_stop_text(char out[TTS_TRAIN_STOP_TEXT_MAX], const char *format, ...)
    TTS_PRINTF(2, 3);

static void put_stop_text(char out[TTS_TRAIN_STOP_TEXT_MAX], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, TTS_TRAIN_STOP_TEXT_MAX, format, args);
    va_end(args);
}

/* Returns whether the program reads the data as tokens. train.py reads a data_path in .yaml or
 * .yml as tokens and everything else as text. nano_gpt (C++) reads a data_path in .txt as text
 * and everything else as tokens. Without a data_path both read the Shakespeare text. */
static bool is_token_data(const struct tts_trainconfig *config, const char *data_path)
{
    if (is_cpp_config(config))
        return data_path[0] != '\0' && !tts_ends_in(data_path, ".txt");
    return tts_ends_in(data_path, ".yaml") || tts_ends_in(data_path, ".yml");
}

/* Adds a refusal if the vocabulary does not suit the data. Tokens need a vocab_size. With text,
 * vocab_size must be 0; train.py also accepts the number of characters. */
static void stop_at_vocabulary(struct tts_trainconfig *config)
{
    const struct tts_trainfile_value *size = &config->file.vocab_size;
    const struct tts_trainfile_value *data = &config->file.data_path;
    const char *path = data->is_set ? data->text : "";
    uint64_t number = size->is_set ? size->number : 0;
    struct tts_train_stop *why;
    if (is_v1_config(config) || is_setting_given(config, TTS_FIELD_VOCABULARY))
        return;
    if (is_token_data(config, path)) {
        if (number > 0)
            return;
        why = add_stop(config, data->file, data->line);
        put_stop_text(why->reason,
                      "data_path names a file of tokens, but 'vocab_size' is %s: set "
                      "'vocab_size' to the number of "
                      "tokens in the vocabulary",
                      size->is_set ? "0" : "missing");
        put_stop_text(why->figures,
                      "text, with a vocabulary of %d characters; for tokens give '--vocab N'",
                      TTS_TRAIN_CHARACTERS);
        return;
    }
    if (number == 0 || (number == TTS_TRAIN_CHARACTERS && !is_cpp_config(config)))
        return;
    why = add_stop(config, size->file, size->line);
    bool is_text = tts_ends_in(path, ".txt");
    put_stop_text(why->reason,
                  "'vocab_size' is %" PRIu64
                  ", but %s; the program uses the characters of the text as "
                  "its vocabulary (%d for Shakespeare), so 'vocab_size' must be 0%s",
                  number,
                  is_text ? "data_path names a text file"
                  : path[0] != '\0'
                      ? "data_path does not end in .yaml, so the program reads the file as text"
                      : "without data_path the program reads the Shakespeare text",
                  TTS_TRAIN_CHARACTERS,
                  is_cpp_config(config) ? "" : " or the number of these characters");
    if (is_text)
        put_stop_text(why->figures, "'vocab_size' 0, a vocabulary of %d characters",
                      TTS_TRAIN_CHARACTERS);
    else
        put_stop_text(
            why->figures,
            "a data_path that names a file of tokens (.yaml), with a vocabulary of %" PRIu64,
            number);
}

/* Adds a refusal if a Python program would run GPT2 with tensor parallelism, which only the C++
 * programs support. */
static void stop_at_gpt2(struct tts_trainconfig *config)
{
    const struct tts_setting_value *chips = &config->values[TTS_FIELD_TENSOR_PARALLEL];
    if (is_cpp_config(config) || tts_trainconfig_is_llama(config) || chips->number <= 1)
        return;
    struct tts_train_stop *why = add_stop(config, chips->file, chips->line);
    put_stop_text(why->reason,
                  "the program supports tensor parallel only for llama, not for gpt2");
    put_stop_text(why->figures, "gpt2 without tensor parallel");
    put_setting_rule(config, TTS_FIELD_TENSOR_PARALLEL, 1,
                     "gpt2 does not support tensor parallel");
}

static void stop_at_clip(struct tts_trainconfig *config)
{
    const struct tts_setting_value *clip = &config->values[TTS_FIELD_CLIP];
    if (clip->number == 0 || config->values[TTS_FIELD_TENSOR_PARALLEL].number <= 1)
        return;
    struct tts_train_stop *why = add_stop(config, clip->file, clip->line);
    put_stop_text(why->reason, "the program cannot clip gradients with tensor parallel");
    put_stop_text(why->figures, "the run without clipping");
    put_setting_rule(config, TTS_FIELD_CLIP, 0, "not with tensor parallel");
}

static void stop_at_kahan(struct tts_trainconfig *config)
{
    const struct tts_trainfile_value *kahan = kahan_of(config);
    if (!stops_at_kahan(config))
        return;
    struct tts_train_stop *why = add_stop(config, kahan->file, kahan->line);
    put_stop_text(why->reason, "MorehAdamW has no Kahan summation; AdamWComposite has it");
    put_stop_text(why->figures, "MorehAdamW without Kahan summation");
}

static void find_stops(struct tts_trainconfig *config)
{
    if (has_training_file(config))
        stop_at_vocabulary(config);
    stop_at_gpt2(config);
    stop_at_clip(config);
    stop_at_kahan(config);
}

/* ---- notes: what the files say and the workload does not follow ---- */

static void note_unknown(struct tts_trainconfig *config)
{
    const struct tts_trainfile *file = &config->file;
    char names[TTS_TRAINFILE_UNKNOWN * 80] = "";
    uint64_t count = file->unknown_keys;
    size_t len = 0;
    if (count == 0)
        return;
    for (uint64_t i = 0; i < count && i < TTS_TRAINFILE_UNKNOWN; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " and " : ", ";
        len += (size_t)snprintf(names + len, sizeof names - len, "%s'%s'", between,
                                file->unknown_names[i]);
    }
    if (count > TTS_TRAINFILE_UNKNOWN)
        snprintf(names + len, sizeof names - len, " and %" PRIu64 " more",
                 count - TTS_TRAINFILE_UNKNOWN);
    tts_notes_add(&config->notes, tts_trainconfig_path(config, file->unknown_file),
                  file->unknown_line, "%s %s %s unknown and ignored",
                  count == 1 ? "key" : "keys", names, count == 1 ? "is" : "are");
}

/* Notes chips of the mesh that no parallelism uses. */
static void note_unused_mesh(struct tts_trainconfig *config)
{
    const struct tts_trainfile *file = &config->file;
    const uint64_t *mesh = file->mesh_shape;
    if (!is_setting_default(config, TTS_FIELD_TENSOR_PARALLEL) ||
        !is_setting_default(config, TTS_FIELD_DATA_PARALLEL) || (mesh[0] <= 1 && mesh[1] <= 1))
        return;
    tts_notes_add(
        &config->notes, tts_trainconfig_path(config, TTS_TRAINFILE_TRAINING), file->mesh_line,
        "mesh_shape [%" PRIu64 ", %" PRIu64
        "] is ignored and one chip is modelled: neither enable_ddp nor enable_tp is true",
        mesh[0], mesh[1]);
}

/* Notes a key of January 2026 in a run with the default recipe. A file with an optimizer
 * section is an August file with a leftover key and gets no note. */
static void note_recipe(struct tts_trainconfig *config)
{
    const struct tts_trainfile *file = &config->file;
    const struct tts_trainfile_value *const of_v1[] = {&file->moreh_adamw, &file->kahan,
                                                       &file->no_op, &file->tokenizer};
    if (config->overrides->has_recipe || file->optimizer_type.is_set)
        return;
    for (size_t i = 0; i < sizeof of_v1 / sizeof of_v1[0]; i++) {
        if (!of_v1[i]->is_set)
            continue;
        tts_notes_add(
            &config->notes, tts_trainconfig_path(config, of_v1[i]->file), of_v1[i]->line,
            "'%s' is ignored: the default recipe, 'head', does not read this key; give "
            "'--recipe v1' for the recipe that does",
            of_v1[i]->key);
        return;
    }
}

/* ---- the workload ---- */

static void fill_workload(struct tts_trainconfig *config)
{
    struct tts_workload *workload = &config->workload;
    for (int field = 0; field < TTS_FIELD_NONE; field++)
        tts_setting_store((enum tts_workload_field)field, config->values[field].number,
                          workload);
    if (!tts_trainconfig_is_llama(config))
        workload->model.groups = workload->model.heads;
    workload->recipe = config->overrides->recipe;
    workload->kernel_binaries = config->overrides->kernel_binaries;
}

/* Sets the error of a value that tts_workload_check() refuses. The error has the name and the
 * origin of the value. */
static enum tts_status fail_setting_value(struct tts_trainconfig *config,
                                          enum tts_workload_field field,
                                          const struct tts_error *err)
{
    const struct tts_setting *setting = tts_setting_of(field);
    const struct tts_setting_value *value = &config->values[field];
    bool is_file = value->origin == TTS_ORIGIN_FILE;
    if (value->origin == TTS_ORIGIN_OPTION)
        return FAIL_OPTION(config, "option '%s' %s", setting->option, err->text);
    if (is_file && (field == axes[0] || field == axes[1])) {
        /* mesh_shape has two numbers. Name their product, which is not in the file. */
        const char *is = strstr(err->text, ", but is ");
        int len = (int)(is ? (size_t)(is - err->text) : strlen(err->text));
        return FAIL_AT(config, TTS_E_RANGE, value,
                       "the %" PRIu64 " chips of %s parallel (mesh_shape) %.*s", value->number,
                       field == axes[0] ? "data" : "tensor", len, err->text);
    }
    bool has_other_key = value->why && is_file && field != TTS_FIELD_VOCABULARY;
    return tts_notes_fail(
        &config->notes, TTS_E_RANGE,
        tts_trainconfig_path(config, is_file ? value->file : TTS_TRAINFILE_MODEL), value->line,
        "'%s'%s %s", has_other_key ? value->why : setting->key,
        value->origin == TTS_ORIGIN_DEFAULT ? ", a default," : "", err->text);
}

static enum tts_status check_workload(struct tts_trainconfig *config)
{
    enum tts_workload_field field = TTS_FIELD_NONE;
    struct tts_error err = {0};
    if (tts_workload_check(&config->workload, &field, &err) != TTS_OK)
        return fail_setting_value(config, field, &err);
    config->values[TTS_FIELD_MLP_WIDTH].number = tts_model_mlp_width(&config->workload.model);
    return TTS_OK;
}

static enum tts_status load_config_files(struct tts_trainconfig *config, const char *path,
                                         const struct tts_overrides *overrides,
                                         const struct tts_textfile *text)
{
    struct tts_error err = {0};
    unsigned bad_file = TTS_TRAINFILE_FILES;
    memset(config, 0, sizeof *config);
    config->path = path;
    config->overrides = overrides;
    if (tts_trainfile_load(path, text, &config->file, &bad_file, &err) == TTS_OK)
        return TTS_OK;
    bool is_read = err.status != TTS_E_IO && err.status != TTS_E_NOMEM;
    if (is_read && !text && tts_ends_in(path, ".json"))
        return tts_notes_fail(
            &config->notes, TTS_E_SYNTAX, path, 0,
            "this is JSON: for the config.json of a model give '--inference'");
    if (config->file.missing_model[0] != '\0')
        return tts_configpath_fail_model(&config->notes,
                                         config->file.paths[TTS_TRAINFILE_TRAINING], err.line,
                                         config->file.missing_model);
    if (err.status == TTS_E_SYNTAX && bad_file == TTS_TRAINFILE_TRAINING &&
        strncmp(err.text, "not YAML", strlen("not YAML")) == 0)
        return tts_notes_fail(&config->notes, err.status, path, err.line,
                              "%s; CONFIG must be a training configuration in YAML", err.text);
    if (err.sys_errno == ENOENT)
        return tts_configpath_fail_file(&config->notes, tts_trainconfig_path(config, bad_file));
    return tts_notes_fail_read(&config->notes, tts_trainconfig_path(config, bad_file), &err);
}

enum tts_status tts_trainconfig_load(struct tts_trainconfig *config, const char *path,
                                     const struct tts_overrides *overrides)
{
    static config_step *const steps[] = {refuse_config, take_model,     take_batch,
                                         take_runner,   take_optimizer, take_optimizer_flags,
                                         take_mesh};
    enum tts_status status = load_config_files(config, path, overrides, NULL);
    if (status == TTS_OK)
        status = RUN_STEPS(config, steps);
    if (status != TTS_OK)
        return status;
    find_stops(config);
    fill_workload(config);
    note_unknown(config);
    note_unused_mesh(config);
    note_recipe(config);
    return check_workload(config);
}

enum tts_status tts_trainconfig_model(struct tts_trainconfig *config, const char *path,
                                      const struct tts_overrides *overrides,
                                      const struct tts_textfile *text)
{
    enum tts_status status = load_config_files(config, path, overrides, text);
    bool has_model = config->file.paths[TTS_TRAINFILE_MODEL][0] != '\0';
    if (status ==
        TTS_OK) /* without a model section, refuse_config() says why the run is not modelled */
        status = has_model ? refuse_model(config) : refuse_config(config);
    assert(status != TTS_OK || has_model);
    if (status == TTS_OK)
        status = take_model(config);
    if (status != TTS_OK)
        return status;
    fill_workload(config);
    note_unknown(config);
    return TTS_OK;
}
