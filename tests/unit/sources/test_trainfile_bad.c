#include "harness/t.h"
#include "harness/train_rig.h"
#include "sources/config/trainfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refused_bytes(const char *text, size_t len, const struct refusal *wanted)
{
    static struct tts_trainfile before;
    struct tts_error err = {0};
    memset(&held, 0x5a, sizeof held);
    held.unknown_keys = 0;
    before = held;
    enum tts_status status = tts_trainfile_parse(text, len, TTS_TRAINFILE_MODEL, &held, &err);
    T_STR_EQ(err.text, wanted->words);
    T_EQ(status, wanted->status);
    T_EQ(err.status, wanted->status);
    T_EQ(err.line, wanted->line);
    T_MEM_EQ(&held, &before, sizeof held);
    T_EQ(tts_trainfile_parse(text, len, TTS_TRAINFILE_MODEL, &held, NULL), wanted->status);
}

static void refused(const struct refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        refused_bytes(cases[i].text, strlen(cases[i].text), &cases[i]);
}

#define REFUSED(cases) refused(cases, sizeof cases / sizeof cases[0])

T_TEST(a_misspelt_key_names_the_nearest_and_its_line)
{
    static const struct refusal cases[] = {
        {"training_config:\n  batchsize: 1\n", TTS_E_NOT_FOUND, 2,
         "unknown key 'batchsize' in section 'training_config', did you mean 'batch_size'?"},
        {"trainig_config:\n  batch_size: 1\n", TTS_E_NOT_FOUND, 1,
         "unknown section 'trainig_config', did you mean 'training_config'?"},
        {"transformer_config:\n  num_head: 1\n", TTS_E_NOT_FOUND, 2,
         "unknown key 'num_head' in section 'transformer_config', did you mean 'num_heads'?"},
        {"training_config:\n  optimizer:\n    typ: AdamW\n", TTS_E_NOT_FOUND, 3,
         "unknown key 'typ' in section 'optimizer', did you mean 'type'?"},
        {"transformer_config:\n  experimental: {use_composite_layer_norm: true}\n",
         TTS_E_NOT_FOUND, 2,
         "unknown key 'use_composite_layer_norm' in section 'experimental', did you mean "
         "'use_composite_layernorm'?"},
        {"transformer_config:\n  \"num_heads\\0\": 6\n", TTS_E_NOT_FOUND, 2,
         "unknown key 'num_heads?' in section 'transformer_config', did you mean 'num_heads'?"},
        {"device_config: {}\neval_config: {top-k: 1}\n", TTS_E_NOT_FOUND, 2,
         "unknown key 'top-k' in section 'eval_config', did you mean 'top_k'?"},
    };
    REFUSED(cases);
}

T_TEST(a_key_twice_is_refused)
{
    static const struct refusal cases[] = {
        {"training_config:\n  batch_size: 1\n\n  batch_size: 1\n", TTS_E_SYNTAX, 4,
         "'batch_size' appears twice, first in line 2"},
        {"training_config:\n  seed: 1\n  seed: 1\n", TTS_E_SYNTAX, 3,
         "'seed' appears twice, first in line 2"},
        {"training_config: {}\ntraining_config: {}\n", TTS_E_SYNTAX, 2,
         "'training_config' appears twice, first in line 1"},
    };
    REFUSED(cases);
    /* The same key in two sections does not count as a key that occurs twice. */
    parse("training_config: {lr: 1, optimizer: {lr: 2}}");
}

