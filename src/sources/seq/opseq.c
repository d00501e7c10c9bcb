#include "sources/seq/opseq.h"

#include "base/error.h"
#include "base/number.h"
#include "device/space.h"
#include "sources/seq/words.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { TTS_OPERANDS_MAX = 3 };

/* The kind of an operand. */
enum tts_opseq_operand {
    TTS_OPERAND_END,
    TTS_OPERAND_SIZE,
    TTS_OPERAND_UP,
    TTS_OPERAND_LIMIT,
    TTS_OPERAND_ADDR,
    TTS_OPERAND_CUT,
};

/* The form of the result after '='. */
enum tts_opseq_shape {
    TTS_SHAPE_NOTHING,
    TTS_SHAPE_TAKE,
    TTS_SHAPE_AT,
    TTS_SHAPE_CUT,
    TTS_SHAPE_STATS,
    TTS_SHAPE_LOWEST,
    TTS_SHAPE_STALE,
    TTS_SHAPE_HASH,
};

struct tts_opseq_form {
    char letter;
    /* Values of enum tts_opseq_operand, terminated by END. */
    uint8_t operands[TTS_OPERANDS_MAX + 1];
    uint8_t shape; /* enum tts_opseq_shape */
    const char *usage;
};

/* The fields of a pool in the order of the canonical text: the numbers of struct
 * tts_space_config, then the policy. */
enum {
    TTS_FIELD_SIZE,
    TTS_FIELD_OFFSET,
    TTS_FIELD_MIN,
    TTS_FIELD_ALIGNMENT,
    TTS_FIELD_POLICY,
    TTS_FIELDS
};

static const struct tts_opseq_form opseq_forms[TTS_OPSEQ_KINDS] = {
    [TTS_OPSEQ_BLANK] = {' ', {0}, TTS_SHAPE_NOTHING, ""},
    [TTS_OPSEQ_POOL] = {'P', {0}, TTS_SHAPE_NOTHING, "P"},
    [TTS_OPSEQ_TAKE] = {'a',
                        {TTS_OPERAND_SIZE, TTS_OPERAND_UP, TTS_OPERAND_LIMIT},
                        TTS_SHAPE_TAKE,
                        "a SIZE UP LIMIT"},
    [TTS_OPSEQ_TAKE_AT] = {'x',
                           {TTS_OPERAND_ADDR, TTS_OPERAND_SIZE},
                           TTS_SHAPE_AT,
                           "x ADDR SIZE"},
    [TTS_OPSEQ_GIVE] = {'d', {TTS_OPERAND_ADDR}, TTS_SHAPE_NOTHING, "d ADDR"},
    [TTS_OPSEQ_SHRINK] = {'k', {TTS_OPERAND_CUT}, TTS_SHAPE_CUT, "k BYTES"},
    [TTS_OPSEQ_UNSHRINK] = {'r', {0}, TTS_SHAPE_NOTHING, "r"},
    [TTS_OPSEQ_CLEAR] = {'c', {0}, TTS_SHAPE_NOTHING, "c"},
    [TTS_OPSEQ_STATS] = {'s', {0}, TTS_SHAPE_STATS, "s"},
    [TTS_OPSEQ_LOWEST] = {'l', {0}, TTS_SHAPE_LOWEST, "l"},
    [TTS_OPSEQ_STALE] = {'q', {0}, TTS_SHAPE_STALE, "q"},
    [TTS_OPSEQ_AVAILABLE] = {'v', {TTS_OPERAND_SIZE}, TTS_SHAPE_HASH, "v SIZE"},
    [TTS_OPSEQ_MAP] = {'m', {0}, TTS_SHAPE_HASH, "m"},
    [TTS_OPSEQ_TABLE] = {'t', {0}, TTS_SHAPE_HASH, "t"},
};

static const char *const opseq_field_names[TTS_FIELDS] = {
    "size", "offset", "min_allocation_size", "alignment", "policy"};

static const char *const opseq_policy_names[] = {
    [TTS_POLICY_FIRST] = "FIRST", [TTS_POLICY_BEST] = "BEST"};

char tts_opseq_letter(enum tts_opseq_kind kind)
{
    return opseq_forms[kind].letter;
}

