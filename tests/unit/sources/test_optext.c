#include "sources/runtimelog/optext.h"

#include "harness/t.h"
#include "sources/runtimelog/optype.h"

#include <stdio.h>
#include <string.h>

static struct tts_span span_of(const char *text)
{
    return (struct tts_span){text, strlen(text)};
}

static const char *string_of(struct tts_span span)
{
    static char copies[8][4096];
    static int next;
    char *copy = copies[next++ % 8];
    T_TRUE(span.len < sizeof copies[0]);
    if (span.len > 0)
        memcpy(copy, span.at, span.len);
    copy[span.len] = '\0';
    return copy;
}

static struct tts_optext read_op(const char *text)
{
    struct tts_optext op;
    T_TRUE(tts_optext_read(span_of(text), &op));
    return op;
}

static struct tts_optype read_type(const char *text)
{
    struct tts_optype type;
    tts_optype_read(span_of(text), &type);
    return type;
}

#define LAYOUT(grid, memref, tail)                                                             \
    "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <" grid ">, memref<" memref                       \
    ", #ttnn.buffer_type<dram>>" tail ">"
#define TYPE_BF16                                                                              \
    "tensor<64x128xbf16, " LAYOUT("1x1", "2x4x!ttcore.tile<32x32, bf16>", ", <interleaved>") ">"
#define TYPE_F32                                                                               \
    "tensor<64x128xf32, " LAYOUT("1x1", "2x4x!ttcore.tile<32x32, f32>", ", <interleaved>") ">"

/* ---- operations ---- */

T_TEST(an_operation_has_result_operands_types_and_location)
{
    struct tts_optext op = read_op("%4 = \"ttnn.typecast\"(%3) <{dtype = "
                                   "#ttcore.supportedDataTypes<f32>}> : (" TYPE_BF16
                                   ") -> " TYPE_F32 " loc(\"convert.80\")");
    struct tts_span inputs, outputs, item;
    char loc[64];
    T_STR_EQ(string_of(op.result), "%4");
    T_EQ(op.results, 1);
    T_STR_EQ(string_of(op.name), "ttnn.typecast");
    T_STR_EQ(string_of(op.operands), "%3");
    T_STR_EQ(string_of(op.attributes), "{dtype = #ttcore.supportedDataTypes<f32>}");
    T_TRUE(op.is_whole);
    tts_optext_loc_name(op.loc, loc, sizeof loc);
    T_STR_EQ(loc, "convert.80");
    T_TRUE(tts_optext_signature(op.signature, &inputs, &outputs));
    T_STR_EQ(string_of(outputs), TYPE_F32);
    T_TRUE(tts_optext_next(&inputs, &item));
    T_STR_EQ(string_of(item), TYPE_BF16);
    T_TRUE(!tts_optext_next(&inputs, &item));
}

T_TEST(a_deallocation_has_no_result)
{
    struct tts_optext op =
        read_op("\"ttnn.deallocate\"(%3) <{force = false}> : (" TYPE_BF16 ") -> () loc(\"a\")");
    struct tts_span inputs, outputs;
    T_EQ(op.result.len, 0);
    T_EQ(op.results, 0);
    T_STR_EQ(string_of(op.operands), "%3");
    T_TRUE(tts_optext_signature(op.signature, &inputs, &outputs));
    T_EQ(outputs.len, 0);
    op = read_op("\"ttnn.deallocate\"(%68#1) <{force = false}> : (" TYPE_BF16 ") -> ()");
    T_STR_EQ(string_of(op.operands), "%68#1");
}

T_TEST(a_cached_call_names_its_function_and_its_inputs)
{
    struct tts_optext op =
        read_op("%1 = ttcore.load_cached(@main_const_eval_0, [%arg1, %arg2])"
                " : (" TYPE_BF16 ", " TYPE_BF16 ") -> " TYPE_F32 " loc(unknown)");
    char loc[64];
    T_STR_EQ(string_of(op.name), "ttcore.load_cached");
    T_STR_EQ(string_of(op.callee), "main_const_eval_0");
    T_STR_EQ(string_of(op.operands), "%arg1, %arg2");
    tts_optext_loc_name(op.loc, loc, sizeof loc);
    T_STR_EQ(loc, "unknown");
    op = read_op("%0 = ttcore.load_cached(@f, []) : () -> " TYPE_F32 " loc(unknown)");
    T_STR_EQ(string_of(op.callee), "f");
    T_EQ(op.operands.len, 0);
}

