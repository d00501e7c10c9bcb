#include "sources/runtimelog/optype.h"

#include "base/compiler.h"

#include <string.h>

/* ---- data types ---- */

/* A block float has `bits` for each element and 8 more for each 16 elements. */
static const struct dtype_row {
    const char *name;
    uint8_t bits;
    bool is_block;
} dtype_rows[] = {
    {"f32", 32, false},     {"bf16", 16, false},  {"f16", 16, false},   {"f64", 64, false},
    {"u32", 32, false},     {"si32", 32, false},  {"i32", 32, false},   {"ui32", 32, false},
    {"u16", 16, false},     {"si16", 16, false},  {"i16", 16, false},   {"ui16", 16, false},
    {"u8", 8, false},       {"si8", 8, false},    {"i8", 8, false},     {"ui8", 8, false},
    {"i1", 8, false},       {"bool", 8, false},   {"i64", 64, false},   {"si64", 64, false},
    {"ui64", 64, false},    {"u64", 64, false},   {"bfp_bf8", 8, true}, {"bfp_f8", 8, true},
    {"bfp_bf4", 4, true},   {"bfp_f4", 4, true},  {"bfp_bf2", 2, true}, {"bfp_f2", 2, true},
    {"f8E4M3FN", 8, false}, {"f8E5M2", 8, false}, {"index", 64, false},
};

static const struct dtype_row *find_dtype_row(struct tts_span dtype)
{
    for (size_t i = 0; i < sizeof dtype_rows / sizeof dtype_rows[0]; i++)
        if (tts_span_is(dtype, dtype_rows[i].name))
            return &dtype_rows[i];
    return NULL;
}

bool tts_optype_element_bytes(struct tts_span dtype, uint64_t count, uint64_t *bytes)
{
    const struct dtype_row *row = find_dtype_row(dtype);
    uint64_t bits;
    if (!row || count > UINT64_MAX >> 7)
        return false;
    bits = count * row->bits;
    *bytes = (bits + 7) / 8 + (row->is_block ? (count + 15) / 16 : 0);
    return true;
}

/* ---- dimensions ---- */

/* Reads "12x" at the beginning of *text into *dims and removes it. Returns false if *text does
 * not begin with a dimension. '?' is a dynamic dimension. */
static bool take_dimension(struct tts_span *text, struct tts_opdims *dims)
{
    uint64_t size = 0;
    size_t len = 0;
    bool is_small = true;
    if (text->len > 1 && text->at[0] == '?' && text->at[1] == 'x') {
        is_small = false;
        len = 1;
    }
    for (; len < text->len && tts_is_digit(text->at[len]); len++) {
        is_small = is_small && size <= (UINT64_MAX - 9) / 10;
        if (is_small)
            size = size * 10 + (uint64_t)(text->at[len] - '0');
    }
    if (len == 0 || len >= text->len || text->at[len] != 'x')
        return false;
    *text = (struct tts_span){text->at + len + 1, text->len - len - 1};
    dims->is_known = dims->is_known && is_small && dims->count < TTS_OPTYPE_DIMS_MAX;
    if (dims->count < TTS_OPTYPE_DIMS_MAX)
        dims->sizes[dims->count++] = size;
    return true;
}

static struct tts_opdims take_dimensions(struct tts_span *text)
{
    struct tts_opdims dims = {.is_known = true};
    while (take_dimension(text, &dims)) {
    }
    return dims;
}

/* Sets *out to the product of the first `count` dimensions. Returns false if it is unknown. */
static bool multiply_dimensions(const struct tts_opdims *dims, size_t count, uint64_t *out)
{
    uint64_t product = 1;
    for (size_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(product, dims->sizes[i], &product))
            return false;
    *out = product;
    return dims->is_known;
}

/* ---- parts of a type ---- */

/* Removes the text up to and including `what` from *text. Returns false if it is not there. */
static bool skip_past(struct tts_span *text, const char *what)
{
    const char *at = tts_span_find(*text, what);
    if (!at)
        return false;
    at += strlen(what);
    *text = (struct tts_span){at, text->len - (size_t)(at - text->at)};
    return true;
}

static bool is_name_char(char c)
{
    return tts_is_letter(c) || tts_is_digit(c) || c == '_';
}

/* Returns the word at the beginning of the text. */
static struct tts_span first_word(struct tts_span text)
{
    size_t len = 0;
    while (len < text.len && is_name_char(text.at[len]))
        len++;
    return (struct tts_span){text.at, len};
}

/* Reads "!ttcore.tile<32x32, bf16>", also in its old spelling "!tt.tile". */
static bool read_tile(struct tts_span text, struct tts_optype *out, struct tts_span *dtype)
{
    struct tts_opdims dims = {.is_known = true};
    if (!tts_span_begins(text, "!") || !skip_past(&text, ".tile<"))
        return false;
    if (!take_dimension(&text, &dims))
        return false;
    struct tts_span cols = first_word(text);
    uint64_t size = 0;
    for (size_t i = 0; i < cols.len && tts_is_digit(cols.at[i]) && size <= 4096; i++)
        size = size * 10 + (uint64_t)(cols.at[i] - '0');
    if (!skip_past(&text, ", "))
        return false;
    *dtype = first_word(text);
    out->is_tiled = dims.is_known && dims.sizes[0] <= 4096 && size <= 4096;
    out->tile_rows = (uint32_t)dims.sizes[0];
    out->tile_cols = (uint32_t)size;
    return out->is_tiled;
}

