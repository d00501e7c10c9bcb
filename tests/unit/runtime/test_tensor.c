/* Tests the sizes of tensors, handles that share a buffer, views, and the report of live
 * buffers. */
#include "harness/runtime_rig.h"

static const struct tts_shape odd = {{3, 2, 33, 65}};
enum {
    ODD_TILED = 2 * 3 * 2 * 64 * 96,
    ODD_ROWS = 2 * 3 * 2 * 33 * 65,
};

/* --- sizes ------------------------------------------------------------------------------ */

static uint64_t bytes_of(struct tts_shape shape, enum tts_dtype dtype, enum tts_layout layout)
{
    uint64_t bytes = 0;
    T_TRUE(tts_shape_bytes(shape, dtype, layout, &bytes));
    return bytes;
}

T_TEST(tiles_are_padded_in_rows_and_columns_alone)
{
    T_EQ(bytes_of(odd, TTS_DTYPE_BF16, TTS_LAYOUT_TILE), ODD_TILED);
    T_EQ(bytes_of(odd, TTS_DTYPE_BF16, TTS_LAYOUT_ROW_MAJOR), ODD_ROWS);
    T_EQ(bytes_of(odd, TTS_DTYPE_FP32, TTS_LAYOUT_TILE), 2 * ODD_TILED);
    T_EQ(bytes_of(odd, TTS_DTYPE_UINT32, TTS_LAYOUT_ROW_MAJOR), 2 * ODD_ROWS);
    T_EQ(bytes_of(tts_shape(1, 1, 1, 1), TTS_DTYPE_BF16, TTS_LAYOUT_TILE), T);
    T_EQ(bytes_of(tts_shape(BATCH, 1, SEQUENCE, 1), TTS_DTYPE_BF16, TTS_LAYOUT_TILE), N);
    T_EQ(bytes_of(tts_shape(1, 1, 1, WIDTH), TTS_DTYPE_BF16, TTS_LAYOUT_TILE), G);
}

T_TEST(sizes_past_63_bits_are_refused)
{
    uint64_t bytes = 77, side = UINT64_C(1) << 31;
    T_EQ(bytes_of(tts_shape(1, 1, side, side / 4), TTS_DTYPE_BF16, TTS_LAYOUT_TILE), UINT64_C(1)
                                                                                         << 61);
    T_TRUE(!tts_shape_bytes(tts_shape(1, 1, side, side), TTS_DTYPE_BF16, TTS_LAYOUT_TILE,
                            &bytes)); /* the size would be 2^63 */
    T_TRUE(!tts_shape_bytes(tts_shape(8, 1, side, side), TTS_DTYPE_BF16, TTS_LAYOUT_TILE,
                            &bytes)); /* the size would be 2^66 */
    T_TRUE(!tts_shape_bytes(tts_shape(1, 1, 1, UINT64_MAX), TTS_DTYPE_BF16, TTS_LAYOUT_TILE,
                            &bytes)); /* the padding would overflow */
    struct rig rig;
    rig_open(&rig);
    struct tts_tensor none = tts_tensor_tiled(&rig.ag.rt, tts_shape(1, 1, side, side));
    T_TRUE(none.storage == NULL && rig.ag.rt.status == TTS_E_RANGE);
    T_QUIET(&rig);
    tts_autograd_release(&rig.ag);
    tts_device_free(rig.device);
}

T_TEST(a_page_is_a_tile_or_a_row)
{
    struct tts_device *device = device_of("n150");
    struct tts_runtime rt;
    tts_runtime_init(&rt, device, NULL, NULL);
    struct tts_tensor tiled = tts_tensor_tiled(&rt, tts_shape(1, 1, 32, 13 * 32));
    T_EQ(tiled.storage->buffer.bytes_per_bank, 2 * T); /* 13 pages are on 12 banks */
    struct tts_tensor wide =
        tts_tensor_new(&rt, tts_shape(1, 1, 1, 1), TTS_DTYPE_FP32, TTS_LAYOUT_TILE);
    T_EQ(wide.storage->buffer.bytes_per_bank, 2 * T);
    struct tts_tensor rows =
        tts_tensor_new(&rt, tts_shape(1, 1, 25, 100), TTS_DTYPE_BF16, TTS_LAYOUT_ROW_MAJOR);
    /* 25 rows are on 12 banks; 200 bytes are rounded up to 224. */
    T_EQ(rows.storage->buffer.bytes_per_bank, 3 * 224);
    tts_runtime_release(&rt);
    T_EQ(stats_of(device, TTS_POOL_DRAM).buffers, 0);
    tts_device_free(device);
}

/* --- handles ---------------------------------------------------------------------------- */

