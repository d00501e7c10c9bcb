/* tensor.h: tensors in the DRAM of a device, as handles that share their buffer.
 *
 * A handle is a plain value that owns one count of its buffer; the buffer is freed when the
 * last handle is dropped. The first failure of a runtime stays (struct tts_runtime.status):
 * from then on new tensors are empty, and every function takes empty ones, so that operations
 * read as what they allocate, keep and free. One thread. */
#pragma once

#include "base/hashtable.h"
#include "runtime/slab.h"
#include "runtime/workload.h"
#include "ttscope/device.h"

enum tts_dtype { TTS_DTYPE_BF16, TTS_DTYPE_FP32, TTS_DTYPE_UINT32 };
enum tts_layout { TTS_LAYOUT_TILE, TTS_LAYOUT_ROW_MAJOR };
enum { TTS_TILE_SIDE = 32 };

/* batch, heads (or 1), rows, columns */
struct tts_shape {
    uint64_t d[4];
};

struct tts_storage {
    struct tts_buffer buffer;
    uint32_t owners;
    enum tts_tensor_part part;
    int32_t layer;
    const char *op;                     /* that allocated it */
    struct tts_storage *before, *after; /* in the order of their allocation */
};

struct tts_tensor {
    struct tts_storage *storage; /* NULL: an empty tensor */
    struct tts_shape shape;
    enum tts_dtype dtype;
    enum tts_layout layout;
};

struct tts_kernel; /* kernel.h */

/* A run of a workload. Zeroed but for what tts_runtime_init() sets. */
struct tts_runtime {
    struct tts_device *device;
    const struct tts_alloc *alloc;
    const struct tts_workload_watch *watch;
    enum tts_status status; /* the first that failed */
    struct tts_error error;
    bool is_stopped; /* not by a failure: what was to be seen was seen */
    struct tts_slab storages;
    struct tts_storage *oldest, *newest;
    uint64_t allocations;
    int32_t layer;  /* whose operations run; TTS_LAYER_NONE */
    const char *op; /* under way */
    /* What a kernel computes, once its outputs have their place. NULL: nothing. */
    void (*compute)(void *ctx, const struct tts_kernel *kernel);
    void *compute_ctx;
    bool kernel_binaries;
    uint64_t tensor_parallel; /* chips that share a model */
    bool reduces_whole;       /* an all-reduce gathers whole tensors, as on a mesh of two axes
                                 until May 2026 */
    uint64_t *programs;       /* of those that ran: a hash each */
    size_t program_count, program_capacity;
    struct tts_hashtable program_table;
};

void tts_runtime_init(struct tts_runtime *rt, struct tts_device *device,
                      const struct tts_workload_watch *watch, const struct tts_alloc *alloc);
/* Frees every buffer that is left, on the device too. */
void tts_runtime_release(struct tts_runtime *rt);

/* Of where everything lies that lives, and how large it is: a hash. */
uint64_t tts_runtime_layout(const struct tts_runtime *rt);

/* Keeps the first failure; the text may be what `err` has, or that of the status. */
void tts_runtime_fail(struct tts_runtime *rt, enum tts_status status,
                      const struct tts_error *err);

/* What runs now, for those who watch. They do not nest. `op` is constant text. */
void tts_runtime_op_begin(struct tts_runtime *rt, const char *op);
void tts_runtime_op_end(struct tts_runtime *rt);

static inline struct tts_shape tts_shape(uint64_t batch, uint64_t heads, uint64_t rows,
                                         uint64_t columns)
{
    return (struct tts_shape){{batch, heads, rows, columns}};
}
bool tts_shape_equal(struct tts_shape a, struct tts_shape b);

/* Rows and columns are padded to tiles in TILE. False: past 2^63 - 1. */
bool tts_shape_bytes(struct tts_shape shape, enum tts_dtype dtype, enum tts_layout layout,
                     uint64_t *out);

/* One allocation. */
struct tts_tensor tts_tensor_new(struct tts_runtime *rt, struct tts_shape shape,
                                 enum tts_dtype dtype, enum tts_layout layout);
/* In bf16 and tiles, as nearly all are. */
struct tts_tensor tts_tensor_tiled(struct tts_runtime *rt, struct tts_shape shape);

/* One more handle of the same buffer. */
struct tts_tensor tts_tensor_share(struct tts_tensor tensor);
/* Gives a handle back; it is empty then. */
void tts_tensor_drop(struct tts_runtime *rt, struct tts_tensor *tensor);
/* `*to` = `from`, whose handle is taken; what was there is dropped. */
void tts_tensor_replace(struct tts_runtime *rt, struct tts_tensor *to, struct tts_tensor from);

/* The same elements in another shape: a handle of the same buffer where the runtime makes a
 * view (the last dimension is equal, and rows lie as they did), else a copy. */
struct tts_tensor tts_tensor_reshape(struct tts_runtime *rt, struct tts_tensor tensor,
                                     struct tts_shape shape);

/* From now on the buffer is for this. Empty tensors have none. */
void tts_tensor_mark(struct tts_tensor tensor, enum tts_tensor_part part);

/* A buffer that is only counted for the run: it goes with it. Bytes of a kernel binary. */
void tts_runtime_kernel_binary(struct tts_runtime *rt, uint64_t bytes);
