#include "sources/devseq.h"

#include "base/error.h"
#include "base/nearest.h"
#include "sources/devseq_form.h"
#include "sources/words.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static enum tts_status complain(struct tts_scan *scan, struct tts_word word,
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

/* Cuts off what stands before `mark`; without one, all of it, and false. */
static bool cut_before(struct tts_word *rest, char mark, struct tts_word *out)
{
    const char *at = rest->len > 0 ? memchr(rest->text, mark, rest->len) : NULL;
    *out = *rest;
    if (!at)
        return false;
    out->len = (size_t)(at - rest->text);
    *rest = (struct tts_word){at + 1, rest->len - out->len - 1};
    return true;
}

static enum tts_status parse_bounded(struct tts_scan *scan, struct tts_word word,
                                     const char *name, uint64_t most, uint64_t *out)
{
    uint64_t value;
    enum tts_status status = tts_scan_number(scan, word, name, &value);
    if (status != TTS_OK)
        return status;
    if (value > most) {
        tts_error_set(scan->err, TTS_E_RANGE, "%s '%s' is too much, the most is %" PRIu64, name,
                      tts_word_quote(word).text, most);
        return tts_scan_at(scan, word, TTS_E_RANGE);
    }
    *out = value;
    return TTS_OK;
}

static enum tts_status parse_core(struct tts_scan *scan, struct tts_word word,
                                  struct tts_core *out)
{
    struct tts_word rest = word, x;
    uint64_t numbers[2];
    if (!cut_before(&rest, '-', &x))
        return complain(scan, word, "a core like 3-4");
    enum tts_status status =
        parse_bounded(scan, x, "the column of a core", TTS_GRID_SIDE_MAX - 1, &numbers[0]);
    if (status == TTS_OK)
        status =
            parse_bounded(scan, rest, "the row of a core", TTS_GRID_SIDE_MAX - 1, &numbers[1]);
    if (status == TTS_OK)
        *out = (struct tts_core){(uint16_t)numbers[0], (uint16_t)numbers[1]};
    return status;
}

static enum tts_status parse_range(struct tts_scan *scan, struct tts_word word,
                                   struct tts_core_range *out)
{
    struct tts_core first, last;
    const char *dots = word.len > 1 ? memmem(word.text, word.len, "..", 2) : NULL;
    struct tts_word low = {word.text, dots ? (size_t)(dots - word.text) : word.len};
    enum tts_status status = parse_core(scan, low, &first);
    last = first;
    if (status == TTS_OK && dots) {
        struct tts_word high = {dots + 2, word.len - low.len - 2};
        status = parse_core(scan, high, &last);
    }
    if (status != TTS_OK)
        return status;
    if (first.x > last.x || first.y > last.y)
        return complain(scan, word, "a core range from its lowest core to its highest");
    *out = (struct tts_core_range){first.x, first.y, last.x, last.y};
    return TTS_OK;
}

static enum tts_status parse_ranges(struct tts_scan *scan, struct tts_word word,
                                    struct tts_devseq_line *out)
{
    struct tts_word one;
    bool more = true;
    while (more) {
        more = cut_before(&word, '+', &one);
        if (out->range_count == TTS_RANGES_MAX)
            return complain(scan, one, "at most 64 core ranges");
        enum tts_status status = parse_range(scan, one, &out->ranges[out->range_count]);
        if (status != TTS_OK)
            return status;
        out->range_count++;
    }
    return TTS_OK;
}

static enum tts_status parse_shape(struct tts_scan *scan, struct tts_word word,
                                   uint64_t sizes[TTS_RANK_MAX], uint32_t *rank)
{
    struct tts_word whole = word, one;
    bool more = true;
    uint32_t count = 0;
    while (more) {
        more = cut_before(&word, 'x', &one);
        if (count == TTS_RANK_MAX)
            return complain(scan, whole, "at most 8 dimensions");
        enum tts_status status = tts_scan_number(scan, one, "a dimension", &sizes[count]);
        if (status != TTS_OK)
            return status;
        if (sizes[count++] == 0)
            return complain(scan, whole, "dimensions of 1 and more");
    }
    if (*rank != 0 && *rank != count)
        return complain(scan, whole, "as many dimensions in 'tensor' as in 'shard'");
    *rank = count;
    return TTS_OK;
}

