#include "harness/t.h"
#include "harness/train_rig.h"
#include "sources/config/trainfile.h"
#include "sources/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *write_file(const char *name, const char *text)
{
    return t_file(name, text, strlen(text));
}

static void make_directory(const char *name)
{
    T_TRUE(mkdir(t_scratch(name), 0700) == 0 || errno == EEXIST);
}

static void load(const char *path)
{
    struct tts_error err = {0};
    unsigned bad_file = 7;
    memset(&held, 0x5a, sizeof held);
    enum tts_status status = tts_trainfile_load(path, NULL, &held, &bad_file, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    T_EQ(bad_file, 7);
}

static void load_fails(const char *path, unsigned file, const struct refusal *wanted)
{
    struct tts_error err = {0};
    unsigned bad_file = 7;
    held = (struct tts_trainfile){.unknown_keys = 99};
    enum tts_status status = tts_trainfile_load(path, NULL, &held, &bad_file, &err);
    T_STR_EQ(err.text, wanted->words);
    T_EQ(status, wanted->status);
    T_EQ(err.line, wanted->line);
    T_EQ(bad_file, file);
    T_TRUE(held.unknown_keys == 99 && !V(batch_size)->is_set);
    bad_file = 7;
    T_EQ(tts_trainfile_load(path, NULL, &held, &bad_file, NULL), wanted->status);
}

static const char model_text[] = "transformer_config: {num_heads: 6}\n";

/* Writes tree/configs/training_configs/t.yaml, which names `model` as its model file. Returns
 * its path. */
static const char *write_training(const char *model)
{
    char text[700];
    make_directory("tree");
    make_directory("tree/configs");
    make_directory("tree/configs/training_configs");
    make_directory("tree/configs/model_configs");
    make_directory("tree/configs/model_configs/moe");
    snprintf(text, sizeof text, "training_config:\n  batch_size: 3\n  model_config: \"%s\"\n",
             model);
    return write_file("tree/configs/training_configs/t.yaml", text);
}

static void expect_model(const char *path, const char *end)
{
    load(path);
    expect(V(batch_size), 3, 2);
    expect(V(num_heads), 6, 1);
    T_TRUE(V(batch_size)->file == 0 && V(num_heads)->file == TTS_TRAINFILE_MODEL);
    T_STR_EQ(held.paths[TTS_TRAINFILE_TRAINING], path);
    const char *model = held.paths[TTS_TRAINFILE_MODEL];
    T_TRUE(strlen(model) >= strlen(end));
    T_STR_EQ(model + strlen(model) - strlen(end), end);
}

T_TEST(a_model_file_alone_is_no_training_file)
{
    const char *path = write_file("model.yaml", "lora: 1\ntransformer_config: {num_heads: 6}\n"
                                                "nowhere: 1\n");
    load(path);
    T_STR_EQ(held.paths[TTS_TRAINFILE_TRAINING], "");
    T_STR_EQ(held.paths[TTS_TRAINFILE_MODEL], path);
    expect(V(num_heads), 6, 2);
    T_EQ(V(num_heads)->file, TTS_TRAINFILE_MODEL);
    T_TRUE(held.lora_line == 1 && held.lora_file == TTS_TRAINFILE_MODEL);
    T_TRUE(held.unknown_line == 3 && held.unknown_file == TTS_TRAINFILE_MODEL);
}

T_TEST(a_training_file_with_its_own_model_is_both)
{
    const char *path = write_file(
        "both.yaml", "training_config: {batch_size: 3}\ntransformer_config: {num_heads: 6}\n");
    load(path);
    T_STR_EQ(held.paths[TTS_TRAINFILE_TRAINING], path);
    T_STR_EQ(held.paths[TTS_TRAINFILE_MODEL], path);
    expect(V(num_heads), 6, 2);
    expect(V(batch_size), 3, 1);
}

T_TEST(a_named_model_file_outranks_a_model_inside)
{
    write_file("m.yaml", "transformer_config: {num_blocks: 2}\n");
    load(write_file("two.yaml", "training_config: {model_config: m.yaml}\n"
                                "transformer_config: {num_heads: 6, moe_type: dense}\n"));
    expect(V(num_blocks), 2, 1);
    T_TRUE(!V(num_heads)->is_set);
    T_EQ(held.moe_line, 0);
}

T_TEST(a_model_of_another_section_is_told)
{
    const char *path = write_file("mlp.yaml", "\nmlp_config: {input_features: 784}\n");
    load(path);
    T_STR_EQ(held.paths[TTS_TRAINFILE_MODEL], path);
    T_TRUE(held.mlp_line == 2 && held.mlp_file == TTS_TRAINFILE_MODEL);
    load(write_file("t.yaml", "training_config: {model_config: mlp.yaml}\n"));
    T_TRUE(held.mlp_line == 2 && held.mlp_file == TTS_TRAINFILE_MODEL);
    load(write_file("both.yaml", "mlp_config: {x: 1}\ntransformer_config: {num_heads: 6}\n"));
    T_EQ(held.mlp_line, 0);
}

T_TEST(of_a_model_file_only_the_model_counts)
{
    write_file("full.yaml", "training_config: {batch_size: 99}\n"
                            "device_config: {mesh_shape: [1, 8]}\n"
                            "multihost_config: {enabled: true}\n"
                            "lora_config: {rank: 4}\n"
                            "transformer_config: {num_heads: 6}\n");
    load(write_file("t.yaml", "training_config: {batch_size: 3, model_config: full.yaml}\n"));
    expect(V(batch_size), 3, 1);
    expect(V(num_heads), 6, 5);
    T_EQ(held.mesh_shape[0], 0);
    T_TRUE(held.pipeline_line == 3 && held.pipeline_file == TTS_TRAINFILE_MODEL);
    T_TRUE(held.lora_line == 4 && held.lora_file == TTS_TRAINFILE_MODEL);
}

T_TEST(the_model_file_is_found_where_the_path_leads)
{
    char absolute[TTS_TRAINFILE_TEXT_MAX];
    const char *model = write_file("absolute.yaml", model_text);
    snprintf(absolute, sizeof absolute, "%s", model);
    expect_model(write_training(absolute), "/absolute.yaml");
    write_training("x");
    write_file("tree/configs/training_configs/near.yaml", model_text);
    expect_model(write_training("../training_configs/near.yaml"),
                 "training_configs/../training_configs/near.yaml");
}

T_TEST(the_model_file_is_found_beside_by_its_base_name)
{
    write_training("x");
    write_file("tree/configs/training_configs/beside.yaml", model_text);
    write_file("tree/configs/model_configs/beside.yaml", "training_config: {}\n");
    expect_model(write_training("configs/model_configs/beside.yaml"),
                 "training_configs/beside.yaml");
    expect_model(write_training("/nowhere/beside.yaml"), "training_configs/beside.yaml");
}

T_TEST(the_model_file_is_found_among_the_model_files_of_the_tree)
{
    write_training("x");
    write_file("tree/configs/model_configs/m.yaml", model_text);
    write_file("tree/configs/model_configs/moe/deep.yaml", model_text);
    expect_model(write_training("/elsewhere/m.yaml"), "../model_configs/m.yaml");
    expect_model(write_training("${NOT_SET_ANYWHERE}/configs/model_configs/moe/deep.yaml"),
                 "../model_configs/moe/deep.yaml");
    expect_model(write_training("configs/model_configs/m.yaml"), "model_configs/m.yaml");
}

T_TEST(a_training_file_may_lie_one_level_deeper_in_the_tree)
{
    write_training("x");
    write_file("tree/configs/model_configs/m.yaml", model_text);
    make_directory("tree/configs/training_configs/sub");
    load(write_file("tree/configs/training_configs/sub/t.yaml",
                    "training_config: {model_config: $NOT_SET_ANYWHERE/m.yaml}\n"));
    expect(V(num_heads), 6, 1);
}

T_TEST(variables_that_are_set_are_expanded)
{
    char root[TTS_TRAINFILE_TEXT_MAX];
    make_directory("root");
    write_file("root/of.yaml", model_text);
    snprintf(root, sizeof root, "%s", t_scratch("root"));
    T_EQ(setenv("TTS_TEST_ROOT", root, 1), 0);
    T_EQ(setenv("TTS_TEST_WORD", "of", 1), 0);
    expect_model(write_training("${TTS_TEST_ROOT}/of.yaml"), "/root/of.yaml");
    expect_model(write_training("$TTS_TEST_ROOT/${TTS_TEST_WORD}.yaml"), "/root/of.yaml");
    expect_model(write_training("$TTS_TEST_ROOT/$TTS_TEST_WORD.yaml"), "/root/of.yaml");
    /* A '$' that does not begin a variable stays in the path. */
    write_file("tree/configs/training_configs/a$1${}${x$.yaml", model_text);
    expect_model(write_training("a$1${}${x$.yaml"), "/a$1${}${x$.yaml");
}

T_TEST(a_path_that_grows_too_long_is_refused)
{
    char big[600];
    memset(big, 'b', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    T_EQ(setenv("TTS_TEST_BIG", big, 1), 0);
    const struct refusal wanted = {"", TTS_E_RANGE, 3,
                                   "the path of the model file is longer than 511 bytes"};
    load_fails(write_training("$TTS_TEST_BIG/x.yaml"), TTS_TRAINFILE_TRAINING, &wanted);
}

T_TEST(a_model_file_that_is_nowhere_says_where_was_looked)
{
    const struct refusal wanted = {"", TTS_E_NOT_FOUND, 3,
                                   "model file not found: searched the given path, the folder "
                                   "of this file and ../model_configs"};
    load_fails(write_training("configs/nowhere.yaml"), TTS_TRAINFILE_TRAINING, &wanted);
    T_TRUE(strstr(held.paths[0], "training_configs/t.yaml") != NULL);
    T_STR_EQ(held.paths[1], "");
    T_STR_EQ(held.missing_model, "configs/nowhere.yaml");
    /* The error has the whole path, with the variables replaced. */
    static const char far[] = "/abc/12345678901234567890123456789012345678901234567890"
                              "1234567890123456789/\xc3\xa4.yaml";
    load_fails(write_training(far), TTS_TRAINFILE_TRAINING, &wanted);
    T_STR_EQ(held.missing_model, far);
    T_EQ(setenv("TTS_TEST_ROOT", "/nowhere", 1), 0);
    load_fails(write_training("$TTS_TEST_ROOT/x.yaml"), TTS_TRAINFILE_TRAINING, &wanted);
    T_STR_EQ(held.missing_model, "/nowhere/x.yaml");
}

T_TEST(a_text_that_was_read_already_is_not_read_again)
{
    char text[] = "training_config: {batch_size: 5}\n"
                  "transformer_config: {num_heads: 4}\n";
    const struct tts_textfile read = {.text = text, .len = sizeof text - 1};
    const char *path = write_file("other.yaml", "nothing of the kind\n");
    struct tts_error err = {0};
    unsigned bad_file = 7;
    T_EQ(tts_trainfile_load(path, &read, &held, &bad_file, &err), TTS_OK);
    expect(V(batch_size), 5, 1);
    expect(V(num_heads), 4, 2);
    T_STR_EQ(held.paths[0], path);
    T_STR_EQ(held.paths[1], path);
    /* A training file that names a model file may also have a model of its own, which is then
     * not used. */
    char names[] = "training_config: {model_config: m.yaml}\n"
                   "transformer_config: {num_heads: 4, num_blocks: 3}\n";
    const struct tts_textfile naming = {.text = names, .len = sizeof names - 1};
    write_file("m.yaml", model_text);
    T_EQ(tts_trainfile_load(path, &naming, &held, &bad_file, &err), TTS_OK);
    expect(V(num_heads), 6, 1);
    T_TRUE(!V(num_blocks)->is_set);
}

T_TEST(a_run_that_is_not_modelled_needs_no_model)
{
    static const char *const lines[] = {
        "lora_config: {rank: 8}\n", "device_config: {enable_fsdp: true}\n",
        "device_config: {enable_cp: true}\n", "device_config: {moe_axis: 0}\n",
        "multihost_config: {enabled: true}\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "training_config: {batch_size: 3}\n%s", lines[i]);
        const char *path = write_file("bare.yaml", text);
        load(path);
        T_STR_EQ(held.paths[0], path);
        T_STR_EQ(held.paths[1], "");
    }
    load(write_file("bare.yaml", "training_config: {grpo_config: {group: 1}}\n"));
    T_EQ(held.grpo_line, 1);
    const struct refusal wanted = {
        "", TTS_E_NOT_FOUND, 1,
        "no model: 'training_config' needs 'model_config', the path of a model file"};
    load_fails(write_file("bare.yaml",
                          "training_config: {max_steps: 1}\n"
                          "device_config: {enable_fsdp: false, enable_tp: true}\n"),
               TTS_TRAINFILE_TRAINING, &wanted);
}

T_TEST(a_training_file_without_a_model_is_refused)
{
    const struct refusal wanted = {
        "", TTS_E_NOT_FOUND, 2,
        "no model: 'training_config' needs 'model_config', the path of a model file"};
    load_fails(write_file("bare.yaml", "# first\ntraining_config: {batch_size: 1}\n"),
               TTS_TRAINFILE_TRAINING, &wanted);
    load_fails(write_file("bare.yaml", "# first\ntraining_config: {model_config: ''}\n"),
               TTS_TRAINFILE_TRAINING, &wanted);
}

T_TEST(a_wrong_model_file_is_the_bad_file)
{
    const struct refusal section = {"", TTS_E_NOT_FOUND, 1,
                                    "the section 'transformer_config' is missing: the model "
                                    "file of a GPT2 or Llama has it"};
    const struct refusal key = {
        "", TTS_E_NOT_FOUND, 2,
        "unknown key 'num_blcks' in section 'transformer_config', did you mean 'num_blocks'?"};
    const char *path = write_training("bad.yaml");
    write_file("tree/configs/training_configs/bad.yaml", "eval_config: {}\n");
    load_fails(path, TTS_TRAINFILE_MODEL, &section);
    write_file("tree/configs/training_configs/bad.yaml",
               "transformer_config:\n  num_blcks: 1\n");
    load_fails(path, TTS_TRAINFILE_MODEL, &key);
    T_TRUE(strstr(held.paths[1], "training_configs/bad.yaml") != NULL);
}

static void cannot_read(const char *path, const char *reason)
{
    struct tts_error err = {0};
    unsigned bad_file = 7;
    T_EQ(tts_trainfile_load(path, NULL, &held, &bad_file, &err), TTS_E_IO);
    T_EQ(bad_file, TTS_TRAINFILE_TRAINING);
    T_EQ(err.line, 0);
    T_TRUE(strncmp(err.text, "cannot read '", 13) == 0);
    T_TRUE(strstr(err.text, reason) != NULL);
}

T_TEST(a_file_that_cannot_be_read_says_why)
{
    char longest[700];
    memset(longest, 'l', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    cannot_read(t_scratch("nothing-there.yaml"), "no such file");
    make_directory("adir");
    cannot_read(t_scratch("adir"), "is a directory");
    cannot_read(longest, "file name too long");
    if (geteuid() != 0) {
        const char *path = write_file("secret.yaml", model_text);
        T_EQ(chmod(path, 0), 0);
        cannot_read(path, "permission denied");
    }
}

T_TEST(a_model_file_that_cannot_be_read_says_why)
{
    make_directory("models.yaml");
    struct tts_error err = {0};
    unsigned bad_file = 7;
    const char *path = write_file("t.yaml", "training_config: {model_config: models.yaml}\n");
    T_EQ(tts_trainfile_load(path, NULL, &held, &bad_file, &err), TTS_E_IO);
    T_EQ(bad_file, TTS_TRAINFILE_MODEL);
    T_TRUE(strstr(err.text, "is a directory") != NULL);
}

T_TEST(a_file_that_is_too_large_is_refused)
{
    const char *path = t_scratch("large.yaml");
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    T_TRUE(fd >= 0);
    T_EQ(ftruncate(fd, TTS_TRAINFILE_MAX_BYTES + 100), 0);
    close(fd);
    const struct refusal wanted = {
        "", TTS_E_SYNTAX, 1,
        "the file is larger than the limit for a configuration (1024 KiB)"};
    load_fails(path, TTS_TRAINFILE_TRAINING, &wanted);
}

T_TEST(standard_input_is_read_too)
{
    const char *path = write_file("stdin.yaml", model_text);
    int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    T_TRUE(saved >= 0 && fd >= 0);
    T_EQ(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    load("-");
    T_EQ(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
    close(fd);
    expect(V(num_heads), 6, 1);
    T_STR_EQ(held.paths[TTS_TRAINFILE_MODEL], "-");
}

/* --- copies outside the tree ------------------------------------------------------------ */

T_TEST(the_configurations_of_tt_train_are_read)
{
    static const struct {
        const char *name, *model_type;
        uint64_t batch, blocks, width;
    } files[] = {
        {"head/gpt2s.yaml", "gpt2", 0, 12, 768},
        {"head/nanogpt.yaml", "gpt2", 0, 6, 384},
        {"head/nanogpt_memory_eff.yaml", "gpt2", 0, 6, 384},
        {"head/tinyllama_bpe.yaml", "llama", 0, 22, 2048},
        {"head/tinyllama_char.yaml", "llama", 0, 22, 2048},
        {"head/training_shakespeare_nanogpt.yaml", "gpt2", 2, 6, 384},
        {"head/training_shakespeare_tinyllama.yaml", "llama", 5, 22, 2048},
        {"v1/gpt2s.yaml", "gpt2", 0, 12, 768},
        {"v1/nanogpt.yaml", "gpt2", 0, 6, 384},
        {"v1/tinyllama.yaml", "llama", 0, 22, 2048},
        {"v1/training_shakespeare_gpt2.yaml", "gpt2", 4, 12, 768},
        {"v1/training_shakespeare_nanogpt.yaml", "gpt2", 64, 6, 384},
        {"v1/training_shakespeare_tinyllama.yaml", "llama", 1, 22, 2048},
    };
    if (access(TTS_DATA_DIR "/configs", R_OK) != 0) {
        print_message("no %s: passed over\n", TTS_DATA_DIR "/configs");
        skip();
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[TTS_TRAINFILE_TEXT_MAX];
        snprintf(path, sizeof path, "%s/configs/%s", TTS_DATA_DIR, files[i].name);
        load(path);
        T_STR_EQ(V(model_type)->text, files[i].model_type);
        T_EQ(V(batch_size)->number, files[i].batch);
        T_EQ(V(num_blocks)->number, files[i].blocks);
        T_EQ(V(embedding_dim)->number, files[i].width);
        T_EQ(held.unknown_keys, 0);
        T_TRUE(held.lora_line + held.pipeline_line + held.moe_line + held.grpo_line == 0);
    }
}
