/* model.h: GPT2 and Llama as they are built and run on one chip. Heap objects inside belong to
 * the model; a model belongs to its autograd and goes before it. */
#pragma once

#include "runtime/ops.h"

/* A weight [1,1,out,in], and a bias [1,1,1,out] or NULL. */
struct tts_linear {
    struct tts_value *weight, *bias;
};

struct tts_norm {
    struct tts_value *gamma, *beta; /* beta: layernorm */
};

struct tts_model;

struct tts_model_block {
    const struct tts_model *model;
    int32_t layer;
    struct tts_norm attention_norm, mlp_norm;
    struct tts_linear q, kv;      /* Llama; GPT2: q is all three, kv is empty */
    struct tts_linear attention;  /* what leads out of it */
    struct tts_linear w1, w2, w3; /* GPT2: w1 and w2 */
};

struct tts_model {
    const struct tts_workload *workload;
    uint64_t batch, heads, groups, mlp_width, vocabulary; /* of one chip */
    bool is_parallel;                                     /* tensor parallel */
    struct tts_value *mask;                               /* NULL: none */
    struct tts_value *rope[4];
    struct tts_value *embedding, *positions;
    struct tts_linear head;
    struct tts_norm last_norm;
    struct tts_model_block *blocks;
    uint64_t block_count;
    struct tts_value **parameters; /* in the order of their making; borrowed */
    size_t parameter_count, parameter_capacity;
};

/* Builds it, on the device too. The failure of the runtime is the answer. */
void tts_model_build(struct tts_model *model, struct tts_autograd *ag,
                     const struct tts_workload *workload);
void tts_model_release(struct tts_model *model, struct tts_autograd *ag);

/* What the recipe masks attention with; none in recipes that need none. */
void tts_model_make_mask(struct tts_model *model, struct tts_autograd *ag);

/* ids [B,1,1,S]: logits [B,1,S,V]. */
struct tts_value *tts_model_forward(const struct tts_model *model, struct tts_autograd *ag,
                                    struct tts_value *ids);

/* One block of either family, as tts_block_fn. */
struct tts_value *tts_llama_block(struct tts_autograd *ag, const void *block,
                                  struct tts_value *x);
struct tts_value *tts_gpt2_block(struct tts_autograd *ag, const void *block,
                                 struct tts_value *x);
