#include "sources/seq/devseq.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/span.h"
#include "sources/seq/words.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* The options that may follow the operands, in the order of the canonical text. */
enum tts_devseq_option {
    TTS_DEVSEQ_TENSOR,
    TTS_DEVSEQ_SHAPE,
    TTS_DEVSEQ_CORES,
    TTS_DEVSEQ_ORDER,
    TTS_DEVSEQ_INDEX,
    TTS_DEVSEQ_PAGE_SIZE,
    TTS_DEVSEQ_ON,
    TTS_DEVSEQ_OFFSET,
    TTS_DEVSEQ_FROM,
    TTS_DEVSEQ_AT,
    TTS_DEVSEQ_AS,
    TTS_DEVSEQ_OPTIONS,
};

/* The form of the result after '='. */
enum tts_devseq_shape {
    TTS_DEVSEQ_SAYS_NOTHING,
    TTS_DEVSEQ_SAYS_ADDRESS, /* an address ADDR, F (failed), T ADDR (below the limit) or - (not
                                placed) */
    TTS_DEVSEQ_SAYS_PLACE,   /* an address ADDR */
    TTS_DEVSEQ_SAYS_OK,      /* the word ok, or F if the request fails */
    TTS_DEVSEQ_SAYS_NUMBERS, /* numbers; struct tts_devseq_form has their count */
    TTS_DEVSEQ_SAYS_PAGE,    /* BANK CORE ADDR, or - if the buffer has no address */
};

struct tts_devseq_form {
    const char *verb;
    const char *usage;
    unsigned options, required; /* bits of enum tts_devseq_option */
    uint8_t shape;              /* enum tts_devseq_shape */
    uint8_t numbers;
};

#define BIT(option) (1u << TTS_DEVSEQ_##option)

static const unsigned placing = BIT(AS) | BIT(FROM) | BIT(AT);

