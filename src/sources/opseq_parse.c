#include "device/space.h"
#include "sources/opseq.h"

#include "base/error.h"
#include "base/number.h"
#include "sources/opseq_form.h"
#include "sources/words.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { HASH_DIGITS = 16 };

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

/* What a word suggests that stands where it cannot. */
static const char *hint(struct tts_word word)
{
    if (word.len > 0 && word.text[0] == '#')
        return "; a comment has a line of its own";
    bool glued = word.len > 1 && memchr(word.text, '=', word.len);
    return glued ? "; '=' stands alone between blanks" : "";
}

/* --- the pool --------------------------------------------------------------------------- */

static enum tts_status parse_policy(struct tts_scan *scan, struct tts_word word,
                                    enum tts_policy *out)
{
    for (enum tts_policy policy = TTS_POLICY_FIRST; policy <= TTS_POLICY_BEST; policy++) {
        if (tts_word_is(word, tts_opseq_policy_names[policy])) {
            *out = policy;
            return TTS_OK;
        }
    }
    tts_error_set(scan->err, TTS_E_SYNTAX, "expected policy=FIRST or policy=BEST, got '%s'",
                  tts_word_quote(word).text);
    return tts_scan_at(scan, word, TTS_E_SYNTAX);
}

/* Splits "name=value"; the field's index, or TTS_FIELDS when it has no such name. */
static int split_field(struct tts_word word, struct tts_word *value)
{
    struct tts_word name;
    int field = 0;
    if (!tts_word_split(word, &name, value))
        return TTS_FIELDS;
    while (field < TTS_FIELDS && !tts_word_is(name, tts_opseq_field_names[field]))
        field++;
    return field;
}

static enum tts_status parse_field(struct tts_scan *scan, int field, struct tts_word value,
                                   struct tts_space_config *pool)
{
    uint64_t *const numbers[] = {&pool->size_bytes, &pool->offset_bytes, &pool->min_bytes,
                                 &pool->alignment_bytes};
    if (field == TTS_FIELD_POLICY)
        return parse_policy(scan, value, &pool->policy);
    return tts_scan_number(scan, value, tts_opseq_field_names[field], numbers[field]);
}

static enum tts_status parse_pool(struct tts_scan *scan, struct tts_opseq_line *out)
{
    unsigned seen = 0;
    for (struct tts_word word = tts_scan_word(scan); word.len > 0; word = tts_scan_word(scan)) {
        struct tts_word value;
        int field = split_field(word, &value);
        if (field == TTS_FIELDS) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "unknown field '%s', expected '%s'",
                          tts_word_quote(word).text, pool_usage);
            return tts_scan_at(scan, word, TTS_E_SYNTAX);
        }
        if (seen & 1u << field) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "field '%s' stands twice",
                          tts_opseq_field_names[field]);
            return tts_scan_at(scan, word, TTS_E_SYNTAX);
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
static unsigned count_result_words(const struct tts_scan *scan)
{
    struct tts_scan again = {scan->begin, scan->begin, scan->end, NULL};
    unsigned count = 0;
    while (!tts_word_is(tts_scan_word(&again), "="))
        assert(again.at < again.end);
    while (tts_scan_word(&again).len > 0)
        count++;
    return count;
}

/* "got" for a result that does not have its shape. */
static enum tts_status bad_result(struct tts_scan *scan, enum tts_opseq_kind kind,
                                  struct tts_word word)
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
                      tts_opseq_forms[kind].letter, tts_word_quote(word).text);
    return tts_scan_at(scan, word, TTS_E_SYNTAX);
}

/* One number of a result. A bad word is told with the shape, a large one with its limit. */
static enum tts_status parse_value(struct tts_scan *scan, enum tts_opseq_kind kind,
                                   struct tts_word word, uint64_t *out)
{
    enum tts_status status = tts_number_parse(word.text, word.len, out);
    if (status == TTS_E_SYNTAX)
        return bad_result(scan, kind, word);
    return status == TTS_OK ? TTS_OK : tts_scan_number(scan, word, "result", out);
}