static enum tts_status parse_indices(struct tts_scan *scan, struct tts_word word,
                                     struct tts_devseq_line *out)
{
    struct tts_word one;
    bool more = true;
    while (more) {
        uint64_t index;
        more = cut_before(&word, ',', &one);
        if (out->index_count == TTS_CB_INDICES_MAX)
            return complain(scan, one, "at most 64 indices");
        enum tts_status status =
            parse_bounded(scan, one, "the index", TTS_CB_INDICES_MAX - 1, &index);
        if (status != TTS_OK)
            return status;
        out->indices[out->index_count++] = (uint8_t)index;
    }
    return TTS_OK;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static enum tts_status parse_name(struct tts_scan *scan, struct tts_word word,
                                  struct tts_devseq_name *out)
{
    bool good = word.len > 0 && word.len < TTS_DEVSEQ_NAME_MAX && is_letter(word.text[0]);
    for (size_t i = 0; good && i < word.len; i++)
        good = is_letter(word.text[i]) || (word.text[i] >= '0' && word.text[i] <= '9') ||
               memchr(".:/-", word.text[i], 4);
    if (!good)
        return complain(scan, word, "a name: a letter, then up to 46 of A-Z a-z 0-9 _.:/-");
    *out = (struct tts_devseq_name){0};
    memcpy(out->text, word.text, word.len);
    return TTS_OK;
}

/* The place of a word in a list; -1: it is not in it. */
static int find_word(struct tts_word word, const char *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (tts_word_is(word, list[i]))
            return i;
    return -1;
}

static enum tts_status parse_pool(struct tts_scan *scan, enum tts_pool *out)
{
    struct tts_word word = tts_scan_word(scan);
    int pool = find_word(word, tts_devseq_pool_names, TTS_POOLS);
    if (pool < 0)
        return complain(scan, word, "dram, l1, l1_small or trace");
    *out = (enum tts_pool)pool;
    return TTS_OK;
}

/* --- options ---------------------------------------------------------------------------- */

static enum tts_status parse_choice(struct tts_scan *scan, struct tts_word word,
                                    const char *const names[2], const char *expected,
                                    int *choice)
{
    *choice = find_word(word, names, 2);
    return *choice < 0 ? complain(scan, word, expected) : TTS_OK;
}

static enum tts_status parse_from(struct tts_scan *scan, struct tts_word value,
                                  struct tts_devseq_line *out)
{
    static const char *const names[] = {"top", "bottom"};
    int choice;
    enum tts_status status =
        parse_choice(scan, value, names, "from=top or from=bottom", &choice);
    if (status == TTS_OK)
        out->placement = choice == 0 ? TTS_PLACE_DOWN : TTS_PLACE_UP;
    return status;
}

static enum tts_status parse_order(struct tts_scan *scan, struct tts_word value,
                                   struct tts_devseq_line *out)
{
    static const char *const names[] = {"row", "column"};
    int choice;
    enum tts_status status =
        parse_choice(scan, value, names, "order=row or order=column", &choice);
    out->column_major = choice == 1;
    return status;
}

static enum tts_status parse_value(struct tts_scan *scan, enum tts_devseq_option option,
                                   struct tts_word value, struct tts_devseq_line *out)
{
    switch (option) {
    case TTS_DEVSEQ_TENSOR:
        out->has_tensor = true;
        return parse_shape(scan, value, out->tensor, &out->rank);
    case TTS_DEVSEQ_SHAPE:
        return parse_shape(scan, value, out->shard, &out->rank);
    case TTS_DEVSEQ_CORES:
        return parse_ranges(scan, value, out);
    case TTS_DEVSEQ_ORDER:
        return parse_order(scan, value, out);
    case TTS_DEVSEQ_INDEX:
        return parse_indices(scan, value, out);
    case TTS_DEVSEQ_PAGE_SIZE:
        return tts_scan_number(scan, value, "page", &out->page_bytes);
    case TTS_DEVSEQ_OFFSET:
        return tts_scan_number(scan, value, "offset", &out->number);
    case TTS_DEVSEQ_FROM:
        return parse_from(scan, value, out);
    case TTS_DEVSEQ_AT:
        out->placement = TTS_PLACE_AT;
        return tts_scan_number(scan, value, "at", &out->address);
    case TTS_DEVSEQ_ON:
    case TTS_DEVSEQ_AS:
        return parse_name(scan, value, &out->name);
    case TTS_DEVSEQ_OPTIONS:
        break;
    }
    assert(false);
    return TTS_E_INVALID;
}

static enum tts_status unknown_option(struct tts_scan *scan, const struct tts_devseq_form *form,
                                      struct tts_word word, struct tts_word name)
{
    if (name.len == 0)
        return complain(scan, word, "blanks around '='");
    struct tts_quote got = tts_word_quote(name);
    struct tts_nearest nearest = {.word = got.text};
    for (int i = 0; i < TTS_DEVSEQ_OPTIONS; i++)
        if (form->options & 1u << i)
            tts_nearest_offer(&nearest, tts_devseq_option_names[i]);
    tts_error_set(scan->err, TTS_E_SYNTAX, "'%s' has no option '%s'%s%s%s, expected '%s'",
                  form->verb, got.text, nearest.best ? ", did you mean '" : "",
                  nearest.best ? nearest.best : "", nearest.best ? "'" : "", form->usage);
    return tts_scan_at(scan, word, TTS_E_SYNTAX);
}

/* What stands behind the operands, up to "=" or the end; *last is that word. */
static enum tts_status parse_options(struct tts_scan *scan, struct tts_devseq_line *out,
                                     struct tts_word *last)
{
    const struct tts_devseq_form *form = &tts_devseq_forms[out->kind];
    unsigned seen = 0;
    struct tts_word word = tts_scan_word(scan), name, value;
    for (; word.len > 0 && !tts_word_is(word, "="); word = tts_scan_word(scan)) {
        if (!tts_word_split(word, &name, &value)) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "'%s' is one word too many, expected '%s'%s",
                          tts_word_quote(word).text, form->usage,
                          word.text[0] == '#' ? "; a comment has a line of its own" : "");
            return tts_scan_at(scan, word, TTS_E_SYNTAX);
        }
        int option = find_word(name, tts_devseq_option_names, TTS_DEVSEQ_OPTIONS);
        if (option < 0 || !(form->options & 1u << option))
            return unknown_option(scan, form, word, name);
        if (seen & 1u << option)
            return complain(scan, word, "each option once");
        enum tts_status status = parse_value(scan, (enum tts_devseq_option)option, value, out);
        if (status != TTS_OK)
            return status;
        seen |= 1u << option;
    }
    *last = word;
    for (int i = 0; i < TTS_DEVSEQ_OPTIONS; i++)
        if (form->required & ~seen & 1u << i) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "'%s=' is missing, expected '%s'",
                          tts_devseq_option_names[i], form->usage);
            return tts_scan_at(scan, word, TTS_E_SYNTAX);
        }
    if ((seen & 1u << TTS_DEVSEQ_FROM) && (seen & 1u << TTS_DEVSEQ_AT)) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "'from=' and 'at=' exclude each other");
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
    }
    if ((seen & 1u << TTS_DEVSEQ_PAGE_SIZE) && !(seen & 1u << TTS_DEVSEQ_INDEX)) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "'page=' is that of an index, add 'index='");
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
    }
    return TTS_OK;
}

