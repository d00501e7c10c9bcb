#include "runtime/tensor.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/heap.h"
#include "runtime/kernel.h"

#include <assert.h>
#include <string.h>

/* --- the run ---------------------------------------------------------------------------- */

void tts_runtime_init(struct tts_runtime *rt, struct tts_device *device,
                      const struct tts_workload_watch *watch, const struct tts_alloc *alloc)
{
    *rt = (struct tts_runtime){.device = device,
                               .alloc = alloc ? alloc : tts_alloc_libc(),
                               .watch = watch,
                               .layer = TTS_LAYER_NONE,
                               .tensor_parallel = 1};
    tts_slab_init(&rt->storages, rt->alloc, sizeof(struct tts_storage));
}

void tts_runtime_fail(struct tts_runtime *rt, enum tts_status status,
                      const struct tts_error *err)
{
    assert(status != TTS_OK);
    if (rt->status != TTS_OK)
        return;
    rt->status = status;
    if (err && err->status == status)
        rt->error = *err;
    else
        tts_error_set(&rt->error, status, "%s", tts_error_cause(status));
}

void tts_runtime_op_begin(struct tts_runtime *rt, const char *op)
{
    assert(!rt->op);
    rt->op = op;
    if (rt->watch && rt->watch->op_begin)
        rt->watch->op_begin(rt->watch->ctx, op, rt->layer);
}

void tts_runtime_op_end(struct tts_runtime *rt)
{
    assert(rt->op);
    rt->op = NULL;
    if (rt->watch && rt->watch->op_end)
        rt->watch->op_end(rt->watch->ctx);
}

uint64_t tts_runtime_layout(const struct tts_runtime *rt)
{
    uint64_t hash = TTS_FNV1A64_INIT;
    for (const struct tts_storage *s = rt->oldest; s; s = s->after) {
        hash = tts_fnv1a64_u64(hash, s->buffer.address);
        hash = tts_fnv1a64_u64(hash, s->buffer.size_bytes);
    }
    return hash;
}

/* --- buffers ---------------------------------------------------------------------------- */

/* Reports all live buffers to `look` and stops the run: later allocations fail. */
static void tell_live_storages(struct tts_runtime *rt)
{
    for (const struct tts_storage *s = rt->oldest; s; s = s->after) {
        struct tts_part_buffer live = {s->buffer.id, s->buffer.size_bytes, s->part, s->layer,
                                       s->op};
        rt->watch->look(rt->watch->ctx, &live);
    }
    rt->is_stopped = rt->status == TTS_OK;
    rt->status = TTS_E_BUSY;
}

static void enlist_storage(struct tts_runtime *rt, struct tts_storage *storage,
                           enum tts_tensor_part part)
{
    storage->owners = 1;
    storage->part = part;
    storage->layer = part == TTS_PART_KERNELS ? TTS_LAYER_NONE : rt->layer;
    storage->op = rt->op ? rt->op : "";
    storage->before = rt->newest;
    if (rt->newest)
        rt->newest->after = storage;
    else
        rt->oldest = storage;
    rt->newest = storage;
    rt->allocations++;
    if (rt->watch && rt->watch->look && rt->watch->look_at == rt->allocations)
        tell_live_storages(rt);
}

static void discard_storage(struct tts_runtime *rt, struct tts_storage *storage)
{
    *(storage->before ? &storage->before->after : &rt->oldest) = storage->after;
    *(storage->after ? &storage->after->before : &rt->newest) = storage->before;
    enum tts_status status = tts_device_release(rt->device, &storage->buffer);
    assert(status == TTS_OK || status == TTS_E_NOMEM); /* the device knows all its buffers */
    if (status != TTS_OK)
        tts_runtime_fail(rt, status, NULL);
    tts_slab_give(&rt->storages, storage);
}

/* Returns a new buffer on the device, or NULL after a failure of the run. */
static struct tts_storage *take_storage(struct tts_runtime *rt,
                                        const struct tts_request *request,
                                        enum tts_tensor_part part)
{
    if (rt->status != TTS_OK)
        return NULL;
    struct tts_error err = {0};
    struct tts_storage *storage = tts_slab_take(&rt->storages);
    enum tts_status status = TTS_E_NOMEM;
    if (storage && part == TTS_PART_KERNELS)
        status =
            tts_device_alloc_kernel(rt->device, request->size_bytes, &storage->buffer, &err);
    else if (storage)
        status = tts_device_alloc(rt->device, request, &storage->buffer, &err);
    if (status == TTS_OK) {
        enlist_storage(rt, storage, part);
        return storage;
    }
    if (storage)
        tts_slab_give(&rt->storages, storage);
    tts_runtime_fail(rt, status, &err);
    return NULL;
}