static const struct tts_devseq_form devseq_forms[TTS_DEVSEQ_KINDS] = {
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
    [TTS_DEVSEQ_IDLE] = {.verb = "idle", .usage = "idle STEPS"},
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

static const char *const devseq_option_names[TTS_DEVSEQ_OPTIONS] = {
    [TTS_DEVSEQ_TENSOR] = "tensor", [TTS_DEVSEQ_SHAPE] = "shard",
    [TTS_DEVSEQ_CORES] = "cores",   [TTS_DEVSEQ_ORDER] = "order",
    [TTS_DEVSEQ_INDEX] = "index",   [TTS_DEVSEQ_PAGE_SIZE] = "page",
    [TTS_DEVSEQ_ON] = "on",         [TTS_DEVSEQ_OFFSET] = "offset",
    [TTS_DEVSEQ_FROM] = "from",     [TTS_DEVSEQ_AT] = "at",
    [TTS_DEVSEQ_AS] = "as",
};

static const char *const devseq_pool_names[TTS_POOLS] = {[TTS_POOL_DRAM] = "dram",
                                                         [TTS_POOL_L1] = "l1",
                                                         [TTS_POOL_L1_SMALL] = "l1_small",
                                                         [TTS_POOL_TRACE] = "trace"};

static const char *const devseq_sharding_names[] = {
    [TTS_DEVSEQ_CLASSIC] = "classic", [TTS_DEVSEQ_ND] = "nd", [TTS_DEVSEQ_GRID] = "grid"};

const char *tts_devseq_verb(enum tts_devseq_kind kind)
{
    return devseq_forms[kind].verb;
}

bool tts_devseq_kind_has_result(enum tts_devseq_kind kind)
{
    return devseq_forms[kind].shape != TTS_DEVSEQ_SAYS_NOTHING;
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

static char *put_devseq_word(char *at, const char *text)
{
    *at++ = ' ';
    return tts_put_text(at, text);
}

static char *put_core_name(char *at, struct tts_core core)
{
    at = tts_put_number(at, core.x);
    *at++ = '-';
    return tts_put_number(at, core.y);
}

static char *put_shard_shape(char *at, const uint64_t *sizes, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        if (i > 0)
            *at++ = 'x';
        at = tts_put_number(at, sizes[i]);
    }
    return at;
}

static char *put_core_ranges(char *at, const struct tts_devseq_line *line)
{
    for (size_t i = 0; i < line->range_count; i++) {
        const struct tts_core_range *range = &line->ranges[i];
        if (i > 0)
            *at++ = '+';
        at = put_core_name(at, (struct tts_core){range->x0, range->y0});
        if (range->x0 == range->x1 && range->y0 == range->y1)
            continue;
        at = tts_put_text(at, "..");
        at = put_core_name(at, (struct tts_core){range->x1, range->y1});
    }
    return at;
}

static char *put_core_indices(char *at, const struct tts_devseq_line *line)
{
    for (size_t i = 0; i < line->index_count; i++) {
        if (i > 0)
            *at++ = ',';
        at = tts_put_number(at, line->indices[i]);
    }
    return at;
}

static bool has_devseq_option(const struct tts_devseq_line *line, enum tts_devseq_option option)
{
    bool cb = line->kind == TTS_DEVSEQ_CB;
    if (!(devseq_forms[line->kind].options & 1u << option))
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

static char *put_devseq_option(char *at, const struct tts_devseq_line *line,
                               enum tts_devseq_option option)
{
    at = put_devseq_word(at, devseq_option_names[option]);
    *at++ = '=';
    switch (option) {
    case TTS_DEVSEQ_TENSOR:
        return put_shard_shape(at, line->tensor, line->rank);
    case TTS_DEVSEQ_SHAPE:
        return put_shard_shape(at, line->shard, line->rank);
    case TTS_DEVSEQ_CORES:
        return put_core_ranges(at, line);
    case TTS_DEVSEQ_ORDER:
        return tts_put_text(at, "column");
    case TTS_DEVSEQ_INDEX:
        return put_core_indices(at, line);
    case TTS_DEVSEQ_PAGE_SIZE:
        return tts_put_number(at, line->page_bytes);
    case TTS_DEVSEQ_OFFSET:
        return tts_put_number(at, line->number);
    case TTS_DEVSEQ_FROM:
        return tts_put_text(at, line->placement == TTS_PLACE_UP ? "bottom" : "top");
    case TTS_DEVSEQ_AT:
        return tts_put_number(at, line->address);
    case TTS_DEVSEQ_ON:
    case TTS_DEVSEQ_AS:
        return tts_put_text(at, line->name.text);
    case TTS_DEVSEQ_OPTIONS:
        break;
    }
    return at;
}

static char *put_devseq_operands(char *at, const struct tts_devseq_line *line)
{
    switch (line->kind) {
    case TTS_DEVSEQ_BUFFER:
    case TTS_DEVSEQ_SHARD:
        at = put_devseq_word(at, devseq_pool_names[line->pool]);
        at = put_devseq_word(at, line->kind == TTS_DEVSEQ_BUFFER
                                     ? "interleaved"
                                     : devseq_sharding_names[line->sharding]);
        return tts_put_operand(tts_put_operand(at, line->bytes), line->page_bytes);
    case TTS_DEVSEQ_CB:
    case TTS_DEVSEQ_KERNEL:
    case TTS_DEVSEQ_TRACE:
        return tts_put_operand(at, line->bytes);
    case TTS_DEVSEQ_FREE:
        if (!line->has_address)
            return put_devseq_word(at, line->name.text);
        at = put_devseq_word(at, devseq_pool_names[line->pool]);
        return tts_put_operand(at, line->address);
    case TTS_DEVSEQ_PROGRAM:
    case TTS_DEVSEQ_IDLE:
        return tts_put_operand(at, line->number);
    case TTS_DEVSEQ_STATS:
        return put_devseq_word(at, devseq_pool_names[line->pool]);
    case TTS_DEVSEQ_ROOM:
        *at++ = ' ';
        return put_core_name(at, line->core);
    case TTS_DEVSEQ_PAGE:
        return tts_put_operand(put_devseq_word(at, line->name.text), line->number);
    case TTS_DEVSEQ_BLANK:
    case TTS_DEVSEQ_RUN:
    case TTS_DEVSEQ_CAPTURE:
    case TTS_DEVSEQ_KINDS:
        break;
    }
    return at;
}

static char *put_devseq_result(char *at, const struct tts_devseq_form *form,
                               const struct tts_devseq_result *result)
{
    at = tts_put_text(at, " =");
    if (result->outcome == TTS_DEVSEQ_FAILED)
        return put_devseq_word(at, "F");
    if (result->outcome == TTS_DEVSEQ_NOT_PLACED)
        return put_devseq_word(at, "-");
    if (result->outcome == TTS_DEVSEQ_BELOW_LIMIT)
        at = put_devseq_word(at, "T");
    if (form->shape == TTS_DEVSEQ_SAYS_OK)
        return put_devseq_word(at, "ok");
    if (form->shape == TTS_DEVSEQ_SAYS_NUMBERS) {
        for (int i = 0; i < form->numbers; i++)
            at = tts_put_operand(at, result->value[i]);
        return at;
    }
    at = tts_put_operand(at, result->value[0]);
    if (form->shape != TTS_DEVSEQ_SAYS_PAGE)
        return at;
    *at++ = ' ';
    at = result->has_core ? put_core_name(at, result->core) : tts_put_text(at, "-");
    return tts_put_operand(at, result->value[1]);
}

size_t tts_devseq_format(const struct tts_devseq_line *line, char out[TTS_DEVSEQ_TEXT_MAX])
{
    const struct tts_devseq_form *form = &devseq_forms[line->kind];
    char *at = tts_put_text(out, form->verb);
    at = put_devseq_operands(at, line);
    for (int option = 0; option < TTS_DEVSEQ_OPTIONS; option++)
        if (has_devseq_option(line, (enum tts_devseq_option)option))
            at = put_devseq_option(at, line, (enum tts_devseq_option)option);
    if (line->has_result)
        at = put_devseq_result(at, form, &line->result);
    *at = '\0';
    assert(at - out < TTS_DEVSEQ_TEXT_MAX);
    return (size_t)(at - out);
}

static enum tts_status fail_word(struct tts_scan *scan, struct tts_word word,
                                 const char *expected)
{
    if (word.len == 0)
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected %s, got nothing", expected);
    else
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected %s, got '%s'", expected,
                      tts_word_quote(word).text);
    return tts_scan_at(scan, word, TTS_E_SYNTAX);
}

/* --- small parts ------------------------------------------------------------------------ */

/* Sets *out to the text before the first `mark` and removes it and the mark from *rest. If
 * there is no mark, sets *out to the whole text, leaves *rest unchanged and returns false. */
static bool cut_word(struct tts_word *rest, char mark, struct tts_word *out)
{
    const char *at = rest->len > 0 ? memchr(rest->text, mark, rest->len) : NULL;
    *out = *rest;
    if (!at)
        return false;
    out->len = (size_t)(at - rest->text);
    *rest = (struct tts_word){at + 1, rest->len - out->len - 1};
    return true;
}

static enum tts_status parse_bounded_number(struct tts_scan *scan, struct tts_word word,
                                            const char *name, uint64_t most, uint64_t *out)
{
    uint64_t value;
    enum tts_status status = tts_scan_number(scan, word, name, &value);
    if (status != TTS_OK)
        return status;
    if (value > most) {
        tts_error_set(scan->err, TTS_E_RANGE, "%s '%s' is too large: at most %" PRIu64, name,
                      tts_word_quote(word).text, most);
        return tts_scan_at(scan, word, TTS_E_RANGE);
    }
    *out = value;
    return TTS_OK;
}

static enum tts_status parse_core_name(struct tts_scan *scan, struct tts_word word,
                                       struct tts_core *out)
{
    struct tts_word rest = word, x;
    uint64_t numbers[2];
    if (!cut_word(&rest, '-', &x))
        return fail_word(scan, word, "a core like 3-4");
    enum tts_status status = parse_bounded_number(scan, x, "the column of a core",
                                                  TTS_GRID_SIDE_MAX - 1, &numbers[0]);
    if (status == TTS_OK)
        status = parse_bounded_number(scan, rest, "the row of a core", TTS_GRID_SIDE_MAX - 1,
                                      &numbers[1]);
    if (status == TTS_OK)
        *out = (struct tts_core){(uint16_t)numbers[0], (uint16_t)numbers[1]};
    return status;
}

static enum tts_status parse_core_range(struct tts_scan *scan, struct tts_word word,
                                        struct tts_core_range *out)
{
    struct tts_core first, last;
    const char *dots = word.len > 1 ? memmem(word.text, word.len, "..", 2) : NULL;
    struct tts_word low = {word.text, dots ? (size_t)(dots - word.text) : word.len};
    enum tts_status status = parse_core_name(scan, low, &first);
    last = first;
    if (status == TTS_OK && dots) {
        struct tts_word high = {dots + 2, word.len - low.len - 2};
        status = parse_core_name(scan, high, &last);
    }
    if (status != TTS_OK)
        return status;
    if (first.x > last.x || first.y > last.y)
        return fail_word(scan, word, "a core range from its lowest core to its highest");
    *out = (struct tts_core_range){first.x, first.y, last.x, last.y};
    return TTS_OK;
}

static enum tts_status parse_range_list(struct tts_scan *scan, struct tts_word word,
                                        struct tts_devseq_line *out)
{
    struct tts_word one;
    bool more = true;
    while (more) {
        more = cut_word(&word, '+', &one);
        if (out->range_count == TTS_RANGES_MAX)
            return fail_word(scan, one, "at most 64 core ranges");
        enum tts_status status = parse_core_range(scan, one, &out->ranges[out->range_count]);
        if (status != TTS_OK)
            return status;
        out->range_count++;
    }
    return TTS_OK;
}

static enum tts_status parse_shard_shape(struct tts_scan *scan, struct tts_word word,
                                         uint64_t sizes[TTS_RANK_MAX], uint32_t *rank)
{
    struct tts_word whole = word, one;
    bool more = true;
    uint32_t count = 0;
    while (more) {
        more = cut_word(&word, 'x', &one);
        if (count == TTS_RANK_MAX)
            return fail_word(scan, whole, "at most 8 dimensions");
        enum tts_status status = tts_scan_number(scan, one, "a dimension", &sizes[count]);
        if (status != TTS_OK)
            return status;
        if (sizes[count++] == 0)
            return fail_word(scan, whole, "dimensions of 1 and more");
    }
    if (*rank != 0 && *rank != count)
        return fail_word(scan, whole, "as many dimensions in 'tensor' as in 'shard'");
    *rank = count;
    return TTS_OK;
}

static enum tts_status parse_core_indices(struct tts_scan *scan, struct tts_word word,
                                          struct tts_devseq_line *out)
{
    struct tts_word one;
    bool more = true;
    while (more) {
        uint64_t index;
        more = cut_word(&word, ',', &one);
        if (out->index_count == TTS_CB_INDICES_MAX)
            return fail_word(scan, one, "at most 64 indices");
        enum tts_status status =
            parse_bounded_number(scan, one, "the index", TTS_CB_INDICES_MAX - 1, &index);
        if (status != TTS_OK)
            return status;
        out->indices[out->index_count++] = (uint8_t)index;
    }
    return TTS_OK;
}

static bool is_name_letter(char c)
{
    return tts_is_letter(c) || c == '_';
}

static enum tts_status parse_buffer_name(struct tts_scan *scan, struct tts_word word,
                                         struct tts_devseq_name *out)
{
    bool good = word.len > 0 && word.len < TTS_DEVSEQ_NAME_MAX && is_name_letter(word.text[0]);
    for (size_t i = 0; good && i < word.len; i++)
        good = is_name_letter(word.text[i]) || (word.text[i] >= '0' && word.text[i] <= '9') ||
               memchr(".:/-", word.text[i], 4);
    if (!good)
        return fail_word(scan, word, "a name: a letter, then up to 46 of A-Z a-z 0-9 _.:/-");
    *out = (struct tts_devseq_name){0};
    memcpy(out->text, word.text, word.len);
    return TTS_OK;
}

/* Returns the index of a word in a list, or -1 if the list does not have it. */
static int find_listed_word(struct tts_word word, const char *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (tts_word_is(word, list[i]))
            return i;
    return -1;
}

static enum tts_status parse_pool_name(struct tts_scan *scan, enum tts_pool *out)
{
    struct tts_word word = tts_scan_word(scan);
    int pool = find_listed_word(word, devseq_pool_names, TTS_POOLS);
    if (pool < 0)
        return fail_word(scan, word, "dram, l1, l1_small or trace");
    *out = (enum tts_pool)pool;
    return TTS_OK;
}

/* --- options ---------------------------------------------------------------------------- */

static enum tts_status parse_word_choice(struct tts_scan *scan, struct tts_word word,
                                         const char *const names[2], const char *expected,
                                         int *choice)
{
    *choice = find_listed_word(word, names, 2);
    return *choice < 0 ? fail_word(scan, word, expected) : TTS_OK;
}

static enum tts_status parse_from_side(struct tts_scan *scan, struct tts_word value,
                                       struct tts_devseq_line *out)
{
    static const char *const names[] = {"top", "bottom"};
    int choice;
    enum tts_status status =
        parse_word_choice(scan, value, names, "from=top or from=bottom", &choice);
    if (status == TTS_OK)
        out->placement = choice == 0 ? TTS_PLACE_DOWN : TTS_PLACE_UP;
    return status;
}

static enum tts_status parse_core_order(struct tts_scan *scan, struct tts_word value,
                                        struct tts_devseq_line *out)
{
    static const char *const names[] = {"row", "column"};
    int choice;
    enum tts_status status =
        parse_word_choice(scan, value, names, "order=row or order=column", &choice);
    out->column_major = choice == 1;
    return status;
}

static enum tts_status parse_option_value(struct tts_scan *scan, enum tts_devseq_option option,
                                          struct tts_word value, struct tts_devseq_line *out)
{
    switch (option) {
    case TTS_DEVSEQ_TENSOR:
        out->has_tensor = true;
        return parse_shard_shape(scan, value, out->tensor, &out->rank);
    case TTS_DEVSEQ_SHAPE:
        return parse_shard_shape(scan, value, out->shard, &out->rank);
    case TTS_DEVSEQ_CORES:
        return parse_range_list(scan, value, out);
    case TTS_DEVSEQ_ORDER:
        return parse_core_order(scan, value, out);
    case TTS_DEVSEQ_INDEX:
        return parse_core_indices(scan, value, out);
    case TTS_DEVSEQ_PAGE_SIZE:
        return tts_scan_number(scan, value, "page", &out->page_bytes);
    case TTS_DEVSEQ_OFFSET:
        return tts_scan_number(scan, value, "offset", &out->number);
    case TTS_DEVSEQ_FROM:
        return parse_from_side(scan, value, out);
    case TTS_DEVSEQ_AT:
        out->placement = TTS_PLACE_AT;
        return tts_scan_number(scan, value, "at", &out->address);
    case TTS_DEVSEQ_ON:
    case TTS_DEVSEQ_AS:
        return parse_buffer_name(scan, value, &out->name);
    case TTS_DEVSEQ_OPTIONS:
        break;
    }
    assert(false);
    return TTS_E_INVALID;
}

static enum tts_status fail_unknown_option(struct tts_scan *scan,
                                           const struct tts_devseq_form *form,
                                           struct tts_word word, struct tts_word name)
{
    if (name.len == 0)
        return fail_word(scan, word, "spaces around '='");
    struct tts_quote got = tts_word_quote(name);
    struct tts_nearest nearest = {.word = got.text};
    for (int i = 0; i < TTS_DEVSEQ_OPTIONS; i++)
        if (form->options & 1u << i)
            tts_nearest_offer(&nearest, devseq_option_names[i]);
    tts_error_set(scan->err, TTS_E_SYNTAX, "unknown option '%s' for '%s'%s%s%s, expected '%s'",
                  got.text, form->verb, nearest.best ? ", did you mean '" : "",
                  nearest.best ? nearest.best : "", nearest.best ? "'" : "", form->usage);
    return tts_scan_at(scan, word, TTS_E_SYNTAX);
}

/* Parses the options after the operands, up to "=" or the end of the line. Sets *last to the
 * "=", or to an empty word at the end. */
static enum tts_status parse_devseq_options(struct tts_scan *scan, struct tts_devseq_line *out,
                                            struct tts_word *last)
{
    const struct tts_devseq_form *form = &devseq_forms[out->kind];
    unsigned seen = 0;
    struct tts_word word = tts_scan_word(scan), name, value;
    for (; word.len > 0 && !tts_word_is(word, "="); word = tts_scan_word(scan)) {
        if (!tts_word_split(word, &name, &value)) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "unexpected word '%s': expected '%s'%s",
                          tts_word_quote(word).text, form->usage,
                          word.text[0] == '#' ? "; write a comment on its own line" : "");
            return tts_scan_at(scan, word, TTS_E_SYNTAX);
        }
        int option = find_listed_word(name, devseq_option_names, TTS_DEVSEQ_OPTIONS);
        if (option < 0 || !(form->options & 1u << option))
            return fail_unknown_option(scan, form, word, name);
        if (seen & 1u << option) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "option '%s' is given twice",
                          devseq_option_names[option]);
            return tts_scan_at(scan, word, TTS_E_SYNTAX);
        }
        enum tts_status status =
            parse_option_value(scan, (enum tts_devseq_option)option, value, out);
        if (status != TTS_OK)
            return status;
        seen |= 1u << option;
    }
    *last = word;
    for (int i = 0; i < TTS_DEVSEQ_OPTIONS; i++)
        if (form->required & ~seen & 1u << i) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "'%s=' is missing, expected '%s'",
                          devseq_option_names[i], form->usage);
            return tts_scan_at(scan, word, TTS_E_SYNTAX);
        }
    if ((seen & 1u << TTS_DEVSEQ_FROM) && (seen & 1u << TTS_DEVSEQ_AT)) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "'from=' and 'at=' cannot be combined");
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
    }
    if ((seen & 1u << TTS_DEVSEQ_PAGE_SIZE) && !(seen & 1u << TTS_DEVSEQ_INDEX)) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "'page=' needs 'index='");
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
    }
    return TTS_OK;
}

