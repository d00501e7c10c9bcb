#include "sources/config/trainfile.h"

#include "harness/t.h"
#include "harness/train_rig.h"

#include <stdio.h>
#include <string.h>

/* --- accepted files --------------------------------------------------------------------- */

T_TEST(a_training_file_gives_its_values_with_their_lines)
{
    parse("training_config:\n"
          "  batch_size: 64\n"
          "  gradient_accumulation_steps:\n"
          "    4\n"
          "  use_clip_grad_norm: true\n"
          "  model_config: \"${ROOT}/a b.yaml\"\n"
          "  tokenizer_type: char\n"
          "  use_no_op: on\n"
          "  optimizer:\n"
          "    type: SGD\n"
          "    momentum: 0.9\n"
          "    amsgrad: no\n"
          "device_config:\n"
          "  enable_tp: True\n"
          "  mesh_shape: [1, 8]\n");
    expect(V(batch_size), 64, 2);
    expect(V(accumulation), 4, 4);
    expect(V(clip), 1, 5);
    T_STR_EQ(V(model_config)->text, "${ROOT}/a b.yaml");
    T_EQ(V(model_config)->line, 6);
    T_STR_EQ(V(tokenizer)->text, "char");
    expect(V(no_op), 1, 8);
    T_STR_EQ(V(optimizer_type)->text, "SGD");
    expect(V(momentum), 1, 11);
    expect(V(amsgrad), 0, 12);
    expect(V(enable_tp), 1, 14);
    T_TRUE(held.mesh_shape[0] == 1 && held.mesh_shape[1] == 8);
    T_EQ(held.mesh_line, 15);
    T_TRUE(!V(kahan)->is_set && !V(num_heads)->is_set && !V(multihost)->is_set);
    T_EQ(held.unknown_keys, 0);
    T_TRUE(held.lora_line == 0 && held.pipeline_line == 0 && held.moe_line == 0);
}

T_TEST(a_model_file_gives_its_values_and_its_index)
{
    held = (struct tts_trainfile){0};
    const char text[] = "transformer_config:\n"
                        "  model_type: llama\n"
                        "  num_heads: 32\n"
                        "  num_groups: 4\n"
                        "  embedding_dim: 2048\n"
                        "  dropout_prob: 0.0\n"
                        "  vocab_size: 30_000\n"
                        "  weight_tying: \"enabled\"\n"
                        "  theta: 10000.0\n"
                        "  rope_scaling: {scaling_factor: 32.0, low_freq_factor: 1.0}\n"
                        "  experimental:\n"
                        "    use_composite_layernorm: false\n"
                        "  max_sequence_length: 2048\n";
    parse_bytes(text, sizeof text - 1, TTS_TRAINFILE_MODEL);
    T_STR_EQ(V(model_type)->text, "llama");
    T_EQ(V(model_type)->file, TTS_TRAINFILE_MODEL);
    expect(V(num_heads), 32, 3);
    expect(V(num_groups), 4, 4);
    expect(V(embedding_dim), 2048, 5);
    expect(V(dropout), 0, 6);
    expect(V(vocab_size), 30000, 7);
    T_STR_EQ(V(weight_tying)->text, "enabled");
    expect(V(composite_layernorm), 0, 12);
    expect(V(max_sequence), 2048, 13);
    T_EQ(V(max_sequence)->file, TTS_TRAINFILE_MODEL);
}

T_TEST(a_second_file_is_read_into_what_is_there)
{
    const char model[] = "transformer_config: {num_heads: 6}\n";
    parse("training_config: {batch_size: 2}\n");
    parse_bytes(model, sizeof model - 1, TTS_TRAINFILE_MODEL);
    expect(V(batch_size), 2, 1);
    expect(V(num_heads), 6, 1);
    T_TRUE(V(batch_size)->file == TTS_TRAINFILE_TRAINING &&
           V(num_heads)->file == TTS_TRAINFILE_MODEL);
}

T_TEST(every_key_has_a_place_in_its_section)
{
    static const struct {
        const char *before, *after;
    } in_section[] = {
        {"training_config: {", "}"},
        {"training_config: {optimizer: {", "}}"},
        {"training_config: {}\ndevice_config: {", "}"},
        {"training_config: {}\nmultihost_config: {", "}"},
        {"transformer_config: {", "}"},
        {"transformer_config: {experimental: {", "}}"},
    };
    enum { TRAINING, OPTIMIZER, DEVICE, MULTIHOST, MODEL, EXPERIMENTAL };
    enum { NUMBER, BOOL, REAL, TEXT };
    static const char *const values[] = {"7", "true", "0.5", "words"};
#define ROW(field, section, name, type)                                                        \
    {name, offsetof(struct tts_trainfile, field), section, type},
    static const struct {
        const char *name;
        size_t offset;
        int section, type;
    } rows[] = {TTS_TRAINFILE_KEYS(ROW)};
    for (size_t key = 0; key < sizeof rows / sizeof rows[0]; key++) {
        char text[200];
        snprintf(text, sizeof text, "%s%s: %s%s", in_section[rows[key].section].before,
                 rows[key].name, values[rows[key].type], in_section[rows[key].section].after);
        parse(text);
        const struct tts_trainfile_value *value =
            (const void *)((const char *)&held + rows[key].offset);
        T_TRUE(value->is_set);
        T_STR_EQ(value->key, rows[key].name);
        T_EQ(value->number, rows[key].type == NUMBER ? 7 : rows[key].type != TEXT);
        T_STR_EQ(value->text, rows[key].type == TEXT ? "words" : "");
    }
}

