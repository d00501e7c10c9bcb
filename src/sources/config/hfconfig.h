/* hfconfig.h: reads the config.json of a Hugging Face model and keeps the values that determine
 * its memory. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_hf_key {
    TTS_HF_HIDDEN_SIZE,
    TTS_HF_LAYERS,   /* num_hidden_layers */
    TTS_HF_HEADS,    /* num_attention_heads */
    TTS_HF_KV_HEADS, /* num_key_value_heads; if absent, equal to the heads */
    TTS_HF_HEAD_DIM, /* head_dim; if absent, hidden_size / heads */
    TTS_HF_MLP,      /* intermediate_size */
    TTS_HF_VOCABULARY,
    TTS_HF_POSITIONS, /* max_position_embeddings */
    TTS_HF_TIED,      /* tie_word_embeddings: 0 or 1 */
    TTS_HF_BIASES,    /* attention_bias */
    /* These two keys are hints: a value of a wrong type is treated as absent, not as an
     * error. */
    TTS_HF_WINDOW,     /* sliding_window: tokens */
    TTS_HF_USE_WINDOW, /* use_sliding_window: 0 or 1 */
    TTS_HF_KEYS,
};

/* The kind of a model. Some keys show the kind by their presence. */
enum tts_hf_kind {
    TTS_HF_PLAIN,
    TTS_HF_EXPERTS,  /* a mixture of experts */
    TTS_HF_LATENT,   /* attention that compresses k and v to a lower rank */
    TTS_HF_MLP_BIAS, /* mlp_bias is true */
    TTS_HF_GPT2,     /* the file uses the key names of GPT2 and has no hidden_size */
    TTS_HF_KINDS,
};

enum { TTS_HFCONFIG_TEXT_MAX = 64, TTS_HFCONFIG_MAX_BYTES = 16 << 20 };

struct tts_hfconfig {
    struct tts_hf_value {
        bool is_set;
        uint32_t line;
        uint64_t number;
    } values[TTS_HF_KEYS];
    char model_type[TTS_HFCONFIG_TEXT_MAX]; /* "" if absent */
    enum tts_hf_kind kind; /* PLAIN: no special key; other kinds may lack any value */
    /* The key that shows the kind, and its line; "" and 0 if the kind is PLAIN. */
    uint32_t kind_line;
    char kind_key[TTS_HFCONFIG_TEXT_MAX];
    uint32_t quantization_line;               /* line of quantization_config; 0 if absent */
    char quantization[TTS_HFCONFIG_TEXT_MAX]; /* the quant_method of quantization_config; "" if
                                                 absent */
};

/* Parses a config.json. Unknown keys are skipped, and a null is treated as absent. If a key
 * occurs twice, the last value counts. A value in "text_config" (the text part of a multimodal
 * file) counts only if the top level does not have the key.
 * Does not check that required keys are present: look at the type and the kind first, then call
 * tts_hfconfig_check(). docs/design/train-config.md lists the keys.
 * TTS_E_SYNTAX: not JSON, or a value of a wrong type. TTS_E_RANGE: a value is too large. Both
 * set err->line. TTS_E_NOMEM: memory ran out. After a failure *out is unchanged. */
TTS_NODISCARD enum tts_status tts_hfconfig_parse(const char *text, size_t len,
                                                 struct tts_hfconfig *out,
                                                 struct tts_error *err);
/* Checks that the keys that every language model needs are present. TTS_E_NOT_FOUND: err names
 * the first absent key. */
TTS_NODISCARD enum tts_status tts_hfconfig_check(const struct tts_hfconfig *config,
                                                 struct tts_error *err);
const char *tts_hf_key_name(enum tts_hf_key key);
