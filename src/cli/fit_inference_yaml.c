/* fit_inference_yaml.c: the model of a tt-train configuration. */
#include "cli/command.h"
#include "cli/fit_inference_parts.h"
#include "cli/message.h"

#include <inttypes.h>

static void put_origins(struct tts_inference_ask *ask, const struct tts_fit_setup *setup)
{
    const struct {
        enum tts_inference_field field;
        enum tts_fit_setting setting;
    } origins[] = {
        {TTS_INFERENCE_FIELD_LAYERS, TTS_FIT_BLOCKS},
        {TTS_INFERENCE_FIELD_HIDDEN, TTS_FIT_WIDTH},
        {TTS_INFERENCE_FIELD_HEADS, TTS_FIT_HEADS},
        {TTS_INFERENCE_FIELD_KV_HEADS,
         tts_fit_is_llama(setup) ? TTS_FIT_GROUPS : TTS_FIT_HEADS},
        {TTS_INFERENCE_FIELD_MLP, TTS_FIT_MLP},
        {TTS_INFERENCE_FIELD_VOCABULARY, TTS_FIT_VOCABULARY},
        {TTS_INFERENCE_FIELD_LENGTH, TTS_FIT_SEQUENCE},
    };
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
        struct tts_inference_origin *origin = &ask->origins[origins[i].field];
        if (!origin->option)
            *origin =
                (struct tts_inference_origin){.key = tts_fit_setting(origins[i].setting)->name,
                                              .path = ask->model_path,
                                              .line = setup->values[origins[i].setting].line};
    }
}

static void put_model(struct tts_inference_ask *ask, const struct tts_fit_setup *setup)
{
    const struct tts_model_config *model = &setup->workload.model;
    struct tts_model_config of_mlp = *model;
    bool is_gpt2 = model->family == TTS_FAMILY_GPT2;
    if (of_mlp.width >= UINT64_C(1) << 60) /* passes 2^63 bytes whatever the rule says */
        of_mlp.width = 1;
    ask->config.model = (struct tts_inference_model){
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

/* What training has of the same name, and an option did not give. */
static void note_training(const struct tts_inference_ask *ask,
                          const struct tts_fit_setup *setup)
{
    const struct tts_trainfile *file = &setup->file;
    const struct tts_trainfile_value *batch = &file->values[TTS_TRAINFILE_BATCH_SIZE];
    bool has_batch = batch->is_set && !ask->origins[TTS_INFERENCE_FIELD_BATCH].option &&
                     batch->number != ask->config.batch;
    bool has_mesh = (file->mesh_shape[0] > 1 || file->mesh_shape[1] > 1) &&
                    !ask->origins[TTS_INFERENCE_FIELD_TENSOR_PARALLEL].option;
    if (!has_batch && !has_mesh)
        return;
    tts_message(TTS_INFERENCE_COMMAND,
                "note: %s:%" PRIu32 ": %s%s%s of training, not used here: give %s%s%s",
                tts_fit_path(setup, TTS_TRAINFILE_TRAINING),
                has_batch ? batch->line : file->mesh_line, has_batch ? "'batch_size'" : "",
                has_batch && has_mesh ? " and " : "",
                has_mesh ? has_batch ? "'mesh_shape' are" : "'mesh_shape' is" : " is",
                has_batch ? "'--batch'" : "", has_batch && has_mesh ? ", " : "",
                has_mesh ? "'--tensor-parallel'" : "");
}

int tts_inference_model_yaml(struct tts_inference_ask *ask, const struct tts_textfile *text)
{
    struct tts_fit_options options = {.path = ask->path, .recipe = TTS_RECIPE_HEAD};
    struct tts_fit_setup setup;
    options.is_given[TTS_FIT_VOCABULARY] = ask->vocabulary > 0;
    options.given[TTS_FIT_VOCABULARY] = ask->vocabulary;
    int code = tts_fit_setup_model(&setup, &options, text);
    if (code != TTS_EXIT_DONE)
        return code;
    snprintf(ask->model_type, sizeof ask->model_type, "%s",
             tts_fit_value_word(&setup, TTS_FIT_FAMILY));
    snprintf(ask->model_path, sizeof ask->model_path, "%s",
             tts_fit_path(&setup, TTS_TRAINFILE_MODEL));
    ask->type_is_assumed = setup.values[TTS_FIT_FAMILY].origin == TTS_FIT_DEFAULT;
    if (setup.values[TTS_FIT_VOCABULARY].origin == TTS_FIT_RULE)
        ask->vocabulary_why = setup.values[TTS_FIT_VOCABULARY].why;
    put_model(ask, &setup);
    put_origins(ask, &setup);
    note_training(ask, &setup);
    return TTS_EXIT_DONE;
}