T_TEST(several_results_are_counted)
{
    struct tts_optext op = read_op("%68:2 = ttcore.load_cached(@f, [%arg0]) : (" TYPE_BF16
                                   ") -> (" TYPE_F32 ", " TYPE_BF16 ") loc(unknown)");
    struct tts_span inputs, outputs, item;
    int count = 0;
    T_STR_EQ(string_of(op.result), "%68");
    T_EQ(op.results, 2);
    T_TRUE(tts_optext_signature(op.signature, &inputs, &outputs));
    while (tts_optext_next(&outputs, &item))
        count++;
    T_EQ(count, 2);
}

T_TEST(attributes_nest_and_may_hold_any_bracket_in_quotes)
{
    struct tts_optext op =
        read_op("%1 = \"ttnn.x\"(%0) <{a = {x = 1 : i32}, b = 2 : i32}> : (" TYPE_BF16
                ") -> " TYPE_F32 " loc(\"l\")");
    T_STR_EQ(string_of(op.attributes), "{a = {x = 1 : i32}, b = 2 : i32}");
    T_TRUE(op.is_whole);
    op = read_op("%1 = \"ttnn.x\"(%0) <{s = \"}> loc(\", p = array<i64: 0, 2>}> : (" TYPE_BF16
                 ") -> " TYPE_F32 " loc(\"l\")");
    T_STR_EQ(string_of(op.attributes), "{s = \"}> loc(\", p = array<i64: 0, 2>}");
    T_STR_EQ(string_of(op.loc), "\"l\"");
}

T_TEST(every_form_of_a_location_keeps_its_names)
{
    static const char *const forms[][2] = {
        {"\"convert.80\"", "convert.80"},
        {"\"reduce.864_mean\"(\"reduce.864\")", "reduce.864_mean"},
        {"fused[\"a.1\", \"b.2\"]", "a.1, b.2"},
        {"\"m.mlir.ttnn\":197:15", "m.mlir.ttnn:197:15"},
        {"unknown", "unknown"},
        {"callsite(\"f\" at \"g\":3:1)", "f, g:3:1"},
        {"\"-1|unknown|unknown|-1|aten__view\"", "-1|unknown|unknown|-1|aten__view"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char name[64];
        tts_optext_loc_name(span_of(forms[i][0]), name, sizeof name);
        T_STR_EQ(name, forms[i][1]);
    }
}

T_TEST(an_operation_without_a_location_keeps_its_types)
{
    struct tts_optext op = read_op("%1 = \"ttnn.x\"(%0) : (" TYPE_BF16 ") -> " TYPE_F32);
    T_TRUE(op.is_whole);
    T_EQ(op.loc.len, 0);
    T_TRUE(op.signature.len > 0);
}

T_TEST(any_prefix_of_an_operation_is_read_or_refused)
{
    static const char text[] =
        "%4:2 = \"ttnn.x\"(%3, %arg0) <{a = \"q\\\"\"}> {b} : (" TYPE_BF16 ") -> (" TYPE_F32
        ", " TYPE_F32 ") loc(fused[\"a\", \"b\"])";
    for (size_t len = 0; len <= strlen(text); len++) {
        char *copy = len > 0 ? test_malloc(len) : NULL;
        struct tts_optext op;
        struct tts_span inputs, outputs, item;
        if (len > 0)
            memcpy(copy, text, len);
        struct tts_span span = {copy ? copy : "", len};
        if (tts_optext_read(span, &op)) {
            T_TRUE(op.name.len > 0);
            while (tts_optext_next(&op.operands, &item)) {
            }
            if (tts_optext_signature(op.signature, &inputs, &outputs))
                while (tts_optext_next(&inputs, &item)) {
                    struct tts_optype type;
                    tts_optype_read(item, &type);
                }
        }
        test_free(copy);
    }
}

/* ---- types ---- */

T_TEST(a_tiled_tensor_takes_whole_tiles)
{
    struct tts_optype type = read_type(TYPE_BF16);
    T_TRUE(type.is_tensor && type.is_tiled && type.logical_known && type.padded_known);
    T_EQ(type.place, TTS_OPPLACE_DRAM);
    T_STR_EQ(string_of(type.layout), "interleaved");
    T_EQ(type.logical_bytes, 16384);
    T_EQ(type.padded_bytes, 16384);
    type =
        read_type("tensor<1x32x4x262144xf32, #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 1024 "
                  "+ d1 * 32 + d2, d3), <1x1>, memref<32x8192x!ttcore.tile<32x32, f32>, "
                  "#ttnn.buffer_type<dram>>, <interleaved>>>");
    T_EQ(type.logical_bytes, 134217728);
    T_EQ(type.padded_bytes, 1073741824);
    type = read_type("tensor<768xbf16, #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, "
                     "memref<1x24x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, "
                     "<interleaved>>>");
    T_EQ(type.logical_bytes, 1536);
    T_EQ(type.padded_bytes, 49152);
}

T_TEST(a_sharded_tensor_counts_the_shards_of_all_cores)
{
    struct tts_optype type =
        read_type("tensor<1x1x25088x64xbf16, #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d2, d3), "
                  "<61x1, (d0, d1) -> (0, d0, d1)>, memref<13x2x!ttcore.tile<32x32, bf16>, "
                  "#ttnn.buffer_type<l1>>, <height_sharded>, core_ranges = "
                  "<[#ttnn.core_range<(0,0), (7,7)>]>>>");
    T_TRUE(type.is_sharded);
    T_EQ(type.place, TTS_OPPLACE_L1);
    T_EQ(type.cores, 61);
    T_EQ(type.logical_bytes, 3211264);
    T_EQ(type.padded_bytes, 3248128);
    struct tts_opbanks l1 = {.banks = 64, .page_alignment = 16, .block_alignment = 32};
    uint64_t bytes;
    T_TRUE(tts_optype_bytes_per_bank(&type, &l1, &bytes));
    T_EQ(bytes, 53248);
}

T_TEST(block_floats_and_small_types_have_their_own_sizes)
{
    struct tts_optype type =
        read_type("tensor<4096x4096x!ttcore.tile<32x32, bfp_bf8>, "
                  "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
                  "memref<128x128x!ttcore.tile<32x32, bfp_bf8>, #ttnn.buffer_type<dram>>, "
                  "<interleaved>>>");
    T_EQ(type.shape.count, 2);
    T_EQ(type.shape.sizes[0], 4096);
    T_STR_EQ(string_of(type.dtype), "bfp_bf8");
    T_EQ(type.page_bytes, 1088);
    T_EQ(type.padded_bytes, 17825792);
    type = read_type("tensor<33x33xi1>");
    T_EQ(type.logical_bytes, 1089);
    T_TRUE(!type.padded_known);
    type = read_type("tensor<f32>");
    T_TRUE(type.is_tensor && type.shape.count == 0);
    T_EQ(type.logical_bytes, 4);
    static const struct {
        const char *dtype;
        uint64_t bytes;
    } tiles[] = {{"f32", 4096},     {"bf16", 2048},  {"u8", 1024},    {"i1", 1024},
                 {"bfp_bf8", 1088}, {"bfp_f4", 576}, {"bfp_bf2", 320}};
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
        uint64_t bytes;
        T_TRUE(tts_optype_element_bytes(span_of(tiles[i].dtype), 1024, &bytes));
        T_EQ(bytes, tiles[i].bytes);
    }
}

