/* ops.h: the operations of models. An operation borrows its inputs and returns a value that the
 * caller owns. The node of the operation holds the tensors that the backward pass needs
 * (autograd.h). docs/design/runtime.md lists the allocations of each operation in their order;
 * the code makes them in the same order.
 * Shapes: B batch, S sequence, E width, V vocabulary, H heads, G groups, D width of a head. */
#pragma once

#include "runtime/autograd.h"

/* Returns [B,1,S,E] for the ids [B,1,1,S] and the weight [1,1,V,E]. */
struct tts_value *tts_op_embedding(struct tts_autograd *ag, struct tts_value *ids,
                                   struct tts_value *weight);
/* Returns x multiplied by the transposed weight [1,1,out,in], plus `bias`, which may be
 * NULL. */
struct tts_value *tts_op_linear(struct tts_autograd *ag, struct tts_value *x,
                                struct tts_value *weight, struct tts_value *bias);
/* If `wide_sums` is true, the gradient of gamma is summed in fp32, else in bf16. */
struct tts_value *tts_op_rmsnorm(struct tts_autograd *ag, struct tts_value *x,
                                 struct tts_value *gamma, bool wide_sums);
struct tts_value *tts_op_layernorm(struct tts_autograd *ag, struct tts_value *x,
                                   struct tts_value *gamma, struct tts_value *beta);

/* Splits qkv [B,1,S,3E] into q, k and v, each [B,H,S,E/H]. */
void tts_op_heads(struct tts_autograd *ag, struct tts_value *qkv, uint64_t heads,
                  struct tts_value *out[3]);
/* Splits q [B,1,S,HD] and kv [B,1,S,2GD] into q [B,H,S,D], and k and v, each [B,G,S,D]. */
void tts_op_grouped_heads(struct tts_autograd *ag, struct tts_value *q, struct tts_value *kv,
                          uint64_t heads, uint64_t groups, struct tts_value *out[3]);
/* Joins the heads: [B,H,S,D] into [B,1,S,HD]. */
struct tts_value *tts_op_heads_fusion(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_rope(struct tts_autograd *ag, struct tts_value *x);

/* Runs attention as a sequence of single operations. The mask is [1,1,S,S] or NULL. If there
 * are fewer groups than heads, k and v are repeated for each head. */
struct tts_value *tts_op_attention(struct tts_autograd *ag, struct tts_value *const qkv[3],
                                   struct tts_value *mask);
/* Runs attention as one kernel, which needs no mask: it is causal by itself. */
struct tts_value *tts_op_attention_fused(struct tts_autograd *ag,
                                         struct tts_value *const qkv[3]);

/* Returns a + b. `b` may be [1,1,S,E]; then it is added to each sample of the batch. */
struct tts_value *tts_op_add(struct tts_autograd *ag, struct tts_value *a, struct tts_value *b);
/* Like tts_op_add(), but `b` gets no gradient. */
struct tts_value *tts_op_add_constant(struct tts_autograd *ag, struct tts_value *a,
                                      struct tts_value *b);
struct tts_value *tts_op_mul(struct tts_autograd *ag, struct tts_value *a, struct tts_value *b);
struct tts_value *tts_op_scale(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_silu(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_gelu(struct tts_autograd *ag, struct tts_value *x);
/* Applies dropout. If `on` is false, returns `x` itself with one more owner. */
struct tts_value *tts_op_dropout(struct tts_autograd *ag, struct tts_value *x, bool on);

/* Returns w2(silu(w1 x) * w3 x), with silu and the product in one kernel. `weights` are w1, w2,
 * w3. Dropout works in place. */
struct tts_value *tts_op_swiglu(struct tts_autograd *ag, struct tts_value *x,
                                struct tts_value *const weights[3], bool dropout);

/* Returns the mean loss over all tokens. If `scratch` is true, first allocates and frees a
 * column that is not used, as the programs since May 2026 do. */
struct tts_value *tts_op_cross_entropy(struct tts_autograd *ag, struct tts_value *logits,
                                       struct tts_value *targets, bool scratch);

/* Like tts_op_cross_entropy(), but each chip has only a part of the vocabulary. If `shifts` is
 * true, both passes keep the shifted logits in an fp32 buffer of their own. */
struct tts_value *tts_op_cross_entropy_divided(struct tts_autograd *ag,
                                               struct tts_value *logits,
                                               struct tts_value *targets, bool shifts);

/* tts_op_broadcast() passes x to all chips; in the backward pass the gradients are summed over
 * the chips. tts_op_all_reduce() returns the sum of x over all chips; in the backward pass the
 * gradient passes unchanged. */
struct tts_value *tts_op_broadcast(struct tts_autograd *ag, struct tts_value *x);
struct tts_value *tts_op_all_reduce(struct tts_autograd *ag, struct tts_value *x);

/* Runs a block without gradients and keeps only its output. The backward pass runs the block
 * again with gradients, and then backwards. `block` must live until then. */
struct tts_value *tts_op_checkpoint(struct tts_autograd *ag, tts_block_fn fn, const void *block,
                                    struct tts_value *x);
