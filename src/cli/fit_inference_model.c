/* fit_inference_model.c: the model of a config.json, and which of the two forms a file is. */
#include "base/error.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/fit_inference_parts.h"
#include "cli/message.h"
#include "sources/hfconfig.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_INFERENCE_COMMAND;

/* --- types of models --------------------------------------------------------------------- */

enum biases { BIASES_NONE, BIASES_BY_KEY /* q, k, v and output */, BIASES_QKV };

/* What the keys do not say. */
static const struct model_type {
    const char *name;
    enum biases biases;
    bool is_tied; /* where the key is absent */
    bool has_head_norms;
    /* A key that is absent stands for a number, not for what follows from the others. */
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
    {"deepseek", "its latent attention has another cache; 'llama' is nearest, without it"},
    {"gpt2", "its keys are others; a tt-train model file with model_type gpt2 is nearest"},
    {"gemma", "it has more norms, and layers with a window; 'gemma' is nearest"},
    {"mixtral", "it is a mixture of experts; 'mistral' is nearest"},
    {"falcon", "its blocks are others; 'llama' is nearest"},
    {"mllama", "its cross attention is not modelled; 'llama' is nearest"},
};

static void refuse_type(const struct tts_inference_ask *ask)
{
    struct tts_nearest nearest = {.word = ask->model_type};
    const char *path = tts_message_path(ask->path), *type = ask->model_type;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (strncmp(type, refusals[i].prefix, strlen(refusals[i].prefix)) == 0) {
            tts_message(command, "%s: model_type '%s' is not modelled: %s", path, type,
                        refusals[i].nearest);
            return;
        }
    }
    for (size_t i = 0; i < TYPES; i++)
        tts_nearest_offer(&nearest, types[i].name);
    for (size_t i = 0; i < TYPES; i++) /* a descendant has the name and more */
        if (strncmp(type, types[i].name, strlen(types[i].name)) == 0)
            nearest.best = types[i].name;
    if (nearest.best)
        tts_message(command, "%s: model_type '%s' is not modelled, nearest is '%s'", path, type,
                    nearest.best);
    else
        tts_message(command,
                    "%s: model_type '%s' is not modelled; llama, mistral, qwen2, qwen3, phi3 "
                    "and gemma are",
                    path, type);
}

/* NULL: refused, and said so. */
static const struct model_type *find_type(struct tts_inference_ask *ask)
{
    ask->type_is_assumed = ask->model_type[0] == '\0';
    if (ask->type_is_assumed)
        snprintf(ask->model_type, sizeof ask->model_type, "%s", types[0].name);
    for (size_t i = 0; i < TYPES; i++)
        if (strcmp(types[i].name, ask->model_type) == 0)
            return &types[i];
    refuse_type(ask);
    return NULL;
}

/* --- config.json ------------------------------------------------------------------------- */

static void put_origins(struct tts_inference_ask *ask, const struct tts_hfconfig *file)
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
        bool is_of_file = i != TTS_INFERENCE_FIELD_BATCH && !ask->origins[i].option;
        if (is_of_file)
            ask->origins[i] = (struct tts_inference_origin){.key = tts_hf_key_name(keys[i]),
                                                            .line = file->values[keys[i]].line};
    }
}

static void put_model(struct tts_inference_ask *ask, const struct tts_hfconfig *file,
                      const struct model_type *type)
{
    const struct tts_hf_value *values = file->values;
    bool has_biases = values[TTS_HF_BIASES].is_set && values[TTS_HF_BIASES].number != 0;
    bool by_key = type->biases == BIASES_BY_KEY && has_biases;
    ask->config.model = (struct tts_inference_model){
        .layers = values[TTS_HF_LAYERS].number,
        .hidden = values[TTS_HF_HIDDEN_SIZE].number,
        .heads = values[TTS_HF_HEADS].number,
        .kv_heads =
            values[values[TTS_HF_KV_HEADS].is_set ? TTS_HF_KV_HEADS : TTS_HF_HEADS].number,
        .head_dim = values[TTS_HF_HEAD_DIM].number,
        .mlp_width = values[TTS_HF_MLP].number,
        .vocabulary = ask->vocabulary ? ask->vocabulary : values[TTS_HF_VOCABULARY].number,
        .positions = values[TTS_HF_POSITIONS].number,
        .tied = values[TTS_HF_TIED].is_set ? values[TTS_HF_TIED].number != 0 : type->is_tied,
        .biases = by_key || type->biases == BIASES_QKV,
        .output_bias = by_key,
        .head_norms = type->has_head_norms,
    };
}

/* A window counts only if use_sliding_window does not turn it off. */
static void put_unused(struct tts_inference_ask *ask, const struct tts_hfconfig *file)
{
    const struct tts_hf_value *window = &file->values[TTS_HF_WINDOW];
    const struct tts_hf_value *use = &file->values[TTS_HF_USE_WINDOW];
    bool is_off = use->is_set && use->number == 0;
    ask->window = window->is_set && !is_off ? window->number : 0;
    ask->is_quantized = file->quantization_line > 0;
    snprintf(ask->quantization, sizeof ask->quantization, "%s", file->quantization);
}

