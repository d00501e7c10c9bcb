/* model.h: GPT2 and Llama as they are built and run on one chip. A model uses the autograd that
 * built it, and must be released before that autograd. The caller owns the struct; the model
 * owns its blocks and parameters. */
#pragma once

#include "runtime/ops.h"

/* A weight [1,1,out,in], and a bias [1,1,1,out] or NULL. */
struct tts_linear {
    struct tts_value *weight, *bias;
};

struct tts_norm {
    struct tts_value *gamma, *beta; /* beta is NULL for rmsnorm */
};

struct tts_model;

struct tts_model_block {
    const struct tts_model *model;
    int32_t layer;
    struct tts_norm attention_norm, mlp_norm;
    /* Llama: the layers of q, and of k and v together. GPT2: `q` computes q, k and v, and `kv`
     * is empty. */
    struct tts_linear q, kv;
    struct tts_linear attention;  /* output layer of attention */
    struct tts_linear w1, w2, w3; /* GPT2 has no w3 */
};

struct tts_model {
    const struct tts_workload *workload;
    uint64_t batch, heads, groups, mlp_width, vocabulary; /* sizes on one chip */
    bool is_parallel;                                     /* true with tensor parallelism */
    struct tts_value *mask;                               /* NULL if attention needs no mask */
    struct tts_value *rope[4];
    struct tts_value *embedding, *positions;
    struct tts_linear head;
    struct tts_norm last_norm;
    struct tts_model_block *blocks;
    uint64_t block_count;
    /* All parameters in the order of creation. This array owns them. */
    struct tts_value **parameters;
    size_t parameter_count, parameter_capacity;
};

/* Builds the model and allocates its parameters and constants on the device. A failure is in
 * the status of the runtime. */
void tts_model_build(struct tts_model *model, struct tts_autograd *ag,
                     const struct tts_workload *workload);
void tts_model_release(struct tts_model *model, struct tts_autograd *ag);

/* Makes the attention mask if the recipe has one (January 2026). */
void tts_model_make_mask(struct tts_model *model, struct tts_autograd *ag);

/* Runs the model on ids [B,1,1,S] and returns the logits [B,1,S,V], which the caller owns. */
struct tts_value *tts_model_forward(const struct tts_model *model, struct tts_autograd *ag,
                                    struct tts_value *ids);

/* Run one block of the model. Both functions can be used as tts_block_fn. */
struct tts_value *tts_llama_block(struct tts_autograd *ag, const void *block,
                                  struct tts_value *x);
struct tts_value *tts_gpt2_block(struct tts_autograd *ag, const void *block,
                                 struct tts_value *x);