/* --- operands --------------------------------------------------------------------------- */

static enum tts_status parse_buffer(struct tts_scan *scan, struct tts_devseq_line *out)
{
    enum tts_status status = parse_pool(scan, &out->pool);
    if (status != TTS_OK)
        return status;
    struct tts_word word = tts_scan_word(scan);
    if (out->kind == TTS_DEVSEQ_BUFFER) {
        if (!tts_word_is(word, "interleaved"))
            return complain(scan, word, "interleaved (or 'shard' for the other layouts)");
    } else {
        int kind = find_word(word, tts_devseq_sharding_names, TTS_DEVSEQ_GRID + 1);
        if (kind < 0)
            return complain(scan, word, "classic, nd or grid");
        out->sharding = (enum tts_devseq_sharding)kind;
    }
    status = tts_scan_number(scan, tts_scan_word(scan), "SIZE", &out->bytes);
    if (status == TTS_OK)
        status = tts_scan_number(scan, tts_scan_word(scan), "PAGE", &out->page_bytes);
    return status;
}

static enum tts_status parse_free(struct tts_scan *scan, struct tts_devseq_line *out)
{
    struct tts_word first = tts_scan_word(scan);
    struct tts_scan ahead = *scan;
    struct tts_word second = tts_scan_word(&ahead);
    int pool = find_word(first, tts_devseq_pool_names, TTS_POOLS);
    if (pool < 0 || second.len == 0 || tts_word_is(second, "="))
        return parse_name(scan, first, &out->name);
    out->pool = (enum tts_pool)pool;
    out->has_address = true;
    return tts_scan_number(scan, tts_scan_word(scan), "ADDR", &out->address);
}