T_TEST(a_shared_buffer_goes_with_its_last_handle) /* rule 7 */
{
    struct rig rig;
    rig_open(&rig);
    struct tts_tensor a = tts_tensor_tiled(&rig.ag.rt, odd);
    T_ROW(&rig, +ODD_TILED);
    struct tts_tensor b = tts_tensor_share(a), c = tts_tensor_share(b);
    tts_tensor_drop(&rig.ag.rt, &a);
    T_TRUE(a.storage == NULL && b.storage != NULL);
    tts_tensor_drop(&rig.ag.rt, &a); /* an empty tensor may be dropped */
    tts_tensor_drop(&rig.ag.rt, &c);
    T_QUIET(&rig);
    tts_tensor_drop(&rig.ag.rt, &b);
    T_ROW(&rig, -ODD_TILED);
    rig_close(&rig);
}

T_TEST(replacing_drops_the_old_buffer_behind_the_new) /* rule 6 */
{
    struct rig rig;
    rig_open(&rig);
    struct tts_tensor x = tts_tensor_tiled(&rig.ag.rt, tts_shape(1, 1, 1, 1));
    struct tts_tensor same = tts_tensor_share(x);
    tts_tensor_replace(&rig.ag.rt, &x, tts_tensor_tiled(&rig.ag.rt, odd));
    T_ROW(&rig, +T, +ODD_TILED);
    /* A tensor may be replaced by itself. */
    tts_tensor_replace(&rig.ag.rt, &x, tts_tensor_share(x));
    T_QUIET(&rig);
    tts_tensor_replace(&rig.ag.rt, &x, same);
    T_ROW(&rig, -ODD_TILED);
    tts_tensor_replace(&rig.ag.rt, &x, (struct tts_tensor){0});
    T_ROW(&rig, -T);
    rig_close(&rig);
}

/* --- rule 5 ----------------------------------------------------------------------------- */

struct reshape_case {
    struct tts_shape from, to;
    enum tts_layout layout;
    bool is_view;
};

T_TEST(reshape_is_a_view_where_rows_lie_as_they_did)
{
    static const struct reshape_case cases[] = {
        /* Copy, because the last dimension differs. */
        {{{1, 1, 64, 96}}, {{1, 1, 96, 64}}, TTS_LAYOUT_TILE, false},
        {{{1, 1, 64, 96}}, {{1, 1, 96, 64}}, TTS_LAYOUT_ROW_MAJOR, false},
        {{{1, 1, 1, 96}}, {{1, 1, 96, 1}}, TTS_LAYOUT_ROW_MAJOR, false},
        /* View, because the tensors are row-major. */
        {{{1, 3, 5, 96}}, {{1, 1, 15, 96}}, TTS_LAYOUT_ROW_MAJOR, true},
        /* View, because the second-last dimension is equal. It need not be a multiple of 32. */
        {{{2, 3, 5, 96}}, {{1, 6, 5, 96}}, TTS_LAYOUT_TILE, true},
        {{{2, 3, 64, 96}}, {{1, 6, 64, 96}}, TTS_LAYOUT_TILE, true},
        /* View, because both second-last dimensions are multiples of 32. */
        {{{2, 3, 64, 96}}, {{1, 1, 384, 96}}, TTS_LAYOUT_TILE, true},
        {{{1, 1, 384, 7}}, {{2, 3, 64, 7}}, TTS_LAYOUT_TILE, true},
        /* Copy, because one second-last dimension is not a multiple of 32. */
        {{{32, 1, 5, 96}}, {{1, 1, 160, 96}}, TTS_LAYOUT_TILE, false},
        {{{1, 1, 160, 96}}, {{32, 1, 5, 96}}, TTS_LAYOUT_TILE, false},
        {{{2, 1, 48, 96}}, {{1, 2, 24, 192}}, TTS_LAYOUT_TILE, false},
        {{{1, 2, 48, 96}}, {{1, 4, 24, 96}}, TTS_LAYOUT_TILE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct reshape_case *c = &cases[i];
        struct rig rig;
        rig_open(&rig);
        struct tts_runtime *rt = &rig.ag.rt;
        struct tts_tensor x = tts_tensor_new(rt, c->from, TTS_DTYPE_BF16, c->layout);
        rig_look(&rig);
        struct tts_tensor y = tts_tensor_reshape(rt, x, c->to);
        T_TRUE(tts_shape_equal(y.shape, c->to) && y.layout == c->layout);
        T_EQ(y.storage == x.storage, c->is_view);
        int64_t bytes = (int64_t)bytes_of(c->to, TTS_DTYPE_BF16, c->layout);
        T_EQ(rig.live - rig.base, c->is_view ? 0 : bytes);
        int64_t before = rig.live;
        tts_tensor_drop(rt, &x); /* the view still holds the buffer */
        T_EQ(rig.live == before, c->is_view);
        tts_tensor_drop(rt, &y);
        rig_close(&rig);
    }
}

/* --- failures --------------------------------------------------------------------------- */

T_TEST(the_first_failure_stays_and_new_tensors_are_empty)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_runtime *rt = &rig.ag.rt;
    struct tts_tensor before = tts_tensor_tiled(rt, odd);
    struct tts_error why = {.status = TTS_E_FULL, .text = "no place"};
    tts_runtime_fail(rt, TTS_E_FULL, &why);
    tts_runtime_fail(rt, TTS_E_NOMEM, NULL);
    T_EQ(rt->status, TTS_E_FULL);
    T_STR_EQ(rt->error.text, "no place");
    rig_look(&rig);
    struct tts_tensor after = tts_tensor_tiled(rt, odd);
    T_TRUE(after.storage == NULL && tts_shape_equal(after.shape, odd));
    struct tts_tensor view = tts_tensor_reshape(rt, after, tts_shape(6, 1, 33, 65));
    tts_tensor_mark(view, TTS_PART_INPUTS);
    tts_tensor_drop(rt, &view);
    tts_tensor_drop(rt, &after);
    T_QUIET(&rig);
    tts_tensor_drop(rt, &before); /* buffers that already exist can still be freed */
    T_ROW(&rig, -ODD_TILED);
    tts_autograd_release(&rig.ag);
    tts_device_free(rig.device);
}

