#include "plan/trainconfig.h"

#include "harness/config_rig.h"
#include "harness/t.h"

#include <sys/stat.h>

static struct tts_trainconfig config; /* about 45 KB */
static struct tts_overrides overrides;

static const char llama_text[] = "transformer_config:\n"
                                 "  model_type: llama\n"
                                 "  num_heads: 32\n"
                                 "  num_groups: 4\n"
                                 "  embedding_dim: 2048\n"
                                 "  num_blocks: 22\n"
                                 "  vocab_size: 32000\n"
                                 "  max_sequence_length: 2048\n";

static enum tts_status load_text(const char *text)
{
    return tts_trainconfig_load(&config, write_config("c.yaml", text), &overrides);
}

static void load_good(const char *text)
{
    enum tts_status status = load_text(text);
    T_STR_EQ(config.notes.error.text, "");
    T_EQ(status, TTS_OK);
}

static void reset(void)
{
    overrides = (struct tts_overrides){.recipe = TTS_RECIPE_HEAD};
}

static void expect_set(enum tts_workload_field field, uint64_t number,
                       enum tts_setting_origin origin, uint32_t line)
{
    const struct tts_setting_value *value = &config.values[field];
    T_EQ(value->number, number);
    T_EQ(value->origin, origin);
    T_EQ(value->line, line);
}

static void expect_error(const char *text, enum tts_status status, uint32_t line,
                         const char *words)
{
    enum tts_status got = load_text(text);
    T_STR_EQ(config.notes.error.text, words);
    T_EQ(got, status);
    T_EQ(config.notes.error.line, line);
    if (line > 0)
        T_STR_EQ(config.notes.error.path, config.path);
}

T_TEST(a_workload_knows_who_set_each_value)
{
    reset();
    tts_overrides_give(&overrides, TTS_FIELD_BATCH, 4);
    load_good(llama_text);
    expect_set(TTS_FIELD_HEADS, 32, TTS_ORIGIN_FILE, 3);
    expect_set(TTS_FIELD_WIDTH, 2048, TTS_ORIGIN_FILE, 5);
    expect_set(TTS_FIELD_BATCH, 4, TTS_ORIGIN_OPTION, 0);
    expect_set(TTS_FIELD_ACCUMULATE, 1, TTS_ORIGIN_DEFAULT, 0);
    expect_set(TTS_FIELD_MLP_WIDTH, 5632, TTS_ORIGIN_RULE, 0);
    T_EQ(config.values[TTS_FIELD_MOMENTUM].origin, TTS_ORIGIN_UNUSED);
    const struct tts_workload *workload = &config.workload;
    T_TRUE(workload->model.family == TTS_FAMILY_LLAMA && workload->model.groups == 4 &&
           workload->model.blocks == 22 && workload->batch == 4 &&
           workload->model.vocabulary == 32000 && workload->recipe == TTS_RECIPE_HEAD);
    T_EQ(config.notes.count, 0);
    T_EQ(config.stop_count, 0);
}

T_TEST(an_option_counts_more_than_the_file)
{
    reset();
    tts_overrides_give(&overrides, TTS_FIELD_HEADS, 16);
    load_good(llama_text);
    expect_set(TTS_FIELD_HEADS, 16, TTS_ORIGIN_OPTION, 0);
    T_EQ(config.workload.model.heads, 16);
}

T_TEST(a_value_that_cannot_be_is_an_error_where_it_was_set)
{
    reset();
    expect_error("transformer_config:\n  model_type: gpt2\n  num_heads: 7\n", TTS_E_RANGE, 3,
                 "'num_heads' must divide the embedding width (384), but is 7");
    expect_error("transformer_config: {model_type: llama,\n intermediate_dim: 0}", TTS_E_RANGE,
                 2, "'intermediate_dim' must be at least 1, but is 0");
    expect_error("transformer_config: {model_type: gpt2,\n runner_type: Default}",
                 TTS_E_NOT_FOUND, 2,
                 "unknown runner 'Default', did you mean 'default'? allowed: "
                 "default or memory_efficient");
    tts_overrides_give(&overrides, TTS_FIELD_HEADS, 7);
    expect_error("transformer_config: {model_type: gpt2}", TTS_E_INVALID, 0,
                 "option '--heads' must divide the embedding width (384), but is 7");
    T_TRUE(config.notes.error.path == NULL);
}