static enum tts_status parse_operands(struct tts_scan *scan, struct tts_devseq_line *out)
{
    enum tts_status status;
    switch (out->kind) {
    case TTS_DEVSEQ_BUFFER:
    case TTS_DEVSEQ_SHARD:
        return parse_buffer(scan, out);
    case TTS_DEVSEQ_CB:
    case TTS_DEVSEQ_KERNEL:
    case TTS_DEVSEQ_TRACE:
        return tts_scan_number(scan, tts_scan_word(scan), "SIZE", &out->bytes);
    case TTS_DEVSEQ_FREE:
        return parse_free(scan, out);
    case TTS_DEVSEQ_PROGRAM:
        return tts_scan_number(scan, tts_scan_word(scan), "ID", &out->number);
    case TTS_DEVSEQ_STATS:
        return parse_pool(scan, &out->pool);
    case TTS_DEVSEQ_ROOM:
        return parse_core(scan, tts_scan_word(scan), &out->core);
    case TTS_DEVSEQ_PAGE:
        status = parse_name(scan, tts_scan_word(scan), &out->name);
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
        status = parse_core(scan, word, &result->core);
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

static enum tts_status parse_result(struct tts_scan *scan, struct tts_devseq_line *out)
{
    const struct tts_devseq_form *form = &tts_devseq_forms[out->kind];
    struct tts_devseq_result *result = &out->result;
    enum tts_status status = TTS_OK;
    struct tts_word word;
    switch ((enum tts_devseq_shape)form->shape) {
    case TTS_DEVSEQ_SAYS_NOTHING:
        return complain(scan, tts_scan_word(scan), "no result here");
    case TTS_DEVSEQ_SAYS_ADDRESS:
        return parse_address_result(scan, result);
    case TTS_DEVSEQ_SAYS_PLACE:
        return tts_scan_number(scan, tts_scan_word(scan), "the address", &result->value[0]);
    case TTS_DEVSEQ_SAYS_OK:
        word = tts_scan_word(scan);
        result->outcome = tts_word_is(word, "F") ? TTS_DEVSEQ_FAILED : TTS_DEVSEQ_DONE;
        return tts_word_is(word, "F") || tts_word_is(word, "ok")
                   ? TTS_OK
                   : complain(scan, word, "'ok' or 'F'");
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

/* Sequences for one pool have one letter for an operation, and 'P'. */
static enum tts_status unknown_verb(struct tts_scan *scan, struct tts_word word)
{
    if (word.len == 1 && memchr("Paxdkrcslqvmt", word.text[0], 13)) {
        tts_error_set(scan->err, TTS_E_SYNTAX,
                      "'%s' is of the language for one pool, leave out --device",
                      tts_word_quote(word).text);
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
    }
    struct tts_quote got = tts_word_quote(word);
    struct tts_nearest nearest = {.word = got.text};
    for (int kind = TTS_DEVSEQ_BUFFER; kind < TTS_DEVSEQ_KINDS; kind++)
        tts_nearest_offer(&nearest, tts_devseq_forms[kind].verb);
    tts_error_set(scan->err, TTS_E_SYNTAX, "unknown statement '%s'%s%s%s", got.text,
                  nearest.best ? ", did you mean '" : "", nearest.best ? nearest.best : "",
                  nearest.best ? "'?" : "");
    return tts_scan_at(scan, word, TTS_E_SYNTAX);
}

static enum tts_status check_shapes(struct tts_scan *scan, struct tts_word last,
                                    const struct tts_devseq_line *line)
{
    const char *kind = tts_devseq_sharding_names[line->sharding];
    if (line->kind != TTS_DEVSEQ_SHARD)
        return TTS_OK;
    bool lacks_tensor = line->sharding != TTS_DEVSEQ_CLASSIC && !line->has_tensor;
    if (!lacks_tensor && (line->sharding == TTS_DEVSEQ_ND || line->rank == 2))
        return TTS_OK;
    if (lacks_tensor)
        tts_error_set(scan->err, TTS_E_SYNTAX, "'tensor=' is missing, '%s' needs it", kind);
    else
        tts_error_set(scan->err, TTS_E_SYNTAX,
                      "a '%s' sharding has two dimensions, got %" PRIu32, kind, line->rank);
    return tts_scan_at(scan, last, TTS_E_SYNTAX);
}

static enum tts_status parse_statement(struct tts_scan *scan, struct tts_devseq_line *out)
{
    struct tts_word last;
    enum tts_status status = parse_operands(scan, out);
    if (status == TTS_OK)
        status = parse_options(scan, out, &last);
    if (status == TTS_OK)
        status = check_shapes(scan, last, out);
    if (status != TTS_OK || last.len == 0)
        return status;
    out->has_result = true;
    status = parse_result(scan, out);
    if (status != TTS_OK)
        return status;
    struct tts_word extra = tts_scan_word(scan);
    return extra.len == 0 ? TTS_OK : complain(scan, extra, "nothing behind the result");
}

enum tts_status tts_devseq_parse(const char *text, size_t len, struct tts_devseq_line *out,
                                 struct tts_error *err)
{
    struct tts_scan scan = {text, text, text + len, err};
    struct tts_devseq_line line = {.kind = TTS_DEVSEQ_BLANK};
    struct tts_word verb = tts_scan_word(&scan);
    if (verb.len > 0 && verb.text[0] != '#') {
        int kind = TTS_DEVSEQ_BUFFER;
        while (kind < TTS_DEVSEQ_KINDS && !tts_word_is(verb, tts_devseq_forms[kind].verb))
            kind++;
        if (kind == TTS_DEVSEQ_KINDS)
            return unknown_verb(&scan, verb);
        line.kind = (enum tts_devseq_kind)kind;
        enum tts_status status = parse_statement(&scan, &line);
        if (status != TTS_OK)
            return status;
    }
    *out = line;
    return TTS_OK;
}
