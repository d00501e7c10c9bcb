/* hfconfig.h: the config.json of a Hugging Face model, as far as its memory depends on it. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_hf_key {
    TTS_HF_HIDDEN_SIZE,
    TTS_HF_LAYERS,   /* num_hidden_layers */
    TTS_HF_HEADS,    /* num_attention_heads */
    TTS_HF_KV_HEADS, /* num_key_value_heads; absent: as many as heads */
    TTS_HF_HEAD_DIM, /* absent: hidden_size / heads */
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

/* What some keys say of a model, by being there. */
enum tts_hf_kind {
    TTS_HF_PLAIN,
    TTS_HF_EXPERTS,  /* a mixture of them */
    TTS_HF_LATENT,   /* attention through k and v of a lower rank */
    TTS_HF_MLP_BIAS, /* true */
    TTS_HF_GPT2,     /* its names, and no hidden_size */
    TTS_HF_KINDS,
};

enum { TTS_HFCONFIG_TEXT_MAX = 64, TTS_HFCONFIG_MAX_BYTES = 16 << 20 };

struct tts_hfconfig {
    struct tts_hf_value {
        bool is_set;
        uint32_t line;
        uint64_t number;
    } values[TTS_HF_KEYS];
    char model_type[TTS_HFCONFIG_TEXT_MAX]; /* "" : not there */
    enum tts_hf_kind kind;                  /* other than PLAIN: any value may be absent */
    uint32_t kind_line;                     /* of the key that says so; PLAIN: 0 and "" */
    char kind_key[TTS_HFCONFIG_TEXT_MAX];
    uint32_t quantization_line;               /* of quantization_config; 0: not there */
    char quantization[TTS_HFCONFIG_TEXT_MAX]; /* its quant_method; "" : it does not say */
};

/* Unknown keys are passed over; `null` is as if absent; of a key that
 * stands twice the last counts; the text part of a multimodal file ("text_config") is taken
 * where the keys are not at the top. A key that must be there may be absent: look at the type
 * and the kind first, then ask tts_hfconfig_check(). TTS_E_SYNTAX, TTS_E_RANGE: err->line is
 * where. TTS_E_NOMEM. docs/design/train-config.md has the names that are read. */
TTS_NODISCARD enum tts_status tts_hfconfig_parse(const char *text, size_t len,
                                                 struct tts_hfconfig *out,
                                                 struct tts_error *err);
/* Checks that the keys are there that every language model has. TTS_E_NOT_FOUND: err names the
 * first that is absent. */
TTS_NODISCARD enum tts_status tts_hfconfig_check(const struct tts_hfconfig *config,
                                                 struct tts_error *err);
const char *tts_hf_key_name(enum tts_hf_key key);