const char *tts_opseq_policy_name(enum tts_policy policy)
{
    return opseq_policy_names[policy];
}

bool tts_opseq_kind_has_result(enum tts_opseq_kind kind)
{
    return opseq_forms[kind].shape != TTS_SHAPE_NOTHING;
}

bool tts_opseq_result_equal(const struct tts_opseq_result *a, const struct tts_opseq_result *b)
{
    return a->outcome == b->outcome && a->none[0] == b->none[0] && a->none[1] == b->none[1] &&
           memcmp(a->value, b->value, sizeof a->value) == 0;
}

static char *put_opseq_hash(char *at, uint64_t hash)
{
    *at++ = ' ';
    tts_number_format_hex(at, hash, 16);
    return at + 16;
}

static char *put_opseq_pool(char *at, const struct tts_space_config *pool)
{
    const uint64_t numbers[] = {pool->size_bytes, pool->offset_bytes, pool->min_bytes,
                                pool->alignment_bytes};
    for (int field = 0; field < TTS_FIELDS; field++) {
        *at++ = ' ';
        at = tts_put_text(at, opseq_field_names[field]);
        *at++ = '=';
        at = field == TTS_FIELD_POLICY ? tts_put_text(at, opseq_policy_names[pool->policy])
                                       : tts_put_number(at, numbers[field]);
    }
    return at;
}

static char *put_opseq_operands(char *at, const struct tts_opseq_line *line)
{
    for (const uint8_t *operand = opseq_forms[line->kind].operands; *operand; operand++) {
        if (*operand == TTS_OPERAND_UP)
            at = tts_put_operand(at, line->direction == TTS_DIRECTION_UP);
        else if (*operand == TTS_OPERAND_LIMIT)
            at = tts_put_operand(at, line->limit);
        else if (*operand == TTS_OPERAND_ADDR)
            at = tts_put_operand(at, line->address);
        else
            at = tts_put_operand(at, line->bytes);
    }
    return at;
}

static char *put_opseq_address(char *at, const struct tts_opseq_result *result)
{
    if (result->outcome == TTS_OPSEQ_FAILED)
        return tts_put_text(at, " F");
    if (result->outcome == TTS_OPSEQ_BELOW_LIMIT)
        at = tts_put_text(at, " T");
    return tts_put_operand(at, result->value[0]);
}

static char *put_opseq_lowest(char *at, const struct tts_opseq_result *result, int words)
{
    for (int i = 0; i < words; i++)
        at =
            result->none[i] ? tts_put_text(at, " none") : tts_put_operand(at, result->value[i]);
    return at;
}

static char *put_opseq_result(char *at, enum tts_opseq_shape shape,
                              const struct tts_opseq_result *result)
{
    at = tts_put_text(at, " =");
    switch (shape) {
    case TTS_SHAPE_NOTHING:
        break;
    case TTS_SHAPE_TAKE:
    case TTS_SHAPE_AT:
        return put_opseq_address(at, result);
    case TTS_SHAPE_CUT:
        return tts_put_text(at, result->outcome == TTS_OPSEQ_FAILED ? " E" : " ok");
    case TTS_SHAPE_STATS:
        for (int i = 0; i < TTS_OPSEQ_VALUES; i++)
            at = tts_put_operand(at, result->value[i]);
        return at;
    case TTS_SHAPE_LOWEST:
        return put_opseq_lowest(at, result, 1);
    case TTS_SHAPE_STALE:
        return put_opseq_lowest(at, result, 2);
    case TTS_SHAPE_HASH:
        return put_opseq_hash(tts_put_operand(at, result->value[0]), result->value[1]);
    }
    return at;
}

size_t tts_opseq_format(const struct tts_opseq_line *line, char out[TTS_OPSEQ_TEXT_MAX])
{
    char *at = out;
    if (line->kind != TTS_OPSEQ_BLANK)
        *at++ = opseq_forms[line->kind].letter;
    if (line->kind == TTS_OPSEQ_POOL)
        at = put_opseq_pool(at, &line->pool);
    at = put_opseq_operands(at, line);
    if (line->has_result)
        at = put_opseq_result(at, opseq_forms[line->kind].shape, &line->result);
    *at = '\0';
    assert(at - out < TTS_OPSEQ_TEXT_MAX);
    return (size_t)(at - out);
}

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
    [TTS_SHAPE_STALE] = "'REPORTED TRUE' (each is an address or 'none')",
    [TTS_SHAPE_HASH] = "'N HASH' (HASH has 16 hex digits)",
};