/* --- operands --------------------------------------------------------------------------- */

static enum tts_status parse_buffer_operands(struct tts_scan *scan, struct tts_devseq_line *out)
{
    enum tts_status status = parse_pool_name(scan, &out->pool);
    if (status != TTS_OK)
        return status;
    struct tts_word word = tts_scan_word(scan);
    if (out->kind == TTS_DEVSEQ_BUFFER) {
        if (!tts_word_is(word, "interleaved"))
            return fail_word(scan, word, "interleaved (or 'shard' for the other layouts)");
    } else {
        int kind = find_listed_word(word, devseq_sharding_names, TTS_DEVSEQ_GRID + 1);
        if (kind < 0)
            return fail_word(scan, word, "classic, nd or grid");
        out->sharding = (enum tts_devseq_sharding)kind;
    }
    status = tts_scan_number(scan, tts_scan_word(scan), "SIZE", &out->bytes);
    if (status == TTS_OK)
        status = tts_scan_number(scan, tts_scan_word(scan), "PAGE", &out->page_bytes);
    return status;
}

static enum tts_status parse_free_operands(struct tts_scan *scan, struct tts_devseq_line *out)
{
    struct tts_word first = tts_scan_word(scan);
    struct tts_scan ahead = *scan;
    struct tts_word second = tts_scan_word(&ahead);
    int pool = find_listed_word(first, devseq_pool_names, TTS_POOLS);
    if (pool < 0 || second.len == 0 || tts_word_is(second, "="))
        return parse_buffer_name(scan, first, &out->name);
    out->pool = (enum tts_pool)pool;
    out->has_address = true;
    return tts_scan_number(scan, tts_scan_word(scan), "ADDR", &out->address);
}

