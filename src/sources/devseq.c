#include "sources/devseq.h"

#include "base/number.h"
#include "sources/devseq_form.h"

#include <assert.h>
#include <string.h>

#define BIT(option) (1u << TTS_DEVSEQ_##option)

static const unsigned placing = BIT(AS) | BIT(FROM) | BIT(AT);

const struct tts_devseq_form tts_devseq_forms[TTS_DEVSEQ_KINDS] = {
    [TTS_DEVSEQ_BLANK] = {.verb = "", .usage = ""},
    [TTS_DEVSEQ_BUFFER] = {.verb = "buffer",
                           .usage = "buffer POOL interleaved SIZE PAGE",
                           .options = placing,
                           .shape = TTS_DEVSEQ_SAYS_ADDRESS},
    [TTS_DEVSEQ_SHARD] = {.verb = "shard",
                          .usage = "shard POOL KIND SIZE PAGE shard=SHAPE cores=RANGES",
                          .options =
                              placing | BIT(TENSOR) | BIT(SHAPE) | BIT(CORES) | BIT(ORDER),
                          .required = BIT(SHAPE) | BIT(CORES),
                          .shape = TTS_DEVSEQ_SAYS_ADDRESS},
    [TTS_DEVSEQ_CB] = {.verb = "cb",
                       .usage = "cb SIZE cores=RANGES",
                       .options =
                           BIT(CORES) | BIT(INDEX) | BIT(PAGE_SIZE) | BIT(ON) | BIT(OFFSET),
                       .required = BIT(CORES),
                       .shape = TTS_DEVSEQ_SAYS_PLACE},
    [TTS_DEVSEQ_FREE] = {.verb = "free", .usage = "free NAME' or 'free POOL ADDR"},
    [TTS_DEVSEQ_PROGRAM] = {.verb = "program", .usage = "program ID"},
    [TTS_DEVSEQ_RUN] = {.verb = "run", .usage = "run", .shape = TTS_DEVSEQ_SAYS_OK},
    [TTS_DEVSEQ_KERNEL] = {.verb = "kernel",
                           .usage = "kernel SIZE",
                           .options = BIT(AS),
                           .shape = TTS_DEVSEQ_SAYS_ADDRESS},
    [TTS_DEVSEQ_CAPTURE] = {.verb = "capture", .usage = "capture"},
    [TTS_DEVSEQ_TRACE] = {.verb = "trace",
                          .usage = "trace SIZE",
                          .options = BIT(AS),
                          .shape = TTS_DEVSEQ_SAYS_ADDRESS},
    [TTS_DEVSEQ_STATS] = {.verb = "stats",
                          .usage = "stats POOL",
                          .shape = TTS_DEVSEQ_SAYS_NUMBERS,
                          .numbers = 4},
    [TTS_DEVSEQ_ROOM] = {.verb = "room",
                         .usage = "room X-Y",
                         .shape = TTS_DEVSEQ_SAYS_NUMBERS,
                         .numbers = 3},
    [TTS_DEVSEQ_PAGE] = {.verb = "page",
                         .usage = "page NAME INDEX",
                         .shape = TTS_DEVSEQ_SAYS_PAGE},
};

const char *const tts_devseq_option_names[TTS_DEVSEQ_OPTIONS] = {
    [TTS_DEVSEQ_TENSOR] = "tensor", [TTS_DEVSEQ_SHAPE] = "shard",
    [TTS_DEVSEQ_CORES] = "cores",   [TTS_DEVSEQ_ORDER] = "order",
    [TTS_DEVSEQ_INDEX] = "index",   [TTS_DEVSEQ_PAGE_SIZE] = "page",
    [TTS_DEVSEQ_ON] = "on",         [TTS_DEVSEQ_OFFSET] = "offset",
    [TTS_DEVSEQ_FROM] = "from",     [TTS_DEVSEQ_AT] = "at",
    [TTS_DEVSEQ_AS] = "as",
};

const char *const tts_devseq_pool_names[TTS_POOLS] = {[TTS_POOL_DRAM] = "dram",
                                                      [TTS_POOL_L1] = "l1",
                                                      [TTS_POOL_L1_SMALL] = "l1_small",
                                                      [TTS_POOL_TRACE] = "trace"};
const char *const tts_devseq_sharding_names[] = {
    [TTS_DEVSEQ_CLASSIC] = "classic", [TTS_DEVSEQ_ND] = "nd", [TTS_DEVSEQ_GRID] = "grid"};

const char *tts_devseq_verb(enum tts_devseq_kind kind)
{
    return tts_devseq_forms[kind].verb;
}

