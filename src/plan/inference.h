/* inference.h: the memory that serving a model takes on a chip: weights, KV cache, trace
 * region, and an upper bound of the activations. Also finds the largest context and batch that
 * fit. Plain values. The formulas are in docs/design/inference.md. All sizes are sizes on one
 * chip. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/failure.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

enum tts_weight_dtype { TTS_WEIGHT_BF16, TTS_WEIGHT_BFP8, TTS_WEIGHT_BFP4, TTS_WEIGHT_DTYPES };
const char *tts_weight_dtype_name(enum tts_weight_dtype dtype); /* "bf16", "bfp8", "bfp4" */

enum tts_mlp_kind { TTS_MLP_GATED /* three matrices */, TTS_MLP_PLAIN /* two, with biases */ };

struct tts_inference_model {
    uint64_t layers, hidden, heads, kv_heads, head_dim, mlp_width, vocabulary;
    uint64_t positions; /* longest context of the model. 0: unknown */
    bool tied;
    enum tts_mlp_kind mlp;  /* PLAIN: the norms have biases as well */
    bool biases;            /* biases of q, k and v */
    bool output_bias;       /* bias of the attention's output */
    bool head_norms;        /* norms of q and k in each layer */
    bool learned_positions; /* GPT2: a table of `positions` rows instead of rope */
    bool fixed_positions;   /* the position table is not a parameter */
};

struct tts_inference_config {
    struct tts_inference_model model;
    /* Dtypes. The embedding is usually bf16. */
    enum tts_weight_dtype attention, mlp, embedding, head, cache;
    uint64_t batch;
    uint64_t length; /* tokens of context in each sequence */
    uint64_t block;  /* the cache is rounded up to a multiple of this many tokens; usually 32 */
    uint64_t trace_bytes;     /* size of the trace region. 0: the value of the chip */
    uint64_t prefill;         /* tokens in one chunk of prefill. 0: the default */
    uint64_t tensor_parallel; /* number of chips that share the model, at least 1 */
    bool separate_head;       /* the head has its own tensor, even if it is tied */
};

enum {
    TTS_INFERENCE_LAYERS_MAX = 1 << 14,
    TTS_INFERENCE_SEARCH_MAX = 1 << 20, /* largest context and batch that the search tries */
    TTS_INFERENCE_PREFILL = 2048,       /* default chunk of prefill */
};

/* Returns the tokens in one chunk of prefill: the given number or the default, at most the
 * context. */
uint64_t tts_inference_prefill(const struct tts_inference_config *config);

enum tts_inference_part {
    TTS_INFERENCE_EMBEDDING,
    TTS_INFERENCE_ATTENTION,
    TTS_INFERENCE_MLP,
    TTS_INFERENCE_NORMS,
    TTS_INFERENCE_HEAD,
    TTS_INFERENCE_CACHE,
    TTS_INFERENCE_ROPE,
    TTS_INFERENCE_ACTIVATIONS, /* estimated: upper bound for one chunk of prefill */
    TTS_INFERENCE_TRACE,
    TTS_INFERENCE_PARTS,
};
/* Returns "embedding", "attention", "mlp", "norms", "head", "kv_cache", "rope", "activations"
 * or "trace_region". */
const char *tts_inference_part_name(enum tts_inference_part part);
/* Returns the dtype of a part, or NULL for the trace region. The position table of an embedding
 * is always bf16, also if this returns another dtype. */
const char *tts_inference_part_dtype(const struct tts_inference_config *config,
                                     enum tts_inference_part part);
/* Returns whether the bytes of a part are an estimate: the activations always, and with tensor
 * parallel every part that is divided. Norms, rope and the trace region are not divided. */
bool tts_inference_part_is_estimated(const struct tts_inference_config *config,
                                     enum tts_inference_part part);

enum tts_inference_field {
    TTS_INFERENCE_FIELD_NONE,
    TTS_INFERENCE_FIELD_LAYERS,
    TTS_INFERENCE_FIELD_HIDDEN,
    TTS_INFERENCE_FIELD_HEADS,
    TTS_INFERENCE_FIELD_KV_HEADS,
    TTS_INFERENCE_FIELD_HEAD_DIM,
    TTS_INFERENCE_FIELD_MLP,
    TTS_INFERENCE_FIELD_VOCABULARY,
    TTS_INFERENCE_FIELD_BATCH,
    TTS_INFERENCE_FIELD_LENGTH,
    TTS_INFERENCE_FIELD_BLOCK,
    TTS_INFERENCE_FIELD_TRACE,
    TTS_INFERENCE_FIELD_TENSOR_PARALLEL,
    TTS_INFERENCE_FIELDS,
};

/* Checks whether a configuration can be planned. After a failure err states what is allowed,
 * without the name of the field ("must be a multiple of 32, but is 100"), and *field is the
 * wrong field. TTS_E_INVALID: a value is not allowed. TTS_E_RANGE: a value is too large, or all
 * sizes add up to 2^63 bytes or more; *field is then the field with the largest number. */
TTS_NODISCARD enum tts_status tts_inference_check(const struct tts_inference_config *config,
                                                  enum tts_inference_field *field,
                                                  struct tts_error *err);

/* An upper bound: prefill of the whole context at once. Programs need less, because prefill can
 * run in chunks. */
struct tts_inference_bound {
    bool is_known; /* false: 2^63 bytes or more, and the other fields are undefined */
    bool fits;
    uint64_t activation_bytes, total_bytes;
};

struct tts_inference {
    uint64_t parameters;                      /* elements of the whole model, without padding */
    uint64_t part_bytes[TTS_INFERENCE_PARTS]; /* bytes of pages, not of rounded blocks */
    uint64_t total_bytes;
    uint64_t capacity_bytes; /* bytes of DRAM, and of the trace region if there is one */
    bool fits;               /* every buffer was placed on the chip, tensor by tensor */
    struct tts_failure first_failure;    /* valid if `fits` is false, like the next two */
    enum tts_inference_part failed_part; /* part of the request that failed */
    int32_t failed_layer; /* layer of the request that failed, from 0. -1: outside the layers */
    uint32_t banks;
    /* The DRAM banks. The peak counts rounded blocks, whether they were placed or not. */
    uint64_t bank_bytes, peak_bank_bytes;
    uint64_t largest_length, largest_batch; /* largest length with the given batch, and largest
                                               batch with the given length. 0: none fits */
    uint64_t length_limit, batch_limit;     /* limits of the search: the model's positions, or
                                               TTS_INFERENCE_SEARCH_MAX */
    struct tts_inference_bound bound;
};

/* Plans `config` on `chip`. `alloc` may be NULL: the C library is used.
 *
 * TTS_E_INVALID, TTS_E_RANGE: see tts_inference_check(), or the chip has no room for the trace
 * region. TTS_E_NOT_FOUND: a fact of the chip is unknown. TTS_E_NOMEM: out of memory. After a
 * failure *out is unchanged. */
TTS_NODISCARD enum tts_status tts_inference_plan(const struct tts_inference_config *config,
                                                 const struct tts_chip *chip,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_inference *out,
                                                 struct tts_error *err);