static enum tts_status parse_devseq_operands(struct tts_scan *scan, struct tts_devseq_line *out)
{
    enum tts_status status;
    switch (out->kind) {
    case TTS_DEVSEQ_BUFFER:
    case TTS_DEVSEQ_SHARD:
        return parse_buffer_operands(scan, out);
    case TTS_DEVSEQ_CB:
    case TTS_DEVSEQ_KERNEL:
    case TTS_DEVSEQ_TRACE:
        return tts_scan_number(scan, tts_scan_word(scan), "SIZE", &out->bytes);
    case TTS_DEVSEQ_FREE:
        return parse_free_operands(scan, out);
    case TTS_DEVSEQ_PROGRAM:
        return tts_scan_number(scan, tts_scan_word(scan), "ID", &out->number);
    case TTS_DEVSEQ_IDLE:
        return tts_scan_number(scan, tts_scan_word(scan), "STEPS", &out->number);
    case TTS_DEVSEQ_STATS:
        return parse_pool_name(scan, &out->pool);
    case TTS_DEVSEQ_ROOM:
        return parse_core_name(scan, tts_scan_word(scan), &out->core);
    case TTS_DEVSEQ_PAGE:
        status = parse_buffer_name(scan, tts_scan_word(scan), &out->name);
        return status == TTS_OK
                   ? tts_scan_number(scan, tts_scan_word(scan), "INDEX", &out->number)
                   : status;
    case TTS_DEVSEQ_BLANK:
    case TTS_DEVSEQ_RUN:
    case TTS_DEVSEQ_CAPTURE:
    case TTS_DEVSEQ_KINDS:
        break;
    }
    return TTS_OK;
}

