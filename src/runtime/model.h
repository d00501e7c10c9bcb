/* model.h: GPT2 and Llama as they are built and run on one chip. The model owns its heap
 * objects. A model belongs to its autograd and must be released before it. */
#pragma once

#include "runtime/ops.h"

/* A weight [1,1,out,in], and a bias [1,1,1,out] or NULL. */
struct tts_linear {
    struct tts_value *weight, *bias;
};

struct tts_norm {
    struct tts_value *gamma, *beta; /* beta: only for layernorm */
};

struct tts_model;

struct tts_model_block {
    const struct tts_model *model;
    int32_t layer;
    struct tts_norm attention_norm, mlp_norm;
    struct tts_linear q, kv;      /* Llama: q and kv. GPT2: q is all three, kv is empty */
    struct tts_linear attention;  /* output layer of attention */
    struct tts_linear w1, w2, w3; /* GPT2: only w1 and w2 */
};

struct tts_model {
    const struct tts_workload *workload;
    uint64_t batch, heads, groups, mlp_width, vocabulary; /* sizes on one chip */
    bool is_parallel;                                     /* the model is tensor parallel */
    struct tts_value *mask;                               /* NULL: no mask */
    struct tts_value *rope[4];
    struct tts_value *embedding, *positions;
    struct tts_linear head;
    struct tts_norm last_norm;
    struct tts_model_block *blocks;
    uint64_t block_count;
    struct tts_value **parameters; /* in the order of creation; borrowed */
    size_t parameter_count, parameter_capacity;
};

/* Builds the model, also on the device. A failure is in the status of the runtime. */
void tts_model_build(struct tts_model *model, struct tts_autograd *ag,
                     const struct tts_workload *workload);
void tts_model_release(struct tts_model *model, struct tts_autograd *ag);

/* Makes the attention mask of the recipe. Recipes that need no mask get none. */
void tts_model_make_mask(struct tts_model *model, struct tts_autograd *ag);

/* Runs the model. ids [B,1,1,S] give logits [B,1,S,V]. */
struct tts_value *tts_model_forward(const struct tts_model *model, struct tts_autograd *ag,
                                    struct tts_value *ids);

/* Run one block of a family. Usable as tts_block_fn. */
struct tts_value *tts_llama_block(struct tts_autograd *ag, const void *block,
                                  struct tts_value *x);
struct tts_value *tts_gpt2_block(struct tts_autograd *ag, const void *block,
                                 struct tts_value *x);
