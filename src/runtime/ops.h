/* ops.h: the operations of models. Each borrows its inputs and returns a value that the caller
 * owns. The node of the operation holds the tensors that the backward pass needs (autograd.h).
 * docs/design/runtime.md lists the allocations of each operation in their order; the code has
 * the same order. */
#pragma once

#include "runtime/autograd.h"

/* ids [B,1,1,S], weight [1,1,V,E]: returns [B,1,S,E]. */
struct tts_value *tts_op_embedding(struct tts_autograd *ag, struct tts_value *ids,
                                   struct tts_value *weight);
/* weight [1,1,out,in]. `bias` may be NULL. */
struct tts_value *tts_op_linear(struct tts_autograd *ag, struct tts_value *x,
                                struct tts_value *weight, struct tts_value *bias);
/* `wide_sums`: sums the gradient of gamma in fp32. */
struct tts_value *tts_op_rmsnorm(struct tts_autograd *ag, struct tts_value *x,
                                 struct tts_value *gamma, bool wide_sums);
struct tts_value *tts_op_layernorm(struct tts_autograd *ag, struct tts_value *x,
                                   struct tts_value *gamma, struct tts_value *beta);

/* Splits [B,1,S,3E] into q, k and v [B,H,S,E/H]. */
void tts_op_heads(struct tts_autograd *ag, struct tts_value *qkv, uint64_t heads,
                  struct tts_value *out[3]);
/* Splits q [B,1,S,HD] and kv [B,1,S,2GD] into q [B,H,S,D], k and v [B,G,S,D]. */
void tts_op_grouped_heads(struct tts_autograd *ag, struct tts_value *q, struct tts_value *kv,
                          uint64_t heads, uint64_t groups, struct tts_value *out[3]);
/* Joins the heads: [B,H,S,D] into [B,1,S,HD]. */
struct tts_value *tts_op_heads_fusion(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_rope(struct tts_autograd *ag, struct tts_value *x);

/* Attention made of single operations, with a mask [1,1,S,S]. k and v are repeated if groups <
 * heads. */
struct tts_value *tts_op_attention(struct tts_autograd *ag, struct tts_value *const qkv[3],
                                   struct tts_value *mask);
/* Attention in one kernel, which is causal without a mask. */
struct tts_value *tts_op_attention_fused(struct tts_autograd *ag,
                                         struct tts_value *const qkv[3]);

/* `b` may be [1,1,S,E]: it is then broadcast over the batch. */
struct tts_value *tts_op_add(struct tts_autograd *ag, struct tts_value *a, struct tts_value *b);
/* `b` is a constant and gets no gradient. */
struct tts_value *tts_op_add_constant(struct tts_autograd *ag, struct tts_value *a,
                                      struct tts_value *b);
struct tts_value *tts_op_mul(struct tts_autograd *ag, struct tts_value *a, struct tts_value *b);
struct tts_value *tts_op_scale(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_silu(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_gelu(struct tts_autograd *ag, struct tts_value *x);
/* If `on` is false, returns `x` with one more holder. */
struct tts_value *tts_op_dropout(struct tts_autograd *ag, struct tts_value *x, bool on);

/* Returns w2(silu(w1 x) * w3 x), partly fused. The weights are w1, w2, w3. Dropout works in
 * place. */
struct tts_value *tts_op_swiglu(struct tts_autograd *ag, struct tts_value *x,
                                struct tts_value *const weights[3], bool dropout);

/* Returns the mean over all tokens. `scratch`: allocates one more buffer of a column before
 * (recipe head). */
struct tts_value *tts_op_cross_entropy(struct tts_autograd *ag, struct tts_value *logits,
                                       struct tts_value *targets, bool scratch);

/* Like tts_op_cross_entropy(), for logits whose vocabulary is divided among the chips of a
 * mesh. `shifts`: both passes store the shifted logits in a separate fp32 buffer. */
struct tts_value *tts_op_cross_entropy_divided(struct tts_autograd *ag,
                                               struct tts_value *logits,
                                               struct tts_value *targets, bool shifts);

/* tts_op_broadcast() passes the same values to all chips; its gradients are summed over the
 * chips. tts_op_all_reduce() returns the sum over all chips; its gradient passes unchanged. */
struct tts_value *tts_op_broadcast(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_all_reduce(struct tts_autograd *ag, struct tts_value *x);

/* Runs a block without gradients and keeps only its output. The backward pass runs the block
 * again with gradients, then backwards. `block` must live until then. */
struct tts_value *tts_op_checkpoint(struct tts_autograd *ag, tts_block_fn fn, const void *block,
                                    struct tts_value *x);
