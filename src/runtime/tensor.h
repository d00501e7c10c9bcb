/* tensor.h: tensors in the DRAM of a device, as handles that share their buffer.
 *
 * A handle is a plain value that owns one reference to its buffer. The buffer is freed when the
 * last handle is dropped. The first failure of a runtime is permanent (struct
 * tts_runtime.status): from then on new tensors are empty. All functions accept empty tensors,
 * so that the code of an operation only shows what it allocates, keeps and frees. One
 * thread. */
#pragma once

#include "base/hashtable.h"
#include "runtime/slab.h"
#include "runtime/workload.h"
#include "ttscope/device.h"

enum tts_dtype { TTS_DTYPE_BF16, TTS_DTYPE_FP32, TTS_DTYPE_UINT32 };
enum tts_layout { TTS_LAYOUT_TILE, TTS_LAYOUT_ROW_MAJOR };
enum { TTS_TILE_SIDE = 32 };

/* Sizes: batch, heads (or 1), rows, columns. */
struct tts_shape {
    uint64_t d[4];
};

struct tts_storage {
    struct tts_buffer buffer;
    uint32_t owners;
    enum tts_tensor_part part;
    int32_t layer;
    const char *op;                     /* operation that allocated it */
    struct tts_storage *before, *after; /* list in the order of allocation */
};

struct tts_tensor {
    struct tts_storage *storage; /* NULL: empty tensor */
    struct tts_shape shape;
    enum tts_dtype dtype;
    enum tts_layout layout;
};

struct tts_kernel; /* see kernel.h */

/* A run of a workload. All fields that tts_runtime_init() does not set are 0. */
struct tts_runtime {
    struct tts_device *device;
    const struct tts_alloc *alloc;
    const struct tts_workload_watch *watch;
    enum tts_status status; /* first failure */
    struct tts_error error;
    bool is_stopped; /* stopped without a failure, after `look` has seen the buffers */
    struct tts_slab storages;
    struct tts_storage *oldest, *newest;
    uint64_t allocations;
    int32_t layer;  /* layer of the current operation, or TTS_LAYER_NONE */
    const char *op; /* current operation */
    /* Computes a kernel whose outputs are allocated. NULL: nothing is computed. */
    void (*compute)(void *ctx, const struct tts_kernel *kernel);
    void *compute_ctx;
    bool kernel_binaries;
    uint64_t tensor_parallel; /* number of chips that share a model */
    bool reduces_whole; /* an all-reduce gathers whole tensors, as on a mesh with two axes until
                           May 2026 */
    uint64_t *programs; /* hashes of the programs that ran */
    size_t program_count, program_capacity;
    struct tts_hashtable program_table;
};

void tts_runtime_init(struct tts_runtime *rt, struct tts_device *device,
                      const struct tts_workload_watch *watch, const struct tts_alloc *alloc);
/* Frees all remaining buffers, also on the device. */
void tts_runtime_release(struct tts_runtime *rt);

/* Returns a hash of the addresses and sizes of all live buffers. */
uint64_t tts_runtime_layout(const struct tts_runtime *rt);

/* Stores the first failure. Its text is the text of `err`, or of the status if `err` is
 * NULL. */
void tts_runtime_fail(struct tts_runtime *rt, enum tts_status status,
                      const struct tts_error *err);

/* Set the current operation for the watch. Operations do not nest. `op` is constant text. */
void tts_runtime_op_begin(struct tts_runtime *rt, const char *op);
void tts_runtime_op_end(struct tts_runtime *rt);

static inline struct tts_shape tts_shape(uint64_t batch, uint64_t heads, uint64_t rows,
                                         uint64_t columns)
{
    return (struct tts_shape){{batch, heads, rows, columns}};
}
bool tts_shape_equal(struct tts_shape a, struct tts_shape b);

/* Computes the size of a shape. TILE pads rows and columns to tiles. Returns false if the size
 * exceeds 2^63 - 1. */
bool tts_shape_bytes(struct tts_shape shape, enum tts_dtype dtype, enum tts_layout layout,
                     uint64_t *out);

/* Creates a tensor. One allocation. */
struct tts_tensor tts_tensor_new(struct tts_runtime *rt, struct tts_shape shape,
                                 enum tts_dtype dtype, enum tts_layout layout);
/* Creates a tensor in bf16 and tiles, as almost all tensors are. */
struct tts_tensor tts_tensor_tiled(struct tts_runtime *rt, struct tts_shape shape);

/* Returns another handle of the same buffer. */
struct tts_tensor tts_tensor_share(struct tts_tensor tensor);
/* Drops a handle. *tensor is empty afterwards. */
void tts_tensor_drop(struct tts_runtime *rt, struct tts_tensor *tensor);
/* Sets *to to `from`, whose handle is taken. The old handle is dropped. */
void tts_tensor_replace(struct tts_runtime *rt, struct tts_tensor *to, struct tts_tensor from);

/* Returns the same elements in another shape. This is a handle of the same buffer if the
 * runtime makes a view (the last dimension is equal, and the rows stay in place), else a
 * copy. */
struct tts_tensor tts_tensor_reshape(struct tts_runtime *rt, struct tts_tensor tensor,
                                     struct tts_shape shape);

/* Sets the purpose of the buffer. Does nothing for empty tensors. */
void tts_tensor_mark(struct tts_tensor tensor, enum tts_tensor_part part);

/* Allocates a buffer for a kernel binary. It lives until the end of the run. */
void tts_runtime_kernel_binary(struct tts_runtime *rt, uint64_t bytes);