static const char pool_usage[] =
    "P size=N offset=N min_allocation_size=N alignment=N policy=FIRST|BEST";

/* Returns a hint for the message about a word in the wrong place; "" if there is no hint. */
static const char *usage_hint(struct tts_word word)
{
    if (word.len > 0 && word.text[0] == '#')
        return "; write a comment on its own line";
    bool glued = word.len > 1 && memchr(word.text, '=', word.len);
    return glued ? "; put spaces around '='" : "";
}

/* --- the pool --------------------------------------------------------------------------- */

static enum tts_status parse_pool_policy(struct tts_scan *scan, struct tts_word word,
                                         enum tts_policy *out)
{
    for (enum tts_policy policy = TTS_POLICY_FIRST; policy <= TTS_POLICY_BEST; policy++) {
        if (tts_word_is(word, opseq_policy_names[policy])) {
            *out = policy;
            return TTS_OK;
        }
    }
    tts_error_set(scan->err, TTS_E_SYNTAX, "expected policy=FIRST or policy=BEST, got '%s'",
                  tts_word_quote(word).text);
    return tts_scan_at(scan, word, TTS_E_SYNTAX);
}

/* Splits "name=value" and sets *value. Returns the index of the field, or TTS_FIELDS for an
 * unknown name. */
static int split_pool_field(struct tts_word word, struct tts_word *value)
{
    struct tts_word name;
    int field = 0;
    if (!tts_word_split(word, &name, value))
        return TTS_FIELDS;
    while (field < TTS_FIELDS && !tts_word_is(name, opseq_field_names[field]))
        field++;
    return field;
}

static enum tts_status parse_pool_field(struct tts_scan *scan, int field, struct tts_word value,
                                        struct tts_space_config *pool)
{
    uint64_t *const numbers[] = {&pool->size_bytes, &pool->offset_bytes, &pool->min_bytes,
                                 &pool->alignment_bytes};
    if (field == TTS_FIELD_POLICY)
        return parse_pool_policy(scan, value, &pool->policy);
    return tts_scan_number(scan, value, opseq_field_names[field], numbers[field]);
}

static enum tts_status parse_pool_fields(struct tts_scan *scan, struct tts_opseq_line *out)
{
    unsigned seen = 0;
    for (struct tts_word word = tts_scan_word(scan); word.len > 0; word = tts_scan_word(scan)) {
        struct tts_word value;
        int field = split_pool_field(word, &value);
        if (field == TTS_FIELDS) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "unknown field '%s', expected '%s'",
                          tts_word_quote(word).text, pool_usage);
            return tts_scan_at(scan, word, TTS_E_SYNTAX);
        }
        if (seen & 1u << field) {
            tts_error_set(scan->err, TTS_E_SYNTAX, "field '%s' is given twice",
                          opseq_field_names[field]);
            return tts_scan_at(scan, word, TTS_E_SYNTAX);
        }
        enum tts_status status = parse_pool_field(scan, field, value, &out->pool);
        if (status != TTS_OK)
            return status;
        seen |= 1u << field;
    }
    for (int field = 0; field < TTS_FIELDS; field++)
        if (!(seen & 1u << field))
            return tts_error_set(scan->err, TTS_E_SYNTAX,
                                 "field '%s' is missing, expected '%s'",
                                 opseq_field_names[field], pool_usage);
    return TTS_OK;
}

/* --- results ---------------------------------------------------------------------------- */

/* Returns the number of words after the first "=" of the line. Does not move the scan. */
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

