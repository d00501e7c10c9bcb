/* kernel.h: the programs that run on the device. Each of them allocates its output, unless it
 * works in place, and is launched. A launch counts the binary of the program, and computes the
 * output if the runtime has a `compute` function. Inputs are borrowed. The caller owns the
 * output. */
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

/* A launch of a kernel, with everything that is needed to compute its outputs. */
struct tts_kernel {
    enum tts_kernel_kind kind;
    struct tts_tensor in[TTS_KERNEL_INPUTS], out[TTS_KERNEL_OUTPUTS]; /* borrowed */
    unsigned ins, outs;
};

/* Launches a kernel. Its outputs must be allocated already. If a kernel works in place, its
 * outputs are among its inputs. */
void tts_kernel_launch(struct tts_runtime *rt, const struct tts_kernel *kernel);

/* Run a kernel with one, two or three inputs. Return its output, a new tensor in bf16 and
 * tiles. */
struct tts_tensor tts_kernel_1(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, struct tts_tensor a);
struct tts_tensor tts_kernel_2(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, struct tts_tensor a, struct tts_tensor b);
struct tts_tensor tts_kernel_3(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, const struct tts_tensor in[3]);
/* Runs a kernel with one input. Returns its output, a new tensor with the dtype and layout of
 * `a`. */
struct tts_tensor tts_kernel_like(struct tts_runtime *rt, enum tts_kernel_kind kind,
                                  struct tts_tensor a, struct tts_shape out);
/* Runs a kernel with one input. Returns its output, a new tensor with the shape, dtype and
 * layout of `like`. */
struct tts_tensor tts_kernel_to(struct tts_runtime *rt, enum tts_kernel_kind kind,
                                struct tts_tensor a, struct tts_tensor like);
/* Runs a kernel that writes its output to `a`. Allocates nothing. */
void tts_kernel_in_place(struct tts_runtime *rt, enum tts_kernel_kind kind, struct tts_tensor a,
                         struct tts_tensor b);

/* Returns a tensor that is filled with one value, such as 0 or 1. Makes one allocation. */
struct tts_tensor tts_kernel_full(struct tts_runtime *rt, struct tts_shape shape,
                                  enum tts_dtype dtype);
/* Uploads a tensor from the host and returns it in tiles. If a row has fewer than
 * TTS_HOST_TILIZE elements, the rows are uploaded to a buffer of the device, converted to tiles
 * there, and then the first buffer is freed. Otherwise the host makes the tiles. */
struct tts_tensor tts_kernel_upload(struct tts_runtime *rt, struct tts_shape shape);
enum { TTS_HOST_TILIZE = 16384 };