bool tts_devseq_kind_has_result(enum tts_devseq_kind kind)
{
    return tts_devseq_forms[kind].shape != TTS_DEVSEQ_SAYS_NOTHING;
}

bool tts_devseq_result_equal(const struct tts_devseq_result *a,
                             const struct tts_devseq_result *b)
{
    return a->outcome == b->outcome && a->has_core == b->has_core && a->core.x == b->core.x &&
           a->core.y == b->core.y && memcmp(a->value, b->value, sizeof a->value) == 0;
}

struct tts_request tts_devseq_request(const struct tts_devseq_line *line,
                                      struct tts_shard *shard,
                                      struct tts_distribution *distribution)
{
    struct tts_request request = {.pool = line->pool,
                                  .size_bytes = line->bytes,
                                  .page_bytes = line->page_bytes,
                                  .placement = line->placement,
                                  .address = line->address};
    struct tts_shard_cores cores = {line->ranges, line->range_count, line->column_major};
    if (line->kind != TTS_DEVSEQ_SHARD)
        return request;
    if (line->sharding == TTS_DEVSEQ_CLASSIC) {
        *shard = (struct tts_shard){.shard_height = line->shard[0],
                                    .shard_width = line->shard[1],
                                    .page_height = 1,
                                    .page_width = 1,
                                    .tensor_height_pages = line->tensor[0],
                                    .tensor_width_pages = line->tensor[1],
                                    .cores = cores};
        request.shard = shard;
        return request;
    }
    *distribution = (struct tts_distribution){
        .rank = line->rank, .grid = line->sharding == TTS_DEVSEQ_GRID, .cores = cores};
    memcpy(distribution->tensor, line->tensor, sizeof line->tensor);
    memcpy(distribution->shard, line->shard, sizeof line->shard);
    request.distribution = distribution;
    return request;
}

/* --- writing ---------------------------------------------------------------------------- */

static char *put_text(char *at, const char *text)
{
    size_t len = strlen(text);
    memcpy(at, text, len);
    return at + len;
}

static char *put_number(char *at, uint64_t value)
{
    return at + tts_number_format(at, value);
}

static char *put_word(char *at, const char *text)
{
    *at++ = ' ';
    return put_text(at, text);
}

static char *put_operand(char *at, uint64_t value)
{
    *at++ = ' ';
    return put_number(at, value);
}

static char *put_core(char *at, struct tts_core core)
{
    at = put_number(at, core.x);
    *at++ = '-';
    return put_number(at, core.y);
}

static char *put_shape(char *at, const uint64_t *sizes, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        if (i > 0)
            *at++ = 'x';
        at = put_number(at, sizes[i]);
    }
    return at;
}

static char *put_ranges(char *at, const struct tts_devseq_line *line)
{
    for (size_t i = 0; i < line->range_count; i++) {
        const struct tts_core_range *range = &line->ranges[i];
        if (i > 0)
            *at++ = '+';
        at = put_core(at, (struct tts_core){range->x0, range->y0});
        if (range->x0 == range->x1 && range->y0 == range->y1)
            continue;
        at = put_text(at, "..");
        at = put_core(at, (struct tts_core){range->x1, range->y1});
    }
    return at;
}

static char *put_indices(char *at, const struct tts_devseq_line *line)
{
    for (size_t i = 0; i < line->index_count; i++) {
        if (i > 0)
            *at++ = ',';
        at = put_number(at, line->indices[i]);
    }
    return at;
}

static bool has_option(const struct tts_devseq_line *line, enum tts_devseq_option option)
{
    bool cb = line->kind == TTS_DEVSEQ_CB;
    if (!(tts_devseq_forms[line->kind].options & 1u << option))
        return false;
    switch (option) {
    case TTS_DEVSEQ_TENSOR:
        return line->has_tensor;
    case TTS_DEVSEQ_SHAPE:
    case TTS_DEVSEQ_CORES:
        return true;
    case TTS_DEVSEQ_ORDER:
        return line->column_major;
    case TTS_DEVSEQ_INDEX:
        return line->index_count > 0;
    case TTS_DEVSEQ_PAGE_SIZE:
        return line->page_bytes > 0;
    case TTS_DEVSEQ_OFFSET:
        return line->number > 0;
    case TTS_DEVSEQ_FROM:
        return line->placement == TTS_PLACE_UP || line->placement == TTS_PLACE_DOWN;
    case TTS_DEVSEQ_AT:
        return line->placement == TTS_PLACE_AT;
    case TTS_DEVSEQ_ON:
    case TTS_DEVSEQ_AS:
        return line->name.text[0] != '\0' && cb == (option == TTS_DEVSEQ_ON);
    case TTS_DEVSEQ_OPTIONS:
        break;
    }
    return false;
}