static enum tts_status parse_lowest(struct tts_scan *scan, struct tts_opseq_line *out)
{
    int words = out->kind == TTS_OPSEQ_STALE ? 2 : 1;
    for (int i = 0; i < words; i++) {
        struct tts_word word = tts_scan_word(scan);
        out->result.none[i] = tts_word_is(word, "none");
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

static enum tts_status parse_hash(struct tts_scan *scan, struct tts_opseq_line *out)
{
    enum tts_status status =
        parse_value(scan, out->kind, tts_scan_word(scan), &out->result.value[0]);
    if (status != TTS_OK)
        return status;
    struct tts_word word = tts_scan_word(scan);
    if (word.len != HASH_DIGITS ||
        tts_number_parse_hex(word.text, word.len, &out->result.value[1]) != TTS_OK)
        return bad_result(scan, out->kind, word);
    return TTS_OK;
}

static enum tts_status parse_stats(struct tts_scan *scan, struct tts_opseq_line *out)
{
    for (int i = 0; i < TTS_OPSEQ_VALUES; i++) {
        enum tts_status status =
            parse_value(scan, out->kind, tts_scan_word(scan), &out->result.value[i]);
        if (status != TTS_OK)
            return status;
    }
    return TTS_OK;
}

/* a and x: an address, F, and for a also T with an address. */
static enum tts_status parse_address(struct tts_scan *scan, struct tts_opseq_line *out)
{
    struct tts_word word = tts_scan_word(scan);
    if (tts_word_is(word, "F")) {
        out->result.outcome = TTS_OPSEQ_FAILED;
        return TTS_OK;
    }
    if (out->kind == TTS_OPSEQ_TAKE && tts_word_is(word, "T")) {
        out->result.outcome = TTS_OPSEQ_BELOW_LIMIT;
        word = tts_scan_word(scan);
    }
    return parse_value(scan, out->kind, word, &out->result.value[0]);
}

static enum tts_status parse_cut(struct tts_scan *scan, struct tts_opseq_line *out)
{
    struct tts_word word = tts_scan_word(scan);
    if (tts_word_is(word, "E"))
        out->result.outcome = TTS_OPSEQ_FAILED;
    else if (!tts_word_is(word, "ok"))
        return bad_result(scan, out->kind, word);
    return TTS_OK;
}

static enum tts_status parse_shape(struct tts_scan *scan, struct tts_opseq_line *out)
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

static enum tts_status parse_result(struct tts_scan *scan, struct tts_opseq_line *out)
{
    enum tts_status status = parse_shape(scan, out);
    if (status != TTS_OK)
        return status;
    struct tts_word word = tts_scan_word(scan);
    if (word.len > 0) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected the line to end after %s, got '%s'%s",
                      shape_usage[tts_opseq_forms[out->kind].shape], tts_word_quote(word).text,
                      hint(word));
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
    }
    out->has_result = true;
    return TTS_OK;
}

/* --- operations ------------------------------------------------------------------------- */

static enum tts_status set_operand(struct tts_scan *scan, enum tts_opseq_operand operand,
                                   struct tts_word word, struct tts_opseq_line *out)
{
    uint64_t value;
    if (hint(word)[0]) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected a decimal number for %s, got '%s'%s",
                      operand_names[operand], tts_word_quote(word).text, hint(word));
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
    }
    enum tts_status status = tts_scan_number(scan, word, operand_names[operand], &value);
    if (status != TTS_OK)
        return status;
    if (operand == TTS_OPERAND_UP && value > 1) {
        tts_error_set(scan->err, TTS_E_SYNTAX,
                      "UP must be 0 (from the top) or 1 (from the "
                      "bottom), got '%s'",
                      tts_word_quote(word).text);
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
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
static enum tts_status bad_count(struct tts_scan *scan, const struct tts_opseq_form *form,
                                 struct tts_word word, unsigned got)
{
    struct tts_word first = word;
    for (; word.len > 0 && !tts_word_is(word, "="); word = tts_scan_word(scan))
        got++;
    tts_error_set(scan->err, TTS_E_SYNTAX, "expected '%s', got %u operand%s%s", form->usage,
                  got, got == 1 ? "" : "s", hint(first));
    return tts_scan_at(scan, first, TTS_E_SYNTAX);
}

static enum tts_status parse_operation(struct tts_scan *scan, struct tts_opseq_line *out)
{
    const struct tts_opseq_form *form = &tts_opseq_forms[out->kind];
    for (unsigned i = 0;; i++) {
        struct tts_word word = tts_scan_word(scan);
        bool ends = word.len == 0 || tts_word_is(word, "=");
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
static enum tts_opseq_kind kind_of(struct tts_word word)
{
    enum tts_opseq_kind kind = TTS_OPSEQ_POOL;
    if (word.len != 1)
        return TTS_OPSEQ_BLANK;
    while (kind < TTS_OPSEQ_KINDS && tts_opseq_forms[kind].letter != word.text[0])
        kind++;
    return kind < TTS_OPSEQ_KINDS ? kind : TTS_OPSEQ_BLANK;
}

/* Does it look like a word of the language for a whole device, "buffer", "cb"? */
static bool is_statement(struct tts_word word)
{
    bool lower = word.len > 1;
    for (size_t i = 0; i < word.len && lower; i++)
        lower = word.text[i] >= 'a' && word.text[i] <= 'z';
    return lower;
}

enum tts_status tts_opseq_parse(const char *text, size_t len, struct tts_opseq_line *out,
                                struct tts_error *err)
{
    struct tts_scan scan = {text, text, text + len, err};
    struct tts_opseq_line line = {.kind = TTS_OPSEQ_BLANK};
    struct tts_word word = tts_scan_word(&scan);
    if (word.len == 0 || word.text[0] == '#') {
        *out = line;
        return TTS_OK;
    }
    line.kind = kind_of(word);
    if (line.kind == TTS_OPSEQ_BLANK) {
        tts_error_set(err, TTS_E_SYNTAX,
                      "unknown operation '%s', expected one of P a x d k r c s l q v m t%s",
                      tts_word_quote(word).text,
                      is_statement(word) ? "; for a whole device add --device NAME" : "");
        return tts_scan_at(&scan, word, TTS_E_SYNTAX);
    }
    enum tts_status status =
        line.kind == TTS_OPSEQ_POOL ? parse_pool(&scan, &line) : parse_operation(&scan, &line);
    if (status == TTS_OK)
        *out = line;
    return status;
}