T_TEST(a_wrong_number_says_what_is_allowed_and_what_stood_there)
{
    static const struct refusal cases[] = {
        {"training_config:\n  batch_size: -1\n", TTS_E_RANGE, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is '-1'"},
        {"training_config:\n  batch_size: 1.5\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is '1.5'"},
        {"training_config:\n  batch_size: many\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is 'many'"},
        {"training_config:\n  batch_size: 18446744073709551616\n", TTS_E_RANGE, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is "
         "'18446744073709551616'"},
        {"training_config:\n  batch_size:\n  seed: 1\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is ''"},
        {"training_config:\n  batch_size: 010\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is '010'"},
        {"training_config:\n  batch_size: 0x10\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is '0x10'"},
        {"training_config:\n  batch_size: +4\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is '+4'"},
        {"training_config:\n  batch_size: -_1\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is '-_1'"},
        {"training_config:\n  batch_size: 4_\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is '4_'"},
        {"training_config:\n  batch_size: 4__4\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is '4__4'"},
        {"training_config:\n  batch_size: \"4\\0\"\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is '4?'"},
        {"training_config:\n  batch_size: [4]\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is a list"},
        {"training_config:\n  batch_size: {a: 4}\n", TTS_E_SYNTAX, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is a map"},
        {"training_config:\n  batch_size: "
         "12345678901234567890123456789012345678901234567890\n",
         TTS_E_RANGE, 2,
         "'batch_size' must be a whole number below 2^64, in decimal digits, but is "
         "'1234567890123456789012345678901234567890...'"},
    };
    REFUSED(cases);
}

T_TEST(a_wrong_value_of_another_kind_says_so_too)
{
    static const struct refusal cases[] = {
        {"device_config:\n  enable_tp: 1\n", TTS_E_SYNTAX, 2,
         "'enable_tp' must be true or false, but is '1'"},
        {"device_config:\n  enable_tp: [true]\n", TTS_E_SYNTAX, 2,
         "'enable_tp' must be true or false, but is a list"},
        {"transformer_config:\n  dropout_prob: -0.1\n", TTS_E_RANGE, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is "
         "'-0.1'"},
        {"transformer_config:\n  dropout_prob: .inf\n", TTS_E_SYNTAX, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is "
         "'.inf'"},
        {"transformer_config:\n  dropout_prob: 1e\n", TTS_E_SYNTAX, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is '1e'"},
        {"transformer_config:\n  dropout_prob: .\n", TTS_E_SYNTAX, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is '.'"},
        {"transformer_config:\n  dropout_prob: 0.1x\n", TTS_E_SYNTAX, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is "
         "'0.1x'"},
        {"transformer_config:\n  dropout_prob: 1\n", TTS_E_RANGE, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is '1'"},
        {"transformer_config:\n  dropout_prob: 0.1e1\n", TTS_E_RANGE, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is "
         "'0.1e1'"},
        {"transformer_config:\n  dropout_prob: 0.001e+3\n", TTS_E_RANGE, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is "
         "'0.001e+3'"},
        {"transformer_config:\n  dropout_prob: 0010E-1\n", TTS_E_RANGE, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is "
         "'0010E-1'"},
        {"transformer_config:\n  dropout_prob: 1e\n  x: 1\n", TTS_E_SYNTAX, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is '1e'"},
        {"training_config:\n  optimizer: {momentum: 1e99999999999999999999}\n", TTS_E_RANGE, 2,
         "'momentum' must be a decimal number of at least 0 and less than 1, but is "
         "'1e99999999999999999999'"},
        {"transformer_config:\n  dropout_prob: {}\n", TTS_E_SYNTAX, 2,
         "'dropout_prob' must be a decimal number of at least 0 and less than 1, but is a map"},
        {"transformer_config:\n  runner_type: [default]\n", TTS_E_SYNTAX, 2,
         "'runner_type' must be one line of text, but is a list"},
        {"transformer_config:\n  runner_type: \"a\\nb\"\n", TTS_E_SYNTAX, 2,
         "'runner_type' must be one line of text, but is 'a?b'"},
        {"training_config: 7\n", TTS_E_SYNTAX, 1,
         "'training_config' must be a section of 'key: value', but is '7'"},
        {"training_config:\n  optimizer: AdamW\n", TTS_E_SYNTAX, 2,
         "'optimizer' must be a section of 'key: value', but is 'AdamW'"},
        {"training_config: []\n", TTS_E_SYNTAX, 1,
         "'training_config' must be a section of 'key: value', but is a list"},
    };
    REFUSED(cases);
}

T_TEST(a_text_past_its_limit_is_refused)
{
    char text[600] = "training_config: {data_path: ";
    size_t at = strlen(text);
    memset(text + at, 'x', 512);
    memcpy(text + at + 512, "}", 2);
    const struct refusal wanted = {text, TTS_E_RANGE, 1,
                                   "'data_path' must be text of at most 511 bytes, but is "
                                   "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"};
    refused(&wanted, 1);
}

T_TEST(a_mesh_is_two_numbers)
{
    static const struct refusal cases[] = {
        {"device_config:\n  mesh_shape: [8]\n", TTS_E_SYNTAX, 2,
         "'mesh_shape' must be two numbers of at least 1, such as [1, 8], but has fewer"},
        {"device_config:\n  mesh_shape: [1, 2,\n   3]\n", TTS_E_SYNTAX, 3,
         "'mesh_shape' must be two numbers of at least 1, such as [1, 8], but has more"},
        {"device_config:\n  mesh_shape: [1, 0]\n", TTS_E_RANGE, 2,
         "'mesh_shape' must be two numbers of at least 1, such as [1, 8], but is '0'"},
        {"device_config:\n  mesh_shape: [1, x]\n", TTS_E_SYNTAX, 2,
         "'mesh_shape' must be a whole number below 2^64, in decimal digits, but is 'x'"},
        {"device_config:\n  mesh_shape: 1x8\n", TTS_E_SYNTAX, 2,
         "'mesh_shape' must be two numbers of at least 1, such as [1, 8], but is '1x8'"},
        {"device_config:\n  mesh_shape: [[1], 2]\n", TTS_E_SYNTAX, 2,
         "'mesh_shape' must be a whole number below 2^64, in decimal digits, but is a list"},
    };
    REFUSED(cases);
}

T_TEST(tags_are_refused_wherever_they_stand)
{
    static const char words[] = "tags (!) are not supported: write the value without a tag";
    static const struct refusal cases[] = {
        {"training_config:\n  batch_size: !!int 1\n", TTS_E_SYNTAX, 2, words},
        {"training_config:\n  zzz: [1, [!x 1]]\n", TTS_E_SYNTAX, 2, words},
        {"--- !t\ntraining_config:\n", TTS_E_SYNTAX, 1, words},
    };
    REFUSED(cases);
}

T_TEST(what_is_no_configuration_says_what_is_expected)
{
    static const char rest[] = ": expected the sections 'training_config' or "
                               "'transformer_config' of tt-train";
    static const struct {
        const char *text, *is;
        uint32_t line;
    } cases[] = {
        {"", "the file is empty", 1},
        {"# only words\n", "the file is empty", 1},
        {"---\n...\n", "the file is empty", 1},
        {"\n[1, 2]\n", "the file is a list", 2},
        {"hello world\n", "the file is plain text", 1},
        {"{}", "not a configuration", 1},
        {"\n\neval_config: {}\ndevice_config: {}\n", "not a configuration", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[160];
        snprintf(words, sizeof words, "%s%s", cases[i].is, rest);
        const struct refusal wanted = {cases[i].text, TTS_E_NOT_FOUND, cases[i].line, words};
        refused(&wanted, 1);
    }
    T_EQ(tts_trainfile_parse(NULL, 0, 0, &held, NULL), TTS_E_NOT_FOUND);
}

T_TEST(what_is_no_yaml_is_refused_with_its_line)
{
    static const struct refusal cases[] = {
        {"training_config:\n  batch_size: 1\n  [x: 2\n", TTS_E_SYNTAX, 3,
         "not YAML: could not find expected ':' while scanning a simple key"},
        {"training_config:\n\tbatch_size: 1\n", TTS_E_SYNTAX, 2,
         "not YAML: found character that cannot start any token while scanning for the next "
         "token"},
        {"training_config: {}\n---\nx: 1\n", TTS_E_SYNTAX, 2,
         "a second document begins: a configuration has only one"},
        {"training_config:\n  ? {a: 1}\n  : 2\n", TTS_E_SYNTAX, 2,
         "a key is a map: write 'key: value'"},
        {"training_config:\n  ? [a]\n  : 2\n", TTS_E_SYNTAX, 2,
         "a key is a list: write 'key: value'"},
    };
    REFUSED(cases);
    const struct refusal nul = {"", TTS_E_SYNTAX, 2,
                                "not a text file: the file has a NUL byte"};
    refused_bytes("ELF\n\0\1\2", 7, &nul);
}

T_TEST(nesting_is_bounded_where_it_is_passed_over)
{
    char text[400] = "training_config:\n  zzz: ";
    size_t at = strlen(text);
    memset(text + at, '[', 64);
    memset(text + at + 64, ']', 64);
    parse(text);
    T_EQ(held.unknown_keys, 1);
    memset(text + at, '[', 65);
    memset(text + at + 65, ']', 65);
    const struct refusal wanted = {text, TTS_E_RANGE, 2,
                                   "sections are nested deeper than 64 levels"};
    refused(&wanted, 1);
}

T_TEST(what_is_too_large_is_refused)
{
    size_t size = TTS_TRAINFILE_MAX_BYTES + 1;
    char *text = malloc(size);
    T_TRUE(text != NULL);
    memset(text, '#', size);
    memcpy(text, "training_config: {batch_size: 3}\n", 33);
    held = (struct tts_trainfile){0};
    parse_bytes(text, size - 1, 0);
    T_EQ(V(batch_size)->number, 3);
    const struct refusal wanted = {
        "", TTS_E_SYNTAX, 2,
        "the file is larger than the limit for a configuration (1024 KiB)"};
    refused_bytes(text, size, &wanted);
    free(text);
}
