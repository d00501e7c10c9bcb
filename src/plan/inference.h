/* inference.h: what serving a model takes on a chip: weights, KV cache, trace region, and an
 * upper bound of the activations; and the largest context and batch that fit.
 * Plain values. The formulas are in docs/design/inference.md. All sizes are of one chip. */
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
    uint64_t positions; /* the longest context the model is made for; 0: not known */
    bool tied;
    enum tts_mlp_kind mlp;  /* PLAIN: the norms have biases too */
    bool biases;            /* of the attention's q, k and v */
    bool output_bias;       /* of its output */
    bool head_norms;        /* of q and k, in every layer */
    bool learned_positions; /* GPT2: a table of `positions` rows, and no rope */
    bool fixed_positions;   /* the table is no parameter */
};

struct tts_inference_config {
    struct tts_inference_model model;
    enum tts_weight_dtype attention, mlp, embedding, head, cache; /* embedding: bf16 is usual */
    uint64_t batch;
    uint64_t length;          /* tokens of context, each sequence */
    uint64_t block;           /* the cache is rounded up to this many tokens; 32 is usual */
    uint64_t trace_bytes;     /* of the trace region; 0: as the chip has it */
    uint64_t prefill;         /* tokens of one chunk of prefill; 0: the default */
    uint64_t tensor_parallel; /* chips; 1 */
    bool separate_head;       /* the head has a tensor of its own, also when it is tied */
};

enum {
    TTS_INFERENCE_LAYERS_MAX = 1 << 14,
    TTS_INFERENCE_SEARCH_MAX = 1 << 20, /* largest context and batch that are looked for */
    TTS_INFERENCE_PREFILL = 2048,       /* default chunk of prefill */
};

/* Returns the tokens of one chunk of prefill: as given, or the default; the length at most. */
uint64_t tts_inference_prefill(const struct tts_inference_config *config);

enum tts_inference_part {
    TTS_INFERENCE_EMBEDDING,
    TTS_INFERENCE_ATTENTION,
    TTS_INFERENCE_MLP,
    TTS_INFERENCE_NORMS,
    TTS_INFERENCE_HEAD,
    TTS_INFERENCE_CACHE,
    TTS_INFERENCE_ROPE,
    TTS_INFERENCE_ACTIVATIONS, /* estimated: an upper bound for one chunk of prefill */
    TTS_INFERENCE_TRACE,
    TTS_INFERENCE_PARTS,
};
/* "embedding", "attention", "mlp", "norms", "head", "kv_cache", "rope", "activations",
 * "trace_region". */
const char *tts_inference_part_name(enum tts_inference_part part);
/* NULL: a region has none. The positions' table of an embedding is bf16 whatever this says. */
const char *tts_inference_part_dtype(const struct tts_inference_config *config,
                                     enum tts_inference_part part);
/* The activations always; with tensor parallel all that is divided: not the norms, rope and
 * trace region. */
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

/* Can it be planned? TTS_E_INVALID, TTS_E_RANGE (all sizes come to 2^63 bytes or more: then it
 * is the field of the largest number): err has what is allowed, without the name of the field
 * ("must be a multiple of 32, and is 100"), *field is what is wrong. */
TTS_NODISCARD enum tts_status tts_inference_check(const struct tts_inference_config *config,
                                                  enum tts_inference_field *field,
                                                  struct tts_error *err);

/* A prefill of the whole context at once: an upper bound. No program needs that much, as a
 * prefill can go in chunks. */
struct tts_inference_bound {
    bool is_known; /* false: 2^63 bytes or more, and the rest means nothing */
    bool fits;
    uint64_t activation_bytes, total_bytes;
};

struct tts_inference {
    uint64_t parameters;                      /* elements, of the whole model, not padded */
    uint64_t part_bytes[TTS_INFERENCE_PARTS]; /* pages, not rounded blocks */
    uint64_t total_bytes;
    uint64_t capacity_bytes; /* of DRAM and, with one, the trace region */
    bool fits;               /* every buffer was placed on the chip, tensor by tensor */
    struct tts_failure first_failure;    /* when it does not: */
    enum tts_inference_part failed_part; /* what was asked for then */
    int32_t failed_layer;                /* from 0; -1: outside the layers */
    uint32_t banks;
    uint64_t bank_bytes, peak_bank_bytes;   /* of DRAM; the peak is of rounded blocks, placed or
                                             * not */
    uint64_t largest_length, largest_batch; /* that fit, the other as given; 0: none */
    uint64_t length_limit, batch_limit;     /* up to which was looked: the model's positions, or
                                             * TTS_INFERENCE_SEARCH_MAX */
    struct tts_inference_bound bound;
};

/* TTS_E_INVALID, TTS_E_RANGE: as the check, or the chip has no room for such a trace region.
 * TTS_E_NOT_FOUND: a fact of the chip. TTS_E_NOMEM. `alloc` NULL is the C library's. */
TTS_NODISCARD enum tts_status tts_inference_plan(const struct tts_inference_config *config,
                                                 const struct tts_chip *chip,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_inference *out,
                                                 struct tts_error *err);
