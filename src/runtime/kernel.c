#include "runtime/kernel.h"

#include "base/hash.h"
#include "base/heap.h"

#include <assert.h>
#include <string.h>

/* --- binaries --------------------------------------------------------------------------- */

static uint64_t hash_tensor(uint64_t hash, struct tts_tensor tensor)
{
    for (int i = 0; i < 4; i++)
        hash = tts_fnv1a64_u64(hash, tensor.shape.d[i]);
    return tts_fnv1a64_u64(hash, (uint64_t)tensor.dtype << 8 | (uint64_t)tensor.layout);
}

/* Returns a hash of a program. Two launches run the same program if their kinds, and the
 * shapes, dtypes and layouts of all tensors, are equal. */
static uint64_t hash_program(const struct tts_kernel *kernel)
{
    uint64_t hash = tts_fnv1a64_u64(TTS_FNV1A64_INIT, (uint64_t)kernel->kind);
    for (unsigned i = 0; i < kernel->ins; i++)
        hash = hash_tensor(hash, kernel->in[i]);
    for (unsigned i = 0; i < kernel->outs; i++)
        hash = hash_tensor(hash, kernel->out[i]);
    return hash;
}

static bool is_known_program(const void *programs, uint32_t place, const void *hash)
{
    return ((const uint64_t *)programs)[place] == *(const uint64_t *)hash;
}

static bool add_program(struct tts_runtime *rt, uint64_t hash)
{
    uint64_t *programs = tts_alloc_grow(rt->alloc, rt->programs, &rt->program_capacity,
                                        rt->program_count + 1, sizeof *programs);
    if (!programs)
        return false;
    rt->programs = programs;
    programs[rt->program_count] = hash;
    return tts_hashtable_add(&rt->program_table, (uint32_t)hash,
                             (uint32_t)rt->program_count++) == TTS_OK;
}

/* Allocates the binary that the first launch of a program leaves in DRAM. Does nothing for
 * later launches. */
static void count_binary(struct tts_runtime *rt, const struct tts_kernel *kernel)
{
    uint64_t hash = hash_program(kernel);
    rt->program_table.alloc = rt->alloc;
    if (tts_hashtable_find(&rt->program_table, (uint32_t)hash, is_known_program, rt->programs,
                           &hash) != TTS_HASHTABLE_NONE)
        return;
    if (add_program(rt, hash))
        tts_runtime_kernel_binary(rt, TTS_KERNEL_BINARY_BYTES);
    else
        tts_runtime_fail(rt, TTS_E_NOMEM, NULL);
}

void tts_kernel_launch(struct tts_runtime *rt, const struct tts_kernel *kernel)
{
    assert(kernel->ins <= TTS_KERNEL_INPUTS && kernel->outs <= TTS_KERNEL_OUTPUTS);
    if (rt->status != TTS_OK)
        return;
    if (rt->kernel_binaries)
        count_binary(rt, kernel);
    if (rt->compute)
        rt->compute(rt->compute_ctx, kernel);
}

/* --- common kernels --------------------------------------------------------------------- */

/* Returns true if launches have an effect. Most runs neither count binaries nor compute values,
 * so they skip all launches. */
static bool is_kernel_watched(const struct tts_runtime *rt)
{
    return rt->kernel_binaries || rt->compute;
}

static void launch_kernel(struct tts_runtime *rt, enum tts_kernel_kind kind,
                          struct tts_tensor out, const struct tts_tensor *in, unsigned count)
{
    struct tts_kernel kernel = {.kind = kind, .out = {out}, .outs = 1, .ins = count};
    if (count > 0)
        memcpy(kernel.in, in, count * sizeof *in);
    tts_kernel_launch(rt, &kernel);
}

struct tts_tensor tts_kernel_1(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, struct tts_tensor a)
{
    struct tts_tensor made = tts_tensor_tiled(rt, out);
    if (is_kernel_watched(rt))
        launch_kernel(rt, kind, made, &a, 1);
    return made;
}

struct tts_tensor tts_kernel_2(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, struct tts_tensor a, struct tts_tensor b)
{
    struct tts_tensor made = tts_tensor_tiled(rt, out);
    if (is_kernel_watched(rt))
        launch_kernel(rt, kind, made, (const struct tts_tensor[2]){a, b}, 2);
    return made;
}

struct tts_tensor tts_kernel_3(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, const struct tts_tensor in[3])
{
    struct tts_tensor made = tts_tensor_tiled(rt, out);
    if (is_kernel_watched(rt))
        launch_kernel(rt, kind, made, in, 3);
    return made;
}

struct tts_tensor tts_kernel_to(struct tts_runtime *rt, enum tts_kernel_kind kind,
                                struct tts_tensor a, struct tts_tensor like)
{
    struct tts_tensor made = tts_tensor_new(rt, like.shape, like.dtype, like.layout);
    if (is_kernel_watched(rt))
        launch_kernel(rt, kind, made, &a, 1);
    return made;
}

struct tts_tensor tts_kernel_like(struct tts_runtime *rt, enum tts_kernel_kind kind,
                                  struct tts_tensor a, struct tts_shape out)
{
    struct tts_tensor like = {NULL, out, a.dtype, a.layout};
    return tts_kernel_to(rt, kind, a, like);
}

void tts_kernel_in_place(struct tts_runtime *rt, enum tts_kernel_kind kind, struct tts_tensor a,
                         struct tts_tensor b)
{
    if (is_kernel_watched(rt))
        launch_kernel(rt, kind, a, (const struct tts_tensor[2]){a, b}, 2);
}

struct tts_tensor tts_kernel_full(struct tts_runtime *rt, struct tts_shape shape,
                                  enum tts_dtype dtype)
{
    struct tts_tensor made = tts_tensor_new(rt, shape, dtype, TTS_LAYOUT_TILE);
    if (is_kernel_watched(rt))
        launch_kernel(rt, TTS_KERNEL_FULL, made, NULL, 0);
    return made;
}

struct tts_tensor tts_kernel_upload(struct tts_runtime *rt, struct tts_shape shape)
{
    if (shape.d[3] >= TTS_HOST_TILIZE)
        return tts_tensor_tiled(rt, shape);
    struct tts_tensor rows = tts_tensor_new(rt, shape, TTS_DTYPE_BF16, TTS_LAYOUT_ROW_MAJOR);
    struct tts_tensor tiled = tts_kernel_1(rt, TTS_KERNEL_TILIZE, shape, rows);
    tts_tensor_drop(rt, &rows);
    return tiled;
}
