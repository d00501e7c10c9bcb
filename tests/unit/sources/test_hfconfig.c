#include "sources/config/hfconfig.h"

#include "harness/t.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tts_hfconfig parsed(const char *text)
{
    struct tts_hfconfig config;
    struct tts_error err = {0};
    memset(&config, 0x5a, sizeof config);
    enum tts_status status = tts_hfconfig_parse(text, strlen(text), &config, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    return config;
}

static void expect(const struct tts_hfconfig *config, enum tts_hf_key key, uint64_t number,
                   uint32_t line)
{
    T_TRUE(config->values[key].is_set);
    T_EQ(config->values[key].number, number);
    T_EQ(config->values[key].line, line);
}

static void refused(const char *text, enum tts_status status, uint32_t line, const char *words)
{
    struct tts_hfconfig config = {.kind_line = 77};
    struct tts_error err = {0};
    enum tts_status got = tts_hfconfig_parse(text, strlen(text), &config, &err);
    T_STR_EQ(err.text, words);
    T_EQ(got, status);
    T_EQ(err.status, status);
    T_EQ(err.line, line);
    T_EQ(config.kind_line, 77);
    T_EQ(tts_hfconfig_parse(text, strlen(text), &config, NULL), status);
}

/* Checks that the text can be read, but a required key is absent. */
static void incomplete(const char *text, const char *words)
{
    struct tts_hfconfig config = parsed(text);
    struct tts_error err = {0};
    T_EQ(tts_hfconfig_check(&config, &err), TTS_E_NOT_FOUND);
    T_STR_EQ(err.text, words);
    T_EQ(tts_hfconfig_check(&config, NULL), TTS_E_NOT_FOUND);
}

#define REST                                                                                   \
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"vocab_size\": 100, "              \
    "\"intermediate_size\": 8"

/* --- accepted files --------------------------------------------------------------------- */

T_TEST(a_llama_is_read_with_its_lines)
{
    struct tts_hfconfig config = parsed("{\n"
                                        "  \"architectures\": [\"LlamaForCausalLM\"],\n"
                                        "  \"attention_bias\": false,\n"
                                        "  \"head_dim\": 64,\n"
                                        "  \"hidden_size\": 2048,\n"
                                        "  \"intermediate_size\": 8192,\n"
                                        "  \"max_position_embeddings\": 131072,\n"
                                        "  \"model_type\": \"llama\",\n"
                                        "  \"num_attention_heads\": 32,\n"
                                        "  \"num_hidden_layers\": 16,\n"
                                        "  \"num_key_value_heads\": 8,\n"
                                        "  \"rope_scaling\": {\"factor\": 32.0, "
                                        "\"hidden_size\": 1},\n"
                                        "  \"tie_word_embeddings\": true,\n"
                                        "  \"vocab_size\": 128256\n"
                                        "}\n");
    expect(&config, TTS_HF_BIASES, 0, 3);
    expect(&config, TTS_HF_HEAD_DIM, 64, 4);
    expect(&config, TTS_HF_HIDDEN_SIZE, 2048, 5);
    expect(&config, TTS_HF_MLP, 8192, 6);
    expect(&config, TTS_HF_POSITIONS, 131072, 7);
    expect(&config, TTS_HF_HEADS, 32, 9);
    expect(&config, TTS_HF_LAYERS, 16, 10);
    expect(&config, TTS_HF_KV_HEADS, 8, 11);
    expect(&config, TTS_HF_TIED, 1, 13);
    expect(&config, TTS_HF_VOCABULARY, 128256, 14);
    T_STR_EQ(config.model_type, "llama");
    T_EQ(config.kind, TTS_HF_PLAIN);
    T_EQ(config.kind_line, 0);
    T_STR_EQ(config.kind_key, "");
}

T_TEST(a_gpt2_is_known_by_its_names)
{
    struct tts_hfconfig config = parsed("{\"n_ctx\": 1000,\n\"n_embd\": 768, \"n_head\": 12,\n"
                                        "\"n_layer\": 6, \"vocab_size\": 50257}");
    T_EQ(config.kind, TTS_HF_GPT2);
    T_STR_EQ(config.kind_key, "n_embd");
    T_EQ(config.kind_line, 2);
    T_TRUE(!config.values[TTS_HF_HIDDEN_SIZE].is_set && !config.values[TTS_HF_HEADS].is_set);
    config = parsed("{\"model_type\": \"gpt2\", \"n_layer\": 6}");
    T_STR_EQ(config.kind_key, "n_layer");
    T_STR_EQ(config.model_type, "gpt2");
    config = parsed("{\"text_config\": {\"n_embd\": 6}}");
    T_EQ(config.kind, TTS_HF_GPT2);
    /* The usual names take precedence over the names of GPT2. */
    config = parsed("{\"n_embd\": 2, \"n_layer\": 7, \"hidden_size\": 1, " REST "}");
    expect(&config, TTS_HF_HIDDEN_SIZE, 1, 1);
    expect(&config, TTS_HF_LAYERS, 2, 1);
    T_EQ(config.kind, TTS_HF_PLAIN);
    config = parsed("{\"n_embd\": 2, \"text_config\": {\"hidden_size\": 1}, " REST "}");
    T_EQ(config.kind, TTS_HF_PLAIN);
    incomplete("{\"n_embd\": null}",
               "'hidden_size' is missing: the config.json of a language model has this key");
}

T_TEST(the_last_of_two_keys_counts)
{
    struct tts_hfconfig config = parsed("{\"hidden_size\": 1,\n\"head_dim\": 5, " REST
                                        ",\n\"hidden_size\": 2, \"head_dim\": null}");
    expect(&config, TTS_HF_HIDDEN_SIZE, 2, 3);
    T_TRUE(!config.values[TTS_HF_HEAD_DIM].is_set);
}

T_TEST(null_is_as_if_it_were_not_there)
{
    struct tts_hfconfig config = parsed("{\"hidden_size\": 1, \"head_dim\": null,"
                                        "\"num_key_value_heads\": null,"
                                        "\"tie_word_embeddings\": null,"
                                        "\"model_type\": null, \"text_config\": null,"
                                        "\"num_experts\": null, " REST "}");
    T_TRUE(!config.values[TTS_HF_HEAD_DIM].is_set && !config.values[TTS_HF_KV_HEADS].is_set);
    T_TRUE(!config.values[TTS_HF_TIED].is_set && config.kind == TTS_HF_PLAIN);
    incomplete("{\"hidden_size\": null, " REST "}",
               "'hidden_size' is missing: the config.json of a language model has this key");
}

T_TEST(the_text_part_is_taken_where_the_top_has_nothing)
{
    struct tts_hfconfig config = parsed("{\"model_type\": \"gemma3\",\n"
                                        "\"text_config\": {\"hidden_size\": 7, " REST ",\n"
                                        "\"model_type\": \"gemma3_text\",\n"
                                        "\"text_config\": {\"head_dim\": 99}},\n"
                                        "\"vision_config\": {\"hidden_size\": 1152},\n"
                                        "\"vocab_size\": 55}");
    expect(&config, TTS_HF_HIDDEN_SIZE, 7, 2);
    expect(&config, TTS_HF_VOCABULARY, 55, 6);
    expect(&config, TTS_HF_LAYERS, 2, 2);
    T_TRUE(!config.values[TTS_HF_HEAD_DIM].is_set);
    T_STR_EQ(config.model_type, "gemma3_text");
    /* If the sizes are at the top level, the type of the top level is used. */
    config = parsed("{\"text_config\": {\"model_type\": \"b\", \"head_dim\": 3},"
                    "\"hidden_size\": 7, \"model_type\": \"a\", " REST "}");
    T_STR_EQ(config.model_type, "a");
    expect(&config, TTS_HF_HEAD_DIM, 3, 1);
    config = parsed("{\"text_config\": {\"hidden_size\": 7}, \"model_type\": \"a\", " REST "}");
    T_STR_EQ(config.model_type, "a");
    config = parsed("{\"hidden_size\": 7, \"text_config\": [1, [2]], " REST "}");
    expect(&config, TTS_HF_HIDDEN_SIZE, 7, 1);
}

T_TEST(a_whole_number_may_have_a_fraction_of_zero)
{
    struct tts_hfconfig config =
        parsed("{\"hidden_size\": 4096.0, \"head_dim\": 64.000,"
               "\"num_key_value_heads\": 18446744073709551615, " REST "}");
    expect(&config, TTS_HF_HIDDEN_SIZE, 4096, 1);
    expect(&config, TTS_HF_HEAD_DIM, 64, 1);
    expect(&config, TTS_HF_KV_HEADS, UINT64_MAX, 1);
}

T_TEST(a_key_of_another_kind_of_model_is_kept_whatever_its_value)
{
    static const struct {
        const char *pair, *key;
        enum tts_hf_kind kind;
    } cases[] = {
        {"\"num_experts\": 128", "num_experts", TTS_HF_EXPERTS},
        {"\"num_local_experts\": 8", "num_local_experts", TTS_HF_EXPERTS},
        {"\"n_routed_experts\": 64.0", "n_routed_experts", TTS_HF_EXPERTS},
        {"\"moe_intermediate_size\": 1", "moe_intermediate_size", TTS_HF_EXPERTS},
        {"\"text_config\": {\"num_local_experts\": 2}", "num_local_experts", TTS_HF_EXPERTS},
        {"\"num_local_experts\": [8]", "num_local_experts", TTS_HF_EXPERTS},
        {"\"num_experts\": {\"a\": [1]}", "num_experts", TTS_HF_EXPERTS},
        {"\"n_routed_experts\": \"8\"", "n_routed_experts", TTS_HF_EXPERTS},
        {"\"num_experts\": 1.5", "num_experts", TTS_HF_EXPERTS},
        {"\"num_experts\": true", "num_experts", TTS_HF_EXPERTS},
        {"\"kv_lora_rank\": 512", "kv_lora_rank", TTS_HF_LATENT},
        {"\"q_lora_rank\": 1", "q_lora_rank", TTS_HF_LATENT},
        {"\"mlp_bias\": true", "mlp_bias", TTS_HF_MLP_BIAS},
        {"\"num_experts\": 0", "", TTS_HF_PLAIN},
        {"\"num_experts\": 1", "", TTS_HF_PLAIN},
        {"\"moe_intermediate_size\": 0", "", TTS_HF_PLAIN},
        {"\"num_experts_per_tok\": 2", "", TTS_HF_PLAIN},
        {"\"vision_config\": {\"num_experts\": 8}", "", TTS_HF_PLAIN},
        {"\"q_lora_rank\": null, \"kv_lora_rank\": 0", "", TTS_HF_PLAIN},
        {"\"mlp_bias\": false", "", TTS_HF_PLAIN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300];
        snprintf(text, sizeof text, "{\"hidden_size\": 1,\n%s, " REST "}", cases[i].pair);
        struct tts_hfconfig config = parsed(text);
        T_STR_EQ(config.kind_key, cases[i].key);
        T_EQ(config.kind, cases[i].kind);
        T_EQ(config.kind_line, cases[i].key[0] ? 2 : 0);
    }
    /* A model of this kind needs no other key. */
    struct tts_hfconfig config = parsed("{\"kv_lora_rank\": 1}");
    T_EQ(config.kind, TTS_HF_LATENT);
}

T_TEST(a_long_type_is_cut_and_escapes_are_resolved)
{
    struct tts_hfconfig config = parsed(
        "{\"hidden_size\": 1, \"model_type\": "
        "\"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij\", " REST
        "}");
    T_EQ(strlen(config.model_type), TTS_HFCONFIG_TEXT_MAX - 1);
    config = parsed("{\"hidden\\u005fsize\": 3, \"model_type\": \"ll\\u0061ma\", " REST "}");
    expect(&config, TTS_HF_HIDDEN_SIZE, 3, 1);
    T_STR_EQ(config.model_type, "llama");
}

T_TEST(a_type_is_read_of_a_file_that_lacks_keys)
{
    struct tts_hfconfig config =
        parsed("{\"model_type\": \"falcon\", \"hidden_size\": 1, \"num_kv_heads\": 8}");
    T_STR_EQ(config.model_type, "falcon");
}

T_TEST(windows_and_quantizations_are_read)
{
    struct tts_hfconfig config = parsed(
        "{\"hidden_size\": 1, \"sliding_window\": 4096, \"use_sliding_window\": true,\n"
        "\"quantization_config\": {\"bits\": 4, \"x\": [{}], \"quant_method\": \"awq\"}, " REST
        "}");
    expect(&config, TTS_HF_WINDOW, 4096, 1);
    expect(&config, TTS_HF_USE_WINDOW, 1, 1);
    T_EQ(config.quantization_line, 2);
    T_STR_EQ(config.quantization, "awq");
    /* In the text part, values that are unknown or of another type do not make the file
     * invalid. */
    config = parsed("{\"text_config\": {\"quantization_config\": {\"quant_method\": 3},"
                    "\"sliding_window\": [1]}, \"use_sliding_window\": \"no\"}");
    T_TRUE(config.quantization_line == 1 && config.quantization[0] == '\0');
    T_TRUE(!config.values[TTS_HF_WINDOW].is_set && !config.values[TTS_HF_USE_WINDOW].is_set);
    config = parsed("{\"quantization_config\": null, \"sliding_window\": -1}");
    T_TRUE(config.quantization_line == 0 && !config.values[TTS_HF_WINDOW].is_set);
}

/* --- refused files ---------------------------------------------------------------------- */

T_TEST(a_key_that_must_be_there_is_named)
{
    static const char *const pairs[] = {"\"hidden_size\": 1", "\"num_hidden_layers\": 1",
                                        "\"num_attention_heads\": 1", "\"vocab_size\": 1",
                                        "\"intermediate_size\": 1"};
    enum { PAIRS = sizeof pairs / sizeof pairs[0] };
    static const enum tts_hf_key keys[] = {TTS_HF_HIDDEN_SIZE, TTS_HF_LAYERS, TTS_HF_HEADS,
                                           TTS_HF_VOCABULARY, TTS_HF_MLP};
    for (size_t missing = 0; missing < PAIRS; missing++) {
        char text[300] = "{\"model_type\": \"llama\"", words[160];
        for (size_t i = 0; i < PAIRS; i++) {
            size_t at = strlen(text);
            if (i != missing)
                snprintf(text + at, sizeof text - at, ", %s", pairs[i]);
        }
        memcpy(text + strlen(text), "}", 2);
        snprintf(words, sizeof words,
                 "'%s' is missing: the config.json of a language model has this key",
                 tts_hf_key_name(keys[missing]));
        incomplete(text, words);
    }
    incomplete("{}",
               "'hidden_size' is missing: the config.json of a language model has this key");
}

T_TEST(a_wrong_value_says_what_is_allowed_and_where)
{
    static const struct {
        const char *value, *is;
        enum tts_status status;
    } cases[] = {
        {"-1", "-1", TTS_E_RANGE},
        {"-4096.0", "-4096.0", TTS_E_RANGE},
        {"1.5", "1.5", TTS_E_SYNTAX},
        {"1e3", "1e3", TTS_E_SYNTAX},
        {"-1.5", "-1.5", TTS_E_SYNTAX},
        {"18446744073709551616", "18446744073709551616", TTS_E_RANGE},
        {"\"4096\"", "a text", TTS_E_SYNTAX},
        {"true", "true", TTS_E_SYNTAX},
        {"[1, 2]", "a list", TTS_E_SYNTAX},
        {"{\"a\": 1}", "an object", TTS_E_SYNTAX},
        {"1234567890123456789012345678901234567890", "12345678901234567890123456789012...",
         TTS_E_RANGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300], words[160];
        snprintf(text, sizeof text, "{\n\"hidden_size\":\n%s\n}", cases[i].value);
        snprintf(words, sizeof words,
                 "'hidden_size' must be a whole number below 2^64, without a sign, but is %s",
                 cases[i].is);
        refused(text, cases[i].status, 3, words);
    }
    refused("{\"tie_word_embeddings\": 1}", TTS_E_SYNTAX, 1,
            "'tie_word_embeddings' must be true or false, but is 1");
    refused("{\"attention_bias\": \"no\"}", TTS_E_SYNTAX, 1,
            "'attention_bias' must be true or false, but is a text");
}

T_TEST(what_is_no_object_is_no_configuration)
{
    refused("[1]", TTS_E_SYNTAX, 1,
            "not a config.json: the file begins with a list, not with {");
    refused("\n7", TTS_E_SYNTAX, 2,
            "not a config.json: the file begins with a number, not with {");
    refused("null", TTS_E_SYNTAX, 1,
            "not a config.json: the file begins with nothing, not with {");
}

static void is_syntax(const char *text, size_t len, uint32_t line)
{
    struct tts_hfconfig config;
    struct tts_error err = {0};
    T_EQ(tts_hfconfig_parse(text, len, &config, &err), TTS_E_SYNTAX);
    T_TRUE(err.text[0] != '\0');
    T_EQ(err.line, line);
}

T_TEST(what_is_no_json_is_refused_with_its_line)
{
    static const char whole[] = "{\n\"hidden_size\": 1,\n" REST "}\n";
    is_syntax("", 0, 1);
    is_syntax(NULL, 0, 1);
    is_syntax("model_type: llama\n", 18, 1);
    is_syntax("{\n\"a\": 1,\n}", 11, 3);
    is_syntax("{\"hidden_size\": 1, " REST "} {}", sizeof REST + 22, 1);
    uint32_t line = 1;
    for (size_t len = 1; len < sizeof whole - 2; len++) {
        line += whole[len - 1] == '\n';
        is_syntax(whole, len, line);
    }
}

T_TEST(deep_nesting_costs_nothing_and_has_an_end)
{
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH + 10);
    T_TRUE(text != NULL);
    memset(text, '[', DEPTH + 10);
    memcpy(text, "{\"a\":", 5);
    struct tts_hfconfig config;
    struct tts_error err = {0};
    enum tts_status status = tts_hfconfig_parse(text, DEPTH, &config, &err);
    T_TRUE(status == TTS_E_RANGE || status == TTS_E_SYNTAX);
    T_TRUE(err.text[0] != '\0');
    free(text);
}

T_TEST(a_text_that_is_too_large_is_refused)
{
    struct tts_hfconfig config;
    struct tts_error err = {0};
    T_EQ(tts_hfconfig_parse("{", TTS_HFCONFIG_MAX_BYTES + (size_t)1, &config, &err),
         TTS_E_SYNTAX);
    T_STR_EQ(err.text, "the file is larger than 16 MiB, the limit for a config.json");
}

T_TEST(every_key_is_called_as_the_file_calls_it)
{
    T_STR_EQ(tts_hf_key_name(TTS_HF_LAYERS), "num_hidden_layers");
    T_STR_EQ(tts_hf_key_name(TTS_HF_POSITIONS), "max_position_embeddings");
    for (int key = 0; key < TTS_HF_KEYS; key++)
        T_TRUE(tts_hf_key_name((enum tts_hf_key)key)[0] != '\0');
}
