#include "sources/opseq.h"

#include "base/error.h"
#include "base/number.h"
#include "sources/opseq_form.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { QUOTE_MAX = 24, HASH_DIGITS = 16 };

static const char *const operand_names[] = {
    [TTS_OPERAND_END] = "",        [TTS_OPERAND_SIZE] = "SIZE", [TTS_OPERAND_UP] = "UP",
    [TTS_OPERAND_LIMIT] = "LIMIT", [TTS_OPERAND_ADDR] = "ADDR", [TTS_OPERAND_CUT] = "BYTES",
};

static const char *const shape_usage[] = {
    [TTS_SHAPE_NOTHING] = "nothing",
    [TTS_SHAPE_TAKE] = "'ADDR', 'F' or 'T ADDR'",
    [TTS_SHAPE_AT] = "'ADDR' or 'F'",
    [TTS_SHAPE_CUT] = "'ok' or 'E'",
    [TTS_SHAPE_STATS] = "'TOTAL ALLOCATED FREE LARGEST'",
    [TTS_SHAPE_LOWEST] = "'ADDR' or 'none'",
    [TTS_SHAPE_STALE] = "'REPORTED TRUE', each an address or 'none'",
    [TTS_SHAPE_HASH] = "'N HASH', 16 hex digits",
};

static const char pool_usage[] =
    "P size=N offset=N min_allocation_size=N alignment=N policy=FIRST|BEST";

/* --- words ------------------------------------------------------------------------------ */

struct scan {
    const char *begin, *at, *end;
    struct tts_error *err;
};

