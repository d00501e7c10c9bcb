/* kernel.h: the programs that run on the device. Each allocates its output, unless it works in
 * place, and is launched. The launch counts its binary and, if the runtime computes, computes
 * the output. Inputs are borrowed. The caller owns the output. */
#pragma once

#include "runtime/tensor.h"

#define TTS_KERNELS(X)                                                                         \
    X(FULL)                                                                                    \
    X(TILIZE)                                                                                  \
    X(UNTILIZE)                                                                                \
    X(RESHAPE)                                                                                 \
    X(TYPECAST)                                                                                \
    X(TRANSPOSE)                                                                               \
    X(CONCAT)                                                                                  \
    X(REPEAT)                                                                                  \
    X(ADD)                                                                                     \
    X(SUBTRACT)                                                                                \
    X(MULTIPLY)                                                                                \
    X(SCALE)                                                                                   \
    X(NEGATE)                                                                                  \
    X(SQUARE)                                                                                  \
    X(SQUARE_ROOT)                                                                             \
    X(RECIPROCAL)                                                                              \
    X(MAXIMUM)                                                                                 \
    X(SUM)                                                                                     \
    X(MEAN)                                                                                    \
    X(MATMUL)                                                                                  \
    X(LINEAR)                                                                                  \
    X(EMBEDDING)                                                                               \
    X(EMBEDDING_BW)                                                                            \
    X(RMSNORM)                                                                                 \
    X(RMSNORM_BW)                                                                              \
    X(LAYERNORM)                                                                               \
    X(LAYERNORM_BW)                                                                            \
    X(HEADS_SPLIT)                                                                             \
    X(HEADS_CONCAT)                                                                            \
    X(ROPE)                                                                                    \
    X(SOFTMAX)                                                                                 \
    X(SOFTMAX_BW)                                                                              \
    X(SDPA)                                                                                    \
    X(SDPA_BW_Q)                                                                               \
    X(SDPA_BW_KV)                                                                              \
    X(SILU)                                                                                    \
    X(SILU_BW)                                                                                 \
    X(GELU)                                                                                    \
    X(GELU_BW)                                                                                 \
    X(SWIGLU_GATE)                                                                             \
    X(SWIGLU_GATE_BW)                                                                          \
    X(DROPOUT)                                                                                 \
    X(CROSS_ENTROPY)                                                                           \
    X(CROSS_ENTROPY_BW)                                                                        \
    X(LARGEST)                                                                                 \
    X(SUBTRACT_EXP)                                                                            \
    X(LOGARITHM)                                                                               \
    X(TARGET_LOGIT)                                                                            \
    X(TARGET_SUBTRACT)                                                                         \
    X(ALL_BROADCAST)                                                                           \
    X(ALL_GATHER)                                                                              \
    X(REDUCE_SCATTER)                                                                          \
    X(GRADIENT_NORM)                                                                           \
    X(GRADIENT_SCALE)                                                                          \
    X(ADAMW)                                                                                   \
    X(SGD)

#define TTS_KERNEL_ENUM(name) TTS_KERNEL_##name,
enum tts_kernel_kind { TTS_KERNELS(TTS_KERNEL_ENUM) TTS_KERNEL_KINDS };
#undef TTS_KERNEL_ENUM

enum { TTS_KERNEL_INPUTS = 6, TTS_KERNEL_OUTPUTS = 3 };

/* A launch: everything that a computation needs. */
struct tts_kernel {
    enum tts_kernel_kind kind;
    struct tts_tensor in[TTS_KERNEL_INPUTS], out[TTS_KERNEL_OUTPUTS]; /* borrowed */
    unsigned ins, outs;
};

/* Launches a kernel. Its outputs are allocated already. A kernel that works in place has its
 * outputs among its inputs. */
void tts_kernel_launch(struct tts_runtime *rt, const struct tts_kernel *kernel);

/* Return one output, in bf16 and tiles, of one, two or three inputs. */
struct tts_tensor tts_kernel_1(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, struct tts_tensor a);
struct tts_tensor tts_kernel_2(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, struct tts_tensor a, struct tts_tensor b);
struct tts_tensor tts_kernel_3(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, const struct tts_tensor in[3]);
/* Returns an output with the dtype and layout of `a`. */
struct tts_tensor tts_kernel_like(struct tts_runtime *rt, enum tts_kernel_kind kind,
                                  struct tts_tensor a, struct tts_shape out);
/* Returns an output of any dtype and layout, of one input. */
struct tts_tensor tts_kernel_to(struct tts_runtime *rt, enum tts_kernel_kind kind,
                                struct tts_tensor a, struct tts_tensor like);
/* Works in place. Allocates nothing. */
void tts_kernel_in_place(struct tts_runtime *rt, enum tts_kernel_kind kind, struct tts_tensor a,
                         struct tts_tensor b);

/* Returns a tensor of zeros or ones. One allocation. */
struct tts_tensor tts_kernel_full(struct tts_runtime *rt, struct tts_shape shape,
                                  enum tts_dtype dtype);
/* Uploads a tensor from the host, in tiles: allocates it row-major on the device, tilizes it,
 * then frees the row-major buffer. Tilizes on the host if a row has at least TTS_HOST_TILIZE
 * elements. */
struct tts_tensor tts_kernel_upload(struct tts_runtime *rt, struct tts_shape shape);
enum { TTS_HOST_TILIZE = 16384 };
