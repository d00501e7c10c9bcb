#include "sources/opseq.h"

#include "base/number.h"
#include "device/space.h"
#include "sources/opseq_form.h"

#include <assert.h>
#include <string.h>

const struct tts_opseq_form tts_opseq_forms[TTS_OPSEQ_KINDS] = {
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

const char *const tts_opseq_field_names[TTS_FIELDS] = {"size", "offset", "min_allocation_size",
                                                       "alignment", "policy"};
const char *const tts_opseq_policy_names[] = {
    [TTS_POLICY_FIRST] = "FIRST", [TTS_POLICY_BEST] = "BEST"};

char tts_opseq_letter(enum tts_opseq_kind kind)
{
    return tts_opseq_forms[kind].letter;
}

const char *tts_opseq_policy_name(enum tts_policy policy)
{
    return tts_opseq_policy_names[policy];
}

bool tts_opseq_kind_has_result(enum tts_opseq_kind kind)
{
    return tts_opseq_forms[kind].shape != TTS_SHAPE_NOTHING;
}

bool tts_opseq_result_equal(const struct tts_opseq_result *a, const struct tts_opseq_result *b)
{
    return a->outcome == b->outcome && a->none[0] == b->none[0] && a->none[1] == b->none[1] &&
           memcmp(a->value, b->value, sizeof a->value) == 0;
}

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

static char *put_operand(char *at, uint64_t value)
{
    *at++ = ' ';
    return put_number(at, value);
}

static char *put_hash(char *at, uint64_t hash)
{
    *at++ = ' ';
    tts_number_format_hex(at, hash, 16);
    return at + 16;
}

static char *put_pool(char *at, const struct tts_space_config *pool)
{
    const uint64_t numbers[] = {pool->size_bytes, pool->offset_bytes, pool->min_bytes,
                                pool->alignment_bytes};
    for (int field = 0; field < TTS_FIELDS; field++) {
        *at++ = ' ';
        at = put_text(at, tts_opseq_field_names[field]);
        *at++ = '=';
        at = field == TTS_FIELD_POLICY ? put_text(at, tts_opseq_policy_names[pool->policy])
                                       : put_number(at, numbers[field]);
    }
    return at;
}

static char *put_operands(char *at, const struct tts_opseq_line *line)
{
    for (const uint8_t *operand = tts_opseq_forms[line->kind].operands; *operand; operand++) {
        if (*operand == TTS_OPERAND_UP)
            at = put_operand(at, line->direction == TTS_DIRECTION_UP);
        else if (*operand == TTS_OPERAND_LIMIT)
            at = put_operand(at, line->limit);
        else if (*operand == TTS_OPERAND_ADDR)
            at = put_operand(at, line->address);
        else
            at = put_operand(at, line->bytes);
    }
    return at;
}

static char *put_address(char *at, const struct tts_opseq_result *result)
{
    if (result->outcome == TTS_OPSEQ_FAILED)
        return put_text(at, " F");
    if (result->outcome == TTS_OPSEQ_BELOW_LIMIT)
        at = put_text(at, " T");
    return put_operand(at, result->value[0]);
}

static char *put_lowest(char *at, const struct tts_opseq_result *result, int words)
{
    for (int i = 0; i < words; i++)
        at = result->none[i] ? put_text(at, " none") : put_operand(at, result->value[i]);
    return at;
}

static char *put_result(char *at, enum tts_opseq_shape shape,
                        const struct tts_opseq_result *result)
{
    at = put_text(at, " =");
    switch (shape) {
    case TTS_SHAPE_NOTHING:
        break;
    case TTS_SHAPE_TAKE:
    case TTS_SHAPE_AT:
        return put_address(at, result);
    case TTS_SHAPE_CUT:
        return put_text(at, result->outcome == TTS_OPSEQ_FAILED ? " E" : " ok");
    case TTS_SHAPE_STATS:
        for (int i = 0; i < TTS_OPSEQ_VALUES; i++)
            at = put_operand(at, result->value[i]);
        return at;
    case TTS_SHAPE_LOWEST:
        return put_lowest(at, result, 1);
    case TTS_SHAPE_STALE:
        return put_lowest(at, result, 2);
    case TTS_SHAPE_HASH:
        return put_hash(put_operand(at, result->value[0]), result->value[1]);
    }
    return at;
}

size_t tts_opseq_format(const struct tts_opseq_line *line, char out[TTS_OPSEQ_TEXT_MAX])
{
    char *at = out;
    if (line->kind != TTS_OPSEQ_BLANK)
        *at++ = tts_opseq_forms[line->kind].letter;
    if (line->kind == TTS_OPSEQ_POOL)
        at = put_pool(at, &line->pool);
    at = put_operands(at, line);
    if (line->has_result)
        at = put_result(at, tts_opseq_forms[line->kind].shape, &line->result);
    *at = '\0';
    assert(at - out < TTS_OPSEQ_TEXT_MAX);
    return (size_t)(at - out);
}