/* --- results ---------------------------------------------------------------------------- */

static enum tts_status parse_page_result(struct tts_scan *scan,
                                         struct tts_devseq_result *result)
{
    struct tts_word word = tts_scan_word(scan);
    if (tts_word_is(word, "-")) {
        result->outcome = TTS_DEVSEQ_NOT_PLACED;
        return TTS_OK;
    }
    enum tts_status status = tts_scan_number(scan, word, "BANK (or '-')", &result->value[0]);
    if (status != TTS_OK)
        return status;
    word = tts_scan_word(scan);
    if (!tts_word_is(word, "-")) {
        result->has_core = true;
        status = parse_core_name(scan, word, &result->core);
    }
    return status == TTS_OK
               ? tts_scan_number(scan, tts_scan_word(scan), "the address", &result->value[1])
               : status;
}

static enum tts_status parse_address_result(struct tts_scan *scan,
                                            struct tts_devseq_result *result)
{
    struct tts_word word = tts_scan_word(scan);
    if (tts_word_is(word, "F") || tts_word_is(word, "-")) {
        result->outcome = word.text[0] == 'F' ? TTS_DEVSEQ_FAILED : TTS_DEVSEQ_NOT_PLACED;
        return TTS_OK;
    }
    if (tts_word_is(word, "T")) {
        result->outcome = TTS_DEVSEQ_BELOW_LIMIT;
        word = tts_scan_word(scan);
    }
    return tts_scan_number(scan, word, "the address (or 'F', 'T ADDR', '-')",
                           &result->value[0]);
}