struct word {
    const char *text;
    size_t len; /* 0 at the end of the line */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct word next_word(struct scan *scan)
{
    const char *at = scan->at;
    while (at < scan->end && is_blank(*at))
        at++;
    const char *start = at;
    while (at < scan->end && !is_blank(*at))
        at++;
    scan->at = at;
    return (struct word){start, (size_t)(at - start)};
}

static bool word_is(struct word word, const char *text)
{
    return strlen(text) == word.len && memcmp(word.text, text, word.len) == 0;
}

/* A foreign word as a message can hold it: short, and nothing that a terminal would obey. */
struct quote {
    char text[QUOTE_MAX + sizeof "..."];
};

static struct quote quote(struct word word)
{
    struct quote out;
    size_t len = word.len < QUOTE_MAX ? word.len : QUOTE_MAX;
    for (size_t i = 0; i < len; i++)
        out.text[i] = word.text[i] >= ' ' && word.text[i] <= '~' ? word.text[i] : '?';
    memcpy(out.text + len, word.len > QUOTE_MAX ? "..." : "", word.len > QUOTE_MAX ? 4 : 1);
    return out;
}

/* What a word suggests that stands where it cannot. */
static const char *hint(struct word word)
{
    if (word.len > 0 && word.text[0] == '#')
        return "; a comment has a line of its own";
    bool glued = word.len > 1 && memchr(word.text, '=', word.len);
    return glued ? "; '=' stands alone between blanks" : "";
}

/* Adds where it was to an error that has been set. */
static enum tts_status at_word(struct scan *scan, struct word word, enum tts_status status)
{
    if (scan->err)
        scan->err->offset = (uint64_t)(word.text - scan->begin);
    return status;
}

static enum tts_status parse_number(struct scan *scan, struct word word, const char *name,
                                    uint64_t *out)
{
    enum tts_status status = tts_number_parse(word.text, word.len, out);
    if (status == TTS_OK)
        return TTS_OK;
    struct quote got = quote(word);
    if (status == TTS_E_RANGE)
        tts_error_set(scan->err, status, "%s '%s' is past 64 bits, the most is %" PRIu64, name,
                      got.text, UINT64_MAX);
    else if (word.len == 0)
        tts_error_set(scan->err, status, "expected a decimal number for %s, got nothing", name);
    else
        tts_error_set(scan->err, status, "expected a decimal number for %s, got '%s'", name,
                      got.text);
    return at_word(scan, word, status);
}

/* --- the pool --------------------------------------------------------------------------- */

static enum tts_status parse_policy(struct scan *scan, struct word word, enum tts_policy *out)
{
    for (enum tts_policy policy = TTS_POLICY_FIRST; policy <= TTS_POLICY_BEST; policy++) {
        if (word_is(word, tts_opseq_policy_names[policy])) {
            *out = policy;
            return TTS_OK;
        }
    }
    tts_error_set(scan->err, TTS_E_SYNTAX, "expected policy=FIRST or policy=BEST, got '%s'",
                  quote(word).text);
    return at_word(scan, word, TTS_E_SYNTAX);
}

/* Splits "name=value"; the field's index, or TTS_FIELDS when it has no such name. */
static int split_field(struct word word, struct word *value)
{
    const char *equals = memchr(word.text, '=', word.len);
    if (!equals)
        return TTS_FIELDS;
    struct word name = {word.text, (size_t)(equals - word.text)};
    *value = (struct word){equals + 1, word.len - name.len - 1};
    int field = 0;
    while (field < TTS_FIELDS && !word_is(name, tts_opseq_field_names[field]))
        field++;
    return field;
}

static enum tts_status parse_field(struct scan *scan, int field, struct word value,
                                   struct tts_space_config *pool)
{
    uint64_t *const numbers[] = {&pool->size_bytes, &pool->offset_bytes, &pool->min_bytes,
                                 &pool->alignment_bytes};
    if (field == TTS_FIELD_POLICY)
        return parse_policy(scan, value, &pool->policy);
    return parse_number(scan, value, tts_opseq_field_names[field], numbers[field]);
}

static enum tts_status parse_pool(struct scan *scan, struct tts_opseq_line *out)
{
    unsigned seen = 0;
    for (struct word word = next_word(scan); word.len > 0; word = next_word(scan)) {
        struct word value;
        int field = split_field(word, &value);
        if (field == TTS_FIELDS) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "unknown field '%s', expected '%s'",
                          quote(word).text, pool_usage);
            return at_word(scan, word, TTS_E_SYNTAX);
        }
        if (seen & 1u << field) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "field '%s' stands twice",
                          tts_opseq_field_names[field]);
            return at_word(scan, word, TTS_E_SYNTAX);
        }
        enum tts_status status = parse_field(scan, field, value, &out->pool);
        if (status != TTS_OK)
            return status;
        seen |= 1u << field;
    }
    for (int field = 0; field < TTS_FIELDS; field++)
        if (!(seen & 1u << field))
            return tts_error_set(scan->err, TTS_E_SYNTAX,
                                 "field '%s' is missing, expected '%s'",
                                 tts_opseq_field_names[field], pool_usage);
    return TTS_OK;
}

/* --- results ---------------------------------------------------------------------------- */

/* Words behind the first "=" of the line. */
static unsigned count_result_words(const struct scan *scan)
{
    struct scan again = {scan->begin, scan->begin, scan->end, NULL};
    unsigned count = 0;
    while (!word_is(next_word(&again), "="))
        assert(again.at < again.end);
    while (next_word(&again).len > 0)
        count++;
    return count;
}

/* "got" for a result that does not have its shape. */
static enum tts_status bad_result(struct scan *scan, enum tts_opseq_kind kind, struct word word)
{
    const char *usage = shape_usage[tts_opseq_forms[kind].shape];
    unsigned words = count_result_words(scan);
    if (words == 0)
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected %s after '%c ... =', got nothing",
                      usage, tts_opseq_forms[kind].letter);
    else if (word.len == 0)
        tts_error_set(scan->err, TTS_E_SYNTAX,
                      "expected %s after '%c ... =', got only %u word%s", usage,
                      tts_opseq_forms[kind].letter, words, words == 1 ? "" : "s");
    else
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected %s after '%c ... =', got '%s'", usage,
                      tts_opseq_forms[kind].letter, quote(word).text);
    return at_word(scan, word, TTS_E_SYNTAX);
}

