#include "plan/inferconfig.h"

#include "harness/config_rig.h"
#include "harness/t.h"

#include <sys/stat.h>

static struct tts_inferconfig held;

static const char llama_text[] = "{\"model_type\": \"llama\",\n"
                                 " \"hidden_size\": 2048, \"num_hidden_layers\": 16,\n"
                                 " \"num_attention_heads\": 32, \"num_key_value_heads\": 8,\n"
                                 " \"intermediate_size\": 8192, \"vocab_size\": 128256,\n"
                                 " \"max_position_embeddings\": 4096}\n";

static void reset(const char *path)
{
    memset(&held, 0, sizeof held);
    held.path = path;
    held.config.batch = held.config.tensor_parallel = 1;
    held.config.block = 32;
}

static const struct tts_note *load_fails(const char *name, const char *text,
                                         enum tts_status status)
{
    reset(write_config(name, text));
    T_EQ(tts_inferconfig_load(&held), status);
    return &held.train.notes.error;
}

static void load_good(void)
{
    enum tts_status status = tts_inferconfig_load(&held);
    T_STR_EQ(held.train.notes.error.text, "");
    T_EQ(status, TTS_OK);
}

T_TEST(a_config_json_fills_the_model_and_its_origins)
{
    reset(write_config("config.json", llama_text));
    load_good();
    const struct tts_inference_model *model = &held.config.model;
    T_TRUE(model->layers == 16 && model->hidden == 2048 && model->heads == 32 &&
           model->kv_heads == 8 && model->head_dim == 64 && model->vocabulary == 128256);
    T_EQ(held.config.length, 4096);
    T_STR_EQ(held.origins[TTS_INFERENCE_FIELD_HEADS].key, "num_attention_heads");
    T_EQ(held.origins[TTS_INFERENCE_FIELD_HEADS].line, 3);
    T_STR_EQ(held.model_type, "llama");
    T_TRUE(!held.type_is_assumed && held.train.notes.count == 0);
}

T_TEST(a_folder_stands_for_its_config_json)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", t_scratch("model"));
    T_EQ(mkdir(folder, 0700), 0);
    reset(folder);
    T_EQ(tts_inferconfig_load(&held), TTS_E_NOT_FOUND);
    T_TRUE(strstr(held.train.notes.error.text, "is a folder without a config.json") != NULL);
    write_config("model/config.json", llama_text);
    reset(folder);
    load_good();
    T_TRUE(tts_ends_in(held.path, "model/config.json"));
}

T_TEST(a_training_file_gives_its_model_and_notes_the_rest)
{
    reset(write_config("t.yaml", "training_config:\n  batch_size: 8\n"
                                 "transformer_config: {model_type: llama, num_heads: 32,\n"
                                 "  num_groups: 4, embedding_dim: 2048, vocab_size: 32000}\n"));
    held.vocabulary = 96;
    load_good();
    T_EQ(held.config.model.heads, 32);
    T_EQ(held.config.model.vocabulary, 96);
    T_STR_EQ(held.origins[TTS_INFERENCE_FIELD_KV_HEADS].key, "num_groups");
    T_STR_EQ(held.origins[TTS_INFERENCE_FIELD_KV_HEADS].path, held.path);
    T_EQ(held.origins[TTS_INFERENCE_FIELD_KV_HEADS].line, 4);
    T_EQ(held.train.notes.count, 1);
    T_STR_EQ(held.train.notes.list[0].text,
             "'batch_size' is not used for inference: give '--batch'");
    T_EQ(held.train.notes.list[0].line, 2);
}

T_TEST(a_model_that_is_not_modelled_names_the_nearest)
{
    const struct tts_note *error =
        load_fails("config.json", "{\"model_type\": \"mixtral\"}", TTS_E_INVALID);
    T_STR_EQ(error->text,
             "model_type 'mixtral' is not modelled: this type is a mixture of experts; "
             "the nearest modelled type is 'mistral'");
    T_STR_EQ(error->path, held.path);
    error = load_fails("config.json", "{\"model_type\": \"lama\"}", TTS_E_INVALID);
    T_STR_EQ(error->text,
             "model_type 'lama' is not modelled; the nearest modelled type is 'llama'");
    error = load_fails("config.json", "{\n\"num_experts\": 4}", TTS_E_INVALID);
    T_STR_EQ(error->text, "'num_experts' belongs to a mixture of experts, which is not "
                          "modelled; only dense models are");
    T_EQ(error->line, 2);
}

T_TEST(a_wrong_value_is_an_error_where_it_was_set)
{
    const struct tts_note *error = load_fails("config.json", "[]", TTS_E_SYNTAX);
    T_EQ(error->line, 1);
    reset(write_config("config.json", llama_text));
    held.config.batch = 0;
    held.origins[TTS_INFERENCE_FIELD_BATCH].option = "--batch";
    T_EQ(tts_inferconfig_load(&held), TTS_E_INVALID);
    T_EQ(strncmp(held.train.notes.error.text, "'--batch' must be", 17), 0);
    T_TRUE(held.train.notes.error.path == NULL);
    error = load_fails("m.yaml", "transformer_config: {model_type: gpt2,\n num_heads: 7}",
                       TTS_E_RANGE);
    T_STR_EQ(error->text, "'num_heads' must divide 'embedding_dim' (384), but is 7");
    T_EQ(error->line, 2);
}

T_TEST(remedies_that_are_enough_come_first)
{
    struct tts_inference_lighter lighter[TTS_INFERENCE_LIGHTER_MAX];
    struct tts_inference plan;
    struct tts_error err = {0};
    struct tts_chip chip;
    size_t count = 0;
    reset(write_config("config.json", llama_text));
    held.config.batch = 128;
    load_good();
    T_EQ(tts_chip_preset("n150", &chip, &err), TTS_OK);
    T_EQ(tts_inference_plan(&held.config, &chip, NULL, &plan, &err), TTS_OK);
    T_TRUE(!plan.fits);
    T_EQ(tts_inferconfig_lighten(&held, &chip, &plan, lighter, &count, &err), TTS_OK);
    T_TRUE(count > 1);
    for (size_t i = 1; i < count; i++)
        T_TRUE(lighter[i - 1].fits || !lighter[i].fits);
    T_STR_EQ(lighter[0].options, "--weights bfp8 --cache bfp8");
    T_TRUE(lighter[0].fits);
}