T_TEST(booleans_are_read_in_every_way_to_write_them)
{
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "YES", "on", "On", "'on'"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "off", "OFF"};
    char text[100];
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        snprintf(text, sizeof text, "device_config: {enable_ddp: %s}\ntraining_config:\n",
                 yes[i]);
        parse(text);
        expect(V(enable_ddp), 1, 1);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        snprintf(text, sizeof text, "device_config: {enable_ddp: %s}\ntraining_config:\n",
                 no[i]);
        parse(text);
        expect(V(enable_ddp), 0, 1);
    }
}

T_TEST(a_real_number_is_zero_or_it_is_not)
{
    static const struct {
        const char *text;
        uint64_t is_any;
    } cases[] = {{"0", 0},
                 {"0.0", 0},
                 {".0", 0},
                 {"0.", 0},
                 {"0e9", 0},
                 {"0.2", 1},
                 {"1e-8", 1},
                 {".5", 1},
                 {"'0.1'", 1},
                 {"0.0001", 1},
                 {"00.00e-1", 0},
                 {"0.999", 1},
                 {"999e-3", 1},
                 {"0.0009e3", 1},
                 {"1e-99999999999999999999", 1},
                 {"0e99999999999999999999", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "transformer_config: {dropout_prob: %s}", cases[i].text);
        parse(text);
        expect(V(dropout), cases[i].is_any, 1);
    }
}

T_TEST(numbers_go_up_to_64_bits)
{
    parse("transformer_config: {vocab_size: 18446744073709551615, num_heads: 0}");
    expect(V(vocab_size), UINT64_MAX, 1);
    expect(V(num_heads), 0, 1);
    parse("transformer_config: {vocab_size: '1_8_446_744', num_heads: \"12\"}");
    expect(V(vocab_size), 18446744, 1);
    expect(V(num_heads), 12, 1);
}

T_TEST(null_is_as_if_it_were_not_there)
{
    parse("transformer_config: {intermediate_dim: null, head_dim: ~, weight_tying: Null,\n"
          "  runner_type: , dropout_prob: ~, rope_scaling: null, bias: null}\n"
          "device_config: {mesh_shape: null}\n"
          "eval_config:\n");
    T_TRUE(!V(intermediate_dim)->is_set && !V(head_dim)->is_set && !V(weight_tying)->is_set);
    T_TRUE(!V(runner)->is_set && !V(dropout)->is_set && !V(bias)->is_set);
    T_EQ(held.mesh_shape[0], 0);
    parse("transformer_config: {weight_tying: 'null'}");
    T_STR_EQ(V(weight_tying)->text, "null");
}

T_TEST(text_is_kept_as_it_stands)
{
    char text[600] = "training_config: {model_config: ";
    size_t at = strlen(text);
    memset(text + at, 'x', 511);
    memcpy(text + at + 511, "}", 2);
    parse(text);
    T_EQ(strlen(V(model_config)->text), 511);
    parse("training_config: {data_path: \"\xc3\xa4/\xe2\x82\xac.txt\"}");
    T_STR_EQ(V(data_path)->text, "\xc3\xa4/\xe2\x82\xac.txt");
}

T_TEST(yaml_may_be_written_in_any_of_its_ways)
{
    static const char *const texts[] = {
        "{\"training_config\": {\"batch_size\": 8}}",
        "%YAML 1.1\n---\ntraining_config:\n  'batch_size': \"8\"\n...\n",
        "\xef\xbb\xbf# words\r\ntraining_config: # more\r\n    batch_size: 8\r\n",
        "? training_config\n: ? batch_size\n  : 8\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        parse(texts[i]);
        T_EQ(V(batch_size)->number, 8);
    }
}

T_TEST(a_mesh_may_be_a_list_of_lines)
{
    parse("device_config:\n  mesh_shape:\n    - 4\n    - 8\ntraining_config:\n");
    T_TRUE(held.mesh_shape[0] == 4 && held.mesh_shape[1] == 8);
    T_EQ(held.mesh_line, 3);
}

/* --- skipped keys ----------------------------------------------------------------------- */