T_TEST(a_row_major_tensor_has_a_page_for_each_row)
{
    struct tts_optype type =
        read_type("tensor<3x5xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
                  "memref<3x5xbf16, #ttnn.buffer_type<system_memory>>>>");
    T_EQ(type.place, TTS_OPPLACE_SYSTEM);
    T_TRUE(!type.is_tiled);
    T_EQ(type.pages, 3);
    T_EQ(type.page_bytes, 10);
    type.place = TTS_OPPLACE_DRAM;
    struct tts_opbanks dram = {.banks = 2, .page_alignment = 32, .block_alignment = 32};
    uint64_t bytes;
    T_TRUE(tts_optype_bytes_per_bank(&type, &dram, &bytes));
    T_EQ(bytes, 64); /* two pages of 10 bytes, each aligned to 32 */
}

T_TEST(what_is_no_tensor_or_too_large_has_unknown_bytes)
{
    T_TRUE(!read_type("!ttnn.device").is_tensor);
    T_TRUE(!read_type("").is_tensor);
    T_TRUE(!read_type("tensor<?x4xf32>").logical_known);
    T_TRUE(!read_type("tensor<99999999999999999999x4xf32>").logical_known);
    T_TRUE(!read_type("tensor<4294967296x4294967296xf32>").logical_known);
    T_TRUE(!read_type("tensor<4xnone>").logical_known);
    T_TRUE(!read_type("tensor<1x1x1x1x1x1x1x1x1x1x1x1xf32>").logical_known);
    struct tts_optype type =
        read_type("tensor<4x4xf32, #ttnn.ttnn_layout<(d0) -> (d0), <1x1>, "
                  "memref<99999999999x99999999999x!ttcore.tile<32x32, f32>, "
                  "#ttnn.buffer_type<dram>>, <interleaved>>>");
    T_TRUE(!type.padded_known);
}