static int refuse_kind(const struct tts_inference_ask *ask, const struct tts_hfconfig *file)
{
    static const char *const kinds[TTS_HF_KINDS] = {
        [TTS_HF_EXPERTS] = "is of a mixture of experts, which is not modelled; a dense model "
                           "of the same sizes is nearest",
        [TTS_HF_LATENT] = "is of latent attention, which is not modelled; a model without it "
                          "is nearest",
        [TTS_HF_MLP_BIAS] = "is not modelled; an MLP without biases is",
        [TTS_HF_GPT2] = "is of GPT2, whose config.json is not read; a tt-train YAML with "
                        "model_type gpt2 is",
    };
    tts_message(command, "%s:%" PRIu32 ": '%s' %s", tts_message_path(ask->path),
                file->kind_line, file->kind_key, kinds[file->kind]);
    return TTS_EXIT_USAGE;
}

static int check_needed(const struct tts_inference_ask *ask, const struct tts_hfconfig *file,
                        const struct model_type *type)
{
    const struct {
        enum tts_hf_key key;
        bool is_needed;
    } keys[] = {{TTS_HF_KV_HEADS, type->needs_kv_heads},
                {TTS_HF_HEAD_DIM, type->needs_head_dim}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!keys[i].is_needed || file->values[keys[i].key].is_set)
            continue;
        tts_message(command, "%s: no '%s': a %s needs it", tts_message_path(ask->path),
                    tts_hf_key_name(keys[i].key), type->name);
        return TTS_EXIT_INPUT;
    }
    return TTS_EXIT_DONE;
}

static int load_json(struct tts_inference_ask *ask, const struct tts_textfile *text)
{
    struct tts_hfconfig file = {0};
    struct tts_error err = {0};
    if (tts_hfconfig_parse(text->text, text->len, &file, &err) != TTS_OK) {
        tts_message_error(command, ask->path, &err);
        return TTS_EXIT_INPUT;
    }
    snprintf(ask->model_type, sizeof ask->model_type, "%s", file.model_type);
    const struct model_type *type = find_type(ask);
    if (!type)
        return TTS_EXIT_USAGE;
    if (file.kind != TTS_HF_PLAIN)
        return refuse_kind(ask, &file);
    if (tts_hfconfig_check(&file, &err) != TTS_OK) {
        tts_message_error(command, ask->path, &err);
        return TTS_EXIT_INPUT;
    }
    int code = check_needed(ask, &file, type);
    if (code != TTS_EXIT_DONE)
        return code;
    put_model(ask, &file, type);
    put_origins(ask, &file);
    put_unused(ask, &file);
    return TTS_EXIT_DONE;
}

/* --- either form ------------------------------------------------------------------------- */

/* The name counts where the text does not tell, so that the reader does. */
static bool is_json(const char *path, const struct tts_textfile *text)
{
    size_t at = 0;
    while (at < text->len && memchr(" \t\r\n", text->text[at], 4))
        at++;
    return (at < text->len && text->text[at] == '{') || tts_fit_ends_in(path, ".json");
}

/* Of a value of a file: where it is, and what is wrong. */
static int complain(const struct tts_inference_ask *ask, enum tts_inference_field field,
                    struct tts_error *err)
{
    const struct tts_inference_origin *origin = &ask->origins[field];
    err->line = origin->line;
    tts_message_error(command, origin->path ? origin->path : ask->path, err);
    return TTS_EXIT_INPUT;
}

/* The width over the heads, where the file does not say. */
static int put_head_dim(struct tts_inference_ask *ask)
{
    struct tts_inference_model *model = &ask->config.model;
    const struct tts_inference_origin *origins = ask->origins;
    struct tts_error err = {0};
    if (origins[TTS_INFERENCE_FIELD_HEAD_DIM].line > 0)
        return TTS_EXIT_DONE;
    if (model->heads > 0 && model->hidden % model->heads == 0) {
        model->head_dim = model->hidden / model->heads;
        return TTS_EXIT_DONE;
    }
    tts_error_set(&err, TTS_E_INVALID,
                  "'%s' must divide the %s of %" PRIu64 ", and is %" PRIu64,
                  origins[TTS_INFERENCE_FIELD_HEADS].key,
                  origins[TTS_INFERENCE_FIELD_HIDDEN].key, model->hidden, model->heads);
    return complain(ask, TTS_INFERENCE_FIELD_HEADS, &err);
}

static int put_length(struct tts_inference_ask *ask)
{
    const struct tts_inference_origin *origin = &ask->origins[TTS_INFERENCE_FIELD_LENGTH];
    struct tts_error err = {0};
    if (ask->has_length)
        return TTS_EXIT_DONE;
    ask->config.length = ask->config.model.positions;
    if (ask->config.length > 0)
        return TTS_EXIT_DONE;
    tts_error_set(&err, TTS_E_INVALID,
                  origin->line > 0 ? "'%s' is 0, give '--length N'"
                                   : "no '%s', give '--length N'",
                  origin->key);
    return complain(ask, TTS_INFERENCE_FIELD_LENGTH, &err);
}

int tts_inference_model_load(struct tts_inference_ask *ask)
{
    struct tts_textfile text = {0};
    struct tts_error err = {0};
    int code = tts_fit_operand(&ask->path, ask->folder_path);
    if (code != TTS_EXIT_DONE)
        return code;
    if (tts_textfile_read(ask->path, TTS_HFCONFIG_MAX_BYTES, NULL, &text, &err) != TTS_OK) {
        if (err.sys_errno == ENOENT)
            tts_fit_say_no_file(ask->path);
        else
            tts_message_error(command, ask->path, &err);
        return TTS_EXIT_INPUT;
    }
    code = is_json(ask->path, &text) ? load_json(ask, &text)
                                     : tts_inference_model_yaml(ask, &text);
    tts_textfile_release(&text);
    if (code == TTS_EXIT_DONE)
        code = put_head_dim(ask);
    return code == TTS_EXIT_DONE ? put_length(ask) : code;
}
