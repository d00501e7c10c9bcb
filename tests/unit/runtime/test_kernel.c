/* Tests the programs on the device: their allocations, their binaries, and the function that
 * computes values. */
#include "runtime/kernel.h"

#include "harness/runtime_rig.h"
#include "runtime/ops.h"

enum { BINARY = TTS_KERNEL_BINARY_BYTES };

static const struct tts_shape shape_u = SHAPE_U, shape_f = SHAPE_F;

/* --- uploads, rule 10 ------------------------------------------------------------------- */

static struct tts_tensor uploaded(struct rig *rig, struct tts_shape shape)
{
    rig_look(rig);
    struct tts_tensor x = tts_kernel_upload(&rig->ag.rt, shape);
    T_TRUE(x.layout == TTS_LAYOUT_TILE && tts_shape_equal(x.shape, shape));
    return x;
}

T_TEST(an_upload_lies_in_rows_first_unless_they_are_long)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_tensor x = uploaded(&rig, tts_shape(1, 1, 3, 16383));
    T_ROW(&rig, +2 * 3 * 16383, +2 * 32 * 16384, -2 * 3 * 16383);
    tts_tensor_drop(&rig.ag.rt, &x);
    x = uploaded(&rig, tts_shape(1, 1, 3, 16384));
    T_ROW(&rig, +2 * 32 * 16384);
    tts_tensor_drop(&rig.ag.rt, &x);
    x = uploaded(&rig, tts_shape(1, 1, 1, WIDTH));
    T_ROW(&rig, +2 * WIDTH, +G, -2 * WIDTH);
    tts_tensor_drop(&rig.ag.rt, &x);
    rig_close(&rig);
}

T_TEST(ids_are_one_buffer_of_rows_and_ones_one_of_tiles)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_value *ids = ids_value(&rig, tts_shape(BATCH, 1, 1, SEQUENCE));
    T_ROW(&rig, +ID);
    struct tts_tensor ones =
        tts_kernel_full(&rig.ag.rt, tts_shape(1, 1, 1, WIDTH), TTS_DTYPE_BF16);
    T_ROW(&rig, +G);
    tts_tensor_drop(&rig.ag.rt, &ones);
    tts_value_drop(&rig.ag, ids);
    rig_close(&rig);
}

/* --- binaries, rule 11 ------------------------------------------------------------------ */

T_TEST(the_first_run_of_a_program_leaves_a_binary_behind_its_output)
{
    struct rig rig;
    rig_open(&rig);
    rig.ag.rt.kernel_binaries = true;
    rig.ag.gradients = false;
    struct tts_value *x = tiled_value(&rig, shape_f), *wide = tiled_value(&rig, shape_u);
    rig_look(&rig);
    struct tts_value *out = tts_op_gelu(&rig.ag, x);
    T_ROW(&rig, +F, +BINARY);
    tts_value_replace(&rig.ag, &out, tts_op_gelu(&rig.ag, x)); /* the same program runs again */
    T_ROW(&rig, +F, -F);
    tts_value_replace(&rig.ag, &out, tts_op_silu(&rig.ag, x)); /* a program of another kind */
    T_ROW(&rig, +F, +BINARY, -F);
    /* A program with other shapes. */
    tts_value_replace(&rig.ag, &out, tts_op_gelu(&rig.ag, wide));
    T_ROW(&rig, +U, +BINARY, -F);
    tts_value_drop(&rig.ag, out);
    tts_value_drop(&rig.ag, x);
    tts_value_drop(&rig.ag, wide);
    tts_autograd_reset(&rig.ag);
    T_EQ(rig.live, 3 * BINARY); /* the binaries stay until the end of the run */
    tts_autograd_release(&rig.ag);
    T_EQ(rig.live, 0);
    tts_device_free(rig.device);
}