/* One number of a result. A bad word is told with the shape, a large one with its limit. */
static enum tts_status parse_value(struct scan *scan, enum tts_opseq_kind kind,
                                   struct word word, uint64_t *out)
{
    enum tts_status status = tts_number_parse(word.text, word.len, out);
    if (status == TTS_E_SYNTAX)
        return bad_result(scan, kind, word);
    return status == TTS_OK ? TTS_OK : parse_number(scan, word, "result", out);
}

static enum tts_status parse_lowest(struct scan *scan, struct tts_opseq_line *out)
{
    int words = out->kind == TTS_OPSEQ_STALE ? 2 : 1;
    for (int i = 0; i < words; i++) {
        struct word word = next_word(scan);
        out->result.none[i] = word_is(word, "none");
        if (out->result.none[i])
            continue;
        enum tts_status status = parse_value(scan, out->kind, word, &out->result.value[i]);
        if (status != TTS_OK)
            return status;
    }
    if (words == 1) {
        out->result.none[1] = out->result.none[0];
        out->result.value[1] = out->result.value[0];
    }
    return TTS_OK;
}

static enum tts_status parse_hash(struct scan *scan, struct tts_opseq_line *out)
{
    enum tts_status status =
        parse_value(scan, out->kind, next_word(scan), &out->result.value[0]);
    if (status != TTS_OK)
        return status;
    struct word word = next_word(scan);
    if (word.len != HASH_DIGITS ||
        tts_number_parse_hex(word.text, word.len, &out->result.value[1]) != TTS_OK)
        return bad_result(scan, out->kind, word);
    return TTS_OK;
}

static enum tts_status parse_stats(struct scan *scan, struct tts_opseq_line *out)
{
    for (int i = 0; i < TTS_OPSEQ_VALUES; i++) {
        enum tts_status status =
            parse_value(scan, out->kind, next_word(scan), &out->result.value[i]);
        if (status != TTS_OK)
            return status;
    }
    return TTS_OK;
}

/* a and x: an address, F, and for a also T with an address. */
static enum tts_status parse_address(struct scan *scan, struct tts_opseq_line *out)
{
    struct word word = next_word(scan);
    if (word_is(word, "F")) {
        out->result.outcome = TTS_OPSEQ_FAILED;
        return TTS_OK;
    }
    if (out->kind == TTS_OPSEQ_TAKE && word_is(word, "T")) {
        out->result.outcome = TTS_OPSEQ_BELOW_LIMIT;
        word = next_word(scan);
    }
    return parse_value(scan, out->kind, word, &out->result.value[0]);
}

static enum tts_status parse_cut(struct scan *scan, struct tts_opseq_line *out)
{
    struct word word = next_word(scan);
    if (word_is(word, "E"))
        out->result.outcome = TTS_OPSEQ_FAILED;
    else if (!word_is(word, "ok"))
        return bad_result(scan, out->kind, word);
    return TTS_OK;
}

static enum tts_status parse_shape(struct scan *scan, struct tts_opseq_line *out)
{
    switch ((enum tts_opseq_shape)tts_opseq_forms[out->kind].shape) {
    case TTS_SHAPE_NOTHING:
        return tts_error_set(scan->err, TTS_E_SYNTAX, "'%s' has no result, got '='",
                             tts_opseq_forms[out->kind].usage);
    case TTS_SHAPE_TAKE:
    case TTS_SHAPE_AT:
        return parse_address(scan, out);
    case TTS_SHAPE_CUT:
        return parse_cut(scan, out);
    case TTS_SHAPE_STATS:
        return parse_stats(scan, out);
    case TTS_SHAPE_LOWEST:
    case TTS_SHAPE_STALE:
        return parse_lowest(scan, out);
    case TTS_SHAPE_HASH:
        return parse_hash(scan, out);
    }
    return TTS_E_SYNTAX;
}

static enum tts_status parse_result(struct scan *scan, struct tts_opseq_line *out)
{
    enum tts_status status = parse_shape(scan, out);
    if (status != TTS_OK)
        return status;
    struct word word = next_word(scan);
    if (word.len > 0) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected the line to end after %s, got '%s'%s",
                      shape_usage[tts_opseq_forms[out->kind].shape], quote(word).text,
                      hint(word));
        return at_word(scan, word, TTS_E_SYNTAX);
    }
    out->has_result = true;
    return TTS_OK;
}

