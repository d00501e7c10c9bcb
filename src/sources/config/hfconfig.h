/* hfconfig.h: the values in the config.json of a Hugging Face model that its memory depends
 * on. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_hf_key {
    TTS_HF_HIDDEN_SIZE,
    TTS_HF_LAYERS,   /* num_hidden_layers */
    TTS_HF_HEADS,    /* num_attention_heads */
    TTS_HF_KV_HEADS, /* num_key_value_heads; if absent: as many as heads */
    TTS_HF_HEAD_DIM, /* if absent: hidden_size / heads */
    TTS_HF_MLP,      /* intermediate_size */
    TTS_HF_VOCABULARY,
    TTS_HF_POSITIONS, /* max_position_embeddings */
    TTS_HF_TIED,      /* tie_word_embeddings: 0 or 1 */
    TTS_HF_BIASES,    /* attention_bias */
    /* Hints: a value that is not a number, or not true or false, is treated as absent. */
    TTS_HF_WINDOW,     /* sliding_window: tokens */
    TTS_HF_USE_WINDOW, /* use_sliding_window: 0 or 1 */
    TTS_HF_KEYS,
};

/* The kind of a model. Some keys show the kind by their presence. */
enum tts_hf_kind {
    TTS_HF_PLAIN,
    TTS_HF_EXPERTS,  /* a mixture of experts */
    TTS_HF_LATENT,   /* attention with k and v of a lower rank */
    TTS_HF_MLP_BIAS, /* mlp_bias is true */
    TTS_HF_GPT2,     /* the key names of GPT2, and no hidden_size */
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
    enum tts_hf_kind kind;                  /* if not PLAIN, any value may be absent */
    uint32_t kind_line; /* line of the key that shows the kind; 0 and "" if PLAIN */
    char kind_key[TTS_HFCONFIG_TEXT_MAX];
    uint32_t quantization_line;               /* line of quantization_config; 0 if absent */
    char quantization[TTS_HFCONFIG_TEXT_MAX]; /* its quant_method; "" if absent */
};

/* Parses a config.json. Unknown keys are skipped. A null counts as absent. If a key occurs
 * twice, the last one counts. The text part of a multimodal file ("text_config") counts for
 * keys that are not at the top. Required keys may be absent: look at the type and the kind
 * first, then call tts_hfconfig_check(). TTS_E_SYNTAX, TTS_E_RANGE: err->line is the line.
 * TTS_E_NOMEM. docs/design/train-config.md lists the names. */
TTS_NODISCARD enum tts_status tts_hfconfig_parse(const char *text, size_t len,
                                                 struct tts_hfconfig *out,
                                                 struct tts_error *err);
/* Checks that the keys that every language model has are present. TTS_E_NOT_FOUND: err names
 * the first one that is absent. */
TTS_NODISCARD enum tts_status tts_hfconfig_check(const struct tts_hfconfig *config,
                                                 struct tts_error *err);
const char *tts_hf_key_name(enum tts_hf_key key);