T_TEST(unknown_keys_are_counted_and_the_first_three_are_kept)
{
    parse("training_config:\n"
          "  wandb: {mode: [offline, {deep: 1}], name: x}\n"
          "  batch_size: 1\n"
          "  zzz: 3\n"
          "company_notes: [1, [2, [3]]]\n");
    T_EQ(held.unknown_keys, 3);
    T_STR_EQ(held.unknown_names[0], "wandb");
    T_STR_EQ(held.unknown_names[1], "zzz");
    T_STR_EQ(held.unknown_names[2], "company_notes");
    T_EQ(held.unknown_line, 2);
    T_EQ(held.unknown_file, TTS_TRAINFILE_TRAINING);
    expect(V(batch_size), 1, 3);
    parse(
        "training_config:\n  "
        "\"\\x01qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq\": 1\n");
    T_EQ(strlen(held.unknown_names[0]), 63);
    T_EQ(held.unknown_names[0][0], '?');
}

T_TEST(known_keys_that_change_no_memory_are_no_unknown_keys)
{
    parse("training_config:\n"
          "  seed: 5489\n"
          "  project_name: [any, thing]\n"
          "  optimizer: {type: MuonWithAdamW, muon: {lr: 1, momentum: 2}, adamw: {zzz: 1},\n"
          "              adamw_modules: [a, b]}\n"
          "eval_config: {top_k: 50}\n"
          "scheduler_config: {max_lr: 1e-4}\n"
          "remote_rollout_config: {mesh_shape: [1, 2, 3]}\n");
    T_EQ(held.unknown_keys, 0);
    T_TRUE(!V(momentum)->is_set);
}

T_TEST(kinds_of_runs_that_are_not_modelled_are_flagged)
{
    parse("training_config:\n  lora_config:\n    rank: 8\nlora: true\n");
    T_TRUE(held.lora_line == 2 && held.lora_file == TTS_TRAINFILE_TRAINING);
    parse("training_config:\n\nmultihost_config:\n  enabled: true\n");
    T_EQ(held.pipeline_line, 4);
    parse("training_config:\nmultihost_config:\n  enabled: false\n"
          "  pipeline_parallel_config: {num_blocks: 32}\n");
    T_EQ(held.pipeline_line, 4);
    parse("training_config:\n  multihost_config: a.yaml\n");
    T_EQ(held.pipeline_line, 2);
    parse("training_config:\n  grpo_config: {epsilon: 1}\n");
    T_EQ(held.grpo_line, 2);
    parse("transformer_config:\n  q_lora_rank: 1\n  moe_type: dense\n  moe_hyperparam: {a: 1}");
    T_EQ(held.moe_line, 3);
    T_EQ(held.lora_line, 0);
    static const char *const axes[] = {"[0]", "-2", "{a: 1}"};
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "transformer_config:\ndevice_config:\n  moe_axis: %s\n",
                 axes[i]);
        parse(text);
        T_EQ(held.moe_line, 3);
    }
    parse("transformer_config:\ndevice_config:\n  moe_axis: 0\n");
    T_EQ(held.moe_line, 3);
}

/* An adapter key is flagged whatever its name is and however deep it is nested. */
T_TEST(any_key_of_lora_or_peft_is_flagged)
{
    static const char *const meant[] = {"training_config:\n  lora_rank: 8\n",
                                        "training_config:\n  use_peft: true\n",
                                        "transformer_config:\n  lora_rank: 8\n",
                                        "training_config:\n  qlora: {bits: 4}\n",
                                        "training_config:\n  useLora: yes\n",
                                        "training_config:\n  a: {b: [1, {PEFT: x}]}\n",
                                        "training_config:\n  project_name: {lora_alpha: 16}\n"};
    static const char *const other[] = {"training_config:\n  lora_rank: 0\n",
                                        "training_config:\n  use_peft: false\n",
                                        "training_config:\n  exploration: 1\n",
                                        "training_config:\n  a: {lora: ~, b: 1}\n",
                                        "training_config:\n  a: {b: lora, c: use_peft}\n",
                                        "training_config:\n  a: [lora, {b: 1}, peft]\n",
                                        "training_config:\n  a: {q_lora_rank: 8}\n"};
    for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++) {
        parse(meant[i]);
        T_EQ(held.lora_line, 2);
    }
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        parse(other[i]);
        T_EQ(held.lora_line, 0);
    }
    parse("training_config:\n  lora_rank: 8\n  use_peft: no\n");
    T_EQ(held.unknown_keys, 0);
}

T_TEST(what_is_switched_off_flags_nothing)
{
    parse("training_config:\n  lora: false\n  multihost_config: ''\n  grpo_config: null\n"
          "multihost_config: {enabled: false, pipeline_parallel_config: ~}\n"
          "device_config: {moe_axis: -1}\n"
          "transformer_config: {n_routed_experts: 0, moe_type: null}\n");
    T_TRUE(held.lora_line == 0 && held.pipeline_line == 0 && held.grpo_line == 0);
    T_EQ(held.moe_line, 0);
    T_EQ(held.unknown_keys, 0);
}