T_TEST(a_run_that_is_not_modelled_names_the_nearest)
{
    reset();
    expect_error("transformer_config: {model_type: qwen3}", TTS_E_INVALID, 1,
                 "model type 'qwen3' is not modelled: the nearest modelled type is llama, "
                 "without norms of q and k and without head_dim");
    expect_error("transformer_config: {}\nlora_config: {rank: 8}", TTS_E_INVALID, 2,
                 "LoRA is not modelled; to model the training of all parameters, which needs "
                 "more memory, remove this section");
    expect_error("training_config: {optimizer: {type: Muon}}\ntransformer_config: {}",
                 TTS_E_INVALID, 1,
                 "optimizer 'Muon' is not modelled: to predict its memory, give '--optimizer "
                 "SGD --momentum 0.9': the state of both optimizers has the same size");
    expect_error(
        "transformer_config: {model_type: llama, head_dim: 3}", TTS_E_INVALID, 1,
        "a head_dim of 3 is not modelled: it must be embedding_dim / num_heads, here 64");
    expect_error("training_config: {}\ndevice_config: {enable_fsdp: true}\n"
                 "transformer_config: {}",
                 TTS_E_INVALID, 2, "FSDP is not modelled; only tensor and data parallel are");
}

T_TEST(an_option_that_does_not_go_with_the_model_is_refused)
{
    reset();
    tts_overrides_give(&overrides, TTS_FIELD_GROUPS, 2);
    expect_error("transformer_config: {model_type: gpt2}", TTS_E_INVALID, 0,
                 "option '--groups' is for llama only, but the model is gpt2");
    reset();
    tts_overrides_give(&overrides, TTS_FIELD_MOMENTUM, 1);
    expect_error(llama_text, TTS_E_INVALID, 0,
                 "option '--momentum' is for SGD only, but the optimizer is AdamW");
    reset();
    overrides.recipe = TTS_RECIPE_MAY;
    expect_error(llama_text, TTS_E_INVALID, 0,
                 "option '--recipe may' is for tensor parallel runs: give '--tensor-parallel "
                 "N', or another recipe");
}

T_TEST(the_cpp_program_has_no_default_for_some_keys)
{
    reset();
    overrides.recipe = TTS_RECIPE_HEAD_CPP;
    T_EQ(load_text("transformer_config: {num_heads: 6}"), TTS_E_NOT_FOUND);
    T_STR_EQ(config.notes.error.text, "'model_type' is missing: set this key to gpt2 or llama");
    T_STR_EQ(config.notes.error.path, config.path);
    T_EQ(load_text("transformer_config: {model_type: gpt2}"), TTS_E_NOT_FOUND);
    T_STR_EQ(config.notes.error.text,
             "'num_blocks' is missing: the C++ program has no default for gpt2");
}

T_TEST(a_mesh_sets_the_chips)
{
    reset();
    char text[1024];
    snprintf(text, sizeof text,
             "training_config: {batch_size: 4, data_path: x.yaml}\n"
             "device_config: {enable_ddp: true, enable_tp: true,\n mesh_shape: [2, 4]}\n%s",
             llama_text);
    load_good(text);
    expect_set(TTS_FIELD_DATA_PARALLEL, 2, TTS_ORIGIN_FILE, 3);
    expect_set(TTS_FIELD_TENSOR_PARALLEL, 4, TTS_ORIGIN_FILE, 3);
    T_STR_EQ(config.values[TTS_FIELD_TENSOR_PARALLEL].why, "mesh_shape");
    snprintf(text, sizeof text,
             "training_config: {batch_size: 4}\ndevice_config: {enable_ddp: true}\n%s",
             llama_text);
    T_EQ(load_text(text), TTS_E_RANGE);
    T_STR_EQ(config.notes.error.text,
             "mesh_shape is missing, but enable_ddp and enable_tp need it");
    snprintf(text, sizeof text,
             "training_config: {batch_size: 4, data_path: x.yaml}\n"
             "device_config: {enable_ddp: true, mesh_shape: [1, 3]}\n%s",
             llama_text);
    expect_error(text, TTS_E_RANGE, 2,
                 "the 3 chips of data parallel (mesh_shape) must divide the batch (4)");
}

