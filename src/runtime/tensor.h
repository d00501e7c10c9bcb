/* tensor.h: tensors in the DRAM of a device, as handles that share a buffer.
 *
 * A handle is a plain value that owns one reference to its buffer. When the last handle is
 * dropped, the buffer is freed. The first failure of a runtime is permanent
 * (tts_runtime.status): from then on, new tensors are empty. All functions accept empty
 * tensors, so the code of an operation needs no error handling: it shows only which tensors it
 * allocates, keeps and frees. One thread at a time. */
#pragma once

#include "base/hashtable.h"
#include "runtime/slab.h"
#include "runtime/workload.h"
#include "ttscope/device.h"

enum tts_dtype { TTS_DTYPE_BF16, TTS_DTYPE_FP32, TTS_DTYPE_UINT32 };
enum tts_layout { TTS_LAYOUT_TILE, TTS_LAYOUT_ROW_MAJOR };
enum { TTS_TILE_SIDE = 32 };

/* The four sizes of a tensor: batch, heads (or 1), rows, columns. */
struct tts_shape {
    uint64_t d[4];
};

struct tts_storage {
    struct tts_buffer buffer;
    uint32_t owners;
    enum tts_tensor_part part;
    int32_t layer;
    const char *op;                     /* name of the operation that allocated the buffer */
    struct tts_storage *before, *after; /* neighbours in the list of live buffers, by age */
};

struct tts_tensor {
    struct tts_storage *storage; /* NULL if the tensor is empty */
    struct tts_shape shape;
    enum tts_dtype dtype;
    enum tts_layout layout;
};

struct tts_kernel; /* see kernel.h */

/* The state of one run of a workload. tts_runtime_init() sets some fields and zeroes the
 * others. */
struct tts_runtime {
    struct tts_device *device;
    const struct tts_alloc *alloc;
    const struct tts_workload_watch *watch;
    enum tts_status status; /* the first failure, or TTS_OK */
    struct tts_error error;
    bool is_stopped; /* the run ended without a failure, because `look` has seen the buffers */
    struct tts_slab storages;
    struct tts_storage *oldest, *newest;
    uint64_t allocations;
    int32_t layer;  /* layer of the current operation, or TTS_LAYER_NONE */
    const char *op; /* name of the current operation */
    /* Computes the outputs of a kernel, which are allocated. NULL: values are not computed. */
    void (*compute)(void *ctx, const struct tts_kernel *kernel);
    void *compute_ctx;
    bool kernel_binaries;
    uint64_t tensor_parallel; /* number of chips that share one model */
    bool reduces_whole; /* an all-reduce gathers whole tensors, as it did until May 2026 on a
                           mesh with two axes */
    uint64_t *programs; /* hashes of the programs that have run */
    size_t program_count, program_capacity;
    struct tts_hashtable program_table;
};

void tts_runtime_init(struct tts_runtime *rt, struct tts_device *device,
                      const struct tts_workload_watch *watch, const struct tts_alloc *alloc);
/* Frees all remaining buffers, on the device and in memory. */
void tts_runtime_release(struct tts_runtime *rt);

/* Returns a hash of the addresses and sizes of all live buffers. */
uint64_t tts_runtime_layout(const struct tts_runtime *rt);

/* Stores a failure, if it is the first one. Its text is the text of `err`; if `err` is NULL, it
 * is the text of the status. */
void tts_runtime_fail(struct tts_runtime *rt, enum tts_status status,
                      const struct tts_error *err);

/* Set the current operation for the watch. Operations do not nest. `op` must be constant
 * text. */
void tts_runtime_op_begin(struct tts_runtime *rt, const char *op);
void tts_runtime_op_end(struct tts_runtime *rt);

static inline struct tts_shape tts_shape(uint64_t batch, uint64_t heads, uint64_t rows,
                                         uint64_t columns)
{
    return (struct tts_shape){{batch, heads, rows, columns}};
}
bool tts_shape_equal(struct tts_shape a, struct tts_shape b);

/* Computes the bytes of a tensor. In the layout TILE, rows and columns are padded to whole
 * tiles. Returns false if there are more than 2^63 - 1 bytes. */
bool tts_shape_bytes(struct tts_shape shape, enum tts_dtype dtype, enum tts_layout layout,
                     uint64_t *out);

/* Creates a tensor, with one allocation on the device. Returns an empty tensor after a
 * failure. */
struct tts_tensor tts_tensor_new(struct tts_runtime *rt, struct tts_shape shape,
                                 enum tts_dtype dtype, enum tts_layout layout);
/* Like tts_tensor_new(), in bf16 and tiles, as almost all tensors are. */
struct tts_tensor tts_tensor_tiled(struct tts_runtime *rt, struct tts_shape shape);

/* Returns another handle to the same buffer. */
struct tts_tensor tts_tensor_share(struct tts_tensor tensor);
/* Drops a handle and empties *tensor. The last handle frees the buffer. */
void tts_tensor_drop(struct tts_runtime *rt, struct tts_tensor *tensor);
/* Sets *to to `from` and takes over its handle. Then drops the old handle of *to. */
void tts_tensor_replace(struct tts_runtime *rt, struct tts_tensor *to, struct tts_tensor from);

/* Returns the same elements in another shape. The result is a handle to the same buffer if the
 * modelled runtime would make a view (the last dimension is equal, and the rows stay in place).
 * Otherwise it is a copy. */
struct tts_tensor tts_tensor_reshape(struct tts_runtime *rt, struct tts_tensor tensor,
                                     struct tts_shape shape);

/* Sets the purpose of the tensor's buffer. Does nothing for an empty tensor. */
void tts_tensor_mark(struct tts_tensor tensor, enum tts_tensor_part part);

/* Allocates a buffer for a kernel binary. The buffer lives until the end of the run. */
void tts_runtime_kernel_binary(struct tts_runtime *rt, uint64_t bytes);