static enum tts_status parse_devseq_result(struct tts_scan *scan, struct tts_devseq_line *out)
{
    const struct tts_devseq_form *form = &devseq_forms[out->kind];
    struct tts_devseq_result *result = &out->result;
    enum tts_status status = TTS_OK;
    struct tts_word word;
    switch ((enum tts_devseq_shape)form->shape) {
    case TTS_DEVSEQ_SAYS_NOTHING:
        tts_error_set(scan->err, TTS_E_SYNTAX,
                      "a statement '%s' has no result: remove '=' and the words after '='",
                      form->verb);
        return tts_scan_at(scan, tts_scan_word(scan), TTS_E_SYNTAX);
    case TTS_DEVSEQ_SAYS_ADDRESS:
        return parse_address_result(scan, result);
    case TTS_DEVSEQ_SAYS_PLACE:
        return tts_scan_number(scan, tts_scan_word(scan), "the address", &result->value[0]);
    case TTS_DEVSEQ_SAYS_OK:
        word = tts_scan_word(scan);
        result->outcome = tts_word_is(word, "F") ? TTS_DEVSEQ_FAILED : TTS_DEVSEQ_DONE;
        return tts_word_is(word, "F") || tts_word_is(word, "ok")
                   ? TTS_OK
                   : fail_word(scan, word, "'ok' or 'F'");
    case TTS_DEVSEQ_SAYS_NUMBERS:
        for (int i = 0; i < form->numbers && status == TTS_OK; i++)
            status =
                tts_scan_number(scan, tts_scan_word(scan), "the result", &result->value[i]);
        return status;
    case TTS_DEVSEQ_SAYS_PAGE:
        return parse_page_result(scan, result);
    }
    assert(false);
    return TTS_E_INVALID;
}