T_TEST(notes_tell_what_the_workload_does_not_follow)
{
    reset();
    load_good("training_config: {batch_size: 4, use_no_op: true, data_path: x.yaml}\n"
              "device_config: {mesh_shape: [1, 8]}\n"
              "transformer_config: {model_type: gpt2,\n  qqqq: 1, vocab_size: 96,\n"
              "  num_blocks: 2}\n");
    T_EQ(config.notes.count, 3);
    T_STR_EQ(config.notes.list[0].text, "key 'qqqq' is unknown and ignored");
    T_EQ(config.notes.list[0].line, 4);
    T_STR_EQ(config.notes.list[0].path, config.path);
    T_STR_EQ(config.notes.list[1].text, "mesh_shape [1, 8] is ignored and one chip is "
                                        "modelled: neither enable_ddp nor enable_tp is true");
    T_STR_EQ(config.notes.list[2].text,
             "'use_no_op' is ignored: the default recipe, 'head', does not read this key; give "
             "'--recipe v1' for the recipe that does");
    load_good("training_config: {batch_size: 4, data_path: x.yaml,\n"
              "  optimizer: {type: SGD, amsgrad: true}}\n"
              "transformer_config: {model_type: gpt2, vocab_size: 96}\n");
    T_EQ(config.notes.count, 1);
    T_STR_EQ(config.notes.list[0].text,
             "'amsgrad' is ignored: SGD has no such setting in recipe head");
    T_EQ(config.notes.list[0].line, 2);
}

T_TEST(a_run_that_the_program_refuses_has_its_reason)
{
    reset();
    tts_overrides_give(&overrides, TTS_FIELD_TENSOR_PARALLEL, 2);
    tts_overrides_give(&overrides, TTS_FIELD_CLIP, 1);
    load_good("transformer_config: {model_type: gpt2}\n");
    T_EQ(config.stop_count, 1);
    T_STR_EQ(config.stops[0].reason,
             "the program supports tensor parallel only for llama, not for gpt2");
    T_EQ(config.stops[0].line, 0);
    expect_set(TTS_FIELD_TENSOR_PARALLEL, 1, TTS_ORIGIN_RULE, 0);
    T_EQ(config.workload.tensor_parallel, 1);
}

T_TEST(a_file_that_is_not_there_names_its_neighbours)
{
    char path[4096], expected[8400];
    reset();
    snprintf(path, sizeof path, "%s", t_scratch("beside"));
    T_EQ(mkdir(path, 0700), 0);
    write_config("beside/b.yaml", "");
    write_config("beside/a.yaml", "");
    snprintf(path, sizeof path, "%s", t_scratch("beside/none.yaml"));
    T_EQ(tts_trainconfig_load(&config, path, &overrides), TTS_E_IO);
    snprintf(expected, sizeof expected,
             "cannot read '%s': no such file or directory; in '%.*s' there are a.yaml and "
             "b.yaml",
             path, (int)(strrchr(path, '/') + 1 - path), path);
    T_STR_EQ(config.notes.error.text, expected);
    T_TRUE(config.notes.error.path == NULL);
    expect_error("training_config:\n  model_config: nowhere.yaml\n", TTS_E_NOT_FOUND, 2,
                 "no model file 'nowhere.yaml': searched the given path, the folder of this "
                 "file and ../model_configs");
    expect_error("training_config: [", TTS_E_SYNTAX, 1,
                 "'training_config' must be a section of 'key: value', but is a list");
}