/* Fails because a result has the wrong form. */
static enum tts_status fail_result(struct tts_scan *scan, enum tts_opseq_kind kind,
                                   struct tts_word word)
{
    const char *usage = shape_usage[opseq_forms[kind].shape];
    unsigned words = count_result_words(scan);
    if (words == 0)
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected %s after '%c ... =', got nothing",
                      usage, opseq_forms[kind].letter);
    else if (word.len == 0)
        tts_error_set(scan->err, TTS_E_SYNTAX,
                      "expected %s after '%c ... =', got only %u word%s", usage,
                      opseq_forms[kind].letter, words, words == 1 ? "" : "s");
    else
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected %s after '%c ... =', got '%s'", usage,
                      opseq_forms[kind].letter, tts_word_quote(word).text);
    return tts_scan_at(scan, word, TTS_E_SYNTAX);
}

/* Parses one number of a result. If the word is no number, the message shows the form of the
 * result; if the number is too large, the message names the limit. */
static enum tts_status parse_result_value(struct tts_scan *scan, enum tts_opseq_kind kind,
                                          struct tts_word word, uint64_t *out)
{
    enum tts_status status = tts_number_parse(word.text, word.len, out);
    if (status == TTS_E_SYNTAX)
        return fail_result(scan, kind, word);
    return status == TTS_OK ? TTS_OK : tts_scan_number(scan, word, "result", out);
}

static enum tts_status parse_lowest_result(struct tts_scan *scan, struct tts_opseq_line *out)
{
    int words = out->kind == TTS_OPSEQ_STALE ? 2 : 1;
    for (int i = 0; i < words; i++) {
        struct tts_word word = tts_scan_word(scan);
        out->result.none[i] = tts_word_is(word, "none");
        if (out->result.none[i])
            continue;
        enum tts_status status =
            parse_result_value(scan, out->kind, word, &out->result.value[i]);
        if (status != TTS_OK)
            return status;
    }
    if (words == 1) {
        out->result.none[1] = out->result.none[0];
        out->result.value[1] = out->result.value[0];
    }
    return TTS_OK;
}

static enum tts_status parse_hash_result(struct tts_scan *scan, struct tts_opseq_line *out)
{
    enum tts_status status =
        parse_result_value(scan, out->kind, tts_scan_word(scan), &out->result.value[0]);
    if (status != TTS_OK)
        return status;
    struct tts_word word = tts_scan_word(scan);
    if (word.len != HASH_DIGITS ||
        tts_number_parse_hex(word.text, word.len, &out->result.value[1]) != TTS_OK)
        return fail_result(scan, out->kind, word);
    return TTS_OK;
}

static enum tts_status parse_stats_result(struct tts_scan *scan, struct tts_opseq_line *out)
{
    for (int i = 0; i < TTS_OPSEQ_VALUES; i++) {
        enum tts_status status =
            parse_result_value(scan, out->kind, tts_scan_word(scan), &out->result.value[i]);
        if (status != TTS_OK)
            return status;
    }
    return TTS_OK;
}

/* Parses the result of `a` or `x`: an address, F (failed), or for `a` also T with an address
 * (below the limit). */
static enum tts_status parse_take_result(struct tts_scan *scan, struct tts_opseq_line *out)
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
    return parse_result_value(scan, out->kind, word, &out->result.value[0]);
}

static enum tts_status parse_cut_result(struct tts_scan *scan, struct tts_opseq_line *out)
{
    struct tts_word word = tts_scan_word(scan);
    if (tts_word_is(word, "E"))
        out->result.outcome = TTS_OPSEQ_FAILED;
    else if (!tts_word_is(word, "ok"))
        return fail_result(scan, out->kind, word);
    return TTS_OK;
}

static enum tts_status parse_result_shape(struct tts_scan *scan, struct tts_opseq_line *out)
{
    switch ((enum tts_opseq_shape)opseq_forms[out->kind].shape) {
    case TTS_SHAPE_NOTHING:
        return tts_error_set(scan->err, TTS_E_SYNTAX,
                             "operation '%s' has no result, but the line has a '='",
                             opseq_forms[out->kind].usage);
    case TTS_SHAPE_TAKE:
    case TTS_SHAPE_AT:
        return parse_take_result(scan, out);
    case TTS_SHAPE_CUT:
        return parse_cut_result(scan, out);
    case TTS_SHAPE_STATS:
        return parse_stats_result(scan, out);
    case TTS_SHAPE_LOWEST:
    case TTS_SHAPE_STALE:
        return parse_lowest_result(scan, out);
    case TTS_SHAPE_HASH:
        return parse_hash_result(scan, out);
    }
    return TTS_E_SYNTAX;
}

