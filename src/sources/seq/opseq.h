/* opseq.h: converts one line of the operation language (docs/design/opseq.md) from text to data
 * (model/opseqline.h) and back. The functions keep no state, allocate nothing and print
 * nothing. opseq_run.h runs a sequence. */
#pragma once

#include "model/opseqline.h"
#include "ttscope/status.h"

#include <stddef.h>

/* Parses one line, given without its line end. TTS_E_SYNTAX: err says what was expected.
 * TTS_E_RANGE: a number does not fit in 64 bits. err->offset is the byte in the line. */
TTS_NODISCARD enum tts_status tts_opseq_parse(const char *text, size_t len,
                                              struct tts_opseq_line *out,
                                              struct tts_error *err);

enum { TTS_OPSEQ_TEXT_MAX = 192 };

/* Writes the canonical text of a line, terminated, without a line end. Returns its length. A
 * blank line gives "". */
size_t tts_opseq_format(const struct tts_opseq_line *line, char out[TTS_OPSEQ_TEXT_MAX]);

/* Returns the letter of a kind; ' ' for a blank line. */
char tts_opseq_letter(enum tts_opseq_kind kind);

/* Returns "FIRST" or "BEST". */
const char *tts_opseq_policy_name(enum tts_policy policy);

/* Returns true if an operation of this kind can have a result. */
bool tts_opseq_kind_has_result(enum tts_opseq_kind kind);

/* Returns true if two results of one operation are equal. */
bool tts_opseq_result_equal(const struct tts_opseq_result *a, const struct tts_opseq_result *b);
