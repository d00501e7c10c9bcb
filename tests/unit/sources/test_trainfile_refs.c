/* Tests anchors, aliases and merge keys in training files. */
#include "harness/t.h"
#include "harness/train_rig.h"
#include "sources/config/trainfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

T_TEST(an_alias_is_the_value_of_its_anchor)
{
    parse(
        "defaults: {heads: &heads 12, shape: &shape [1, &chips 8], words: &words 'a b.yaml'}\n"
        "training_config:\n"
        "  batch_size: &batch 4\n"
        "  gradient_accumulation_steps: *batch\n"
        "  model_config: *words\n"
        "transformer_config:\n"
        "  num_heads: *heads\n"
        "  num_groups: *chips\n"
        "device_config: {mesh_shape: *shape}\n");
    expect(V(batch_size), 4, 3);
    expect(V(accumulation), 4, 3); /* this is the line of the value, not of the alias */
    T_STR_EQ(V(model_config)->text, "a b.yaml");
    expect(V(num_heads), 12, 1);
    expect(V(num_groups), 8, 1);
    T_TRUE(held.mesh_shape[0] == 1 && held.mesh_shape[1] == 8);
    T_EQ(held.unknown_keys, 1); /* 'defaults' has no anchor itself, so it is an unknown key */
}

T_TEST(a_whole_section_may_be_an_alias)
{
    parse("model: &model\n"
          "  num_heads: 6\n"
          "  experimental: {use_composite_layernorm: true}\n"
          "transformer_config: *model\n");
    expect(V(num_heads), 6, 2);
    expect(V(composite_layernorm), 1, 3);
    T_EQ(held.unknown_keys, 0); /* with an anchor, the key only holds values for other keys */
}

T_TEST(the_latest_anchor_of_a_name_counts)
{
    parse("training_config:\n"
          "  seed: &n 3\n"
          "  batch_size: *n\n"
          "  max_steps: &n 5\n"
          "  gradient_accumulation_steps: *n\n");
    expect(V(batch_size), 3, 2);
    expect(V(accumulation), 5, 4);
}

T_TEST(merged_keys_give_way_to_those_of_the_section_wherever_these_stand)
{
    parse("base: &base\n"
          "  batch_size: 64\n"
          "  gradient_accumulation_steps: 8\n"
          "  use_clip_grad_norm: true\n"
          "  optimizer: {type: SGD, momentum: 0.9}\n"
          "training_config:\n"
          "  batch_size: 2\n"
          "  <<: *base\n"
          "  use_clip_grad_norm: false\n"
          "  gradient_accumulation_steps: ~\n");
    expect(V(batch_size), 2, 7);
    expect(V(clip), 0, 9);
    /* The null of the section itself is a value, so the merged value is not used. */
    T_TRUE(!V(accumulation)->is_set);
    T_STR_EQ(V(optimizer_type)->text, "SGD");
    expect(V(momentum), 1, 5);
}

T_TEST(of_several_maps_the_first_counts_and_each_with_what_it_merges)
{
    parse("a: &a {batch_size: 1}\n"
          "b: &b {<<: *a, gradient_accumulation_steps: 2}\n"
          "c: &c {batch_size: 3, gradient_accumulation_steps: 3, use_no_op: true}\n"
          "training_config:\n"
          "  <<: [*b, *c, {use_clip_grad_norm: true, use_no_op: false}]\n"
          "  optimizer: {<<: {type: SGD}, momentum: 0.5}\n");
    expect(V(batch_size), 1, 1);
    expect(V(accumulation), 2, 2);
    expect(V(no_op), 1, 3);
    expect(V(clip), 1, 5);
    T_STR_EQ(V(optimizer_type)->text, "SGD");
    expect(V(momentum), 1, 6);
}

T_TEST(sections_may_be_merged_at_the_top)
{
    parse("common: &common\n"
          "  training_config: {batch_size: 9}\n"
          "  device_config: {mesh_shape: [1, 4], enable_tp: true}\n"
          "<<: *common\n"
          "training_config: {seed: 1}\n");
    /* The training_config of the file replaces the merged one as a whole. */
    T_TRUE(!V(batch_size)->is_set);
    expect(V(enable_tp), 1, 3);
    T_EQ(held.mesh_shape[1], 4);
}

T_TEST(a_quoted_merge_key_is_a_key)
{
    parse("training_config:\n  \"<<\": {batch_size: 1}\n");
    T_TRUE(!V(batch_size)->is_set);
    T_EQ(held.unknown_keys, 1);
}

