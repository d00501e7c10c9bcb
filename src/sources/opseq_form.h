/* opseq_form.h: the tables that the reader and the writer of the operation language share.
 * For opseq.c and opseq_parse.c only. */
#pragma once

#include "device/space.h"
#include "sources/opseq.h"

enum { TTS_OPERANDS_MAX = 3 };

/* What stands where an operand can. */
enum tts_opseq_operand {
    TTS_OPERAND_END,
    TTS_OPERAND_SIZE,
    TTS_OPERAND_UP,
    TTS_OPERAND_LIMIT,
    TTS_OPERAND_ADDR,
    TTS_OPERAND_CUT,
};

/* What can stand behind '='. */
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
    uint8_t operands[TTS_OPERANDS_MAX + 1]; /* enum tts_opseq_operand, up to END */
    uint8_t shape;                          /* enum tts_opseq_shape */
    const char *usage;
};

/* The fields of a pool in canonical order: the numbers of struct tts_space_config, policy. */
enum {
    TTS_FIELD_SIZE,
    TTS_FIELD_OFFSET,
    TTS_FIELD_MIN,
    TTS_FIELD_ALIGNMENT,
    TTS_FIELD_POLICY,
    TTS_FIELDS
};

extern const struct tts_opseq_form tts_opseq_forms[TTS_OPSEQ_KINDS];
extern const char *const tts_opseq_field_names[TTS_FIELDS];
extern const char *const tts_opseq_policy_names[TTS_POLICY_BEST + 1];