/* --- lines ------------------------------------------------------------------------------ */

/* Fails because of an unknown verb. A word that could be from a sequence for one pool, where
 * each operation is one letter, gets a message that says so. */
static enum tts_status fail_unknown_verb(struct tts_scan *scan, struct tts_word word)
{
    if (word.len == 1 && memchr("Paxdkrcslqvmt", word.text[0], 13)) {
        tts_error_set(scan->err, TTS_E_SYNTAX,
                      "'%s' belongs to the language for one pool: omit --device",
                      tts_word_quote(word).text);
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
    }
    struct tts_quote got = tts_word_quote(word);
    struct tts_nearest nearest = {.word = got.text};
    for (int kind = TTS_DEVSEQ_BUFFER; kind < TTS_DEVSEQ_KINDS; kind++)
        tts_nearest_offer(&nearest, devseq_forms[kind].verb);
    tts_error_set(scan->err, TTS_E_SYNTAX, "unknown statement '%s'%s%s%s", got.text,
                  nearest.best ? ", did you mean '" : "", nearest.best ? nearest.best : "",
                  nearest.best ? "'?" : "");
    return tts_scan_at(scan, word, TTS_E_SYNTAX);
}

static enum tts_status check_shard_shapes(struct tts_scan *scan, struct tts_word last,
                                          const struct tts_devseq_line *line)
{
    const char *kind = devseq_sharding_names[line->sharding];
    if (line->kind != TTS_DEVSEQ_SHARD)
        return TTS_OK;
    bool lacks_tensor = line->sharding != TTS_DEVSEQ_CLASSIC && !line->has_tensor;
    if (!lacks_tensor && (line->sharding == TTS_DEVSEQ_ND || line->rank == 2))
        return TTS_OK;
    if (lacks_tensor)
        tts_error_set(scan->err, TTS_E_SYNTAX, "'%s' needs 'tensor='", kind);
    else
        tts_error_set(scan->err, TTS_E_SYNTAX,
                      "a '%s' sharding has two dimensions, got %" PRIu32, kind, line->rank);
    return tts_scan_at(scan, last, TTS_E_SYNTAX);
}