T_TEST(what_is_passed_over_follows_no_alias_but_says_who_trains_adapters)
{
    parse(
        "off: &off false\non: &on 8\ntraining_config:\n  x: {use_lora: *off}\n  peft: *off\n");
    T_EQ(held.lora_line, 0);
    parse("off: &off false\non: &on 8\ntraining_config:\n  x: {lora_rank: *on}\n");
    T_EQ(held.lora_line, 4);
    parse("a: &a {lora_rank: 8}\ntraining_config:\n  <<: *a\n");
    T_EQ(held.lora_line, 1);
}

/* --- refused files ---------------------------------------------------------------------- */

static void refused(const char *text, enum tts_status wanted, uint32_t line, const char *words)
{
    struct tts_error err = {0};
    held = (struct tts_trainfile){0};
    enum tts_status status =
        tts_trainfile_parse(text, strlen(text), TTS_TRAINFILE_MODEL, &held, &err);
    T_STR_EQ(err.text, words);
    T_EQ(status, wanted);
    T_EQ(err.line, line);
}

T_TEST(aliases_that_stand_for_nothing_are_refused)
{
    refused("training_config:\n  batch_size: *a\n", TTS_E_SYNTAX, 2,
            "an alias (*) without an anchor before it");
    refused("training_config:\n  x: [1, *a]\n", TTS_E_SYNTAX, 2,
            "an alias (*) without an anchor before it");
    refused("a: &a\n  b: [*a]\ntraining_config: {}\n", TTS_E_SYNTAX, 2,
            "an alias (*) inside its own anchor (&)");
    refused("training_config: &t\n  <<: *t\n", TTS_E_SYNTAX, 2,
            "an alias (*) inside its own anchor (&)");
}

T_TEST(merges_of_what_is_no_map_are_refused)
{
    static const char words[] = "'<<' merges a map or a list of maps, such as '*name'";
    refused("a: &a 1\ntraining_config:\n  <<: *a\n", TTS_E_SYNTAX, 3, words);
    refused("training_config:\n  <<: x\n", TTS_E_SYNTAX, 2, words);
    refused("training_config:\n  <<: [{}, [{}]]\n", TTS_E_SYNTAX, 2, words);
    parse("training_config:\n  <<: []\n  batch_size: 1\n");
    expect(V(batch_size), 1, 3);
}

T_TEST(a_few_lines_cannot_stand_for_billions_of_values)
{
    char text[2000] = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at,
                 "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    size_t at = strlen(text);
    /* A skipped alias is one value. An alias that is read expands, and its first value is
     * already wrong. */
    snprintf(text + at, sizeof text - at, "training_config: {batch_size: 1, lora: *a11}\n");
    parse(text);
    expect(V(batch_size), 1, 13);
    snprintf(text + at, sizeof text - at, "device_config: {mesh_shape: *a11}\n");
    refused(text, TTS_E_SYNTAX, 11,
            "'mesh_shape' must be a whole number below 2^64, in decimal digits, but is a list");
}

T_TEST(a_few_lines_cannot_merge_billions_of_maps)
{
    char text[2000] = "a0: &a0 {batch_size: 1}\n";
    for (int i = 1; i < 14; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "a%d: &a%d {<<: [*a%d, *a%d, *a%d]}\n", i, i,
                 i - 1, i - 1, i - 1);
    }
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "training_config: {<<: *a13}\n");
    struct tts_error err = {0};
    T_EQ(tts_trainfile_parse(text, strlen(text), TTS_TRAINFILE_MODEL, &held, &err),
         TTS_E_RANGE);
    T_STR_EQ(err.text, "aliases (*) expand to more than 65536 values");
}

T_TEST(merges_may_follow_each_other_and_anchors_have_a_limit)
{
    char text[4000] = "a0: &a0 {batch_size: 7}\n";
    for (int i = 1; i < 60; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "a%d: &a%d {<<: *a%d}\n", i, i, i - 1);
    }
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "training_config: {<<: *a59}\n");
    parse(text);
    expect(V(batch_size), 7, 1);
    text[0] = '\0';
    for (int i = 0; i < 65; i++) {
        at = strlen(text);
        snprintf(text + at, sizeof text - at, "a%d: &a%d 1\n", i, i);
    }
    refused(text, TTS_E_RANGE, 65, "more than 64 anchors (&)");
}