T_TEST(programs_differ_in_dtype_layout_and_in_every_dimension)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_runtime *rt = &rig.ag.rt;
    rt->kernel_binaries = true;
    struct tts_tensor x = tts_tensor_tiled(rt, shape_f);
    int64_t programs = 0;
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < 4; i++) {
            struct tts_shape shape = shape_f;
            shape.d[i] *= 2;
            struct tts_tensor y = tts_kernel_1(rt, TTS_KERNEL_SUM, shape, x);
            tts_tensor_drop(rt, &y);
        }
    programs += 4;
    T_EQ(rig.live, F + programs * BINARY);
    struct tts_tensor like = {NULL, shape_f, TTS_DTYPE_BF16, TTS_LAYOUT_TILE};
    for (int i = 0; i < 3; i++) {
        struct tts_tensor y = tts_kernel_to(rt, TTS_KERNEL_TYPECAST, x, like);
        tts_tensor_drop(rt, &y);
        like.dtype = TTS_DTYPE_FP32;
        like.layout = i == 0 ? TTS_LAYOUT_TILE : TTS_LAYOUT_ROW_MAJOR;
    }
    programs += 3;
    T_EQ(rig.live, F + programs * BINARY);
    tts_kernel_in_place(rt, TTS_KERNEL_ADD, x, x);
    tts_kernel_in_place(rt, TTS_KERNEL_ADD, x, x);
    programs += 1;
    T_EQ(rig.live, F + programs * BINARY);
    tts_tensor_drop(rt, &x);
    tts_autograd_release(&rig.ag);
    tts_device_free(rig.device);
}

T_TEST(many_programs_are_each_counted_once)
{
    enum { MANY = 1500 };
    struct rig rig;
    rig_open(&rig);
    struct tts_runtime *rt = &rig.ag.rt;
    rt->kernel_binaries = true;
    for (int twice = 0; twice < 2; twice++) {
        for (uint64_t i = 1; i <= MANY; i++) {
            struct tts_tensor x = tts_kernel_full(rt, tts_shape(1, 1, 1, i), TTS_DTYPE_BF16);
            tts_tensor_drop(rt, &x);
        }
        T_EQ(rig.live, MANY * BINARY);
    }
    tts_autograd_release(&rig.ag);
    T_EQ(rig.live, 0);
    tts_device_free(rig.device);
}

T_TEST(without_the_option_there_are_no_binaries)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_tensor x = tts_kernel_full(&rig.ag.rt, shape_f, TTS_DTYPE_BF16);
    T_ROW(&rig, +F);
    T_EQ(rig.ag.rt.program_count, 0);
    tts_tensor_drop(&rig.ag.rt, &x);
    rig_close(&rig);
}

/* --- the place of computation ----------------------------------------------------------- */

struct computed {
    unsigned launches;
    enum tts_kernel_kind kind;
    unsigned ins, outs;
    bool have_outputs;
};

static void compute(void *ctx, const struct tts_kernel *kernel)
{
    struct computed *computed = ctx;
    computed->launches++;
    computed->kind = kernel->kind;
    computed->ins = kernel->ins;
    computed->outs = kernel->outs;
    computed->have_outputs = true;
    for (unsigned i = 0; i < kernel->outs; i++)
        if (!kernel->out[i].storage)
            computed->have_outputs = false;
}

T_TEST(a_kernel_computes_once_its_outputs_have_their_place)
{
    struct rig rig;
    struct computed computed = {0};
    rig_open(&rig);
    rig.ag.rt.compute = compute;
    rig.ag.rt.compute_ctx = &computed;
    struct tts_value *x = tiled_value(&rig, shape_u);
    struct tts_value *gamma = tiled_value(&rig, tts_shape(1, 1, 1, WIDTH));
    struct tts_value *out = tts_op_layernorm(&rig.ag, x, gamma, gamma);
    T_TRUE(computed.launches == 1 && computed.kind == TTS_KERNEL_LAYERNORM);
    T_TRUE(computed.ins == 3 && computed.outs == 3 && computed.have_outputs);
    tts_runtime_fail(&rig.ag.rt, TTS_E_FULL, NULL);
    struct tts_value *none = tts_op_gelu(&rig.ag, out);
    T_EQ(computed.launches, 1); /* after a failure no kernel is launched */
    tts_value_drop(&rig.ag, none);
    tts_value_drop(&rig.ag, out);
    tts_value_drop(&rig.ag, x);
    tts_value_drop(&rig.ag, gamma);
    tts_autograd_release(&rig.ag);
    T_EQ(rig.live, 0);
    tts_device_free(rig.device);
}