static enum tts_status parse_opseq_result(struct tts_scan *scan, struct tts_opseq_line *out)
{
    enum tts_status status = parse_result_shape(scan, out);
    if (status != TTS_OK)
        return status;
    struct tts_word word = tts_scan_word(scan);
    if (word.len > 0) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected the line to end after %s, got '%s'%s",
                      shape_usage[opseq_forms[out->kind].shape], tts_word_quote(word).text,
                      usage_hint(word));
        return tts_scan_at(scan, word, TTS_E_SYNTAX);
    }
    out->has_result = true;
    return TTS_OK;
}

/* --- operations ------------------------------------------------------------------------- */

static enum tts_status set_opseq_operand(struct tts_scan *scan, enum tts_opseq_operand operand,
                                         struct tts_word word, struct tts_opseq_line *out)
{
    uint64_t value;
    if (usage_hint(word)[0]) {
        tts_error_set(scan->err, TTS_E_SYNTAX, "expected a decimal number for %s, got '%s'%s",
                      operand_names[operand], tts_word_quote(word).text, usage_hint(word));
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

/* Fails because an operation has too few or too many words. `word` is the first wrong word,
 * `got` the number of operands before it. */
static enum tts_status fail_operand_count(struct tts_scan *scan,
                                          const struct tts_opseq_form *form,
                                          struct tts_word word, unsigned got)
{
    struct tts_word first = word;
    for (; word.len > 0 && !tts_word_is(word, "="); word = tts_scan_word(scan))
        got++;
    tts_error_set(scan->err, TTS_E_SYNTAX, "expected '%s', got %u operand%s%s", form->usage,
                  got, got == 1 ? "" : "s", usage_hint(first));
    return tts_scan_at(scan, first, TTS_E_SYNTAX);
}

static enum tts_status parse_opseq_operands(struct tts_scan *scan, struct tts_opseq_line *out)
{
    const struct tts_opseq_form *form = &opseq_forms[out->kind];
    for (unsigned i = 0;; i++) {
        struct tts_word word = tts_scan_word(scan);
        bool ends = word.len == 0 || tts_word_is(word, "=");
        if (ends != (form->operands[i] == TTS_OPERAND_END))
            return fail_operand_count(scan, form, word, i);
        if (ends)
            return word.len == 0 ? TTS_OK : parse_opseq_result(scan, out);
        enum tts_status status = set_opseq_operand(scan, form->operands[i], word, out);
        if (status != TTS_OK)
            return status;
    }
}

/* Returns the kind whose letter is `word`, or TTS_OPSEQ_BLANK if there is none. */
static enum tts_opseq_kind find_opseq_kind(struct tts_word word)
{
    enum tts_opseq_kind kind = TTS_OPSEQ_POOL;
    if (word.len != 1)
        return TTS_OPSEQ_BLANK;
    while (kind < TTS_OPSEQ_KINDS && opseq_forms[kind].letter != word.text[0])
        kind++;
    return kind < TTS_OPSEQ_KINDS ? kind : TTS_OPSEQ_BLANK;
}

/* Returns true if the word looks like a verb of the device language, such as "buffer" or
 * "cb". */
static bool is_devseq_verb(struct tts_word word)
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
    line.kind = find_opseq_kind(word);
    if (line.kind == TTS_OPSEQ_BLANK) {
        tts_error_set(err, TTS_E_SYNTAX,
                      "unknown operation '%s', expected one of P a x d k r c s l q v m t%s",
                      tts_word_quote(word).text,
                      is_devseq_verb(word) ? "; for a whole device add --device NAME" : "");
        return tts_scan_at(&scan, word, TTS_E_SYNTAX);
    }
    enum tts_status status = line.kind == TTS_OPSEQ_POOL ? parse_pool_fields(&scan, &line)
                                                         : parse_opseq_operands(&scan, &line);
    if (status == TTS_OK)
        *out = line;
    return status;
}
