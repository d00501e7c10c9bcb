#include "plan/settings.h"

#include "harness/t.h"
#include "sources/config/trainfile.h"

#include <string.h>

T_TEST(every_field_has_a_row_and_an_option_of_its_own)
{
    for (int i = 0; i < TTS_FIELD_NONE; i++) {
        enum tts_workload_field field = (enum tts_workload_field)i;
        const struct tts_setting *setting = tts_setting_of(field);
        T_TRUE(setting->key && setting->key[0]);
        T_EQ(setting->kind == TTS_SETTING_WORD, setting->words != NULL);
        for (int other = 0; setting->option && other < i; other++) {
            const char *option = tts_setting_of((enum tts_workload_field)other)->option;
            T_TRUE(!option || strcmp(option, setting->option) != 0);
        }
    }
}

T_TEST(each_number_is_stored_in_its_own_field)
{
    struct tts_workload workload = {0}, expected = {0};
    for (int i = 0; i < TTS_FIELD_NONE; i++)
        tts_setting_store((enum tts_workload_field)i, 1, &workload);
    expected.model = (struct tts_model_config){.family = TTS_FAMILY_LLAMA,
                                               .blocks = 1,
                                               .width = 1,
                                               .heads = 1,
                                               .groups = 1,
                                               .mlp_width = 1,
                                               .sequence = 1,
                                               .vocabulary = 1,
                                               .tied = true,
                                               .dropout = true,
                                               .fixed_positions = true};
    expected.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    expected.optimizer = (struct tts_optimizer_config){
        .kind = TTS_OPTIMIZER_MOREH_ADAMW, .momentum = true, .amsgrad = true, .kahan = true};
    expected.batch = expected.accumulate = 1;
    expected.clip = true;
    expected.tensor_parallel = expected.data_parallel = 1;
    T_EQ(memcmp(&workload, &expected, sizeof workload), 0);
    tts_setting_store(TTS_FIELD_BATCH, UINT64_MAX, &workload);
    T_TRUE(workload.batch == UINT64_MAX && workload.accumulate == 1);
}

T_TEST(a_setting_finds_its_value_in_a_file)
{
    static struct tts_trainfile file;
    T_TRUE(tts_setting_in_file(TTS_FIELD_HEADS, &file) == &file.num_heads);
    T_TRUE(tts_setting_in_file(TTS_FIELD_ACCUMULATE, &file) == &file.accumulation);
    T_TRUE(tts_setting_in_file(TTS_FIELD_OPTIMIZER, &file) == &file.optimizer_type);
}

static void expect_set(enum tts_workload_field field, const char *text, uint64_t number)
{
    struct tts_overrides overrides = {0};
    struct tts_error err = {0};
    T_EQ(tts_overrides_set(&overrides, field, text, &err), TTS_OK);
    T_TRUE(overrides.is_given[field]);
    T_EQ(overrides.given[field], number);
}

static void expect_refused(enum tts_workload_field field, const char *text,
                           enum tts_status status, const char *words)
{
    struct tts_overrides overrides = {0}, unchanged = {0};
    struct tts_error err = {0};
    T_EQ(tts_overrides_set(&overrides, field, text, &err), status);
    T_STR_EQ(err.text, words);
    T_EQ(memcmp(&overrides, &unchanged, sizeof overrides), 0);
}

T_TEST(an_option_is_read_by_the_type_of_its_setting)
{
    expect_set(TTS_FIELD_BATCH, "4294967295", UINT32_MAX);
    expect_set(TTS_FIELD_RUNNER, "Memory-Efficient", TTS_RUNNER_MEMORY_EFFICIENT);
    expect_set(TTS_FIELD_OPTIMIZER, "sgd", TTS_OPTIMIZER_SGD);
    expect_set(TTS_FIELD_TIED, "enabled", 1);
    expect_set(TTS_FIELD_DROPOUT, "0.1", 1);
    expect_set(TTS_FIELD_MOMENTUM, "0.0", 0);
}

T_TEST(a_wrong_value_of_an_option_is_named_with_what_is_expected)
{
    expect_refused(TTS_FIELD_HEADS, "0", TTS_E_SYNTAX,
                   "expected a whole number from 1 to 4294967295");
    expect_refused(TTS_FIELD_HEADS, "4294967296", TTS_E_SYNTAX,
                   "expected a whole number from 1 to 4294967295");
    expect_refused(TTS_FIELD_DROPOUT, "1.0", TTS_E_SYNTAX,
                   "expected a number of at least 0 and less than 1, such as 0.1");
    expect_refused(TTS_FIELD_DROPOUT, ".", TTS_E_SYNTAX,
                   "expected a number of at least 0 and less than 1, such as 0.1");
    expect_refused(TTS_FIELD_RUNNER, "defalt", TTS_E_NOT_FOUND,
                   "did you mean 'default'? allowed: default or memory_efficient");
    expect_refused(
        TTS_FIELD_OPTIMIZER, "zzzzzz", TTS_E_NOT_FOUND,
        "expected AdamW, MorehAdamW, AdamWComposite, AdamWFullPrecision, SGD or NoOp");
    expect_refused(
        TTS_FIELD_OPTIMIZER, "muon", TTS_E_INVALID,
        "this optimizer is not modelled; to predict its memory, give '--optimizer SGD "
        "--momentum 0.9': the state of both optimizers has the same size");
}

T_TEST(a_word_of_a_file_must_be_exact)
{
    struct tts_error err = {0};
    uint64_t number = 7;
    T_EQ(tts_words_find_exact(&tts_words_recipes, "head", &number, &err), TTS_OK);
    T_EQ(number, TTS_RECIPE_HEAD);
    T_EQ(tts_words_find_exact(&tts_words_recipes, "Head", &number, &err), TTS_E_NOT_FOUND);
    T_STR_EQ(err.text,
             "unknown recipe 'Head', did you mean 'head'? allowed: v1, v1-python, head, "
             "head-c++, may or may-c++");
    T_EQ(tts_words_find(&tts_words_recipes, "HEAD_C++", &number, &err), TTS_OK);
    T_EQ(number, TTS_RECIPE_HEAD_CPP);
}