T_TEST(a_failure_without_words_has_those_of_its_status)
{
    struct rig rig;
    rig_open(&rig);
    tts_runtime_fail(&rig.ag.rt, TTS_E_NOMEM, NULL);
    T_STR_EQ(rig.ag.rt.error.text, "the host has too little memory");
    T_EQ(rig.ag.rt.error.status, TTS_E_NOMEM);
    tts_autograd_release(&rig.ag);
    tts_device_free(rig.device);
}

/* --- watches --------------------------------------------------------------------------- */

struct seen {
    struct tts_part_buffer live[8];
    size_t count;
    const char *ops[8];
    int32_t layers[8];
    size_t begun, ended;
};

static void see_buffer(void *ctx, const struct tts_part_buffer *buffer)
{
    struct seen *seen = ctx;
    T_TRUE(seen->count < 8);
    seen->live[seen->count++] = *buffer;
}

static void see_begin(void *ctx, const char *op, int32_t layer)
{
    struct seen *seen = ctx;
    T_TRUE(seen->begun < 8 && seen->begun == seen->ended);
    seen->ops[seen->begun] = op;
    seen->layers[seen->begun++] = layer;
}

static void see_end(void *ctx)
{
    struct seen *seen = ctx;
    seen->ended++;
}

T_TEST(at_the_wanted_allocation_all_that_live_are_told_the_oldest_first)
{
    struct seen seen = {0};
    struct tts_workload_watch watch = {.ctx = &seen,
                                       .op_begin = see_begin,
                                       .op_end = see_end,
                                       .look_at = 4,
                                       .look = see_buffer};
    struct rig rig;
    rig_open_with(&rig, &watch, NULL);
    struct tts_runtime *rt = &rig.ag.rt;
    struct tts_tensor first = tts_tensor_tiled(rt, tts_shape(1, 1, 1, 1));
    tts_tensor_mark(first, TTS_PART_CONSTANTS);
    rt->layer = 5;
    tts_runtime_op_begin(rt, "one");
    struct tts_tensor gone = tts_tensor_tiled(rt, odd), third = tts_tensor_tiled(rt, odd);
    tts_tensor_drop(rt, &gone);
    tts_runtime_op_end(rt);
    T_EQ(seen.count, 0);
    rt->layer = TTS_LAYER_NONE;
    struct tts_tensor fourth = tts_tensor_tiled(rt, tts_shape(2, 1, 1, 1));
    T_EQ(seen.count, 3);
    /* The run has ended, so this tensor is empty. */
    struct tts_tensor fifth = tts_tensor_tiled(rt, odd);
    T_TRUE(seen.count == 3 && !fifth.storage && rt->is_stopped);
    rt->status = TTS_OK;
    const struct tts_part_buffer *live = seen.live;
    T_TRUE(live[0].id == 1 && live[0].size_bytes == T && live[0].part == TTS_PART_CONSTANTS);
    T_TRUE(live[0].layer == TTS_LAYER_NONE && live[1].layer == 5);
    T_TRUE(live[1].id == 3 && live[1].size_bytes == ODD_TILED);
    T_STR_EQ(live[0].op, "");
    T_STR_EQ(live[1].op, "one");
    T_EQ(live[1].part, TTS_PART_TEMPORARIES);
    T_TRUE(live[2].id == 4 && live[2].size_bytes == 2 * T);
    T_TRUE(seen.begun == 1 && seen.ended == 1 && seen.layers[0] == 5);
    T_STR_EQ(seen.ops[0], "one");
    tts_tensor_drop(rt, &third);
    tts_tensor_drop(rt, &first);
    tts_tensor_drop(rt, &fifth);
    tts_tensor_drop(rt, &fourth);
    rig_close(&rig);
}

T_TEST(a_run_that_ends_frees_what_is_left)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_tensor a = tts_tensor_tiled(&rig.ag.rt, odd);
    tts_tensor_tiled(&rig.ag.rt, tts_shape(1, 1, 1, 1));
    tts_tensor_drop(&rig.ag.rt, &a);
    tts_autograd_release(&rig.ag);
    T_EQ(rig.live, 0);
    tts_device_free(rig.device);
}
