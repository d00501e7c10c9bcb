#include "runtime/kernel.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

/* --- binaries --------------------------------------------------------------------------- */

static uint64_t hash_tensor(uint64_t hash, struct tts_tensor tensor)
{
    for (int i = 0; i < 4; i++)
        hash = tts_fnv1a64_u64(hash, tensor.shape.d[i]);
    return tts_fnv1a64_u64(hash, (uint64_t)tensor.dtype << 8 | (uint64_t)tensor.layout);
}

/* A program is one for each kind and all the shapes it is given. */
static uint64_t hash_program(const struct tts_kernel *kernel)
{
    uint64_t hash = tts_fnv1a64_u64(TTS_FNV1A64_INIT, (uint64_t)kernel->kind);
    for (unsigned i = 0; i < kernel->ins; i++)
        hash = hash_tensor(hash, kernel->in[i]);
    for (unsigned i = 0; i < kernel->outs; i++)
        hash = hash_tensor(hash, kernel->out[i]);
    return hash ? hash : 1;
}

static uint64_t *find_slot(uint64_t *programs, size_t capacity, uint64_t hash)
{
    size_t at = (size_t)hash & (capacity - 1);
    while (programs[at] && programs[at] != hash)
        at = (at + 1) & (capacity - 1);
    return &programs[at];
}

/* The table is half full at most. */
static bool grow_programs(struct tts_runtime *rt)
{
    if (rt->program_count * 2 < rt->program_capacity)
        return true;
    size_t capacity = rt->program_capacity ? rt->program_capacity * 2 : 256;
    uint64_t *programs = rt->alloc->alloc(rt->alloc->ctx, capacity * sizeof *programs);
    if (!programs)
        return false;
    memset(programs, 0, capacity * sizeof *programs);
    for (size_t i = 0; i < rt->program_capacity; i++)
        if (rt->programs[i])
            *find_slot(programs, capacity, rt->programs[i]) = rt->programs[i];
    if (rt->programs)
        rt->alloc->free(rt->alloc->ctx, rt->programs,
                        rt->program_capacity * sizeof *rt->programs);
    rt->programs = programs;
    rt->program_capacity = capacity;
    return true;
}

/* The first run of a program leaves its binary in DRAM. */
static void count_binary(struct tts_runtime *rt, const struct tts_kernel *kernel)
{
    if (!grow_programs(rt)) {
        tts_runtime_fail(rt, TTS_E_NOMEM, NULL);
        return;
    }
    uint64_t hash = hash_program(kernel);
    uint64_t *slot = find_slot(rt->programs, rt->program_capacity, hash);
    if (*slot)
        return;
    *slot = hash;
    rt->program_count++;
    tts_runtime_kernel_binary(rt, TTS_KERNEL_BINARY_BYTES);
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

/* --- the usual ones --------------------------------------------------------------------- */

/* Does anybody want to know? Most runs count nothing and compute nothing. */
static bool is_wanted(const struct tts_runtime *rt)
{
    return rt->kernel_binaries || rt->compute;
}

static void launch(struct tts_runtime *rt, enum tts_kernel_kind kind, struct tts_tensor out,
                   const struct tts_tensor *in, unsigned count)
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
    if (is_wanted(rt))
        launch(rt, kind, made, &a, 1);
    return made;
}

struct tts_tensor tts_kernel_2(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, struct tts_tensor a, struct tts_tensor b)
{
    struct tts_tensor made = tts_tensor_tiled(rt, out);
    if (is_wanted(rt))
        launch(rt, kind, made, (const struct tts_tensor[2]){a, b}, 2);
    return made;
}

struct tts_tensor tts_kernel_3(struct tts_runtime *rt, enum tts_kernel_kind kind,
                               struct tts_shape out, const struct tts_tensor in[3])
{
    struct tts_tensor made = tts_tensor_tiled(rt, out);
    if (is_wanted(rt))
        launch(rt, kind, made, in, 3);
    return made;
}

struct tts_tensor tts_kernel_to(struct tts_runtime *rt, enum tts_kernel_kind kind,
                                struct tts_tensor a, struct tts_tensor like)
{
    struct tts_tensor made = tts_tensor_new(rt, like.shape, like.dtype, like.layout);
    if (is_wanted(rt))
        launch(rt, kind, made, &a, 1);
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
    if (is_wanted(rt))
        launch(rt, kind, a, (const struct tts_tensor[2]){a, b}, 2);
}

struct tts_tensor tts_kernel_full(struct tts_runtime *rt, struct tts_shape shape,
                                  enum tts_dtype dtype)
{
    struct tts_tensor made = tts_tensor_new(rt, shape, dtype, TTS_LAYOUT_TILE);
    if (is_wanted(rt))
        launch(rt, TTS_KERNEL_FULL, made, NULL, 0);
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