static enum tts_status parse_devseq_statement(struct tts_scan *scan,
                                              struct tts_devseq_line *out)
{
    struct tts_word last;
    enum tts_status status = parse_devseq_operands(scan, out);
    if (status == TTS_OK)
        status = parse_devseq_options(scan, out, &last);
    if (status == TTS_OK)
        status = check_shard_shapes(scan, last, out);
    if (status != TTS_OK || last.len == 0)
        return status;
    out->has_result = true;
    status = parse_devseq_result(scan, out);
    if (status != TTS_OK)
        return status;
    struct tts_word extra = tts_scan_word(scan);
    return extra.len == 0 ? TTS_OK : fail_word(scan, extra, "nothing after the result");
}

enum tts_status tts_devseq_parse(const char *text, size_t len, struct tts_devseq_line *out,
                                 struct tts_error *err)
{
    struct tts_scan scan = {text, text, text + len, err};
    struct tts_devseq_line line = {.kind = TTS_DEVSEQ_BLANK};
    struct tts_word verb = tts_scan_word(&scan);
    if (verb.len > 0 && verb.text[0] != '#') {
        int kind = TTS_DEVSEQ_BUFFER;
        while (kind < TTS_DEVSEQ_KINDS && !tts_word_is(verb, devseq_forms[kind].verb))
            kind++;
        if (kind == TTS_DEVSEQ_KINDS)
            return fail_unknown_verb(&scan, verb);
        line.kind = (enum tts_devseq_kind)kind;
        enum tts_status status = parse_devseq_statement(&scan, &line);
        if (status != TTS_OK)
            return status;
    }
    *out = line;
    return TTS_OK;
}