static char *put_option(char *at, const struct tts_devseq_line *line,
                        enum tts_devseq_option option)
{
    at = put_word(at, tts_devseq_option_names[option]);
    *at++ = '=';
    switch (option) {
    case TTS_DEVSEQ_TENSOR:
        return put_shape(at, line->tensor, line->rank);
    case TTS_DEVSEQ_SHAPE:
        return put_shape(at, line->shard, line->rank);
    case TTS_DEVSEQ_CORES:
        return put_ranges(at, line);
    case TTS_DEVSEQ_ORDER:
        return put_text(at, "column");
    case TTS_DEVSEQ_INDEX:
        return put_indices(at, line);
    case TTS_DEVSEQ_PAGE_SIZE:
        return put_number(at, line->page_bytes);
    case TTS_DEVSEQ_OFFSET:
        return put_number(at, line->number);
    case TTS_DEVSEQ_FROM:
        return put_text(at, line->placement == TTS_PLACE_UP ? "bottom" : "top");
    case TTS_DEVSEQ_AT:
        return put_number(at, line->address);
    case TTS_DEVSEQ_ON:
    case TTS_DEVSEQ_AS:
        return put_text(at, line->name.text);
    case TTS_DEVSEQ_OPTIONS:
        break;
    }
    return at;
}

static char *put_operands(char *at, const struct tts_devseq_line *line)
{
    switch (line->kind) {
    case TTS_DEVSEQ_BUFFER:
    case TTS_DEVSEQ_SHARD:
        at = put_word(at, tts_devseq_pool_names[line->pool]);
        at = put_word(at, line->kind == TTS_DEVSEQ_BUFFER
                              ? "interleaved"
                              : tts_devseq_sharding_names[line->sharding]);
        return put_operand(put_operand(at, line->bytes), line->page_bytes);
    case TTS_DEVSEQ_CB:
    case TTS_DEVSEQ_KERNEL:
    case TTS_DEVSEQ_TRACE:
        return put_operand(at, line->bytes);
    case TTS_DEVSEQ_FREE:
        if (!line->has_address)
            return put_word(at, line->name.text);
        at = put_word(at, tts_devseq_pool_names[line->pool]);
        return put_operand(at, line->address);
    case TTS_DEVSEQ_PROGRAM:
        return put_operand(at, line->number);
    case TTS_DEVSEQ_STATS:
        return put_word(at, tts_devseq_pool_names[line->pool]);
    case TTS_DEVSEQ_ROOM:
        *at++ = ' ';
        return put_core(at, line->core);
    case TTS_DEVSEQ_PAGE:
        return put_operand(put_word(at, line->name.text), line->number);
    case TTS_DEVSEQ_BLANK:
    case TTS_DEVSEQ_RUN:
    case TTS_DEVSEQ_CAPTURE:
    case TTS_DEVSEQ_KINDS:
        break;
    }
    return at;
}

static char *put_result(char *at, const struct tts_devseq_form *form,
                        const struct tts_devseq_result *result)
{
    at = put_text(at, " =");
    if (result->outcome == TTS_DEVSEQ_FAILED)
        return put_word(at, "F");
    if (result->outcome == TTS_DEVSEQ_NOT_PLACED)
        return put_word(at, "-");
    if (result->outcome == TTS_DEVSEQ_BELOW_LIMIT)
        at = put_word(at, "T");
    if (form->shape == TTS_DEVSEQ_SAYS_OK)
        return put_word(at, "ok");
    if (form->shape == TTS_DEVSEQ_SAYS_NUMBERS) {
        for (int i = 0; i < form->numbers; i++)
            at = put_operand(at, result->value[i]);
        return at;
    }
    at = put_operand(at, result->value[0]);
    if (form->shape != TTS_DEVSEQ_SAYS_PAGE)
        return at;
    *at++ = ' ';
    at = result->has_core ? put_core(at, result->core) : put_text(at, "-");
    return put_operand(at, result->value[1]);
}

size_t tts_devseq_format(const struct tts_devseq_line *line, char out[TTS_DEVSEQ_TEXT_MAX])
{
    const struct tts_devseq_form *form = &tts_devseq_forms[line->kind];
    char *at = put_text(out, form->verb);
    at = put_operands(at, line);
    for (int option = 0; option < TTS_DEVSEQ_OPTIONS; option++)
        if (has_option(line, (enum tts_devseq_option)option))
            at = put_option(at, line, (enum tts_devseq_option)option);
    if (line->has_result)
        at = put_result(at, form, &line->result);
    *at = '\0';
    assert(at - out < TTS_DEVSEQ_TEXT_MAX);
    return (size_t)(at - out);
}