/* --- operations ------------------------------------------------------------------------- */

static enum tts_status set_operand(struct scan *scan, enum tts_opseq_operand operand,
                                   struct word word, struct tts_opseq_line *out)
{
    uint64_t value;
    if (hint(word)[0]) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected a decimal number for %s, got '%s'%s",
                      operand_names[operand], quote(word).text, hint(word));
        return at_word(scan, word, TTS_E_SYNTAX);
    }
    enum tts_status status = parse_number(scan, word, operand_names[operand], &value);
    if (status != TTS_OK)
        return status;
    if (operand == TTS_OPERAND_UP && value > 1) {
        tts_error_set(scan->err, TTS_E_SYNTAX,
                      "UP must be 0 (from the top) or 1 (from the "
                      "bottom), got '%s'",
                      quote(word).text);
        return at_word(scan, word, TTS_E_SYNTAX);
    }
    if (operand == TTS_OPERAND_UP)
        out->direction = value ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN;
    else if (operand == TTS_OPERAND_LIMIT)
        out->limit = value;
    else if (operand == TTS_OPERAND_ADDR)
        out->address = value;
    else
        out->bytes = value;
    return TTS_OK;
}

/* The message for an operation with too few or too many words; `word` is the first that shows
 * it and `got` the operands before. */
static enum tts_status bad_count(struct scan *scan, const struct tts_opseq_form *form,
                                 struct word word, unsigned got)
{
    struct word first = word;
    for (; word.len > 0 && !word_is(word, "="); word = next_word(scan))
        got++;
    tts_error_set(scan->err, TTS_E_SYNTAX, "expected '%s', got %u operand%s%s", form->usage,
                  got, got == 1 ? "" : "s", hint(first));
    return at_word(scan, first, TTS_E_SYNTAX);
}

static enum tts_status parse_operation(struct scan *scan, struct tts_opseq_line *out)
{
    const struct tts_opseq_form *form = &tts_opseq_forms[out->kind];
    for (unsigned i = 0;; i++) {
        struct word word = next_word(scan);
        bool ends = word.len == 0 || word_is(word, "=");
        if (ends != (form->operands[i] == TTS_OPERAND_END))
            return bad_count(scan, form, word, i);
        if (ends)
            return word.len == 0 ? TTS_OK : parse_result(scan, out);
        enum tts_status status = set_operand(scan, form->operands[i], word, out);
        if (status != TTS_OK)
            return status;
    }
}

/* TTS_OPSEQ_BLANK when no kind has this letter. */
static enum tts_opseq_kind kind_of(struct word word)
{
    enum tts_opseq_kind kind = TTS_OPSEQ_POOL;
    if (word.len != 1)
        return TTS_OPSEQ_BLANK;
    while (kind < TTS_OPSEQ_KINDS && tts_opseq_forms[kind].letter != word.text[0])
        kind++;
    return kind < TTS_OPSEQ_KINDS ? kind : TTS_OPSEQ_BLANK;
}

enum tts_status tts_opseq_parse(const char *text, size_t len, struct tts_opseq_line *out,
                                struct tts_error *err)
{
    struct scan scan = {text, text, text + len, err};
    struct tts_opseq_line line = {.kind = TTS_OPSEQ_BLANK};
    struct word word = next_word(&scan);
    if (word.len == 0 || word.text[0] == '#') {
        *out = line;
        return TTS_OK;
    }
    line.kind = kind_of(word);
    if (line.kind == TTS_OPSEQ_BLANK) {
        tts_error_set(err, TTS_E_SYNTAX,
                      "unknown operation '%s', expected one of P a x d k r c s l q v m t",
                      quote(word).text);
        return at_word(&scan, word, TTS_E_SYNTAX);
    }
    enum tts_status status =
        line.kind == TTS_OPSEQ_POOL ? parse_pool(&scan, &line) : parse_operation(&scan, &line);
    if (status == TTS_OK)
        *out = line;
    return status;
}