static enum tts_opplace read_place(struct tts_span word)
{
    static const char *const names[] = {"dram", "l1", "l1_small", "trace", "system_memory"};
    for (int i = 0; i < TTS_OPPLACE_UNKNOWN; i++)
        if (tts_span_is(word, names[i]))
            return (enum tts_opplace)i;
    return TTS_OPPLACE_UNKNOWN;
}

/* Reads "memref<AxBx!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>". */
static void read_memref(struct tts_span text, struct tts_optype *out)
{
    if (!skip_past(&text, "memref<"))
        return;
    out->memref = take_dimensions(&text);
    if (!read_tile(text, out, &out->memref_dtype))
        out->memref_dtype = first_word(text);
    if (!skip_past(&text, "buffer_type<"))
        return;
    out->place = read_place(first_word(text));
    if (!skip_past(&text, ">") || !tts_span_begins(text, ">, <"))
        return;
    out->layout = first_word((struct tts_span){text.at + 4, text.len - 4});
    out->is_sharded = tts_span_ends(out->layout, "sharded");
}

/* Reads the grid, the first "<AxB" after the affine map that has dimensions only. */
static void read_grid(struct tts_span text, struct tts_optype *out)
{
    const char *memref = tts_span_find(text, "memref<");
    if (memref)
        text.len = (size_t)(memref - text.at);
    while (skip_past(&text, ", <")) {
        struct tts_span rest = text;
        struct tts_opdims dims = take_dimensions(&rest);
        struct tts_span last = first_word(rest);
        uint64_t size = 0, cores;
        bool is_number = last.len > 0 && last.len <= 9;
        for (size_t i = 0; i < last.len; i++) {
            is_number = is_number && tts_is_digit(last.at[i]);
            size = size * 10 + (uint64_t)(last.at[i] & 15);
        }
        if (!is_number || dims.count == 0)
            continue;
        if (multiply_dimensions(&dims, dims.count, &cores) &&
            !__builtin_mul_overflow(cores, size, &cores))
            out->cores = cores;
        return;
    }
}

/* ---- bytes ---- */

static void compute_logical_bytes(struct tts_optype *type)
{
    uint64_t elements;
    type->logical_known = multiply_dimensions(&type->shape, type->shape.count, &elements) &&
                          tts_optype_element_bytes(type->dtype, elements, &type->logical_bytes);
}

static void compute_padded_bytes(struct tts_optype *type)
{
    const struct tts_opdims *memref = &type->memref;
    uint64_t total;
    size_t rows = type->is_tiled || memref->count == 0 ? memref->count : memref->count - 1;
    uint64_t elements = type->is_tiled      ? (uint64_t)type->tile_rows * type->tile_cols
                        : memref->count > 0 ? memref->sizes[memref->count - 1]
                                            : 0;
    if (memref->count == 0 || (type->is_sharded && type->cores == 0) ||
        !multiply_dimensions(memref, rows, &type->pages) ||
        !tts_optype_element_bytes(type->memref_dtype, elements, &type->page_bytes) ||
        __builtin_mul_overflow(type->pages, type->page_bytes, &total) ||
        __builtin_mul_overflow(total, type->is_sharded ? type->cores : 1, &total))
        return;
    type->padded_bytes = total;
    type->padded_known = true;
}

void tts_optype_read(struct tts_span text, struct tts_optype *out)
{
    *out = (struct tts_optype){.text = text, .place = TTS_OPPLACE_UNKNOWN};
    if (!tts_span_begins(text, "tensor<"))
        return;
    struct tts_span rest = {text.at + 7, text.len - 7};
    out->is_tensor = true;
    out->shape = take_dimensions(&rest);
    struct tts_optype element = {0};
    if (!read_tile(rest, &element, &out->dtype))
        out->dtype = first_word(rest);
    read_grid(rest, out);
    read_memref(rest, out);
    compute_logical_bytes(out);
    compute_padded_bytes(out);
}

/* Rounds up to a multiple of `step`. Returns false if the result is too large. */
static bool round_up_bytes(uint64_t bytes, uint64_t step, uint64_t *out)
{
    uint64_t over = step > 1 ? bytes % step : 0;
    *out = bytes;
    return over == 0 || !__builtin_add_overflow(bytes, step - over, out);
}

bool tts_optype_bytes_per_bank(const struct tts_optype *type, const struct tts_opbanks *pool,
                               uint64_t *bytes)
{
    uint64_t page, pages = type->pages, total;
    if (!type->padded_known || pool->banks == 0)
        return false;
    uint64_t shares =
        type->is_sharded ? type->cores / pool->banks + (type->cores % pool->banks > 0) : 1;
    if (!type->is_sharded)
        pages = pages / pool->banks + (pages % pool->banks > 0);
    if (!round_up_bytes(type->page_bytes, pool->page_alignment, &page) ||
        __builtin_mul_overflow(pages, page, &total) ||
        __builtin_mul_overflow(total, shares, &total))
        return false;
    if (total < pool->block_alignment)
        total = pool->block_alignment;
    return round_up_bytes(total, pool->block_alignment, bytes);
}
