/* ops.h: the operations that models are made of. Each borrows its inputs and gives one value,
 * the caller's; what it keeps for the backward pass is held by its node (autograd.h). What each
 * allocates, in which order, is in docs/design/runtime.md, and in the code in that order. */
#pragma once

#include "runtime/autograd.h"

/* x [B,1,1,S] of ids, weight [1,1,V,E]: [B,1,S,E]. */
struct tts_value *tts_op_embedding(struct tts_autograd *ag, struct tts_value *ids,
                                   struct tts_value *weight);
/* weight [1,1,out,in]; `bias` may be NULL. */
struct tts_value *tts_op_linear(struct tts_autograd *ag, struct tts_value *x,
                                struct tts_value *weight, struct tts_value *bias);
/* `wide_sums`: the gradient of gamma is summed in fp32. */
struct tts_value *tts_op_rmsnorm(struct tts_autograd *ag, struct tts_value *x,
                                 struct tts_value *gamma, bool wide_sums);
struct tts_value *tts_op_layernorm(struct tts_autograd *ag, struct tts_value *x,
                                   struct tts_value *gamma, struct tts_value *beta);

/* [B,1,S,3E] into q, k and v [B,H,S,E/H]. */
void tts_op_heads(struct tts_autograd *ag, struct tts_value *qkv, uint64_t heads,
                  struct tts_value *out[3]);
/* q [B,1,S,HD] and kv [B,1,S,2GD] into q [B,H,S,D], k and v [B,G,S,D]. */
void tts_op_grouped_heads(struct tts_autograd *ag, struct tts_value *q, struct tts_value *kv,
                          uint64_t heads, uint64_t groups, struct tts_value *out[3]);
/* The other way: [B,H,S,D] into [B,1,S,HD]. */
struct tts_value *tts_op_heads_fusion(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_rope(struct tts_autograd *ag, struct tts_value *x);

/* Of single operations, with a mask [1,1,S,S]; k and v are repeated where groups < heads. */
struct tts_value *tts_op_attention(struct tts_autograd *ag, struct tts_value *const qkv[3],
                                   struct tts_value *mask);
/* In one kernel, causal by itself. */
struct tts_value *tts_op_attention_fused(struct tts_autograd *ag,
                                         struct tts_value *const qkv[3]);

/* `b` may be [1,1,S,E], broadcast over the batch. */
struct tts_value *tts_op_add(struct tts_autograd *ag, struct tts_value *a, struct tts_value *b);
/* `b` is a constant: it gets no gradient. */
struct tts_value *tts_op_add_constant(struct tts_autograd *ag, struct tts_value *a,
                                      struct tts_value *b);
struct tts_value *tts_op_mul(struct tts_autograd *ag, struct tts_value *a, struct tts_value *b);
struct tts_value *tts_op_scale(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_silu(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_gelu(struct tts_autograd *ag, struct tts_value *x);
/* `on` false: x itself, once more held. */
struct tts_value *tts_op_dropout(struct tts_autograd *ag, struct tts_value *x, bool on);

/* w2(silu(w1 x) * w3 x), semi-fused: weights w1, w2, w3; dropout in place. */
struct tts_value *tts_op_swiglu(struct tts_autograd *ag, struct tts_value *x,
                                struct tts_value *const weights[3], bool dropout);

/* Mean over all; `scratch`: one more buffer of a column is used before (head). */
struct tts_value *tts_op_cross_entropy(struct tts_autograd *ag, struct tts_value *logits,
                                       struct tts_value *targets, bool scratch);

/* The same for logits whose vocabulary is divided among the chips of a mesh. `shifts`: the
 * shifted logits are a buffer of their own, in fp32, in both passes. */
struct tts_value *tts_op_cross_entropy_divided(struct tts_autograd *ag,
                                               struct tts_value *logits,
                                               struct tts_value *targets, bool shifts);

/* Over the chips of a mesh: the same values, whose gradients are summed over the chips; and the
 * sum of all chips' values, whose gradient passes as it is. */
struct tts_value *tts_op_broadcast(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_all_reduce(struct tts_autograd *ag, struct tts_value *x);

/* Runs a block without gradients and keeps its output alone; backward runs it again, with
 * gradients, and then backwards. `block` must live until then. */
struct tts_value *tts_op_checkpoint(struct tts_autograd *ag, tts_block_fn fn, const void *block,
                                    struct tts_value *x);
