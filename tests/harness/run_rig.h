/* run_rig.h: runs a whole workload and observes it from outside: its phases, its operations,
 * and the sizes it allocates. */
#pragma once

#include "harness/device_rig.h"
#include "runtime/workload.h"

enum { RUN_PHASES = 16, RUN_OPS = 4096 };

struct run_phase {
    char name[40];
    int64_t peak, change, allocated;
    size_t ops; /* number of operations that began before the phase ended */
};

struct run_op {
    const char *name;
    int32_t layer;
    int64_t first; /* size of the first allocation; 0 if there is none */
};

struct run {
    int64_t live, base, peak, allocated;
    struct run_phase phases[RUN_PHASES];
    size_t phase_count;
    struct run_op ops[RUN_OPS];
    size_t op_count;
    bool in_op;
};

static inline void run_event(void *ctx, const struct tts_device_event *event)
{
    struct run *run = ctx;
    if (event->kind == TTS_DEVICE_FREE)
        run->live -= (int64_t)event->buffer->size_bytes;
    if (event->kind != TTS_DEVICE_ALLOC)
        return;
    int64_t bytes = (int64_t)event->buffer->size_bytes;
    run->live += bytes;
    run->allocated += bytes;
    if (run->live - run->base > run->peak)
        run->peak = run->live - run->base;
    if (run->in_op && run->op_count <= RUN_OPS && run->ops[run->op_count - 1].first == 0)
        run->ops[run->op_count - 1].first = bytes;
}

static inline void run_phase_end(void *ctx, const char *name)
{
    struct run *run = ctx;
    T_TRUE(run->phase_count < RUN_PHASES && strlen(name) < sizeof run->phases->name);
    struct run_phase *phase = &run->phases[run->phase_count++];
    *phase = (struct run_phase){.peak = run->peak,
                                .change = run->live - run->base,
                                .allocated = run->allocated,
                                .ops = run->op_count};
    memcpy(phase->name, name, strlen(name));
    run->base = run->live;
    run->peak = run->allocated = 0;
}

static inline void run_op_begin(void *ctx, const char *op, int32_t layer)
{
    struct run *run = ctx;
    T_TRUE(!run->in_op && run->op_count < RUN_OPS);
    run->ops[run->op_count++] = (struct run_op){op, layer, 0};
    run->in_op = true;
}

static inline void run_op_end(void *ctx)
{
    struct run *run = ctx;
    T_TRUE(run->in_op);
    run->in_op = false;
}

/* Runs the workload and checks that no memory is left. The caller provides *run, because the
 * struct is large. */
static inline void run_whole(struct run *run, const struct tts_workload *workload)
{
    memset(run, 0, sizeof *run);
    struct tts_device_config config = {.mode = TTS_MODE_NO_DISPATCH,
                                       .observer = {run_event, run}};
    struct tts_device *device = device_on(chip_of("n150"), config, NULL);
    struct tts_workload_watch watch = {
        .ctx = run, .phase = run_phase_end, .op_begin = run_op_begin, .op_end = run_op_end};
    struct tts_error err = {0};
    if (tts_workload_run(workload, device, &watch, NULL, &err) != TTS_OK)
        fail_msg("it does not run: %s", err.text);
    T_EQ(run->live, 0);
    tts_device_free(device);
}

static inline const struct run_phase *phase_of(const struct run *run, const char *name)
{
    for (size_t i = 0; i < run->phase_count; i++)
        if (strcmp(run->phases[i].name, name) == 0)
            return &run->phases[i];
    fail_msg("no phase %s", name);
    return NULL;
}

/* --- sizes ------------------------------------------------------------------------------- */

/* The sizes of a model on one chip, without tensor parallelism. Their names are the symbols of
 * the published rules. */
struct sizes {
    int64_t b, s, e, h, d, l;
    int64_t u, n, a, m, kv, f, lg, id, lse, t, g;
    /* The sizes of weights: of E x E, of kv, of one matrix of the MLP, of a table of tokens. */
    int64_t w_e, w_kv, w_f, emb;
    int64_t p; /* the size of all parameters */
};

static inline struct sizes sizes_of(const struct tts_workload *workload)
{
    const struct tts_model_config *m = &workload->model;
    bool is_llama = m->family == TTS_FAMILY_LLAMA;
    int64_t b = (int64_t)workload->batch, s = (int64_t)m->sequence, e = (int64_t)m->width;
    int64_t h = (int64_t)m->heads, d = e / h, f = (int64_t)m->mlp_width, l = (int64_t)m->blocks;
    int64_t v = ((int64_t)m->vocabulary + 31) / 32 * 32, gd = (int64_t)m->groups * d;
    struct sizes z = {.b = b, .s = s, .e = e, .h = h, .d = d, .l = l};
    z.u = 2 * b * s * e;
    z.n = 64 * b * s;
    z.a = 2 * b * h * s * s;
    z.m = 2 * s * s;
    z.kv = 2 * b * s * 2 * gd;
    z.f = 2 * b * s * f;
    z.lg = 2 * b * s * v;
    z.id = 4 * b * s;
    z.lse = 4 * b * h * s * 32;
    z.t = 2048;
    z.g = 64 * e;
    z.w_e = 2 * e * e;
    z.w_kv = 2 * e * 2 * gd;
    z.w_f = 2 * e * f;
    z.emb = 2 * v * e;
    int64_t tables = (m->tied ? 1 : 2) * z.emb;
    if (is_llama)
        z.p = tables + l * (4 * e * e + 4 * e * gd + 6 * e * f + 128 * e) + 64 * e;
    else
        z.p = tables + (m->fixed_positions ? 0 : 2 * s * e) + l * (24 * e * e + 832 * e) +
              128 * e;
    return z;
}

/* Returns a model with two blocks in which no two sizes are equal. */
static inline struct tts_workload small_llama(enum tts_recipe recipe)
{
    return (struct tts_workload){.model = {.family = TTS_FAMILY_LLAMA,
                                           .blocks = 2,
                                           .width = 1280,
                                           .heads = 8,
                                           .groups = 2,
                                           .mlp_width = 352,
                                           .sequence = 224,
                                           .vocabulary = 250},
                                 .recipe = recipe,
                                 .optimizer = {.kind = TTS_OPTIMIZER_ADAMW},
                                 .batch = 3,
                                 .accumulate = 1,
                                 .tensor_parallel = 1,
                                 .data_parallel = 1};
}

static inline struct tts_workload small_gpt2(enum tts_recipe recipe)
{
    struct tts_workload workload = small_llama(recipe);
    workload.model.family = TTS_FAMILY_GPT2;
    workload.model.groups = workload.model.heads;
    workload.model.mlp_width = 4 * workload.model.width;
    return workload;
}