void tts_runtime_kernel_binary(struct tts_runtime *rt, uint64_t bytes)
{
    struct tts_request request = {.size_bytes = bytes};
    take_storage(rt, &request, TTS_PART_KERNELS);
}

void tts_runtime_release(struct tts_runtime *rt)
{
    while (rt->newest)
        discard_storage(rt, rt->newest);
    tts_slab_release(&rt->storages);
    if (rt->programs)
        rt->alloc->free(rt->alloc->ctx, rt->programs,
                        rt->program_capacity * sizeof *rt->programs);
    rt->programs = NULL;
    tts_hashtable_release(&rt->program_table);
}

/* --- shapes ----------------------------------------------------------------------------- */

bool tts_shape_equal(struct tts_shape a, struct tts_shape b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static uint64_t element_bytes(enum tts_dtype dtype)
{
    return dtype == TTS_DTYPE_BF16 ? 2 : 4;
}

static bool round_to_tile(uint64_t *value)
{
    if (*value > UINT64_MAX - (TTS_TILE_SIDE - 1))
        return false;
    *value = (*value + TTS_TILE_SIDE - 1) / TTS_TILE_SIDE * TTS_TILE_SIDE;
    return true;
}

bool tts_shape_bytes(struct tts_shape shape, enum tts_dtype dtype, enum tts_layout layout,
                     uint64_t *out)
{
    uint64_t bytes = element_bytes(dtype);
    if (layout == TTS_LAYOUT_TILE &&
        (!round_to_tile(&shape.d[2]) || !round_to_tile(&shape.d[3])))
        return false;
    for (int i = 0; i < 4; i++)
        if (__builtin_mul_overflow(bytes, shape.d[i], &bytes))
            return false;
    *out = bytes;
    return bytes <= INT64_MAX;
}

/* --- tensors ---------------------------------------------------------------------------- */

struct tts_tensor tts_tensor_new(struct tts_runtime *rt, struct tts_shape shape,
                                 enum tts_dtype dtype, enum tts_layout layout)
{
    struct tts_tensor tensor = {NULL, shape, dtype, layout};
    struct tts_request request = {.pool = TTS_POOL_DRAM};
    if (!tts_shape_bytes(shape, dtype, layout, &request.size_bytes)) {
        tts_runtime_fail(rt, TTS_E_RANGE, NULL);
        return tensor;
    }
    request.page_bytes =
        element_bytes(dtype) *
        (layout == TTS_LAYOUT_TILE ? TTS_TILE_SIDE * TTS_TILE_SIDE : shape.d[3]);
    tensor.storage = take_storage(rt, &request, TTS_PART_TEMPORARIES);
    return tensor;
}

struct tts_tensor tts_tensor_tiled(struct tts_runtime *rt, struct tts_shape shape)
{
    return tts_tensor_new(rt, shape, TTS_DTYPE_BF16, TTS_LAYOUT_TILE);
}

struct tts_tensor tts_tensor_share(struct tts_tensor tensor)
{
    if (tensor.storage)
        tensor.storage->owners++;
    return tensor;
}

void tts_tensor_drop(struct tts_runtime *rt, struct tts_tensor *tensor)
{
    struct tts_storage *storage = tensor->storage;
    tensor->storage = NULL;
    if (!storage)
        return;
    assert(storage->owners > 0);
    if (--storage->owners == 0)
        discard_storage(rt, storage);
}

void tts_tensor_replace(struct tts_runtime *rt, struct tts_tensor *to, struct tts_tensor from)
{
    struct tts_tensor old = *to;
    *to = from;
    tts_tensor_drop(rt, &old);
}

static bool reshape_is_view(struct tts_tensor tensor, struct tts_shape shape)
{
    uint64_t before = tensor.shape.d[2], after = shape.d[2];
    if (tensor.shape.d[3] != shape.d[3])
        return false;
    return tensor.layout == TTS_LAYOUT_ROW_MAJOR || before == after ||
           (before % TTS_TILE_SIDE == 0 && after % TTS_TILE_SIDE == 0);
}

struct tts_tensor tts_tensor_reshape(struct tts_runtime *rt, struct tts_tensor tensor,
                                     struct tts_shape shape)
{
    if (!reshape_is_view(tensor, shape))
        return tts_kernel_like(rt, TTS_KERNEL_RESHAPE, tensor, shape);
    struct tts_tensor view = tts_tensor_share(tensor);
    view.shape = shape;
    return view;
}

void tts_tensor_mark(struct tts_tensor tensor, enum tts_tensor_part part)
{
    if (tensor.storage)
        tensor.storage->part = part;
}
